//! What comes out of a step: touches and events, in the order of pairs.

use std::fmt;

use super::id::{BodyId, BodyPair};
use super::pairs::{PairState, Told};
use crate::narrow::{Contact, ManifoldPoint};

/// Two bodies that touch, or are near.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Touch {
    /// The bodies; a is in the lower slot.
    pub pair: BodyPair,
    /// When in the step, from 0 to 1. Always 1, its end, unless they met on their way in continuous
    /// mode: then the first time of touch, and they may be apart again at the end.
    pub time: f64,
    /// Depth or distance, normal from a to b, and points, at that time; so are the points of a
    /// manifold.
    pub contact: Contact,
    /// The place of its state among the pairs of boxes.
    pub(super) state: u32,
    /// The place of the point of two balls, which have no memory.
    pub(super) point: u32,
}

impl Touch {
    /// What a place in a list holds until its touch is written.
    pub(super) fn unwritten(pair: BodyPair) -> Touch {
        Touch { pair, time: 1.0, contact: Contact::NONE, state: u32::MAX, point: 0 }
    }

    /// The state of its pair, if it is still a pair of boxes.
    pub(super) fn state_in<'a>(&self, states: &'a [PairState]) -> Option<&'a PairState> {
        let state = states.get(self.state as usize)?;
        let same = (state.pair.a(), state.pair.b()) == (self.pair.a().slot(), self.pair.b().slot());
        same.then_some(state)
    }
}

impl PartialEq for Touch {
    fn eq(&self, other: &Touch) -> bool {
        (self.pair, self.time, self.contact) == (other.pair, other.time, other.contact)
    }
}

impl fmt::Debug for Touch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Touch { pair, time, contact, .. } = self;
        f.debug_struct("Touch")
            .field("pair", pair)
            .field("time", time)
            .field("contact", contact)
            .finish_non_exhaustive()
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
#[derive(Clone, Copy, Default)]
#[non_exhaustive]
pub struct Step<'a> {
    /// All pairs that touch, but for those in [`overlaps`](Step::overlaps).
    pub touches: &'a [Touch],
    /// Pairs that are apart by no more than the [reach](super::World::set_reach): distances, and
    /// contact points before they touch.
    pub near: &'a [Touch],
    /// Pairs that touch and of which nothing more is known: one is a
    /// [sensor](super::Body::with_sensor), or the world is asked for
    /// [`Detail::Boolean`](super::Detail::Boolean).
    pub overlaps: &'a [BodyPair],
    /// Pairs that touch and did not in the last step.
    pub began: &'a [BodyPair],
    /// Pairs that touched in the last step and do not now, those of removed bodies among them.
    pub ended: &'a [BodyPair],
    /// Bodies that slept until something touched them, or went away from them, in this step;
    /// ascending.
    pub woken: &'a [BodyId],
    pub(super) states: &'a [PairState],
    /// The points of balls.
    pub(super) singles: &'a [ManifoldPoint],
}

impl<'a> Step<'a> {
    /// The contact points of one of [`touches`](Step::touches) or [`near`](Step::near), if
    /// manifolds are asked for; none for a touch of another step whose pair is not here.
    #[must_use]
    pub fn points(&self, touch: &Touch) -> &'a [ManifoldPoint] {
        let Some(state) = touch.state_in(self.states) else { return &[] };
        match &state.memory {
            _ if state.round => self.single(state),
            Some(memory) => memory.points.as_slice(),
            None => &[],
        }
    }

    /// The point of two balls, if points are asked for.
    fn single(&self, state: &PairState) -> &'a [ManifoldPoint] {
        let list = match state.told {
            Told::Touch => self.touches,
            Told::Near => self.near,
            Told::Nothing | Told::Overlap => return &[],
        };
        let place = list.get(state.place as usize).map(|touch| touch.point as usize);
        place.and_then(|place| self.singles.get(place..=place)).unwrap_or_default()
    }

    /// The contact points of a touch in groups of the same two [pieces](ManifoldPoint::pieces).
    /// With [`Detail::Pieces`](super::Detail::Pieces) each is a whole manifold.
    pub fn manifolds(&self, touch: &Touch) -> impl Iterator<Item = &'a [ManifoldPoint]> + use<'a> {
        self.points(touch).chunk_by(|one, other| one.pieces == other.pieces)
    }

    /// The impulses that a solver has left at the points of a touch: see
    /// [`World::impulses_mut`](super::World::impulses_mut). Empty before it has.
    #[must_use]
    pub fn impulses(&self, touch: &Touch) -> &'a [[f64; 3]] {
        let memory = touch.state_in(self.states).and_then(|state| state.memory.as_ref());
        memory.map_or(&[], |memory| &memory.impulses)
    }

    fn all_points(&self) -> impl Iterator<Item = &'a [ManifoldPoint]> + '_ {
        self.touches.iter().chain(self.near).map(|touch| self.points(touch))
    }
}

impl PartialEq for Step<'_> {
    fn eq(&self, other: &Step<'_>) -> bool {
        self.touches == other.touches
            && self.near == other.near
            && self.overlaps == other.overlaps
            && (self.began, self.ended) == (other.began, other.ended)
            && self.woken == other.woken
            && self.all_points().eq(other.all_points())
    }
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points: Vec<&[ManifoldPoint]> = self.all_points().collect();
        f.debug_struct("Step")
            .field("touches", &self.touches)
            .field("near", &self.near)
            .field("overlaps", &self.overlaps)
            .field("began", &self.began)
            .field("ended", &self.ended)
            .field("woken", &self.woken)
            .field("points", &points)
            .finish_non_exhaustive()
    }
}
