//! Support points: the point of a shape furthest in a direction, in the shape's local space.
//!
//! The direction need not be of unit length. Where several points are furthest, the rule is
//! one that keeps iterations short: boxes and capsules take the positive side, discs seen
//! exactly along their axis answer with their centre, hulls with the lowest vertex index.

use super::{Shape, unit};
use glam::{DVec2, DVec3};

impl Shape {
    /// The point of the shape furthest in a local direction. For a compound, of its convex
    /// hull. A half-space has one only along its normal; the point of its plane nearest to the
    /// origin stands for it.
    #[inline]
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.support_from(direction, &mut 0)
    }

    /// Like [`support`](Shape::support), for a hull starting at the vertex `hint` of the last
    /// call and leaving the new one there. Any hint is legal; it changes time, never the answer.
    #[inline]
    pub fn support_from(&self, direction: DVec3, hint: &mut u32) -> DVec3 {
        let core = self.core_support_from(direction, hint);
        match self {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => {
                core + unit(direction) * *radius
            }
            Shape::Rounded(rounded) => core + unit(direction) * rounded.margin(),
            _ => core,
        }
    }

    /// The point of the core furthest in a direction; see [`margin`](Shape::margin).
    #[inline]
    pub fn core_support(&self, direction: DVec3) -> DVec3 {
        self.core_support_from(direction, &mut 0)
    }

    /// Like [`core_support`](Shape::core_support), with a hint for hulls.
    #[inline]
    pub fn core_support_from(&self, direction: DVec3, hint: &mut u32) -> DVec3 {
        match self {
            Shape::Sphere { .. } => DVec3::ZERO,
            Shape::Cuboid { half_extents } => DVec3::new(
                toward(half_extents.x, direction.x),
                toward(half_extents.y, direction.y),
                toward(half_extents.z, direction.z),
            ),
            Shape::Capsule { half_height, .. } => {
                DVec3::new(0.0, toward(*half_height, direction.y), 0.0)
            }
            Shape::Cylinder { radius, half_height } => {
                let rim = rim(*radius, direction);
                DVec3::new(rim.x, toward(*half_height, direction.y), rim.y)
            }
            Shape::Cone { radius, half_height } => cone(*radius, *half_height, direction),
            Shape::Ellipsoid { radii } => ellipsoid(*radii, direction),
            Shape::Triangle { points } => triangle(points, direction),
            Shape::Hull(hull) => hull.support_from(direction, hint),
            Shape::HalfSpace { normal, offset } => *normal * *offset,
            Shape::Compound(compound) => compound.support(direction),
            Shape::Rounded(rounded) => rounded.shape().core_support_from(direction, hint),
            Shape::Custom(custom) => custom.support(direction),
            Shape::Mesh(mesh) => mesh.support(direction),
            Shape::HeightField(field) => field.support(direction),
        }
    }
}

/// The end of `[-size, size]` on the side of `direction`; the positive one for zero.
#[inline(always)]
fn toward(size: f64, direction: f64) -> f64 {
    if direction < 0.0 { -size } else { size }
}

/// The furthest point of a disc across y; its centre for directions exactly along y.
#[inline]
fn rim(radius: f64, direction: DVec3) -> DVec2 {
    let across = DVec2::new(direction.x, direction.z);
    let square = across.length_squared();
    if (1e-200..1e200).contains(&square) {
        return across * (radius / square.sqrt());
    }
    let largest = across.abs().max_element();
    if largest == 0.0 || !largest.is_finite() {
        return DVec2::ZERO;
    }
    let scaled = across / largest;
    scaled * (radius / scaled.length())
}

#[inline]
fn cone(radius: f64, half_height: f64, direction: DVec3) -> DVec3 {
    let rim = rim(radius, direction);
    // Apex against rim: their difference along the direction.
    let across = direction.x * rim.x + direction.z * rim.y;
    if 2.0 * half_height * direction.y >= across {
        DVec3::new(0.0, half_height, 0.0)
    } else {
        DVec3::new(rim.x, -half_height, rim.y)
    }
}

#[inline]
fn ellipsoid(radii: DVec3, direction: DVec3) -> DVec3 {
    // The direction is scaled first so that the squares below neither vanish nor overflow.
    let stretched = radii * unit(direction);
    let largest = stretched.abs().max_element();
    if largest == 0.0 {
        return DVec3::ZERO;
    }
    let scaled = stretched / largest;
    radii * (scaled / scaled.length())
}

#[inline]
fn triangle(points: &[DVec3; 3], direction: DVec3) -> DVec3 {
    let dots = points.map(|point| point.dot(direction));
    let mut best = 0;
    if dots[1] > dots[best] {
        best = 1;
    }
    if dots[2] > dots[best] {
        best = 2;
    }
    points[best]
}
