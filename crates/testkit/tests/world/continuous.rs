//! Fast bodies: nothing is flown through, and nothing touches that only passes.

use super::*;

#[test]
fn the_time_of_a_meeting_is_told_and_misses_are_not() {
    let ball = || Shape::sphere(1.0).unwrap();
    let mut world = World::new(Algorithm::Auto);
    world.set_continuous(true);
    let bullet = world.insert(Body::new(ball(), at(-1e6, 0.0, 0.0))).unwrap();
    let meets = world.insert(Body::new(ball(), at(0.0, 1.0, 0.0))).unwrap();
    world.insert(Body::new(ball(), at(5.0, 2.0 + 1e-5, 0.0))).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    world.set_pose(bullet, at(1e6, 0.0, 0.0)).unwrap();
    let step = world.step().unwrap();
    assert_eq!(step.began, [BodyPair::new(bullet, meets)]);
    let expected = (1e6 - 3f64.sqrt()) / 2e6;
    assert!((step.touches[0].time - expected).abs() < 1e-12, "{}", step.touches[0].time);
    // It comes back at once: the pair was apart in between, so it meets again.
    world.set_pose(bullet, at(-1e6, 0.0, 0.0)).unwrap();
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.began.len(), step.ended.len()), (1, 0, 0));
    // It stays where it is: what it met on its way is over.
    let step = world.step().unwrap();
    assert_eq!((step.touches.len(), step.ended.len()), (0, 1));
    // Without a way between there is no meeting, and none without continuous mode.
    world.teleport(bullet, at(1e6, 0.0, 0.0)).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    world.set_continuous(false);
    world.set_pose(bullet, at(-1e6, 0.0, 0.0)).unwrap();
    assert!(world.step().unwrap().touches.is_empty(), "it tunnels");
}

/// Two bullets cross a thin wall in a world that is not continuous: the one that is continuous on
/// its own meets it, at the right time, and the other tunnels. They change places later.
#[test]
fn a_body_can_be_continuous_on_its_own() {
    let mut world = World::new(Algorithm::Auto);
    let ball = Shape::sphere(0.1).unwrap();
    let wall = Shape::cuboid(DVec3::new(0.05, 50.0, 50.0)).unwrap();
    let wall = world.insert(Body::new(wall, Pose::IDENTITY)).unwrap();
    let bullets = [-3.0, 3.0].map(|y| world.insert(Body::new(ball.clone(), at(-4.0, y, 0.0))));
    let bullets = bullets.map(Result::unwrap);
    world.set_body_continuous(bullets[0], true).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    let meets = |world: &mut World, x: f64| {
        world.set_poses(&bullets, &[at(x, -3.0, 0.0), at(x, 3.0, 0.0)]).unwrap();
        let touches = &world.step().unwrap().touches;
        touches.iter().map(|touch| (touch.pair, touch.time)).collect::<Vec<_>>()
    };
    let there = meets(&mut world, 4.0);
    assert_eq!(there.len(), 1, "{there:?}");
    assert_eq!(there[0].0, BodyPair::new(wall, bullets[0]));
    assert!((there[0].1 - (4.0 - 0.15) / 8.0).abs() < 1e-9, "{there:?}");
    world.set_body_continuous(bullets[0], false).unwrap();
    world.set_body_continuous(bullets[1], true).unwrap();
    assert!(!world.is_body_continuous(bullets[0]) && world.is_body_continuous(bullets[1]));
    let back = meets(&mut world, -4.0);
    assert_eq!(
        back.iter().map(|touch| touch.0).collect::<Vec<_>>(),
        [BodyPair::new(wall, bullets[1])]
    );
}

/// A bullet that is deep in a wall at the end of the step: contact and points are of its first
/// touch, and not of that place.
#[test]
fn a_touch_and_its_points_are_of_one_time() {
    let (half, wall) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(1.0, 5.0, 5.0));
    for end in [-0.5, 30.0] {
        let mut world = World::new(Algorithm::Auto);
        world.set_continuous(true);
        world.set_detail(Detail::Manifold);
        let bullet = Body::new(Shape::cuboid(half).unwrap(), at(-10.0, 0.0, 0.0));
        let bullet = world.insert(bullet).unwrap();
        world.insert(Body::new(Shape::cuboid(wall).unwrap(), Pose::IDENTITY)).unwrap();
        world.step().unwrap();
        world.set_pose(bullet, at(end, 0.0, 0.0)).unwrap();
        let step = world.step().unwrap();
        let touch = &step.touches[0];
        let expected = (10.0 - 1.1) / (end + 10.0);
        assert!((touch.time - expected).abs() < 1e-6, "{touch:?}");
        assert!(touch.contact.signed_distance().abs() < 1e-6, "{touch:?}");
        let points = step.points(touch);
        assert_eq!(points.len(), 4, "{points:?}");
        for point in points {
            assert!((point.point_a.x + 1.0).abs() < 1e-6, "{point:?}");
            assert!((point.point_b.x + 1.0).abs() < 1e-6, "{point:?}");
            assert!(point.separation.abs() < 1e-6, "{point:?}");
        }
    }
}

/// Long rods that turn past each other closely take many measurements. The closest pass is given;
/// sampling says that they never touch.
#[test]
fn close_passes_are_no_touches() {
    let rod = Shape::capsule(0.01, 2.0).unwrap();
    for gap in [1e-3, 1e-4, 1e-5] {
        let mut world = World::new(Algorithm::Auto);
        world.set_continuous(true);
        let place = |turn: f64, z: f64| {
            Pose::new(DQuat::from_rotation_z(turn), DVec3::new(0.3 * z, 0.0, z)).unwrap()
        };
        let above = 0.02 + gap;
        let a = world.insert(Body::new(rod.clone(), place(-1.4, 0.0))).unwrap();
        let b = world.insert(Body::new(rod.clone(), place(1.4, above))).unwrap();
        world.step().unwrap();
        world.set_poses(&[a, b], &[place(1.4, 0.0), place(-1.4, above)]).unwrap();
        assert!(world.step().unwrap().touches.is_empty(), "{gap:e} apart");
        for k in 0..=1000 {
            let turn = -1.4 + 2.8 * f64::from(k) / 1000.0;
            let apart = narrow::distance(
                &Placed::new(&rod, place(turn, 0.0)),
                &Placed::new(&rod, place(-turn, above)),
            );
            assert!(apart > 0.9 * gap);
        }
    }
}

/// Balls so near that a search for the time of impact would call it a touch, but parting.
#[test]
fn balls_that_part_from_a_hair_apart_do_not_touch() {
    for gap in [1e-9, 1e-8, 1e-7] {
        let mut world = World::new(Algorithm::Auto);
        world.set_continuous(true);
        let ball = Shape::sphere(0.5).unwrap();
        world.insert(Body::new(ball.clone(), Pose::IDENTITY)).unwrap();
        let other = world.insert(Body::new(ball, at(1.0 + gap, 0.0, 0.0))).unwrap();
        assert!(world.step().unwrap().touches.is_empty());
        world.set_pose(other, at(2.0, 0.0, 0.0)).unwrap();
        assert!(world.step().unwrap().touches.is_empty(), "{gap:e} apart");
    }
}

#[test]
fn a_stick_that_turns_meets_what_lies_between() {
    let mut world = World::new(Algorithm::Auto);
    world.set_continuous(true);
    let turned = |angle: f64| Pose::new(DQuat::from_rotation_z(angle), DVec3::ZERO).unwrap();
    let stick = Shape::capsule(0.01, 5.0).unwrap();
    let stick = world.insert(Body::new(stick, turned(-0.6))).unwrap();
    let pea = world.insert(Body::new(Shape::sphere(0.01).unwrap(), at(0.0, 4.9, 0.0))).unwrap();
    assert!(world.step().unwrap().touches.is_empty());
    world.set_pose(stick, turned(0.6)).unwrap();
    let step = world.step().unwrap();
    assert_eq!(step.began, [BodyPair::new(stick, pea)]);
    assert!((step.touches[0].time - 0.5).abs() < 0.01, "{}", step.touches[0].time);
}
