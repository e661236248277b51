//! Questions about triangle meshes: the phase between pairs of boxes and pairs of shapes.
//!
//! | question | ask |
//! |---|---|
//! | do two meshes touch? | [`MeshPair::intersects`] |
//! | which triangles touch? | [`MeshPair::triangle_pairs`] |
//! | how far apart, and where? | [`MeshPair::closest`] |
//! | what does a ray or a segment hit? | [`Mesh::cast_ray`], [`Mesh::hits_segment`] |
//! | what do many rays hit? | [`Mesh::cast_rays`] |
//! | what is nearest to a point? | [`Mesh::project`] |
//! | where does a mesh touch itself? | [`Mesh::self_pairs`] |
//! | when do moving triangles meet? | [`vertex_face_time`], [`edge_edge_time`] |
//! | is a point inside? | [`Mesh::contains`], [`Mesh::winding_number`] |
//!
//! ```
//! use jostle::mesh::{Mesh, MeshPair};
//! use jostle::shape::Pose;
//!
//! let corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(Into::into).to_vec();
//! let sheet = Mesh::new(corners, vec![[0, 1, 2]])?;
//! let above = Pose::at([0.0, 0.0, 1e-20])?;
//! let pair = MeshPair::new(&sheet, &Pose::IDENTITY, &sheet, &above);
//! assert!(!pair.intersects()); // 1e-20 apart is apart
//! assert_eq!(pair.closest().distance, 1e-20);
//! # Ok::<(), jostle::Error>(())
//! ```
//!
//! **What is exact.** Whether two triangles touch is decided by exact predicates on the f64
//! coordinates of their corners: coplanar triangles, a common edge, a common corner, needles and
//! triangles without area, which are the segment or the point that they look like. The second
//! mesh's vertices are moved into the first mesh's frame once, each rounded to f64, and the
//! predicates hold for those; with the same rotation on both sides only the translation rounds,
//! and without any nothing does. Exactness ends where products of coordinates underflow: below
//! differences of about 1e-100.
//!
//! Distances are those of two points that are returned, so they are never too small but for the
//! rounding of the points, and [`MeshClosest::bound`] says how much too large they can be.
//!
//! Touching counts. A [`Fill::Surface`] is its triangles; a
//! [`Fill::Solid`] contains what is inside it.
//!
//! Two trees are descended at once, eight boxes against eight: in the frame of either mesh, which
//! parts boxes that a single frame would not. Triangles are told apart eight at a time in f32, with
//! bounds on every error, and only what is left over is decided in f64 or exactly.
//!
//! | file | holds |
//! |---|---|
//! | `exact.rs` | do two triangles touch |
//! | `between.rs` | one mesh as the other sees it |
//! | `pairs.rs` | touching triangles of two meshes |
//! | `feature.rs` | nearest points of points, segments and triangles |
//! | `distance.rs` | nearest points of two meshes |
//! | `field.rs` | rays and nearest points of height fields |
//! | `own.rs` | touching triangles of one mesh |
//! | `continuous.rs` | when moving vertices, edges and triangles meet |
//! | `ray.rs`, `point.rs`, `winding.rs` | rays, nearest points, inside or outside |
//! | `rays.rs`, `wave.rs` | many rays at once, and how they are laid out |

mod between;
mod continuous;
mod distance;
mod exact;
mod feature;
mod field;
#[cfg(test)]
mod leaf_tests;
mod own;
mod pairs;
mod point;
#[cfg(test)]
mod random;
mod ray;
#[cfg(test)]
mod ray_tests;
mod rays;
mod wave;
mod winding;

pub use crate::shape::MeshError;
use crate::shape::mesh as data;
pub use crate::shape::mesh::{Fill, Mesh, MeshReport, Refit};
pub use continuous::{edge_edge_time, vertex_face_time};
pub use distance::MeshClosest;
pub use exact::{segment_touches_triangle, triangles_touch};
pub(crate) use feature::{point_triangle, segments};
pub use pairs::{MeshPair, TooManyTrianglePairs};
pub use point::MeshPoint;
pub use ray::{MeshRay, MeshRayHit};
