//! Stopwatches. Everything that measures Jostle is a subcommand of this one program, except what
//! users run themselves: `jostle bench` and `jostle reproduce`.
//!
//! | subcommand | answers |
//! |---|---|
//! | [`rivals`] | how fast are other libraries on the same frames? |
//! | [`narrow`] | the narrow phase against parry3d-f64, and with its caches against without |
//! | [`core`] | what do the tracker and the boxes cost, against the plainest way to do the same? |
//! | [`structures`] | the bit tree and the radix sort against the standard library |
//! | [`support_search`] | the ways to search a hull's support point against each other |
//! | [`scene_steps`] | what does each scene cost to build and to advance? |
//! | [`world_steps`] | how does the narrow phase of a world scale with threads? |
//! | [`world_rivals`] | whole steps of moving worlds next to rapier3d's collision pipeline |
//! | [`worst_steps`] | what does the worst step of a hostile history cost, against a rebuild? |
//! | [`mesh_rivals`] | questions about triangle meshes next to parry3d-f64 |
//! | [`decompose_rivals`] | convex decompositions next to parry3d-f64's V-HACD |
//! | [`recording`] | what does it cost a step to be recorded? |
//! | [`memory`] | how much memory does one algorithm hold, and what does a quiet step cost? |
//!
//! Every subcommand takes its sizes as options, so that the tests run all of them, tiny.

#![forbid(unsafe_code)]

use std::io::Write;

use clap::{Parser, Subcommand};
use jostle_cli::Failure;

pub mod core;
pub mod decompose_rivals;
pub mod memory;
pub mod mesh_contest;
pub mod mesh_rivals;
pub mod narrow;
pub mod recording;
pub mod rivals;
pub mod scene_steps;
pub mod stopwatch;
pub mod structures;
pub mod support_search;
pub mod world_rivals;
pub mod world_steps;
pub mod worst_steps;

/// Measures Jostle against other libraries and against itself
///
/// Times mean little on their own: compare within one run, and look at ratios.
#[derive(Parser, Debug)]
#[command(name = "jostle-bench", version)]
pub struct Program {
    #[command(subcommand)]
    stopwatch: Stopwatch,
}

#[derive(Subcommand, Debug)]
enum Stopwatch {
    Rivals(rivals::RivalsArgs),
    Narrow(narrow::NarrowArgs),
    Core(core::CoreArgs),
    DecomposeRivals(decompose_rivals::DecomposeRivalsArgs),
    Structures(structures::StructuresArgs),
    SupportSearch(support_search::SupportSearchArgs),
    SceneSteps(scene_steps::SceneStepsArgs),
    WorldRivals(world_rivals::WorldRivalsArgs),
    WorldSteps(world_steps::WorldStepsArgs),
    WorstSteps(worst_steps::WorstStepsArgs),
    Memory(memory::MemoryArgs),
    MeshRivals(mesh_rivals::MeshRivalsArgs),
    Recording(recording::RecordingArgs),
}

/// Runs one stopwatch and writes its table.
pub fn run(program: &Program, out: &mut dyn Write) -> Result<(), Failure> {
    match &program.stopwatch {
        Stopwatch::Rivals(args) => rivals::run(args, out),
        Stopwatch::Narrow(args) => narrow::run(args, out),
        Stopwatch::Core(args) => core::run(args, out),
        Stopwatch::DecomposeRivals(args) => decompose_rivals::run(args, out),
        Stopwatch::Structures(args) => structures::run(args, out),
        Stopwatch::SupportSearch(args) => support_search::run(args, out),
        Stopwatch::SceneSteps(args) => scene_steps::run(args, out),
        Stopwatch::WorldRivals(args) => world_rivals::run(args, out),
        Stopwatch::WorldSteps(args) => world_steps::run(args, out),
        Stopwatch::WorstSteps(args) => worst_steps::run(args, out),
        Stopwatch::Memory(args) => memory::run(args, out),
        Stopwatch::MeshRivals(args) => mesh_rivals::run(args, out),
        Stopwatch::Recording(args) => recording::run(args, out),
    }
}
