//! Sorts the flips of a step on one worker: two or three passes by digits of their first slots.
//!
//! The digits are as many as the largest slot has bits, cut evenly. All of them are counted in one
//! pass over the lists, and the first pass moves the flips from the lists to where they belong, so
//! that they are not collected before. Flips with the same first slot are few and are put in order
//! last.

use crate::ds::pair_sort::Keys;
use crate::ds::radix_sort::order_rows;

/// A digit has at most this many bits: its counters fit the first cache with room to spare.
const WIDEST_DIGIT: u32 = 11;
const COUNTERS: usize = 1 << WIDEST_DIGIT;

/// Below this many flips comparing costs less than clearing counters.
const FEW_FLIPS: usize = 256;

/// Memory for the passes.
#[derive(Clone, Debug, Default)]
pub(super) struct FlipSorter {
    spare: Vec<u64>,
    /// The places of each digit.
    places: Vec<[u32; COUNTERS]>,
}

impl FlipSorter {
    /// Writes flips of boxes in slots below `slots` ascending to `sorted`, which has a place for
    /// each.
    pub(super) fn sort(&mut self, flips: &impl Keys<u64>, slots: usize, sorted: &mut Vec<u64>) {
        let total = sorted.len();
        if total < FEW_FLIPS {
            let mut places = sorted.iter_mut();
            flips.each(0, total, |flip| *places.next().expect("one for each") = flip);
            return sorted.sort_unstable();
        }
        let bits = (usize::BITS - slots.saturating_sub(1).leading_zeros()).clamp(1, u32::BITS);
        let passes = bits.div_ceil(WIDEST_DIGIT) as usize;
        let digits = Digits { width: bits.div_ceil(passes as u32) };
        if passes > 1 {
            if self.spare.capacity() < total {
                // The next step has about as many.
                self.spare.reserve_exact(total + total / 8 - self.spare.len());
            }
            self.spare.resize(total, 0);
        }
        self.count(flips, total, passes, digits);
        // Passes write in turn to both lists, which are exchanged before each but the first.
        let places = &mut self.places[0];
        flips.each(0, total, |flip| digits.put(flip, 0, places, sorted));
        for (pass, places) in self.places[..passes].iter_mut().enumerate().skip(1) {
            std::mem::swap(sorted, &mut self.spare);
            self.spare.iter().for_each(|&flip| digits.put(flip, pass, places, sorted));
        }
        order_rows(sorted);
    }

    /// Finds where the flips of each value of each digit begin.
    fn count(&mut self, flips: &impl Keys<u64>, total: usize, passes: usize, digits: Digits) {
        if self.places.len() < passes {
            self.places.resize(passes, [0; COUNTERS]);
        }
        let values = 1 << digits.width;
        self.places.iter_mut().for_each(|places| places[..values].fill(0));
        match &mut self.places[..passes] {
            // What most worlds have, without a loop over the digits.
            [one, two] => flips.each(0, total, |flip| {
                one[digits.of(flip, 0)] += 1;
                two[digits.of(flip, 1)] += 1;
            }),
            all => flips.each(0, total, |flip| {
                let numbered = all.iter_mut().enumerate();
                numbered.for_each(|(pass, places)| places[digits.of(flip, pass)] += 1);
            }),
        }
        for places in &mut self.places[..passes] {
            let mut start = 0;
            for place in &mut places[..values] {
                start += std::mem::replace(place, start);
            }
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.spare.capacity() * size_of::<u64>() + self.places.capacity() * COUNTERS * 4
    }
}

/// How a slot is cut into digits.
#[derive(Clone, Copy)]
struct Digits {
    /// Bits of each, of which the last may be 0.
    width: u32,
}

impl Digits {
    #[inline(always)]
    fn of(self, flip: u64, pass: usize) -> usize {
        // The second mask is a constant, which spares the bounds check.
        let mask = (1 << self.width) - 1;
        (flip >> (32 + pass as u32 * self.width)) as usize & mask & (COUNTERS - 1)
    }

    #[inline(always)]
    fn put(self, flip: u64, pass: usize, places: &mut [u32; COUNTERS], to: &mut [u64]) {
        let place = &mut places[self.of(flip, pass)];
        to[*place as usize] = flip;
        *place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::flips::{FlipList, FlipLists};
    use super::*;
    use proptest::prelude::*;

    fn sorted(words: &[u64], slots: usize, sorter: &mut FlipSorter) -> Vec<u64> {
        let (one, two) = words.split_at(words.len() / 3);
        let lists = [one, &[], two];
        let begins = [0, one.len(), one.len(), words.len()];
        let lists = FlipLists { list: |number| FlipList::Flips(lists[number]), begins: &begins };
        let mut sorted = vec![7; words.len()];
        sorter.sort(&lists, slots, &mut sorted);
        sorted
    }

    proptest! {
        /// Few flips and many, for every number of passes, with rows of every length.
        #[test]
        fn flips_are_sorted(
            words in prop::collection::vec((any::<u32>(), any::<u32>()), 0..900),
            bits in 0u32..32,
        ) {
            let slots = 1usize << bits;
            let word = |&(a, b): &(u32, u32)| u64::from(a % slots as u32) << 32 | u64::from(b);
            let words: Vec<u64> = words.iter().map(word).collect();
            let mut expected = words.clone();
            expected.sort_unstable();
            let mut sorter = FlipSorter::default();
            for _ in 0..2 {
                prop_assert_eq!(&sorted(&words, slots, &mut sorter), &expected);
            }
        }
    }

    #[test]
    fn a_long_row_between_short_ones_is_sorted() {
        let row = |slot: u64, length: u64| (0..length).rev().map(move |k| slot << 32 | k);
        let words: Vec<u64> = row(3, 2).chain(row(4, 5000)).chain(row(5, 3)).collect();
        let mut expected = words.clone();
        expected.sort_unstable();
        assert_eq!(sorted(&words, 6, &mut FlipSorter::default()), expected);
    }
}
