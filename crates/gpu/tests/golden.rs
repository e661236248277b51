//! The golden hashes of every scene, and every shared data set with its published hashes.

mod common;

use std::path::PathBuf;

use common::on_device;
use jostle::{Detector, Filter, Workers};
use jostle_scenes::{FrameReader, Scene, SceneSpec};
use jostle_testkit::golden::{BOXES, hash, play};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn detector() -> Detector {
    let workers = Workers::one();
    Detector::with_broad_phase(on_device(&workers), workers)
}

#[test]
fn every_scene_gives_the_golden_pairs() {
    let golden = std::fs::read_to_string(root().join("testdata/pair_hashes.txt")).unwrap();
    let mut scenes = 0;
    for line in golden.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let mut parts = name.split(':');
        let mut spec = SceneSpec::new(parts.next().unwrap(), BOXES, 7);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap();
            spec = spec.param(key, value.parse().unwrap());
        }
        for (still, golden) in [false, true].into_iter().zip(words) {
            assert_eq!(hash(&play(&spec, detector(), still)), golden, "{name}, still {still}");
        }
        scenes += 1;
    }
    assert!(scenes >= Scene::list().len(), "{scenes} scenes");
}

/// Frames of a set that are checked: forty of one are many for a software device.
const FRAMES_OF_A_SET: usize = 4;

#[test]
fn every_shared_data_set_gives_its_published_hashes() {
    let folder = root().join("../shared/data");
    let Ok(text) = std::fs::read_to_string(folder.join("expected.json")) else {
        println!("SKIPPED: {} is not there, no shared data was tested", folder.display());
        return;
    };
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let sets = expected["sets"].as_object().unwrap();
    assert!(!sets.is_empty());
    for (name, set) in sets {
        let mut reader = FrameReader::open(folder.join(name)).unwrap();
        let (mut detector, mut boxes) = (detector(), Vec::new());
        for frame in set["frames"].as_array().unwrap().iter().take(FRAMES_OF_A_SET) {
            reader.next_frame(&mut boxes).unwrap().expect("the file has all frames");
            if detector.boxes().is_empty() {
                detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
            }
            detector.boxes_mut().set_all(&boxes).unwrap();
            detector.step().unwrap();
            assert_eq!(detector.pairs().len() as u64, frame["pairs"].as_u64().unwrap(), "{name}");
            assert_eq!(hash(detector.pairs()), frame["sha256"].as_str().unwrap(), "{name}");
        }
    }
}
