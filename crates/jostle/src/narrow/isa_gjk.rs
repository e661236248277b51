//! ISA-GJK: do they touch? A yes or no by the first axis that separates.
//!
//! The steps of GJK, ended as soon as the answer is certain (van den Bergen, *A Fast and Robust GJK
//! Implementation*): a corner beyond the plane across the current axis proves separation, and that
//! axis is remembered, so that in the next frame one support search usually suffices. Shapes with
//! radii are handled through their cores: separation must exceed the radii, and a nearest point
//! within them proves the overlap before the cores meet.
//!
//! Choose it when neither distance nor depth is needed. For shapes that overlap it takes about as
//! many steps as GJK. Departure: the axis is kept at its length, since cores with radii need it.

use super::gjk::{Difference, End};
use super::simplex::Simplex;
use glam::DVec3;

/// What a run found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// The sets come within the radii of each other.
    pub hit: bool,
    /// The separating axis from b to a, or the last nearest point.
    pub axis: DVec3,
    /// The sets are at least this far apart; zero for a hit.
    pub lower: f64,
    /// `CutOff` for a separating axis, `Overlap` for a certain hit, else the reason of an early
    /// end.
    pub end: End,
}

/// Decides whether the origin is within `radius` of the difference, starting from the axis and the
/// simplex of the last frame and leaving the last simplex there.
pub(crate) fn run(
    difference: &mut impl Difference,
    simplex: &mut Simplex,
    axis: DVec3,
    radius: f64,
    steps: u32,
) -> Outcome {
    let mut nearest = if axis == DVec3::ZERO { DVec3::X } else { axis };
    let corner = difference.support(-nearest);
    if separates(corner.point, nearest, radius) {
        return apart(corner.point, nearest);
    }
    if simplex.corners().is_empty() {
        simplex.push(corner);
    }
    let mut reduced = simplex.reduce();
    let mut length = f64::INFINITY;
    for _ in 0..steps {
        let Some(point) = reduced else {
            return Outcome { hit: true, axis: DVec3::ZERO, lower: 0.0, end: End::Overlap };
        };
        let new_length = point.length();
        if new_length <= radius {
            return Outcome { hit: true, axis: point, lower: 0.0, end: End::Overlap };
        }
        if new_length >= length {
            break;
        }
        (nearest, length) = (point, new_length);
        let corner = difference.support(-nearest);
        if separates(corner.point, nearest, radius) {
            return apart(corner.point, nearest);
        }
        if simplex.contains(corner.point) {
            break;
        }
        simplex.push(corner);
        reduced = simplex.reduce();
    }
    // No plane separates and there is no progress: the length is above the radius by rounding.
    Outcome { hit: length <= radius, axis: nearest, lower: 0.0, end: End::Stalled }
}

/// The outcome for a separating axis and the corner found along it.
#[inline]
fn apart(corner: DVec3, axis: DVec3) -> Outcome {
    let lower = corner.dot(axis) / axis.length();
    Outcome { hit: false, axis, lower, end: End::CutOff }
}

/// Returns true if the plane across the axis through the corner is further out than the radius.
#[inline]
fn separates(corner: DVec3, axis: DVec3, radius: f64) -> bool {
    let height = corner.dot(axis);
    height > 0.0 && height * height > radius * radius * axis.length_squared()
}
