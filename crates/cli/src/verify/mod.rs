//! `jostle verify`: algorithms against the [`oracle`], frame by frame.
//!
//! Of each contender and in each frame: the pairs, what began and what ended are compared with
//! the oracle's, and for few boxes the algorithm's own invariants are checked. At the end all
//! boxes are removed: every pair that began must have ended.

use jostle::{Algorithm, Boxes, BroadPhase, Workers};
use std::fmt;

use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::interrupt;
use crate::support::progress::Progress;
use crate::support::runner::Runner;
use crate::support::text::{count_of, grouped};

pub mod command;
pub mod difference;
pub mod oracle;

use difference::difference;
use oracle::{BRUTE_FORCE_MOST, Oracle};

/// Makes a broad phase that runs on the given threads.
pub type Builder = Box<dyn Fn(&Workers) -> Box<dyn BroadPhase>>;

/// A broad phase to be checked.
pub struct Contender {
    /// What it is called in the report.
    pub name: String,
    /// The library's algorithm that it is, if it is one.
    pub algorithm: Option<Algorithm>,
    /// The threads it runs on.
    pub workers: Workers,
    /// Makes one.
    pub build: Builder,
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Contender {
    /// An algorithm of the library.
    pub fn new(algorithm: Algorithm, workers: &Workers) -> Contender {
        let name = match workers.count() {
            1 => algorithm.to_string(),
            count => format!("{algorithm} on {count} threads"),
        };
        Contender {
            name,
            algorithm: Some(algorithm),
            workers: workers.clone(),
            build: Box::new(move |workers| algorithm.build(workers)),
        }
    }

    /// Any broad phase.
    pub fn custom(
        name: &str,
        build: impl Fn(&Workers) -> Box<dyn BroadPhase> + 'static,
    ) -> Contender {
        Contender {
            name: name.to_owned(),
            algorithm: None,
            workers: Workers::one(),
            build: Box::new(build),
        }
    }
}

/// What was checked, if nothing differed.
#[derive(Debug, PartialEq, Eq)]
pub struct Verified {
    /// Frames.
    pub frames: usize,
    /// Pairs, summed over the frames.
    pub pairs: u64,
    /// Pairs that began, and ended.
    pub began: u64,
    /// What the answers were compared with.
    pub oracle: String,
}

impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}, {}, {} began and ended; oracle: {}",
            count_of(self.frames as u64, "frame", "frames"),
            count_of(self.pairs, "pair", "pairs"),
            grouped(self.began),
            self.oracle
        )
    }
}

/// A fast algorithm that is not what is tested; `sort-sweep` unless that is the only one tested.
pub fn independent_of(contenders: &[Contender]) -> Algorithm {
    let tested = |algorithm: Algorithm| contenders.iter().all(|c| c.algorithm == Some(algorithm));
    if contenders.is_empty() || !tested(Algorithm::SortSweep) {
        return Algorithm::SortSweep;
    }
    let plain = [Algorithm::SortSweep, Algorithm::BruteForce, Algorithm::Auto];
    let other = Algorithm::ALL.iter().find(|algorithm| !plain.contains(algorithm));
    other.copied().unwrap_or(Algorithm::SortSweep)
}

/// Runs every contender over all frames. [`Failure::Check`] names what differs.
pub fn verify(feed: &mut Feed, contenders: &[Contender]) -> Result<Verified, Failure> {
    let mut check = Check::new(feed, contenders);
    let progress = Progress::new(feed.frames(), &format!("verify {}", feed.name()));
    let mut boxes = Boxes::new();
    while let Some(frame) = feed.advance(&mut boxes)? {
        check.frame(&boxes, frame)?;
        boxes.commit();
        progress.step();
        if interrupt::requested() || check.all_failed() {
            break;
        }
    }
    drop(progress);
    check.balance(&mut boxes)?;
    check.finish(feed)
}

struct Check {
    scene: String,
    oracle: Oracle,
    candidates: Vec<Candidate>,
    validate: bool,
    frames: usize,
    pairs: u64,
    began: u64,
}

/// A contender under way; one that failed is left alone.
struct Candidate {
    runner: Runner,
    fault: Option<String>,
    began: u64,
    ended: u64,
}

impl Check {
    fn new(feed: &Feed, contenders: &[Contender]) -> Check {
        let candidates = contenders.iter().map(|contender| {
            let broad = (contender.build)(&contender.workers);
            let runner = Runner::with_broad_phase(&contender.name, broad, &contender.workers);
            Candidate { runner, fault: None, began: 0, ended: 0 }
        });
        Check {
            scene: feed.name().to_owned(),
            oracle: Oracle::new(feed.boxes(), contenders),
            candidates: candidates.collect(),
            validate: feed.boxes() <= BRUTE_FORCE_MOST,
            frames: 0,
            pairs: 0,
            began: 0,
        }
    }

    fn all_failed(&self) -> bool {
        self.candidates.iter().all(|candidate| candidate.fault.is_some())
    }

    fn frame(&mut self, boxes: &Boxes, frame: usize) -> Result<(), Failure> {
        let broken = |fault| format!("the oracle on {}, frame {frame}: {fault}", self.scene);
        self.oracle.step(boxes, frame).map_err(|fault| Failure::Check(broken(fault)))?;
        for candidate in &mut self.candidates {
            if candidate.fault.is_none() {
                let fault = candidate.step(boxes, &self.oracle, self.validate).err();
                candidate.fault = fault.map(|fault| {
                    format!("{} on {}, frame {frame}: {fault}", candidate.runner.name, self.scene)
                });
            }
        }
        self.frames += 1;
        self.pairs += self.oracle.pairs().len() as u64;
        self.began += self.oracle.began().len() as u64;
        Ok(())
    }

    /// Removes all boxes and sees that every pair ends.
    fn balance(&mut self, boxes: &mut Boxes) -> Result<(), Failure> {
        let ids: Vec<_> = boxes.ids().collect();
        boxes.remove_all(&ids)?;
        let frames = self.frames;
        self.frame(boxes, frames)?;
        self.frames = frames;
        for candidate in &mut self.candidates {
            if candidate.fault.is_none() && candidate.began != candidate.ended {
                let (began, ended) = (candidate.began, candidate.ended);
                let name = &candidate.runner.name;
                candidate.fault = Some(format!("{name}: {began} pairs began, {ended} ended"));
            }
        }
        Ok(())
    }

    fn finish(self, feed: &Feed) -> Result<Verified, Failure> {
        let faults: Vec<String> = self.candidates.into_iter().filter_map(|c| c.fault).collect();
        if !faults.is_empty() {
            return Err(Failure::Check(faults.join("\n")));
        }
        if self.frames < feed.frames() {
            let message = format!(
                "{}: no difference in {} of {} frames",
                self.scene,
                self.frames,
                feed.frames()
            );
            return Err(Failure::Stopped(message));
        }
        let oracle = self.oracle.describe();
        Ok(Verified { frames: self.frames, pairs: self.pairs, began: self.began, oracle })
    }
}

impl Candidate {
    fn step(&mut self, boxes: &Boxes, oracle: &Oracle, validate: bool) -> Result<(), String> {
        self.runner.guarded_step(boxes, validate)?;
        let events = self.runner.events();
        let comparisons = [
            ("pairs", oracle.pairs(), self.runner.pairs()),
            ("began", oracle.began(), events.began),
            ("ended", oracle.ended(), events.ended),
        ];
        for (what, expected, found) in comparisons {
            // Equal slices are the rule and compare fast.
            if expected != found {
                return Err(difference(expected, found).describe(what, boxes));
            }
        }
        self.began += events.began.len() as u64;
        self.ended += events.ended.len() as u64;
        Ok(())
    }
}
