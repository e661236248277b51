//! `simd-sap`: persistent sweep and prune whose lists are sorted by vectors, one worker for each
//! axis; boxes whose ends changed their rank are retested.
//!
//! Source: G. Campbell, *Broadphase Collision Detection on the Cell Processor* (2010), §4.2, carried
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
//! and what changed, the splits of the sort, and a test for each place that an end has moved. Boxes
//! that come and go cost a pass over the lists and a test against each box that lies over a point
//! of the first axis. Nothing moved costs nothing. Memory: 96 bytes a box for lists, previous order
//! and ranks, up to 24 for what changed, 24 for the past bounds.
//!
//! **Choose it** instead of [`sap`](crate::broad::sap) where many boxes move a little and up to
//! three threads are there. Not for worlds in which boxes come and go in numbers: the lists are
//! written anew. The limits of `sap` hold here, too.
//!
//! **What lost.** With a tenth moving, one worker takes 1.15 times as long as `sap` at 4096 boxes
//! (1.3 while a copy of the old values was made in each step and what was passed was first looked
//! for and then tested). Sorting by vectors is a third of the step; the rest are the tests of what
//! was passed, which `sap` makes as well, and which no vector makes faster: each reads a box from
//! elsewhere. Handing a step to three workers costs some microseconds, as much as a step of 256
//! boxes, and more where cores are busy.
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
//! 5. Steps dearer than finding all pairs anew are replaced by that
//!    ([`persistent`](crate::broad::persistent)); where this is forbidden, lists far from order are
//!    sorted from scratch.
//! 6. Boxes that come and go are met in a sweep of the first axis (`exchange.rs`).

mod axis;
mod exchange;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::past::{Judge, Past, Stop};
use crate::broad::persistent::{Changed, Kept, Persistent, Step, driven, way};
use crate::pair::{BoxId, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::endpoint_sort::LANES;

use axis::{AxisList, TEST_WORK, Task};
use exchange::Sweep;

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

/// Below so many boxes one thread does all: waking others takes longer than an axis.
const FEW: usize = 2048;

/// What a box that comes or goes costs beside the boxes it is tested against.
const CHANGE_WORK: f64 = 40.0;

/// See the [module](self).
pub struct SimdSap {
    driver: Persistent<Ends>,
}

driven!(SimdSap);

impl SimdSap {
    /// A new instance; it uses up to three threads.
    pub fn new(workers: &Workers) -> SimdSap {
        SimdSap::with_retest(workers, Retest::default())
    }

    /// A new instance with one of the ways to retest.
    pub fn with_retest(workers: &Workers, retest: Retest) -> SimdSap {
        let ends = Ends { retest, workers: workers.clone(), ..Ends::default() };
        SimdSap { driver: Persistent::new(workers, ends, true) }
    }

    /// Whether finding all pairs anew may replace a step that is dearer; it may unless told.
    pub fn may_rebuild(mut self, may: bool) -> SimdSap {
        self.driver.may_rebuild = may;
        self
    }
}

/// The lists, and what is needed to follow changes in them.
#[derive(Default)]
struct Ends {
    retest: Retest,
    workers: Workers,
    axes: [AxisList; 3],
    changed: Changed,
    sweep: Sweep,
    /// Endpoints per unit of length on each axis, and boxes that lie over a point of the first.
    density: [f32; 3],
    crowd: f32,
    splits: u64,
    ranks: u64,
}

impl Ends {
    /// Those that run the axes of so many boxes.
    fn workers(&self, boxes: usize) -> Workers {
        if boxes < FEW { Workers::one() } else { self.workers.clone() }
    }

    /// Ends the pairs of the boxes that go, and takes them out.
    fn remove(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let workers = self.workers(step.boxes.len());
        let Ends { axes, sweep, changed, .. } = self;
        if changed.dropped.is_empty() {
            return Ok(());
        }
        sweep.choose(&changed.dropped, step.past.aabbs().len());
        let judge = step.past.judge(step.boxes, step.order);
        let (tests, ended) = (&mut step.work.tests, found.ended_mut());
        sweep.run(axes[step.order[0]].ids(), |slot, others| {
            *tests += others.len() as u64;
            end_with(slot, others, &judge, ended);
            within(*tests, step.budget)
        })?;
        workers.for_each(axes, |_, list| list.remove(|slot| sweep.chose(slot)));
        step.clock.end("remove");
        Ok(())
    }

    /// Puts in the boxes that come, and begins their pairs.
    fn insert(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let workers = self.workers(step.boxes.len());
        let Ends { axes, sweep, changed, .. } = self;
        if changed.fresh.is_empty() {
            return Ok(());
        }
        let aabbs = step.boxes.aabbs();
        workers.for_each(axes, |axis, list| list.insert(&changed.fresh, aabbs, axis));
        sweep.choose(&changed.fresh, aabbs.len());
        let judge = step.past.judge(step.boxes, step.order);
        let (tests, lane) = (&mut step.work.tests, &mut found.lanes(3)[0]);
        sweep.run(axes[step.order[0]].ids(), |slot, others| {
            *tests += others.len() as u64;
            let here = aabbs[slot as usize];
            for &other in others {
                if here.overlaps(&aabbs[other as usize]) && judge.began(slot, other) {
                    lane.push(slot, other)?;
                }
            }
            within(*tests, step.budget)
        })?;
        step.clock.end("insert");
        Ok(())
    }

    /// Sorts and retests, one worker for each axis.
    fn follow_moved(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        if self.changed.moved.is_empty() {
            return Ok(());
        }
        let workers = self.workers(step.boxes.len());
        let judge = step.past.judge(step.boxes, step.order);
        // Often one axis has more to do than the others.
        let budget = if step.budget == u64::MAX { u64::MAX } else { step.budget / 2 };
        let (moved, retest, order) = (&self.changed.moved, self.retest, step.order);
        let place_of = |axis: usize| (0..3).find(|&place| order[place] == axis).unwrap_or(0);
        let [x, y, z] = &mut self.axes;
        let [one, two, three] = found.lanes(3) else { unreachable!("three lanes were asked for") };
        let mut tasks = [(x, one, Ok(())), (y, two, Ok(())), (z, three, Ok(()))];
        workers.for_each(&mut tasks, |axis, (list, lane, result)| {
            let task = Task { judge, place: place_of(axis), moved, retest, budget };
            *result = list.follow(&task, lane);
        });
        let results = tasks.map(|(_, _, result)| result);
        for list in &self.axes {
            step.work.tests += list.work.tests;
            self.splits += list.work.splits;
            self.ranks += list.work.changed;
        }
        step.clock.end("sort and retest");
        // Giving up comes before any error: it says the same for every number of workers.
        if results.iter().any(|result| matches!(result, Err(Stop::Budget))) {
            return Err(Stop::Budget);
        }
        results.into_iter().collect::<Result<(), Stop>>()?;
        self.collect(found)
    }

    /// Puts together what the axes found. The thesis's methods meet a pair more than once.
    fn collect(&mut self, found: &mut PairBuffer) -> Result<(), Stop> {
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

    /// Looks at lists that were just made: how dense they are, and how many boxes lie over a point.
    fn measure(&mut self, aabbs: &[Aabb], first: usize) {
        self.density = std::array::from_fn(|axis| self.axes[axis].density());
        let step = aabbs.len() / 256 + 1;
        let width = |aabb: &Aabb| aabb.max[first] - aabb.min[first];
        let widths = aabbs.iter().step_by(step).map(width).filter(|width| width.is_finite());
        let (sum, count) = widths.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
        let ends = self.axes[first].ids().len() as f32;
        // Half as many boxes begin on a stretch as it has ends.
        self.crowd = (0.5 * self.density[first] * sum / count.max(1) as f32).min(0.5 * ends);
    }
}

impl Kept for Ends {
    fn rebuild(&mut self, past: &Past, boxes: &Boxes, order: [usize; 3]) {
        let aabbs = past.aabbs();
        self.workers(boxes.len()).for_each(&mut self.axes, |axis, list| {
            let there = |slot: &u32| !aabbs[*slot as usize].min[0].is_nan();
            list.rebuild(aabbs, axis, (0..aabbs.len() as u32).filter(there));
        });
        self.measure(aabbs, order[0]);
    }

    fn change_work(&self) -> f64 {
        CHANGE_WORK + f64::from(self.crowd)
    }

    fn move_work(&self, then: &Aabb, now: &Aabb) -> f64 {
        let most = 2.0 * self.axes[0].ids().len() as f32;
        // An infinite way of no density is no number; the minimum is then the other one.
        let passed = |axis: usize| (way(then, now, axis) * self.density[axis]).min(most);
        TEST_WORK as f64 * f64::from((0..3).map(passed).sum::<f32>())
    }

    fn follow(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        (self.splits, self.ranks) = (0, 0);
        self.changed.deal(step.boxes, step.past, |_| false);
        let result = self
            .remove(step, found)
            .and_then(|()| self.follow_moved(step, found))
            .and_then(|()| self.insert(step, found));
        step.work.swaps = LANES as u64 * self.splits;
        // A test comes with the search for what was passed.
        step.work.beside = step.work.tests * (TEST_WORK - 1);
        result
    }

    fn release(&mut self) {
        self.axes.iter_mut().for_each(AxisList::release);
    }

    fn bytes(&self) -> usize {
        self.axes.iter().map(AxisList::bytes).sum::<usize>()
            + self.changed.bytes()
            + self.sweep.bytes()
    }

    fn counts(&self) -> Vec<(&'static str, f64)> {
        vec![("vector_splits", self.splits as f64), ("changed_ranks", self.ranks as f64)]
    }

    fn validate(&self, boxes: &Boxes) {
        for (axis, list) in self.axes.iter().enumerate() {
            list.validate(boxes.aabbs(), axis, boxes.ids().map(|id| id.get()));
        }
    }
}

fn within(tests: u64, budget: u64) -> Result<(), Stop> {
    if tests > budget { Err(Stop::Budget) } else { Ok(()) }
}

/// The pairs that a box had with others and that ended.
fn end_with(slot: u32, others: &[u32], judge: &Judge<'_>, ended: &mut Vec<Pair>) {
    let before = judge.then()[slot as usize];
    for &other in others {
        if before.overlaps(&judge.then()[other as usize]) && judge.ended(slot, other) {
            ended.push(Pair::new(BoxId::new(slot), BoxId::new(other)));
        }
    }
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
