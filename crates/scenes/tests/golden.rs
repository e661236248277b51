//! The bytes of every scene, by their hash. A scene whose bytes change breaks comparisons with
//! older results; if that is wanted, run with `JOSTLE_BLESS=1` to write the new hashes.

use jostle_scenes::{Scene, SceneSpec};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The first three frames at n = 1000, seed 7, as rows of six little-endian f32.
fn hash(spec: &SceneSpec) -> String {
    let mut scene = spec.build().expect("a known scene");
    let mut hasher = Sha256::new();
    for _ in 0..3 {
        for aabb in scene.boxes() {
            for bound in aabb.min.iter().chain(&aabb.max) {
                hasher.update(bound.to_le_bytes());
            }
        }
        scene.advance();
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hashes() -> BTreeMap<String, String> {
    let mut hashes = BTreeMap::new();
    for info in Scene::list() {
        let mut add = |spec: SceneSpec| {
            let params: Vec<_> = spec.params.iter().map(|(k, v)| format!(":{k}={v}")).collect();
            hashes.insert(format!("{}{}", spec.name, params.concat()), hash(&spec));
        };
        let spec = SceneSpec::new(info.name, 1000, 7);
        add(spec.clone());
        match info.name {
            "campbell" => add(spec.param("rotate", 1.0)),
            "uniform" => add(spec.param("density", 0.35)),
            "worst" => (1..8).for_each(|kind| add(spec.clone().param("kind", f64::from(kind)))),
            _ => {}
        }
    }
    hashes
}

#[test]
fn scenes_are_the_bytes_they_were() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scene_hashes.txt");
    let got = hashes();
    if std::env::var_os("JOSTLE_BLESS").is_some() {
        let head = "# SHA-256 of each scene's first 3 frames at n = 1000, seed 7 \
                    (rows of six f32, little-endian).\n";
        let lines: Vec<_> = got.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
        std::fs::write(&path, format!("{head}{}", lines.concat())).expect("testdata is writable");
        return;
    }
    let text = std::fs::read_to_string(&path).expect("testdata/scene_hashes.txt");
    let want: BTreeMap<String, String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, hash)| (name.to_owned(), hash.to_owned()))
        .collect();
    for (name, hash) in &got {
        assert_eq!(Some(hash), want.get(name), "scene {name} changed its bytes");
    }
    assert_eq!(got.len(), want.len(), "hashes of scenes that are gone");
}
