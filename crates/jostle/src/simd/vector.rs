//! What an instruction set has to offer: the traits that the kernels are written over.
//!
//! A register holds 32-bit lanes without a type of their own; operations say whether they take
//! them as `f32`, `i32` or `u32`. Comparisons set all bits of a lane or none. Every operation
//! gives the same bits at every level, NaN and the sign of zero included.
//!
//! Registers are made from a proof that the processor has the instructions, so their methods
//! are safe to call. All of them have to be `#[inline(always)]`: then they are compiled with the
//! instruction set of the function that runs the kernel, and a vector never goes through memory.

use crate::aabb::Aabb;
use crate::pair::Pair;
use glam::Vec4;

/// Proof that the processor has an instruction set, and the registers that it works with.
pub(crate) trait Simd: Copy + Send + Sync {
    type Eight: Eight<Proof = Self>;
    type Doubles: Doubles<Proof = Self>;
}

/// Which lanes passed a comparison.
pub(crate) trait Mask: Copy {
    fn and(self, other: Self) -> Self;

    /// Bit `k` is that of lane `k`.
    fn bits(self) -> u32;
}

/// A register of eight lanes or more: what sweeps over many boxes need.
pub(crate) trait Vector: Copy {
    type Proof: Copy;
    type Mask: Mask;
    const LANES: usize;

    fn splat(proof: Self::Proof, lane: u32) -> Self;

    /// # Safety
    /// `LANES` words are readable; they need not be aligned.
    unsafe fn load(proof: Self::Proof, from: *const u32) -> Self;

    /// Lanes that are at most those of `other`, as `f32`; false for NaN.
    fn le_f32(self, other: Self) -> Self::Mask;

    /// Lanes that have no bit in common with those of `other`.
    fn disjoint(self, other: Self) -> Self::Mask;

    /// Writes the pairs of `id`, the same in all lanes, with the lanes that the lowest `LANES`
    /// bits of `hits` name, in order, and nothing meaningful after them.
    ///
    /// # Safety
    /// `LANES` pairs may be written.
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair);
}

/// A register of eight lanes with all that trees and sorting networks need.
pub(crate) trait Eight: Vector<Mask = Self> + Mask {
    /// # Safety
    /// Eight words may be written; they need not be aligned.
    unsafe fn store(self, to: *mut u32);

    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;

    /// The bits that are not set in `other`.
    fn and_not(self, other: Self) -> Self;

    /// Lanes of `other` if the lane of `mask` is set, of this register if not.
    fn choose(self, other: Self, mask: Self) -> Self;

    fn gt_i32(self, other: Self) -> Self;
    fn eq_i32(self, other: Self) -> Self;

    /// Lanes that are not equal, as `f32`; true for NaN.
    fn ne_f32(self, other: Self) -> Self;

    /// Sums, differences, products, quotients and roots of `f32`, rounded after each operation.
    fn add_f32(self, other: Self) -> Self;
    fn sub_f32(self, other: Self) -> Self;
    fn mul_f32(self, other: Self) -> Self;
    fn div_f32(self, other: Self) -> Self;
    fn sqrt_f32(self) -> Self;

    /// Eight words of 16 bits as `f32`.
    ///
    /// # Safety
    /// Eight words are readable; they need not be aligned.
    unsafe fn widen(proof: Self::Proof, from: *const u16) -> Self;

    /// `self < other ? self : other` in each lane, as `f32`: `other` for NaN.
    fn min_f32(self, other: Self) -> Self;

    /// `self > other ? self : other` in each lane, as `f32`: `other` for NaN.
    fn max_f32(self, other: Self) -> Self;

    /// The smallest lane as `f32`, infinity if all are NaN.
    fn least_f32(self, proof: Self::Proof) -> f32;

    /// The largest lane as `f32`, minus infinity if all are NaN.
    fn largest_f32(self, proof: Self::Proof) -> f32;

    /// Lane `i` is what was in lane `i ^ LANE`, which is 1, 2, 3, 4 or 7.
    fn partner<const LANE: usize>(self) -> Self;

    /// Lane `i` is what was in lane `(i + BY) % 8`, for `BY` from 1 to 4.
    fn rotate<const BY: usize>(self) -> Self;

    /// The bounds of eight boxes, a register for each of the six numbers of a box: least x, y, z,
    /// largest x, y, z.
    #[inline(always)]
    fn bounds_of(proof: Self::Proof, boxes: [&Aabb; 8]) -> [Self; 6] {
        std::array::from_fn(|number| {
            let lanes = boxes.map(|aabb| match number {
                0..3 => aabb.min[number].to_bits(),
                _ => aabb.max[number - 3].to_bits(),
            });
            // SAFETY: eight words are readable.
            unsafe { Self::load(proof, lanes.as_ptr()) }
        })
    }

    /// Lane `i` is what was in the lane that the three lowest bits of lane `i` of `lanes` name.
    fn pick(self, proof: Self::Proof, lanes: Self) -> Self;

    /// Writes `base` plus the number of each lane that the lowest eight bits of `mask` name, in
    /// order, and nothing meaningful after them.
    ///
    /// # Safety
    /// Eight words may be written.
    unsafe fn write_places(proof: Self::Proof, mask: u32, base: u32, out: *mut u32);

    /// The first bytes of a word, moved up to the places of the lanes that the lowest eight bits of
    /// `mask` name, in order; the other bytes are zero.
    #[inline(always)]
    fn spread_bytes(_: Self::Proof, word: u64, mask: u32) -> u64 {
        let (mut spread, mut rest) = (0, word);
        for lane in (0..8).filter(|lane| mask >> lane & 1 == 1) {
            spread |= (rest & 0xff) << (8 * lane);
            rest >>= 8;
        }
        spread
    }
}

/// A register, or several, of four `f64`.
pub(crate) trait Doubles: Copy {
    type Proof: Copy;

    fn splat(proof: Self::Proof, value: f64) -> Self;

    /// # Safety
    /// Four values are readable; they need not be aligned.
    unsafe fn load(proof: Self::Proof, from: *const f64) -> Self;

    /// Three values, and zero.
    fn three(proof: Self::Proof, values: &[f64; 3]) -> Self;

    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn abs(self) -> Self;

    /// Returns true if no lane is greater than that of `other`; false for NaN.
    fn all_le(self, other: Self) -> bool;

    /// The sum of the lanes, of even and odd ones first.
    fn sum(self) -> f64;

    /// The lanes rounded to `f32`.
    fn to_f32(self) -> Vec4;

    /// The lane of this register if it is greater, of `other` if not; `other` for NaN.
    fn max(self, other: Self) -> Self;

    /// Bit `k` is set if lane `k` is equal in both.
    fn eq_bits(self, other: Self) -> u32;

    /// The largest lane, in all lanes; any number if one is NaN.
    fn largest(self) -> Self;

    fn first(self) -> f64;
}

/// For each set of `N` lanes their numbers in ascending order: what most instruction sets have
/// no instruction for.
#[allow(dead_code, reason = "targets with portable code alone need no table")]
pub(crate) const fn packed_lanes<const N: usize, const SETS: usize>() -> [[u8; N]; SETS] {
    let mut table = [[0; N]; SETS];
    let mut set = 0;
    while set < SETS {
        let (mut lane, mut count) = (0, 0);
        while lane < N {
            if set >> lane & 1 == 1 {
                table[set][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
}

/// For each set of eight lanes, which byte of a word goes to each lane in
/// [`Eight::spread_bytes`], as a byte shuffle wants it: with the highest bit set, none.
#[allow(dead_code, reason = "only some targets have a byte shuffle")]
pub(crate) const fn spread_lanes() -> [[u8; 8]; 256] {
    let mut table = [[0x80; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < 8 {
            if set >> lane & 1 == 1 {
                table[set][lane] = count;
                count += 1;
            }
            lane += 1;
        }
        set += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Level};
    use super::*;

    struct Spread(u64, u32);

    impl Kernel for Spread {
        type Output = u64;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> u64 {
            S::Eight::spread_bytes(simd, self.0, self.1)
        }
    }

    #[test]
    fn bytes_go_to_the_lanes_of_a_mask_at_every_level() {
        let word = 0x8877_6655_4433_2211_u64;
        assert_eq!(Level::available()[0].run(Spread(word, 0b1001_0010)), 0x3300_0022_0000_1100);
        for level in Level::available() {
            for mask in 0..512u32 {
                let mut bytes = word.to_le_bytes().into_iter();
                let expected: [u8; 8] = std::array::from_fn(|lane| match mask >> lane & 1 {
                    1 => bytes.next().unwrap(),
                    _ => 0,
                });
                let found = level.run(Spread(word, mask));
                assert_eq!(found, u64::from_le_bytes(expected), "{level:?} {mask:b}");
            }
        }
    }

    struct All([f64; 3], [f64; 3]);

    impl Kernel for All {
        type Output = ([u64; 4], [u32; 12], [bool; 2]);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let (a, b) = (S::Doubles::three(simd, &self.0), S::Doubles::three(simd, &self.1));
            let one = S::Doubles::splat(simd, 1.5);
            let sums = [a.sum(), a.sub(b).sum(), a.div(b.add(one)).sum(), a.abs().sum()];
            let narrow = [a.to_f32(), a.sub(b).to_f32(), a.mul(b).to_f32()];
            let mut bits = [0; 12];
            for k in 0..12 {
                bits[k] = narrow[k / 4][k % 4].to_bits();
            }
            (sums.map(f64::to_bits), bits, [a.all_le(b), a.abs().all_le(a.abs().largest())])
        }
    }

    #[test]
    fn doubles_are_the_same_at_every_level() {
        let mut state = 3u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let mut below = 0;
        for round in 0..500 {
            let (a, b) = ([(); 3].map(|()| number()), [(); 3].map(|()| number()));
            let b = if round % 2 == 0 { b.map(|at| at + 1.0) } else { b };
            let (sums, narrow, told) = Level::available()[0].run(All(a, b));
            for level in Level::available() {
                assert_eq!(level.run(All(a, b)), (sums, narrow, told), "{level:?} {a:?} {b:?}");
            }
            assert_eq!(f64::from_bits(sums[0]), (a[0] + a[2]) + a[1]);
            assert_eq!(f32::from_bits(narrow[5]), (a[1] - b[1]) as f32);
            assert_eq!(told, [a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2], true]);
            below += usize::from(told[0]);
            for bad in 0..3 {
                let mut a = a;
                a[bad] = f64::NAN;
                for level in Level::available() {
                    assert_eq!(level.run(All(a, b)).2, [false; 2], "{level:?}");
                }
            }
        }
        assert!((50..450).contains(&below), "{below}");
    }
}
