//! [`WorkerResults`]: what one worker finds in a step.

use crate::narrow::{ManifoldPoint, PairCache, Query};

/// What one worker did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Pairs it tested.
    pub pairs: usize,
    /// Those of them whose bodies had moved so little that their last answer still holds.
    pub reused: usize,
    /// Batches it took from others.
    pub stolen: usize,
}

/// What one worker finds, and its scratch memory, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct WorkerResults {
    /// Some pair is not what the last step told.
    pub changed: bool,
    pub stats: WorkerStats,
    pub query: Query,
    /// The memory of one search for a time of impact: cleared before each.
    pub impact: PairCache,
    /// Points of the pair that is being tested, and the impulses that it had.
    pub points: Vec<ManifoldPoint>,
    pub impulses: Vec<[f64; 3]>,
    /// Kinds and places of the pairs of a batch.
    pub order: Vec<u32>,
}
