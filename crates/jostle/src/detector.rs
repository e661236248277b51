//! [`Detector`]: boxes, a broad phase and the tracker in one. What most users hold.

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Stamp};
use crate::broad::bvh::QueryTree;
use crate::broad::{Algorithm, BroadPhase};
use crate::error::{BoxError, Error};
use crate::events::Events;
use crate::filter::Filter;
use crate::pair::{BoxId, Pair};
use crate::par::Workers;
use crate::queries::Queries;
use crate::stats::Stats;
use crate::stepper::{StepTime, Stepper};

/// Follows a set of moving boxes and tells, step by step, which pairs of them begin and cease
/// to overlap.
///
/// ```
/// use jostle::{Aabb, Algorithm, Detector, Filter};
///
/// let mut detector = Detector::new(Algorithm::Auto);
/// let unit = |x: f32| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]);
/// let ball = detector.insert(unit(0.0), Filter::ALL)?;
/// let wall = detector.insert(unit(5.0), Filter::STILL)?;
/// assert!(detector.step()?.began.is_empty());
/// detector.set(ball, unit(4.0))?;
/// assert_eq!(detector.step()?.began, [(ball.get(), wall.get()).into()]);
/// # Ok::<(), jostle::Error>(())
/// ```
pub struct Detector {
    boxes: Boxes,
    algorithm: Algorithm,
    stepper: Stepper,
    /// The state of the boxes that the broad phase has seen.
    seen: Option<Stamp>,
    beside: Option<Beside>,
}

/// A tree for queries beside the broad phase.
struct Beside {
    tree: QueryTree,
    /// The boxes may differ from what the tree knows.
    stale: bool,
    /// Steps since the last query.
    idle: u32,
}

/// After so many steps without a query the tree beside the broad phase is given up.
const PATIENCE: u32 = 8;

impl Detector {
    /// An empty detector that runs on the calling thread.
    pub fn new(algorithm: Algorithm) -> Detector {
        Detector::with_workers(algorithm, Workers::one())
    }

    /// An empty detector that runs on `workers`.
    pub fn with_workers(algorithm: Algorithm, workers: Workers) -> Detector {
        let broad = algorithm.build(&workers);
        Detector::with_broad_phase(algorithm, broad, workers)
    }

    /// A detector around a broad phase of the caller's; `algorithm` is what
    /// [`Detector::algorithm`] says of it.
    pub fn with_broad_phase(
        algorithm: Algorithm,
        broad: Box<dyn BroadPhase>,
        workers: Workers,
    ) -> Detector {
        Detector {
            boxes: Boxes::new(),
            algorithm,
            stepper: Stepper::with_broad_phase(broad, &workers),
            seen: None,
            beside: None,
        }
    }

    /// Continues from a snapshot: these boxes, and these pairs as the set after the last step.
    /// The next step's events continue from there.
    pub fn restore(
        algorithm: Algorithm,
        workers: Workers,
        boxes: Boxes,
        pairs: &[Pair],
    ) -> Detector {
        let mut detector = Detector::with_workers(algorithm, workers);
        detector.boxes = boxes;
        detector.stepper.set_pairs(pairs);
        detector
    }

    /// The boxes.
    pub fn boxes(&self) -> &Boxes {
        &self.boxes
    }

    /// The boxes, to change them in batches.
    pub fn boxes_mut(&mut self) -> &mut Boxes {
        if let Some(beside) = &mut self.beside {
            beside.stale = true;
        }
        &mut self.boxes
    }

    /// Adds a box.
    pub fn insert(&mut self, aabb: Aabb, filter: Filter) -> Result<BoxId, BoxError> {
        self.boxes_mut().insert(aabb, filter)
    }

    /// Gives a box new bounds.
    pub fn set(&mut self, id: BoxId, aabb: Aabb) -> Result<(), BoxError> {
        self.boxes_mut().set(id, aabb)
    }

    /// Removes a box; its pairs end with the next step.
    pub fn remove(&mut self, id: BoxId) -> Result<(), BoxError> {
        self.boxes_mut().remove(id)
    }

    /// Finds what began and what ended since the last step, sorted by pair. On an error the
    /// changes stay pending and the pairs are as before: fix the cause and step again.
    pub fn step(&mut self) -> Result<Events<'_>, Error> {
        self.seen = None;
        self.stepper.step(&self.boxes)?;
        self.commit();
        Ok(self.stepper.events())
    }

    /// Ends the step for the boxes, and for the tree beside, which follows while it is asked.
    fn commit(&mut self) {
        if let Some(beside) = &mut self.beside {
            let follows = beside.idle < PATIENCE && beside.tree.is_at(&self.boxes);
            if follows && beside.stale {
                beside.tree.update(&self.boxes);
            }
            self.boxes.commit();
            if follows {
                beside.tree.step(&self.boxes);
            }
            (beside.idle, beside.stale) = (beside.idle + 1, !follows);
            self.beside.take_if(|beside| beside.stale);
        } else {
            self.boxes.commit();
        }
        self.seen = Some(self.boxes.stamp());
    }

    /// Queries on the boxes as they are now, pending changes included: no step is needed first.
    ///
    /// Where the broad phase can answer and nothing has changed since the last step, it does.
    /// Otherwise a tree is kept beside it: the first query builds it, at the cost of a full build,
    /// later ones take in what changed, and steps keep it up to date until none of eight in a row
    /// saw a query; then it is given up. That is why this takes `&mut self`. The answer itself is
    /// read-only and can be shared among threads.
    pub fn queries(&mut self) -> Queries<'_> {
        let current = self.seen == Some(self.boxes.stamp()) && self.boxes.changes().is_empty();
        if let Some(tree) = self.stepper.broad_phase().queries().filter(|_| current) {
            return Queries::new(tree, self.stepper.workers());
        }
        let beside = self.beside.get_or_insert_with(|| Beside {
            tree: QueryTree::new(self.stepper.workers()),
            stale: true,
            idle: 0,
        });
        beside.idle = 0;
        if std::mem::take(&mut beside.stale) || !beside.tree.is_at(&self.boxes) {
            beside.tree.update(&self.boxes);
        }
        Queries::new(beside.tree.queries(), self.stepper.workers())
    }

    /// Every overlapping pair after the last step, ascending.
    pub fn pairs(&self) -> &[Pair] {
        self.stepper.pairs()
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        self.stepper.events()
    }

    /// The algorithm this detector was given.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Exchanges the algorithm. Pairs and events go on as if nothing had happened.
    pub fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.replace_broad_phase(algorithm, algorithm.build(self.stepper.workers()));
    }

    /// Exchanges the broad phase for one of the caller's.
    pub fn replace_broad_phase(&mut self, algorithm: Algorithm, broad: Box<dyn BroadPhase>) {
        self.stepper.replace_broad_phase(broad);
        self.algorithm = algorithm;
        self.seen = None;
    }

    /// Sets how many pairs may overlap before [`Detector::step`] refuses.
    pub fn set_pair_limit(&mut self, limit: usize) {
        self.stepper.set_pair_limit(limit);
    }

    /// Number of threads the algorithm may use.
    pub fn threads(&self) -> usize {
        self.stepper.workers().count()
    }

    /// How long the parts of the last step took.
    pub fn step_time(&self) -> StepTime {
        self.stepper.time()
    }

    /// What the broad phase counted in the last step.
    pub fn stats(&self) -> Stats {
        self.stepper.stats()
    }

    /// Why the broad phase chose as it did, if it is one that chooses.
    pub fn reason(&self) -> Option<String> {
        self.stepper.reason()
    }

    /// Panics and names the invariant if the broad phase's structure is broken. For tests.
    pub fn validate(&self) {
        self.stepper.validate(&self.boxes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_pairs_are_refused_with_a_count_and_nothing_is_lost() {
        for &algorithm in Algorithm::ALL {
            let mut detector = Detector::new(algorithm);
            detector.set_pair_limit(1000);
            let ids =
                detector.boxes_mut().insert_all(&[Aabb::default(); 300], Filter::ALL).unwrap();
            let error = detector.step().unwrap_err();
            assert_eq!(error, Error::TooManyPairs { limit: 1000, estimate: Some(44_850) });
            assert_eq!(detector.boxes().changes().inserted().len(), 300);
            detector.boxes_mut().remove_all(&ids[20..]).unwrap();
            assert_eq!(detector.step().unwrap().began.len(), 190, "{algorithm}");
            detector.boxes_mut().remove_all(&ids[..20]).unwrap();
            assert_eq!(detector.step().unwrap().ended.len(), 190, "{algorithm}");
        }
    }

    #[test]
    fn a_detector_restored_in_mid_flight_balances_its_events() {
        let cube = |at: f32| Aabb::new([at; 3], [at + 1.0; 3]);
        let mut detector = Detector::new(Algorithm::SortSweep);
        let ids = detector
            .boxes_mut()
            .insert_all(&[cube(0.0), cube(0.5), cube(1.2)], Filter::ALL)
            .unwrap();
        assert_eq!(detector.step().unwrap().began.len(), 2);
        detector.remove(ids[0]).unwrap();
        let (boxes, pairs) = (detector.boxes().clone(), detector.pairs().to_vec());
        let mut restored = Detector::restore(Algorithm::BruteForce, Workers::one(), boxes, &pairs);
        assert_eq!(restored.step().unwrap(), detector.step().unwrap());
        assert_eq!(restored.events().ended, [Pair::new(ids[0], ids[1])]);
    }
}
