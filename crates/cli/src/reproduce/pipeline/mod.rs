//! The narrow phase and the two phases together: parts of `loi` and `grids` that need shapes.
//!
//! From Loi: ISA-GJK with and without hill climbing against the number of triangles, touching and
//! not; the narrow phases of its survey against each other, solvers of the simplex, artificial
//! neighbours; broad and narrow time and candidate pairs against the number of 80-triangle spheres.
//! From the chapter on parallel techniques: detection and response of 10 000 objects with one
//! worker and with all, and how evenly the alternating schedule shares out the work.

use std::time::Instant;

mod climbing;
mod contest;
mod neighbours;
mod phases;
mod schedules;
mod solvers;

pub(crate) use climbing::claims as climbing;
pub(crate) use contest::claims as contest;
pub(crate) use neighbours::claims as neighbours;
pub(crate) use phases::{center, claims as phases, detail};
pub(crate) use schedules::claims as of_grids;
pub(crate) use solvers::claims as solvers;

/// How long some work takes.
fn nanoseconds_of(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}
