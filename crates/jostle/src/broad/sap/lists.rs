//! [`Lists`]: the sorted endpoints on three axes, and the two sorts that repair them after boxes
//! moved. The third way, for boxes that come and go, is in [`batch`](super::batch).
//!
//! Neighbours that change places and are of opposite kinds are shown to the [`Judge`]; see
//! [`past`](crate::broad::past) for why each event is found once, whatever the sort.

use crate::aabb::Aabb;
use crate::broad::endpoint::{Endpoint, fill_sorted};
use crate::broad::past::{EventSink, Judge, Stop};

/// Endpoints of a set of boxes, one sorted list for each axis.
#[derive(Debug, Default)]
pub struct Lists {
    /// By axis, not by precedence.
    pub(crate) axes: [Vec<Endpoint>; 3],
    /// The list that a batch writes to; it then changes places with the old one.
    pub(crate) spare: Vec<Endpoint>,
}

impl Lists {
    /// Sorts the endpoints of these boxes from scratch: O(n log n).
    pub fn rebuild(&mut self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        for axis in 0..3 {
            fill_sorted(&mut self.axes[axis], aabbs, axis, slots.clone());
        }
    }

    /// The sorted endpoints on an axis.
    pub fn axis(&self, axis: usize) -> &[Endpoint] {
        &self.axes[axis]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let entries: usize = self.axes.iter().map(Vec::capacity).sum();
        (entries + self.spare.capacity()) * size_of::<Endpoint>()
    }

    /// Global sort: takes over every bound of now and sorts each list by insertion from its
    /// beginning to its end. O(n + swaps).
    pub fn sort_global(&mut self, judge: &Judge<'_>, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        for place in 0..3 {
            let axis = judge.axis(place);
            let list = self.axes[axis].as_mut_slice();
            for at in 0..list.len() {
                let endpoint = list[at].renewed(judge.now(), axis);
                list[at] = endpoint;
                if at > 0 && list[at - 1] > endpoint {
                    sift_left(list, at, endpoint, place, judge, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Local sort: moves the ends of these boxes alone. `past` holds the bounds that the lists
    /// are sorted by. O(m log n + swaps) for m boxes.
    pub fn sort_local(
        &mut self,
        past: &[Aabb],
        moved: impl Iterator<Item = u32> + Clone,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for place in 0..3 {
            let axis = judge.axis(place);
            let list = self.axes[axis].as_mut_slice();
            for slot in moved.clone() {
                let (then, now) = (&past[slot as usize], &judge.now()[slot as usize]);
                let lower = (Endpoint::lower(then, axis, slot), Endpoint::lower(now, axis, slot));
                let upper = (Endpoint::upper(then, axis, slot), Endpoint::upper(now, axis, slot));
                // The end that gives way goes first, so that a box is never inside out.
                let ends = if upper.1 > upper.0 { [upper, lower] } else { [lower, upper] };
                for (from, to) in ends {
                    relocate(list, from, to, place, judge, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Panics where a list is not the sorted list of the ends of these boxes.
    pub fn validate(&self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        let mut expected = Vec::new();
        for axis in 0..3 {
            fill_sorted(&mut expected, aabbs, axis, slots.clone());
            assert!(
                expected == self.axes[axis],
                "axis {axis}: the list is not the sorted ends of the boxes"
            );
        }
    }
}

/// Gives one end its new value and moves it to where it then belongs.
#[inline]
fn relocate(
    list: &mut [Endpoint],
    from: Endpoint,
    to: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    if from == to {
        return Ok(());
    }
    let at = list.partition_point(|&other| other < from);
    debug_assert!(list[at] == from, "the list is sorted by the bounds of the past");
    list[at] = to;
    if to < from {
        sift_left(list, at, to, place, judge, sink)
    } else {
        sift_right(list, at, to, place, judge, sink)
    }
}

/// Moves the endpoint at `at` left past every larger one.
#[inline(always)]
pub(crate) fn sift_left(
    list: &mut [Endpoint],
    mut at: usize,
    endpoint: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    let start = at;
    while at > 0 && list[at - 1] > endpoint {
        let passed = list[at - 1];
        list[at] = passed;
        at -= 1;
        if endpoint.opposes(passed) {
            if endpoint.is_upper() {
                parted(place, passed.slot(), endpoint.slot(), judge, sink);
            } else {
                met(place, endpoint.slot(), passed.slot(), judge, sink)?;
            }
        }
    }
    list[at] = endpoint;
    sink.swaps += (start - at) as u64;
    sink.check_budget()
}

/// Moves the endpoint at `at` right past every smaller one.
#[inline(always)]
fn sift_right(
    list: &mut [Endpoint],
    mut at: usize,
    endpoint: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    let start = at;
    while at + 1 < list.len() && list[at + 1] < endpoint {
        let passed = list[at + 1];
        list[at] = passed;
        at += 1;
        if endpoint.opposes(passed) {
            if endpoint.is_upper() {
                met(place, passed.slot(), endpoint.slot(), judge, sink)?;
            } else {
                parted(place, endpoint.slot(), passed.slot(), judge, sink);
            }
        }
    }
    list[at] = endpoint;
    sink.swaps += (at - start) as u64;
    sink.check_budget()
}

/// A lower end came to lie before an upper one.
#[inline(always)]
fn met(
    place: usize,
    lower: u32,
    upper: u32,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    sink.tests += 1;
    if judge.gains(place, lower, upper) { sink.begin(lower, upper) } else { Ok(()) }
}

/// A lower end came to lie behind an upper one.
#[inline(always)]
fn parted(place: usize, lower: u32, upper: u32, judge: &Judge<'_>, sink: &mut EventSink<'_>) {
    sink.tests += 1;
    if judge.loses(place, lower, upper) {
        sink.end(lower, upper);
    }
}
