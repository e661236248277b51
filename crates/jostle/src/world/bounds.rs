//! The boxes of placed shapes, as the world gives them to its broad phase.

use glam::DVec3;

use crate::aabb::{Aabb, round_down, round_up};
use crate::narrow::TOUCH;
use crate::shape::{Pose, Shape};

/// Where boxes are measured from, in how many dimensions, and how far beyond their shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Frame {
    /// The point of the world that boxes see as zero.
    pub origin: DVec3,
    /// All boxes lie in the plane z = 0.
    pub flat: bool,
    /// Pairs up to this far apart are found.
    pub reach: f64,
}

impl Frame {
    /// How much larger than its shape a box is: a body's share of the reach and of the tolerance
    /// of touching. That of a half-space is with the other shape, whose box is larger by it.
    pub(crate) fn margin(&self, shape: &Shape) -> f64 {
        let touch = if shape.is_bounded() { TOUCH * shape.bounding_radius() } else { 0.0 };
        touch + 0.5 * self.reach
    }

    /// The box of a placed shape, larger by a margin.
    pub(crate) fn bounds(&self, shape: &Shape, pose: &Pose, margin: f64) -> Aabb {
        let mut aabb = if self.origin == DVec3::ZERO {
            shape.grown_bounds(pose, margin)
        } else {
            let (pose, error) = self.relative(pose);
            shape.grown_bounds(&pose, margin + error)
        };
        if self.flat {
            (aabb.min[2], aabb.max[2]) = (0.0, 0.0);
        }
        aabb
    }

    /// The pose as seen from the origin, and how much rounding may have moved it.
    fn relative(&self, pose: &Pose) -> (Pose, f64) {
        let (at, origin) = (pose.translation(), self.origin);
        let shifted = at - origin;
        // Knuth's two-sum: what the rounded difference leaves out, exactly.
        let part = shifted - at;
        let error = (at - (shifted - part)) - (origin + part);
        // Both are legal translations, so that half of their difference is one, too.
        let seen = Pose::new(pose.rotation(), shifted).unwrap_or(*pose);
        (seen, error.abs().max_element())
    }
}

/// A box made larger on all sides, rounded outward.
pub(super) fn grown(aabb: &Aabb, by: f64) -> Aabb {
    Aabb {
        min: aabb.min.map(|bound| round_down(f64::from(bound) - by)),
        max: aabb.max.map(|bound| round_up(f64::from(bound) + by)),
    }
}
