//! The other subcommands: scene, bench, reproduce, explain, completions, and the built-in world.

use crate::common::{Bench, keys};
use jostle::Algorithm;
use jostle_cli::reproduce::EXPERIMENTS;
use jostle_cli::support::text::count_of;
use jostle_scenes::Scene;

#[test]
fn scenes_are_listed_and_written_the_same_each_time() {
    let bench = Bench::new();
    let list = bench.ok(&["scene", "--list"]);
    assert!(Scene::list().iter().all(|scene| list.contains(scene.name)));
    let args = ["scene", "uniform", "--n", "1000", "--frames", "3", "--seed", "7"];
    for name in ["a.npy", "b.npy"] {
        bench.ok(&[&args[..], &["-o", name]].concat());
    }
    let (a, b) =
        (std::fs::read(bench.path("a.npy")).unwrap(), std::fs::read(bench.path("b.npy")).unwrap());
    assert!(a.len() > 3 * 1000 * 24 && a == b);
    bench.ok(&["scene", "uniform", "--n", "1000", "--frames", "3", "--seed", "8", "-o", "c.npy"]);
    assert_ne!(a, std::fs::read(bench.path("c.npy")).unwrap());
    assert_eq!(bench.files(), ["a.npy", "b.npy", "c.npy"]);
}

#[test]
fn the_built_in_world_reports_and_checks_itself() {
    let text = Bench::new().ok(&[]);
    for word in ["median", "worst", "pairs", "began", "auto chose", "check      the last step"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
}

#[test]
fn bench_prints_every_key_of_the_contract() {
    let bench = Bench::new();
    let args = ["bench", "--scene", "uniform", "--n", "1000", "--frames", "4", "--json"];
    let rows = bench.json(&args);
    assert_eq!(rows.len(), Algorithm::ALL.len());
    let expected = "scene n algorithm device threads build_ms median_ms min_ms p99_ms \
                    step_median_ms worst_ms first_ms pairs bytes step_bytes frames stats";
    let expected: Vec<&str> = expected.split(' ').collect();
    for row in &rows {
        assert_eq!(keys(row), expected);
        assert_eq!(row["pairs"], rows[0]["pairs"]);
        assert!(row["min_ms"].as_f64() <= row["median_ms"].as_f64());
        assert!(row["median_ms"].as_f64() <= row["p99_ms"].as_f64());
        assert!(row["step_median_ms"].as_f64() <= row["worst_ms"].as_f64());
        assert!(row["build_ms"].as_f64() <= row["first_ms"].as_f64());
        assert!(row["bytes"].as_u64() < row["step_bytes"].as_u64());
        assert!(row["stats"]["tests"].is_number());
    }
}

#[test]
fn bench_predicts_what_many_threads_gain() {
    let bench = Bench::new();
    let args = ["bench", "--n", "3000", "--frames", "4", "--algorithm", "bvh,grid-sweep"];
    let args = [&args[..], &["--simulate-threads", "4,64"]].concat();
    let text = bench.ok(&args);
    for word in ["simulated 64", "hand over", "events", "whole step", "the largest part is"] {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    let rows = bench.json(&[&args[..], &["--json"]].concat());
    let stages: Vec<_> = rows.iter().filter(|row| row["stage"] == "whole step").collect();
    assert!(stages.len() >= 2 * 4 && stages.iter().all(|row| row["median_ms"].is_number()));
    let churn = bench.run(&["bench", "--scene", "churn", "--simulate-threads", "4"]);
    assert_eq!(churn.status.code(), Some(2));
    let zero = bench.run(&["bench", "--simulate-threads", "0"]);
    assert_eq!(zero.status.code(), Some(2));
}

#[test]
fn bench_draws_and_writes_its_table() {
    let bench = Bench::new();
    let args = ["bench", "--scene", "uniform,churn", "--n", "200,400", "--frames", "3"];
    let text = bench.ok(&[
        &args[..],
        &["--threads", "1,2", "--csv", "t.csv", "--plot", "p.svg", "--html", "t.html"],
    ]
    .concat());
    assert!(text.contains("uniform, 200 boxes, 3 frames") && text.contains("1.00×"), "{text}");
    let csv = std::fs::read_to_string(bench.path("t.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2 * Algorithm::ALL.len());
    let svg = std::fs::read_to_string(bench.path("p.svg")).unwrap();
    let words = [
        "scene &quot;uniform",
        "scene &quot;churn",
        "number of boxes",
        "milliseconds per step",
        "sort-sweep, 2 threads",
    ];
    for word in words {
        let plain = word.replace("&quot;", "\"");
        assert!(svg.contains(word) || svg.contains(&plain), "{word} is missing");
    }
    let page = std::fs::read_to_string(bench.path("t.html")).unwrap();
    assert!(
        page.contains("<svg") && page.contains("<th>median_ms</th>") && !page.contains("<?xml")
    );
    assert_eq!(bench.files(), ["p.svg", "t.csv", "t.html"]);
}

#[test]
fn bench_takes_a_file_of_one_frame() {
    let bench = Bench::new();
    bench.ok(&["scene", "city", "--n", "500", "--frames", "1", "-o", "c.npy"]);
    let rows =
        bench.json(&["bench", "c.npy", "--frames", "5", "--algorithm", "sort-sweep", "--json"]);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["scene"], &rows[0]["frames"]), (&"c.npy".into(), &5.into()));
}

#[test]
fn bench_leaves_out_what_would_take_too_long() {
    let bench = Bench::new();
    bench.ok(&["scene", "uniform", "--n", "100000", "--frames", "1", "-o", "s.npy"]);
    let args = ["bench", "s.npy", "--frames", "2", "--json", "--algorithm"];
    let output = bench.run(&[&args[..], &["brute-force,sort-sweep"]].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("left out: brute-force on 100 000 boxes"), "{stderr}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("sort-sweep") && !stdout.contains("brute-force"), "{stdout}");
}

#[test]
fn every_experiment_runs_quickly_and_states_its_claims() {
    let bench = Bench::new();
    let text = bench.ok(&["reproduce", "all", "--quick", "-o", "out"]);
    let page = std::fs::read_to_string(bench.path("out/index.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("<th>verdict</th>"));
    let report = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    assert!(!report.contains("NOT FINISHED"), "{report}");
    assert!(!report.contains("not measured in this run"), "a figure has no picture: {report}");
    let files: Vec<String> = std::fs::read_dir(bench.path("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for experiment in EXPERIMENTS {
        for part in experiment.parts {
            let name = format!("{}/{}", experiment.name, part.name);
            assert!(text.contains(&format!("## {name}\n")), "{name}");
            let record = format!("out/parts/{}.json", name.replace('/', "-"));
            assert!(bench.path(&record).is_file(), "{record}");
            // A device that is not there has nothing to claim.
            let command = format!("| `jostle reproduce {name} --quick` |");
            assert!(report.contains(&command) || name == "loi/device", "{name} claims nothing");
        }
    }
    for picture in files.iter().filter(|file| file.ends_with(".svg")) {
        let table = picture.replace(".svg", ".csv");
        assert!(files.contains(&table), "{picture} has no table");
        assert!(page.contains(&format!("{table})")) || report.contains(&table), "{picture}");
    }
    assert!(report.contains("| At constant density"), "{report}");
}

#[test]
fn a_quick_run_gives_no_verdict_on_growth() {
    let bench = Bench::new();
    let text = bench.ok(&["reproduce", "baseline", "--quick", "-o", "out"]);
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| ") && line.contains("power")).collect();
    assert_eq!(rows.len(), 2);
    // A quick run has too few sizes for a verdict on growth, but says what would refute it.
    for row in rows {
        assert!(row.contains("| not testable here |") && row.contains("too few sizes"), "{row}");
        assert!(row.contains("refuted outside"), "{row}");
    }
}

#[test]
fn a_run_is_resumed_by_its_finished_parts() {
    let bench = Bench::new();
    bench.ok(&["reproduce", "grids/memory", "--quick", "-o", "out"]);
    let record = std::fs::read(bench.path("out/parts/grids-memory.json")).unwrap();
    let again = bench.ok(&["reproduce", "grids/memory", "--quick", "-o", "out", "--resume"]);
    assert!(again.contains("1 of 1 parts are kept"), "{again}");
    assert_eq!(std::fs::read(bench.path("out/parts/grids-memory.json")).unwrap(), record);
    // A part whose files are gone is not finished.
    std::fs::remove_file(bench.path("out/grids-memory.csv")).unwrap();
    let again = bench.ok(&["reproduce", "grids/memory", "--quick", "-o", "out", "--resume"]);
    assert!(!again.contains("kept") && bench.path("out/grids-memory.csv").is_file(), "{again}");
    // Another part joins the report; the first one stays in it.
    bench.ok(&["reproduce", "grids/one-bucket", "--quick", "-o", "out"]);
    let report = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    for part in ["grids/memory", "grids/one-bucket"] {
        assert!(report.contains(&format!("`jostle reproduce {part} --quick`")), "{part}");
    }
}

#[test]
fn what_cannot_be_written_is_not_called_finished() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("out/grids-memory.svg")).unwrap();
    let told = bench.fails(2, &["reproduce", "grids/memory", "--quick", "-o", "out"]);
    assert!(told.contains("grids-memory.svg"), "{told}");
    assert!(!bench.path("out/parts/grids-memory.json").exists());
    let report = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    assert!(report.contains("NOT FINISHED") && report.contains("`grids/memory`"), "{report}");
    bench.write("file", "");
    let told = bench.fails(2, &["reproduce", "grids/memory", "--quick", "-o", "file"]);
    assert!(told.contains("file: is a file"), "{told}");
    let told = bench.fails(2, &["reproduce", "grids/memry", "-o", "out"]);
    assert!(told.contains("did you mean grids/memory"), "{told}");
}

/// Ctrl-C: exit code 130, and the part that was running has no record.
#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_says_what_is_missing() {
    let bench = Bench::new();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("jostle"))
        .args(["reproduce", "campbell/tenth", "-o"])
        .arg(bench.path("out"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let report = bench.path("out/report.md");
    for _ in 0..600 {
        if report.is_file() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!bench.path("out/parts/campbell-tenth.json").exists());
    let text = std::fs::read_to_string(report).unwrap();
    assert!(text.contains("NOT FINISHED") && text.contains("`campbell/tenth`"), "{text}");
}

/// Ctrl-C between parts: those that are finished are kept, and a resumed run ends the others.
#[cfg(unix)]
#[test]
fn a_run_that_is_stopped_goes_on_where_it_was() {
    let bench = Bench::new();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("jostle"))
        .args(["reproduce", "grids", "--quick", "-o"])
        .arg(bench.path("out"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let first = bench.path("out/parts/grids-counters.json");
    for _ in 0..1200 {
        if first.is_file() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let id = child.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = std::fs::read(&first).unwrap();
    let report = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    assert!(report.contains("NOT FINISHED"), "{report}");
    assert!(report.contains("`jostle reproduce grids/counters --quick`"), "{report}");
    let again = bench.ok(&["reproduce", "grids", "--quick", "-o", "out", "--resume"]);
    assert!(again.contains("parts are kept") && !again.contains("## grids/counters\n"), "{again}");
    assert_eq!(std::fs::read(&first).unwrap(), kept);
    let report = std::fs::read_to_string(bench.path("out/report.md")).unwrap();
    assert!(!report.contains("NOT FINISHED"), "{report}");
}

/// Files that may not grow fail as on a full disk: told, and nothing is called finished.
#[cfg(unix)]
#[test]
fn a_full_disk_is_told_before_the_work() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out")).unwrap();
    let command = "trap '' XFSZ; ulimit -f 8; exec \"$0\" reproduce grids/memory --quick -o out";
    let output = std::process::Command::new("sh")
        .args(["-c", command])
        .arg(assert_cmd::cargo::cargo_bin!("jostle"))
        .current_dir(bench.path("."))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("report.md"), "{told}");
    assert!(!bench.path("out/report.md").exists());
    assert!(!bench.path("out/parts/grids-memory.json").exists());
}

#[test]
fn a_report_tells_the_machine_and_not_its_name() {
    let bench = Bench::new();
    bench.ok(&["reproduce", "grids/memory", "--quick", "-o", "out"]);
    let folder = bench.path("out").canonicalize().unwrap();
    for file in ["report.md", "index.html", "parts/grids-memory.json"] {
        let text = std::fs::read_to_string(bench.path("out").join(file)).unwrap();
        assert!(text.contains(" threads, ") && text.contains("memory"), "{file}");
        assert!(!text.contains(folder.to_str().unwrap()), "{file} has a path");
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        // A name of two letters may be part of any word.
        assert!(host.trim().len() < 6 || !text.contains(host.trim()), "{file} has the host's name");
    }
}

#[test]
fn explain_tells_and_gives_json() {
    let bench = Bench::new();
    bench.write("flat.csv", "0,0,0,2,2,0\n1,1,0,3,3,0\n1,1,0,3,3,0\n8,8,0,9,9,0\n");
    let text = bench.ok(&["explain", "flat.csv"]);
    for word in ["4 boxes", "flat", "equal to another", "3 pairs", "row 0 (2 pairs)", "auto takes"]
    {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    let object = &bench.json(&["explain", "--scene", "churn", "--n", "500", "--json"])[0];
    assert_eq!(object["boxes"], 500);
    assert!(object["motion"]["inserted_per_frame"].as_f64().unwrap() > 0.0);
    assert!(object["reason"].as_str().unwrap().contains(':'));
}

#[test]
fn explain_says_what_makes_boxes_slow() {
    let bench = Bench::new();
    let giant = bench.ok(&["explain", "--scene", "worst", "--set", "kind=giant", "--n", "2000"]);
    assert!(giant.contains("slow       a few boxes are far larger"), "{giant}");
    let crowd = "0,0,0,1,1,1\n".repeat(300);
    bench.write("crowd.csv", &crowd);
    let text = bench.ok(&["explain", "crowd.csv"]);
    for word in
        ["a plane meets at least 100 %", "row 0 alone overlaps", "the answer itself is large"]
    {
        assert!(text.contains(word), "{word} is missing in {text}");
    }
    let fine = bench.ok(&["explain", "--scene", "uniform", "--n", "5000"]);
    assert!(!fine.contains("slow "), "{fine}");
}

#[test]
fn explain_takes_hostile_boxes_and_none() {
    let bench = Bench::new();
    bench.write(
        "hostile.csv",
        "inf,0,0,inf,1,1\n-inf,-inf,-inf,inf,inf,inf\n0,0,0,0,0,0\n-0.0,0,0,0,0,0\n",
    );
    let object = &bench.json(&["explain", "hostile.csv", "--json"])[0];
    assert_eq!((&object["infinite"], &object["duplicates"]), (&2.into(), &1.into()));
    assert_eq!(object["pairs"], 4);
    bench.write("none.csv", "min_x,min_y,min_z,max_x,max_y,max_z\n");
    assert_eq!(bench.json(&["explain", "none.csv", "--json"])[0]["boxes"], 0);
    bench.ok(&["explain", "none.csv"]);
}

#[test]
fn completions_name_the_subcommands() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = bench.ok(&["completions", shell]);
        assert!(script.contains("reproduce") && script.contains("verify"), "{shell}");
    }
}

#[test]
fn every_help_text_has_examples() {
    let bench = Bench::new();
    let commands = ["pairs", "scene", "verify", "bench", "reproduce", "explain", "completions"];
    for command in commands.into_iter().chain(["contacts"]) {
        let help = bench.ok(&[command, "--help"]);
        assert!(help.contains("Example"), "{command}");
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{command}");
    }
    assert!(bench.ok(&["--help"]).contains("Exit code"));
}

/// Ctrl-C: the frames that are finished stay, and it says how many.
#[cfg(unix)]
#[test]
fn an_interrupted_scene_keeps_what_is_finished() {
    let bench = Bench::new();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("jostle"))
        .args(["scene", "uniform", "--n", "20000", "--frames", "1000000", "-o", "s.npy"])
        .current_dir(bench.path(""))
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.starts_with("stopped: s.npy: ") && stderr.contains("of 1000000"), "{stderr}");
    let reader = jostle_scenes::FrameReader::open(bench.path("s.npy")).unwrap();
    let written = count_of(reader.frames() as u64, "frame", "frames");
    assert!(stderr.contains(&format!("s.npy: {written} of")), "{stderr}");
    assert_eq!(bench.files(), ["s.npy"]);
}
