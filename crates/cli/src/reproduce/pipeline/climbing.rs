//! ISA-GJK on pairs of triangulated spheres, by scan and by hill climbing.

use std::hint::black_box;
use std::sync::Arc;

use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Shape, SupportSearch};
use jostle_scenes::{PairScene, Placing, ShapeKind, median};

use super::super::{Bound, Claim, Figure, Lab};
use super::nanoseconds_of;
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// Pairs in different poses, so that no lucky direction decides.
const PAIRS: usize = 16;

struct Row {
    triangles: usize,
    /// Nanoseconds of each round, by scan and by climbing.
    apart: [Vec<f64>; 2],
    touching: [Vec<f64>; 2],
}

/// Hill climbing pays, the more the more triangles; touching pairs take longer.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut rows = Vec::new();
    let spheres = ShapeKind::ALL.iter().filter(|kind| kind.triangles().is_some());
    for kind in spheres.take(lab.pick(4, 5)) {
        lab.check_stop()?;
        rows.push(measure(kind, lab.pick(3, 9))?);
    }
    write(lab, &rows)?;
    let gain = |row: &Row| {
        let both = |way: usize| -> Vec<f64> {
            row.apart[way].iter().zip(&row.touching[way]).map(|(a, b)| a + b).collect()
        };
        Figure::ratio(&both(0), &both(1))
    };
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let more = gain(last).value / gain(first).value;
    let climbing = Claim::new(
        "Hill climbing speeds up ISA-GJK, the more the more triangles",
        "clearly, for one pair of spheres (figure 11)",
    )
    .require(format!("times as fast at {}", last.triangles), gain(last), Bound::at_least(1.0))
    .require("gain by that of the smallest", Figure::counted(more), Bound::at_least(1.0))
    .show(format!("{} times at {}", gain(first), first.triangles))
    .over_sizes()
    .remark("the scan looks at four vertices at once, so small hulls do not need to climb");
    let slower = Claim::new(
        "Touching pairs take longer than separated ones",
        "more iterations of the loop (figure 11)",
    );
    let slower = rows.iter().fold(slower, |claim, row| {
        let figure = Figure::ratio(&row.touching[1], &row.apart[1]);
        claim.require(format!("times as long at {}", row.triangles), figure, Bound::at_least(1.0))
    });
    Ok(vec![climbing, slower.remark("separated pairs end with the first axis that separates")])
}

fn measure(kind: &ShapeKind, repeats: usize) -> Result<Row, Failure> {
    let time = |placing: Placing| -> Result<[Vec<f64>; 2], Failure> {
        let scene = PairScene::new(kind, placing, PAIRS, 1);
        let with = |search| -> Result<Vec<f64>, Failure> {
            let scene = PairScene { shapes: rebuilt(&scene.shapes, search)?, ..scene.clone() };
            let rounds = (0..repeats).map(|_| nanoseconds_of(|| ask(&scene)) / PAIRS as f64);
            Ok(rounds.collect())
        };
        Ok([with(SupportSearch::Scan)?, with(SupportSearch::Climb)?])
    };
    Ok(Row {
        triangles: kind.triangles().unwrap_or(0),
        apart: time(Placing::Separated)?,
        touching: time(Placing::Deep)?,
    })
}

/// The same hulls with another support search.
fn rebuilt(shapes: &[Shape], search: SupportSearch) -> Result<Vec<Shape>, Failure> {
    let rebuilt = shapes.iter().map(|shape| match shape {
        Shape::Hull(hull) => {
            let hull = Hull::with_search(hull.vertices(), search).map_err(Failure::input)?;
            Ok(Shape::Hull(Arc::new(hull)))
        }
        other => Ok(other.clone()),
    });
    rebuilt.collect()
}

/// Asks about all pairs.
fn ask(scene: &PairScene) {
    for pair in &scene.pairs {
        let ([a, b], [at_a, at_b]) = (scene.shapes_of(pair), &pair.frames[0]);
        black_box(narrow::intersects(&Placed::new(a, *at_a), &Placed::new(b, *at_b)));
    }
}

fn middle(times: &[f64]) -> f64 {
    median(times.iter().copied())
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let header =
        ["triangles", "scan_apart_ns", "climb_apart_ns", "scan_touching_ns", "climb_touching_ns"];
    let cells = rows.iter().map(|row| {
        let times = [&row.apart[0], &row.apart[1], &row.touching[0], &row.touching[1]]
            .map(|times| middle(times));
        let times = times.map(|time| format!("{time:.1}"));
        [vec![row.triangles.to_string()], times.to_vec()].concat()
    });
    lab.csv("isa-gjk", &header, &cells.collect::<Vec<_>>())?;
    let line = |name: &str, time: &dyn Fn(&Row) -> &Vec<f64>| {
        let points = rows.iter().map(|row| (row.triangles as f64, middle(time(row)))).collect();
        Series::new(name, points)
    };
    let lines = Lines {
        title: "ISA-GJK on two triangulated spheres".into(),
        note: "median of several runs, cold; both axes logarithmic".into(),
        x: Axis::log("triangles of a sphere"),
        y: Axis::log("nanoseconds for a query"),
        series: vec![
            line("scan, touching", &|row| &row.touching[0]),
            line("scan, apart", &|row| &row.apart[0]),
            line("hill climbing, touching", &|row| &row.touching[1]),
            line("hill climbing, apart", &|row| &row.apart[1]),
        ],
    };
    lab.plot("isa-gjk", &[Chart::Lines(lines)])
}
