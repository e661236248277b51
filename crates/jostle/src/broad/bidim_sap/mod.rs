//! `bidim-sap`: the parallel bi-dimensional sweep and prune, for millions of boxes.
//!
//! Two axes are sorted. The first divides the boxes: each has a range of candidates that overlap
//! it there. The second is swept, and only boxes that are open on it *and* candidates on the
//! first are tested. Both stages are cut into partitions that need no locks and find each pair
//! once. The third axis is not used, and replaces a swept one on which boxes cluster. From G.
//! Capannini and T. Larsson, *Adaptive Collision Culling for Large-Scale Simulations by a Parallel
//! Sweep and Prune Algorithm*, 2016.
//!
//! ```text
//! axes     choose the two axes on which fewest sampled boxes overlap       axes.rs
//! sort     Trees: both axes, by boundaries from the previous frame         ds/radix_sort.rs
//!          Strips: boxes to strips of the first axis, sort each strip      strips.rs, bounds.rs
//! range    Trees: ranks and candidate ranges by prefix sums of trees       candidates.rs
//! pair     Trees: each partition sweeps all endpoints of the second axis   pairing.rs
//!          Strips: each strip sweeps its own boxes, in vectors             strip_sweep.rs
//! ```
//!
//! [`Division::Trees`] is the paper, [`Division::Strips`] the default and [`Division::Sequential`]
//! the paper's version for one thread. All give the same pairs, in the same order for every number
//! of threads: partitions depend on the boxes alone, and idle threads steal them.
//!
//! **Cost.** With `f` the share of pairs that overlap on an axis, about `f₁ f₂ n²/2` tests, and
//! strips make 1.6 times as many: `n^(4/3)` in a cube of constant density, 200 a box for a million
//! boxes at density 0.35. Memory beyond boxes and output: strips about 50 bytes a box, at most 85
//! if large boxes reach over many strips; trees about 62.
//!
//! **Choose it** for crowded worlds in which most boxes move: hundreds of thousands to millions,
//! any mixture of sizes, no parameter. **Not** if few move (a persistent algorithm does less) or if
//! boxes crowd on two axes at once (needles, one-axis worlds): then it makes the tests of a
//! one-axis sweep. A step without changes costs nothing.
//!
//! **Departures of strips from the paper**
//! 1. Every partition of the paper sweeps the endpoints of all boxes and skips most; with m
//!    partitions that is `2 n m` steps. Here a box goes to the strips it reaches instead, 1.5 on
//!    average.
//! 2. A strip has no set of open boxes. Only low endpoints are sorted, and each box looks forward
//!    until boxes begin after its end; these are exactly the pairs that are open together. The
//!    tested bounds are in the order of the sweep, so tests run sixteen at a time.
//! 3. Strips are cut at quantiles of a fresh sample, so teleports do not unbalance them; the
//!    paper's boundaries come from a sorted axis, which strips do without.
//! 4. Axes are chosen by the crowding of a sample, not by dispersion, which sees a cluster only
//!    while it forms. A change must save a quarter of the tests, so near ties do not flip-flop.
//! 5. Boxes that can never pair (still ones, filtered groups) are swept apart.
//!
//! **Measured** (a million boxes, density 0.35, one thread, processor time; `jostle reproduce
//! capannini`): the paper's sequential version takes 28 times as long as strips with 0.6 times the
//! tests; nearly all of it goes into following single bits of the tree to boxes that are apart in
//! memory. `sort-sweep` takes 50 times as long. Tried and lost: fetching the boxes of a strip by
//! slot instead of copying them while they are distributed (distributing and collecting take 1.9
//! times as long, cache and page misses); strips as wide as a box, or half (1.1 and 1.4 times the
//! whole: more visits); columns with unaligned vectors instead of blocks (1.3 times the whole); a
//! search over all bounds instead of a table (distributing takes 1.25 times as long). The 1.9 and
//! 1.25 are shares of profiles and the 1.3 compares two runs, so these three are rough.

use crate::aabb::Axis;
use crate::boxes::{Boxes, Follower};
use crate::broad::contract::{BroadPhase, Report};
use crate::error::Error;
use crate::pair::{LimitReached, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use axes::{Axes, Crowding, Sampler};
use sequential::Sequential;
use strips::Strips;
use trees::Trees;

mod axes;
mod bounds;
mod candidates;
mod pairing;
mod sequential;
mod strip_sweep;
mod strips;
mod trees;

/// How the work of pairing is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Division {
    /// Strips along the primary axis, each swept alone over the boxes that touch it.
    #[default]
    Strips,
    /// As in the paper: candidate ranges and one succinct tree per partition, each of which
    /// sweeps the endpoints of all boxes.
    Trees,
    /// The paper's sequential version, on the calling thread: what its speed-ups compare with.
    Sequential,
}

/// Which axes are swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisRule {
    /// Those on which fewest boxes overlap, replaced while running when that changes.
    #[default]
    Adaptive,
    /// Always these two different axes, the primary one first.
    Fixed(Axis, Axis),
    /// The paper's rule alone: a swept axis whose dispersion passes this many thousandths is
    /// replaced by the unused one, whatever that gains. Only [`Division::Trees`] knows the
    /// dispersion; the others take [`AxisRule::Adaptive`].
    Dispersion(u32),
}

/// How a [`BidimSap`] works; the default is the fastest. The pairs found are always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BidimSapOptions {
    /// How the work is divided.
    pub division: Division,
    /// Which axes are swept.
    pub axes: AxisRule,
    /// Number of partitions; 0 chooses by the number and the sizes of the boxes, never by the
    /// number of threads. [`Division::Sequential`] has none.
    pub partitions: usize,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct BidimSap {
    options: BidimSapOptions,
    workers: Workers,
    sampler: Sampler,
    axes: Option<Axes>,
    trees: Trees,
    strips: Strips,
    sequential: Sequential,
    follower: Follower,
    clock: StageClock,
}

impl BidimSap {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> BidimSap {
        BidimSap::with_options(workers, BidimSapOptions::default())
    }

    /// A new instance with these options.
    ///
    /// # Panics
    /// If the two axes of [`AxisRule::Fixed`] are the same.
    pub fn with_options(workers: &Workers, options: BidimSapOptions) -> BidimSap {
        if let AxisRule::Fixed(primary, secondary) = options.axes {
            assert!(primary != secondary, "the {primary} axis cannot be swept twice");
        }
        BidimSap {
            options,
            workers: workers.clone(),
            sampler: Sampler::default(),
            axes: None,
            trees: Trees::default(),
            strips: Strips::default(),
            sequential: Sequential::default(),
            follower: Follower::default(),
            clock: StageClock::default(),
        }
    }

    /// The axes swept in the last update, the primary one first.
    pub fn axes(&self) -> Option<(Axis, Axis)> {
        self.axes.map(|axes| (Axis::ALL[axes.primary], Axis::ALL[axes.secondary]))
    }

    fn choose_axes(&self, crowding: &Crowding) -> Axes {
        match (self.options.axes, self.options.division, self.axes) {
            (AxisRule::Fixed(primary, secondary), ..) => {
                Axes { primary: primary.index(), secondary: secondary.index() }
            }
            (_, Division::Strips, current) => axes::choose(current, crowding),
            // The paper begins with x and y.
            (rule, division, current) => {
                let current = current.unwrap_or(Axes { primary: 0, secondary: 1 });
                let dispersion = self.trees.dispersion();
                match (rule, division) {
                    (AxisRule::Dispersion(most), Division::Trees) => {
                        axes::replace_dispersed(current, dispersion, f64::from(most) / 1e3)
                    }
                    _ => axes::replace_clustered(current, dispersion, crowding),
                }
            }
        }
    }

    fn find_pairs(
        &mut self,
        boxes: &Boxes,
        continues: bool,
        found: &mut PairBuffer,
    ) -> Result<(), LimitReached> {
        let crowding = self.sampler.crowding(boxes);
        let axes = self.choose_axes(&crowding);
        self.axes = Some(axes);
        self.clock.end("axes");
        let (partitions, workers, clock) =
            (self.options.partitions, &self.workers, &mut self.clock);
        match self.options.division {
            Division::Strips => {
                self.strips.follow_filters(boxes, continues);
                self.strips.update(boxes, axes, &crowding, partitions, workers, found, clock)?;
            }
            Division::Trees => {
                self.trees.update(boxes, axes, partitions, workers, found, clock)?;
            }
            Division::Sequential => self.sequential.update(boxes, axes, found, clock)?,
        }
        found.check_limit()
    }
}

impl BroadPhase for BidimSap {
    fn name(&self) -> &str {
        "bidim-sap"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let follows = self.follower.begin(boxes);
        if follows && boxes.changes().is_empty() {
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        self.find_pairs(boxes, follows, found)?;
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let bytes = self.sampler.bytes() + self.trees.bytes() + self.strips.bytes();
        let bytes = bytes + self.sequential.bytes();
        let mut stats = Stats { bytes, stages: self.clock.stages().to_vec(), ..Stats::default() };
        // If nothing changed, the last update did nothing.
        if self.clock.stages().is_empty() {
            return stats;
        }
        match self.options.division {
            Division::Strips => self.strips.count(&mut stats),
            Division::Trees => self.trees.count(&mut stats),
            Division::Sequential => self.sequential.count(&mut stats),
        }
        stats
    }
}

/// Adds the number of partitions, and the standard deviations of their shares of the tests and
/// of the pairs found, in percent of the whole.
fn count_shares(stats: &mut Stats, work: impl Iterator<Item = (u64, u64)> + Clone) {
    let partitions = work.clone().count().max(1) as f64;
    let deviation = |shares: &dyn Fn((u64, u64)) -> u64| {
        let total = work.clone().map(shares).sum::<u64>().max(1) as f64;
        let miss = |part: u64| (100.0 * part as f64 / total - 100.0 / partitions).powi(2);
        (work.clone().map(|part| miss(shares(part))).sum::<f64>() / partitions).sqrt()
    };
    stats.counts.push(("partitions", partitions));
    stats.counts.push(("deviation of tests", deviation(&|(tests, _)| tests)));
    stats.counts.push(("deviation of pairs", deviation(&|(_, pairs)| pairs)));
}

#[cfg(test)]
mod tests;
