//! The data sets with published pairs: every frame's count and hash through the command.

use crate::common::{Bench, shared_data};
use serde_json::Value;

/// Tests over all frames up to which brute force is tried as well.
const BRUTE_FORCE_TESTS: u64 = 700_000_000;

fn check(bench: &Bench, folder: &std::path::Path, name: &str, set: &Value, algorithm: &str) {
    let path = folder.join(name);
    let lines = bench.json(&["pairs", path.to_str().unwrap(), "--json", "--algorithm", algorithm]);
    let frames = set["frames"].as_array().unwrap();
    assert_eq!(lines.len(), frames.len(), "{name}");
    for (line, expected) in lines.iter().zip(frames) {
        for key in ["frame", "pairs", "sha256"] {
            assert_eq!(line[key], expected[key], "{name} with {algorithm}: {key}");
        }
    }
}

/// Boxes in a frame, and tests of all pairs over all frames.
fn size(set: &Value) -> u64 {
    let shape: Vec<u64> =
        set["shape"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap()).collect();
    let boxes = shape[shape.len() - 2];
    boxes * boxes / 2 * set["frames"].as_array().unwrap().len() as u64
}

#[test]
fn every_set_gives_the_published_pairs() {
    let Some(folder) = shared_data() else {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
        return;
    };
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let sets = expected["sets"].as_object().unwrap();
    assert!(!sets.is_empty());
    let bench = Bench::new();
    let mut by_brute_force = 0;
    for (name, set) in sets {
        check(&bench, &folder, name, set, "sort-sweep");
        check(&bench, &folder, name, set, "auto");
        if size(set) <= BRUTE_FORCE_TESTS {
            check(&bench, &folder, name, set, "brute-force");
            by_brute_force += 1;
        }
    }
    assert!(by_brute_force > 0, "no set is small enough for brute force");
}
