//! [`Runner`]: one broad phase with its tracker, on boxes that several runners share.
//!
//! A [`jostle::Detector`] owns its boxes. To compare algorithms on the same frame, many runners
//! look at one set of boxes, which is committed once after all of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use jostle::{
    Algorithm, Boxes, BroadPhase, Error, Events, Pair, PairBuffer, PairTracker, Report, Stats,
    StepTime, Workers,
};
use sha2::{Digest, Sha256};

/// One broad phase with its tracker.
pub struct Runner {
    /// What it is called in reports.
    pub name: String,
    workers: Workers,
    broad: Box<dyn BroadPhase>,
    found: PairBuffer,
    tracker: PairTracker,
    time: StepTime,
    report: Report,
}

impl Runner {
    /// A runner for an algorithm of the library.
    pub fn new(algorithm: Algorithm, workers: &Workers) -> Runner {
        Runner::with_broad_phase(algorithm.name(), algorithm.build(workers), workers)
    }

    /// A runner for any broad phase.
    pub fn with_broad_phase(name: &str, broad: Box<dyn BroadPhase>, workers: &Workers) -> Runner {
        Runner {
            name: name.to_owned(),
            workers: workers.clone(),
            broad,
            found: PairBuffer::new(),
            tracker: PairTracker::new(),
            time: StepTime::default(),
            report: Report::Full,
        }
    }

    /// Follows the boxes' pending changes. The caller commits the boxes after all runners.
    pub fn step(&mut self, boxes: &Boxes) -> Result<(), Error> {
        let start = Instant::now();
        self.found.clear();
        let (broad, found) = (&mut self.broad, &mut self.found);
        self.report = self.workers.enter(|| broad.update(boxes, found))?;
        self.time.update = start.elapsed();
        self.tracker.apply(self.report, &self.found, boxes.slots());
        self.time.step = start.elapsed();
        Ok(())
    }

    /// As [`Runner::step`], where a panic of the algorithm is an answer like an error.
    pub fn guarded_step(&mut self, boxes: &Boxes, validate: bool) -> Result<(), String> {
        let work = AssertUnwindSafe(|| {
            let done = self.step(boxes).map_err(|error| error.to_string());
            if validate && done.is_ok() {
                self.broad.validate(boxes);
            }
            done
        });
        catch_unwind(work).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("it panicked: {}", text.unwrap_or("without a message")))
        })
    }

    /// Every overlapping pair, ascending.
    pub fn pairs(&self) -> &[Pair] {
        self.tracker.pairs()
    }

    /// The events of the last step.
    pub fn events(&self) -> Events<'_> {
        self.tracker.events()
    }

    /// How long the last step took.
    pub fn time(&self) -> StepTime {
        self.time
    }

    /// Whether the last report was of all pairs or of changes.
    pub fn report(&self) -> Report {
        self.report
    }

    /// What the algorithm counted in the last step.
    pub fn stats(&self) -> Stats {
        self.broad.stats()
    }

    /// Why the algorithm chose as it did, if it is one that chooses.
    pub fn reason(&self) -> Option<String> {
        self.broad.reason()
    }

    /// Number of threads it may use.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }
}

/// SHA-256 over couples as little-endian u32, in the order given, in hexadecimal.
pub fn sha256(pairs: impl Iterator<Item = (u32, u32)>) -> String {
    let mut hash = Sha256::new();
    let mut buffer = Vec::with_capacity(1 << 16);
    for (a, b) in pairs {
        buffer.extend_from_slice(&a.to_le_bytes());
        buffer.extend_from_slice(&b.to_le_bytes());
        if buffer.len() >= 1 << 16 {
            hash.update(&buffer);
            buffer.clear();
        }
    }
    hash.update(&buffer);
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing_and_of_one_pair_are_known() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(std::iter::empty()), empty);
        let one = Sha256::digest([1, 0, 0, 0, 0, 1, 0, 0]);
        let hex: String = one.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(sha256([(1, 256)].into_iter()), hex);
    }
}
