//! Shapes: what a body is made of, and the four questions the rest of the library asks it.
//!
//! A [`Shape`] lives in its own local space; a [`Pose`] puts it into the world. Every shape
//! gives its bounds for the broad phase ([`Shape::bounds`]), its furthest point in a direction
//! for the narrow phase ([`Shape::support`]), a point inside it ([`Shape::center`]) and a
//! radius about that point. Sizes are f64; bounds are rounded outward to f32.
//!
//! Zero sizes are legal: a sphere of radius zero is a point, a capsule of radius zero a
//! segment, a cylinder of height zero a disc. Negative, infinite or NaN sizes are refused by
//! the checked constructors, with an error that names the field. The variants are public so
//! that pairs of kinds can be matched on; [`Shape::check`] checks one made by hand.
//!
//! | file | holds |
//! |---|---|
//! | `pose.rs` | rotation and translation |
//! | `support.rs`, `bounds.rs` | the two questions, one function per kind of shape |
//! | `hull/` | convex hulls: quickhull, merged faces, adjacency |
//! | `search/` | four ways to find a hull's furthest vertex |
//! | `compound.rs`, `piece_tree.rs` | several convex pieces as one shape, and a tree over them |
//! | `mesh/`, `height_field.rs` | triangles and their tree; a grid of heights |
//! | `rounded.rs` | shapes grown by a margin, and support functions of the user's |
//! | `mass.rs` | volume, centre of mass, inertia |
//! | `snapshot.rs` | shapes and poses in files, checked as foreign data |
//! | `volume/` | a toolbox of bounding volumes: sphere, oriented box, k-DOP, capsule |

mod bounds;
mod compound;
mod height_field;
mod hull;
mod mass;
pub(crate) mod mesh;
mod piece_tree;
mod pose;
mod rounded;
mod search;
#[cfg(feature = "serde")]
mod snapshot;
mod support;
mod volume;

pub use crate::fault::{LIMIT, MeshError, PoseError, ShapeError};
pub use compound::{Compound, Piece};
pub use height_field::HeightField;
pub(crate) use hull::Outline;
pub use hull::{Hull, HullEdge};
pub use mass::MassProperties;
pub use pose::{Pose, PoseMatrix};
pub use rounded::{Custom, Rounded, SupportMap};
pub use search::SupportSearch;
pub use volume::{BoundingCapsule, BoundingSphere, Kdop, KdopKind, Obb};

pub(crate) use crate::fault::{bad_axis, check_point, check_velocity};

use crate::fault as error;
use crate::fault::check_size;
use glam::DVec3;
use mesh::Mesh;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A shape in its local space.
///
/// ```
/// use jostle::shape::{Pose, Shape};
///
/// let table = Shape::compound(vec![
///     (Shape::cuboid([1.0, 0.1, 1.0].into())?, Pose::at([0.0, 1.0, 0.0])?),
///     (Shape::cylinder(0.1, 0.45)?, Pose::at([0.0, 0.45, 0.0])?),
/// ])?;
/// let bounds = table.bounds(&Pose::at([10.0, 0.0, 0.0])?);
/// assert!(bounds.contains_point([10.9, 1.05, 0.9]) && !bounds.contains_point([10.9, 1.2, 0.9]));
///
/// let error = Shape::sphere(-1.0).unwrap_err();
/// assert!(error.to_string().contains("radius"));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// A ball about the origin.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A box about the origin with its edges along the axes.
    Cuboid {
        /// Half its edge lengths.
        half_extents: DVec3,
    },
    /// All points within `radius` of a segment along y.
    Capsule {
        /// Distance from the segment.
        radius: f64,
        /// Half the length of the segment.
        half_height: f64,
    },
    /// A cylinder along y about the origin.
    Cylinder {
        /// Radius of its discs.
        radius: f64,
        /// Half the distance of its discs.
        half_height: f64,
    },
    /// A cone along y: apex at `+half_height`, disc at `-half_height`.
    Cone {
        /// Radius of its disc.
        radius: f64,
        /// Half the distance from disc to apex.
        half_height: f64,
    },
    /// An ellipsoid about the origin with its axes along the coordinate axes.
    Ellipsoid {
        /// Its half axes.
        radii: DVec3,
    },
    /// A triangle, without thickness.
    Triangle {
        /// Its corners.
        points: [DVec3; 3],
    },
    /// A convex hull of points.
    Hull(Arc<Hull>),
    /// All points `p` with `normal · p <= offset`.
    HalfSpace {
        /// Unit normal, pointing out of the solid side.
        normal: DVec3,
        /// Distance of the plane from the origin along the normal.
        offset: f64,
    },
    /// Several convex pieces.
    Compound(Arc<Compound>),
    /// A convex shape grown by a margin.
    Rounded(Arc<Rounded>),
    /// A convex shape with a support function of the user's.
    Custom(Arc<Custom>),
    /// Triangles; [`mesh`](crate::mesh) has more questions about them.
    Mesh(Arc<Mesh>),
    /// Terrain as a grid of heights.
    HeightField(Arc<HeightField>),
}

impl From<Mesh> for Shape {
    fn from(mesh: Mesh) -> Shape {
        Shape::Mesh(Arc::new(mesh))
    }
}

impl From<HeightField> for Shape {
    fn from(field: HeightField) -> Shape {
        Shape::HeightField(Arc::new(field))
    }
}

/// Checked constructors.
impl Shape {
    /// A ball about the origin.
    pub fn sphere(radius: f64) -> Result<Shape, ShapeError> {
        Shape::Sphere { radius }.checked()
    }

    /// A box about the origin with its edges along the axes.
    pub fn cuboid(half_extents: DVec3) -> Result<Shape, ShapeError> {
        Shape::Cuboid { half_extents }.checked()
    }

    /// All points within `radius` of the segment from `-half_height` to `half_height` on y.
    pub fn capsule(radius: f64, half_height: f64) -> Result<Shape, ShapeError> {
        Shape::Capsule { radius, half_height }.checked()
    }

    /// A cylinder along y.
    pub fn cylinder(radius: f64, half_height: f64) -> Result<Shape, ShapeError> {
        Shape::Cylinder { radius, half_height }.checked()
    }

    /// A cone along y, apex up.
    pub fn cone(radius: f64, half_height: f64) -> Result<Shape, ShapeError> {
        Shape::Cone { radius, half_height }.checked()
    }

    /// An ellipsoid.
    pub fn ellipsoid(radii: DVec3) -> Result<Shape, ShapeError> {
        Shape::Ellipsoid { radii }.checked()
    }

    /// A triangle; a degenerate one is a segment or a point.
    pub fn triangle(points: [DVec3; 3]) -> Result<Shape, ShapeError> {
        Shape::Triangle { points }.checked()
    }

    /// The convex hull of points.
    pub fn hull(points: &[DVec3]) -> Result<Shape, ShapeError> {
        Ok(Shape::Hull(Arc::new(Hull::new(points)?)))
    }

    /// All points `p` with `normal · p <= offset`. The normal need not be of unit length: it
    /// and the offset are divided by its length, which leaves the set of points the same.
    pub fn half_space(normal: DVec3, offset: f64) -> Result<Shape, ShapeError> {
        check_point("normal", 0, normal)?;
        check_size("offset", offset.abs())
            .map_err(|_| ShapeError::Size { field: "offset", value: offset })?;
        let largest = normal.abs().max_element();
        if largest == 0.0 {
            return Err(ShapeError::ZeroNormal);
        }
        // Scaled first, so that the square of a tiny length does not vanish.
        let scaled = normal / largest;
        let length = scaled.length();
        Shape::HalfSpace { normal: scaled / length, offset: offset / largest / length }.checked()
    }

    /// Several convex pieces, each with its pose in the compound's space.
    pub fn compound(pieces: Vec<(Shape, Pose)>) -> Result<Shape, ShapeError> {
        Ok(Shape::Compound(Arc::new(Compound::new(pieces)?)))
    }

    fn checked(self) -> Result<Shape, ShapeError> {
        self.check()?;
        Ok(self)
    }

    /// The fault of a shape made without its constructor, if it has one.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Shape::Sphere { radius } => check_size("radius", *radius),
            Shape::Cuboid { half_extents } => check_sizes(HALF_EXTENTS, *half_extents),
            Shape::Capsule { radius, half_height }
            | Shape::Cylinder { radius, half_height }
            | Shape::Cone { radius, half_height } => {
                check_size("radius", *radius)?;
                check_size("half_height", *half_height)
            }
            Shape::Ellipsoid { radii } => check_sizes(RADII, *radii),
            Shape::Triangle { points } => {
                (0..3).try_for_each(|index| check_point("points", index, points[index]))
            }
            Shape::HalfSpace { normal, offset } => check_half_space(*normal, *offset),
            // Their own constructors are the only way to make them.
            Shape::Hull(_) | Shape::Compound(_) | Shape::Rounded(_) | Shape::Custom(_) => Ok(()),
            Shape::Mesh(_) | Shape::HeightField(_) => Ok(()),
        }
    }
}

const HALF_EXTENTS: [&str; 3] = ["half_extents x", "half_extents y", "half_extents z"];
const RADII: [&str; 3] = ["radii x", "radii y", "radii z"];

fn check_sizes(fields: [&'static str; 3], sizes: DVec3) -> Result<(), ShapeError> {
    (0..3).try_for_each(|axis| check_size(fields[axis], sizes[axis]))
}

fn check_half_space(normal: DVec3, offset: f64) -> Result<(), ShapeError> {
    check_point("normal", 0, normal)?;
    if !(-LIMIT..=LIMIT).contains(&offset) {
        return Err(ShapeError::Size { field: "offset", value: offset });
    }
    let length = normal.length();
    if length == 0.0 {
        return Err(ShapeError::ZeroNormal);
    }
    // A hand-made half-space must already be normalised: what follows relies on it.
    if (length - 1.0).abs() > 1e-9 {
        return Err(ShapeError::Size { field: "length of normal", value: length });
    }
    Ok(())
}

/// What a shape is like.
impl Shape {
    /// The shape's name on the command line and in files.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Cuboid { .. } => "cuboid",
            Shape::Capsule { .. } => "capsule",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Cone { .. } => "cone",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::Triangle { .. } => "triangle",
            Shape::Hull(_) => "hull",
            Shape::HalfSpace { .. } => "half_space",
            Shape::Compound(_) => "compound",
            Shape::Rounded(_) => "rounded",
            Shape::Custom(_) => "custom",
            Shape::Mesh(_) => "mesh",
            Shape::HeightField(_) => "height_field",
        }
    }

    /// A number for its kind, by which pairs are ordered and grouped. Rounder shapes have higher
    /// ones: they are cheap to see from another shape's frame.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Shape::HalfSpace { .. } => 0,
            Shape::Compound(_) => 1,
            Shape::Hull(_) => 2,
            Shape::Triangle { .. } => 3,
            Shape::Cone { .. } => 4,
            Shape::Cylinder { .. } => 5,
            Shape::Ellipsoid { .. } => 6,
            Shape::Cuboid { .. } => 7,
            Shape::Capsule { .. } => 8,
            Shape::Sphere { .. } => 9,
            Shape::Custom(_) => 10,
            Shape::Rounded(_) => 11,
            Shape::Mesh(_) => 12,
            Shape::HeightField(_) => 13,
        }
    }

    /// A number that differs for different shapes: hulls and compounds by the identity they are
    /// built with, the others by all bits of their sizes, well mixed.
    #[inline]
    pub(crate) fn fingerprint(&self) -> u64 {
        let mix = |hash: u64, bits: u64| {
            (hash ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
        };
        let number = |hash: u64, value: f64| mix(hash, value.to_bits());
        let vector = |hash: u64, v: DVec3| number(number(number(hash, v.x), v.y), v.z);
        let kind = 1 + u64::from(self.rank());
        match self {
            Shape::Sphere { radius } => number(kind, *radius),
            Shape::Cuboid { half_extents: sizes } | Shape::Ellipsoid { radii: sizes } => {
                vector(kind, *sizes)
            }
            Shape::Capsule { radius, half_height }
            | Shape::Cylinder { radius, half_height }
            | Shape::Cone { radius, half_height } => number(number(kind, *radius), *half_height),
            Shape::Triangle { points } => points.iter().fold(kind, |hash, p| vector(hash, *p)),
            Shape::Hull(hull) => mix(kind, hull.identity()),
            Shape::HalfSpace { normal, offset } => number(vector(kind, *normal), *offset),
            Shape::Compound(compound) => mix(kind, compound.identity()),
            Shape::Rounded(rounded) => {
                number(mix(kind, rounded.shape().fingerprint()), rounded.margin())
            }
            Shape::Custom(custom) => mix(kind, custom.identity()),
            Shape::Mesh(mesh) => mix(kind, mesh.identity()),
            Shape::HeightField(field) => mix(kind, field.identity()),
        }
    }

    /// Returns true for shapes bounded by planes alone: box, triangle, hull.
    pub fn is_polyhedral(&self) -> bool {
        matches!(self, Shape::Cuboid { .. } | Shape::Triangle { .. } | Shape::Hull(_))
    }

    /// Returns true for meshes and height fields, which are made of triangles and not convex.
    #[inline]
    pub fn is_surface(&self) -> bool {
        matches!(self, Shape::Mesh(_) | Shape::HeightField(_))
    }

    /// Returns true for every shape but the half-space.
    #[inline]
    pub fn is_bounded(&self) -> bool {
        !matches!(self, Shape::HalfSpace { .. })
    }

    /// A local point of the shape near its middle; for a compound, of its convex hull.
    #[inline]
    pub fn center(&self) -> DVec3 {
        match self {
            // Divided first, so that the sum of three large corners stays finite.
            Shape::Triangle { points } => points[0] / 3.0 + points[1] / 3.0 + points[2] / 3.0,
            Shape::Hull(hull) => hull.center(),
            Shape::Compound(compound) => compound.center(),
            Shape::Rounded(rounded) => rounded.shape().center(),
            Shape::Custom(custom) => custom.center(),
            Shape::Mesh(mesh) => mesh.center(),
            Shape::HeightField(field) => field.center(),
            Shape::HalfSpace { normal, offset } => *normal * *offset,
            _ => DVec3::ZERO,
        }
    }

    /// A radius about [`center`](Shape::center) that holds the whole shape; infinite for a
    /// half-space. Rounded up, so that it is safe to cull with.
    #[inline]
    pub fn bounding_radius(&self) -> f64 {
        // The commonest kinds without a call: a question about two boxes needs it several times,
        // and then the compiler finds the root once.
        match self {
            Shape::Sphere { radius } => *radius,
            Shape::Cuboid { half_extents } => round_radius(half_extents.length()),
            _ => self.radius_of_others(),
        }
    }

    /// The radius of what [`bounding_radius`](Shape::bounding_radius) does not know itself.
    fn radius_of_others(&self) -> f64 {
        let radius = match self {
            Shape::Sphere { .. } | Shape::Cuboid { .. } => return self.bounding_radius(),
            Shape::Capsule { radius, half_height } => radius + half_height,
            Shape::Cylinder { radius, half_height } | Shape::Cone { radius, half_height } => {
                radius.hypot(*half_height)
            }
            Shape::Ellipsoid { radii } => radii.max_element(),
            Shape::Triangle { points } => {
                let center = self.center();
                points.iter().map(|point| point.distance(center)).fold(0.0, f64::max)
            }
            Shape::Hull(hull) => return hull.bounding_radius(),
            Shape::Compound(compound) => return compound.bounding_radius(),
            Shape::Rounded(rounded) => rounded.shape().bounding_radius() + rounded.margin(),
            Shape::Custom(custom) => return custom.bounding_radius(),
            Shape::Mesh(mesh) => return mesh.bounding_radius(),
            Shape::HeightField(field) => return field.bounding_radius(),
            Shape::HalfSpace { .. } => return f64::INFINITY,
        };
        round_radius(radius)
    }

    /// The shape is its core grown by this: the radius of a sphere or a capsule, the margin of a
    /// rounded shape, else zero. The core of a sphere is the origin, that of a capsule its segment.
    #[inline]
    pub fn margin(&self) -> f64 {
        match self {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => *radius,
            Shape::Rounded(rounded) => rounded.margin(),
            _ => 0.0,
        }
    }
}

/// A number that no other hull or compound of this program has. Copies share it: they are the same
/// shape.
fn next_identity() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Covers the few roundings of a computed radius.
#[inline]
pub(crate) fn round_radius(radius: f64) -> f64 {
    radius * (1.0 + 4.0 * f64::EPSILON)
}

/// The direction at unit length; y for the zero vector. Safe for lengths whose squares would
/// vanish or overflow.
#[inline]
fn unit(direction: DVec3) -> DVec3 {
    let square = direction.length_squared();
    if (1e-200..1e200).contains(&square) {
        return direction / square.sqrt();
    }
    unit_scaled(direction)
}

#[cold]
fn unit_scaled(direction: DVec3) -> DVec3 {
    let largest = direction.abs().max_element();
    if largest == 0.0 || !largest.is_finite() {
        return DVec3::Y;
    }
    // In two steps: the inverse of a subnormal number would be infinite.
    let scaled = direction / largest;
    scaled / scaled.length()
}

#[cfg(test)]
mod tests;
