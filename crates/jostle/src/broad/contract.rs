//! What every broad phase promises: the trait [`BroadPhase`] and the [`Report`] of an update.

use std::fmt::Debug;

use crate::boxes::Boxes;
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::queries::BoxQueries;
use crate::stats::Stats;

/// How to read the pairs that an update wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// The buffer holds every overlapping pair.
    Full,
    /// The buffer holds the pairs that began and those that ended since the previous update.
    Delta,
}

/// An algorithm that finds the overlapping pairs of [`Boxes`].
///
/// A broad phase can be shared between threads, and cloned: with a clone of the boxes it continues
/// from the same state, which is what a rollback needs. `#[derive(Clone)]` on the implementing type
/// is enough for that.
///
/// ```
/// use jostle::{
///     Aabb, Boxes, BroadPhase, Detector, Error, Filter, PairBuffer, Report, Stats, Workers,
/// };
///
/// #[derive(Clone, Debug)]
/// struct Loops;
///
/// impl BroadPhase for Loops {
///     fn name(&self) -> &str {
///         "loops"
///     }
///
///     fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
///         let (aabbs, filters) = (boxes.aabbs(), boxes.filters());
///         for a in boxes.live_slots() {
///             for b in boxes.live_slots().filter(|&b| b > a) {
///                 let allowed = filters[a.index()].allows(&filters[b.index()]);
///                 if allowed && aabbs[a.index()].overlaps(&aabbs[b.index()]) {
///                     found.lane().push(a.get(), b.get())?;
///                 }
///             }
///         }
///         Ok(Report::Full)
///     }
///
///     fn stats(&self) -> Stats {
///         Stats::default()
///     }
/// }
///
/// let mut detector = Detector::with_broad_phase(Box::new(Loops), Workers::one());
/// detector.boxes_mut().insert_all(&[Aabb::default(); 3], Filter::ALL)?;
/// assert_eq!(detector.step()?.began.len(), 3);
/// # Ok::<(), jostle::Error>(())
/// ```
pub trait BroadPhase: CloneBroadPhase + Debug + Send + Sync {
    /// The name of the algorithm.
    fn name(&self) -> &str;

    /// Follows [`Boxes::changes`] and writes pairs into the empty buffer, each of them once, in
    /// any order. After an error the algorithm forgets what it knew and reads all boxes again in
    /// the next update.
    ///
    /// A delta report continues from the last successful update on the same boxes; the pairs of
    /// removed boxes are among the ended ones.
    ///
    /// **The limit on pairs.** A step is refused if and only if more pairs overlap after it than
    /// [`PairBuffer::limit`] allows, whether they are new or not. [`Stepper`](crate::Stepper)
    /// holds all algorithms to that rule. An update must fail rather than write more pairs than
    /// the limit to the lanes, may fail early if it knows that there are more, and must not fail
    /// otherwise: pairs that ended do not count.
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error>;

    /// What the last update counted.
    fn stats(&self) -> Stats;

    /// Queries on the boxes as the last successful update saw them, if the structure that finds
    /// the pairs can answer them.
    fn queries(&self) -> Option<&dyn BoxQueries> {
        None
    }

    /// Overlap tests of the last update, without collecting the other statistics.
    fn tests(&self) -> u64 {
        self.stats().tests
    }

    /// Why this algorithm works the way it does on these boxes; only algorithms that choose
    /// between others have an answer.
    fn reason(&self) -> Option<String> {
        None
    }

    /// Draws what the algorithm sees of these boxes after an update: cells, nodes, sweep axes. For
    /// pictures; an algorithm need not answer.
    fn sketch(&self, _boxes: &Boxes, _sketch: &mut Sketch) {}

    /// Panics and names the invariant if the structure is broken. Tests call it after each step.
    fn validate(&self, _boxes: &Boxes) {}
}

/// Clones a [`BroadPhase`] behind a pointer. Every broad phase that is [`Clone`] has this.
pub trait CloneBroadPhase {
    /// A copy in the same state.
    fn clone_box(&self) -> Box<dyn BroadPhase>;
}

impl<B: BroadPhase + Clone + 'static> CloneBroadPhase for B {
    fn clone_box(&self) -> Box<dyn BroadPhase> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn BroadPhase> {
    fn clone(&self) -> Box<dyn BroadPhase> {
        (**self).clone_box()
    }
}
