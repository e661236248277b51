//! How long a frame will take, so that hopeless runs are left out and said to be.
//!
//! Two smaller scenes of the same kind are timed; the growth between them gives a power law.

use std::time::Duration;

use jostle::Algorithm;

use super::{Course, Entrant, measure};
use crate::support::failure::Failure;

/// Up to this many boxes everything is run without a trial.
const SMALL: usize = 20_000;

/// Sizes of the two trials, as shares of the number of boxes.
const SHARES: [usize; 2] = [32, 8];

/// The expected time of a frame, if it is worth a trial.
pub(crate) fn frame_time(
    course: &Course,
    n: usize,
    entrant: &Entrant,
) -> Result<Option<Duration>, Failure> {
    if n <= SMALL {
        return Ok(None);
    }
    let Course::Scene(spec) = course else {
        return Ok(Some(all_pairs(n)).filter(|_| entrant.algorithm == Algorithm::BruteForce));
    };
    let mut times = [0.0; 2];
    for (time, share) in times.iter_mut().zip(SHARES) {
        let mut smaller = spec.clone();
        smaller.n = n / share;
        let trial = measure(&Course::Scene(smaller), 2, std::slice::from_ref(entrant), None)?;
        let row = &trial[0];
        *time = (row.build.update_ms.max(row.median_ms()) / 1e3).max(1e-6);
    }
    let growth = (SHARES[0] as f64 / SHARES[1] as f64).ln();
    let power = ((times[1] / times[0]).ln() / growth).clamp(1.0, 2.0);
    Ok(Some(Duration::from_secs_f64(times[1] * (SHARES[1] as f64).powf(power))))
}

/// All pairs at about a nanosecond each.
fn all_pairs(n: usize) -> Duration {
    Duration::from_secs_f64(n as f64 * n as f64 / 2.0 * 1e-9)
}
