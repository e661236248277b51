//! How space is cut: [`Layout`] says which axes and cell sizes are used, [`Sheet`] is one grid.
//!
//! Exactness rests on one property: the cell number is a monotone function of the coordinate,
//! whatever rounding and clamping do to it. So a box that begins at or before a bound lies in a
//! cell at or before the bound's cell, and nothing is lost at borders, at the rim of the cell
//! numbers or among infinities.

use crate::aabb::Aabb;

/// Number of a cell along each axis, from 0 to 2^30; the origin lies in the middle.
pub(super) type Cell = [i32; 3];

/// The cell number of the origin.
const MIDDLE: f64 = (1u32 << 29) as f64;

/// The largest cell number; whatever lies beyond is put there.
const LAST: f64 = (1u32 << 30) as f64;

/// A box is put into cells so large that its cell number lies this many powers of two, or less,
/// away from the origin's: within the cell numbers, and finer than the steps of f32 there.
pub(super) const FARTHEST: i32 = 28;

/// Widening of a reach in cells. Rounding is off by at most 2^-23 cells within the range of the
/// cell numbers.
const SLACK: f64 = 1.0 / (1 << 20) as f64;

/// Cell sizes are the powers of two from `2^finest` to `2^coarsest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Axes that are cut at all.
    pub axes: [bool; 3],
    pub finest: i32,
    pub coarsest: i32,
}

impl Layout {
    pub(super) fn levels(&self) -> usize {
        (self.coarsest - self.finest + 1) as usize
    }

    /// The level whose cells are larger than the box; none for a giant.
    #[inline]
    pub(super) fn level(&self, aabb: &Aabb) -> Option<usize> {
        let exponent = exponent_for(aabb, &self.axes).max(self.finest);
        (exponent <= self.coarsest).then_some((exponent - self.finest) as usize)
    }

    /// The cell of a box, and the power of two that is the cell's size; none for a giant. What a
    /// sheet of that level says, before there are sheets.
    pub(super) fn size_and_cell(&self, aabb: &Aabb) -> Option<(i32, Cell)> {
        let exponent = exponent_for(aabb, &self.axes).max(self.finest);
        let scale = power_of_two(-exponent);
        let number = |k: usize| match self.axes[k] {
            true => number(f64::from(aabb.min[k]) * scale + MIDDLE),
            false => 0,
        };
        (exponent <= self.coarsest).then(|| (exponent, std::array::from_fn(number)))
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
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The length of a box along an axis, but for rounding; not a number for a point at infinity.
#[inline(always)]
fn extent(aabb: &Aabb, axis: usize) -> f64 {
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
    /// Cells per unit of length; zero along axes that are not cut.
    scale: [f64; 3],
    /// Cell number of coordinate zero.
    middle: [f64; 3],
    /// As `middle`, less the reach in cells: where a box that reaches a bound may begin.
    low: [f64; 3],
    /// The largest extents of boxes that have been in this sheet.
    reach: [f64; 3],
    /// Tells the cells of one sheet from those of the others.
    pub salt: u64,
    pub group: usize,
    /// Number of boxes in it.
    pub count: usize,
}

impl Sheet {
    pub(super) fn new(layout: &Layout, level: usize, group: usize) -> Sheet {
        let scale = power_of_two(-(layout.finest + level as i32));
        let used = layout.axes.map(|used| f64::from(u8::from(used)));
        let mut sheet = Sheet {
            scale: used.map(|used| scale * used),
            middle: used.map(|used| MIDDLE * used),
            low: [0.0; 3],
            reach: [0.0; 3],
            salt: (level << 8 | group) as u64,
            group,
            count: 0,
        };
        sheet.set_low();
        sheet
    }

    fn set_low(&mut self) {
        for k in 0..3 {
            let reach = self.reach[k] * self.scale[k] + SLACK;
            self.low[k] = if self.scale[k] == 0.0 { 0.0 } else { self.middle[k] - reach };
        }
    }

    /// Makes sure that the reach covers a box.
    #[inline]
    pub(super) fn cover(&mut self, aabb: &Aabb) {
        let mut grown = false;
        for k in 0..3 {
            let extent = extent(aabb, k);
            if self.scale[k] != 0.0 && extent > self.reach[k] {
                self.reach[k] = extent.next_up();
                grown = true;
            }
        }
        if grown {
            self.set_low();
        }
    }

    /// Returns true if the reach covers a box.
    pub(super) fn covers(&self, aabb: &Aabb) -> bool {
        let beyond = |k: usize| self.scale[k] != 0.0 && extent(aabb, k) > self.reach[k];
        !(0..3).any(beyond)
    }

    /// The cell of a box: that of its lower corner.
    #[inline(always)]
    pub(super) fn cell(&self, aabb: &Aabb) -> Cell {
        std::array::from_fn(|k| number(f64::from(aabb.min[k]) * self.scale[k] + self.middle[k]))
    }

    /// The coordinate of a place in cells; infinite along an axis that is not cut.
    pub(super) fn edge(&self, axis: usize, place: f64) -> f64 {
        match self.scale[axis] == 0.0 {
            true => place * f64::INFINITY,
            false => (place - self.middle[axis]) / self.scale[axis],
        }
    }

    /// The first and last cell, along each axis, of boxes in this sheet that can overlap a box.
    #[inline(always)]
    pub(super) fn range(&self, aabb: &Aabb) -> (Cell, Cell) {
        let low = |k: usize| number(f64::from(aabb.min[k]) * self.scale[k] + self.low[k]);
        let high = |k: usize| number(f64::from(aabb.max[k]) * self.scale[k] + self.middle[k]);
        (std::array::from_fn(low), std::array::from_fn(high))
    }
}

/// A cell number from a coordinate in cells, rounded to the nearest: any monotone function will
/// do, and this one is the shortest. Infinity times zero is not a number, and counts as zero like
/// every coordinate along an axis that is not cut.
#[inline(always)]
fn number(coordinate: f64) -> i32 {
    /// Added to a number, its whole part ends up in the low bits.
    const WHOLE: f64 = (1u64 << 52) as f64;
    // Written out, each is a single instruction; `max` and `min` look after NaN at length.
    let coordinate = if coordinate > 0.0 { coordinate } else { 0.0 };
    let coordinate = if coordinate < LAST { coordinate } else { LAST };
    (coordinate + WHOLE).to_bits() as i32
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
        Layout { axes: [true, true, false], finest: -3, coarsest: 10 }
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
        assert_eq!([far(1.0), far(2f32.powi(24)), far(2f32.powi(30))], [Some(0), Some(0), Some(6)]);
        assert_eq!(far(2f32.powi(40)), None);
    }

    #[test]
    fn cells_grow_with_coordinates_through_zero_and_the_rim() {
        let sheet = Sheet::new(&layout(), 0, 0);
        let list = [f32::NEG_INFINITY, -1e30, -1.0, -0.13, -0.1, -0.0, 0.0, 0.1, 0.13, 1e9, 1e30];
        let cells: Vec<Cell> = list.iter().map(|&x| sheet.cell(&Aabb::point([x, x, x]))).collect();
        assert!(cells.is_sorted());
        assert_eq!(cells[8][0] - cells[3][0], 2, "no cell around zero is larger: {cells:?}");
        assert_eq!(cells[5], cells[6]);
        assert!(cells.iter().all(|cell| cell[2] == 0));
    }

    #[test]
    fn sizes_and_cells_are_those_of_the_sheets() {
        for at in [-7e6f32, -3.0, 0.0, 0.3, 99.0] {
            for side in [0.0, 0.7, 90.0] {
                let aabb = Aabb::new([at; 3], [at + side; 3]);
                let level = layout().level(&aabb).unwrap();
                let sheet = Sheet::new(&layout(), level, 0);
                let expected = (layout().finest + level as i32, sheet.cell(&aabb));
                assert_eq!(layout().size_and_cell(&aabb), Some(expected), "{aabb:?}");
            }
        }
    }

    #[test]
    fn the_range_holds_every_cell_from_which_a_box_can_reach() {
        let mut sheet = Sheet::new(&layout(), 3, 0);
        let other = Aabb::new([-0.75, 0.0, 0.0], [0.0, 0.5, 0.0]);
        sheet.cover(&other);
        let (low, high) = sheet.range(&Aabb::point([0.0, 0.25, 7.0]));
        let cell = sheet.cell(&other);
        assert!((0..3).all(|k| low[k] <= cell[k] && cell[k] <= high[k]));
    }
}
