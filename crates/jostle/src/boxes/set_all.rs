//! `set_all`, on any number of workers. The boxes are cut into runs. Each run finds the boxes that
//! differ, a bit each, and checks them by vectors. Only if all are valid is anything written, each
//! run in its own stretch of the arrays. The list of changes does not depend on the workers: runs
//! follow each other in it.
//!
//! Bits and not a list: whether a box differs cannot be predicted, and where all of a block do it
//! is copied as a whole.

use super::{Boxes, KEPT, MOVED};
use crate::aabb::Aabb;
use crate::error::InvalidBox;
use crate::id::Slot;
use crate::simd::box_blocks::{BLOCK, find_differing};

/// Boxes in a run: enough that handing a run to a worker costs little next to reading it, and few
/// enough that a million boxes are several runs for each of 64 workers.
pub(super) const RUN: usize = 1 << 11;

/// Fewer boxes than this are handed over before another thread wakes up.
pub(super) const FEW: usize = 1 << 13;

/// What a run found, on cache lines of its own.
#[derive(Clone)]
#[repr(align(128))]
pub(super) struct Run {
    /// A bit for each box that differs; once they are written, for those that were in no list of
    /// changes.
    differing: [u32; RUN / BLOCK],
    valid: bool,
    /// How many boxes the run adds to the list of moved ones, and where.
    count: usize,
    begin: usize,
}

impl Default for Run {
    fn default() -> Run {
        Run { differing: [0; RUN / BLOCK], valid: true, count: 0, begin: 0 }
    }
}

impl Run {
    /// Writes what differs. Boxes that are already in a list of changes keep their place there, and
    /// their bits go.
    fn write(&mut self, old: &mut [Aabb], new: &[Aabb], state: &mut [u8]) {
        self.count = 0;
        let blocks = old.chunks_mut(BLOCK).zip(new.chunks(BLOCK)).zip(state.chunks_mut(BLOCK));
        for (((old, new), state), word) in blocks.zip(&mut self.differing) {
            match *word {
                0 => continue,
                u32::MAX => old.copy_from_slice(&new[..BLOCK]),
                differing => each_bit(differing, |bit| old[bit] = new[bit]),
            }
            match *word {
                u32::MAX if state.iter().all(|&state| state == KEPT) => state.fill(MOVED),
                differing => each_bit(differing, |bit| match state[bit] {
                    KEPT => state[bit] = MOVED,
                    _ => *word &= !(1 << bit),
                }),
            }
            self.count += word.count_ones() as usize;
        }
    }
}

/// Memory of the last batch for the next one, and no part of the set.
#[derive(Clone, Default)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// The list of moved boxes of the last step, if it was a batch. The next one is written over
    /// it: a list that grows from nothing is written twice, the first time by one worker.
    moved: Vec<Slot>,
    /// True if all boxes in the present list of moved ones came in a batch.
    listed: bool,
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Runs")
    }
}

impl Runs {
    pub(super) fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>() + self.moved.capacity() * size_of::<Slot>()
    }

    /// Empties a list of moved boxes, at the end of a step in which there were many.
    pub(super) fn end(&mut self, moved: &mut Vec<Slot>) {
        match std::mem::take(&mut self.listed) {
            true => std::mem::swap(&mut self.moved, moved),
            false => self.moved = Vec::new(),
        }
        moved.clear();
    }

    /// Makes the list of moved boxes as long as it will be.
    fn extend(&mut self, moved: &mut Vec<Slot>, end: usize) {
        if moved.is_empty() {
            std::mem::swap(&mut self.moved, moved);
            self.listed = true;
        }
        moved.resize(end, Slot::new(0));
    }
}

impl Boxes {
    /// Gives every box of a dense set new bounds.
    pub(super) fn set_runs(&mut self, aabbs: &[Aabb]) -> Result<(), InvalidBox> {
        let workers = self.workers.clone();
        let set = || {
            let count = aabbs.len().div_ceil(RUN);
            if self.runs.runs.len() < count {
                self.runs.runs.resize_with(count, Run::default);
            }
            self.find_differing(aabbs, count)?;
            self.record_differing(aabbs, count);
            self.write_differing(aabbs, count);
            self.list_differing(count);
            Ok(())
        };
        if aabbs.len() > FEW { workers.enter(set) } else { workers.alone(set) }
    }

    fn find_differing(&mut self, aabbs: &[Aabb], count: usize) -> Result<(), InvalidBox> {
        let (old, runs) = (&self.aabbs, &mut self.runs.runs[..count]);
        self.workers.for_each(runs, |number, run| {
            let first = number * RUN;
            let last = (first + RUN).min(aabbs.len());
            let words = &mut run.differing[..(last - first).div_ceil(BLOCK)];
            run.valid = find_differing(&old[first..last], &aabbs[first..last], words);
        });
        match self.runs.runs[..count].iter().position(|run| !run.valid) {
            None => Ok(()),
            // Found again from the beginning of its run, for the message.
            Some(number) => super::batch::check_from(aabbs, number * RUN),
        }
    }

    fn record_differing(&mut self, aabbs: &[Aabb], count: usize) {
        if let Some(recorder) = &mut self.recorder {
            let mut differing = Vec::new();
            let words = self.runs.runs[..count].iter().flat_map(|run| &run.differing);
            for (block, &word) in words.enumerate().take(aabbs.len().div_ceil(BLOCK)) {
                each_bit(word, |bit| differing.push(Slot::new((block * BLOCK + bit) as u32)));
            }
            recorder.set(&differing, aabbs);
        }
    }

    fn write_differing(&mut self, aabbs: &[Aabb], count: usize) {
        let Boxes { workers, runs, aabbs: old, state, .. } = self;
        let boxes = old.len();
        let lists = (&mut old[..], &mut state[..], &mut runs.runs[..count]);
        let begin = |number: usize| [boxes.min(number * RUN), boxes.min(number * RUN), number];
        workers.for_each_three_parts(count, lists, begin, |number, (old, state, run)| {
            run[0].write(old, &aabbs[number * RUN..], state);
        });
    }

    fn list_differing(&mut self, count: usize) {
        let Boxes { workers, runs, changes, state, place, .. } = self;
        let before = changes.moved.len();
        let mut end = before;
        for run in &mut runs.runs[..count] {
            run.begin = end;
            end += run.count;
        }
        let blocks = state.len().div_ceil(BLOCK);
        runs.extend(&mut changes.moved, end);
        let runs = &runs.runs[..count];
        let begin = |number: usize| runs.get(number).map_or(end, |run| run.begin) - before;
        workers.for_each_part(&mut changes.moved[before..], count, begin, |number, mut moved| {
            let first = number * RUN;
            let words = blocks.min((number + 1) * RUN / BLOCK) - first / BLOCK;
            for (block, &word) in runs[number].differing[..words].iter().enumerate() {
                let (own, rest) = moved.split_at_mut(word.count_ones() as usize);
                list(word, (first + block * BLOCK) as u32, own);
                moved = rest;
            }
        });
        place.note(&changes.moved, before);
    }
}

/// Writes the slots of the boxes that a word names.
#[inline]
fn list(word: u32, first: u32, slots: &mut [Slot]) {
    if word == u32::MAX {
        return (first..).zip(slots).for_each(|(number, slot)| *slot = Slot::new(number));
    }
    let mut slots = slots.iter_mut();
    each_bit(word, |bit| {
        if let Some(slot) = slots.next() {
            *slot = Slot::new(first + bit as u32);
        }
    });
}

/// Calls `each` with the numbers of the bits that are set, ascending.
#[inline(always)]
fn each_bit(mut word: u32, mut each: impl FnMut(usize)) {
    while word != 0 {
        each(word.trailing_zeros() as usize);
        word &= word - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::par::Workers;

    const COUNT: usize = FEW + 5 * RUN + 77;

    fn unit(at: f32) -> Aabb {
        Aabb::new([at; 3], [at + 1.0; 3])
    }

    /// Everything that a batch may change; bounds as bits, because slots without a box hold NaN.
    fn state(boxes: &Boxes) -> (Vec<[u32; 3]>, [Vec<Slot>; 2], Vec<u8>) {
        let bits = boxes.aabbs.iter().map(|aabb| aabb.min.map(f32::to_bits)).collect();
        let changes = boxes.changes();
        let lists = [changes.inserted(), changes.moved()].map(<[Slot]>::to_vec);
        (bits, lists, boxes.state.clone())
    }

    /// The list of changes is written over the last one, which is longer, shorter or none.
    #[test]
    fn every_batch_lists_its_own_boxes() {
        for count in [1, 2] {
            let mut boxes = Boxes::new();
            boxes.set_workers(&Workers::new(count).unwrap());
            let mut aabbs: Vec<Aabb> = (0..COUNT).map(|k| unit(k as f32)).collect();
            boxes.insert_all(&aabbs, Filter::ALL).unwrap();
            boxes.commit();
            for every in [1, 3, 1, 2, COUNT, 1, 7] {
                let moved = (0..COUNT).step_by(every);
                moved.clone().for_each(|k| aabbs[k] = unit(aabbs[k].min[0] + 1.0));
                boxes.set_all(&aabbs).unwrap();
                assert!(boxes.changes().moved().iter().map(|slot| slot.index()).eq(moved));
                boxes.commit();
                assert!(boxes.changes().is_empty());
            }
        }
    }

    /// The same arrays and lists as one worker leaves, with changes pending of every kind, with a
    /// few differing boxes, with all, with none, and after a batch that is refused.
    #[test]
    fn every_number_of_workers_leaves_the_same_set() {
        let frame = |step: usize| -> Vec<Aabb> {
            let moves = |k: usize| step == 1 || (step > 1 && k % 1000 == step);
            (0..COUNT).map(|k| unit(k as f32 + if moves(k) { step as f32 } else { 0.0 })).collect()
        };
        let mut expected = Vec::new();
        for count in [1, 2, 3, 8] {
            let mut boxes = Boxes::new();
            boxes.set_workers(&Workers::new(count).unwrap());
            let ids = boxes.insert_all(&frame(0)[..COUNT - 9], Filter::ALL).unwrap();
            boxes.commit();
            boxes.insert_all(&frame(0)[COUNT - 9..], Filter::ALL).unwrap();
            boxes.set(ids[RUN + 3], unit(-5.0)).unwrap();
            boxes.set(ids[3], unit(-5.0)).unwrap();
            let mut states = Vec::new();
            for step in [2, 2, 1, 0, 5, 5] {
                let before = state(&boxes);
                let mut bad = frame(7);
                bad[4 * RUN + 7] = Aabb::new([0.0; 3], [-1.0; 3]);
                bad[2 * RUN + 5] = Aabb::new([0.0, 1.0, 0.0], [0.0; 3]);
                let error = boxes.set_all(&bad).unwrap_err().to_string();
                assert!(error.starts_with(&format!("box {}: min y", 2 * RUN + 5)), "{error}");
                assert!(state(&boxes) == before, "a refused batch changes nothing");
                boxes.set_all(&frame(step)).unwrap();
                assert!(boxes.aabbs == frame(step));
                states.push(state(&boxes));
                if step == 0 {
                    boxes.commit();
                }
            }
            boxes.remove_all(&[ids[5], ids[2 * RUN + 5]]).unwrap();
            states.push(state(&boxes));
            if count == 1 {
                expected = states;
            } else {
                assert!(states == expected, "{count} workers");
            }
        }
    }
}
