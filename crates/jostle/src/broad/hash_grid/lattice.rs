//! How space is cut: [`Layout`] says which axes and cell sizes are used, [`Sheet`] is one grid.
//!
//! Exactness rests on two properties. A cell number is the coordinate times a power of two, in
//! f64, rounded down: nothing overflows, underflows or is rounded before that, so numbers of
//! coarser levels are those of finer ones shifted. And rounding is monotone: a box that begins at
//! or behind a bound lies in a cell at or behind the bound's cell, so nothing is lost at borders.

use crate::aabb::Aabb;

/// Number of a slice along the rows, then numbers of a cell across them. At most 2^30 and 2^26 away
/// from zero.
pub(super) type Cell = [i32; 3];

/// A box is put into cells so large that its cell number is below this power of two: finer than
/// the steps of f32 there, and coarse enough for whole numbers.
pub(super) const FARTHEST: i32 = 26;

/// Along the rows cells are cut into two to this power slices, by which the boxes of a row are
/// sorted.
pub(super) const SLICE_BITS: u32 = 4;
pub(super) const SLICES: f64 = (1 << SLICE_BITS) as f64;

/// Cell sizes are the powers of two from `2^finest` to `2^coarsest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Axes that are cut at all.
    pub axes: [bool; 3],
    /// The axes by number; rows of cells lie along the first.
    pub order: [usize; 3],
    pub finest: i32,
    pub coarsest: i32,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { axes: [false; 3], order: [0, 1, 2], finest: 0, coarsest: 0 }
    }
}

impl Layout {
    pub(super) fn levels(&self) -> usize {
        (self.coarsest - self.finest + 1) as usize
    }

    /// The level whose cells are larger than the box; none for a giant.
    #[inline(always)]
    pub(super) fn level(&self, aabb: &Aabb) -> Option<usize> {
        let exponent = exponent_for(aabb, &self.axes).max(self.finest);
        (exponent <= self.coarsest).then_some((exponent - self.finest) as usize)
    }

    /// Cells per unit of length in a level, in the layout's order, and slices along the rows; zero
    /// along axes that are not cut.
    #[inline(always)]
    pub(super) fn scale(&self, level: usize) -> [f64; 3] {
        let scale = power_of_two(-(self.finest + level as i32));
        let mut scales = [0.0; 3];
        for k in 0..3 {
            scales[k] = if self.axes[self.order[k]] { scale } else { 0.0 };
        }
        scales[0] *= SLICES;
        scales
    }

    /// Slice and cell of a box: those of its lower corner.
    #[inline(always)]
    pub(super) fn cell(&self, aabb: &Aabb, scale: &[f64; 3]) -> Cell {
        let [x, y, z] = self.order;
        [
            number(aabb.min[x], scale[0]),
            number(aabb.min[y], scale[1]),
            number(aabb.min[z], scale[2]),
        ]
    }
}

/// The smallest cells, as a power of two, that a box may be in: larger than it, and not too far
/// from the origin for their size.
#[inline(always)]
fn exponent_for(aabb: &Aabb, axes: &[bool; 3]) -> i32 {
    let extent = fitting_exponent(largest_extent(aabb, axes));
    extent.max(fitting_exponent(largest_distance(aabb, axes)) - FARTHEST)
}

/// The largest distance of a bound from zero along the axes that are cut.
#[inline(always)]
pub(super) fn largest_distance(aabb: &Aabb, axes: &[bool; 3]) -> f64 {
    let mut most = 0.0f32;
    for k in 0..3 {
        let distance = if -aabb.min[k] > aabb.max[k] { -aabb.min[k] } else { aabb.max[k] };
        if axes[k] & (distance > most) {
            most = distance;
        }
    }
    f64::from(most)
}

/// Two to the power of an exponent within the range of f64.
#[inline(always)]
pub(super) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The length of a box along an axis, but for rounding; not a number for a point at infinity.
#[inline(always)]
pub(super) fn extent(aabb: &Aabb, axis: usize) -> f64 {
    f64::from(aabb.max[axis]) - f64::from(aabb.min[axis])
}

/// The largest extent along the axes that are cut; what is not a number counts as zero.
#[inline(always)]
pub(super) fn largest_extent(aabb: &Aabb, axes: &[bool; 3]) -> f64 {
    let mut most = 0.0;
    for k in 0..3 {
        let extent = extent(aabb, k);
        if axes[k] & (extent > most) {
            most = extent;
        }
    }
    most
}

/// The smallest whole power of two above a number that is not negative; very small for zero.
#[inline(always)]
pub(super) fn fitting_exponent(value: f64) -> i32 {
    (value.to_bits() >> 52) as i32 - 1022
}

/// One level for one group of boxes.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub level: usize,
    pub group: usize,
    /// Slices per unit of length along the rows, and cells across them.
    pub scale: [f64; 3],
    /// The largest extents of its boxes, in slices and cells: at most one cell.
    pub reach: [f64; 3],
    /// Number of boxes in it.
    pub count: usize,
    /// Its first row, and the one after its last.
    pub rows: [u32; 2],
}

impl Sheet {
    pub(super) fn new(layout: &Layout, level: usize, group: usize) -> Sheet {
        let scale = layout.scale(level);
        Sheet { level, group, scale, reach: [0.0; 3], count: 0, rows: [0; 2] }
    }

    /// The first and the last slice and cell, along each axis, of boxes in this sheet that can
    /// overlap a box.
    #[inline]
    pub(super) fn range(&self, layout: &Layout, aabb: &Aabb) -> (Cell, Cell) {
        let (mut low, mut high) = ([0; 3], [0; 3]);
        for k in 0..3 {
            let axis = layout.order[k];
            low[k] = floor(f64::from(aabb.min[axis]) * self.scale[k] - self.reach[k]);
            high[k] = number(aabb.max[axis], self.scale[k]);
        }
        (low, high)
    }

    /// The coordinate of a place in slices or cells; infinite along an axis that is not cut.
    pub(super) fn edge(&self, k: usize, place: f64) -> f64 {
        if self.scale[k] == 0.0 { (place - 0.5) * f64::INFINITY } else { place / self.scale[k] }
    }
}

/// A cell number. Infinity times zero is not a number, and counts as zero like every coordinate
/// along an axis that is not cut.
#[inline(always)]
fn number(coordinate: f32, scale: f64) -> i32 {
    floor(f64::from(coordinate) * scale)
}

/// A number rounded down, or the closest there is; zero for what is not a number. Processors of
/// 2003 have no instruction that rounds down, so outside of kernels [`f64::floor`] is a call.
#[inline(always)]
fn floor(number: f64) -> i32 {
    let whole = number as i32;
    whole.saturating_sub(i32::from(f64::from(whole) > number))
}

/// How cells are scattered over buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellHash {
    /// Multiplications that spread every bit of every coordinate.
    #[default]
    Mixed,
    /// The sum of the coordinates and the level, as in the paper: cells on a diagonal collide.
    Sum,
}

impl CellHash {
    /// The number of a cell before it is cut to the size of the table.
    #[inline(always)]
    pub fn of(self, salt: u64, cell: [i32; 3]) -> u64 {
        let [x, y, z] = cell.map(|c| c as u64);
        match self {
            CellHash::Mixed => {
                let sum = x
                    .wrapping_mul(0x9E37_79B9_7F4A_7C15)
                    .wrapping_add(y.wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
                    .wrapping_add(z.wrapping_mul(0x1656_67B1_9E37_79F9))
                    .wrapping_add(salt.wrapping_mul(0xD6E8_FEB8_6659_FD93));
                (sum ^ (sum >> 32)).wrapping_mul(0xFF51_AFD7_ED55_8CCD) >> 24
            }
            CellHash::Sum => x.wrapping_add(y).wrapping_add(z).wrapping_add(salt >> 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout { axes: [true, true, false], order: [1, 0, 2], finest: -3, coarsest: 10 }
    }

    #[test]
    fn the_level_is_the_first_with_larger_cells() {
        let cube = |side: f32| Aabb::new([0.0; 3], [side, side / 2.0, 1e9]);
        for (side, level) in [(0.0, 0), (0.1, 0), (0.125, 1), (0.99, 3), (1.0, 4), (1023.0, 13)] {
            assert_eq!(layout().level(&cube(side)), Some(level), "side {side}");
        }
        assert_eq!(layout().level(&cube(1024.0)), None);
        assert_eq!(layout().level(&cube(f32::INFINITY)), None);
        assert_eq!(layout().level(&Aabb::point([f32::INFINITY; 3])), None);
        let far = |at: f32| layout().level(&Aabb::point([0.0, -at, 0.0]));
        assert_eq!([far(1.0), far(2f32.powi(24)), far(2f32.powi(30))], [Some(0), Some(2), Some(8)]);
        assert_eq!(far(2f32.powi(40)), None);
    }

    #[test]
    fn cells_grow_with_coordinates_through_zero() {
        let layout = layout();
        let list = [f32::NEG_INFINITY, -1e30, -1.0, -0.13, -0.1, -0.0, 0.0, 0.1, 0.13, 1e9, 1e30];
        let cell = |&x: &f32| layout.cell(&Aabb::point([x, x, x]), &layout.scale(0));
        let cells: Vec<Cell> = list.iter().map(cell).collect();
        assert!(cells.is_sorted());
        assert_eq!(cells[8][1] - cells[3][1], 3, "no cell around zero is larger: {cells:?}");
        assert_eq!(cells[8][0] - cells[3][0], 33, "nor is a slice: {cells:?}");
        assert_eq!(cells[5], cells[6]);
        assert!(cells.iter().all(|cell| cell[2] == 0));
    }

    #[test]
    fn numbers_are_rounded_down() {
        let places =
            [0.0, 0.5, 1.0, 1e-300, 7.99, 2147483647.5, 2147483648.0, 1e300, f64::INFINITY];
        for number in places.into_iter().flat_map(|place| [place, -place]).chain([f64::NAN]) {
            assert_eq!(floor(number), number.floor() as i32, "{number}");
        }
    }

    #[test]
    fn numbers_of_coarser_levels_are_shifted() {
        let layout = Layout { axes: [true; 3], order: [2, 0, 1], finest: -149, coarsest: 127 };
        for at in [-3e30f32, -7e6, -1.0, -1e-20, -1e-45, 0.0, 1e-45, 0.3, 99.0, 3e30] {
            let aabb = Aabb::point([at, -at, 0.5 * at]);
            let level = layout.level(&aabb).unwrap();
            let cell = layout.cell(&aabb, &layout.scale(level));
            let farthest = [1 << SLICE_BITS << FARTHEST, 1 << FARTHEST, 1 << FARTHEST];
            assert!((0..3).all(|k| cell[k].unsigned_abs() <= farthest[k]), "{cell:?}");
            for coarser in level..layout.levels() {
                let shifted = cell.map(|number| number >> (coarser - level).min(31));
                assert_eq!(layout.cell(&aabb, &layout.scale(coarser)), shifted, "{at} {coarser}");
            }
        }
    }

    #[test]
    fn the_range_holds_every_cell_from_which_a_box_can_reach() {
        let layout = layout();
        let mut sheet = Sheet::new(&layout, 3, 0);
        let other = Aabb::new([-0.75, 0.0, 0.0], [0.0, 0.5, 0.0]);
        sheet.reach = [0.5 * SLICES, 0.75, 0.0];
        let (low, high) = sheet.range(&layout, &Aabb::point([0.0, 0.25, 7.0]));
        let cell = layout.cell(&other, &sheet.scale);
        assert!((0..3).all(|k| low[k] <= cell[k] && cell[k] <= high[k]));
        assert_eq!((low, high), ([-4, -1, 0], [4, 0, 0]));
    }
}
