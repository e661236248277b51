//! `jostle-mpi bench`: times a job, counts its work and its messages, and compares both with one
//! process.

use clap::{Args, ValueEnum};
use jostle::Algorithm;
use jostle_mpi::{Communicator, Options, Ownership};
use serde_json::json;

use super::measure::{Frames, least, measure, median};
use super::{Failure, say, workers};

const ABOUT: &str = "\
--against N also runs one process with N threads on rank 0, frame by frame in turn with the ranks,
which sleep meanwhile; ratio is the job's median step over that process's. With --json, one object:
scene, n, ranks, threads, ownership, algorithm, frames, pairs, step_median_ms, step_min_ms,
against_threads, single_median_ms, single_min_ms, ratio, min_ratio, tests, single_tests,
tests_ratio, ghost_share, bytes_per_moving_box, messages_per_rank, most_messages, collectives
(per step), collective_bytes, imbalance (busiest over mean by tests), migrated, cuts.";

/// Times a job and counts its work and messages
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct BenchArgs {
    /// The scene
    #[arg(long, default_value = "uniform")]
    scene: String,
    /// Frames that count; some more go before
    #[arg(long, default_value = "10")]
    frames: usize,
    #[command(flatten)]
    job: JobArgs,
    /// Threads of each rank
    #[arg(long, default_value = "1")]
    threads: usize,
    /// Threads of the one process to compare with; 0 for none
    #[arg(long, default_value = "0")]
    against: usize,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// What boxes a job has and how its ranks share them.
#[derive(Args)]
pub(crate) struct JobArgs {
    /// Boxes
    #[arg(long, value_parser = jostle_scenes::parse_count, default_value = "100k")]
    pub n: usize,
    /// Seed of the scene
    #[arg(long, default_value = "1")]
    pub seed: u64,
    /// Parameters of the scene, as density=0.35
    #[arg(long, value_name = "KEY=VALUE")]
    pub param: Vec<String>,
    /// The algorithm of each rank's search, by name
    #[arg(long, value_parser = super::algorithm, default_value = "auto")]
    pub algorithm: Algorithm,
    /// Who may change a box
    #[arg(long, value_enum, default_value = "migrating")]
    pub ownership: Owner,
}

/// Who may change a box.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Owner {
    /// The rank in whose region it is
    Migrating,
    /// The rank that inserted it
    Fixed,
}

impl Owner {
    pub(crate) fn ownership(self) -> Ownership {
        match self {
            Owner::Migrating => Ownership::Migrating,
            Owner::Fixed => Ownership::Fixed,
        }
    }
}

pub(crate) fn run<C: Communicator>(args: &BenchArgs, comm: &C) -> Result<(), Failure> {
    let frames = Frames::new(&args.scene, args.job.n, args.job.seed, &args.job.param, args.frames)?;
    let options = Options {
        algorithm: args.job.algorithm,
        workers: workers(args.threads)?,
        ownership: args.job.ownership.ownership(),
        ..Options::default()
    };
    let sum = measure(comm, &frames, options, args.against)?;
    let (step, single) = (median(&sum.step_ms), median(&sum.single_ms));
    let ratio = (args.against > 0).then(|| step / single);
    let min_ratio = (args.against > 0).then(|| least(&sum.step_ms) / least(&sum.single_ms));
    if args.json {
        say(
            comm,
            json!({
                "scene": frames.name,
                "n": args.job.n,
                "ranks": sum.ranks,
                "threads": args.threads,
                "ownership": format!("{:?}", args.job.ownership).to_lowercase(),
                "algorithm": args.job.algorithm.name(),
                "frames": sum.frames,
                "pairs": sum.pairs,
                "step_median_ms": step,
                "step_min_ms": least(&sum.step_ms),
                "against_threads": args.against,
                "single_median_ms": single,
                "single_min_ms": least(&sum.single_ms),
                "ratio": ratio,
                "min_ratio": min_ratio,
                "tests": sum.tests,
                "single_tests": sum.single_tests,
                "tests_ratio": sum.tests_ratio(),
                "ghost_share": sum.ghost_share(),
                "bytes_per_moving_box": sum.bytes_per_moving_box(),
                "messages_per_rank": sum.messages_per_rank(),
                "most_messages": sum.most_messages,
                "collectives": sum.collectives as f64 / sum.frames.max(1) as f64,
                "collective_bytes": sum.collective_bytes as f64 / sum.frames.max(1) as f64,
                "imbalance": median(&sum.imbalance),
                "migrated": sum.migrated,
                "cuts": sum.cuts,
            }),
        );
        return Ok(());
    }
    let text = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    say(
        comm,
        format_args!(
            "{} with {} boxes on {} ranks: {step:.2} ms a step, {} times one process with {} \
             threads; {} times its tests",
            frames.name,
            args.job.n,
            sum.ranks,
            text(ratio),
            args.against,
            text(sum.tests_ratio()),
        ),
    );
    say(
        comm,
        format_args!(
            "ghosts {:.2} %, {:.1} bytes a moving box, {:.1} messages a rank (at most {}), \
             imbalance {:.3}, {} cuts",
            sum.ghost_share() * 100.0,
            sum.bytes_per_moving_box(),
            sum.messages_per_rank(),
            sum.most_messages,
            median(&sum.imbalance),
            sum.cuts,
        ),
    );
    Ok(())
}
