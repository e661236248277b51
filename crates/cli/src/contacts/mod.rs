//! `jostle contacts`: narrow-phase queries from a file, answered in its order.
//!
//! One query a line, one answer a line. A line that cannot be read is told on stderr by its number,
//! and the rest goes on; the exit code then says that something was wrong. One line at a time is in
//! memory, so a file may be of any length, but a line may not.

mod answer;
mod mesh_answer;
mod meshes;
mod query;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write, stderr, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle_scenes::OutputFile;

use crate::support::failure::Failure;
use crate::support::files;
use crate::support::interrupt;
use crate::support::text::count_of;
use meshes::Meshes;
use query::Query;

const ABOUT: &str = r#"A query is one object on one line:
  {"id": 7, "a": {"shape": {"sphere": {"radius": 1}}, "translation": [0, 0, 0],
   "rotation": [0, 0, 0, 1]}, "b": {…}}
Shapes: sphere {radius}, cuboid or box {half_extents}, capsule, cylinder and cone {radius,
half_height} (along y, centred; a capsule's half_height is half its segment, a cone's apex is at
+y), ellipsoid {radii}, triangle {points}, hull {points}, half_space {normal, offset} (all p with
normal·p <= offset), rounded {shape, margin} (all points within the margin of another shape), mesh
{file} (.obj, .stl, .ply, .gltf or .glb; relative to the file of queries) or {vertices, triangles},
with "solid": true for one that contains what is inside it.
A rotation is a unit quaternion x, y, z, w. Translation and rotation may be left out.

The answer, one object a line in the order of the queries:
  {"id": 7, "distance": …, "depth": …, "normal": […], "point_a": […], "point_b": […], "status": …}
The distance is 0 when they touch or overlap, the depth is 0 when they do not; the normal points
from a to b; the status is separated, touching or overlapping. An infinite number is null: the depth
of two half-spaces that are not opposite.

With "motion": {"linear": [x, y, z], "angular": [x, y, z]} on either side, the velocity and the axis
times radians per unit of time about the pose's origin, the answer also has
  "impact"          at_start, hit, miss, or step_limit: nothing touches before the time given
  "time_of_impact"  the first time of touch up to the query's "duration" (1 if left out), or null
  "impact_normal", "impact_point_a", "impact_point_b"  at that time; null for a miss
With "target_distance" the time is the first at which they are that near; with "stop_at_penetration"
false, shapes that overlap at the start and part are followed to where they meet again.

Instead of b, a query may have a ray or a point:
  {"id": 8, "a": {…}, "ray": {"origin": [x, y, z], "direction": [x, y, z], "limit": 5}}
  {"id": 9, "a": {…}, "point": [x, y, z]}
A ray goes on for ever without a limit, a time in units of its direction; with "solid" false a start
inside is answered by where the ray leaves. The answers:
  {"id": 8, "hit": true, "time": …, "point": […], "normal": […], "inside": false}
  {"id": 9, "distance": …, "point": […], "normal": […], "inside": false}
The numbers of a miss are null; the distance of a point inside is negative.

Two meshes are answered by distance, normal, point_a, point_b, triangle_a, triangle_b (null if they
touch) and status, separated or overlapping. With --triangle-pairs the answer also has
  "triangle_pairs"  how many pairs of triangles touch, exactly
  "sha256"          over the sorted pairs, that of a first, as little-endian 32-bit numbers
A mesh and another shape are answered like two shapes, and triangle_a or triangle_b names the
triangle; a ray or a point against a mesh also tells it.

A line that is no query is reported on stderr by its number and left out; the exit code is then 2.

Examples:
  jostle contacts queries.jsonl
  jostle contacts queries.jsonl --json > answers.jsonl
  jostle contacts queries.jsonl -o answers.jsonl"#;

/// Answers narrow-phase queries from a file: distance, depth, normal, points, time of impact
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct ContactsArgs {
    /// Queries, one JSON object a line; - reads them from standard input
    #[arg(value_name = "IN.jsonl")]
    input: PathBuf,
    /// Writes the answers to this file
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Prints nothing but the answers: no count at the end
    #[arg(long)]
    json: bool,
    /// Counts and hashes the pairs of triangles that touch, for two meshes
    #[arg(long)]
    triangle_pairs: bool,
}

/// A hull of some fifty thousand points still fits in a line; what does not is no line of queries.
const LONGEST_LINE: u64 = 4 << 20;

/// How many lines were answered and how many refused.
#[derive(Default)]
struct Tally {
    answered: u64,
    refused: u64,
}

/// Runs the command.
pub(crate) fn run(args: &ContactsArgs) -> Result<(), Failure> {
    let input = open(&args.input)?;
    let tally = match &args.output {
        Some(path) => {
            files::apart(path, &[&args.input])?;
            let mut file = OutputFile::create(path)?;
            let tally = answer_all(input, args, &mut file)?;
            file.finish()?;
            tally
        }
        None => {
            let mut out = BufWriter::new(stdout().lock());
            let tally = answer_all(input, args, &mut out)?;
            out.flush()?;
            tally
        }
    };
    finish(args, &tally)
}

fn finish(args: &ContactsArgs, tally: &Tally) -> Result<(), Failure> {
    let name = args.input.display();
    if interrupt::requested() {
        let done = count_of(tally.answered, "answer", "answers");
        return Err(Failure::Stopped(format!("{name}: after {done}")));
    }
    if tally.refused > 0 {
        let lines = count_of(tally.refused, "line", "lines");
        let answered = count_of(tally.answered, "query was", "queries were");
        return Err(Failure::Input(format!("{name}: {lines} refused; {answered} answered")));
    }
    if !args.json {
        // On stderr, so that the answers can be piped on; nobody may be reading it.
        let answered = count_of(tally.answered, "query", "queries");
        let _ = writeln!(stderr(), "{name}: {answered} answered");
    }
    Ok(())
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

fn unreadable(path: &Path, error: io::Error) -> Failure {
    let path = path.display();
    Failure::Input(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{path}: there is no such file or folder; check the path")
        }
        _ => format!("{path}: cannot be read: {error}"),
    })
}

fn answer_all(
    mut input: Box<dyn BufRead>,
    args: &ContactsArgs,
    out: &mut impl Write,
) -> Result<Tally, Failure> {
    let (path, meshes) = (&*args.input, Meshes::beside(&args.input));
    let (mut tally, mut line, mut number) = (Tally::default(), Vec::new(), 0u64);
    while !interrupt::requested() {
        line.clear();
        let mut limited = (&mut input).take(LONGEST_LINE + 1);
        let got = limited.read_until(b'\n', &mut line).map_err(|error| unreadable(path, error))?;
        if got == 0 {
            break;
        }
        number += 1;
        if got as u64 > LONGEST_LINE {
            let name = path.display();
            return Err(Failure::Input(format!(
                "{name}: line {number} is longer than 4 MiB; write one query a line"
            )));
        }
        // Some programs put a byte order mark at the beginning of a file.
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line).trim_ascii();
        if text.is_empty() {
            continue;
        }
        let answered = Query::parse(text, &meshes)
            .and_then(|query| answer::answer(&query, args.triangle_pairs));
        match answered {
            Ok(answer) => {
                writeln!(out, "{answer}")?;
                tally.answered += 1;
            }
            Err(fault) => {
                // A closed stderr is no reason to stop.
                let _ = writeln!(stderr(), "{}: line {number}: {fault}", path.display());
                tally.refused += 1;
            }
        }
    }
    Ok(tally)
}
