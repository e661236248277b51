//! [`WorldSnapshot`]: a world as data (`serde`).
//!
//! Everything that decides later answers is in it, apart from one thing: the memories of pairs
//! ([`PairCache`](crate::narrow::PairCache)). They are large, they are worth nothing after a few
//! steps, and they decide only the last bits of an answer. Instead of writing them,
//! [`World::snapshot`] empties them in the live world too, so that both start cold and continue
//! with the same bytes.
//!
//! A snapshot is foreign data. Its parts check themselves when they are read (boxes, shapes, poses,
//! pairs), and [`World::restore`] checks that the parts fit each other. What follows from other
//! parts is not written and cannot be wrong: which bodies a touch names, where its points begin,
//! the ids of removed bodies.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::bodies::{Active, Bodies, Kind};
use super::bounds::Frame;
use super::id::{BodyId, BodyPair};
use super::merge::Lists;
use super::pairs::{PairState, PairStates, Told};
use super::touch::{Step, Touch};
use super::{Detail, Schedule, World};
use crate::boxes::Boxes;
use crate::broad::Algorithm;
use crate::detector::Detector;
use crate::error::Error;
use crate::id::Slot;
use crate::narrow::{Contact, Ending, ManifoldPoint, Status};
use crate::pair::Pair;
use crate::par::Workers;
use crate::shape::{Pose, Shape};

/// A [`World`] as data that can be written and read: what [`World::snapshot`] gives and
/// [`World::restore`] takes.
///
/// What comes back has the same bits if the format keeps those of `f64` (serde_json does with its
/// feature `float_roundtrip`). A hull or compound that bodies share is written once for each body.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldSnapshot {
    boxes: Boxes,
    /// Of every slot that holds a body, ascending.
    bodies: Vec<BodyRecord>,
    /// After the last step, ascending.
    pairs: Vec<PairRecord>,
    /// The events of the last step, ascending.
    began: Vec<[BodyId; 2]>,
    ended: Vec<[BodyId; 2]>,
    woken: Vec<BodyId>,
    origin: DVec3,
    flat: bool,
    reach: f64,
    reuse: f64,
    /// The origin has changed: the next step computes all boxes again.
    renews_all: bool,
    continuous: bool,
    detail: Detail,
    schedule: Schedule,
    pair_limit: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyRecord {
    slot: Slot,
    shape: Shape,
    pose: Pose,
    /// Where the last step left it, if that is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<Pose>,
    /// Its box and its answers are computed again in the next step.
    #[serde(default)]
    moved: bool,
    /// So that nothing known of it holds.
    #[serde(default)]
    changed: bool,
    #[serde(default)]
    sensor: bool,
    #[serde(default)]
    continuous: bool,
    #[serde(default)]
    asleep: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairRecord {
    pair: Pair,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    touch: Option<TouchRecord>,
    /// They touch, and nothing more is known than whether they did so at the end of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overlaps: Option<bool>,
}

/// An answer of the last step. Numbers are bit patterns: depths may be infinite, which text formats
/// lose.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TouchRecord {
    /// They are apart, by no more than the reach.
    #[serde(default)]
    near: bool,
    /// They touched at the end of the step, rather than on their way.
    rests: bool,
    time: f64,
    status: Status,
    ending: Ending,
    /// Distance, depth, normal, the two points, bound.
    bits: [u64; 12],
    /// The two points, normal, separation, id and pieces of each.
    points: Vec<[u64; 12]>,
    /// Of each point, or none.
    #[serde(default)]
    impulses: Vec<[u64; 3]>,
}

impl TouchRecord {
    fn new(state: &PairState, touch: &Touch, step: &Step<'_>) -> TouchRecord {
        let Contact { distance, depth, normal, point_a, point_b, bound, status, ending } =
            touch.contact;
        let [n, a, b] = [normal, point_a, point_b];
        let numbers = [distance, depth, n.x, n.y, n.z, a.x, a.y, a.z, b.x, b.y, b.z, bound];
        let points = step.points(touch).iter().map(|point| {
            let ManifoldPoint { point_a: a, point_b: b, normal: n, separation, id, pieces } =
                *point;
            let pieces = u64::from(pieces[0]) << 32 | u64::from(pieces[1]);
            let [ax, ay, az, bx, by, bz, nx, ny, nz, separation] =
                [a.x, a.y, a.z, b.x, b.y, b.z, n.x, n.y, n.z, separation].map(f64::to_bits);
            [ax, ay, az, bx, by, bz, nx, ny, nz, separation, id, pieces]
        });
        TouchRecord {
            near: state.told == Told::Near,
            rests: state.rests,
            time: touch.time,
            status,
            ending,
            bits: numbers.map(f64::to_bits),
            points: points.collect(),
            impulses: step.impulses(touch).iter().map(|three| three.map(f64::to_bits)).collect(),
        }
    }

    fn contact(&self) -> Contact {
        let [distance, depth, nx, ny, nz, ax, ay, az, bx, by, bz, bound] =
            self.bits.map(f64::from_bits);
        Contact {
            distance,
            depth,
            normal: DVec3::new(nx, ny, nz),
            point_a: DVec3::new(ax, ay, az),
            point_b: DVec3::new(bx, by, bz),
            bound,
            status: self.status,
            ending: self.ending,
        }
    }

    fn points(&self) -> Vec<ManifoldPoint> {
        let point = |bits: &[u64; 12]| {
            let [ax, ay, az, bx, by, bz, nx, ny, nz, separation, ..] = bits.map(f64::from_bits);
            let (point_a, point_b) = (DVec3::new(ax, ay, az), DVec3::new(bx, by, bz));
            let normal = DVec3::new(nx, ny, nz);
            let pieces = [(bits[11] >> 32) as u32, bits[11] as u32];
            ManifoldPoint { point_a, point_b, normal, separation, id: bits[10], pieces }
        };
        self.points.iter().map(point).collect()
    }
}

/// Snapshots (feature `serde`).
impl World {
    /// The world as data: bodies with their ids, filters and user data, poses and where the last
    /// step left them, pending changes, settings, pairs, touches with their points, and the events
    /// of the last step. [`WorldStats`](super::WorldStats) are not part of it, nor are the
    /// algorithm and the workers.
    ///
    /// This **empties the memories of all pairs**, as they are not written: the next step of this
    /// world and of the restored one then start from the same and continue with the same bytes.
    /// It costs one step of cold queries for pairs that move, and the last bits of later contacts
    /// may differ from those of a world of which no snapshot was taken. For rollback within one
    /// program a clone costs nothing of that.
    ///
    /// ```
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::world::WorldSnapshot;
    /// use jostle::{Algorithm, Body, Workers, World};
    ///
    /// let mut world = World::default();
    /// let cube = || Shape::cuboid([1.0; 3].into());
    /// world.insert(Body::new(cube()?, Pose::IDENTITY))?;
    /// let id = world.insert(Body::new(cube()?, Pose::at([1.5, 0.0, 0.0])?))?;
    /// world.step()?;
    /// let text = serde_json::to_string(&world.snapshot()).unwrap();
    ///
    /// let read: WorldSnapshot = serde_json::from_str(&text).unwrap();
    /// let mut restored = World::restore(Algorithm::Sap, Workers::one(), read)?;
    /// assert_eq!(restored.last_step(), world.last_step());
    /// for world in [&mut world, &mut restored] {
    ///     world.set_pose(id, Pose::at([0.0, 1.25, 0.5])?)?;
    ///     world.step()?;
    /// }
    /// assert_eq!(restored.last_step(), world.last_step());
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn snapshot(&mut self) -> WorldSnapshot {
        self.pairs.forget_memories();
        let step = self.last_step();
        let boxes = self.detector.boxes();
        let bodies = &self.bodies;
        let body = |slot: Slot| {
            let k = slot.index();
            let (pose, start) = (bodies.poses[k], bodies.starts[k]);
            let start = (start != pose).then_some(start);
            let shape = bodies.shapes[k].clone();
            let Kind { sensor, continuous, asleep } = bodies.kinds[k];
            let moved = bodies.active[k] != Active::No;
            let changed = bodies.active[k] == Active::Changed;
            BodyRecord { slot, shape, pose, start, moved, changed, sensor, continuous, asleep }
        };
        let pairs = self.pairs.states.iter().map(|state| {
            let list = match state.told {
                Told::Touch => step.touches,
                Told::Near => step.near,
                Told::Nothing | Told::Overlap => &[],
            };
            let touch = list.get(state.place as usize);
            PairRecord {
                pair: state.pair,
                touch: touch.map(|touch| TouchRecord::new(state, touch, &step)),
                overlaps: (state.told == Told::Overlap).then_some(state.rests),
            }
        });
        let ids = |pair: &BodyPair| [pair.a(), pair.b()];
        WorldSnapshot {
            bodies: boxes.live_slots().map(body).collect(),
            pairs: pairs.collect(),
            boxes: boxes.clone(),
            began: step.began.iter().map(ids).collect(),
            ended: step.ended.iter().map(ids).collect(),
            woken: step.woken.to_vec(),
            reach: bodies.frame().reach,
            reuse: self.reuse,
            origin: bodies.frame().origin,
            flat: bodies.frame().flat,
            renews_all: bodies.renews_all(),
            continuous: self.continuous,
            detail: self.detail,
            schedule: self.schedule,
            pair_limit: self.detector.pair_limit() as u64,
        }
    }

    /// Continues from a snapshot, whatever the algorithm and the number of workers. See
    /// [`World::snapshot`].
    ///
    /// A snapshot is foreign data: one whose parts do not fit each other is refused with what is
    /// wrong. A body whose box is not that of its shape and pose counts as moved, so that the next
    /// step puts it right; the answers of the last step are taken as they are.
    pub fn restore(
        algorithm: Algorithm,
        workers: Workers,
        snapshot: WorldSnapshot,
    ) -> Result<World, Error> {
        let origin = Pose::at(snapshot.origin)?.translation();
        let (flat, reach) = (snapshot.flat, snapshot.reach);
        check_setting("reach", reach)?;
        check_setting("reuse", snapshot.reuse)?;
        let frame = Frame { origin, flat, reach };
        let bodies = restored_bodies(&snapshot.boxes, snapshot.bodies, frame, snapshot.renews_all)?;
        check_pairs(&snapshot.boxes, &snapshot.pairs)?;
        let mut pairs = restored_pairs(&bodies, &snapshot.pairs)?;
        let began = restored_events("began", &snapshot.boxes, &snapshot.began)?;
        let ended = restored_events("ended", &snapshot.boxes, &snapshot.ended)?;
        let woken = restored_woken(&snapshot.boxes, snapshot.woken)?;
        let touching = |pair: &BodyPair| {
            let states = &pairs.states;
            let place = states.binary_search_by_key(pair, |state| bodies.pair(state.pair));
            place.is_ok_and(|place| states[place].told.touches())
        };
        if let Some(pair) = began.iter().find(|pair| !touching(pair)) {
            return refused(format!("pair {pair} began but does not touch"));
        }
        if let Some(pair) = ended.iter().find(|pair| touching(pair)) {
            return refused(format!("pair {pair} ended but touches"));
        }
        let known: Vec<Pair> = snapshot.pairs.iter().map(|record| record.pair).collect();
        let mut world = World::with_workers(algorithm, workers.clone());
        world.detector = Detector::restore(algorithm, workers, snapshot.boxes, &known)?;
        world.set_pair_limit(usize::try_from(snapshot.pair_limit).unwrap_or(usize::MAX));
        world.lists = Lists::restored(&mut pairs.states, &bodies, began, ended, woken);
        world.bodies = bodies;
        world.pairs = pairs;
        world.reuse = snapshot.reuse;
        world.detail = snapshot.detail;
        world.schedule = snapshot.schedule;
        world.continuous = snapshot.continuous;
        Ok(world)
    }
}

fn refused<T>(why: String) -> Result<T, Error> {
    Err(Error::Snapshot(why))
}

/// Bodies in exactly the slots that hold a box.
fn restored_bodies(
    boxes: &Boxes,
    records: Vec<BodyRecord>,
    frame: Frame,
    all: bool,
) -> Result<Bodies, Error> {
    let mut bodies = Bodies::restored(boxes, frame, all);
    let mut slots = boxes.live_slots();
    for record in records {
        let BodyRecord { slot, shape, pose, start, moved, changed, sensor, continuous, asleep } =
            record;
        match slots.next() {
            Some(expected) if expected == slot => {}
            Some(expected) => {
                let why =
                    format!("the body of slot {expected} is missing, that of {slot} is given");
                return refused(why);
            }
            None => return refused(format!("there is no box for the body in slot {slot}")),
        }
        let kind = Kind { sensor, continuous, asleep };
        let active = match (changed, moved) {
            (true, _) => Active::Changed,
            (false, true) => Active::Moved,
            (false, false) => Active::No,
        };
        bodies.restore(boxes, slot, (shape, pose, kind), start.unwrap_or(pose), active);
    }
    match slots.next() {
        Some(slot) => refused(format!("the body of slot {slot} is missing")),
        None => Ok(bodies),
    }
}

/// Fails at the first pair that the last step cannot have left.
fn check_pairs(boxes: &Boxes, records: &[PairRecord]) -> Result<(), Error> {
    let wrong = |pair: Pair, why: &str| refused(format!("pair {pair}: {why}"));
    let changes = boxes.changes();
    let (mut changed, mut fresh) = (vec![false; boxes.slots()], vec![false; boxes.slots()]);
    for slot in changes.moved().iter().chain(changes.removed()) {
        changed[slot.index()] = true;
    }
    changes.inserted().iter().for_each(|slot| fresh[slot.index()] = true);
    let mut last = None;
    for &PairRecord { pair, .. } in records {
        if last.replace(pair).is_some_and(|last| last >= pair) {
            return wrong(pair, "listed twice or not in ascending order");
        }
        let both = [pair.a(), pair.b()];
        if let Some(slot) = both.into_iter().find(|&slot| !boxes.may_have_pairs(slot)) {
            return wrong(pair, &format!("there is no box in slot {slot}"));
        }
        if both.into_iter().any(|slot| fresh[slot.index()]) {
            return wrong(pair, "one of the boxes came after the last step");
        }
        let unchanged = both.into_iter().all(|slot| !changed[slot.index()]);
        if unchanged && !boxes.may_report(pair) {
            return wrong(pair, "the boxes do not overlap or may not pair");
        }
    }
    Ok(())
}

fn check_setting(name: &str, value: f64) -> Result<(), Error> {
    if (0.0..=crate::shape::LIMIT).contains(&value) {
        return Ok(());
    }
    refused(format!("{name} is {value}, not a length of 0 or more"))
}

fn restored_pairs(bodies: &Bodies, records: &[PairRecord]) -> Result<PairStates, Error> {
    let mut pairs = PairStates::default();
    for record in records {
        let mut state = PairState::new(record.pair);
        if let Some(told) = &record.touch {
            restore_touch(&mut state, told)?;
        } else if let Some(rests) = record.overlaps {
            (state.told, state.rests) = (Told::Overlap, rests);
        }
        state.now = state.told;
        pairs.restore(state, &bodies.shapes);
    }
    Ok(pairs)
}

fn restore_touch(state: &mut PairState, told: &TouchRecord) -> Result<(), Error> {
    let pair = state.pair;
    if !(0.0..=1.0).contains(&told.time) {
        return refused(format!("pair {pair}: it touches at {}, not from 0 to 1", told.time));
    }
    let points = told.points();
    if points.chunk_by(|p, q| p.pieces == q.pieces).any(|manifold| manifold.len() > 4) {
        let count = points.len();
        return refused(format!("pair {pair}: {count} contact points, at most 4 of two pieces"));
    }
    if !told.impulses.is_empty() && told.impulses.len() != points.len() {
        let (count, points) = (told.impulses.len(), points.len());
        return refused(format!("pair {pair}: {count} impulses for {points} contact points"));
    }
    state.told = if told.near { Told::Near } else { Told::Touch };
    state.rests = told.rests;
    let memory = state.memory();
    (memory.contact, memory.time) = (told.contact(), told.time);
    memory.points.set(&points);
    memory.impulses = told.impulses.iter().map(|three| three.map(f64::from_bits)).collect();
    Ok(())
}

fn restored_woken(boxes: &Boxes, woken: Vec<BodyId>) -> Result<Vec<BodyId>, Error> {
    match woken.iter().find(|id| id.index() >= boxes.slots()) {
        Some(id) => refused(format!("body {id} woke up, and there is no such body")),
        None => Ok(woken),
    }
}

fn restored_events(
    which: &str,
    boxes: &Boxes,
    events: &[[BodyId; 2]],
) -> Result<Vec<BodyPair>, Error> {
    let mut pairs: Vec<BodyPair> = Vec::with_capacity(events.len());
    for &[a, b] in events {
        if a.slot() >= b.slot() || b.index() >= boxes.slots() {
            return refused(format!("{which} pair {a}-{b} names no two bodies in order"));
        }
        let pair = BodyPair::new(a, b);
        if pairs.last().is_some_and(|last| *last >= pair) {
            return refused(format!("{which} pair {pair} is listed twice or not in order"));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}
