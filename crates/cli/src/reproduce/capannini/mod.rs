//! `capannini`: the parallel bi-dimensional sweep and prune, stage by stage.
//!
//! Runs the paper's own division of the work (one succinct tree per partition), with one
//! partition on one thread as the sequential version and with sixteen on all threads as the
//! parallel one, and next to it the strips that `bidim-sap` uses by default. Balance, dispersion
//! and tests are counted, so they are the same on every machine; times are of this one.

use jostle::broad::bidim_sap::{AxisRule, BidimSapOptions, Division};

use super::{Claim, Experiment, Lab};
use crate::support::failure::Failure;

mod clusters;
mod runner;
mod uniform;

/// Every experiment of the paper that does not need its machine.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "capannini",
    paper: "G. Capannini, T. Larsson, Adaptive Collision Culling for Large-Scale Simulations by \
            a Parallel Sweep and Prune Algorithm, 2016",
    about: "stages, speed-up, dispersion and balance of bidim-sap; ball and plane clusters",
    run,
};

/// The paper's number of threads, and so of partitions.
const PARTITIONS: usize = 16;

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut claims = uniform::stages(lab)?;
    claims.push(uniform::balance(lab)?);
    claims.push(clusters::ball(lab)?);
    claims.extend(clusters::plane(lab)?);
    Ok(claims)
}

/// The paper's division with a number of partitions.
fn trees(partitions: usize, axes: AxisRule) -> BidimSapOptions {
    BidimSapOptions { division: Division::Trees, axes, partitions }
}

fn greatest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}
