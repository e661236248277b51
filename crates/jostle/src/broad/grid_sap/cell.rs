//! [`Cell`]: the boxes that touch a cell of the grid, numbered, with their previous and current
//! bounds; and lists of their endpoints, which are those of [`sap`](crate::broad::sap) or of
//! [`segmented-sap`](crate::broad::segmented_sap).
//!
//! The bounds are copied into the cell, because the boxes of a cell are scattered over memory:
//! with the bounds of all boxes in one place nearly every test waits for memory, and a step of
//! 100 000 boxes of which a tenth moves took about three times as long.

use std::fmt::Debug;

use crate::aabb::Aabb;
use crate::broad::persistent::{
    CellScope, Endpoint, EventSink, FollowResult, ListChanges, PairJudge, Sort,
};
use crate::broad::sap::batch::Batch;
use crate::broad::sap::lists::EndpointLists;
use crate::broad::segmented_sap::lists::SegmentedLists;
use crate::simd::prefetch::prefetch_later;

use super::members::{Members, NumberedChanges};

/// What one worker needs while it updates cells.
#[derive(Clone, Debug, Default)]
pub(super) struct CellScratch {
    endpoints: Vec<Endpoint>,
    batch: Batch,
    /// Boxes that come, ascending.
    inserted: Vec<u32>,
    numbered: NumberedChanges,
}

impl CellScratch {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.endpoints.capacity() * size_of::<Endpoint>()
            + self.batch.bytes()
            + self.inserted.capacity() * 4
            + self.numbered.bytes()
    }
}

/// If more than one box in this many moved, the whole cell is prefetched while the cell before it
/// is updated: nearly all of it is needed, and each line would be waited for. Reading the cell in
/// order just before is as good; with neither, the shortest step of 100 000 boxes took half as long
/// again.
const FETCH_SHARE: usize = 64;

/// The boxes that touch a cell. See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Cell<L> {
    members: Members,
    lists: L,
}

impl<L: CellLists> Cell<L> {
    /// Takes in these boxes from scratch; `first` is the axis of precedence.
    pub(super) fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: &[u32],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut CellScratch,
    ) {
        self.members.rebuild(aabbs, slots);
        self.lists.rebuild(self.members.then(), (first, chunk), scratch);
    }

    /// Prefetches the memory that following these changes will read; `aabbs` are by slot.
    pub(super) fn fetch(&self, changes: ListChanges<'_>, aabbs: &[Aabb]) {
        for &slot in changes.moved {
            prefetch_later(&aabbs[slot as usize..][..1]);
        }
        if changes.moved.len() * FETCH_SHARE > self.members.count() {
            self.members.fetch();
            self.lists.fetch();
        }
    }

    /// Follows the changes. The judge knows the boxes by slot.
    pub(super) fn follow(
        &mut self,
        changes: ListChanges<'_>,
        judge: PairJudge<'_>,
        scope: CellScope<'_>,
        sort: Sort,
        scratch: &mut CellScratch,
        sink: EventSink<'_>,
    ) -> (FollowResult, [u64; 2]) {
        let mut numbered = std::mem::take(&mut scratch.numbered);
        self.members.number(changes, judge.then(), judge.now(), &mut numbered);
        let members = &self.members;
        let scope = scope.numbered(members.slots());
        let step = CellStep {
            changes: numbered.changes(),
            judge: judge.numbered(scope, members.then(), members.now()),
            scope,
            local: sort.is_local(changes.moved.len(), members.count(), L::LOCAL_SHARE),
        };
        let mut sink = sink.numbered(members.slots());
        let result = self.lists.follow(step, scratch, &mut sink);
        let counts = [sink.tests, sink.swaps];
        self.members.settle(&numbered);
        scratch.numbered = numbered;
        (result, counts)
    }

    /// Number of boxes.
    pub(super) fn boxes(&self) -> usize {
        self.members.count()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.members.bytes() + self.lists.bytes() + size_of::<Self>()
    }

    /// Panics if the cell does not hold these boxes, or its lists are not their sorted endpoints.
    pub(super) fn validate(&self, aabbs: &[Aabb], slots: &[u32]) {
        let numbers = self.members.validate(aabbs, slots);
        self.lists.validate(self.members.then(), &numbers);
    }
}

/// What happens in a cell in a step; boxes are called by their numbers.
pub(super) struct CellStep<'a> {
    changes: ListChanges<'a>,
    judge: PairJudge<'a>,
    scope: CellScope<'a>,
    /// Boxes that moved are sorted one by one, not by a pass over all endpoints.
    local: bool,
}

/// The sorted endpoints of the boxes of one cell, which are called by their numbers.
pub(super) trait CellLists: Clone + Debug + Default + Send + Sync {
    /// The local sort is chosen if fewer than one box in this many moved.
    const LOCAL_SHARE: usize;

    /// What a box that comes or goes costs in addition to tests and swaps, in units of one test.
    const CHANGE_WORK: u64;

    /// Sorts the endpoints of these boxes from scratch, given the axis of precedence and the
    /// endpoints of a chunk.
    fn rebuild(&mut self, aabbs: &[Aabb], setup: (usize, Option<usize>), scratch: &mut CellScratch);

    /// Follows the changes of a step.
    fn follow(
        &mut self,
        step: CellStep<'_>,
        scratch: &mut CellScratch,
        sink: &mut EventSink<'_>,
    ) -> FollowResult;

    /// Prefetches the lists.
    fn fetch(&self);

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Panics if the lists are not the sorted endpoints of these boxes.
    fn validate(&self, aabbs: &[Aabb], numbers: &[u32]);
}

impl CellLists for EndpointLists {
    const LOCAL_SHARE: usize = 12;
    const CHANGE_WORK: u64 = 20;

    fn rebuild(&mut self, aabbs: &[Aabb], _: (usize, Option<usize>), _: &mut CellScratch) {
        EndpointLists::rebuild(self, aabbs, 0..aabbs.len() as u32);
    }

    fn follow(
        &mut self,
        step: CellStep<'_>,
        scratch: &mut CellScratch,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        let CellStep { changes, judge, scope, local } = step;
        if changes.removed.is_empty() && changes.inserted.is_empty() {
            return if local {
                self.sort_local(changes.moved, &judge, sink)
            } else {
                self.sort_global(&judge, sink)
            };
        }
        let CellScratch { batch, inserted, endpoints, .. } = scratch;
        inserted.clear();
        inserted.extend_from_slice(changes.inserted);
        inserted.sort_unstable();
        batch.prepare(judge.then(), judge.now(), changes);
        let judge = judge.within(scope.with_inserted(inserted));
        // One spare list serves all cells of a worker.
        std::mem::swap(&mut self.spare, endpoints);
        let result = self.sort_batch(batch, &judge, sink);
        std::mem::swap(&mut self.spare, endpoints);
        result
    }

    fn fetch(&self) {
        (0..3).for_each(|axis| prefetch_later(self.axis(axis)));
    }

    fn bytes(&self) -> usize {
        EndpointLists::bytes(self)
    }

    fn validate(&self, aabbs: &[Aabb], numbers: &[u32]) {
        EndpointLists::validate(self, aabbs, numbers.iter().copied());
    }
}

impl CellLists for SegmentedLists {
    const LOCAL_SHARE: usize = 8;
    const CHANGE_WORK: u64 = 60;

    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        (first, chunk): (usize, Option<usize>),
        scratch: &mut CellScratch,
    ) {
        let slots = 0..aabbs.len() as u32;
        SegmentedLists::rebuild(self, aabbs, slots, first, chunk, &mut scratch.endpoints);
    }

    fn follow(
        &mut self,
        step: CellStep<'_>,
        _: &mut CellScratch,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        SegmentedLists::follow(self, step.changes, step.local, &step.judge, sink)
    }

    fn fetch(&self) {
        (0..3).for_each(|axis| self.axis(axis).fetch());
    }

    fn bytes(&self) -> usize {
        SegmentedLists::bytes(self)
    }

    fn validate(&self, aabbs: &[Aabb], numbers: &[u32]) {
        SegmentedLists::validate(self, aabbs, numbers.iter().copied());
    }
}
