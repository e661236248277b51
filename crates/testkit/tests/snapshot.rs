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
    let mut restored = Detector::restore(Algorithm::Auto, Workers::one(), boxes, &pairs).unwrap();
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

fn cube(at: f32, size: f32) -> Aabb {
    Aabb::new([at; 3], [at + size; 3])
}

#[test]
fn infinite_bounds_survive_a_text_format() {
    for aabb in [Aabb::EVERYTHING, cube(-0.1, 3.7e-39), Aabb::new([0.1; 3], [f32::MAX; 3])] {
        let text = serde_json::to_string(&aabb).unwrap();
        let back: Aabb = serde_json::from_str(&text).unwrap();
        assert_eq!(back, aabb, "{text}");
    }
    let plain = serde_json::to_string(&cube(1.0, 1.0)).unwrap();
    assert_eq!(plain, r#"{"min":[1.0,1.0,1.0],"max":[2.0,2.0,2.0]}"#);
    let bad = r#"{"min":["far",0,0],"max":[1,1,1]}"#;
    let error = serde_json::from_str::<Aabb>(bad).unwrap_err().to_string();
    assert!(error.contains("give a number, inf or -inf"), "{error}");
}

#[test]
fn foreign_pairs_are_checked() {
    assert_eq!(serde_json::from_str::<Pair>("[3, 7]").unwrap(), Pair::new(3, 7));
    assert_eq!(serde_json::to_string(&Pair::new(7, 3)).unwrap(), "[3,7]");
    for bad in ["[1, 1]", "[7, 3]", "[1]", "[1, 2, 3]", "[-1, 4]", "[0, 4294967296]"] {
        assert!(serde_json::from_str::<Pair>(bad).is_err(), "{bad}");
    }
}
