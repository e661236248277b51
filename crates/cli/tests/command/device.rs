//! `--device`: the same pairs on a GPU, here Mesa's software one.

use crate::common::Bench;

/// Says that a test is left out if `./test.sh` found no driver and could not install one.
fn without_driver() -> bool {
    let without = std::env::var_os("JOSTLE_TEST_WITHOUT_GPU").is_some();
    if without {
        eprintln!("SKIPPED: no software Vulkan driver on this machine");
    }
    without
}

#[test]
fn devices_are_listed_with_what_names_them() {
    if without_driver() {
        return;
    }
    let list = Bench::new().ok(&["devices"]);
    assert!(list.starts_with("cpu "), "{list}");
    assert!(list.contains("(software, vulkan)"), "no software device; see test.sh: {list}");
}

#[test]
fn pairs_on_a_device_are_those_of_the_processor() {
    if without_driver() {
        return;
    }
    let bench = Bench::new();
    bench.ok(&["scene", "uniform", "--n", "2000", "--frames", "3", "-o", "boxes.npy"]);
    let here = bench.json(&["pairs", "boxes.npy", "--json"]);
    let there = bench.json(&["pairs", "boxes.npy", "--json", "--device", "gpu"]);
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        for key in ["frame", "pairs", "began", "ended", "sha256"] {
            assert_eq!(here[key], there[key], "{key}");
        }
        assert_eq!((&here["device"], &there["algorithm"]), (&"cpu".into(), &"grid-sweep".into()));
        assert_ne!(there["device"], "cpu");
    }
}

#[test]
fn verify_and_bench_run_on_a_device() {
    if without_driver() {
        return;
    }
    let bench = Bench::new();
    let scene = ["--scene", "uniform", "--n", "1000", "--frames", "3"];
    let told = bench.ok(&[&["verify", "--device", "gpu"], &scene[..]].concat());
    assert!(told.contains("grid-sweep on "), "{told}");
    let devices = ["bench", "--device", "cpu,gpu", "--algorithm", "grid-sweep", "--json"];
    let rows = bench.json(&[&devices, &scene[..]].concat());
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["device"], &rows[0]["pairs"]), (&"cpu".into(), &rows[1]["pairs"]));
    let stats = &rows[1]["stats"];
    let count = |name: &str| stats[name].as_f64().unwrap_or_else(|| panic!("{name}: {stats}"));
    assert!((20.0..60.0).contains(&count("dispatches")), "{stats}");
    let bytes = count("device_read_bytes_per_box") + count("device_written_bytes_per_box");
    assert!((bytes - count("device_bytes_per_box")).abs() < 1e-6 * bytes, "{stats}");
    assert!(bytes > count("least_bytes_per_box") && count("least_bytes_per_box") > 24.0);
    // Milliseconds at a given number of bytes a second.
    let moved = count("device_read_bytes") + count("device_written_bytes");
    for (name, speed) in [("estimate_ms_at_500_gb_s", 500e9), ("estimate_ms_at_1_tb_s", 1e12)] {
        assert!((count(name) / 1e3 * speed / moved - 1.0).abs() < 1e-6, "{name}: {stats}");
    }
}

#[test]
fn auto_with_a_device_says_what_it_chose_and_why() {
    if without_driver() {
        return;
    }
    let bench = Bench::new();
    let scene = ["--scene", "uniform", "--n", "3000", "--frames", "3"];
    let told = bench.json(&[&["explain", "--device", "gpu", "--json"], &scene[..]].concat());
    assert_ne!(told[0]["device"], "cpu");
    let reason = told[0]["reason"].as_str().unwrap();
    // A software device is never worth it.
    assert!(reason.starts_with("bvh: ") || reason.starts_with("grid-sweep: "), "{reason}");
    bench.ok(&[&["verify", "--device", "gpu", "--algorithm", "auto"], &scene[..]].concat());
}

#[test]
fn the_figures_of_the_thesis_are_made_on_a_device_and_its_times_not_judged() {
    if without_driver() {
        return;
    }
    let bench = Bench::new();
    let text = bench.ok(&["reproduce", "loi", "--quick", "--device", "gpu", "-o", "out"]);
    let software = text.contains("a software device: no GPU's times");
    assert!(software && text.contains("times of a software device are not judged"), "{text}");
    assert!(text.contains("decided on the device"), "{text}");
    let stages = std::fs::read_to_string(bench.path("out/loi-device.csv")).unwrap();
    assert!(stages.contains("device: fill and sort"), "{stages}");
    assert!(stages.lines().count() > 20, "{stages}");
}

#[test]
fn what_a_device_cannot_do_is_said() {
    let bench = Bench::new();
    bench.write("one.csv", "0,0,0,1,1,1\n");
    let told = bench.fails(2, &["pairs", "one.csv", "--device", "no such thing"]);
    assert!(told.contains("no such thing") && told.contains("found: "), "{told}");
    let told = bench.fails(2, &["pairs", "one.csv", "--device", "gpu", "--algorithm", "sap"]);
    assert!(told.contains("sap runs on the processor only"), "{told}");
}
