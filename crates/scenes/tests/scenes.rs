//! What every scene promises, checked for every scene.

use jostle::Aabb;
use jostle_scenes::{Scene, SceneSpec};

/// Every scene with its defaults, and the variants whose code differs.
fn variants(n: usize) -> Vec<SceneSpec> {
    let mut specs: Vec<_> =
        Scene::list().iter().map(|info| SceneSpec::new(info.name, n, 7)).collect();
    specs.push(SceneSpec::new("uniform", n, 7).param("density", 0.35));
    specs.push(SceneSpec::new("campbell", n, 7).param("rotate", 1.0).param("static_share", 0.5));
    specs.push(SceneSpec::new("plane", n, 7).param("fill", 1.5).param("axis", 2.0));
    specs.push(SceneSpec::new("churn", n, 7).param("removes", 0.02).param("moving", 1.0));
    specs.push(SceneSpec::new("churn", n, 7).param("inserts", 0.0).param("removes", 0.1));
    for kind in 1..8 {
        specs.push(SceneSpec::new("worst", n, 7).param("kind", f64::from(kind)));
    }
    specs
}

fn build(spec: &SceneSpec) -> Scene {
    spec.build().unwrap_or_else(|error| panic!("{spec:?}: {error}"))
}

fn bits(boxes: &[Aabb]) -> Vec<u32> {
    boxes.iter().flat_map(|aabb| aabb.min.into_iter().chain(aabb.max)).map(f32::to_bits).collect()
}

fn count_pairs(boxes: &[Aabb]) -> usize {
    let after = |i: usize| boxes[i + 1..].iter().filter(move |other| boxes[i].overlaps(other));
    (0..boxes.len()).map(|i| after(i).count()).sum()
}

#[test]
fn two_runs_give_the_same_bytes_and_another_seed_gives_others() {
    for spec in variants(300) {
        let (mut one, mut two) = (build(&spec), build(&spec));
        for _ in 0..20 {
            assert!(bits(one.boxes()) == bits(two.boxes()), "{spec:?} frame {}", one.frame());
            assert_eq!(one.changes(), two.changes(), "{spec:?}");
            one.advance();
            two.advance();
        }
        let other = build(&SceneSpec { seed: 8, ..spec.clone() });
        assert!(bits(other.boxes()) != bits(build(&spec).boxes()), "{spec:?}");
    }
}

#[test]
fn boxes_are_valid_and_stay_in_the_world() {
    for spec in variants(400) {
        let mut scene = build(&spec);
        for _ in 0..300 {
            assert_eq!(scene.boxes().len(), 400);
            for (slot, aabb) in scene.boxes().iter().enumerate() {
                assert_eq!(aabb.check(), Ok(()), "{spec:?} frame {} slot {slot}", scene.frame());
                let alive = scene.alive().is_none_or(|alive| alive[slot]);
                let inside = scene.world().contains(aabb);
                assert_eq!(inside, alive, "{spec:?} frame {} slot {slot} {aabb:?}", scene.frame());
            }
            scene.advance();
        }
    }
}

#[test]
fn small_numbers_of_boxes_are_legal() {
    for n in [0, 1, 2, 3, 17] {
        for spec in variants(n) {
            let mut scene = build(&spec);
            for _ in 0..5 {
                scene.advance();
                assert_eq!(scene.boxes().len(), n, "{spec:?}");
                assert!(scene.boxes().iter().all(|aabb| aabb.check().is_ok()), "{spec:?}");
            }
            assert!(scene.still().is_none_or(|still| still.len() == n));
        }
    }
}

#[test]
fn the_ends_of_every_range_keep_boxes_valid() {
    for info in Scene::list() {
        for param in info.params {
            for value in [param.min, param.max] {
                for n in [1, 200] {
                    let mut scene = Scene::new(info.name, n, 7, &[(param.name, value)]).unwrap();
                    assert_eq!(scene.param(param.name), Some(value));
                    for _ in 0..20 {
                        scene.advance();
                    }
                    for (slot, aabb) in scene.boxes().iter().enumerate() {
                        let alive = scene.alive().is_none_or(|alive| alive[slot]);
                        let place = format!("{} {} = {value}: {aabb:?}", info.name, param.name);
                        assert!(aabb.check().is_ok(), "{place}");
                        assert_eq!(scene.world().contains(aabb), alive, "{place}");
                    }
                }
            }
        }
    }
}

#[test]
fn still_boxes_never_change_and_the_others_do() {
    for spec in variants(500) {
        let mut scene = build(&spec);
        let Some(still) = scene.still().map(<[bool]>::to_vec) else { continue };
        let mut known = scene.boxes().to_vec();
        let mut moved = vec![false; 500];
        for _ in 0..30 {
            scene.advance();
            assert_eq!(scene.still(), Some(&still[..]), "{spec:?}");
            let changes = scene.changes();
            for &slot in changes.removed.iter().chain(changes.inserted) {
                known[slot as usize] = scene.boxes()[slot as usize];
            }
            for slot in 0..500 {
                moved[slot] |= known[slot] != scene.boxes()[slot];
            }
        }
        for slot in 0..500 {
            assert!(!(still[slot] && moved[slot]), "{spec:?} slot {slot} is still but moved");
        }
        let movers = still.iter().filter(|&&still| !still).count();
        assert!(movers == 0 || moved.iter().any(|&moved| moved), "{spec:?}: nothing moved");
    }
}

#[test]
fn shares_of_moving_boxes_are_exact() {
    for (name, params, want) in [
        ("tenth", vec![], 100),
        ("tenth", vec![("moving", 0.25)], 250),
        ("still", vec![], 0),
        ("campbell", vec![], 100),
        ("churn", vec![], 100),
    ] {
        let scene = Scene::new(name, 1000, 7, &params).unwrap();
        let movers = scene.still().unwrap().iter().filter(|&&still| !still).count();
        assert_eq!(movers, want, "{name}");
    }
    assert!(Scene::new("uniform", 10, 7, &[]).unwrap().still().is_none());
    let city = Scene::new("city", 20_000, 7, &[]).unwrap();
    let vehicles = city.still().unwrap().iter().filter(|&&still| !still).count();
    assert!((900..1100).contains(&vehicles), "{vehicles}");
}

fn volume(aabb: &Aabb) -> f64 {
    (0..3).map(|axis| f64::from(aabb.extent(axis))).product()
}

#[test]
fn density_is_volume_over_volume() {
    for name in ["uniform", "tenth", "still", "sizes", "churn"] {
        for density in [0.05, 0.35] {
            let scene = Scene::new(name, 3000, 7, &[("density", density)]).unwrap();
            let boxes: f64 = scene.boxes().iter().map(volume).sum();
            let got = boxes / volume(&scene.world());
            assert!((got / density - 1.0).abs() < 1e-4, "{name}: {got}, not {density}");
        }
    }
    // The thesis' largest test: the same world for fewer cubes, the same density for more.
    let side = |n| Scene::new("campbell", n, 7, &[]).unwrap().world().max[0];
    assert_eq!(side(64), side(1024));
    assert!((side(8 * 1024) / side(1024) - 2.0).abs() < 1e-6);
}

#[test]
fn speed_is_a_share_of_the_width() {
    for (name, params) in [("uniform", [("speed", 0.1)]), ("sizes", [("speed", 0.3)])] {
        let mut scene = Scene::new(name, 1000, 7, &params).unwrap();
        let before = scene.boxes().to_vec();
        scene.advance();
        let (mut met, world) = (0, scene.world());
        for (old, new) in before.iter().zip(scene.boxes()) {
            let way: f32 = (0..3).map(|k| (new.min[k] - old.min[k]).powi(2)).sum::<f32>().sqrt();
            let width = if name == "sizes" { old.extent(0) } else { 1.0 };
            let want = params[0].1 as f32 * width;
            // Coordinates near the world's edge carry its rounding.
            let tolerance = 1e-3 * want + 1e-6 * world.max[0];
            assert!(way <= want + tolerance, "{name}: {way}, not {want}");
            met += usize::from((way - want).abs() <= tolerance);
        }
        // Those that bounced went a shorter way.
        assert!(met > 800, "{name}: {met}");
    }
}

#[test]
fn sizes_spread_evenly_over_three_decades() {
    let scene = Scene::new("sizes", 30_000, 7, &[]).unwrap();
    let mut decades = [0; 3];
    for aabb in scene.boxes() {
        let width = aabb.extent(0);
        decades[if width < 10.0 { 0 } else { 1 + usize::from(width >= 100.0) }] += 1;
    }
    assert!(decades.iter().all(|count| (9_700..10_300).contains(count)), "{decades:?}");
}

#[test]
fn churn_replaces_as_many_as_stated() {
    let mut scene = Scene::new("churn", 1500, 7, &[]).unwrap();
    let mut total = 0;
    for _ in 0..100 {
        let before = scene.boxes().to_vec();
        scene.advance();
        let changes = scene.changes();
        let (mut removed, mut inserted) = (changes.removed.to_vec(), changes.inserted.to_vec());
        removed.sort_unstable();
        inserted.sort_unstable();
        assert_eq!(removed, inserted, "equal rates replace in place");
        assert!(removed.windows(2).all(|pair| pair[0] < pair[1]), "each slot once");
        for &slot in &removed {
            assert_ne!(before[slot as usize], scene.boxes()[slot as usize]);
        }
        assert!(scene.alive().unwrap().iter().all(|&alive| alive));
        total += removed.len();
    }
    // 0.5 % of 1500 is seven and a half per frame.
    assert_eq!(total, 750);
}

#[test]
fn churn_lists_account_for_who_is_alive() {
    let params = [("inserts", 0.01), ("removes", 0.03), ("moving", 1.0)];
    let mut scene = Scene::new("churn", 300, 7, &params).unwrap();
    let mut alive = [true; 300];
    for _ in 0..200 {
        scene.advance();
        for &slot in scene.changes().removed {
            assert!(std::mem::replace(&mut alive[slot as usize], false), "removed twice");
        }
        for &slot in scene.changes().inserted {
            assert!(!std::mem::replace(&mut alive[slot as usize], true), "inserted twice");
        }
        assert_eq!(scene.alive(), Some(&alive[..]));
        let living: Vec<Aabb> =
            (0..300).filter(|&slot| alive[slot]).map(|slot| scene.boxes()[slot]).collect();
        assert_eq!(count_pairs(&living), count_pairs(scene.boxes()), "parked points touch nothing");
    }
    assert!(alive.iter().filter(|&&alive| alive).count() < 20);
}

/// Mean distance from the world's centre.
fn mean_radius(boxes: &[Aabb]) -> f64 {
    let radius = |aabb: &Aabb| {
        let centre = |k: usize| 0.5 * (f64::from(aabb.min[k]) + f64::from(aabb.max[k]));
        (0..3).map(|k| centre(k) * centre(k)).sum::<f64>().sqrt()
    };
    boxes.iter().map(radius).sum::<f64>() / boxes.len() as f64
}

#[test]
fn ball_gathers_bounces_and_scatters_without_blowing_up() {
    let mut scene = Scene::new("ball", 4000, 7, &[]).unwrap();
    let start = mean_radius(scene.boxes());
    let mut radii = Vec::new();
    let mut most_pairs = 0;
    let mut before = scene.boxes().to_vec();
    let mut way = Vec::new();
    for frame in 0..500 {
        radii.push(mean_radius(scene.boxes()));
        if frame % 10 == 0 {
            most_pairs = most_pairs.max(count_pairs(scene.boxes()));
        }
        scene.advance();
        let step =
            |(a, b): (&Aabb, &Aabb)| (0..3).map(|k| (a.min[k] - b.min[k]).abs()).sum::<f32>();
        way.push(before.iter().zip(scene.boxes()).map(step).sum::<f32>() / 4000.0);
        before.copy_from_slice(scene.boxes());
    }
    let (tightest, radius) =
        radii.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map(|(f, r)| (f, *r)).unwrap();
    assert!((40..160).contains(&tightest), "tightest at {tightest}: {radius} of {start}");
    // Unhindered they would all be in one point; the response keeps them out of each other.
    assert!(radius < 0.7 * start && radius > 0.2 * start, "{radius} of {start}");
    assert!(radii[499] > 1.2 * start, "{} of {start}", radii[499]);
    assert!(most_pairs < 20 * 4000, "{most_pairs}");
    let fastest = way.iter().fold(0.0f32, |a, &b| a.max(b));
    assert!(fastest < 6.0 * way[0], "{fastest} against {}", way[0]);
}

#[test]
fn plane_is_free_of_collisions_and_meets_in_the_middle() {
    for axis in 0..3 {
        let params = [("axis", f64::from(axis)), ("frames", 20.0)];
        let mut scene = Scene::new("plane", 900, 7, &params).unwrap();
        for frame in 0..50u64 {
            assert_eq!(count_pairs(scene.boxes()), 0, "frame {frame}");
            let centre = |aabb: &Aabb| aabb.min[axis as usize] + aabb.max[axis as usize];
            let met = scene.boxes().iter().all(|aabb| centre(aabb) == 0.0);
            assert_eq!(met, frame % 20 == 10, "frame {frame}");
            scene.advance();
        }
    }
}

#[test]
fn teleports_swap_sides_on_every_frame() {
    let spec = SceneSpec::new("worst", 100, 7).parse_param("kind=teleports").unwrap();
    let mut scene = build(&spec);
    let first = scene.boxes().to_vec();
    scene.advance();
    assert!(first.iter().zip(scene.boxes()).all(|(a, b)| !a.overlaps(b)));
    scene.advance();
    assert_eq!(scene.boxes(), first);
}

#[test]
fn every_scene_yields_a_reasonable_number_of_pairs() {
    for spec in variants(2000) {
        let mut scene = build(&spec);
        let free = spec.name == "plane" && spec.params.is_empty();
        // The frame of the crowd in `plane` and `ball`.
        let crowd = match &spec.name[..] {
            "plane" => 250,
            "ball" => 75,
            _ => 3,
        };
        for _ in 0..crowd {
            scene.advance();
        }
        let pairs = count_pairs(scene.boxes());
        let share = pairs as f64 / 2000.0;
        eprintln!("{:9} {:?}: {share:.3} pairs per box", spec.name, spec.params);
        if free {
            assert_eq!(pairs, 0, "the paper's plane is free of collisions");
        } else {
            assert!((0.01..20.0).contains(&share), "{spec:?}: {share} pairs per box");
        }
    }
}

#[test]
fn pairs_grow_no_faster_than_boxes() {
    for spec in variants(0) {
        let share = |n: usize| {
            let mut scene = build(&SceneSpec { n, ..spec.clone() });
            scene.advance();
            count_pairs(scene.boxes()) as f64 / n as f64
        };
        let (small, large) = (share(1000), share(8000));
        assert!(large < 2.0 * small + 0.5, "{spec:?}: {small} then {large} pairs per box");
    }
}

#[test]
fn unknown_names_and_bad_values_are_explained() {
    let text = |spec: SceneSpec| spec.build().unwrap_err().to_string();
    assert!(text(SceneSpec::new("bal", 1, 0)).contains("did you mean 'ball'"));
    let typo = SceneSpec::new("churn", 1, 0).param("insert", 0.1);
    assert!(text(typo).contains("did you mean 'inserts'"));
    let high = SceneSpec::new("uniform", 1, 0).param("spread", 1.5);
    assert!(text(high).contains("from 0 to 0.99"));
    assert!(text(SceneSpec::new("uniform", usize::MAX, 0)).contains("at most"));
    let spec = SceneSpec::new("uniform", 1, 0);
    assert!(spec.clone().parse_param("density").unwrap_err().to_string().contains("name=value"));
    let word = spec.clone().parse_param("density=high").unwrap_err().to_string();
    assert!(word.contains("not a number"), "{word}");
    assert_eq!(spec.parse_param("density=0.35").unwrap().params, [("density".to_owned(), 0.35)]);
}
