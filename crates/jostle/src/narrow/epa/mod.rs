//! EPA: penetration depth by growing a polytope inside the Minkowski difference.
//!
//! The origin lies inside the difference `a - b`; the shortest way out is the depth. EPA (van den
//! Bergen, *Proximity Queries and Penetration Depth Computation on 3D Game Objects*) starts from a
//! tetrahedron of corners around the origin, takes the face nearest to it, asks for the corner
//! furthest along that face's normal, and replaces all faces which that corner sees by a cone. The
//! nearest face bounds the depth from below (the polytope is inside the difference), the support
//! plane along any tried normal bounds it from above (moving that far separates), and the run ends
//! when both meet.
//!
//! Degenerate starts are the rule in practice (kissing vertices, aligned boxes), so:
//!
//! 1. Any simplex will do, a single corner too: it is grown along directions across itself. If the
//!    difference has no thickness across the simplex, the depth is that of the flat direction.
//! 2. The origin may lie on a face, an edge or a corner, or slightly outside: distances are signed.
//! 3. A face that contains the new corner in its plane counts as seen, so coplanar fans are
//!    re-triangulated and no face without area grows over collinear corners. Faces without area
//!    that rounding still makes are never chosen.
//! 4. A horizon that is no closed loop (rounding again) ends the run with the bounds reached.
//!
//! Cost: one support search per corner, and a pass over some blocks of faces to find the nearest
//! one: most polytopes are a single block, where a heap does not pay. Polyhedra need ten to thirty
//! corners, nearly round ones in each other's middle thousands, smooth shapes up to the limit.
//! Choose it for depth of anything but spheres, capsules and boxes, which have closed forms. It is
//! exact for polyhedra; `sat` is slower beyond a few dozen edges.
//!
//! Tried and lost: stopping polyhedra at 192 corners and asking SAT then; concentric spheres of 642
//! vertices took some fifty times as long that way as letting EPA grow.

mod grow;
mod polytope;
mod seed;
mod shell;

pub(super) use polytope::{Limits, Outcome, Polytope};
pub(super) use shell::Shell;
