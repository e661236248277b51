//! The set of pairs after some flips: ascending lists in, one ascending list out.
//!
//! If flips are few, the runs of pairs between them are long: the end of each is searched for and
//! the run copied as a whole. Else every turn writes one pair, from the set or from a flip, and
//! goes on by one in either list or in both: which it is cannot be predicted, so there is no branch
//! on it. Each turn waits for the one before, so two halves of the lists are merged in turns.
//!
//! What lost: copying eight pairs at once and counting those that come before the flip, 5.5 ms for
//! 1.4 million pairs and 0.5 million flips, where one by one takes 3.7 in two halves, 5.4 in one,
//! 3.6 in three and 4.2 in four. (Trial with random pairs in blocks of 4096, least of five; the
//! first was compiled for AVX2, the others for any x86-64.)

use super::flips::{is_fresh, key_of};
use crate::pair::Pair;

/// So few pairs are not worth halves.
const FEW_PAIRS: usize = 16;

/// If more than one pair in this many flips, pairs are written one by one.
const DENSE_FLIPS: usize = 24;

/// Writes ascending pairs without those that ended and with those that began, from flips that are
/// ascending, too.
///
/// # Panics
/// If a pair ended that is not there: the broad phase reported an end without a beginning.
pub(super) fn merge(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
    if flips.len() * DENSE_FLIPS > pairs.len() && pairs.len() > FEW_PAIRS {
        merge_dense(pairs, flips, merged);
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
fn merge_dense(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
    let cut = pairs.len() / 2;
    let middle = flips.partition_point(|&flip| key_of(flip) < pairs[cut].key());
    let began = flips[..middle].iter().filter(|&&flip| is_fresh(flip)).count();
    let begin = (cut + began).saturating_sub(middle - began).min(merged.len());
    let (front, back) = merged.split_at_mut(begin);
    let mut one = Half::new(&pairs[..cut], &flips[..middle], front);
    let mut two = Half::new(&pairs[cut..], &flips[middle..], back);
    while one.advance() & two.advance() {}
    while one.advance() {}
    while two.advance() {}
    if one.strange | two.strange {
        // Says which pair it is.
        merge_runs(pairs, flips, merged);
        panic!("a pair began that was there already");
    }
    one.finish();
    two.finish();
}

/// What is left of a list to merge.
struct Half<'a> {
    pairs: &'a [Pair],
    flips: &'a [u64],
    merged: &'a mut [Pair],
    from: usize,
    to: usize,
    next: usize,
    /// True if a pair ended that is not there, or began and was there.
    strange: bool,
}

impl<'a> Half<'a> {
    #[inline(always)]
    fn new(pairs: &'a [Pair], flips: &'a [u64], merged: &'a mut [Pair]) -> Half<'a> {
        Half { pairs, flips, merged, from: 0, to: 0, next: 0, strange: false }
    }

    /// Writes the next pair or follows the next flip. Returns false if a list is at its end.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        let (next, room) = (self.flips.get(self.next), self.merged.get_mut(self.to));
        let (Some(pair), Some(&flip), Some(room)) = (self.pairs.get(self.from), next, room) else {
            return false;
        };
        let (pair, key) = (pair.key(), key_of(flip));
        *room = Pair::from_key(if pair < key { pair } else { key });
        self.strange |= (pair >= key) & ((pair == key) == is_fresh(flip));
        self.from += usize::from(pair <= key);
        self.next += usize::from(key <= pair);
        self.to += usize::from(pair != key);
        true
    }

    fn finish(self) {
        let (pairs, flips) = (&self.pairs[self.from..], &self.flips[self.next..]);
        merge_runs(pairs, flips, &mut self.merged[self.to..]);
    }
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

/// Writes two ascending lists of flips as one, of which the second came later, to `merged`, which
/// has a place for each. A pair that flipped in both is as it was. Returns the number of flips.
///
/// Which list is the next one's cannot be predicted, so both are looked at and either or both go on
/// by one.
///
/// # Panics
/// If a pair flipped twice in one way.
pub(super) fn merge_flips(earlier: &[u64], later: &[u64], merged: &mut [u64]) -> usize {
    let (mut one, mut two, mut end) = (0, 0, 0);
    let mut twice = None;
    while let (Some(&first), Some(&second)) = (earlier.get(one), later.get(two)) {
        let (pair, other) = (first >> 1, second >> 1);
        merged[end] = if pair < other { first } else { second };
        one += usize::from(pair <= other);
        two += usize::from(other <= pair);
        end += usize::from(pair != other);
        if first == second {
            twice = Some(first);
        }
    }
    if let Some(flip) = twice {
        let pair = Pair::from_key(key_of(flip));
        check(is_fresh(flip).then_some(&pair), pair, is_fresh(flip));
    }
    for rest in [&earlier[one..], &later[two..]] {
        merged[end..end + rest.len()].copy_from_slice(rest);
        end += rest.len();
    }
    end
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

    fn merge_by_halves(pairs: &[Pair], flips: &[u64], merged: &mut [Pair]) {
        if pairs.is_empty() {
            merge(pairs, flips, merged)
        } else {
            merge_dense(pairs, flips, merged)
        }
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
            let ways: [fn(&[Pair], &[u64], &mut [Pair]); 3] = [merge, merge_runs, merge_by_halves];
            for merge in ways {
                let mut merged = vec![Pair::from_key(1); new.len()];
                merge(&list(&old), &one, &mut merged);
                prop_assert_eq!(&merged, &list(&new));
            }
            let two = flips(
                &third.difference(&new).copied().collect(),
                &new.difference(&third).copied().collect(),
            );
            let mut both = vec![0; one.len() + two.len()];
            let length = merge_flips(&one, &two, &mut both);
            both.truncate(length);
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
        merge_flips(&end, &end, &mut [0; 2]);
    }
}
