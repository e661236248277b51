//! WebAssembly's vectors: registers of four lanes, if the crate is compiled for them.

use std::arch::wasm32::*;

use super::portable::FourPlain;
use super::twice::{Quad, Twice};
use super::vector::{Simd, packed_lanes};
use crate::pair::Pair;

/// Proof of the instructions: a module with them is refused by machines that lack them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd128;

impl Simd for Simd128 {
    type Eight = Twice<Register>;
    type Doubles = FourPlain<Simd128>;
}

static PACKED: [[u8; 4]; 16] = packed_lanes();

/// The numbers of the lanes that a mask names, in front.
#[inline(always)]
fn packed(mask: u32) -> v128 {
    let lanes = u32::from_le_bytes(PACKED[mask as usize % 16]);
    u32x4_extend_low_u16x8(u16x8_extend_low_u8x16(u32x4_splat(lanes)))
}

#[derive(Clone, Copy)]
pub(crate) struct Register(v128);

impl Quad for Register {
    type Proof = Simd128;

    #[inline(always)]
    fn splat(_: Simd128, lane: u32) -> Self {
        Register(u32x4_splat(lane))
    }
    #[inline(always)]
    unsafe fn load(_: Simd128, from: *const u32) -> Self {
        // SAFETY: the caller vouches for four words; no alignment is needed.
        Register(unsafe { v128_load(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller vouches for four words; no alignment is needed.
        unsafe { v128_store(to.cast(), self.0) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Register(v128_and(self.0, other.0))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Register(v128_or(self.0, other.0))
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Register(v128_xor(self.0, other.0))
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        Register(v128_andnot(self.0, other.0))
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        Register(v128_bitselect(other.0, self.0, mask.0))
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(u32x4_bitmask(self.0))
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        Register(i32x4_gt(self.0, other.0))
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        Register(i32x4_eq(self.0, other.0))
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        Register(f32x4_le(self.0, other.0))
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        Register(f32x4_ne(self.0, other.0))
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        Register(f32x4_add(self.0, other.0))
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        Register(f32x4_sub(self.0, other.0))
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        Register(f32x4_mul(self.0, other.0))
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        Register(f32x4_div(self.0, other.0))
    }
    #[inline(always)]
    unsafe fn widen(_: Simd128, from: *const u16) -> Self {
        // SAFETY: the caller vouches for four words of 16 bits; no alignment is needed.
        Register(f32x4_convert_u32x4(unsafe { u32x4_load_extend_u16x4(from.cast()) }))
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        Register(f32x4_sqrt(self.0))
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        // The instruction is `second < first ? second : first`.
        Register(f32x4_pmin(other.0, self.0))
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        // The instruction is `first < second ? second : first`.
        Register(f32x4_pmax(other.0, self.0))
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        Register(match LANE {
            1 => u32x4_shuffle::<1, 0, 3, 2>(self.0, self.0),
            2 => u32x4_shuffle::<2, 3, 0, 1>(self.0, self.0),
            3 => u32x4_shuffle::<3, 2, 1, 0>(self.0, self.0),
            _ => unreachable!("four lanes have no other partner"),
        })
    }
    #[inline(always)]
    fn shift_in<const BY: usize>(self, next: Self) -> Self {
        Register(match BY {
            1 => u32x4_shuffle::<1, 2, 3, 4>(self.0, next.0),
            2 => u32x4_shuffle::<2, 3, 4, 5>(self.0, next.0),
            3 => u32x4_shuffle::<3, 4, 5, 6>(self.0, next.0),
            _ => unreachable!("four lanes shift by one to three"),
        })
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        // The bytes of lane `k` are `4 k` to `4 k + 3`.
        let first_bytes = u32x4_mul(packed(hits), u32x4_splat(0x0404_0404));
        let bytes = u32x4_add(first_bytes, u32x4_splat(0x0302_0100));
        let ids = u8x16_swizzle(self.0, bytes);
        let (small, large) = (u32x4_min(ids, id.0), u32x4_max(ids, id.0));
        let out: *mut v128 = out.cast();
        // SAFETY: the caller vouches for four pairs; a pair is two words, the smaller id first.
        unsafe {
            v128_store(out, u32x4_shuffle::<0, 4, 1, 5>(small, large));
            v128_store(out.add(1), u32x4_shuffle::<2, 6, 3, 7>(small, large));
        }
    }
    #[inline(always)]
    unsafe fn write_places(_: Simd128, mask: u32, base: u32, out: *mut u32) {
        let places = u32x4_add(packed(mask), u32x4_splat(base));
        // SAFETY: the caller vouches for four words.
        unsafe { v128_store(out.cast(), places) }
    }
}
