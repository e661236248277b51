//! `segmented-sap`: persistent sweep and prune whose lists are cut into chunks, so that boxes can
//! be inserted and removed without a pass over everything.
//!
//! Source: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune Methods with AABB
//! Insertion and Removal* (2009), §3.2.2.
//!
//! ```text
//! for each removed box: take its endpoints out of their chunks; it ended with its candidates
//! sort the endpoints of the boxes that moved by insertion, across chunks; swaps drive the events
//! for each inserted box: it meets its candidates; put its endpoints into their chunks
//!     candidates: the boxes open where the chunk of its lower endpoint begins (the checkpoint
//!     set), and those that begin from there to its upper endpoint, on the axis with checkpoints
//! ```
//!
//! A step reads in this order, without going back: this file, `persistent/driver.rs`,
//! `persistent/cost.rs`, `follow.rs`, `persistent/changes.rs`, `lists.rs` (three axes and whole
//! boxes), `sorting.rs` (local and global sort), `persistent/sorting.rs`, `persistent/judge.rs`,
//! `persistent/previous.rs`, `list.rs` (one axis: chunks, directory, checkpoint sets, splitting and
//! merging), `persistent/endpoint.rs`; and from `simd/` the leaves `mod.rs`, `probe.rs` and
//! `window.rs`.
//!
//! **Cost.** A box that is inserted or removed costs O(log n), shifting within six chunks, and a
//! test of each candidate. Boxes that moved cost O(log n) and their swaps, as in
//! [`sap`](crate::broad::sap). A step without changes costs nothing. Memory: about 65 bytes a box
//! for the chunks, as much as 64 and usually 10 for checkpoint sets, 24 each for hints and previous
//! bounds; 60 for finding all pairs and sorting from scratch, given back after some steps that were
//! followed.
//!
//! **Choose it** for up to some thousand boxes of which few move and some come and go; and inside
//! the cells of a grid. With one box coming and one going among 3 000 it is 24 times as fast as
//! `sap` if nothing moves, 3.2 times if 5 % move, 1.6 times at 20 % and equal from 50 % on; with
//! ten of each, 2.1 times at 5 %. Not if most boxes move, and not for large crowded worlds: the
//! swaps are those of `sap`.
//!
//! **What made it fast.** A moved endpoint costs one mispredicted branch (how far it goes) and
//! little else. The endpoints of a block of boxes are grouped by the direction in which they move
//! and found by a hint, where they were put last time, and a count in a window of eight. One loop
//! then finds how far an endpoint goes; the next shifts what it passes and tests it, by a pair of
//! vectors and without looking at its kind. Before that 5 % moving took 1.7 times as long. Finding
//! how far and testing in one loop, and bisecting for every endpoint, lost.
//!
//! **Departures.**
//! 1. No set of pairs is kept: `persistent/judge.rs` decides from the previous and current bounds.
//! 2. No box keeps references to its endpoints or their chunks that would have to be right: a swap
//!    writes 8 bytes, and a swap across chunks updates the checkpoint set as well. Hints may be
//!    wrong; then an endpoint is found by bisection.
//! 3. The paper's set R, of boxes whose upper endpoint crossed a border before the lower one, is
//!    always empty here and therefore left out: of the two endpoints of a box the one that makes
//!    room is sorted first, and a global sort meets lower endpoints first. A box is never inside
//!    out.
//! 4. Checkpoint sets belong to a chunk's beginning, not its end: a search reads forward only.
//! 5. Chunks on the axis with checkpoints grow with the number of boxes that are open at once.
//!    With chunks of 64 the sets of a million evenly spread boxes would take 460 bytes a box.
//! 6. A box that leaps across much of the world, or whose filter changed, is removed and inserted.
//! 7. If a step promises to cost more than finding all pairs, that is done instead (`persistent`).

mod follow;
mod list;
pub(crate) mod lists;
mod sorting;

use crate::broad::persistent::{Persistent, Sort, driven};
use crate::par::Workers;

use follow::SegmentedFollow;

/// How [`SegmentedSap`] works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentedSapOptions {
    /// Which sort for the boxes that moved.
    pub sort: Sort,
    /// Endpoints of a chunk; none for the default, which grows with the boxes open at once.
    pub chunk: Option<usize>,
    /// Finding all pairs may replace a step that would cost more. Without it the swaps that the
    /// paper counts are always made.
    pub may_rebuild: bool,
}

impl Default for SegmentedSapOptions {
    fn default() -> SegmentedSapOptions {
        SegmentedSapOptions { sort: Sort::Auto, chunk: None, may_rebuild: true }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct SegmentedSap {
    driver: Persistent<SegmentedFollow>,
}

driven!(SegmentedSap, "segmented-sap");

impl SegmentedSap {
    /// A new instance; it uses one thread, except for finding all pairs.
    pub fn new(workers: &Workers) -> SegmentedSap {
        SegmentedSap::with_options(workers, SegmentedSapOptions::default())
    }

    /// A new instance with these options.
    pub fn with_options(workers: &Workers, options: SegmentedSapOptions) -> SegmentedSap {
        let lists = SegmentedFollow::new(options);
        SegmentedSap { driver: Persistent::new(workers, lists, options.may_rebuild) }
    }
}

#[cfg(test)]
mod tests;
