//! Runs several ways of `bidim-sap` over the same frames and keeps what each frame counted.

use std::time::{Duration, Instant};

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
    spent: Duration,
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
            spent: Duration::ZERO,
        })
    }

    fn update(&mut self, boxes: &Boxes, number: usize) -> Result<(), Failure> {
        self.found.clear();
        let start = Instant::now();
        self.broad.update(boxes, &mut self.found).map_err(Failure::input)?;
        let time = start.elapsed();
        self.spent += time;
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
    /// When one runner has taken longer all stop, after three frames at least: a ratio needs the
    /// same frames on both sides.
    pub budget: Duration,
}

impl Course {
    /// Runs all runners over the frames, interleaved. All must find the same number of pairs.
    pub(crate) fn run(&self, lab: &super::Lab, runners: &mut [Runner]) -> Result<(), Failure> {
        let mut scene: Scene = self.scene.build().map_err(Failure::input)?;
        let mut boxes = Boxes::new();
        boxes.insert_all(scene.boxes(), Filter::ALL).map_err(Failure::input)?;
        for number in 0..self.frames {
            lab.check_stop()?;
            if number > 0 {
                scene.advance();
            }
            if runners.iter().any(|one| one.spent > self.budget && one.frames.len() >= 3) {
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
