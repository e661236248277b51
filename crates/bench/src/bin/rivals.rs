//! `rivals`: one table of our algorithms and the rivals, on a scene or on any box file.
//!
//! ```text
//! cargo run --release -p jostle-bench -- --scene uniform --set density=0.35 --n 100000
//! cargo run --release -p jostle-bench -- boxes.npy --without rstar,bvh
//! ```

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use jostle::{Aabb, Algorithm};
use jostle_bench::contest::{Contest, Score};
use jostle_bench::rivals;
use jostle_scenes::{FrameReader, SceneSpec};

/// Times Jostle's algorithms and their rivals on the same frames, in turn.
#[derive(Parser)]
#[command(
    after_help = "Times are per frame, the first frame left out. 'finding' is the search for \
pairs alone; 'whole' adds, for ours, taking in the boxes and the sorted events. 'ratio' compares \
the mean of finding with the best of parry3d's refit, refit+optimise and rebuild/16: above 1 is \
faster than parry3d. Refitted trees decay, so give it 64 frames or more."
)]
struct Args {
    /// A box file (.npy or .csv) instead of a scene; a short one is played to and fro.
    input: Option<PathBuf>,
    /// The scene.
    #[arg(long, default_value = "uniform")]
    scene: String,
    /// A parameter of the scene, as name=value; repeat for more.
    #[arg(long = "set")]
    set: Vec<String>,
    /// Number of boxes.
    #[arg(long, default_value_t = 10_000)]
    n: usize,
    /// Number of frames.
    #[arg(long, default_value_t = 64)]
    frames: usize,
    /// Seed of the scene.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads for our algorithms; rivals use one.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Our algorithms, comma-separated; all that suit the size by default.
    #[arg(long, value_delimiter = ',')]
    algorithm: Vec<Algorithm>,
    /// Leave out rivals and algorithms whose name contains one of these words.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(agree) => ExitCode::from(u8::from(!agree)),
        Err(message) => {
            eprintln!("rivals: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<bool, String> {
    let mut source = Source::open(args)?;
    let boxes = source.first()?.len();
    let left_out = |name: &str| args.without.iter().any(|word| name.contains(word.as_str()));
    let mut algorithms = args.algorithm.clone();
    if algorithms.is_empty() {
        algorithms
            .extend(Algorithm::ALL.iter().filter(|a| suits(**a, boxes) && !left_out(a.name())));
    }
    let rivals = rivals::all().into_iter().filter(|rival| !left_out(&rival.name())).collect();
    let mut contest = Contest::new(&algorithms, args.threads, rivals).map_err(|e| e.to_string())?;
    for _ in 0..args.frames {
        contest.frame(source.next()?).map_err(|error| error.to_string())?;
    }
    let mean = contest.counts.iter().sum::<usize>() / contest.counts.len().max(1);
    println!("{}: {boxes} boxes, {} frames, {mean} pairs on average", source.name(), args.frames);
    Ok(print_table(&contest.scores()))
}

/// The oracles are left out where a frame would take seconds.
fn suits(algorithm: Algorithm, boxes: usize) -> bool {
    match algorithm {
        Algorithm::BruteForce => boxes <= 5_000,
        Algorithm::SortSweep => boxes <= 150_000,
        _ => true,
    }
}

fn print_table(scores: &[Score]) -> bool {
    let yardstick = scores
        .iter()
        .filter(|score| score.name.starts_with("parry3d re") && score.name != "parry3d rebuild")
        .map(|score| Score::summary(&score.finding)[0])
        .min_by(f64::total_cmp);
    let heads = ["mean", "median", "best", "worst", "whole", "ratio"];
    print!("{:<24}", "finding, ms");
    heads.iter().for_each(|head| print!("{head:>10}"));
    println!();
    for score in scores {
        let [mean, median, best, worst] = Score::summary(&score.finding);
        let whole = Score::summary(&score.whole)[0];
        print!(
            "{:<24}{mean:>10.3}{median:>10.3}{best:>10.3}{worst:>10.3}{whole:>10.3}",
            score.name
        );
        match yardstick {
            Some(theirs) => print!("{:>9.2}x", theirs / mean.max(1e-6)),
            None => print!("{:>10}", "-"),
        }
        match score.differs {
            Some((frame, count)) => println!("  DIFFERS: {count} pairs in frame {frame}"),
            None => println!(),
        }
    }
    scores.iter().all(|score| score.differs.is_none())
}

/// Frames from a scene, or from a file played to and fro.
enum Source {
    Scene(Box<jostle_scenes::Scene>, String, bool),
    File { frames: Vec<Vec<Aabb>>, name: String, at: usize },
}

impl Source {
    fn open(args: &Args) -> Result<Source, String> {
        if let Some(path) = &args.input {
            let mut reader = FrameReader::open(path).map_err(|error| error.to_string())?;
            let mut frames = Vec::new();
            let mut frame = Vec::new();
            while reader.next_frame(&mut frame).map_err(|error| error.to_string())?.is_some() {
                frames.push(frame.clone());
            }
            return Ok(Source::File { frames, name: path.display().to_string(), at: 0 });
        }
        let mut spec = SceneSpec::new(&args.scene, args.n, args.seed);
        for text in &args.set {
            spec = spec.parse_param(text).map_err(|error| error.to_string())?;
        }
        let scene = spec.build().map_err(|error| error.to_string())?;
        let name = format!("{} {}", args.scene, args.set.join(" "));
        Ok(Source::Scene(Box::new(scene), name.trim().into(), false))
    }

    fn name(&self) -> &str {
        match self {
            Source::Scene(_, name, _) | Source::File { name, .. } => name,
        }
    }

    fn first(&self) -> Result<&[Aabb], String> {
        match self {
            Source::Scene(scene, ..) => Ok(scene.boxes()),
            Source::File { frames, name, .. } => {
                frames.first().map(Vec::as_slice).ok_or(format!("{name} holds no frame"))
            }
        }
    }

    fn next(&mut self) -> Result<&[Aabb], String> {
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
