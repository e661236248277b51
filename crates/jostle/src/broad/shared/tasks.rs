//! [`run_tasks`] and [`run_parts`]: run a search on several workers, in tasks with a lane for their
//! pairs and a scratch of their own.
//!
//! What a task finds does not depend on the worker that runs it, and the number of tasks decides
//! nothing but the unsorted order of the pairs.

use std::ops::Range;

use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;

/// A task's scratch, which it keeps between updates, and what it counted in the last one; on cache
/// lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(crate) struct TaskState<S> {
    pub scratch: S,
    pub tests: u64,
    stopped: Option<LimitReached>,
}

/// Cuts a number of items into parts, `per_worker` for each worker so that one that is held up
/// leaves the rest to the others, and runs each part as a task. See [`run_tasks`].
pub(crate) fn run_parts<S: Default + Send>(
    items: usize,
    per_worker: usize,
    workers: &Workers,
    states: &mut Vec<TaskState<S>>,
    found: &mut PairBuffer,
    run: impl Fn(Range<usize>, &mut Lane, &mut S, &mut u64) -> Result<(), LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    let wanted = if workers.count() == 1 { 1 } else { workers.count() * per_worker };
    let tasks = wanted.clamp(1, items.max(1));
    run_tasks(tasks, workers, states, found, |task, lane, scratch, tests| {
        run(items * task / tasks..items * (task + 1) / tasks, lane, scratch, tests)
    })
}

/// Runs `tasks` tasks; each counts its overlap tests. Returns the sum of them, or the limit on
/// pairs if a task reached it.
pub(crate) fn run_tasks<S: Default + Send>(
    tasks: usize,
    workers: &Workers,
    states: &mut Vec<TaskState<S>>,
    found: &mut PairBuffer,
    run: impl Fn(usize, &mut Lane, &mut S, &mut u64) -> Result<(), LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    if states.len() < tasks {
        states.resize_with(tasks, TaskState::default);
    }
    let (used, unused) = states.split_at_mut(tasks);
    unused.iter_mut().for_each(|state| state.tests = 0);
    workers.for_each_two(used, found.lanes(tasks), |task, state, lane| {
        state.tests = 0;
        state.stopped = run(task, lane, &mut state.scratch, &mut state.tests).err();
    });
    match used.iter().find_map(|state| state.stopped) {
        Some(reached) => Err(reached),
        None => Ok(used.iter().map(|state| state.tests).sum()),
    }
}
