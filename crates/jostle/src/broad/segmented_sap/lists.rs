//! [`SegmentedLists`]: the chunked lists of three axes, and the operations on whole boxes.
//!
//! The lists know nothing of how boxes are chosen: [`SegmentedSap`](super::SegmentedSap) keeps one
//! for the world, the [grid](crate::broad::grid_sap) one for each cell.
//!
//! A step takes out what goes (while the lists are sorted by the bounds of the past), sorts what
//! moved, and puts in what comes (when the lists are sorted by the bounds of now). Boxes that are
//! taken out or put in meet whatever is there at that moment, so each of their pairs is met once
//! at either end, and the [`Judge`] compares the bounds before and now. Pairs of which neither box
//! comes or goes change by exchanges alone.

use crate::aabb::Aabb;
use crate::broad::endpoint::{Endpoint, fill_sorted};
use crate::broad::past::{EventSink, Judge, Stop};
use crate::simd::widest::{Work, widest};

use super::list::SegmentedList;
use super::sorting::Moves;

/// Endpoints of a chunk unless the checkpoint sets are large. With 3 000 boxes 256 costs 2 to 8 %
/// more, 128 costs 15 %, 64 costs 25 % and 32 costs 45 %; with twenty boxes that come or go in a
/// step, 128 to 512 cost the same.
pub const CHUNK: usize = 512;

/// Endpoints of a chunk in lists of a few hundred boxes, which would have two or three large ones.
const SMALL_CHUNK: usize = 128;

/// Lists up to so many endpoints have small chunks.
const SMALL: usize = 2048;

/// So many moved boxes are looked up at a time; their ends stay in the nearest cache.
const BLOCK: usize = 256;

/// Chunked lists of a set of boxes, one for each axis.
#[derive(Debug, Default)]
pub struct SegmentedLists {
    /// By axis, not by precedence.
    axes: [SegmentedList; 3],
    boxes: usize,
    /// The ends of a block of moved boxes.
    moves: Moves,
}

/// How many endpoints a chunk on the axis with checkpoints should have: as many as boxes are
/// open at once, so that a search reads as much of the chunk as of the set, all sets together
/// take about as much memory as the endpoints, and keeping them costs a look at a few entries
/// per exchange.
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
    /// Sorts the ends of these boxes from scratch: O(n log n). Checkpoints are kept on the axis
    /// `first`. `chunk` is the number of endpoints of a chunk, if it is not to be chosen.
    pub fn rebuild(
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
    pub fn boxes(&self) -> usize {
        self.boxes
    }

    /// The list of an axis.
    pub fn axis(&self, axis: usize) -> &SegmentedList {
        &self.axes[axis]
    }

    /// Number of chunks on all axes.
    pub fn chunks(&self) -> usize {
        self.axes.iter().map(SegmentedList::chunks).sum()
    }

    /// Entries in all checkpoint sets.
    pub fn open_total(&self) -> usize {
        self.axes.iter().map(SegmentedList::open_total).sum()
    }

    /// True where the checkpoint sets have grown so much that larger chunks are due.
    pub fn wants_larger_chunks(&self) -> bool {
        self.open_total() > 16 * self.boxes + 4096
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.axes.iter().map(SegmentedList::bytes).sum::<usize>() + self.moves.bytes()
    }

    /// Takes out a box and ends its pairs with the boxes that are left. The lists must be sorted
    /// by the bounds of the past, of which `then` are this box's.
    pub fn remove(
        &mut self,
        slot: u32,
        then: &Aabb,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for axis in 0..3 {
            let (lower, upper) = ends(then, axis, slot);
            self.axes[axis].remove(lower, upper);
        }
        self.boxes -= 1;
        let ends = ends(then, judge.axis(0), slot).into();
        sink.tests += self.axes[judge.axis(0)].candidates(ends, judge.then(), |other| {
            if judge.ended(slot, other) {
                sink.end(slot, other);
            }
            Ok(())
        })?;
        sink.check_budget()
    }

    /// Puts in a box and begins its pairs with the boxes that are there. The lists must be sorted
    /// by the bounds of now.
    pub fn insert(
        &mut self,
        slot: u32,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let now = &judge.now()[slot as usize];
        let ends_now = ends(now, judge.axis(0), slot).into();
        sink.tests += self.axes[judge.axis(0)].candidates(ends_now, judge.now(), |other| {
            if judge.began(slot, other) { sink.begin(slot, other) } else { Ok(()) }
        })?;
        for axis in 0..3 {
            let (lower, upper) = ends(now, axis, slot);
            self.axes[axis].insert(lower, upper, judge.now(), axis);
        }
        self.boxes += 1;
        sink.check_budget()
    }

    /// Local sort: moves the ends of these boxes alone; `past` holds the bounds that the lists
    /// are sorted by. O(m log n + swaps) for m boxes.
    pub fn sort_local(
        &mut self,
        past: &[Aabb],
        moved: &[u32],
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for place in 0..3 {
            let (list, moves) = (&mut self.axes[judge.axis(place)], &mut self.moves);
            widest(LocalSort { list, moves, past, moved, place, judge, sink })?;
        }
        Ok(())
    }

    /// Global sort: takes over every bound of now. O(n + swaps).
    pub fn sort_global(&mut self, judge: &Judge<'_>, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        for place in 0..3 {
            let list = &mut self.axes[judge.axis(place)];
            widest(GlobalSort { list, place, judge, sink })?;
        }
        Ok(())
    }

    /// Panics where a list is not the sorted list of the ends of these boxes or a checkpoint set
    /// is wrong.
    pub fn validate(&self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        let mut expected = Vec::new();
        for axis in 0..3 {
            fill_sorted(&mut expected, aabbs, axis, slots.clone());
            self.axes[axis].validate(&expected);
        }
        assert!(self.boxes * 2 == expected.len(), "the boxes are miscounted");
    }
}

/// The local sort of one axis.
struct LocalSort<'w, 'j, 's> {
    list: &'w mut SegmentedList,
    moves: &'w mut Moves,
    past: &'w [Aabb],
    moved: &'w [u32],
    place: usize,
    judge: &'w Judge<'j>,
    sink: &'w mut EventSink<'s>,
}

impl Work for LocalSort<'_, '_, '_> {
    type Output = Result<(), Stop>;

    #[inline(always)]
    fn run(self) -> Result<(), Stop> {
        let LocalSort { list, moves, past, moved, place, judge, sink } = self;
        for slots in moved.chunks(BLOCK) {
            moves.look_up(list, past, judge.now(), slots, judge.axis(place));
            list.relocate(moves, place, judge, sink)?;
        }
        Ok(())
    }
}

/// The global sort of one axis.
struct GlobalSort<'w, 'j, 's> {
    list: &'w mut SegmentedList,
    place: usize,
    judge: &'w Judge<'j>,
    sink: &'w mut EventSink<'s>,
}

impl Work for GlobalSort<'_, '_, '_> {
    type Output = Result<(), Stop>;

    #[inline(always)]
    fn run(self) -> Result<(), Stop> {
        self.list.sort_global(self.place, self.judge, self.sink)
    }
}

#[inline(always)]
fn ends(aabb: &Aabb, axis: usize, slot: u32) -> (Endpoint, Endpoint) {
    (Endpoint::lower(aabb, axis, slot), Endpoint::upper(aabb, axis, slot))
}
