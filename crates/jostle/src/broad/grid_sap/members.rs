//! [`Members`]: the boxes of one cell, numbered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::aabb::{Aabb, NO_BOX};
use crate::broad::persistent::ListChanges;
use crate::simd::prefetch::prefetch_later;

/// Hashes slots. Fixed, so that nothing differs from run to run.
#[derive(Clone, Debug, Default)]
struct SlotHasher(u64);

impl Hasher for SlotHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, value: u32) {
        let mixed = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The boxes of a cell by number: their slots, and their previous and current bounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    slots: Vec<u32>,
    then: Vec<Aabb>,
    now: Vec<Aabb>,
    /// Numbers that are not in use.
    free: Vec<u32>,
    numbers: HashMap<u32, u32, BuildHasherDefault<SlotHasher>>,
}

/// Changes of a cell by number.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberedChanges {
    removed: Vec<u32>,
    inserted: Vec<u32>,
    moved: Vec<u32>,
}

impl NumberedChanges {
    /// The changes.
    pub(super) fn changes(&self) -> ListChanges<'_> {
        ListChanges { removed: &self.removed, inserted: &self.inserted, moved: &self.moved }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.removed.capacity() + self.inserted.capacity() + self.moved.capacity()) * 4
    }
}

impl Members {
    /// Number of boxes.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Slots by number.
    pub(super) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Previous bounds by number.
    pub(super) fn then(&self) -> &[Aabb] {
        &self.then
    }

    /// Current bounds by number.
    pub(super) fn now(&self) -> &[Aabb] {
        &self.now
    }

    /// Prefetches all bounds.
    pub(super) fn fetch(&self) {
        prefetch_later(&self.then);
        prefetch_later(&self.now);
    }

    /// Bytes held; the table is guessed at one byte an entry in addition to the entries.
    pub(super) fn bytes(&self) -> usize {
        let (bounds, table) = (self.then.capacity() + self.now.capacity(), self.numbers.capacity());
        (self.slots.capacity() + self.free.capacity()) * 4
            + bounds * size_of::<Aabb>()
            + table * 8 / 7 * 9
    }

    /// Takes in these boxes from scratch, and numbers them from 0.
    pub(super) fn rebuild(&mut self, aabbs: &[Aabb], slots: &[u32]) {
        self.free.clear();
        self.slots.clear();
        self.slots.extend_from_slice(slots);
        self.then.clear();
        self.then.extend(slots.iter().map(|&slot| aabbs[slot as usize]));
        self.now.clone_from(&self.then);
        self.numbers.clear();
        self.numbers.extend(slots.iter().zip(0..).map(|(&slot, number)| (slot, number)));
    }

    /// Gives numbers to the boxes that come, finds those of the others, and takes over the current
    /// bounds. A box that leaves and comes has two numbers until [`settle`](Members::settle).
    pub(super) fn number(
        &mut self,
        changes: ListChanges<'_>,
        previous: &[Aabb],
        aabbs: &[Aabb],
        numbered: &mut NumberedChanges,
    ) {
        let NumberedChanges { removed, inserted, moved } = numbered;
        removed.clear();
        for &slot in changes.removed {
            let number = self.numbers.remove(&slot).expect("a box that leaves was there");
            self.now[number as usize] = aabbs[slot as usize];
            removed.push(number);
        }
        moved.clear();
        for &slot in changes.moved {
            let number = self.numbers[&slot];
            self.now[number as usize] = aabbs[slot as usize];
            moved.push(number);
        }
        inserted.clear();
        for &slot in changes.inserted {
            inserted.push(self.add(slot, previous[slot as usize], aabbs[slot as usize]));
        }
    }

    fn add(&mut self, slot: u32, then: Aabb, now: Aabb) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(0);
            self.then.push(NO_BOX);
            self.now.push(NO_BOX);
            self.slots.len() as u32 - 1
        });
        self.slots[number as usize] = slot;
        self.then[number as usize] = then;
        self.now[number as usize] = now;
        self.numbers.insert(slot, number);
        number
    }

    /// Ends a step: the current bounds become the previous ones, and the numbers of boxes that left
    /// are free.
    pub(super) fn settle(&mut self, numbered: &NumberedChanges) {
        for &number in numbered.moved.iter().chain(&numbered.inserted) {
            self.then[number as usize] = self.now[number as usize];
        }
        for &number in &numbered.removed {
            self.then[number as usize] = NO_BOX;
            self.now[number as usize] = NO_BOX;
            self.free.push(number);
        }
    }

    /// Panics if these are not the boxes of the cell. Returns their numbers.
    pub(super) fn validate(&self, aabbs: &[Aabb], slots: &[u32]) -> Vec<u32> {
        assert_eq!(self.count(), slots.len(), "a cell has other boxes than it should");
        let number = |slot: &u32| {
            let number = *self.numbers.get(slot).expect("a box is missing in a cell");
            let (place, bounds) = (number as usize, &aabbs[*slot as usize]);
            assert_eq!(self.slots[place], *slot, "a box has the number of another");
            assert!(self.then[place].same(bounds) && self.now[place].same(bounds), "stale bounds");
            number
        };
        slots.iter().map(number).collect()
    }
}
