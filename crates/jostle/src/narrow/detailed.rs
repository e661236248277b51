//! [`DetailedContact`]: a contact, and which parts of the shapes it is about.

use super::answer::{Contact, touch_tolerance};
use super::cache::PairCache;
use super::placed::Placed;
use super::point::SurfacePart;
use super::query::Query;
use super::solve::{Goal, Memory, Request, size_of, spheres_apart};
use super::surface;
use crate::shape::Shape;
use glam::DVec3;

/// A point on a triangle of a mesh or height field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrianglePart {
    /// The triangle.
    pub triangle: u32,
    /// Weights of its corners. Two are zero at a vertex, one on an edge.
    pub weights: [f64; 3],
    /// The vertex, the edge or the face, by the numbers of the mesh.
    pub part: SurfacePart,
}

/// A contact, and which parts of the shapes it is about.
///
/// ```
/// use jostle::mesh::Mesh;
/// use jostle::narrow::{Placed, SurfacePart, detailed_contact};
/// use jostle::shape::{Pose, Shape};
///
/// let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 4.0]].map(Into::into).to_vec();
/// let floor = Shape::from(Mesh::new(corners, vec![[0, 2, 1]])?);
/// let ball = Shape::sphere(1.0)?;
/// let floor = Placed::new(&floor, Pose::IDENTITY);
/// let ball = Placed::new(&ball, Pose::at([1.0, 0.75, 2.0])?);
/// let found = detailed_contact(&floor, &ball, 0.0).expect("they touch");
/// assert_eq!((found.contact.depth, found.contact.normal.y), (0.25, 1.0));
/// let on_floor = found.triangles[0].expect("a triangle");
/// assert_eq!((on_floor.triangle, on_floor.weights), (0, [0.25, 0.5, 0.25]));
/// assert_eq!(on_floor.part, SurfacePart::Face(0));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailedContact {
    /// The contact.
    pub contact: Contact,
    /// The triangles of meshes and height fields, and the places in compounds; 0 for others.
    pub pieces: [u32; 2],
    /// Where on a triangle the contact's points are, for meshes and height fields.
    pub triangles: [Option<TrianglePart>; 2],
}

impl Query {
    /// As [`Query::contact_within`], with the parts of the shapes that it is about.
    pub fn detailed_contact(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
    ) -> Option<DetailedContact> {
        let size = size_of(a.shape, b.shape);
        let mut none = PairCache::none();
        if !surface::concerns(a.shape, b.shape) {
            return self.of_pieces(a, b, reach);
        }
        let reach = reach.max(0.0) + touch_tolerance(size);
        let request = Request { goal: Goal::Contact, options: *self.options(), reach };
        let memory = &mut Memory { cache: &mut none, scratch: &mut self.scratch };
        let found = surface::solve(a, b, &request, memory)?;
        let contact = found.signed.contact(size);
        let triangles = [
            triangle_part(a, found.pieces[0], contact.point_a),
            triangle_part(b, found.pieces[1], contact.point_b),
        ];
        Some(DetailedContact { contact, pieces: found.pieces, triangles })
    }

    /// Pieces of compounds, one by one: the least signed distance, the first among equals.
    fn of_pieces(&mut self, a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<DetailedContact> {
        // The answer for both wholes, by their trees, says which pieces can have given it.
        let whole = self.contact_within(a, b, reach, &mut PairCache::none())?;
        let size = size_of(a.shape, b.shape);
        let near = whole.signed_distance().max(0.0) + 1e-9 * size;
        let mut best: Option<DetailedContact> = None;
        let options = *self.options();
        let apart =
            |one: &Placed<'_>, other: &Placed<'_>| spheres_apart(one, other, &options, near);
        surface::each_part(a, |first, one| {
            if a.shape.is_bounded() && b.shape.is_bounded() && apart(one, b) {
                return true;
            }
            surface::each_part(b, |second, other| {
                if one.shape.is_bounded() && other.shape.is_bounded() && apart(one, other) {
                    return true;
                }
                let none = &mut PairCache::none();
                if let Some(contact) = self.contact_within(one, other, reach, none)
                    && best.is_none_or(|best| {
                        contact.signed_distance() < best.contact.signed_distance()
                    })
                {
                    let (pieces, triangles) = ([first, second], [None; 2]);
                    best = Some(DetailedContact { contact, pieces, triangles });
                }
                true
            });
            true
        });
        best
    }
}

fn triangle_part(placed: &Placed<'_>, triangle: u32, point: DVec3) -> Option<TrianglePart> {
    let (weights, vertices) = match placed.shape {
        Shape::Mesh(mesh) => {
            (surface::weights(placed, triangle, point), mesh.triangles()[triangle as usize])
        }
        Shape::HeightField(field) => {
            (surface::weights(placed, triangle, point), field.vertices_of(triangle))
        }
        _ => return None,
    };
    let on: Vec<u32> = (0..3).filter(|&k| weights[k] > 0.0).map(|k| vertices[k]).collect();
    let part = match on[..] {
        [vertex] => SurfacePart::Vertex(vertex),
        [one, other] => SurfacePart::Edge([one.min(other), one.max(other)]),
        _ => SurfacePart::Face(triangle),
    };
    Some(TrianglePart { triangle, weights, part })
}

/// As [`contact_within`](super::contact_within), with the parts of the shapes that it is about.
#[must_use]
pub fn detailed_contact(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<DetailedContact> {
    Query::default().detailed_contact(a, b, reach)
}
