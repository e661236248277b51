//! [`Band`]: a stretch of cells that one worker updates, and [`Task`], all it has to know.
//!
//! There are always [`BANDS`] of them, whatever the number of workers, so that nothing that is
//! counted or written depends on it.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::effort::Effort;
use crate::broad::endpoint::order_key;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::pair::{Lane, Pair};

use super::GridOptions;
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
    /// Bounds that the cells are sorted by.
    pub past: &'a [Aabb],
    /// Who decides about pairs.
    pub judge: Judge<'a>,
    /// The axes by precedence.
    pub order: [usize; 3],
    /// How the grid works.
    pub options: &'a GridOptions,
    /// What is cheap and what is dear.
    pub effort: &'a Effort,
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

    /// Fills the cells with what was dealt as fresh.
    pub fn rebuild(&mut self, task: &mut Task<'_>) -> Result<(), Stop> {
        if self.cells.len() < task.cells.len() {
            self.cells.resize_with(task.cells.len(), CellOf::default);
        }
        for (cell, number) in self.cells.iter_mut().zip(task.cells.clone()) {
            let slots = task.dealt.fresh.of(number);
            cell.rebuild(task.past, slots, task.order[0], task.options.chunk, task.scratch);
        }
        Ok(())
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
            if task.options.may_rebuild {
                sink.budget = 2 * task.effort.budget(boxes);
            }
            let view = CellView::new(task.grid, number);
            let (sort, scratch) = (task.options.sort, &mut *task.scratch);
            let (result, [tests, swaps]) =
                cell.follow(changes, task.judge, view, sort, scratch, sink);
            self.tests += tests;
            self.swaps += swaps;
            result?;
        }
        Ok(())
    }

    /// Finds all pairs among the boxes dealt as fresh.
    pub fn find_all(&mut self, task: &mut Task<'_>) -> Result<(), Stop> {
        for number in task.cells.clone() {
            let judge = task.judge.within(CellView::new(task.grid, number));
            let slots = task.dealt.fresh.of(number);
            let axis = task.order[0];
            let sorted = &mut task.scratch.sorted;
            sorted.clear();
            sorted.extend(slots.iter().map(|&slot| (slot, task.past[slot as usize])));
            sorted.sort_unstable_by_key(|(slot, aabb)| (order_key(aabb.min[axis]), *slot));
            self.tests += sweep(sorted, axis, &judge, task.lane)?;
        }
        Ok(())
    }
}

/// Finds the pairs of a list that is sorted along an axis. Returns the number of tests.
fn sweep(
    sorted: &[(u32, Aabb)],
    axis: usize,
    judge: &Judge<'_>,
    lane: &mut Lane,
) -> Result<u64, Stop> {
    let mut tests = 0;
    for (place, (slot, aabb)) in sorted.iter().enumerate() {
        for (other_slot, other) in &sorted[place + 1..] {
            if other.min[axis] > aabb.max[axis] {
                break;
            }
            tests += 1;
            if aabb.overlaps(other) && judge.stands(*slot, *other_slot) {
                lane.push(*slot, *other_slot)?;
            }
        }
    }
    Ok(tests)
}
