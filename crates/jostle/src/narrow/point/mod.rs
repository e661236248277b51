//! A point against a shape: the nearest point of its surface, on which side the point lies, how far
//! away, and which vertex, edge or face it is.
//!
//! Spheres, boxes, capsules, cylinders, cones, triangles and half-spaces have closed forms, right
//! to a few units of the last place of their size. An ellipsoid takes a handful of steps of
//! Newton's method to the same accuracy. A hull takes GJK, whose cost follows its support search,
//! from outside, and a pass over its face planes from inside; support functions of the user's take
//! GJK and EPA. All of them work in the frame of the
//! shape, on numbers of its size.
//!
//! | file | holds |
//! |---|---|
//! | `round.rs` | spheres, capsules, cylinders and cones: the question in a half plane |
//! | `ellipsoid.rs` | ellipsoids |
//! | `polyhedra.rs` | boxes, triangles, hulls |
//! | `surface.rs` | meshes and height fields |

mod ellipsoid;
mod polyhedra;
mod round;
mod surface;

pub(super) use polyhedra::faces_around;

use super::answer::Options;
use super::cache::PairCache;
use super::pieces;
use super::placed::Placed;
use super::query::Query;
use crate::shape::{Pose, Shape};
use glam::DVec3;

/// A part of a shape's surface.
///
/// Vertices and faces of hulls and triangles have the numbers by which the shape names them; the
/// back of a triangle or of a flat hull is its face 1. A box's vertex has bit 0, 1 or 2 set where
/// it lies on the negative side of x, y or z, and its faces are +x, -x, +y, -y, +z and -z. The
/// faces of round shapes are 0 for the side (all of a sphere or an ellipsoid), 1 for the end at +y
/// and 2 for the one at -y; the apex of a cone is its vertex 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum SurfacePart {
    /// A vertex.
    Vertex(u32),
    /// An edge: its vertices, the lower number first; for a rim, the two faces that meet in it.
    Edge([u32; 2]),
    /// A face.
    Face(u32),
}

/// Where a point lies to a shape.
///
/// ```
/// use jostle::narrow::{Placed, SurfacePart, project_point};
/// use jostle::shape::{Pose, Shape};
///
/// let cube = Shape::cuboid([1.0, 1.0, 1.0].into())?;
/// let cube = Placed::new(&cube, Pose::at([10.0, 0.0, 0.0])?);
/// let outside = project_point(&cube, [13.0, 0.5, 0.0].into())?;
/// assert_eq!((outside.distance, outside.point), (2.0, [11.0, 0.5, 0.0].into()));
/// let inside = project_point(&cube, [10.0, 0.75, 0.0].into())?;
/// assert!(inside.is_inside() && inside.distance == -0.25);
/// assert_eq!(inside.part, SurfacePart::Face(2)); // that at +y
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Projection {
    /// The nearest point of the surface.
    pub point: DVec3,
    /// Unit vector out of the shape there: away from the shape for a point outside, the shortest
    /// way out for one inside.
    pub normal: DVec3,
    /// The distance to the surface, negative inside.
    pub distance: f64,
    /// The vertex, edge or face that the nearest point lies on.
    pub part: SurfacePart,
    /// The piece of a compound or the triangle of a mesh or height field that it lies on; zero for
    /// other shapes.
    pub piece: usize,
}

impl Projection {
    /// Returns true for points of the shape, its surface included.
    pub fn is_inside(&self) -> bool {
        self.distance <= 0.0
    }
}

/// The nearest point of a surface, in the frame of the shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub point: DVec3,
    pub normal: DVec3,
    /// Negative inside.
    pub signed: f64,
    pub part: SurfacePart,
}

impl Nearest {
    /// The same for the shape grown by a margin.
    pub(super) fn grown(mut self, margin: f64) -> Nearest {
        self.point += self.normal * margin;
        self.signed -= margin;
        self
    }
}

/// The vector at unit length and its length; the direction given instead for the zero vector. Safe
/// for lengths whose squares would vanish or overflow.
pub(super) fn unit_or(vector: DVec3, otherwise: DVec3) -> (DVec3, f64) {
    let largest = vector.abs().max_element();
    if largest == 0.0 {
        return (otherwise, 0.0);
    }
    if (1e-100..1e100).contains(&largest) {
        let length = vector.length();
        return (vector / length, length);
    }
    let scaled = vector / largest;
    let length = scaled.length();
    (scaled / length, length * largest)
}

/// The nearest point of a shape without pieces.
pub(super) fn nearest(shape: &Shape, point: DVec3) -> Nearest {
    match shape {
        Shape::Sphere { radius } => round::sphere(*radius, point),
        Shape::Capsule { radius, half_height } => round::capsule(*radius, *half_height, point),
        Shape::Cylinder { radius, half_height } => round::cylinder(*radius, *half_height, point),
        Shape::Cone { radius, half_height } => round::cone(*radius, *half_height, point),
        Shape::Ellipsoid { radii } if radii.min_element() > 0.0 => {
            ellipsoid::nearest(*radii, point)
        }
        Shape::Cuboid { half_extents } => polyhedra::cuboid(*half_extents, point),
        Shape::Triangle { points } => polyhedra::triangle(points, point),
        Shape::Hull(hull) => polyhedra::hull(hull, point),
        Shape::HalfSpace { normal, offset } => {
            let signed = normal.dot(point) - offset;
            let part = SurfacePart::Face(0);
            Nearest { point: point - *normal * signed, normal: *normal, signed, part }
        }
        Shape::Rounded(rounded) => nearest(rounded.shape(), point).grown(rounded.margin()),
        Shape::Mesh(mesh) => surface::mesh(mesh, point).1,
        Shape::HeightField(field) => surface::field(field, point).1,
        Shape::Ellipsoid { .. } | Shape::Compound(_) | Shape::Custom(_) => by_contact(shape, point),
    }
}

/// By the contact of the shape with a ball of no size.
fn by_contact(shape: &Shape, point: DVec3) -> Nearest {
    let dot = Shape::Sphere { radius: 0.0 };
    let place = Pose::at(point).unwrap_or_default();
    let found = Query::default().contact(
        &Placed::new(shape, Pose::IDENTITY),
        &Placed::new(&dot, place),
        &mut PairCache::none(),
    );
    Nearest {
        point: found.point_a,
        normal: found.normal,
        signed: found.signed_distance(),
        part: SurfacePart::Face(0),
    }
}

impl Query {
    /// Where a point lies to a shape, which [`Options::margin`] grows. Points inside a compound are
    /// measured to the surface of the piece that they are deepest in, as depths are.
    ///
    /// A point must have coordinates of at most [`LIMIT`](crate::shape::LIMIT).
    pub fn project_point(
        &mut self,
        target: &Placed<'_>,
        point: DVec3,
    ) -> Result<Projection, crate::shape::ShapeError> {
        crate::shape::check_point("point", 0, point)?;
        let Options { margin, .. } = *self.options();
        let local = target.pose.inverse_apply(point);
        let (piece, found) = match target.shape {
            Shape::Compound(compound) => nearest_piece(compound, local),
            Shape::Mesh(mesh) => surface::mesh(mesh, local),
            Shape::HeightField(field) => surface::field(field, local),
            shape => (0, nearest(shape, local)),
        };
        let found = found.grown(margin);
        Ok(Projection {
            point: target.pose.apply(found.point),
            normal: target.pose.apply_vector(found.normal),
            distance: found.signed,
            part: found.part,
            piece,
        })
    }
}

/// The piece of the least signed distance, the first among equals. Those whose bounding spheres are
/// further away than the best one are skipped.
fn nearest_piece(compound: &crate::shape::Compound, point: DVec3) -> (usize, Nearest) {
    let mut best: Option<(usize, Nearest)> = None;
    let mut visit = |index: usize| {
        let piece = &compound.pieces()[index];
        let matrix = piece.matrix();
        let local = matrix.inverse_apply(point);
        if let Some((_, found)) = &best {
            let least = local.distance(piece.shape.center()) - piece.shape.bounding_radius();
            if least > found.signed.max(0.0) {
                return found.signed.max(0.0);
            }
        }
        let mut found = nearest(&piece.shape, local);
        let before = |number: usize, other: &Nearest| {
            found.signed < other.signed || found.signed == other.signed && index < number
        };
        if best.as_ref().is_none_or(|(number, other)| before(*number, other)) {
            found.point = matrix.apply(found.point);
            found.normal = matrix.apply_vector(found.normal);
            best = Some((index, found));
        }
        best.as_ref().map_or(f64::INFINITY, |(_, found)| found.signed.max(0.0))
    };
    let bound = pieces::from_point(compound, point);
    compound.near(&bound, f64::INFINITY, &mut |number| visit(number as usize));
    // A compound has at least one piece.
    best.unwrap_or_else(|| (0, round::sphere(0.0, point)))
}

/// Where a point lies to a shape; see [`Query::project_point`].
pub fn project_point(
    target: &Placed<'_>,
    point: DVec3,
) -> Result<Projection, crate::shape::ShapeError> {
    Query::default().project_point(target, point)
}
