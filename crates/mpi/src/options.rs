//! [`Options`]: how a distributed detector works.

use std::fmt;
use std::sync::Arc;

use jostle::{Algorithm, Boxes, BroadPhase, Detector, Pair, PairBuffer, Workers};

/// Who may change a box after it was inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// The rank that inserted it, always: for users with a distribution of their own. Every
    /// moving box is sent to the rank in whose region it is.
    Fixed,
    /// The rank in whose region its lower corner lies. Boxes change hands as they move, and only
    /// those near a border are sent at all: for simulations that move with the regions.
    Migrating,
}

/// Makes a broad phase on some workers.
pub type BuildBroadPhase = dyn Fn(&Workers) -> Box<dyn BroadPhase> + Send + Sync;

/// How a distributed detector works. All ranks give the same, apart from the algorithm and the
/// workers, which are each rank's own business.
#[derive(Clone)]
pub struct Options {
    /// The algorithm of the local search.
    pub algorithm: Algorithm,
    /// The threads of the local search.
    pub workers: Workers,
    /// A broad phase to use instead of the algorithm, such as one on a GPU.
    pub broad_phase: Option<Arc<BuildBroadPhase>>,
    /// Who may change a box.
    pub ownership: Ownership,
    /// Most pairs that may overlap on one rank.
    pub pair_limit: usize,
    /// Boxes that reach more regions than this go to all ranks in one collective call, and each
    /// keeps them if they reach its region; smaller ones go from rank to rank. In three dimensions
    /// a box no larger than the regions reaches at most 27 of equal ones.
    pub replicate_above: usize,
    /// Space is cut again when the busiest rank does more than this many times the mean work.
    pub tolerated_imbalance: f64,
    /// Steps that must pass between two cuts; the balance has to be bad during all of them.
    pub steps_between_cuts: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            algorithm: Algorithm::Auto,
            workers: Workers::one(),
            broad_phase: None,
            ownership: Ownership::Migrating,
            pair_limit: PairBuffer::DEFAULT_LIMIT,
            replicate_above: 32,
            tolerated_imbalance: 1.15,
            steps_between_cuts: 4,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("algorithm", &self.algorithm)
            .field("threads", &self.workers.count())
            .field("own_broad_phase", &self.broad_phase.is_some())
            .field("ownership", &self.ownership)
            .field("pair_limit", &self.pair_limit)
            .field("replicate_above", &self.replicate_above)
            .field("tolerated_imbalance", &self.tolerated_imbalance)
            .field("steps_between_cuts", &self.steps_between_cuts)
            .finish()
    }
}

impl Options {
    /// The local search over these boxes, with these pairs as the set before.
    pub(crate) fn detector(&self, boxes: Boxes, pairs: &[Pair]) -> Detector {
        let workers = self.workers.clone();
        let mut detector = Detector::restore(self.algorithm, workers, boxes, pairs)
            .expect("the pairs are of these boxes");
        if let Some(build) = &self.broad_phase {
            detector.set_broad_phase(build(&self.workers));
        }
        detector.set_pair_limit(self.pair_limit);
        detector
    }
}
