//! `pipeline`: the narrow phase and the two phases together, after two papers.
//!
//! From Loi: ISA-GJK with and without hill climbing against the number of triangles, touching and
//! not; broad and narrow time and candidate pairs against the number of 80-triangle spheres. From the
//! chapter on parallel techniques: detection and response of 10 000 objects with one worker and with
//! all, and how evenly the alternating deal shares out the work.

use std::time::Instant;

use super::{Claim, Experiment, Lab};
use crate::failure::Failure;

mod climbing;
mod dealing;
mod phases;

/// The experiments of both papers that need shapes.
pub const EXPERIMENT: Experiment = Experiment {
    name: "pipeline",
    paper: "L. Loi, Fast GPU-based Collision Detection, 2010; Parallel Techniques for Collision Detection (thesis chapter)",
    about: "ISA-GJK with hill climbing, both phases against n, and the balanced narrow phase",
    run,
};

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut claims = climbing::claims(lab)?;
    claims.extend(phases::claims(lab)?);
    claims.extend(dealing::claims(lab)?);
    Ok(claims)
}

/// The smallest time of a call in some repeats, in nanoseconds.
fn least_ns(repeats: usize, calls: usize, mut work: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..repeats {
        let start = Instant::now();
        (0..calls).for_each(|_| work());
        least = least.min(start.elapsed().as_secs_f64() * 1e9 / calls as f64);
    }
    least
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    if values.is_empty() { f64::NAN } else { crate::bench::quantile(&values, 0.5) }
}
