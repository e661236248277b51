//! [`Pose`]: where a shape is and how it is turned, checked once when it is made.

use super::error::{PoseError, bad_axis};
use glam::{DMat3, DQuat, DVec3};
use std::ops::Mul;

/// A rotation followed by a translation. Always finite, the rotation always of unit length.
///
/// ```
/// use jostle::glam::{DQuat, DVec3};
/// use jostle::shape::Pose;
///
/// // A hand at the end of an arm that is turned by a quarter about z.
/// let turned = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
/// let arm = Pose::new(turned, DVec3::new(5.0, 0.0, 0.0))?;
/// let hand = arm * Pose::at([2.0, 0.0, 0.0])?;
/// assert!(hand.translation().distance(DVec3::new(5.0, 2.0, 0.0)) < 1e-12);
/// assert!((hand.inverse() * hand.translation()).length() < 1e-12);
///
/// assert!(Pose::at([f64::NAN, 0.0, 0.0]).is_err());
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    rotation: DQuat,
    translation: DVec3,
}

impl Default for Pose {
    fn default() -> Pose {
        Pose::IDENTITY
    }
}

impl Pose {
    /// How far the length of a given rotation may be from one. Enough for quaternions that
    /// were stored as f32; what is accepted is then normalised in f64.
    pub const LENGTH_TOLERANCE: f64 = 1e-6;

    /// No rotation, no translation.
    pub const IDENTITY: Pose = Pose { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// A pose from its parts.
    pub fn new(rotation: DQuat, translation: DVec3) -> Result<Pose, PoseError> {
        let parts = [('x', rotation.x), ('y', rotation.y), ('z', rotation.z), ('w', rotation.w)];
        if let Some(&(component, value)) = parts.iter().find(|part| !part.1.is_finite()) {
            return Err(PoseError::Rotation { component, value });
        }
        let length = rotation.length();
        if (length - 1.0).abs() > Pose::LENGTH_TOLERANCE {
            return Err(PoseError::Length { length });
        }
        if let Some(axis) = bad_axis(translation) {
            return Err(PoseError::Translation { axis, value: translation[axis.index()] });
        }
        Ok(Pose { rotation: rotation / length, translation })
    }

    /// A pose from a snapshot, checked like any other, but with the very bits of a rotation that
    /// is of unit length already.
    #[cfg(feature = "serde")]
    pub(super) fn restored(rotation: DQuat, translation: DVec3) -> Result<Pose, PoseError> {
        let checked = Pose::new(rotation, translation)?;
        let unit = (rotation.length() - 1.0).abs() <= 4.0 * f64::EPSILON;
        Ok(if unit { Pose { rotation, translation } } else { checked })
    }

    /// No rotation, no translation.
    pub const fn identity() -> Pose {
        Pose::IDENTITY
    }

    /// A pose at a place, without rotation: [`Pose::from_translation`] for plain numbers.
    pub fn at(translation: impl Into<DVec3>) -> Result<Pose, PoseError> {
        Pose::from_translation(translation.into())
    }

    /// A pose that only translates.
    pub fn from_translation(translation: DVec3) -> Result<Pose, PoseError> {
        Pose::new(DQuat::IDENTITY, translation)
    }

    /// The rotation, of unit length.
    pub fn rotation(&self) -> DQuat {
        self.rotation
    }

    /// The translation.
    pub fn translation(&self) -> DVec3 {
        self.translation
    }

    /// A local point in the world.
    #[inline]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// A local direction in the world.
    #[inline]
    pub fn apply_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// A world point in local space.
    #[inline]
    pub fn inverse_apply(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.translation)
    }

    /// A world direction in local space.
    #[inline]
    pub fn inverse_apply_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation.conjugate() * vector
    }

    /// The pose that undoes this one.
    #[must_use]
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.conjugate();
        Pose { rotation, translation: rotation * -self.translation }
    }

    /// First `inner`, then this pose. The product is normalised, so long chains do not drift.
    /// The same as `*self * *inner`.
    #[must_use]
    pub fn compose(&self, inner: &Pose) -> Pose {
        Pose {
            rotation: (self.rotation * inner.rotation).normalize(),
            translation: self.apply(inner.translation),
        }
    }

    /// The same pose with its rotation as a matrix: costs more to make, less to apply.
    #[inline]
    pub fn matrix(&self) -> PoseMatrix {
        PoseMatrix { rotation: DMat3::from_quat(self.rotation), translation: self.translation }
    }
}

/// First the right pose, then the left one, as with matrices.
impl Mul for Pose {
    type Output = Pose;

    fn mul(self, inner: Pose) -> Pose {
        self.compose(&inner)
    }
}

/// A local point in the world.
impl Mul<DVec3> for Pose {
    type Output = DVec3;

    fn mul(self, point: DVec3) -> DVec3 {
        self.apply(point)
    }
}

/// A [`Pose`] in the form the inner loops use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseMatrix {
    /// The rotation; its columns are the local axes in the world.
    pub rotation: DMat3,
    /// The translation.
    pub translation: DVec3,
}

impl PoseMatrix {
    /// No rotation, no translation.
    pub const IDENTITY: PoseMatrix =
        PoseMatrix { rotation: DMat3::IDENTITY, translation: DVec3::ZERO };

    /// A local point in the world.
    #[inline(always)]
    pub fn apply(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// A local direction in the world.
    #[inline(always)]
    pub fn apply_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// A world point in local space.
    #[inline(always)]
    pub fn inverse_apply(&self, point: DVec3) -> DVec3 {
        self.inverse_apply_vector(point - self.translation)
    }

    /// A world direction in local space.
    #[inline(always)]
    pub fn inverse_apply_vector(&self, vector: DVec3) -> DVec3 {
        let columns = &self.rotation;
        DVec3::new(
            columns.x_axis.dot(vector),
            columns.y_axis.dot(vector),
            columns.z_axis.dot(vector),
        )
    }

    /// This pose as seen from the local space of `other`.
    #[inline]
    pub fn relative_to(&self, other: &PoseMatrix) -> PoseMatrix {
        PoseMatrix {
            rotation: other.rotation.transpose() * self.rotation,
            translation: other.inverse_apply(self.translation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::Axis;
    use proptest::prelude::*;

    #[test]
    fn errors_name_the_component() {
        let bad = Pose::new(DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0), DVec3::ZERO);
        assert!(matches!(bad, Err(PoseError::Rotation { component: 'y', .. })));
        let long = Pose::new(DQuat::from_xyzw(0.0, 0.0, 0.0, 1.00001), DVec3::ZERO);
        assert_eq!(long, Err(PoseError::Length { length: 1.00001 }));
        let zero = Pose::new(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0), DVec3::ZERO);
        assert_eq!(zero, Err(PoseError::Length { length: 0.0 }));
        let huge = Pose::new(DQuat::from_xyzw(1e300, 0.0, 0.0, 0.0), DVec3::ZERO);
        assert!(matches!(huge, Err(PoseError::Length { .. })));
        let far = Pose::from_translation(DVec3::new(0.0, 0.0, f64::INFINITY)).unwrap_err();
        assert_eq!(far, PoseError::Translation { axis: Axis::Z, value: f64::INFINITY });
        assert!(far.to_string().contains("translation z = inf"));
    }

    #[test]
    fn f32_quaternions_are_accepted_and_normalised() {
        let rough = DQuat::from_xyzw(0.5, 0.5, 0.5, 0.5 + 4e-7);
        let pose = Pose::new(rough, DVec3::ZERO).unwrap();
        assert!((pose.rotation().length() - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn all_forms_agree(
            turn in prop::array::uniform3(-3.0..3.0f64),
            at in prop::array::uniform3(-10.0..10.0f64),
            point in prop::array::uniform3(-5.0..5.0f64),
        ) {
            let pose = Pose::new(DQuat::from_scaled_axis(turn.into()), at.into()).unwrap();
            let other = Pose::new(DQuat::from_rotation_y(turn[0]), DVec3::from(at) * 0.5).unwrap();
            let point = DVec3::from(point);
            let near = |a: DVec3, b: DVec3| a.distance(b) < 1e-12;
            prop_assert!(near(pose.inverse_apply(pose.apply(point)), point));
            prop_assert!(near(pose.inverse().apply(pose.apply(point)), point));
            prop_assert!(near(pose.matrix().apply(point), pose.apply(point)));
            prop_assert!(near(pose.matrix().inverse_apply(point), pose.inverse_apply(point)));
            prop_assert!(near(pose.apply_vector(pose.inverse_apply_vector(point)), point));
            prop_assert!(near(pose.compose(&other).apply(point), pose.apply(other.apply(point))));
            prop_assert_eq!(pose * other, pose.compose(&other));
            prop_assert!(near(pose * pose.inverse() * point, Pose::identity() * point));
            let relative = pose.matrix().relative_to(&other.matrix());
            prop_assert!(near(relative.apply(point), other.inverse_apply(pose.apply(point))));
        }
    }
}
