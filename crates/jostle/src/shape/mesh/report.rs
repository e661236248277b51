//! [`MeshReport`]: what a mesh is like and what is wrong with it.
//!
//! Edges are sorted rather than hashed, so that the counts come in a fixed order and a million
//! triangles around one edge cost no more than others.

use super::Mesh;
use glam::DVec3;
use robust::{Coord, orient2d};

/// What a mesh is like. Nothing in it is a reason to refuse a mesh.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeshReport {
    /// Number of vertices.
    pub vertices: usize,
    /// Number of triangles.
    pub triangles: usize,
    /// Vertices that no triangle uses.
    pub unused_vertices: usize,
    /// Vertices at the very place of an earlier one. Triangles on either side of such a seam are
    /// not neighbours.
    pub duplicate_vertices: usize,
    /// Triangles whose corners lie exactly on one line or in one point.
    pub degenerate_triangles: usize,
    /// Triangles with the same three vertices as an earlier one, in any order.
    pub duplicate_triangles: usize,
    /// Edges of one triangle: the mesh is open there.
    pub border_edges: usize,
    /// Edges of three or more triangles.
    pub crowded_edges: usize,
    /// Edges whose two triangles run along it the same way: one of them is flipped.
    pub flipped_edges: usize,
    /// Parts that share no vertex.
    pub parts: usize,
    /// Sum of the areas.
    pub area: f64,
    /// Enclosed volume; negative if the triangles face inward. It has a meaning for closed,
    /// oriented meshes alone.
    pub volume: f64,
    /// Bytes of memory that the mesh holds.
    pub bytes: usize,
}

impl MeshReport {
    /// Returns true if no edge is open: every one has two triangles or more.
    pub fn is_closed(&self) -> bool {
        self.border_edges == 0
    }

    /// Returns true if neighbours face the same way.
    pub fn is_oriented(&self) -> bool {
        self.flipped_edges == 0 && self.crowded_edges == 0
    }
}

impl Mesh {
    /// What the mesh is like and what is wrong with it. Takes time, as it sorts all edges.
    pub fn report(&self) -> MeshReport {
        let edges = Edges::of(self);
        let mut used = vec![false; self.vertices.len()];
        self.triangles.iter().flatten().for_each(|&vertex| used[vertex as usize] = true);
        let unused = used.iter().filter(|used| !**used).count();
        let (area, volume) = self.area_and_volume();
        let corners = (0..self.triangles.len() as u32).map(|triangle| self.corners(triangle));
        MeshReport {
            vertices: self.vertices.len(),
            triangles: self.triangles.len(),
            unused_vertices: unused,
            duplicate_vertices: self.duplicate_vertices(),
            degenerate_triangles: corners.filter(is_degenerate).count(),
            duplicate_triangles: self.duplicate_triangles(),
            border_edges: edges.border,
            crowded_edges: edges.crowded,
            flipped_edges: edges.flipped,
            parts: self.part_vertices().len(),
            area,
            volume,
            bytes: self.bytes(),
        }
    }

    fn duplicate_vertices(&self) -> usize {
        // Zero has two signs but one place.
        let mut keys: Vec<[u64; 3]> = self
            .vertices
            .iter()
            .map(|vertex| vertex.to_array().map(|at| (at + 0.0).to_bits()))
            .collect();
        keys.sort_unstable();
        keys.windows(2).filter(|two| two[0] == two[1]).count()
    }

    fn duplicate_triangles(&self) -> usize {
        let sorted = |mut corners: [u32; 3]| {
            corners.sort_unstable();
            corners
        };
        let mut keys: Vec<[u32; 3]> = self.triangles.iter().copied().map(sorted).collect();
        keys.sort_unstable();
        keys.windows(2).filter(|two| two[0] == two[1]).count()
    }

    fn area_and_volume(&self) -> (f64, f64) {
        let center = self.center();
        let (mut area, mut volume) = (0.0, 0.0);
        for triangle in 0..self.triangles.len() as u32 {
            let [a, b, c] = self.corners(triangle).map(|corner| corner - center);
            area += 0.5 * (b - a).cross(c - a).length();
            volume += a.dot(b.cross(c)) / 6.0;
        }
        (area, volume)
    }

    /// A vertex of each part of the surface, the lowest, in ascending order. Parts share no vertex.
    pub(crate) fn part_vertices(&self) -> Vec<u32> {
        let mut parent: Vec<u32> = (0..self.vertices.len() as u32).collect();
        fn root(parent: &mut [u32], mut at: u32) -> u32 {
            while parent[at as usize] != at {
                parent[at as usize] = parent[parent[at as usize] as usize];
                at = parent[at as usize];
            }
            at
        }
        for corners in &self.triangles {
            for other in &corners[1..] {
                let (one, other) = (root(&mut parent, corners[0]), root(&mut parent, *other));
                // The smaller becomes the root.
                parent[one.max(other) as usize] = one.min(other);
            }
        }
        let mut roots: Vec<u32> =
            self.triangles.iter().map(|corners| root(&mut parent, corners[0])).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

#[derive(Default)]
struct Edges {
    border: usize,
    crowded: usize,
    flipped: usize,
}

impl Edges {
    fn of(mesh: &Mesh) -> Edges {
        let all = sorted_edges(&mesh.triangles);
        let mut edges = Edges::default();
        for same in all.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
            match same {
                [_] => edges.border += 1,
                [one, other] => edges.flipped += usize::from(one.2 == other.2),
                _ => edges.crowded += 1,
            }
        }
        edges
    }
}

/// The edges of triangles in ascending order: lower end, higher end, and whether the triangle runs
/// from the higher to the lower one. Those without length are left out.
pub(super) fn sorted_edges(triangles: &[[u32; 3]]) -> Vec<(u32, u32, bool)> {
    let mut edges = Vec::with_capacity(3 * triangles.len());
    for corners in triangles {
        for k in 0..3 {
            let (from, to) = (corners[k], corners[(k + 1) % 3]);
            if from != to {
                edges.push((from.min(to), from.max(to), from > to));
            }
        }
    }
    edges.sort_unstable();
    edges
}

/// Returns true if three points lie exactly on one line: so do their shadows on all three planes.
pub(crate) fn is_degenerate(corners: &[DVec3; 3]) -> bool {
    [(0, 1), (1, 2), (2, 0)].iter().all(|&(u, v)| {
        let [a, b, c] = corners.map(|corner| Coord { x: corner[u], y: corner[v] });
        orient2d(a, b, c) == 0.0
    })
}
