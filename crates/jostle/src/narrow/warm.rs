//! The first try of a pair that remembers: do the features of the last frame still answer?
//!
//! Between near frames the nearest points mostly stay on the same vertex, edge or face of either
//! shape. Then one look proves it: the corners of the last simplex are placed with the new poses,
//! the foot of the origin must lie inside their span, and one support search along it must find
//! nothing nearer. That is the last step of GJK without the steps before, and without its
//! bookkeeping: all of it stays in registers. And pairs that were apart by more than was asked are
//! still so if one search along the last axis says so.
//!
//! A wrong guess costs a support search and some fifty flops; GJK then starts from the same
//! corners.

use super::cache::PairCache;
use super::gjk::{Difference, Limits};
use super::pair::Cores;
use super::simplex::foot_inside;
use glam::DVec3;

/// What one look has proven.
pub(crate) struct Known {
    /// From b to a: the nearest point of the difference, or an axis that parts the shapes.
    pub nearest: DVec3,
    pub upper: f64,
    pub lower: f64,
    /// The nearest point of a; none for shapes further apart than the cut-off.
    pub on_a: Option<DVec3>,
}

/// The distance if the last frame's features still give it, within the same limits as GJK's.
#[inline(always)]
pub(crate) fn verify(cores: &mut Cores<'_>, cache: &PairCache, limits: &Limits) -> Option<Known> {
    if cache.was_cut_off() {
        return still_cut_off(cores, cache.axis(), limits);
    }
    let (nearest, on_a) = foot(cores, cache.ids())?;
    let upper = nearest.length();
    if upper <= limits.touch {
        return None;
    }
    let lower = cores.support(-nearest).point.dot(nearest) / upper;
    if lower > limits.cut_off {
        return Some(Known { nearest, upper, lower, on_a: None });
    }
    let converged = upper - lower <= limits.gap + 4.0 * f64::EPSILON * upper;
    converged.then_some(Known { nearest, upper, lower, on_a: Some(on_a) })
}

/// A point that both shapes share, on a, if the last tetrahedron still holds the origin.
#[inline(always)]
pub(crate) fn still_overlaps(cores: &Cores<'_>, cache: &PairCache) -> Option<DVec3> {
    let [p, q, r, s] = *cache.ids() else { return None };
    let (p, q) = (cores.corner(p)?, cores.corner(q)?);
    let (r, s) = (cores.corner(r)?, cores.corner(s)?);
    let [at_p, at_q, at_r, at_s] = foot_inside::tetrahedron(p.point, q.point, r.point, s.point)?;
    Some(p.on_a * at_p + q.on_a * at_q + r.on_a * at_r + s.on_a * at_s)
}

/// One search along the last axis.
#[inline(always)]
fn still_cut_off(cores: &mut Cores<'_>, axis: DVec3, limits: &Limits) -> Option<Known> {
    let upper = axis.length();
    let lower = cores.support(-axis).point.dot(axis) / upper;
    (lower > limits.cut_off).then_some(Known { nearest: axis, upper, lower, on_a: None })
}

/// The point nearest to the origin if it lies inside the span of the corners, and its place on a.
#[inline(always)]
fn foot(cores: &Cores<'_>, ids: &[[u32; 2]]) -> Option<(DVec3, DVec3)> {
    match *ids {
        [p] => {
            let p = cores.corner(p)?;
            Some((p.point, p.on_a))
        }
        [p, q] => {
            let (p, q) = (cores.corner(p)?, cores.corner(q)?);
            let (nearest, [at_p, at_q]) = foot_inside::edge(p.point, q.point)?;
            Some((nearest, p.on_a * at_p + q.on_a * at_q))
        }
        [p, q, r] => {
            let (p, q, r) = (cores.corner(p)?, cores.corner(q)?, cores.corner(r)?);
            let (nearest, [at_p, at_q, at_r]) = foot_inside::triangle(p.point, q.point, r.point)?;
            Some((nearest, p.on_a * at_p + q.on_a * at_q + r.on_a * at_r))
        }
        _ => None,
    }
}
