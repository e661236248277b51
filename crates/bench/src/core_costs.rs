//! What the core itself costs, as ratios to the plainest way of doing the same.

use std::hint::black_box;
use std::time::Instant;

use jostle::{Aabb, Boxes, Filter, Pair, PairBuffer, PairTracker, Report};
use jostle_scenes::Rng;

/// One comparison: a name, our time and the yardstick's, in milliseconds, best of several.
#[derive(Clone, Debug)]
pub struct Cost {
    /// What is compared with what.
    pub name: &'static str,
    /// Our time.
    pub ours: f64,
    /// The yardstick's time.
    pub yardstick: f64,
}

/// The best time of several in milliseconds; `prepare` is not timed.
pub(crate) fn best<T>(
    repeats: usize,
    mut prepare: impl FnMut() -> T,
    mut work: impl FnMut(T),
) -> f64 {
    let time = |_| {
        let input = prepare();
        let start = Instant::now();
        work(input);
        1e3 * start.elapsed().as_secs_f64()
    };
    (0..repeats).map(time).fold(f64::INFINITY, f64::min)
}

/// The tracker on `count` stable pairs in scattered order, against two runs of `sort_unstable`.
pub fn tracker(count: usize, repeats: usize) -> Cost {
    let slots = count / 2 + 2;
    let mut rng = Rng::new(11);
    let mut found = PairBuffer::with_limit(count);
    let mut keys: Vec<u64> = (0..count)
        .map(|_| {
            let a = rng.below(slots - 1) as u32;
            let b = a + 1 + rng.below(slots - 1 - a as usize) as u32;
            Pair::from((a, b)).key()
        })
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for place in (1..keys.len()).rev() {
        keys.swap(place, rng.below(place + 1));
    }
    for &key in &keys {
        let pair = Pair::from_key(key);
        found.lane().push(pair.a().get(), pair.b().get()).expect("the limit is high enough");
    }
    let mut tracker = PairTracker::new();
    tracker.apply(Report::Full, &found, slots);
    let ours = best(repeats, || (), |()| tracker.apply(Report::Full, &found, slots));
    let yardstick = best(
        repeats,
        || [keys.clone(), keys.clone()],
        |two| {
            for mut keys in two {
                keys.sort_unstable();
                black_box(&keys);
            }
        },
    );
    Cost { name: "tracker, stable pairs / sort_unstable twice", ours, yardstick }
}

/// `Boxes::set_all` where nothing changed, against reading both lists of boxes.
pub fn set_all(count: usize, repeats: usize) -> Cost {
    let mut rng = Rng::new(12);
    let aabbs: Vec<Aabb> = (0..count)
        .map(|_| {
            let at = [rng.unit(), rng.unit(), rng.unit()];
            Aabb::new(at, at.map(|bound| bound + 0.01))
        })
        .collect();
    let mut boxes = Boxes::new();
    boxes.insert_all(&aabbs, Filter::ALL).expect("the boxes are good");
    boxes.commit();
    let copy = aabbs.clone();
    let ours = best(repeats, || (), |()| boxes.set_all(&aabbs).expect("the boxes are good"));
    assert!(boxes.changes().is_empty());
    let sum = |list: &[Aabb]| {
        let mut sums = [0.0f32; 6];
        for aabb in list {
            for k in 0..3 {
                sums[k] += aabb.min[k];
                sums[k + 3] += aabb.max[k];
            }
        }
        sums
    };
    let yardstick = best(
        repeats,
        || (),
        |()| {
            black_box((sum(black_box(&copy)), sum(black_box(&aabbs))));
        },
    );
    Cost { name: "set_all, nothing changed / reading both lists", ours, yardstick }
}
