//! What does a ray hit? [`Mesh::cast_ray`].
//!
//! Boxes are entered in the order in which the ray reaches them. A triangle is hit if the ray
//! passes its three edges on the same side, seen in a frame in which the ray is an axis (Woop,
//! Benthin and Wald, *Watertight ray/triangle intersection*), in f64: neighbours compute a common
//! edge from the same numbers, so that no ray slips between them.

use glam::DVec3;

use super::data::{Child, Link, Mesh};
use super::pairs::each_bit;
use crate::ds::spill::Spill;
use crate::simd::leaf_gaps::{LeafGaps, LeafRay};
use crate::simd::node_maps::{NodeMaps, NodeRay};
use crate::simd::node8::WIDTH;
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
        let (time, triangle, weights) = simd::run(search)?;
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
        let [kx, ky, kz] = self.axes;
        let seen = corners.map(|corner| {
            let from = corner - self.origin;
            (from[kx] - self.shear[0] * from[kz], from[ky] - self.shear[1] * from[kz], from[kz])
        });
        let [a, b, c] = seen;
        let u = c.0 * b.1 - c.1 * b.0;
        let v = a.0 * c.1 - a.1 * c.0;
        let w = b.0 * a.1 - b.1 * a.0;
        let (some, other) = (u < 0.0 || v < 0.0 || w < 0.0, u > 0.0 || v > 0.0 || w > 0.0);
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
}

struct Search<'a> {
    mesh: &'a Mesh,
    shear: Shear,
    ray: NodeRay,
    seen: LeafRay,
    /// Time at which the ray of the tree begins, and times of the tree in one of the caller's.
    begin: f64,
    speed: f64,
    limit: f64,
}

impl<'a> Search<'a> {
    fn new(mesh: &'a Mesh, origin: DVec3, direction: DVec3, limit: f64) -> Option<Self> {
        let frame = mesh.tree().frame;
        let (start, along) = (frame.enter(origin), direction * frame.scale);
        let speed = along.length();
        if !(origin.is_finite() && speed.is_normal() && limit >= 0.0) {
            return None;
        }
        let unit = along / speed;
        // Begins not much further away than the mesh is large, so that f32 is fine enough. A
        // refitted mesh may reach beyond 1, but stays within 6 of the origin.
        let ahead = (-start.dot(unit) - 8.0).max(0.0);
        let begin = start + unit * ahead;
        if begin.length_squared() > 128.0 && ahead > 0.0 {
            // The line passes far from the mesh.
            return None;
        }
        let inverse = |part: f64| {
            let part = if part.abs() < 1e-25 { 1e-25f64.copysign(part) } else { part };
            (1.0 / part) as f32
        };
        let slack = 4.0 * f64::from(f32::EPSILON) * (begin.abs().max_element() + 1.0)
            + 16.0 * f64::EPSILON * (start.abs().max_element() + ahead)
            + 16.0 * f64::EPSILON * origin.abs().max_element() * frame.scale;
        let ray = NodeRay {
            origin: begin.as_vec3().to_array(),
            inverse: [inverse(unit.x), inverse(unit.y), inverse(unit.z)],
            slack: [slack as f32; 3],
        };
        let shear = Shear::new(origin, direction);
        let seen = LeafRay {
            origin: ray.origin,
            axes: shear.axes,
            shear: shear.shear.map(|part| part as f32),
            inverse: ray.inverse[shear.axes[2]],
            slack: slack as f32,
        };
        Some(Search { mesh, shear, ray, seen, begin: ahead, speed, limit })
    }

    /// A time of the caller in the tree, rounded up.
    #[inline(always)]
    fn tree_time(&self, time: f64) -> f32 {
        let time = (time * self.speed - self.begin) as f32;
        time + time.abs() * 4.0 * f32::EPSILON + 1e-5
    }
}

impl Kernel for Search<'_> {
    type Output = Option<(f64, u32, [f64; 3])>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let tree = self.mesh.tree();
        let mut best: Self::Output = None;
        let mut limit = self.tree_time(self.limit);
        let mut open: Spill<_, 64> = Spill::with((0.0, Link::ROOT));
        while let Some((enter, at)) = open.pop() {
            if enter > limit {
                continue;
            }
            let leaf = match at.child() {
                Child::Node(place) => {
                    let place = place as usize;
                    let (enters, hits) = simd.entered(&tree.nodes[place], &self.ray, limit);
                    soonest_last(&enters, hits, &tree.links[place], &mut open);
                    continue;
                }
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
        }
        best
    }
}

/// Pushes the links of the lanes that a ray enters, the soonest last: mostly two or three, sorted
/// by insertion.
#[inline(always)]
fn soonest_last(
    enters: &[f32; WIDTH],
    hits: u32,
    links: &[Link; WIDTH],
    open: &mut Spill<(f32, Link), 64>,
) {
    let mut found = [(0.0, Link::ROOT); WIDTH];
    let mut count = 0;
    each_bit(hits, |lane| {
        let lane = lane as usize % WIDTH;
        let mut place = count;
        while place > 0 && found[place - 1].0 < enters[lane] {
            found[place] = found[place - 1];
            place -= 1;
        }
        found[place] = (enters[lane], links[lane]);
        count += 1;
    });
    for item in &found[..count] {
        open.push(*item);
    }
}
