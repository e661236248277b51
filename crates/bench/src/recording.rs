//! What recording costs a step: the same frames through a detector that is recorded and one that
//! is not, interleaved; `set_all` and `step` together, because both are told to the recorder.

use std::io::Write;

use clap::Args;
use jostle::{Algorithm, Detector, Filter, Recorder};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::{bytes, table};
use jostle_scenes::{Scene, Sorted};

use crate::stopwatch::milliseconds;

/// Compares steps that are recorded with steps that are not
#[derive(Args, Debug)]
pub struct RecordingArgs {
    /// Number of boxes
    #[arg(long, value_parser = names::positive, default_value = "100k")]
    n: usize,
    /// Number of steps
    #[arg(long, value_parser = names::positive, default_value = "60")]
    steps: usize,
}

/// Runs the subcommand.
pub fn run(args: &RecordingArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for name in ["uniform", "tenth", "still"] {
        rows.push(measure(name, args)?);
    }
    let header = ["scene", "plain ms", "recorded ms", "ratio", "a step"];
    write!(out, "{}", table(&header, &rows, &[0]))?;
    Ok(())
}

fn measure(name: &str, args: &RecordingArgs) -> Result<Vec<String>, Failure> {
    let mut scene = Scene::new(name, args.n, 1, &[])?;
    let file = tempfile::NamedTempFile::new()?;
    let mut detectors = [0; 2].map(|_| Detector::new(Algorithm::Auto));
    for detector in &mut detectors {
        detector.boxes_mut().insert_all(scene.boxes(), Filter::ALL)?;
        detector.step()?;
    }
    detectors[1].record(Recorder::in_background(file.reopen()?)?);
    let mut times = [Vec::new(), Vec::new()];
    let before = detectors[1].recorder().map_or(0, Recorder::bytes);
    for step in 0..args.steps {
        scene.advance();
        // Whoever is first finds the caches colder.
        for which in [step % 2, (step + 1) % 2] {
            let detector = &mut detectors[which];
            times[which].push(milliseconds(|| {
                detector.boxes_mut().set_all(scene.boxes()).expect("scenes are valid");
                detector.step().expect("pairs fit");
            }));
        }
    }
    let recorder = detectors[1].stop_recording().expect("it is recorded");
    let size = recorder.bytes() - before;
    recorder.finish().map_err(Failure::input)?;
    let [plain, recorded] = times.map(|times| Sorted::new(times).median());
    Ok(vec![
        name.to_owned(),
        format!("{plain:.3}"),
        format!("{recorded:.3}"),
        format!("{:.2}", recorded / plain),
        bytes(size as usize / args.steps),
    ])
}
