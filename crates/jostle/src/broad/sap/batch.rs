//! Batch insertion and removal: one pass over each list that drops the endpoints of removed boxes,
//! merges in the sorted endpoints of inserted ones, and sorts the rest by insertion.
//!
//! ```text
//! for each endpoint of the old list, in its old order            (Tracy et al., Table 2)
//!     if it is the next one to be dropped
//!         first axis: SR opens or closes its box; one that is closed ended with all of SL and SR
//!     else
//!         write the new endpoints that lie before its new value
//!             first axis: SI opens or closes the box; one that is closed meets all of SL and SI
//!         first axis: SL opens or closes its box; one that is closed meets SI, ended with SR
//!         sort it into what has been written
//! write what is left of the new endpoints
//! ```
//!
//! Why no pair is missed or found twice: consider the order in which endpoints are written. Two
//! boxes of which one is new either overlap in it on the first axis, and the sets see them once,
//! when the first of the two is closed; or they do not, and if they overlap after sorting then one
//! lower endpoint has passed one upper endpoint, once, on the first axis. New boxes have no
//! previous bounds, so the [`PairJudge`] listens to that axis alone. Removed boxes are seen in the
//! old order, in which all their overlaps show.
//!
//! Departures from the paper: the pass writes to a second list which is then swapped with the
//! first, instead of floating within one allocation; this needs 16 bytes a box, once for all axes,
//! and no mirror image of the pass that runs backward. Both kinds of sets use the same axis, the
//! one with the largest spread. Every pair is decided from the previous and the current bounds, so
//! a pair that is met and unchanged (its box was removed and inserted again) is no event.

use crate::aabb::Aabb;
use crate::broad::persistent::{
    AxisSort, Endpoint, EventSink, FollowResult, ListChanges, PairJudge, SweepSet, fill_sorted,
};
use crate::simd::{self, Kernel, Simd};

use super::lists::EndpointLists;

/// The sorted endpoints of removed and of inserted boxes by axis, and the sweep sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    removed: [Vec<Endpoint>; 3],
    inserted: [Vec<Endpoint>; 3],
    sets: BatchSets,
}

/// The sweep sets: boxes that stay (the paper's SL), inserted (SI) and removed ones (SR).
#[derive(Clone, Debug, Default)]
struct BatchSets {
    staying: SweepSet,
    inserted: SweepSet,
    removed: SweepSet,
    /// The place of a box among the staying or the removed, and its place among the inserted: a
    /// box that is removed and inserted again may be in two sets at once.
    places: Vec<u32>,
    inserted_places: Vec<u32>,
}

impl Batch {
    /// Collects the endpoints of the removed boxes in their previous bounds and of the inserted
    /// ones in their current bounds. A box may be among both.
    pub(crate) fn prepare(&mut self, previous: &[Aabb], now: &[Aabb], changes: ListChanges<'_>) {
        for axis in 0..3 {
            let removed = changes.removed.iter().copied();
            fill_sorted(&mut self.removed[axis], previous, axis, removed);
            fill_sorted(&mut self.inserted[axis], now, axis, changes.inserted.iter().copied());
        }
        self.sets.places.resize(now.len(), 0);
        self.sets.inserted_places.resize(now.len(), 0);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.removed.iter().chain(&self.inserted).map(Vec::capacity).sum::<usize>();
        let BatchSets { staying, inserted, removed, places, inserted_places } = &self.sets;
        let sets: usize = [staying, inserted, removed].map(SweepSet::bytes).iter().sum();
        let places = places.capacity() + inserted_places.capacity();
        lists * size_of::<Endpoint>() + places * 4 + sets
    }
}

/// Opens the box of a lower endpoint and closes that of an upper one; returns true if it closed.
#[inline(always)]
fn pass(set: &mut SweepSet, endpoint: Endpoint, places: &mut [u32]) -> bool {
    if endpoint.is_upper() {
        set.close(endpoint.slot(), places);
    } else {
        set.open(endpoint.slot(), places);
    }
    endpoint.is_upper()
}

impl EndpointLists {
    /// Removes and inserts what the batch holds and sorts the rest. The inserted boxes must have
    /// no previous bounds, or [hidden](crate::broad::persistent::PreviousBounds::hide) ones.
    pub(crate) fn sort_batch(
        &mut self,
        batch: &mut Batch,
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        let Batch { removed, inserted, sets } = batch;
        for set in [&mut sets.staying, &mut sets.inserted, &mut sets.removed] {
            set.clear();
        }
        for place in 0..3 {
            let axis = judge.axis(place);
            self.spare.clear();
            simd::run(BatchPass {
                sort: AxisSort { place, judge, sink },
                sets,
                old: &self.axes[axis],
                removed: &removed[axis],
                inserted: &inserted[axis],
                written: &mut self.spare,
            })?;
            std::mem::swap(&mut self.axes[axis], &mut self.spare);
        }
        Ok(())
    }
}

/// One pass over one axis.
struct BatchPass<'w, 'j, 's> {
    sort: AxisSort<'w, 'j, 's>,
    sets: &'w mut BatchSets,
    old: &'w [Endpoint],
    removed: &'w [Endpoint],
    inserted: &'w [Endpoint],
    written: &'w mut Vec<Endpoint>,
}

impl Kernel for BatchPass<'_, '_, '_> {
    type Output = FollowResult;

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) -> FollowResult {
        let BatchPass { old, mut removed, mut inserted, .. } = self;
        let (axis, now) = (self.sort.axis(), self.sort.judge.now());
        self.written.reserve(old.len() + inserted.len() - removed.len());
        for &endpoint in old {
            if removed.first() == Some(&endpoint) {
                removed = &removed[1..];
                self.drop(endpoint)?;
                continue;
            }
            let renewed = endpoint.renewed(now, axis);
            let before = |next: &Endpoint| *next < renewed;
            while let Some((&next, rest)) = inserted.split_first().filter(|(next, _)| before(next))
            {
                inserted = rest;
                self.insert(next)?;
            }
            self.keep(renewed)?;
        }
        debug_assert!(removed.is_empty(), "an endpoint to drop was not in the list");
        inserted.iter().try_for_each(|&next| self.insert(next))
    }
}

impl BatchPass<'_, '_, '_> {
    #[inline(always)]
    fn drop(&mut self, endpoint: Endpoint) -> FollowResult {
        let BatchSets { staying, removed, places, .. } = &mut *self.sets;
        let AxisSort { place, judge, sink } = &mut self.sort;
        if *place > 0 || !pass(removed, endpoint, places) {
            return Ok(());
        }
        sink.end_with(endpoint.slot(), staying.slots(), judge);
        sink.end_with(endpoint.slot(), removed.slots(), judge);
        sink.check_budget()
    }

    #[inline(always)]
    fn insert(&mut self, endpoint: Endpoint) -> FollowResult {
        let BatchSets { staying, inserted, inserted_places, .. } = &mut *self.sets;
        let AxisSort { place, judge, sink } = &mut self.sort;
        if *place == 0 && pass(inserted, endpoint, inserted_places) {
            sink.begin_with(endpoint.slot(), staying.slots(), judge)?;
            sink.begin_with(endpoint.slot(), inserted.slots(), judge)?;
            sink.check_budget()?;
        }
        self.write(endpoint)
    }

    #[inline(always)]
    fn keep(&mut self, endpoint: Endpoint) -> FollowResult {
        let BatchSets { staying, inserted, removed, places, .. } = &mut *self.sets;
        let AxisSort { place, judge, sink } = &mut self.sort;
        if *place == 0 && pass(staying, endpoint, places) {
            sink.end_with(endpoint.slot(), removed.slots(), judge);
            sink.begin_with(endpoint.slot(), inserted.slots(), judge)?;
        }
        self.write(endpoint)
    }

    #[inline(always)]
    fn write(&mut self, endpoint: Endpoint) -> FollowResult {
        let at = self.written.len();
        self.written.push(endpoint);
        if at > 0 && self.written[at - 1] > endpoint {
            self.sort.sift_left(self.written, at, endpoint)?;
        }
        Ok(())
    }
}
