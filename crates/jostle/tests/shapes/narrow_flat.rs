//! Two dimensions: normals and points stay in the plane, and agree with closed forms.

use glam::{DQuat, DVec3};
use jostle::narrow::{Options, PairCache, Placed, Query, Status};
use jostle::shape::{Pose, Shape};
use jostle::{Algorithm, Body, World};

fn at(x: f64, y: f64, z: f64, turn: f64) -> Pose {
    Pose::new(DQuat::from_rotation_z(turn), DVec3::new(x, y, z)).unwrap()
}

fn flat() -> Query {
    Query::new(Options::default().with_flat(true))
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

#[test]
fn thin_boxes_part_in_the_plane_and_not_along_z() {
    let (a, b) = (cuboid(1.0, 1.0, 0.01), cuboid(1.0, 1.0, 0.01));
    let (a, b) = (Placed::new(&a, at(0.0, 0.0, 0.0, 0.0)), Placed::new(&b, at(1.5, 0.2, 0.0, 0.0)));
    let deep = jostle::narrow::contact(&a, &b);
    assert!(
        (deep.normal.z.abs(), deep.depth) == (1.0, 0.02),
        "the reason for the option: {deep:?}"
    );
    let flat_contact = flat().contact(&a, &b, &mut PairCache::none());
    assert!((flat_contact.depth - 0.5).abs() < 1e-12, "{flat_contact:?}");
    assert!((flat_contact.normal - DVec3::X).length() < 1e-12, "{flat_contact:?}");
    let manifold = flat().manifold(&a, &b, 0.0, &mut PairCache::none()).unwrap();
    let mut heights: Vec<f64> = manifold.points().iter().map(|point| point.point_b.y).collect();
    heights.sort_by(f64::total_cmp);
    assert_eq!(heights.len(), 2, "{manifold:?}");
    assert!((heights[0] + 0.8).abs() < 1e-12 && (heights[1] - 1.0).abs() < 1e-12, "{manifold:?}");
    for point in manifold.points() {
        assert_eq!((point.point_a.z, point.point_b.z), (0.0, 0.0));
        assert!((point.separation + 0.5).abs() < 1e-12, "{point:?}");
    }
}

/// Circles, at any height, have the closed form of two dimensions.
#[test]
fn balls_are_circles_at_any_height() {
    let (one, two) = (Shape::sphere(1.0).unwrap(), Shape::sphere(2.0).unwrap());
    for (x, y) in [(3.0, 4.0), (1.0, 2.0), (0.3, 0.4), (0.0, 0.0)] {
        let a = Placed::new(&one, at(0.0, 0.0, -7.0, 0.3));
        let b = Placed::new(&two, at(x, y, 5.0, 1.0));
        let contact = flat().contact(&a, &b, &mut PairCache::none());
        let expected = f64::hypot(x, y) - 3.0;
        assert!((contact.signed_distance() - expected).abs() < 1e-9, "{x} {y} {contact:?}");
        assert_eq!((contact.normal.z, contact.point_a.z, contact.point_b.z), (0.0, 0.0, 0.0));
        assert!((contact.normal.length() - 1.0).abs() < 1e-12);
        let hit = flat().intersects(&a, &b, &mut PairCache::none()).hit;
        assert_eq!(hit, expected <= 0.0, "{x} {y}");
        assert_eq!(flat().distance(&a, &b, &mut PairCache::none()), contact.distance);
    }
}

/// A turned square against a square: the least overlap over the four edge normals of both.
#[test]
fn turned_squares_have_the_depth_of_two_dimensions() {
    let square = cuboid(1.0, 1.0, 3.0);
    let (mut overlapping, mut apart) = (0, 0);
    for step in 0..400 {
        let k = f64::from(step);
        let (turn_a, turn_b) = (k * 0.37, k * 0.73 + 0.1);
        let offset = DVec3::new((k * 0.11).sin() * 2.5, (k * 0.17).cos() * 2.5, 0.0);
        let a = Placed::new(&square, at(0.0, 0.0, k, turn_a));
        let b = Placed::new(&square, at(offset.x, offset.y, -k, turn_b));
        let mut gap = f64::NEG_INFINITY;
        for turn in [turn_a, turn_b] {
            for quarter in 0..2 {
                let angle = turn + f64::from(quarter) * std::f64::consts::FRAC_PI_2;
                let axis = DVec3::new(angle.cos(), angle.sin(), 0.0);
                let reach = |turn: f64| (angle - turn).cos().abs() + (angle - turn).sin().abs();
                gap = gap.max(offset.dot(axis).abs() - reach(turn_a) - reach(turn_b));
            }
        }
        let contact = flat().contact(&a, &b, &mut PairCache::none());
        let back = flat().contact(&b, &a, &mut PairCache::none());
        assert_eq!((contact.depth, contact.normal), (back.depth, -back.normal), "{step}");
        if gap < -1e-9 {
            overlapping += 1;
            assert!((contact.depth + gap).abs() < 1e-9, "{step}: {gap} {contact:?}");
        } else if gap > 1e-9 {
            apart += 1;
            assert_eq!(contact.status, Status::Separated, "{step}");
            assert!(contact.distance >= gap - 1e-9, "{step}: {gap} {contact:?}");
        }
    }
    assert!(overlapping > 80 && apart > 80, "{overlapping} overlap, {apart} apart");
}

#[test]
fn walls_and_compounds_are_flat_too() {
    let wall = Shape::half_space(DVec3::X, 0.0).unwrap();
    let pieces = [-2.0, 2.0].map(|y| (cuboid(0.5, 0.5, 0.1), at(0.0, y, 40.0, 0.0)));
    let table = Shape::compound(pieces.to_vec()).unwrap();
    let (a, b) = (Placed::new(&wall, Pose::IDENTITY), Placed::new(&table, at(0.4, 0.0, 9.0, 0.0)));
    let contact = flat().contact(&a, &b, &mut PairCache::none());
    assert!((contact.depth - 0.1).abs() < 1e-12, "{contact:?}");
    let ball = Shape::sphere(1.0).unwrap();
    let c = Placed::new(&ball, at(0.4, 3.0, -9.0, 0.0));
    let contact = flat().contact(&b, &c, &mut PairCache::none());
    assert!((contact.depth - 0.5).abs() < 1e-12 && contact.normal.z == 0.0, "{contact:?}");
    let floor = Shape::half_space(DVec3::Z, 0.0).unwrap();
    let all = Placed::new(&floor, Pose::IDENTITY);
    assert_eq!(flat().contact(&all, &c, &mut PairCache::none()).depth, f64::INFINITY);
}

#[test]
fn a_flat_world_keeps_contacts_in_the_plane() {
    let mut world = World::new(Algorithm::Auto);
    let coin = Shape::cuboid(DVec3::new(1.0, 1.0, 0.01)).unwrap();
    let one = world.insert(Body::new(coin.clone(), at(0.0, 0.0, 0.0, 0.0))).unwrap();
    // Far away along z, which does not matter in two dimensions.
    world.insert(Body::new(coin, at(1.9, 0.0, 50.0, 0.0))).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    world.set_flat(true);
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.began.len()), (1, 1));
    assert!((step.touches[0].contact.depth - 0.1).abs() < 1e-12);
    assert_eq!(step.touches[0].contact.normal, DVec3::X);
    world.set_pose(one, at(-0.2, 0.0, -3.0, 0.0)).unwrap();
    assert_eq!(world.step().unwrap().ended.len(), 1);
    world.set_flat(false);
    assert!(world.step().unwrap().touches.is_empty());
}
