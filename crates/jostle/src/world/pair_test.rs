//! [`PairTest`]: the narrow phase on one pair.

use super::bodies::{Active, Bodies};
use super::pairs::{PairMemory, PairState, Told, remembers};
use super::results::WorkerResults;
use super::reuse::{Anchor, still_holds};
use super::screen::Decision;
use super::sweep::SPAN;
use crate::narrow::{
    Contact, IMPACT_GAP, Impact, ImpactStatus, ManifoldPoint, Options, PairCache, Placed, Points,
    Query, Status, TOUCH, size_of,
};
use crate::shape::Shape;
use crate::simd::prefetch::prefetch;
use glam::DVec3;
use std::slice::from_ref;

/// What is found out about pairs that touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Detail {
    /// That they do, by ISA-GJK: pairs are listed in [`Step::overlaps`](super::Step::overlaps).
    Boolean,
    /// Depth, normal and a point on either body.
    #[default]
    Contact,
    /// A contact manifold of up to four points as well.
    Manifold,
    /// The same, with up to four points for each two pieces of compounds.
    Pieces,
}

impl Detail {
    /// Which points are wanted, if any.
    pub(super) fn points(self) -> Option<Points> {
        match self {
            Detail::Boolean | Detail::Contact => None,
            Detail::Manifold => Some(Points::OfPair),
            Detail::Pieces => Some(Points::OfPieces),
        }
    }
}

/// Shapes whose time of impact is not found within the step limit touch if they are this near at
/// the end of the search, relative to their size.
const NEARLY: f64 = 1e-6;

/// By how much more than nothing a remembered gap must be proven, relative to the size of the pair:
/// far above what rounding does to a distance.
const DOUBT: f64 = 10.0 * TOUCH;

/// What all pairs of a step share.
pub(super) struct PairTest<'a> {
    pub bodies: &'a Bodies,
    pub detail: Detail,
    pub continuous: bool,
    /// Two balls are answered by their closed form.
    pub balls: bool,
    pub options: Options,
    /// Pairs up to this far apart are told.
    pub reach: f64,
    /// Share of its size by which a pair may move and keep its answer.
    pub reuse: f64,
    /// What a screen has decided, by place of the pair; may be empty.
    pub decisions: &'a [Decision],
}

/// Returns true if a pair has to be tested again.
#[inline]
pub(super) fn is_due(bodies: &Bodies, state: &PairState) -> bool {
    let (a, b) = (state.pair.a().index(), state.pair.b().index());
    state.fresh | (bodies.active[a] != Active::No) | (bodies.active[b] != Active::No)
}

impl PairTest<'_> {
    pub(crate) fn is_due(&self, state: &PairState) -> bool {
        is_due(self.bodies, state)
    }

    pub(crate) fn shapes(&self, state: &PairState) -> (&Shape, &Shape) {
        let shapes = &self.bodies.shapes;
        (&shapes[state.pair.a().index()], &shapes[state.pair.b().index()])
    }

    /// Asks for what an answer will read first.
    #[inline]
    pub(crate) fn ask_for_memory(&self, state: &PairState) {
        for slot in [state.pair.a(), state.pair.b()] {
            if state.round {
                prefetch(from_ref(&self.bodies.rounds[slot.index()]));
                continue;
            }
            prefetch(from_ref(&self.bodies.poses[slot.index()]));
            prefetch(from_ref(&self.bodies.shapes[slot.index()]));
        }
        if let Some(memory) = &state.memory {
            prefetch(from_ref(&**memory));
        }
    }

    /// Asks for what the pair's memory points to, once that is there.
    #[inline]
    pub(crate) fn ask_for_more(&self, state: &PairState) {
        if let Some(warm) = state.memory.as_ref().and_then(|memory| memory.warm.as_ref()) {
            prefetch(from_ref(&**warm));
        }
    }

    fn placed(&self, state: &PairState) -> [Placed<'_>; 2] {
        [state.pair.a(), state.pair.b()].map(|slot| self.bodies.placed(slot.index()))
    }

    /// Tests one pair, and leaves the answer in its memory and what it is in the state.
    pub(crate) fn answer(&self, state: &mut PairState, own: &mut WorkerResults) {
        own.stats.pairs += 1;
        let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| slot.index());
        let Bodies { kinds, rounds, .. } = self.bodies;
        if self.balls
            && !(kinds[a].continuous | kinds[b].continuous)
            && let Some(status) = rounds[a].status(&rounds[b], self.reach)
        {
            return self.answer_balls(state, status, own);
        }
        if state.round {
            leave_round(state, own);
        }
        let plain = self.detail == Detail::Boolean || kinds[a].sensor || kinds[b].sensor;
        let sweeps = self.continuous || kinds[a].continuous || kinds[b].continuous;
        // What is near may meet on its way, however near it is to where it was.
        let may_hold = self.reuse > 0.0 && (state.rests || !sweeps);
        if may_hold && still_holds(self.bodies, state) {
            own.stats.reused += 1;
            return;
        }
        let was_apart = !state.rests;
        let now = if self.decisions.get(state.index as usize) == Some(&Decision::Apart) {
            state.memory.iter_mut().for_each(|memory| memory.weigh_anchor());
            Told::Nothing
        } else if plain {
            self.overlap(state, own)
        } else {
            self.contact_now(state, own)
        };
        state.rests = now.touches();
        state.now = now;
        if sweeps && was_apart && self.meets(state, own) {
            state.now = if plain { Told::Overlap } else { Told::Touch };
        }
        own.changed |= state.now != state.told;
        if let (Told::Nothing, Some(memory)) = (state.now, &mut state.memory) {
            memory.impulses.clear();
        }
    }

    /// Two balls: whether they touch is all that is found here. Their contact is a few numbers of
    /// the same closed form, found where it is written into the lists: what two balls would
    /// remember is larger than all that it is made of. With it the narrow phase took 3.5 ms where
    /// it takes 1.9, and writing the lists no less (the scene `balls` of `jostle bench --world`,
    /// one thread).
    fn answer_balls(&self, state: &mut PairState, status: Option<Status>, own: &mut WorkerResults) {
        let now = match status {
            None => Told::Nothing,
            Some(Status::Separated) => Told::Near,
            Some(_) => Told::Touch,
        };
        if !state.round {
            self.enter_round(state, own);
        }
        state.rests = now.touches();
        state.now = now;
        own.changed |= now != state.told;
        let no_point = now == Told::Nothing || self.detail.points().is_none();
        if let (true, Some(memory)) = (no_point, &mut state.memory) {
            memory.impulses.clear();
        }
    }

    /// A pair becomes one of balls; its memory holds no more than impulses.
    #[cold]
    fn enter_round(&self, state: &mut PairState, own: &mut WorkerResults) {
        state.round = true;
        own.changed = true;
        if let Some(memory) = state.memory.as_deref_mut() {
            let points = if self.detail.points().is_some() { &[POINT_OF_BALLS][..] } else { &[] };
            carry_impulses(memory, points, &mut own.impulses);
            memory.points.set(&[]);
            memory.weigh_anchor();
        }
    }

    /// Writes an answer into the memory of a pair.
    #[inline]
    fn remember<'m>(
        &self,
        state: &'m mut PairState,
        contact: Contact,
        points: &[ManifoldPoint],
        own: &mut WorkerResults,
    ) -> &'m mut PairMemory {
        let memory = state.memory();
        if !memory.impulses.is_empty() {
            carry_impulses(memory, points, &mut own.impulses);
        }
        (memory.contact, memory.time) = (contact, 1.0);
        memory.points.set(points);
        memory.weigh_anchor();
        memory
    }

    /// Whether the bodies touch where they are, and no more than that.
    fn overlap(&self, state: &mut PairState, own: &mut WorkerResults) -> Told {
        let [a, b] = self.placed(state);
        let mut none = PairCache::none();
        let cache = match remembers(a.shape, b.shape) {
            true => {
                let warm = state.warm();
                warm.anchor = None;
                &mut warm.cache
            }
            false => &mut none,
        };
        let hit = own.query.intersects(&a, &b, cache).hit;
        if let Some(memory) = state.memory.as_deref_mut() {
            memory.points.set(&[]);
            memory.impulses.clear();
        }
        if hit { Told::Overlap } else { Told::Nothing }
    }

    /// The contact where the bodies are now. It depends on nothing but where they are and, if they
    /// touched in the last step, on the memory of that: a screen may have answered all before.
    fn contact_now(&self, state: &mut PairState, own: &mut WorkerResults) -> Told {
        let [a, b] = self.placed(state);
        let remembers = remembers(a.shape, b.shape);
        if remembers && !state.rests && !state.fresh && self.reach == 0.0 {
            // The memory of bodies that were apart may prove that they are, and no more.
            let doubt = DOUBT * size_of(a.shape, b.shape);
            let cache = &mut state.warm().cache;
            if own.query.contact_within(&a, &b, doubt, cache).is_none() {
                state.memory().weigh_anchor();
                return Told::Nothing;
            }
            state.warm().cache.clear();
        }
        let mut none = PairCache::none();
        let cache = if remembers { &mut state.warm().cache } else { &mut none };
        own.points.clear();
        let (query, points) = (&mut own.query, &mut own.points);
        let found = find(query, self.detail, &a, &b, self.reach, cache, points);
        let Some(contact) = found else {
            state.memory.iter_mut().for_each(|memory| memory.weigh_anchor());
            return Told::Nothing;
        };
        let apart = contact.status == Status::Separated;
        let told = if apart { Told::Near } else { Told::Touch };
        let points = std::mem::take(&mut own.points);
        let memory = self.remember(state, contact, &points, own);
        own.points = points;
        if let Some(warm) = memory.warm.as_deref_mut().filter(|_| self.reuse > 0.0 && remembers) {
            warm.anchor = Anchor::new(a, b, &contact, told, self.reuse, self.reach);
        }
        told
    }

    /// Returns true if bodies that were apart met on their way, and writes when and how into the
    /// memory, in place of where they are now.
    fn meets(&self, state: &mut PairState, own: &mut WorkerResults) -> bool {
        let [a, b] = [state.pair.a(), state.pair.b()]
            .map(|slot| self.bodies.sweep(slot.index(), self.continuous));
        if a.motion() == b.motion() && !a.turns() {
            return false;
        }
        let touches_now = state.now.touches();
        let (shape_a, shape_b) = self.shapes(state);
        own.impact.clear();
        let (moving_a, moving_b) = (a.moving(shape_a), b.moving(shape_b));
        let Impact { time, status, contact, .. } =
            own.query.time_of_impact(&moving_a, &moving_b, SPAN, &mut own.impact);
        let turns = a.turns() || b.turns();
        let closes = turns || (a.linear - b.linear).dot(contact.normal) > 0.0;
        let meets = match status {
            ImpactStatus::Hit => true,
            // A step turns bodies by half a turn at most, and thousands of measurements with gaps
            // beyond this lead through it: what is left passes nearer, and touches as far as can
            // be told.
            ImpactStatus::StepLimit => contact.distance <= NEARLY * size_of(shape_a, shape_b),
            // So near at the start that the search cannot tell it from a touch: what closes in,
            // meets.
            ImpactStatus::AtStart => !touches_now && closes,
            ImpactStatus::Miss => false,
        };
        if meets {
            let reach = contact.distance + IMPACT_GAP * contact.distance;
            let (at_a, at_b) = (moving_a.at(time), moving_b.at(time));
            let memory = state.memory();
            memory.weigh_anchor();
            own.points.clear();
            if let Some(which) = self.detail.points() {
                let (none, points) = (&mut PairCache::none(), &mut own.points);
                own.query.gather(&at_a, &at_b, reach, none, which, points);
            }
            memory.points.set(&own.points);
            memory.impulses.clear();
            (memory.contact, memory.time) = (contact, (time / SPAN).min(1.0));
        }
        meets
    }
}

/// What impulses know of the point of two balls.
const POINT_OF_BALLS: ManifoldPoint = ManifoldPoint {
    point_a: DVec3::ZERO,
    point_b: DVec3::ZERO,
    normal: DVec3::ZERO,
    separation: 0.0,
    id: 0,
    pieces: [0; 2],
};

/// A pair is one of balls no longer; impulses stay with the point.
#[cold]
fn leave_round(state: &mut PairState, own: &mut WorkerResults) {
    state.round = false;
    own.changed = true;
    if let Some(memory) = state.memory.as_deref_mut() {
        let count = memory.impulses.len().min(1);
        memory.points.set(&[POINT_OF_BALLS][..count]);
    }
}

/// The contact of a pair, and its points if they are wanted.
fn find(
    query: &mut Query,
    detail: Detail,
    a: &Placed<'_>,
    b: &Placed<'_>,
    reach: f64,
    cache: &mut PairCache,
    points: &mut Vec<ManifoldPoint>,
) -> Option<Contact> {
    match detail.points() {
        Some(which) => query.gather(a, b, reach, cache, which, points),
        None => query.contact_within(a, b, reach, cache),
    }
}

/// Gives the new points the impulses that the same points had in the last step, and others none.
fn carry_impulses(memory: &mut PairMemory, points: &[ManifoldPoint], scratch: &mut Vec<[f64; 3]>) {
    std::mem::swap(&mut memory.impulses, scratch);
    memory.impulses.clear();
    let last = memory.points.as_slice();
    for point in points {
        let same = |old: &ManifoldPoint| (old.id, old.pieces) == (point.id, point.pieces);
        let place = last.iter().position(same);
        let impulse = place.and_then(|place| scratch.get(place)).copied();
        memory.impulses.push(impulse.unwrap_or_default());
    }
}
