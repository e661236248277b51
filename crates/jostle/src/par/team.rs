//! A team of threads in which the calling thread works too.
//!
//! A caller posts work on a desk, begins it, and every idle thread of the team joins in. All of
//! them run the same function, which hands out tasks until none is left. Then the caller takes the
//! work off the desk and waits for those that are still at it, but never for one that has not
//! begun: if the others are slow to wake up, or left behind by a `fork`, the caller does it all.
//!
//! - Several callers may post at once, and tasks may post work of their own: there are several
//!   desks, and who waits at one helps at the others. If no desk is free, the caller works alone.
//! - Who has no work looks for some for a while before it sleeps, longer while a caller says that
//!   more will come ([`Team::enter`]): waking a thread takes longer than many a pass over a few
//!   thousand boxes, and a step is twenty such passes with a little serial work between them.
//! - Waiting cannot become circular. A thread waits for those at its desk, and each of them joined
//!   after the work was posted; going round a circle of waiting threads, each would have begun to
//!   wait before itself.
//!
//! Rayon's pool lost. It works while the caller sleeps: as many threads as cores and one more,
//! which moved between the cores from step to step until two of them shared one and the other core
//! idled. The system does not part them while the cores are busy on average. Where the caller is
//! one of the workers, a helper returns to the core that it left, which is free. Medians of whole
//! steps on two cores, one worker and two, with the pool and so: `jostle bench --world`, `pile`
//! 5.1 ms and 5.3, 2.7; `balls` 5.7 and 6.3, 3.2; `pour` 41 and 21, 21; `--scene`, 100 000 boxes
//! in `bvh`, `uniform` at a density of 0.35 4.3 and 4.3, 2.6; `tenth` 1.7 and 1.6, 0.9.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{Builder, JoinHandle};
use std::{hint, io, process, thread};

/// As many as a word has bits.
const DESKS: usize = 64;

/// How often a thread looks for work before it lets other programs have the core.
const LOOKS: u32 = 32;

/// How often in a row it does so in vain before it sleeps: some ten microseconds.
const PATIENCE: u32 = 8;

/// The same while a caller has more to come: about half a millisecond, longer than the serial parts
/// of a step.
const PATIENCE_WITH_CALLERS: u32 = 128;

/// The same for a caller whose helpers are at their last tasks.
const PATIENCE_OF_CALLERS: u32 = 1024;

/// What all threads of a team run until nothing is left to begin.
type Work<'a> = &'a (dyn Fn() + Sync);

type Payload = Box<dyn Any + Send>;

/// See the [module](self).
pub(super) struct Team {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// A process that was forked off has the handles, but not the threads.
    process: u32,
}

impl Team {
    /// A team of `count` threads, the calling one included.
    pub(super) fn new(count: usize) -> io::Result<Team> {
        let crowded = count > super::available();
        let shared = Arc::new(Shared::new(crowded));
        let mut team = Team { shared, threads: Vec::new(), process: this_process() };
        for number in 1..count {
            let shared = Arc::clone(&team.shared);
            let thread = Builder::new().name(format!("jostle-{number}"));
            // If one cannot be started, those before it end as the team is dropped.
            team.threads.push(thread.spawn(move || shared.serve(number))?);
        }
        Ok(team)
    }

    pub(super) fn count(&self) -> usize {
        self.threads.len() + 1
    }

    /// The number of the calling thread in this team: 0 for a caller from outside.
    pub(super) fn current(&self) -> usize {
        let (team, number) = MEMBER.get();
        if team == Arc::as_ptr(&self.shared).addr() { number } else { 0 }
    }

    /// Runs `work` on the calling thread, and at the same time on up to `helpers` others if they
    /// are idle. `work` returns when it has nothing left to begin; then no other thread begins it.
    pub(super) fn together(&self, helpers: usize, work: Work<'_>) {
        let helpers = helpers.min(self.threads.len());
        let desk = if helpers > 0 { self.shared.claim() } else { None };
        let Some(desk) = desk else { return work() };
        let mut posting = Posting { shared: &self.shared, desk, panic: None };
        posting.post(helpers, work);
        work();
        posting.end();
        if let Some(payload) = posting.panic.take() {
            resume_unwind(payload);
        }
    }

    /// Runs `work` on the calling thread, which will post some while it lasts.
    pub(super) fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        let _caller = Caller::new(&self.shared.callers);
        work()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        self.shared.quit.store(true, SeqCst);
        drop(lock(&self.shared.bed));
        self.shared.bell.notify_all();
        let threads = self.threads.drain(..);
        if self.process == this_process() {
            threads.for_each(|thread| drop(thread.join()));
        }
    }
}

impl fmt::Debug for Team {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Team").field("threads", &self.count()).finish()
    }
}

fn this_process() -> u32 {
    if cfg!(target_family = "wasm") { 0 } else { process::id() }
}

thread_local! {
    /// The team that this thread is a member of, by its address, and its number there.
    static MEMBER: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Counts a caller in, until it is dropped.
struct Caller<'a>(&'a AtomicUsize);

impl Caller<'_> {
    fn new(callers: &AtomicUsize) -> Caller<'_> {
        callers.fetch_add(1, Relaxed);
        Caller(callers)
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

struct Shared {
    desks: [Desk; DESKS],
    /// Bits of the desks that belong to a caller now.
    taken: AtomicU64,
    /// Bits of the desks with work that may be joined.
    open: AtomicU64,
    /// How many callers have more work to come.
    callers: AtomicUsize,
    sleepers: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
    quit: AtomicBool,
    /// More threads than cores: looking for work would keep others from it.
    crowded: bool,
}

/// Where work is posted; no two on one cache line.
#[derive(Default)]
#[repr(align(128))]
struct Desk {
    posted: Mutex<Option<Posted>>,
    /// How many have joined and not left.
    helpers: AtomicUsize,
    /// True if the caller sleeps until they have.
    waiting: AtomicBool,
    left: Condvar,
    panic: Mutex<Option<Payload>>,
}

struct Posted {
    work: Work<'static>,
    /// How many more may join.
    seats: usize,
}

impl Shared {
    fn new(crowded: bool) -> Shared {
        Shared {
            desks: std::array::from_fn(|_| Desk::default()),
            taken: AtomicU64::new(0),
            open: AtomicU64::new(0),
            callers: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
            quit: AtomicBool::new(false),
            crowded,
        }
    }

    /// A desk for the calling thread.
    fn claim(&self) -> Option<usize> {
        let mut taken = self.taken.load(Relaxed);
        while taken != u64::MAX {
            let desk = taken.trailing_ones();
            match self.taken.compare_exchange_weak(taken, taken | 1 << desk, Acquire, Relaxed) {
                Ok(_) => return Some(desk as usize),
                Err(now) => taken = now,
            }
        }
        None
    }

    /// The life of a thread.
    fn serve(&self, number: usize) {
        MEMBER.set((std::ptr::from_ref(self).addr(), number));
        let mut idle = 0;
        while !self.quit.load(Acquire) {
            if (0..LOOKS).any(|_| self.help_or_pause()) {
                idle = 0;
            } else if idle < self.patience() {
                idle += 1;
                thread::yield_now();
            } else {
                self.sleep();
                idle = 0;
            }
        }
    }

    fn patience(&self) -> u32 {
        match (self.crowded, self.callers.load(Relaxed)) {
            (true, _) => 0,
            (false, 0) => PATIENCE,
            (false, _) => PATIENCE_WITH_CALLERS,
        }
    }

    /// Sleeps until work is posted or the team ends.
    fn sleep(&self) {
        let mut bed = lock(&self.bed);
        self.sleepers.fetch_add(1, SeqCst);
        while self.open.load(SeqCst) == 0 && !self.quit.load(SeqCst) {
            bed = self.bell.wait(bed).unwrap_or_else(|poison| poison.into_inner());
        }
        self.sleepers.fetch_sub(1, SeqCst);
        drop(bed);
        // One that wakes up wakes others: the caller has better to do than to wake them all.
        self.wake();
    }

    /// Wakes two sleepers if there is work.
    fn wake(&self) {
        if self.sleepers.load(SeqCst) > 0 && self.open.load(SeqCst) != 0 {
            // Whoever is about to sleep has seen the work or is in bed by now.
            drop(lock(&self.bed));
            self.bell.notify_one();
            self.bell.notify_one();
        }
    }

    fn help_or_pause(&self) -> bool {
        let helps = self.help();
        if !helps {
            hint::spin_loop();
        }
        helps
    }

    /// Joins some work until nothing of it is left to begin; returns false if there is none.
    fn help(&self) -> bool {
        let open = self.open.load(Acquire);
        if open == 0 {
            return false;
        }
        // The oldest in most cases, of which most is left where tasks have tasks within them.
        let number = open.trailing_zeros() as usize;
        let desk = &self.desks[number];
        let Some(work) = self.join(number) else { return false };
        let result = catch_unwind(AssertUnwindSafe(work));
        // It may be that others are at their last tasks, but none can be begun.
        self.close(number, &mut lock(&desk.posted));
        if let Err(payload) = result {
            lock(&desk.panic).get_or_insert(payload);
        }
        desk.leave();
        true
    }

    /// Takes a seat at a desk.
    fn join(&self, number: usize) -> Option<Work<'static>> {
        let desk = &self.desks[number];
        let mut guard = lock(&desk.posted);
        let posted = guard.as_mut()?;
        let work = posted.work;
        desk.helpers.fetch_add(1, SeqCst);
        posted.seats -= 1;
        if posted.seats == 0 {
            self.close(number, &mut guard);
        }
        Some(work)
    }

    /// Takes what is posted, if anything, off a desk. Nobody joins afterwards.
    fn close(&self, number: usize, posted: &mut MutexGuard<'_, Option<Posted>>) {
        if posted.take().is_some() {
            self.open.fetch_and(!(1 << number), SeqCst);
        }
    }
}

impl Desk {
    fn leave(&self) {
        if self.helpers.fetch_sub(1, SeqCst) == 1 && self.waiting.load(SeqCst) {
            // Whoever is about to wait has seen this or waits by now.
            drop(lock(&self.posted));
            self.left.notify_all();
        }
    }
}

/// Work on a desk; it is taken off before this is gone, and nobody is at it any more.
struct Posting<'a> {
    shared: &'a Shared,
    desk: usize,
    /// Of the first helper that panicked.
    panic: Option<Payload>,
}

impl Posting<'_> {
    #[allow(unsafe_code, reason = "threads outlive what they work on; see the note")]
    fn post(&mut self, seats: usize, work: Work<'_>) {
        // SAFETY: this only makes the lifetime longer. The reference is used by threads that found
        // it on the desk, each of which is counted as a helper from then on, under the lock, until
        // it has returned from the work. `end` takes it off the desk and waits until no helper is
        // left; it runs before `together`, which borrows the work for longer, returns or unwinds,
        // because `together` never gives the posting away.
        let work = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let mut posted = lock(&self.shared.desks[self.desk].posted);
        *posted = Some(Posted { work, seats });
        self.shared.open.fetch_or(1 << self.desk, SeqCst);
        drop(posted);
        self.shared.wake();
    }

    fn end(&mut self) {
        let (shared, desk) = (self.shared, &self.shared.desks[self.desk]);
        shared.close(self.desk, &mut lock(&desk.posted));
        let mut idle = 0;
        while desk.helpers.load(SeqCst) > 0 {
            let help = || !thread::panicking() && shared.help_or_pause();
            if (0..LOOKS).any(|_| desk.helpers.load(Acquire) == 0 || help()) {
                idle = 0;
            } else if idle < PATIENCE_OF_CALLERS {
                idle += 1;
                thread::yield_now();
            } else {
                self.sleep();
            }
        }
        self.panic = lock(&desk.panic).take();
    }

    /// Sleeps until the helpers are gone.
    fn sleep(&self) {
        let desk = &self.shared.desks[self.desk];
        let mut posted = lock(&desk.posted);
        desk.waiting.store(true, SeqCst);
        while desk.helpers.load(SeqCst) > 0 {
            posted = desk.left.wait(posted).unwrap_or_else(|poison| poison.into_inner());
        }
        desk.waiting.store(false, SeqCst);
    }
}

impl Drop for Posting<'_> {
    fn drop(&mut self) {
        self.end();
        self.shared.taken.fetch_and(!(1 << self.desk), SeqCst);
    }
}

/// Locks; nothing is left half done where a panic could poison a lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::Workers;
    use std::sync::Barrier;

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

    /// From outside, from within, and from several threads at once.
    #[test]
    fn work_is_done_whoever_else_is_at_it() {
        let expected = sums(&Workers::one(), 20);
        let times = if cfg!(miri) { 2 } else { 40 };
        for count in [1, 2, 3, 8] {
            let workers = &Workers::new(count).unwrap();
            let work = || workers.enter(|| workers.enter(|| sums(workers, 20)));
            assert_eq!(work(), expected);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| (0..times).for_each(|_| assert_eq!(work(), expected)));
                }
            });
            let both = || workers.join(work, work);
            assert_eq!(workers.enter(both), (expected, expected));
            let of_four = || workers.join(both, both);
            assert_eq!(of_four(), ((expected, expected), (expected, expected)));
        }
    }

    /// None of the tasks returns before all have begun, so that this ends only if as many threads
    /// are at it.
    #[test]
    fn all_threads_join_in() {
        for count in [2usize, 3, 8] {
            let workers = Workers::new(count).unwrap();
            for round in 0..20 {
                let together = Barrier::new(count);
                workers.run(count, |_| _ = together.wait());
                let ran = Mutex::new(Vec::new());
                workers.run(count, |_| {
                    lock(&ran).push(workers.current().unwrap());
                    together.wait();
                });
                let mut ran = ran.into_inner().unwrap();
                ran.sort_unstable();
                assert!(ran.into_iter().eq(0..count), "every thread has its number");
                if round == 10 {
                    // Long enough for them to fall asleep.
                    thread::sleep(std::time::Duration::from_millis(20));
                }
            }
        }
    }

    /// The halves of halves are taken by threads that the first halves left idle.
    #[test]
    fn tasks_have_tasks_that_others_join() {
        let workers = Workers::new(4).unwrap();
        for _ in 0..20 {
            let together = Barrier::new(4);
            let wait = || _ = together.wait();
            let two = || _ = workers.join(wait, wait);
            workers.join(two, two);
        }
    }

    /// More work within work than there are desks.
    #[test]
    fn work_within_work_ends_at_every_depth() {
        fn depth(workers: &Workers, left: usize) -> usize {
            if left == 0 {
                return 0;
            }
            let (one, two) = workers.join(|| depth(workers, left - 1), || 1);
            one + two
        }
        for count in [2, 3] {
            let workers = Workers::new(count).unwrap();
            assert_eq!(depth(&workers, 3 * DESKS), 3 * DESKS);
            let team = workers.team.as_ref().unwrap();
            assert_eq!(team.shared.taken.load(SeqCst), 0);
            assert_eq!(team.shared.open.load(SeqCst), 0);
        }
    }

    /// A panic of the caller's own task or of a helper's reaches the caller, everything else is
    /// done first, and the team works as before.
    #[test]
    fn panics_reach_the_caller() {
        for count in [1, 2, 8] {
            let workers = Workers::new(count).unwrap();
            for who in 0..count {
                let (together, ended) = (Barrier::new(count), AtomicUsize::new(0));
                let fails = || {
                    workers.run(count, |_| {
                        together.wait();
                        assert!(workers.current().unwrap_or(0) != who, "on purpose");
                        thread::yield_now();
                        ended.fetch_add(1, SeqCst);
                    });
                };
                let payload = catch_unwind(AssertUnwindSafe(fails)).unwrap_err();
                assert!(payload.downcast_ref::<&str>().unwrap().contains("on purpose"));
                assert_eq!(ended.into_inner(), count - 1);
                assert_eq!(workers.enter(|| sums(&workers, 5)), sums(&Workers::one(), 5));
            }
            if let Some(team) = &workers.team {
                assert_eq!(team.shared.callers.load(SeqCst), 0);
            }
        }
    }

    /// A caller whose helper is at a long last task sleeps and is woken.
    #[test]
    fn long_tasks_are_waited_for() {
        let workers = Workers::new(2).unwrap();
        let together = Barrier::new(2);
        let slow = AtomicBool::new(false);
        workers.run(2, |_| {
            together.wait();
            if workers.current() == Some(1) {
                thread::sleep(std::time::Duration::from_millis(100));
                slow.store(true, SeqCst);
            }
        });
        assert!(slow.into_inner());
    }

    #[test]
    fn threads_end_with_the_last_handle() {
        let workers = Workers::new(3).unwrap();
        let shared = Arc::downgrade(&workers.team.as_ref().unwrap().shared);
        let clone = workers.clone();
        drop(workers);
        assert_eq!(sums(&clone, 5), sums(&Workers::one(), 5));
        assert!(shared.upgrade().is_some());
        drop(clone);
        assert!(shared.upgrade().is_none());
    }
}
