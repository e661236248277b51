//! AVX-512F: registers of sixteen lanes and masks in registers of their own. Only the sweeps are
//! written for any number of lanes; everything else runs as at the level of AVX2.

use std::arch::x86_64::*;

use super::vector::{Mask, Vector};
use crate::pair::Pair;

/// Proof that the processor has AVX-512F and all that the level of AVX2 has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Avx512 {
        Avx512(())
    }
}

impl Mask for __mmask16 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Register(__m512i);

// SAFETY, for every block below: a register is made from a proof of AVX-512F. Loads and stores
// need no alignment; the caller vouches for the memory.

impl Vector for Register {
    type Proof = Avx512;
    type Mask = __mmask16;
    const LANES: usize = 16;

    #[inline(always)]
    fn splat(_: Avx512, lane: u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_set1_epi32(lane as i32) })
    }
    #[inline(always)]
    unsafe fn load(_: Avx512, from: *const u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm512_loadu_si512(from.cast()) })
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe {
            let (one, other) = (_mm512_castsi512_ps(self.0), _mm512_castsi512_ps(other.0));
            _mm512_cmp_ps_mask::<_CMP_LE_OQ>(one, other)
        }
    }
    #[inline(always)]
    fn disjoint(self, other: Self) -> __mmask16 {
        // SAFETY: see above.
        unsafe { _mm512_testn_epi32_mask(self.0, other.0) }
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        // SAFETY: see above; a pair is two words, the smaller id first.
        unsafe {
            let ids = _mm512_maskz_compress_epi32(hits as __mmask16, self.0);
            let (small, large) = (_mm512_min_epu32(ids, id.0), _mm512_max_epu32(ids, id.0));
            let first = interleave(_mm512_castsi512_si256(small), _mm512_castsi512_si256(large));
            _mm512_storeu_si512(out.cast(), first);
            if hits.count_ones() > 8 {
                let small = _mm512_extracti64x4_epi64::<1>(small);
                let large = _mm512_extracti64x4_epi64::<1>(large);
                _mm512_storeu_si512(out.add(8).cast(), interleave(small, large));
            }
        }
    }
}

/// Eight pairs from their two halves.
///
/// # Safety
/// The processor has AVX-512F.
#[inline(always)]
unsafe fn interleave(small: __m256i, large: __m256i) -> __m512i {
    // SAFETY: the caller vouches for the instructions.
    unsafe {
        let large = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(large));
        _mm512_or_si512(_mm512_cvtepu32_epi64(small), large)
    }
}
