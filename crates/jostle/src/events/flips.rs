//! Pairs that began or ended, collected in any order, sorted once and told apart.
//!
//! A flip is one word: the pair, and in the lowest bit whether it began. So one sort of words does
//! for both kinds, and a pair that is there in both kinds, because it only changed its place in a
//! report, is found next to itself. Taking out both kinds without a branch takes a third of the
//! time of a merge of two lists.
//!
//! Flips are few for each box. So they are sorted by digits of their first slot alone, and the two
//! or three that share it are put in order afterwards (`flip_sort.rs`; `ds::pair_sort` on several
//! workers). They are read from where they were found and written to where they are wanted: a copy
//! in between is a pass more.

use super::flip_sort::FlipSorter;
use crate::ds::pair_sort::{Keys, PairSorter, tasks_for};
use crate::pair::Pair;
use crate::par::Workers;

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

/// Flips in any order, as whoever found them wrote them.
#[derive(Clone, Copy)]
pub(super) enum FlipList<'a> {
    Began(&'a [Pair]),
    Ended(&'a [Pair]),
    Flips(&'a [u64]),
}

impl FlipList<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            FlipList::Began(pairs) | FlipList::Ended(pairs) => pairs.len(),
            FlipList::Flips(words) => words.len(),
        }
    }

    /// Calls `with` for each flip from one place to another.
    #[inline(always)]
    fn each(self, from: usize, to: usize, mut with: impl FnMut(u64)) {
        match self {
            FlipList::Began(pairs) => pairs[from..to].iter().for_each(|&pair| with(fresh(pair))),
            FlipList::Ended(pairs) => pairs[from..to].iter().for_each(|&pair| with(gone(pair))),
            FlipList::Flips(words) => words[from..to].iter().for_each(|&word| with(word)),
        }
    }
}

/// Lists of flips, one after the other.
pub(super) struct FlipLists<'a, L> {
    pub(super) list: L,
    /// Where each list begins, and their end.
    pub(super) begins: &'a [usize],
}

impl<'l, L: Fn(usize) -> FlipList<'l> + Sync> Keys<u64> for FlipLists<'_, L> {
    fn count(&self) -> usize {
        self.begins[self.begins.len() - 1]
    }

    #[inline(always)]
    fn each(&self, from: usize, to: usize, mut with: impl FnMut(u64)) {
        let first = self.begins.partition_point(|&begin| begin <= from).saturating_sub(1);
        for number in first..self.begins.len() - 1 {
            let (begin, end) = (self.begins[number], self.begins[number + 1]);
            if begin >= to {
                break;
            }
            (self.list)(number).each(from.max(begin) - begin, to.min(end) - begin, &mut with);
        }
    }
}

/// What one task sorted; on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct SortedPart {
    /// Where the part begins among the sorted flips.
    begin: usize,
    /// Flips of pairs that flipped in one way only, and how many of them began.
    kept: usize,
    fresh: usize,
    /// Where its began pairs, its ended ones and its flips are written.
    places: [usize; 3],
}

/// Flips of a step, and memory to sort them.
#[derive(Clone, Debug, Default)]
pub(super) struct Flips {
    /// Sorted, those of pairs that flipped in both ways among them.
    words: Vec<u64>,
    /// Where each list begins.
    begins: Vec<usize>,
    one: FlipSorter,
    sorter: PairSorter<u64>,
    parts: Vec<SortedPart>,
    /// Number of parts; 0 if the words were sorted as a whole.
    tasks: usize,
}

impl Flips {
    /// Sorts the flips of some lists and returns their number.
    pub(super) fn sort<'l>(
        &mut self,
        lists: usize,
        list: impl Fn(usize) -> FlipList<'l> + Sync,
        slots: usize,
        workers: &Workers,
    ) -> usize {
        let mut total = 0;
        self.begins.clear();
        self.begins.push(0);
        self.begins.extend((0..lists).map(|number| {
            total += list(number).len();
            total
        }));
        if self.words.capacity() < total {
            // The next step has about as many.
            self.words.reserve_exact(total + total / 8 - self.words.len());
        }
        self.words.resize(total, 0);
        let lists = FlipLists { list, begins: &self.begins };
        self.tasks = tasks_for(total, workers);
        if self.tasks > 1 {
            self.parts.resize_with(self.tasks.max(self.parts.len()), SortedPart::default);
            let (words, parts) = (&mut self.words, &mut self.parts[..self.tasks]);
            let count = |part: &mut SortedPart, begin: usize, words: &mut [u64]| {
                part.begin = begin;
                (part.kept, part.fresh) = count_kept(words);
            };
            if self.sorter.sort_parts(&lists, slots, workers, words, parts, count) {
                return total;
            }
        }
        self.tasks = 0;
        self.one.sort(&lists, slots, &mut self.words);
        total
    }

    /// Writes the flips of pairs that flipped in one way only, ascending, to the beginning of
    /// `flips`, and these pairs to `began` and `ended`. Returns the number of the flips.
    pub(super) fn write(
        &mut self,
        workers: &Workers,
        began: &mut Vec<Pair>,
        ended: &mut Vec<Pair>,
        flips: &mut [u64],
    ) -> usize {
        if self.tasks == 0 {
            return split(&self.words, began, ended, flips);
        }
        let (words, parts) = (&self.words, &mut self.parts[..self.tasks]);
        let mut ends = [0; 3];
        for part in parts.iter_mut() {
            part.places = ends;
            let more = [part.fresh, part.kept - part.fresh, part.kept];
            ends = [0, 1, 2].map(|list| ends[list] + more[list]);
        }
        resize(began, ends[0]);
        resize(ended, ends[1]);
        let lists = (&mut began[..], &mut ended[..], &mut flips[..ends[2]]);
        // A part learns where the next one begins from its own counts.
        let end_of = |part: &SortedPart| {
            let [began, ended, flips] = part.places;
            [began + part.fresh, ended + part.kept - part.fresh, flips + part.kept]
        };
        let ranges: &[SortedPart] = parts;
        let begin = |part: usize| part.checked_sub(1).map_or([0; 3], |last| end_of(&ranges[last]));
        let end = |part: usize| ranges.get(part + 1).map_or(words.len(), |next| next.begin);
        workers.for_each_three_parts(ranges.len(), lists, begin, |part, (began, ended, flips)| {
            split_counted(&words[ranges[part].begin..end(part)], began, ended, flips);
        });
        ends[2]
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let words = self.words.capacity() + self.begins.capacity();
        let parts = self.parts.capacity() * size_of::<SortedPart>();
        words * size_of::<u64>() + parts + self.one.bytes() + self.sorter.bytes()
    }
}

/// Makes a list of events as long as it will be. The next step has about as many.
fn resize(events: &mut Vec<Pair>, length: usize) {
    if events.capacity() < length {
        events.reserve_exact(length + length / 8 - events.len());
    }
    events.resize(length, Pair::from_key(1));
}

/// Calls `with` for each flip, and whether its pair flipped in one way only.
#[inline(always)]
fn each_single(words: &[u64], mut with: impl FnMut(u64, bool)) {
    // No flip differs from this in the lowest bit alone: no pair has such a key.
    let mut before = u64::MAX;
    for (place, &word) in words.iter().enumerate() {
        let after = words.get(place + 1).copied().unwrap_or(u64::MAX);
        let single = (word ^ before != 1) & (word ^ after != 1);
        before = word;
        with(word, single);
    }
}

/// Counts the flips of pairs that flipped in one way only, and those of them that began.
fn count_kept(words: &[u64]) -> (usize, usize) {
    let (mut kept, mut fresh) = (0, 0);
    each_single(words, |word, single| {
        kept += usize::from(single);
        fresh += usize::from(single & is_fresh(word));
    });
    (kept, fresh)
}

/// Writes every pair to both lists and keeps it in one, in the other or in none: which it is cannot
/// be predicted. Writes the flips that count to `flips`, which has room for all, and returns their
/// number.
fn split(words: &[u64], began: &mut Vec<Pair>, ended: &mut Vec<Pair>, flips: &mut [u64]) -> usize {
    let fresh = words.iter().filter(|&&word| is_fresh(word)).count();
    // One place more than there are pairs, for those that are not kept.
    resize(began, fresh + 1);
    resize(ended, words.len() - fresh + 1);
    let (mut begun, mut over) = (0, 0);
    each_single(words, |word, single| {
        let pair = Pair::from_key(key_of(word));
        flips[begun + over] = word;
        began[begun] = pair;
        ended[over] = pair;
        begun += usize::from(single & is_fresh(word));
        over += usize::from(single & !is_fresh(word));
    });
    began.truncate(begun);
    ended.truncate(over);
    begun + over
}

/// As [`split`], into lists that are as long as they will be. What is not kept is written to the
/// next place, too, and to none at the end of a list.
fn split_counted(words: &[u64], began: &mut [Pair], ended: &mut [Pair], flips: &mut [u64]) {
    let (mut begun, mut over) = (0, 0);
    each_single(words, |word, single| {
        let pair = Pair::from_key(key_of(word));
        if let Some(flip) = flips.get_mut(begun + over) {
            *flip = word;
        }
        if let Some(place) = began.get_mut(begun) {
            *place = pair;
        }
        if let Some(place) = ended.get_mut(over) {
            *place = pair;
        }
        begun += usize::from(single & is_fresh(word));
        over += usize::from(single & !is_fresh(word));
    });
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
            let mut words = Vec::new();
            for k in (0..count).rev() {
                match k % 4 {
                    0 => words.push(fresh(pair(k))),
                    1 => words.push(gone(pair(k))),
                    _ => words.extend([fresh(pair(k)), gone(pair(k))]),
                }
            }
            let slots = if count < 1000 { MOST_SLOTS } else { 100_000 };
            let last = (slots == MOST_SLOTS).then_some(largest);
            words.extend(last.map(gone));
            let (mut began, mut ended) = (vec![pair(3)], Vec::new());
            let mut flips = Flips::default();
            for lists in [1, 2, 700, 3] {
                let begin = |list: usize| words.len() * list / lists;
                let list = |list: usize| FlipList::Flips(&words[begin(list)..begin(list + 1)]);
                let total = flips.sort(lists, list, slots, &workers);
                assert_eq!(total, words.len());
                let mut left = vec![0; total];
                let kept = flips.write(&workers, &mut began, &mut ended, &mut left);
                left.truncate(kept);
                let kind = |kind: u32| (0..count).filter(move |k| k % 4 == kind).map(pair);
                assert!(began.iter().copied().eq(kind(0)));
                assert!(ended.iter().copied().eq(kind(1).chain(last)));
                let mut expected: Vec<u64> = began.iter().map(|&pair| fresh(pair)).collect();
                expected.extend(ended.iter().map(|&pair| gone(pair)));
                expected.sort_unstable();
                assert!(left == expected);
            }
        }
    }
}
