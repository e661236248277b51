//! What the worst step of each hostile history costs, as a multiple of a rebuild on the same boxes.
//! Times are noisy; what matters is that no ratio is large.

use std::io::Write;

use clap::Args;
use jostle::{Algorithm, BroadPhase, PairBuffer, Workers};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_testkit::hostile::{HISTORIES, History, PERSISTENT};

use crate::stopwatch::milliseconds;

/// Times the worst step of each hostile history against a rebuild on the same boxes
#[derive(Args, Debug)]
pub struct WorstStepsArgs {
    /// Number of boxes
    #[arg(long, value_parser = names::positive, default_value = "20k")]
    n: usize,
    /// Algorithms that follow changes; all of them if left out
    #[arg(long, value_parser = names::algorithm, value_delimiter = ',')]
    algorithm: Vec<Algorithm>,
    /// Only histories whose name contains this
    #[arg(long, default_value = "")]
    history: String,
    /// Runs of each history; each step counts with its shortest time
    #[arg(long, value_parser = names::positive, default_value = "4")]
    repeats: usize,
}

const STEPS: usize = 22;

/// Milliseconds of an update.
fn time(algorithm: &mut dyn BroadPhase, boxes: &jostle::Boxes, found: &mut PairBuffer) -> f64 {
    found.clear();
    milliseconds(|| {
        algorithm.update(boxes, found).expect("pairs fit");
    })
}

/// One step: milliseconds of the step, of a rebuild, and of a rebuild by `grid-sweep`; work of the
/// first two; stages.
#[derive(Clone, Default)]
struct TimedStep {
    times: [f64; 3],
    work: [u64; 2],
    stages: String,
}

impl TimedStep {
    fn ratio(&self, to: usize) -> f64 {
        // Below a twentieth of a millisecond the clock decides.
        if self.times[0] < 0.05 { 0.0 } else { self.times[0] / self.times[to] }
    }

    /// Keeps the shorter times.
    fn shorten(&mut self, other: TimedStep) {
        if other.times[0] < self.times[0] {
            self.stages = other.stages;
        }
        for (time, other) in self.times.iter_mut().zip(other.times) {
            *time = time.min(other);
        }
    }
}

fn stages(algorithm: &dyn BroadPhase) -> String {
    let stage = |(name, time): &(&str, std::time::Duration)| {
        format!("{name} {:.2}", 1e3 * time.as_secs_f64())
    };
    let stages: Vec<String> = algorithm.stats().stages.iter().map(stage).collect();
    stages.join(", ")
}

fn run_once(
    history: &History,
    algorithm: Algorithm,
    count: usize,
    found: &mut PairBuffer,
) -> Vec<TimedStep> {
    let workers = Workers::one();
    let mut population = history.start(count);
    let mut running = algorithm.build(&workers);
    time(&mut *running, &population.boxes, found);
    let mut step = |number| {
        population.boxes.commit();
        history.step(&mut population, number);
        let boxes = &population.boxes;
        let mut step = TimedStep::default();
        let [mut fresh, mut sweep] =
            [algorithm, Algorithm::GridSweep].map(|one| one.build(&workers));
        // Both find the buffer and the boxes equally warm.
        time(&mut *sweep, boxes, found);
        step.times[1] = time(&mut *fresh, boxes, found);
        step.times[2] = time(&mut *Algorithm::GridSweep.build(&workers), boxes, found);
        step.times[0] = time(&mut *running, boxes, found);
        step.work = [&*running, &*fresh].map(|one| one.stats().tests + one.stats().swaps);
        step.stages = stages(&*running);
        step
    };
    (1..=STEPS).map(&mut step).collect()
}

fn measure(history: &History, algorithm: Algorithm, args: &WorstStepsArgs) -> Vec<TimedStep> {
    let mut found = PairBuffer::new();
    let mut best = run_once(history, algorithm, args.n, &mut found);
    for _ in 1..args.repeats {
        for (step, again) in best.iter_mut().zip(run_once(history, algorithm, args.n, &mut found)) {
            step.shorten(again);
        }
    }
    best
}

/// Runs the subcommand.
pub fn run(args: &WorstStepsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let algorithms = if args.algorithm.is_empty() { &PERSISTENT[..] } else { &args.algorithm };
    let mut rows = Vec::new();
    for &algorithm in algorithms {
        for history in HISTORIES.iter().filter(|history| history.name.contains(&args.history)) {
            rows.push(row(history, algorithm, args));
        }
    }
    let header = [
        "algorithm",
        "history",
        "/ rebuild",
        "/ grid-sweep",
        "step",
        "ms",
        "work",
        "rebuild's",
        "stages, ms",
    ];
    write!(out, "{}", table(&header, &rows, &[0, 1, 8]))?;
    Ok(())
}

fn row(history: &History, algorithm: Algorithm, args: &WorstStepsArgs) -> Vec<String> {
    let steps = measure(history, algorithm, args);
    let worst = |to: usize| {
        let all = steps.iter().map(|step| step.ratio(to)).enumerate();
        all.max_by(|one, other| one.1.total_cmp(&other.1)).expect("there are steps")
    };
    let (place, ratio) = worst(1);
    let TimedStep { times, work: [work, rebuild], stages } = &steps[place];
    vec![
        algorithm.to_string(),
        history.name.to_owned(),
        format!("{ratio:.2}"),
        format!("{:.1}", worst(2).1),
        (place + 1).to_string(),
        format!("{:.2}", times[0]),
        work.to_string(),
        rebuild.to_string(),
        stages.clone(),
    ]
}
