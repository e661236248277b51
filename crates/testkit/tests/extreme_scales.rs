//! Worlds far from the origin, tiny ones, vast ones and mixtures of them cost no more than the
//! same boxes at the origin. Counted in tests and swaps, which are the same in every run; a loop
//! over cells that counts nothing is held to its bound by the assertions of the test build.

use jostle::{Aabb, Algorithm, Detector, Filter, Workers};
use jostle_scenes::Rng;
use jostle_testkit::replay::Replay;
use jostle_testkit::suite;

const COUNT: usize = 6000;

/// A named world: the boxes of its first frame.
type World = (&'static str, Vec<Aabb>);

/// Boxes of side 1 that fill a twentieth of a cube, each box through `place`.
fn crowd(place: impl Fn(usize, [f64; 3]) -> ([f64; 3], f64)) -> Vec<Aabb> {
    let mut rng = Rng::new(3);
    let side = (20.0 * COUNT as f64).cbrt();
    let cube = |k: usize| {
        let at: [f64; 3] = std::array::from_fn(|_| side * rng.unit_f64());
        let (at, size) = place(k, at);
        Aabb::new(at.map(|x| x as f32), at.map(|x| (x + size) as f32))
    };
    (0..COUNT).map(cube).collect()
}

/// A crowd moved by `offset` in units of its boxes, and scaled.
fn moved(offset: f64, scale: f64) -> Vec<Aabb> {
    crowd(|_, at| (at.map(|x| (x + offset) * scale), scale))
}

fn worlds() -> Vec<World> {
    let geometric = |k: usize, at: [f64; 3]| {
        let scale = 2f64.powi((k % 200) as i32 - 100);
        (at.map(|x| x * scale), scale)
    };
    let two = |k: usize, at: [f64; 3]| match k % 2 {
        0 => (at.map(|x| x * 1e-6), 1e-6),
        _ => (at.map(|x| x * 1e6), 1e6),
    };
    let opposite = |k: usize, at: [f64; 3]| {
        let centre = if k.is_multiple_of(2) { -3e38 } else { 3e38 };
        (at.map(|x| centre + x * 1e32), 1e32)
    };
    let strays = |k: usize, at: [f64; 3]| match k % 60 {
        0 => (at.map(|x| x * 1e35), 1.0),
        _ => (at, 1.0),
    };
    let copies = |k: usize, _: [f64; 3]| {
        let k = k / 12;
        ([(k % 8) as f64, (k / 8 % 8) as f64, (k / 64) as f64].map(|x| 1e3 + 3.0 * x), 0.0)
    };
    vec![
        ("at the origin", moved(0.0, 1.0)),
        ("a thousand away", moved(1e3, 1.0)),
        ("ten million away", moved(1e7, 1.0)),
        ("ten million below zero", moved(-1e7, 1.0)),
        ("far and fine", moved(4e6, 1e-9)),
        ("far and vast", moved(4e6, 1e27)),
        ("vast", moved(0.0, 1e30)),
        ("tiny", moved(0.0, 1e-30)),
        ("smallest normal numbers", moved(0.0, 1e-38)),
        ("denormal", moved(0.0, 1e-42)),
        ("denormal, about zero", moved(-24.0, 1e-43)),
        ("scales over two hundred powers of two", crowd(geometric)),
        ("a dust within a world of a trillion times its size", crowd(two)),
        ("two clusters at the edges of f32", crowd(opposite)),
        ("one in sixty goes astray", crowd(strays)),
        ("twelve copies of each point", crowd(copies)),
    ]
}

/// Some of the boxes take steps of half a side, a point comes at the middle of two of them, and
/// one goes.
fn change(detector: &mut Detector, step: usize) {
    let ids: Vec<_> = detector.boxes().ids().collect();
    let middle = |one: &Aabb, other: &Aabb| {
        Aabb::point(std::array::from_fn(|k| 0.5 * one.min[k] + 0.5 * other.min[k]))
    };
    let (first, last) = (ids[step], ids[ids.len() - 1 - step]);
    let point = middle(
        detector.boxes().get(first).expect("it is there"),
        detector.boxes().get(last).expect("it is there"),
    );
    for &id in ids.iter().skip(step).step_by(300) {
        let aabb = *detector.boxes().get(id).expect("it is there");
        let half: [f32; 3] = std::array::from_fn(|k| 0.5 * aabb.max[k] - 0.5 * aabb.min[k]);
        let by = |bounds: [f32; 3]| std::array::from_fn(|k| bounds[k] + half[k]);
        detector.set(id, Aabb::new(by(aabb.min), by(aabb.max))).expect("finite");
    }
    detector.insert(point, Filter::ALL).expect("finite");
    detector.remove(first).expect("it is there");
}

/// Tests and swaps of a first step and three that change little, and the pairs after each.
fn work(algorithm: Algorithm, threads: usize, world: &[Aabb]) -> Vec<(u64, usize)> {
    let mut detector = Detector::with_workers(algorithm, Workers::new(threads).expect("threads"));
    detector.boxes_mut().insert_all(world, Filter::ALL).expect("valid boxes");
    let mut counts = Vec::new();
    for step in 0..4 {
        if step > 0 {
            change(&mut detector, step);
        }
        detector.step().expect("few pairs");
        detector.validate();
        let stats = detector.stats();
        counts.push((stats.tests + stats.swaps, detector.pairs().len()));
    }
    counts
}

#[test]
fn work_does_not_depend_on_scale_and_place() {
    let worlds = worlds();
    let mut failures = Vec::new();
    for &algorithm in Algorithm::ALL {
        if algorithm == Algorithm::BruteForce {
            continue;
        }
        let usual = work(algorithm, 1, &worlds[0].1);
        for (index, (name, world)) in worlds.iter().enumerate() {
            let counts = work(algorithm, suite::THREADS[index % 4], world);
            for (step, &(tests, pairs)) in counts.iter().enumerate() {
                // Rounding makes boxes touch that did not; those pairs have to be tested.
                let most = 5 * usual[step].0 + 60 * (COUNT + pairs) as u64;
                // A loose octree tests the boxes of every depth above a box, up to two hundred.
                let most = if algorithm == Algorithm::Octree { 2 * most } else { most };
                if tests > most {
                    failures.push(format!(
                        "{algorithm}, {name}, step {step}: {tests} tests for {pairs} pairs, \
                         {} at the origin",
                        usual[step].0
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A crowd in one place, and a point that needs far finer cells than any box before it: cells that
/// a box reaches must not be walked one by one if there are more of them than boxes.
#[test]
fn a_point_next_to_larger_boxes_opens_no_endless_row_of_cells() {
    let cube = |at: f32| Aabb::new([at; 3], [at + 1.0; 3]);
    for &algorithm in Algorithm::ALL {
        for threads in suite::THREADS {
            let build = |workers: &Workers| algorithm.build(workers);
            let mut replay = Replay::new(&build, threads);
            let ids: Vec<_> = (0..60)
                .map(|k| cube(if k < 40 { 100.0 } else { 3.0 * (k - 40) as f32 - 0.5 }))
                .map(|aabb| replay.insert(aabb, Filter::ALL).unwrap())
                .collect();
            replay.step().unwrap();
            replay.insert(Aabb::point([50.0; 3]), Filter::ALL).unwrap();
            replay.set(ids[40], cube(0.0)).unwrap();
            replay.step().unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
            replay.set(ids[50], cube(49.5)).unwrap();
            replay.step().unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
        }
    }
}
