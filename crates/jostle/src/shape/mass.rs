//! Volume, centre of mass and inertia of solid shapes, by exact formulas.
//!
//! A hull is cut into tetrahedra from its middle to its triangles, whose integrals are closed
//! forms. Pieces of a compound count each by itself: where they overlap, the mass is there twice.
//! Rounded shapes and those with a support function of the user's have no closed form in general:
//! they are taken as the hull of their furthest points in 10 242 directions, whose volume is low by
//! less than 0.2 % and exact where the surface is flat.
//! Surfaces and lines (triangles, flat hulls, meshes that are no solids, shapes with a size of
//! zero) have no volume, hence no mass and no inertia. A half-space has infinite mass, so that
//! forces do not move it.

use super::error::{ShapeError, check_size};
use super::hull::icosphere_points;
use super::mesh::Fill;
use super::{Hull, Shape};
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// How a body of a shape and density moves under forces.
///
/// ```
/// use jostle::shape::{Pose, Shape};
///
/// let cube = Shape::cuboid([0.5, 0.5, 0.5].into())?;
/// let dumbbell = Shape::compound(vec![
///     (cube.clone(), Pose::at([-2.0, 0.0, 0.0])?),
///     (cube.clone(), Pose::at([2.0, 0.0, 0.0])?),
/// ])?;
/// let body = dumbbell.mass_properties(3.0)?;
/// assert_eq!((body.mass, body.center.length()), (6.0, 0.0));
/// // A sixth about its own middle, and the square of two about the common one.
/// assert!((body.inertia.z_axis.z - 6.0 * (1.0 / 6.0 + 4.0)).abs() < 1e-12);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume times density.
    pub mass: f64,
    /// The centre of mass, in the space of the shape.
    pub center: DVec3,
    /// The tensor of inertia about the centre of mass, along the axes of the shape's space.
    pub inertia: DMat3,
}

impl MassProperties {
    fn diagonal(mass: f64, center: DVec3, inertia: DVec3) -> MassProperties {
        MassProperties { mass, center, inertia: DMat3::from_diagonal(inertia) }
    }

    /// Inertia `mass * (y² + z²)` and so on, from the mean squares of the coordinates.
    fn from_squares(mass: f64, center: DVec3, squares: DVec3) -> MassProperties {
        let sum = squares.element_sum();
        MassProperties::diagonal(mass, center, (DVec3::splat(sum) - squares) * mass)
    }

    /// The same body turned and moved.
    fn placed(&self, pose: &super::PoseMatrix) -> MassProperties {
        let turn = pose.rotation;
        MassProperties {
            mass: self.mass,
            center: pose.apply(self.center),
            inertia: turn * self.inertia * turn.transpose(),
        }
    }

    /// Several bodies as one.
    fn joined(parts: &[MassProperties], otherwise: DVec3) -> MassProperties {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        if mass == 0.0 {
            return MassProperties::diagonal(0.0, otherwise, DVec3::ZERO);
        }
        let center: DVec3 = parts.iter().map(|part| part.center * (part.mass / mass)).sum();
        let about = |part: &MassProperties| {
            part.inertia + inertia_of(outer(part.center - center) * part.mass)
        };
        MassProperties { mass, center, inertia: parts.iter().map(about).sum() }
    }
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// The tensor of inertia that belongs to a matrix of second moments.
fn inertia_of(moments: DMat3) -> DMat3 {
    let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
    DMat3::from_diagonal(DVec3::splat(trace)) - moments
}

impl Shape {
    /// The volume; zero for surfaces, infinite for a half-space.
    pub fn volume(&self) -> f64 {
        self.unit_mass().mass
    }

    /// Mass, centre and inertia at a density, which must not be negative. Surfaces have mass zero
    /// and their [`center`](Shape::center) as centre; a half-space has infinite mass and inertia;
    /// pieces of a compound that overlap count twice there.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, ShapeError> {
        check_size("density", density)?;
        let MassProperties { mass, center, inertia } = self.unit_mass();
        if density == 0.0 {
            return Ok(MassProperties::diagonal(0.0, center, DVec3::ZERO));
        }
        Ok(MassProperties { mass: mass * density, center, inertia: inertia * density })
    }

    /// At density one.
    fn unit_mass(&self) -> MassProperties {
        let from_squares = MassProperties::from_squares;
        match self {
            Shape::Sphere { radius } => {
                let mass = ball(*radius);
                from_squares(mass, DVec3::ZERO, DVec3::splat(0.2 * radius * radius))
            }
            Shape::Cuboid { half_extents: half } => {
                let mass = 8.0 * half.x * half.y * half.z;
                from_squares(mass, DVec3::ZERO, *half * *half / 3.0)
            }
            Shape::Capsule { radius, half_height } => capsule(*radius, *half_height),
            Shape::Cylinder { radius, half_height } => cylinder(*radius, *half_height),
            Shape::Cone { radius, half_height } => {
                let mass = 2.0 / 3.0 * PI * radius * radius * half_height;
                let across = 0.15 * radius * radius;
                let squares = DVec3::new(across, 0.15 * half_height * half_height, across);
                from_squares(mass, DVec3::new(0.0, -0.5 * half_height, 0.0), squares)
            }
            Shape::Ellipsoid { radii } => {
                let mass = 4.0 / 3.0 * PI * radii.x * radii.y * radii.z;
                from_squares(mass, DVec3::ZERO, *radii * *radii * 0.2)
            }
            Shape::Triangle { .. } => MassProperties::diagonal(0.0, self.center(), DVec3::ZERO),
            Shape::Hull(hull) => hull_mass(hull),
            Shape::Rounded(_) | Shape::Custom(_) => sampled_mass(self),
            Shape::Mesh(mesh) if mesh.fill() == Fill::Solid => {
                let triangles = 0..mesh.triangles().len() as u32;
                tetrahedra(mesh.center(), triangles.map(|triangle| mesh.corners(triangle)))
            }
            Shape::Mesh(_) | Shape::HeightField(_) => {
                MassProperties::diagonal(0.0, self.center(), DVec3::ZERO)
            }
            Shape::HalfSpace { .. } => {
                MassProperties::diagonal(f64::INFINITY, self.center(), DVec3::splat(f64::INFINITY))
            }
            Shape::Compound(compound) => {
                let pieces = compound.pieces().iter();
                let parts: Vec<_> =
                    pieces.map(|piece| piece.shape.unit_mass().placed(piece.matrix())).collect();
                MassProperties::joined(&parts, self.center())
            }
        }
    }
}

/// By the hull of furthest points.
fn sampled_mass(shape: &Shape) -> MassProperties {
    let points: Vec<DVec3> =
        icosphere_points(5).into_iter().map(|direction| shape.support(direction)).collect();
    match Hull::new(&points) {
        Ok(hull) => hull_mass(&hull),
        Err(_) => MassProperties::diagonal(0.0, shape.center(), DVec3::ZERO),
    }
}

fn ball(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius * radius * radius
}

fn cylinder(radius: f64, half: f64) -> MassProperties {
    let mass = 2.0 * PI * radius * radius * half;
    let across = 0.25 * radius * radius;
    let squares = DVec3::new(across, half * half / 3.0, across);
    MassProperties::from_squares(mass, DVec3::ZERO, squares)
}

/// A cylinder and the two halves of a ball, whose middles are three eighths of the radius beyond
/// its ends.
fn capsule(radius: f64, half: f64) -> MassProperties {
    let (middle, ends) = (cylinder(radius, half), ball(radius));
    let along = 0.2 * radius * radius + half * half + 0.75 * half * radius;
    let across = 0.2 * radius * radius;
    let ends = MassProperties::from_squares(ends, DVec3::ZERO, DVec3::new(across, along, across));
    MassProperties {
        mass: middle.mass + ends.mass,
        center: DVec3::ZERO,
        inertia: middle.inertia + ends.inertia,
    }
}

/// Six times the volume of a tetrahedron at the origin is the determinant of its corners, and its
/// second moments are a twentieth of the volume times `s sᵀ + Σ a aᵀ`, with the sum `s` of the
/// corners `a`.
fn hull_mass(hull: &Hull) -> MassProperties {
    let middle = hull.center();
    if hull.dimension() < 3 {
        return MassProperties::diagonal(0.0, middle, DVec3::ZERO);
    }
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| hull.vertices()[vertex as usize]);
    tetrahedra(middle, hull.triangles().iter().map(corners))
}

/// By the tetrahedra between a point and triangles, whichever way these face.
fn tetrahedra(middle: DVec3, triangles: impl Iterator<Item = [DVec3; 3]>) -> MassProperties {
    let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for corners in triangles {
        let [a, b, c] = corners.map(|corner| corner - middle);
        let part = a.dot(b.cross(c)) / 6.0;
        let sum = a + b + c;
        volume += part;
        first += sum * (part / 4.0);
        second += (outer(sum) + outer(a) + outer(b) + outer(c)) * (part / 20.0);
    }
    if volume < 0.0 {
        (volume, first, second) = (-volume, -first, -second);
    }
    if volume <= 0.0 {
        return MassProperties::diagonal(0.0, middle, DVec3::ZERO);
    }
    let offset = first / volume;
    let inertia = inertia_of(second - outer(offset) * volume);
    MassProperties { mass: volume, center: middle + offset, inertia }
}
