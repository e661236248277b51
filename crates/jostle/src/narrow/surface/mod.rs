//! Meshes and height fields against everything.
//!
//! A surface answers as its triangles do: the signed distance of a pair is the least over all
//! triangles, so that the depth is that of the deepest one, as with the pieces of a compound. The
//! tree of a mesh, or the grid of a field, leads to the triangles near the other shape's box, in
//! the frame of the surface; the best answer so far shrinks the search. Balls, capsules and boxes
//! meet triangles in closed form or by thirteen axes; everything else goes through GJK and EPA,
//! triangle by triangle. Meshes against meshes descend both trees at once.
//!
//! A solid mesh holds what is inside it. A shape whose center is inside has to leave by the point
//! of the surface nearest to its center, and its depth is how far it has to go that way; for a ball
//! that is the least there is. Half-spaces need no triangles: the furthest vertex decides.
//!
//! | file | holds |
//! |---|---|
//! | `body.rs` | a convex shape made ready, and its answer for one triangle |
//! | `axes.rs` | triangles against boxes and triangles, by their axes |
//! | `meshes.rs` | surfaces against surfaces |
//! | `touch.rs` | whether a surface and a convex shape touch |
//! | `repair.rs` | all triangles that touch, with the normals of the whole surface |

mod axes;
mod body;
mod meshes;
mod repair;
mod touch;

pub(super) use repair::{Touching, touching, touching_surfaces};

use super::answer::{Ending, Signed};
use super::pair::must_swap;
use super::placed::Placed;
use super::solve::{Goal, Memory, Request};
use crate::mesh::point_triangle;
use crate::shape::mesh::{Fill, Mesh};
use crate::shape::{HeightField, Pose, Shape};
use body::Body;
use glam::DVec3;

/// A surface of triangles.
#[derive(Clone, Copy)]
pub(super) enum Surface<'a> {
    Mesh(&'a Mesh),
    Field(&'a HeightField),
}

impl<'a> Surface<'a> {
    pub(crate) fn of(shape: &'a Shape) -> Option<Surface<'a>> {
        match shape {
            Shape::Mesh(mesh) => Some(Surface::Mesh(mesh)),
            Shape::HeightField(field) => Some(Surface::Field(field)),
            _ => None,
        }
    }

    /// See [`Mesh::near`].
    #[inline]
    pub(crate) fn near(
        &self,
        low: DVec3,
        high: DVec3,
        limit: f64,
        visit: impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) {
        match self {
            Surface::Mesh(mesh) => mesh.near(low, high, limit, visit),
            Surface::Field(field) => field.near(low, high, limit, visit),
        }
    }

    pub(crate) fn corners(&self, triangle: u32) -> [DVec3; 3] {
        match self {
            Surface::Mesh(mesh) => mesh.corners(triangle),
            Surface::Field(field) => field.corners(triangle),
        }
    }

    /// The mesh, if it is a solid one.
    fn solid(&self) -> Option<&'a Mesh> {
        match self {
            Surface::Mesh(mesh) if mesh.fill() == Fill::Solid => Some(mesh),
            _ => None,
        }
    }
}

/// Returns true if triangles have to be asked: one is a surface, and no half-space is the other.
#[inline(always)]
pub(super) fn concerns(a: &Shape, b: &Shape) -> bool {
    (a.is_surface() || b.is_surface()) && a.is_bounded() && b.is_bounded()
}

/// An answer, and the pieces that it is about: triangles, or places in a compound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub signed: Signed,
    pub pieces: [u32; 2],
}

impl Found {
    fn mirrored(self) -> Found {
        let [one, other] = self.pieces;
        Found { signed: self.signed.mirrored(), pieces: [other, one] }
    }

    /// Returns true if this answer comes before another: deeper, or of lower pieces.
    fn is_before(&self, best: &Option<Found>) -> bool {
        best.as_ref().is_none_or(|best| {
            let (one, other) = (self.signed.signed, best.signed.signed);
            one < other || one == other && self.pieces < best.pieces
        })
    }
}

/// The answer of who only wants to know whether shapes touch.
const TOUCHING: Signed = Signed {
    signed: 0.0,
    normal: DVec3::ZERO,
    on_a: DVec3::ZERO,
    on_b: DVec3::ZERO,
    bound: 0.0,
    ending: Ending::Closed,
};

/// Answers in the world's frame. `None`: proven to be further apart than the reach.
pub(super) fn solve(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Found> {
    memory.cache.count_searches(0);
    match (Surface::of(a.shape), Surface::of(b.shape)) {
        (Some(_), Some(_)) if must_swap(a, b) => {
            meshes::solve(b, a, request, memory).map(Found::mirrored)
        }
        (Some(_), Some(_)) => meshes::solve(a, b, request, memory),
        (Some(surface), None) => against(surface, &a.pose, b, request, memory),
        (None, Some(surface)) => against(surface, &b.pose, a, request, memory).map(Found::mirrored),
        (None, None) => None,
    }
}

/// A surface against a convex shape or a compound.
fn against(
    surface: Surface<'_>,
    pose: &Pose,
    other: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Found> {
    if request.goal == Goal::Boolean {
        let ending = touch::touching(surface, pose, other, request, memory)?;
        return Some(Found { signed: Signed { ending, ..TOUCHING }, pieces: [0; 2] });
    }
    let mut best: Option<Found> = None;
    let mut request = *request;
    each_part(other, |piece, part| {
        let body = Body::new(pose, part, &request.options);
        let found = convex(surface, &body, &request, memory);
        if let Some((signed, triangle)) = found {
            let found = Found { signed: body.in_world(pose, signed), pieces: [triangle, piece] };
            if found.is_before(&best) {
                request.reach = signed.signed.max(0.0);
                best = Some(found);
            }
        }
        true
    });
    best
}

/// Calls `visit` with the convex parts of a shape, until it returns false.
pub(super) fn each_part(whole: &Placed<'_>, mut visit: impl FnMut(u32, &Placed<'_>) -> bool) {
    let Shape::Compound(compound) = whole.shape else {
        visit(0, whole);
        return;
    };
    for (number, piece) in (0..).zip(compound.pieces()) {
        let placed = Placed::new(&piece.shape, whole.pose.compose(&piece.pose));
        if !visit(number, &placed) {
            return;
        }
    }
}

/// The least signed distance of a body from the triangles, in the frame of the surface.
fn convex(
    surface: Surface<'_>,
    body: &Body<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<(Signed, u32)> {
    let (low, high) = body.bounds();
    let mut request = *request;
    let mut best: Option<(Signed, u32)> = None;
    let mut limit = body.limit(request.reach);
    surface.near(low, high, limit, |triangle, corners| {
        let least = best.map_or(f64::INFINITY, |(best, _)| best.signed);
        if let Some(found) = body.meet(corners, &request, least, memory)
            && best.is_none_or(|(best, other)| (found.signed, triangle) < (best.signed, other))
        {
            best = Some((found, triangle));
            request.reach = found.signed.max(0.0);
            if request.goal == Goal::Distance && found.signed <= 0.0 {
                return -1.0;
            }
            limit = body.limit_below(found.signed);
        }
        limit
    });
    if let Some(mesh) = surface.solid()
        && mesh.encloses(body.center())
    {
        return Some(body.way_out(mesh));
    }
    best.map(|(found, triangle)| {
        (body.finished(found, &surface.corners(triangle), &request, memory), triangle)
    })
}

/// The unit normal of a triangle; something across it if it has no area.
fn face_normal(corners: &[DVec3; 3]) -> DVec3 {
    let [a, b, c] = *corners;
    let along = if a.distance_squared(b) >= a.distance_squared(c) { b - a } else { c - a };
    (b - a).cross(c - a).try_normalize().unwrap_or_else(|| {
        along.try_normalize().map_or(DVec3::X, |along| along.any_orthonormal_vector())
    })
}

/// An answer that is exact but for rounding.
fn closed(signed: f64, normal: DVec3, on_a: DVec3, size: f64) -> Signed {
    let bound = 16.0 * f64::EPSILON * size;
    Signed { signed, normal, on_a, on_b: on_a, bound, ending: Ending::Closed }
}

/// The weights of the corners of a triangle at the point of it nearest to another.
pub(super) fn weights(shape: &Placed<'_>, triangle: u32, point: DVec3) -> [f64; 3] {
    let Some(surface) = Surface::of(shape.shape) else { return [0.0; 3] };
    point_triangle(&surface.corners(triangle), shape.pose.inverse_apply(point)).0
}
