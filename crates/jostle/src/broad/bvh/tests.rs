use super::*;
use crate::{Aabb, Algorithm, BoxId, Detector, Filter};

/// A small generator of its own, so that histories are the same everywhere.
pub(crate) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(super) fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub(super) fn chance(&mut self, share: f32) -> bool {
        self.unit() < share
    }

    /// A box in a cube of some extent; a few are hostile.
    pub(super) fn aabb(&mut self, extent: f32) -> Aabb {
        let hostile = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e30, -1e-30, 0.0];
        let mut aabb = Aabb::default();
        let size = if self.chance(0.05) { extent } else { 2.0 };
        for k in 0..3 {
            // Whole and half numbers touch often.
            let low = (self.unit() * extent * 2.0).round() / 2.0;
            let high = low + (self.unit() * size * 2.0).round() / 2.0;
            (aabb.min[k], aabb.max[k]) = (low, high);
            if self.chance(0.004) {
                let bound = hostile[self.below(hostile.len())];
                (aabb.min[k], aabb.max[k]) = (low.min(bound), low.max(bound));
            }
        }
        aabb
    }

    pub(super) fn filter(&mut self) -> Filter {
        let bits = |random: &mut Random| 1 << random.below(4);
        match self.below(5) {
            0 => Filter::ALL,
            1 => Filter::STILL,
            2 => Filter::ALL.with_owner(1 + self.below(3) as u32),
            3 => Filter::groups(bits(self), bits(self) | bits(self)),
            _ => Filter::groups(bits(self), u32::MAX).with_owner(self.below(2) as u32),
        }
    }
}

/// How a history goes on.
#[derive(Clone, Copy)]
struct Habit {
    boxes: usize,
    extent: f32,
    moving: f32,
    churn: f32,
    filters: bool,
}

fn change(random: &mut Random, habit: &Habit, both: &mut [&mut Detector; 2]) {
    let ids: Vec<BoxId> = both[0].boxes().ids().collect();
    let mut each = |with: &mut dyn FnMut(&mut Detector)| both.iter_mut().for_each(|d| with(d));
    for id in ids {
        if random.chance(habit.churn) {
            each(&mut |detector| detector.remove(id).unwrap());
        } else if random.chance(habit.moving) {
            let aabb = random.aabb(habit.extent);
            each(&mut |detector| detector.set(id, aabb).unwrap());
        } else if habit.filters && random.chance(habit.moving * 0.3) {
            let filter = random.filter();
            each(&mut |detector| detector.boxes_mut().set_filter(id, filter).unwrap());
        }
    }
    while both[0].boxes().len() < habit.boxes {
        let aabb = random.aabb(habit.extent);
        let filter = if habit.filters { random.filter() } else { Filter::ALL };
        let ids: Vec<_> = both.iter_mut().map(|d| d.insert(aabb, filter).unwrap()).collect();
        assert_eq!(ids[0], ids[1]);
    }
}

fn follow_history(seed: u64, threads: usize, habits: &[Habit], steps: usize) {
    let mut random = Random(seed);
    let mut oracle = Detector::new(Algorithm::BruteForce);
    let mut tested = Detector::with_workers(Algorithm::Bvh, Workers::new(threads).unwrap());
    let mut events = 0;
    for step in 0..steps {
        let habit = &habits[step * habits.len() / steps];
        change(&mut random, habit, &mut [&mut oracle, &mut tested]);
        let expected = oracle.step().unwrap();
        events += expected.began.len() + expected.ended.len();
        assert_eq!(tested.step().unwrap(), expected, "seed {seed}, step {step}");
        assert_eq!(tested.pairs(), oracle.pairs(), "seed {seed}, step {step}");
        tested.validate();
    }
    assert!(events > steps, "seed {seed}: only {events} events");
}

const LIVELY: Habit = Habit { boxes: 300, extent: 14.0, moving: 0.9, churn: 0.05, filters: false };

#[test]
fn lively_histories_agree_with_brute_force() {
    for seed in 0..20 {
        follow_history(seed, 1, &[LIVELY, Habit { boxes: 700, ..LIVELY }], 12);
        follow_history(seed, 3, &[Habit { filters: true, ..LIVELY }], 12);
    }
}

#[test]
fn boxes_that_rest_and_wake_agree_with_brute_force() {
    let calm = Habit { boxes: 600, extent: 20.0, moving: 0.02, churn: 0.002, filters: false };
    let asleep = Habit { moving: 0.0, churn: 0.0, ..calm };
    for seed in 100..120 {
        for filters in [false, true] {
            let habits = [calm, LIVELY, asleep, calm, Habit { moving: 0.3, ..calm }, calm];
            follow_history(seed, 1, &habits.map(|habit| Habit { filters, ..habit }), 60);
        }
    }
}

#[test]
fn one_filter_appearing_and_disappearing_is_seen() {
    let none = Habit { boxes: 200, extent: 10.0, moving: 0.1, churn: 0.3, filters: false };
    let some = Habit { filters: true, ..none };
    for seed in 200..210 {
        follow_history(seed, 2, &[none, some, none, some], 80);
    }
}

/// A detector with these boxes after one step.
fn settled(aabbs: &[Aabb], filters: &[Filter]) -> Detector {
    let mut detector = Detector::new(Algorithm::Bvh);
    detector.boxes_mut().insert_each(aabbs, filters).unwrap();
    detector.step().unwrap();
    detector.validate();
    detector
}

fn cube(at: [f32; 3], size: f32) -> Aabb {
    Aabb::new(at, at.map(|part| part + size))
}

/// Evenly spread unit cubes, one to each `space` cubed.
fn spread(random: &mut Random, count: usize, space: f32) -> Vec<Aabb> {
    let extent = (count as f32).cbrt() * space;
    (0..count).map(|_| cube(std::array::from_fn(|_| random.unit() * extent), 1.0)).collect()
}

#[test]
fn trees_of_hostile_boxes_are_exact_and_of_bounded_depth() {
    let infinite = Aabb::new([f32::INFINITY; 3], [f32::INFINITY; 3]);
    let half = |k: usize| {
        let mut aabb = Aabb::EVERYTHING;
        aabb.max[k % 3] = 0.0;
        aabb
    };
    let series: Vec<Aabb> = (0..1500)
        .map(|k| {
            let size = 2f32.powf(-140.0 + k as f32 * 0.175);
            Aabb::new([-size; 3], [if k % 2 == 0 { size } else { -size }; 3])
        })
        .collect();
    let cases: [Vec<Aabb>; 6] = [
        vec![Aabb::default(); 700],
        series,
        (0..900).map(half).collect(),
        (0..800).map(|k| if k % 2 == 0 { infinite } else { Aabb::EVERYTHING }).collect(),
        (0..900).map(|k| Aabb::point([[1e30, 1e-30, -1e30, 0.0][k % 4]; 3])).collect(),
        (0..1000).map(|k| Aabb::new([f32::MIN; 3], [k as f32, f32::MAX, 0.0])).collect(),
    ];
    for (case, aabbs) in cases.iter().enumerate() {
        let detector = settled(aabbs, &vec![Filter::ALL; aabbs.len()]);
        let mut oracle = Detector::new(Algorithm::BruteForce);
        oracle.boxes_mut().insert_all(aabbs, Filter::ALL).unwrap();
        oracle.step().unwrap();
        assert_eq!(detector.pairs(), oracle.pairs(), "case {case}");
        assert!(detector.stats().count("depth").unwrap() <= 4.0, "case {case}");
    }
}

#[test]
fn filtered_crowds_cost_no_quadratic_time() {
    let count = 60_000;
    let kinds: [fn(usize) -> Filter; 4] = [
        |_| Filter::ALL.with_owner(7),
        |_| Filter::STILL,
        |k| Filter::groups([1, 4][k % 2], [2, 1][k % 2]),
        |k| Filter::groups(1 << (k % 5), 1 << 20).with_owner(k as u32 % 3),
    ];
    let mut random = Random(77);
    for (kind, filter) in kinds.iter().enumerate() {
        let filters: Vec<Filter> = (0..count).map(filter).collect();
        // All in one place, and crowded but not equal.
        let crowd: Vec<Aabb> = (0..count).map(|_| cube([random.unit(); 3], 1.0)).collect();
        for aabbs in [vec![Aabb::default(); count], crowd] {
            let mut detector = settled(&aabbs, &filters);
            assert!(detector.pairs().is_empty());
            assert!(detector.stats().tests < 100 * count as u64, "kind {kind}: all at once");
            let ids: Vec<BoxId> = detector.boxes().ids().step_by(20).collect();
            for round in 0..3 {
                for &id in &ids {
                    detector.set(id, cube([0.1 + 0.1 * round as f32; 3], 1.0)).unwrap();
                }
                detector.step().unwrap();
                let tests = detector.stats().tests;
                assert!(tests < 400 * count as u64, "kind {kind}, round {round}: {tests} tests");
            }
        }
    }
}

#[test]
fn a_pile_far_away_costs_nothing() {
    let tests = |pile: usize| {
        let mut aabbs = spread(&mut Random(9), 4000, 2.0);
        aabbs.resize(4000 + pile, cube([1e6; 3], 1.0));
        let mut filters = vec![Filter::ALL; 4000];
        filters.resize(4000 + pile, Filter::STILL);
        let mut detector = settled(&aabbs, &filters);
        for step in 1..6 {
            for slot in 0..400 {
                let by = step as f32 * 0.1;
                detector
                    .set(
                        BoxId::new((slot * 9).into(), 0),
                        cube(aabbs[slot as usize * 9].min, 1.0 + by),
                    )
                    .unwrap();
            }
            detector.step().unwrap();
        }
        detector.stats().tests as f64
    };
    let (alone, near) = (tests(0), tests(20_000));
    assert!(near < 1.2 * alone + 1000.0, "{near} tests next to a pile, {alone} alone");
}

#[test]
fn cost_follows_what_moved() {
    let aabbs = spread(&mut Random(4), 40_000, 1.5);
    let work = |movers: usize| {
        let mut detector = settled(&aabbs, &vec![Filter::ALL; aabbs.len()]);
        // Until those that move are in an order of their own.
        for step in 1..12 {
            for slot in 0..movers {
                let shift = 0.02 * step as f32;
                let at = aabbs[slot * (40_000 / movers)].min.map(|part| part + shift);
                detector
                    .set(BoxId::new(((slot * (40_000 / movers)) as u32).into(), 0), cube(at, 1.0))
                    .unwrap();
            }
            detector.step().unwrap();
        }
        detector.stats().tests as f64
    };
    let (all, tenth, few) = (work(40_000), work(4000), work(40));
    assert!(tenth < 0.6 * all, "a tenth moves: {tenth} tests of {all}");
    assert!(few < 0.01 * all, "a thousandth moves: {few} tests of {all}");
    assert_eq!(work(1) as u64 / 10_000, 0);
}

/// The step after a build leaves the tree to what rests; only what moves is sorted and tested.
#[test]
fn what_rests_in_a_new_tree_is_left_alone() {
    let aabbs = spread(&mut Random(5), 8000, 1.3);
    for (threads, filter) in [(1, Filter::ALL), (3, Filter::ALL), (1, Filter::ALL.with_owner(2))] {
        let mut filters = vec![Filter::ALL; aabbs.len()];
        filters[..99].fill(filter);
        let mut both = [Algorithm::Bvh, Algorithm::BruteForce].map(|algorithm| {
            let workers = Workers::new(threads).unwrap();
            let mut detector = Detector::with_workers(algorithm, workers);
            detector.boxes_mut().insert_each(&aabbs, &filters).unwrap();
            detector.step().unwrap();
            detector
        });
        let built = both[0].stats();
        for step in 1..4 {
            for slot in (0..8000u32).step_by(80) {
                let at = aabbs[slot as usize].min.map(|part| part + 0.2 * step as f32);
                let id = BoxId::new(slot.into(), 0);
                both.iter_mut().for_each(|detector| detector.set(id, cube(at, 1.0)).unwrap());
            }
            both.iter_mut().for_each(|detector| assert!(detector.step().is_ok()));
            let [tested, oracle] = &both;
            tested.validate();
            assert_eq!(tested.events(), oracle.events(), "step {step}");
            assert_eq!(tested.pairs(), oracle.pairs(), "step {step}");
            let stats = tested.stats();
            assert_eq!([stats.count("trees"), stats.count("moved")], [Some(2.0), Some(100.0)]);
            assert!(10 * stats.tests < built.tests, "step {step}: {} tests", stats.tests);
        }
    }
}

#[test]
fn nothing_changed_costs_nothing() {
    let mut detector = settled(&spread(&mut Random(6), 2000, 1.2), &[Filter::ALL; 2000]);
    assert!(detector.step().unwrap().began.is_empty());
    assert_eq!(detector.stats().tests, 0);
}

#[test]
fn motion_does_not_wear_the_trees_out() {
    let count = 8000;
    let mut random = Random(8);
    let mut aabbs = spread(&mut random, count, 1.3);
    let extent = (count as f32).cbrt() * 1.3;
    let mut speeds: Vec<[f32; 3]> =
        (0..count).map(|_| std::array::from_fn(|_| random.unit() * 0.2 - 0.1)).collect();
    let mut detector = settled(&aabbs, &vec![Filter::ALL; count]);
    let mut late = Vec::new();
    for frame in 0..300 {
        for (aabb, speed) in aabbs.iter_mut().zip(&mut speeds) {
            *aabb = cube(std::array::from_fn(|k| aabb.min[k] + speed[k]), 1.0);
            for k in 0..3 {
                let outside = if aabb.min[k] < 0.0 { -1.0 } else { aabb.min[k] - extent };
                speed[k] *= if outside * speed[k] > 0.0 { -1.0 } else { 1.0 };
            }
        }
        detector.boxes_mut().set_all(&aabbs).unwrap();
        detector.step().unwrap();
        if frame >= 250 {
            late.push(detector.stats().tests as f64);
        }
    }
    let fresh = settled(&aabbs, &vec![Filter::ALL; count]).stats().tests as f64;
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    assert!(mean < 1.3 * fresh, "{mean} tests after 300 frames, {fresh} on a fresh tree");
}

#[test]
fn churn_does_not_let_memory_or_depth_grow() {
    let mut random = Random(10);
    let mut detector = settled(&spread(&mut random, 2000, 1.5), &[Filter::ALL; 2000]);
    let mut most = 0;
    for step in 0..600 {
        let ids: Vec<BoxId> = detector.boxes().ids().collect();
        for _ in 0..20 {
            // The same one may be drawn twice.
            let _ = detector.remove(ids[random.below(ids.len())]);
        }
        while detector.boxes().len() < 2000 {
            let aabb = spread(&mut random, 1, 18.0)[0];
            detector.insert(aabb, Filter::ALL).unwrap();
        }
        detector.step().unwrap();
        if step < 100 {
            most = most.max(detector.stats().bytes);
        }
    }
    let stats = detector.stats();
    assert!(stats.bytes <= most + most / 4, "{} bytes, {most} in the beginning", stats.bytes);
    assert!(stats.count("depth").unwrap() <= 4.0);
    assert!(stats.count("trees").unwrap() <= 8.0, "{stats:?}");
}

#[test]
fn the_order_of_insertion_does_not_matter() {
    let aabbs = spread(&mut Random(12), 3000, 1.3);
    let mut one_by_one = Detector::new(Algorithm::Bvh);
    let mut sorted = aabbs.clone();
    sorted.sort_by(|one, other| one.min[0].total_cmp(&other.min[0]));
    for few in sorted.chunks(7) {
        one_by_one.boxes_mut().insert_all(few, Filter::ALL).unwrap();
        one_by_one.step().unwrap();
    }
    one_by_one.validate();
    let at_once = settled(&aabbs, &vec![Filter::ALL; 3000]);
    assert_eq!(one_by_one.pairs().len(), at_once.pairs().len());
    let wake = |detector: &mut Detector| {
        let moved: Vec<Aabb> = detector.boxes().aabbs().iter().map(|b| cube(b.min, 1.01)).collect();
        detector.boxes_mut().set_all(&moved).unwrap();
        detector.step().unwrap();
        detector.stats().tests as f64
    };
    let (slow, fast) = (wake(&mut one_by_one), wake(&mut { at_once }));
    assert!(slow < 1.2 * fast, "{slow} tests after single insertions, {fast} after one batch");
}
