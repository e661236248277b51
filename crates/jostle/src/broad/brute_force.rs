//! `brute-force`: every box against every other. It is too simple to be wrong, so it settles what
//! is right when another algorithm differs.
//!
//! Time O(n²) tests, memory O(n). Choose it for a few dozen boxes, for which nothing is faster, and
//! for checking; not for anything larger.

use crate::boxes::Boxes;
use crate::broad::contract::{BroadPhase, Report};
use crate::error::Error;
use crate::id::Slot;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::Stats;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BruteForce {
    live: Vec<Slot>,
    tests: u64,
}

impl BruteForce {
    /// A new instance; it uses one thread.
    pub fn new(_workers: &Workers) -> BruteForce {
        BruteForce::default()
    }
}

impl BroadPhase for BruteForce {
    fn name(&self) -> &str {
        "brute-force"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.live.clear();
        self.live.extend(boxes.live_slots());
        self.tests = 0;
        let (aabbs, filters) = (boxes.aabbs(), boxes.filters());
        let lane = found.lane();
        for (place, &a) in self.live.iter().enumerate() {
            for &b in &self.live[place + 1..] {
                let overlap = aabbs[a.index()].overlaps(&aabbs[b.index()]);
                if overlap && filters[a.index()].allows(&filters[b.index()]) {
                    lane.push(a.get(), b.get())?;
                }
            }
            self.tests += (self.live.len() - place - 1) as u64;
        }
        found.check_limit()?;
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let bytes = self.live.capacity() * size_of::<Slot>();
        Stats { tests: self.tests, bytes, ..Stats::default() }
    }
}
