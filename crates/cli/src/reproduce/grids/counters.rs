//! Figures 4.9, 4.10 and 4.12: counters that share cache lines, are padded apart, or are aligned.

use std::sync::atomic::{AtomicU32, Ordering};

use jostle::available_threads;
use jostle_scenes::Sorted;

use super::super::{Bound, Claim, Figure, Lab};
use super::schedules::alternating_rows;
use super::{CORES, milliseconds_of, threads};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Bars, Chart};
use crate::support::text::grouped;

/// A counter of one worker among those of the others.
trait Counter: Sync + Default {
    fn cell(&self) -> &AtomicU32;
}

/// Side by side.
#[derive(Default)]
struct Packed(AtomicU32);

/// 64 bytes apart, beginning wherever the allocator puts them.
#[repr(C)]
struct Padded(AtomicU32, [u32; 15]);

impl Default for Padded {
    fn default() -> Padded {
        Padded(AtomicU32::new(0), [0; 15])
    }
}

/// Each on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Aligned(AtomicU32);

impl Counter for Packed {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

impl Counter for Padded {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

impl Counter for Aligned {
    fn cell(&self) -> &AtomicU32 {
        &self.0
    }
}

/// Counts every pair of `objects` once, each worker in its own counter; in milliseconds.
fn count_pairs<C: Counter>(objects: usize, workers: usize) -> f64 {
    let counters: Vec<C> = (0..workers).map(|_| C::default()).collect();
    let time = milliseconds_of(|| {
        std::thread::scope(|scope| {
            for (worker, counter) in counters.iter().enumerate() {
                scope.spawn(move || {
                    for row in alternating_rows(worker, workers, objects) {
                        for _ in row + 1..objects {
                            // A plain increment in memory, as the paper's: not an atomic one.
                            let count = counter.cell().load(Ordering::Relaxed);
                            counter.cell().store(count + 1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    });
    let sum: usize = counters.iter().map(|c| c.cell().load(Ordering::Relaxed) as usize).sum();
    assert_eq!(sum, objects * (objects - 1) / 2, "every pair is counted once");
    time
}

/// Counts in each kind of counter.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // Fewer, and starting the threads takes longer than the counting.
    let objects = 10_000;
    let workers = threads();
    let variants: [(&str, usize, fn(usize, usize) -> f64); 4] = [
        ("one thread", 1, count_pairs::<Packed>),
        ("packed", workers, count_pairs::<Packed>),
        ("padded", workers, count_pairs::<Padded>),
        ("aligned", workers, count_pairs::<Aligned>),
    ];
    let mut times = vec![Vec::new(); variants.len()];
    for _ in 0..lab.pick(5, 15) {
        for (list, (_, workers, count)) in times.iter_mut().zip(&variants) {
            list.push(count(objects, *workers));
        }
        lab.check_stop()?;
    }
    let sorted: Vec<Sorted> = times.iter().map(|list| Sorted::new(list.iter().copied())).collect();
    let least: Vec<f64> = sorted.iter().map(Sorted::least).collect();
    let rows: Vec<Vec<String>> = (0..variants.len())
        .map(|k| {
            let (name, workers, _) = variants[k];
            vec![
                name.into(),
                workers.to_string(),
                objects.to_string(),
                format!("{:.3}", least[k]),
                format!("{:.3}", sorted[k].median()),
            ]
        })
        .collect();
    lab.csv("counters", &["counters", "threads", "objects", "min_ms", "median_ms"], &rows)?;
    let bars = variants.iter().zip(&least).map(|((name, ..), &time)| ((*name).to_owned(), time));
    lab.plot(
        "counters",
        &[Chart::Bars(Bars {
            title: format!(
                "Counting the pairs of {} objects on {workers} threads",
                grouped(objects as u64)
            ),
            note: "shortest of several runs, interleaved".into(),
            axis: Axis::linear("milliseconds"),
            bars: bars.collect(),
        })],
    )?;
    Ok(counter_claims(&times, workers))
}

/// The lists are times of one thread, and of several with packed, padded and aligned counters.
fn counter_claims(times: &[Vec<f64>], workers: usize) -> Vec<Claim> {
    let by_one = |k: usize| Figure::ratio(&times[k], &times[0]);
    let claim = |statement: &str, paper: &str| {
        let claim = Claim::new(statement, paper).show(format!("{workers} threads"));
        claim.needs_cores(CORES, available_threads())
    };
    let what = "time by that of one thread";
    vec![
        claim(
            "Counters on one cache line make several threads slower than one",
            "4906 ms on four cores, 1188 ms on one: 4.1 times (figure 4.9)",
        )
        .require(what, by_one(1), Bound::at_least(1.0))
        .remark("cores pass one line back and forth; milder where cores share a cache"),
        claim(
            "Padding alone helps, but not enough",
            "1797 ms with padding, 1188 ms on one core: 1.5 times (figure 4.10)",
        )
        .require("time by that of packed counters", padded(times), Bound::at_most(1.0))
        .require(what, by_one(2), Bound::at_least(1.0))
        .remark(
            "four bytes never straddle two lines, so counters 64 bytes apart never share one; \
             what is left is what else lies on their lines",
        ),
        claim(
            "Aligned counters let threads count independently",
            "312 ms on four cores, 1188 ms on one: 0.26 times (figure 4.12)",
        )
        .require(what, by_one(3), Bound::at_most(1.2 / CORES as f64))
        .remark("lanes of pairs are aligned to 128 bytes for this reason"),
    ]
}

fn padded(times: &[Vec<f64>]) -> Figure {
    Figure::ratio(&times[2], &times[1])
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn counters_are_judged_on_both_sides() {
        let verdicts = |packed: f64, padded: f64, aligned: f64| {
            let times = [1.0, packed, padded, aligned].map(|time| vec![time; 5]);
            counter_claims(&times, 4).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(4.1, 1.5, 0.26), [Holds, Holds, Holds]);
        assert_eq!(verdicts(0.9, 0.8, 0.5), [Fails, Fails, Fails]);
        assert_eq!(verdicts(4.1, 4.5, 0.26)[1], Fails, "padding that does not help");
    }
}
