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

use super::list::{SegmentedList, Spot};

/// Endpoints of a chunk unless the checkpoint sets are large; see [`chunk_size`].
pub const CHUNK: usize = 64;

/// Chunked lists of a set of boxes, one for each axis.
#[derive(Debug, Default)]
pub struct SegmentedLists {
    /// By axis, not by precedence.
    axes: [SegmentedList; 3],
    boxes: usize,
    /// Where the ends of the moved boxes were found.
    spots: Vec<(Spot, Spot)>,
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
    (mean as usize).clamp(CHUNK, 1 << 20).next_power_of_two()
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
            let choose = || if axis == first { chunk_size(scratch) } else { CHUNK };
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
        let spots = self.spots.capacity() * size_of::<(Spot, Spot)>();
        self.axes.iter().map(SegmentedList::bytes).sum::<usize>() + spots
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
        let (lower, upper) = ends(then, judge.axis(0), slot);
        self.axes[judge.axis(0)].candidates(lower, upper, |other| {
            sink.tests += 1;
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
        let (lower, upper) = ends(now, judge.axis(0), slot);
        self.axes[judge.axis(0)].candidates(lower, upper, |other| {
            sink.tests += 1;
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
    ///
    /// All ends are looked up before the first is moved. A search waits for each of its steps,
    /// but many searches in a row wait at the same time; and the place that was found is off by
    /// little when the turn of the end comes.
    pub fn sort_local(
        &mut self,
        past: &[Aabb],
        moved: &[u32],
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for place in 0..3 {
            let axis = judge.axis(place);
            let list = &mut self.axes[axis];
            self.spots.clear();
            self.spots.extend(moved.iter().map(|&slot| {
                let (lower, upper) = ends(&past[slot as usize], axis, slot);
                (list.find(lower), list.find(upper))
            }));
            for (&slot, &spots) in moved.iter().zip(&self.spots) {
                let (then, now) = (&past[slot as usize], &judge.now()[slot as usize]);
                let (then, now) = (ends(then, axis, slot), ends(now, axis, slot));
                let (lower, upper) = ((spots.0, then.0, now.0), (spots.1, then.1, now.1));
                // The end that gives way goes first, so that a box is never inside out.
                let both = if upper.2 > upper.1 { [upper, lower] } else { [lower, upper] };
                for (spot, from, to) in both {
                    list.relocate(spot, from, to, place, judge, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Global sort: takes over every bound of now. O(n + swaps).
    pub fn sort_global(&mut self, judge: &Judge<'_>, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        (0..3).try_for_each(|place| self.axes[judge.axis(place)].sort_global(place, judge, sink))
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

#[inline(always)]
fn ends(aabb: &Aabb, axis: usize, slot: u32) -> (Endpoint, Endpoint) {
    (Endpoint::lower(aabb, axis, slot), Endpoint::upper(aabb, axis, slot))
}
