//! The scenes of `testdata/pair_hashes.txt`, whose pairs every algorithm and backend finds.

use jostle::{Detector, Filter, Pair};
use jostle_scenes::SceneSpec;

/// Boxes of each scene.
pub const BOXES: usize = 800;
/// Frames of each scene.
pub const FRAMES: usize = 12;

/// The pairs of all frames, one after the other; still boxes are declared so on request.
pub fn play(spec: &SceneSpec, mut detector: Detector, still: bool) -> Vec<Pair> {
    let mut scene = spec.build().unwrap();
    let filter = |k: usize| match scene.still() {
        Some(list) if still && list[k] => Filter::STILL,
        _ => Filter::ALL,
    };
    let filters: Vec<Filter> = (0..BOXES).map(filter).collect();
    detector.boxes_mut().insert_each(scene.boxes(), &filters).unwrap();
    let mut all = Vec::new();
    for _ in 0..FRAMES {
        detector.boxes_mut().set_all(scene.boxes()).unwrap();
        detector.step().unwrap();
        detector.validate();
        all.extend_from_slice(detector.pairs());
        scene.advance();
    }
    all
}

/// The hash of pairs.
pub fn hash(pairs: &[Pair]) -> String {
    jostle_scenes::pair_hash(pairs.iter().map(|&pair| pair.into()))
}
