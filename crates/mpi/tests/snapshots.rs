//! Snapshots written by one number of ranks and restored by another.

use std::io::Cursor;

use jostle::{Aabb, Algorithm, Detector, Filter};
use jostle_mpi::{
    Communicator, DistributedDetector, EventList, GlobalId, GlobalPair, Options, Ownership,
    run_virtual,
};
use jostle_scenes::Scene;

const BOXES: usize = 400;

fn frames(count: usize) -> Vec<Vec<Aabb>> {
    let mut scene = Scene::new("uniform", BOXES, 11, &[("density", 0.5)]).unwrap();
    let mut next = || {
        let boxes = scene.boxes().to_vec();
        scene.advance();
        boxes
    };
    (0..count).map(|_| next()).collect()
}

/// Events of all frames from one process.
fn one_process(frames: &[Vec<Aabb>]) -> Vec<EventList> {
    let mut detector = Detector::new(Algorithm::BruteForce);
    detector.boxes_mut().insert_all(&frames[0], Filter::ALL).unwrap();
    let step = |boxes: &Vec<Aabb>| {
        detector.boxes_mut().set_all(boxes).unwrap();
        let events = detector.step().unwrap();
        let [began, ended] = [events.began, events.ended].map(|pairs| {
            let pair = |pair: &jostle::Pair| {
                GlobalPair::from((pair.a().index() as u64, pair.b().index() as u64))
            };
            pairs.iter().map(pair).collect()
        });
        EventList { began, ended }
    };
    frames.iter().map(step).collect()
}

fn options(ownership: Ownership) -> Options {
    Options { ownership, ..Options::default() }
}

/// The first frames on one number of ranks; a snapshot of each.
fn first_part(ranks: usize, ownership: Ownership, frames: &[Vec<Aabb>]) -> Vec<Vec<u8>> {
    run_virtual(ranks, |comm| {
        let mut detector = DistributedDetector::new(comm, options(ownership));
        let mine: Vec<usize> = (0..BOXES).filter(|k| k % ranks == comm.rank()).collect();
        let ids: Vec<GlobalId> = mine.iter().map(|&k| GlobalId(k as u64)).collect();
        let boxes: Vec<Aabb> = mine.iter().map(|&k| frames[0][k]).collect();
        detector.insert(&ids, &boxes, &[Filter::ALL]);
        for frame in frames {
            let bounds: Vec<Aabb> = detector.ids().iter().map(|id| frame[id.0 as usize]).collect();
            detector.set_all(&bounds);
            detector.step().unwrap();
        }
        // Changes that no step has seen are not in the snapshot.
        let ids = detector.ids().to_vec();
        detector.remove(&ids);
        let mut bytes = Vec::new();
        detector.write_snapshot(&mut bytes).unwrap();
        bytes
    })
}

/// The other frames on another number of ranks, from the snapshots.
fn second_part(
    ranks: usize,
    ownership: Ownership,
    snapshots: &[Vec<u8>],
    frames: &[Vec<Aabb>],
) -> Vec<EventList> {
    let events = run_virtual(ranks, |comm| {
        let mine = snapshots.iter().skip(comm.rank()).step_by(ranks).map(Cursor::new);
        let mut detector = DistributedDetector::restore(comm, options(ownership), mine).unwrap();
        let step = |frame: &Vec<Aabb>| {
            let bounds: Vec<Aabb> = detector.ids().iter().map(|id| frame[id.0 as usize]).collect();
            detector.set_all(&bounds);
            detector.step().unwrap();
            detector.gathered_events()
        };
        frames.iter().map(step).collect::<Vec<_>>()
    });
    events.into_iter().next().unwrap()
}

#[test]
fn events_balance_across_a_restart_on_another_number_of_ranks() {
    let frames = frames(8);
    let expected = one_process(&frames);
    let count: usize = expected[4..].iter().map(|e| e.began.len() + e.ended.len()).sum();
    assert!(count > 20, "{count} events after the restart");
    for (from, to) in [(1, 4), (5, 3), (4, 1), (2, 7), (3, 3)] {
        for ownership in [Ownership::Migrating, Ownership::Fixed] {
            let snapshots = first_part(from, ownership, &frames[..4]);
            let events = second_part(to, ownership, &snapshots, &frames[4..]);
            assert_eq!(events, expected[4..], "{from} to {to}, {ownership:?}");
        }
    }
}

#[test]
fn damaged_missing_and_mixed_snapshots_are_refused_by_all_ranks() {
    let frames = frames(3);
    let good = first_part(3, Ownership::Fixed, &frames[..2]);
    let other = first_part(3, Ownership::Fixed, &frames[..3]);
    let mut damaged = good.clone();
    damaged[1][60] ^= 1;
    let cut = vec![good[0].clone(), good[1].clone(), good[2][..70].to_vec()];
    let cases = [
        (damaged, "checksum"),
        (cut, "checksum"),
        (vec![good[0].clone(), good[1].clone()], "2 of 3"),
        (vec![good[0].clone(), good[2].clone()], "not those before"),
        (vec![good[0].clone(), good[1].clone(), good[1].clone(), good[2].clone()], "twice"),
        (vec![good[0].clone(), good[1].clone(), other[2].clone()], "step"),
        (vec![], "no rank"),
        (vec![vec![1, 2, 3]], "cut off"),
        (vec![vec![0; 100]], "not a snapshot"),
    ];
    for (snapshots, word) in cases {
        let said = run_virtual(2, |comm| {
            let mine = snapshots.iter().skip(comm.rank()).step_by(2).map(Cursor::new);
            let restored = DistributedDetector::restore(comm, Options::default(), mine);
            restored.map(|_| ()).unwrap_err().to_string()
        });
        assert!(said[0].contains(word) && said[0] == said[1], "{word}: {said:?}");
    }
}
