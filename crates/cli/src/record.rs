//! `jostle record`: runs a scene or a file and writes a recording of every call.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::{Algorithm, Detector, Recorder};

use crate::support::failure::Failure;
use crate::support::feed::STANDARD;
use crate::support::files;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;
use crate::support::source::SourceArgs;
use crate::support::text::{bytes, count_of};

/// Frames of a scene unless said otherwise.
const FRAMES: usize = 60;

const EXAMPLES: &str = "\
A recording holds every call that changed the boxes and a hash of what each step found; `jostle
replay` does it all again with any algorithm. Programs record themselves with jostle::Recorder.
The file grows while it is written, and can be read up to the last whole step if this is stopped.

Examples:
  jostle record --scene churn --n 5000 --frames 100 -o churn.rec
  jostle record boxes.npy --algorithm bvh -o boxes.rec
  jostle replay churn.rec --algorithm all --threads 1,2";

/// Runs a scene or a file of boxes and records every call and the hash of every step
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The algorithm, by name
    #[arg(long, value_parser = names::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Number of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, default_value = "0")]
    threads: usize,
    /// The recording
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
pub(crate) fn run(args: &RecordArgs) -> Result<(), Failure> {
    if args.output == Path::new(STANDARD) {
        return Err(Failure::input("-: give a file name for the recording"));
    }
    let inputs: Vec<&Path> = args.source.input.iter().map(AsRef::as_ref).collect();
    files::apart(&args.output, &inputs)?;
    let mut feed = args.source.open(FRAMES)?;
    let mut detector = Detector::with_workers(args.algorithm, names::workers(args.threads)?);
    let unwritable = |error: &dyn std::fmt::Display| Failure::unwritable(&args.output, error);
    let recorder = Recorder::create(&args.output).map_err(|error| unwritable(&error))?;
    // Nobody waits for these steps, so none is lost to a slow disk.
    detector.record(recorder.with_patience(None));
    let progress = Progress::new(feed.frames(), &format!("record {}", feed.name()));
    while feed.advance(detector.boxes_mut())?.is_some() {
        detector.step()?;
        progress.step();
        let failed = detector.recorder().is_some_and(|recorder| recorder.error().is_some());
        if failed || interrupt::requested() {
            break;
        }
    }
    drop(progress);
    let boxes = count_of(detector.boxes().len() as u64, "box", "boxes");
    let Some(recorder) = detector.stop_recording() else { return Ok(()) };
    let steps = recorder.steps();
    let size = recorder.finish().map_err(|error| unwritable(&error))?;
    let told = count_of(steps, "step", "steps");
    let told = format!("{}: {told} of {boxes}, {}", args.output.display(), bytes(size as usize));
    if (steps as usize) < feed.frames() {
        return Err(Failure::Stopped(format!("{told}, of {} steps wanted", feed.frames())));
    }
    writeln!(stdout(), "{told}")?;
    Ok(())
}
