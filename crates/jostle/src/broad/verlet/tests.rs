//! Lists against all pairs, at every phase of their life, with every number of workers.

use super::*;
use crate::Algorithm;
use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::pair::Pair;
use crate::stepper::Stepper;

/// Boxes of about unit size that drift, each on its own way, and turn back at the walls.
struct Crowd {
    at: Vec<[f32; 3]>,
    way: Vec<[f32; 3]>,
    side: f32,
    state: u32,
}

impl Crowd {
    fn new(count: usize, side: f32, speed: f32) -> Crowd {
        let mut crowd = Crowd { at: Vec::new(), way: Vec::new(), side, state: 1 };
        for _ in 0..count {
            let at = [0; 3].map(|_| crowd.random() * side);
            let way = [0; 3].map(|_| (crowd.random() - 0.5) * 2.0 * speed);
            crowd.at.push(at);
            crowd.way.push(way);
        }
        crowd
    }

    fn random(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.state >> 8) as f32 / (1 << 24) as f32
    }

    fn advance(&mut self) {
        for (at, way) in self.at.iter_mut().zip(&mut self.way) {
            for k in 0..3 {
                at[k] += way[k];
                if at[k] < 0.0 || at[k] > self.side {
                    way[k] = -way[k];
                }
            }
        }
    }

    fn aabb(&self, k: usize) -> Aabb {
        let size = 0.7 + 0.6 * (k % 7) as f32 / 7.0;
        Aabb::new(self.at[k], self.at[k].map(|low| low + size))
    }

    fn aabbs(&self) -> Vec<Aabb> {
        (0..self.at.len()).map(|k| self.aabb(k)).collect()
    }
}

/// Steps `verlet` and `sort-sweep` over the same boxes.
struct Both {
    boxes: Boxes,
    verlet: Stepper,
    other: Stepper,
}

impl Both {
    fn new(workers: usize) -> Both {
        let workers = Workers::new(workers).unwrap();
        Both {
            boxes: Boxes::new(),
            verlet: Stepper::new(Algorithm::Verlet, &workers),
            other: Stepper::new(Algorithm::SortSweep, &Workers::one()),
        }
    }

    fn step(&mut self, what: &str) -> usize {
        let events = self.verlet.step(&self.boxes).unwrap();
        let (began, ended) = (events.began.to_vec(), events.ended.to_vec());
        let expected = self.other.step(&self.boxes).unwrap();
        assert_eq!(began, expected.began, "{what}");
        assert_eq!(ended, expected.ended, "{what}");
        self.verlet.validate(&self.boxes);
        self.boxes.commit();
        began.len() + ended.len()
    }

    fn count(&self, name: &str) -> f64 {
        self.verlet.stats().count(name).unwrap()
    }
}

#[test]
fn lists_follow_a_drifting_crowd_for_many_generations() {
    // More than one run of places with all boxes moving.
    for (workers, count) in [(1, 700), (2, 5000), (3, 700), (8, 5000)] {
        let side = (count as f32 / 0.35).cbrt();
        let mut crowd = Crowd::new(count, side, 0.02);
        let mut both = Both::new(workers);
        both.boxes.insert_all(&crowd.aabbs(), Filter::ALL).unwrap();
        let mut events = 0;
        for step in 0..60 {
            events += both.step(&format!("{workers} workers, step {step}"));
            crowd.advance();
            both.boxes.set_all(&crowd.aabbs()).unwrap();
        }
        assert!(both.count("lists") >= 3.0, "{:?}", both.verlet.stats());
        assert!(events > count / 2, "{events} events");
    }
}

#[test]
fn few_movers_are_read_one_by_one() {
    let mut crowd = Crowd::new(900, 13.0, 0.02);
    let mut both = Both::new(2);
    both.boxes.insert_all(&crowd.aabbs(), Filter::ALL).unwrap();
    for step in 0..80 {
        both.step(&format!("step {step}"));
        if step == 20 {
            assert!(both.count("candidates") > 0.0, "{:?}", both.verlet.stats());
            (0..900).filter(|k| k % 8 != 0).for_each(|k| crowd.way[k] = [0.0; 3]);
        }
        crowd.advance();
        both.boxes.set_all(&crowd.aabbs()).unwrap();
    }
    assert!(both.count("lists") >= 2.0, "{:?}", both.verlet.stats());
}

#[test]
fn boxes_that_leap_come_go_or_change_filters_are_loose_for_a_while() {
    for workers in [1, 3] {
        let mut crowd = Crowd::new(1500, 15.0, 0.01);
        let mut both = Both::new(workers);
        let filters: Vec<Filter> =
            (0..1500u32).map(|k| Filter::ALL.with_owner(k % 40).with_still(k % 9 == 0)).collect();
        let mut ids = both.boxes.insert_each(&crowd.aabbs(), &filters).unwrap();
        both.boxes
            .insert(Aabb::new([-1.0, f32::NEG_INFINITY, 2.0], [9.0; 3]), Filter::ALL)
            .unwrap();
        let mut most_loose = 0.0f64;
        for step in 0..90usize {
            both.step(&format!("{workers} workers, step {step}"));
            if both.verlet.stats().count("candidates") > Some(0.0) {
                most_loose = most_loose.max(both.count("loose"));
            }
            crowd.advance();
            let leaper = step * 7 % 1500;
            crowd.at[leaper] = [0; 3].map(|_| crowd.random() * 15.0);
            for (k, &id) in ids.iter().enumerate() {
                both.boxes.set(id, crowd.aabb(k)).unwrap();
            }
            let (gone, other) = (step * 31 % 1500, step * 13 % 1500);
            both.boxes.remove(ids[gone]).unwrap();
            if gone != other {
                both.boxes.set_filter(ids[other], Filter::groups(1, step as u32)).unwrap();
            }
            ids[gone] = both.boxes.insert(crowd.aabb(gone), filters[gone]).unwrap();
        }
        assert!(both.count("lists") >= 2.0, "{:?}", both.verlet.stats());
        assert!((3.0..=46.0).contains(&most_loose), "{most_loose}");
    }
}

#[test]
fn boxes_out_of_order_are_ordered_share_by_share() {
    let crowd = Crowd::new(1300, 15.0, 0.0);
    let mut both = Both::new(1);
    both.boxes.insert_all(&crowd.aabbs(), Filter::ALL).unwrap();
    both.step("all are new");
    for workers in [1, 2, 3, 8] {
        let workers = Workers::new(workers).unwrap();
        let mut builder = Builder::default();
        builder.next.slots.extend(0..1304u32);
        builder.begin(0.1, 1300);
        while builder.advance(&both.boxes, &workers) == Progress::Busy {}
        assert_eq!(builder.orders, 1);
        let mut lists = Lists::default();
        lists.activate(&mut builder.next, &both.boxes, &workers, usize::MAX).unwrap();
        lists.validate(&both.boxes);
        let parts = &lists.generation.parts[..lists.generation.used];
        let listed = parts.iter().flat_map(|part| part.scratch.states()).filter(|state| state.1);
        assert_eq!(listed.count(), both.verlet.pairs().len());
        assert!(lists.loose.slots.is_empty() && lists.generation.candidates() > 1000);
    }
}

#[test]
fn lists_are_given_up_when_everything_leaps_and_come_back() {
    let mut crowd = Crowd::new(600, 12.0, 0.01);
    let mut both = Both::new(2);
    both.boxes.insert_all(&crowd.aabbs(), Filter::ALL).unwrap();
    let mut listed = [false; 3];
    for step in 0..140 {
        both.step(&format!("step {step}"));
        let has = both.count("candidates") > 0.0;
        listed[usize::from(step > 30) + usize::from(step > 40)] |= has;
        assert!(step != 31 || !has, "a leap of all boxes is for the tree");
        crowd.advance();
        if step == 30 {
            (0..600).for_each(|k| crowd.at[k] = [0; 3].map(|_| crowd.random() * 12.0));
        }
        both.boxes.set_all(&crowd.aabbs()).unwrap();
    }
    assert!(listed[0] && listed[2], "{listed:?}");
}

#[test]
fn a_refused_step_changes_nothing_and_the_next_one_continues() {
    let mut crowd = Crowd::new(400, 8.0, 0.01);
    let mut both = Both::new(1);
    both.boxes.insert_all(&crowd.aabbs(), Filter::ALL).unwrap();
    for step in 0..60 {
        both.step(&format!("step {step}"));
        crowd.advance();
        both.boxes.set_all(&crowd.aabbs()).unwrap();
        if step % 17 == 16 {
            let pairs: Vec<Pair> = both.verlet.pairs().to_vec();
            both.verlet.set_pair_limit(10);
            both.verlet.step(&both.boxes).unwrap_err();
            assert_eq!(both.verlet.pairs(), pairs);
            both.verlet.set_pair_limit(PairBuffer::DEFAULT_LIMIT);
        }
    }
    assert!(both.count("lists") >= 1.0);
}
