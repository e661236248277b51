//! [`Giants`]: boxes that touch too many cells are kept apart and tested one by one.
//!
//! There are few of them; `plan.rs` sees to that. A pair is theirs if one of its boxes is a giant:
//! now, if the pair begins; in the previous step, if it ends. All other pairs are the cells'.

use crate::boxes::Boxes;
use crate::broad::persistent::{EventSink, FollowResult, PairJudge};

/// The current and the previous giants, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Giants {
    now: Vec<u32>,
    then: Vec<u32>,
}

impl Giants {
    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.now.clear();
        self.then.clear();
    }

    /// Number of giants.
    pub(super) fn count(&self) -> usize {
        self.now.len()
    }

    /// Adds a box that is a giant now.
    pub(super) fn push(&mut self, slot: u32) {
        self.now.push(slot);
    }

    /// Call when all are known after [`clear`](Giants::clear).
    pub(super) fn settle(&mut self) {
        self.now.sort_unstable();
        self.then.clone_from(&self.now);
    }

    /// Returns true if a box is a giant now.
    #[inline]
    pub(super) fn contains(&self, slot: u32) -> bool {
        !self.now.is_empty() && self.now.binary_search(&slot).is_ok()
    }

    /// Takes over which of the changed boxes are giants now; the others stay what they are.
    pub(super) fn follow(&mut self, boxes: &Boxes, is_giant: impl Fn(u32) -> bool) {
        self.then.clone_from(&self.now);
        let changes = boxes.changes();
        let changed = || changes.inserted().iter().chain(changes.moved()).map(|id| id.get());
        if !self.now.is_empty() {
            // Keeps those that are there and still giants; for those that did not change, asking
            // gives the same answer as before.
            self.now
                .retain(|&slot| !boxes.aabbs()[slot as usize].min[0].is_nan() && is_giant(slot));
        }
        let known = self.now.len();
        for slot in changed() {
            if is_giant(slot) && self.now[..known].binary_search(&slot).is_err() {
                self.now.push(slot);
            }
        }
        self.now.sort_unstable();
    }

    /// Returns true if there is nothing to do in a step.
    pub(super) fn are_none(&self) -> bool {
        self.now.is_empty() && self.then.is_empty()
    }

    /// Begins and ends the pairs of giants, given the boxes that changed, ascending.
    pub(super) fn report(
        &self,
        changed: &[u32],
        judge: &PairJudge<'_>,
        sink: &mut EventSink<'_>,
    ) -> FollowResult {
        let slots = judge.now().len() as u32;
        let (began, ended) = (Meeting::new(&self.now, changed), Meeting::new(&self.then, changed));
        let (mut tests, mut result) = (0, Ok(()));
        ended.each(slots, |one, other| {
            tests += 1;
            if judge.ended(one, other) && ended.reports(one, other) {
                sink.end(one, other);
            }
        });
        began.each(slots, |one, other| {
            tests += 1;
            if result.is_ok() && judge.began(one, other) && began.reports(one, other) {
                result = sink.begin(one, other);
            }
        });
        sink.tests += tests;
        result
    }

    /// How many tests [`report`](Giants::report) makes.
    pub(super) fn tests(&self, changed: &[u32], slots: usize) -> u64 {
        let each =
            |giant: &u32| if changed.binary_search(giant).is_ok() { slots } else { changed.len() };
        self.now.iter().chain(&self.then).map(each).sum::<usize>() as u64
    }
}

/// Giants and boxes that changed, both ascending.
#[derive(Clone, Copy)]
struct Meeting<'a> {
    giants: &'a [u32],
    changed: &'a [u32],
}

impl<'a> Meeting<'a> {
    fn new(giants: &'a [u32], changed: &'a [u32]) -> Meeting<'a> {
        Meeting { giants, changed }
    }

    /// Calls `meet` with each giant that changed and every other box, and with each of the other
    /// giants and every box that changed. Pairs of two giants may come twice.
    fn each(&self, slots: u32, mut meet: impl FnMut(u32, u32)) {
        for &giant in self.giants {
            if self.has_changed(giant) {
                (0..slots).filter(|&other| other != giant).for_each(|other| meet(giant, other));
            } else {
                self.changed.iter().for_each(|&other| meet(giant, other));
            }
        }
    }

    /// Returns true if the first of the two, a giant, reports the pair: a changed giant rather than
    /// an unchanged one, and the smaller one of two changed ones.
    fn reports(&self, giant: u32, other: u32) -> bool {
        let rival = self.giants.binary_search(&other).is_ok() && self.has_changed(other);
        !rival || self.has_changed(giant) && giant < other
    }

    fn has_changed(&self, slot: u32) -> bool {
        self.changed.binary_search(&slot).is_ok()
    }
}
