//! `jostle bench --world`: rows, files, and command lines that make no sense.

use crate::common::{Bench, keys};
use jostle_scenes::WorldKind;

const QUICK: [&str; 4] = ["--bodies", "60", "--frames", "3"];

#[test]
fn every_scene_has_a_row_for_each_number_of_threads() {
    let args = [&["bench", "--world", "all", "--threads", "1,2", "--json"], &QUICK[..]].concat();
    let rows = Bench::new().json(&args);
    assert_eq!(rows.len(), 2 * WorldKind::ALL.len());
    for (row, kind) in rows.iter().step_by(2).zip(&WorldKind::ALL) {
        assert_eq!(row["scene"], kind.name);
        assert_eq!((row["threads"].as_u64(), row["frames"].as_u64()), (Some(1), Some(3)));
        assert_eq!(row["speedup"], 1.0);
        assert!(row["bodies"].as_u64() >= Some(60) && row["median_ms"].as_f64() > Some(0.0));
        assert_eq!(keys(row).len(), 16);
    }
    // The counts of a scene do not depend on the threads.
    for two in rows.chunks(2) {
        for key in ["pairs", "tested", "reused", "touches"] {
            assert_eq!(two[0][key], two[1][key], "{key}");
        }
    }
}

#[test]
fn a_table_and_files_are_written() {
    let bench = Bench::new();
    let args = ["--csv", "world.csv", "--plot", "world.svg", "--detail", "boolean"];
    let text = bench.ok(&[&["bench", "--world", "balls"], &args[..], &QUICK[..]].concat());
    assert!(text.contains("balls: balls in a bin") && text.contains("speed-up"), "{text}");
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let wrong: [(&[&str], &str); 6] = [
        (&["--world", "pyle"], "pile"),
        (&["--world", "pile", "--n", "100"], "--n"),
        (&["--world", "pile", "--narrow", "boxes"], "--narrow"),
        (&["--world", "pile", "--bodies", "0"], "at least 1"),
        (&["--world", "pile", "--bodies", "2000000"], "too many"),
        (&["--bodies", "10"], "--world"),
    ];
    for (args, word) in wrong {
        let stderr = bench.fails(2, &[&["bench"], args].concat());
        assert!(stderr.contains(word), "{args:?}: {stderr}");
    }
}
