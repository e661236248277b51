//! Clipping one feature by the sides of another: Sutherland and Hodgman's polygon clipping, with
//! numbers that say where each point came from.

use super::feature::Feature;
use glam::DVec3;

/// A corner of the clipped feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clipped {
    /// On the clipped feature.
    pub point: DVec3,
    /// The vertex, then [`UNCUT`]; or the edge that was cut and the side that cut it. An edge is
    /// named by the vertex it leaves, or by the side that made it.
    pub ids: [u32; 2],
    /// The edge that leaves this corner.
    edge: u32,
}

/// Marks edges that a side has made. Without it two corners of the reference inside the clipped
/// feature could have one number, and a small box on the middle of a large one three points.
const MADE: u32 = 1 << 31;

/// No side cut this corner.
pub(crate) const UNCUT: u32 = u32::MAX;

/// Most corners: each side of the clipping feature adds at most one.
const CAPACITY: usize = 2 * Feature::CAPACITY + 2;

/// A polygon or a segment being clipped. It is kept from pair to pair: its corners are never moved
/// or zeroed as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clip {
    corners: Vec<Clipped>,
    /// What a plane leaves, until it becomes `corners`.
    left: Vec<Clipped>,
    /// Of the corners over the plane that cuts, in units of its own.
    heights: Vec<f64>,
    /// A segment has two ends and no way back.
    closed: bool,
}

/// The features of two shapes that face each other and what they share: memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facets {
    pub on_a: Feature,
    pub on_b: Feature,
    pub clip: Clip,
}

impl Clip {
    /// Begins with a whole feature.
    pub(crate) fn begin(&mut self, feature: &Feature) {
        let corners = feature.points().iter().zip(feature.ids());
        self.corners.clear();
        self.corners.extend(corners.map(|(&point, &id)| Clipped {
            point,
            ids: [id, UNCUT],
            edge: id,
        }));
        self.closed = self.corners.len() > 2;
    }

    pub(crate) fn corners(&self) -> &[Clipped] {
        &self.corners
    }

    /// Keeps what lies within the prism over the reference feature along the normal; for a
    /// reference edge, between the planes through its ends.
    pub(crate) fn by_sides_of(&mut self, reference: &Feature, normal: DVec3) {
        let (points, ids) = (reference.points(), reference.ids());
        if let [start, end] = *points {
            let along = end - start;
            self.by_plane(-along, -along.dot(start), ids[0]);
            self.by_plane(along, along.dot(end), ids[1]);
            return;
        }
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        for (index, &start) in points.iter().enumerate() {
            let end = points[if index + 1 == points.len() { 0 } else { index + 1 }];
            let side = (end - start).cross(normal);
            // The order round the feature is not known here: the middle is inside.
            let outward = if side.dot(middle - start) > 0.0 { -side } else { side };
            self.by_plane(outward, outward.dot(start), ids[index]);
        }
    }

    /// Keeps what is not above a plane; its normal may have any length.
    fn by_plane(&mut self, outward: DVec3, offset: f64, side: u32) {
        let Clip { corners, left, heights, closed } = self;
        heights.clear();
        heights.extend(corners.iter().map(|corner| corner.point.dot(outward) - offset));
        // Most planes cut nothing: a box that stands on a larger one is inside all four.
        if heights.iter().all(|&height| height <= 0.0) {
            return;
        }
        left.clear();
        let mut here = heights[0];
        for (index, corner) in corners.iter().enumerate() {
            if here <= 0.0 {
                left.push(*corner);
            }
            let last = index + 1 == corners.len();
            if last && !*closed {
                break;
            }
            let after = if last { 0 } else { index + 1 };
            let (next, there) = (&corners[after], heights[after]);
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                let point = corner.point + (next.point - corner.point) * (here / (here - there));
                let edge = if here < 0.0 { side | MADE } else { corner.edge };
                left.push(Clipped { point, ids: [corner.edge, side], edge });
            }
            here = there;
        }
        left.truncate(CAPACITY);
        std::mem::swap(corners, left);
    }
}
