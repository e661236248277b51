use super::*;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::brute_force::BruteForce;
use crate::broad::contract::BroadPhase;
use crate::broad::persistent::history::{Random, follow_history, nudge};
use crate::events::PairTracker;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::pair::PairBuffer;

#[test]
fn histories_agree_with_testing_all_pairs() {
    for sort in [Sort::Auto, Sort::Local, Sort::Global] {
        for may_rebuild in [false, true] {
            let options = SapOptions { sort, may_rebuild };
            let mut events = 0;
            for seed in 0..40 {
                let mut sap = Sap::with_options(&Workers::one(), options);
                let start = [0, 3, 40, 120][seed as usize % 4];
                let (deltas, seen) = follow_history(&mut sap, seed, 40, start, seed % 2 == 0);
                assert!(may_rebuild || deltas == 39, "every step but the first is a change");
                events += seen;
            }
            assert!(events > 20_000, "too little happened: {events}");
        }
    }
}

/// Boxes in a wide world of which a few leap across it in every step while others creep.
#[test]
fn leaping_boxes_are_taken_out_and_put_in_again() {
    let mut random = Random(3);
    let mut boxes = Boxes::new();
    let place = |random: &mut Random| {
        let at: [f32; 3] = std::array::from_fn(|_| random.below(1000) as f32 / 100.0);
        Aabb::new(at, at.map(|low| low + 1.0))
    };
    let ids: Vec<BoxId> =
        (0..600).map(|_| boxes.insert(place(&mut random), Filter::ALL).unwrap()).collect();
    let mut sap = Sap::with_options(
        &Workers::one(),
        SapOptions { may_rebuild: false, ..SapOptions::default() },
    );
    let (mut tracker, mut oracle) = (PairTracker::new(), PairTracker::new());
    let mut brute = BruteForce::default();
    let (mut found, mut replaced) = (PairBuffer::new(), 0.0);
    for _ in 0..30 {
        found.clear();
        let report = sap.update(&boxes, &mut found).unwrap();
        sap.validate(&boxes);
        replaced += sap.stats().count("replaced").unwrap();
        tracker.apply(report, &found, boxes.slots());
        found.clear();
        let report = brute.update(&boxes, &mut found).unwrap();
        oracle.apply(report, &found, boxes.slots());
        assert_eq!((tracker.pairs(), tracker.events()), (oracle.pairs(), oracle.events()));
        boxes.commit();
        for (place_in_list, &id) in ids.iter().enumerate() {
            let new = match place_in_list % 30 {
                0 => place(&mut random),
                k if k < 10 => nudge(boxes.get(id).unwrap(), &mut random),
                _ => continue,
            };
            boxes.set(id, new).unwrap();
        }
    }
    assert!(replaced > 100.0, "boxes leapt {replaced} times");
}
