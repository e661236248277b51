//! Bad usage and bad input: a clear message, exit code 2, and nothing half written.

mod common;

use common::Bench;

/// Runs, expects exit code 2 and every word in the message.
fn refused(bench: &Bench, args: &[&str], words: &[&str]) {
    let message = bench.fails(2, args);
    for word in words {
        assert!(message.contains(word), "{args:?}: {word:?} is missing in {message}");
    }
}

fn npy(shape: &str, descr: &str, bytes: usize) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(format!("{header:<117}\n").bytes());
    file.resize(file.len() + bytes, 0);
    file
}

#[test]
fn unknown_names_get_a_suggestion() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    refused(
        &bench,
        &["pairs", "one.csv", "--algorithm", "sort-swep"],
        &["did you mean sort-sweep"],
    );
    refused(&bench, &["bench", "--algorithm", "brute-forze"], &["did you mean brute-force"]);
    refused(&bench, &["scene", "unifrom", "-o", "x.npy"], &["unifrom", "uniform"]);
    refused(&bench, &["verify", "--scene", "sity"], &["sity", "city"]);
    refused(&bench, &["bench", "--scene", "uniform,balls"], &["balls", "ball"]);
    refused(
        &bench,
        &["scene", "uniform", "--set", "densty=1", "-o", "x.npy"],
        &["densty", "density"],
    );
    refused(&bench, &["scene", "worst", "--set", "kind=gaint", "-o", "x.npy"], &["gaint", "giant"]);
    refused(&bench, &["reproduce", "basline"], &["did you mean baseline"]);
    refused(&bench, &["pears"], &["pairs"]);
    refused(&bench, &["completions", "fisch"], &["fish"]);
    assert_eq!(bench.files(), ["one.csv"]);
}

#[test]
fn wrong_numbers_are_refused() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    refused(&bench, &["scene", "uniform", "--n", "many"], &["--n", "whole number"]);
    refused(&bench, &["scene", "uniform", "--frames", "0"], &["--frames", "at least 1"]);
    refused(&bench, &["scene", "uniform", "--n", "999m", "-o", "x.npy"], &["999000000"]);
    refused(&bench, &["scene", "uniform", "--set", "density", "-o", "x.npy"], &["density"]);
    refused(&bench, &["scene", "uniform", "--set", "density=-3", "-o", "x.npy"], &["density"]);
    refused(&bench, &["pairs", "one.csv", "--threads", "5000"], &["--threads", "at most 1024"]);
    refused(&bench, &["bench", "--budget", "NaN", "--n", "10"], &["--budget"]);
    refused(&bench, &["scene"], &["NAME"]);
    refused(&bench, &["explain"], &["--scene"]);
    assert_eq!(bench.files(), ["one.csv"]);
}

#[test]
fn wrong_files_are_named() {
    let bench = Bench::new();
    let row = "0,0,0,1,1,1\n";
    bench.write("ragged.csv", format!("{row}0,0,0,1,1\n"));
    bench.write("words.csv", format!("{row}0,0,zero,1,1,1\n"));
    bench.write("inverted.csv", format!("{row}0,3,0,1,1,1\n"));
    bench.write("empty.csv", "");
    bench.write("empty.npy", "");
    bench.write("text.npy", "not an array at all, whatever its name says");
    bench.write("shape.npy", npy("(2, 5)", "<f4", 40));
    bench.write("deep.npy", npy("(1, 1, 2, 6)", "<f4", 48));
    bench.write("whole.npy", npy("(2, 6)", "<i8", 96));
    bench.write("short.npy", npy("(3, 6)", "<f4", 50));
    bench.write("boxes.txt", row);
    let cases: &[(&str, &[&str])] = &[
        ("missing.npy", &[]),
        ("ragged.csv", &["row 1"]),
        ("words.csv", &["row 1", "zero"]),
        ("inverted.csv", &["row 1", "y"]),
        ("empty.csv", &[]),
        ("empty.npy", &[]),
        ("text.npy", &[]),
        ("shape.npy", &["5"]),
        ("deep.npy", &["6"]),
        ("whole.npy", &["i8"]),
        ("short.npy", &[]),
        ("boxes.txt", &[".npy"]),
        (".", &[]),
    ];
    for (name, words) in cases {
        for command in [
            &["pairs", name, "-o", "out.csv"][..],
            &["verify", name],
            &["explain", name],
            &["bench", name],
        ] {
            refused(&bench, command, &[&[*name], *words].concat());
        }
    }
    assert!(!bench.files().contains(&"out.csv".into()));
    assert!(!bench.files().iter().any(|name| name.starts_with('.')));
}

#[test]
fn unwritable_outputs_are_named_before_or_after_the_work() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    bench.write("file", "");
    for out in ["no/such/folder.npy", "file/below.npy"] {
        refused(&bench, &["pairs", "one.csv", "-o", out], &[out]);
        refused(&bench, &["scene", "uniform", "--n", "10", "--frames", "1", "-o", out], &[out]);
        refused(&bench, &["bench", "--n", "10", "--frames", "2", "--csv", out], &[out]);
        refused(&bench, &["bench", "--n", "10", "--frames", "2", "--plot", out], &[out]);
    }
    refused(&bench, &["pairs", "one.csv", "-o", "pairs.txt"], &["pairs.txt", ".npy or .csv"]);
    refused(&bench, &["reproduce", "baseline", "--quick", "-o", "file/below"], &["file/below"]);
    refused(
        &bench,
        &["scene", "uniform", "--n", "10", "--frames", "2", "-o", "two.csv"],
        &["two.csv"],
    );
    assert_eq!(bench.files(), ["file", "one.csv"]);
}

#[test]
fn devices_can_be_written_to() {
    let bench = Bench::new();
    if std::path::Path::new("/dev/null").exists() {
        bench.ok(&["bench", "--n", "10", "--frames", "2", "--csv", "/dev/null"]);
    }
}
