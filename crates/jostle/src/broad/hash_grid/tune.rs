//! Which axes are cut, how fine the finest cells are, and in which order boxes lie in memory.
//! Nothing here decides what is found, only how fast.

use crate::broad::hash_grid::lattice::{
    FARTHEST, Layout, Sheet, fitting_exponent, largest_distance, largest_extent,
};
use crate::broad::hash_grid::table::{GridEntry, Table};
use crate::broad::shared::axes::worthwhile_spread;

/// The finest cells are as large as they can be with a mean list of this length. Coarser cells
/// mean more tests, finer ones more levels and more cells to look into.
const CROWDING: f64 = 4.0;

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

/// Chooses axes and levels for the entries of a table. Spoils its buckets.
pub(super) fn layout(table: &mut Table, cells: Cells) -> Layout {
    let aabbs = || table.entries.iter().map(|entry| &entry.aabb);
    let spread: [f64; 3] = std::array::from_fn(|axis| worthwhile_spread(aabbs(), axis).1);
    let axes = spread.map(|spread| spread > 0.0);
    let widest = spread.into_iter().fold(0.0, f64::max);
    // Boxes far from the origin need cells that reach them, however small the world is.
    let distances = aabbs().map(|aabb| largest_distance(aabb, &axes));
    let farthest = distances.filter(|distance| distance.is_finite()).fold(0.0, f64::max);
    let coarsest = fitting_exponent(widest).max(fitting_exponent(farthest) - FARTHEST).max(FINEST);
    let layout = Layout { axes, finest: FINEST, coarsest };
    match cells {
        Cells::Hierarchy => Layout { finest: finest(table, layout), ..layout },
        Cells::From(size) => {
            let finest = fitting_exponent(f64::from(size)).clamp(layout.finest, coarsest);
            Layout { finest, ..layout }
        }
        Cells::Single => {
            let extents = table.entries.iter().map(|entry| largest_extent(&entry.aabb, &axes));
            let largest = extents.filter(|extent| extent.is_finite()).fold(0.0, f64::max);
            let fitting = fitting_exponent(largest).max(coarsest - USUAL_LEVELS);
            let only = fitting.max(fitting_exponent(farthest) - FARTHEST);
            Layout { axes, finest: only, coarsest: only }
        }
    }
}

/// The coarsest cells in which the boxes do not crowd.
fn finest(table: &mut Table, layout: Layout) -> i32 {
    let usual = (layout.coarsest - USUAL_LEVELS).max(layout.finest);
    let mut crowds = |finest: i32| table.crowding_in(&Layout { finest, ..layout }) > CROWDING;
    match bisect(usual, layout.coarsest, &mut crowds) {
        Some(finest) => finest,
        // Copies crowd in cells of any size.
        None => bisect(layout.finest, usual - 1, &mut crowds).unwrap_or(usual),
    }
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

/// Sorts entries along a curve that winds through space block by block. Uses the links, which
/// must be set again afterwards.
pub(super) fn sort_along_curve(entries: &mut [GridEntry], layout: &Layout) {
    let sheet = Sheet::new(layout, 0, 0);
    for entry in entries.iter_mut() {
        let [x, y, z] = sheet.cell(&entry.aabb).map(spaced_bits);
        let key = x | y << 1 | z << 2;
        (entry.next, entry.prev) = ((key >> 32) as u32, key as u32);
    }
    entries.sort_unstable_by_key(|entry| (entry.next, entry.prev, entry.slot));
}

/// The low 21 bits, each followed by two zeros.
fn spaced_bits(cell: i32) -> u64 {
    let mut bits = cell as u64 & 0x1F_FFFF;
    bits = (bits | bits << 32) & 0x001F_0000_0000_FFFF;
    bits = (bits | bits << 16) & 0x001F_0000_FF00_00FF;
    bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F;
    bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3;
    (bits | bits << 2) & 0x1249_2492_4924_9249
}
