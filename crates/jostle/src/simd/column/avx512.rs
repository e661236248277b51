//! The sweep with sixteen lanes.

use std::arch::x86_64::*;
use std::ops::Range;

use super::Column;
use crate::pair::Pair;

const LANES: usize = 16;

/// One box in every lane.
struct Probe {
    low: [__m512; 3],
    high: [__m512; 3],
    id: __m512i,
    marks: __m512i,
}

/// See [`Column::sweep`].
///
/// # Safety
///
/// The machine has AVX-512F; runs end inside the other column and `found` has spare room for all tests
/// of the runs and one vector more.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) unsafe fn sweep(
    column: &Column,
    others: &Column,
    boxes: Range<usize>,
    begins: &[u32],
    ends: &[u32],
    found: &mut Vec<Pair>,
) {
    let mut len = found.len();
    let start = found.as_mut_ptr();
    for one in boxes {
        let (mut place, end) = (begins[one] as usize, ends[one] as usize);
        if place >= end {
            continue;
        }
        let probe = probe(column, one);
        while place < end {
            // SAFETY: `place` lies before the end of a run, so sixteen slots from there lie in
            // the padded arrays; no more pairs were written than tests done, so one vector of
            // pairs still fits.
            unsafe {
                let hits = compare(others, &probe, place) & tail(end - place);
                write(others, &probe, place, hits, start.add(len));
                len += hits.count_ones() as usize;
            }
            place += LANES;
        }
    }
    // SAFETY: the first `len` pairs were written.
    unsafe { found.set_len(len) };
}

/// The lanes that lie before the end of the run.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn tail(left: usize) -> __mmask16 {
    if left >= LANES { u16::MAX } else { (1u16 << left) - 1 }
}

#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn probe(column: &Column, one: usize) -> Probe {
    Probe {
        low: [0, 1, 2].map(|axis| _mm512_set1_ps(column.low[axis][one])),
        high: [0, 1, 2].map(|axis| _mm512_set1_ps(column.high[axis][one])),
        id: _mm512_set1_epi32(column.id[one] as i32),
        marks: _mm512_set1_epi32(column.marks[one] as i32),
    }
}

/// The lanes from `place` on that overlap the probe and share no mark with it.
///
/// # Safety
///
/// Sixteen slots from `place` lie in the arrays.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn compare(column: &Column, probe: &Probe, place: usize) -> __mmask16 {
    let mut hits = u16::MAX;
    for axis in 0..3 {
        // SAFETY: promised by the caller.
        let (low, high) = unsafe {
            (
                _mm512_loadu_ps(column.low[axis].as_ptr().add(place)),
                _mm512_loadu_ps(column.high[axis].as_ptr().add(place)),
            )
        };
        hits = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(hits, low, probe.high[axis]);
        hits = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(hits, probe.low[axis], high);
    }
    // SAFETY: promised by the caller.
    let marks = unsafe { _mm512_loadu_si512(column.marks.as_ptr().add(place).cast()) };
    _mm512_mask_testn_epi32_mask(hits, marks, probe.marks)
}

/// Writes the pairs of the hit lanes, and unspecified ones up to the sixteenth.
///
/// # Safety
///
/// Sixteen slots from `place` lie in the arrays; sixteen pairs may be written to `out`.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn write(column: &Column, probe: &Probe, place: usize, hits: __mmask16, out: *mut Pair) {
    // SAFETY: promised by the caller.
    let ids = unsafe { _mm512_loadu_si512(column.id.as_ptr().add(place).cast()) };
    let ids = _mm512_maskz_compress_epi32(hits, ids);
    let smaller = _mm512_min_epu32(ids, probe.id);
    let larger = _mm512_max_epu32(ids, probe.id);
    let pairs = interleave(_mm512_castsi512_si256(smaller), _mm512_castsi512_si256(larger));
    // SAFETY: promised by the caller.
    unsafe { _mm512_storeu_si512(out.cast(), pairs) };
    if hits.count_ones() > 8 {
        let smaller = _mm512_extracti64x4_epi64::<1>(smaller);
        let larger = _mm512_extracti64x4_epi64::<1>(larger);
        // SAFETY: promised by the caller.
        unsafe { _mm512_storeu_si512(out.add(8).cast(), interleave(smaller, larger)) };
    }
}

/// Eight pairs from their two halves: a [`Pair`] is its smaller id, then its larger one.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
fn interleave(smaller: __m256i, larger: __m256i) -> __m512i {
    let larger = _mm512_slli_epi64::<32>(_mm512_cvtepu32_epi64(larger));
    _mm512_or_si512(_mm512_cvtepu32_epi64(smaller), larger)
}
