//! A short history of few boxes with every algorithm, against a double loop: small enough for
//! Miri, which runs this file to look for undefined behaviour (`tools/miri.sh`).

use jostle::{Aabb, Algorithm, BoxId, Detector, Filter, Workers};

/// Small numbers that repeat, so that bounds often touch.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn aabb(&mut self) -> Aabb {
        let min = [0; 3].map(|_| self.below(12) as f32);
        let max = min.map(|low| low + self.below(4) as f32);
        Aabb::new(min, max)
    }
}

fn overlapping(world: &[(BoxId, Aabb)]) -> usize {
    let all = world.iter().enumerate();
    all.map(|(k, (_, a))| world[k + 1..].iter().filter(|(_, b)| a.overlaps(b)).count()).sum()
}

fn play(algorithm: Algorithm, workers: Workers) {
    let (boxes, steps) = if cfg!(miri) { (40, 4) } else { (200, 30) };
    let mut numbers = Numbers(7);
    let mut detector = Detector::with_workers(algorithm, workers);
    let mut world = Vec::new();
    let mut open = 0;
    for step in 0..steps {
        for _ in 0..if step == 0 { boxes } else { 5 } {
            let aabb = numbers.aabb();
            world.push((detector.boxes_mut().insert(aabb, Filter::ALL).unwrap(), aabb));
        }
        for _ in 0..5 {
            let place = numbers.below(world.len() as u64) as usize;
            detector.boxes_mut().remove(world.swap_remove(place).0).unwrap();
            let place = numbers.below(world.len() as u64) as usize;
            world[place].1 = numbers.aabb();
            detector.boxes_mut().set(world[place].0, world[place].1).unwrap();
        }
        let events = detector.step().unwrap();
        open = open + events.began.len() - events.ended.len();
        detector.validate();
        assert_eq!(detector.pairs().len(), overlapping(&world), "{algorithm}, step {step}");
        assert_eq!(open, detector.pairs().len(), "{algorithm}, step {step}: events");
    }
    assert!(open > boxes / 4, "the boxes hardly ever overlap");
}

#[test]
fn every_algorithm_finds_what_a_double_loop_finds() {
    for &algorithm in Algorithm::ALL {
        println!("{algorithm}"); // an interpreter takes minutes: see how far it is
        play(algorithm, Workers::one());
    }
}

#[test]
#[cfg_attr(miri, ignore = "threads use no unsafe code of this library")]
fn two_workers_do_too() {
    for &algorithm in Algorithm::ALL {
        play(algorithm, Workers::new(2).unwrap());
    }
}
