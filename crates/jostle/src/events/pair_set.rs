//! [`PairSet`]: the set of all pairs, ascending, brought up to date when somebody asks.
//!
//! A step needs its events and not the set. So flips wait until the set is asked for, or until they
//! are a quarter of the pairs: a set of a million pairs is not copied for a handful of them, and
//! not in every step for many. More would have to be merged with each other too often. On several
//! workers a thirty-second of the pairs is enough.
//!
//! Asking takes a shared reference, from any number of threads: the first one merges.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::flips::{is_fresh, key_of};
use super::merge::{merge, merge_flips};
use crate::ds::pair_sort::tasks_for;
use crate::pair::Pair;
use crate::par::Workers;

/// Flips wait while there is at most one for this many pairs.
const RARE_FLIPS: usize = 4;

/// The same on several workers, which share the merge with the set but not that of flips.
const RARE_FLIPS_SHARED: usize = 32;

/// The most parts of a merge, whose beginnings are kept on the stack.
const MOST_PARTS: usize = 256;

/// A set of pairs and the flips that it has not followed yet.
#[derive(Debug, Default)]
pub(super) struct PairSet {
    workers: Workers,
    /// The pairs before the flips that wait, ascending.
    pairs: Vec<Pair>,
    /// Flips that wait, ascending, at most one of a pair.
    waiting: Vec<u64>,
    /// The pairs after them, once somebody has asked.
    merged: OnceLock<Vec<Pair>>,
    /// Memory for the next set; locked while somebody merges.
    spare: Mutex<Vec<Pair>>,
    /// Memory for the next list of flips that wait.
    next_waiting: Vec<u64>,
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
            let mut merged = std::mem::take(&mut *spare);
            merge_in_parts(&self.pairs, &self.waiting, &mut merged, &self.workers);
            merged
        })
    }

    /// Number of pairs.
    pub(super) fn len(&self) -> usize {
        let fresh = self.waiting.iter().filter(|&&flip| is_fresh(flip)).count();
        // More may have ended than there was; whoever asks for the set is told which.
        (self.pairs.len() + fresh).saturating_sub(self.waiting.len() - fresh)
    }

    /// Returns true if the pair is in the set.
    pub(super) fn contains(&self, pair: Pair) -> bool {
        match self.waiting.binary_search_by_key(&pair.key(), |&flip| key_of(flip)) {
            Ok(place) => is_fresh(self.waiting[place]),
            Err(_) => self.pairs.binary_search(&pair).is_ok(),
        }
    }

    /// Follows the flips of a step, ascending.
    ///
    /// # Panics
    /// If a pair ended that is not in the set; if few pairs flip, in builds without debug
    /// assertions, not before the set is asked for.
    pub(super) fn flip(&mut self, flips: &[u64]) {
        self.settle_asked();
        if flips.is_empty() {
            return;
        }
        let rare = if self.workers.count() == 1 { RARE_FLIPS } else { RARE_FLIPS_SHARED };
        let few = |count: usize| count * rare <= self.pairs.len();
        if !few(flips.len()) {
            self.settle();
            return self.merge_now(flips);
        }
        for (flip, pair) in flips.iter().map(|&flip| (flip, Pair::from_key(key_of(flip)))) {
            let known = is_fresh(flip) || !cfg!(debug_assertions) || self.contains(pair);
            assert!(known, "pair {pair} was reported ended but never began");
        }
        let wait = few(self.waiting.len() + flips.len());
        self.next_waiting.clear();
        // Enough for every step with so many pairs.
        self.next_waiting.reserve(2 * self.pairs.len() / rare);
        merge_flips(&self.waiting, flips, &mut self.next_waiting);
        std::mem::swap(&mut self.waiting, &mut self.next_waiting);
        if !wait {
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
        (&self.pairs, self.spare.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Exchanges the set for what is in its spare memory.
    pub(super) fn take_spare(&mut self) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut self.pairs, spare);
    }

    fn settle(&mut self) {
        self.settle_asked();
        if !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            self.merge_now(&waiting);
            self.waiting = waiting;
            self.waiting.clear();
        }
    }

    /// Goes over to the set that somebody asked for.
    fn settle_asked(&mut self) {
        if let Some(merged) = self.merged.take() {
            let before = std::mem::replace(&mut self.pairs, merged);
            *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = before;
            self.waiting.clear();
        }
    }

    fn merge_now(&mut self, flips: &[u64]) {
        let spare = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner);
        merge_in_parts(&self.pairs, flips, spare, &self.workers);
        std::mem::swap(&mut self.pairs, spare);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).capacity();
        let merged = self.merged.get().map_or(0, Vec::capacity);
        let words = self.waiting.capacity() + self.next_waiting.capacity();
        (self.pairs.capacity() + merged + spare) * size_of::<Pair>() + words * size_of::<u64>()
    }
}

/// Writes the set after some flips, each part of the set on its own.
fn merge_in_parts(pairs: &[Pair], flips: &[u64], merged: &mut Vec<Pair>, workers: &Workers) {
    let parts = tasks_for(pairs.len(), workers).min(MOST_PARTS);
    let any = Pair::from_key(1);
    let length = |pairs: usize, flips: &[u64]| {
        let fresh = flips.iter().filter(|&&flip| is_fresh(flip)).count();
        (pairs + fresh).saturating_sub(flips.len() - fresh)
    };
    if parts == 1 {
        merged.resize(length(pairs.len(), flips), any);
        return merge(pairs, flips, merged);
    }
    // Where a part begins in the set and among the flips.
    let places = |part: usize| match pairs.get(pairs.len() * part / parts) {
        _ if part == 0 => (0, 0),
        None => (pairs.len(), flips.len()),
        Some(first) => {
            let flip = flips.partition_point(|&flip| key_of(flip) < first.key());
            (pairs.len() * part / parts, flip)
        }
    };
    let mut begins = [0; MOST_PARTS + 1];
    let parts_of = |part: usize| (places(part), places(part + 1));
    workers.for_each(&mut begins[1..=parts], |part, end| {
        let ((pair, flip), (pair_end, flip_end)) = parts_of(part);
        *end = length(pair_end - pair, &flips[flip..flip_end]);
    });
    for part in 0..parts {
        begins[part + 1] += begins[part];
    }
    merged.resize(begins[parts], any);
    let begin = |part: usize| begins[part];
    workers.for_each_part(merged, parts, begin, |part, merged| {
        let ((pair, flip), (pair_end, flip_end)) = parts_of(part);
        merge(&pairs[pair..pair_end], &flips[flip..flip_end], merged);
    });
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
            set.flip(&many);
            for (flips, action) in steps {
                let flips: Vec<u64> =
                    flips.iter().map(|&pair| turn(&mut model, Pair::from(pair))).collect();
                set.flip(&flips);
                prop_assert_eq!(set.len(), model.len());
                prop_assert!(set.waiting.len() * RARE_FLIPS <= set.pairs.len());
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
        set.flip(&first);
        assert_eq!((set.waiting.len(), set.pairs.len()), (0, 320));
        for (waiting, k) in [7, 8, 7, 9].into_iter().enumerate() {
            set.flip(&[turn(&mut model, Pair::from((k, 400)))]);
            // The second flip of a pair takes back the first.
            assert_eq!(set.waiting.len(), [1, 2, 1, 2][waiting]);
            assert_eq!((set.pairs.len(), set.len()), (320, model.len()));
        }
        same(&set, &model);
        set.flip(&[turn(&mut model, Pair::from((3, 400)))]);
        assert_eq!((set.waiting.len(), set.pairs.len()), (1, 318));
        same(&set, &model);
        for k in 20..130 {
            set.flip(&[turn(&mut model, Pair::from((k, 400)))]);
        }
        assert!(set.waiting.len() <= 318 / RARE_FLIPS, "too many to wait were merged");
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
                set.flip(&flips);
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
        set.flip(&pairs.map(fresh).collect::<Vec<_>>());
        set.waiting.push(gone(Pair::from((5, 6))));
        set.all();
    }
}
