//! The command line, and on which ranks a command runs.

mod bench;
mod feed;
mod measure;
mod pairs;
mod plan;
mod simulate;
mod verify;

use std::fmt::Display;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use jostle_mpi::{Communicator, run_virtual};

/// Overlapping pairs of boxes that are spread over the ranks of an MPI job
#[derive(Parser)]
#[command(name = "jostle-mpi", version, after_help = ABOUT)]
struct Cli {
    /// Runs this many ranks as threads of one process instead of MPI's
    #[arg(long, value_name = "RANKS", global = true)]
    r#virtual: Option<usize>,
    #[command(subcommand)]
    command: Command,
}

const ABOUT: &str = "\
Every rank runs this program: start it with mpirun. Rank 0 prints.

Examples:
  mpirun -n 4 jostle-mpi pairs boxes.npy --json
  mpirun -n 4 jostle-mpi verify --histories 20
  mpirun -n 2 jostle-mpi bench --n 1m --param density=0.35 --against 2
  jostle-mpi --virtual 16 verify --scene city --n 20000 --frames 5
  jostle-mpi simulate --n 1m --ranks 2,16,64
  jostle-mpi plan --n 100m --ranks 64,512,4096

Exit codes: 0 done, 1 a check failed, 2 bad usage or bad input.";

#[derive(Subcommand)]
enum Command {
    Pairs(pairs::PairsArgs),
    Verify(verify::VerifyArgs),
    Bench(bench::BenchArgs),
    Simulate(simulate::SimulateArgs),
    Plan(plan::PlanArgs),
}

/// Why a command ends early: the same on all ranks.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// A check found a difference: exit code 1.
    Check(String),
    /// Bad usage or bad input: exit code 2.
    Input(String),
}

impl Failure {
    pub(crate) fn input(message: impl Display) -> Failure {
        Failure::Input(message.to_string())
    }

    fn report(&self) -> u8 {
        let (kind, message, code) = match self {
            Failure::Check(message) => ("check failed", message, 1),
            Failure::Input(message) => ("error", message, 2),
        };
        eprintln!("{kind}: {message}");
        code
    }
}

impl From<jostle_mpi::Error> for Failure {
    fn from(error: jostle_mpi::Error) -> Failure {
        Failure::input(error)
    }
}

/// Parses the arguments and runs the command on every rank.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    // These have virtual ranks of their own.
    let alone = match &cli.command {
        Command::Simulate(args) => Some(simulate::run(args)),
        Command::Plan(args) => Some(plan::run(args)),
        _ => None,
    };
    if let Some(done) = alone {
        return ExitCode::from(done.map_or_else(|failure| failure.report(), |()| 0));
    }
    match cli.r#virtual {
        Some(0) => ExitCode::from(Failure::input("give at least one rank").report()),
        Some(ranks) => {
            let done = run_virtual(ranks, |comm| run(&cli.command, comm));
            ExitCode::from(done.into_iter().next().expect("there is a rank 0"))
        }
        None => run_on_mpi(&cli.command),
    }
}

#[cfg(feature = "mpi")]
fn run_on_mpi(command: &Command) -> ExitCode {
    let Some((_universe, ranks)) = jostle_mpi::start() else {
        return ExitCode::from(Failure::input("MPI cannot be started").report());
    };
    ExitCode::from(run(command, &ranks))
}

#[cfg(not(feature = "mpi"))]
fn run_on_mpi(_command: &Command) -> ExitCode {
    let message = "this program was built without MPI; build it with --features mpi, or give \
                   --virtual RANKS";
    ExitCode::from(Failure::input(message).report())
}

/// Runs the command on one rank; rank 0 says what went wrong.
fn run<C: Communicator>(command: &Command, comm: &C) -> u8 {
    let done = match command {
        Command::Pairs(args) => pairs::run(args, comm),
        Command::Verify(args) => verify::run(args, comm),
        Command::Bench(args) => bench::run(args, comm),
        Command::Simulate(_) | Command::Plan(_) => unreachable!("they run on no ranks"),
    };
    match done {
        Ok(()) => 0,
        Err(failure) if comm.rank() == 0 => failure.report(),
        Err(Failure::Check(_)) => 1,
        Err(Failure::Input(_)) => 2,
    }
}

/// Prints a line on rank 0. A reader that went away is no reason for the ranks to part ways.
pub(crate) fn say(comm: &impl Communicator, line: impl Display) {
    if comm.rank() == 0 {
        use std::io::Write;
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

/// An algorithm by name.
pub(crate) fn algorithm(name: &str) -> Result<jostle::Algorithm, String> {
    name.parse().map_err(|error: jostle::UnknownAlgorithm| error.to_string())
}

/// Threads of a rank.
pub(crate) fn workers(threads: usize) -> Result<jostle::Workers, Failure> {
    jostle::Workers::new(threads).map_err(Failure::input)
}
