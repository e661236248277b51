//! Bounds of a posed shape: the smallest f32 box around it that is certainly not too small.
//!
//! Each kind has a closed form for its reach along a world axis, so bounds are tight under
//! rotation. Two kinds of rounding are covered. The rotation matrix and the reach are computed
//! with an error of a few units of the shape's size; `SLACK` widens the reach by that, unless
//! the pose does not rotate, in which case the reach is exact. The sum of reach and translation
//! is rounded outward only where it is inexact. So a unit box at the origin has exactly the
//! bounds -1 and 1, and no shape ever leaves its bounds.

use super::{Hull, Pose, PoseMatrix, Shape};
use crate::aabb::{Aabb, round_down, round_up};
use glam::{DMat3, DQuat, DVec3};

/// Relative error of a rotated reach: 4 units for the matrix from its quaternion, 4 for the
/// quaternion's own normalisation, and 8 for the products, sums and roots that follow.
const SLACK: f64 = 16.0 * f64::EPSILON;

impl Shape {
    /// The f32 box around the posed shape, rounded outward.
    pub fn bounds(&self, pose: &Pose) -> Aabb {
        self.grown_bounds(pose, 0.0)
    }

    /// The f32 box around the posed shape grown by a margin, rounded outward. The margin counts as
    /// a little larger, for the rounding of its own sum; it is 0 or at least a billionth of that of
    /// the size.
    pub(crate) fn grown_bounds(&self, pose: &Pose, margin: f64) -> Aabb {
        match self {
            // Balls do not turn, and they are many.
            Shape::Sphere { radius } => {
                let reach = DVec3::splat(*radius);
                around(pose, -reach, reach, margin)
            }
            Shape::HalfSpace { normal, offset } => half_space(*normal, *offset + margin, pose),
            Shape::Compound(compound) => compound
                .pieces()
                .iter()
                .map(|piece| piece.shape.grown_bounds(&pose.compose(&piece.pose), margin))
                .reduce(|whole, piece| whole.union(&piece))
                .unwrap_or_default(),
            _ => {
                let (low, high) = self.reach(pose);
                around(pose, low, high, margin)
            }
        }
    }

    /// The corners of a box around a posed convex shape without its [`margin`](Shape::margin), in
    /// f64 and up to rounding.
    pub(crate) fn core_box(&self, pose: &Pose) -> (DVec3, DVec3) {
        let ((low, high), at) = (self.reach(pose), pose.translation());
        let shrink = self.margin();
        let slack = SLACK * (low.abs().max(high.abs()) + at.abs()).max_element();
        (at + (low + shrink) - slack, at + (high - shrink) + slack)
    }

    /// How far the rotated shape reaches from its origin, down and up along the world's axes,
    /// with the roundings of the rotation covered.
    fn reach(&self, pose: &Pose) -> (DVec3, DVec3) {
        let turn = pose.matrix().rotation;
        let (low, high, size) = match self {
            Shape::Sphere { radius } => return symmetric_exact(DVec3::splat(*radius)),
            Shape::Cuboid { half_extents } => {
                let high = absolute(turn) * *half_extents;
                (-high, high, half_extents.length())
            }
            Shape::Capsule { radius, half_height } => {
                let high = turn.y_axis.abs() * *half_height + *radius;
                (-high, high, half_height + radius)
            }
            Shape::Cylinder { radius, half_height } => {
                let high = turn.y_axis.abs() * *half_height + disc(turn) * *radius;
                (-high, high, half_height + radius)
            }
            Shape::Cone { radius, half_height } => cone(*radius, *half_height, turn),
            Shape::Ellipsoid { radii } => {
                let columns = [turn.x_axis, turn.y_axis, turn.z_axis];
                let squares: DVec3 = (0..3).map(|k| (columns[k] * radii[k]).powf(2.0)).sum();
                let high = squares.map(f64::sqrt);
                (-high, high, radii.length())
            }
            Shape::Triangle { points } => cloud(points, turn),
            Shape::Hull(hull) => rotated_hull(hull, turn),
            Shape::Rounded(rounded) => {
                let (low, high) = rounded.shape().reach(pose);
                let margin = rounded.margin();
                let up = |reach: DVec3| reach.map(|reach| sum_up(reach, margin));
                return (-up(-low), up(high));
            }
            Shape::Custom(custom) => {
                let rows = turn.transpose();
                let rows = [rows.x_axis, rows.y_axis, rows.z_axis];
                let reach = |row: DVec3| custom.support(row).dot(row);
                let high = DVec3::from_array(rows.map(reach));
                let low = DVec3::from_array(rows.map(|row| -reach(-row)));
                let (least, most) = custom.local_bounds();
                (low, high, 2.0 * least.abs().max(most.abs()).max_element())
            }
            Shape::Mesh(mesh) => turned_box(mesh.min(), mesh.max(), turn),
            Shape::HeightField(field) => {
                let (low, high) = field.bounds();
                turned_box(low, high, turn)
            }
            Shape::HalfSpace { .. } | Shape::Compound(_) => unreachable!("handled by bounds()"),
        };
        let slack = if pose.rotation() == DQuat::IDENTITY { 0.0 } else { SLACK * size };
        (low - slack, high + slack)
    }
}

/// The f32 box around the place of a pose, as far as the reaches and a margin go.
#[inline(always)]
fn around(pose: &Pose, low: DVec3, high: DVec3, margin: f64) -> Aabb {
    let margin = margin * (1.0 + 1e-5);
    let (low, high) = (low - margin, high + margin);
    let at = pose.translation();
    Aabb::from_f64(
        std::array::from_fn(|k| -sum_up(-at[k], -low[k])),
        std::array::from_fn(|k| sum_up(at[k], high[k])),
    )
}

fn symmetric_exact(high: DVec3) -> (DVec3, DVec3) {
    (-high, high)
}

/// The box around a box that is turned.
fn turned_box(low: DVec3, high: DVec3, turn: DMat3) -> (DVec3, DVec3, f64) {
    let size = 2.0 * low.abs().max(high.abs()).max_element();
    if turn == DMat3::IDENTITY {
        return (low, high, size);
    }
    let (middle, half) = (turn * (low * 0.5 + high * 0.5), high * 0.5 - low * 0.5);
    let reach = absolute(turn) * half;
    (middle - reach, middle + reach, size)
}

fn absolute(matrix: DMat3) -> DMat3 {
    DMat3::from_cols(matrix.x_axis.abs(), matrix.y_axis.abs(), matrix.z_axis.abs())
}

/// Reach of the unit disc across local y. From the two columns in its plane: the root of
/// `1 - y²` would lose half the digits near the axes.
fn disc(turn: DMat3) -> DVec3 {
    let (x, z) = (turn.x_axis, turn.z_axis);
    DVec3::from_array(std::array::from_fn(|k| (x[k] * x[k] + z[k] * z[k]).sqrt()))
}

fn cone(radius: f64, half_height: f64, turn: DMat3) -> (DVec3, DVec3, f64) {
    let apex = turn.y_axis * half_height;
    let rim = disc(turn) * radius;
    (apex.min(-apex - rim), apex.max(-apex + rim), half_height + radius)
}

fn cloud(points: &[DVec3], turn: DMat3) -> (DVec3, DVec3, f64) {
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    let mut size = 0.0f64;
    for &point in points {
        let turned = turn * point;
        low = low.min(turned);
        high = high.max(turned);
        size = size.max(point.abs().max_element());
    }
    (low, high, 2.0 * size)
}

/// Six support searches; each finds the furthest vertex up to the rounding of the dot product,
/// which the slack covers.
fn rotated_hull(hull: &Hull, turn: DMat3) -> (DVec3, DVec3, f64) {
    let rows = turn.transpose();
    let rows = [rows.x_axis, rows.y_axis, rows.z_axis];
    let reach = |row: DVec3| hull.support(row).dot(row);
    let high = DVec3::from_array(rows.map(reach));
    let low = DVec3::from_array(rows.map(|row| -reach(-row)));
    (low, high, 2.0 * hull.largest_coordinate())
}

/// Bounded on the one axis the normal lies along, if it lies along one exactly.
fn half_space(normal: DVec3, offset: f64, pose: &Pose) -> Aabb {
    let PoseMatrix { rotation, translation } = pose.matrix();
    let normal = rotation * normal;
    // Half a turn leaves the normal on its axis, but its length may round.
    let turned = pose.rotation() != DQuat::IDENTITY;
    let offset = if turned { offset + SLACK * offset.abs() } else { offset };
    let mut whole = Aabb::EVERYTHING;
    for k in 0..3 {
        let across = (normal[(k + 1) % 3], normal[(k + 2) % 3]);
        if across != (0.0, 0.0) {
            continue;
        }
        if normal[k] > 0.0 {
            whole.max[k] = round_up(sum_up(translation[k], offset));
        } else {
            whole.min[k] = round_down(-sum_up(-translation[k], offset));
        }
    }
    whole
}

/// `a + b`, rounded up where the sum is inexact (Knuth's two-sum gives the error). A branch could
/// not be predicted.
#[inline]
fn sum_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    // A sum with an error is neither zero nor infinite.
    let bits = sum.to_bits();
    let (below, negative) = (u64::from(error > 0.0), bits >> 63);
    f64::from_bits(bits.wrapping_add(below).wrapping_sub(2 * (below & negative)))
}
