//! [`Scale`]: a linear or logarithmic range of an axis with round ticks that do not crowd.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use crate::support::text::{brief, grouped};

/// About how many ticks a linear axis gets.
const TICKS: f64 = 6.0;

/// A range of values and where its ticks are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    pub log: bool,
}

impl Scale {
    /// A range that holds all values with some air; logarithmic ones stay above zero.
    pub(crate) fn around(values: impl Iterator<Item = f64>, log: bool) -> Scale {
        let usable = values.filter(|&value| fits(value, log));
        let (low, high) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let air = (high - low).max(high.abs() * 1e-3).max(1e-9) * 0.06;
        let (low, high) = match (low.is_finite(), log) {
            (false, true) => (0.1, 10.0),
            (false, false) => (0.0, 1.0),
            (true, true) => (low / 1.3, high * 1.3),
            (true, false) if low >= 0.0 => (0.0, high + air.max(0.06 * high)),
            (true, false) => (low - air, high + air),
        };
        Scale { low, high, log }
    }

    /// How many characters its longest tick has.
    pub(crate) fn widest_tick(&self) -> usize {
        self.ticks().into_iter().map(|tick| tick_text(tick).chars().count()).max().unwrap_or(0)
    }

    fn ticks(&self) -> Vec<f64> {
        let ticks = if self.log { self.log_ticks() } else { Vec::new() };
        if ticks.len() >= 2 { ticks } else { self.linear_ticks() }
    }

    /// Powers of ten, with their multiples by two and five if there are few of them.
    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let every = (decades / 10.0).ceil().max(1.0) as i32;
        let multiples: &[f64] = if decades > 3.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let powers = powers.filter(|power| power.rem_euclid(every) == 0);
        let ticks = powers.flat_map(|power| multiples.iter().map(move |m| m * 10f64.powi(power)));
        ticks.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }

    fn linear_ticks(&self) -> Vec<f64> {
        let rough = (self.high - self.low) / TICKS;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&s| s >= rough);
        let step = step.unwrap_or(10.0 * power);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// Returns true if a value can be shown.
pub(crate) fn fits(value: f64, log: bool) -> bool {
    value.is_finite() && (!log || value > 0.0)
}

/// A number at an axis: from a thousand on it is whole, in groups; a tiny one has an exponent; the
/// rest is brief.
pub(crate) fn tick_text(value: f64) -> String {
    if (1000.0..1e15).contains(&value) {
        return grouped(value.round() as u64);
    }
    let text = match value.abs() {
        size if (1e-4..1e-3).contains(&size) => format!("{value:.8}"),
        size if size > 0.0 && size < 1e-4 => format!("{value:.2e}"),
        _ => brief(value),
    };
    let (digits, exponent) = match text.find('e') {
        Some(place) => text.split_at(place),
        None => (text.as_str(), ""),
    };
    match digits.contains('.') {
        true => format!("{}{exponent}", digits.trim_end_matches('0').trim_end_matches('.')),
        false => text,
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let place = |value: f64| if self.log { value.max(1e-300).ln() } else { value };
        let share = (place(*value) - place(self.low)) / (place(self.high) - place(self.low));
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format(value: &f64) -> String {
        tick_text(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let log = |low, high| Scale { low, high, log: true }.ticks();
        assert_eq!(log(770.0, 39_000.0), [1e3, 2e3, 5e3, 1e4, 2e4]);
        assert_eq!(log(0.5, 2e5), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert!(log(2.1, 4.4).len() >= 2);
        assert!(log(1e-200, 1e200).len() < 25);
        let linear = |low, high| Scale { low, high, log: false }.ticks();
        assert_eq!(linear(0.0, 10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert!(linear(0.0, 1e-9).len() >= 3);
    }

    #[test]
    fn ticks_are_written_out() {
        let texts = [0.0001, 0.00025, 0.02, 1.0, 50.0, 12_000.0, 0.0].map(tick_text);
        assert_eq!(texts, ["0.0001", "0.00025", "0.02", "1", "50", "12 000", "0"]);
        assert_eq!(
            [1e-8, 2.5e-5, 1e-14, 10f64.powi(-7)].map(tick_text),
            ["1e-8", "2.5e-5", "1e-14", "1e-7"]
        );
        let scale = Scale { low: 10.0, high: 2e6, log: true };
        assert_eq!(scale.widest_tick(), "1 000 000".len());
    }

    #[test]
    fn values_map_to_pixels() {
        let scale = Scale { low: 1.0, high: 100.0, log: true };
        assert_eq!([1.0, 10.0, 100.0].map(|value| scale.map(&value, (0, 200))), [0, 100, 200]);
    }

    #[test]
    fn a_range_holds_what_can_be_shown() {
        let empty = Scale::around([f64::NAN, -1.0].into_iter(), true);
        assert!(empty.low > 0.0 && empty.high > empty.low);
        for value in [0.0, 5.0, -7.0] {
            let scale = Scale::around([value].into_iter(), false);
            assert!(scale.low <= value && value < scale.high);
        }
    }
}
