//! [`LeafHolds`]: which triangles of a leaf certainly have a corner inside a ball or a box.
//!
//! The opposite of [`leaf_gaps`](super::leaf_gaps): there no triangle is left out that may be near,
//! here none is named that may be outside. Every error shrinks the ball or the box.

use super::lanes::{Lanes, Points};
use super::leaf8::Leaf8;
use super::vector::{Eight, Mask, Simd};

/// A turned box in the frame of a tree, around a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LeafBox {
    /// Its axes, unit vectors but for rounding to f32.
    pub axes: [[f32; 3]; 3],
    /// Half of its lengths along them, rounded to f32.
    pub half: [f32; 3],
}

/// The length of a vector at `sqrt(3)` times its largest coordinate, rounded up.
const DIAGONAL: f32 = 1.733;

pub(crate) trait LeafHolds: Simd {
    /// The lanes with a corner inside a ball, whose center is off by at most `slack` on each axis.
    ///
    /// A radius that is rounded to f32 and a square that rounds six times are off by less than
    /// four units each.
    #[inline(always)]
    fn corners_in_ball(self, leaf: &Leaf8, center: [f32; 3], radius: f32, slack: f32) -> u32 {
        let inner = radius * (1.0 - 8.0 * f32::EPSILON) - DIAGONAL * (leaf.error + slack);
        if inner.is_nan() || inner <= 0.0 {
            return 0;
        }
        let center = Points::splat(self, center);
        let [a, b, c] = leaf.corners(self);
        let (a, b, c) = (a - center, b - center, c - center);
        let least = a.dot(a).min(b.dot(b)).min(c.dot(c));
        least.le(Lanes::splat(self, inner * inner)).bits() & leaf.lanes()
    }

    /// The lanes with a corner inside a box, whose center is off by at most `slack` on each axis.
    ///
    /// A corner that seems to be inside is no further from the center on any axis than the sum of
    /// the half lengths, so that its coordinate along an axis of the box is off by less than 16
    /// units of that sum: 3 times 1/2 for the axis, as much for the differences and products, and
    /// less than 3 for the sums, each at most 1.8 times as large.
    #[inline(always)]
    fn corners_in_box(self, leaf: &Leaf8, center: [f32; 3], inner: &LeafBox, slack: f32) -> u32 {
        let sum = inner.half[0] + inner.half[1] + inner.half[2];
        let margin = DIAGONAL * (leaf.error + slack) + 16.0 * f32::EPSILON * sum;
        let center = Points::splat(self, center);
        let half = Points::splat(self, inner.half) - Points::splat(self, [margin; 3]);
        let axes = [
            Points::splat(self, inner.axes[0]),
            Points::splat(self, inner.axes[1]),
            Points::splat(self, inner.axes[2]),
        ];
        let [a, b, c] = leaf.corners(self);
        let a = in_box(a - center, &axes, half);
        let b = in_box(b - center, &axes, half);
        let c = in_box(c - center, &axes, half);
        a.or(b).or(c).bits() & leaf.lanes()
    }
}

impl<S: Simd> LeafHolds for S {}

/// The lanes whose point is in a box around the origin; none if its half lengths are negative.
#[inline(always)]
fn in_box<S: Simd>(at: Points<S>, axes: &[Points<S>; 3], half: Points<S>) -> S::Eight {
    let x = at.dot(axes[0]).abs().le(half.x);
    let y = at.dot(axes[1]).abs().le(half.y);
    let z = at.dot(axes[2]).abs().le(half.z);
    x.and(y).and(z)
}
