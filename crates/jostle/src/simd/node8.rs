//! [`Node8`]: eight boxes side by side, tested against one box at once.
//!
//! The tests are written once for each instruction set behind [`Lanes`]; [`dispatch`] finds out
//! which one the machine has and runs a whole traversal compiled for it, so that the tests are
//! inlined and the choice costs nothing per test. [`Portable`] is plain Rust and decides what is
//! right: the tests of this file compare the others with it, NaN and infinities included.

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
    pub const EMPTY: Node8 = Node8 { min: [[f32::NAN; WIDTH]; 3], max: [[f32::NAN; WIDTH]; 3] };

    /// The box in a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Aabb {
        let lane = lane % WIDTH;
        Aabb {
            min: [self.min[0][lane], self.min[1][lane], self.min[2][lane]],
            max: [self.max[0][lane], self.max[1][lane], self.max[2][lane]],
        }
    }

    /// Puts a box into a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, aabb: &Aabb) {
        let lane = lane % WIDTH;
        for k in 0..3 {
            self.min[k][lane] = aabb.min[k];
            self.max[k][lane] = aabb.max[k];
        }
    }
}

/// The tests, one implementor per instruction set. Masks have one bit per lane.
pub(crate) trait Lanes: Copy + Send + Sync {
    /// The lanes whose box overlaps `query`.
    fn overlapping(self, node: &Node8, query: &Aabb) -> u32;

    /// The box around all lanes; lanes without a box do not count, and without any the result is
    /// inverted and infinite: the neutral element of the union.
    fn bounds(self, node: &Node8) -> Aabb;

    /// The lanes that hold different boxes; two lanes without a box are the same.
    fn differing(self, one: &Node8, other: &Node8) -> u32;

    /// The overlaps within a node: bit `8 (r - 1) + i` for lanes `i` and `i + r` (modulo eight),
    /// each pair once.
    fn within(self, node: &Node8) -> u32;

    /// Appends `base` plus the number of each lane of a mask.
    fn spread(self, mask: u32, base: u32, list: &mut Vec<u32>);

    /// Appends the pairs of a box with those of eight others that a mask names.
    fn pair_up(self, id: u32, others: &[u32; WIDTH], mask: u32, pairs: &mut Vec<Pair>);
}

/// The two lanes that a bit of [`Lanes::within`] stands for.
#[inline(always)]
pub(crate) fn lanes_of_bit(bit: u32) -> (usize, usize) {
    let (one, turn) = (bit as usize % WIDTH, bit as usize / WIDTH + 1);
    (one, (one + turn) % WIDTH)
}

/// Turning by four meets each pair twice.
const WITHIN: u32 = 0x0fff_ffff;

/// Work that is compiled once for each instruction set. `run` has to be `#[inline(always)]`.
pub(crate) trait WithLanes {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Runs `work` with the widest instructions that this machine has.
#[inline]
pub(crate) fn dispatch<W: WithLanes>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if avx2::available() {
        // SAFETY: the machine has the instructions that the function is compiled for.
        return unsafe { avx2::run(work) };
    }
    work.run(Portable)
}

/// Plain Rust, for machines without a faster way and as the measure of the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn overlapping(self, node: &Node8, query: &Aabb) -> u32 {
        let mut mask = 0;
        for lane in 0..WIDTH {
            mask |= u32::from(node.get(lane).overlaps(query)) << lane;
        }
        mask
    }

    #[inline(always)]
    fn bounds(self, node: &Node8) -> Aabb {
        // `f32::min` and `max` leave NaN out.
        Aabb {
            min: node.min.map(|row| row.into_iter().fold(f32::INFINITY, f32::min)),
            max: node.max.map(|row| row.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        }
    }

    #[inline(always)]
    fn differing(self, one: &Node8, other: &Node8) -> u32 {
        let mut mask = 0;
        for lane in 0..WIDTH {
            let (a, b) = (one.get(lane), other.get(lane));
            let both_empty = a.min[0].is_nan() && b.min[0].is_nan();
            mask |= u32::from(!a.same(&b) && !both_empty) << lane;
        }
        mask
    }

    #[inline(always)]
    fn within(self, node: &Node8) -> u32 {
        let mut mask = 0;
        for bit in 0..32 {
            let (one, other) = lanes_of_bit(bit);
            mask |= u32::from(node.get(one).overlaps(&node.get(other))) << bit;
        }
        mask & WITHIN
    }

    #[inline(always)]
    fn spread(self, mask: u32, base: u32, list: &mut Vec<u32>) {
        list.extend((0..WIDTH as u32).filter(|lane| mask >> lane & 1 == 1).map(|lane| base + lane));
    }

    #[inline(always)]
    fn pair_up(self, id: u32, others: &[u32; WIDTH], mask: u32, pairs: &mut Vec<Pair>) {
        let named = (0..WIDTH).filter(|lane| mask >> lane & 1 == 1);
        pairs.extend(named.map(|lane| Pair::from((id, others[lane]))));
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::*;
    use std::arch::x86_64::*;

    /// Proof that the machine has AVX2: only [`run`] makes one.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx2(());

    #[inline]
    pub fn available() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub fn run<W: WithLanes>(work: W) -> W::Output {
        work.run(Avx2(()))
    }

    // Each test is a function compiled for AVX2 and without closures: a closure does not carry the
    // instruction set of the function around it, and its intrinsics would become calls.

    #[inline]
    #[target_feature(enable = "avx2")]
    fn row(values: &[f32; WIDTH]) -> __m256 {
        // SAFETY: eight values are readable, and the load asks for no alignment.
        unsafe { _mm256_loadu_ps(values.as_ptr()) }
    }

    /// Per lane all bits set where the intervals on one axis meet; NaN compares as false.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn meets(node: &Node8, query: &Aabb, k: usize) -> __m256 {
        let below = _mm256_cmp_ps::<_CMP_LE_OQ>(row(&node.min[k]), _mm256_set1_ps(query.max[k]));
        let above = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_set1_ps(query.min[k]), row(&node.max[k]));
        _mm256_and_ps(below, above)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn overlapping(node: &Node8, query: &Aabb) -> u32 {
        let xy = _mm256_and_ps(meets(node, query, 0), meets(node, query, 1));
        _mm256_movemask_ps(_mm256_and_ps(xy, meets(node, query, 2))) as u32
    }

    /// The smallest of eight values that is a number. Where the first operand is NaN, the
    /// instruction returns the second.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn least(values: &[f32; WIDTH]) -> f32 {
        let values = _mm256_min_ps(row(values), _mm256_set1_ps(f32::INFINITY));
        let four = _mm_min_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps::<1>(values));
        let two = _mm_min_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps::<1>(two, two)))
    }

    /// The largest of eight values that is a number.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn largest(values: &[f32; WIDTH]) -> f32 {
        let values = _mm256_max_ps(row(values), _mm256_set1_ps(f32::NEG_INFINITY));
        let four = _mm_max_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps::<1>(values));
        let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps::<1>(two, two)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bounds(node: &Node8) -> Aabb {
        let min = [least(&node.min[0]), least(&node.min[1]), least(&node.min[2])];
        let max = [largest(&node.max[0]), largest(&node.max[1]), largest(&node.max[2])];
        Aabb { min, max }
    }

    /// Lanes that hold no box.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn empty(node: &Node8) -> __m256 {
        let first = row(&node.min[0]);
        _mm256_cmp_ps::<_CMP_UNORD_Q>(first, first)
    }

    /// NaN is unequal to itself, so lanes that are empty on both sides are taken out again.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn differing(one: &Node8, other: &Node8) -> u32 {
        let mut differ = _mm256_setzero_ps();
        for k in 0..3 {
            let low = _mm256_cmp_ps::<_CMP_NEQ_UQ>(row(&one.min[k]), row(&other.min[k]));
            let high = _mm256_cmp_ps::<_CMP_NEQ_UQ>(row(&one.max[k]), row(&other.max[k]));
            differ = _mm256_or_ps(differ, _mm256_or_ps(low, high));
        }
        let both_empty = _mm256_and_ps(empty(one), empty(other));
        _mm256_movemask_ps(_mm256_andnot_ps(both_empty, differ)) as u32
    }

    /// For each mask the numbers of its lanes, a byte each, in front.
    static PACKED: [[u8; WIDTH]; 256] = {
        let mut packed = [[0; WIDTH]; 256];
        let mut mask = 0;
        while mask < 256 {
            let (mut lane, mut count) = (0, 0);
            while lane < WIDTH {
                if mask >> lane & 1 == 1 {
                    packed[mask][count] = lane as u8;
                    count += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        packed
    };

    #[inline]
    #[target_feature(enable = "avx2")]
    fn packed(mask: u32) -> __m256i {
        let lanes = i64::from_le_bytes(PACKED[mask as usize % 256]);
        _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(lanes))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn spread(mask: u32, base: u32, list: &mut Vec<u32>) {
        list.reserve(WIDTH);
        let (length, count) = (list.len(), (mask & 0xff).count_ones() as usize);
        let values = _mm256_add_epi32(packed(mask), _mm256_set1_epi32(base as i32));
        // SAFETY: there is room for eight more, of which the first `count` are kept.
        unsafe {
            _mm256_storeu_si256(list.as_mut_ptr().add(length).cast(), values);
            list.set_len(length + count);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn pair_up(id: u32, others: &[u32; WIDTH], mask: u32, pairs: &mut Vec<Pair>) {
        pairs.reserve(WIDTH);
        let (length, count) = (pairs.len(), (mask & 0xff).count_ones() as usize);
        let id = _mm256_set1_epi32(id as i32);
        // SAFETY: eight ids are readable, and the load asks for no alignment.
        let others = unsafe { _mm256_loadu_si256(others.as_ptr().cast()) };
        let others = _mm256_permutevar8x32_epi32(others, packed(mask));
        let (small, large) = (_mm256_min_epu32(id, others), _mm256_max_epu32(id, others));
        let (even, odd) =
            (_mm256_unpacklo_epi32(small, large), _mm256_unpackhi_epi32(small, large));
        // SAFETY: there is room for eight more pairs; a pair is two u32, the smaller first, and
        // only the first `count`, which are written in full, are kept.
        unsafe {
            let to: *mut __m256i = pairs.as_mut_ptr().add(length).cast();
            _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(even, odd));
            _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x31>(even, odd));
            pairs.set_len(length + count);
        }
    }

    /// Per lane all bits set where its interval meets that of the lane that `turn` names.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn meets_turned(node: &Node8, k: usize, turn: __m256i) -> __m256 {
        let (min, max) = (row(&node.min[k]), row(&node.max[k]));
        let below = _mm256_cmp_ps::<_CMP_LE_OQ>(min, _mm256_permutevar8x32_ps(max, turn));
        let above = _mm256_cmp_ps::<_CMP_LE_OQ>(_mm256_permutevar8x32_ps(min, turn), max);
        _mm256_and_ps(below, above)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(node: &Node8) -> u32 {
        let one = _mm256_set1_epi32(1);
        let mut turn = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let mut mask = 0;
        for by in 0..4 {
            // Only the lowest three bits count.
            turn = _mm256_add_epi32(turn, one);
            let xy = _mm256_and_ps(meets_turned(node, 0, turn), meets_turned(node, 1, turn));
            let hits = _mm256_movemask_ps(_mm256_and_ps(xy, meets_turned(node, 2, turn)));
            mask |= (hits as u32) << (8 * by);
        }
        mask & WITHIN
    }

    impl Lanes for Avx2 {
        #[inline(always)]
        fn overlapping(self, node: &Node8, query: &Aabb) -> u32 {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { overlapping(node, query) }
        }

        #[inline(always)]
        fn bounds(self, node: &Node8) -> Aabb {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { bounds(node) }
        }

        #[inline(always)]
        fn differing(self, one: &Node8, other: &Node8) -> u32 {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { differing(one, other) }
        }

        #[inline(always)]
        fn within(self, node: &Node8) -> u32 {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { within(node) }
        }

        #[inline(always)]
        fn spread(self, mask: u32, base: u32, list: &mut Vec<u32>) {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { spread(mask, base, list) }
        }

        #[inline(always)]
        fn pair_up(self, id: u32, others: &[u32; WIDTH], mask: u32, pairs: &mut Vec<Pair>) {
            // SAFETY: an `Avx2` exists only on a machine that has the instructions.
            unsafe { pair_up(id, others, mask, pairs) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::NO_BOX;
    use proptest::prelude::*;

    /// Few distinct values, so that bounds often touch, with the hostile ones among them.
    fn bound() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => (-4i8..4).prop_map(f32::from),
            1 => prop::sample::select(vec![f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::MIN]),
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

    impl WithLanes for All<'_> {
        type Output = (u32, Aabb, u32, u32, u32, Vec<u32>, Vec<Pair>);

        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> Self::Output {
            let same = lanes.differing(self.0, self.0);
            let differing = lanes.differing(self.0, self.1);
            let hits = lanes.overlapping(self.0, self.2);
            let (mut list, mut pairs) = (vec![9], Vec::new());
            lanes.spread(hits, 40, &mut list);
            lanes.spread(differing, 8, &mut list);
            lanes.pair_up(12, &[3, 30, 5, 6, 70, 8, u32::MAX, 0], hits, &mut pairs);
            lanes.pair_up(2, &[13, 30, 5, 6, 70, 8, 9, 0], differing, &mut pairs);
            (hits, lanes.bounds(self.0), differing, same, lanes.within(self.0), list, pairs)
        }
    }

    proptest! {
        #[test]
        fn every_instruction_set_agrees_with_plain_rust(
            one in node(), other in node(), keep in any::<u8>(), query in some_box(),
        ) {
            let mut mixed = other;
            for lane in (0..WIDTH).filter(|lane| keep >> lane & 1 == 1) {
                mixed.set(lane, &one.get(lane));
            }
            let found = dispatch(All(&one, &mixed, &query));
            let expected = All(&one, &mixed, &query).run(Portable);
            prop_assert_eq!(&found, &expected);
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

    #[test]
    fn a_lane_without_a_box_overlaps_nothing() {
        let found = dispatch(All(&Node8::EMPTY, &Node8::EMPTY, &Aabb::EVERYTHING));
        assert_eq!((found.0, found.2), (0, 0));
        assert_eq!(found.1, Aabb { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] });
    }
}
