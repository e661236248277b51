//! Detectors can be sent, shared, asked from many threads at once, and cloned for a rollback.

use std::collections::BTreeSet;
use std::sync::{Arc, RwLock};

use jostle::{Aabb, Algorithm, Boxes, Cast, Detector, Filter, Queries, Stepper, Workers, World};
use jostle_testkit::history;
use jostle_testkit::replay::{Op, Replay};
use proptest::prelude::*;

fn shared_between_threads<T: Send + Sync>() {}

/// A compile-time check: an `Arc<RwLock<Detector>>` or a resource of an engine needs these.
#[test]
fn the_main_types_are_send_and_sync() {
    shared_between_threads::<Detector>();
    shared_between_threads::<World>();
    shared_between_threads::<Boxes>();
    shared_between_threads::<Stepper>();
    shared_between_threads::<Queries<'_>>();
    shared_between_threads::<Workers>();
}

fn row(count: usize, offset: f32) -> Vec<Aabb> {
    let cube = |k: usize| {
        let at = k as f32 * 0.75 + offset;
        Aabb::new([at, 0.0, 0.0], [at + 1.0, 1.0, 1.0])
    };
    (0..count).map(cube).collect()
}

/// Several threads ask one shared detector, whose boxes changed since the last step, so that the
/// first of them has to update the tree while the others wait for it.
#[test]
fn many_threads_ask_one_detector() {
    const COUNT: usize = 2000;
    for &algorithm in Algorithm::ALL {
        let mut detector = Detector::new(algorithm);
        let ids = detector.boxes_mut().insert_all(&row(COUNT, 0.0), Filter::ALL).unwrap();
        for round in 0..4 {
            if round % 2 == 1 {
                detector.step().unwrap();
            }
            if round >= 2 {
                detector.boxes_mut().set_all(&row(COUNT, 0.25)).unwrap();
            }
            let (shared, ids) = (&detector, &ids);
            let offset = shared.boxes().get(ids[0]).unwrap().min[0];
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    scope.spawn(move || {
                        for k in (thread..COUNT).step_by(97) {
                            let queries = shared.queries();
                            let low = k as f32 * 0.75 + offset;
                            // A cube's middle third is its own.
                            let found = queries.containing([low + 0.5, 0.5, 0.5], &Filter::ALL);
                            assert_eq!(found, [ids[k]], "{algorithm}, round {round}");
                            let down = Cast::ray([low + 0.5, 9.0, 0.5], [0.0, -1.0, 0.0]);
                            assert_eq!(queries.first_hit(&down, &Filter::ALL).unwrap().id, ids[k]);
                        }
                    });
                }
            });
        }
    }
}

#[test]
fn a_detector_behind_a_lock_is_written_and_asked_in_turns() {
    let detector = Arc::new(RwLock::new(Detector::new(Algorithm::Auto)));
    let boxes = row(200, 0.0);
    let ids = detector.write().unwrap().boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
    // Away from its neighbours before anybody asks: a reader may come before the writer.
    detector.write().unwrap().set(ids[199], Aabb::point([500.0; 3])).unwrap();
    std::thread::scope(|scope| {
        let (writer, last) = (Arc::clone(&detector), ids[199]);
        scope.spawn(move || {
            for step in 0..50 {
                let mut detector = writer.write().unwrap();
                detector.set(last, Aabb::point([500.0 + step as f32; 3])).unwrap();
                detector.step().unwrap();
            }
        });
        for _ in 0..3 {
            let (reader, first) = (Arc::clone(&detector), ids[0]);
            scope.spawn(move || {
                for _ in 0..200 {
                    let detector = reader.read().unwrap();
                    let found = detector.queries().containing([0.1, 0.5, 0.5], &Filter::ALL);
                    assert_eq!(found, [first]);
                    let at = detector.boxes().get(last).unwrap().min;
                    assert_eq!(detector.queries().containing(at, &Filter::ALL), [last]);
                }
            });
        }
    });
}

#[test]
fn a_query_that_is_leaked_does_no_harm() {
    let mut detector = Detector::new(Algorithm::SortSweep);
    let id = detector.insert(Aabb::point([1.0; 3]), Filter::ALL).unwrap();
    std::mem::forget(detector.queries());
    for at in [2.0, 3.0] {
        detector.set(id, Aabb::point([at; 3])).unwrap();
        assert_eq!(detector.queries().containing([at; 3], &Filter::ALL), [id]);
        detector.step().unwrap();
        std::mem::forget(detector.queries());
    }
}

/// Few pairs change in a step and nobody asks for the set for a while, through exclusions,
/// refusals, copies, snapshots and other algorithms: it is what the events say, for all threads
/// that then ask at once.
#[test]
fn a_set_that_nobody_asked_for_is_right_when_all_do() {
    const COUNT: usize = 600;
    let algorithms = Algorithm::ALL;
    for threads in [1, 3] {
        let workers = Workers::new(threads).unwrap();
        let mut detector = Detector::with_workers(algorithms[0], workers.clone());
        let ids = detector.boxes_mut().insert_all(&row(COUNT, 0.0), Filter::ALL).unwrap();
        let mut model = BTreeSet::new();
        for step in 0..20 * algorithms.len() {
            let pick = |salt: usize| (step * 37 + salt * 101) % COUNT;
            let away = if step % 3 == 0 { 9.0 } else { 0.0 };
            let low = pick(1) as f32 * 0.75;
            let moved = Aabb::new([low, away, 0.0], [low + 1.0, away + 1.0, 1.0]);
            detector.set(ids[pick(1)], moved).unwrap();
            let (one, other) = (ids[pick(2) / 2], ids[pick(2) / 2 + 1]);
            match step % 10 {
                1 => detector.exclude(one, other).unwrap(),
                3 => detector.boxes_mut().include(one, other).unwrap(),
                5 => detector.set_algorithm(algorithms[step / 20]),
                6 => detector = detector.clone(),
                7 => {
                    detector.set_pair_limit(5);
                    detector.step().unwrap_err();
                    detector.set_pair_limit(COUNT * COUNT);
                }
                8 if step % 40 == 8 => {
                    let (boxes, pairs) = (detector.boxes().clone(), detector.pairs().to_vec());
                    let algorithm = detector.algorithm().unwrap();
                    let workers = workers.clone();
                    detector = Detector::restore(algorithm, workers, boxes, &pairs).unwrap();
                }
                _ => {}
            }
            let events = detector.step().unwrap();
            events.ended.iter().for_each(|pair| assert!(model.remove(pair), "{pair} ended"));
            events.began.iter().for_each(|pair| assert!(model.insert(*pair), "{pair} began"));
            assert_eq!(detector.pair_count(), model.len(), "step {step}");
            if step % 17 == 16 {
                let (shared, model) = (&detector, &model);
                std::thread::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(move || assert!(shared.pairs().iter().eq(model)));
                    }
                });
                let mut oracle = Detector::new(Algorithm::BruteForce);
                *oracle.boxes_mut() = detector.boxes().clone();
                oracle.step().unwrap();
                assert!(oracle.pairs().iter().eq(model), "step {step}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A clone taken in the middle of a history ends with the same bytes as the original, on the
    /// same further history; and the original is not disturbed by what its clone does.
    #[test]
    fn a_clone_continues_with_the_same_bytes(
        before in history::histories(60),
        after in history::histories(60),
        other in history::histories(30),
        choice in 0..Algorithm::ALL.len(),
        threads in 1usize..3,
    ) {
        let build = |workers: &Workers| Algorithm::ALL[choice].build(workers);
        let mut original = Replay::new(&build, threads);
        original.run(&before).unwrap();
        let mut clone = original.clone();
        let mut astray = original.clone();
        astray.run(&other).unwrap();
        let steps: Vec<Op> = after.into_iter().chain([Op::Step]).collect();
        for op in &steps {
            original.apply(op).unwrap();
            clone.apply(op).unwrap();
            prop_assert_eq!(original.detector().events(), clone.detector().events());
            prop_assert_eq!(original.detector().pairs(), clone.detector().pairs());
        }
    }
}
