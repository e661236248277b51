//! What the paper chose by measuring: the size of chunks, the size of cells, and which sort.

use jostle::Workers;
use jostle::broad::grid_sap::{GridSapOptions, GridSegmentedSap};
use jostle::broad::sap::Sort;
use jostle::broad::segmented_sap::{SegmentedSap, SegmentedSapOptions};

use super::super::{Bound, Claim, Figure, Lab};
use super::contest::{Contender, Outcome, Table, contest};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// A time within this factor of the best counts as the best.
const CLOSE: f64 = 1.15;

/// How much longer the paper's setting takes than the best one, and which that is.
fn against_best(points: &[(f64, f64)], outcomes: &[Outcome], paper: f64) -> (Figure, f64) {
    let nearest = |value: f64| {
        let distance = |at: &usize| (points[*at].0 - value).abs();
        (0..points.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
    };
    let best = points.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map_or(f64::NAN, |best| best.0);
    let (theirs, shortest) = (nearest(paper), nearest(best));
    (Figure::ratio(&outcomes[theirs].times, &outcomes[shortest].times), best)
}

/// The claim that a setting of the paper is the best.
fn best_claim(statement: &str, place: &str, (figure, best): (Figure, f64)) -> Claim {
    Claim::new(statement, place)
        .require("time of the paper's setting by the best one's", figure, Bound::at_most(CLOSE))
        .show(format!("best at {best:.0}"))
        .over_sizes()
}

fn draw(lab: &mut Lab, file: &str, lines: Lines, points: &[(f64, f64)]) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> =
        points.iter().map(|(at, ms)| vec![format!("{at}"), format!("{ms:.4}")]).collect();
    lab.csv(file, &["setting", "median_ms"], &rows)?;
    lab.plot(file, &[Chart::Lines(lines)])
}

fn settings(sizes: &[usize], outcomes: &[Outcome]) -> Vec<(f64, f64)> {
    sizes.iter().zip(outcomes).map(|(&size, outcome)| (size as f64, outcome.median)).collect()
}

/// The size of chunks, in one cell with 5 % moving.
pub(crate) fn chunks(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![8, 32, 128], vec![8, 16, 32, 64, 128, 256, 512]);
    let contender = |&size: &usize| {
        let options = SegmentedSapOptions {
            chunk: Some(size),
            may_rebuild: false,
            ..SegmentedSapOptions::default()
        };
        Contender::new(size.to_string(), SegmentedSap::with_options(&Workers::one(), options))
    };
    let contenders = sizes.iter().map(contender).collect();
    let outcomes = contest(lab, &super::world(3000, 0.05, 10.0), lab.pick(20, 300), contenders)?;
    let points = settings(&sizes, &outcomes);
    let lines = Lines {
        title: "Endpoints in a chunk".into(),
        note: "3 000 boxes, 5 % move, 10 come and 10 go".into(),
        x: Axis::log("endpoints in a chunk"),
        y: Axis::linear("milliseconds per step"),
        series: vec![Series::new("segmented-sap", points.clone())],
    };
    draw(lab, "chunks", lines, &points)?;
    let statement = "Chunks of about 32 endpoints are best, somewhat larger ones for sorting";
    let figure = against_best(&points, &outcomes, 32.0);
    let (largest, best) = (points[points.len() - 1].0, figure.1);
    let claim = best_claim(statement, "2^5 (section 3.2.2)", figure).at("3 000 boxes").because(
        "ends move within a chunk by copies of many at once, so larger chunks hardly cost more",
        format!("time of chunks of {largest} by that of the best, {best}"),
        against_best(&points, &outcomes, largest).0,
        Bound::at_most(1.5),
    );
    Ok(vec![claim])
}

/// The size of cells.
pub(crate) fn cells(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(10_000, 100_000);
    let sizes = lab.pick(vec![75, 300, 1200], vec![20, 40, 75, 150, 300, 600, 1200, 2400]);
    let contender = |&size: &usize| {
        let options = GridSapOptions {
            boxes_per_cell: size,
            may_rebuild: false,
            ..GridSapOptions::default()
        };
        Contender::new(size.to_string(), GridSegmentedSap::with_options(&Workers::one(), options))
    };
    let contenders = sizes.iter().map(contender).collect();
    let world = super::world(n, 0.1, 0.005 * n as f64);
    let outcomes = contest(lab, &world, lab.pick(6, 24), contenders)?;
    let points = settings(&sizes, &outcomes);
    let lines = Lines {
        title: "Boxes in a cell".into(),
        note: format!("{} boxes, 10 % move, 0.5 % come and 0.5 % go", grouped(n as u64)),
        x: Axis::log("boxes in a cell"),
        y: Axis::linear("milliseconds per step"),
        series: vec![Series::new("grid-segmented-sap", points.clone())],
    };
    draw(lab, "cells", lines, &points)?;
    let figure = against_best(&points, &outcomes, 300.0);
    let statement = "Large cells of about three hundred boxes are best";
    let place = "about 300 (sections 3.1 and 4.2)";
    let swaps = |size: f64| {
        let at = points.iter().position(|point| point.0 == size);
        at.map_or(f64::NAN, |at| outcomes[at].swaps)
    };
    let claim = best_claim(statement, place, figure).at(format!("{n} boxes")).because(
        "smaller cells make fewer swaps, and a cell itself costs little here",
        "swaps in cells of 300 by those in the best ones",
        Figure::counted(swaps(300.0) / swaps(figure.1)),
        Bound::at_least(1.15),
    );
    Ok(vec![claim])
}

/// Local against global sort, while more and more boxes move.
pub(crate) fn sorts(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut table = Table::default();
    let shares = lab.pick(vec![0.1, 1.0], vec![0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0]);
    lab.units(shares.len());
    for share in shares {
        let contender = |name: &str, sort| {
            // Whatever it costs: finding all pairs from scratch would hide the sorts.
            let options = SegmentedSapOptions { sort, may_rebuild: false, chunk: None };
            Contender::new(name, SegmentedSap::with_options(&Workers::one(), options))
        };
        let rivals =
            vec![contender("local sort", Sort::Local), contender("global sort", Sort::Global)];
        let world = super::world(3000, share, 0.0);
        table.push(100.0 * share, contest(lab, &world, lab.pick(15, 200), rivals)?);
    }
    table.write(lab, "sorts", "percent_moving")?;
    let lines = Lines {
        title: "Local and global sort".into(),
        note: "segmented-sap with 3 000 boxes".into(),
        x: Axis::linear("percent of the boxes that move"),
        y: Axis::linear("milliseconds per step"),
        series: table.series(|outcome| outcome.median),
    };
    lab.plot("sorts", &[Chart::Lines(lines)])?;
    Ok(vec![sort_claim(&table)])
}

fn sort_claim(table: &Table) -> Claim {
    Claim::new(
        "When most boxes move, the global sort is over 30 % faster",
        "more than 1.3 times (section 4)",
    )
    .require(
        "times as fast with all moving",
        table.gain(100.0),
        Bound::at_least(1.3).better_from(1.5),
    )
    .at("3 000 boxes")
    .remark("the algorithms choose between the two by the share that moved")
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Better, Fails, Holds, Undecided};
    use super::*;

    #[test]
    fn the_sorts_are_judged_on_both_sides() {
        let verdict = |local: f64| {
            let (few, all) = ([1.0; 5], [local; 5]);
            let table = Table::of(&[(5.0, &[&few, &few]), (100.0, &[&all, &few])]);
            sort_claim(&table).judged()
        };
        assert_eq!((verdict(1.4), verdict(1.2), verdict(1.6)), (Holds, Fails, Better));
    }

    #[test]
    fn a_setting_is_judged_by_the_best_one() {
        let verdict = |paper: &[f64]| {
            let outcome = |name: &str, times: &[f64]| Outcome {
                name: name.into(),
                times: times.to_vec(),
                median: jostle_scenes::median(times.iter().copied()),
                shortest: 0.0,
                swaps: 0.0,
            };
            let outcomes =
                [outcome("8", &[2.0; 4]), outcome("32", paper), outcome("99", &[1.0; 4])];
            let points = settings(&[8, 32, 99], &outcomes);
            best_claim("s", "p", against_best(&points, &outcomes, 32.0)).judged()
        };
        assert_eq!(verdict(&[1.1; 4]), Holds);
        assert_eq!(verdict(&[1.3; 4]), Fails);
        assert_eq!(verdict(&[0.9; 4]), Holds, "it is the best");
        assert_eq!(verdict(&[1.1, 1.3, 1.1, 1.3]), Undecided);
    }
}
