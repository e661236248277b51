//! All divisions against brute force, over histories and for hostile input.

use super::*;
use crate::aabb::Aabb;
use crate::broad::Algorithm;
use crate::detector::Detector;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::pair::Pair;
use proptest::prelude::*;

fn options() -> Vec<BidimSapOptions> {
    let mut all = Vec::new();
    let rules = [AxisRule::Adaptive, AxisRule::Fixed(Axis::Z, Axis::X), AxisRule::Dispersion(50)];
    for division in [Division::Strips, Division::Trees] {
        for partitions in [0, 1, 5, 40] {
            for axes in rules {
                all.push(BidimSapOptions { division, axes, partitions });
            }
        }
    }
    for axes in rules {
        all.push(BidimSapOptions { division: Division::Sequential, axes, partitions: 0 });
    }
    all
}

fn detector(options: BidimSapOptions, threads: usize) -> Detector {
    let workers = Workers::new(threads).unwrap();
    let broad = Box::new(BidimSap::with_options(&workers, options));
    Detector::with_broad_phase(broad, workers)
}

fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Boxes of sizes up to `size` in a unit cube stretched by `stretch`.
fn cloud(count: usize, size: f32, stretch: [f32; 3], seed: u64) -> Vec<Aabb> {
    let mut next = noise(seed);
    let mut aabb = || {
        let min: [f32; 3] = std::array::from_fn(|k| next() * stretch[k]);
        Aabb::new(min, min.map(|low| low + next() * size))
    };
    (0..count).map(|_| aabb()).collect()
}

fn brute(aabbs: &[Aabb], filters: &[Filter]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (i, a) in aabbs.iter().enumerate() {
        for (j, b) in aabbs.iter().enumerate().skip(i + 1) {
            if a.overlaps(b) && filters[i].allows(&filters[j]) {
                pairs.push(Pair::from((i as u32, j as u32)));
            }
        }
    }
    pairs
}

/// The pairs, as every way of working and every number of threads finds them.
fn check(aabbs: &[Aabb], filters: &[Filter]) -> usize {
    let expected = brute(aabbs, filters);
    for options in options() {
        for threads in [1, 3] {
            let mut detector = detector(options, threads);
            detector.boxes_mut().insert_each(aabbs, filters).unwrap();
            detector.step().unwrap();
            assert_eq!(detector.pairs(), expected, "{options:?} with {threads} threads");
        }
    }
    expected.len()
}

#[test]
fn clouds_of_every_shape_are_exact() {
    for (size, stretch) in [
        (0.1, [1.0, 1.0, 1.0]),
        (0.3, [1.0, 1.0, 0.0]),
        (0.05, [10.0, 0.0, 0.0]),
        (0.04, [1.0, 1.0, 1.0]),
        (1.0, [0.0, 0.0, 0.0]),
    ] {
        let aabbs = cloud(700, size, stretch, 17);
        let pairs = check(&aabbs, &vec![Filter::ALL; 700]);
        assert!((1..=700 * 699 / 2).contains(&pairs), "the test tests something");
    }
}

#[test]
fn hostile_boxes_are_exact() {
    let giant = Aabb::new([-1e9; 3], [1e9; 3]);
    let wall =
        Aabb::new([0.5, f32::NEG_INFINITY, f32::NEG_INFINITY], [0.6, f32::INFINITY, f32::INFINITY]);
    let mut aabbs = cloud(300, 0.05, [1.0; 3], 5);
    aabbs.extend([giant, Aabb::EVERYTHING, wall, Aabb::point([0.0; 3]), Aabb::point([-0.0; 3])]);
    aabbs.extend([Aabb::point([f32::MAX; 3]), Aabb::point([f32::INFINITY; 3])]);
    aabbs.extend([Aabb::point([f32::NEG_INFINITY; 3]), Aabb::new([f32::MIN; 3], [f32::MAX; 3])]);
    // Columns that share all low ends, and a lattice whose boxes touch.
    aabbs.extend((0..60).map(|k| Aabb::new([0.25; 3], [0.25 + k as f32 * 0.01; 3])));
    aabbs.extend((0..125).map(|k| {
        let at = [k % 5, k / 5 % 5, k / 25].map(|c| c as f32 * 0.125);
        Aabb::new(at, at.map(|low| low + 0.125))
    }));
    let count = aabbs.len();
    assert!(check(&aabbs, &vec![Filter::ALL; count]) > count);
}

#[test]
fn filters_act_inside_the_sweep() {
    let aabbs = cloud(500, 0.3, [1.0; 3], 23);
    let filters: Vec<Filter> = (0..500u32)
        .map(|k| Filter {
            membership: 1 << (k % 4),
            mask: if k % 5 == 0 { 0b0101 } else { u32::MAX },
            owner: k % 60,
            still: k % 3 == 0,
        })
        .collect();
    let all = brute(&aabbs, &vec![Filter::ALL; 500]).len();
    let kept = check(&aabbs, &filters);
    assert!(kept > 100 && kept < all * 9 / 10, "{kept} of {all}");
}

#[test]
fn still_boxes_cost_no_tests_among_themselves() {
    let mut detector = detector(BidimSapOptions::default(), 1);
    let aabbs = vec![Aabb::new([0.0; 3], [1.0; 3]); 5000];
    detector.boxes_mut().insert_all(&aabbs, Filter::STILL).unwrap();
    detector.step().unwrap();
    assert_eq!(detector.stats().tests, 0);
}

#[test]
fn pairs_come_in_the_same_order_for_every_number_of_threads() {
    let aabbs = cloud(30_000, 0.05, [1.0; 3], 31);
    for division in [Division::Strips, Division::Trees] {
        let written = |threads: usize| {
            let mut boxes = Boxes::new();
            boxes.insert_all(&aabbs, Filter::ALL).unwrap();
            let workers = Workers::new(threads).unwrap();
            let options = BidimSapOptions { division, ..BidimSapOptions::default() };
            let mut found = PairBuffer::new();
            BidimSap::with_options(&workers, options).update(&boxes, &mut found).unwrap();
            found.iter().collect::<Vec<Pair>>()
        };
        let expected = written(1);
        assert!(expected.len() > 10_000);
        for threads in [2, 3, 8] {
            assert!(written(threads) == expected, "{division:?} with {threads} threads");
        }
    }
}

#[test]
fn too_many_pairs_are_refused_and_the_next_step_recovers() {
    for options in options() {
        let mut detector = detector(options, 2);
        detector.set_pair_limit(10_000);
        let aabbs = vec![Aabb::new([0.0; 3], [1.0; 3]); 3000];
        let ids = detector.boxes_mut().insert_all(&aabbs, Filter::ALL).unwrap();
        let error = detector.step().unwrap_err();
        assert!(matches!(error, Error::TooManyPairs { limit: 10_000, .. }), "{error}");
        let apart: Vec<Aabb> = (0..3000).map(|k| Aabb::point([k as f32 / 2.0; 3])).collect();
        detector.boxes_mut().set_many(&ids, &apart).unwrap();
        assert!(detector.step().unwrap().began.is_empty());
    }
}

#[test]
fn large_boxes_do_not_multiply_memory() {
    let mut boxes = Boxes::new();
    let mut next = noise(3);
    // Half of the boxes reach over almost everything on every axis but miss each other.
    let aabbs: Vec<Aabb> = (0..20_000)
        .map(|k| {
            let (at, size) = (next(), if k % 2 == 0 { 0.9 } else { 0.001 });
            let thin = k as f32;
            Aabb::new([at, next(), thin], [at + size, 1.0 + size, thin + 0.5])
        })
        .collect();
    boxes.insert_all(&aabbs, Filter::ALL).unwrap();
    let axes = AxisRule::Fixed(Axis::X, Axis::Y);
    let options = BidimSapOptions { partitions: 1000, axes, ..BidimSapOptions::default() };
    let mut broad = BidimSap::with_options(&Workers::one(), options);
    broad.update(&boxes, &mut PairBuffer::new()).unwrap();
    let stats = broad.stats();
    assert!(stats.count("entries").unwrap() <= 60_000.0);
    assert!(stats.count("partitions").unwrap() < 100.0, "strips were joined");
}

#[test]
fn a_heavy_strip_is_swept_by_all_threads() {
    // One strip, because everything begins at the same place on the primary axis; neighbours
    // along the secondary one touch.
    let count = 150_000;
    let at = |k: usize| ((k * 7919) % count) as f32;
    let aabbs: Vec<Aabb> =
        (0..count).map(|k| Aabb::new([0.0, at(k), 0.0], [1.0, at(k) + 1.0, 0.0])).collect();
    let mut expected = None;
    for threads in [1, 3] {
        let mut boxes = Boxes::new();
        boxes.insert_all(&aabbs, Filter::ALL).unwrap();
        let axes = AxisRule::Fixed(Axis::X, Axis::Y);
        let options = BidimSapOptions { axes, ..BidimSapOptions::default() };
        let mut broad = BidimSap::with_options(&Workers::new(threads).unwrap(), options);
        let mut found = PairBuffer::new();
        broad.update(&boxes, &mut found).unwrap();
        assert!(broad.stats().count("deviation of tests").unwrap() < 1.0, "work is shared");
        let pairs: Vec<Pair> = found.iter().collect();
        assert_eq!(pairs.len(), count - 1);
        let touch = |pair: &Pair| (at(pair.a().index()) - at(pair.b().index())).abs() == 1.0;
        assert!(pairs.iter().all(touch));
        assert_eq!(expected.get_or_insert_with(|| pairs.clone()), &pairs);
    }
}

#[test]
fn nothing_changed_costs_nothing() {
    let mut detector = detector(BidimSapOptions::default(), 1);
    detector.boxes_mut().insert_all(&cloud(1000, 0.1, [1.0; 3], 9), Filter::ALL).unwrap();
    let began = detector.step().unwrap().began.len();
    assert!(began > 100 && detector.stats().tests > 0);
    let events = detector.step().unwrap();
    assert!(events.began.is_empty() && events.ended.is_empty());
    assert_eq!((detector.stats().tests, detector.pairs().len()), (0, began));
}

#[test]
fn clustering_on_an_axis_switches_it() {
    for division in [Division::Strips, Division::Trees] {
        let workers = Workers::one();
        let options = BidimSapOptions { division, ..BidimSapOptions::default() };
        let mut broad = BidimSap::with_options(&workers, options);
        let mut boxes = Boxes::new();
        let start = cloud(5000, 0.02, [1.0; 3], 77);
        let ids = boxes.insert_all(&start, Filter::ALL).unwrap();
        let mut unused = Vec::new();
        for frame in 0..12 {
            // Everything moves towards y = 0.
            let squeeze = 1.0 - frame as f32 / 12.0;
            let moved: Vec<Aabb> = start
                .iter()
                .map(|a| {
                    let low = a.min[1] * squeeze;
                    let size = a.max[1] - a.min[1];
                    Aabb::new([a.min[0], low, a.min[2]], [a.max[0], low + size, a.max[2]])
                })
                .collect();
            boxes.set_many(&ids, &moved).unwrap();
            let mut found = PairBuffer::new();
            broad.update(&boxes, &mut found).unwrap();
            boxes.commit();
            unused.push(broad.axes.unwrap().unused());
        }
        assert_eq!(unused.last(), Some(&1), "{division:?}: {unused:?}");
        let switches = unused.windows(2).filter(|two| two[0] != two[1]).count();
        assert!(switches <= 2, "{division:?}: {unused:?}");
    }
}

#[derive(Clone, Debug)]
enum Change {
    Insert(Aabb, Filter),
    Set(usize, Aabb),
    SetFilter(usize, Filter),
    Remove(usize),
    Step,
}

fn any_box() -> impl Strategy<Value = Aabb> {
    let bound = || (-12i32..12).prop_map(|v| v as f32 * 0.5);
    let size =
        || prop_oneof![8 => (0i32..4).prop_map(|v| v as f32 * 0.5), 1 => Just(f32::INFINITY)];
    (prop::array::uniform3(bound()), prop::array::uniform3(size()))
        .prop_map(|(min, size)| Aabb::new(min, std::array::from_fn(|k| min[k] + size[k])))
}

fn any_filter() -> impl Strategy<Value = Filter> {
    prop_oneof![
        4 => Just(Filter::ALL),
        1 => Just(Filter::STILL),
        1 => (0u32..4, 0u32..4, 0u32..3).prop_map(|(m, k, o)| Filter::groups(m, k).with_owner(o)),
    ]
}

fn any_step() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any_box(), any_filter()).prop_map(|(b, f)| Change::Insert(b, f)),
        4 => (any::<usize>(), any_box()).prop_map(|(k, b)| Change::Set(k, b)),
        1 => (any::<usize>(), any_filter()).prop_map(|(k, f)| Change::SetFilter(k, f)),
        1 => any::<usize>().prop_map(Change::Remove),
        2 => Just(Change::Step),
    ]
}

fn compare(one: &mut Detector, oracle: &mut Detector) {
    let (began, ended) = {
        let events = oracle.step().unwrap();
        (events.began.to_vec(), events.ended.to_vec())
    };
    let events = one.step().unwrap();
    assert_eq!((events.began, events.ended), (&began[..], &ended[..]));
    assert_eq!(one.pairs(), oracle.pairs());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn histories_agree_with_brute_force(
        steps in prop::collection::vec(any_step(), 1..150),
        division in prop::sample::select(vec![Division::Strips, Division::Trees]),
        partitions in 0usize..6,
        threads in 1usize..4,
    ) {
        let options = BidimSapOptions { division, partitions, ..BidimSapOptions::default() };
        let mut one = detector(options, threads);
        let mut oracle = Detector::new(Algorithm::BruteForce);
        let mut live: Vec<BoxId> = Vec::new();
        for step in steps {
            match step {
                Change::Insert(aabb, filter) => {
                    live.push(one.insert(aabb, filter).unwrap());
                    prop_assert_eq!(oracle.insert(aabb, filter).unwrap(), live[live.len() - 1]);
                }
                Change::Set(k, aabb) if !live.is_empty() => {
                    let id = live[k % live.len()];
                    one.set(id, aabb).unwrap();
                    oracle.set(id, aabb).unwrap();
                }
                Change::SetFilter(k, filter) if !live.is_empty() => {
                    let id = live[k % live.len()];
                    one.boxes_mut().set_filter(id, filter).unwrap();
                    oracle.boxes_mut().set_filter(id, filter).unwrap();
                }
                Change::Remove(k) if !live.is_empty() => {
                    let id = live.swap_remove(k % live.len());
                    one.remove(id).unwrap();
                    oracle.remove(id).unwrap();
                }
                Change::Step => compare(&mut one, &mut oracle),
                _ => {}
            }
        }
        compare(&mut one, &mut oracle);
    }
}

/// Boxes that reach over so many strips that these are joined, in more than one chunk.
#[test]
fn joined_strips_find_the_same_pairs_on_every_number_of_workers() {
    let count = 2 * strips::CHUNK + 900;
    let mut aabbs = cloud(count, 0.1, [100.0, 10.0, 10.0], 5);
    // Those of the second chunk are longer: chunks differ in what they hold.
    let longer = aabbs.iter_mut().skip(strips::CHUNK).take(strips::CHUNK);
    longer.for_each(|aabb| aabb.max[0] += 4.0);
    let pairs = |mut detector: Detector| {
        detector.boxes_mut().insert_all(&aabbs, Filter::ALL).unwrap();
        detector.step().unwrap();
        detector.pairs().to_vec()
    };
    let expected = pairs(Detector::new(Algorithm::Bvh));
    assert!(expected.len() > 100);
    let axes = AxisRule::Fixed(Axis::X, Axis::Y);
    let options = BidimSapOptions { division: Division::Strips, axes, partitions: 2000 };
    for threads in [1, 2, 3] {
        assert!(pairs(detector(options, threads)) == expected, "{threads} threads");
    }
}
