//! GJK: the distance between two convex sets through support points alone.
//!
//! The origin's distance to the Minkowski difference `a - b` is the distance of the shapes. GJK
//! keeps a simplex of corners of the difference, moves to its point nearest to the origin, and asks
//! for the corner furthest against that point (Gilbert, Johnson and Keerthi, *A Fast Procedure for
//! Computing the Distance between Complex Objects in Three-Dimensional Space*; van den Bergen, *A
//! Fast and Robust GJK Implementation*). Each step gives both bounds: the nearest point `v` from
//! above, and the plane through the new corner `w` across `v`, at `v·w / |v|`, from below. Their
//! gap is the certificate that every answer carries.
//!
//! ```text
//! v = simplex.nearest()
//! repeat: w = support(-v)
//!         lower = max(lower, v·w / |v|)
//!         stop if |v| - lower is within the tolerance, or w is a corner already
//!         v = (simplex + w).nearest(); overlap if the origin is inside or |v| is nothing
//! ```
//!
//! Departures: the bound is kept as the best over all steps; a step that brings no progress is
//! tried once more with all regions of the simplex and ends the run if that fails too, with the gap
//! reached so far; a cut-off ends the run as soon as the lower bound passes it.
//!
//! Cost: two support searches and about a hundred flops a step; three to seven steps for polyhedra,
//! ten to thirty for curved shapes at tight tolerances. Choose it for distances of anything convex.
//! For a yes or no use `isa_gjk`; for depth it only finds the start.
//!
//! Tried and lost: a copy of the simplex per step, to fall back on, took 1.6 times as long on hulls
//! of twelve vertices; solving every step for all regions of the simplex gained no accuracy.

use super::simplex::{Corner, Simplex};
use glam::DVec3;

/// Anything that finds the furthest point of a Minkowski difference.
pub(crate) trait Difference {
    /// The corner of `a - b` furthest along the direction, which need not be of unit length.
    fn support(&mut self, direction: DVec3) -> Corner;

    /// The corner made of two vertices that a search has named, in any frame; none for sets that
    /// have no vertices.
    fn corner(&self, _ids: [u32; 2]) -> Option<Corner> {
        None
    }
}

/// How far a run goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The run ends when the bounds are this close.
    pub gap: f64,
    /// Distances up to this count as overlap.
    pub touch: f64,
    /// The run ends when the lower bound is above this: the caller needs no exact distance there.
    pub cut_off: f64,
    /// Most support searches.
    pub steps: u32,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The bounds met.
    Converged,
    /// The origin is inside the difference or within the touch limit of it.
    Overlap,
    /// The lower bound passed the cut-off.
    CutOff,
    /// Rounding stopped all progress before the bounds met.
    Stalled,
    /// The step limit came first.
    StepLimit,
}

/// What a run found, apart from the simplex whose corners mix to the nearest point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// From the origin to the nearest point found of the difference: from b to a.
    pub nearest: DVec3,
    /// Certified lower bound of the distance, up to rounding.
    pub lower: f64,
    /// Certified upper bound of the distance: the length of `nearest`.
    pub upper: f64,
    /// Why it ended.
    pub end: End,
    /// Support searches made.
    pub steps: u32,
}

/// Runs GJK from the corners in `simplex`, or along `axis` when there are none, and leaves the last
/// simplex there.
pub(crate) fn run(
    difference: &mut impl Difference,
    simplex: &mut Simplex,
    axis: DVec3,
    limits: &Limits,
) -> Outcome {
    let nearest = first(difference, simplex, axis);
    let upper = nearest.length();
    let mut state = Outcome { nearest, lower: 0.0, upper, end: End::StepLimit, steps: 0 };
    while state.upper > limits.touch && state.steps < limits.steps {
        state.steps += 1;
        let corner = difference.support(-state.nearest);
        if let Some(end) = step(&mut state, simplex, corner, limits) {
            state.end = end;
            return state;
        }
    }
    if state.upper <= limits.touch {
        state.end = End::Overlap;
    }
    state
}

/// The nearest point of the first simplex; zero if the origin is inside.
#[inline]
fn first(difference: &mut impl Difference, simplex: &mut Simplex, axis: DVec3) -> DVec3 {
    if simplex.corners().is_empty() {
        let axis = if axis == DVec3::ZERO { DVec3::X } else { axis };
        let corner = difference.support(-axis);
        simplex.push(corner);
        return corner.point;
    }
    simplex.reduce().unwrap_or(DVec3::ZERO)
}

/// Takes one corner in. Answers when the run is over.
#[inline]
fn step(
    state: &mut Outcome,
    simplex: &mut Simplex,
    corner: Corner,
    limits: &Limits,
) -> Option<End> {
    let height = corner.point.dot(state.nearest) / state.upper;
    state.lower = state.lower.max(height);
    if state.lower > limits.cut_off {
        return Some(End::CutOff);
    }
    if state.upper - height <= limits.gap + 4.0 * f64::EPSILON * state.upper {
        return Some(End::Converged);
    }
    if simplex.contains(corner.point) {
        return Some(End::Stalled);
    }
    simplex.push(corner);
    let Some((nearest, mask)) = simplex.nearest() else {
        (state.nearest, state.upper, state.lower) = (DVec3::ZERO, 0.0, 0.0);
        return Some(End::Overlap);
    };
    let upper = nearest.length();
    if upper < state.upper {
        simplex.keep(mask);
        (state.nearest, state.upper) = (nearest, upper);
        return None;
    }
    retry(state, simplex)
}

/// No progress with the newest corner: tries all regions once, then gives up with what there was.
#[cold]
fn retry(state: &mut Outcome, simplex: &mut Simplex) -> Option<End> {
    let mut turned = *simplex;
    let nearest = turned.reduce_any();
    let upper = nearest.map_or(0.0, |nearest| nearest.length());
    if upper >= state.upper {
        simplex.pop();
        return Some(End::Stalled);
    }
    *simplex = turned;
    (state.nearest, state.upper) = (nearest.unwrap_or_default(), upper);
    nearest.is_none().then_some(End::Overlap)
}
