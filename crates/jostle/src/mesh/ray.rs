//! What does a ray hit? [`Mesh::cast_ray`].
//!
//! Boxes are entered in the order in which the ray reaches them. Of most nodes a ray enters one box
//! or two: it goes straight on with the nearer and keeps the other. Only three and more are sorted,
//! and the search goes on with the nearest of them before that is done.
//!
//! Times are lengths along the largest part of the direction. A ray from further away than eight
//! times the mesh begins where the mesh does, so that f32 is fine enough for boxes. The triangles
//! of a leaf are told apart eight at a time as the ray sees them, with bounds of all errors. On a
//! mesh of 5 856 triangles a ray that comes from outside looks at 3.8 nodes, 1.5 leaves and
//! 0.7 triangles.
//!
//! A triangle is hit if the ray passes its three edges on the same side, seen in a frame in which
//! the ray is an axis (Woop, Benthin and Wald, *Watertight ray/triangle intersection*), in f64:
//! neighbours compute a common edge from the same numbers, so that no ray slips between them.
//!
//! By `valgrind --tool=callgrind --dump-instr=yes` such a ray takes some 930 instructions, 220 of
//! them before the first node, 190 in nodes and 230 in leaves. With `--branch-sim=yes` random and
//! coherent rays together have five wrong guesses each and take 790 instructions; Embree 3.13 takes
//! 560 for the same rays and has six. A random ray that is asked forty times in a row takes 0.56 to
//! 0.59 of the time of one among others: the rest is wrong guesses and caches.
//!
//! Which corners a triangle has is asked for when a leaf is entered, for all eight: most often one
//! of them is needed, after the test of the leaf and before the vertices. Random rays took 1 to 2 %
//! less for it, which is hardly more than the noise, and coherent ones as long.
//!
//! Tried and dropped, programs with and without run in turns on the rays of
//! `jostle_scenes::mesh_rays` and three meshes: preparing for leaves when the first is reached;
//! compiling the search for AVX-512, with 32 registers and masks (no faster); asking for a leaf
//! when it is put aside (no difference); leaves that begin with a cache line (no difference, 6
//! bytes a triangle); the axis of the largest part from a comparison of vectors, and no copy of the
//! origin in its order (13 instructions less, no difference); a limit from the f32 corners of a
//! triangle that is hit without a doubt, so that what is put aside need not wait for f64 (2 %
//! slower for random rays of the largest mesh, 4 % faster for its coherent ones). Trees are the
//! subject of `shape/mesh/split.rs`.

use glam::{DVec3, Vec4};

use super::data::{Link, LinkedNode, Mesh};
use crate::aabb::Axis;
use crate::simd::lane_order::{Few, KEY_ROUNDING};
use crate::simd::lane_stack::{LaneRoom, LaneStack};
use crate::simd::leaf_gaps::{LeafGaps, LeafRay, RAY_ROUNDING};
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::{NODE_ROUNDING, NodeMaps, NodeRay};
use crate::simd::node8::WIDTH;
use crate::simd::prefetch::prefetch_begin;
use crate::simd::vector::Doubles;
use crate::simd::{self, Kernel, Simd};

/// A ray for [`Mesh::cast_rays`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshRay {
    /// Where it begins.
    pub origin: DVec3,
    /// Where it goes, and how far in a unit of time: of any length but zero.
    pub direction: DVec3,
    /// When it ends; infinity if it does not.
    pub limit: f64,
}

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
        simd::run(Cast { mesh: self, origin: &origin, direction: &direction, limit })
    }

    /// Returns true if a segment touches a triangle, as far as f64 tells.
    #[must_use]
    pub fn hits_segment(&self, from: DVec3, to: DVec3) -> bool {
        self.cast_ray(from, to - from, 1.0).is_some()
    }
}

/// The axes of a frame whose last is that of the largest part of a direction: for each axis, first
/// if that part is not negative and then if it is. All frames are right-handed.
const AXES: [[Axis; 3]; 6] = {
    use Axis::{X, Y, Z};
    [[Y, Z, X], [Z, Y, X], [Z, X, Y], [X, Z, Y], [X, Y, Z], [Y, X, Z]]
};

/// A ray in the frame in which it is an axis.
#[derive(Clone, Copy)]
pub(super) struct Shear {
    /// The axes, that of the largest part of the direction last.
    axes: [Axis; 3],
    /// The origin on these axes.
    origin: [f64; 3],
    shear: [f64; 2],
    /// Inverse of the largest part.
    inverse: f64,
}

impl Shear {
    #[inline(always)]
    pub(super) fn new(origin: &DVec3, direction: &DVec3) -> Shear {
        let (origin, direction): (&[f64; 3], &[f64; 3]) = (origin.as_ref(), direction.as_ref());
        let [x, y, z] = [direction[0].abs(), direction[1].abs(), direction[2].abs()];
        // Without branches, which half of all rays would take the wrong way.
        let third = (z > x) & (z > y);
        let second = (y > x) & !third;
        let largest = usize::from(second) + 2 * usize::from(third);
        let part = direction[largest.min(2)];
        let axes = AXES[(2 * largest + usize::from(part < 0.0)).min(5)];
        let inverse = 1.0 / part;
        let [kx, ky, kz] = axes;
        let shear = [direction[kx.index()] * inverse, direction[ky.index()] * inverse];
        let origin = [origin[kx.index()], origin[ky.index()], origin[kz.index()]];
        Shear { axes, origin, shear, inverse }
    }

    /// The axes, and the parts of the direction over the largest.
    #[cfg(test)]
    pub(super) fn parts(&self) -> ([Axis; 3], [f64; 2]) {
        (self.axes, self.shear)
    }

    /// When the ray hits a triangle, and the weights of the corners there.
    #[inline(always)]
    pub(super) fn hit(&self, corners: [&DVec3; 3]) -> Option<(f64, [f64; 3])> {
        let (time, weights, hit) = self.hit_or_not(corners);
        hit.then_some((time, weights))
    }

    /// As [`Shear::hit`], without a branch: the last tells whether it does.
    #[inline(always)]
    pub(super) fn hit_or_not(&self, corners: [&DVec3; 3]) -> (f64, [f64; 3], bool) {
        let (a, b, c) = (self.see(corners[0]), self.see(corners[1]), self.see(corners[2]));
        let u = c.0 * b.1 - c.1 * b.0;
        let v = a.0 * c.1 - a.1 * c.0;
        let w = b.0 * a.1 - b.1 * a.0;
        // Without branches, which half of the triangles would take the wrong way.
        let some = (u < 0.0) | (v < 0.0) | (w < 0.0);
        let other = (u > 0.0) | (v > 0.0) | (w > 0.0);
        let sum = u + v + w;
        let misses = some & other | (sum == 0.0);
        let inverse = 1.0 / sum;
        let weights = [u * inverse, v * inverse, w * inverse];
        let depth = weights[0] * a.2 + weights[1] * b.2 + weights[2] * c.2;
        let time = depth * self.inverse;
        (time, weights, !misses & (time >= 0.0))
    }

    #[inline(always)]
    fn see(&self, corner: &DVec3) -> (f64, f64, f64) {
        let corner: &[f64; 3] = corner.as_ref();
        let [kx, ky, kz] = self.axes;
        let z = corner[kz.index()] - self.origin[2];
        let (x, y) = (corner[kx.index()] - self.origin[0], corner[ky.index()] - self.origin[1]);
        (x - self.shear[0] * z, y - self.shear[1] * z, z)
    }
}

/// The first hit of a ray so far.
#[derive(Clone, Copy)]
pub(super) struct First {
    pub time: f64,
    pub triangle: u32,
    pub weights: [f64; 3],
}

impl First {
    /// No hit at all.
    pub(super) const NONE: First = First { time: f64::INFINITY, triangle: NONE, weights: [0.0; 3] };

    #[inline(always)]
    pub(super) fn is_some(&self) -> bool {
        self.triangle != NONE
    }

    /// What the caller is told of a hit.
    #[inline(always)]
    pub(super) fn hit(&self, mesh: &Mesh, direction: &DVec3) -> MeshRayHit {
        let First { time, triangle, weights } = *self;
        let [a, b, c] = mesh.corners(triangle);
        let normal = (b - a).cross(c - a);
        let front = normal.dot(*direction) < 0.0;
        let point = super::feature::weigh(&[a, b, c], weights);
        let normal = normal.normalize_or_zero();
        MeshRayHit { time, point, normal, triangle, weights, front }
    }
}

/// The question. All of it is one kernel, so that nothing goes through memory between its parts.
pub(super) struct Cast<'a> {
    pub mesh: &'a Mesh,
    pub origin: &'a DVec3,
    pub direction: &'a DVec3,
    pub limit: f64,
}

impl Kernel for Cast<'_> {
    type Output = Option<MeshRayHit>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let search = Search::new(simd, &self)?;
        let first = search.run(simd);
        first.is_some().then(|| first.hit(self.mesh, self.direction))
    }
}

/// No triangle; greater than all.
const NONE: u32 = u32::MAX;

struct Search<'a> {
    cast: &'a Cast<'a>,
    ray: NodeRay,
    /// Where the ray begins in the tree.
    first: Vec4,
    /// Rounding of what leaves see of the ray.
    slack: f32,
    /// How far that is from the caller's origin, along the largest part of the direction, and how
    /// far the ray gets that way in one unit of the caller's time.
    begin: f64,
    speed: f64,
}

/// A ray as triangles want it.
struct Aim {
    shear: Shear,
    seen: LeafRay,
}

impl Aim {
    #[inline(always)]
    fn new(cast: &Cast<'_>, first: [f32; 4], slack: f32) -> Aim {
        let shear = Shear::new(cast.origin, cast.direction);
        let [x, y, z] = shear.axes;
        let seen = LeafRay {
            axes: shear.axes,
            origin: [first[x.index()], first[y.index()], first[z.index()]],
            shear: [shear.shear[0] as f32, shear.shear[1] as f32],
            forward: 1f32.copysign(shear.inverse as f32),
            slack,
        };
        Aim { shear, seen }
    }
}

/// A time in the tree, rounded up by more than a box seems too far away.
#[inline(always)]
pub(super) fn tree_time(time: f32, slack: f32) -> f32 {
    (time + time.abs() * 16.0 * f32::EPSILON) * KEY_ROUNDING + slack
}

/// Rays that begin no further from the middle on any axis, in units of the reach of the tree, begin
/// there in f32 as well.
pub(super) const NEAR: f64 = 8.0;

/// Where the search begins.
struct Begin<S: Simd> {
    first: S::Doubles,
    /// How far that is along the ray.
    begin: f64,
    /// Rounding of f64 on the way there.
    far: f32,
}

impl<S: Simd> Begin<S> {
    /// Begins where the mesh does, so that f32 is fine enough. Nothing if the ray passes it by.
    ///
    /// No coordinate changes faster than time, so that the ray cannot be in the mesh sooner than
    /// its furthest coordinate allows; and if it gets there, then within twice the reach of that
    /// time, in which no coordinate changes by more.
    #[inline(always)]
    fn far_away(simd: S, start: S::Doubles, along: S::Doubles, reach: f32) -> Option<Begin<S>> {
        let reach = f64::from(reach);
        let size = start.abs().sum();
        let begin = start.abs().largest().first() - reach;
        let first = start.add(along.mul(S::Doubles::splat(simd, begin)));
        let far = 32.0 * f64::EPSILON * (size + begin);
        let wide = 3.0 * reach + far;
        let near = first.abs().all_le(S::Doubles::splat(simd, wide));
        (near && far < f64::INFINITY).then_some(Begin { first, begin, far: 2.0 * far as f32 })
    }
}

impl<'a> Search<'a> {
    /// Times in the tree are lengths along the largest part of the direction: no root is needed.
    ///
    /// The first node waits for the origin and the inverse of the direction, so these take the
    /// shortest way; what triangles need is computed while nodes are tested. To compute that when
    /// the first leaf is reached saves 65 instructions of every ray that reaches none, and was no
    /// faster: the first leaf of the others then waits for it.
    #[inline(always)]
    fn new<S: Simd>(simd: S, cast: &'a Cast<'a>) -> Option<Self> {
        let Cast { mesh, origin, direction, limit } = *cast;
        let tree = mesh.tree();
        let scale = S::Doubles::splat(simd, tree.frame.scale);
        let middle = S::Doubles::three(simd, tree.frame.origin.as_ref());
        let start = S::Doubles::three(simd, origin.as_ref()).sub(middle).mul(scale);
        let way = S::Doubles::three(simd, direction.as_ref());
        let largest = way.abs().largest();
        let speed = largest.mul(scale).first();
        // False for NaN; zero and infinity have no speed.
        let usable = way.abs().all_le(largest) && limit >= 0.0;
        if !(usable && (f64::MIN_POSITIVE..=f64::MAX).contains(&speed)) {
            return None;
        }
        let near = S::Doubles::splat(simd, NEAR * f64::from(tree.reach));
        let Begin { first, begin, far } = if start.abs().all_le(near) {
            Begin { first: start, begin: 0.0, far: 0.0 }
        } else {
            Begin::far_away(simd, start, way.div(largest), tree.reach)?
        };
        let away = first.abs().largest().first() as f32;
        let first = first.to_f32();
        let slack = NODE_ROUNDING * tree.reach + far + 1e-20;
        let ray = NodeRay::new(first, largest.div(way).to_f32(), slack);
        let slack = RAY_ROUNDING * (tree.reach + away) + far + 1e-30;
        Some(Search { cast, ray, first, slack, begin, speed })
    }

    /// A time of the caller in the tree.
    #[inline(always)]
    fn tree_time(&self, time: f64) -> f32 {
        tree_time((time * self.speed - self.begin) as f32, self.slack)
    }

    #[inline(always)]
    fn run<S: Simd>(&self, simd: S) -> First {
        let tree = self.cast.mesh.tree();
        let mut best = First { time: self.cast.limit, triangle: NONE, weights: [0.0; 3] };
        let mut limit = self.tree_time(best.time);
        let aim = Aim::new(self.cast, self.first.to_array(), self.slack);
        let mut room = LaneRoom::new();
        let mut open = LaneStack::new(&mut room);
        let mut link = Link::ROOT;
        loop {
            if let Some(place) = link.leaf() {
                self.leaf(simd, &aim, &tree.leaves[place], &mut best, &mut limit);
            } else {
                let LinkedNode { boxes, links } = &tree.nodes[link.node()];
                let entered = simd.entered(boxes, &self.ray, limit);
                // Most often one lane, or two: then there is little or nothing to sort.
                match entered.few() {
                    Few::None => {}
                    Few::One(lane) => {
                        link = links[lane];
                        continue;
                    }
                    Few::Two(near, far, key) => {
                        open.push_one(key, links[far]);
                        link = links[near];
                        continue;
                    }
                    Few::Many => {
                        // The search goes on before all are sorted.
                        link = links[entered.nearest()];
                        open.push_but_nearest(&entered.in_order(links));
                        continue;
                    }
                }
            }
            link = loop {
                let Some((key, link)) = open.pop() else { return best };
                if key <= limit {
                    break link;
                }
            };
        }
    }

    /// Asks the triangles of a leaf that the ray may hit before the best hit so far.
    #[inline(always)]
    fn leaf<S: Simd>(&self, simd: S, aim: &Aim, leaf: &Leaf8, best: &mut First, limit: &mut f32) {
        for lane in 0..WIDTH {
            prefetch_begin(self.cast.mesh.triangles(), leaf.triangle(lane) as usize);
        }
        let mut lanes = simd.crossed(leaf, &aim.seen, *limit);
        while lanes != 0 {
            let triangle = leaf.triangle(lanes.trailing_zeros() as usize);
            lanes &= lanes - 1;
            let Some((time, weights)) = aim.shear.hit(self.cast.mesh.corner_places(triangle))
            else {
                continue;
            };
            if time < best.time || time == best.time && triangle < best.triangle {
                *best = First { time, triangle, weights };
                *limit = self.tree_time(time);
            }
        }
    }
}
