//! [`UniformGrid`]: a uniform grid over the part of the world where the boxes are.
//!
//! The outermost cells reach to infinity, so every point has a cell and a few distant boxes do
//! not stretch the grid. The cell of a coordinate never decreases as the coordinate grows, in
//! floating point too; this makes it exact to ask which cell owns a pair.

use crate::aabb::Aabb;

/// A uniform grid whose outermost cells reach to infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UniformGrid {
    origin: [f32; 3],
    /// Cells per unit of length; 0 on an axis that is not divided.
    inverse: [f32; 3],
    dims: [u32; 3],
}

impl Default for UniformGrid {
    /// One cell.
    fn default() -> UniformGrid {
        UniformGrid { origin: [0.0; 3], inverse: [0.0; 3], dims: [1; 3] }
    }
}

/// The cells that a box touches, both corners included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CellRange {
    low: [u32; 3],
    high: [u32; 3],
}

impl CellRange {
    /// Number of cells.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        (0..3).map(|axis| u64::from(self.high[axis] - self.low[axis] + 1)).product()
    }

    /// The cell, if it is the only one.
    #[inline]
    pub(crate) fn only_cell(&self) -> Option<[u32; 3]> {
        (self.low == self.high).then_some(self.low)
    }

    /// Returns true if a cell is one of them.
    #[inline]
    pub(crate) fn contains(&self, cell: [u32; 3]) -> bool {
        (0..3).all(|axis| (self.low[axis]..=self.high[axis]).contains(&cell[axis]))
    }

    /// The cells, in order of their numbers.
    #[inline]
    pub(crate) fn cells(self) -> impl Iterator<Item = [u32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|axis| self.low[axis]..=self.high[axis]);
        z.flat_map(move |z| {
            let x = x.clone();
            y.clone().flat_map(move |y| x.clone().map(move |x| [x, y, z]))
        })
    }
}

impl UniformGrid {
    /// A grid with this many cells over a stretch of space. Axes without length are not divided.
    pub(crate) fn new(low: [f32; 3], high: [f32; 3], dims: [u32; 3]) -> UniformGrid {
        let mut grid = UniformGrid { origin: low, inverse: [0.0; 3], dims };
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
    pub(crate) fn dims(&self) -> [u32; 3] {
        self.dims
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product()
    }

    /// The cell of a point.
    #[inline]
    pub(crate) fn cell(&self, point: &[f32; 3]) -> [u32; 3] {
        std::array::from_fn(|axis| {
            // The cast goes to the nearest whole number in range, and to 0 for 0 times infinity.
            let place = (point[axis] - self.origin[axis]) * self.inverse[axis];
            (place as u32).min(self.dims[axis] - 1)
        })
    }

    /// The cells that a box touches.
    #[inline]
    pub(crate) fn range(&self, aabb: &Aabb) -> CellRange {
        CellRange { low: self.cell(&aabb.min), high: self.cell(&aabb.max) }
    }

    /// The number of a cell.
    #[inline]
    pub(crate) fn number(&self, cell: [u32; 3]) -> usize {
        let [x, y, z] = cell.map(|c| c as usize);
        (z * self.dims[1] as usize + y) * self.dims[0] as usize + x
    }

    /// The cell with a number.
    pub(crate) fn at(&self, number: usize) -> [u32; 3] {
        let [x, y] = [self.dims[0] as usize, self.dims[1] as usize];
        [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_one_cell_names_it() {
        let grid = UniformGrid::new([0.0; 3], [4.0; 3], [4; 3]);
        let range = |high: f32| grid.range(&Aabb::new([1.5; 3], [1.7, high, 1.9]));
        assert_eq!(range(1.6).only_cell(), Some([1; 3]));
        assert_eq!(range(2.5).only_cell(), None);
    }

    #[test]
    fn every_point_has_a_cell_and_the_order_is_kept() {
        let grid = UniformGrid::new([-1.0, 0.0, 5.0], [3.0, 0.1, 5.0], [7, 1000, 4]);
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
        let grid = UniformGrid::new([0.0; 3], [4.0; 3], [4; 3]);
        let range = grid.range(&Aabb::new([0.5, 1.5, 2.5], [1.5, 1.6, f32::INFINITY]));
        let numbers: Vec<usize> = range.cells().map(|cell| grid.number(cell)).collect();
        assert_eq!(numbers, [36, 37, 52, 53]);
        assert_eq!(range.count(), 4);
        assert!(range.contains([1, 1, 3]) && !range.contains([2, 1, 3]));
    }

    #[test]
    fn one_cell_takes_everything() {
        let grid = UniformGrid::default();
        assert_eq!(grid.range(&Aabb::EVERYTHING).count(), 1);
        assert_eq!(UniformGrid::new([0.0; 3], [f32::INFINITY; 3], [9; 3]).cells(), 1);
    }
}
