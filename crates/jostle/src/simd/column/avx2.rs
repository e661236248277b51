//! The sweep with eight lanes.

use std::arch::x86_64::*;
use std::ops::Range;

use super::Column;
use crate::pair::Pair;

const LANES: usize = 8;

/// For each set of hit lanes, the lanes in ascending order: what the instruction set has no
/// instruction for.
static COMPRESS: [[u8; LANES]; 256] = compress_table();

const fn compress_table() -> [[u8; LANES]; 256] {
    let mut table = [[0; LANES]; 256];
    let mut hits = 0;
    while hits < 256 {
        let (mut lane, mut count) = (0, 0);
        while lane < LANES {
            if hits >> lane & 1 == 1 {
                table[hits][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        hits += 1;
    }
    table
}

/// One box in every lane.
struct Probe {
    low: [__m256; 3],
    high: [__m256; 3],
    id: __m256i,
    marks: __m256i,
}

/// See [`Column::sweep`].
///
/// # Safety
///
/// The machine has AVX2; runs end inside the other column and `found` has spare room for all tests of
/// the runs and one vector more.
#[target_feature(enable = "avx2,popcnt")]
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
            // SAFETY: `place` lies before the end of a run, so eight slots from there lie in the
            // padded arrays; no more pairs were written than tests done, so one vector of pairs
            // still fits.
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
#[target_feature(enable = "avx2,popcnt")]
fn tail(left: usize) -> u32 {
    if left >= LANES { 0xFF } else { (1 << left) - 1 }
}

#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn probe(column: &Column, one: usize) -> Probe {
    Probe {
        low: [0, 1, 2].map(|axis| _mm256_set1_ps(column.low[axis][one])),
        high: [0, 1, 2].map(|axis| _mm256_set1_ps(column.high[axis][one])),
        id: _mm256_set1_epi32(column.id[one] as i32),
        marks: _mm256_set1_epi32(column.marks[one] as i32),
    }
}

/// The lanes from `place` on that overlap the probe and share no mark with it.
///
/// # Safety
///
/// Eight slots from `place` lie in the arrays.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn compare(column: &Column, probe: &Probe, place: usize) -> u32 {
    // SAFETY: promised by the caller.
    let marks = unsafe { _mm256_loadu_si256(column.marks.as_ptr().add(place).cast()) };
    let common = _mm256_and_si256(marks, probe.marks);
    let mut hits = _mm256_castsi256_ps(_mm256_cmpeq_epi32(common, _mm256_setzero_si256()));
    for axis in 0..3 {
        // SAFETY: promised by the caller.
        let (low, high) = unsafe {
            (
                _mm256_loadu_ps(column.low[axis].as_ptr().add(place)),
                _mm256_loadu_ps(column.high[axis].as_ptr().add(place)),
            )
        };
        hits = _mm256_and_ps(hits, _mm256_cmp_ps::<_CMP_LE_OQ>(low, probe.high[axis]));
        hits = _mm256_and_ps(hits, _mm256_cmp_ps::<_CMP_LE_OQ>(probe.low[axis], high));
    }
    _mm256_movemask_ps(hits) as u32
}

/// Writes the pairs of the hit lanes, and unspecified ones up to the eighth.
///
/// # Safety
///
/// Eight slots from `place` lie in the arrays; eight pairs may be written to `out`.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn write(column: &Column, probe: &Probe, place: usize, hits: u32, out: *mut Pair) {
    // SAFETY: promised by the caller; a row of the table is eight bytes long.
    let (ids, order) = unsafe {
        (
            _mm256_loadu_si256(column.id.as_ptr().add(place).cast()),
            _mm_loadl_epi64(COMPRESS[hits as usize].as_ptr().cast()),
        )
    };
    let ids = _mm256_permutevar8x32_epi32(ids, _mm256_cvtepu8_epi32(order));
    let smaller = _mm256_min_epu32(ids, probe.id);
    let larger = _mm256_max_epu32(ids, probe.id);
    // SAFETY: promised by the caller.
    unsafe {
        let first = interleave(_mm256_castsi256_si128(smaller), _mm256_castsi256_si128(larger));
        _mm256_storeu_si256(out.cast(), first);
        if hits.count_ones() > 4 {
            let smaller = _mm256_extracti128_si256::<1>(smaller);
            let larger = _mm256_extracti128_si256::<1>(larger);
            _mm256_storeu_si256(out.add(4).cast(), interleave(smaller, larger));
        }
    }
}

/// Four pairs from their two halves: a [`Pair`] is its smaller id, then its larger one.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
fn interleave(smaller: __m128i, larger: __m128i) -> __m256i {
    let larger = _mm256_slli_epi64::<32>(_mm256_cvtepu32_epi64(larger));
    _mm256_or_si256(_mm256_cvtepu32_epi64(smaller), larger)
}
