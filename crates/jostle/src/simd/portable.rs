//! Plain Rust, for processors without an instruction set of their own here, and the measure of
//! the others: arrays of four lanes, which compilers turn into whatever vectors there are.

use std::array::from_fn;
use std::marker::PhantomData;

use super::twice::{Quad, Twice};
use super::vector::{Doubles, Simd};
use crate::pair::Pair;
use glam::Vec4;

/// Nothing needs to be proved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Simd for Portable {
    type Eight = Twice<Plain>;
    type Doubles = FourPlain<Portable>;
}

#[derive(Clone, Copy)]
pub(crate) struct Plain([u32; 4]);

impl Plain {
    #[inline(always)]
    fn with(self, other: Self, operation: impl Fn(u32, u32) -> u32) -> Self {
        Plain(from_fn(|lane| operation(self.0[lane], other.0[lane])))
    }

    /// All bits of a lane set, or none.
    #[inline(always)]
    fn compare(self, other: Self, holds: impl Fn(u32, u32) -> bool) -> Self {
        self.with(other, |one, other| u32::from(holds(one, other)).wrapping_neg())
    }
}

impl Quad for Plain {
    type Proof = Portable;

    #[inline(always)]
    fn splat(_: Portable, lane: u32) -> Self {
        Plain([lane; 4])
    }
    #[inline(always)]
    unsafe fn load(_: Portable, from: *const u32) -> Self {
        // SAFETY: the caller vouches for four words.
        Plain(unsafe { from.cast::<[u32; 4]>().read_unaligned() })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller vouches for four words.
        unsafe { to.cast::<[u32; 4]>().write_unaligned(self.0) };
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, |one, other| one & other)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.with(other, |one, other| one | other)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.with(other, |one, other| one ^ other)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.with(other, |one, other| one & !other)
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        Plain(from_fn(|lane| if mask.0[lane] >> 31 == 1 { other.0[lane] } else { self.0[lane] }))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        let [a, b, c, d] = self.0.map(|lane| lane >> 31);
        a | b << 1 | c << 2 | d << 3
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        self.compare(other, |one, other| one as i32 > other as i32)
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        self.compare(other, |one, other| one == other)
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        self.compare(other, |one, other| f32::from_bits(one) <= f32::from_bits(other))
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        self.compare(other, |one, other| f32::from_bits(one) != f32::from_bits(other))
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        self.with(other, |one, other| (f32::from_bits(one) + f32::from_bits(other)).to_bits())
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        self.with(other, |one, other| (f32::from_bits(one) - f32::from_bits(other)).to_bits())
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        self.with(other, |one, other| (f32::from_bits(one) * f32::from_bits(other)).to_bits())
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        self.with(other, |one, other| (f32::from_bits(one) / f32::from_bits(other)).to_bits())
    }
    #[inline(always)]
    unsafe fn widen(_: Portable, from: *const u16) -> Self {
        // SAFETY: the caller vouches for four words of 16 bits.
        let words = unsafe { from.cast::<[u16; 4]>().read_unaligned() };
        Plain(words.map(|word| f32::from(word).to_bits()))
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        Plain(self.0.map(|lane| f32::from_bits(lane).sqrt().to_bits()))
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        let less = |one, other| f32::from_bits(one) < f32::from_bits(other);
        self.with(other, |one, other| if less(one, other) { one } else { other })
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        let greater = |one, other| f32::from_bits(one) > f32::from_bits(other);
        self.with(other, |one, other| if greater(one, other) { one } else { other })
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        Plain(from_fn(|lane| self.0[(lane ^ LANE) % 4]))
    }
    #[inline(always)]
    fn shift_in<const BY: usize>(self, next: Self) -> Self {
        Plain(from_fn(
            |lane| if lane + BY < 4 { self.0[lane + BY] } else { next.0[(lane + BY) % 4] },
        ))
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, mut hits: u32, mut out: *mut Pair) {
        while hits != 0 {
            let pair = Pair::from((id.0[0], self.0[hits.trailing_zeros() as usize % 4]));
            // SAFETY: the caller vouches for four pairs, one for each bit.
            unsafe {
                out.write(pair);
                out = out.add(1);
            }
            hits &= hits - 1;
        }
    }
    #[inline(always)]
    unsafe fn write_places(_: Portable, mut mask: u32, base: u32, mut out: *mut u32) {
        while mask != 0 {
            // SAFETY: the caller vouches for four words, one for each bit.
            unsafe {
                out.write(base.wrapping_add(mask.trailing_zeros()));
                out = out.add(1);
            }
            mask &= mask - 1;
        }
    }
}

/// Four doubles as an array, also for the instruction sets whose registers hold two: compilers
/// split the array themselves.
#[derive(Clone, Copy)]
pub(crate) struct FourPlain<P>([f64; 4], PhantomData<P>);

impl<P> FourPlain<P> {
    #[inline(always)]
    fn with(self, other: Self, operation: impl Fn(f64, f64) -> f64) -> Self {
        FourPlain(from_fn(|lane| operation(self.0[lane], other.0[lane])), PhantomData)
    }
}

#[inline(always)]
fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

impl<P: Copy> Doubles for FourPlain<P> {
    type Proof = P;

    #[inline(always)]
    fn splat(_: P, value: f64) -> Self {
        FourPlain([value; 4], PhantomData)
    }
    #[inline(always)]
    unsafe fn load(_: P, from: *const f64) -> Self {
        // SAFETY: the caller vouches for four values.
        FourPlain(unsafe { from.cast::<[f64; 4]>().read_unaligned() }, PhantomData)
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, |one, other| one + other)
    }
    #[inline(always)]
    fn three(_: P, values: &[f64; 3]) -> Self {
        FourPlain([values[0], values[1], values[2], 0.0], PhantomData)
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, |one, other| one - other)
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, |one, other| one * other)
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.with(other, |one, other| one / other)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        FourPlain(self.0.map(f64::abs), PhantomData)
    }
    #[inline(always)]
    fn all_le(self, other: Self) -> bool {
        (0..4).all(|lane| self.0[lane] <= other.0[lane])
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
    #[inline(always)]
    fn to_f32(self) -> Vec4 {
        let [a, b, c, d] = self.0;
        Vec4::new(a as f32, b as f32, c as f32, d as f32)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.with(other, larger)
    }
    #[inline(always)]
    fn eq_bits(self, other: Self) -> u32 {
        let equal: [u32; 4] = from_fn(|lane| u32::from(self.0[lane] == other.0[lane]));
        equal[0] | equal[1] << 1 | equal[2] << 2 | equal[3] << 3
    }
    #[inline(always)]
    fn largest(self) -> Self {
        let [a, b, c, d] = self.0;
        FourPlain([larger(larger(a, c), larger(b, d)); 4], PhantomData)
    }
    #[inline(always)]
    fn first(self) -> f64 {
        self.0[0]
    }
}
