//! What the structures under the algorithms cost, against the standard library's.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::Write;

use clap::Args;
use jostle::Workers;
use jostle::ds::radix_sort::{CoherentSort, SortScratch, sort_indices};
use jostle::ds::succ_tree::SuccTree;
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_scenes::Rng;

use crate::stopwatch::{Comparison, best, write_comparisons};

/// Times the bit tree and the radix sort against the standard library
#[derive(Args, Debug)]
pub struct StructuresArgs {
    /// Number of values
    #[arg(long, value_parser = names::positive, default_value = "1m")]
    n: usize,
    /// Runs; the best one counts
    #[arg(long, value_parser = names::positive, default_value = "5")]
    repeats: usize,
}

/// Runs the subcommand.
pub fn run(args: &StructuresArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = [succ_tree, radix_sort, coherent_sort].map(|measure| measure(args.n, args.repeats));
    write_comparisons(&rows, out)
}

/// A sweep over `count` values with some hundred open at once: each is inserted, the next ones
/// in a range are asked for, and it is removed again. Against a `BTreeSet`.
pub fn succ_tree(count: usize, repeats: usize) -> Comparison {
    let mut rng = Rng::new(21);
    let values: Vec<u32> = (0..count).map(|_| rng.below(count) as u32).collect();
    let (open, reach) = (count.min(500), (count / 70).max(1) as u32);
    let ours = best(
        repeats,
        || SuccTree::new(count),
        |mut tree| {
            let mut sum = 0u64;
            for (place, &value) in values.iter().enumerate() {
                tree.insert(value);
                sum += tree.range(value..value + reach).map(u64::from).sum::<u64>();
                tree.remove(values[place.saturating_sub(open)]);
            }
            black_box(sum);
        },
    );
    let yardstick = best(repeats, BTreeSet::new, |mut set| {
        let mut sum = 0u64;
        for (place, &value) in values.iter().enumerate() {
            set.insert(value);
            sum += set.range(value..value + reach).map(|&next| u64::from(next)).sum::<u64>();
            set.remove(&values[place.saturating_sub(open)]);
        }
        black_box(sum);
    });
    Comparison { name: "succ_tree, sweep with ranges / BTreeSet", ours, yardstick }
}

fn keys(count: usize) -> Vec<f32> {
    let mut rng = Rng::new(22);
    (0..count).map(|_| rng.unit()).collect()
}

/// Indices of float keys by radix sort, against `sort_unstable` of (key, index) couples.
pub fn radix_sort(count: usize, repeats: usize) -> Comparison {
    let keys = keys(count);
    let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
    let ours = best(repeats, || (), |()| sort_indices(&keys, &mut order, &mut scratch));
    Comparison {
        name: "radix_sort, indices / sort_unstable",
        ours,
        yardstick: standard(&keys, repeats),
    }
}

/// The same in partitions whose boundaries are reused, on one thread.
pub fn coherent_sort(count: usize, repeats: usize) -> Comparison {
    let keys = keys(count);
    let (mut order, mut scratch) = (Vec::new(), SortScratch::default());
    let (mut sort, workers) = (CoherentSort::default(), Workers::one());
    let mut run = || {
        let key = |index: usize| keys[index];
        sort.sort_indices(count, key, 64, &workers, &mut scratch, &mut order);
    };
    run();
    let ours = best(repeats, || (), |()| run());
    let yardstick = standard(&keys, repeats);
    Comparison { name: "radix_sort, 64 partitions / sort_unstable", ours, yardstick }
}

fn standard(keys: &[f32], repeats: usize) -> f64 {
    let couples: Vec<(u32, u32)> =
        keys.iter().zip(0..).map(|(key, index)| (key.to_bits(), index)).collect();
    best(
        repeats,
        || couples.clone(),
        |mut couples| {
            couples.sort_unstable();
            black_box(&couples);
        },
    )
}
