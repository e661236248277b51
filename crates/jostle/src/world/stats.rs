//! [`WorldStats`]: what a step did and how long it took.

use std::time::Duration;

use super::results::WorkerStats;
use super::screen::Screened;

/// What a step did and how long its parts took. Counts are exact and repeatable, except for
/// how the work is shared among workers; times are not.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WorldStats {
    /// Pairs of boxes that overlap.
    pub pairs: usize,
    /// Pairs that the narrow phase was asked about; the others had not moved.
    pub tested: usize,
    /// Those of the tested pairs whose last answer still holds: see
    /// [`World::set_reuse`](super::World::set_reuse).
    pub reused: usize,
    /// Boxes that came or moved for this step and are no larger than a few gaps between f32 numbers
    /// where they are: rounding shapes them, and they may overlap without need. Many of them mean
    /// that the world is far from its origin: see [`World::set_origin`](super::World::set_origin).
    pub coarse: usize,
    /// What a [screen](super::World::set_screen) decided of the pairs that were tested.
    pub screened: Screened,
    /// Computing new boxes.
    pub boxes: Duration,
    /// The broad phase and its events.
    pub broad: Duration,
    /// The screen, if there is one.
    pub screen: Duration,
    /// The narrow phase alone, from the scheduling to the last answer.
    pub narrow: Duration,
    /// Keeping pair states, and putting the answers into order.
    pub merge: Duration,
    /// What each worker did.
    pub workers: Vec<WorkerStats>,
}
