//! What the core itself costs, as ratios to the plainest way of doing the same.

use std::hint::black_box;
use std::io::Write;

use clap::Args;
use jostle::{Aabb, Boxes, Filter, Pair, PairBuffer, PairTracker, Report};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_scenes::Rng;

use crate::stopwatch::{Comparison, best, write_comparisons};

/// Times the tracker and the boxes against the plainest way to do the same
#[derive(Args, Debug)]
pub struct CoreArgs {
    /// Number of pairs for the tracker, and half of it boxes
    #[arg(long, value_parser = names::positive, default_value = "2m")]
    n: usize,
    /// Runs; the best one counts
    #[arg(long, value_parser = names::positive, default_value = "9")]
    repeats: usize,
}

/// Runs the subcommand.
pub fn run(args: &CoreArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = [tracker(args.n, args.repeats), set_all(args.n / 2, args.repeats)];
    write_comparisons(&rows, out)
}

/// The tracker on `count` stable pairs in scattered order, against two runs of `sort_unstable`.
pub fn tracker(count: usize, repeats: usize) -> Comparison {
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
    Comparison { name: "tracker, stable pairs / sort_unstable twice", ours, yardstick }
}

/// `Boxes::set_all` if nothing changed, against reading both lists of boxes.
pub fn set_all(count: usize, repeats: usize) -> Comparison {
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
    Comparison { name: "set_all, nothing changed / reading both lists", ours, yardstick }
}
