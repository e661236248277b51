//! The lanes of a node that a search goes on with, in the order in which it wants them.
//!
//! A search takes a handful of the eight lanes, sorted by how near they are. Sorting so few by
//! comparing them one by one costs the processor a wrong guess or two at every node, which is more
//! than the boxes cost themselves. So all eight are sorted by a network without a branch, and the
//! caller writes all eight onto its stack and moves its end by those that count. A ray enters one
//! box or two of most nodes, and then needs no network: see [`LaneSet`].
//!
//! A lane travels in the three lowest bits of its own bound, which makes the bound a little smaller
//! or larger: see [`KEY_ROUNDING`]. Links are put into the same order with one instruction that
//! reads just these bits.

use super::link::Link;
use super::node8::WIDTH;
use super::vector::{Eight, Mask, Simd, Vector};

/// Bits of a key that hold the lane.
const LANE_BITS: u32 = WIDTH as u32 - 1;

/// Bounds are no smaller, so that processors that are told to take smaller numbers for zero do not
/// lose the lanes in them; nor are they infinite, which with a lane in it is no number.
pub(super) const LEAST_BOUND: f32 = f32::MIN_POSITIVE;

/// Greater than the factor between a bound and the largest key that can be made of it: searches
/// compare keys with limits that are larger by this.
pub(crate) const KEY_ROUNDING: f32 = 1.0 + 8.0 * f32::EPSILON;

/// The lanes to go on with, the nearest last; nothing that counts beyond them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneOrder {
    pub keys: [f32; WIDTH],
    /// What is below each.
    pub links: [Link; WIDTH],
    pub count: usize,
}

/// The bound that a key was made of, or a little less.
#[cfg(test)]
pub(crate) fn bound_of(key: f32) -> f32 {
    f32::from_bits(key.to_bits() & !LANE_BITS)
}

/// The lane that a key was made of.
#[cfg(test)]
pub(crate) fn lane_of(key: f32) -> usize {
    (key.to_bits() & LANE_BITS) as usize
}

/// What [`LaneSet::few`] tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Few {
    None,
    One(usize),
    /// The nearer, and the further with its key: sooner told than by sorting.
    Two(usize, usize, f32),
    /// More than two.
    Many,
}

/// The lanes to go on with, not yet in order.
#[derive(Clone, Copy)]
pub(crate) struct LaneSet<S: Simd> {
    simd: S,
    /// Bounds with the number of their lane in the lowest bits.
    keys: S::Eight,
    wanted: S::Eight,
    /// One bit for each lane.
    pub mask: u32,
}

impl<S: Simd> LaneSet<S> {
    /// The lanes that are set in `wanted`, with their bounds, which are not below zero.
    #[inline(always)]
    pub(super) fn new(simd: S, bounds: S::Eight, wanted: S::Eight) -> Self {
        let least = S::Eight::splat(simd, LEAST_BOUND.to_bits());
        let most = S::Eight::splat(simd, f32::MAX.to_bits());
        Self::of_normal(simd, bounds.max_f32(least).min_f32(most), wanted)
    }

    /// As [`LaneSet::new`], with bounds of at least [`LEAST_BOUND`], and none that is infinite.
    #[inline(always)]
    pub(super) fn of_normal(simd: S, bounds: S::Eight, wanted: S::Eight) -> Self {
        const LANES: [u32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7];
        let keys = bounds.and_not(S::Eight::splat(simd, LANE_BITS)).or(constant(simd, &LANES));
        LaneSet { simd, keys, wanted, mask: wanted.bits() }
    }

    /// How many lanes there are, as far as a search of rays needs to know.
    #[inline(always)]
    pub(crate) fn few(self) -> Few {
        let first = self.mask.trailing_zeros() as usize % WIDTH;
        let rest = self.mask & self.mask.wrapping_sub(1);
        if rest == 0 {
            return if self.mask == 0 { Few::None } else { Few::One(first) };
        }
        if rest & (rest - 1) != 0 {
            return Few::Many;
        }
        let mut keys = [0u32; WIDTH];
        // SAFETY: there is room for eight values.
        unsafe { self.keys.store(keys.as_mut_ptr()) };
        let (one, other) = (keys[first], keys[rest.trailing_zeros() as usize % WIDTH]);
        // Keys are positive: their bits are ordered like the numbers.
        let (near, far) = (one.min(other), one.max(other));
        Few::Two(near as usize % WIDTH, far as usize % WIDTH, f32::from_bits(far))
    }

    /// The nearest lane, sooner known than when all are sorted. There is at least one.
    #[inline(always)]
    pub(crate) fn nearest(self) -> usize {
        let none = S::Eight::splat(self.simd, f32::INFINITY.to_bits());
        let least = none.choose(self.keys, self.wanted).least_f32(self.simd);
        least.to_bits() as usize % WIDTH
    }

    /// Sorts the lanes by their bounds; of equal ones the lower lane is nearer.
    #[inline(always)]
    pub(crate) fn in_order(self, links: &[Link; WIDTH]) -> LaneOrder {
        const ODD: [u32; WIDTH] = [0, !0, 0, !0, 0, !0, 0, !0];
        const UPPER_TWO: [u32; WIDTH] = [0, 0, !0, !0, 0, 0, !0, !0];
        const UPPER_FOUR: [u32; WIDTH] = [0, 0, 0, 0, !0, !0, !0, !0];
        let simd = self.simd;
        let none = S::Eight::splat(simd, (-1.0f32).to_bits());
        let (odd, two) = (constant(simd, &ODD), constant(simd, &UPPER_TWO));
        let keys = compare::<S, 1>(none.choose(self.keys, self.wanted), odd);
        let keys = compare::<S, 1>(compare::<S, 3>(keys, two), odd);
        let keys = compare::<S, 7>(keys, constant(simd, &UPPER_FOUR));
        let keys = compare::<S, 1>(compare::<S, 2>(keys, two), odd);
        let count = self.mask.count_ones() as usize;
        let mut order = LaneOrder { keys: [0.0; WIDTH], links: *links, count };
        // SAFETY: links are words, and eight are readable; there is room for eight of either.
        unsafe {
            let links = S::Eight::load(simd, links.as_ptr().cast()).pick(simd, keys);
            keys.store(order.keys.as_mut_ptr().cast());
            links.store(order.links.as_mut_ptr().cast());
        }
        order
    }
}

#[inline(always)]
fn constant<S: Simd>(simd: S, lanes: &[u32; WIDTH]) -> S::Eight {
    // SAFETY: eight values are readable.
    unsafe { S::Eight::load(simd, lanes.as_ptr()) }
}

/// Each lane and its partner: the lanes of `upper` get the smaller key.
#[inline(always)]
fn compare<S: Simd, const LANE: usize>(keys: S::Eight, upper: S::Eight) -> S::Eight {
    let partner = keys.partner::<LANE>();
    keys.max_f32(partner).choose(keys.min_f32(partner), upper)
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Level};
    use super::*;

    struct Sort([f32; WIDTH], f32);

    fn link(lane: usize) -> Link {
        Link::to_leaf(7 * lane + 1)
    }

    impl Kernel for Sort {
        type Output = (LaneOrder, Few, Option<usize>);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            // SAFETY: eight values are readable.
            let bounds = unsafe { S::Eight::load(simd, self.0.as_ptr().cast()) };
            let limit = S::Eight::splat(simd, self.1.to_bits());
            let set = LaneSet::new(simd, bounds, bounds.le_f32(limit));
            let order = set.in_order(&[0, 1, 2, 3, 4, 5, 6, 7].map(link));
            (order, set.few(), (set.mask != 0).then(|| set.nearest()))
        }
    }

    #[test]
    fn wanted_lanes_come_nearest_last_at_every_level() {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        for round in 0..4000 {
            let bounds: [f32; WIDTH] = std::array::from_fn(|_| match random() % 8 {
                0 => f32::NAN,
                1 => 0.0,
                2 => f32::INFINITY,
                3 => 1e-42,
                4 => 0.5,
                _ => random() as f32 / (1 << 24) as f32,
            });
            let limit = [0.0, 0.25, 0.5, 2.0, f32::INFINITY][round % 5];
            let mut expected: Vec<usize> =
                (0..WIDTH).filter(|&lane| bounds[lane] <= limit).collect();
            let rounded = |lane: usize| {
                bounds[lane].clamp(f32::MIN_POSITIVE, f32::MAX).to_bits() & !LANE_BITS
            };
            expected.sort_by_key(|&lane| std::cmp::Reverse((rounded(lane), lane)));
            let mut plain: Option<Vec<u32>> = None;
            for level in Level::available() {
                let (order, few, nearest) = level.run(Sort(bounds, limit));
                let keys = &order.keys[..order.count];
                let told = match *keys {
                    [] => Few::None,
                    [one] => Few::One(lane_of(one)),
                    [far, near] => Few::Two(lane_of(near), lane_of(far), far),
                    _ => Few::Many,
                };
                assert_eq!(few, told, "{level:?} {bounds:?}");
                assert_eq!(nearest, expected.last().copied(), "{level:?} {bounds:?}");
                let links: Vec<Link> = expected.iter().copied().map(link).collect();
                assert_eq!(order.links[..order.count], links, "{level:?} {bounds:?}");
                let lanes: Vec<usize> = keys.iter().map(|&key| lane_of(key)).collect();
                assert_eq!(lanes, expected, "{level:?} {bounds:?}");
                for (&key, &lane) in keys.iter().zip(&lanes) {
                    assert!(bound_of(key) <= bounds[lane].max(f32::MIN_POSITIVE));
                    assert!(bound_of(key) >= bounds[lane].min(f32::MAX) * (1.0 - 1e-6));
                    assert!(key <= bounds[lane].max(LEAST_BOUND) * KEY_ROUNDING);
                }
                let bits: Vec<u32> = order.keys.iter().map(|key| key.to_bits()).collect();
                assert_eq!(plain.get_or_insert_with(|| bits.clone()), &bits, "{level:?}");
            }
        }
    }
}
