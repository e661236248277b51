//! `grids`: the hierarchy of hashed grids and its work on several threads.
//!
//! The paper counts collision tests in counters that share cache lines, are padded apart, or are
//! aligned; schedules the rows of the triangle of tests so that every processor gets long and short
//! ones; hashes cells by the sum of their coordinates; and argues for levels of cells where sizes
//! differ. Each is measured here next to what it replaces.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use jostle::broad::hash_grid::{CellHash, Cells, HashGrid, HashGridOptions};
use jostle::{Aabb, Boxes, Workers, available_threads};
use jostle_scenes::{SceneSpec, Sorted, median};

use super::{Bound, Claim, Experiment, Figure, Lab, pipeline};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Bars, Chart, Lines, Series};
use crate::support::runner::Runner;
use crate::support::text::grouped;

/// Grids of several levels, and sharing their work.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "grids",
    paper: "Parallel Techniques for Collision Detection, a thesis chapter",
    about: "counters on shared cache lines, schedules, hash collisions, levels, response",
    run,
};

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut claims = counters(lab)?;
    claims.extend(schedules(lab)?);
    claims.extend(hashing(lab)?);
    claims.extend(levels(lab)?);
    claims.extend(pipeline::of_grids(lab)?);
    Ok(claims)
}

fn threads() -> usize {
    available_threads().clamp(2, 4)
}

fn milliseconds_of(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

/// A counter of one worker among those of the others.
trait Counter: Sync + Default {
    fn cell(&self) -> &AtomicU32;
}

/// Side by side.
#[derive(Default)]
struct Packed(AtomicU32);

/// 64 bytes apart, beginning wherever the allocator puts them.
#[repr(C)]
struct Padded(AtomicU32, [u32; 15]);

impl Default for Padded {
    fn default() -> Padded {
        Padded(AtomicU32::new(0), [0; 15])
    }
}

/// Each on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Aligned(AtomicU32);

impl Counter for Packed {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

impl Counter for Padded {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

impl Counter for Aligned {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

/// Counts every pair of `objects` once, each worker in its own counter; in milliseconds.
fn count_pairs<C: Counter>(objects: usize, workers: usize) -> f64 {
    let counters: Vec<C> = (0..workers).map(|_| C::default()).collect();
    let time = milliseconds_of(|| {
        std::thread::scope(|scope| {
            for (worker, counter) in counters.iter().enumerate() {
                scope.spawn(move || {
                    for row in alternating_rows(worker, workers, objects) {
                        for _ in row + 1..objects {
                            // A plain increment in memory, as the paper's: not an atomic one.
                            let count = counter.cell().load(Ordering::Relaxed);
                            counter.cell().store(count + 1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    });
    let sum: usize = counters.iter().map(|c| c.cell().load(Ordering::Relaxed) as usize).sum();
    assert_eq!(sum, objects * (objects - 1) / 2, "every pair is counted once");
    time
}

fn counters(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // Fewer, and starting the threads takes longer than the counting.
    let objects = 10_000;
    let workers = threads();
    let variants: [(&str, usize, fn(usize, usize) -> f64); 4] = [
        ("one thread", 1, count_pairs::<Packed>),
        ("packed", workers, count_pairs::<Packed>),
        ("padded", workers, count_pairs::<Padded>),
        ("aligned", workers, count_pairs::<Aligned>),
    ];
    let mut times = vec![Vec::new(); variants.len()];
    for _ in 0..lab.pick(5, 15) {
        for (list, (_, workers, count)) in times.iter_mut().zip(&variants) {
            list.push(count(objects, *workers));
        }
        lab.check_stop()?;
    }
    let sorted: Vec<Sorted> = times.iter().map(|list| Sorted::new(list.iter().copied())).collect();
    let least: Vec<f64> = sorted.iter().map(Sorted::least).collect();
    let rows: Vec<Vec<String>> = (0..variants.len())
        .map(|k| {
            let (name, workers, _) = variants[k];
            vec![
                name.into(),
                workers.to_string(),
                objects.to_string(),
                format!("{:.3}", least[k]),
                format!("{:.3}", sorted[k].median()),
            ]
        })
        .collect();
    lab.csv("counters", &["counters", "threads", "objects", "min_ms", "median_ms"], &rows)?;
    let bars = variants.iter().zip(&least).map(|((name, ..), &time)| ((*name).to_owned(), time));
    lab.plot(
        "counters",
        &[Chart::Bars(Bars {
            title: format!(
                "Counting the pairs of {} objects on {workers} threads",
                grouped(objects as u64)
            ),
            note: "shortest of several runs, interleaved".into(),
            axis: Axis::linear("milliseconds"),
            bars: bars.collect(),
        })],
    )?;
    Ok(counter_claims(&times, workers))
}

/// The paper's number of cores.
const CORES: usize = 4;

/// The lists are times of one thread, and of several with packed, padded and aligned counters.
fn counter_claims(times: &[Vec<f64>], workers: usize) -> Vec<Claim> {
    let by_one = |k: usize| Figure::ratio(&times[k], &times[0]);
    let claim = |statement: &str, paper: &str| {
        let claim = Claim::new(statement, paper).show(format!("{workers} threads"));
        claim.needs_cores(CORES, available_threads())
    };
    let what = "time by that of one thread";
    vec![
        claim(
            "Counters on one cache line make several threads slower than one",
            "4906 ms on four cores, 1188 ms on one: 4.1 times (figure 4.9)",
        )
        .require(what, by_one(1), Bound::at_least(1.0))
        .remark("cores pass one line back and forth; milder where cores share a cache"),
        claim(
            "Padding alone helps, but not enough",
            "1797 ms with padding, 1188 ms on one core: 1.5 times (figure 4.10)",
        )
        .require("time by that of packed counters", padded(times), Bound::at_most(1.0))
        .require(what, by_one(2), Bound::at_least(1.0))
        .remark(
            "four bytes never straddle two lines, so counters 64 bytes apart never share one; \
             what is left is what else lies on their lines",
        ),
        claim(
            "Aligned counters let threads count independently",
            "312 ms on four cores, 1188 ms on one: 0.26 times (figure 4.12)",
        )
        .require(what, by_one(3), Bound::at_most(1.2 / CORES as f64))
        .remark("lanes of pairs are aligned to 128 bytes for this reason"),
    ]
}

fn padded(times: &[Vec<f64>]) -> Figure {
    Figure::ratio(&times[2], &times[1])
}

/// The rows of the triangle of tests that the paper gives to a worker (algorithm 14).
fn alternating_rows(worker: usize, workers: usize, objects: usize) -> impl Iterator<Item = usize> {
    let next = move |row: usize| row + 2 * workers - 1 - 2 * (row % workers);
    std::iter::successors(Some(worker), move |&row| Some(next(row)))
        .take_while(move |&row| row + 1 < objects)
}

/// The rows of the plain division into blocks (algorithm 13).
fn block(worker: usize, workers: usize, objects: usize) -> std::ops::Range<usize> {
    let length = objects / workers;
    let end = if worker + 1 == workers { objects } else { (worker + 1) * length };
    worker * length..end
}

fn tests_of(rows: impl Iterator<Item = usize>, objects: usize) -> usize {
    rows.map(|row| objects - 1 - row).sum()
}

/// Tests per worker, by the paper's schedule and by blocks.
fn shares(workers: usize, objects: usize) -> [Vec<usize>; 2] {
    let alternating =
        (0..workers).map(|w| tests_of(alternating_rows(w, workers, objects), objects));
    let blocks = (0..workers).map(|w| tests_of(block(w, workers, objects), objects));
    [alternating.collect(), blocks.collect()]
}

/// The largest share over the mean one: how much longer than needed the slowest worker takes.
fn imbalance(shares: &[usize]) -> f64 {
    let most = shares.iter().max().copied().unwrap_or(0) as f64;
    most * shares.len() as f64 / shares.iter().sum::<usize>().max(1) as f64
}

fn schedules(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let [example, blocks] = shares(3, 9);
    let objects = lab.pick(6000, 10_000);
    let mut rows = Vec::new();
    let mut worst: f64 = 1.0;
    for workers in [2, 3, 4, 8, 16] {
        let [alternating, blocks] = shares(workers, objects);
        worst = worst.max(imbalance(&alternating));
        for (name, list) in [("alternating", &alternating), ("blocks", &blocks)] {
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            let ratio = imbalance(if name == "blocks" { &blocks } else { &alternating });
            rows.push(vec![
                name.into(),
                workers.to_string(),
                objects.to_string(),
                list.join(" "),
                format!("{ratio:.4}"),
            ]);
        }
    }
    lab.csv(
        "shares",
        &["schedule", "workers", "objects", "tests_per_worker", "largest_over_mean"],
        &rows,
    )?;
    let times = race_of_schedules(lab, objects)?;
    let time = |name: &str| -> &[f64] {
        times.iter().find(|(one, _)| one == name).map_or(&[], |(_, list)| list)
    };
    let blocks_by_alternating = Figure::ratio(time("blocks"), time("alternating"));
    let [even, uneven] = [&example, &blocks].map(|list| slashes(list));
    Ok(vec![
        Claim::new(
            "Giving out rows back and forth balances nine objects on three processors",
            "13/12/11 tests against 21/12/3 by blocks (figures 4.6, 4.7)",
        )
        .require_true("the same shares as in the paper", {
            example == [13, 12, 11] && blocks == [21, 12, 3]
        })
        .show(format!("{even} against {uneven}"))
        .remark("counted, not timed"),
        Claim::new(
            "Every processor gets very nearly the same amount of work",
            "12481257 of 49925028 tests on each of four (figure 4.9)",
        )
        .require("largest share by the mean", Figure::counted(worst), Bound::at_most(1.01))
        .at(format!("{objects} objects, 2 to 16 workers"))
        .remark("counted"),
        Claim::new(
            "Such a schedule needs no work stealing",
            "no figure: the paper does not compare",
        )
        .require(
            "alternating time by that of stealing",
            Figure::ratio(time("alternating"), time("stealing")),
            Bound::at_most(1.1),
        )
        .show(format!("blocks take {blocks_by_alternating} of the alternating time"))
        .at(format!("{objects} boxes on {} threads", threads()))
        .needs_cores(threads(), available_threads())
        .remark(
            "true while every row costs what its length says; cells of unlike crowding do \
                 not, so the library steals",
        ),
    ])
}

fn slashes(list: &[usize]) -> String {
    list.iter().map(usize::to_string).collect::<Vec<_>>().join("/")
}

/// Tests all pairs of a scene's boxes with each schedule: milliseconds of each round.
fn race_of_schedules(lab: &mut Lab, objects: usize) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let workers = threads();
    let pool = Workers::new(workers)?;
    let mut boxes = Boxes::new();
    Feed::unfiltered(&SceneSpec::new("uniform", objects, 1).param("density", 0.35), 1)?
        .advance(&mut boxes)?;
    let aabbs = boxes.aabbs();
    let mut times: Vec<(String, Vec<f64>)> =
        ["blocks", "alternating", "stealing"].map(|name| (name.to_owned(), Vec::new())).into();
    let mut hits = [0; 3];
    for _ in 0..lab.pick(7, 15) {
        let found = AtomicU64::new(0);
        let row = |row: usize| hits_in_row(aabbs, row);
        let blocks = milliseconds_of(|| {
            pool.run(workers, |w| add(&found, block(w, workers, objects).map(row).sum()));
        });
        let after_blocks = found.swap(0, Ordering::Relaxed);
        let alternating = milliseconds_of(|| {
            pool.run(workers, |w| {
                add(&found, alternating_rows(w, workers, objects).map(row).sum())
            });
        });
        let after_alternating = found.swap(0, Ordering::Relaxed);
        let stealing = milliseconds_of(|| {
            let tasks = objects.div_ceil(64);
            pool.run(tasks, |t| add(&found, (64 * t..(64 * t + 64).min(objects)).map(row).sum()));
        });
        for (list, time) in times.iter_mut().zip([blocks, alternating, stealing]) {
            list.1.push(time);
        }
        hits = [after_blocks, after_alternating, found.into_inner()];
        lab.check_stop()?;
    }
    if hits[0] != hits[1] || hits[0] != hits[2] {
        return Err(Failure::Check(format!(
            "the schedules find different numbers of pairs: {hits:?}"
        )));
    }
    let medians: Vec<(String, f64)> =
        times.iter().map(|(name, list)| (name.clone(), median(list.iter().copied()))).collect();
    let rows: Vec<Vec<String>> = medians
        .iter()
        .map(|(name, time)| vec![name.clone(), workers.to_string(), format!("{time:.3}")])
        .collect();
    lab.csv("schedules", &["schedule", "threads", "median_ms"], &rows)?;
    lab.plot(
        "schedules",
        &[Chart::Bars(Bars {
            title: format!(
                "Testing all pairs of {} boxes on {workers} threads",
                grouped(objects as u64)
            ),
            note: "median of several runs, interleaved".into(),
            axis: Axis::linear("milliseconds"),
            bars: medians,
        })],
    )?;
    Ok(times)
}

fn add(sum: &AtomicU64, hits: u64) {
    sum.fetch_add(hits, Ordering::Relaxed);
}

fn hits_in_row(aabbs: &[Aabb], row: usize) -> u64 {
    aabbs[row + 1..].iter().map(|other| u64::from(aabbs[row].overlaps(other))).sum()
}

/// How a hash spreads the cells of a crowd: occupied cells, buckets used, cells in the fullest
/// bucket, and cells that share a box's bucket on the mean.
fn spread_of(hash: CellHash, cells: &[[i32; 3]], buckets: u64) -> [f64; 4] {
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    for &cell in cells {
        *used.entry(hash.of(0, cell) % buckets).or_default() += 1;
    }
    let fullest = used.values().max().copied().unwrap_or(0);
    let squares: u64 = used.values().map(|count| count * count).sum();
    [cells.len() as f64, used.len() as f64, fullest as f64, squares as f64 / cells.len() as f64]
}

fn hashing(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(8000, 100_000);
    let spec = SceneSpec::new("uniform", n, 1);
    let mut boxes = Boxes::new();
    Feed::unfiltered(&spec, 1)?.advance(&mut boxes)?;
    let mut cells: Vec<[i32; 3]> =
        boxes.aabbs().iter().map(|aabb| aabb.min.map(|low| (low / 2.0).floor() as i32)).collect();
    cells.sort_unstable();
    cells.dedup();
    let buckets = (n as u64).next_power_of_two();
    let mut rows = Vec::new();
    let mut shared = Vec::new();
    for (name, hash) in [("mixed", CellHash::Mixed), ("sum", CellHash::Sum)] {
        let spread = spread_of(hash, &cells, buckets);
        let [ms, tests] =
            drive(lab, &spec, HashGridOptions { hash, ..HashGridOptions::default() })?;
        shared.push((spread, ms, tests));
        let counts = spread.map(|count| format!("{count:.2}"));
        let mut row = vec![name.to_owned(), n.to_string(), buckets.to_string()];
        row.extend(counts);
        row.extend([format!("{:.1}", tests / n as f64), format!("{ms:.3}")]);
        rows.push(row);
    }
    lab.csv(
        "hash",
        &[
            "hash",
            "n",
            "buckets",
            "cells",
            "buckets_used",
            "fullest",
            "cells_in_a_bucket",
            "tests_per_box",
            "median_ms",
        ],
        &rows,
    )?;
    let (mixed, sum) = (&shared[0], &shared[1]);
    lab.plot(
        "hash",
        &[Chart::Bars(Bars {
            title: format!(
                "Cells that share a bucket, {} cells in {} buckets",
                grouped(cells.len() as u64),
                grouped(buckets)
            ),
            note: "mean over the cells; 1 is no collision".into(),
            axis: Axis::linear("cells in a cell's bucket"),
            bars: vec![("mixed".into(), mixed.0[3]), ("sum of coordinates".into(), sum.0[3])],
        })],
    )?;
    Ok(vec![
        Claim::new(
            "The sum of a cell's coordinates is a good bucket number",
            "used without a figure (algorithm 7)",
        )
        .require(
            "cells in a cell's bucket by those of a mixed hash",
            Figure::counted(sum.0[3] / mixed.0[3]),
            Bound::at_most(2.0),
        )
        .show(format!("{:.0} cells in a bucket against {:.2}", sum.0[3], mixed.0[3]))
        .show(format!(
            "{:.1} times the tests, {:.1} times the time",
            sum.2 / mixed.2,
            sum.1 / mixed.1
        ))
        .at(format!("{n} boxes"))
        .remark(
            "every cell of a diagonal plane has the same sum: a cube of k cells a side uses 3k \
             buckets",
        ),
    ])
}

/// Median milliseconds and mean tests of a grid over a scene.
fn drive(lab: &Lab, spec: &SceneSpec, options: HashGridOptions) -> Result<[f64; 2], Failure> {
    let workers = Workers::one();
    let mut feed = Feed::unfiltered(spec, lab.pick(4, 8))?;
    let mut boxes = Boxes::new();
    let grid = Box::new(HashGrid::with_options(&workers, options));
    let mut runner = Runner::with_broad_phase("hash-grid", grid, &workers);
    let (mut times, mut tests) = (Vec::new(), 0.0);
    while feed.advance(&mut boxes)?.is_some() {
        runner.step(&boxes)?;
        boxes.commit();
        times.push(runner.time().update.as_secs_f64() * 1e3);
        tests += runner.stats().tests as f64;
        lab.check_stop()?;
    }
    let count = times.len() as f64;
    Ok([median(times), tests / count])
}

/// Work per box of three grids on one scene.
struct LevelRow {
    scene: String,
    decades: f64,
    /// Tests and milliseconds of the hierarchy.
    hierarchy: [f64; 2],
    /// As above, with one level of cells as large as the largest box.
    single: [f64; 2],
    /// Cells that a box covers on the mean, with cells as large as the median box.
    copies: f64,
}

fn levels(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(3000, 30_000);
    let mut rows = Vec::new();
    for decades in [0.0, 1.0, 2.0, 3.0, 4.0] {
        let spec = SceneSpec::new("sizes", n, 1).param("decades", decades);
        rows.push(level_row(lab, "sizes", decades, &spec)?);
    }
    let dense = SceneSpec::new("sizes", n, 1).param("density", 2.0);
    rows.push(level_row(lab, "sizes, density 2", 3.0, &dense)?);
    let city = SceneSpec::new("city", n, 1);
    rows.push(level_row(lab, "city", f64::NAN, &city)?);
    write_levels(lab, &rows, n)?;
    let (three, dense) = (&rows[3], &rows[5]);
    let tests = |row: &LevelRow| row.single[0] / row.hierarchy[0];
    let largest = rows.iter().map(tests).fold(0.0, f64::max);
    Ok(vec![
        Claim::new(
            "Where sizes differ much, cells as large as the largest box cost far more tests",
            "argued, figures 4.2 and 4.3; no figure",
        )
        .require(
            "tests by the hierarchy's over three decades",
            Figure::counted(tests(three)),
            Bound::at_least(2.0),
        )
        .show(format!("{:.1} at density 2, {largest:.1} at most", tests(dense)))
        .at(format!("{n} boxes"))
        .remark(
            "evenly spread sizes at low density leave about one box in a cell of the largest \
             size, so there one level costs little; counted",
        ),
        Claim::new(
            "… and cells as large as the median box are entered far too often",
            "argued, figure 4.2; no figure",
        )
        .require(
            "cells that a box covers on the mean over three decades",
            Figure::counted(three.copies),
            Bound::at_least(100.0),
        )
        .at(format!("{n} boxes"))
        .remark("entries of such a grid, counted exactly; in the hierarchy a box has one"),
    ])
}

fn level_row(lab: &Lab, scene: &str, decades: f64, spec: &SceneSpec) -> Result<LevelRow, Failure> {
    let options = |cells| HashGridOptions { cells, ..HashGridOptions::default() };
    let turned = |[ms, tests]: [f64; 2]| [tests, ms];
    let mut boxes = Boxes::new();
    Feed::unfiltered(spec, 1)?.advance(&mut boxes)?;
    Ok(LevelRow {
        scene: scene.into(),
        decades,
        hierarchy: turned(drive(lab, spec, options(Cells::Hierarchy))?),
        single: turned(drive(lab, spec, options(Cells::Single))?),
        copies: copies(boxes.aabbs()),
    })
}

/// Cells of the median box's size that a box covers, on the mean.
fn copies(aabbs: &[Aabb]) -> f64 {
    let side = |aabb: &Aabb| (0..3).map(|k| f64::from(aabb.extent(k))).fold(0.0, f64::max);
    let cell = median(aabbs.iter().map(side)).max(f64::MIN_POSITIVE);
    let number = |bound: f32| (f64::from(bound) / cell).floor();
    let covered = |aabb: &Aabb| {
        (0..3).map(|k| number(aabb.max[k]) - number(aabb.min[k]) + 1.0).product::<f64>()
    };
    aabbs.iter().map(covered).sum::<f64>() / aabbs.len() as f64
}

fn write_levels(lab: &mut Lab, rows: &[LevelRow], n: usize) -> Result<(), Failure> {
    let per_box = |tests: f64| format!("{:.2}", tests / n as f64);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.scene.clone(),
                row.decades.to_string(),
                n.to_string(),
                per_box(row.hierarchy[0]),
                per_box(row.single[0]),
                format!("{:.2}", row.copies),
                format!("{:.3}", row.hierarchy[1]),
                format!("{:.3}", row.single[1]),
            ]
        })
        .collect();
    lab.csv(
        "levels",
        &[
            "scene",
            "decades",
            "n",
            "hierarchy_tests_per_box",
            "single_tests_per_box",
            "median_cell_entries_per_box",
            "hierarchy_ms",
            "single_ms",
        ],
        &cells,
    )?;
    let line = |value: &dyn Fn(&LevelRow) -> f64| -> Vec<(f64, f64)> {
        rows[..5].iter().map(|row| (row.decades, value(row))).collect()
    };
    lab.plot(
        "levels",
        &[Chart::Lines(Lines {
            title: format!("Work per box if sizes differ, {} boxes", grouped(n as u64)),
            note: "sizes scene at density 0.05".into(),
            x: Axis::linear("decades between the smallest and the largest box"),
            y: Axis::log("tests or entries per box"),
            series: vec![
                Series::new("hierarchy: tests", line(&|row| row.hierarchy[0] / n as f64)),
                Series::new(
                    "cells of the largest box: tests",
                    line(&|row| row.single[0] / n as f64),
                ),
                Series::new("cells of the median box: entries", line(&|row| row.copies)),
            ],
        })],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_dealt_once_whatever_the_numbers() {
        for workers in 1..9 {
            for objects in [1, 2, 9, 10, 64, 101] {
                for schedule in [0, 1] {
                    let mut rows: Vec<usize> = (0..workers)
                        .flat_map(|worker| match schedule {
                            0 => alternating_rows(worker, workers, objects).collect::<Vec<_>>(),
                            _ => block(worker, workers, objects).collect(),
                        })
                        .filter(|row| row + 1 < objects)
                        .collect();
                    rows.sort_unstable();
                    assert!(rows.iter().copied().eq(0..objects - 1), "{workers} {objects}");
                }
            }
        }
    }
}
