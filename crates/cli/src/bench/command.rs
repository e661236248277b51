//! The command line of `jostle bench`.

use std::io::{Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jostle::{Algorithm, Workers, available_threads};
use jostle_scenes::{OutputFile, parse_count};
use serde_json::Value;

use super::mesh::command::{self as mesh, MeshArgs};
use super::narrow::command::{self as narrow, NarrowArgs};
use super::predict::frame_time;
use super::world::command::{self as world, WorldArgs};
use super::{Course, Entrant, Measured, measure, picture, report, simulate};
use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::feed::STANDARD;
use crate::support::files;
use crate::support::interrupt;
use crate::support::names::{self, Choice};
use crate::support::report::Report;
use crate::support::source;
use crate::support::text::{count_of, grouped, wrapped};

const EXAMPLES: &str = "\
Lists are separated by commas. All algorithms see each frame before the next one comes; they must
find the same pairs. ratio is the median time over the fastest one's. With --json, one object per
line: scene, n, algorithm, device, threads, build_ms (first frame, from nothing), median_ms, min_ms,
p99_ms (the broad phase's update), step_median_ms, worst_ms, first_ms (with events: the median and
the longest step after the first, and the first), pairs, bytes (the algorithm's), step_bytes (with
the tracker's; the table's memory and B/box), frames, stats.
A file with a single frame is run again and again from nothing.

With --simulate-threads, one thread runs the tasks that 4, 16 or 64 would share, and the length of
their schedule is computed: stage by stage, the time and how many times as fast as on one thread,
next to one and two real threads. Waking threads and sharing memory cost nothing in it. With --json:
scene, n, algorithm, threads, simulated, stage, median_ms, speedup.

With --narrow, questions about pairs of shapes are timed: intersects (by ISA-GJK or a closed form),
distance (GJK), contact (EPA or SAT), manifold, and impact (the time of it). Scenes of shapes:
spheres-80, -320, -1280, -5120, -20480 (triangulated), hulls-12, -42, -162, -642 (of random points),
boxes, capsules, balls, mixed. All answers must agree. If there is no closed form, auto is GJK
and EPA. ratio is among ways to answer one question; steps are support searches, or measurements of
the distance for impact; early counts answers whose error bounds did not meet; of cold is the median
time with the memory of the last frame over that without. With --json: scene, case, question,
method, memory, pairs, frames, passes, median_ns, min_ns, steps, hits, early, cached_over_cold and
seed.

With --world, whole steps from poses to contact manifolds are timed on scenes that move by a small
simulation: pile (boxes), pour (mixed shapes), chains (capsules), balls, level (mostly still). All
numbers of threads must say the same. speed-up is over the fewest threads, on the same steps. With
--json: scene, bodies, threads, frames, median_ms, min_ms, boxes_ms, broad_ms, narrow_ms, merge_ms,
pairs, tested, reused, touches, speedup and seed.

With --mesh, questions about triangle meshes are timed: building and refitting the tree (nanoseconds
a triangle), two copies of the mesh far apart, nearly touching, touching and deep in each other
(boolean, distance, all pairs of triangles), rays and nearest points. With --json: mesh, triangles,
question, asked, found, min_ns, median_ns, passes and bytes_per_triangle.

Examples:
  jostle bench
  jostle bench --scene uniform,tenth,still --n 10k,100k --algorithm all
  jostle bench --n 1000,3000,10000,30000 --plot speed.svg --csv speed.csv
  jostle bench recorded.npy --algorithm auto,sort-sweep --threads 1,2 --json
  jostle bench --n 1m --set density=0.35 --algorithm auto --simulate-threads 4,16,64
  jostle bench --narrow boxes,mixed --case touching,deep
  jostle bench --narrow all --case moving --question contact --plot moving.svg
  jostle bench --world pile,balls --threads 1,2
  jostle bench --world all --bodies 1000 --frames 10 --json
  jostle bench --mesh bunny.ply,50000 --csv mesh.csv";

/// Times algorithms on scenes or a file, interleaved, with ratios
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct BenchArgs {
    /// A file of boxes instead of scenes
    #[arg(value_name = "IN", conflicts_with_all = ["scene", "n", "set"])]
    input: Option<PathBuf>,
    /// Scenes by name
    #[arg(long, value_delimiter = ',', default_value = "uniform")]
    scene: Vec<String>,
    /// Numbers of boxes
    #[arg(long, value_delimiter = ',', value_parser = parse_count, default_value = "10000")]
    n: Vec<usize>,
    /// Frames of each run
    #[arg(long, value_parser = names::positive, default_value = "30")]
    pub(super) frames: usize,
    /// The scenes' seed
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// A parameter of the scenes
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Algorithms by name, or all
    #[arg(long, value_parser = names::algorithm_or_all, value_delimiter = ',',
        default_value = "all")]
    algorithm: Vec<Choice>,
    /// Where: cpu, gpu, or a GPU's number or name (see jostle devices); several by commas
    #[arg(long, value_delimiter = ',', default_value = "cpu")]
    device: Vec<String>,
    /// Numbers of threads; 0 is one for each core
    #[arg(long, value_parser = names::threads, value_delimiter = ',', default_value = "1")]
    pub(super) threads: Vec<usize>,
    /// Predicts the step on these numbers of threads, from the times of its real tasks
    #[arg(long, value_parser = names::threads, value_delimiter = ',',
        conflicts_with_all = ["threads", "device", "csv", "plot", "narrow"])]
    simulate_threads: Vec<usize>,
    /// Prints one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
    /// Writes the rows as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draws the medians
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Writes the table and the picture as one page
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Seconds that an algorithm may take for one run, after which it is cut short; algorithms
    /// whose single frame is expected to take a tenth of it are left out
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    pub(super) budget: f64,
    /// Leaves nothing out and cuts nothing short
    #[arg(long)]
    pub(super) force: bool,
    /// The narrow phase instead.
    #[command(flatten)]
    pub(super) narrow: NarrowArgs,
    /// Whole steps of a world instead.
    #[command(flatten)]
    pub(super) world: WorldArgs,
    /// Triangle meshes instead.
    #[command(flatten)]
    pub(super) mesh: MeshArgs,
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<(), Failure> {
    if !(args.budget >= 0.0 && args.budget <= 1e9) {
        return Err(Failure::input("--budget is a number of seconds from 0 to 1e9"));
    }
    if !args.narrow.narrow.is_empty() {
        return narrow::run(args);
    }
    if !args.simulate_threads.is_empty() {
        return simulate_all(args);
    }
    if !args.world.world.is_empty() {
        return world::run(args);
    }
    if !args.mesh.mesh.is_empty() {
        return mesh::run(args);
    }
    let entrants = entrants(args)?;
    let courses = courses(args)?;
    let outputs = Outputs::create(args)?;
    let mut rows = Vec::new();
    for course in &courses {
        let measured = run_course(args, course, &entrants)?;
        print_course(args, &measured)?;
        rows.extend(measured);
        if interrupt::requested() {
            break;
        }
    }
    let objects: Vec<Value> = rows.iter().map(report::object).collect();
    outputs.write(&report::KEYS, &objects, || picture::draw(&rows))?;
    if interrupt::requested() {
        let message = format!("after {} rows, the last ones over fewer frames", rows.len());
        return Err(Failure::Stopped(message));
    }
    Ok(())
}

fn simulate_all(args: &BenchArgs) -> Result<(), Failure> {
    let mut threads = args.simulate_threads.clone();
    threads.sort_unstable();
    if threads[0] == 0 {
        return Err(Failure::input("--simulate-threads takes numbers from 1"));
    }
    for course in courses(args)? {
        for (algorithm, _) in names::chosen(&args.algorithm) {
            simulate::run(&course, args.frames, algorithm, &threads, args.json)?;
            if interrupt::requested() {
                return Err(Failure::Stopped("after the rows above".into()));
            }
        }
    }
    Ok(())
}

fn entrants(args: &BenchArgs) -> Result<Vec<Entrant>, Failure> {
    let mut threads: Vec<usize> =
        args.threads.iter().map(|&n| if n == 0 { available_threads() } else { n }).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut list = Vec::new();
    for device in &args.device {
        let device = Device::open(device)?;
        if !device.is_cpu() {
            let named = names::chosen(&args.algorithm);
            // Of `all`, a device runs one; that others were named beside it is for the processor.
            let auto = named.contains(&(Algorithm::Auto, true));
            let both = [(Algorithm::GridSweep, true), (Algorithm::Auto, auto)];
            for (algorithm, _) in both.into_iter().filter(|&(_, wanted)| wanted) {
                let (workers, device) = (Workers::one(), device.clone());
                list.push(Entrant { algorithm, workers, device });
            }
            continue;
        }
        for (algorithm, _) in names::chosen(&args.algorithm) {
            for &count in &threads {
                let (workers, device) = (names::workers(count)?, device.clone());
                list.push(Entrant { algorithm, workers, device });
            }
        }
    }
    Ok(list)
}

/// Scene by scene, smaller sizes first; a wrong name is found before anything runs.
fn courses(args: &BenchArgs) -> Result<Vec<Course>, Failure> {
    if let Some(path) = &args.input {
        if path == Path::new(STANDARD) {
            let message = "bench reads its boxes more than once; give a file, not standard input";
            return Err(Failure::input(message));
        }
        return Ok(vec![Course::File(path.clone())]);
    }
    let mut sizes = args.n.clone();
    sizes.sort_unstable();
    sizes.dedup();
    let mut list = Vec::new();
    for name in &args.scene {
        source::spec(name, 1, args.seed, &args.set)?.build()?;
        for &n in &sizes {
            list.push(Course::Scene(source::spec(name, n, args.seed, &args.set)?));
        }
    }
    Ok(list)
}

fn run_course(
    args: &BenchArgs,
    course: &Course,
    entrants: &[Entrant],
) -> Result<Vec<Measured>, Failure> {
    if matches!(course, Course::File(_)) && course.open(1)?.frames() == 0 {
        return Err(Failure::Input(format!("{}: there are no frames to time", course.name())));
    }
    if args.force {
        return measure(course, args.frames, entrants, None);
    }
    let n = match course {
        Course::Scene(spec) => spec.n,
        Course::File(_) => course.open(1)?.boxes(),
    };
    let mut fast = Vec::new();
    for entrant in entrants {
        match frame_time(course, n, entrant)? {
            Some(time) if time.as_secs_f64() > args.budget / 10.0 => {
                say_left_out(entrant.algorithm, n, time)
            }
            _ => fast.push(entrant.clone()),
        }
    }
    measure(course, args.frames, &fast, Some(Duration::from_secs_f64(args.budget)))
}

fn say_left_out(algorithm: Algorithm, n: usize, time: Duration) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(
        stderr(),
        "left out: {algorithm} on {} boxes, about {:.1} s a frame expected; \
         --force or a larger --budget runs it",
        grouped(n as u64),
        time.as_secs_f64()
    );
}

fn print_course(args: &BenchArgs, rows: &[Measured]) -> Result<(), Failure> {
    let mut out = stdout().lock();
    if args.json {
        for row in rows {
            writeln!(out, "{}", report::object(row))?;
        }
        return Ok(());
    }
    let Some(first) = rows.first() else {
        writeln!(out, "nothing was measured")?;
        return Ok(());
    };
    let frames = rows.iter().map(|row| row.samples.len() + 1).max().unwrap_or(0);
    writeln!(
        out,
        "{}, {}, {}, {} in the last",
        first.scene,
        count_of(first.n as u64, "box", "boxes"),
        count_of(frames as u64, "frame", "frames"),
        count_of(first.pairs() as u64, "pair", "pairs")
    )?;
    write!(out, "{}", report::course_table(rows))?;
    for row in rows {
        if let Some(reason) = &row.reason {
            write!(out, "{}", wrapped(&format!("{} chose ", row.algorithm), reason))?;
        }
    }
    writeln!(out)?;
    Ok(())
}

/// The files that are wanted, begun before anything is measured.
pub(super) struct Outputs {
    csv: Option<OutputFile>,
    plot: Option<OutputFile>,
    html: Option<OutputFile>,
}

impl Outputs {
    pub(super) fn create(args: &BenchArgs) -> Result<Outputs, Failure> {
        let inputs: Vec<&Path> = args.input.iter().map(AsRef::as_ref).collect();
        for output in [&args.csv, &args.plot, &args.html].into_iter().flatten() {
            files::apart(output, &inputs)?;
        }
        let csv = args.csv.as_deref().map(files::create).transpose()?;
        let plot = args.plot.as_deref().map(files::create_picture).transpose()?;
        let html = args.html.as_deref().map(files::create).transpose()?;
        Ok(Outputs { csv, plot, html })
    }

    /// Writes the rows, as the JSON has them, and their picture; all files appear, or none.
    pub(super) fn write(
        mut self,
        keys: &[&str],
        rows: &[Value],
        draw: impl FnOnce() -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let lines: Vec<Vec<String>> = rows.iter().map(|row| report::cells(row, keys)).collect();
        if let Some(file) = &mut self.csv {
            file.put(files::csv_text(keys, &lines)?.as_bytes())?;
        }
        if self.plot.is_some() || self.html.is_some() {
            if rows.is_empty() {
                return Err(Failure::input("nothing was measured, so there is nothing to plot"));
            }
            let picture = draw()?;
            if let Some(file) = &mut self.plot {
                file.put(picture.as_bytes())?;
            }
            if let Some(file) = &mut self.html {
                file.put(page(keys, &lines, &picture).as_bytes())?;
            }
        }
        for file in [self.csv, self.plot, self.html].into_iter().flatten() {
            file.finish()?;
        }
        Ok(())
    }
}

/// The rows and their picture, for reading.
fn page(keys: &[&str], lines: &[Vec<String>], picture: &str) -> String {
    let called: Vec<String> = std::env::args().skip(1).collect();
    let about = format!(
        "jostle {}, version {}, {}. Times are of this machine: compare within this page.",
        called.join(" "),
        env!("CARGO_PKG_VERSION"),
        count_of(available_threads() as u64, "core", "cores")
    );
    let mut page = Report::new("Measurements", &about);
    page.picture(picture, "");
    page.table(keys, lines);
    page.finish()
}
