//! What comes out of a step: touches and events, in the order of pairs.

use super::deal::Lane;
use super::pairs::{NONE, PairState};
use crate::narrow::{Contact, ManifoldPoint};
use crate::pair::Pair;

/// Two bodies that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The bodies; a has the smaller id.
    pub pair: Pair,
    /// When in the step, from 0 to 1. Always 1, its end, unless they met on their way in continuous
    /// mode: then the first time of touch, and they may be apart again at the end.
    pub time: f64,
    /// Depth, normal from a to b, and points, at that time.
    pub contact: Contact,
    /// Where its points begin, and how many there are.
    pub(super) first: u32,
    pub(super) points: u32,
}

/// The outcome of a step, everything sorted by pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step<'a> {
    /// All pairs that touch.
    pub touches: &'a [Touch],
    /// Pairs that touch and did not in the last step.
    pub began: &'a [Pair],
    /// Pairs that touched in the last step and do not now, those of removed bodies among them.
    pub ended: &'a [Pair],
}

/// The touches of this step and the last one.
#[derive(Default)]
pub(super) struct Touches {
    now: List,
    last: List,
    began: Vec<Pair>,
    ended: Vec<Pair>,
    /// For each pair the lane and the place in it of its answer.
    sources: Vec<(u32, u32)>,
}

#[derive(Default)]
struct List {
    touches: Vec<Touch>,
    points: Vec<ManifoldPoint>,
}

impl List {
    fn points(&self, touch: &Touch) -> &[ManifoldPoint] {
        &self.points[touch.first as usize..][..touch.points as usize]
    }

    /// Appends a touch with its points, and gives its place.
    fn push(&mut self, touch: &Touch, points: &[ManifoldPoint]) -> u32 {
        let first = self.points.len() as u32;
        self.points.extend_from_slice(&points[touch.first as usize..][..touch.points as usize]);
        self.touches.push(Touch { first, ..*touch });
        self.touches.len() as u32 - 1
    }
}

impl Touches {
    pub fn step(&self) -> Step<'_> {
        Step { touches: &self.now.touches, began: &self.began, ended: &self.ended }
    }

    pub fn points(&self, touch: &Touch) -> &[ManifoldPoint] {
        self.now.points(touch)
    }

    /// Begins a step.
    pub fn begin(&mut self) {
        std::mem::swap(&mut self.now, &mut self.last);
        self.now.touches.clear();
        self.now.points.clear();
        self.began.clear();
        self.ended.clear();
    }

    /// A touching pair whose boxes are apart.
    pub fn end(&mut self, pair: Pair) {
        self.ended.push(pair);
    }

    /// Takes the answers from the lanes, and for pairs that were not due from the last step.
    pub fn gather(
        &mut self,
        states: &mut [PairState],
        lanes: &[Lane],
        is_due: impl Fn(&PairState) -> bool,
    ) {
        self.note_sources(states.len(), lanes);
        for state in states {
            let source = self.sources[state.index as usize];
            let touch = if source.0 != NONE {
                let lane = &lanes[source.0 as usize];
                self.now.push(&lane.found[source.1 as usize].1, &lane.points)
            } else if state.touch != NONE && !is_due(state) {
                self.now.push(&self.last.touches[state.touch as usize], &self.last.points)
            } else {
                NONE
            };
            match (std::mem::replace(&mut state.touch, touch) == NONE, touch == NONE) {
                (true, false) => self.began.push(state.pair),
                (false, true) => self.ended.push(state.pair),
                _ => {}
            }
        }
        // Two ascending stretches: pairs of boxes that are gone, and those that are not.
        self.ended.sort_unstable();
    }

    fn note_sources(&mut self, pairs: usize, lanes: &[Lane]) {
        self.sources.clear();
        self.sources.resize(pairs, (NONE, NONE));
        for (number, lane) in lanes.iter().enumerate() {
            for (place, (index, _)) in lane.found.iter().enumerate() {
                self.sources[*index as usize] = (number as u32, place as u32);
            }
        }
    }
}
