//! [`Lists`]: the answers of all pairs as lists in the order of pairs, and the events.
//!
//! The answers are in the memories of the pairs. A list holds a copy of the contact of each of its
//! pairs, not of its points. Those of balls are made here, with their points in a list of their
//! own. If all pairs are what they were, only the copies of those that were
//! due are renewed, in place. Otherwise the states are counted and the lists written again, in
//! parts on all workers: each part knows where its own begin.

use super::bodies::Bodies;
use super::id::{BodyId, BodyPair};
use super::pair_test::is_due;
use super::pairs::{PairState, Told, tasks_for};
use super::touch::{Step, Touch};
use crate::narrow::{ManifoldPoint, single};
use crate::par::Workers;
use crate::simd::prefetch::prefetch;

/// What a step has left, by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    touches: Vec<Touch>,
    near: Vec<Touch>,
    overlaps: Vec<BodyPair>,
    /// The points of balls that touch or are near, in the order of pairs; none if no points are
    /// asked for.
    singles: Vec<ManifoldPoint>,
    /// Points were asked for when the lists were written.
    points: bool,
    began: Vec<BodyPair>,
    ended: Vec<BodyPair>,
    pub woken: Vec<BodyId>,
    parts: Vec<Part>,
}

/// What one part of the states adds to the lists, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct Part {
    /// How many touch, are near, and overlap, and points of balls.
    counts: [usize; 4],
    began: Vec<BodyPair>,
    ended: Vec<BodyPair>,
}

/// A part of the states with its own of the lists.
struct Task<'a> {
    states: &'a mut [PairState],
    /// The place of the first state.
    base: usize,
    /// The places of the first of each list.
    firsts: [usize; 4],
    touches: &'a mut [Touch],
    near: &'a mut [Touch],
    overlaps: &'a mut [BodyPair],
    /// Empty if none are asked for.
    singles: &'a mut [ManifoldPoint],
    part: &'a mut Part,
}

impl Lists {
    pub(crate) fn step<'a>(&'a self, states: &'a [PairState]) -> Step<'a> {
        let Lists { touches, near, overlaps, singles, began, ended, woken, .. } = self;
        Step { touches, near, overlaps, began, ended, woken, states, singles }
    }

    /// What a step has left: events, and states that say what they are.
    #[cfg(feature = "serde")]
    pub(crate) fn restored(
        states: &mut [PairState],
        bodies: &Bodies,
        began: Vec<BodyPair>,
        ended: Vec<BodyPair>,
        woken: Vec<BodyId>,
    ) -> Lists {
        let mut lists = Lists::default();
        lists.rebuild(states, bodies, &Workers::one());
        Lists { began, ended, woken, ..lists }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.began.clear();
        self.ended.clear();
        self.woken.clear();
    }

    /// A touching pair whose boxes are apart.
    pub(crate) fn end(&mut self, pair: BodyPair) {
        self.ended.push(pair);
    }

    /// Takes over the answers of this step. `changed`: some pair is not what it was, or pairs came
    /// or went.
    pub(crate) fn merge(
        &mut self,
        states: &mut [PairState],
        changed: bool,
        bodies: &Bodies,
        points: bool,
        workers: &Workers,
    ) {
        if std::mem::replace(&mut self.points, points) != points || changed {
            self.rebuild(states, bodies, workers);
        } else {
            self.renew(states, bodies, workers);
        }
    }

    /// Writes the due touches in their places: those of each part of the states follow each other
    /// in the lists.
    fn renew(&mut self, states: &mut [PairState], bodies: &Bodies, workers: &Workers) {
        let count = tasks_for(states.len(), workers);
        self.parts.resize_with(count.max(self.parts.len()), Part::default);
        let length = states.len().div_ceil(count).max(1);
        if count == 1 {
            self.whole(states).renew(bodies);
        } else {
            self.count(states, length, count, workers);
            let mut tasks = self.tasks(states, length, count);
            workers.for_each(&mut tasks, |_, task| task.renew(bodies));
        }
    }

    fn rebuild(&mut self, states: &mut [PairState], bodies: &Bodies, workers: &Workers) {
        let count = tasks_for(states.len(), workers);
        self.parts.resize_with(count.max(self.parts.len()), Part::default);
        let length = states.len().div_ceil(count).max(1);
        self.count(states, length, count, workers);
        let total = self.parts[..count].iter().fold([0; 4], |sum, part| added(sum, part.counts));
        if let Some(first) = states.first() {
            let some = bodies.pair(first.pair);
            self.touches.resize(total[0], Touch::unwritten(some));
            self.near.resize(total[1], Touch::unwritten(some));
            self.overlaps.resize(total[2], some);
            self.singles.resize(total[3], ManifoldPoint::default());
        } else {
            self.touches.clear();
            self.near.clear();
            self.overlaps.clear();
            self.singles.clear();
        }
        if count == 1 {
            self.whole(states).write(bodies);
        } else {
            let mut tasks = self.tasks(states, length, count);
            workers.for_each(&mut tasks, |_, task| task.write(bodies));
        }
        self.collect_events(count);
    }

    /// Counts what each part has.
    fn count(&mut self, states: &[PairState], length: usize, count: usize, workers: &Workers) {
        let points = self.points;
        workers.for_each(&mut self.parts[..count], |number, part| {
            let from = (number * length).min(states.len());
            let own = &states[from..(from + length).min(states.len())];
            part.counts = [0; 4];
            for state in own {
                match state.now {
                    Told::Touch => part.counts[0] += 1,
                    Told::Near => part.counts[1] += 1,
                    Told::Overlap => part.counts[2] += 1,
                    Told::Nothing => continue,
                }
                part.counts[3] += usize::from(points && state.round);
            }
        });
    }

    /// All states and lists as one part.
    fn whole<'a>(&'a mut self, states: &'a mut [PairState]) -> Task<'a> {
        let Lists { touches, near, overlaps, singles, parts, .. } = self;
        let (part, firsts) = (&mut parts[0], [0; 4]);
        Task { states, base: 0, firsts, touches, near, overlaps, singles, part }
    }

    /// Cuts states and lists into parts.
    fn tasks<'a>(
        &'a mut self,
        states: &'a mut [PairState],
        length: usize,
        count: usize,
    ) -> Vec<Task<'a>> {
        let (mut touches, mut near) = (&mut self.touches[..], &mut self.near[..]);
        let (mut overlaps, mut singles) = (&mut self.overlaps[..], &mut self.singles[..]);
        let (mut tasks, mut firsts) = (Vec::with_capacity(count), [0; 4]);
        let parts = self.parts[..count].iter_mut();
        for (number, (states, part)) in states.chunks_mut(length).zip(parts).enumerate() {
            let [touching, nearby, overlapping, round] = part.counts;
            let (own_touches, later_touches) = touches.split_at_mut(touching);
            let (own_near, later_near) = near.split_at_mut(nearby);
            let (own_overlaps, later_overlaps) = overlaps.split_at_mut(overlapping);
            let (own_singles, later_singles) = singles.split_at_mut(round);
            let next = added(firsts, part.counts);
            tasks.push(Task {
                states,
                base: number * length,
                firsts,
                touches: own_touches,
                near: own_near,
                overlaps: own_overlaps,
                singles: own_singles,
                part,
            });
            (touches, near) = (later_touches, later_near);
            (overlaps, singles, firsts) = (later_overlaps, later_singles, next);
        }
        tasks
    }

    fn collect_events(&mut self, count: usize) {
        for part in &mut self.parts[..count] {
            self.began.append(&mut part.began);
            self.ended.append(&mut part.ended);
        }
        // Two ascending runs: pairs of boxes that are gone, and those that are not.
        self.ended.sort_unstable();
    }
}

fn added(sum: [usize; 4], more: [usize; 4]) -> [usize; 4] {
    std::array::from_fn(|k| sum[k] + more[k])
}

/// Makes the answer of two balls in its place, and their point if it is wanted.
#[inline]
fn write_balls(
    place: &mut Touch,
    state: &PairState,
    bodies: &Bodies,
    points: &mut [ManifoldPoint],
) {
    let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| &bodies.rounds[slot.index()]);
    let contact = a.contact(b);
    (place.time, place.contact) = (1.0, contact);
    if let Some(point) = points.first_mut() {
        *point = single(&contact, 0, [0; 2]);
    }
}

/// Copies the answer of a pair into its place.
#[inline]
fn write(place: &mut Touch, state: &PairState) {
    if let Some(memory) = &state.memory {
        (place.time, place.contact) = (memory.time, memory.contact);
    }
}

/// How many states ahead a memory is asked for: they are all over the heap.
const AHEAD: usize = 12;

/// Asks for the answer that will soon be copied.
#[inline]
fn ask_ahead(states: &[PairState], number: usize) {
    if let Some(later) = states.get(number + AHEAD)
        && later.now != Told::Nothing
        && !later.round
        && let Some(memory) = &later.memory
    {
        prefetch(std::slice::from_ref(&memory.contact));
    }
}

impl Task<'_> {
    /// Copies the due answers into their places.
    fn renew(&mut self, bodies: &Bodies) {
        for (number, state) in self.states.iter().enumerate() {
            ask_ahead(self.states, number);
            let (list, first) = match state.told {
                Told::Touch => (&mut self.touches, self.firsts[0]),
                Told::Near => (&mut self.near, self.firsts[1]),
                Told::Nothing | Told::Overlap => continue,
            };
            if is_due(bodies, state) {
                let place = &mut list[state.place as usize - first];
                if state.round {
                    let point = place.point as usize - self.firsts[3];
                    let points = self.singles.get_mut(point..).unwrap_or_default();
                    write_balls(place, state, bodies, points);
                } else {
                    write(place, state);
                }
            }
        }
    }

    fn write(&mut self, bodies: &Bodies) {
        let mut counts = [0; 4];
        for number in 0..self.states.len() {
            ask_ahead(self.states, number);
            let state = &mut self.states[number];
            let now = state.now;
            if now == Told::Nothing && state.told == Told::Nothing {
                continue;
            }
            let pair = bodies.pair(state.pair);
            let list = match now {
                Told::Touch => Some((0, &mut self.touches)),
                Told::Near => Some((1, &mut self.near)),
                Told::Overlap => {
                    self.overlaps[counts[2]] = pair;
                    counts[2] += 1;
                    None
                }
                Told::Nothing => None,
            };
            if let Some((kind, list)) = list {
                let place = &mut list[counts[kind]];
                (place.pair, place.state) = (pair, (self.base + number) as u32);
                if state.round {
                    place.point = (self.firsts[3] + counts[3]) as u32;
                    let points = self.singles.get_mut(counts[3]..).unwrap_or_default();
                    write_balls(place, state, bodies, points);
                    counts[3] += 1;
                } else {
                    write(place, state);
                }
                state.place = (self.firsts[kind] + counts[kind]) as u32;
                counts[kind] += 1;
            }
            match (state.told.touches(), now.touches()) {
                (false, true) => self.part.began.push(pair),
                (true, false) => self.part.ended.push(pair),
                _ => {}
            }
            state.told = now;
        }
    }
}
