//! The narrow phase and the two phases together: parts of `loi` and `grids` that need shapes.
//!
//! From Loi: ISA-GJK with and without hill climbing against the number of triangles, touching and
//! not; broad and narrow time and candidate pairs against the number of 80-triangle spheres. From
//! the chapter on parallel techniques: detection and response of 10 000 objects with one worker and
//! with all, and how evenly the alternating schedule shares out the work.

use std::time::Instant;

use super::{Claim, Lab};
use crate::support::failure::Failure;

mod climbing;
mod phases;
mod schedules;

pub(crate) use phases::center;

/// The narrow phase and the whole pipeline of Loi.
pub(crate) fn of_loi(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut claims = climbing::claims(lab)?;
    claims.extend(phases::claims(lab)?);
    Ok(claims)
}

/// Detection and response of the chapter on parallel techniques.
pub(crate) fn of_grids(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    schedules::claims(lab)
}

/// How long some work takes.
fn nanoseconds_of(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}
