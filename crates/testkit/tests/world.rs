//! The whole pipeline: every scene with shapes in its boxes, random histories, and fast bodies,
//! each against a loop over all pairs and for several numbers of threads.

use std::collections::BTreeSet;

use glam::{DQuat, DVec3};
use jostle::narrow::{self, ManifoldPoint, Placed};
use jostle::shape::{Pose, Shape};
use jostle::world::{Detail, Schedule, Step, WorldSnapshot};
use jostle::{
    Aabb, Algorithm, Body, BodyId, BodyPair, BoxError, BoxId, Filter, Pair, Workers, World,
    WorldError,
};
use jostle_scenes::Scene;
use proptest::prelude::*;

/// Enough for hundreds of touches a step and for all workers to have some; the loop over all pairs
/// of every tenth step takes most of the time.
const BODIES: usize = 256;
const STEPS: u64 = 300;
/// All pairs are asked one by one in every step whose number this divides.
const ORACLE: u64 = 10;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).unwrap()
}

/// A shape that fills a box of half extents, its kind by number.
fn shape(kind: usize, half: DVec3) -> Shape {
    let round = half.x.min(half.z);
    match kind % 7 {
        0 => Shape::sphere(half.min_element()).unwrap(),
        1 => Shape::cuboid(half).unwrap(),
        2 => Shape::capsule(round.min(half.y), (half.y - round).max(0.0)).unwrap(),
        3 => {
            let corner = |k: u32| {
                let sign = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let cut = if k < 8 { 1.0 } else { 0.5 };
                half * DVec3::new(sign(0) * cut, sign(1), sign(2) * cut)
            };
            Shape::hull(&(0..12).map(corner).collect::<Vec<_>>()).unwrap()
        }
        4 => Shape::cone(round, half.y).unwrap(),
        5 => {
            let arm = |long: DVec3| Shape::cuboid(half * long).unwrap();
            let cross = [DVec3::new(1.0, 0.3, 0.3), DVec3::new(0.3, 1.0, 0.3)];
            Shape::compound(cross.map(|long| (arm(long), Pose::IDENTITY)).to_vec()).unwrap()
        }
        _ => Shape::ellipsoid(half).unwrap(),
    }
}

fn center_and_half(aabb: &Aabb) -> (DVec3, DVec3) {
    // Shapes are finite: an infinite box gets one that reaches far beyond everything else. Not a
    // billion times as far: curved shapes are certain to a millionth of the size at best, and two
    // questions may then differ about a gap of 1e-10 of it.
    let finite = |bound: f32| f64::from(bound).clamp(-1e4, 1e4);
    let (min, max) = (aabb.min.map(finite), aabb.max.map(finite));
    ((DVec3::from(min) + DVec3::from(max)) / 2.0, (DVec3::from(max) - DVec3::from(min)) / 2.0)
}

/// Worlds that differ in everything that must not matter.
fn worlds() -> Vec<World> {
    let kinds = [
        (1, Schedule::Blocks, Algorithm::Auto),
        (2, Schedule::Blocks, Algorithm::SortSweep),
        (3, Schedule::Alternating, Algorithm::Auto),
        (8, Schedule::Stealing, Algorithm::Bvh),
    ];
    let world = |(threads, schedule, algorithm)| {
        let mut world = World::with_workers(algorithm, Workers::new(threads).unwrap());
        world.set_schedule(schedule);
        world.set_detail(Detail::Manifold);
        world
    };
    kinds.into_iter().map(world).collect()
}

/// Everything a step says, bit by bit.
fn bits(world: &World) -> Vec<u64> {
    let Step { touches, began, ended, .. } = world.last_step();
    let mut bits = vec![touches.len() as u64, began.len() as u64, ended.len() as u64];
    let key = |pair: BodyPair| Pair::new(pair.a(), pair.b()).key();
    bits.extend(began.iter().chain(ended).map(|&pair| key(pair)));
    let vector = |bits: &mut Vec<u64>, v: DVec3| bits.extend(v.to_array().map(f64::to_bits));
    for touch in touches {
        let contact = &touch.contact;
        bits.extend([key(touch.pair), touch.time.to_bits(), contact.depth.to_bits()]);
        vector(&mut bits, contact.normal);
        vector(&mut bits, contact.point_a);
        vector(&mut bits, contact.point_b);
        for ManifoldPoint { point_a, point_b, normal, separation, id } in world.points(touch) {
            vector(&mut bits, *normal);
            vector(&mut bits, *point_a);
            vector(&mut bits, *point_b);
            bits.extend([separation.to_bits(), *id]);
        }
    }
    bits
}

/// Keeps the set of touching pairs by events alone.
#[derive(Default)]
struct Ledger {
    touching: BTreeSet<BodyPair>,
}

impl Ledger {
    /// Takes in a step; the events must fit, and lead to what it says touches.
    fn follow(&mut self, step: Step<'_>) {
        assert!(step.began.is_sorted() && step.ended.is_sorted(), "events are in order");
        for pair in step.ended {
            assert!(self.touching.remove(pair), "{pair} ended but never began");
        }
        for pair in step.began {
            assert!(self.touching.insert(*pair), "{pair} began twice");
        }
        let told: Vec<BodyPair> = step.touches.iter().map(|touch| touch.pair).collect();
        assert_eq!(told, Vec::from_iter(self.touching.iter().copied()), "events and touches");
    }
}

/// What touches, by asking about all pairs; and how many there are.
fn all_pairs(world: &World) -> (Vec<BodyPair>, usize) {
    let ids: Vec<BodyId> = world.ids().collect();
    let (mut touching, mut asked) = (Vec::new(), 0);
    for (place, &a) in ids.iter().enumerate() {
        for &b in &ids[place + 1..] {
            if !world.filter(a).unwrap().allows(world.filter(b).unwrap()) {
                continue;
            }
            asked += 1;
            if narrow::intersects(&world.placed(a).unwrap(), &world.placed(b).unwrap()).hit {
                touching.push(BodyPair::new(a, b));
            }
        }
    }
    (touching, asked)
}

/// What there is to know of a pair that should touch and does not, or the other way round.
fn tell(world: &World, pair: BodyPair) -> String {
    let [a, b] = [pair.a(), pair.b()].map(|id| world.placed(id).unwrap());
    format!("{pair}: {a:?} {b:?} {:?}", narrow::contact(&a, &b))
}

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

/// Brings one slot of a scene into the worlds: comes, goes, or moves with the box, turning slowly.
fn follow_slot(
    worlds: &mut [World],
    scene: &Scene,
    slot: usize,
    frame: u64,
    id: &mut Option<BodyId>,
) {
    let alive = scene.alive().is_none_or(|alive| alive[slot]);
    let still = scene.still().is_some_and(|still| still[slot]);
    let number = slot as u32;
    let gone = !alive || scene.changes().removed.contains(&number);
    if let (true, Some(old)) = (gone, *id) {
        worlds.iter_mut().for_each(|world| world.remove(old).unwrap());
        *id = None;
    }
    if !alive {
        return;
    }
    let (center, half) = center_and_half(&scene.boxes()[slot]);
    let angle = if still { 0.0 } else { 0.01 * (frame % 200) as f64 };
    let turn = DQuat::from_rotation_y(angle) * DQuat::from_rotation_x(slot as f64);
    let pose = Pose::new(turn.normalize(), center).unwrap();
    match *id {
        Some(id) => worlds.iter_mut().for_each(|world| world.set_pose(id, pose).unwrap()),
        None => {
            let filter = if still { Filter::STILL } else { Filter::ALL };
            let body = Body::new(shape(slot, half), pose).with_filter(filter);
            let mut insert = |world: &mut World| world.insert(body.clone()).unwrap();
            let given: BTreeSet<BodyId> = worlds.iter_mut().map(&mut insert).collect();
            assert_eq!(given.len(), 1, "ids are the same everywhere");
            *id = given.first().copied();
        }
    }
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

#[derive(Clone, Debug)]
enum Change {
    Insert(usize, [f64; 3]),
    Remove(usize),
    Move(usize, [f64; 3], [f64; 3]),
    Teleport(usize, [f64; 3]),
    Refilter(usize, u32),
    Step,
}

fn change() -> impl Strategy<Value = Change> {
    let place = || prop::array::uniform3(-3.0f64..3.0);
    prop_oneof![
        3 => (0usize..7, place()).prop_map(|(kind, at)| Change::Insert(kind, at)),
        1 => any::<usize>().prop_map(Change::Remove),
        4 => (any::<usize>(), place(), place())
            .prop_map(|(id, at, turn)| Change::Move(id, at, turn)),
        1 => (any::<usize>(), place()).prop_map(|(id, at)| Change::Teleport(id, at)),
        1 => (any::<usize>(), 0u32..4).prop_map(|(id, bits)| Change::Refilter(id, bits)),
        3 => Just(Change::Step),
    ]
}

fn apply(world: &mut World, change: &Change) {
    let ids: Vec<BodyId> = world.ids().collect();
    let pick = |number: usize| (!ids.is_empty()).then(|| ids[number % ids.len().max(1)]);
    match *change {
        Change::Insert(kind, [x, y, z]) => {
            let shape = shape(kind, DVec3::new(0.8, 1.0, 0.6));
            world.insert(Body::new(shape, at(x, y, z))).unwrap();
        }
        Change::Remove(number) => pick(number).into_iter().for_each(|id| world.remove(id).unwrap()),
        Change::Move(number, place, turn) => {
            let turn = DQuat::from_scaled_axis(turn.into()).normalize();
            let pose = Pose::new(turn, place.into()).unwrap();
            pick(number).into_iter().for_each(|id| world.set_pose(id, pose).unwrap());
        }
        Change::Teleport(number, [x, y, z]) => {
            pick(number).into_iter().for_each(|id| world.teleport(id, at(x, y, z)).unwrap());
        }
        Change::Refilter(number, bits) => {
            let filter = Filter::groups(1 << bits, !(1 << (bits ^ 1)));
            pick(number).into_iter().for_each(|id| world.set_filter(id, filter).unwrap());
        }
        Change::Step => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Whatever happens to bodies: the touches are those of all pairs, and events balance.
    #[test]
    fn histories_agree_with_all_pairs(history in prop::collection::vec(change(), 1..80)) {
        let mut one = World::new(Algorithm::Auto);
        let mut three = World::with_workers(Algorithm::SortSweep, Workers::new(3).unwrap());
        let mut ledger = Ledger::default();
        for change in history.iter().chain([&Change::Step]) {
            apply(&mut one, change);
            apply(&mut three, change);
            if let Change::Step = change {
                three.step().unwrap();
                ledger.follow(one.step().unwrap());
                prop_assert_eq!(bits(&one), bits(&three));
                let told: Vec<BodyPair> = ledger.touching.iter().copied().collect();
                prop_assert_eq!(told, all_pairs(&one).0);
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

/// Through a format without infinities, and with the same bits of all other numbers.
fn written_and_read(snapshot: &WorldSnapshot) -> WorldSnapshot {
    serde_json::from_value(serde_json::to_value(snapshot).unwrap()).unwrap()
}

fn after_change() -> impl Strategy<Value = Change> {
    prop_oneof![2 => change(), 1 => Just(Change::Step)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// A world restored from a snapshot at any moment continues with the same bytes as the live
    /// one, whatever the algorithm and the number of workers.
    #[test]
    fn a_restored_world_continues_with_the_same_bytes(
        before in prop::collection::vec(change(), 1..60),
        after in prop::collection::vec(after_change(), 1..40),
        (continuous, flat, manifold, moved_origin) in any::<(bool, bool, bool, bool)>(),
    ) {
        let mut live = World::new(Algorithm::Auto);
        live.set_continuous(continuous);
        live.set_flat(flat);
        live.set_detail(if manifold { Detail::Manifold } else { Detail::Contact });
        // In a flat world it covers everything: depths are infinite.
        let slope = Shape::half_space(DVec3::new(1.0, 1.0, 1.0), -2.0).unwrap();
        live.insert(Body::new(slope, Pose::IDENTITY).with_user_data(u64::MAX)).unwrap();
        for change in &before {
            apply(&mut live, change);
            if let Change::Step = change {
                live.step().unwrap();
            }
        }
        if moved_origin {
            live.set_origin([0.1, -7.0, 1e-9]).unwrap();
        }
        let snapshot = live.snapshot();
        let told = bits(&live);
        let mut worlds = vec![live];
        for (threads, algorithm) in [(1, Algorithm::Bvh), (2, Algorithm::Sap), (3, Algorithm::Auto)]
        {
            let workers = Workers::new(threads).unwrap();
            let world = World::restore(algorithm, workers, written_and_read(&snapshot)).unwrap();
            prop_assert_eq!(&bits(&world), &told, "the last step is told again");
            worlds.push(world);
        }
        for change in after.iter().chain([&Change::Step, &Change::Step]) {
            for world in &mut worlds {
                apply(world, change);
                if let Change::Step = change {
                    world.step().unwrap();
                }
            }
            let live = &worlds[0];
            let ids: Vec<BodyId> = live.ids().collect();
            for world in &worlds[1..] {
                prop_assert_eq!(bits(world), bits(live));
                prop_assert_eq!(world.ids().collect::<Vec<_>>(), ids.clone());
                for &id in &ids {
                    prop_assert_eq!(world.pose(id), live.pose(id));
                    prop_assert_eq!(world.filter(id), live.filter(id));
                    prop_assert_eq!(world.user_data(id), live.user_data(id));
                }
            }
        }
    }
}

/// Cubes in a row, stepped, with one moved, one removed and one inserted since.
fn row() -> World {
    let mut world = World::default();
    world.set_detail(Detail::Manifold);
    let cube = |x: f64| Body::new(shape(1, DVec3::ONE), at(x, 0.0, 0.0));
    let ids = world.insert_all((0..6).map(|k| cube(1.5 * f64::from(k))).collect()).unwrap();
    world.step().unwrap();
    world.set_pose(ids[3], at(4.6, 0.5, 0.0)).unwrap();
    world.remove(ids[5]).unwrap();
    world.insert(cube(20.0)).unwrap();
    world
}

#[test]
fn damaged_world_snapshots_are_refused_by_name() {
    use serde_json::{Value, json};
    let good = serde_json::to_value(row().snapshot()).unwrap();
    let restore = |value: Value| -> Result<World, String> {
        let read: WorldSnapshot = serde_json::from_value(value).map_err(|e| e.to_string())?;
        World::restore(Algorithm::Auto, Workers::one(), read).map_err(|e| e.to_string())
    };
    assert_eq!(restore(good.clone()).unwrap().last_step().touches.len(), 5);
    let list = |name: &str| good[name].as_array().unwrap().clone();
    let (bodies, pairs) = (list("bodies"), list("pairs"));
    assert_eq!((bodies.len(), pairs.len()), (6, 5));
    let id = |slot: u32| json!({"slot": slot, "generation": 0});
    let twice = |list: &[Value]| [list, &list[list.len() - 1..]].concat();
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/bodies", json!(bodies[1..]), "the body of slot 0 is missing, that of 1 is given"),
        ("/bodies", json!(bodies[..5]), "the body of slot 6 is missing"),
        ("/bodies", json!(twice(&bodies)), "there is no box for the body in slot 6"),
        ("/bodies/2/slot", json!(1), "the body of slot 2 is missing"),
        ("/bodies/2/slot", json!(4_000_000_000u32), "the body of slot 2 is missing"),
        ("/bodies/2/pose/translation/0", Value::Null, "null"),
        ("/bodies/2/pose/translation/0", json!(1e300), "translation"),
        ("/bodies/2/pose/rotation", json!([0, 0, 0, 2]), "rotation has length 2"),
        ("/bodies/2/shape", json!({"sphere": {"radius": -1}}), "radius = -1"),
        ("/pairs", json!(twice(&pairs)), "pair 4-5: listed twice"),
        ("/pairs/0/pair", json!([2, 3]), "pair 1-2: listed twice or not in ascending order"),
        ("/pairs/4/pair", json!([4, 77]), "pair 4-77: there is no box in slot 77"),
        ("/pairs/4/pair", json!([4, 6]), "pair 4-6: one of the boxes came after the last step"),
        ("/pairs/0/pair", json!([0, 2]), "pair 0-2: the boxes do not overlap"),
        ("/pairs/0/pair", json!([1, 1]), "1"),
        ("/pairs/0/touch/time", json!(1.5), "pair 0-1: it touches at 1.5"),
        ("/pairs/0/touch/points", json!(vec![[0u64; 11]; 5]), "5 contact"),
        ("/pairs/0/touch", Value::Null, "pair 0-1 began but does not touch"),
        ("/began", json!([[id(0), id(2)]]), "pair 0-2 began but does not touch"),
        ("/began", json!([[id(1), id(0)]]), "names no two bodies in order"),
        ("/began", json!([[id(0), id(1)], [id(0), id(1)]]), "listed twice"),
        ("/ended", json!([[id(0), id(1)]]), "pair 0-1 ended but touches"),
        ("/ended", json!([[id(0), id(99)]]), "names no two bodies"),
        ("/ended", json!([[id(3), id(3)]]), "names no two bodies"),
        ("/origin/0", Value::Null, "null"),
        ("/origin/0", json!(1e300), "translation"),
        ("/detail", json!("everything"), "unknown variant"),
        ("/pair_limit", json!(-1), "invalid value"),
    ];
    for (place, value, why) in cases {
        let mut bad = good.clone();
        let shown = value.to_string();
        *bad.pointer_mut(place).unwrap() = value;
        let error = restore(bad).expect_err(place);
        assert!(error.contains(why), "{place} = {shown}: {error}");
    }
    for name in good.as_object().unwrap().keys() {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(name);
        assert!(restore(bad).unwrap_err().contains(name), "{name} is missing");
    }
}

/// Every number and list of a snapshot, replaced by hostile ones: an error or a world that steps.
#[test]
fn no_damage_to_a_snapshot_makes_a_world_panic() {
    use serde_json::{Value, json};
    fn places(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_string());
        match value {
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(k, v)| places(v, &format!("{at}/{k}"), out));
            }
            Value::Object(map) => {
                map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), out));
            }
            _ => {}
        }
    }
    let good = serde_json::to_value(row().snapshot()).unwrap();
    let mut all = Vec::new();
    places(&good, "", &mut all);
    let hostile = [json!(0), json!(3), json!(u64::MAX), json!(-2.5), json!(true), json!([])];
    let (mut refused, mut restored) = (0, 0);
    for place in &all {
        for value in &hostile {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value.clone();
            let read = serde_json::from_value::<WorldSnapshot>(bad).map_err(|_| ());
            let world = read.and_then(|read| {
                World::restore(Algorithm::Auto, Workers::one(), read).map_err(|_| ())
            });
            let Ok(mut world) = world else {
                refused += 1;
                continue;
            };
            restored += 1;
            for _ in 0..2 {
                let ids: Vec<BodyId> = world.ids().collect();
                world.set_pose(ids[0], at(0.3, 0.2, 0.1)).unwrap();
                // A hostile limit of pairs may refuse the step.
                let _ = world.step();
                world.last_step().touches.iter().for_each(|t| _ = world.points(t).len());
            }
        }
    }
    assert!(refused > 1000 && restored > 100, "{refused} refused, {restored} restored");
}
