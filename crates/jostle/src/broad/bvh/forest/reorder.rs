//! [`Reorder`]: the next order of the movers, made over several steps while the present one is in
//! use, so that no step has to order all boxes at once.
//!
//! Boxes go on moving meanwhile, come and go; an order is only a matter of speed, so those that
//! have left when it is done become gaps, and those that have come are appended.

use crate::boxes::Boxes;
use crate::par::Workers;

use super::super::order::{Input, NONE, Sorter};
use super::{Forest, MOVING};
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
    /// True if boxes have joined or left the movers since the order was begun.
    disturbed: bool,
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

    /// Does one step's share.
    pub(super) fn advance(&mut self, sorter: &mut Sorter, boxes: &Boxes, workers: &Workers) {
        // Boxes that were removed since they were listed are NaN, which orders like a number.
        let aabb = |id: u32| boxes.aabbs()[id as usize];
        self.phase = match self.phase {
            Phase::Code => {
                let filter = boxes.has_filters().then_some(|id: u32| boxes.filters()[id as usize]);
                sorter.code(&Input { aabb, filter }, workers);
                Phase::Sort
            }
            Phase::Sort => {
                sorter.sort(&aabb, workers);
                Phase::Cut(0)
            }
            Phase::Cut(share) => {
                sorter.cut_share(&aabb, workers, &mut self.order, share, CUTS);
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
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.order.capacity() * 4
    }
}

/// In the tree of movers and in the next order of it, while that is taken over.
const LISTED: u8 = MOVING - 1;

/// Trees of fewer blocks than this are ordered at once.
const FEW_BLOCKS: usize = 32;

impl Forest {
    /// Begins to order the movers, or does a step's share of it.
    pub(in super::super) fn advance_order(&mut self, boxes: &Boxes) {
        if self.reorder.is_idle() {
            if self.moving.blocks() < FEW_BLOCKS || !self.is_worn(1, 1) {
                return;
            }
            // In the order of slots, in which the boxes are in memory: in that of the tree, most of
            // the time of surveying and coding them was spent waiting for them.
            if self.moving.live == self.homes.len() {
                self.sorter.begin_with_all(self.homes.len(), &self.workers);
            } else {
                let homes = self.homes.iter().enumerate();
                let movers = homes.filter(|(_, home)| **home == MOVING).map(|(id, _)| id as u32);
                self.sorter.begin().add(movers);
            }
            self.reorder.begin();
        }
        self.reorder.advance(&mut self.sorter, boxes, &self.workers);
    }

    /// Returns true if the movers have to be ordered at once: there are few, or the tree has
    /// become so bad that it cannot wait.
    pub(super) fn is_worn_out(&self) -> bool {
        if self.moving.blocks() < FEW_BLOCKS { self.is_worn(2, 2) } else { self.is_worn(6, 3) }
    }

    /// Starts counting the decay of a tree of movers that was just built.
    pub(super) fn settle(&mut self) {
        self.fresh_tests = None;
        self.decay = 0;
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
