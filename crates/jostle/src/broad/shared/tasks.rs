//! Running the parts of a search on several workers.

use std::ops::Range;

use crate::error::LimitReached;
use crate::pair::{Lane, PairBuffer};
use crate::par::Workers;

/// Tasks per worker: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// A part of the items and the lane for what is found there.
struct Task<'a> {
    lane: &'a mut Lane,
    result: Result<u64, LimitReached>,
}

/// Deals a number of items to tasks, each with a lane of its own on its own cache lines, and
/// adds up their tests.
pub(crate) fn in_tasks(
    workers: &Workers,
    items: usize,
    found: &mut PairBuffer,
    work: impl Fn(Range<usize>, &mut Lane) -> Result<u64, LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    if workers.count() == 1 {
        return work(0..items, found.lane());
    }
    let count = TASKS_PER_WORKER * workers.count();
    let task = |lane| Task { lane, result: Ok(0) };
    let mut tasks: Vec<Task<'_>> = found.lanes(count).iter_mut().map(task).collect();
    workers.for_each(&mut tasks, |index, task| {
        let part = items * index / count..items * (index + 1) / count;
        task.result = work(part, task.lane);
    });
    tasks.into_iter().map(|task| task.result).sum()
}
