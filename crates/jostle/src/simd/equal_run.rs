//! How far two lists of pairs are equal, eight pairs at a time.

use super::Simd;
use super::vector::{Eight, Mask, Vector};
use crate::pair::Pair;

/// Number of pairs in a block.
pub(crate) const BLOCK: usize = 8;

/// Number of pairs before the first that differs; [`BLOCK`] if all are equal.
#[inline(always)]
pub(crate) fn equal_run<S: Simd>(simd: S, one: &[Pair; BLOCK], other: &[Pair; BLOCK]) -> usize {
    let half = |list: &[Pair; BLOCK], from: usize| {
        let four: &[Pair] = &list[from..from + BLOCK / 2];
        // SAFETY: four pairs are eight words.
        unsafe { S::Eight::load(simd, four.as_ptr().cast()) }
    };
    let equal = |from: usize| half(one, from).eq_i32(half(other, from)).bits();
    let words = equal(0) | equal(BLOCK / 2) << 8;
    (!words).trailing_zeros() as usize / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, Level};

    struct Run<'a>(&'a [Pair; BLOCK], &'a [Pair; BLOCK]);

    impl Kernel for Run<'_> {
        type Output = usize;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> usize {
            equal_run(simd, self.0, self.1)
        }
    }

    /// Differences in the first or the second number, at every place, with others behind them.
    #[test]
    fn every_level_finds_the_first_difference() {
        let list: [Pair; BLOCK] = std::array::from_fn(|k| Pair::from((k as u32, 100 + k as u32)));
        for level in Level::available() {
            assert_eq!(level.run(Run(&list, &list)), BLOCK, "{level:?}");
            for place in 0..BLOCK {
                for later in place..BLOCK {
                    let mut other = list;
                    other[place] = Pair::from((place as u32, 7_000_000 + place as u32));
                    assert_eq!(level.run(Run(&list, &other)), place, "{level:?}");
                    other[later] = Pair::from((50, 100 + later as u32));
                    assert_eq!(level.run(Run(&other, &list)), place, "{level:?}");
                }
            }
        }
    }
}
