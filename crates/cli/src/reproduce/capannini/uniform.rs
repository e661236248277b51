//! Boxes that fly through each other in a cube: stages, speed-up, dispersion, balance (§6).

use std::time::Duration;

use jostle::available_threads;
use jostle::broad::bidim_sap::{AxisRule, BidimSapOptions};
use jostle_scenes::SceneSpec;

use super::runner::{Course, Frame, Runner};
use super::{Claim, Lab, PARTITIONS, trees};
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

    fn speed_up(&self, slow: &str, fast: &str) -> f64 {
        self.time(slow) / self.time(fast)
    }

    /// The same by medians, with its spread.
    fn ratio(&self, slow: &str, fast: &str) -> Figure {
        ratio(self.runner(slow), self.runner(fast), |frame| frame.total_ms)
    }
}

fn scene(n: usize, density: f64) -> SceneSpec {
    SceneSpec::new("uniform", n, 1).param("density", density)
}

/// Sizes and densities: times of the stages, speed-up, dispersion.
pub(crate) fn stages(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let powers = lab.pick(vec![13, 14, 15, 16], vec![17, 18, 19, 20, 21]);
    let densities = lab.pick(vec![0.05, DENSE], vec![0.05, 0.15, 0.25, DENSE]);
    let mut cells = Vec::new();
    for &power in &powers {
        for &density in &densities {
            cells.push(measure(lab, 1 << power, density)?);
        }
    }
    write(lab, &cells)?;
    draw(lab, &cells)?;
    let largest = 1 << powers[powers.len() - 1];
    let big: Vec<&Cell> = cells.iter().filter(|cell| cell.n == largest).collect();
    Ok(vec![
        speed_up(big[big.len() - 1]),
        stage_shares(big[0], big[big.len() - 1]),
        dispersion(big[big.len() - 1]),
        beyond(big[big.len() - 1]),
    ])
}

fn measure(lab: &Lab, n: usize, density: f64) -> Result<Cell, Failure> {
    let threads = available_threads();
    let strips = BidimSapOptions::default();
    let mut runners = vec![
        Runner::new(SEQUENTIAL, trees(1, AxisRule::Adaptive), 1)?,
        Runner::new(PARALLEL, trees(PARTITIONS, AxisRule::Adaptive), threads)?,
        Runner::new(STRIPS_ONE, strips, 1)?,
        Runner::new(STRIPS_ALL, strips, threads)?,
    ];
    let course = Course {
        scene: scene(n, density),
        frames: lab.pick(6, 100),
        stride: 1,
        budget: Duration::from_secs(lab.pick(5, 60)),
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

fn draw(lab: &mut Lab, cells: &[Cell]) -> Result<(), Failure> {
    let dense: Vec<&Cell> = cells.iter().filter(|cell| cell.density == DENSE).collect();
    let Some(largest) = dense.last().map(|cell| cell.n) else { return Ok(()) };
    let by_size = |value: &dyn Fn(&Cell) -> f64| {
        dense.iter().map(|cell| (cell.n as f64, value(cell))).collect::<Vec<_>>()
    };
    let versions = [SEQUENTIAL, PARALLEL, STRIPS_ONE, STRIPS_ALL];
    let times = versions.map(|name| Series::new(name, by_size(&|cell| cell.time(name))));
    let by_density = |value: &dyn Fn(&Runner) -> f64| {
        let cells = cells.iter().filter(|cell| cell.n == largest);
        cells.map(|cell| (cell.density, value(cell.runner(PARALLEL)))).collect::<Vec<_>>()
    };
    let total = Chart::Lines(Lines {
        title: "Time of a frame".into(),
        note: format!(
            "uniform scene at density {DENSE}; least over the frames; both axes logarithmic"
        ),
        x: Axis::log("number of boxes"),
        y: Axis::log("milliseconds"),
        series: times.into(),
    });
    let speed = Chart::Lines(Lines {
        title: "Speed-up of all threads".into(),
        note: format!("{} threads over one; uniform scene at density {DENSE}", available_threads()),
        x: Axis::log("number of boxes"),
        y: Axis::linear("times as fast"),
        series: vec![
            Series::new("paper", by_size(&|cell| cell.speed_up(SEQUENTIAL, PARALLEL))),
            Series::new("strips", by_size(&|cell| cell.speed_up(STRIPS_ONE, STRIPS_ALL))),
        ],
    });
    let stages = Chart::Lines(Lines {
        title: "Stages of the paper's version".into(),
        note: format!("{} boxes, all threads; least over the frames", grouped(largest as u64)),
        x: Axis::linear("density"),
        y: Axis::linear("milliseconds"),
        series: vec![
            Series::new("sort", by_density(&|r| r.least(|frame| frame.sort_ms))),
            Series::new("candidates", by_density(&|r| r.least(|frame| frame.candidates_ms))),
            Series::new("pairing", by_density(&|r| r.least(|frame| frame.pairing_ms))),
        ],
    });
    lab.plot("stages", &[total, speed, stages])
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
    .remark("sixteen partitions however many threads")
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

fn dispersion(cell: &Cell) -> Claim {
    let greatest = cell.runner(PARALLEL).greatest(|frame| frame.dispersion);
    Claim::new(
        "Boundaries kept from the previous frame balance the sort",
        "dispersion D below 0.01 in every frame (section 6.1)",
    )
    .require("greatest dispersion", Figure::counted(greatest), Bound::at_most(0.01))
    .at(format!("{} boxes at density {DENSE}, both axes, {PARTITIONS} partitions", cell.n))
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
        .remark("strips also divide the work in another way")
}

/// Shares of the work for four to 64 partitions.
pub(crate) fn balance(lab: &mut Lab) -> Result<Claim, Failure> {
    let n = lab.pick(1 << 14, 1 << 19);
    let counts = [4usize, 8, 16, 32, 64];
    let names = ["4", "8", "16", "32", "64"];
    let runners = names.iter().zip(counts).map(|(name, count)| {
        Runner::new(name, trees(count, AxisRule::Adaptive), available_threads())
    });
    let mut runners = runners.collect::<Result<Vec<Runner>, Failure>>()?;
    let course = Course {
        scene: scene(n, DENSE),
        frames: 4,
        stride: 1,
        budget: Duration::from_secs(lab.pick(5, 60)),
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
    Ok(Claim::new(
        "The partitions' work is almost perfectly balanced",
        "standard deviation of the shares below 1.5 % with 4 to 64 threads (section 6.3)",
    )
    .require("deviation of the pairs in percent", Figure::counted(pairs), Bound::at_most(1.5))
    .require("deviation of the tests in percent", Figure::counted(tests), Bound::at_most(1.5))
    .at(format!("{n} boxes at density {DENSE}, 4 to 64 partitions"))
    .remark("counted"))
}
