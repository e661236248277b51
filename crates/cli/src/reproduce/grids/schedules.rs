//! Figures 4.5 to 4.7: the triangle of tests shared out in blocks (algorithm 13), back and forth
//! (algorithm 14), and by stealing.

use std::sync::atomic::{AtomicU64, Ordering};

use jostle::{Aabb, Boxes, Workers, available_threads};
use jostle_scenes::{SceneSpec, median};

use super::super::{Bound, Claim, Figure, Lab};
use super::{milliseconds_of, threads};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Bars, Chart};
use crate::support::text::grouped;

/// The rows of the triangle of tests that the paper gives to a worker (algorithm 14).
pub(super) fn alternating_rows(
    worker: usize,
    workers: usize,
    objects: usize,
) -> impl Iterator<Item = usize> {
    let next = move |row: usize| row + 2 * workers - 1 - 2 * (row % workers);
    std::iter::successors(Some(worker), move |&row| Some(next(row)))
        .take_while(move |&row| row + 1 < objects)
}

/// The rows of the plain division into blocks (algorithm 13).
pub(super) fn block(worker: usize, workers: usize, objects: usize) -> std::ops::Range<usize> {
    let length = objects / workers;
    let end = if worker + 1 == workers { objects } else { (worker + 1) * length };
    worker * length..end
}

fn tests_of(rows: impl Iterator<Item = usize>, objects: usize) -> usize {
    rows.map(|row| objects - 1 - row).sum()
}

/// Tests per worker, by the paper's schedule and by blocks.
fn shares(workers: usize, objects: usize) -> [Vec<usize>; 2] {
    let alternating =
        (0..workers).map(|w| tests_of(alternating_rows(w, workers, objects), objects));
    let blocks = (0..workers).map(|w| tests_of(block(w, workers, objects), objects));
    [alternating.collect(), blocks.collect()]
}

/// The largest share over the mean one: how much longer than needed the slowest worker takes.
fn imbalance(shares: &[usize]) -> f64 {
    let most = shares.iter().max().copied().unwrap_or(0) as f64;
    most * shares.len() as f64 / shares.iter().sum::<usize>().max(1) as f64
}

/// Shares by counting, and times.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let [example, blocks] = shares(3, 9);
    let objects = lab.pick(6000, 10_000);
    let mut rows = Vec::new();
    let mut worst: f64 = 1.0;
    for workers in [2, 3, 4, 8, 16] {
        let [alternating, blocks] = shares(workers, objects);
        worst = worst.max(imbalance(&alternating));
        for (name, list) in [("alternating", &alternating), ("blocks", &blocks)] {
            let list: Vec<String> = list.iter().map(usize::to_string).collect();
            let ratio = imbalance(if name == "blocks" { &blocks } else { &alternating });
            rows.push(vec![
                name.into(),
                workers.to_string(),
                objects.to_string(),
                list.join(" "),
                format!("{ratio:.4}"),
            ]);
        }
    }
    lab.csv(
        "shares",
        &["schedule", "workers", "objects", "tests_per_worker", "largest_over_mean"],
        &rows,
    )?;
    let times = race_of_schedules(lab, objects)?;
    let time = |name: &str| -> &[f64] {
        times.iter().find(|(one, _)| one == name).map_or(&[], |(_, list)| list)
    };
    let times = [time("blocks"), time("alternating"), time("stealing")];
    Ok(vec![
        example_claim(&example, &blocks),
        evenness_claim(worst).at(format!("{objects} objects, 2 to 16 workers")),
        stealing_claim(times)
            .at(format!("{objects} boxes on {} threads", threads()))
            .needs_cores(threads(), available_threads()),
    ])
}

fn example_claim(example: &[usize], blocks: &[usize]) -> Claim {
    let [even, uneven] = [example, blocks].map(slashes);
    Claim::new(
        "Giving out rows back and forth balances nine objects on three processors",
        "13/12/11 tests against 21/12/3 by blocks (figures 4.6, 4.7)",
    )
    .require_true("the same shares as in the paper", {
        example == [13, 12, 11] && blocks == [21, 12, 3]
    })
    .show(format!("{even} against {uneven}"))
    .remark("counted, not timed")
}

fn evenness_claim(worst: f64) -> Claim {
    Claim::new(
        "Every processor gets very nearly the same amount of work",
        "12481257 of 49925028 tests on each of four (figure 4.9)",
    )
    .require("largest share by the mean", Figure::counted(worst), Bound::at_most(1.01))
    .remark("counted")
}

/// From the times of blocks, back and forth, and stealing.
fn stealing_claim([blocks, alternating, stealing]: [&[f64]; 3]) -> Claim {
    let by_blocks = Figure::ratio(blocks, alternating);
    Claim::new("Such a schedule needs no work stealing", "no figure: the paper does not compare")
        .require(
            "alternating time by that of stealing",
            Figure::ratio(alternating, stealing),
            Bound::at_most(1.1),
        )
        .show(format!("blocks take {by_blocks} of the alternating time"))
        .remark(
            "true while every row costs what its length says; cells of unlike crowding do not, so \
             the library steals",
        )
}

fn slashes(list: &[usize]) -> String {
    list.iter().map(usize::to_string).collect::<Vec<_>>().join("/")
}

/// Tests all pairs of a scene's boxes with each schedule: milliseconds of each round.
fn race_of_schedules(lab: &mut Lab, objects: usize) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let workers = threads();
    let pool = Workers::new(workers)?;
    let mut boxes = Boxes::new();
    Feed::unfiltered(&SceneSpec::new("uniform", objects, 1).param("density", 0.35), 1)?
        .advance(&mut boxes)?;
    let aabbs = boxes.aabbs();
    let mut times: Vec<(String, Vec<f64>)> =
        ["blocks", "alternating", "stealing"].map(|name| (name.to_owned(), Vec::new())).into();
    let mut hits = [0; 3];
    for _ in 0..lab.pick(7, 101) {
        let found = AtomicU64::new(0);
        let row = |row: usize| hits_in_row(aabbs, row);
        let blocks = milliseconds_of(|| {
            pool.run(workers, |w| add(&found, block(w, workers, objects).map(row).sum()));
        });
        let after_blocks = found.swap(0, Ordering::Relaxed);
        let alternating = milliseconds_of(|| {
            pool.run(workers, |w| {
                add(&found, alternating_rows(w, workers, objects).map(row).sum())
            });
        });
        let after_alternating = found.swap(0, Ordering::Relaxed);
        let stealing = milliseconds_of(|| {
            let tasks = objects.div_ceil(64);
            pool.run(tasks, |t| add(&found, (64 * t..(64 * t + 64).min(objects)).map(row).sum()));
        });
        for (list, time) in times.iter_mut().zip([blocks, alternating, stealing]) {
            list.1.push(time);
        }
        hits = [after_blocks, after_alternating, found.into_inner()];
        lab.check_stop()?;
    }
    if hits[0] != hits[1] || hits[0] != hits[2] {
        return Err(Failure::Check(format!(
            "the schedules find different numbers of pairs: {hits:?}"
        )));
    }
    let medians: Vec<(String, f64)> =
        times.iter().map(|(name, list)| (name.clone(), median(list.iter().copied()))).collect();
    let rows: Vec<Vec<String>> = medians
        .iter()
        .map(|(name, time)| vec![name.clone(), workers.to_string(), format!("{time:.3}")])
        .collect();
    lab.csv("schedules", &["schedule", "threads", "median_ms"], &rows)?;
    lab.plot(
        "schedules",
        &[Chart::Bars(Bars {
            title: format!(
                "Testing all pairs of {} boxes on {workers} threads",
                grouped(objects as u64)
            ),
            note: "median of several runs, interleaved".into(),
            axis: Axis::linear("milliseconds"),
            bars: medians,
        })],
    )?;
    Ok(times)
}

fn add(sum: &AtomicU64, hits: u64) {
    sum.fetch_add(hits, Ordering::Relaxed);
}

fn hits_in_row(aabbs: &[Aabb], row: usize) -> u64 {
    aabbs[row + 1..].iter().map(|other| u64::from(aabbs[row].overlaps(other))).sum()
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn schedules_are_judged_on_both_sides() {
        assert_eq!(example_claim(&[13, 12, 11], &[21, 12, 3]).judged(), Holds);
        assert_eq!(example_claim(&[13, 12, 10], &[21, 12, 3]).judged(), Fails);
        let [example, blocks] = shares(3, 9);
        assert_eq!(example_claim(&example, &blocks).judged(), Holds);
        assert_eq!(evenness_claim(1.005).judged(), Holds);
        assert_eq!(evenness_claim(1.02).judged(), Fails);
        let stealing = |time: f64| stealing_claim([&[2.0; 5], &[time; 5], &[1.0; 5]]).judged();
        assert_eq!((stealing(1.05), stealing(1.2)), (Holds, Fails));
    }

    #[test]
    fn every_row_is_dealt_once_whatever_the_numbers() {
        for workers in 1..9 {
            for objects in [1, 2, 9, 10, 64, 101] {
                for schedule in [0, 1] {
                    let mut rows: Vec<usize> = (0..workers)
                        .flat_map(|worker| match schedule {
                            0 => alternating_rows(worker, workers, objects).collect::<Vec<_>>(),
                            _ => block(worker, workers, objects).collect(),
                        })
                        .filter(|row| row + 1 < objects)
                        .collect();
                    rows.sort_unstable();
                    assert!(rows.iter().copied().eq(0..objects - 1), "{workers} {objects}");
                }
            }
        }
    }
}
