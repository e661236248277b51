//! The narrow phase: do two shapes touch, how far apart are they, how deep, where, along which normal?
//!
//! | question | function | answer |
//! |---|---|---|
//! | do they touch? | [`intersects`] | yes or no |
//! | how far apart, where? | [`distance`], [`closest_points`] | distance, nearest points |
//! | and how deep? | [`contact`], [`contact_within`] | distance or depth, normal, points |
//! | what holds them apart? | [`manifold`] | up to four points with lasting numbers |
//! | when do they meet? | [`time_of_impact`] | the first time of touch |
//!
//! Distance and depth come from one decision: exactly one of them is positive, or both are zero and
//! the status says [`Status::Touching`]. The tolerance for that is [`TOUCH`], the same for every
//! algorithm. Swapping a and b gives the same numbers with the normal turned round, bit by bit.
//!
//! Each question has a `_cached` form that takes the pair's [`PairCache`] for coherent motion.
//!
//! Touching counts as intersecting. Flat shapes (triangles, flat hulls, boxes without height) have
//! a proper depth against anything that is not in their plane; two flat shapes in one plane overlap
//! with depth zero, hence touch. The depth of a compound is that of its deepest piece: moving by it
//! frees that piece, not always the whole. Two half-spaces that are not opposite have infinite depth.
//!
//! | file | holds |
//! |---|---|
//! | `gjk.rs`, `simplex.rs` | distance of any convex pair |
//! | `isa_gjk.rs` | yes or no by a separating axis |
//! | `epa/`, `sat.rs` | depth, by growing a polytope or by trying all axes |
//! | `closed.rs`, `box_box.rs`, `half_space.rs` | closed forms |
//! | `coaxial.rs` | depth of bodies of revolution on one axis |
//! | `pair.rs`, `solve.rs`, `depth.rs` | canonical order and frame; which method answers, and for depths |
//! | `feature.rs`, `clip.rs`, `witness.rs` | faces and edges in contact, and their common points |
//! | `manifold.rs`, `time_of_impact.rs` | the two questions that build on contacts and distances |
//! | `cache.rs`, `warm.rs` | what a pair remembers between frames, and the first try with it |

mod answer;
mod box_box;
mod cache;
mod clip;
mod closed;
mod coaxial;
mod depth;
pub mod epa;
mod feature;
pub mod gjk;
mod half_space;
pub mod isa_gjk;
mod manifold;
mod pair;
mod sat;
pub mod simplex;
mod solve;
mod time_of_impact;
mod warm;
mod witness;

pub use answer::{Closest, Contact, Ending, Intersection, Method, Options, Status, TOUCH};
pub use cache::PairCache;
pub use manifold::{Manifold, ManifoldPoint, manifold, manifold_cached};
pub use time_of_impact::{IMPACT_GAP, Impact, ImpactStatus, Motion, Moving, time_of_impact};

use crate::shape::{Pose, Shape};
use solve::{Goal, Placed, Request, size_of, solve};

/// Whether two shapes touch or overlap.
pub fn intersects(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Intersection {
    intersects_cached(a, pose_a, b, pose_b, &Options::default(), &mut PairCache::unused())
}

/// As [`intersects`], with settings and the pair's memory.
pub fn intersects_cached(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    options: &Options,
    cache: &mut PairCache,
) -> Intersection {
    let reach = answer::touch_tolerance(size_of(a, b));
    let request = Request { goal: Goal::Boolean, options: *options, reach };
    let answer = ask(a, pose_a, b, pose_b, &request, cache);
    let ending = answer.as_ref().map_or(Ending::Converged, |answer| answer.ending);
    Intersection { hit: answer.is_some(), ending }
}

/// The distance of two shapes; zero when they touch or overlap.
pub fn distance(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> f64 {
    closest_points(a, pose_a, b, pose_b).distance
}

/// The nearest points of two shapes and their distance.
pub fn closest_points(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Closest {
    closest_points_cached(a, pose_a, b, pose_b, &Options::default(), &mut PairCache::unused())
}

/// As [`closest_points`], with settings and the pair's memory.
pub fn closest_points_cached(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    options: &Options,
    cache: &mut PairCache,
) -> Closest {
    let request = Request { goal: Goal::Distance, options: *options, reach: f64::INFINITY };
    let contact = match ask(a, pose_a, b, pose_b, &request, cache) {
        Some(answer) => answer.contact(size_of(a, b)),
        None => unreachable_answer(),
    };
    Closest {
        distance: contact.distance,
        normal: contact.normal,
        point_a: contact.point_a,
        point_b: contact.point_b,
        bound: contact.bound,
        status: contact.status,
        ending: contact.ending,
    }
}

/// Distance or depth of two shapes, with normal and points.
pub fn contact(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Contact {
    contact_cached(a, pose_a, b, pose_b, &Options::default(), &mut PairCache::unused())
}

/// As [`contact`], with settings and the pair's memory.
pub fn contact_cached(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    options: &Options,
    cache: &mut PairCache,
) -> Contact {
    contact_within_cached(a, pose_a, b, pose_b, f64::INFINITY, options, cache)
        .unwrap_or_else(unreachable_answer)
}

/// As [`contact`], for shapes up to `reach` apart; `None` for those further apart, which is found
/// out much faster than their distance.
pub fn contact_within(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    reach: f64,
) -> Option<Contact> {
    let cache = &mut PairCache::unused();
    contact_within_cached(a, pose_a, b, pose_b, reach, &Options::default(), cache)
}

/// As [`contact_within`], with settings and the pair's memory.
pub fn contact_within_cached(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    reach: f64,
    options: &Options,
    cache: &mut PairCache,
) -> Option<Contact> {
    let size = size_of(a, b);
    let reach = reach.max(0.0) + answer::touch_tolerance(size);
    let request = Request { goal: Goal::Contact, options: *options, reach };
    let answer = ask(a, pose_a, b, pose_b, &request, cache)?;
    Some(answer.contact(size))
}

#[inline(always)]
fn ask(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    request: &Request,
    cache: &mut PairCache,
) -> Option<answer::Signed> {
    let (a, b) = (Placed { shape: a, pose: pose_a }, Placed { shape: b, pose: pose_b });
    solve(a, b, request, cache)
}

/// A query without limit has an answer unless a compound has no pieces or sizes are not numbers.
fn unreachable_answer() -> Contact {
    Contact {
        distance: f64::INFINITY,
        depth: 0.0,
        normal: glam::DVec3::X,
        point_a: glam::DVec3::ZERO,
        point_b: glam::DVec3::ZERO,
        bound: f64::INFINITY,
        status: Status::Separated,
        ending: Ending::Stalled,
    }
}
