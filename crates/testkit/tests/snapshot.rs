//! Snapshots of boxes and pairs survive a text format, infinities included, and events balance
//! across a restore; damaged snapshots are refused.

use jostle::{Aabb, Algorithm, Boxes, Detector, Filter, Pair, Workers};

#[test]
fn a_snapshot_restores_boxes_pairs_and_pending_changes() {
    let mut detector = Detector::new(Algorithm::SortSweep);
    let boxes = [Aabb::EVERYTHING, Aabb::point([f32::MAX; 3]), Aabb::new([0.0; 3], [1.0; 3])];
    let ids = detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
    assert_eq!(detector.step().unwrap().began.len(), 2);
    detector.remove(ids[1]).unwrap();
    detector.insert(Aabb::point([0.5; 3]), Filter::STILL).unwrap();

    let text = serde_json::to_string(&(detector.boxes(), detector.pairs())).unwrap();
    let (boxes, pairs): (Boxes, Vec<Pair>) = serde_json::from_str(&text).unwrap();
    let mut restored = Detector::restore(Algorithm::Auto, Workers::one(), boxes, &pairs);
    assert_eq!(restored.step().unwrap(), detector.step().unwrap());
    assert_eq!(restored.pairs(), detector.pairs());
    assert_eq!(restored.events().ended, [Pair::new(ids[0], ids[1])]);
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut boxes = Boxes::new();
    boxes.insert_all(&[Aabb::default(); 3], Filter::ALL).unwrap();
    let good = serde_json::to_value(&boxes).unwrap();
    let damage: [(&str, serde_json::Value); 5] = [
        ("state", serde_json::json!([2, 2, 77])),
        ("state", serde_json::json!([2, 2])),
        ("inserted", serde_json::json!([0, 1, 1])),
        ("free", serde_json::json!([9])),
        (
            "bits",
            serde_json::json!([
                [0, 0, 0, 0, 0, 0],
                [0, 0, 0, 0, 0, 0],
                [2143289344, 0, 0, 0, 0, 0]
            ]),
        ),
    ];
    for (field, value) in damage {
        let mut bad = good.clone();
        bad[field] = value;
        assert!(serde_json::from_value::<Boxes>(bad).is_err(), "{field}");
    }
    assert!(serde_json::from_value::<Boxes>(good).is_ok());
}
