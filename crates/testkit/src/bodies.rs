//! Shapes, pairs and histories of bodies from arbitrary bytes, for the narrow phase and for
//! [`World`]: what a fuzzer and `soak` run. Any bytes are a case.
//!
//! A pair is held against what its own answers prove (planes, points, the mirrored question), a
//! world against plain questions about all pairs, and against another world with other workers and
//! another broad phase, byte by byte.

use std::collections::BTreeSet;

use jostle::glam::{DQuat, DVec3, Vec3Swizzles};
use jostle::narrow::{self, Contact, Motion, Moving, PairCache, Placed, Query, Status, TOUCH};
use jostle::shape::{Pose, Shape};
use jostle::world::{BodyPair, Detail, Touch};
use jostle::{Algorithm, Body, BodyId, Filter, Workers, World};

use crate::bytes::Bytes;

/// Sizes that careless code gets wrong, among ordinary ones.
const SIZES: [f64; 16] =
    [0.0, 1e-13, 1e-9, 1e-4, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 1.25, 1.5, 2.0, 5.0, 100.0];

impl Bytes<'_> {
    fn size(&mut self) -> f64 {
        SIZES[usize::from(self.byte() % 16)]
    }

    /// From -4 to 4, often whole: touching shapes and equal faces are common.
    fn offset(&mut self) -> f64 {
        f64::from(self.byte() as i8 / 4) / 8.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.offset(), self.offset(), self.offset())
    }

    fn pose(&mut self) -> Pose {
        let place = self.vector();
        let turn = match self.byte() % 4 {
            0 => DQuat::IDENTITY,
            1 => DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
            2 => DQuat::from_scaled_axis(self.vector()),
            _ => DQuat::from_scaled_axis(self.vector() * 1e-7),
        };
        Pose::new(turn.normalize(), place).expect("small places are legal")
    }

    fn convex(&mut self) -> Shape {
        let shape = match self.byte() % 8 {
            0 => Shape::sphere(self.size()),
            1 => Shape::cuboid(DVec3::new(self.size(), self.size(), self.size())),
            2 => Shape::capsule(self.size(), self.size()),
            3 => Shape::cylinder(self.size(), self.size()),
            4 => Shape::cone(self.size(), self.size()),
            5 => Shape::ellipsoid(DVec3::new(self.size(), self.size(), self.size())),
            6 => Shape::triangle([self.vector(), self.vector(), self.vector()]),
            _ => {
                let stretch = DVec3::new(1.0, self.size(), self.size());
                let count = 1 + self.byte() % 12;
                let points: Vec<DVec3> = (0..count).map(|_| self.vector() * stretch).collect();
                Shape::hull(&points)
            }
        };
        shape.expect("all sizes are legal")
    }

    fn shape(&mut self) -> Shape {
        match self.byte() % 10 {
            0 => {
                let count = 1 + self.byte() % 3;
                let pieces = (0..count).map(|_| (self.convex(), self.pose())).collect();
                Shape::compound(pieces).expect("convex pieces")
            }
            1 => {
                let normal = self.vector();
                let normal = if normal == DVec3::ZERO { DVec3::Y } else { normal };
                Shape::half_space(normal, self.offset()).expect("a legal half-space")
            }
            _ => self.convex(),
        }
    }
}

fn size_of(a: &Shape, b: &Shape) -> f64 {
    let radius = |shape: &Shape| if shape.is_bounded() { shape.bounding_radius() } else { 0.0 };
    radius(a) + radius(b)
}

/// Asks every question about the pair that the bytes describe, and says what is wrong.
pub fn check_pair(bytes: &[u8]) -> Result<(), String> {
    let mut bytes = Bytes(bytes);
    let (a, b) = (bytes.shape(), bytes.shape());
    let (pose_a, mut pose_b) = (bytes.pose(), bytes.pose());
    let (mut query, mut cache) = (Query::default(), PairCache::new());
    let step = (bytes.vector() * 0.01, bytes.vector() * 0.01);
    for _ in 0..4 {
        let (one, other) = (Placed::new(&a, pose_a), Placed::new(&b, pose_b));
        check_answers(&one, &other)?;
        let (cold, warm) = (narrow::contact(&one, &other), query.contact(&one, &other, &mut cache));
        let size = size_of(&a, &b);
        let difference = (cold.signed_distance() - warm.signed_distance()).abs();
        let allowed = cold.bound + warm.bound + 1e-8 * size;
        if difference > allowed && cold.depth.is_finite() {
            return Err(format!("the memory changes {cold:?} to {warm:?} for {one:?} {other:?}"));
        }
        let turn = DQuat::from_scaled_axis(step.1) * pose_b.rotation();
        pose_b = Pose::new(turn.normalize(), pose_b.translation() + step.0).expect("small steps");
    }
    let spin = |shape: &Shape, spin: DVec3| if shape.is_bounded() { spin } else { DVec3::ZERO };
    let motion = |linear, angular| Motion::new(linear, angular).expect("slow");
    let first = motion(bytes.vector(), spin(&a, bytes.vector()));
    let second = motion(bytes.vector(), spin(&b, bytes.vector()));
    check_impact(
        &Moving::new(Placed::new(&a, pose_a), first),
        &Moving::new(Placed::new(&b, pose_b), second),
    )
}

fn check_answers(a: &Placed<'_>, b: &Placed<'_>) -> Result<(), String> {
    let contact = narrow::contact(a, b);
    let fail = |what: &str| Err(format!("{what}: {contact:?} for {a:?} {b:?}"));
    let Contact { distance, depth, normal, status, .. } = contact;
    let sound = match status {
        Status::Separated => distance > 0.0 && depth == 0.0,
        Status::Overlapping => depth > 0.0 && distance == 0.0,
        Status::Touching => depth == 0.0 && distance == 0.0,
    };
    if !sound || (normal.length() - 1.0).abs() > 1e-9 {
        return fail("status, numbers and normal do not fit");
    }
    let back = narrow::contact(b, a);
    // Not the normal: shapes that coincide part along x, whichever is named first.
    if (back.distance, back.depth) != (distance, depth) {
        return fail("the other way round it is not the same");
    }
    let touching = status != Status::Separated;
    let size = size_of(a.shape, b.shape);
    let compound = |placed: &Placed<'_>| matches!(placed.shape, Shape::Compound(_));
    // The pieces of compounds have sizes and tolerances of their own.
    let near_limit = (distance - TOUCH * size).abs() < TOUCH * size;
    let doubtful = (compound(a) || compound(b)) && near_limit;
    if narrow::intersects(a, b).hit != touching && !doubtful {
        return fail("intersects says something else");
    }
    let manifold = narrow::manifold(a, b, 0.0);
    if manifold.is_some() != touching && !doubtful {
        return fail("manifold says something else");
    }
    let unbounded = !a.shape.is_bounded() || !b.shape.is_bounded();
    if depth.is_infinite() || unbounded {
        return Ok(());
    }
    // The plane along the normal shows that the distance is not less and the depth not more.
    if !compound(a) && !compound(b) {
        // From each shape's own place: coordinates of the world would round off tiny shapes.
        let reach = |placed: &Placed<'_>, direction: DVec3| {
            let local = placed.pose.inverse_apply_vector(direction);
            placed.pose.apply_vector(placed.shape.support(local)).dot(direction)
        };
        let between = (b.pose.translation() - a.pose.translation()).dot(normal);
        let apart = between - reach(b, -normal) - reach(a, normal);
        if apart < contact.signed_distance() - contact.bound - 1e-6 * size {
            return fail("the plane along the normal shows another distance");
        }
    }
    for point in manifold.iter().flat_map(|manifold| manifold.points()) {
        let too_deep = point.separation < contact.signed_distance() - 2e-6 * size;
        if too_deep || !point.point_a.is_finite() || !point.point_b.is_finite() {
            return Err(format!("a stray point {point:?} of {contact:?} for {a:?} {b:?}"));
        }
    }
    Ok(())
}

fn check_impact(a: &Moving<'_>, b: &Moving<'_>) -> Result<(), String> {
    let impact = narrow::time_of_impact(a, b, 1.0);
    let size = size_of(a.start.shape, b.start.shape);
    for step in 0..20 {
        let time = f64::from(step) / 20.0;
        let contact = narrow::contact(&a.at(time), &b.at(time));
        if contact.depth > 1e-6 * size && impact.time > time {
            return Err(format!("touching at {time}, but {impact:?} for {a:?} {b:?}"));
        }
    }
    Ok(())
}

/// Runs a world through the history that the bytes describe, next to another one with other workers
/// and broad phases, and says what is wrong.
pub fn check_world(bytes: &[u8]) -> Result<(), String> {
    let mut bytes = Bytes(bytes);
    let number = |byte: u8| Algorithm::ALL[usize::from(byte) % Algorithm::ALL.len()];
    let workers = Workers::new(2 + usize::from(bytes.byte() % 2)).expect("a few threads");
    let mut worlds =
        [World::new(number(bytes.byte())), World::with_workers(number(bytes.byte()), workers)];
    let (mut touching, mut continuous, mut operations) = (BTreeSet::new(), false, 0);
    // Long histories repeat themselves; the questions about all pairs are quadratic.
    while let (Some(kind), true) = (bytes.next(), operations < 120) {
        operations += 1;
        let ids: Vec<BodyId> = worlds[0].ids().collect();
        let place = usize::from(bytes.byte());
        let id = (!ids.is_empty()).then(|| ids[place % ids.len()]);
        match (kind % 24, id) {
            (0..=3, _) if ids.len() < 24 => {
                let body = Body::new(bytes.shape(), bytes.pose())
                    .with_filter(filter(kind))
                    .with_sensor(kind % 24 == 2)
                    .with_continuous(kind >= 224);
                let ids = worlds.each_mut().map(|world| world.insert(body.clone()));
                if ids[0] != ids[1] {
                    return Err(format!("ids differ: {ids:?}"));
                }
            }
            (4, Some(id)) => worlds.iter_mut().for_each(|w| w.remove(id).expect("it is there")),
            (5..=8, Some(id)) => {
                let pose = bytes.pose();
                worlds.iter_mut().for_each(|w| w.set_pose(id, pose).expect("it is there"))
            }
            (9, Some(id)) => {
                let pose = bytes.pose();
                worlds.iter_mut().for_each(|w| w.teleport(id, pose).expect("it is there"))
            }
            (10, Some(id)) => {
                let filter = filter(bytes.byte());
                worlds.iter_mut().for_each(|w| w.set_filter(id, filter).expect("it is there"))
            }
            (11, _) => {
                let all = [Detail::Contact, Detail::Manifold, Detail::Pieces, Detail::Boolean];
                let detail = all[place % 4];
                worlds.iter_mut().for_each(|world| world.set_detail(detail));
            }
            (12, _) if kind < 32 => {
                continuous = place % 2 == 0;
                worlds.iter_mut().for_each(|world| world.set_continuous(continuous));
            }
            (13, _) => worlds[place % 2].set_algorithm(number(kind / 24)),
            (14, Some(id)) => {
                let shape = bytes.shape();
                for world in &mut worlds {
                    world.set_shape(id, shape.clone()).expect("it is there");
                }
            }
            (15, Some(id)) => {
                let sensor = kind < 128;
                worlds.iter_mut().for_each(|w| w.set_sensor(id, sensor).expect("it is there"))
            }
            (16 | 17, Some(id)) => {
                worlds.iter_mut().for_each(|w| w.sleep(id).expect("it is there"))
            }
            (18, _) => {
                let reach = [0.0, 0.1, 1.0][place % 3];
                worlds.iter_mut().for_each(|w| w.set_reach(reach).expect("a length"))
            }
            (19, Some(id)) => {
                // Trembling, less than what is noticed and more.
                let pose = world_tremble(&worlds[0], id, bytes.vector() * 3e-6);
                worlds.iter_mut().for_each(|w| w.set_pose(id, pose).expect("it is there"))
            }
            _ => step(&mut worlds, &mut touching, continuous)?,
        }
    }
    step(&mut worlds, &mut touching, continuous)
}

fn world_tremble(world: &World, id: BodyId, by: DVec3) -> Pose {
    let pose = world.pose(id).expect("it is there");
    let turn = DQuat::from_scaled_axis(by.yzx()) * pose.rotation();
    Pose::new(turn.normalize(), pose.translation() + by).expect("small steps")
}

fn filter(number: u8) -> Filter {
    match number / 16 {
        0 => Filter::STILL,
        1 => Filter::groups(1, 2),
        2 => Filter::ALL.with_owner(1),
        _ => Filter::ALL,
    }
}

fn step(
    worlds: &mut [World; 2],
    touching: &mut BTreeSet<BodyPair>,
    continuous: bool,
) -> Result<(), String> {
    for world in worlds.iter_mut() {
        world.step().map_err(|fault| fault.to_string())?;
    }
    let [one, other] = worlds.each_ref().map(World::last_step);
    if one != other {
        return Err(format!("the worlds differ:\n{one:?}\n{other:?}"));
    }
    for pair in one.ended {
        if !touching.remove(pair) {
            return Err(format!("{pair} ended without having begun"));
        }
    }
    for &pair in one.began {
        if !touching.insert(pair) {
            return Err(format!("{pair} began twice"));
        }
    }
    let mut listed: BTreeSet<BodyPair> = one.touches.iter().map(|touch| touch.pair).collect();
    listed.extend(one.overlaps);
    if *touching != listed {
        return Err(format!("events and lists differ: {touching:?} {listed:?}"));
    }
    if let Some(id) = one.woken.iter().find(|id| worlds[0].is_asleep(**id)) {
        return Err(format!("{id} woke up and sleeps"));
    }
    compare_with_questions(&worlds[0], touching, continuous)
}

/// Holds a step against plain questions about all pairs.
fn compare_with_questions(
    world: &World,
    touching: &BTreeSet<BodyPair>,
    continuous: bool,
) -> Result<(), String> {
    let step = world.last_step();
    let ids: Vec<BodyId> = world.ids().collect();
    for (place, &a) in ids.iter().enumerate() {
        for &b in &ids[place + 1..] {
            let pair = BodyPair::new(a, b);
            let [one, other] = [a, b].map(|id| world.placed(id).expect("it is there"));
            let allowed = world.filter(a).zip(world.filter(b)).is_some_and(|(f, g)| f.allows(g));
            let contact = narrow::contact(&one, &other);
            let apart = contact.signed_distance();
            // Memories may tip the scales within the tolerance.
            let size = size_of(one.shape, other.shape);
            let limit = TOUCH * size;
            if (apart - limit).abs() < limit {
                continue;
            }
            let told = touching.contains(&pair);
            let expected = allowed && apart < limit;
            // On their way they may have touched what they do not touch now.
            let continuous =
                continuous || world.is_body_continuous(a) || world.is_body_continuous(b);
            if told != expected && !(continuous && told && allowed) {
                return Err(format!("told {told} for {one:?} {other:?}, {apart} apart"));
            }
            let find = |list: &[Touch]| list.iter().find(|touch| touch.pair == pair).copied();
            let near = find(step.near);
            if let Some(told) = near.or(find(step.touches)) {
                let difference = (told.contact.signed_distance() - apart).abs();
                let allowed = World::REUSE * size + told.contact.bound + contact.bound;
                if told.time == 1.0 && apart.is_finite() && difference > allowed + 1e-8 * size {
                    return Err(format!("{told:?}, {apart} apart for {one:?} {other:?}"));
                }
            }
            let sensor = world.is_sensor(a) || world.is_sensor(b);
            let close = (apart - world.reach()).abs() < 1e-6 * (size + 1.0);
            let expected = allowed && !sensor && apart > limit && apart < world.reach();
            if !continuous
                && !close
                && near.is_some() != expected
                && world.detail() != Detail::Boolean
            {
                return Err(format!("near {near:?} for {one:?} {other:?}, {apart} apart"));
            }
        }
    }
    Ok(())
}
