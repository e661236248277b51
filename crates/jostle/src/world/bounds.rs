//! The boxes of placed shapes, as the world gives them to its broad phase.

use glam::DVec3;

use crate::aabb::{Aabb, round_down, round_up};
use crate::narrow::TOUCH;
use crate::shape::{Pose, Shape};

/// Where boxes are measured from, and in how many dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Frame {
    /// The point of the world that boxes see as zero.
    pub origin: DVec3,
    /// All boxes lie in the plane z = 0.
    pub flat: bool,
}

impl Frame {
    /// The box of a placed shape, larger by its share of the tolerance of touching.
    pub(crate) fn bounds(&self, shape: &Shape, pose: &Pose) -> Aabb {
        let (pose, error) = self.relative(pose);
        let mut aabb = shape.bounds(&pose);
        if shape.is_bounded() {
            aabb = grown(&aabb, TOUCH * shape.bounding_radius() + error);
        } else if error > 0.0 {
            // The tolerance refers to the other shape alone, whose box is larger by it.
            aabb = grown(&aabb, error);
        }
        if self.flat {
            (aabb.min[2], aabb.max[2]) = (0.0, 0.0);
        }
        aabb
    }

    /// The pose as seen from the origin, and how much rounding may have moved it.
    fn relative(&self, pose: &Pose) -> (Pose, f64) {
        if self.origin == DVec3::ZERO {
            return (*pose, 0.0);
        }
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
