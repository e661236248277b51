//! Jostle over MPI: overlapping pairs and balanced events of boxes that are spread over the ranks
//! of a job.
//!
//! A [`DistributedDetector`] is to a job what [`jostle::Detector`] is to a process. Every rank
//! holds boxes of its own, changes them in batches, and calls
//! [`step`](DistributedDetector::step) together with the others. The events of all ranks, gathered
//! and sorted, are the bytes that one process would give, for any number of ranks, any
//! distribution of the boxes and any division of space.
//!
//! ```text
//! boxes of this rank ─► who needs to know ─► messages ─► boxes present ─► jostle::Detector
//!                        (decomposition)     (neighbours)  (own + ghosts)        │
//!                                                  pairs and events of this rank ◄┘
//! ```
//!
//! [`Communicator`] is all that the detector asks of a message-passing system. MPI is one
//! (feature `mpi`), threads of one process are another ([`run_virtual`]): the same code, tested,
//! counted and planned without a cluster. See the crate's README for what it costs at 64, 512 and
//! 4096 ranks.

#![forbid(unsafe_code)]

mod balance;
mod comm;
mod decomposition;
mod detector;
mod directory;
mod error;
mod history;
mod id;
mod local;
mod options;
mod output;
mod owned;
mod plan;
mod route;
mod snapshot;
mod wire;

pub use comm::{
    Communicator, Message, Reduction, VirtualRanks, run_virtual, run_virtual_with_timeout,
};
#[cfg(feature = "mpi")]
pub use comm::{MpiRanks, start};
pub use decomposition::{Decomposition, Region, bisect, lowest_common_corner};
pub use detector::{DistributedDetector, Events, StepReport};
pub use error::Error;
pub use history::{HistoryFinding, HistorySpec, check_history};
pub use id::{GlobalId, GlobalPair};
pub use options::{BuildBroadPhase, Options, Ownership};
pub use output::{EventList, Fingerprint, PairFile, SortedPairs, agree_on_error};
pub use plan::{Model, StepCount, UniformWorld, count_step};
