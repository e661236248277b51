//! The options of `jostle bench --mesh`, and its run.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::available_threads;
use jostle_scenes::{lumpy_ball, parse_count, read_mesh};

use super::{Course, Row, measure, report};
use crate::bench::command::{BenchArgs, Outputs};
use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::names;
use crate::support::plot::{self, Axis, Bars, Chart};

const MESH: &str = "Meshes";

/// Most triangles of a mesh that is made.
const MOST_TRIANGLES: usize = 100_000_000;

/// What meshes are timed.
#[derive(Args, Debug)]
pub struct MeshArgs {
    /// Times questions about triangle meshes instead: files, or numbers of triangles of lumpy
    /// balls that are made
    #[arg(long, value_name = "FILE|N", value_delimiter = ',', num_args = 0..,
        default_missing_values = ["5000", "50000"], help_heading = MESH,
        conflicts_with_all = ["input", "scene", "n", "set", "algorithm", "device", "narrow",
            "world", "simulate_threads", "frames"])]
    pub mesh: Vec<String>,
    /// Poses of two meshes for each placing; a hundred times as many rays and points
    #[arg(long, value_name = "N", requires = "mesh", help_heading = MESH, default_value_t = 50,
        value_parser = names::positive)]
    poses: usize,
    /// Passes over the questions; the least time counts
    #[arg(long, value_name = "N", requires = "mesh", help_heading = MESH, default_value_t = 5,
        value_parser = names::positive)]
    mesh_passes: usize,
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let outputs = Outputs::create(args)?;
    let mut rows: Vec<Row> = Vec::new();
    for name in &args.mesh.mesh {
        let measured = measure(&course(args, name)?)?;
        print_course(args, &measured)?;
        rows.extend(measured);
        if interrupt::requested() {
            break;
        }
    }
    let passes = args.mesh.mesh_passes;
    let objects: Vec<_> = rows.iter().map(|row| report::object(row, passes)).collect();
    outputs.write(&report::KEYS, &objects, || draw(&rows))?;
    if interrupt::requested() {
        let message = format!("after {} rows, the last ones over fewer passes", rows.len());
        return Err(Failure::Stopped(message));
    }
    Ok(())
}

fn course(args: &BenchArgs, name: &str) -> Result<Course, Failure> {
    let mesh = match parse_count(name) {
        Ok(count) if (8..=MOST_TRIANGLES).contains(&count) => lumpy_ball(count),
        Ok(count) => {
            let message = format!("--mesh {count}: give from 8 to {MOST_TRIANGLES} triangles");
            return Err(Failure::Input(message));
        }
        Err(_) => {
            let path = PathBuf::from(name);
            read_mesh(&path)?.into_mesh(&path)?
        }
    };
    let file = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = match parse_count(name) {
        Ok(_) => "lumpy ball".to_owned(),
        Err(_) => file.unwrap_or_else(|| name.to_owned()),
    };
    let threads = match args.threads.first() {
        Some(0) | None => available_threads(),
        Some(&count) => count,
    };
    let MeshArgs { poses, mesh_passes: passes, .. } = args.mesh;
    Ok(Course { name, mesh, poses, passes, seed: args.seed, threads })
}

fn print_course(args: &BenchArgs, rows: &[Row]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if args.json {
        for row in rows {
            writeln!(out, "{}", report::object(row, args.mesh.mesh_passes))?;
        }
    } else if let Some(first) = rows.first() {
        writeln!(out, "{}\n{}", report::title(first), report::course_table(rows))?;
    }
    Ok(())
}

fn draw(rows: &[Row]) -> Result<String, Failure> {
    let same =
        |one: &Row, other: &Row| (&one.mesh, one.triangles) == (&other.mesh, other.triangles);
    let charts: Vec<Chart> = rows
        .chunk_by(same)
        .map(|rows| {
            let bar = |row: &Row| (row.question.to_owned(), row.times.least());
            Chart::Bars(Bars {
                title: format!("Time of a question: {}", rows[0].mesh),
                note: format!("{} triangles; least of all passes", rows[0].triangles),
                axis: Axis::log("nanoseconds (logarithmic)"),
                bars: rows.iter().map(bar).collect(),
            })
        })
        .collect();
    plot::svg(&charts)
}
