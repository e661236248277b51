//! [`Effort`]: whether following the changes is worth it, or finding all pairs anew costs less.
//!
//! Work is counted in tests and exchanges, never in time, so that the choice, and with it every
//! count, is the same in every run. What following costs is forecast; how true the last forecasts
//! were is remembered. What looks worth it is tried under a budget of `PATIENCE` times what
//! finding all pairs cost last time, so that no step costs much more than that, whatever the
//! boxes do. The [`finder`](crate::broad::finder) is fast: without patience the persistent
//! algorithms would give up wherever most boxes move, and their counts would show nothing.

/// What a box costs the finder beside the tests, in the unit of a test or an exchange: some
/// 45 nanoseconds beside 4.5.
const BOX_WORK: f64 = 10.0;

/// The finder tests by vectors: so many in the time of one test here.
const VECTOR_TESTS: f64 = 8.0;

/// How many times the finder's work following may take.
const PATIENCE: f64 = 3.0;

/// How fast the memory of bad forecasts fades while pairs are found anew.
const FADE: f64 = 0.95;

/// What finding all pairs cost, and how true forecasts were.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Work of the finder per box.
    build: f64,
    /// Work of a step that was followed, divided by its forecast.
    truth: f64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { build: BOX_WORK, truth: 1.0 }
    }
}

impl Effort {
    /// Notes that all pairs were found anew.
    pub fn built(&mut self, tests: u64, boxes: usize) {
        self.build = tests as f64 / VECTOR_TESTS / boxes.max(1) as f64 + BOX_WORK;
    }

    /// Notes that changes were followed. Steps with next to nothing to do say nothing.
    pub fn followed(&mut self, work: f64, forecast: f64, boxes: usize) {
        if work.max(forecast) > 0.1 * self.finding(boxes) {
            let truth = work / forecast.max(1.0);
            self.truth = (0.5 * (self.truth + truth)).clamp(0.05, 20.0);
        }
    }

    /// Notes that following was given up when the budget was spent; what was left is guessed.
    pub fn abandoned(&mut self, forecast: f64, boxes: usize) {
        let truth = 1.6 * self.budget(boxes) as f64 / forecast.max(1.0);
        self.truth = self.truth.max(truth).min(1000.0);
    }

    /// The finder's work.
    fn finding(&self, boxes: usize) -> f64 {
        self.build * boxes as f64
    }

    /// The most work that following may take.
    pub fn budget(&self, boxes: usize) -> u64 {
        (PATIENCE * self.finding(boxes)) as u64 + 1000
    }

    /// Whether finding all pairs anew is expected to cost less than following changes with such a
    /// forecast. With `unsorted` lists, following must promise to pay for sorting them. Bad
    /// forecasts are forgotten, so that following is tried again now and then.
    pub fn prefers_building(&mut self, forecast: f64, boxes: usize, unsorted: bool) -> bool {
        let share = if unsorted { 0.5 } else { 1.0 };
        let prefers = self.truth * forecast > share * self.budget(boxes) as f64;
        if prefers && self.truth > 1.0 {
            self.truth *= FADE;
        }
        prefers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_changes_are_avoided_and_tried_again_later() {
        let mut effort = Effort::default();
        effort.built(100_000, 1000);
        assert!(!effort.prefers_building(20_000.0, 1000, false), "nothing else is known yet");
        effort.abandoned(20_000.0, 1000);
        let avoided = (0..100).take_while(|_| effort.prefers_building(20_000.0, 1000, true));
        let avoided = avoided.count();
        assert!((5..60).contains(&avoided), "{avoided}");
        effort.followed(10_000.0, 20_000.0, 1000);
        assert!(!effort.prefers_building(20_000.0, 1000, true));
    }

    #[test]
    fn a_leap_is_seen_beforehand_and_forgotten_at_once() {
        let mut effort = Effort::default();
        effort.built(10_000, 1000);
        effort.followed(9000.0, 10_000.0, 1000);
        assert!(effort.prefers_building(1e7, 1000, false));
        assert!(!effort.prefers_building(10_000.0, 1000, true), "calm again");
    }
}
