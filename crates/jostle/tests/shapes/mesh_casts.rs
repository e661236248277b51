//! Moving shapes against meshes and height fields, and rays and points against them.

use crate::mesh_support::{self, all_corners, ball, brute, cube};
use crate::random::{KINDS, Random};
use glam::DVec3;
use jostle::mesh::Mesh;
use jostle::narrow::{
    CastOptions, ImpactStatus, Motion, Moving, Placed, Ray, cast_ray, cast_shape, contact,
    project_point, time_of_impact,
};
use jostle::shape::{HeightField, Pose, Shape};

#[test]
fn impacts_are_the_first_of_all_triangles() {
    let mut random = Random(5);
    let (mut hits, mut misses) = (0, 0);
    for round in 0..110 {
        let (points, triangles) = ball(5, 0.3, &mut random);
        let mesh = Mesh::new(points, triangles).unwrap();
        let whole = Shape::from(mesh.clone());
        let shape = random.shape(round % KINDS);
        let (pose, there) = (random.pose(0.5), random.pose(4.0));
        let toward = pose.translation() - there.translation() + random.vector(1.5);
        let spin = |random: &mut Random| random.vector(if round % 3 == 0 { 0.0 } else { 1.5 });
        let motion = Motion::new(toward, spin(&mut random)).unwrap();
        let own = Motion::new(random.vector(0.3), spin(&mut random)).unwrap();
        let a = Moving::new(Placed::new(&whole, pose), own);
        let b = Moving::new(Placed::new(&shape, there), motion);
        let found = time_of_impact(&a, &b, 1.5);
        let each = all_corners(&mesh).map(|points| {
            let triangle = Shape::triangle(points).unwrap();
            let triangle = Moving::new(Placed::new(&triangle, pose), own);
            let impact = time_of_impact(&triangle, &b, 1.5);
            if impact.status == ImpactStatus::Miss { f64::INFINITY } else { impact.time }
        });
        let expected = each.fold(f64::INFINITY, f64::min);
        match found.status {
            ImpactStatus::Miss => {
                misses += 1;
                assert_eq!(expected, f64::INFINITY, "{round}");
            }
            _ => {
                hits += 1;
                assert!((found.time - expected).abs() < 1e-5, "{round} {found:?} {expected}");
                let mirrored = time_of_impact(&b, &a, 1.5);
                assert!((mirrored.time - found.time).abs() < 1e-6);
            }
        }
    }
    assert!(hits > 25 && misses > 10, "{hits} {misses}");
}

#[test]
fn nothing_tunnels() {
    let mut random = Random(15);
    let floor = mesh_support::floor(20, 10.0, true, |_, _| 0.0, &mut random);
    let floor = Shape::from(floor);
    let field = HeightField::new(21, [1.0; 2], vec![0.0; 441]).unwrap();
    let field = Shape::from(field);
    for round in 0..200 {
        let small = Shape::sphere(0.01).unwrap();
        let brick = Shape::cuboid(DVec3::new(0.02, 0.01, 0.3)).unwrap();
        let shape = if round % 2 == 0 { &small } else { &brick };
        let down = DVec3::new(random.range(-9.0, 9.0), -2000.0, random.range(-9.0, 9.0));
        let start = DVec3::new(random.range(-0.5, 0.5), 1000.0, random.range(-0.5, 0.5));
        let motion = Motion::new(down, random.vector(3.0)).unwrap();
        let body = Moving::new(Placed::new(shape, Pose::at(start).unwrap()), motion);
        for (ground, at) in [(&floor, DVec3::ZERO), (&field, DVec3::new(-10.0, 0.0, -10.0))] {
            let ground = Moving::new(Placed::new(ground, Pose::at(at).unwrap()), Motion::STILL);
            let impact = time_of_impact(&body, &ground, 1.0);
            assert_eq!(impact.status, ImpactStatus::Hit, "{round} {impact:?}");
            assert!((impact.time - 0.5).abs() < 2e-4, "{impact:?}");
        }
    }
    // A block of triangles falls onto the floor.
    let block = Shape::from(cube(0.5));
    let motion = Motion::new(DVec3::new(0.0, -10.0, 0.0), DVec3::ZERO).unwrap();
    let block = Moving::new(Placed::new(&block, Pose::at([0.0, 5.5, 0.0]).unwrap()), motion);
    let ground = Moving::new(Placed::new(&floor, Pose::IDENTITY), Motion::STILL);
    let impact = time_of_impact(&block, &ground, 1.0);
    assert!(impact.status == ImpactStatus::Hit && (impact.time - 0.5).abs() < 1e-6, "{impact:?}");
    let near = CastOptions::default().with_target_distance(1.0);
    let impact = cast_shape(&block, &ground, 1.0, &near);
    assert!((impact.time - 0.4).abs() < 1e-6, "{impact:?}");
}

fn hills(random: &mut Random) -> (HeightField, Mesh) {
    let (columns, rows) = (19, 27);
    let heights: Vec<f64> = (0..columns * rows).map(|_| random.range(-0.5, 0.5)).collect();
    let field = HeightField::new(columns, [0.5, 0.25], heights).unwrap();
    let holes = [[3, 4], [10, 20], [0, 0], [17, 25]];
    let field = field.with_holes(&holes);
    let count = 2 * (columns - 1) * (rows - 1);
    let open = |triangle: &u32| {
        let cell = triangle / 2;
        !holes.contains(&[cell % (columns - 1), cell / (columns - 1)])
    };
    let points: Vec<DVec3> = (0..count).filter(open).flat_map(|k| field.corners(k)).collect();
    let triangles = (0..points.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    (field, Mesh::new(points, triangles).unwrap())
}

#[test]
fn a_height_field_answers_like_its_mesh() {
    let mut random = Random(25);
    let (mut field, mesh) = hills(&mut random);
    let heights = field.heights().to_vec();
    field.set_heights(&vec![9.0; heights.len()]).unwrap();
    field.set_heights(&heights).unwrap();
    let (whole, same) = (Shape::from(field.clone()), Shape::from(mesh.clone()));
    let (mut hits, mut touches) = (0, 0);
    for round in 0..400 {
        let pose = random.pose(3.0);
        let (a, b) = (Placed::new(&whole, pose), Placed::new(&same, pose));
        let middle = DVec3::new(4.5, 0.0, 3.25);
        let near = middle + random.vector([1.0, 5.0, 30.0][round % 3]);
        let shape = random.shape(round % KINDS);
        let there = pose * Pose::new(random.pose(1.0).rotation(), near).unwrap();
        let other = Placed::new(&shape, there);
        let (one, two) = (contact(&a, &other), contact(&b, &other));
        assert!((one.signed_distance() - two.signed_distance()).abs() < 1e-9, "{round}");
        touches += u32::from(one.distance == 0.0);
        let origin = pose.apply(near);
        let ray = Ray::new(origin, pose.apply(middle + random.vector(2.0)) - origin).unwrap();
        let (one, two) = (cast_ray(&a, &ray), cast_ray(&b, &ray));
        assert_eq!(one.map(|hit| hit.time), two.map(|hit| hit.time), "{round}");
        if let Some(hit) = one {
            hits += 1;
            assert!(hit.normal.dot(ray.direction()) <= 0.0, "against the ray");
        }
        let [one, two] = [&a, &b].map(|placed| project_point(placed, origin).unwrap());
        assert!((one.distance - two.distance).abs() < 1e-12);
        // Straight down, and along the axes.
        let above = [DVec3::NEG_Y, DVec3::X, DVec3::NEG_Z][round % 3];
        let start = DVec3::new(near.x.clamp(0.1, 8.9), 0.2, near.z.clamp(0.1, 6.2)) - above * 20.0;
        let cast = |mesh: &dyn Fn() -> Option<(f64, DVec3)>| mesh();
        let one = cast(&|| field.cast_ray(start, above, 50.0).map(|hit| (hit.time, hit.point)));
        let two = cast(&|| mesh.cast_ray(start, above, 50.0).map(|hit| (hit.time, hit.point)));
        assert_eq!(one, two);
    }
    assert!(hits > 100 && touches > 60, "{hits} {touches}");
}

#[test]
fn fields_that_are_no_grids_are_refused() {
    assert!(HeightField::new(3, [1.0; 2], vec![0.0; 8]).is_err());
    assert!(HeightField::new(0, [1.0; 2], vec![]).is_err());
    assert!(HeightField::new(4, [1.0; 2], vec![0.0; 4]).is_err());
    assert!(HeightField::new(2, [0.0, 1.0], vec![0.0; 4]).is_err());
    assert!(HeightField::new(2, [f64::NAN, 1.0], vec![0.0; 4]).is_err());
    let error = HeightField::new(2, [1.0; 2], vec![0.0, 1.0, f64::NAN, 0.0]).unwrap_err();
    assert!(error.to_string().contains("heights[2]"), "{error}");
    let mut field = HeightField::new(2, [1.0; 2], vec![0.0; 4]).unwrap();
    assert!(field.set_heights(&[1.0; 3]).is_err() && field.heights() == [0.0; 4]);
    // All holes: nothing is ever touched.
    let nothing = Shape::from(field.with_holes(&[[0, 0]]));
    let ball = Shape::sphere(1.0).unwrap();
    let (a, b) = (Placed::new(&nothing, Pose::IDENTITY), Placed::new(&ball, Pose::IDENTITY));
    assert_eq!(contact(&a, &b).distance, f64::INFINITY);
    assert!(brute([[DVec3::ZERO; 3]].into_iter(), &Pose::IDENTITY, &b).depth > 0.0);
}
