//! [`PairSet`]: the set of all pairs, ascending, brought up to date when somebody asks.
//!
//! A step needs its events and not the set. So flips wait ([`FlipLog`]) until the set is asked for,
//! or until they are two thirds as many as the pairs: a set of a million pairs is not copied for a
//! handful of them, and not in every step for many. More would take more memory than it saves time.
//!
//! The set is merged with all flips that wait in one pass. Every part of it is a task, and within a
//! part blocks of pairs are merged one after the other with their flips, which are few enough to
//! stay in the cache.
//!
//! Asking takes a shared reference, from any number of threads: the first one merges.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::flip_log::{FlipLog, Folder, MOST_LISTS, Ranges};
use super::flips::{is_fresh, key_of};
use super::merge::merge;
use crate::ds::pair_sort::tasks_for;
use crate::pair::Pair;
use crate::par::Workers;

/// The most flips that wait, for a number of pairs.
fn most_waiting(pairs: usize) -> usize {
    pairs / 3 * 2
}

/// If there is at most one for this many pairs, lists of them are merged with each other when there
/// are too many lists, else with the set.
const VERY_RARE_FLIPS: usize = 64;

/// Pairs that are merged with their flips at once.
const BLOCK: usize = if cfg!(test) { 1 << 6 } else { 1 << 12 };

/// A set of pairs and the flips that it has not followed yet.
#[derive(Debug, Default)]
pub(super) struct PairSet {
    workers: Workers,
    /// The pairs before the flips that wait, ascending.
    pairs: Vec<Pair>,
    waiting: FlipLog,
    /// The pairs after them, once somebody has asked.
    merged: OnceLock<Vec<Pair>>,
    /// Memory for the next set; locked while somebody merges.
    spare: Mutex<Spare>,
}

#[derive(Debug, Default)]
struct Spare {
    pairs: Vec<Pair>,
    parts: Vec<MergePart>,
    /// Where the pairs of each part end after the merge.
    ends: Vec<usize>,
}

/// A part of the set that is merged by one task; on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct MergePart {
    /// The part's flips in each list.
    ranges: Ranges,
    /// Number of its pairs after the merge.
    length: usize,
    folder: Folder,
}

impl Clone for PairSet {
    fn clone(&self) -> PairSet {
        PairSet {
            workers: self.workers.clone(),
            pairs: self.pairs.clone(),
            waiting: self.waiting.clone(),
            merged: self.merged.clone(),
            ..PairSet::default()
        }
    }
}

impl PairSet {
    /// An empty set that merges on these workers.
    pub(super) fn new(workers: &Workers) -> PairSet {
        PairSet { workers: workers.clone(), ..PairSet::default() }
    }

    /// Every pair, ascending.
    pub(super) fn all(&self) -> &[Pair] {
        if self.waiting.is_empty() {
            return &self.pairs;
        }
        self.merged.get_or_init(|| {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            spare.merge(&self.pairs, &self.waiting, &self.workers);
            std::mem::take(&mut spare.pairs)
        })
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        self.waiting.length_after(self.pairs.len())
    }

    /// Returns true if the pair is in the set.
    pub(super) fn contains(&self, pair: Pair) -> bool {
        self.waiting.find(pair).unwrap_or_else(|| self.pairs.binary_search(&pair).is_ok())
    }

    /// Room for at most `count` flips of the next step, which [`PairSet::flip`] then takes.
    pub(super) fn room(&mut self, count: usize) -> &mut [u64] {
        self.settle_asked();
        let most = most_waiting(self.pairs.len());
        let waiting = self.waiting.len();
        let very_rare = waiting * VERY_RARE_FLIPS <= self.pairs.len();
        if waiting + count > most || (self.waiting.is_full() && !very_rare) {
            self.settle();
        } else if self.waiting.is_full() {
            self.merge_lists();
        }
        self.waiting.room(count, most_waiting(self.pairs.len()))
    }

    fn merge_lists(&mut self) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        if spare.parts.is_empty() {
            spare.parts.push(MergePart::default());
        }
        self.waiting.merge_last(&mut spare.parts[0].folder);
    }

    /// Follows the flips in the first `count` places of the room, ascending; `fresh` of them began.
    ///
    /// # Panics
    /// If a pair ended that is not in the set; if few pairs flip, in builds without debug
    /// assertions, not before the set is asked for.
    pub(super) fn flip(&mut self, count: usize, fresh: usize) {
        if cfg!(debug_assertions) {
            let ended = self.waiting.written(count).iter().filter(|&&flip| !is_fresh(flip));
            for pair in ended.map(|&flip| Pair::from_key(key_of(flip))) {
                let known = self.contains(pair);
                assert!(known, "pair {pair} was reported ended but never began");
            }
        }
        self.waiting.push(count, fresh);
        if self.waiting.len() > most_waiting(self.pairs.len()) {
            self.settle();
        }
    }

    /// Follows the events of a step whose pairs are too large for flips.
    ///
    /// # Panics
    /// If a pair ended that is not in the set.
    pub(super) fn follow(&mut self, began: &[Pair], ended: &[Pair]) {
        if let Some(pair) = ended.iter().find(|&&pair| !self.contains(pair)) {
            panic!("pair {pair} was reported ended but never began");
        }
        let (pairs, spare) = self.settled();
        spare.clear();
        spare.extend(pairs.iter().filter(|pair| ended.binary_search(pair).is_err()));
        spare.extend_from_slice(began);
        spare.sort_unstable();
        self.take_spare();
    }

    /// Follows the flips that wait, and returns the set and its spare memory.
    pub(super) fn settled(&mut self) -> (&[Pair], &mut Vec<Pair>) {
        self.settle();
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        (&self.pairs, &mut spare.pairs)
    }

    /// Exchanges the set for what is in its spare memory.
    pub(super) fn take_spare(&mut self) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut self.pairs, &mut spare.pairs);
    }

    fn settle(&mut self) {
        self.settle_asked();
        if !self.waiting.is_empty() {
            let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
            spare.merge(&self.pairs, &self.waiting, &self.workers);
            self.take_spare();
            self.waiting.clear();
        }
    }

    /// Goes over to the set that somebody asked for.
    fn settle_asked(&mut self) {
        if let Some(merged) = self.merged.take() {
            let before = std::mem::replace(&mut self.pairs, merged);
            self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).pairs = before;
            self.waiting.clear();
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let merged = self.merged.get().map_or(0, Vec::capacity);
        let pairs = self.pairs.capacity() + merged + spare.pairs.capacity();
        let parts = spare.parts.capacity() * size_of::<MergePart>()
            + spare.parts.iter().map(|part| part.folder.bytes()).sum::<usize>();
        pairs * size_of::<Pair>() + self.waiting.bytes() + parts
    }
}

impl Spare {
    /// Writes the set after some flips, each part of it on its own.
    fn merge(&mut self, pairs: &[Pair], flips: &FlipLog, workers: &Workers) {
        let count = tasks_for(pairs.len(), workers);
        if self.parts.len() < count {
            self.parts.resize_with(count, MergePart::default);
        }
        let parts = &mut self.parts[..count];
        let place = |part: usize| pairs.len() * part / count;
        workers.for_each(parts, |number, part| {
            let (from, to) = (place(number), place(number + 1));
            let first = if number == 0 { [0; MOST_LISTS] } else { flips.places(pairs[from]) };
            let last = match pairs.get(to) {
                Some(&next) if number + 1 < count => flips.places(next),
                _ => flips.lengths(),
            };
            part.ranges = std::array::from_fn(|list| (first[list], last[list]));
            let own = (0..flips.lists()).map(|list| &flips.list(list)[first[list]..last[list]]);
            part.length = length_after(to - from, own);
        });
        let (ends, merged) = (&mut self.ends, &mut self.pairs);
        let mut end = 0;
        ends.clear();
        ends.extend(parts.iter().map(|part| {
            end += part.length;
            end
        }));
        if merged.capacity() < end {
            // Doubled, most of the room would stay empty.
            merged.reserve_exact(end + end / 16 - merged.len());
        }
        merged.resize(end, Pair::from_key(1));
        let begin = |part: usize| part.checked_sub(1).map_or(0, |last| ends[last]);
        workers.for_each_part_with(merged, parts, begin, |number, merged, part| {
            part.merge(&pairs[place(number)..place(number + 1)], flips, merged);
        });
    }
}

impl MergePart {
    /// Writes the pairs of the part after its flips, block by block.
    fn merge(&mut self, pairs: &[Pair], flips: &FlipLog, mut merged: &mut [Pair]) {
        let lists = flips.lists();
        let ranges = &mut self.ranges[..lists];
        let blocks = (pairs.len() / BLOCK).max(1);
        for block in 0..blocks {
            let from = block * BLOCK;
            let to = if block + 1 == blocks { pairs.len() } else { from + BLOCK };
            let mut own: [&[u64]; MOST_LISTS] = [&[]; MOST_LISTS];
            for (list, (range, own)) in ranges.iter_mut().zip(&mut own).enumerate() {
                let rest = &flips.list(list)[range.0..range.1];
                let length = match pairs.get(to) {
                    Some(next) => count_below(rest, next.key()),
                    None => rest.len(),
                };
                *own = &rest[..length];
                range.0 += length;
            }
            let length = length_after(to - from, own[..lists].iter().copied());
            let (room, later) = merged.split_at_mut(length.min(merged.len()));
            merge(&pairs[from..to], self.folder.fold(&own[..lists]), room);
            merged = later;
        }
    }
}

/// Counts the flips at the front of a list that are below a key; few of them are counted fast.
fn count_below(list: &[u64], key: u64) -> usize {
    let mut end = BLOCK / 16;
    while end < list.len() && key_of(list[end]) < key {
        end *= 2;
    }
    list[..end.min(list.len())].partition_point(|&flip| key_of(flip) < key)
}

/// Number of pairs after some flips.
fn length_after<'a>(pairs: usize, flips: impl Iterator<Item = &'a [u64]>) -> usize {
    let (mut fresh, mut gone) = (0, 0);
    for list in flips {
        let began = list.iter().map(|&flip| flip & 1).sum::<u64>() as usize;
        fresh += began;
        gone += list.len() - began;
    }
    (pairs + fresh).saturating_sub(gone)
}

#[cfg(test)]
mod tests {
    use super::super::flips::{fresh, gone};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn any_pair() -> impl Strategy<Value = (u32, u32)> {
        (0u32..60, 60u32..120)
    }

    /// Turns a pair over in the model and returns its flip.
    fn turn(model: &mut BTreeSet<Pair>, pair: Pair) -> u64 {
        if model.remove(&pair) {
            return gone(pair);
        }
        model.insert(pair);
        fresh(pair)
    }

    fn flip(set: &mut PairSet, flips: &[u64]) {
        set.room(flips.len()).copy_from_slice(flips);
        set.flip(flips.len(), flips.iter().filter(|&&flip| is_fresh(flip)).count());
    }

    fn same(set: &PairSet, model: &BTreeSet<Pair>) {
        assert!(set.all().iter().eq(model), "{:?} {model:?}", set.all());
    }

    proptest! {
        /// Steps of few flips, which wait, and of many; asked for after some of them only, by the
        /// set or by a copy of it.
        #[test]
        fn the_set_is_right_whenever_it_is_asked_for(
            first in prop::collection::btree_set(any_pair(), 0..900),
            steps in prop::collection::vec(
                (prop::collection::btree_set(any_pair(), 0..9), 0..12), 1..40,
            ),
        ) {
            let mut model: BTreeSet<Pair> = BTreeSet::new();
            let mut set = PairSet::new(&Workers::one());
            let many: Vec<u64> =
                first.iter().map(|&pair| turn(&mut model, Pair::from(pair))).collect();
            flip(&mut set, &many);
            for (flips, action) in steps {
                let flips: Vec<u64> =
                    flips.iter().map(|&pair| turn(&mut model, Pair::from(pair))).collect();
                flip(&mut set, &flips);
                prop_assert_eq!(set.len(), model.len());
                prop_assert!(set.waiting.len() <= most_waiting(set.pairs.len()));
                match action {
                    0 => same(&set, &model),
                    1 => same(&set.clone(), &model),
                    2 => {
                        same(&set, &model);
                        set = set.clone();
                    }
                    3 => prop_assert!(set.settled().0.iter().eq(&model)),
                    4 => {
                        let held = |pair: &Pair| set.contains(*pair) == model.contains(pair);
                        let all = (0..60).flat_map(|a| (60..120).map(move |b| (a, b)));
                        prop_assert!(all.map(Pair::from).all(|pair| held(&pair)));
                    }
                    5 => {
                        let ended: Vec<Pair> = model.iter().copied().step_by(3).collect();
                        model.retain(|pair| ended.binary_search(pair).is_err());
                        let began: Vec<Pair> =
                            (0..9).map(|k| Pair::from((k, 200 + k))).collect();
                        let began: Vec<Pair> =
                            began.into_iter().filter(|pair| model.insert(*pair)).collect();
                        set.follow(&began, &ended);
                    }
                    _ => {}
                }
            }
            same(&set, &model);
        }
    }

    /// One flip among many pairs waits; asking merges it, and the next step takes that over.
    #[test]
    fn rare_flips_wait_until_somebody_asks() {
        let mut set = PairSet::default();
        let mut model: BTreeSet<Pair> = BTreeSet::new();
        let first: Vec<u64> = (0..320).map(|k| turn(&mut model, Pair::from((k, 400)))).collect();
        flip(&mut set, &first);
        assert_eq!((set.waiting.len(), set.pairs.len()), (0, 320));
        for (waiting, k) in [7, 8, 7, 9].into_iter().enumerate() {
            flip(&mut set, &[turn(&mut model, Pair::from((k, 400)))]);
            // A list for each step; the second flip of a pair takes back the first when the set is
            // asked for.
            assert_eq!((set.waiting.len(), set.waiting.lists()), (waiting + 1, waiting + 1));
            assert_eq!((set.pairs.len(), set.len()), (320, model.len()));
        }
        same(&set, &model);
        flip(&mut set, &[turn(&mut model, Pair::from((3, 400)))]);
        assert_eq!((set.waiting.len(), set.pairs.len()), (1, 318));
        same(&set, &model);
        for k in 20..130 {
            flip(&mut set, &[turn(&mut model, Pair::from((k, 400)))]);
        }
        assert!(set.waiting.len() <= most_waiting(318), "too many to wait were merged");
        same(&set, &model);
    }

    /// More steps than there are lists: while flips are very rare, lists become one list and the
    /// set stays; pairs that flip again and again are in none of them in the end.
    #[test]
    fn many_short_lists_become_one() {
        let mut set = PairSet::default();
        let mut model: BTreeSet<Pair> = BTreeSet::new();
        let first: Vec<u64> = (0..9000).map(|k| turn(&mut model, Pair::from((k, 9400)))).collect();
        flip(&mut set, &first);
        for k in 0..120 {
            flip(&mut set, &[turn(&mut model, Pair::from((k * 7 % 60, 9400)))]);
            assert_eq!((set.pairs.len(), set.len()), (9000, model.len()));
            assert!(set.waiting.lists() <= MOST_LISTS && set.contains(Pair::from((61, 9400))));
            let flipped = Pair::from((k * 7 % 60, 9400));
            assert_eq!(set.contains(flipped), model.contains(&flipped), "step {k}");
        }
        assert!(set.waiting.len() < 100, "what flipped twice was taken out");
        same(&set, &model);
        // Not so rare: the set follows instead.
        for k in 0..40 {
            let flips = (0..9u32).map(|j| turn(&mut model, Pair::from((k + 40 * j, 9400))));
            let flips: Vec<u64> = flips.collect();
            flip(&mut set, &flips);
        }
        assert!(set.waiting.lists() < 10);
        same(&set, &model);
    }

    /// Enough pairs for several parts, few flips and many, with every number of workers.
    #[test]
    fn every_number_of_workers_merges_alike() {
        for count in [1, 2, 3, 8] {
            let mut set = PairSet::new(&Workers::new(count).unwrap());
            let mut model: BTreeSet<Pair> = BTreeSet::new();
            for every in [1, 1000, 999, 3, 5000, 2, 700, 1] {
                let pairs = (0..90_000u32).step_by(every).map(|k| Pair::from((k / 3, 40_000 + k)));
                let flips: Vec<u64> = pairs.map(|pair| turn(&mut model, pair)).collect();
                flip(&mut set, &flips);
                assert_eq!(set.len(), model.len());
                if every != 1000 {
                    same(&set, &model);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "5-6 was reported ended but never began")]
    fn an_unknown_pair_that_waits_is_caught_when_the_set_is_asked_for() {
        let mut set = PairSet::default();
        let pairs = (0..100).map(|k| Pair::from((k, 200)));
        flip(&mut set, &pairs.map(fresh).collect::<Vec<_>>());
        set.waiting.room(1, 1)[0] = gone(Pair::from((5, 6)));
        set.waiting.push(1, 0);
        set.all();
    }
}
