//! `campbell`: sweep and prune with insertion sort against the vector sort with one worker for
//! each axis.
//!
//! The thesis measures three things on 64 to 1024 cubes in one world: the first step, a scene in
//! which nothing moves, and one in which a tenth moves; of each the longest of 1000 steps. Its
//! vector version ran on a Cell processor, the other on an x86. Here both run on the same
//! machine, with the median next to the longest step, and on to 65 536 cubes. Neither may fall back
//! to finding all pairs from scratch, except in the first step, which is nothing else. No box is
//! declared still: resting pairs are pairs, as in the thesis.

use jostle::broad::sap::{Sap, SapOptions};
use jostle::broad::simd_sap::{Retest, SimdSap, SimdSapOptions};
use jostle::{Boxes, BroadPhase, Workers, available_threads};
use jostle_scenes::{SceneSpec, Sorted};

use super::{Bound, Claim, Experiment, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::runner::Runner;

/// The vector sort against the insertion sort.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "campbell",
    paper: "G. Campbell, Broadphase Collision Detection on the Cell Processor, 2010",
    about: "sap against simd-sap with 1 and 3 workers: first step, static scene, a tenth moving",
    run,
};

/// The most cubes in the thesis' tests; beyond it the slow ways to retest are left out.
const LARGEST_TEST: usize = 1024;

/// One worker for each axis, as the thesis has, however few the boxes.
const WORKERS: usize = 3;

/// Ways to follow the boxes, by name.
const SAP: &str = "sap";
const ONE: &str = "simd-sap, 1 worker";
const THREE: &str = "simd-sap, 3 workers";
const BETWEEN: &str = "simd-sap, between endpoints";
const ALL: &str = "simd-sap, against all";

fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let largest = lab.pick(12, 16);
    let sizes: Vec<usize> = (6..=largest).step_by(lab.pick(2, 1)).map(|power| 1 << power).collect();
    let (mut first, mut fixed, mut moving) = (Vec::new(), Vec::new(), Vec::new());
    for &n in &sizes {
        first.extend(first_steps(lab, n)?);
        fixed.extend(drive(lab, &scene(n, 1.0), steps(lab, n), &[SAP, ONE, THREE])?);
        let ways: &[&str] =
            if n <= LARGEST_TEST { &[SAP, ONE, THREE, BETWEEN, ALL] } else { &[SAP, ONE, THREE] };
        moving.extend(drive(lab, &scene(n, 0.9), steps(lab, n), ways)?);
    }
    write(lab, &first, &fixed, &moving)?;
    Ok(claims(&sizes, &first, &fixed, &moving))
}

fn scene(n: usize, static_share: f64) -> SceneSpec {
    SceneSpec::new("campbell", n, 1).param("static_share", static_share)
}

/// A thousand steps, fewer if they are long or time is short.
fn steps(lab: &Lab, n: usize) -> usize {
    let most = lab.pick(40, 1000);
    if n > 4 * LARGEST_TEST { most / 8 } else { most }
}

/// The times of one way on one scene.
struct Times {
    n: usize,
    way: &'static str,
    /// Milliseconds of each frame.
    frames: Vec<f64>,
    /// The same, ascending.
    sorted: Sorted,
}

impl Times {
    fn new(n: usize, way: &'static str, times: Vec<f64>) -> Times {
        Times { n, way, sorted: Sorted::new(times.iter().copied()), frames: times }
    }

    fn share(&self, share: f64) -> f64 {
        self.sorted.quantile(share)
    }

    fn median(&self) -> f64 {
        self.sorted.median()
    }

    fn worst(&self) -> f64 {
        self.sorted.greatest()
    }
}

fn build(way: &str) -> Result<(Box<dyn BroadPhase>, Workers), Failure> {
    let workers = if way == THREE { Workers::new(WORKERS)? } else { Workers::one() };
    let simd = |retest| {
        let options = SimdSapOptions { retest, may_rebuild: false, one_worker_below: 0 };
        Box::new(SimdSap::with_options(&workers, options))
    };
    let broad: Box<dyn BroadPhase> = match way {
        SAP => {
            let options = SapOptions { may_rebuild: false, ..SapOptions::default() };
            Box::new(Sap::with_options(&workers, options))
        }
        BETWEEN => simd(Retest::Between),
        ALL => simd(Retest::All),
        _ => simd(Retest::Passed),
    };
    Ok((broad, workers))
}

fn runner(way: &str) -> Result<Runner, Failure> {
    let (broad, workers) = build(way)?;
    Ok(Runner::with_broad_phase(way, broad, &workers))
}

/// The first step, by instances that are new each time.
fn first_steps(lab: &Lab, n: usize) -> Result<Vec<Times>, Failure> {
    let ways = [SAP, ONE, THREE];
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let mut boxes = Boxes::new();
    Feed::unfiltered(&scene(n, 0.9), 1)?.advance(&mut boxes)?;
    for _ in 0..lab.pick(5, if n > LARGEST_TEST { 9 } else { 51 }) {
        lab.check_stop()?;
        for (way, times) in ways.iter().zip(&mut times) {
            let mut runner = runner(way)?;
            runner.step(&boxes)?;
            times.push(1e3 * runner.time().update.as_secs_f64());
        }
    }
    Ok(ways.into_iter().zip(times).map(|(way, times)| Times::new(n, way, times)).collect())
}

/// All ways see each frame before the next comes, in turning order, and must agree on the pairs.
fn drive(
    lab: &Lab,
    scene: &SceneSpec,
    steps: usize,
    ways: &[&'static str],
) -> Result<Vec<Times>, Failure> {
    let mut runners = ways.iter().map(|way| runner(way)).collect::<Result<Vec<_>, _>>()?;
    let mut times = vec![Vec::with_capacity(steps); ways.len()];
    let mut feed = Feed::unfiltered(scene, steps + 1)?;
    let mut boxes = Boxes::new();
    while let Some(frame) = feed.advance(&mut boxes)? {
        lab.check_stop()?;
        for turn in 0..ways.len() {
            let way = (turn + frame) % ways.len();
            runners[way].step(&boxes)?;
            if frame > 0 {
                times[way].push(1e3 * runners[way].time().update.as_secs_f64());
            }
        }
        if let Some(other) = runners.iter().find(|other| other.pairs() != runners[0].pairs()) {
            let (n, name) = (scene.n, &other.name);
            return Err(Failure::Check(format!("campbell, {n} boxes, frame {frame}: {name}")));
        }
        boxes.commit();
    }
    let times = ways.iter().zip(times);
    Ok(times.map(|(&way, times)| Times::new(scene.n, way, times)).collect())
}

fn find<'a>(times: &'a [Times], n: usize, way: &str) -> Option<&'a Times> {
    times.iter().find(|times| times.n == n && times.way == way)
}

/// How many times as long one way takes as another, by medians over the same frames.
fn ratio(times: &[Times], n: usize, one: &str, other: &str) -> Figure {
    match (find(times, n, one), find(times, n, other)) {
        (Some(one), Some(other)) => Figure::ratio(&one.frames, &other.frames),
        _ => Figure::counted(f64::NAN),
    }
}

fn claims(sizes: &[usize], first: &[Times], fixed: &[Times], moving: &[Times]) -> Vec<Claim> {
    let (small, large) = (sizes[0], sizes[sizes.len() - 1]);
    let thesis = LARGEST_TEST.min(large);
    let up_to_512 = sizes.iter().copied().filter(|&n| n <= 512).max().unwrap_or(small);
    let cores = available_threads();
    vec![
        first_claim(first, thesis, large),
        static_claim(fixed, large),
        moving_claim(moving, small, thesis).needs_cores(WORKERS, cores),
        steady_claim(moving, small, up_to_512).needs_cores(WORKERS, cores),
        collecting_claim(moving, thesis),
        all_claim(moving, thesis),
    ]
}

fn first_claim(first: &[Times], thesis: usize, large: usize) -> Claim {
    let gain = |n| ratio(first, n, SAP, THREE);
    Claim::new(
        "The first step is where the vector version gains most, the more the larger the scene",
        "far faster as the load increases, results collected included (figure 5.2)",
    )
    .show(format!("sap's time by that of 3 workers: {} at {thesis} boxes", gain(thesis)))
    .show(format!("{} at {large}", gain(large)))
    .untestable("both find the first pairs by a grid sweep and sort with a library sort")
}

fn static_claim(fixed: &[Times], large: usize) -> Claim {
    let time = |way| 1e3 * find(fixed, large, way).map_or(f64::NAN, Times::median);
    Claim::new(
        "If nothing moves, insertion sort is hard to beat; the vector version pays a fixed cost",
        "about 3 ms at any size for starting the coprocessors (figure 5.3)",
    )
    .show(format!(
        "sap {:.2} µs, simd-sap {:.2} µs with 1 worker and {:.2} µs with 3",
        time(SAP),
        time(ONE),
        time(THREE)
    ))
    .at(format!("{large} boxes"))
    .untestable("an empty list of changes ends the step in each: no list is looked at")
}

fn moving_claim(moving: &[Times], small: usize, thesis: usize) -> Claim {
    let gain = |n| ratio(moving, n, SAP, THREE);
    let one = |n| ratio(moving, n, SAP, ONE);
    Claim::new(
        "With a tenth moving, the vector version with a worker for each axis is slower at 64 \
         boxes and faster from some hundred on",
        "without collecting results (figure 5.4)",
    )
    .require(format!("times as fast as sap at {small} boxes"), gain(small), Bound::at_most(1.0))
    .require(format!("times as fast as sap at {thesis} boxes"), gain(thesis), Bound::at_least(1.0))
    .show(format!("with one worker {} and {}", one(small), one(thesis)))
    .over_sizes()
    .remark(
        "sorting is a quarter of the step at most; testing what was passed is the rest, and swaps \
         test fewer pairs",
    )
}

fn steady_claim(moving: &[Times], small: usize, n: usize) -> Claim {
    let late = |way, n| find(moving, n, way).map_or(f64::NAN, |times| times.share(0.99));
    let growth = |way| {
        let (one, other) = (find(moving, n, way), find(moving, small, way));
        let rounds = one.zip(other).map_or(0, |(a, b)| a.frames.len().min(b.frames.len()));
        Figure::resampled(rounds, |at| {
            let late = |times: Option<&Times>| {
                let frames = times.map_or(&[][..], |times| &times.frames);
                Sorted::new(at.iter().map(|&round| frames[round])).quantile(0.99)
            };
            late(one) / late(other)
        })
    };
    Claim::new(
        "The vector version's longest steps hardly grow up to 512 boxes",
        "similar at 64 and at 512 boxes (section 5.3)",
    )
    .require(
        format!("growth of the 99th percentile from {small} to {n} boxes"),
        growth(THREE),
        Bound::at_most(2.0),
    )
    .show(format!("sap's {:.1} times", late(SAP, n) / late(SAP, small)))
    .over_sizes()
    .remark("there a fixed cost hid the work: 3 ms of starting coprocessors")
}

fn collecting_claim(moving: &[Times], n: usize) -> Claim {
    Claim::new(
        "Collecting colliding keys and comparing them with the frame before costs more than the \
         rest",
        "no interactive rate beyond 512 boxes (figure 5.5)",
    )
    .require(
        "time with collecting by the time without",
        ratio(moving, n, BETWEEN, ONE),
        Bound::at_least(2.0),
    )
    .at(format!("{n} boxes"))
    .remark(
        "the thesis emits keys without testing boxes; here the boxes between the ends are tested \
         as well",
    )
}

fn all_claim(moving: &[Times], n: usize) -> Claim {
    Claim::new(
        "Testing changed boxes against all others costs more than testing between their ends",
        "explored and left out for its many keys (section 4.2.6)",
    )
    .require(
        "time against all by the time between the ends",
        ratio(moving, n, ALL, BETWEEN),
        Bound::at_least(1.0),
    )
    .at(format!("{n} boxes"))
}

fn write(lab: &mut Lab, first: &[Times], fixed: &[Times], moving: &[Times]) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (part, times) in [("first", first), ("static", fixed), ("tenth", moving)] {
        rows.extend(times.iter().map(|times| {
            let shown = [times.share(0.0), times.median(), times.share(0.99), times.worst()];
            let mut row = vec![part.to_owned(), times.n.to_string(), times.way.to_owned()];
            row.push(times.sorted.values().len().to_string());
            row.extend(shown.map(|time| format!("{time:.6}")));
            row
        }));
    }
    let header = ["experiment", "n", "way", "steps", "min_ms", "median_ms", "p99_ms", "worst_ms"];
    lab.csv("times", &header, &rows)?;
    lab.plot(
        "times",
        &[
            panel("First step", "median of instances that are new each time", first, Times::median),
            panel("Nothing moves", "median step", fixed, Times::median),
            panel(
                "A tenth moves, median step",
                "no step finds all pairs from scratch",
                moving,
                Times::median,
            ),
            panel(
                "A tenth moves, longest step",
                "other work on the machine shows here",
                moving,
                Times::worst,
            ),
        ],
    )
}

fn panel(title: &str, note: &str, times: &[Times], of: fn(&Times) -> f64) -> Chart {
    let ways = [SAP, ONE, THREE, BETWEEN, ALL];
    let line = |way: &&str| {
        let mine = times.iter().filter(|times| times.way == *way);
        Series::new(way, mine.map(|times| (times.n as f64, of(times))).collect())
    };
    let series = ways.iter().map(line).filter(|series| !series.points.is_empty()).collect();
    Chart::Lines(Lines {
        title: title.into(),
        note: note.into(),
        x: Axis::log("number of boxes"),
        y: Axis::log("milliseconds"),
        series,
    })
}
