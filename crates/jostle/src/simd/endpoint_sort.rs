//! Insertion sort of whole vectors, values with their ids, and the comparison of two orders.
//!
//! Values and ids are separate arrays of i32; an entry orders by value, then by id, so the sorted
//! order is one and only one even where values are equal. Two parts, as in Campbell's thesis:
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
//! The code is written once over [`Eight`] and compiled for AVX2 and for plain arrays; both take
//! the same steps.

/// Entries in a vector.
pub(crate) const LANES: usize = 8;

/// What fills the arrays up to whole vectors, as value and as id: larger than any entry.
pub(crate) const PADDING: i32 = i32::MAX;

/// Eight i32.
trait Eight: Copy {
    fn load(from: &[i32]) -> Self;
    fn store(self, to: &mut [i32]);
    /// Lane `i` is what was in lane `i ^ LANE`.
    fn partner<const LANE: usize>(self) -> Self;
    /// All bits of a lane set where this one is greater.
    fn greater(self, other: Self) -> Self;
    /// All bits of a lane set where both are equal.
    fn equal(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// Lanes of `other` where the bits of `mask` are set, of this one elsewhere.
    fn choose(self, other: Self, mask: Self) -> Self;
    /// One bit for each lane whose top bit is set.
    fn bits(self) -> u32;
    fn lanes(lanes: [i32; LANES]) -> Self;
}

impl Eight for [i32; LANES] {
    #[inline(always)]
    fn load(from: &[i32]) -> Self {
        from[..LANES].try_into().expect("eight lanes")
    }
    #[inline(always)]
    fn store(self, to: &mut [i32]) {
        to[..LANES].copy_from_slice(&self);
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        std::array::from_fn(|i| self[i ^ LANE])
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        std::array::from_fn(|i| -i32::from(self[i] > other[i]))
    }
    #[inline(always)]
    fn equal(self, other: Self) -> Self {
        std::array::from_fn(|i| -i32::from(self[i] == other[i]))
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] & other[i])
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] | other[i])
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] ^ other[i])
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        std::array::from_fn(|i| if mask[i] < 0 { other[i] } else { self[i] })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        (0..LANES).fold(0, |bits, i| bits | u32::from(self[i] < 0) << i)
    }
    #[inline(always)]
    fn lanes(lanes: [i32; LANES]) -> Self {
        lanes
    }
}

/// Eight entries: values and ids.
#[derive(Clone, Copy)]
struct Entries<V> {
    values: V,
    ids: V,
}

impl<V: Eight> Entries<V> {
    #[inline(always)]
    fn load(values: &[i32], ids: &[i32], at: usize) -> Self {
        Entries { values: V::load(&values[at..]), ids: V::load(&ids[at..]) }
    }

    #[inline(always)]
    fn store(self, values: &mut [i32], ids: &mut [i32], at: usize) {
        self.values.store(&mut values[at..]);
        self.ids.store(&mut ids[at..]);
    }

    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        Entries { values: self.values.partner::<LANE>(), ids: self.ids.partner::<LANE>() }
    }

    #[inline(always)]
    fn greater(self, other: Self) -> V {
        let tie = self.values.equal(other.values).and(self.ids.greater(other.ids));
        self.values.greater(other.values).or(tie)
    }

    #[inline(always)]
    fn choose(self, other: Self, mask: V) -> Self {
        Entries {
            values: self.values.choose(other.values, mask),
            ids: self.ids.choose(other.ids, mask),
        }
    }

    /// Each lane and its partner: the smaller entry goes to the lane that is not in `upper`.
    #[inline(always)]
    fn compare<const LANE: usize>(self, upper: [i32; LANES]) -> Self {
        let partner = self.partner::<LANE>();
        self.choose(partner, self.greater(partner).xor(V::lanes(upper)))
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

#[inline(always)]
fn sort_with<V: Eight>(values: &mut [i32], ids: &mut [i32], budget: u64) -> Option<u64> {
    assert!(values.len() == ids.len() && values.len().is_multiple_of(LANES));
    let mut splits = 0;
    if !values.is_empty() {
        Entries::<V>::load(values, ids, 0).sort().store(values, ids, 0);
    }
    for start in (LANES..values.len()).step_by(LANES) {
        let entries = Entries::<V>::load(values, ids, start);
        // Against the entries one place to the left: inside the vector and across its border.
        if Entries::<V>::load(values, ids, start - 1).greater(entries).bits() == 0 {
            continue;
        }
        let mut moving = entries.sort();
        let mut at = start;
        moving.store(values, ids, at);
        while at > 0 && (values[at - 1], ids[at - 1]) > (values[at], ids[at]) {
            let (low, high) = Entries::<V>::load(values, ids, at - LANES).split(moving);
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

#[inline(always)]
fn differences_with<V: Eight>(one: &[i32], other: &[i32], found: &mut Vec<u32>) {
    assert!(one.len() == other.len() && one.len().is_multiple_of(LANES));
    for start in (0..one.len()).step_by(LANES) {
        let equal = V::load(&one[start..]).equal(V::load(&other[start..]));
        let mut bits = !equal.bits() & 0xff;
        while bits != 0 {
            found.push(start as u32 + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
}

/// Sorts entries that are nearly in order. The length is a multiple of [`LANES`], filled up with
/// [`PADDING`]. Returns how often a vector passed another, or nothing where this happened more
/// often than `budget`; the entries are then all there but not in order.
pub(crate) fn sort(values: &mut [i32], ids: &mut [i32], budget: u64) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::sort(values, ids, budget) };
    }
    sort_with::<[i32; LANES]>(values, ids, budget)
}

/// Appends the places at which two arrays of whole vectors differ.
pub(crate) fn differences(one: &[i32], other: &[i32], found: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { avx2::differences(one, other, found) };
    }
    differences_with::<[i32; LANES]>(one, other, found);
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{Eight, LANES, differences_with, sort_with};

    /// Made only in functions that are compiled for AVX2, see [`sort`] and [`differences`].
    #[derive(Clone, Copy)]
    struct Avx2(__m256i);

    // SAFETY, for every block below: values of this type are made in this module only, from the
    // two functions at its end, whose callers have checked that the processor has AVX2. Loads and
    // stores go through slices whose length is checked first.
    impl Eight for Avx2 {
        #[inline(always)]
        fn load(from: &[i32]) -> Self {
            let from = &from[..LANES];
            // SAFETY: see above; eight lanes are there, and the load needs no alignment.
            Avx2(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
        }
        #[inline(always)]
        fn store(self, to: &mut [i32]) {
            let to = &mut to[..LANES];
            // SAFETY: see above; eight lanes are there, and the store needs no alignment.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
        }
        #[inline(always)]
        fn partner<const LANE: usize>(self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe {
                match LANE {
                    1 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                    2 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                    3 => _mm256_shuffle_epi32::<0b00_01_10_11>(self.0),
                    4 => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
                    7 => {
                        let halves = _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0);
                        _mm256_shuffle_epi32::<0b00_01_10_11>(halves)
                    }
                    _ => unreachable!("the networks use no other partner"),
                }
            })
        }
        #[inline(always)]
        fn greater(self, other: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_cmpgt_epi32(self.0, other.0) })
        }
        #[inline(always)]
        fn equal(self, other: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_cmpeq_epi32(self.0, other.0) })
        }
        #[inline(always)]
        fn and(self, other: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_and_si256(self.0, other.0) })
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_or_si256(self.0, other.0) })
        }
        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_xor_si256(self.0, other.0) })
        }
        #[inline(always)]
        fn choose(self, other: Self, mask: Self) -> Self {
            // SAFETY: see above.
            Avx2(unsafe { _mm256_blendv_epi8(self.0, other.0, mask.0) })
        }
        #[inline(always)]
        fn bits(self) -> u32 {
            // SAFETY: see above.
            unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self.0)) as u32 }
        }
        #[inline(always)]
        fn lanes(lanes: [i32; LANES]) -> Self {
            Avx2::load(&lanes)
        }
    }

    /// # Safety
    ///
    /// The processor must have AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn sort(values: &mut [i32], ids: &mut [i32], budget: u64) -> Option<u64> {
        sort_with::<Avx2>(values, ids, budget)
    }

    /// # Safety
    ///
    /// The processor must have AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn differences(one: &[i32], other: &[i32], found: &mut Vec<u32>) {
        differences_with::<Avx2>(one, other, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        fn both_instruction_sets_sort_and_take_the_same_steps(
            entries in prop::collection::vec((-20i32..20, any::<i32>()), 0..400),
        ) {
            let mut expected = entries.clone();
            expected.sort_unstable();
            let (expected_values, expected_ids) = padded(&expected);
            let (mut values, mut ids) = padded(&entries);
            let steps = sort(&mut values, &mut ids, u64::MAX);
            prop_assert_eq!((&values, &ids), (&expected_values, &expected_ids));
            let (mut values, mut ids) = padded(&entries);
            let plain = sort_with::<[i32; LANES]>(&mut values, &mut ids, u64::MAX);
            prop_assert_eq!((values, ids), (expected_values, expected_ids));
            prop_assert_eq!(steps, plain);
        }

        #[test]
        fn both_instruction_sets_find_the_same_differences(
            entries in prop::collection::vec((0i32..3, 0i32..3), 0..100),
        ) {
            let (one, other) = padded(&entries);
            let expected: Vec<u32> =
                (0..one.len()).filter(|&k| one[k] != other[k]).map(|k| k as u32).collect();
            let (mut found, mut plain) = (Vec::new(), Vec::new());
            differences(&one, &other, &mut found);
            differences_with::<[i32; LANES]>(&one, &other, &mut plain);
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&plain, &expected);
        }
    }

    #[test]
    fn an_exhausted_budget_loses_no_entry() {
        let entries: Vec<(i32, i32)> = (0..1000).map(|k| (-k, k)).collect();
        let (mut values, mut ids) = padded(&entries);
        assert_eq!(sort(&mut values, &mut ids, 10), None);
        let mut left: Vec<(i32, i32)> = values.into_iter().zip(ids).collect();
        left.sort_unstable();
        left.truncate(1000);
        assert!(left.iter().rev().zip(&entries).all(|(one, other)| one == other));
    }
}
