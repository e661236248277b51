//! The boxes of placed shapes, as the world gives them to its broad phase.

use crate::aabb::{Aabb, round_down, round_up};
use crate::narrow::TOUCH;
use crate::shape::{Pose, Shape};

/// The box of a placed shape, larger by its share of the tolerance of touching.
pub(super) fn bounds(shape: &Shape, pose: &Pose) -> Aabb {
    let aabb = shape.bounds(pose);
    if !shape.is_bounded() {
        // The tolerance refers to the other shape alone, whose box is larger by it.
        return aabb;
    }
    grown(&aabb, TOUCH * shape.bounding_radius())
}

/// A box made larger on all sides, rounded outward.
pub(super) fn grown(aabb: &Aabb, by: f64) -> Aabb {
    Aabb {
        min: aabb.min.map(|bound| round_down(f64::from(bound) - by)),
        max: aabb.max.map(|bound| round_up(f64::from(bound) + by)),
    }
}
