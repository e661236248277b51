//! What two lists of different items do not share, if the second is the first with a few items
//! taken out, put in or moved.
//!
//! Both lists are walked side by side, by as many of the next eight as are equal. At a difference,
//! one item was put in, or taken out, or replaced: which of these it is cannot be predicted, so the
//! next two items of each list are compared and both differing items are written without a branch,
//! to be kept or overwritten. If it was none of the three, the item of each list is looked for
//! among the next [`REACH`] of the other, and what was skipped is unmatched. Items that moved
//! farther than that are unmatched in both lists, which is for the caller to settle: what is
//! unmatched in both did not change.
//!
//! Time O(m) for lists of m items. With 143 000 pairs of which a tenth changed, 0.80 ms; 1.20 when
//! each difference was searched for and both branched on. (Trial: reports of `bvh`, 100 000 boxes,
//! uniform, density 0.35, least of seven.)

use super::flips::{fresh, gone};
use crate::pair::Pair;
use crate::simd::equal_run::{BLOCK, equal_run};
use crate::simd::{self, Kernel, Simd};

/// How far ahead an item is looked for.
const REACH: usize = 16;

/// What is looked at in one turn.
const WINDOW: usize = BLOCK + REACH;

/// Words by which the list of unmatched items grows.
const GROWTH: usize = 1 << 10;

/// Appends to `unmatched` what could not be matched of the old list, as ended, and of the new one,
/// as began. Returns false, with `unmatched` in any state, if that are more than `most` items: then
/// the lists are not alike.
pub(crate) fn diff(old: &[Pair], new: &[Pair], most: usize, unmatched: &mut Vec<u64>) -> bool {
    if old.len().abs_diff(new.len()) > most {
        return false;
    }
    simd::run(Diff { old, new, most: most + unmatched.len(), unmatched })
}

struct Diff<'a> {
    old: &'a [Pair],
    new: &'a [Pair],
    /// The most words that `unmatched` may hold at the end.
    most: usize,
    unmatched: &'a mut Vec<u64>,
}

impl Kernel for Diff<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Diff { mut old, mut new, most, unmatched } = self;
        let mut end = unmatched.len();
        while let (Some(one), Some(other)) = (old.first_chunk(), new.first_chunk()) {
            if end + WINDOW > unmatched.len() {
                if end > most {
                    return false;
                }
                unmatched.resize(end + GROWTH, 0);
            }
            let step = turn(simd, one, other, &mut unmatched[end..]);
            end += step.unmatched;
            (old, new) = (&old[step.old..], &new[step.new..]);
        }
        unmatched.truncate(end);
        end <= most && diff_rest(old, new, most, unmatched)
    }
}

/// How far a turn got in each list, and how many unmatched items it wrote.
struct Turn {
    old: usize,
    new: usize,
    unmatched: usize,
}

/// Goes on by as many items as are equal, and past the first difference if there is one.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    old: &[Pair; WINDOW],
    new: &[Pair; WINDOW],
    unmatched: &mut [u64],
) -> Turn {
    let [old_block, new_block] = [old, new].map(|list| list.first_chunk().expect("it is longer"));
    let equal = equal_run(simd, old_block, new_block);
    let differ = equal < BLOCK;
    let (old, new) = (&old[equal..], &new[equal..]);
    let (inserted, removed) = (old[0] == new[1], old[1] == new[0]);
    let replaced = old[1] == new[1];
    let mut skip_old = usize::from(differ & !inserted);
    let mut skip_new = usize::from(differ & (inserted | !removed));
    if differ & !(inserted | removed | replaced) {
        (skip_old, skip_new) = search(old, new);
        old[..skip_old].iter().zip(&mut *unmatched).for_each(|(&pair, word)| *word = gone(pair));
        let rest = unmatched[skip_old..].iter_mut();
        new[..skip_new].iter().zip(rest).for_each(|(&pair, word)| *word = fresh(pair));
    } else {
        unmatched[0] = gone(old[0]);
        unmatched[skip_old] = fresh(new[0]);
    }
    Turn { old: equal + skip_old, new: equal + skip_new, unmatched: skip_old + skip_new }
}

/// How many items of each list to skip at a difference.
#[inline(always)]
fn search(old: &[Pair], new: &[Pair]) -> (usize, usize) {
    let (ahead_in_new, ahead_in_old) = (place_of(old[0], new), place_of(new[0], old));
    if ahead_in_new.min(ahead_in_old) >= REACH {
        (1, 1)
    } else if ahead_in_new <= ahead_in_old {
        (0, ahead_in_new)
    } else {
        (ahead_in_old, 0)
    }
}

/// The ends of the lists, one of which is shorter than a window.
#[inline(always)]
fn diff_rest(mut old: &[Pair], mut new: &[Pair], most: usize, unmatched: &mut Vec<u64>) -> bool {
    loop {
        let equal = old.iter().zip(new).take_while(|(one, other)| one == other).count();
        (old, new) = (&old[equal..], &new[equal..]);
        if old.is_empty() || new.is_empty() {
            break;
        }
        let (skip_old, skip_new) = search(old, new);
        unmatched.extend(old[..skip_old].iter().map(|&pair| gone(pair)));
        unmatched.extend(new[..skip_new].iter().map(|&pair| fresh(pair)));
        (old, new) = (&old[skip_old..], &new[skip_new..]);
        if unmatched.len() > most {
            return false;
        }
    }
    unmatched.extend(old.iter().map(|&pair| gone(pair)));
    unmatched.extend(new.iter().map(|&pair| fresh(pair)));
    unmatched.len() <= most
}

/// A pair as one word that compilers load at once.
#[inline(always)]
fn word(pair: Pair) -> u64 {
    u64::from(pair.a().get()) | u64::from(pair.b().get()) << 32
}

/// The place of an item among the next ones of a list; at least [`REACH`] if it is not there.
#[inline(always)]
fn place_of(item: Pair, list: &[Pair]) -> usize {
    let word_of_item = word(item);
    match list.first_chunk::<REACH>() {
        Some(window) => {
            let bit = |k: usize| u32::from(word(window[k]) == word_of_item) << k;
            (0..REACH).fold(0, |bits, k| bits | bit(k)).trailing_zeros() as usize
        }
        None => list.iter().position(|&other| other == item).unwrap_or(REACH),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flips::key_of;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn pair(k: u32) -> Pair {
        Pair::from((k, k + 1 + k % 5))
    }

    /// Unmatched items of the old and of the new list.
    fn by_kind(unmatched: &[u64]) -> (Vec<Pair>, Vec<Pair>) {
        let of = |kind: u64| unmatched.iter().filter(move |&&word| word & 1 == kind);
        let pairs = |kind: u64| of(kind).map(|&word| Pair::from_key(key_of(word))).collect();
        (pairs(0), pairs(1))
    }

    proptest! {
        /// Whatever was done to a list: what is unmatched in one list only is the difference.
        #[test]
        fn unmatched_items_settle_to_the_difference(
            items in prop::collection::btree_set(0u32..400, 0..200),
            edits in prop::collection::vec((any::<prop::sample::Index>(), 0u32..440), 0..40),
            turn in 0usize..40,
        ) {
            let old: Vec<Pair> = items.iter().map(|&k| pair(k)).collect();
            let mut new = old.clone();
            for (place, item) in edits {
                match new.iter().position(|&known| known == pair(item)) {
                    Some(at) => drop(new.remove(at)),
                    None => new.insert(place.index(new.len() + 1), pair(item)),
                }
            }
            let turn = turn.min(new.len());
            new.rotate_left(turn);
            let mut unmatched = vec![gone(pair(1000))];
            prop_assert!(diff(&old, &new, usize::MAX / 2, &mut unmatched));
            prop_assert_eq!(unmatched[0], gone(pair(1000)));
            let (gone, fresh) = by_kind(&unmatched[1..]);
            let set = |list: &[Pair]| list.iter().copied().collect::<BTreeSet<Pair>>();
            let (before, after) = (set(&old), set(&new));
            let (gone, fresh) = (set(&gone), set(&fresh));
            let ended: Vec<_> = before.difference(&after).collect();
            let began: Vec<_> = after.difference(&before).collect();
            prop_assert_eq!(gone.difference(&fresh).collect::<Vec<_>>(), ended);
            prop_assert_eq!(fresh.difference(&gone).collect::<Vec<_>>(), began);
        }
    }

    #[test]
    fn a_few_edits_leave_little_unmatched_and_other_lists_are_refused() {
        let old: Vec<Pair> = (0..10_000).map(pair).collect();
        let mut new = old.clone();
        new.remove(9_000);
        new.remove(77);
        new.insert(5_000, pair(20_000));
        new.swap(300, 301);
        let mut unmatched = Vec::new();
        assert!(diff(&old, &new, 5, &mut unmatched));
        let (gone, fresh) = by_kind(&unmatched);
        assert_eq!((gone.len(), fresh.len()), (3, 2));
        assert!(!diff(&old, &new, 4, &mut Vec::new()));
        let other: Vec<Pair> = old.iter().rev().copied().collect();
        let mut unmatched = Vec::new();
        assert!(!diff(&old, &other, 1000, &mut unmatched));
        assert!(unmatched.len() < 1000 + 2 * GROWTH);
        assert!(!diff(&old, &[], 1000, &mut Vec::new()));
    }
}
