//! Hostile and degenerate input: nothing hangs, nothing is NaN, nothing contradicts itself.

use glam::{DQuat, DVec3};
use jostle::narrow::{self, Contact, Placed, Status};
use jostle::shape::{LIMIT, Pose, Shape};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).expect("a pose")
}

fn turned(x: f64, y: f64, z: f64) -> Pose {
    let rotation = DQuat::from_xyzw(0.3, -0.5, 0.2, 0.7).normalize();
    Pose::new(rotation, DVec3::new(x, y, z)).expect("a pose")
}

/// One of each kind at a size; zero sizes are points, segments, discs and flat boxes.
fn shapes(size: f64) -> Vec<Shape> {
    let p = |x: f64, y: f64, z: f64| DVec3::new(x, y, z) * size;
    let made = [
        Shape::sphere(size),
        Shape::sphere(0.0),
        Shape::cuboid(p(1.0, 0.5, 0.25)),
        Shape::cuboid(p(1.0, 0.0, 0.25)),
        Shape::cuboid(DVec3::ZERO),
        Shape::capsule(size, 0.5 * size),
        Shape::capsule(0.0, size),
        Shape::capsule(size, 0.0),
        Shape::cylinder(size, 0.5 * size),
        Shape::cylinder(size, 0.0),
        Shape::cylinder(0.0, size),
        Shape::cylinder(0.0, 0.0),
        Shape::cone(size, 0.5 * size),
        Shape::cone(0.0, size),
        Shape::ellipsoid(p(1.0, 0.5, 0.25)),
        Shape::ellipsoid(p(1.0, 0.5, 0.0)),
        Shape::ellipsoid(DVec3::ZERO),
        Shape::triangle([p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0)]),
        Shape::triangle([p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(2.0, 0.0, 0.0)]),
        Shape::triangle([DVec3::ZERO; 3]),
        Shape::hull(&[p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0), p(0.0, 0.0, 1.0)]),
        Shape::hull(&[p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0), p(1.0, 1.0, 0.0)]),
        Shape::hull(&[p(0.0, 0.0, 0.0), p(1.0, 1.0, 0.0)]),
        Shape::hull(&[p(0.5, 0.0, 0.0)]),
        Shape::half_space(DVec3::Y, 0.0),
    ];
    let mut made: Vec<Shape> = made.into_iter().map(|shape| shape.expect("a shape")).collect();
    let pieces = vec![(made[0].clone(), at(size, 0.0, 0.0)), (made[2].clone(), Pose::IDENTITY)];
    made.push(Shape::compound(pieces).expect("a compound"));
    made
}

fn check(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) {
    let contact = narrow::contact(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
    let label = || format!("{a:?}\n{pose_a:?}\n{b:?}\n{pose_b:?}\n{contact:?}");
    let Contact { distance, depth, normal, point_a, point_b, .. } = contact;
    assert!(distance >= 0.0 && depth >= 0.0, "{}", label());
    assert!(distance == 0.0 || depth == 0.0, "{}", label());
    assert_eq!(contact.status == Status::Separated, distance > 0.0, "{}", label());
    assert_eq!(contact.status == Status::Overlapping, depth > 0.0, "{}", label());
    assert!((normal.length() - 1.0).abs() < 1e-9, "{}", label());
    assert!(depth.is_infinite() || (point_a.is_finite() && point_b.is_finite()), "{}", label());
    let closest = narrow::closest_points(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
    assert_eq!(closest.distance, distance, "{}", label());
    let _ = narrow::intersects(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
    let manifold = narrow::manifold(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b), 0.0);
    assert_eq!(manifold.is_some(), distance == 0.0, "{}", label());
    if let Some(manifold) = manifold {
        assert!((1..=4).contains(&manifold.points().len()));
    }
}

#[test]
fn every_kind_of_degenerate_pair_has_an_answer() {
    let shapes = shapes(1.0);
    let places =
        [at(0.0, 0.0, 0.0), at(0.25, 0.0, 0.0), turned(0.0, 0.3, 0.1), turned(2.0, 3.0, -4.0)];
    for a in &shapes {
        for b in &shapes {
            for place in &places {
                check(a, &Pose::IDENTITY, b, place);
                check(b, place, a, &Pose::IDENTITY);
            }
        }
    }
}

#[test]
fn extreme_sizes_and_places_have_an_answer() {
    let all: Vec<Shape> =
        [1e-150, 1e-60, 1e-9, 1e9, 0.4 * LIMIT].into_iter().flat_map(shapes).collect();
    let small = shapes(1.0);
    let far = [1e-300, 1.0, 1e30, LIMIT];
    for a in &all {
        for b in &small {
            for distance in far {
                check(a, &Pose::IDENTITY, b, &turned(distance, 0.0, -0.5 * distance));
            }
        }
    }
    for a in &all {
        for b in &all {
            check(a, &Pose::IDENTITY, b, &turned(1.0, 0.0, 0.0));
            check(a, &Pose::IDENTITY, b, &Pose::IDENTITY);
        }
    }
}

#[test]
fn the_largest_coordinates_on_both_sides_do_not_overflow() {
    let ball = Shape::sphere(1.0).expect("a sphere");
    let contact = narrow::contact(
        &Placed::new(&ball, at(-LIMIT, 0.0, 0.0)),
        &Placed::new(&ball, at(LIMIT, 0.0, 0.0)),
    );
    assert_eq!(contact.status, Status::Separated);
    assert_eq!(contact.normal, DVec3::X);
    assert_eq!(contact.distance, 2.0 * LIMIT);
}

#[test]
fn half_spaces_against_each_other() {
    let floor = Shape::half_space(DVec3::Y, 0.0).expect("a half-space");
    let ceiling = Shape::half_space(-DVec3::Y, -2.0).expect("a half-space");
    let gap = narrow::contact(
        &Placed::new(&floor, Pose::IDENTITY),
        &Placed::new(&ceiling, Pose::IDENTITY),
    );
    assert_eq!((gap.distance, gap.normal), (2.0, DVec3::Y));
    let wall = Shape::half_space(DVec3::X, 0.0).expect("a half-space");
    let wedge =
        narrow::contact(&Placed::new(&floor, Pose::IDENTITY), &Placed::new(&wall, Pose::IDENTITY));
    assert_eq!(wedge.depth, f64::INFINITY);
}

#[test]
fn hand_made_shapes_with_nan_never_hang() {
    let broken = [
        Shape::Sphere { radius: f64::NAN },
        Shape::Cuboid { half_extents: DVec3::new(1.0, f64::NAN, f64::INFINITY) },
        Shape::Capsule { radius: f64::INFINITY, half_height: f64::NAN },
        Shape::Cylinder { radius: f64::NAN, half_height: 1.0 },
        Shape::Cone { radius: -1.0, half_height: f64::INFINITY },
        Shape::Ellipsoid { radii: DVec3::splat(f64::NAN) },
        Shape::Triangle { points: [DVec3::NAN; 3] },
        Shape::HalfSpace { normal: DVec3::NAN, offset: f64::NAN },
    ];
    for a in broken.iter().chain(&shapes(1.0)) {
        for b in &broken {
            let [at_rest, moved] = [Pose::IDENTITY, turned(0.5, 0.5, 0.5)];
            let (one, other) = (Placed::new(a, at_rest), Placed::new(b, moved));
            let _ = narrow::contact(&one, &other);
            let _ = narrow::closest_points(&Placed::new(b, at_rest), &Placed::new(a, moved));
            let _ = narrow::intersects(&one, &other);
            let _ = narrow::manifold(&one, &other, 1.0);
        }
    }
}

/// Found by `jostle bench --narrow mixed`: rims that overlap by 1e-7 left ISA-GJK with a triangle
/// as thin as that, no way on, and a no.
#[test]
fn cones_that_barely_overlap_touch_for_every_question() {
    let cone = |radius, half_height| Shape::cone(radius, half_height).unwrap();
    let pose = |turn: [f64; 4], at: [f64; 3]| {
        Pose::new(DQuat::from_array(turn), DVec3::from_array(at)).unwrap()
    };
    let half = DVec3::new(0.8045980679864407, 0.5935549853180934, 1.1676941031082309);
    let small = cone(0.858379520533457, 0.7310788002602235);
    let pairs = [
        (
            cone(0.6435233201239663, 1.1797273478048051),
            pose(
                [-0.46914157278656665, 0.5596858466428968, 0.452612608642236, -0.511663721841837],
                [-0.20348533297807658, 0.7177656823681087, -1.6647647997680328],
            ),
            cone(0.5785589339084153, 0.5797789513027993),
            pose(
                [0.8029449973645936, 0.5400702220144417, 0.24016450748357743, 0.07697074668739542],
                [0.0491536746487517, 0.839919906179064, 0.2488006346328886],
            ),
        ),
        (
            Shape::cuboid(half).unwrap(),
            pose(
                [
                    -0.8465922806786714,
                    0.3356247204221248,
                    -0.3763315420250584,
                    -0.17032946842486768,
                ],
                [1.8123366511037728, 1.6998906334649817, -2.7693618798154493],
            ),
            cone(0.8389775573654119, 1.099608837172461),
            pose(
                [
                    0.5478487780753332,
                    -0.25429384737422944,
                    -0.5498061495721263,
                    -0.5769831483168718,
                ],
                [0.6859267714466359, 2.791252870883163, -1.3305086560727302],
            ),
        ),
        (
            small.clone(),
            pose(
                [
                    -0.1378515754333766,
                    -0.7951310447674694,
                    0.03329047538373189,
                    -0.5896230228258169,
                ],
                [-0.08120389596228872, -2.0699483402225285, 1.5300871957395312],
            ),
            small,
            pose(
                [0.5095076340946784, -0.5498208066730255, -0.35518024880960963, 0.558521299687139],
                [0.5191546404851084, -0.5303165920903081, 2.2425832062998325],
            ),
        ),
    ];
    for (a, at_a, b, at_b) in &pairs {
        let depth = narrow::contact(&Placed::new(a, *at_a), &Placed::new(b, *at_b)).depth;
        assert!((1e-8..1e-6).contains(&depth), "{depth:e}");
        assert!(
            narrow::intersects(&Placed::new(a, *at_a), &Placed::new(b, *at_b)).hit,
            "{depth:e} deep"
        );
        assert_eq!(narrow::distance(&Placed::new(a, *at_a), &Placed::new(b, *at_b)), 0.0);
    }
}
