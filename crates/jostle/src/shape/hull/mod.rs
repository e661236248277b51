//! [`Hull`]: the convex hull of a cloud of points, with everything the narrow phase asks of it.
//!
//! A hull may be solid, a flat polygon, a segment or a point; [`Hull::dimension`] tells which.
//! It keeps its vertices twice: as points, and as one array per coordinate for the linear
//! scan. Faces are merged polygons with outward normals, for separating axes and manifolds;
//! the triangulation they were merged from stays as well, because its edges join vertices that
//! are neighbours on an *exactly* convex surface, and that is what makes climbing exact.
//!
//! Memory is 48 bytes a vertex for points and coordinates and about 200 for faces, edges and
//! adjacency; `search/` adds 16 to large hulls.

mod build;
mod faces;
mod flat;
mod icosphere;
mod outline;
mod quickhull;
#[cfg(test)]
pub(super) mod tests;

pub(super) use build::shell;
pub(super) use icosphere::icosphere_points;
pub(crate) use outline::Outline;

use super::error::ShapeError;
use super::search::{Searcher, SupportSearch};
use glam::DVec3;

/// An edge of a [`Hull`] between two of its faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HullEdge {
    /// The vertices at its ends, the lower index first.
    pub vertices: [u32; 2],
    /// The face that runs along the edge from the first vertex to the second, and the face
    /// that runs the other way; [`HullEdge::NO_FACE`] twice for the only edge of a segment.
    pub faces: [u32; 2],
}

impl HullEdge {
    /// Stands for no face.
    pub const NO_FACE: u32 = u32::MAX;
}

/// Lists of indices of different lengths in one array.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Lists from `(list, item)` couples in any order; each list comes out sorted.
    pub(super) fn from_couples(count: usize, mut couples: Vec<(u32, u32)>) -> Lists {
        couples.sort_unstable();
        couples.dedup();
        let mut starts = vec![0; count + 1];
        for &(list, _) in &couples {
            starts[list as usize + 1] += 1;
        }
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        Lists { starts, items: couples.into_iter().map(|couple| couple.1).collect() }
    }

    pub(super) fn push(&mut self, items: &[u32]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.items.extend_from_slice(items);
        self.starts.push(self.items.len() as u32);
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    #[inline(always)]
    pub(super) fn get(&self, list: u32) -> &[u32] {
        let list = list as usize;
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}

/// The combinatorial part of a hull, as the builders hand it over.
#[derive(Debug, Default)]
pub(super) struct Shell {
    /// 0 point, 1 segment, 2 polygon, 3 solid.
    pub dimension: u8,
    /// Which input points are vertices, ascending; all indices below refer to this list.
    pub vertices: Vec<u32>,
    /// The exactly convex triangulation, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Merged faces.
    pub faces: Lists,
}

/// A convex hull. Never empty, never changes.
///
/// ```
/// use jostle::glam::DVec3;
/// use jostle::shape::{Hull, Shape};
/// use std::sync::Arc;
///
/// let corner = |k: i32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
/// let mut points: Vec<DVec3> = (0..8).map(corner).collect();
/// points.push(DVec3::splat(0.5)); // inside, hence no vertex
/// let hull = Arc::new(Hull::new(&points)?);
/// assert_eq!((hull.vertices().len(), hull.face_count()), (8, 6));
/// assert_eq!(hull.support(DVec3::new(1.0, 1.0, 1.0)), DVec3::ONE);
///
/// // Built once, shared by any number of bodies.
/// let (one, other) = (Shape::Hull(hull.clone()), Shape::Hull(hull));
/// # assert_eq!(one.center(), other.center());
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hull {
    dimension: u8,
    vertices: Vec<DVec3>,
    normals: Vec<DVec3>,
    offsets: Vec<f64>,
    faces: Lists,
    triangles: Vec<[u32; 3]>,
    edges: Vec<HullEdge>,
    neighbours: Lists,
    center: DVec3,
    radius: f64,
    largest: f64,
    identity: u64,
    searcher: Searcher,
    /// The points it was built from, if its vertices alone would give other faces.
    #[cfg(feature = "serde")]
    cloud: Option<Box<[DVec3]>>,
}

/// The points, unless their vertices alone give the same hull.
#[cfg(feature = "serde")]
fn needed_cloud(points: &[DVec3], built: &Shell) -> Option<Box<[DVec3]>> {
    let vertices: Vec<DVec3> = built.vertices.iter().map(|&v| points[v as usize]).collect();
    let again = shell(&vertices).ok()?;
    let same = again.vertices.len() == vertices.len()
        && again.triangles == built.triangles
        && again.faces == built.faces
        && again.dimension == built.dimension;
    (!same).then(|| points.into())
}

impl Hull {
    /// The hull of a cloud of points, in O(n log n) expected time. Points nearer to the hull of
    /// the others than about 1e-14 of the largest coordinate do not become vertices, so a turned
    /// grid of points gives the eight corners of its box and not its rounding noise. Clouds
    /// thinner than about 1e-13 of that are flat, or segments, or points.
    ///
    /// However thin the cloud, no point of it is further than 3e-13 of the largest coordinate
    /// outside the hull, or above the plane of a face.
    pub fn new(points: &[DVec3]) -> Result<Hull, ShapeError> {
        let shell = shell(points)?;
        #[cfg(feature = "serde")]
        let cloud = needed_cloud(points, &shell);
        #[cfg_attr(not(feature = "serde"), expect(unused_mut))]
        let mut hull = Hull::from_shell(points, shell);
        #[cfg(feature = "serde")]
        {
            hull.cloud = cloud;
        }
        Ok(hull)
    }

    /// The hull as [`new`](Hull::new) gives it, always searched in one stated way.
    pub fn with_search(points: &[DVec3], search: SupportSearch) -> Result<Hull, ShapeError> {
        let mut hull = Hull::new(points)?;
        hull.searcher.force(search, &hull.vertices, &hull.neighbours);
        Ok(hull)
    }

    fn from_shell(points: &[DVec3], shell: Shell) -> Hull {
        let vertices: Vec<DVec3> = shell.vertices.iter().map(|&v| points[v as usize]).collect();
        let edges = faces::edges(&shell);
        let neighbours = faces::neighbours(&shell, &edges);
        let searcher = Searcher::new(&vertices, &neighbours, shell.dimension);
        let (normals, offsets) = faces::planes(&vertices, &shell, |direction, hint| {
            let vertex = searcher.search(&vertices, &neighbours, direction, hint);
            vertices[vertex as usize].dot(direction)
        });
        let share = 1.0 / vertices.len() as f64;
        let center: DVec3 = vertices.iter().map(|&vertex| vertex * share).sum();
        let reach = vertices.iter().map(|vertex| vertex.distance(center)).fold(0.0, f64::max);
        let largest = vertices.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
        Hull {
            dimension: shell.dimension,
            vertices,
            normals,
            offsets,
            faces: shell.faces,
            triangles: shell.triangles,
            edges,
            neighbours,
            center,
            radius: super::round_radius(reach),
            largest,
            identity: super::next_identity(),
            searcher,
            #[cfg(feature = "serde")]
            cloud: None,
        }
    }

    /// 0 for a point, 1 for a segment, 2 for a flat polygon, 3 for a solid.
    pub fn dimension(&self) -> u8 {
        self.dimension
    }

    /// The vertices, in the order of the input points they come from.
    #[inline]
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// The vertices joined to a vertex by an edge of the triangulation, ascending.
    #[inline]
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        self.neighbours.get(vertex)
    }

    /// How many faces there are: two for a flat polygon (front and back), none for less.
    #[inline]
    pub fn face_count(&self) -> usize {
        self.normals.len()
    }

    /// The unit normals of the faces, pointing outward.
    #[inline]
    pub fn face_normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// The unit normal of a face, pointing outward.
    #[inline]
    pub fn face_normal(&self, face: usize) -> DVec3 {
        self.normals[face]
    }

    /// The distance of a face's plane from the origin: the largest over all vertices of the hull,
    /// up to rounding those of the face.
    #[inline]
    pub fn face_offset(&self, face: usize) -> f64 {
        self.offsets[face]
    }

    /// The corners of a face, counter-clockwise as seen from outside.
    #[inline]
    pub fn face_vertices(&self, face: usize) -> &[u32] {
        self.faces.get(face as u32)
    }

    /// The triangles of the surface, counter-clockwise as seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The edges between merged faces, each once, sorted by their vertices.
    #[inline]
    pub fn edges(&self) -> &[HullEdge] {
        &self.edges
    }

    /// The mean of the vertices, which lies inside.
    #[inline]
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// A radius about the centre that holds every vertex.
    #[inline]
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// Points from which the same hull is built again.
    #[cfg(feature = "serde")]
    pub(super) fn source(&self) -> &[DVec3] {
        self.cloud.as_deref().unwrap_or(&self.vertices)
    }

    /// The search it was told to use, if it is not the one that its size calls for.
    #[cfg(feature = "serde")]
    pub(super) fn forced_search(&self) -> Option<SupportSearch> {
        self.searcher.forced(self.vertices.len())
    }

    /// What tells it from all others.
    pub(super) fn identity(&self) -> u64 {
        self.identity
    }

    /// The largest absolute coordinate of all vertices.
    pub(super) fn largest_coordinate(&self) -> f64 {
        self.largest
    }

    /// The furthest vertex in a direction.
    #[inline]
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.vertices[self.support_index(direction) as usize]
    }

    /// The furthest vertex in a direction, searched from `hint`; see
    /// [`support_index_from`](Hull::support_index_from).
    #[inline]
    pub fn support_from(&self, direction: DVec3, hint: &mut u32) -> DVec3 {
        self.vertices[self.support_index_from(direction, hint) as usize]
    }

    /// The lowest index among the furthest vertices.
    #[inline]
    pub fn support_index(&self, direction: DVec3) -> u32 {
        self.support_index_from(direction, &mut 0)
    }

    /// Like [`support_index`](Hull::support_index), starting at the vertex of the last call and
    /// leaving the new one there. Any hint is legal; it changes time, never the answer.
    #[inline]
    pub fn support_index_from(&self, direction: DVec3, hint: &mut u32) -> u32 {
        *hint = self.searcher.search(&self.vertices, &self.neighbours, direction, *hint);
        *hint
    }

    /// The same answer found in a stated way, whatever the hull's size. A way whose tables this
    /// hull does not hold (see [`with_search`](Hull::with_search)) falls back to the scan.
    #[inline]
    pub fn support_index_with(
        &self,
        search: SupportSearch,
        direction: DVec3,
        hint: &mut u32,
    ) -> u32 {
        *hint =
            self.searcher.search_with(search, &self.vertices, &self.neighbours, direction, *hint);
        *hint
    }
}
