//! [`Directory`]: finds ids that are used twice.
//!
//! Each user's id has one rank that knows of its use, by the id's hash. Only steps in which such
//! boxes come or go talk to the directory; ids that the detector issued are unique by the way they
//! are made and are not listed.

use crate::comm::{Communicator, Message};
use crate::error::Error;
use crate::id::{GlobalId, IdMap};
use crate::wire::{Put, Take};

#[derive(Default)]
pub(crate) struct Directory {
    /// The ids listed on this rank, and the rank that inserted each.
    known: IdMap<u32>,
    /// What the step that is being taken adds and removes.
    added: Vec<(GlobalId, u32)>,
    removed: Vec<GlobalId>,
}

impl Directory {
    /// Lists what came and went on this rank, collectively. The error is what this rank found out
    /// about the ids that it lists, wherever they were inserted.
    pub(crate) fn check(
        &mut self,
        comm: &impl Communicator,
        added: &[GlobalId],
        removed: &[GlobalId],
    ) -> Result<(), Error> {
        for (from, bytes) in comm.exchange(letters(comm.size(), added, removed)) {
            let mut take = Take(&bytes);
            let adding = take.u32().expect("letters are whole");
            for _ in 0..adding {
                self.added.push((take.id().expect("letters are whole"), from as u32));
            }
            while let Some(id) = take.id() {
                self.removed.push(id);
            }
        }
        self.added.sort_unstable();
        let taken = |(rank, id, holder): (u32, GlobalId, u32)| Error::Taken {
            rank: rank as usize,
            id,
            holder: holder as usize,
        };
        // The smallest id, whichever way it is taken.
        let twice = self.added.windows(2).find(|two| two[0].0 == two[1].0);
        let twice = twice.map(|two| (two[1].1, two[0].0, two[0].1));
        let known = self
            .added
            .iter()
            .find_map(|&(id, rank)| self.known.get(&id).map(|&holder| (rank, id, holder)));
        let first = twice.into_iter().chain(known).min_by_key(|&(_, id, _)| id);
        first.map_or(Ok(()), |found| Err(taken(found)))
    }

    /// Ends a step that succeeded.
    pub(crate) fn commit(&mut self) {
        for id in self.removed.drain(..) {
            self.known.remove(&id);
        }
        self.known.extend(self.added.drain(..));
    }

    /// Forgets a step that did not.
    pub(crate) fn withdraw(&mut self) {
        self.added.clear();
        self.removed.clear();
    }
}

/// What each rank has to list: a count, the ids that came, the ids that went.
fn letters(ranks: usize, added: &[GlobalId], removed: &[GlobalId]) -> Vec<Message> {
    let mut parts: Vec<[Vec<u8>; 2]> = vec![Default::default(); ranks];
    for (part, ids) in [added, removed].into_iter().enumerate() {
        for &id in ids {
            parts[id.directory_rank(ranks)][part].put_id(id);
        }
    }
    let letter = |(rank, [added, removed]): (usize, [Vec<u8>; 2])| {
        let mut bytes = Vec::with_capacity(4 + added.len() + removed.len() + 1);
        bytes.put_u32((added.len() / 8) as u32);
        bytes.put(&added);
        bytes.put(&removed);
        (bytes.len() > 4).then_some((rank, bytes))
    };
    parts.into_iter().enumerate().filter_map(letter).collect()
}
