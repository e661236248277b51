//! Does any triangle touch a convex shape? Triangles near a box, those near its center first.
//!
//! What touches a shape most likely lies near its center. So the search takes the children of a
//! node by how far they are from the center, and leaves out those that are too far from the box
//! around the shape; in the order of the box all that overlap it are equal. A leaf is first asked
//! whether a corner of one of its triangles is certainly inside the shape, eight triangles at a
//! time and without reading a vertex. Most shapes that touch a surface with triangles no larger
//! than themselves are answered there.
//!
//! Next to the search for the least distance that ends at the first hit, balls and boxes of a
//! twentieth of the mesh, all of which touch it, take 0.39 and 0.12 to 0.30 of the time, and those
//! that miss it by up to as much 0.75 and 0.94 (the poses of `jostle-bench mesh-rivals` on
//! three meshes of 5 002 to 24 242 triangles, and the same moved outward; both forms in turns in
//! one program).

use glam::{DMat3, DVec3};

use super::near::square_of;
use super::{Link, LinkedNode, Mesh};
use crate::aabb::Aabb;
use crate::simd::lane_order::Few;
use crate::simd::lane_stack::{LaneRoom, LaneStack};
use crate::simd::leaf_gaps::LeafGaps;
use crate::simd::leaf_holds::{LeafBox, LeafHolds};
use crate::simd::leaf8::Leaf8;
use crate::simd::node_maps::NodeMaps;
use crate::simd::node8::WIDTH;
use crate::simd::{self, Kernel, Simd};

/// Where triangles are looked for that touch a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// A box around the shape, and a point of the shape.
    pub low: DVec3,
    pub high: DVec3,
    pub center: DVec3,
    /// How far from the box triangles can be.
    pub limit: f64,
    pub inner: Inner,
}

/// Points that certainly belong to a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inner {
    /// None that are known.
    Nothing,
    /// Those no further from the center than the limit: the box is that point.
    Ball,
    /// Those of a box around the center; the columns are its axes.
    Box { axes: DMat3, half: DVec3 },
}

impl Mesh {
    /// Returns true if a triangle touches a shape: if a corner is certainly inside it, or if `test`
    /// says so of one of the triangles within the limit.
    #[inline]
    pub(crate) fn touches(&self, probe: &Probe, test: impl FnMut(&[DVec3; 3]) -> bool) -> bool {
        simd::run(Touch { mesh: self, probe, test })
    }
}

struct Touch<'a, F> {
    mesh: &'a Mesh,
    probe: &'a Probe,
    test: F,
}

/// The probe in the frame of the tree.
struct Seen {
    bounds: Aabb,
    center: [f32; 3],
    /// How far a coordinate of the center can be off.
    slack: f32,
    /// The square of the limit, rounded up.
    limit: f32,
    inner: SeenInner,
}

enum SeenInner {
    Nothing,
    Ball { radius: f32 },
    Box(LeafBox),
}

impl Seen {
    #[inline(always)]
    fn new(mesh: &Mesh, probe: &Probe) -> Seen {
        let frame = &mesh.tree().frame;
        let (low, high) = (frame.enter(probe.low), frame.enter(probe.high));
        let center = frame.enter(probe.center);
        let large = low.abs().max(high.abs()).max_element();
        let slack = 2.0 * f64::from(f32::EPSILON) * large + 1e-30;
        let inner = match &probe.inner {
            Inner::Nothing => SeenInner::Nothing,
            Inner::Ball => SeenInner::Ball { radius: (probe.limit * frame.scale) as f32 },
            Inner::Box { axes, half } => SeenInner::Box(LeafBox {
                axes: [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.as_vec3().to_array()),
                half: (*half * frame.scale).as_vec3().to_array(),
            }),
        };
        Seen {
            bounds: Aabb {
                min: (low - slack).as_vec3().to_array(),
                max: (high + slack).as_vec3().to_array(),
            },
            center: center.as_vec3().to_array(),
            slack: slack as f32 * (1.0 + f32::EPSILON),
            limit: square_of(probe.limit, frame.scale),
            inner,
        }
    }

    /// Returns true if a corner of a triangle is certainly inside the shape.
    #[inline(always)]
    fn holds<S: Simd>(&self, simd: S, leaf: &Leaf8) -> bool {
        match &self.inner {
            SeenInner::Nothing => false,
            SeenInner::Ball { radius } => {
                simd.corners_in_ball(leaf, self.center, *radius, self.slack) != 0
            }
            SeenInner::Box(inner) => simd.corners_in_box(leaf, self.center, inner, self.slack) != 0,
        }
    }

    /// Lower bounds of the squares of the distances of the triangles of a leaf.
    #[inline(always)]
    fn gaps<S: Simd>(&self, simd: S, leaf: &Leaf8) -> [f32; WIDTH] {
        match self.inner {
            SeenInner::Ball { .. } => simd.gaps_to_point(leaf, self.center, self.slack),
            _ => simd.gaps_to_box(leaf, &self.bounds),
        }
    }
}

impl<F: FnMut(&[DVec3; 3]) -> bool> Kernel for Touch<'_, F> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> bool {
        let tree = self.mesh.tree();
        let seen = Seen::new(self.mesh, self.probe);
        let mut room = LaneRoom::new();
        let mut open = LaneStack::new(&mut room);
        let mut link = Link::ROOT;
        loop {
            if let Some(place) = link.leaf() {
                if self.leaf(simd, &seen, &tree.leaves[place]) {
                    return true;
                }
            } else {
                let LinkedNode { boxes, links } = &tree.nodes[link.node()];
                let near = simd.around(boxes, &seen.bounds, seen.center, seen.limit);
                match near.few() {
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
                        link = links[near.nearest()];
                        open.push_but_nearest(&near.in_order(links));
                        continue;
                    }
                }
            }
            let Some((_, next)) = open.pop() else { return false };
            link = next;
        }
    }
}

impl<F: FnMut(&[DVec3; 3]) -> bool> Touch<'_, F> {
    #[inline(always)]
    fn leaf<S: Simd>(&mut self, simd: S, seen: &Seen, leaf: &Leaf8) -> bool {
        if seen.holds(simd, leaf) {
            return true;
        }
        let gaps = seen.gaps(simd, leaf);
        let mut left = simd.within_limit(&gaps, seen.limit);
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            if (self.test)(&self.mesh.corners(leaf.triangle(lane))) {
                return true;
            }
        }
        false
    }
}
