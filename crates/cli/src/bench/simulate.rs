//! `jostle bench --simulate-threads`: what many threads would gain, on a machine that has few.
//!
//! One thread runs the real tasks one by one, cut as for that many threads, and the length of the
//! schedule is computed from their times ([`Workers::simulated`]); what is serial takes as long as
//! it does. One real thread and two real ones run on the same frames in turn, to hold the
//! prediction against. Timed is everything that a user of `Detector` waits for: handing over the
//! boxes, the update with its stages, the events, and the commit.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use jostle::{Algorithm, Boxes, Detector, Workers, available_threads};
use jostle_scenes::Sorted;
use serde_json::json;

use super::Course;
use crate::support::failure::Failure;
use crate::support::progress::Progress;
use crate::support::text::{brief, count_of, milliseconds, rounded_ms, table};

/// The whole step, among the stages.
const WHOLE: &str = "whole step";

/// Threads, real or simulated, and the times of each stage in milliseconds.
struct Runner {
    threads: usize,
    simulated: bool,
    detector: Detector,
    stages: Vec<(String, Vec<f64>)>,
}

impl Runner {
    fn new(algorithm: Algorithm, threads: usize, simulated: bool) -> Result<Runner, Failure> {
        let workers = if simulated { Workers::simulated(threads)? } else { Workers::new(threads)? };
        let detector = Detector::with_workers(algorithm, workers);
        Ok(Runner { threads, simulated, detector, stages: Vec::new() })
    }

    /// Takes over the boxes of the first frame and builds; that is not timed.
    fn begin(&mut self, boxes: &Boxes) -> Result<(), Failure> {
        let filters: Vec<_> = boxes.ids().filter_map(|id| boxes.filter(id).copied()).collect();
        self.detector.boxes_mut().insert_each(boxes.aabbs(), &filters)?;
        self.detector.step()?;
        Ok(())
    }

    fn step(&mut self, boxes: &Boxes) -> Result<(), Failure> {
        let (hand_over, result) = timed(|| self.detector.boxes_mut().set_all(boxes.aabbs()));
        result?;
        let (step, result) = timed(|| self.detector.step().map(|_| ()));
        result?;
        let time = self.detector.step_time();
        let mut stages = vec![("hand over".to_owned(), hand_over)];
        let named = self.detector.stats().stages;
        let update: Duration = named.iter().map(|(_, time)| *time).sum();
        stages.extend(named.into_iter().map(|(name, time)| (format!("update: {name}"), time)));
        stages.push(("update: other".into(), time.update.saturating_sub(update)));
        stages.push(("events".into(), time.step.saturating_sub(time.update)));
        stages.push(("commit".into(), step.saturating_sub(time.step)));
        stages.push((WHOLE.into(), hand_over + step));
        for (name, time) in stages {
            self.note(name, milliseconds(time));
        }
        Ok(())
    }

    fn note(&mut self, stage: String, time: f64) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, times)) => times.push(time),
            None => self.stages.push((stage, vec![time])),
        }
    }

    /// The median time of a stage; 0 if there was no such stage.
    fn median(&self, stage: &str) -> f64 {
        let times = self.stages.iter().find(|(name, _)| name == stage);
        times.map_or(0.0, |(_, times)| Sorted::new(times.iter().copied()).median())
    }

    fn label(&self) -> String {
        let mark = if self.simulated { "simulated " } else { "" };
        format!("{mark}{}", self.threads)
    }
}

/// The time of some work as its threads, simulated or not, take it.
fn timed<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let (start, saved) = (Instant::now(), Workers::saved_time());
    let result = work();
    (start.elapsed().saturating_sub(Workers::saved_time() - saved), result)
}

/// Runs one algorithm over the frames of a course and prints its prediction.
pub(super) fn run(
    course: &Course,
    frames: usize,
    algorithm: Algorithm,
    threads: &[usize],
    as_json: bool,
) -> Result<(), Failure> {
    let mut feed = course.open(frames)?;
    let mut runners = vec![Runner::new(algorithm, 1, false)?];
    if available_threads() > 1 {
        runners.push(Runner::new(algorithm, 2, false)?);
    }
    for &count in [2].iter().chain(threads) {
        if !runners.iter().any(|runner| runner.simulated && runner.threads == count) {
            runners.push(Runner::new(algorithm, count, true)?);
        }
    }
    let mut boxes = Boxes::new();
    let progress = Progress::new(frames, &format!("{} {algorithm}", feed.name()));
    let mut number = 0;
    while feed.advance(&mut boxes)?.is_some() {
        check_population(&boxes, number)?;
        let count = runners.len();
        for turn in 0..count {
            let runner = &mut runners[(number + turn) % count];
            if number == 0 { runner.begin(&boxes)? } else { runner.step(&boxes)? }
        }
        let pairs = runners[0].detector.pairs();
        if runners.iter().any(|runner| runner.detector.pairs() != pairs) {
            let message = format!("frame {number}: the pairs depend on the number of threads");
            return Err(Failure::Check(message));
        }
        boxes.commit();
        progress.step();
        number += 1;
    }
    if number < 2 {
        return Err(Failure::input("--simulate-threads needs two frames or more"));
    }
    let n = boxes.len();
    if as_json { print_json(feed.name(), n, &runners) } else { print(feed.name(), n, &runners) }
}

fn check_population(boxes: &Boxes, number: usize) -> Result<(), Failure> {
    let churn = boxes.changes().inserted().len() + boxes.changes().removed().len();
    if boxes.is_dense() && (number == 0 || churn == 0) {
        return Ok(());
    }
    Err(Failure::input("--simulate-threads is for scenes in which no box comes or goes"))
}

fn print_json(scene: &str, n: usize, runners: &[Runner]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    for runner in runners {
        for (stage, _) in &runner.stages {
            let (one, time) = (runners[0].median(stage), runner.median(stage));
            let row = json!({
                "scene": scene,
                "n": n,
                "algorithm": runner.detector.algorithm().map(Algorithm::name),
                "threads": runner.threads,
                "simulated": runner.simulated,
                "stage": stage,
                "median_ms": rounded_ms(time),
                "speedup": if time > 0.0 { one / time } else { 1.0 },
            });
            writeln!(out, "{row}")?;
        }
    }
    Ok(())
}

fn print(scene: &str, n: usize, runners: &[Runner]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let algorithm = runners[0].detector.algorithm().map_or("", Algorithm::name);
    writeln!(out, "{scene}, {}, {algorithm}", count_of(n as u64, "box", "boxes"))?;
    let mut header = vec!["ms, and times as fast as 1".to_owned()];
    header.extend(runners.iter().map(Runner::label));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> =
        runners[0].stages.iter().map(|(stage, _)| stage_row(stage, runners)).collect();
    write!(out, "{}", table(&header, &rows, &[0]))?;
    writeln!(out, "{}\n", next_part(runners))?;
    Ok(())
}

fn stage_row(stage: &str, runners: &[Runner]) -> Vec<String> {
    let one = runners[0].median(stage);
    let cell = |runner: &Runner| {
        let time = runner.median(stage);
        let gain = if time > 0.0 { one / time } else { 1.0 };
        format!("{} {gain:.1}×", brief(time))
    };
    let mut row = vec![stage.to_owned(), brief(one)];
    row.extend(runners[1..].iter().map(cell));
    row
}

/// Which stage takes the largest part of a step on the most threads.
fn next_part(runners: &[Runner]) -> String {
    let most = runners.iter().filter(|runner| runner.simulated).max_by_key(|one| one.threads);
    let Some(most) = most else { return String::new() };
    let whole = most.median(WHOLE);
    let stages = most.stages.iter().map(|(stage, _)| stage.as_str());
    let largest = stages
        .filter(|stage| *stage != WHOLE)
        .max_by(|one, other| most.median(one).total_cmp(&most.median(other)));
    let Some(stage) = largest else { return String::new() };
    let time = most.median(stage);
    format!(
        "with {} threads the largest part is \"{stage}\": {:.0} % of the step, {:.1} times as fast \
         as on one",
        most.threads,
        100.0 * time / whole.max(1e-9),
        runners[0].median(stage) / time.max(1e-9)
    )
}
