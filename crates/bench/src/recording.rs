//! What recording costs a step: the same frames through a detector that is recorded and one that
//! is not, interleaved; `set_all` and `step` together, because both are told to the recorder. With
//! `--only` one of the two runs alone, so that `valgrind --tool=callgrind --separate-threads=yes`
//! can count the instructions of either.

use std::io::Write;

use clap::{Args, ValueEnum};
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
    /// Steps one of the two alone, for a count of instructions
    #[arg(long)]
    only: Option<Which>,
}

/// The two that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Plain,
    Recorded,
}

/// What is recorded: scenes and their parameters.
const SCENES: [(&str, &[(&str, f64)]); 4] = [
    ("uniform", &[("density", 0.05)]),
    ("uniform", &[("density", 0.35)]),
    ("tenth", &[]),
    ("still", &[]),
];

/// Runs the subcommand.
pub fn run(args: &RecordingArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (name, params) in SCENES {
        rows.push(measure(name, params, args)?);
    }
    let header = ["scene", "plain ms", "recorded ms", "ratio of minima", "of medians", "a step"];
    write!(out, "{}", table(&header, &rows, &[0]))?;
    Ok(())
}

fn measure(
    name: &str,
    params: &[(&str, f64)],
    args: &RecordingArgs,
) -> Result<Vec<String>, Failure> {
    let mut scene = Scene::new(name, args.n, 1, params)?;
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
            let this = [Which::Plain, Which::Recorded][which];
            if args.only.is_some_and(|only| only != this) {
                continue;
            }
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
    let named = params.iter().map(|(one, value)| format!(" {one}={value}"));
    let mut row = vec![format!("{name}{}", named.collect::<String>())];
    row.extend(compared(times));
    row.push(bytes(size as usize / args.steps));
    Ok(row)
}

/// Medians and the ratios; a dash for what did not run.
fn compared(times: [Vec<f64>; 2]) -> Vec<String> {
    let told = |number: Option<f64>, digits| {
        number.map_or("-".into(), |number| format!("{number:.digits$}"))
    };
    let sorted = times.map(|times| (!times.is_empty()).then(|| Sorted::new(times)));
    let [plain, recorded] = &sorted;
    let ratio = |of: fn(&Sorted) -> f64| Some(of(recorded.as_ref()?) / of(plain.as_ref()?));
    vec![
        told(plain.as_ref().map(Sorted::median), 3),
        told(recorded.as_ref().map(Sorted::median), 3),
        told(ratio(Sorted::least), 2),
        told(ratio(Sorted::median), 2),
    ]
}
