//! [`LiuSweep`]: subdivision and sweep after Liu, Harada, Lee and Kim, as Loi's thesis retells it
//! (section 5.1.3), with each of its ideas as an option.
//!
//! - *The principal axis.* The sweep goes along the direction in which the centres vary most, by
//!   principal component analysis; cells are cut by planes along it. The thesis takes the
//!   coordinate axis of the largest variance instead.
//! - *Cells for straddlers.* A box on a border is not copied into the cells on both sides: the
//!   boxes on a border make a cell of their own, together with every other box that reaches into
//!   it. Then each box is in one cell as itself, and again only where it reaches into a border's.
//! - *Bit strings.* A second level cuts each cell into 64; a box has a bit for each part it
//!   touches, and two boxes without a common bit need no test.
//!
//! A step projects all boxes, fills the cells, sorts each by the lower end, and sweeps. Cost:
//! sorting n entries and what the sweep meets, which grows with the boxes of a cell to the power
//! 5/3. Memory: 40 bytes an entry.
//!
//! Departures: the border of a whole row of cells is one cell, not one for each couple of cells; a
//! pair of which both are on borders counts in the border of the lower number. Projections are
//! widened by their rounding error, so that boxes which touch also do so in every projection. The
//! sort is the library's, one thread, from scratch in every step.

use glam::{DMat3, DVec3};
use jostle::{Aabb, Boxes, BroadPhase, Error, PairBuffer, Report, Stats};

/// The direction of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepAxis {
    /// The coordinate axis of the largest variance: the thesis's.
    Coordinate,
    /// The principal axis: Liu's.
    Principal,
}

/// What happens to boxes on borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Straddlers {
    /// They are copied into every cell they touch: the thesis's.
    Copied,
    /// Borders are cells of their own: Liu's.
    Apart,
}

/// Which of the ideas are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiuOptions {
    pub axis: SweepAxis,
    pub straddlers: Straddlers,
    pub bits: bool,
    /// Boxes for each cell.
    pub per_cell: usize,
}

/// A box as the sweep sees it: intervals along the sweep axis and across it.
#[derive(Clone, Copy, Debug, Default)]
struct Shadow {
    along: [f64; 2],
    across: [[f64; 2]; 2],
}

/// A box in a cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    along: [f64; 2],
    slot: u32,
    /// The border on which it is, or [`NONE`].
    border: u32,
    bits: u64,
}

const NONE: u32 = u32::MAX;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct LiuSweep {
    options: LiuOptions,
    /// Cells row by row, then borders across the first direction, then across the second.
    cells: Vec<Vec<Entry>>,
    tests: u64,
    candidates: u64,
    entries: usize,
    /// Boxes on borders.
    straddlers: usize,
    /// Entries in the cells of borders of boxes that are on none.
    reaching: usize,
}

/// The cells of a step.
struct Grid {
    low: [f64; 2],
    side: [f64; 2],
    /// Cells in each of both directions.
    count: usize,
    /// Between which bounds the boxes on each border lie.
    borders: Vec<[f64; 2]>,
}

impl Grid {
    fn new(shadows: &[(u32, Shadow)], per_cell: usize) -> Grid {
        let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
        for (_, shadow) in shadows {
            for (bounds, [low, high]) in bounds.iter_mut().zip(shadow.across) {
                *bounds = [bounds[0].min(low), bounds[1].max(high)];
            }
        }
        let cells = shadows.len().div_ceil(per_cell.max(1)).max(1);
        let count = (cells as f64).sqrt().ceil() as usize;
        let side = bounds.map(|[low, high]| {
            let side = (high - low) / count as f64;
            if side > 0.0 { side } else { 1.0 }
        });
        let empty = [f64::INFINITY, f64::NEG_INFINITY];
        let borders = vec![empty; 2 * (count - 1)];
        Grid { low: bounds.map(|bounds| bounds[0]), side, count, borders }
    }

    /// The cell of a place in a direction. Never falls as the place grows.
    fn number(&self, direction: usize, place: f64) -> usize {
        let number = (place - self.low[direction]) / self.side[direction];
        (number.max(0.0) as usize).min(self.count - 1)
    }

    /// First and last cell of a box in both directions.
    fn span(&self, shadow: &Shadow) -> [[usize; 2]; 2] {
        [0, 1].map(|k| shadow.across[k].map(|place| self.number(k, place)))
    }

    /// The first border on which a box is.
    fn border_of(&self, span: &[[usize; 2]; 2]) -> u32 {
        match *span {
            [[first, last], _] if first != last => first as u32,
            [_, [first, last]] if first != last => (self.count - 1 + first) as u32,
            _ => NONE,
        }
    }

    /// The direction across which a border lies.
    fn direction_of(&self, border: usize) -> usize {
        usize::from(border >= self.count - 1)
    }

    /// The parts of a cell that a box touches, 8 by 8.
    fn bits_in_cell(&self, cell: [usize; 2], shadow: &Shadow) -> u64 {
        let [rows, columns] = [0, 1].map(|k| {
            let low = self.low[k] + cell[k] as f64 * self.side[k];
            range(8, shadow.across[k].map(|place| 8.0 * (place - low) / self.side[k]))
        });
        (0..8).filter(|row| rows >> row & 1 == 1).map(|row| columns << (8 * row)).sum()
    }

    /// The parts of a border that a box touches, 64 along it.
    fn bits_on_border(&self, border: usize, shadow: &Shadow) -> u64 {
        let k = 1 - self.direction_of(border);
        let scale = 64.0 / (self.side[k] * self.count as f64);
        range(64, shadow.across[k].map(|place| (place - self.low[k]) * scale))
    }
}

/// The bits from the part of one place to that of another; what is outside counts in the last part.
fn range(parts: usize, places: [f64; 2]) -> u64 {
    let [first, last] = places.map(|place| (place.max(0.0) as usize).min(parts - 1));
    (u64::MAX >> (63 - (last - first))) << first
}

impl LiuSweep {
    pub(crate) fn new(options: LiuOptions) -> LiuSweep {
        LiuSweep {
            options,
            cells: Vec::new(),
            tests: 0,
            candidates: 0,
            entries: 0,
            straddlers: 0,
            reaching: 0,
        }
    }

    fn fill(&mut self, shadows: &[(u32, Shadow)]) -> Grid {
        let mut grid = Grid::new(shadows, self.options.per_cell);
        let (count, copied) = (grid.count, self.options.straddlers == Straddlers::Copied);
        self.cells.iter_mut().for_each(Vec::clear);
        self.cells.resize(count * count + grid.borders.len(), Vec::new());
        if !copied {
            for (_, shadow) in shadows {
                let border = grid.border_of(&grid.span(shadow));
                if border != NONE {
                    let [low, high] = shadow.across[grid.direction_of(border as usize)];
                    let bounds = &mut grid.borders[border as usize];
                    *bounds = [bounds[0].min(low), bounds[1].max(high)];
                }
            }
        }
        for &(slot, shadow) in shadows {
            let span = grid.span(&shadow);
            let border = if copied { NONE } else { grid.border_of(&span) };
            self.straddlers += usize::from(border != NONE);
            let mut entry = Entry { along: shadow.along, slot, border, bits: u64::MAX };
            if border == NONE {
                for row in span[0][0]..=span[0][1] {
                    for column in span[1][0]..=span[1][1] {
                        if self.options.bits {
                            entry.bits = grid.bits_in_cell([row, column], &shadow);
                        }
                        self.cells[row * count + column].push(entry);
                    }
                }
            }
            for number in 0..grid.borders.len() {
                let [low, high] = grid.borders[number];
                let [first, last] = shadow.across[grid.direction_of(number)];
                if first <= high && low <= last {
                    if self.options.bits {
                        entry.bits = grid.bits_on_border(number, &shadow);
                    }
                    self.reaching += usize::from(border == NONE);
                    self.cells[count * count + number].push(entry);
                }
            }
        }
        grid
    }

    fn sweep(
        &mut self,
        boxes: &Boxes,
        shadows: &[Shadow],
        grid: &Grid,
        found: &mut PairBuffer,
    ) -> Result<(), Error> {
        let (aabbs, filters) = (boxes.aabbs(), boxes.filters());
        let (cells, count) = (grid.count * grid.count, grid.count);
        let copied = self.options.straddlers == Straddlers::Copied;
        for (number, list) in self.cells.iter_mut().enumerate() {
            self.entries += list.len();
            list.sort_unstable_by(|one, other| {
                one.along[0].total_cmp(&other.along[0]).then(one.slot.cmp(&other.slot))
            });
            let counts = |one: &Entry, other: &Entry| match number < cells {
                // Where both begin is in one cell only.
                true if copied => {
                    let begin = |k: usize| {
                        let low = |slot: u32| shadows[slot as usize].across[k][0];
                        grid.number(k, low(one.slot).max(low(other.slot)))
                    };
                    begin(0) * count + begin(1) == number
                }
                true => true,
                false => one.border.min(other.border) as usize == number - cells,
            };
            for (place, one) in list.iter().enumerate() {
                let others = list[place + 1..].iter();
                for other in others.take_while(|other| other.along[0] <= one.along[1]) {
                    self.candidates += 1;
                    if one.bits & other.bits == 0 {
                        continue;
                    }
                    self.tests += 1;
                    let (a, b) = (one.slot as usize, other.slot as usize);
                    let meet = aabbs[a].overlaps(&aabbs[b]) && filters[a].allows(&filters[b]);
                    if meet && counts(one, other) {
                        found.lane().push(one.slot, other.slot)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The sweep axis and two across it.
fn axes(rule: SweepAxis, centers: &[DVec3]) -> [DVec3; 3] {
    let spread = covariance(centers);
    let turned = match rule {
        SweepAxis::Coordinate => DMat3::IDENTITY,
        SweepAxis::Principal => eigenvectors(spread),
    };
    let columns = [turned.x_axis, turned.y_axis, turned.z_axis];
    let variance = columns.map(|axis| axis.dot(spread * axis));
    let widest = (1..3).fold(0, |best, k| if variance[k] > variance[best] { k } else { best });
    [0, 1, 2].map(|k| columns[(widest + k) % 3])
}

fn covariance(centers: &[DVec3]) -> DMat3 {
    let share = 1.0 / centers.len().max(1) as f64;
    let middle: DVec3 = centers.iter().map(|&center| center * share).sum();
    let mut sum = DMat3::ZERO;
    for &center in centers {
        let from = center - middle;
        sum += DMat3::from_cols(from * from.x, from * from.y, from * from.z) * share;
    }
    sum
}

/// The eigenvectors of a symmetric matrix as columns, by Jacobi's rotations.
fn eigenvectors(mut matrix: DMat3) -> DMat3 {
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (off, gap) = (matrix.col(q)[p], matrix.col(q)[q] - matrix.col(p)[p]);
            if off == 0.0 || !(off / gap.abs().max(off.abs())).is_normal() {
                continue;
            }
            let angle = 0.5 * (2.0 * off).atan2(gap);
            let (sin, cos) = angle.sin_cos();
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cos;
            turn.col_mut(q)[q] = cos;
            turn.col_mut(p)[q] = -sin;
            turn.col_mut(q)[p] = sin;
            matrix = turn.transpose() * matrix * turn;
            vectors *= turn;
        }
    }
    vectors
}

/// A bound; one without end is as far as numbers go.
fn finite(bound: f32) -> f64 {
    f64::from(bound.clamp(f32::MIN, f32::MAX))
}

/// The interval of a box along an axis, a little wider than exact.
fn interval(aabb: &Aabb, axis: DVec3) -> [f64; 2] {
    let (mut low, mut high, mut size) = (0.0, 0.0, 0.0);
    for k in 0..3 {
        let ends = [aabb.min[k], aabb.max[k]].map(|end| finite(end) * axis[k]);
        low += ends[0].min(ends[1]);
        high += ends[0].max(ends[1]);
        size += ends[0].abs() + ends[1].abs();
    }
    let error = 4.0 * f64::EPSILON * size;
    [low - error, high + error]
}

impl BroadPhase for LiuSweep {
    fn name(&self) -> &str {
        "liu sweep"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        (self.tests, self.candidates, self.entries) = (0, 0, 0);
        (self.straddlers, self.reaching) = (0, 0);
        let live = || boxes.live_slots().map(|slot| (slot.get(), &boxes.aabbs()[slot.index()]));
        let centers: Vec<DVec3> = live()
            .map(|(_, aabb)| {
                let middle = |k: usize| (finite(aabb.min[k]) + finite(aabb.max[k])) / 2.0;
                DVec3::new(middle(0), middle(1), middle(2))
            })
            .collect();
        let axes = axes(self.options.axis, &centers);
        let shadow = |aabb: &Aabb| {
            let [along, first, second] = axes.map(|axis| interval(aabb, axis));
            Shadow { along, across: [first, second] }
        };
        let shadows: Vec<(u32, Shadow)> = live().map(|(slot, aabb)| (slot, shadow(aabb))).collect();
        let mut by_slot = vec![Shadow::default(); boxes.slots()];
        shadows.iter().for_each(|&(slot, shadow)| by_slot[slot as usize] = shadow);
        let grid = self.fill(&shadows);
        self.sweep(boxes, &by_slot, &grid, found)?;
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let bytes = self.cells.iter().map(|list| list.capacity() * size_of::<Entry>()).sum();
        Stats {
            tests: self.tests,
            bytes,
            counts: vec![
                ("entries", self.entries as f64),
                ("candidates", self.candidates as f64),
                ("straddlers", self.straddlers as f64),
                ("reaching", self.reaching as f64),
            ],
            ..Stats::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_principal_axis_is_that_of_a_stretched_cloud() {
        let along = DVec3::new(1.0, 2.0, -0.5).normalize();
        let across = along.any_orthonormal_vector();
        let centers: Vec<DVec3> = (0..200)
            .map(|k| along * f64::from(k) + across * f64::from(k % 7) + DVec3::splat(3.0))
            .collect();
        let [axis, first, second] = axes(SweepAxis::Principal, &centers);
        assert!(axis.dot(along).abs() > 0.9999, "{axis}");
        assert!(first.dot(axis).abs() < 1e-12 && second.dot(first).abs() < 1e-12);
        assert_eq!(axes(SweepAxis::Coordinate, &centers)[0], DVec3::Y);
    }

    #[test]
    fn ranges_of_bits() {
        assert_eq!(range(64, [0.0, 63.9]), u64::MAX);
        assert_eq!(range(8, [2.5, 4.1]), 0b11100);
        assert_eq!(range(8, [-3.0, 99.0]), 0xff);
        assert_eq!(range(64, [63.0, 63.0]), 1 << 63);
    }
}
