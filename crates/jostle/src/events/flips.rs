//! Pairs that began or ended, collected in any order, sorted once and told apart.
//!
//! A flip is one word: the pair, and in the lowest bit whether it began. So one sort of words does
//! for both kinds, and a pair that is there in both kinds, because it only changed its place in a
//! report, is found next to itself. Taking out both kinds without a branch takes a third of the
//! time of a merge of two lists.
//!
//! Flips are few for each box. So they are sorted by digits of their first slot alone, and the two
//! or three that share it are put in order afterwards (`ds::pair_sort` on several workers).

use crate::ds::pair_sort::{PairSorter, tasks_for};
use crate::ds::radix_sort::sort_rows;
use crate::pair::{Pair, PairBuffer};
use crate::par::Workers;

use super::PartEvents;

/// The most parts of the flips, whose beginnings are kept on the stack.
const MOST_PARTS: usize = 256;

/// With more slots than this, a pair and its mark do not fit a word.
pub(super) const MOST_SLOTS: usize = 1 << 31;

/// The flip of a pair that ended.
#[inline(always)]
pub(super) fn gone(pair: Pair) -> u64 {
    u64::from(pair.a().get()) << 32 | u64::from(pair.b().get()) << 1
}

/// The flip of a pair that began.
#[inline(always)]
pub(super) fn fresh(pair: Pair) -> u64 {
    gone(pair) | 1
}

/// The key of the pair of a flip.
#[inline(always)]
pub(super) fn key_of(flip: u64) -> u64 {
    flip & !0xffff_ffff | (flip & 0xffff_ffff) >> 1
}

/// Returns true if the pair of a flip began.
#[inline(always)]
pub(super) fn is_fresh(flip: u64) -> bool {
    flip & 1 == 1
}

/// Flips of a step, and memory to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Flips {
    pub(super) words: Vec<u64>,
    /// Of one worker.
    spare: Vec<u64>,
    sorter: PairSorter<u64>,
}

impl Flips {
    /// Takes what a delta report says, in any order.
    pub(super) fn collect(&mut self, found: &PairBuffer, workers: &Workers) {
        let lanes = found.lane_count();
        let (began, ended) = (found.len(), found.ended());
        self.words.resize(began + ended.len(), 0);
        if tasks_for(self.words.len(), workers) == 1 {
            let lists = found.slices().flatten().map(|&pair| fresh(pair));
            let all = lists.chain(ended.iter().map(|&pair| gone(pair)));
            return self.words.iter_mut().zip(all).for_each(|(word, flip)| *word = flip);
        }
        // A part for each lane, and as many, but one at least, for the ended pairs.
        let begin = |part: usize| match part.checked_sub(lanes) {
            None => (0..part).map(|lane| found.slice(lane).len()).sum(),
            Some(part) => began + ended.len() * part / lanes.max(1),
        };
        workers.for_each_part(
            &mut self.words,
            lanes + lanes.max(1),
            begin,
            |part, words| match part.checked_sub(lanes) {
                None => {
                    let pairs = found.slice(part).iter();
                    words.iter_mut().zip(pairs).for_each(|(word, &pair)| *word = fresh(pair));
                }
                Some(_) => {
                    let pairs = ended[begin(part) - began..].iter();
                    words.iter_mut().zip(pairs).for_each(|(word, &pair)| *word = gone(pair));
                }
            },
        );
    }

    /// Leaves the flips of pairs that flipped in one way only, ascending, and these pairs in
    /// `began` and `ended`.
    pub(super) fn settle(
        &mut self,
        slots: usize,
        workers: &Workers,
        parts: &mut Vec<PartEvents>,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        let tasks = tasks_for(self.words.len(), workers);
        if tasks == 1 {
            sort_rows(&mut self.words, &mut self.spare);
            let kept = split(&mut self.words, began, ended);
            return self.words.truncate(kept);
        }
        self.sorter.sort_slice(&mut self.words, slots, workers);
        self.split_in_parts(tasks, workers, parts, began, ended);
    }

    /// As [`split`], each part on its own. No part ends between the two flips of a pair.
    fn split_in_parts(
        &mut self,
        count: usize,
        workers: &Workers,
        parts: &mut Vec<PartEvents>,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
    ) {
        let count = count.min(MOST_PARTS);
        if parts.len() < count {
            parts.resize_with(count, PartEvents::default);
        }
        let parts = &mut parts[..count];
        let words = &mut self.words;
        let mut begins = [0; MOST_PARTS + 1];
        for (part, begin) in begins[..=count].iter_mut().enumerate() {
            let place = words.len() * part / count;
            let same = place > 0 && place < words.len() && words[place] ^ words[place - 1] == 1;
            *begin = place + usize::from(same);
        }
        workers.for_each_part_with(
            words,
            parts,
            |part| begins[part],
            |_, words, own| {
                own.kept = split(words, &mut own.began, &mut own.ended);
            },
        );
        // Mostly every flip counts, and all are where they belong.
        let mut end = 0;
        for (part, own) in parts.iter().enumerate() {
            if end < begins[part] {
                words.copy_within(begins[part]..begins[part] + own.kept, end);
            }
            end += own.kept;
        }
        words.truncate(end);
        let any = Pair::from_key(1);
        join_parts(parts, workers, began, any, |part| &part.began);
        join_parts(parts, workers, ended, any, |part| &part.ended);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.words.capacity() + self.spare.capacity()) * size_of::<u64>() + self.sorter.bytes()
    }
}

/// Writes a list of each part, one after the other, to one list.
pub(super) fn join_parts<T: Copy + Send + Sync>(
    parts: &[PartEvents],
    workers: &Workers,
    all: &mut Vec<T>,
    any: T,
    list: impl Fn(&PartEvents) -> &Vec<T> + Sync,
) {
    let begin = |part: usize| parts[..part].iter().map(|part| list(part).len()).sum::<usize>();
    all.resize(begin(parts.len()), any);
    workers.for_each_part(all, parts.len(), begin, |part, own| {
        own.copy_from_slice(list(&parts[part]));
    });
}

/// Writes every pair to both lists and keeps it in one, in the other or in none: which it is cannot
/// be predicted. Leaves the flips that count at the front and returns their number.
fn split(words: &mut [u64], began: &mut Vec<Pair>, ended: &mut Vec<Pair>) -> usize {
    let any = Pair::from_key(1);
    let fresh = words.iter().filter(|&&word| is_fresh(word)).count();
    // One place more than there are pairs, for those that are not kept.
    began.resize(fresh + 1, any);
    ended.resize(words.len() - fresh + 1, any);
    let (mut begun, mut over) = (0, 0);
    // No flip differs from this in the lowest bit alone: no pair has such a key.
    let mut before = u64::MAX;
    for place in 0..words.len() {
        let word = words[place];
        let after = words.get(place + 1).copied().unwrap_or(u64::MAX);
        let single = (word ^ before != 1) & (word ^ after != 1);
        before = word;
        let pair = Pair::from_key(key_of(word));
        words[begun + over] = word;
        began[begun] = pair;
        ended[over] = pair;
        begun += usize::from(single & is_fresh(word));
        over += usize::from(single & !is_fresh(word));
    }
    began.truncate(begun);
    ended.truncate(over);
    begun + over
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flips_order_as_pairs_do_and_keep_them() {
        let slots = [0, 1, 77, (1 << 30) - 1, 1 << 30, (1 << 31) - 2, (1 << 31) - 1];
        let mut before = 0;
        for (place, &a) in slots.iter().enumerate() {
            for &b in &slots[place + 1..] {
                let pair = Pair::from((a, b));
                assert!(before < gone(pair) && gone(pair) < fresh(pair));
                before = fresh(pair);
                for flip in [gone(pair), fresh(pair)] {
                    assert_eq!(Pair::from_key(key_of(flip)), pair);
                }
                assert!(is_fresh(fresh(pair)) && !is_fresh(gone(pair)));
            }
        }
    }

    /// On one worker and on several, few flips and enough for some parts.
    #[test]
    fn pairs_in_both_kinds_did_not_flip() {
        let pair = |k: u32| Pair::from((k, k + 7));
        let largest = Pair::from((u32::MAX >> 1, (u32::MAX >> 1) - 1));
        for (workers, count) in [1, 2, 3, 8].into_iter().flat_map(|workers| {
            [0, 1, 2, 5, 400, 60_000].map(|count| (Workers::new(workers).unwrap(), count))
        }) {
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
            let mut parts = Vec::new();
            let slots = if count < 1000 { MOST_SLOTS } else { 100_000 };
            if slots < MOST_SLOTS {
                flips.words.pop();
            }
            flips.settle(slots, &workers, &mut parts, &mut began, &mut ended);
            let kind = |kind: u32| (0..count).filter(move |k| k % 4 == kind).map(pair);
            let last = (slots == MOST_SLOTS).then_some(largest);
            assert!(began.iter().copied().eq(kind(0)));
            assert!(ended.iter().copied().eq(kind(1).chain(last)));
            let mut left: Vec<u64> = began.iter().map(|&pair| fresh(pair)).collect();
            left.extend(ended.iter().map(|&pair| gone(pair)));
            left.sort_unstable();
            assert!(flips.words == left);
        }
    }
}
