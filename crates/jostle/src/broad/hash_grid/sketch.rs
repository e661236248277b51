//! What the grids look like: every cell with boxes, the finest grid on level 0.

use std::collections::BTreeMap;

use super::grid::Grid;
use super::lattice::{Layout, SLICE_BITS, SLICES, Sheet};
use crate::aabb::Aabb;
use crate::broad::sketch::Sketch;

/// Draws two grids with the same cells as one; blanks are in neither.
pub(super) fn draw(grids: [&Grid; 2], sketch: &mut Sketch) {
    let mut cells = BTreeMap::new();
    for grid in grids {
        for (row, key) in grid.rows.keys.iter().enumerate() {
            let sheet = &grid.sheets[key.sheet as usize];
            for place in grid.starts[row]..grid.starts[row + 1] {
                let aabb = grid.column.get(place as usize);
                if !aabb.min[0].is_nan() {
                    let [slice, y, z] = grid.layout.cell(&aabb, &sheet.scale);
                    let cell = [slice >> SLICE_BITS, y, z];
                    *cells.entry((sheet.level, key.sheet, cell)).or_insert(0) += 1;
                }
            }
        }
    }
    for ((level, sheet, cell), count) in cells {
        let bounds = bounds(&grids[0].layout, &grids[0].sheets[sheet as usize], cell);
        sketch.add(bounds, level as u32, count);
    }
}

/// The lower corners of boxes that a cell holds.
fn bounds(layout: &Layout, sheet: &Sheet, cell: [i32; 3]) -> Aabb {
    let corner = |side: f64| {
        let mut corner = [0.0; 3];
        for k in 0..3 {
            let place = f64::from(cell[k]) + side;
            let place = if k == 0 { place * SLICES } else { place };
            corner[layout.order[k]] = sheet.edge(k, place) as f32;
        }
        corner
    };
    Aabb::new(corner(0.0), corner(1.0))
}
