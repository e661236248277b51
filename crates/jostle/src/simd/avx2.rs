//! AVX2: registers of eight lanes.

use std::arch::x86_64::*;

use super::vector::{Doubles, Eight, Mask, Simd, Vector, packed_lanes, spread_lanes};
use crate::aabb::Aabb;
use crate::pair::Pair;
use glam::Vec4;

/// Proof that the processor has AVX2, BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// # Safety
    /// The processor has the instructions.
    #[inline(always)]
    pub(super) unsafe fn assume() -> Avx2 {
        Avx2(())
    }
}

impl Simd for Avx2 {
    type Eight = Register;
    type Doubles = FourDoubles;
}

static PACKED: [[u8; 8]; 256] = packed_lanes();
static SPREAD: [[u8; 8]; 256] = spread_lanes();

/// The numbers of the lanes that a mask names, in front.
#[inline(always)]
fn packed(_: Avx2, mask: u32) -> __m256i {
    let lanes = i64::from_le_bytes(PACKED[mask as usize % 256]);
    // SAFETY: the proof vouches for AVX2.
    unsafe { _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes)) }
}

#[derive(Clone, Copy)]
pub(crate) struct Register(__m256i);

// SAFETY, for every block below: a register is made from a proof of AVX2. Loads and stores need
// no alignment; the caller vouches for the memory.

impl Register {
    #[inline(always)]
    fn floats(self) -> __m256 {
        // SAFETY: see above.
        unsafe { _mm256_castsi256_ps(self.0) }
    }

    #[inline(always)]
    fn compare<const HOW: i32>(self, other: Self) -> Self {
        // SAFETY: see above.
        let lanes = unsafe { _mm256_cmp_ps::<HOW>(self.floats(), other.floats()) };
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(lanes) })
    }
}

impl Mask for Register {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_and_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        // SAFETY: see above.
        unsafe { _mm256_movemask_ps(self.floats()) as u32 }
    }
}

impl Vector for Register {
    type Proof = Avx2;
    type Mask = Self;
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(_: Avx2, lane: u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_set1_epi32(lane as i32) })
    }
    #[inline(always)]
    unsafe fn load(_: Avx2, from: *const u32) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_loadu_si256(from.cast()) })
    }
    #[inline(always)]
    fn le_f32(self, other: Self) -> Self {
        self.compare::<_CMP_LE_OQ>(other)
    }
    #[inline(always)]
    fn disjoint(self, other: Self) -> Self {
        // SAFETY: see above.
        let none = Register(unsafe { _mm256_setzero_si256() });
        self.and(other).eq_i32(none)
    }
    #[inline(always)]
    unsafe fn write_pairs(self, id: Self, hits: u32, out: *mut Pair) {
        // SAFETY: see above; a pair is two words, the smaller id first.
        unsafe {
            let ids = _mm256_permutevar8x32_epi32(self.0, packed(Avx2(()), hits));
            let (small, large) = (_mm256_min_epu32(ids, id.0), _mm256_max_epu32(ids, id.0));
            let even = _mm256_unpacklo_epi32(small, large);
            let odd = _mm256_unpackhi_epi32(small, large);
            let out: *mut __m256i = out.cast();
            _mm256_storeu_si256(out, _mm256_permute2x128_si256::<0x20>(even, odd));
            // Seldom, and so well predicted.
            if hits.count_ones() > 4 {
                _mm256_storeu_si256(out.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
            }
        }
    }
}

impl Eight for Register {
    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: see above.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_or_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_xor_si256(self.0, other.0) })
    }
    #[inline(always)]
    fn and_not(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_andnot_si256(other.0, self.0) })
    }
    #[inline(always)]
    fn choose(self, other: Self, mask: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_blendv_epi8(self.0, other.0, mask.0) })
    }
    #[inline(always)]
    fn gt_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_cmpgt_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn eq_i32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_cmpeq_epi32(self.0, other.0) })
    }
    #[inline(always)]
    fn ne_f32(self, other: Self) -> Self {
        self.compare::<_CMP_NEQ_UQ>(other)
    }
    #[inline(always)]
    fn add_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_add_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn sub_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_sub_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn mul_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_mul_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn div_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_div_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    unsafe fn widen(_: Avx2, from: *const u16) -> Self {
        // SAFETY: see above.
        Register(unsafe {
            let words = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            _mm256_castps_si256(_mm256_cvtepi32_ps(words))
        })
    }
    #[inline(always)]
    fn sqrt_f32(self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_sqrt_ps(self.floats())) })
    }
    #[inline(always)]
    fn min_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_min_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn max_f32(self, other: Self) -> Self {
        // SAFETY: see above.
        Register(unsafe { _mm256_castps_si256(_mm256_max_ps(self.floats(), other.floats())) })
    }
    #[inline(always)]
    fn least_f32(self, _: Avx2) -> f32 {
        // SAFETY: see above. If the first operand is NaN, the minimum is the second.
        unsafe {
            let all = _mm256_min_ps(self.floats(), _mm256_set1_ps(f32::INFINITY));
            let four = _mm_min_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
            let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
    #[inline(always)]
    fn largest_f32(self, _: Avx2) -> f32 {
        // SAFETY: see above. If the first operand is NaN, the maximum is the second.
        unsafe {
            let all = _mm256_max_ps(self.floats(), _mm256_set1_ps(f32::NEG_INFINITY));
            let four = _mm_max_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
            let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
    #[inline(always)]
    fn partner<const LANE: usize>(self) -> Self {
        // SAFETY: see above.
        Register(unsafe {
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
    fn rotate<const BY: usize>(self) -> Self {
        // SAFETY: see above. Only the lowest three bits of a lane's number count.
        Register(unsafe {
            let places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let places = _mm256_add_epi32(places, _mm256_set1_epi32(BY as i32));
            _mm256_permutevar8x32_epi32(self.0, places)
        })
    }
    #[inline(always)]
    fn bounds_of(_: Avx2, boxes: [&Aabb; 8]) -> [Self; 6] {
        // SAFETY: see above. A box is six numbers in a row: four from the first or the third are
        // in it.
        unsafe {
            let four = |lane: usize, first: usize| {
                let from =
                    |aabb: &Aabb| _mm_loadu_ps(std::ptr::from_ref(aabb).cast::<f32>().add(first));
                _mm256_set_m128(from(boxes[lane + 4]), from(boxes[lane]))
            };
            let one = [four(0, 0), four(1, 0), four(2, 0), four(3, 0)];
            let two = [four(0, 2), four(1, 2), four(2, 2), four(3, 2)];
            let xy = [_mm256_unpacklo_ps(one[0], one[1]), _mm256_unpacklo_ps(one[2], one[3])];
            let zx = [_mm256_unpackhi_ps(one[0], one[1]), _mm256_unpackhi_ps(one[2], one[3])];
            let yz = [_mm256_unpackhi_ps(two[0], two[1]), _mm256_unpackhi_ps(two[2], two[3])];
            let low = |pair: [__m256; 2]| _mm256_shuffle_ps::<0b01_00_01_00>(pair[0], pair[1]);
            let high = |pair: [__m256; 2]| _mm256_shuffle_ps::<0b11_10_11_10>(pair[0], pair[1]);
            [low(xy), high(xy), low(zx), high(zx), low(yz), high(yz)]
                .map(|row| Register(_mm256_castps_si256(row)))
        }
    }
    #[inline(always)]
    fn pick(self, _: Avx2, lanes: Self) -> Self {
        // SAFETY: see above. Only the lowest three bits of a lane's number count.
        Register(unsafe { _mm256_permutevar8x32_epi32(self.0, lanes.0) })
    }
    #[inline(always)]
    unsafe fn write_places(proof: Avx2, mask: u32, base: u32, out: *mut u32) {
        // SAFETY: see above.
        unsafe {
            let places = _mm256_add_epi32(packed(proof, mask), _mm256_set1_epi32(base as i32));
            _mm256_storeu_si256(out.cast(), places);
        }
    }
    #[inline(always)]
    fn spread_bytes(_: Avx2, word: u64, mask: u32) -> u64 {
        let lanes = i64::from_le_bytes(SPREAD[mask as usize % 256]);
        // SAFETY: see above. Not `pdep`, which takes hundreds of cycles on some processors.
        unsafe {
            let spread = _mm_shuffle_epi8(_mm_cvtsi64_si128(word as i64), _mm_cvtsi64_si128(lanes));
            _mm_cvtsi128_si64(spread) as u64
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct FourDoubles(__m256d);

impl Doubles for FourDoubles {
    type Proof = Avx2;

    #[inline(always)]
    fn splat(_: Avx2, value: f64) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_set1_pd(value) })
    }
    #[inline(always)]
    unsafe fn load(_: Avx2, from: *const f64) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_loadu_pd(from) })
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_add_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn three(_: Avx2, values: &[f64; 3]) -> Self {
        // Not by one masked load: the values have often just been written by two or three stores,
        // and a load over several waits until all have left for the cache.
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_setr_pd(values[0], values[1], values[2], 0.0) })
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_sub_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_div_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0) })
    }
    #[inline(always)]
    fn all_le(self, other: Self) -> bool {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_LE_OQ>(self.0, other.0)) == 0b1111 }
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // SAFETY: see above.
        unsafe {
            let upper = _mm256_extractf128_pd::<1>(self.0);
            let two = _mm_add_pd(_mm256_castpd256_pd128(self.0), upper);
            _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
        }
    }
    #[inline(always)]
    fn to_f32(self) -> Vec4 {
        // SAFETY: see above.
        Vec4::from(unsafe { _mm256_cvtpd_ps(self.0) })
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_mul_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn eq_bits(self, other: Self) -> u32 {
        // SAFETY: see above.
        unsafe { _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.0, other.0)) as u32 }
    }
    #[inline(always)]
    fn largest(self) -> Self {
        // SAFETY: see above.
        FourDoubles(unsafe {
            let halves = _mm256_max_pd(self.0, _mm256_permute2f128_pd::<1>(self.0, self.0));
            _mm256_max_pd(halves, _mm256_permute_pd::<0b0101>(halves))
        })
    }
    #[inline(always)]
    fn first(self) -> f64 {
        // SAFETY: see above.
        unsafe { _mm256_cvtsd_f64(self.0) }
    }
}
