//! Candidate ranges on the primary axis (Algorithms 1 and 3).
//!
//! ```text
//! cut the 2n sorted endpoints into m parts                    in each part p, in parallel
//! c[p] <- number of low endpoints; exclusive prefix sums      count
//! R[i] <- c'[p]++ and R⁻[R[i]] <- i at each low endpoint      rank
//! S[p] <- S[p] ⊕ {R[i]} at each endpoint; exclusive prefix ⊕  toggle
//! at a low endpoint:  L <- min S[p], or R[i] + 1 if empty; S[p] + R[i]
//! at a high endpoint: U <- low endpoints so far;           S[p] - R[i]
//! ```
//!
//! The boxes whose ranks lie in `[L, U)` are a superset of those that overlap box `i` on the
//! axis. Departures: L and U are stored by rank instead of by box, so that each part writes its
//! own stretch of L; R and U are written at scattered places, each by one part only, through
//! relaxed atomics, which are plain stores.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::ds::regions::{Regions, for_each_region};
use crate::ds::succ_tree::SuccTree;
use crate::par::Workers;

/// Ranks and candidate ranges of all members.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// R: by member, its place among the low endpoints.
    rank: Vec<AtomicU32>,
    /// R⁻: by rank, the member.
    member: Vec<u32>,
    /// L: by rank, the first candidate.
    lower: Vec<u32>,
    /// U: by rank, one past the last candidate.
    upper: Vec<AtomicU32>,
    /// Low endpoints before each part, and all of them at the end.
    before: Vec<usize>,
    trees: Vec<SuccTree>,
}

impl Clone for Candidates {
    fn clone(&self) -> Candidates {
        let copy = |atomics: &[AtomicU32]| -> Vec<AtomicU32> {
            atomics.iter().map(|atomic| AtomicU32::new(atomic.load(Relaxed))).collect()
        };
        Candidates {
            rank: copy(&self.rank),
            member: self.member.clone(),
            lower: self.lower.clone(),
            upper: copy(&self.upper),
            before: self.before.clone(),
            trees: self.trees.clone(),
        }
    }
}

impl Candidates {
    /// Computes everything from the sorted endpoints of `count` members: `i` is the low endpoint
    /// of member `i`, `i + count` its high one.
    pub(super) fn generate(
        &mut self,
        order: &[u32],
        count: usize,
        parts: usize,
        workers: &Workers,
    ) {
        self.resize(count, parts);
        self.count_lows(order, count, workers);
        self.assign_ranks(order, count, workers);
        self.toggle(order, count, workers);
        prefix_symmetric_differences(&mut self.trees, workers);
        self.find_ranges(order, count, workers);
    }

    /// R of a member.
    #[inline(always)]
    pub(super) fn rank(&self, member: usize) -> u32 {
        self.rank[member].load(Relaxed)
    }

    /// R⁻ of a rank.
    #[inline(always)]
    pub(super) fn member(&self, rank: u32) -> u32 {
        self.member[rank as usize]
    }

    /// L and U of a rank.
    #[inline(always)]
    pub(super) fn range(&self, rank: u32) -> (u32, u32) {
        (self.lower[rank as usize], self.upper[rank as usize].load(Relaxed))
    }

    /// Sum of the lengths of all candidate ranges.
    pub(super) fn total(&self) -> u64 {
        let upper = self.upper.iter().map(|upper| upper.load(Relaxed));
        upper.zip(&self.lower).map(|(upper, &lower)| u64::from(upper.saturating_sub(lower))).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        let words = self.rank.capacity() + self.member.capacity() + self.lower.capacity();
        (words + self.upper.capacity()) * 4
            + self.before.capacity() * size_of::<usize>()
            + self.trees.iter().map(SuccTree::bytes).sum::<usize>()
    }

    fn resize(&mut self, count: usize, parts: usize) {
        self.rank.resize_with(count, AtomicU32::default);
        self.upper.resize_with(count, AtomicU32::default);
        self.member.resize(count, 0);
        self.lower.resize(count, 0);
        self.before.resize(parts + 1, 0);
        // The prefix sums run over a power of two; the trees beyond the parts stay empty.
        self.trees.resize_with(parts.next_power_of_two(), SuccTree::default);
        for tree in &mut self.trees {
            if tree.capacity() == count { tree.clear() } else { tree.reset(count) }
        }
    }

    fn parts(&self) -> usize {
        self.before.len() - 1
    }

    fn count_lows(&mut self, order: &[u32], count: usize, workers: &Workers) {
        let parts = self.parts();
        workers.for_each(&mut self.before[..parts], |part, before| {
            let lows = part_of(order, part, parts).iter().filter(|&&i| (i as usize) < count);
            *before = lows.count();
        });
        let mut sum = 0;
        for before in &mut self.before {
            sum += std::mem::replace(before, sum);
        }
        self.before[parts] = count;
    }

    fn assign_ranks(&mut self, order: &[u32], count: usize, workers: &Workers) {
        let (parts, before, rank) = (self.parts(), &self.before, &self.rank);
        let members = Regions::new(&mut self.member, |part| before[part]);
        for_each_region(workers, 0..parts, members, &|part, members| {
            let lows = part_of(order, part, parts).iter().filter(|&&i| (i as usize) < count);
            for ((place, &i), member) in lows.enumerate().zip(members) {
                rank[i as usize].store((before[part] + place) as u32, Relaxed);
                *member = i;
            }
        });
    }

    /// Leaves in the tree of each part the boxes with one endpoint in it.
    fn toggle(&mut self, order: &[u32], count: usize, workers: &Workers) {
        let (parts, rank) = (self.parts(), &self.rank);
        workers.for_each(&mut self.trees[..parts], |part, tree| {
            for &i in part_of(order, part, parts) {
                let member = if (i as usize) < count { i as usize } else { i as usize - count };
                tree.toggle(rank[member].load(Relaxed));
            }
        });
    }

    fn find_ranges(&mut self, order: &[u32], count: usize, workers: &Workers) {
        let (parts, before) = (self.parts(), &self.before);
        let (rank, upper) = (&self.rank, &self.upper);
        let lower = Regions::new(&mut self.lower, |part| before[part]);
        let trees = Regions::new(&mut self.trees[..parts], |part| part);
        for_each_region(workers, 0..parts, (lower, trees), &|part, (lower, trees)| {
            let (first, tree) = (before[part], &mut trees[0]);
            let mut lows = 0;
            for &i in part_of(order, part, parts) {
                if (i as usize) < count {
                    let own = (first + lows) as u32;
                    lower[lows] = tree.min().unwrap_or(own + 1);
                    tree.insert(own);
                    lows += 1;
                } else {
                    let own = rank[i as usize - count].load(Relaxed);
                    upper[own as usize].store((first + lows) as u32, Relaxed);
                    tree.remove(own);
                }
            }
        });
    }
}

/// Part `part` of `parts` equal parts of a slice.
pub(super) fn part_of<T>(slice: &[T], part: usize, parts: usize) -> &[T] {
    &slice[slice.len() * part / parts..slice.len() * (part + 1) / parts]
}

/// Exclusive prefix sums with ⊕ for +, up and down a binary tree (Blelloch, *Prefix Sums and
/// Their Applications*). The number of trees must be a power of two.
fn prefix_symmetric_differences(trees: &mut [SuccTree], workers: &Workers) {
    let count = trees.len();
    let strides = || (0..count.trailing_zeros()).map(|level| 1usize << level);
    for stride in strides() {
        workers.for_each_chunk(trees, 2 * stride, |_, chunk| {
            let (left, right) = chunk.split_at_mut(stride);
            right[stride - 1].symmetric_difference_with(&left[stride - 1]);
        });
    }
    trees[count - 1].clear();
    for stride in strides().rev() {
        workers.for_each_chunk(trees, 2 * stride, |_, chunk| {
            let (left, right) = chunk.split_at_mut(stride);
            let (left, right) = (&mut left[stride - 1], &mut right[stride - 1]);
            std::mem::swap(left, right);
            right.symmetric_difference_with(left);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Endpoints in order: by value, low before high, then by index.
    fn sorted_endpoints(intervals: &[(i32, i32)]) -> Vec<u32> {
        let count = intervals.len();
        let value = |&i: &u32| {
            let i = i as usize;
            if i < count { intervals[i].0 } else { intervals[i - count].1 }
        };
        let mut order: Vec<u32> = (0..2 * count as u32).collect();
        order.sort_by_key(value);
        order
    }

    proptest! {
        #[test]
        fn ranges_hold_every_overlap_and_end_where_they_must(
            intervals in prop::collection::vec((-30i32..30, 0i32..12), 0..80),
            parts in 1usize..9,
            threads in 1usize..3,
        ) {
            let intervals: Vec<_> = intervals.iter().map(|&(at, size)| (at, at + size)).collect();
            let order = sorted_endpoints(&intervals);
            let mut candidates = Candidates::default();
            let workers = Workers::new(threads).unwrap();
            candidates.generate(&order, intervals.len(), parts, &workers);
            for (i, a) in intervals.iter().enumerate() {
                let rank = candidates.rank(i);
                prop_assert_eq!(candidates.member(rank) as usize, i);
                let (lower, upper) = candidates.range(rank);
                let begun = intervals.iter().filter(|b| b.0 <= a.1).count();
                prop_assert_eq!(upper as usize, begun, "U counts the lows up to the high end");
                let overlap = |j: &usize| intervals[*j].0 <= a.1 && a.0 <= intervals[*j].1;
                let others = (0..intervals.len()).filter(overlap).filter(|&j| j != i);
                for other in others.map(|j| candidates.rank(j)) {
                    prop_assert!((lower..upper).contains(&other));
                }
                // L is the first that is still open: nothing before it overlaps.
                if lower < rank {
                    prop_assert!(overlap(&(candidates.member(lower) as usize)));
                }
            }
        }

        #[test]
        fn prefix_sums_agree_with_a_plain_loop(
            sets in prop::collection::vec(prop::collection::vec(0u32..300, 0..40), 1..9),
        ) {
            let mut sets = sets;
            sets.resize(sets.len().next_power_of_two(), Vec::new());
            let mut trees: Vec<SuccTree> = sets.iter().map(|values| {
                let mut tree = SuccTree::new(300);
                values.iter().for_each(|&value| tree.toggle(value));
                tree
            }).collect();
            let originals = trees.clone();
            prefix_symmetric_differences(&mut trees, &Workers::one());
            let mut sum = SuccTree::new(300);
            for (prefix, original) in trees.iter().zip(&originals) {
                prop_assert!(prefix.iter().eq(sum.iter()));
                sum.symmetric_difference_with(original);
            }
        }
    }
}
