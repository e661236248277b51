//! Contact points on meshes and height fields: what slides over a floor gets normals of the floor,
//! however it is triangulated.

use std::collections::BTreeSet;

use crate::mesh_support::{cube, floor};
use crate::random::Random;
use glam::{DQuat, DVec3};
use jostle::narrow::{ManifoldPoint, PairCache, Placed, Query, contact, manifold};
use jostle::shape::{HeightField, Pose, Shape};

fn sliders() -> Vec<(Shape, f64)> {
    let half = DVec3::new(0.5, 0.3, 0.4);
    let corners: Vec<DVec3> = (0..8)
        .map(|k| half * DVec3::from_array([0, 1, 2].map(|axis| f64::from(1 - 2 * (k >> axis & 1)))))
        .collect();
    vec![
        (Shape::sphere(0.5).unwrap(), 0.5),
        (Shape::cuboid(half).unwrap(), 0.3),
        (Shape::hull(&corners).unwrap(), 0.3),
        (Shape::cylinder(0.4, 0.25).unwrap(), 0.25),
        (Shape::rounded(&Shape::cuboid(half).unwrap(), 0.1).unwrap(), 0.4),
        (
            Shape::compound(
                [-0.4, 0.4]
                    .map(|x| {
                        let foot = Shape::cuboid(DVec3::new(0.1, 0.2, 0.1)).unwrap();
                        (foot, Pose::at([x, 0.0, 0.0]).unwrap())
                    })
                    .to_vec(),
            )
            .unwrap(),
            0.2,
        ),
    ]
}

/// The points of both kinds of manifold.
fn points(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Vec<ManifoldPoint> {
    let mut points = Vec::new();
    let none = &mut PairCache::none();
    if Query::default().manifolds(a, b, reach, none, &mut points).is_some() {
        points.extend_from_slice(manifold(a, b, reach).expect("they touch").points());
    }
    points
}

#[test]
fn sliding_over_a_flat_floor_meets_no_walls() {
    let mut random = Random(7);
    for (n, soup) in [(3, false), (9, true), (40, false), (40, true)] {
        let mesh = Shape::from(floor(n, 4.0, soup, |_, _| 0.0, &mut random));
        let grid = vec![0.0; (n as usize + 1).pow(2)];
        let field = HeightField::new(n + 1, [8.0 / f64::from(n); 2], grid).unwrap();
        let (field, shift) = (Shape::from(field), DVec3::new(-4.0, 0.0, -4.0));
        // The whole scene is turned: nothing depends on the axes.
        let turn = DQuat::from_scaled_axis(random.vector(2.0));
        let up = turn * DVec3::Y;
        for (shape, height) in sliders() {
            for step in 0..50 {
                let depth = [1e-3, 1e-9, 0.02, -1e-3][step % 4];
                let at = DVec3::new(-2.5 + 0.1 * step as f64, height - depth, 0.37);
                let spin = DQuat::from_rotation_y(0.11 * step as f64);
                let there = Pose::new(turn * spin, turn * at).unwrap();
                for (ground, origin) in [(&mesh, DVec3::ZERO), (&field, shift)] {
                    let ground = Placed::new(ground, Pose::new(turn, turn * origin).unwrap());
                    let body = Placed::new(&shape, there);
                    let found = points(&ground, &body, 0.01);
                    assert!(!found.is_empty());
                    for point in &found {
                        let kind = shape.kind();
                        assert!(point.normal.dot(up) > 1.0 - 1e-6, "{kind} {n} {step}: {point:?}");
                        assert!((point.separation + depth).abs() < 1e-6, "{kind} {point:?}");
                    }
                    let swapped = points(&body, &ground, 0.01);
                    assert_eq!(swapped.len(), found.len());
                    assert!(swapped.iter().all(|point| point.normal.dot(up) < -1.0 + 1e-6));
                    if let Shape::Cuboid { .. } = shape {
                        let whole = manifold(&ground, &body, 0.01).unwrap();
                        assert_eq!(whole.points().len(), 4, "{n} {step} {:?}", whole.points());
                        let wide = |k: usize| {
                            let all =
                                whole.points().iter().map(|p| there.inverse_apply(p.point_b)[k]);
                            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
                        };
                        assert!(wide(0) > 0.999 && wide(2) > 0.799, "the corners hold it");
                    }
                }
            }
        }
    }
}

#[test]
fn over_bumps_normals_are_those_of_the_ground() {
    let mut random = Random(17);
    let height = |x: f64, z: f64| 0.05 * (1.3 * x).sin() + 0.04 * (1.7 * z).cos();
    let mesh = floor(30, 4.0, true, height, &mut random);
    let steepest = (0.05f64 * 1.3).hypot(0.04 * 1.7).atan();
    let mesh = Shape::from(mesh);
    let ground = Placed::new(&mesh, Pose::IDENTITY);
    let mut touched = 0;
    for (shape, low) in sliders() {
        for step in 0..80 {
            let (x, z) = (-2.0 + 0.05 * f64::from(step), 0.31);
            let at = DVec3::new(x, height(x, z) + low + 0.02, z);
            let turn = DQuat::from_rotation_y(0.2 * f64::from(step));
            let body = Placed::new(&shape, Pose::new(turn, at).unwrap());
            for point in points(&ground, &body, 0.0) {
                touched += 1;
                // A ridge between two slopes may add half a cell's turn; a wall would add a right
                // angle.
                let lean = point.normal.y.clamp(-1.0, 1.0).acos();
                assert!(lean < 2.0 * steepest + 0.05, "{} {step}: {lean} {point:?}", shape.kind());
            }
        }
    }
    assert!(touched > 300, "{touched}");
}

#[test]
fn a_corner_of_floor_and_wall_has_both_normals() {
    let corners = [
        [0.0, 0.0, -5.0],
        [0.0, 0.0, 5.0],
        [9.0, 0.0, -5.0],
        [9.0, 0.0, 5.0],
        [0.0, 9.0, -5.0],
        [0.0, 9.0, 5.0],
    ];
    let triangles = vec![[0, 1, 2], [2, 1, 3], [0, 4, 1], [1, 4, 5]];
    let mesh = jostle::mesh::Mesh::new(corners.map(Into::into).to_vec(), triangles).unwrap();
    let mesh = Shape::from(mesh);
    let ground = Placed::new(&mesh, Pose::IDENTITY);
    for shape in [Shape::cuboid(DVec3::splat(0.5)).unwrap(), Shape::sphere(0.5).unwrap()] {
        let body = Placed::new(&shape, Pose::at([0.49, 0.48, 0.1]).unwrap());
        let mut points = Vec::new();
        let none = &mut PairCache::none();
        let found = Query::default().manifolds(&ground, &body, 0.0, none, &mut points).unwrap();
        assert!((found.depth - 0.02).abs() < 1e-12);
        let along = |axis: DVec3| points.iter().filter(|p| p.normal.dot(axis) > 0.999).count();
        let count = if matches!(shape, Shape::Sphere { .. }) { 1 } else { 4 };
        assert_eq!((along(DVec3::X), along(DVec3::Y), points.len()), (count, count, 2 * count));
    }
}

#[test]
fn ids_last_while_a_box_trembles() {
    let mut random = Random(27);
    let mesh = Shape::from(floor(12, 4.0, false, |_, _| 0.0, &mut random));
    let ground = Placed::new(&mesh, Pose::IDENTITY);
    let shape = Shape::cuboid(DVec3::new(0.5, 0.3, 0.4)).unwrap();
    let mut last: Option<BTreeSet<(u64, [u32; 2])>> = None;
    for step in 0..30 {
        let at = DVec3::new(0.13, 0.299, 0.2) + random.vector(1e-7);
        let turn = DQuat::from_scaled_axis(random.vector(1e-7));
        let body = Placed::new(&shape, Pose::new(turn, at).unwrap());
        let found = manifold(&ground, &body, 0.0).unwrap();
        let ids: BTreeSet<_> = found.points().iter().map(|p| (p.id, p.pieces)).collect();
        assert_eq!(ids.len(), 4);
        if let Some(last) = last.replace(ids.clone()) {
            assert_eq!(last, ids, "step {step}");
        }
    }
}

#[test]
fn a_solid_pushes_out_what_has_sunk_in() {
    let solid = Shape::from(cube(2.0));
    let block = Placed::new(&solid, Pose::IDENTITY);
    // The center is below the surface.
    let shape = Shape::sphere(0.5).unwrap();
    let body = Placed::new(&shape, Pose::at([0.3, 1.9, 0.2]).unwrap());
    let found = manifold(&block, &body, 0.0).unwrap();
    assert!((found.contact.depth - 0.6).abs() < 1e-12);
    for point in found.points() {
        assert!(point.normal.y > 0.999 && (point.separation + 0.6).abs() < 1e-9, "{point:?}");
    }
}

#[test]
fn meshes_on_meshes_and_fields() {
    let mut random = Random(37);
    let mesh = Shape::from(floor(10, 4.0, false, |_, _| 0.0, &mut random));
    let field = HeightField::new(11, [0.8; 2], vec![0.0; 121]).unwrap();
    let field = Shape::from(field);
    let block = Shape::from(cube(0.5));
    for (ground, at) in [(&mesh, DVec3::ZERO), (&field, DVec3::new(-4.0, 0.0, -4.0))] {
        let ground = Placed::new(ground, Pose::at(at).unwrap());
        let body = Placed::new(&block, Pose::at([0.1, 0.49, 0.3]).unwrap());
        let found = contact(&ground, &body);
        assert!((found.depth - 0.01).abs() < 1e-9, "{found:?}");
        assert!(found.normal.y > 0.999, "{found:?}");
        let all = points(&ground, &body, 0.0);
        assert!(all.iter().all(|point| point.normal.y > 0.999), "{all:?}");
        let above = Placed::new(&block, Pose::at([0.1, 0.75, 0.3]).unwrap());
        assert!((contact(&ground, &above).distance - 0.25).abs() < 1e-12);
        assert!((contact(&above, &ground).distance - 0.25).abs() < 1e-12);
    }
}
