//! `capannini`: the parallel bi-dimensional sweep and prune, stage by stage.
//!
//! The paper's sequential version (Algorithm 1) against its parallel one, with as many partitions
//! as threads, and next to both the strips that `bidim-sap` uses by default. Balance, dispersion
//! and tests are counted, so they are the same on every machine; times are of this one. What is
//! counted of partitions is counted for the paper's sixteen, however many threads there are.

use jostle::broad::bidim_sap::{AxisRule, BidimSapOptions, Division};

use super::{Claim, Experiment, Lab, Part};

mod clusters;
mod runner;
mod uniform;
mod validation;

/// Every experiment of the paper that does not need its machine.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "capannini",
    about: "stages, speed-up, dispersion and balance of bidim-sap; ball and plane clusters",
    parts: &[
        Part {
            name: "stages",
            about: "figures 1 to 4: time and speed-up of each stage",
            seconds: [3.0, 240.0],
            run: uniform::stages,
        },
        Part {
            name: "balance",
            about: "sections 6.1 and 6.3: dispersion, and shares of 4 to 64 partitions",
            seconds: [1.0, 25.0],
            run: uniform::balance,
        },
        Part {
            name: "validation",
            about: "section 6: the same collisions in each of 100 iterations",
            seconds: [3.0, 20.0],
            run: validation::run,
        },
        Part {
            name: "ball",
            about: "figure 5: a ball that collapses, every frame",
            seconds: [1.0, 90.0],
            run: clusters::ball,
        },
        Part {
            name: "plane",
            about: "figure 6: a plane that all boxes cross, with and without exchanging axes",
            seconds: [1.0, 120.0],
            run: clusters::plane,
        },
    ],
};

/// The paper's number of threads, and so of partitions.
const PARTITIONS: usize = 16;

/// The paper's sequential version.
fn sequential() -> BidimSapOptions {
    BidimSapOptions { division: Division::Sequential, axes: AxisRule::Adaptive, partitions: 0 }
}

/// The paper's division with a number of partitions.
fn trees(partitions: usize, axes: AxisRule) -> BidimSapOptions {
    BidimSapOptions { division: Division::Trees, axes, partitions }
}

fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}
