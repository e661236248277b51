//! Histories in which everything drifts, so that changes are reported from rows and the order is
//! made over several steps, with all that may come in between.

use crate::broad::contract::Report;
use crate::par::Workers;
use crate::{Aabb, Algorithm, Boxes, Error, Filter, Stepper};

use super::family::NODES_AT_ONCE;
use super::tests::Random;

const COUNT: usize = 1500;
const EXTENT: f32 = 13.0;

/// Boxes that drift and bounce, followed by `bvh` and by testing all pairs.
struct Drift {
    random: Random,
    boxes: Boxes,
    speeds: Vec<[f32; 3]>,
    tested: Stepper,
    truth: Stepper,
    full: usize,
    deltas: usize,
}

fn cube(at: [f32; 3]) -> Aabb {
    Aabb::new(at, at.map(|part| part + 1.0))
}

impl Drift {
    fn new(seed: u64, workers: &Workers) -> Drift {
        let mut random = Random(seed);
        let mut boxes = Boxes::new();
        for _ in 0..COUNT {
            let at = std::array::from_fn(|_| random.unit() * EXTENT);
            boxes.insert(cube(at), Filter::ALL).unwrap();
        }
        let speed = |random: &mut Random| std::array::from_fn(|_| random.unit() * 0.3 - 0.15);
        let speeds = (0..2 * COUNT).map(|_| speed(&mut random)).collect();
        let tested = Stepper::new(Algorithm::Bvh, workers);
        let truth = Stepper::new(Algorithm::BruteForce, &Workers::one());
        Drift { random, boxes, speeds, tested, truth, full: 0, deltas: 0 }
    }

    /// Moves a share of the boxes.
    fn drift(&mut self, share: f32) {
        let ids: Vec<_> = self.boxes.ids().collect();
        for id in ids.into_iter().filter(|_| self.random.chance(share)) {
            let at = self.boxes.get(id).unwrap().min;
            let speed = &mut self.speeds[id.slot().index()];
            for k in 0..3 {
                let outside = if at[k] < 0.0 { -1.0 } else { at[k] - EXTENT };
                speed[k] *= if outside * speed[k] > 0.0 { -1.0 } else { 1.0 };
            }
            let speed = *speed;
            self.boxes.set(id, cube(std::array::from_fn(|k| at[k] + speed[k]))).unwrap();
        }
    }

    fn churn(&mut self, count: usize) {
        for _ in 0..count {
            let ids: Vec<_> = self.boxes.ids().collect();
            self.boxes.remove(ids[self.random.below(ids.len())]).unwrap();
            let at = std::array::from_fn(|_| self.random.unit() * EXTENT);
            self.boxes.insert(cube(at), Filter::ALL).unwrap();
        }
    }

    fn refilter(&mut self, filter: Filter) {
        let ids: Vec<_> = self.boxes.ids().step_by(7).collect();
        ids.into_iter().for_each(|id| self.boxes.set_filter(id, filter).unwrap());
    }

    /// Steps both, compares them and leaves the changes pending.
    fn compare(&mut self, note: &str) {
        let expected = self.truth.step(&self.boxes).unwrap();
        assert_eq!(self.tested.step(&self.boxes).unwrap(), expected, "{note}");
        assert_eq!(self.tested.pairs(), self.truth.pairs(), "{note}");
        self.tested.validate(&self.boxes);
        match self.tested.report() {
            Report::Full => self.full += 1,
            Report::Delta => self.deltas += 1,
        }
    }

    fn orders(&self) -> f64 {
        self.tested.stats().count("orders").unwrap()
    }
}

/// What happens in a step besides drifting.
fn disturb(drift: &mut Drift, step: usize) {
    match step {
        12 | 34 | 35 => drift.churn(20),
        15 => drift.refilter(Filter::groups(1, 1).with_owner(3)),
        18 => drift.refilter(Filter::ALL),
        21 | 22 => {
            // More pairs than allowed: refused, and nothing is lost.
            let limit = drift.truth.pairs().len() / 2;
            drift.tested.set_pair_limit(limit);
            let refused = drift.tested.step(&drift.boxes).unwrap_err();
            assert!(matches!(refused, Error::TooManyPairs { .. }), "{refused}");
            drift.tested.set_pair_limit(1 << 20);
        }
        25 => {
            let pairs: Vec<_> = drift.truth.pairs().iter().step_by(9).copied().collect();
            for pair in pairs {
                let [a, b] = [pair.a(), pair.b()].map(|slot| drift.boxes.id_at(slot).unwrap());
                drift.boxes.exclude(a, b).unwrap();
            }
        }
        _ => {}
    }
}

#[test]
fn drifting_histories_agree_with_all_pairs() {
    for (seed, threads) in [(1, 1), (2, 2), (3, 3), (4, 8)] {
        let mut drift = Drift::new(seed, &Workers::new(threads).unwrap());
        for step in 0..120 {
            // Now and then few move, and once nothing does.
            let share = [1.0, 0.85, 0.1, 0.0][[(30..33), (43..46), (50..51)]
                .iter()
                .position(|steps| steps.contains(&step))
                .map_or(0, |found| found + 1)];
            drift.drift(share);
            disturb(&mut drift, step);
            drift.compare(&format!("seed {seed}, step {step}"));
            drift.boxes.commit();
        }
        assert!(drift.orders() >= 3.0, "orders were made: {}", drift.orders());
        assert!(drift.full >= 6, "all pairs are reported now and then: {}", drift.full);
        assert!(drift.deltas >= 30, "mostly changes are reported: {}", drift.deltas);
    }
}

/// Orders are made for where boxes will be if they go straight on, and only then: the boxes of a
/// crowd that trembles never get far.
#[test]
fn orders_are_made_ahead_of_straight_motion_alone() {
    for straight in [true, false] {
        let mut drift = Drift::new(5, &Workers::new(2).unwrap());
        let homes: Vec<_> = drift.boxes.ids().zip(drift.boxes.aabbs().to_vec()).collect();
        for step in 0..120usize {
            // There and back again.
            let way = step.min(120 - step) as f32;
            for (id, home) in &homes {
                let speed = drift.speeds[id.slot().index()];
                let at = std::array::from_fn(|k| {
                    let by = if straight { way * speed[k] } else { drift.random.unit() * 1.5 };
                    home.min[k] + by
                });
                drift.boxes.set(*id, cube(at)).unwrap();
            }
            drift.compare(&format!("step {step}"));
            drift.boxes.commit();
        }
        let ahead = drift.tested.stats().count("orders_ahead").unwrap();
        assert!(
            if straight { ahead >= 2.0 } else { ahead == 0.0 },
            "{ahead} of {}",
            drift.orders()
        );
    }
}

/// A clone, and one algorithm after the other, in every phase of making an order.
#[test]
fn an_order_in_the_making_survives_clones_and_switches() {
    let workers = Workers::new(3).unwrap();
    let mut drift = Drift::new(9, &workers);
    let mut clones: Vec<Stepper> = Vec::new();
    let mut switched = drift.tested.clone();
    for step in 0..70 {
        drift.drift(1.0);
        drift.compare(&format!("step {step}"));
        for (number, clone) in clones.iter_mut().enumerate() {
            assert_eq!(clone.step(&drift.boxes).unwrap(), drift.truth.events(), "clone {number}");
            assert_eq!(clone.report(), drift.tested.report(), "clone {number}, step {step}");
        }
        let algorithm = [Algorithm::Bvh, Algorithm::GridSweep][step / 9 % 2];
        if step % 9 == 0 {
            switched.replace_broad_phase(algorithm.build(&workers));
        }
        assert_eq!(switched.step(&drift.boxes).unwrap(), drift.truth.events(), "step {step}");
        drift.boxes.commit();
        if step % 2 == 0 {
            clones.push(drift.tested.clone());
            clones.truncate(12);
        }
    }
    assert!(drift.orders() >= 3.0, "{} orders", drift.orders());
    for clone in &clones {
        assert_eq!(clone.stats().count("orders"), Some(drift.orders()));
    }
}

/// If most pairs change, all are reported, and changes again when it is calm.
#[test]
fn restless_steps_report_all_pairs() {
    let mut drift = Drift::new(5, &Workers::one());
    let mut reports = Vec::new();
    for step in 0..40 {
        if step < 12 {
            let ids: Vec<_> = drift.boxes.ids().collect();
            for id in ids {
                let at = std::array::from_fn(|_| drift.random.unit() * EXTENT);
                drift.boxes.set(id, cube(at)).unwrap();
            }
        } else {
            drift.drift(1.0);
        }
        drift.compare(&format!("step {step}"));
        drift.boxes.commit();
        reports.push(drift.tested.report());
    }
    let full = reports[..12].iter().filter(|report| **report == Report::Full).count();
    assert!(full >= 9, "{reports:?}");
    let deltas = reports[22..].iter().filter(|report| **report == Report::Delta).count();
    assert!(deltas >= 13, "{reports:?}");
}

/// A box around everything, first in the order, reaches more nodes than are searched at a time.
#[test]
fn a_box_that_reaches_every_node_finds_what_is_in_each() {
    let count = 64 * 3 * NODES_AT_ONCE / 2;
    let place = |slot: usize, shift: f32| {
        let [x, y, z] = [slot % 40, slot / 40 % 40, slot / 1600].map(|part| part as f32);
        cube([1.6 * x + shift, 1.6 * y, 1.6 * z])
    };
    for threads in [1, 3] {
        let workers = Workers::new(threads).unwrap();
        let mut boxes = Boxes::new();
        let giant = |shift: f32| Aabb::new([-100.0 - shift; 3], [60.0 + shift; 3]);
        let ids: Vec<_> = (0..count)
            .map(|slot| if slot == 9 { giant(0.0) } else { place(slot, 0.0) })
            .map(|aabb| boxes.insert(aabb, Filter::ALL).unwrap())
            .collect();
        let mut both = [Algorithm::Bvh, Algorithm::GridSweep].map(|a| Stepper::new(a, &workers));
        // All move, in three steps; then one in forty, with the giant among them.
        for (step, every) in [1, 1, 1, 40, 40, 40].into_iter().enumerate() {
            let shift = 0.5 * (step % 4) as f32;
            for slot in (0..count).filter(|slot| slot % every == 9 % every) {
                let aabb = if slot == 9 { giant(shift) } else { place(slot, shift) };
                boxes.set(ids[slot], aabb).unwrap();
            }
            let [tested, other] = &mut both;
            assert_eq!(tested.step(&boxes).unwrap(), other.step(&boxes).unwrap(), "step {step}");
            assert_eq!(tested.pairs(), other.pairs(), "step {step}");
            assert!(tested.pair_count() > count / 2, "{} pairs", tested.pair_count());
            boxes.commit();
        }
    }
}

/// Most of a large world rests from the first step on. Movers of its new tree are taken in its
/// order, and its places are noted over several steps, in which others wake, come and go.
#[test]
fn a_large_world_that_wakes_box_by_box() {
    const LARGE: usize = 40_000;
    let cube_of = |random: &mut Random| cube(std::array::from_fn(|_| random.unit() * 50.0));
    for (threads, filtered) in [(1, false), (2, true), (3, false), (8, true)] {
        let mut random = Random(threads as u64);
        let mut boxes = Boxes::new();
        for k in 0..LARGE {
            let kinds = [Filter::ALL, Filter::ALL.with_still(true), Filter::ALL.with_owner(3)];
            let filter = if filtered { kinds[k % 3] } else { Filter::ALL };
            boxes.insert(cube_of(&mut random), filter).unwrap();
        }
        let mut tested = Stepper::new(Algorithm::Bvh, &Workers::new(threads).unwrap());
        let mut truth = Stepper::new(Algorithm::GridSweep, &Workers::one());
        for step in 0..14 {
            assert_eq!(tested.step(&boxes).unwrap(), truth.step(&boxes).unwrap(), "step {step}");
            tested.validate(&boxes);
            if step == 0 {
                // Withdrawn before the commit: no list of changes names it.
                let id = boxes.id_at(77.into()).unwrap();
                boxes.remove(id).unwrap();
            }
            boxes.commit();
            let ids: Vec<_> = boxes.ids().collect();
            for id in ids {
                let k = id.slot().index();
                let wakes = matches!(step, 3 | 4) && k % 501 == step;
                if k % 11 == 0 || wakes {
                    let at = boxes.get(id).unwrap().min;
                    let shift = random.unit() * 0.4 - 0.2;
                    boxes.set(id, cube(at.map(|part| part + shift))).unwrap();
                } else if k % 1999 == step {
                    boxes.remove(id).unwrap();
                    boxes.insert(cube_of(&mut random), Filter::ALL).unwrap();
                } else if filtered && k % 2003 == step {
                    boxes.set_filter(id, Filter::ALL.with_owner(5)).unwrap();
                }
            }
        }
    }
}
