//! A line against a solid hull by the planes of its faces.
//!
//! The planes hold the hull to 3e-13 of its size, so that a line outside of them misses. Where two
//! of them are nearly one plane their edge may be anywhere between, and the planes hold more than
//! the hull; so both ends must lie in the polygons of their faces, or `newton.rs` decides.
//!
//! One pass over the planes; above [`MOST_FACES`] the support searches of `newton.rs` cost less.

use super::{Crossing, Line, Span};
use crate::narrow::point::SurfacePart;
use crate::shape::Hull;

/// Hulls with more faces take fewer steps by support searches.
const MOST_FACES: usize = 512;

/// How far outside its polygon, as a share of the size, a point may lie on a face.
const BESIDE: f64 = 1e-11;

/// The outer `None` if the planes cannot tell.
pub(super) fn span(hull: &Hull, line: &Line) -> Option<Option<Span>> {
    if hull.dimension() < 3 || hull.face_count() > MOST_FACES {
        return None;
    }
    let (mut enter, mut leave) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
    for (face, normal) in hull.face_normals().iter().enumerate() {
        let slope = normal.dot(line.direction);
        let height = normal.dot(line.origin) - hull.face_offset(face);
        if slope == 0.0 {
            if height > line.slack {
                return Some(None);
            }
            continue;
        }
        let at = -height / slope;
        if slope < 0.0 && at > enter.0 {
            enter = (at, face);
        }
        if slope > 0.0 && at < leave.0 {
            leave = (at, face);
        }
    }
    if enter.0 > leave.0 {
        return Some(None);
    }
    if !on_face(hull, enter.1, line, enter.0) || !on_face(hull, leave.1, line, leave.0) {
        return None;
    }
    let crossing = |(at, face): (f64, usize)| Crossing {
        at,
        normal: hull.face_normal(face),
        part: SurfacePart::Face(face as u32),
    };
    Some(Some(Span { enter: crossing(enter), leave: crossing(leave) }))
}

/// Returns true if the line is within the polygon of a face there, up to rounding.
fn on_face(hull: &Hull, face: usize, line: &Line, at: f64) -> bool {
    let (point, normal) = (line.at(at), hull.face_normal(face));
    let beside = BESIDE * hull.bounding_radius() + line.slack;
    let corners = hull.face_vertices(face);
    let vertices = hull.vertices();
    let ends = corners.iter().zip(corners.iter().cycle().skip(1));
    ends.into_iter().all(|(&from, &to)| {
        let (from, to) = (vertices[from as usize], vertices[to as usize]);
        let side = (to - from).cross(point - from).dot(normal);
        side >= -beside * to.distance(from)
    })
}
