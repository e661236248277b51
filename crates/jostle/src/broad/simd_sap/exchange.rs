//! [`Sweep`]: the pairs of boxes that come or go, met in one pass along an axis.
//!
//! ```text
//! for each end in order: a lower one opens its box, an upper one closes it
//!     a chosen box that is closed meets all that are open, any other the chosen ones
//! ```
//!
//! Two boxes that overlap on the axis are met when the first of them is closed, once; two of which
//! neither is chosen never meet. O(n + m·c) for m chosen boxes and c that lie over a point, instead
//! of O(n·m) for testing each chosen box against every other.

use super::axis::slot_of;

/// The boxes over which the sweep stands.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    /// The open boxes that are not chosen, and those that are.
    others: Vec<u32>,
    chosen: Vec<u32>,
    /// Where an open box stands among its kind.
    places: Vec<u32>,
    /// One bit for each slot: whether it is chosen.
    marks: Vec<u64>,
}

impl Sweep {
    /// Remembers which boxes are chosen.
    pub fn choose(&mut self, chosen: &[u32], slots: usize) {
        self.places.resize(slots, 0);
        self.marks.clear();
        self.marks.resize(slots.div_ceil(64), 0);
        for &slot in chosen {
            self.marks[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    /// Whether a box is chosen.
    #[inline(always)]
    pub fn chose(&self, slot: u32) -> bool {
        self.marks[slot as usize / 64] >> (slot % 64) & 1 != 0
    }

    /// Goes along the sorted ends; `meet` is called with a box that is closed and those it meets.
    pub fn run<E>(
        &mut self,
        ids: &[i32],
        mut meet: impl FnMut(u32, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.others.clear();
        self.chosen.clear();
        for &id in ids {
            let slot = slot_of(id);
            let chose = self.chose(slot);
            if id < 0 {
                self.open(slot, chose);
                continue;
            }
            self.close(slot, chose);
            if !self.chosen.is_empty() {
                meet(slot, &self.chosen)?;
            }
            if chose {
                meet(slot, &self.others)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn open(&mut self, slot: u32, chose: bool) {
        let kind = if chose { &mut self.chosen } else { &mut self.others };
        self.places[slot as usize] = kind.len() as u32;
        kind.push(slot);
    }

    #[inline(always)]
    fn close(&mut self, slot: u32, chose: bool) {
        let kind = if chose { &mut self.chosen } else { &mut self.others };
        let place = self.places[slot as usize];
        kind.swap_remove(place as usize);
        if let Some(&shifted) = kind.get(place as usize) {
            self.places[shifted as usize] = place;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let slots = [&self.others, &self.chosen, &self.places].map(Vec::capacity);
        slots.iter().sum::<usize>() * 4 + self.marks.capacity() * 8
    }
}
