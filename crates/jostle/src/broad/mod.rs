//! The broad phases: one [contract](BroadPhase), many algorithms.
//!
//! Every other module here is an algorithm; its page tells the idea, the source, what it costs and
//! when to choose it. [`Algorithm`] is the table of them.
//!
//! `persistent` holds what the algorithms with sorted endpoint lists share (`sap`, `segmented-sap`,
//! `grid-sap`, `simd-sap`), and `shared` what others have in common. No algorithm imports another,
//! with three exceptions: `grid-sap` puts the lists of `sap` and `segmented-sap` into its cells,
//! the persistent algorithms find all pairs by `grid-sweep`, and `verlet` makes its lists with the
//! trees of `bvh`. `auto` builds those it chooses from.

pub mod auto;
pub mod bidim_sap;
pub mod brute_force;
pub mod bvh;
pub mod grid_sap;
pub mod grid_sweep;
pub mod hash_grid;
pub mod octree;
pub mod sap;
pub mod segmented_sap;
pub mod simd_sap;
pub mod sort_sweep;
pub mod verlet;

mod algorithm;
mod contract;
mod persistent;
mod shared;
mod sketch;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use contract::{BroadPhase, CloneBroadPhase, Report};
pub use sketch::{Region, Sketch};
