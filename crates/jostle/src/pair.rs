//! [`Pair`], and [`PairBuffer`], into which algorithms write.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::id::Slot;

/// Two different boxes by their slots, the smaller one first. Pairs order by first slot, then by
/// second. [`Boxes::id_at`](crate::Boxes::id_at) gives the id of the box in a slot.
///
/// ```
/// use jostle::{Aabb, Detector, Filter, Pair};
///
/// let mut detector = Detector::default();
/// let bird = detector.insert(Aabb::default(), Filter::ALL)?;
/// let wire = detector.insert(Aabb::default(), Filter::ALL)?;
/// let pair = detector.step()?.began[0];
/// assert_eq!(pair, Pair::new(wire, bird)); // in any order
/// let partner = pair.other(bird).expect("one of the two");
/// assert_eq!(detector.boxes().id_at(partner), Some(wire));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Foreign", into = "(u32, u32)"))]
#[repr(C)]
pub struct Pair {
    a: Slot,
    b: Slot,
}

impl Pair {
    /// The pair of two boxes, given by id or slot in any order.
    ///
    /// # Panics
    ///
    /// If both are the same: a box does not pair with itself.
    #[inline]
    pub fn new(one: impl Into<Slot>, other: impl Into<Slot>) -> Pair {
        let (one, other) = (one.into(), other.into());
        assert!(one != other, "box {one} cannot pair with itself");
        Pair::sorted(one, other)
    }

    /// The pair of two different slots: [`Pair::new`] for inner loops.
    #[inline(always)]
    pub(crate) fn sorted(one: Slot, other: Slot) -> Pair {
        debug_assert!(one != other, "box {one} cannot pair with itself");
        Pair { a: one.min(other), b: one.max(other) }
    }

    /// The smaller slot.
    #[inline(always)]
    pub const fn a(self) -> Slot {
        self.a
    }

    /// The larger slot.
    #[inline(always)]
    pub const fn b(self) -> Slot {
        self.b
    }

    /// Returns true if the box is one of the two.
    pub fn contains(self, one: impl Into<Slot>) -> bool {
        self.other(one).is_some()
    }

    /// The partner of a box; none if the box is not one of the two.
    pub fn other(self, one: impl Into<Slot>) -> Option<Slot> {
        let one = one.into();
        if one == self.a {
            Some(self.b)
        } else if one == self.b {
            Some(self.a)
        } else {
            None
        }
    }

    /// A number that orders as the pair does.
    #[inline(always)]
    pub const fn key(self) -> u64 {
        (self.a.get() as u64) << 32 | self.b.get() as u64
    }

    /// The pair with a given [`key`](Pair::key).
    #[inline(always)]
    pub const fn from_key(key: u64) -> Pair {
        Pair { a: Slot::new((key >> 32) as u32), b: Slot::new(key as u32) }
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.a, self.b)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.a, self.b)
    }
}

/// A pair as a snapshot holds it, before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Foreign(u32, u32);

#[cfg(feature = "serde")]
impl TryFrom<Foreign> for Pair {
    type Error = String;

    fn try_from(Foreign(a, b): Foreign) -> Result<Pair, String> {
        if a < b {
            return Ok(Pair::from((a, b)));
        }
        Err(format!("[{a}, {b}] is no pair; the first slot must be the smaller of two"))
    }
}

impl From<(u32, u32)> for Pair {
    /// The pair of two slots, given in any order; panics as [`Pair::new`] does.
    fn from((one, other): (u32, u32)) -> Pair {
        Pair::new(one, other)
    }
}

impl From<Pair> for (u32, u32) {
    fn from(pair: Pair) -> (u32, u32) {
        (pair.a.get(), pair.b.get())
    }
}

impl From<Pair> for u64 {
    #[inline(always)]
    fn from(pair: Pair) -> u64 {
        pair.key()
    }
}

/// More pairs were found than the [`PairBuffer`] may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitReached {
    /// The limit.
    pub limit: usize,
}

impl fmt::Display for LimitReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} overlapping pairs", self.limit)
    }
}

impl std::error::Error for LimitReached {}

/// Memory for more pairs than this is worth giving back: one mebibyte.
pub(crate) const MANY_PAIRS: usize = 1 << 17;

/// How many pairs a lane may write before it asks for more of the common budget.
const GRANT: usize = 4096;

/// The pairs found so far, summed over the lanes in steps of [`GRANT`].
#[derive(Debug)]
struct Budget {
    granted: AtomicUsize,
    /// Beyond this many granted pairs the limit is certainly passed.
    ceiling: AtomicUsize,
    limit: AtomicUsize,
}

/// One worker's share of a [`PairBuffer`], on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub struct Lane {
    pairs: Vec<Pair>,
    granted: usize,
    budget: Arc<Budget>,
}

impl Lane {
    /// The most that may be asked of [`Lane::room`] at once.
    pub const MAX_ROOM: usize = GRANT;

    /// Appends a pair of box slots, given in any order.
    #[inline(always)]
    pub fn push(&mut self, one: u32, other: u32) -> Result<(), LimitReached> {
        if self.pairs.len() == self.granted {
            self.grant(1)?;
        }
        self.pairs.push(Pair::sorted(Slot::new(one), Slot::new(other)));
        Ok(())
    }

    /// The pairs as a vector with room for `additional` more, for code that writes many at once.
    /// No more than `additional` may be appended before the next call, and `additional` is at
    /// most [`Lane::MAX_ROOM`].
    #[inline(always)]
    pub fn room(&mut self, additional: usize) -> Result<&mut Vec<Pair>, LimitReached> {
        debug_assert!(additional <= Lane::MAX_ROOM);
        if self.pairs.len() + additional > self.granted {
            self.grant(additional)?;
        }
        self.pairs.reserve(additional);
        Ok(&mut self.pairs)
    }

    #[cold]
    fn grant(&mut self, additional: usize) -> Result<(), LimitReached> {
        let wanted = (self.pairs.len() + additional).saturating_sub(self.granted);
        let grant = wanted.next_multiple_of(GRANT);
        let before = self.budget.granted.fetch_add(grant, Ordering::Relaxed);
        if before > self.budget.ceiling.load(Ordering::Relaxed) {
            return Err(LimitReached { limit: self.budget.limit.load(Ordering::Relaxed) });
        }
        self.granted += grant;
        // Many pairs are given room by quarters: doubled, most of it would stay empty.
        let (length, capacity) = (self.pairs.len(), self.pairs.capacity());
        if length >= GRANT && capacity < self.granted {
            self.pairs.reserve_exact((self.granted - length).max(length / 4));
        }
        Ok(())
    }

    /// The pairs written so far.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }
}

/// Where a broad phase writes what it found: for a full report every overlapping pair, for a
/// delta the began ones, in lanes that several workers can fill at once; and the ended ones.
///
/// The buffer holds at most [`limit`](PairBuffer::limit) pairs. Passing it is an error and never
/// a dropped pair, and whether it is passed does not depend on the number of workers.
#[derive(Debug)]
pub struct PairBuffer {
    lanes: Vec<Lane>,
    ended: Vec<Pair>,
    budget: Arc<Budget>,
}

impl Default for PairBuffer {
    fn default() -> PairBuffer {
        PairBuffer::new()
    }
}

impl Clone for PairBuffer {
    /// An empty buffer with the same limit: what is in a buffer lasts for one step only.
    fn clone(&self) -> PairBuffer {
        PairBuffer::with_limit(self.limit())
    }
}

impl PairBuffer {
    /// The limit unless another is set: 2^27 pairs, one gibibyte.
    pub const DEFAULT_LIMIT: usize = 1 << 27;

    /// An empty buffer with the default limit.
    pub fn new() -> PairBuffer {
        PairBuffer::with_limit(PairBuffer::DEFAULT_LIMIT)
    }

    /// An empty buffer that holds at most `limit` pairs.
    pub fn with_limit(limit: usize) -> PairBuffer {
        let budget = Arc::new(Budget {
            granted: AtomicUsize::new(0),
            ceiling: AtomicUsize::new(limit),
            limit: AtomicUsize::new(limit),
        });
        PairBuffer { lanes: Vec::new(), ended: Vec::new(), budget }
    }

    /// The largest number of pairs the buffer takes.
    pub fn limit(&self) -> usize {
        self.budget.limit.load(Ordering::Relaxed)
    }

    /// Changes the limit. Clear the buffer before its next use.
    pub fn set_limit(&mut self, limit: usize) {
        self.budget.limit.store(limit, Ordering::Relaxed);
    }

    /// Forgets the pairs and keeps the memory.
    pub fn clear(&mut self) {
        for lane in &mut self.lanes {
            lane.pairs.clear();
            lane.granted = 0;
        }
        self.ended.clear();
        self.budget.granted.store(0, Ordering::Relaxed);
    }

    /// At least `count` lanes, for as many tasks to fill at once. Ask once per update, before
    /// writing: a lane's place among the tasks decides nothing but the unsorted order.
    pub fn lanes(&mut self, count: usize) -> &mut [Lane] {
        while self.lanes.len() < count {
            let budget = Arc::clone(&self.budget);
            self.lanes.push(Lane { pairs: Vec::new(), granted: 0, budget });
        }
        // Each lane may hold an unused grant and unused room; only beyond all of them is the
        // limit surely passed.
        let slack = self.lanes.len() * 2 * GRANT;
        self.budget.ceiling.store(self.limit().saturating_add(slack), Ordering::Relaxed);
        &mut self.lanes[..count]
    }

    /// The first lane, for algorithms that write from one thread.
    pub fn lane(&mut self) -> &mut Lane {
        &mut self.lanes(1)[0]
    }

    /// The ended pairs of a delta report.
    pub fn ended_mut(&mut self) -> &mut Vec<Pair> {
        &mut self.ended
    }

    /// The ended pairs of a delta report.
    pub fn ended(&self) -> &[Pair] {
        &self.ended
    }

    /// Number of pairs in the lanes.
    pub fn len(&self) -> usize {
        self.lanes.iter().map(|lane| lane.pairs.len()).sum()
    }

    /// Returns true if no lane holds a pair.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs, lane by lane.
    pub fn slices(&self) -> impl Iterator<Item = &[Pair]> + Clone {
        self.lanes.iter().map(|lane| lane.pairs.as_slice())
    }

    /// Number of lanes, empty ones included.
    pub(crate) fn lane_count(&self) -> usize {
        self.lanes.len()
    }

    /// The pairs of a lane; none if there is no such lane.
    pub(crate) fn slice(&self, lane: usize) -> &[Pair] {
        self.lanes.get(lane).map_or(&[], |lane| lane.pairs.as_slice())
    }

    /// Exchanges the pairs of each lane for those in `others`, of which there may be more: these
    /// are emptied. Clear the buffer before its next use.
    pub(crate) fn swap_lanes(&mut self, others: &mut Vec<Vec<Pair>>) {
        if others.len() < self.lanes.len() {
            others.resize_with(self.lanes.len(), Vec::new);
        }
        let (swapped, rest) = others.split_at_mut(self.lanes.len());
        for (lane, other) in self.lanes.iter_mut().zip(swapped) {
            std::mem::swap(&mut lane.pairs, other);
        }
        rest.iter_mut().for_each(Vec::clear);
    }

    /// The pairs in the order they were written.
    pub fn iter(&self) -> impl Iterator<Item = Pair> {
        self.slices().flatten().copied()
    }

    /// Fails if more pairs were written than the limit allows.
    pub fn check_limit(&self) -> Result<(), LimitReached> {
        let limit = self.limit();
        if self.len() > limit { Err(LimitReached { limit }) } else { Ok(()) }
    }

    /// Gives back most of the memory of lanes that together held many pairs and hold few.
    pub(crate) fn give_back(&mut self) {
        let held: usize = self.lanes.iter().map(|lane| lane.pairs.capacity()).sum();
        if held <= MANY_PAIRS.max(4 * self.len()) {
            return;
        }
        for lane in &mut self.lanes {
            // With room for more: the next step may find more here, and asking costs time.
            lane.pairs.shrink_to(2 * lane.pairs.len());
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let pairs: usize = self.lanes.iter().map(|lane| lane.pairs.capacity()).sum();
        (pairs + self.ended.capacity()) * size_of::<Pair>() + self.lanes.len() * size_of::<Lane>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_ordered_and_survive_their_key() {
        let pair = Pair::new(7, 3);
        assert_eq!((pair.a().get(), pair.b().get()), (3, 7));
        assert_eq!(Pair::from_key(pair.key()), pair);
        assert!(pair < Pair::from((3, 8)) && pair < Pair::from((4, 5)));
        assert_eq!(format!("{pair} {pair:?}"), "3-7 (3, 7)");
        assert_eq!((pair.other(3), pair.other(7)), (Some(Slot::new(7)), Some(Slot::new(3))));
        assert_eq!((pair.other(4), pair.contains(7), pair.contains(8)), (None, true, false));
    }

    #[test]
    fn the_limit_is_exact_for_every_number_of_lanes() {
        for lanes in [1usize, 3, 8] {
            for (count, fits) in [(10_000usize, true), (10_001, false), (400_000, false)] {
                let mut buffer = PairBuffer::with_limit(10_000);
                let mut result = Ok(());
                for (index, lane) in buffer.lanes(lanes).iter_mut().enumerate() {
                    for k in (index..count).step_by(lanes) {
                        result = result.and(lane.push(k as u32, k as u32 + 1));
                    }
                }
                assert_eq!(result.and(buffer.check_limit()).is_ok(), fits, "{count} in {lanes}");
                assert!(buffer.len() <= 10_000 + 4 * lanes * GRANT, "memory is bounded");
            }
        }
    }

    #[test]
    fn clearing_gives_the_budget_back() {
        let mut buffer = PairBuffer::with_limit(5000);
        for _ in 0..10 {
            buffer.clear();
            let lane = buffer.lane();
            (0..5000).for_each(|k| lane.push(k, k + 1).unwrap());
            assert!(buffer.check_limit().is_ok());
        }
    }
}
