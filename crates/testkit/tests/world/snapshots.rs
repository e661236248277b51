//! Snapshots: the same bytes after restoring, and no damage that is not refused.

use super::*;

/// Through a format without infinities, and with the same bits of all other numbers.
fn written_and_read(snapshot: &WorldSnapshot) -> WorldSnapshot {
    serde_json::from_value(serde_json::to_value(snapshot).unwrap()).unwrap()
}

fn after_change() -> impl Strategy<Value = Change> {
    prop_oneof![2 => change(), 1 => Just(Change::Step)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// A world restored from a snapshot at any moment continues with the same bytes as the live
    /// one, whatever the algorithm and the number of workers.
    #[test]
    fn a_restored_world_continues_with_the_same_bytes(
        before in prop::collection::vec(change(), 1..60),
        after in prop::collection::vec(after_change(), 1..40),
        (continuous, flat, manifold, moved_origin) in any::<(bool, bool, bool, bool)>(),
    ) {
        let mut live = World::new(Algorithm::Auto);
        live.set_continuous(continuous);
        live.set_flat(flat);
        live.set_detail(if manifold { Detail::Manifold } else { Detail::Contact });
        // In a flat world it covers everything: depths are infinite.
        let slope = Shape::half_space(DVec3::new(1.0, 1.0, 1.0), -2.0).unwrap();
        live.insert(Body::new(slope, Pose::IDENTITY).with_user_data(u64::MAX)).unwrap();
        for change in &before {
            apply(&mut live, change);
            if let Change::Step = change {
                live.step().unwrap();
            }
        }
        if moved_origin {
            live.set_origin([0.1, -7.0, 1e-9]).unwrap();
        }
        let snapshot = live.snapshot();
        let told = bits(&live);
        let mut worlds = vec![live];
        for (threads, algorithm) in [(1, Algorithm::Bvh), (2, Algorithm::Sap), (3, Algorithm::Auto)]
        {
            let workers = Workers::new(threads).unwrap();
            let world = World::restore(algorithm, workers, written_and_read(&snapshot)).unwrap();
            prop_assert_eq!(&bits(&world), &told, "the last step is told again");
            worlds.push(world);
        }
        for change in after.iter().chain([&Change::Step, &Change::Step]) {
            for world in &mut worlds {
                apply(world, change);
                if let Change::Step = change {
                    world.step().unwrap();
                }
            }
            let live = &worlds[0];
            let ids: Vec<BodyId> = live.ids().collect();
            for world in &worlds[1..] {
                prop_assert_eq!(bits(world), bits(live));
                prop_assert_eq!(world.ids().collect::<Vec<_>>(), ids.clone());
                for &id in &ids {
                    prop_assert_eq!(world.pose(id), live.pose(id));
                    prop_assert_eq!(world.filter(id), live.filter(id));
                    prop_assert_eq!(world.user_data(id), live.user_data(id));
                }
            }
        }
    }
}

/// Cubes in a row, stepped, with one moved, one removed and one inserted since.
fn row() -> World {
    let mut world = World::default();
    world.set_detail(Detail::Manifold);
    let cube = |x: f64| Body::new(shape(1, DVec3::ONE), at(x, 0.0, 0.0));
    let ids = world.insert_all((0..6).map(|k| cube(1.5 * f64::from(k))).collect()).unwrap();
    world.step().unwrap();
    world.set_pose(ids[3], at(4.6, 0.5, 0.0)).unwrap();
    world.remove(ids[5]).unwrap();
    world.insert(cube(20.0)).unwrap();
    world
}

#[test]
fn damaged_world_snapshots_are_refused_by_name() {
    use serde_json::{Value, json};
    let good = serde_json::to_value(row().snapshot()).unwrap();
    let restore = |value: Value| -> Result<World, String> {
        let read: WorldSnapshot = serde_json::from_value(value).map_err(|e| e.to_string())?;
        World::restore(Algorithm::Auto, Workers::one(), read).map_err(|e| e.to_string())
    };
    assert_eq!(restore(good.clone()).unwrap().last_step().touches.len(), 5);
    let list = |name: &str| good[name].as_array().unwrap().clone();
    let (bodies, pairs) = (list("bodies"), list("pairs"));
    assert_eq!((bodies.len(), pairs.len()), (6, 5));
    let id = |slot: u32| json!({"slot": slot, "generation": 0});
    let twice = |list: &[Value]| [list, &list[list.len() - 1..]].concat();
    let cases: Vec<(&str, Value, &str)> = vec![
        ("/bodies", json!(bodies[1..]), "the body of slot 0 is missing, that of 1 is given"),
        ("/bodies", json!(bodies[..5]), "the body of slot 6 is missing"),
        ("/bodies", json!(twice(&bodies)), "there is no box for the body in slot 6"),
        ("/bodies/2/slot", json!(1), "the body of slot 2 is missing"),
        ("/bodies/2/slot", json!(4_000_000_000u32), "the body of slot 2 is missing"),
        ("/bodies/2/pose/translation/0", Value::Null, "null"),
        ("/bodies/2/pose/translation/0", json!(1e300), "translation"),
        ("/bodies/2/pose/rotation", json!([0, 0, 0, 2]), "rotation has length 2"),
        ("/bodies/2/shape", json!({"sphere": {"radius": -1}}), "radius = -1"),
        ("/pairs", json!(twice(&pairs)), "pair 4-5: listed twice"),
        ("/pairs/0/pair", json!([2, 3]), "pair 1-2: listed twice or not in ascending order"),
        ("/pairs/4/pair", json!([4, 77]), "pair 4-77: there is no box in slot 77"),
        ("/pairs/4/pair", json!([4, 6]), "pair 4-6: one of the boxes came after the last step"),
        ("/pairs/0/pair", json!([0, 2]), "pair 0-2: the boxes do not overlap"),
        ("/pairs/0/pair", json!([1, 1]), "1"),
        ("/pairs/0/touch/time", json!(1.5), "pair 0-1: it touches at 1.5"),
        ("/pairs/0/touch/points", json!(vec![[0u64; 12]; 5]), "5 contact"),
        ("/pairs/0/touch/impulses", json!([[0, 0, 0]]), "1 impulses for 4 contact points"),
        ("/woken", json!([id(99)]), "body 99 woke up"),
        ("/reach", json!(-1.0), "reach is -1"),
        ("/reuse", json!(-1.0), "reuse is -1"),
        ("/pairs/0/touch", Value::Null, "pair 0-1 began but does not touch"),
        ("/began", json!([[id(0), id(2)]]), "pair 0-2 began but does not touch"),
        ("/began", json!([[id(1), id(0)]]), "names no two bodies in order"),
        ("/began", json!([[id(0), id(1)], [id(0), id(1)]]), "listed twice"),
        ("/ended", json!([[id(0), id(1)]]), "pair 0-1 ended but touches"),
        ("/ended", json!([[id(0), id(99)]]), "names no two bodies"),
        ("/ended", json!([[id(3), id(3)]]), "names no two bodies"),
        ("/origin/0", Value::Null, "null"),
        ("/origin/0", json!(1e300), "translation"),
        ("/detail", json!("everything"), "unknown variant"),
        ("/pair_limit", json!(-1), "invalid value"),
    ];
    for (place, value, why) in cases {
        let mut bad = good.clone();
        let shown = value.to_string();
        *bad.pointer_mut(place).unwrap() = value;
        let error = restore(bad).expect_err(place);
        assert!(error.contains(why), "{place} = {shown}: {error}");
    }
    for name in good.as_object().unwrap().keys() {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(name);
        assert!(restore(bad).unwrap_err().contains(name), "{name} is missing");
    }
}

/// Every number and list of a snapshot, replaced by hostile ones: an error or a world that steps.
#[test]
fn no_damage_to_a_snapshot_makes_a_world_panic() {
    use serde_json::{Value, json};
    fn places(value: &Value, at: &str, out: &mut Vec<String>) {
        out.push(at.to_string());
        match value {
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(k, v)| places(v, &format!("{at}/{k}"), out));
            }
            Value::Object(map) => {
                map.iter().for_each(|(k, v)| places(v, &format!("{at}/{k}"), out));
            }
            _ => {}
        }
    }
    let good = serde_json::to_value(row().snapshot()).unwrap();
    let mut all = Vec::new();
    places(&good, "", &mut all);
    let hostile = [json!(0), json!(3), json!(u64::MAX), json!(-2.5), json!(true), json!([])];
    let (mut refused, mut restored) = (0, 0);
    for place in &all {
        for value in &hostile {
            let mut bad = good.clone();
            *bad.pointer_mut(place).unwrap() = value.clone();
            let read = serde_json::from_value::<WorldSnapshot>(bad).map_err(|_| ());
            let world = read.and_then(|read| {
                World::restore(Algorithm::Auto, Workers::one(), read).map_err(|_| ())
            });
            let Ok(mut world) = world else {
                refused += 1;
                continue;
            };
            restored += 1;
            for _ in 0..2 {
                let ids: Vec<BodyId> = world.ids().collect();
                world.set_pose(ids[0], at(0.3, 0.2, 0.1)).unwrap();
                // A hostile limit of pairs may refuse the step.
                let _ = world.step();
                world.last_step().touches.iter().for_each(|t| _ = world.points(t).len());
            }
        }
    }
    assert!(refused > 1000 && restored > 100, "{refused} refused, {restored} restored");
}
