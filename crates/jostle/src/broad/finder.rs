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

/// Below so many boxes one thread finds all pairs: waking others takes as long.
const FEW: usize = 4096;

/// Finds all pairs of a set of boxes.
#[derive(Debug)]
pub struct Finder {
    workers: Workers,
    /// Whether it runs on one thread because the boxes are few.
    alone: bool,
    inner: GridSweep,
}

impl Finder {
    /// A finder that runs on `workers`.
    pub fn new(workers: &Workers) -> Finder {
        Finder { workers: workers.clone(), alone: true, inner: GridSweep::new(&Workers::one()) }
    }

    /// Writes all pairs into the empty buffer.
    pub fn find(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Error> {
        let few = self.workers.count() == 1 || boxes.len() < FEW;
        if self.alone != few {
            self.alone = few;
            self.release();
        }
        // It may have seen these boxes before and find that nothing changed.
        if self.inner.update(boxes, found)? == Report::Delta {
            self.release();
            self.inner.update(boxes, found)?;
        }
        Ok(())
    }

    /// Gives its memory back.
    pub fn release(&mut self) {
        let alone = Workers::one();
        self.inner = GridSweep::new(if self.alone { &alone } else { &self.workers });
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
