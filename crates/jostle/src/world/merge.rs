//! [`Touches`]: the results of all workers, put into the order of pairs, and the events.

use super::bodies::Bodies;
use super::id::BodyPair;
use super::pair_test::is_due;
use super::pairs::{NONE, PairState};
use super::results::WorkerResults;
use super::touch::{Step, Touch, TouchList};

/// The touches of this step and the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Touches {
    now: TouchList,
    last: TouchList,
    began: Vec<BodyPair>,
    ended: Vec<BodyPair>,
    /// For each pair the worker and the place in its results of its answer.
    sources: Vec<(u32, u32)>,
}

impl Touches {
    pub(crate) fn step(&self) -> Step<'_> {
        let Touches { now, began, ended, .. } = self;
        Step { touches: &now.touches, began, ended, points: &now.points }
    }

    /// What a step has left.
    #[cfg(feature = "serde")]
    pub(crate) fn restored(now: TouchList, began: Vec<BodyPair>, ended: Vec<BodyPair>) -> Touches {
        Touches { now, began, ended, ..Touches::default() }
    }

    /// Begins a step.
    pub(crate) fn begin(&mut self) {
        self.began.clear();
        self.ended.clear();
    }

    /// A touching pair whose boxes are apart.
    pub(crate) fn end(&mut self, pair: BodyPair) {
        self.ended.push(pair);
    }

    /// Takes the answers from the workers, and for pairs that were not due from the last step.
    pub(crate) fn merge(
        &mut self,
        states: &mut [PairState],
        results: &[WorkerResults],
        bodies: &Bodies,
    ) {
        if self.ended.is_empty() && self.replace(states, results) {
            return;
        }
        std::mem::swap(&mut self.now, &mut self.last);
        self.now.clear();
        self.note_sources(states.len(), results);
        for state in states {
            let source = self.sources[state.index as usize];
            let touch = if source.0 != NONE {
                let worker = &results[source.0 as usize];
                self.now.push(&worker.found[source.1 as usize].1, &worker.points)
            } else if state.touch != NONE && !is_due(bodies, state) {
                self.now.push(&self.last.touches[state.touch as usize], &self.last.points)
            } else {
                NONE
            };
            match (std::mem::replace(&mut state.touch, touch) == NONE, touch == NONE) {
                (true, false) => self.began.push(bodies.pair(state.pair)),
                (false, true) => self.ended.push(bodies.pair(state.pair)),
                _ => {}
            }
        }
        // Two ascending runs: pairs of boxes that are gone, and those that are not.
        self.ended.sort_unstable();
    }

    /// Puts the answers into the places of the last ones, if all pairs that touched and moved touch
    /// again with as many points, and no others: then the cost follows what moved. Changes nothing
    /// and returns false if not.
    fn replace(&mut self, states: &[PairState], results: &[WorkerResults]) -> bool {
        let found = || results.iter().flat_map(|worker| worker.found.iter());
        let touched: usize = results.iter().map(|worker| worker.touched).sum();
        let fits = |(index, touch): &(u32, Touch)| {
            let last = self.now.touches.get(states[*index as usize].touch as usize);
            last.is_some_and(|last| last.points == touch.points)
        };
        if found().count() != touched || !found().all(fits) {
            return false;
        }
        for worker in results {
            for (index, touch) in &worker.found {
                let place = &mut self.now.touches[states[*index as usize].touch as usize];
                let first = place.first;
                let room = &mut self.now.points[first as usize..][..touch.points as usize];
                room.copy_from_slice(touch.points_in(&worker.points));
                *place = Touch { first, ..*touch };
            }
        }
        true
    }

    fn note_sources(&mut self, pairs: usize, results: &[WorkerResults]) {
        self.sources.clear();
        self.sources.resize(pairs, (NONE, NONE));
        for (number, worker) in results.iter().enumerate() {
            for (place, (index, _)) in worker.found.iter().enumerate() {
                self.sources[*index as usize] = (number as u32, place as u32);
            }
        }
    }
}
