//! [`NodeMaps`]: the eight boxes of a node seen from another frame, from a point, from a box or
//! along a ray.
//!
//! All of it is f32 arithmetic, rounded after each operation, so that every instruction set gives
//! the same bits. Results are kept on the safe side by the slack that the caller adds: a mapped box
//! is never too small, a gap never too large.

use super::lane_order::{LaneOrder, LaneSet};
use super::node8::{Node8, WIDTH};
use super::vector::{Eight, Mask, Simd, Vector};
use crate::aabb::Aabb;
use glam::{Vec3, Vec4};

/// An affine map between the frames of two trees, and how much larger a mapped box is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeMap {
    /// Rows of the matrix.
    pub rows: [[f32; 3]; 3],
    pub shift: [f32; 3],
    /// Covers the rounding of the map.
    pub slack: f32,
}

impl NodeMap {
    /// A single box in another frame, as [`NodeMaps::mapped`] has it.
    #[inline(always)]
    pub(crate) fn single(&self, aabb: &Aabb) -> Aabb {
        let center: [f32; 3] = std::array::from_fn(|k| (aabb.min[k] + aabb.max[k]) * 0.5);
        let reach: [f32; 3] = std::array::from_fn(|k| (aabb.max[k] - aabb.min[k]) * 0.5);
        let mut mapped = *aabb;
        for k in 0..3 {
            let (mut at, mut wide) = (self.shift[k], self.slack);
            for j in 0..3 {
                at += center[j] * self.rows[k][j];
                wide += reach[j] * self.rows[k][j].abs();
            }
            (mapped.min[k], mapped.max[k]) = (at - wide, at + wide);
        }
        mapped
    }
}

/// A ray in the frame of a tree, as boxes want it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NodeRay {
    /// Of each axis the row of a node, minima first, that the ray reaches first, and the other:
    /// all below six.
    first: [usize; 3],
    last: [usize; 3],
    /// The origin, moved so that boxes seem larger: for the sides reached first and last.
    to_first: [f32; 3],
    to_last: [f32; 3],
    inverse: [f32; 3],
    /// A little more, which covers the rounding of products.
    to_leave: [f32; 3],
}

impl NodeRay {
    /// Boxes are grown by the slack, which covers the rounding of the origin. Parts of the
    /// direction are finite, and the largest is one.
    #[inline(always)]
    pub(crate) fn new(origin: Vec3, direction: Vec3, slack: f32) -> NodeRay {
        // In four lanes, which are one register.
        let (origin, direction) = (origin.extend(0.0), direction.extend(1.0));
        let least = Vec4::splat(1e-25).copysign(direction);
        let inverse = Vec4::select(direction.abs().cmplt(least.abs()), least, direction).recip();
        let slack = Vec4::splat(slack).copysign(inverse);
        let signs = inverse.is_negative_bitmask() as usize;
        let back = [3 * (signs & 1), 3 * (signs >> 1 & 1), 3 * (signs >> 2 & 1)];
        NodeRay {
            first: [back[0], 1 + back[1], 2 + back[2]],
            last: [3 - back[0], 4 - back[1], 5 - back[2]],
            to_first: (origin + slack).truncate().to_array(),
            to_last: (origin - slack).truncate().to_array(),
            inverse: inverse.truncate().to_array(),
            to_leave: (inverse * (1.0 + 8.0 * f32::EPSILON)).truncate().to_array(),
        }
    }
}

/// What a traversal asks the boxes of a node.
pub(crate) trait NodeMaps: Simd {
    /// Each box in another frame. Lanes without a box stay without one.
    #[inline(always)]
    fn mapped(self, node: &Node8, map: &NodeMap) -> Node8 {
        let (center, reach) = (
            [middle(self, node, 0), middle(self, node, 1), middle(self, node, 2)],
            [half(self, node, 0), half(self, node, 1), half(self, node, 2)],
        );
        let slack = splat(self, map.slack);
        let mut out = Node8::EMPTY;
        for k in 0..3 {
            let mut at = splat(self, map.shift[k]);
            let mut wide = slack;
            for j in 0..3 {
                at = at.add_f32(center[j].mul_f32(splat(self, map.rows[k][j])));
                wide = wide.add_f32(reach[j].mul_f32(splat(self, map.rows[k][j].abs())));
            }
            put(at.sub_f32(wide), &mut out.min[k]);
            put(at.add_f32(wide), &mut out.max[k]);
        }
        out
    }

    /// Square of the gap between each box and another; NaN for lanes without a box.
    #[inline(always)]
    fn gaps(self, node: &Node8, other: &Aabb) -> [f32; WIDTH] {
        let mut out = [0.0; WIDTH];
        put(squares(self, node, other), &mut out);
        out
    }

    /// The lanes whose gap is at most a limit; NaN is not.
    #[inline(always)]
    fn within_limit(self, gaps: &[f32; WIDTH], limit: f32) -> u32 {
        row(self, gaps).le_f32(splat(self, limit)).bits()
    }

    /// The lanes whose box a ray enters no later than `limit`, and when. The limit is not rounded
    /// up.
    #[inline(always)]
    fn entered(self, node: &Node8, ray: &NodeRay, limit: f32) -> LaneSet<Self> {
        let mut enter = splat(self, 0.0);
        let mut leave = splat(self, limit);
        for k in 0..3 {
            // SAFETY: a ray names no row but the six.
            let (first, last) =
                unsafe { (any_row(self, node, ray.first[k]), any_row(self, node, ray.last[k])) };
            // If the second operand is NaN, so is the result: empty lanes stay empty.
            let first = first.sub_f32(splat(self, ray.to_first[k]));
            let first = first.mul_f32(splat(self, ray.inverse[k]));
            let last = last.sub_f32(splat(self, ray.to_last[k]));
            let last = last.mul_f32(splat(self, ray.to_leave[k]));
            enter = enter.max_f32(first);
            leave = leave.min_f32(last);
        }
        LaneSet::new(self, enter, enter.le_f32(leave))
    }

    /// The lanes whose gap to a box has a square of at most `limit`, the nearest last.
    #[inline(always)]
    fn nearest(self, node: &Node8, other: &Aabb, limit: f32) -> LaneOrder {
        let gaps = squares(self, node, other);
        LaneSet::new(self, gaps, gaps.le_f32(splat(self, limit))).in_order()
    }
}

impl<S: Simd> NodeMaps for S {}

/// Square of the gap between each box and another; NaN for lanes without a box.
#[inline(always)]
fn squares<S: Simd>(simd: S, node: &Node8, other: &Aabb) -> S::Eight {
    let none = splat(simd, 0.0);
    let mut sum = none;
    for k in 0..3 {
        let below = row(simd, &node.min[k]).sub_f32(splat(simd, other.max[k]));
        let above = splat(simd, other.min[k]).sub_f32(row(simd, &node.max[k]));
        // If the second operand is NaN, so is the result: empty lanes stay empty.
        let gap = none.max_f32(below.max_f32(above));
        sum = sum.add_f32(gap.mul_f32(gap));
    }
    sum
}

/// A row of a node by its number: minima, then maxima. The choice costs no branch.
///
/// # Safety
/// The number is below six.
#[inline(always)]
unsafe fn any_row<S: Simd>(simd: S, node: &Node8, number: usize) -> S::Eight {
    let rows: *const [f32; WIDTH] = std::ptr::from_ref(node).cast();
    // SAFETY: a node is six rows in this order and nothing else, see `repr(C)`.
    unsafe { S::Eight::load(simd, rows.add(number).cast()) }
}

#[inline(always)]
fn splat<S: Simd>(simd: S, value: f32) -> S::Eight {
    S::Eight::splat(simd, value.to_bits())
}

/// The middles of the boxes on an axis. Not a closure: see [`lanes`](super::lanes).
#[inline(always)]
fn middle<S: Simd>(simd: S, node: &Node8, k: usize) -> S::Eight {
    row(simd, &node.min[k]).add_f32(row(simd, &node.max[k])).mul_f32(splat(simd, 0.5))
}

/// Half the lengths of the boxes on an axis.
#[inline(always)]
fn half<S: Simd>(simd: S, node: &Node8, k: usize) -> S::Eight {
    row(simd, &node.max[k]).sub_f32(row(simd, &node.min[k])).mul_f32(splat(simd, 0.5))
}

#[inline(always)]
fn row<S: Simd>(simd: S, values: &[f32; WIDTH]) -> S::Eight {
    // SAFETY: eight values are readable.
    unsafe { S::Eight::load(simd, values.as_ptr().cast()) }
}

#[inline(always)]
fn put<E: Eight>(register: E, values: &mut [f32; WIDTH]) {
    // SAFETY: there is room for eight values.
    unsafe { register.store(values.as_mut_ptr().cast()) };
}

#[cfg(test)]
mod tests {
    use super::super::lane_order::{bound_of, lane_of};
    use super::super::{Kernel, Level};
    use super::*;

    struct All<'a>(&'a Node8, &'a NodeMap, &'a Aabb, &'a NodeRay);

    fn bits(node: &Node8) -> Vec<u32> {
        let lanes = node.min.iter().chain(&node.max).flatten();
        lanes.map(|lane| if lane.is_nan() { 1 } else { lane.to_bits() }).collect()
    }

    impl Kernel for All<'_> {
        type Output = (Vec<u32>, Vec<u32>, [LaneOrder; 2]);

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Self::Output {
            let plain = |lanes: [f32; WIDTH]| {
                lanes.map(|lane| if lane.is_nan() { 1 } else { lane.to_bits() }).to_vec()
            };
            let gaps = simd.gaps(self.0, self.2);
            let within: u32 =
                (0..WIDTH).filter(|&lane| gaps[lane] <= 0.3).map(|lane| 1u32 << lane).sum();
            assert_eq!(simd.within_limit(&gaps, 0.3), within);
            let entered = simd.entered(self.0, self.3, 5.0).in_order();
            let orders = [entered, simd.nearest(self.0, self.2, 0.3)];
            (bits(&simd.mapped(self.0, self.1)), plain(gaps), orders)
        }
    }

    /// The lanes of an order, lowest first.
    fn lanes(order: &LaneOrder) -> Vec<usize> {
        let mut lanes: Vec<usize> =
            order.keys[..order.count].iter().copied().map(lane_of).collect();
        lanes.sort_unstable();
        lanes
    }

    #[test]
    fn every_level_gives_the_same_bits_and_empty_lanes_stay_empty() {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        for round in 0..500 {
            let mut node = Node8::EMPTY;
            for lane in 0..WIDTH - round % 3 {
                let (low, high) = ([(); 3].map(|()| random()), [(); 3].map(|()| random()));
                let min = std::array::from_fn(|k| low[k].min(high[k]));
                node.set(lane, &Aabb { min, max: std::array::from_fn(|k| low[k].max(high[k])) });
            }
            let rows = [(); 3].map(|()| [(); 3].map(|()| random()));
            let map = NodeMap { rows, shift: [(); 3].map(|()| random()), slack: 1e-6 };
            let low = [(); 3].map(|()| random());
            let other = Aabb { min: low, max: low.map(|at| at + 0.25) };
            let origin = [(); 3].map(|()| 2.0 * random());
            let direction = [(); 3].map(|()| random() + 1e-3);
            let ray = NodeRay::new(origin.into(), direction.into(), 1e-6);
            let case = || All(&node, &map, &other, &ray);
            let levels = Level::available();
            let plainly = levels[0].run(case());
            for level in &levels[1..] {
                assert_eq!(level.run(case()), plainly, "{level:?}");
            }
            for lane in WIDTH - round % 3..WIDTH {
                assert!(plainly.0[lane] == 1 && plainly.1[lane] == 1);
                assert!(!node.get(lane).overlaps(&Aabb::EVERYTHING));
            }
            check_one(&node, &map, &other, &plainly.1);
            check_ray(&node, origin, direction, &plainly.2[0]);
            let near = |&lane: &usize| f32::from_bits(plainly.1[lane]) <= 0.3;
            let filled = WIDTH - round % 3;
            assert_eq!(lanes(&plainly.2[1]), (0..filled).filter(near).collect::<Vec<_>>());
        }
    }

    /// A ray enters the boxes that it enters by f64, and some that it nearly does.
    fn check_ray(node: &Node8, origin: [f32; 3], direction: [f32; 3], order: &LaneOrder) {
        let entered = |aabb: &Aabb, slack: f64| {
            let (mut enter, mut leave) = (0.0f64, 5.0f64);
            for k in 0..3 {
                let (from, part) = (f64::from(origin[k]), f64::from(direction[k]));
                let one = (f64::from(aabb.min[k]) - slack - from) / part;
                let other = (f64::from(aabb.max[k]) + slack - from) / part;
                (enter, leave) = (enter.max(one.min(other)), leave.min(one.max(other)));
            }
            (enter <= leave).then_some(enter)
        };
        let found = lanes(order);
        for lane in 0..WIDTH {
            let aabb = node.get(lane);
            let seen = found.contains(&lane);
            if aabb.min[0].is_nan() {
                assert!(!seen);
                continue;
            }
            assert!(seen || entered(&aabb, 0.0).is_none(), "{aabb:?}");
            assert!(!seen || entered(&aabb, 1e-4).is_some(), "{aabb:?}");
        }
        for key in &order.keys[..order.count] {
            let time = entered(&node.get(lane_of(*key)), 0.0);
            assert!(time.is_none_or(|time| f64::from(bound_of(*key)) <= time.max(1e-37)));
        }
        let times = order.keys[..order.count].windows(2);
        assert!(times.into_iter().all(|two| two[0] > two[1]), "the soonest last");
    }

    /// Corners of a box land in the mapped box, and the gap is no more than that of any corner.
    fn check_one(node: &Node8, map: &NodeMap, other: &Aabb, gaps: &[u32]) {
        let mapped = super::super::run(Mapped(node, map));
        for lane in 0..WIDTH - 2 {
            let (from, to) = (node.get(lane), mapped.get(lane));
            assert_eq!(map.single(&from), to);
            for corner in 0..8 {
                let at: [f32; 3] = std::array::from_fn(|k| {
                    if corner >> k & 1 == 0 { from.min[k] } else { from.max[k] }
                });
                for k in 0..3 {
                    let x = f64::from(map.shift[k])
                        + (0..3).map(|j| f64::from(map.rows[k][j]) * f64::from(at[j])).sum::<f64>();
                    assert!(f64::from(to.min[k]) <= x && x <= f64::from(to.max[k]));
                }
            }
            let overlap = from.overlaps(other);
            assert_eq!(overlap, f32::from_bits(gaps[lane]) == 0.0);
        }
    }

    struct Mapped<'a>(&'a Node8, &'a NodeMap);

    impl Kernel for Mapped<'_> {
        type Output = Node8;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Node8 {
            simd.mapped(self.0, self.1)
        }
    }
}
