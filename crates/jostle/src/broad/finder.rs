//! [`Finder`]: finds all pairs at once, for persistent algorithms that begin or that gave up.
//!
//! It is `grid-sweep`, which measured fastest at every size: for a first step it takes the time of
//! `sort-sweep` at a thousand boxes and a sixtieth of it at a million of density 0.05; for a step
//! that is taken again and again, a third at a thousand.

use crate::boxes::Boxes;
use crate::broad::grid_sweep::GridSweep;
use crate::broad::{BroadPhase, Report};
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;

/// Finds all pairs of a set of boxes.
#[derive(Debug)]
pub struct Finder {
    workers: Workers,
    inner: GridSweep,
}

impl Finder {
    /// A finder that runs on `workers`.
    pub fn new(workers: &Workers) -> Finder {
        Finder { workers: workers.clone(), inner: GridSweep::new(workers) }
    }

    /// Writes all pairs into the empty buffer.
    pub fn find(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Error> {
        // It may have seen these boxes before and find that nothing changed.
        if self.inner.update(boxes, found)? == Report::Delta {
            self.release();
            self.inner.update(boxes, found)?;
        }
        Ok(())
    }

    /// Gives its memory back.
    pub fn release(&mut self) {
        self.inner = GridSweep::new(&self.workers);
    }

    /// Box tests of the last time.
    pub fn tests(&self) -> u64 {
        self.inner.tests()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.inner.stats().bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::Aabb;
    use crate::filter::Filter;

    #[test]
    fn all_pairs_are_found_though_nothing_changed() {
        let mut boxes = Boxes::new();
        boxes.insert_all(&[Aabb::default(); 5], Filter::ALL).unwrap();
        let mut finder = Finder::new(&Workers::one());
        for _ in 0..3 {
            let mut found = PairBuffer::new();
            finder.find(&boxes, &mut found).unwrap();
            assert_eq!(found.len(), 10);
            boxes.commit();
        }
    }
}
