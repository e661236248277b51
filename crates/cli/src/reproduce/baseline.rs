//! `baseline`: how the work of one-axis sweeping grows with the number of boxes.
//!
//! Tracy, Buss and Woods estimate that in a cube filled to constant density, the pairs that meet
//! on one axis grow as n^(2 - 1/k) in k dimensions, n^(5/3) in space, and fit a power of 1.76 to
//! the swaps they count. `sort-sweep` tests exactly the pairs that overlap on its axis, so its
//! tests follow the same law, and they can be counted without noise.

use jostle::Algorithm;
use jostle_scenes::SceneSpec;

use super::{Bound, Claim, Experiment, Figure, Lab, Part, power_law};
use crate::bench::{Entrant, Measured};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// Sweeping along one axis against the law of its work.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "baseline",
    about: "growth of sort-sweep's tests with the number of boxes, uniform scene",
    parts: &[Part {
        name: "growth",
        about: "section 2.1: tests of sweeping one axis against the law",
        seconds: [1.0, 5.0],
        run,
    }],
};

/// The scene's share of volume that is filled.
const DENSITY: f64 = 0.05;

/// How far a fitted power may lie from the law's: the paper's own fit is 0.09 off.
const TOLERANCE: f64 = 0.1;

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(
        vec![500, 1000, 2000, 4000, 8000],
        vec![1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000],
    );
    let mut rows = Vec::new();
    for n in sizes {
        let scene = SceneSpec::new("uniform", n, 1).param("density", DENSITY);
        let entrants = [Entrant::single(Algorithm::SortSweep)];
        rows.extend(lab.measure(&scene, lab.pick(4, 10), &entrants)?);
    }
    write(lab, &rows)?;
    let tests = power_law(&points(&rows, tests)).unwrap_or(f64::NAN);
    let pairs = power_law(&points(&rows, |row| row.pairs() as f64)).unwrap_or(f64::NAN);
    let sizes = format!("{} to {} boxes", rows[0].n, rows[rows.len() - 1].n);
    Ok(claims(tests, pairs, &sizes))
}

fn claims(tests: f64, pairs: f64, sizes: &str) -> Vec<Claim> {
    vec![
        Claim::new(
            "At constant density, work along one axis grows as n^(2 - 1/3)",
            "power 5/3 = 1.67 by analysis, 1.76 fitted to swaps (section 2)",
        )
        .require("power of sort-sweep's tests", Figure::counted(tests), near(5.0 / 3.0))
        .at(sizes)
        .over_sizes()
        .remark("tests are counted, not swaps: both are the pairs that meet on an axis"),
        Claim::new(
            "Overlapping pairs grow in proportion to the boxes",
            "power 1, by constant density (section 2)",
        )
        .require("power of pairs", Figure::counted(pairs), near(1.0))
        .at(sizes)
        .over_sizes()
        .remark("walls take a smaller share of a larger world"),
    ]
}

fn near(power: f64) -> Bound {
    Bound::near(power, TOLERANCE)
}

fn tests(row: &Measured) -> f64 {
    row.mean(|sample| sample.tests)
}

fn points(rows: &[Measured], value: impl Fn(&Measured) -> f64) -> Vec<(f64, f64)> {
    rows.iter().map(|row| (row.n as f64, value(row))).collect()
}

fn write(lab: &mut Lab, rows: &[Measured]) -> Result<(), Failure> {
    let cells = rows.iter().map(|row| {
        let (tests, time) = (tests(row), row.median_ms());
        vec![
            row.n.to_string(),
            format!("{tests:.0}"),
            row.pairs().to_string(),
            format!("{time:.3}"),
        ]
    });
    let cells: Vec<Vec<String>> = cells.collect();
    lab.csv("growth", &["n", "tests", "pairs", "median_ms"], &cells)?;
    let Some(first) = rows.first() else { return Ok(()) };
    let law = |n: f64| tests(first) * (n / first.n as f64).powf(5.0 / 3.0);
    let law = rows.iter().map(|row| (row.n as f64, law(row.n as f64))).collect();
    lab.plot(
        "growth",
        &[Chart::Lines(Lines {
            title: "Work of sweeping along one axis".into(),
            note: format!("uniform scene at density {DENSITY}; both axes logarithmic"),
            x: Axis::log("number of boxes"),
            y: Axis::log("count per step"),
            series: vec![
                Series::new("box tests of sort-sweep", points(rows, tests)),
                Series::new("overlapping pairs", points(rows, |row| row.pairs() as f64)),
                Series::reference("law n^(5/3)", law),
            ],
        })],
    )
}

#[cfg(test)]
mod tests {
    use super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn powers_are_judged_on_both_sides() {
        let verdicts =
            |tests, pairs| claims(tests, pairs, "").iter().map(Claim::judged).collect::<Vec<_>>();
        assert_eq!(verdicts(1.7, 1.05), [Holds, Holds]);
        assert_eq!(verdicts(1.5, 0.8), [Fails, Fails]);
        assert_eq!(verdicts(1.8, 1.2), [Fails, Fails]);
    }
}
