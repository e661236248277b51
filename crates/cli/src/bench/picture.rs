//! The picture of `jostle bench`: one panel per scene. With several sizes, lines over the number
//! of boxes on logarithmic axes; with one size, a bar for each algorithm.

use super::Measured;
use crate::support::failure::Failure;
use crate::support::plot::{self, Axis, Bars, Chart, Lines, Series};
use crate::support::text::count_of;

/// The picture as SVG.
pub(crate) fn draw(rows: &[Measured]) -> Result<String, Failure> {
    let mut scenes: Vec<&str> = rows.iter().map(|row| row.scene.as_str()).collect();
    scenes.dedup();
    let charts: Vec<Chart> = scenes
        .into_iter()
        .map(|scene| {
            let rows: Vec<&Measured> = rows.iter().filter(|row| row.scene == scene).collect();
            if rows.iter().all(|row| row.n == rows[0].n) { bars(&rows) } else { lines(&rows) }
        })
        .collect();
    plot::svg(&charts)
}

/// Threads are named only if they differ.
fn label(row: &Measured, rows: &[&Measured]) -> String {
    match rows.iter().all(|other| other.threads == row.threads) {
        true => row.label(),
        false if row.threads == 1 => format!("{}, 1 thread", row.label()),
        false => format!("{}, {} threads", row.label(), row.threads),
    }
}

fn lines(rows: &[&Measured]) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    let mut threads: Vec<usize> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    for row in rows {
        let dash = threads.binary_search(&row.threads).unwrap_or(0);
        let (label, point) = (label(row, rows), (row.n as f64, row.median_ms()));
        match series.iter_mut().find(|known| known.label == label) {
            Some(known) => known.points.push(point),
            None => {
                let line = Series::new(&label, vec![point]);
                series.push(line.in_group(&row.label(), dash));
            }
        }
    }
    Chart::Lines(Lines {
        title: format!("Time to find the overlapping pairs: scene \"{}\"", rows[0].scene),
        note: match threads.len() {
            1 => "median time of a step's broad phase; lower is better; both axes logarithmic",
            _ => "median time of a step's broad phase; lower is better; dashes tell the threads",
        }
        .into(),
        x: Axis::log("number of boxes"),
        y: Axis::log("milliseconds per step"),
        series,
    })
}

fn bars(rows: &[&Measured]) -> Chart {
    let mut bars: Vec<(String, f64)> =
        rows.iter().map(|row| (label(row, rows), row.median_ms())).collect();
    bars.sort_by(|one, other| one.1.total_cmp(&other.1));
    let boxes = count_of(rows[0].n as u64, "box", "boxes");
    let pairs = count_of(rows[0].pairs() as u64, "pair", "pairs");
    Chart::Bars(Bars {
        title: format!("Time to find the overlapping pairs: scene \"{}\"", rows[0].scene),
        note: format!("{boxes}, {pairs}; median time of a step's broad phase; lower is better"),
        axis: Axis::log("milliseconds per step (logarithmic)"),
        bars,
    })
}
