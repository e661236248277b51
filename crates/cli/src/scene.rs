//! `jostle scene`: writes a moving scene to a file, frame by frame.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle_scenes::{FrameWriter, ParamInfo, Scene, parse_count};

use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;
use crate::support::source;
use crate::support::text::count_of;

const EXAMPLES: &str = "\
The same name, numbers and parameters give the same bytes on every machine.

Examples:
  jostle scene --list
  jostle scene uniform --n 100000 --frames 3 --seed 7 -o world.npy
  jostle scene uniform --n 1000 -o - | jostle pairs -
  jostle scene uniform --n 5000 --set density=0.35 -o dense.npy
  jostle scene worst --set kind=giant --n 1000 -o giant.npy";

/// Writes a moving scene to a file, or lists the scenes
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SceneArgs {
    /// The scene, by name
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// Lists the scenes and their parameters
    #[arg(long, conflicts_with = "name")]
    list: bool,
    /// Number of boxes
    #[arg(long, value_parser = parse_count, default_value = "10000")]
    n: usize,
    /// Number of frames
    #[arg(long, value_parser = names::positive, default_value = "60")]
    frames: usize,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A parameter of the scene
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The file: .npy of shape (frames, n, 6), or .csv for one frame; - writes .npy to standard
    /// output [default: NAME.npy]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(args: &SceneArgs) -> Result<(), Failure> {
    let Some(name) = args.name.as_deref().filter(|_| !args.list) else {
        return list();
    };
    let mut scene = source::spec(name, args.n, args.seed, &args.set)?.build()?;
    let path = args.output.clone().unwrap_or_else(|| format!("{name}.npy").into());
    let mut writer = FrameWriter::create(&path, args.frames, args.n)?;
    let progress = Progress::new(args.frames, name);
    for frame in 0..args.frames {
        if frame > 0 {
            scene.advance();
        }
        writer.write_frame(scene.boxes())?;
        progress.step();
        if interrupt::requested() {
            break;
        }
    }
    let written = writer.frames_written();
    writer.finish()?;
    drop(progress);
    let frames = count_of(written as u64, "frame", "frames");
    let boxes = count_of(args.n as u64, "box", "boxes");
    let report = format!("{}: {frames} of {boxes}", path.display());
    if written < args.frames {
        return Err(Failure::Stopped(format!("{report}, of {} frames wanted", args.frames)));
    }
    // The scene itself may go to standard output.
    if path != Path::new("-") {
        writeln!(stdout(), "{report}")?;
    }
    Ok(())
}

fn list() -> Result<(), Failure> {
    let mut out = stdout().lock();
    for scene in Scene::list() {
        writeln!(out, "{}\n  {}", scene.name, scene.about)?;
        for param in scene.params {
            writeln!(out, "    {}", described(param))?;
        }
    }
    Ok(())
}

fn described(param: &ParamInfo) -> String {
    if param.choices.is_empty() {
        let (name, about) = (param.name, param.about);
        return format!("{name}={}  {about} ({} to {})", param.default, param.min, param.max);
    }
    let default = param.choices.get(param.default as usize).unwrap_or(&"?");
    format!("{}={default}  {} ({})", param.name, param.about, param.choices.join(", "))
}
