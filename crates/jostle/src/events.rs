//! [`PairTracker`]: turns the reports of a broad phase into the set of all pairs and into began
//! and ended events. This happens here and nowhere else, so that the algorithm can be replaced
//! between two steps without losing an event.
//!
//! A full report of m pairs costs a few linear passes: it is sorted
//! ([`pair_sort`](crate::ds::pair_sort)) and compared with the set of the step before. A delta
//! costs the sorting of its events and one pass that moves the runs of pairs between them; an
//! empty one costs nothing.

use crate::boxes::{Boxes, Exclusions};
use crate::broad::Report;
use crate::ds::pair_sort::PairSorter;
use crate::pair::{Pair, PairBuffer};

/// What began and what ended in a step, each sorted by pair.
///
/// ```
/// use jostle::{Aabb, Detector, Filter, Pair};
///
/// let mut detector = Detector::default();
/// let ids = detector.boxes_mut().insert_all(&[Aabb::default(); 2], Filter::ALL)?;
/// assert_eq!(detector.step()?.began, [Pair::new(ids[0], ids[1])]);
/// detector.remove(ids[0])?;
/// let events = detector.step()?;
/// assert!(events.began.is_empty());
/// assert_eq!(events.ended[0].other(ids[1]), Some(ids[0].slot()));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events<'a> {
    /// Pairs that overlap now and did not before.
    pub began: &'a [Pair],
    /// Pairs that overlapped before and do not now, pairs of removed boxes among them.
    pub ended: &'a [Pair],
}

/// Keeps the set of overlapping pairs in canonical order and the events of the last step.
#[derive(Clone, Debug, Default)]
pub struct PairTracker {
    /// All pairs, ascending.
    pairs: Vec<Pair>,
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// Keys of the new set while it is built.
    next: Vec<u64>,
    sorter: PairSorter,
}

impl PairTracker {
    /// A tracker with no pairs.
    pub fn new() -> PairTracker {
        PairTracker::default()
    }

    /// A tracker that starts from a known set of pairs, as after restoring a snapshot: pairs of
    /// it that are not found in the next step end. Order and repetitions do not matter.
    pub fn with_pairs(pairs: &[Pair]) -> PairTracker {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        pairs.dedup();
        PairTracker { pairs, ..PairTracker::default() }
    }

    /// Takes in what a broad phase wrote for boxes with ids below `slots`.
    pub fn apply(&mut self, report: Report, found: &PairBuffer, slots: usize) {
        match report {
            Report::Full => self.apply_full(found, slots),
            Report::Delta => self.apply_delta(found),
        }
    }

    /// As [`PairTracker::apply`], without the pairs that the boxes
    /// [exclude](Boxes::exclude).
    ///
    /// A broad phase reports excluded pairs like others: it need not know of them. The set held
    /// here is then what overlaps minus what is excluded, and a pair whose exclusion changed while
    /// it overlaps begins or ends although the broad phase says nothing of it.
    pub fn apply_excluding(&mut self, report: Report, found: &PairBuffer, boxes: &Boxes) {
        match report {
            _ if boxes.exclusions().is_idle() => self.apply(report, found, boxes.slots()),
            Report::Full => {
                self.sorter.sort(found.slices(), boxes.slots(), &mut self.next);
                drop_excluded(&mut self.next, boxes.exclusions());
                self.compare_with_next();
            }
            Report::Delta => self.apply_delta_excluding(found, boxes),
        }
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        Events { began: &self.began, ended: &self.ended }
    }

    /// Every overlapping pair, ascending.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let pairs = self.pairs.capacity() + self.began.capacity() + self.ended.capacity();
        (pairs + self.next.capacity()) * size_of::<Pair>() + self.sorter.bytes()
    }

    fn apply_full(&mut self, found: &PairBuffer, slots: usize) {
        self.sorter.sort(found.slices(), slots, &mut self.next);
        self.compare_with_next();
    }

    /// Finds the events between the set and the new one, and goes over to the new one.
    fn compare_with_next(&mut self) {
        debug_assert!(self.next.windows(2).all(|two| two[0] < two[1]), "a pair was reported twice");
        self.began.clear();
        self.ended.clear();
        let mut old = self.pairs.iter().copied().peekable();
        for &key in &self.next {
            let pair = Pair::from_key(key);
            while let Some(gone) = old.next_if(|&known| known < pair) {
                self.ended.push(gone);
            }
            if old.next_if_eq(&pair).is_none() {
                self.began.push(pair);
            }
        }
        self.ended.extend(old);
        if !self.began.is_empty() || !self.ended.is_empty() {
            self.pairs.clear();
            self.pairs.extend(self.next.iter().map(|&key| Pair::from_key(key)));
        }
    }

    fn apply_delta(&mut self, found: &PairBuffer) {
        self.began.clear();
        self.ended.clear();
        self.began.extend(found.iter());
        self.ended.extend_from_slice(found.ended());
        self.began.sort_unstable();
        self.ended.sort_unstable();
        self.merge_events();
    }

    /// What was hidden by an exclusion is not in the set. So of the reported ends only those in
    /// the set count, and of the reported beginnings only those that are not excluded; pairs whose
    /// exclusion changed are looked at one by one.
    fn apply_delta_excluding(&mut self, found: &PairBuffer, boxes: &Boxes) {
        let exclusions = boxes.exclusions();
        let held = |pair: &Pair| self.pairs.binary_search(pair).is_ok();
        let hidden = |pair: &Pair| exclusions.contains(*pair);
        self.began.clear();
        self.ended.clear();
        self.began.extend(found.iter().filter(|pair| !hidden(pair)));
        self.ended.extend(found.ended().iter().copied().filter(held));
        for &pair in exclusions.changed() {
            match hidden(&pair) {
                true if held(&pair) => self.ended.push(pair),
                false if !held(&pair) && boxes.may_report(pair) => self.began.push(pair),
                _ => {}
            }
        }
        for events in [&mut self.began, &mut self.ended] {
            events.sort_unstable();
            events.dedup();
        }
        self.merge_events();
    }

    fn merge_events(&mut self) {
        if !self.began.is_empty() || !self.ended.is_empty() {
            self.drop_ended();
            self.merge_began();
        }
    }

    /// Closes the gaps of ended pairs, moving each run between two of them once.
    fn drop_ended(&mut self) {
        let Some(first) = self.ended.first() else { return };
        let mut to = self.place_of_ended(0, first);
        let mut from = to + 1;
        for gone in &self.ended[1..] {
            let at = self.place_of_ended(from, gone);
            self.pairs.copy_within(from..at, to);
            to += at - from;
            from = at + 1;
        }
        self.pairs.copy_within(from.., to);
        self.pairs.truncate(self.pairs.len() - self.ended.len());
    }

    fn place_of_ended(&self, from: usize, gone: &Pair) -> usize {
        let at = gallop(&self.pairs, from, gone);
        assert!(self.pairs.get(at) == Some(gone), "pair {gone} was reported ended but never began");
        at
    }

    /// Opens gaps for the began pairs, from the back.
    fn merge_began(&mut self) {
        let mut from = self.pairs.len();
        self.pairs.extend_from_slice(&self.began);
        let mut to = self.pairs.len();
        for &fresh in self.began.iter().rev() {
            let at = self.pairs[..from].partition_point(|&known| known < fresh);
            debug_assert!(at == from || self.pairs[at] != fresh, "pair {fresh} began twice");
            self.pairs.copy_within(at..from, to - (from - at));
            to -= from - at + 1;
            self.pairs[to] = fresh;
            from = at;
        }
    }
}

/// Takes the excluded pairs out of ascending keys, moving each run between two of them once.
fn drop_excluded(keys: &mut Vec<u64>, exclusions: &Exclusions) {
    let (mut from, mut to) = (0, 0);
    for excluded in exclusions.iter().map(Pair::key) {
        let at = from + keys[from..].partition_point(|&key| key < excluded);
        keys.copy_within(from..at, to);
        to += at - from;
        from = at + usize::from(keys.get(at) == Some(&excluded));
    }
    keys.copy_within(from.., to);
    keys.truncate(to + keys.len() - from);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn buffer(pairs: &BTreeSet<(u32, u32)>, ended: &BTreeSet<(u32, u32)>) -> PairBuffer {
        let mut buffer = PairBuffer::new();
        for (index, &(a, b)) in pairs.iter().rev().enumerate() {
            buffer.lanes(3)[index % 3].push(a, b).unwrap();
        }
        buffer.ended_mut().extend(ended.iter().rev().map(|&pair| Pair::from(pair)));
        buffer
    }

    fn listed(pairs: &[Pair]) -> Vec<(u32, u32)> {
        pairs.iter().map(|&pair| pair.into()).collect()
    }

    fn pair_set() -> impl Strategy<Value = BTreeSet<(u32, u32)>> {
        btree_set((0u32..30, 30u32..60), 0..200)
    }

    proptest! {
        /// Full and delta reports of the same history, mixed at random, give the same events.
        #[test]
        fn full_and_delta_reports_agree_with_set_difference(
            history in prop::collection::vec((pair_set(), any::<bool>()), 1..12),
        ) {
            let mut tracker = PairTracker::new();
            let mut known = BTreeSet::new();
            for (now, full) in history {
                let began: BTreeSet<_> = now.difference(&known).copied().collect();
                let ended: BTreeSet<_> = known.difference(&now).copied().collect();
                if full {
                    tracker.apply(Report::Full, &buffer(&now, &BTreeSet::new()), 60);
                } else {
                    tracker.apply(Report::Delta, &buffer(&began, &ended), 60);
                }
                prop_assert_eq!(listed(tracker.events().began), Vec::from_iter(began));
                prop_assert_eq!(listed(tracker.events().ended), Vec::from_iter(ended));
                prop_assert_eq!(listed(tracker.pairs()), Vec::from_iter(now.clone()));
                known = now;
            }
        }
    }

    #[test]
    fn restored_pairs_end_when_they_are_not_found() {
        let mut tracker = PairTracker::with_pairs(&[Pair::from((4, 2)), Pair::from((1, 2))]);
        tracker.apply(Report::Full, &buffer(&[(1, 2), (1, 3)].into(), &BTreeSet::new()), 5);
        assert_eq!(listed(tracker.events().began), [(1, 3)]);
        assert_eq!(listed(tracker.events().ended), [(2, 4)]);
    }

    #[test]
    fn excluded_keys_are_taken_out() {
        let pairs = [(0, 1), (0, 2), (1, 2), (3, 4)].map(Pair::from);
        let mut exclusions = Exclusions::default();
        for pair in [pairs[1], pairs[3], Pair::from((2, 3)), Pair::from((8, 9))] {
            exclusions.exclude(pair);
        }
        let mut keys: Vec<u64> = pairs.map(Pair::key).to_vec();
        drop_excluded(&mut keys, &exclusions);
        assert_eq!(keys, [pairs[0].key(), pairs[2].key()]);
        exclusions.forget(crate::id::Slot::new(2));
        assert_eq!(Vec::from_iter(exclusions.iter()), [(3, 4), (8, 9)].map(Pair::from));
    }

    #[test]
    #[should_panic(expected = "2-4 was reported ended but never began")]
    fn an_end_without_a_beginning_is_caught() {
        PairTracker::new().apply(Report::Delta, &buffer(&BTreeSet::new(), &[(2, 4)].into()), 5);
    }
}
