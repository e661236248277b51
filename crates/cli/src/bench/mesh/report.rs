//! The rows of `jostle bench --mesh` as JSON, CSV and a table.

use serde_json::{Value, json};

use super::Row;
use crate::support::text::{grouped, table};

/// The columns of the CSV file and the keys of the JSON.
pub(crate) const KEYS: [&str; 9] = [
    "mesh",
    "triangles",
    "question",
    "asked",
    "found",
    "min_ns",
    "median_ns",
    "passes",
    "bytes_per_triangle",
];

/// One row as an object.
pub(crate) fn object(row: &Row, passes: usize) -> Value {
    let rounded = |value: f64| (value * 1e2).round() / 1e2;
    json!({
        "mesh": row.mesh,
        "triangles": row.triangles,
        "question": row.question,
        "asked": row.asked,
        "found": row.found,
        "min_ns": rounded(row.times.least()),
        "median_ns": rounded(row.times.median()),
        "passes": passes,
        "bytes_per_triangle": rounded(row.bytes as f64 / row.triangles as f64),
    })
}

/// What a mesh is, above its table.
pub(crate) fn title(row: &Row) -> String {
    format!(
        "{}: {} triangles, {:.1} bytes each with the tree; nanoseconds a question, and a triangle \
         for build and refit",
        row.mesh,
        grouped(row.triangles as u64),
        row.bytes as f64 / row.triangles as f64
    )
}

/// Rows of one mesh.
pub(crate) fn course_table(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        vec![
            row.question.to_owned(),
            grouped(row.asked as u64),
            grouped(row.found),
            format!("{:.1}", row.times.least()),
            format!("{:.1}", row.times.median()),
        ]
    });
    table(&["question", "asked", "found", "min ns", "median ns"], &cells.collect::<Vec<_>>(), &[0])
}
