//! `campbell`: sweep and prune with insertion sort against the vector sort with one worker for
//! each axis.
//!
//! The thesis measures three things on 64 to 1024 cubes in one world: the first step, a scene in
//! which nothing moves, and one in which a tenth moves; of each the longest of 1000 steps. Its
//! vector version ran on a Cell processor, the other on an x86. Here both run on the same
//! machine, with the median next to the longest step, and on to 65 536 cubes. Neither may fall back
//! to finding all pairs from scratch, except in the first step, which is nothing else.

use jostle::broad::sap::{Sap, SapOptions};
use jostle::broad::simd_sap::{Retest, SimdSap, SimdSapOptions};
use jostle::{Boxes, BroadPhase, Workers};
use jostle_scenes::{SceneSpec, Sorted};

use super::{Claim, Experiment, Lab, Verdict};
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
    /// Milliseconds.
    sorted: Sorted,
}

impl Times {
    fn new(n: usize, way: &'static str, times: Vec<f64>) -> Times {
        Times { n, way, sorted: Sorted::new(times) }
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
    let workers = if way == THREE { Workers::new(3)? } else { Workers::one() };
    let simd = |retest| {
        let options = SimdSapOptions { retest, may_rebuild: false };
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
    Feed::scene(&scene(n, 0.9), 1)?.advance(&mut boxes)?;
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
    let mut feed = Feed::scene(scene, steps + 1)?;
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

/// How many times as long one way takes as another.
fn ratio(times: &[Times], n: usize, one: &str, other: &str, of: fn(&Times) -> f64) -> f64 {
    match (find(times, n, one), find(times, n, other)) {
        (Some(one), Some(other)) => of(one) / of(other),
        _ => f64::NAN,
    }
}

fn claims(sizes: &[usize], first: &[Times], fixed: &[Times], moving: &[Times]) -> Vec<Claim> {
    let (small, large) = (sizes[0], sizes[sizes.len() - 1]);
    let thesis = LARGEST_TEST.min(large);
    vec![
        first_claim(first, thesis, large),
        static_claim(fixed, large),
        moving_claim(moving, small, thesis, large),
        steady_claim(
            moving,
            small,
            sizes.iter().copied().filter(|&n| n <= 512).max().unwrap_or(small),
        ),
        collecting_claim(moving, thesis),
        all_claim(moving, thesis),
    ]
}

fn first_claim(first: &[Times], thesis: usize, large: usize) -> Claim {
    let gain = |n| ratio(first, n, SAP, THREE, Times::median);
    Claim {
        statement: "The first step is where the vector version gains most, the more the larger \
                    the scene"
            .into(),
        paper: "far faster as the load increases, results collected included (Figure 5.2)".into(),
        ours: format!(
            "sap's time by that of 3 workers {:.2} at {thesis} boxes, {:.2} at {large}",
            gain(thesis),
            gain(large)
        ),
        verdict: Verdict::of(gain(thesis) > 1.0 && gain(large) > 1.2),
        why: "both find the first pairs with grid-sweep and sort from scratch: only the workers \
              differ"
            .into(),
    }
}

fn static_claim(fixed: &[Times], large: usize) -> Claim {
    let time = |way| 1e3 * find(fixed, large, way).map_or(f64::NAN, Times::median);
    let (sap, one, three) = (time(SAP), time(ONE), time(THREE));
    Claim {
        statement: "If nothing moves, insertion sort is hard to beat; the vector version pays \
                    a fixed cost"
            .into(),
        paper: "about 3 ms at any size for starting the coprocessors (Figure 5.3)".into(),
        ours: format!(
            "sap {sap:.2} µs, simd-sap {one:.2} µs with 1 worker and {three:.2} µs with 3, at \
             {large} boxes"
        ),
        verdict: Verdict::of(three > sap),
        why: "an empty list of changes ends the step in each; what is left is handing it to the \
              workers' pool"
            .into(),
    }
}

fn moving_claim(moving: &[Times], small: usize, thesis: usize, large: usize) -> Claim {
    let gain = |n, way| ratio(moving, n, SAP, way, Times::median);
    let worst = ratio(moving, thesis, SAP, THREE, Times::worst);
    let best = ratio(moving, large, SAP, THREE, |times| times.share(0.0));
    Claim {
        statement: "With a tenth moving, the vector version with a worker for each axis gains \
                    with the number of boxes"
            .into(),
        paper: "slower at 64 boxes, faster from some hundred on, without collecting results \
                (Figure 5.4)"
            .into(),
        ours: format!(
            "sap's time by that of 3 workers {:.2} at {small}, {:.2} at {thesis}, {:.2} at \
             {large}; of 1 worker {:.2}, {:.2}, {:.2}; shortest steps with 3 workers {best:.2} \
             at {large}, longest {worst:.2} at {thesis}",
            gain(small, THREE),
            gain(thesis, THREE),
            gain(large, THREE),
            gain(small, ONE),
            gain(thesis, ONE),
            gain(large, ONE),
        ),
        verdict: match (gain(large, THREE) > gain(small, THREE), gain(large, THREE) > 1.0) {
            (true, true) => Verdict::Holds,
            (false, false) => Verdict::Fails,
            _ => Verdict::Partly,
        },
        why: "sorting is a quarter of the step at most; testing what was passed is the rest, and \
              swaps test fewer pairs. Three workers need three idle cores"
            .into(),
    }
}

fn steady_claim(moving: &[Times], small: usize, n: usize) -> Claim {
    let growth = |way, share: f64| {
        let time = |n| find(moving, n, way).map_or(f64::NAN, |times| times.share(share));
        time(n) / time(small)
    };
    let (late, median) = (growth(THREE, 0.99), growth(THREE, 0.5));
    Claim {
        statement: "The vector version's longest steps hardly grow up to 512 boxes".into(),
        paper: "similar at 64 and at 512 boxes (section 5.3)".into(),
        ours: format!(
            "from {small} to {n} boxes with 3 workers the 99th percentile grows {late:.1} times, \
             the median {median:.1} times; sap's {:.1} and {:.1} times",
            growth(SAP, 0.99),
            growth(SAP, 0.5)
        ),
        verdict: match (late < 2.0, median < 2.0) {
            (true, true) => Verdict::Holds,
            (false, false) => Verdict::Fails,
            _ => Verdict::Partly,
        },
        why: "there as here a fixed cost hides the work: 3 ms of starting coprocessors, here \
              workers that wait for a core"
            .into(),
    }
}

fn collecting_claim(moving: &[Times], n: usize) -> Claim {
    let cost = ratio(moving, n, BETWEEN, ONE, Times::median);
    Claim {
        statement: "Collecting colliding keys and comparing them with the frame before costs \
                    more than the rest"
            .into(),
        paper: "no interactive rate beyond 512 boxes (Figure 5.5)".into(),
        ours: format!(
            "testing between the ends and collecting takes {cost:.1} times as long at \
                       {n} boxes as testing what was passed"
        ),
        verdict: Verdict::of(cost > 2.0),
        why: "an end that passes another tells at once whether a pair may begin or end; no keys \
              are kept"
            .into(),
    }
}

fn all_claim(moving: &[Times], n: usize) -> Claim {
    let cost = ratio(moving, n, ALL, BETWEEN, Times::median);
    Claim {
        statement:
            "Testing changed boxes against all others costs more than testing between their ends"
                .into(),
        paper: "explored and left out for its many keys (section 4.2.6)".into(),
        ours: format!("{cost:.1} times as long at {n} boxes"),
        verdict: Verdict::of(cost > 1.0),
        why: String::new(),
    }
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
