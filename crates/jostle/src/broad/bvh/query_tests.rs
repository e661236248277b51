//! Queries against plain loops over all boxes.

use std::ops::ControlFlow;

use super::tests::Random;
use crate::queries::{distance_squared, gap_squared};
use crate::{Aabb, Algorithm, BoxId, Boxes, Cast, Detector, Filter, Pair, Queries, Workers};

const EXTENT: f32 = 16.0;

fn admitted<'a>(boxes: &'a Boxes, filter: &'a Filter) -> impl Iterator<Item = (BoxId, Aabb)> + 'a {
    let allowed = |id: &BoxId| boxes.filters()[id.index()].allows(filter);
    boxes.ids().filter(allowed).map(|id| (id, boxes.aabbs()[id.index()]))
}

fn sorted(mut list: Vec<(f64, BoxId)>) -> Vec<(f64, BoxId)> {
    list.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    list
}

fn random_point(random: &mut Random) -> [f32; 3] {
    let hostile = [f32::INFINITY, f32::MIN, 0.0];
    std::array::from_fn(|_| {
        let at = (random.unit() * EXTENT * 2.0).round() / 2.0;
        if random.chance(0.02) { hostile[random.below(3)] } else { at }
    })
}

fn random_cast(random: &mut Random) -> Cast {
    let steps = [-2.0, -1.0, -0.25, 0.0, 0.0, -0.0, 0.5, 1.0, 1e-40, 3e38];
    let direction = std::array::from_fn(|_| steps[random.below(steps.len())]);
    let start = match random.below(3) {
        0 => random.aabb(EXTENT),
        _ => Aabb::point(random_point(random).map(|part| part.clamp(-1e6, 1e6))),
    };
    let limits = [f32::INFINITY, 1.0, 0.0, 7.5];
    Cast { start, direction, limit: limits[random.below(4)] }
}

fn random_query_filter(random: &mut Random) -> Filter {
    if random.chance(0.6) { Filter::ALL } else { random.filter() }
}

/// Asks one query of each kind. Returns how many boxes were found.
fn ask(random: &mut Random, boxes: &Boxes, queries: &Queries<'_>) -> usize {
    let filter = random_query_filter(random);
    let mut found = 0;
    let aabb = random.aabb(EXTENT);
    let expected: Vec<BoxId> =
        admitted(boxes, &filter).filter(|(_, of)| of.overlaps(&aabb)).map(|(id, _)| id).collect();
    found += expected.len();
    assert_eq!(queries.overlapping(&aabb, &filter), expected, "{aabb:?} {filter:?}");

    let point = random_point(random);
    let containing = admitted(boxes, &filter).filter(|(_, of)| of.contains_point(point));
    let expected: Vec<BoxId> = containing.map(|(id, _)| id).collect();
    assert_eq!(queries.containing(point, &filter), expected, "{point:?}");

    let ranked = admitted(boxes, &filter).map(|(id, of)| (distance_squared(&point, &of), id));
    let ranked = sorted(ranked.collect());
    let radius = [0.0, 1.5, 6.0, f32::INFINITY][random.below(4)];
    let limit = f64::from(radius) * f64::from(radius);
    let within = queries.within(point, radius, &filter);
    let within: Vec<_> = within.iter().map(|near| (near.distance_squared, near.id)).collect();
    let expected: Vec<_> = ranked.iter().copied().filter(|near| near.0 <= limit).collect();
    assert_eq!(within, expected, "{point:?} within {radius}");

    let count = [0, 1, 3, 20][random.below(4)];
    let nearest = queries.nearest(point, count, &filter);
    let nearest: Vec<_> = nearest.iter().map(|near| (near.distance_squared, near.id)).collect();
    assert_eq!(nearest, ranked[..count.min(ranked.len())], "{count} nearest to {point:?}");
    found + ask_casts(random, boxes, queries, &filter)
}

fn ask_casts(random: &mut Random, boxes: &Boxes, queries: &Queries<'_>, filter: &Filter) -> usize {
    let cast = random_cast(random);
    let entered = |(id, of): (BoxId, Aabb)| cast.enters(&of).map(|enter| (enter, id));
    let expected = sorted(admitted(boxes, filter).filter_map(entered).collect());
    let hits = queries.hits(&cast, filter);
    let hits: Vec<_> = hits.iter().map(|hit| (hit.enter, hit.id)).collect();
    assert_eq!(hits, expected, "{cast:?}");
    let first = queries.first_hit(&cast, filter).map(|hit| (hit.enter, hit.id));
    assert_eq!(first, expected.first().copied(), "{cast:?}");
    assert_eq!(queries.any_hit(&cast, filter), !expected.is_empty(), "{cast:?}");
    expected.len()
}

fn ask_pairs(boxes: &Boxes, queries: &Queries<'_>, count: usize) {
    let mut expected = Vec::new();
    for a in boxes.ids() {
        for b in boxes.ids().filter(|&b| a < b) {
            let (of_a, of_b) = (&boxes.filters()[a.index()], &boxes.filters()[b.index()]);
            if of_a.allows(of_b) {
                let gap = gap_squared(&boxes.aabbs()[a.index()], &boxes.aabbs()[b.index()]);
                expected.push((gap, Pair::new(a, b)));
            }
        }
    }
    expected.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    expected.truncate(count);
    let found = queries.nearest_pairs(count);
    let found: Vec<_> = found.iter().map(|near| (near.distance_squared, near.pair)).collect();
    assert_eq!(found, expected);
}

/// Inserts, moves and removes some boxes.
fn stir(random: &mut Random, detector: &mut Detector, boxes: usize, filters: bool) {
    let ids: Vec<BoxId> = detector.boxes().ids().collect();
    for id in ids {
        match random.below(12) {
            0 => detector.remove(id).unwrap(),
            1 | 2 => detector.set(id, random.aabb(EXTENT)).unwrap(),
            3 if filters => detector.boxes_mut().set_filter(id, random.filter()).unwrap(),
            _ => {}
        }
    }
    while detector.boxes().len() < boxes {
        let filter = if filters { random.filter() } else { Filter::ALL };
        detector.insert(random.aabb(EXTENT), filter).unwrap();
    }
}

#[test]
fn every_query_agrees_with_a_plain_loop_at_any_moment_of_a_step() {
    let mut found = 0;
    let mut asked = 0;
    for (seed, &algorithm) in (0..40).zip(Algorithm::ALL.iter().cycle()) {
        let mut random = Random(seed);
        let mut detector =
            Detector::with_workers(algorithm, Workers::new(1 + seed as usize % 2).unwrap());
        for round in 0..16 {
            let boxes = if round < 8 { 120 } else { 60 };
            stir(&mut random, &mut detector, boxes, seed % 3 == 0);
            if random.chance(0.5) {
                detector.step().unwrap();
            }
            if random.chance(0.7) {
                let known = detector.boxes().clone();
                let queries = detector.queries();
                for _ in 0..6 {
                    found += ask(&mut random, &known, &queries);
                    asked += known.len();
                }
            }
        }
    }
    let share = found as f64 / asked as f64;
    assert!((0.02..0.5).contains(&share), "a query finds {share} of the boxes on average");
}

#[test]
fn nearest_pairs_agree_with_a_plain_loop() {
    for seed in 0..30 {
        let mut random = Random(1000 + seed);
        let mut detector = Detector::new(Algorithm::Bvh);
        for round in 0..5 {
            stir(&mut random, &mut detector, 90, seed % 2 == 0);
            if round % 2 == 0 {
                detector.step().unwrap();
            }
            let known = detector.boxes().clone();
            ask_pairs(&known, &detector.queries(), [0, 1, 7, 200, 10_000][round]);
        }
    }
}

#[test]
fn the_nearest_of_many_equal_pairs_is_found_without_trying_all() {
    let mut detector = Detector::new(Algorithm::Bvh);
    detector.boxes_mut().insert_all(&vec![Aabb::default(); 50_000], Filter::ALL).unwrap();
    let nearest = detector.queries().nearest_pairs(3);
    let pairs: Vec<(u32, u32)> = nearest.iter().map(|near| near.pair.into()).collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (0, 3)]);
}

#[test]
fn grazing_rays_and_rays_in_a_face_give_one_answer_from_every_side() {
    let mut detector = Detector::new(Algorithm::Bvh);
    let cube = detector.insert(Aabb::new([0.0; 3], [1.0; 3]), Filter::ALL).unwrap();
    let queries = detector.queries();
    let enter = |origin, direction: [f32; 3]| {
        let hit = queries.first_hit(&Cast::ray(origin, direction), &Filter::ALL);
        assert!(hit.is_none_or(|hit| hit.id == cube));
        hit.map(|hit| hit.enter)
    };
    for zero in [0.0, -0.0] {
        // Along an edge, within a face, and just next to it.
        assert_eq!(enter([-2.0, 1.0, 1.0], [1.0, zero, zero]), Some(2.0));
        assert_eq!(enter([3.0, 0.0, 0.5], [-2.0, zero, zero]), Some(1.0));
        assert_eq!(enter([3.0, 0.5, 1.0f32.next_up()], [-2.0, zero, zero]), None);
        // Begins on a face and leaves, begins inside, stands still inside and outside.
        assert_eq!(enter([1.0, 0.5, 0.5], [1.0, zero, zero]), Some(0.0));
        assert_eq!(enter([0.5, 0.5, 0.5], [zero, 1.0, zero]), Some(0.0));
        assert_eq!(enter([0.5, 0.5, 0.5], [zero; 3]), Some(0.0));
        assert_eq!(enter([1.5, 0.5, 0.5], [zero; 3]), None);
    }
    // Through a corner only.
    assert_eq!(enter([2.0, 0.0, 0.5], [-1.0, 1.0, 0.0]), Some(1.0));
    assert_eq!(enter([2.0, 0.0, 0.5], [-1.0, 1.001, 0.0]), None);
}

#[test]
fn bad_input_finds_nothing_and_harms_nothing() {
    let mut detector = Detector::new(Algorithm::Bvh);
    detector.insert(Aabb::EVERYTHING, Filter::ALL).unwrap();
    let queries = detector.queries();
    let (nan, all) = (f32::NAN, &Filter::ALL);
    assert!(queries.overlapping(&Aabb::new([nan; 3], [1.0; 3]), all).is_empty());
    assert!(queries.containing([0.0, nan, 0.0], all).is_empty());
    assert!(queries.nearest([nan, 0.0, 0.0], 3, all).is_empty());
    assert!(queries.within([0.0; 3], -1.0, all).is_empty());
    assert!(queries.within([0.0; 3], nan, all).is_empty());
    for direction in [[nan, 0.0, 0.0], [f32::INFINITY, 0.0, 0.0]] {
        assert!(queries.hits(&Cast::ray([0.0; 3], direction), all).is_empty());
    }
    let ray = Cast::ray([0.0; 3], [1.0, 0.0, 0.0]);
    assert!(queries.hits(&ray.until(-1.0), all).is_empty());
    assert!(queries.hits(&ray.until(nan), all).is_empty());
    assert_eq!(queries.hits(&ray, all).len(), 1);
    assert!(queries.overlapping(&Aabb::EVERYTHING, &Filter::groups(0, 0)).is_empty());
    assert!(Detector::new(Algorithm::Auto).queries().nearest([0.0; 3], 5, all).is_empty());
}

#[test]
fn visitors_can_stop_and_batches_keep_their_order() {
    let mut detector = Detector::with_workers(Algorithm::SortSweep, Workers::new(3).unwrap());
    let mut random = Random(5);
    stir(&mut random, &mut detector, 500, false);
    let points: Vec<[f32; 3]> = (0..300).map(|_| random_point(&mut random)).collect();
    let queries = detector.queries();
    let mut seen = 0;
    let flow = queries.visit_overlapping(&Aabb::EVERYTHING, &Filter::ALL, |_| {
        seen += 1;
        if seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((flow, seen), (ControlFlow::Break(()), 10));
    let batch = queries.batch(&points, |queries, &point| queries.nearest(point, 4, &Filter::ALL));
    for (point, answer) in points.iter().zip(&batch) {
        assert_eq!(*answer, queries.nearest(*point, 4, &Filter::ALL));
    }
}

#[test]
fn the_tree_beside_is_given_up_when_nobody_asks() {
    let mut detector = Detector::new(Algorithm::SortSweep);
    let id = detector.insert(Aabb::default(), Filter::ALL).unwrap();
    for pause in [0, 3, 20] {
        for _ in 0..pause {
            detector.set(id, Aabb::point([pause as f32 + 1.0; 3])).unwrap();
            detector.step().unwrap();
        }
        let at = detector.boxes().get(id).unwrap().min;
        assert_eq!(detector.queries().containing(at, &Filter::ALL), [id]);
    }
}

/// The tree of movers is left behind as a tree of resting boxes, nothing takes its place, and yet
/// filters are to be followed.
#[test]
fn filtered_boxes_that_all_rest_are_found_while_nothing_changes() {
    let mut detector = Detector::new(Algorithm::SortSweep);
    let mut random = Random(11);
    let around = |k: usize| Aabb::new([k as f32, 0.0, 0.0], [k as f32 + 0.5, 1.0, 1.0]);
    let mut ask = |detector: &Detector| ask(&mut random, detector.boxes(), &detector.queries());
    detector.insert(around(0), Filter::STILL).unwrap();
    ask(&detector);
    detector.step().unwrap();
    // The tree is given a thousand boxes at once, and then nothing changes.
    let filters = [Filter::ALL, Filter::STILL, Filter::groups(1, 2), Filter::groups(2, 3)];
    for k in 1..1000 {
        detector.insert(around(k), filters[k % 4]).unwrap();
    }
    ask(&detector);
    detector.step().unwrap();
    detector.boxes_mut();
    ask(&detector);
    detector.boxes_mut();
    ask(&detector);
}
