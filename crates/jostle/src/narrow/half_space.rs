//! A half-space against everything: one support search against its normal.

use super::answer::{Ending, Signed};
use super::placed::Placed;
use crate::shape::{Pose, Shape};
use glam::DVec3;

/// The answer in the world's frame, a being the half-space. Translations are subtracted first.
pub(crate) fn half_space_any(normal: DVec3, offset: f64, pose_a: &Pose, b: &Placed<'_>) -> Signed {
    let Placed { shape: b, pose: pose_b } = b;
    let normal = pose_a.apply_vector(normal);
    if let Shape::HalfSpace { normal: other, offset: far } = b {
        return half_space_half_space(normal, offset, pose_a, *other, *far, pose_b);
    }
    let lowest = b.support(pose_b.inverse_apply_vector(-normal));
    let from_a = pose_b.apply_vector(lowest) + (pose_b.translation() - pose_a.translation());
    let signed = normal.dot(from_a) - offset;
    let on_b = pose_b.apply(lowest);
    Signed {
        signed,
        normal,
        on_a: on_b - normal * signed,
        on_b,
        bound: 8.0 * f64::EPSILON * (from_a.length() + offset.abs()),
        ending: Ending::Closed,
    }
}

/// Half-spaces miss each other only when their normals are opposite. Otherwise they share a wedge
/// without end and no motion along the normal parts them: the depth is infinite.
fn half_space_half_space(
    normal: DVec3,
    offset: f64,
    pose_a: &Pose,
    other: DVec3,
    far: f64,
    pose_b: &Pose,
) -> Signed {
    let facing = pose_b.apply_vector(other);
    let opposite = (normal + facing).length() <= 1e-12;
    let shift = pose_b.translation() - pose_a.translation();
    let gap = normal.dot(shift) - offset - far;
    let signed = if opposite { gap } else { f64::NEG_INFINITY };
    let on_a = pose_a.translation() + normal * offset;
    let bound = 8.0 * f64::EPSILON * (shift.length() + offset.abs() + far.abs());
    Signed { signed, normal, on_a, on_b: on_a, bound, ending: Ending::Closed }
}
