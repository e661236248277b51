//! What changed in a set of boxes since the last step, and who has seen it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Boxes, KEPT};
use crate::id::Slot;

/// What happened to the boxes since the last step. A box is in at most one of the lists.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(super) inserted: Vec<Slot>,
    pub(super) moved: Vec<Slot>,
    pub(super) removed: Vec<Slot>,
}

impl Changes {
    /// Boxes that are new.
    pub fn inserted(&self) -> &[Slot] {
        &self.inserted
    }

    /// Boxes whose bounds or filter changed.
    pub fn moved(&self) -> &[Slot] {
        &self.moved
    }

    /// Boxes that are gone.
    pub fn removed(&self) -> &[Slot] {
        &self.removed
    }

    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.moved.is_empty() && self.removed.is_empty()
    }

    /// Number of boxes in the three lists.
    pub fn len(&self) -> usize {
        self.inserted.len() + self.moved.len() + self.removed.len()
    }
}

impl Boxes {
    /// Returns true if a list of changes names the slot, or its box was inserted and withdrawn.
    #[inline]
    pub(crate) fn is_changed(&self, slot: u32) -> bool {
        self.state.get(slot as usize).is_none_or(|&state| state != KEPT)
    }
}

/// Where each box is in the list of changes that names it. Only the removal of such a box asks, so
/// nothing is written before the first one of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    by_slot: Vec<u32>,
    /// True if the places of all listed boxes are known.
    known: bool,
}

impl Places {
    /// Says that a list has grown behind a place.
    #[inline]
    pub(super) fn note(&mut self, list: &[Slot], from: usize) {
        if self.known {
            self.write(list, from);
        }
    }

    fn write(&mut self, list: &[Slot], from: usize) {
        for (place, slot) in list.iter().enumerate().skip(from) {
            if self.by_slot.len() <= slot.index() {
                self.by_slot.resize(slot.index() + 1, 0);
            }
            self.by_slot[slot.index()] = place as u32;
        }
    }

    /// Says that the lists are empty.
    pub(super) fn forget(&mut self) {
        self.known = false;
    }

    /// Finds the places of all listed boxes, if they are not known.
    pub(super) fn find(&mut self, changes: &Changes) {
        if !self.known {
            self.write(&changes.inserted, 0);
            self.write(&changes.moved, 0);
            self.known = true;
        }
    }

    /// Takes a box out of a list of changes; the last one of the list takes its place.
    pub(super) fn withdraw(&mut self, list: &mut Vec<Slot>, slot: Slot) {
        let at = self.by_slot[slot.index()] as usize;
        list.swap_remove(at);
        if let Some(&shifted) = list.get(at) {
            self.by_slot[shifted.index()] = at as u32;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.by_slot.capacity() * size_of::<u32>()
    }
}

/// Identifies one set of boxes between two steps. No two sets share a stamp, copies included,
/// and every commit gives a set a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u64);

impl Stamp {
    pub(super) fn fresh() -> Stamp {
        static STAMPS: AtomicU64 = AtomicU64::new(0);
        Stamp(STAMPS.fetch_add(1, Ordering::Relaxed))
    }
}

/// Remembers which changes an algorithm has seen, so that one that keeps state knows whether
/// [`Boxes::changes`] continues from there or everything has to be read again: after an error,
/// after a switch of algorithm, or when it is shown another set.
///
/// A copy of a set continues from the same step as the original, so an algorithm that followed
/// the original can follow the copy; what either of the two does later is told apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Follower {
    seen: Option<Stamp>,
}

impl Follower {
    /// Call first in an update. Returns true if the changes continue from the last update that
    /// ended with [`Follower::done`]. Until `done` is called again, nothing counts as seen.
    pub fn begin(&mut self, boxes: &Boxes) -> bool {
        self.seen.take() == Some(boxes.previous)
    }

    /// Call when the update has succeeded.
    pub fn done(&mut self, boxes: &Boxes) {
        self.seen = Some(boxes.stamp());
    }
}
