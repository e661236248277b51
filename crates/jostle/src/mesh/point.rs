//! What is nearest to a point? [`Mesh::project`].

use glam::DVec3;

use super::data::{Fill, Mesh};
use super::feature::point_triangle;

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
        let mut found = self.nearest_within(point, reach)?;
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

    fn nearest_within(&self, point: DVec3, reach: f64) -> Option<MeshPoint> {
        let (mut best, mut square, mut limit) = (None::<MeshPoint>, reach * reach, reach);
        self.near(point, point, reach, |triangle, corners| {
            let (weights, on, found) = point_triangle(corners, point);
            let nearer = match &best {
                Some(other) => (found, triangle) < (square, other.triangle),
                None => found <= square,
            };
            if nearer {
                (square, limit) = (found, found.sqrt());
                best = Some(MeshPoint { point: on, distance: limit, triangle, weights });
            }
            limit
        });
        best
    }
}
