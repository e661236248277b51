//! How many of eight words are smaller than another, without a branch.
//!
//! Left to itself the compiler collects eight comparisons bit by bit, which takes four times the
//! instructions. Needs no more than every x86-64 machine has, so nothing is chosen at run time.

/// Number of words in a window.
pub(crate) const WINDOW: usize = 8;

/// Counts the words that are smaller than `word`. Words that differ in nothing but the lowest bit
/// count as equal: without that bit differences cannot overflow, and their sign tells.
#[inline(always)]
pub(crate) fn count_smaller(window: &[u64; WINDOW], word: u64) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            __m128i, _mm_add_epi64, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set1_epi64x,
            _mm_srli_epi64, _mm_sub_epi64, _mm_unpackhi_epi64,
        };
        let two = window.as_ptr().cast::<__m128i>();
        // SAFETY: four vectors of two words lie in the window; every x86-64 machine has SSE2.
        unsafe {
            let word = _mm_set1_epi64x((word >> 1) as i64);
            let signs = |at: usize| {
                let half = _mm_srli_epi64::<1>(_mm_loadu_si128(two.add(at)));
                _mm_srli_epi64::<63>(_mm_sub_epi64(half, word))
            };
            let sum =
                _mm_add_epi64(_mm_add_epi64(signs(0), signs(1)), _mm_add_epi64(signs(2), signs(3)));
            let sum = _mm_add_epi64(sum, _mm_unpackhi_epi64(sum, sum));
            _mm_cvtsi128_si64(sum) as usize
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    portable(window, word)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(window: &[u64; WINDOW], word: u64) -> usize {
    window.iter().filter(|&&other| other >> 1 < word >> 1).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_count_as_plain_code_does() {
        let words =
            [0, 1, 2, 3, 1 << 31, 1 << 63, (1 << 63) + 1, (1 << 63) + 2, u64::MAX - 1, u64::MAX];
        let mut seen = [false; WINDOW + 1];
        for start in 0..words.len() {
            let window: [u64; WINDOW] =
                std::array::from_fn(|k| words[(start + 3 * k) % words.len()]);
            for word in words {
                let count = count_smaller(&window, word);
                assert_eq!(count, portable(&window, word), "{window:?} {word}");
                seen[count] = true;
            }
        }
        assert!(seen.iter().filter(|&&seen| seen).count() > 4);
    }
}
