//! Triangles near a box, nearest boxes first, and the furthest vertex in a direction.

use glam::DVec3;

use super::{Link, Mesh};
use crate::aabb::Aabb;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};

impl Mesh {
    /// Calls `visit` with triangles whose boxes are no further than a limit from the box between
    /// two corners: all of them, and some that are a little further away. It returns the limit from
    /// then on; one below zero ends the search. Nearer boxes come first, but for those in one leaf.
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
        let mut open = vec![(f64::INFINITY, 0)];
        while let Some((bound, at)) = open.pop() {
            if bound <= reach {
                continue;
            }
            let begin = open.len();
            for lane in 0..WIDTH {
                let aabb = tree.nodes[at as usize].get(lane);
                if aabb.min[0].is_nan() {
                    break;
                }
                match tree.link(at) {
                    Link::Nodes(first) => {
                        open.push((self.reach_of(&aabb, direction), first + lane as u32));
                    }
                    Link::Triangles(first) => {
                        for corner in self.corners(tree.triangle(first + lane as u32)) {
                            let far = corner.dot(direction);
                            if far > reach {
                                (best, reach) = (corner, far);
                            }
                        }
                    }
                }
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
fn square_of(limit: f64, scale: f64) -> f32 {
    if limit < 0.0 {
        return -1.0;
    }
    let limit = limit * scale;
    // Too large for f32 is infinite, and everything is within that.
    (limit * limit) as f32 * (1.0 + 8.0 * f32::EPSILON) + f32::MIN_POSITIVE
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
        let mut open: Vec<(f32, u32)> = Vec::with_capacity(64);
        open.push((0.0, 0));
        while let Some((gap, node)) = open.pop() {
            if gap > limit {
                continue;
            }
            let gaps = simd.gaps(&tree.nodes[node as usize], &seen);
            match tree.link(node) {
                Link::Nodes(first) => {
                    let begin = open.len();
                    for lane in 0..WIDTH {
                        // False for empty lanes.
                        if gaps[lane] <= limit {
                            let item = (gaps[lane], first + lane as u32);
                            let mut place = open.len();
                            open.push(item);
                            while place > begin && open[place - 1].0 < item.0 {
                                open[place] = open[place - 1];
                                place -= 1;
                            }
                            open[place] = item;
                        }
                    }
                }
                Link::Triangles(first) => {
                    for lane in 0..WIDTH {
                        if gaps[lane] <= limit {
                            let triangle = tree.triangle(first + lane as u32);
                            let next = (self.visit)(triangle, &self.mesh.corners(triangle));
                            if next < 0.0 {
                                return;
                            }
                            limit = square_of(next, tree.frame.scale);
                        }
                    }
                }
            }
        }
    }
}
