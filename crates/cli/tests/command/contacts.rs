//! `jostle contacts`: the shared sample, motion, and lines that are no queries.

use std::collections::HashMap;

use crate::common::{Bench, keys, shared_data};
use serde_json::{Value, json};

fn sphere(radius: f64, x: f64) -> Value {
    json!({"shape": {"sphere": {"radius": radius}}, "translation": [x, 0, 0]})
}

fn query(id: u64, a: Value, b: Value) -> String {
    json!({"id": id, "a": a, "b": b}).to_string()
}

fn answers(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn is_polyhedral(kind: &Value) -> bool {
    ["box", "hull", "triangle"].contains(&kind.as_str().unwrap())
}

fn check_sample(answer: &Value, expected: &Value) {
    let curved = !expected["kinds"].as_array().unwrap().iter().all(is_polyhedral);
    let size = number(&expected["size"]);
    let allowed = size * if curved { 1e-6 } else { 1e-9 } + number(&expected["err"]);
    for key in ["distance", "depth"] {
        let error = (number(&answer[key]) - number(&expected[key])).abs();
        assert!(error <= allowed, "{key} off by {error:e}: {answer} for {expected}");
    }
    if expected["touching"] == json!(false) {
        let apart = number(&expected["distance"]) > 0.0;
        assert_eq!(answer["status"] == "separated", apart, "{answer} for {expected}");
    }
}

#[test]
fn the_shared_sample_is_answered_within_its_tolerances() {
    let Some(folder) = shared_data() else {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
        return;
    };
    let text = std::fs::read_to_string(folder.join("contacts_sample_expected.jsonl")).unwrap();
    let expected: HashMap<u64, Value> =
        answers(&text).into_iter().map(|line| (line["id"].as_u64().unwrap(), line)).collect();
    let path = folder.join("contacts_sample.jsonl");
    let lines = Bench::new().json(&["contacts", path.to_str().unwrap(), "--json"]);
    assert_eq!(lines.len(), expected.len());
    for answer in &lines {
        check_sample(answer, &expected[&answer["id"].as_u64().unwrap()]);
    }
    assert!(lines.is_sorted_by_key(|line| line["id"].as_u64()), "answers in the input's order");
}

#[test]
fn an_answer_has_the_documented_keys_and_the_file_gets_the_same_lines() {
    let bench = Bench::new();
    let text = query(7, sphere(1.0, 0.0), sphere(1.0, 3.0));
    bench.write("in.jsonl", format!("\u{feff}{text}\n\n  \r\n{text}"));
    let printed = bench.ok(&["contacts", "in.jsonl"]);
    let lines = answers(&printed);
    assert_eq!(lines.len(), 2);
    assert_eq!(
        keys(&lines[0]),
        ["id", "distance", "depth", "normal", "point_a", "point_b", "status"]
    );
    assert_eq!(
        lines[0],
        json!({
            "id": 7, "distance": 1.0, "depth": 0.0, "normal": [1.0, 0.0, 0.0],
            "point_a": [1.0, 0.0, 0.0], "point_b": [2.0, 0.0, 0.0], "status": "separated"
        })
    );
    assert_eq!(bench.ok(&["contacts", "in.jsonl", "-o", "out.jsonl", "--json"]), "");
    assert_eq!(std::fs::read_to_string(bench.path("out.jsonl")).unwrap(), printed);
}

#[test]
fn motion_gives_the_time_of_impact() {
    let bench = Bench::new();
    let moving = |linear: [f64; 3]| {
        let mut side = sphere(1.0, 0.0);
        side["motion"] = json!({"linear": linear});
        side
    };
    let mut late: Value =
        serde_json::from_str(&query(2, moving([1.0, 0.0, 0.0]), sphere(1.0, 6.0))).unwrap();
    let early = late.to_string();
    late["duration"] = json!(10);
    let lines = [
        query(0, moving([8.0, 0.0, 0.0]), sphere(1.0, 6.0)),
        query(1, moving([0.0, 8.0, 0.0]), sphere(1.0, 6.0)),
        early,
        late.to_string(),
        query(4, moving([0.0, 8.0, 0.0]), sphere(1.0, 1.0)),
    ];
    bench.write("in.jsonl", lines.join("\n"));
    let answers = bench.json(&["contacts", "in.jsonl", "--json"]);
    let told =
        |k: usize| (answers[k]["impact"].as_str().unwrap(), answers[k]["time_of_impact"].as_f64());
    assert_eq!(told(0).0, "hit");
    assert!((told(0).1.unwrap() - 0.5).abs() < 1e-7, "{}", answers[0]);
    assert!((number(&answers[0]["impact_point_a"][0]) - 5.0).abs() < 1e-6, "{}", answers[0]);
    assert_eq!(told(1), ("miss", None));
    assert_eq!(told(2), ("miss", None), "one unit of time is too short");
    assert_eq!(told(3).0, "hit");
    assert!((told(3).1.unwrap() - 4.0).abs() < 1e-7, "{}", answers[3]);
    assert_eq!(told(4), ("at_start", Some(0.0)));
}

#[test]
fn bad_lines_are_named_and_the_rest_is_answered() {
    let good = |id: u64| query(id, sphere(1.0, 0.0), sphere(1.0, 1.5));
    let with = |side: Value| query(99, side, sphere(1.0, 0.0));
    let shaped = |shape: Value| with(json!({"shape": shape}));
    let unit = json!({"sphere": {"radius": 1}});
    let cases: Vec<(String, &str)> = vec![
        ("{\"id\": 3, \"a\": NaN}".into(), "NaN"),
        ("[1, 2]".into(), "the line is [1,2]; give an object"),
        ("{\"id\": 1}".into(), "a is missing"),
        ("{".into(), "at its end"),
        ("\u{0}\u{1}".into(), "no JSON"),
        (json!({"a": 1}).to_string(), "id is missing"),
        (shaped(json!({"sphere": {"radius": -1}})), "a.shape.sphere: radius = -1"),
        (shaped(json!({"sphere": {"radius": "wide"}})), "a.shape.sphere.radius is \"wide\""),
        (shaped(json!({"sphere": {"raduis": 1}})), "a.shape.sphere.raduis is unknown"),
        (shaped(json!({"spere": {"radius": 1}})), "did you mean sphere?"),
        (shaped(json!({"box": {"half_extents": [1, 2]}})), "half_extents has 2 numbers; give 3"),
        (shaped(json!({"box": {"half_extents": [1, -2, 1]}})), "half_extents y = -2"),
        (shaped(json!({"cuboid": {"half_extents": [1, -2, 1]}})), "half_extents y = -2"),
        (shaped(json!({"hull": {"points": []}})), "a.shape.hull: no points"),
        (shaped(json!({"hull": {"points": [[0, 0, 0], [1, 1, null]]}})), "points[1][2] is null"),
        (shaped(json!({"triangle": {"points": [[0, 0, 0]]}})), "has 1 points; give 3"),
        (shaped(json!({"half_space": {"normal": [0, 0, 0], "offset": 0}})), "normal is zero"),
        (shaped(json!({"mesh": {"vertices": [], "triangles": []}})), "a mesh of no triangles"),
        (shaped(json!({})), "names 0 kinds"),
        (
            shaped(json!({"rounded": {"shape": {"sphere": {"radius": -1}}, "margin": 1}})),
            "a.shape.rounded.shape.sphere: radius = -1",
        ),
        (shaped(json!({"rounded": {"shape": unit, "margin": -1}})), "rounded: margin = -1"),
        (
            json!({"id": 1, "a": {"shape": unit}, "point": [0, 1e70, 0]}).to_string(),
            "point[1] is 1000000",
        ),
        (
            json!({"id": 1, "a": {"shape": unit}, "point": [0, 0, 0], "ray": 1}).to_string(),
            "ray and point are given; give one of them",
        ),
        (
            json!({"id": 1, "a": {"shape": unit}, "ray": {"origin": [0, 0, 0]}}).to_string(),
            "ray.direction is missing",
        ),
        (with(json!({"shape": unit, "rotation": [0, 0, 0, 2]})), "a.rotation has length 2"),
        (with(json!({"shape": unit, "translation": [0, 1e70, 0]})), "a.translation y = 1000000"),
        (with(json!({"shape": unit, "motion": {"linear": [1e61, 0, 0]}})), "a.motion is too fast"),
        (
            "{\"id\": 1, \"a\": {\"shape\": {\"sphere\": {\"radius\": 1e999}}}}".into(),
            "out of range",
        ),
    ];
    let mut text = good(0) + "\n";
    for (index, (line, _)) in cases.iter().enumerate() {
        text += &format!("{line}\n{}\n", good(index as u64 + 1));
    }
    let bench = Bench::new();
    bench.write("in.jsonl", text);
    let output = bench.run(&["contacts", "in.jsonl", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told.len(), cases.len() + 1, "{told:#?}");
    for (index, ((line, fault), told)) in cases.iter().zip(&told).enumerate() {
        let place = format!("in.jsonl: line {}: ", 2 * index + 2);
        assert!(told.starts_with(&place) && told.contains(fault), "{line}: {told}, not {fault}");
    }
    let ids: Vec<u64> = answers(&String::from_utf8(output.stdout).unwrap())
        .iter()
        .map(|answer| answer["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, Vec::from_iter(0..=cases.len() as u64), "every other line is answered");
}

#[test]
fn rays_points_and_casts_are_answered() {
    let bench = Bench::new();
    let cube = json!({"box": {"half_extents": [1, 1, 1]}});
    let soap = json!({"shape": {"rounded": {"shape": cube, "margin": 0.5}}});
    let ray = |x: f64, solid: bool| {
        let ray = json!({"origin": [x, 0, 0], "direction": [2, 0, 0], "solid": solid});
        json!({"id": 0, "a": soap, "ray": ray}).to_string()
    };
    let mut cast: Value = serde_json::from_str(&query(5, soap.clone(), sphere(1.0, 7.5))).unwrap();
    cast["b"]["motion"] = json!({"linear": [-4, 0, 0]});
    cast["target_distance"] = json!(1);
    cast["duration"] = json!(9);
    let lines = [
        ray(-9.5, true),
        ray(0.0, true),
        ray(0.0, false),
        ray(9.0, true),
        json!({"id": 4, "a": soap, "point": [4.5, 0.5, 0]}).to_string(),
        cast.to_string(),
    ];
    bench.write("in.jsonl", lines.join("\n"));
    let answers = bench.json(&["contacts", "in.jsonl", "--json"]);
    let hit = |k: usize| (answers[k]["hit"] == json!(true), answers[k]["time"].as_f64());
    assert!(hit(0).0 && (hit(0).1.unwrap() - 4.0).abs() < 1e-9, "{}", answers[0]);
    assert_eq!(answers[0]["inside"], json!(false));
    assert_eq!(hit(1), (true, Some(0.0)));
    assert!(answers[1]["inside"] == json!(true) && (hit(2).1.unwrap() - 0.75).abs() < 1e-9);
    assert_eq!((hit(3), &answers[3]["point"]), ((false, None), &Value::Null));
    assert_eq!((number(&answers[4]["distance"]), &answers[4]["inside"]), (3.0, &json!(false)));
    assert!((number(&answers[5]["time_of_impact"]) - 1.0).abs() < 1e-6, "{}", answers[5]);
}

#[test]
fn half_spaces_may_be_infinitely_deep_and_may_not_turn() {
    let bench = Bench::new();
    let half = json!({"shape": {"half_space": {"normal": [0, 2, 0], "offset": 0}}});
    let mut turning = half.clone();
    turning["motion"] = json!({"angular": [0, 0, 1]});
    let lines = [query(0, half.clone(), half.clone()), query(1, half, turning)];
    bench.write("in.jsonl", lines.join("\n"));
    let output = bench.run(&["contacts", "in.jsonl", "--json"]);
    let lines = answers(&String::from_utf8(output.stdout).unwrap());
    assert_eq!((lines.len(), &lines[0]["depth"]), (1, &Value::Null));
    assert_eq!(lines[0]["status"], "overlapping");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("b.motion.angular is not zero; a half_space may move but not turn"));
}

#[test]
fn a_missing_file_and_a_folder_are_named() {
    let bench = Bench::new();
    let missing = "none.jsonl: there is no such file or folder; check the path";
    assert!(bench.fails(2, &["contacts", "none.jsonl"]).contains(missing));
    assert!(bench.fails(2, &["contacts", "."]).contains("cannot be read"));
    bench.write("empty.jsonl", "");
    assert_eq!(bench.ok(&["contacts", "empty.jsonl"]), "");
}

/// Plates, slivers and needles, turned: hulls that rounding can make of them have answers.
#[test]
fn hulls_as_thin_as_rounding_are_answered() {
    let bench = Bench::new();
    let mut lines = String::new();
    for (id, width) in (0..60u64).zip((0..).map(|k| 10f64.powi(-(k % 15)))) {
        let (sine, cosine) = (0.7 + 0.1 * id as f64).sin_cos();
        let turned = |x: f64, y: f64, z: f64| {
            let (u, v) = (cosine * x - sine * y, sine * x + cosine * y);
            [cosine * u - sine * z, v, sine * u + cosine * z]
        };
        let points: Vec<[f64; 3]> = (0..6)
            .map(|k| f64::from(k) * 0.7)
            .map(|t| turned(t.sin(), width * (3.0 * t).cos(), width * (5.0 * t).sin()))
            .collect();
        let hull = json!({"shape": {"hull": {"points": points}}});
        lines += &(query(id, hull, sphere(0.5, 0.2)) + "\n");
    }
    bench.write("thin.jsonl", lines);
    let found = bench.json(&["contacts", "thin.jsonl", "--json"]);
    assert_eq!(found.len(), 60);
    let mut thin = found.iter().filter(|answer| answer["id"].as_u64().unwrap() % 15 > 1);
    assert!(thin.all(|answer| answer["status"] == "overlapping"), "{found:?}");
}
