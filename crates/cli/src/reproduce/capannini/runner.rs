//! Runs several ways of `bidim-sap` over the same frames and keeps what each frame counted.

use std::time::Instant;

use jostle::broad::bidim_sap::{BidimSap, BidimSapOptions};
use jostle::{Boxes, BroadPhase, Filter, PairBuffer, Workers};
use jostle_scenes::{Scene, SceneSpec};

use crate::reproduce::Figure;
use crate::support::failure::Failure;

/// What one update counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    /// Place of the frame in the scene.
    pub number: usize,
    pub total_ms: f64,
    pub sort_ms: f64,
    pub candidates_ms: f64,
    pub pairing_ms: f64,
    pub tests: f64,
    /// The larger dispersion of the two axes.
    pub dispersion: f64,
    /// Standard deviations of the partitions' shares of tests and of pairs, in percent.
    pub deviation: [f64; 2],
    pub pairs: usize,
    /// The axes swept.
    pub axes: String,
}

/// One way of working.
pub(crate) struct Runner {
    pub name: &'static str,
    pub frames: Vec<Frame>,
    broad: BidimSap,
    found: PairBuffer,
}

impl Runner {
    /// A runner with threads of its own.
    pub(crate) fn new(
        name: &'static str,
        options: BidimSapOptions,
        threads: usize,
    ) -> Result<Runner, Failure> {
        let workers = Workers::new(threads).map_err(Failure::input)?;
        Ok(Runner {
            name,
            frames: Vec::new(),
            broad: BidimSap::with_options(&workers, options),
            found: PairBuffer::new(),
        })
    }

    fn update(&mut self, boxes: &Boxes, number: usize) -> Result<(), Failure> {
        self.found.clear();
        let start = Instant::now();
        self.broad.update(boxes, &mut self.found).map_err(Failure::input)?;
        let time = start.elapsed();
        let stats = self.broad.stats();
        let milliseconds = |wanted: &dyn Fn(&str) -> bool| -> f64 {
            let stages = stats.stages.iter().filter(|(stage, _)| wanted(stage));
            stages.fold(0.0, |sum, (_, time)| sum + time.as_secs_f64() * 1e3)
        };
        let count = |name: &str| stats.count(name).unwrap_or(0.0);
        self.frames.push(Frame {
            number,
            total_ms: time.as_secs_f64() * 1e3,
            sort_ms: milliseconds(&|stage| stage.starts_with("sort")),
            candidates_ms: milliseconds(&|stage| stage == "candidates"),
            pairing_ms: milliseconds(&|stage| stage == "pairing"),
            tests: stats.tests as f64,
            dispersion: count("dispersion primary").max(count("dispersion secondary")),
            deviation: [count("deviation of tests"), count("deviation of pairs")],
            pairs: self.found.len(),
            axes: self.broad.axes().map(|(one, other)| format!("{one}{other}")).unwrap_or_default(),
        });
        Ok(())
    }

    /// The frames after the first, which has no frame before it to reuse anything from.
    pub(crate) fn settled(&self) -> &[Frame] {
        if self.frames.len() > 1 { &self.frames[1..] } else { &self.frames }
    }

    /// Least over the settled frames: what a frame takes while nothing else runs.
    pub(crate) fn least(&self, value: impl Fn(&Frame) -> f64) -> f64 {
        self.settled().iter().map(value).fold(f64::INFINITY, f64::min)
    }

    /// Greatest over the settled frames.
    pub(crate) fn greatest(&self, value: impl Fn(&Frame) -> f64) -> f64 {
        super::greatest(self.settled().iter().map(value))
    }

    /// A value of each settled frame.
    pub(crate) fn values(&self, value: impl Fn(&Frame) -> f64) -> Vec<f64> {
        self.settled().iter().map(value).collect()
    }

    /// Median over the settled frames, with its spread.
    pub(crate) fn figure(&self, value: impl Fn(&Frame) -> f64) -> Figure {
        Figure::median(&self.values(value))
    }

    /// Mean over the settled frames.
    pub(crate) fn mean(&self, value: impl Fn(&Frame) -> f64) -> f64 {
        self.settled().iter().map(value).sum::<f64>() / self.settled().len() as f64
    }
}

/// A scene and how it is run through.
pub(crate) struct Course {
    pub scene: SceneSpec,
    pub frames: usize,
    /// One frame in this many is measured; the others only pass.
    pub stride: usize,
    /// All stop at the end of the unit ([`Lab::unit_end`]) and after [`LEAST`] frames at least: a
    /// ratio needs the same frames on both sides. Or they run through.
    pub may_end: bool,
    /// All stop as well when the median of each is known to this share of it. What the medians
    /// are does not matter: to stop where a verdict is reached would favour verdicts.
    pub known: Option<f64>,
}

/// The fewest frames of a course, the first among them, which does not count.
const LEAST: usize = 6;

impl Course {
    /// Runs all runners over the frames, interleaved. All must find the same number of pairs.
    pub(crate) fn run(&self, lab: &super::Lab, runners: &mut [Runner]) -> Result<(), Failure> {
        let mut scene: Scene = self.scene.build().map_err(Failure::input)?;
        let mut boxes = Boxes::new();
        boxes.insert_all(scene.boxes(), Filter::ALL).map_err(Failure::input)?;
        let end = lab.unit_end().filter(|_| self.may_end);
        for number in 0..self.frames {
            lab.check_stop()?;
            if number > 0 {
                scene.advance();
            }
            let late = end.is_some_and(|end| Instant::now() > end);
            if number >= LEAST && (late || self.is_known(runners)) {
                break;
            }
            if number % self.stride == 0 {
                boxes.set_all(scene.boxes()).map_err(Failure::input)?;
                self.measure(&boxes, number, runners)?;
                boxes.commit();
            }
        }
        Ok(())
    }

    fn is_known(&self, runners: &[Runner]) -> bool {
        let known = |one: &Runner, share| one.figure(|frame| frame.total_ms).is_within(share);
        let all_known = |share| runners.iter().all(|one| known(one, share));
        self.known.is_some_and(all_known)
    }

    fn measure(&self, boxes: &Boxes, number: usize, runners: &mut [Runner]) -> Result<(), Failure> {
        let mut expected: Option<(&'static str, usize)> = None;
        for runner in runners {
            runner.update(boxes, number)?;
            let pairs = runner.frames.last().map_or(0, |frame| frame.pairs);
            let (name, count) = *expected.get_or_insert((runner.name, pairs));
            if count != pairs {
                let other = runner.name;
                return Err(Failure::Check(format!(
                    "frame {number}: {name} finds {count} pairs, {other} {pairs}"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Runner {
    /// A runner with frames that were not measured, after a first one that does not count.
    pub(crate) fn made_up(name: &'static str, frames: impl IntoIterator<Item = Frame>) -> Runner {
        let mut runner = Runner::new(name, BidimSapOptions::default(), 1).expect("one thread");
        runner.frames = [Frame::default()].into_iter().chain(frames).collect();
        runner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_ends_when_its_medians_are_known() {
        let course = |known| Course {
            scene: SceneSpec::new("uniform", 9, 1),
            frames: 9,
            stride: 1,
            may_end: true,
            known,
        };
        let times = |list: &[f64]| {
            let frame = |&total_ms: &f64| Frame { total_ms, ..Frame::default() };
            Runner::made_up("made up", list.iter().map(frame).collect::<Vec<_>>())
        };
        let (steady, noisy) = ([2.0; 5], [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(course(Some(0.02)).is_known(&[times(&steady)]));
        assert!(!course(Some(0.02)).is_known(&[times(&steady), times(&noisy)]));
        assert!(!course(None).is_known(&[times(&steady)]));
    }
}
