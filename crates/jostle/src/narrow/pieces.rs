//! Compounds of many pieces: which of them a question has to ask.
//!
//! The pieces of a compound have a tree of boxes in its frame. A question brings a lower bound for
//! what is in a box; the pieces it then looks at are a superset of those that the loop over all
//! pieces would have found to matter, and equal answers go to the lower number: the answer is that
//! of the loop.

use super::answer::Options;
use super::pair::relative;
use super::placed::Placed;
use crate::shape::{Compound, Shape};
use glam::DVec3;

/// Share of the sizes by which bounds are lowered: more than all roundings of a distance.
const SLACK: f64 = 1e-9;

/// The distance between two boxes.
fn between(one: (DVec3, DVec3), other: (DVec3, DVec3)) -> f64 {
    (one.0 - other.1).max(other.0 - one.1).max(DVec3::ZERO).length()
}

/// What a compound sees of another shape.
pub(super) enum Seen {
    /// A box in the frame of the compound, and how much less a distance may be.
    Box(DVec3, DVec3, f64),
    /// A half-space: its normal, its offset, and how much less a distance may be.
    Plane(DVec3, f64, f64),
    /// Anything may be near: flat questions look along another axis than the boxes.
    Everything,
}

impl Seen {
    pub(super) fn new(
        parts: &Compound,
        compound: &Placed<'_>,
        other: &Placed<'_>,
        options: &Options,
    ) -> Seen {
        let margin = options.margin.max(0.0);
        // Few pieces are all looked at.
        if options.flat || parts.tree_bounds().is_none() {
            return Seen::Everything;
        }
        let pose = relative(&compound.pose, &other.pose);
        let far = pose.translation.length() + compound.shape.center().length();
        let size = far + compound.shape.bounding_radius();
        if let Shape::HalfSpace { normal, offset } = other.shape {
            let normal = pose.rotation * *normal;
            let offset = offset + normal.dot(pose.translation);
            return Seen::Plane(normal, offset, margin + SLACK * (size + offset.abs()));
        }
        let radius = other.shape.center().length() + other.shape.bounding_radius();
        let slack = margin + SLACK * (size + radius);
        let whole = match other.shape {
            Shape::Compound(other) => other.tree_bounds(),
            _ => None,
        };
        if let Some((low, high)) = whole {
            let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
            let turn = pose.rotation;
            let reach = turn.x_axis.abs() * half.x
                + turn.y_axis.abs() * half.y
                + turn.z_axis.abs() * half.z;
            let middle = pose.apply(middle);
            return Seen::Box(middle - reach, middle + reach, slack);
        }
        let furthest = |axis: DVec3| {
            let local = pose.inverse_apply_vector(axis);
            pose.apply(other.shape.support(local)).dot(axis)
        };
        let high = DVec3::from_array(DVec3::AXES.map(furthest));
        let low = DVec3::from_array(DVec3::AXES.map(|axis| -furthest(-axis)));
        Seen::Box(low, high, slack)
    }

    /// No point of a box is nearer than this.
    pub(super) fn bound(&self, low: DVec3, high: DVec3) -> f64 {
        match *self {
            Seen::Box(least, most, slack) => between((least, most), (low, high)) - slack,
            Seen::Plane(normal, offset, slack) => {
                let nearest = DVec3::select(normal.cmplt(DVec3::ZERO), high, low);
                nearest.dot(normal) - offset - slack
            }
            Seen::Everything => 0.0,
        }
    }
}

/// Appends the numbers of the pieces that can be within `reach` of another shape, ascending; all of
/// few pieces.
pub(super) fn near(
    parts: &Compound,
    compound: &Placed<'_>,
    other: &Placed<'_>,
    options: &Options,
    reach: f64,
    numbers: &mut Vec<u32>,
) {
    let first = numbers.len();
    if parts.tree_bounds().is_none() {
        numbers.extend(0..parts.pieces().len() as u32);
        return;
    }
    let seen = Seen::new(parts, compound, other, options);
    parts.near(&|low, high| seen.bound(low, high), reach, &mut |number| {
        numbers.push(number);
        reach
    });
    numbers[first..].sort_unstable();
}

/// The distance of a point from a box, in the frame of the compound and with slack.
pub(super) fn from_point(parts: &Compound, point: DVec3) -> impl Fn(DVec3, DVec3) -> f64 {
    let slack = SLACK * (parts.center().length() + parts.bounding_radius() + point.length());
    move |low, high| between((point, point), (low, high)) - slack
}

/// How far a ray of unit direction goes before it enters a box grown by a margin; infinite if it
/// does not.
pub(super) fn along_ray(
    parts: &Compound,
    origin: DVec3,
    direction: DVec3,
    margin: f64,
) -> impl Fn(DVec3, DVec3) -> f64 {
    let size = parts.center().length() + parts.bounding_radius() + origin.length();
    let grown = margin + SLACK * size;
    move |low, high| {
        let (mut enter, mut leave) = (-SLACK * size, f64::INFINITY);
        for axis in 0..3 {
            let [near, far] = [low[axis] - grown, high[axis] + grown].map(|at| at - origin[axis]);
            if direction[axis] == 0.0 {
                if near > 0.0 || far < 0.0 {
                    return f64::INFINITY;
                }
            } else {
                let (one, other) = (near / direction[axis], far / direction[axis]);
                enter = enter.max(one.min(other));
                leave = leave.min(one.max(other));
            }
        }
        if enter > leave + SLACK * size { f64::INFINITY } else { enter }
    }
}

#[cfg(test)]
mod tests;
