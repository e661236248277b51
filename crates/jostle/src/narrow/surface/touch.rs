//! Does a surface touch a convex shape? Without a depth or a point.
//!
//! The same triangles decide by the same tests as for a distance, so that the two never disagree.
//! But the first that touches ends the search, so it looks for that one where it most likely is;
//! and a ball needs none of what other shapes have to be made ready with.

use super::super::answer::{Ending, Method};
use super::super::placed::Placed;
use super::super::solve::{Memory, Request};
use super::body::{self, Body};
use super::{Surface, each_part};
use crate::mesh::point_triangle;
use crate::shape::mesh::{Fill, Inner, Mesh, Probe};
use crate::shape::{Pose, Shape};
use glam::DVec3;

/// How the answer was found if a surface touches a shape that is none, or a piece of it.
pub(super) fn touching(
    surface: Surface<'_>,
    pose: &Pose,
    other: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Ending> {
    let mut found = None;
    each_part(other, |_, part| {
        found = one(surface, pose, part, request, memory);
        found.is_none()
    });
    found
}

fn one(
    surface: Surface<'_>,
    pose: &Pose,
    part: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Ending> {
    let options = &request.options;
    if let (Surface::Mesh(mesh), &Shape::Sphere { radius }) = (surface, part.shape)
        && !options.flat
        && options.method == Method::Auto
    {
        let center = body::place_seen(pose, &part.pose);
        return ball(mesh, center, radius + options.margin + request.reach)
            .then_some(Ending::Closed);
    }
    let body = Body::new(pose, part, options);
    let mut ending = None;
    let mut test = |corners: &[DVec3; 3]| {
        ending = body.meet(corners, request, f64::INFINITY, memory).map(|found| found.ending);
        ending.is_some()
    };
    let touches = match surface {
        Surface::Mesh(mesh) => mesh.touches(&body.probe(request.reach), test),
        Surface::Field(field) => {
            let ((low, high), limit) = (body.bounds(), body.limit(request.reach));
            let mut found = false;
            field.near(low, high, limit, |_, corners| {
                found = test(corners);
                if found { -1.0 } else { limit }
            });
            found
        }
    };
    if touches || surface.solid().is_some_and(|mesh| mesh.encloses(body.center())) {
        return Some(ending.unwrap_or(Ending::Closed));
    }
    None
}

/// Returns true if a ball touches a mesh.
fn ball(mesh: &Mesh, center: DVec3, radius: f64) -> bool {
    if radius < 0.0 {
        return false;
    }
    let probe = Probe { low: center, high: center, center, limit: radius, inner: Inner::Ball };
    mesh.touches(&probe, |corners| point_triangle(corners, center).2 <= radius * radius)
        || mesh.fill() == Fill::Solid && mesh.encloses(center)
}
