//! `core_costs`: what the tracker and the boxes cost, as ratios in one run.

#![forbid(unsafe_code)]

use jostle_bench::core_costs::{set_all, tracker};

fn main() {
    println!("{:<52}{:>10}{:>12}{:>8}", "", "ours, ms", "theirs, ms", "ratio");
    for cost in [tracker(2_000_000, 9), set_all(1_000_000, 9)] {
        let ratio = cost.ours / cost.yardstick;
        println!("{:<52}{:>10.2}{:>12.2}{:>8.2}", cost.name, cost.ours, cost.yardstick, ratio);
    }
}
