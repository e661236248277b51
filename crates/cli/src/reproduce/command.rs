//! The command line of `jostle reproduce`.

use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle_scenes::OutputFile;

use super::{Claim, EXPERIMENTS, Experiment, Lab};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::files;
use crate::support::load::Load;
use crate::support::names;
use crate::support::report::Report;

const EXAMPLES: &str = "\
Each experiment leaves CSV tables and SVG pictures in the folder; claims.md holds the table of
claims, and index.html shows it all on one page. Times are of this machine; counts are the same
everywhere.

Examples:
  jostle reproduce --list
  jostle reproduce baseline --quick
  jostle reproduce all -o results";

const ABOUT: &str = "\
The papers' claims next to what this machine measured. Times are its own; counts are the same \
everywhere.";

/// The columns of [`Claim::cells`].
const HEADER: [&str; 6] = ["claim", "paper", "criterion", "measured", "verdict", "remark"];

/// Other programs that keep more than this much of a core busy disturb times.
const DISTURBED: f64 = 0.1;

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
    /// Where loi runs as well: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu")]
    device: String,
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
    let device = Device::open(&args.device)?;
    let claims = begin_claims(&args.output)?;
    let mut sections = Vec::new();
    let mut page = Report::new("Claims and measurements", ABOUT);
    for experiment in &chosen {
        match run_one(experiment, args, &device, &mut page) {
            Ok(section) => sections.push(section),
            // What is finished is kept.
            Err(failure) => {
                write_claims(claims, &sections, page)?;
                return Err(failure);
            }
        }
    }
    write_claims(claims, &sections, page)
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

fn run_one(
    experiment: &Experiment,
    args: &ReproduceArgs,
    device: &Device,
    page: &mut Report,
) -> Result<String, Failure> {
    let mut lab = Lab::new(experiment.name, args.output.clone(), args.quick);
    lab.set_device(device.clone());
    let before = Load::now();
    let mut claims = (experiment.run)(&mut lab)?;
    if args.quick {
        claims = claims.into_iter().map(Claim::indicative).collect();
    }
    let others = before.zip(Load::now()).and_then(|(before, after)| before.others_until(after));
    let section = section(experiment, &claims, &lab, others);
    add_to_page(page, experiment, &claims, &lab)?;
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

/// A section of the claims file: the table, the files that belong to it, and how busy the machine
/// was with other programs.
fn section(experiment: &Experiment, claims: &[Claim], lab: &Lab, others: Option<f64>) -> String {
    let mut text = format!("## {}\n\n{}\n\n", experiment.name, experiment.paper);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| {} |\n|{}", HEADER.join(" | "), "---|".repeat(HEADER.len()));
    for claim in claims {
        let _ = writeln!(text, "| {} |", claim.cells().map(|cell| escaped(&cell)).join(" | "));
    }
    if let Some(others) = others {
        let _ = write!(text, "\nWhile it ran, other programs kept {others:.2} cores busy");
        let disturbed = if others > DISTURBED { ": times are disturbed" } else { "" };
        let _ = writeln!(text, "{disturbed}.");
    }
    let names = lab.written().iter().filter_map(|path| path.file_name());
    let names: Vec<String> = names.map(|name| format!("`{}`", name.to_string_lossy())).collect();
    if !names.is_empty() {
        let _ = writeln!(text, "\nFiles: {}", names.join(", "));
    }
    text
}

/// The same on the page, with the pictures.
fn add_to_page(
    page: &mut Report,
    experiment: &Experiment,
    claims: &[Claim],
    lab: &Lab,
) -> Result<(), Failure> {
    page.section(experiment.name, &format!("{} {}", experiment.paper, experiment.about));
    let rows: Vec<Vec<String>> = claims.iter().map(|claim| claim.cells().to_vec()).collect();
    page.table(&HEADER, &rows);
    let svg = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "svg");
    for path in lab.written().iter().filter(svg) {
        let picture = std::fs::read_to_string(path).map_err(Failure::input)?;
        page.picture(&picture, &path.file_name().unwrap_or_default().to_string_lossy());
    }
    Ok(())
}

fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|").replace('\n', " ")
}

fn write_claims(mut file: OutputFile, sections: &[String], page: Report) -> Result<(), Failure> {
    if sections.is_empty() {
        return Ok(());
    }
    let path = file.path().to_owned();
    file.put(format!("# Claims and measurements\n\n{}", sections.join("\n")).as_bytes())?;
    file.finish()?;
    files::write_text(&path.with_file_name("index.html"), &page.finish())?;
    writeln!(stdout(), "written to {}", path.display())?;
    Ok(())
}
