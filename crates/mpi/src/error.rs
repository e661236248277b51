//! [`Error`]: why a step was refused, the same on every rank.

use std::fmt;

use jostle::{Aabb, BoxFault};

use crate::id::GlobalId;
use crate::wire::{Put, Take};

/// Why all ranks refused a step. Nothing has changed on any of them: boxes, pairs and regions are
/// as after the last step, and the changes given since are dropped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A box is not a box.
    Box {
        /// The rank that was given the box.
        rank: usize,
        /// Its place in the batch.
        row: usize,
        /// What is wrong, and on which axis.
        fault: BoxFault,
    },
    /// A rank was given a change of a box that it does not own.
    NotOwned {
        /// The rank.
        rank: usize,
        /// Place in the batch.
        row: usize,
        /// The box.
        id: GlobalId,
    },
    /// An id was inserted that exists, or that was removed since the last step.
    Taken {
        /// The rank that inserted it.
        rank: usize,
        /// The id.
        id: GlobalId,
        /// A rank that holds it, or held it until now.
        holder: usize,
    },
    /// A user's id lies in the range from which the detector issues its own.
    Reserved {
        /// The rank that was given it.
        rank: usize,
        /// Place in the batch.
        row: usize,
        /// The id.
        id: GlobalId,
    },
    /// The lists of a batch have different lengths.
    Length {
        /// The rank that was given them.
        rank: usize,
        /// Number of bounds or filters.
        given: usize,
        /// Number of boxes.
        expected: usize,
    },
    /// The local search on a rank failed, as by too many pairs.
    Search {
        /// The rank.
        rank: usize,
        /// What the library says.
        reason: String,
    },
    /// A snapshot cannot be restored.
    Snapshot {
        /// The rank that read it.
        rank: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Input or output failed on a rank.
    File {
        /// The rank.
        rank: usize,
        /// The file and what is wrong.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Box { rank, row, fault } => write!(f, "rank {rank}: row {row}: {fault}"),
            Error::NotOwned { rank, row, id } => {
                write!(f, "rank {rank}: row {row}: box {id} is not owned by this rank; ")?;
                f.write_str("change it where it is owned, or insert it first")
            }
            Error::Taken { rank, id, holder } => write!(
                f,
                "rank {rank}: id {id} is taken by a box of rank {holder}; an id is free again one \
                 step after its box was removed"
            ),
            Error::Reserved { rank, row, id } => write!(
                f,
                "rank {rank}: row {row}: id {id} is reserved; choose ids below 2^63, or let the \
                 detector issue them"
            ),
            Error::Length { rank, given, expected } => {
                write!(f, "rank {rank}: {given} given for {expected} boxes; give one for each")
            }
            Error::Search { rank, reason } => write!(f, "rank {rank}: {reason}"),
            Error::Snapshot { rank, reason } => write!(f, "rank {rank}: snapshot: {reason}"),
            Error::File { rank, reason } => write!(f, "rank {rank}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    /// The bytes that tell the other ranks.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |kind: u8, numbers: &[u64], rest: &[u8]| {
            bytes.put_u8(kind);
            numbers.iter().for_each(|&number| bytes.put_u64(number));
            bytes.put(rest);
        };
        match self {
            Error::Box { rank, row, fault } => {
                // A box with this fault alone says everything about it.
                let mut witness = Vec::new();
                witness.put_aabb(&with_fault(fault));
                put(0, &[*rank as u64, *row as u64], &witness);
            }
            Error::NotOwned { rank, row, id } => put(1, &[*rank as u64, *row as u64, id.0], &[]),
            Error::Taken { rank, id, holder } => {
                put(2, &[*rank as u64, id.0, *holder as u64], &[]);
            }
            Error::Reserved { rank, row, id } => put(3, &[*rank as u64, *row as u64, id.0], &[]),
            Error::Length { rank, given, expected } => {
                put(4, &[*rank as u64, *given as u64, *expected as u64], &[]);
            }
            Error::Search { rank, reason } => put(5, &[*rank as u64], reason.as_bytes()),
            Error::Snapshot { rank, reason } => put(6, &[*rank as u64], reason.as_bytes()),
            Error::File { rank, reason } => put(7, &[*rank as u64], reason.as_bytes()),
        }
        bytes
    }

    /// The error that another rank told.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Error> {
        let mut take = Take(bytes);
        let kind = take.u8()?;
        let mut number = || take.u64().map(|number| number as usize);
        Some(match kind {
            0 => {
                let (rank, row) = (number()?, number()?);
                Error::Box { rank, row, fault: take.aabb()?.check().err()? }
            }
            1 => Error::NotOwned { rank: number()?, row: number()?, id: take.id()? },
            2 => {
                let rank = number()?;
                Error::Taken { rank, id: take.id()?, holder: take.u64()? as usize }
            }
            3 => Error::Reserved { rank: number()?, row: number()?, id: take.id()? },
            4 => Error::Length { rank: number()?, given: number()?, expected: number()? },
            5..=7 => {
                let rank = number()?;
                let reason = String::from_utf8_lossy(take.0).into_owned();
                match kind {
                    5 => Error::Search { rank, reason },
                    6 => Error::Snapshot { rank, reason },
                    _ => Error::File { rank, reason },
                }
            }
            _ => return None,
        })
    }
}

/// A box that is wrong in this way and in no other.
fn with_fault(fault: &BoxFault) -> Aabb {
    let mut aabb = Aabb::point([0.0; 3]);
    match *fault {
        BoxFault::NotANumber { axis, upper } => {
            let corner = if upper { &mut aabb.max } else { &mut aabb.min };
            corner[axis.index()] = f32::NAN;
        }
        BoxFault::Inverted { axis, min, max } => {
            (aabb.min[axis.index()], aabb.max[axis.index()]) = (min, max);
        }
    }
    aabb
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle::Axis;

    #[test]
    fn every_error_reaches_the_other_ranks_as_it_is() {
        let mut errors = vec![
            Error::NotOwned { rank: 3, row: 9, id: GlobalId(u64::MAX) },
            Error::Taken { rank: 1, id: GlobalId(7), holder: 2 },
            Error::Reserved { rank: 1, row: 4, id: GlobalId(1 << 63) },
            Error::Length { rank: 2, given: 5, expected: 6 },
            Error::Search { rank: 2, reason: "too many pairs".into() },
            Error::Snapshot { rank: 2, reason: "cut off".into() },
            Error::File { rank: 0, reason: "a.npy: gone".into() },
        ];
        for axis in Axis::ALL {
            let nan = |upper| BoxFault::NotANumber { axis, upper };
            let inverted = BoxFault::Inverted { axis, min: f32::INFINITY, max: -2.5 };
            for fault in [nan(false), nan(true), inverted] {
                errors.push(Error::Box { rank: 6, row: 123, fault });
            }
        }
        for error in errors {
            assert_eq!(Error::from_bytes(&error.to_bytes()), Some(error.clone()), "{error}");
        }
    }
}
