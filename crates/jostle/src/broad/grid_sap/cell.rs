//! [`Cell`]: what a cell of the grid holds: the lists of [`sap`](crate::broad::sap) or those of
//! [`segmented-sap`](crate::broad::segmented_sap), for the boxes that touch the cell.

use crate::aabb::Aabb;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::broad::sap::Sort;
use crate::broad::sap::batch::Batch;
use crate::broad::sap::lists::Lists;
use crate::broad::segmented_sap::lists::SegmentedLists;

use super::grid::CellView;

/// What happened to the boxes of one cell.
#[derive(Clone, Copy, Debug)]
pub struct CellChanges<'a> {
    /// Boxes that leave, boxes that come, and boxes that moved and do neither.
    pub dropped: &'a [u32],
    /// See above.
    pub fresh: &'a [u32],
    /// See above.
    pub moved: &'a [u32],
}

/// What one worker needs while it updates cells.
#[derive(Debug, Default)]
pub struct Scratch {
    endpoints: Vec<Endpoint>,
    batch: Batch,
    fresh: Vec<u32>,
    /// Boxes in order along the first axis, for finding all pairs.
    pub(super) sorted: Vec<(u32, Aabb)>,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.endpoints.capacity() * size_of::<Endpoint>()
            + self.batch.bytes()
            + self.fresh.capacity() * 4
            + self.sorted.capacity() * size_of::<(u32, Aabb)>()
    }
}

/// A structure for the boxes of one cell.
pub trait Cell: Default + Send {
    /// The local sort is taken where less than one box in so many moved.
    const LOCAL_SHARE: usize;

    /// What a box that comes or goes costs beside tests and swaps, in the unit of a test.
    const CHANGE_WORK: u64;

    /// Sorts the ends of these boxes from scratch; `first` is the axis of precedence.
    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: &[u32],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    );

    /// Follows the changes; `past` holds the bounds that the lists are sorted by.
    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        past: &[Aabb],
        judge: Judge<'_>,
        view: CellView<'_>,
        sort: Sort,
        scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop>;

    /// Number of boxes.
    fn boxes(&self) -> usize;

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Panics where the lists are not the sorted ends of these boxes.
    fn validate(&self, aabbs: &[Aabb], slots: &[u32]);

    /// Whether to sort only what moved.
    fn sorts_locally(&self, sort: Sort, moved: usize) -> bool {
        match sort {
            Sort::Local => true,
            Sort::Global => false,
            Sort::Auto => moved * Self::LOCAL_SHARE < self.boxes(),
        }
    }
}

impl Cell for Lists {
    const LOCAL_SHARE: usize = 4;
    const CHANGE_WORK: u64 = 20;

    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: &[u32],
        _first: usize,
        _chunk: Option<usize>,
        _scratch: &mut Scratch,
    ) {
        Lists::rebuild(self, aabbs, slots.iter().copied());
    }

    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        past: &[Aabb],
        judge: Judge<'_>,
        view: CellView<'_>,
        sort: Sort,
        scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let CellChanges { dropped, fresh, moved } = changes;
        if dropped.is_empty() && fresh.is_empty() {
            let judge = judge.within(view);
            if self.sorts_locally(sort, moved.len()) {
                return self.sort_local(past, moved.iter().copied(), &judge, sink);
            }
            return self.sort_global(&judge, sink);
        }
        scratch.fresh.clear();
        scratch.fresh.extend_from_slice(fresh);
        scratch.fresh.sort_unstable();
        scratch.batch.prepare(past, dropped, judge.now(), fresh);
        // One spare list serves all cells of a worker.
        std::mem::swap(&mut self.spare, &mut scratch.endpoints);
        let judge = judge.within(CellView { fresh: &scratch.fresh, ..view });
        let result = self.sort_batch(&mut scratch.batch, &judge, sink);
        std::mem::swap(&mut self.spare, &mut scratch.endpoints);
        result
    }

    fn boxes(&self) -> usize {
        self.axis(0).len() / 2
    }

    fn bytes(&self) -> usize {
        Lists::bytes(self)
    }

    fn validate(&self, aabbs: &[Aabb], slots: &[u32]) {
        Lists::validate(self, aabbs, slots.iter().copied());
    }
}

impl Cell for SegmentedLists {
    const LOCAL_SHARE: usize = 2;
    const CHANGE_WORK: u64 = 60;

    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: &[u32],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    ) {
        let slots = slots.iter().copied();
        SegmentedLists::rebuild(self, aabbs, slots, first, chunk, &mut scratch.endpoints);
    }

    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        past: &[Aabb],
        judge: Judge<'_>,
        view: CellView<'_>,
        sort: Sort,
        _scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let judge = judge.within(view);
        for &slot in changes.dropped {
            self.remove(slot, &past[slot as usize], &judge, sink)?;
        }
        if self.sorts_locally(sort, changes.moved.len()) {
            self.sort_local(past, changes.moved, &judge, sink)?;
        } else {
            self.sort_global(&judge, sink)?;
        }
        changes.fresh.iter().try_for_each(|&slot| self.insert(slot, &judge, sink))
    }

    fn boxes(&self) -> usize {
        SegmentedLists::boxes(self)
    }

    fn bytes(&self) -> usize {
        SegmentedLists::bytes(self)
    }

    fn validate(&self, aabbs: &[Aabb], slots: &[u32]) {
        SegmentedLists::validate(self, aabbs, slots.iter().copied());
    }
}
