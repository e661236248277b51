//! Bounding volumes: simple solids around complicated ones, with quick overlap tests.
//!
//! | volume | numbers | overlap test | fits |
//! |---|---|---|---|
//! | [`BoundingSphere`] | 4 | one distance | round things; turning costs nothing |
//! | [`BoundingCapsule`] | 7 | distance of two segments | long things |
//! | [`Obb`] | 15 | up to 15 axes | boxes and flat things at any angle |
//! | [`Kdop`] | 14, 18 or 26 | that many comparisons | anything whose pose changes seldom |
//!
//! This is a toolbox for structures of the caller's, such as culling, levels of detail or
//! hierarchies over parts of a mesh; `examples/volumes.rs` shows how they differ. No pipeline of
//! the library uses it: the narrow phase works on the shapes, and the broad phase's volume is
//! the axis-aligned box, [`Aabb`](crate::Aabb). All volumes are
//! closed, hold their contents in spite of rounding (they are grown by `SLACK` of the size and
//! distance from the origin), and answer "overlap" in doubt. A half-space has no finite volume:
//! its volumes are infinite and overlap everything.

mod capsule;
mod kdop;
mod obb;
mod principal;
mod sphere;
#[cfg(test)]
mod tests;

pub use capsule::BoundingCapsule;
pub use kdop::{Kdop, KdopKind};
pub use obb::Obb;
pub use sphere::BoundingSphere;

use super::error::{ShapeError, check_point};
use glam::DVec3;

/// Covers the roundings of a pose and of a handful of operations after it.
const SLACK: f64 = 32.0 * f64::EPSILON;

fn check_points(points: &[DVec3]) -> Result<(), ShapeError> {
    if points.is_empty() {
        return Err(ShapeError::EmptyHull);
    }
    points.iter().enumerate().try_for_each(|(index, &point)| check_point("points", index, point))
}

/// What rounding may amount to for something of a size at a place.
fn slack(size: f64, place: DVec3) -> f64 {
    SLACK * (size + place.abs().max_element())
}
