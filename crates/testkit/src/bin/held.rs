//! `held`: what one algorithm holds and what a step without changes costs it, at any size. One
//! algorithm in one process, because the peak of the process is a part of the answer.
//!
//! ```text
//! cargo run --release -p jostle-testkit --bin held -- sap 1000000
//! ```

#![forbid(unsafe_code)]

use std::str::FromStr;
use std::time::Instant;

use jostle::{Algorithm, BroadPhase, PairBuffer, Workers};
use jostle_testkit::hostile::{CALM, Population};

/// Enough for memory to be given back that is needed at the beginning alone.
const STEPS: usize = 41;

/// A line of the process's status in bytes, if the system tells.
fn status(line: &str) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = text.lines().find(|one| one.starts_with(line))?;
    Some(found.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn update(algorithm: &mut dyn BroadPhase, population: &Population, found: &mut PairBuffer) -> f64 {
    found.clear();
    let start = Instant::now();
    algorithm.update(&population.boxes, found).expect("pairs fit");
    1e3 * start.elapsed().as_secs_f64()
}

/// An argument, or what stands for one that is missing; otherwise the program ends and says how it
/// is called.
fn parsed<T: FromStr>(text: Option<String>, missing: Option<T>) -> T {
    let given = text.as_deref().map_or(missing, |text| text.parse().ok());
    given.unwrap_or_else(|| {
        let text = text.unwrap_or_default();
        eprintln!("held: '{text}' is none; usage: held ALGORITHM [NUMBER OF BOXES]");
        std::process::exit(2)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let algorithm: Algorithm = parsed(arguments.next(), None);
    let count: usize = parsed(arguments.next(), Some(1_000_000));
    let mut population = CALM.start(count);
    let mut phase = algorithm.build(&Workers::one());
    let (mut found, before) = (PairBuffer::new(), status("VmRSS").unwrap_or(0));
    let per_box = |bytes: usize| bytes as f64 / count as f64;
    println!("{algorithm}, {count} boxes, bytes a box");
    for step in 0..STEPS {
        if step > 0 {
            CALM.step(&mut population, step);
        }
        let ms = update(&mut *phase, &population, &mut found);
        population.boxes.commit();
        if (9..STEPS - 4).contains(&step) {
            continue;
        }
        let (stats, peak) = (phase.stats(), status("VmHWM").unwrap_or(0).saturating_sub(before));
        let rebuilt = stats.count("rebuilt").unwrap_or(1.0) != 0.0;
        println!(
            "  {:<22} {ms:>9.4} ms  held {:>6.1}  peak {:>6.1}{}",
            ["begin", "all creep", "a tenth moves", "a hundredth replaced", "nothing"]
                [if step == 0 { 0 } else { 1 + (step - 1) % 4 }],
            per_box(stats.bytes),
            per_box(peak),
            if rebuilt { "  rebuilt" } else { "" },
        );
    }
}
