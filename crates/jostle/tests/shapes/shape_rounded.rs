//! Rounded shapes and support functions of the user's, through every question of the narrow phase:
//! rounding equals a margin of the query, and a function equals the shape it imitates.

use crate::random::{KINDS, Random};
use glam::DVec3;
use jostle::narrow::{
    self, Motion, Moving, Options, PairCache, Placed, Query, Status, time_of_impact,
};
use jostle::shape::{BoundingCapsule, Obb, Pose, Shape, ShapeError, SupportMap};

#[test]
fn rounding_is_a_margin() {
    let mut random = Random(1);
    let mut touching = 0;
    for trial in 0..1_200 {
        let (core, other) = (random.shape(trial % 9), random.shape(trial / 9));
        let margin = random.range(0.0, 0.4);
        let shape = Shape::rounded(&core, margin).expect("a rounded shape");
        let (pose_a, pose_b) = (random.pose(1.0), random.pose(1.0));
        let (a, b) = (Placed::new(&shape, pose_a), Placed::new(&other, pose_b));
        let mut query = Query::new(Options::default().with_margin(margin));
        let plain = query.contact(&Placed::new(&core, pose_a), &b, &mut PairCache::none());
        let found = narrow::contact(&a, &b);
        touching += usize::from(found.status == Status::Overlapping);
        let off = (found.signed_distance() - plain.signed_distance()).abs();
        assert!(off < 2e-8, "{core:?} {margin} {other:?} {found:?} {plain:?}");
        let swapped = narrow::contact(&b, &a);
        assert_eq!(
            (swapped.signed_distance(), -swapped.normal, swapped.point_b),
            (found.signed_distance(), found.normal, found.point_a)
        );
        let hit = narrow::intersects(&a, &b).hit;
        assert_eq!(hit, found.status != Status::Separated, "{core:?} {other:?} {found:?}");
        assert!((narrow::distance(&a, &b) - found.distance).abs() < 1e-9);
        if let Some(manifold) = narrow::manifold(&a, &b, 0.0) {
            assert!(!manifold.points().is_empty());
            for point in manifold.points() {
                assert!(point.separation > found.signed_distance() - 1e-5, "{manifold:?}");
            }
        }
    }
    assert!((300..1_100).contains(&touching), "{touching} overlap");
}

#[test]
fn bounds_and_volumes_hold_what_support_reaches() {
    let mut random = Random(2);
    for trial in 0..400 {
        let shape = random.shape(9 + trial % 2);
        let pose = random.pose(4.0);
        let (bounds, obb) = (shape.bounds(&pose), Obb::of_shape(&shape, &pose));
        let capsule = BoundingCapsule::of_shape(&shape, &pose);
        for _ in 0..60 {
            let point = pose.apply(shape.support(random.unit()));
            let center = pose.apply(shape.center());
            assert!(point.distance(center) <= shape.bounding_radius() * (1.0 + 1e-12));
            assert!(obb.contains(point) && capsule.contains(point), "{shape:?}");
        }
        let tight = [0, 1, 2].map(|axis| {
            let up = pose.inverse_apply_vector(DVec3::AXES[axis]);
            f64::from(bounds.max[axis]) - pose.apply(shape.support(up))[axis]
        });
        assert!(tight.iter().all(|slack| (-1e-15..1e-5).contains(slack)), "{shape:?} {tight:?}");
    }
}

#[test]
fn simple_shapes_grow_into_themselves() {
    let grow = |shape: Result<Shape, ShapeError>| {
        Shape::rounded(&shape.expect("a shape"), 0.5).expect("a rounded shape")
    };
    assert!(matches!(grow(Shape::sphere(1.0)), Shape::Sphere { radius: 1.5 }));
    assert!(matches!(grow(Shape::capsule(1.0, 2.0)), Shape::Capsule { radius: 1.5, .. }));
    let ground = grow(Shape::half_space(DVec3::Y, 2.0));
    assert!(matches!(ground, Shape::HalfSpace { offset: 2.5, .. }));
    let Shape::Rounded(twice) = grow(Shape::rounded(&grow(Shape::cuboid(DVec3::ONE)), 0.25)) else {
        panic!("a box is rounded")
    };
    assert_eq!(twice.margin(), 1.25);
    assert!(matches!(twice.shape(), Shape::Cuboid { .. }));
    let pair = vec![
        (Shape::sphere(1.0).expect("a ball"), Pose::IDENTITY),
        (Shape::cuboid(DVec3::ONE).expect("a box"), Pose::IDENTITY),
    ];
    let Shape::Compound(pieces) = grow(Shape::compound(pair)) else { panic!("a compound") };
    assert!(matches!(pieces.pieces()[0].shape, Shape::Sphere { radius: 1.5 }));
    assert!(matches!(pieces.pieces()[1].shape, Shape::Rounded(_)));
    for bad in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        let fault = Shape::rounded(&Shape::cuboid(DVec3::ONE).expect("a box"), bad).unwrap_err();
        assert!(fault.to_string().contains("margin"), "{fault}");
    }
}

/// A shape of the library behind a function.
#[derive(Debug)]
struct Masked(Shape);

impl SupportMap for Masked {
    fn support(&self, direction: DVec3) -> DVec3 {
        self.0.support(direction)
    }
}

#[test]
fn a_function_is_the_shape_it_imitates() {
    let mut random = Random(3);
    for trial in 0..700 {
        let (plain, other) = (random.shape(trial % 6), random.shape(trial / 6 % KINDS));
        let masked = Shape::custom(Masked(plain.clone())).expect("a function");
        let (pose_a, pose_b) = (random.pose(1.0), random.pose(1.2));
        let b = Placed::new(&other, pose_b);
        let (a, same) = (Placed::new(&masked, pose_a), Placed::new(&plain, pose_a));
        let (found, known) = (narrow::contact(&a, &b), narrow::contact(&same, &b));
        let off = (found.signed_distance() - known.signed_distance()).abs();
        assert!(off < 1e-6, "{plain:?} {other:?} {found:?} {known:?}");
        let motion = Motion::new(random.vector(3.0), DVec3::ZERO).expect("a motion");
        let b = Moving::new(b, motion);
        let still = |placed| Moving::new(placed, Motion::STILL);
        let (found, known) =
            (time_of_impact(&still(a), &b, 1.0), time_of_impact(&still(same), &b, 1.0));
        assert!((found.time - known.time).abs() < 1e-3, "{plain:?} {other:?} {found:?} {known:?}");
    }
}

#[derive(Debug)]
struct Wrong(DVec3);

impl SupportMap for Wrong {
    fn support(&self, direction: DVec3) -> DVec3 {
        self.0 * direction.normalize_or_zero()
    }
}

#[test]
fn functions_that_lie_are_refused_or_end() {
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        let fault = Shape::custom(Wrong(DVec3::splat(bad))).unwrap_err().to_string();
        assert!(fault.contains("support"), "{fault}");
    }
    let fault = Shape::custom(Wrong(DVec3::new(1.0, -1.0, 1.0))).unwrap_err().to_string();
    assert!(fault.contains("along y"), "{fault}");
    // A function that answers at random: the questions end.
    #[derive(Debug)]
    struct Noise;
    impl SupportMap for Noise {
        fn support(&self, direction: DVec3) -> DVec3 {
            let bits = direction.x.to_bits()
                ^ direction.y.to_bits().rotate_left(21)
                ^ direction.z.to_bits().rotate_left(42);
            if DVec3::AXES.iter().any(|axis| axis.abs() == direction.abs()) {
                return direction;
            }
            if bits.is_multiple_of(5) { DVec3::NAN } else { Random(bits).vector(1.0) }
        }
    }
    let noise = Shape::custom(Noise).expect("a function");
    let mut random = Random(4);
    for kind in 0..120 {
        let shape = random.shape(kind % KINDS);
        let (a, b) = (random.pose(1.0), random.pose(1.0));
        let (a, b) = (Placed::new(&noise, a), Placed::new(&shape, b));
        let _ = (narrow::contact(&a, &b), narrow::manifold(&a, &b, 0.1));
        let ray = narrow::Ray::new(random.vector(3.0), random.unit()).expect("a ray");
        let _ = narrow::cast_ray(&a, &ray);
    }
}

/// Shapes in one place have the mirrored answer when they are swapped, unless nothing tells them
/// apart.
#[test]
fn coincident_shapes_part_the_other_way_when_swapped() {
    let mut random = Random(5);
    for kind in 0..KINDS + 1 {
        let mut make = || {
            let pieces = [random.shape(1), random.shape(0)];
            let compound = pieces.map(|shape| (shape, Pose::IDENTITY)).to_vec();
            let compound = Shape::compound(compound).expect("a compound");
            if kind == KINDS { compound } else { random.shape(kind) }
        };
        let (one, other) = (make(), make());
        let pose = random.pose(1.0);
        let (a, b) = (Placed::new(&one, pose), Placed::new(&other, pose));
        let (there, back) = (narrow::contact(&a, &b), narrow::contact(&b, &a));
        assert_eq!(there.normal, -back.normal, "{one:?} {other:?}");
        assert_eq!((there.depth, there.point_a), (back.depth, back.point_b));
        let (same, again) = (narrow::contact(&a, &a), narrow::contact(&a, &{ a }));
        assert_eq!(same, again);
    }
}
