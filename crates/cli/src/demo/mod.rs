//! Bare `jostle`: a built-in moving world, the automatic choice, a short report, and a check of
//! the last step against an independent algorithm; then shapes in its boxes, and which touch.

mod shapes;

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use jostle::{Algorithm, Boxes, Workers};
use jostle_scenes::{SceneSpec, Sorted, pair_hash};

use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;
use crate::support::runner::Runner;
use crate::support::text::{grouped, milliseconds};
use crate::verify::difference::difference;
use crate::verify::oracle::{SAMPLE, check_sample};

const BOXES: usize = 100_000;
const FRAMES: usize = 120;
const SEED: u64 = 1;

/// The world stops after this time, so that the command always ends soon.
const TIME: Duration = Duration::from_secs(8);

/// Runs the command.
pub(crate) fn run() -> Result<(), Failure> {
    let workers = names::workers(0)?;
    let mut runner = Runner::new(Algorithm::Auto, &workers);
    let mut boxes = Boxes::new();
    let scene = SceneSpec::new("uniform", BOXES, SEED);
    let mut feed = Feed::scene(&scene, FRAMES)?;
    let mut tally = Tally::default();
    let progress = Progress::new(FRAMES, "uniform world");
    let start = Instant::now();
    while feed.advance(&mut boxes)?.is_some() {
        runner.step(&boxes)?;
        tally.add(&runner);
        progress.step();
        if tally.steps() == FRAMES || start.elapsed() > TIME || interrupt::requested() {
            break;
        }
        boxes.commit();
    }
    drop(progress);
    print_report(&runner, &tally)?;
    check(&runner, &boxes)?;
    if !interrupt::requested() {
        shapes::run(&scene, &workers)?;
    }
    if interrupt::requested() {
        return Err(Failure::Stopped(format!("after {} steps", tally.steps())));
    }
    let next = "next: `jostle pairs FILE.npy` for your own boxes, `jostle --help` for the rest";
    writeln!(stdout(), "{next}")?;
    Ok(())
}

#[derive(Default)]
struct Tally {
    first_ms: f64,
    times: Vec<f64>,
    began: u64,
    ended: u64,
}

impl Tally {
    fn add(&mut self, runner: &Runner) {
        let time = milliseconds(runner.time().step);
        if self.first_ms == 0.0 {
            self.first_ms = time;
        } else {
            self.times.push(time);
        }
        self.began += runner.events().began.len() as u64;
        self.ended += runner.events().ended.len() as u64;
    }

    fn steps(&self) -> usize {
        self.times.len() + 1
    }
}

fn print_report(runner: &Runner, tally: &Tally) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let later = if tally.times.is_empty() { vec![tally.first_ms] } else { tally.times.clone() };
    let times = Sorted::new(later);
    let (boxes, steps) = (grouped(BOXES as u64), tally.steps());
    let threads = runner.threads();
    writeln!(out, "world      uniform, {boxes} moving boxes, {steps} steps, {threads} threads")?;
    let (median, worst) = (times.median(), times.greatest());
    let first = tally.first_ms;
    writeln!(
        out,
        "step       {median:.2} ms median, {worst:.2} ms worst, {first:.2} ms the first"
    )?;
    let pairs = grouped(runner.pairs().len() as u64);
    writeln!(out, "pairs      {pairs} overlap in the last step")?;
    let (began, ended) = (grouped(tally.began), grouped(tally.ended));
    writeln!(out, "events     {began} began, {ended} ended")?;
    writeln!(out, "algorithm  auto chose {}", runner.reason().unwrap_or_default())?;
    Ok(())
}

/// A fast algorithm that is neither `auto` nor the one it chose, if there is one.
fn independent(runner: &Runner) -> Option<Algorithm> {
    let reason = runner.reason().unwrap_or_default();
    let chosen = reason.split(':').next().unwrap_or_default().to_owned();
    let slow = [Algorithm::Auto, Algorithm::BruteForce];
    let mut all = [Algorithm::SortSweep].into_iter().chain(Algorithm::ALL.iter().copied());
    all.find(|other| other.name() != chosen && !slow.contains(other))
}

fn check(runner: &Runner, boxes: &Boxes) -> Result<(), Failure> {
    let failed = |what: String| Failure::Check(format!("the last step: {what}"));
    let mut equal = String::new();
    if let Some(algorithm) = independent(runner) {
        let mut other = Runner::new(algorithm, &Workers::one());
        other.step(boxes)?;
        if runner.pairs() != other.pairs() {
            let wrong = difference(other.pairs(), runner.pairs());
            return Err(failed(wrong.describe(&format!("against {algorithm}"), boxes)));
        }
        equal = format!("equals that of {algorithm}, and ");
    }
    check_sample(boxes, 0, runner.pairs()).map_err(failed)?;
    let hash = pair_hash(runner.pairs().iter().map(|&pair| pair.into()));
    let mut out = stdout().lock();
    writeln!(out, "check      the last step {equal}agrees with {SAMPLE} boxes tested against all")?;
    writeln!(out, "sha256     {hash}")?;
    Ok(())
}
