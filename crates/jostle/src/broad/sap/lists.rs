//! [`Lists`]: the sorted endpoints on three axes, and the two sorts that repair them after boxes
//! moved. The third way, for boxes that come and go, is in [`batch`](super::batch).
//!
//! Neighbours that change places and are of opposite kinds are shown to the [`Judge`]; see
//! [`past`](crate::broad::past) for why each event is found once, whatever the sort.

use crate::aabb::Aabb;
use crate::broad::endpoint::{Endpoint, fill_sorted};
use crate::broad::past::{EventSink, Judge, Stop};
use crate::simd::widest::{Work, widest};

use super::passing::Passing;

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

    /// How many boxes lie over an endpoint of an axis, in the mean.
    pub fn mean_depth(&self, axis: usize) -> usize {
        let list = &self.axes[axis];
        let (mut depth, mut sum) = (0usize, 0usize);
        for endpoint in list {
            depth = if endpoint.is_upper() { depth - 1 } else { depth + 1 };
            sum += depth;
        }
        sum / list.len().max(1)
    }

    /// How many swaps it takes to move a box, if the others stay.
    pub fn way(&self, slot: u32, then: &Aabb, now: &Aabb) -> usize {
        let rank = |list: &[Endpoint], end: Endpoint| list.partition_point(|&other| other < end);
        let way = |axis: usize| {
            let list = &self.axes[axis];
            let ends = [Endpoint::lower, Endpoint::upper];
            let one = |end: fn(&Aabb, usize, u32) -> Endpoint| {
                rank(list, end(then, axis, slot)).abs_diff(rank(list, end(now, axis, slot)))
            };
            ends.into_iter().map(one).sum::<usize>()
        };
        (0..3).map(way).sum()
    }

    /// Global sort: takes over every bound of now and sorts each list by insertion from its
    /// beginning to its end. O(n + swaps).
    pub fn sort_global(&mut self, judge: &Judge<'_>, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        for place in 0..3 {
            let list = self.axes[judge.axis(place)].as_mut_slice();
            widest(GlobalSort { list, place, judge, sink })?;
        }
        Ok(())
    }

    /// Local sort: moves the ends of these boxes alone. `past` holds the bounds that the lists
    /// are sorted by. O(m log n + swaps) for m boxes.
    pub fn sort_local(
        &mut self,
        past: &[Aabb],
        moved: &[u32],
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        for place in 0..3 {
            let list = self.axes[judge.axis(place)].as_mut_slice();
            widest(LocalSort { list, past, moved, place, judge, sink })?;
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

/// The global sort of one axis.
struct GlobalSort<'w, 'j, 's> {
    list: &'w mut [Endpoint],
    place: usize,
    judge: &'w Judge<'j>,
    sink: &'w mut EventSink<'s>,
}

impl Work for GlobalSort<'_, '_, '_> {
    type Output = Result<(), Stop>;

    #[inline(always)]
    fn run(self) -> Result<(), Stop> {
        let GlobalSort { list, place, judge, sink } = self;
        let axis = judge.axis(place);
        for at in 0..list.len() {
            let endpoint = list[at].renewed(judge.now(), axis);
            list[at] = endpoint;
            if at > 0 && list[at - 1] > endpoint {
                sift_left(list, at, endpoint, place, judge, sink)?;
            }
        }
        Ok(())
    }
}

/// The local sort of one axis.
struct LocalSort<'w, 'j, 's> {
    list: &'w mut [Endpoint],
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
        let LocalSort { list, past, moved, place, judge, sink } = self;
        let axis = judge.axis(place);
        for &slot in moved {
            let (then, now) = (&past[slot as usize], &judge.now()[slot as usize]);
            let lower = (Endpoint::lower(then, axis, slot), Endpoint::lower(now, axis, slot));
            let upper = (Endpoint::upper(then, axis, slot), Endpoint::upper(now, axis, slot));
            // The end that gives way goes first, so that a box is never inside out.
            let ends = if upper.1 > upper.0 { [upper, lower] } else { [lower, upper] };
            for (from, to) in ends {
                relocate(list, from, to, place, judge, sink)?;
            }
        }
        Ok(())
    }
}

/// Gives one end its new value and moves it to where it then belongs.
#[inline(always)]
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
    at: usize,
    endpoint: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    let mut to = at;
    while to > 0 && list[to - 1] > endpoint {
        list[to] = list[to - 1];
        to -= 1;
    }
    list[to] = endpoint;
    Passing::leftward(endpoint, place, judge, sink).pass(&list[to + 1..=at])
}

/// Moves the endpoint at `at` right past every smaller one.
#[inline(always)]
fn sift_right(
    list: &mut [Endpoint],
    at: usize,
    endpoint: Endpoint,
    place: usize,
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    let mut to = at;
    while to + 1 < list.len() && list[to + 1] < endpoint {
        list[to] = list[to + 1];
        to += 1;
    }
    list[to] = endpoint;
    Passing::rightward(endpoint, place, judge, sink).pass(&list[at..to])
}
