//! [`Band`]: a stretch of cells that one worker updates.
//!
//! There are always [`BANDS`] of them, whatever the number of workers, so that nothing that is
//! counted or written depends on it.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::persistent::{CellScope, EventSink, FollowError, FollowResult, PairJudge, Sort};
use crate::broad::shared::uniform_grid::UniformGrid;
use crate::pair::{Lane, Pair};

use super::cell::{Cell, CellLists, CellScratch};
use super::routes::{ChangesByCell, SlotsByCell};

/// Number of bands.
pub(super) const BANDS: usize = 32;

/// What a box that comes into a cell or leaves it costs in addition to what its lists do: it gets a
/// number, and memory that nothing else in the step has touched is read.
pub(super) const MIGRATION_WORK: u64 = 60;

/// What a band needs for a step, and where it writes.
pub(super) struct BandStep<'a> {
    /// The numbers of its cells.
    pub cells: Range<usize>,
    pub grid: &'a UniformGrid,
    pub changes: &'a ChangesByCell,
    pub judge: PairJudge<'a>,
    /// Which sort for the boxes that moved within a cell.
    pub sort: Sort,
    /// The most work.
    pub budget: u64,
    /// Memory of this worker.
    pub scratch: &'a mut CellScratch,
    /// Takes the pairs that began.
    pub lane: &'a mut Lane,
}

/// A stretch of cells, and what its last update counted.
#[derive(Clone, Debug)]
pub(super) struct Band<L> {
    /// More than there are cells if the grid was finer once; they keep their memory.
    cells: Vec<Cell<L>>,
    /// Pairs that ended.
    pub ended: Vec<Pair>,
    /// Overlap tests.
    pub tests: u64,
    /// Swaps.
    pub swaps: u64,
    /// Cells that received something.
    pub visited: usize,
    /// Boxes in the largest of them.
    pub largest: usize,
    /// Why it stopped early, if it did.
    pub stopped: Option<FollowError>,
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
            stopped: None,
        }
    }
}

impl<L: CellLists> Band<L> {
    /// A cell by its place in the band.
    pub(super) fn cell(&self, place: usize) -> &Cell<L> {
        &self.cells[place]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.cells.iter().map(Cell::bytes).sum::<usize>()
            + self.ended.capacity() * size_of::<Pair>()
    }

    /// Forgets the counts of the last update.
    fn start(&mut self) {
        self.ended.clear();
        (self.tests, self.swaps, self.visited, self.largest) = (0, 0, 0, 0);
    }

    /// Fills the cells of these numbers with the slots routed to them.
    pub(super) fn rebuild(
        &mut self,
        numbers: Range<usize>,
        slots: &SlotsByCell,
        aabbs: &[Aabb],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut CellScratch,
    ) {
        if self.cells.len() < numbers.len() {
            self.cells.resize_with(numbers.len(), Cell::default);
        }
        for (cell, number) in self.cells.iter_mut().zip(numbers) {
            cell.rebuild(aabbs, slots.of(number), first, chunk, scratch);
        }
    }

    /// Boxes in the first cells; one that touches several counts in each.
    pub(super) fn boxes(&self, cells: usize) -> usize {
        self.cells[..cells].iter().map(Cell::boxes).sum()
    }

    /// Follows the changes in every cell that received something.
    pub(super) fn follow(&mut self, step: BandStep<'_>) {
        self.start();
        self.stopped = self.follow_cells(step).err();
    }

    fn follow_cells(&mut self, mut step: BandStep<'_>) -> FollowResult {
        let first = step.cells.start;
        for number in step.cells.clone() {
            let place = number - first;
            if number + 1 < step.cells.end {
                self.cells[place + 1].fetch(step.changes.of(number + 1), step.judge.now());
            }
            let (cell, changes) = (&mut self.cells[place], step.changes.of(number));
            if changes.is_empty() {
                continue;
            }
            let boxes = cell.boxes() + changes.inserted.len();
            self.visited += 1;
            self.largest = self.largest.max(boxes);
            let mut sink = EventSink::new(step.lane, &mut self.ended);
            let migrations = (changes.removed.len() + changes.inserted.len()) as u64;
            let extra = migrations * (L::CHANGE_WORK + MIGRATION_WORK);
            sink.budget = step.budget.checked_sub(extra).ok_or(FollowError::OverBudget)?;
            let scope = CellScope::new(step.grid, number);
            let (result, [tests, swaps]) =
                cell.follow(changes, step.judge, scope, step.sort, step.scratch, sink);
            self.tests += tests;
            self.swaps += swaps;
            step.budget = step.budget.saturating_sub(tests + swaps + extra);
            result?;
        }
        Ok(())
    }
}
