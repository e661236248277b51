//! Surfaces against surfaces.
//!
//! Two meshes are asked as [`MeshPair`] does, exactly and by both trees. Where they touch, the
//! depth is that of the deepest two triangles. Everything with a height field in it, in two
//! dimensions or grown by a margin, goes over the triangles of one surface and asks the other.

use super::super::answer::{Ending, Signed};
use super::super::pair::{Core, Cores, relative};
use super::super::placed::Placed;
use super::super::solve::{Goal, Memory, Request};
use super::super::witness;
use super::body::Body;
use super::{Found, Surface, against, axes, closed};
use crate::mesh::MeshPair;
use crate::shape::mesh::{Fill, Mesh};
use crate::shape::{PoseMatrix, Shape};
use glam::DVec3;

/// Most pairs of touching triangles that the deepest is looked for among. More than that have
/// meshes that lie on each other, or hostile ones.
const MOST_PAIRS: usize = 1 << 18;

pub(super) fn solve(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Found> {
    if let (Shape::Mesh(one), Shape::Mesh(other)) = (a.shape, b.shape)
        && !request.options.flat
        && request.options.margin == 0.0
    {
        return meshes((a, one), (b, other), request, memory);
    }
    triangle_by_triangle(a, b, request, memory)
}

fn meshes(
    (a, one): (&Placed<'_>, &Mesh),
    (b, other): (&Placed<'_>, &Mesh),
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Found> {
    let pair = MeshPair::new(one, &a.pose, other, &b.pose);
    let size = one.bounding_radius() + other.bounding_radius();
    if request.goal == Goal::Contact {
        let (pairs, whole) = pair.some_pairs(MOST_PAIRS);
        if !pairs.is_empty() {
            return Some(deepest((a, one), (b, other), &pairs, whole, memory));
        }
        if let Some(found) = held((a, one), (b, other)) {
            return Some(found);
        }
    }
    let near = pair.closest_within(request.reach)?;
    let normal = (near.point_b - near.point_a).try_normalize().unwrap_or(DVec3::X);
    let bound = near.bound + 16.0 * f64::EPSILON * size;
    let signed = Signed {
        signed: near.distance,
        normal,
        on_a: near.point_a,
        on_b: near.point_b,
        bound,
        ending: Ending::Converged,
    };
    Some(Found { signed, pieces: [near.triangle_a, near.triangle_b] })
}

fn deepest(
    (a, one): (&Placed<'_>, &Mesh),
    (b, other): (&Placed<'_>, &Mesh),
    pairs: &[(u32, u32)],
    whole: bool,
    memory: &mut Memory<'_>,
) -> Found {
    let b_in_a = relative(&a.pose, &b.pose);
    let place = |triangle: u32| other.corners(triangle).map(|corner| b_in_a.apply(corner));
    let mut best: Option<Found> = None;
    for &(i, j) in pairs {
        let (first, second) = (one.corners(i), place(j));
        let (separation, normal) = axes::triangles(&first, &second).unwrap_or((0.0, DVec3::X));
        let signed = closed(separation.min(0.0), normal, first[0], one.bounding_radius());
        let found = Found { signed, pieces: [i, j] };
        if found.is_before(&best) {
            best = Some(found);
        }
    }
    // There is at least one pair.
    let found = best.expect("a pair of triangles");
    let (first, second) = (one.corners(found.pieces[0]), place(found.pieces[1]));
    let cores = Cores {
        a: Core::Triangle(&first),
        b: Core::Triangle(&second),
        b_in_a: PoseMatrix::IDENTITY,
        hints: [0; 2],
        searches: 0,
    };
    let facets = &mut memory.scratch.get_or_insert_default().facets;
    let on_a = witness::deepest(&cores, found.signed.normal, facets);
    let (bound, ending) = if whole {
        (found.signed.bound, Ending::Closed)
    } else {
        (f64::INFINITY, Ending::StepLimit)
    };
    let signed = Signed {
        normal: a.pose.apply_vector(found.signed.normal),
        on_a: a.pose.apply(on_a),
        bound,
        ending,
        ..found.signed
    };
    Found { signed: signed.with_other_point(), pieces: found.pieces }
}

/// A part of one mesh inside the other, whose surfaces do not touch: its first vertex has to leave.
fn held((a, one): (&Placed<'_>, &Mesh), (b, other): (&Placed<'_>, &Mesh)) -> Option<Found> {
    let inside = |solid: &Mesh, at: &Placed<'_>, part: &Mesh, there: &Placed<'_>| {
        if solid.fill() != Fill::Solid {
            return None;
        }
        let points = part.part_points().into_iter();
        let mut points = points.map(|point| at.pose.inverse_apply(there.pose.apply(point)));
        let point = points.find(|point| solid.encloses(*point))?;
        let near = solid.project(point);
        let normal = (near.point - point).try_normalize().unwrap_or(DVec3::X);
        let depth = near.point.distance(point);
        let signed = closed(-depth, at.pose.apply_vector(normal), at.pose.apply(near.point), depth);
        let signed = Signed { bound: f64::INFINITY, ..signed.with_other_point() };
        Some(Found { signed, pieces: [near.triangle, 0] })
    };
    inside(one, a, other, b).or_else(|| inside(other, b, one, a).map(Found::mirrored))
}

fn triangle_by_triangle(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Found> {
    let (first, second) = (Surface::of(a.shape)?, Surface::of(b.shape)?);
    let whole = Body::new(&a.pose, b, &request.options);
    let (low, high) = whole.bounds();
    let mut request = *request;
    let mut best: Option<Found> = None;
    first.near(low, high, whole.limit(request.reach), |number, corners| {
        let triangle = Shape::Triangle { points: *corners };
        let placed = Placed::new(&triangle, a.pose);
        if let Some(found) = against(second, &b.pose, &placed, &request, memory) {
            let found = Found { pieces: [number, found.pieces[0]], ..found.mirrored() };
            if found.is_before(&best) {
                request.reach = found.signed.signed.max(0.0);
                best = Some(found);
                if request.goal == Goal::Boolean {
                    return -1.0;
                }
            }
        }
        whole.limit(request.reach)
    });
    best
}
