//! Manifolds and times of impact: closed forms, stability of numbers, and proofs by sampling.

use glam::{DQuat, DVec3};
use jostle::narrow::{
    self, IMPACT_GAP, Impact, ImpactStatus, Manifold, Motion, Moving, Placed, time_of_impact,
};
use jostle::shape::{Pose, Shape};
use std::collections::BTreeSet;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).expect("a pose")
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).expect("a box")
}

fn ids(manifold: &Manifold) -> BTreeSet<u64> {
    manifold.points().iter().map(|point| point.id).collect()
}

/// The cube as a hull, so that faces of hulls are tried as well.
fn cube_hull() -> Shape {
    let corner = |bits: u32| {
        let side = |bit: u32| if bits & bit == 0 { 1.0 } else { -1.0 };
        DVec3::new(side(1), side(2), side(4))
    };
    Shape::hull(&(0..8).map(corner).collect::<Vec<_>>()).expect("a hull")
}

#[test]
fn a_resting_box_has_four_corners_in_contact() {
    let floors = [
        cuboid(10.0, 1.0, 10.0),
        Shape::half_space(DVec3::Y, 1.0).expect("a half-space"),
        Shape::cylinder(10.0, 1.0).expect("a cylinder"),
    ];
    for floor in &floors {
        for top in [cuboid(1.0, 1.0, 1.0), cube_hull()] {
            let manifold = narrow::manifold(
                &Placed::new(floor, Pose::IDENTITY),
                &Placed::new(&top, at(0.3, 1.99, 0.2)),
                0.0,
            )
            .expect("a contact");
            assert_eq!(manifold.points().len(), 4, "{floor:?} {top:?}");
            assert!((manifold.normal() - DVec3::Y).length() < 1e-12);
            for point in manifold.points() {
                assert!((point.separation + 0.01).abs() < 1e-12, "{point:?}");
                assert!((point.point_b.y - 0.99).abs() < 1e-12, "{point:?}");
                assert!((point.point_a.y - 1.0).abs() < 1e-12, "{point:?}");
                let offset = point.point_b - DVec3::new(0.3, 0.99, 0.2);
                assert!((offset.x.abs() - 1.0).abs() < 1e-12);
                assert!((offset.z.abs() - 1.0).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn numbers_last_while_a_box_slides_and_rocks() {
    let (floor, top) = (cuboid(10.0, 1.0, 10.0), cuboid(1.0, 1.0, 1.0));
    let mut first = None;
    for step in 0..200 {
        let phase = f64::from(step) * 0.1;
        let tilt =
            DQuat::from_rotation_z(1e-3 * phase.sin()) * DQuat::from_rotation_y(phase * 0.01);
        let pose = Pose::new(tilt, DVec3::new(0.02 * phase, 1.995, 0.01 * phase)).expect("a pose");
        let manifold =
            narrow::manifold(&Placed::new(&floor, Pose::IDENTITY), &Placed::new(&top, pose), 0.0)
                .expect("contact");
        assert_eq!(manifold.points().len(), 4, "step {step}");
        let now = ids(&manifold);
        assert_eq!(*first.get_or_insert_with(|| now.clone()), now, "step {step}");
    }
}

#[test]
fn edges_and_vertices_make_fewer_points() {
    let floor = cuboid(10.0, 1.0, 10.0);
    let capsule = Shape::capsule(0.5, 1.0).expect("a capsule");
    let lying =
        Pose::new(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2), DVec3::new(0.0, 1.49, 0.0))
            .expect("a pose");
    let line =
        narrow::manifold(&Placed::new(&floor, Pose::IDENTITY), &Placed::new(&capsule, lying), 0.0)
            .expect("contact");
    assert_eq!(line.points().len(), 2);
    assert!(line.points().iter().all(|point| (point.separation + 0.01).abs() < 1e-9));
    let ball = Shape::sphere(0.5).expect("a sphere");
    let dot = narrow::manifold(
        &Placed::new(&floor, Pose::IDENTITY),
        &Placed::new(&ball, at(1.0, 1.4, 2.0)),
        0.0,
    );
    assert_eq!(dot.expect("contact").points().len(), 1);
    let tip = DQuat::from_rotation_arc(DVec3::ONE.normalize(), -DVec3::Y);
    let pose = Pose::new(tip, DVec3::new(0.0, 1.0 + 1.7, 0.0)).expect("a pose");
    let corner = narrow::manifold(
        &Placed::new(&floor, Pose::IDENTITY),
        &Placed::new(&cuboid(1.0, 1.0, 1.0), pose),
        0.0,
    );
    assert_eq!(corner.expect("contact").points().len(), 1);
}

#[test]
fn a_table_stands_on_its_four_legs() {
    let leg = |x: f64, z: f64| (cuboid(0.05, 1.0, 0.05), at(x, 0.0, z));
    let pieces = vec![leg(-1.0, -1.0), leg(1.0, -1.0), leg(-1.0, 1.0), leg(1.0, 1.0)];
    let table = Shape::compound(pieces).expect("a compound");
    let floor = Shape::half_space(DVec3::Y, 0.0).expect("a half-space");
    let manifold = narrow::manifold(
        &Placed::new(&floor, Pose::IDENTITY),
        &Placed::new(&table, at(0.0, 0.999, 0.0)),
        0.0,
    );
    let manifold = manifold.expect("contact");
    assert_eq!(manifold.points().len(), 4);
    let spread = manifold.points().iter().map(|p| p.point_a.x).fold(0.0, |a: f64, x| a.max(x));
    assert!(spread > 1.0, "the points are not spread over the legs");
}

fn meet(
    a: (&Shape, &Pose, DVec3, DVec3),
    b: (&Shape, &Pose, DVec3, DVec3),
    duration: f64,
) -> Impact {
    let motions = [a, b].map(|side| Motion::new(side.2, side.3).expect("a motion"));
    let a = Moving::new(Placed::new(a.0, *a.1), motions[0]);
    let b = Moving::new(Placed::new(b.0, *b.1), motions[1]);
    time_of_impact(&a, &b, duration)
}

const STILL: DVec3 = DVec3::ZERO;

#[test]
fn translations_meet_at_the_time_of_the_closed_form() {
    let (ball, block) = (Shape::sphere(0.5).expect("a sphere"), cuboid(1.0, 1.0, 1.0));
    let fast = DVec3::new(1000.0, 0.0, 0.0);
    let hit = meet(
        (&ball, &at(-10.0, 0.0, 0.0), fast, STILL),
        (&block, &Pose::IDENTITY, STILL, STILL),
        1.0,
    );
    assert_eq!(hit.status, ImpactStatus::Hit);
    assert!((hit.time - 0.0085).abs() < 1e-9, "{hit:?}");
    assert!((hit.contact.normal - DVec3::X).length() < 1e-9);
    // A bullet through a sheet is not missed, however thin the sheet.
    let sheet = cuboid(1e-6, 5.0, 5.0);
    let hit = meet(
        (&ball, &at(-10.0, 0.0, 0.0), fast, STILL),
        (&sheet, &Pose::IDENTITY, STILL, STILL),
        1.0,
    );
    assert!((hit.time - 0.0095).abs() < 1e-8, "{hit:?}");
    let past = meet(
        (&ball, &at(-10.0, 1.6, 0.0), fast, STILL),
        (&block, &Pose::IDENTITY, STILL, STILL),
        1.0,
    );
    assert_eq!((past.status, past.time), (ImpactStatus::Miss, 1.0));
    let inside = meet(
        (&ball, &at(0.5, 0.0, 0.0), fast, STILL),
        (&block, &Pose::IDENTITY, STILL, STILL),
        1.0,
    );
    assert_eq!((inside.status, inside.time), (ImpactStatus::AtStart, 0.0));
}

#[test]
fn a_turning_rod_hits_at_the_angle_of_the_closed_form() {
    // The end of the rod sweeps a circle of radius 2; the wall stands at x = 1.
    let rod = Shape::capsule(0.0, 2.0).expect("a rod");
    let wall = Shape::half_space(-DVec3::X, -1.0).expect("a wall");
    let spin = DVec3::new(0.0, 0.0, -1.0);
    let hit =
        meet((&rod, &Pose::IDENTITY, STILL, spin), (&wall, &Pose::IDENTITY, STILL, STILL), 2.0);
    let expected = (0.5f64).asin();
    assert_eq!(hit.status, ImpactStatus::Hit, "{hit:?}");
    assert!((hit.time - expected).abs() < 1e-6, "{hit:?} {expected}");
    assert!(hit.time <= expected + 1e-12, "stepped over the contact");
}

#[test]
fn no_contact_before_the_reported_time() {
    let mut seed = 5u64;
    let mut unit = move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut vector = |half: f64| DVec3::new(unit() - 0.5, unit() - 0.5, unit() - 0.5) * 2.0 * half;
    let shapes = [
        cuboid(1.0, 0.2, 0.5),
        cube_hull(),
        Shape::capsule(0.2, 1.0).expect("a capsule"),
        Shape::cylinder(0.7, 0.3).expect("a cylinder"),
        Shape::ellipsoid(DVec3::new(1.0, 0.3, 0.6)).expect("an ellipsoid"),
    ];
    let (mut hits, mut misses) = (0, 0);
    for round in 0..400 {
        let (a, b) = (&shapes[round % 5], &shapes[(round / 5) % 5]);
        let pose_a = Pose::new(DQuat::from_scaled_axis(vector(2.0)), vector(3.0)).expect("a pose");
        let pose_b = Pose::new(DQuat::from_scaled_axis(vector(2.0)), vector(3.0)).expect("a pose");
        let toward = pose_a.translation() - pose_b.translation();
        let motions = [DVec3::ZERO, toward]
            .map(|aim| Motion::new(aim + vector(2.5), vector(3.0)).expect("a motion"));
        let sides = [
            Moving::new(Placed::new(a, pose_a), motions[0]),
            Moving::new(Placed::new(b, pose_b), motions[1]),
        ];
        let impact = time_of_impact(&sides[0], &sides[1], 1.0);
        for step in 0..=60 {
            let time = impact.time * f64::from(step) / 60.0 * (1.0 - 1e-9);
            let early = narrow::intersects(&sides[0].at(time), &sides[1].at(time)).hit;
            assert!(!early || impact.status == ImpactStatus::AtStart, "{round} {impact:?} {time}");
        }
        match impact.status {
            ImpactStatus::Hit => {
                hits += 1;
                let size = a.bounding_radius() + b.bounding_radius();
                assert!(impact.contact.signed_distance().abs() <= 2.0 * IMPACT_GAP * size);
            }
            ImpactStatus::Miss => misses += 1,
            ImpactStatus::AtStart => {}
            ImpactStatus::StepLimit => panic!("{round} {impact:?}"),
        }
    }
    assert!(hits > 60 && misses > 60, "{hits} hits, {misses} misses");
}

#[test]
fn what_is_round_may_spin_beside_a_wall_for_nothing() {
    let wall = cuboid(1.0, 10.0, 10.0);
    let (ball, rod) =
        (Shape::sphere(1.0).expect("a ball"), Shape::capsule(1.0, 0.0).expect("a rod"));
    for round in [&ball, &rod] {
        for gap in [1e-6, 1e-3, 0.5] {
            // Spinning fast and closing slowly, or along the wall.
            for (closing, expected) in
                [(gap / 4.0, ImpactStatus::Miss), (2.0 * gap, ImpactStatus::Hit)]
            {
                let motion =
                    Motion::new(DVec3::new(-closing, 0.1, 0.0), DVec3::new(3.0, 20.0, -7.0))
                        .expect("a motion");
                let (still, start) = (Motion::STILL, at(2.0 + gap, 0.0, 0.0));
                let a = Moving::new(Placed::new(round, start), motion);
                let b = Moving::new(Placed::new(&wall, Pose::IDENTITY), still);
                let Impact { time, status, steps, .. } = time_of_impact(&a, &b, 1.0);
                assert_eq!(status, expected, "gap {gap}, closing at {closing}");
                assert!(steps < 8, "{steps} steps for a gap of {gap}");
                assert!(status == ImpactStatus::Miss || (time - 0.5).abs() < 0.02, "{time}");
            }
        }
    }
}

/// The normal of the nearest piece is across the motion and says nothing about the far piece.
#[test]
fn compounds_are_not_flown_through() {
    let ball = Shape::sphere(0.5).expect("a ball");
    let pieces = [at(-3.0, 0.0, 0.0), at(0.0, 10.0, 0.0)].map(|pose| (ball.clone(), pose));
    let pair = Shape::compound(pieces.to_vec()).expect("a compound");
    let flies = DVec3::new(0.0, 20.0, 0.0);
    let impact =
        meet((&ball, &Pose::IDENTITY, flies, STILL), (&pair, &Pose::IDENTITY, STILL, STILL), 1.0);
    assert_eq!(impact.status, ImpactStatus::Hit);
    assert!((impact.time - 0.45).abs() < 1e-8, "{impact:?}");
    let back =
        meet((&pair, &Pose::IDENTITY, STILL, STILL), (&ball, &Pose::IDENTITY, flies, STILL), 1.0);
    assert_eq!((back.status, back.time), (impact.status, impact.time));
    let short =
        meet((&ball, &Pose::IDENTITY, flies, STILL), (&pair, &Pose::IDENTITY, STILL, STILL), 0.4);
    assert_eq!(short.status, ImpactStatus::Miss);
}
