//! The schedule of tasks on threads that are simulated.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::clock::{self, Instant};

/// Tasks that simulated threads run at once. When it ends, the clock is turned back by what they
/// would have saved.
pub(super) struct Schedule {
    /// When each thread is idle again; empty if no threads are simulated.
    idle: BinaryHeap<Reverse<Duration>>,
    start: Option<Instant>,
    /// The time of all tasks, tasks within them one after the other.
    pub(super) work: Duration,
    longest: Duration,
}

impl Schedule {
    #[inline]
    pub(super) fn new(threads: usize) -> Schedule {
        // Without simulated threads nothing is allocated and no clock read.
        let idle = if threads > 1 { vec![Reverse(Duration::ZERO); threads] } else { Vec::new() };
        let start = (threads > 1).then(Instant::now);
        Schedule { idle: idle.into(), start, work: Duration::ZERO, longest: Duration::ZERO }
    }

    #[inline]
    pub(super) fn run<R>(&mut self, task: impl FnOnce() -> R) -> R {
        if self.start.is_none() {
            return task();
        }
        let (start, saved) = (Instant::now(), clock::saved());
        let result = task();
        let took = start.elapsed();
        self.work += took + (clock::saved() - saved);
        self.assign(took);
        result
    }

    /// The thread that is idle first takes the task.
    #[cold]
    pub(super) fn assign(&mut self, took: Duration) {
        let Reverse(idle) = self.idle.pop().unwrap_or_default();
        self.longest = self.longest.max(idle + took);
        self.idle.push(Reverse(idle + took));
    }

    /// What the threads take: no less than their share of the work, which counts if tasks have
    /// tasks within them.
    pub(super) fn length(&self) -> Duration {
        self.longest.max(self.work / self.idle.len().max(1) as u32)
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        if let Some(start) = self.start {
            clock::save(start.elapsed().saturating_sub(self.length()));
        }
    }
}
