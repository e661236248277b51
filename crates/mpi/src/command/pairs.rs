//! `jostle-mpi pairs`: the overlapping pairs of the boxes in a file, found by all ranks.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use jostle::Algorithm;
use jostle_mpi::{Communicator, DistributedDetector, Options, Ownership, PairFile, Reduction};
use serde_json::json;

use super::feed::SlicedFile;
use super::{Failure, say, workers};

const ABOUT: &str = "\
With --json, rank 0 prints one object per frame with the keys of `jostle pairs`: frame, boxes,
pairs, began, ended, sha256, algorithm, threads (of each rank), ms (the local search, on the
slowest rank), step_ms (the whole step). sha256 is over all pairs (a < b) sorted ascending, as
little-endian u32 couples: the same as from one process.";

/// Finds the overlapping pairs of the boxes in a file; each rank reads its part of the rows
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct PairsArgs {
    /// Boxes: .npy of shape (n, 6) or (frames, n, 6), or .csv; min x y z, max x y z
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Writes the pairs to this .npy file, all ranks together
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// The algorithm of each rank's search, by name
    #[arg(long, value_parser = super::algorithm, default_value = "auto")]
    algorithm: Algorithm,
    /// Threads of each rank; 0 is one for each core
    #[arg(long, default_value = "1")]
    threads: usize,
    /// Prints one JSON object per frame
    #[arg(long)]
    json: bool,
    /// Refuses to go on when more pairs than this overlap on one rank
    #[arg(long, value_name = "PAIRS", value_parser = jostle_scenes::parse_count)]
    limit: Option<usize>,
    /// Cuts space again in every frame, to test that
    #[arg(long, hide = true)]
    cut_every_frame: bool,
}

pub(crate) fn run<C: Communicator>(args: &PairsArgs, comm: &C) -> Result<(), Failure> {
    let mut file = SlicedFile::open(comm, &args.input)?;
    let workers = workers(args.threads)?;
    let mut options = Options {
        algorithm: args.algorithm,
        workers,
        // Each rank reads the same rows of every frame.
        ownership: Ownership::Fixed,
        ..Options::default()
    };
    if let Some(limit) = args.limit {
        options.pair_limit = limit;
    }
    let mut output = match &args.output {
        Some(path) => Some(PairFile::create(comm, path, file.sequence, false)?),
        None => None,
    };
    let mut detector = DistributedDetector::new(comm, options);
    for frame in 0..file.frames {
        let boxes = file.next(comm)?;
        file.apply(frame, &boxes, &mut detector);
        if args.cut_every_frame {
            detector.request_cut();
        }
        let start = Instant::now();
        detector.step().map_err(|error| at_frame(args, frame, error))?;
        let step = start.elapsed();
        let sorted = detector.sorted_pairs();
        if let Some(output) = &mut output {
            output.append(Some(frame as u32), &sorted)?;
        }
        let mut times = [detector.search_time().as_micros() as u64, step.as_micros() as u64];
        comm.all_reduce(&mut times, Reduction::Max);
        let events = detector.events();
        let mut counts = [events.began.len() as u64, events.ended.len() as u64];
        comm.all_reduce(&mut counts, Reduction::Sum);
        let sha256 = sorted.sha256();
        let milliseconds = |micros: u64| micros as f64 / 1000.0;
        let [began, ended] = counts;
        if args.json {
            say(
                comm,
                json!({
                    "frame": frame,
                    "boxes": file.boxes,
                    "pairs": sorted.total(),
                    "began": began,
                    "ended": ended,
                    "sha256": sha256,
                    "algorithm": args.algorithm.name(),
                    "threads": detector.options().workers.count(),
                    "ms": milliseconds(times[0]),
                    "step_ms": milliseconds(times[1]),
                }),
            );
        } else {
            say(
                comm,
                format_args!(
                    "frame {frame}: {} boxes on {} ranks, {} pairs ({began} began, {ended} ended) \
                     in {:.2} ms, sha256 {sha256}",
                    file.boxes,
                    comm.size(),
                    sorted.total(),
                    milliseconds(times[1]),
                ),
            );
        }
    }
    match output {
        Some(output) => Ok(output.finish()?),
        None => Ok(()),
    }
}

fn at_frame(args: &PairsArgs, frame: usize, error: jostle_mpi::Error) -> Failure {
    Failure::Input(format!("{}: frame {frame}: {error}", args.input.display()))
}
