//! What is nearest to a point? [`Mesh::project`].

use glam::DVec3;

use super::data::{Fill, Link, Mesh};
use super::feature::point_triangle;
use crate::aabb::Aabb;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};

/// The point of a mesh nearest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshPoint {
    /// The nearest point of the surface.
    pub point: DVec3,
    /// The distance to the surface; negative inside a solid.
    pub distance: f64,
    /// The triangle that the point lies on; of several the one of lowest number.
    pub triangle: u32,
    /// Weights of its corners. Two are zero at a vertex, one on an edge.
    pub weights: [f64; 3],
}

impl Mesh {
    /// The point of the surface nearest to a point.
    ///
    /// # Panics
    /// If a coordinate is not finite.
    #[must_use]
    pub fn project(&self, point: DVec3) -> MeshPoint {
        self.project_within(point, f64::INFINITY).expect("a mesh has a triangle")
    }

    /// As [`Mesh::project`], if it is no further away than `reach`.
    ///
    /// # Panics
    /// If a coordinate is not finite.
    #[must_use]
    pub fn project_within(&self, point: DVec3, reach: f64) -> Option<MeshPoint> {
        assert!(point.is_finite(), "{point} is no point");
        let mut found = simd::run(Search { mesh: self, point, reach })?;
        if self.fill() == Fill::Solid && self.encloses(point) {
            found.distance = -found.distance;
        }
        Some(found)
    }

    /// Returns true for points of the mesh: inside a solid, or exactly on the surface as far as
    /// f64 tells.
    #[must_use]
    pub fn contains(&self, point: DVec3) -> bool {
        let on = self.project_within(point, 0.0).is_some();
        on || self.fill() == Fill::Solid && self.encloses(point)
    }
}

struct Search<'a> {
    mesh: &'a Mesh,
    point: DVec3,
    reach: f64,
}

impl Kernel for Search<'_> {
    type Output = Option<MeshPoint>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let tree = self.mesh.tree();
        let unit = tree.frame.scale * tree.frame.scale;
        let at = tree.frame.enter(self.point);
        let slack = 2.0 * f64::from(f32::EPSILON) * at.abs().max_element() + 1e-30;
        let seen =
            Aabb { min: (at - slack).as_vec3().to_array(), max: (at + slack).as_vec3().to_array() };
        let (mut best, mut square) = (None, self.reach * self.reach);
        let limit_of =
            |square: f64| (square * unit) as f32 * (1.0 + 8.0 * f32::EPSILON) + f32::MIN_POSITIVE;
        let mut limit = limit_of(square);
        let mut open: Vec<(f32, u32)> = Vec::with_capacity(64);
        open.push((0.0, 0));
        while let Some((gap, node)) = open.pop() {
            if gap > limit {
                continue;
            }
            let gaps = simd.gaps(&tree.nodes[node as usize], &seen);
            match tree.link(node) {
                Link::Nodes(first) => {
                    let begin = open.len();
                    for lane in 0..WIDTH {
                        // False for empty lanes.
                        if gaps[lane] <= limit {
                            let item = (gaps[lane], first + lane as u32);
                            let mut place = open.len();
                            open.push(item);
                            while place > begin && open[place - 1].0 < item.0 {
                                open[place] = open[place - 1];
                                place -= 1;
                            }
                            open[place] = item;
                        }
                    }
                }
                Link::Triangles(first) => {
                    for lane in 0..WIDTH {
                        if gaps[lane] <= limit {
                            let triangle = tree.triangle(first + lane as u32);
                            let corners = self.mesh.corners(triangle);
                            let (weights, point, found) = point_triangle(&corners, self.point);
                            let nearer = match &best {
                                Some(MeshPoint { triangle: other, .. }) => {
                                    (found, triangle) < (square, *other)
                                }
                                None => found <= square,
                            };
                            if nearer {
                                let distance = found.sqrt();
                                best = Some(MeshPoint { point, distance, triangle, weights });
                                square = found;
                                limit = limit_of(square);
                            }
                        }
                    }
                }
            }
        }
        best
    }
}
