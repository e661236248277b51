//! [`Oracle`]: the pairs and events that must come out, by the simplest means that the number of
//! boxes allows.
//!
//! 1. Up to [`BRUTE_FORCE_MOST`] boxes: every box against every other, in this file.
//! 2. Above: an algorithm of the library that is not the one under test (`sort-sweep`, or
//!    another when that one is tested), itself checked in every step by testing [`SAMPLE`] boxes
//!    against all others, in this file.
//!
//! Events are set differences of the pairs of two steps, so they share nothing with the tracker.

use jostle::{Boxes, Pair, Workers};

use super::difference::{Difference, difference};
use super::{Contender, independent_of};
use crate::support::runner::Runner;

/// Up to this many boxes every pair is tested.
pub const BRUTE_FORCE_MOST: usize = 2_000;

/// How many boxes are tested against all others if not every pair is.
pub const SAMPLE: usize = 1_000;

/// Knows what must come out.
#[derive(Debug)]
pub struct Oracle {
    /// The algorithm that finds the pairs; none if every pair is tested.
    reference: Option<Runner>,
    before: Vec<Pair>,
    now: Vec<Pair>,
    expected: Difference,
    /// Boxes tested against all others so far.
    pub sampled: u64,
}

impl Oracle {
    /// The oracle for this many boxes and these contenders.
    pub fn new(boxes: usize, contenders: &[Contender]) -> Oracle {
        let reference = (boxes > BRUTE_FORCE_MOST)
            .then(|| Runner::new(independent_of(contenders), &Workers::one()));
        Oracle {
            reference,
            before: Vec::new(),
            now: Vec::new(),
            expected: Difference::default(),
            sampled: 0,
        }
    }

    /// What it is, for the report.
    pub fn describe(&self) -> String {
        match &self.reference {
            None => "every pair tested".into(),
            Some(runner) => {
                format!("{}, itself checked on {SAMPLE} boxes against all", runner.name)
            }
        }
    }

    /// Finds what must come out for this frame. An error means the reference itself is wrong.
    pub fn step(&mut self, boxes: &Boxes, frame: usize) -> Result<(), String> {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        match &mut self.reference {
            None => every_pair(boxes, &mut self.now),
            Some(runner) => {
                runner.guarded_step(boxes, false)?;
                self.now.extend_from_slice(runner.pairs());
                self.sampled += check_sample(boxes, frame, &self.now)?;
            }
        }
        self.expected = difference(&self.before, &self.now);
        Ok(())
    }

    /// Every overlapping pair, ascending.
    pub fn pairs(&self) -> &[Pair] {
        &self.now
    }

    /// The pairs that must begin, ascending.
    pub fn began(&self) -> &[Pair] {
        &self.expected.extra
    }

    /// The pairs that must end, ascending.
    pub fn ended(&self) -> &[Pair] {
        &self.expected.missing
    }
}

/// Every box against every other.
fn every_pair(boxes: &Boxes, pairs: &mut Vec<Pair>) {
    let ids: Vec<_> = boxes.ids().collect();
    for (place, &a) in ids.iter().enumerate() {
        let (aabb, filter) = (&boxes.aabbs()[a.index()], &boxes.filters()[a.index()]);
        for &b in &ids[place + 1..] {
            let (other, its) = (&boxes.aabbs()[b.index()], &boxes.filters()[b.index()]);
            if aabb.overlaps(other) && filter.allows(its) {
                pairs.push(Pair::new(a, b));
            }
        }
    }
}

/// Tests some boxes, others in each frame, against all; their number, or what differs.
pub(crate) fn check_sample(boxes: &Boxes, frame: usize, found: &[Pair]) -> Result<u64, String> {
    let step = boxes.len().div_ceil(SAMPLE).max(1);
    let mut sampled = vec![false; boxes.slots()];
    let (mut count, mut expected) = (0, Vec::new());
    for a in boxes.ids().skip(frame % step).step_by(step) {
        sampled[a.index()] = true;
        count += 1;
        let (aabb, filter) = (&boxes.aabbs()[a.index()], &boxes.filters()[a.index()]);
        for (slot, other) in boxes.aabbs().iter().enumerate() {
            // Slots without a box hold NaN, which overlaps nothing.
            if slot != a.index() && aabb.overlaps(other) && filter.allows(&boxes.filters()[slot]) {
                expected.push(Pair::new(a, slot as u32));
            }
        }
    }
    expected.sort_unstable();
    expected.dedup();
    let in_sample = |pair: &&Pair| sampled[pair.a().index()] || sampled[pair.b().index()];
    let found: Vec<Pair> = found.iter().filter(in_sample).copied().collect();
    let wrong = difference(&expected, &found);
    if wrong.is_empty() { Ok(count) } else { Err(wrong.describe("pairs of sampled boxes", boxes)) }
}
