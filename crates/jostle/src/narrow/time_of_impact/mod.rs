//! Time of impact by conservative advancement: when do two moving shapes first touch?
//!
//! Mirtich (*Impulse-based Dynamic Simulation of Rigid Body Systems*): the distance divided by the
//! greatest speed at which the shapes can close it is a time in which nothing can happen. Advance
//! by it and measure again. How much of the gap along the fixed normal `n` of the last measurement
//! can be closed within a time has two bounds, and the better one counts. Both have the relative
//! velocity along the normal, and for each rotation `w` of a core (a ball that only spins goes
//! nowhere):
//!
//! 1. its fastest point, `|n x w|` times the radius of the core about the center of motion. That
//!    holds for all time.
//! 2. the point that gets furthest, if all go on as they do now, and half the square of the time
//!    times `w²` and that radius for what their velocities change. A point now moves along `n` by
//!    `n·(w x p) = p·(n x w)`, so that one support search along `n + t (n x w)` finds it. Where
//!    shapes pass each other closely, or the far end of a long body is the fast one, this allows
//!    steps as long as the root of the gap, where the first bound allows the gap itself.
//!
//! Both are convex in the time and zero at its beginning, so that a time by whose end no more than
//! the gap is closed is free from beginning to end. The pieces of compounds have normals and bounds
//! of their own: what parts the nearest two says nothing about the others.
//!
//! Pure translation of polyhedra ends after a few exact steps; with rotation each step closes a
//! share of the gap. Every run is bounded and never steps over a contact: a run that ends early
//! reports a time before which nothing touches. Meshes and height fields: see `surfaces.rs`.

mod surfaces;

use super::answer::{Contact, Options, Status};
use super::cache::PairCache;
use super::pieces;
use super::placed::Placed;
use super::query::Query;
use super::solve::{size_of, spheres_apart};
use super::surface;
use crate::shape::{Pose, PoseError, Shape, check_velocity};
use glam::{DQuat, DVec3};

/// Gap, relative to the size, at which shapes have met.
pub const IMPACT_GAP: f64 = 1e-8;

/// Most measurements.
pub(super) const STEPS: u32 = 8192;

/// How often a time is tried for one measurement, each half or less of the one before.
const TRIES: u32 = 12;

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
}

/// How much further one part reaches along a direction as it turns.
struct Spin<'a> {
    part: &'a Part<'a>,
    /// Origin of the part from the center of motion.
    origin: DVec3,
    direction: DVec3,
    /// Change of the direction as the part sees it, per unit of time.
    turn: DVec3,
    /// Reach along the direction, from the center of motion.
    reach: f64,
    /// Greatest speed at which the reach grows.
    fastest: f64,
    /// Greatest change of a speed, halved.
    bend: f64,
}

impl<'a> Spin<'a> {
    /// `None` if the part does not turn, or is as round as it turns.
    fn new(
        moving: &Moving<'_>,
        whole: &Pose,
        part: &'a Part<'a>,
        direction: DVec3,
    ) -> Option<Self> {
        let turn = direction.cross(moving.motion.angular);
        let across = turn.length();
        // The rounding of a core turns with it and reaches as far along the direction as before.
        let core = match part.placed.shape {
            Shape::Sphere { .. } => 0.0,
            Shape::Capsule { half_height, .. } => *half_height,
            Shape::Rounded(rounded) => rounded.shape().bounding_radius(),
            shape => shape.bounding_radius(),
        };
        let radius = part.offset.length() + core;
        // A half-space does not turn, and its radius is infinite.
        if across == 0.0 || radius == 0.0 {
            return None;
        }
        let origin = part.placed.pose.translation() - whole.translation();
        let bend = 0.5 * moving.motion.angular.length_squared() * radius;
        let spin =
            Spin { part, origin, direction, turn, reach: 0.0, fastest: across * radius, bend };
        Some(Spin { reach: spin.furthest(direction), ..spin })
    }

    /// Reach of the core along a vector.
    fn furthest(&self, vector: DVec3) -> f64 {
        let Placed { shape, pose } = &self.part.placed;
        let point = shape.core_support(pose.inverse_apply_vector(vector));
        (self.origin + pose.apply_vector(point)).dot(vector)
    }

    /// The reach cannot grow by more than this within a time. A little more is allowed for, as much
    /// as rounding of the two searches can make of it.
    fn growth(&self, time: f64) -> f64 {
        let ahead = self.furthest(self.direction + self.turn * time) - self.reach;
        let rounding = 16.0 * f64::EPSILON * (self.reach.abs() + self.fastest * time);
        (ahead + self.bend * time * time + rounding).min(self.fastest * time)
    }
}

/// A convex part of a moving shape: the whole of it, or a piece of a compound.
struct Part<'a> {
    placed: Placed<'a>,
    /// Its center, from the center of motion.
    offset: DVec3,
}

/// The parts of a moving shape at some time that can be within `reach` of another one.
fn parts<'a>(
    whole: &Placed<'a>,
    other: &Placed<'_>,
    options: &Options,
    reach: f64,
) -> impl Iterator<Item = Part<'a>> + use<'a> {
    let (shape, pose) = (whole.shape, whole.pose);
    let (mut numbers, mut pieces) = (Vec::new(), &[][..]);
    if let Shape::Compound(compound) = shape {
        pieces = compound.pieces();
        pieces::near(compound, whole, other, options, reach, &mut numbers);
    }
    let convex = pieces.is_empty();
    let single = convex.then(|| Part { placed: Placed::new(shape, pose), offset: shape.center() });
    let pieces = numbers.into_iter().map(move |number| {
        let piece = &pieces[number as usize];
        Part {
            placed: Placed::new(&piece.shape, pose.compose(&piece.pose)),
            offset: piece.pose.apply(piece.shape.center()),
        }
    });
    single.into_iter().chain(pieces)
}

/// No two points of moving shapes close in on each other faster than this.
fn fastest(a: &Moving<'_>, b: &Moving<'_>) -> f64 {
    let spin = |moving: &Moving<'_>| {
        let shape = moving.start.shape;
        let arm = shape.center().length() + shape.bounding_radius();
        // A half-space does not turn, and its radius is infinite.
        if shape.is_bounded() { moving.motion.angular.length() * arm } else { 0.0 }
    };
    (a.motion.linear - b.motion.linear).length() + spin(a) + spin(b)
}

/// How a gap along a normal closes.
struct Closing<'a> {
    /// Relative velocity of the origins.
    linear: f64,
    spins: [Option<Spin<'a>>; 2],
}

impl Closing<'_> {
    fn turns(&self) -> bool {
        self.spins.iter().any(Option::is_some)
    }

    /// No more of the gap than this is closed within a time.
    fn closed(&self, time: f64) -> f64 {
        let growth = |spin: &Option<Spin<'_>>| spin.as_ref().map_or(0.0, |spin| spin.growth(time));
        self.linear * time + growth(&self.spins[0]) + growth(&self.spins[1])
    }

    /// A time in which a gap is not closed; infinite if not within what is left, and no number if
    /// the speed is none.
    fn free_time(&self, gap: f64, left: f64) -> f64 {
        let fastest = |spin: &Option<Spin<'_>>| spin.as_ref().map_or(0.0, |spin| spin.fastest);
        let speed = self.linear + fastest(&self.spins[0]) + fastest(&self.spins[1]);
        if speed <= 0.0 || gap > speed * left {
            return f64::INFINITY;
        }
        let certain = gap / speed;
        // False if anything is no number.
        let sooner = certain < left;
        if !self.turns() || !sooner {
            return certain;
        }
        if self.closed(left) < gap {
            return f64::INFINITY;
        }
        let mut time = left;
        for _ in 0..TRIES {
            // The bound is convex: it is no more than the chord, so that this is free or too long
            // only by what the bound bends.
            let closed = self.closed(time);
            if closed < gap {
                return time.max(certain);
            }
            time = (time * gap / closed).clamp(0.125 * time, 0.75 * time);
            if time <= certain {
                break;
            }
        }
        certain
    }
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
        let (status, time, steps) = if surface::concerns(a.start.shape, b.start.shape) {
            self.surface_impact(a, b, duration)
        } else {
            self.advance(a, b, duration, cache)
        };
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
        // What is further away than all that can be closed has all the time there is.
        let options = *self.options();
        let speed = fastest(a, b) * (1.0 + 1e-9);
        let within = |time: f64| gap.max(speed * time);
        for first in parts(&at_a, &at_b, &options, within(left)) {
            for second in parts(&at_b, &first.placed, &options, within(left.min(least))) {
                let reach = within(left.min(least));
                if !whole && spheres_apart(&first.placed, &second.placed, &options, reach) {
                    continue;
                }
                let cache = if whole { &mut *cache } else { &mut none };
                let near = self.closest_points(&first.placed, &second.placed, cache);
                if near.distance <= gap && near.status != Status::Separated {
                    return None;
                }
                let spins = [
                    Spin::new(a, &at_a.pose, &first, near.normal),
                    Spin::new(b, &at_b.pose, &second, -near.normal),
                ];
                let linear = (a.motion.linear - b.motion.linear).dot(near.normal);
                let closing = Closing { linear, spins };
                // The lower bound of the distance is what may be advanced by. Turning shapes stop
                // halfway into the gap at which they have met: the bound is sharp enough to lead to
                // the very touch, and beyond it by rounding.
                let stop = if closing.turns() { 0.5 * gap } else { 0.0 };
                let distance = (near.distance - near.bound - stop).max(0.0);
                let free = closing.free_time(distance, left.min(least));
                // As good as touching, unless they part.
                if near.distance <= gap && free != f64::INFINITY {
                    return None;
                }
                least = if free < least || free.is_nan() { free } else { least };
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
