//! What the conformance suite does not know of: worlds that are hostile to grids, every
//! instruction set, and bounds on the work.

use super::*;
use crate::broad::brute_force::BruteForce;
use crate::broad::sort_sweep::SortSweep;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::pair::Pair;

/// A small generator, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn unit(&mut self) -> f32 {
        (self.next() & 0xFFFF) as f32 / 65536.0
    }

    /// A cube of up to `size` with its lower corner in `[0, side)`.
    fn cube(&mut self, side: f32, size: f32) -> Aabb {
        let min: [f32; 3] = std::array::from_fn(|_| self.unit() * side);
        Aabb::new(min, min.map(|low| low + self.unit() * size))
    }
}

fn pairs(phase: &mut dyn BroadPhase, boxes: &Boxes) -> Vec<Pair> {
    let mut found = PairBuffer::new();
    assert_eq!(phase.update(boxes, &mut found).unwrap(), Report::Full);
    phase.validate(boxes);
    let mut pairs: Vec<Pair> = found.iter().collect();
    pairs.sort_unstable();
    assert!(pairs.windows(2).all(|two| two[0] != two[1]), "a pair was reported twice");
    pairs
}

fn world(aabbs: &[Aabb]) -> Boxes {
    let mut boxes = Boxes::new();
    boxes.insert_all(aabbs, Filter::ALL).unwrap();
    boxes
}

/// Compares with all pairs, with each instruction set and several threads; returns the last
/// update's stats.
fn check(boxes: &Boxes) -> Stats {
    let mut oracle: Box<dyn BroadPhase> = if boxes.len() > 3000 {
        Box::new(SortSweep::new(&Workers::one()))
    } else {
        Box::new(BruteForce::new(&Workers::one()))
    };
    let expected = pairs(oracle.as_mut(), boxes);
    let mut stats = Stats::default();
    for threads in [1, 3] {
        for level in Level::available() {
            let mut phase = GridSweep::new(&Workers::new(threads).unwrap());
            phase.level = level;
            assert_eq!(pairs(&mut phase, boxes), expected, "{threads} threads, {level:?}");
            stats = phase.stats();
        }
    }
    stats
}

fn scaled(aabbs: &[Aabb], factor: f32) -> Vec<Aabb> {
    let scale = |bounds: [f32; 3]| bounds.map(|bound| bound * factor);
    aabbs.iter().map(|aabb| Aabb::new(scale(aabb.min), scale(aabb.max))).collect()
}

#[test]
fn every_scale_from_denormal_to_the_largest() {
    let mut random = Random(1);
    let cubes: Vec<Aabb> = (0..900).map(|_| random.cube(10.0, 1.2)).collect();
    for factor in [1.0, -0.0, 1e-45, 1e-40, 1e-37, 1e-30, 1e30, 3e37] {
        check(&world(&scaled(&cubes, factor)));
    }
}

#[test]
fn infinite_ends_and_the_largest_values() {
    let mut random = Random(2);
    let ends = [f32::NEG_INFINITY, f32::MIN, -1.0, -0.0, 0.0, 1e-45, 7.0, f32::MAX, f32::INFINITY];
    let mut aabbs: Vec<Aabb> = (0..600).map(|_| random.cube(12.0, 1.0)).collect();
    for aabb in aabbs.iter_mut().step_by(3) {
        let axis = (random.next() % 3) as usize;
        let mut bounds = [0, 1].map(|_| ends[random.next() as usize % ends.len()]);
        bounds.sort_unstable_by(f32::total_cmp);
        (aabb.min[axis], aabb.max[axis]) = (bounds[0], bounds[1]);
    }
    check(&world(&aabbs));
}

#[test]
fn flat_worlds_are_swept_along_an_axis_with_spread() {
    let mut random = Random(3);
    for flat in 0..8u32 {
        let aabbs: Vec<Aabb> = (0..1500)
            .map(|_| {
                let mut aabb = random.cube(if flat.count_ones() == 2 { 600.0 } else { 40.0 }, 1.0);
                for axis in (0..3).filter(|axis| flat >> axis & 1 == 1) {
                    (aabb.min[axis], aabb.max[axis]) = (4.0, 4.0);
                }
                aabb
            })
            .collect();
        let stats = check(&world(&aabbs));
        assert!(flat == 7 || stats.tests < 1500 * 60, "{flat:03b}: {} tests", stats.tests);
    }
}

#[test]
fn giants_among_many_take_bounded_memory() {
    let mut random = Random(4);
    let mut aabbs: Vec<Aabb> = (0..20_000).map(|_| random.cube(100.0, 1.0)).collect();
    for k in 0..40 {
        aabbs[k * 499] = Aabb::EVERYTHING;
    }
    for k in 0..200 {
        let plate = &mut aabbs[k * 97 + 1];
        let axis = k % 3;
        plate.min =
            std::array::from_fn(|other| if other == axis { plate.min[other] } else { -1e9 });
        plate.max = std::array::from_fn(|other| if other == axis { plate.max[other] } else { 1e9 });
    }
    let stats = check(&world(&aabbs));
    assert!(stats.count("entries").unwrap() < 4.5 * 20_000.0, "{:?}", stats.counts);
    assert!(stats.count("giants").unwrap() > 20.0);
}

#[test]
fn crowds_far_apart_are_divided_again() {
    let mut random = Random(5);
    let aabbs: Vec<Aabb> = (0..20_000)
        .map(|k| {
            let place = [0.0, 1e6, 3e6, -2e6][k % 4];
            let cube = random.cube(30.0, 1.0);
            let shift = |bounds: [f32; 3]| bounds.map(|bound| bound + place);
            Aabb::new(shift(cube.min), shift(cube.max))
        })
        .collect();
    let stats = check(&world(&aabbs));
    assert!(stats.tests < 20_000 * 100, "{} tests", stats.tests);
}

#[test]
fn three_decades_of_sizes() {
    let mut random = Random(6);
    let aabbs: Vec<Aabb> = (0..20_000)
        .map(|_| {
            let size = 0.05 * 10.0f32.powf(3.0 * random.unit());
            random.cube(1200.0, size)
        })
        .collect();
    let stats = check(&world(&aabbs));
    assert!(stats.tests < 20_000 * 60, "{} tests", stats.tests);
}

#[test]
fn a_world_that_grows_a_thousandfold_and_shrinks_back() {
    let mut random = Random(7);
    let cubes: Vec<Aabb> = (0..1200).map(|_| random.cube(20.0, 1.0)).collect();
    let mut boxes = world(&cubes);
    let mut phase = GridSweep::new(&Workers::one());
    let expected = pairs(&mut phase, &boxes);
    for factor in [1000.0, 1.0, 0.001, 1e20, 1.0] {
        boxes.commit();
        // Powers of two keep every comparison as it was.
        let factor = 2.0f32.powi(f32::log2(factor) as i32);
        boxes.set_all(&scaled(&cubes, factor)).unwrap();
        if factor != 1.0 {
            check(&boxes);
        }
        assert_eq!(pairs(&mut phase, &boxes), expected);
    }
}

#[test]
fn few_boxes_in_many_slots() {
    let mut random = Random(8);
    let cubes: Vec<Aabb> = (0..40_000).map(|_| random.cube(50.0, 2.0)).collect();
    let mut boxes = world(&cubes);
    let gone: Vec<BoxId> = boxes.ids().filter(|id| id.index() % 97 != 5).collect();
    boxes.remove_all(&gone).unwrap();
    let stats = check(&boxes);
    assert!(stats.tests < 413 * 60, "{} tests", stats.tests);
}

#[test]
fn crowds_of_one_owner_and_still_crowds_are_not_tested() {
    let mut boxes = Boxes::new();
    let crowd = vec![Aabb::default(); 100_000];
    boxes.insert_all(&crowd, Filter::groups(4, 6).with_owner(1)).unwrap();
    boxes.insert_all(&crowd, Filter::groups(1, 3).with_still(true)).unwrap();
    boxes.insert_all(&crowd, Filter::groups(0, 0)).unwrap();
    let visitors = boxes.insert_all(&crowd[..3], Filter::groups(2, 5)).unwrap();
    let mut phase = GridSweep::new(&Workers::one());
    let found = pairs(&mut phase, &boxes);
    // The visitors do not meet themselves: their mask has not their own group.
    assert_eq!(found.len(), 3 * 200_000);
    assert!(found.iter().all(|pair| visitors.iter().any(|id| id.slot() == pair.b())));
    assert!(phase.stats().tests < 2_000_000, "{} tests", phase.stats().tests);
}

#[test]
fn filters_of_many_kinds_follow_their_changes() {
    let mut random = Random(9);
    let cubes: Vec<Aabb> = (0..600).map(|_| random.cube(9.0, 1.5)).collect();
    let filter = |random: &mut Random| Filter {
        membership: 1 << (random.next() % 4),
        mask: (random.next() % 16) as u32,
        owner: (random.next() % 40) as u32,
        still: random.next().is_multiple_of(3),
    };
    let mut boxes = Boxes::new();
    let filters: Vec<Filter> = cubes.iter().map(|_| filter(&mut random)).collect();
    let ids = boxes.insert_each(&cubes, &filters).unwrap();
    let mut phase = GridSweep::new(&Workers::one());
    let mut oracle = BruteForce::new(&Workers::one());
    let mut hits = 0;
    for _ in 0..40 {
        let expected = pairs(&mut oracle, &boxes);
        assert_eq!(pairs(&mut phase, &boxes), expected);
        hits += expected.len();
        boxes.commit();
        for _ in 0..30 {
            let id = ids[random.next() as usize % ids.len()];
            boxes.set_filter(id, filter(&mut random)).unwrap();
            boxes.set(id, random.cube(9.0, 1.5)).unwrap();
        }
    }
    assert!(hits > 40 * 100, "{hits} pairs");
}

#[test]
fn still_boxes_are_kept_until_one_changes() {
    let mut random = Random(12);
    // A long still box among short ones makes both ways of meeting movers happen.
    for (long, count, side) in [(0.0, 3000, 25.0), (20.0, 3000, 25.0), (0.0, 4000, 4.0)] {
        let mut cubes: Vec<Aabb> = (0..count).map(|_| random.cube(side, 1.0)).collect();
        cubes[7].max = cubes[7].max.map(|bound| bound + long);
        let filters: Vec<Filter> = (0..count)
            .map(|k| if k % 10 == 0 { Filter::ALL.with_owner(k as u32 % 3) } else { Filter::STILL })
            .collect();
        let mut boxes = Boxes::new();
        let ids = boxes.insert_each(&cubes, &filters).unwrap();
        let mut phases = [1, 3].map(|threads| GridSweep::new(&Workers::new(threads).unwrap()));
        let mut oracle = SortSweep::new(&Workers::one());
        let mut kept = 0;
        for step in 0..14u32 {
            let expected = pairs(&mut oracle, &boxes);
            for phase in &mut phases {
                assert_eq!(pairs(phase, &boxes), expected, "step {step}");
                kept += phase.stats().count("still").unwrap() as usize;
            }
            boxes.commit();
            for k in (0..count).step_by(10) {
                let _ = boxes.set(ids[k], random.cube(side, 1.0));
            }
            match step {
                4 => boxes.set(ids[11], random.cube(side, 2.0)).unwrap(),
                6 => boxes.set_filter(ids[12], Filter::ALL).unwrap(),
                8 => boxes.remove_all(&[ids[13], ids[20]]).unwrap(),
                10 => drop(boxes.insert(random.cube(side, 1.0), Filter::ALL).unwrap()),
                _ => {}
            }
        }
        assert!(kept > 12 * count, "still boxes were kept apart in {kept} cases");
    }
}

#[test]
fn with_still_boxes_the_work_follows_what_moves() {
    let mut random = Random(13);
    let cubes: Vec<Aabb> = (0..20_000).map(|_| random.cube(60.0, 1.0)).collect();
    let mut boxes = Boxes::new();
    boxes.insert_all(&cubes[..200], Filter::ALL).unwrap();
    boxes.insert_all(&cubes[200..], Filter::STILL).unwrap();
    let mut phase = GridSweep::new(&Workers::one());
    for _ in 0..3 {
        pairs(&mut phase, &boxes);
        boxes.commit();
        for slot in 0..200 {
            boxes.set(BoxId::new(slot.into(), 0), random.cube(60.0, 1.0)).unwrap();
        }
    }
    let stats = phase.stats();
    assert!(stats.tests < 200 * 60, "{} tests", stats.tests);
    assert!(stats.count("entries").unwrap() < 200.0 * 4.0, "{:?}", stats.counts);
    // Another set: its still boxes are kept apart at once, and none of the first set's.
    let cubes: Vec<Aabb> = (0..20_000).map(|_| random.cube(60.0, 1.0)).collect();
    let mut boxes = Boxes::new();
    boxes.insert_all(&cubes[..200], Filter::ALL).unwrap();
    boxes.insert_all(&cubes[200..], Filter::STILL).unwrap();
    assert_eq!(pairs(&mut phase, &boxes), pairs(&mut SortSweep::new(&Workers::one()), &boxes));
    assert_eq!(phase.stats().count("still"), Some(19_800.0));
}

#[test]
fn nothing_changed_costs_nothing() {
    let mut random = Random(10);
    let mut boxes = world(&(0..500).map(|_| random.cube(9.0, 1.0)).collect::<Vec<_>>());
    let mut phase = GridSweep::new(&Workers::one());
    assert!(!pairs(&mut phase, &boxes).is_empty());
    boxes.commit();
    let mut found = PairBuffer::new();
    assert_eq!(phase.update(&boxes, &mut found).unwrap(), Report::Delta);
    assert!(found.is_empty() && found.ended().is_empty() && phase.stats().tests == 0);
    boxes.commit();
    boxes.set(BoxId::new(3.into(), 0), random.cube(9.0, 1.0)).unwrap();
    assert_eq!(phase.update(&boxes, &mut found).unwrap(), Report::Full);
}

#[test]
fn memory_and_work_stay_within_bounds() {
    let mut random = Random(11);
    let count = 60_000;
    for side in [50.0, 100.0] {
        let boxes = world(&(0..count).map(|_| random.cube(side, 1.5)).collect::<Vec<_>>());
        let mut phase = GridSweep::new(&Workers::one());
        pairs(&mut phase, &boxes);
        let stats = phase.stats();
        assert!(stats.bytes < 100 * count, "{} bytes a box", stats.bytes / count);
        assert!(stats.tests < 40 * count as u64, "{} tests", stats.tests);
    }
}
