//! [`MeshTree`]: eight boxes to a node, eight triangles to a leaf.
//!
//! Boxes are f32 in the tree's own frame: the middle of the mesh is the origin and the mesh lies
//! between -1 and 1, so that precision follows the size of the mesh and not its place, and meshes
//! of any scale are searched alike. Boxes are widened by more than the rounding: no triangle ever
//! leaves its box.
//!
//! Leaves hold the corners of their triangles in 16 bits and how far those are off (see
//! [`leaf8`](crate::simd::leaf8)), so that most questions to a triangle are answered eight at a
//! time and without reading its vertices. Leaves are full but for the last one (see
//! [`build`](super::build)): 26 bytes of a leaf and 6 of nodes for each triangle.
//!
//! Nodes stand before their children: walking the array backwards visits children first.

use glam::DVec3;

use crate::aabb::Aabb;
use crate::par::Workers;
use crate::simd::leaf8::{Corners, Leaf8};
pub(crate) use crate::simd::link::{Child, Link, LinkedNode};
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};

/// Most triangles: their leaves and the nodes share 31 bits.
pub(crate) const MOST_TRIANGLES: usize = (1 << 31) - 64;

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
    pub nodes: Vec<LinkedNode>,
    pub leaves: Vec<Leaf8>,
    /// No coordinate of a box is larger.
    pub reach: f32,
    /// Sum of the surfaces of all boxes, relative to the root's, when the tree was built.
    pub quality: f64,
}

impl MeshTree {
    /// A tree whose nodes are known; leaves take their triangles in this order.
    pub(super) fn new(frame: Frame, nodes: Vec<LinkedNode>, leaves: Vec<Leaf8>) -> Self {
        let mut tree = MeshTree { frame, nodes, leaves, reach: 0.0, quality: 0.0 };
        tree.reach = tree.reach_of_root();
        tree.quality = tree.cost();
        tree
    }

    fn reach_of_root(&self) -> f32 {
        let Aabb { min, max } = simd::run(Bounds(&self.nodes[0].boxes));
        min.iter().chain(&max).fold(0.0, |most, at| at.abs().max(most))
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<LinkedNode>()
            + self.leaves.capacity() * size_of::<Leaf8>()
    }

    /// Sum of the surfaces of all boxes, relative to the root's: what a random ray visits.
    pub(super) fn cost(&self) -> f64 {
        let [x, y, z] = simd::run(Bounds(&self.nodes[0].boxes)).size().map(f64::from);
        simd::run(Surfaces(&self.nodes)) / (x * y + y * z + z * x).max(f64::MIN_POSITIVE)
    }

    /// Bounds for triangles that have moved; what is below what stays.
    pub(super) fn refit(&mut self, vertices: &[DVec3], triangles: &[[u32; 3]], workers: &Workers) {
        let frame = self.frame;
        workers.for_each_chunk_from_ends(&mut self.leaves, LEAVES_PER_TASK, |_, leaves| {
            simd::run(Fit { frame: &frame, leaves, vertices, triangles });
        });
        simd::run(Upward { nodes: &mut self.nodes, leaves: &self.leaves });
        self.reach = self.reach_of_root();
    }
}

/// Leaves fitted by one task at a time.
pub(super) const LEAVES_PER_TASK: usize = 1 << 7;

/// Leaves whose corners are gathered before they are fitted: a row that has just been written lane
/// by lane cannot be read as a whole before the writes have reached the cache.
const LEAVES_AT_ONCE: usize = 4;

/// Puts the corners of triangles into leaves.
pub(super) struct Fit<'a> {
    pub frame: &'a Frame,
    pub leaves: &'a mut [Leaf8],
    pub vertices: &'a [DVec3],
    pub triangles: &'a [[u32; 3]],
}

impl Kernel for Fit<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Fit { frame, leaves, vertices, triangles } = self;
        // Copies, which a write to a leaf cannot change.
        let (origin, scale) = (frame.origin.to_array(), frame.scale);
        let mut places: [Corners; LEAVES_AT_ONCE] = [[[[0.0; WIDTH]; 3]; 3]; LEAVES_AT_ONCE];
        for leaves in leaves.chunks_mut(LEAVES_AT_ONCE) {
            for (leaf, places) in leaves.iter().zip(&mut places) {
                for lane in 0..WIDTH {
                    let corners = &triangles[leaf.triangle(lane) as usize];
                    for corner in 0..3 {
                        let at = &vertices[corners[corner] as usize];
                        places[corner][0][lane] = at.x;
                        places[corner][1][lane] = at.y;
                        places[corner][2][lane] = at.z;
                    }
                }
            }
            for (leaf, places) in leaves.iter_mut().zip(&mut places) {
                // As `Frame::enter`, by whole rows.
                for corner in &mut *places {
                    for k in 0..3 {
                        corner[k] = moved(&corner[k], origin[k], scale);
                    }
                }
                leaf.fit(places);
            }
        }
    }
}

/// A row of coordinates in a frame.
#[inline(always)]
fn moved(row: &[f64; WIDTH], origin: f64, scale: f64) -> [f64; WIDTH] {
    let mut out = [0.0; WIDTH];
    for lane in 0..WIDTH {
        out[lane] = (row[lane] - origin) * scale;
    }
    out
}

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
struct Bounds<'a>(&'a Node8);

impl Kernel for Bounds<'_> {
    type Output = Aabb;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Aabb {
        simd.bounds(self.0)
    }
}

/// The sum of the surfaces of all boxes, half of each.
struct Surfaces<'a>(&'a [LinkedNode]);

impl Kernel for Surfaces<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> f64 {
        let mut sums = [0.0f64; WIDTH];
        for LinkedNode { boxes: node, .. } in self.0 {
            for lane in 0..WIDTH {
                let x = f64::from(node.max[0][lane] - node.min[0][lane]);
                let y = f64::from(node.max[1][lane] - node.min[1][lane]);
                let z = f64::from(node.max[2][lane] - node.min[2][lane]);
                let surface = x * y + y * z + z * x;
                // False for lanes without a box.
                sums[lane] += if surface >= 0.0 { surface } else { 0.0 };
            }
        }
        sums.iter().sum()
    }
}

/// Boxes of nodes, from the last to the first.
struct Upward<'a> {
    nodes: &'a mut [LinkedNode],
    leaves: &'a [Leaf8],
}

impl Kernel for Upward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for at in (0..self.nodes.len()).rev() {
            for lane in 0..WIDTH {
                if self.nodes[at].boxes.min[0][lane].is_nan() {
                    break;
                }
                let bounds = match self.nodes[at].links[lane].child() {
                    Child::Node(place) => simd.bounds(&self.nodes[place as usize].boxes),
                    Child::Leaf(place) => self.leaves[place as usize].bounds(),
                };
                self.nodes[at].boxes.set(lane, &bounds);
            }
        }
    }
}
