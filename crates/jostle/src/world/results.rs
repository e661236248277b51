//! [`WorkerResults`]: what one worker finds in a step.

use super::touch::Touch;
use crate::narrow::{ManifoldPoint, PairCache, Query};

/// What one worker did in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// Pairs it tested.
    pub pairs: usize,
    /// Batches it took from others.
    pub stolen: usize,
}

/// What one worker finds, and its scratch memory, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct WorkerResults {
    /// Touches with the places of their pairs.
    pub found: Vec<(u32, Touch)>,
    pub points: Vec<ManifoldPoint>,
    /// Pairs tested that touched before.
    pub touched: usize,
    pub stats: WorkerStats,
    pub query: Query,
    /// The memory of one search for a time of impact: cleared before each.
    pub impact: PairCache,
    /// Kinds and places of the pairs of a batch.
    pub order: Vec<u32>,
}
