//! What a set of boxes refuses, lists as changed and remembers.

use super::*;

fn unit(at: f32) -> Aabb {
    Aabb::new([at; 3], [at + 1.0; 3])
}

fn slots(ids: &[BoxId]) -> Vec<Slot> {
    ids.iter().map(|id| id.slot()).collect()
}

fn three() -> (Boxes, Vec<BoxId>) {
    let mut boxes = Boxes::new();
    let ids = boxes.insert_all(&[unit(0.0), unit(2.0), unit(4.0)], Filter::ALL).unwrap();
    boxes.commit();
    (boxes, ids)
}

#[test]
fn a_set_to_the_same_value_is_no_change() {
    let (mut boxes, ids) = three();
    boxes.set(ids[0], unit(0.0)).unwrap();
    boxes.set(ids[0], Aabb::new([-0.0; 3], [1.0; 3])).unwrap();
    boxes.set_all(&[unit(0.0), unit(2.0), unit(4.0)]).unwrap();
    boxes.set_filter(ids[1], Filter::ALL).unwrap();
    assert!(boxes.changes().is_empty());
    boxes.set_all(&[unit(0.0), unit(3.0), unit(4.0)]).unwrap();
    boxes.set(ids[1], unit(5.0)).unwrap();
    assert_eq!(boxes.changes().moved(), slots(&[ids[1]]));
}

#[test]
fn a_box_is_in_one_list_of_changes_at_most() {
    let (mut boxes, ids) = three();
    let fresh = boxes.insert(unit(9.0), Filter::ALL).unwrap();
    boxes.set(fresh, unit(8.0)).unwrap();
    boxes.set(ids[0], unit(1.0)).unwrap();
    boxes.set(ids[1], unit(1.0)).unwrap();
    boxes.set(ids[2], unit(1.0)).unwrap();
    boxes.remove(ids[0]).unwrap();
    assert_eq!(boxes.changes().inserted(), slots(&[fresh]));
    assert_eq!(boxes.changes().moved(), slots(&[ids[2], ids[1]]));
    assert_eq!(boxes.changes().removed(), slots(&[ids[0]]));
    boxes.remove(fresh).unwrap();
    assert!(boxes.changes().inserted().is_empty(), "a box that came and went was never there");
    assert_eq!(boxes.changes().len(), 3);
}

#[test]
fn a_slot_is_reused_only_after_the_step_that_removed_it() {
    let (mut boxes, ids) = three();
    boxes.remove(ids[1]).unwrap();
    assert_eq!(boxes.remove(ids[1]), Err(BoxError::Stale(ids[1])));
    assert_ne!(boxes.insert(unit(7.0), Filter::ALL).unwrap().slot(), ids[1].slot());
    boxes.commit();
    assert_eq!(boxes.insert(unit(7.0), Filter::ALL).unwrap().slot(), ids[1].slot());
    assert_eq!(boxes.len(), 4);
}

#[test]
fn a_stale_id_never_names_the_next_box_in_its_slot() {
    let (mut boxes, ids) = three();
    let old = ids[1];
    boxes.remove(old).unwrap();
    boxes.commit();
    let new = boxes.insert(unit(7.0), Filter::ALL).unwrap();
    assert_eq!((new.slot(), new.generation()), (old.slot(), 1));
    let stale = Err(BoxError::Stale(old));
    assert_eq!(boxes.set(old, unit(1.0)), stale);
    assert_eq!(boxes.set_many(&[new, old], &[unit(1.0), unit(1.0)]), stale);
    assert_eq!(boxes.set_filter(old, Filter::STILL), stale);
    assert_eq!(boxes.set_user_data(old, 1), stale);
    assert_eq!(boxes.exclude(old, ids[0]), stale);
    assert_eq!(boxes.include(ids[0], old), stale);
    assert_eq!(boxes.remove(old), stale);
    assert_eq!(boxes.remove_all(&[ids[0], old]), stale);
    assert!(!boxes.contains(old) && boxes.get(old).is_none() && boxes.filter(old).is_none());
    assert_eq!(boxes.get(new), Some(&unit(7.0)));
    assert_eq!(boxes.id_at(new.slot()), Some(new));
    assert_eq!(boxes.ids().collect::<Vec<_>>(), [ids[0], new, ids[2]]);
    let foreign = BoxId::new(old.slot(), 9);
    assert_eq!(boxes.set(foreign, unit(1.0)), Err(BoxError::Unknown(foreign)));
    let text = BoxError::Stale(old).to_string();
    assert!(text.starts_with("box 1 was removed"), "{text}");
}

#[test]
fn user_data_outlives_its_box_until_the_slot_is_used_again() {
    let (mut boxes, ids) = three();
    assert_eq!(boxes.user_data(ids[2]), 0);
    boxes.set_user_data(ids[2], u64::MAX).unwrap();
    boxes.set_user_data(ids[0], 5).unwrap();
    boxes.remove(ids[2]).unwrap();
    assert_eq!(boxes.user_data(ids[2].slot()), u64::MAX, "its ended events come next");
    boxes.commit();
    assert_eq!(boxes.user_data(ids[2]), u64::MAX, "and can be looked at after the step");
    let new = boxes.insert(unit(1.0), Filter::ALL).unwrap();
    assert_eq!((new.slot(), boxes.user_data(new)), (ids[2].slot(), 0));
    assert_eq!(boxes.user_data(ids[0]), 5);
    assert_eq!(boxes.user_data(77), 0);
    assert!(boxes.changes().moved().is_empty(), "user data is no change");
}

#[test]
fn exclusions_are_pairs_of_boxes_that_are_there() {
    let (mut boxes, ids) = three();
    assert_eq!(boxes.exclude(ids[0], ids[0]), Err(BoxError::Twice(ids[0])));
    boxes.exclude(ids[2], ids[0]).unwrap();
    boxes.exclude(ids[0], ids[2]).unwrap();
    boxes.exclude(ids[1], ids[2]).unwrap();
    let pairs = [Pair::new(ids[0], ids[2]), Pair::new(ids[1], ids[2])];
    assert_eq!(boxes.excluded().collect::<Vec<_>>(), pairs);
    boxes.include(ids[2], ids[1]).unwrap();
    assert_eq!(boxes.excluded().collect::<Vec<_>>(), pairs[..1]);
    boxes.remove(ids[0]).unwrap();
    assert_eq!(boxes.excluded().count(), 0, "removal forgets them");
    assert!(!boxes.exclusions().is_idle(), "the step has not seen that yet");
    boxes.commit();
    assert!(boxes.exclusions().is_idle());
}

#[test]
fn boxes_far_from_the_origin_are_counted_as_coarse() {
    let mut boxes = Boxes::new();
    let cube = |at: f64| Aabb::from_f64([at, 0.0, 0.0], [at + 0.02, 0.02, 0.02]);
    let rows: Vec<Aabb> = (0..10).map(|k| cube(1e6 + f64::from(k))).collect();
    let ids = boxes.insert_all(&rows, Filter::ALL).unwrap();
    boxes.insert_all(&[cube(5.0), Aabb::EVERYTHING], Filter::ALL).unwrap();
    assert_eq!(boxes.coarse_count(), 10);
    boxes.remove(ids[0]).unwrap();
    assert_eq!(boxes.coarse_count(), 9);
}

#[test]
fn refused_batches_change_nothing() {
    let (mut boxes, ids) = three();
    let bad = Aabb::new([0.0, 5.0, 0.0], [1.0; 3]);
    let before = format!("{boxes:?}");
    let error = boxes.set_all(&[unit(7.0), unit(8.0), bad]).unwrap_err();
    assert!(error.to_string().starts_with("box 2: min y = 5 is above max y = 1"), "{error}");
    assert!(boxes.insert_all(&[unit(1.0), bad], Filter::ALL).is_err());
    assert!(boxes.set_many(&[ids[0], ids[1]], &[unit(9.0), bad]).is_err());
    assert!(
        boxes.set_many(&[ids[0], BoxId::new(Slot::new(77), 0)], &[unit(9.0), unit(8.0)]).is_err()
    );
    assert!(boxes.remove_all(&[ids[0], ids[1], ids[0]]).is_err());
    assert!(boxes.set_all(&[unit(1.0)]).is_err());
    assert!(boxes.insert_each(&[unit(1.0)], &[]).is_err());
    assert!(boxes.set(ids[0], Aabb::point([f32::NAN; 3])).is_err());
    assert_eq!(format!("{boxes:?}"), before);
}

#[test]
fn set_all_skips_gaps_and_keeps_what_is_listed_already() {
    let (mut boxes, ids) = three();
    boxes.set(ids[2], unit(5.0)).unwrap();
    boxes.set_all(&[unit(1.0), unit(2.0), unit(6.0)]).unwrap();
    assert_eq!(boxes.changes().moved(), slots(&[ids[2], ids[0]]));
    boxes.commit();
    boxes.remove(ids[0]).unwrap();
    boxes.commit();
    boxes.set_all(&[unit(2.5), unit(6.5)]).unwrap();
    assert_eq!(boxes.get(ids[1]), Some(&unit(2.5)));
    assert_eq!(boxes.changes().moved(), slots(&[ids[1], ids[2]]));
}

#[test]
fn a_follower_knows_when_it_missed_something() {
    let (mut boxes, ids) = three();
    let mut follower = Follower::default();
    assert!(!follower.begin(&boxes), "the first time everything is new");
    follower.done(&boxes);
    assert!(!follower.begin(&boxes), "the same step twice");
    follower.done(&boxes);
    boxes.set(ids[0], unit(3.0)).unwrap();
    boxes.commit();
    assert!(follower.begin(&boxes));
    boxes.commit();
    assert!(!follower.begin(&boxes), "the last update did not succeed");
    follower.done(&boxes);
    let mut copy = boxes.clone();
    assert!(!follower.begin(&copy), "what it saw is later than the copy's last step");
    follower.done(&boxes);
    copy.commit();
    assert!(!follower.begin(&copy), "the copy went its own way");
    follower.done(&boxes);
    boxes.commit();
    let copy = boxes.clone();
    let mut twin = follower;
    assert!(follower.begin(&boxes) && twin.begin(&copy), "both continue from the same step");
}

#[test]
fn filters_are_counted() {
    let (mut boxes, ids) = three();
    assert!(!boxes.has_filters());
    boxes.set_filter(ids[0], Filter::STILL).unwrap();
    assert_eq!((boxes.has_filters(), boxes.still_count()), (true, 1));
    boxes.remove(ids[0]).unwrap();
    assert_eq!((boxes.has_filters(), boxes.still_count()), (false, 0));
}
