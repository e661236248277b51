//! [`NodeMaps`]: the eight boxes of a node seen from another frame, from a point, from a box or
//! along a ray.
//!
//! All of it is f32 arithmetic, rounded after each operation, so that every instruction set gives
//! the same bits. Results are kept on the safe side by the slack that the caller adds: a mapped box
//! is never too small, a gap never too large.

use super::lane_order::{LEAST_BOUND, LaneOrder, LaneSet};
use super::link::LinkedNode;
use super::node8::{Node8, WIDTH};
use super::vector::{Eight, Mask, Simd, Vector};
use crate::aabb::Aabb;
use glam::Vec4;

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
///
/// A side is reached at its place times the inverse of the direction, minus that of the origin. The
/// lower sides of boxes are moved down by the slack and the upper ones up, whichever is reached
/// first: the two times are sorted, which costs no more than choosing the rows by the signs of the
/// direction and needs no choice before the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeRay {
    pub(super) inverse: [f32; 4],
    /// The origin over the direction, for the lower sides and the upper ones.
    pub(super) to_min: [f32; 4],
    pub(super) to_max: [f32; 4],
}

/// Rounding of all that is between a ray and the boxes of a tree that reaches one unit from the
/// middle, from an origin at most eight units from it on each axis. In halves of a unit in the last
/// place: 8 from rounding the origin, 8 from moving it, 27 from the inverse of the direction and
/// the difference of up to 9 units, 1 and 8 from the products are 52; the rest is room.
pub(crate) const NODE_ROUNDING: f32 = 40.0 * f32::EPSILON;

/// Larger inverses of parts of a direction are cut off there: while a ray passes the mesh it moves
/// by nothing that way.
pub(super) const STEEPEST: f32 = 1e25;

impl NodeRay {
    /// Takes the inverse of each part of the direction, of which the largest is one; infinity for
    /// none. Boxes are grown by the slack, which covers the rounding of the origin and is at least
    /// `1e-20`.
    #[inline(always)]
    pub(crate) fn new(origin: Vec4, inverse: Vec4, slack: f32) -> NodeRay {
        let inverse = inverse.min(Vec4::splat(STEEPEST)).max(Vec4::splat(-STEEPEST));
        let slack = Vec4::splat(slack);
        NodeRay {
            inverse: inverse.to_array(),
            to_min: ((origin + slack) * inverse).to_array(),
            to_max: ((origin - slack) * inverse).to_array(),
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
        let (first, last) = passed(self, node, ray, 0);
        let (enter, leave) = passed(self, node, ray, 1);
        let (enter, leave) = (first.max_f32(enter), last.min_f32(leave));
        let (first, last) = passed(self, node, ray, 2);
        // If the second operand is NaN, so is the result: empty lanes stay empty. In two branches,
        // so that the last axis waits for one operation and not for three.
        let enter = splat(self, LEAST_BOUND).max_f32(first).max_f32(enter);
        let leave = splat(self, limit).min_f32(last).min_f32(leave);
        LaneSet::of_normal(self, enter, enter.le_f32(leave))
    }

    /// The lanes whose gap to a box has a square of at most `limit`, with the squares of their gaps
    /// to a point.
    #[inline(always)]
    fn around(self, node: &Node8, bounds: &Aabb, center: [f32; 3], limit: f32) -> LaneSet<Self> {
        let gaps = squares(self, node, &Aabb { min: center, max: center });
        let near = squares(self, node, bounds).le_f32(splat(self, limit));
        LaneSet::new(self, gaps, near)
    }

    /// The lanes whose gap to a box has a square of at most `limit`, the nearest last.
    #[inline(always)]
    fn nearest(self, node: &LinkedNode, other: &Aabb, limit: f32) -> LaneOrder {
        let gaps = squares(self, &node.boxes, other);
        LaneSet::new(self, gaps, gaps.le_f32(splat(self, limit))).in_order(&node.links)
    }
}

impl<S: Simd> NodeMaps for S {}

/// When a ray passes the sides of each box on an axis: the first, and the other.
#[inline(always)]
fn passed<S: Simd>(simd: S, node: &Node8, ray: &NodeRay, k: usize) -> (S::Eight, S::Eight) {
    let inverse = splat(simd, ray.inverse[k]);
    let one = row(simd, &node.min[k]).mul_f32(inverse).sub_f32(splat(simd, ray.to_min[k]));
    let other = row(simd, &node.max[k]).mul_f32(inverse).sub_f32(splat(simd, ray.to_max[k]));
    (one.min_f32(other), one.max_f32(other))
}

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
    use super::super::link::Link;
    use super::super::{Kernel, Level};
    use super::*;
    use glam::Vec3;

    /// The last are a ray's origin and direction.
    struct All<'a>(&'a LinkedNode, &'a NodeMap, &'a Aabb, [f32; 3], [f32; 3]);

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
            let All(LinkedNode { boxes, links }, map, other, origin, way) = self;
            let gaps = simd.gaps(boxes, other);
            let within: u32 =
                (0..WIDTH).filter(|&lane| gaps[lane] <= 0.3).map(|lane| 1u32 << lane).sum();
            assert_eq!(simd.within_limit(&gaps, 0.3), within);
            let (origin, way) = (Vec3::from(origin).extend(0.0), Vec3::from(way).extend(1.0));
            let ray = NodeRay::new(origin, way.recip(), 1e-6);
            let entered = simd.entered(boxes, &ray, 5.0).in_order(links);
            let orders = [entered, simd.nearest(self.0, other, 0.3)];
            (bits(&simd.mapped(boxes, map)), plain(gaps), orders)
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
            let mut direction = [(); 3].map(|()| random() + 1e-3);
            // Parts of nothing at all, with either sign.
            if round % 5 == 0 {
                direction[round % 3] = [0.0, -0.0, 1e-30][round / 5 % 3];
            }
            let links = std::array::from_fn(|lane| Link::to_node(lane + 3));
            let linked = LinkedNode { boxes: node, links };
            let case = || All(&linked, &map, &other, origin, direction);
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
