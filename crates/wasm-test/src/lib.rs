//! The library on `wasm32-unknown-unknown`, to be called from JavaScript: `run.mjs` plays the
//! golden scenes with every algorithm and compares the pairs with `testdata/pair_hashes.txt`.
//!
//! Names go in and pairs come out through `Exchange`, one buffer for each direction.

use std::sync::Mutex;

use glam::DVec3;
use jostle::shape::{Pose, Shape};
use jostle::{Aabb, Algorithm, Body, Detector, Filter, Workers, World};
use jostle_scenes::SceneSpec;

/// As in the golden test of the testkit.
const BOXES: usize = 800;
const FRAMES: usize = 12;

/// What JavaScript writes and reads.
struct Exchange {
    text: Vec<u8>,
    pairs: Vec<u32>,
}

static EXCHANGE: Mutex<Exchange> = Mutex::new(Exchange { text: Vec::new(), pairs: Vec::new() });

/// Room for the name of a scene, to be written before [`play`].
#[unsafe(no_mangle)]
pub extern "C" fn text_buffer(length: usize) -> *mut u8 {
    let mut exchange = EXCHANGE.lock().expect("one thread");
    exchange.text = vec![0; length];
    exchange.text.as_mut_ptr()
}

/// The pairs of the last [`play`], two words each.
#[unsafe(no_mangle)]
pub extern "C" fn pairs() -> *const u32 {
    EXCHANGE.lock().expect("one thread").pairs.as_ptr()
}

/// The number of algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn algorithms() -> usize {
    Algorithm::ALL.len()
}

/// Writes an algorithm's name into the text buffer and returns its length.
#[unsafe(no_mangle)]
pub extern "C" fn algorithm_name(algorithm: usize) -> usize {
    let name = Algorithm::ALL[algorithm].to_string();
    let mut exchange = EXCHANGE.lock().expect("one thread");
    exchange.text[..name.len()].copy_from_slice(name.as_bytes());
    name.len()
}

/// Plays the scene whose name is in the text buffer (`uniform:density=0.35`) and returns how many
/// pairs its frames have together. Still boxes are declared so if `still` is not zero.
#[unsafe(no_mangle)]
pub extern "C" fn play(algorithm: usize, still: u32) -> usize {
    let mut exchange = EXCHANGE.lock().expect("one thread");
    let text = String::from_utf8(exchange.text.clone()).expect("a name in UTF-8");
    let mut parts = text.split(':');
    let mut spec = SceneSpec::new(parts.next().expect("a name"), BOXES, 7);
    for part in parts {
        let (key, value) = part.split_once('=').expect("key=value");
        spec = spec.param(key, value.parse().expect("a number"));
    }
    let mut scene = spec.build().expect("a known scene");
    let mut detector = Detector::with_workers(Algorithm::ALL[algorithm], Workers::one());
    let filters: Vec<Filter> = (0..BOXES)
        .map(|k| match scene.still() {
            Some(list) if still != 0 && list[k] => Filter::STILL,
            _ => Filter::ALL,
        })
        .collect();
    detector.boxes_mut().insert_each(scene.boxes(), &filters).expect("valid boxes");
    exchange.pairs.clear();
    for _ in 0..FRAMES {
        detector.boxes_mut().set_all(scene.boxes()).expect("valid boxes");
        detector.step().expect("a step");
        let words = detector.pairs().iter().flat_map(|pair| [pair.a().get(), pair.b().get()]);
        exchange.pairs.extend(words);
        scene.advance();
    }
    exchange.pairs.len() / 2
}

/// A world's step and the one-shot call: returns ten times the number of touches of three balls in
/// a row, which is two, plus the number of overlaps of three boxes, which is one.
#[unsafe(no_mangle)]
pub extern "C" fn everything_else() -> u32 {
    let mut world = World::new(Algorithm::Auto);
    for x in [0.0, 1.5, 3.0] {
        let ball = Shape::sphere(1.0).expect("a ball");
        let pose = Pose::from_translation(DVec3::new(x, 0.0, 0.0)).expect("a pose");
        world.insert(Body::new(ball, pose)).expect("a body");
    }
    let touches = world.step().expect("a step").touches.len() as u32;
    let boxes = [0.0f32, 0.5, 7.0].map(|x| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]));
    let overlaps = jostle::overlaps(&boxes).expect("valid boxes").len() as u32;
    10 * touches + overlaps
}
