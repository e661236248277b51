//! All triangles that touch a shape, each with a normal that the whole surface has.
//!
//! Taken alone, a triangle may be left most quickly across one of its edges; if the surface goes on
//! there, that is a wall that does not exist, and what slides over the floor trips over it. So a
//! normal that is not that of a face is checked: at its point, no triangle that has the point may
//! rise along it. If one does, the triangle's own face takes the normal's place. Which triangles
//! have a point is seen from their places alone, so that it does not matter how they are numbered,
//! which way they face, and whether they share vertices; T-junctions are mended too.
//!
//! The face is seen from the side on which the center of the shape is; if that is inside a solid,
//! from the other.

use super::super::answer::{Contact, Options, Signed};
use super::super::placed::Placed;
use super::super::solve::{Goal, Memory, Request};
use super::body::Body;
use super::{Surface, each_part, face_normal};
use crate::mesh::{MeshPair, point_triangle};
use crate::shape::{Pose, Shape};
use glam::DVec3;

/// A triangle that touches, or is near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touching {
    pub triangle: u32,
    /// The piece of a compound that it touches.
    pub piece: u32,
    /// In the frame of the surface.
    pub corners: [DVec3; 3],
    /// The triangle of the other surface, in its frame, if that is one; `piece` is its number.
    pub part: Option<[DVec3; 3]>,
    /// From the surface to the shape, in the world.
    pub contact: Contact,
    /// The point of the contact is on the triangle, and not only in its plane.
    pub on_triangle: bool,
    /// The normal is that of the face, all over which the shape may touch.
    faces: bool,
}

/// Cosine of the angle up to which a normal is that of the face: a thousandth.
const FACE: f64 = 1.0 - 5e-7;

/// Sine of the angle up to which a triangle does not rise.
const LEVEL: f64 = 1e-6;

/// Most triangles of a surface that are asked for contacts with another.
const MOST: usize = 1 << 14;

/// How near to a triangle a point is on it, as a share of the shape's radius.
const ON: f64 = 1e-7;

/// Appends the triangles of a surface that are at most `reach` from a shape that is none, each
/// piece of it, in the order of pieces and triangles. Several with one normal in one point are one.
pub(crate) fn touching(
    a: &Placed<'_>,
    b: &Placed<'_>,
    options: &Options,
    reach: f64,
    size: f64,
    memory: &mut Memory<'_>,
    out: &mut Vec<Touching>,
) {
    let Some(surface) = Surface::of(a.shape) else { return };
    each_part(b, |piece, part| {
        let body = Body::new(&a.pose, part, options);
        one_part(surface, &a.pose, body, piece, options, reach, size, memory, out);
        true
    });
}

#[expect(clippy::too_many_arguments, reason = "the two callers share all of them")]
fn one_part(
    surface: Surface<'_>,
    pose: &Pose,
    body: Body<'_>,
    piece: u32,
    options: &Options,
    reach: f64,
    size: f64,
    memory: &mut Memory<'_>,
    out: &mut Vec<Touching>,
) {
    let mut around = Around { surface, body, near: Vec::new(), inside: false };
    let request = Request { goal: Goal::Contact, options: *options, reach };
    let found = around.gather(&request, memory);
    let first = out.len();
    for (place, signed) in found {
        let (answer, on_triangle, faces) = around.mended(place, signed, reach);
        let (triangle, corners) = around.near[place];
        let contact = around.body.in_world(pose, answer).contact(size);
        out.push(Touching { triangle, piece, corners, part: None, contact, on_triangle, faces });
    }
    out[first..].sort_unstable_by_key(|touching| touching.triangle);
    drop_doubles(out, first, ON * around.body.size());
}

/// As [`touching`] for two surfaces: the triangles of the second are the shapes that the first
/// touches. Of two meshes only those that touch are asked for more.
pub(crate) fn touching_surfaces(
    a: &Placed<'_>,
    b: &Placed<'_>,
    options: &Options,
    reach: f64,
    size: f64,
    memory: &mut Memory<'_>,
    out: &mut Vec<Touching>,
) {
    let (Some(first), Some(second)) = (Surface::of(a.shape), Surface::of(b.shape)) else { return };
    let mut parts = Vec::new();
    if let (Surface::Mesh(one), Surface::Mesh(other)) = (first, second) {
        let (pairs, _) = MeshPair::new(one, &a.pose, other, &b.pose).some_pairs(MOST);
        parts.extend(pairs.iter().map(|pair| pair.1));
    } else {
        let body = Body::new(&b.pose, a, options);
        let (low, high) = body.bounds();
        let limit = body.limit(reach);
        second.near(low, high, limit, |triangle, _| {
            parts.push(triangle);
            if parts.len() == MOST { -1.0 } else { limit }
        });
    }
    parts.sort_unstable();
    parts.dedup();
    let center = a.pose.inverse_apply(b.pose.apply(b.shape.center()));
    for number in parts {
        let corners = second.corners(number);
        let triangle = Shape::Triangle { points: corners };
        let body = Body::new(&a.pose, &Placed::new(&triangle, b.pose), options);
        let begin = out.len();
        one_part(first, &a.pose, body.seen_at(center), number, options, reach, size, memory, out);
        out[begin..].iter_mut().for_each(|touching| touching.part = Some(corners));
    }
}

/// Leaves the first of those that have one point and one normal: neighbours at their common edge.
fn drop_doubles(out: &mut Vec<Touching>, first: usize, near: f64) {
    let mut kept = first;
    for place in first..out.len() {
        let Touching { contact, faces, .. } = out[place];
        let same = |other: &Touching| {
            // In one plane several may name the lowest point of the shape, or a common vertex.
            !(faces || other.faces)
                && other.contact.point_a.distance_squared(contact.point_a) <= near * near
                && other.contact.normal.dot(contact.normal) >= FACE
        };
        if !out[first..kept].iter().any(same) {
            out[kept] = out[place];
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// The triangles around a shape.
struct Around<'a> {
    surface: Surface<'a>,
    body: Body<'a>,
    near: Vec<(u32, [DVec3; 3])>,
    /// The center of the shape is inside a solid.
    inside: bool,
}

impl Around<'_> {
    /// Finds the triangles around, and those of them within the reach with their answers.
    fn gather(&mut self, request: &Request, memory: &mut Memory<'_>) -> Vec<(usize, Signed)> {
        let (low, high) = self.body.bounds();
        let limit = self.body.limit(request.reach);
        let near = &mut self.near;
        self.surface.near(low, high, limit, |triangle, corners| {
            near.push((triangle, *corners));
            limit
        });
        self.inside = self.surface.solid().is_some_and(|mesh| mesh.encloses(self.body.center()));
        let mut found = Vec::new();
        for (place, (_, corners)) in self.near.iter().enumerate() {
            if let Some(signed) = self.body.meet(corners, request, f64::INFINITY, memory) {
                found.push((place, self.body.finished(signed, corners, request, memory)));
            }
        }
        found
    }

    /// The answer for a triangle with a normal that the surface has, whether its point is on the
    /// triangle, and whether it may touch all over the face.
    fn mended(&self, place: usize, signed: Signed, reach: f64) -> (Signed, bool, bool) {
        let corners = &self.near[place].1;
        let face = self.facing(corners);
        let along = signed.normal.dot(face);
        if along >= FACE || !self.inside && along > -FACE && !self.is_ghost(&signed) {
            // A ball touches a face in one point, neighbours too.
            let faces = along >= FACE && !self.body.is_ball();
            let on = along < FACE || self.is_on(corners, signed.on_a);
            return (signed, on, faces);
        }
        let (lowest, height) = self.body.lowest(face);
        let separation = height - corners[0].dot(face);
        let on_a = lowest - face * separation;
        let on = self.is_on(corners, on_a);
        let mended = Signed { signed: separation.min(reach), normal: face, on_a, ..signed };
        (mended, on, true)
    }

    /// Returns true if a point is on a triangle.
    fn is_on(&self, corners: &[DVec3; 3], point: DVec3) -> bool {
        point_triangle(corners, point).2 <= (ON * self.body.size()).powi(2)
    }

    /// The normal of a triangle on the side on which the shape has to leave.
    fn facing(&self, corners: &[DVec3; 3]) -> DVec3 {
        let normal = face_normal(corners);
        let below = normal.dot(self.body.center() - corners[0]) < 0.0;
        if below == self.inside { normal } else { -normal }
    }

    /// Returns true if the surface rises along the normal of a contact at its point.
    fn is_ghost(&self, signed: &Signed) -> bool {
        let (point, normal) = (signed.on_a, signed.normal);
        let near = ON * self.body.size();
        self.near.iter().any(|(_, corners)| {
            let low = corners[0].min(corners[1]).min(corners[2]) - near;
            let high = corners[0].max(corners[1]).max(corners[2]) + near;
            if point.cmplt(low).any() || point.cmpgt(high).any() {
                return false;
            }
            let rises = corners.iter().any(|corner| {
                let way = *corner - point;
                normal.dot(way) > LEVEL * way.length() + near
            });
            rises && point_triangle(corners, point).2 <= near * near
        })
    }
}
