//! If few boxes changed, only they are searched for: as they were, for what ended, and as they are,
//! for what began. The cost follows the changes, not the number of boxes.
//!
//! The grid of all boxes stays as it is. A box that changes is blanked out in it and moves to a
//! second, small grid, the overlay, which is built again in every step in which something changes:
//!
//! ```text
//! move the boxes that change, as they were, from the grid to the overlay
//! ended += pairs of changed boxes with the grid, and within the overlay, that do not overlap now
//! build the overlay of the boxes as they are
//! began += pairs of changed boxes with the grid, and within the overlay, that did not overlap then
//! ```
//!
//! If most boxes of the overlay have changed, all of them are searched for, row by row: the boxes
//! of a row look up the rows around it together. Those that have not changed have no part in what
//! began or ended. In `tenth` with 100 000 boxes that, and rounding down without a call, took
//! 2.6 ms in place of 5.2 (a program that measured nothing else). If few have changed, they are
//! searched for one by one.
//!
//! When the overlay has cost as much as a build of the grid, because boxes have come to rest in it,
//! the grid is built again.

use crate::aabb::{Aabb, NO_BOX};
use crate::boxes::Boxes;
use crate::broad::hash_grid::classify::Members;
use crate::broad::hash_grid::grid::Grid;
use crate::broad::hash_grid::rows::NONE;
use crate::broad::shared::groups::Groups;
use crate::id::Slot;
use crate::pair::Pair;
use crate::par::Workers;

/// Changes are followed one by one if at most one box in this many changed.
const RARELY: usize = 4;

/// Looking at this many rows costs as much as searching for one box.
const ROWS_PER_BOX: u64 = 8;

/// Set in the place of a box that is in the overlay.
const IN_OVERLAY: u32 = 1 << 31;

/// The boxes that changed, as they were: first those that went, then those that moved, then
/// those that came.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangedBoxes {
    pub list: Vec<(u32, Aabb)>,
    /// Place in the list by slot; [`NONE`] for boxes that did not change.
    rank: Vec<u32>,
    pub went: usize,
    pub came: usize,
}

impl ChangedBoxes {
    fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<(u32, Aabb)>() + self.rank.capacity() * 4
    }

    /// The boxes that were there before.
    pub(super) fn before(&self) -> &[(u32, Aabb)] {
        &self.list[..self.list.len() - self.came]
    }

    /// The boxes that are there now.
    pub(super) fn after(&self) -> &[(u32, Aabb)] {
        &self.list[self.went..]
    }

    /// The box as it was, if it changed.
    #[inline]
    pub(super) fn old(&self, slot: u32) -> Option<&Aabb> {
        let rank = *self.rank.get(slot as usize)?;
        self.list.get(rank as usize).map(|(_, aabb)| aabb)
    }

    /// Makes the old boxes known by slot.
    fn mark(&mut self, slots: usize) {
        self.rank.resize(self.rank.len().max(slots), NONE);
        for (rank, &(slot, _)) in self.list.iter().enumerate() {
            self.rank[slot as usize] = rank as u32;
        }
    }

    pub(super) fn unmark(&mut self) {
        for (slot, _) in self.list.drain(..) {
            self.rank[slot as usize] = NONE;
        }
    }

    /// Returns true if two boxes overlapped before the step.
    #[inline]
    pub(super) fn overlapped(&self, boxes: &Boxes, pair: Pair) -> bool {
        let old = |slot: Slot| self.old(slot.get()).unwrap_or(&boxes.aabbs()[slot.index()]);
        old(pair.a()).overlaps(old(pair.b()))
    }
}

/// What a grid needs to follow single changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    pub grid: Grid,
    pub changed: ChangedBoxes,
    /// The slots of its boxes.
    slots: Vec<u32>,
    /// Where each box is, by slot; empty until the first change after a build.
    places: Vec<u32>,
    /// What the overlay has cost since the grid was built, in boxes.
    cost: usize,
}

impl Overlay {
    pub(super) fn bytes(&self) -> usize {
        self.grid.bytes()
            + self.changed.bytes()
            + (self.slots.capacity() + self.places.capacity()) * 4
    }

    /// Number of boxes in it.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Says that the grid has been built of all boxes.
    pub(super) fn clear(&mut self) {
        self.grid.clear();
        self.places.clear();
        self.slots.clear();
        self.cost = 0;
    }

    /// Takes the changed boxes, as they were, from the grid. Returns false if searching for all
    /// boxes costs less; then nothing has changed but the list.
    pub(super) fn collect(&mut self, boxes: &Boxes, grid: &Grid) -> bool {
        let changes = boxes.changes();
        self.changed.list.clear();
        if changes.len() * RARELY > boxes.len() || self.slots.len() * 2 > boxes.len() {
            return false;
        }
        self.find_places(boxes, grid);
        let old = |id: &Slot| {
            let place = self.places[id.index()];
            let old = match place & IN_OVERLAY {
                0 => grid.column.get(place as usize),
                _ => self.grid.column.get((place & !IN_OVERLAY) as usize),
            };
            (id.get(), old)
        };
        let list = &mut self.changed.list;
        list.extend(changes.removed().iter().chain(changes.moved()).map(old));
        list.extend(changes.inserted().iter().map(|id| (id.get(), NO_BOX)));
        self.changed.went = changes.removed().len();
        self.changed.came = changes.inserted().len();
        self.is_cheap(boxes, grid)
    }

    /// Finds where boxes are, unless that is known.
    fn find_places(&mut self, boxes: &Boxes, grid: &Grid) {
        if self.places.is_empty() {
            self.places.resize(boxes.slots(), NONE);
            for place in 0..grid.column.len() {
                self.places[grid.column.id(place) as usize] = place as u32;
            }
        }
        self.places.resize(self.places.len().max(boxes.slots()), NONE);
    }

    /// Large boxes that move reach into many rows of small cells.
    fn is_cheap(&self, boxes: &Boxes, grid: &Grid) -> bool {
        let budget = ROWS_PER_BOX * boxes.len() as u64;
        let mut sum = 0;
        let mut fits = |aabb: &Aabb| {
            sum += grid.cost_of_query(aabb);
            sum <= budget
        };
        self.changed.before().iter().all(|(_, old)| fits(old))
            && self.changed.after().iter().all(|&(slot, _)| fits(&boxes.aabbs()[slot as usize]))
    }

    /// Blanks the changed boxes in the grid and takes them, as they were. Returns false if there
    /// are none to take.
    pub(super) fn take(&mut self, boxes: &Boxes, grid: &mut Grid) -> bool {
        self.changed.mark(boxes.slots());
        let known = self.slots.len();
        for &(slot, _) in self.changed.before() {
            let place = self.places[slot as usize];
            if place & IN_OVERLAY == 0 {
                grid.column.blank(place as usize);
                self.slots.push(slot);
            }
        }
        self.slots.len() > known
    }

    /// Builds the overlay of its boxes as they were before the step.
    pub(super) fn build_before(&mut self, boxes: &Boxes, groups: &Groups, workers: &Workers) {
        let Overlay { grid, changed, slots, .. } = self;
        let before = Some(&*changed);
        let members = Members { list: Some(slots), aabbs: boxes.aabbs(), before };
        grid.build(members, groups, workers);
        self.note_places();
    }

    fn note_places(&mut self) {
        self.cost += self.slots.len();
        for place in 0..self.grid.column.len() {
            self.places[self.grid.column.id(place) as usize] = place as u32 | IN_OVERLAY;
        }
    }

    /// The place in the overlay of a box that has changed.
    pub(super) fn place(&self, slot: u32) -> u32 {
        self.places[slot as usize] & !IN_OVERLAY
    }

    /// Follows the changes and builds the overlay of its boxes as they are.
    pub(super) fn build_after(
        &mut self,
        boxes: &Boxes,
        went: usize,
        groups: &Groups,
        workers: &Workers,
    ) {
        if went > 0 {
            self.slots.retain(|&slot| boxes.is_live(Slot::new(slot)));
        }
        self.slots.extend(boxes.changes().inserted().iter().map(|id| id.get()));
        let members = Members { list: Some(&self.slots), aabbs: boxes.aabbs(), before: None };
        self.grid.build(members, groups, workers);
        self.note_places();
        for id in boxes.changes().removed() {
            self.places[id.index()] = NONE;
        }
    }

    /// Returns true if the overlay costs more than it should: boxes have come to rest in it, and it
    /// has cost as much as building the grid.
    pub(super) fn is_worn(&self, boxes: &Boxes) -> bool {
        self.slots.len() > 2 * boxes.changes().len() && self.cost > boxes.len()
    }

    /// Panics if boxes are not where they should be.
    pub(super) fn validate(&self, boxes: &Boxes, grid: &Grid, groups: &Groups) {
        let now = |slot: usize| boxes.aabbs()[slot];
        grid.validate(now, groups);
        if self.places.is_empty() {
            assert_eq!(grid.column.len(), boxes.len(), "boxes held against boxes there");
            return;
        }
        self.grid.validate(now, groups);
        for id in boxes.live_slots() {
            let place = self.places[id.index()];
            let column = if place & IN_OVERLAY == 0 { &grid.column } else { &self.grid.column };
            let place = (place & !IN_OVERLAY) as usize;
            assert_eq!(column.id(place), id.get(), "slot {id} names another's place");
            assert!(column.get(place).same(&now(id.index())), "box {id} is out of date");
        }
        let blank = |place: &usize| grid.column.get(*place).min[0].is_nan();
        let blanks = (0..grid.column.len()).filter(blank).count();
        let held = grid.column.len() - blanks + self.slots.len();
        assert_eq!(held, boxes.len(), "boxes held against boxes there");
        assert_eq!(self.grid.column.len(), self.slots.len(), "the overlay is out of date");
    }
}
