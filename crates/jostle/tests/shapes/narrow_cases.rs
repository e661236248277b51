//! The data cases of `testdata/contacts`: each says why its answer is known in closed form, and
//! comes at three scales, two places and two rotations.

use crate::narrow_support::{Case, lines, number, placed};
use jostle::narrow::{self, Method, Placed, Status};
use jostle::shape::Pose;
use std::path::PathBuf;

fn cases() -> Vec<Case> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/contacts");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("testdata/contacts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend(lines(&text).map(|line| Case {
            name: format!("{stem} {}: {}", line["id"], line["why"]),
            a: placed(&line["a"]),
            b: placed(&line["b"]),
            expected: line,
        }));
    }
    all
}

fn fault(case: &Case, method: Method) -> Option<String> {
    let ((a, pose_a), (b, pose_b)) = (&case.a, &case.b);
    let answer = case.contact(method);
    let radius = |shape: &jostle::shape::Shape| {
        if shape.is_bounded() { shape.bounding_radius() } else { 0.0 }
    };
    let size = radius(a) + radius(b);
    let expected = number(&case.expected["signed"]);
    let error = (answer.signed_distance() - expected).abs();
    let allowed = number(&case.expected["tolerance"]) * size + number(&case.expected["err"]);
    if error.is_nan() || error > allowed {
        return Some(format!("expected {expected:e}, off by {error:e} of {size:e}: {answer:?}"));
    }
    if (answer.normal.length() - 1.0).abs() > 1e-12 {
        return Some(format!("normal not of unit length: {answer:?}"));
    }
    let moved = pose_b.translation() + answer.normal * answer.depth;
    let moved = Pose::new(pose_b.rotation(), moved).expect("a pose");
    let after = narrow::contact(&Placed::new(a, *pose_a), &Placed::new(b, moved)).depth;
    let rounding = 1e-15 * (pose_b.translation().length() + answer.depth);
    if after > allowed + rounding {
        return Some(format!("moved by its depth it is still {after:e} deep: {answer:?}"));
    }
    let hit = narrow::intersects(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b)).hit;
    if expected.abs() > allowed && hit != (answer.status == Status::Overlapping) {
        return Some(format!("intersects says {hit}: {answer:?}"));
    }
    None
}

#[test]
fn closed_form_cases_are_answered_exactly() {
    let cases = cases();
    assert!(cases.len() > 500, "only {} cases", cases.len());
    for method in [Method::Auto, Method::GjkEpa, Method::GjkSat] {
        let faults: Vec<_> = cases
            .iter()
            .filter_map(|case| Some(format!("{}: {}", case.name, fault(case, method)?)))
            .collect();
        assert!(faults.is_empty(), "{method:?}, {}:\n{}", faults.len(), faults.join("\n"));
    }
}

/// Bodies of revolution on one axis have a circle of shortest ways; their bounds must meet all the
/// same.
#[test]
fn coaxial_bodies_are_certain() {
    let coaxial: Vec<_> =
        cases().into_iter().filter(|case| case.name.starts_with("coaxial")).collect();
    assert!(coaxial.len() > 50, "only {} cases", coaxial.len());
    for case in &coaxial {
        let ((a, pose_a), (b, pose_b)) = (&case.a, &case.b);
        let answer = narrow::contact(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
        let size = a.bounding_radius() + b.bounding_radius();
        assert!(answer.bound <= 1e-8 * size, "{}: {answer:?}", case.name);
    }
}
