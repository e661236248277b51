//! `jostle-mpi simulate`: whole jobs on virtual ranks, their messages counted, as a table.

use clap::Args;
use jostle_mpi::{Model, Options, run_virtual};

use super::Failure;
use super::bench::JobArgs;
use super::measure::{Frames, measure, median};

/// Runs jobs of several sizes on virtual ranks and prints a table of what they count
#[derive(Args)]
pub(crate) struct SimulateArgs {
    /// The scenes
    #[arg(long, value_delimiter = ',', default_value = "uniform")]
    scene: Vec<String>,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,16")]
    ranks: Vec<usize>,
    /// Frames that count; some more go before
    #[arg(long, default_value = "3")]
    frames: usize,
    #[command(flatten)]
    job: JobArgs,
}

pub(crate) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    if args.ranks.contains(&0) {
        return Err(Failure::input("give at least one rank"));
    }
    println!(
        "| scene | boxes | ranks | ghosts | model | bytes a moving box | model | messages a rank \
         | model | most | imbalance by tests | tests over one process | migrated a step |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for scene in &args.scene {
        let frames = Frames::new(scene, args.job.n, args.job.seed, &args.job.param, args.frames)?;
        for &ranks in &args.ranks {
            let done = run_virtual(ranks, |comm| {
                let options = Options {
                    algorithm: args.job.algorithm,
                    ownership: args.job.ownership.ownership(),
                    ..Options::default()
                };
                measure(comm, &frames, options, 1)
            });
            let sum = done.into_iter().next().expect("there is a rank 0")?;
            let model = Model { world: frames.as_uniform(), ranks }.step();
            println!(
                "| {} | {} | {ranks} | {:.2} % | {:.2} % | {:.2} | {:.2} | {:.1} | {:.1} | {} | \
                 {:.3} | {:.3} | {:.0} |",
                frames.name,
                args.job.n,
                sum.ghost_share() * 100.0,
                model.ghosts * 100.0,
                sum.bytes_per_moving_box(),
                model.bytes_per_box,
                sum.messages_per_rank(),
                model.messages,
                sum.most_messages,
                median(&sum.imbalance),
                sum.tests_ratio().unwrap_or(f64::NAN),
                sum.migrated as f64 / sum.frames.max(1) as f64,
            );
        }
    }
    Ok(())
}
