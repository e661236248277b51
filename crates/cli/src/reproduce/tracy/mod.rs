//! `tracy`: subdivision, batch and segmented insertion and removal, local and global sort.
//!
//! The scenes are the paper's: cubes of one size in a cube, 5 % of its volume filled, moving by a
//! tenth of their width in a step. Swaps are counted and the same on every machine; times are of
//! this one, and what is judged are ratios of times taken in turns on the same frames.

use jostle_scenes::SceneSpec;

use super::{Claim, Experiment, Lab, Part};
use crate::support::failure::Failure;

mod cells;
mod contest;
mod growth;
mod octree;
mod single;
mod sweeps;
mod wishes;

/// Every experiment of the paper.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "tracy",
    about: "growth of swaps, figures 8 to 11, octree, sizes of chunks and cells, both sorts",
    parts: &[
        part("growth", "figure 2: swaps when every box moves", [1.0, 5.0], growth::swaps),
        part("figure-8", "one insertion and one removal", [1.0, 6.0], single::moving),
        part("figure-9", "150 of 3 000 boxes move", [1.0, 4.0], single::events),
        part("figure-10", "10 000 of 100 000 boxes move", [2.0, 45.0], cells::events),
        part("figure-11", "the world grows", [2.0, 70.0], cells::scale),
        part("octree", "figure 11 and section 4.2: the octree", [2.0, 80.0], octree::run),
        part("chunks", "section 3.2.2: endpoints in a chunk", [1.0, 4.0], sweeps::chunks),
        part("cells", "section 4.2: boxes in a cell", [2.0, 30.0], sweeps::cells),
        part("sorts", "section 4: local and global sort", [1.0, 4.0], sweeps::sorts),
        part("wishes", "section 4.1: presorted events, erasing across", [1.0, 5.0], wishes::run),
    ],
};

const fn part(
    name: &'static str,
    about: &'static str,
    seconds: [f64; 2],
    run: fn(&mut Lab) -> Result<Vec<Claim>, Failure>,
) -> Part {
    Part { name, about, seconds, run }
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
