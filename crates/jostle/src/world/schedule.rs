//! How the pairs of a step are scheduled on workers.
//!
//! The thesis chapter *Parallel Techniques for Collision Detection*, the source of the hashed
//! grids too, compares the first two ways of balancing the narrow phase; a third one is added. All
//! give the same answers: a pair's answer depends on nothing but the pair, each worker writes into
//! results of its own, on cache lines of its own, and these are put into the order of pairs
//! afterwards.
//!
//! - **Blocks**: every worker takes a contiguous block of the pairs. Nothing is arranged, but if
//!   expensive pairs lie together one worker has them all.
//! - **Alternating**: the paper's schedule. The pairs are grouped by their first body, the bodies
//!   are ordered by the work they make, and the workers choose in turn: first to last, then last
//!   to first, so that whoever had the most expensive in one round has the cheapest in the next.
//!   It costs a sort, and rests on guessed costs.
//! - **Stealing**: every worker has a block of the pairs in batches; when it has none left it takes
//!   from the far end of another's. A thread begins with the same block in every step, which its
//!   caches may still hold. Within a batch pairs of one kind follow each other, so that the
//!   code and its branches are warm. No guess is needed and nothing is arranged beforehand.
//!
//! Timed by `jostle reproduce loi` with 100 000 moving mixed shapes (161 000 to 175 000 pairs) on
//! two cores that other programs kept busy, so runs differ widely; speed-up over one thread,
//! fastest steps then median of steps:
//!
//! | run | blocks | alternating | batches of one kind | stealing |
//! |---|---|---|---|---|
//! | 12 steps | 1.98, 1.85 | 1.49, 0.97 | 1.52, 1.04 | |
//! | 20 steps | 1.35, 1.36 | 1.00, 1.07 | 1.20, 1.37 | |
//! | 14 steps | 1.12, 1.31 | 1.00, 1.07 | | 1.32, 1.52 |
//!
//! The alternating schedule was last or level in each. Batches of one kind, gathered from all over
//! the list, were tried and given up: a likely reason is that neighbours in the list share bodies.
//! Which of blocks and stealing is faster on idle cores is not settled by this.

use std::cmp::Reverse;
use std::slice::ChunksMut;
use std::sync::Mutex;

use super::pair_test::PairTest;
use super::pairs::PairState;
use super::results::{WorkerResults, WorkerStats};
use crate::par::Workers;
use crate::shape::Shape;

/// How pairs are scheduled on workers. The answers do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Schedule {
    /// A contiguous block of the pairs each.
    Blocks,
    /// By the work of first bodies, in alternating turns.
    Alternating,
    /// A block each in batches, by kind of pair within them; idle workers take from others.
    #[default]
    Stealing,
}

/// Pairs in a batch: enough that taking one costs nothing and kinds come together, few enough to
/// share out the last ones. Places in a batch must fit 16 bits.
const BATCH: usize = 256;

/// Answers all pairs that are due.
pub(super) fn run(
    workers: &Workers,
    schedule: Schedule,
    test: &PairTest<'_>,
    states: &mut [PairState],
    results: &mut Vec<WorkerResults>,
) {
    results.resize_with(workers.count(), WorkerResults::default);
    for own in results.iter_mut() {
        own.changed = false;
        own.stats = WorkerStats::default();
        own.query.set_options(test.options);
    }
    if states.is_empty() {
        return;
    }
    if let [only] = &mut results[..] {
        return answer_due(test, states, only);
    }
    match schedule {
        Schedule::Blocks => run_blocks(workers, test, states, results),
        Schedule::Alternating => run_alternating(workers, test, states, results),
        Schedule::Stealing => run_stealing(workers, test, states, results),
    }
}

/// How many pairs ahead memory is asked for: bodies and what pairs remember are all over the heap,
/// and waiting for them would take as long as answering. What a memory points to is asked for later
/// than the memory.
const FAR: usize = 12;
const NEAR: usize = 6;

fn answer_due(test: &PairTest<'_>, states: &mut [PairState], own: &mut WorkerResults) {
    for place in 0..states.len() {
        if let Some(far) = states.get(place + FAR).filter(|far| test.is_due(far)) {
            test.ask_for_memory(far);
        }
        if let Some(near) = states.get(place + NEAR).filter(|near| test.is_due(near)) {
            test.ask_for_more(near);
        }
        let state = &mut states[place];
        if test.is_due(state) {
            test.answer(state, own);
        }
    }
}

fn run_blocks(
    workers: &Workers,
    test: &PairTest<'_>,
    states: &mut [PairState],
    results: &mut [WorkerResults],
) {
    let length = states.len().div_ceil(results.len()).max(1);
    let mut blocks: Vec<&mut [PairState]> = states.chunks_mut(length).collect();
    let used = blocks.len();
    workers.for_each_two(&mut blocks, &mut results[..used], |_, block, own| {
        answer_due(test, block, own);
    });
}

fn run_alternating(
    workers: &Workers,
    test: &PairTest<'_>,
    states: &mut [PairState],
    results: &mut [WorkerResults],
) {
    let by_body = states.chunk_by_mut(|one, other| one.pair.a() == other.pair.a());
    let mut runs: Vec<(u64, &mut [PairState])> =
        by_body.map(|run| (run.iter().map(|state| cost(test, state)).sum(), run)).collect();
    // Bodies without work need no worker. Equal ones stay in their order.
    runs.retain(|run| run.0 > 0);
    runs.sort_by_key(|run| Reverse(run.0));
    let count = results.len();
    let mut shares: Vec<Vec<&mut [PairState]>> = (0..count).map(|_| Vec::new()).collect();
    for (turn, (_, run)) in runs.into_iter().enumerate() {
        shares[turn_of(turn, count)].push(run);
    }
    workers.for_each_two(&mut shares, results, |_, share, own| {
        share.iter_mut().for_each(|run| answer_due(test, run, own));
    });
}

/// Whose turn it is: first to last in even rounds, last to first in odd ones.
fn turn_of(turn: usize, count: usize) -> usize {
    let (round, place) = (turn / count, turn % count);
    if round % 2 == 0 { place } else { count - 1 - place }
}

/// A guess of what a pair costs, in units of the cheapest.
fn cost(test: &PairTest<'_>, state: &PairState) -> u64 {
    if !test.is_due(state) {
        return 0;
    }
    let cost = |shape: &Shape| match shape {
        Shape::Sphere { .. } | Shape::HalfSpace { .. } => 1,
        Shape::Capsule { .. } | Shape::Cuboid { .. } => 4,
        Shape::Compound(_) | Shape::Mesh(_) | Shape::HeightField(_) => 30,
        _ => 10,
    };
    let (a, b) = test.shapes(state);
    cost(a).max(cost(b))
}

fn run_stealing(
    workers: &Workers,
    test: &PairTest<'_>,
    states: &mut [PairState],
    results: &mut [WorkerResults],
) {
    let share = states.len().div_ceil(results.len()).max(1);
    let mut queues: Vec<Mutex<ChunksMut<'_, PairState>>> =
        states.chunks_mut(share).map(|block| Mutex::new(block.chunks_mut(BATCH))).collect();
    queues.resize_with(results.len(), || Mutex::new([].chunks_mut(BATCH)));
    workers.for_each(results, |number, own| {
        // A thread begins with the same block in every step: its caches still hold some of it.
        let me = workers.current().unwrap_or(number);
        while let Some(batch) = take(&queues, me, &mut own.stats) {
            answer_by_kind(test, batch, own);
        }
    });
}

/// The next batch of one's own, or else the last of another's.
fn take<'a>(
    queues: &[Mutex<ChunksMut<'a, PairState>>],
    me: usize,
    stats: &mut WorkerStats,
) -> Option<&'a mut [PairState]> {
    // A poisoned queue means that another worker has panicked; the panic is passed on anyway.
    if let Some(own) = queues[me].lock().ok()?.next() {
        return Some(own);
    }
    let mut others = (1..queues.len()).map(|step| (me + step) % queues.len());
    let stolen = others.find_map(|other| queues[other].lock().ok()?.next_back());
    stats.stolen += usize::from(stolen.is_some());
    stolen
}

/// Answers a batch, pairs of one kind after the other.
fn answer_by_kind(test: &PairTest<'_>, batch: &mut [PairState], own: &mut WorkerResults) {
    let mut order = std::mem::take(&mut own.order);
    order.clear();
    for (place, state) in batch.iter().enumerate() {
        if test.is_due(state) {
            order.push(u32::from(state.kind) << 16 | place as u32);
        }
    }
    order.sort_unstable();
    let place = |key: &u32| (key & 0xffff) as usize;
    for (number, key) in order.iter().enumerate() {
        if let Some(far) = order.get(number + FAR) {
            test.ask_for_memory(&batch[place(far)]);
        }
        if let Some(near) = order.get(number + NEAR) {
            test.ask_for_more(&batch[place(near)]);
        }
        test.answer(&mut batch[place(key)], own);
    }
    own.order = order;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_alternate_as_in_the_paper() {
        let turns: Vec<usize> = (0..9).map(|turn| turn_of(turn, 3)).collect();
        assert_eq!(turns, [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        // Nine objects make 8, 7, … 0 tests: the workers get 13, 12 and 11 of the 36.
        let mut tests = [0; 3];
        (0..9).for_each(|turn| tests[turn_of(turn, 3)] += 8 - turn);
        assert_eq!(tests, [13, 12, 11]);
    }
}
