//! What a pair remembers from one frame to the next.
//!
//! Near shapes move little between two frames, so the last simplex nearly always still holds the
//! nearest features and the last axis still separates. An entry keeps the vertex numbers of that
//! simplex (its corners are placed anew with the new poses), the axis, and the vertices where hill
//! climbing starts. It never changes an answer beyond rounding: a stale entry only costs steps.

use super::pair::Cores;
use super::simplex::Simplex;
use glam::DVec3;

/// The memory of one pair. Keep it from the pair's beginning to its end, and only for that pair.
#[derive(Clone, Debug, Default)]
pub struct PairCache {
    /// Vertices of the last simplex's corners.
    ids: [[u32; 2]; 4],
    count: u8,
    /// Whether the canonical order was the caller's order reversed.
    swapped: bool,
    /// Vertices where the next support search starts.
    hints: [u32; 2],
    /// From b to a in the frame of the first shape; zero when unknown.
    axis: DVec3,
}

impl PairCache {
    /// An empty memory: the first query starts cold.
    pub fn new() -> PairCache {
        PairCache::default()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = PairCache::default();
    }

    /// Turns the entry to the order of this frame.
    pub(crate) fn orient(&mut self, swapped: bool) {
        if self.swapped != swapped {
            // The frame of the other shape is not known here: only what has no frame survives.
            self.axis = DVec3::ZERO;
            self.hints.swap(0, 1);
            self.ids.iter_mut().for_each(|ids| ids.swap(0, 1));
            self.swapped = swapped;
        }
    }

    /// The simplex to start from, placed by the poses of this frame; empty when cold or curved.
    pub(crate) fn simplex(&self, cores: &Cores<'_>) -> Simplex {
        let mut simplex = Simplex::default();
        for &ids in &self.ids[..usize::from(self.count)] {
            match cores.corner(ids) {
                Some(corner) => simplex.push(corner),
                None => return Simplex::default(),
            }
        }
        simplex
    }

    pub(crate) fn axis(&self) -> DVec3 {
        self.axis
    }

    pub(crate) fn hints(&self) -> [u32; 2] {
        self.hints
    }

    /// Remembers the end of a run.
    pub(crate) fn keep(&mut self, simplex: &Simplex, axis: DVec3, hints: [u32; 2]) {
        self.count = simplex.corners().len() as u8;
        for (ids, corner) in self.ids.iter_mut().zip(simplex.corners()) {
            *ids = corner.ids;
        }
        self.axis = axis;
        self.hints = hints;
    }
}
