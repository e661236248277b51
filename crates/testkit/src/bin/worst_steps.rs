//! `worst_steps`: what the worst step of each hostile history costs, as a multiple of beginning
//! anew on the same boxes. Times are noisy; what matters is that no ratio is large.
//!
//! ```text
//! cargo run --release -p jostle-testkit --bin worst_steps -- 20000 [algorithm [part of a history's name]]
//! ```

#![forbid(unsafe_code)]

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

struct Worst {
    ratio: f64,
    to_finder: f64,
    step: usize,
    ms: f64,
    work: u64,
    fresh_work: u64,
    stages: String,
}

fn measure(history: &History, algorithm: Algorithm, count: usize) -> Worst {
    let workers = Workers::one();
    let mut population = history.start(count);
    let mut running = algorithm.build(&workers);
    let (mut found, mut other) = (PairBuffer::new(), PairBuffer::new());
    let mut worst = Worst {
        ratio: 0.0,
        to_finder: 0.0,
        step: 0,
        ms: 0.0,
        work: 0,
        fresh_work: 0,
        stages: String::new(),
    };
    time(&mut *running, &population.boxes, &mut found);
    for step in 1..=STEPS {
        population.boxes.commit();
        history.step(&mut population, step);
        let ms = time(&mut *running, &population.boxes, &mut found);
        let mut fresh = algorithm.build(&workers);
        let mut sweep = Algorithm::GridSweep.build(&workers);
        let anew = time(&mut *fresh, &population.boxes, &mut other);
        let anew = anew.min(time(&mut *algorithm.build(&workers), &population.boxes, &mut other));
        let swept = time(&mut *sweep, &population.boxes, &mut other);
        let to_finder = worst.to_finder.max(ms / swept);
        // Below a tenth of a millisecond the clock decides.
        if ms > 0.1 && ms / anew > worst.ratio {
            let (stats, fresh) = (running.stats(), fresh.stats());
            let stage = |(name, time): &(&str, std::time::Duration)| {
                format!("{name} {:.1}", 1e3 * time.as_secs_f64())
            };
            let stages: Vec<String> = stats.stages.iter().map(stage).collect();
            worst = Worst {
                ratio: ms / anew,
                to_finder,
                step,
                ms,
                work: stats.tests + stats.swaps,
                fresh_work: fresh.tests + fresh.swaps,
                stages: stages.join(", "),
            };
        }
        worst.to_finder = to_finder;
    }
    worst
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let count = arguments.next().map_or(20_000, |text| text.parse().expect("a number of boxes"));
    let only: Option<Algorithm> = arguments.next().map(|name| name.parse().expect("an algorithm"));
    let part = arguments.next().unwrap_or_default();
    println!("worst step / beginning anew [/ grid-sweep anew]; step, ms, work / work anew, stages");
    for algorithm in PERSISTENT.into_iter().filter(|one| only.is_none_or(|only| *one == only)) {
        for history in HISTORIES.iter().filter(|history| history.name.contains(&part)) {
            let worst = measure(history, algorithm, count);
            println!(
                "{algorithm:>18} {:<34} {:>6.2} [{:>5.1}]  {:>2} {:>8.2} ms {:>11} / {:<11} {}",
                history.name,
                worst.ratio,
                worst.to_finder,
                worst.step,
                worst.ms,
                worst.work,
                worst.fresh_work,
                worst.stages
            );
        }
    }
}
