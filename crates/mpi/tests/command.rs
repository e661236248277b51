//! The command on virtual ranks: everything but MPI itself.

mod common;

use common::{
    Ranks, check_bad_box, check_one_file, check_set, fail, json, published, run, shared_data,
    succeed,
};
use jostle::Aabb;
use jostle_scenes::{Scene, write_boxes};

#[test]
fn every_published_set_has_its_pairs_and_events() {
    let Some(folder) = shared_data() else { return };
    for (name, frames) in published(&folder) {
        for ranks in [1, 4] {
            check_set(Ranks::Virtual(ranks), &folder, &name, &frames, &[]);
        }
    }
}

#[test]
fn every_scene_gives_the_events_of_one_process() {
    for info in Scene::list() {
        let args = ["verify", "--scene", info.name, "--n", "1200", "--frames", "4"];
        for ranks in [1, 3, 8] {
            let said = succeed(Ranks::Virtual(ranks), &args);
            assert_eq!(said.matches("equal").count(), 2, "{said}");
        }
    }
}

#[test]
fn keys_are_those_of_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.npy");
    let scene = Scene::new("uniform", 500, 7, &[("density", 0.35)]).unwrap();
    write_boxes(&path, scene.boxes()).unwrap();
    let lines = json(Ranks::Virtual(3), &["pairs", path.to_str().unwrap(), "--json"]);
    let keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    let expected = "frame boxes pairs began ended sha256 algorithm threads ms step_ms";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn all_ranks_write_one_file() {
    for ranks in [1, 4, 9] {
        check_one_file(Ranks::Virtual(ranks));
    }
}

#[test]
fn few_boxes_and_many_ranks_are_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    for count in [0usize, 1, 2, 5] {
        let path = folder.path().join(format!("{count}.npy"));
        write_boxes(&path, &vec![Aabb::EVERYTHING; count]).unwrap();
        let lines = json(Ranks::Virtual(6), &["pairs", path.to_str().unwrap(), "--json"]);
        assert_eq!(lines[0]["pairs"], count * count.saturating_sub(1) / 2);
        assert_eq!(lines[0]["boxes"], count);
    }
}

#[test]
fn bad_input_is_named_by_rank_row_and_axis() {
    let said = check_bad_box(Ranks::Virtual(4));
    assert_eq!(said.lines().count(), 1, "one rank speaks for all: {said}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("equal.npy");
    let name = path.to_str().unwrap();
    let said = fail(Ranks::Virtual(3), 2, &["pairs", "nowhere.npy"]);
    assert!(said.contains("nowhere.npy"), "{said}");
    write_boxes(&path, &vec![Aabb::default(); 100]).unwrap();
    let said = fail(Ranks::Virtual(3), 2, &["pairs", name, "--limit", "10"]);
    assert!(said.contains("pairs overlap") && said.contains("rank 2"), "{said}");
    let said = fail(Ranks::Virtual(2), 2, &["pairs", name, "-o", "/nowhere/at/all.npy"]);
    assert!(said.contains("/nowhere/at/all.npy"), "{said}");
    fail(Ranks::Virtual(0), 2, &["pairs", name]);
    assert_eq!(run(Ranks::Virtual(2), &["verify"]).status.code(), Some(2));
}

#[test]
fn bench_simulate_and_plan_run() {
    let args = ["bench", "--n", "2000", "--frames", "2", "--against", "1", "--json"];
    let lines = json(Ranks::Virtual(4), &args);
    assert_eq!(lines[0]["ranks"], 4);
    assert!(lines[0]["ratio"].as_f64().unwrap() > 0.0);
    let args = ["simulate", "--n", "2000", "--ranks", "2,5", "--scene", "uniform,city"];
    assert_eq!(succeed(Ranks::Virtual(1), &args).lines().count(), 6);
    let args = ["plan", "--n", "20k", "--ranks", "8,64"];
    assert_eq!(succeed(Ranks::Virtual(1), &args).lines().count(), 4);
}
