//! One golden hash per scene, equal for every algorithm and number of threads. Re-make the file
//! with `JOSTLE_BLESS=1` after a change of scenes; no change of algorithm may need that.

use std::fmt::Write as _;
use std::path::PathBuf;

use jostle::{Algorithm, Detector, Workers};
use jostle_scenes::{Scene, SceneSpec};
use jostle_testkit::golden::{BOXES, hash, play};
use jostle_testkit::suite;

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/pair_hashes.txt")
}

/// Every scene as it is, and those with few pairs or a choice of kinds once more.
fn variants() -> Vec<SceneSpec> {
    let plain = Scene::list().iter().map(|info| SceneSpec::new(info.name, BOXES, 7));
    let crowded = [
        SceneSpec::new("uniform", BOXES, 7).param("density", 0.35),
        SceneSpec::new("plane", BOXES, 7).param("fill", 1.5).param("frames", 14.0),
        SceneSpec::new("campbell", BOXES, 7).param("rotate", 1.0),
    ];
    plain.chain(crowded).collect()
}

fn name(spec: &SceneSpec) -> String {
    let params: Vec<String> =
        spec.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
    [vec![spec.name.clone()], params].concat().join(":")
}

fn played(spec: &SceneSpec, algorithm: Algorithm, threads: usize, still: bool) -> String {
    let detector = Detector::with_workers(algorithm, Workers::new(threads).unwrap());
    hash(&play(spec, detector, still))
}

#[test]
fn every_algorithm_and_thread_count_gives_the_golden_pairs() {
    let golden = std::fs::read_to_string(file()).unwrap_or_default();
    let mut made = String::from(
        "# SHA-256 over the pairs of 12 frames, 800 boxes, seed 7; \
         then with still boxes declared so.\n",
    );
    for spec in variants() {
        let truth = [false, true].map(|still| played(&spec, Algorithm::BruteForce, 1, still));
        writeln!(made, "{} {} {}", name(&spec), truth[0], truth[1]).unwrap();
        for &algorithm in Algorithm::ALL {
            for threads in suite::THREADS {
                for still in [false, true] {
                    let hash = played(&spec, algorithm, threads, still);
                    assert_eq!(
                        hash,
                        truth[usize::from(still)],
                        "{algorithm} on {threads} threads, {}",
                        name(&spec)
                    );
                }
            }
        }
    }
    if std::env::var_os("JOSTLE_BLESS").is_some() {
        std::fs::write(file(), &made).unwrap();
    } else {
        assert_eq!(made, golden, "the golden pairs changed");
    }
}
