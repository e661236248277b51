use super::*;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::contract::BroadPhase;
use crate::broad::persistent::history::follow_history;
use crate::filter::Filter;
use crate::pair::PairBuffer;

#[test]
fn histories_agree_with_testing_all_pairs() {
    for sort in [Sort::Auto, Sort::Local, Sort::Global] {
        for (chunk, may_rebuild) in [(Some(4), false), (Some(7), true), (None, false)] {
            let options = SegmentedSapOptions { sort, chunk, may_rebuild };
            let mut events = 0;
            for seed in 0..40 {
                let mut algorithm = SegmentedSap::with_options(&Workers::one(), options);
                let start = [0, 3, 40, 120][seed as usize % 4];
                let (deltas, seen) = follow_history(&mut algorithm, seed, 40, start, seed % 2 == 0);
                assert!(may_rebuild || deltas == 39, "every step but the first is a change");
                events += seen;
            }
            assert!(events > 20_000, "too little happened: {events}");
        }
    }
}

/// Boxes that were small and become long are open at many chunks; chunks grow before the sets do.
#[test]
fn checkpoint_sets_stay_small_when_boxes_become_long() {
    const BOXES: usize = 12_000;
    let options = SegmentedSapOptions { may_rebuild: false, ..SegmentedSapOptions::default() };
    let mut algorithm = SegmentedSap::with_options(&Workers::one(), options);
    let row = |long: f32| -> Vec<Aabb> {
        let at = |k: usize| [k as f32, (k % 90) as f32 * 2.0, (k / 90) as f32 * 2.0];
        let long = |at: [f32; 3]| Aabb::new(at, [at[0] + long, at[1] + 0.5, at[2] + 0.5]);
        (0..BOXES).map(at).map(long).collect()
    };
    let (mut boxes, mut found) = (Boxes::new(), PairBuffer::new());
    let ids = boxes.insert_all(&row(0.5), Filter::ALL).unwrap();
    let mut sets = Vec::new();
    for step in 0..4 {
        if step == 1 {
            boxes.set_all(&row(8000.0)).unwrap();
        } else if step > 1 {
            boxes.set(ids[7], row(8000.0)[7 + step]).unwrap();
        }
        found.clear();
        algorithm.update(&boxes, &mut found).unwrap();
        algorithm.validate(&boxes);
        boxes.commit();
        sets.push(algorithm.stats().count("checkpoints").unwrap());
    }
    assert!(sets[1] > 20.0 * BOXES as f64, "the boxes must be long: {sets:?}");
    assert!(sets[3] < sets[1] / 4.0, "the sets must have shrunk: {sets:?}");
}
