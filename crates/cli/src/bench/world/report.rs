//! The rows of `jostle bench --world` as JSON, CSV and a table.

use jostle_scenes::median;
use serde_json::{Value, json};

use super::{Row, STAGES};
use crate::support::text::{grouped, table};

/// The columns of the CSV file and the keys of the JSON.
pub(crate) const KEYS: [&str; 16] = [
    "scene",
    "bodies",
    "threads",
    "frames",
    "median_ms",
    "min_ms",
    "boxes_ms",
    "broad_ms",
    "narrow_ms",
    "merge_ms",
    "pairs",
    "tested",
    "reused",
    "touches",
    "speedup",
    "seed",
];

/// How many times as long the least number of threads took for the same steps.
fn speedup(row: &Row, rows: &[Row]) -> Option<f64> {
    let same = |other: &&Row| other.course.kind.name == row.course.kind.name;
    let base = rows.iter().filter(same).min_by_key(|other| other.threads)?;
    let ratios = base.in_turn.iter().zip(&row.in_turn).map(|(one, own)| one / own);
    (!row.in_turn.is_empty()).then(|| median(ratios))
}

/// One row as an object; `rows` has the others of its course.
pub(crate) fn object(row: &Row, rows: &[Row]) -> Value {
    let rounded = |value: f64| (value * 1e4).round() / 1e4;
    let [boxes, broad, narrow, merge] = row.stages.each_ref().map(|times| rounded(times.median()));
    let [pairs, tested, reused, touches] = row.counts.map(rounded);
    json!({
        "scene": row.course.kind.name,
        "bodies": row.bodies,
        "threads": row.threads,
        "frames": row.in_turn.len(),
        "median_ms": rounded(row.steps.median()),
        "min_ms": rounded(row.steps.least()),
        "boxes_ms": boxes,
        "broad_ms": broad,
        "narrow_ms": narrow,
        "merge_ms": merge,
        "pairs": pairs,
        "tested": tested,
        "reused": reused,
        "touches": touches,
        "speedup": speedup(row, rows).map(rounded),
        "seed": row.course.seed,
    })
}

/// What a course is, above its table.
pub(crate) fn title(row: &Row) -> String {
    let kind = row.course.kind;
    let [pairs, tested, reused, touches] = row.counts.map(|count| grouped(count.round() as u64));
    format!(
        "{}: {}, {} bodies, {} frames; a step has {pairs} pairs of boxes, tests {tested}, uses \
         {reused} answers again, and finds {touches} touches; all threads agree",
        kind.name,
        kind.about,
        grouped(row.bodies as u64),
        row.in_turn.len()
    )
}

/// Rows of one course.
pub(crate) fn course_table(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.threads.to_string()];
        cells.push(format!("{:.2}", row.steps.median()));
        cells.push(format!("{:.2}", row.steps.least()));
        cells.extend(row.stages.iter().map(|times| format!("{:.2}", times.median())));
        cells.push(speedup(row, rows).map_or(String::new(), |ratio| format!("{ratio:.2}×")));
        cells
    });
    let mut header = vec!["threads", "median ms", "min ms"];
    header.extend(STAGES);
    header.push("speed-up");
    table(&header, &cells.collect::<Vec<_>>(), &[])
}
