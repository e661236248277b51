//! How far apart are two meshes? [`MeshPair::closest`].
//!
//! Both trees are descended at once, nearest boxes first, with the best distance so far carried
//! along. The gap of two boxes is the larger of those in the two frames. Boxes are f32 and grown
//! outward, so a gap is never too large and nothing nearer is ever left out.

use super::between::Between;
use super::data::Link;
use super::feature::{Nearest, parted_by, triangles};
use super::pairs::MeshPair;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};
use glam::DVec3;

/// The nearest points of two meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshClosest {
    /// Zero if the meshes touch or one holds the other.
    pub distance: f64,
    /// The distance is at most this much larger than the true one.
    pub bound: f64,
    /// The nearest point of a, in the world. Points and triangles have no meaning for meshes that
    /// touch.
    pub point_a: DVec3,
    /// The nearest point of b, in the world.
    pub point_b: DVec3,
    /// The triangle of a that it lies on.
    pub triangle_a: u32,
    /// The triangle of b that it lies on.
    pub triangle_b: u32,
}

impl MeshPair<'_> {
    /// The distance of the meshes; zero if they touch.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.closest().distance
    }

    /// The nearest points of the meshes.
    #[must_use]
    pub fn closest(&self) -> MeshClosest {
        self.closest_within(f64::INFINITY)
            .unwrap_or(MeshClosest { distance: f64::INFINITY, ..MeshClosest::TOUCHING })
    }

    /// As [`MeshPair::closest`], for meshes no further apart than `reach`.
    #[must_use]
    pub fn closest_within(&self, reach: f64) -> Option<MeshClosest> {
        if self.intersects() {
            return Some(MeshClosest::TOUCHING);
        }
        let search = Search { between: &self.between, best: Best::within(reach) };
        let best = simd::run(search);
        best.near.map(|near| self.certified(&near, best.triangles))
    }

    fn certified(&self, near: &Nearest, (a, b): (u32, u32)) -> MeshClosest {
        let between = &self.between;
        let distance = near.square.sqrt();
        let (one, other) = (between.a.corners(a), between.corners_b(b));
        let normal = (near.on_b - near.on_a) / distance;
        // Half a dozen roundings of coordinates, and of their squares.
        let far = near.on_a.abs().max(near.on_b.abs()).max_element();
        let rounding = 16.0 * f64::EPSILON * (far + distance);
        let certain = if normal.is_finite() { parted_by(normal, &one, &other) } else { 0.0 };
        MeshClosest {
            distance,
            bound: (distance - certain).max(0.0) + rounding,
            point_a: between.pose_a.apply(near.on_a),
            point_b: between.pose_a.apply(near.on_b),
            triangle_a: a,
            triangle_b: b,
        }
    }
}

impl MeshClosest {
    const TOUCHING: MeshClosest = MeshClosest {
        distance: 0.0,
        bound: 0.0,
        point_a: DVec3::ZERO,
        point_b: DVec3::ZERO,
        triangle_a: 0,
        triangle_b: 0,
    };
}

/// The best so far.
#[derive(Clone, Copy)]
struct Best {
    square: f64,
    near: Option<Nearest>,
    triangles: (u32, u32),
}

impl Best {
    fn within(reach: f64) -> Best {
        Best { square: reach * reach, near: None, triangles: (0, 0) }
    }
}

struct Search<'a> {
    between: &'a Between<'a>,
    best: Best,
}

/// Boxes that are still to be opened, with the square of their gap in the units of a's tree.
#[derive(Clone, Copy)]
struct Open {
    gap: f32,
    a: u32,
    b: u32,
}

/// Squares lose a few units of f32.
const ROUNDING: f32 = 1.0 - 8.0 * f32::EPSILON;

impl Kernel for Search<'_> {
    type Output = Best;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Best {
        let (tree_a, tree_b) = (self.between.a.tree(), self.between.b.tree());
        let unit = tree_a.frame.scale * tree_a.frame.scale;
        // From the square units of b's tree to those of a's.
        let ratio = (tree_a.frame.scale / tree_b.frame.scale).powi(2) as f32;
        let aligned = self.between.is_aligned();
        let mut open = vec![Open { gap: 0.0, a: 0, b: 0 }];
        let mut found: Vec<Open> = Vec::with_capacity(WIDTH * WIDTH);
        while let Some(next) = open.pop() {
            let limit = limit_of(self.best.square, unit);
            if next.gap > limit {
                continue;
            }
            let (at_a, at_b) = (next.a, next.b);
            let (node_a, node_b) = (&tree_a.nodes[at_a as usize], &tree_b.nodes[at_b as usize]);
            let b_in_a = simd.mapped(node_b, &self.between.to_a);
            let a_in_b = simd.mapped(node_a, &self.between.to_b);
            found.clear();
            for lane in 0..WIDTH {
                let own = node_b.get(lane);
                if own.min[0].is_nan() {
                    break;
                }
                let gaps = simd.gaps(node_a, &b_in_a.get(lane));
                let others = if aligned { [0.0; WIDTH] } else { simd.gaps(&a_in_b, &own) };
                for k in 0..WIDTH {
                    let (one, other) = (gaps[k], others[k] * ratio);
                    let gap = if one > other { one } else { other } * ROUNDING;
                    // False for empty lanes.
                    if gap <= limit && one >= 0.0 {
                        found.push(Open { gap, a: k as u32, b: lane as u32 });
                    }
                }
            }
            match (tree_a.link(at_a), tree_b.link(at_b)) {
                (Link::Triangles(first_a), Link::Triangles(first_b)) => {
                    found.sort_unstable_by(|one, other| one.gap.total_cmp(&other.gap));
                    self.measure(&found, first_a, first_b, unit);
                }
                (Link::Nodes(first_a), Link::Nodes(first_b)) => {
                    nearest_last(&mut found);
                    open.extend(found.iter().map(|at| Open {
                        gap: at.gap,
                        a: first_a + at.a,
                        b: first_b + at.b,
                    }));
                }
                (Link::Nodes(first_a), Link::Triangles(_)) => {
                    least_of_each(&mut found, |at| at.a);
                    open.extend(found.iter().map(|at| Open {
                        gap: at.gap,
                        a: first_a + at.a,
                        b: at_b,
                    }));
                }
                (Link::Triangles(_), Link::Nodes(first_b)) => {
                    least_of_each(&mut found, |at| at.b);
                    open.extend(found.iter().map(|at| Open {
                        gap: at.gap,
                        a: at_a,
                        b: first_b + at.b,
                    }));
                }
            }
        }
        self.best
    }
}

/// The square that gaps are compared with, rounded up.
#[inline(always)]
fn limit_of(square: f64, unit: f64) -> f32 {
    (square * unit) as f32 * (1.0 + 4.0 * f32::EPSILON) + f32::MIN_POSITIVE
}

fn nearest_last(found: &mut [Open]) {
    found.sort_unstable_by(|one, other| {
        other.gap.total_cmp(&one.gap).then((other.a, other.b).cmp(&(one.a, one.b)))
    });
}

/// Keeps the least gap of each lane of one side, and puts the nearest last.
fn least_of_each(found: &mut Vec<Open>, lane: impl Fn(&Open) -> u32) {
    let mut least = [f32::INFINITY; WIDTH];
    for at in found.iter() {
        let place = lane(at) as usize;
        least[place] = least[place].min(at.gap);
    }
    found.clear();
    for (place, &gap) in (0..).zip(&least) {
        if gap < f32::INFINITY {
            found.push(Open { gap, a: place, b: place });
        }
    }
    nearest_last(found);
}

impl Search<'_> {
    #[inline(never)]
    fn measure(&mut self, found: &[Open], first_a: u32, first_b: u32, unit: f64) {
        let between = self.between;
        for at in found {
            if at.gap > limit_of(self.best.square, unit) {
                break;
            }
            let a = between.a.tree().triangle(first_a + at.a);
            let b = between.b.tree().triangle(first_b + at.b);
            let near = triangles(&between.a.corners(a), &between.corners_b(b), self.best.square);
            if let Some(near) = near {
                self.best = Best { square: near.square, near: Some(near), triangles: (a, b) };
            }
        }
    }
}
