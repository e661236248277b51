//! Bad usage and bad input: a clear message, exit code 2, and nothing half written.

use crate::common::Bench;

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
    let grids = ["did you mean", "grid-sweep", "grid-sap or grid-segmented-sap?"];
    refused(&bench, &["bench", "--algorithm", "grid"], &grids);
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
    let message = bench.fails(2, &["bench", "--algorithm", "foo"]);
    assert!(message.contains("there are: brute-force") && !message.contains("mean"), "{message}");
    refused(&bench, &["completions", "fisch"], &["fish"]);
    assert_eq!(bench.files(), ["one.csv"]);
}

#[test]
fn an_output_does_not_replace_the_input() {
    let bench = Bench::new();
    let text = "0,0,0,1,1,1\n1,1,1,2,2,2\n";
    let path = bench.write("one.csv", text);
    let query = r#"{"id": 1, "a": {"shape": {"box": {"half_extents": [1, 1, 1]}}},
                    "b": {"shape": {"sphere": {"radius": 1}}}}"#;
    bench.write("queries.jsonl", query.replace('\n', " "));
    let whole = path.to_str().unwrap();
    let words = ["is the input", "give another name"];
    refused(&bench, &["pairs", "one.csv", "-o", "./one.csv"], &words);
    refused(&bench, &["pairs", "./one.csv", "--with", whole, "-o", "one.csv"], &words);
    refused(&bench, &["bench", "one.csv", "--frames", "1", "--csv", whole], &words);
    refused(&bench, &["contacts", "queries.jsonl", "-o", "queries.jsonl"], &words);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // A file that is there and no input is replaced.
    bench.write("pairs.csv", "old");
    bench.ok(&["pairs", "one.csv", "-o", "pairs.csv"]);
    assert_eq!(std::fs::read_to_string(bench.path("pairs.csv")).unwrap(), "a,b\n0,1\n");
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
    bench.write("complex.npy", npy("(2, 6)", "<c8", 96));
    bench.write("short.npy", npy("(3, 6)", "<f4", 50));
    bench.write("boxes.dat", row);
    bench.write("boxes.npy.gz", "");
    bench.write("no.npz", "no archive");
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
        ("complex.npy", &["c8", "float32"]),
        ("short.npy", &[]),
        ("boxes.dat", &[".npy"]),
        ("boxes.npy.gz", &["gunzip"]),
        ("no.npz", &["numpy.savez"]),
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
fn unwritable_outputs_are_named_before_the_work() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    bench.write("file", "");
    for out in ["no/such/folder.npy", "file/below.npy"] {
        refused(&bench, &["pairs", "one.csv", "-o", out], &[out]);
        refused(&bench, &["scene", "uniform", "--n", "10", "--frames", "1", "-o", out], &[out]);
        // A million frames would not end: the file is looked at first.
        let long = ["bench", "--n", "1000", "--frames", "1m", "--force"];
        refused(&bench, &[&long[..], &["--csv", out]].concat(), &[out, "does not exist"]);
        let picture = &out.replace(".npy", ".svg");
        let plot = ["--csv", "left.csv", "--plot", picture];
        refused(&bench, &[&long[..], &plot].concat(), &[picture, "does not exist"]);
        refused(&bench, &["reproduce", "all", "-o", out], &[out, "does not exist"]);
        refused(&bench, &["contacts", "one.csv", "-o", out], &[out, "does not exist"]);
    }
    refused(&bench, &["bench", "--frames", "1m", "--plot", "x.png"], &["x.png", ".svg"]);
    refused(&bench, &["bench", "--frames", "1m", "--csv", "-"], &["-: give a file name"]);
    refused(&bench, &["pairs", "one.csv", "--json", "-o", "-"], &["--json", "-o -"]);
    refused(&bench, &["pairs", "-", "--with", "-"], &["not both"]);
    refused(&bench, &["bench", "-"], &["standard input"]);
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

/// A file without frames is not an error, and every command says so in whole sentences.
#[test]
fn no_frames_are_told() {
    let bench = Bench::new();
    bench.write("zero.npy", npy("(0, 5, 6)", "<f4", 0));
    assert_eq!(bench.ok(&["pairs", "zero.npy"]), "zero.npy: no frames of 5 boxes\n");
    let text = bench.ok(&["explain", "zero.npy"]);
    assert!(text.contains("0 frames") && text.ends_with("no frame to look at\n"), "{text}");
    assert!(bench.ok(&["verify", "zero.npy"]).contains("0 frames, 0 pairs"));
    refused(&bench, &["bench", "zero.npy"], &["zero.npy", "no frames"]);
}

/// A device without line breaks must not fill the memory.
#[cfg(unix)]
#[test]
fn endless_lines_are_given_up() {
    let bench = Bench::new();
    refused(&bench, &["contacts", "/dev/zero"], &["/dev/zero: line 1 is longer than 4 MiB"]);
    let long = format!("\n\n{}", " ".repeat((4 << 20) + 2));
    bench.write("long.jsonl", long);
    refused(&bench, &["contacts", "long.jsonl"], &["long.jsonl: line 3 is longer"]);
}
