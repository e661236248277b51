//! Random histories of bodies against a loop over all pairs.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Whatever happens to bodies: the touches are those of all pairs, events balance, and every
    /// algorithm, schedule and number of workers says the same.
    #[test]
    fn histories_agree_with_all_pairs(
        history in prop::collection::vec(change(), 1..80),
        algorithm in prop::sample::select(Algorithm::ALL),
        workers in prop::sample::select(&[2, 3, 8]),
    ) {
        let mut one = World::new(Algorithm::Auto);
        let mut other = World::with_workers(algorithm, Workers::new(workers).unwrap());
        let mut ledger = Ledger::default();
        for change in history.iter().chain([&Change::Step]) {
            apply(&mut one, change);
            apply(&mut other, change);
            if let Change::Step = change {
                other.step().unwrap();
                ledger.follow(one.step().unwrap());
                prop_assert_eq!(bits(&one), bits(&other));
                let told: Vec<BodyPair> = ledger.touching.iter().copied().collect();
                prop_assert_eq!(told, all_pairs(&one).0);
                let asleep = |world: &World| -> Vec<BodyId> {
                    world.ids().filter(|&id| world.is_asleep(id)).collect()
                };
                prop_assert_eq!(asleep(&one), asleep(&other));
            }
        }
    }

    /// In continuous mode no touch is lost that the end of a step shows, and a body that goes right
    /// through another always touches it.
    #[test]
    fn a_bullet_never_tunnels(
        kind in 0usize..7,
        wall in 0usize..4,
        speed in 0.0f64..8.0,
        phase in 0.0f64..1.0,
        aim in prop::array::uniform2(-0.9f64..0.9),
        turn in prop::array::uniform3(-1.0f64..1.0),
    ) {
        let stride = 10f64.powf(speed);
        let bullet = shape(kind, DVec3::new(0.1, 0.15, 0.08));
        let wall = match wall {
            0 => Shape::cuboid(DVec3::new(1e-6, 2.0, 2.0)).unwrap(),
            1 => Shape::cuboid(DVec3::new(0.0, 2.0, 2.0)).unwrap(),
            2 => Shape::triangle([
                DVec3::new(0.0, -9.0, -9.0), DVec3::new(0.0, 9.0, -9.0), DVec3::new(0.0, 0.0, 9.0),
            ]).unwrap(),
            _ => Shape::hull(&[
                DVec3::new(0.0, 2.0, 2.0), DVec3::new(0.0, -2.0, 2.0),
                DVec3::new(0.0, 2.0, -2.0), DVec3::new(0.0, -2.0, -2.0),
            ]).unwrap(),
        };
        let mut world = World::new(Algorithm::Auto);
        world.set_continuous(true);
        let start = -1.0 - stride * phase;
        let place = |x: f64, turns: f64| {
            let turn = DQuat::from_scaled_axis(DVec3::from(turn) * turns).normalize();
            Pose::new(turn, DVec3::new(x, aim[0], aim[1])).unwrap()
        };
        let bullet = world.insert(Body::new(bullet, place(start, 0.0))).unwrap();
        let wall = Body::new(wall, Pose::IDENTITY).with_filter(Filter::STILL);
        world.insert(wall).unwrap();
        let (mut began, mut ended, mut x, mut steps) = (0, 0, start, 0);
        prop_assert!(world.step().unwrap().touches.is_empty());
        while x < 1.0 || ended < began {
            x += stride;
            steps += 1;
            world.set_pose(bullet, place(x, f64::from(steps))).unwrap();
            let step = world.step().unwrap();
            began += step.began.len();
            ended += step.ended.len();
            prop_assert!(steps < 100, "the bullet passes");
        }
        prop_assert_eq!((began, ended), (1, 1));
    }
}
