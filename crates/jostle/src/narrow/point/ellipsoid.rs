//! The nearest point of an ellipsoid: the root of one function of one number.
//!
//! The nearest point `x` has its normal towards the point `p`: `p - x = t x / r²` on each axis, so
//! `x = r² p / (t + r²)`, and `x` lies on the surface where `g(t) = Σ (r p / (t + r²))² - 1` is
//! zero (Eberly, *Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid*). Right
//! of its last pole `g` falls and is convex: Newton's method from the left of the root climbs to
//! it and never passes it.
//!
//! Departures: the number counted from the pole, `u = t + r²` of the shortest axis, so that points
//! near the planes of symmetry lose nothing to cancellation; Newton's method in place of bisection,
//! which takes 6 to 12 steps instead of some fifty; and all lengths divided by the longest axis.

use super::{Nearest, SurfacePart, unit_or};
use glam::DVec3;

/// Most steps. A dozen are usual; from a point a billion times nearer to a plane of symmetry than
/// the size, thirty.
const STEPS: usize = 200;

/// All radii must be positive.
pub(super) fn nearest(radii: DVec3, point: DVec3) -> Nearest {
    let size = radii.max_element();
    let found = scaled(radii / size, point.abs() / size);
    let sign = DVec3::ONE.copysign(point);
    let (surface, normal) = (found.0 * size * sign, found.1 * sign);
    let signed = (point - surface).dot(normal);
    Nearest { point: surface, normal, signed, part: SurfacePart::Face(0) }
}

/// The nearest point and its normal, for radii up to one and a point without negative coordinates.
fn scaled(radii: DVec3, point: DVec3) -> (DVec3, DVec3) {
    let least = radii.min_element();
    let shortest = (0..3).find(|&k| radii[k] == least).unwrap_or(0);
    // From the pole of the shortest axis to that of each.
    let beyond = (radii - least) * (radii + least);
    let weighted = radii * point;
    let g = |u: f64| {
        let mut sum = (-1.0, 0.0);
        for k in (0..3).filter(|&k| weighted[k] > 0.0) {
            let share = weighted[k] / (u + beyond[k]);
            sum.0 += share * share;
            sum.1 -= 2.0 * share * share / (u + beyond[k]);
        }
        sum
    };
    // Each term alone is one here, so that the root is not further left.
    let low = (0..3).filter(|&k| weighted[k] > 0.0).map(|k| weighted[k] - beyond[k]);
    let mut u = low.fold(0.0, f64::max);
    if u == 0.0 && g(0.0).0 <= 0.0 {
        return on_symmetry(radii, point, &beyond, shortest);
    }
    for _ in 0..STEPS {
        let (value, slope) = g(u);
        let next = u - value / slope;
        if next.is_nan() || next <= u {
            break;
        }
        u = next;
    }
    let normal = DVec3::from_array(std::array::from_fn(|k| {
        if weighted[k] > 0.0 { point[k] / (u + beyond[k]) } else { 0.0 }
    }));
    finish(radii, normal)
}

/// The point lies between both sides of the shortest axis, near enough to the middle that the
/// nearest points are off that plane.
fn on_symmetry(radii: DVec3, point: DVec3, beyond: &DVec3, shortest: usize) -> (DVec3, DVec3) {
    let mut normal = DVec3::ZERO;
    let mut rest = 1.0;
    for k in (0..3).filter(|&k| beyond[k] > 0.0) {
        normal[k] = point[k] / beyond[k];
        let share = radii[k] * normal[k];
        rest -= share * share;
    }
    normal[shortest] = rest.max(0.0).sqrt() / radii[shortest];
    finish(radii, normal)
}

/// The surface point with this normal, of any length.
fn finish(radii: DVec3, normal: DVec3) -> (DVec3, DVec3) {
    let (normal, _) = unit_or(normal, DVec3::X);
    let (stretched, _) = unit_or(radii * normal, DVec3::X);
    (radii * stretched, normal)
}
