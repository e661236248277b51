//! The command line of `jostle verify`.

use std::io::{Write, stdout};

use clap::Args;
use jostle::{Algorithm, Workers, available_threads};
use jostle_scenes::Scene;

use super::{Contender, verify};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::names::{self, Choice};
use crate::support::source::SourceArgs;
use crate::support::text::wrapped;

/// Frames of a scene unless said otherwise.
const FRAMES: usize = 20;

/// Above this many boxes `brute-force` is not among `all`: it takes more than a second a frame.
const BRUTE_FORCE_IN_ALL: usize = 20_000;

const EXAMPLES: &str = "\
Without a file or a scene, every scene is run. Up to 2 000 boxes every pair is tested; above, the
answers are compared with an independent algorithm, which is itself checked by testing 1 000 boxes
against all. Pairs, events and their balance are compared in every frame.

Examples:
  jostle verify
  jostle verify --scene churn --n 2000 --frames 20
  jostle verify world.npy --algorithm sort-sweep --threads 1,2,8

Exit code 1 and the first differing pairs where an algorithm is wrong.";

/// Checks algorithms against an oracle, frame by frame
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Algorithms by name, or all
    #[arg(long, value_parser = names::algorithm_or_all, value_delimiter = ',',
        default_value = "all")]
    algorithm: Vec<Choice>,
    /// Where: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Numbers of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
}

/// Runs the command.
pub fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let mut sources = vec![args.source.clone()];
    if args.source.input.is_none() && args.source.scene.is_none() {
        let scenes = Scene::list().iter();
        sources = scenes.map(|scene| with_scene(&args.source, scene.name)).collect();
    }
    let device = Device::open(&args.device)?;
    let mut faults = Vec::new();
    for source in &sources {
        let mut feed = source.open(FRAMES)?;
        let contenders = contenders(args, &device, feed.boxes())?;
        let names: Vec<&str> = contenders.iter().map(|contender| &contender.name[..]).collect();
        match verify(&mut feed, &contenders) {
            Ok(verified) => {
                let verified = format!("{}: {verified}", feed.name());
                let text = wrapped("ok ", &verified) + &wrapped("   ", &names.join(", "));
                stdout().write_all(text.as_bytes())?;
            }
            Err(Failure::Check(fault)) => faults.push(fault),
            Err(other) => return Err(other),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::Check(faults.join("\n"))) }
}

fn with_scene(source: &SourceArgs, name: &str) -> SourceArgs {
    SourceArgs { scene: Some(name.to_owned()), ..source.clone() }
}

/// Each algorithm with each number of threads.
fn contenders(args: &VerifyArgs, device: &Device, boxes: usize) -> Result<Vec<Contender>, Failure> {
    if !device.is_cpu() {
        return on_device(args, device);
    }
    let mut threads: Vec<usize> =
        args.threads.iter().map(|&n| if n == 0 { available_threads() } else { n }).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut list = Vec::new();
    for count in threads {
        let workers = names::workers(count)?;
        for (algorithm, named) in names::chosen(&args.algorithm) {
            let slow = algorithm == Algorithm::BruteForce && boxes > BRUTE_FORCE_IN_ALL;
            if named || !slow {
                list.push(Contender::new(algorithm, &workers));
            }
        }
    }
    Ok(list)
}

/// What runs on a device, whatever the threads: grid-sweep, or what was named.
fn on_device(args: &VerifyArgs, device: &Device) -> Result<Vec<Contender>, Failure> {
    let chosen = names::chosen(&args.algorithm).into_iter().filter(|&(_, named)| named);
    let mut list: Vec<Option<Algorithm>> = chosen.map(|(algorithm, _)| Some(algorithm)).collect();
    if list.is_empty() {
        list.push(None);
    }
    let contender = |wanted: Option<Algorithm>| {
        let algorithm = device.algorithm(wanted)?;
        let (name, device) = (format!("{algorithm} on {}", device.name()), device.clone());
        let build = move |workers: &Workers| device.build(algorithm, workers);
        Ok(Contender::custom(&name, build))
    };
    list.into_iter().map(contender).collect()
}
