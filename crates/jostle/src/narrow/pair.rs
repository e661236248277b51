//! A pair of convex shapes made ready: in canonical order, in the frame of the first one, as cores
//! and radii.
//!
//! The frame of one shape keeps accuracy far from the world's origin: translations are subtracted
//! first, which is exact for near shapes, and everything after works at the size of the shapes.
//! The canonical order (kind, then place, then size) makes the answer for `(b, a)` the mirrored
//! answer for `(a, b)` to the last bit.

use super::gjk::Difference;
use super::placed::Placed;
use super::simplex::Corner;
use crate::shape::{Hull, Piece, Pose, PoseMatrix, Shape};
use glam::{DMat3, DVec3};
use std::cmp::Ordering;
use std::sync::Arc;

/// A convex shape without its rounding: a sphere is a point, a capsule a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Core<'a> {
    Point,
    /// From `-half` to `half` along y.
    Segment(f64),
    Box(DVec3),
    Triangle(&'a [DVec3; 3]),
    Hull(&'a Hull),
    /// Cylinder, cone, ellipsoid or a support function of the user's.
    Curved(&'a Shape),
}

impl<'a> Core<'a> {
    pub(crate) fn of(shape: &'a Shape) -> Core<'a> {
        match shape {
            Shape::Sphere { .. } => Core::Point,
            Shape::Capsule { half_height, .. } => Core::Segment(*half_height),
            Shape::Cuboid { half_extents } => Core::Box(*half_extents),
            Shape::Triangle { points } => Core::Triangle(points),
            Shape::Hull(hull) => Core::Hull(hull),
            Shape::Rounded(rounded) => Core::of(rounded.shape()),
            _ => Core::Curved(shape),
        }
    }

    /// Returns true if the core is bounded by planes: then GJK, EPA and SAT end at an exact
    /// feature.
    pub(crate) fn is_polyhedral(&self) -> bool {
        !matches!(self, Core::Curved(_))
    }

    /// The furthest point and its vertex.
    #[inline(always)]
    pub(crate) fn support(&self, direction: DVec3, hint: &mut u32) -> DVec3 {
        match self {
            Core::Point => DVec3::ZERO,
            Core::Segment(half) => DVec3::new(0.0, toward(*half, direction.y, 1, hint), 0.0),
            Core::Box(half) => {
                *hint = 0;
                DVec3::new(
                    toward(half.x, direction.x, 1, hint),
                    toward(half.y, direction.y, 2, hint),
                    toward(half.z, direction.z, 4, hint),
                )
            }
            Core::Triangle(points) => {
                let dots = points.map(|point| point.dot(direction));
                let mut best = usize::from(dots[1] > dots[0]);
                if dots[2] > dots[best] {
                    best = 2;
                }
                *hint = best as u32;
                points[best]
            }
            Core::Hull(hull) => hull.vertices()[hull.support_index_from(direction, hint) as usize],
            Core::Curved(shape) => shape.core_support(direction),
        }
    }

    /// The vertex with a number that `support` left; `None` for curved cores and foreign numbers.
    #[inline(always)]
    pub(crate) fn vertex(&self, id: u32) -> Option<DVec3> {
        let signed = |bit: u32, size: f64| if id & bit == 0 { size } else { -size };
        match self {
            Core::Point => Some(DVec3::ZERO),
            Core::Segment(half) => Some(DVec3::new(0.0, signed(1, *half), 0.0)),
            Core::Box(half) => {
                Some(DVec3::new(signed(1, half.x), signed(2, half.y), signed(4, half.z)))
            }
            Core::Triangle(points) => points.get(id as usize).copied(),
            Core::Hull(hull) => hull.vertices().get(id as usize).copied(),
            Core::Curved(_) => None,
        }
    }
}

/// The end of `[-size, size]` on the side of the direction; the negative end sets the bit.
#[inline(always)]
fn toward(size: f64, direction: f64, bit: u32, id: &mut u32) -> f64 {
    *id &= !bit;
    if direction < 0.0 {
        *id |= bit;
        -size
    } else {
        size
    }
}

/// Two cores, the second placed in the frame of the first.
#[derive(Clone, Debug)]
pub(crate) struct Cores<'a> {
    pub a: Core<'a>,
    pub b: Core<'a>,
    pub b_in_a: PoseMatrix,
    pub hints: [u32; 2],
    /// Support searches so far.
    pub searches: u32,
}

impl Cores<'_> {
    pub(crate) fn is_polyhedral(&self) -> bool {
        self.a.is_polyhedral() && self.b.is_polyhedral()
    }
}

impl Difference for Cores<'_> {
    #[inline]
    fn support(&mut self, direction: DVec3) -> Corner {
        self.searches += 1;
        let on_a = self.a.support(direction, &mut self.hints[0]);
        let local = self.b_in_a.inverse_apply_vector(-direction);
        let on_b = self.b_in_a.apply(self.b.support(local, &mut self.hints[1]));
        Corner { point: on_a - on_b, on_a, ids: self.hints }
    }

    #[inline(always)]
    fn corner(&self, ids: [u32; 2]) -> Option<Corner> {
        let on_a = self.a.vertex(ids[0])?;
        let on_b = self.b_in_a.apply(self.b.vertex(ids[1])?);
        Some(Corner { point: on_a - on_b, on_a, ids })
    }
}

/// The ball around b that holds it: how far its points can have moved between two frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    /// In b's own frame.
    pub center: DVec3,
    pub radius: f64,
}

impl Ball {
    /// No point of the ball has moved further than this between two poses. The matrix by which a
    /// turn moves points has the turn's chord twice as singular value, and zero.
    #[inline]
    pub(crate) fn moved(&self, from: &PoseMatrix, to: &PoseMatrix) -> f64 {
        let turn = to.rotation - from.rotation;
        let square = turn.x_axis.length_squared()
            + turn.y_axis.length_squared()
            + turn.z_axis.length_squared();
        let shift = turn * self.center + (to.translation - from.translation);
        let moved = shift.length() + self.radius * (0.5 * square).sqrt();
        // For the rounding of both poses, which do not hold exact rotations either.
        let lever =
            self.center.abs().element_sum() + self.radius + to.translation.abs().element_sum();
        moved + 64.0 * f64::EPSILON * lever
    }
}

/// The pose of b as a's frame sees it. The translations are subtracted before anything else.
#[inline(always)]
pub(crate) fn relative(pose_a: &Pose, pose_b: &Pose) -> PoseMatrix {
    let inverse = pose_a.rotation().conjugate();
    PoseMatrix {
        rotation: DMat3::from_quat(inverse * pose_b.rotation()),
        translation: inverse * (pose_b.translation() - pose_a.translation()),
    }
}

/// Returns true if the pair must be swapped to stand in canonical order.
#[inline]
pub(crate) fn must_swap(a: &Placed<'_>, b: &Placed<'_>) -> bool {
    let (Placed { shape: a, pose: pose_a }, Placed { shape: b, pose: pose_b }) = (a, b);
    let by_kind = a.rank().cmp(&b.rank());
    if by_kind != Ordering::Equal {
        return by_kind == Ordering::Greater;
    }
    let places = [pose_a, pose_b].map(|pose| pose.translation().to_array());
    compare(&places[0], &places[1])
        .then_with(|| compare_turns(pose_a, pose_b))
        .then_with(|| compare_sizes(a, b))
        == Ordering::Greater
}

fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let first = a.iter().zip(b).map(|(x, y)| x.total_cmp(y)).find(|order| order.is_ne());
    first.unwrap_or(a.len().cmp(&b.len()))
}

fn compare_turns(a: &Pose, b: &Pose) -> Ordering {
    compare(&a.rotation().to_array(), &b.rotation().to_array())
}

fn compare_sizes(a: &Shape, b: &Shape) -> Ordering {
    if let (Shape::Hull(a), Shape::Hull(b)) = (a, b) {
        return if Arc::ptr_eq(a, b) {
            Ordering::Equal
        } else {
            compare_points(a.vertices(), b.vertices())
        };
    }
    if let (Shape::Compound(a), Shape::Compound(b)) = (a, b) {
        let same = Arc::ptr_eq(a, b);
        return if same { Ordering::Equal } else { compare_pieces(a.pieces(), b.pieces()) };
    }
    if let (Shape::Rounded(a), Shape::Rounded(b)) = (a, b) {
        let kinds = a.shape().rank().cmp(&b.shape().rank());
        return kinds
            .then_with(|| compare_sizes(a.shape(), b.shape()))
            .then_with(|| a.margin().total_cmp(&b.margin()));
    }
    compare(&numbers(a), &numbers(b))
}

fn compare_pieces(a: &[Piece], b: &[Piece]) -> Ordering {
    let piece = |(a, b): (&Piece, &Piece)| {
        let places = [a, b].map(|piece| piece.pose.translation().to_array());
        let kinds = a.shape.rank().cmp(&b.shape.rank());
        kinds
            .then_with(|| compare(&places[0], &places[1]))
            .then_with(|| compare_turns(&a.pose, &b.pose))
            .then_with(|| compare_sizes(&a.shape, &b.shape))
    };
    let first = a.iter().zip(b).map(piece).find(|order| order.is_ne());
    first.unwrap_or(a.len().cmp(&b.len()))
}

fn compare_points(a: &[DVec3], b: &[DVec3]) -> Ordering {
    let points = a.iter().zip(b).map(|(p, q)| compare(&p.to_array(), &q.to_array()));
    points.fold(a.len().cmp(&b.len()), Ordering::then)
}

fn numbers(shape: &Shape) -> [f64; 9] {
    let mut all = [0.0; 9];
    let mut set = |values: &[f64]| all[..values.len()].copy_from_slice(values);
    match shape {
        Shape::Sphere { radius } => set(&[*radius]),
        Shape::Cuboid { half_extents: sizes } | Shape::Ellipsoid { radii: sizes } => {
            set(&sizes.to_array());
        }
        Shape::Capsule { radius, half_height }
        | Shape::Cylinder { radius, half_height }
        | Shape::Cone { radius, half_height } => set(&[*radius, *half_height]),
        Shape::Triangle { points } => {
            for (index, point) in points.iter().enumerate() {
                all[3 * index..3 * index + 3].copy_from_slice(&point.to_array());
            }
        }
        Shape::HalfSpace { normal, offset } => set(&[normal.x, normal.y, normal.z, *offset]),
        // Functions in one place, turned alike, are told apart by the order of their making.
        Shape::Custom(custom) => set(&[custom.bounding_radius(), custom.identity() as f64]),
        Shape::Mesh(mesh) => set(&[mesh.bounding_radius(), mesh.identity() as f64]),
        Shape::HeightField(field) => set(&[field.bounding_radius(), field.identity() as f64]),
        Shape::Hull(_) | Shape::Compound(_) | Shape::Rounded(_) => {}
    }
    all
}
