//! `sap`: persistent sweep and prune. Three sorted lists of endpoints last from step to step, and
//! sorting them again by insertion shows which pairs changed.
//!
//! Sources: Baraff, *Dynamic Simulation of Non-Penetrating Rigid Bodies* (1992); G. Campbell,
//! *Broadphase Collision Detection on the Cell Processor* (2010), §4.1; batch insertion and
//! removal, local and global sort: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune
//! Methods with AABB Insertion and Removal* (2009), §3.2.1.
//!
//! ```text
//! on each axis: give the endpoints of the boxes that moved their new values, sort by insertion
//!     a lower endpoint moves before an upper one: the two boxes may begin to overlap
//!     a lower endpoint moves behind an upper one: they may cease to overlap
//! ```
//!
//! - `lists.rs`: the endpoints, the **global sort** (a pass over all of them) and the **local
//!   sort** (the endpoints of the moved boxes alone).
//! - `batch.rs`: boxes that are inserted and removed, in the same pass as the global sort.
//! - `follow.rs`: which of the three, and what they cost.
//!
//! **Cost.** A step costs O(n + s) with the global and O(m log n + s) with the local sort, for m
//! moved boxes and s swaps; a step without changes costs nothing. In a world of constant density s
//! grows as m·n^(2/3): endpoints that are far apart in space are neighbours on an axis. Memory: 48
//! bytes a box for the lists, 24 for the previous bounds, up to 40 for a batch; and 45 for finding
//! all pairs, given back after some steps that were followed.
//!
//! **Choose it** for up to some thousand boxes of which few move or all move little. Not for large
//! crowded worlds in which much moves: distant boxes pollute the lists, and grids and trees are
//! better.
//!
//! **Departures.**
//! 1. No set of pairs is kept. The previous and the current bounds tell whether a pair that is met
//!    began or ended, and on which of its swaps to report it (`persistent/judge.rs`); overlaps that
//!    begin and end within a step never show.
//! 2. Overlap in all dimensions is decided by comparing boxes, not by a flag per axis and pair. The
//!    flags need an entry for every pair that overlaps on any one axis, 216 a box among 3 000; and
//!    finding and flipping one takes twice as long as comparing in a table of bits, and tens of
//!    times as long in a hash table (`jostle reproduce campbell/pair-manager`).
//! 3. Endpoints are words that hold value, kind and id (`persistent/endpoint.rs`). No box keeps
//!    references to its endpoints: the local sort finds them by bisection, and a swap writes 8
//!    bytes to one place.
//! 4. A box whose filter changed, or that leaps across much of the world, is removed and inserted
//!    again by the batch.
//! 5. If a step promises to cost more than finding all pairs, that is done instead (`persistent`).

pub(crate) mod batch;
mod follow;
pub(crate) mod lists;

use crate::broad::persistent::{Persistent, driven};
use crate::par::Workers;

pub use crate::broad::persistent::Sort;

use follow::SapFollow;

/// How [`Sap`] works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SapOptions {
    /// Which sort, if no boxes are inserted or removed.
    pub sort: Sort,
    /// Finding all pairs may replace a step that would cost more. Without it the swaps that the
    /// papers count are always made.
    pub may_rebuild: bool,
}

impl Default for SapOptions {
    fn default() -> SapOptions {
        SapOptions { sort: Sort::Auto, may_rebuild: true }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Sap {
    driver: Persistent<SapFollow>,
}

driven!(Sap, "sap");

impl Sap {
    /// A new instance; it uses one thread, except for finding all pairs.
    pub fn new(workers: &Workers) -> Sap {
        Sap::with_options(workers, SapOptions::default())
    }

    /// A new instance with these options.
    pub fn with_options(workers: &Workers, options: SapOptions) -> Sap {
        let lists = SapFollow::new(options.sort);
        Sap { driver: Persistent::new(workers, lists, options.may_rebuild) }
    }
}

#[cfg(test)]
mod tests;
