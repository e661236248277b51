//! Boxes that fly through each other in a cube: stages, speed-up, dispersion, balance (§6).

use jostle::available_threads;
use jostle::broad::bidim_sap::{AxisRule, BidimSapOptions};
use jostle_scenes::SceneSpec;

use super::runner::{Course, Frame, Runner};
use super::{Claim, Lab, PARTITIONS, sequential, trees};
use crate::reproduce::{Bound, Figure};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

const SEQUENTIAL: &str = "paper, sequential";
const PARALLEL: &str = "paper, all threads";
const STRIPS_ONE: &str = "strips, one thread";
const STRIPS_ALL: &str = "strips, all threads";

/// The paper's highest density.
const DENSE: f64 = 0.35;

/// All runners on one size and density.
struct Cell {
    n: usize,
    density: f64,
    runners: Vec<Runner>,
}

impl Cell {
    fn runner(&self, name: &str) -> &Runner {
        let named = |runner: &&Runner| runner.name == name;
        self.runners.iter().find(named).unwrap_or(&self.runners[0])
    }

    fn time(&self, name: &str) -> f64 {
        self.runner(name).least(|frame| frame.total_ms)
    }

    /// How many times as fast one is as the other, by medians, with its spread.
    fn ratio(&self, slow: &str, fast: &str) -> Figure {
        ratio(self.runner(slow), self.runner(fast), |frame| frame.total_ms)
    }
}

pub(super) fn scene(n: usize, density: f64) -> SceneSpec {
    SceneSpec::new("uniform", n, 1).param("density", density)
}

/// Sizes and densities: times of the stages, speed-up, dispersion.
pub(crate) fn stages(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // The paper's three sizes, and one to see growth by.
    let powers = lab.pick(vec![13, 14, 15], vec![17, 19, 20, 21]);
    let densities = lab.pick(vec![0.05, DENSE], vec![0.05, 0.15, 0.25, DENSE]);
    let mut cells = Vec::new();
    lab.units(powers.len() * densities.len());
    for &power in &powers {
        for &density in &densities {
            cells.push(measure(lab, 1 << power, density)?);
        }
    }
    write(lab, &cells)?;
    draw(lab, &cells)?;
    Ok(stage_claims(&cells))
}

/// The cells are in order of size, and of density within a size.
fn stage_claims(cells: &[Cell]) -> Vec<Claim> {
    let largest = cells.iter().map(|cell| cell.n).max().unwrap_or(0);
    let big: Vec<&Cell> = cells.iter().filter(|cell| cell.n == largest).collect();
    let (thin, dense) = (big[0], big[big.len() - 1]);
    let million = cells.iter().rev().find(|cell| cell.n <= 1 << 20).unwrap_or(dense);
    vec![
        speed_up(dense),
        sorting(dense),
        candidates(thin, dense),
        pairing(thin, dense),
        stage_shares(thin, dense),
        million_boxes(million),
        beyond(dense),
    ]
}

fn measure(lab: &Lab, n: usize, density: f64) -> Result<Cell, Failure> {
    let threads = available_threads();
    let strips = BidimSapOptions::default();
    let mut runners = vec![
        Runner::new(SEQUENTIAL, sequential(), 1)?,
        Runner::new(PARALLEL, trees(threads, AxisRule::Adaptive), threads)?,
    ];
    // Not the paper's: at one density they are enough.
    if density == DENSE {
        runners.push(Runner::new(STRIPS_ONE, strips, 1)?);
        runners.push(Runner::new(STRIPS_ALL, strips, threads)?);
    }
    // A hundred iterations, as in the paper, or as many as tell as much.
    let course = Course {
        scene: scene(n, density),
        frames: lab.pick(6, 101),
        stride: 1,
        may_end: true,
        known: Some(0.02),
    };
    course.run(lab, &mut runners)?;
    Ok(Cell { n, density, runners })
}

fn write(lab: &mut Lab, cells: &[Cell]) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for cell in cells {
        for runner in &cell.runners {
            let times = [
                runner.least(|frame| frame.sort_ms),
                runner.least(|frame| frame.candidates_ms),
                runner.least(|frame| frame.pairing_ms),
                runner.least(|frame| frame.total_ms),
            ];
            let mut row =
                vec![cell.n.to_string(), cell.density.to_string(), runner.name.to_owned()];
            row.extend(times.iter().map(|time| format!("{time:.3}")));
            row.push(format!("{:.0}", runner.mean(|frame| frame.tests)));
            row.push(format!("{:.0}", runner.mean(|frame| frame.pairs as f64)));
            row.push(format!("{:.5}", runner.greatest(|frame| frame.dispersion)));
            row.push(runner.frames.len().to_string());
            rows.push(row);
        }
    }
    let header = [
        "n",
        "density",
        "version",
        "sort_ms",
        "candidates_ms",
        "pairing_ms",
        "total_ms",
        "tests",
        "pairs",
        "greatest_dispersion",
        "frames",
    ];
    lab.csv("stages", &header, &rows)
}

/// A stage of the algorithm, by its time in a frame.
type Stage = fn(&Frame) -> f64;

fn draw(lab: &mut Lab, cells: &[Cell]) -> Result<(), Failure> {
    let sort: Stage = |frame| frame.sort_ms;
    let candidates: Stage = |frame| frame.candidates_ms;
    let pairing: Stage = |frame| frame.pairing_ms;
    let dense: Vec<&Cell> = cells.iter().filter(|cell| cell.density == DENSE).collect();
    let all: Vec<&Cell> = cells.iter().collect();
    draw_stage(lab, "figure-1", "Sorting", &dense, sort)?;
    draw_stage(lab, "figure-2", "Candidates", &all, candidates)?;
    draw_stage(lab, "figure-3", "Pairing", &all, pairing)?;
    draw_layers(lab, cells)?;
    draw_strips(lab, &dense)
}

/// Figures 1 to 3: time and speed-up of a stage against the number of boxes, for each density.
fn draw_stage(
    lab: &mut Lab,
    file: &str,
    name: &str,
    cells: &[&Cell],
    stage: Stage,
) -> Result<(), Failure> {
    let mut densities: Vec<f64> = cells.iter().map(|cell| cell.density).collect();
    densities.sort_by(f64::total_cmp);
    densities.dedup();
    let line = |label: String, density: f64, value: &dyn Fn(&Cell) -> f64| {
        let mine = cells.iter().filter(|cell| cell.density == density);
        Series::new(&label, mine.map(|cell| (cell.n as f64, value(cell))).collect())
    };
    let (mut times, mut gains, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for &density in &densities {
        let group = format!("density {density}");
        for (version, dash) in [(SEQUENTIAL, 0), (PARALLEL, 1)] {
            let short = if dash == 0 { "sequential" } else { "parallel" };
            let time = |cell: &Cell| cell.runner(version).least(stage);
            times.push(line(format!("{short}, {group}"), density, &time).in_group(&group, dash));
        }
        let gain = |cell: &Cell| ratio(cell.runner(SEQUENTIAL), cell.runner(PARALLEL), stage).value;
        gains.push(line(group, density, &gain));
        for cell in cells.iter().filter(|cell| cell.density == density) {
            let [one, all] = [SEQUENTIAL, PARALLEL].map(|name| cell.runner(name).least(stage));
            let figures = [one, all, gain(cell)].map(|value| format!("{value:.4}"));
            let key = vec![cell.n.to_string(), density.to_string()];
            rows.push([key, figures.to_vec()].concat());
        }
    }
    let header = ["n", "density", "sequential_min_ms", "parallel_min_ms", "median_speed_up"];
    lab.csv(file, &header, &rows)?;
    let threads = available_threads();
    let chart = |title: String, note: String, y: Axis, series: Vec<Series>| {
        Chart::Lines(Lines { title, note, x: Axis::log("number of boxes"), y, series })
    };
    lab.plot(
        file,
        &[
            chart(
                format!("{name}: time"),
                "uniform scene; least over the frames; both axes logarithmic".into(),
                Axis::log("milliseconds"),
                times,
            ),
            chart(
                format!("{name}: speed-up"),
                format!("{threads} threads and partitions over the sequential version"),
                Axis::linear("times as fast"),
                gains,
            ),
        ],
    )
}

/// Figure 4: the stages on top of each other against density, and the speed-up of the whole.
fn draw_layers(lab: &mut Lab, cells: &[Cell]) -> Result<(), Failure> {
    let mut sizes: Vec<usize> = cells.iter().map(|cell| cell.n).collect();
    sizes.dedup();
    let sizes = &sizes[sizes.len().saturating_sub(3)..];
    let at = |n: usize, value: &dyn Fn(&Cell) -> f64| -> Vec<(f64, f64)> {
        let mine = cells.iter().filter(|cell| cell.n == n);
        mine.map(|cell| (cell.density, value(cell))).collect()
    };
    let layers: [(&str, Stage); 3] = [
        ("sort", |frame| frame.sort_ms),
        ("… + candidates", |frame| frame.sort_ms + frame.candidates_ms),
        ("… + pairing", |frame| frame.sort_ms + frame.candidates_ms + frame.pairing_ms),
    ];
    let mut charts = Vec::new();
    for &n in sizes {
        let line = |(name, stage): &(&str, Stage)| {
            Series::new(name, at(n, &|cell| cell.runner(PARALLEL).least(stage)))
        };
        charts.push(Chart::Lines(Lines {
            title: format!("Stages of the parallel version, {} boxes", grouped(n as u64)),
            note: format!("{} threads; each line adds a stage", available_threads()),
            x: Axis::linear("density"),
            y: Axis::linear("milliseconds"),
            series: layers.iter().map(line).collect(),
        }));
    }
    let gain = |n: &usize| {
        let points = at(*n, &|cell| cell.ratio(SEQUENTIAL, PARALLEL).value);
        Series::new(&format!("{} boxes", grouped(*n as u64)), points)
    };
    charts.push(Chart::Lines(Lines {
        title: "Speed-up of the whole".into(),
        note: format!("{} threads over the sequential version", available_threads()),
        x: Axis::linear("density"),
        y: Axis::linear("times as fast"),
        series: sizes.iter().map(gain).collect(),
    }));
    let rows = cells.iter().map(|cell| {
        let layers = layers.map(|(_, stage)| cell.runner(PARALLEL).least(stage));
        let gain = cell.ratio(SEQUENTIAL, PARALLEL).value;
        let figures = [layers[0], layers[1], layers[2], gain].map(|value| format!("{value:.4}"));
        [vec![cell.n.to_string(), cell.density.to_string()], figures.to_vec()].concat()
    });
    let header = ["n", "density", "sort_ms", "sort_and_candidates_ms", "all_ms", "median_speed_up"];
    lab.csv("figure-4", &header, &rows.collect::<Vec<_>>())?;
    lab.plot("figure-4", &charts)
}

/// Not in the paper: the library's strips next to both versions.
fn draw_strips(lab: &mut Lab, dense: &[&Cell]) -> Result<(), Failure> {
    let versions = [SEQUENTIAL, PARALLEL, STRIPS_ONE, STRIPS_ALL];
    let line = |name: &str| {
        let points = dense.iter().map(|cell| (cell.n as f64, cell.time(name))).collect();
        Series::new(name, points)
    };
    lab.plot(
        "stages",
        &[Chart::Lines(Lines {
            title: "Time of a frame".into(),
            note: format!("uniform scene at density {DENSE}; least over the frames; both axes log"),
            x: Axis::log("number of boxes"),
            y: Axis::log("milliseconds"),
            series: versions.map(line).into(),
        })],
    )
}

fn speed_up(cell: &Cell) -> Claim {
    let threads = available_threads();
    let figure = cell.ratio(SEQUENTIAL, PARALLEL);
    Claim::new(
        "The parallel version scales almost ideally",
        "almost 16 times with 16 cores, all stages (section 6.4)",
    )
    .require("times as fast with 16 threads", figure, Bound::at_least(0.9 * PARTITIONS as f64))
    .show(format!("measured with {threads} threads"))
    .at(format!("{} boxes at density {}", cell.n, cell.density))
    .needs_cores(PARTITIONS, threads)
    .remark("against Algorithm 1; as many partitions as threads")
}

/// The speed-up of a stage, as a claim about the paper's sixteen cores.
fn of_sixteen(claim: Claim, cell: &Cell) -> Claim {
    let threads = available_threads();
    claim
        .show(format!("measured with {threads} threads"))
        .at(format!("{} boxes at density {}", cell.n, cell.density))
        .needs_cores(PARTITIONS, threads)
}

fn gain(cell: &Cell, stage: Stage) -> Figure {
    ratio(cell.runner(SEQUENTIAL), cell.runner(PARALLEL), stage)
}

fn sorting(cell: &Cell) -> Claim {
    let (sort, whole) = (gain(cell, |frame| frame.sort_ms), gain(cell, |frame| frame.total_ms));
    let claim = Claim::new(
        "Sorting scales modestly: partitions have to be set up, and radix passes only copy",
        "less than the other stages (section 6.1, figure 1)",
    )
    .require("speed-up of sorting by that of the whole", sort.over(whole), Bound::at_most(1.0))
    .show(format!("{sort} times as fast"));
    of_sixteen(claim, cell)
}

fn candidates(thin: &Cell, dense: &Cell) -> Claim {
    let stage: Stage = |frame| frame.candidates_ms;
    let (few, many) = (gain(thin, stage), gain(dense, stage));
    let claim = Claim::new(
        "The speed-up of the candidates falls slightly as density grows",
        "in some cases (section 6.2, figure 2)",
    )
    .require("speed-up if dense by that if thin", many.over(few), {
        Bound::Between { least: 0.7, most: 1.0 }
    })
    .show(format!("{many} and {few} times as fast"));
    of_sixteen(claim, dense)
}

fn pairing(thin: &Cell, dense: &Cell) -> Claim {
    let stage: Stage = |frame| frame.pairing_ms;
    let (few, many) = (gain(thin, stage), gain(dense, stage));
    let claim = Claim::new(
        "Pairing scales better the denser the scene, beyond the number of threads",
        "super-linear in dense large scenes (section 6.3, figure 3)",
    )
    .require("times as fast with 16 threads", many, Bound::at_least(PARTITIONS as f64))
    .require("the same by that of the thin scene", many.over(few), Bound::at_least(1.0));
    of_sixteen(claim, dense)
}

fn million_boxes(cell: &Cell) -> Claim {
    let claim = Claim::new(
        "A million boxes take 122 to 167 ms, depending on density",
        "122 to 167 ms with 16 cores (section 8, figure 4)",
    )
    .require(
        "milliseconds of the parallel version",
        cell.runner(PARALLEL).figure(|frame| frame.total_ms),
        Bound::at_most(167.0).better_from(122.0),
    )
    .show(format!("strips {} ms", cell.runner(STRIPS_ALL).figure(|frame| frame.total_ms)))
    .over_sizes();
    of_sixteen(claim, cell)
}

fn stage_shares(thin: &Cell, dense: &Cell) -> Claim {
    let early = |frame: &Frame| frame.sort_ms + frame.candidates_ms;
    let pairing = |frame: &Frame| frame.pairing_ms;
    let [thin_run, dense_run] = [thin, dense].map(|cell| cell.runner(PARALLEL));
    let share = |frame: &Frame| 100.0 * pairing(frame) / (early(frame) + pairing(frame));
    Claim::new(
        "Sorting and candidates hardly depend on density; pairing dominates and grows",
        "pairing is most of the time at density 0.35 (section 6.4, figure 4)",
    )
    .require("growth of the first stages", ratio(dense_run, thin_run, early), Bound::at_most(1.5))
    .require("growth of pairing", ratio(dense_run, thin_run, pairing), Bound::at_least(1.5))
    .require("percent of the time in pairing", dense_run.figure(share), Bound::at_least(50.0))
    .at(format!("{} boxes, density {} to {}", dense.n, thin.density, dense.density))
}

/// How a value of one runner compares with that of another on frames of the same numbers.
fn ratio(one: &Runner, other: &Runner, value: impl Fn(&Frame) -> f64 + Copy) -> Figure {
    Figure::ratio(&one.values(value), &other.values(value))
}

fn dispersion(runner: &Runner, n: usize) -> Claim {
    let greatest = runner.greatest(|frame| frame.dispersion);
    Claim::new(
        "Boundaries kept from the previous frame balance the sort",
        "dispersion D below 0.01 in every frame (section 6.1)",
    )
    .require("greatest dispersion", Figure::counted(greatest), Bound::at_most(0.01))
    .at(format!("{n} boxes at density {DENSE}, both axes, {PARTITIONS} partitions"))
    .remark("counted in every frame after the first")
}

fn beyond(cell: &Cell) -> Claim {
    let tests = |name: &str| cell.runner(name).mean(|frame| frame.tests);
    let all = cell.ratio(PARALLEL, STRIPS_ALL);
    Claim::new("Vector instructions can improve it further", "expected, not tried (section 9)")
        .require(
            "times as fast on one thread",
            cell.ratio(SEQUENTIAL, STRIPS_ONE),
            Bound::at_least(1.0),
        )
        .show(format!("{all} times on all threads"))
        .show(format!("{:.2} times the tests", tests(STRIPS_ONE) / tests(SEQUENTIAL)))
        .at(format!("{} boxes at density {}", cell.n, cell.density))
        .remark("strips also divide the work in another way; against Algorithm 1")
}

/// Shares of the work for four to 64 partitions.
pub(crate) fn balance(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(1 << 14, 1 << 19);
    let counts = [4usize, 8, 16, 32, 64];
    let names = ["4", "8", "16", "32", "64"];
    let runners = names.iter().zip(counts).map(|(name, count)| {
        Runner::new(name, trees(count, AxisRule::Adaptive), available_threads())
    });
    let mut runners = runners.collect::<Result<Vec<Runner>, Failure>>()?;
    let course = Course {
        scene: scene(n, DENSE),
        frames: lab.pick(4, 20),
        stride: 1,
        may_end: true,
        known: None,
    };
    course.run(lab, &mut runners)?;
    let worst = |runner: &Runner, which: usize| runner.greatest(|frame| frame.deviation[which]);
    let points = |which: usize| {
        counts
            .iter()
            .zip(&runners)
            .map(move |(&count, runner)| (count as f64, worst(runner, which)))
    };
    let rows: Vec<Vec<String>> = points(0)
        .zip(points(1))
        .map(|((count, tests), (_, pairs))| {
            vec![count.to_string(), format!("{tests:.4}"), format!("{pairs:.4}")]
        })
        .collect();
    lab.csv("balance", &["partitions", "deviation_of_tests", "deviation_of_pairs"], &rows)?;
    lab.plot(
        "balance",
        &[Chart::Lines(Lines {
            title: "Balance of the partitions".into(),
            note: format!(
                "standard deviation of their shares; {} boxes at density {DENSE}",
                grouped(n as u64)
            ),
            x: Axis::log("partitions"),
            y: Axis::linear("percent of the whole"),
            series: vec![
                Series::new("tests", points(0).collect()),
                Series::new("pairs", points(1).collect()),
                Series::reference("paper's bound", vec![(4.0, 1.5), (64.0, 1.5)]),
            ],
        })],
    )?;
    let (tests, pairs) =
        (super::greatest(points(0).map(|p| p.1)), super::greatest(points(1).map(|p| p.1)));
    let sixteen = counts.iter().position(|&count| count == PARTITIONS).unwrap_or(0);
    Ok(vec![shares(tests, pairs, n), dispersion(&runners[sixteen], n)])
}

fn shares(tests: f64, pairs: f64, n: usize) -> Claim {
    Claim::new(
        "The partitions' work is almost perfectly balanced",
        "standard deviation of the shares below 1.5 % with 4 to 64 threads (section 6.3)",
    )
    .require("deviation of the pairs in percent", Figure::counted(pairs), Bound::at_most(1.5))
    .require("deviation of the tests in percent", Figure::counted(tests), Bound::at_most(1.5))
    .at(format!("{n} boxes at density {DENSE}, 4 to 64 partitions"))
    .remark("counted")
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{self, Better, Fails, Holds};
    use super::*;

    /// Times of sort, candidates and pairing in each of five frames.
    fn runner(name: &'static str, [sort_ms, candidates_ms, pairing_ms]: [f64; 3]) -> Runner {
        let total_ms = sort_ms + candidates_ms + pairing_ms;
        let frame = Frame { sort_ms, candidates_ms, pairing_ms, total_ms, ..Frame::default() };
        Runner::made_up(name, vec![frame; 5])
    }

    fn cell(density: f64, one: [f64; 3], all: [f64; 3], strips: f64) -> Cell {
        let strips = [0.0, 0.0, strips];
        let runners = vec![
            runner(SEQUENTIAL, one),
            runner(PARALLEL, all),
            runner(STRIPS_ONE, strips),
            runner(STRIPS_ALL, strips),
        ];
        Cell { n: 1 << 20, density, runners }
    }

    fn judged(thin: Cell, dense: Cell) -> Vec<Verdict> {
        stage_claims(&[thin, dense]).iter().map(Claim::judged).collect()
    }

    #[test]
    fn the_stages_are_judged_on_both_sides() {
        let thin = || cell(0.05, [160.0, 160.0, 160.0], [20.0, 10.0, 12.0], 9.0);
        let good = cell(DENSE, [180.0, 180.0, 1900.0], [20.0, 12.0, 110.0], 9.0);
        // Speed-up, sorting, candidates, pairing, shares, a million boxes, strips.
        assert_eq!(judged(thin(), good), [Holds; 7]);
        let bad = cell(DENSE, [900.0, 90.0, 160.0], [60.0, 20.0, 90.0], 2000.0);
        assert_eq!(judged(thin(), bad), [Fails; 7]);
        let fast = cell(DENSE, [180.0, 180.0, 1900.0], [10.0, 12.0, 98.0], 9.0);
        assert_eq!(judged(thin(), fast)[5], Better);
    }

    #[test]
    fn counts_are_judged_on_both_sides() {
        let frames = |dispersion| vec![Frame { dispersion, ..Frame::default() }; 3];
        let verdict = |most| dispersion(&Runner::made_up("made up", frames(most)), 9).judged();
        assert_eq!((verdict(0.009), verdict(0.011)), (Holds, Fails));
        assert_eq!(shares(1.4, 1.4, 9).judged(), Holds);
        assert_eq!(shares(1.6, 1.4, 9).judged(), Fails);
        assert_eq!(shares(1.4, 1.6, 9).judged(), Fails);
    }
}
