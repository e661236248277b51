//! `grids`: the hierarchy of hashed grids and its work on several threads.
//!
//! The chapter counts collision tests in counters that share cache lines, are padded apart, or are
//! aligned; shares out the triangle of tests so that every processor gets long and short rows;
//! collects responses in buffers of each processor's own; hands out pairs in batches; hashes cells
//! by the sum of their coordinates; looks at five cells for each object; and argues for levels of
//! cells where sizes differ. Each is measured here next to what it replaces.

use std::time::Instant;

use jostle::broad::hash_grid::{HashGrid, HashGridOptions};
use jostle::{Boxes, Workers, available_threads};
use jostle_scenes::{SceneSpec, median};

use super::{Claim, Experiment, Lab, Part, pipeline};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::runner::Runner;

mod batches;
mod cells;
mod counters;
mod hashing;
mod levels;
mod response;
mod schedules;

/// Grids of several levels, and sharing their work.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "grids",
    about: "counters on shared cache lines, schedules, response, batches, hashing, cells, levels",
    parts: &[
        part("counters", "figures 4.9, 4.10 and 4.12", [2.0, 4.0], counters::run),
        part("schedules", "figures 4.5 to 4.7: shares of the tests", [2.0, 4.0], schedules::run),
        part("response", "figure 4.13: locks against buffers", [4.0, 10.0], response::run),
        part("world", "figure 4.13 by a World's schedules", [3.0, 10.0], pipeline::of_grids),
        part("batches", "algorithm 11: batches of pairs", [2.0, 10.0], batches::run),
        part("hash", "algorithm 7: the sum of coordinates", [1.0, 15.0], hashing::run),
        part("five-cells", "algorithm 10 and figure 4.4", [1.0, 3.0], cells::five),
        part("cell-size", "figures 4.2 and 4.3: small and large cells", [2.0, 25.0], cells::size),
        part("memory", "section 4.1: a dense grid and a hashed one", [1.0, 1.0], cells::memory),
        part("one-bucket", "section 4.1 (a): the worst case", [1.0, 2.0], cells::one_bucket),
        part("levels", "section 4.1: levels where sizes differ", [3.0, 12.0], levels::run),
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

/// The chapter's number of cores.
const CORES: usize = 4;

fn threads() -> usize {
    available_threads().clamp(2, CORES)
}

fn milliseconds_of(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// Median milliseconds and mean tests of a grid over a scene.
fn drive(lab: &Lab, spec: &SceneSpec, options: HashGridOptions) -> Result<[f64; 2], Failure> {
    let workers = Workers::one();
    let mut feed = Feed::unfiltered(spec, lab.pick(4, 8))?;
    let mut boxes = Boxes::new();
    let grid = Box::new(HashGrid::with_options(&workers, options));
    let mut runner = Runner::with_broad_phase("hash-grid", grid, &workers);
    let (mut times, mut tests) = (Vec::new(), 0.0);
    while feed.advance(&mut boxes)?.is_some() {
        runner.step(&boxes)?;
        boxes.commit();
        times.push(runner.time().update.as_secs_f64() * 1e3);
        tests += runner.stats().tests as f64;
        lab.check_stop()?;
    }
    let count = times.len() as f64;
    Ok([median(times), tests / count])
}
