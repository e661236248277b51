//! ISA-GJK on one pair of triangulated spheres, by scan and by hill climbing.

use std::hint::black_box;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use jostle::narrow;
use jostle::shape::{Hull, Pose, Shape, SupportSearch};

use super::super::{Claim, Lab, Verdict};
use super::least_ns;
use crate::failure::Failure;
use crate::plot::{Axis, Chart, Lines, Series};

/// Poses in which a pair is asked, so that no lucky direction decides.
const POSES: usize = 16;

struct Row {
    triangles: usize,
    /// By scan and by climbing.
    apart: [f64; 2],
    touching: [f64; 2],
}

/// Hill climbing pays, the more the more triangles; touching pairs take longer.
pub fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let mut rows = Vec::new();
    for subdivisions in 1..=lab.pick(4, 5) {
        lab.check_stop()?;
        rows.push(measure(subdivisions, lab.pick(3, 9))?);
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

fn measure(subdivisions: u32, repeats: usize) -> Result<Row, Failure> {
    let points = Hull::icosphere(1.0, subdivisions).map_err(Failure::input)?;
    let build = |search| Hull::with_search(points.vertices(), search).map_err(Failure::input);
    let scan = Shape::Hull(Arc::new(build(SupportSearch::Scan)?));
    let climb = Shape::Hull(Arc::new(build(SupportSearch::Climb)?));
    let time = |shape: &Shape, gap: f64| least_ns(repeats, 1, || ask(shape, gap)) / POSES as f64;
    Ok(Row {
        triangles: points.triangles().len(),
        apart: [time(&scan, 2.2), time(&climb, 2.2)],
        touching: [time(&scan, 1.6), time(&climb, 1.6)],
    })
}

/// Asks about a pair with its centres this far apart, in all poses.
fn ask(shape: &Shape, gap: f64) {
    for k in 0..POSES {
        let turn = DQuat::from_rotation_y(0.4 * k as f64) * DQuat::from_rotation_x(0.7);
        let way = turn * DVec3::new(0.6, 0.64, 0.48) * gap;
        let pose = Pose::new(turn.normalize(), way).expect("a legal pose");
        black_box(narrow::intersects(shape, &Pose::IDENTITY, shape, &pose));
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
