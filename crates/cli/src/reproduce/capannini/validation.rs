//! Section 6: in each of 100 iterations all versions find the same set of collisions; here it is
//! also the set that testing every box against every other finds.

use jostle::broad::bidim_sap::{AxisRule, BidimSap, BidimSapOptions};
use jostle::{Algorithm, Boxes, BroadPhase, Workers};

use super::{Claim, Lab, sequential, trees};
use crate::reproduce::{Bound, Figure};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::runner::Runner;

fn version(name: &str, options: BidimSapOptions, threads: usize) -> Result<Runner, Failure> {
    let workers = Workers::new(threads)?;
    let broad: Box<dyn BroadPhase> = Box::new(BidimSap::with_options(&workers, options));
    Ok(Runner::with_broad_phase(name, broad, &workers))
}

/// Every version against testing all pairs.
pub(crate) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let (n, frames) = (lab.pick(2000, 10_000), lab.pick(20, 100));
    let mut runners = vec![
        Runner::new(Algorithm::BruteForce, &Workers::one()),
        version("sequential", sequential(), 1)?,
        version("16 partitions, 1 thread", trees(16, AxisRule::Adaptive), 1)?,
        version("3 partitions, 3 threads", trees(3, AxisRule::Adaptive), 3)?,
        version("paper's rule, 16 partitions", trees(16, AxisRule::Dispersion(20)), 2)?,
        version("strips, 2 threads", BidimSapOptions::default(), 2)?,
    ];
    let mut wrong = vec![0usize; runners.len()];
    let mut pairs = 0;
    for density in [0.05, 0.35] {
        let spec = super::uniform::scene(n, density);
        let mut feed = Feed::unfiltered(&spec, frames)?;
        let mut boxes = Boxes::new();
        while feed.advance(&mut boxes)?.is_some() {
            lab.check_stop()?;
            for runner in &mut runners {
                runner.step(&boxes)?;
            }
            boxes.commit();
            pairs += runners[0].pairs().len();
            for (runner, wrong) in runners.iter().zip(&mut wrong) {
                *wrong += usize::from(runner.pairs() != runners[0].pairs());
            }
        }
    }
    let rows = runners.iter().zip(&wrong).map(|(runner, wrong)| {
        vec![runner.name.clone(), (2 * frames).to_string(), pairs.to_string(), wrong.to_string()]
    });
    let header = ["version", "iterations", "pairs_in_all", "iterations_that_differ"];
    lab.csv("validation", &header, &rows.collect::<Vec<_>>())?;
    Ok(vec![
        claim(wrong.iter().sum())
            .show(format!("{pairs} pairs in all"))
            .at(format!("{n} boxes, {} iterations, {} versions", 2 * frames, runners.len() - 1))
            .remark("set against set, and against testing every pair of boxes"),
    ])
}

fn claim(differ: usize) -> Claim {
    Claim::new(
        "The parallel version finds the same collisions in every iteration",
        "checked in 100 iterations of each simulation (section 6)",
    )
    .require("iterations that differ", Figure::counted(differ as f64), Bound::at_most(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn one_iteration_that_differs_refutes() {
        assert_eq!((claim(0).judged(), claim(1).judged()), (Holds, Fails));
    }
}
