//! `jostle pairs`: the overlapping pairs of the boxes in a file.

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Args;
use jostle::{Algorithm, Detector};
use jostle_scenes::{Invalid, pair_hash};
use serde_json::{Value, json};

use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::interrupt;
use crate::support::names;
use crate::support::pair_file::PairFile;
use crate::support::progress::Progress;
use crate::support::text::{count_of, grouped, milliseconds, rounded_ms};

/// At most so many skipped rows of a frame are named.
const NAMED_ROWS: usize = 10;

const ABOUT: &str = "\
With --json, one object per frame: frame, boxes, pairs, began, ended, sha256, algorithm, threads,
ms (the broad phase's update alone), step_ms (with events); skipped with --skip-invalid, and
with_boxes with --with. sha256 is over the pairs (a < b) sorted ascending, as little-endian u32
couples. Pairs are rows of IN, counted from 0; with --with B, a row of IN and a row of B.

The output file is .npy (uint32, columns a, b) or .csv, by its ending. For a sequence there is a
column in front: frame, a, b.

Examples:
  jostle pairs boxes.npy
  jostle pairs sequence.npy --json --algorithm sort-sweep
  jostle pairs robot.npy --with shelf.csv -o hits.csv
  jostle pairs scan.csv --skip-invalid -o pairs.npy";

/// Finds the overlapping pairs of the boxes in a file, frame by frame
#[derive(Args)]
#[command(after_help = ABOUT)]
pub struct PairsArgs {
    /// Boxes: .npy of shape (n, 6) or (frames, n, 6), or .csv; min x y z, max x y z
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Pairs between the boxes of IN and those of this file, and none within a file
    #[arg(long, value_name = "B")]
    with: Option<PathBuf>,
    /// Writes the pairs to this file, .npy or .csv
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The algorithm, by name
    #[arg(long, value_parser = names::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Number of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, default_value = "0")]
    threads: usize,
    /// Prints one JSON object per frame
    #[arg(long)]
    json: bool,
    /// Goes on without rows that are no boxes (NaN, min > max), and reports them
    #[arg(long)]
    skip_invalid: bool,
    /// Refuses to go on when more pairs than this overlap at once
    #[arg(long, value_name = "PAIRS", value_parser = names::count)]
    limit: Option<usize>,
}

/// Runs the command.
pub fn run(args: &PairsArgs) -> Result<(), Failure> {
    let mut feed = open(args)?;
    let sequence = feed.is_sequence();
    let mut file = match &args.output {
        Some(path) => Some(PairFile::create(path, sequence)?),
        None => None,
    };
    let mut detector = Detector::with_workers(args.algorithm, names::workers(args.threads)?);
    if let Some(limit) = args.limit {
        detector.set_pair_limit(limit);
    }
    let progress = Progress::beside_output(feed.frames(), "pairs");
    let (mut pairs, mut done) = (Vec::new(), 0);
    while let Some(frame) = feed.advance(detector.boxes_mut())? {
        detector.step().map_err(|error| at_frame(&feed, frame, error))?;
        report_skipped(&feed, frame, sequence);
        feed.in_slots(detector.pairs(), &mut pairs);
        let offset = if args.with.is_some() { feed.first_boxes() as u32 } else { 0 };
        pairs.iter_mut().for_each(|pair| pair.1 -= offset);
        if let Some(file) = &mut file {
            file.frame(frame, &pairs)?;
        }
        print_frame(args, &feed, frame, &detector, &pairs)?;
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
    file: Option<PairFile>,
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
        writeln!(stdout(), "chosen {reason}")?;
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
        let more = skipped.len() - NAMED_ROWS;
        let _ = writeln!(stderr, "frame {frame}: {more} more rows skipped");
    }
}

fn print_frame(
    args: &PairsArgs,
    feed: &Feed,
    frame: usize,
    detector: &Detector,
    pairs: &[(u32, u32)],
) -> Result<(), Failure> {
    let hash = pair_hash(pairs.iter().copied());
    if args.json {
        let object = object(args, feed, frame, detector, (pairs.len(), hash));
        return Ok(writeln!(stdout(), "{object}")?);
    }
    let (events, time) = (detector.events(), detector.step_time());
    writeln!(
        stdout(),
        "frame {frame}: {}, {} ({} began, {} ended) in {:.2} ms, {:.2} ms with events, sha256 {hash}",
        count_of(detector.boxes().len() as u64, "box", "boxes"),
        count_of(pairs.len() as u64, "pair", "pairs"),
        grouped(events.began.len() as u64),
        grouped(events.ended.len() as u64),
        milliseconds(time.update),
        milliseconds(time.step),
    )?;
    Ok(())
}

fn object(
    args: &PairsArgs,
    feed: &Feed,
    frame: usize,
    detector: &Detector,
    (pairs, hash): (usize, String),
) -> Value {
    let (events, time) = (detector.events(), detector.step_time());
    let mut object = json!({
        "frame": frame,
        "boxes": detector.boxes().len(),
        "pairs": pairs,
        "began": events.began.len(),
        "ended": events.ended.len(),
        "sha256": hash,
        "algorithm": args.algorithm.name(),
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
