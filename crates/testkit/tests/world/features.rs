//! What engines need: shapes exchanged, sensors, reach, pieces, impulses, sleep, islands, queries.

use super::*;
use jostle::narrow::{Motion, Moving, Query, Status};
use jostle::world::Touch;
use jostle_scenes::Rng;

fn ball(x: f64) -> Body {
    Body::new(Shape::sphere(1.0).unwrap(), at(x, 0.0, 0.0))
}

fn cube(half: f64, x: f64, y: f64) -> Body {
    Body::new(Shape::cuboid(DVec3::splat(half)).unwrap(), at(x, y, 0.0))
}

#[test]
fn two_half_spaces_have_points_that_are_numbers() {
    let slope = |x: f64| Shape::half_space(DVec3::new(x, 1.0, 0.0), 1.0).unwrap();
    let (one, other) = (slope(0.0), slope(1.0));
    let [a, b] = [&one, &other].map(|shape| Placed::new(shape, Pose::IDENTITY));
    for (a, b) in [(a, b), (b, a), (a, a)] {
        let contact = narrow::contact(&a, &b);
        assert_eq!(contact.depth, f64::INFINITY);
        assert!(contact.point_a.is_finite() && contact.point_b.is_finite(), "{contact:?}");
    }
    let mut world = World::default();
    world.set_detail(Detail::Manifold);
    world.insert_all([one, other].map(|shape| Body::new(shape, Pose::IDENTITY)).to_vec()).unwrap();
    let step = world.step().unwrap();
    assert!(step.points(&step.touches[0]).iter().all(|point| point.point_b.is_finite()));
}

/// The first named case of fast bodies: a far piece of a compound, which the nearest one's normal
/// says nothing about.
#[test]
fn a_continuous_world_lets_nothing_fly_through_a_compound() {
    let small = Shape::sphere(0.5).unwrap();
    let pieces = [at(-3.0, 0.0, 0.0), at(0.0, 10.0, 0.0)].map(|pose| (small.clone(), pose));
    for of_the_body in [false, true] {
        let mut world = World::default();
        world.set_continuous(!of_the_body);
        let pair = Shape::compound(pieces.to_vec()).unwrap();
        world.insert(Body::new(pair, Pose::IDENTITY)).unwrap();
        let flies = Body::new(small.clone(), Pose::IDENTITY).with_continuous(of_the_body);
        let flies = world.insert(flies).unwrap();
        assert!(world.step().unwrap().touches.is_empty());
        world.set_pose(flies, at(0.0, 20.0, 0.0)).unwrap();
        let step = world.step().unwrap();
        assert_eq!(step.touches.len(), 1, "continuous by itself: {of_the_body}");
        assert!((step.touches[0].time - 0.45).abs() < 1e-7, "{:?}", step.touches);
    }
}

#[test]
fn shapes_are_exchanged_on_a_live_body() {
    for mut world in worlds() {
        let ids = world.insert_all(vec![ball(0.0), ball(2.5)]).unwrap();
        assert!(world.step().unwrap().touches.is_empty());
        world.set_shape(ids[0], Shape::cuboid(DVec3::splat(2.0)).unwrap()).unwrap();
        let step = world.step().unwrap();
        assert_eq!(step.began, [BodyPair::new(ids[0], ids[1])]);
        assert!((step.touches[0].contact.depth - 0.5).abs() < 1e-12);
        world.set_shape(ids[0], Shape::sphere(1.75).unwrap()).unwrap();
        let step = world.step().unwrap();
        assert!(step.began.is_empty() && step.ended.is_empty());
        assert!((step.touches[0].contact.depth - 0.25).abs() < 1e-12);
        assert!(world.set_shape(ids[1], Shape::Sphere { radius: -1.0 }).is_err());
        world.set_shape(ids[1], Shape::sphere(0.1).unwrap()).unwrap();
        assert_eq!(world.step().unwrap().ended, [BodyPair::new(ids[0], ids[1])]);
    }
}

#[test]
fn sensors_have_events_and_no_contacts() {
    let mut world = World::default();
    let gate = world.insert(ball(0.0).with_sensor(true)).unwrap();
    let other = world.insert(ball(1.0)).unwrap();
    let pair = BodyPair::new(gate, other);
    let step = world.step().unwrap();
    assert_eq!((step.began, step.overlaps), (&[pair][..], &[pair][..]));
    assert!(step.touches.is_empty());
    world.set_sensor(gate, false).unwrap();
    let step = world.step().unwrap();
    assert!(step.began.is_empty() && step.ended.is_empty() && step.overlaps.is_empty());
    assert_eq!(step.touches.len(), 1);
    world.set_sensor(gate, true).unwrap();
    world.set_pose(other, at(9.0, 0.0, 0.0)).unwrap();
    let step = world.step().unwrap();
    assert_eq!((step.ended, step.overlaps.len(), step.touches.len()), (&[pair][..], 0, 0));
}

#[test]
fn a_boolean_world_tells_the_same_pairs() {
    let mut scene = Scene::new("uniform", BODIES, 3, &[]).unwrap();
    let mut worlds = [World::default(), World::default()];
    worlds[1].set_detail(Detail::Boolean);
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    for frame in 0..30 {
        (0..BODIES).for_each(|k| follow_slot(&mut worlds, &scene, k, frame, &mut ids[k]));
        worlds.iter_mut().for_each(|world| _ = world.step().unwrap());
        let [full, plain] = worlds.each_ref().map(World::last_step);
        assert!(full.touches.iter().map(|touch| &touch.pair).eq(plain.overlaps));
        assert_eq!((full.began, full.ended), (plain.began, plain.ended));
        assert!(plain.touches.is_empty() && !plain.overlaps.is_empty());
        scene.advance();
    }
}

/// All pairs closer than a margin, with their distances, and no others.
#[test]
fn a_reach_lists_what_is_near() {
    let mut scene = Scene::new("uniform", BODIES, 8, &[]).unwrap();
    let mut worlds = worlds();
    let reach = 0.02 * center_and_half(&scene.boxes()[0]).1.length() + 0.5;
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    let mut listed = 0;
    for frame in 0..20 {
        (0..BODIES).for_each(|k| follow_slot(&mut worlds, &scene, k, frame, &mut ids[k]));
        for world in &mut worlds {
            world.set_reach(reach).unwrap();
            world.step().unwrap();
        }
        let first = bits(&worlds[0]);
        assert!(worlds.iter().all(|world| bits(world) == first), "step {frame}");
        let world = &worlds[0];
        let step = world.last_step();
        let told: BTreeSet<BodyPair> = step.near.iter().map(|touch| touch.pair).collect();
        let all: Vec<BodyId> = world.ids().collect();
        for (k, &a) in all.iter().enumerate() {
            for &b in &all[k + 1..] {
                let [one, other] = [a, b].map(|id| world.placed(id).unwrap());
                let allowed = world.filter(a).unwrap().allows(world.filter(b).unwrap());
                let contact = narrow::contact(&one, &other);
                let near = contact.status == Status::Separated && contact.distance <= reach;
                assert_eq!(told.contains(&BodyPair::new(a, b)), near && allowed, "{contact:?}");
            }
        }
        for touch in step.near {
            assert!(touch.contact.distance > 0.0 && touch.contact.distance <= reach);
            assert!(step.points(touch).iter().any(|point| point.separation > 0.0));
        }
        listed += told.len();
        scene.advance();
    }
    assert!(listed > 1000, "only {listed} near pairs");
    assert!(worlds[0].set_reach(-1.0).is_err() && worlds[0].set_reach(f64::NAN).is_err());
}

/// Trembling bodies keep their answers, to within the stated share of their size, and the same on
/// all workers; the pairs that touch are exact.
#[test]
fn answers_are_used_again_within_their_tolerance() {
    let (mut worlds, mut rng) = (worlds(), Rng::new(5));
    let row = |k: usize| cube(0.5, 0.9 * (k % 30) as f64, 0.995 * (k / 30) as f64);
    let bodies: Vec<Body> = (0..300).map(row).collect();
    let ids: Vec<Vec<BodyId>> =
        worlds.iter_mut().map(|world| world.insert_all(bodies.clone()).unwrap()).collect();
    let mut reused = 0;
    for _ in 0..40 {
        let tremble = |body: &Body, rng: &mut Rng| {
            let by = DVec3::from_array(rng.in_ball().map(|x| 2e-6 * f64::from(x)));
            let turn = DQuat::from_scaled_axis(by).normalize();
            Pose::new(turn, body.pose.translation() + by).unwrap()
        };
        let poses: Vec<Pose> = bodies.iter().map(|body| tremble(body, &mut rng)).collect();
        for (world, ids) in worlds.iter_mut().zip(&ids) {
            world.set_poses(ids, &poses).unwrap();
            world.step().unwrap();
        }
        let first = bits(&worlds[0]);
        assert!(worlds.iter().all(|world| bits(world) == first));
        let world = &worlds[0];
        reused += world.stats().reused;
        for Touch { pair, contact, .. } in world.last_step().touches {
            let [a, b] = [pair.a(), pair.b()].map(|id| world.placed(id).unwrap());
            let exact = narrow::contact(&a, &b);
            let allowed = World::REUSE * (a.shape.bounding_radius() + b.shape.bounding_radius());
            assert!((exact.depth - contact.depth).abs() <= allowed, "{exact:?} {contact:?}");
        }
        let expected = all_pairs(world).0;
        assert!(world.last_step().touches.iter().map(|touch| touch.pair).eq(expected));
    }
    assert!(reused > 5000, "only {reused}");
    worlds[0].set_reuse(0.0);
    worlds[0].set_pose(ids[0][0], at(1e-7, 0.0, 0.0)).unwrap();
    worlds[0].step().unwrap();
    assert_eq!(worlds[0].stats().reused, 0);
}

#[test]
fn every_two_pieces_have_a_manifold_and_impulses_stay_with_their_points() {
    let foot = |x: f64| (Shape::cuboid(DVec3::new(0.1, 0.5, 0.1)).unwrap(), at(x, 0.0, 0.0));
    let table = Shape::compound(vec![foot(-1.0), foot(0.0), foot(1.0)]).unwrap();
    let mut world = World::default();
    world.set_detail(Detail::Pieces);
    let floor = Shape::half_space(DVec3::Y, 0.0).unwrap();
    world.insert(Body::new(floor, Pose::IDENTITY).with_filter(Filter::STILL)).unwrap();
    let table = world.insert(Body::new(table, at(0.0, 0.49, 0.0))).unwrap();
    let touch = world.step().unwrap().touches[0];
    let step = world.last_step();
    let pieces: Vec<[u32; 2]> = step.manifolds(&touch).map(|points| points[0].pieces).collect();
    assert_eq!(pieces, [[0, 0], [0, 1], [0, 2]]);
    assert!(step.manifolds(&touch).all(|points| points.len() == 4));
    let ids: Vec<u64> = step.points(&touch).iter().map(|point| point.id).collect();
    for (k, impulse) in world.impulses_mut(&touch).iter_mut().enumerate() {
        *impulse = [k as f64 + 1.0, 0.5, -0.5];
    }
    // A little to the side and up on one end: the last foot leaves the floor.
    let lean = DQuat::from_rotation_z(0.02);
    world.set_pose(table, Pose::new(lean, DVec3::new(0.001, 0.49, 0.0)).unwrap()).unwrap();
    world.step().unwrap();
    let step = world.last_step();
    let touch = step.touches[0];
    let kept: Vec<u64> = step.points(&touch).iter().map(|point| point.id).collect();
    assert!(!kept.is_empty() && kept.len() < 12, "{} of 12 points", kept.len());
    for (id, impulse) in kept.iter().zip(step.impulses(&touch)) {
        let place = ids.iter().position(|old| old == id).expect("no new points here");
        assert_eq!(impulse, &[place as f64 + 1.0, 0.5, -0.5]);
    }
    // Apart and back again: they are gone.
    for y in [3.0, 0.49] {
        world.set_pose(table, at(0.0, y, 0.0)).unwrap();
        world.step().unwrap();
    }
    let step = world.last_step();
    assert!(step.impulses(&step.touches[0]).iter().all(|impulse| *impulse == [0.0; 3]));
    // A touch of a step whose pair is gone has no points.
    world.remove(table).unwrap();
    world.step().unwrap();
    assert!(world.points(&touch).is_empty() && world.impulses_mut(&touch).is_empty());
}

#[test]
fn sleepers_wake_by_what_touches_them() {
    for mut world in worlds() {
        let floor = Shape::half_space(DVec3::Y, 0.0).unwrap();
        let floor = Body::new(floor, Pose::IDENTITY).with_filter(Filter::STILL);
        let floor = world.insert(floor).unwrap();
        let tower = |x: f64| [0.49, 1.48, 2.47].map(|y| cube(0.5, x, y));
        let low = world.insert_all([tower(0.0), tower(9.0)].concat()).unwrap();
        let shot = world.insert(cube(0.1, 4.0, 2.0)).unwrap();
        world.step().unwrap();
        low.iter().for_each(|&id| world.sleep(id).unwrap());
        assert!(world.step().unwrap().woken.is_empty());
        // One tower is hit: it wakes as a whole, the other one does not.
        world.set_pose(shot, at(0.55, 2.4, 0.0)).unwrap();
        assert_eq!(world.step().unwrap().woken, &low[..3]);
        assert!(low[3..].iter().all(|&id| world.is_asleep(id)));
        low[..3].iter().for_each(|&id| world.sleep(id).unwrap());
        // What rests on it and does not move wakes nobody; a sensor neither.
        assert!(world.step().unwrap().woken.is_empty());
        world.set_sensor(shot, true).unwrap();
        world.step().unwrap();
        low[..3].iter().for_each(|&id| world.sleep(id).unwrap());
        world.set_pose(shot, at(0.56, 2.4, 0.0)).unwrap();
        assert!(world.step().unwrap().woken.is_empty());
        // Taking away the floor wakes everything.
        world.remove(floor).unwrap();
        assert_eq!(world.step().unwrap().woken, &low[..]);
        world.sleep(low[0]).unwrap();
        world.set_pose(low[0], at(5.0, 0.49, 0.0)).unwrap();
        assert!(!world.is_asleep(low[0]), "moved by hand");
    }
}

/// Against a search from body to body.
#[test]
fn islands_are_what_holds_together() {
    let mut world = World::default();
    let mut rng = Rng::new(3);
    let place = |rng: &mut Rng| 14.0 * f64::from(rng.unit());
    for k in 0..250 {
        let body = cube(0.5, place(&mut rng), place(&mut rng));
        let still = if k % 5 == 0 { Filter::STILL } else { Filter::ALL };
        world.insert(body.with_filter(still).with_sensor(k % 17 == 0)).unwrap();
    }
    world.step().unwrap();
    let islands = world.islands();
    let free = |id: BodyId| !world.filter(id).unwrap().still;
    let mut seen: BTreeSet<BodyId> = BTreeSet::new();
    let mut expected: Vec<Vec<BodyId>> = Vec::new();
    for id in world.ids().filter(|&id| free(id)) {
        let (mut group, mut next) = (BTreeSet::new(), vec![id]);
        while let Some(one) = next.pop() {
            if free(one) && !seen.contains(&one) && group.insert(one) {
                let touches = world.last_step().touches.iter();
                next.extend(touches.filter_map(|touch| touch.pair.other(one)));
            }
        }
        seen.extend(&group);
        if !group.is_empty() {
            expected.push(group.into_iter().collect());
        }
    }
    assert!(expected.len() > 20 && expected.iter().any(|island| island.len() > 5));
    assert!(islands.iter().eq(expected.iter().map(Vec::as_slice)));
    assert_eq!(islands.len(), expected.len());
}

/// Questions to a shared world against a loop over all bodies.
#[test]
fn shapes_of_a_shared_world_answer_like_a_loop() {
    let mut scene = Scene::new("uniform", BODIES, 4, &[]).unwrap();
    let mut worlds = [World::default()];
    worlds[0].set_origin([0.3, 0.2, 0.1]).unwrap();
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    for frame in 0..3 {
        (0..BODIES).for_each(|k| follow_slot(&mut worlds, &scene, k, frame, &mut ids[k]));
        worlds[0].step().unwrap();
        scene.advance();
    }
    let world = &worlds[0];
    let (shapes, mut query, none) = (world.shapes(), Query::default(), narrow::PairCache::none);
    let mut hits = 0;
    for k in 0..60 {
        let (center, half) = center_and_half(&scene.boxes()[k]);
        let probe = shape(k, half);
        let turn = DQuat::from_rotation_x(k as f64);
        let placed = Placed::new(&probe, Pose::new(turn, center + half).unwrap());
        let bodies = || world.ids().map(|id| (id, world.placed(id).unwrap()));
        let touching: Vec<BodyId> = bodies()
            .filter(|(_, body)| query.intersects(&placed, body, &mut none()).hit)
            .map(|(id, _)| id)
            .collect();
        assert_eq!(shapes.overlapping(&placed, &Filter::ALL), touching);
        let apart = |body: &Placed<'_>| narrow::contact(&placed, body).signed_distance();
        let closest = bodies()
            .map(|(id, body)| (apart(&body), id))
            .min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)))
            .unwrap();
        let found = shapes.closest(&placed, f64::INFINITY, &Filter::ALL).unwrap();
        assert_eq!(found.id, closest.1);
        assert!((found.contact.signed_distance() - closest.0).abs() < 1e-9);
        let way = Motion::new(half * 20.0, DVec3::new(0.0, 0.3, 0.0) * (k % 2) as f64).unwrap();
        let moving = Moving::new(placed, way);
        let first = bodies()
            .map(|(id, body)| {
                let still = Moving::new(body, Motion::STILL);
                (narrow::time_of_impact(&moving, &still, 1.0), id)
            })
            .filter(|(impact, _)| impact.status != narrow::ImpactStatus::Miss)
            .min_by(|one, other| one.0.time.total_cmp(&other.0.time).then(one.1.cmp(&other.1)));
        let found = shapes.first_impact(&moving, 1.0, &Filter::ALL);
        match (first, found) {
            (Some((impact, _)), Some(found)) => {
                assert!((impact.time - found.impact.time).abs() < 1e-6);
                hits += 1;
            }
            (first, found) => assert!(first.is_none() && found.is_none(), "{first:?} {found:?}"),
        }
    }
    assert!(hits > 20, "only {hits} of 60 ways meet something");
}

/// Rays at a shared world against a loop over all bodies, while bodies come, go and move; and far
/// from the origin of the boxes, where a direction in f32 would lead astray.
#[test]
fn rays_at_a_shared_world_hit_what_a_loop_hits() {
    let mut scene = Scene::new("uniform", BODIES, 9, &[]).unwrap();
    let mut worlds = [World::default()];
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    let floor = Shape::half_space(DVec3::Y, -3.0).unwrap();
    worlds[0].insert(Body::new(floor, Pose::IDENTITY).with_filter(Filter::STILL)).unwrap();
    let mut rng = Rng::new(5);
    let (mut some, mut several) = (0, 0);
    for frame in 0..6 {
        (0..BODIES).for_each(|k| follow_slot(&mut worlds, &scene, k, frame, &mut ids[k]));
        if frame == 3 {
            worlds[0].set_origin([40.0, -20.0, 7.0]).unwrap();
        }
        worlds[0].step().unwrap();
        scene.advance();
        let world = &worlds[0];
        for k in 0..40 {
            let target = center_and_half(&scene.boxes()[(7 * k) % BODIES]).0;
            let way = DVec3::from(rng.direction().map(f64::from));
            let from = target - way * [0.0, 2.0, 500.0, 3e6][k % 4];
            let ray = narrow::Ray::new(from, way * [1.0, 1e-3, 7e4][k % 3]).unwrap();
            let ray = ray.with_solid(k % 5 > 0);
            let ray = if k % 7 == 0 { ray.until(0.25) } else { ray };
            let filter = if k % 2 == 0 { Filter::ALL } else { Filter::STILL };
            let mut expected: Vec<(f64, BodyId)> = Vec::new();
            for id in world.ids() {
                let seen = filter != Filter::STILL || world.filter(id) != Some(&Filter::STILL);
                let hit = narrow::cast_ray(&world.placed(id).unwrap(), &ray);
                expected.extend(hit.filter(|_| seen).map(|hit| (hit.time, id)));
            }
            expected.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
            let hits = world.shapes().hits(&ray, &filter);
            let told: Vec<(f64, BodyId)> = hits.iter().map(|hit| (hit.hit.time, hit.id)).collect();
            assert_eq!(told, expected, "frame {frame}, ray {k}");
            let first = world.shapes().first_hit(&ray, &filter);
            assert_eq!(first.map(|hit| (hit.hit.time, hit.id)), expected.first().copied());
            some += usize::from(!told.is_empty());
            several += usize::from(told.len() > 1);
        }
    }
    assert!(some > 100 && several > 50, "{some} of 240 rays hit, {several} more than one body");
}

#[test]
fn bodies_can_go_while_a_step_is_looked_at() {
    let mut world = World::default();
    let ids = world.insert_all((0..5).map(|k| ball(1.5 * f64::from(k))).collect()).unwrap();
    world.step().unwrap();
    let gone = world.after_step(|_, step, aftermath| {
        step.touches.iter().for_each(|touch| aftermath.remove(touch.pair.b()));
        aftermath.remove(ids[1]);
    });
    assert_eq!(gone, ids[1..]);
    assert_eq!(world.last_step().touches.len(), 4, "told until the next step");
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.ended.len()), (0, 4));
}

/// The contacts of balls are made anew for every list: points, impulses and bytes are as if they
/// were remembered, whatever becomes of the balls and of what is asked.
#[test]
fn balls_have_points_and_impulses_like_others() {
    let mut world = World::default();
    world.set_detail(Detail::Manifold);
    let row = world.insert_all(vec![ball(0.0), ball(1.9), ball(3.8), ball(9.0)]).unwrap();
    let fits = |world: &World, count: usize, points: usize| {
        let step = world.last_step();
        assert_eq!(step.touches.len() + step.near.len(), count);
        for touch in step.touches.iter().chain(step.near) {
            let [a, b] = [touch.pair.a(), touch.pair.b()].map(|id| world.placed(id).unwrap());
            assert_eq!(touch.contact, narrow::contact(&a, &b));
            let own = step.points(touch);
            assert_eq!(own.len(), points);
            for point in own {
                assert_eq!((point.id, point.pieces), (0, [0; 2]));
                assert_eq!(point.separation, touch.contact.signed_distance());
                assert_eq!(point.point_a, touch.contact.point_a);
            }
        }
    };
    world.step().unwrap();
    fits(&world, 2, 1);
    // The lists are written again while the first two rest.
    world.set_body_continuous(row[0], true).unwrap();
    for (x, count) in [(5.6, 3), (9.0, 2)] {
        world.set_pose(row[3], at(x, 0.0, 0.0)).unwrap();
        world.step().unwrap();
        fits(&world, count, 1);
    }
    let pair = BodyPair::new(row[1], row[2]);
    let find = |world: &World| *world.last_step().touches.iter().find(|t| t.pair == pair).unwrap();
    let impulse = [1.0, 2.0, 3.0];
    let second = find(&world);
    world.impulses_mut(&second)[0] = impulse;
    // Moved, then at rest, then another shape and a ball again: the impulse stays.
    world.set_pose(row[2], at(3.7, 0.1, 0.0)).unwrap();
    for change in 0..4 {
        match change {
            2 => world.set_shape(row[2], Shape::cuboid(DVec3::ONE).unwrap()).unwrap(),
            3 => world.set_shape(row[2], Shape::sphere(1.0).unwrap()).unwrap(),
            _ => {}
        }
        world.step().unwrap();
        fits(&world, 2, 1);
        assert_eq!(world.last_step().impulses(&find(&world)), [impulse], "change {change}");
    }
    // Nobody asks for points, and then somebody does.
    world.set_detail(Detail::Contact);
    world.step().unwrap();
    fits(&world, 2, 0);
    let second = find(&world);
    assert!(world.impulses_mut(&second).is_empty());
    world.set_detail(Detail::Manifold);
    world.step().unwrap();
    fits(&world, 2, 1);
    let second = find(&world);
    assert_eq!(world.impulses_mut(&second), [[0.0; 3]]);
    // Near ones have points before they touch; what has parted has none, and no impulse.
    world.impulses_mut(&second)[0] = impulse;
    world.set_reach(0.5).unwrap();
    world.set_pose(row[3], at(6.0, 0.0, 0.0)).unwrap();
    world.set_pose(row[0], at(-0.5, 0.0, 0.0)).unwrap();
    world.step().unwrap();
    assert_eq!((world.last_step().touches.len(), world.last_step().near.len()), (1, 2));
    fits(&world, 3, 1);
    assert_eq!(world.last_step().impulses(&find(&world)), [impulse]);
    let second = find(&world);
    world.set_pose(row[2], at(40.0, 0.0, 0.0)).unwrap();
    world.step().unwrap();
    assert!(world.points(&second).is_empty() && world.impulses_mut(&second).is_empty());
    world.set_pose(row[2], at(3.8, 0.0, 0.0)).unwrap();
    world.step().unwrap();
    fits(&world, 3, 1);
    let second = find(&world);
    assert_eq!(world.impulses_mut(&second), [[0.0; 3]]);
}
