//! The paper's pairing (Algorithm 4): every partition sweeps the whole secondary axis.
//!
//! ```text
//! for each partition p of the ranks, in parallel: β, ε <- its bounds; S <- empty tree
//!   for each endpoint i of the secondary axis
//!     low:  for each r in S ∩ [L[i], U[i]) shrunk to [β, ε): test i against R⁻[r]
//!           if R[i] in [β, ε): S + R[i]
//!     high: if R[i] in [β, ε): S - R[i]
//! ```
//!
//! A box sits in the tree of one partition only, so every pair is found once, by the partition
//! of whichever of the two begins first on the secondary axis. No reduction follows.

use crate::boxes::Boxes;
use crate::ds::regions::{Regions, for_each_region};
use crate::ds::succ_tree::SuccTree;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;

use super::candidates::Candidates;

/// What the pairing reads.
pub(super) struct Input<'a> {
    pub boxes: &'a Boxes,
    /// Slots of the boxes that take part.
    pub members: &'a [u32],
    pub candidates: &'a Candidates,
    /// Endpoints of the secondary axis in order.
    pub order: &'a [u32],
}

/// The work of one partition, and its tree, which the next frame reuses; on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct Partition {
    tree: SuccTree,
    tests: u64,
    pairs: u64,
    result: Option<LimitReached>,
}

/// The partitions of the last frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    partitions: Vec<Partition>,
}

impl Pairing {
    /// Finds all pairs, with `count` partitions and one lane for each.
    pub(super) fn pair(
        &mut self,
        input: &Input<'_>,
        count: usize,
        workers: &Workers,
        found: &mut PairBuffer,
    ) -> Result<(), LimitReached> {
        let total = input.members.len();
        self.partitions.resize_with(count, Partition::default);
        let lanes = Regions::new(found.lanes(count), |index| index);
        let partitions = Regions::new(&mut self.partitions, |index| index);
        for_each_region(workers, 0..count, (partitions, lanes), &|index, (partition, lane)| {
            let begin = (total * index / count) as u32;
            let end = (total * (index + 1) / count) as u32;
            partition[0].sweep(input, begin, end, &mut lane[0]);
        });
        let errors = self.partitions.iter().filter_map(|partition| partition.result);
        errors.into_iter().next().map_or(Ok(()), Err)
    }

    /// Overlap tests and pairs found, for each partition.
    pub(super) fn work(&self) -> impl Iterator<Item = (u64, u64)> + Clone {
        self.partitions.iter().map(|partition| (partition.tests, partition.pairs))
    }

    pub(super) fn bytes(&self) -> usize {
        self.partitions.iter().map(|partition| partition.tree.bytes()).sum()
    }
}

impl Partition {
    fn sweep(&mut self, input: &Input<'_>, begin: u32, end: u32, lane: &mut Lane) {
        let capacity = (end - begin) as usize;
        if self.tree.capacity() == capacity {
            self.tree.clear()
        } else {
            self.tree.reset(capacity)
        }
        self.tests = 0;
        let before = lane.pairs().len();
        self.result = self.sweep_endpoints(input, begin, end, lane).err();
        self.pairs = (lane.pairs().len() - before) as u64;
    }

    fn sweep_endpoints(
        &mut self,
        input: &Input<'_>,
        begin: u32,
        end: u32,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let count = input.members.len();
        for &i in input.order {
            if (i as usize) < count {
                let rank = input.candidates.rank(i as usize);
                let (lower, upper) = input.candidates.range(rank);
                if lower < end && begin < upper {
                    let local = lower.max(begin) - begin..upper.min(end) - begin;
                    self.test(input, i, local, begin, lane)?;
                }
                if (begin..end).contains(&rank) {
                    self.tree.insert(rank - begin);
                }
            } else {
                let rank = input.candidates.rank(i as usize - count);
                if (begin..end).contains(&rank) {
                    self.tree.remove(rank - begin);
                }
            }
        }
        Ok(())
    }

    /// Tests a member against the open ones in a range of local ranks.
    #[inline]
    fn test(
        &mut self,
        input: &Input<'_>,
        member: u32,
        range: std::ops::Range<u32>,
        begin: u32,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let (aabbs, filters) = (input.boxes.aabbs(), input.boxes.filters());
        let slot = input.members[member as usize];
        let aabb = &aabbs[slot as usize];
        for rank in self.tree.range(range) {
            let other = input.members[input.candidates.member(rank + begin) as usize];
            self.tests += 1;
            if aabb.overlaps(&aabbs[other as usize])
                && filters[slot as usize].allows(&filters[other as usize])
            {
                lane.push(slot, other)?;
            }
        }
        Ok(())
    }
}
