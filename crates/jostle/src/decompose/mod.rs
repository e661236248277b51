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
//! everywhere.
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

mod cell;
mod merge;
mod parts;
mod planes;
mod solid;

use crate::mesh::Mesh;
use crate::shape::{Compound, Hull, Outline, Pose, Shape, ShapeError};
use cell::{Fragment, corner, inward};
use glam::DVec3;
use merge::{Draft, Merger};
use solid::Solid;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

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
}

/// Up to 32 pieces within a fiftieth of the mesh's size, by 16 planes across each axis.
impl Default for DecomposeOptions {
    fn default() -> DecomposeOptions {
        DecomposeOptions { max_pieces: 32, concavity: 0.02, planes: 16 }
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
    decompose_with(mesh, options, |_| true)
}

/// As [`decompose`], telling how far it has come; it stops as soon as `go_on` returns false.
pub fn decompose_with(
    mesh: &Mesh,
    options: &DecomposeOptions,
    mut go_on: impl FnMut(&Progress) -> bool,
) -> Result<Decomposition, DecomposeError> {
    check(options)?;
    let size = (mesh.max() - mesh.min()).max_element();
    if size > 0.0 && size < 1e-60 {
        return Err(DecomposeError::TooSmall);
    }
    let mut cutter = Cutter::new(mesh, options, size);
    cutter.cut(&mut go_on)?;
    cutter.finish(&mut go_on)
}

fn check(options: &DecomposeOptions) -> Result<(), DecomposeError> {
    let DecomposeOptions { max_pieces, concavity, planes } = *options;
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
    Ok(())
}

/// A solid within a cell.
struct Part {
    solid: usize,
    cell: (DVec3, DVec3),
    fragment: Fragment,
    hull: Outline,
    concavity: f64,
    /// No plane can divide it.
    whole: bool,
}

struct Cutter<'a> {
    mesh: &'a Mesh,
    options: &'a DecomposeOptions,
    size: f64,
    solids: Vec<Solid<'a>>,
    parts: Vec<Part>,
    cuts: usize,
}

impl<'a> Cutter<'a> {
    fn new(mesh: &'a Mesh, options: &'a DecomposeOptions, size: f64) -> Cutter<'a> {
        let solids = parts::solids(mesh, 4 * options.max_pieces);
        let mut cutter = Cutter { mesh, options, size, solids, parts: Vec::new(), cuts: 0 };
        for solid in 0..cutter.solids.len() {
            let (cell, own) = (cutter.solids[solid].bounds(), cutter.solids[solid].fragment());
            cutter.parts.extend(cutter.part(solid, cell, own));
        }
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
        Some(Part { solid, cell, fragment, hull, concavity, whole: false })
    }

    /// Cuts the worst part until all are near enough, or there are twice as many as allowed.
    fn cut(&mut self, go_on: &mut dyn FnMut(&Progress) -> bool) -> Result<(), DecomposeError> {
        let most = if self.options.max_pieces == 1 { 1 } else { 2 * self.options.max_pieces + 8 };
        let mut share: f64 = 0.0;
        while self.parts.len() < most && self.cuts < 2 * most {
            let open = self.parts.iter().enumerate().filter(|(_, part)| !part.whole);
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
            self.cut_part(place);
        }
        Ok(())
    }

    fn cut_part(&mut self, place: usize) {
        let Part { solid, cell, fragment, .. } = &self.parts[place];
        let (solid, cell) = (*solid, *cell);
        let own = &self.solids[solid];
        let Some(plane) = planes::best(own, fragment, cell, self.options.planes, self.size) else {
            self.parts[place].whole = true;
            return;
        };
        self.cuts += 1;
        let [below, above] = fragment.cut(plane.axis, plane.at, own.outward);
        let (mut low, mut high) = (cell, cell);
        low.1[plane.axis] = plane.at;
        high.0[plane.axis] = plane.at;
        let sides = [(low, below), (high, above)];
        let made = sides.map(|(cell, fragment)| self.part(solid, cell, fragment));
        self.parts.remove(place);
        self.parts.extend(made.into_iter().flatten());
    }

    fn finish(
        self,
        go_on: &mut dyn FnMut(&Progress) -> bool,
    ) -> Result<Decomposition, DecomposeError> {
        let Cutter { mesh, options, size, ref solids, .. } = self;
        let (limit, cuts) = (self.limit(), self.cuts);
        let share = |length: f64| if size > 0.0 { length / size } else { 0.0 };
        let everything = OnceCell::new();
        let measure = |hull: &Outline, of: &[u32], enough: f64, points: usize| {
            if let &[one] = of {
                return solids[one as usize].concavity(hull, points, enough);
            }
            let whole = everything.get_or_init(|| Solid::new(Cow::Borrowed(mesh)));
            whole.concavity(hull, points, enough)
        };
        let glance = |hull: &Outline, of: &[u32], enough: f64| {
            let found = measure(hull, of, enough, GLANCE);
            if found <= enough { found.max(measure(hull, of, enough, LOOK)) } else { found }
        };
        let drafts = self.parts.iter().map(|part| {
            let (hull, concavity) = (part.hull.clone(), part.concavity);
            Draft { hull, solids: vec![part.solid as u32], concavity }
        });
        let mut scaled = |progress: &Progress| {
            go_on(&Progress { concavity: share(progress.concavity), ..*progress })
        };
        let mut merger = Merger::new(drafts.collect(), &glance);
        if !merger.join_near(limit, &mut scaled)
            || !merger.join_down(options.max_pieces, &mut scaled)
        {
            return Err(DecomposeError::Stopped);
        }
        let drafts = merger.finish(1e-12 * size);
        let mut pieces = Vec::with_capacity(drafts.len());
        for draft in &drafts {
            let found = measure(&draft.hull, &draft.solids, f64::INFINITY, LOOK);
            pieces.push(ConvexPiece {
                hull: Arc::new(Hull::new(&draft.hull.vertices)?),
                volume: draft.hull.volume,
                concavity: share(found.max(draft.concavity)),
            });
        }
        pieces.sort_by(|one, other| other.volume.total_cmp(&one.volume));
        let volume = pieces.iter().map(|piece| piece.volume).sum();
        let concavity = pieces.iter().map(|piece| piece.concavity).fold(0.0, f64::max);
        go_on(&Progress { share: 1.0, pieces: pieces.len(), concavity });
        Ok(Decomposition { pieces, volume, concavity, cuts })
    }
}

#[cfg(test)]
mod tests;
