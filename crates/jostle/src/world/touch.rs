//! What comes out of a step: touches and events, in the order of pairs.

use super::id::BodyPair;
use crate::narrow::{Contact, ManifoldPoint};

/// Two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Touch {
    /// The bodies; a is in the lower slot.
    pub pair: BodyPair,
    /// When in the step, from 0 to 1. Always 1, its end, unless they met on their way in continuous
    /// mode: then the first time of touch, and they may be apart again at the end.
    pub time: f64,
    /// Depth, normal from a to b, and points, at that time; so are the points of a manifold.
    pub contact: Contact,
    /// Where its points begin, and how many there are.
    pub(super) first: u32,
    pub(super) points: u32,
}

impl Touch {
    /// Its own among the points of a list.
    pub(super) fn points_in<'a>(&self, points: &'a [ManifoldPoint]) -> &'a [ManifoldPoint] {
        &points[self.first as usize..][..self.points as usize]
    }
}

/// The outcome of a step, everything sorted by pair.
///
/// ```
/// use jostle::shape::{Pose, Shape};
/// use jostle::world::Detail;
/// use jostle::{Body, World};
///
/// let mut world = World::default();
/// world.set_detail(Detail::Manifold);
/// let cube = Shape::cuboid([1.0, 1.0, 1.0].into())?;
/// world.insert(Body::new(cube.clone(), Pose::IDENTITY).with_user_data(7))?;
/// world.insert(Body::new(cube, Pose::at([0.0, 1.9, 0.0])?).with_user_data(8))?;
/// let step = world.step()?;
/// for touch in step.touches {
///     let deepest = step.points(touch).iter().map(|point| point.separation);
///     assert!(deepest.fold(0.0, f64::min) < -0.09);
///     assert!(touch.contact.normal.y > 0.99); // from the first body to the second
/// }
/// assert_eq!(step.began.len(), 1);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Step<'a> {
    /// All pairs that touch.
    pub touches: &'a [Touch],
    /// Pairs that touch and did not in the last step.
    pub began: &'a [BodyPair],
    /// Pairs that touched in the last step and do not now, those of removed bodies among them.
    pub ended: &'a [BodyPair],
    pub(super) points: &'a [ManifoldPoint],
}

impl<'a> Step<'a> {
    /// The contact points of one of [`touches`](Step::touches), if manifolds are asked for. Panics
    /// if the touch is of another step that had more points.
    #[must_use]
    pub fn points(&self, touch: &Touch) -> &'a [ManifoldPoint] {
        touch.points_in(self.points)
    }
}

/// Touches and their points.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchList {
    pub touches: Vec<Touch>,
    pub points: Vec<ManifoldPoint>,
}

impl TouchList {
    pub(crate) fn clear(&mut self) {
        self.touches.clear();
        self.points.clear();
    }

    /// Appends a touch with its points, and returns its place.
    pub(crate) fn push(&mut self, touch: &Touch, points: &[ManifoldPoint]) -> u32 {
        let first = self.points.len() as u32;
        self.points.extend_from_slice(touch.points_in(points));
        self.touches.push(Touch { first, ..*touch });
        self.touches.len() as u32 - 1
    }
}
