//! `loi`: the broad phase of a GPU pipeline, by its counts and on a CPU.
//!
//! Loi cuts space into cells across the sweep axis, sweeps within each cell, and compares a fixed
//! cell size with one that follows the number of objects (Liu's rule of one cell for 64 000
//! objects). Here the same subdivision is done plainly on one thread with both rules, next to
//! `grid-sweep`, which chooses its columns from sizes and counts, and `hash-grid`, whose cells do
//! not copy boxes at all. With `--device` the same is done on a GPU: see `device.rs`.

mod device;
mod liu;
mod shift;

use std::time::Instant;

use jostle::{Aabb, Algorithm, Boxes, Workers};
use jostle_scenes::{SceneSpec, median};

use super::{Bound, Claim, Experiment, Figure, Lab, Part, pipeline, power_law};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::runner::Runner;

/// Cell size and candidate pairs of a sweep in cells.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "loi",
    about: "varying against fixed cell size, candidate pairs, ISA-GJK with hill climbing, both \
            phases",
    parts: &[
        part("cells", "figure 10: a fixed cell and Liu's rule", [3.0, 150.0], cells),
        part("rule", "figure 10: objects for each cell, from few to many", [6.0, 60.0], rule),
        part("isa-gjk", "figure 11: hill climbing", [1.0, 10.0], pipeline::climbing),
        part("phases", "figures 12 and 13: both phases", [3.0, 60.0], pipeline::phases),
        part("detail", "sections 5.2.3 and 6.2: ISA-GJK and GJK", [2.0, 40.0], pipeline::detail),
        part(
            "narrow-phases",
            "sections 5.2 and 6.2: Lin-Canny, V-Clip, Chung-Wang, GJK",
            [1.0, 8.0],
            pipeline::contest,
        ),
        part("solvers", "section 6.2.1: Johnson, regions, starts", [1.0, 3.0], pipeline::solvers),
        part("neighbours", "figure 9: artificial neighbours", [1.0, 3.0], pipeline::neighbours),
        part("liu", "sections 5.1 and 8: Liu's and Le Grand's other ideas", [1.0, 6.0], liu::run),
        part("shift", "section 6.1.1: cells shifted apart", [1.0, 10.0], shift::run),
        part("device", "figures 10 and 13 on a GPU", [1.0, 60.0], device::claims),
    ],
};

const fn part(
    name: &'static str,
    about: &'static str,
    seconds: [f64; 2],
    run: fn(&mut Lab) -> Result<Vec<Claim>, Failure>,
) -> Part {
    Part { name, about, seconds, run }
}

/// The fixed cell: three for spheres of radius one, so one and a half mean widths.
const FIXED_CELL: f64 = 1.5;

/// Objects for each cell by Liu's rule.
const OBJECTS_PER_CELL: usize = 64_000;

/// What one way of cutting space did on one frame.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    ms: f64,
    /// Entries in cells: boxes that straddle count in each. None if the algorithm does not tell.
    entries: Option<usize>,
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

/// Figure 10.
fn cells(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // Cubes of whole numbers, as on the thesis's axis. Up to 40 a side Liu's rule has one cell; a
    // quick run ends with a size that has two.
    let sides = lab.pick(vec![10, 20, 30, 45], vec![20, 30, 40, 50, 60, 70, 80]);
    let mut rows = Vec::new();
    for side in sides {
        rows.push(measure(lab, side * side * side)?);
    }
    write(lab, &rows)?;
    Ok(claims(&rows))
}

/// Liu's rule with other numbers of objects for each cell: whether it is the number or the rule.
fn rule(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(27_000, 125_000);
    let spec = SceneSpec::new("uniform", n, 1).param("spread", 0.0);
    let mut boxes = Boxes::new();
    Feed::unfiltered(&spec, 1)?.advance(&mut boxes)?;
    let counts: Vec<usize> = [16, 64, 250, 1000, 4000, 16_000, OBJECTS_PER_CELL].into();
    let mut rounds: Vec<Vec<Outcome>> = vec![Vec::new(); counts.len()];
    for _ in 0..lab.pick(3, 7) {
        for (&count, list) in counts.iter().zip(&mut rounds) {
            lab.check_stop()?;
            list.push(subdivided(boxes.aabbs(), cell_for(boxes.aabbs(), count)));
        }
    }
    let ms = |k: usize| median(rounds[k].iter().map(|outcome| outcome.ms));
    let rows: Vec<Vec<String>> = (0..counts.len())
        .map(|k| {
            let Outcome { entries, tests, pairs, .. } = rounds[k][0];
            let entries = entries.unwrap_or(0).to_string();
            vec![
                counts[k].to_string(),
                format!("{:.3}", ms(k)),
                entries,
                tests.to_string(),
                pairs.to_string(),
            ]
        })
        .collect();
    lab.csv("rule", &["objects_per_cell", "median_ms", "entries", "tests", "pairs"], &rows)?;
    let line = |name: &str, value: &dyn Fn(usize) -> f64| {
        Series::new(name, (0..counts.len()).map(|k| (counts[k] as f64, value(k))).collect())
    };
    let chart = |title: &str, y: &str, series| {
        Chart::Lines(Lines {
            title: title.into(),
            note: format!("uniform scene of {n} boxes, one thread; both axes logarithmic"),
            x: Axis::log("objects for each cell"),
            y: Axis::log(y),
            series,
        })
    };
    lab.plot(
        "rule",
        &[
            chart(
                "Time by objects for each cell",
                "milliseconds per step",
                vec![line("columns", &ms)],
            ),
            chart(
                "Work by objects for each cell",
                "count for each box",
                vec![
                    line("tests", &|k| rounds[k][0].tests as f64 / n as f64),
                    line("entries", &|k| rounds[k][0].entries.unwrap_or(0) as f64 / n as f64),
                ],
            ),
        ],
    )?;
    let best = (0..counts.len()).min_by(|&a, &b| ms(a).total_cmp(&ms(b))).unwrap_or(0);
    let list = |k: usize| -> Vec<f64> { rounds[k].iter().map(|outcome| outcome.ms).collect() };
    let tests = |k: usize| rounds[k][0].tests as f64;
    Ok(vec![
        Claim::new(
            "One cell for 64 000 objects is a good number",
            "taken from Liu, works well for this scene (section 6.3)",
        )
        .require(
            "time of 64 000 by that of the best number, one thread",
            Figure::ratio(&list(counts.len() - 1), &list(best)),
            Bound::at_most(1.15),
        )
        .show(format!("best with {} objects for each cell", counts[best]))
        .at(format!("{n} boxes"))
        .because(
            "a GPU needs thousands of boxes in a cell to be busy; a thread wants as few candidates \
             as copies allow",
            "tests with 64 000 by those with the best number",
            Figure::counted(tests(counts.len() - 1) / tests(best)),
            Bound::at_least(4.0),
        ),
    ])
}

/// Runs all rules on the frames of a scene and keeps the median time of each.
fn measure(lab: &Lab, n: usize) -> Result<Row, Failure> {
    let spec = SceneSpec::new("uniform", n, 1).param("spread", 0.0);
    let mut feed = Feed::unfiltered(&spec, lab.pick(4, 7))?;
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
            let (ms, stats) = (runner.time().update.as_secs_f64() * 1e3, runner.stats());
            let entries = stats.count("entries").map(|count| count as usize);
            list.push(Outcome { ms, entries, tests: stats.tests, pairs: runner.pairs().len() });
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
    cell_for(aabbs, OBJECTS_PER_CELL)
}

/// The cell size at which a cell holds `objects` objects on average.
fn cell_for(aabbs: &[Aabb], objects: usize) -> f64 {
    let cells = aabbs.len().div_ceil(objects) as f64;
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
    let mut outcome = Outcome { entries: Some(entries.len()), ..Outcome::default() };
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
                    outcome.entries.map_or(String::new(), |count| count.to_string()),
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
    let entries = |outcome: &Outcome| outcome.entries.unwrap_or(0) as f64;
    let times = power_law(&points(rows, 2, |outcome| outcome.ms)).unwrap_or(f64::NAN);
    let [fixed_ms, liu_ms] = [0, 1].map(|rule: usize| &last.times[rule]);
    let at = format!("{} boxes", last.n);
    let varying = Claim::new(
        "A cell size that follows the number of objects beats a fixed one",
        "faster at every size on a GPU (figure 10)",
    );
    let varying = rows.iter().fold(varying, |claim, row| {
        let figure = Figure::ratio(&row.times[1], &row.times[0]);
        let what = format!("time of Liu's rule by that of the fixed cell, {} boxes", row.n);
        claim.require(what, figure, Bound::at_most(1.0))
    });
    vec![
        varying
            .show(format!(
                "grid-sweep {:.2}, hash-grid {:.2} of the fixed cell's at the largest",
                sweep.ms / fixed.ms,
                hash.ms / fixed.ms
            ))
            .remark("one thread")
            .because(
                "Liu's few large cells feed thousands of GPU threads; one thread pays for every \
                 candidate, so it wants cells of a few widths",
                format!("tests of Liu's rule by those of the fixed cell, {at}"),
                Figure::counted(liu.tests as f64 / fixed.tests as f64),
                Bound::at_least(10.0),
            ),
        Claim::new(
            "Small cells cost because boxes straddle and are copied",
            "given as the reason (section 6.3)",
        )
        .require(
            "entries of the small fixed cell by those of Liu's rule",
            Figure::counted(entries(fixed) / entries(liu)),
            Bound::at_least(1.0),
        )
        .require(
            "time of the small fixed cell by that of Liu's rule",
            Figure::ratio(fixed_ms, liu_ms),
            Bound::at_least(1.0),
        )
        .show(format!(
            "{} and {} entries a box, {} and {} tests",
            per_box(entries(fixed)),
            per_box(entries(liu)),
            per_box(fixed.tests as f64),
            per_box(liu.tests as f64)
        ))
        .at(at)
        .because(
            "the copies are real; on one thread the candidates they spare outweigh them",
            "tests spared for each entry more",
            Figure::counted(
                (liu.tests as f64 - fixed.tests as f64) / (entries(fixed) - entries(liu)),
            ),
            Bound::at_least(10.0),
        ),
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
