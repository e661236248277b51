//! Meshes against convex shapes: loops over all triangles, parry3d-f64 as a second opinion, moved
//! and swapped pairs, and solids.

use crate::mesh_support::{all_corners, ball, brute, cube};
use crate::parry_support::{parry_mesh, parry_pose, parry_vector};
use crate::random::{KINDS, Random};
use glam::{DQuat, DVec3};
use jostle::mesh::{Fill, Mesh};
use jostle::narrow::{
    Method, Options, PairCache, Placed, Query, Status, SurfacePart, closest_points, contact,
    contact_within, detailed_contact, distance, intersects,
};
use jostle::shape::{Pose, Shape};
use parry3d_f64::query;
use parry3d_f64::shape::{Ball, Cuboid, Shape as ParryShape};

fn bumpy(rings: u32, random: &mut Random) -> Mesh {
    let (points, triangles) = ball(rings, 0.3, random);
    Mesh::new(points, triangles).expect("a ball")
}

#[test]
fn every_shape_meets_the_triangle_that_loops_find() {
    let mut random = Random(3);
    let (mut apart, mut deep) = (0, 0);
    for round in 0..330 {
        let mesh = bumpy(4 + round as u32 % 5, &mut random);
        let shape = random.shape(round % KINDS);
        let (pose, there) = (random.pose(1.0), random.pose(1.7));
        let other = Placed::new(&shape, there);
        let expected = brute(all_corners(&mesh), &pose, &other);
        let whole = Shape::from(mesh.clone());
        let placed = Placed::new(&whole, pose);
        let found = contact(&placed, &other);
        let (ours, theirs) = (found.signed_distance(), expected.signed_distance());
        // The depth of curved shapes is EPA's, in whichever frame.
        assert!((ours - theirs).abs() < 1e-8, "{round} {}: {ours} {theirs}", shape.kind());
        assert!((found.point_a.distance(found.point_b) - ours.abs()).abs() < 1e-9);
        assert!(found.bound < 1e-8, "{} {}", shape.kind(), found.bound);
        let hit = intersects(&placed, &other).hit;
        assert_eq!(hit, found.status != Status::Separated);
        assert!((distance(&placed, &other) - found.distance).abs() < 1e-9);
        let mirrored = contact(&other, &placed);
        assert_eq!(mirrored.signed_distance(), ours);
        assert_eq!((mirrored.normal, mirrored.point_a), (-found.normal, found.point_b));
        if hit {
            deep += 1;
        } else {
            apart += 1;
            assert!(contact_within(&placed, &other, 0.99 * ours).is_none());
            let near = closest_points(&placed, &other);
            let on = mesh.project(pose.inverse_apply(near.point_a));
            assert!(on.distance.abs() < 1e-9, "{near:?}");
        }
        let detail = detailed_contact(&placed, &other, f64::INFINITY).expect("no limit");
        assert_eq!(detail.contact, found);
        let part = detail.triangles[0].expect("a mesh");
        assert_eq!(part.triangle, detail.pieces[0]);
        let [a, b, c] = mesh.corners(part.triangle);
        let at = a * part.weights[0] + b * part.weights[1] + c * part.weights[2];
        if !hit {
            assert!(at.distance(pose.inverse_apply(found.point_a)) < 1e-9);
        }
        if let SurfacePart::Face(face) = part.part {
            assert_eq!(face, part.triangle);
        }
    }
    assert!(apart > 80 && deep > 80, "{apart} {deep}");
}

#[test]
fn the_general_methods_agree_with_the_fast_ones() {
    let mut random = Random(13);
    let mesh = Shape::from(bumpy(12, &mut random));
    for round in 0..300 {
        let shape = random.shape([0, 1, 2, 9][round % 4]);
        let (a, b) = (Placed::new(&mesh, random.pose(0.5)), Placed::new(&shape, random.pose(1.5)));
        let mut general = Query::new(Options::default().with_method(Method::GjkEpa));
        let slow = general.contact(&a, &b, &mut PairCache::none());
        let fast = contact(&a, &b);
        let gap = (slow.signed_distance() - fast.signed_distance()).abs();
        assert!(gap < 1e-8, "{}: {slow:?} {fast:?}", shape.kind());
        let hit = general.intersects(&a, &b, &mut PairCache::none()).hit;
        assert_eq!(hit, intersects(&a, &b).hit);
        let mut grown = Query::new(Options::default().with_margin(0.125));
        let grown = grown.contact(&a, &b, &mut PairCache::none()).signed_distance();
        // Growing a shape that is apart brings it nearer by as much.
        if fast.distance > 0.2 {
            assert!((grown - (fast.signed_distance() - 0.125)).abs() < 1e-9);
        }
    }
}

/// Balls and boxes that miss a vertex, or reach it, by far less than f32 can tell; in the other
/// direction they are as large as the mesh or much smaller than its triangles.
#[test]
fn booleans_are_as_fine_as_distances() {
    let mut random = Random(53);
    let mut hits = 0;
    for round in 0..600 {
        let mesh = bumpy([3, 9, 24][round % 3], &mut random);
        let count = mesh.vertices().len();
        let vertex = mesh.vertices()[random.range(0.0, count as f64 - 0.5) as usize];
        // The mesh lies within 1.3 of its middle, so that a far vertex is seen from outside.
        let out = vertex.normalize();
        let (size, off) = (10f64.powf(random.range(-3.0, 0.5)), random.range(-2e-9, 2e-9));
        let shape = if round % 2 == 0 {
            Shape::sphere(size).expect("a ball")
        } else {
            Shape::cuboid(DVec3::new(size, 0.6 * size, 0.3 * size)).expect("a box")
        };
        let turn = random.pose(0.0).rotation();
        let at = |reach: f64| Pose::new(turn, vertex + out * reach).expect("a pose");
        // How far along the line the shape has to be to reach the vertex, and nothing but it.
        let mut reach = 2.0 * size;
        let whole = Shape::from(mesh.clone());
        let pose = random.pose(1.0);
        let placed = Placed::new(&whole, pose);
        for _ in 0..60 {
            reach -= distance(&placed, &Placed::new(&shape, pose * at(reach)));
        }
        let other = Placed::new(&shape, pose * at(reach + off));
        let expected = contact(&placed, &other).status != Status::Separated;
        let hit = intersects(&placed, &other).hit;
        assert_eq!(hit, expected, "{round}: {size} {off}");
        assert_eq!(intersects(&other, &placed).hit, hit);
        hits += u32::from(hit);
    }
    assert!((180..420).contains(&hits), "{hits}");
}

#[test]
fn compounds_and_half_spaces() {
    let mut random = Random(23);
    for _ in 0..60 {
        let mesh = bumpy(6, &mut random);
        let pieces: Vec<(Shape, Pose)> =
            (0..3).map(|kind| (random.shape(kind), random.pose(1.0))).collect();
        let compound = Shape::compound(pieces.clone()).expect("pieces");
        let (pose, there) = (random.pose(1.5), random.pose(1.5));
        let whole = Shape::from(mesh.clone());
        let placed = Placed::new(&whole, pose);
        let found = detailed_contact(&Placed::new(&compound, there), &placed, f64::INFINITY)
            .expect("no limit");
        let each = pieces.iter().map(|(shape, own)| {
            brute(all_corners(&mesh), &pose, &Placed::new(shape, there * *own)).signed_distance()
        });
        let all: Vec<f64> = each.collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        assert!((found.contact.signed_distance() - least).abs() < 1e-9);
        assert!((all[found.pieces[0] as usize] - least).abs() < 1e-9);

        let plane = Shape::half_space(random.unit(), random.range(-1.0, 1.0)).expect("a plane");
        let plane = Placed::new(&plane, there);
        let found = contact(&placed, &plane);
        let least = brute(all_corners(&mesh), &pose, &plane).signed_distance();
        assert!((found.signed_distance() - least).abs() < 1e-12);
        assert_eq!(intersects(&plane, &placed).hit, least <= 0.0);
    }
}

#[test]
fn moved_together_they_answer_alike() {
    let mut random = Random(33);
    let mesh = Shape::from(bumpy(9, &mut random));
    for round in 0..120 {
        let shape = random.shape(round % KINDS);
        let (pose, there) = (random.pose(0.5), random.pose(1.5));
        let here = contact(&Placed::new(&mesh, pose), &Placed::new(&shape, there));
        let by = random.pose(5.0);
        let moved = contact(&Placed::new(&mesh, by * pose), &Placed::new(&shape, by * there));
        assert!((here.signed_distance() - moved.signed_distance()).abs() < 1e-8);
        if here.status == Status::Separated {
            let expected = by.apply(here.point_b);
            assert!(moved.point_b.distance(expected) < 1e-5, "{} {here:?} {moved:?}", shape.kind());
        }
    }
}

#[test]
fn parry_agrees() {
    let mut random = Random(43);
    let (points, triangles) = ball(9, 0.25, &mut random);
    let mesh = Mesh::new(points, triangles).expect("a ball");
    let (theirs, mesh) = (parry_mesh(&mesh), Shape::from(mesh));
    let mut hits = 0;
    for round in 0..1500 {
        let size = random.range(0.05, 0.6);
        let (shape, other): (Shape, Box<dyn ParryShape>) = if round % 2 == 0 {
            (Shape::sphere(size).expect("a ball"), Box::new(Ball::new(size)))
        } else {
            let half = DVec3::new(size, 0.7 * size, 0.4 * size);
            let theirs = Cuboid::new(parry_vector(half));
            (Shape::cuboid(half).expect("a box"), Box::new(theirs))
        };
        let (a, b) = (random.pose(0.8), random.pose(1.2));
        let (ours, own) = (Placed::new(&mesh, a), Placed::new(&shape, b));
        let hit = intersects(&ours, &own).hit;
        let found = query::intersection_test(&parry_pose(&a), &theirs, &parry_pose(&b), &*other);
        assert_eq!(hit, found.expect("supported").intersecting);
        hits += u32::from(hit);
        let found =
            query::distance(&parry_pose(&a), &theirs, &parry_pose(&b), &*other).expect("supported");
        assert!((distance(&ours, &own) - found.distance).abs() < 1e-6);
    }
    assert!((300..1200).contains(&hits), "{hits}");
}

#[test]
fn a_solid_holds_what_is_inside() {
    let solid = cube(4.0);
    let hollow = Shape::from(solid.clone().with_fill(Fill::Surface));
    let solid = Shape::from(solid);
    let turned = Pose::new(DQuat::from_rotation_z(0.3), DVec3::new(9.0, 1.0, 2.0)).expect("a pose");
    let (a, empty) = (Placed::new(&solid, turned), Placed::new(&hollow, turned));
    let ball = Shape::sphere(0.5).expect("a ball");
    // Across the surface, wholly inside, and in the very middle.
    for (at, depth, surface) in [
        ([4.25, 0.0, 0.0], 0.25, 0.25),
        ([3.75, 0.0, 1.0], 0.75, 0.25),
        ([2.0, 0.5, 1.0], 2.5, -1.5),
        ([0.0, 0.0, 0.0], 4.5, -3.5),
        ([5.0, 0.0, 0.0], -0.5, -0.5),
    ] {
        let there = turned * Pose::at(at).expect("a pose");
        let found = contact(&a, &Placed::new(&ball, there));
        assert!((found.signed_distance() + depth).abs() < 1e-12, "{at:?} {found:?}");
        assert_eq!(intersects(&a, &Placed::new(&ball, there)).hit, depth > 0.0);
        assert_eq!(distance(&a, &Placed::new(&ball, there)), found.distance);
        let found = contact(&empty, &Placed::new(&ball, there));
        assert!((found.signed_distance() + surface).abs() < 1e-12, "{at:?} {found:?}");
    }
    // The way out of a box leads through the nearest face, and is as long as it takes.
    let brick = Shape::cuboid(DVec3::new(0.25, 0.5, 0.25)).expect("a box");
    let there = turned * Pose::at([0.0, 3.0, 0.0]).expect("a pose");
    let found = contact(&a, &Placed::new(&brick, there));
    assert!((found.depth - 1.5).abs() < 1e-12, "{found:?}");
    assert!(found.normal.distance(turned.apply_vector(DVec3::Y)) < 1e-12);
    let freed = Pose::new(there.rotation(), there.translation() + found.normal * found.depth);
    let freed = contact(&a, &Placed::new(&brick, freed.expect("a pose")));
    assert_eq!(freed.status, Status::Touching, "{freed:?}");
}

#[test]
fn distances_are_no_larger_than_those_of_samples() {
    let mut random = Random(53);
    for round in 0..40 {
        let mesh = bumpy(5, &mut random);
        let shape = random.shape(round % KINDS);
        let (pose, there) = (random.pose(1.0), random.pose(3.0));
        let whole = Shape::from(mesh.clone());
        let found = closest_points(&Placed::new(&whole, pose), &Placed::new(&shape, there));
        let mut least = f64::INFINITY;
        for [a, b, c] in all_corners(&mesh) {
            let (u, v) = (random.range(0.0, 0.5), random.range(0.0, 0.5));
            let on_mesh = pose.apply(a + (b - a) * u + (c - a) * v);
            let away = there.inverse_apply_vector(on_mesh - found.point_b);
            let on_shape = there.apply(shape.support(away));
            least = least.min(on_mesh.distance(on_shape));
        }
        assert!(found.distance <= least + 1e-9, "{} {least} {found:?}", shape.kind());
    }
}
