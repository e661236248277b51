//! [`Workers`]: how many threads an algorithm may use. Nothing but this and `par/` knows whether
//! rayon is there; without the `parallel` feature there is always one worker.
//!
//! Tasks are numbered and results are stored by number, so they never depend on which thread ran
//! which task.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::clock::{self, Instant};
use crate::error::Error;

#[cfg(feature = "parallel")]
mod awake;

/// A handle to the threads that algorithms run on; clones share them.
///
/// ```
/// use jostle::{Algorithm, Detector, Workers};
///
/// let detector = Detector::with_workers(Algorithm::Auto, Workers::new(2)?);
/// assert!(detector.threads() <= 2); // one without the `parallel` feature
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Workers {
    #[cfg(feature = "parallel")]
    pool: Option<std::sync::Arc<rayon::ThreadPool>>,
    /// Number of threads that the calling one stands in for; 0 if none are simulated.
    simulated: usize,
}

impl Workers {
    /// The calling thread alone.
    pub fn one() -> Workers {
        Workers::default()
    }

    /// The largest number of threads that [`Workers::new`] starts. No machine runs more of them
    /// at once, and starting thousands takes longer than any step.
    pub const MAX: usize = 1024;

    /// Threads of their own, `count` in number; 1 is the calling thread, 0 one for each core, up
    /// to [`Workers::MAX`]. More than that is an error.
    #[cfg(feature = "parallel")]
    pub fn new(count: usize) -> Result<Workers, Error> {
        let count = if count == 0 { available().min(Workers::MAX) } else { count };
        check_count(count)?;
        if count == 1 {
            return Ok(Workers::one());
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|index| format!("jostle-{index}"))
            .build()
            .map_err(|error| Error::Threads(error.to_string()))?;
        Ok(Workers { pool: Some(std::sync::Arc::new(pool)), simulated: 0 })
    }

    /// Without the `parallel` feature, always the calling thread; more than [`Workers::MAX`] is
    /// an error all the same.
    #[cfg(not(feature = "parallel"))]
    pub fn new(count: usize) -> Result<Workers, Error> {
        check_count(count)?;
        Ok(Workers::one())
    }

    /// Stands in for `count` threads on the calling one, to learn what they would gain: tasks run
    /// one after the other, and of their times the length of the schedule is computed that the
    /// threads would have followed, each taking the next task when it is idle. Times that the
    /// library reports ([`StepTime`](crate::StepTime), [`Stats::stages`](crate::Stats)) are then
    /// those of the simulated threads; what is serial takes as long as it does. Waking threads and
    /// sharing memory and caches cost nothing here, so real threads gain somewhat less. Meant for
    /// measuring on a machine that is otherwise idle: there is one clock, so times that others in
    /// the process report meanwhile are shortened too.
    ///
    /// ```
    /// use jostle::{Algorithm, Detector, Workers};
    ///
    /// let detector = Detector::with_workers(Algorithm::Auto, Workers::simulated(64)?);
    /// assert_eq!(detector.threads(), 64);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn simulated(count: usize) -> Result<Workers, Error> {
        check_count(count)?;
        Ok(Workers { simulated: count.max(1), ..Workers::default() })
    }

    /// By how much all simulated threads have shortened the time of this process so far. Its
    /// difference around some work, taken off the time on a clock, leaves the simulated time.
    pub fn saved_time() -> Duration {
        clock::saved()
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        #[cfg(feature = "parallel")]
        if let Some(pool) = &self.pool {
            return pool.current_num_threads();
        }
        self.simulated.max(1)
    }

    /// The schedule of tasks that begin now, if threads are simulated.
    fn schedule(&self) -> Schedule {
        Schedule::new(self.simulated)
    }

    /// The threads, unless the calling one works [alone](Workers::alone).
    #[cfg(feature = "parallel")]
    fn pool(&self) -> Option<&rayon::ThreadPool> {
        if ALONE.get() { None } else { self.pool.as_deref() }
    }

    /// Runs `work`, and all tasks in it, on the calling thread: what is soon done is done before
    /// others wake up. The tasks are the same ones.
    pub(crate) fn alone<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = ALONE.replace(true);
        let restore = Restore(before);
        let result = work();
        drop(restore);
        result
    }

    /// Runs `work` on these threads, so that the loops in it need not be handed over one by one.
    pub fn enter<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool() {
            return pool.install(work);
        }
        work()
    }

    /// As [`Workers::enter`], for work of many short loops with a little between them: no thread
    /// goes to sleep before all of it is done.
    pub(crate) fn enter_awake<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool() {
            return pool.install(|| awake::run(pool.current_num_threads() - 1, work));
        }
        work()
    }

    /// The number of the calling thread among these, if it is one of them: not the same from run
    /// to run, so that nothing but speed may depend on it.
    pub(crate) fn current(&self) -> Option<usize> {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool() {
            return pool.current_thread_index();
        }
        None
    }

    /// Calls `task` for each number below `tasks`; idle threads take what is left.
    pub fn run(&self, tasks: usize, task: impl Fn(usize) + Sync) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), tasks > 1) {
            use rayon::prelude::*;
            return pool.install(|| (0..tasks).into_par_iter().with_max_len(1).for_each(&task));
        }
        let mut schedule = self.schedule();
        (0..tasks).for_each(|number| schedule.run(|| task(number)));
    }

    /// Calls `task` with each item and its place.
    pub fn for_each<T: Send>(&self, items: &mut [T], task: impl Fn(usize, &mut T) + Sync) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), items.len() > 1) {
            use rayon::prelude::*;
            let each = || {
                let items = items.par_iter_mut().enumerate().with_max_len(1);
                items.for_each(|(index, item)| task(index, item));
            };
            return pool.install(each);
        }
        let mut schedule = self.schedule();
        let numbered = items.iter_mut().enumerate();
        numbered.for_each(|(index, item)| schedule.run(|| task(index, item)));
    }

    /// Calls `task` with each run of `length` items and the place of the run.
    pub fn for_each_chunk<T: Send>(
        &self,
        items: &mut [T],
        length: usize,
        task: impl Fn(usize, &mut [T]) + Sync,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), items.len() > length) {
            use rayon::prelude::*;
            let each = || {
                let chunks = items.par_chunks_mut(length).enumerate().with_max_len(1);
                chunks.for_each(|(index, chunk)| task(index, chunk));
            };
            return pool.install(each);
        }
        let mut schedule = self.schedule();
        let chunks = items.chunks_mut(length).enumerate();
        chunks.for_each(|(index, chunk)| schedule.run(|| task(index, chunk)));
    }

    /// Calls `task` with each run of `length` items, the place of the run, and its scratch.
    pub(crate) fn for_each_chunk_with<T: Send, S: Send>(
        &self,
        items: &mut [T],
        length: usize,
        scratch: &mut [S],
        task: impl Fn(usize, &mut [T], &mut S) + Sync,
    ) {
        assert_eq!(items.len().div_ceil(length), scratch.len(), "every run has its scratch");
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), scratch.len() > 1) {
            use rayon::prelude::*;
            let each = || {
                let runs = items.par_chunks_mut(length).zip(scratch.par_iter_mut());
                let runs = runs.enumerate().with_max_len(1);
                runs.for_each(|(index, (items, scratch))| task(index, items, scratch));
            };
            return pool.install(each);
        }
        let mut schedule = self.schedule();
        let runs = items.chunks_mut(length).zip(scratch).enumerate();
        runs.for_each(|(index, (items, scratch))| schedule.run(|| task(index, items, scratch)));
    }

    /// Calls `task` with each of `parts` stretches of the items, one after the other, and the
    /// number of the part. Part `p` begins at `begin(p)`, which never decreases: 0 for the first
    /// part, the number of items for the one after the last.
    pub(crate) fn for_each_part<T: Send>(
        &self,
        items: &mut [T],
        parts: usize,
        begin: impl Fn(usize) -> usize + Sync,
        task: impl Fn(usize, &mut [T]) + Sync,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), parts > 1) {
            return pool.install(|| halve(items, 0..parts, &begin, &task));
        }
        let (mut schedule, mut rest) = (self.schedule(), items);
        for part in 0..parts {
            let (own, later) = rest.split_at_mut(begin(part + 1) - begin(part));
            schedule.run(|| task(part, own));
            rest = later;
        }
    }

    /// As [`Workers::for_each_part`], with a scratch for each part.
    pub(crate) fn for_each_part_with<T: Send, S: Send>(
        &self,
        items: &mut [T],
        scratch: &mut [S],
        begin: impl Fn(usize) -> usize + Sync,
        task: impl Fn(usize, &mut [T], &mut S) + Sync,
    ) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), scratch.len() > 1) {
            return pool.install(|| halve_with(items, scratch, 0, &begin, &task));
        }
        let (mut schedule, mut rest) = (self.schedule(), items);
        for (part, scratch) in scratch.iter_mut().enumerate() {
            let (own, later) = rest.split_at_mut(begin(part + 1) - begin(part));
            schedule.run(|| task(part, own, scratch));
            rest = later;
        }
    }

    /// Sorts items that are all different, or alike in every respect if they are equal.
    pub(crate) fn sort<T: Ord + Send>(&self, items: &mut [T]) {
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), items.len() >= WORTH_SORTING_TOGETHER) {
            use rayon::prelude::*;
            return pool.install(|| items.par_sort_unstable());
        }
        let start = Instant::now();
        items.sort_unstable();
        if self.simulated > 1 && items.len() >= WORTH_SORTING_TOGETHER {
            clock::save(
                start.elapsed().mul_f64(1.0 - quicksort_share(items.len(), self.simulated)),
            );
        }
    }

    /// Calls `task` with each two items of the same place, and the place. The slices are of the
    /// same length.
    pub fn for_each_two<A: Send, B: Send>(
        &self,
        ones: &mut [A],
        others: &mut [B],
        task: impl Fn(usize, &mut A, &mut B) + Sync,
    ) {
        assert_eq!(ones.len(), others.len(), "every item has its partner");
        #[cfg(feature = "parallel")]
        if let (Some(pool), true) = (self.pool(), ones.len() > 1) {
            use rayon::prelude::*;
            let each = || {
                let both = ones.par_iter_mut().zip(others.par_iter_mut());
                let both = both.enumerate().with_max_len(1);
                both.for_each(|(index, (one, other))| task(index, one, other));
            };
            return pool.install(each);
        }
        let mut schedule = self.schedule();
        let both = ones.iter_mut().zip(others).enumerate();
        both.for_each(|(index, (one, other))| schedule.run(|| task(index, one, other)));
    }

    /// Calls `task` with each item, its place, and the scratch of its run: `length` items after
    /// one another share one.
    pub fn for_each_run<T: Send, S: Send>(
        &self,
        items: &mut [T],
        length: usize,
        scratch: &mut [S],
        task: impl Fn(usize, &mut T, &mut S) + Sync,
    ) {
        self.for_each_chunk_with(items, length, scratch, |index, run, scratch| {
            let numbered = run.iter_mut().enumerate();
            numbered.for_each(|(place, item)| task(index * length + place, item, scratch));
        });
    }

    /// Runs both, at the same time if there is a thread to spare.
    pub fn join<A: Send, B: Send>(
        &self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        #[cfg(feature = "parallel")]
        if let Some(pool) = self.pool() {
            return pool.install(|| rayon::join(one, other));
        }
        let mut schedule = self.schedule();
        (schedule.run(one), schedule.run(other))
    }
}

thread_local! {
    /// True while this thread runs all tasks itself.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Ends the calling thread's working alone, after a panic too.
struct Restore(bool);

impl Drop for Restore {
    fn drop(&mut self) {
        ALONE.set(self.0);
    }
}

/// Tasks that simulated threads run at once. When it ends, the clock is turned back by what they
/// would have saved.
struct Schedule {
    /// When each thread is idle again; empty if no threads are simulated.
    idle: BinaryHeap<Reverse<Duration>>,
    start: Option<Instant>,
    /// The time of all tasks, tasks within them one after the other.
    work: Duration,
    longest: Duration,
}

impl Schedule {
    #[inline]
    fn new(threads: usize) -> Schedule {
        // Without simulated threads nothing is allocated and no clock read.
        let idle = if threads > 1 { vec![Reverse(Duration::ZERO); threads] } else { Vec::new() };
        let start = (threads > 1).then(Instant::now);
        Schedule { idle: idle.into(), start, work: Duration::ZERO, longest: Duration::ZERO }
    }

    #[inline]
    fn run<R>(&mut self, task: impl FnOnce() -> R) -> R {
        if self.start.is_none() {
            return task();
        }
        let (start, saved) = (Instant::now(), clock::saved());
        let result = task();
        let took = start.elapsed();
        self.work += took + (clock::saved() - saved);
        self.assign(took);
        result
    }

    /// The thread that is idle first takes the task.
    #[cold]
    fn assign(&mut self, took: Duration) {
        let Reverse(idle) = self.idle.pop().unwrap_or_default();
        self.longest = self.longest.max(idle + took);
        self.idle.push(Reverse(idle + took));
    }

    /// What the threads take: no less than their share of the work, which counts if tasks have
    /// tasks within them.
    fn length(&self) -> Duration {
        self.longest.max(self.work / self.idle.len().max(1) as u32)
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        if let Some(start) = self.start {
            clock::save(start.elapsed().saturating_sub(self.length()));
        }
    }
}

/// The share of its time that a quicksort takes on several threads: the cuts of the first levels
/// are made by one, by two, by four, which adds up to two passes over all items.
fn quicksort_share(items: usize, threads: usize) -> f64 {
    let (threads, levels) = (threads as f64, (items.max(2) as f64).log2());
    (1.0 / threads + (1.0 - 1.0 / threads) * 2.0 / levels).min(1.0)
}

/// Fewer items are sorted sooner by one thread than others wake up.
const WORTH_SORTING_TOGETHER: usize = 1 << 14;

/// Halves the parts until one is left, without memory for a list of them.
#[cfg(feature = "parallel")]
fn halve<T: Send>(
    items: &mut [T],
    parts: std::ops::Range<usize>,
    begin: &(impl Fn(usize) -> usize + Sync),
    task: &(impl Fn(usize, &mut [T]) + Sync),
) {
    if parts.len() == 1 {
        return task(parts.start, items);
    }
    let middle = parts.start.midpoint(parts.end);
    let (low, high) = items.split_at_mut(begin(middle) - begin(parts.start));
    rayon::join(
        || halve(low, parts.start..middle, begin, task),
        || halve(high, middle..parts.end, begin, task),
    );
}

/// As [`halve`], with a scratch for each part, of which `first` is the first.
#[cfg(feature = "parallel")]
fn halve_with<T: Send, S: Send>(
    items: &mut [T],
    scratch: &mut [S],
    first: usize,
    begin: &(impl Fn(usize) -> usize + Sync),
    task: &(impl Fn(usize, &mut [T], &mut S) + Sync),
) {
    if let [scratch] = scratch {
        return task(first, items, scratch);
    }
    let middle = scratch.len() / 2;
    let (low, high) = items.split_at_mut(begin(first + middle) - begin(first));
    let (scratch_low, scratch_high) = scratch.split_at_mut(middle);
    rayon::join(
        || halve_with(low, scratch_low, first, begin, task),
        || halve_with(high, scratch_high, first + middle, begin, task),
    );
}

fn check_count(count: usize) -> Result<(), Error> {
    if count <= Workers::MAX {
        return Ok(());
    }
    let most = Workers::MAX;
    Err(Error::Threads(format!("{count} are too many; ask for at most {most}, or 0 for all cores")))
}

/// Number of threads this machine runs at once.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn absurd_numbers_of_threads_are_refused_by_name() {
        for count in [Workers::MAX + 1, 5000, usize::MAX] {
            let error = Workers::new(count).unwrap_err().to_string();
            assert!(error.contains("at most 1024"), "{error}");
        }
    }

    #[test]
    fn simulated_threads_take_the_length_of_their_schedule() {
        let _alone = clock::ALONE_AT_THE_CLOCK.lock().unwrap();
        let millisecond = Duration::from_millis(1);
        let mut schedule = Schedule::new(2);
        [3, 1, 1, 1, 4].iter().for_each(|time| schedule.assign(*time * millisecond));
        assert_eq!(schedule.length(), 7 * millisecond);
        schedule.work = 20 * millisecond;
        assert_eq!(schedule.length(), 10 * millisecond);
        let workers = Workers::simulated(4).unwrap();
        let (start, real) = (Instant::now(), std::time::Instant::now());
        let before = Workers::saved_time();
        workers.run(8, |_| std::thread::sleep(5 * millisecond));
        let (took, real) = (start.elapsed(), real.elapsed());
        assert!(took >= 10 * millisecond && took < real);
        assert!(Workers::saved_time() - before <= real);
        assert!(quicksort_share(1 << 20, 1) == 1.0 && quicksort_share(1 << 20, 64) < 0.12);
        assert!(Workers::simulated(5000).is_err());
    }

    #[test]
    fn every_task_runs_once_whatever_the_number_of_workers() {
        let _alone = clock::ALONE_AT_THE_CLOCK.lock().unwrap();
        let real = [1, 2, 3, 8].map(|count| Workers::new(count).unwrap());
        for workers in real.into_iter().chain([Workers::simulated(5).unwrap()]) {
            let ran: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            workers.run(100, |task| {
                ran[task].fetch_add(1, Ordering::Relaxed);
            });
            assert!(ran.iter().all(|times| times.load(Ordering::Relaxed) == 1));
            let mut items = vec![0usize; 1000];
            workers.for_each(&mut items, |index, item| *item = index);
            workers.for_each_chunk(&mut items, 7, |run, chunk| {
                chunk.iter_mut().for_each(|item| *item += 1000 * run);
            });
            assert!(items.iter().enumerate().all(|(k, item)| *item == k + 1000 * (k / 7)));
            let mut doubled = vec![0usize; 1000];
            workers.for_each_two(&mut items, &mut doubled, |index, item, double| {
                *double = 2 * *item + usize::from(index == 3);
            });
            let expected = |k: usize| 2 * items[k] + usize::from(k == 3);
            assert!(doubled.iter().enumerate().all(|(k, item)| *item == expected(k)));
            let (mut places, mut sums) = (vec![0usize; 10], [0usize; 3]);
            workers.for_each_run(&mut places, 4, &mut sums, |place, item, sum| {
                *item = place;
                *sum += place;
            });
            assert!(places.iter().enumerate().all(|(k, place)| *place == k));
            assert_eq!(sums, [6, 22, 17]);
            let mut sums = [0usize; 4];
            items.iter_mut().enumerate().for_each(|(k, item)| *item = k);
            workers.for_each_chunk_with(&mut items, 300, &mut sums, |run, items, sum| {
                *sum = run + items.iter().sum::<usize>();
                items.fill(run);
            });
            assert_eq!(sums, [44_850, 134_851, 224_852, 94_953]);
            assert!(items.iter().enumerate().all(|(k, item)| *item == k / 300));
            let begins = [0, 0, 3, 900, 900, 1000];
            workers.for_each_part(
                &mut items,
                5,
                |part| begins[part],
                |part, items| {
                    items.fill(part);
                },
            );
            let part = |k: usize| begins.iter().rposition(|&begin| begin <= k).unwrap();
            assert!(items.iter().enumerate().all(|(k, item)| *item == part(k)));
            let mut lengths = [0; 5];
            workers.for_each_part_with(
                &mut items,
                &mut lengths,
                |part| begins[part],
                |part, items, length| {
                    items.iter_mut().for_each(|item| *item += 10 * part);
                    *length = items.len();
                },
            );
            assert!(items.iter().enumerate().all(|(k, item)| *item == 11 * part(k)));
            assert_eq!(lengths, [0, 3, 897, 0, 100]);
            let mut mixed: Vec<u64> = (0..50_000).map(|k| k * 7919 % 50_000).collect();
            workers.sort(&mut mixed);
            assert!(mixed.iter().copied().eq(0..50_000));
            assert_eq!(workers.join(|| 1, || 2), (1, 2));
            let caller = std::thread::current().id();
            let here = || std::thread::current().id() == caller;
            workers.alone(|| {
                workers.run(9, |_| assert!(here()));
                assert!(workers.enter(here) && workers.join(here, here) == (true, true));
            });
            assert_eq!(workers.enter(here), workers.count() == 1 || workers.simulated > 0);
        }
    }
}
