//! [`Workers`]: how many threads an algorithm may use. Nothing but this and `par/` knows whether
//! there are any; without the `parallel` feature there is always one worker.
//!
//! Tasks are numbered and results are stored by number, so they never depend on which thread ran
//! which task.

use std::cell::Cell;
use std::time::Duration;

use crate::clock;
use crate::error::Error;

mod schedule;
#[cfg(feature = "parallel")]
mod team;

use schedule::Schedule;

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
    team: Option<std::sync::Arc<team::Team>>,
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

    /// `count` threads: the calling one, which works too, and others that wait for work beside it.
    /// 0 is one for each core, up to [`Workers::MAX`]; more than that is an error.
    #[cfg(feature = "parallel")]
    pub fn new(count: usize) -> Result<Workers, Error> {
        let count = if count == 0 { available().min(Workers::MAX) } else { count };
        check_count(count)?;
        if count == 1 {
            return Ok(Workers::one());
        }
        let team = team::Team::new(count).map_err(|error| Error::Threads(error.to_string()))?;
        Ok(Workers { team: Some(std::sync::Arc::new(team)), simulated: 0 })
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
        if let Some(team) = &self.team {
            return team.count();
        }
        self.simulated.max(1)
    }

    /// The schedule of tasks that begin now, if threads are simulated.
    fn schedule(&self) -> Schedule {
        Schedule::new(self.simulated)
    }

    /// The threads, unless the calling one works [alone](Workers::alone).
    #[cfg(feature = "parallel")]
    fn team(&self) -> Option<&team::Team> {
        if ALONE.get() { None } else { self.team.as_deref() }
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

    /// Runs `work` on the calling thread. Meant for several loops with a little between them: the
    /// other threads look for work longer before they sleep.
    pub fn enter<R>(&self, work: impl FnOnce() -> R) -> R {
        #[cfg(feature = "parallel")]
        if let Some(team) = self.team() {
            return team.enter(work);
        }
        work()
    }

    /// The number of the calling thread among these, if there are several: not the same from run to
    /// run, so that nothing but speed may depend on it.
    pub(crate) fn current(&self) -> Option<usize> {
        #[cfg(feature = "parallel")]
        if let Some(team) = self.team() {
            return Some(team.current());
        }
        None
    }

    /// Calls `task` with each of `count` items; idle threads take the next one.
    fn share<I: Iterator + Send>(&self, count: usize, items: I, task: impl Fn(I::Item) + Sync) {
        #[cfg(feature = "parallel")]
        if let (Some(team), true) = (self.team(), count > 1) {
            let items = std::sync::Mutex::new(items.fuse());
            // A function of its own, so that the lock is not held while the task runs.
            let next = || team::lock(&items).next();
            return team.together(count - 1, &|| {
                while let Some(item) = next() {
                    task(item);
                }
            });
        }
        debug_assert!(items.size_hint().0 <= count);
        if self.simulated <= 1 {
            return items.for_each(task);
        }
        let mut schedule = self.schedule();
        items.for_each(|item| schedule.run(|| task(item)));
    }

    /// As [`Workers::share`], for items that are near what threads have worked on before: the
    /// calling thread takes them from the front and the others from the end, so that most find it
    /// in their own caches. Cores that share no cache are slow to hand each other what they wrote.
    fn share_from_ends<I>(&self, count: usize, items: I, task: impl Fn(I::Item) + Sync)
    where
        I: DoubleEndedIterator + Send,
    {
        #[cfg(feature = "parallel")]
        if let (Some(team), true) = (self.team(), count > 1) {
            let (items, caller) = (std::sync::Mutex::new(items.fuse()), team.current());
            let next = || {
                let items = &mut *team::lock(&items);
                if team.current() == caller { items.next() } else { items.next_back() }
            };
            return team.together(count - 1, &|| {
                while let Some(item) = next() {
                    task(item);
                }
            });
        }
        self.share(count, items, task);
    }

    /// As [`Workers::for_each`], from both ends.
    pub(crate) fn for_each_from_ends<T: Send>(
        &self,
        items: &mut [T],
        task: impl Fn(usize, &mut T) + Sync,
    ) {
        let numbered = items.iter_mut().enumerate();
        self.share_from_ends(numbered.len(), numbered, |(index, item)| task(index, item));
    }

    /// As [`Workers::for_each_chunk`], from both ends.
    pub(crate) fn for_each_chunk_from_ends<T: Send>(
        &self,
        items: &mut [T],
        length: usize,
        task: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let runs = items.chunks_mut(length).enumerate();
        self.share_from_ends(runs.len(), runs, |(index, run)| task(index, run));
    }

    /// Calls `task` for each number below `tasks`.
    pub fn run(&self, tasks: usize, task: impl Fn(usize) + Sync) {
        self.share(tasks, 0..tasks, task);
    }

    /// Calls `task` with each item and its place.
    pub fn for_each<T: Send>(&self, items: &mut [T], task: impl Fn(usize, &mut T) + Sync) {
        let numbered = items.iter_mut().enumerate();
        self.share(numbered.len(), numbered, |(index, item)| task(index, item));
    }

    /// Calls `task` with each run of `length` items and the place of the run.
    pub fn for_each_chunk<T: Send>(
        &self,
        items: &mut [T],
        length: usize,
        task: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let runs = items.chunks_mut(length).enumerate();
        self.share(runs.len(), runs, |(index, run)| task(index, run));
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
        let runs = items.chunks_mut(length).zip(scratch).enumerate();
        self.share(runs.len(), runs, |(index, (items, scratch))| task(index, items, scratch));
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
        let numbered = cut(items, parts, &begin).enumerate();
        self.share(parts, numbered, |(part, own)| task(part, own));
    }

    /// As [`Workers::for_each_part`], with a scratch for each part.
    pub(crate) fn for_each_part_with<T: Send, S: Send>(
        &self,
        items: &mut [T],
        scratch: &mut [S],
        begin: impl Fn(usize) -> usize + Sync,
        task: impl Fn(usize, &mut [T], &mut S) + Sync,
    ) {
        let parts = scratch.len();
        let both = cut(items, parts, &begin).zip(scratch).enumerate();
        self.share(parts, both, |(part, (own, scratch))| task(part, own, scratch));
    }

    /// As [`Workers::for_each_part`], with stretches of three lists, whose parts begin at the three
    /// places of `begin`.
    pub(crate) fn for_each_three_parts<A: Send, B: Send, C: Send>(
        &self,
        parts: usize,
        (ones, twos, threes): (&mut [A], &mut [B], &mut [C]),
        begin: impl Fn(usize) -> [usize; 3] + Sync,
        task: impl Fn(usize, (&mut [A], &mut [B], &mut [C])) + Sync,
    ) {
        let [one, two, three] = [0, 1, 2].map(|list| {
            let begin = &begin;
            move |part: usize| begin(part)[list]
        });
        let both = cut(ones, parts, &one).zip(cut(twos, parts, &two));
        let numbered = both.zip(cut(threes, parts, &three)).enumerate();
        self.share(parts, numbered, |(part, ((one, two), three))| task(part, (one, two, three)));
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
        let both = ones.iter_mut().zip(others).enumerate();
        self.share(both.len(), both, |(index, (one, other))| task(index, one, other));
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
        if let Some(team) = self.team() {
            let (one, other) = (Once::new(one), Once::new(other));
            team.together(1, &|| {
                one.run();
                other.run();
            });
            return (one.result(), other.result());
        }
        let mut schedule = self.schedule();
        (schedule.run(one), schedule.run(other))
    }
}

/// Stretches of the items: `parts` in number, the one of number `p` beginning at `begin(p)`.
fn cut<'a, T>(
    items: &'a mut [T],
    parts: usize,
    begin: &impl Fn(usize) -> usize,
) -> impl Iterator<Item = &'a mut [T]> {
    let (mut rest, mut from) = (items, 0);
    (0..parts).map(move |part| {
        let to = begin(part + 1);
        let length = to - std::mem::replace(&mut from, to);
        rest.split_off_mut(..length).expect("parts end with the items")
    })
}

/// Something that whoever comes first does, and what came of it.
#[cfg(feature = "parallel")]
struct Once<F, R>(std::sync::Mutex<(Option<F>, Option<R>)>);

#[cfg(feature = "parallel")]
impl<R, F: FnOnce() -> R> Once<F, R> {
    fn new(work: F) -> Once<F, R> {
        Once(std::sync::Mutex::new((Some(work), None)))
    }

    fn run(&self) {
        let work = team::lock(&self.0).0.take();
        if let Some(work) = work {
            let result = work();
            team::lock(&self.0).1 = Some(result);
        }
    }

    fn result(self) -> R {
        let (_, result) = self.0.into_inner().unwrap_or_else(|poison| poison.into_inner());
        result.expect("it was run by the time that all threads were done")
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
    use crate::clock::Instant;
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
            workers.for_each_from_ends(&mut items, |index, item| *item += 1 + index);
            assert!(items.iter().copied().eq(1..1001));
            workers.for_each_chunk_from_ends(&mut items, 7, |run, chunk| {
                chunk.iter_mut().enumerate().for_each(|(k, item)| *item -= 1 + 7 * run + k);
            });
            assert_eq!(items, [0; 1000]);
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
            let (mut ones, mut twos, mut threes) = ([0; 9], [0; 4], [0; 7]);
            let begin = |part: usize| [[0, 0, 0], [2, 0, 3], [2, 4, 7], [9, 4, 7]][part];
            let lists = (&mut ones[..], &mut twos[..], &mut threes[..]);
            workers.for_each_three_parts(3, lists, begin, |part, (one, two, three)| {
                [one, two, three].into_iter().for_each(|list| list.fill(part + 1));
            });
            assert_eq!(ones, [1, 1, 3, 3, 3, 3, 3, 3, 3]);
            assert_eq!((twos, threes), ([2; 4], [1, 1, 1, 2, 2, 2, 2]));
            assert_eq!(workers.join(|| 1, || 2), (1, 2));
            let caller = std::thread::current().id();
            let here = || std::thread::current().id() == caller;
            workers.alone(|| {
                workers.run(9, |_| assert!(here()));
                assert!(workers.enter(here) && workers.join(here, here) == (true, true));
            });
            assert!(workers.enter(here));
        }
    }
}
