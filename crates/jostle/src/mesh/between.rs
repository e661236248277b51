//! [`Between`]: the second mesh as the first one sees it.

use glam::{DMat3, DQuat, DVec3};

use super::data::{Frame, Mesh};
use crate::shape::Pose;
use crate::simd::node_maps::NodeMap;

/// Two posed meshes in the frame of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between<'a> {
    pub a: &'a Mesh,
    pub b: &'a Mesh,
    /// Where the frame of the first mesh is in the world.
    pub pose_a: Pose,
    rotation: Option<DMat3>,
    translation: DVec3,
    /// From the tree of b to that of a, and back.
    pub to_a: NodeMap,
    pub to_b: NodeMap,
}

impl<'a> Between<'a> {
    pub(super) fn new(a: &'a Mesh, pose_a: &Pose, b: &'a Mesh, pose_b: &Pose) -> Between<'a> {
        let (turn_a, turn_b) = (pose_a.rotation(), pose_b.rotation());
        let rotation = (turn_a != turn_b)
            .then(|| snapped(DMat3::from_quat((turn_a.conjugate() * turn_b).normalize())));
        let offset = pose_b.translation() - pose_a.translation();
        let translation =
            if turn_a == DQuat::IDENTITY { offset } else { turn_a.conjugate() * offset };
        let (frame_a, frame_b) = (a.tree().frame, b.tree().frame);
        let matrix = rotation.unwrap_or(DMat3::IDENTITY);
        let far = (pose_a.translation().abs() + pose_b.translation().abs()).max_element();
        let far = far + reach_of(a) + reach_of(b);
        let to_a = map(&matrix, translation, &frame_b, &frame_a, far);
        let back = matrix.transpose();
        let to_b = map(&back, -(back * translation), &frame_a, &frame_b, far);
        Between { a, b, pose_a: *pose_a, rotation, translation, to_a, to_b }
    }

    /// A point of b in the frame of a, rounded to f64: what is exact is exact for these.
    #[inline(always)]
    pub(super) fn place(&self, point: DVec3) -> DVec3 {
        match &self.rotation {
            Some(rotation) => *rotation * point + self.translation,
            None => point + self.translation,
        }
    }

    /// The map from the frame of a to that of b.
    pub(super) fn turned(&self) -> impl Fn(DVec3) -> DVec3 + use<> {
        let (rotation, translation) = (self.rotation, self.translation);
        move |point| match rotation {
            Some(rotation) => rotation.transpose() * (point - translation),
            None => point - translation,
        }
    }

    /// The corners of a triangle of b in the frame of a.
    #[inline(always)]
    pub(super) fn corners_b(&self, triangle: u32) -> [DVec3; 3] {
        self.b.corners(triangle).map(|corner| self.place(corner))
    }

    /// Returns true if the balls around the meshes are apart.
    #[inline]
    pub(super) fn are_far(&self) -> bool {
        let line = self.place(self.b.center()) - self.a.center();
        let reach = self.a.bounding_radius() + self.b.bounding_radius();
        // More than the rounding of centers and of places.
        let reach = reach * (1.0 + 1e-9) + 1e-12 * (reach_of(self.a) + reach_of(self.b));
        let reach = reach + 1e-12 * self.translation.abs().max_element();
        line.length_squared() > reach * reach
    }

    /// Returns true if the axes of both frames are parallel, so that one of them is enough.
    pub(super) fn is_aligned(&self) -> bool {
        self.rotation.is_none()
    }
}

/// Largest coordinate of a mesh.
fn reach_of(mesh: &Mesh) -> f64 {
    mesh.min().abs().max(mesh.max().abs()).max_element()
}

/// Quarter turns exactly: a rotation whose entries are all within rounding of 0, 1 or -1.
fn snapped(rotation: DMat3) -> DMat3 {
    let entries = rotation.to_cols_array();
    // As `f64::round`, which is a call if no later instructions than those of 2003 are assumed.
    let near = entries.map(|at| if at.abs() < 0.5 { 0.0 } else { 1f64.copysign(at) });
    let close = entries.iter().zip(&near).all(|(at, near)| (at - near).abs() <= 4.0 * f64::EPSILON);
    if close { DMat3::from_cols_array(&near) } else { rotation }
}

/// The map from one tree's space to another's. Points of the first lie within 4 of its origin.
pub(super) fn map(
    matrix: &DMat3,
    translation: DVec3,
    from: &Frame,
    to: &Frame,
    far: f64,
) -> NodeMap {
    let ratio = to.scale / from.scale;
    let shift = (*matrix * from.origin + translation - to.origin) * to.scale;
    let rows = matrix.transpose();
    let rows =
        [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| (row * ratio).as_vec3().to_array());
    // A dozen roundings of f32 on numbers up to the sum, and of f64 before that.
    let large = shift.abs().max_element() + 8.0 * ratio + 1.0;
    let slack = 8.0 * f64::from(f32::EPSILON) * large + 64.0 * f64::EPSILON * far * to.scale;
    NodeMap { rows, shift: shift.as_vec3().to_array(), slack: slack as f32 }
}
