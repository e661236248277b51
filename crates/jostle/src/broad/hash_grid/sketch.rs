//! What the grids look like: every cell with boxes, the finest grid on level 0.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::lattice::Sheet;
use super::table::NONE;
use crate::aabb::Aabb;
use crate::broad::sketch::Sketch;

pub(super) fn draw(grid: &Grid, sketch: &mut Sketch) {
    let mut cells = BTreeMap::new();
    for entry in grid.table.entries.iter().filter(|entry| entry.slot != NONE) {
        // Giants are in no cell.
        if let Some(sheet) = grid.sheets.get(entry.sheet as usize) {
            let level = sheet.salt >> 8;
            *cells.entry((level, entry.sheet, sheet.cell(&entry.aabb))).or_insert(0) += 1;
        }
    }
    for ((level, sheet, cell), count) in cells {
        sketch.add(bounds(&grid.sheets[sheet as usize], cell), level as u32, count);
    }
}

/// The lower corners of boxes that a cell holds.
fn bounds(sheet: &Sheet, cell: [i32; 3]) -> Aabb {
    let corner =
        |side: f64| std::array::from_fn(|k| sheet.edge(k, f64::from(cell[k]) + side) as f32);
    Aabb::new(corner(-0.5), corner(0.5))
}
