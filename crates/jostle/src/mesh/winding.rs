//! Inside or outside: [`Mesh::winding_number`].
//!
//! The winding number is the sum of the solid angles of all triangles, over the whole sphere: 1
//! inside a closed mesh whose triangles face outward, 0 outside, something between for a soup with
//! holes (Jacobson and others, *Robust inside-outside segmentation using generalized winding
//! numbers*). It is taken triangle by triangle, so it costs time for the whole mesh; points outside
//! its bounds cost nothing.

use glam::DVec3;

use super::data::Mesh;

impl Mesh {
    /// How often the surface winds around a point. It has no meaning on the surface itself.
    #[must_use]
    pub fn winding_number(&self, point: DVec3) -> f64 {
        let triangles = 0..self.triangles().len() as u32;
        let angles = triangles.map(|triangle| half_angle(&self.corners(triangle), point));
        angles.sum::<f64>() / std::f64::consts::TAU
    }

    /// Returns true if the winding number of a point is more than a half in size.
    pub(crate) fn encloses(&self, point: DVec3) -> bool {
        let outside = (0..3).any(|k| point[k] < self.min()[k] || point[k] > self.max()[k]);
        !outside && self.winding_number(point).abs() > 0.5
    }

    /// A point of each part of the surface; parts share no vertex.
    pub(crate) fn part_points(&self) -> Vec<DVec3> {
        self.part_vertices().into_iter().map(|vertex| self.vertices()[vertex as usize]).collect()
    }
}

/// Half the solid angle of a triangle (Van Oosterom and Strackee).
#[inline]
fn half_angle(corners: &[DVec3; 3], point: DVec3) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    volume.atan2(below)
}
