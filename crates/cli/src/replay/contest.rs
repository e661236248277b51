//! [`Contestant`]: an algorithm that does the steps of a recording, and where it first differed.

use jostle::recording::Start;
use jostle::{Algorithm, Boxes, Slot, StepHash, Workers};

use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::runner::Runner;
use crate::support::text::{count_of, grouped};
use crate::verify::difference::difference;

/// Where a contestant first differed, and how.
#[derive(Debug)]
pub(super) struct Mismatch {
    /// The step, from 1.
    pub(super) step: usize,
    /// The boxes of the first pairs that differ.
    pub(super) boxes: Vec<Slot>,
    what: String,
}

impl Mismatch {
    pub(super) fn told(&self) -> String {
        format!("step {}: {}", self.step, self.what)
    }
}

/// A broad phase, and whether it still agrees.
#[derive(Debug)]
pub(super) struct Contestant {
    runner: Runner,
    algorithm: Algorithm,
    /// True if it changes the algorithm where the recording does.
    switches: bool,
    device: Device,
    pub(super) mismatch: Option<Mismatch>,
}

impl Contestant {
    /// One that keeps to its algorithm.
    pub(super) fn new(device: &Device, algorithm: Algorithm, workers: &Workers) -> Contestant {
        let runner =
            Runner::with_broad_phase(algorithm.name(), device.build(algorithm, workers), workers);
        let device = device.clone();
        Contestant { runner, algorithm, switches: false, device, mismatch: None }
    }

    /// One that follows the recording's. A broad phase that is not of the library is replaced by
    /// `auto`: all find the same.
    pub(super) fn as_recorded(device: &Device, name: &str, workers: &Workers) -> Contestant {
        let algorithm = match device.is_cpu() {
            true => name.parse().unwrap_or_default(),
            false => Algorithm::GridSweep,
        };
        Contestant { switches: device.is_cpu(), ..Contestant::new(device, algorithm, workers) }
    }

    pub(super) fn name(&self) -> &str {
        self.algorithm.name()
    }

    pub(super) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(super) fn workers(&self) -> &Workers {
        self.runner.workers()
    }

    pub(super) fn threads(&self) -> usize {
        self.runner.threads()
    }

    pub(super) fn label(&self) -> String {
        format!("{}, {}", self.name(), count_of(self.threads() as u64, "thread", "threads"))
    }

    pub(super) fn begin(&mut self, boxes: &Boxes, start: &Start) -> Result<(), Failure> {
        self.set_pair_limit(start.pair_limit);
        Ok(self.runner.stepper_mut().restore_pairs(boxes, &start.pairs)?)
    }

    pub(super) fn set_pair_limit(&mut self, limit: usize) {
        self.runner.stepper_mut().set_pair_limit(limit);
    }

    pub(super) fn switch(&mut self, name: &str) {
        if self.switches {
            self.algorithm = name.parse().unwrap_or_default();
            let broad = self.device.build(self.algorithm, self.runner.workers());
            self.runner.stepper_mut().replace_broad_phase(broad);
        }
    }

    pub(super) fn step(&mut self, boxes: &Boxes, step: usize, expected: &StepHash) {
        if self.mismatch.is_some() {
            return;
        }
        let done = self.runner.guarded_step(boxes, false);
        self.mismatch = match done {
            Ok(()) if self.runner.hash() == *expected => None,
            Ok(()) => Some(self.differing(boxes, step, expected)),
            Err(what) => Some(Mismatch { step, boxes: Vec::new(), what }),
        };
    }

    pub(super) fn refused_step(&mut self, boxes: &Boxes, step: usize, why: &str) {
        if self.mismatch.is_none() && self.runner.guarded_step(boxes, false).is_ok() {
            let what = format!("it went well, but was refused in the recording: {why}");
            self.mismatch = Some(Mismatch { step, boxes: Vec::new(), what });
        }
    }

    /// Asks an independent algorithm who is right.
    fn differing(&self, boxes: &Boxes, step: usize, expected: &StepHash) -> Mismatch {
        let independent = match self.algorithm {
            Algorithm::SortSweep => Algorithm::BruteForce,
            _ => Algorithm::SortSweep,
        };
        let mut oracle = Runner::new(independent, &Workers::one());
        oracle.stepper_mut().set_pair_limit(usize::MAX >> 1);
        if let Err(what) = oracle.guarded_step(boxes, false) {
            return Mismatch { step, boxes: Vec::new(), what };
        }
        let wrong = difference(oracle.pairs(), self.runner.pairs());
        if !wrong.is_empty() {
            let pairs = wrong.missing.iter().chain(&wrong.extra).take(3);
            let named = pairs.flat_map(|pair| [pair.a(), pair.b()]).collect();
            let what = wrong.describe(&format!("against {independent}"), boxes);
            return Mismatch { step, boxes: named, what };
        }
        let found = self.runner.hash();
        let what = match found.pairs_hash == expected.pairs_hash {
            true => format!(
                "the pairs are those of the recording, the events are not: {} began and {} ended, \
                 recorded were {} and {}",
                grouped(found.began),
                grouped(found.ended),
                grouped(expected.began),
                grouped(expected.ended)
            ),
            false => format!(
                "{} overlap, as {independent} finds too, but {} were recorded: what recorded this \
                 was wrong",
                count_of(found.pairs, "pair", "pairs"),
                grouped(expected.pairs)
            ),
        };
        Mismatch { step, boxes: Vec::new(), what }
    }
}
