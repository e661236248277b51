//! What one algorithm holds, and what a step without changes costs it, at any size. One algorithm
//! in one process, because the peak of the process is a part of the answer.

use std::io::Write;

use clap::Args;
use jostle::{Algorithm, BroadPhase, PairBuffer, Workers};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_testkit::hostile::{CALM, Population};

use crate::stopwatch::milliseconds;

/// Shows the memory that one algorithm holds, and the time of calm steps
#[derive(Args, Debug)]
pub struct MemoryArgs {
    /// The algorithm
    #[arg(value_parser = names::algorithm)]
    algorithm: Algorithm,
    /// Number of boxes
    #[arg(long, value_parser = names::positive, default_value = "1m")]
    n: usize,
}

/// Enough for memory to be given back that is needed at the beginning alone.
const STEPS: usize = 41;

/// What the steps of the calm history do, in turn, after the first.
const NAMES: [&str; 5] = ["begin", "all creep", "a tenth moves", "a hundredth replaced", "nothing"];

/// A line of the process's status in bytes, if the system tells.
fn status(line: &str) -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let found = text.lines().find(|one| one.starts_with(line))?;
    Some(found.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

fn update(algorithm: &mut dyn BroadPhase, population: &Population, found: &mut PairBuffer) -> f64 {
    found.clear();
    milliseconds(|| {
        algorithm.update(&population.boxes, found).expect("pairs fit");
    })
}

/// Runs the subcommand.
pub fn run(args: &MemoryArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut population = CALM.start(args.n);
    let mut phase = args.algorithm.build(&Workers::one());
    let (mut found, before) = (PairBuffer::new(), status("VmRSS").unwrap_or(0));
    let per_box = |bytes: usize| format!("{:.1}", bytes as f64 / args.n as f64);
    let mut rows = Vec::new();
    for step in 0..STEPS {
        if step > 0 {
            CALM.step(&mut population, step);
        }
        let time = update(&mut *phase, &population, &mut found);
        population.boxes.commit();
        if (9..STEPS - 4).contains(&step) {
            continue;
        }
        let (stats, peak) = (phase.stats(), status("VmHWM").unwrap_or(0).saturating_sub(before));
        let rebuilt = stats.count("rebuilt").unwrap_or(1.0) != 0.0;
        rows.push(vec![
            NAMES[if step == 0 { 0 } else { 1 + (step - 1) % 4 }].to_owned(),
            format!("{time:.4}"),
            per_box(stats.bytes),
            per_box(peak),
            if rebuilt { "rebuilt" } else { "followed" }.to_owned(),
        ]);
    }
    writeln!(out, "{}, {} boxes; memory in bytes a box", args.algorithm, args.n)?;
    write!(out, "{}", table(&["step", "ms", "held", "peak", ""], &rows, &[0, 4]))?;
    Ok(())
}
