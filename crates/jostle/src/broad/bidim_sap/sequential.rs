//! The paper's sequential version (Algorithm 1), which its speed-ups are measured against.
//!
//! ```text
//! for each endpoint i of the primary axis         c: lows so far; S: a tree of open ranks
//!   low:  R[i] <- c; R⁻[c] <- i; c + 1
//!         L[i] <- the least of S, or c if S is empty; S + R[i]
//!   high: U[i] <- c; S - R[i]
//! for each endpoint i of the secondary axis
//!   low:  for each r in S ∩ [L[i], U[i]): test i against R⁻[r]; S + R[i]
//!   high: S - R[i]
//! ```
//!
//! One pass over each axis and one tree over all ranks: none of the counting, the prefix sums and
//! the second look at the endpoints that the parallel stages need. Nothing is remembered from the
//! previous frame but memory.

use crate::boxes::Boxes;
use crate::ds::radix_sort::{item, sort_items};
use crate::ds::succ_tree::SuccTree;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::stats::{StageClock, Stats};

use super::axes::Axes;

/// Memory that the next frame uses again, and what the last one counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequential {
    /// Slots that hold boxes.
    members: Vec<u32>,
    items: Vec<u64>,
    spare: Vec<u64>,
    /// R: the rank of each member.
    rank: Vec<u32>,
    /// R⁻: the member of each rank.
    member: Vec<u32>,
    /// L and U of each member.
    lower: Vec<u32>,
    upper: Vec<u32>,
    /// S.
    open: SuccTree,
    tests: u64,
}

impl Sequential {
    /// Finds all pairs on the calling thread.
    pub(super) fn update(
        &mut self,
        boxes: &Boxes,
        axes: Axes,
        found: &mut PairBuffer,
        clock: &mut StageClock,
    ) -> Result<(), LimitReached> {
        self.members.clear();
        self.members.extend(boxes.live_slots().map(|slot| slot.get()));
        let count = self.members.len();
        for list in [&mut self.rank, &mut self.member, &mut self.lower, &mut self.upper] {
            list.resize(count, 0);
        }
        self.open.reset(count);
        self.tests = 0;
        self.sort(boxes, axes.primary);
        clock.end("sort primary");
        self.find_candidates();
        clock.end("candidates");
        self.sort(boxes, axes.secondary);
        clock.end("sort secondary");
        let result = self.pair(boxes, found.lane());
        clock.end("pairing");
        result
    }

    /// The sorted endpoints of an axis: `i` is the low one of member `i`, `i + count` its high one.
    fn sort(&mut self, boxes: &Boxes, axis: usize) {
        let (members, aabbs) = (&self.members, boxes.aabbs());
        let count = members.len();
        let lows = members.iter().map(|&slot| aabbs[slot as usize].min[axis]);
        let highs = members.iter().map(|&slot| aabbs[slot as usize].max[axis]);
        self.items.clear();
        self.items.extend(lows.chain(highs).zip(0..).map(|(key, index)| item(key, index)));
        self.spare.resize(2 * count, 0);
        sort_items(&mut self.items, &mut self.spare);
    }

    /// The first loop: ranks, and the range of ranks that may overlap each member.
    fn find_candidates(&mut self) {
        let Sequential { items, rank, member, lower, upper, open, .. } = self;
        let count = rank.len();
        let mut lows = 0;
        for &item in items.iter() {
            let i = item as u32 as usize;
            if i < count {
                (rank[i], member[lows as usize]) = (lows, i as u32);
                lows += 1;
                lower[i] = open.min().unwrap_or(lows);
                open.insert(rank[i]);
            } else {
                upper[i - count] = lows;
                open.remove(rank[i - count]);
            }
        }
    }

    /// The second loop.
    fn pair(&mut self, boxes: &Boxes, lane: &mut Lane) -> Result<(), LimitReached> {
        let (aabbs, filters) = (boxes.aabbs(), boxes.filters());
        let Sequential { members, items, rank, member, lower, upper, open, tests, .. } = self;
        let count = rank.len();
        for &item in items.iter() {
            let i = item as u32 as usize;
            if i >= count {
                open.remove(rank[i - count]);
                continue;
            }
            let slot = members[i] as usize;
            for other in open.range(lower[i]..upper[i]) {
                let other = members[member[other as usize] as usize] as usize;
                *tests += 1;
                if aabbs[slot].overlaps(&aabbs[other]) && filters[slot].allows(&filters[other]) {
                    lane.push(slot as u32, other as u32)?;
                }
            }
            open.insert(rank[i]);
        }
        Ok(())
    }

    /// Adds what the last update counted.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.tests = self.tests;
        let ranges = self.upper.iter().zip(&self.lower);
        let total: u64 = ranges.map(|(&end, &start)| u64::from(end.saturating_sub(start))).sum();
        stats.counts.push(("candidates", total as f64));
    }

    pub(super) fn bytes(&self) -> usize {
        let words = [&self.members, &self.rank, &self.member, &self.lower, &self.upper];
        let longs = self.items.capacity() + self.spare.capacity();
        words.iter().map(|list| list.capacity() * 4).sum::<usize>() + longs * 8 + self.open.bytes()
    }
}
