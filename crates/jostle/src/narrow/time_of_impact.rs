//! Time of impact by conservative advancement: when do two moving shapes first touch?
//!
//! Mirtich (*Impulse-based Dynamic Simulation of Rigid Body Systems*): the distance divided by the
//! greatest speed at which the shapes can close it is a time in which nothing can happen. Advance
//! by it and measure again. The speed bound is taken along the fixed normal of the last
//! measurement: the relative velocity along it, and for each rotation `|n x w|` times the radius of
//! the core about the center of motion: a ball that only spins goes nowhere. It holds for all time
//! after, so that a bound not above zero proves a miss. The pieces of compounds have normals and
//! bounds of their own: what parts the nearest two says nothing about the others.
//!
//! Pure translation of polyhedra ends after a few exact steps; with rotation each step closes a
//! share of the gap, at worst slowly for long thin bodies that spin. Every run is bounded and never
//! steps over a contact: a run that ends early reports a time before which nothing touches.

use super::answer::Contact;
use super::cache::PairCache;
use super::placed::Placed;
use super::query::Query;
use super::solve::size_of;
use crate::shape::{Pose, PoseError, Shape, check_velocity};
use glam::{DQuat, DVec3};

/// Gap, relative to the size, at which shapes have met.
pub const IMPACT_GAP: f64 = 1e-8;

/// Most measurements.
const STEPS: u32 = 512;

/// A steady motion: velocities per unit of time, the rotation about the origin of the pose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    linear: DVec3,
    angular: DVec3,
}

impl Motion {
    /// No motion.
    pub const STILL: Motion = Motion { linear: DVec3::ZERO, angular: DVec3::ZERO };

    /// A motion from its velocities. The angular one is an axis times radians per unit of time.
    pub fn new(linear: DVec3, angular: DVec3) -> Result<Motion, PoseError> {
        check_velocity("linear", linear)?;
        check_velocity("angular", angular)?;
        Ok(Motion { linear, angular })
    }

    /// The velocity.
    pub fn linear(&self) -> DVec3 {
        self.linear
    }

    /// The axis of the rotation times radians per unit of time.
    pub fn angular(&self) -> DVec3 {
        self.angular
    }

    /// Where the motion takes a pose after some time.
    pub fn pose_at(&self, pose: &Pose, time: f64) -> Pose {
        let rotation = if self.angular == DVec3::ZERO {
            pose.rotation()
        } else {
            (DQuat::from_scaled_axis(self.angular * time) * pose.rotation()).normalize()
        };
        // Finite times of limited speeds stay finite; a pose that cannot be made stays put.
        Pose::new(rotation, pose.translation() + self.linear * time).unwrap_or(*pose)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImpactStatus {
    /// They touch or overlap from the start.
    AtStart,
    /// They first touch at the given time.
    Hit,
    /// They do not touch within the duration.
    Miss,
    /// The step limit came first; before the given time nothing touches.
    StepLimit,
}

/// When and how two moving shapes meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// The time of first touch; the duration for a miss.
    pub time: f64,
    /// How the run ended.
    pub status: ImpactStatus,
    /// Measurements of the distance that were made.
    pub steps: u32,
    /// The shapes at that time: on impact within [`IMPACT_GAP`] of touching.
    pub contact: Contact,
}

/// One of the two moving shapes.
///
/// ```
/// use jostle::narrow::{ImpactStatus, Motion, Moving, Placed, time_of_impact};
/// use jostle::shape::{Pose, Shape};
///
/// let (bullet, wall) = (Shape::sphere(0.5)?, Shape::cuboid([1.0, 9.0, 9.0].into())?);
/// let fast = Motion::new([100.0, 0.0, 0.0].into(), [0.0; 3].into())?;
/// let bullet = Moving::new(Placed::new(&bullet, Pose::IDENTITY), fast);
/// let wall = Moving::new(Placed::new(&wall, Pose::at([51.5, 0.0, 0.0])?), Motion::STILL);
/// let impact = time_of_impact(&bullet, &wall, 1.0);
/// assert_eq!(impact.status, ImpactStatus::Hit);
/// assert!((impact.time - 0.5).abs() < 1e-6); // 50 of 100 until their faces meet
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Moving<'a> {
    /// The shape where it starts.
    pub start: Placed<'a>,
    /// How it moves.
    pub motion: Motion,
}

impl<'a> Moving<'a> {
    /// A shape that moves from its place.
    pub const fn new(start: Placed<'a>, motion: Motion) -> Moving<'a> {
        Moving { start, motion }
    }

    /// Where the shape is after some time.
    pub fn at(&self, time: f64) -> Placed<'a> {
        Placed::new(self.start.shape, self.motion.pose_at(&self.start.pose, time))
    }

    /// Greatest speed at which the reach of one of its parts along a unit direction grows, apart
    /// from its translation; `offset` is the center of the part from the center of motion.
    fn spin(&self, part: &Shape, offset: DVec3, direction: DVec3) -> f64 {
        let across = self.motion.angular.cross(direction).length();
        if across == 0.0 {
            return 0.0;
        }
        // The rounding of a core turns with it and reaches as far along the direction as before.
        let core = match part {
            Shape::Sphere { .. } => 0.0,
            Shape::Capsule { half_height, .. } => *half_height,
            shape => shape.bounding_radius(),
        };
        across * (offset.length() + core)
    }
}

/// A convex part of a moving shape: the whole of it, or a piece of a compound.
struct Part<'a> {
    placed: Placed<'a>,
    /// Its center, from the center of motion.
    offset: DVec3,
}

/// The parts of a moving shape at some time.
fn parts<'a>(whole: &Placed<'a>) -> impl Iterator<Item = Part<'a>> + use<'a> {
    let (shape, pose) = (whole.shape, whole.pose);
    let pieces = match shape {
        Shape::Compound(compound) => compound.pieces(),
        _ => &[],
    };
    let convex = pieces.is_empty();
    let single = convex.then(|| Part { placed: Placed::new(shape, pose), offset: shape.center() });
    let pieces = pieces.iter().map(move |piece| Part {
        placed: Placed::new(&piece.shape, pose.compose(&piece.pose)),
        offset: piece.pose.apply(piece.shape.center()),
    });
    single.into_iter().chain(pieces)
}

impl Query {
    /// The first time in `0..=duration` at which two moving shapes touch. Half-spaces may move but
    /// not turn: their far parts would be infinitely fast.
    ///
    /// A cache shared with other questions about the pair saves the first steps of a search.
    pub fn time_of_impact(
        &mut self,
        a: &Moving<'_>,
        b: &Moving<'_>,
        duration: f64,
        cache: &mut PairCache,
    ) -> Impact {
        let (status, time, steps) = self.advance(a, b, duration, cache);
        let contact = self.contact(&a.at(time), &b.at(time), &mut PairCache::none());
        Impact { time, status, steps, contact }
    }

    fn advance(
        &mut self,
        a: &Moving<'_>,
        b: &Moving<'_>,
        duration: f64,
        cache: &mut PairCache,
    ) -> (ImpactStatus, f64, u32) {
        let gap = IMPACT_GAP * size_of(a.start.shape, b.start.shape);
        let (mut time, mut steps) = (0.0, 0);
        while steps < STEPS {
            steps += 1;
            match self.free_time(a, b, time, duration - time, gap, cache) {
                None => {
                    let status = if steps == 1 { ImpactStatus::AtStart } else { ImpactStatus::Hit };
                    return (status, time, steps);
                }
                Some(free) if free == f64::INFINITY => {
                    return (ImpactStatus::Miss, duration, steps);
                }
                Some(free) if time + free <= time => break,
                Some(free) => time += free,
            }
        }
        (ImpactStatus::StepLimit, time, steps)
    }

    /// How long nothing can touch from a time on: infinite if not within what is left, and none if
    /// something touches already. The normal of one pair of parts says nothing about the others,
    /// so that each has a bound of its own, and the least of them counts.
    fn free_time(
        &mut self,
        a: &Moving<'_>,
        b: &Moving<'_>,
        time: f64,
        left: f64,
        gap: f64,
        cache: &mut PairCache,
    ) -> Option<f64> {
        let (at_a, at_b) = (a.at(time), b.at(time));
        let whole =
            !matches!(at_a.shape, Shape::Compound(_)) && !matches!(at_b.shape, Shape::Compound(_));
        let (mut least, mut none) = (f64::INFINITY, PairCache::none());
        for first in parts(&at_a) {
            for second in parts(&at_b) {
                let cache = if whole { &mut *cache } else { &mut none };
                let near = self.closest_points(&first.placed, &second.placed, cache);
                if near.distance <= gap {
                    return None;
                }
                // The lower bound of the distance is what may be advanced by.
                let distance = (near.distance - near.bound).max(0.0);
                let closing = (a.motion.linear - b.motion.linear).dot(near.normal);
                let speed = closing
                    + a.spin(first.placed.shape, first.offset, near.normal)
                    + b.spin(second.placed.shape, second.offset, near.normal);
                // Written so that a speed that is no number counts as too fast to advance.
                if !(speed <= 0.0 || distance > speed * left) {
                    let free = distance / speed;
                    least = if free < least || free.is_nan() { free } else { least };
                }
            }
        }
        Some(least)
    }
}

/// The first time in `0..=duration` at which two moving shapes touch. Half-spaces may move but not
/// turn: their far parts would be infinitely fast.
#[must_use]
pub fn time_of_impact(a: &Moving<'_>, b: &Moving<'_>, duration: f64) -> Impact {
    Query::default().time_of_impact(a, b, duration, &mut PairCache::new())
}
