//! Corners of the narrow phase: shapes without length or area, ties, needles, and pairs at the
//! limits of tolerances. Answers are held against formulas and searches of this file, which share
//! no code with the library, or where there are none (rigid motions, sampling in time, questions at
//! the limit) against each other.

use glam::{DQuat, DVec3};
use jostle::narrow::{
    self, Contact, ImpactStatus, Method, Motion, Moving, Options, PairCache, Placed, Query, Status,
    TOUCH,
};
use jostle::shape::{Pose, Shape};
use proptest::prelude::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, TAU};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).expect("a pose")
}

fn turned(axis: DVec3, place: DVec3) -> Pose {
    Pose::new(DQuat::from_scaled_axis(axis).normalize(), place).expect("a pose")
}

fn capsule(radius: f64, half_height: f64) -> Shape {
    Shape::capsule(radius, half_height).expect("a capsule")
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).expect("a box")
}

fn corners(half: DVec3) -> Vec<DVec3> {
    (0..8)
        .map(|bits| {
            let side = |bit: usize| if bits >> bit & 1 == 0 { -1.0 } else { 1.0 };
            half * DVec3::new(side(0), side(1), side(2))
        })
        .collect()
}

/// One shape of each of six kinds; the hull is a plate of this half thickness.
fn kinds_of_shapes(plate: f64) -> Vec<Shape> {
    vec![
        Shape::ellipsoid(DVec3::new(1.0, 0.4, 0.7)).expect("an ellipsoid"),
        Shape::cone(0.8, 0.6).expect("a cone"),
        Shape::cylinder(0.5, 1.0).expect("a cylinder"),
        cuboid(0.5, 0.7, 0.9),
        capsule(0.3, 0.8),
        Shape::hull(&corners(DVec3::new(0.9, plate, 0.6))).expect("a plate"),
    ]
}

/// How far a point is outside a shape, in the shape's own space: formulas, no searches.
fn outside(shape: &Shape, point: DVec3) -> f64 {
    let round = (point.x.hypot(point.z), point.y);
    let beyond = |value: f64, half: f64| (value.abs() - half).max(0.0);
    match shape {
        Shape::Sphere { radius } => (point.length() - radius).max(0.0),
        Shape::Cuboid { half_extents } => (point.abs() - *half_extents).max(DVec3::ZERO).length(),
        Shape::Capsule { radius, half_height } => {
            (round.0.hypot(beyond(round.1, *half_height)) - radius).max(0.0)
        }
        Shape::Cylinder { radius, half_height } => {
            beyond(round.0, *radius).hypot(beyond(round.1, *half_height))
        }
        Shape::Triangle { points } => from_triangle(point, *points),
        // In this file the corners of a box.
        Shape::Hull(hull) => {
            let half = hull.vertices().iter().fold(DVec3::ZERO, |half, v| half.max(v.abs()));
            (point.abs() - half).max(DVec3::ZERO).length()
        }
        other => panic!("{other:?} has no formula here"),
    }
}

fn from_segment(point: DVec3, a: DVec3, b: DVec3) -> f64 {
    let side = b - a;
    let place = if side == DVec3::ZERO { 0.0 } else { side.dot(point - a) / side.dot(side) };
    point.distance(a + side * place.clamp(0.0, 1.0))
}

fn from_triangle(point: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let normal = (b - a).cross(c - a);
    let inside = [(a, b), (b, c), (c, a)]
        .into_iter()
        .all(|(p, q)| normal.dot((q - p).cross(point - p)) >= 0.0);
    let sides =
        from_segment(point, a, b).min(from_segment(point, b, c)).min(from_segment(point, c, a));
    match normal.try_normalize() {
        Some(unit) if inside => unit.dot(point - a).abs(),
        _ => sides,
    }
}

/// Every point of a manifold lies on both shapes, and none is deeper than the contact.
fn check_manifold(a: &Placed<'_>, b: &Placed<'_>, tolerance: f64) {
    let Some(manifold) = narrow::manifold(a, b, 0.0) else { return };
    let deepest = manifold.contact.signed_distance();
    assert!(!manifold.points().is_empty());
    for point in manifold.points() {
        let label = || format!("{point:?}\n{manifold:?}\n{a:?}\n{b:?}");
        assert!(point.separation >= deepest - tolerance, "too deep: {}", label());
        let along = (point.point_b - point.point_a).dot(point.normal);
        assert!((along - point.separation).abs() <= tolerance, "separation: {}", label());
        for (placed, point) in [(a, point.point_a), (b, point.point_b)] {
            let off = outside(placed.shape, placed.pose.inverse_apply(point));
            assert!(off <= tolerance, "off by {off:e}: {}", label());
        }
    }
}

#[test]
fn a_capsule_without_length_beside_a_long_one() {
    for (first, second) in [(0.0, 10.0), (10.0, 0.0), (0.0, 0.0), (1e-200, 10.0), (1e-12, 10.0)] {
        let (a, b) = (capsule(1.0, first), capsule(1.0, second));
        let (a, b) = (Placed::new(&a, Pose::IDENTITY), Placed::new(&b, at(1.5, 0.0, 0.0)));
        let manifold = narrow::manifold(&a, &b, 0.0).expect("they overlap");
        for point in manifold.points() {
            assert!((point.separation + 0.5).abs() < 1e-12, "{manifold:?}");
            assert!(point.point_a.y.abs() < 1e-9, "{manifold:?}");
        }
        check_manifold(&a, &b, 1e-12);
    }
}

#[test]
fn discs_and_degenerate_triangles_have_points_on_themselves() {
    let triangle =
        |points: [[f64; 3]; 3]| Shape::triangle(points.map(DVec3::from)).expect("a triangle");
    let shapes = [
        Shape::cylinder(1.0, 0.0).expect("a disc"),
        Shape::cylinder(0.0, 1.0).expect("a stick"),
        Shape::cylinder(1.0, 1e-13).expect("a disc"),
        capsule(0.0, 1.0),
        cuboid(1.0, 0.0, 0.5),
        cuboid(1.0, 1e-13, 1e-13),
        triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.0, 0.0]]),
        triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]),
        triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1e-9, 0.0]]),
        triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, -0.03, 0.0]]),
        triangle([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.1, 0.7]]),
        Shape::hull(&corners(DVec3::new(1.0, 1e-9, 1e-9))).expect("a needle"),
        Shape::hull(&corners(DVec3::new(1.0, 0.3, 1e-10))).expect("a sheet"),
    ];
    let turns = [
        DVec3::ZERO,
        DVec3::X * FRAC_PI_2,
        DVec3::Y * FRAC_PI_2,
        DVec3::Z * FRAC_PI_2,
        DVec3::new(0.01, 0.0, 0.02),
        DVec3::new(0.3, -0.4, 0.5),
    ];
    let places =
        [DVec3::ZERO, DVec3::Y * 1e-3, DVec3::new(0.2, -1e-3, 0.1), DVec3::new(0.9, 0.0, 0.3)];
    let partners = [capsule(0.5, 2.0), cuboid(0.4, 2.0, 0.3), cuboid(2.0, 0.5, 2.0)];
    for a in shapes.iter().chain(&partners) {
        for b in &shapes {
            for (turn, place) in turns.iter().flat_map(|t| places.iter().map(move |p| (t, p))) {
                let (a, b) =
                    (Placed::new(a, Pose::IDENTITY), Placed::new(b, turned(*turn, *place)));
                check_manifold(&a, &b, 2e-6);
                check_manifold(&b, &a, 2e-6);
            }
        }
    }
}

fn prism(sides: usize, half: f64) -> (Shape, Vec<DVec3>) {
    let rim = (0..sides).map(|k| {
        let angle = TAU * k as f64 / sides as f64;
        DVec3::new(angle.cos(), 0.0, angle.sin())
    });
    let points: Vec<DVec3> = rim.flat_map(|p| [p + DVec3::Y * half, p - DVec3::Y * half]).collect();
    (Shape::hull(&points).expect("a prism"), points)
}

/// On its axis a prism is left on all sides equally well; the point must lie on the side that the
/// normal names.
#[test]
fn points_of_ties_lie_on_the_shapes() {
    for sides in 3..=40 {
        for (half, length) in [(1.0, 0.5), (2.0, 1.0), (2.0, 3.0), (5.0, 0.25)] {
            for noise in [0.0, 1e-15, 1e-12, 1e-9] {
                let (prism, corners) = prism(sides, half);
                let rod = capsule(0.25, length);
                let pose = turned(DVec3::new(1.0, 0.7, -0.4) * noise, DVec3::splat(noise));
                let contact =
                    narrow::contact(&Placed::new(&prism, Pose::IDENTITY), &Placed::new(&rod, pose));
                let label = || format!("{sides} sides, {half} {length} {noise:e}: {contact:?}");
                // The rod: its surface, and not inside by more than the tolerance either.
                let local = pose.inverse_apply(contact.point_b);
                let core = from_segment(local, DVec3::Y * length, DVec3::NEG_Y * length);
                assert!((core - 0.25).abs() < 1e-9, "{core} {}", label());
                // The prism: inside all planes through its sides and ends, and on one of them.
                let apothem = (TAU / 2.0 / sides as f64).cos();
                let heights = (0..sides).map(|k| {
                    let angle = TAU * (k as f64 + 0.5) / sides as f64;
                    let normal = DVec3::new(angle.cos(), 0.0, angle.sin());
                    contact.point_a.dot(normal) - apothem
                });
                let ends = contact.point_a.y.abs() - half;
                let height = heights.fold(ends, f64::max);
                assert!(height.abs() < 1e-9, "{height:e} off {corners:?}: {}", label());
            }
        }
    }
}

/// What is left of an overlap along the normal after moving by the depth, from the reach of two
/// capsules by formula.
fn capsules_left(a: (f64, f64), b: (f64, f64), pose: &Pose, contact: &Contact) -> f64 {
    let normal = contact.normal;
    let reach = |(radius, half): (f64, f64), axis: DVec3| radius + half * axis.dot(normal).abs();
    let axis = pose.apply_vector(DVec3::Y);
    let moved = pose.translation().dot(normal) - contact.signed_distance();
    reach(a, DVec3::Y) + reach(b, axis) - moved
}

proptest! {
    #[test]
    fn close_capsules_keep_their_bound(
        tilt in -16.0..-1.0f64, about in 0.0..TAU, apart in -14.0..-0.5f64,
        direction in 0.0..TAU, along in -1.0..1.0f64,
        half_a in prop::sample::select(vec![0.0, 0.5, 1.0, 3.0]), half_b in 0.1..3.0f64,
    ) {
        let axis = DVec3::new(about.cos(), 0.0, about.sin()) * 10f64.powf(tilt);
        let apart = 10f64.powf(apart);
        let place = DVec3::new(apart * direction.cos(), along, apart * direction.sin());
        let (a, b) = ((0.5, half_a), (0.4, half_b));
        let pose = turned(axis, place);
        let shapes = [capsule(a.0, a.1), capsule(b.0, b.1)];
        let contact = narrow::contact(
            &Placed::new(&shapes[0], Pose::IDENTITY),
            &Placed::new(&shapes[1], pose),
        );
        let size = a.0 + a.1 + b.0 + b.1;
        let left = capsules_left(a, b, &pose, &contact);
        let allowed = contact.bound + 8.0 * f64::EPSILON * size;
        prop_assert!(left <= allowed, "{left:e} left, {allowed:e} promised: {contact:?}");
        prop_assert!(contact.bound <= 1e-11 * size, "a poor bound: {contact:?}");
    }

    /// Against all directions that can be the answer, from the points themselves.
    #[test]
    fn axes_find_the_depth_of_needles(
        size_a in prop::array::uniform3(-9.0..0.0f64),
        size_b in prop::array::uniform3(-3.0..0.0f64),
        turn in prop::array::uniform3(-3.0..3.0f64), place in prop::array::uniform3(-0.3..0.3f64),
        skew in prop::array::uniform8(0.2..1.0f64),
    ) {
        let power = |size: [f64; 3]| DVec3::from(size.map(|value| 10f64.powf(value)));
        let half_a = DVec3::new(1.0, power(size_a).y, power(size_a).z);
        let skewed = corners(half_a).into_iter().zip(skew).map(|(corner, part)| corner * part);
        let points_a: Vec<DVec3> = skewed.collect();
        let points_b = corners(power(size_b));
        let pose = turned(turn.into(), place.into());
        let a = Shape::hull(&points_a).expect("a hull");
        let b = Shape::hull(&points_b).expect("a hull");
        let placed_b: Vec<DVec3> = points_b.iter().map(|&p| pose.apply(p)).collect();
        let expected = depth_by_all_directions(&points_a, &placed_b);
        let size = a.bounding_radius() + b.bounding_radius();
        for method in [Method::Auto, Method::GjkSat, Method::GjkEpa] {
            let contact = Query::new(Options::default().with_method(method)).contact(
                &Placed::new(&a, Pose::IDENTITY),
                &Placed::new(&b, pose),
                &mut PairCache::none(),
            );
            // Apart: the greatest separation along all directions is at most the distance.
            let error = if contact.status == Status::Overlapping || expected > 0.0 {
                (contact.depth - expected.max(0.0)).abs()
            } else {
                (-expected - contact.distance).max(0.0)
            };
            prop_assert!(error <= 1e-9 * size, "{error:e} {expected:e} {method:?}: {contact:?}");
        }
    }

    /// At the very limit of touching every question gives the same answer.
    #[test]
    fn no_question_contradicts_another_at_the_limit(
        kinds in prop::array::uniform2(0..7usize), turn in prop::array::uniform3(-3.0..3.0f64),
        toward in prop::array::uniform3(-1.0..1.0f64), share in -1.5..1.5f64,
        fine in -14.0..-9.0f64,
    ) {
        let mut shapes = kinds_of_shapes(0.3);
        shapes.push(Shape::triangle([DVec3::X, DVec3::Y, DVec3::Z]).expect("a triangle"));
        let (a, b) = (&shapes[kinds[0]], &shapes[kinds[1]]);
        let size = a.bounding_radius() + b.bounding_radius();
        let far = DVec3::from(toward).normalize_or(DVec3::X) * 3.0 * size;
        let first = Placed::new(a, Pose::IDENTITY);
        let gap = narrow::contact(&first, &Placed::new(b, turned(turn.into(), far)));
        // Moved in along the normal, the gap is what is wanted: at the limit, or a hair beside it.
        let wanted = TOUCH * size * (1.0 + share * 10f64.powf(fine) / TOUCH);
        let place = far - gap.normal * (gap.distance - wanted);
        let second = Placed::new(b, turned(turn.into(), place));
        let contact = narrow::contact(&first, &second);
        let touching = contact.status != Status::Separated;
        prop_assert_eq!(narrow::intersects(&first, &second).hit, touching, "{:?}", contact);
        prop_assert_eq!(narrow::intersects(&second, &first).hit, touching, "{:?}", contact);
        prop_assert_eq!(narrow::distance(&first, &second) == 0.0, touching);
        prop_assert_eq!(narrow::contact_within(&first, &second, 0.0).is_some(), touching);
        prop_assert_eq!(narrow::manifold(&first, &second, 0.0).is_some(), touching);
    }

    /// A rigid motion of both shapes moves the answer along.
    #[test]
    fn rigid_motions_change_nothing(
        kinds in prop::array::uniform2(0..6usize), turn in prop::array::uniform3(-3.0..3.0f64),
        place in prop::array::uniform3(-1.2..1.2f64), whole in prop::array::uniform3(-3.0..3.0f64),
        shift in prop::array::uniform3(-100.0..100.0f64),
    ) {
        let shapes = kinds_of_shapes(1e-6);
        let (a, b) = (&shapes[kinds[0]], &shapes[kinds[1]]);
        let size = a.bounding_radius() + b.bounding_radius();
        let pose = turned(turn.into(), place.into());
        let motion = turned(whole.into(), shift.into());
        let here = narrow::contact(&Placed::new(a, Pose::IDENTITY), &Placed::new(b, pose));
        let there =
            narrow::contact(&Placed::new(a, motion), &Placed::new(b, motion.compose(&pose)));
        let error = (here.signed_distance() - there.signed_distance()).abs();
        let allowed = here.bound + there.bound + 2e-9 * size;
        prop_assert!(error <= allowed, "{error:e}: {here:?} {there:?}");
        // The normal is as free as the bound lets it be; what it separates is not.
        let normal = motion.inverse_apply_vector(there.normal);
        let reach = |shape: &Shape, pose: &Pose, direction: DVec3| {
            let local = pose.inverse_apply_vector(direction);
            pose.apply(shape.support(local)).dot(direction)
        };
        let apart = -reach(b, &pose, -normal) - reach(a, &Pose::IDENTITY, normal);
        prop_assert!(apart >= here.signed_distance() - 1e-6 * size, "{apart}: {here:?} {there:?}");
    }
}

/// The depth of convex clouds: the least over all directions that can be it, from triples of points
/// of one cloud and pairs of points of each. Negative if one of them parts the clouds.
fn depth_by_all_directions(a: &[DVec3], b: &[DVec3]) -> f64 {
    let sides = |points: &[DVec3]| -> Vec<DVec3> {
        (0..points.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| points[i] - points[j])
            .collect()
    };
    let (sides_a, sides_b) = (sides(a), sides(b));
    let mut least = f64::INFINITY;
    let mut offer = |first: DVec3, second: DVec3| {
        // Across the longer of them to the last bit: rounding would count as often as it is long.
        let (long, short) =
            if first.length() > second.length() { (first, second) } else { (second, first) };
        let Some(along) = long.try_normalize() else { return };
        let side = short - along * along.dot(short);
        let Some(normal) = along.cross(side - along * along.dot(side)).try_normalize() else {
            return;
        };
        let span = |points: &[DVec3]| {
            points
                .iter()
                .map(|p| p.dot(normal))
                .fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)))
        };
        let (of_a, of_b) = (span(a), span(b));
        least = least.min(of_a.1 - of_b.0).min(of_b.1 - of_a.0);
    };
    for sides in [&sides_a, &sides_b] {
        for (k, first) in sides.iter().enumerate() {
            sides[..k].iter().for_each(|second| offer(*first, *second));
        }
    }
    for first in &sides_a {
        sides_b.iter().for_each(|second| offer(*first, *second));
    }
    least
}

#[test]
fn a_ball_in_a_cradle_is_held_on_both_sides() {
    let wall = |side: f64| {
        let normal = DVec3::new(-side, 1.0, 0.0).normalize();
        let turn = DQuat::from_rotation_z(side * FRAC_PI_4);
        (cuboid(5.0, 1.0, 5.0), Pose::new(turn, -normal).expect("a pose"))
    };
    let cradle = Shape::compound(vec![wall(1.0), wall(-1.0)]).expect("a compound");
    let ball = Shape::sphere(1.0).expect("a ball");
    let height = 0.99 * 2f64.sqrt();
    for swap in [false, true] {
        let (a, b) =
            (Placed::new(&cradle, Pose::IDENTITY), Placed::new(&ball, at(0.0, height, 0.0)));
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let manifold = narrow::manifold(&a, &b, 0.0).expect("it lies there");
        assert_eq!(manifold.points().len(), 2, "{manifold:?}");
        let sign = if swap { -1.0 } else { 1.0 };
        let mut normals: Vec<f64> = manifold.points().iter().map(|p| p.normal.x * sign).collect();
        normals.sort_by(f64::total_cmp);
        let half = 0.5f64.sqrt();
        assert!((normals[0] + half).abs() < 1e-9 && (normals[1] - half).abs() < 1e-9);
        for point in manifold.points() {
            assert!((point.separation + 0.01).abs() < 1e-9, "{point:?}");
        }
    }
}

/// Points of pieces that lean by more than the documented 3 degrees keep their own normals, and
/// each separation is along the normal of its point.
#[test]
fn separations_are_along_the_normals_of_their_points() {
    for degrees in [1.0f64, 2.5, 4.0, 10.0, 17.0, 30.0] {
        let turn = DQuat::from_rotation_z(degrees.to_radians());
        let tilted = Pose::new(turn, DVec3::new(6.0, 0.0, 0.0)).expect("a pose");
        let ground = Shape::compound(vec![
            (cuboid(2.0, 1.0, 2.0), Pose::IDENTITY),
            (cuboid(2.0, 1.0, 2.0), tilted),
        ]);
        let ground = ground.expect("a compound");
        // Two balls of one body, each 0.01 deep in its own piece.
        let up = turn * DVec3::Y;
        let second = DVec3::new(6.0, 0.0, 0.0) + up * 1.49;
        let ball = Shape::sphere(0.5).expect("a ball");
        let pair = Shape::compound(vec![
            (ball.clone(), at(0.0, 1.49, 0.0)),
            (ball, Pose::from_translation(second).expect("a pose")),
        ]);
        let pair = pair.expect("a compound");
        let manifold = narrow::manifold(
            &Placed::new(&ground, Pose::IDENTITY),
            &Placed::new(&pair, Pose::IDENTITY),
            0.0,
        );
        let manifold = manifold.expect("they touch");
        assert_eq!(manifold.points().len(), 2, "{degrees}: {manifold:?}");
        for point in manifold.points() {
            let expected = if point.point_a.x < 3.0 { DVec3::Y } else { up };
            assert!((point.normal - expected).length() < 1e-9, "{degrees}: {point:?}");
            assert!((point.separation + 0.01).abs() < 1e-9, "{degrees}: {point:?}");
            let along = (point.point_b - point.point_a).dot(point.normal);
            assert!((along - point.separation).abs() < 1e-9, "{degrees}: {point:?}");
        }
    }
}

/// Whichever of the two is called a, and however the small one is turned, it stands on its corners.
#[test]
fn a_small_box_on_a_large_one_has_four_points_from_either_side() {
    let (floor, block) = (cuboid(5.0, 1.0, 5.0), cuboid(0.3, 0.5, 0.2));
    for step in 0..40 {
        let turn = DVec3::Y * (0.17 * f64::from(step));
        let floor = Placed::new(&floor, Pose::IDENTITY);
        let block = Placed::new(&block, turned(turn, DVec3::new(0.4, 1.49, -0.3)));
        for (a, b) in [(floor, block), (block, floor)] {
            let manifold = narrow::manifold(&a, &b, 0.0).expect("it stands there");
            assert_eq!(manifold.points().len(), 4, "step {step}: {manifold:?}");
        }
    }
}

/// The side of the next tile is inside the floor: it must not push a box back that slides onto it.
#[test]
fn the_seams_of_tiles_push_nothing_sideways() {
    let tiles = (0..3).map(|k| (cuboid(1.0, 1.0, 3.0), at(2.0 * f64::from(k) - 2.0, 0.0, 0.0)));
    let floor = Shape::compound(tiles.collect()).expect("a compound");
    let block = cuboid(0.5, 0.5, 0.5);
    for step in 0..200 {
        let x = -1.5 + 0.015 * f64::from(step);
        let manifold = narrow::manifold(
            &Placed::new(&floor, Pose::IDENTITY),
            &Placed::new(&block, at(x, 1.49, 0.1)),
            0.0,
        );
        let manifold = manifold.expect("it lies there");
        for point in manifold.points() {
            assert!((point.normal - DVec3::Y).length() < 1e-9, "at {x}: {manifold:?}");
        }
    }
}

#[test]
fn parting_balls_do_not_touch_at_the_start() {
    let ball = Shape::sphere(0.5).expect("a ball");
    for gap in [1e-9, 5e-9, 1e-8, 1.5e-8, 1e-6] {
        for (speed, expected) in [(-1.0, false), (0.0, false), (1.0, true)] {
            let meet = |a: (f64, f64), b: (f64, f64)| {
                let motion = |v: f64| Motion::new(DVec3::X * v, DVec3::ZERO).expect("a motion");
                let [a, b] = [a, b]
                    .map(|(x, v)| Moving::new(Placed::new(&ball, at(x, 0.0, 0.0)), motion(v)));
                narrow::time_of_impact(&a, &b, 1.0)
            };
            let impact = meet((0.0, speed), (1.0 + gap, 0.0));
            let hit = matches!(impact.status, ImpactStatus::Hit | ImpactStatus::AtStart);
            assert_eq!(hit, expected, "{gap:e} apart, closing at {speed}: {impact:?}");
            assert!(!hit || impact.time <= gap, "{impact:?}");
        }
    }
}

/// Long bodies that turn past each other closely end with an answer, and soon.
#[test]
fn close_passes_of_turning_rods_are_decided() {
    let rod = capsule(0.01, 2.0);
    for gap in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        // Both in planes one above the other, crossing at full speed.
        let spin = |w: f64| Motion::new(DVec3::ZERO, DVec3::Z * w).expect("a motion");
        let a = Moving::new(Placed::new(&rod, Pose::IDENTITY), spin(1.5));
        let b = Moving::new(Placed::new(&rod, at(0.3, 0.0, 0.02 + gap)), spin(-1.5));
        let impact = narrow::time_of_impact(&a, &b, 2.0);
        assert_eq!(impact.status, ImpactStatus::Miss, "{gap:e}: {impact:?}");
        assert!(impact.steps < 4000, "{gap:e}: {} steps", impact.steps);
    }
}

#[derive(Clone, Debug)]
struct Flight {
    shapes: [Shape; 2],
    poses: [Pose; 2],
    motions: [Motion; 2],
}

impl Flight {
    fn at(&self, time: f64) -> [Placed<'_>; 2] {
        [0, 1].map(|k| {
            let pose = self.motions[k].pose_at(&self.poses[k], time);
            Placed::new(&self.shapes[k], pose)
        })
    }
}

fn flight() -> impl Strategy<Value = Flight> {
    let vector = |half: f64| prop::array::uniform3(-half..half).prop_map(DVec3::from);
    let piece = move || {
        let part = (0..4usize, 0.1..0.6f64).prop_map(|(kind, size)| match kind {
            0 => Shape::sphere(size).expect("a ball"),
            1 => cuboid(size, 0.5 * size, 1.5 * size),
            2 => capsule(0.4 * size, 2.0 * size),
            _ => Shape::cylinder(size, 0.3 * size).expect("a cylinder"),
        });
        (part, vector(1.5), vector(3.0))
    };
    let shape = move || {
        prop::collection::vec(piece(), 1..4).prop_map(|pieces| {
            if pieces.len() == 1 {
                return pieces[0].0.clone();
            }
            let placed = pieces.into_iter().map(|(part, place, turn)| (part, turned(turn, place)));
            Shape::compound(placed.collect()).expect("a compound")
        })
    };
    let motion = move || {
        (vector(8.0), vector(3.0), 0..3usize).prop_map(|(linear, angular, spins)| {
            let angular = if spins == 0 { DVec3::ZERO } else { angular };
            Motion::new(linear, angular).expect("a motion")
        })
    };
    let side = move || (shape(), vector(4.0), vector(3.0), motion());
    (side(), side()).prop_map(|(a, b)| Flight {
        shapes: [a.0, b.0],
        poses: [turned(a.2, a.1), turned(b.2, b.1)],
        motions: [a.3, b.3],
    })
}

proptest! {
    /// Sampling in time: nothing touches before the time told, and what is seen to touch was told.
    #[test]
    fn samples_in_time_agree_with_the_time_of_impact(flight in flight()) {
        let [a, b] = [0, 1].map(|k| {
            Moving::new(Placed::new(&flight.shapes[k], flight.poses[k]), flight.motions[k])
        });
        let impact = narrow::time_of_impact(&a, &b, 1.0);
        prop_assert!(impact.status != ImpactStatus::StepLimit, "{:?}", impact);
        let size = flight.shapes[0].bounding_radius() + flight.shapes[1].bounding_radius();
        for step in 0..=200 {
            let time = f64::from(step) / 200.0;
            let [a, b] = flight.at(time);
            let contact = narrow::contact(&a, &b);
            if contact.depth > 1e-6 * size {
                prop_assert!(impact.status != ImpactStatus::Miss, "at {time}: {impact:?}");
                prop_assert!(impact.time <= time, "at {time} already: {impact:?}");
            }
        }
        if impact.status == ImpactStatus::Hit {
            let [a, b] = flight.at(impact.time);
            let gap = narrow::contact(&a, &b).signed_distance();
            prop_assert!(gap.abs() <= 3e-8 * size, "{gap:e} at the time of impact: {impact:?}");
        }
    }
}
