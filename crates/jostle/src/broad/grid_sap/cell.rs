//! [`CellOf`]: the boxes that touch a cell of the grid, numbered, with their bounds before and
//! now; and lists of their ends, which are those of [`sap`](crate::broad::sap) or of
//! [`segmented-sap`](crate::broad::segmented_sap).
//!
//! The bounds are copied into the cell, because the boxes of a cell are scattered over memory:
//! with the bounds of all boxes in one place nearly every test waits for memory, and a step of
//! 100 000 boxes of which a tenth moves took about three times as long.

use crate::aabb::Aabb;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::broad::sap::Sort;
use crate::broad::sap::batch::Batch;
use crate::broad::sap::lists::Lists;
use crate::broad::segmented_sap::lists::SegmentedLists;
use crate::simd::prefetch::prefetch_later;

use super::grid::CellView;
use super::members::{Members, Numbered};

/// What happened to the boxes of one cell, by slot or by number.
#[derive(Clone, Copy, Debug)]
pub struct CellChanges<'a> {
    /// Boxes that leave, boxes that come, and boxes that moved and do neither.
    pub dropped: &'a [u32],
    /// See above.
    pub fresh: &'a [u32],
    /// See above.
    pub moved: &'a [u32],
}

impl CellChanges<'_> {
    /// True where nothing happened.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.fresh.is_empty() && self.moved.is_empty()
    }
}

/// What one worker needs while it updates cells.
#[derive(Debug, Default)]
pub struct Scratch {
    endpoints: Vec<Endpoint>,
    batch: Batch,
    /// Boxes that come, ascending.
    fresh: Vec<u32>,
    numbered: Numbered,
}

impl Scratch {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.endpoints.capacity() * size_of::<Endpoint>()
            + self.batch.bytes()
            + self.fresh.capacity() * 4
            + self.numbered.bytes()
    }
}

/// Where more than one box in so many moved, the whole cell is fetched beforehand, while the cell
/// before it is at work: nearly all of it is needed, and each line would be waited for. Reading the
/// cell in order just before is as good; with neither, the shortest step of 100 000 boxes took half
/// as long again.
const FETCH_SHARE: usize = 64;

/// The boxes that touch a cell. See the [module](self).
#[derive(Debug, Default)]
pub struct CellOf<L> {
    members: Members,
    lists: L,
}

impl<L: CellLists> CellOf<L> {
    /// Takes in these boxes from scratch; `first` is the axis of precedence.
    pub fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: &[u32],
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    ) {
        self.members.rebuild(aabbs, slots);
        self.lists.rebuild(self.members.then(), slots.len() as u32, first, chunk, scratch);
    }

    /// Asks for the memory that following these changes will read.
    pub fn fetch(&self, changes: CellChanges<'_>) {
        if changes.moved.len() * FETCH_SHARE > self.members.count() {
            self.members.fetch();
            self.lists.fetch();
        }
    }

    /// Follows the changes. The judge knows the boxes by slot.
    pub fn follow(
        &mut self,
        changes: CellChanges<'_>,
        judge: Judge<'_>,
        view: CellView<'_>,
        sort: Sort,
        scratch: &mut Scratch,
        sink: EventSink<'_>,
    ) -> (Result<(), Stop>, [u64; 2]) {
        let mut numbered = std::mem::take(&mut scratch.numbered);
        self.members.number(changes, judge.then(), judge.now(), &mut numbered);
        let members = &self.members;
        let view = CellView { slots: members.slots(), ..view };
        let judge = judge.numbered(view, members.then(), members.now());
        let local = match sort {
            Sort::Local => true,
            Sort::Global => false,
            Sort::Auto => changes.moved.len() * L::LOCAL_SHARE < members.count(),
        };
        let mut sink = sink.named(members.slots());
        let result = self.lists.follow(numbered.changes(), judge, view, local, scratch, &mut sink);
        let counts = [sink.tests, sink.swaps];
        self.members.settle(&numbered);
        scratch.numbered = numbered;
        (result, counts)
    }

    /// Number of boxes.
    pub fn boxes(&self) -> usize {
        self.members.count()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.members.bytes() + self.lists.bytes() + size_of::<Self>()
    }

    /// Panics where the cell does not hold these boxes, or its lists are not their sorted ends.
    pub fn validate(&self, aabbs: &[Aabb], slots: &[u32]) {
        let numbers = self.members.validate(aabbs, slots);
        self.lists.validate(self.members.then(), &numbers);
    }
}

/// The sorted ends of the boxes of one cell, which are called by their numbers.
pub trait CellLists: Default + Send {
    /// The local sort is taken where less than one box in so many moved.
    const LOCAL_SHARE: usize;

    /// What a box that comes or goes costs beside tests and swaps, in the unit of a test.
    const CHANGE_WORK: u64;

    /// Sorts the ends of the first `count` boxes from scratch.
    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        count: u32,
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    );

    /// Follows the changes; boxes that moved are sorted `local`ly or by a pass over all.
    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        judge: Judge<'_>,
        view: CellView<'_>,
        local: bool,
        scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop>;

    /// Asks for the memory of the lists.
    fn fetch(&self);

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Panics where the lists are not the sorted ends of these boxes.
    fn validate(&self, aabbs: &[Aabb], numbers: &[u32]);
}

impl CellLists for Lists {
    const LOCAL_SHARE: usize = 12;
    const CHANGE_WORK: u64 = 20;

    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        count: u32,
        _first: usize,
        _chunk: Option<usize>,
        _scratch: &mut Scratch,
    ) {
        Lists::rebuild(self, aabbs, 0..count);
    }

    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        judge: Judge<'_>,
        view: CellView<'_>,
        local: bool,
        scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let CellChanges { dropped, fresh, moved } = changes;
        if dropped.is_empty() && fresh.is_empty() {
            if local {
                return self.sort_local(judge.then(), moved, &judge, sink);
            }
            return self.sort_global(&judge, sink);
        }
        let Scratch { batch, fresh: ascending, endpoints, .. } = scratch;
        ascending.clear();
        ascending.extend_from_slice(fresh);
        ascending.sort_unstable();
        batch.prepare(judge.then(), dropped, judge.now(), fresh);
        let judge = judge.within(CellView { fresh: ascending, ..view });
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
        Lists::bytes(self)
    }

    fn validate(&self, aabbs: &[Aabb], numbers: &[u32]) {
        Lists::validate(self, aabbs, numbers.iter().copied());
    }
}

impl CellLists for SegmentedLists {
    const LOCAL_SHARE: usize = 8;
    const CHANGE_WORK: u64 = 60;

    fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        count: u32,
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Scratch,
    ) {
        SegmentedLists::rebuild(self, aabbs, 0..count, first, chunk, &mut scratch.endpoints);
    }

    fn follow(
        &mut self,
        changes: CellChanges<'_>,
        judge: Judge<'_>,
        _view: CellView<'_>,
        local: bool,
        _scratch: &mut Scratch,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for &number in changes.dropped {
            self.remove(number, &judge.then()[number as usize], &judge, sink)?;
        }
        if local {
            self.sort_local(judge.then(), changes.moved, &judge, sink)?;
        } else {
            self.sort_global(&judge, sink)?;
        }
        changes.fresh.iter().try_for_each(|&number| self.insert(number, &judge, sink))
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
