//! Times the four support searches against each other on triangulated spheres, with random
//! directions and with directions that turn a little from search to search.
//!
//! `cargo run --release -p jostle-bench --example support_search [repeats]`
#![forbid(unsafe_code)]

use glam::{DQuat, DVec3};
use jostle::shape::{Hull, SupportSearch};
use std::hint::black_box;
use std::time::Instant;

const SEARCHES: usize = 4096;

fn main() {
    let repeats = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(15);
    println!("| vertices | directions | scan ns | climb | artificial | hierarchy | default |");
    println!("|---|---|---|---|---|---|---|");
    let mut spheres: Vec<Hull> =
        (0..=5).map(|k| Hull::icosphere(1.0, k).expect("a legal radius")).collect();
    spheres.extend([24, 56, 72, 96, 128].map(spiral));
    spheres.sort_by_key(|sphere| sphere.vertices().len());
    for sphere in spheres {
        for coherent in [false, true] {
            compare(&sphere, coherent, repeats);
        }
    }
}

/// A sphere of any number of vertices, on a spiral from pole to pole.
fn spiral(count: u32) -> Hull {
    let points: Vec<DVec3> = (0..count)
        .map(|i| {
            let y = (2.0 * f64::from(i) + 1.0) / f64::from(count) - 1.0;
            let turn = DQuat::from_rotation_y(2.399_963_229_728_653 * f64::from(i));
            turn * DVec3::new((1.0 - y * y).sqrt(), y, 0.0)
        })
        .collect();
    Hull::new(&points).expect("a legal hull")
}

/// One row: the scan's time, and the others' as shares of it.
fn compare(sphere: &Hull, coherent: bool, repeats: usize) {
    let mut hulls: Vec<Hull> = SupportSearch::ALL
        .iter()
        .map(|&search| Hull::with_search(sphere.vertices(), search).expect("a legal hull"))
        .collect();
    hulls.push(sphere.clone());
    let directions = if coherent { turning() } else { random() };
    let mut best = vec![f64::INFINITY; hulls.len()];
    let mut sums = vec![0; hulls.len()];
    // Interleaved, so that a slow moment of the machine hits all alike.
    for _ in 0..repeats {
        for (index, hull) in hulls.iter().enumerate() {
            let begin = Instant::now();
            sums[index] = run(hull, &directions);
            best[index] = best[index].min(begin.elapsed().as_secs_f64());
        }
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "the searches disagree");
    let name = if coherent { "coherent" } else { "random" };
    let nanoseconds = best[0] * 1e9 / SEARCHES as f64;
    let shares: Vec<String> =
        best[1..].iter().map(|time| format!("{:.2}", time / best[0])).collect();
    let count = sphere.vertices().len();
    println!("| {count} | {name} | {nanoseconds:.1} | {} |", shares.join(" | "));
}

fn run(hull: &Hull, directions: &[DVec3]) -> u64 {
    let mut hint = 0;
    let mut sum = 0;
    for &direction in directions {
        // The next direction depends on this answer in real use.
        let nudge = if hint == u32::MAX { 1.0 } else { 0.0 };
        sum += u64::from(hull.support_index_from(black_box(direction + nudge), &mut hint));
    }
    sum
}

fn random() -> Vec<DVec3> {
    let mut state = 1u64;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..SEARCHES).map(|_| DVec3::new(number(), number(), number())).collect()
}

/// Two degrees at a time about a slowly moving axis.
fn turning() -> Vec<DVec3> {
    let step = |i: usize| DVec3::new(1.0, (i as f64 * 0.01).sin(), (i as f64 * 0.013).cos());
    let mut direction = DVec3::new(0.3, -0.5, 0.8);
    (0..SEARCHES)
        .map(|i| {
            direction = DQuat::from_axis_angle(step(i).normalize(), 0.035) * direction;
            direction
        })
        .collect()
}
