//! [`Stats`]: what an algorithm counted in its last update.

use std::time::Duration;

use crate::clock::Instant;

/// Work counted by an algorithm in its last update, memory held, and time per stage. Counts are
/// exact and repeatable; times are not.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Box against box tests.
    pub tests: u64,
    /// Swaps of neighbours in sorted lists.
    pub swaps: u64,
    /// Bytes held beyond the boxes and the output.
    pub bytes: usize,
    /// Further counts under the algorithm's own names.
    pub counts: Vec<(&'static str, f64)>,
    /// The stages of the update in order.
    pub stages: Vec<(&'static str, Duration)>,
}

impl Stats {
    /// A further count by its name.
    pub fn count(&self, name: &str) -> Option<f64> {
        self.counts.iter().find(|(other, _)| *other == name).map(|&(_, value)| value)
    }

    /// The time of a stage by its name.
    pub fn stage(&self, name: &str) -> Option<Duration> {
        self.stages.iter().find(|(other, _)| *other == name).map(|&(_, time)| time)
    }
}

/// Measures the stages of an update, one after the other, without allocating after the first.
#[derive(Clone, Debug)]
pub struct StageClock {
    stages: Vec<(&'static str, Duration)>,
    last: Instant,
}

impl Default for StageClock {
    fn default() -> StageClock {
        StageClock { stages: Vec::new(), last: Instant::now() }
    }
}

impl StageClock {
    /// Call at the beginning of an update.
    pub fn start(&mut self) {
        self.stages.clear();
        self.last = Instant::now();
    }

    /// Call at the end of each stage.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.stages.push((stage, now.since(self.last)));
        self.last = now;
    }

    /// The stages of the last update.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }
}
