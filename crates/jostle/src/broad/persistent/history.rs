//! Random histories of boxes for the tests of the persistent algorithms.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::brute_force::BruteForce;
use crate::broad::contract::{BroadPhase, Report};
use crate::events::PairTracker;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::pair::PairBuffer;

/// A small deterministic generator.
pub(crate) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Few different values, so that equal endpoints are common.
    fn value(&mut self) -> f32 {
        match self.below(40) {
            0 => f32::INFINITY,
            1 => f32::NEG_INFINITY,
            2 => -0.0,
            3 => f32::MAX,
            _ => self.below(16) as f32 - 8.0,
        }
    }

    fn aabb(&mut self) -> Aabb {
        let mut aabb = Aabb::default();
        for axis in 0..3 {
            let low = self.value();
            let high = if self.below(3) == 0 { self.value() } else { low + self.below(5) as f32 };
            (aabb.min[axis], aabb.max[axis]) = if low <= high { (low, high) } else { (high, low) };
        }
        aabb
    }

    fn filter(&mut self) -> Filter {
        match self.below(5) {
            0 => Filter::STILL,
            1 => Filter::ALL.with_owner(1 + self.below(3) as u32),
            2 => Filter::groups(1 << self.below(3), self.below(8) as u32),
            _ => Filter::ALL,
        }
    }
}

pub(crate) fn nudge(aabb: &Aabb, random: &mut Random) -> Aabb {
    let mut moved = *aabb;
    for axis in 0..3 {
        let step = random.below(3) as f32 - 1.0;
        moved.min[axis] += step;
        moved.max[axis] += step + random.below(2) as f32 * random.below(2) as f32;
    }
    moved
}

fn change(boxes: &mut Boxes, random: &mut Random, filters: bool) {
    let ids: Vec<BoxId> = boxes.ids().collect();
    let moving = [0, 1, 10, 100][random.below(4) as usize];
    for &id in &ids {
        if random.below(100) < moving {
            let leap = random.below(20) == 0;
            let new = if leap { random.aabb() } else { nudge(boxes.get(id).unwrap(), random) };
            boxes.set(id, new).unwrap();
        }
        if filters && random.below(60) == 0 {
            boxes.set_filter(id, random.filter()).unwrap();
        }
    }
    if random.below(2) == 0 {
        for _ in 0..random.below(6) {
            if let Some(&id) = ids.get(random.below(ids.len().max(1) as u64) as usize) {
                let _ = boxes.remove(id);
            }
        }
    }
    if random.below(2) == 0 {
        for _ in 0..random.below(8) {
            let filter = if filters { random.filter() } else { Filter::ALL };
            boxes.insert(random.aabb(), filter).unwrap();
        }
    }
}

/// Runs a history and compares every step with testing all pairs. Returns how many steps were
/// reported as changes, and how many events there were.
pub(crate) fn follow_history(
    algorithm: &mut dyn BroadPhase,
    seed: u64,
    steps: usize,
    start: usize,
    filters: bool,
) -> (usize, usize) {
    let mut random = Random(seed);
    let mut boxes = Boxes::new();
    for _ in 0..start {
        let filter = if filters { random.filter() } else { Filter::ALL };
        boxes.insert(random.aabb(), filter).unwrap();
    }
    let (mut tracker, mut oracle) = (PairTracker::new(), PairTracker::new());
    let mut brute = BruteForce::default();
    let (mut deltas, mut events) = (0, 0);
    let mut found = PairBuffer::new();
    for step in 0..steps {
        found.clear();
        let report = algorithm.update(&boxes, &mut found).unwrap();
        algorithm.validate(&boxes);
        deltas += usize::from(report == Report::Delta);
        tracker.apply(report, &found, boxes.slots());
        found.clear();
        let report = brute.update(&boxes, &mut found).unwrap();
        oracle.apply(report, &found, boxes.slots());
        assert_eq!(tracker.pairs(), oracle.pairs(), "seed {seed}, step {step}");
        assert_eq!(tracker.events(), oracle.events(), "seed {seed}, step {step}");
        events += tracker.events().began.len() + tracker.events().ended.len();
        boxes.commit();
        change(&mut boxes, &mut random, filters);
    }
    (deltas, events)
}
