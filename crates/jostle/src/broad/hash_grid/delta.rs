//! If few boxes changed, only they are searched for: among the old boxes for what ended, among
//! the new ones for what began. The cost follows the changes, not the number of boxes.
//!
//! ```text
//! for each moved or removed box, in the grid as it was:    ended += overlapped then, not now
//! move them
//! for each moved or inserted box, in the grid as it is:    began += overlaps now, not then
//! ```
//!
//! A pair of two changed boxes is found from both; the one with the smaller id reports it.

use std::ops::Range;

use crate::aabb::{Aabb, NO_BOX};
use crate::boxes::Boxes;
use crate::broad::hash_grid::grid::Grid;
use crate::broad::hash_grid::table::{GridEntry, NONE};
use crate::broad::shared::groups::Groups;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::{Lane, LimitReached, Pair};

/// Changes are followed one by one if at most one box in this many changed.
const RARELY: usize = 4;

/// Looking into this many blocks of cells costs as much as searching for one box.
const BLOCKS_PER_BOX: f64 = 16.0;

/// The boxes that changed, as they were: first those that went, then those that moved, then
/// those that came.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangedBoxes {
    list: Vec<(u32, Aabb)>,
    /// Place in the list by slot; [`NONE`] for boxes that did not change.
    rank: Vec<u32>,
    went: usize,
    came: usize,
}

impl ChangedBoxes {
    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<(u32, Aabb)>() + self.rank.capacity() * 4
    }

    /// Takes the changed boxes from the grid, which has not followed them yet. Returns false if
    /// searching for all boxes costs less.
    pub(super) fn collect(&mut self, boxes: &Boxes, grid: &Grid) -> bool {
        let changes = boxes.changes();
        self.list.clear();
        if changes.len() * RARELY > boxes.len() {
            return false;
        }
        let old = |id: &Slot| (id.get(), *grid.aabb(id.get()));
        self.list.extend(changes.removed().iter().chain(changes.moved()).map(old));
        self.list.extend(changes.inserted().iter().map(|id| (id.get(), NO_BOX)));
        self.went = changes.removed().len();
        self.came = changes.inserted().len();
        self.is_cheap(boxes, grid)
    }

    /// Large boxes that move reach into many small cells. Ask again when the grid has followed the
    /// changes: a single box may have opened a sheet with far smaller cells than any before.
    pub(super) fn is_cheap(&self, boxes: &Boxes, grid: &Grid) -> bool {
        let budget = BLOCKS_PER_BOX * boxes.len() as f64;
        let cost = |&(slot, ref old): &(u32, Aabb)| {
            grid.cost_below(old) + grid.cost_below(&boxes.aabbs()[slot as usize])
        };
        let mut sum = 0.0;
        self.list.iter().all(|changed| {
            sum += cost(changed);
            sum <= budget
        })
    }

    /// Makes the old boxes known by slot.
    pub(super) fn mark(&mut self, slots: usize) {
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

    /// Number of boxes that were there before.
    pub(super) fn before(&self) -> usize {
        self.list.len() - self.came
    }

    /// Number of boxes that are there now.
    pub(super) fn after(&self) -> usize {
        self.list.len() - self.went
    }

    /// The box as it was, if it changed.
    #[inline]
    fn old(&self, slot: u32) -> Option<&Aabb> {
        self.list.get(self.rank[slot as usize] as usize).map(|(_, aabb)| aabb)
    }
}

/// A search for the pairs of changed boxes.
pub(super) struct ChangedSearch<'a> {
    pub grid: &'a Grid,
    pub groups: &'a Groups,
    pub changed: &'a ChangedBoxes,
    /// The filters that hold for the pairs searched for.
    pub filters: Option<&'a [Filter]>,
}

impl ChangedSearch<'_> {
    /// Writes the pairs that overlap in the grid as it was and do not in `boxes`, for some of the
    /// boxes that were there before, and counts the tests. They are no pairs that the limit is
    /// for, so they are not written to a lane.
    pub(super) fn ended(
        &self,
        boxes: &Boxes,
        part: Range<usize>,
        ended: &mut Vec<Pair>,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let now = |slot: u32| &boxes.aabbs()[slot as usize];
        let apart =
            |&(slot, _): &(u32, Aabb), other: &GridEntry| !now(slot).overlaps(now(other.slot));
        self.show(&self.changed.list[part], tests, apart, |one, other| {
            ended.push(Pair::new(one, other));
            Ok(())
        })
    }

    /// Writes the pairs that overlap in the grid as it is and did not before, for some of the
    /// boxes that are there now, and counts the tests.
    pub(super) fn began(
        &self,
        part: Range<usize>,
        lane: &mut Lane,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let there = &self.changed.list[self.changed.went..];
        let were_apart = |(_, old): &(u32, Aabb), other: &GridEntry| {
            !old.overlaps(self.changed.old(other.slot).unwrap_or(&other.aabb))
        };
        self.show(&there[part], tests, were_apart, |one, other| lane.push(one, other))
    }

    /// Hands each wanted pair of a box in the list and one in the grid to `put`.
    fn show(
        &self,
        list: &[(u32, Aabb)],
        tests: &mut u64,
        wanted: impl Fn(&(u32, Aabb), &GridEntry) -> bool,
        mut put: impl FnMut(u32, u32) -> Result<(), LimitReached>,
    ) -> Result<(), LimitReached> {
        let allowed = |one: u32, other: u32| {
            self.filters.is_none_or(|list| list[one as usize].allows(&list[other as usize]))
        };
        for changed in list {
            let slot = changed.0;
            let mut show = |other: &GridEntry| {
                let ours = slot < other.slot || self.changed.old(other.slot).is_none();
                match ours && wanted(changed, other) && allowed(slot, other.slot) {
                    true => put(slot, other.slot),
                    false => Ok(()),
                }
            };
            self.grid.neighbours(slot, self.groups, tests, &mut show)?;
        }
        Ok(())
    }
}
