//! [`Mesh`]: indexed triangles with a tree over them.
//!
//! A mesh is checked when it is made: every index names a vertex, every coordinate is a number.
//! Everything else is legal and told by [`Mesh::report`]: open borders, edges with three
//! triangles, flipped parts, duplicates, triangles without area. The tree costs about 32 bytes a
//! triangle; with vertices and indices a closed mesh takes 56.
//!
//! | file | holds |
//! |---|---|
//! | `near.rs` | triangles near a box |
//! | `touch.rs` | does any triangle touch a convex shape |
//! | `tree.rs` | the tree, its frame, and refitting |
//! | `check.rs` | what a mesh is checked for, and its bounds |
//! | `build.rs` | how it is built |
//! | `split.rs` | where a range of triangles is split in two |
//! | `report.rs` | what a mesh is like and what is wrong with it |
//! | `crossings.rs` | inside or outside of what is closed |
//! | `winding.rs` | inside or outside |
//!
//! The questions that can be asked of a mesh are in [`mesh`](crate::mesh).

mod build;
mod check;
mod crossings;
mod near;
mod report;
mod split;
mod touch;
mod tree;
mod winding;

pub use report::MeshReport;
pub(crate) use touch::{Inner, Probe};
pub(crate) use tree::MeshTree;
pub(crate) use tree::{Child, Frame, Link, LinkedNode};

use crate::par::Workers;
use crate::shape::{MeshError, next_identity};
use glam::DVec3;
use std::sync::OnceLock;
use winding::WindingTree;

/// Which points belong to a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Fill {
    /// The triangles alone: what is inside does not touch it.
    #[default]
    Surface,
    /// The triangles and all they enclose: the points with a winding number of more than a half
    /// in size. For a closed mesh whose triangles face the same way that is its inside; a soup of
    /// triangles with holes has one too.
    Solid,
}

/// Triangles that share vertices, in local space.
///
/// ```
/// use jostle::mesh::{Fill, Mesh};
///
/// // A tetrahedron, counter-clockwise from outside.
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
/// let mesh = Mesh::new(corners.map(Into::into).to_vec(), triangles)?.with_fill(Fill::Solid);
/// let report = mesh.report();
/// assert!(report.is_closed() && report.is_oriented());
/// assert!((report.volume - 1.0 / 6.0).abs() < 1e-15);
///
/// let error = Mesh::new(vec![[0.0; 3].into()], vec![[0, 0, 7]]).unwrap_err();
/// assert!(error.to_string().contains("triangle 0 names vertex 7"));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    min: DVec3,
    max: DVec3,
    radius: f64,
    /// Some vertices belong to no triangle: bounds then go through the triangles.
    has_unused: bool,
    fill: Fill,
    tree: MeshTree,
    /// Made when it is first asked whether a point is inside.
    winding: OnceLock<WindingTree>,
    /// Whether the surface has no border, once it was asked.
    closed: OnceLock<bool>,
    identity: u64,
}

/// What became of the tree when the vertices of a mesh moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refit {
    /// Its boxes were fitted to the new places.
    Fitted,
    /// It was rebuilt: fitted boxes would have had more than half as much surface again.
    Rebuilt,
}

/// A fitted tree with more than this many times the surface is rebuilt.
const WORN: f64 = 1.5;

impl Mesh {
    /// A mesh of triangles, each three places in the list of vertices.
    pub fn new(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Mesh, MeshError> {
        Mesh::with_workers(vertices, triangles, &Workers::one())
    }

    /// As [`Mesh::new`]; the tree is built by several threads.
    pub fn with_workers(
        vertices: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        workers: &Workers,
    ) -> Result<Mesh, MeshError> {
        workers.enter(|| Mesh::made(vertices, triangles, workers))
    }

    fn made(
        mut vertices: Vec<DVec3>,
        mut triangles: Vec<[u32; 3]>,
        workers: &Workers,
    ) -> Result<Mesh, MeshError> {
        let all = check::check_vertices(&vertices, workers)?;
        let has_unused = check::check_triangles(&triangles, vertices.len(), workers)?;
        vertices.shrink_to_fit();
        triangles.shrink_to_fit();
        let used = || check::used_bounds(&vertices, &triangles, workers);
        let (min, max) = if has_unused { used() } else { all };
        let tree = build::build(Frame::around(min, max), &vertices, &triangles, workers);
        let identity = next_identity();
        let mut mesh = Mesh {
            vertices,
            triangles,
            min,
            max,
            radius: 0.0,
            has_unused,
            fill: Fill::Surface,
            tree,
            winding: OnceLock::new(),
            closed: OnceLock::new(),
            identity,
        };
        mesh.radius = mesh.radius_about_center(workers);
        Ok(mesh)
    }

    /// A mesh from single precision, as most files have it.
    pub fn from_f32(vertices: &[[f32; 3]], triangles: Vec<[u32; 3]>) -> Result<Mesh, MeshError> {
        let wide = |point: &[f32; 3]| DVec3::from_array(point.map(f64::from));
        Mesh::new(vertices.iter().map(wide).collect(), triangles)
    }

    /// The same mesh as a surface or as a solid.
    #[must_use]
    pub fn with_fill(mut self, fill: Fill) -> Mesh {
        self.fill = fill;
        self.identity = next_identity();
        self
    }

    /// Moves the vertices: cloth, skin, anything that keeps its triangles. Nothing changes if a
    /// coordinate is not a number or the count differs.
    pub fn set_vertices(
        &mut self,
        vertices: &[DVec3],
        workers: &Workers,
    ) -> Result<Refit, MeshError> {
        if vertices.len() != self.vertices.len() {
            let (given, expected) = (vertices.len(), self.vertices.len());
            return Err(MeshError::VertexCount { given, expected });
        }
        let all = check::check_vertices(vertices, workers)?;
        self.vertices.copy_from_slice(vertices);
        self.identity = next_identity();
        self.move_winding();
        let used = || check::used_bounds(vertices, &self.triangles, workers);
        (self.min, self.max) = if self.has_unused { used() } else { all };
        self.radius = self.radius_about_center(workers);
        let frame = Frame::around(self.min, self.max);
        let near = (self.tree.frame.origin - frame.origin).abs().max_element() * frame.scale <= 0.5;
        let alike = (0.5..=2.0).contains(&(self.tree.frame.scale / frame.scale));
        if near && alike {
            self.tree.refit(&self.vertices, &self.triangles, workers);
            if self.tree.cost() <= WORN * self.tree.quality {
                return Ok(Refit::Fitted);
            }
        }
        self.tree = build::build(frame, &self.vertices, &self.triangles, workers);
        Ok(Refit::Rebuilt)
    }

    /// The vertices, in the order in which they were given.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// The triangles, in the order in which they were given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The corners of a triangle.
    ///
    /// # Panics
    /// If there is no such triangle.
    #[inline(always)]
    pub fn corners(&self, triangle: u32) -> [DVec3; 3] {
        // Not by `map`, which kernels of another instruction set would have to call.
        let [a, b, c] = self.triangles[triangle as usize];
        [self.vertices[a as usize], self.vertices[b as usize], self.vertices[c as usize]]
    }

    /// The corners where they are kept.
    #[inline(always)]
    pub(crate) fn corner_places(&self, triangle: u32) -> [&DVec3; 3] {
        let [a, b, c] = self.triangles[triangle as usize];
        [&self.vertices[a as usize], &self.vertices[b as usize], &self.vertices[c as usize]]
    }

    /// A surface or a solid.
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// The lower corner of the box around the triangles.
    pub fn min(&self) -> DVec3 {
        self.min
    }

    /// The upper corner of the box around the triangles.
    pub fn max(&self) -> DVec3 {
        self.max
    }

    /// The middle of the bounds.
    pub fn center(&self) -> DVec3 {
        self.min * 0.5 + self.max * 0.5
    }

    /// A radius about the center that holds the whole mesh.
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Bytes of memory that the mesh holds.
    pub fn bytes(&self) -> usize {
        self.vertices.capacity() * size_of::<DVec3>()
            + self.triangles.capacity() * size_of::<[u32; 3]>()
            + self.tree.bytes()
            + self.winding.get().map_or(0, WindingTree::bytes)
    }

    /// What tells it from all others.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    pub(crate) fn tree(&self) -> &MeshTree {
        &self.tree
    }

    fn radius_about_center(&self, workers: &Workers) -> f64 {
        let used = self.has_unused.then_some(&self.triangles[..]);
        check::radius(&self.vertices, used, self.center(), workers)
    }
}

#[cfg(test)]
mod tests;
