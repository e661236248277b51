//! [`PreviousBounds`]: the boxes as of the last update.
//!
//! 24 bytes a box, and 16 more if filters are in use.

use crate::aabb::{Aabb, NO_BOX};
use crate::boxes::Boxes;
use crate::filter::Filter;

/// Bounds and filters of the last update by slot. A slot without a box holds [`NO_BOX`], which no
/// comparison holds with.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreviousBounds {
    aabbs: Vec<Aabb>,
    /// Empty if every filter was [`Filter::ALL`].
    filters: Vec<Filter>,
    /// Bounds of the boxes that are [hidden](PreviousBounds::hide).
    hidden: Vec<(u32, Aabb)>,
    /// The place of each hidden box among them; meaningless for others.
    hidden_places: Vec<u32>,
}

impl PreviousBounds {
    /// The bounds by slot, NaN if there was no box or it is hidden.
    #[inline(always)]
    pub(crate) fn aabbs(&self) -> &[Aabb] {
        &self.aabbs
    }

    /// The slots that held a box, ascending.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + Clone {
        (0..self.aabbs.len() as u32).filter(|&slot| !self.aabbs[slot as usize].min[0].is_nan())
    }

    /// Reads all boxes.
    pub(crate) fn rebuild(&mut self, boxes: &Boxes) {
        self.hidden.clear();
        self.aabbs.clear();
        self.aabbs.extend_from_slice(boxes.aabbs());
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.extend_from_slice(boxes.filters());
        }
    }

    /// Makes room for new slots; call before asking about boxes that are new.
    pub(crate) fn grow(&mut self, boxes: &Boxes) {
        self.aabbs.resize(boxes.slots(), NO_BOX);
        if boxes.has_filters() || !self.filters.is_empty() {
            self.filters.resize(boxes.slots(), Filter::ALL);
        }
    }

    /// Takes over the changes at the end of an update.
    pub(crate) fn follow(&mut self, boxes: &Boxes) {
        self.hidden.clear();
        let changes = boxes.changes();
        let changed = [changes.inserted(), changes.moved(), changes.removed()];
        for id in changed.into_iter().flatten() {
            self.aabbs[id.index()] = boxes.aabbs()[id.index()];
        }
        if !boxes.has_filters() {
            self.filters.clear();
        } else if !self.filters.is_empty() {
            for id in changed.into_iter().flatten() {
                self.filters[id.index()] = boxes.filters()[id.index()];
            }
        }
    }

    /// Returns true if a box has another filter now.
    #[inline]
    pub(crate) fn refiltered(&self, boxes: &Boxes, slot: u32) -> bool {
        if self.filters.is_empty() && !boxes.has_filters() {
            return false;
        }
        let before = self.filters.get(slot as usize).unwrap_or(&Filter::ALL);
        *before != boxes.filters()[slot as usize]
    }

    /// Returns true if the filters of two slots allowed a pair.
    #[inline]
    pub(crate) fn allowed(&self, one: usize, other: usize) -> bool {
        self.filters.is_empty() || self.filters[one].allows(&self.filters[other])
    }

    /// Until the next [`follow`](PreviousBounds::follow), these boxes have no previous bounds in
    /// [`aabbs`](PreviousBounds::aabbs); [`hidden_bounds`](PreviousBounds::hidden_bounds) still
    /// knows them. For boxes that are removed and inserted again.
    pub(crate) fn hide(&mut self, slots: &[u32]) {
        debug_assert!(self.hidden.is_empty());
        if !slots.is_empty() {
            self.hidden_places.resize(self.aabbs.len(), 0);
        }
        for &slot in slots {
            self.hidden_places[slot as usize] = self.hidden.len() as u32;
            self.hidden.push((slot, self.aabbs[slot as usize]));
            self.aabbs[slot as usize] = NO_BOX;
        }
    }

    /// Returns true if some box is hidden.
    #[inline(always)]
    pub(crate) fn has_hidden(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// The bounds of a box that is hidden.
    pub(crate) fn hidden_bounds(&self, slot: u32) -> Option<Aabb> {
        let place = *self.hidden_places.get(slot as usize)?;
        let &(hidden, aabb) = self.hidden.get(place as usize)?;
        (hidden == slot).then_some(aabb)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.aabbs.capacity() * size_of::<Aabb>()
            + self.filters.capacity() * size_of::<Filter>()
            + self.hidden.capacity() * size_of::<(u32, Aabb)>()
            + self.hidden_places.capacity() * 4
    }
}
