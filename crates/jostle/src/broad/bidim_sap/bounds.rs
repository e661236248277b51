//! [`Bounds`]: where strips begin on the primary axis, and which strips a box reaches.

use crate::ds::radix_sort::from_ordered_bits;

use super::strips::NO_SPAN;

/// Cells of the table per strip: most cells then hold no bound, some one.
const CELLS: usize = 8;

/// Where strips begin. A table over equal cells narrows the search for a strip to the bounds in one
/// cell, which is mostly none or one, but any number is searched in logarithmic time: the table
/// helps, but assumes nothing about the spread.
#[derive(Clone, Debug, Default)]
pub(super) struct Bounds {
    /// Where each strip but the first begins, ascending and distinct.
    bounds: Vec<f32>,
    origin: f32,
    scale: f32,
    /// Number of bounds in cells before each, and all of them at the end.
    before: Vec<u16>,
}

impl Bounds {
    /// Bounds at equal numbers of the sorted items' keys. Equal bounds are merged: a
    /// strip that nothing can be at home in does not count.
    pub(super) fn set(&mut self, sorted: &[u64], strips: usize) {
        self.bounds.clear();
        if !sorted.is_empty() {
            let key = |k: usize| (sorted[k * sorted.len() / strips] >> 32) as u32;
            self.bounds.extend((1..strips).map(|k| from_ordered_bits(key(k))));
            self.bounds.dedup();
        }
        let cells = CELLS * (self.bounds.len() + 1);
        let first = self.bounds.first().copied().unwrap_or(0.0);
        let scale = cells as f32 / (self.bounds.last().copied().unwrap_or(0.0) - first);
        // Infinite or crowded bounds have no cells; then everything lies in the first one.
        let usable = scale.is_finite() && scale > 0.0;
        (self.origin, self.scale) = if usable { (first, scale) } else { (0.0, 0.0) };
        self.before.clear();
        self.before.resize(cells + 1, 0);
        for k in 0..self.bounds.len() {
            let cell = self.cell(self.bounds[k]);
            self.before[cell + 1] += 1;
        }
        for cell in 1..=cells {
            self.before[cell] += self.before[cell - 1];
        }
    }

    /// Number of the last strip.
    pub(super) fn last(&self) -> usize {
        self.bounds.len()
    }

    /// The strips from that of the low endpoint to that of the high endpoint; for NaN, none.
    #[inline]
    pub(super) fn span(&self, low: f32, high: f32) -> [u16; 2] {
        if low.is_nan() {
            return NO_SPAN;
        }
        [self.strip(low) as u16, self.strip(high) as u16]
    }

    /// Number of bounds at or below `value`.
    #[inline(always)]
    fn strip(&self, value: f32) -> usize {
        let cell = self.cell(value);
        // Rounding never reverses an order, so bounds in earlier cells lie below the value and
        // bounds in later cells above.
        let (start, end) = (usize::from(self.before[cell]), usize::from(self.before[cell + 1]));
        match end - start {
            0 => start,
            1 => start + usize::from(self.bounds[start] <= value),
            _ => start + self.bounds[start..end].partition_point(|&bound| bound <= value),
        }
    }

    /// The cell of a value; never decreases as the value grows. A NaN from infinity times zero
    /// and everything below the origin are in the first.
    #[inline(always)]
    fn cell(&self, value: f32) -> usize {
        (((value - self.origin) * self.scale) as usize).min(self.before.len() - 2)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bounds.capacity() * size_of::<f32>() + self.before.capacity() * size_of::<u16>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ds::radix_sort::item;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = f32> {
        let special = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-45];
        prop_oneof![
            1 => prop::sample::select(special.to_vec()),
            4 => (-20i32..20).prop_map(|v| v as f32 * 0.5),
            4 => -1f32..1.0,
        ]
    }

    proptest! {
        #[test]
        fn the_table_finds_what_a_plain_count_finds(
            sample in prop::collection::vec(value(), 0..200),
            values in prop::collection::vec(value(), 1..50),
            strips in 1usize..40,
            finite in any::<bool>(),
        ) {
            let mut sample = sample;
            sample.retain(|value| !finite || value.abs() < 1e30);
            let mut items: Vec<u64> = sample.iter().map(|&low| item(low, 0)).collect();
            items.sort_unstable();
            let mut bounds = Bounds::default();
            bounds.set(&items, strips);
            prop_assert!(bounds.bounds.windows(2).all(|two| two[0] < two[1]));
            for &value in sample.iter().chain(&values) {
                let count = bounds.bounds.iter().filter(|&&bound| bound <= value).count();
                prop_assert_eq!(bounds.span(value, f32::INFINITY)[0] as usize, count);
            }
        }
    }

    #[test]
    fn no_strip_holds_what_is_no_number() {
        let mut bounds = Bounds::default();
        bounds.set(&[item(1.0, 0), item(2.0, 0)], 2);
        assert_eq!(bounds.span(f32::NAN, f32::NAN), NO_SPAN);
        assert_eq!(bounds.span(f32::NEG_INFINITY, f32::INFINITY), [0, 1]);
    }
}
