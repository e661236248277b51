//! The command line of `jostle reproduce`.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;

use super::record::Setting;
use super::session::{Chosen, Session, all_parts, duration, name_of};
use super::{EXPERIMENTS, machine};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::names;

const EXAMPLES: &str = "\
Each part leaves CSV tables and SVG pictures in the folder; report.md and index.html show all of
them with what the papers claim. Times are of this machine; counts are the same everywhere. A run
that was stopped goes on with --resume: parts that are finished are kept.

Examples:
  jostle reproduce --list
  jostle reproduce baseline --quick
  jostle reproduce tracy/figure-8
  jostle reproduce all -o results
  jostle reproduce all -o results --resume";

/// Runs the papers' experiments and compares their claims with what is measured
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReproduceArgs {
    /// An experiment by name, a part of one as EXPERIMENT/PART, or all
    #[arg(value_name = "NAME", default_value = "all")]
    name: String,
    /// Lists the experiments and their parts
    #[arg(long)]
    list: bool,
    /// Takes seconds instead of minutes: fewer sizes and frames
    #[arg(long)]
    quick: bool,
    /// Keeps the parts that are finished in the folder, by the same version on the same machine
    #[arg(long)]
    resume: bool,
    /// Where loi runs as well: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu")]
    device: String,
    /// The folder for tables, pictures and the report
    #[arg(short, long, value_name = "DIR", default_value = "reproduced")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    if args.list {
        return list();
    }
    let chosen = chosen(&args.name)?;
    let device = Device::open(&args.device)?;
    make_folder(&args.output)?;
    let setting = Setting {
        quick: args.quick,
        device: args.device.clone(),
        version: machine::version(),
        machine: machine::description(),
    };
    let session = Session { folder: args.output.clone(), setting, device, resume: args.resume };
    session.run(&chosen)
}

/// Makes the folder of the results, in one that exists.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        let (folder, parent) = (folder.display(), parent.display());
        return Err(Failure::Input(format!(
            "{folder}: cannot be written: the folder {parent} does not exist; create it first"
        )));
    }
    if folder.is_dir() {
        return Ok(());
    }
    if folder.exists() {
        let folder = folder.display();
        return Err(Failure::Input(format!(
            "{folder}: is a file, and results go to a folder; give another name"
        )));
    }
    std::fs::create_dir(folder).map_err(|error| Failure::unwritable(folder, error))
}

fn list() -> Result<(), Failure> {
    let mut out = stdout().lock();
    for experiment in EXPERIMENTS {
        let [quick, full] = [0, 1].map(|run: usize| {
            duration(experiment.parts.iter().map(|part| part.seconds[run]).sum())
        });
        let (name, about) = (experiment.name, experiment.about);
        writeln!(out, "{name}: {about} (about {full}, quick {quick})")?;
        for part in experiment.parts {
            writeln!(out, "  {:28} {}", name_of((experiment, part)), part.about)?;
        }
    }
    Ok(())
}

fn chosen(name: &str) -> Result<Vec<Chosen>, Failure> {
    let wanted = |chosen: &Chosen| match name {
        "all" => true,
        _ => chosen.0.name == name || name_of(*chosen) == name,
    };
    let found: Vec<Chosen> = all_parts().filter(wanted).collect();
    if found.is_empty() {
        let parts: Vec<String> = all_parts().map(name_of).collect();
        let experiments = EXPERIMENTS.iter().map(|experiment| experiment.name).chain(["all"]);
        let all: Vec<&str> = match name.contains('/') {
            true => parts.iter().map(String::as_str).collect(),
            false => experiments.collect(),
        };
        return Err(Failure::Input(names::unknown("experiment", name, all.into_iter())));
    }
    Ok(found)
}
