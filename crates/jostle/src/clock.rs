//! [`Instant`]: the library's only source of time, which is zero on targets without a clock.
//!
//! `std::time::Instant::now` panics on `wasm32-unknown-unknown`. Times appear in statistics alone
//! and never decide a result, so there every duration is zero and everything else works.
//!
//! Simulated threads ([`Workers::simulated`](crate::Workers::simulated)) turn the clock back: what
//! several of them would have done at once is taken off the time that passed. Everything that reads
//! this clock then tells the time that the simulated threads would have taken. There is one clock
//! for all threads, because a step may begin on one and end on another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// By how many nanoseconds the clock was turned back.
static SAVED: AtomicU64 = AtomicU64::new(0);

/// Turns the clock back.
pub(crate) fn save(time: Duration) {
    SAVED.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
}

/// By how much the clock was turned back so far.
pub(crate) fn saved() -> Duration {
    Duration::from_nanos(SAVED.load(Ordering::Relaxed))
}

/// Held by tests that simulate threads or look at the clock, which others turn back.
#[cfg(test)]
pub(crate) static ALONE_AT_THE_CLOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
type Now = std::time::Instant;

/// Stands in for a clock on targets that have none.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
type Now = ();

/// A moment, to measure durations from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant(Now);

impl Instant {
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub(crate) fn now() -> Instant {
        let (now, saved) = (Now::now(), saved());
        Instant(if saved.is_zero() { now } else { now.checked_sub(saved).unwrap_or(now) })
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    pub(crate) fn now() -> Instant {
        Instant(())
    }

    /// The time from `earlier` to this moment.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    pub(crate) fn since(self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    pub(crate) fn since(self, _earlier: Instant) -> Duration {
        Duration::ZERO
    }

    /// The time from this moment until now.
    pub(crate) fn elapsed(self) -> Duration {
        Instant::now().since(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    fn saved_time_does_not_count() {
        let _alone = ALONE_AT_THE_CLOCK.lock().unwrap();
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        save(Duration::from_millis(15));
        let took = start.elapsed();
        assert!(took >= Duration::from_millis(5));
        save(took);
        assert!(start.elapsed() < took);
        assert!(saved() >= Duration::from_millis(20));
    }

    #[test]
    fn time_does_not_run_backwards() {
        let _alone = ALONE_AT_THE_CLOCK.lock().unwrap();
        let (one, other) = (Instant::now(), Instant::now());
        assert_eq!(one.since(one), Duration::ZERO);
        assert_eq!(one.since(other), Duration::ZERO);
        assert!(one.elapsed() >= other.since(one));
    }
}
