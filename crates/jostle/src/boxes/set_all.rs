//! `set_all` on several workers. The boxes are cut into runs; each run lists the boxes that differ
//! and checks them. Only if all are valid is anything written, each run in its own stretch of
//! the arrays. The list of changes is that of one worker: runs follow each other in it.

use super::{Boxes, KEPT, MOVED};
use crate::aabb::Aabb;
use crate::error::InvalidBox;
use crate::id::Slot;

/// Boxes in a run: enough that handing a run to a worker costs little next to reading it.
pub(super) const RUN: usize = 1 << 13;

/// What a run found, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct Run {
    /// The boxes that differ; once they are written, those of them that were in no list of changes.
    differing: Vec<Slot>,
    invalid: Option<InvalidBox>,
    /// Where the run begins in the list of moved boxes.
    begin: usize,
}

impl Run {
    pub(super) fn bytes(&self) -> usize {
        size_of::<Run>() + self.differing.capacity() * size_of::<Slot>()
    }
}

impl Boxes {
    /// Gives every box of a dense set new bounds.
    pub(super) fn set_runs(&mut self, aabbs: &[Aabb]) -> Result<(), InvalidBox> {
        let workers = self.workers.clone();
        workers.enter(|| {
            let count = aabbs.len().div_ceil(RUN);
            if self.runs.len() < count {
                self.runs.resize_with(count, Run::default);
            }
            self.find_differing(aabbs, count)?;
            self.record_differing(aabbs, count);
            self.write_differing(aabbs, count);
            self.list_differing(count);
            Ok(())
        })
    }

    fn find_differing(&mut self, aabbs: &[Aabb], count: usize) -> Result<(), InvalidBox> {
        let (old, runs) = (&self.aabbs, &mut self.runs[..count]);
        self.workers.for_each(runs, |number, run| {
            let first = number * RUN;
            let last = (first + RUN).min(aabbs.len());
            run.differing.clear();
            let (old, new) = (&old[first..last], &aabbs[first..last]);
            run.invalid = note_differing(old, new, first, &mut run.differing).err();
        });
        self.runs[..count].iter().find_map(|run| run.invalid).map_or(Ok(()), Err)
    }

    fn record_differing(&mut self, aabbs: &[Aabb], count: usize) {
        if let Some(recorder) = &mut self.recorder {
            self.runs[..count].iter().for_each(|run| recorder.set(&run.differing, aabbs));
        }
    }

    fn write_differing(&mut self, aabbs: &[Aabb], count: usize) {
        let Boxes { workers, runs, aabbs: old, state, .. } = self;
        let runs = &mut runs[..count];
        workers.for_each_chunk(old, RUN, |number, old| {
            for slot in &runs[number].differing {
                old[slot.index() % RUN] = aabbs[slot.index()];
            }
        });
        // Boxes that are already in a list of changes keep their place.
        workers.for_each_chunk_with(state, RUN, runs, |_, state, run| {
            run.differing.retain(|slot| {
                let state = &mut state[slot.index() % RUN];
                let kept = *state == KEPT;
                *state = if kept { MOVED } else { *state };
                kept
            });
        });
    }

    fn list_differing(&mut self, count: usize) {
        let Boxes { workers, runs, place, changes, .. } = self;
        let runs = &mut runs[..count];
        let before = changes.moved.len();
        let mut end = before;
        for run in runs.iter_mut() {
            run.begin = end;
            end += run.differing.len();
        }
        workers.for_each_chunk_with(place, RUN, runs, |_, place, run| {
            for (at, slot) in (run.begin..).zip(&run.differing) {
                place[slot.index() % RUN] = at as u32;
            }
        });
        changes.moved.resize(end, Slot::new(0));
        let begin = |number: usize| runs.get(number).map_or(end, |run| run.begin) - before;
        workers.for_each_part(&mut changes.moved[before..], count, begin, |number, moved| {
            moved.copy_from_slice(&runs[number].differing);
        });
    }
}

/// Appends the slot of every box that differs; `first` is that of the first box. NaN differs from
/// everything, so a box that does not differ needs no check. Most worlds are mostly at rest: blocks
/// in which nothing differs are passed over without a branch per box.
pub(super) fn note_differing(
    old: &[Aabb],
    new: &[Aabb],
    first: usize,
    differing: &mut Vec<Slot>,
) -> Result<(), InvalidBox> {
    const BLOCK: usize = 16;
    for (number, (old, new)) in old.chunks(BLOCK).zip(new.chunks(BLOCK)).enumerate() {
        let each = || old.iter().zip(new);
        if each().fold(true, |same, (old, new)| same & old.same(new)) {
            continue;
        }
        for (place, (old, new)) in each().enumerate() {
            if !old.same(new) {
                let index = first + number * BLOCK + place;
                new.check().map_err(|fault| InvalidBox { index, fault })?;
                differing.push(Slot::new(index as u32));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::par::Workers;

    const COUNT: usize = 5 * RUN + 77;

    fn unit(at: f32) -> Aabb {
        Aabb::new([at; 3], [at + 1.0; 3])
    }

    /// Everything that a batch may change; bounds as bits, because slots without a box hold NaN.
    fn state(boxes: &Boxes) -> (Vec<[u32; 3]>, [Vec<Slot>; 2], Vec<u8>, Vec<u32>) {
        let bits = boxes.aabbs.iter().map(|aabb| aabb.min.map(f32::to_bits)).collect();
        let changes = boxes.changes();
        let lists = [changes.inserted(), changes.moved()].map(<[Slot]>::to_vec);
        (bits, lists, boxes.state.clone(), boxes.place.clone())
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
