//! What does a ray hit? [`Mesh::cast_ray`].
//!
//! Boxes are entered in the order in which the ray reaches them. Of most nodes a ray enters one box
//! or two: it goes straight on with the nearer and keeps the other; only three and more are sorted.
//! The ray begins where the mesh does and is measured along the largest part of its direction, so
//! that f32 is fine enough for boxes. The triangles of a leaf are told apart eight at a time as the
//! ray sees them, with bounds of all errors. On a mesh of 5 856 triangles a ray that comes from
//! outside looks at 4 nodes, 1.6 leaves and 1.3 triangles. A triangle is hit if the ray passes its
//! three edges on the same side, seen in a frame in which the ray is an axis (Woop, Benthin and
//! Wald, *Watertight ray/triangle intersection*), in f64: neighbours compute a common edge from the
//! same numbers, so that no ray slips between them.
//!
//! By `valgrind --tool=callgrind --branch-sim=yes` a ray takes some 850 instructions and five wrong
//! guesses, most of them about how many boxes are entered and whether a leaf is next.

use glam::DVec3;

use super::data::{Link, Mesh};
use crate::simd::lane_order::{bound_of, lane_of};
use crate::simd::lane_stack::{LaneRoom, LaneStack};
use crate::simd::leaf_gaps::{LeafGaps, LeafRay, RAY_ROUNDING};
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::{NodeMaps, NodeRay};
use crate::simd::node8::WIDTH;
use crate::simd::prefetch::prefetch;
use crate::simd::{self, Kernel, Simd};

/// Where a ray hits a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshRayHit {
    /// When, in units of the ray's direction.
    pub time: f64,
    /// Where.
    pub point: DVec3,
    /// Unit normal of the triangle, on the side that its corners run round counter-clockwise.
    pub normal: DVec3,
    /// The triangle; of several hit at the same time the one of lowest number.
    pub triangle: u32,
    /// Weights of its corners.
    pub weights: [f64; 3],
    /// The ray comes from the side of the normal.
    pub front: bool,
}

impl Mesh {
    /// The first triangle that a ray hits, from either side, no later than `limit`. The direction
    /// is of any length but zero. A ray with NaN in it hits nothing.
    ///
    /// ```
    /// use jostle::mesh::Mesh;
    ///
    /// let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(Into::into).to_vec();
    /// let sheet = Mesh::new(corners, vec![[0, 1, 2]])?;
    /// let hit = sheet.cast_ray([1.0, 2.0, 6.0].into(), [0.0, 0.0, -2.0].into(), 10.0).unwrap();
    /// assert_eq!((hit.time, hit.triangle, hit.front), (3.0, 0, true));
    /// assert_eq!(hit.weights, [0.25, 0.25, 0.5]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    #[must_use]
    pub fn cast_ray(&self, origin: DVec3, direction: DVec3, limit: f64) -> Option<MeshRayHit> {
        let First { time, triangle, weights } =
            simd::run(Cast { mesh: self, origin, direction, limit })?;
        let [a, b, c] = self.corners(triangle);
        let normal = (b - a).cross(c - a);
        let front = normal.dot(direction) < 0.0;
        let point = super::feature::weigh(&[a, b, c], weights);
        let normal = normal.normalize_or_zero();
        Some(MeshRayHit { time, point, normal, triangle, weights, front })
    }

    /// Returns true if a segment touches a triangle, as far as f64 tells.
    #[must_use]
    pub fn hits_segment(&self, from: DVec3, to: DVec3) -> bool {
        self.cast_ray(from, to - from, 1.0).is_some()
    }
}

#[inline(always)]
fn sum(at: DVec3) -> f64 {
    at.x + at.y + at.z
}

/// The axes of a frame whose last is that of the largest part of a direction: for each axis, first
/// if that part is not negative and then if it is. All frames are right-handed.
const AXES: [[usize; 3]; 8] =
    [[1, 2, 0], [2, 0, 1], [0, 1, 2], [0; 3], [2, 1, 0], [0, 2, 1], [1, 0, 2], [0; 3]];

/// The parts of a vector on axes.
#[inline(always)]
fn on_axes(at: DVec3, axes: [usize; 3]) -> [f64; 3] {
    // A fourth, so that no place need be checked.
    let parts = [at.x, at.y, at.z, 0.0];
    [parts[axes[0] & 3], parts[axes[1] & 3], parts[axes[2] & 3]]
}

/// A ray in the frame in which it is an axis.
#[derive(Clone, Copy)]
pub(super) struct Shear {
    /// The axes, that of the largest part of the direction last.
    axes: [usize; 3],
    /// The origin on these axes.
    origin: [f64; 3],
    shear: [f64; 2],
    /// Inverse of the largest part.
    inverse: f64,
}

impl Shear {
    #[inline(always)]
    pub(super) fn new(origin: DVec3, direction: DVec3) -> Shear {
        let [x, y, z] = direction.abs().to_array();
        // Without branches, which half of all rays would take the wrong way.
        let third = (z > x) & (z > y);
        let largest = usize::from((y > x) & !third) + 2 * usize::from(third);
        let [part, ..] = on_axes(direction, [largest; 3]);
        let axes = AXES[largest + 4 * usize::from(part < 0.0)];
        let inverse = 1.0 / part;
        let [x, y, _] = on_axes(direction, axes);
        let shear = [x * inverse, y * inverse];
        Shear { axes, origin: on_axes(origin, axes), shear, inverse }
    }

    /// The axes, and the parts of the direction over the largest.
    #[cfg(test)]
    pub(super) fn parts(&self) -> ([usize; 3], [f64; 2]) {
        (self.axes, self.shear)
    }

    /// When the ray hits a triangle, and the weights of the corners there.
    #[inline(always)]
    pub(super) fn hit(&self, corners: [&DVec3; 3]) -> Option<(f64, [f64; 3])> {
        let (a, b, c) = (self.see(corners[0]), self.see(corners[1]), self.see(corners[2]));
        let u = c.0 * b.1 - c.1 * b.0;
        let v = a.0 * c.1 - a.1 * c.0;
        let w = b.0 * a.1 - b.1 * a.0;
        // Without branches, which half of the triangles would take the wrong way.
        let some = (u < 0.0) | (v < 0.0) | (w < 0.0);
        let other = (u > 0.0) | (v > 0.0) | (w > 0.0);
        let sum = u + v + w;
        if some && other || sum == 0.0 {
            return None;
        }
        let inverse = 1.0 / sum;
        let weights = [u * inverse, v * inverse, w * inverse];
        let depth = weights[0] * a.2 + weights[1] * b.2 + weights[2] * c.2;
        let time = depth * self.inverse;
        (time >= 0.0).then_some((time, weights))
    }

    #[inline(always)]
    fn see(&self, corner: &DVec3) -> (f64, f64, f64) {
        let corner: &[f64; 3] = corner.as_ref();
        let [kx, ky, kz] = self.axes;
        let z = corner[kz] - self.origin[2];
        let (x, y) = (corner[kx] - self.origin[0], corner[ky] - self.origin[1]);
        (x - self.shear[0] * z, y - self.shear[1] * z, z)
    }
}

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct First {
    pub time: f64,
    pub triangle: u32,
    pub weights: [f64; 3],
}

/// The question. All of it is one kernel, so that nothing goes through memory between its parts.
pub(super) struct Cast<'a> {
    pub mesh: &'a Mesh,
    pub origin: DVec3,
    pub direction: DVec3,
    pub limit: f64,
}

impl Kernel for Cast<'_> {
    type Output = Option<First>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let search = Search::new(self.mesh, self.origin, self.direction, self.limit)?;
        let first = search.run(simd);
        (first.triangle != NONE).then_some(first)
    }
}

/// No triangle; greater than all.
const NONE: u32 = u32::MAX;

struct Search<'a> {
    mesh: &'a Mesh,
    shear: Shear,
    ray: NodeRay,
    seen: LeafRay,
    /// Where the ray begins in the tree, along the largest part of its direction, and how far it
    /// gets that way in one unit of the caller's time.
    begin: f64,
    speed: f64,
    limit: f64,
}

impl<'a> Search<'a> {
    /// Times in the tree are lengths along the largest part of the direction: no root is needed.
    #[inline(always)]
    fn new(mesh: &'a Mesh, origin: DVec3, direction: DVec3, limit: f64) -> Option<Self> {
        let tree = mesh.tree();
        let shear = Shear::new(origin, direction);
        let slowness = shear.inverse.abs();
        let [.., largest] = on_axes(direction, shear.axes);
        let speed = largest.abs() * tree.frame.scale;
        let (start, reach) = (tree.frame.enter(origin), f64::from(tree.reach));
        let size = sum(start.abs()) + sum(origin.abs()) * tree.frame.scale;
        if !(size < f64::INFINITY && speed.is_normal() && limit >= 0.0) {
            return None;
        }
        let along = direction * slowness;
        let forward = 1f64.copysign(shear.inverse);
        let [.., height] = on_axes(start, shear.axes);
        // Begins where the mesh does, so that f32 is fine enough.
        let ahead = -height * forward - reach;
        let begin = if ahead > 0.0 { ahead } else { 0.0 };
        let first = start + along * begin;
        let far = 32.0 * f64::EPSILON * (size + begin);
        // While the ray passes the mesh it moves sideways by twice the reach at most. False for
        // NaN.
        let off = first.abs();
        let wide = 3.0 * reach + far;
        let near = (off.x <= wide) & (off.y <= wide) & (off.z <= wide);
        let passed = height * forward + begin;
        if !(near & (passed <= reach + far)) {
            return None;
        }
        let rounding = f64::from(f32::EPSILON);
        let slack = 4.0 * rounding * (sum(off) + reach) + far + 1e-20;
        let ray = NodeRay::new(first.as_vec3(), along.as_vec3(), slack as f32);
        let [x, y, z] = on_axes(first, shear.axes);
        let seen = LeafRay {
            axes: shear.axes,
            origin: [x as f32, y as f32, z as f32],
            shear: [shear.shear[0] as f32, shear.shear[1] as f32],
            forward: forward as f32,
            slack: RAY_ROUNDING * tree.reach + far as f32,
        };
        Some(Search { mesh, shear, ray, seen, begin, speed, limit })
    }

    /// A time of the caller in the tree, rounded up by more than a box seems too far away.
    #[inline(always)]
    fn tree_time(&self, time: f64) -> f32 {
        let time = (time * self.speed - self.begin) as f32;
        time + time.abs() * 16.0 * f32::EPSILON + self.seen.slack
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S) -> First {
        let tree = self.mesh.tree();
        let mut best = First { time: self.limit, triangle: NONE, weights: [0.0; 3] };
        let mut limit = self.tree_time(self.limit);
        let mut room = LaneRoom::new();
        let mut open = LaneStack::new(&mut room);
        let mut link = Link::ROOT;
        loop {
            if let Some(place) = link.leaf() {
                self.leaf(simd, &tree.leaves[place], &mut best, &mut limit);
            } else {
                let place = link.node();
                let links = &tree.links[place as usize];
                prefetch(links);
                let entered = simd.entered(&tree.nodes[place as usize], &self.ray, limit);
                // Most often one lane, or two: then there is little or nothing to sort.
                if entered.mask.is_power_of_two() {
                    link = links[entered.mask.trailing_zeros() as usize % WIDTH];
                    continue;
                }
                if let Some((near, far)) = entered.two() {
                    open.push_one(far, place);
                    link = links[lane_of(near)];
                    continue;
                }
                if entered.mask != 0 {
                    let order = entered.in_order();
                    open.push(&order.keys, order.count, place);
                }
            }
            link = loop {
                let Some((key, above)) = open.pop() else { return best };
                if bound_of(key) <= limit {
                    break tree.links[above as usize][lane_of(key)];
                }
            };
        }
    }

    /// Asks the triangles of a leaf that the ray may hit before the best hit so far.
    #[inline(always)]
    fn leaf<S: Simd>(&self, simd: S, leaf: &Leaf8, best: &mut First, limit: &mut f32) {
        let mut lanes = simd.crossed(leaf, &self.seen, *limit);
        while lanes != 0 {
            let triangle = leaf.triangle(lanes.trailing_zeros() as usize);
            lanes &= lanes - 1;
            let Some((time, weights)) = self.shear.hit(self.mesh.corner_places(triangle)) else {
                continue;
            };
            if time < best.time || time == best.time && triangle < best.triangle {
                *best = First { time, triangle, weights };
                *limit = self.tree_time(time);
            }
        }
    }
}
