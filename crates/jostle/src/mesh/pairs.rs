//! [`MeshPair`]: which triangles of two meshes touch.
//!
//! Both trees are descended at once. The eight boxes of a node are carried into the frame of the
//! other mesh and tested there and at home: six axes in all, at some five instructions a pair of
//! boxes. A leaf against an inner node waits until the other side is a leaf too. The triangles of
//! two leaves are told apart by their boxes and planes, eight at a time, and what is left is
//! decided exactly.

use std::fmt;
use std::ops::ControlFlow;

use super::between::Between;
use super::data::{Child, Fill, Link, Mesh};
use super::exact::triangles_touch;
use crate::aabb::Aabb;
use crate::ds::spill::Spill;
use crate::shape::Pose;
use crate::simd::leaf_pairs::LeafPairs;
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::{NodeMap, NodeMaps};
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};
use glam::DVec3;

/// Two meshes at their poses, to be asked about each other.
///
/// ```
/// use jostle::mesh::{Mesh, MeshPair};
/// use jostle::shape::Pose;
///
/// let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(Into::into).to_vec();
/// let sheet = Mesh::new(corners, vec![[0, 1, 2]])?;
/// let beside = Pose::at([4.0, 0.0, 0.0])?; // they share a corner
/// let pair = MeshPair::new(&sheet, &Pose::IDENTITY, &sheet, &beside);
/// assert!(pair.intersects());
/// assert_eq!(pair.triangle_pairs(usize::MAX)?, [(0, 0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MeshPair<'a> {
    pub(super) between: Between<'a>,
}

/// More pairs of triangles touch than the caller allowed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyTrianglePairs {
    /// The limit that was given.
    pub limit: usize,
}

impl fmt::Display for TooManyTrianglePairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} pairs of triangles touch; raise the limit", self.limit)
    }
}

impl std::error::Error for TooManyTrianglePairs {}

impl<'a> MeshPair<'a> {
    /// Two meshes at their poses.
    pub fn new(a: &'a Mesh, pose_a: &Pose, b: &'a Mesh, pose_b: &Pose) -> MeshPair<'a> {
        MeshPair { between: Between::new(a, pose_a, b, pose_b) }
    }

    /// Returns true if the meshes touch. A solid touches what is inside it.
    #[must_use]
    pub fn intersects(&self) -> bool {
        self.surfaces_touch() || self.holds()
    }

    /// Returns true if a triangle of one touches a triangle of the other.
    pub(super) fn surfaces_touch(&self) -> bool {
        let found = self.visit(|between, a, _, corners| {
            if triangles_touch(&between.a.corners(a), corners) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        found.is_break()
    }

    /// Returns true if one is a solid and a part of the other, whose surface does not touch it,
    /// lies inside.
    pub(super) fn holds(&self) -> bool {
        let Between { a, b, .. } = self.between;
        let mut inside = false;
        if a.fill() == Fill::Solid {
            let mut points = b.part_points().into_iter().map(|point| self.between.place(point));
            inside |= points.any(|point| a.encloses(point));
        }
        if b.fill() == Fill::Solid && !inside {
            // The other way round, in the frame of b.
            let turned = self.between.turned();
            inside |= a.part_points().into_iter().any(|point| b.encloses(turned(point)));
        }
        inside
    }

    /// All pairs of triangles that touch, the first mesh's first, in ascending order.
    pub fn triangle_pairs(&self, limit: usize) -> Result<Vec<(u32, u32)>, TooManyTrianglePairs> {
        self.touching(limit, |_, _| true)
    }

    /// The pairs that touch among those that are wanted.
    pub(super) fn touching(
        &self,
        limit: usize,
        wanted: impl Fn(u32, u32) -> bool,
    ) -> Result<Vec<(u32, u32)>, TooManyTrianglePairs> {
        let mut found = Vec::new();
        let ended = self.visit(|between, a, b, corners| {
            if wanted(a, b) && triangles_touch(&between.a.corners(a), corners) {
                if found.len() == limit {
                    return ControlFlow::Break(());
                }
                found.push((a, b));
            }
            ControlFlow::Continue(())
        });
        if ended.is_break() {
            return Err(TooManyTrianglePairs { limit });
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Touching pairs, the first `limit` that are found, and whether they are all.
    pub(crate) fn some_pairs(&self, limit: usize) -> (Vec<(u32, u32)>, bool) {
        let mut found = Vec::new();
        let ended = self.visit(|between, a, b, corners| {
            if triangles_touch(&between.a.corners(a), corners) {
                if found.len() == limit {
                    return ControlFlow::Break(());
                }
                found.push((a, b));
            }
            ControlFlow::Continue(())
        });
        (found, ended.is_continue())
    }

    /// Number of pairs of triangles whose boxes cannot be told apart: what the exact test sees.
    pub fn candidate_count(&self) -> u64 {
        let mut count = 0;
        let _ = self.visit(|_, _, _, _| {
            count += 1;
            ControlFlow::Continue(())
        });
        count
    }

    /// Calls `visit` with pairs of triangles whose boxes overlap, and the corners of the second.
    fn visit(
        &self,
        visit: impl FnMut(&Between<'_>, u32, u32, &[DVec3; 3]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.between.are_far() {
            return ControlFlow::Continue(());
        }
        simd::run(Descent { between: &self.between, visit })
    }
}

struct Descent<'a, F> {
    between: &'a Between<'a>,
    visit: F,
}

impl<F: FnMut(&Between<'_>, u32, u32, &[DVec3; 3]) -> ControlFlow<()>> Kernel for Descent<'_, F> {
    type Output = ControlFlow<()>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> ControlFlow<()> {
        let Between { a, b, to_a, to_b, .. } = *self.between;
        let (tree_a, tree_b) = (a.tree(), b.tree());
        let mut open: Spill<_, 256> = Spill::with((Link::ROOT, Link::ROOT));
        while let Some((at_a, at_b)) = open.pop() {
            match (at_a.child(), at_b.child()) {
                (Child::Node(node_a), Child::Node(node_b)) => {
                    let (links_a, links_b) = (
                        &tree_a.nodes[node_a as usize].links,
                        &tree_b.nodes[node_b as usize].links,
                    );
                    let (node_a, node_b) = (
                        &tree_a.nodes[node_a as usize].boxes,
                        &tree_b.nodes[node_b as usize].boxes,
                    );
                    let hits = overlaps(simd, node_a, node_b, self.between);
                    for lane in 0..WIDTH {
                        each_bit(hits[lane], |bit| {
                            open.push((links_a[bit as usize % WIDTH], links_b[lane]));
                        });
                    }
                }
                (Child::Leaf(leaf), Child::Node(node)) => {
                    let (leaf, node) = (leaf as usize, node as usize);
                    let bounds = tree_a.leaves[leaf].bounds();
                    let mask = one_sided(simd, &bounds, &tree_b.nodes[node].boxes, &to_b, &to_a);
                    each_bit(mask, |bit| {
                        open.push((at_a, tree_b.nodes[node].links[bit as usize % WIDTH]))
                    });
                }
                (Child::Node(node), Child::Leaf(leaf)) => {
                    let (leaf, node) = (leaf as usize, node as usize);
                    let bounds = tree_b.leaves[leaf].bounds();
                    let mask = one_sided(simd, &bounds, &tree_a.nodes[node].boxes, &to_a, &to_b);
                    each_bit(mask, |bit| {
                        open.push((tree_a.nodes[node].links[bit as usize % WIDTH], at_b))
                    });
                }
                (Child::Leaf(leaf_a), Child::Leaf(leaf_b)) => {
                    let leaf_a = &tree_a.leaves[leaf_a as usize];
                    let leaf_b = &tree_b.leaves[leaf_b as usize];
                    let hits = simd.leaf_pairs(leaf_a, leaf_b, &to_a);
                    for (lane, &mask) in hits.iter().enumerate() {
                        if mask != 0 {
                            self.meet(leaf_a, mask, leaf_b.triangle(lane))?;
                        }
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// For each lane of b's node the lanes of a's that overlap it in both frames.
#[inline(always)]
fn overlaps<S: Simd>(
    simd: S,
    node_a: &Node8,
    node_b: &Node8,
    between: &Between<'_>,
) -> [u32; WIDTH] {
    let b_in_a = simd.mapped(node_b, &between.to_a);
    let (mut hits, mut any) = ([0; WIDTH], 0);
    for lane in 0..WIDTH {
        hits[lane] = simd.overlapping(node_a, &b_in_a.get(lane));
        any |= hits[lane];
    }
    if any != 0 && !between.is_aligned() {
        let a_in_b = simd.mapped(node_a, &between.to_b);
        for lane in 0..WIDTH {
            if hits[lane] != 0 {
                hits[lane] &= simd.overlapping(&a_in_b, &node_b.get(lane));
            }
        }
    }
    hits
}

/// The lanes of a node that overlap a box of the other tree, in both frames.
#[inline(always)]
fn one_sided<S: Simd>(
    simd: S,
    bounds: &Aabb,
    node: &Node8,
    to_node: &NodeMap,
    from_node: &NodeMap,
) -> u32 {
    let there = simd.overlapping(node, &to_node.single(bounds));
    if there == 0 { 0 } else { there & simd.overlapping(&simd.mapped(node, from_node), bounds) }
}

impl<F: FnMut(&Between<'_>, u32, u32, &[DVec3; 3]) -> ControlFlow<()>> Descent<'_, F> {
    /// A triangle of b with those of a leaf that a mask names.
    #[inline(never)]
    fn meet(&mut self, leaf: &Leaf8, mut mask: u32, b: u32) -> ControlFlow<()> {
        let corners = self.between.corners_b(b);
        while mask != 0 {
            let a = leaf.triangle(mask.trailing_zeros() as usize);
            (self.visit)(self.between, a, b, &corners)?;
            mask &= mask - 1;
        }
        ControlFlow::Continue(())
    }
}

#[inline(always)]
pub(super) fn each_bit(mut mask: u32, mut visit: impl FnMut(u32)) {
    while mask != 0 {
        visit(mask.trailing_zeros());
        mask &= mask - 1;
    }
}
