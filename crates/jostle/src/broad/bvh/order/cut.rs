//! [`Cutter`]: the fine order within a chunk, by cuts at the median of the longest side.
//!
//! While a chunk is cut, a box is four numbers of 16 bits: its centre, in steps of 2^-16 of the
//! longest side of what was measured, and its place in the chunk. So sixteen coordinates are looked
//! at together, and a median is found by counting: how many are below a guess tells the next guess,
//! and as boxes mostly lie evenly, few guesses are needed. Selecting medians by comparing and
//! swapping boxes one by one took three times as long, for branches that cannot be predicted.

use std::ops::Range;

use super::CHUNK;
use crate::simd::{Kernel, Simd};

/// The centre of a box along each axis, and its place in the chunk.
pub(super) type Word = [u16; 4];

/// The centres of the boxes of a chunk, by axis.
pub(super) type Centres = [[f32; CHUNK]; 3];

/// Where a word has its place.
const PLACE: usize = 3;

/// Coordinates that are looked at together.
const LANES: usize = 16;

/// A range whose longest side has fewer steps than this is measured again, in smaller ones: centres
/// may be crowded in a corner of their bounds. [`sort_few`] does not look at the last five bits.
const FEW_STEPS: u16 = 1 << 10;

/// Ranges that wait to be cut: each cut leaves one, and halves the other.
const MOST_WAITING: usize = 64;

/// A range of a chunk, to be cut until no cut separates two nodes. Cuts are where the nodes of the
/// highest level within the range end.
pub(super) struct Cutter<'a> {
    /// The centres of the chunk's boxes, by axis.
    pub centres: &'a Centres,
    /// At first, only their places count, and ascend.
    pub words: &'a mut [Word],
    /// Where the range begins in the order of leaves.
    pub begin: usize,
}

/// Memory for one cut.
struct Scratch {
    keys: [u16; CHUNK],
    spare: [Word; CHUNK],
}

impl Kernel for Cutter<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, _: S) {
        let all = 0..self.words.len();
        if place_of_cut(self.begin, self.begin + all.len()).is_none()
            || !measure(self.centres, self.words)
        {
            return;
        }
        let mut scratch = Scratch { keys: [0; CHUNK], spare: [[0; 4]; CHUNK] };
        // Not a function that calls itself: that would not be compiled for the instruction set.
        let mut waiting = [const { 0..0 }; MOST_WAITING];
        let mut count = 1;
        waiting[0] = all;
        while count > 0 {
            count -= 1;
            let range = waiting[count].clone();
            if let Some(cut) = self.cut_once(range.clone(), &mut scratch) {
                waiting[count] = range.start..cut;
                waiting[count + 1] = cut..range.end;
                count += 2;
            }
        }
    }
}

impl Cutter<'_> {
    /// Cuts a range in two. Returns where, or nothing if it is to be left as it is.
    #[inline(always)]
    fn cut_once(&mut self, range: Range<usize>, scratch: &mut Scratch) -> Option<usize> {
        let cut = place_of_cut(self.begin + range.start, self.begin + range.end)? - self.begin;
        let words = &mut self.words[range.clone()];
        let mut extent = Extent::of(words);
        if extent.along(extent.longest_axis()) < FEW_STEPS {
            if !measure(self.centres, words) {
                return None;
            }
            extent = Extent::of(words);
        }
        let axis = extent.longest_axis();
        let keys = &mut scratch.keys[..words.len()];
        keys.iter_mut().zip(&*words).for_each(|(key, word)| *key = word[axis]);
        let at = cut - range.start;
        match words.len() {
            16 => sort_few::<16>(words, keys),
            32 => sort_few::<32>(words, keys),
            _ => {
                let middle = select(keys, at, extent.low[axis], extent.high[axis]);
                split(words, keys, &mut scratch.spare, middle, at);
            }
        }
        Some(cut)
    }
}

/// Puts the centres of boxes into their words. Returns false if all centres are one point.
#[inline(always)]
fn measure(centres: &Centres, words: &mut [Word]) -> bool {
    let bounds = centres.each_ref().map(|row| {
        let at = words.iter().map(|word| row[usize::from(word[PLACE]) % CHUNK]);
        at.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)))
    });
    // Half of everything, because the whole may be more than the largest number.
    let longest = bounds.iter().map(|(low, high)| 0.5 * high - 0.5 * low).fold(0.0, f32::max);
    if longest <= 0.0 {
        return false;
    }
    let scale = f32::from(u16::MAX) / longest;
    for (k, (row, (low, _))) in centres.iter().zip(bounds).enumerate() {
        for word in &mut *words {
            let at = row[usize::from(word[PLACE]) % CHUNK];
            let steps = (0.5 * at - 0.5 * low) * scale;
            word[k] = (steps as i32).clamp(0, i32::from(u16::MAX)) as u16;
        }
    }
    true
}

/// The bounds of a range, in the steps of its words.
struct Extent {
    low: Word,
    high: Word,
}

impl Extent {
    #[inline(always)]
    fn of(words: &[Word]) -> Extent {
        let (vectors, rest) = words.as_flattened().as_chunks::<LANES>();
        let (mut low, mut high) = ([u16::MAX; LANES], [0; LANES]);
        for vector in vectors {
            for lane in 0..LANES {
                low[lane] = low[lane].min(vector[lane]);
                high[lane] = high[lane].max(vector[lane]);
            }
        }
        for (lane, &value) in rest.iter().enumerate() {
            low[lane] = low[lane].min(value);
            high[lane] = high[lane].max(value);
        }
        // In halves, each of which is one instruction.
        let low: [u16; 8] = std::array::from_fn(|lane| low[lane].min(low[lane + 8]));
        let high: [u16; 8] = std::array::from_fn(|lane| high[lane].max(high[lane + 8]));
        Extent {
            low: std::array::from_fn(|lane| low[lane].min(low[lane + 4])),
            high: std::array::from_fn(|lane| high[lane].max(high[lane + 4])),
        }
    }

    #[inline(always)]
    fn along(&self, axis: usize) -> u16 {
        self.high[axis] - self.low[axis]
    }

    #[inline(always)]
    fn longest_axis(&self) -> usize {
        let longer = |one: usize, other: usize| {
            if self.along(other) > self.along(one) { other } else { one }
        };
        longer(longer(0, 1), 2)
    }
}

/// How many keys are smaller than a value.
#[inline(always)]
fn below(keys: &[u16], value: u16) -> usize {
    let (vectors, rest) = keys.as_chunks::<LANES>();
    let mut counts = [0u16; LANES];
    for vector in vectors {
        for lane in 0..LANES {
            counts[lane] += u16::from(vector[lane] < value);
        }
    }
    usize::from(counts.iter().sum::<u16>()) + rest.iter().filter(|key| **key < value).count()
}

/// A value that at most `at` keys are smaller than, and more than `at` not larger than; all keys
/// are from `low` to `high`, and `at` is less than their number.
#[inline(always)]
fn select(keys: &[u16], at: usize, low: u16, high: u16) -> Middle {
    // Less than `least` are `fewer` keys, and less than `more` more than `at`.
    let (mut least, mut fewer) = (u32::from(low), 0);
    let (mut end, mut more) = (u32::from(high) + 1, keys.len());
    for guesses in 0.. {
        let span = end - least;
        if fewer == at || span <= 1 {
            break;
        }
        // As if they were spread evenly between the two, and halfway each third time, so that it
        // ends soon wherever they are.
        let share = (at - fewer) as f32 / (more - fewer) as f32;
        let share = if guesses % 3 == 2 { 0.5 } else { share };
        let guess = least + ((span as f32 * share) as u32).clamp(1, span - 1);
        let count = below(keys, guess as u16);
        if count <= at {
            (least, fewer) = (guess, count);
        } else {
            (end, more) = (guess, count);
        }
    }
    Middle { value: least as u16, fewer }
}

/// See [`select`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Middle {
    value: u16,
    /// How many keys are smaller.
    fewer: usize,
}

/// Puts `at` words first, those with the smallest keys; of equal ones the first. Otherwise they
/// keep their order.
#[inline(always)]
fn split(words: &mut [Word], keys: &[u16], spare: &mut [Word; CHUNK], middle: Middle, at: usize) {
    let mut equal = at - middle.fewer;
    let (mut low, mut high) = (0, 0);
    for place in 0..words.len() {
        let (word, key) = (words[place], keys[place]);
        let taken = (key == middle.value) & (equal > 0);
        let is_low = (key < middle.value) | taken;
        equal -= usize::from(taken);
        words[low] = word;
        spare[high] = word;
        low += usize::from(is_low);
        high += usize::from(!is_low);
    }
    words[low..].copy_from_slice(&spare[..high]);
}

/// Sorts a few words by their keys, whose last digits do not count.
#[inline(always)]
fn sort_few<const COUNT: usize>(words: &mut [Word], keys: &[u16]) {
    let words: Result<&mut [Word; COUNT], _> = words.try_into();
    let (Ok(words), Ok(keys)) = (words, <&[u16; COUNT]>::try_from(keys)) else { return };
    // None are equal, so the number of smaller ones is a word's place.
    let keys: [u16; COUNT] = std::array::from_fn(|k| keys[k] & !(COUNT as u16 - 1) | k as u16);
    let mut ranks = [0u16; COUNT];
    for &key in &keys {
        for lane in 0..COUNT {
            ranks[lane] += u16::from(key < keys[lane]);
        }
    }
    let before = *words;
    for (rank, word) in ranks.iter().zip(before) {
        words[usize::from(*rank) % COUNT] = word;
    }
}

/// The end of a node of the highest possible level strictly within a range, nearest its middle.
fn place_of_cut(begin: usize, end: usize) -> Option<usize> {
    let mut size = CHUNK;
    while size >= 8 {
        let middle = begin.midpoint(end);
        let below = middle / size * size;
        let near = if middle - below < size / 2 { below } else { below + size };
        for cut in [near, below, below + size] {
            if begin < cut && cut < end {
                return Some(cut);
            }
        }
        size /= 8;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// The centres of a chunk whose boxes are spread evenly, crowded in a corner of their bounds,
    /// in a plane, on a line, in one point, or gone.
    fn chunk_of_centres(kind: usize) -> Vec<[f32; 3]> {
        let spread = |id: usize, by: u32| ((id as u32 + 1).wrapping_mul(by) >> 8) as f32 / 1e6;
        (0..CHUNK)
            .map(|id| {
                let by = [2_654_435_761, 2_246_822_519, 3_266_489_917];
                let [x, y, z] = by.map(|by| spread(id, by));
                match kind {
                    0 => [x, y, z],
                    1 if id % 100 > 0 => [x, y, z].map(|part| part * 1e-9),
                    1 => [x, y, z].map(|part| part * 1e30),
                    2 => [x, 7.0, z],
                    3 => [f32::MAX, id as f32, f32::MIN],
                    4 => [2.0; 3],
                    _ => [f32::NAN; 3],
                }
            })
            .collect()
    }

    fn place(word: &Word) -> usize {
        usize::from(word[PLACE])
    }

    /// The words of a chunk before and after it is cut.
    fn cut(centres: &[[f32; 3]]) -> [Vec<Word>; 2] {
        let before: Vec<Word> = (0..CHUNK as u16).map(|place| [0, 0, 0, place]).collect();
        let mut words = before.clone();
        let by_axis: Centres = std::array::from_fn(|k| std::array::from_fn(|p| centres[p][k]));
        simd::run(Cutter { centres: &by_axis, words: &mut words, begin: 0 });
        [before, words]
    }

    /// The largest extent of the centres of some words.
    fn side(centres: &[[f32; 3]], words: &[Word]) -> f64 {
        let of = |k: usize| words.iter().map(move |word| f64::from(centres[place(word)][k]));
        let extent = |k: usize| of(k).fold(f64::MIN, f64::max) - of(k).fold(f64::MAX, f64::min);
        (0..3).map(extent).fold(0.0, f64::max)
    }

    /// Every place is there once, and each half of a chunk is cut at the median: crowded or not,
    /// the longest sides of its blocks are a small part of those without cuts.
    #[test]
    fn cuts_keep_every_place_and_make_blocks_small() {
        for kind in 0..6 {
            let centres = chunk_of_centres(kind);
            let [before, words] = cut(&centres);
            let sum = |words: &[Word]| -> f64 {
                words.chunks(8).map(|words| side(&centres, words)).sum()
            };
            let (before, after) = (sum(&before), sum(&words));
            assert!(kind > 2 || after < 0.4 * before, "kind {kind}: {before} to {after}");
            if kind == 3 {
                assert_eq!(after, 64.0 * 7.0, "runs of a line");
            }
            let mut places: Vec<usize> = words.iter().map(place).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..CHUNK), "kind {kind}");
        }
    }

    /// Boxes crowded in a corner of their bounds, where the first cuts do not tell them apart, are
    /// cut by the later ones.
    #[test]
    fn crowds_within_a_chunk_are_measured_in_smaller_steps() {
        let centres = chunk_of_centres(1);
        let crowd = |words: &[Word]| words.iter().all(|word| place(word) % 100 > 0);
        let [before, words] = cut(&centres);
        let mean = |words: &[Word]| {
            let crowds = || words.chunks(8).filter(|words| crowd(words));
            crowds().map(|words| side(&centres, words)).sum::<f64>() / crowds().count() as f64
        };
        let (before, after) = (mean(&before), mean(&words));
        assert!(after < 0.75 * before, "{after} of {before}");
    }

    /// Keys that are spread, crowded, few or all the same, and how many of them are to come first.
    fn keys_and_cut() -> impl Strategy<Value = (Vec<u16>, usize)> {
        let spread = || vec(any::<u16>(), 2..CHUNK);
        let crowded = vec(prop_oneof![4 => 7u16..9, 1 => any::<u16>()], 2..CHUNK);
        let few = spread().prop_map(|keys| keys.iter().map(|key| key % 3 * 30_000).collect());
        let series = spread().prop_map(|keys| keys.iter().map(|key| key >> (key % 16)).collect());
        let keys = prop_oneof![spread(), crowded, few, series];
        keys.prop_flat_map(|keys| {
            let cut = 1..keys.len();
            (Just(keys), cut)
        })
    }

    proptest! {
        #[test]
        fn a_split_takes_the_smallest_and_keeps_their_order((keys, at) in keys_and_cut()) {
            let (low, high) = (*keys.iter().min().unwrap(), *keys.iter().max().unwrap());
            let middle = select(&keys, at, low, high);
            let mut words: Vec<Word> =
                keys.iter().zip(0..).map(|(&key, place)| [key, 0, 0, place]).collect();
            let mut expected = words.clone();
            expected.sort_by_key(|word| word[0]);
            expected[..at].sort_by_key(|word| word[PLACE]);
            expected[at..].sort_by_key(|word| word[PLACE]);
            split(&mut words, &keys, &mut [[0; 4]; CHUNK], middle, at);
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn few_are_sorted_by_their_leading_digits(
            keys in vec(any::<u16>(), 32),
            few in any::<bool>(),
        ) {
            let count = if few { 16 } else { 32 };
            let keys = &keys[..count];
            let mut words: Vec<Word> =
                keys.iter().zip(0..).map(|(&key, place)| [key, 0, 0, place]).collect();
            let mut expected = words.clone();
            expected.sort_by_key(|word| word[0] / count as u16);
            if few { sort_few::<16>(&mut words, keys) } else { sort_few::<32>(&mut words, keys) }
            prop_assert_eq!(words, expected);
        }

        #[test]
        fn extents_are_those_of_the_words(keys in vec(any::<[u16; 4]>(), 1..40)) {
            let extent = Extent::of(&keys);
            for k in 0..3 {
                prop_assert_eq!(extent.low[k], keys.iter().map(|word| word[k]).min().unwrap());
                prop_assert_eq!(extent.high[k], keys.iter().map(|word| word[k]).max().unwrap());
            }
        }
    }
}
