//! Every scene with shapes in its boxes: balanced events, the same bytes on all threads.

use super::*;

/// Runs a scene on all worlds. Gives the number of touches and of pairs of boxes, over all steps.
fn run_scene(name: &str, params: &[(&str, f64)]) -> (usize, usize) {
    let mut scene = Scene::new(name, BODIES, 5, params).unwrap();
    let mut worlds = worlds();
    let mut ids: Vec<Option<BodyId>> = vec![None; BODIES];
    let (mut ledger, mut touches, mut pairs) = (Ledger::default(), 0, 0);
    for frame in 0..STEPS {
        for slot in 0..BODIES {
            follow_slot(&mut worlds, &scene, slot, frame, &mut ids[slot]);
        }
        for world in &mut worlds {
            world.step().unwrap();
        }
        let first = bits(&worlds[0]);
        for (number, world) in worlds.iter().enumerate() {
            assert!(bits(world) == first, "{name}, step {frame}: world {number} differs");
        }
        ledger.follow(worlds[0].last_step());
        let told: Vec<BodyPair> = ledger.touching.iter().copied().collect();
        if frame % ORACLE == 0 || frame + 1 == STEPS {
            let expected = BTreeSet::from_iter(all_pairs(&worlds[0]).0);
            let differing = ledger.touching.symmetric_difference(&expected).next();
            let told = differing.map(|pair| tell(&worlds[0], *pair));
            assert!(told.is_none(), "{name}, step {frame}: {told:?}");
        }
        touches += told.len();
        pairs += worlds[0].stats().pairs;
        scene.advance();
    }
    let left: Vec<BodyId> = ids.into_iter().flatten().collect();
    worlds[0].remove_all(&left).unwrap();
    ledger.follow(worlds[0].step().unwrap());
    assert!(ledger.touching.is_empty() && worlds[0].is_empty());
    (touches, pairs)
}

#[test]
fn every_scene_runs_with_balanced_events_and_the_same_bytes_on_all_threads() {
    let (mut touches, mut pairs) = (0, 0);
    for info in Scene::list() {
        let (found, of) = run_scene(info.name, &[]);
        // Still bodies do not meet each other; everywhere else something touches in most steps.
        let expected = if info.name == "still" { 0 } else { STEPS };
        assert!(found as u64 >= expected, "{}: only {found} touches in all steps", info.name);
        touches += found;
        pairs += of;
    }
    let share = touches as f64 / pairs as f64;
    // Most pairs of boxes are those of the longest ones, whose shapes lean away from each other.
    assert!((0.1..0.9).contains(&share), "the share of box pairs that touch: {share:.3}");
}

/// Bodies in a lattice, each in touch with its neighbours: enough pairs that lists of pairs and
/// touches are cut into parts on all workers.
fn lattice(shape: impl Fn(usize) -> Shape) -> Vec<Body> {
    let place = |k: usize| at((k % 24) as f64, (k / 24 % 24) as f64, (k / 576) as f64);
    (0..24 * 24 * 9).map(|k| Body::new(shape(k), place(k))).collect()
}

/// Those of the other tests, and the usual schedule on every number of workers.
fn large_worlds(bodies: &[Body]) -> (Vec<World>, Vec<BodyId>) {
    let usual = [1, 2, 3].map(|count| {
        let mut world = World::with_workers(Algorithm::Auto, Workers::new(count).unwrap());
        world.set_detail(Detail::Manifold);
        world
    });
    let mut worlds: Vec<World> = worlds().into_iter().chain(usual).collect();
    let mut ids = Vec::new();
    for world in &mut worlds {
        ids = world.insert_all(bodies.to_vec()).unwrap();
    }
    (worlds, ids)
}

/// The parts of a step that are cut by size: nothing moves, all move and stay what they are, some
/// of all move apart, few of all move, bodies go, and come.
fn run_large(bodies: &[Body], fits: impl Fn(&Contact, &Contact) -> bool) {
    let (mut worlds, mut ids) = large_worlds(bodies);
    for frame in 0..10 {
        let moves = |k: usize| match frame {
            0 | 1 => false,
            2..=4 => true,
            5 => k.is_multiple_of(50),
            _ => k.is_multiple_of(3),
        };
        for world in &mut worlds {
            for (k, &id) in ids.iter().enumerate() {
                let there = world.pose(id).unwrap().translation();
                let lift = if frame == 4 && k.is_multiple_of(7) { 0.3 } else { 0.0 };
                if moves(k) {
                    world.set_pose(id, at(there.x + 0.001, there.y + lift, there.z)).unwrap();
                }
            }
            if frame == 6 {
                world.remove_all(&ids[100..140]).unwrap();
            } else if frame == 8 {
                world.insert_all(bodies[100..140].to_vec()).unwrap();
            }
            world.step().unwrap();
        }
        if frame == 6 {
            ids.drain(100..140);
        }
        let first = bits(&worlds[0]);
        for (number, world) in worlds.iter().enumerate() {
            assert!(bits(world) == first, "step {frame}: world {number} differs");
        }
        let (world, step) = (&worlds[0], worlds[0].last_step());
        assert!(step.touches.len() > 8192, "too few for two parts: {}", step.touches.len());
        for touch in step.touches {
            let placed = [touch.pair.a(), touch.pair.b()].map(|id| world.placed(id).unwrap());
            let asked = narrow::contact(&placed[0], &placed[1]);
            assert!(fits(&asked, &touch.contact), "step {frame}: {asked:?} {touch:?}");
        }
        // The ledger of events is that of the touches.
        let changed = frame == 0 || (4..=6).contains(&frame);
        assert!(changed || step.ended.is_empty(), "step {frame}: {}", step.ended.len());
    }
}

#[test]
fn large_worlds_say_the_same_on_all_threads() {
    let ball = Shape::sphere(0.51).unwrap();
    run_large(&lattice(|_| ball.clone()), |asked, told| asked == told);
}

/// The same with pairs that remember and have several points. Those that move together keep their
/// answers, to within what [`World::REUSE`] allows.
#[test]
fn large_worlds_of_boxes_say_the_same_on_all_threads() {
    let cube = Shape::cuboid(DVec3::splat(0.51)).unwrap();
    let shape = |k: usize| match k % 5 {
        0 => Shape::sphere(0.51).unwrap(),
        1 => Shape::capsule(0.3, 0.21).unwrap(),
        _ => cube.clone(),
    };
    let off = 2.0 * World::REUSE;
    run_large(&lattice(shape), |asked, told| {
        asked.status == told.status && (asked.depth - told.depth).abs() < off
    });
}
