//! [`Twice`]: eight lanes as two registers of four, for instruction sets whose registers are
//! that long. [`Quad`] is what such a set has to offer.

use super::vector::{Eight, Mask, Vector};
use crate::pair::Pair;

/// A register of four lanes; as [`Vector`] and [`Eight`], method by method.
pub(crate) trait Quad: Copy {
    type Proof: Copy;

    fn splat(proof: Self::Proof, lane: u32) -> Self;
    /// # Safety
    /// Four words are readable.
    unsafe fn load(proof: Self::Proof, from: *const u32) -> Self;
    /// # Safety
    /// Four words may be written.
    unsafe fn store(self, to: *mut u32);
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn and_not(self, other: Self) -> Self;
    fn choose(self, other: Self, mask: Self) -> Self;
    fn bits(self) -> u32;
    fn gt_i32(self, other: Self) -> Self;
    fn eq_i32(self, other: Self) -> Self;
    fn le_f32(self, other: Self) -> Self;
    fn ne_f32(self, other: Self) -> Self;
    fn add_f32(self, other: Self) -> Self;
    fn sub_f32(self, other: Self) -> Self;
    fn mul_f32(self, other: Self) -> Self;
    fn div_f32(self, other: Self) -> Self;
    fn sqrt_f32(self) -> Self;
    /// # Safety
    /// Four words of 16 bits are readable.
    unsafe fn widen(proof: Self::Proof, from: *const u16) -> Self;
    /// `self < other ? self : other` in each lane.
    fn min_f32(self, other: Self) -> Self;
    /// `self > other ? self : other` in each lane.
    fn max_f32(self, other: Self) -> Self;
    /// Lane `i` is what was in lane `i ^ LANE`, which is 1, 2 or 3.
    fn partner<const LANE: usize>(self) -> Self;
    /// Lanes `BY..BY + 4` of this register followed by `next`, for `BY` from 1 to 3.
    fn shift_in<const BY: usize>(self, next: Self) -> Self;
    /// # Safety
    /// Four pairs may be written.
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair);
    /// # Safety
    /// Four words may be written.
    unsafe fn write_places(proof: Self::Proof, mask: u32, base: u32, out: *mut u32);
}

/// Eight lanes: the first four, then the others.
#[derive(Clone, Copy)]
pub(crate) struct Twice<Q>(Q, Q);

impl<Q: Quad> Twice<Q> {
    #[inline(always)]
    fn with(self, other: Self, operation: impl Fn(Q, Q) -> Q) -> Self {
        Twice(operation(self.0, other.0), operation(self.1, other.1))
    }

    /// One lane of the result after the other; scalar code takes as long as shuffles here.
    #[inline(always)]
    fn fold(halves: Q, operation: impl Fn(f32, f32) -> f32) -> f32 {
        let mut lanes = [0; 4];
        // SAFETY: there is room for four words.
        unsafe { halves.store(lanes.as_mut_ptr()) };
        let [a, b, c, d] = lanes.map(f32::from_bits);
        operation(operation(a, c), operation(b, d))
    }
}

impl<Q: Quad> Mask for Twice<Q> {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.with(other, Q::and)
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0.bits() | self.1.bits() << 4
    }
}

impl<Q: Quad> Vector for Twice<Q> {
    type Proof = Q::Proof;
    type Mask = Self;
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(proof: Q::Proof, lane: u32) -> Self {
        let all = Q::splat(proof, lane);
        Twice(all, all)
    }
    #[inline(always)]
    unsafe fn load(proof: Q::Proof, from: *const u32) -> Self {
        // SAFETY: the caller vouches for eight words.
        unsafe { Twice(Q::load(proof, from), Q::load(proof, from.add(4))) }
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        self.with(other, Q::le_f32)
    }
    #[inline(always)]
    fn disjoint(self, other: Self) -> Self {
        // No lane of `x & !x` has a bit set.
        let both = self.and(other);
        both.eq_i32(both.and_not(both))
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        let (first, second) = (hits & 0xf, hits >> 4 & 0xf);
        // SAFETY: the caller vouches for eight pairs; at most four come from the first half.
        unsafe {
            self.0.write_pairs(id.0, first, out);
            self.1.write_pairs(id.1, second, out.add(first.count_ones() as usize));
        }
    }
}

impl<Q: Quad> Eight for Twice<Q> {
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller vouches for eight words.
        unsafe {
            self.0.store(to);
            self.1.store(to.add(4));
        }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.with(other, Q::or)
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.with(other, Q::xor)
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        self.with(other, Q::and_not)
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        Twice(self.0.choose(other.0, mask.0), self.1.choose(other.1, mask.1))
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        self.with(other, Q::gt_i32)
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        self.with(other, Q::eq_i32)
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        self.with(other, Q::ne_f32)
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        self.with(other, Q::add_f32)
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        self.with(other, Q::sub_f32)
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        self.with(other, Q::mul_f32)
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        self.with(other, Q::div_f32)
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        Twice(self.0.sqrt_f32(), self.1.sqrt_f32())
    }
    #[inline(always)]
    unsafe fn widen(proof: Q::Proof, from: *const u16) -> Self {
        // SAFETY: the caller vouches for eight words.
        unsafe { Twice(Q::widen(proof, from), Q::widen(proof, from.add(4))) }
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        self.with(other, Q::min_f32)
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        self.with(other, Q::max_f32)
    }
    #[inline(always)]
    fn least_f32(self, proof: Q::Proof) -> f32 {
        let most = Q::splat(proof, f32::INFINITY.to_bits());
        let halves = self.0.min_f32(most).min_f32(self.1.min_f32(most));
        Self::fold(halves, |one, other| if one < other { one } else { other })
    }
    #[inline(always)]
    fn largest_f32(self, proof: Q::Proof) -> f32 {
        let least = Q::splat(proof, f32::NEG_INFINITY.to_bits());
        let halves = self.0.max_f32(least).max_f32(self.1.max_f32(least));
        Self::fold(halves, |one, other| if one > other { one } else { other })
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        match LANE {
            4 => Twice(self.1, self.0),
            7 => Twice(self.1.partner::<3>(), self.0.partner::<3>()),
            _ => Twice(self.0.partner::<LANE>(), self.1.partner::<LANE>()),
        }
    }
    #[inline(always)]
    fn rotate<const BY: usize>(self) -> Self {
        match BY {
            4 => Twice(self.1, self.0),
            _ => Twice(self.0.shift_in::<BY>(self.1), self.1.shift_in::<BY>(self.0)),
        }
    }
    #[inline(always)]
    fn pick(self, proof: Q::Proof, lanes: Self) -> Self {
        let (mut values, mut places) = ([0u32; 8], [0u32; 8]);
        // SAFETY: there is room for eight words.
        unsafe {
            self.store(values.as_mut_ptr());
            lanes.store(places.as_mut_ptr());
        }
        let mut picked = [0u32; 8];
        for lane in 0..8 {
            picked[lane] = values[places[lane] as usize % 8];
        }
        // SAFETY: eight words are readable.
        unsafe { Self::load(proof, picked.as_ptr()) }
    }
    #[inline(always)]
    unsafe fn write_places(proof: Q::Proof, mask: u32, base: u32, out: *mut u32) {
        let (first, second) = (mask & 0xf, mask >> 4 & 0xf);
        // SAFETY: the caller vouches for eight words; at most four come from the first half.
        unsafe {
            Q::write_places(proof, first, base, out);
            let out = out.add(first.count_ones() as usize);
            Q::write_places(proof, second, base.wrapping_add(4), out);
        }
    }
}
