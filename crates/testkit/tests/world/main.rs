//! The whole pipeline: every scene with shapes in its boxes, random histories, and fast bodies,
//! each against a loop over all pairs and for several numbers of threads. This file is what the
//! others share.

mod bodies;
mod continuous;
mod features;
mod histories;
mod scenes;
mod snapshots;

use std::collections::BTreeSet;

use glam::{DQuat, DVec3};
use jostle::narrow::{self, Contact, ManifoldPoint, Placed};
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
    let step = world.last_step();
    let Step { touches, near, overlaps, began, ended, woken, .. } = step;
    let mut bits = vec![touches.len() as u64, began.len() as u64, ended.len() as u64];
    let key = |pair: BodyPair| Pair::new(pair.a(), pair.b()).key();
    bits.extend(began.iter().chain(ended).chain(overlaps).map(|&pair| key(pair)));
    bits.extend(woken.iter().map(|id| id.index() as u64));
    let vector = |bits: &mut Vec<u64>, v: DVec3| bits.extend(v.to_array().map(f64::to_bits));
    for touch in touches.iter().chain(near) {
        let contact = &touch.contact;
        bits.extend([key(touch.pair), touch.time.to_bits(), contact.depth.to_bits()]);
        vector(&mut bits, contact.normal);
        vector(&mut bits, contact.point_a);
        vector(&mut bits, contact.point_b);
        bits.push(contact.distance.to_bits());
        bits.extend(step.impulses(touch).iter().flatten().map(|number| number.to_bits()));
        for point in world.points(touch) {
            let ManifoldPoint { point_a, point_b, normal, separation, id, pieces } = point;
            bits.extend(pieces.map(u64::from));
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

#[derive(Clone, Debug)]
enum Change {
    Insert(usize, [f64; 3]),
    Remove(usize),
    Move(usize, [f64; 3], [f64; 3]),
    Teleport(usize, [f64; 3]),
    Refilter(usize, u32),
    Reshape(usize, usize),
    Sleep(usize),
    Wake(usize),
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
        1 => (any::<usize>(), 0usize..7).prop_map(|(id, kind)| Change::Reshape(id, kind)),
        1 => any::<usize>().prop_map(Change::Sleep),
        1 => any::<usize>().prop_map(Change::Wake),
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
        Change::Reshape(number, kind) => {
            let shape = shape(kind, DVec3::new(0.5, 0.7, 0.9));
            pick(number).into_iter().for_each(|id| world.set_shape(id, shape.clone()).unwrap());
        }
        Change::Sleep(number) => pick(number).into_iter().for_each(|id| world.sleep(id).unwrap()),
        Change::Wake(number) => pick(number).into_iter().for_each(|id| world.wake(id).unwrap()),
        Change::Step => {}
    }
}
