//! Threads: the same bytes from every number of workers, and queries from many threads at once.

use std::sync::RwLock;
use std::thread;

use jostle::{Aabb, Algorithm, Detector, Error, Filter, Pair, Workers};

const BOXES: usize = 20_000;

/// Boxes that drift; step by step the same for everybody.
fn boxes(step: usize) -> Vec<Aabb> {
    let at = |k: usize| {
        let spread = |factor: usize| ((k * factor) % 9973) as f32 / 9973.0 * 60.0;
        let drift = 0.05 * step as f32 * if k % 2 == 0 { 1.0 } else { -1.0 };
        [spread(7919) + drift, spread(104_729), spread(1_299_709)]
    };
    (0..BOXES).map(|k| Aabb::around(at(k), [0.5; 3])).collect()
}

/// All events of twenty steps on a number of threads.
fn events(threads: usize) -> Result<Vec<(Vec<Pair>, Vec<Pair>)>, Error> {
    let mut detector = Detector::with_workers(Algorithm::Auto, Workers::new(threads)?);
    detector.boxes_mut().insert_all(&boxes(0), Filter::ALL)?;
    let mut all = Vec::new();
    for step in 0..20 {
        detector.boxes_mut().set_all(&boxes(step))?;
        let events = detector.step()?;
        all.push((events.began.to_vec(), events.ended.to_vec()));
    }
    Ok(all)
}

pub(crate) fn main() -> Result<(), Error> {
    // 1. More workers change the time of a step and nothing else.
    let one = events(1)?;
    for threads in [2, 3, 4] {
        assert_eq!(one, events(threads)?, "{threads} threads");
    }
    let count: usize = one.iter().map(|(began, ended)| began.len() + ended.len()).sum();
    println!("{count} events of twenty steps, the same on 1, 2, 3 and 4 threads");

    // 2. A detector can be shared: one thread steps it, others ask it in between.
    let mut detector = Detector::new(Algorithm::Bvh);
    detector.boxes_mut().insert_all(&boxes(0), Filter::ALL)?;
    detector.step()?;
    let shared = RwLock::new(detector);
    let points: Vec<[f32; 3]> = (0..64).map(|k| [k as f32 * 0.9, 30.0, 30.0]).collect();
    let ask = |point: &[f32; 3]| {
        let detector = shared.read().expect("nobody panics");
        detector.queries().nearest(*point, 4, &Filter::ALL)
    };
    let alone: Vec<_> = points.iter().map(ask).collect();
    let together: Vec<_> = thread::scope(|scope| {
        let halves = points
            .chunks(16)
            .map(|part| scope.spawn(move || part.iter().map(ask).collect::<Vec<_>>()));
        let halves: Vec<_> = halves.collect();
        halves.into_iter().flat_map(|half| half.join().expect("nobody panics")).collect()
    });
    println!("{} queries from four threads at once, the same as from one", together.len());
    assert_eq!(alone, together);
    Ok(())
}
