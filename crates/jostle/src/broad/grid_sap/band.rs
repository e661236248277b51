//! [`Band`]: a stretch of cells that one worker updates, and [`Task`], all it has to know.
//!
//! There are always [`BANDS`] of them, whatever the number of workers, so that nothing that is
//! counted or written depends on it.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::broad::sap::Sort;
use crate::pair::{Lane, Pair};

use super::MIGRATION_WORK;
use super::cell::{CellChanges, CellLists, CellOf, Scratch};
use super::deal::Deal;
use super::grid::{CellView, Grid};
use super::plan::GIANT;

/// Number of bands.
pub const BANDS: usize = 32;

/// The changes of a step by cell: boxes that leave, boxes that come, boxes that moved.
#[derive(Debug, Default)]
pub struct Dealt {
    /// Boxes that leave a cell.
    pub dropped: Deal,
    /// Boxes that come into a cell.
    pub fresh: Deal,
    /// Boxes that moved and stay in a cell.
    pub moved: Deal,
}

impl Dealt {
    /// Forgets everything.
    pub fn clear(&mut self) -> &mut Dealt {
        self.dropped.clear();
        self.fresh.clear();
        self.moved.clear();
        self
    }

    /// Deals a box that moved. With `again` it leaves all its cells and comes into all of them.
    #[inline]
    pub fn deal_moved(&mut self, grid: &Grid, slot: u32, then: &Aabb, now: &Aabb, again: bool) {
        let (then, now) = (grid.range(then), grid.range(now));
        let (was_giant, is_giant) = (then.count() > GIANT, now.count() > GIANT);
        if !was_giant {
            for cell in then.cells() {
                if again || is_giant || !now.contains(cell) {
                    self.dropped.push(grid.number(cell), slot);
                }
            }
        }
        if !is_giant {
            for cell in now.cells() {
                let comes = again || was_giant || !then.contains(cell);
                let deal = if comes { &mut self.fresh } else { &mut self.moved };
                deal.push(grid.number(cell), slot);
            }
        }
    }

    /// Brings the changes of each cell together.
    pub fn gather(&mut self, cells: usize) {
        self.dropped.gather(cells);
        self.fresh.gather(cells);
        self.moved.gather(cells);
    }

    /// The changes of a cell.
    pub fn of(&self, cell: usize) -> CellChanges<'_> {
        CellChanges {
            dropped: self.dropped.of(cell),
            fresh: self.fresh.of(cell),
            moved: self.moved.of(cell),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.dropped.bytes() + self.fresh.bytes() + self.moved.bytes()
    }
}

/// What a band has to know, and where it writes.
pub struct Task<'a> {
    /// The numbers of its cells.
    pub cells: Range<usize>,
    /// The grid.
    pub grid: &'a Grid,
    /// The changes by cell.
    pub dealt: &'a Dealt,
    /// Who decides about pairs.
    pub judge: Judge<'a>,
    /// Which sort for the boxes that moved within a cell.
    pub sort: Sort,
    /// Most work.
    pub budget: u64,
    /// Memory of this worker.
    pub scratch: &'a mut Scratch,
    /// Where pairs go that began.
    pub lane: &'a mut Lane,
}

/// A stretch of cells, and what its last task counted.
#[derive(Debug)]
pub struct Band<L> {
    /// More than there are cells where the grid was finer once; they keep their memory.
    cells: Vec<CellOf<L>>,
    /// Pairs that ended.
    pub ended: Vec<Pair>,
    /// Box tests.
    pub tests: u64,
    /// Exchanges.
    pub swaps: u64,
    /// Cells that received something.
    pub visited: usize,
    /// Boxes in the largest of them.
    pub largest: usize,
    /// How it went.
    pub result: Result<(), Stop>,
}

impl<L> Default for Band<L> {
    fn default() -> Band<L> {
        Band {
            cells: Vec::new(),
            ended: Vec::new(),
            tests: 0,
            swaps: 0,
            visited: 0,
            largest: 0,
            result: Ok(()),
        }
    }
}

impl<L: CellLists> Band<L> {
    /// A cell by its place in the band.
    pub fn cell(&self, place: usize) -> &CellOf<L> {
        &self.cells[place]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.cells.iter().map(CellOf::bytes).sum::<usize>()
            + self.ended.capacity() * size_of::<Pair>()
    }

    /// Forgets the counts of the last task.
    pub fn start(&mut self) {
        self.ended.clear();
        (self.tests, self.swaps, self.visited, self.largest) = (0, 0, 0, 0);
    }

    /// Fills the cells of these numbers with what was dealt to them.
    pub fn rebuild(
        &mut self,
        numbers: Range<usize>,
        dealt: &Deal,
        aabbs: &[Aabb],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    ) {
        if self.cells.len() < numbers.len() {
            self.cells.resize_with(numbers.len(), CellOf::default);
        }
        for (cell, number) in self.cells.iter_mut().zip(numbers) {
            cell.rebuild(aabbs, dealt.of(number), first, chunk, scratch);
        }
    }

    /// Boxes in the first cells; one that touches several counts in each.
    pub fn boxes(&self, cells: usize) -> usize {
        self.cells[..cells].iter().map(CellOf::boxes).sum()
    }

    /// Follows the changes in every cell that received something.
    pub fn follow(&mut self, task: &mut Task<'_>) -> Result<(), Stop> {
        let first = task.cells.start;
        for number in task.cells.clone() {
            let place = number - first;
            if number + 1 < task.cells.end {
                self.cells[place + 1].fetch(task.dealt.of(number + 1));
            }
            let (cell, changes) = (&mut self.cells[place], task.dealt.of(number));
            if changes.is_empty() {
                continue;
            }
            let boxes = cell.boxes() + changes.fresh.len();
            self.visited += 1;
            self.largest = self.largest.max(boxes);
            let mut sink = EventSink::new(task.lane, &mut self.ended);
            let migrations = (changes.dropped.len() + changes.fresh.len()) as u64;
            let beside = migrations * (L::CHANGE_WORK + MIGRATION_WORK);
            sink.budget = task.budget.checked_sub(beside).ok_or(Stop::Budget)?;
            let view = CellView::new(task.grid, number);
            let (result, [tests, swaps]) =
                cell.follow(changes, task.judge, view, task.sort, task.scratch, sink);
            self.tests += tests;
            self.swaps += swaps;
            task.budget = task.budget.saturating_sub(tests + swaps + beside);
            result?;
        }
        Ok(())
    }
}
