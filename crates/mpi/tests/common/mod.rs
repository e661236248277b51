//! Runs the built command, on virtual ranks or under `mpirun`, with a timeout.

#![allow(dead_code)] // Each test file uses a part of it.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use jostle::{Aabb, Algorithm, Detector, Filter};
use jostle_scenes::{FrameReader, Scene, read_pairs, write_boxes};
use serde_json::Value;

/// A collective that hangs must not hang the tests.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Where ranks run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ranks {
    Virtual(usize),
    Mpi(usize),
}

/// Runs the command to its end.
pub(crate) fn run(ranks: Ranks, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_jostle-mpi");
    let mut command = match ranks {
        Ranks::Virtual(count) => {
            let mut command = assert_cmd::Command::new(program);
            command.arg("--virtual").arg(count.to_string());
            command
        }
        Ranks::Mpi(count) => {
            let mut command = mpirun();
            command.args(["-n", &count.to_string(), program]);
            command
        }
    };
    command.args(args).timeout(TIMEOUT).output().expect("the command runs")
}

/// MPI's launcher, allowed to start more ranks than there are cores.
pub(crate) fn mpirun() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new("mpirun");
    command
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_hwloc_base_binding_policy", "none")
        .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .timeout(TIMEOUT);
    command
}

/// What it prints; it must succeed.
pub(crate) fn succeed(ranks: Ranks, args: &[&str]) -> String {
    let output = run(ranks, args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{ranks:?} {args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// What it says on stderr; it must fail with this code and without a panic.
pub(crate) fn fail(ranks: Ranks, code: i32, args: &[&str]) -> String {
    let output = run(ranks, args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{ranks:?} {args:?}: {stderr}");
    assert!(!stderr.contains("panicked at"), "{args:?}: {stderr}");
    stderr
}

/// One object per line.
pub(crate) fn json(ranks: Ranks, args: &[&str]) -> Vec<Value> {
    let text = succeed(ranks, args);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The folder of shared data, if it is there; tests say so when they skip.
pub(crate) fn shared_data() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("JOSTLE_DATA").map_or(default, PathBuf::from);
    let found = folder.join("expected.json").is_file().then_some(folder);
    if found.is_none() {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
    }
    found
}

/// The published sets: name, and count and hash of each frame.
pub(crate) fn published(folder: &Path) -> Vec<(String, Vec<Value>)> {
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let sets = expected["sets"].as_object().unwrap();
    let frames = |set: &Value| set["frames"].as_array().unwrap().clone();
    sets.iter().map(|(name, set)| (name.clone(), frames(set))).collect()
}

/// Numbers of events of each frame of a file, from one process.
pub(crate) fn events_of_one_process(path: &Path) -> Vec<[usize; 2]> {
    let mut reader = FrameReader::open(path).unwrap();
    let mut detector = Detector::new(Algorithm::SortSweep);
    let mut boxes = Vec::new();
    let mut events = Vec::new();
    while let Some(frame) = reader.next_frame(&mut boxes).unwrap() {
        if frame == 0 {
            detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
        } else {
            detector.boxes_mut().set_all(&boxes).unwrap();
        }
        let step = detector.step().unwrap();
        events.push([step.began.len(), step.ended.len()]);
    }
    events
}

/// Every frame of a published set has the published pairs and the events of one process.
pub(crate) fn check_set(ranks: Ranks, folder: &Path, name: &str, frames: &[Value], more: &[&str]) {
    let path = folder.join(name);
    let args = [&["pairs", path.to_str().unwrap(), "--json"], more].concat();
    let lines = json(ranks, &args);
    assert_eq!(lines.len(), frames.len(), "{name}");
    let events = events_of_one_process(&path);
    for ((line, expected), [began, ended]) in lines.iter().zip(frames).zip(events) {
        for key in ["frame", "pairs", "sha256"] {
            assert_eq!(line[key], expected[key], "{name} on {ranks:?}: {key}");
        }
        assert_eq!(line["began"], began, "{name} on {ranks:?}");
        assert_eq!(line["ended"], ended, "{name} on {ranks:?}");
    }
}

/// Ranks that write their pairs give one file with the pairs of one process, and nothing else.
pub(crate) fn check_one_file(ranks: Ranks) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("b.npy"), folder.path().join("p.npy"));
    let scene = Scene::new("uniform", 3000, 7, &[("density", 0.35)]).unwrap();
    write_boxes(&path, scene.boxes()).unwrap();
    succeed(ranks, &["pairs", path.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    let expected: Vec<(u32, u32)> =
        jostle::overlaps(scene.boxes()).unwrap().into_iter().map(Into::into).collect();
    assert_eq!(read_pairs(&out).unwrap(), expected, "{ranks:?}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no part is left behind");
}

/// A NaN that the last of four ranks reads is named by rank, row and axis; returns the message.
pub(crate) fn check_bad_box(four: Ranks) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.npy");
    let mut boxes = vec![Aabb::default(); 100];
    boxes[77].max[1] = f32::NAN;
    write_boxes(&path, &boxes).unwrap();
    let said = fail(four, 2, &["pairs", path.to_str().unwrap()]);
    for word in ["rank 3", "row 77", "max y is NaN"] {
        assert!(said.contains(word), "{said}");
    }
    said
}
