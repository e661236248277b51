//! The rows of `jostle bench` as JSON, CSV and a table.

use serde_json::{Map, Value, json};

use super::Measured;
use crate::support::text::{brief, bytes, grouped, milliseconds, rounded_ms, table};

/// One row as an object.
pub(crate) fn object(row: &Measured) -> Value {
    json!({
        "scene": row.scene,
        "n": row.n,
        "algorithm": row.algorithm.name(),
        "device": row.device,
        "threads": row.threads,
        "build_ms": rounded_ms(row.build.update_ms),
        "median_ms": rounded_ms(row.median_ms()),
        "min_ms": rounded_ms(row.min_ms()),
        "p99_ms": rounded_ms(row.p99_ms()),
        "step_median_ms": rounded_ms(row.step_median_ms()),
        "worst_ms": rounded_ms(row.worst_ms()),
        "first_ms": rounded_ms(row.first_ms()),
        "pairs": row.pairs(),
        "bytes": row.stats.bytes,
        "step_bytes": row.step_bytes,
        "frames": row.samples.len() + 1,
        "stats": stats(row),
    })
}

/// Tests and swaps are means over the frames; the algorithm's own counts are the last frame's.
fn stats(row: &Measured) -> Value {
    let mut stats = Map::new();
    stats.insert("tests".into(), row.mean(|sample| sample.tests).into());
    stats.insert("swaps".into(), row.mean(|sample| sample.swaps).into());
    for &(name, value) in &row.stats.counts {
        stats.insert(name.into(), value.into());
    }
    let stages = row.stats.stages.iter();
    let stages = stages.map(|&(name, time)| (name.into(), rounded_ms(milliseconds(time)).into()));
    stats.insert("stages_ms".into(), Value::Object(stages.collect()));
    Value::Object(stats)
}

/// The columns of the CSV file: the keys of the JSON without the algorithms' own counts.
pub(crate) const KEYS: [&str; 18] = [
    "scene",
    "n",
    "algorithm",
    "device",
    "threads",
    "build_ms",
    "median_ms",
    "min_ms",
    "p99_ms",
    "step_median_ms",
    "worst_ms",
    "first_ms",
    "pairs",
    "bytes",
    "step_bytes",
    "frames",
    "tests",
    "swaps",
];

/// A row of the CSV file from its object: of a value that is not there, an empty cell.
pub(crate) fn cells(object: &Value, keys: &[&str]) -> Vec<String> {
    let cell = |key: &&str| match object.get(key).unwrap_or(&object["stats"][key]) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    keys.iter().map(cell).collect()
}

/// Rows of one course, with ratios to the fastest.
pub(crate) fn course_table(rows: &[Measured]) -> String {
    let fastest = rows.iter().map(Measured::median_ms).fold(f64::INFINITY, f64::min);
    let mut sorted: Vec<&Measured> = rows.iter().collect();
    sorted.sort_by(|one, other| one.median_ms().total_cmp(&other.median_ms()));
    let cells = sorted.into_iter().map(|row| {
        let mark = if row.cut_short { " (cut short)" } else { "" };
        vec![
            format!("{}{mark}", row.label()),
            row.threads.to_string(),
            format!("{:.2}×", row.median_ms() / fastest),
            brief(row.median_ms()),
            brief(row.min_ms()),
            brief(row.p99_ms()),
            brief(row.step_median_ms()),
            brief(1e6 * row.step_median_ms() / row.n.max(1) as f64),
            brief(row.worst_ms()),
            brief(row.first_ms()),
            grouped(row.mean(|sample| sample.tests) as u64),
            bytes(row.step_bytes),
            brief(row.step_bytes as f64 / row.n.max(1) as f64),
        ]
    });
    let header = [
        "algorithm",
        "threads",
        "ratio",
        "median ms",
        "min ms",
        "p99 ms",
        "step ms",
        "ns/box",
        "worst ms",
        "first ms",
        "tests",
        "memory",
        "B/box",
    ];
    table(&header, &cells.collect::<Vec<_>>(), &[0])
}
