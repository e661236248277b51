//! Inside or outside of a closed mesh, exactly, by what a ray crosses.
//!
//! If every edge is walked as often in one direction as in the other, the surface has no border,
//! and the winding number of a point is the number of triangles that a ray from it leaves through
//! minus the number of those that it enters by. A ray along an axis makes that a question of signs
//! of determinants, which are exact. Only triangles whose boxes meet the ray are asked.
//!
//! A ray that passes through an edge or a corner is no good, and neither is one in the plane of a
//! triangle; then another axis is tried. Points that no axis is good for, on the surface most of
//! them, are left to the sum of angles (`winding.rs`).
//!
//! By clusters of triangles alone, decompositions of meshes of 5 000 triangles into about thirty
//! pieces took five to eight times as long (`jostle decompose`, one thread).

use super::Mesh;
use super::report::sorted_edges;
use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

impl Mesh {
    /// The winding number of a point in a mesh [without border](has_no_border); none if it is not
    /// known, as on the surface.
    pub(super) fn crossings(&self, point: DVec3) -> Option<i64> {
        (0..3).find_map(|axis| {
            let mut end = point;
            end[axis] = self.max[axis];
            let mut sum = Some(0);
            self.near(point, end, 0.0, |_, corners| {
                sum = sum.zip(crossing(corners, point, axis)).map(|(sum, one)| sum + one);
                if sum.is_some() { 0.0 } else { -1.0 }
            });
            sum
        })
    }
}

/// Returns true if every edge is walked as often forward as backward.
pub(super) fn has_no_border(triangles: &[[u32; 3]]) -> bool {
    let edges = sorted_edges(triangles);
    edges.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)).all(|same| {
        let backward = same.iter().filter(|edge| edge.2).count();
        2 * backward == same.len()
    })
}

/// 1 if a ray along an axis leaves through the triangle, seen from the side its corners go around
/// counter-clockwise, -1 if it enters by it, 0 if it passes; none if it cannot be said.
fn crossing([a, b, c]: &[DVec3; 3], point: DVec3, axis: usize) -> Option<i64> {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let shadow = |at: &DVec3| Coord { x: at[u], y: at[v] };
    let turn = |from: &DVec3, to: &DVec3| sign(orient2d(shadow(from), shadow(to), shadow(&point)));
    let turns = [turn(a, b), turn(b, c), turn(c, a)];
    if turns.contains(&1) && turns.contains(&-1) {
        return Some(0);
    }
    if turns.contains(&0) {
        return None;
    }
    let at = |point: &DVec3| Coord3D { x: point.x, y: point.y, z: point.z };
    // The crate's sign is that of points behind the triangle.
    let behind = sign(orient3d(at(a), at(b), at(c), at(&point)));
    match behind * turns[0] {
        0 => None,
        1 => Some(turns[0]),
        _ => Some(0),
    }
}

/// The sign of a number; 0 for what is none.
fn sign(value: f64) -> i64 {
    i64::from(value > 0.0) - i64::from(value < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let corner = |bits: u32| [0, 1, 2].map(|k| f64::from(bits >> k & 1)).into();
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        ((0..8).map(corner).collect(), triangles.collect())
    }

    #[test]
    fn borders_are_found() {
        let (_, mut triangles) = cube();
        assert!(has_no_border(&triangles));
        triangles[3].swap(0, 1);
        assert!(!has_no_border(&triangles), "one is flipped");
        triangles[3].swap(0, 1);
        triangles.extend_from_within(..);
        assert!(has_no_border(&triangles), "each edge is walked by four");
        triangles.pop();
        assert!(!has_no_border(&triangles));
    }

    /// On a lattice, so that rays along every axis meet edges and corners again and again, and at
    /// places in between.
    #[test]
    fn crossings_count_how_often_a_cube_winds() {
        let (corners, triangles) = cube();
        for (layers, flip) in [(1, false), (2, false), (1, true), (3, true)] {
            let mut own: Vec<[u32; 3]> = triangles.repeat(layers);
            if flip {
                own.iter_mut().for_each(|triangle| triangle.swap(0, 1));
            }
            let mesh = Mesh::new(corners.clone(), own).unwrap();
            let (mut known, mut unknown) = (0, 0);
            for k in 0..11 * 11 * 11 {
                let step = |k: u32| f64::from(k % 11) * 0.25 - 0.75;
                let point = DVec3::new(step(k), step(k / 11) * 1.03, step(k / 121));
                let inside = (0..3).all(|k| point[k] > 0.0 && point[k] < 1.0);
                match mesh.crossings(point) {
                    None => unknown += 1,
                    Some(number) => {
                        let turn = if flip { -1 } else { 1 };
                        let on = (0..3).all(|k| point[k] >= 0.0 && point[k] <= 1.0) && !inside;
                        assert!(!on, "{point} is on the surface");
                        assert_eq!(number, turn * layers as i64 * i64::from(inside), "{point}");
                        known += 1;
                    }
                }
            }
            assert!(known > 600 && unknown > 30, "{known} and {unknown}");
        }
    }
}
