//! How far apart are two meshes? [`MeshPair::closest`].
//!
//! Both trees are descended at once, nearest boxes first, with the best distance so far carried
//! along. The gap of two boxes is the larger of those in the two frames. Boxes are f32 and grown
//! outward, so a gap is never too large and nothing nearer is ever left out.

use super::between::Between;
use super::data::{Child, Link};
use super::feature::{Nearest, parted_by, triangles};
use super::pairs::MeshPair;
use crate::simd::leaf_pairs::{LeafPairs, PairGap};
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};
use glam::DVec3;

/// The nearest points of two meshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshClosest {
    /// Zero if the meshes touch or one holds the other, and greater than zero if not: where the
    /// nearest points are the same number, it is the smallest normal one.
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
        let closest = self.certified(&best.near?, best.triangles);
        // Nothing that is apart is within no reach at all.
        (reach > 0.0).then_some(closest)
    }

    fn certified(&self, near: &Nearest, (a, b): (u32, u32)) -> MeshClosest {
        let between = &self.between;
        let gap = near.on_b - near.on_a;
        // A square of less has lost some bits.
        let distance = if near.square > 1e-290 { near.square.sqrt() } else { length(gap) };
        let distance = distance.max(f64::MIN_POSITIVE);
        let (one, other) = (between.a.corners(a), between.corners_b(b));
        let normal = gap / distance;
        // Half a dozen roundings of coordinates, and of their squares.
        let far = near.on_a.abs().max(near.on_b.abs()).max_element();
        let rounding = 16.0 * f64::EPSILON * (far + distance);
        // A normal that is mostly rounding parts nothing; no distance is below zero.
        let certain = parted_by(normal, &one, &other).max(0.0);
        let certain = if normal.is_normalized() { certain } else { 0.0 };
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

/// The length of a vector whose square may be too small for a number.
fn length(vector: DVec3) -> f64 {
    let largest = vector.abs().max_element();
    if largest > 0.0 { largest * (vector / largest).length() } else { 0.0 }
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

/// What is still to be opened, with the square of the gap in the units of a's tree.
#[derive(Clone, Copy)]
struct Open {
    gap: f32,
    a: Link,
    b: Link,
}

/// Squares lose a few units of f32.
const ROUNDING: f32 = 1.0 - 8.0 * f32::EPSILON;

impl Kernel for Search<'_> {
    type Output = Best;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Best {
        let Between { a, b, to_a, to_b, .. } = *self.between;
        let (tree_a, tree_b) = (a.tree(), b.tree());
        let unit = tree_a.frame.scale * tree_a.frame.scale;
        // From the square units of b's tree to those of a's.
        let ratio = (tree_a.frame.scale / tree_b.frame.scale).powi(2) as f32;
        let aligned = self.between.is_aligned();
        let mut found: Vec<PairGap> = Vec::with_capacity(WIDTH * WIDTH);
        let mut open = vec![Open { gap: 0.0, a: Link::ROOT, b: Link::ROOT }];
        while let Some(next) = open.pop() {
            let limit = limit_of(self.best.square, unit);
            if next.gap > limit {
                continue;
            }
            let begin = open.len();
            match (next.a.child(), next.b.child()) {
                (Child::Node(node_a), Child::Node(node_b)) => {
                    let (links_a, links_b) = (
                        &tree_a.nodes[node_a as usize].links,
                        &tree_b.nodes[node_b as usize].links,
                    );
                    let node_a = &tree_a.nodes[node_a as usize].boxes;
                    let node_b = &tree_b.nodes[node_b as usize].boxes;
                    let b_in_a = simd.mapped(node_b, &to_a);
                    let a_in_b = simd.mapped(node_a, &to_b);
                    for lane in 0..WIDTH {
                        let own = node_b.get(lane);
                        if own.min[0].is_nan() {
                            break;
                        }
                        let gaps = simd.gaps(node_a, &b_in_a.get(lane));
                        let others = if aligned { [0.0; WIDTH] } else { simd.gaps(&a_in_b, &own) };
                        for k in 0..WIDTH {
                            let gap = larger(gaps[k], others[k] * ratio);
                            // False for empty lanes.
                            if gap <= limit && gaps[k] >= 0.0 {
                                open.push(Open { gap, a: links_a[k], b: links_b[lane] });
                            }
                        }
                    }
                }
                (Child::Leaf(leaf), Child::Node(node)) => {
                    let (bounds, node) = (tree_a.leaves[leaf as usize].bounds(), node as usize);
                    let seen = simd.mapped(&tree_b.nodes[node].boxes, &to_a);
                    let gaps = simd.gaps(&seen, &bounds);
                    let others = simd.gaps(&tree_b.nodes[node].boxes, &to_b.single(&bounds));
                    for k in 0..WIDTH {
                        let gap = larger(gaps[k], others[k] * ratio);
                        if gap <= limit && gaps[k] >= 0.0 {
                            open.push(Open { gap, a: next.a, b: tree_b.nodes[node].links[k] });
                        }
                    }
                }
                (Child::Node(node), Child::Leaf(leaf)) => {
                    let (bounds, node) = (tree_b.leaves[leaf as usize].bounds(), node as usize);
                    let gaps = simd.gaps(&tree_a.nodes[node].boxes, &to_a.single(&bounds));
                    let seen = simd.mapped(&tree_a.nodes[node].boxes, &to_b);
                    let others = simd.gaps(&seen, &bounds);
                    for k in 0..WIDTH {
                        let gap = larger(gaps[k], others[k] * ratio);
                        if gap <= limit && gaps[k] >= 0.0 {
                            open.push(Open { gap, a: tree_a.nodes[node].links[k], b: next.b });
                        }
                    }
                }
                (Child::Leaf(leaf_a), Child::Leaf(leaf_b)) => {
                    let leaf_a = &tree_a.leaves[leaf_a as usize];
                    let leaf_b = &tree_b.leaves[leaf_b as usize];
                    let line = self.line();
                    found.clear();
                    simd.leaf_gaps(leaf_a, leaf_b, &to_a, line, limit, &mut found);
                    if !found.is_empty() {
                        self.measure(leaf_a, leaf_b, &mut found, unit);
                    }
                }
            }
            // Stable, and so the same everywhere.
            open[begin..].sort_by(|one, other| other.gap.total_cmp(&one.gap));
        }
        self.best
    }
}

/// The larger of two bounds, a little less for the rounding of squares.
#[inline(always)]
fn larger(one: f32, other: f32) -> f32 {
    if one > other { one * ROUNDING } else { other * ROUNDING }
}

/// The square that gaps are compared with, rounded up.
#[inline(always)]
fn limit_of(square: f64, unit: f64) -> f32 {
    (square * unit) as f32 * (1.0 + 4.0 * f32::EPSILON) + f32::MIN_POSITIVE
}

impl Search<'_> {
    /// From the nearest point of a to that of b, in a's tree: what parts the nearest triangles
    /// parts their neighbours too.
    #[inline(always)]
    fn line(&self) -> [f32; 3] {
        let line = self.best.near.map_or(DVec3::ZERO, |near| near.on_b - near.on_a);
        line.normalize_or_zero().as_vec3().to_array()
    }

    /// Measures the triangles of two leaves that may be nearer than the best so far, the most
    /// likely first.
    #[inline(never)]
    fn measure(&mut self, leaf_a: &Leaf8, leaf_b: &Leaf8, found: &mut [PairGap], unit: f64) {
        let between = self.between;
        found.sort_unstable_by(|one, other| {
            one.gap.total_cmp(&other.gap).then((one.a, one.b).cmp(&(other.a, other.b)))
        });
        for at in found {
            if at.gap > limit_of(self.best.square, unit) {
                break;
            }
            let (a, b) = (leaf_a.triangle(at.a as usize), leaf_b.triangle(at.b as usize));
            let near = triangles(&between.a.corners(a), &between.corners_b(b), self.best.square);
            if let Some(near) = near {
                self.best = Best { square: near.square, near: Some(near), triangles: (a, b) };
            }
        }
    }
}
