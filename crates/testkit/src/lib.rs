//! What every broad phase has to pass, whoever wrote it and wherever it runs.
//!
//! - [`model`] is the truth: a map of boxes and plain loops, sharing no code with the library.
//! - [`replay`] drives a [`Detector`](jostle::Detector) and the model through the same
//!   operations and compares pairs, events and balance after every step.
//! - [`script`] reads step scripts with expected events from `testdata/scripts`.
//! - [`history`] makes random histories, by [`proptest`] or from bytes.
//! - [`degenerate`] lists inputs that break careless algorithms.
//! - [`golden`] plays the scenes whose hashes are in `testdata/pair_hashes.txt`.
//! - [`hostile`] lists histories in which remembering the last step is of no use.
//! - [`bodies`] makes pairs of shapes and histories of worlds from bytes, and checks them.
//! - [`large`] compares worlds above every threshold of the library with a plain sweep.
//! - [`suite`] runs all of it; a failure says in words what differed.

#![forbid(unsafe_code)]

pub mod bodies;
mod bytes;
pub mod degenerate;
pub mod golden;
pub mod history;
pub mod hostile;
pub mod large;
pub mod meshes;
pub mod model;
pub mod replay;
pub mod script;
pub mod suite;

use jostle::{BroadPhase, Workers};

/// Makes a broad phase on some workers.
pub type Build<'a> = &'a dyn Fn(&Workers) -> Box<dyn BroadPhase>;

/// The example of the repository's README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
