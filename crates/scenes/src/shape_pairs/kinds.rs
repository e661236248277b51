//! Kinds of shapes by name.

use super::random::{between, direction};
use crate::Rng;
use glam::DVec3;
use jostle::shape::{Hull, Shape};
use std::sync::Arc;

/// Different shapes in a scene of a kind whose shapes differ.
const SHAPES: usize = 21;

/// A kind of shapes that pairs are made of.
#[derive(Debug, PartialEq, Eq)]
pub struct ShapeKind {
    /// Its name, such as `spheres-80`.
    pub name: &'static str,
    /// What the shapes are.
    pub about: &'static str,
    family: Family,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// By the number of subdivisions.
    Icospheres(u32),
    /// By the number of points.
    Hulls(usize),
    Boxes,
    Capsules,
    Balls,
    Mixed,
}

const fn kind(name: &'static str, family: Family, about: &'static str) -> ShapeKind {
    ShapeKind { name, about, family }
}

impl ShapeKind {
    /// All of them.
    pub const ALL: &[ShapeKind] = &[
        kind("spheres-80", Family::Icospheres(1), "triangulated spheres of 80 triangles"),
        kind("spheres-320", Family::Icospheres(2), "triangulated spheres of 320 triangles"),
        kind("spheres-1280", Family::Icospheres(3), "triangulated spheres of 1 280 triangles"),
        kind("spheres-5120", Family::Icospheres(4), "triangulated spheres of 5 120 triangles"),
        kind("spheres-20480", Family::Icospheres(5), "triangulated spheres of 20 480 triangles"),
        kind("hulls-12", Family::Hulls(12), "hulls of 12 random points"),
        kind("hulls-42", Family::Hulls(42), "hulls of 42 random points"),
        kind("hulls-162", Family::Hulls(162), "hulls of 162 random points"),
        kind("hulls-642", Family::Hulls(642), "hulls of 642 random points"),
        kind("boxes", Family::Boxes, "boxes"),
        kind("capsules", Family::Capsules, "capsules"),
        kind("balls", Family::Balls, "true spheres"),
        kind(
            "mixed",
            Family::Mixed,
            "balls, boxes, capsules, hulls, cylinders, cones and ellipsoids",
        ),
    ];

    /// The kind of a name.
    pub fn find(name: &str) -> Option<&'static ShapeKind> {
        ShapeKind::ALL.iter().find(|kind| kind.name == name)
    }

    /// Triangles of each shape, for triangulated spheres.
    pub fn triangles(&self) -> Option<usize> {
        match self.family {
            Family::Icospheres(subdivisions) => Some(20 << (2 * subdivisions)),
            _ => None,
        }
    }

    /// True if some of its pairs have a method of their own, such as closed forms, besides the
    /// iterations that serve all convex shapes.
    pub fn has_closed_forms(&self) -> bool {
        !matches!(self.family, Family::Icospheres(_) | Family::Hulls(_))
    }

    pub(super) fn shapes(&self, rng: &mut Rng) -> Vec<Shape> {
        match self.family {
            Family::Icospheres(subdivisions) => {
                [1.0, 0.75].map(|radius| icosphere(radius, subdivisions)).to_vec()
            }
            _ => (0..SHAPES).map(|number| self.shape(number, rng)).collect(),
        }
    }

    fn shape(&self, number: usize, rng: &mut Rng) -> Shape {
        match self.family {
            Family::Icospheres(subdivisions) => icosphere(1.0, subdivisions),
            Family::Hulls(count) => hull(count, rng),
            Family::Boxes => primitive(Primitive::Box, rng),
            Family::Capsules => primitive(Primitive::Capsule, rng),
            Family::Balls => primitive(Primitive::Ball, rng),
            Family::Mixed if number.is_multiple_of(7) => hull(12, rng),
            Family::Mixed => primitive(Primitive::ALL[number % 7 - 1], rng),
        }
    }
}

fn icosphere(radius: f64, subdivisions: u32) -> Shape {
    Shape::Hull(Arc::new(Hull::icosphere(radius, subdivisions).expect("a legal radius")))
}

/// The hull of points on an ellipsoid that is nearly a ball.
fn hull(count: usize, rng: &mut Rng) -> Shape {
    let stretch = DVec3::new(between(rng, 0.7, 1.3), between(rng, 0.7, 1.3), 1.0);
    let points: Vec<DVec3> = (0..count).map(|_| direction(rng) * stretch).collect();
    Shape::hull(&points).expect("points are finite")
}

/// Shapes that a few sizes tell.
#[derive(Clone, Copy)]
enum Primitive {
    Ball,
    Box,
    Capsule,
    Cylinder,
    Cone,
    Ellipsoid,
}

impl Primitive {
    const ALL: [Primitive; 6] = [
        Primitive::Ball,
        Primitive::Box,
        Primitive::Capsule,
        Primitive::Cylinder,
        Primitive::Cone,
        Primitive::Ellipsoid,
    ];
}

fn primitive(kind: Primitive, rng: &mut Rng) -> Shape {
    let [x, y, z] = std::array::from_fn(|_| between(rng, 0.5, 1.2));
    let shape = match kind {
        Primitive::Ball => Shape::sphere(x),
        Primitive::Box => Shape::cuboid(DVec3::new(x, y, z)),
        Primitive::Capsule => Shape::capsule(0.6 * x, y),
        Primitive::Cylinder => Shape::cylinder(x, y),
        Primitive::Cone => Shape::cone(x, y),
        Primitive::Ellipsoid => Shape::ellipsoid(DVec3::new(x, y, z)),
    };
    shape.expect("sizes are positive")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_kinds_and_triangles_are_as_said() {
        for kind in ShapeKind::ALL {
            assert_eq!(ShapeKind::find(kind.name), Some(kind));
            if let Some(count) = kind.triangles() {
                assert_eq!(kind.name, format!("spheres-{count}"));
            }
        }
        assert!(ShapeKind::find("spheres").is_none());
        let shapes = ShapeKind::find("spheres-320").unwrap().shapes(&mut Rng::new(1));
        let Shape::Hull(hull) = &shapes[0] else { panic!("no hull") };
        assert_eq!(hull.triangles().len(), 320);
    }

    #[test]
    fn mixed_has_seven_kinds() {
        let shapes = ShapeKind::find("mixed").unwrap().shapes(&mut Rng::new(1));
        let mut kinds: Vec<&str> = shapes.iter().map(Shape::kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), 7, "{kinds:?}");
    }
}
