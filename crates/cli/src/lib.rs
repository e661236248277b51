//! The `jostle` command, as a library so that its parts can be tested and used alone.
//!
//! One file or folder per subcommand; [`support`] holds what they share. Most of them are
//!
//! ```text
//! file or scene ─► Feed ─► Boxes ─► Runner (one broad phase and its tracker), any number of them
//! ```

#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub mod bench;
pub mod reproduce;
pub mod support;
pub mod verify;

mod completions;
mod contacts;
mod decompose;
mod demo;
mod devices;
mod explain;
mod mesh;
mod pairs;
mod record;
mod replay;
mod scene;
#[cfg(feature = "view")]
mod view;

pub use support::failure::Failure;

/// Which of many moving boxes overlap, exactly, frame after frame.
#[derive(Parser)]
#[command(name = "jostle", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Without a subcommand, jostle runs a built-in moving world and checks its last step.

Examples:
  jostle
  jostle scene uniform --n 100000 --frames 60 --seed 7 -o world.npy
  jostle pairs world.npy --json
  jostle verify --scene churn --n 2000 --frames 20
  jostle bench --scene uniform,city --n 1000,10000 --plot speed.svg
  jostle contacts queries.jsonl
  jostle mesh bunny.ply
  jostle decompose chair.obj -o chair_convex.obj

Exit code: 0 done, 1 a check failed, 2 bad usage or bad input, 130 stopped.";

#[derive(Subcommand)]
enum Command {
    Pairs(pairs::PairsArgs),
    Scene(scene::SceneArgs),
    Verify(verify::command::VerifyArgs),
    Bench(Box<bench::command::BenchArgs>),
    Reproduce(reproduce::command::ReproduceArgs),
    Contacts(contacts::ContactsArgs),
    Mesh(mesh::MeshArgs),
    Decompose(decompose::DecomposeArgs),
    Explain(explain::ExplainArgs),
    Record(record::RecordArgs),
    Replay(replay::ReplayArgs),
    #[cfg(feature = "view")]
    View(view::ViewArgs),
    Devices(devices::DevicesArgs),
    Completions(completions::CompletionsArgs),
}

/// Reads the command line and does what it says.
pub fn run() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os()))
}

/// Does what the arguments say, of which the first is the name of the program, and returns the
/// exit code.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(message) => {
            // Help goes to stdout and is no error. If nobody reads it, there is nobody to tell.
            let _ = message.print();
            return message.exit_code() as u8;
        }
    };
    support::interrupt::install();
    match dispatch(cli.command) {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

fn dispatch(command: Option<Command>) -> Result<(), Failure> {
    match command {
        None => demo::run(),
        Some(Command::Pairs(args)) => pairs::run(&args),
        Some(Command::Scene(args)) => scene::run(&args),
        Some(Command::Verify(args)) => verify::command::run(&args),
        Some(Command::Bench(args)) => bench::command::run(&args),
        Some(Command::Reproduce(args)) => reproduce::command::run(&args),
        Some(Command::Contacts(args)) => contacts::run(&args),
        Some(Command::Mesh(args)) => mesh::run(&args),
        Some(Command::Decompose(args)) => decompose::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Record(args)) => record::run(&args),
        Some(Command::Replay(args)) => replay::run(&args),
        #[cfg(feature = "view")]
        Some(Command::View(args)) => view::run(&args),
        Some(Command::Devices(args)) => devices::run(&args),
        Some(Command::Completions(args)) => completions::run(&args, &mut Cli::command()),
    }
}
