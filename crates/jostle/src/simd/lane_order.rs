//! The lanes of a node that a search goes on with, in the order in which it wants them.
//!
//! A search takes a handful of the eight lanes, sorted by how near they are. Sorting so few by
//! comparing them one by one costs the processor a wrong guess or two at every node, which is more
//! than the boxes cost themselves. So all eight are sorted by a network without a branch, and the
//! caller writes all eight onto its stack and moves its end by those that count. A ray enters one
//! box or two of most nodes, and then needs no network: see [`LaneSet`].
//!
//! A lane travels in the three lowest bits of its own bound: that is the bound's rounding, and
//! [`bound_of`] rounds it down.

use super::node8::WIDTH;
use super::vector::{Eight, Mask, Simd, Vector};

/// Bits of a key that hold the lane.
const LANE_BITS: u32 = WIDTH as u32 - 1;

/// The lanes to go on with, the nearest last; nothing that counts beyond them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LaneOrder {
    pub keys: [f32; WIDTH],
    pub count: usize,
}

/// The bound that a key was made of, or a little less.
#[inline(always)]
pub(crate) fn bound_of(key: f32) -> f32 {
    f32::from_bits(key.to_bits() & !LANE_BITS)
}

/// The lane that a key was made of.
#[inline(always)]
pub(crate) fn lane_of(key: f32) -> usize {
    (key.to_bits() & LANE_BITS) as usize
}

/// The lanes to go on with, not yet in order.
#[derive(Clone, Copy)]
pub(crate) struct LaneSet<S: Simd> {
    simd: S,
    bounds: S::Eight,
    wanted: S::Eight,
    /// One bit for each lane.
    pub mask: u32,
}

impl<S: Simd> LaneSet<S> {
    /// The lanes that are set in `wanted`, with their bounds, which are not below zero.
    #[inline(always)]
    pub(super) fn new(simd: S, bounds: S::Eight, wanted: S::Eight) -> Self {
        LaneSet { simd, bounds, wanted, mask: wanted.bits() }
    }

    /// The keys of all lanes.
    #[inline(always)]
    fn keys(self) -> S::Eight {
        const LANES: [u32; WIDTH] = [0, 1, 2, 3, 4, 5, 6, 7];
        // Not below the least normal number, so that processors that are told to take smaller ones
        // for zero do not lose the lanes in them; and not infinite, which with a lane in it is no
        // number.
        let least = S::Eight::splat(self.simd, f32::MIN_POSITIVE.to_bits());
        let most = S::Eight::splat(self.simd, f32::MAX.to_bits());
        let bounds = self.bounds.max_f32(least).min_f32(most);
        bounds.and_not(S::Eight::splat(self.simd, LANE_BITS)).or(constant(self.simd, &LANES))
    }

    /// The keys of the two lanes, the nearer first, if there are two: sooner done than by sorting.
    #[inline(always)]
    pub(crate) fn two(self) -> Option<(f32, f32)> {
        let (first, rest) = (self.mask.trailing_zeros(), self.mask & self.mask.wrapping_sub(1));
        if rest & rest.wrapping_sub(1) != 0 || rest == 0 {
            return None;
        }
        let mut keys = [0u32; WIDTH];
        // SAFETY: there is room for eight values.
        unsafe { self.keys().store(keys.as_mut_ptr()) };
        let one = keys[first as usize % WIDTH];
        let other = keys[rest.trailing_zeros() as usize % WIDTH];
        // Keys are positive: their bits are ordered like the numbers.
        Some((f32::from_bits(one.min(other)), f32::from_bits(one.max(other))))
    }

    /// Sorts the lanes by their bounds; of equal ones the lower lane is nearer.
    #[inline(always)]
    pub(crate) fn in_order(self) -> LaneOrder {
        const ODD: [u32; WIDTH] = [0, !0, 0, !0, 0, !0, 0, !0];
        const UPPER_TWO: [u32; WIDTH] = [0, 0, !0, !0, 0, 0, !0, !0];
        const UPPER_FOUR: [u32; WIDTH] = [0, 0, 0, 0, !0, !0, !0, !0];
        let simd = self.simd;
        let none = S::Eight::splat(simd, (-1.0f32).to_bits());
        let (odd, two) = (constant(simd, &ODD), constant(simd, &UPPER_TWO));
        let keys = compare::<S, 1>(none.choose(self.keys(), self.wanted), odd);
        let keys = compare::<S, 1>(compare::<S, 3>(keys, two), odd);
        let keys = compare::<S, 7>(keys, constant(simd, &UPPER_FOUR));
        let keys = compare::<S, 1>(compare::<S, 2>(keys, two), odd);
        let mut order = LaneOrder { keys: [0.0; WIDTH], count: self.mask.count_ones() as usize };
        // SAFETY: there is room for eight values.
        unsafe { keys.store(order.keys.as_mut_ptr().cast()) };
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

    impl Kernel for Sort {
        type Output = (LaneOrder, Option<(f32, f32)>);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            // SAFETY: eight values are readable.
            let bounds = unsafe { S::Eight::load(simd, self.0.as_ptr().cast()) };
            let limit = S::Eight::splat(simd, self.1.to_bits());
            let set = LaneSet::new(simd, bounds, bounds.le_f32(limit));
            (set.in_order(), set.two())
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
                let (order, two) = level.run(Sort(bounds, limit));
                let keys = &order.keys[..order.count];
                match keys {
                    [far, near] => assert_eq!(two, Some((*near, *far)), "{level:?} {bounds:?}"),
                    _ => assert_eq!(two, None, "{level:?} {bounds:?}"),
                }
                let lanes: Vec<usize> = keys.iter().map(|&key| lane_of(key)).collect();
                assert_eq!(lanes, expected, "{level:?} {bounds:?}");
                for (&key, &lane) in keys.iter().zip(&lanes) {
                    assert!(bound_of(key) <= bounds[lane].max(f32::MIN_POSITIVE));
                    assert!(bound_of(key) >= bounds[lane].min(f32::MAX) * (1.0 - 1e-6));
                }
                let bits: Vec<u32> = order.keys.iter().map(|key| key.to_bits()).collect();
                assert_eq!(plain.get_or_insert_with(|| bits.clone()), &bits, "{level:?}");
            }
        }
    }
}
