//! [`SegmentedLists`]: the chunked lists of three axes, and the operations on whole boxes.
//!
//! The lists do not know how boxes were chosen: [`SegmentedSap`](super::SegmentedSap) keeps one set
//! for the world, [`grid_sap`](crate::broad::grid_sap) one for each cell.
//!
//! A step removes boxes (while the lists are sorted by the previous bounds), sorts what moved, and
//! inserts boxes (when the lists are sorted by the current bounds). Boxes that are removed or
//! inserted meet whatever is there at that moment, so each of their pairs is met once in either
//! bounds, and the [`PairJudge`] compares the two. Pairs of which neither box is removed or
//! inserted change by swaps alone.

use crate::aabb::Aabb;
use crate::broad::persistent::{
    AxisSort, Endpoint, EventSink, FollowResult, ListChanges, PairJudge, fill_sorted,
};
use crate::simd::{self, Kernel, Simd};

use super::list::SegmentedList;
use super::sorting::Moves;

/// Endpoints of a chunk unless the checkpoint sets are large. With 3 000 boxes 256 costs 2 to 8 %
/// more, 128 costs 15 %, 64 costs 25 % and 32 costs 45 %; with twenty boxes that come or go in a
/// step, 128 to 512 cost the same.
pub(super) const CHUNK: usize = 512;

/// Endpoints of a chunk in lists of a few hundred boxes, which would have two or three large ones.
const SMALL_CHUNK: usize = 128;

/// Lists of up to this many endpoints have small chunks.
const SMALL: usize = 2048;

/// How many moved boxes are looked up at a time; their endpoints stay in the nearest cache.
const BLOCK: usize = 256;

/// Chunked lists of a set of boxes, one for each axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentedLists {
    /// By axis, not by precedence.
    axes: [SegmentedList; 3],
    boxes: usize,
    /// The endpoints of a block of moved boxes.
    moves: Moves,
}

/// How many endpoints a chunk on the axis with checkpoints should have: as many as boxes are
/// open at once, so that a search reads as much of the chunk as of the set, all sets together
/// take about as much memory as the endpoints, and maintaining them costs a look at a few entries
/// per swap.
fn chunk_size(sorted: &[Endpoint]) -> usize {
    let (mut open, mut sum) = (0u64, 0u64);
    for endpoint in sorted {
        if endpoint.is_upper() {
            open -= 1
        } else {
            open += 1
        }
        sum += open;
    }
    let mean = sum / sorted.len().max(1) as u64;
    (mean as usize).clamp(usual_chunk(sorted), 1 << 20).next_power_of_two()
}

fn usual_chunk(sorted: &[Endpoint]) -> usize {
    if sorted.len() < SMALL { SMALL_CHUNK } else { CHUNK }
}

impl SegmentedLists {
    /// Sorts the endpoints of these boxes from scratch: O(n log n). Checkpoints are kept on the
    /// axis `first`. `chunk` is the number of endpoints of a chunk, if it should not be chosen.
    pub(crate) fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        slots: impl Iterator<Item = u32> + Clone,
        first: usize,
        chunk: Option<usize>,
        scratch: &mut Vec<Endpoint>,
    ) {
        for axis in 0..3 {
            fill_sorted(scratch, aabbs, axis, slots.clone());
            let choose = || if axis == first { chunk_size(scratch) } else { usual_chunk(scratch) };
            let capacity = chunk.unwrap_or_else(choose);
            self.axes[axis].rebuild(scratch, aabbs, axis, capacity, axis == first);
        }
        self.boxes = scratch.len() / 2;
    }

    /// Number of boxes.
    pub(crate) fn boxes(&self) -> usize {
        self.boxes
    }

    /// The list of an axis.
    pub(crate) fn axis(&self, axis: usize) -> &SegmentedList {
        &self.axes[axis]
    }

    /// Number of chunks on all axes.
    pub(crate) fn chunks(&self) -> usize {
        self.axes.iter().map(SegmentedList::chunks).sum()
    }

    /// Boxes in all checkpoint sets together.
    pub(crate) fn open_total(&self) -> usize {
        self.axes.iter().map(SegmentedList::open_total).sum()
    }

    /// Returns true if the checkpoint sets have grown so much that larger chunks are due.
    pub(crate) fn wants_larger_chunks(&self) -> bool {
        self.open_total() > 16 * self.boxes + 4096
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.axes.iter().map(SegmentedList::bytes).sum::<usize>() + self.moves.bytes()
    }

    /// Follows changes: removes boxes, sorts those that moved, `local`ly or by a pass over all
    /// endpoints, and inserts boxes.
    pub(crate) fn follow(
        &mut self,
        changes: ListChanges<'_>,
        local: bool,
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        for &slot in changes.removed {
            self.remove(slot, judge, sink)?;
        }
        for place in 0..3 {
            let (list, moves) = (&mut self.axes[judge.axis(place)], &mut self.moves);
            let sort = AxisSort { place, judge, sink };
            if local {
                simd::run(LocalSort { list, moves, moved: changes.moved, sort })?;
            } else {
                simd::run(GlobalSort { list, sort })?;
            }
        }
        changes.inserted.iter().try_for_each(|&slot| self.insert(slot, judge, sink))
    }

    /// Removes a box and ends its pairs with the boxes that are left. The lists must be sorted by
    /// the previous bounds.
    fn remove(
        &mut self,
        slot: u32,
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        let then = &judge.then()[slot as usize];
        for axis in 0..3 {
            self.axes[axis].remove(endpoints(then, axis, slot));
        }
        self.boxes -= 1;
        let first = judge.axis(0);
        let ends = endpoints(then, first, slot);
        sink.tests += self.axes[first].candidates(ends, judge.then(), |other| {
            if judge.ended(slot, other) {
                sink.end(slot, other);
            }
            Ok(())
        })?;
        sink.check_budget()
    }

    /// Inserts a box and begins its pairs with the boxes that are there. The lists must be sorted
    /// by the current bounds.
    fn insert(
        &mut self,
        slot: u32,
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        let (now, first) = (&judge.now()[slot as usize], judge.axis(0));
        let ends = endpoints(now, first, slot);
        sink.tests += self.axes[first].candidates(ends, judge.now(), |other| {
            if judge.began(slot, other) { sink.begin(slot, other) } else { Ok(()) }
        })?;
        for axis in 0..3 {
            self.axes[axis].insert(endpoints(now, axis, slot), judge.now(), axis);
        }
        self.boxes += 1;
        sink.check_budget()
    }

    /// Panics if a list is not the sorted endpoints of these boxes or a checkpoint set is wrong.
    pub(crate) fn validate(&self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        let mut expected = Vec::new();
        for axis in 0..3 {
            fill_sorted(&mut expected, aabbs, axis, slots.clone());
            self.axes[axis].validate(&expected);
        }
        assert!(self.boxes * 2 == expected.len(), "the boxes are miscounted");
    }
}

/// The local sort of one axis: the endpoints of the moved boxes alone. The list must be sorted by
/// the previous bounds. O(m log n + swaps) for m boxes.
struct LocalSort<'w, 'j, 's> {
    list: &'w mut SegmentedList,
    moves: &'w mut Moves,
    moved: &'w [u32],
    sort: AxisSort<'w, 'j, 's>,
}

impl Kernel for LocalSort<'_, '_, '_> {
    type Output = FollowResult;

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) -> FollowResult {
        for slots in self.moved.chunks(BLOCK) {
            self.moves.look_up(self.list, slots, &self.sort);
            self.list.relocate(self.moves, &mut self.sort)?;
        }
        Ok(())
    }
}

/// The global sort of one axis: takes over all current bounds. O(n + swaps).
struct GlobalSort<'w, 'j, 's> {
    list: &'w mut SegmentedList,
    sort: AxisSort<'w, 'j, 's>,
}

impl Kernel for GlobalSort<'_, '_, '_> {
    type Output = FollowResult;

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) -> FollowResult {
        self.list.sort_global(&mut self.sort)
    }
}

#[inline(always)]
fn endpoints(aabb: &Aabb, axis: usize, slot: u32) -> [Endpoint; 2] {
    [Endpoint::lower(aabb, axis, slot), Endpoint::upper(aabb, axis, slot)]
}
