//! What comes out of a step beyond a rank's own events: events by box, counts and fingerprints
//! without gathering, all pairs in order, their hash, and a file that all ranks write together.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest, Sha256};

use crate::comm::{Communicator, Message, Reduction};
use crate::decomposition::lowest_common_corner;
use crate::detector::{DistributedDetector, OwnedEvent};
use crate::error::Error;
use crate::id::{GlobalId, GlobalPair};
use crate::wire::{Put, Take};

/// A number for a set of pairs that does not depend on their order, and so not on who holds which:
/// it is summed over the ranks. Equal sets have equal fingerprints; different ones differ except
/// by a chance of 2^-128.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// Number of pairs.
    pub count: u64,
    /// Sums over the pairs.
    pub sums: [u64; 2],
}

impl Fingerprint {
    /// The fingerprint of some pairs.
    pub fn of(pairs: impl IntoIterator<Item = GlobalPair>) -> Fingerprint {
        let mut print = Fingerprint::default();
        for pair in pairs {
            let [one, other] = pair.mixed();
            print.count += 1;
            print.sums[0] = print.sums[0].wrapping_add(one);
            print.sums[1] = print.sums[1].wrapping_add(other);
        }
        print
    }

    /// The fingerprint of what all ranks hold together. Collective.
    pub fn reduced(self, comm: &impl Communicator) -> Fingerprint {
        let mut values = [self.count, self.sums[0], self.sums[1]];
        comm.all_reduce(&mut values, Reduction::Sum);
        Fingerprint { count: values[0], sums: [values[1], values[2]] }
    }
}

/// Events, each sorted by pair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventList {
    /// Pairs that overlap now and did not before.
    pub began: Vec<GlobalPair>,
    /// Pairs that overlapped before and do not now.
    pub ended: Vec<GlobalPair>,
}

impl<C: Communicator> DistributedDetector<C> {
    /// The pairs that belong to this rank after the last step, in no particular order.
    pub fn pairs(&self) -> impl Iterator<Item = GlobalPair> {
        let boxes = self.local.detector().boxes().aabbs();
        let region = self.region();
        let mine =
            move |a: usize, b: usize| region.contains(lowest_common_corner(&boxes[a], &boxes[b]));
        let pairs = self.local.detector().pairs().iter();
        let slots = pairs.map(|pair| (pair.a().index(), pair.b().index()));
        let mine = slots.filter(move |&(a, b)| mine(a, b));
        mine.map(|(a, b)| GlobalPair::new(self.local.id(a), self.local.id(b)))
    }

    /// Number of overlapping pairs in the whole job. Collective, without gathering.
    pub fn pair_count(&self) -> u64 {
        let mut count = [self.pairs().count() as u64];
        self.comm.all_reduce(&mut count, Reduction::Sum);
        count[0]
    }

    /// The fingerprint of all overlapping pairs of the job. Collective, without gathering.
    pub fn pair_fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.pairs()).reduced(&self.comm)
    }

    /// The events of the last step that concern a box that this rank owns, sorted by pair. A pair
    /// of boxes of two ranks is reported to both. Collective.
    pub fn events_of_owned_boxes(&self) -> EventList {
        let [began, ended] = [&self.began, &self.ended].map(|events| self.to_owners(events));
        EventList { began, ended }
    }

    fn to_owners(&self, events: &[OwnedEvent]) -> Vec<GlobalPair> {
        let mut parts = vec![Vec::new(); self.comm.size()];
        for event in events {
            let [one, other] = event.owners.map(|owner| owner as usize);
            put_pair(&mut parts[one], event.pair);
            if other != one {
                put_pair(&mut parts[other], event.pair);
            }
        }
        let mut pairs = take_pairs(&self.comm.exchange(messages(parts)));
        pairs.sort_unstable();
        pairs
    }

    /// The events of the last step of the whole job, on every rank: the bytes that one process
    /// would give. Collective, and as large as it sounds.
    pub fn gathered_events(&self) -> EventList {
        let events = self.events();
        let [began, ended] = [events.began, events.ended].map(|events| {
            let mut bytes = Vec::with_capacity(events.len() * 16);
            events.iter().for_each(|&pair| put_pair(&mut bytes, pair));
            let parts = self.comm.all_gather(&bytes).into_iter().enumerate().collect::<Vec<_>>();
            let mut all = take_pairs(&parts);
            all.sort_unstable();
            all
        });
        EventList { began, ended }
    }

    /// All overlapping pairs in ascending order, cut into one stretch for each rank. Collective:
    /// every pair is sent at most once, to the rank that keeps it.
    pub fn sorted_pairs(&self) -> SortedPairs<'_, C> {
        SortedPairs::new(&self.comm, self.pairs().collect())
    }
}

fn put_pair(bytes: &mut Vec<u8>, pair: GlobalPair) {
    bytes.put_id(pair.a());
    bytes.put_id(pair.b());
}

fn messages(parts: Vec<Vec<u8>>) -> Vec<Message> {
    parts.into_iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()).collect()
}

fn take_pairs(messages: &[Message]) -> Vec<GlobalPair> {
    let total: usize = messages.iter().map(|(_, bytes)| bytes.len() / 16).sum();
    let mut pairs = Vec::with_capacity(total);
    for (_, bytes) in messages {
        let mut take = Take(bytes);
        while let (Some(a), Some(b)) = (take.id(), take.id()) {
            pairs.push(GlobalPair::new(a, b));
        }
    }
    pairs
}

/// All pairs of the job in ascending order: rank after rank, each with a stretch of its own.
#[derive(Debug)]
pub struct SortedPairs<'a, C> {
    comm: &'a C,
    mine: Vec<GlobalPair>,
    /// Pairs on the ranks before, and on all ranks.
    before: u64,
    total: u64,
}

/// Pairs that each rank names so that all agree on where stretches begin.
const SAMPLES: usize = 64;

impl<'a, C: Communicator> SortedPairs<'a, C> {
    /// Sorts the pairs of all ranks by samples: each rank names some of its pairs, the sorted
    /// samples say where the stretches begin, and every pair goes to its stretch. Collective.
    pub fn new(comm: &'a C, mut mine: Vec<GlobalPair>) -> SortedPairs<'a, C> {
        mine.sort_unstable();
        let mut named = Vec::new();
        let step = mine.len().div_ceil(SAMPLES).max(1);
        mine.iter().step_by(step).for_each(|&pair| put_pair(&mut named, pair));
        let all: Vec<Message> = comm.all_gather(&named).into_iter().enumerate().collect();
        let mut samples = take_pairs(&all);
        samples.sort_unstable();
        let size = comm.size();
        let first = |rank: usize| samples.get(rank * samples.len() / size).copied();
        let mut parts = vec![Vec::new(); size];
        let mut start = 0;
        for (rank, part) in parts.iter_mut().enumerate() {
            let end = match (rank + 1 < size).then(|| first(rank + 1)).flatten() {
                Some(next) => mine.partition_point(|&pair| pair < next),
                None => mine.len(),
            };
            mine[start..end.max(start)].iter().for_each(|&pair| put_pair(part, pair));
            start = end.max(start);
        }
        let mut mine = take_pairs(&comm.exchange(messages(parts)));
        mine.sort_unstable();
        let counts = comm.all_gather(&(mine.len() as u64).to_le_bytes());
        let count = |bytes: &Vec<u8>| Take(bytes).u64().expect("every rank says a count");
        let before = counts[..comm.rank()].iter().map(count).sum();
        SortedPairs { comm, mine, before, total: counts.iter().map(count).sum() }
    }

    /// This rank's stretch.
    pub fn mine(&self) -> &[GlobalPair] {
        &self.mine
    }

    /// Number of pairs on the ranks before this one.
    pub fn before(&self) -> u64 {
        self.before
    }

    /// Number of pairs on all ranks.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// SHA-256 over all pairs as little-endian u32 couples, in hexadecimal, on every rank: what
    /// `jostle pairs` prints. The state of the hash goes from rank to rank, the pairs stay where
    /// they are. Collective; ids must be below 2^32.
    pub fn sha256(&self) -> String {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let mut hash = match rank {
            0 => Sha256::new(),
            _ => {
                let state = self.comm.receive(rank - 1);
                let state = state.as_slice().try_into().expect("the state of a hash");
                Sha256::deserialize(&state).expect("the state of a hash")
            }
        };
        let mut buffer = Vec::with_capacity(1 << 16);
        for some in self.mine.chunks(1 << 13) {
            buffer.clear();
            for pair in some {
                buffer.put_u32(narrow(pair.a()));
                buffer.put_u32(narrow(pair.b()));
            }
            hash.update(&buffer);
        }
        let last = rank + 1 == size;
        if !last {
            self.comm.send(rank + 1, &hash.serialize());
        }
        let digest = if last { hash.finalize().to_vec() } else { Vec::new() };
        let all = self.comm.all_gather(&digest);
        all[size - 1].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Writes all pairs to one `.npy` file of uint32, or uint64 if ids need it. Every rank writes
    /// its own stretch at its own place, into a file that takes its name when it is whole.
    /// Collective; the same error on all ranks.
    pub fn write_npy(&self, path: &Path) -> Result<(), Error> {
        let mut file = PairFile::create(self.comm, path, false, self.wide())?;
        file.append(None, self)?;
        file.finish()
    }

    /// Returns true on all ranks if some id needs 64 bits. Collective.
    fn wide(&self) -> bool {
        let largest = self.mine.iter().map(|pair| pair.b().0).max().unwrap_or(0);
        let mut largest = [largest];
        self.comm.all_reduce(&mut largest, Reduction::Max);
        largest[0] > u64::from(u32::MAX)
    }
}

fn narrow(id: GlobalId) -> u32 {
    u32::try_from(id.0).expect("ids below 2^32: rows of a file")
}

/// A `.npy` file of pairs that all ranks write together, in two passes: the counts say where each
/// rank's rows go, then all write at once. For a sequence there is a column for the frame.
pub struct PairFile<'a, C> {
    comm: &'a C,
    path: std::path::PathBuf,
    part: std::path::PathBuf,
    file: File,
    sequence: bool,
    wide: bool,
    rows: u64,
}

/// Room for the header; it is written at the end, when the number of rows is known.
const HEADER: u64 = 128;

impl<C> std::fmt::Debug for PairFile<'_, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PairFile({}, {} rows)", self.path.display(), self.rows)
    }
}

impl<'a, C: Communicator> PairFile<'a, C> {
    /// Begins a file next to its final name. Collective.
    pub fn create(
        comm: &'a C,
        path: &Path,
        sequence: bool,
        wide: bool,
    ) -> Result<PairFile<'a, C>, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = path.with_file_name(format!(".{name}.part"));
        // The first rank makes the file, the others open it once it is there.
        let make = File::options().write(true).create(true).truncate(true).clone();
        let first = if comm.rank() == 0 { make.open(&part).map(Some) } else { Ok(None) };
        let first = agree_on(comm, path, first)?;
        let opened = match first {
            Some(file) => Ok(file),
            None => File::options().write(true).open(&part),
        };
        let file = agree_on(comm, path, opened)?;
        Ok(PairFile { comm, path: path.to_owned(), part, file, sequence, wide, rows: 0 })
    }

    /// Writes the pairs of a frame behind those before. Collective.
    pub fn append(
        &mut self,
        frame: Option<u32>,
        pairs: &SortedPairs<'_, impl Communicator>,
    ) -> Result<(), Error> {
        let columns = if self.sequence { 3 } else { 2 };
        let row = columns * if self.wide { 8 } else { 4 };
        let mut at = HEADER + (self.rows + pairs.before()) * row;
        let mut written = Ok(());
        let mut bytes = Vec::with_capacity((1 << 13) * row as usize);
        for some in pairs.mine().chunks(1 << 13) {
            bytes.clear();
            for pair in some {
                let numbers = [u64::from(frame.unwrap_or(0)), pair.a().0, pair.b().0];
                for number in &numbers[usize::from(!self.sequence)..] {
                    if self.wide {
                        bytes.put_u64(*number);
                    } else {
                        bytes.put_u32(*number as u32);
                    }
                }
            }
            written = written.and_then(|()| write_at(&self.file, &bytes, at));
            at += bytes.len() as u64;
        }
        self.rows += pairs.total();
        agree_on(self.comm, &self.path, written)
    }

    /// Writes the header and gives the file its name. Collective.
    pub fn finish(self) -> Result<(), Error> {
        let synced = agree_on(self.comm, &self.path, self.file.sync_data());
        let done = match (&synced, self.comm.rank()) {
            (Ok(()), 0) => {
                let header = header(self.rows, if self.sequence { 3 } else { 2 }, self.wide);
                write_at(&self.file, &header, 0)
                    .and_then(|()| std::fs::rename(&self.part, &self.path))
            }
            _ => Ok(()),
        };
        if synced.is_err() && self.comm.rank() == 0 {
            // What is half written is nobody's; if even that fails there is nothing to add.
            let _ = std::fs::remove_file(&self.part);
        }
        synced?;
        agree_on(self.comm, &self.path, done)
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// The header of a version 1.0 file, padded to [`HEADER`] bytes.
fn header(rows: u64, columns: u64, wide: bool) -> Vec<u8> {
    let kind = if wide { "<u8" } else { "<u4" };
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(HEADER as u16 - 10).to_le_bytes());
    // Writing to a Vec cannot fail.
    let _ = write!(
        bytes,
        "{{'descr': '{kind}', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    );
    bytes.resize(HEADER as usize - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The value, or on all ranks the error of the first rank that has one. Collective.
pub(crate) fn agree_on<T, C: Communicator>(
    comm: &C,
    path: &Path,
    mine: io::Result<T>,
) -> Result<T, Error> {
    let rank = comm.rank();
    let mine =
        mine.map_err(|error| Error::File { rank, reason: format!("{}: {error}", path.display()) });
    agree_on_error(comm, mine)
}

/// The value, or on all ranks the error of the first rank that has one. Collective.
pub fn agree_on_error<T, C: Communicator>(comm: &C, mine: Result<T, Error>) -> Result<T, Error> {
    let mut bad = [u64::from(mine.is_err())];
    comm.all_reduce(&mut bad, Reduction::Sum);
    if bad[0] == 0 {
        return mine;
    }
    let bytes = mine.as_ref().err().map(Error::to_bytes).unwrap_or_default();
    let all = comm.all_gather(&bytes);
    let first = all.iter().find(|bytes| !bytes.is_empty()).expect("some rank has an error");
    Err(Error::from_bytes(first).expect("ranks run the same program"))
}
