//! [`Persistent`]: one step of an algorithm that keeps sorted endpoints, from the forecast to
//! either following the changes or finding all pairs.

use std::fmt::Debug;

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::contract::Report;
use crate::broad::shared::axes::axes_by_spread;
use crate::error::Error;
use crate::pair::{LimitReached, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use super::all_pairs::AllPairs;
use super::cost::{CostModel, RebuildPolicy};
use super::endpoint::Endpoint;
use super::judge::{EventSink, FollowError, FollowResult, PairJudge};
use super::previous::PreviousBounds;

/// The sorted endpoint lists of an algorithm, and how they follow changes.
pub(crate) trait PersistentLists: Clone + Debug + Send + Sync {
    /// Sorts the endpoints of the previous bounds from scratch.
    fn rebuild(&mut self, previous: &PreviousBounds, boxes: &Boxes, order: [usize; 3]);

    /// Returns true if the lists no longer suit the boxes and should be rebuilt.
    fn outgrown(&self, _boxes: &Boxes) -> bool {
        false
    }

    /// What following changes in these lists costs.
    fn cost_model(&self) -> CostModel;

    /// Follows the changes and writes the pairs that began and ended.
    fn follow(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult;

    /// Gives back memory that following does not need.
    fn release(&mut self) {}

    /// Bytes held, and the algorithm's own counts of the last step that was followed.
    fn stats(&self) -> Stats;

    /// Panics if the lists are not the sorted endpoints of these boxes.
    fn validate(&self, boxes: &Boxes);
}

/// What [`PersistentLists::follow`] gets to work with.
pub(crate) struct FollowStep<'a> {
    /// The current boxes.
    pub boxes: &'a Boxes,
    /// The previous bounds, grown to the current number of slots.
    pub previous: &'a mut PreviousBounds,
    /// The axes by spread, the widest first, as of when the endpoints were sorted.
    pub order: [usize; 3],
    /// The most work that following may take, in units of one overlap test.
    pub budget: u64,
    /// What was done; to be filled in.
    pub work: &'a mut WorkCount,
    /// Where stages end.
    pub clock: &'a mut StageClock,
}

impl FollowStep<'_> {
    /// Runs a sort on the calling thread: events go to the first lane, it stops when all `work`
    /// together exceeds the budget, and what it counted is added to `work`.
    pub(crate) fn sort(
        &mut self,
        found: &mut PairBuffer,
        sort: impl FnOnce(&PairJudge<'_>, &mut EventSink<'_>) -> FollowResult,
    ) -> FollowResult {
        let judge = PairJudge::new(self.previous, self.boxes, self.order);
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(found.lane(), &mut ended);
        sink.budget = self.budget.saturating_sub(self.work.total());
        let result = sort(&judge, &mut sink);
        self.work.tests += sink.tests;
        self.work.swaps += sink.swaps;
        *found.ended_mut() = ended;
        result
    }
}

/// What a step counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WorkCount {
    /// Overlap tests.
    pub tests: u64,
    /// Swaps of neighbouring endpoints.
    pub swaps: u64,
    /// What following cost in addition, in units of one overlap test.
    pub extra: u64,
}

impl WorkCount {
    /// All of it in units of one overlap test.
    pub(crate) fn total(&self) -> u64 {
        self.tests + self.swaps + self.extra
    }
}

/// After this many followed steps in a row, the memory that only a rebuild needs is given back.
const CALM_STEPS: usize = 16;

/// Drives the lists of an algorithm. See the [module](super).
#[derive(Clone, Debug)]
pub(crate) struct Persistent<L> {
    lists: L,
    /// Finding all pairs may replace a step that would cost more.
    pub may_rebuild: bool,
    follower: Follower,
    previous: PreviousBounds,
    /// The lists are sorted by the previous bounds; otherwise they have to be sorted first.
    listed: bool,
    all_pairs: AllPairs,
    order: [usize; 3],
    /// Number of overlapping pairs.
    pairs: usize,
    policy: RebuildPolicy,
    /// Steps that were followed since all pairs were found.
    calm: usize,
    work: WorkCount,
    rebuilt: bool,
    abandoned: bool,
    clock: StageClock,
}

impl<L: PersistentLists> Persistent<L> {
    /// A driver of these lists; all pairs are found on `workers`.
    pub(crate) fn new(workers: &Workers, lists: L, may_rebuild: bool) -> Persistent<L> {
        Persistent {
            lists,
            may_rebuild,
            follower: Follower::default(),
            previous: PreviousBounds::default(),
            listed: false,
            all_pairs: AllPairs::new(workers),
            order: [0, 1, 2],
            pairs: 0,
            policy: RebuildPolicy::default(),
            calm: 0,
            work: WorkCount::default(),
            rebuilt: false,
            abandoned: false,
            clock: StageClock::default(),
        }
    }

    /// A step whose changes continue from the last one: forecast, then follow or rebuild.
    fn advance(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.listed &= !self.lists.outgrown(boxes);
        let model = self.lists.cost_model();
        let forecast = model.forecast(&self.previous, boxes);
        let unsorted = !self.listed;
        if self.may_rebuild && self.policy.prefers_rebuild(forecast, boxes.len(), unsorted) {
            return self.find_all(boxes, found);
        }
        let slowness = model.slowness(boxes.len());
        let allowed = (self.policy.budget(boxes.len()) as f64 / slowness) as u64;
        let budget = if self.may_rebuild { allowed } else { u64::MAX };
        match self.follow(budget, boxes, found) {
            Ok(()) => {
                let work = self.work.total() as f64 * slowness;
                self.policy.followed(work, forecast, boxes.len());
                self.settle(boxes, found);
                Ok(Report::Delta)
            }
            Err(FollowError::Failed(error)) => Err(error),
            Err(FollowError::OverBudget) => {
                self.policy.abandoned(forecast, boxes.len());
                self.abandoned = true;
                found.clear();
                self.find_all(boxes, found)
            }
        }
    }

    /// Hands the changes to the lists, sorted beforehand if they are not.
    fn follow(&mut self, budget: u64, boxes: &Boxes, found: &mut PairBuffer) -> FollowResult {
        self.sort_lists(boxes);
        self.previous.grow(boxes);
        let Persistent { previous, order, work, clock, .. } = self;
        let mut step = FollowStep { boxes, previous, order: *order, budget, work, clock };
        self.lists.follow(&mut step, found)
    }

    /// After a step that was followed, the current bounds become the previous ones.
    fn settle(&mut self, boxes: &Boxes, found: &PairBuffer) {
        self.previous.follow(boxes);
        self.pairs = self.pairs + found.len() - found.ended().len();
        self.calm += 1;
        if self.calm == CALM_STEPS {
            self.all_pairs.release();
            self.lists.release();
        }
    }

    /// Finds all pairs from scratch and leaves the lists unsorted.
    fn find_all(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        (self.listed, self.calm) = (false, 0);
        self.all_pairs.find(boxes, found)?;
        let tests = self.all_pairs.tests();
        self.work.tests += tests;
        self.rebuilt = true;
        self.policy.rebuilt(tests, boxes.len());
        self.pairs = found.len();
        self.previous.rebuild(boxes);
        self.clock.end("build");
        Ok(Report::Full)
    }

    /// Sorts the lists by the previous bounds if they are not sorted.
    fn sort_lists(&mut self, boxes: &Boxes) {
        if !self.listed {
            self.order = axes_by_spread(boxes);
            self.lists.rebuild(&self.previous, boxes, self.order);
            self.listed = true;
            self.clock.end("sort lists");
        }
    }
}

impl<L: PersistentLists> Persistent<L> {
    /// One step of [`BroadPhase::update`](crate::BroadPhase::update).
    pub(crate) fn update(
        &mut self,
        boxes: &Boxes,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        self.clock.start();
        (self.work, self.rebuilt, self.abandoned) = (WorkCount::default(), false, false);
        // An endpoint has no bits for more slots; beyond them every step finds all pairs.
        let fits = boxes.slots() < Endpoint::MAX_SLOTS;
        let report = if !self.follower.begin(boxes) {
            self.find_all(boxes, found)?;
            if fits {
                self.sort_lists(boxes);
            }
            Report::Full
        } else if boxes.changes().is_empty() {
            Report::Delta
        } else {
            self.advance(boxes, found)?
        };
        if self.pairs > found.limit() {
            return Err(LimitReached { limit: found.limit() }.into());
        }
        if fits {
            self.follower.done(boxes);
        }
        Ok(report)
    }

    /// What the last step counted.
    pub(crate) fn stats(&self) -> Stats {
        let flag = |set: bool| f64::from(u8::from(set));
        let mut stats = self.lists.stats();
        stats.counts.extend([("rebuilt", flag(self.rebuilt)), ("abandoned", flag(self.abandoned))]);
        stats.bytes += self.previous.bytes() + self.all_pairs.bytes();
        let stages = self.clock.stages().to_vec();
        Stats { tests: self.work.tests, swaps: self.work.swaps, stages, ..stats }
    }

    /// Overlap tests of the last step.
    pub(crate) fn tests(&self) -> u64 {
        self.work.tests
    }

    /// Panics and names the invariant if the structure is broken.
    pub(crate) fn validate(&self, boxes: &Boxes) {
        let same = |(then, now): (&Aabb, &Aabb)| then.same(now) || then.min[0].is_nan();
        let current = self.previous.aabbs().iter().zip(boxes.aabbs()).all(same);
        assert!(current, "the previous bounds are stale");
        if self.listed {
            self.lists.validate(boxes);
        }
    }
}

/// Implements [`BroadPhase`](crate::BroadPhase) for a type by the [`Persistent`] it holds as
/// `driver`.
macro_rules! driven {
    ($type:ty, $name:literal) => {
        impl $crate::broad::contract::BroadPhase for $type {
            fn name(&self) -> &str {
                $name
            }

            fn update(
                &mut self,
                boxes: &$crate::boxes::Boxes,
                found: &mut $crate::pair::PairBuffer,
            ) -> Result<$crate::broad::contract::Report, $crate::error::Error> {
                self.driver.update(boxes, found)
            }

            fn stats(&self) -> $crate::stats::Stats {
                self.driver.stats()
            }

            fn tests(&self) -> u64 {
                self.driver.tests()
            }

            /// All three axes are kept sorted.
            fn sketch(&self, _: &$crate::boxes::Boxes, sketch: &mut $crate::broad::sketch::Sketch) {
                sketch.sweep_axes = [true; 3];
            }

            fn validate(&self, boxes: &$crate::boxes::Boxes) {
                self.driver.validate(boxes);
            }
        }
    };
}
pub(crate) use driven;
