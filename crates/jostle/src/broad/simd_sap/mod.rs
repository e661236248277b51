//! `simd-sap`: persistent sweep and prune whose lists are sorted by vectors, one worker for each
//! axis; boxes whose ends changed their rank are retested.
//!
//! Source: Campbell, *Broadphase Collision Detection on the Cell Processor* (2009), §4.2, carried
//! from the Cell's four-lane vectors and three coprocessors to AVX2 and threads.
//!
//! ```text
//! each axis, on a worker of its own
//!     give the ends of the moved boxes their new values
//!     sort values and ids by vectors                  (simd::endpoint_sort)
//!     compare the ids with the order of the step before
//!     retest the boxes at the places that differ
//! ```
//!
//! **Cost.** A step costs O(n) short operations, eight endpoints each, to find what is out of order
//! and what changed, the splits of the sort, and a test for each place that an end has moved;
//! nothing moved costs nothing. Memory: 96 bytes a box for lists, previous order and ranks, 24
//! for the past bounds, and up to 48 for sorting from scratch.
//!
//! **Choose it** instead of [`sap`](crate::broad::sap) where many boxes move a little and up to
//! three threads are there. Not for worlds in which boxes come and go in numbers: each costs a test
//! against every other box, and the lists are written anew. The limits of `sap` hold here, too.
//!
//! **Departures.**
//! 1. Vectors are kept in order while they are moved, see [`simd`](self)'s sort; an entry is
//!    compared by value, kind of end and id, so equal values need no forced exchange.
//! 2. Each end knows its rank, so nothing is searched for, and only moved boxes get new values.
//! 3. Ids are compared rather than values: what keeps its rank has passed nothing.
//! 4. [`Retest::Passed`], the default, tests an end against those it has passed instead of a box
//!    against all that lie between its ends, and sees each exchange once: pairs begin and end in
//!    the same pass, and no set of colliding keys of the frame before is needed. The thesis's two
//!    methods can be chosen. Its first one misses a box that encloses another unless either has an
//!    end where the other passed; here it also looks along the way from the old rank to the new.
//! 5. Lists far from order are sorted from scratch; steps dearer than finding all pairs anew are
//!    replaced by that ([`Effort`]).

mod axis;

use crate::boxes::{Boxes, Follower};
use crate::broad::effort::Effort;
use crate::broad::endpoint::Endpoint;
use crate::broad::finder::Finder;
use crate::broad::past::{Judge, Past, Stop};
use crate::broad::sap::axes_by_spread;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::{BoxId, Lane, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::endpoint_sort::LANES;
use crate::stats::{StageClock, Stats};

use axis::{AxisList, Task};

/// How the boxes that changed their rank are tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retest {
    /// Each end against the ends it has passed.
    #[default]
    Passed,
    /// Each box against those with an end between its own: the thesis's first method.
    Between,
    /// Each box against every other: the thesis's second method.
    All,
}

/// See the [module](self).
pub struct SimdSap {
    retest: Retest,
    may_rebuild: bool,
    workers: Workers,
    follower: Follower,
    past: Past,
    axes: [AxisList; 3],
    /// Whether the lists are sorted by the past bounds; otherwise they are to be made.
    listed: bool,
    finder: Finder,
    /// The axes by spread, the widest first.
    order: [usize; 3],
    /// Boxes taken out and boxes put in, ascending, and the moved ones that are neither.
    dropped: Vec<u32>,
    fresh: Vec<u32>,
    moved: Vec<u32>,
    pairs: usize,
    effort: Effort,
    tests: u64,
    splits: u64,
    changed: u64,
    rebuilt: bool,
    clock: StageClock,
}

impl SimdSap {
    /// A new instance; it uses up to three threads.
    pub fn new(workers: &Workers) -> SimdSap {
        SimdSap::with_retest(workers, Retest::default())
    }

    /// A new instance with one of the ways to retest.
    pub fn with_retest(workers: &Workers, retest: Retest) -> SimdSap {
        SimdSap {
            retest,
            may_rebuild: true,
            workers: workers.clone(),
            follower: Follower::default(),
            past: Past::default(),
            axes: Default::default(),
            listed: false,
            finder: Finder::new(workers),
            order: [0, 1, 2],
            dropped: Vec::new(),
            fresh: Vec::new(),
            moved: Vec::new(),
            pairs: 0,
            effort: Effort::default(),
            tests: 0,
            splits: 0,
            changed: 0,
            rebuilt: false,
            clock: StageClock::default(),
        }
    }

    /// Whether finding all pairs anew may replace a step that is dearer; it may unless told.
    pub fn may_rebuild(mut self, may: bool) -> SimdSap {
        self.may_rebuild = may;
        self
    }

    /// Finds all pairs from scratch.
    fn build(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.finder.find(boxes, found)?;
        self.tests += self.finder.tests();
        self.rebuilt = true;
        self.effort.built(self.finder.tests(), boxes.len());
        self.pairs = found.len();
        self.past.rebuild(boxes);
        self.clock.end("build");
        Ok(Report::Full)
    }

    /// Sorts the lists by the past bounds, if they are not.
    fn make_lists(&mut self, boxes: &Boxes) {
        if self.listed {
            return;
        }
        self.order = axes_by_spread(boxes);
        let past = self.past.aabbs();
        self.workers.for_each(&mut self.axes, |axis, list| {
            let there = |slot: &u32| !past[*slot as usize].min[0].is_nan();
            list.rebuild(past, axis, (0..past.len() as u32).filter(there));
        });
        self.listed = true;
        self.clock.end("sort lists");
    }

    /// Follows the changes; false where it was given up.
    fn follow(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<bool, Error> {
        self.make_lists(boxes);
        self.past.grow(boxes);
        self.sort_out(boxes);
        let coming_and_going = self.dropped.len() + self.fresh.len();
        let tests = coming_and_going as u64 * boxes.slots() as u64;
        if self.may_rebuild && tests > self.effort.budget(boxes.len()) {
            self.listed = false;
            self.tests = tests;
            return Ok(false);
        }
        self.tests += tests;
        let mut ended = std::mem::take(found.ended_mut());
        let judge = self.past.judge(boxes, self.order);
        find_ended(&judge, &self.dropped, &mut ended);
        *found.ended_mut() = ended;
        find_began(&judge, &self.fresh, &mut found.lanes(3)[0])?;
        if !self.dropped.is_empty() {
            let gone = |slot: u32| self.dropped.binary_search(&slot).is_ok();
            self.workers.for_each(&mut self.axes, |_, list| list.remove(gone, boxes.slots()));
            self.clock.end("remove");
        }
        let done = self.follow_moved(boxes, found)?;
        if !self.fresh.is_empty() {
            let insert = |axis, list: &mut AxisList| list.insert(&self.fresh, boxes.aabbs(), axis);
            self.workers.for_each(&mut self.axes, insert);
            self.clock.end("insert");
        }
        Ok(done)
    }

    /// Deals the changes: boxes to drop, boxes to insert, boxes to move. A box with another
    /// filter is dropped and inserted.
    fn sort_out(&mut self, boxes: &Boxes) {
        let changes = boxes.changes();
        let SimdSap { dropped, fresh, moved, past, .. } = self;
        for (ids, list) in [(changes.removed(), &mut *dropped), (changes.inserted(), &mut *fresh)] {
            list.clear();
            list.extend(ids.iter().map(|id| id.get()));
        }
        moved.clear();
        for id in changes.moved() {
            if past.refiltered(boxes, id.get()) {
                dropped.push(id.get());
                fresh.push(id.get());
            } else {
                moved.push(id.get());
            }
        }
        dropped.sort_unstable();
        fresh.sort_unstable();
    }

    /// Sorts and retests, one worker for each axis; false where it was given up. The lists are
    /// sorted in any case.
    fn follow_moved(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<bool, Error> {
        if self.moved.is_empty() {
            return Ok(true);
        }
        let judge = self.past.judge(boxes, self.order);
        let budget = if self.may_rebuild { self.effort.budget(boxes.len()) / 3 } else { u64::MAX };
        let (moved, retest, order) = (&self.moved, self.retest, self.order);
        let place_of = |axis: usize| (0..3).find(|&place| order[place] == axis).unwrap_or(0);
        let [x, y, z] = &mut self.axes;
        let [one, two, three] = found.lanes(3) else { unreachable!("three lanes were asked for") };
        let mut tasks = [(x, one, Ok(())), (y, two, Ok(())), (z, three, Ok(()))];
        self.workers.for_each(&mut tasks, |axis, (list, lane, result)| {
            let task = Task { judge, place: place_of(axis), moved, retest, budget };
            *result = list.follow(&task, lane);
        });
        let results = tasks.map(|(_, _, result)| result);
        for list in &self.axes {
            self.tests += list.work.tests;
            self.splits += list.work.splits;
            self.changed += list.work.changed;
        }
        self.clock.end("sort and retest");
        for result in results {
            match result {
                Ok(()) => {}
                Err(Stop::Budget) => return Ok(false),
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        self.collect(found)?;
        Ok(true)
    }

    /// Puts together what the axes found. The thesis's methods meet a pair more than once.
    fn collect(&mut self, found: &mut PairBuffer) -> Result<(), Error> {
        if self.retest == Retest::Passed {
            self.axes.iter().for_each(|list| found.ended_mut().extend_from_slice(&list.ended));
            return Ok(());
        }
        let [x, y, z] = &mut self.axes;
        for list in [&*y, &*z] {
            x.began.extend_from_slice(&list.began);
            x.ended.extend_from_slice(&list.ended);
        }
        for pairs in [&mut x.began, &mut x.ended] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        found.ended_mut().extend_from_slice(&x.ended);
        let lane = found.lane();
        x.began.iter().try_for_each(|pair| lane.push(pair.a().get(), pair.b().get()))?;
        Ok(())
    }

    /// What [`BroadPhase::update`] does once the changes are known to continue.
    fn continue_with(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let changes = boxes.changes().len();
        if changes == 0 {
            return Ok(Report::Delta);
        }
        let unsorted = !self.listed;
        if self.may_rebuild && self.effort.prefers_building(changes, boxes.len(), unsorted) {
            self.listed = false;
            return self.build(boxes, found);
        }
        let done = self.follow(boxes, found)?;
        let work = self.tests;
        if !done {
            // Each axis gives up for itself, so the count says less than the budget does.
            self.effort.abandoned(work.max(self.effort.budget(boxes.len())), changes);
            found.clear();
            return self.build(boxes, found);
        }
        self.effort.followed(work, changes);
        self.past.follow(boxes);
        self.pairs = self.pairs + found.len() - found.ended().len();
        Ok(Report::Delta)
    }
}

impl BroadPhase for SimdSap {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        (self.tests, self.splits, self.changed) = (0, 0, 0);
        self.rebuilt = false;
        let fits = boxes.slots() < Endpoint::MAX_SLOTS;
        let report = if self.follower.begin(boxes) {
            self.continue_with(boxes, found)?
        } else {
            self.listed = false;
            self.build(boxes, found)?;
            if fits {
                self.make_lists(boxes);
            }
            Report::Full
        };
        if self.pairs > found.limit() {
            return Err(LimitReached { limit: found.limit() }.into());
        }
        if fits {
            self.follower.done(boxes);
        }
        Ok(report)
    }

    fn stats(&self) -> Stats {
        let lists = self.dropped.capacity() + self.fresh.capacity() + self.moved.capacity();
        let bytes = self.past.bytes()
            + self.axes.iter().map(AxisList::bytes).sum::<usize>()
            + self.finder.bytes()
            + lists * 4;
        Stats {
            tests: self.tests,
            swaps: LANES as u64 * self.splits,
            bytes,
            counts: vec![
                ("vector_splits", self.splits as f64),
                ("changed_ranks", self.changed as f64),
                ("rebuilt", f64::from(u8::from(self.rebuilt))),
            ],
            stages: self.clock.stages().to_vec(),
        }
    }

    fn validate(&self, boxes: &Boxes) {
        if self.listed {
            for (axis, list) in self.axes.iter().enumerate() {
                list.validate(boxes.aabbs(), axis, boxes.ids().map(|id| id.get()));
            }
        }
    }
}

/// The pairs that boxes which go had with any box. Of two that both go, the smaller id speaks.
fn find_ended(judge: &Judge<'_>, dropped: &[u32], ended: &mut Vec<Pair>) {
    for &slot in dropped {
        let before = judge.then()[slot as usize];
        for (other, aabb) in judge.then().iter().enumerate() {
            let other = other as u32;
            if before.overlaps(aabb) && other != slot && judge.ended(slot, other) {
                let both = other < slot && dropped.binary_search(&other).is_ok();
                if !both {
                    ended.push(Pair::new(BoxId::new(slot), BoxId::new(other)));
                }
            }
        }
    }
}

/// The pairs that boxes which come have with any box.
fn find_began(judge: &Judge<'_>, fresh: &[u32], lane: &mut Lane) -> Result<(), Error> {
    for &slot in fresh {
        let here = judge.now()[slot as usize];
        for (other, aabb) in judge.now().iter().enumerate() {
            let other = other as u32;
            if here.overlaps(aabb) && other != slot && judge.began(slot, other) {
                let both = other < slot && fresh.binary_search(&other).is_ok();
                if !both {
                    lane.push(slot, other)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::sap::tests::follow_history;

    #[test]
    fn histories_agree_with_testing_all_pairs() {
        for retest in [Retest::Passed, Retest::Between, Retest::All] {
            for (threads, may_rebuild) in [(1, true), (1, false), (3, false)] {
                let workers = Workers::new(threads).unwrap();
                let mut events = 0;
                for seed in 0..40 {
                    let mut sap = SimdSap::with_retest(&workers, retest).may_rebuild(may_rebuild);
                    let start = [0, 3, 40, 120][seed as usize % 4];
                    let (deltas, seen) = follow_history(&mut sap, seed, 40, start, seed % 2 == 0);
                    assert!(may_rebuild || deltas == 39, "every step but the first is a change");
                    events += seen;
                }
                assert!(events > 20_000, "too little happened: {events}");
            }
        }
    }
}
