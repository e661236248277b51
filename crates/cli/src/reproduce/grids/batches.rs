//! Algorithm 11: threads take batches of pairs from a common list in a critical section, and test
//! them; against equal shares from the start.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Pose, Shape};
use jostle::{Boxes, Pair};
use jostle_scenes::{SceneSpec, median};
use std::sync::Arc;

use super::super::{Bound, Claim, Figure, Lab, pipeline};
use super::{milliseconds_of, threads};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// The shapes, and the pairs whose boxes overlap.
struct Work {
    shape: Shape,
    poses: Vec<Pose>,
    pairs: Vec<Pair>,
}

impl Work {
    fn new(n: usize) -> Result<Work, Failure> {
        let spec = SceneSpec::new("uniform", n, 1).param("density", 0.3).param("spread", 0.0);
        let mut boxes = Boxes::new();
        Feed::unfiltered(&spec, 1)?.advance(&mut boxes)?;
        let radius = f64::from(boxes.aabbs()[0].extent(0)) / 2.0;
        let hull = Hull::icosphere(radius, 1).map_err(Failure::input)?;
        Ok(Work {
            shape: Shape::Hull(Arc::new(hull)),
            poses: boxes.aabbs().iter().map(pipeline::center).collect(),
            pairs: jostle::overlaps(boxes.aabbs())?,
        })
    }

    /// The detailed test of some pairs; how many touch.
    fn test(&self, pairs: &[Pair]) -> u64 {
        let placed = |slot: usize| Placed::new(&self.shape, self.poses[slot]);
        let touch = |pair: &Pair| {
            let (a, b) = (placed(pair.a().index()), placed(pair.b().index()));
            u64::from(black_box(narrow::intersects(&a, &b)).hit)
        };
        pairs.iter().map(touch).sum()
    }

    /// Algorithm 11 with batches of this many.
    fn by_batches(&self, workers: usize, batch: usize) -> u64 {
        let (next, touching) = (Mutex::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut buffer: Vec<Pair> = Vec::with_capacity(batch);
                    loop {
                        {
                            // Nobody panics while holding it.
                            let mut next = next.lock().unwrap_or_else(|e| e.into_inner());
                            let end = (*next + batch).min(self.pairs.len());
                            buffer.clear();
                            buffer.extend_from_slice(&self.pairs[*next..end]);
                            *next = end;
                        }
                        if buffer.is_empty() {
                            break;
                        }
                        touching.fetch_add(self.test(&buffer), Ordering::Relaxed);
                    }
                });
            }
        });
        touching.into_inner()
    }

    /// Equal shares from the start.
    fn by_shares(&self, workers: usize) -> u64 {
        let touching = AtomicU64::new(0);
        let share = self.pairs.len().div_ceil(workers).max(1);
        std::thread::scope(|scope| {
            for part in self.pairs.chunks(share) {
                let touching = &touching;
                scope.spawn(move || touching.fetch_add(self.test(part), Ordering::Relaxed));
            }
        });
        touching.into_inner()
    }
}

/// Batches of every size.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let work = Work::new(lab.pick(4000, 40_000))?;
    let workers = threads();
    let sizes = [1, 4, 16, 64, 256, 1024, 4096];
    let truth = work.test(&work.pairs);
    let mut batches = vec![Vec::new(); sizes.len()];
    let mut shares = Vec::new();
    for _ in 0..lab.pick(5, 21) {
        lab.check_stop()?;
        for (&size, times) in sizes.iter().zip(&mut batches) {
            let mut found = 0;
            times.push(milliseconds_of(|| found = work.by_batches(workers, size)));
            check(found, truth)?;
        }
        let mut found = 0;
        shares.push(milliseconds_of(|| found = work.by_shares(workers)));
        check(found, truth)?;
    }
    let middle = |times: &Vec<f64>| median(times.iter().copied());
    let points: Vec<(f64, f64)> =
        sizes.iter().zip(&batches).map(|(&size, times)| (size as f64, middle(times))).collect();
    let mut rows: Vec<Vec<String>> =
        points.iter().map(|(size, ms)| vec![format!("{size}"), format!("{ms:.4}")]).collect();
    rows.push(vec!["equal shares".into(), format!("{:.4}", middle(&shares))]);
    lab.csv("batches", &["batch", "median_ms"], &rows)?;
    let level = vec![(1.0, middle(&shares)), (4096.0, middle(&shares))];
    let pairs = work.pairs.len();
    lab.plot(
        "batches",
        &[Chart::Lines(Lines {
            title: format!("{} pairs of hulls on {workers} threads", grouped(pairs as u64)),
            note: "batches are copied in a critical section (algorithm 11)".into(),
            x: Axis::log("pairs in a batch"),
            y: Axis::linear("milliseconds"),
            series: vec![
                Series::new("batches", points.clone()),
                Series::reference("equal shares", level),
            ],
        })],
    )?;
    let at = format!("{pairs} pairs, {workers} threads");
    Ok(vec![claim(&sizes, &batches, &shares).at(at)])
}

fn claim(sizes: &[usize], batches: &[Vec<f64>], shares: &[f64]) -> Claim {
    let time = |k: &usize| median(batches[*k].iter().copied());
    let best = (0..sizes.len()).min_by(|a, b| time(a).total_cmp(&time(b))).unwrap_or(0);
    Claim::new(
        "Batches from a critical section divide the detailed tests well",
        "used without a figure (algorithm 11)",
    )
    .require(
        "time of the best batch by that of equal shares",
        Figure::ratio(&batches[best], shares),
        Bound::at_most(1.1),
    )
    .show(format!("best with {} pairs", sizes[best]))
    .show(format!("batches of one: {}", Figure::ratio(&batches[0], shares)))
    .remark("shares are equal in pairs, batches also in time")
}

fn check(found: u64, truth: u64) -> Result<(), Failure> {
    match found == truth {
        true => Ok(()),
        false => Err(Failure::Check(format!("{found} pairs touch in batches, {truth} at once"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn batches_are_judged_on_both_sides() {
        let verdict =
            |best: f64| claim(&[1, 64], &[vec![9.0; 5], vec![best; 5]], &[1.0; 5]).judged();
        assert_eq!((verdict(1.05), verdict(1.2)), (Holds, Fails));
    }

    #[test]
    fn batches_and_shares_find_what_one_thread_finds() {
        let work = Work::new(600).unwrap();
        let truth = work.test(&work.pairs);
        assert!(truth > 0);
        for workers in [1, 2, 3, 8] {
            assert_eq!(work.by_shares(workers), truth);
            assert_eq!(work.by_batches(workers, 7), truth);
        }
    }
}
