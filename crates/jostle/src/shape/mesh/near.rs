//! Triangles near a box, nearest boxes first, and the furthest vertex in a direction.
//!
//! The children of a node are sorted by their gaps and put onto a stack, nearest last. Next to the
//! surface of a mesh of 5 856 triangles the nearest point takes 4.5 nodes, 2.2 leaves and 1.5
//! triangles; from far away 10 nodes, 10 leaves and 7 triangles, because all triangles around the
//! nearest vertex are equally near.

use glam::DVec3;

use super::{Child, Link, Mesh};
use crate::aabb::Aabb;
use crate::simd::lane_order::KEY_ROUNDING;
use crate::simd::lane_stack::{LaneRoom, LaneStack};
use crate::simd::leaf_gaps::LeafGaps;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};

impl Mesh {
    /// Calls `visit` with triangles no further than a limit from the box between two corners: all
    /// of them, and some that are a little further away. It returns the limit from then on; one
    /// below zero ends the search. Nearer leaves come first, and nearer triangles of a leaf.
    #[inline]
    pub(crate) fn near(
        &self,
        low: DVec3,
        high: DVec3,
        limit: f64,
        visit: impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) {
        simd::run(Near { mesh: self, low, high, limit, visit });
    }

    /// The vertex of a triangle furthest in a direction; the first found among equals.
    pub(crate) fn support(&self, direction: DVec3) -> DVec3 {
        let tree = self.tree();
        let (mut best, mut reach) = (self.vertices[self.triangles[0][0] as usize], f64::MIN);
        let mut open = vec![(f64::INFINITY, Link::ROOT)];
        while let Some((bound, at)) = open.pop() {
            if bound <= reach {
                continue;
            }
            let place = match at.child() {
                Child::Node(place) => place as usize,
                Child::Leaf(place) => {
                    for &triangle in tree.leaves[place as usize].triangles() {
                        for corner in self.corners(triangle) {
                            let far = corner.dot(direction);
                            if far > reach {
                                (best, reach) = (corner, far);
                            }
                        }
                    }
                    continue;
                }
            };
            let begin = open.len();
            for lane in 0..WIDTH {
                let aabb = tree.nodes[place].boxes.get(lane);
                if aabb.min[0].is_nan() {
                    break;
                }
                open.push((self.reach_of(&aabb, direction), tree.nodes[place].links[lane]));
            }
            open[begin..].sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        best
    }

    /// How far a box of the tree reaches along a direction, in the space of the mesh.
    fn reach_of(&self, aabb: &Aabb, direction: DVec3) -> f64 {
        let frame = self.tree().frame;
        let mut sum = 0.0;
        for k in 0..3 {
            let end = if direction[k] < 0.0 { aabb.min[k] } else { aabb.max[k] };
            sum += (f64::from(end) / frame.scale + frame.origin[k]) * direction[k];
        }
        sum
    }
}

struct Near<'a, F> {
    mesh: &'a Mesh,
    low: DVec3,
    high: DVec3,
    limit: f64,
    visit: F,
}

/// The square of a limit that gaps are compared with, in the units of the tree and rounded up.
#[inline(always)]
pub(super) fn square_of(limit: f64, scale: f64) -> f32 {
    if limit < 0.0 {
        return -1.0;
    }
    let limit = limit * scale;
    // Too large for f32 is infinite, and everything is within that.
    (limit * limit) as f32 * (1.0 + 8.0 * f32::EPSILON) * KEY_ROUNDING + 2.0 * f32::MIN_POSITIVE
}

impl<F: FnMut(u32, &[DVec3; 3]) -> f64> Kernel for Near<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let tree = self.mesh.tree();
        let (low, high) = (tree.frame.enter(self.low), tree.frame.enter(self.high));
        let large = low.abs().max(high.abs()).max_element();
        let slack = 2.0 * f64::from(f32::EPSILON) * large + 1e-30;
        let seen = Aabb {
            min: (low - slack).as_vec3().to_array(),
            max: (high + slack).as_vec3().to_array(),
        };
        let mut limit = square_of(self.limit, tree.frame.scale);
        let is_point = self.low == self.high;
        let point = low.as_vec3().to_array();
        let mut room = LaneRoom::new();
        let mut open = LaneStack::new(&mut room);
        let mut place = 0;
        loop {
            let order = simd.nearest(&tree.nodes[place as usize], &seen, limit);
            open.push(&order);
            place = loop {
                let Some((key, link)) = open.pop() else { return };
                if key > limit {
                    continue;
                }
                let leaf = match link.child() {
                    Child::Node(place) => break place,
                    Child::Leaf(place) => &tree.leaves[place as usize],
                };
                let gaps = if is_point {
                    simd.gaps_to_point(leaf, point, slack as f32 * (1.0 + f32::EPSILON))
                } else {
                    simd.gaps_to_box(leaf, &seen)
                };
                let mut left = simd.within_limit(&gaps, limit);
                while left != 0 {
                    let lane = least(&gaps, left);
                    if gaps[lane] > limit {
                        break;
                    }
                    left &= !(1 << lane);
                    let triangle = leaf.triangle(lane);
                    let next = (self.visit)(triangle, &self.mesh.corners(triangle));
                    if next < 0.0 {
                        return;
                    }
                    limit = square_of(next, tree.frame.scale);
                }
            };
        }
    }
}

/// The lane of the least gap among those that a mask names; the first among equals.
#[inline(always)]
fn least(gaps: &[f32; WIDTH], mut left: u32) -> usize {
    let mut best = left.trailing_zeros() as usize % WIDTH;
    left &= left - 1;
    while left != 0 {
        let lane = left.trailing_zeros() as usize % WIDTH;
        left &= left - 1;
        best = if gaps[lane] < gaps[best] { lane } else { best };
    }
    best
}
