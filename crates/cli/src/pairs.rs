//! `jostle pairs`: the overlapping pairs of the boxes in a file.

use std::fmt::Write as _;
use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::{Algorithm, Detector};
use jostle_scenes::{Invalid, PairWriter, pair_hash, parse_count};
use serde_json::{Value, json};

use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::feed::{Feed, STANDARD};
use crate::support::files;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;
use crate::support::text::{count_of, grouped, milliseconds, rounded_ms, wrapped};

/// At most this many skipped rows of a frame are named.
const NAMED_ROWS: usize = 10;

/// Up to this many pairs of a frame are printed; of more, only their number.
const FEW_PAIRS: usize = 20;

const ABOUT: &str = "\
Boxes are read from .npy or .npz arrays of float16, float32, float64 or integers, of shape (n, 6) or
(n, 2, 3), in 2D (n, 4) or (n, 2, 2), each with or without frames in front, in C or Fortran order;
or from text (.csv, .tsv, .txt) with six or four numbers a line. What is no float32 is rounded
outward. IN may be -, standard input: an .npy array or text.

The pairs of a frame are printed if they are 20 or fewer. With --json, one object per frame: frame,
boxes, pairs, began, ended, sha256, algorithm, device, threads, ms (the broad phase's update alone),
step_ms (with events); skipped with --skip-invalid, and with_boxes with --with. sha256 is over the
pairs (a < b) sorted ascending, as little-endian u32 couples. Pairs are rows of IN, counted from 0;
with --with B, a row of IN and a row of B.

The output file is .npy (uint32, columns a, b) or .csv, by its ending; - is .csv on standard output
and nothing else there. For a sequence there is a column in front: frame, a, b.

Examples:
  jostle pairs boxes.npy
  jostle pairs sequence.npy --json --algorithm sort-sweep
  jostle pairs robot.npy --with shelf.csv -o hits.csv
  jostle pairs scan.csv --skip-invalid -o pairs.npy
  gunzip -c boxes.npy.gz | jostle pairs - -o - | sort -t, -k2n";

/// Finds the overlapping pairs of the boxes in a file, frame by frame
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct PairsArgs {
    /// A file of boxes; - reads standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Pairs between the boxes of IN and those of this file, and none within a file
    #[arg(long, value_name = "B")]
    with: Option<PathBuf>,
    /// Writes the pairs to this file, .npy or .csv; - writes them to standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The algorithm, by name [default: auto, and grid-sweep on a device]
    #[arg(long, value_parser = names::algorithm)]
    algorithm: Option<Algorithm>,
    /// Where: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Number of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, default_value = "0")]
    threads: usize,
    /// Prints one JSON object per frame
    #[arg(long)]
    json: bool,
    /// Prints the pairs' SHA-256 as well; JSON always has it
    #[arg(long)]
    hash: bool,
    /// Goes on without rows that are no boxes (NaN, min > max), and reports them
    #[arg(long)]
    skip_invalid: bool,
    /// Refuses to go on when more pairs than this overlap at once
    #[arg(long, value_name = "PAIRS", value_parser = parse_count)]
    limit: Option<usize>,
}

impl PairsArgs {
    /// Returns true if standard output belongs to the pairs alone.
    fn pairs_to_stdout(&self) -> bool {
        self.output.as_deref() == Some(Path::new(STANDARD))
    }

    /// Prints what is for people, on stderr if the pairs have standard output.
    fn print(&self, text: &str) -> Result<(), Failure> {
        if self.pairs_to_stdout() {
            // A closed stderr is no reason to stop.
            let _ = stderr().write_all(text.as_bytes());
            return Ok(());
        }
        Ok(stdout().write_all(text.as_bytes())?)
    }
}

/// Runs the command.
pub(crate) fn run(args: &PairsArgs) -> Result<(), Failure> {
    if args.json && args.pairs_to_stdout() {
        return Err(Failure::input("--json and -o - both need standard output; give -o a file"));
    }
    let device = Device::open(&args.device)?;
    let algorithm = device.algorithm(args.algorithm)?;
    if let Some(output) = &args.output {
        let inputs: Vec<&Path> = args.with.iter().chain([&args.input]).map(AsRef::as_ref).collect();
        files::apart(output, &inputs)?;
    }
    let mut feed = open(args)?;
    let sequence = feed.is_sequence();
    let mut file = match &args.output {
        Some(path) => Some(PairWriter::create(path, sequence)?),
        None => None,
    };
    let mut detector = Detector::with_workers(algorithm, names::workers(args.threads)?);
    if !device.is_cpu() {
        detector.set_broad_phase(device.build(algorithm, &names::workers(args.threads)?));
    }
    if let Some(limit) = args.limit {
        detector.set_pair_limit(limit);
    }
    let progress = Progress::with_printing(feed.frames(), "pairs");
    if sequence && !args.json {
        args.print(&head(&feed))?;
    }
    let (mut pairs, mut done) = (Vec::new(), 0);
    while let Some(frame) = feed.advance(detector.boxes_mut())? {
        detector.step().map_err(|error| at_frame(&feed, frame, error))?;
        report_skipped(&feed, frame, sequence);
        feed.in_slots(detector.pairs(), &mut pairs);
        let offset = if args.with.is_some() { feed.first_boxes() as u32 } else { 0 };
        pairs.iter_mut().for_each(|pair| pair.1 -= offset);
        if let Some(file) = &mut file {
            file.write_frame(frame, pairs.iter().copied())?;
        }
        match args.json {
            true => {
                writeln!(stdout(), "{}", object(args, &feed, frame, &detector, &pairs, &device))?
            }
            false => args.print(&told(args, &feed, frame, &detector, &pairs))?,
        }
        progress.step();
        done = frame + 1;
        if interrupt::requested() {
            break;
        }
    }
    drop(progress);
    finish(&feed, file, args, &detector, done)
}

fn open(args: &PairsArgs) -> Result<Feed, Failure> {
    let invalid = || if args.skip_invalid { Invalid::Skip } else { Invalid::Refuse };
    match &args.with {
        Some(with) => Feed::two_files(&args.input, with, invalid),
        None => Feed::file(&args.input, invalid()),
    }
}

fn finish(
    feed: &Feed,
    file: Option<PairWriter>,
    args: &PairsArgs,
    detector: &Detector,
    done: usize,
) -> Result<(), Failure> {
    if let Some(file) = file {
        file.finish()?;
    }
    if done < feed.frames() {
        let message = format!("after {done} of {} frames", feed.frames());
        return Err(Failure::Stopped(message));
    }
    if let (false, Some(reason)) = (args.json, detector.reason()) {
        args.print(&wrapped("chosen ", &reason))?;
    }
    Ok(())
}

fn at_frame(feed: &Feed, frame: usize, error: jostle::Error) -> Failure {
    let hint = match error {
        jostle::Error::TooManyPairs { .. } => " (see --limit)",
        _ => "",
    };
    Failure::Input(format!("{}: frame {frame}: {error}{hint}", feed.name()))
}

fn report_skipped(feed: &Feed, frame: usize, sequence: bool) {
    let skipped = feed.skipped();
    let mut stderr = std::io::stderr();
    // A closed stderr is no reason to stop.
    for row in skipped.iter().take(NAMED_ROWS) {
        let at = if sequence { format!("frame {frame}: ") } else { String::new() };
        let path = row.path.display();
        let _ = writeln!(stderr, "{path}: {at}row {} skipped: {}", row.row, row.fault);
    }
    if skipped.len() > NAMED_ROWS {
        let more = count_of((skipped.len() - NAMED_ROWS) as u64, "more row", "more rows");
        let _ = writeln!(stderr, "frame {frame}: {more} skipped");
    }
}

/// What stands above the frames of a sequence.
fn head(feed: &Feed) -> String {
    let frames = match feed.frames() {
        0 => "no frames".into(),
        frames => count_of(frames as u64, "frame", "frames"),
    };
    let boxes = count_of(feed.boxes() as u64, "box", "boxes");
    let mut text = wrapped("", &format!("{}: {frames} of {boxes}", feed.name()));
    if feed.frames() > 0 {
        text += &row(&["frame", "boxes", "pairs", "began", "ended", "update ms", "step ms"]);
    }
    text
}

/// A row of the table of frames.
fn row(cells: &[&str; 7]) -> String {
    let widths = [8, 13, 15, 13, 13, 12, 12];
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{cell:>width$}");
    }
    text + "\n"
}

/// One frame: a row of the table, or a sentence if it is the only one; its pairs, if they are few.
fn told(
    args: &PairsArgs,
    feed: &Feed,
    frame: usize,
    detector: &Detector,
    pairs: &[(u32, u32)],
) -> String {
    let (events, time) = (detector.events(), detector.step_time());
    let number = |count: usize| grouped(count as u64);
    let times = [time.update, time.step].map(|time| format!("{:.2}", milliseconds(time)));
    let few = pairs.len() <= FEW_PAIRS && !args.pairs_to_stdout();
    let mut text = String::new();
    if feed.is_sequence() {
        let counts = [detector.boxes().len(), pairs.len(), events.began.len(), events.ended.len()];
        let [boxes, found, began, ended] = counts.map(number);
        text += &row(&[&number(frame), &boxes, &found, &began, &ended, &times[0], &times[1]]);
        if few && !pairs.is_empty() {
            let list: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}\u{a0}{b}")).collect();
            text += &wrapped("          ", &list.join(", ")).replace('\u{a0}', " ");
        }
    } else {
        let boxes = count_of(detector.boxes().len() as u64, "box", "boxes");
        let found = count_of(pairs.len() as u64, "pair", "pairs");
        let (name, [update, step]) = (feed.name(), times);
        let sentence = format!("{boxes}, {found} in {update} ms ({step} ms with events)");
        text += &wrapped("", &format!("{name}: {sentence}"));
        if few {
            text.extend(pairs.iter().map(|(a, b)| format!("{a} {b}\n")));
        } else if args.output.is_none() {
            text += "more than are printed: -o pairs.csv writes them, --json counts them\n";
        }
    }
    if args.hash {
        text += &format!("sha256 {}\n", pair_hash(pairs.iter().copied()));
    }
    text
}

fn object(
    args: &PairsArgs,
    feed: &Feed,
    frame: usize,
    detector: &Detector,
    pairs: &[(u32, u32)],
    device: &Device,
) -> Value {
    let (events, time) = (detector.events(), detector.step_time());
    let mut object = json!({
        "frame": frame,
        "boxes": detector.boxes().len(),
        "pairs": pairs.len(),
        "began": events.began.len(),
        "ended": events.ended.len(),
        "sha256": pair_hash(pairs.iter().copied()),
        "algorithm": device.algorithm(args.algorithm).map_or("", Algorithm::name),
        "device": device.name(),
        "threads": detector.threads(),
        "ms": rounded_ms(milliseconds(time.update)),
        "step_ms": rounded_ms(milliseconds(time.step)),
    });
    if args.skip_invalid {
        object["skipped"] = feed.skipped().len().into();
    }
    if args.with.is_some() {
        object["with_boxes"] = (feed.boxes() - feed.first_boxes()).into();
    }
    object
}
