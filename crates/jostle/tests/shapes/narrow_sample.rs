//! Every query of the shared sample through the front, against its certified reference.

use crate::narrow_support::{Case, data_folder, is_polyhedral, lines, number, placed};
use jostle::narrow::{self, Method, Placed, Status};
use std::collections::HashMap;

fn sample() -> Option<Vec<Case>> {
    let folder = data_folder()?;
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    let expected = read("contacts_sample_expected.jsonl");
    let mut answers: HashMap<u64, _> =
        lines(&expected).map(|line| (line["id"].as_u64().expect("id"), line)).collect();
    let queries = read("contacts_sample.jsonl");
    let cases = lines(&queries).map(|line| {
        let id = line["id"].as_u64().expect("id");
        let expected = answers.remove(&id).expect("an answer for every query");
        let name = format!("{id} {} {}", expected["kinds"], expected["category"]);
        Case { name, a: placed(&line["a"]), b: placed(&line["b"]), expected }
    });
    Some(cases.collect())
}

/// What is wrong with the answer to a case, if anything.
fn fault(case: &Case, method: Method) -> Option<String> {
    let ((a, pose_a), (b, pose_b)) = (&case.a, &case.b);
    let answer = case.contact(method);
    let size = number(&case.expected["size"]);
    let reference = number(&case.expected["distance"]) - number(&case.expected["depth"]);
    let tolerance = if is_polyhedral(case) { 1e-9 } else { 1e-6 };
    let allowed = tolerance * size + number(&case.expected["err"]);
    let error = (answer.signed_distance() - reference).abs();
    if error > allowed {
        return Some(format!("off by {:.3e} of the size: {answer:?}", error / size));
    }
    if error > answer.bound + number(&case.expected["err"]) + 1e-10 * size {
        return Some(format!("off by {error:.3e}, beyond its own bound: {answer:?}"));
    }
    let touching = case.expected["touching"].as_bool().expect("touching");
    let hit = narrow::intersects(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b)).hit;
    if !touching && (hit == (answer.status == Status::Separated) || hit != (reference <= 0.0)) {
        return Some(format!("boolean {hit}: {answer:?}"));
    }
    let closest = narrow::closest_points(&Placed::new(a, *pose_a), &Placed::new(b, *pose_b));
    if closest.distance != answer.distance && method == Method::Auto {
        return Some(format!("{closest:?} but {answer:?}"));
    }
    None
}

#[test]
fn the_sample_is_answered_within_its_tolerance() {
    let Some(cases) = sample() else {
        eprintln!("SKIPPED: no shared data folder; set JOSTLE_DATA to run the contact sample");
        return;
    };
    assert_eq!(cases.len(), 114);
    for method in [Method::Auto, Method::GjkEpa, Method::GjkSat] {
        let faults: Vec<_> = cases
            .iter()
            .filter_map(|case| Some(format!("{}: {}", case.name, fault(case, method)?)))
            .collect();
        assert!(faults.is_empty(), "{method:?}, {}:\n{}", faults.len(), faults.join("\n"));
    }
}
