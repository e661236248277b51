//! Volumes hold what they are made around, and overlap tests agree with slower ways.

use super::super::hull::tests::Random;
use super::super::tests::{inside, shapes};
use super::*;
use crate::shape::{Pose, Shape};
use glam::{DMat3, DQuat};
use proptest::prelude::*;

const KINDS: [KdopKind; 3] = [KdopKind::Fourteen, KdopKind::Eighteen, KdopKind::TwentySix];

fn some_pose(random: &mut Random, spread: f64) -> Pose {
    let turn = DQuat::from_scaled_axis(random.vector() * 3.0);
    Pose::new(turn, random.vector() * spread).unwrap()
}

proptest! {
    #[test]
    fn volumes_hold_their_shapes(seed: u64) {
        let mut random = Random(seed);
        let pose = some_pose(&mut random, 10.0);
        for shape in shapes(seed) {
            let sphere = BoundingSphere::of_shape(&shape, &pose);
            let capsule = BoundingCapsule::of_shape(&shape, &pose);
            let obb = Obb::of_shape(&shape, &pose);
            let kdops = KINDS.map(|kind| Kdop::of_shape(kind, &shape, &pose));
            for _ in 0..50 {
                // Pulled in a little, since the sample and its pose round as well.
                let local = inside(&shape, &mut random);
                let point = pose.apply(local + (shape.center() - local) * 1e-13);
                prop_assert!(sphere.contains(point), "{}", shape.kind());
                prop_assert!(capsule.contains(point), "{}", shape.kind());
                prop_assert!(obb.contains(point), "{}", shape.kind());
                prop_assert!(kdops.iter().all(|kdop| kdop.contains(point)), "{}", shape.kind());
            }
        }
    }

    #[test]
    fn volumes_hold_their_points_and_touch_them(seed: u64, count in 1usize..60) {
        let mut random = Random(seed);
        let stretch = random.vector().abs();
        let place = random.vector() * 1e3;
        let points: Vec<DVec3> =
            (0..count).map(|_| random.vector() * stretch + place).collect();
        let sphere = BoundingSphere::from_points(&points).unwrap();
        let capsule = BoundingCapsule::from_points(&points).unwrap();
        let obb = Obb::from_points(&points).unwrap();
        for &point in &points {
            prop_assert!(sphere.contains(point) && capsule.contains(point) && obb.contains(point));
        }
        for kdop in KINDS.map(|kind| Kdop::from_points(kind, &points).unwrap()) {
            prop_assert!(points.iter().all(|&point| kdop.contains(point)));
            for (direction, low, high) in kdop.slabs() {
                prop_assert!(points.iter().any(|point| point.dot(direction) == low));
                prop_assert!(points.iter().any(|point| point.dot(direction) == high));
            }
        }
        let furthest = points.iter().map(|p| p.distance(sphere.center)).fold(0.0, f64::max);
        prop_assert!(sphere.radius - furthest < 1e-11);
        // No better than half the diameter, no worse than the box's diagonal.
        let across = |a: &DVec3| points.iter().map(|b| a.distance(*b)).fold(0.0, f64::max);
        let diameter = points.iter().map(across).fold(0.0, f64::max);
        prop_assert!(2.0 * sphere.radius <= diameter * 3.0f64.sqrt() + 1e-10);
    }

    #[test]
    fn shapes_that_share_a_point_have_overlapping_volumes(seed: u64) {
        let mut random = Random(seed);
        let all = shapes(seed);
        let one = &all[(seed % 9) as usize];
        let other = &all[(seed / 9 % 9) as usize];
        let pose = some_pose(&mut random, 5.0);
        let turn = DQuat::from_scaled_axis(random.vector());
        let shared = pose.apply(inside(one, &mut random));
        let place = shared - turn * inside(other, &mut random);
        let there = Pose::new(turn, place).unwrap();
        prop_assert!(BoundingSphere::of_shape(one, &pose)
            .overlaps(&BoundingSphere::of_shape(other, &there)));
        prop_assert!(BoundingCapsule::of_shape(one, &pose)
            .overlaps(&BoundingCapsule::of_shape(other, &there)));
        prop_assert!(Obb::of_shape(one, &pose).overlaps(&Obb::of_shape(other, &there)));
        for kind in KINDS {
            let kdop = Kdop::of_shape(kind, one, &pose);
            for other_kind in KINDS {
                prop_assert!(kdop.overlaps(&Kdop::of_shape(other_kind, other, &there)));
            }
        }
    }
}

/// Decides if two boxes overlap, by alternating projection: slow, but it shares nothing with the
/// test. Nothing if it has not converged: neither a common point nor a separating plane.
fn boxes_overlap(a: &Obb, b: &Obb) -> Option<bool> {
    let project = |obb: &Obb, point: DVec3| {
        let local = obb.axes.transpose() * (point - obb.center);
        obb.center + obb.axes * local.clamp(-obb.half_extents, obb.half_extents)
    };
    let mut here = a.center;
    for _ in 0..1000 {
        let there = project(b, here);
        here = project(a, there);
        let between = there - here;
        if between.length() < 1e-12 {
            return Some(true);
        }
        let reach = |obb: &Obb, direction: DVec3| {
            obb.corners().map(|corner| corner.dot(direction)).into_iter().fold(f64::MIN, f64::max)
        };
        if reach(a, between) < -reach(b, -between) {
            return Some(false);
        }
    }
    None
}

#[test]
fn fifteen_axes_agree_with_projections() {
    let mut random = Random(11);
    let (mut hits, mut decided) = (0, 0);
    for round in 0..2000 {
        let mut one = || {
            let pose = some_pose(&mut random, 0.9);
            // Parallel axes in every third pair.
            let turn = if round % 3 == 0 { DQuat::IDENTITY } else { pose.rotation() };
            let size = random.vector().abs().max(DVec3::splat(0.01));
            Obb { center: pose.translation(), axes: DMat3::from_quat(turn), half_extents: size }
        };
        let (a, b) = (one(), one());
        let Some(overlap) = boxes_overlap(&a, &b) else { continue };
        decided += 1;
        hits += usize::from(overlap);
        assert_eq!(a.overlaps(&b), overlap, "{a:?} {b:?}");
        assert_eq!(b.overlaps(&a), overlap);
    }
    assert!(decided > 1900, "{decided}");
    assert!((0.3..0.7).contains(&(f64::from(hits as u32) / f64::from(decided))), "{hits}");
}

#[test]
fn only_a_crossed_axis_separates_these_boxes() {
    // Two long boxes, corner edge over corner edge, just apart along the cross of their edges.
    let tilt = |axis: DVec3, angle: f64| DMat3::from_axis_angle(axis, angle);
    let quarter = std::f64::consts::FRAC_PI_4;
    let half_extents = DVec3::new(5.0, 1.0, 1.0);
    let lower = Obb { center: DVec3::ZERO, axes: tilt(DVec3::X, quarter), half_extents };
    let turn = tilt(DVec3::Z, 2.0 * quarter) * tilt(DVec3::X, quarter);
    let height = 2.0 * 2.0f64.sqrt();
    let upper = |gap: f64| Obb { center: DVec3::Z * (height + gap), axes: turn, half_extents };
    assert!(!lower.overlaps(&upper(1e-9)));
    assert!(lower.overlaps(&upper(-1e-9)));
    assert!(lower.overlaps(&lower));
}

#[test]
fn capsules_agree_with_sampled_segments() {
    let mut random = Random(5);
    let mut hits = 0;
    for round in 0..400 {
        let mut segment = || [random.vector(), random.vector()];
        let (one, mut other) = (segment(), segment());
        match round % 5 {
            // Parallel, a point, crossing.
            0 => other[1] = other[0] + (one[1] - one[0]) * 0.7,
            1 => other[1] = other[0],
            2 => other[0] = one[0] * 2.0 + one[1] - other[1] - one[0],
            _ => {}
        }
        let at = |segment: [DVec3; 2], share: f64| segment[0].lerp(segment[1], share);
        let mut sampled = f64::INFINITY;
        for i in 0..=200 {
            for j in 0..=200 {
                let (s, t) = (f64::from(i) / 200.0, f64::from(j) / 200.0);
                sampled = sampled.min(at(one, s).distance(at(other, t)));
            }
        }
        let capsule = |ends: [DVec3; 2], radius: f64| BoundingCapsule { ends, radius };
        // The samples are at most this much further apart than the segments.
        let coarse = (one[0].distance(one[1]) + other[0].distance(other[1])) / 400.0;
        assert!(capsule(one, 0.0).overlaps(&capsule(other, sampled + 1e-12)));
        if sampled > coarse {
            assert!(!capsule(one, 0.0).overlaps(&capsule(other, sampled - coarse)));
        }
        hits += usize::from(capsule(one, 0.25).overlaps(&capsule(other, 0.25)));
    }
    assert!((120..280).contains(&hits), "{hits}");
}

#[test]
fn bad_points_are_named_and_half_spaces_overlap_everything() {
    assert!(BoundingSphere::from_points(&[]).is_err());
    assert!(BoundingCapsule::from_points(&[]).is_err());
    assert!(Obb::from_points(&[DVec3::ZERO, DVec3::NAN]).is_err());
    let fault = Kdop::from_points(KdopKind::Fourteen, &[DVec3::INFINITY]).unwrap_err();
    assert!(fault.to_string().starts_with("points[0] x = inf"));
    let floor = Shape::half_space(DVec3::new(1.0, 2.0, 3.0), 1.0).unwrap();
    let far = Pose::from_translation(DVec3::splat(1e50)).unwrap();
    let ball = Shape::sphere(0.0).unwrap();
    for (one, other) in [(&floor, &ball), (&ball, &floor), (&floor, &floor)] {
        let here = Pose::IDENTITY;
        assert!(
            BoundingSphere::of_shape(one, &here).overlaps(&BoundingSphere::of_shape(other, &far))
        );
        assert!(
            BoundingCapsule::of_shape(one, &here).overlaps(&BoundingCapsule::of_shape(other, &far))
        );
        assert!(Obb::of_shape(one, &here).overlaps(&Obb::of_shape(other, &far)));
        let kdop = |shape, pose| Kdop::of_shape(KdopKind::TwentySix, shape, pose);
        assert!(kdop(one, &here).overlaps(&kdop(other, &far)));
    }
}

#[test]
fn principal_axes_find_a_turned_box() {
    let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -0.9, 0.3));
    let size = DVec3::new(3.0, 2.0, 1.0);
    let corners = aligned_corners(size).map(|corner| turn * corner + DVec3::splat(7.0));
    let obb = Obb::from_points(&corners).unwrap();
    let mut found = obb.half_extents.to_array();
    found.sort_by(f64::total_cmp);
    for (found, expected) in found.iter().zip([1.0, 2.0, 3.0]) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

fn aligned_corners(half_extents: DVec3) -> [DVec3; 8] {
    Obb { center: DVec3::ZERO, axes: DMat3::IDENTITY, half_extents }.corners()
}
