//! Sorts pairs of small numbers in a few linear passes, on several workers.
//!
//! The first numbers are cut into ranges. The pairs, which come as slices, are cut into sources,
//! one for two tasks; each source counts its pairs by range and moves them into a buffer
//! of its own, range after range. Then each range, which fits the first cache, is collected from
//! all sources and sorted by counting its rows, or some rows as one where pairs are few; the few
//! pairs that are counted as one are sorted by insertion. No task writes where another does, and
//! nothing is serial but what is done once for a task. Time O(m + n), memory a second copy of the
//! pairs.
//!
//! With one worker there is one source, and the passes are those of a plain counting sort.

use crate::par::Workers;

/// The most first numbers that one range holds: its counters fit the first cache.
const ROWS: usize = 1 << 11;

/// The fewest first numbers of a range, when there are many workers to share few of them.
const FEWEST_ROWS: usize = 1 << 6;

/// Rows longer than this are left to the comparison sort.
const LONG_ROW: usize = 24;

/// Fewer pairs than this are not worth a task.
pub(crate) const PAIRS_PER_TASK: usize = 1 << 10;

/// A range has at least this many pairs for each source, which is looked at for each range.
const PAIRS_PER_SOURCE: usize = 4;

/// Tasks per worker, so that one that is held up leaves the rest to the others.
const TASKS_PER_WORKER: usize = 4;

/// How many tasks suit a number of pairs.
pub(crate) fn tasks_for(pairs: usize, workers: &Workers) -> usize {
    match workers.count() {
        1 => 1,
        count => (count * TASKS_PER_WORKER).clamp(1, (pairs / PAIRS_PER_TASK).max(1)),
    }
}

/// Counters of a range for each of its pairs, at most.
const COUNTERS_PER_PAIR: usize = 2;

/// Ranges whose counts one task sums over all sources.
const RANGES_PER_SUM: usize = 64;

/// Keys that are read by their places, more than once.
pub(crate) trait Keys<K>: Sync {
    /// Number of keys.
    fn count(&self) -> usize;

    /// Calls `with` for each key from one place to another.
    fn each(&self, from: usize, to: usize, with: impl FnMut(K));
}

/// Slices one after the other.
struct Slices<I>(I);

impl<'a, K: Copy + Sync + 'a, I: Iterator<Item = &'a [K]> + Clone + Sync> Keys<K> for Slices<I> {
    fn count(&self) -> usize {
        self.0.clone().map(<[K]>::len).sum()
    }

    #[inline(always)]
    fn each(&self, from: usize, to: usize, with: impl FnMut(K)) {
        part(self.0.clone(), from, to).flatten().copied().for_each(with);
    }
}

/// A part of the pairs, range after range; on cache lines of its own.
#[derive(Clone, Debug)]
#[repr(align(128))]
struct Source<K> {
    /// Where each range ends in `moved`.
    ends: Vec<u32>,
    moved: Vec<K>,
}

/// The scratch memory of a sort, reused from call to call.
#[derive(Clone, Debug)]
pub(crate) struct PairSorter<K> {
    sources: Vec<Source<K>>,
    /// Where each range begins among all pairs, and their number at the end.
    begins: Vec<usize>,
}

impl<K> Default for PairSorter<K> {
    fn default() -> PairSorter<K> {
        PairSorter { sources: Vec::new(), begins: Vec::new() }
    }
}

impl<K: Copy + Into<u64> + Send + Sync> PairSorter<K> {
    /// Writes the pairs, given as slices of keys (first number in the upper half, below
    /// `numbers`), ascending to `sorted`.
    pub(crate) fn sort<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [K]> + Clone + Sync,
        numbers: usize,
        workers: &Workers,
        sorted: &mut Vec<K>,
    ) where
        K: 'a,
    {
        let total: usize = slices.clone().map(<[K]>::len).sum();
        if counting_is_slow(total, numbers) {
            sorted.clear();
            slices.for_each(|slice| sorted.extend_from_slice(slice));
            return sorted.sort_unstable_by_key(|&key| key.into());
        }
        let tasks = tasks_for(total, workers);
        let rows = rows_for(numbers, total, tasks);
        let ranges = numbers.div_ceil(rows);
        self.fill_sources(&Slices(slices), ranges, rows, tasks, workers);
        // Every place is written: what is there already is as good as any filling.
        let any = self.sources.iter().find_map(|source| source.moved.first());
        let any = *any.expect("there are pairs");
        // Doubled, most of the room would stay empty: the next sort is about as long.
        if sorted.capacity() < total {
            sorted.reserve_exact(total + total / 16 - sorted.len());
        }
        sorted.resize(total, any);
        self.collect(sorted, rows, workers, &mut vec![(); tasks], |_, _, _| {});
    }

    /// Writes keys, of which there are as many as places, ascending to `sorted`. Calls `then` with
    /// each of `parts` parts of them as soon as it is sorted; no row is in two of these. Returns
    /// false, with nothing done, if another sort suits the keys better.
    pub(crate) fn sort_parts<P: Send>(
        &mut self,
        keys: &impl Keys<K>,
        numbers: usize,
        workers: &Workers,
        sorted: &mut [K],
        parts: &mut [P],
        then: impl Fn(&mut P, usize, &mut [K]) + Sync,
    ) -> bool {
        let tasks = parts.len();
        if counting_is_slow(sorted.len(), numbers) {
            return false;
        }
        let rows = rows_for(numbers, sorted.len(), tasks);
        self.fill_sources(keys, numbers.div_ceil(rows), rows, tasks, workers);
        self.collect(sorted, rows, workers, parts, then);
        true
    }

    /// As [`PairSorter::sort`], from a slice to itself.
    pub(crate) fn sort_slice(&mut self, keys: &mut [K], numbers: usize, workers: &Workers) {
        let total = keys.len();
        if counting_is_slow(total, numbers) {
            return keys.sort_unstable_by_key(|&key| key.into());
        }
        let tasks = tasks_for(total, workers);
        let rows = rows_for(numbers, total, tasks);
        let slices = Slices(std::iter::once(&*keys));
        self.fill_sources(&slices, numbers.div_ceil(rows), rows, tasks, workers);
        self.collect(keys, rows, workers, &mut vec![(); tasks], |_, _, _| {});
    }

    /// Writes the pairs of the sources, ascending, in parts that are told their first places.
    fn collect<P: Send>(
        &self,
        sorted: &mut [K],
        rows: usize,
        workers: &Workers,
        parts: &mut [P],
        then: impl Fn(&mut P, usize, &mut [K]) + Sync,
    ) {
        let (total, tasks) = (sorted.len(), parts.len());
        let (sources, begins) = (&self.sources[..sources_for(tasks)], &self.begins);
        let first = |task: usize| begins.partition_point(|&begin| begin < total * task / tasks);
        let begin = |task: usize| if task == tasks { total } else { begins[first(task)] };
        workers.for_each_part_with(sorted, parts, begin, |task, sorted, part| {
            let mut counters = [0; ROWS + 1];
            let last = if task + 1 == tasks { begins.len() - 1 } else { first(task + 1) };
            let mut rest = &mut *sorted;
            for range in first(task)..last {
                let (own, later) = rest.split_at_mut(begins[range + 1] - begins[range]);
                sort_range(sources, range, rows, &mut counters, own);
                rest = later;
            }
            then(part, begins[first(task)], sorted);
        });
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let held = |source: &Source<K>| {
            source.ends.capacity() * 4 + source.moved.capacity() * size_of::<K>()
        };
        self.sources.iter().map(held).sum::<usize>() + self.begins.capacity() * size_of::<usize>()
    }

    fn fill_sources(
        &mut self,
        keys: &impl Keys<K>,
        ranges: usize,
        rows: usize,
        tasks: usize,
        workers: &Workers,
    ) {
        let count = sources_for(tasks);
        if self.sources.len() < count {
            self.sources.resize_with(count, || Source { ends: Vec::new(), moved: Vec::new() });
        }
        let total = keys.count();
        workers.for_each(&mut self.sources[..count], |number, source| {
            let place = |number: usize| total * number / count;
            source.fill(keys, (place(number), place(number + 1)), ranges, rows);
        });
        // The sum of the ends of a range in all sources is its end among all pairs.
        self.begins.resize(ranges + 1, 0);
        let sources = &self.sources[..count];
        workers.for_each_chunk(&mut self.begins[1..], RANGES_PER_SUM, |chunk, sums| {
            let from = chunk * RANGES_PER_SUM;
            sums.fill(0);
            for source in sources {
                let ends = &source.ends[from..from + sums.len()];
                sums.iter_mut().zip(ends).for_each(|(sum, &end)| *sum += end as usize);
            }
        });
    }
}

/// Returns true if pairs are few among the numbers, over which counting needs a pass, or too many
/// to be counted.
fn counting_is_slow(pairs: usize, numbers: usize) -> bool {
    pairs < 64 || pairs < numbers / 64 || pairs > u32::MAX as usize
}

/// How many sources suit a number of tasks.
fn sources_for(tasks: usize) -> usize {
    tasks.div_ceil(2)
}

/// First numbers in a range: a power of two, so that there are some ranges for each task, but no
/// more than there are numbers, and enough pairs in each.
fn rows_for(numbers: usize, pairs: usize, tasks: usize) -> usize {
    if tasks == 1 {
        return numbers.next_power_of_two().clamp(FEWEST_ROWS, ROWS);
    }
    let fewest = PAIRS_PER_SOURCE * sources_for(tasks) * (numbers / pairs.max(1) + 1);
    let wanted = (numbers / (8 * tasks)).max(fewest);
    wanted.next_power_of_two().clamp(FEWEST_ROWS, ROWS)
}

/// The items from one place to another of slices one after the other, again as slices.
fn part<'a, K: 'a>(
    slices: impl Iterator<Item = &'a [K]> + Clone,
    from: usize,
    to: usize,
) -> impl Iterator<Item = &'a [K]> + Clone {
    let mut begin = 0;
    slices.map(move |slice| {
        let offset = begin;
        begin += slice.len();
        let within = |place: usize| place.saturating_sub(offset).min(slice.len());
        &slice[within(from)..within(to)]
    })
}

impl<K: Copy + Into<u64>> Source<K> {
    /// Takes in the keys from one place to another.
    fn fill(
        &mut self,
        keys: &impl Keys<K>,
        (from, to): (usize, usize),
        ranges: usize,
        rows: usize,
    ) {
        let shift = 32 + rows.trailing_zeros();
        let range_of = |key: K| (key.into() >> shift) as usize;
        // Counted one place further on, each count becomes the beginning of its range, and once
        // the pairs are moved, the end.
        self.ends.clear();
        self.ends.resize(ranges + 1, 0);
        let mut any = None;
        keys.each(from, to, |key| {
            self.ends[range_of(key) + 1] += 1;
            any = Some(key);
        });
        let mut sum = 0;
        for end in &mut self.ends {
            sum += *end;
            *end = sum;
        }
        let Some(any) = any else { return self.moved.clear() };
        if self.moved.capacity() < to - from {
            // The next sort is about as long.
            self.moved.reserve_exact((to - from) + (to - from) / 8 - self.moved.len());
        }
        self.moved.resize(to - from, any);
        keys.each(from, to, |key| {
            let next = &mut self.ends[range_of(key)];
            self.moved[*next as usize] = key;
            *next += 1;
        });
    }

    fn begin(&self, range: usize) -> usize {
        if range == 0 { 0 } else { self.ends[range - 1] as usize }
    }

    fn of(&self, range: usize) -> &[K] {
        &self.moved[self.begin(range)..self.ends[range] as usize]
    }
}

/// Sorts the pairs of one range from all sources into `sorted`.
fn sort_range<K: Copy + Into<u64>>(
    sources: &[Source<K>],
    range: usize,
    rows: usize,
    counters: &mut [u32; ROWS + 1],
    sorted: &mut [K],
) {
    if sorted.is_empty() {
        return;
    }
    // Counters are cleared and summed, so there are not many more of them than pairs.
    let wanted = (COUNTERS_PER_PAIR * sorted.len()).next_power_of_two().min(rows);
    let shift = 32 + (rows / wanted).trailing_zeros();
    let counter_of = |key: K| (key.into() >> shift) as usize % wanted;
    let counters = &mut counters[..=wanted];
    counters.fill(0);
    for &key in sources.iter().flat_map(|source| source.of(range)) {
        counters[counter_of(key) + 1] += 1;
    }
    let mut sum = 0;
    for counter in counters.iter_mut() {
        sum += *counter;
        *counter = sum;
    }
    for &key in sources.iter().flat_map(|source| source.of(range)) {
        let next = &mut counters[counter_of(key)];
        sorted[*next as usize] = key;
        *next += 1;
    }
    // Each counter now stands at the end of its rows.
    let mut begin = 0;
    for &end in &counters[..wanted] {
        let end = end as usize;
        if end - begin > 1 {
            sort_row(&mut sorted[begin..end]);
        }
        begin = end;
    }
}

#[inline]
fn sort_row<K: Copy + Into<u64>>(row: &mut [K]) {
    if row.len() > LONG_ROW {
        return row.sort_unstable_by_key(|&key| key.into());
    }
    for place in 1..row.len() {
        let key = row[place];
        let mut hole = place;
        while hole > 0 && row[hole - 1].into() > key.into() {
            row[hole] = row[hole - 1];
            hole -= 1;
        }
        row[hole] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Enough for the passes; an interpreter is slow.
    const PAIRS: usize = if cfg!(miri) { 100 } else { 3000 };

    proptest! {
        #[test]
        fn sorts_like_the_standard_sort(
            pairs in prop::collection::vec((0u32..5000, any::<u32>()), 0..PAIRS),
            cut in 0.0f64..1.0,
        ) {
            let key = |&(a, b): &(u32, u32)| u64::from(a) << 32 | u64::from(b);
            let keys: Vec<u64> = pairs.iter().map(key).collect();
            let cut = (cut * keys.len() as f64) as usize;
            let mut sorted = Vec::new();
            let slices = [&keys[..cut], &keys[cut..]];
            let workers = Workers::one();
            PairSorter::default().sort(slices.into_iter(), 5000, &workers, &mut sorted);
            let mut expected = keys.clone();
            expected.sort_unstable();
            prop_assert_eq!(&sorted, &expected);
            let mut in_place = keys;
            PairSorter::default().sort_slice(&mut in_place, 5000, &workers);
            prop_assert_eq!(in_place, expected);
        }
    }

    /// Enough for several tasks, in slices that are cut across tasks, empty or very unlike.
    #[test]
    #[cfg_attr(miri, ignore = "too many pairs for an interpreter")]
    fn every_number_of_workers_sorts_alike() {
        for (length, numbers) in [(100_000u64, 4u64), (300_000, 150_000), (70_000, 3_000_000)] {
            let mix = |k: u64| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
            let keys: Vec<u64> =
                (0..length).map(|k| ((mix(k) % numbers) << 32) | (k % 77_777)).collect();
            let (one, two) = keys.split_at(length as usize / 3);
            let slices = [&one[..7], &[], &one[7..], two];
            let mut expected = keys.clone();
            expected.sort_unstable();
            for count in [1, 2, 3, 8] {
                let workers = Workers::new(count).unwrap();
                let (mut sorter, mut sorted) = (PairSorter::default(), Vec::new());
                for _ in 0..2 {
                    sorter.sort(slices.into_iter(), numbers as usize, &workers, &mut sorted);
                    assert!(sorted == expected, "{length} keys on {count} workers");
                    let mut in_place = keys.clone();
                    sorter.sort_slice(&mut in_place, numbers as usize, &workers);
                    assert!(in_place == expected, "{length} keys in place, {count} workers");
                }
            }
        }
    }

    #[test]
    fn one_long_row_and_reused_scratch() {
        let mut sorter = PairSorter::default();
        let mut sorted = Vec::new();
        let (long, short) = if cfg!(miri) { (300, 100) } else { (100_000, 500) };
        for length in [long, short, long] {
            let keys: Vec<u64> = (0..length).map(|k: u64| 3 << 32 | (k * 7919 % length)).collect();
            let slices = std::iter::once(keys.as_slice());
            sorter.sort(slices, 4, &Workers::one(), &mut sorted);
            assert!(sorted.is_sorted() && sorted.len() == keys.len());
        }
    }
}
