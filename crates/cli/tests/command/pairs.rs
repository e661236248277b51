//! `jostle pairs`.

use crate::common::{Bench, keys};
use jostle_scenes::read_pairs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const THREE: &str = "min_x,min_y,min_z,max_x,max_y,max_z\n\
    0,0,0,2,2,2\n\
    1,1,1,3,3,3\n\
    3,3,3,4,4,4\n";

#[test]
fn a_csv_gives_pairs_with_every_key_of_the_contract() {
    let bench = Bench::new();
    bench.write("three.csv", THREE);
    let lines = bench.json(&["pairs", "three.csv", "--json", "--threads", "1"]);
    assert_eq!(lines.len(), 1);
    let expected = [
        "frame",
        "boxes",
        "pairs",
        "began",
        "ended",
        "sha256",
        "algorithm",
        "device",
        "threads",
        "ms",
        "step_ms",
    ];
    assert_eq!(keys(&lines[0]), expected);
    assert_eq!(lines[0]["pairs"], 2);
    assert_eq!(lines[0]["boxes"], 3);
    assert_eq!(lines[0]["began"], 2);
    assert_eq!(lines[0]["algorithm"], "auto");
    assert_eq!(lines[0]["threads"], 1);
    // SHA-256 of (0, 1), (1, 2) as little-endian u32, computed with sha256sum.
    let hash = "f75a605a1fcbaea023eb618377547dbff016670bd1b0aeafce56232d837e0d71";
    assert_eq!(lines[0]["sha256"], hash);
}

/// What the command prints when it is given `input` on standard input.
fn piped(bench: &Bench, input: &[u8], args: &[&str]) -> String {
    let output = assert_cmd::cargo::cargo_bin_cmd!("jostle")
        .current_dir(bench.path(""))
        .args(args)
        .write_stdin(input)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn few_pairs_are_printed_and_many_counted() {
    let bench = Bench::new();
    bench.write("three.csv", THREE);
    let text = bench.ok(&["pairs", "three.csv"]);
    assert!(text.starts_with("three.csv: 3 boxes, 2 pairs in "), "{text}");
    assert!(text.contains("\n0 1\n1 2\n") && !text.contains("sha256"), "{text}");
    let hash = "f75a605a1fcbaea023eb618377547dbff016670bd1b0aeafce56232d837e0d71";
    assert!(bench.ok(&["pairs", "three.csv", "--hash"]).contains(&format!("sha256 {hash}\n")));
    bench.write("one.csv", "0,0,0,1,1,1\n");
    assert!(bench.ok(&["pairs", "one.csv"]).starts_with("one.csv: 1 box, 0 pairs in "));
    bench.write("same.csv", "0,0,0,1,1,1\n".repeat(8));
    let text = bench.ok(&["pairs", "same.csv"]);
    assert!(text.contains("8 boxes, 28 pairs") && text.contains("-o pairs.csv"), "{text}");
    assert!(!text.contains("\n0 1\n"), "{text}");
}

#[test]
fn a_sequence_is_a_table_that_fits_a_terminal() {
    let bench = Bench::new();
    let scene = ["scene", "uniform", "--frames", "3", "-o", "s.npy", "--set"];
    bench.ok(&[&scene[..], &["density=0.02", "--n", "100"]].concat());
    let few = bench.ok(&["pairs", "s.npy"]);
    bench.ok(&[&scene[..], &["density=0.3", "--n", "900"]].concat());
    let many = bench.ok(&["pairs", "s.npy", "--hash"]);
    for (text, lines) in [(&few, 2 + 2 * 3), (&many, 2 + 2 * 3)] {
        let head = text.lines().nth(1).unwrap();
        assert_eq!(
            head.split_whitespace().collect::<Vec<_>>().join(" "),
            "frame boxes pairs began ended update ms step ms"
        );
        assert!(text.lines().count() >= lines, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let total: Vec<&str> = few.lines().nth(2).unwrap().split_whitespace().collect();
    let pairs: usize = total[2].parse().unwrap();
    let list = few.lines().nth(3).unwrap();
    assert_eq!(list.split(',').count(), pairs, "{few}");
}

#[test]
fn standard_input_and_output_are_files_too() {
    let bench = Bench::new();
    assert_eq!(piped(&bench, THREE.as_bytes(), &["pairs", "-", "-o", "-"]), "a,b\n0,1\n1,2\n");
    let scene = ["scene", "uniform", "--n", "300", "--frames", "2", "--set", "density=0.3"];
    bench.ok(&[&scene[..], &["-o", "s.npy"]].concat());
    let stdout = bench.run(&[&scene[..], &["-o", "-"]].concat()).stdout;
    assert!(stdout == std::fs::read(bench.path("s.npy")).unwrap());
    let from_file = bench.json(&["pairs", "s.npy", "--json"]);
    let lines = piped(&bench, &stdout, &["pairs", "-", "--json"]);
    for (line, other) in lines.lines().zip(&from_file) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["sha256"], other["sha256"]);
    }
    assert!(piped(&bench, &stdout, &["verify", "-"]).contains("standard input: 2 frames"));
    assert!(piped(&bench, THREE.as_bytes(), &["explain", "-"]).contains("3 boxes"));
    assert_eq!(bench.files(), ["s.npy"]);
}

/// Every kind of file through the command: the reader's own tests have the rest.
#[test]
fn flat_boxes_and_other_separators_are_read() {
    let bench = Bench::new();
    bench.write("flat.tsv", "x0\ty0\tx1\ty1\n0\t0\t2\t2\n1\t1\t3\t3\n5\t5\t6\t6\n");
    bench.write("spaces.txt", "# x y z x y z\n0 0 0 2 2 2\n1 1 0 3 3 1\n5 5 0 6 6 1\n");
    for name in ["flat.tsv", "spaces.txt"] {
        bench.ok(&["pairs", name, "-o", "p.csv"]);
        assert_eq!(read_pairs(bench.path("p.csv")).unwrap(), [(0, 1)], "{name}");
    }
}

#[test]
fn pairs_are_written_in_both_formats() {
    let bench = Bench::new();
    bench.write("three.csv", THREE);
    for name in ["out.csv", "out.npy"] {
        bench.ok(&["pairs", "three.csv", "-o", name]);
        assert_eq!(read_pairs(bench.path(name)).unwrap(), [(0, 1), (1, 2)]);
    }
    assert_eq!(bench.files(), ["out.csv", "out.npy", "three.csv"]);
}

#[test]
fn every_algorithm_and_thread_count_prints_the_same_hashes() {
    let bench = Bench::new();
    bench.ok(&[
        "scene",
        "uniform",
        "--n",
        "600",
        "--frames",
        "4",
        "--set",
        "density=0.35",
        "-o",
        "s.npy",
    ]);
    let first = bench.json(&["pairs", "s.npy", "--json", "--algorithm", "brute-force"]);
    assert_eq!(first.len(), 4);
    assert!(first[1]["began"].as_u64().unwrap() > 0);
    for algorithm in jostle::Algorithm::ALL {
        for threads in ["1", "2", "3"] {
            let args =
                ["pairs", "s.npy", "--json", "--algorithm", algorithm.name(), "--threads", threads];
            let other = bench.json(&args);
            for (one, other) in first.iter().zip(&other) {
                for key in ["pairs", "began", "ended", "sha256"] {
                    assert_eq!(one[key], other[key], "{algorithm} {threads} {key}");
                }
            }
        }
    }
}

#[test]
fn events_of_a_sequence_add_up() {
    let bench = Bench::new();
    bench.ok(&[
        "scene",
        "tenth",
        "--n",
        "2000",
        "--frames",
        "6",
        "--set",
        "density=0.35",
        "-o",
        "s.npy",
    ]);
    let lines = bench.json(&["pairs", "s.npy", "--json", "-o", "p.csv"]);
    let mut pairs = 0;
    for line in &lines {
        pairs += line["began"].as_i64().unwrap() - line["ended"].as_i64().unwrap();
        assert_eq!(line["pairs"], pairs);
    }
    let csv = std::fs::read_to_string(bench.path("p.csv")).unwrap();
    let mut rows = csv.lines();
    assert_eq!(rows.next(), Some("frame,a,b"));
    let total: i64 = lines.iter().map(|line| line["pairs"].as_i64().unwrap()).sum();
    assert_eq!(rows.count() as i64, total);
}

#[test]
fn between_two_files_only_crossing_pairs_count() {
    let bench = Bench::new();
    bench.write("a.csv", THREE);
    bench.write("b.csv", "9,9,9,9,9,9\n2,2,2,3,3,3\n0,0,0,5,5,5\n");
    let lines = bench.json(&["pairs", "a.csv", "--with", "b.csv", "--json", "-o", "p.csv"]);
    assert_eq!(
        read_pairs(bench.path("p.csv")).unwrap(),
        [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]
    );
    assert_eq!(lines[0]["pairs"], 6);
    assert_eq!(lines[0]["with_boxes"], 3);
}

#[test]
fn one_frame_stays_while_a_sequence_moves() {
    let bench = Bench::new();
    bench.ok(&["scene", "uniform", "--n", "300", "--frames", "3", "-o", "s.npy"]);
    bench.write("wall.csv", "-1e9,-1e9,-1e9,1e9,1e9,1e9\n");
    let lines = bench.json(&["pairs", "s.npy", "--with", "wall.csv", "--json"]);
    assert!(lines.len() == 3 && lines.iter().all(|line| line["pairs"] == 300));
    bench.ok(&["scene", "uniform", "--n", "300", "--frames", "2", "-o", "t.npy"]);
    let message = bench.fails(2, &["pairs", "s.npy", "--with", "t.npy"]);
    assert!(message.contains("s.npy has 3 frames and t.npy has 2"), "{message}");
}

#[test]
fn invalid_rows_are_refused_or_skipped_and_reported() {
    let bench = Bench::new();
    bench.write("bad.csv", "0,0,0,2,2,2\n0,0,NaN,1,1,1\n5,0,0,4,1,1\n1,1,1,3,3,3\n");
    let message = bench.fails(2, &["pairs", "bad.csv", "-o", "out.csv"]);
    assert!(message.contains("bad.csv") && message.contains("NaN"), "{message}");
    assert_eq!(bench.files(), ["bad.csv"]);
    let args = ["pairs", "bad.csv", "--skip-invalid", "--json", "-o", "out.csv"];
    let output = bench.run(&args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("row 1 skipped") && stderr.contains("row 2 skipped"), "{stderr}");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&line["boxes"], &line["skipped"]), (&2.into(), &2.into()));
    assert_eq!(read_pairs(bench.path("out.csv")).unwrap(), [(0, 3)]);
}

/// A row that is bad in one frame only ends its pairs and begins them again, under its number.
#[test]
fn a_row_that_comes_and_goes_keeps_its_number() {
    let bench = Bench::new();
    let whole = [[0.0f32, 0.0, 0.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 3.0, 3.0, 3.0]];
    let mut broken = whole;
    broken[0][2] = f32::NAN;
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(
        format!("{:<117}\n", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2, 6), }")
            .bytes(),
    );
    for frame in [whole, broken, whole] {
        bytes.extend(frame.iter().flatten().flat_map(|value| value.to_le_bytes()));
    }
    bench.write("s.npy", bytes);
    let lines = bench.json(&["pairs", "s.npy", "--skip-invalid", "--json", "-o", "p.csv"]);
    let column =
        |key: &str| lines.iter().map(|line| line[key].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(column("pairs"), [1, 0, 1]);
    assert_eq!(column("began"), [1, 0, 1]);
    assert_eq!(column("ended"), [0, 1, 0]);
    assert_eq!(column("skipped"), [0, 1, 0]);
    let csv = std::fs::read_to_string(bench.path("p.csv")).unwrap();
    assert_eq!(csv, "frame,a,b\n0,0,1\n2,0,1\n");
}

#[test]
fn no_box_and_one_box_are_fine() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    assert_eq!(bench.json(&["pairs", "one.csv", "--json"])[0]["pairs"], 0);
    bench.ok(&["scene", "uniform", "--n", "0", "--frames", "1", "-o", "none.npy"]);
    let line = &bench.json(&["pairs", "none.npy", "--json"])[0];
    assert_eq!((&line["boxes"], &line["pairs"]), (&0.into(), &0.into()));
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(line["sha256"], empty);
}

#[test]
fn too_many_pairs_are_refused_and_nothing_is_written() {
    let bench = Bench::new();
    bench.write("same.csv", "0,0,0,1,1,1\n".repeat(100));
    let message = bench.fails(2, &["pairs", "same.csv", "--limit", "1000", "-o", "p.npy"]);
    assert!(message.contains("4950 pairs") && message.contains("--limit"), "{message}");
    assert_eq!(bench.files(), ["same.csv"]);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let bench = Bench::new();
    bench.ok(&["scene", "uniform", "--n", "500", "--frames", "400", "-o", "s.npy"]);
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("jostle"))
        .args(["pairs", "s.npy", "--json"])
        .current_dir(bench.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"frame\":0"), "{line}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
