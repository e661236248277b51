//! `jostle-mpi simulate`: whole jobs on virtual ranks, their messages counted, as a table.

use clap::Args;
use jostle::Algorithm;
use jostle_mpi::{Model, Options, run_virtual};

use super::Failure;
use super::bench::Owner;
use super::measure::{Frames, measure, median};

/// Runs jobs of several sizes on virtual ranks and prints a table of what they count
#[derive(Args)]
pub(crate) struct SimulateArgs {
    /// The scenes
    #[arg(long, value_delimiter = ',', default_value = "uniform")]
    scene: Vec<String>,
    /// Boxes
    #[arg(long, value_parser = super::count, default_value = "100k")]
    n: usize,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "2,4,8,16")]
    ranks: Vec<usize>,
    /// Frames that count; some more go before
    #[arg(long, default_value = "3")]
    frames: usize,
    /// Seed of the scenes
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Parameters of the scenes, as density=0.35
    #[arg(long, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// The algorithm of each rank's search, by name
    #[arg(long, value_parser = super::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Who may change a box
    #[arg(long, value_enum, default_value = "migrating")]
    ownership: Owner,
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
        let frames = Frames::new(scene, args.n, args.seed, &args.param, args.frames)?;
        for &ranks in &args.ranks {
            let done = run_virtual(ranks, |comm| {
                let options = Options {
                    algorithm: args.algorithm,
                    ownership: args.ownership.ownership(),
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
                args.n,
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
