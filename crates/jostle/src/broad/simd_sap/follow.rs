//! [`SimdFollow`]: follows the changes of a step, one worker for each axis, and knows what that
//! costs.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::persistent::{
    ClassifiedChanges, CostModel, FollowError, FollowResult, FollowStep, PairJudge,
    PersistentLists, PreviousBounds,
};
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::simd::endpoint_sort::LANES;
use crate::stats::Stats;

use super::Retest;
use super::axis::{AxisList, AxisMoves, TEST_WORK};
use super::churn_sweep::ChurnSweep;

/// What a box that is inserted or removed costs in addition to its tests.
const CHANGE_WORK: f64 = 40.0;

/// The lists, and what is needed to follow changes in them.
#[derive(Clone, Debug, Default)]
pub(super) struct SimdFollow {
    retest: Retest,
    workers: Workers,
    one_worker_below: usize,
    axes: [AxisList; 3],
    changes: ClassifiedChanges,
    sweep: ChurnSweep,
    model: CostModel,
    splits: u64,
    ranks: u64,
}

impl SimdFollow {
    pub(super) fn new(workers: &Workers, retest: Retest, one_worker_below: usize) -> SimdFollow {
        SimdFollow { retest, workers: workers.clone(), one_worker_below, ..SimdFollow::default() }
    }

    /// The workers that run the axes of this many boxes.
    fn workers(&self, boxes: usize) -> Workers {
        if boxes < self.one_worker_below { Workers::one() } else { self.workers.clone() }
    }

    /// Ends the pairs of the removed boxes, and takes their endpoints out.
    fn remove(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        let workers = self.workers(step.boxes.len());
        let SimdFollow { axes, sweep, changes, .. } = self;
        if changes.removed.is_empty() {
            return Ok(());
        }
        sweep.choose(&changes.removed, step.previous.aabbs().len());
        let ids = axes[step.order[0]].ids();
        step.sort(found, |judge, sink| {
            sweep.run(ids, |slot, others| {
                sink.end_with(slot, others, judge);
                sink.check_budget()
            })
        })?;
        workers.for_each(axes, |_, list| list.remove(|slot| sweep.chose(slot)));
        step.clock.end("remove");
        Ok(())
    }

    /// Puts the endpoints of the inserted boxes in, and begins their pairs.
    fn insert(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        let workers = self.workers(step.boxes.len());
        let SimdFollow { axes, sweep, changes, .. } = self;
        if changes.inserted.is_empty() {
            return Ok(());
        }
        let aabbs = step.boxes.aabbs();
        workers.for_each(axes, |axis, list| list.insert(&changes.inserted, aabbs, axis));
        sweep.choose(&changes.inserted, aabbs.len());
        let ids = axes[step.order[0]].ids();
        step.sort(found, |judge, sink| {
            sweep.run(ids, |slot, others| {
                sink.begin_with(slot, others, judge)?;
                sink.check_budget()
            })
        })?;
        step.clock.end("insert");
        Ok(())
    }

    /// Sorts and retests, one worker for each axis.
    fn follow_moved(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        if self.changes.moved.is_empty() {
            return Ok(());
        }
        let workers = self.workers(step.boxes.len());
        let judge = PairJudge::new(step.previous, step.boxes, step.order);
        // Often one axis has more to do than the others.
        let budget = if step.budget == u64::MAX { u64::MAX } else { step.budget / 2 };
        let (moved, retest, order) = (&self.changes.moved, self.retest, step.order);
        let place_of = |axis: usize| (0..3).find(|&place| order[place] == axis).unwrap_or(0);
        let [x, y, z] = &mut self.axes;
        let [one, two, three] = found.lanes(3) else { unreachable!("three lanes were asked for") };
        let mut tasks = [(x, one, Ok(())), (y, two, Ok(())), (z, three, Ok(()))];
        workers.for_each(&mut tasks, |axis, (list, lane, result)| {
            let moves = AxisMoves { judge, place: place_of(axis), moved, retest, budget };
            *result = list.follow(&moves, lane);
        });
        let results = tasks.map(|(_, _, result)| result);
        for list in &self.axes {
            step.work.tests += list.counts.tests;
            self.splits += list.counts.splits;
            self.ranks += list.counts.changed;
        }
        step.clock.end("sort and retest");
        // Giving up comes before any error: it is the same for every number of workers.
        if results.iter().any(|result| matches!(result, Err(FollowError::OverBudget))) {
            return Err(FollowError::OverBudget);
        }
        results.into_iter().collect::<FollowResult>()?;
        self.collect(found)
    }

    /// Puts together what the axes found. The thesis's methods meet a pair more than once.
    fn collect(&mut self, found: &mut PairBuffer) -> FollowResult {
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

    /// Measures lists that were just built: how dense they are, and how many boxes lie over a
    /// point of the first axis.
    fn measure(&self, aabbs: &[Aabb], first: usize) -> CostModel {
        let density: [f32; 3] = std::array::from_fn(|axis| self.axes[axis].density());
        let step = aabbs.len() / 256 + 1;
        let width = |aabb: &Aabb| aabb.max[first] - aabb.min[first];
        let widths = aabbs.iter().step_by(step).map(width).filter(|width| width.is_finite());
        let (sum, count) = widths.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
        let endpoints = self.axes[first].ids().len() as f32;
        // A stretch has half as many lower endpoints as endpoints.
        let depth = (0.5 * density[first] * sum / count.max(1) as f32).min(0.5 * endpoints);
        CostModel {
            change: CHANGE_WORK + f64::from(depth),
            passed: TEST_WORK as f64,
            density,
            most_passed: [2.0 * endpoints; 3],
            ..CostModel::default()
        }
    }
}

impl PersistentLists for SimdFollow {
    fn rebuild(&mut self, previous: &PreviousBounds, boxes: &Boxes, order: [usize; 3]) {
        let aabbs = previous.aabbs();
        self.workers(boxes.len()).for_each(&mut self.axes, |axis, list| {
            list.rebuild(aabbs, axis, previous.slots());
        });
        self.model = self.measure(aabbs, order[0]);
    }

    fn cost_model(&self) -> CostModel {
        // Insertions and removals change how many endpoints there are to pass.
        CostModel { most_passed: [2.0 * self.axes[0].ids().len() as f32; 3], ..self.model }
    }

    fn follow(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        (self.splits, self.ranks) = (0, 0);
        self.changes.classify(step.boxes, step.previous, |_| false);
        let result = self
            .remove(step, found)
            .and_then(|()| self.follow_moved(step, found))
            .and_then(|()| self.insert(step, found));
        step.work.swaps = LANES as u64 * self.splits;
        // A test comes with the search for what was passed.
        step.work.extra = step.work.tests * (TEST_WORK - 1);
        result
    }

    fn release(&mut self) {
        self.axes.iter_mut().for_each(AxisList::release);
    }

    fn stats(&self) -> Stats {
        let axes = self.axes.iter().map(AxisList::bytes).sum::<usize>();
        Stats {
            bytes: axes + self.changes.bytes() + self.sweep.bytes(),
            counts: vec![
                ("vector_splits", self.splits as f64),
                ("changed_ranks", self.ranks as f64),
            ],
            ..Stats::default()
        }
    }

    fn validate(&self, boxes: &Boxes) {
        for (axis, list) in self.axes.iter().enumerate() {
            list.validate(boxes.aabbs(), axis, boxes.live_slots().map(|id| id.get()));
        }
    }
}
