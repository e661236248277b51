//! Batch insertion and removal: one pass over each list that drops the ends of boxes that go,
//! merges in the sorted ends of boxes that come, and sorts the rest by insertion.
//!
//! ```text
//! for each endpoint of the old list, in its old order            (Tracy et al., Table 2)
//!     if it is the next one to be dropped
//!         first axis: SR takes or releases its box; a released one ended with all of SL and SR
//!     else
//!         place the new endpoints that lie before its new value
//!             first axis: SI takes or releases the box; a released one meets all of SL and SI
//!         first axis: SL takes or releases its box; a released one meets SI, ended with SR
//!         sort it into what has been written
//! place what is left of the new endpoints
//! ```
//!
//! Why no pair is missed or found twice: call the order in which endpoints are written the order
//! of placing. Two boxes of which one is new either overlap in it on the first axis, and the sets
//! see them once, when the first of the two is released; or they do not, and if they overlap after
//! sorting then one lower end has passed one upper end, once, on the first axis. The boxes that
//! are new count as having been nowhere, so the [`Judge`] listens to that axis alone. Boxes that
//! go are seen in the old order, in which all their overlaps stand.
//!
//! Departures from the paper: the pass writes to a second list which then changes places with the
//! first, instead of floating within one allocation; this needs 16 bytes a box, once for all axes,
//! and no mirror image of the pass that runs backward. Both kinds of sets use the same axis, the
//! one with the largest spread. Every pair is decided from the bounds before and now, so a pair
//! that is met and still the same (its box was taken out and put in again) is no event.

use crate::aabb::Aabb;
use crate::broad::endpoint::{Endpoint, fill_sorted};
use crate::broad::past::{EventSink, Judge, Stop};
use crate::simd::widest::{Work, widest};

use super::lists::{Lists, sift_left};

/// The endpoints that go and those that come, sorted, by axis; and the sweeping sets.
#[derive(Debug, Default)]
pub struct Batch {
    dropped: [Vec<Endpoint>; 3],
    fresh: [Vec<Endpoint>; 3],
    kept: Open,
    coming: Open,
    going: Open,
    /// Where a box stands among the kept or the going ones, and where among the coming ones: a
    /// box that is taken out and put in again may be in two sets at once.
    places: Vec<u32>,
    coming_places: Vec<u32>,
}

impl Batch {
    /// Collects the endpoints of the boxes that go, where they were, and of those that come,
    /// where they are; both ascend. A box may be among both.
    pub fn prepare(&mut self, past: &[Aabb], dropped: &[u32], now: &[Aabb], fresh: &[u32]) {
        for axis in 0..3 {
            fill_sorted(&mut self.dropped[axis], past, axis, dropped.iter().copied());
            fill_sorted(&mut self.fresh[axis], now, axis, fresh.iter().copied());
        }
        self.places.resize(now.len(), 0);
        self.coming_places.resize(now.len(), 0);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lists = self.dropped.iter().chain(&self.fresh).map(Vec::capacity).sum::<usize>();
        let sets = [&self.kept, &self.coming, &self.going].map(|set| set.slots.capacity());
        let places = self.places.capacity() + self.coming_places.capacity();
        lists * size_of::<Endpoint>() + (places + sets.iter().sum::<usize>()) * 4
    }
}

/// A set of boxes over which the sweep stands.
#[derive(Debug, Default)]
struct Open {
    slots: Vec<u32>,
}

impl Open {
    /// Takes a box in at its lower end and releases it at its upper one; true where it released.
    #[inline(always)]
    fn pass(&mut self, endpoint: Endpoint, places: &mut [u32]) -> bool {
        let slot = endpoint.slot();
        if !endpoint.is_upper() {
            places[slot as usize] = self.slots.len() as u32;
            self.slots.push(slot);
            return false;
        }
        let place = places[slot as usize];
        self.slots.swap_remove(place as usize);
        if let Some(&shifted) = self.slots.get(place as usize) {
            places[shifted as usize] = place;
        }
        true
    }
}

impl Lists {
    /// Removes and inserts what the batch holds and sorts the rest. The boxes that come must
    /// count as having been nowhere ([`Past::hide`](crate::broad::past::Past::hide)).
    pub fn sort_batch(
        &mut self,
        batch: &mut Batch,
        judge: &Judge<'_>,
        sink: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let Batch { dropped, fresh, kept, coming, going, places, coming_places } = batch;
        for set in [&mut *kept, &mut *coming, &mut *going] {
            set.slots.clear();
        }
        for place in 0..3 {
            let axis = judge.axis(place);
            let sets = Sets { kept, coming, going, places, coming_places };
            let mut sweep = Sweep { judge, sink, sets, place, written: &mut self.spare };
            sweep.written.clear();
            let (old, dropped, fresh) = (&self.axes[axis], &dropped[axis], &fresh[axis]);
            widest(Pass { sweep: &mut sweep, old, dropped, fresh })?;
            std::mem::swap(&mut self.axes[axis], &mut self.spare);
        }
        Ok(())
    }
}

struct Sets<'a> {
    kept: &'a mut Open,
    coming: &'a mut Open,
    going: &'a mut Open,
    places: &'a mut [u32],
    coming_places: &'a mut [u32],
}

/// One pass over one axis.
struct Sweep<'a, 'b> {
    judge: &'a Judge<'a>,
    sink: &'a mut EventSink<'b>,
    sets: Sets<'a>,
    place: usize,
    written: &'a mut Vec<Endpoint>,
}

/// A sweep and what it passes over.
struct Pass<'w, 'a, 'b> {
    sweep: &'w mut Sweep<'a, 'b>,
    old: &'w [Endpoint],
    dropped: &'w [Endpoint],
    fresh: &'w [Endpoint],
}

impl Work for Pass<'_, '_, '_> {
    type Output = Result<(), Stop>;

    #[inline(always)]
    fn run(self) -> Result<(), Stop> {
        self.sweep.run(self.old, self.dropped, self.fresh)
    }
}

impl Sweep<'_, '_> {
    #[inline(always)]
    fn run(
        &mut self,
        old: &[Endpoint],
        mut dropped: &[Endpoint],
        mut fresh: &[Endpoint],
    ) -> Result<(), Stop> {
        let axis = self.judge.axis(self.place);
        self.written.reserve(old.len() + fresh.len() - dropped.len());
        for &endpoint in old {
            if dropped.first() == Some(&endpoint) {
                dropped = &dropped[1..];
                self.drop(endpoint)?;
                continue;
            }
            let renewed = endpoint.renewed(self.judge.now(), axis);
            while let Some((&next, rest)) = fresh.split_first().filter(|(next, _)| **next < renewed)
            {
                fresh = rest;
                self.insert(next)?;
            }
            self.keep(renewed)?;
        }
        debug_assert!(dropped.is_empty(), "an endpoint to drop was not in the list");
        fresh.iter().try_for_each(|&next| self.insert(next))
    }

    #[inline(always)]
    fn drop(&mut self, endpoint: Endpoint) -> Result<(), Stop> {
        let Sets { kept, going, places, .. } = &mut self.sets;
        if self.place > 0 || !going.pass(endpoint, places) {
            return Ok(());
        }
        self.sink.tests += (kept.slots.len() + going.slots.len()) as u64;
        end_with(endpoint.slot(), &kept.slots, self.judge, self.sink);
        end_with(endpoint.slot(), &going.slots, self.judge, self.sink);
        self.sink.check_budget()
    }

    #[inline(always)]
    fn insert(&mut self, endpoint: Endpoint) -> Result<(), Stop> {
        let Sets { kept, coming, coming_places, .. } = &mut self.sets;
        if self.place == 0 && coming.pass(endpoint, coming_places) {
            self.sink.tests += (kept.slots.len() + coming.slots.len()) as u64;
            begin_with(endpoint.slot(), &kept.slots, self.judge, self.sink)?;
            begin_with(endpoint.slot(), &coming.slots, self.judge, self.sink)?;
            self.sink.check_budget()?;
        }
        self.write(endpoint)
    }

    #[inline(always)]
    fn keep(&mut self, endpoint: Endpoint) -> Result<(), Stop> {
        let Sets { kept, coming, going, places, .. } = &mut self.sets;
        if self.place == 0 && kept.pass(endpoint, places) {
            self.sink.tests += (coming.slots.len() + going.slots.len()) as u64;
            end_with(endpoint.slot(), &going.slots, self.judge, self.sink);
            begin_with(endpoint.slot(), &coming.slots, self.judge, self.sink)?;
        }
        self.write(endpoint)
    }

    #[inline(always)]
    fn write(&mut self, endpoint: Endpoint) -> Result<(), Stop> {
        let at = self.written.len();
        self.written.push(endpoint);
        if at > 0 && self.written[at - 1] > endpoint {
            sift_left(self.written, at, endpoint, self.place, self.judge, self.sink)?;
        }
        Ok(())
    }
}

/// The pairs of a box with the boxes of a set that ended.
#[inline(always)]
fn end_with(slot: u32, set: &[u32], judge: &Judge<'_>, sink: &mut EventSink<'_>) {
    if set.is_empty() {
        return;
    }
    let before = judge.bounds_then(slot);
    for &other in set {
        if before.overlaps(&judge.bounds_then(other)) && judge.ended(slot, other) {
            sink.end(slot, other);
        }
    }
}

/// The pairs of a box with the boxes of a set that began.
#[inline(always)]
fn begin_with(
    slot: u32,
    set: &[u32],
    judge: &Judge<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), Stop> {
    if set.is_empty() {
        return Ok(());
    }
    let here = judge.now()[slot as usize];
    for &other in set {
        if here.overlaps(&judge.now()[other as usize]) && judge.began(slot, other) {
            sink.begin(slot, other)?;
        }
    }
    Ok(())
}
