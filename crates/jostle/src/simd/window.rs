//! How many of eight words are smaller than another, without a branch.
//!
//! Written as comparisons, compilers collect them bit by bit, which takes four times the
//! instructions. As differences whose signs are added up, the loop becomes plain vector code on
//! every target.

/// Number of words in a window.
pub(crate) const WINDOW: usize = 8;

/// Counts the words that are smaller than `word`. Words that differ in nothing but the lowest bit
/// count as equal: without that bit differences cannot overflow, and their sign tells.
#[inline(always)]
pub(crate) fn count_smaller(window: &[u64; WINDOW], word: u64) -> usize {
    let signs = window.map(|other| (other >> 1).wrapping_sub(word >> 1) >> 63);
    signs.iter().sum::<u64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_count_as_comparisons_do() {
        let words =
            [0, 1, 2, 3, 1 << 31, 1 << 63, (1 << 63) + 1, (1 << 63) + 2, u64::MAX - 1, u64::MAX];
        let mut seen = [false; WINDOW + 1];
        for start in 0..words.len() {
            let window: [u64; WINDOW] =
                std::array::from_fn(|k| words[(start + 3 * k) % words.len()]);
            for word in words {
                let count = count_smaller(&window, word);
                let expected = window.iter().filter(|&&other| other >> 1 < word >> 1).count();
                assert_eq!(count, expected, "{window:?} {word}");
                seen[count] = true;
            }
        }
        assert!(seen.iter().filter(|&&seen| seen).count() > 4);
    }
}
