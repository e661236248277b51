//! [`Communicator`]: what the distributed detector needs of a message-passing system.
//!
//! There are two: [`MpiRanks`] over MPI itself (feature `mpi`), and [`VirtualRanks`], which runs
//! every rank as a thread of one process. Both run the same detector, so everything but the wire
//! can be tested, counted and planned without an MPI installation.

mod virtual_ranks;

#[cfg(feature = "mpi")]
mod mpi_ranks;

#[cfg(feature = "mpi")]
pub use mpi_ranks::{MpiRanks, start};
pub use virtual_ranks::{VirtualRanks, run_virtual, run_virtual_with_timeout};

/// How values of several ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Their sum, wrapping.
    Sum,
    /// The largest.
    Max,
}

/// A message and the rank at its other end: where it goes, or where it came from.
pub type Message = (usize, Vec<u8>);

/// A group of ranks that pass messages. Apart from [`send`](Communicator::send) and
/// [`receive`](Communicator::receive) every call is collective: all ranks make it, in the same
/// order, or none returns.
pub trait Communicator {
    /// This rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Combines the values of all ranks, place by place; every rank gets the result.
    fn all_reduce(&self, values: &mut [u64], how: Reduction);

    /// Every rank gets the bytes of all ranks, in the order of ranks.
    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>>;

    /// Sends at most one message to each of some ranks, and returns what was sent here, in the
    /// order of ranks. Nobody needs to know beforehand who sends: the cost is that of the
    /// messages and of one barrier.
    fn exchange(&self, outgoing: Vec<Message>) -> Vec<Message>;

    /// Sends to one rank, which has to [`receive`](Communicator::receive).
    fn send(&self, to: usize, bytes: &[u8]);

    /// Waits for the next message that a rank sent here.
    fn receive(&self, from: usize) -> Vec<u8>;

    /// Waits for all ranks without keeping a core busy, unlike the other calls.
    fn quiet_barrier(&self);
}

impl<C: Communicator + ?Sized> Communicator for &C {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn all_reduce(&self, values: &mut [u64], how: Reduction) {
        (**self).all_reduce(values, how);
    }

    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        (**self).all_gather(mine)
    }

    fn exchange(&self, outgoing: Vec<Message>) -> Vec<Message> {
        (**self).exchange(outgoing)
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        (**self).send(to, bytes);
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        (**self).receive(from)
    }

    fn quiet_barrier(&self) {
        (**self).quiet_barrier();
    }
}
