//! Ranks of MPI itself, through rsmpi.
//!
//! Messages to unknown receivers go by the NBX protocol (Hoefler, Siebert and Lumsdaine, *Scalable
//! communication protocols for dynamic sparse data exchange*, 2010): synchronous sends to those
//! concerned, probing for what arrives, and a non-blocking barrier that says when nobody has
//! anything under way. No rank ever learns or stores a table of all ranks' messages.
//!
//! MPI counts are 32 bits wide, so long messages travel in pieces; a byte at the end of each says
//! if more follow.

use std::cell::Cell;
use std::time::Duration;

use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, MatchedReceiveVec, Source};
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::traits::CommunicatorCollectives;
use mpi::{Count, Threading};

use super::{Communicator, Message, Reduction};

/// The longest piece of a message.
const PIECE: usize = 1 << 30;

/// Tags of exchanges alternate between two: a rank may be one exchange ahead of another.
const EXCHANGE_TAG: i32 = 100;
const SEND_TAG: i32 = 99;

/// All ranks of an MPI job.
pub struct MpiRanks {
    world: SimpleCommunicator,
    exchanges: Cell<u64>,
}

impl std::fmt::Debug for MpiRanks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MPI rank {} of {}", self.rank(), self.size())
    }
}

/// Starts MPI; it ends when the universe is dropped. `None` if it was started before.
///
/// A rank that panics from now on ends the whole job with a message, as MPI users expect;
/// otherwise the others would wait for it in a collective forever.
pub fn start() -> Option<(Universe, MpiRanks)> {
    let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
    let ranks = MpiRanks { world: universe.world(), exchanges: Cell::new(0) };
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        default(panic);
        let world = SimpleCommunicator::world();
        eprintln!("jostle-mpi: rank {} panicked; the job ends", world.rank());
        world.abort(101);
    }));
    Some((universe, ranks))
}

impl MpiRanks {
    /// Ends the whole job with an exit code.
    pub fn abort(&self, code: i32) -> ! {
        self.world.abort(code)
    }
}

/// The pieces of a message, each with its closing byte.
fn pieces(mut bytes: Vec<u8>) -> Vec<Vec<u8>> {
    if bytes.len() <= PIECE {
        bytes.push(0);
        return vec![bytes];
    }
    let count = bytes.len().div_ceil(PIECE);
    let piece = |(place, part): (usize, &[u8])| {
        let mut piece = part.to_vec();
        piece.push(u8::from(place + 1 < count));
        piece
    };
    bytes.chunks(PIECE).enumerate().map(piece).collect()
}

/// Puts a piece behind those that came before; true if the message is whole.
fn join(message: &mut Vec<u8>, mut piece: Vec<u8>) -> bool {
    let more = piece.pop().expect("a piece ends in a byte of its own");
    if message.is_empty() {
        *message = piece;
    } else {
        message.append(&mut piece);
    }
    more == 0
}

impl Communicator for MpiRanks {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn all_reduce(&self, values: &mut [u64], how: Reduction) {
        let operation = match how {
            Reduction::Sum => SystemOperation::sum(),
            Reduction::Max => SystemOperation::max(),
        };
        let mine = values.to_vec();
        self.world.all_reduce_into(&mine[..], values, operation);
    }

    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let mut lengths = vec![0u64; self.size()];
        self.world.all_gather_into(&(mine.len() as u64), &mut lengths[..]);
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        let mut all = vec![Vec::new(); self.size()];
        // In rounds that keep the sum of all pieces below what a count can say.
        let piece = (PIECE / self.size()).max(1);
        for start in (0..longest).step_by(piece) {
            let part = |length: usize| length.saturating_sub(start).min(piece);
            let counts: Vec<Count> = lengths.iter().map(|&l| part(l as usize) as Count).collect();
            let places: Vec<Count> = counts
                .iter()
                .scan(0, |sum, count| {
                    *sum += count;
                    Some(*sum - count)
                })
                .collect();
            let mut joined = vec![0u8; counts.iter().sum::<Count>() as usize];
            let mine = &mine[start.min(mine.len())..(start + piece).min(mine.len())];
            let mut partition = PartitionMut::new(&mut joined[..], &counts[..], &places[..]);
            self.world.all_gather_varcount_into(mine, &mut partition);
            for (rank, (&count, &place)) in counts.iter().zip(&places).enumerate() {
                all[rank].extend_from_slice(&joined[place as usize..(place + count) as usize]);
            }
        }
        all
    }

    fn exchange(&self, outgoing: Vec<Message>) -> Vec<Message> {
        let round = self.exchanges.get();
        self.exchanges.set(round + 1);
        let tag = EXCHANGE_TAG + (round % 2) as i32;
        let outgoing: Vec<(usize, Vec<u8>)> = outgoing
            .into_iter()
            .flat_map(|(to, bytes)| pieces(bytes).into_iter().map(move |piece| (to, piece)))
            .collect();
        let mut partial: Vec<Message> = Vec::new();
        let mut received = Vec::new();
        mpi::request::scope(|scope| {
            let mut requests: Vec<_> = outgoing
                .iter()
                .map(|(to, piece)| {
                    let process = self.world.process_at_rank(*to as i32);
                    process.immediate_synchronous_send_with_tag(scope, &piece[..], tag)
                })
                .collect();
            let mut barrier = None;
            loop {
                let mut idle = true;
                let any = self.world.any_process();
                if let Some(found) = any.immediate_matched_probe_with_tag(tag) {
                    let (piece, status) = found.matched_receive_vec::<u8>();
                    let from = status.source_rank() as usize;
                    let place = match partial.iter().position(|&(source, _)| source == from) {
                        Some(place) => place,
                        None => {
                            partial.push((from, Vec::new()));
                            partial.len() - 1
                        }
                    };
                    if join(&mut partial[place].1, piece) {
                        received.push(partial.swap_remove(place));
                    }
                    idle = false;
                }
                barrier = match barrier.take() {
                    None => {
                        let waiting = std::mem::take(&mut requests);
                        requests =
                            waiting.into_iter().filter_map(|send| send.test().err()).collect();
                        requests.is_empty().then(|| self.world.immediate_barrier())
                    }
                    Some(entered) => match entered.test() {
                        Ok(_) => break,
                        Err(entered) => Some(entered),
                    },
                };
                if idle {
                    // There may be more ranks than cores.
                    std::thread::yield_now();
                }
            }
        });
        assert!(partial.is_empty(), "every message arrived whole before the barrier");
        received.sort_by_key(|&(from, _)| from);
        received
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        for piece in pieces(bytes.to_vec()) {
            self.world.process_at_rank(to as i32).send_with_tag(&piece[..], SEND_TAG);
        }
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let process = self.world.process_at_rank(from as i32);
        let mut message = Vec::new();
        while !join(&mut message, process.receive_vec_with_tag::<u8>(SEND_TAG).0) {}
        message
    }

    fn quiet_barrier(&self) {
        let mut barrier = self.world.immediate_barrier();
        while let Err(waiting) = barrier.test() {
            barrier = waiting;
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
