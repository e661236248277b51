//! [`MeshTree`]: eight boxes to a node, one triangle to a lane of a leaf.
//!
//! Boxes are f32 in the tree's own frame: the middle of the mesh is the origin and the mesh lies
//! between -1 and 1, so that precision follows the size of the mesh and not its place, and meshes
//! of any scale are searched alike. Boxes are widened by more than the rounding: no triangle ever
//! leaves its box.
//!
//! Children stand next to each other, after their parent: a node has one link, and walking the
//! array backwards visits children first. Leaves are full but for the last one (see
//! [`build`](super::build)): 28 bytes of boxes, 4 of links and order for each triangle.

use glam::DVec3;

use crate::aabb::Aabb;
use crate::par::Workers;
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};

/// Bit of a link that says the lanes are triangles.
const LEAF: u32 = 1 << 31;

/// Most triangles: their places and the nodes share 31 bits.
pub(crate) const MOST_TRIANGLES: usize = (1 << 31) - 64;

/// Where the children of a node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Lane `k` is the node at this place plus `k`.
    Nodes(u32),
    /// Lane `k` is the triangle at this place plus `k` of the order.
    Triangles(u32),
}

/// The map from the mesh's space to the tree's: subtract the origin, multiply by a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub origin: DVec3,
    pub scale: f64,
}

impl Frame {
    /// The frame in which bounds lie between -1 and 1.
    pub(super) fn around(min: DVec3, max: DVec3) -> Frame {
        let origin = min * 0.5 + max * 0.5;
        let reach = (max - origin).max(origin - min).max_element();
        // A power of two, so that scaling is exact.
        let exponent =
            if reach > 0.0 { reach.log2().ceil().clamp(-900.0, 900.0) + 1.0 } else { 0.0 };
        Frame { origin, scale: 2.0f64.powi(-(exponent as i32)) }
    }

    /// A point in the tree's space.
    #[inline(always)]
    pub(crate) fn enter(&self, point: DVec3) -> DVec3 {
        (point - self.origin) * self.scale
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct MeshTree {
    pub frame: Frame,
    pub nodes: Vec<Node8>,
    links: Vec<u32>,
    /// The triangles in the order of the leaves.
    pub order: Vec<u32>,
    /// Sum of the surfaces of all boxes, relative to the root's, when the tree was built.
    pub quality: f64,
}

impl MeshTree {
    pub(super) fn new(frame: Frame, nodes: Vec<Node8>, links: Vec<u32>, order: Vec<u32>) -> Self {
        let mut tree = MeshTree { frame, nodes, links, order, quality: 0.0 };
        tree.quality = tree.cost();
        tree
    }

    /// The link of a node whose lanes are nodes.
    pub(super) fn to_nodes(first: usize) -> u32 {
        first as u32
    }

    /// The link of a node whose lanes are triangles.
    pub(super) fn to_triangles(first: usize) -> u32 {
        first as u32 | LEAF
    }

    /// A link with the places of its nodes moved.
    pub(super) fn moved(link: u32, by: usize) -> u32 {
        if link & LEAF == 0 { link + by as u32 } else { link }
    }

    /// Where the children of a node are.
    #[inline(always)]
    pub(crate) fn link(&self, node: u32) -> Link {
        let link = self.links[node as usize];
        if link & LEAF == 0 { Link::Nodes(link) } else { Link::Triangles(link & !LEAF) }
    }

    /// The triangle in a place of the order.
    #[inline(always)]
    pub(crate) fn triangle(&self, place: u32) -> u32 {
        self.order[place as usize]
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node8>()
            + (self.links.capacity() + self.order.capacity()) * 4
    }

    /// Sum of the surfaces of all boxes, relative to the root's: what a random ray visits.
    pub(super) fn cost(&self) -> f64 {
        let surface = |aabb: &Aabb| {
            let [x, y, z] = aabb.size().map(f64::from);
            x * y + y * z + z * x
        };
        let root = simd::run(Bounds(&self.nodes[0]));
        let lanes = self.nodes.iter().flat_map(|node| (0..WIDTH).map(|lane| node.get(lane)));
        let sum: f64 = lanes.filter(|aabb| !aabb.min[0].is_nan()).map(|aabb| surface(&aabb)).sum();
        sum / surface(&root).max(f64::MIN_POSITIVE)
    }

    /// Bounds for triangles that have moved; the order stays.
    pub(super) fn refit(&mut self, vertices: &[DVec3], triangles: &[[u32; 3]], workers: &Workers) {
        let MeshTree { frame, nodes, links, order, .. } = self;
        let (frame, order): (&Frame, &[u32]) = (frame, order);
        // Leaves first, all at once: they are most of the work.
        let (links, run) = (&*links, NODES_PER_TASK);
        workers.for_each_chunk(nodes, run, |task, nodes| {
            let links = &links[task * run..];
            for (node, link) in nodes.iter_mut().zip(links).filter(|(_, link)| *link & LEAF != 0) {
                let first = (link & !LEAF) as usize;
                let own = &order[first..order.len().min(first + WIDTH)];
                let own = &own[..own.len().min(lanes_of(node))];
                for (lane, &triangle) in own.iter().enumerate() {
                    let corners = triangles[triangle as usize].map(|v| vertices[v as usize]);
                    node.set(lane, &triangle_box(frame, &corners));
                }
            }
        });
        simd::run(Upward { nodes, links });
    }
}

/// Number of lanes with a box; they come first.
#[inline]
fn lanes_of(node: &Node8) -> usize {
    node.min[0].iter().take_while(|at| !at.is_nan()).count()
}

/// Nodes refitted by one task at a time.
const NODES_PER_TASK: usize = 1 << 9;

/// The f32 box of a triangle in the tree's frame.
#[inline(always)]
pub(super) fn triangle_box(frame: &Frame, corners: &[DVec3; 3]) -> Aabb {
    let low = frame.enter(corners[0].min(corners[1]).min(corners[2]));
    let high = frame.enter(corners[0].max(corners[1]).max(corners[2]));
    // Conversion rounds by half a unit in the last place, the subtraction by another half; two
    // units cover both and cost no branch.
    let wide = |at: f32| 2.0 * f32::EPSILON * at.abs() + 1e-36;
    let (low, high) = (low.as_vec3(), high.as_vec3());
    Aabb {
        min: std::array::from_fn(|k| low[k] - wide(low[k])),
        max: std::array::from_fn(|k| high[k] + wide(high[k])),
    }
}

/// The box around the lanes of a node.
pub(super) struct Bounds<'a>(pub &'a Node8);

impl Kernel for Bounds<'_> {
    type Output = Aabb;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Aabb {
        simd.bounds(self.0)
    }
}

/// Bounds of inner nodes, from the last to the first.
struct Upward<'a> {
    nodes: &'a mut [Node8],
    links: &'a [u32],
}

impl Kernel for Upward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for at in (0..self.nodes.len()).rev() {
            let first = self.links[at];
            if first & LEAF != 0 {
                continue;
            }
            for lane in 0..lanes_of(&self.nodes[at]) {
                let bounds = simd.bounds(&self.nodes[first as usize + lane]);
                self.nodes[at].set(lane, &bounds);
            }
        }
    }
}
