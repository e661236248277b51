//! The few functions that differ from platform to platform, written with the operations that
//! do not: IEEE 754 fixes every bit of `+ - * /` and of the square root, and nothing else.

/// The cube root of a positive number, to about one unit in the last place.
///
/// Newton's method from a guess with the right exponent; each round doubles the good digits.
pub(crate) fn cube_root(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    // A third of the exponent: dividing the bits by three does it within a few per cent.
    let mut root = f64::from_bits(value.to_bits() / 3 + 0x2a9f_7893_782d_a1ce);
    for _ in 0..6 {
        root -= (root - value / (root * root)) / 3.0;
    }
    root
}

/// Two to the power of `exponent` for `0 <= exponent <= 60`.
///
/// The fraction is taken bit by bit: 2^(b1/2 + b2/4 + ...) is a product of repeated square
/// roots of two. Thirty bits are exact far beyond f32.
pub(crate) fn power_of_two(exponent: f64) -> f64 {
    let whole = exponent.clamp(0.0, 60.0).floor();
    let mut rest = exponent.clamp(0.0, 60.0) - whole;
    let mut result = (1u64 << whole as u32) as f64;
    let mut factor = 2.0f64;
    for _ in 0..30 {
        factor = factor.sqrt();
        rest *= 2.0;
        if rest >= 1.0 {
            rest -= 1.0;
            result *= factor;
        }
    }
    result
}

/// A wave between 0 and 1 with straight flanks: 0 at frame 0, 1 at `period / 2`, 0 at `period`.
/// A period of two jumps from one end to the other on every frame.
pub(crate) fn triangle_wave(frame: u64, period: u64) -> f32 {
    let period = period.max(2);
    let at = frame % period;
    let up = at.min(period - at);
    (up as f64 * 2.0 / period as f64).min(1.0) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_root_inverts_the_cube() {
        for value in [1e-30, 1e-3, 0.5, 1.0, 8.0, 27.0, 1e9, 1e30] {
            let root = cube_root(value);
            assert!((root * root * root / value - 1.0).abs() < 1e-14, "{value}: {root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
        assert_eq!(cube_root(-1.0), 0.0);
    }

    #[test]
    fn power_of_two_agrees_with_the_platform() {
        for step in 0..600 {
            let exponent = f64::from(step) * 0.1;
            let ratio = power_of_two(exponent) / exponent.exp2();
            assert!((ratio - 1.0).abs() < 1e-8, "{exponent}: {ratio}");
        }
    }

    #[test]
    fn the_wave_returns() {
        let wave: Vec<f32> = (0..9).map(|frame| triangle_wave(frame, 4)).collect();
        assert_eq!(wave, [0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 0.0]);
        assert_eq!([triangle_wave(7, 2), triangle_wave(8, 2)], [1.0, 0.0]);
    }
}
