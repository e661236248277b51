//! [`Effort`]: whether following the changes is worth it, or finding all pairs anew costs less.
//!
//! Work is counted in tests and exchanges, never in time, so that the choice, and with it every
//! count, is the same in every run. Following is tried first, under a budget of `PATIENCE` times
//! what finding all pairs cost last time; so no step costs much more than that, whatever the
//! boxes do. The [`finder`](crate::broad::finder) is fast: without patience the persistent
//! algorithms would give up wherever most boxes move, and their counts would show nothing.

/// What a box costs the finder beside the tests, in the unit of a test: some 75 nanoseconds.
const BOX_WORK: f64 = 25.0;

/// The finder tests by vectors: so many in the time of one test here.
const VECTOR_TESTS: f64 = 8.0;

/// How many times the finder's work following may take.
const PATIENCE: f64 = 3.0;

/// How fast the memory of a dear step fades while pairs are found anew.
const FADE: f64 = 0.95;

/// What finding all pairs and following a change cost lately.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Per box.
    build: f64,
    /// Per change.
    change: f64,
}

impl Effort {
    /// Notes that all pairs were found anew.
    pub fn built(&mut self, tests: u64, boxes: usize) {
        self.build = tests as f64 / VECTOR_TESTS / boxes.max(1) as f64 + BOX_WORK;
    }

    /// Notes that changes were followed.
    pub fn followed(&mut self, work: u64, changes: usize) {
        self.change = work as f64 / changes.max(1) as f64;
    }

    /// Notes that following was given up; the work that was left is guessed.
    pub fn abandoned(&mut self, work: u64, changes: usize) {
        self.change = 1.6 * work as f64 / changes.max(1) as f64;
    }

    /// The most work that following may take.
    pub fn budget(&self, boxes: usize) -> u64 {
        (PATIENCE * self.build * boxes as f64) as u64 + 1000
    }

    /// Whether finding all pairs anew is expected to cost less than following so many changes.
    /// With `unsorted` lists, following must promise to pay for sorting them. The estimate fades,
    /// so that following is tried again now and then.
    pub fn prefers_building(&mut self, changes: usize, boxes: usize, unsorted: bool) -> bool {
        let share = PATIENCE * if unsorted { 0.5 } else { 1.0 };
        let prefers = self.change * changes as f64 > share * self.build * boxes as f64;
        if prefers {
            self.change *= FADE;
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
        assert!(!effort.prefers_building(1000, 1000, false), "nothing is known yet");
        effort.abandoned(effort.budget(1000), 1000);
        let avoided = (0..100).take_while(|_| effort.prefers_building(1000, 1000, true)).count();
        assert!((5..60).contains(&avoided), "{avoided}");
        effort.followed(1000, 1000);
        assert!(!effort.prefers_building(1000, 1000, true));
    }
}
