//! Convex decomposition: a triangle mesh as a few convex pieces.
//!
//! Convex shapes are what the narrow phase is fastest at, and a solid made of some of them moves,
//! weighs and stacks as the mesh does. [`decompose`] cuts the solid by planes across the axes until
//! every piece is near enough to it, and joins what need not have been cut:
//!
//! ```text
//! parts <- the closed parts of the mesh, each with its cavities; the open rest together
//! while a part's hull is further from the solid than allowed, and there is room for more
//!     cut the worst one by the plane that leaves the smallest hulls
//! join pieces whose common hull is near enough, the cheapest first
//! join the cheapest as long as there are too many
//! put pieces of too many vertices into simpler ones
//! ```
//!
//! The idea of cutting the mesh itself by planes, and of measuring hulls by their distance from it,
//! is that of *Approximate Convex Decomposition for 3D Meshes with Collision-Aware Concavity and
//! Tree Search* (Wei and others); the plane is chosen by volumes as in V-HACD (Mamou), but volumes
//! of exact hulls and not of voxels. What differs:
//!
//! 1. Cuts are never closed. The hull of a part needs only the clipped triangles and the corners of
//!    the part's cell that are inside the solid (`cell.rs`), so that open meshes, soups and meshes
//!    that cross themselves are cut like all others.
//! 2. All planes across an axis are judged in one sweep (`planes.rs`), and the sharp hollow edges
//!    of a mesh are among them: made things come apart where they were put together.
//! 3. Concavity is one length: how far a point of the piece can be from the solid. It is looked for
//!    best first in the triangles of the hull (`solid.rs`), inside as well, so that cavities count.
//!
//! **What is promised.** The pieces hold every point of the surface, and of the solid, within the
//! rounding of a hull (3e-13 of the largest coordinate); each piece is convex, and no vertex of it
//! is outside the solid's hull. Parts that share no place are never joined unless there are more of
//! them than [`DecomposeOptions::max_pieces`]. Concavities are measured at some hundred points, so
//! that the true ones may be a little larger. The same mesh and options give the same bytes
//! everywhere, whatever the number of threads.
//!
//! **Few vertices.** With [`DecomposeOptions::max_vertices`] the pieces still hold everything: one
//! of too many vertices is put into a larger one of fewer (`simplify.rs`), never cut down to some
//! of its vertices, because what collides must not be lost. Volume and concavity are those of the
//! larger one, so they tell what that costs; its vertices may lie outside the solid's hull. The
//! pieces of the bunny, 2 435 vertices, have 1.062 times its volume; with at most 64 vertices each,
//! 1.073 times, and with at most 32, 1.106 times, for a concavity of 0.048 instead of 0.033
//! (`jostle decompose bunny.ply -o out.obj --max-vertices 32`).
//!
//! **Threads.** A cut depends on nothing but the part, so that several of the worst parts are cut
//! ahead, a thread each; while there is one, its slices are shared out. Pairs to be joined are
//! tried several at a time. Two threads take 0.65, 0.75 and 0.69 of the time of one for spot, bunny
//! and armadillo (`jostle-bench decompose-rivals FILE --alone --threads 2`); what is left is
//! joining without a limit, one pair after the other.
//!
//! **Bad meshes.** Open meshes, soups and flipped triangles are legal: what has a winding number of
//! more than a half in size is inside, and where nothing is, pieces are as thin as the surface.
//! Degenerate triangles count as the segments and points they are. Time is bounded: there are at
//! most four times as many cuts as pieces allowed, and sixteen, each linear in the triangles of the
//! part that is cut but for the hulls of its corners.
//!
//! Not done: certifying the concavity, which where hull and surface are the same would need a point
//! for every square of the tolerance.
//!
//! | file | holds |
//! |---|---|
//! | `parts.rs` | what of a mesh hangs together |
//! | `solid.rs` | a solid: its folds, and how far a hull is from it |
//! | `cell.rs` | triangles clipped to cells |
//! | `planes.rs` | where to cut |
//! | `merge.rs` | which pieces become one |
//! | `simplify.rs` | fewer vertices around a piece |

mod cell;
mod merge;
mod parts;
mod planes;
mod simplify;
mod solid;

use crate::mesh::Mesh;
use crate::par::Workers;
use crate::shape::{Compound, Hull, Outline, Pose, Shape, ShapeError};
use cell::{Fragment, corner, inward};
use glam::DVec3;
use merge::{Draft, Merger};
use simplify::simplified;
use solid::Solid;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Points at which the concavity of a part is measured while it is cut.
const GLANCE: usize = 192;

/// Points at which that of a finished piece is measured.
const LOOK: usize = 768;

/// How fine a decomposition is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DecomposeOptions {
    /// Most pieces, at least one.
    pub max_pieces: usize,
    /// How far points of a piece may be from the solid, as a share of the longest side of the
    /// mesh's bounds. Reached unless it takes more pieces than allowed.
    pub concavity: f64,
    /// Planes tried across each axis for a cut, from 1 to 1000; some at folds come on top.
    pub planes: usize,
    /// Most vertices of a piece, at least eight. Pieces of more are put into larger ones of fewer,
    /// which hold all that they held; concavity and volume are those of the larger ones, so that
    /// the former may be more than wanted. `usize::MAX` leaves pieces as they are.
    pub max_vertices: usize,
}

impl DecomposeOptions {
    /// These options with another number of pieces.
    #[must_use]
    pub const fn with_max_pieces(self, max_pieces: usize) -> DecomposeOptions {
        DecomposeOptions { max_pieces, ..self }
    }

    /// These options with another concavity.
    #[must_use]
    pub const fn with_concavity(self, concavity: f64) -> DecomposeOptions {
        DecomposeOptions { concavity, ..self }
    }

    /// These options with another number of planes.
    #[must_use]
    pub const fn with_planes(self, planes: usize) -> DecomposeOptions {
        DecomposeOptions { planes, ..self }
    }

    /// These options with another number of vertices.
    #[must_use]
    pub const fn with_max_vertices(self, max_vertices: usize) -> DecomposeOptions {
        DecomposeOptions { max_vertices, ..self }
    }
}

/// Up to 32 pieces within a fiftieth of the mesh's size, by 16 planes across each axis, of any
/// number of vertices.
impl Default for DecomposeOptions {
    fn default() -> DecomposeOptions {
        DecomposeOptions { max_pieces: 32, concavity: 0.02, planes: 16, max_vertices: usize::MAX }
    }
}

/// Why a mesh was not decomposed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecomposeError {
    /// An option is out of its range.
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// The mesh is too small for products of its coordinates: its longest side is below 1e-60.
    TooSmall,
    /// The caller asked to stop.
    Stopped,
    /// A hull could not be made.
    Shape(ShapeError),
}

impl fmt::Display for DecomposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecomposeError::Option { name, value, range } => {
                write!(f, "{name} = {value}; give {range}")
            }
            DecomposeError::TooSmall => {
                f.write_str("the mesh is smaller than 1e-60; give it in smaller units")
            }
            DecomposeError::Stopped => f.write_str("stopped before the end"),
            DecomposeError::Shape(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for DecomposeError {}

impl From<ShapeError> for DecomposeError {
    fn from(fault: ShapeError) -> DecomposeError {
        DecomposeError::Shape(fault)
    }
}

/// How far a decomposition has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// From 0 to 1; an estimate that never falls.
    pub share: f64,
    /// Pieces so far; cutting makes more of them, joining fewer.
    pub pieces: usize,
    /// The largest concavity of them, as a share of the mesh's longest side.
    pub concavity: f64,
}

/// A convex piece of a mesh.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvexPiece {
    /// The piece, in the space of the mesh.
    pub hull: Arc<Hull>,
    /// Its volume.
    pub volume: f64,
    /// How far a point of it is from the solid, as a share of the mesh's longest side.
    pub concavity: f64,
}

/// A mesh as convex pieces; made by [`decompose`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Decomposition {
    /// The pieces, the largest first.
    pub pieces: Vec<ConvexPiece>,
    /// The sum of their volumes; what two pieces share counts twice.
    pub volume: f64,
    /// The largest concavity of a piece, as a share of the mesh's longest side.
    pub concavity: f64,
    /// How many cuts were made.
    pub cuts: usize,
}

impl Decomposition {
    /// The pieces as one shape.
    pub fn to_shape(&self) -> Shape {
        let piece = |piece: &ConvexPiece| (Shape::Hull(piece.hull.clone()), Pose::IDENTITY);
        let pieces = self.pieces.iter().map(piece).collect();
        Shape::Compound(Arc::new(Compound::new(pieces).expect("hulls, and at least one")))
    }
}

/// Cuts a mesh into convex pieces.
///
/// ```
/// use jostle::decompose::{DecomposeOptions, decompose};
/// use jostle::glam::DVec3;
/// use jostle::mesh::Mesh;
///
/// // An L of two bars, each 2 long: a prism over a polygon of six corners.
/// let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
/// let level = |z: f64| outline.map(|[x, y]| DVec3::new(x, y, z));
/// let corners = [level(0.0), level(1.0)].concat();
/// let mut triangles = vec![];
/// for k in 0..6 {
///     let (a, b) = (k, (k + 1) % 6);
///     triangles.extend([[a, b, b + 6], [a, b + 6, a + 6]]);
/// }
/// for [a, b, c] in [[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]] {
///     triangles.extend([[c, b, a], [a + 6, b + 6, c + 6]]);
/// }
/// let bracket = Mesh::new(corners, triangles)?;
///
/// let parts = decompose(&bracket, &DecomposeOptions::default()).unwrap();
/// assert_eq!(parts.pieces.len(), 2);
/// assert!((parts.volume - 3.0).abs() < 1e-12 && parts.concavity < 1e-12);
/// let shape = parts.to_shape(); // for a `World` or the narrow phase
/// # assert_eq!(shape.kind(), "compound");
/// # Ok::<(), jostle::Error>(())
/// ```
pub fn decompose(mesh: &Mesh, options: &DecomposeOptions) -> Result<Decomposition, DecomposeError> {
    decompose_with(mesh, options, &Workers::one(), |_| true)
}

/// As [`decompose`], on several threads, and telling how far it has come; it stops as soon as
/// `go_on` returns false. Neither the pieces nor the calls depend on the number of threads.
pub fn decompose_with(
    mesh: &Mesh,
    options: &DecomposeOptions,
    workers: &Workers,
    mut go_on: impl FnMut(&Progress) -> bool,
) -> Result<Decomposition, DecomposeError> {
    check(options)?;
    let size = (mesh.max() - mesh.min()).max_element();
    if size > 0.0 && size < 1e-60 {
        return Err(DecomposeError::TooSmall);
    }
    let mut cutter = Cutter::new(mesh, options, workers, size);
    cutter.cut(&mut go_on)?;
    cutter.finish(&mut go_on)
}

fn check(options: &DecomposeOptions) -> Result<(), DecomposeError> {
    let DecomposeOptions { max_pieces, concavity, planes, max_vertices } = *options;
    let wrong = |name, value, range| Err(DecomposeError::Option { name, value, range });
    if !(1..=100_000).contains(&max_pieces) {
        return wrong("max_pieces", max_pieces as f64, "a number from 1 to 100000");
    }
    if !(concavity > 0.0 && concavity <= 1.0) {
        return wrong("concavity", concavity, "a share above 0 and up to 1");
    }
    if !(1..=1000).contains(&planes) {
        return wrong("planes", planes as f64, "a number from 1 to 1000");
    }
    if max_vertices < simplify::FEWEST {
        return wrong("max_vertices", max_vertices as f64, "a number from 8 on");
    }
    Ok(())
}

/// A solid within a cell.
struct Part {
    solid: usize,
    cell: (DVec3, DVec3),
    fragment: Fragment,
    hull: Outline,
    concavity: f64,
    halves: Halves,
}

/// What comes of cutting a part.
enum Halves {
    /// Not looked at yet.
    Unknown,
    /// No plane can divide it.
    None,
    Some(Vec<Part>),
}

struct Cutter<'a> {
    mesh: &'a Mesh,
    options: &'a DecomposeOptions,
    workers: &'a Workers,
    size: f64,
    solids: Vec<Solid<'a>>,
    parts: Vec<Part>,
    cuts: usize,
}

impl<'a> Cutter<'a> {
    fn new(
        mesh: &'a Mesh,
        options: &'a DecomposeOptions,
        workers: &'a Workers,
        size: f64,
    ) -> Cutter<'a> {
        let solids = parts::solids(mesh, 4 * options.max_pieces);
        let parts = Vec::new();
        let mut cutter = Cutter { mesh, options, workers, size, solids, parts, cuts: 0 };
        let mut made: Vec<Option<Part>> = cutter.solids.iter().map(|_| None).collect();
        workers.for_each(&mut made, |solid, part| {
            let own = &cutter.solids[solid];
            *part = cutter.part(solid, own.bounds(), own.fragment());
        });
        cutter.parts.extend(made.into_iter().flatten());
        cutter
    }

    fn limit(&self) -> f64 {
        self.options.concavity * self.size
    }

    /// A length as a share of the size.
    fn relative(&self, length: f64) -> f64 {
        if self.size > 0.0 { length / self.size } else { 0.0 }
    }

    /// A part with its hull; none if nothing of the solid is in the cell.
    fn part(&self, solid: usize, cell: (DVec3, DVec3), fragment: Fragment) -> Option<Part> {
        let own = &self.solids[solid];
        let mut points = fragment.points().to_vec();
        let corners = (0..8).map(|bits| corner(cell.0, cell.1, bits));
        points.extend(corners.filter(|&corner| own.encloses(inward(corner, cell))));
        let hull = Outline::new(&points);
        if hull.vertices.is_empty() {
            return None;
        }
        let concavity = own.concavity(&hull, GLANCE, f64::INFINITY);
        // What is about to be left as it is deserves a closer look.
        let concavity = match concavity <= self.limit() {
            true => concavity.max(own.concavity(&hull, LOOK, self.limit())),
            false => concavity,
        };
        Some(Part { solid, cell, fragment, hull, concavity, halves: Halves::Unknown })
    }

    /// Cuts the worst part until all are near enough, or there are twice as many as allowed.
    fn cut(&mut self, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(), DecomposeError> {
        let most = if self.options.max_pieces == 1 { 1 } else { 2 * self.options.max_pieces + 8 };
        let mut share: f64 = 0.0;
        while self.parts.len() < most && self.cuts < 2 * most {
            let open = self.parts.iter().enumerate();
            let open = open.filter(|(_, part)| !matches!(part.halves, Halves::None));
            let worst = open.reduce(
                |best, next| {
                    if next.1.concavity > best.1.concavity { next } else { best }
                },
            );
            let Some((place, part)) = worst else { break };
            let concavity = self.relative(part.concavity);
            let reached = (self.options.concavity / concavity).min(1.0);
            share = share.max(0.9 * reached.max(self.parts.len() as f64 / most as f64));
            if !go_on(&Progress { share, pieces: self.parts.len(), concavity }) {
                return Err(DecomposeError::Stopped);
            }
            if part.concavity <= self.limit() {
                break;
            }
            if matches!(part.halves, Halves::Unknown) {
                self.look_ahead(most - self.parts.len());
            }
            if let Halves::Some(_) = self.parts[place].halves {
                self.cuts += 1;
                let Halves::Some(halves) = self.parts.remove(place).halves else { break };
                self.parts.extend(halves);
            }
        }
        Ok(())
    }

    /// Cuts the worst parts, as many as there are threads for and room.
    fn look_ahead(&mut self, room: usize) {
        let unknown = |part: &Part| matches!(part.halves, Halves::Unknown);
        let open = self.parts.iter().enumerate();
        let mut open: Vec<(usize, Halves)> = open
            .filter(|(_, part)| unknown(part) && part.concavity > self.limit())
            .map(|(place, _)| (place, Halves::Unknown))
            .collect();
        let concavity = |place: usize| self.parts[place].concavity;
        open.sort_by(|one, other| concavity(other.0).total_cmp(&concavity(one.0)));
        open.truncate(room.min(self.workers.count()).max(1));
        match &mut open[..] {
            [(place, halves)] => *halves = self.halves(&self.parts[*place], self.workers),
            _ => self.workers.for_each(&mut open, |_, (place, halves)| {
                *halves = self.halves(&self.parts[*place], &Workers::one());
            }),
        }
        open.into_iter().for_each(|(place, halves)| self.parts[place].halves = halves);
    }

    fn halves(&self, part: &Part, workers: &Workers) -> Halves {
        let Part { solid, cell, fragment, .. } = part;
        let (own, planes) = (&self.solids[*solid], self.options.planes);
        let best = planes::best(own, fragment, *cell, planes, self.size, workers);
        let Some(plane) = best else { return Halves::None };
        let [below, above] = fragment.cut(plane.axis, plane.at, own.outward);
        let (mut low, mut high) = (*cell, *cell);
        low.1[plane.axis] = plane.at;
        high.0[plane.axis] = plane.at;
        let (below, above) =
            workers.join(|| self.part(*solid, low, below), || self.part(*solid, high, above));
        Halves::Some(below.into_iter().chain(above).collect())
    }

    fn finish(
        self,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Decomposition, DecomposeError> {
        let Cutter { mesh, options, workers, size, ref solids, .. } = self;
        let (limit, cuts) = (self.limit(), self.cuts);
        let share = |length: f64| if size > 0.0 { length / size } else { 0.0 };
        let everything = OnceLock::new();
        let solid = |of: &[u32]| match of {
            &[one] => &solids[one as usize],
            _ => everything.get_or_init(|| Solid::new(Cow::Borrowed(mesh))),
        };
        let glance = |hull: &Outline, of: &[u32], enough: f64| {
            let found = solid(of).concavity(hull, GLANCE, enough);
            if found <= enough { found.max(solid(of).concavity(hull, LOOK, enough)) } else { found }
        };
        let drafts = self.parts.iter().map(|part| {
            let (hull, concavity) = (part.hull.clone(), part.concavity);
            Draft { hull, solids: vec![part.solid as u32], concavity }
        });
        let mut scaled = |progress: &Progress| {
            go_on(&Progress { concavity: share(progress.concavity), ..*progress })
        };
        let mut merger = Merger::new(drafts.collect(), &glance, workers);
        if !merger.join_near(limit, &mut scaled)
            || !merger.join_down(options.max_pieces, &mut scaled)
        {
            return Err(DecomposeError::Stopped);
        }
        let drafts = merger.finish(1e-12 * size);
        let piece = |draft: &Draft| {
            let own = solid(&draft.solids);
            let found = own.concavity(&draft.hull, LOOK, f64::INFINITY).max(draft.concavity);
            let hull = Arc::new(Hull::new(&draft.hull.vertices)?);
            if hull.vertices().len() <= options.max_vertices {
                let (volume, concavity) = (draft.hull.volume, share(found));
                return Ok(ConvexPiece { hull, volume, concavity });
            }
            let outline = simplified(&hull, options.max_vertices);
            let concavity = share(found.max(own.concavity_of_any(&outline, LOOK)));
            let hull = Arc::new(Hull::new(&outline.vertices)?);
            Ok(ConvexPiece { hull, volume: outline.volume, concavity })
        };
        let mut made: Vec<Option<Result<ConvexPiece, ShapeError>>> = vec![None; drafts.len()];
        workers.for_each(&mut made, |place, made| *made = Some(piece(&drafts[place])));
        let mut pieces = made.into_iter().flatten().collect::<Result<Vec<ConvexPiece>, _>>()?;
        pieces.sort_by(|one, other| other.volume.total_cmp(&one.volume));
        let volume = pieces.iter().map(|piece| piece.volume).sum();
        let concavity = pieces.iter().map(|piece| piece.concavity).fold(0.0, f64::max);
        go_on(&Progress { share: 1.0, pieces: pieces.len(), concavity });
        Ok(Decomposition { pieces, volume, concavity, cuts })
    }
}

#[cfg(test)]
mod tests;
