//! What every broad phase has to pass, whoever wrote it and wherever it runs.
//!
//! - [`model`] is the truth: a map of boxes and plain loops, sharing no code with the library.
//! - [`replay`] drives a [`Detector`](jostle::Detector) and the model through the same
//!   operations and compares pairs, events and balance after every step.
//! - [`script`] reads step scripts with expected events from `testdata/scripts`.
//! - [`history`] makes random histories, by [`proptest`] or from bytes.
//! - [`degenerate`] lists inputs that break careless algorithms.
//! - [`hostile`] lists histories in which remembering the last step is of no use.
//! - [`suite`] runs all of it; a failure says in words what differed.

#![forbid(unsafe_code)]

pub mod degenerate;
pub mod history;
pub mod hostile;
pub mod model;
pub mod replay;
pub mod script;
pub mod suite;

use jostle::{BroadPhase, Pair, Workers};
use sha2::{Digest, Sha256};

/// Makes a broad phase on some workers.
pub type Build<'a> = &'a dyn Fn(&Workers) -> Box<dyn BroadPhase>;

/// SHA-256 over pairs in ascending order, each as two little-endian u32, as lower-case hex.
pub fn pair_hash(pairs: &[Pair]) -> String {
    let mut hasher = Sha256::new();
    for pair in pairs {
        hasher.update(pair.a().get().to_le_bytes());
        hasher.update(pair.b().get().to_le_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
