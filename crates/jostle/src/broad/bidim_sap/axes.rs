//! Which two axes to sweep (§5 of the paper).
//!
//! An axis is worth sweeping if few pairs of boxes overlap on it. That share, the *crowding*,
//! is measured on a sample that is the same boxes in every frame, so it moves as slowly as the
//! boxes do. A flat axis has crowding 1 and is never swept while a better one is free.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::ds::radix_sort::{item, sort_items};

/// The most boxes in the sample: half a million pairs, which reliably tell 1 % from 2 %.
const SAMPLE: usize = 1024;
/// The fewest: small worlds are swept faster than many samples are sorted.
const SMALL_SAMPLE: usize = 128;
/// Other axes are taken if they promise this share of the tests or less: after a change boundaries
/// have to settle again, and near ties must not make the axes flip-flop.
const WORTHWHILE: f64 = 0.75;
/// The dispersion beyond which an axis counts as clustered and may be replaced.
const CLUSTERED: f64 = 0.10;

/// The axes of a sweep, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axes {
    /// Divides the boxes into partitions.
    pub primary: usize,
    /// Is swept within a partition.
    pub secondary: usize,
}

impl Axes {
    /// The axis that is not swept.
    pub(super) fn unused(self) -> usize {
        3 - self.primary - self.secondary
    }
}

/// The share of pairs that overlap on each axis.
pub(super) type Crowding = [f64; 3];

/// Measures the crowding; keeps its memory between frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    sample: Vec<Aabb>,
    lows: Vec<u64>,
    spare: Vec<u64>,
}

impl Sampler {
    pub(super) fn crowding(&mut self, boxes: &Boxes) -> Crowding {
        let aabbs = boxes.aabbs();
        let count = (aabbs.len() / 16).clamp(SMALL_SAMPLE, SAMPLE);
        let sampled = sample_slots(aabbs.len(), count).map(|slot| aabbs[slot]);
        self.sample.clear();
        self.sample.extend(sampled.filter(|aabb| !aabb.min[0].is_nan()));
        [0, 1, 2].map(|axis| self.crowding_on(axis))
    }

    fn crowding_on(&mut self, axis: usize) -> f64 {
        let count = self.sample.len();
        let lows = self.sample.iter().enumerate();
        self.lows.clear();
        self.lows.extend(lows.map(|(index, aabb)| item(aabb.min[axis], index as u32)));
        self.spare.resize(count, 0);
        sort_items(&mut self.lows, &mut self.spare);
        // Each box overlaps those that begin after it and not after its end.
        let mut overlaps = 0;
        for (place, low) in self.lows.iter().enumerate() {
            let end = item(self.sample[*low as u32 as usize].max[axis], u32::MAX);
            overlaps += self.lows[place + 1..].partition_point(|&low| low <= end);
        }
        // One more keeps the ratios between uncrowded axes finite and their noise small.
        (overlaps as f64 + 1.0) / ((count * count.saturating_sub(1) / 2) as f64 + 1.0)
    }

    pub(super) fn bytes(&self) -> usize {
        self.sample.capacity() * size_of::<Aabb>()
            + (self.lows.capacity() + self.spare.capacity()) * size_of::<u64>()
    }
}

/// At most `count` slots below `slots`, spread by the golden ratio: even over every stretch of
/// the array, and not aligned with any grid in it.
pub(super) fn sample_slots(slots: usize, count: usize) -> impl Iterator<Item = usize> {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let spread = move |index: usize| {
        let turn = (index as u64 + 1).wrapping_mul(GOLDEN);
        ((u128::from(turn) * slots as u128) >> 64) as usize
    };
    let all = slots <= count;
    (0..slots.min(count)).map(move |index| if all { index } else { spread(index) })
}

/// The two least crowded axes, unless the `current` ones are nearly as good.
pub(super) fn choose(current: Option<Axes>, crowding: &Crowding) -> Axes {
    let mut order = [0, 1, 2];
    order.sort_by(|&one, &other| crowding[one].total_cmp(&crowding[other]));
    let best = Axes { primary: order[1], secondary: order[0] };
    let work = |axes: Axes| crowding[axes.primary] * crowding[axes.secondary];
    match current {
        Some(axes) if work(best) > WORTHWHILE * work(axes) => axes,
        _ => best,
    }
}

/// The paper's rule: a swept axis whose dispersion passes a threshold is replaced by the unused
/// one. Departure: only if the sample says that the unused one is clearly less crowded; dispersion
/// also rises when boxes merely jump, and then both axes would take turns. A flat axis counts as
/// clustered, because equal keys have no dispersion to show once boundaries have settled on them.
pub(super) fn replace_clustered(axes: Axes, dispersion: [f64; 2], crowding: &Crowding) -> Axes {
    let spare = axes.unused();
    let gain = |axis: usize, dispersion: f64| {
        let clustered = dispersion > CLUSTERED || crowding[axis] > 0.5;
        let gain = crowding[axis] / crowding[spare];
        if clustered && gain * WORTHWHILE > 1.0 { gain } else { 0.0 }
    };
    let primary = gain(axes.primary, dispersion[0]);
    let secondary = gain(axes.secondary, dispersion[1]);
    if primary.max(secondary) == 0.0 {
        axes
    } else if primary >= secondary {
        Axes { primary: spare, ..axes }
    } else {
        Axes { secondary: spare, ..axes }
    }
}

/// The paper's rule and nothing else: the swept axis with the greater dispersion is replaced by the
/// unused one if it passes the threshold. The paper does not tell its threshold. What the unused
/// axis is like is not asked, so two clustered axes take turns.
pub(super) fn replace_dispersed(axes: Axes, dispersion: [f64; 2], threshold: f64) -> Axes {
    let spare = axes.unused();
    match dispersion {
        [primary, secondary] if primary.max(secondary) <= threshold => axes,
        [primary, secondary] if primary >= secondary => Axes { primary: spare, ..axes },
        _ => Axes { secondary: spare, ..axes },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    /// Boxes of size 1 spread over the given lengths by a fixed irregular rule.
    fn spread(lengths: [f32; 3], count: usize) -> Boxes {
        let at = |k: usize, axis: usize| {
            let turn = (k as f64 + 0.5) * [0.754_877_666, 0.569_840_291, 0.414_213_562][axis];
            turn.fract() as f32 * lengths[axis]
        };
        let aabb = |k: usize| {
            let min = [at(k, 0), at(k, 1), at(k, 2)];
            Aabb::new(min, min.map(|low| low + 1.0))
        };
        let mut boxes = Boxes::new();
        let aabbs: Vec<Aabb> = (0..count).map(aabb).collect();
        boxes.insert_all(&aabbs, Filter::ALL).unwrap();
        boxes
    }

    #[test]
    fn crowding_is_the_share_of_overlapping_pairs() {
        let crowding = Sampler::default().crowding(&spread([100.0, 10.0, 0.0], 20_000));
        assert!((0.015..0.026).contains(&crowding[0]), "two in a hundred: {crowding:?}");
        assert!((0.15..0.22).contains(&crowding[1]), "two in ten, less at the ends: {crowding:?}");
        assert_eq!(crowding[2], 1.0);
    }

    #[test]
    fn flat_axes_are_not_swept() {
        for flat in 0..3 {
            let mut lengths = [50.0; 3];
            lengths[flat] = 0.0;
            let crowding = Sampler::default().crowding(&spread(lengths, 3000));
            assert_eq!(choose(None, &crowding).unused(), flat);
            let start = Axes { primary: 0, secondary: 1 };
            let once = replace_clustered(start, [0.0; 2], &crowding);
            assert_eq!(once.unused(), flat);
            assert_eq!(replace_clustered(once, [9.0; 2], &crowding), once, "and stays");
        }
    }

    #[test]
    fn near_ties_do_not_flip_flop() {
        let mut axes = choose(None, &[0.010, 0.011, 0.012]);
        let first = axes;
        for turn in 0..100 {
            let crowding =
                if turn % 2 == 0 { [0.012, 0.011, 0.010] } else { [0.010, 0.012, 0.011] };
            axes = choose(Some(axes), &crowding);
            assert_eq!(axes, first);
            assert_eq!(replace_clustered(axes, [0.5, 0.5], &crowding), axes);
        }
        let clustered = [0.5, 0.011, 0.012];
        assert_eq!(choose(Some(axes), &clustered).unused(), 0);
    }

    #[test]
    fn the_pure_rule_replaces_the_more_dispersed_axis_and_no_other() {
        let axes = Axes { primary: 0, secondary: 1 };
        assert_eq!(replace_dispersed(axes, [0.1, 0.1], 0.1), axes);
        assert_eq!(replace_dispersed(axes, [0.11, 0.0], 0.1), Axes { primary: 2, ..axes });
        assert_eq!(replace_dispersed(axes, [0.11, 0.12], 0.1), Axes { secondary: 2, ..axes });
    }

    #[test]
    fn samples_are_distinct_slots_and_all_of_few() {
        assert!(sample_slots(5, 1024).eq(0..5));
        let mut slots: Vec<usize> = sample_slots(1_000_000, 1024).collect();
        slots.sort_unstable();
        slots.dedup();
        assert_eq!(slots.len(), 1024);
        assert!(slots.windows(2).all(|two| two[1] - two[0] < 3000), "no large gap");
    }
}
