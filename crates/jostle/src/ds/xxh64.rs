//! XXH64, a checksum that reads memory about as fast as it can be copied: four lanes of eight
//! bytes are mixed independently. After Yann Collet's description of xxHash, version 0.1.1. Not
//! for secrets: it finds damage, not forgery.

const PRIMES: [u64; 5] = [
    0x9E37_79B1_85EB_CA87,
    0xC2B2_AE3D_27D4_EB4F,
    0x1656_67B1_9E37_79F9,
    0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
];

/// The hash of some bytes.
pub fn xxh64(bytes: &[u8], seed: u64) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    hash(words, |word| u64::from_le_bytes(*word), tail, seed)
}

/// The hash of items of eight bytes each, whose little-endian words `word` gives.
pub(crate) fn xxh64_of<T>(items: &[T], word: impl Fn(&T) -> u64, seed: u64) -> u64 {
    hash(items, word, &[], seed)
}

fn hash<T>(items: &[T], word: impl Fn(&T) -> u64, tail: &[u8], seed: u64) -> u64 {
    let length = (items.len() * 8 + tail.len()) as u64;
    let (stripes, rest) = items.as_chunks::<4>();
    let mut sum = match stripes {
        [] => seed.wrapping_add(PRIMES[4]),
        _ => stripes_hash(stripes, &word, seed),
    };
    sum = sum.wrapping_add(length);
    for item in rest {
        sum = (sum ^ round(0, word(item))).rotate_left(27);
        sum = sum.wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3]);
    }
    avalanche(tail_hash(sum, tail))
}

fn stripes_hash<T>(stripes: &[[T; 4]], word: impl Fn(&T) -> u64, seed: u64) -> u64 {
    let first = seed.wrapping_add(PRIMES[0]);
    let mut lanes = [
        first.wrapping_add(PRIMES[1]),
        seed.wrapping_add(PRIMES[1]),
        seed,
        seed.wrapping_sub(PRIMES[0]),
    ];
    for stripe in stripes {
        for (lane, item) in lanes.iter_mut().zip(stripe) {
            *lane = round(*lane, word(item));
        }
    }
    let turned = lanes.iter().zip([1, 7, 12, 18]).map(|(lane, by)| lane.rotate_left(by));
    let sum = turned.fold(0, u64::wrapping_add);
    let merge = |sum: u64, lane: &u64| {
        (sum ^ round(0, *lane)).wrapping_mul(PRIMES[0]).wrapping_add(PRIMES[3])
    };
    lanes.iter().fold(sum, merge)
}

/// Fewer than eight bytes.
fn tail_hash(mut sum: u64, tail: &[u8]) -> u64 {
    let (words, bytes) = tail.as_chunks::<4>();
    for word in words {
        sum ^= u64::from(u32::from_le_bytes(*word)).wrapping_mul(PRIMES[0]);
        sum = sum.rotate_left(23).wrapping_mul(PRIMES[1]).wrapping_add(PRIMES[2]);
    }
    for &byte in bytes {
        sum ^= u64::from(byte).wrapping_mul(PRIMES[4]);
        sum = sum.rotate_left(11).wrapping_mul(PRIMES[0]);
    }
    sum
}

fn round(lane: u64, word: u64) -> u64 {
    lane.wrapping_add(word.wrapping_mul(PRIMES[1])).rotate_left(31).wrapping_mul(PRIMES[0])
}

fn avalanche(mut sum: u64) -> u64 {
    sum = (sum ^ (sum >> 33)).wrapping_mul(PRIMES[1]);
    sum = (sum ^ (sum >> 29)).wrapping_mul(PRIMES[2]);
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of the reference implementation (Python's `xxhash`), across every branch.
    #[test]
    fn hashes_are_those_of_the_reference_implementation() {
        let bytes: Vec<u8> = (0..=255u8).map(|k| k.wrapping_mul(31)).collect();
        let expected = [
            (0, 0, 0xEF46_DB37_51D8_E999),
            (0, 9, 0xD5DD_67EC_9A0B_4DFA),
            (1, 0, 0xE934_A84A_DB05_2768),
            (3, 1, 0x99C2_8733_C3B2_6377),
            (4, 0, 0x3B4D_7F7C_6BD1_AE90),
            (7, 2, 0x25E3_960C_69DC_3C9E),
            (8, 0, 0x5068_3412_2CB7_B4D0),
            (13, 7, 0x9E2B_2B4F_30EA_F92E),
            (31, 0, 0xF9C8_15C5_99CB_B32D),
            (32, 0, 0xBA7B_AFD4_7342_62DD),
            (33, 5, 0xEE90_28B0_7975_FE18),
            (63, 0, 0xCC8B_2A54_2E4A_451E),
            (64, 3, 0xA574_8E8C_E873_421E),
            (100, 0, 0x2BDD_AAD0_EE8A_2178),
            (255, 123456789, 0x7885_2C3C_890D_9AE0),
        ];
        for (length, seed, hash) in expected {
            assert_eq!(xxh64(&bytes[..length], seed), hash, "{length} bytes, seed {seed}");
        }
        assert_eq!(xxh64(b"abc", 0), 0x44BC_2CF5_AD77_0999);
        let words = [3u64, u64::MAX, 0, 77, 1 << 40];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(xxh64_of(&words, |word| *word, 5), xxh64(&bytes, 5));
    }
}
