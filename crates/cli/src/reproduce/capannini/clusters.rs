//! The two clustering scenes (§7): a ball that collapses, and a plane that all boxes cross.

use std::time::Duration;

use jostle::broad::bidim_sap::{AxisRule, BidimSapOptions};
use jostle::{Axis as World, available_threads};
use jostle_scenes::{SceneSpec, median};

use super::runner::{Course, Frame, Runner};
use super::{Claim, Lab, PARTITIONS, trees};
use crate::reproduce::Verdict;
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// By how much the worst frame may exceed the median one if there is no peak.
const NO_PEAK: f64 = 1.5;

/// The ball: time per frame, and the mean speed-up.
pub(crate) fn ball(lab: &mut Lab) -> Result<Claim, Failure> {
    let n = lab.pick(1 << 12, 1 << 19);
    let frames = lab.pick(120, 500);
    let threads = available_threads();
    let mut runners = vec![
        Runner::new("paper, sequential", trees(1, AxisRule::Adaptive), 1)?,
        Runner::new("paper, all threads", trees(PARTITIONS, AxisRule::Adaptive), threads)?,
        Runner::new("strips, all threads", BidimSapOptions::default(), threads)?,
    ];
    let arrival = frames as f64 / 5.0;
    let course = Course {
        scene: SceneSpec::new("ball", n, 1).param("arrival", arrival),
        frames,
        stride: lab.pick(4, 5),
        budget: Duration::from_secs(lab.pick(20, 1200)),
    };
    course.run(lab, &mut runners)?;
    write(lab, "ball", &[("", &runners)])?;
    lab.plot(
        "ball",
        &[
            lines("Ball cluster: time", n, "milliseconds", &runners, |frame| frame.total_ms),
            lines("Ball cluster: tests", n, "box tests", &runners, |frame| frame.tests),
        ],
    )?;
    let speed_up =
        runners[0].mean(|frame| frame.total_ms) / runners[1].mean(|frame| frame.total_ms);
    let share = speed_up / threads as f64;
    Ok(Claim {
        statement: "The parallel version keeps its speed-up while a ball collapses".into(),
        paper: "6.5 times on average over 500 frames with 16 cores, 41 % of them (section 7)"
            .into(),
        ours: format!("{speed_up:.2} times with {threads} threads, {:.0} % of them", 100.0 * share),
        verdict: if threads == 1 { Verdict::Untested } else { Verdict::of(share >= 0.41) },
        why: format!("{n} boxes, {frames} frames, wall time"),
    })
}

/// The plane for u = x and u = y, with and without exchanging axes.
pub(crate) fn plane(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let side: usize = lab.pick(80, 750);
    let across = |lab: &Lab, axis: usize| -> Result<Vec<Runner>, Failure> {
        let threads = available_threads();
        let fixed = trees(PARTITIONS, AxisRule::Fixed(World::X, World::Y));
        let mut runners = vec![
            Runner::new("axes fixed", fixed, threads)?,
            Runner::new("axes swapped", trees(PARTITIONS, AxisRule::Adaptive), threads)?,
            Runner::new("strips", BidimSapOptions::default(), threads)?,
        ];
        let frames = lab.pick(100, 500);
        let scene = SceneSpec::new("plane", side * side, 1)
            .param("frames", frames as f64)
            .param("axis", axis as f64);
        let budget = Duration::from_secs(lab.pick(20, 1200));
        Course { scene, frames, stride: 1, budget }.run(lab, &mut runners)?;
        Ok(runners)
    };
    let (x, y) = (across(lab, 0)?, across(lab, 1)?);
    write(lab, "plane", &[("x", &x), ("y", &y)])?;
    let n = side * side;
    lab.plot(
        "plane",
        &[
            lines("Plane cluster, u = x: time", n, "milliseconds", &x, |frame| frame.total_ms),
            lines("Plane cluster, u = y: time", n, "milliseconds", &y, |frame| frame.total_ms),
            lines("Plane cluster, u = x: tests", n, "box tests", &x, |frame| frame.tests),
            lines("Plane cluster, u = y: tests", n, "box tests", &y, |frame| frame.tests),
        ],
    )?;
    Ok(vec![peak(&x[0], &y[0]), no_peak(&x, &y), exchange(&x[1], &y[1])])
}

/// How far the worst frame's time exceeds the median one's. Each time is the median of five
/// neighbouring frames: a single frame may have waited for another program.
fn excess(runner: &Runner) -> f64 {
    let smooth =
        runner.settled().windows(5).map(|frames| median(frames.iter().map(|frame| frame.total_ms)));
    super::greatest(smooth) / runner.median(|frame| frame.total_ms)
}

/// How far the tests rise above those of the first frames.
fn rise(runner: &Runner) -> f64 {
    let first = runner.settled().first().map_or(0.0, |frame| frame.tests);
    runner.greatest(|frame| frame.tests) / first.max(1.0)
}

fn peak(x: &Runner, y: &Runner) -> Claim {
    let (time, tests) = ([x, y].map(excess), [x, y].map(rise));
    Claim {
        statement: "With fixed axes, clustering on a swept axis makes a peak, worse for u = y"
            .into(),
        paper: "run times rise substantially in frames 225 to 275 (section 7, figure 6)".into(),
        ours: format!(
            "worst over median frame {:.1} (u = x) and {:.1} (u = y); tests rise {:.0} and {:.0} \
             times",
            time[0], time[1], tests[0], tests[1]
        ),
        verdict: match (time[0] > NO_PEAK && time[1] > NO_PEAK, time[1] > time[0]) {
            (true, true) => Verdict::Holds,
            (true, false) => Verdict::Partly,
            _ => Verdict::Fails,
        },
        why: "tests are counted, times are of this machine".into(),
    }
}

fn no_peak(x: &[Runner], y: &[Runner]) -> Claim {
    let worse = |index: usize, of: &dyn Fn(&Runner) -> f64| of(&x[index]).max(of(&y[index]));
    let (paper, strips) = (worse(1, &excess), worse(2, &excess));
    Claim {
        statement: "Exchanging axes makes the peak disappear".into(),
        paper: "more or less constant speed, about 40 ms a frame (section 7, figure 6)".into(),
        ours: format!(
            "worst over median frame {paper:.2}, strips {strips:.2}; tests rise {:.1} times at \
             most before the exchange",
            worse(1, &rise)
        ),
        verdict: match (paper <= NO_PEAK, strips <= NO_PEAK) {
            (true, true) => Verdict::Holds,
            (false, false) => Verdict::Fails,
            _ => Verdict::Partly,
        },
        why: format!("the worse of u = x and u = y; at most {NO_PEAK} counts as no peak"),
    }
}

fn exchange(x: &Runner, y: &Runner) -> Claim {
    let first = |runner: &Runner| {
        let changed = runner.frames.windows(2).find(|two| two[0].axes != two[1].axes);
        changed.map(|two| two[1].number)
    };
    let changes =
        |runner: &Runner| runner.frames.windows(2).filter(|two| two[0].axes != two[1].axes).count();
    let say = |runner: &Runner| match first(runner) {
        Some(frame) => format!("frame {frame}, {} in all", changes(runner)),
        None => "never".to_owned(),
    };
    let middle = x.frames.last().map_or(0, |frame| frame.number) / 2;
    let before = |runner: &Runner| first(runner).is_some_and(|frame| frame < middle);
    let steady = |runner: &Runner| changes(runner) <= 2;
    Claim {
        statement: "The clustered axis is swapped before the plane is met, without flip-flop"
            .into(),
        paper: "one exchange at frame 214 of 500, the plane is met at 250 (section 7)".into(),
        ours: format!("u = x: {}; u = y: {}; plane met at {middle}", say(x), say(y)),
        verdict: Verdict::of(before(x) && before(y) && steady(x) && steady(y)),
        why: "counted".into(),
    }
}

fn lines(
    title: &str,
    n: usize,
    unit: &str,
    runners: &[Runner],
    value: impl Fn(&Frame) -> f64,
) -> Chart {
    let points = |runner: &Runner| {
        runner.settled().iter().map(|frame| (frame.number as f64, value(frame))).collect()
    };
    Chart::Lines(Lines {
        title: title.into(),
        note: format!("{} boxes; vertical axis logarithmic", grouped(n as u64)),
        x: Axis::linear("frame"),
        y: Axis::log(unit),
        series: runners.iter().map(|runner| Series::new(runner.name, points(runner))).collect(),
    })
}

fn write(lab: &mut Lab, file: &str, sets: &[(&str, &[Runner])]) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for (axis, runners) in sets {
        for runner in *runners {
            rows.extend(runner.frames.iter().map(|frame| {
                vec![
                    (*axis).to_owned(),
                    runner.name.to_owned(),
                    frame.number.to_string(),
                    format!("{:.3}", frame.total_ms),
                    format!("{:.0}", frame.tests),
                    frame.pairs.to_string(),
                    frame.axes.clone(),
                    format!("{:.4}", frame.dispersion),
                ]
            }));
        }
    }
    let header = ["u", "version", "frame", "total_ms", "tests", "pairs", "axes", "dispersion"];
    lab.csv(file, &header, &rows)
}
