//! Snapshots of boxes and pairs survive a text format, infinities included, and events balance
//! across a restore; damaged snapshots are refused.

use jostle::{Aabb, Algorithm, BoxError, Boxes, Detector, Filter, Pair, Workers};
use jostle_testkit::history;
use jostle_testkit::replay::{Op, Replay};
use proptest::prelude::*;

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
fn a_snapshot_keeps_ids_user_data_and_exclusions() {
    let mut detector = Detector::new(Algorithm::Auto);
    let old = detector.insert(Aabb::default(), Filter::ALL).unwrap();
    detector.remove(old).unwrap();
    let ids = detector.boxes_mut().insert_all(&[Aabb::default(); 4], Filter::ALL).unwrap();
    detector.boxes_mut().set_user_data(ids[2], u64::MAX - 5).unwrap();
    detector.exclude(ids[1], ids[3]).unwrap();
    detector.step().unwrap();
    detector.exclude(ids[0], ids[1]).unwrap();

    let text = serde_json::to_string(&(detector.boxes(), detector.pairs())).unwrap();
    let (boxes, pairs): (Boxes, Vec<Pair>) = serde_json::from_str(&text).unwrap();
    let mut restored = Detector::restore(Algorithm::Sap, Workers::one(), boxes, &pairs).unwrap();
    assert_eq!(restored.boxes().user_data(ids[2]), u64::MAX - 5);
    assert_eq!(restored.set(old, Aabb::EVERYTHING), Err(BoxError::Stale(old)));
    assert_eq!(restored.step().unwrap().ended, [Pair::new(ids[0], ids[1])]);
    restored.include(ids[1], ids[3]).unwrap();
    assert_eq!(restored.step().unwrap().began, [Pair::new(ids[1], ids[3])]);
}

/// Pairs are foreign data too, in debug and in release.
#[test]
fn pairs_that_fit_no_boxes_are_refused() {
    assert!(serde_json::from_str::<Vec<Pair>>("[[1,1],[0,7000]]").is_err());
    let mut boxes = Boxes::new();
    let ids = boxes.insert_all(&[Aabb::default(); 5], Filter::ALL).unwrap();
    boxes.commit();
    boxes.remove(ids[4]).unwrap();
    boxes.commit();
    boxes.remove(ids[3]).unwrap();
    let restore = |text: &str| {
        let pairs: Vec<Pair> = serde_json::from_str(text).unwrap();
        Detector::restore(Algorithm::Auto, Workers::one(), boxes.clone(), &pairs)
    };
    for (bad, why) in [
        ("[[0,7000]]", "pair 0-7000: there is no box in slot 7000"),
        ("[[0,4]]", "pair 0-4: there is no box in slot 4"),
        ("[[0,1],[1,2],[0,1]]", "pair 0-1: listed twice"),
    ] {
        let error = restore(bad).unwrap_err().to_string();
        assert!(error.contains(why), "{bad}: {error}");
    }
    // The box in slot 3 was removed since the last step: its pairs end with the next.
    let mut restored = restore("[[2,3],[0,1]]").unwrap();
    assert_eq!(restored.step().unwrap().ended, [Pair::from((2, 3))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A detector restored from text at any moment of a history continues with the same bytes,
    /// whatever algorithm it was and is.
    #[test]
    fn a_restored_detector_continues_with_the_same_bytes(
        before in history::histories(60),
        after in history::histories(60),
        choice in (0..Algorithm::ALL.len(), 0..Algorithm::ALL.len()),
    ) {
        let build = |workers: &Workers| Algorithm::ALL[choice.0].build(workers);
        let mut original = Replay::new(&build, 1);
        before.iter().try_for_each(|op| original.apply(op)).unwrap();
        let mut copy = original.clone();
        let detector = copy.detector();
        let text = serde_json::to_string(&(detector.boxes(), detector.pairs())).unwrap();
        let (boxes, pairs): (Boxes, Vec<Pair>) = serde_json::from_str(&text).unwrap();
        let algorithm = Algorithm::ALL[choice.1];
        *detector = Detector::restore(algorithm, Workers::one(), boxes, &pairs).unwrap();
        for op in after.iter().chain([&Op::Step]) {
            original.apply(op).unwrap();
            copy.apply(op).unwrap();
            prop_assert_eq!(original.detector().pairs(), copy.detector().pairs());
        }
        prop_assert_eq!(original.detector().events(), copy.detector().events());
    }
}

#[test]
fn a_damaged_snapshot_is_refused() {
    let mut boxes = Boxes::new();
    boxes.insert_all(&[Aabb::default(); 3], Filter::ALL).unwrap();
    let good = serde_json::to_value(&boxes).unwrap();
    let damage: [(&str, serde_json::Value); 10] = [
        ("generations", serde_json::json!([0, 0])),
        ("user_data", serde_json::json!([1, 2, 3, 4])),
        ("exclusions", serde_json::json!([[1, 1]])),
        ("exclusions", serde_json::json!([[1, 3]])),
        ("exclusions", serde_json::json!([[0, 1], [0, 1]])),
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
