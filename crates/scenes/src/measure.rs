//! What every check and every meter does with its results: one hash of pairs, one median.

use sha2::{Digest, Sha256};

/// SHA-256 over pairs as little-endian u32, two each, in the order given, in lower-case
/// hexadecimal. Sorted pairs have equal hashes if and only if they are equal.
///
/// ```
/// let pairs = [jostle::Pair::from((1, 256))];
/// let hash = jostle_scenes::pair_hash(pairs.iter().map(|&pair| pair.into()));
/// assert!(hash.starts_with("242045e2"));
/// ```
pub fn pair_hash(pairs: impl IntoIterator<Item = (u32, u32)>) -> String {
    let mut hash = Sha256::new();
    let mut buffer = Vec::with_capacity(1 << 16);
    for (a, b) in pairs {
        buffer.extend_from_slice(&a.to_le_bytes());
        buffer.extend_from_slice(&b.to_le_bytes());
        if buffer.len() >= 1 << 16 {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Measured values in ascending order. Of an empty list every answer is NaN.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    values: Vec<f64>,
}

impl Sorted {
    /// Sorts the values.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Sorted {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        Sorted { values }
    }

    /// The smallest value that at least this share of the values does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = (share * self.values.len() as f64).ceil() as usize;
        let index = rank.clamp(1, self.values.len().max(1)) - 1;
        self.values.get(index).copied().unwrap_or(f64::NAN)
    }

    /// The middle one of the values; of an even number, the lower of the two.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The smallest value.
    pub fn least(&self) -> f64 {
        self.quantile(0.0)
    }

    /// The largest value.
    pub fn greatest(&self) -> f64 {
        self.quantile(1.0)
    }

    /// The arithmetic mean.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len() as f64
    }

    /// The values themselves.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// The middle one of some values; of an even number, the lower of the two. NaN for none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    Sorted::new(values).median()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing_and_of_one_pair_are_known() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(pair_hash([]), empty);
        let one = Sha256::digest([1, 0, 0, 0, 0, 1, 0, 0]);
        let hex: String = one.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(pair_hash([(1, 256)]), hex);
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let list = Sorted::new((1..=100).rev().map(f64::from));
        assert_eq!(list.median(), 50.0);
        assert_eq!(list.quantile(0.99), 99.0);
        assert_eq!((list.least(), list.greatest(), list.mean()), (1.0, 100.0, 50.5));
        assert_eq!(Sorted::new([7.0]).quantile(0.99), 7.0);
        assert_eq!(median([2.0, 1.0]), 1.0);
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert!(median([]).is_nan());
    }
}
