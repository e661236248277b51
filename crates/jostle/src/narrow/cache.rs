//! What a pair remembers from one frame to the next.
//!
//! Near shapes move little between two frames, so the last simplex nearly always still holds the
//! nearest features and the last axis still separates. An entry keeps the vertex numbers of that
//! simplex (its corners are placed by the new poses), the axis, and the vertices where hill
//! climbing starts; `warm.rs` tries these first. Overlapping polyhedra also keep the polytope of
//! EPA, which mostly still holds the origin: then neither GJK nor most of EPA is needed. And pairs
//! that were apart keep their distance and the relative pose it was found for: as long as no point
//! can have moved by as much since, a question that only wants near pairs is answered without
//! looking. Compounds keep one entry for every piece that was near. A memory never changes an
//! answer beyond rounding: a stale one only costs steps.
//!
//! A cold start takes as many times as long as a warm one, for hulls of 12, 42, 162 and 642
//! vertices that move and turn by a hundredth of their size a frame: distance 2.9, 3.8, 3.7, 3.4;
//! contact 2.8, 3.3, 3.1, 2.8; by a thousandth: distance 3.2, 4.3, 4.2, 4.5; contact 3.8, 5.2, 5.4,
//! 5.5. Closed forms gain nothing from it.

use super::epa::Shell;
use super::gjk::Difference;
use super::pair::{Ball, Cores};
use super::simplex::Simplex;
use crate::shape::{PoseMatrix, Shape};
use glam::DVec3;

/// The memory of one pair: keep one for each pair of shapes that is asked about again and again.
///
/// It remembers which shapes it is of. Asked about others, it forgets everything and starts cold:
/// a memory of another pair costs time but never gives a wrong answer.
#[derive(Clone, Debug)]
pub struct PairCache {
    /// False for single queries, which do not pay for remembering.
    remembers: bool,
    /// Vertices of the last simplex's corners.
    ids: [[u32; 2]; 4],
    count: u8,
    /// The canonical order was the caller's order reversed.
    swapped: bool,
    /// Which shapes the memory is of, in canonical order.
    shapes: [u64; 2],
    /// Vertices where the next support search starts.
    hints: [u32; 2],
    /// From b to a in the frame of the first shape; zero when unknown.
    axis: DVec3,
    /// Support searches of the last query.
    searches: u32,
    /// The last run was content with an axis.
    cut_off: bool,
    /// The cores were at least this far apart when b had the pose below.
    apart: f64,
    /// What single queries need not even make room for: a third of the time of two spheres.
    more: Option<Box<More>>,
}

/// The larger part of a memory.
#[derive(Clone, Debug)]
struct More {
    /// The second shape in the frame of the first, for `apart` and the polytope.
    pose: PoseMatrix,
    /// The last polytope of EPA, while polyhedra overlap.
    shell: Shell,
    /// For compounds: the memories of the pieces that were near in the last frame, by their
    /// numbers.
    pieces: Vec<PieceCache>,
}

impl Default for More {
    fn default() -> More {
        More { pose: PoseMatrix::IDENTITY, shell: Shell::new(), pieces: Vec::new() }
    }
}

/// The memory of one piece of a compound against the other shape.
#[derive(Clone, Debug)]
struct PieceCache {
    piece: u32,
    /// This frame has asked for it.
    used: bool,
    cache: PairCache,
}

/// Gives the memories of pieces out, in any order.
pub(crate) struct PieceCaches<'a> {
    /// None for single queries.
    entries: Option<&'a mut Vec<PieceCache>>,
    /// The place after the last one given out: mostly the next.
    next: usize,
    unused: PairCache,
}

impl PieceCaches<'_> {
    /// The memory of a piece.
    pub(crate) fn of(&mut self, piece: u32) -> &mut PairCache {
        let Some(entries) = &mut self.entries else { return &mut self.unused };
        if self.next > 0 && entries.get(self.next - 1).is_some_and(|entry| entry.piece >= piece) {
            self.next = entries.partition_point(|entry| entry.piece < piece);
        }
        while entries.get(self.next).is_some_and(|entry| entry.piece < piece) {
            self.next += 1;
        }
        if entries.get(self.next).is_none_or(|entry| entry.piece != piece) {
            let entry = PieceCache { piece, used: true, cache: PairCache::new() };
            entries.insert(self.next, entry);
        }
        let entry = &mut entries[self.next];
        entry.used = true;
        &mut entry.cache
    }

    /// Forgets the pieces that were not asked for: they are far away.
    pub(crate) fn finish(self) {
        if let Some(entries) = self.entries {
            entries.retain_mut(|entry| std::mem::take(&mut entry.used));
        }
    }
}

impl Default for PairCache {
    fn default() -> PairCache {
        PairCache::new()
    }
}

impl PairCache {
    /// An empty memory: the first query starts cold.
    pub fn new() -> PairCache {
        PairCache { remembers: true, ..PairCache::none() }
    }

    /// No memory, for pairs that are asked once: nothing comes in, and nothing is remembered but
    /// the count of [`PairCache::searches`].
    #[inline]
    pub const fn none() -> PairCache {
        PairCache {
            remembers: false,
            ids: [[0; 2]; 4],
            count: 0,
            swapped: false,
            shapes: [0; 2],
            hints: [0; 2],
            axis: DVec3::ZERO,
            searches: 0,
            cut_off: false,
            apart: 0.0,
            more: None,
        }
    }

    /// Support searches of the last query, as a measure of its work: one for each step of GJK and
    /// ISA-GJK, each corner of EPA and each face of SAT. Closed forms make none. Those for the
    /// pieces of compounds and for polishing the depth of curved shapes are not counted.
    pub fn searches(&self) -> u32 {
        self.searches
    }

    /// Notes the work of a query.
    #[inline]
    pub(crate) fn count_searches(&mut self, searches: u32) {
        self.searches = searches;
    }

    /// Forgets everything, so that another pair may have it, but keeps its room.
    pub fn clear(&mut self) {
        self.swapped = false;
        self.count = 0;
        self.axis = DVec3::ZERO;
        self.cut_off = false;
        self.apart = 0.0;
        self.hints = [0; 2];
        self.forget_more();
    }

    fn forget_more(&mut self) {
        if let Some(more) = &mut self.more {
            more.shell.clear();
            more.pieces.clear();
        }
    }

    fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// The memories of a compound's pieces.
    pub(crate) fn pieces(&mut self) -> PieceCaches<'_> {
        let entries = self.remembers.then(|| &mut self.more().pieces);
        PieceCaches { entries, next: 0, unused: PairCache::none() }
    }

    /// The polytope of the last frame, if there is one.
    pub(crate) fn shell(&self) -> Option<&Shell> {
        self.more.as_ref().map(|more| &more.shell).filter(|shell| !shell.is_empty())
    }

    /// Forgets the polytope alone.
    pub(crate) fn forget_shell(&mut self) {
        if let Some(more) = &mut self.more {
            more.shell.clear();
        }
    }

    /// Where to keep the polytope of this frame, if it is wanted.
    pub(crate) fn shell_to_keep(&mut self) -> Option<&mut Shell> {
        self.remembers.then(|| &mut self.more().shell)
    }

    /// Turns the entry to the order of this frame, and forgets it if it is of other shapes: the
    /// distance and the polytope it remembers prove nothing about them.
    #[inline]
    pub(crate) fn orient(&mut self, swapped: bool, first: &Shape, second: &Shape) {
        if !self.remembers {
            return;
        }
        if self.swapped != swapped {
            // The frame of the other shape is not known here: only what has no frame survives.
            self.axis = DVec3::ZERO;
            self.cut_off = false;
            self.apart = 0.0;
            self.forget_more();
            self.hints.swap(0, 1);
            self.shapes.swap(0, 1);
            self.ids.iter_mut().for_each(|ids| ids.swap(0, 1));
            self.swapped = swapped;
        }
        let shapes = [first.fingerprint(), second.fingerprint()];
        if self.shapes != shapes {
            self.clear();
            (self.swapped, self.shapes) = (swapped, shapes);
        }
    }

    /// Puts the simplex to start from, placed by the poses of this frame, into an empty one; it
    /// stays empty when cold or curved.
    #[inline]
    pub(crate) fn fill(&self, cores: &Cores<'_>, simplex: &mut Simplex) {
        for &ids in &self.ids[..usize::from(self.count)] {
            match cores.corner(ids) {
                Some(corner) => simplex.push(corner),
                None => return simplex.clear(),
            }
        }
    }

    pub(crate) fn axis(&self) -> DVec3 {
        self.axis
    }

    pub(crate) fn hints(&self) -> [u32; 2] {
        self.hints
    }

    /// Returns true if the cores must still be further apart than this, however b got from its
    /// last pose to this one.
    #[inline]
    pub(crate) fn proves_apart(&self, distance: f64, ball: &Ball, pose: &PoseMatrix) -> bool {
        self.apart > distance
            && self
                .more
                .as_ref()
                .is_some_and(|more| self.apart - ball.moved(&more.pose, pose) > distance)
    }

    /// The pose that the polytope was kept with.
    pub(crate) fn pose(&self) -> PoseMatrix {
        self.more.as_ref().map_or(PoseMatrix::IDENTITY, |more| more.pose)
    }

    /// Remembers the pose that the polytope belongs to.
    pub(crate) fn keep_pose(&mut self, pose: &PoseMatrix) {
        if self.remembers {
            self.apart = 0.0;
            self.more().pose = *pose;
        }
    }

    /// Remembers how far apart the cores are at least. A polytope goes when they are, and else
    /// stays with its own pose.
    #[inline]
    pub(crate) fn keep_distance(&mut self, pose: &PoseMatrix, apart: f64) {
        if !self.remembers {
            return;
        }
        let more = self.more();
        if apart <= 0.0 && !more.shell.is_empty() {
            return;
        }
        more.shell.clear();
        more.pose = *pose;
        self.apart = apart;
    }

    /// Returns true if the last run ended with an axis that separates the shapes, short of their
    /// distance.
    #[inline]
    pub(crate) fn was_cut_off(&self) -> bool {
        self.cut_off
    }

    /// How many corners the last simplex had, and their vertices.
    #[inline]
    pub(crate) fn ids(&self) -> &[[u32; 2]] {
        &self.ids[..usize::from(self.count)]
    }

    /// Remembers that the last simplex still holds the nearest points.
    #[inline]
    pub(crate) fn confirm(&mut self, axis: DVec3, hints: [u32; 2], cut_off: bool) {
        (self.axis, self.hints, self.cut_off) = (axis, hints, cut_off);
    }

    /// Remembers the end of a run.
    #[inline]
    pub(crate) fn keep(&mut self, simplex: &Simplex, axis: DVec3, hints: [u32; 2], cut_off: bool) {
        if !self.remembers {
            return;
        }
        self.cut_off = cut_off;
        self.count = simplex.corners().len() as u8;
        for (ids, corner) in self.ids.iter_mut().zip(simplex.corners()) {
            *ids = corner.ids;
        }
        self.axis = axis;
        self.hints = hints;
    }
}
