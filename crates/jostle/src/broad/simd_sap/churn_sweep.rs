//! [`ChurnSweep`]: the pairs of boxes that are inserted or removed, met in one pass along an axis.
//!
//! ```text
//! for each endpoint in order: a lower one opens its box, an upper one closes it
//!     a chosen box that is closed meets all that are open, any other the chosen ones
//! ```
//!
//! Two boxes that overlap on the axis are met when the first of them is closed, once; two of which
//! neither is chosen never meet. O(n + m·c) for m chosen boxes and c that lie over a point, instead
//! of O(n·m) for testing each chosen box against every other.

use crate::broad::persistent::SweepSet;

use super::axis::slot_of;

/// The open boxes, chosen or not.
#[derive(Clone, Debug, Default)]
pub(super) struct ChurnSweep {
    others: SweepSet,
    chosen: SweepSet,
    /// The place of each open box in its set.
    places: Vec<u32>,
    /// One bit for each slot: set if it is chosen.
    marks: Vec<u64>,
}

impl ChurnSweep {
    /// Remembers which boxes are chosen.
    pub(super) fn choose(&mut self, chosen: &[u32], slots: usize) {
        self.places.resize(slots, 0);
        self.marks.clear();
        self.marks.resize(slots.div_ceil(64), 0);
        for &slot in chosen {
            self.marks[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    /// Returns true if a box is chosen.
    #[inline(always)]
    pub(super) fn chose(&self, slot: u32) -> bool {
        self.marks[slot as usize / 64] >> (slot % 64) & 1 != 0
    }

    /// Goes along the sorted endpoints; `meet` is called with a box that is closed and those it
    /// meets.
    pub(super) fn run<E>(
        &mut self,
        ids: &[i32],
        mut meet: impl FnMut(u32, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.others.clear();
        self.chosen.clear();
        for &id in ids {
            let slot = slot_of(id);
            let chose = self.chose(slot);
            let set = if chose { &mut self.chosen } else { &mut self.others };
            if id < 0 {
                set.open(slot, &mut self.places);
                continue;
            }
            set.close(slot, &mut self.places);
            if !self.chosen.slots().is_empty() {
                meet(slot, self.chosen.slots())?;
            }
            if chose {
                meet(slot, self.others.slots())?;
            }
        }
        Ok(())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let sets = self.others.bytes() + self.chosen.bytes();
        sets + self.places.capacity() * 4 + self.marks.capacity() * 8
    }
}
