//! `grid-sap` and `grid-segmented-sap`: a uniform grid, each of whose cells is a persistent sweep
//! and prune of its own.
//!
//! Source: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune Methods with AABB
//! Insertion and Removal* (2009), §3.1 and 3.3.
//!
//! ```text
//! for each box that changed: the cells it touched and the cells it touches now
//!     only in the first: it leaves the cell;  only in the second: it comes into the cell
//!     in both: it moved there
//! for each cell that received something, in parallel: follow the changes
//! ```
//!
//! On an axis, distant boxes are neighbours; in a cell there are none. So the swaps of a moved box
//! no longer grow with the number of boxes, and neither does the cost of inserting or removing one.
//! The cells are the lists of [`sap`](crate::broad::sap) (boxes are inserted and removed in a pass
//! over the cell) or of [`segmented-sap`](crate::broad::segmented_sap) (in a few chunks of it).
//!
//! - `plan.rs`: how large cells are. `routes.rs`: the changes by cell. `follow.rs`: a step.
//! - `band.rs`: cells in parallel. `cell.rs`: the two kinds of cell. `members.rs`: its boxes.
//! - `giants.rs`: boxes that touch more than 27 cells are kept apart.
//!
//! **Cost.** O(m + s + e) for m changed boxes, s swaps (about proportional to m) and e events, and
//! a look at each cell; a step without changes costs nothing. Memory: that of the lists for each
//! cell a box touches (1.2 on average in an even world), 24 bytes for the previous bounds.
//!
//! **Choose it** for large worlds of which a part moves. With a tenth moving and one box in a
//! hundred inserted or removed, `grid-segmented-sap` is 1.6 times as fast as `grid-sap` with 20 000
//! boxes and 1.4 times with 200 000, when both wait for memory. Not if boxes crowd in few places
//! (the grid is uniform), and not if sizes differ so much that no size of cell suits them.
//!
//! **Departures.**
//! 1. No table of witness counts. A pair that several cells see is reported by the cell of the
//!    lower corner of its intersection (`persistent/cell_scope.rs`); this is exact, costs no
//!    memory, and needs no order among the cells.
//! 2. No map from boxes to cells: the cells of a box follow from its previous and current bounds.
//! 3. The outermost cells reach to infinity, and the grid is chosen again when the number of boxes
//!    has doubled or halved, or giants or a crowd have formed.
//! 4. A move of more than an eighth of a cell is made by removing the box and inserting it again.
//! 5. All pairs are found from scratch if that costs less (`persistent`), and not cell by cell:
//!    sorting and sweeping each cell took over four times as long as `grid-sweep`.

mod band;
mod cell;
mod follow;
mod giants;
mod members;
mod plan;
mod routes;

use crate::broad::persistent::{Persistent, Sort, driven};
use crate::broad::sap::lists::EndpointLists;
use crate::broad::segmented_sap::lists::SegmentedLists;
use crate::par::Workers;

use follow::GridFollow;

/// How a grid works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSapOptions {
    /// Boxes in a cell on average. Between 75 and 300 nothing differs by more than noise; 20 and
    /// 1200 cost a quarter more. Large cells take less memory.
    pub boxes_per_cell: usize,
    /// Which sort for the boxes that moved within a cell.
    pub sort: Sort,
    /// Endpoints of a chunk in segmented cells; none for the default.
    pub chunk: Option<usize>,
    /// Finding all pairs may replace a step that would cost more.
    pub may_rebuild: bool,
}

impl Default for GridSapOptions {
    fn default() -> GridSapOptions {
        GridSapOptions { boxes_per_cell: 300, sort: Sort::Auto, chunk: None, may_rebuild: true }
    }
}

macro_rules! grid_of {
    ($type:ident = $name:literal, $lists:ty, $about:literal) => {
        #[doc = $about]
        #[derive(Clone, Debug)]
        pub struct $type {
            driver: Persistent<GridFollow<$lists>>,
        }

        driven!($type, $name);

        impl $type {
            /// A new instance whose cells run on `workers`.
            pub fn new(workers: &Workers) -> $type {
                $type::with_options(workers, GridSapOptions::default())
            }

            /// A new instance with these options.
            pub fn with_options(workers: &Workers, options: GridSapOptions) -> $type {
                let cells = GridFollow::new(workers, options);
                $type { driver: Persistent::new(workers, cells, options.may_rebuild) }
            }
        }
    };
}

grid_of!(
    GridSap = "grid-sap",
    EndpointLists,
    "A grid whose cells are those of [`sap`](crate::broad::sap)."
);
grid_of!(
    GridSegmentedSap = "grid-segmented-sap",
    SegmentedLists,
    "A grid whose cells are those of [`segmented-sap`](crate::broad::segmented_sap)."
);

#[cfg(test)]
mod tests;
