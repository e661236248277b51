//! `jostle bench --narrow`: rows, agreement, files, and command lines that make no sense.

use crate::common::{Bench, keys};
use jostle_scenes::ShapeKind;
use serde_json::Value;

const QUICK: [&str; 6] = ["--pairs", "8", "--passes", "2", "--frames", "3"];

fn narrow<'a>(scenes: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["bench", "--narrow", scenes], more, &QUICK[..]].concat()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn ways<'a>(rows: &'a [Value], case: &str) -> Vec<[&'a str; 3]> {
    let rows = rows.iter().filter(|row| row["case"] == case);
    rows.map(|row| ["question", "method", "memory"].map(|key| text(row, key))).collect()
}

#[test]
fn every_row_has_every_key_and_sound_numbers() {
    let rows = Bench::new().json(&narrow("boxes,mixed,spheres-80", &["--json"]));
    let expected = "scene case question method memory pairs frames passes median_ns min_ns steps \
                    hits early cached_over_cold seed";
    let expected: Vec<&str> = expected.split(' ').collect();
    for row in &rows {
        assert_eq!(keys(row), expected);
        assert!(0.0 < number(row, "min_ns") && number(row, "min_ns") <= number(row, "median_ns"));
        assert_eq!((&row["pairs"], &row["passes"]), (&8.into(), &2.into()));
        let moving = row["case"] == "moving";
        assert_eq!(row["frames"], if moving { 3 } else { 1 });
        assert_eq!(row["cached_over_cold"].is_number(), row["memory"] == "cached");
        assert!(moving || row["memory"] == "cold");
        let hits = number(row, "hits");
        match text(row, "case") {
            "separated" if row["question"] != "impact" => assert_eq!(hits, 0.0, "{row}"),
            "deep" => assert_eq!(hits, 1.0, "{row}"),
            _ => assert!((0.0..=1.0).contains(&hits), "{row}"),
        }
    }
}

#[test]
fn each_question_is_asked_in_every_way_that_differs() {
    let rows = Bench::new().json(&narrow("boxes,hulls-12", &["--json"]));
    let (boxes, hulls): (Vec<Value>, Vec<Value>) =
        rows.into_iter().partition(|row| row["scene"] == "boxes");
    let expected = [
        ["intersects", "auto", "cold"],
        ["intersects", "gjk-epa", "cold"],
        ["distance", "auto", "cold"],
        ["distance", "gjk-epa", "cold"],
        ["contact", "auto", "cold"],
        ["contact", "gjk-epa", "cold"],
        ["contact", "gjk-sat", "cold"],
        ["manifold", "auto", "cold"],
    ];
    assert_eq!(ways(&boxes, "deep"), expected);
    assert_eq!(ways(&boxes, "separated").last(), Some(&["impact", "auto", "cold"]));
    let cached = ways(&boxes, "moving").into_iter().filter(|way| way[2] == "cached");
    let without_sat = expected.iter().filter(|way| way[1] != "gjk-sat");
    assert_eq!(
        cached.collect::<Vec<_>>(),
        without_sat.map(|&[question, method, _]| [question, method, "cached"]).collect::<Vec<_>>()
    );
    // Without closed forms, `auto` says what `gjk-epa` would.
    assert!(ways(&hulls, "deep").iter().all(|way| way[1] != "gjk-epa"));
    assert!(ways(&hulls, "deep").contains(&["contact", "gjk-sat", "cold"]));
}

/// Steps count the work itself, so they tell what times on a busy machine cannot.
#[test]
fn steps_tell_closed_forms_and_memories() {
    let rows = Bench::new().json(&narrow("balls,spheres-320", &["--json"]));
    let steps = |scene: &str, case: &str, question: &str, memory: &str| {
        let found = rows.iter().find(|row| {
            let wanted = [scene, case, question, "auto", memory];
            ["scene", "case", "question", "method", "memory"]
                .iter()
                .zip(wanted)
                .all(|(key, value)| row[*key] == value)
        });
        number(found.expect("the row"), "steps")
    };
    assert_eq!(steps("balls", "scattered", "contact", "cold"), 0.0);
    assert!(steps("spheres-320", "deep", "contact", "cold") > 4.0);
    for question in ["intersects", "distance", "contact"] {
        let [cold, cached] =
            ["cold", "cached"].map(|memory| steps("spheres-320", "moving", question, memory));
        assert!(cached < cold, "{question}: {cached} against {cold}");
    }
    assert!(steps("balls", "separated", "impact", "cold") >= 1.0);
}

#[test]
fn counts_repeat_and_depend_on_the_seed() {
    let bench = Bench::new();
    let counts = |seed: &str| -> Vec<[Value; 3]> {
        let rows = bench.json(&narrow("mixed", &["--json", "--seed", seed, "--case", "touching"]));
        let counts = rows.iter().map(|row| ["steps", "hits", "early"].map(|key| row[key].clone()));
        counts.collect()
    };
    assert_eq!(counts("1"), counts("1"));
    assert_ne!(counts("1"), counts("2"));
}

#[test]
fn every_scene_agrees_and_the_table_says_so() {
    let scenes = ShapeKind::ALL.iter().filter(|kind| kind.triangles().is_none_or(|n| n < 2000));
    let names: Vec<&str> = scenes.map(|kind| kind.name).collect();
    let list = names.join(",");
    let text = Bench::new().ok(&narrow(&list, &["--method", "auto,gjk-epa"]));
    for name in names {
        for case in ["separated", "touching", "deep", "scattered", "moving"] {
            let title = format!("{name}, {case}: ");
            let line = text.lines().find(|line| line.starts_with(&title)).expect(&title);
            assert!(line.ends_with("; all answers agree"), "{line}");
        }
    }
    for word in ["median ns", "of cold", "1.00×", "steps"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
}

#[test]
fn files_and_a_picture_are_written() {
    let bench = Bench::new();
    let more = ["--case", "deep", "--json", "--csv", "t.csv", "--plot", "p.svg"];
    let rows = bench.json(&narrow("spheres-80,spheres-320,boxes", &more));
    let csv = std::fs::read_to_string(bench.path("t.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + rows.len());
    assert_eq!(csv.lines().next().unwrap(), keys(&rows[0]).join(","));
    let svg = std::fs::read_to_string(bench.path("p.svg")).unwrap();
    for word in ["triangulated spheres, deep", "triangles of a sphere", "boxes, deep", "gjk-sat"] {
        assert!(svg.contains(word), "{word} is missing");
    }
    assert_eq!(bench.files(), ["p.svg", "t.csv"]);
}

#[test]
fn what_would_take_too_long_is_left_out_and_said() {
    let bench = Bench::new();
    let args = ["--case", "deep", "--question", "contact", "--json", "--budget", "1"];
    let output = bench.run(&narrow("spheres-5120", &args));
    assert_eq!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("left out: contact by gjk-sat on spheres-5120, deep"), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("\"auto\"") && !stdout.contains("gjk-sat"), "{stdout}");
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let bench = Bench::new();
    let stderr = bench.fails(2, &["bench", "--narrow", "boxes,sphers-80"]);
    assert!(stderr.contains("'sphers-80'") && stderr.contains("a similar value"), "{stderr}");
    assert!(ShapeKind::ALL.iter().all(|kind| stderr.contains(kind.name)), "{stderr}");
    let wrong = [("--case", "deeper", "deep"), ("--question", "when", "impact")];
    for (option, name, known) in wrong.into_iter().chain([("--method", "epa", "gjk-epa")]) {
        let stderr = bench.fails(2, &["bench", "--narrow", "boxes", option, name]);
        assert!(stderr.contains(name) && stderr.contains(known), "{stderr}");
    }
}

#[test]
fn command_lines_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    let wrong: [(&[&str], &str); 9] = [
        (&["--scene", "uniform"], "--scene"),
        (&["--n", "100"], "--n"),
        (&["--algorithm", "sap"], "--algorithm"),
        (&["file.npy"], "[IN]"),
        (&["--speed", "NaN"], "from 0 to 1"),
        (&["--speed", "-1"], "from 0 to 1"),
        (&["--pairs", "0"], "at least 1"),
        (&["--pairs", "9999999999"], "too many"),
        (&["--method", "gjk-sat", "--question", "distance"], "nothing to ask"),
    ];
    for (more, word) in wrong {
        let stderr = bench.fails(2, &[&["bench", "--narrow", "boxes"], more].concat());
        assert!(stderr.contains(word), "{more:?}: {stderr}");
    }
    let stderr = bench.fails(2, &["bench", "--case", "deep"]);
    assert!(stderr.contains("--narrow"), "{stderr}");
}
