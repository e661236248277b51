//! What each scene costs: building it, and one step to the next frame.

use std::io::Write;

use clap::Args;
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{Scene, Sorted};

use crate::stopwatch::milliseconds;

/// Times building each scene, and one step to its next frame
#[derive(Args, Debug)]
pub struct SceneStepsArgs {
    /// Number of boxes
    #[arg(long, value_parser = jostle_scenes::parse_count, default_value = "1m")]
    n: usize,
    /// Number of steps
    #[arg(long, value_parser = names::positive, default_value = "10")]
    steps: usize,
}

/// Runs the subcommand.
pub fn run(args: &SceneStepsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for info in Scene::list() {
        let mut built = None;
        let build = milliseconds(|| built = Some(Scene::new(info.name, args.n, 7, &[])));
        let mut scene = built.expect("it was called")?;
        let steps = Sorted::new((0..args.steps).map(|_| milliseconds(|| scene.advance())));
        let times = [build, steps.least(), steps.median()].map(|time| format!("{time:.2}"));
        rows.push([vec![info.name.to_owned()], times.to_vec()].concat());
    }
    writeln!(out, "{} boxes, {} steps", args.n, args.steps)?;
    write!(out, "{}", table(&["scene", "build ms", "min ms", "median ms"], &rows, &[0]))?;
    Ok(())
}
