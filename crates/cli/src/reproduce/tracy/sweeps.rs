//! What the paper chose by measuring: the size of chunks, the size of cells, and which sort.

use jostle::Workers;
use jostle::broad::grid_sap::{GridSapOptions, GridSegmentedSap};
use jostle::broad::sap::Sort;
use jostle::broad::segmented_sap::{SegmentedSap, SegmentedSapOptions};

use super::super::{Claim, Lab, Verdict};
use super::contest::{Contender, Outcome, Table, contest};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// A time within this factor of the best counts as the best.
const CLOSE: f64 = 1.15;

/// The setting with the shortest median, and whether `paper`'s is as good.
fn best(points: &[(f64, f64)], paper: f64) -> (f64, bool) {
    let shortest = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let Some(&(setting, time)) = shortest else { return (f64::NAN, false) };
    let distance = |point: &&(f64, f64)| (point.0 - paper).abs();
    let theirs = points.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
    (setting, theirs.is_some_and(|theirs| theirs.1 <= CLOSE * time))
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
    let (setting, as_good) = best(&points, 32.0);
    Ok(vec![Claim {
        statement: "Chunks of about 32 endpoints are best, somewhat larger ones for sorting".into(),
        paper: "2^5 (section 3.2.2)".into(),
        ours: format!("best at {setting:.0}"),
        verdict: Verdict::of(as_good),
        why: format!("holds if 32 is within {:.0} % of the best", 100.0 * (CLOSE - 1.0)),
    }])
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
    let (setting, as_good) = best(&points, 300.0);
    Ok(vec![Claim {
        statement: "Large cells of about three hundred boxes are best".into(),
        paper: "about 300 (sections 3.1 and 4.2)".into(),
        ours: format!("best at {setting:.0}"),
        verdict: Verdict::of(as_good),
        why: format!("holds if 300 is within {:.0} % of the best", 100.0 * (CLOSE - 1.0)),
    }])
}

/// Local against global sort, while more and more boxes move.
pub(crate) fn sorts(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut table = Table::default();
    for share in lab.pick(vec![0.1, 1.0], vec![0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0]) {
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
    let gain = table.gain(100.0);
    Ok(vec![Claim {
        statement: "When most boxes move, the global sort is over 30 % faster".into(),
        paper: "more than 1.3 times (section 4)".into(),
        ours: format!("{gain:.2} times with all boxes moving"),
        verdict: Verdict::of(gain >= 1.3),
        why: "the algorithms choose between the two by the share that moved".into(),
    }])
}
