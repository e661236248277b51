//! The narrow phase: do two shapes touch, how far apart are they, how deep, where, along which
//! normal?
//!
//! | question | function | answer |
//! |---|---|---|
//! | do they touch? | [`intersects`] | yes or no |
//! | how far apart, where? | [`distance`], [`closest_points`] | distance, nearest points |
//! | and how deep? | [`contact`], [`contact_within`] | distance or depth, normal, points |
//! | and which parts? | [`detailed_contact`] | pieces, triangles, weights of their corners |
//! | what holds them apart? | [`manifold`] | up to four points with persistent ids |
//! | when do they meet? | [`time_of_impact`] | the first time of touch |
//! | when are they near? | [`cast_shape`] | the first time within a distance |
//! | what does a ray meet? | [`cast_ray`] | time, point, normal |
//! | where is a point? | [`project_point`] | nearest point, signed distance, part of the surface |
//!
//! ```
//! use jostle::narrow::{Options, PairCache, Placed, Query, contact};
//! use jostle::shape::{Pose, Shape};
//!
//! let (ball, cube) = (Shape::sphere(1.0)?, Shape::cuboid([1.0, 1.0, 1.0].into())?);
//! let a = Placed::new(&ball, Pose::at([0.0, 0.0, 0.0])?);
//! let b = Placed::new(&cube, Pose::at([1.5, 0.0, 0.0])?);
//! assert_eq!(contact(&a, &b).depth, 0.5);
//!
//! // Many questions: the query keeps its settings and its memory, the cache what the pair needs.
//! let mut query = Query::new(Options::default().with_margin(0.25));
//! let mut cache = PairCache::new();
//! assert_eq!(query.contact(&a, &b, &mut cache).depth, 0.75);
//! # Ok::<(), jostle::Error>(())
//! ```
//!
//! The functions are for single questions. Each is also a method of [`Query`], which holds the
//! [`Options`] and the scratch memory, and takes a [`PairCache`] as its last argument: the pair's
//! memory for coherent motion, or [`PairCache::none`].
//!
//! Distance and depth come from one decision: exactly one of them is positive, or both are zero
//! and the status says [`Status::Touching`]. The tolerance for that is [`TOUCH`], the same for
//! every algorithm. Swapping a and b gives the same numbers with the normal reversed, bit by bit.
//! Shapes that agree in everything, kind, sizes, place and turn, are one question in either order
//! and part along the same normal, whichever is named first: x for balls.
//!
//! Meshes and height fields are surfaces: their depth is that of the deepest triangle. A solid mesh
//! also touches what is inside it. Their contact points have normals that the whole surface has, so
//! that nothing trips over the edges between triangles.
//!
//! Touching counts as intersecting. Flat shapes (triangles, flat hulls, boxes without height) have
//! a proper depth against anything that is not in their plane; two flat shapes in one plane overlap
//! with depth zero, hence touch. The depth of a compound is that of its deepest piece: moving by it
//! frees that piece, not always the whole. Two half-spaces that are not opposite have infinite
//! depth.
//!
//! # In two dimensions
//!
//! Shapes of a flat world lie in the plane z = 0, and the shortest way out of an overlap may then
//! lead along z, which is no answer there. [`Options::flat`] asks about the shadows of the shapes
//! on that plane instead: normals and points stay in it.
//!
//! # The files
//!
//! | file | holds |
//! |---|---|
//! | `gjk.rs`, `simplex.rs` | distance of any convex pair |
//! | `isa_gjk.rs` | yes or no by a separating axis |
//! | `epa/`, `sat.rs` | depth, by growing a polytope or by trying all axes |
//! | `closed.rs`, `box_box.rs`, `half_space.rs` | closed forms |
//! | `coaxial.rs` | depth of bodies of revolution on one axis |
//! | `flat.rs` | the same questions in two dimensions |
//! | `pair.rs`, `solve.rs`, `depth.rs` | canonical order and frame; which method answers |
//! | `query.rs`, `placed.rs`, `answer.rs` | the questions, what they are about, the answers |
//! | `feature.rs`, `clip.rs`, `witness.rs` | faces and edges in contact, their common points |
//! | `manifold.rs`, `time_of_impact.rs` | two questions that build on contacts and distances |
//! | `cast.rs` | time of impact with a target distance, or out of an overlap |
//! | `surface/`, `detailed.rs` | meshes and height fields, triangle by triangle |
//! | `point/`, `ray/` | a point or a ray against one shape |
//! | `cache.rs`, `warm.rs` | what a pair remembers between frames, and the first try with it |
//!
//! Files use each other in one direction: the questions use `solve.rs`, which uses the
//! algorithms, which use `pair.rs` and `simplex.rs`.

mod answer;
mod box_box;
mod cache;
mod cast;
mod clip;
mod closed;
mod coaxial;
mod depth;
mod detailed;
mod epa;
mod feature;
mod flat;
mod gjk;
mod half_space;
mod isa_gjk;
mod manifold;
mod pair;
mod pieces;
mod placed;
mod point;
mod query;
mod ray;
mod sat;
mod simplex;
mod solve;
mod surface;
mod time_of_impact;
mod warm;
mod witness;

pub use answer::{
    Closest, Contact, Ending, Intersection, Manifold, ManifoldPoint, Method, Options, Status, TOUCH,
};
pub use cache::PairCache;
pub use cast::{CastOptions, cast_shape};
pub use detailed::{DetailedContact, TrianglePart, detailed_contact};
pub use manifold::manifold;
pub(crate) use manifold::{Points, single};
pub(crate) use pair::{Ball, relative};
pub use placed::Placed;
pub use point::{Projection, SurfacePart, project_point};
pub use query::{Query, closest_points, contact, contact_within, distance, intersects};
pub use ray::{Ray, RayHit, cast_ray};
pub(crate) use solve::{Round, size_of};
pub use time_of_impact::{IMPACT_GAP, Impact, ImpactStatus, Motion, Moving, time_of_impact};
