//! How the pairs of a step are dealt to workers, and what each worker finds.
//!
//! The thesis chapter *Parallel Techniques for Collision Detection*, the source of the hashed grids
//! too, compares the first two ways of balancing the narrow phase; a third one is added. All give the
//! same answers: a pair's answer depends on nothing but the pair, each worker writes into a lane of
//! its own, on cache lines of its own, and the lanes are put into the order of pairs afterwards.
//!
//! - **Blocks**: every worker takes a stretch of the pairs. Nothing is arranged, but where dear pairs
//!   lie together one worker has them all.
//! - **Alternating**: the paper's deal. The pairs are taken together by their first body, the bodies
//!   are ordered by the work they make, and the workers choose in turn: first to last, then last to
//!   first, so that who had the dearest in one round has the cheapest in the next. It costs a sort,
//!   and rests on guessed costs.
//! - **Stealing**: every worker has a stretch of the pairs in batches; when it has none left it takes
//!   from the far end of another's. Within a batch pairs of one kind follow each other, so that the
//!   code and its branches are warm. No guess is needed and nothing is arranged beforehand.
//!
//! Timed with 100 000 moving mixed shapes (161 000 to 175 000 pairs) on two cores that other programs
//! kept busy, so runs differ widely; speed-up over one thread, fastest steps then median of steps:
//!
//! | run | blocks | alternating | batches of one kind | stealing |
//! |---|---|---|---|---|
//! | 12 steps | 1.98, 1.85 | 1.49, 0.97 | 1.52, 1.04 | |
//! | 20 steps | 1.35, 1.36 | 1.00, 1.07 | 1.20, 1.37 | |
//! | 14 steps | 1.12, 1.31 | 1.00, 1.07 | | 1.32, 1.52 |
//!
//! The alternating deal was last or level in each. Batches of one kind, gathered from all over the
//! list, were tried and given up: a likely reason is that neighbours in the list share bodies. Which
//! of blocks and stealing is faster on idle cores is not settled by this.

use std::cmp::Reverse;
use std::slice::ChunksMut;
use std::sync::Mutex;

use super::answer::Task;
use super::pairs::PairState;
use super::touch::Touch;
use crate::narrow::ManifoldPoint;
use crate::par::Workers;
use crate::shape::Shape;

/// How pairs are dealt to workers. The answers do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dealing {
    /// A stretch of the pairs each.
    Blocks,
    /// By the work of first bodies, in alternating turns.
    Alternating,
    /// A stretch each in batches, by kind of pair within them; idle workers take from others.
    #[default]
    Stealing,
}

/// What fell to one worker in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs it was asked about.
    pub pairs: usize,
    /// Batches it took from others.
    pub stolen: usize,
}

/// What one worker finds, on cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Lane {
    /// Touches with the places of their pairs.
    pub found: Vec<(u32, Touch)>,
    pub points: Vec<ManifoldPoint>,
    pub work: Work,
    /// Kinds and places of the pairs of a batch.
    order: Vec<u32>,
}

/// Pairs in a batch: enough that taking one costs nothing and kinds come together, few enough to share
/// out the last ones. Places in a batch must fit 16 bits.
const BATCH: usize = 256;

/// Number of kinds of shapes.
const KINDS: usize = 10;

/// Answers all pairs that are due.
pub(super) fn run(
    workers: &Workers,
    dealing: Dealing,
    task: &Task<'_>,
    states: &mut [PairState],
    lanes: &mut Vec<Lane>,
) {
    lanes.resize_with(workers.count(), Lane::default);
    for lane in lanes.iter_mut() {
        lane.found.clear();
        lane.points.clear();
        lane.work = Work::default();
    }
    if let [lane] = &mut lanes[..] {
        return answer_due(task, states, lane);
    }
    match dealing {
        Dealing::Blocks => run_blocks(workers, task, states, lanes),
        Dealing::Alternating => run_alternating(workers, task, states, lanes),
        Dealing::Stealing => run_stealing(workers, task, states, lanes),
    }
}

fn answer_due(task: &Task<'_>, states: &mut [PairState], lane: &mut Lane) {
    for state in states {
        if task.is_due(state) {
            task.answer(state, lane);
        }
    }
}

fn run_blocks(workers: &Workers, task: &Task<'_>, states: &mut [PairState], lanes: &mut [Lane]) {
    let length = states.len().div_ceil(lanes.len()).max(1);
    let mut blocks: Vec<&mut [PairState]> = states.chunks_mut(length).collect();
    let used = blocks.len();
    workers.for_each_two(&mut blocks, &mut lanes[..used], |_, block, lane| {
        answer_due(task, block, lane);
    });
}

fn run_alternating(
    workers: &Workers,
    task: &Task<'_>,
    states: &mut [PairState],
    lanes: &mut [Lane],
) {
    let by_body = states.chunk_by_mut(|one, other| one.pair.a() == other.pair.a());
    let mut runs: Vec<(u64, &mut [PairState])> =
        by_body.map(|run| (run.iter().map(|state| cost(task, state)).sum(), run)).collect();
    // Bodies without work need not be dealt. Equal ones stay in their order.
    runs.retain(|run| run.0 > 0);
    runs.sort_by_key(|run| Reverse(run.0));
    let count = lanes.len();
    let mut hands: Vec<Vec<&mut [PairState]>> = (0..count).map(|_| Vec::new()).collect();
    for (turn, (_, run)) in runs.into_iter().enumerate() {
        hands[seat(turn, count)].push(run);
    }
    workers.for_each_two(&mut hands, lanes, |_, hand, lane| {
        hand.iter_mut().for_each(|run| answer_due(task, run, lane));
    });
}

/// Whose turn it is: first to last in even rounds, last to first in odd ones.
fn seat(turn: usize, count: usize) -> usize {
    let (round, place) = (turn / count, turn % count);
    if round % 2 == 0 { place } else { count - 1 - place }
}

/// A guess of what a pair costs, in units of the cheapest.
fn cost(task: &Task<'_>, state: &PairState) -> u64 {
    if !task.is_due(state) {
        return 0;
    }
    let (a, b) = task.shapes(state);
    match kind(a).max(kind(b)) {
        0 | 1 => 1,
        2 | 3 => 4,
        9 => 30,
        _ => 10,
    }
}

/// Kinds of shapes by number, roughly from cheap to dear.
fn kind(shape: &Shape) -> usize {
    match shape {
        Shape::Sphere { .. } => 0,
        Shape::HalfSpace { .. } => 1,
        Shape::Capsule { .. } => 2,
        Shape::Box { .. } => 3,
        Shape::Triangle { .. } => 4,
        Shape::Cone { .. } => 5,
        Shape::Cylinder { .. } => 6,
        Shape::Ellipsoid { .. } => 7,
        Shape::Hull(_) => 8,
        Shape::Compound(_) => 9,
    }
}

fn kind_of_pair(task: &Task<'_>, state: &PairState) -> usize {
    let (a, b) = task.shapes(state);
    let (a, b) = (kind(a), kind(b));
    a.max(b) * KINDS + a.min(b)
}

fn run_stealing(workers: &Workers, task: &Task<'_>, states: &mut [PairState], lanes: &mut [Lane]) {
    let share = states.len().div_ceil(lanes.len()).max(1);
    let mut queues: Vec<Mutex<ChunksMut<'_, PairState>>> =
        states.chunks_mut(share).map(|stretch| Mutex::new(stretch.chunks_mut(BATCH))).collect();
    queues.resize_with(lanes.len(), || Mutex::new([].chunks_mut(BATCH)));
    workers.for_each(lanes, |me, lane| {
        while let Some(batch) = take(&queues, me, &mut lane.work) {
            answer_by_kind(task, batch, lane);
        }
    });
}

/// The next batch of one's own, or else the last of another's.
fn take<'a>(
    queues: &[Mutex<ChunksMut<'a, PairState>>],
    me: usize,
    work: &mut Work,
) -> Option<&'a mut [PairState]> {
    // A poisoned queue means that another worker has panicked; the panic is passed on anyway.
    if let Some(own) = queues[me].lock().ok()?.next() {
        return Some(own);
    }
    let mut others = (1..queues.len()).map(|step| (me + step) % queues.len());
    let stolen = others.find_map(|other| queues[other].lock().ok()?.next_back());
    work.stolen += usize::from(stolen.is_some());
    stolen
}

/// Answers a batch, pairs of one kind after the other.
fn answer_by_kind(task: &Task<'_>, batch: &mut [PairState], lane: &mut Lane) {
    let mut order = std::mem::take(&mut lane.order);
    order.clear();
    for (place, state) in batch.iter().enumerate() {
        if task.is_due(state) {
            order.push(((kind_of_pair(task, state) as u32) << 16) | place as u32);
        }
    }
    order.sort_unstable();
    order.iter().for_each(|key| task.answer(&mut batch[(key & 0xffff) as usize], lane));
    lane.order = order;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deal_alternates_as_in_the_paper() {
        let seats: Vec<usize> = (0..9).map(|turn| seat(turn, 3)).collect();
        assert_eq!(seats, [0, 1, 2, 2, 1, 0, 0, 1, 2]);
        // Nine objects make 8, 7, … 0 tests: the deal gives the workers 13, 12 and 11 of the 36.
        let mut tests = [0; 3];
        (0..9).for_each(|turn| tests[seat(turn, 3)] += 8 - turn);
        assert_eq!(tests, [13, 12, 11]);
    }
}
