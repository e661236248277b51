//! The linear scan: every dot product, four at a time, no branches.
//!
//! The oracle for the other three and the fastest for small hulls, since it has no mispredicted
//! branch and no pointer to chase.

use glam::DVec3;

/// Vertices as one array per coordinate.
#[derive(Clone, Debug)]
pub(super) struct Coordinates {
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

impl Coordinates {
    /// The arrays are filled up to whole vectors with copies of the first vertex: these never
    /// win, because an equal product with a lower index comes first.
    pub(super) fn new(vertices: &[DVec3]) -> Coordinates {
        let length = vertices.len().next_multiple_of(crate::simd::furthest::LANES);
        let padded = || (0..length).map(|index| vertices.get(index).unwrap_or(&vertices[0]));
        Coordinates {
            x: padded().map(|vertex| vertex.x).collect(),
            y: padded().map(|vertex| vertex.y).collect(),
            z: padded().map(|vertex| vertex.z).collect(),
        }
    }

    /// The lowest index among the vertices of the largest dot product.
    #[inline]
    pub(super) fn furthest(&self, direction: DVec3) -> u32 {
        crate::simd::furthest::furthest(&self.x, &self.y, &self.z, direction.to_array())
    }
}
