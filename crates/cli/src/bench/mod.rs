//! `jostle bench`: algorithms on the same frames, interleaved.
//!
//! A time means little alone on a busy machine. So all entrants see each frame one after the
//! other before the next frame comes, the order turns by one each frame, and each time is reported
//! with its ratio to the fastest. Counts of work are exact. All entrants must find the same pairs
//! in each frame.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use jostle::{Algorithm, Boxes, Stats, Workers};
use jostle_scenes::{Invalid, SceneSpec, Sorted};

use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::interrupt;
use crate::support::progress::Progress;
use crate::support::runner::Runner;
use crate::support::text::milliseconds;

pub mod command;
pub mod mesh;
pub mod narrow;
mod picture;
mod predict;
mod report;
mod simulate;
pub mod world;

/// What is run: a scene, or the frames of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Course {
    /// A scene.
    Scene(SceneSpec),
    /// A file of boxes.
    File(PathBuf),
}

impl Course {
    /// Its name: the scene's, or the path as given.
    pub fn name(&self) -> String {
        match self {
            Course::Scene(spec) => spec.name.clone(),
            Course::File(path) => path.display().to_string(),
        }
    }

    /// Its frames, at most this many.
    pub fn open(&self, frames: usize) -> Result<Feed, Failure> {
        let mut feed = match self {
            Course::Scene(spec) => Feed::scene(spec, frames)?,
            Course::File(path) => Feed::file(path, Invalid::Refuse)?,
        };
        feed.truncate(frames);
        Ok(feed)
    }
}

/// An algorithm with the threads it may use.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its threads.
    pub workers: Workers,
    /// Where it runs.
    pub device: Device,
}

impl Entrant {
    /// An algorithm on the calling thread.
    pub fn single(algorithm: Algorithm) -> Entrant {
        Entrant { algorithm, workers: Workers::one(), device: Device::default() }
    }

    fn runner(&self) -> Runner {
        let broad = self.device.build(self.algorithm, &self.workers);
        Runner::with_broad_phase(self.algorithm.name(), broad, &self.workers)
    }
}

/// One frame of one entrant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The broad phase's update, in milliseconds.
    pub update_ms: f64,
    /// With the tracker's events, in milliseconds.
    pub step_ms: f64,
    /// Overlapping pairs.
    pub pairs: usize,
    /// Pairs that began.
    pub began: usize,
    /// Pairs that ended.
    pub ended: usize,
    /// Box against box tests.
    pub tests: u64,
    /// Swaps of neighbours in sorted lists.
    pub swaps: u64,
}

/// One entrant on one course.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The scene's or file's name.
    pub scene: String,
    /// Number of boxes.
    pub n: usize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Where it ran.
    pub device: String,
    /// Its number of threads.
    pub threads: usize,
    /// The first frame, from nothing.
    pub build: Sample,
    /// The frames after it; for a course of one frame, repetitions from nothing.
    pub samples: Vec<Sample>,
    /// What the algorithm counted in the last frame.
    pub stats: Stats,
    /// Bytes held by the algorithm, its report and the tracker.
    pub step_bytes: usize,
    /// Why the algorithm chose as it did, if it is one that chooses.
    pub reason: Option<String>,
    /// True if the budget of time was used up before the last frame.
    pub cut_short: bool,
}

impl Measured {
    /// The algorithm, and where it ran if that is not the processor.
    pub fn label(&self) -> String {
        match &self.device[..] {
            "cpu" => self.algorithm.to_string(),
            device => format!("{} on {device}", self.algorithm),
        }
    }

    /// The frames that count: all after the first, or the first if it is the only one.
    fn times(&self, time: impl Fn(&Sample) -> f64) -> Sorted {
        match self.samples.is_empty() {
            true => Sorted::new([time(&self.build)]),
            false => Sorted::new(self.samples.iter().map(time)),
        }
    }

    /// Half of the updates took no longer.
    pub fn median_ms(&self) -> f64 {
        self.times(|sample| sample.update_ms).median()
    }

    /// The shortest update.
    pub fn min_ms(&self) -> f64 {
        self.times(|sample| sample.update_ms).least()
    }

    /// 99 of a hundred updates took no longer.
    pub fn p99_ms(&self) -> f64 {
        self.times(|sample| sample.update_ms).quantile(0.99)
    }

    /// As the median of updates, with events.
    pub fn step_median_ms(&self) -> f64 {
        self.times(|sample| sample.step_ms).median()
    }

    /// The longest step after the first frame, with events.
    pub fn worst_ms(&self) -> f64 {
        self.times(|sample| sample.step_ms).greatest()
    }

    /// The first step, from nothing, with events.
    pub fn first_ms(&self) -> f64 {
        self.build.step_ms
    }

    /// Overlapping pairs in the last frame.
    pub fn pairs(&self) -> usize {
        self.samples.last().unwrap_or(&self.build).pairs
    }

    /// Mean of a count over the frames after the first.
    pub fn mean(&self, count: impl Fn(&Sample) -> u64) -> f64 {
        self.times(|sample| count(sample) as f64).mean()
    }
}

/// Runs all entrants over the frames of a course. An entrant that has taken longer than
/// `budget` stops early, with at least two frames done.
pub fn measure(
    course: &Course,
    frames: usize,
    entrants: &[Entrant],
    budget: Option<Duration>,
) -> Result<Vec<Measured>, Failure> {
    let mut feed = course.open(frames)?;
    let mut race = Race::new(&feed, entrants, budget);
    let mut boxes = Boxes::new();
    let repeated = feed.frames() == 1;
    let steps = if repeated { frames } else { feed.frames() };
    let progress = Progress::new(steps, &format!("{} {}", race.scene, race.n));
    for step in 0..steps {
        if repeated && step > 0 {
            race.restart(entrants);
        } else {
            feed.advance(&mut boxes)?;
        }
        race.step(&boxes, step)?;
        if !repeated {
            boxes.commit();
        }
        progress.step();
        if interrupt::requested() || race.is_over() {
            break;
        }
    }
    Ok(race.finish())
}

struct Race {
    scene: String,
    n: usize,
    lanes: Vec<Lane>,
    budget: Option<Duration>,
}

struct Lane {
    runner: Runner,
    algorithm: Algorithm,
    device: String,
    samples: Vec<Sample>,
    spent: Duration,
    cut_short: bool,
}

impl Race {
    fn new(feed: &Feed, entrants: &[Entrant], budget: Option<Duration>) -> Race {
        let lanes = entrants.iter().map(|entrant| Lane {
            runner: entrant.runner(),
            algorithm: entrant.algorithm,
            device: entrant.device.name(),
            samples: Vec::new(),
            spent: Duration::ZERO,
            cut_short: false,
        });
        Race { scene: feed.name().to_owned(), n: feed.boxes(), lanes: lanes.collect(), budget }
    }

    /// Begins from nothing again.
    fn restart(&mut self, entrants: &[Entrant]) {
        for (lane, entrant) in self.lanes.iter_mut().zip(entrants) {
            lane.runner = entrant.runner();
        }
    }

    fn is_over(&self) -> bool {
        self.lanes.iter().all(|lane| lane.cut_short)
    }

    fn step(&mut self, boxes: &Boxes, step: usize) -> Result<(), Failure> {
        let count = self.lanes.len();
        for turn in 0..count {
            let lane = &mut self.lanes[(step + turn) % count];
            if lane.cut_short {
                continue;
            }
            let start = Instant::now();
            lane.runner.step(boxes)?;
            lane.samples.push(sample(&lane.runner));
            lane.spent += start.elapsed();
            let over = self.budget.is_some_and(|budget| lane.spent > budget);
            lane.cut_short = over && lane.samples.len() > 1;
        }
        self.compare(step)
    }

    /// All that took this step must have found the same pairs.
    fn compare(&self, step: usize) -> Result<(), Failure> {
        let mut up_to_date = self.lanes.iter().filter(|lane| lane.samples.len() == step + 1);
        let Some(first) = up_to_date.next() else { return Ok(()) };
        for other in up_to_date {
            if first.runner.pairs() != other.runner.pairs() {
                return Err(Failure::Check(format!(
                    "{}, frame {step}: {} found {} pairs and {} {} others; run `jostle verify`",
                    self.scene,
                    first.algorithm,
                    first.runner.pairs().len(),
                    other.algorithm,
                    other.runner.pairs().len(),
                )));
            }
        }
        Ok(())
    }

    fn finish(self) -> Vec<Measured> {
        let ran = self.lanes.into_iter().filter(|lane| !lane.samples.is_empty());
        ran.map(|lane| Measured {
            scene: self.scene.clone(),
            n: self.n,
            algorithm: lane.algorithm,
            device: lane.device,
            threads: lane.runner.threads(),
            build: lane.samples[0],
            samples: lane.samples[1..].to_vec(),
            stats: lane.runner.stats(),
            step_bytes: lane.runner.bytes(),
            reason: lane.runner.reason(),
            cut_short: lane.cut_short,
        })
        .collect()
    }
}

fn sample(runner: &Runner) -> Sample {
    let (time, events, stats) = (runner.time(), runner.events(), runner.stats());
    Sample {
        update_ms: milliseconds(time.update),
        step_ms: milliseconds(time.step),
        pairs: runner.pairs().len(),
        began: events.began.len(),
        ended: events.ended.len(),
        tests: stats.tests,
        swaps: stats.swaps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entrants_see_the_same_frames() {
        let course = Course::Scene(SceneSpec::new("uniform", 300, 1).param("density", 0.35));
        let entrants = [Algorithm::BruteForce, Algorithm::SortSweep].map(Entrant::single);
        let rows = measure(&course, 5, &entrants, None).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].samples.len(), 4);
        assert!(rows[0].pairs() > 0);
        let pairs = |row: &Measured| row.samples.iter().map(|s| s.pairs).collect::<Vec<_>>();
        assert_eq!(pairs(&rows[0]), pairs(&rows[1]));
        assert_eq!(rows[0].mean(|sample| sample.tests), 300.0 * 299.0 / 2.0);
    }

    #[test]
    fn a_used_up_budget_cuts_a_run_short() {
        let course = Course::Scene(SceneSpec::new("uniform", 300, 1));
        let entrants = [Entrant::single(Algorithm::BruteForce)];
        let rows = measure(&course, 50, &entrants, Some(Duration::ZERO)).unwrap();
        assert!(rows[0].cut_short);
        assert_eq!(rows[0].samples.len(), 1);
    }
}
