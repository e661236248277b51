//! `tracy`: subdivision, batch and segmented insertion and removal, local and global sort.
//!
//! The scenes are the paper's: cubes of one size in a cube, 5 % of its volume filled, moving by a
//! tenth of their width in a step. Swaps are counted and the same on every machine; times are of
//! this one, and what is judged are ratios of times taken in turns on the same frames.

use jostle_scenes::SceneSpec;

use super::{Claim, Experiment, Lab};
use crate::support::failure::Failure;

mod cells;
mod contest;
mod growth;
mod single;
mod sweeps;

/// Every experiment of the paper.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "tracy",
    paper: "D. Tracy, S. Buss, B. Woods, Efficient Large-Scale Sweep and Prune Methods with AABB \
            Insertion and Removal, 2009",
    about: "growth of swaps, figures 8 to 11, sizes of chunks and cells, local and global sort",
    run,
};

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut claims = growth::swaps(lab)?;
    claims.extend(single::moving(lab)?);
    claims.extend(single::events(lab)?);
    claims.extend(cells::events(lab)?);
    claims.extend(cells::scale(lab)?);
    claims.extend(sweeps::chunks(lab)?);
    claims.extend(sweeps::cells(lab)?);
    claims.extend(sweeps::sorts(lab)?);
    Ok(claims)
}

/// The paper's world of `n` boxes a share of which moves, with this many boxes inserted, and as
/// many removed, in each step.
fn world(n: usize, moving: f64, inserted: f64) -> SceneSpec {
    let share = inserted / n as f64;
    SceneSpec::new("churn", n, 1)
        .param("density", 0.05)
        .param("speed", 0.1)
        .param("spread", 0.0)
        .param("moving", moving)
        .param("inserts", share)
        .param("removes", share)
}
