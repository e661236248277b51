//! Inside or outside: [`Mesh::winding_number`].
//!
//! The winding number is the sum of the solid angles of all triangles, over the whole sphere: 1
//! inside a closed mesh whose triangles face outward, 0 outside, something between for a soup with
//! holes (Jacobson and others, *Robust inside-outside segmentation using generalized winding
//! numbers*). The number itself is taken triangle by triangle; whether it is more than a half is
//! known from far clusters of triangles, with the same answer (`shape/mesh/winding.rs`). Points
//! outside the bounds cost nothing.

use glam::DVec3;

use super::data::Mesh;

impl Mesh {
    /// A point of each part of the surface; parts share no vertex.
    pub(crate) fn part_points(&self) -> Vec<DVec3> {
        self.part_vertices().into_iter().map(|vertex| self.vertices()[vertex as usize]).collect()
    }
}
