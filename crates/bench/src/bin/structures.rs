//! `structures`: the bit tree and the radix sort beside the standard library, in one run.

#![forbid(unsafe_code)]

use jostle_bench::structures::{coherent_sort, radix_sort, succ_tree};

fn main() {
    println!("{:<52}{:>10}{:>12}{:>8}", "", "ours, ms", "theirs, ms", "ratio");
    let count = 1_000_000;
    for cost in [succ_tree(count, 5), radix_sort(count, 5), coherent_sort(count, 5)] {
        let ratio = cost.ours / cost.yardstick;
        println!("{:<52}{:>10.2}{:>12.2}{:>8.2}", cost.name, cost.ours, cost.yardstick, ratio);
    }
}
