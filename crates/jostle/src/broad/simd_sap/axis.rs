//! [`AxisList`]: the endpoints on one axis as values and ids, sorted by vectors, and the retest of
//! those that changed their rank. One worker runs it without knowing about the other axes.

use crate::aabb::Aabb;
use crate::broad::persistent::{Endpoint, FollowError, FollowResult, PairJudge, fill_sorted};
use crate::ds::radix_sort::{from_ordered_bits, ordered_bits, sort_items};
use crate::id::Slot;
use crate::pair::{Lane, Pair};
use crate::simd::endpoint_sort::{LANES, PADDING, differences, sort};

use super::Retest;

/// Set in the id of a lower endpoint: as the sign it makes lower endpoints sort before upper ones.
const LOWER: i32 = i32::MIN;

/// From this many entries on a radix sort is used.
const MANY: usize = 1 << 16;

/// What a test and what a split cost, in units of one test of `CostModel`: a test comes with the
/// search for what was passed.
pub(super) const TEST_WORK: u64 = 2;
const SPLIT_WORK: u64 = 2;

/// The moved boxes are visited one by one if fewer than one endpoint in this many belongs to them.
const WALK_SHARE: usize = 8;

#[inline(always)]
fn id_of(slot: u32, upper: bool) -> i32 {
    slot as i32 | if upper { 0 } else { LOWER }
}

#[inline(always)]
pub(super) fn slot_of(id: i32) -> u32 {
    (id & !LOWER) as u32
}

/// The place of an endpoint's rank in [`AxisList::ranks`].
#[inline(always)]
fn rank_place(id: i32) -> usize {
    2 * slot_of(id) as usize + usize::from(id >= 0)
}

/// A signed number that orders as the value does.
#[inline(always)]
fn signed_key(value: f32) -> i32 {
    (ordered_bits(value) ^ 1 << 31) as i32
}

/// The sorted endpoints on one axis.
#[derive(Clone, Debug, Default)]
pub(super) struct AxisList {
    /// Values and ids in sorted order, padded to whole vectors.
    values: Vec<i32>,
    ids: Vec<i32>,
    /// Number of endpoints; what follows them is padding.
    count: usize,
    /// Ids in the order of the previous step.
    previous: Vec<i32>,
    /// The ranks of the endpoints of each slot, lower then upper.
    ranks: Vec<u32>,
    /// The same of the previous step; only for [`Retest::Between`].
    old_ranks: Vec<u32>,
    /// Places whose id changed.
    changed: Vec<u32>,
    /// The previous ranks of the endpoints of each moved box; only if few moved.
    from: Vec<[u32; 2]>,
    /// For sorting from scratch, and the endpoints of inserted boxes.
    packed: Vec<u64>,
    pub(super) began: Vec<Pair>,
    pub(super) ended: Vec<Pair>,
    pub(super) counts: AxisCounts,
}

/// What was counted on one axis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AxisCounts {
    pub tests: u64,
    pub splits: u64,
    pub changed: u64,
}

impl AxisCounts {
    #[inline(always)]
    fn check(&self, moves: &AxisMoves<'_>) -> FollowResult {
        let work = self.tests * TEST_WORK + self.splits * SPLIT_WORK;
        if work > moves.budget { Err(FollowError::OverBudget) } else { Ok(()) }
    }
}

/// What a worker needs to know to follow the moves on its axis.
#[derive(Clone, Copy)]
pub(super) struct AxisMoves<'a> {
    pub judge: PairJudge<'a>,
    /// Place of the axis in the order of precedence.
    pub place: usize,
    pub moved: &'a [u32],
    pub retest: Retest,
    /// The most work, in units of one test.
    pub budget: u64,
}

impl AxisList {
    /// Sorts the endpoints of these boxes from scratch.
    pub(super) fn rebuild(
        &mut self,
        aabbs: &[Aabb],
        axis: usize,
        slots: impl Iterator<Item = u32> + Clone,
    ) {
        self.packed.clear();
        pack_endpoints(&mut self.packed, aabbs, axis, slots);
        if self.packed.len() < MANY {
            self.packed.sort_unstable();
        } else {
            let mut spare = vec![0; self.packed.len()];
            sort_items(&mut self.packed, &mut spare);
        }
        self.values.clear();
        self.values.extend(self.packed.iter().map(|&packed| unpack(packed).0));
        self.ids.clear();
        self.ids.extend(self.packed.iter().map(|&packed| unpack(packed).1));
        self.set_count(self.packed.len());
        self.ranks.resize(2 * aabbs.len(), 0);
        for (rank, &id) in self.ids[..self.count].iter().enumerate() {
            self.ranks[rank_place(id)] = rank as u32;
        }
        if self.packed.len() >= MANY {
            // Sorting this many needs fresh memory anyway.
            self.release();
        }
    }

    /// Pads to whole vectors behind this many endpoints.
    fn set_count(&mut self, count: usize) {
        self.count = count;
        for entries in [&mut self.values, &mut self.ids] {
            entries.truncate(count);
            entries.resize(count.next_multiple_of(LANES), PADDING);
        }
    }

    /// The ids of the endpoints in order.
    pub(super) fn ids(&self) -> &[i32] {
        &self.ids[..self.count]
    }

    /// Endpoints per unit of length in the middle three quarters: a few giant or distant boxes do
    /// not count.
    pub(super) fn density(&self) -> f32 {
        let (low, high) = (self.count / 8, self.count - self.count / 8);
        if high < low + 2 {
            return 0.0;
        }
        let value = |at: usize| from_ordered_bits(self.values[at] as u32 ^ 1 << 31);
        let width = value(high - 1) - value(low);
        if width > 0.0 { (high - low) as f32 / width } else { 0.0 }
    }

    /// Removes the boxes for which `removed` holds.
    pub(super) fn remove(&mut self, removed: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for place in 0..self.count {
            let (value, id) = (self.values[place], self.ids[place]);
            if !removed(slot_of(id)) {
                (self.values[kept], self.ids[kept]) = (value, id);
                self.ranks[rank_place(id)] = kept as u32;
                kept += 1;
            }
        }
        self.set_count(kept);
    }

    /// Inserts boxes: their sorted endpoints are merged with the others from the back.
    pub(super) fn insert(&mut self, inserted: &[u32], aabbs: &[Aabb], axis: usize) {
        self.packed.clear();
        pack_endpoints(&mut self.packed, aabbs, axis, inserted.iter().copied());
        self.packed.sort_unstable();
        let (mut from, mut left) = (self.count, self.packed.len());
        self.set_count(from + left);
        self.ranks.resize(2 * aabbs.len(), 0);
        while left > 0 {
            let to = from + left - 1;
            let before = from.checked_sub(1).map(|at| (self.values[at], self.ids[at]));
            let next = unpack(self.packed[left - 1]);
            let entry = before.filter(|&before| before > next).unwrap_or(next);
            if entry == next {
                left -= 1
            } else {
                from -= 1
            }
            (self.values[to], self.ids[to]) = entry;
            self.ranks[rank_place(entry.1)] = to as u32;
        }
    }

    /// Gives the moved boxes their new values, sorts, and retests what changed its rank.
    pub(super) fn follow(&mut self, moves: &AxisMoves<'_>, lane: &mut Lane) -> FollowResult {
        self.began.clear();
        self.ended.clear();
        self.counts = AxisCounts::default();
        self.previous.clone_from(&self.ids);
        let few = moves.moved.len() * WALK_SHARE < self.count;
        self.from.clear();
        self.renew(moves, few && moves.retest == Retest::Passed);
        self.sort(moves)?;
        self.changed.clear();
        differences(&self.ids, &self.previous, &mut self.changed);
        self.counts.changed = self.changed.len() as u64;
        match moves.retest {
            Retest::Passed if few => {
                self.update_ranks();
                self.retest_moved(moves, lane)
            }
            Retest::Passed => self.retest_changed(moves, lane),
            Retest::Between | Retest::All => {
                self.old_ranks.clone_from(&self.ranks);
                self.update_ranks();
                self.retest_boxes(moves)
            }
        }
    }

    fn update_ranks(&mut self) {
        for &place in &self.changed {
            self.ranks[rank_place(self.ids[place as usize])] = place;
        }
    }

    /// Gives the moved boxes their new values, and if told, notes their ranks.
    fn renew(&mut self, moves: &AxisMoves<'_>, note: bool) {
        let axis = moves.judge.axis(moves.place);
        for &slot in moves.moved {
            let aabb = &moves.judge.now()[slot as usize];
            let place = 2 * slot as usize;
            let ranks = [self.ranks[place], self.ranks[place + 1]];
            if note {
                self.from.push(ranks);
            }
            self.values[ranks[0] as usize] = signed_key(aabb.min[axis]);
            self.values[ranks[1] as usize] = signed_key(aabb.max[axis]);
        }
    }

    /// Sorts by vectors. Entries that are far from order exhaust the budget, or are sorted from
    /// scratch if there is none.
    fn sort(&mut self, moves: &AxisMoves<'_>) -> FollowResult {
        let budget = (self.values.len() as u64).min(moves.budget / SPLIT_WORK);
        let splits = sort(&mut self.values, &mut self.ids, budget);
        self.counts.splits = splits.unwrap_or(budget);
        if splits.is_some() {
            return Ok(());
        }
        if moves.budget < u64::MAX {
            return Err(FollowError::OverBudget);
        }
        self.packed.clear();
        let entries = self.values.iter().zip(&self.ids);
        self.packed.extend(entries.map(|(&value, &id)| pack(value, id)));
        self.packed.sort_unstable();
        for (place, &packed) in self.packed.iter().enumerate() {
            (self.values[place], self.ids[place]) = unpack(packed);
        }
        Ok(())
    }

    /// Each endpoint that moved against those it passed, for when few moved. One that moved right
    /// looks for them in the new order, one that moved left in the old order, between its old
    /// value and its new one. Of two endpoints that swapped exactly one sees the other: call the
    /// one that was left `e` (from e to e'), the other `q` (from q to q'), so e < q and q' < e'. If
    /// e < q', then `e` moved right and sees q' on its way; otherwise q' < e, `q` moved left and
    /// sees e on its way.
    ///
    /// The old order is read by the previous bounds, which the tests need anyway; a copy of the old
    /// values would have to be made in every step.
    fn retest_moved(&mut self, moves: &AxisMoves<'_>, lane: &mut Lane) -> FollowResult {
        let (axis, then) = (moves.judge.axis(moves.place), moves.judge.then());
        let old_value = |id: i32| old_value(then, axis, id);
        for (&slot, from) in moves.moved.iter().zip(&self.from) {
            for upper in [false, true] {
                let id = id_of(slot, upper);
                let to = self.ranks[rank_place(id)] as usize;
                let from = from[usize::from(upper)] as usize;
                let (new, old) = (self.values[to], old_value(id));
                let ended = &mut self.ended;
                self.counts.tests += if new > old {
                    let order = self.ids[..to].iter().zip(&self.values[..to]).rev();
                    let passed = order.take_while(|&(&other, &value)| (value, other) > (old, id));
                    test_passed(id, true, passed.map(|(&other, _)| other), moves, lane, ended)?
                } else {
                    let order = self.previous[..from].iter().copied().rev();
                    let passed = order.take_while(|&other| (old_value(other), other) > (new, id));
                    test_passed(id, false, passed, moves, lane, ended)?
                };
            }
            self.counts.check(moves)?;
        }
        Ok(())
    }

    /// Each endpoint that changed its rank against those it passed, for when many moved: memory is
    /// read forward, and how many were passed is known at once. The same argument holds for ranks
    /// instead of values; two endpoints cannot both be at one rank, but one may come to where the
    /// other was, so one that moved left looks at what lies strictly between.
    fn retest_changed(&mut self, moves: &AxisMoves<'_>, lane: &mut Lane) -> FollowResult {
        for &place in &self.changed {
            let (id, to) = (self.ids[place as usize], place as usize);
            let from = std::mem::replace(&mut self.ranks[rank_place(id)], place) as usize;
            let right = to > from;
            let passed = if right { &self.ids[from..to] } else { &self.previous[to + 1..from] };
            self.counts.tests += passed.len() as u64;
            self.counts.check(moves)?;
            test_passed(id, right, passed.iter().copied(), moves, lane, &mut self.ended)?;
        }
        Ok(())
    }

    /// The thesis's methods. The first: each changed box against those with an endpoint between its
    /// own, in the new order and in the old, and between the two. The second: each changed box
    /// against every other.
    fn retest_boxes(&mut self, moves: &AxisMoves<'_>) -> FollowResult {
        for place in 0..self.changed.len() {
            let Some(slot) = self.first_mention(place) else { continue };
            if moves.retest == Retest::All {
                self.counts.tests += self.ids.len() as u64;
                changed_pairs(slot, &self.ids, moves, &mut self.began, &mut self.ended);
            } else {
                let old = &self.old_ranks[2 * slot as usize..][..2];
                let new = &self.ranks[2 * slot as usize..][..2];
                let range = old[0].min(new[0]) as usize..=old[1].max(new[1]) as usize;
                self.counts.tests += 2 * (range.end() - range.start() + 1) as u64;
                for order in [&self.ids, &self.previous] {
                    let order = &order[range.clone()];
                    changed_pairs(slot, order, moves, &mut self.began, &mut self.ended);
                }
            }
            self.counts.check(moves)?;
        }
        Ok(())
    }

    /// The box of a changed endpoint, unless its other endpoint comes first.
    fn first_mention(&self, place: usize) -> Option<u32> {
        let id = self.ids[self.changed[place] as usize];
        let lower = rank_place(id | LOWER);
        let lower_changed = self.ranks[lower] != self.old_ranks[lower];
        (id < 0 || !lower_changed).then_some(slot_of(id))
    }

    /// Gives back memory that only sorting from scratch needs.
    pub(super) fn release(&mut self) {
        self.packed = Vec::new();
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let orders = [&self.values, &self.ids, &self.previous];
        let words = orders.map(Vec::capacity);
        let ranks = [&self.ranks, &self.old_ranks, &self.changed].map(Vec::capacity);
        let pairs = self.began.capacity() + self.ended.capacity();
        let longs = pairs + self.packed.capacity() + self.from.capacity();
        words.iter().chain(&ranks).sum::<usize>() * 4 + longs * 8
    }

    /// Panics if the list is not the sorted endpoints of these boxes.
    pub(super) fn validate(
        &self,
        aabbs: &[Aabb],
        axis: usize,
        slots: impl Iterator<Item = u32> + Clone,
    ) {
        let mut expected = Vec::new();
        fill_sorted(&mut expected, aabbs, axis, slots);
        let entries = self.values.iter().zip(&self.ids).filter(|(value, _)| **value != PADDING);
        let found: Vec<(i32, i32)> = entries.map(|(&value, &id)| (value, id)).collect();
        let entry = |end: &Endpoint| (signed_key(end.value()), id_of(end.slot(), end.is_upper()));
        assert!(
            found.iter().copied().eq(expected.iter().map(entry)),
            "axis {axis}: the list is not the sorted endpoints of the boxes"
        );
        for (rank, &(_, id)) in found.iter().enumerate() {
            assert_eq!(self.ranks[rank_place(id)], rank as u32, "axis {axis}: a rank is wrong");
        }
    }
}

/// The value of an endpoint before the step.
#[inline(always)]
fn old_value(then: &[Aabb], axis: usize, id: i32) -> i32 {
    let aabb = &then[slot_of(id) as usize];
    signed_key(if id < 0 { aabb.min[axis] } else { aabb.max[axis] })
}

/// An endpoint against those it has passed. An upper endpoint that moves right, or a lower one that
/// moves left, begins pairs; the others end them. Returns how many there were.
#[inline(always)]
fn test_passed(
    id: i32,
    right: bool,
    passed: impl Iterator<Item = i32>,
    moves: &AxisMoves<'_>,
    lane: &mut Lane,
    ended: &mut Vec<Pair>,
) -> Result<u64, FollowError> {
    let gain = right == (id >= 0);
    let boxes = if gain { moves.judge.now() } else { moves.judge.then() };
    let slot = slot_of(id);
    let moved = boxes[slot as usize];
    let mut tests = 0;
    for end in passed {
        tests += 1;
        let other = slot_of(end);
        // Endpoints of the same kind are tested in vain: the kind is random, and a mispredicted
        // branch costs more.
        if !(moved.overlaps(&boxes[other as usize]) & (id ^ end < 0)) {
            continue;
        }
        let (lower, upper) = if id < 0 { (slot, other) } else { (other, slot) };
        if gain && moves.judge.gains(moves.place, lower, upper) {
            lane.push(lower, upper)?;
        } else if !gain && moves.judge.loses(moves.place, lower, upper) {
            ended.push(Pair::new(Slot::new(lower), Slot::new(upper)));
        }
    }
    Ok(tests)
}

/// The pairs of a box with those in a list of endpoints that began or ended.
fn changed_pairs(
    slot: u32,
    ends: &[i32],
    moves: &AxisMoves<'_>,
    began: &mut Vec<Pair>,
    ended: &mut Vec<Pair>,
) {
    let (now, then) = (moves.judge.now(), moves.judge.then());
    let (here, before) = (now[slot as usize], then[slot as usize]);
    for other in ends.iter().filter(|&&end| end != PADDING).map(|&end| slot_of(end)) {
        let overlap = here.overlaps(&now[other as usize]);
        if overlap == before.overlaps(&then[other as usize]) || other == slot {
            continue;
        }
        let pair = Pair::new(Slot::new(slot), Slot::new(other));
        if moves.judge.began(slot, other) {
            began.push(pair);
        } else if moves.judge.ended(slot, other) {
            ended.push(pair);
        }
    }
}

/// Packs the endpoints of boxes, which ascend: lower ones first, so that equal values are in order.
fn pack_endpoints(
    packed: &mut Vec<u64>,
    aabbs: &[Aabb],
    axis: usize,
    slots: impl Iterator<Item = u32> + Clone,
) {
    let lower = |slot: u32| pack(signed_key(aabbs[slot as usize].min[axis]), id_of(slot, false));
    let upper = |slot: u32| pack(signed_key(aabbs[slot as usize].max[axis]), id_of(slot, true));
    packed.extend(slots.clone().map(lower));
    packed.extend(slots.map(upper));
}

/// A word that orders by value, then by id.
#[inline(always)]
fn pack(value: i32, id: i32) -> u64 {
    u64::from(value as u32 ^ 1 << 31) << 32 | u64::from(id as u32 ^ 1 << 31)
}

#[inline(always)]
fn unpack(packed: u64) -> (i32, i32) {
    (((packed >> 32) as u32 ^ 1 << 31) as i32, (packed as u32 ^ 1 << 31) as i32)
}
