//! [`Grid`]: a uniform grid over the part of the world where the boxes are.
//!
//! The outermost cells reach to infinity, so every point has a cell and a few distant boxes do
//! not stretch the grid. The cell of a coordinate never decreases with it, in floating point too;
//! this is what makes [`CellView::owns`] exact.

use crate::aabb::Aabb;

/// A uniform grid whose outermost cells reach to infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    origin: [f32; 3],
    /// Cells per unit of length; 0 on an axis that is not divided.
    inverse: [f32; 3],
    dims: [u32; 3],
}

impl Default for Grid {
    /// One cell.
    fn default() -> Grid {
        Grid { origin: [0.0; 3], inverse: [0.0; 3], dims: [1; 3] }
    }
}

/// The cells that a box touches, both corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    low: [u32; 3],
    high: [u32; 3],
}

impl Range {
    /// Number of cells.
    #[inline]
    pub fn count(&self) -> u64 {
        (0..3).map(|axis| u64::from(self.high[axis] - self.low[axis] + 1)).product()
    }

    /// True where a cell is one of them.
    #[inline]
    pub fn contains(&self, cell: [u32; 3]) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&cell[axis]))
    }

    /// The cells, in order of their numbers.
    #[inline]
    pub fn cells(self) -> impl Iterator<Item = [u32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.low[axis]..=self.high[axis]);
        z.flat_map(move |z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| [x, y, z]))
        })
    }
}

impl Grid {
    /// A grid with this many cells over a stretch of space. Axes without length are not divided.
    pub fn new(low: [f32; 3], high: [f32; 3], dims: [u32; 3]) -> Grid {
        let mut grid = Grid { origin: low, inverse: [0.0; 3], dims };
        for axis in 0..3 {
            let inverse = dims[axis] as f32 / (high[axis] - low[axis]);
            if dims[axis] > 1 && inverse.is_normal() && inverse > 0.0 {
                grid.inverse[axis] = inverse;
            } else {
                grid.dims[axis] = 1;
            }
        }
        grid
    }

    /// Number of cells on each axis.
    pub fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }

    /// The width of a cell, infinite on an axis that is not divided.
    pub fn width(&self) -> [f32; 3] {
        self.inverse.map(|inverse| inverse.recip())
    }

    /// The cell of a point.
    #[inline]
    pub fn cell(&self, point: &[f32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| {
            // The cast goes to the nearest whole number in range, and to 0 for 0 times infinity.
            let place = (point[axis] - self.origin[axis]) * self.inverse[axis];
            (place as u32).min(self.dims[axis] - 1)
        })
    }

    /// The cells that a box touches.
    #[inline]
    pub fn range(&self, aabb: &Aabb) -> Range {
        Range { low: self.cell(&aabb.min), high: self.cell(&aabb.max) }
    }

    /// The number of a cell.
    #[inline]
    pub fn number(&self, cell: [u32; 3]) -> usize {
        let [x, y, z] = cell.map(|c| c as usize);
        (z * self.dims[1] as usize + y) * self.dims[0] as usize + x
    }

    /// The cell with a number.
    pub fn at(&self, number: usize) -> [u32; 3] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }
}

/// One cell of a grid, for a [`Judge`](crate::broad::past::Judge) of the pairs in it.
///
/// Two boxes may share several cells, and each of them sees the pair begin and end. The one that
/// says so is the cell of the lower corner of what they have in common: now, if the pair begins;
/// in the past, if it ends. Both boxes are in that cell at that time, because a cell's number does
/// not decrease with the coordinate.
#[derive(Clone, Copy, Debug)]
pub struct CellView<'a> {
    /// The grid.
    pub grid: &'a Grid,
    /// The cell.
    pub cell: [u32; 3],
    /// Boxes that come into this cell, wherever they were before; ascending.
    pub fresh: &'a [u32],
    /// The slots of the boxes by their number in this cell; empty where they are called by slot.
    pub slots: &'a [u32],
}

impl<'a> CellView<'a> {
    /// A cell in which boxes are called by their slots, and into which none comes.
    pub fn new(grid: &'a Grid, number: usize) -> CellView<'a> {
        CellView { grid, cell: grid.at(number), fresh: &[], slots: &[] }
    }

    /// The slot of a box by its number.
    #[inline]
    pub fn slot(&self, number: u32) -> u32 {
        if self.slots.is_empty() { number } else { self.slots[number as usize] }
    }

    /// True where a pair of overlapping boxes is this cell's to report.
    #[inline]
    pub fn owns(&self, one: &Aabb, other: &Aabb) -> bool {
        let corner = std::array::from_fn(|axis| one.min[axis].max(other.min[axis]));
        self.grid.cell(&corner) == self.cell
    }

    /// True where one of the two comes into this cell.
    #[inline]
    pub fn is_fresh(&self, one: u32, other: u32) -> bool {
        let fresh = |slot: &u32| self.fresh.binary_search(slot).is_ok();
        !self.fresh.is_empty() && (fresh(&one) || fresh(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_has_a_cell_and_the_order_is_kept() {
        let grid = Grid::new([-1.0, 0.0, 5.0], [3.0, 0.1, 5.0], [7, 1000, 4]);
        assert_eq!(grid.dims(), [7, 1000, 1]);
        let mut last = [0; 3];
        let values = [f32::NEG_INFINITY, f32::MIN, -1.0, -0.0, 0.0, 1e-30, 0.05, 0.0999, 0.1, 2.9];
        for value in values.into_iter().chain([3.0, 1e30, f32::MAX, f32::INFINITY]) {
            let cell = grid.cell(&[value; 3]);
            assert!((0..3).all(|axis| last[axis] <= cell[axis] && cell[axis] < grid.dims()[axis]));
            assert_eq!(grid.at(grid.number(cell)), cell);
            last = cell;
        }
        assert_eq!(last, [6, 999, 0]);
    }

    #[test]
    fn ranges_list_their_cells_in_order() {
        let grid = Grid::new([0.0; 3], [4.0; 3], [4; 3]);
        let range = grid.range(&Aabb::new([0.5, 1.5, 2.5], [1.5, 1.6, f32::INFINITY]));
        let numbers: Vec<usize> = range.cells().map(|cell| grid.number(cell)).collect();
        assert_eq!(numbers, [36, 37, 52, 53]);
        assert_eq!(range.count(), 4);
        assert!(range.contains([1, 1, 3]) && !range.contains([2, 1, 3]));
    }

    #[test]
    fn one_cell_takes_everything() {
        let grid = Grid::default();
        assert_eq!(grid.range(&Aabb::EVERYTHING).count(), 1);
        assert_eq!(Grid::new([0.0; 3], [f32::INFINITY; 3], [9; 3]).cells(), 1);
    }
}
