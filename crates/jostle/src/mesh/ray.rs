//! What does a ray hit? [`Mesh::cast_ray`].
//!
//! Boxes are entered in the order in which the ray reaches them: the eight of a node are sorted by
//! when they are entered and put onto a stack. The ray begins where the mesh does and is measured
//! along the largest part of its direction, so that f32 is fine enough for boxes. The triangles of
//! a leaf are told apart eight at a time by a view of the leaf from the ray that is made in f64, so
//! that its errors are small next to the leaf. On a mesh of 5 856 triangles a ray that comes from
//! outside looks at 4 nodes, 1.6 leaves and 1.3 triangles. A triangle is hit if the ray
//! passes its three edges on the same side, seen in a frame in which the ray is an axis (Woop,
//! Benthin and Wald, *Watertight ray/triangle intersection*), in f64: neighbours compute a common
//! edge from the same numbers, so that no ray slips between them.

use glam::DVec3;

use super::data::{Child, Mesh};
use super::pairs::each_bit;
use crate::ds::lane_stack::LaneStack;
use crate::simd::lane_order::{bound_of, lane_of};
use crate::simd::leaf_gaps::{LeafGaps, LeafRay};
use crate::simd::node_maps::{NodeMaps, NodeRay};
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
        let search = Search::new(self, origin, direction, limit)?;
        let (time, triangle, weights) = simd::run(&search)?;
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

/// A ray in the frame in which it is an axis.
#[derive(Clone, Copy)]
pub(super) struct Shear {
    origin: DVec3,
    /// The axes, that of the largest part of the direction last.
    axes: [usize; 3],
    shear: [f64; 2],
    /// Inverse of the largest part.
    inverse: f64,
}

impl Shear {
    pub(super) fn new(origin: DVec3, direction: DVec3) -> Shear {
        let size = direction.abs();
        let z = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        let inverse = 1.0 / direction[z];
        let shear = [direction[x] * inverse, direction[y] * inverse];
        Shear { origin, axes: [x, y, z], shear, inverse }
    }

    /// The axes, and the parts of the direction over the largest.
    #[cfg(test)]
    pub(super) fn parts(&self) -> ([usize; 3], [f64; 2]) {
        (self.axes, self.shear)
    }

    /// When the ray hits a triangle, and the weights of the corners there.
    #[inline(always)]
    pub(super) fn hit(&self, corners: &[DVec3; 3]) -> Option<(f64, [f64; 3])> {
        let (a, b, c) = (self.see(&corners[0]), self.see(&corners[1]), self.see(&corners[2]));
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
        let (corner, origin): (&[f64; 3], &[f64; 3]) = (corner.as_ref(), self.origin.as_ref());
        let [kx, ky, kz] = self.axes;
        let z = corner[kz] - origin[kz];
        let (x, y) = (corner[kx] - origin[kx], corner[ky] - origin[ky]);
        (x - self.shear[0] * z, y - self.shear[1] * z, z)
    }
}

pub(super) struct Search<'a> {
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
    #[inline]
    pub(super) fn new(mesh: &'a Mesh, origin: DVec3, direction: DVec3, limit: f64) -> Option<Self> {
        let tree = mesh.tree();
        let shear = Shear::new(origin, direction);
        let [kx, ky, kz] = shear.axes;
        let largest = direction.to_array()[kz].abs();
        let speed = largest * tree.frame.scale;
        let (start, reach) = (tree.frame.enter(origin), f64::from(tree.reach));
        let size = sum(start.abs()) + sum(origin.abs()) * tree.frame.scale;
        if !(size < f64::INFINITY && speed.is_normal() && limit >= 0.0) {
            return None;
        }
        let along = direction * (1.0 / largest);
        let forward = 1f64.copysign(direction.to_array()[kz]);
        // Begins where the mesh does, so that f32 is fine enough.
        let ahead = -start.to_array()[kz] * forward - reach;
        let begin = if ahead > 0.0 { ahead } else { 0.0 };
        let first = start + along * begin;
        let far = 32.0 * f64::EPSILON * (size + begin);
        // While the ray passes the mesh it moves sideways by twice the reach at most. False for
        // NaN.
        let near = first.abs().cmple(DVec3::splat(3.0 * reach + far)).all();
        if !(near && first.to_array()[kz] * forward <= reach + far) {
            return None;
        }
        let inverse = |part: f64| {
            let part = part as f32;
            1.0 / if part.abs() < 1e-25 { 1e-25f32.copysign(part) } else { part }
        };
        let rounding = f64::from(f32::EPSILON);
        let slack = 4.0 * rounding * (sum(first.abs()) + reach) + far + 1e-20;
        let inverse = [inverse(along.x), inverse(along.y), inverse(along.z)];
        let ray = NodeRay::new(first.as_vec3().to_array(), inverse, slack as f32);
        let start = start.to_array();
        let seen = LeafRay {
            axes: shear.axes,
            origin: [start[kx], start[ky], start[kz]],
            shear: shear.shear,
            begin: begin * forward,
            forward: forward as f32,
            slack: (8.0 * rounding * reach + far) as f32,
        };
        Some(Search { mesh, shear, ray, seen, begin, speed, limit })
    }

    /// A time of the caller in the tree, rounded up by more than a box seems too far away.
    #[inline(always)]
    fn tree_time(&self, time: f64) -> f32 {
        let time = (time * self.speed - self.begin) as f32;
        time + time.abs() * 4.0 * f32::EPSILON + self.seen.slack
    }
}

impl Kernel for &Search<'_> {
    type Output = Option<(f64, u32, [f64; 3])>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let tree = self.mesh.tree();
        let mut best: Self::Output = None;
        let mut limit = self.tree_time(self.limit);
        let mut open = LaneStack::new();
        let mut place = 0;
        loop {
            let order = simd.entered(&tree.nodes[place as usize], &self.ray, limit);
            open.push(&order.keys, order.count, place);
            place = loop {
                let Some((key, above)) = open.pop() else { return best };
                if bound_of(key) > limit {
                    continue;
                }
                let leaf = match tree.links[above as usize][lane_of(key)].child() {
                    Child::Node(place) => break place,
                    Child::Leaf(place) => &tree.leaves[place as usize],
                };
                each_bit(simd.crossed(leaf, &self.seen, limit), |lane| {
                    let triangle = leaf.triangle(lane as usize);
                    let Some((time, weights)) = self.shear.hit(&self.mesh.corners(triangle)) else {
                        return;
                    };
                    let sooner = match best {
                        Some((best, number, _)) => (time, triangle) < (best, number),
                        None => time <= self.limit,
                    };
                    if sooner {
                        best = Some((time, triangle, weights));
                        limit = self.tree_time(time);
                    }
                });
            };
        }
    }
}
