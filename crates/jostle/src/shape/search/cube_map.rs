//! A cube map of directions: a good vertex to begin a climb at, wherever the goal is.
//!
//! Sathe and Lake (*Rigid Body Collision Detection on the GPU*) look the furthest vertex for a
//! direction up in a cube map. Here a table over the cells of a cube around the hull holds the
//! furthest vertex for the middle of each cell. A search looks up the cell of its direction, and
//! begins at that vertex or at the last one, whichever is further; a step or two of climbing
//! remain, and make the answer exact. Ericson's artificial neighbours (*Real-Time Collision
//! Detection*, 9.5.4), fixed links across the hull for each vertex, serve the same purpose but
//! would make every step of a climb cost more. Stalls are handled in `climb.rs`.
//!
//! The table has about four cells for each vertex, at four bytes each and up to 98 304 cells, and
//! is built with one climb per cell, each from the cell before. With one cell for each vertex
//! random searches on 162 vertices took a fifth longer (`support_search` among the measuring
//! programs).

use glam::DVec3;

/// The furthest vertex for each cell of directions.
#[derive(Clone, Debug)]
pub(super) struct CubeMap {
    /// Cells along the edge of the cube.
    resolution: u32,
    cells: Vec<u32>,
}

impl CubeMap {
    /// The map of a hull with this many vertices; `find` searches from a hint.
    pub(super) fn new(vertices: usize, find: impl Fn(DVec3, u32) -> u32) -> CubeMap {
        let resolution = ((vertices as f64 / 1.5).sqrt().ceil() as u32).clamp(4, 128);
        let mut cells = Vec::with_capacity(6 * (resolution * resolution) as usize);
        let mut hint = 0;
        for side in 0..6 {
            for row in 0..resolution {
                for column in 0..resolution {
                    hint = find(middle(side, row, column, resolution), hint);
                    cells.push(hint);
                }
            }
        }
        CubeMap { resolution, cells }
    }

    /// The better of the hint and the table's vertex to begin a climb at.
    #[inline]
    pub(super) fn start(&self, vertices: &[DVec3], direction: DVec3, hint: u32) -> u32 {
        let jump = self.cells[self.cell(direction)];
        match vertices.get(hint as usize) {
            Some(last) if last.dot(direction) >= vertices[jump as usize].dot(direction) => hint,
            _ => jump,
        }
    }

    /// Any direction has a cell, also zero and NaN.
    #[inline]
    fn cell(&self, direction: DVec3) -> usize {
        let size = direction.abs();
        let (pair, axis, u, v) = if size.x >= size.y && size.x >= size.z {
            (0, direction.x, direction.y, direction.z)
        } else if size.y >= size.z {
            (2, direction.y, direction.z, direction.x)
        } else {
            (4, direction.z, direction.x, direction.y)
        };
        let side = pair + usize::from(axis < 0.0);
        let resolution = self.resolution as usize;
        let half = 0.5 * f64::from(self.resolution);
        let scale = half / axis.abs();
        // The conversion to an integer saturates and turns NaN into zero.
        let column = ((u * scale + half) as usize).min(resolution - 1);
        let row = ((v * scale + half) as usize).min(resolution - 1);
        (side * resolution + row) * resolution + column
    }
}

/// The direction through the middle of a cell.
fn middle(side: u32, row: u32, column: u32, resolution: u32) -> DVec3 {
    let place = |index: u32| (2.0 * f64::from(index) + 1.0) / f64::from(resolution) - 1.0;
    let (u, v) = (place(column), place(row));
    let axis = if side.is_multiple_of(2) { 1.0 } else { -1.0 };
    match side / 2 {
        0 => DVec3::new(axis, u, v),
        1 => DVec3::new(v, axis, u),
        _ => DVec3::new(u, v, axis),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_finds_itself_and_odd_directions_find_some_cell() {
        let table = CubeMap { resolution: 5, cells: vec![0; 150] };
        for side in 0..6 {
            for row in 0..5 {
                for column in 0..5 {
                    let direction = middle(side, row, column, 5) * 3.7;
                    let expected = ((side * 5 + row) * 5 + column) as usize;
                    assert_eq!(table.cell(direction), expected);
                }
            }
        }
        for value in [0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-320, f64::MAX] {
            assert!(table.cell(DVec3::splat(value)) < 150);
            assert!(table.cell(DVec3::new(value, -1.0, 0.0)) < 150);
            assert!(table.cell(DVec3::new(0.0, 1e-310, value)) < 150);
        }
    }
}
