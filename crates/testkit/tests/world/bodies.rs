//! Single bodies: answers kept, requests refused, ids, clones, origins, queries.

use super::*;

#[test]
fn pairs_that_do_not_move_keep_their_answer_unasked() {
    for mut world in worlds() {
        let bodies: Vec<Body> = (0..40)
            .map(|k| Body::new(shape(k, DVec3::ONE), at(0.9 * k as f64, 0.0, 0.0)))
            .collect();
        let ids = world.insert_all(bodies).unwrap();
        let touching = world.step().unwrap().touches.len();
        assert!(touching >= 39);
        let before = bits(&world);
        world.step().unwrap();
        assert_eq!(world.stats().tested, 0);
        assert_eq!(bits(&world)[3..], before[3 + touching..], "the same touches");
        world.set_pose(ids[0], at(-0.1, 0.0, 0.0)).unwrap();
        world.step().unwrap();
        assert!((1..4).contains(&world.stats().tested), "{}", world.stats().tested);
        let work: usize = world.stats().workers.iter().map(|work| work.pairs).sum();
        assert_eq!(work, world.stats().tested);
    }
}

#[test]
fn half_spaces_touch_all_that_lies_on_them() {
    let mut world = World::new(Algorithm::Auto);
    let slope = Shape::half_space(DVec3::new(1.0, 1.0, 0.0), 0.0).unwrap();
    let ground = Body::new(slope, Pose::IDENTITY).with_filter(Filter::STILL);
    let ground = world.insert(ground).unwrap();
    let far = world.insert(Body::new(shape(1, DVec3::ONE), at(-1e6, 1e6 + 1.0, 0.0))).unwrap();
    world.insert(Body::new(shape(3, DVec3::ONE), at(3.0, 3.0, 0.0))).unwrap();
    let step = world.step().unwrap();
    assert_eq!(step.began, [BodyPair::new(ground, far)]);
    world.remove(ground).unwrap();
    assert_eq!(world.step().unwrap().ended, [BodyPair::new(ground, far)]);
    assert!(world.step().unwrap().ended.is_empty(), "once");
}

#[test]
fn what_is_refused_leaves_the_world_as_it_was() {
    let mut world = World::new(Algorithm::Auto);
    let ball = || Body::new(Shape::sphere(1.0).unwrap(), Pose::IDENTITY);
    let ids = world.insert_all(vec![ball(), ball()]).unwrap();
    world.step().unwrap();
    let bad = Body::new(Shape::Sphere { radius: f64::NAN }, Pose::IDENTITY);
    let error = world.insert_all(vec![ball(), bad.clone()]).unwrap_err();
    assert!(matches!(error, WorldError::Shape { index: 1, .. }), "{error}");
    assert!(error.to_string().starts_with("body 1: radius = NaN"), "{error}");
    assert!(world.insert(bad).is_err());
    let unknown = BodyId::new(BoxId::new(77.into(), 0));
    let poses = [at(9.0, 0.0, 0.0); 2];
    let refused = Err(WorldError::Body(BoxError::Unknown(unknown.box_id())));
    assert_eq!(world.set_poses(&[ids[0], unknown], &poses), refused);
    assert_eq!(world.set_pose(unknown, poses[0]), refused);
    assert_eq!(world.teleport(unknown, poses[0]), refused);
    assert_eq!(world.set_filter(unknown, Filter::ALL), refused);
    assert_eq!(world.remove(unknown), refused);
    assert_eq!(world.remove_all(&[ids[0], unknown]), refused);
    assert!(world.set_poses(&ids, &poses[..1]).is_err());
    assert!(world.remove_all(&[ids[0], ids[0]]).is_err());
    assert_eq!((world.len(), world.pose(ids[0])), (2, Some(&Pose::IDENTITY)));
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.began.len(), step.ended.len()), (1, 0, 0));
    // Too many pairs: the touches stay, and the step can be taken again.
    world.set_pair_limit(0);
    world.set_pose(ids[0], at(0.5, 0.0, 0.0)).unwrap();
    world.insert_all((0..200).map(|_| ball()).collect()).unwrap();
    assert!(world.step().is_err());
    assert_eq!(world.last_step().touches.len(), 1);
    world.set_pair_limit(1_000_000);
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.began.len()), (202 * 201 / 2, 202 * 201 / 2 - 1));
}

#[test]
fn worlds_can_be_shared_and_sent() {
    fn check<T: Send + Sync + Clone + Default + std::fmt::Debug>() {}
    check::<World>();
}

/// Rollback: a clone made in mid flight goes on as the original does, to the last bit.
#[test]
fn a_clone_continues_with_the_same_bytes() {
    for continuous in [false, true] {
        let mut scene = Scene::new("uniform", BODIES, 9, &[]).unwrap();
        let mut worlds = vec![worlds().swap_remove(3)];
        worlds[0].set_continuous(continuous);
        let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
        let mut touches = 0;
        for frame in 0..60 {
            if frame == 20 || frame == 21 {
                // One before the changes of the step, one after some of them.
                worlds.push(worlds[0].clone());
            }
            for slot in 0..BODIES {
                if slot == BODIES / 2 && frame == 30 {
                    worlds.push(worlds[0].clone());
                }
                follow_slot(&mut worlds, &scene, slot, frame, &mut ids[slot]);
            }
            for world in &mut worlds {
                world.step().unwrap();
            }
            let first = bits(&worlds[0]);
            for (number, world) in worlds.iter().enumerate() {
                assert!(bits(world) == first, "step {frame}: clone {number} differs");
            }
            touches += worlds[0].last_step().touches.len();
            scene.advance();
        }
        assert!(touches > 1000, "only {touches} touches");
    }
}

#[test]
fn a_stale_body_id_is_refused_and_user_data_comes_back() {
    let mut world = World::default();
    let ball = || Body::new(Shape::sphere(1.0).unwrap(), Pose::IDENTITY);
    let old = world.insert(ball().with_user_data(u64::MAX)).unwrap();
    let other = world.insert(ball().with_user_data(7)).unwrap();
    assert_eq!((world.user_data(old), world.user_data(other)), (Some(u64::MAX), Some(7)));
    world.step().unwrap();
    world.remove(old).unwrap();
    assert_eq!(world.step().unwrap().ended, [BodyPair::new(old, other)], "it still names the old");
    let new = world.insert(ball()).unwrap();
    assert_eq!(new.slot(), old.slot(), "the slot is reused");
    let stale = Err(WorldError::Body(BoxError::Stale(old.box_id())));
    assert_eq!(world.set_pose(old, at(5.0, 0.0, 0.0)), stale);
    assert_eq!(world.remove(old), stale);
    assert_eq!((world.user_data(old), world.user_data(new)), (None, Some(0)));
    assert!(world.placed(old).is_none() && world.pose(old).is_none() && !world.contains(old));
    world.set_user_data(new, 9).unwrap();
    assert_eq!(world.user_data(new), Some(9));
    let step = world.step().unwrap();
    assert_eq!(step.touches[0].pair, BodyPair::new(new, other));
    assert_eq!(step.touches[0].pair.other(new), Some(other));
}

/// Cubes of 2 cm, 3 cm apart, at map coordinates: f32 boxes there are 6 cm apart at best.
#[test]
fn small_cubes_at_map_coordinates_are_exact_with_an_origin() {
    let corner = DVec3::new(1e6, -1.2e6, 1e6);
    let cube = Shape::cuboid(DVec3::splat(0.01)).unwrap();
    let place = |k: u32| DVec3::new(f64::from(k % 100), f64::from(k / 100), 0.0) * 0.03 + corner;
    let body = |k| Body::new(cube.clone(), Pose::from_translation(place(k)).unwrap());
    let mut world = World::new(Algorithm::Auto);
    world.insert_all((0..10_000).map(body).collect()).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    let before = world.stats().clone();
    assert!(before.pairs > 100_000, "the trouble there was: {} pairs", before.pairs);
    assert_eq!(before.coarse, 10_000);
    world.set_origin(corner).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    assert_eq!((world.stats().pairs, world.stats().coarse), (0, 0));
    // What overlaps does so all the same.
    let near = Pose::from_translation(place(0) + DVec3::new(0.0199, 0.0, 0.0)).unwrap();
    let id = world.insert(Body::new(cube.clone(), near)).unwrap();
    let step = world.step().unwrap();
    assert_eq!(step.touches.len(), 2, "it overlaps its two neighbours");
    assert!(step.touches.iter().all(|touch| touch.pair.contains(id)));
    world.set_origin(DVec3::ZERO).unwrap();
    assert_eq!(world.step().unwrap().touches.len(), 2);
    assert!(world.set_origin([f64::NAN, 0.0, 0.0]).is_err());
}

/// Whatever the origin, everything but the boxes is the same to the last bit.
#[test]
fn an_origin_changes_no_touch() {
    let mut scene = Scene::new("uniform", BODIES, 3, &[]).unwrap();
    let mut worlds: Vec<World> = (0..3).map(|_| World::default()).collect();
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    for frame in 0..40 {
        worlds[1].set_origin(DVec3::new(0.1, -0.7, 1e-9)).unwrap();
        let far = f64::from(frame as u32);
        worlds[2].set_origin(DVec3::new(1e3 * far, 1.0 / 3.0, -far)).unwrap();
        for slot in 0..BODIES {
            follow_slot(&mut worlds, &scene, slot, frame, &mut ids[slot]);
        }
        for world in &mut worlds {
            world.set_detail(Detail::Manifold);
            world.step().unwrap();
        }
        // Memories live as long as boxes overlap, and leave the last bits open.
        let told = |world: &World| -> Vec<(BodyPair, i64)> {
            let touches = world.last_step().touches.iter();
            touches.map(|t| (t.pair, (t.contact.depth * 1e9).round() as i64)).collect()
        };
        let first = told(&worlds[0]);
        assert!(worlds.iter().all(|world| told(world) == first), "step {frame}");
        scene.advance();
    }
    assert!(!worlds[0].last_step().touches.is_empty());
}

#[test]
fn queries_name_bodies_from_a_shared_world() {
    let mut world = World::default();
    let ids: Vec<BodyId> = (0..5)
        .map(|k| Body::new(Shape::sphere(0.5).unwrap(), at(f64::from(k) * 3.0, 0.0, 0.0)))
        .map(|body| world.insert(body).unwrap())
        .collect();
    world.step().unwrap();
    let world = &world;
    let region = Aabb::new([2.0, -1.0, -1.0], [7.0, 1.0, 1.0]);
    let found = world.queries().overlapping(&region, &Filter::ALL);
    let mut named: Vec<BodyId> = found.into_iter().map(BodyId::from).collect();
    named.sort_unstable();
    assert_eq!(named, ids[1..3]);
}

/// A body that comes into a slot whose last body had been moved is followed like any other.
#[test]
fn a_body_in_the_slot_of_one_that_moved_is_followed() {
    let ball = |x: f64| Body::new(Shape::sphere(1.0).unwrap(), at(x, 0.0, 0.0));
    for (continuous, step_between) in [(false, false), (true, false), (true, true)] {
        let mut world = World::default();
        world.set_continuous(continuous);
        let target = world.insert(ball(50.0)).unwrap();
        let old = world.insert(ball(0.0)).unwrap();
        if step_between {
            world.step().unwrap();
        }
        world.set_pose(old, at(5.0, 0.0, 0.0)).unwrap();
        world.remove(old).unwrap();
        if step_between {
            world.step().unwrap();
        }
        let new = world.insert(ball(20.0)).unwrap();
        assert_eq!(new.slot(), old.slot(), "the slot is reused");
        world.set_pose(new, at(49.0, 0.0, 0.0)).unwrap();
        let step = world.step().unwrap();
        assert_eq!(step.began, [BodyPair::new(target, new)], "{continuous} {step_between}");
    }
}
