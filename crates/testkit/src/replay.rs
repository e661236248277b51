//! Drives a detector and the [`Model`] through the same operations and compares them.

use std::collections::BTreeSet;

use jostle::{Aabb, Algorithm, BoxId, Detector, Error, Filter, Pair, Workers};

use crate::Build;
use crate::model::Model;

/// Why a broad phase failed, in words.
pub type Failure = String;

/// One operation on the boxes. Boxes are named by their place among the living ones, ascending
/// by id and modulo their number, so that any number names some box.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Adds a box.
    Insert(Aabb, Filter),
    /// Gives a box new bounds.
    Set(usize, Aabb),
    /// Moves a box by an offset.
    Shift(usize, [f32; 3]),
    /// Moves every box by an offset.
    ShiftAll([f32; 3]),
    /// Gives a box the bounds of another.
    Copy(usize, usize),
    /// Gives a box another filter.
    Refilter(usize, Filter),
    /// Excludes the pair of two boxes, or includes it again.
    Exclude(usize, usize, bool),
    /// Removes a box.
    Remove(usize),
    /// Removes every box.
    RemoveAll,
    /// Takes a step and compares.
    Step,
    /// Replaces the broad phase by a new one, as a switch of algorithm does.
    Rebuild,
}

/// A detector, the model that checks it, and the pairs after the last step.
#[derive(Clone)]
pub struct Replay<'a> {
    build: Build<'a>,
    workers: Workers,
    detector: Detector,
    model: Model,
    pairs: BTreeSet<Pair>,
    /// Overlapping pairs and all pairs over the steps so far.
    pub hits: (u64, u64),
}

impl std::fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("model", &self.model).finish_non_exhaustive()
    }
}

impl<'a> Replay<'a> {
    /// An empty replay on a number of threads.
    pub fn new(build: Build<'a>, threads: usize) -> Replay<'a> {
        let workers = Workers::new(threads).expect("threads can be started");
        let detector = detector(build, &workers);
        let (model, pairs) = (Model::default(), BTreeSet::new());
        Replay { build, workers, detector, model, pairs, hits: (0, 0) }
    }

    /// Runs a history and a last step.
    pub fn run(&mut self, ops: &[Op]) -> Result<(), Failure> {
        for (index, op) in ops.iter().enumerate() {
            self.apply(op).map_err(|failure| format!("operation {index}, {op:?}: {failure}"))?;
        }
        self.step()
    }

    /// The detector.
    pub fn detector(&mut self) -> &mut Detector {
        &mut self.detector
    }

    fn name(&self, place: usize) -> Option<BoxId> {
        let ids = self.model.ids();
        if ids.is_empty() { None } else { Some(ids[place % ids.len()]) }
    }

    /// Does one operation on both sides. Shifts that would leave the numbers are left out.
    pub fn apply(&mut self, op: &Op) -> Result<(), Failure> {
        match *op {
            Op::Insert(aabb, filter) => self.insert(aabb, filter).map(|_| ()),
            Op::Set(place, aabb) => self.named(place, |replay, id| replay.set(id, aabb)),
            Op::Shift(place, by) => self.named(place, |replay, id| replay.shift(id, by)),
            Op::ShiftAll(by) => self.shift_all(by),
            Op::Copy(place, from) => self.named(place, |replay, id| {
                let from = replay.name(from).and_then(|from| replay.model.get(from));
                from.map_or(Ok(()), |(aabb, _)| replay.set(id, aabb))
            }),
            Op::Refilter(place, filter) => {
                self.named(place, |replay, id| replay.refilter(id, filter))
            }
            Op::Exclude(one, other, excluded) => self.named(one, |replay, one| {
                replay.named(other, |replay, other| replay.exclude(one, other, excluded))
            }),
            Op::Remove(place) => self.named(place, Replay::remove),
            Op::RemoveAll => self.model.ids().into_iter().try_for_each(|id| self.remove(id)),
            Op::Step => self.step(),
            Op::Rebuild => self.rebuild(),
        }
    }

    fn named(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Self, BoxId) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.name(place).map_or(Ok(()), |id| act(self, id))
    }

    /// Adds a box on both sides.
    pub fn insert(&mut self, aabb: Aabb, filter: Filter) -> Result<BoxId, Failure> {
        let id = self.detector.insert(aabb, filter).map_err(|error| error.to_string())?;
        if self.model.get(id).is_some() || self.pairs.iter().any(|pair| pair.contains(id)) {
            return Err(format!("id {id} was given out again before its last event"));
        }
        self.model.put(id, aabb, filter);
        Ok(id)
    }

    /// Moves a box on both sides.
    pub fn set(&mut self, id: BoxId, aabb: Aabb) -> Result<(), Failure> {
        self.detector.set(id, aabb).map_err(|error| error.to_string())?;
        let filter = self.model.get(id).map_or(Filter::ALL, |(_, filter)| filter);
        self.model.put(id, aabb, filter);
        Ok(())
    }

    fn shift(&mut self, id: BoxId, by: [f32; 3]) -> Result<(), Failure> {
        let (aabb, _) = self.model.get(id).expect("named boxes exist");
        let moved = shifted(&aabb, by);
        if moved.check().is_err() { Ok(()) } else { self.set(id, moved) }
    }

    /// All at once through the batch call.
    fn shift_all(&mut self, by: [f32; 3]) -> Result<(), Failure> {
        let ids = self.model.ids();
        let old = |id: &BoxId| self.model.get(*id).expect("listed boxes exist").0;
        let moved: Vec<Aabb> = ids
            .iter()
            .map(old)
            .map(|aabb| {
                let moved = shifted(&aabb, by);
                if moved.check().is_ok() { moved } else { aabb }
            })
            .collect();
        self.set_all(&moved)
    }

    /// Gives all boxes new bounds, ascending by id, on both sides.
    pub fn set_all(&mut self, aabbs: &[Aabb]) -> Result<(), Failure> {
        self.detector.boxes_mut().set_all(aabbs).map_err(|error| error.to_string())?;
        for (id, &aabb) in self.model.ids().into_iter().zip(aabbs) {
            let (_, filter) = self.model.get(id).expect("listed boxes exist");
            self.model.put(id, aabb, filter);
        }
        Ok(())
    }

    /// Changes a filter on both sides.
    pub fn refilter(&mut self, id: BoxId, filter: Filter) -> Result<(), Failure> {
        let boxes = self.detector.boxes_mut();
        boxes.set_filter(id, filter).map_err(|error| error.to_string())?;
        let (aabb, _) = self.model.get(id).expect("named boxes exist");
        self.model.put(id, aabb, filter);
        Ok(())
    }

    /// Excludes a pair, or includes it again, on both sides. A box and itself are left out.
    pub fn exclude(&mut self, one: BoxId, other: BoxId, excluded: bool) -> Result<(), Failure> {
        if one == other {
            return Ok(());
        }
        match excluded {
            true => self.detector.exclude(one, other),
            false => self.detector.include(one, other),
        }
        .map_err(|error| error.to_string())?;
        self.model.set_excluded(one, other, excluded);
        Ok(())
    }

    /// Removes a box on both sides.
    pub fn remove(&mut self, id: BoxId) -> Result<(), Failure> {
        self.detector.remove(id).map_err(|error| error.to_string())?;
        self.model.remove(id);
        Ok(())
    }

    /// A fresh broad phase over the same boxes and pairs, by way of a snapshot.
    fn rebuild(&mut self) -> Result<(), Failure> {
        let boxes = self.detector.boxes().clone();
        let pairs = self.detector.pairs().to_vec();
        let fresh = (self.build)(&self.workers);
        let workers = self.workers.clone();
        self.detector = Detector::restore(Algorithm::BruteForce, workers, boxes, &pairs)
            .map_err(|error| error.to_string())?;
        self.detector.set_broad_phase(fresh);
        Ok(())
    }

    /// Checks the one rule for the limit on pairs around a step: with room for one pair less than
    /// there are, the step is refused and changes nothing, as often as it is tried, with changes
    /// pending and without; with room for just these pairs it is as [`Replay::step`].
    pub fn step_at_the_limit(&mut self) -> Result<(), Failure> {
        let count = self.model.overlapping().len();
        for _ in 0..2 {
            self.refused_step(count)?;
            self.refused_step(count)?;
            self.detector.set_pair_limit(count);
            self.step().map_err(|failure| format!("with a limit of {count}: {failure}"))?;
        }
        Ok(())
    }

    fn refused_step(&mut self, count: usize) -> Result<(), Failure> {
        let Some(limit) = count.checked_sub(1) else { return Ok(()) };
        let before = self.detector.pairs().to_vec();
        let pending = self.detector.boxes().changes().len();
        self.detector.set_pair_limit(limit);
        match self.detector.step() {
            Err(Error::TooManyPairs { limit: named, .. }) if named == limit => {}
            other => return Err(format!("{count} pairs for a limit of {limit}: {other:?}")),
        }
        if self.detector.boxes().changes().len() != pending {
            return Err("a refused step took changes away".into());
        }
        compare("pairs after a refusal", self.detector.pairs(), &before)
    }

    /// Takes a step and compares events and pairs with the model's.
    pub fn step(&mut self) -> Result<(), Failure> {
        let now = self.model.pairs();
        let events = self.detector.step().map_err(|error| error.to_string())?;
        let began: Vec<Pair> = now.difference(&self.pairs).copied().collect();
        let ended: Vec<Pair> = self.pairs.difference(&now).copied().collect();
        compare("began", events.began, &began)?;
        compare("ended", events.ended, &ended)?;
        let all: Vec<Pair> = now.iter().copied().collect();
        compare("pairs", self.detector.pairs(), &all)?;
        self.detector.validate();
        let count = self.model.len() as u64;
        self.hits.0 += all.len() as u64;
        self.hits.1 += count * count.saturating_sub(1) / 2;
        self.pairs = now;
        Ok(())
    }
}

fn detector(build: Build<'_>, workers: &Workers) -> Detector {
    Detector::with_broad_phase(build(workers), workers.clone())
}

fn shifted(aabb: &Aabb, by: [f32; 3]) -> Aabb {
    Aabb {
        min: std::array::from_fn(|k| aabb.min[k] + by[k]),
        max: std::array::from_fn(|k| aabb.max[k] + by[k]),
    }
}

/// Says which pairs are missing and which are too many.
pub fn compare(what: &str, got: &[Pair], expected: &[Pair]) -> Result<(), Failure> {
    if got == expected {
        return Ok(());
    }
    let (have, want): (BTreeSet<_>, BTreeSet<_>) =
        (got.iter().collect(), expected.iter().collect());
    let missing: Vec<_> = want.difference(&have).take(5).collect();
    let extra: Vec<_> = have.difference(&want).take(5).collect();
    if missing.is_empty() && extra.is_empty() {
        return Err(format!("{what} are not in order, or repeated"));
    }
    Err(format!(
        "{what}: {} instead of {}; missing {missing:?}, extra {extra:?}",
        got.len(),
        expected.len()
    ))
}
