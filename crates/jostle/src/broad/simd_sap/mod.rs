//! `simd-sap`: persistent sweep and prune whose lists are sorted by vectors, one worker for each
//! axis; boxes whose endpoints changed their rank are retested.
//!
//! Source: G. Campbell, *Broadphase Collision Detection on the Cell Processor* (2010), §4.2,
//! carried from the Cell's four-lane vectors and three coprocessors to AVX2 and threads.
//!
//! ```text
//! each axis, on a worker of its own
//!     give the endpoints of the moved boxes their new values
//!     sort values and ids by vectors                  (simd/endpoint_sort.rs)
//!     compare the ids with the order of the previous step
//!     retest the boxes at the places that differ
//! ```
//!
//! **Cost.** A step costs O(n) short operations, on eight endpoints each, to find what is out of
//! order and what changed, the splits of the sort, and a test for each place that an endpoint has
//! moved. Boxes that are inserted or removed cost a pass over the lists and a test against each box
//! that lies over a point of the first axis. A step without changes costs nothing. Memory: 96 bytes
//! a box for lists, previous order and ranks, up to 24 for what changed, 24 for the previous
//! bounds.
//!
//! **Choose it** instead of [`sap`](crate::broad::sap) if many boxes move a little and up to three
//! threads are available. Not for worlds in which many boxes come and go: the lists are rewritten
//! each time. The limits of `sap` hold here as well.
//!
//! **What lost.** With a tenth moving, one worker takes 1.45 times as long as `sap` at 4096 boxes
//! (`jostle reproduce campbell`). Sorting by vectors is a third of the step; the rest are the tests
//! of what was passed, which `sap` makes as well, and which no vector makes faster: each reads a
//! box from somewhere else. It was slower still while each step copied the old values and looked
//! for what was passed before testing it. Handing a step to three workers costs some microseconds,
//! as much as a step of 256 boxes, and more on busy cores.
//!
//! **Departures.**
//! 1. Vectors stay in order while they are moved, see `simd/endpoint_sort.rs`; entries are compared
//!    by value, kind of endpoint and id, so equal values need no forced swap.
//! 2. Each endpoint knows its rank, so nothing is searched for, and only moved boxes get new
//!    values.
//! 3. Ids are compared rather than values: what keeps its rank has passed nothing.
//! 4. [`Retest::Passed`], the default, tests an endpoint against those it has passed instead of a
//!    box against all that lie between its endpoints, and sees each swap once: pairs begin and end
//!    in the same pass, and no set of colliding keys of the previous frame is needed. The thesis's
//!    two methods can be chosen. Its first one misses a box that encloses another unless either has
//!    an endpoint where the other passed; here it also looks at what lies between the old rank and
//!    the new one.
//! 5. If a step would cost more than finding all pairs, that is done instead (`persistent`); if
//!    this is forbidden, lists far from order are sorted from scratch.
//! 6. Boxes that are inserted or removed are met in a sweep of the first axis (`churn_sweep.rs`).

mod axis;
mod churn_sweep;
mod follow;

use crate::broad::persistent::{Persistent, driven};
use crate::par::Workers;

use follow::SimdFollow;

/// How the boxes that changed their rank are tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retest {
    /// Each endpoint against the endpoints it has passed.
    #[default]
    Passed,
    /// Each box against those with an endpoint between its own: the thesis's first method.
    Between,
    /// Each box against every other: the thesis's second method.
    All,
}

/// Settings of [`SimdSap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimdSapOptions {
    /// How the boxes that changed their rank are tested.
    pub retest: Retest,
    /// Lets finding all pairs replace a step that would cost more.
    pub may_rebuild: bool,
    /// With fewer boxes one thread does everything: waking others takes longer than an axis.
    /// Experiments set it to 0.
    pub one_worker_below: usize,
}

impl Default for SimdSapOptions {
    fn default() -> SimdSapOptions {
        SimdSapOptions { retest: Retest::default(), may_rebuild: true, one_worker_below: 2048 }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SimdSap {
    driver: Persistent<SimdFollow>,
}

driven!(SimdSap, "simd-sap");

impl SimdSap {
    /// A new instance; it uses up to three threads.
    pub fn new(workers: &Workers) -> SimdSap {
        SimdSap::with_options(workers, SimdSapOptions::default())
    }

    /// A new instance with other settings.
    pub fn with_options(workers: &Workers, options: SimdSapOptions) -> SimdSap {
        let lists = SimdFollow::new(workers, options.retest, options.one_worker_below);
        SimdSap { driver: Persistent::new(workers, lists, options.may_rebuild) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broad::persistent::history::follow_history;

    #[test]
    fn histories_agree_with_testing_all_pairs() {
        for retest in [Retest::Passed, Retest::Between, Retest::All] {
            for (threads, may_rebuild) in [(1, true), (1, false), (3, false)] {
                let workers = Workers::new(threads).unwrap();
                let mut events = 0;
                for seed in 0..40 {
                    let options = SimdSapOptions { retest, may_rebuild, one_worker_below: 0 };
                    let mut sap = SimdSap::with_options(&workers, options);
                    let start = [0, 3, 40, 120][seed as usize % 4];
                    let (deltas, seen) = follow_history(&mut sap, seed, 40, start, seed % 2 == 0);
                    assert!(may_rebuild || deltas == 39, "every step but the first is a change");
                    events += seen;
                }
                assert!(events > 20_000, "too little happened: {events}");
            }
        }
    }
}
