use super::*;
use crate::{Aabb, Algorithm, BoxId, Detector, Filter};

/// A small generator of its own, so that histories are the same everywhere.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn chance(&mut self, share: f32) -> bool {
        self.unit() < share
    }

    /// A box in a cube of some extent; a few are hostile.
    pub fn aabb(&mut self, extent: f32) -> Aabb {
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

    pub fn filter(&mut self) -> Filter {
        let bits = |random: &mut Random| 1 << random.below(4);
        match self.below(5) {
            0 => Filter::ALL,
            1 => Filter::STILL,
            2 => Filter::ALL.owned_by(1 + self.below(3) as u32),
            3 => Filter::groups(bits(self), bits(self) | bits(self)),
            _ => Filter::groups(bits(self), u32::MAX).owned_by(self.below(2) as u32),
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
