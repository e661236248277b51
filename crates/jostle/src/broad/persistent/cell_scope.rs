//! [`CellScope`]: which pairs a cell of a grid reports.
//!
//! Two boxes may share several cells, and each of them sees the pair begin and end. The one that
//! reports it is the cell of the lower corner of their intersection: of the current bounds if the
//! pair begins, of the previous ones if it ends. Both boxes are in that cell at that time, because
//! a cell's number does not decrease as the coordinate grows.

use crate::aabb::Aabb;
use crate::broad::shared::uniform_grid::UniformGrid;

/// One cell of a grid, for a [`PairJudge`](super::PairJudge) of the pairs in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellScope<'a> {
    grid: &'a UniformGrid,
    cell: [u32; 3],
    /// Boxes that come into this cell, wherever they were before; ascending.
    inserted: &'a [u32],
    /// The slots of the boxes by their number in this cell; empty if they are called by slot.
    slots: &'a [u32],
}

impl<'a> CellScope<'a> {
    /// A cell in which boxes are called by their slots, and into which none comes.
    pub(crate) fn new(grid: &'a UniformGrid, number: usize) -> CellScope<'a> {
        CellScope { grid, cell: grid.at(number), inserted: &[], slots: &[] }
    }

    /// The same cell with these slots for the numbers of its boxes.
    pub(crate) fn numbered(self, slots: &'a [u32]) -> CellScope<'a> {
        CellScope { slots, ..self }
    }

    /// The same cell, into which these boxes come, ascending.
    pub(crate) fn with_inserted(self, inserted: &'a [u32]) -> CellScope<'a> {
        CellScope { inserted, ..self }
    }

    /// The slot of a box by its number.
    #[inline]
    pub(crate) fn slot(&self, number: u32) -> u32 {
        if self.slots.is_empty() { number } else { self.slots[number as usize] }
    }

    /// Returns true if a pair of overlapping boxes is this cell's to report.
    #[inline]
    pub(crate) fn owns(&self, one: &Aabb, other: &Aabb) -> bool {
        let corner = std::array::from_fn(|axis| one.min[axis].max(other.min[axis]));
        self.grid.cell(&corner) == self.cell
    }

    /// Returns true if one of the two comes into this cell.
    #[inline]
    pub(crate) fn is_new(&self, one: u32, other: u32) -> bool {
        let is_new = |number: &u32| self.inserted.binary_search(number).is_ok();
        !self.inserted.is_empty() && (is_new(&one) || is_new(&other))
    }
}
