//! [`PairStates`]: what is known of each pair of boxes while they overlap.
//!
//! The states stand in the order of the pairs. A state is 32 bytes and points to the pair's memory,
//! so that keeping the order is cheap; memories of ended pairs are reused for new ones. The memory
//! holds the pair's answer with all its contact points, which stay where the narrow phase wrote
//! them: lists of touches refer to states. Pairs of balls have none: their answers are found again
//! where they are wanted, which costs less than keeping them.
//!
//! The broad phase tells what began and what ended; everything between two events is moved as it
//! is, in parts on all workers. Where no pair came or went, nothing is done.

use super::points::PointList;
use super::reuse::Anchor;
use crate::events::Events;
use crate::narrow::{Contact, PairCache};
use crate::pair::Pair;
use crate::par::Workers;
use crate::shape::Shape;

/// What a step says about a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Told {
    /// It is apart.
    #[default]
    Nothing,
    /// It is apart by no more than the reach.
    Near,
    /// It touches.
    Touch,
    /// It touches, and nobody wants to know more.
    Overlap,
}

impl Told {
    /// Returns true if the bodies touch.
    pub(crate) fn touches(self) -> bool {
        matches!(self, Told::Touch | Told::Overlap)
    }
}

/// One pair of overlapping boxes.
#[derive(Clone, Debug)]
pub(super) struct PairState {
    pub pair: Pair,
    pub memory: Option<Box<PairMemory>>,
    /// Its place among the pairs.
    pub index: u32,
    /// Its place in the list of what it is.
    pub place: u32,
    /// What the last step said.
    pub told: Told,
    /// What this step says.
    pub now: Told,
    /// The bodies touched at the end of the last step, rather than on their way.
    pub rests: bool,
    /// The boxes began to overlap in this step.
    pub fresh: bool,
    /// Two balls: the answer is not in the memory but follows from where they are.
    pub round: bool,
    /// What the shapes were when the boxes began to overlap: pairs of one kind are tested one after
    /// the other.
    pub kind: u16,
}

impl Default for PairState {
    /// What stands in a place until a state comes there.
    fn default() -> PairState {
        PairState::new(Pair::from((0, 1)))
    }
}

impl PairState {
    /// A pair of which nothing is known.
    pub(crate) fn new(pair: Pair) -> PairState {
        PairState {
            pair,
            memory: None,
            index: 0,
            place: 0,
            told: Told::Nothing,
            now: Told::Nothing,
            rests: false,
            fresh: false,
            round: false,
            kind: 0,
        }
    }

    /// The pair's memory, made if it is missing.
    pub(crate) fn memory(&mut self) -> &mut PairMemory {
        self.memory.get_or_insert_default()
    }

    /// The memory of a pair whose answers are worth keeping warm.
    pub(crate) fn warm(&mut self) -> &mut Warm {
        self.memory().warm.get_or_insert_default()
    }
}

/// What a pair remembers: its last answer, and what makes the next one cheap. Balls need no more
/// than the answer, and they are many, so that the rest is elsewhere.
#[derive(Clone, Debug)]
pub(super) struct PairMemory {
    pub contact: Contact,
    pub time: f64,
    pub points: PointList,
    /// Of each point, once a solver has written some.
    pub impulses: Vec<[f64; 3]>,
    pub warm: Option<Box<Warm>>,
}

/// What makes the next answer cheap.
#[derive(Clone, Debug, Default)]
pub(super) struct Warm {
    pub cache: PairCache,
    /// What the answer was found for, if it may be used again.
    pub anchor: Option<Anchor>,
}

impl Default for PairMemory {
    fn default() -> PairMemory {
        PairMemory {
            contact: Contact::NONE,
            time: 1.0,
            points: PointList::default(),
            impulses: Vec::new(),
            warm: None,
        }
    }
}

impl PairMemory {
    /// Forgets everything, but keeps its room.
    fn clear(&mut self) {
        self.points.set(&[]);
        self.impulses.clear();
        if let Some(warm) = &mut self.warm {
            warm.cache.clear();
            warm.anchor = None;
        }
    }

    /// The next answer is not the last one.
    pub(crate) fn weigh_anchor(&mut self) {
        if let Some(warm) = &mut self.warm {
            warm.anchor = None;
        }
    }
}

/// What one part of the states adds to a step's changes.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Places of new pairs.
    fresh: Vec<u32>,
    /// Pairs that are gone and touched, and whose memories are free.
    ended: Vec<Pair>,
    // Boxed, because that is how they go into states.
    #[expect(clippy::vec_box)]
    spare: Vec<Box<PairMemory>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PairStates {
    pub states: Vec<PairState>,
    next: Vec<PairState>,
    parts: Vec<Part>,
    /// Places of states that are fresh.
    fresh: Vec<u32>,
    #[expect(clippy::vec_box)]
    spare: Vec<Box<PairMemory>>,
}

/// States that one task moves at least.
const SHARE: usize = 1024;

impl PairStates {
    /// Goes over to the pairs of this step. `ended` is told of touching pairs that are gone, in
    /// ascending order.
    pub(crate) fn follow(
        &mut self,
        events: Events<'_>,
        shapes: &[Shape],
        workers: &Workers,
        mut ended: impl FnMut(Pair),
    ) {
        for place in self.fresh.drain(..) {
            self.states[place as usize].fresh = false;
        }
        if events.began.is_empty() && events.ended.is_empty() {
            return;
        }
        self.move_parts(events, workers);
        for part in &mut self.parts {
            part.ended.drain(..).for_each(&mut ended);
            self.spare.append(&mut part.spare);
            self.fresh.append(&mut part.fresh);
        }
        for &place in &self.fresh {
            let state = &mut self.states[place as usize];
            let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| &shapes[slot.index()]);
            state.kind = kind_of_pair(a, b);
            if matches!((a, b), (Shape::Sphere { .. }, Shape::Sphere { .. })) {
                continue;
            }
            state.memory = self.spare.pop().map(|mut memory| {
                memory.clear();
                memory
            });
            if remembers(a, b) {
                state.warm();
            }
        }
    }

    /// Moves the states that stay from one list to the other, and puts new ones between. What is
    /// left behind are states without memories.
    fn move_parts(&mut self, events: Events<'_>, workers: &Workers) {
        let count = tasks_for(self.states.len(), workers);
        self.parts.resize_with(count.max(self.parts.len()), Part::default);
        let total = self.states.len() + events.began.len() - events.ended.len();
        self.next.resize_with(total, PairState::default);
        let (old, new) = (&mut self.states[..], &mut self.next[..]);
        if count == 1 {
            self.parts[0].merge(old, new, 0, events);
        } else {
            let mut tasks = split(old, new, events, &mut self.parts[..count]);
            workers.for_each(&mut tasks, |_, task| {
                task.part.merge(task.old, task.new, task.base, task.events);
            });
        }
        std::mem::swap(&mut self.states, &mut self.next);
    }

    /// Returns true if some boxes began to overlap in this step.
    pub(crate) fn any_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Empties the memories of all pairs but for their answers. They are replaced rather than
    /// cleared, so that nothing of them is left.
    #[cfg(feature = "serde")]
    pub(crate) fn forget_memories(&mut self) {
        self.spare.clear();
        let memories = self.states.iter_mut().filter_map(|state| state.memory.as_deref_mut());
        memories.filter_map(|memory| memory.warm.as_deref_mut()).for_each(|warm| {
            *warm = Warm::default();
        });
    }

    /// Appends a pair as a step has left it.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(&mut self, mut state: PairState, shapes: &[Shape]) {
        let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| &shapes[slot.index()]);
        if remembers(a, b) {
            state.warm();
        }
        state.kind = kind_of_pair(a, b);
        state.index = self.states.len() as u32;
        self.states.push(state);
    }
}

/// Into how many parts states are cut.
pub(super) fn tasks_for(states: usize, workers: &Workers) -> usize {
    if workers.count() == 1 { 1 } else { (states / SHARE).clamp(1, 4 * workers.count()) }
}

/// One part of the states, before and after.
struct Task<'a> {
    old: &'a mut [PairState],
    new: &'a mut [PairState],
    /// Where the new ones begin.
    base: usize,
    events: Events<'a>,
    part: &'a mut Part,
}

/// Cuts states into equal parts, and events and new states where they belong.
fn split<'a>(
    mut old: &'a mut [PairState],
    mut new: &'a mut [PairState],
    Events { mut began, mut ended }: Events<'a>,
    parts: &'a mut [Part],
) -> Vec<Task<'a>> {
    let (mut tasks, mut base) = (Vec::with_capacity(parts.len()), 0);
    let (total, count) = (old.len(), parts.len());
    for (number, part) in parts.iter_mut().enumerate() {
        let length = total * (number + 1) / count - total * number / count;
        let (own, rest) = old.split_at_mut(length);
        let belong = |list: &[Pair]| match rest.first() {
            Some(next) => list.partition_point(|pair| *pair < next.pair),
            None => list.len(),
        };
        let (own_began, later_began) = began.split_at(belong(began));
        let (own_ended, later_ended) = ended.split_at(belong(ended));
        let (out, later) = new.split_at_mut(own.len() + own_began.len() - own_ended.len());
        let (length, events) = (out.len(), Events { began: own_began, ended: own_ended });
        tasks.push(Task { old: own, new: out, base, events, part });
        (old, new, began, ended, base) = (rest, later, later_began, later_ended, base + length);
    }
    tasks
}

impl Part {
    /// Moves one part of the states; all lists are ascending.
    fn merge(
        &mut self,
        old: &mut [PairState],
        out: &mut [PairState],
        base: usize,
        Events { began, ended }: Events<'_>,
    ) {
        let (mut began, mut ended) = (began.iter().peekable(), ended.iter().peekable());
        let mut to = 0;
        for state in old {
            while let Some(&pair) = began.next_if(|pair| **pair < state.pair) {
                self.begin(pair, &mut out[to], base + to);
                to += 1;
            }
            if ended.next_if(|pair| **pair == state.pair).is_some() {
                self.retire(state);
            } else {
                std::mem::swap(&mut out[to], state);
                out[to].index = (base + to) as u32;
                to += 1;
            }
        }
        for &pair in began {
            self.begin(pair, &mut out[to], base + to);
            to += 1;
        }
        assert!(to == out.len() && ended.next().is_none(), "events fit the states");
    }

    fn begin(&mut self, pair: Pair, out: &mut PairState, place: usize) {
        let index = place as u32;
        *out = PairState { fresh: true, index, ..PairState::new(pair) };
        self.fresh.push(index);
    }

    fn retire(&mut self, state: &mut PairState) {
        if state.told.touches() {
            self.ended.push(state.pair);
        }
        self.spare.extend(state.memory.take());
    }
}

/// One number for each kind of pair.
fn kind_of_pair(a: &Shape, b: &Shape) -> u16 {
    let (a, b) = (u16::from(a.rank()), u16::from(b.rank()));
    a.max(b) << 8 | a.min(b)
}

/// Returns false for balls, whose closed form costs less than remembering.
pub(super) fn remembers(a: &Shape, b: &Shape) -> bool {
    let round = |shape: &Shape| matches!(shape, Shape::Sphere { .. } | Shape::HalfSpace { .. });
    !(round(a) && round(b))
}
