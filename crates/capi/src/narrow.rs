//! Questions about pairs of shapes.

use std::sync::Arc;

use engine::narrow::{ImpactStatus, Motion, Moving, Options, PairCache, Placed, Query};
use engine::shape::{LIMIT, Pose, Shape};

use crate::memory::{check_room, copy_out, slice};
use crate::shape::{SHAPES, jostle_shape, located};
use crate::status::{Fault, bad_pose, guard, jostle_status};
use crate::types::{jostle_contact, jostle_pose};

/// A shape at a pose.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_placed {
    /// The shape.
    pub shape: jostle_shape,
    /// Where it is.
    pub pose: jostle_pose,
}

/// A steady motion.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_motion {
    /// How far it goes in one unit of time.
    pub linear: [f64; 3],
    /// An axis times radians per unit of time. Half-spaces do not turn.
    pub angular: [f64; 3],
}

/// The first touch of two shapes that move.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct jostle_impact {
    /// When they first touch; the duration if they do not.
    pub time: f64,
    /// 0 at the start, 1 at `time`, 2 not within the duration, 3 undecided but not before `time`.
    pub status: u32,
    /// Measurements of the distance that were made.
    pub steps: u32,
    /// How they are to each other at that time.
    pub contact: jostle_contact,
}

/// Shapes and poses that a call holds on to.
struct Side {
    shapes: Vec<Arc<Shape>>,
    poses: Vec<Pose>,
}

impl Side {
    fn read(placed: &[jostle_placed]) -> Result<Side, Fault> {
        let each = || placed.iter().enumerate();
        let shape = |(index, one): (usize, &jostle_placed)| {
            SHAPES.get(one.shape.handle).map_err(|fault| located(index, fault))
        };
        Ok(Side {
            shapes: each().map(shape).collect::<Result<_, _>>()?,
            poses: each().map(|(index, one)| one.pose.checked(index)).collect::<Result<_, _>>()?,
        })
    }

    fn at(&self, index: usize) -> Placed<'_> {
        Placed::new(&self.shapes[index], self.poses[index])
    }
}

/// Asks about each pair and writes the answers.
unsafe fn each<T: Copy>(
    a: *const jostle_placed,
    b: *const jostle_placed,
    count: usize,
    margin: f64,
    out: *mut T,
    mut ask: impl FnMut(&mut Query, usize, &Placed<'_>, &Placed<'_>) -> Result<T, Fault>,
) -> Result<(), Fault> {
    // SAFETY: the caller's word.
    let (a, b) = unsafe { (slice(a, count, "a")?, slice(b, count, "b")?) };
    check_room(out, count, "out")?;
    if !(margin.is_finite() && margin >= 0.0) {
        return Err(Fault::argument(format!("margin {margin} is no distance; give 0 or more")));
    }
    let (a, b) = (Side::read(a)?, Side::read(b)?);
    let mut query = Query::new(Options::default().with_margin(margin));
    let answers = (0..count).map(|k| ask(&mut query, k, &a.at(k), &b.at(k)));
    let answers: Vec<T> = answers.collect::<Result<_, _>>()?;
    // SAFETY: the caller's word.
    unsafe { copy_out(&answers, out, "out") }
}

/// How each of `count` pairs of shapes are to each other. A margin makes both shapes rounder and
/// larger by half of it each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contacts(
    a: *const jostle_placed,
    b: *const jostle_placed,
    count: usize,
    margin: f64,
    out: *mut jostle_contact,
) -> jostle_status {
    guard(|| {
        let ask = |query: &mut Query, _: usize, a: &Placed<'_>, b: &Placed<'_>| {
            Ok(query.contact(a, b, &mut PairCache::none()).into())
        };
        // SAFETY: the caller's word.
        unsafe { each(a, b, count, margin, out, ask) }
    })
}

/// How far each of `count` pairs of shapes are apart, 0 if they touch or overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_distances(
    a: *const jostle_placed,
    b: *const jostle_placed,
    count: usize,
    margin: f64,
    out: *mut f64,
) -> jostle_status {
    guard(|| {
        let ask = |query: &mut Query, _: usize, a: &Placed<'_>, b: &Placed<'_>| {
            Ok(query.distance(a, b, &mut PairCache::none()))
        };
        // SAFETY: the caller's word.
        unsafe { each(a, b, count, margin, out, ask) }
    })
}

/// Whether each of `count` pairs of shapes touch or overlap: 1 or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_intersects(
    a: *const jostle_placed,
    b: *const jostle_placed,
    count: usize,
    margin: f64,
    out: *mut u8,
) -> jostle_status {
    guard(|| {
        let ask = |query: &mut Query, _: usize, a: &Placed<'_>, b: &Placed<'_>| {
            Ok(query.intersects(a, b, &mut PairCache::none()).hit.into())
        };
        // SAFETY: the caller's word.
        unsafe { each(a, b, count, margin, out, ask) }
    })
}

fn motion(motion: &jostle_motion, index: usize, shape: &Shape) -> Result<Motion, Fault> {
    let made = Motion::new(motion.linear.into(), motion.angular.into());
    let made = made.map_err(|fault| bad_pose(index, fault))?;
    if matches!(shape, Shape::HalfSpace { .. }) && motion.angular != [0.0; 3] {
        return Err(Fault::argument(format!("number {index}: a half_space may not turn")));
    }
    Ok(made)
}

/// When each of `count` pairs of moving shapes first touch, from time 0 to `duration`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_impacts(
    a: *const jostle_placed,
    b: *const jostle_placed,
    motions_a: *const jostle_motion,
    motions_b: *const jostle_motion,
    count: usize,
    duration: f64,
    out: *mut jostle_impact,
) -> jostle_status {
    guard(|| {
        if !(0.0..=LIMIT).contains(&duration) {
            return Err(Fault::argument(format!("duration {duration} is no time; give 0 or more")));
        }
        // SAFETY: the caller's word.
        let motions_a = unsafe { slice(motions_a, count, "motions_a") }?;
        // SAFETY: the caller's word.
        let motions_b = unsafe { slice(motions_b, count, "motions_b") }?;
        let ask = |query: &mut Query, k: usize, a: &Placed<'_>, b: &Placed<'_>| {
            let one = Moving::new(*a, motion(&motions_a[k], k, a.shape)?);
            let other = Moving::new(*b, motion(&motions_b[k], k, b.shape)?);
            let impact = query.time_of_impact(&one, &other, duration, &mut PairCache::none());
            Ok(jostle_impact {
                time: impact.time,
                status: match impact.status {
                    ImpactStatus::AtStart => 0,
                    ImpactStatus::Hit => 1,
                    ImpactStatus::Miss => 2,
                    ImpactStatus::StepLimit => 3,
                },
                steps: impact.steps,
                contact: impact.contact.into(),
            })
        };
        // SAFETY: the caller's word.
        unsafe { each(a, b, count, 0.0, out, ask) }
    })
}
