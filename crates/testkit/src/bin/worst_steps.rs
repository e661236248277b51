//! `worst_steps`: what the worst step of each hostile history costs, as a multiple of beginning
//! anew on the same boxes. Times are noisy; what matters is that no ratio is large.
//!
//! ```text
//! cargo run --release -p jostle-testkit --bin worst_steps -- 20000 [algorithm [part of a history's name]]
//! ```

#![forbid(unsafe_code)]

use std::str::FromStr;
use std::time::Instant;

use jostle::{Algorithm, BroadPhase, PairBuffer, Workers};
use jostle_testkit::hostile::{HISTORIES, History};

const PERSISTENT: [Algorithm; 5] = [
    Algorithm::Sap,
    Algorithm::SimdSap,
    Algorithm::SegmentedSap,
    Algorithm::GridSap,
    Algorithm::GridSegmentedSap,
];

const STEPS: usize = 22;

/// Milliseconds of an update.
fn time(algorithm: &mut dyn BroadPhase, boxes: &jostle::Boxes, found: &mut PairBuffer) -> f64 {
    found.clear();
    let start = Instant::now();
    algorithm.update(boxes, found).expect("pairs fit");
    1e3 * start.elapsed().as_secs_f64()
}

/// The same history runs so often; each step counts with its shortest time.
const REPEATS: usize = 4;

/// One step: milliseconds of the step, of beginning anew, and of `grid-sweep` beginning anew; work
/// of the first two; stages.
#[derive(Clone, Default)]
struct Step {
    times: [f64; 3],
    work: [u64; 2],
    stages: String,
}

impl Step {
    fn ratio(&self, to: usize) -> f64 {
        // Below a twentieth of a millisecond the clock decides.
        if self.times[0] < 0.05 { 0.0 } else { self.times[0] / self.times[to] }
    }

    /// Keeps the shorter times.
    fn shorten(&mut self, other: Step) {
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

fn run(history: &History, algorithm: Algorithm, count: usize, found: &mut PairBuffer) -> Vec<Step> {
    let workers = Workers::one();
    let mut population = history.start(count);
    let mut running = algorithm.build(&workers);
    time(&mut *running, &population.boxes, found);
    let mut step = |number| {
        population.boxes.commit();
        history.step(&mut population, number);
        let boxes = &population.boxes;
        let mut step = Step::default();
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

fn measure(history: &History, algorithm: Algorithm, count: usize) -> Vec<Step> {
    let mut found = PairBuffer::new();
    let mut best = run(history, algorithm, count, &mut found);
    for _ in 1..REPEATS {
        for (step, again) in best.iter_mut().zip(run(history, algorithm, count, &mut found)) {
            step.shorten(again);
        }
    }
    best
}

/// An argument; if it is none, the program ends and says how it is called.
fn parsed<T: FromStr>(text: String) -> T {
    text.parse().unwrap_or_else(|_| {
        let usage = "worst_steps [NUMBER OF BOXES [ALGORITHM [PART OF A HISTORY'S NAME]]]";
        eprintln!("worst_steps: '{text}' is none; usage: {usage}");
        std::process::exit(2)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(20_000, parsed);
    let only: Option<Algorithm> = arguments.next().map(parsed);
    let part = arguments.next().unwrap_or_default();
    println!("worst step / beginning anew [/ grid-sweep anew]; step, ms, work / work anew, stages");
    for algorithm in PERSISTENT.into_iter().filter(|one| only.is_none_or(|only| *one == only)) {
        for history in HISTORIES.iter().filter(|history| history.name.contains(&part)) {
            let steps = measure(history, algorithm, count);
            let worst = |to: usize| {
                let all = steps.iter().map(|step| step.ratio(to)).enumerate();
                all.max_by(|one, other| one.1.total_cmp(&other.1)).expect("there are steps")
            };
            let (place, ratio) = worst(1);
            let Step { times, work: [work, anew], stages } = &steps[place];
            println!(
                "{algorithm:>18} {:<34} {ratio:>6.2} [{:>5.1}]  {:>2} {:>8.2} ms {work:>10} / {anew:<10} {stages}",
                history.name,
                worst(2).1,
                place + 1,
                times[0],
            );
        }
    }
}
