//! The rows of `jostle bench --narrow` as JSON, CSV and a table.

use serde_json::{Value, json};

use super::{Case, Row};
use crate::support::text::{brief, grouped, table};

/// The columns of the CSV file and the keys of the JSON.
pub(crate) const KEYS: [&str; 15] = [
    "scene",
    "case",
    "question",
    "method",
    "memory",
    "pairs",
    "frames",
    "passes",
    "median_ns",
    "min_ns",
    "steps",
    "hits",
    "early",
    "cached_over_cold",
    "seed",
];

/// One row as an object; `rows` are those of its course.
pub(crate) fn object(row: &Row, rows: &[Row]) -> Value {
    let course = &row.course;
    let frames = if course.case == Case::Moving { course.frames } else { 1 };
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    json!({
        "scene": course.kind.name,
        "case": course.case.name(),
        "question": row.way.question.name(),
        "method": row.way.method_name(),
        "memory": row.way.memory_name(),
        "pairs": course.pairs,
        "frames": frames,
        "passes": row.times.values().len(),
        "median_ns": rounded(row.median_ns()),
        "min_ns": rounded(row.min_ns()),
        "steps": rounded(row.steps),
        "hits": rounded(row.hits),
        "early": row.early,
        "cached_over_cold": row.cached_over_cold(rows).map(rounded),
        "seed": course.seed,
    })
}

/// What a course is, above its table.
pub(crate) fn title(row: &Row) -> String {
    let course = &row.course;
    let pairs = grouped(course.pairs as u64);
    let moving = course.case == Case::Moving;
    let frames = if moving { format!(", {} frames", course.frames) } else { String::new() };
    let (name, case, about) = (course.kind.name, course.case.name(), course.kind.about);
    format!("{name}, {case}: {about}, {pairs} pairs{frames}; all answers agree")
}

/// Rows of one course, with ratios to the fastest way of the same question.
pub(crate) fn course_table(rows: &[Row]) -> String {
    let moving = rows.iter().any(|row| row.way.cached);
    let cells = rows.iter().map(|row| {
        let same = rows.iter().filter(|other| other.way.question == row.way.question);
        let fastest = same.map(Row::median_ns).fold(f64::INFINITY, f64::min);
        let mark = if row.cut_short { " (cut short)" } else { "" };
        let mut cells = vec![
            row.way.question.name().to_owned(),
            format!("{}{mark}", row.way.method_name()),
            row.way.memory_name().to_owned(),
            format!("{:.2}×", row.median_ns() / fastest),
            brief(row.median_ns()),
            brief(row.min_ns()),
            format!("{:.1}", row.steps),
            format!("{:.0} %", 100.0 * row.hits),
            row.early.to_string(),
        ];
        if moving {
            let ratio = row.cached_over_cold(rows);
            cells.push(ratio.map_or(String::new(), |ratio| format!("{ratio:.2}×")));
        }
        cells
    });
    let mut header = vec![
        "question",
        "method",
        "memory",
        "ratio",
        "median ns",
        "min ns",
        "steps",
        "hits",
        "early",
    ];
    if moving {
        header.push("of cold");
    }
    table(&header, &cells.collect::<Vec<_>>(), &[0, 1, 2])
}
