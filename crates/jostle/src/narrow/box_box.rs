//! Boxes against boxes by the fifteen axes (Gottschalk, Lin and Manocha, *OBBTree*), in the frame of
//! the first one.
//!
//! Three axes of each box and nine cross products of their edges. The least overlap is the exact
//! depth; one positive separation proves that the boxes are apart, and GJK then measures how far.
//! Cross products are compared without normalising them; only a winner pays for its root. An almost
//! parallel pair of edges is ill-conditioned in that form (its rounding is divided by a small sine),
//! so that its axis is made a unit vector first and everything is projected onto it.

use crate::shape::PoseMatrix;
use glam::DVec3;

/// What the axes tell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axes {
    /// Apart, and an axis that shows it, from a to b.
    Separated(DVec3),
    /// The least overlap and its axis, a unit vector from a to b.
    Overlapping { depth: f64, normal: DVec3 },
}

/// Squared sine under which two edges count as nearly parallel.
const NEARLY_PARALLEL: f64 = 1e-6;
/// Squared sine under which they count as parallel and only the faces matter.
const PARALLEL: f64 = 1e-28;

struct Best {
    separation: f64,
    normal: DVec3,
}

/// Tries the axes; stops at the first that separates.
pub(crate) fn run(half_a: DVec3, half_b: DVec3, pose: &PoseMatrix) -> Axes {
    let rotation = &pose.rotation;
    let magnitude = rotation.abs();
    let center = pose.translation;
    let center_in_b = pose.inverse_apply_vector(center);
    let on_a = center.abs() - half_a - magnitude * half_b;
    if on_a.max_element() > 0.0 {
        return Axes::Separated(along(center, on_a));
    }
    let of_a = DVec3::new(
        magnitude.x_axis.dot(half_a),
        magnitude.y_axis.dot(half_a),
        magnitude.z_axis.dot(half_a),
    );
    let on_b = center_in_b.abs() - half_b - of_a;
    if on_b.max_element() > 0.0 {
        return Axes::Separated(pose.apply_vector(along(center_in_b, on_b)));
    }
    let mut best = if on_b.max_element() > on_a.max_element() {
        Best { separation: on_b.max_element(), normal: pose.apply_vector(along(center_in_b, on_b)) }
    } else {
        Best { separation: on_a.max_element(), normal: along(center, on_a) }
    };
    for first in 0..3 {
        for second in 0..3 {
            if let Some(axis) = try_edges(half_a, half_b, pose, [first, second], &mut best) {
                return Axes::Separated(axis);
            }
        }
    }
    Axes::Overlapping { depth: -best.separation, normal: best.normal }
}

/// The unit axis of the largest entry, on the side of the center.
fn along(center: DVec3, separations: DVec3) -> DVec3 {
    let axis = separations.max_position();
    let mut normal = DVec3::ZERO;
    normal[axis] = if center[axis] < 0.0 { -1.0 } else { 1.0 };
    normal
}

/// Tries the cross product of two edges; answers if it separates.
#[inline]
fn try_edges(
    half_a: DVec3,
    half_b: DVec3,
    pose: &PoseMatrix,
    [first, second]: [usize; 2],
    best: &mut Best,
) -> Option<DVec3> {
    let edge = pose.rotation.col(second);
    let (next, last) = ((first + 1) % 3, (first + 2) % 3);
    // Unit axis `first` crossed with the edge.
    let mut axis = DVec3::ZERO;
    axis[next] = -edge[last];
    axis[last] = edge[next];
    let mut sine = edge[next] * edge[next] + edge[last] * edge[last];
    if sine < NEARLY_PARALLEL {
        if sine < PARALLEL {
            return None;
        }
        axis /= sine.sqrt();
        sine = 1.0;
    }
    let (other, another) =
        (pose.rotation.col((second + 1) % 3), pose.rotation.col((second + 2) % 3));
    let reach = half_a[next] * axis[next].abs()
        + half_a[last] * axis[last].abs()
        + half_b[(second + 1) % 3] * axis.dot(other).abs()
        + half_b[(second + 2) % 3] * axis.dot(another).abs();
    let place = axis.dot(pose.translation);
    let separation = place.abs() - reach;
    let outward = if place < 0.0 { -axis } else { axis };
    // A separation must beat rounding, or parallel boxes that overlap would be called apart.
    if separation > 4.0 * f64::EPSILON * reach {
        return Some(outward);
    }
    // Both sides are negative or nothing: the smaller square is the larger separation. The
    // factor prefers faces among equals.
    if separation * separation < best.separation * best.separation * sine * (1.0 - 1e-12) {
        let length = sine.sqrt();
        *best = Best { separation: separation / length, normal: outward / length };
    }
    None
}
