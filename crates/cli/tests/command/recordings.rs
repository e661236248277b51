//! `jostle record` and `jostle replay`.

use crate::common::Bench;

fn recorded(bench: &Bench) {
    let scene = ["record", "--scene", "churn", "--n", "600", "--frames", "20", "-o", "a.rec"];
    let told = bench.ok(&scene);
    assert!(told.starts_with("a.rec: 20 steps of "), "{told}");
}

#[test]
fn every_algorithm_replays_a_recording() {
    let bench = Bench::new();
    recorded(&bench);
    let told = bench.ok(&["replay", "a.rec", "--algorithm", "all", "--threads", "1,2"]);
    let agree = told.matches("20 steps agree").count();
    assert_eq!(agree, 2 * jostle::Algorithm::ALL.len(), "{told}");
    let told = bench.ok(&["replay", "a.rec"]);
    assert!(told.contains("auto") && told.contains("20 steps agree"), "{told}");
    let told = bench.ok(&["replay", "a.rec", "--algorithm", "sap", "--shrink"]);
    assert!(told.contains("nothing to shrink"), "{told}");
}

/// The boxes after a step are those of the scene's frame, so they have its pairs.
#[test]
fn boxes_after_a_step_can_be_written() {
    let bench = Bench::new();
    let scene = ["--n", "300", "--frames", "8", "--seed", "3"];
    bench.ok(&[&["record", "--scene", "uniform", "-o", "u.rec"], &scene[..]].concat());
    bench.ok(&[&["scene", "uniform", "-o", "u.npy"], &scene[..]].concat());
    let frames = bench.json(&["pairs", "u.npy", "--json"]);
    for step in [1, 5, 8] {
        bench.ok(&["replay", "u.rec", "--until", &step.to_string(), "--dump", "now.npy"]);
        let now = &bench.json(&["pairs", "now.npy", "--json"])[0];
        assert_eq!(now["sha256"], frames[step - 1]["sha256"], "step {step}");
    }
    let said = bench.fails(2, &["replay", "u.rec", "--until", "9"]);
    assert!(said.contains("there are only 8 steps, not 9"), "{said}");
}

#[test]
fn recordings_that_are_cut_damaged_or_none_are_told_apart() {
    let bench = Bench::new();
    recorded(&bench);
    let bytes = std::fs::read(bench.path("a.rec")).unwrap();
    bench.write("cut.rec", &bytes[..bytes.len() * 2 / 3]);
    let output = bench.run(&["replay", "cut.rec"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("cut.rec: the recording breaks off after step"), "{said}");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 16;
    bench.write("flipped.rec", &flipped);
    let mut foreign = bytes.clone();
    foreign[8] = 9;
    bench.write("foreign.rec", &foreign);
    bench.write("text.rec", "x,y,z\n");
    for (name, words) in [
        ("flipped.rec", "is damaged: its checksum is wrong"),
        ("foreign.rec", "this recording is of version 9"),
        ("text.rec", "this is no recording"),
        ("missing.rec", "cannot be read"),
    ] {
        let said = bench.fails(2, &["replay", name]);
        assert!(said.contains(name) && said.contains(words), "{said}");
    }
    bench.write("short.rec", &bytes[..20]);
    assert!(bench.fails(2, &["replay", "short.rec"]).contains("breaks off after step 0"));
}

#[test]
fn a_recording_is_not_written_over_its_input_or_to_nowhere() {
    let bench = Bench::new();
    bench.ok(&["scene", "uniform", "--n", "10", "--frames", "2", "-o", "w.npy"]);
    let said = bench.fails(2, &["record", "w.npy", "-o", "w.npy"]);
    assert!(said.contains("is the input"), "{said}");
    let said = bench.fails(2, &["record", "w.npy", "-o", "no/w.rec"]);
    assert!(said.contains("no/w.rec: cannot be written"), "{said}");
    bench.ok(&["record", "w.npy", "-o", "w.rec"]);
    bench.ok(&["replay", "w.rec"]);
}
