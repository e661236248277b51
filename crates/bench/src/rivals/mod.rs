//! One table of our algorithms and the rivals, on a scene or on any box file.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jostle::{Aabb, Algorithm};
use jostle_cli::Failure;
use jostle_cli::support::text::table;
use jostle_cli::support::{names, source};
use jostle_scenes::FrameReader;

#[allow(missing_debug_implementations, reason = "some libraries' types have none")]
pub mod contest;
#[allow(missing_debug_implementations, reason = "some libraries' types have none")]
pub mod libraries;

use contest::{Contest, Score};

/// Times Jostle's algorithms and other libraries on the same frames, in turn
#[derive(Args, Debug)]
#[command(
    after_help = "Times are per frame, the first frame left out. 'finding' is the search for \
pairs alone; 'whole' adds, for ours, taking in the boxes and the sorted events. 'ratio' compares \
the mean of finding with the best of parry3d's refit, refit+optimise and rebuild/16: above 1 is \
faster than parry3d; 'of whole' compares the mean of whole with the same. 'ns/box' is the mean of \
whole over the number of boxes. Refitted trees decay, so give it 64 frames or more."
)]
pub struct RivalsArgs {
    /// A box file instead of a scene; a short one is played back and forth
    input: Option<PathBuf>,
    /// The scene
    #[arg(long, default_value = "uniform")]
    scene: String,
    /// A parameter of the scene, as name=value; repeat for more
    #[arg(long = "set")]
    set: Vec<String>,
    /// Numbers of boxes, comma-separated
    #[arg(long, value_parser = jostle_scenes::parse_count, value_delimiter = ',',
        default_value = "10k")]
    n: Vec<usize>,
    /// Number of frames
    #[arg(long, value_parser = names::positive, default_value = "64")]
    frames: usize,
    /// Seed of the scene
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads for our algorithms; rivals use one
    #[arg(long, value_parser = names::threads, default_value = "1")]
    threads: usize,
    /// Our algorithms, comma-separated; all that suit the size by default
    #[arg(long, value_parser = names::algorithm, value_delimiter = ',')]
    algorithm: Vec<Algorithm>,
    /// Leave out rivals and algorithms whose name contains one of these words
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
}

/// Runs the subcommand.
pub fn run(args: &RivalsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let sizes = if args.input.is_some() { &args.n[..1] } else { &args.n[..] };
    sizes.iter().try_for_each(|&n| run_size(args, n, out))
}

fn run_size(args: &RivalsArgs, n: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let mut source = Source::open(args, n)?;
    let boxes = source.first()?.len();
    let left_out = |name: &str| args.without.iter().any(|word| name.contains(word.as_str()));
    let mut algorithms = args.algorithm.clone();
    if algorithms.is_empty() {
        algorithms
            .extend(Algorithm::ALL.iter().filter(|a| suits(**a, boxes) && !left_out(a.name())));
    }
    let rivals = libraries::all().into_iter().filter(|rival| !left_out(&rival.name())).collect();
    let mut contest = Contest::new(&algorithms, args.threads, rivals)?;
    for _ in 0..args.frames {
        contest.frame(source.next()?)?;
    }
    let mean = contest.counts.iter().sum::<usize>() / contest.counts.len().max(1);
    let name = source.name();
    writeln!(out, "{name}: {boxes} boxes, {} frames, {mean} pairs on average", args.frames)?;
    write_scores(&contest.scores(), boxes, out)
}

/// The oracles are left out if a frame would take seconds.
fn suits(algorithm: Algorithm, boxes: usize) -> bool {
    match algorithm {
        Algorithm::BruteForce => boxes <= 5_000,
        Algorithm::SortSweep => boxes <= 150_000,
        _ => true,
    }
}

fn write_scores(scores: &[Score], boxes: usize, out: &mut dyn Write) -> Result<(), Failure> {
    let yardstick = scores
        .iter()
        .filter(|score| score.name.starts_with("parry3d re") && score.name != "parry3d rebuild")
        .map(|score| Score::later(&score.finding).mean())
        .min_by(f64::total_cmp);
    let cells = scores.iter().map(|score| {
        let (finding, whole) = (Score::later(&score.finding), Score::later(&score.whole));
        let numbers =
            [finding.mean(), finding.median(), finding.least(), finding.greatest(), whole.mean()];
        let mut row = vec![score.name.clone()];
        row.extend(numbers.map(|number| format!("{number:.*}", if boxes < 5000 { 5 } else { 3 })));
        row.push(format!("{:.0}", 1e6 * whole.mean() / boxes.max(1) as f64));
        for time in [finding.mean(), whole.mean()] {
            let ratio = |theirs: f64| format!("{:.2}×", theirs / time.max(1e-6));
            row.push(yardstick.map_or("-".into(), ratio));
        }
        row
    });
    let header =
        ["finding, ms", "mean", "median", "best", "worst", "whole", "ns/box", "ratio", "of whole"];
    write!(out, "{}", table(&header, &cells.collect::<Vec<_>>(), &[0]))?;
    let differing = scores.iter().filter_map(|score| {
        let (frame, count) = score.differs?;
        Some(format!("{} finds {count} pairs in frame {frame}", score.name))
    });
    let differing: Vec<String> = differing.collect();
    if differing.is_empty() { Ok(()) } else { Err(Failure::Check(differing.join("\n"))) }
}

/// Frames from a scene, or from a file played back and forth.
enum Source {
    Scene(Box<jostle_scenes::Scene>, String, bool),
    File { frames: Vec<Vec<Aabb>>, name: String, at: usize },
}

impl Source {
    fn open(args: &RivalsArgs, n: usize) -> Result<Source, Failure> {
        if let Some(path) = &args.input {
            let mut reader = FrameReader::open(path)?;
            let mut frames = Vec::new();
            let mut frame = Vec::new();
            while reader.next_frame(&mut frame)?.is_some() {
                frames.push(frame.clone());
            }
            return Ok(Source::File { frames, name: path.display().to_string(), at: 0 });
        }
        let scene = source::spec(&args.scene, n, args.seed, &args.set)?.build()?;
        let name = format!("{} {}", args.scene, args.set.join(" "));
        Ok(Source::Scene(Box::new(scene), name.trim().into(), false))
    }

    fn name(&self) -> &str {
        match self {
            Source::Scene(_, name, _) | Source::File { name, .. } => name,
        }
    }

    fn first(&self) -> Result<&[Aabb], Failure> {
        match self {
            Source::Scene(scene, ..) => Ok(scene.boxes()),
            Source::File { frames, name, .. } => frames
                .first()
                .map(Vec::as_slice)
                .ok_or_else(|| Failure::Input(format!("{name}: holds no frame"))),
        }
    }

    fn next(&mut self) -> Result<&[Aabb], Failure> {
        match self {
            Source::Scene(scene, _, begun) => {
                if std::mem::replace(begun, true) {
                    scene.advance();
                }
                Ok(scene.boxes())
            }
            Source::File { frames, at, .. } => {
                let last = frames.len().saturating_sub(1);
                let turn = if last == 0 { 0 } else { *at % (2 * last) };
                *at += 1;
                Ok(&frames[turn.min(2 * last - turn)])
            }
        }
    }
}
