//! The support searches against each other on triangulated spheres, with random directions and
//! with directions that turn a little from search to search.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::Args;
use glam::{DQuat, DVec3};
use jostle::shape::{Hull, SupportSearch};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::Rng;

/// Times the ways to search a hull's support point against each other
#[derive(Args, Debug)]
pub struct SupportSearchArgs {
    /// Runs; the best one counts
    #[arg(long, value_parser = names::positive, default_value = "15")]
    repeats: usize,
}

const SEARCHES: usize = 4096;

/// Runs the subcommand.
pub fn run(args: &SupportSearchArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut spheres: Vec<Hull> =
        (0..=5).map(|k| Hull::icosphere(1.0, k).expect("a legal radius")).collect();
    spheres.extend([24, 56, 72, 96, 128].map(spiral));
    spheres.sort_by_key(|sphere| sphere.vertices().len());
    let mut rows = Vec::new();
    for sphere in spheres {
        for coherent in [false, true] {
            rows.push(compare(&sphere, coherent, args.repeats));
        }
    }
    let header = ["vertices", "directions", "scan ns", "climb", "cube map", "hierarchy", "default"];
    writeln!(out, "{SEARCHES} searches; all but the scan as shares of its time")?;
    write!(out, "{}", table(&header, &rows, &[1]))?;
    Ok(())
}

/// A sphere of any number of vertices, on a spiral from pole to pole.
fn spiral(count: u32) -> Hull {
    let points: Vec<DVec3> = (0..count)
        .map(|i| {
            let y = (2.0 * f64::from(i) + 1.0) / f64::from(count) - 1.0;
            let turn = DQuat::from_rotation_y(2.399_963_229_728_653 * f64::from(i));
            turn * DVec3::new((1.0 - y * y).sqrt(), y, 0.0)
        })
        .collect();
    Hull::new(&points).expect("a legal hull")
}

/// One row: the scan's time, and the others' as shares of it.
fn compare(sphere: &Hull, coherent: bool, repeats: usize) -> Vec<String> {
    let mut hulls: Vec<Hull> = SupportSearch::ALL
        .iter()
        .map(|&search| Hull::with_search(sphere.vertices(), search).expect("a legal hull"))
        .collect();
    hulls.push(sphere.clone());
    let directions = if coherent { turning() } else { random() };
    let mut best = vec![f64::INFINITY; hulls.len()];
    let mut sums = vec![0; hulls.len()];
    // Interleaved, so that a slow moment of the machine hits all alike.
    for _ in 0..repeats {
        for (index, hull) in hulls.iter().enumerate() {
            let begin = Instant::now();
            sums[index] = search_all(hull, &directions);
            best[index] = best[index].min(begin.elapsed().as_secs_f64());
        }
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "the searches disagree");
    let name = if coherent { "coherent" } else { "random" };
    let nanoseconds = best[0] * 1e9 / SEARCHES as f64;
    let mut row = vec![sphere.vertices().len().to_string(), name.into()];
    row.push(format!("{nanoseconds:.1}"));
    row.extend(best[1..].iter().map(|time| format!("{:.2}", time / best[0])));
    row
}

fn search_all(hull: &Hull, directions: &[DVec3]) -> u64 {
    let mut hint = 0;
    let mut sum = 0;
    for &direction in directions {
        // The next direction depends on this answer in real use.
        let nudge = if hint == u32::MAX { 1.0 } else { 0.0 };
        sum += u64::from(hull.support_index_from(black_box(direction + nudge), &mut hint));
    }
    sum
}

fn random() -> Vec<DVec3> {
    let mut rng = Rng::new(1);
    let mut number = || 2.0 * rng.unit_f64() - 1.0;
    (0..SEARCHES).map(|_| DVec3::new(number(), number(), number())).collect()
}

/// Two degrees at a time about a slowly moving axis.
fn turning() -> Vec<DVec3> {
    let step = |i: usize| DVec3::new(1.0, (i as f64 * 0.01).sin(), (i as f64 * 0.013).cos());
    let mut direction = DVec3::new(0.3, -0.5, 0.8);
    (0..SEARCHES)
        .map(|i| {
            direction = DQuat::from_axis_angle(step(i).normalize(), 0.035) * direction;
            direction
        })
        .collect()
}
