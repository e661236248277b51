//! [`Reorder`]: the next order of the movers, made over several steps while the present one is in
//! use, so that no step has to order all boxes at once.
//!
//! Boxes go on moving meanwhile, come and go; an order is only a matter of speed, so those that
//! have left when it is done become gaps, and those that have come are appended.

use crate::boxes::Boxes;
use crate::par::Workers;

use super::super::order::{Input, NONE, Sorter};
use super::super::tree::NOTHING;
use super::aim::Aim;
use super::{Forest, MOVING};
use crate::filter::Filter;
use crate::simd::node8::WIDTH;

/// Over how many steps the fine order is spread.
const CUTS: usize = 4;

/// What the next step does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Nothing is to be ordered.
    #[default]
    Idle,
    /// Finds the places of the boxes along a curve.
    Code,
    /// Sorts them by it.
    Sort,
    /// Orders one of [`CUTS`] shares of them finely.
    Cut(usize),
    /// The order is there to be taken.
    Ready,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Reorder {
    phase: Phase,
    order: Vec<u32>,
    pub aim: Aim,
    /// True if the order is made for where boxes in steady motion will be.
    ahead: bool,
    /// True if boxes have joined or left the movers since the order was begun.
    disturbed: bool,
}

/// How much worse the walks have become since the movers were ordered, in tests.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wear {
    /// True if the order was made ahead: then it is worn at first and at its best later.
    ahead: bool,
    /// True if another order is wanted whatever the tests are.
    pub urgent: bool,
    steps: u64,
    tests: u64,
    /// In the last step, the best one, and how many steps came before that.
    last: u64,
    least: u64,
    best: u64,
}

impl Wear {
    /// Takes the tests of a step.
    pub(super) fn note(&mut self, tests: u64) {
        // An order that is not made ahead is at its best at first: fewer tests later have other
        // reasons.
        if self.steps == 0 || (self.ahead && tests < self.least) {
            (self.least, self.best) = (tests, self.steps);
        }
        self.last = tests.max(self.least);
        self.tests += self.last;
        self.steps += 1;
    }

    /// How far the steps were above the best, together.
    fn sum(&self) -> u64 {
        self.tests - self.steps * self.least
    }

    /// Returns true if an order that costs as much as some tests, and is there after some steps,
    /// should be begun: if the steps would by then be further above the best than all have been on
    /// average, with the cost of the order shared among them. That is where the average is least.
    fn is_due(&self, cost: u64, making: u32, steady: bool) -> bool {
        let since = self.steps.saturating_sub(self.best + 1);
        if since < SOON.min(u64::from(making)) || self.steps == 0 {
            return false;
        }
        let (since, making) = (since.max(1) as f64, f64::from(making));
        let grown = (since + making) / since;
        let now = (self.last - self.least) as f64;
        // Boxes in straight motion leave a node's bounds as a square or faster.
        let then = now * if steady { grown * grown } else { grown };
        let sum = self.sum() as f64 + 0.5 * making * (now + then);
        then * (self.steps as f64 + making) > cost as f64 + sum
    }
}

impl Reorder {
    /// Says that boxes join or leave the movers.
    #[inline]
    pub(super) fn disturb(&mut self) {
        self.disturbed = true;
    }

    /// Returns true if nothing was begun.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Forgets what was begun.
    pub(super) fn cancel(&mut self) {
        self.phase = Phase::Idle;
    }

    /// Begins to order the boxes whose ids a sorter has, which is in use until the order is taken.
    pub(super) fn begin(&mut self) {
        self.phase = Phase::Code;
        self.disturbed = false;
    }

    /// Does one step's share. `ids` are the movers by place, `filters` those of all boxes by id; it
    /// is empty if there are none.
    fn advance(&mut self, sorter: &mut Sorter, ids: &[u32], filters: &[Filter], workers: &Workers) {
        let aim = &self.aim;
        let spot = |place: u32| aim.spot(place);
        self.phase = match self.phase {
            Phase::Code => {
                // A box that has left since the order was begun has no filter.
                let of = |place: u32| {
                    let id = ids[place as usize] as usize;
                    filters.get(id).copied().unwrap_or(NOTHING)
                };
                let filter = (!filters.is_empty()).then_some(of);
                sorter.code(&Input { spot, filter }, workers);
                Phase::Sort
            }
            Phase::Sort => {
                sorter.sort(&spot, workers);
                Phase::Cut(0)
            }
            Phase::Cut(share) => {
                sorter.cut_share(&spot, workers, &mut self.order, share, CUTS);
                if share + 1 < CUTS { Phase::Cut(share + 1) } else { Phase::Ready }
            }
            phase => phase,
        };
    }

    /// The order, if it is done. The caller may keep the vector and leave another.
    pub(super) fn take(&mut self) -> Option<&mut Vec<u32>> {
        let ready = self.phase == Phase::Ready;
        if ready {
            self.phase = Phase::Idle;
        }
        ready.then_some(&mut self.order)
    }

    /// Takes memory for the next order, so that no later step has to.
    pub(super) fn reserve(&mut self, places: usize) {
        self.order.clear();
        self.order.reserve_exact(places);
        self.aim.reserve(places);
    }

    /// Takes the vector of an order that is not used any more.
    pub(super) fn give_back(&mut self, order: &mut Vec<u32>) {
        std::mem::swap(&mut self.order, order);
    }

    /// Gives back the memory of more than some places, unless it is in use.
    pub(super) fn trim(&mut self, places: usize) {
        if self.is_idle() {
            self.order.clear();
            self.order.shrink_to(places);
            self.aim.trim(places);
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.order.capacity() * 4 + self.aim.bytes()
    }
}

/// In the tree of movers and in the next order of it, while that is taken over.
const LISTED: u8 = MOVING - 1;

/// Places whose boxes one task looks up.
const PLACES_PER_TASK: usize = 1 << 13;

/// Over how many steps an order is made.
const ORDERING: u32 = 3 + CUTS as u32;

/// The most steps that an order is made ahead: what goes straight on has mostly met something by
/// then.
const MOST_STEPS_AHEAD: f32 = 64.0;

/// What an order costs, with the report of all pairs that follows from it, in tests per block.
/// Measured with 60 to 240 on `uniform` and `sizes`, whole steps differ by 3 % at most.
const COST_PER_BLOCK: u64 = 100;

/// Steps since the best one after which it is foreseen how an order wears.
const SOON: u64 = 3;

/// How far the walks may fall behind those on a fresh tree, summed over the steps, in tests per
/// block, before the tree is rebuilt at once.
const WORN_OUT: u64 = 240;

/// Trees of fewer blocks than this are ordered at once.
pub(super) const FEW_BLOCKS: usize = 32;

impl Forest {
    /// Before the movers are read again: notes where they are if the next order is to be begun.
    pub(super) fn note_before(&mut self, at_once: bool) {
        if (at_once || self.wants_order())
            && let Some(blocks) = self.moving.levels.first()
        {
            self.reorder.aim.note(blocks, &self.workers);
        }
    }

    /// Returns true if the next order is to be begun, now or over some steps.
    fn wants_order(&self) -> bool {
        let blocks = self.moving.blocks();
        let due =
            || self.wear.is_due(blocks as u64 * COST_PER_BLOCK, ORDERING, self.forecast.steady);
        self.reorder.is_idle()
            && blocks >= FEW_BLOCKS
            && (self.wear.urgent || self.has_gaps(1) || due())
    }

    /// As [`Forest::note_before`], if the movers have been read and their previous bounds kept.
    pub(super) fn note_previous(&mut self) {
        if self.wants_order() {
            self.reorder.aim.note(&self.old, &self.workers);
        }
    }

    /// Begins to order the movers, or does a step's share of it.
    pub(in super::super) fn advance_order(&mut self, boxes: &Boxes) {
        let blocks = self.moving.levels.first().map_or(&[][..], |level| level);
        self.forecast.step(blocks);
        if self.reorder.is_idle() {
            if !self.reorder.aim.is_noted() {
                return;
            }
            return self.begin_order(ORDERING);
        }
        self.advance(boxes);
    }

    /// Begins an order that will be there after some steps, for the middle of its life.
    fn begin_order(&mut self, making: u32) {
        let blocks = self.moving.levels.first().map_or(&[][..], |level| level);
        self.forecast.judge(blocks);
        let life = self.forecast.age + making;
        let steps = if self.forecast.steady { making as f32 + 0.5 * life as f32 } else { 0.0 };
        self.reorder.ahead = self.forecast.steady;
        self.reorder.aim.lead(blocks, steps.min(MOST_STEPS_AHEAD), &self.workers);
        if self.moving.live == self.moving.ids.len() {
            self.sorter.begin_with_all(self.moving.live, &self.workers);
        } else {
            let places = self.moving.ids.iter().enumerate();
            let live = places.filter(|(_, id)| **id != NONE).map(|(place, _)| place as u32);
            self.sorter.begin().add(live);
        }
        self.reorder.begin();
    }

    fn advance(&mut self, boxes: &Boxes) {
        let filters = if boxes.has_filters() { boxes.filters() } else { &[] };
        self.reorder.advance(&mut self.sorter, &self.moving.ids, filters, &self.workers);
    }

    /// Orders few movers that were noted and have been read, all at once. Their bounds have to be
    /// read once more.
    pub(super) fn order_at_once(&mut self, boxes: &Boxes) {
        self.begin_order(0);
        while self.reorder.phase != Phase::Ready {
            self.advance(boxes);
        }
        self.take_order();
        self.adopt_order();
    }

    /// Returns true if the movers have to be ordered at once: there are few, or the tree has
    /// become so bad that it cannot wait.
    pub(super) fn is_worn_out(&self) -> bool {
        let blocks = self.moving.blocks() as u64;
        if self.moving.blocks() < FEW_BLOCKS {
            return self.has_gaps(2) || self.wear.is_due(blocks * COST_PER_BLOCK, 0, false);
        }
        self.has_gaps(3) || self.wear.sum() > blocks * WORN_OUT
    }

    /// Returns true if more than `eighths` eighths of the places are empty.
    fn has_gaps(&self, eighths: usize) -> bool {
        self.moving.taken * 8 > self.moving.ids.len() * eighths
    }

    /// Starts counting the decay of a tree of movers that was just built.
    pub(super) fn settle(&mut self) {
        self.wear = Wear { ahead: std::mem::take(&mut self.reorder.ahead), ..Wear::default() };
        self.forecast.begin();
        self.builds += 1;
        if self.moving.blocks() >= FEW_BLOCKS {
            self.reorder.reserve(self.moving.ids.len());
        }
    }

    /// Puts the order that was made meanwhile into `self.order`, with gaps for what has left the
    /// movers and with what has come at its end. Returns false if there is none.
    pub(super) fn take_order(&mut self) -> bool {
        let disturbed = self.reorder.disturbed;
        let Some(next) = self.reorder.take() else { return false };
        std::mem::swap(&mut self.order, next);
        self.orders_ahead += u64::from(self.reorder.ahead);
        let ids = &self.moving.ids;
        self.workers.for_each_chunk(&mut self.order, PLACES_PER_TASK, |_, order| {
            let listed = order.iter_mut().filter(|place| **place != NONE);
            listed.for_each(|place| *place = ids[*place as usize]);
        });
        self.forecast.judge(self.moving.levels.first().map_or(&[][..], |level| level));
        if !disturbed {
            self.order.resize(self.order.len().next_multiple_of(WIDTH), NONE);
            return true;
        }
        let mut known = 0;
        for id in self.order.iter_mut().filter(|id| **id != NONE) {
            match &mut self.homes[*id as usize] {
                home if *home == MOVING => {
                    *home = LISTED;
                    known += 1;
                }
                _ => *id = NONE,
            }
        }
        if known < self.moving.live {
            let homes = &self.homes;
            let new = self.moving.live_ids().filter(|&id| homes[id as usize] == MOVING);
            self.order.extend(new);
        }
        for &id in self.order.iter().filter(|id| **id != NONE) {
            self.homes[id as usize] = MOVING;
        }
        self.order.resize(self.order.len().next_multiple_of(WIDTH), NONE);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: u64 = 100;
    const COST: u64 = BLOCKS * COST_PER_BLOCK;

    fn worn(ahead: bool, tests: impl IntoIterator<Item = u64>) -> Wear {
        let mut wear = Wear { ahead, ..Wear::default() };
        tests.into_iter().for_each(|tests| wear.note(tests));
        wear
    }

    /// The step in which an order is begun while tests grow.
    fn begun(ahead: bool, tests: impl Fn(u64) -> u64) -> Option<u64> {
        (0..1000).find(|&steps| worn(ahead, (0..steps).map(&tests)).is_due(COST, ORDERING, true))
    }

    #[test]
    fn an_order_that_does_not_wear_is_never_replaced() {
        assert_eq!(begun(false, |_| 30 * BLOCKS), None);
        // Nor one on which the boxes spread out.
        assert_eq!(begun(false, |step| 30 * BLOCKS - step), None);
        assert!(!Wear::default().is_due(COST, ORDERING, true));
    }

    #[test]
    fn the_faster_an_order_wears_the_sooner_it_is_replaced() {
        let at = |growth: u64| begun(false, |step| 30 * BLOCKS + step * step * growth).unwrap();
        let steps = [1, 10, 100].map(at);
        assert!(steps[0] > steps[1] && steps[1] > steps[2], "{steps:?}");
        assert!(steps[2] >= SOON);
    }

    /// One that was made ahead is at its best some steps later, and only then begins to wear.
    #[test]
    fn an_order_made_ahead_is_not_replaced_before_its_best_step() {
        let tests = |step: u64| 30 * BLOCKS + step.abs_diff(10).pow(2) * 10;
        let begun = begun(true, tests).unwrap();
        assert!(begun > 10 + SOON, "{begun}");
        let wear = worn(true, (0..20).map(tests));
        assert_eq!((wear.least, wear.best), (30 * BLOCKS, 10));
    }
}
