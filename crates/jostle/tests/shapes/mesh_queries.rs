//! Meshes against loops over all their triangles, against themselves moved, and against
//! parry3d-f64 as a second opinion.

use glam::DVec3;
use jostle::Workers;
use jostle::mesh::{Fill, Mesh, MeshPair, triangles_touch};
use jostle::shape::Pose;
use parry3d_f64::query;

use crate::mesh_support::{ball, cube_at};
use crate::parry_support::{parry_mesh, parry_pose};
use crate::random::Random;

fn meets(a: &Mesh, b: &Mesh) -> bool {
    let (one, other) = (Pose::IDENTITY, Pose::IDENTITY);
    let found = MeshPair::new(a, &one, b, &other).intersects();
    assert_eq!(MeshPair::new(b, &other, a, &one).intersects(), found);
    found
}

#[test]
fn cubes_in_cubes_and_next_to_cubes() {
    let at = |x: f64, y: f64| cube_at(1.0, DVec3::new(x, y, 0.0));
    assert!(meets(&at(0.0, 0.0), &at(2.0, 0.0)));
    assert!(meets(&at(0.0, 0.0), &at(2.0, 2.0)));
    assert!(meets(&at(0.0, 0.0), &at(0.0, 0.0)));
    assert!(!meets(&at(0.0, 0.0), &at(2.0 + 1e-15, 0.0)));
    let (outer, inner) = (cube_at(4.0, DVec3::ZERO), cube_at(1.0, DVec3::ZERO));
    assert!(!meets(&outer, &inner), "surfaces are empty inside");
    let pair = MeshPair::new(&outer, &Pose::IDENTITY, &inner, &Pose::IDENTITY);
    assert_eq!(pair.distance(), 3.0);
    let solid = outer.clone().with_fill(Fill::Solid);
    assert!(meets(&solid, &inner));
    assert_eq!(MeshPair::new(&inner, &Pose::IDENTITY, &solid, &Pose::IDENTITY).distance(), 0.0);
    assert!(!meets(&inner.clone().with_fill(Fill::Solid), &outer));
    assert!(solid.contains(DVec3::ONE) && !outer.contains(DVec3::ONE));
    assert!(outer.contains(DVec3::new(4.0, 1.0, 1.0)));
    assert_eq!(solid.project(DVec3::new(3.0, 0.5, 0.0)).distance, -1.0);
    assert!((solid.winding_number(DVec3::ONE) - 1.0).abs() < 1e-12);
    assert!(solid.winding_number(DVec3::ONE * 5.0).abs() < 1e-12);
}

/// Gaps that are lost when the nearest points are rounded, or when a length is squared.
#[test]
fn meshes_are_at_distance_zero_if_and_only_if_they_touch() {
    let (mut random, tiny) = (Random(17), 2f64.powi(-60));
    let (mut touching, mut lost) = (0, 0);
    for _ in 0..4000 {
        let [a, b] = [(), ()].map(|()| {
            let mut whole = |below: f64| random.range(0.0, below).floor();
            let mut small = || DVec3::new(whole(3.0), whole(3.0), whole(3.0)) - 1.0;
            let points = (0..5).map(|_| small() + small() * tiny).collect();
            let triangles = (0..3).map(|_| [(); 3].map(|()| whole(5.0) as u32)).collect();
            Mesh::new(points, triangles).unwrap()
        });
        let pair = MeshPair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY);
        let (touch, closest) = (pair.intersects(), pair.closest());
        assert_eq!(closest.distance == 0.0, touch, "{a:?} {b:?}");
        assert_eq!(pair.closest_within(0.0).is_some(), touch);
        assert!(closest.distance >= 0.0 && closest.bound >= 0.0 && closest.bound < 1e-3);
        touching += usize::from(touch);
        lost += usize::from(!touch && closest.distance < 1e-300);
    }
    assert!(touching > 500 && lost > 0, "{touching} {lost}");
    let sheet = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(DVec3::from).to_vec();
    let sheet = Mesh::new(sheet, vec![[0, 1, 2]]).unwrap();
    for gap in [1e-20, 1e-160, 1e-200, 1e-300] {
        let above = Pose::at([0.0, 0.0, gap]).unwrap();
        let distance = MeshPair::new(&sheet, &Pose::IDENTITY, &sheet, &above).distance();
        assert!((distance / gap - 1.0).abs() < 1e-12, "{gap:e}: {distance:e}");
    }
}

#[test]
fn trees_find_what_loops_find() {
    let mut random = Random(5);
    let (mut hits, mut misses) = (0, 0);
    for round in 0..40 {
        let (points, triangles) = ball(5 + round % 6, 0.3, &mut random);
        let a = Mesh::new(points, triangles).expect("a ball");
        let (points, triangles) = ball(6, 0.3, &mut random);
        let b = Mesh::new(points.clone(), triangles.clone()).expect("a ball");
        let (pose_a, pose_b) = (random.pose(1.7), random.pose(1.7));
        let pair = MeshPair::new(&a, &pose_a, &b, &pose_b);
        let found = pair.triangle_pairs(usize::MAX).expect("no limit");
        // The same rounding as the library promises: b in the frame of a, moved once.
        let turn = pose_a.rotation().conjugate();
        let matrix = glam::DMat3::from_quat((turn * pose_b.rotation()).normalize());
        let offset = turn * (pose_b.translation() - pose_a.translation());
        let moved = points.iter().map(|point| matrix * *point + offset).collect();
        let moved = Mesh::new(moved, triangles).expect("a ball");
        let all = (0..a.triangles().len() as u32)
            .flat_map(|i| (0..moved.triangles().len() as u32).map(move |j| (i, j)));
        let expected: Vec<(u32, u32)> =
            all.filter(|&(i, j)| triangles_touch(&a.corners(i), &moved.corners(j))).collect();
        assert_eq!(found, expected);
        assert_eq!(pair.intersects(), !expected.is_empty());
        let limit = expected.len().saturating_sub(1);
        assert_eq!(pair.triangle_pairs(limit).is_err(), !expected.is_empty());
        let closest = pair.closest();
        if expected.is_empty() {
            misses += 1;
            assert!((closest.point_a.distance(closest.point_b) - closest.distance).abs() < 1e-14);
            assert!(closest.bound < 1e-13, "{closest:?}");
            let within = pair.closest_within(closest.distance * 0.99);
            assert!(within.is_none());
        } else {
            hits += 1;
            assert_eq!(closest.distance, 0.0);
        }
    }
    assert!(hits > 5 && misses > 5, "{hits} hits, {misses} misses");
}

#[test]
fn rays_and_nearest_points_are_those_of_loops() {
    let mut random = Random(9);
    let (points, triangles) = ball(24, 0.2, &mut random);
    let mesh = Mesh::new(points, triangles).expect("a ball");
    let count = mesh.triangles().len() as u32;
    let single: Vec<Mesh> = (0..count)
        .map(|k| Mesh::new(mesh.corners(k).to_vec(), vec![[0, 1, 2]]).expect("one"))
        .collect();
    let mut hits = 0;
    for round in 0..60 {
        let far = [0.5, 2.0, 50.0, 1e6][round % 4];
        let origin = random.vector(far);
        let direction = (random.vector(1.0) - origin) * [1.0, 1e-3, 1e4][round % 3];
        let found = mesh.cast_ray(origin, direction, f64::INFINITY);
        let one = |k: u32| single[k as usize].cast_ray(origin, direction, f64::INFINITY);
        let all = (0..count).filter_map(|k| one(k).map(|hit| (hit.time, k)));
        let expected = all.min_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(found.map(|hit| (hit.time, hit.triangle)), expected);
        if let Some(hit) = found {
            hits += 1;
            assert!(mesh.cast_ray(origin, direction, hit.time * 0.999_999).is_none());
            assert!(hit.point.distance(origin + direction * hit.time) < 1e-9 * (1.0 + far));
        }
        let near = mesh.project(origin);
        let least = single.iter().map(|one| one.project(origin).distance).fold(f64::MAX, f64::min);
        assert_eq!(near.distance, least);
        assert!(mesh.project_within(origin, least * 0.999).is_none());
    }
    assert!(hits > 20, "{hits}");
    assert!(mesh.cast_ray(DVec3::NAN, DVec3::X, 1.0).is_none());
    assert!(mesh.cast_ray(DVec3::ZERO, DVec3::ZERO, 1.0).is_none());
    assert!(mesh.cast_ray(DVec3::ZERO, DVec3::X, f64::NAN).is_none());
}

#[test]
fn a_fitted_tree_answers_like_a_new_one() {
    let mut random = Random(11);
    let (points, triangles) = ball(16, 0.1, &mut random);
    let mut fitted = Mesh::new(points.clone(), triangles.clone()).expect("a ball");
    let moved: Vec<DVec3> = points
        .iter()
        .map(|at| DVec3::new(at.x, at.y * (1.0 + 0.3 * at.x), at.z + 0.2 * at.y))
        .collect();
    fitted.set_vertices(&moved, &Workers::one()).expect("as many");
    let rebuilt = Mesh::new(moved, triangles).expect("a ball");
    let other = cube_at(0.5, DVec3::ZERO);
    for _ in 0..50 {
        let pose = random.pose(1.5);
        let ask = |mesh: &Mesh| {
            let pair = MeshPair::new(mesh, &Pose::IDENTITY, &other, &pose);
            (pair.triangle_pairs(usize::MAX).expect("no limit"), pair.distance())
        };
        let ((pairs, distance), (same, again)) = (ask(&fitted), ask(&rebuilt));
        assert_eq!(pairs, same);
        assert!((distance - again).abs() < 1e-14);
        let (origin, direction) = (random.vector(3.0), random.vector(1.0));
        let cast = |mesh: &Mesh| mesh.cast_ray(origin, direction, f64::INFINITY);
        assert_eq!(cast(&fitted), cast(&rebuilt));
        assert_eq!(fitted.project(origin).distance, rebuilt.project(origin).distance);
    }
}

#[test]
fn parry_agrees_on_random_poses() {
    let mut random = Random(21);
    let (points, triangles) = ball(8, 0.25, &mut random);
    let mesh = Mesh::new(points, triangles).expect("a ball");
    let theirs = parry_mesh(&mesh);
    let mut hits = 0;
    for _ in 0..2000 {
        let (a, b) = (random.pose(1.2), random.pose(1.2));
        let ours = MeshPair::new(&mesh, &a, &mesh, &b).intersects();
        let other = query::intersection_test(&parry_pose(&a), &theirs, &parry_pose(&b), &theirs);
        assert_eq!(ours, other.expect("supported").intersecting, "{a:?} {b:?}");
        hits += u32::from(ours);
    }
    assert!((400..1700).contains(&hits), "{hits}");
    for _ in 0..20 {
        let (a, b) = (random.pose(2.5), random.pose(2.5));
        let ours = MeshPair::new(&mesh, &a, &mesh, &b).distance();
        let other = query::distance(&parry_pose(&a), &theirs, &parry_pose(&b), &theirs)
            .expect("supported")
            .distance;
        assert!((ours - other).abs() < 1e-9, "{ours} {other}");
    }
}

#[test]
fn a_mesh_against_itself_leaves_out_neighbours() {
    let mut random = Random(31);
    let (mut points, mut triangles) = ball(7, 0.3, &mut random);
    // A second ball through the first one.
    let count = points.len() as u32;
    points.extend(points.clone().iter().map(|at| *at + DVec3::new(0.7, 0.2, 0.1)));
    triangles.extend(triangles.clone().iter().map(|corners| corners.map(|at| at + count)));
    let mesh = Mesh::new(points, triangles).expect("two balls");
    let count = mesh.triangles().len() as u32;
    let apart = |i: u32, j: u32| {
        let (one, other) = (mesh.triangles()[i as usize], mesh.triangles()[j as usize]);
        !one.iter().any(|vertex| other.contains(vertex))
    };
    let all = (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j)));
    let touch = |i: u32, j: u32| triangles_touch(&mesh.corners(i), &mesh.corners(j));
    let expected: Vec<(u32, u32)> = all.filter(|&(i, j)| apart(i, j) && touch(i, j)).collect();
    assert!(!expected.is_empty());
    assert_eq!(mesh.self_pairs(usize::MAX).expect("no limit"), expected);
    assert!(mesh.self_pairs(expected.len() - 1).is_err());
}
