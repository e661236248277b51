//! [`Stepper`]: a broad phase and the tracker, without boxes of their own.
//!
//! Several steppers can follow one set of boxes, to compare algorithms on the same frame. A
//! [`Detector`](crate::Detector) is a stepper and the boxes it follows.

use std::time::Duration;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::{Algorithm, BroadPhase, Report};
use crate::clock::Instant;
use crate::error::Error;
use crate::events::{Events, PairTracker};
use crate::filter::Filter;
use crate::journal::StepHash;
use crate::pair::{LimitReached, Pair, PairBuffer};
use crate::par::Workers;
use crate::stats::Stats;

/// How long the parts of the last step took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTime {
    /// The broad phase's update.
    pub update: Duration,
    /// The update and the tracker's events.
    pub step: Duration,
}

/// Steps over [`Boxes`] that the caller owns: finds pairs with one broad phase and keeps the set
/// of pairs and the events of the last step.
///
/// ```
/// use jostle::{Aabb, Algorithm, Boxes, Filter, Stepper, Workers};
///
/// let mut boxes = Boxes::new();
/// boxes.insert_all(&[Aabb::default(); 3], Filter::ALL)?;
/// let workers = Workers::one();
/// let mut steppers = [Algorithm::Bvh, Algorithm::Sap].map(|one| Stepper::new(one, &workers));
/// for stepper in &mut steppers {
///     assert_eq!(stepper.step(&boxes)?.began.len(), 3);
/// }
/// boxes.commit(); // after the last stepper
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stepper {
    workers: Workers,
    broad: Box<dyn BroadPhase>,
    found: PairBuffer,
    tracker: PairTracker,
    /// Number of overlapping pairs after the last step, excluded ones included.
    overlapping: usize,
    report: Report,
    /// How many steps in a row reported changes.
    deltas: u32,
    time: StepTime,
}

impl Stepper {
    /// A stepper for one of the library's algorithms.
    pub fn new(algorithm: Algorithm, workers: &Workers) -> Stepper {
        Stepper::with_broad_phase(algorithm.build(workers), workers)
    }

    /// A stepper for any broad phase.
    pub fn with_broad_phase(broad: Box<dyn BroadPhase>, workers: &Workers) -> Stepper {
        Stepper {
            workers: workers.clone(),
            broad,
            found: PairBuffer::new(),
            tracker: PairTracker::with_workers(workers),
            overlapping: 0,
            report: Report::Full,
            deltas: 0,
            time: StepTime::default(),
        }
    }

    /// Follows the pending changes of the boxes and returns what began and what ended, sorted by
    /// pair. The caller then calls [`Boxes::commit`], once for all steppers. On an error the pairs
    /// are as before; fix the cause and step again without committing.
    ///
    /// Fails if and only if more pairs overlap than the [limit](Stepper::set_pair_limit) allows.
    pub fn step(&mut self, boxes: &Boxes) -> Result<Events<'_>, Error> {
        let start = Instant::now();
        let Stepper { workers, broad, found, tracker, overlapping, .. } = self;
        found.clear();
        let known = *overlapping;
        let step = || {
            let report = broad.update(boxes, found)?;
            let overlapping = count_pairs(report, found, known);
            // The one rule for all broad phases: those that report changes see the new pairs only,
            // and none if nothing changed but the limit. Refused here, the broad phase has seen
            // changes that stay pending; it notices that and reads all boxes in the next step.
            if overlapping > found.limit() {
                return Err(LimitReached { limit: found.limit() }.into());
            }
            let update = start.elapsed();
            tracker.follow(report, found, boxes);
            Ok((report, overlapping, update))
        };
        let done = if is_small(boxes) { workers.alone(step) } else { workers.enter(step) };
        let done = done.map_err(|error| with_estimate(error, boxes))?;
        (self.report, self.overlapping, self.time.update) = done;
        self.give_back();
        self.time.step = start.elapsed();
        Ok(self.tracker.events())
    }

    /// After some reports of changes, gives back the memory that a report of all pairs needed, if
    /// it is large: taking it again costs less than one part in thirty of a step.
    fn give_back(&mut self) {
        self.deltas = if self.report == Report::Delta { self.deltas.saturating_add(1) } else { 0 };
        if self.deltas == FEW_DELTAS {
            self.found.give_back();
            self.tracker.give_back();
        }
    }

    /// Every overlapping pair after the last step, ascending. If few pairs began and ended since
    /// it was last asked for, the first call after a step merges them, in one pass over the pairs.
    pub fn pairs(&self) -> &[Pair] {
        self.tracker.pairs()
    }

    /// Number of overlapping pairs after the last step.
    pub fn pair_count(&self) -> usize {
        self.tracker.pair_count()
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        self.tracker.events()
    }

    /// Numbers and hashes of the last step, as a recording has them.
    pub fn hash(&self) -> StepHash {
        let Events { began, ended } = self.events();
        StepHash::new(self.pairs(), began, ended)
    }

    /// Continues from the pairs of a snapshot of these boxes. Refuses pairs that cannot be the
    /// result of a step: listed twice, or of slots that neither hold a box nor lost one since.
    pub fn restore_pairs(&mut self, boxes: &Boxes, pairs: &[Pair]) -> Result<(), Error> {
        let mut pairs = pairs.to_vec();
        pairs.sort_unstable();
        check_pairs(boxes, &pairs)?;
        self.tracker.set_pairs(&pairs);
        Ok(())
    }

    /// The broad phase.
    pub fn broad_phase(&self) -> &dyn BroadPhase {
        &*self.broad
    }

    /// Replaces the broad phase. Pairs and events continue without a gap.
    pub fn replace_broad_phase(&mut self, broad: Box<dyn BroadPhase>) {
        self.broad = broad;
    }

    /// Sets how many pairs may overlap, excluded ones included: [`Stepper::step`] refuses more,
    /// whether they began just now or long ago.
    pub fn set_pair_limit(&mut self, limit: usize) {
        self.found.set_limit(limit);
    }

    /// How many pairs may overlap before [`Stepper::step`] refuses.
    pub(crate) fn pair_limit(&self) -> usize {
        self.found.limit()
    }

    /// The workers that the broad phase runs on.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }

    /// How the last update was reported: all pairs, or the changes.
    pub fn report(&self) -> Report {
        self.report
    }

    /// How long the parts of the last step took.
    pub fn time(&self) -> StepTime {
        self.time
    }

    /// What the broad phase counted in the last step.
    pub fn stats(&self) -> Stats {
        self.broad.stats()
    }

    /// Bytes held: those of the broad phase, of its report, and of the pairs and events. The boxes
    /// are the caller's.
    pub fn bytes(&self) -> usize {
        self.broad.stats().bytes + self.found.bytes() + self.tracker.bytes()
    }

    /// Why the broad phase chose as it did, if it is one that chooses.
    pub fn reason(&self) -> Option<String> {
        self.broad.reason()
    }

    /// Panics and names the invariant if the broad phase's structure is broken. For tests.
    pub fn validate(&self, boxes: &Boxes) {
        self.broad.validate(boxes);
    }
}

/// Fails at the first pair that cannot be the result of a step on these boxes.
fn check_pairs(boxes: &Boxes, sorted: &[Pair]) -> Result<(), Error> {
    let refused = |pair: Pair, why: String| Err(Error::Snapshot(format!("pair {pair}: {why}")));
    for (place, &pair) in sorted.iter().enumerate() {
        if pair.a() >= pair.b() {
            return refused(pair, "the first slot must be the smaller of two".into());
        }
        if let Some(slot) = [pair.a(), pair.b()].into_iter().find(|&s| !boxes.may_have_pairs(s)) {
            return refused(pair, format!("there is no box in slot {slot}"));
        }
        if place > 0 && sorted[place - 1] == pair {
            return refused(pair, "listed twice".into());
        }
    }
    Ok(())
}

/// Returns true if a step is done before other threads wake up: few boxes, or few changes. Many
/// boxes are left to all threads whatever changed, because an algorithm may read all of them.
fn is_small(boxes: &Boxes) -> bool {
    boxes.len() < FEW_BOXES || (boxes.changes().len() < FEW_CHANGES && boxes.len() < MANY_BOXES)
}

/// After how many reports of changes another report of all pairs is not expected soon.
const FEW_DELTAS: u32 = 4;

/// At about 40 ns a box, one thread does these in the time that it takes to wake another.
const FEW_BOXES: usize = 1 << 10;
const FEW_CHANGES: usize = 1 << 8;
const MANY_BOXES: usize = 1 << 16;

/// Number of overlapping pairs after an update that wrote this report; `known` before it.
fn count_pairs(report: Report, found: &PairBuffer, known: usize) -> usize {
    match report {
        Report::Full => found.len(),
        // A broken broad phase may end more than there was; the tracker says which pair.
        Report::Delta => (known + found.len()).saturating_sub(found.ended().len()),
    }
}

/// Says about how many pairs there are when there are too many.
fn with_estimate(error: Error, boxes: &Boxes) -> Error {
    match error {
        Error::TooManyPairs { limit, estimate: None } => Error::TooManyPairs {
            limit,
            estimate: Some(estimate_pairs(boxes).max(limit as u64 + 1)),
        },
        other => other,
    }
}

/// The number of pairs, from up to a thousand boxes tested against all.
fn estimate_pairs(boxes: &Boxes) -> u64 {
    let step = (boxes.len() / 1000).max(1);
    let (mut sampled, mut hits) = (0u64, 0u64);
    for id in boxes.live_slots().step_by(step) {
        let (aabb, filter) = (&boxes.aabbs()[id.index()], &boxes.filters()[id.index()]);
        let others = boxes.aabbs().iter().zip(boxes.filters());
        let hit = |(other, of): &(&Aabb, &Filter)| aabb.overlaps(other) && filter.allows(of);
        hits += others.filter(hit).count() as u64;
        // A box overlaps itself; that is no pair.
        hits -= u64::from(filter.allows(filter));
        sampled += 1;
    }
    let share = hits as f64 / sampled.max(1) as f64;
    (share * boxes.len() as f64 / 2.0).round() as u64
}
