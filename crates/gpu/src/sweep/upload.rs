//! What goes to the device: all boxes, or those that changed.

use jostle::{Aabb, Boxes, Filter};

use super::GpuSweep;
use crate::buffers::Upload;
use crate::device::GpuError;
use crate::memory::CHANGE_WORDS;
use crate::work;

/// Bytes of the upload buffer that go to the device, from the request on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copies {
    /// Boxes in the list of changes.
    pub(super) changed: usize,
    /// Bytes of that list, of all boxes, of all filters.
    pub(super) list: u64,
    pub(super) boxes: u64,
    pub(super) filters: u64,
}

impl Copies {
    pub(super) fn bytes(&self) -> u64 {
        self.list + self.boxes + self.filters
    }
}

/// An iterator with a known length.
struct Sized<I> {
    words: I,
    left: usize,
}

impl<I: Iterator<Item = u32>> Iterator for Sized<I> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.saturating_sub(1);
        self.words.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator<Item = u32>> ExactSizeIterator for Sized<I> {}

fn bounds(aabb: &Aabb) -> impl Iterator<Item = u32> + use<> {
    aabb.min.into_iter().chain(aabb.max).map(f32::to_bits)
}

/// Membership, mask, owner; stillness and the group.
fn filter_words(filter: &Filter, group: u8) -> [u32; 4] {
    let last = u32::from(filter.still) | u32::from(group) << 8;
    [filter.membership, filter.mask, filter.owner, last]
}

impl GpuSweep {
    /// Room for what is uploaded in one step.
    pub(super) fn open_upload(&mut self, bytes: u64) -> Result<(), GpuError> {
        if self.upload.as_ref().is_none_or(|upload| upload.size() < bytes) {
            self.upload = Some(Upload::new(&self.gpu, bytes + bytes / 8));
            self.gpu.check()?;
        }
        Ok(())
    }

    /// Writes the request and the boxes, all or the changed ones, to the upload buffer; returns
    /// the copies that bring them to the device.
    pub(super) fn write_boxes(
        &mut self,
        boxes: &Boxes,
        continues: bool,
    ) -> Result<Copies, GpuError> {
        const REQUEST: u64 = work::INPUTS as u64 * 4;
        let slots = boxes.slots() as u64;
        let filtered = boxes.has_filters();
        let list = self.changed_slots(boxes);
        let few = continues
            && self.holds_boxes
            && filtered == self.counters.filtered
            && list.len() <= self.sizes().changes as usize;
        let mut copies = Copies::default();
        if few {
            let words = if filtered { CHANGE_WORDS } else { 7 };
            self.open_upload(REQUEST + list.len() as u64 * words * 4)?;
            let upload = self.upload.as_mut().expect("it is open");
            let groups = &self.groups;
            let words = list.iter().flat_map(|&slot| {
                let at = slot as usize;
                let bounds = [slot].into_iter().chain(bounds(&boxes.aabbs()[at]));
                let filter = filter_words(&boxes.filters()[at], groups.of(at));
                bounds.chain(filter.into_iter().take(if filtered { 4 } else { 0 }))
            });
            let words = Sized { words, left: list.len() * if filtered { 11 } else { 7 } };
            copies.changed = list.len();
            copies.list = upload.write(REQUEST, words)?;
        } else {
            self.open_upload(REQUEST + slots * if filtered { 40 } else { 24 })?;
            let upload = self.upload.as_mut().expect("it is open");
            let words = boxes.aabbs().iter().flat_map(bounds);
            copies.boxes = upload.write(REQUEST, Sized { words, left: boxes.slots() * 6 })?;
            if filtered {
                let groups = &self.groups;
                let words = boxes
                    .filters()
                    .iter()
                    .enumerate()
                    .flat_map(|(slot, filter)| filter_words(filter, groups.of(slot)));
                let words = Sized { words, left: boxes.slots() * 4 };
                copies.filters = upload.write(REQUEST + copies.boxes, words)?;
            }
        }
        self.changed = list;
        self.counters.changed = copies.changed as u64;
        self.counters.filtered = filtered;
        Ok(copies)
    }

    /// The slots that changed, new slots without a box, and those whose group is another one now.
    fn changed_slots(&mut self, boxes: &Boxes) -> Vec<u32> {
        let changes = boxes.changes();
        let ids = changes.inserted().iter().chain(changes.moved()).chain(changes.removed());
        let mut slots = std::mem::take(&mut self.changed);
        slots.clear();
        slots.extend(ids.map(|id| id.index() as u32));
        // Boxes that came and went within a step are no change, but their slots are new.
        let new = self.sent_slots.min(boxes.slots())..boxes.slots();
        let empty = new.filter(|&slot| boxes.aabbs()[slot].min[0].is_nan());
        slots.extend(empty.map(|slot| slot as u32));
        self.sent_slots = boxes.slots();
        if boxes.has_filters() {
            self.sent_groups.resize(boxes.slots(), 0);
            for (slot, sent) in self.sent_groups.iter_mut().enumerate() {
                let group = self.groups.of(slot);
                if *sent != group {
                    *sent = group;
                    slots.push(slot as u32);
                }
            }
        }
        slots
    }
}
