//! Figure 4.13: detection and response of 10 000 objects, 50 million tests, by one processor and by
//! several: with a lock on each object, and with a buffer for each processor (algorithms 15 and
//! 16) that is merged at the end.
//!
//! The chapter leaves open what objects and responses are. Here an object is a ball, a response is
//! the way out of an overlap, and an object sums up its responses. Sums of the versions differ in
//! the order of their terms only, which is checked.

use std::sync::Mutex;

use jostle::available_threads;
use jostle::glam::Vec3;
use jostle_scenes::{Rng, median};

use super::super::{Bound, Claim, Figure, Lab};
use super::schedules::alternating_rows;
use super::{CORES, milliseconds_of, threads};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Bars, Chart};
use crate::support::text::grouped;

/// The chapter's speed-up.
const SPEED_UP: f64 = 4968.0 / 1391.0;

/// A ball.
#[derive(Clone, Copy, Debug)]
struct Ball {
    center: Vec3,
    radius: f32,
}

impl Ball {
    /// The way that this ball has to go to leave the other; none if they are apart.
    #[inline]
    fn response(&self, other: &Ball) -> Option<Vec3> {
        let (way, reach) = (self.center - other.center, self.radius + other.radius);
        let square = way.length_squared();
        (square < reach * reach && square > 0.0).then(|| {
            let length = square.sqrt();
            way * ((reach - length) / length)
        })
    }
}

/// A response on a cache line of its own (figure 4.13's memory alignment).
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Aligned(Vec3);

/// A response next to those of the other processors.
#[derive(Clone, Copy, Debug, Default)]
struct Packed(Vec3);

/// One processor's response of one object.
trait Buffer: Copy + Default + Send + Sync {
    fn add(&mut self, way: Vec3);
    fn sum(&self) -> Vec3;
}

impl Buffer for Aligned {
    fn add(&mut self, way: Vec3) {
        self.0 += way;
    }

    fn sum(&self) -> Vec3 {
        self.0
    }
}

impl Buffer for Packed {
    fn add(&mut self, way: Vec3) {
        self.0 += way;
    }

    fn sum(&self) -> Vec3 {
        self.0
    }
}

/// Balls of which each overlaps a few others.
fn balls(count: usize) -> Vec<Ball> {
    let mut rng = Rng::new(4);
    let side = (count as f32).cbrt() * 1.6;
    let mut unit = || rng.below(1 << 20) as f32 / (1 << 20) as f32;
    (0..count)
        .map(|_| {
            let center = Vec3::new(unit(), unit(), unit()) * side;
            Ball { center, radius: 0.5 + 0.5 * unit() }
        })
        .collect()
}

/// Algorithm 12: one processor, responses where the objects are.
fn alone(balls: &[Ball]) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; balls.len()];
    for row in 0..balls.len().saturating_sub(1) {
        for other in row + 1..balls.len() {
            if let Some(way) = balls[row].response(&balls[other]) {
                sums[row] += way;
                sums[other] -= way;
            }
        }
    }
    sums
}

/// Algorithm 14 with a lock on each object.
fn with_locks(balls: &[Ball], workers: usize) -> Vec<Vec3> {
    let sums: Vec<Mutex<Vec3>> = balls.iter().map(|_| Mutex::new(Vec3::ZERO)).collect();
    let add = |object: usize, way: Vec3| {
        // Nobody panics while holding it.
        let mut sum = sums[object].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *sum += way;
    };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let add = &add;
            scope.spawn(move || {
                for row in alternating_rows(worker, workers, balls.len()) {
                    for other in row + 1..balls.len() {
                        if let Some(way) = balls[row].response(&balls[other]) {
                            add(row, way);
                            add(other, -way);
                        }
                    }
                }
            });
        }
    });
    let take = |sum: Mutex<Vec3>| sum.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    sums.into_iter().map(take).collect()
}

/// Algorithms 15 and 16: each processor has a response of each object, merged after all are done,
/// a share of the objects by each processor. The chapter keeps the buffers with the object; safe
/// Rust keeps them with the processor, which also keeps them apart.
fn with_buffers<B: Buffer>(balls: &[Ball], workers: usize) -> Vec<Vec3> {
    let mut buffers: Vec<Vec<B>> = vec![vec![B::default(); balls.len()]; workers];
    std::thread::scope(|scope| {
        for (worker, buffer) in buffers.iter_mut().enumerate() {
            scope.spawn(move || {
                for row in alternating_rows(worker, workers, balls.len()) {
                    for other in row + 1..balls.len() {
                        if let Some(way) = balls[row].response(&balls[other]) {
                            buffer[row].add(way);
                            buffer[other].add(-way);
                        }
                    }
                }
            });
        }
    });
    let mut sums = vec![Vec3::ZERO; balls.len()];
    let share = balls.len().div_ceil(workers).max(1);
    std::thread::scope(|scope| {
        for (part, sums) in sums.chunks_mut(share).enumerate() {
            let buffers = &buffers;
            scope.spawn(move || {
                for (at, sum) in sums.iter_mut().enumerate() {
                    *sum = buffers.iter().map(|buffer| buffer[part * share + at].sum()).sum();
                }
            });
        }
    });
    sums
}

/// The versions, in the order of the table.
const NAMES: [&str; 4] = ["one core", "a lock on each object", "buffers", "aligned buffers"];

/// Figure 4.13.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    // Fifty million tests, as in the chapter, even in a quick run.
    let balls = balls(10_000);
    let workers = threads();
    let versions: [&dyn Fn() -> Vec<Vec3>; 4] = [
        &|| alone(&balls),
        &|| with_locks(&balls, workers),
        &|| with_buffers::<Packed>(&balls, workers),
        &|| with_buffers::<Aligned>(&balls, workers),
    ];
    let mut times = vec![Vec::new(); versions.len()];
    let mut truth: Vec<Vec3> = Vec::new();
    for _ in 0..lab.pick(3, 61) {
        for (version, times) in versions.iter().zip(&mut times) {
            lab.check_stop()?;
            let mut sums = Vec::new();
            times.push(milliseconds_of(|| sums = version()));
            if truth.is_empty() {
                truth = sums;
            } else if !same(&truth, &sums) {
                return Err(Failure::Check("the versions sum up different responses".into()));
            }
        }
    }
    write(lab, &times, workers, balls.len())?;
    Ok(claims(&times, workers, balls.len(), percent_of_responses(&balls)))
}

/// How many of a hundred tests have a response.
fn percent_of_responses(balls: &[Ball]) -> f64 {
    let of = |(row, ball): (usize, &Ball)| {
        let others = balls[row + 1..].iter();
        others.filter(|other| ball.response(other).is_some()).count()
    };
    let responses: usize = balls.iter().enumerate().map(of).sum();
    100.0 * responses as f64 / (balls.len() * (balls.len() - 1) / 2) as f64
}

/// Returns true if sums differ by no more than the order of their terms explains.
fn same(one: &[Vec3], other: &[Vec3]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.distance(*b) < 1e-3)
}

fn write(lab: &mut Lab, times: &[Vec<f64>], workers: usize, n: usize) -> Result<(), Failure> {
    let medians: Vec<f64> = times.iter().map(|list| median(list.iter().copied())).collect();
    let tests = n * (n - 1) / 2;
    let rows: Vec<Vec<String>> = (0..NAMES.len())
        .map(|k| {
            let threads = if k == 0 { 1 } else { workers };
            let time = format!("{:.3}", medians[k]);
            vec![NAMES[k].into(), threads.to_string(), tests.to_string(), time]
        })
        .collect();
    lab.csv("response", &["version", "threads", "tests", "median_ms"], &rows)?;
    let bars = NAMES.iter().zip(&medians).map(|(name, &time)| ((*name).to_owned(), time));
    lab.plot(
        "response",
        &[Chart::Bars(Bars {
            title: format!("Detection and response of {} objects", grouped(n as u64)),
            note: format!("{} tests, {workers} threads but for the first", grouped(tests as u64)),
            axis: Axis::linear("milliseconds"),
            bars: bars.collect(),
        })],
    )
}

fn claims(times: &[Vec<f64>], workers: usize, n: usize, percent: f64) -> Vec<Claim> {
    let few = ("percent of the tests with a response", Figure::counted(percent));
    let at = format!("{n} objects, {workers} threads");
    let four = |claim: Claim| claim.at(at.clone()).needs_cores(CORES, available_threads());
    vec![
        four(
            Claim::new(
                "Detection and response by buffers share out well",
                "4968 ms on one core, 1391 ms on four: 3.57 times (figure 4.13)",
            )
            .require(
                "times as fast with four threads",
                Figure::ratio(&times[0], &times[3]),
                Bound::at_least(0.9 * SPEED_UP).better_from(1.05 * SPEED_UP),
            ),
        ),
        Claim::new(
            "Buffers for each processor need less time than a lock on each object",
            "argued (section 4.2 (c), algorithms 15 and 16); no figure",
        )
        .require(
            "time with locks by that with aligned buffers",
            Figure::ratio(&times[1], &times[3]),
            Bound::at_least(1.0),
        )
        .at(at.clone())
        .because(
            "so few of the tests have a response that either way costs little",
            few.0,
            few.1,
            Bound::at_most(1.0),
        ),
        Claim::new(
            "Buffers have to be aligned to cache lines",
            "with memory alignment on results (figure 4.13)",
        )
        .require(
            "time of packed buffers by that of aligned ones",
            Figure::ratio(&times[2], &times[3]),
            Bound::at_least(1.0),
        )
        .at(at)
        .because(
            "few of the tests write to a buffer, and no two processors to one line, because each \
             has its buffers together",
            few.0,
            few.1,
            Bound::at_most(1.0),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Better, Fails, Holds};
    use super::*;

    #[test]
    fn responses_are_judged_on_both_sides() {
        let verdicts = |locks: f64, packed: f64, aligned: f64| {
            let times = [3.6, locks, packed, aligned].map(|time| vec![time; 5]);
            claims(&times, 4, 9, 0.1).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(1.1, 1.1, 1.0), [Holds, Holds, Holds]);
        assert_eq!(verdicts(1.5, 1.5, 1.6), [Fails, Fails, Fails]);
        assert_eq!(verdicts(1.5, 1.5, 0.9)[0], Better);
    }

    #[test]
    fn all_versions_sum_up_the_same() {
        let balls = balls(500);
        let truth = alone(&balls);
        assert!(truth.iter().filter(|sum| **sum != Vec3::ZERO).count() > 100);
        for workers in [1, 2, 3, 8] {
            assert!(same(&truth, &with_locks(&balls, workers)));
            assert!(same(&truth, &with_buffers::<Packed>(&balls, workers)));
            assert!(same(&truth, &with_buffers::<Aligned>(&balls, workers)));
        }
        assert!(with_locks(&[], 2).is_empty() && with_buffers::<Packed>(&[], 2).is_empty());
    }
}
