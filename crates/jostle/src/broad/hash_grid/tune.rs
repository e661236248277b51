//! Which axes are cut, and how fine the finest cells are. Nothing here decides what is found, only
//! how fast.

use crate::boxes::Boxes;
use crate::broad::hash_grid::lattice::{
    CellHash, FARTHEST, Layout, SLICE_BITS, fitting_exponent, largest_distance, largest_extent,
};
use crate::broad::shared::axes::worthwhile_spread;

/// The finest cells are as large as they can be with this many boxes in a box's cell. Coarser cells
/// mean more tests, finer ones more levels and more rows to look into.
const CROWDING: f64 = 128.0;

/// Finest cells are first looked for within this many powers of two of the world's size.
const USUAL_LEVELS: i32 = 40;

/// The finest cells there can be, as a power of two: f32 has no smaller number.
const FINEST: i32 = -150;

/// What is asked of the cell sizes; the other choices are for experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cells {
    /// Levels from the crowd's spacing up to the world's size.
    #[default]
    Hierarchy,
    /// As the hierarchy, but with finest cells of a given size, rounded up to a power of two.
    From(f32),
    /// One level, its cells larger than the largest box that is not infinite.
    Single,
}

/// Chooses axes and levels for the boxes. `counters` is scratch.
pub(super) fn layout(boxes: &Boxes, cells: Cells, counters: &mut Vec<u32>) -> Layout {
    let aabbs = || boxes.live_slots().map(|id| &boxes.aabbs()[id.index()]);
    let spread: [f64; 3] =
        std::array::from_fn(|axis| worthwhile_spread(boxes.aabbs().iter(), axis).1);
    let axes = spread.map(|spread| spread > 0.0);
    let mut order = [0, 1, 2];
    // Long rows are looked up less often.
    order.sort_by(|&one, &other| spread[other].total_cmp(&spread[one]));
    let widest = spread[order[0]];
    // Boxes far from the origin need cells that reach them, however small the world is.
    let distances = aabbs().map(|aabb| largest_distance(aabb, &axes));
    let farthest = distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max);
    let coarsest = fitting_exponent(widest).max(fitting_exponent(farthest) - FARTHEST).max(FINEST);
    let layout = Layout { axes, order, finest: FINEST, coarsest };
    match cells {
        Cells::Hierarchy => Layout { finest: finest(boxes, layout, counters), ..layout },
        Cells::From(size) => {
            let finest = fitting_exponent(f64::from(size)).clamp(layout.finest, coarsest);
            Layout { finest, ..layout }
        }
        Cells::Single => {
            let extents = aabbs().map(|aabb| largest_extent(aabb, &axes));
            let largest = extents.filter(|extent| extent.is_finite()).fold(0.0, f64::max);
            let fitting = fitting_exponent(largest).max(coarsest - USUAL_LEVELS);
            let only = fitting.max(fitting_exponent(farthest) - FARTHEST);
            Layout { finest: only, coarsest: only, ..layout }
        }
    }
}

/// The coarsest cells in which the boxes do not crowd.
fn finest(boxes: &Boxes, layout: Layout, counters: &mut Vec<u32>) -> i32 {
    let usual = (layout.coarsest - USUAL_LEVELS).max(layout.finest);
    let mut crowds =
        |finest: i32| crowding_in(&Layout { finest, ..layout }, boxes, counters) > CROWDING;
    match bisect(usual, layout.coarsest, &mut crowds) {
        Some(finest) => finest,
        // Copies crowd in cells of any size.
        None => bisect(layout.finest, usual - 1, &mut crowds).unwrap_or(usual),
    }
}

/// The mean number of boxes in a box's cell, but for cells that collide when they are hashed.
fn crowding_in(layout: &Layout, boxes: &Boxes, counters: &mut Vec<u32>) -> f64 {
    counters.clear();
    counters.resize(boxes.len().next_power_of_two().max(64), 0);
    for id in boxes.live_slots() {
        let aabb = &boxes.aabbs()[id.index()];
        if let Some(level) = layout.level(aabb) {
            let [slice, y, z] = layout.cell(aabb, &layout.scale(level));
            let cell = [slice >> SLICE_BITS, y, z];
            let bucket = CellHash::Mixed.of((level as u64) << 8, cell) as usize;
            let buckets = counters.len();
            counters[bucket & (buckets - 1)] += 1;
        }
    }
    let square = |&count: &u32| f64::from(count) * f64::from(count);
    counters.iter().map(square).sum::<f64>() / boxes.len().max(1) as f64
}

/// The coarsest cells of a range in which the boxes do not crowd, if there are any.
fn bisect(mut fine: i32, mut coarse: i32, crowds: &mut impl FnMut(i32) -> bool) -> Option<i32> {
    let mut best = None;
    while fine <= coarse {
        let middle = fine + (coarse - fine + 1) / 2;
        if crowds(middle) {
            coarse = middle - 1;
        } else {
            best = Some(middle);
            fine = middle + 1;
        }
    }
    best
}
