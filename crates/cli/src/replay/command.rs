//! The command line of `jostle replay`.

use std::fs::File;
use std::io::{BufReader, Write, stderr, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::recording::{Call, Recording, RecordingError};
use jostle::{Aabb, Algorithm, Boxes, available_threads};
use jostle_scenes::write_boxes;

use super::contest::{Contestant, Mismatch};
use super::{history::History, script, shrink};
use crate::support::device::{self, Device};
use crate::support::failure::Failure;
use crate::support::files;
use crate::support::interrupt;
use crate::support::names::{self, Choice};
use crate::support::text::{count_of, table};

const EXAMPLES: &str = "\
Without --algorithm the calls are done as they were, switches of algorithm included. Steps count
from 1. A recording that breaks off, as after a crash, is replayed up to its last whole step.

Examples:
  jostle replay world.rec
  jostle replay world.rec --algorithm all --threads 1,2
  jostle replay world.rec --until 240 --dump boxes.npy
  jostle replay world.rec --algorithm sap --shrink -o bug.txt";

/// Does the calls of a recording again and compares every step with what was recorded
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// A recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Algorithms by name, or all [default: as recorded]
    #[arg(long, value_parser = names::algorithm_or_all, value_delimiter = ',')]
    algorithm: Vec<Choice>,
    /// Where: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu", long_help = device::ABOUT)]
    device: String,
    /// Numbers of threads; 0 is one for each core [default: as recorded]
    #[arg(long, value_parser = names::threads, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Ends after this step
    #[arg(long, value_name = "STEP", value_parser = names::positive)]
    until: Option<usize>,
    /// Writes the boxes after the last step, .npy or .csv
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// If a step differs, looks for a short script of steps that still does
    #[arg(long)]
    shrink: bool,
    /// The script that --shrink finds [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "shrink")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    for output in [&args.dump, &args.output].into_iter().flatten() {
        files::apart(output, &[&args.file])?;
    }
    let device = Device::open(&args.device)?;
    let mut replayed = replay(args, &device)?;
    let steps = replayed.steps;
    if let Some(path) = &args.dump {
        let boxes = &replayed.boxes;
        let live: Vec<Aabb> = boxes.live_slots().map(|slot| boxes.aabbs()[slot.index()]).collect();
        write_boxes(path, &live)?;
        let count = count_of(live.len() as u64, "box", "boxes");
        writeln!(stdout(), "{}: {count} after step {steps}", path.display())?;
    }
    let text = told(&replayed.contestants, steps);
    stdout().write_all(text.as_bytes())?;
    if let Some(why) = &replayed.broke_off {
        let _ = writeln!(stderr(), "{}: {why}", args.file.display());
    }
    let failed = replayed.contestants.iter_mut().find(|one| one.mismatch.is_some());
    if let Some(failed) = failed {
        if args.shrink {
            shrunk(args, &device, failed)?;
        }
        let mismatch = failed.mismatch.as_ref().map_or(String::new(), Mismatch::told);
        return Err(Failure::Check(format!("{}: {mismatch}", failed.label())));
    }
    if interrupt::requested() {
        return Err(Failure::Stopped(format!("after step {steps}")));
    }
    if args.shrink {
        writeln!(stdout(), "every step agrees, so there is nothing to shrink")?;
    }
    Ok(())
}

struct Replayed {
    contestants: Vec<Contestant>,
    boxes: Boxes,
    steps: usize,
    /// Why the recording could not be read to its end, if it is only cut off.
    broke_off: Option<String>,
}

fn open(path: &Path) -> Result<Recording<BufReader<File>>, Failure> {
    Recording::open(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &RecordingError) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}

fn replay(args: &ReplayArgs, device: &Device) -> Result<Replayed, Failure> {
    let mut recording = open(&args.file)?;
    let (contestants, boxes) = (Vec::new(), Boxes::new());
    let mut replayed = Replayed { contestants, boxes, steps: 0, broke_off: None };
    let last = args.until.unwrap_or(usize::MAX);
    while replayed.steps < last && !interrupt::requested() {
        let call = match recording.next_call() {
            Ok(Some(call)) => call,
            Ok(None) => break,
            // Without a single whole frame there is nothing to replay.
            Err(error @ RecordingError::CutOff { .. }) if !replayed.contestants.is_empty() => {
                replayed.broke_off = Some(error.to_string());
                break;
            }
            Err(error) => return Err(unreadable(&args.file, &error)),
        };
        call.apply(&mut replayed.boxes).map_err(|error| unreadable(&args.file, &error))?;
        follow(args, device, &mut replayed, &call)?;
    }
    if let Some(until) = args.until.filter(|&until| replayed.steps < until) {
        let message = format!("there are only {} steps, not {until}", replayed.steps);
        return Err(Failure::Input(format!("{}: {message}", args.file.display())));
    }
    Ok(replayed)
}

/// Does with every contestant what the call did with the broad phase.
fn follow(
    args: &ReplayArgs,
    device: &Device,
    replayed: &mut Replayed,
    call: &Call,
) -> Result<(), Failure> {
    let Replayed { contestants, boxes, steps, .. } = replayed;
    match call {
        Call::Begin(start) => {
            *contestants = chosen(args, device, &start.algorithm, start.threads)?;
            for one in contestants {
                one.begin(boxes, start)?;
            }
        }
        Call::Algorithm(name) => contestants.iter_mut().for_each(|one| one.switch(name)),
        Call::PairLimit(limit) => contestants.iter_mut().for_each(|one| one.set_pair_limit(*limit)),
        Call::Step(expected) => {
            *steps += 1;
            contestants.iter_mut().for_each(|one| one.step(boxes, *steps, expected));
            boxes.commit();
        }
        Call::RefusedStep(why) => {
            contestants.iter_mut().for_each(|one| one.refused_step(boxes, *steps + 1, why));
        }
        _ => {}
    }
    Ok(())
}

/// Who replays: every algorithm with every number of threads, or what was recorded.
fn chosen(
    args: &ReplayArgs,
    device: &Device,
    recorded: &str,
    recorded_threads: usize,
) -> Result<Vec<Contestant>, Failure> {
    let mut threads: Vec<usize> = match args.threads.is_empty() {
        // A recording is foreign data; its number of threads is a wish.
        true => vec![recorded_threads.clamp(1, available_threads())],
        false => args.threads.clone(),
    };
    threads.iter_mut().filter(|count| **count == 0).for_each(|count| *count = available_threads());
    threads.sort_unstable();
    threads.dedup();
    let algorithms: Vec<Option<Algorithm>> = match args.algorithm.is_empty() {
        true => vec![None],
        false => names::chosen(&args.algorithm).iter().map(|&(one, _)| Some(one)).collect(),
    };
    let mut list = Vec::new();
    for algorithm in algorithms {
        for &count in &threads {
            let workers = names::workers(count)?;
            list.push(match algorithm {
                Some(_) => Contestant::new(device, device.algorithm(algorithm)?, &workers),
                None => Contestant::as_recorded(device, recorded, &workers),
            });
        }
    }
    Ok(list)
}

fn told(contestants: &[Contestant], steps: usize) -> String {
    let rows: Vec<Vec<String>> = contestants
        .iter()
        .map(|one| {
            let result = match &one.mismatch {
                Some(mismatch) => format!("differs in step {}", mismatch.step),
                None => format!("{} agree", count_of(steps as u64, "step", "steps")),
            };
            vec![one.name().to_owned(), one.threads().to_string(), result]
        })
        .collect();
    table(&["algorithm", "threads", "result"], &rows, &[0, 2])
}

/// Reads the history up to the step that differs and makes it as small as it can be.
fn shrunk(args: &ReplayArgs, device: &Device, failed: &Contestant) -> Result<(), Failure> {
    let Some(mismatch) = &failed.mismatch else { return Ok(()) };
    let mut recording = open(&args.file)?;
    let mut history = History::default();
    while recording.steps() < mismatch.step as u64 {
        match recording.next_call() {
            Ok(Some(call)) => history.add(&call),
            _ => break,
        }
    }
    let (algorithm, workers) = (failed.algorithm(), failed.workers());
    let build = || device.build(algorithm, workers);
    let Some(small) = shrink::shrink(&history, &mismatch.boxes, &build) else {
        let _ = writeln!(
            stderr(),
            "--shrink: the difference does not appear when the history is done from its beginning \
             with brute-force next to it; there is no script"
        );
        return Ok(());
    };
    let text = script::text(&small, &failed.label());
    match &args.output {
        Some(path) => {
            files::write_text(path, &text)?;
            writeln!(stdout(), "{}: {}", path.display(), script::size(&small))?;
        }
        None => stdout().write_all(text.as_bytes())?,
    }
    Ok(())
}
