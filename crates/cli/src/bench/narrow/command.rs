//! The options of `jostle bench --narrow`, and its run.

use std::io::{Write, stderr, stdout};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jostle::narrow::Method;
use jostle_scenes::ShapeKind;

use super::ask::{METHODS, Question, Way};
use super::{Case, Course, Row, measure, picture, report};
use crate::bench::command::{BenchArgs, Outputs};
use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::names;

/// Most queries of a course: their poses are held in memory.
const MOST_QUERIES: usize = 4_000_000;

const NARROW: &str = "Narrow phase";

/// What the narrow phase is asked, and about what.
#[derive(Args, Debug)]
pub struct NarrowArgs {
    /// Times the narrow phase on pairs of shapes instead: scenes by name, or all
    #[arg(long, value_name = "SCENE", value_delimiter = ',', hide_possible_values = true,
        help_heading = NARROW, value_parser = scenes(),
        conflicts_with_all = ["input", "scene", "n", "set", "algorithm", "threads"])]
    pub narrow: Vec<String>,
    /// How the pairs lie
    #[arg(long, value_delimiter = ',', default_value = "all", requires = "narrow",
        help_heading = NARROW, value_parser = listed(Case::ALL.map(Case::name)))]
    case: Vec<String>,
    /// What is asked
    #[arg(long, value_delimiter = ',', default_value = "all", requires = "narrow",
        help_heading = NARROW, value_parser = listed(Question::ALL.map(Question::name)))]
    question: Vec<String>,
    /// Which algorithm answers
    #[arg(long, value_delimiter = ',', default_value = "all", requires = "narrow",
        help_heading = NARROW, value_parser = listed(METHODS.map(|(name, _)| name)))]
    method: Vec<String>,
    /// Number of pairs
    #[arg(long, default_value = "100", requires = "narrow", help_heading = NARROW,
        value_parser = names::positive)]
    pairs: usize,
    /// How often all pairs are asked
    #[arg(long, default_value = "15", requires = "narrow", help_heading = NARROW,
        value_parser = names::positive)]
    passes: usize,
    /// How far moving shapes go in a frame, as a share of their radius, from 0 to 1
    #[arg(long, default_value = "0.01", requires = "narrow", help_heading = NARROW,
        allow_negative_numbers = true, value_parser = share)]
    speed: f64,
}

fn listed<const N: usize>(names: [&'static str; N]) -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(names.into_iter().chain(["all"]))
}

fn scenes() -> impl TypedValueParser<Value = String> {
    let kinds = ShapeKind::ALL.iter().map(|kind| PossibleValue::new(kind.name).help(kind.about));
    let all = PossibleValue::new("all").help("every one of them");
    PossibleValuesParser::new(kinds.chain([all]))
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "give a number from 0 to 1".into())
}

/// The members of a list that are named, in the list's order.
fn chosen<T: Copy>(list: &[T], name: impl Fn(T) -> &'static str, names: &[String]) -> Vec<T> {
    let wanted = |item: &&T| names.iter().any(|given| given == "all" || given == name(**item));
    list.iter().filter(wanted).copied().collect()
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    let mut rows: Vec<Row> = Vec::new();
    let budget = (!args.force).then(|| Duration::from_secs_f64(args.budget));
    let courses = courses(args)?;
    let outputs = Outputs::create(args)?;
    for (course, ways) in &courses {
        let outcome = measure(course, ways, args.narrow.passes, budget)?;
        for (way, time) in outcome.left_out {
            say_left_out(course, &way, time);
        }
        print_course(args, &outcome.rows)?;
        rows.extend(outcome.rows);
        if interrupt::requested() {
            break;
        }
    }
    write(outputs, &rows)?;
    if interrupt::requested() {
        let message = format!("after {} rows, the last ones over fewer passes", rows.len());
        return Err(Failure::Stopped(message));
    }
    Ok(())
}

/// Scene by scene, case by case, those with something to ask.
fn courses(args: &BenchArgs) -> Result<Vec<(Course, Vec<Way>)>, Failure> {
    let NarrowArgs { narrow, case, question, method, pairs, speed, .. } = &args.narrow;
    let kinds: Vec<&ShapeKind> = ShapeKind::ALL.iter().collect();
    let kinds = chosen(&kinds, |kind| kind.name, narrow);
    let cases = chosen(&Case::ALL, Case::name, case);
    let questions = chosen(&Question::ALL, Question::name, question);
    let methods: Vec<Method> =
        chosen(&METHODS, |(name, _)| name, method).into_iter().map(|(_, method)| method).collect();
    let mut list = Vec::new();
    for kind in kinds {
        for &case in &cases {
            let (frames, speed, seed) = (args.frames, *speed, args.seed);
            let course = Course { kind, case, pairs: *pairs, frames, speed, seed };
            let ways = Way::of(kind, case, &questions, &methods);
            check_size(&course)?;
            list.push((course, ways));
        }
    }
    list.retain(|(_, ways)| !ways.is_empty());
    if list.is_empty() {
        return Err(Failure::input(
            "nothing to ask: gjk-sat answers contact alone, gjk-epa also intersects and distance, \
             auto all; impact is asked of pairs that are separated or touching",
        ));
    }
    Ok(list)
}

fn check_size(course: &Course) -> Result<(), Failure> {
    let frames = if course.case == Case::Moving { course.frames } else { 1 };
    match course.pairs.checked_mul(frames) {
        Some(queries) if queries <= MOST_QUERIES => Ok(()),
        _ => Err(Failure::input(format!(
            "{} pairs in {frames} frames are too many; give at most {MOST_QUERIES} together",
            course.pairs
        ))),
    }
}

fn say_left_out(course: &Course, way: &Way, time: Duration) {
    let (scene, case) = (course.kind.name, course.case.name());
    let (question, method) = (way.question.name(), way.method_name());
    let seconds = time.as_secs_f64();
    // A closed stderr is no reason to stop.
    let _ = writeln!(
        stderr(),
        "left out: {question} by {method} on {scene}, {case}: about {seconds:.1} s a pass \
         expected; --force or a larger --budget runs it, fewer --pairs make it shorter",
    );
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

fn write(outputs: Outputs, rows: &[Row]) -> Result<(), Failure> {
    let same = |a: &Row, b: &Row| a.course.kind == b.course.kind && a.course.case == b.course.case;
    let objects = rows
        .chunk_by(same)
        .flat_map(|course| course.iter().map(move |row| report::object(row, course)));
    outputs.write(&report::KEYS, &objects.collect::<Vec<_>>(), || picture::draw(rows))
}
