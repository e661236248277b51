//! Threads that stay awake while one of them works on many short tasks.
//!
//! A thread without work sleeps after some ten microseconds, and waking it takes longer than a pass
//! over the pairs of a few thousand bodies. A step is twenty such passes with a little serial work
//! between, so threads that sleep in each gap gain nothing. Here they look for work until the whole
//! step is over, or until none has come for a while.
//!
//! Medians of whole steps in one or two runs, one worker and two (poses of `jostle bench --world`
//! played back and forth on two cores): `pour` 41.8 and 22.4 ms where it was 42.2 and 25.4; `pile`
//! 5.1 and 2.9, 3.6 where it was 5.4 and 5.5, 3.0; `balls` 5.6 and 5.3, 3.5. Where two runs differ
//! so, a likely reason is that the operating system keeps both threads on one core for a while.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a thread looks for work before it lets other programs have the core.
const LOOKS: u32 = 32;

/// How often in a row it does so in vain before it may sleep: about half a millisecond, longer than
/// the serial parts of a step.
const PATIENCE: u32 = 128;

thread_local! {
    /// True while this thread does such work or helps with it. It must not begin to help others
    /// then: two threads that each wait for the work below the other's would wait forever.
    static TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as taken, until it is dropped.
struct Mark(bool);

impl Mark {
    fn set() -> Mark {
        Mark(TAKEN.replace(true))
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        TAKEN.set(self.0);
    }
}

/// Says that the work is over, after a panic too.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Does the work on this thread of a pool, and keeps up to `others` more awake for its tasks.
pub(super) fn run<R: Send>(others: usize, work: impl FnOnce() -> R + Send) -> R {
    let over = AtomicBool::new(false);
    with_helpers(others, &over, || {
        let _mark = Mark::set();
        let _over = Over(&over);
        work()
    })
}

/// Each helper is joined with the rest, so that no list of them is needed.
fn with_helpers<R: Send>(others: usize, over: &AtomicBool, work: impl FnOnce() -> R + Send) -> R {
    if others == 0 {
        return work();
    }
    rayon::join(|| with_helpers(others - 1, over, work), || help(over)).0
}

/// Runs whatever tasks there are until the work is over.
fn help(over: &AtomicBool) {
    if TAKEN.get() {
        return;
    }
    let _mark = Mark::set();
    let mut idle = 0;
    while idle < PATIENCE && !over.load(Ordering::Acquire) {
        let busy = (0..LOOKS).any(|_| {
            std::hint::spin_loop();
            rayon::yield_now() == Some(rayon::Yield::Executed)
        });
        if busy {
            idle = 0;
        } else {
            idle += 1;
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::par::Workers;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Some loops with serial work between them.
    fn sums(workers: &Workers, rounds: u64) -> u64 {
        let mut items = vec![1u64; 300];
        for round in 0..rounds {
            workers.for_each(&mut items, |place, item| *item += place as u64 * round);
            items.rotate_left(1);
            workers.for_each_chunk(&mut items, 40, |_, items| items.reverse());
        }
        items.iter().sum()
    }

    /// From outside, from within, and from several threads at once, each of which could take the
    /// helpers of another for its own and wait for them.
    #[test]
    fn work_is_done_whoever_else_is_at_it() {
        let expected = sums(&Workers::one(), 20);
        for count in [1, 2, 3, 8] {
            let workers = &Workers::new(count).unwrap();
            let work = || workers.enter_awake(|| workers.enter_awake(|| sums(workers, 20)));
            assert_eq!(work(), expected);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| (0..40).for_each(|_| assert_eq!(work(), expected)));
                }
            });
            let both = || workers.join(work, work);
            assert_eq!(workers.enter_awake(both), (expected, expected));
        }
    }

    #[test]
    fn a_panic_lets_the_helpers_go() {
        for count in [1, 2, 8] {
            let workers = Workers::new(count).unwrap();
            let fails = || workers.enter_awake(|| panic!("on purpose"));
            assert!(catch_unwind(AssertUnwindSafe(fails)).is_err());
            assert_eq!(workers.enter_awake(|| sums(&workers, 5)), sums(&Workers::one(), 5));
        }
    }
}
