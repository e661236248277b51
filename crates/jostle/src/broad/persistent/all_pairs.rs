//! [`AllPairs`]: finds all pairs at once, for persistent algorithms that start or that gave up
//! following.
//!
//! It is `grid-sweep`, which measured fastest at every size: for a first step it takes the time of
//! `sort-sweep` at a thousand boxes and a sixtieth of it at a million of density 0.05; for a step
//! that is repeated, a third at a thousand.

use crate::boxes::Boxes;
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::grid_sweep::GridSweep;
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;

/// Below this many boxes one thread finds all pairs: waking others takes as long.
const FEW: usize = 4096;

/// Finds all pairs of a set of boxes.
#[derive(Clone, Debug)]
pub(crate) struct AllPairs {
    workers: Workers,
    /// It runs on one thread because the boxes are few.
    alone: bool,
    inner: GridSweep,
}

impl AllPairs {
    /// An instance that runs on `workers`.
    pub(super) fn new(workers: &Workers) -> AllPairs {
        AllPairs { workers: workers.clone(), alone: true, inner: GridSweep::new(&Workers::one()) }
    }

    /// Writes all pairs into the empty buffer.
    pub(super) fn find(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Error> {
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
    pub(super) fn release(&mut self) {
        let alone = Workers::one();
        self.inner = GridSweep::new(if self.alone { &alone } else { &self.workers });
    }

    /// Overlap tests of the last time.
    pub(super) fn tests(&self) -> u64 {
        self.inner.tests()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
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
        let mut all_pairs = AllPairs::new(&Workers::one());
        for _ in 0..3 {
            let mut found = PairBuffer::new();
            all_pairs.find(&boxes, &mut found).unwrap();
            assert_eq!(found.len(), 10);
            boxes.commit();
        }
    }
}
