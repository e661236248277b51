//! What a [`Recorder`] is told: the calls that changed something, after they did, and once at its
//! beginning everything that the set holds.
//!
//! The fields of the call `begin` after algorithm, threads and limit: varint number of slots; of
//! each slot its state (a byte: 0 free, 1 kept, 2 inserted, 3 moved, 4 removed since the last step)
//! and its generation (varint); bounds and filter of each slot in states 1 to 3; varint number of
//! user data, a u64 each; the lists of free, inserted, moved and removed slots; the excluded pairs;
//! the pairs of the last step.

use super::{Boxes, FREE, REMOVED};
use crate::aabb::Aabb;
use crate::error::Error;
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::journal::{Encoder, Recorder, code};
use crate::pair::Pair;

/// What a recording begins with, apart from the boxes.
pub(crate) struct Beginning<'a> {
    pub(crate) algorithm: &'a str,
    pub(crate) threads: usize,
    pub(crate) pair_limit: usize,
    pub(crate) pairs: &'a [Pair],
}

/// The recorder.
impl Boxes {
    /// Tells a recorder everything from here on.
    pub(crate) fn record(&mut self, mut recorder: Recorder, beginning: &Beginning<'_>) {
        recorder.begin(beginning.pairs, |frame| {
            frame.text(beginning.algorithm);
            frame.varint(beginning.threads as u64);
            frame.varint(beginning.pair_limit as u64);
            self.encode(frame);
        });
        self.recorder = Some(Box::new(recorder));
    }

    fn encode(&self, frame: &mut Encoder) {
        frame.varint(self.slots() as u64);
        for (&state, &generation) in self.state.iter().zip(&self.generations) {
            frame.byte(state);
            frame.varint(u64::from(generation));
        }
        for (index, &state) in self.state.iter().enumerate() {
            if state != FREE && state != REMOVED {
                frame.bounds(&self.aabbs[index..=index]);
                frame.filter(&self.filters[index]);
            }
        }
        frame.varint(self.user_data.len() as u64);
        self.user_data.iter().for_each(|&data| frame.word(data));
        let changes = &self.changes;
        for list in [&self.free, &changes.inserted, &changes.moved, &changes.removed] {
            frame.slots(list.iter().copied());
        }
        let excluded: Vec<Pair> = self.exclusions.iter().collect();
        frame.pairs(excluded.into_iter());
    }

    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    pub(crate) fn recorder_mut(&mut self) -> Option<&mut Recorder> {
        self.recorder.as_deref_mut()
    }

    pub(crate) fn take_recorder(&mut self) -> Option<Recorder> {
        self.recorder.take().map(|recorder| *recorder)
    }
}

/// The calls.
impl Boxes {
    pub(super) fn note_call(&mut self, code: u8, fields: impl FnOnce(&mut Encoder)) {
        if let Some(recorder) = &mut self.recorder {
            recorder.call(code, fields);
        }
    }

    pub(super) fn note_inserted(&mut self, ids: &[BoxId], aabbs: &[Aabb], filters: &[Filter]) {
        if let Some(recorder) = &mut self.recorder {
            let slots: Vec<Slot> = ids.iter().map(|id| id.slot()).collect();
            recorder.insert(&slots, aabbs, filters);
        }
    }

    pub(super) fn note_removed(&mut self, ids: &[BoxId]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.remove(ids.iter().map(|id| id.slot()));
        }
    }

    pub(super) fn note_pair(&mut self, code: u8, pair: Pair) {
        self.note_call(code, |frame| {
            frame.varint(pair.a().index() as u64);
            frame.varint(pair.b().index() as u64);
        });
    }

    pub(crate) fn note_algorithm(&mut self, name: &str) {
        self.note_call(code::ALGORITHM, |frame| frame.text(name));
    }

    pub(crate) fn note_pair_limit(&mut self, limit: usize) {
        self.note_call(code::PAIR_LIMIT, |frame| frame.varint(limit as u64));
    }

    pub(crate) fn note_refusal(&mut self, error: &Error) {
        if let Some(recorder) = &mut self.recorder {
            recorder.refused_step(&error.to_string());
        }
    }
}
