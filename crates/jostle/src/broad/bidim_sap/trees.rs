//! The three stages as in the paper: sort, candidates, pairing with one tree per partition.

use crate::boxes::Boxes;
use crate::ds::radix_sort::{CoherentSort, SortScratch};
use crate::pair::{LimitReached, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use super::axes::Axes;
use super::candidates::Candidates;
use super::pairing::{Input, Pairing};

/// The default number of partitions: the threads of the paper's machine. More of them balance the
/// work better, but each sweeps all endpoints.
const PARTITIONS: usize = 16;
/// The most that can be asked for.
const MOST: usize = 1 << 12;
/// Fewer members than this make no partition of their own.
const FEWEST: usize = 512;

/// Members that one task lists.
const RUN: usize = 1 << 15;

/// What lasts from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Trees {
    /// Slots that hold boxes.
    members: Vec<u32>,
    /// One for each axis, which keeps its boundaries while it is swept.
    sorts: [CoherentSort; 3],
    scratch: SortScratch,
    /// Sorted endpoints of the current axis.
    order: Vec<u32>,
    candidates: Candidates,
    pairing: Pairing,
    dispersion: [f64; 2],
}

impl Trees {
    /// Finds all pairs.
    pub(super) fn update(
        &mut self,
        boxes: &Boxes,
        axes: Axes,
        partitions: usize,
        workers: &Workers,
        found: &mut PairBuffer,
        clock: &mut StageClock,
    ) -> Result<(), LimitReached> {
        self.list_members(boxes, workers);
        let partitions = self.partitions(partitions);
        self.sorts[axes.unused()].restart();
        self.dispersion[0] = self.sort(boxes, axes.primary, partitions, workers);
        clock.end("sort primary");
        self.candidates.generate(&self.order, self.members.len(), partitions, workers);
        clock.end("candidates");
        self.dispersion[1] = self.sort(boxes, axes.secondary, partitions, workers);
        clock.end("sort secondary");
        let input = Input {
            boxes,
            members: &self.members,
            candidates: &self.candidates,
            order: &self.order,
        };
        self.pairing.pair(&input, partitions, workers, found)?;
        clock.end("pairing");
        Ok(())
    }

    fn list_members(&mut self, boxes: &Boxes, workers: &Workers) {
        if !boxes.is_dense() {
            self.members.clear();
            return self.members.extend(boxes.live_slots().map(|slot| slot.get()));
        }
        self.members.resize(boxes.slots(), 0);
        workers.for_each_chunk(&mut self.members, RUN, |run, members| {
            members.iter_mut().zip(run * RUN..).for_each(|(member, slot)| *member = slot as u32);
        });
    }

    /// The number asked for, or one that depends on the number of boxes alone.
    fn partitions(&self, asked: usize) -> usize {
        let members = self.members.len();
        if asked > 0 {
            asked.min(members).clamp(1, MOST)
        } else {
            (members / FEWEST).clamp(1, PARTITIONS)
        }
    }

    /// Sorts the endpoints of an axis into `order` and returns the dispersion.
    fn sort(&mut self, boxes: &Boxes, axis: usize, partitions: usize, workers: &Workers) -> f64 {
        let (count, members, aabbs) = (self.members.len(), &self.members, boxes.aabbs());
        let key = |i: usize| {
            if i < count {
                aabbs[members[i] as usize].min[axis]
            } else {
                aabbs[members[i - count] as usize].max[axis]
            }
        };
        let (scratch, order) = (&mut self.scratch, &mut self.order);
        self.sorts[axis].sort_indices(2 * count, key, partitions, workers, scratch, order);
        self.sorts[axis].dispersion()
    }

    /// D of the primary and of the secondary axis.
    pub(super) fn dispersion(&self) -> [f64; 2] {
        self.dispersion
    }

    /// Adds what the last update counted.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.tests = self.pairing.work().map(|(tests, _)| tests).sum();
        stats.counts.push(("candidates", self.candidates.total() as f64));
        stats.counts.push(("dispersion primary", self.dispersion[0]));
        stats.counts.push(("dispersion secondary", self.dispersion[1]));
        super::count_shares(stats, self.pairing.work());
    }

    pub(super) fn bytes(&self) -> usize {
        (self.members.capacity() + self.order.capacity()) * size_of::<u32>()
            + self.sorts.iter().map(CoherentSort::bytes).sum::<usize>()
            + self.scratch.bytes()
            + self.candidates.bytes()
            + self.pairing.bytes()
    }
}
