//! Triangulated spheres, for tests, benchmarks and demonstrations.

use super::super::error::{ShapeError, check_size};
use super::Hull;
use glam::DVec3;
use std::collections::BTreeMap;

impl Hull {
    /// A sphere as a polyhedron: an icosahedron each of whose triangles was split into four
    /// `subdivisions` times. It has `20 · 4^k` triangles and `10 · 4^k + 2` vertices; above
    /// eight subdivisions (655 362 vertices) there is no more splitting.
    pub fn icosphere(radius: f64, subdivisions: u32) -> Result<Hull, ShapeError> {
        check_size("radius", radius)?;
        let points: Vec<DVec3> =
            icosphere_points(subdivisions.min(8)).iter().map(|&point| point * radius).collect();
        Hull::new(&points)
    }
}

/// The vertices of the subdivided unit icosahedron.
pub(crate) fn icosphere_points(subdivisions: u32) -> Vec<DVec3> {
    let (mut points, mut triangles) = icosahedron();
    for _ in 0..subdivisions {
        let mut middles = BTreeMap::new();
        let mut split = Vec::with_capacity(4 * triangles.len());
        for [a, b, c] in triangles {
            let mut middle = |i: usize, j: usize| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    points.push((points[i] + points[j]).normalize());
                    points.len() - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            split.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        triangles = split;
    }
    points
}

fn icosahedron() -> (Vec<DVec3>, Vec<[usize; 3]>) {
    let golden = (1.0 + 5.0f64.sqrt()) / 2.0;
    let mut points = Vec::new();
    for (one, other) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        points.push(DVec3::new(one, other, 0.0).normalize());
        points.push(DVec3::new(0.0, one, other).normalize());
        points.push(DVec3::new(other, 0.0, one).normalize());
    }
    // Any three corners at edge length from one another are a face.
    let edge = (0..12).map(|i| points[0].distance(points[i])).filter(|&d| d > 0.1);
    let edge = edge.fold(f64::INFINITY, f64::min) * 1.001;
    let close = |i: usize, j: usize| points[i].distance(points[j]) < edge;
    let mut triangles = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if close(a, b) && close(b, c) && close(a, c) {
                    triangles.push([a, b, c]);
                }
            }
        }
    }
    (points, triangles)
}
