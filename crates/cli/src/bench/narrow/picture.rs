//! The picture of `jostle bench --narrow`: lines over the number of triangles if there are
//! triangulated spheres of several sizes, one panel for each case; bars for all other courses.

use super::{Case, Row};
use crate::support::failure::Failure;
use crate::support::plot::{self, Axis, Bars, Chart, Lines, Series};

/// The picture as SVG.
pub(crate) fn draw(rows: &[Row]) -> Result<String, Failure> {
    let mut charts = Vec::new();
    let mut rest: Vec<&Row> = Vec::new();
    for case in Case::ALL {
        let of_case = rows.iter().filter(|row| row.course.case == case);
        let (spheres, others): (Vec<&Row>, Vec<&Row>) =
            of_case.partition(|row| row.course.kind.triangles().is_some());
        match spheres.iter().any(|row| row.course.kind != spheres[0].course.kind) {
            true => charts.push(lines(case, &spheres)),
            false => rest.extend(spheres),
        }
        rest.extend(others);
    }
    let same =
        |a: &&Row, b: &&Row| a.course.kind == b.course.kind && a.course.case == b.course.case;
    charts.extend(rest.chunk_by(same).map(bars));
    plot::svg(&charts)
}

fn label(row: &Row) -> String {
    let memory = if row.way.cached { ", cached" } else { "" };
    format!("{}, {}{memory}", row.way.question.name(), row.way.method_name())
}

fn lines(case: Case, rows: &[&Row]) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let triangles = row.course.kind.triangles().unwrap_or(0) as f64;
        let (label, point) = (label(row), (triangles, row.median_ns()));
        match series.iter_mut().find(|known| known.label == label) {
            Some(known) => known.points.push(point),
            None => {
                let group = format!("{}, {}", row.way.question.name(), row.way.method_name());
                let line = Series::new(&label, vec![point]);
                series.push(line.in_group(&group, usize::from(row.way.cached)));
            }
        }
    }
    Chart::Lines(Lines {
        title: format!("Time of a query: triangulated spheres, {}", case.name()),
        note: "median; lower is better; both axes logarithmic".into(),
        x: Axis::log("triangles of a sphere"),
        y: Axis::log("nanoseconds for a query"),
        series,
    })
}

fn bars(rows: &[&Row]) -> Chart {
    let course = &rows[0].course;
    let (name, case, about) = (course.kind.name, course.case.name(), course.kind.about);
    Chart::Bars(Bars {
        title: format!("Time of a query: {name}, {case}"),
        note: format!("{about}; median; lower is better"),
        axis: Axis::log("nanoseconds for a query (logarithmic)"),
        bars: rows.iter().map(|row| (label(row), row.median_ns())).collect(),
    })
}
