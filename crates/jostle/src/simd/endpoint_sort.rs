//! Insertion sort of whole vectors, values with their ids, and the comparison of two orders.
//!
//! Values and ids are separate arrays of i32; an entry orders by value, then by id, so the sorted
//! order is one and only one even if values are equal. Two parts, as in Campbell's thesis:
//!
//! - **intravector**: the eight entries of a vector are put in order by a network of six
//!   comparisons in which each lane meets a partner;
//! - **intervector**: a vector moves left past those with larger entries. Passing one means to
//!   split the sixteen entries of both into the eight smallest and the eight largest, each in
//!   order again (a bitonic merge): one comparison with the other vector reversed, three within.
//!
//! The thesis runs the parts the other way round, with unordered vectors that are split by eight
//! rotations, and carries ids along by comparing the result with the input, which needs equal
//! values to be forced apart. With ordered vectors two lanes tell whether two vectors are in
//! order, and one look at an already sorted vector is enough.
//!
//! Every level takes the same steps.

use super::Kernel;
use super::vector::{Eight, Mask, Simd, Vector};

/// Entries in a vector.
pub(crate) const LANES: usize = 8;

/// What fills the arrays up to whole vectors, as value and as id: larger than any entry.
pub(crate) const PADDING: i32 = i32::MAX;

#[inline(always)]
fn load<S: Simd>(simd: S, from: &[i32]) -> S::Eight {
    let from = &from[..LANES];
    // SAFETY: eight lanes are readable.
    unsafe { S::Eight::load(simd, from.as_ptr().cast()) }
}

#[inline(always)]
fn store<V: Eight>(lanes: V, to: &mut [i32]) {
    let to = &mut to[..LANES];
    // SAFETY: there is room for eight lanes.
    unsafe { lanes.store(to.as_mut_ptr().cast()) }
}

/// Eight entries: values and ids.
#[derive(Clone, Copy)]
struct Entries<S: Simd> {
    simd: S,
    values: S::Eight,
    ids: S::Eight,
}

impl<S: Simd> Entries<S> {
    #[inline(always)]
    fn load(simd: S, values: &[i32], ids: &[i32], at: usize) -> Self {
        Entries { simd, values: load(simd, &values[at..]), ids: load(simd, &ids[at..]) }
    }

    #[inline(always)]
    fn store(self, values: &mut [i32], ids: &mut [i32], at: usize) {
        store(self.values, &mut values[at..]);
        store(self.ids, &mut ids[at..]);
    }

    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        let (values, ids) = (self.values.partner::<LANE>(), self.ids.partner::<LANE>());
        Entries { values, ids, ..self }
    }

    #[inline(always)]
    fn greater(self, other: Self) -> S::Eight {
        let tie = self.values.eq_i32(other.values).and(self.ids.gt_i32(other.ids));
        self.values.gt_i32(other.values).or(tie)
    }

    #[inline(always)]
    fn choose(self, other: Self, mask: S::Eight) -> Self {
        let values = self.values.choose(other.values, mask);
        let ids = self.ids.choose(other.ids, mask);
        Entries { values, ids, ..self }
    }

    /// Each lane and its partner: the smaller entry goes to the lane that is not in `upper`.
    #[inline(always)]
    fn compare<const LANE: usize>(self, upper: [i32; LANES]) -> Self {
        let partner = self.partner::<LANE>();
        self.choose(partner, self.greater(partner).xor(load(self.simd, &upper)))
    }

    /// Puts eight entries in order that first rise and then fall.
    #[inline(always)]
    fn merge(self) -> Self {
        self.compare::<4>([0, 0, 0, 0, -1, -1, -1, -1])
            .compare::<2>([0, 0, -1, -1, 0, 0, -1, -1])
            .compare::<1>([0, -1, 0, -1, 0, -1, 0, -1])
    }

    /// The intravector sort.
    #[inline(always)]
    fn sort(self) -> Self {
        self.compare::<1>([0, -1, 0, -1, 0, -1, 0, -1])
            .compare::<3>([0, 0, -1, -1, 0, 0, -1, -1])
            .compare::<1>([0, -1, 0, -1, 0, -1, 0, -1])
            .compare::<7>([0, 0, 0, 0, -1, -1, -1, -1])
            .compare::<2>([0, 0, -1, -1, 0, 0, -1, -1])
            .compare::<1>([0, -1, 0, -1, 0, -1, 0, -1])
    }

    /// The eight smallest and the eight largest entries of two ordered vectors, each in order.
    #[inline(always)]
    fn split(self, other: Self) -> (Self, Self) {
        let reversed = other.partner::<7>();
        let greater = self.greater(reversed);
        let low = self.choose(reversed, greater);
        let high = reversed.choose(self, greater);
        (low.merge(), high.merge())
    }
}

/// Sorts entries that are nearly in order. The length is a multiple of [`LANES`], filled up with
/// [`PADDING`]. Returns how often a vector passed another, or nothing if that happened more often
/// than `budget`; the entries are then all there but not in order.
pub(crate) fn sort(values: &mut [i32], ids: &mut [i32], budget: u64) -> Option<u64> {
    super::run(Sort { values, ids, budget })
}

/// Appends the places at which two arrays of whole vectors differ.
pub(crate) fn differences(one: &[i32], other: &[i32], found: &mut Vec<u32>) {
    super::run(Differences { one, other, found });
}

struct Sort<'a> {
    values: &'a mut [i32],
    ids: &'a mut [i32],
    budget: u64,
}

impl Kernel for Sort<'_> {
    type Output = Option<u64>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Option<u64> {
        let Sort { values, ids, budget } = self;
        assert!(values.len() == ids.len() && values.len().is_multiple_of(LANES));
        let mut splits = 0;
        if !values.is_empty() {
            Entries::load(simd, values, ids, 0).sort().store(values, ids, 0);
        }
        for start in (LANES..values.len()).step_by(LANES) {
            let entries = Entries::load(simd, values, ids, start);
            // Against the entries one place to the left: inside the vector and across its border.
            if Entries::load(simd, values, ids, start - 1).greater(entries).bits() == 0 {
                continue;
            }
            let mut moving = entries.sort();
            let mut at = start;
            moving.store(values, ids, at);
            while at > 0 && (values[at - 1], ids[at - 1]) > (values[at], ids[at]) {
                let (low, high) = Entries::load(simd, values, ids, at - LANES).split(moving);
                high.store(values, ids, at);
                at -= LANES;
                low.store(values, ids, at);
                moving = low;
                splits += 1;
            }
            if splits > budget {
                return None;
            }
        }
        Some(splits)
    }
}

struct Differences<'a> {
    one: &'a [i32],
    other: &'a [i32],
    found: &'a mut Vec<u32>,
}

impl Kernel for Differences<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Differences { one, other, found } = self;
        assert!(one.len() == other.len() && one.len().is_multiple_of(LANES));
        for start in (0..one.len()).step_by(LANES) {
            let equal = load(simd, &one[start..]).eq_i32(load(simd, &other[start..]));
            let mut bits = !equal.bits() & 0xff;
            while bits != 0 {
                found.push(start as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use proptest::prelude::*;

    /// An interpreter is slow.
    const ENTRIES: usize = if cfg!(miri) { 50 } else { 400 };

    fn padded(entries: &[(i32, i32)]) -> (Vec<i32>, Vec<i32>) {
        let length = entries.len().next_multiple_of(LANES);
        let mut values: Vec<i32> = entries.iter().map(|entry| entry.0).collect();
        let mut ids: Vec<i32> = entries.iter().map(|entry| entry.1).collect();
        values.resize(length, PADDING);
        ids.resize(length, PADDING);
        (values, ids)
    }

    proptest! {
        #[test]
        fn every_level_sorts_and_takes_the_same_steps(
            entries in prop::collection::vec((-20i32..20, any::<i32>()), 0..ENTRIES),
        ) {
            let mut expected = entries.clone();
            expected.sort_unstable();
            let (expected_values, expected_ids) = padded(&expected);
            let mut steps = None;
            for level in Level::available() {
                let (mut values, mut ids) = padded(&entries);
                let sort = Sort { values: &mut values, ids: &mut ids, budget: u64::MAX };
                let taken = level.run(sort);
                prop_assert_eq!((&values, &ids), (&expected_values, &expected_ids));
                prop_assert_eq!(taken, *steps.get_or_insert(taken), "{:?}", level);
            }
        }

        #[test]
        fn every_level_finds_the_same_differences(
            entries in prop::collection::vec((0i32..3, 0i32..3), 0..ENTRIES / 4),
        ) {
            let (one, other) = padded(&entries);
            let expected: Vec<u32> =
                (0..one.len()).filter(|&k| one[k] != other[k]).map(|k| k as u32).collect();
            for level in Level::available() {
                let mut found = Vec::new();
                level.run(Differences { one: &one, other: &other, found: &mut found });
                prop_assert_eq!(&found, &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn an_exhausted_budget_loses_no_entry() {
        let entries: Vec<(i32, i32)> = (0..ENTRIES as i32).map(|k| (-k, k)).collect();
        let (mut values, mut ids) = padded(&entries);
        assert_eq!(sort(&mut values, &mut ids, 10), None);
        let mut left: Vec<(i32, i32)> = values.into_iter().zip(ids).collect();
        left.sort_unstable();
        left.truncate(ENTRIES);
        assert!(left.iter().rev().zip(&entries).all(|(one, other)| one == other));
    }
}
