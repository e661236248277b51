//! Worlds with meshes and height fields in them.

use crate::mesh_support::{ball, cube, floor};
use crate::random::{KINDS, Random};
use glam::{DQuat, DVec3};
use jostle::mesh::Mesh;
use jostle::narrow::{Placed, contact};
use jostle::shape::{HeightField, Pose, Shape};
use jostle::world::Detail;
use jostle::{Algorithm, Body, BodyId, BodyPair, Filter, Workers, World};

/// A bumpy floor, a field, a solid block, meshes that move, and all kinds of shapes.
fn bodies(random: &mut Random) -> Vec<Body> {
    let bumps = |x: f64, z: f64| 0.3 * (x + 2.0 * z).sin();
    let ground = Shape::from(floor(24, 8.0, false, bumps, random));
    let heights: Vec<f64> = (0..400).map(|_| random.range(-0.3, 0.3)).collect();
    let field = Shape::from(HeightField::new(20, [0.8; 2], heights).unwrap());
    let (points, triangles) = ball(6, 0.2, random);
    let stone = Shape::from(Mesh::new(points, triangles).unwrap());
    let still = |shape: Shape, at: [f64; 3]| {
        Body::new(shape, Pose::at(at).unwrap()).with_filter(Filter::STILL)
    };
    let mut all = vec![
        still(ground, [0.0; 3]),
        still(field, [-8.0, 6.0, -8.0]),
        still(Shape::from(cube(2.0)), [0.0, 3.0, 0.0]),
    ];
    for k in 0..60 {
        let shape = if k % 6 == 0 { stone.clone() } else { random.shape(k % KINDS.min(10)) };
        all.push(Body::new(shape, random.pose(6.0)).with_sensor(k % 13 == 5));
    }
    all
}

fn moved(world: &mut World, ids: &[BodyId], random: &mut Random) {
    for &id in &ids[3..] {
        let pose = *world.pose(id).unwrap();
        let turn = (DQuat::from_scaled_axis(random.vector(0.2)) * pose.rotation()).normalize();
        let at =
            (pose.translation() + random.vector(0.5)).clamp(DVec3::splat(-7.0), DVec3::splat(7.0));
        world.set_pose(id, Pose::new(turn, at).unwrap()).unwrap();
    }
}

#[test]
fn touches_are_those_of_direct_questions() {
    for detail in [Detail::Boolean, Detail::Contact, Detail::Manifold, Detail::Pieces] {
        let mut random = Random(3);
        let mut world = World::default();
        world.set_detail(detail);
        let ids = world.insert_all(bodies(&mut random)).unwrap();
        let mut with_surfaces = 0;
        for _ in 0..6 {
            moved(&mut world, &ids, &mut random);
            world.step().unwrap();
            for (k, &a) in ids.iter().enumerate() {
                for &b in &ids[k + 1..] {
                    let [one, other] = [a, b].map(|id| world.placed(id).unwrap());
                    let filters = [a, b].map(|id| world.filter(id).unwrap().still);
                    if filters == [true; 2] {
                        continue;
                    }
                    let expected = contact(&one, &other);
                    let hit = expected.distance == 0.0;
                    assert_eq!(world.touches(BodyPair::new(a, b)), hit, "{a} {b}");
                    let surface = one.shape.is_surface() || other.shape.is_surface();
                    with_surfaces += u32::from(hit && surface);
                }
            }
            let step = world.last_step();
            for touch in step.touches {
                let [one, other] =
                    [touch.pair.a(), touch.pair.b()].map(|id| world.placed(id).unwrap());
                let expected = contact(&one, &other);
                let gap = (touch.contact.depth - expected.depth).abs();
                assert!(gap < 1e-6, "{} {} {gap}", one.shape.kind(), other.shape.kind());
                let count = step.points(touch).len();
                assert_eq!(count > 0, matches!(detail, Detail::Manifold | Detail::Pieces));
                if detail == Detail::Manifold {
                    assert!(count <= 4);
                }
            }
        }
        assert!(with_surfaces > 60, "{with_surfaces}");
    }
}

#[test]
fn every_algorithm_and_number_of_workers_gives_the_same_bytes() {
    let run = |algorithm: Algorithm, workers: usize, continuous: bool| {
        let mut random = Random(9);
        let mut world = World::with_workers(algorithm, Workers::new(workers).unwrap());
        world.set_detail(Detail::Pieces);
        world.set_continuous(continuous);
        world.set_reach(0.05).unwrap();
        let ids = world.insert_all(bodies(&mut random)).unwrap();
        let mut told = String::new();
        for _ in 0..5 {
            moved(&mut world, &ids, &mut random);
            told += &format!("{:?}", world.step().unwrap());
        }
        told
    };
    for continuous in [false, true] {
        let expected = run(Algorithm::Auto, 1, continuous);
        assert!(expected.len() > 10_000);
        for workers in [2, 3, 8] {
            assert!(run(Algorithm::Auto, workers, continuous) == expected, "{workers} workers");
        }
        for name in ["bvh", "sap", "hash-grid", "sort-sweep", "brute-force"] {
            let algorithm = name.parse::<Algorithm>().unwrap();
            assert!(run(algorithm, 2, continuous) == expected, "{name}");
        }
    }
}

#[test]
fn bullets_do_not_pass_through_triangles() {
    let mut random = Random(19);
    let ground = Shape::from(floor(16, 8.0, true, |_, _| 0.0, &mut random));
    let field = Shape::from(HeightField::new(17, [1.0; 2], vec![-5.0; 289]).unwrap());
    let mut world = World::default();
    world.set_continuous(true);
    let still = |shape: Shape, at: [f64; 3]| {
        Body::new(shape, Pose::at(at).unwrap()).with_filter(Filter::STILL)
    };
    let ground = world.insert(still(ground, [0.0; 3])).unwrap();
    let field = world.insert(still(field, [-8.0, 0.0, -8.0])).unwrap();
    let mut shots = Vec::new();
    for k in 0..40 {
        let at = DVec3::new(random.range(-7.0, 7.0), 40.0, random.range(-7.0, 7.0));
        let shape = if k % 2 == 0 {
            Shape::sphere(0.02).unwrap()
        } else {
            Shape::cuboid(DVec3::new(0.01, 0.1, 0.02)).unwrap()
        };
        let filter = Filter::ALL.with_owner(7);
        shots.push(
            world.insert(Body::new(shape, Pose::at(at).unwrap()).with_filter(filter)).unwrap(),
        );
    }
    world.step().unwrap();
    for &shot in &shots {
        let at = world.pose(shot).unwrap().translation();
        world.set_pose(shot, Pose::at([at.x, -40.0, at.z]).unwrap()).unwrap();
    }
    let step = world.step().unwrap();
    assert_eq!(step.began.len(), 2 * shots.len());
    for touch in step.touches {
        let expected = if touch.pair.a() == ground { 0.5 } else { 45.0 / 80.0 };
        assert!((touch.time - expected).abs() < 2e-3, "{touch:?}");
        assert!(touch.pair.a() == ground || touch.pair.a() == field);
    }
}

#[cfg(feature = "serde")]
#[test]
fn snapshots_hold_meshes() {
    use jostle::world::WorldSnapshot;
    let mut random = Random(29);
    let mut world = World::default();
    world.set_detail(Detail::Pieces);
    let ids = world.insert_all(bodies(&mut random)).unwrap();
    moved(&mut world, &ids, &mut random);
    world.step().unwrap();
    // Values keep every bit of a number, which text does not.
    let value = serde_json::to_value(world.snapshot()).unwrap();
    let read: WorldSnapshot = serde_json::from_value(value).unwrap();
    let mut again = World::restore(Algorithm::Auto, Workers::one(), read).unwrap();
    assert_eq!(again.last_step(), world.last_step());
    let mut other = Random(random.0);
    for _ in 0..3 {
        moved(&mut world, &ids, &mut random);
        moved(&mut again, &ids, &mut other);
        world.step().unwrap();
        again.step().unwrap();
        assert_eq!(again.last_step(), world.last_step());
    }
    let bad = r#"{"mesh": {"vertices": [[0,0,0]], "triangles": [[0,0,7]]}}"#;
    let error = serde_json::from_str::<Shape>(bad).unwrap_err();
    assert!(error.to_string().contains("names vertex 7"), "{error}");
    let bad = r#"{"height_field": {"columns": 2, "spacing": [1, 1], "heights": [0, 0, 0]}}"#;
    assert!(serde_json::from_str::<Shape>(bad).is_err());
}

#[test]
fn shapes_that_must_be_convex_are_refused() {
    let mesh = Shape::from(cube(1.0));
    assert!(Shape::rounded(&mesh, 0.1).is_err());
    let error = Shape::compound(vec![(mesh.clone(), Pose::IDENTITY)]).unwrap_err();
    assert!(error.to_string().contains("not convex"), "{error}");
    let mass = mesh.mass_properties(2.0).unwrap();
    assert!((mass.mass - 16.0).abs() < 1e-12 && mass.center.length() < 1e-12);
    assert!((mass.inertia.x_axis.x - 16.0 * 2.0 / 3.0).abs() < 1e-9);
    let dot = Shape::sphere(0.0).unwrap();
    let inside = Placed::new(&dot, Pose::at([0.5, 0.0, 0.0]).unwrap());
    assert!((contact(&Placed::new(&mesh, Pose::IDENTITY), &inside).depth - 0.5).abs() < 1e-12);
}
