//! [`Detector`]: a stepper and the boxes it follows. What most users hold.

use crate::aabb::Aabb;
use crate::boxes::{Beginning, Boxes, Stamp};
use crate::broad::{Algorithm, BroadPhase, Sketch};
use crate::error::{BoxError, Error};
use crate::events::Events;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::journal::Recorder;
use crate::pair::Pair;
use crate::par::Workers;
use crate::queries::Queries;
use crate::query_cache::QueryCache;
use crate::stats::Stats;
use crate::stepper::{StepTime, Stepper};

/// Follows a set of moving boxes and tells, step by step, which pairs of them begin and cease
/// to overlap.
///
/// ```
/// use jostle::{Aabb, Algorithm, Detector, Filter, Pair};
///
/// let mut detector = Detector::new(Algorithm::Auto);
/// let unit = |x: f32| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]);
/// let ball = detector.insert(unit(0.0), Filter::ALL)?;
/// let wall = detector.insert(unit(5.0), Filter::STILL)?;
/// assert!(detector.step()?.began.is_empty());
/// detector.set(ball, unit(4.0))?;
/// assert_eq!(detector.step()?.began, [Pair::new(ball, wall)]);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Debug)]
pub struct Detector {
    boxes: Boxes,
    /// None for a broad phase of the caller's.
    algorithm: Option<Algorithm>,
    stepper: Stepper,
    /// The state of the boxes that the broad phase has seen.
    seen: Option<Stamp>,
    query_cache: QueryCache,
}

impl Default for Detector {
    /// An empty detector with [`Algorithm::Auto`] on the calling thread.
    fn default() -> Detector {
        Detector::new(Algorithm::Auto)
    }
}

impl Clone for Detector {
    /// A copy that continues from here as the original would, with the same bytes: what a
    /// rollback needs. The two share their worker threads and nothing else. The broad phase is
    /// copied with what it knows, so the next step of the copy costs no more than one of the
    /// original; a tree for queries is not copied.
    fn clone(&self) -> Detector {
        let boxes = self.boxes.clone();
        let current = self.seen == Some(self.boxes.stamp());
        Detector {
            seen: current.then(|| boxes.stamp()),
            boxes,
            algorithm: self.algorithm,
            stepper: self.stepper.clone(),
            query_cache: QueryCache::default(),
        }
    }
}

/// Making one.
impl Detector {
    /// An empty detector that runs on the calling thread.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Detector {
        Detector::with_workers(algorithm, Workers::one())
    }

    /// An empty detector that runs on `workers`.
    #[must_use]
    pub fn with_workers(algorithm: Algorithm, workers: Workers) -> Detector {
        let mut detector = Detector::with_broad_phase(algorithm.build(&workers), workers);
        detector.algorithm = Some(algorithm);
        detector
    }

    /// An empty detector around a broad phase of the caller's.
    #[must_use]
    pub fn with_broad_phase(broad: Box<dyn BroadPhase>, workers: Workers) -> Detector {
        let mut boxes = Boxes::new();
        boxes.set_workers(&workers);
        Detector {
            boxes,
            algorithm: None,
            stepper: Stepper::with_broad_phase(broad, &workers),
            seen: None,
            query_cache: QueryCache::default(),
        }
    }

    /// Continues from a snapshot: these boxes, and these pairs as the set after the last step.
    /// The events of the next step continue from there, whatever the algorithm and the number of
    /// workers.
    ///
    /// A snapshot is foreign data. A pair is refused if it is listed twice, or if one of its slots
    /// neither holds a box nor lost one since the last step.
    ///
    /// ```
    /// # use jostle::{Aabb, Algorithm, Detector, Filter, Workers};
    /// # let mut detector = Detector::new(Algorithm::Auto);
    /// # let ids = detector.boxes_mut().insert_all(&[Aabb::default(); 3], Filter::ALL)?;
    /// detector.step()?;
    /// let (boxes, pairs) = (detector.boxes().clone(), detector.pairs().to_vec());
    /// let mut restored = Detector::restore(Algorithm::Auto, Workers::one(), boxes, &pairs)?;
    /// restored.remove(ids[0])?;
    /// assert_eq!(restored.step()?.ended.len(), 2);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn restore(
        algorithm: Algorithm,
        workers: Workers,
        boxes: Boxes,
        pairs: &[Pair],
    ) -> Result<Detector, Error> {
        let mut detector = Detector::with_workers(algorithm, workers);
        detector.stepper.restore_pairs(&boxes, pairs)?;
        detector.boxes = boxes;
        detector.boxes.set_workers(detector.stepper.workers());
        Ok(detector)
    }
}

/// Boxes. On an error nothing has changed.
impl Detector {
    /// The boxes.
    pub fn boxes(&self) -> &Boxes {
        &self.boxes
    }

    /// The boxes, to change them in batches.
    pub fn boxes_mut(&mut self) -> &mut Boxes {
        self.query_cache.invalidate();
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

    /// Never reports this pair of boxes again; see [`Boxes::exclude`].
    ///
    /// ```
    /// # use jostle::{Aabb, Algorithm, Detector, Filter, Pair};
    /// # let mut detector = Detector::new(Algorithm::Auto);
    /// let links = detector.boxes_mut().insert_all(&[Aabb::default(); 3], Filter::ALL)?;
    /// detector.exclude(links[0], links[1])?;
    /// detector.exclude(links[1], links[2])?;
    /// assert_eq!(detector.step()?.began, [Pair::new(links[0], links[2])]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn exclude(&mut self, one: BoxId, other: BoxId) -> Result<(), BoxError> {
        self.boxes_mut().exclude(one, other)
    }

    /// Reports an excluded pair again; see [`Boxes::include`].
    pub fn include(&mut self, one: BoxId, other: BoxId) -> Result<(), BoxError> {
        self.boxes_mut().include(one, other)
    }
}

/// Steps and queries.
impl Detector {
    /// Finds what began and what ended since the last step, sorted by pair.
    ///
    /// Fails if and only if more pairs overlap than the [limit](Detector::set_pair_limit) allows.
    /// Then the changes stay pending and the pairs are as before: raise the limit, or move or
    /// remove boxes, and step again.
    pub fn step(&mut self) -> Result<Events<'_>, Error> {
        self.seen = None;
        if let Err(error) = self.stepper.step(&self.boxes) {
            self.boxes.note_refusal(&error);
            return Err(error);
        }
        self.query_cache.commit(&mut self.boxes);
        self.seen = Some(self.boxes.stamp());
        if let Some(recorder) = self.boxes.recorder_mut() {
            let events = self.stepper.events();
            recorder.step(self.stepper.pair_count(), events.began, events.ended);
        }
        Ok(self.stepper.events())
    }

    /// Queries on the boxes as they are now. **Pending changes are seen**: no step is needed
    /// first, and the answers do not depend on whether one was made.
    ///
    /// Any number of threads may ask at once: a shared reference is enough, and the answers
    /// borrow it, so the boxes cannot change under a query.
    ///
    /// If the broad phase can answer and nothing has changed since the last step, it does.
    /// Otherwise a tree is kept next to it: the first query builds it, at the cost of a full
    /// build, the first query after a change updates it while others wait, and steps keep it up to
    /// date until eight in a row saw no query; then it is given up.
    ///
    /// ```
    /// use jostle::{Aabb, Detector, Filter};
    ///
    /// let mut detector = Detector::default();
    /// detector.insert(Aabb::point([1.0; 3]), Filter::ALL)?;
    /// let shared = &detector;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..3 {
    ///         scope.spawn(|| shared.queries().containing([1.0; 3], &Filter::ALL));
    ///     }
    /// });
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn queries(&self) -> Queries<'_> {
        let workers = self.stepper.workers();
        let current = self.seen == Some(self.boxes.stamp()) && self.boxes.changes().is_empty();
        match self.stepper.broad_phase().queries() {
            Some(tree) if current => Queries::borrowed(tree, &self.boxes, workers),
            _ => {
                let tree = self.query_cache.tree(&self.boxes, workers);
                Queries::shared(tree, &self.boxes, workers)
            }
        }
    }

    /// Every overlapping pair after the last step, ascending. If few pairs began and ended since
    /// it was last asked for, the first call after a step merges them, in one pass over the pairs;
    /// from any number of threads.
    pub fn pairs(&self) -> &[Pair] {
        self.stepper.pairs()
    }

    /// Number of overlapping pairs after the last step.
    pub fn pair_count(&self) -> usize {
        self.stepper.pair_count()
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        self.stepper.events()
    }
}

/// Recording.
impl Detector {
    /// Tells a recorder every call that changes something from here on, and what each step finds,
    /// beginning with the boxes and pairs as they are. Another recorder takes the place of the
    /// last. A copy of a detector is not recorded, and boxes replaced as a whole (by assigning to
    /// [`Detector::boxes_mut`]) take their recorder with them.
    pub fn record(&mut self, recorder: Recorder) {
        let beginning = Beginning {
            algorithm: self.stepper.broad_phase().name(),
            threads: self.stepper.workers().count(),
            pair_limit: self.stepper.pair_limit(),
            pairs: self.stepper.pairs(),
        };
        self.boxes.record(recorder, &beginning);
    }

    /// The recorder: whether it is in order, and how much it has written.
    pub fn recorder(&self) -> Option<&Recorder> {
        self.boxes.recorder()
    }

    /// Stops recording; [`Recorder::finish`] then says whether everything was written.
    pub fn stop_recording(&mut self) -> Option<Recorder> {
        self.boxes.take_recorder()
    }
}

/// The algorithm.
impl Detector {
    /// The algorithm this detector was given; none if it was given a broad phase of the caller's.
    pub fn algorithm(&self) -> Option<Algorithm> {
        self.algorithm
    }

    /// Replaces the algorithm. Pairs and events continue as if nothing had happened.
    pub fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.set_broad_phase(algorithm.build(self.stepper.workers()));
        self.algorithm = Some(algorithm);
    }

    /// Replaces the broad phase by one of the caller's. Pairs and events continue as if nothing had
    /// happened.
    pub fn set_broad_phase(&mut self, broad: Box<dyn BroadPhase>) {
        self.boxes.note_algorithm(broad.name());
        self.stepper.replace_broad_phase(broad);
        self.algorithm = None;
        self.seen = None;
    }

    /// Sets how many pairs may overlap: [`Detector::step`] refuses more, whatever the algorithm and
    /// whether they began just now or long ago. Pairs that filters forbid do not count;
    /// [excluded](Detector::exclude) ones do. [`PairBuffer::DEFAULT_LIMIT`](crate::PairBuffer)
    /// holds until another is set.
    pub fn set_pair_limit(&mut self, limit: usize) {
        self.boxes.note_pair_limit(limit);
        self.stepper.set_pair_limit(limit);
    }

    /// How many pairs may overlap before [`Detector::step`] refuses.
    #[cfg(feature = "serde")]
    pub(crate) fn pair_limit(&self) -> usize {
        self.stepper.pair_limit()
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

    /// Empties the sketch and draws what the broad phase saw in the last step: cells, nodes, sweep
    /// axes. Not every algorithm draws something.
    pub fn sketch(&self, sketch: &mut Sketch) {
        sketch.clear();
        self.stepper.broad_phase().sketch(&self.boxes, sketch);
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
        let mut restored =
            Detector::restore(Algorithm::BruteForce, Workers::one(), boxes, &pairs).unwrap();
        assert_eq!(restored.step().unwrap(), detector.step().unwrap());
        assert_eq!(restored.events().ended, [Pair::new(ids[0], ids[1])]);
    }
}
