//! The plan of an update: which axis is swept, and how many columns there are across it.
//!
//! A sample of the boxes gives the range of the lower corners on each axis and the moments of the
//! extents; from these the cost of every choice of axis and number of columns is estimated and the
//! cheapest is taken. The plan affects speed only: a [`Scale`] never decreases, whatever its
//! numbers, and the result is exact because of that alone.

use crate::aabb::Aabb;

/// Boxes in a sample: enough for the range of the corners and the mean extents.
const SAMPLE: usize = 1024;

/// Share of the sample on either side that counts as outlying.
const OUTLYING: f64 = 0.02;

/// The most cells along one axis; [`Scale::cell`] is exact far beyond.
const MOST_CELLS: f64 = 32768.0;

/// The most buckets along the sweep axis: their counters fit the first cache.
const MOST_BUCKETS: f64 = 4096.0;

/// The cost of sweeping a column as it is, in the measure of [`ColumnPlan::cost`].
pub(super) fn cost_of_tests(tests: u64) -> f64 {
    tests as f64 * COST_TEST
}

/// What the parts of an update cost, in nanoseconds; only the ratios matter.
const COST_ENTRY: f64 = 20.0;
const COST_TEST: f64 = 0.7;
const COST_COLUMN: f64 = 200.0;

/// Maps coordinates of one axis to cells. Every step of the computation rounds to nearest and so
/// never decreases; coordinates outside the range fall into the first or last cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    origin: f32,
    per_unit: f32,
    /// A second factor: a world of denormals has more cells per unit than f32 has numbers.
    boost: f32,
    last: f32,
}

impl Scale {
    /// One cell for everything.
    pub(super) const ONE: Scale = Scale { origin: 0.0, per_unit: 1.0, boost: 1.0, last: 0.0 };

    /// `cells` equal cells over a range; one cell for everything if the range is empty.
    fn new(low: f64, spread: f64, cells: f64) -> Scale {
        if cells <= 1.0 || spread <= 0.0 {
            return Scale::ONE;
        }
        /// A power of two, so that multiplying by it does not round.
        const BOOST: f32 = (1u64 << 60) as f32;
        let boost = if cells / spread > 1e37 { BOOST } else { 1.0 };
        let per_unit = cells / spread / f64::from(boost);
        let per_unit = (per_unit as f32).clamp(f32::MIN_POSITIVE, f32::MAX);
        // Half a cell further up, because the cell is rounded to nearest.
        let origin = (low + 0.5 * spread / cells) as f32;
        Scale { origin, per_unit, boost, last: (cells - 1.0) as f32 }
    }

    /// The cell of a coordinate.
    #[inline(always)]
    pub(super) fn cell(&self, coordinate: f32) -> u32 {
        /// Adding this leaves the rounded number in the low bits of the sum.
        const ROUNDER: f32 = 8_388_608.0;
        let place = (coordinate - self.origin) * self.per_unit * self.boost;
        // Not `clamp`: each of these is one instruction, and NaN becomes zero.
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < self.last { place } else { self.last };
        (place + ROUNDER).to_bits() - ROUNDER.to_bits()
    }

    /// Where a cell begins and ends; the outermost reach to infinity.
    pub(super) fn edges(&self, cell: u32) -> [f32; 2] {
        let edge = |side: f32| (cell as f32 + side) / self.per_unit / self.boost + self.origin;
        let low = if cell == 0 { f32::NEG_INFINITY } else { edge(-0.5) };
        [low, if cell + 1 >= self.cells() { f32::INFINITY } else { edge(0.5) }]
    }

    /// Number of cells.
    pub(super) fn cells(&self) -> u32 {
        self.last as u32 + 1
    }
}

/// The columns a box touches: from, to (both included), on either axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub from: [u32; 2],
    pub to: [u32; 2],
}

impl Span {
    /// The marks of the box in a column, by the number of columns in a row.
    pub(super) fn marks(&self, column: usize, in_row: usize) -> u32 {
        let (row, place) = (column / in_row, column % in_row);
        u32::from(row > self.from[0] as usize) | u32::from(place > self.from[1] as usize) << 1
    }

    /// Returns true if the box touches a column.
    pub(super) fn touches(&self, column: usize, in_row: usize) -> bool {
        let within = |axis: usize, cell: usize| {
            (self.from[axis] as usize..=self.to[axis] as usize).contains(&cell)
        };
        within(0, column / in_row) && within(1, column % in_row)
    }
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnPlan {
    /// The axis that is swept; the columns stand across the two that follow it in turn.
    pub axis: usize,
    /// Cells across the sweep axis.
    pub across: [Scale; 2],
    /// Buckets along the sweep axis.
    pub along: Scale,
    /// Estimated cost in nanoseconds.
    pub cost: f64,
}

impl ColumnPlan {
    /// Everything in one column.
    pub(super) const fn single(axis: usize) -> ColumnPlan {
        ColumnPlan { axis, across: [Scale::ONE; 2], along: Scale::ONE, cost: f64::INFINITY }
    }

    /// Number of columns.
    pub(super) fn columns(&self) -> usize {
        self.across[0].cells() as usize * self.across[1].cells() as usize
    }

    /// Number of columns with the same place on the first axis across.
    pub(super) fn columns_in_row(&self) -> usize {
        self.across[1].cells() as usize
    }

    /// The columns that a box touches.
    pub(super) fn span_of(&self, aabb: &Aabb) -> Span {
        match self.axis {
            0 => self.span::<0>(aabb),
            1 => self.span::<1>(aabb),
            _ => self.span::<2>(aabb),
        }
    }

    /// The columns that a box touches; `AXIS` is the plan's axis.
    #[inline(always)]
    pub(super) fn span<const AXIS: usize>(&self, aabb: &Aabb) -> Span {
        let ([u, v], [one, two]) = (&self.across, [(AXIS + 1) % 3, (AXIS + 2) % 3]);
        Span {
            from: [u.cell(aabb.min[one]), v.cell(aabb.min[two])],
            to: [u.cell(aabb.max[one]), v.cell(aabb.max[two])],
        }
    }
}

/// What a sample of the boxes shows on one axis.
#[derive(Clone, Copy, Debug, Default)]
struct Range {
    low: f64,
    spread: f64,
}

/// A sample of the boxes and what it shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    sample: Vec<Aabb>,
    corners: Vec<f32>,
    ranges: [Range; 3],
    /// Mean products of the extents, as shares of the ranges, over the axes in the bits of the
    /// index.
    moments: [f64; 8],
}

impl Survey {
    /// Looks at some of `count` boxes, spread over all. Places without a box hold NaN.
    pub(super) fn look(&mut self, count: usize, get: impl Fn(usize) -> Aabb) {
        let wanted = SAMPLE.min((count / 8).max(64)).min(count);
        self.sample.clear();
        for k in 0..wanted {
            // A stride with a jump within it, so that no order of the ids hides a part of them.
            let (from, to) = (k * count / wanted, (k + 1) * count / wanted);
            let jump = (k as u32).wrapping_mul(0x9E37_79B1) >> 8;
            let middle = from + jump as usize % (to - from);
            let mut places = (middle..to).chain(from..middle).map(&get);
            self.sample.extend(places.find(|aabb| aabb.min[0] <= aabb.max[0]));
        }
        for axis in 0..3 {
            self.ranges[axis] = self.range(axis);
        }
        self.measure_extents();
    }

    /// The range of the lower corners without outliers: between two quantiles, widened a little,
    /// but not beyond the sample.
    fn range(&mut self, axis: usize) -> Range {
        self.corners.clear();
        self.corners.extend(self.sample.iter().map(|aabb| finite(aabb.min[axis])));
        if self.corners.is_empty() {
            return Range::default();
        }
        let outside = (self.corners.len() as f64 * OUTLYING) as usize;
        let inside = self.corners.len() - 1 - outside;
        let (below, &mut upper, above) =
            self.corners.select_nth_unstable_by(inside, f32::total_cmp);
        let highest = f64::from(above.iter().fold(upper, |high, &corner| high.max(corner)));
        let (lowest, lower) = if below.is_empty() {
            (upper, upper)
        } else {
            let (below, &mut lower, _) =
                below.select_nth_unstable_by(outside.min(inside.saturating_sub(1)), f32::total_cmp);
            (below.iter().fold(lower, |low, &corner| low.min(corner)), lower)
        };
        let (lower, upper) = (f64::from(lower), f64::from(upper));
        let margin = 0.1 * (upper - lower);
        let low = (lower - margin).max(f64::from(lowest));
        Range { low, spread: (upper + margin).min(highest) - low }
    }

    fn measure_extents(&mut self) {
        let mut sums = [0.0; 8];
        for aabb in &self.sample {
            let share: [f64; 3] = std::array::from_fn(|axis| {
                let extent = f64::from(finite(aabb.max[axis])) - f64::from(finite(aabb.min[axis]));
                let spread = self.ranges[axis].spread;
                if spread > 0.0 { (extent / spread).min(1.0) } else { 1.0 }
            });
            for (axes, sum) in sums.iter_mut().enumerate() {
                let factor = |axis: usize| if axes >> axis & 1 == 1 { share[axis] } else { 1.0 };
                *sum += factor(0) * factor(1) * factor(2);
            }
        }
        let count = self.sample.len().max(1) as f64;
        self.moments = sums.map(|sum| sum / count);
    }

    /// The cheapest plan for `count` boxes with at most `most` columns, over all axes.
    pub(super) fn plan(&self, count: usize, most: f64) -> ColumnPlan {
        let plans = (0..3).map(|axis| self.plan_along(axis, count, most));
        plans.min_by(|one, other| one.cost.total_cmp(&other.cost)).expect("three axes")
    }

    /// The cheapest plan that sweeps along `axis`.
    pub(super) fn plan_along(&self, axis: usize, count: usize, most: f64) -> ColumnPlan {
        let mut best = (f64::INFINITY, [1.0; 2], 1.0);
        let mut columns = 1.0;
        while columns <= most.max(1.0) {
            let cells = self.cells(axis, columns);
            let (cost, entries) = self.cost(axis, count as f64, cells);
            if cost < best.0 {
                best = (cost, cells, entries / (cells[0] * cells[1]));
            }
            columns *= 1.25;
        }
        self.build(axis, best.0, best.1, best.2)
    }

    fn build(&self, axis: usize, cost: f64, cells: [f64; 2], entries: f64) -> ColumnPlan {
        let scale = |axis: usize, cells: f64| {
            Scale::new(self.ranges[axis].low, self.ranges[axis].spread, cells)
        };
        // Buckets half a box long; more of them than twice the entries would mostly be empty.
        let buckets = (2.0 / self.moments[1 << axis]).min(2.0 * entries).clamp(1.0, MOST_BUCKETS);
        ColumnPlan {
            axis,
            across: [scale((axis + 1) % 3, cells[0]), scale((axis + 2) % 3, cells[1])],
            along: scale(axis, buckets.ceil()),
            cost,
        }
    }

    /// Divides a number of columns among the two axes so that few boxes straddle: the ratio of
    /// cells to the boxes' extents is the same on both.
    fn cells(&self, axis: usize, columns: f64) -> [f64; 2] {
        let [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        let flat = |axis: usize| self.ranges[axis].spread <= 0.0;
        let share = |axis: usize| self.moments[1 << axis].max(1e-6);
        let most = columns.min(MOST_CELLS);
        let first = if flat(u) {
            1.0
        } else if flat(v) {
            most
        } else {
            (columns * share(v) / share(u)).sqrt().clamp(1.0, most)
        };
        let second = if flat(v) { 1.0 } else { (columns / first).clamp(1.0, most) };
        [first.round(), second.round()]
    }

    /// The estimated cost in nanoseconds, and the number of entries.
    fn cost(&self, axis: usize, count: f64, cells: [f64; 2]) -> (f64, f64) {
        let (s, u, v) = (1 << axis, 1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        // A box touches one cell more than it covers whole ones; with one cell, only that.
        let more = cells.map(|cells| if cells > 1.0 { cells } else { 0.0 });
        let mean = |with: usize| {
            self.moments[with]
                + more[0] * self.moments[with | u]
                + more[1] * self.moments[with | v]
                + more[0] * more[1] * self.moments[with | u | v]
        };
        let columns = cells[0] * cells[1];
        let entries = count * mean(0);
        let tests = count * mean(s) * entries / columns;
        (entries * COST_ENTRY + tests * COST_TEST + columns * COST_COLUMN, entries)
    }
}

fn finite(bound: f32) -> f32 {
    bound.clamp(f32::MIN, f32::MAX)
}
