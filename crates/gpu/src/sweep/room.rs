//! How much room a step needs on the device: first guesses, growth, and what the budget and the
//! bindings allow.

use jostle::{Boxes, Error};

use super::GpuSweep;
use crate::device::GpuError;
use crate::memory::{Memory, Sizes};

/// Spare room when something grows.
pub(super) fn grown(needed: u64) -> u32 {
    u32::try_from(needed + needed / 8 + 64).unwrap_or(u32::MAX)
}

impl GpuSweep {
    /// The most bytes that may be held on the device.
    pub(super) fn budget(&self) -> u64 {
        self.options.budget.unwrap_or(u64::MAX)
    }

    fn fits(&self, sizes: &Sizes) -> bool {
        sizes.bytes() <= self.budget() && sizes.oversized(self.gpu.info().binding).is_none()
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.memory.as_ref().map_or(Sizes::default(), |memory| memory.sizes)
    }

    pub(super) fn memory(&self) -> &Memory {
        self.memory.as_ref().expect("memory is made before it is used")
    }

    /// Replaces the buffers; what is lost by it is noted.
    pub(super) fn resize(&mut self, sizes: Sizes) -> Result<(), GpuError> {
        let old = self.memory.take();
        self.holds_boxes &= old.as_ref().is_some_and(|old| old.keeps_boxes(&sizes));
        if !old.as_ref().is_some_and(|old| old.keeps_pairs(&sizes)) {
            self.old_pairs = None;
        }
        self.counters.grown += 1;
        self.memory = Some(Memory::new(&self.gpu, sizes, old)?);
        Ok(())
    }

    /// Makes room for all boxes, and first guesses for the rest.
    pub(super) fn make_room(&mut self, boxes: &Boxes) -> Result<(), GpuError> {
        let held = self.sizes();
        let slots = boxes.slots() as u64;
        let enough = slots <= u64::from(held.slots) && (held.filtered || !boxes.has_filters());
        if self.memory.is_some() && enough {
            return Ok(());
        }
        let room = if slots <= u64::from(held.slots) { held.slots } else { grown(slots) };
        let mut sizes = Sizes {
            slots: room,
            changes: room / 8,
            entries: held.entries.max(room.saturating_mul(2)),
            pairs: held.pairs.max(room),
            events: held.events.max(room / 4 + 64),
            filtered: held.filtered || boxes.has_filters(),
            digits: self.options.digits,
        };
        if !self.fits(&sizes) {
            sizes = self.within_budget(sizes)?;
        }
        self.resize(sizes)
    }

    /// Grows what the counts say, if that fits. The step is then repeated from the boxes, which
    /// are on the device already.
    pub(super) fn grow(&mut self, sizes: Sizes) -> Result<bool, Error> {
        let fits = self.fits(&sizes);
        if fits {
            self.resize(sizes)?;
        }
        Ok(fits)
    }
}
