//! [`EndpointLists`]: the sorted endpoints on three axes, and the two sorts that repair them after
//! boxes moved. The third sort, for boxes that are inserted and removed, is in `batch.rs`.
//!
//! Neighbours of opposite kinds that swap are shown to the [`PairJudge`]; its module says why each
//! event is found once, whatever the sort.

use crate::aabb::Aabb;
use crate::broad::persistent::{
    AxisSort, Endpoint, EventSink, FollowResult, PairJudge, fill_sorted,
};
use crate::simd::{self, Kernel, Simd};

/// Endpoints of a set of boxes, one sorted list for each axis.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndpointLists {
    /// By axis, not by precedence.
    pub axes: [Vec<Endpoint>; 3],
    /// The list that a batch writes to; it is then swapped with the old one.
    pub spare: Vec<Endpoint>,
}

impl EndpointLists {
    /// Sorts the endpoints of these boxes from scratch: O(n log n).
    pub(crate) fn rebuild(&mut self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        for axis in 0..3 {
            fill_sorted(&mut self.axes[axis], aabbs, axis, slots.clone());
        }
    }

    /// The sorted endpoints on an axis.
    pub(crate) fn axis(&self, axis: usize) -> &[Endpoint] {
        &self.axes[axis]
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let entries: usize = self.axes.iter().map(Vec::capacity).sum();
        (entries + self.spare.capacity()) * size_of::<Endpoint>()
    }

    /// How many boxes lie over an endpoint of an axis, on average.
    pub(crate) fn mean_depth(&self, axis: usize) -> usize {
        let list = &self.axes[axis];
        let (mut depth, mut sum) = (0usize, 0usize);
        for endpoint in list {
            depth = if endpoint.is_upper() { depth - 1 } else { depth + 1 };
            sum += depth;
        }
        sum / list.len().max(1)
    }

    /// Endpoints per unit of length in the middle three quarters of an axis, so that a few giant
    /// or distant boxes do not count.
    pub(crate) fn density(&self, axis: usize) -> f32 {
        let list = &self.axes[axis];
        let (low, high) = (list.len() / 8, list.len() - list.len() / 8);
        if high < low + 2 {
            return 0.0;
        }
        let width = list[high - 1].value() - list[low].value();
        if width > 0.0 { (high - low) as f32 / width } else { 0.0 }
    }

    /// How many endpoints a box passes when it moves, if the others stay.
    pub(crate) fn passed(&self, slot: u32, then: &Aabb, now: &Aabb) -> usize {
        let on_axis = |axis: usize| {
            let rank = |endpoint| self.axes[axis].partition_point(|&other| other < endpoint);
            let one = |endpoint: fn(&Aabb, usize, u32) -> Endpoint| {
                rank(endpoint(then, axis, slot)).abs_diff(rank(endpoint(now, axis, slot)))
            };
            one(Endpoint::lower) + one(Endpoint::upper)
        };
        (0..3).map(on_axis).sum()
    }

    /// Global sort: takes over all current bounds and sorts each list by insertion from its
    /// beginning to its end. O(n + swaps).
    pub(crate) fn sort_global(
        &mut self,
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        for place in 0..3 {
            let list = self.axes[judge.axis(place)].as_mut_slice();
            simd::run(GlobalSort { list, sort: AxisSort { place, judge, sink } })?;
        }
        Ok(())
    }

    /// Local sort: moves the endpoints of these boxes alone. The lists must be sorted by the
    /// previous bounds. O(m log n + swaps) for m boxes.
    pub(crate) fn sort_local(
        &mut self,
        moved: &[u32],
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        for place in 0..3 {
            let list = self.axes[judge.axis(place)].as_mut_slice();
            simd::run(LocalSort { list, moved, sort: AxisSort { place, judge, sink } })?;
        }
        Ok(())
    }

    /// Panics if a list is not the sorted endpoints of these boxes.
    pub(crate) fn validate(&self, aabbs: &[Aabb], slots: impl Iterator<Item = u32> + Clone) {
        let mut expected = Vec::new();
        for axis in 0..3 {
            fill_sorted(&mut expected, aabbs, axis, slots.clone());
            assert!(
                expected == self.axes[axis],
                "axis {axis}: the list is not the sorted endpoints of the boxes"
            );
        }
    }
}

/// The global sort of one axis.
struct GlobalSort<'w, 'j, 's> {
    list: &'w mut [Endpoint],
    sort: AxisSort<'w, 'j, 's>,
}

impl Kernel for GlobalSort<'_, '_, '_> {
    type Output = FollowResult;

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) -> FollowResult {
        (0..self.list.len()).try_for_each(|at| self.sort.renew(self.list, at))
    }
}

/// The local sort of one axis.
struct LocalSort<'w, 'j, 's> {
    list: &'w mut [Endpoint],
    moved: &'w [u32],
    sort: AxisSort<'w, 'j, 's>,
}

impl Kernel for LocalSort<'_, '_, '_> {
    type Output = FollowResult;

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) -> FollowResult {
        let (axis, judge) = (self.sort.axis(), self.sort.judge);
        for &slot in self.moved {
            let (then, now) = (&judge.then()[slot as usize], &judge.now()[slot as usize]);
            let lower = (Endpoint::lower(then, axis, slot), Endpoint::lower(now, axis, slot));
            let upper = (Endpoint::upper(then, axis, slot), Endpoint::upper(now, axis, slot));
            // The endpoint that makes room goes first, so that a box is never inside out.
            let both = if upper.1 > upper.0 { [upper, lower] } else { [lower, upper] };
            for (from, to) in both {
                self.relocate(from, to)?;
            }
        }
        Ok(())
    }
}

impl LocalSort<'_, '_, '_> {
    /// Gives one endpoint its new value and moves it to where it then belongs.
    #[inline(always)]
    fn relocate(&mut self, from: Endpoint, to: Endpoint) -> FollowResult {
        if from == to {
            return Ok(());
        }
        let at = self.list.partition_point(|&other| other < from);
        debug_assert!(self.list[at] == from, "the list is sorted by the previous bounds");
        self.list[at] = to;
        if to < from { self.sort.sift_left(self.list, at, to) } else { self.sift_right(at, to) }
    }

    /// Moves the endpoint at `at` right past every smaller one.
    #[inline(always)]
    fn sift_right(&mut self, at: usize, endpoint: Endpoint) -> FollowResult {
        let list = &mut *self.list;
        let mut to = at;
        while to + 1 < list.len() && list[to + 1] < endpoint {
            list[to] = list[to + 1];
            to += 1;
        }
        list[to] = endpoint;
        self.sort.rightward(endpoint).pass(&list[at..to])
    }
}
