//! `loi`: the broad phase of a GPU pipeline, by its counts and on a CPU.
//!
//! Loi cuts space into cells across the sweep axis, sweeps within each cell, and compares a fixed
//! cell size with one that follows the number of objects (Liu's rule of one cell for 64 000
//! objects). Here the same subdivision is done plainly on one thread with both rules, next to
//! `grid-sweep`, which chooses its columns from sizes and counts, and `hash-grid`, whose cells do
//! not copy boxes at all. With `--device` the same is done on a GPU: see `device.rs`.

mod device;
mod shift;

use std::time::Instant;

use jostle::{Aabb, Algorithm, Boxes, Workers};
use jostle_scenes::{SceneSpec, median};

use super::{Bound, Claim, Experiment, Figure, Lab, pipeline, power_law};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::runner::Runner;

/// Cell size and candidate pairs of a sweep in cells.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "loi",
    paper: "L. Loi, Fast GPU-based Collision Detection, 2010",
    about: "varying against fixed cell size, candidate pairs, ISA-GJK with hill climbing, both \
            phases",
    run,
};

/// The fixed cell: three for spheres of radius one, so one and a half mean widths.
const FIXED_CELL: f64 = 1.5;

/// Objects for each cell by Liu's rule.
const OBJECTS_PER_CELL: usize = 64_000;

/// What one way of cutting space did on one frame.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    ms: f64,
    /// Entries in cells: boxes that straddle count in each.
    entries: usize,
    tests: u64,
    pairs: usize,
}

/// The rules compared, in the order of [`Row::outcomes`].
const RULES: [&str; 4] = ["fixed cell", "cells by Liu's rule", "grid-sweep", "hash-grid"];

struct Row {
    n: usize,
    outcomes: [Outcome; 4],
    /// Milliseconds of each frame after the first.
    times: [Vec<f64>; 4],
}

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // Cubes of whole numbers, as on the thesis's axis.
    let sides = lab.pick(vec![10, 14, 18, 22, 26], vec![20, 30, 40, 50, 60, 70, 80, 90, 100]);
    let mut rows = Vec::new();
    for side in sides {
        rows.push(measure(lab, side * side * side)?);
    }
    write(lab, &rows)?;
    let mut claims = claims(&rows);
    claims.extend(pipeline::of_loi(lab)?);
    claims.push(shift::claim(lab)?);
    claims.extend(device::claims(lab)?);
    Ok(claims)
}

/// Runs all rules on the frames of a scene and keeps the median time of each.
fn measure(lab: &Lab, n: usize) -> Result<Row, Failure> {
    let spec = SceneSpec::new("uniform", n, 1).param("spread", 0.0);
    let mut feed = Feed::scene(&spec, lab.pick(5, 7))?;
    let workers = Workers::one();
    let mut boxes = Boxes::new();
    let mut runners =
        [Algorithm::GridSweep, Algorithm::HashGrid].map(|name| Runner::new(name, &workers));
    let mut samples: [Vec<Outcome>; 4] = Default::default();
    while feed.advance(&mut boxes)?.is_some() {
        samples[0].push(subdivided(boxes.aabbs(), FIXED_CELL));
        samples[1].push(subdivided(boxes.aabbs(), liu_cell(boxes.aabbs())));
        for (runner, list) in runners.iter_mut().zip(&mut samples[2..]) {
            runner.step(&boxes)?;
            let (ms, tests) = (runner.time().update.as_secs_f64() * 1e3, runner.stats().tests);
            list.push(Outcome { ms, entries: n, tests, pairs: runner.pairs().len() });
        }
        boxes.commit();
        check_agreement(&samples, n)?;
        lab.check_stop()?;
    }
    let times = std::array::from_fn(|rule| {
        samples[rule].iter().skip(1).map(|outcome: &Outcome| outcome.ms).collect()
    });
    Ok(Row { n, outcomes: samples.map(|list| typical(&list)), times })
}

fn check_agreement(samples: &[Vec<Outcome>; 4], n: usize) -> Result<(), Failure> {
    let pairs: Vec<usize> =
        samples.iter().filter_map(|list| list.last()).map(|last| last.pairs).collect();
    if pairs.windows(2).all(|two| two[0] == two[1]) {
        return Ok(());
    }
    Err(Failure::Check(format!("{n} boxes: {RULES:?} find {pairs:?} pairs; run `jostle verify`")))
}

/// The last outcome with the median time of the frames after the first.
fn typical(list: &[Outcome]) -> Outcome {
    let times = list.iter().skip(1).map(|outcome| outcome.ms);
    Outcome { ms: median(times), ..list.last().copied().unwrap_or_default() }
}

/// The cell that cuts the world into as many cells as Liu's rule says.
fn liu_cell(aabbs: &[Aabb]) -> f64 {
    let cells = aabbs.len().div_ceil(OBJECTS_PER_CELL) as f64;
    let (low, high) = extent(aabbs);
    let side = (0..2).map(|k| high[k] - low[k]).fold(0.0, f64::max);
    // A little more than the share, so that the far wall lies in the last cell.
    1.000_001 * side / cells.sqrt().ceil()
}

/// The bounds of all boxes across the sweep axis.
fn extent(aabbs: &[Aabb]) -> ([f64; 2], [f64; 2]) {
    let mut bounds = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for aabb in aabbs {
        for k in 0..2 {
            bounds.0[k] = bounds.0[k].min(f64::from(aabb.min[k + 1]));
            bounds.1[k] = bounds.1[k].max(f64::from(aabb.max[k + 1]));
        }
    }
    bounds
}

/// Cells across the sweep axis.
struct Columns {
    low: [f64; 2],
    cell: f64,
    /// Number of cells along y and z.
    count: [usize; 2],
}

impl Columns {
    fn new(aabbs: &[Aabb], cell: f64) -> Columns {
        let (low, high) = extent(aabbs);
        let mut columns = Columns { low, cell, count: [1; 2] };
        columns.count = std::array::from_fn(|k| columns.number(high[k] as f32, k) + 1);
        columns
    }

    fn number(&self, bound: f32, k: usize) -> usize {
        ((f64::from(bound) - self.low[k]) / self.cell) as usize
    }

    /// The cells that a box touches.
    fn of(&self, aabb: &Aabb) -> impl Iterator<Item = usize> + use<> {
        let span = |k: usize| self.number(aabb.min[k + 1], k)..=self.number(aabb.max[k + 1], k);
        let (ys, zs, row) = (span(0), span(1), self.count[1]);
        ys.flat_map(move |y| zs.clone().map(move |z| y * row + z))
    }

    /// The one cell in which a pair counts: that of the larger lower corner.
    fn home(&self, one: &Aabb, other: &Aabb) -> usize {
        let corner = |k: usize| self.number(one.min[k + 1].max(other.min[k + 1]), k);
        corner(0) * self.count[1] + corner(1)
    }

    /// Counts the cells of each box, sums up, and fills: the boxes cell by cell, and where each
    /// cell begins.
    fn fill(&self, aabbs: &[Aabb]) -> (Vec<u32>, Vec<usize>) {
        let mut starts = vec![0; self.count[0] * self.count[1] + 1];
        for aabb in aabbs {
            self.of(aabb).for_each(|cell| starts[cell + 1] += 1);
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[starts.len() - 1]];
        for (slot, aabb) in aabbs.iter().enumerate() {
            for cell in self.of(aabb) {
                entries[next[cell]] = slot as u32;
                next[cell] += 1;
            }
        }
        (entries, starts)
    }
}

/// The thesis's subdivision: fill the cells, sort each by lower bound, sweep along x.
fn subdivided(aabbs: &[Aabb], cell: f64) -> Outcome {
    let start = Instant::now();
    let columns = Columns::new(aabbs, cell);
    let (mut entries, starts) = columns.fill(aabbs);
    let mut outcome = Outcome { entries: entries.len(), ..Outcome::default() };
    for cell in 0..starts.len() - 1 {
        let list = &mut entries[starts[cell]..starts[cell + 1]];
        list.sort_unstable_by(|&a, &b| {
            aabbs[a as usize].min[0].total_cmp(&aabbs[b as usize].min[0]).then(a.cmp(&b))
        });
        let ours = |one: &Aabb, other: &Aabb| columns.home(one, other) == cell;
        sweep(aabbs, list, ours, &mut outcome);
    }
    outcome.ms = start.elapsed().as_secs_f64() * 1e3;
    outcome
}

fn sweep(aabbs: &[Aabb], list: &[u32], ours: impl Fn(&Aabb, &Aabb) -> bool, outcome: &mut Outcome) {
    for (place, &a) in list.iter().enumerate() {
        let one = &aabbs[a as usize];
        let others = list[place + 1..].iter().map(|&b| &aabbs[b as usize]);
        for other in others.take_while(|other| other.min[0] <= one.max[0]) {
            outcome.tests += 1;
            outcome.pairs += usize::from(one.overlaps(other) && ours(one, other));
        }
    }
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .flat_map(|row| {
            RULES.iter().zip(&row.outcomes).map(move |(rule, outcome)| {
                vec![
                    row.n.to_string(),
                    (*rule).to_owned(),
                    format!("{:.3}", outcome.ms),
                    outcome.entries.to_string(),
                    outcome.tests.to_string(),
                    outcome.pairs.to_string(),
                ]
            })
        })
        .collect();
    lab.csv("cells", &["n", "rule", "median_ms", "entries", "tests", "pairs"], &cells)?;
    let series = |value: &dyn Fn(&Outcome) -> f64| -> Vec<Series> {
        (0..RULES.len()).map(|k| Series::new(RULES[k], points(rows, k, value))).collect()
    };
    let times = Lines {
        title: "Time of the broad phase".into(),
        note: "uniform scene, one thread, median".into(),
        x: Axis::log("number of boxes"),
        y: Axis::log("milliseconds per step"),
        series: series(&|outcome| outcome.ms),
    };
    let mut counts = series(&|outcome| outcome.tests as f64);
    counts.truncate(2);
    counts.push(Series::new("pairs found", points(rows, 2, |outcome| outcome.pairs as f64)));
    let counts = Lines {
        title: "Candidates and pairs".into(),
        note: "tests along the sweep axis, and boxes that overlap".into(),
        x: Axis::log("number of boxes"),
        y: Axis::log("count per step"),
        series: counts,
    };
    lab.plot("cells", &[Chart::Lines(times), Chart::Lines(counts)])
}

fn points(rows: &[Row], rule: usize, value: impl Fn(&Outcome) -> f64) -> Vec<(f64, f64)> {
    rows.iter().map(|row| (row.n as f64, value(&row.outcomes[rule]))).collect()
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let Some(last) = rows.last() else { return Vec::new() };
    let [fixed, liu, sweep, hash] = &last.outcomes;
    let n = last.n as f64;
    let per_box = |count: f64| format!("{:.2}", count / n);
    let pairs = power_law(&points(rows, 2, |outcome| outcome.pairs as f64)).unwrap_or(f64::NAN);
    let times = power_law(&points(rows, 2, |outcome| outcome.ms)).unwrap_or(f64::NAN);
    let [fixed_ms, liu_ms] = [0, 1].map(|rule: usize| &last.times[rule]);
    let at = format!("{} boxes", last.n);
    vec![
        Claim::new(
            "A cell size that follows the number of objects beats a fixed one",
            "faster at every size on a GPU, about the scene of figure 10",
        )
        .require(
            "time of Liu's rule by that of the fixed cell, one thread",
            Figure::ratio(liu_ms, fixed_ms),
            Bound::at_most(1.0),
        )
        .show(format!("grid-sweep {:.2}, hash-grid {:.2}", sweep.ms / fixed.ms, hash.ms / fixed.ms))
        .at(at.clone())
        .over_sizes()
        .remark(
            "Liu's few large cells feed thousands of GPU threads; one thread pays for every \
             candidate, so it wants cells of a few widths",
        ),
        Claim::new(
            "Small cells cost because boxes straddle and are copied",
            "given as the reason (section 6.3)",
        )
        .require(
            "time of the small fixed cell by that of Liu's rule",
            Figure::ratio(fixed_ms, liu_ms),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{} and {} entries a box, {} and {} tests",
            per_box(fixed.entries as f64),
            per_box(liu.entries as f64),
            per_box(fixed.tests as f64),
            per_box(liu.tests as f64)
        ))
        .at(at.clone())
        .over_sizes()
        .remark("the copies are real; on one thread the candidates they save outweigh them"),
        Claim::new(
            "Potentially colliding pairs grow with the number of objects",
            "a rising curve (figure 12)",
        )
        .require("power of the pairs", Figure::counted(pairs), Bound::near(1.0, 0.15))
        .over_sizes()
        .remark("at constant density; proportional to the boxes, but for the walls"),
        Claim::new(
            "The broad phase scales well",
            "said of the parallel part (section 6.3, figure 13)",
        )
        .require("power of grid-sweep's time", Figure::counted(times), Bound::at_most(1.25))
        .over_sizes()
        .remark("one thread"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cell_size_finds_every_pair_once() {
        let mut boxes = Boxes::new();
        let spec = SceneSpec::new("uniform", 400, 3).param("density", 0.35);
        Feed::scene(&spec, 1).unwrap().advance(&mut boxes).unwrap();
        let truth = jostle::overlaps(boxes.aabbs()).unwrap().len();
        assert!(truth > 100);
        for cell in [0.3, 1.0, 1.5, 4.0, 1000.0] {
            assert_eq!(subdivided(boxes.aabbs(), cell).pairs, truth, "cell {cell}");
        }
    }
}
