//! `bidim-sap`: the parallel bi-dimensional sweep and prune, for millions of boxes.

use crate::aabb::Axis;
use crate::boxes::{Boxes, Follower};
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use axes::{Axes, Crowding, Sampler};
use strips::Strips;
use trees::Trees;

mod axes;
mod bounds;
mod candidates;
mod pairing;
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
}

/// Which axes are swept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AxisRule {
    /// Those on which fewest boxes overlap, exchanged while running when that changes.
    #[default]
    Adaptive,
    /// Always these two different axes, the primary one first.
    Fixed(Axis, Axis),
}

/// How a [`BidimSap`] works; the default is the fastest. The pairs found are always the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BidimOptions {
    /// How the work is divided.
    pub division: Division,
    /// Which axes are swept.
    pub axes: AxisRule,
    /// Number of partitions; 0 chooses by the number and the sizes of the boxes, never by the
    /// number of threads. With [`Division::Trees`] 1 is the paper's sequential version.
    pub partitions: usize,
}

/// See the [module](self).
#[derive(Debug)]
pub struct BidimSap {
    options: BidimOptions,
    workers: Workers,
    sampler: Sampler,
    axes: Option<Axes>,
    trees: Trees,
    strips: Strips,
    follower: Follower,
    clock: StageClock,
}

impl BidimSap {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> BidimSap {
        BidimSap::with_options(workers, BidimOptions::default())
    }

    /// A new instance that works in a given way.
    ///
    /// # Panics
    /// If the two axes of [`AxisRule::Fixed`] are the same.
    pub fn with_options(workers: &Workers, options: BidimOptions) -> BidimSap {
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
            (_, Division::Trees, current) => {
                // The paper begins with x and y.
                let current = current.unwrap_or(Axes { primary: 0, secondary: 1 });
                axes::exchange(current, self.trees.dispersion(), crowding)
            }
        }
    }

    fn find_pairs(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), LimitReached> {
        let crowding = self.sampler.crowding(boxes);
        let axes = self.choose_axes(&crowding);
        self.axes = Some(axes);
        self.clock.end("axes");
        let (partitions, workers, clock) =
            (self.options.partitions, &self.workers, &mut self.clock);
        match self.options.division {
            Division::Strips => {
                self.strips.update(boxes, axes, &crowding, partitions, workers, found, clock)?;
            }
            Division::Trees => {
                self.trees.update(boxes, axes, partitions, workers, found, clock)?;
            }
        }
        found.check_limit()
    }
}

impl BroadPhase for BidimSap {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let follows = self.follower.begin(boxes);
        if follows && boxes.changes().is_empty() {
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        self.find_pairs(boxes, found)?;
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let bytes = self.sampler.bytes() + self.trees.bytes() + self.strips.bytes();
        let mut stats = Stats { bytes, stages: self.clock.stages().to_vec(), ..Stats::default() };
        // An update that found nothing changed did nothing.
        if self.clock.stages().is_empty() {
            return stats;
        }
        match self.options.division {
            Division::Strips => self.strips.count(&mut stats),
            Division::Trees => self.trees.count(&mut stats),
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
