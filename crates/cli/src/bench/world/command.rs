//! The options of `jostle bench --world`, and its run.

use std::io::{Write, stdout};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jostle::available_threads;
use jostle::world::Detail;
use jostle_scenes::WorldKind;

use super::{Course, Row, measure, report};
use crate::bench::command::{BenchArgs, Outputs};
use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::names;
use crate::support::plot::{self, Axis, Bars, Chart};

const WORLD: &str = "Worlds";

/// Most bodies: their poses and pairs are held in memory.
const MOST_BODIES: usize = 1_000_000;

/// What a world is timed on.
#[derive(Args, Debug)]
pub struct WorldArgs {
    /// Times whole steps of a world on moving scenes instead: by name, or all
    #[arg(long, value_name = "SCENE", value_delimiter = ',', hide_possible_values = true,
        help_heading = WORLD, value_parser = scenes(),
        conflicts_with_all = ["input", "scene", "n", "set", "algorithm", "device", "narrow",
            "simulate_threads"])]
    pub world: Vec<String>,
    /// Number of bodies; each scene has a usual one
    #[arg(long, value_name = "N", requires = "world", help_heading = WORLD,
        value_parser = names::positive)]
    bodies: Option<usize>,
    /// What is found out about pairs that touch
    #[arg(long, default_value = "manifold", requires = "world", help_heading = WORLD,
        value_parser = PossibleValuesParser::new(DETAILS.map(|(name, _)| name)))]
    detail: String,
}

const DETAILS: [(&str, Detail); 4] = [
    ("boolean", Detail::Boolean),
    ("contact", Detail::Contact),
    ("manifold", Detail::Manifold),
    ("pieces", Detail::Pieces),
];

fn scenes() -> impl TypedValueParser<Value = String> {
    let kinds = WorldKind::ALL.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
    let all = PossibleValue::new("all").help("every one of them");
    PossibleValuesParser::new(kinds.chain([all]))
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let courses = courses(args)?;
    let mut threads: Vec<usize> =
        args.threads.iter().map(|&n| if n == 0 { available_threads() } else { n }).collect();
    threads.sort_unstable();
    threads.dedup();
    let outputs = Outputs::create(args)?;
    let mut rows: Vec<Row> = Vec::new();
    for course in &courses {
        let measured = measure(course, &threads)?;
        print_course(args, &measured)?;
        rows.extend(measured);
        if interrupt::requested() {
            break;
        }
    }
    let objects: Vec<_> = rows.iter().map(|row| report::object(row, &rows)).collect();
    outputs.write(&report::KEYS, &objects, || draw(&rows))?;
    if interrupt::requested() {
        let message = format!("after {} rows, the last ones over fewer frames", rows.len());
        return Err(Failure::Stopped(message));
    }
    Ok(())
}

fn courses(args: &BenchArgs) -> Result<Vec<Course>, Failure> {
    let WorldArgs { world, bodies, detail } = &args.world;
    if let Some(count) = bodies.filter(|&count| count > MOST_BODIES) {
        let message = format!("{count} bodies are too many; give at most {MOST_BODIES}");
        return Err(Failure::Input(message));
    }
    let named = |kind: &&WorldKind| world.iter().any(|name| name == "all" || name == kind.name);
    let detail = DETAILS.iter().find(|(name, _)| name == detail);
    let course = |kind: &'static WorldKind| Course {
        kind,
        bodies: bodies.unwrap_or(kind.usual),
        frames: args.frames,
        seed: args.seed,
        detail: detail.map_or(Detail::Manifold, |(_, detail)| *detail),
    };
    Ok(WorldKind::ALL.iter().filter(named).map(course).collect())
}

fn print_course(args: &BenchArgs, rows: &[Row]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if args.json {
        for row in rows {
            writeln!(out, "{}", report::object(row, rows))?;
        }
    } else if let Some(first) = rows.first() {
        writeln!(out, "{}\n{}", report::title(first), report::course_table(rows))?;
    }
    Ok(())
}

fn draw(rows: &[Row]) -> Result<String, Failure> {
    let same = |one: &Row, other: &Row| one.course.kind.name == other.course.kind.name;
    let charts: Vec<Chart> = rows
        .chunk_by(same)
        .map(|rows| {
            let kind = rows[0].course.kind;
            let label = |row: &Row| format!("{} threads", row.threads);
            Chart::Bars(Bars {
                title: format!("Time of a step: {}", kind.name),
                note: format!("{}; median; lower is better", kind.about),
                axis: Axis::log("milliseconds for a step (logarithmic)"),
                bars: rows.iter().map(|row| (label(row), row.steps.median())).collect(),
            })
        })
        .collect();
    plot::svg(&charts)
}
