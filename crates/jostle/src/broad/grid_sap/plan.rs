//! Chooses the [`UniformGrid`] for a set of boxes.
//!
//! The grid spans the middle of a sample of the boxes, on the axes with spread, with cells as
//! near to cubes as the spans allow and a given number of boxes in each. Then cells are made
//! larger until boxes touch few of them on average and few boxes are giants.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::persistent::displacement;
use crate::broad::shared::uniform_grid::UniformGrid;

/// A box that touches more cells than this is a giant and is kept apart.
pub(super) const GIANT: u64 = 27;

/// Boxes of the sample.
const SAMPLE: usize = 1024;

/// The most cells that boxes may touch on average.
const MOST_ENTRIES: f64 = 2.0;

/// The most giants: each is tested against every box that changes.
pub(super) fn most_giants(boxes: usize) -> usize {
    16 + boxes.isqrt() / 4
}

/// The grid for some boxes, and what is known about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GridPlan {
    /// The grid.
    pub grid: UniformGrid,
    /// How far a box may move on each axis before it is removed and inserted again: an eighth of a
    /// cell, which is some dozens of swaps.
    pub reach: [f32; 3],
    /// The number of boxes it was made for.
    pub boxes: usize,
}

impl GridPlan {
    /// Returns true if a move is better made by removing the box and inserting it again.
    #[inline]
    pub(super) fn leaps(&self, then: &Aabb, now: &Aabb) -> bool {
        // Either endpoint may go this far; together they go twice as far unless the box grows.
        (0..3).any(|axis| displacement(then, now, axis) > self.leap(axis))
    }

    /// How far the two endpoints of a box may move together before it is removed and inserted.
    pub(super) fn leap(&self, axis: usize) -> f32 {
        2.0 * self.reach[axis]
    }

    /// The width of a cell; infinite on an axis that is not divided because it has no spread.
    pub(super) fn width(&self, axis: usize) -> f32 {
        8.0 * self.reach[axis]
    }
}

/// The plan for these boxes with about `target` of them in a cell.
pub(super) fn choose(boxes: &Boxes, target: usize, scratch: &mut Vec<f32>) -> GridPlan {
    let Some((low, high)) = span(boxes, scratch) else { return GridPlan::default() };
    let mut cells = boxes.len() as f64 / target.max(1) as f64;
    let mut grid = UniformGrid::default();
    while cells > 1.5 {
        let wanted = UniformGrid::new(low, high, dims(&low, &high, cells));
        if suits(&wanted, boxes) {
            grid = wanted;
            break;
        }
        cells *= 0.5;
    }
    let reach = |axis: usize| {
        let reach = (high[axis] - low[axis]) / (8 * grid.dims()[axis]) as f32;
        if reach > 0.0 { reach } else { f32::INFINITY }
    };
    GridPlan { grid, reach: std::array::from_fn(reach), boxes: boxes.len() }
}

/// Where the middle 98 of 100 sampled boxes have their centres, and a little more.
fn span(boxes: &Boxes, scratch: &mut Vec<f32>) -> Option<([f32; 3], [f32; 3])> {
    let step = boxes.slots() / SAMPLE + 1;
    let (mut low, mut high) = ([0.0; 3], [0.0; 3]);
    for axis in 0..3 {
        let centre = |aabb: &Aabb| 0.5 * aabb.min[axis] + 0.5 * aabb.max[axis];
        let sample = boxes.aabbs().iter().step_by(step).map(centre);
        scratch.clear();
        scratch.extend(sample.filter(|centre| centre.is_finite()));
        scratch.sort_unstable_by(f32::total_cmp);
        let last = scratch.len().checked_sub(1)?;
        let margin = last / 100;
        (low[axis], high[axis]) = (scratch[margin], scratch[last - margin]);
        let more = (high[axis] - low[axis]) * 0.01;
        low[axis] -= more;
        high[axis] += more;
    }
    Some((low, high))
}

/// Cells on each axis so that there are about `cells` and they are near to cubes.
fn dims(low: &[f32; 3], high: &[f32; 3], cells: f64) -> [u32; 3] {
    let span: [f64; 3] = std::array::from_fn(|axis| f64::from(high[axis]) - f64::from(low[axis]));
    let mut divided = span.map(|span| span > 0.0 && span.is_finite());
    loop {
        let axes = || (0..3).filter(|&axis| divided[axis]);
        // By logarithms: products of large spans overflow.
        let volume: f64 = axes().map(|axis| span[axis].ln()).sum();
        let width = ((volume - cells.ln()) / axes().count().max(1) as f64).exp();
        let Some(short) = axes().find(|&axis| span[axis] < width) else {
            let dim = |axis: usize| (span[axis] / width).round().clamp(1.0, 4096.0) as u32;
            return std::array::from_fn(|axis| if divided[axis] { dim(axis) } else { 1 });
        };
        divided[short] = false;
    }
}

/// Returns true if boxes touch few cells of the grid and giants are few.
fn suits(grid: &UniformGrid, boxes: &Boxes) -> bool {
    let (mut entries, mut giants) = (0, 0);
    for id in boxes.live_slots() {
        let count = grid.range(&boxes.aabbs()[id.index()]).count();
        if count > GIANT { giants += 1 } else { entries += count }
    }
    giants <= most_giants(boxes.len()) && entries as f64 <= MOST_ENTRIES * boxes.len() as f64
}
