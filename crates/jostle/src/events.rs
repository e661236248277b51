//! [`PairTracker`]: turns the reports of a broad phase into the set of all pairs and into began
//! and ended events. This happens here and nowhere else, so that the algorithm can be replaced
//! between two steps without losing an event.
//!
//! A full report of m pairs is compared with the report of the step before as it was written
//! (`events/last_report.rs`): an algorithm that keeps its order repeats most of it, and only what
//! is unmatched is sorted. If the two are not alike, the report costs a few linear passes more: it
//! is sorted ([`pair_sort`](crate::ds::pair_sort)) and compared with the set of the step before,
//! which it then replaces. A delta costs the sorting of its events. The set follows when it is
//! asked for or when the events of some steps are many (`events/pair_set.rs`).
//!
//! Every pass is cut into parts for the workers: a sorted set by places, and whatever is compared
//! with it by the pairs at these places. The events of the parts, one after the other, are those of
//! the step, so they are the same for every number of workers.
//!
//! Unmatched pairs are words with a mark (`events/flips.rs`), so began and ended ones are sorted at
//! once and pairs that only changed their place are found next to themselves. What follows works
//! without branches that cannot be predicted: with a tenth of the pairs changing, these were most
//! of the time.
//!
//! Sorting all pairs took 10.3 ns a pair where comparing two reports took 3.0 with 4 % changing,
//! and as long with 19 %; with three times the pairs, too many for the caches, 35 and 13. What
//! lost: looking each pair up in its row of the set, eight at a time, and marking it, 7.2 and
//! the merge, although nothing is sorted; the rows are many and short, and each is a miss.
//! Comparing two sorted sets without branches, 1.0 ms where the plain loop takes 0.7: most pairs
//! are equal.

use crate::boxes::{Boxes, Exclusions};
use crate::broad::Report;
use crate::ds::pair_sort::{PairSorter, tasks_for};
use crate::pair::{MANY_PAIRS, Pair, PairBuffer};
use crate::par::Workers;

mod flip_log;
mod flip_sort;
mod flips;
mod last_report;
mod list_diff;
mod merge;
mod pair_set;

use flips::{FlipList, Flips};
use last_report::LastReport;
use pair_set::PairSet;

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

/// The events of one part of the pairs, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct PartEvents {
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// What two lists do not share, as flips.
    unmatched: Vec<u64>,
    /// True if the two lists are alike.
    alike: bool,
}

/// Keeps the set of overlapping pairs in canonical order and the events of the last step.
#[derive(Clone, Debug, Default)]
pub struct PairTracker {
    workers: Workers,
    set: PairSet,
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// What two reports do not share, or what a delta says.
    flips: Flips,
    last: LastReport,
    parts: Vec<PartEvents>,
    /// Where the events of each part end.
    ends: Vec<usize>,
    sorter: PairSorter<Pair>,
}

impl PairTracker {
    /// A tracker with no pairs that runs on the calling thread.
    pub fn new() -> PairTracker {
        PairTracker::default()
    }

    /// A tracker with no pairs that runs on `workers`. Pairs and events do not depend on them.
    pub(crate) fn with_workers(workers: &Workers) -> PairTracker {
        let set = PairSet::new(workers);
        PairTracker { workers: workers.clone(), set, ..PairTracker::default() }
    }

    /// A tracker that starts from a known set of pairs, as after restoring a snapshot: pairs of
    /// it that are not found in the next step end. Order and repetitions do not matter.
    pub fn with_pairs(pairs: &[Pair]) -> PairTracker {
        let mut tracker = PairTracker::default();
        tracker.set_pairs(pairs);
        tracker
    }

    /// Replaces the set of pairs by another; see [`PairTracker::with_pairs`].
    pub(crate) fn set_pairs(&mut self, pairs: &[Pair]) {
        self.last.invalidate();
        let (_, next) = self.set.settled();
        next.clear();
        next.extend_from_slice(pairs);
        next.sort_unstable();
        next.dedup();
        self.set.take_spare();
    }

    /// Takes in what a broad phase wrote for boxes with ids below `slots`.
    pub fn apply(&mut self, report: Report, found: &PairBuffer, slots: usize) {
        match report {
            Report::Full => self.apply_full(found, slots),
            Report::Delta => self.apply_delta(found, slots),
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
                self.last.invalidate();
                self.sort(found, boxes.slots());
                drop_excluded(self.set.settled().1, boxes.exclusions());
                self.compare_with_next();
            }
            Report::Delta => self.apply_delta_excluding(found, boxes),
        }
    }

    /// As [`PairTracker::apply_excluding`], and keeps the report for comparison with the next. What
    /// is in the buffer afterwards is of no use.
    pub(crate) fn follow(&mut self, report: Report, found: &mut PairBuffer, boxes: &Boxes) {
        if report == Report::Full && boxes.exclusions().is_idle() {
            self.follow_full(found, boxes.slots());
        } else {
            self.apply_excluding(report, found, boxes);
        }
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        Events { began: &self.began, ended: &self.ended }
    }

    /// Every overlapping pair, ascending. If pairs began and ended in the last steps and nobody
    /// asked since, the set may have to follow them now: one pass over it.
    pub fn pairs(&self) -> &[Pair] {
        self.set.all()
    }

    /// Number of overlapping pairs; nothing is merged for it.
    pub fn pair_count(&self) -> usize {
        self.set.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let pairs = self.began.capacity() + self.ended.capacity();
        let of_part = |part: &PartEvents| {
            part.began.capacity() + part.ended.capacity() + part.unmatched.capacity()
        };
        let parts: usize = self.parts.iter().map(of_part).sum();
        let pairs = (pairs + parts) * size_of::<Pair>() + self.set.bytes();
        pairs + self.flips.bytes() + self.sorter.bytes() + self.last.bytes()
    }

    /// Gives back the memory that sorting and comparing many pairs took.
    pub(crate) fn give_back(&mut self) {
        if self.sorter.bytes() > MANY_PAIRS * size_of::<Pair>() {
            self.sorter = PairSorter::default();
        }
        if !self.last.is_full() {
            self.last.give_back();
        }
    }

    fn follow_full(&mut self, found: &mut PairBuffer, slots: usize) {
        let keep = self.last.is_full();
        if slots > flips::MOST_SLOTS || !self.apply_similar(found, slots) {
            self.apply_full(found, slots);
        }
        self.last.take(found, keep);
    }

    /// Finds the events between this and the last report. Returns false, with the set and its
    /// events as they were, if the two are not alike.
    fn apply_similar(&mut self, found: &PairBuffer, slots: usize) -> bool {
        let Some(count) = self.last.compare(found, &mut self.parts, &self.workers) else {
            return false;
        };
        // What is unmatched in both has another place in the report and is still there.
        let PairTracker { workers, flips, parts, .. } = self;
        let list = |part: usize| FlipList::Flips(&parts[part].unmatched);
        let flips = flips.sort(count, list, slots, workers);
        self.follow_flips(flips);
        true
    }

    /// Takes the events from the flips, which have been sorted; `count` is their number.
    fn follow_flips(&mut self, count: usize) {
        let PairTracker { workers, flips, set, began, ended, .. } = self;
        let kept = flips.write(workers, began, ended, set.room(count));
        set.flip(kept, began.len());
    }

    fn apply_full(&mut self, found: &PairBuffer, slots: usize) {
        self.last.invalidate();
        self.sort(found, slots);
        self.compare_with_next();
    }

    /// Writes the pairs of a report to the set's spare memory, ascending.
    fn sort(&mut self, found: &PairBuffer, slots: usize) {
        let (_, next) = self.set.settled();
        self.sorter.sort(found.slices(), slots, &self.workers, next);
    }

    /// Finds the events between the set and the new one, and goes over to the new one.
    fn compare_with_next(&mut self) {
        let (pairs, next) = self.set.settled();
        debug_assert!(next.windows(2).all(|two| two[0] < two[1]), "a pair was reported twice");
        let count = find_events(pairs, next, &mut self.parts, &self.workers);
        self.collect_events(count);
        self.set.take_spare();
    }

    /// Takes the events of the parts, one after the other.
    fn collect_events(&mut self, count: usize) {
        if let [part] = &mut self.parts[..count] {
            std::mem::swap(&mut self.began, &mut part.began);
            return std::mem::swap(&mut self.ended, &mut part.ended);
        }
        let (parts, workers) = (&self.parts[..count], &self.workers);
        join_parts(parts, workers, &mut self.ends, &mut self.began, |part| &part.began);
        join_parts(parts, workers, &mut self.ends, &mut self.ended, |part| &part.ended);
    }

    fn apply_delta(&mut self, found: &PairBuffer, slots: usize) {
        if slots > flips::MOST_SLOTS {
            self.sort_delta(found);
            self.set.follow(&self.began, &self.ended);
        } else {
            let lanes = found.lane_count();
            let list = |number: usize| match number < lanes {
                true => FlipList::Began(found.slice(number)),
                false => FlipList::Ended(found.ended()),
            };
            let flips = self.flips.sort(lanes + 1, list, slots, &self.workers);
            self.follow_flips(flips);
        }
        if !(self.began.is_empty() && self.ended.is_empty()) {
            self.last.invalidate();
        }
    }

    /// The events of a delta whose pairs are too large for flips.
    fn sort_delta(&mut self, found: &PairBuffer) {
        self.began.clear();
        self.ended.clear();
        found.slices().for_each(|slice| self.began.extend_from_slice(slice));
        self.ended.extend_from_slice(found.ended());
        self.began.sort_unstable();
        self.ended.sort_unstable();
    }

    /// What was hidden by an exclusion is not in the set. So of the reported ends only those in
    /// the set count, and of the reported beginnings only those that are not excluded; pairs whose
    /// exclusion changed are looked at one by one.
    fn apply_delta_excluding(&mut self, found: &PairBuffer, boxes: &Boxes) {
        self.last.invalidate();
        let exclusions = boxes.exclusions();
        let held = |pair: &Pair| self.set.contains(*pair);
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
        if boxes.slots() > flips::MOST_SLOTS {
            return self.set.follow(&self.began, &self.ended);
        }
        let PairTracker { workers, flips, began, ended, .. } = self;
        let list = |number: usize| match number {
            0 => FlipList::Began(began),
            _ => FlipList::Ended(ended),
        };
        let flips = flips.sort(2, list, boxes.slots(), workers);
        self.follow_flips(flips);
    }
}

/// Writes a list of each part, one after the other, to one list. `ends` is memory.
fn join_parts(
    parts: &[PartEvents],
    workers: &Workers,
    ends: &mut Vec<usize>,
    all: &mut Vec<Pair>,
    list: impl Fn(&PartEvents) -> &Vec<Pair> + Sync,
) {
    let mut total = 0;
    ends.clear();
    ends.extend(parts.iter().map(|part| {
        total += list(part).len();
        total
    }));
    all.resize(total, Pair::from_key(1));
    let begin = |part: usize| part.checked_sub(1).map_or(0, |last| ends[last]);
    workers.for_each_part(all, parts.len(), begin, |part, own| {
        own.copy_from_slice(list(&parts[part]));
    });
}

/// Finds the events between two ascending sets, part by part; returns the number of parts.
fn find_events(
    old: &[Pair],
    new: &[Pair],
    parts: &mut Vec<PartEvents>,
    workers: &Workers,
) -> usize {
    let count = tasks_for(old.len().max(new.len()), workers);
    if parts.len() < count {
        parts.resize_with(count, PartEvents::default);
    }
    // The larger set is cut into equal parts, the other where the pairs at the cuts belong.
    let swapped = old.len() < new.len();
    let (cut, other) = if swapped { (new, old) } else { (old, new) };
    let places = |part: usize| {
        let place = cut.len() * part / count;
        let Some(first) = cut.get(place) else { return (cut.len(), other.len()) };
        let belongs = other.partition_point(|known| known < first);
        (place, if part == 0 { 0 } else { belongs })
    };
    workers.for_each(&mut parts[..count], |number, part| {
        let ((from, other_from), (to, other_to)) = (places(number), places(number + 1));
        let (one, two) = (&cut[from..to], &other[other_from..other_to]);
        let (old, new) = if swapped { (two, one) } else { (one, two) };
        part.compare(old, new);
    });
    count
}

impl PartEvents {
    fn clear(&mut self) {
        self.began.clear();
        self.ended.clear();
        self.unmatched.clear();
    }

    /// Finds the events between two ascending sets.
    fn compare(&mut self, old: &[Pair], new: &[Pair]) {
        self.clear();
        let mut old = old.iter().copied().peekable();
        for &pair in new {
            while let Some(gone) = old.next_if(|&known| known < pair) {
                self.ended.push(gone);
            }
            if old.next_if_eq(&pair).is_none() {
                self.began.push(pair);
            }
        }
        self.ended.extend(old);
    }
}

/// Takes the excluded pairs out of ascending ones, moving each run between two of them once.
fn drop_excluded(pairs: &mut Vec<Pair>, exclusions: &Exclusions) {
    let (mut from, mut to) = (0, 0);
    for excluded in exclusions.iter() {
        let at = from + pairs[from..].partition_point(|&pair| pair < excluded);
        pairs.copy_within(from..at, to);
        to += at - from;
        from = at + usize::from(pairs.get(at) == Some(&excluded));
    }
    pairs.copy_within(from.., to);
    pairs.truncate(to + pairs.len() - from);
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

    /// The pairs in an order of their own, which stays from report to report.
    fn ordered_buffer(pairs: &BTreeSet<(u32, u32)>) -> PairBuffer {
        let rank = |&(a, b): &(u32, u32)| (a.wrapping_mul(0x9E37_79B1) ^ b) >> 3;
        let mut ordered: Vec<(u32, u32)> = pairs.iter().copied().collect();
        ordered.sort_by_key(rank);
        let mut buffer = PairBuffer::new();
        let lanes = buffer.lanes(5);
        ordered
            .iter()
            .for_each(|pair| lanes[rank(pair) as usize >> 27].push(pair.0, pair.1).unwrap());
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
            history in prop::collection::vec((pair_set(), 0..6), 1..12),
        ) {
            let mut tracker = PairTracker::new();
            let mut known = BTreeSet::new();
            for (now, kind) in history {
                let began: BTreeSet<_> = now.difference(&known).copied().collect();
                let ended: BTreeSet<_> = known.difference(&now).copied().collect();
                match kind {
                    0 => tracker.apply(Report::Full, &buffer(&now, &BTreeSet::new()), 60),
                    1 => tracker.apply(Report::Delta, &buffer(&began, &ended), 60),
                    2 => tracker.follow_full(&mut buffer(&now, &BTreeSet::new()), 60),
                    _ => tracker.follow_full(&mut ordered_buffer(&now), 60),
                }
                prop_assert_eq!(listed(tracker.events().began), Vec::from_iter(began));
                prop_assert_eq!(listed(tracker.events().ended), Vec::from_iter(ended));
                prop_assert_eq!(listed(tracker.pairs()), Vec::from_iter(now.clone()));
                known = now;
            }
        }
    }

    /// What a lane held that the next report does not have is not compared with the one after.
    #[test]
    fn a_report_of_fewer_lanes_forgets_the_others() {
        let mut tracker = PairTracker::new();
        // Kept from the second one on.
        for _ in 0..2 {
            tracker.follow_full(&mut ordered_buffer(&BTreeSet::from([(29, 30)])), 60);
        }
        assert_eq!(tracker.last.pairs(), 1);
        tracker.follow_full(&mut PairBuffer::new(), 60);
        assert_eq!(listed(tracker.events().ended), [(29, 30)]);
        tracker.follow_full(&mut PairBuffer::new(), 60);
        assert!(tracker.events().ended.is_empty() && tracker.pairs().is_empty());
    }

    /// A delta between two reports that are alike: the second is not compared with the first.
    #[test]
    fn a_delta_ends_the_life_of_the_report_before() {
        let mut now: BTreeSet<(u32, u32)> = (0..25).map(|k| (k, 31 + k)).collect();
        let mut tracker = PairTracker::new();
        for step in 0..3 {
            // Kept from the second one on.
            tracker.follow_full(&mut ordered_buffer(&now), 60);
            tracker.follow_full(&mut ordered_buffer(&now), 60);
            assert_eq!(tracker.last.pairs(), 25, "step {step}");
            let (began, ended) = ((step, 59), (step, 31 + step));
            now.remove(&ended);
            now.insert(began);
            tracker.apply(Report::Delta, &buffer(&[began].into(), &[ended].into()), 60);
            assert_eq!(listed(tracker.events().began), [began]);
            tracker.follow_full(&mut ordered_buffer(&now), 60);
            assert_eq!(tracker.events(), Events::default(), "step {step}");
            assert_eq!(listed(tracker.pairs()), Vec::from_iter(now.clone()));
        }
    }

    /// Large enough for several parts, with every kind of change: none, few, all, down to nothing.
    #[test]
    fn every_number_of_workers_gives_the_same_events() {
        const SLOTS: u32 = 90_000;
        let set = |step: u32, share: u32| -> BTreeSet<(u32, u32)> {
            let mix = |k: u32| (k ^ step).wrapping_mul(0x9E37_79B1) >> 7;
            let kept = |k: &u32| mix(*k) % 100 < share;
            let pair = |k: u32| (k % (SLOTS - 1), SLOTS - 1 - k / SLOTS);
            (0..120_000).filter(kept).map(pair).filter(|(a, b)| a < b).collect()
        };
        let history: Vec<BTreeSet<(u32, u32)>> =
            [(0, 100), (1, 99), (1, 99), (9, 98), (2, 50), (3, 0), (3, 0), (4, 100), (5, 97)]
                .map(|(step, share)| set(step, share))
                .into();
        for count in [1, 2, 3, 8] {
            let workers = Workers::new(count).unwrap();
            let mut trackers = [0; 3].map(|_| PairTracker::with_workers(&workers));
            let mut alike = 0;
            let mut known = BTreeSet::new();
            for (step, now) in history.iter().enumerate() {
                let began: BTreeSet<_> = now.difference(&known).copied().collect();
                let ended: BTreeSet<_> = known.difference(now).copied().collect();
                let reports = [
                    (Report::Full, buffer(now, &BTreeSet::new())),
                    (Report::Delta, buffer(&began, &ended)),
                ];
                let mut ordered = (Report::Full, ordered_buffer(now));
                alike += usize::from(trackers[2].clone().apply_similar(&ordered.1, SLOTS as usize));
                trackers[2].follow_full(&mut ordered.1, SLOTS as usize);
                let all = reports.iter().chain([&ordered]).enumerate();
                for (tracker, (number, (report, found))) in trackers.iter_mut().zip(all) {
                    if number < 2 {
                        tracker.apply(*report, found, SLOTS as usize);
                    }
                    let same = |got: &[Pair], expected: &BTreeSet<(u32, u32)>| {
                        got.iter()
                            .map(|&pair| <(u32, u32)>::from(pair))
                            .eq(expected.iter().copied())
                    };
                    let events = tracker.events();
                    let all = same(events.began, &began) && same(events.ended, &ended);
                    assert!(all && same(tracker.pairs(), now), "{number}, {step}, {count}");
                }
                known = now.clone();
            }
            assert!(alike > 1, "some reports are like the one before");
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
    fn excluded_pairs_are_taken_out() {
        let pairs = [(0, 1), (0, 2), (1, 2), (3, 4)].map(Pair::from);
        let mut exclusions = Exclusions::default();
        for pair in [pairs[1], pairs[3], Pair::from((2, 3)), Pair::from((8, 9))] {
            exclusions.exclude(pair);
        }
        let mut left = pairs.to_vec();
        drop_excluded(&mut left, &exclusions);
        assert_eq!(left, [pairs[0], pairs[2]]);
        exclusions.forget(crate::id::Slot::new(2));
        assert_eq!(Vec::from_iter(exclusions.iter()), [(3, 4), (8, 9)].map(Pair::from));
    }

    #[test]
    #[should_panic(expected = "2-4 was reported ended but never began")]
    fn an_end_without_a_beginning_is_caught() {
        PairTracker::new().apply(Report::Delta, &buffer(&BTreeSet::new(), &[(2, 4)].into()), 5);
    }
}
