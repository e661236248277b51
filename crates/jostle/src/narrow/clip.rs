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

/// A polygon or a segment being clipped.
#[derive(Clone, Debug)]
pub(crate) struct Clip {
    corners: [Clipped; CAPACITY],
    len: usize,
    /// A segment has two ends and no way back.
    closed: bool,
}

impl Clip {
    pub(crate) fn new(feature: &Feature) -> Clip {
        let mut clip = Clip { corners: [Clipped::default(); CAPACITY], len: 0, closed: false };
        for (&point, &id) in feature.points().iter().zip(feature.ids()) {
            clip.push(Clipped { point, ids: [id, UNCUT], edge: id });
        }
        clip.closed = clip.len > 2;
        clip
    }

    pub(crate) fn corners(&self) -> &[Clipped] {
        &self.corners[..self.len]
    }

    fn push(&mut self, corner: Clipped) {
        if self.len < CAPACITY {
            self.corners[self.len] = corner;
            self.len += 1;
        }
    }

    /// Keeps what lies within the prism over the reference feature along the normal; for a
    /// reference edge, between the planes through its ends.
    pub(crate) fn by_sides_of(mut self, reference: &Feature, normal: DVec3, slack: f64) -> Clip {
        let (points, ids) = (reference.points(), reference.ids());
        if let [start, end] = *points {
            let along = (end - start).normalize_or_zero();
            self = self.by_plane(-along, -along.dot(start) + slack, ids[0]);
            return self.by_plane(along, along.dot(end) + slack, ids[1]);
        }
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        for (index, &start) in points.iter().enumerate() {
            let end = points[(index + 1) % points.len()];
            let side = (end - start).cross(normal).normalize_or_zero();
            // The order round the feature is not known here: the middle is inside.
            let outward = if side.dot(middle - start) > 0.0 { -side } else { side };
            self = self.by_plane(outward, outward.dot(start) + slack, ids[index]);
        }
        self
    }

    fn by_plane(self, outward: DVec3, offset: f64, side: u32) -> Clip {
        let mut kept = Clip { len: 0, ..self.clone() };
        let height = |corner: &Clipped| corner.point.dot(outward) - offset;
        for (index, corner) in self.corners().iter().enumerate() {
            let here = height(corner);
            if here <= 0.0 {
                kept.push(*corner);
            }
            if index + 1 == self.len && !self.closed {
                break;
            }
            let next = self.corners[(index + 1) % self.len];
            let there = height(&next);
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                let point = corner.point + (next.point - corner.point) * (here / (here - there));
                let edge = if here < 0.0 { side | MADE } else { corner.edge };
                kept.push(Clipped { point, ids: [corner.edge, side], edge });
            }
        }
        kept
    }
}
