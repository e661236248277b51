//! ISA-GJK on pairs of triangulated spheres, by scan and by hill climbing.

use std::hint::black_box;
use std::sync::Arc;

use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Shape, SupportSearch};
use jostle_scenes::{PairScene, Placing, ShapeKind};

use super::super::{Claim, Lab, Verdict};
use super::least_ns;
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// Pairs in different poses, so that no lucky direction decides.
const PAIRS: usize = 16;

struct Row {
    triangles: usize,
    /// By scan and by climbing.
    apart: [f64; 2],
    touching: [f64; 2],
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
    let gain = |row: &Row| (row.apart[0] + row.touching[0]) / (row.apart[1] + row.touching[1]);
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let slower = rows.iter().filter(|row| row.touching[1] > row.apart[1]).count();
    Ok(vec![
        Claim {
            statement: "Hill climbing speeds up ISA-GJK, the more the more triangles".into(),
            paper: "clearly, for one pair of spheres (figure 11)".into(),
            ours: format!(
                "{:.2} times at {} triangles, {:.1} times at {}",
                gain(first),
                first.triangles,
                gain(last),
                last.triangles
            ),
            verdict: Verdict::of(gain(last) > 2.0 && gain(last) > gain(first)),
            why: "the scan looks at four vertices at once, so small hulls do not need to climb"
                .into(),
        },
        Claim {
            statement: "Touching pairs take longer than separated ones".into(),
            paper: "more iterations of the loop (figure 11)".into(),
            ours: format!("at {slower} of {} sizes, with hill climbing", rows.len()),
            verdict: Verdict::of(slower == rows.len()),
            why: "separated pairs end with the first axis that separates".into(),
        },
    ])
}

fn measure(kind: &ShapeKind, repeats: usize) -> Result<Row, Failure> {
    let time = |placing: Placing| -> Result<[f64; 2], Failure> {
        let scene = PairScene::new(kind, placing, PAIRS, 1);
        let with = |search| -> Result<f64, Failure> {
            let scene = PairScene { shapes: rebuilt(&scene.shapes, search)?, ..scene.clone() };
            Ok(least_ns(repeats, 1, || ask(&scene)) / PAIRS as f64)
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

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let header =
        ["triangles", "scan_apart_ns", "climb_apart_ns", "scan_touching_ns", "climb_touching_ns"];
    let cells = rows.iter().map(|row| {
        let times = [row.apart[0], row.apart[1], row.touching[0], row.touching[1]];
        let times = times.map(|time| format!("{time:.1}"));
        [vec![row.triangles.to_string()], times.to_vec()].concat()
    });
    lab.csv("isa-gjk", &header, &cells.collect::<Vec<_>>())?;
    let line = |name: &str, time: &dyn Fn(&Row) -> f64| {
        let points = rows.iter().map(|row| (row.triangles as f64, time(row))).collect();
        Series::new(name, points)
    };
    let lines = Lines {
        title: "ISA-GJK on two triangulated spheres".into(),
        note: "smallest time of several runs, cold; both axes logarithmic".into(),
        x: Axis::log("triangles of a sphere"),
        y: Axis::log("nanoseconds for a query"),
        series: vec![
            line("scan, touching", &|row| row.touching[0]),
            line("scan, apart", &|row| row.apart[0]),
            line("hill climbing, touching", &|row| row.touching[1]),
            line("hill climbing, apart", &|row| row.apart[1]),
        ],
    };
    lab.plot("isa-gjk", &[Chart::Lines(lines)])
}
