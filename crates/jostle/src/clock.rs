//! [`Instant`]: the library's only source of time, which is zero on targets without a clock.
//!
//! `std::time::Instant::now` panics on `wasm32-unknown-unknown`. Times appear in statistics alone
//! and never decide a result, so there every duration is zero and everything else works.

use std::time::Duration;

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
        Instant(Now::now())
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
    fn time_does_not_run_backwards() {
        let (one, other) = (Instant::now(), Instant::now());
        assert_eq!(one.since(one), Duration::ZERO);
        assert_eq!(one.since(other), Duration::ZERO);
        assert!(one.elapsed() >= other.since(one));
    }
}
