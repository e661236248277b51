//! `jostle-mpi plan`: what a job larger than this machine would send, counted and predicted.

use clap::Args;
use jostle_mpi::{Model, UniformWorld, count_step};

use super::Failure;

/// Counts one step of a large uniform job on the real decomposition, next to the cost model
#[derive(Args)]
pub(crate) struct PlanArgs {
    /// Boxes of the job; each takes 16 bytes here
    #[arg(long, value_parser = jostle_scenes::parse_count, default_value = "1m")]
    n: usize,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',', default_value = "64,512,4096")]
    ranks: Vec<usize>,
    /// Volume of the boxes over that of the world
    #[arg(long, default_value = "0.35")]
    density: f64,
    /// Largest way of a box in a step along an axis, over its width
    #[arg(long, default_value = "0.2")]
    speed: f64,
    /// Threads to count with
    #[arg(long, default_value = "2")]
    threads: usize,
    /// Prints only the model's numbers
    #[arg(long)]
    model_only: bool,
}

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    if !positive(args.density) || !positive(args.speed) || args.n == 0 {
        return Err(Failure::input("give positive numbers"));
    }
    if args.ranks.contains(&0) || args.threads == 0 {
        return Err(Failure::input("give at least one rank and one thread"));
    }
    let world = UniformWorld { boxes: args.n as u64, density: args.density, speed: args.speed };
    println!(
        "| boxes | ranks | boxes a rank | ghosts | model | bytes a box | model | messages a rank \
         | model | most | imbalance by boxes | sent by the busiest rank |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for &ranks in &args.ranks {
        let model = Model { world, ranks }.step();
        let counted = if args.model_only { model } else { count_step(world, ranks, args.threads) };
        println!(
            "| {} | {ranks} | {} | {:.3} % | {:.3} % | {:.3} | {:.3} | {:.1} | {:.1} | {:.0} | \
             {:.3} | {:.0} kB |",
            args.n,
            args.n / ranks,
            counted.ghosts * 100.0,
            model.ghosts * 100.0,
            counted.bytes_per_box,
            model.bytes_per_box,
            counted.messages,
            model.messages,
            counted.most_messages,
            counted.imbalance,
            counted.most_bytes / 1e3,
        );
    }
    Ok(())
}
