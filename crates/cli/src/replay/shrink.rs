//! Makes a history small that some broad phase gets wrong: boxes and acts are left out in ever
//! smaller portions as long as what is left is still wrong (Zeller's delta debugging).

use std::time::{Duration, Instant};

use jostle::{Algorithm, BoxId, Boxes, BroadPhase, Slot, Workers};

use super::history::{Act, History};
use crate::support::interrupt;
use crate::support::runner::Runner;

/// The search ends after this time with what it has.
const TIME: Duration = Duration::from_secs(120);

/// Up to this many boxes every pair of them is tested; above, they are swept.
const FEW: usize = 2000;

/// Makes the broad phase that is wrong.
pub(super) type Build<'a> = &'a dyn Fn() -> Box<dyn BroadPhase>;

/// The least acts found that go wrong; none if the whole history does not. `suspects` are the
/// slots, after the last call, of boxes whose pairs are wrong.
pub(super) fn shrink(history: &History, suspects: &[Slot], build: Build<'_>) -> Option<Vec<Act>> {
    let start = Instant::now();
    let stop = || start.elapsed() > TIME || interrupt::requested();
    let mut acts = cut_after_failure(&history.acts, build)?;
    let suspects: Vec<u32> = suspects.iter().filter_map(|&slot| history.number(slot)).collect();
    let alone = with_boxes(&acts, &suspects);
    if !suspects.is_empty() && first_failure(&alone, build).is_some() {
        acts = alone;
    }
    loop {
        let before = acts.len();
        let boxes: Vec<u32> = (0..history.boxes())
            .filter(|number| {
                acts.iter().any(|act| matches!(act, Act::Insert(one, ..) if one == number))
            })
            .collect();
        let fails = |boxes: &[u32]| first_failure(&with_boxes(&acts, boxes), build).is_some();
        let boxes = reduce(boxes, fails, &stop);
        acts = with_boxes(&acts, &boxes);
        acts = reduce(acts, |acts| first_failure(acts, build).is_some(), &stop);
        if acts.len() == before || stop() {
            return cut_after_failure(&acts, build);
        }
    }
}

fn cut_after_failure(acts: &[Act], build: Build<'_>) -> Option<Vec<Act>> {
    first_failure(acts, build).map(|last| acts[..=last].to_vec())
}

/// The acts that concern only these boxes.
fn with_boxes(acts: &[Act], boxes: &[u32]) -> Vec<Act> {
    let kept = |act: &&Act| act.boxes().all(|number| boxes.contains(&number));
    acts.iter().filter(kept).copied().collect()
}

/// Leaves out what is not needed for the test to fail.
fn reduce<T: Clone>(
    mut items: Vec<T>,
    mut fails: impl FnMut(&[T]) -> bool,
    stop: &dyn Fn() -> bool,
) -> Vec<T> {
    let mut portion = items.len().div_ceil(2);
    while portion > 0 {
        let mut at = 0;
        while at < items.len() && !stop() {
            let after = (at + portion).min(items.len());
            let rest = [&items[..at], &items[after..]].concat();
            if fails(&rest) {
                items = rest;
            } else {
                at = after;
            }
        }
        portion /= 2;
    }
    items
}

/// The first step that is wrong, as the place of its act. Acts on boxes that are not there are
/// passed over.
fn first_failure(acts: &[Act], build: Build<'_>) -> Option<usize> {
    let inserted = acts.iter().filter(|act| matches!(act, Act::Insert(..))).count();
    let oracle = if inserted > FEW { Algorithm::SortSweep } else { Algorithm::BruteForce };
    let workers = Workers::one();
    let mut oracle = Runner::new(oracle, &workers);
    let mut tried = Runner::with_broad_phase("tried", build(), &workers);
    let mut stage = Stage::default();
    for (place, act) in acts.iter().enumerate() {
        if *act != Act::Step {
            stage.act(act);
            continue;
        }
        let expected = oracle.guarded_step(&stage.boxes, false);
        let found = tried.guarded_step(&stage.boxes, true);
        if expected.is_ok() && (found.is_err() || tried.hash() != oracle.hash()) {
            return Some(place);
        }
        stage.boxes.commit();
    }
    None
}

/// Boxes, and which of them has which number.
#[derive(Default)]
pub(super) struct Stage {
    pub(super) boxes: Boxes,
    ids: std::collections::BTreeMap<u32, BoxId>,
}

impl Stage {
    /// Does an act; one that does not fit is passed over.
    pub(super) fn act(&mut self, act: &Act) {
        let Stage { boxes, ids } = self;
        let id = |number: u32| ids.get(&number).copied();
        let two = |one: u32, other: u32| Some((id(one)?, id(other)?));
        match *act {
            Act::Insert(number, aabb, filter) => {
                if let Ok(id) = boxes.insert(aabb, filter) {
                    ids.insert(number, id);
                }
            }
            // A part of a history may no longer fit; then the act changes nothing.
            Act::Set(number, aabb) => {
                let _ = id(number).map(|id| boxes.set(id, aabb));
            }
            Act::SetFilter(number, filter) => {
                let _ = id(number).map(|id| boxes.set_filter(id, filter));
            }
            Act::Remove(number) => {
                if let Some(id) = ids.remove(&number) {
                    // It was there a moment ago.
                    let _ = boxes.remove(id);
                }
            }
            Act::Exclude(one, other) => {
                let _ = two(one, other).map(|(a, b)| boxes.exclude(a, b));
            }
            Act::Include(one, other) => {
                let _ = two(one, other).map(|(a, b)| boxes.include(a, b));
            }
            Act::Step => {}
        }
    }

    /// The number of the box in a slot, also if it was removed since the last step.
    pub(super) fn number(&self, slot: Slot) -> Option<u32> {
        self.ids.iter().find(|(_, id)| id.slot() == slot).map(|(&number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use jostle::{Aabb, Error, Filter, PairBuffer, Report, Stats};

    use super::*;
    use crate::replay::script;

    /// Finds all pairs but those that a box far to the right has with a moved one.
    #[derive(Clone, Debug)]
    struct Broken(Box<dyn BroadPhase>);

    impl BroadPhase for Broken {
        fn name(&self) -> &str {
            "broken"
        }

        fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
            let mut all = PairBuffer::new();
            self.0.update(boxes, &mut all)?;
            let moved = boxes.changes().moved();
            for pair in all.iter() {
                let far = boxes.aabbs()[pair.b().index()].max[0] > 50.0;
                if !(far && moved.contains(&pair.a())) {
                    found.lane().push(pair.a().get(), pair.b().get())?;
                }
            }
            Ok(Report::Full)
        }

        fn stats(&self) -> Stats {
            Stats::default()
        }
    }

    fn crowd() -> History {
        let place = |k: u32, step: u32| {
            let at = [k * 37 % 61 + step, k * 53 % 17, k * 71 % 19].map(|part| part as f32);
            Aabb::new(at, at.map(|low| low + (k % 7) as f32))
        };
        let mut acts: Vec<Act> =
            (0..200).map(|k| Act::Insert(k, place(k, 0), Filter::ALL)).collect();
        for step in 1..6 {
            acts.push(Act::Step);
            acts.extend((0..200).filter(|k| k % 9 == step).map(|k| Act::Set(k, place(k, step))));
            acts.push(Act::Remove(step * 11));
        }
        acts.push(Act::Step);
        History::of(acts, 200)
    }

    #[test]
    fn two_boxes_and_two_steps_are_left_of_a_crowd() {
        let broken = || -> Box<dyn BroadPhase> {
            Box::new(Broken(Algorithm::BruteForce.build(&Workers::one())))
        };
        let small = shrink(&crowd(), &[], &broken).expect("the crowd goes wrong");
        assert!(first_failure(&small, &broken).is_some());
        let count = |wanted: fn(&Act) -> bool| small.iter().filter(|act| wanted(act)).count();
        assert_eq!(count(|act| matches!(act, Act::Insert(..))), 2, "{small:?}");
        assert_eq!(small.len(), 5, "insert, insert, step, set, step: {small:?}");
        let text = script::text(&small, "broken");
        let script = jostle_testkit::script::Script::new("shrunk", &text);
        script.run(&|workers| Algorithm::Sap.build(workers), 1).unwrap();
        let failure = script.run(&|_| broken(), 1).unwrap_err();
        assert!(failure.contains("missing"), "{failure}");
    }

    #[test]
    fn a_history_that_is_right_is_not_shrunk() {
        let sound = || Algorithm::Sap.build(&Workers::one());
        assert!(shrink(&crowd(), &[], &sound).is_none());
    }
}
