//! [`Persistent`]: what the algorithms that keep sorted ends between steps have in common.
//!
//! ```text
//! nothing changed            nothing to do
//! first step, other boxes    find all pairs, then sort the ends
//! following looks dear       find all pairs; the ends stay unsorted until they are wanted again
//! otherwise                  sort the ends if they are not, follow the changes under a budget;
//!                            where it runs out, find all pairs
//! ```
//!
//! What an algorithm keeps and how it follows is its own ([`Kept`]). How dear following looks is
//! guessed from a sample of the moves before anything is touched, so that a world that
//! leaps does not cost a budget first, and is forgotten as soon as the world is calm again.

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::effort::Effort;
use crate::broad::endpoint::Endpoint;
use crate::broad::finder::Finder;
use crate::broad::past::{Past, Stop};
use crate::broad::sort_sweep::widest_axis;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::{BoxId, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

/// What one step gives an algorithm to work with.
pub struct Step<'a> {
    /// The boxes of now.
    pub boxes: &'a Boxes,
    /// The boxes of the past, grown to the slots of now.
    pub past: &'a mut Past,
    /// The axes by spread, the widest first, as of when the ends were sorted.
    pub order: [usize; 3],
    /// Most work that following may take, in the unit of a test.
    pub budget: u64,
    /// Where to say what was done.
    pub work: &'a mut Work,
    /// Where stages end.
    pub clock: &'a mut StageClock,
}

/// What was counted in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// Box tests.
    pub tests: u64,
    /// Exchanges of neighbours.
    pub swaps: u64,
    /// What following cost beside them, in the unit of a test.
    pub beside: u64,
}

impl Work {
    /// All of it in the unit of a test.
    pub fn total(&self) -> u64 {
        self.tests + self.swaps + self.beside
    }
}

/// The sorted ends that an algorithm keeps between steps.
pub trait Kept: Send {
    /// Whether tests reach for boxes all over memory, so that many boxes make each test slower.
    const SCATTERED: bool = true;

    /// Sorts the ends of the boxes of the past from scratch. `boxes` are those of now.
    fn rebuild(&mut self, past: &Past, boxes: &Boxes, order: [usize; 3]);

    /// True where what is kept no longer suits the boxes and is to be made anew.
    fn outgrown(&self, _boxes: &Boxes) -> bool {
        false
    }

    /// What a box that comes or goes is likely to cost, in the unit of a test.
    fn change_work(&self) -> f64;

    /// What a move is likely to cost, in the unit of a test.
    fn move_work(&self, then: &Aabb, now: &Aabb) -> f64;

    /// Follows the changes and writes what began and ended.
    fn follow(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop>;

    /// Gives back memory that following does not need.
    fn release(&mut self) {}

    /// Bytes held.
    fn bytes(&self) -> usize;

    /// Further counts of the last step that was followed.
    fn counts(&self) -> Vec<(&'static str, f64)>;

    /// Panics where what is kept are not the sorted ends of these boxes.
    fn validate(&self, boxes: &Boxes);
}

/// The bounds of so many boxes, before and now, fit a fast cache. From there on each doubling makes
/// a test slower by as much as it takes with few boxes.
const CACHED: f64 = 32_768.0;

/// After so many steps that were followed, what finding all pairs anew needs is given back.
const CALM: usize = 16;

/// Drives what an algorithm keeps. See the [module](self).
pub struct Persistent<K> {
    pub(crate) kept: K,
    /// Whether finding all pairs anew may replace a step that is dearer.
    pub(crate) may_rebuild: bool,
    follower: Follower,
    past: Past,
    /// Whether the ends are sorted by the past bounds; otherwise they are to be sorted.
    listed: bool,
    finder: Finder,
    order: [usize; 3],
    /// Number of pairs.
    pairs: usize,
    effort: Effort,
    /// Steps that were followed since pairs were found anew.
    calm: usize,
    work: Work,
    rebuilt: bool,
    abandoned: bool,
    clock: StageClock,
}

impl<K: Kept> Persistent<K> {
    /// A driver of what is kept; all pairs are found on `workers`.
    pub fn new(workers: &Workers, kept: K, may_rebuild: bool) -> Persistent<K> {
        Persistent {
            kept,
            may_rebuild,
            follower: Follower::default(),
            past: Past::default(),
            listed: false,
            finder: Finder::new(workers),
            order: [0, 1, 2],
            pairs: 0,
            effort: Effort::default(),
            calm: 0,
            work: Work::default(),
            rebuilt: false,
            abandoned: false,
            clock: StageClock::default(),
        }
    }

    /// Finds all pairs from scratch.
    fn build(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        (self.listed, self.calm) = (false, 0);
        self.finder.find(boxes, found)?;
        let tests = self.finder.tests();
        self.work.tests += tests;
        self.rebuilt = true;
        self.effort.built(tests, boxes.len());
        self.pairs = found.len();
        self.past.rebuild(boxes);
        self.clock.end("build");
        Ok(Report::Full)
    }

    /// Sorts the ends by the past bounds, if they are not.
    fn make_lists(&mut self, boxes: &Boxes) {
        if !self.listed {
            self.order = axes_by_spread(boxes);
            self.kept.rebuild(&self.past, boxes, self.order);
            self.listed = true;
            self.clock.end("sort lists");
        }
    }

    fn follow(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        self.make_lists(boxes);
        self.past.grow(boxes);
        let allowed = self.effort.budget(boxes.len()) as f64 / self.slowness(boxes);
        let budget = if self.may_rebuild { allowed as u64 } else { u64::MAX };
        let Persistent { past, order, work, clock, .. } = self;
        let mut step = Step { boxes, past, order: *order, budget, work, clock };
        self.kept.follow(&mut step, found)
    }

    /// How many times as long a test takes as with few boxes.
    fn slowness(&self, boxes: &Boxes) -> f64 {
        if K::SCATTERED { 1.0 + (boxes.len() as f64 / CACHED).log2().max(0.0) } else { 1.0 }
    }

    /// Notes a step that was followed.
    fn followed(&mut self, forecast: f64, boxes: &Boxes, found: &PairBuffer) {
        let work = self.work.total() as f64 * self.slowness(boxes);
        self.effort.followed(work, forecast, boxes.len());
        self.past.follow(boxes);
        self.pairs = self.pairs + found.len() - found.ended().len();
        self.calm += 1;
        if self.calm == CALM {
            self.finder.release();
            self.kept.release();
        }
    }

    /// What [`BroadPhase::update`] does once the changes are known to continue.
    fn continue_with(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        if boxes.changes().is_empty() {
            return Ok(Report::Delta);
        }
        self.listed &= !self.kept.outgrown(boxes);
        let forecast = forecast(&self.kept, &self.past, boxes) * self.slowness(boxes);
        if self.may_rebuild && self.effort.prefers_building(forecast, boxes.len(), !self.listed) {
            return self.build(boxes, found);
        }
        match self.follow(boxes, found) {
            Ok(()) => {
                self.followed(forecast, boxes, found);
                Ok(Report::Delta)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Budget) => {
                self.effort.abandoned(forecast, boxes.len());
                self.abandoned = true;
                found.clear();
                self.build(boxes, found)
            }
        }
    }
}

impl<K: Kept> BroadPhase for Persistent<K> {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        (self.work, self.rebuilt, self.abandoned) = (Work::default(), false, false);
        // An endpoint has room for so many; beyond, nothing is kept and every step begins anew.
        let fits = boxes.slots() < Endpoint::MAX_SLOTS;
        let report = if self.follower.begin(boxes) {
            self.continue_with(boxes, found)?
        } else {
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
        let flag = |set: bool| f64::from(u8::from(set));
        let mut counts = self.kept.counts();
        counts.extend([("rebuilt", flag(self.rebuilt)), ("abandoned", flag(self.abandoned))]);
        Stats {
            tests: self.work.tests,
            swaps: self.work.swaps,
            bytes: self.past.bytes() + self.finder.bytes() + self.kept.bytes(),
            counts,
            stages: self.clock.stages().to_vec(),
        }
    }

    fn tests(&self) -> u64 {
        self.work.tests
    }

    fn validate(&self, boxes: &Boxes) {
        let same = |(then, now): (&Aabb, &Aabb)| then.same(now) || then.min[0].is_nan();
        assert!(self.past.aabbs().iter().zip(boxes.aabbs()).all(same), "past bounds are stale");
        if self.listed {
            self.kept.validate(boxes);
        }
    }
}

/// A [`BroadPhase`] that leaves everything to the [`Persistent`] it holds as `driver`.
macro_rules! driven {
    ($name:ty $(, $($parameter:tt)*)?) => {
        impl $(<$($parameter)*>)? $crate::broad::BroadPhase for $name {
            fn update(
                &mut self,
                boxes: &$crate::boxes::Boxes,
                found: &mut $crate::pair::PairBuffer,
            ) -> Result<$crate::broad::Report, $crate::error::Error> {
                self.driver.update(boxes, found)
            }

            fn stats(&self) -> $crate::stats::Stats {
                self.driver.stats()
            }

            fn tests(&self) -> u64 {
                self.driver.tests()
            }

            fn validate(&self, boxes: &$crate::boxes::Boxes) {
                self.driver.validate(boxes);
            }
        }
    };
}
pub(crate) use driven;

/// The widest axis first.
fn axes_by_spread(boxes: &Boxes) -> [usize; 3] {
    let widest = widest_axis(boxes);
    [widest, (widest + 1) % 3, (widest + 2) % 3]
}

// ---- Before a step -------------------------------------------------------------------------

/// Most moves that are looked at.
const SAMPLE: usize = 64;

/// What following the changes is likely to cost, in the unit of a test. A drift that all boxes
/// share does not change their order, so it is taken off the moves.
fn forecast<K: Kept>(kept: &K, past: &Past, boxes: &Boxes) -> f64 {
    let changes = boxes.changes();
    let changing = (changes.inserted().len() + changes.removed().len()) as f64;
    let moved = changes.moved();
    let every = (moved.len() / SAMPLE).max(moved.len().min(1));
    if every == 0 {
        return changing * kept.change_work();
    }
    let sample = || moved.iter().step_by(every).map(|id| id.index());
    let two = |slot: usize| (&past.aabbs()[slot], &boxes.aabbs()[slot]);
    let count = sample().count() as f32;
    let share = moved.len() as f32 / boxes.len() as f32;
    let drift: [f32; 3] = std::array::from_fn(|axis| {
        let way = |slot| two(slot).1.min[axis] - two(slot).0.min[axis];
        let ways = sample().map(way).filter(|way| way.is_finite());
        ways.sum::<f32>() * share / count
    });
    let work = |slot: usize| {
        let (then, now) = two(slot);
        let back = |bounds: [f32; 3]| std::array::from_fn(|axis| bounds[axis] - drift[axis]);
        let work = kept.move_work(then, &Aabb { min: back(now.min), max: back(now.max) });
        if past.refiltered(boxes, slot as u32) { work + 2.0 * kept.change_work() } else { work }
    };
    let moving = sample().map(work).sum::<f64>() / f64::from(count);
    changing * kept.change_work() + moving * moved.len() as f64
}

/// How far the ends of a box move on an axis, together.
#[inline]
pub fn way(then: &Aabb, now: &Aabb, axis: usize) -> f32 {
    // The difference of equal infinities is no number.
    let one = |then: f32, now: f32| if then == now { 0.0 } else { (now - then).abs() };
    one(then.min[axis], now.min[axis]) + one(then.max[axis], now.max[axis])
}

// ---- The changes of a step -----------------------------------------------------------------

/// The changes of a step, dealt.
#[derive(Debug, Default)]
pub struct Changed {
    /// Boxes to take out, ascending.
    pub dropped: Vec<u32>,
    /// Boxes to put in, ascending.
    pub fresh: Vec<u32>,
    /// Boxes that moved and are neither.
    pub moved: Vec<u32>,
    /// Boxes among the dropped and the fresh that are taken out and put in again.
    pub replaced: Vec<u32>,
}

impl Changed {
    /// Deals the changes. Boxes with another filter, and those for which `again` holds, are taken
    /// out and put in again.
    pub fn deal(&mut self, boxes: &Boxes, past: &Past, mut again: impl FnMut(u32) -> bool) {
        let changes = boxes.changes();
        let Changed { dropped, fresh, moved, replaced } = self;
        let slots = |ids: &[BoxId], list: &mut Vec<u32>| {
            list.clear();
            list.extend(ids.iter().map(|id| id.get()));
        };
        slots(changes.removed(), dropped);
        slots(changes.inserted(), fresh);
        moved.clear();
        replaced.clear();
        for slot in changes.moved().iter().map(|id| id.get()) {
            let list = if past.refiltered(boxes, slot) || again(slot) {
                &mut *replaced
            } else {
                &mut *moved
            };
            list.push(slot);
        }
        dropped.extend_from_slice(replaced);
        fresh.extend_from_slice(replaced);
        dropped.sort_unstable();
        fresh.sort_unstable();
    }

    /// Number of boxes that are taken out or put in; one that is both counts twice.
    pub fn exchanged(&self) -> usize {
        self.dropped.len() + self.fresh.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lists = [&self.dropped, &self.fresh, &self.moved, &self.replaced];
        lists.iter().map(|list| list.capacity() * 4).sum()
    }
}
