//! Snapshots: each rank writes its own, any number of ranks read them back.
//!
//! The pairs of a moment are a function of the boxes of that moment, so a snapshot holds boxes
//! only: 33 bytes for one without a filter. Restored boxes are marked as having existed before, so
//! the first step after that reports no pair as new that was known, and events balance across the
//! restart.

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use crate::comm::{Communicator, Reduction};
use crate::detector::DistributedDetector;
use crate::error::Error;
use crate::id::GlobalId;
use crate::local::BoxState;
use crate::options::Options;
use crate::output::agree_on_error;
use crate::wire::{Put, Take};

const MAGIC: &[u8; 8] = b"JOSTLEMP";
const VERSION: u32 = 1;

/// What a snapshot holds.
struct Snapshot {
    rank: u64,
    ranks: u64,
    steps: u64,
    issued: u64,
    boxes: Vec<(GlobalId, BoxState)>,
}

impl<C: Communicator> DistributedDetector<C> {
    /// Writes this rank's boxes as they were after the last step; changes since are not in it.
    /// Local, but only the snapshots of all ranks, taken after the same step, make a whole.
    pub fn write_snapshot(&self, mut to: impl Write) -> io::Result<()> {
        let comm = self.communicator();
        let mut bytes = MAGIC.to_vec();
        bytes.put_u32(VERSION);
        let numbers = [comm.rank() as u64, comm.size() as u64, self.steps(), self.issued()];
        numbers.iter().for_each(|&number| bytes.put_u64(number));
        bytes.put_u64(self.committed().count() as u64);
        for (id, state) in self.committed() {
            bytes.put_id(id);
            bytes.put_aabb(&state.aabb);
            bytes.put_filter(&state.filter);
        }
        let sum = Sha256::digest(&bytes);
        to.write_all(&bytes)?;
        to.write_all(&sum)
    }

    /// Continues from the snapshots of a job that may have had another number of ranks: each is
    /// given to exactly one rank, some ranks may get none. The events of the next step continue
    /// from the snapshot. Collective; the same error on all ranks.
    pub fn restore(
        comm: C,
        options: Options,
        snapshots: impl IntoIterator<Item = impl Read>,
    ) -> Result<DistributedDetector<C>, Error> {
        let mut detector = DistributedDetector::new(comm, options);
        let rank = detector.communicator().rank();
        let read: Result<Vec<Snapshot>, String> = snapshots.into_iter().map(read).collect();
        let read = read.map_err(|reason| Error::Snapshot { rank, reason });
        let read = agree_on_error(detector.communicator(), read)?;
        agree_on_whole(detector.communicator(), &read)?;
        let largest = |number: fn(&Snapshot) -> u64| read.iter().map(number).max().unwrap_or(0);
        let mut numbers = [largest(|part| part.issued), largest(|part| part.steps)];
        detector.communicator().all_reduce(&mut numbers, Reduction::Max);
        let [issued, steps] = numbers;
        detector.set_issued(issued);
        for (id, state) in read.into_iter().flat_map(|part| part.boxes) {
            detector.adopt(id, state);
        }
        // Distributes the boxes and finds the pairs, none of which is new.
        let events = detector.step()?;
        debug_assert!(events.began.is_empty() && events.ended.is_empty());
        detector.set_steps(steps);
        Ok(detector)
    }
}

fn read(mut from: impl Read) -> Result<Snapshot, String> {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    let body = bytes.len().checked_sub(32).ok_or("it is cut off")?;
    let (body, sum) = bytes.split_at(body);
    if body.get(..8) != Some(MAGIC) {
        return Err("it is not a snapshot of this program".into());
    }
    if Sha256::digest(body).as_slice() != sum {
        return Err("its checksum is wrong: it is damaged or cut off".into());
    }
    let mut take = Take(&body[8..]);
    match take.u32() {
        Some(VERSION) => {}
        version => return Err(format!("its version is {version:?}, not {VERSION}")),
    }
    parse(&mut take).ok_or_else(|| "it does not hold what it says".into())
}

fn parse(take: &mut Take<'_>) -> Option<Snapshot> {
    let (rank, ranks, steps, issued) = (take.u64()?, take.u64()?, take.u64()?, take.u64()?);
    let count = take.u64()?;
    let mut boxes = Vec::new();
    for _ in 0..count {
        let id = take.id()?;
        let state = BoxState { aabb: take.aabb()?, filter: take.filter()? };
        state.aabb.check().ok()?;
        boxes.push((id, state));
    }
    take.is_empty().then_some(Snapshot { rank, ranks, steps, issued, boxes })
}

/// All snapshots of one moment, each once.
fn agree_on_whole(comm: &impl Communicator, mine: &[Snapshot]) -> Result<(), Error> {
    let mut bytes = Vec::new();
    for part in mine {
        [part.rank, part.ranks, part.steps].iter().for_each(|&number| bytes.put_u64(number));
    }
    let mut parts = Vec::new();
    for (reader, bytes) in comm.all_gather(&bytes).iter().enumerate() {
        let mut take = Take(bytes);
        while let (Some(rank), Some(ranks), Some(steps)) = (take.u64(), take.u64(), take.u64()) {
            parts.push((rank, ranks, steps, reader));
        }
    }
    parts.sort_unstable();
    // Every rank sees the same list and comes to the same verdict.
    let refuse = |rank: usize, reason: String| Err(Error::Snapshot { rank, reason });
    let Some(&(_, ranks, steps, _)) = parts.first() else {
        return refuse(0, "no rank was given one".into());
    };
    for (place, &(rank, of, at, reader)) in parts.iter().enumerate() {
        if (of, at) != (ranks, steps) {
            let reason = format!(
                "that of rank {rank} is of {of} ranks at step {at}, another of {ranks} at {steps}"
            );
            return refuse(reader, reason);
        }
        if rank != place as u64 {
            let twice = place > 0 && parts[place - 1].0 == rank;
            let what = if twice { "twice" } else { "but not those before it" };
            return refuse(reader, format!("that of rank {rank} was given {what}"));
        }
    }
    if parts.len() as u64 != ranks {
        return refuse(0, format!("{} of {ranks} were given", parts.len()));
    }
    Ok(())
}
