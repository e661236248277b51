//! The command line of `jostle reproduce`.

use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle_scenes::OutputFile;

use super::{Claim, EXPERIMENTS, Experiment, Lab};
use crate::support::failure::Failure;
use crate::support::names;

const EXAMPLES: &str = "\
Each experiment leaves CSV tables and SVG pictures in the folder, and claims.md holds the table of
claims. Times are of this machine; counts are the same everywhere.

Examples:
  jostle reproduce --list
  jostle reproduce baseline --quick
  jostle reproduce all -o results";

/// Runs the papers' experiments and compares their claims with what is measured
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReproduceArgs {
    /// An experiment by name, or all
    #[arg(value_name = "NAME", default_value = "all")]
    name: String,
    /// Lists the experiments
    #[arg(long)]
    list: bool,
    /// Takes seconds instead of minutes: fewer sizes and frames
    #[arg(long)]
    quick: bool,
    /// The folder for tables and pictures
    #[arg(short, long, value_name = "DIR", default_value = "reproduced")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &ReproduceArgs) -> Result<(), Failure> {
    if args.list {
        return list();
    }
    let chosen = chosen(&args.name)?;
    let claims = begin_claims(&args.output)?;
    let mut sections = Vec::new();
    for experiment in &chosen {
        match run_one(experiment, args) {
            Ok(section) => sections.push(section),
            // What is finished is kept.
            Err(failure) => {
                write_claims(claims, &sections)?;
                return Err(failure);
            }
        }
    }
    write_claims(claims, &sections)
}

/// Makes the folder, in one that exists, and begins the file of claims in it.
fn begin_claims(folder: &Path) -> Result<OutputFile, Failure> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
        let (folder, parent) = (folder.display(), parent.display());
        return Err(Failure::Input(format!(
            "{folder}: cannot be written: the folder {parent} does not exist; create it first"
        )));
    }
    if !folder.is_dir() {
        let made = std::fs::create_dir(folder);
        made.map_err(|error| Failure::unwritable(folder, error))?;
    }
    Ok(OutputFile::create(folder.join("claims.md"))?)
}

fn run_one(experiment: &Experiment, args: &ReproduceArgs) -> Result<String, Failure> {
    let mut lab = Lab::new(experiment.name, args.output.clone(), args.quick);
    let claims = (experiment.run)(&mut lab)?;
    let section = section(experiment, &claims, &lab);
    writeln!(stdout(), "{section}")?;
    Ok(section)
}

fn list() -> Result<(), Failure> {
    let mut out = stdout().lock();
    for experiment in EXPERIMENTS {
        writeln!(out, "{}\n  {}\n  {}", experiment.name, experiment.about, experiment.paper)?;
    }
    Ok(())
}

fn chosen(name: &str) -> Result<Vec<&'static Experiment>, Failure> {
    if name == "all" {
        return Ok(EXPERIMENTS.iter().collect());
    }
    let known = EXPERIMENTS.iter().find(|experiment| experiment.name == name);
    known.map(|experiment| vec![experiment]).ok_or_else(|| {
        let all = EXPERIMENTS.iter().map(|experiment| experiment.name).chain(["all"]);
        Failure::Input(names::unknown("experiment", name, all))
    })
}

/// A section of the claims file: the table, and the files that belong to it.
fn section(experiment: &Experiment, claims: &[Claim], lab: &Lab) -> String {
    let mut text = format!("## {}\n\n{}\n\n", experiment.name, experiment.paper);
    text += "| claim | paper | measured | verdict | remark |\n|---|---|---|---|---|\n";
    for claim in claims {
        let cells = [&claim.statement, &claim.paper, &claim.ours];
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        let why = escaped(&claim.why);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {} | {} | {why} |", cells.join(" | "), claim.verdict.word());
    }
    let names = lab.written().iter().filter_map(|path| path.file_name());
    let names: Vec<String> = names.map(|name| format!("`{}`", name.to_string_lossy())).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "\nFiles: {}", names.join(", "));
    }
    text
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

fn write_claims(mut file: OutputFile, sections: &[String]) -> Result<(), Failure> {
    if sections.is_empty() {
        return Ok(());
    }
    let path = file.path().to_owned();
    file.put(format!("# Claims and measurements\n\n{}", sections.join("\n")).as_bytes())?;
    file.finish()?;
    writeln!(stdout(), "written to {}", path.display())?;
    Ok(())
}
