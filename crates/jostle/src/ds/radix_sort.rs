//! Stable radix sort of `f32` keys that returns indices, alone or in parallel partitions.
//!
//! A float becomes an unsigned number of the same order ([`ordered_bits`]); number and index
//! travel together as one `u64` item. [`sort_items`] is a least-significant-digit radix sort
//! that looks only at the bits which vary among its items, split into equal digits of at most
//! eleven bits (three passes for a million mixed keys, one or two for a narrow range, none for
//! equal keys). [`CoherentSort`] is Algorithm 2 of G. Capannini and T. Larsson, *Adaptive
//! Collision Culling for Large-Scale Simulations by a Parallel Sweep and Prune Algorithm*: keys
//! are moved into partitions by boundaries taken from the previous call's result, so that with
//! coherent motion the partitions have almost equal sizes, then each partition is sorted alone.
//!
//! Cost: `O(n)` per varying digit, and `O(n log m)` for the move into `m` partitions. Memory:
//! 16 bytes a key in [`SortScratch`], which several sorts can share. Nothing is allocated once
//! the scratch has grown. Equal keys keep the order of their indices; `-0.0` equals `0.0`;
//! infinities sort first and last; NaN sorts somewhere, without harm.
//!
//! Departures from the paper: the boundaries are compared by binary search instead of `m - 1`
//! comparisons; the move runs over chunks whose runs the partitions then collect, so that no
//! two tasks write to one place and the sort stays stable; a partition skips digits, which the
//! boundaries make likely since they leave its keys a common prefix.

use crate::ds::regions::{Regions, for_each_region};
use crate::par::Workers;

/// Items of one task when keys are moved into partitions: its buckets fit the stack.
const CHUNK: usize = 4096;
/// Widest digit: 2048 counters are eight kilobytes and leave room for data in a 32 KB cache.
const WIDEST_DIGIT: u32 = 11;
const COUNTERS: usize = 1 << WIDEST_DIGIT;
/// Below this many items clearing counters costs more than comparing.
const FEW: usize = 24;

/// A number that orders as `value` does; `-0.0` and `0.0` give the same one.
#[inline(always)]
pub fn ordered_bits(value: f32) -> u32 {
    // Adding zero turns -0.0 into 0.0 and changes nothing else.
    let bits = (value + 0.0).to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

/// The float with the given [`ordered_bits`].
#[inline(always)]
pub fn from_ordered_bits(bits: u32) -> f32 {
    f32::from_bits(bits ^ ((!((bits as i32) >> 31) as u32) | 0x8000_0000))
}

/// An item: the key in the upper half, its index in the lower.
#[inline(always)]
pub fn item(key: f32, index: u32) -> u64 {
    u64::from(ordered_bits(key)) << 32 | u64::from(index)
}

/// Sorts items by their upper halves, stably. `spare` must be as long as `items`; its
/// contents afterwards are meaningless.
///
/// # Panics
/// If the lengths differ.
pub fn sort_items(items: &mut [u64], spare: &mut [u64]) {
    assert_eq!(items.len(), spare.len(), "the spare room must be as long as the items");
    if items.len() <= FEW {
        return insertion_sort(items);
    }
    let varying = varying_bits(items);
    let bits = u32::BITS - varying.leading_zeros();
    // Low bits that never vary need no pass either: keys on a coarse grid have them.
    let lowest = varying.trailing_zeros().min(bits);
    if bits == 0 {
        return;
    }
    // Short runs prefer narrow digits, whose counters are cheap to clear and to sum.
    let widest = (usize::BITS - items.len().leading_zeros()).clamp(6, WIDEST_DIGIT);
    let passes = (bits - lowest).div_ceil(widest);
    let width = (bits - lowest).div_ceil(passes);
    let (mut from, mut to) = (&mut *items, &mut *spare);
    for pass in 0..passes {
        scatter_digit(from, to, 32 + lowest + pass * width, width);
        std::mem::swap(&mut from, &mut to);
    }
    if passes % 2 == 1 {
        items.copy_from_slice(spare);
    }
}

/// Below this many words comparing costs less than clearing counters.
const FEW_WORDS: usize = 256;

/// Words with equal upper halves, if there are more than this, are left to the comparison sort.
const LONG_ROW: usize = 24;

/// Sorts whole words whose upper halves are mostly different. `spare` is memory that calls share.
/// The upper halves are sorted by digits, as few as their varying bits allow; the words that share
/// one, a row, are then put in order by comparing.
pub(crate) fn sort_words(words: &mut [u64], spare: &mut Vec<u64>) {
    if words.len() < FEW_WORDS {
        return words.sort_unstable();
    }
    spare.resize(words.len(), 0);
    sort_items(words, spare);
    order_rows(words);
}

/// Puts words in order whose upper halves are. One that is smaller than the one before it shares
/// its upper half, and so does everything that it has to pass.
pub(crate) fn order_rows(words: &mut [u64]) {
    for place in 1..words.len() {
        if words[place] < words[place - 1] {
            insert_in_row(words, place);
        }
    }
}

/// Moves a word to its place among those before it, which are in order.
#[inline]
fn insert_in_row(words: &mut [u64], place: usize) {
    let word = words[place];
    let mut hole = place;
    while hole > 0 && words[hole - 1] > word && place - hole < LONG_ROW {
        words[hole] = words[hole - 1];
        hole -= 1;
    }
    words[hole] = word;
    if place - hole == LONG_ROW {
        let same = |other: &&u64| **other >> 32 == word >> 32;
        let begin = place - words[..place].iter().rev().take_while(same).count();
        let end = place + words[place..].iter().take_while(same).count();
        words[begin..end].sort_unstable();
    }
}

/// The bits in which some upper half differs from the first.
fn varying_bits(items: &[u64]) -> u32 {
    let first = items[0];
    let varying = items.iter().fold(0, |bits, &item| bits | (item ^ first));
    (varying >> 32) as u32
}

fn insertion_sort(items: &mut [u64]) {
    for end in 1..items.len() {
        let item = items[end];
        let mut hole = end;
        while hole > 0 && items[hole - 1] >> 32 > item >> 32 {
            items[hole] = items[hole - 1];
            hole -= 1;
        }
        items[hole] = item;
    }
}

/// One pass: writes `from` into `to` by the digit of `width` bits at `shift`.
fn scatter_digit(from: &[u64], to: &mut [u64], shift: u32, width: u32) {
    let mut places = [0u32; COUNTERS];
    let mask = (1usize << width) - 1;
    // The second mask is a constant, which spares the bounds check.
    let digit = |item: u64| (item >> shift) as usize & mask & (COUNTERS - 1);
    for &item in from {
        places[digit(item)] += 1;
    }
    let mut start = 0;
    for place in &mut places[..=mask] {
        start += std::mem::replace(place, start);
    }
    for &item in from {
        let place = &mut places[digit(item)];
        to[*place as usize] = item;
        *place += 1;
    }
}

/// Memory that sorts share: two buffers of items and the counts of each chunk.
#[derive(Clone, Debug, Default)]
pub struct SortScratch {
    items: Vec<u64>,
    spare: Vec<u64>,
    /// Where the run of partition `p` ends in chunk `c`, at `c * partitions + p`.
    run_ends: Vec<u32>,
}

impl SortScratch {
    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        (self.items.capacity() + self.spare.capacity()) * size_of::<u64>()
            + self.run_ends.capacity() * size_of::<u32>()
    }

    fn resize(&mut self, len: usize) {
        self.items.resize(len, 0);
        self.spare.resize(len, 0);
    }
}

/// Writes into `order` the indices of `keys` from the least key to the greatest; equal keys
/// stay in the order of their indices.
///
/// # Panics
/// If there are more than 2^32 - 1 keys.
pub fn sort_indices(keys: &[f32], order: &mut Vec<u32>, scratch: &mut SortScratch) {
    check_length(keys.len());
    scratch.resize(keys.len());
    for (index, (slot, &key)) in scratch.items.iter_mut().zip(keys).enumerate() {
        *slot = item(key, index as u32);
    }
    sort_items(&mut scratch.items, &mut scratch.spare);
    order.clear();
    order.extend(scratch.items.iter().map(|&item| item as u32));
}

fn check_length(len: usize) {
    assert!(len < u32::MAX as usize, "{len} keys are more than a u32 index can name");
}

/// Sorts the same slowly changing keys again and again, in parallel partitions whose boundaries
/// come from the previous result (Algorithm 2). The order does not depend on the boundaries,
/// the number of partitions or the number of workers.
#[derive(Clone, Debug, Default)]
pub struct CoherentSort {
    /// The least ordered key of each partition but the first.
    boundaries: Vec<u32>,
    /// Where each partition begins in the result of the last call, and the end.
    starts: Vec<usize>,
}

impl CoherentSort {
    /// Writes into `order` the numbers below `len` sorted by `key`, using `partitions`
    /// partitions. The first call, and one with another number of partitions, sets the
    /// boundaries at equal distances over the span of the finite keys.
    ///
    /// # Panics
    /// If `len` exceeds 2^32 - 2 or `partitions` is 0 or more than 65 536.
    pub fn sort_indices(
        &mut self,
        len: usize,
        key: impl Fn(usize) -> f32 + Sync,
        partitions: usize,
        workers: &Workers,
        scratch: &mut SortScratch,
        order: &mut Vec<u32>,
    ) {
        check_length(len);
        assert!((1..=1 << 16).contains(&partitions), "{partitions} partitions are not possible");
        if self.boundaries.len() + 1 != partitions {
            self.boundaries = span_boundaries(len, &key, partitions, workers);
        }
        scratch.resize(len);
        order.resize(len, 0);
        self.throw(&key, workers, scratch);
        self.collect(workers, scratch);
        self.sort_partitions(workers, scratch, order);
        self.update_boundaries(&scratch.spare);
    }

    /// Drops the boundaries; the next call sets them from the span of its keys.
    pub fn restart(&mut self) {
        self.boundaries.clear();
        self.starts.clear();
    }

    /// The paper's dispersion D of the last call: by how much the partitions' sizes miss the
    /// mean, as a share of it. 0 is perfect balance, almost 2 everything in one of many.
    pub fn dispersion(&self) -> f64 {
        let partitions = self.starts.len().saturating_sub(1);
        let total = self.starts.last().copied().unwrap_or(0);
        if total == 0 {
            return 0.0;
        }
        let mean = total as f64 / partitions as f64;
        let missed = self.sizes().map(|size| (size as f64 - mean).abs()).sum::<f64>();
        missed / total as f64
    }

    /// Number of keys in each partition of the last call.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).map(|ends| ends[1] - ends[0])
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.boundaries.capacity() * size_of::<u32>() + self.starts.capacity() * size_of::<usize>()
    }

    fn partitions(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// Orders each chunk of items by partition and notes where its runs end.
    fn throw(&self, key: &(impl Fn(usize) -> f32 + Sync), workers: &Workers, s: &mut SortScratch) {
        let (len, partitions) = (s.items.len(), self.partitions());
        let chunks = len.div_ceil(CHUNK);
        s.run_ends.resize(chunks * partitions, 0);
        let items = Regions::new(&mut s.items, |chunk| len.min(chunk * CHUNK));
        let ends = Regions::new(&mut s.run_ends, |chunk| chunk * partitions);
        for_each_region(workers, 0..chunks, (items, ends), &|chunk, (items, ends)| {
            throw_chunk(chunk * CHUNK, items, ends, &self.boundaries, key);
        });
    }

    /// Copies the runs of each partition, chunk by chunk, to its place in `spare`.
    fn collect(&mut self, workers: &Workers, s: &mut SortScratch) {
        let partitions = self.partitions();
        self.starts.clear();
        self.starts.push(0);
        for partition in 0..partitions {
            let size: usize =
                s.run_ends.chunks(partitions).map(|ends| run(ends, partition).len()).sum();
            self.starts.push(self.starts[partition] + size);
        }
        let (items, run_ends, starts) = (&s.items, &s.run_ends, &self.starts);
        let regions = Regions::new(&mut s.spare, |partition| starts[partition]);
        for_each_region(workers, 0..partitions, regions, &|partition, region| {
            let mut filled = 0;
            for (chunk, ends) in items.chunks(CHUNK).zip(run_ends.chunks(partitions)) {
                let run = &chunk[run(ends, partition)];
                region[filled..filled + run.len()].copy_from_slice(run);
                filled += run.len();
            }
        });
    }

    fn sort_partitions(&self, workers: &Workers, s: &mut SortScratch, order: &mut [u32]) {
        let start = |partition: usize| self.starts[partition];
        let items = (Regions::new(&mut s.spare, start), Regions::new(&mut s.items, start));
        let regions = (items, Regions::new(order, start));
        let partitions = self.partitions();
        for_each_region(workers, 0..partitions, regions, &|_, ((region, spare), order)| {
            sort_items(region, spare);
            for (place, &item) in order.iter_mut().zip(region.iter()) {
                *place = item as u32;
            }
        });
    }

    fn update_boundaries(&mut self, sorted: &[u64]) {
        let partitions = self.partitions();
        if sorted.is_empty() {
            return self.boundaries.clear();
        }
        for (index, boundary) in self.boundaries.iter_mut().enumerate() {
            *boundary = (sorted[(index + 1) * sorted.len() / partitions] >> 32) as u32;
        }
    }
}

/// The part of a chunk that belongs to a partition.
#[inline]
fn run(ends: &[u32], partition: usize) -> std::ops::Range<usize> {
    let start = if partition == 0 { 0 } else { ends[partition - 1] };
    start as usize..ends[partition] as usize
}

fn throw_chunk(
    first: usize,
    items: &mut [u64],
    ends: &mut [u32],
    boundaries: &[u32],
    key: impl Fn(usize) -> f32,
) {
    let mut keys = [0u32; CHUNK];
    let mut parts = [0u16; CHUNK];
    ends.fill(0);
    for index in 0..items.len() {
        let bits = ordered_bits(key(first + index));
        let part = boundaries.partition_point(|&boundary| boundary <= bits);
        keys[index] = bits;
        parts[index] = part as u16;
        ends[part] += 1;
    }
    let mut start = 0;
    for end in ends.iter_mut() {
        start += std::mem::replace(end, start);
    }
    // `ends` holds where runs start; each item advances that of its run, which ends at the end.
    for index in 0..items.len() {
        let place = &mut ends[parts[index] as usize];
        items[*place as usize] = u64::from(keys[index]) << 32 | (first + index) as u64;
        *place += 1;
    }
}

/// Boundaries at equal distances over the span of the finite keys.
fn span_boundaries(
    len: usize,
    key: &(impl Fn(usize) -> f32 + Sync),
    partitions: usize,
    workers: &Workers,
) -> Vec<u32> {
    let mut spans = vec![(f32::INFINITY, f32::NEG_INFINITY); len.div_ceil(CHUNK)];
    workers.for_each(&mut spans, |chunk, span| {
        let keys = (chunk * CHUNK..len.min((chunk + 1) * CHUNK)).map(key);
        let finite = keys.filter(|key| key.is_finite());
        *span = finite.fold(*span, |(low, high), key| (low.min(key), high.max(key)));
    });
    let unite = |a: (f32, f32), b: (f32, f32)| (a.0.min(b.0), a.1.max(b.1));
    let (low, high) = spans.into_iter().fold((f32::INFINITY, f32::NEG_INFINITY), unite);
    let (low, high) = if low <= high { (f64::from(low), f64::from(high)) } else { (0.0, 0.0) };
    // In f64: the span of f32 values may exceed the largest f32.
    let boundary = |i: usize| low + (high - low) * i as f64 / partitions as f64;
    (1..partitions).map(|i| ordered_bits(boundary(i) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys that collide, that are signed zeros, infinities, subnormal or huge, and plain ones.
    fn key() -> impl Strategy<Value = f32> {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-45];
        prop_oneof![
            2 => prop::sample::select(special.to_vec()),
            3 => (-20i32..20).prop_map(|v| v as f32 * 0.5),
            5 => -1000f32..1000.0,
            1 => any::<u32>().prop_map(f32::from_bits).prop_filter("a number", |k| !k.is_nan()),
        ]
    }

    /// More than the insertion sort takes; an interpreter is slow.
    const KEYS: usize = if cfg!(miri) { 40 } else { 400 };
    const FRAMES: usize = if cfg!(miri) { 3 } else { 5 };

    fn stable_order(keys: &[f32]) -> Vec<u32> {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by(|&a, &b| keys[a as usize].partial_cmp(&keys[b as usize]).unwrap());
        order
    }

    /// Deterministic numbers for sizes at which proptest would be slow.
    fn noise(len: usize, seed: u64) -> Vec<f32> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f32 / 1024.0 - 8192.0
        };
        (0..len).map(|_| next()).collect()
    }

    proptest! {
        #[test]
        fn ordered_bits_order_as_floats_do(a in key(), b in key()) {
            let by_bits = ordered_bits(a).cmp(&ordered_bits(b));
            prop_assert_eq!(Some(by_bits), a.partial_cmp(&b));
            prop_assert_eq!(from_ordered_bits(ordered_bits(a)), a);
        }

        #[test]
        fn agrees_with_a_stable_sort(keys in prop::collection::vec(key(), 0..KEYS)) {
            let (mut order, mut scratch) = (vec![7; 3], SortScratch::default());
            sort_indices(&keys, &mut order, &mut scratch);
            prop_assert_eq!(order, stable_order(&keys));
        }

        #[test]
        fn partitions_agree_with_a_stable_sort_over_frames(
            frames in prop::collection::vec(prop::collection::vec(key(), 0..KEYS), 1..FRAMES),
            partitions in 1usize..20,
        ) {
            let mut sort = CoherentSort::default();
            let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
            let workers = Workers::one();
            for keys in &frames {
                let key = |index: usize| keys[index];
                sort.sort_indices(
                    keys.len(), key, partitions, &workers, &mut scratch, &mut order,
                );
                prop_assert_eq!(&order, &stable_order(keys));
                prop_assert_eq!(sort.sizes().sum::<usize>(), keys.len());
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too large for an interpreter, and no unsafe code")]
    fn large_inputs_take_the_wide_digits_and_skip_constant_ones() {
        let mut scratch = SortScratch::default();
        let mut order = Vec::new();
        let wide = noise(50_000, 3);
        let narrow: Vec<f32> = wide.iter().map(|key| 4096.0 + (key * 0.01).floor()).collect();
        let equal = vec![3.5; 50_000];
        let halves: Vec<f32> = (0..50_000).map(|k| if k % 3 == 0 { -0.0 } else { 0.0 }).collect();
        for keys in [&wide, &narrow, &equal, &halves] {
            sort_indices(keys, &mut order, &mut scratch);
            assert_eq!(order, stable_order(keys));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too large for an interpreter, and no unsafe code")]
    fn every_number_of_workers_and_partitions_gives_the_same_order() {
        let keys = noise(30_000, 11);
        let expected = stable_order(&keys);
        for threads in [1, 2, 3, 8] {
            let workers = Workers::new(threads).unwrap();
            for partitions in [1, 2, 7, 64, 1000] {
                let mut sort = CoherentSort::default();
                let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
                for _ in 0..2 {
                    let key = |index: usize| keys[index];
                    sort.sort_indices(
                        keys.len(),
                        key,
                        partitions,
                        &workers,
                        &mut scratch,
                        &mut order,
                    );
                    assert_eq!(order, expected, "{threads} threads, {partitions} partitions");
                }
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too large for an interpreter, and no unsafe code")]
    fn kept_boundaries_balance_the_partitions() {
        // Cubing crowds the keys around zero, so boundaries over the span start unbalanced.
        let keys: Vec<f32> = noise(40_000, 5).iter().map(|key| (key / 8192.0).powi(3)).collect();
        let (mut sort, workers) = (CoherentSort::default(), Workers::one());
        let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
        let mut frame = |sort: &mut CoherentSort, shift: f32| {
            let key = |index: usize| keys[index] + shift;
            sort.sort_indices(keys.len(), key, 16, &workers, &mut scratch, &mut order);
            sort.dispersion()
        };
        assert!(frame(&mut sort, 0.0) > 0.5, "equal distances do not balance crowded keys");
        assert!(frame(&mut sort, 0.0) < 0.001, "the previous frame's boundaries do");
        assert!(frame(&mut sort, 0.0001) < 0.2, "and nearly so after a small motion");
        sort.restart();
        assert!(frame(&mut sort, 0.0) > 0.5);
    }

    #[test]
    fn dispersion_is_the_papers() {
        let sort = CoherentSort { boundaries: vec![0; 3], starts: vec![0, 10, 10, 30, 40] };
        // Sizes 10, 0, 20, 10 around a mean of 10: (0 + 10 + 10 + 0) / 40.
        assert_eq!(sort.dispersion(), 0.5);
        assert_eq!(CoherentSort::default().dispersion(), 0.0);
    }

    #[test]
    fn infinite_spans_have_boundaries_too() {
        let keys = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, f32::INFINITY];
        for keys in [&keys[..], &[f32::INFINITY; 3], &[]] {
            let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
            let workers = Workers::one();
            let key = |index: usize| keys[index];
            let mut sort = CoherentSort::default();
            sort.sort_indices(keys.len(), key, 4, &workers, &mut scratch, &mut order);
            assert_eq!(order, stable_order(keys));
        }
    }

    #[test]
    fn words_are_sorted_whatever_bits_vary() {
        // Rows of one word, of a few, and longer than insertion takes.
        let mut spare = Vec::new();
        let mix = |k: u64| k.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let lengths = if cfg!(miri) { [0, 1, 300, 257] } else { [0, 1, 5000, 257] };
        for mask in [u64::MAX, 0x0001_FFFE_0003_FFFF, 0x3F_0003_FFFF, 1 << 63 | 1, 0xFFF << 52, 0] {
            for length in lengths {
                let mut words: Vec<u64> =
                    (0..length).map(|k| mix(k) & mask | 0x40 & !mask).collect();
                let mut expected = words.clone();
                expected.sort_unstable();
                sort_words(&mut words, &mut spare);
                assert!(words == expected, "{length} words, bits {mask:x}");
            }
        }
    }
}
