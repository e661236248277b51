//! Casts: a shape moved along a straight or turning way until it comes near another.
//!
//! A cast is a time of impact with two choices. A target distance ends it as soon as the shapes are
//! that near: they are advanced as if grown by it, so that it is as safe as the touch itself. And a
//! cast that does not stop at penetration lets shapes that overlap at the start come apart first,
//! and reports where they meet again: while the deepest contact opens, the depth over the greatest
//! speed is a time in which they cannot have parted.

use super::answer::{Contact, Status};
use super::cache::PairCache;
use super::query::Query;
use super::solve::size_of;
use super::time_of_impact::{IMPACT_GAP, Impact, ImpactStatus, Moving, STEPS};
use glam::DVec3;

/// What ends a cast.
///
/// ```
/// use jostle::narrow::{CastOptions, ImpactStatus, Motion, Moving, Placed, cast_shape};
/// use jostle::shape::{Pose, Shape};
///
/// let (hand, wall) = (Shape::sphere(0.5)?, Shape::cuboid([1.0, 9.0, 9.0].into())?);
/// let reach = Motion::new([10.0, 0.0, 0.0].into(), [0.0; 3].into())?;
/// let hand = Moving::new(Placed::new(&hand, Pose::IDENTITY), reach);
/// let wall = Moving::new(Placed::new(&wall, Pose::at([7.5, 0.0, 0.0])?), Motion::STILL);
/// let near = CastOptions::default().with_target_distance(1.0);
/// let impact = cast_shape(&hand, &wall, 1.0, &near);
/// assert_eq!(impact.status, ImpactStatus::Hit);
/// assert!((impact.time - 0.5).abs() < 1e-6); // five of ten, and one is left
/// assert!((impact.contact.distance - 1.0).abs() < 1e-6);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CastOptions {
    /// The cast ends when the shapes are this near to each other; zero or less for touch.
    pub target_distance: f64,
    /// A cast that starts with shapes nearer than the target ends at once. Otherwise it does so
    /// only if they come nearer still; as long as they part it goes on, to where they meet again.
    pub stop_at_penetration: bool,
}

impl CastOptions {
    /// These options with another target distance.
    #[must_use]
    pub const fn with_target_distance(self, target_distance: f64) -> CastOptions {
        CastOptions { target_distance, ..self }
    }

    /// These options with another choice for shapes that overlap at the start.
    #[must_use]
    pub const fn with_stop_at_penetration(self, stop_at_penetration: bool) -> CastOptions {
        CastOptions { stop_at_penetration, ..self }
    }
}

/// Touch, and a stop at penetration: a cast is a time of impact.
impl Default for CastOptions {
    fn default() -> CastOptions {
        CastOptions { target_distance: 0.0, stop_at_penetration: true }
    }
}

impl Query {
    /// The first time in `0..=duration` at which two moving shapes are as near as the target. The
    /// contact is that of the shapes themselves, at that time.
    pub fn cast_shape(
        &mut self,
        a: &Moving<'_>,
        b: &Moving<'_>,
        duration: f64,
        options: &CastOptions,
        cache: &mut PairCache,
    ) -> Impact {
        let plain = *self.options();
        let target = options.target_distance.max(0.0);
        self.set_options(plain.with_margin(plain.margin + target));
        let mut impact = self.time_of_impact(a, b, duration, cache);
        if impact.status == ImpactStatus::AtStart && !options.stop_at_penetration {
            impact = self.after_parting(a, b, duration);
        }
        self.set_options(plain);
        if target > 0.0 {
            let (at_a, at_b) = (a.at(impact.time), b.at(impact.time));
            impact.contact = self.contact(&at_a, &at_b, &mut PairCache::none());
        }
        impact
    }

    /// As the time of impact of shapes that overlap at the start, once they have parted.
    fn after_parting(&mut self, a: &Moving<'_>, b: &Moving<'_>, duration: f64) -> Impact {
        let gap = IMPACT_GAP * size_of(a.start.shape, b.start.shape);
        let speed = fastest(a, b);
        let (mut time, mut steps) = (0.0, 0);
        loop {
            steps += 1;
            let contact = self.contact(&a.at(time), &b.at(time), &mut PairCache::none());
            let ended = |status| Impact { time, status, steps, contact };
            if contact.status == Status::Separated && contact.distance > gap {
                break;
            }
            let rate = opening(a, b, &contact, time);
            if rate.is_nan() || rate <= 0.0 {
                let status = if time == 0.0 { ImpactStatus::AtStart } else { ImpactStatus::Hit };
                return ended(status);
            }
            let next = time + (contact.depth + gap) / speed;
            if steps >= STEPS || next <= time {
                return ended(ImpactStatus::StepLimit);
            }
            if time == duration {
                return ended(ImpactStatus::Miss);
            }
            time = next.min(duration);
        }
        let [later_a, later_b] = [a, b].map(|moving| Moving::new(moving.at(time), moving.motion));
        let none = &mut PairCache::none();
        let impact = self.time_of_impact(&later_a, &later_b, duration - time, none);
        Impact { time: time + impact.time, steps: steps + impact.steps, ..impact }
    }
}

/// How fast the contact opens along its normal.
fn opening(a: &Moving<'_>, b: &Moving<'_>, contact: &Contact, time: f64) -> f64 {
    let velocity = |moving: &Moving<'_>, point: DVec3| {
        let arm = point - moving.at(time).pose.translation();
        moving.motion.linear() + moving.motion.angular().cross(arm)
    };
    (velocity(b, contact.point_b) - velocity(a, contact.point_a)).dot(contact.normal)
}

/// No two points of the shapes part faster than this. Half-spaces do not turn.
fn fastest(a: &Moving<'_>, b: &Moving<'_>) -> f64 {
    let spin = |moving: &Moving<'_>| {
        let shape = moving.start.shape;
        let arm = shape.center().length() + shape.bounding_radius();
        if shape.is_bounded() { moving.motion.angular().length() * arm } else { 0.0 }
    };
    (a.motion.linear() - b.motion.linear()).length() + spin(a) + spin(b)
}

/// The first time in `0..=duration` at which two moving shapes are as near as the target; see
/// [`Query::cast_shape`].
#[must_use]
pub fn cast_shape(a: &Moving<'_>, b: &Moving<'_>, duration: f64, options: &CastOptions) -> Impact {
    Query::default().cast_shape(a, b, duration, options, &mut PairCache::new())
}
