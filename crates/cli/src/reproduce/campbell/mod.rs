//! `campbell`: sweep and prune with insertion sort against the vector sort with one worker for
//! each axis.
//!
//! The thesis measures three things on 64 to 1024 cubes in one world: the first step, a scene in
//! which nothing moves, and one in which a tenth moves; of each the longest of 1000 steps. Its
//! vector version ran on a Cell processor, the other on an x86. Here both run as printed
//! (`systems`) on the same machine, and next to them `sap` and `simd-sap` of the library, which
//! are not judged. Nothing is skipped because nothing moved, and no step falls back to finding all
//! pairs in another way. No box is declared still: resting pairs are pairs, as in the thesis. What
//! the library gains if they are declared still, which leaves those pairs out, is its own line.

use std::time::Instant;

use jostle::broad::sap::{Sap, SapOptions};
use jostle::broad::simd_sap::{SimdSap, SimdSapOptions};
use jostle::{Boxes, BroadPhase, Workers};
use jostle_scenes::{SceneSpec, Sorted};

use super::systems::pair_manager::Store;
use super::systems::swap_sap::SwapSap;
use super::systems::vector_sap::{Method, VectorSap};
use super::{Claim, Experiment, Figure, Lab, Part};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::runner::Runner;

mod pair_managers;
mod scenes;
mod trend;

/// The vector sort against the insertion sort.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "campbell",
    about: "insertion sort and pair manager against vector sort with a worker for each axis",
    parts: &[
        Part {
            name: "first",
            about: "figure 5.2: the first step, results collected",
            seconds: [2.0, 15.0],
            run: scenes::first,
        },
        Part {
            name: "static",
            about: "figure 5.3: nothing moves",
            seconds: [1.0, 3.0],
            run: scenes::at_rest,
        },
        Part {
            name: "tenth",
            about: "figures 5.4 and 5.5: a tenth moves, with and without collecting results",
            seconds: [12.0, 120.0],
            run: scenes::tenth,
        },
        Part {
            name: "pair-manager",
            about: "section 4.1.1: flags in maps, tables and bits",
            seconds: [1.0, 15.0],
            run: pair_managers::run,
        },
        Part {
            name: "trend",
            about: "section 5.3: the gap in larger scenes, by sap and simd-sap of the library",
            seconds: [1.0, 20.0],
            run: trend::run,
        },
    ],
};

/// One worker for each axis, as the thesis has.
const WORKERS: usize = 3;

/// The ways to work, by name. The first three are the thesis's.
const SWAPS: &str = "insertion sort (x86)";
const VECTORS: &str = "vector sort, 3 workers";
const VECTOR: &str = "vector sort, 1 worker";
const ALL: &str = "vector sort, against all";
const SAP: &str = "sap of the library";
const STILL: &str = "sap, resting boxes declared still";
const SIMD: &str = "simd-sap of the library, 3 workers";
const SIMD_ONE: &str = "simd-sap of the library, 1 worker";

/// The fewest steps of a full run, however long they take.
const LEAST: usize = 60;

fn scene(n: usize, static_share: f64) -> SceneSpec {
    SceneSpec::new("campbell", n, 1).param("static_share", static_share)
}

fn workers(way: &str) -> Result<Workers, Failure> {
    let several = [VECTORS, ALL, SIMD].contains(&way);
    Ok(if several { Workers::new(WORKERS)? } else { Workers::one() })
}

fn runner(way: &str) -> Result<Runner, Failure> {
    let workers = workers(way)?;
    let vector = |method| Box::new(VectorSap::new(&workers, Store::KeyMap, method));
    let broad: Box<dyn BroadPhase> = match way {
        SWAPS => Box::new(SwapSap::new(Store::KeyMap)),
        VECTORS | VECTOR => vector(Method::Between),
        ALL => vector(Method::All),
        SAP | STILL => {
            let options = SapOptions { may_rebuild: false, ..SapOptions::default() };
            Box::new(Sap::with_options(&workers, options))
        }
        _ => {
            let options = SimdSapOptions {
                may_rebuild: false,
                one_worker_below: 0,
                ..SimdSapOptions::default()
            };
            Box::new(SimdSap::with_options(&workers, options))
        }
    };
    Ok(Runner::with_broad_phase(way, broad, &workers))
}

/// Milliseconds of a step without preparing the pair manager and without our report, and the part
/// of it that collecting takes. The library's ways have no such parts: all of it counts.
fn time_of(runner: &Runner) -> [f64; 2] {
    let stats = runner.stats();
    let ms = |name: &str| stats.stage(name).map_or(0.0, |time| 1e3 * time.as_secs_f64());
    match runner.name.starts_with("vector") || runner.name == SWAPS {
        true => {
            let collecting = ms("collect");
            [ms("sort and test") + ms("values") + ms("axes") + collecting, collecting]
        }
        false => [1e3 * runner.time().update.as_secs_f64(), 0.0],
    }
}

/// The times of one way on one scene.
struct Times {
    n: usize,
    way: &'static str,
    /// Milliseconds of each frame, collecting included.
    whole: Vec<f64>,
    /// The same without collecting.
    sorting: Vec<f64>,
}

impl Times {
    fn new(n: usize, way: &'static str) -> Times {
        Times { n, way, whole: Vec::new(), sorting: Vec::new() }
    }

    fn push(&mut self, [whole, collecting]: [f64; 2]) {
        self.whole.push(whole);
        self.sorting.push(whole - collecting);
    }
}

/// All ways see each frame before the next comes, in turning order, and must agree on the pairs.
fn drive(
    lab: &Lab,
    scene: &SceneSpec,
    steps: usize,
    ways: &[&'static str],
) -> Result<Vec<Times>, Failure> {
    drive_feed(lab, Feed::unfiltered(scene, steps + 1)?, scene.n, ways)
}

/// The same over other frames: such in which boxes are declared still.
fn drive_feed(
    lab: &Lab,
    mut feed: Feed,
    n: usize,
    ways: &[&'static str],
) -> Result<Vec<Times>, Failure> {
    let mut runners = ways.iter().map(|way| runner(way)).collect::<Result<Vec<_>, _>>()?;
    let mut times: Vec<Times> = ways.iter().map(|way| Times::new(n, way)).collect();
    let end = lab.unit_end();
    let mut boxes = Boxes::new();
    while let Some(frame) = feed.advance(&mut boxes)? {
        lab.check_stop()?;
        for turn in 0..ways.len() {
            let way = (turn + frame) % ways.len();
            runners[way].step(&boxes)?;
            if frame > 0 {
                times[way].push(time_of(&runners[way]));
            }
        }
        if let Some(other) = runners.iter().find(|other| other.pairs() != runners[0].pairs()) {
            let name = &other.name;
            return Err(Failure::Check(format!("campbell, {n} boxes, frame {frame}: {name}")));
        }
        boxes.commit();
        if frame >= LEAST && end.is_some_and(|end| Instant::now() > end) {
            break;
        }
    }
    Ok(times)
}

fn find<'a>(times: &'a [Times], n: usize, way: &str) -> Option<&'a Times> {
    times.iter().find(|times| times.n == n && times.way == way)
}

/// How many times as long one way takes as another, by medians over the same frames.
fn ratio(
    times: &[Times],
    n: usize,
    one: &str,
    other: &str,
    of: impl Fn(&Times) -> &Vec<f64>,
) -> Figure {
    match (find(times, n, one), find(times, n, other)) {
        (Some(one), Some(other)) => Figure::ratio(of(one), of(other)),
        _ => Figure::counted(f64::NAN),
    }
}

fn sorted(times: &[f64]) -> Sorted {
    Sorted::new(times.iter().copied())
}

const HEADER: [&str; 9] = [
    "n",
    "way",
    "steps",
    "median_ms",
    "p99_ms",
    "longest_ms",
    "median_without_collecting_ms",
    "p99_without_collecting_ms",
    "longest_without_collecting_ms",
];

fn write(lab: &mut Lab, file: &str, times: &[Times]) -> Result<(), Failure> {
    let rows = times.iter().map(|times| {
        let mut row = vec![times.n.to_string(), times.way.to_owned()];
        row.push(times.whole.len().to_string());
        for list in [&times.whole, &times.sorting] {
            let list = sorted(list);
            let shown = [list.median(), list.quantile(0.99), list.greatest()];
            row.extend(shown.map(|time| format!("{time:.6}")));
        }
        row
    });
    lab.csv(file, &HEADER, &rows.collect::<Vec<_>>())
}

/// A line for each way; `of` is what is shown of its times.
fn panel(
    title: &str,
    note: &str,
    times: &[Times],
    ways: &[&str],
    of: impl Fn(&Times) -> f64,
) -> Chart {
    let line = |way: &&str| {
        let mine = times.iter().filter(|times| times.way == *way);
        Series::new(way, mine.map(|times| (times.n as f64, of(times))).collect())
    };
    lines(title, note, ways.iter().map(line).collect())
}

fn lines(title: &str, note: &str, series: Vec<Series>) -> Chart {
    Chart::Lines(Lines {
        title: title.into(),
        note: format!("{note}; both axes logarithmic"),
        x: Axis::log("number of boxes"),
        y: Axis::log("milliseconds"),
        series,
    })
}

/// A claim about the thesis's three coprocessors.
fn of_three(claim: Claim) -> Claim {
    claim.needs_cores(WORKERS, jostle::available_threads())
}

/// Times that were not measured.
#[cfg(test)]
fn made_up(n: usize, way: &'static str, whole: f64, sorting: f64) -> Times {
    Times { n, way, whole: vec![whole; 9], sorting: vec![sorting; 9] }
}
