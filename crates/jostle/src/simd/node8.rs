//! [`Node8`]: eight boxes side by side, tested against one box at once.
//!
//! The tests are methods of every [`Simd`], so that a traversal that is a
//! [`Kernel`](super::Kernel) is compiled as a whole for an instruction set: the tests are inlined,
//! and the choice costs nothing per test.

use super::vector::{Eight, Mask, Simd, Vector};
use crate::aabb::Aabb;
use crate::pair::Pair;

/// Number of boxes in a node.
pub(crate) const WIDTH: usize = 8;

/// Eight boxes, one array per bound. A lane that holds no box is NaN, which overlaps nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Node8 {
    pub min: [[f32; WIDTH]; 3],
    pub max: [[f32; WIDTH]; 3],
}

impl Node8 {
    /// Eight lanes without a box.
    pub(crate) const EMPTY: Node8 =
        Node8 { min: [[f32::NAN; WIDTH]; 3], max: [[f32::NAN; WIDTH]; 3] };

    /// The box in a lane.
    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Aabb {
        let lane = lane % WIDTH;
        Aabb {
            min: [self.min[0][lane], self.min[1][lane], self.min[2][lane]],
            max: [self.max[0][lane], self.max[1][lane], self.max[2][lane]],
        }
    }

    /// The boxes around those of two nodes, lane by lane; a lane without a box does not count.
    #[inline(always)]
    pub(crate) fn union(&self, other: &Node8) -> Node8 {
        let mut union = *self;
        for k in 0..3 {
            for lane in 0..WIDTH {
                union.min[k][lane] = union.min[k][lane].min(other.min[k][lane]);
                union.max[k][lane] = union.max[k][lane].max(other.max[k][lane]);
            }
        }
        union
    }

    /// Puts a box into a lane.
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, aabb: &Aabb) {
        let lane = lane % WIDTH;
        for k in 0..3 {
            self.min[k][lane] = aabb.min[k];
            self.max[k][lane] = aabb.max[k];
        }
    }
}

/// The tests of nodes, for every instruction set. Masks have one bit per lane.
pub(crate) trait NodeTests: Simd {
    /// The lanes whose box overlaps `query`.
    #[inline(always)]
    fn overlapping(self, node: &Node8, query: &Aabb) -> u32 {
        let xy = meets(self, node, query, 0).and(meets(self, node, query, 1));
        xy.and(meets(self, node, query, 2)).bits()
    }

    /// The lanes whose box overlaps the one in a lane of another node.
    #[inline(always)]
    fn meeting(self, node: &Node8, other: &Node8, lane: usize) -> u32 {
        let lane = lane % WIDTH;
        let xy = meets_lane(self, node, other, lane, 0).and(meets_lane(self, node, other, lane, 1));
        xy.and(meets_lane(self, node, other, lane, 2)).bits()
    }

    /// The box around all lanes; lanes without a box do not count, and without any the result is
    /// inverted and infinite: the neutral element of the union.
    #[inline(always)]
    fn bounds(self, node: &Node8) -> Aabb {
        let least = |k: usize| row(self, &node.min[k]).least_f32(self);
        let largest = |k: usize| row(self, &node.max[k]).largest_f32(self);
        Aabb { min: [least(0), least(1), least(2)], max: [largest(0), largest(1), largest(2)] }
    }

    /// A node of eight boxes.
    #[inline(always)]
    fn node_of(self, boxes: [&Aabb; WIDTH], node: &mut Node8) {
        let rows = Self::Eight::bounds_of(self, boxes);
        for k in 0..3 {
            // SAFETY: eight words may be written.
            unsafe {
                rows[k].store(node.min[k].as_mut_ptr().cast());
                rows[k + 3].store(node.max[k].as_mut_ptr().cast());
            }
        }
    }

    /// The lanes that hold different boxes; two lanes without a box are the same. NaN is unequal
    /// to itself, so lanes that are empty on both sides are taken out again.
    #[inline(always)]
    fn differing(self, one: &Node8, other: &Node8) -> u32 {
        let mut differ = row(self, &one.min[0]).ne_f32(row(self, &other.min[0]));
        differ = differ.or(row(self, &one.max[0]).ne_f32(row(self, &other.max[0])));
        for k in 1..3 {
            differ = differ.or(row(self, &one.min[k]).ne_f32(row(self, &other.min[k])));
            differ = differ.or(row(self, &one.max[k]).ne_f32(row(self, &other.max[k])));
        }
        differ.and_not(empty(self, one).and(empty(self, other))).bits()
    }

    /// The overlaps within a node: bit `8 (r - 1) + i` for lanes `i` and `i + r` (modulo eight),
    /// each pair once.
    #[inline(always)]
    fn within(self, node: &Node8) -> u32 {
        let bits = within_by::<Self, 1>(self, node)
            | within_by::<Self, 2>(self, node) << 8
            | within_by::<Self, 3>(self, node) << 16
            | within_by::<Self, 4>(self, node) << 24;
        bits & WITHIN
    }

    /// Appends the pairs of a box with those of eight others that a mask names.
    #[inline(always)]
    fn pair_up(self, id: u32, others: &[u32; WIDTH], mask: u32, pairs: &mut Vec<Pair>) {
        pairs.reserve(WIDTH);
        let (length, count) = (pairs.len(), (mask & 0xff).count_ones() as usize);
        let id = Self::Eight::splat(self, id);
        // SAFETY: eight ids are readable. There is room for eight more pairs, the first `count`
        // of which are written.
        unsafe {
            let others = Self::Eight::load(self, others.as_ptr());
            others.write_pairs(id, mask & 0xff, pairs.as_mut_ptr().add(length));
            pairs.set_len(length + count);
        }
    }
}

impl<S: Simd> NodeTests for S {}

#[inline(always)]
fn row<S: Simd>(simd: S, values: &[f32; WIDTH]) -> S::Eight {
    // SAFETY: eight values are readable.
    unsafe { S::Eight::load(simd, values.as_ptr().cast()) }
}

/// The lanes whose interval on an axis meets that of the query; NaN compares as false.
#[inline(always)]
fn meets<S: Simd>(simd: S, node: &Node8, query: &Aabb, k: usize) -> S::Eight {
    let most = S::Eight::splat(simd, query.max[k].to_bits());
    let least = S::Eight::splat(simd, query.min[k].to_bits());
    row(simd, &node.min[k]).le_f32(most).and(least.le_f32(row(simd, &node.max[k])))
}

/// As [`meets`], with the interval in a lane of another node.
#[inline(always)]
fn meets_lane<S: Simd>(simd: S, node: &Node8, other: &Node8, lane: usize, k: usize) -> S::Eight {
    let most = S::Eight::splat(simd, other.max[k][lane].to_bits());
    let least = S::Eight::splat(simd, other.min[k][lane].to_bits());
    row(simd, &node.min[k]).le_f32(most).and(least.le_f32(row(simd, &node.max[k])))
}

/// Lanes that hold no box.
#[inline(always)]
fn empty<S: Simd>(simd: S, node: &Node8) -> S::Eight {
    let first = row(simd, &node.min[0]);
    first.ne_f32(first)
}

/// The lanes whose box overlaps the one `BY` lanes further.
#[inline(always)]
fn within_by<S: Simd, const BY: usize>(simd: S, node: &Node8) -> u32 {
    let xy = meets_rotated::<S, BY>(simd, node, 0).and(meets_rotated::<S, BY>(simd, node, 1));
    xy.and(meets_rotated::<S, BY>(simd, node, 2)).bits()
}

#[inline(always)]
fn meets_rotated<S: Simd, const BY: usize>(simd: S, node: &Node8, k: usize) -> S::Eight {
    let (min, max) = (row(simd, &node.min[k]), row(simd, &node.max[k]));
    min.le_f32(max.rotate::<BY>()).and(min.rotate::<BY>().le_f32(max))
}

/// The two lanes that a bit of [`NodeTests::within`] stands for.
#[inline(always)]
pub(crate) fn lanes_of_bit(bit: u32) -> (usize, usize) {
    let (one, turn) = (bit as usize % WIDTH, bit as usize / WIDTH + 1);
    (one, (one + turn) % WIDTH)
}

/// Rotation by four meets each pair twice.
const WITHIN: u32 = 0x0fff_ffff;

#[cfg(test)]
mod tests {
    use super::super::places::Places;
    use super::super::{Kernel, Level};
    use super::*;
    use crate::aabb::NO_BOX;
    use proptest::prelude::*;

    const EXTREMES: [f32; 5] = [f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::MIN];

    /// Few distinct values, so that bounds often touch, with the hostile ones among them.
    fn bound() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => (-4i8..4).prop_map(f32::from),
            1 => prop::sample::select(EXTREMES.to_vec()),
        ]
    }

    fn some_box() -> impl Strategy<Value = Aabb> {
        let ordered = |a: [f32; 3], b: [f32; 3]| Aabb {
            min: std::array::from_fn(|k| a[k].min(b[k])),
            max: std::array::from_fn(|k| a[k].max(b[k])),
        };
        prop_oneof![
            9 => (prop::array::uniform3(bound()), prop::array::uniform3(bound()))
                .prop_map(move |(a, b)| ordered(a, b)),
            1 => Just(NO_BOX),
        ]
    }

    fn node() -> impl Strategy<Value = Node8> {
        prop::collection::vec(some_box(), WIDTH).prop_map(|boxes| {
            let mut node = Node8::EMPTY;
            boxes.iter().enumerate().for_each(|(lane, aabb)| node.set(lane, aabb));
            node
        })
    }

    struct All<'a>(&'a Node8, &'a Node8, &'a Aabb);

    impl Kernel for All<'_> {
        type Output = (u32, Aabb, u32, u32, u32, Vec<u32>, Vec<Pair>);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let same = simd.differing(self.0, self.0);
            let differing = simd.differing(self.0, self.1);
            let hits = simd.overlapping(self.0, self.2);
            let (mut list, mut pairs) = (vec![9], Vec::new());
            let mut places = Places::after(&mut list, 2);
            places.push(simd, hits, 40);
            places.push(simd, differing, 8);
            drop(places);
            simd.pair_up(12, &[3, 30, 5, 6, 70, 8, u32::MAX, 0], hits, &mut pairs);
            simd.pair_up(2, &[13, 30, 5, 6, 70, 8, 9, 0], differing, &mut pairs);
            (hits, simd.bounds(self.0), differing, same, simd.within(self.0), list, pairs)
        }
    }

    /// The same answers from loops over single boxes.
    fn plainly(
        one: &Node8,
        other: &Node8,
        query: &Aabb,
    ) -> (u32, Aabb, u32, u32, u32, Vec<u32>, Vec<Pair>) {
        let set = |test: &dyn Fn(usize) -> bool| {
            (0..WIDTH).fold(0, |mask, lane| mask | u32::from(test(lane)) << lane)
        };
        let hits = set(&|lane| one.get(lane).overlaps(query));
        let differing = set(&|lane| {
            let (a, b) = (one.get(lane), other.get(lane));
            !(a.same(&b) || a.min[0].is_nan() && b.min[0].is_nan())
        });
        // `f32::min` and `max` leave NaN out.
        let bounds = Aabb {
            min: one.min.map(|row| row.into_iter().fold(f32::INFINITY, f32::min)),
            max: one.max.map(|row| row.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        };
        let within = (0..28).fold(0, |mask, bit| {
            let (a, b) = lanes_of_bit(bit);
            mask | u32::from(one.get(a).overlaps(&one.get(b))) << bit
        });
        let named = |mask: u32| (0..WIDTH).filter(move |lane| mask >> lane & 1 == 1);
        let mut list = vec![9];
        list.extend(named(hits).map(|lane| 40 + lane as u32));
        list.extend(named(differing).map(|lane| 8 + lane as u32));
        let pairs = named(hits)
            .map(|lane| Pair::from((12, [3, 30, 5, 6, 70, 8, u32::MAX, 0][lane])))
            .chain(named(differing).map(|lane| Pair::from((2, [13, 30, 5, 6, 70, 8, 9, 0][lane]))))
            .collect();
        (hits, bounds, differing, 0, within, list, pairs)
    }

    proptest! {
        #[test]
        fn every_level_agrees_with_loops_over_boxes(
            one in node(), other in node(), keep in any::<u8>(), query in some_box(),
        ) {
            let mut mixed = other;
            for lane in (0..WIDTH).filter(|lane| keep >> lane & 1 == 1) {
                mixed.set(lane, &one.get(lane));
            }
            let found = plainly(&one, &mixed, &query);
            for level in Level::available() {
                prop_assert_eq!(&level.run(All(&one, &mixed, &query)), &found, "{:?}", level);
            }
            prop_assert_eq!(found.3, 0, "a node is the same as itself");
            prop_assert_eq!(found.2 & u32::from(keep), 0);
            let mut pairs = Vec::new();
            for bit in (0..32).filter(|bit| found.4 >> bit & 1 == 1) {
                let (a, b) = lanes_of_bit(bit);
                pairs.push((a.min(b), a.max(b)));
            }
            pairs.sort_unstable();
            let all = (0..WIDTH).flat_map(|a| (a + 1..WIDTH).map(move |b| (a, b)));
            let expected: Vec<_> =
                all.filter(|&(a, b)| one.get(a).overlaps(&one.get(b))).collect();
            prop_assert_eq!(pairs, expected, "each pair within a node once");
        }
    }

    struct Gathered<'a>([&'a Aabb; WIDTH], &'a Node8);

    impl Kernel for Gathered<'_> {
        type Output = (Node8, [u32; WIDTH]);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let mut node = Node8::EMPTY;
            simd.node_of(self.0, &mut node);
            (node, std::array::from_fn(|lane| simd.meeting(&node, self.1, lane)))
        }
    }

    proptest! {
        #[test]
        fn every_level_gathers_boxes_and_meets_lanes(
            boxes in prop::collection::vec(some_box(), WIDTH), other in node(),
        ) {
            for level in Level::available() {
                let gathered = Gathered(std::array::from_fn(|lane| &boxes[lane]), &other);
                let (found, met) = level.run(gathered);
                for lane in 0..WIDTH {
                    let bits = |aabb: &Aabb| [aabb.min, aabb.max].map(|of| of.map(f32::to_bits));
                    prop_assert_eq!(bits(&found.get(lane)), bits(&boxes[lane]), "{:?}", level);
                    let expected = (0..WIDTH).fold(0, |mask, other_lane| {
                        let meets = boxes[other_lane].overlaps(&other.get(lane));
                        mask | u32::from(meets) << other_lane
                    });
                    prop_assert_eq!(met[lane], expected, "{:?}", level);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_union_is_that_of_each_lane(one in node(), other in node()) {
            let union = one.union(&other);
            for lane in 0..WIDTH {
                let (found, a, b) = (union.get(lane), one.get(lane), other.get(lane));
                let expected = match (a.min[0].is_nan(), b.min[0].is_nan()) {
                    (true, true) => {
                        prop_assert!(found.min[0].is_nan());
                        continue;
                    }
                    (true, false) => b,
                    (false, true) => a,
                    (false, false) => a.union(&b),
                };
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_lane_without_a_box_overlaps_nothing() {
        for level in Level::available() {
            let found = level.run(All(&Node8::EMPTY, &Node8::EMPTY, &Aabb::EVERYTHING));
            assert_eq!((found.0, found.2), (0, 0));
            assert_eq!(found.1, Aabb { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] });
        }
    }
}
