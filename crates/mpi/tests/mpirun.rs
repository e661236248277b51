//! The command under `mpirun`, on real ranks. Only with the feature `mpi`.

#![cfg(feature = "mpi")]

mod common;

use common::{
    Ranks, check_bad_box, check_one_file, check_set, json, mpirun, published, run, shared_data,
    succeed,
};
use jostle::Aabb;
use jostle_scenes::{Scene, write_boxes};

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

#[test]
fn every_published_set_has_its_pairs_and_events() {
    let Some(folder) = shared_data() else { return };
    for (name, frames) in published(&folder) {
        for ranks in RANKS {
            // Every set with one and four ranks, the one with most frames with all.
            if matches!(ranks, 1 | 4) || frames.len() > 10 {
                check_set(Ranks::Mpi(ranks), &folder, &name, &frames, &[]);
            }
        }
        if frames.len() > 1 {
            let more = ["--cut-every-frame", "--algorithm", "grid-sweep", "--threads", "2"];
            check_set(Ranks::Mpi(3), &folder, &name, &frames, &more);
        }
    }
}

#[test]
fn every_scene_gives_the_events_of_one_process() {
    let mut args = vec!["verify", "--n", "1200", "--frames", "4"];
    for info in Scene::list() {
        args.extend(["--scene", info.name]);
    }
    for ranks in RANKS {
        let said = succeed(Ranks::Mpi(ranks), &args);
        assert_eq!(said.matches("equal").count(), 2 * Scene::list().len(), "{said}");
    }
}

#[test]
fn random_histories_give_the_events_of_one_process() {
    for ranks in RANKS {
        let said = succeed(Ranks::Mpi(ranks), &["verify", "--histories", "4", "--seed", "100"]);
        assert!(said.contains("4 histories"), "{said}");
    }
}

#[test]
fn all_ranks_write_one_file() {
    check_one_file(Ranks::Mpi(4));
}

#[test]
fn bad_input_ends_all_ranks_with_one_message() {
    check_bad_box(Ranks::Mpi(4));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.npy");
    write_boxes(&path, &[Aabb::default(); 1]).unwrap();
    let lines = json(Ranks::Mpi(4), &["pairs", path.to_str().unwrap(), "--json"]);
    assert_eq!((&lines[0]["boxes"], &lines[0]["pairs"]), (&1.into(), &0.into()));
}

/// Two machines with different files under one name: ranks with different working folders.
#[test]
fn files_of_different_shapes_are_refused_by_all_ranks() {
    let folders = [3, 5].map(|count| {
        let folder = tempfile::tempdir().unwrap();
        write_boxes(folder.path().join("b.npy"), &vec![Aabb::default(); count]).unwrap();
        folder
    });
    let mut command = mpirun();
    for (place, folder) in folders.iter().enumerate() {
        let program = env!("CARGO_BIN_EXE_jostle-mpi");
        command.args(if place == 0 { vec![] } else { vec![":"] });
        command.args(["-n", "2", "--wdir", folder.path().to_str().unwrap(), program]);
        command.args(["pairs", "b.npy"]);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let expected = "b.npy: rank 0 sees the shape (1, 3, 6) and rank 2 sees (1, 5, 6)";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_rank_that_dies_ends_the_job_with_a_message() {
    let output = run(Ranks::Mpi(3), &["verify", "--histories", "1", "--die-on-rank", "1"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("rank 1 panicked; the job ends"), "{said}");
}

#[test]
fn real_ranks_count_what_virtual_ones_do() {
    let args = [
        "bench",
        "--n",
        "20000",
        "--frames",
        "3",
        "--param",
        "density=0.35",
        "--against",
        "1",
        "--json",
    ];
    for ranks in [2, 4, 16] {
        let real = &json(Ranks::Mpi(ranks), &args)[0];
        let simulated = &json(Ranks::Virtual(ranks), &args)[0];
        for key in [
            "pairs",
            "tests",
            "single_tests",
            "ghost_share",
            "bytes_per_moving_box",
            "messages_per_rank",
            "most_messages",
            "collectives",
            "collective_bytes",
            "imbalance",
            "migrated",
            "cuts",
        ] {
            assert_eq!(real[key], simulated[key], "{key} on {ranks} ranks");
        }
    }
}
