//! The set of pairs after some flips: ascending lists in, one ascending list out.
//!
//! Between two flips lies a run of pairs that stay. Eight pairs are copied at once, whatever the
//! length of the run, and counted without a branch as far as they come before the flip; only a run
//! that is longer than that is a branch. If flips are few, runs are long: then the end of a run is
//! searched for and the run copied as a whole.
//!
//! Each flip waits for the one before, so two halves of the list are merged in turns.

use super::flips::{is_fresh, key_of};
use crate::pair::Pair;
use crate::simd::{self, Kernel, Simd};

/// Pairs that are copied and compared at once.
const WINDOW: usize = 8;

/// If more than one pair in this many flips, runs are walked by windows.
const DENSE_FLIPS: usize = 24;

/// Writes ascending pairs without those that ended and with those that began, from flips that are
/// ascending, too.
///
/// # Panics
/// If a pair ended that is not there: the broad phase reported an end without a beginning.
pub(super) fn merge(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
    if flips.len() * DENSE_FLIPS > pairs.len() && pairs.len() > 2 * WINDOW {
        simd::run(MergeWindows { pairs, flips, merged });
    } else {
        merge_runs(pairs, flips, merged);
    }
}

/// Copies the runs between two flips.
fn merge_runs(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
    let (mut from, mut to) = (0, 0);
    let mut copy = |run: &[Pair]| {
        merged[to..to + run.len()].copy_from_slice(run);
        to += run.len();
    };
    for &flip in flips {
        let pair = Pair::from_key(key_of(flip));
        let at = gallop(pairs, from, &pair);
        check(pairs.get(at), pair, is_fresh(flip));
        copy(&pairs[from..at]);
        if is_fresh(flip) {
            copy(&[pair]);
            from = at;
        } else {
            from = at + 1;
        }
    }
    copy(&pairs[from..]);
}

/// Panics if the pair at the place of a flip is not as it should be.
#[inline(always)]
fn check(known: Option<&Pair>, pair: Pair, fresh: bool) {
    debug_assert!(!fresh || known != Some(&pair), "pair {pair} began twice");
    assert!(fresh || known == Some(&pair), "pair {pair} was reported ended but never began");
}

/// Merges two halves in turns.
struct MergeWindows<'a> {
    pairs: &'a [Pair],
    flips: &'a [u64],
    merged: &'a mut [Pair],
}

impl Kernel for MergeWindows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let MergeWindows { pairs, flips, merged } = self;
        let middle = flips.len() / 2;
        let key = flips.get(middle).map_or(u64::MAX, |&flip| key_of(flip));
        let cut = pairs.partition_point(|pair| pair.key() < key);
        let began = flips[..middle].iter().filter(|&&flip| is_fresh(flip)).count();
        let begin = (cut + began).saturating_sub(middle - began).min(merged.len());
        let (front, back) = merged.split_at_mut(begin);
        let mut one = Half::new(&pairs[..cut], &flips[..middle], front);
        let mut two = Half::new(&pairs[cut..], &flips[middle..], back);
        while one.advance() && two.advance() {}
        one.finish();
        two.finish();
    }
}

/// What is left of a list to merge.
struct Half<'a> {
    pairs: &'a [Pair],
    flips: &'a [u64],
    merged: &'a mut [Pair],
    from: usize,
    to: usize,
    next: usize,
}

impl<'a> Half<'a> {
    #[inline(always)]
    fn new(pairs: &'a [Pair], flips: &'a [u64], merged: &'a mut [Pair]) -> Half<'a> {
        Half { pairs, flips, merged, from: 0, to: 0, next: 0 }
    }

    /// Copies the pairs before the next flip, and follows it. Returns false, as before the flip or
    /// the part of its run that is left, if it is the last one or too near the end for windows.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        let Some(&flip) = self.flips.get(self.next) else { return false };
        let key = key_of(flip);
        loop {
            let window = self.pairs.get(self.from..).and_then(|rest| rest.first_chunk::<WINDOW>());
            let room = self.merged.get_mut(self.to..);
            let room = room.and_then(|rest| rest.first_chunk_mut::<{ WINDOW + 1 }>());
            let (Some(window), Some(room)) = (window, room) else { return false };
            room[..WINDOW].copy_from_slice(window);
            let before = count_before(window, key);
            self.from += before;
            self.to += before;
            if before < WINDOW {
                room[before] = Pair::from_key(key);
                let fresh = is_fresh(flip);
                check(Some(&window[before % WINDOW]), Pair::from_key(key), fresh);
                self.from += usize::from(!fresh);
                self.to += usize::from(fresh);
                self.next += 1;
                return true;
            }
        }
    }

    fn finish(self) {
        let (pairs, flips) = (&self.pairs[self.from..], &self.flips[self.next..]);
        merge_runs(pairs, flips, &mut self.merged[self.to..]);
    }
}

/// Counts the pairs whose keys are smaller, without a branch: keys are below 2^63, so the sign of
/// a difference tells.
#[inline(always)]
fn count_before(window: &[Pair; WINDOW], key: u64) -> usize {
    let signs = window.map(|pair| pair.key().wrapping_sub(key) >> 63);
    signs.iter().sum::<u64>() as usize
}

/// The first place at or after `from` whose pair is not below `wanted`; near ones are found fast.
fn gallop(pairs: &[Pair], from: usize, wanted: &Pair) -> usize {
    let mut step = 1;
    while from + step < pairs.len() && pairs[from + step] < *wanted {
        step *= 2;
    }
    let (low, high) = (from + step / 2, (from + step + 1).min(pairs.len()));
    let low = low.min(high);
    low + pairs[low..high].partition_point(|known| known < wanted)
}

/// Appends two ascending lists of flips as one, of which the second came later. A pair that flipped
/// in both is as it was.
///
/// # Panics
/// If a pair flipped twice in one way.
pub(super) fn merge_flips(earlier: &[u64], later: &[u64], merged: &mut Vec<u64>) {
    let mut earlier = earlier.iter().copied().peekable();
    for &flip in later {
        while let Some(before) = earlier.next_if(|&before| before | 1 < flip | 1) {
            merged.push(before);
        }
        match earlier.next_if(|&before| before | 1 == flip | 1) {
            None => merged.push(flip),
            Some(before) => {
                let pair = Pair::from_key(key_of(flip));
                let known = is_fresh(before).then_some(&pair);
                check(known, pair, is_fresh(flip));
            }
        }
    }
    merged.extend(earlier);
}

#[cfg(test)]
mod tests {
    use super::super::flips::{fresh, gone};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Set = BTreeSet<(u32, u32)>;

    fn list(set: &Set) -> Vec<Pair> {
        set.iter().map(|&pair| Pair::from(pair)).collect()
    }

    fn flips(began: &Set, ended: &Set) -> Vec<u64> {
        let began = began.iter().map(|&pair| fresh(Pair::from(pair)));
        let mut flips: Vec<u64> =
            began.chain(ended.iter().map(|&pair| gone(Pair::from(pair)))).collect();
        flips.sort_unstable();
        flips
    }

    fn set() -> impl Strategy<Value = Set> {
        prop::collection::btree_set((0u32..20, 20u32..50), 0..400)
    }

    fn merge_windows(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
        simd::run(MergeWindows { pairs, flips, merged });
    }

    proptest! {
        /// From no flips to nothing but flips, in every way; and two steps of flips at once.
        #[test]
        fn the_merged_list_is_the_new_set(
            old in set(), other in set(), third in set(), share in 0u32..=8,
        ) {
            let kept = |&(a, b): &(u32, u32)| (a * 31 + b * 17) % 8 < share;
            let changed = |set: &Set| set.iter().copied().filter(kept).collect::<Set>();
            let ended = changed(&old);
            let began: Set = changed(&other).difference(&old).copied().collect();
            let new: Set = old.difference(&ended).chain(&began).copied().collect();
            let one = flips(&began, &ended);
            let ways: [fn(&[Pair], &[u64], &mut [Pair]); 3] = [merge, merge_runs, merge_windows];
            for merge in ways {
                let mut merged = vec![Pair::from_key(1); new.len()];
                merge(&list(&old), &one, &mut merged);
                prop_assert_eq!(&merged, &list(&new));
            }
            let two = flips(
                &third.difference(&new).copied().collect(),
                &new.difference(&third).copied().collect(),
            );
            let mut both = Vec::new();
            merge_flips(&one, &two, &mut both);
            let expected = flips(
                &third.difference(&old).copied().collect(),
                &old.difference(&third).copied().collect(),
            );
            prop_assert_eq!(both, expected);
        }
    }

    #[test]
    #[should_panic(expected = "3-4 was reported ended but never began")]
    fn an_unknown_pair_that_ends_among_many_is_caught() {
        let pairs: Vec<Pair> = (0..40).map(|k| Pair::from((k, 90))).collect();
        let mut flips: Vec<u64> = pairs[..20].iter().map(|&pair| gone(pair)).collect();
        flips.extend([gone(Pair::from((3, 4))), fresh(Pair::from((80, 90)))]);
        flips.sort_unstable();
        merge(&pairs, &flips, &mut [pairs[0]; 40 + 1 - 21]);
    }

    #[test]
    #[should_panic(expected = "3-4 was reported ended but never began")]
    fn an_end_that_follows_an_end_is_caught() {
        let end = [gone(Pair::from((3, 4)))];
        merge_flips(&end, &end, &mut Vec::new());
    }
}
