//! SSE4.1 with SSSE3 and POPCNT: registers of four lanes, for x86-64 without AVX2.

use std::arch::x86_64::*;

use super::portable::FourPlain;
use super::twice::{Quad, Twice};
use super::vector::{Simd, packed_lanes};
use crate::pair::Pair;

/// Proof that the processor has SSSE3, SSE4.1 and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sse4(());

impl Sse4 {
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Sse4 {
        Sse4(())
    }
}

impl Simd for Sse4 {
    type Eight = Twice<Register>;
    type Doubles = FourPlain<Sse4>;
}

static PACKED: [[u8; 4]; 16] = packed_lanes();

/// The numbers of the lanes that a mask names, in front.
#[inline(always)]
fn packed(_: Sse4, mask: u32) -> __m128i {
    let lanes = i32::from_le_bytes(PACKED[mask as usize % 16]);
    // SAFETY: the proof vouches for SSE4.1.
    unsafe { _mm_cvtepu8_epi32(_mm_cvtsi32_si128(lanes)) }
}

#[derive(Clone, Copy)]
pub(crate) struct Register(__m128i);

// SAFETY, for every block below: a register is made from a proof of SSE4.1. Loads and stores
// need no alignment; the caller vouches for the memory.

impl Register {
    #[inline(always)]
    fn floats(self) -> __m128 {
        // SAFETY: see above.
        unsafe { _mm_castsi128_ps(self.0) }
    }

    #[inline(always)]
    fn of(floats: __m128) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_castps_si128(floats) })
    }
}

impl Quad for Register {
    type Proof = Sse4;

    #[inline(always)]
    fn splat(_: Sse4, lane: u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_set1_epi32(lane as i32) })
    }
    #[inline(always)]
    unsafe fn load(_: Sse4, from: *const u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_loadu_si128(from.cast()) })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: see above.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_and_si128(self.0, other.0) })
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_or_si128(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_xor_si128(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_andnot_si128(other.0, self.0) })
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_blendv_epi8(self.0, other.0, mask.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        // SAFETY: see above.
        unsafe { _mm_movemask_ps(self.floats()) as u32 }
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_cmpgt_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm_cmpeq_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_cmple_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_cmpneq_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_add_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_sub_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_mul_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_div_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    unsafe fn widen(_: Sse4, from: *const u16) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_cvtepi32_ps(_mm_cvtepu16_epi32(_mm_loadl_epi64(from.cast()))) })
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_sqrt_ps(self.floats()) })
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_min_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register::of(unsafe { _mm_max_ps(self.floats(), other.floats()) })
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        // SAFETY: see above.
        Register(unsafe {
            match LANE {
                1 => _mm_shuffle_epi32::<0b10_11_00_01>(self.0),
                2 => _mm_shuffle_epi32::<0b01_00_11_10>(self.0),
                3 => _mm_shuffle_epi32::<0b00_01_10_11>(self.0),
                _ => unreachable!("four lanes have no other partner"),
            }
        })
    }
    #[inline(always)]
    fn shift_in<const BY: usize>(self, next: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe {
            match BY {
                1 => _mm_alignr_epi8::<4>(next.0, self.0),
                2 => _mm_alignr_epi8::<8>(next.0, self.0),
                3 => _mm_alignr_epi8::<12>(next.0, self.0),
                _ => unreachable!("four lanes shift by one to three"),
            }
        })
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        // SAFETY: see above; a pair is two words, the smaller id first. The bytes of lane `k`
        // are `4 k` to `4 k + 3`.
        unsafe {
            let first_bytes = _mm_mullo_epi32(packed(Sse4(()), hits), _mm_set1_epi32(0x0404_0404));
            let bytes = _mm_add_epi32(first_bytes, _mm_set1_epi32(0x0302_0100));
            let ids = _mm_shuffle_epi8(self.0, bytes);
            let (small, large) = (_mm_min_epu32(ids, id.0), _mm_max_epu32(ids, id.0));
            let out: *mut __m128i = out.cast();
            _mm_storeu_si128(out, _mm_unpacklo_epi32(small, large));
            _mm_storeu_si128(out.add(1), _mm_unpackhi_epi32(small, large));
        }
    }
    #[inline(always)]
    unsafe fn write_places(proof: Sse4, mask: u32, base: u32, out: *mut u32) {
        // SAFETY: see above.
        unsafe {
            let places = _mm_add_epi32(packed(proof, mask), _mm_set1_epi32(base as i32));
            _mm_storeu_si128(out.cast(), places);
        }
    }
}
