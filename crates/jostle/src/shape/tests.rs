//! Bounds and support points of every kind of shape against each other, and the errors.

use super::hull::tests::Random;
use super::*;
use crate::{Aabb, Axis};
use glam::DQuat;
use proptest::prelude::*;

fn some_hull(random: &mut Random) -> Shape {
    let points: Vec<DVec3> = (0..100).map(|_| random.vector()).collect();
    Shape::hull(&points).unwrap()
}

/// One of each kind that has bounds, with sizes below one; zeros among them.
pub(super) fn shapes(seed: u64) -> Vec<Shape> {
    let mut random = Random(seed);
    let mut size = || {
        let value = random.signed();
        if value < -0.8 { 0.0 } else { value.abs() }
    };
    let (radius, half_height) = (size(), size());
    let sizes = DVec3::new(size(), size(), size());
    let points = [random.vector(), random.vector(), random.vector()];
    let turn = DQuat::from_scaled_axis(random.vector() * 3.0);
    let pose = Pose::new(turn, random.vector()).unwrap();
    let mut all = vec![
        Shape::sphere(radius).unwrap(),
        Shape::cuboid(sizes).unwrap(),
        Shape::capsule(radius, half_height).unwrap(),
        Shape::cylinder(radius, half_height).unwrap(),
        Shape::cone(radius, half_height).unwrap(),
        Shape::ellipsoid(sizes).unwrap(),
        Shape::triangle(points).unwrap(),
        some_hull(&mut random),
    ];
    let pieces =
        all.iter().map(|shape| (shape.clone(), pose)).chain([(all[1].clone(), Pose::IDENTITY)]);
    all.push(Shape::compound(pieces.collect()).unwrap());
    all
}

/// Random points of a shape, by rejection or by convex combination.
pub(super) fn inside(shape: &Shape, random: &mut Random) -> DVec3 {
    let disc = |random: &mut Random| {
        let (turn, root) = (random.signed() * std::f64::consts::PI, random.signed().abs().sqrt());
        (turn.cos() * root, turn.sin() * root)
    };
    let ball = |random: &mut Random| unit(random.vector()) * random.signed().abs().cbrt();
    match shape {
        Shape::Sphere { radius } => ball(random) * *radius,
        Shape::Cuboid { half_extents } => random.vector() * *half_extents,
        Shape::Capsule { radius, half_height } => {
            ball(random) * *radius + DVec3::Y * random.signed() * *half_height
        }
        Shape::Cylinder { radius, half_height } => {
            let (x, z) = disc(random);
            DVec3::new(x * radius, random.signed() * half_height, z * radius)
        }
        Shape::Cone { radius, half_height } => {
            let ((x, z), y) = (disc(random), random.signed());
            let share = radius * 0.5 * (1.0 - y);
            DVec3::new(x * share, y * half_height, z * share)
        }
        Shape::Ellipsoid { radii } => ball(random) * *radii,
        Shape::Triangle { points } => mix(points, random),
        Shape::Hull(hull) => mix(hull.vertices(), random),
        Shape::Compound(compound) => {
            let pieces = compound.pieces();
            let pick = (random.signed().abs() * pieces.len() as f64) as usize % pieces.len();
            pieces[pick].pose.apply(inside(&pieces[pick].shape, random))
        }
        Shape::Rounded(rounded) => {
            inside(rounded.shape(), random) + ball(random) * rounded.margin()
        }
        Shape::Mesh(mesh) => {
            let pick = (random.signed().abs() * mesh.triangles().len() as f64) as u32;
            mix(&mesh.corners(pick), random)
        }
        Shape::HalfSpace { .. } | Shape::Custom(_) | Shape::HeightField(_) => {
            unreachable!("not among the shapes of these tests")
        }
    }
}

fn mix(points: &[DVec3], random: &mut Random) -> DVec3 {
    let weights: Vec<f64> = points.iter().map(|_| random.signed().abs().powi(8)).collect();
    let sum: f64 = weights.iter().sum();
    points.iter().zip(&weights).map(|(&point, weight)| point * (weight / sum)).sum()
}

proptest! {
    #[test]
    fn bounds_hold_the_shape_and_touch_it(
        seed: u64,
        turn in prop::array::uniform3(-3.0..3.0f64),
        at in prop::array::uniform3(-10.0..10.0f64),
    ) {
        let mut random = Random(seed);
        let pose = Pose::new(DQuat::from_scaled_axis(turn.into()), at.into()).unwrap();
        for shape in shapes(seed) {
            let bounds = shape.bounds(&pose);
            for _ in 0..50 {
                let point = pose.apply(inside(&shape, &mut random));
                for k in 0..3 {
                    // The sampled point itself is rounded, by less than this.
                    let (low, high) = (f64::from(bounds.min[k]), f64::from(bounds.max[k]));
                    prop_assert!(low - 1e-14 <= point[k] && point[k] <= high + 1e-14);
                }
            }
            touches(&shape, &pose, &bounds);
        }
    }

    #[test]
    fn support_points_are_in_the_shape_and_furthest(seed: u64) {
        let mut random = Random(seed);
        for shape in shapes(seed) {
            for _ in 0..20 {
                let direction = random.vector();
                let reach = shape.support(direction).dot(direction);
                let scaled = shape.support(direction * 1e-180).dot(direction);
                prop_assert!((reach - scaled).abs() < 1e-12, "{}", shape.kind());
                for _ in 0..20 {
                    let point = inside(&shape, &mut random);
                    prop_assert!(point.dot(direction) <= reach + 1e-12, "{}", shape.kind());
                    let apart = point.distance(shape.center());
                    prop_assert!(apart <= shape.bounding_radius() + 1e-12, "{}", shape.kind());
                }
                let core = shape.core_support(direction) + unit(direction) * shape.margin();
                prop_assert!((core.dot(direction) - reach).abs() < 1e-12);
                member(&shape, shape.support(direction));
            }
            for odd in [0.0, -0.0, f64::INFINITY] {
                member(&shape, shape.support(DVec3::splat(odd)));
            }
        }
    }
}

/// Bounds are as tight as f32 allows: one step inward the support point sticks out.
fn touches(shape: &Shape, pose: &Pose, bounds: &Aabb) {
    for k in 0..3 {
        let axis = pose.inverse_apply_vector(DVec3::AXES[k]);
        let high = pose.apply(shape.support(axis))[k];
        let low = pose.apply(shape.support(-axis))[k];
        let step = |value: f64| f64::from((value as f32).next_up() - value as f32).abs() * 1.01;
        let loose_above = f64::from(bounds.max[k]) - high;
        let loose_below = low - f64::from(bounds.min[k]);
        assert!((-1e-14..=step(high) + 1e-13).contains(&loose_above), "{}", shape.kind());
        assert!((-1e-14..=step(low) + 1e-13).contains(&loose_below), "{}", shape.kind());
    }
}

/// A support point is a point of its shape, up to rounding.
fn member(shape: &Shape, point: DVec3) {
    let size = 1e-12;
    let good = match shape {
        Shape::Sphere { radius } => (point.length() - radius).abs() <= size,
        Shape::Cuboid { half_extents } => point.abs() == *half_extents,
        Shape::Capsule { radius, half_height } => {
            let nearest = DVec3::Y * point.y.clamp(-half_height, *half_height);
            (point.distance(nearest) - radius).abs() <= size
        }
        Shape::Cylinder { radius, half_height } => {
            point.x.hypot(point.z) <= radius + size && point.y.abs() == *half_height
        }
        Shape::Cone { radius, half_height } => {
            let apex = point == DVec3::new(0.0, *half_height, 0.0);
            apex || (point.x.hypot(point.z) <= radius + size && point.y == -half_height)
        }
        Shape::Ellipsoid { radii } => {
            let share = |k: usize| if radii[k] > 0.0 { point[k] / radii[k] } else { point[k] };
            DVec3::new(share(0), share(1), share(2)).length() <= 1.0 + 1e-9
        }
        Shape::Triangle { points } => points.contains(&point),
        Shape::Hull(hull) => hull.vertices().contains(&point),
        Shape::Mesh(mesh) => mesh.vertices().contains(&point),
        Shape::HeightField(field) => field.heights().contains(&point.y),
        Shape::Compound(_) | Shape::HalfSpace { .. } => point.is_finite(),
        Shape::Rounded(_) | Shape::Custom(_) => point.is_finite(),
    };
    assert!(good, "{shape:?}: {point}");
}

#[test]
fn unrotated_bounds_are_exact() {
    let unit_box = Shape::cuboid(DVec3::ONE).unwrap();
    assert_eq!(unit_box.bounds(&Pose::IDENTITY), Aabb::new([-1.0; 3], [1.0; 3]));
    let pose = Pose::from_translation(DVec3::splat(0.1)).unwrap();
    let bounds = Shape::sphere(0.0).unwrap().bounds(&pose);
    assert_eq!(bounds, Aabb::from_f64([0.1; 3], [0.1; 3]));
    // One plus less than its last bit must still round up.
    let bounds = Shape::sphere(1e-30).unwrap().bounds(&Pose::from_translation(DVec3::ONE).unwrap());
    assert_eq!(bounds, Aabb::new([1.0f32.next_down(); 3], [1.0f32.next_up(); 3]));
}

#[test]
fn half_spaces_are_bounded_along_an_axis_only() {
    let floor = Shape::half_space(DVec3::new(0.0, 2.0, 0.0), 3.0).unwrap();
    let Shape::HalfSpace { normal, offset } = floor else { unreachable!() };
    assert_eq!((normal, offset), (DVec3::Y, 1.5));
    let bounds = floor.bounds(&Pose::from_translation(DVec3::new(5.0, 1.0, 0.0)).unwrap());
    assert_eq!(bounds, Aabb { max: [f32::INFINITY, 2.5, f32::INFINITY], ..Aabb::EVERYTHING });
    let ceiling = Shape::half_space(-DVec3::Y, 1.5).unwrap();
    assert_eq!(ceiling.bounds(&Pose::IDENTITY).min, [f32::NEG_INFINITY, -1.5, f32::NEG_INFINITY]);
    let tilted = Pose::new(DQuat::from_rotation_x(0.1), DVec3::ZERO).unwrap();
    assert_eq!(floor.bounds(&tilted), Aabb::EVERYTHING);
    let slanted = Shape::half_space(DVec3::ONE * 1e-30, 0.0).unwrap();
    let Shape::HalfSpace { normal, .. } = slanted else { unreachable!() };
    assert!((normal.length() - 1.0).abs() < 1e-15);
    assert_eq!(slanted.bounding_radius(), f64::INFINITY);
    assert!(!slanted.is_bounded());
}

#[test]
fn bad_sizes_are_named() {
    for value in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2e60] {
        let bad = |result: Result<Shape, ShapeError>, expected: &str| {
            let ShapeError::Size { field, value: found } = result.unwrap_err() else { panic!() };
            assert_eq!(field, expected);
            assert_eq!(found.to_bits(), value.to_bits());
        };
        bad(Shape::sphere(value), "radius");
        bad(Shape::capsule(value, 1.0), "radius");
        bad(Shape::capsule(1.0, value), "half_height");
        bad(Shape::cylinder(value, 1.0), "radius");
        bad(Shape::cylinder(1.0, value), "half_height");
        bad(Shape::cone(value, 1.0), "radius");
        bad(Shape::cone(1.0, value), "half_height");
        bad(Shape::cuboid(DVec3::new(1.0, value, 1.0)), "half_extents y");
        bad(Shape::ellipsoid(DVec3::new(1.0, 1.0, value)), "radii z");
    }
    let text = Shape::sphere(-1.0).unwrap_err().to_string();
    assert_eq!(text, "radius = -1; give a number from 0 to 1e60");
}

#[test]
fn bad_points_and_planes_are_named() {
    let fault = Shape::triangle([DVec3::ZERO, DVec3::X, DVec3::new(0.0, 0.0, f64::NAN)]);
    let ShapeError::Coordinate { field, index, axis, .. } = fault.unwrap_err() else { panic!() };
    assert_eq!((field, index, axis), ("points", 2, Axis::Z));
    assert_eq!(Shape::half_space(DVec3::ZERO, 1.0).unwrap_err(), ShapeError::ZeroNormal);
    assert!(Shape::half_space(DVec3::X, f64::NAN).is_err());
    assert!(Shape::half_space(DVec3::X * f64::INFINITY, 1.0).is_err());
    // The plane of a tiny normal may lie out of reach.
    assert!(Shape::half_space(DVec3::X * 1e-50, 1e50).is_err());
    assert!(Shape::HalfSpace { normal: DVec3::X * 2.0, offset: 0.0 }.check().is_err());
}

#[test]
fn compounds_take_only_convex_bounded_pieces() {
    let ball = || Shape::sphere(1.0).unwrap();
    assert_eq!(Shape::compound(vec![]).unwrap_err(), ShapeError::EmptyCompound);
    let pair = Shape::compound(vec![(ball(), Pose::IDENTITY)]).unwrap();
    let nested = Shape::compound(vec![(ball(), Pose::IDENTITY), (pair, Pose::IDENTITY)]);
    assert_eq!(nested.unwrap_err(), ShapeError::NestedCompound { index: 1 });
    let floor = Shape::half_space(DVec3::Y, 0.0).unwrap();
    let endless = Shape::compound(vec![(floor, Pose::IDENTITY)]);
    assert_eq!(endless.unwrap_err(), ShapeError::UnboundedPiece { index: 0 });
    let wrong = Shape::compound(vec![(Shape::Sphere { radius: -2.0 }, Pose::IDENTITY)]);
    assert_eq!(
        wrong.unwrap_err().to_string(),
        "piece 0: radius = -2; give a number from 0 to 1e60"
    );
}

#[test]
fn zero_sizes_are_points_segments_and_discs() {
    let direction = DVec3::new(1.0, 2.0, -2.0);
    assert_eq!(Shape::sphere(0.0).unwrap().support(direction), DVec3::ZERO);
    assert_eq!(Shape::capsule(0.0, 1.0).unwrap().support(direction), DVec3::Y);
    assert_eq!(Shape::cone(0.0, 1.0).unwrap().support(-direction), -DVec3::Y);
    let disc = Shape::cylinder(5.0, 0.0).unwrap();
    assert!(disc.support(direction).distance(DVec3::new(5.0, 0.0, -10.0) / 5.0f64.sqrt()) < 1e-14);
    assert_eq!(disc.support(DVec3::Y), DVec3::ZERO);
    assert_eq!(Shape::ellipsoid(DVec3::ZERO).unwrap().support(direction), DVec3::ZERO);
    assert_eq!(Shape::ellipsoid(DVec3::Y).unwrap().support(-direction), -DVec3::Y);
}
