//! How an `.npy` file stores a number, and that number as the bound of a box.
//!
//! float16, float32 and integers of up to 16 bits are float32 numbers as they are. float64 and
//! wider integers may lie between two of them and are rounded outward: a lower bound down, an upper
//! bound up, so no overlap is lost.

use super::FileFault;
use jostle::{round_down, round_up};

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    kind: Kind,
    pub(super) bytes: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Float,
    Signed,
    Unsigned,
}

/// Which way a bound is rounded if it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Down,
    Up,
}

impl Rounding {
    fn of_f64(self, value: f64) -> f32 {
        match self {
            Rounding::Down => round_down(value),
            Rounding::Up => round_up(value),
        }
    }

    /// Rounds an integer of up to 64 bits: first to float64, then to float32, both in the same
    /// direction, which is the same as once.
    fn of_integer(self, value: i128) -> f32 {
        let nearest = value as f64;
        let past = nearest as i128 - value;
        self.of_f64(match self {
            Rounding::Down if past > 0 => nearest.next_down(),
            Rounding::Up if past < 0 => nearest.next_up(),
            _ => nearest,
        })
    }
}

impl Number {
    /// The type that a header names, such as `<f4`.
    pub(super) fn of(descr: &str) -> Result<Number, FileFault> {
        let unknown = || FileFault::Type {
            found: descr.chars().take(40).collect(),
            wanted: "float16, float32, float64 or an integer type with astype",
        };
        let (order, name) = descr.split_at_checked(1).ok_or_else(unknown)?;
        let (kind, bytes) = match name {
            "f2" | "f4" | "f8" => (Kind::Float, name),
            "i1" | "i2" | "i4" | "i8" => (Kind::Signed, name),
            "u1" | "u2" | "u4" | "u8" => (Kind::Unsigned, name),
            _ => return Err(unknown()),
        };
        let bytes = usize::from(bytes.as_bytes()[1] - b'0');
        match order {
            "<" | ">" => {}
            "|" if bytes == 1 => {}
            _ => return Err(unknown()),
        }
        Ok(Number { kind, bytes, big_endian: order == ">" })
    }

    /// Returns true for float32, the type of boxes themselves.
    pub(super) fn is_f32(self) -> bool {
        self.kind == Kind::Float && self.bytes == 4
    }

    /// The float32 number at the beginning of `bytes`, if that is the type.
    #[inline]
    pub(super) fn f32_at(self, bytes: &[u8]) -> f32 {
        let bytes: [u8; 4] = std::array::from_fn(|k| bytes[k]);
        if self.big_endian { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
    }

    /// The number at the beginning of `bytes` as a bound.
    #[inline]
    pub(super) fn bound(self, bytes: &[u8], rounding: Rounding) -> f32 {
        let raw = self.raw(bytes);
        match (self.kind, self.bytes) {
            (Kind::Float, 2) => half(raw as u16),
            (Kind::Float, 4) => f32::from_bits(raw as u32),
            (Kind::Float, _) => rounding.of_f64(f64::from_bits(raw)),
            (Kind::Unsigned, _) => rounding.of_integer(i128::from(raw)),
            (Kind::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                rounding.of_integer(i128::from((raw << unused) as i64 >> unused))
            }
        }
    }

    #[inline]
    fn raw(self, bytes: &[u8]) -> u64 {
        let mut raw = [0u8; 8];
        raw[..self.bytes].copy_from_slice(&bytes[..self.bytes]);
        if self.big_endian {
            raw[..self.bytes].reverse();
        }
        u64::from_le_bytes(raw)
    }
}

/// A float16 number, which is always a float32 number.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction as f32 * f32::from_bits(0x3380_0000), // 2^-24
        0x1f => f32::from_bits(0x7f80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float16_has_its_value() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
            let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
            let found = half(bits);
            if exponent == 31 && fraction != 0.0 {
                assert!(found.is_nan());
                continue;
            }
            let size = match exponent {
                0 => fraction / 1024.0 * 2f64.powi(-14),
                31 => f64::INFINITY,
                _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            assert_eq!(f64::from(found).to_bits(), (sign * size).to_bits(), "{bits:#06x}");
        }
    }

    #[test]
    fn integers_are_exact_or_rounded_outward() {
        let number = |descr: &str| Number::of(descr).unwrap();
        let mut values = vec![0i64, 1, -1, i64::MAX, i64::MIN, (1 << 53) + 1, 16_777_217];
        let mut rng = crate::Rng::new(5);
        values.extend((0..10_000).map(|k| (rng.next_u64() as i64) >> (k % 60)));
        for value in values {
            let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
            let [low, high] = [Rounding::Down, Rounding::Up].map(|rounding| {
                let bound = number("<i8").bound(&little, rounding);
                assert_eq!(bound.to_bits(), number(">i8").bound(&big, rounding).to_bits());
                bound
            });
            // A float32 of this size is an integer, so the comparison is exact.
            assert!(low as i128 <= i128::from(value) && i128::from(value) <= high as i128);
            assert!(low == high || low.next_up() == high, "{value}: {low} {high}");
            let unsigned = number("<u8").bound(&little, Rounding::Up);
            assert!(unsigned as u128 >= u128::from(value as u64));
        }
        assert_eq!(number("|i1").bound(&[0x80], Rounding::Up), -128.0);
        assert_eq!(number("|u1").bound(&[0x80], Rounding::Up), 128.0);
        assert_eq!(number(">i2").bound(&[0xff, 0xfe], Rounding::Down), -2.0);
        assert_eq!(number("<u4").bound(&[0xff; 4], Rounding::Down), 4_294_967_040.0);
        assert_eq!(number("<u4").bound(&[0xff; 4], Rounding::Up), 4_294_967_296.0);
    }

    #[test]
    fn other_types_are_refused() {
        for descr in ["", "<", "<f16", "<c8", "|b1", "|S8", "<U3", "<M8[ns]", "|f4", "xf4", "é"] {
            assert!(matches!(Number::of(descr), Err(FileFault::Type { .. })), "{descr}");
        }
    }
}
