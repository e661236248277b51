//! Closed forms for spheres, capsules and boxes. Each is exact up to rounding and costs less than
//! one step of GJK.
//!
//! All work on the cores (a point, a segment, a box) in the frame of the first shape and leave the
//! radii to the caller. When the cores cross, the shortest way out is across both of them: the face
//! of the box, or the common perpendicular of two segments.

use super::answer::{Ending, Signed};
use crate::shape::PoseMatrix;
use glam::DVec3;

/// Distance of cores, relative to the size, under which they count as crossing.
const CROSSING: f64 = 1e-12;

/// The value, kept within `-half..=half`. Unlike `clamp` it bears a hand-made shape with a size
/// below zero or NaN. Plain comparisons take one instruction each, where `max` and `min` take six
/// to honour NaN: contacts of capsules took 1.2 times as long with them.
#[inline(always)]
fn limited(value: f64, half: f64) -> f64 {
    let above = if value > -half { value } else { -half };
    if above < half { above } else { half }
}

fn closed(signed: f64, normal: DVec3, on_a: DVec3, size: f64) -> Signed {
    let bound = 8.0 * f64::EPSILON * size;
    Signed { signed, normal, on_a, on_b: on_a, bound, ending: Ending::Closed }
}

/// As [`closed`], for cores that count as crossing although they are this far apart.
#[cold]
fn crossing(apart: f64, normal: DVec3, on_a: DVec3, size: f64) -> Signed {
    let answer = closed(0.0, normal, on_a, size);
    Signed { bound: answer.bound + apart, ..answer }
}

/// Two points: the first at the origin, the second at `b`. Coincident ones part along x.
#[inline]
pub(crate) fn point_point(b: DVec3, size: f64) -> Signed {
    let distance = b.length();
    let normal = if distance > 0.0 { b / distance } else { DVec3::X };
    closed(distance, normal, DVec3::ZERO, size + distance)
}

/// A segment along y and a point.
#[inline]
pub(crate) fn segment_point(half: f64, b: DVec3, size: f64) -> Signed {
    let on_a = DVec3::new(0.0, limited(b.y, half), 0.0);
    let offset = b - on_a;
    let distance = offset.length();
    if distance > CROSSING * size {
        return closed(distance, offset / distance, on_a, size + distance);
    }
    crossing(distance, DVec3::X, on_a, size)
}

/// A box and a point, which may be inside.
#[inline]
pub(crate) fn box_point(half: DVec3, b: DVec3, size: f64) -> Signed {
    let on_a = b.max(-half).min(half);
    let offset = b - on_a;
    let distance = offset.length();
    if distance > CROSSING * size {
        return closed(distance, offset / distance, on_a, size + distance);
    }
    let room = half - b.abs();
    let axis = (0..3).fold(0, |best, axis| if room[axis] < room[best] { axis } else { best });
    let mut normal = DVec3::ZERO;
    normal[axis] = if b[axis] < 0.0 { -1.0 } else { 1.0 };
    closed(-room[axis], normal, b + normal * room[axis], size)
}

/// Two segments: the first along y, the second along y of the given pose.
#[inline]
pub(crate) fn segment_segment(half_a: f64, half_b: f64, pose: &PoseMatrix, size: f64) -> Signed {
    let direction = pose.rotation.y_axis;
    let along_a = nearest_on_first(half_a, half_b, direction, pose.translation);
    let on_a = DVec3::new(0.0, along_a, 0.0);
    let along_b = limited((on_a - pose.translation).dot(direction), half_b);
    let offset = pose.translation + direction * along_b - on_a;
    let distance = offset.length();
    if distance > CLOSE * size {
        // The rounding of the points turns the normal the more, the nearer they are.
        let lever = size * (size / distance);
        return closed(distance, offset / distance, on_a, size + distance + lever);
    }
    close_segments(half_a, half_b, pose, on_a, along_b, size)
}

/// Distance of segments, relative to the size, up to which the direction between their nearest
/// points is not good enough as a normal: its rounding error is that of the points over the
/// distance, and counts as often as the segments are long.
const CLOSE: f64 = 0.01;

/// Segments that cross or come close. Of the directions perpendicular to both, to one of them, and
/// between the nearest points, the one along which the segments are furthest apart is the normal,
/// and the bound says by how much that is less than the distance of the points.
#[cold]
#[inline(never)]
fn close_segments(
    half_a: f64,
    half_b: f64,
    pose: &PoseMatrix,
    on_a: DVec3,
    along_b: f64,
    size: f64,
) -> Signed {
    let (center, direction) = (pose.translation, pose.rotation.y_axis);
    let offset = center + direction * along_b - on_a;
    let distance = offset.length();
    // Exactly perpendicular to both, even where rounding hides which way it points.
    let perpendicular = DVec3::Y.cross(direction).try_normalize();
    if distance <= CROSSING * size {
        return crossing(distance, perpendicular.unwrap_or(DVec3::X), on_a, size);
    }
    let outward = perpendicular.map(|n| if n.dot(offset) < 0.0 { -n } else { n });
    let across_a = DVec3::new(offset.x, 0.0, offset.z).try_normalize();
    let side = offset - direction * direction.dot(offset);
    let across_b = (side - direction * direction.dot(side)).try_normalize();
    let apart = |normal: DVec3| {
        center.dot(normal) - half_a * normal.y.abs() - half_b * normal.dot(direction).abs()
    };
    let plain = offset / distance;
    let mut best = (apart(plain), plain);
    for normal in [across_a, across_b, outward].into_iter().flatten() {
        if apart(normal) > best.0 {
            best = (apart(normal), normal);
        }
    }
    let answer = closed(distance, best.1, on_a, size + distance);
    Signed { bound: answer.bound + (distance - best.0).max(0.0), ..answer }
}

/// Place on the first segment of the pair of nearest points.
#[inline]
fn nearest_on_first(half_a: f64, half_b: f64, direction: DVec3, center: DVec3) -> f64 {
    // The squared sine of the angle, without cancellation for nearly parallel segments.
    let sine = direction.x * direction.x + direction.z * direction.z;
    if sine < 1e-6 {
        return nearest_of_nearly_parallel(half_a, half_b, direction, center, sine);
    }
    let cosine = direction.y;
    let along = center.dot(direction);
    let on_a = limited((center.y - cosine * along) / sine, half_a);
    let on_b = limited(on_a * cosine - along, half_b);
    limited(center.y + on_b * cosine, half_a)
}

/// Nearly parallel segments: the inner solution is ill-conditioned, so that all ends compete with
/// it.
#[cold]
fn nearest_of_nearly_parallel(
    half_a: f64,
    half_b: f64,
    direction: DVec3,
    center: DVec3,
    sine: f64,
) -> f64 {
    // Seen along the first segment, which is a point then: nothing cancels.
    let seen = center.x * direction.x + center.z * direction.z;
    let inner = if sine > 0.0 { center.y - direction.y * (seen / sine) } else { 0.0 };
    let mut best = (f64::INFINITY, 0.0);
    let ends_of_b = [-half_b, half_b].map(|end| center.y + direction.y * end);
    // The middle of the shared stretch comes first: it wins among equals.
    let low = (-half_a).max(ends_of_b[0].min(ends_of_b[1]));
    let high = half_a.min(ends_of_b[0].max(ends_of_b[1]));
    let middle = 0.5 * (low + high);
    for place in [middle, inner, -half_a, half_a, ends_of_b[0], ends_of_b[1]] {
        let on_a = limited(place, half_a);
        let point = DVec3::new(0.0, on_a, 0.0);
        let on_b = limited((point - center).dot(direction), half_b);
        let distance = (center + direction * on_b - point).length_squared();
        if distance < best.0 {
            best = (distance, on_a);
        }
    }
    best.1
}
