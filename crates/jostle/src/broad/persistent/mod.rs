//! What the algorithms share that keep sorted endpoints between steps: `sap`, `segmented-sap`,
//! `simd-sap`, and the cells of `grid-sap`.
//!
//! ```text
//! nothing changed             nothing to do
//! first step, other boxes     find all pairs, then sort the endpoints
//! otherwise                   forecast what following the changes costs
//!     more than a rebuild     find all pairs; the endpoints stay unsorted until they are needed
//!     less                    sort the endpoints if they are not, and follow the changes under
//!                             a budget; if it runs out, find all pairs
//! ```
//!
//! A step reads from the top down, and no file calls back into one above it:
//!
//! | file | what |
//! |---|---|
//! | `driver.rs` | [`Persistent`] runs a step; [`PersistentLists`] is what an algorithm provides |
//! | `cost.rs` | [`CostModel`] forecasts, [`RebuildPolicy`] decides |
//! | `all_pairs.rs` | [`AllPairs`] finds all pairs from scratch |
//! | `changes.rs` | [`ClassifiedChanges`]: removed, inserted, moved |
//! | `sorting.rs` | [`AxisSort`] and [`Passing`]: an endpoint passes others and they are tested |
//! | `sweep_set.rs` | [`SweepSet`]: the boxes that a sweep is inside of |
//! | `judge.rs` | [`PairJudge`] decides which pairs began and ended; [`EventSink`] takes them |
//! | `cell_scope.rs` | [`CellScope`]: which cell of a grid reports a pair |
//! | `previous.rs` | [`PreviousBounds`]: the boxes as of the last step |
//! | `endpoint.rs` | [`Endpoint`]: value, kind and slot in one word |

mod all_pairs;
mod cell_scope;
mod changes;
mod cost;
mod driver;
mod endpoint;
mod judge;
mod previous;
mod sorting;
mod sweep_set;

#[cfg(test)]
pub(crate) mod history;

pub(crate) use cell_scope::CellScope;
pub(crate) use changes::{ClassifiedChanges, ListChanges};
pub(crate) use cost::{CostModel, displacement};
pub(crate) use driver::{FollowStep, Persistent, PersistentLists, driven};
pub(crate) use endpoint::{Endpoint, fill_sorted};
pub(crate) use judge::{EventSink, FollowError, FollowResult, PairJudge};
pub(crate) use previous::PreviousBounds;
pub use sorting::Sort;
pub(crate) use sorting::{AxisSort, Passing};
pub(crate) use sweep_set::SweepSet;
