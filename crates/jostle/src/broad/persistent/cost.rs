//! What following changes costs, and whether finding all pairs costs less.
//!
//! [`CostModel`] forecasts from a sample of the moves, before anything is touched, so that a world
//! that leaps does not use up a budget first. [`RebuildPolicy`] remembers how true the last
//! forecasts were and what finding all pairs cost.
//!
//! Work is counted in tests and swaps, never in time, so the choice, and with it every count, is
//! the same in every run. What looks worthwhile is tried under a budget of [`PATIENCE`] times what
//! finding all pairs cost last time, so no step costs much more than that, whatever the boxes do.
//! [`AllPairs`](super::all_pairs::AllPairs) is fast: without patience the persistent algorithms
//! would give up wherever most boxes move, and their counts would show nothing.

use crate::aabb::Aabb;
use crate::boxes::Boxes;

use super::previous::PreviousBounds;

/// What following changes costs, in units of one overlap test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CostModel {
    /// A box that is inserted or removed.
    pub change: f64,
    /// A box that moved, however far.
    pub moved: f64,
    /// An endpoint that a moved endpoint passes.
    pub passed: f64,
    /// Endpoints per unit of length on each axis.
    pub density: [f32; 3],
    /// The most endpoints that a box can pass on each axis.
    pub most_passed: [f32; 3],
    /// A box whose endpoints are displaced by more than this on some axis, both together, is
    /// removed and inserted again.
    pub leap: [f32; 3],
    /// Overlap tests reach for boxes all over memory, so each is slower among many boxes.
    pub scattered: bool,
}

impl Default for CostModel {
    fn default() -> CostModel {
        CostModel {
            change: 0.0,
            moved: 0.0,
            passed: 0.0,
            density: [0.0; 3],
            most_passed: [0.0; 3],
            leap: [f32::INFINITY; 3],
            scattered: true,
        }
    }
}

/// The bounds of this many boxes, previous and current, fit a fast cache. From there on each
/// doubling makes a test slower by as much as it takes with few boxes.
const CACHED_BOXES: f64 = 32_768.0;

/// The most moves that a forecast looks at.
const SAMPLE: usize = 64;

impl CostModel {
    /// Returns true if a move is better made by removing the box and inserting it again.
    #[inline]
    pub(crate) fn leaps(&self, then: &Aabb, now: &Aabb) -> bool {
        (0..3).any(|axis| displacement(then, now, axis) > self.leap[axis])
    }

    /// About how many endpoints a move passes if the other boxes stay.
    #[inline]
    pub(crate) fn passed(&self, then: &Aabb, now: &Aabb) -> f32 {
        let on_axis = |axis: usize| {
            let displaced = displacement(then, now, axis);
            // An infinite displacement times no density is NaN, and then the minimum is the other
            // operand. Nothing is passed by standing still, even where the density is infinite.
            let passed = (displaced * self.density[axis]).min(self.most_passed[axis]);
            if displaced == 0.0 { 0.0 } else { passed }
        };
        (0..3).map(on_axis).sum()
    }

    fn move_cost(&self, then: &Aabb, now: &Aabb) -> f64 {
        if self.leaps(then, now) {
            return 2.0 * self.change;
        }
        self.moved + self.passed * f64::from(self.passed(then, now))
    }

    /// How many times as long a test takes as with few boxes.
    pub(crate) fn slowness(&self, boxes: usize) -> f64 {
        let doublings = (boxes as f64 / CACHED_BOXES).log2().max(0.0);
        if self.scattered { 1.0 + doublings } else { 1.0 }
    }

    /// What following the pending changes is likely to cost. A drift that all boxes share does not
    /// change their order, so it is subtracted from the moves.
    pub(crate) fn forecast(&self, previous: &PreviousBounds, boxes: &Boxes) -> f64 {
        let changes = boxes.changes();
        let changing = (changes.inserted().len() + changes.removed().len()) as f64;
        let moved = changes.moved();
        let every = (moved.len() / SAMPLE).max(moved.len().min(1));
        if every == 0 {
            return changing * self.change * self.slowness(boxes.len());
        }
        let sample = || moved.iter().step_by(every).map(|id| id.index());
        let bounds = |slot: usize| (&previous.aabbs()[slot], &boxes.aabbs()[slot]);
        let count = sample().count() as f32;
        let share = moved.len() as f32 / boxes.len() as f32;
        let drift: [f32; 3] = std::array::from_fn(|axis| {
            let shift = |slot| bounds(slot).1.min[axis] - bounds(slot).0.min[axis];
            let shifts = sample().map(shift).filter(|shift| shift.is_finite());
            shifts.sum::<f32>() * share / count
        });
        let cost = |slot: usize| {
            let (then, now) = bounds(slot);
            let back = |corner: [f32; 3]| std::array::from_fn(|axis| corner[axis] - drift[axis]);
            let cost = self.move_cost(then, &Aabb { min: back(now.min), max: back(now.max) });
            let again = previous.refiltered(boxes, slot as u32);
            if again { cost + 2.0 * self.change } else { cost }
        };
        let each = sample().map(cost).sum::<f64>() / f64::from(count);
        (changing * self.change + each * moved.len() as f64) * self.slowness(boxes.len())
    }
}

/// How far the two endpoints of a box move on an axis, added up.
#[inline]
pub(crate) fn displacement(then: &Aabb, now: &Aabb, axis: usize) -> f32 {
    // The difference of equal infinities is NaN.
    let one = |then: f32, now: f32| if then == now { 0.0 } else { (now - then).abs() };
    one(then.min[axis], now.min[axis]) + one(then.max[axis], now.max[axis])
}

/// What finding all pairs costs per box in addition to its tests, in units of one test or swap
/// here: some 45 nanoseconds against 4.5.
const BOX_WORK: f64 = 10.0;

/// Finding all pairs tests by vectors: this many tests take the time of one here.
const VECTOR_TESTS: f64 = 8.0;

/// How many times the work of finding all pairs following may take.
const PATIENCE: f64 = 3.0;

/// How fast the memory of bad forecasts fades while all pairs are found instead.
const FADE: f64 = 0.95;

/// What finding all pairs cost, and how true forecasts were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RebuildPolicy {
    /// Work of finding all pairs, per box.
    rebuild: f64,
    /// Work of a step that was followed, divided by its forecast.
    truth: f64,
}

impl Default for RebuildPolicy {
    fn default() -> RebuildPolicy {
        RebuildPolicy { rebuild: BOX_WORK, truth: 1.0 }
    }
}

impl RebuildPolicy {
    /// Returns true if finding all pairs is expected to cost less than following changes with this
    /// forecast. With `unsorted` lists, following must promise to pay for sorting them as well. Bad
    /// forecasts are forgotten bit by bit, so that following is tried again now and then.
    pub(super) fn prefers_rebuild(&mut self, forecast: f64, boxes: usize, unsorted: bool) -> bool {
        let share = if unsorted { 0.5 } else { 1.0 };
        let prefers = self.truth * forecast > share * self.budget(boxes) as f64;
        if prefers && self.truth > 1.0 {
            self.truth *= FADE;
        }
        prefers
    }

    /// The most work that following may take.
    pub(super) fn budget(&self, boxes: usize) -> u64 {
        (PATIENCE * self.rebuild_work(boxes)) as u64 + 1000
    }

    fn rebuild_work(&self, boxes: usize) -> f64 {
        self.rebuild * boxes as f64
    }

    /// Notes that all pairs were found, and by how many tests.
    pub(super) fn rebuilt(&mut self, tests: u64, boxes: usize) {
        self.rebuild = tests as f64 / VECTOR_TESTS / boxes.max(1) as f64 + BOX_WORK;
    }

    /// Notes that changes were followed. Steps with next to nothing to do prove nothing.
    pub(super) fn followed(&mut self, work: f64, forecast: f64, boxes: usize) {
        if work.max(forecast) > 0.1 * self.rebuild_work(boxes) {
            let truth = work / forecast.max(1.0);
            self.truth = (0.5 * (self.truth + truth)).clamp(0.05, 20.0);
        }
    }

    /// Notes that following was given up when the budget ran out; what was left is a guess.
    pub(super) fn abandoned(&mut self, forecast: f64, boxes: usize) {
        let truth = 1.6 * self.budget(boxes) as f64 / forecast.max(1.0);
        self.truth = self.truth.max(truth).min(1000.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expensive_changes_are_avoided_and_tried_again_later() {
        let mut policy = RebuildPolicy::default();
        policy.rebuilt(100_000, 1000);
        assert!(!policy.prefers_rebuild(20_000.0, 1000, false), "nothing else is known yet");
        policy.abandoned(20_000.0, 1000);
        let avoided = (0..100).take_while(|_| policy.prefers_rebuild(20_000.0, 1000, true));
        let avoided = avoided.count();
        assert!((5..60).contains(&avoided), "{avoided}");
        policy.followed(10_000.0, 20_000.0, 1000);
        assert!(!policy.prefers_rebuild(20_000.0, 1000, true));
    }

    #[test]
    fn a_leap_is_seen_beforehand_and_forgotten_at_once() {
        let mut policy = RebuildPolicy::default();
        policy.rebuilt(10_000, 1000);
        policy.followed(9000.0, 10_000.0, 1000);
        assert!(policy.prefers_rebuild(1e7, 1000, false));
        assert!(!policy.prefers_rebuild(10_000.0, 1000, true), "calm again");
    }
}
