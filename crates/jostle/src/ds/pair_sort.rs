//! Sorts pairs of small numbers in a few linear passes.
//!
//! The first numbers are cut into ranges of `ROWS` values. One pass counts the pairs of each
//! range, a second moves every pair into its range, and each range, which by then fits the first
//! cache, is sorted by counting its rows; the few pairs of a row are sorted by insertion.
//! Time O(m + n), memory a second copy of the pairs.

/// How many first numbers one range holds: its counters fit the first cache.
const ROWS: usize = 1 << 11;

/// Rows longer than this are left to the comparison sort.
const LONG_ROW: usize = 24;

/// The scratch memory of a sort, reused from call to call.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairSorter {
    /// Where each range begins in `moved`, and while moving, where its next pair goes.
    starts: Vec<u32>,
    moved: Vec<u64>,
    rows: Vec<u32>,
}

impl PairSorter {
    /// Writes the pairs, given as slices of keys (first number in the upper half, below
    /// `numbers`), ascending to `sorted`.
    pub(crate) fn sort<'a, K: Copy + Into<u64> + 'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [K]> + Clone,
        numbers: usize,
        sorted: &mut Vec<u64>,
    ) {
        sorted.clear();
        let total: usize = slices.clone().map(<[K]>::len).sum();
        // Counting needs a pass over the numbers; for few pairs among many that is the larger part.
        if total < 64 || total < numbers / 64 || total > u32::MAX as usize {
            sorted.extend(slices.flatten().map(|&key| key.into()));
            sorted.sort_unstable();
            return;
        }
        self.move_to_ranges(slices, numbers, total);
        sorted.resize(total, 0);
        self.rows.resize(ROWS + 1, 0);
        let mut begin = 0;
        for range in 0..numbers.div_ceil(ROWS) {
            let end = self.starts[range] as usize;
            if end > begin {
                sort_range(&self.moved[begin..end], &mut sorted[begin..end], &mut self.rows);
            }
            begin = end;
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.starts.capacity() + self.rows.capacity()) * 4 + self.moved.capacity() * 8
    }

    /// Afterwards `starts[r]` is where range `r` ends in `moved`.
    fn move_to_ranges<'a, K: Copy + Into<u64> + 'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [K]> + Clone,
        numbers: usize,
        total: usize,
    ) {
        self.starts.clear();
        self.starts.resize(numbers.div_ceil(ROWS) + 1, 0);
        for &key in slices.clone().flatten() {
            self.starts[range_of(key.into()) + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.moved.resize(total, 0);
        for &key in slices.flatten() {
            let key = key.into();
            let next = &mut self.starts[range_of(key)];
            self.moved[*next as usize] = key;
            *next += 1;
        }
    }
}

#[inline(always)]
fn range_of(key: u64) -> usize {
    (key >> 32) as usize / ROWS
}

#[inline(always)]
fn row_of(key: u64) -> usize {
    (key >> 32) as usize % ROWS
}

/// Sorts the pairs of one range from `moved` into `sorted`.
fn sort_range(moved: &[u64], sorted: &mut [u64], rows: &mut [u32]) {
    rows.fill(0);
    for &key in moved {
        rows[row_of(key) + 1] += 1;
    }
    let mut sum = 0;
    for row in rows.iter_mut() {
        sum += *row;
        *row = sum;
    }
    for &key in moved {
        let next = &mut rows[row_of(key)];
        sorted[*next as usize] = key;
        *next += 1;
    }
    // Each counter now stands at the end of its row.
    let mut begin = 0;
    for &end in &rows[..ROWS] {
        let end = end as usize;
        if end - begin > 1 {
            sort_row(&mut sorted[begin..end]);
        }
        begin = end;
    }
}

#[inline]
fn sort_row(row: &mut [u64]) {
    if row.len() > LONG_ROW {
        return row.sort_unstable();
    }
    for place in 1..row.len() {
        let key = row[place];
        let mut hole = place;
        while hole > 0 && row[hole - 1] > key {
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
            PairSorter::default().sort(slices.into_iter(), 5000, &mut sorted);
            let mut expected = keys.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn one_long_row_and_reused_scratch() {
        let mut sorter = PairSorter::default();
        let mut sorted = Vec::new();
        let (long, short) = if cfg!(miri) { (300, 100) } else { (100_000, 500) };
        for length in [long, short, long] {
            let keys: Vec<u64> = (0..length).map(|k: u64| 3 << 32 | (k * 7919 % length)).collect();
            sorter.sort(std::iter::once(keys.as_slice()), 4, &mut sorted);
            assert!(sorted.is_sorted() && sorted.len() == keys.len());
        }
    }
}
