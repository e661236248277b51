//! GJK and ISA-GJK as the thesis prints them (algorithms 2 and 3), with a choice of the solver and
//! of the start.
//!
//! The library's own (`crates/jostle/src/narrow`) are the same loops with care for rounding, radii
//! and cut-offs; these exist to compare solvers and starts under equal conditions. One support
//! search and one reduction a round. Where the loops end by rounding (the new corner is in the
//! simplex already, or the point comes no nearer), the answer is what the last point tells.
//!
//! A start from four directions asks for a tetrahedron before the loop begins (section 6.2.1).
//! Corners that come back twice count once, so that it may be a triangle or less; the cached axis
//! is not used.

use glam::DVec3;

use super::voronoi::{self, Simplex};
use super::{Answer, Memory, Pair, TOUCH, Work, johnson};

/// Rounds after which a pair is given up; what ends at all ends long before.
const ROUNDS: u32 = 500;

/// How the point of a simplex nearest to the origin is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Solver {
    /// Voronoi regions of the newest corner, seven of a tetrahedron: the thesis's choice.
    Seven,
    /// All fourteen.
    Fourteen,
    /// Linear equations.
    Johnson,
}

/// Where a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At the last axis.
    Axis,
    /// At the support points of four directions.
    Four,
}

/// The directions to the corners of a regular tetrahedron.
const FOUR: [DVec3; 4] = [
    DVec3::new(1.0, 1.0, 1.0),
    DVec3::new(1.0, -1.0, -1.0),
    DVec3::new(-1.0, 1.0, -1.0),
    DVec3::new(-1.0, -1.0, 1.0),
];

/// Reduces a simplex to what its nearest point is made of; nothing if the origin is inside.
#[inline]
fn reduce(simplex: &mut Simplex, solver: Solver, work: &mut Work) -> Option<DVec3> {
    work.steps += 1;
    let (point, mask) = match solver {
        Solver::Seven => voronoi::nearest(simplex, false, work)?,
        Solver::Fourteen => voronoi::nearest(simplex, true, work)?,
        Solver::Johnson => johnson::nearest(simplex, work)?,
    };
    simplex.keep(mask);
    Some(point)
}

/// The simplex of four directions, reduced.
fn four(pair: &Pair<'_>, memory: &mut Memory, work: &mut Work) -> Simplex {
    let mut simplex = Simplex::default();
    for direction in FOUR {
        let corner = pair.support(direction, memory, work);
        if !simplex.contains(corner) {
            simplex.push(corner);
        }
    }
    simplex
}

/// Do they touch? The axis that separates them stays in memory.
pub(super) fn isa(
    pair: &Pair<'_>,
    solver: Solver,
    start: Start,
    memory: &mut Memory,
    work: &mut Work,
) -> Answer {
    let touch = TOUCH * pair.size();
    let (mut simplex, mut axis) = (Simplex::default(), memory.axis);
    if start == Start::Four {
        simplex = four(pair, memory, work);
        // A tetrahedron from outside has no newest corner: all regions count.
        let solver = if solver == Solver::Seven { Solver::Fourteen } else { solver };
        match reduce(&mut simplex, solver, work) {
            Some(point) => axis = point,
            None => return Answer::Touching,
        }
    }
    let mut length = f64::INFINITY;
    for _ in 0..ROUNDS {
        let corner = pair.support(-axis, memory, work);
        if axis.dot(corner) > touch * axis.length() {
            memory.axis = axis;
            return Answer::Apart(None);
        }
        if simplex.contains(corner) {
            return end(length, touch);
        }
        simplex.push(corner);
        let Some(point) = reduce(&mut simplex, solver, work) else { return Answer::Touching };
        let now = point.length();
        if now <= touch || now >= length {
            return end(now.min(length), touch);
        }
        (axis, length) = (point, now);
    }
    Answer::Endless
}

/// What the last point tells: its length bounds the distance from above.
fn end(length: f64, touch: f64) -> Answer {
    if length <= touch { Answer::Touching } else { Answer::Apart(None) }
}

/// How far apart are they? Starts at the last axis.
pub(super) fn distance(
    pair: &Pair<'_>,
    solver: Solver,
    memory: &mut Memory,
    work: &mut Work,
) -> Answer {
    let touch = TOUCH * pair.size();
    let mut simplex = Simplex::default();
    let mut point = pair.support(-memory.axis, memory, work);
    simplex.push(point);
    let mut length = point.length();
    for _ in 0..ROUNDS {
        if length <= touch {
            return Answer::Touching;
        }
        memory.axis = point;
        let corner = pair.support(-point, memory, work);
        let gap = length - point.dot(corner) / length;
        if gap <= touch || simplex.contains(corner) {
            return Answer::Apart(Some(length));
        }
        simplex.push(corner);
        let Some(next) = reduce(&mut simplex, solver, work) else { return Answer::Touching };
        if next.length() >= length {
            return Answer::Apart(Some(length));
        }
        (point, length) = (next, next.length());
    }
    Answer::Endless
}
