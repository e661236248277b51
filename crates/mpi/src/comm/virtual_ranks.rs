//! Ranks as threads of one process: for tests, and to count what thousands of ranks would send.
//!
//! A call waits on a condition variable until all ranks have made it. A rank that waits longer
//! than the timeout, or whose peers have panicked, panics: a collective that not everyone enters
//! fails a test instead of hanging it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::{Communicator, Message, Reduction};

/// Long enough for a step of many millions of boxes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A rank's stack; thousands of ranks fit because only touched pages count.
const STACK: usize = 4 << 20;

/// What all ranks share.
struct Hub {
    state: Mutex<State>,
    wake: Condvar,
    /// One per rank, apart from the state because messages may be large.
    boxes: Vec<Mutex<Mailbox>>,
    timeout: Duration,
}

#[derive(Default)]
struct State {
    /// Number of collective calls completed.
    round: u64,
    arrived: usize,
    sums: Vec<u64>,
    parts: Vec<Vec<u8>>,
    /// The results of the last two rounds: nobody can be further behind.
    results: [Outcome; 2],
    failed: bool,
}

#[derive(Clone, Default)]
struct Outcome {
    sums: Arc<Vec<u64>>,
    parts: Arc<Vec<Vec<u8>>>,
}

#[derive(Default)]
struct Mailbox {
    /// Messages of exchanges, by parity of the round: a quick rank may be one round ahead.
    exchanged: [Vec<Message>; 2],
    sent: VecDeque<Message>,
}

/// One of the ranks that [`run_virtual`] started.
pub struct VirtualRanks {
    hub: Arc<Hub>,
    rank: usize,
    rounds: std::cell::Cell<u64>,
}

impl std::fmt::Debug for VirtualRanks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "virtual rank {} of {}", self.rank, self.hub.boxes.len())
    }
}

/// Runs `work` on `size` ranks, each a thread, and returns their results in the order of ranks.
/// Panics if a rank panics.
pub fn run_virtual<R: Send>(size: usize, work: impl Fn(&VirtualRanks) -> R + Sync) -> Vec<R> {
    run_virtual_with_timeout(size, TIMEOUT, work)
}

/// As [`run_virtual`], with the time after which a rank that waits for others gives up.
pub fn run_virtual_with_timeout<R: Send>(
    size: usize,
    timeout: Duration,
    work: impl Fn(&VirtualRanks) -> R + Sync,
) -> Vec<R> {
    assert!(size > 0, "there is at least one rank");
    let hub = Arc::new(Hub {
        state: Mutex::default(),
        wake: Condvar::new(),
        boxes: (0..size).map(|_| Mutex::default()).collect(),
        timeout,
    });
    std::thread::scope(|scope| {
        let start = |rank: usize| {
            let ranks = VirtualRanks { hub: Arc::clone(&hub), rank, rounds: 0.into() };
            let run = || {
                let ranks = Failing(ranks);
                work(&ranks.0)
            };
            let name = format!("rank-{rank}");
            let thread = std::thread::Builder::new().name(name).stack_size(STACK);
            thread.spawn_scoped(scope, run).expect("a thread for each rank")
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank panicked")).collect()
    })
}

/// Tells the other ranks when this one panics.
struct Failing(VirtualRanks);

impl Drop for Failing {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut state =
                self.0.hub.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            state.failed = true;
            self.0.hub.wake.notify_all();
        }
    }
}

impl VirtualRanks {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.hub.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Enters a collective: adds what this rank has, waits for the others, takes the result.
    fn meet(&self, add: impl FnOnce(&mut State)) -> Outcome {
        let round = self.rounds.get();
        self.rounds.set(round + 1);
        let size = self.size();
        let mut state = self.lock();
        assert_eq!(state.round, round, "rank {}: a collective was skipped", self.rank);
        add(&mut state);
        state.arrived += 1;
        if state.arrived == size {
            let outcome = Outcome {
                sums: Arc::new(std::mem::take(&mut state.sums)),
                parts: Arc::new(std::mem::take(&mut state.parts)),
            };
            state.results[(round % 2) as usize] = outcome;
            state.arrived = 0;
            state.round += 1;
            self.hub.wake.notify_all();
        }
        let state = self.wait(state, |state| state.round > round);
        state.results[(round % 2) as usize].clone()
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        ready: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waiting = |state: &mut State| !ready(state) && !state.failed;
        let waited = self.hub.wake.wait_timeout_while(state, self.hub.timeout, waiting);
        let (state, timeout) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        let done = ready(&state);
        let failed = state.failed;
        if !done {
            drop(state);
            assert!(!timeout.timed_out(), "rank {}: the other ranks never came", self.rank);
            assert!(!failed, "rank {}: another rank panicked", self.rank);
            unreachable!("a wait ends by one of its reasons");
        }
        state
    }

    fn mailbox(&self, rank: usize) -> MutexGuard<'_, Mailbox> {
        self.hub.boxes[rank].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Communicator for VirtualRanks {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.hub.boxes.len()
    }

    fn all_reduce(&self, values: &mut [u64], how: Reduction) {
        let outcome = self.meet(|state| {
            if state.arrived == 0 {
                state.sums = values.to_vec();
                return;
            }
            assert_eq!(state.sums.len(), values.len(), "ranks reduce the same number of values");
            for (sum, value) in state.sums.iter_mut().zip(&*values) {
                *sum = match how {
                    Reduction::Sum => sum.wrapping_add(*value),
                    Reduction::Max => (*sum).max(*value),
                };
            }
        });
        values.copy_from_slice(&outcome.sums);
    }

    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let outcome = self.meet(|state| {
            state.parts.resize(self.size(), Vec::new());
            state.parts[self.rank] = mine.to_vec();
        });
        outcome.parts.to_vec()
    }

    fn exchange(&self, outgoing: Vec<Message>) -> Vec<Message> {
        let parity = (self.rounds.get() % 2) as usize;
        for (to, bytes) in outgoing {
            self.mailbox(to).exchanged[parity].push((self.rank, bytes));
        }
        self.meet(|_| {});
        let mut received = std::mem::take(&mut self.mailbox(self.rank).exchanged[parity]);
        received.sort_by_key(|&(from, _)| from);
        received
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        self.mailbox(to).sent.push_back((self.rank, bytes.to_vec()));
        // Taking the lock orders this after a receiver's look and before its sleep.
        drop(self.lock());
        self.hub.wake.notify_all();
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let taken = std::cell::RefCell::new(None);
        let state = self.lock();
        let state = self.wait(state, |_| {
            let mut mailbox = self.mailbox(self.rank);
            let place = mailbox.sent.iter().position(|&(sender, _)| sender == from);
            if taken.borrow().is_none() {
                *taken.borrow_mut() = place.and_then(|place| mailbox.sent.remove(place));
            }
            taken.borrow().is_some()
        });
        drop(state);
        taken.into_inner().expect("the wait ended with a message").1
    }

    fn quiet_barrier(&self) {
        self.meet(|_| {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_and_messages_reach_everyone() {
        for size in [1usize, 2, 5, 33] {
            let sums = run_virtual(size, |ranks| {
                let rank = ranks.rank();
                for round in 0..20u64 {
                    let mut values = [1, rank as u64 + round];
                    ranks.all_reduce(&mut values, Reduction::Sum);
                    assert_eq!(values[0], size as u64);
                    let mut largest = [rank as u64];
                    ranks.all_reduce(&mut largest, Reduction::Max);
                    assert_eq!(largest[0], size as u64 - 1);
                    let all = ranks.all_gather(&[rank as u8, round as u8]);
                    assert_eq!(all[size - 1], [size as u8 - 1, round as u8]);
                    let right = (rank + 1) % size;
                    let got = ranks.exchange(vec![(right, vec![round as u8, rank as u8])]);
                    let left = (rank + size - 1) % size;
                    assert_eq!(got, [(left, vec![round as u8, left as u8])]);
                    ranks.send(right, &[round as u8]);
                    assert_eq!(ranks.receive(left), [round as u8]);
                }
                rank
            });
            assert_eq!(sums, (0..size).collect::<Vec<_>>());
        }
    }

    #[test]
    #[should_panic(expected = "a rank panicked")]
    fn a_collective_that_not_everyone_enters_panics_instead_of_hanging() {
        run_virtual_with_timeout(3, Duration::from_millis(50), |ranks| {
            if ranks.rank() > 0 {
                ranks.quiet_barrier();
            }
        });
    }
}
