//! [`Sweep`]: how a body gets from where the last step left it to where it is.

use glam::DVec3;

use super::bounds::{Frame, grown};
use crate::aabb::Aabb;
use crate::narrow::{Motion, Moving, Placed};
use crate::shape::{Pose, Shape};

/// The time a step takes for the narrow phase. Not 1, because half of the difference of two legal
/// translations is always a legal velocity.
pub(super) const SPAN: f64 = 2.0;

/// A straight motion with a steady turn through the smaller angle. Half-spaces do not turn during
/// it: their far parts would be infinitely fast; they take the new direction at its beginning.
pub(super) struct Sweep {
    start: Pose,
    end: Pose,
    /// Per unit of time, of which a step has [`SPAN`].
    pub linear: DVec3,
    angular: DVec3,
}

impl Sweep {
    pub(crate) fn new(shape: &Shape, start: &Pose, end: &Pose) -> Sweep {
        let linear = end.translation() / SPAN - start.translation() / SPAN;
        let (mut start, mut angular) = (*start, DVec3::ZERO);
        if start.rotation() != end.rotation() {
            if shape.is_bounded() {
                angular = turn(&start, end) / SPAN;
            } else {
                start = Pose::new(end.rotation(), start.translation()).unwrap_or(start);
            }
        }
        Sweep { start, end: *end, linear, angular }
    }

    pub(crate) fn turns(&self) -> bool {
        self.angular != DVec3::ZERO
    }

    pub(crate) fn motion(&self) -> Motion {
        Motion::new(self.linear, self.angular).expect("half a difference of poses is legal")
    }

    pub(crate) fn moving<'a>(&self, shape: &'a Shape) -> Moving<'a> {
        Moving::new(Placed::new(shape, self.start), self.motion())
    }

    /// A box around the whole motion. Every point moves straight but for its turn, and a turn by an
    /// angle strays from the straight line between its two positions by at most
    /// `radius * angle² / 8`.
    pub(crate) fn bounds(&self, shape: &Shape, frame: &Frame, margin: f64) -> Aabb {
        let start = frame.bounds(shape, &self.start, margin);
        let both = start.union(&frame.bounds(shape, &self.end, margin));
        if !self.turns() {
            return both;
        }
        let radius = shape.center().length() + shape.bounding_radius();
        let angle = self.angular.length() * SPAN;
        // A little more, for the rounding of poses in between.
        let mut whole = grown(&both, radius * (angle * angle / 8.0 + 1e-9));
        if frame.flat {
            (whole.min[2], whole.max[2]) = (both.min[2], both.max[2]);
        }
        whole
    }
}

/// Axis times angle that leads from one rotation to the other.
fn turn(start: &Pose, end: &Pose) -> DVec3 {
    let turn = end.rotation() * start.rotation().conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    turn.normalize().to_scaled_axis()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;

    fn pose() -> impl Strategy<Value = Pose> {
        let axis = prop::array::uniform3(-3.0f64..3.0);
        (axis, prop::array::uniform3(-20.0f64..20.0)).prop_map(|(turn, at)| {
            Pose::new(DQuat::from_scaled_axis(turn.into()).normalize(), at.into()).unwrap()
        })
    }

    fn shape() -> impl Strategy<Value = Shape> {
        prop::array::uniform3(0.0f64..4.0).prop_flat_map(|size| {
            let off_center: Vec<DVec3> =
                (0..6).map(|k| DVec3::from(size) + DVec3::AXES[k % 3] * k as f64).collect();
            prop::sample::select(vec![
                Shape::cuboid(size.into()).unwrap(),
                Shape::capsule(size[0], size[1]).unwrap(),
                Shape::cone(size[0], size[1]).unwrap(),
                Shape::hull(&off_center).unwrap(),
            ])
        })
    }

    proptest! {
        #[test]
        fn the_box_of_a_sweep_holds_the_shape_all_along_it(
            shape in shape(), start in pose(), end in pose(), small in any::<bool>(),
        ) {
            // Half of the cases turn by little: there the box must be tight.
            let nearly = DQuat::from_scaled_axis(DVec3::splat(1e-3)) * start.rotation();
            let end = if small { Pose::new(nearly, end.translation()).unwrap() } else { end };
            let sweep = Sweep::new(&shape, &start, &end);
            let whole = sweep.bounds(&shape, &Frame::default(), Frame::default().margin(&shape));
            let motion = sweep.motion();
            for k in 0..=16 {
                let there = motion.pose_at(&start, SPAN * f64::from(k) / 16.0);
                prop_assert!(whole.contains(&shape.bounds(&there)), "at {k}/16: {whole:?}");
            }
            let last = motion.pose_at(&start, SPAN);
            prop_assert!(last.translation().distance(end.translation()) < 1e-9);
            prop_assert!(last.rotation().dot(end.rotation()).abs() > 1.0 - 1e-9);
        }
    }

    #[test]
    fn the_longest_sweep_has_a_motion_and_a_box() {
        let far = |x: f64| Pose::from_translation(DVec3::splat(x)).unwrap();
        let ball = Shape::sphere(1.0).unwrap();
        let sweep = Sweep::new(&ball, &far(-1e60), &far(1e60));
        sweep.motion();
        assert_eq!(sweep.bounds(&ball, &Frame::default(), 0.0), Aabb::EVERYTHING);
    }
}
