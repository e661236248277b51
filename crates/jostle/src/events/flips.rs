//! Pairs that began or ended, collected in any order, sorted once and told apart.
//!
//! A flip is one word: the pair, and in the lowest bit whether it began. So one sort of words does
//! for both kinds, and a pair that is there in both kinds, because it only changed its place in a
//! report, is found next to itself. Sorting 27 000 flips of 100 000 boxes by digits takes 0.55 of
//! the time that sorting two lists of pairs by comparison does; taking out both kinds without a
//! branch a third of that of a merge of two lists. (Trial: reports of `bvh`, uniform, density
//! 0.35, every step timed as the least of seven.)

use crate::ds::pair_sort::tasks_for;
use crate::ds::radix_sort::sort_words;
use crate::pair::Pair;
use crate::par::Workers;

/// With more slots than this, a pair and its mark do not fit a word.
pub(super) const MOST_SLOTS: usize = 1 << 31;

/// The flip of a pair that ended.
#[inline(always)]
pub(super) fn gone(pair: Pair) -> u64 {
    pair.key() << 1
}

/// The flip of a pair that began.
#[inline(always)]
pub(super) fn fresh(pair: Pair) -> u64 {
    pair.key() << 1 | 1
}

/// Flips of a step, and memory to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Flips {
    pub(super) words: Vec<u64>,
    spare: Vec<u64>,
}

impl Flips {
    /// Leaves the pairs that flipped in one way only, ascending, in `began` and `ended`.
    pub(super) fn settle(
        &mut self,
        workers: &Workers,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        if tasks_for(self.words.len(), workers) > 1 {
            workers.sort(&mut self.words);
        } else {
            sort_words(&mut self.words, &mut self.spare);
        }
        split(&self.words, began, ended);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.words.capacity() + self.spare.capacity()) * size_of::<u64>()
    }
}

/// Writes every pair to both lists and keeps it in one, in the other or in none: which it is cannot
/// be predicted.
fn split(words: &[u64], began: &mut Vec<Pair>, ended: &mut Vec<Pair>) {
    let any = Pair::from_key(1);
    began.resize(words.len(), any);
    ended.resize(words.len(), any);
    let (mut begun, mut over) = (0, 0);
    // No flip differs from this in the lowest bit alone: no pair has such a key.
    let mut before = u64::MAX;
    for (place, &word) in words.iter().enumerate() {
        let after = words.get(place + 1).copied().unwrap_or(u64::MAX);
        let single = (word ^ before != 1) & (word ^ after != 1);
        before = word;
        let pair = Pair::from_key(word >> 1);
        began[begun] = pair;
        ended[over] = pair;
        begun += usize::from(single & (word & 1 == 1));
        over += usize::from(single & (word & 1 == 0));
    }
    began.truncate(begun);
    ended.truncate(over);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_in_both_kinds_did_not_flip() {
        let pair = |k: u32| Pair::from((k, k + 7));
        let largest = Pair::from((u32::MAX >> 1, (u32::MAX >> 1) - 1));
        for count in [0, 1, 2, 5, 400] {
            let mut flips = Flips::default();
            for k in (0..count).rev() {
                match k % 4 {
                    0 => flips.words.push(fresh(pair(k))),
                    1 => flips.words.push(gone(pair(k))),
                    _ => flips.words.extend([fresh(pair(k)), gone(pair(k))]),
                }
            }
            flips.words.push(gone(largest));
            let (mut began, mut ended) = (vec![pair(3)], Vec::new());
            flips.settle(&Workers::one(), &mut began, &mut ended);
            let kind = |kind: u32| (0..count).filter(move |k| k % 4 == kind).map(pair);
            assert_eq!(began, Vec::from_iter(kind(0)));
            assert_eq!(ended, Vec::from_iter(kind(1).chain([largest])));
        }
    }
}
