//! Agreement with an independent implementation, parry3d-f64, on random pairs.
//!
//! Where the two differ, a reference decides that is neither: the plane across our normal shows
//! that the distance is not less (or the depth not more), and our two points that it is not more. A
//! disagreement in which our answer has no such proof fails the test.

use crate::parry_support::{parry_pose, parry_vector};
use crate::random::Random;
use glam::DVec3;
use jostle::narrow::{self, Placed};
use jostle::shape::{Pose, Shape};
use parry3d_f64::query;
use parry3d_f64::shape as parry;

impl Random {
    fn twin(&mut self, kind: usize) -> (Shape, Box<dyn parry::Shape>) {
        let mut size = || self.range(0.4, 1.1);
        match kind {
            0 => {
                let r = size();
                (Shape::sphere(r).expect("a sphere"), Box::new(parry::Ball::new(r)))
            }
            1 => {
                let half = DVec3::new(size(), size(), size());
                let theirs = parry::Cuboid::new(parry_vector(half));
                (Shape::cuboid(half).expect("a box"), Box::new(theirs))
            }
            2 => {
                let (r, h) = (0.6 * size(), size());
                (Shape::capsule(r, h).expect("a capsule"), Box::new(parry::Capsule::new_y(h, r)))
            }
            3 => {
                let (r, h) = (size(), size());
                (Shape::cylinder(r, h).expect("a cylinder"), Box::new(parry::Cylinder::new(h, r)))
            }
            4 => {
                let (r, h) = (size(), size());
                (Shape::cone(r, h).expect("a cone"), Box::new(parry::Cone::new(h, r)))
            }
            _ => {
                let points: Vec<DVec3> = (0..24).map(|_| self.vector(0.9)).collect();
                let copies: Vec<_> = points.iter().map(|&at| parry_vector(at)).collect();
                let theirs = parry::ConvexPolyhedron::from_convex_hull(&copies).expect("a hull");
                (Shape::hull(&points).expect("a hull"), Box::new(theirs))
            }
        }
    }
}

/// How far a reaches beyond the near side of b along a direction.
fn overlap_along(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, direction: DVec3) -> f64 {
    let on_a = pose_a.apply(a.support(pose_a.inverse_apply_vector(direction)));
    let on_b = pose_b.apply(b.support(pose_b.inverse_apply_vector(-direction)));
    (on_a - on_b).dot(direction)
}

#[test]
fn we_agree_with_parry_or_can_prove_our_answer() {
    const PAIRS: usize = 6_000;
    let mut random = Random(3);
    let (mut hits, mut disagreements) = (0, 0);
    for index in 0..PAIRS {
        let (a, their_a) = random.twin(index % 6);
        let (b, their_b) = random.twin(index / 6 % 6);
        let (pose_a, pose_b) = (random.pose(1.2), random.pose(1.2));
        let ours = narrow::contact(&Placed::new(&a, pose_a), &Placed::new(&b, pose_b));
        hits += usize::from(ours.distance == 0.0);
        let found =
            query::contact(&parry_pose(&pose_a), &*their_a, &parry_pose(&pose_b), &*their_b, 100.0)
                .expect("a supported pair");
        let their_signed = found.map_or(f64::NAN, |contact| contact.dist);
        if (ours.signed_distance() - their_signed).abs() <= 1e-6 {
            continue;
        }
        disagreements += 1;
        let shown = -overlap_along(&a, &pose_a, &b, &pose_b, ours.normal);
        assert!(
            (shown - ours.signed_distance()).abs() < 1e-8,
            "{a:?} {b:?} {ours:?} {their_signed}"
        );
        if ours.distance > 0.0 {
            let apart = ours.point_a.distance(ours.point_b);
            assert!((apart - ours.distance).abs() < 1e-8, "{a:?} {b:?} {ours:?} {their_signed}");
        } else {
            // Theirs must be no shorter way out than ours.
            let shorter = -their_signed < ours.depth - 1e-8;
            let mut way = f64::INFINITY;
            for _ in 0..if shorter { 20_000 } else { 0 } {
                let direction = random.vector(1.0).normalize_or(DVec3::X);
                way = way.min(overlap_along(&a, &pose_a, &b, &pose_b, direction));
            }
            assert!(way >= ours.depth - 1e-8, "{a:?} {b:?} {ours:?} {their_signed} {way}");
        }
    }
    let share = hits as f64 / PAIRS as f64;
    assert!((0.3..=0.7).contains(&share), "hit rate {share}");
    println!("hit rate {share:.2}, {disagreements} disagreements of {PAIRS}, all decided for us");
    assert!(disagreements * 10 < PAIRS, "{disagreements} disagreements");
}

/// Rays: both implementations must say the same, but for rays that graze.
#[test]
fn rays_agree_with_parry() {
    use parry3d_f64::query::Ray as TheirRay;
    const RAYS: usize = 12_000;
    let mut random = Random(8);
    let (mut hits, mut grazing) = (0, 0);
    for index in 0..RAYS {
        let (shape, their_shape) = random.twin(index % 6);
        let pose = random.pose(1.2);
        let from = pose.translation() + random.vector(3.0);
        let way = pose.translation() + random.vector(1.0) - from;
        let ray = narrow::Ray::new(from, way).expect("a ray");
        let ours = narrow::cast_ray(&Placed::new(&shape, pose), &ray);
        let their_ray = TheirRay::new(parry_vector(from), parry_vector(way));
        let found =
            their_shape.cast_ray_and_get_normal(&parry_pose(&pose), &their_ray, 100.0, true);
        hits += usize::from(ours.is_some());
        match (ours, found) {
            (None, None) => {}
            (Some(ours), Some(found)) => {
                let apart = (ours.time - found.time_of_impact).abs() * way.length();
                let normal = DVec3::new(found.normal.x, found.normal.y, found.normal.z);
                // A slanted surface turns the tolerance of their search into a longer way.
                let slant = ours.normal.dot(way.normalize()).abs().max(1e-3);
                assert!(apart < 1e-5 / slant, "{shape:?} {pose:?} {ray:?} {ours:?} {found:?}");
                // On an edge either face may be named.
                let beside = normal.dot(ours.normal) < 1.0 - 1e-6;
                grazing += usize::from(beside && !ours.inside);
            }
            _ => grazing += 1,
        }
    }
    assert!((RAYS * 3 / 10..RAYS * 9 / 10).contains(&hits), "{hits} of {RAYS} hit");
    assert!(grazing < RAYS / 100, "{grazing} of {RAYS} rays are not agreed upon");
}
