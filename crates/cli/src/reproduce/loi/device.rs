//! Figures 10, 12 and 13 on a device: its stages by its own clock, a fixed size of cells against
//! one that follows the boxes, candidates and pairs, and both phases of a world of spheres.
//!
//! Times of a software device are written down with its name and never judged; counts are.

use std::sync::Arc;

use jostle::shape::{Hull, Shape};
use jostle::{Algorithm, Body, Boxes, Stats, Workers, World};
use jostle_scenes::{Scene, SceneSpec, median};

use crate::reproduce::{Bound, Claim, Figure, Lab, pipeline, power_law};
use crate::support::device::Experiment;
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::runner::Runner;
use crate::support::text::milliseconds;

/// The ways compared, in the order of [`Row::ways`].
const WAYS: [&str; 5] = [
    "following cell",
    "fixed cell",
    "following cell, swept by box",
    "following cell, sorted by digits of 4 bits",
    "following cell, sorted by digits of 8 bits",
];

/// One way on one number of boxes.
struct Way {
    ms: f64,
    stages: Vec<(&'static str, f64)>,
    stats: Stats,
    pairs: usize,
}

struct Row {
    n: usize,
    ways: Vec<Way>,
}

/// Both phases of a world on the device.
struct Phases {
    n: usize,
    pairs: f64,
    broad: f64,
    screen: f64,
    narrow: f64,
    decided: f64,
}

/// The claims of the figures.
pub(super) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let device = lab.device().clone();
    if device.is_cpu() {
        return Ok(vec![interactive().untestable("give a GPU with --device")]);
    }
    let mut rows = Vec::new();
    for n in lab.pick(vec![1000, 4000], vec![8000, 27_000, 64_000, 125_000]) {
        rows.push(measure(lab, n)?);
    }
    write(lab, &rows)?;
    let mut phases = Vec::new();
    for n in lab.pick(vec![500, 1500], vec![4000, 8000, 16_000, 32_000]) {
        lab.check_stop()?;
        phases.push(both_phases(lab, n)?);
    }
    write_phases(lab, &phases)?;
    Ok(told(lab, &rows, &phases))
}

fn measure(lab: &Lab, n: usize) -> Result<Row, Failure> {
    let spec = SceneSpec::new("uniform", n, 1).param("spread", 0.0);
    let mut feed = Feed::scene(&spec, lab.pick(3, 7))?;
    let workers = Workers::one();
    let timed = Experiment { timestamps: true, ..Experiment::default() };
    let ways = [
        timed,
        Experiment { level: Some(0), ..timed },
        Experiment { sweep_by_entry: true, ..timed },
        Experiment { digit_bits: Some(4), ..timed },
        Experiment { digit_bits: Some(8), ..timed },
    ];
    let mut runners = Vec::new();
    for way in ways {
        let broad = lab.device().experiment(way).expect("there is a device");
        runners.push(Runner::with_broad_phase("device", broad, &workers));
    }
    let (mut boxes, mut samples) = (Boxes::new(), vec![Vec::new(); runners.len()]);
    while feed.advance(&mut boxes)?.is_some() {
        for (runner, list) in runners.iter_mut().zip(&mut samples) {
            runner.step(&boxes)?;
            list.push((milliseconds(runner.time().update), runner.stats().stages));
        }
        if runners.iter().any(|runner| runner.pairs() != runners[0].pairs()) {
            return Err(Failure::Check(format!("{n} boxes: {WAYS:?} differ; run jostle verify")));
        }
        boxes.commit();
        lab.check_stop()?;
    }
    let ways = runners.iter().zip(&samples).map(|(runner, list)| {
        let later = || list.iter().skip(1);
        let names = list.last().map(|last| last.1.clone()).unwrap_or_default();
        let stage = |name: &'static str| {
            let times = later().filter_map(|(_, stages)| stages.iter().find(|s| s.0 == name));
            (name, median(times.map(|stage| milliseconds(stage.1))))
        };
        Way {
            ms: median(later().map(|sample| sample.0)),
            stages: names.iter().map(|&(name, _)| stage(name)).collect(),
            stats: runner.stats(),
            pairs: runner.pairs().len(),
        }
    });
    Ok(Row { n, ways: ways.collect() })
}

/// Balls of 80 triangles, as in figure 13, at one density.
fn both_phases(lab: &Lab, n: usize) -> Result<Phases, Failure> {
    let mut scene = Scene::new("uniform", n, 3, &[("density", 0.3), ("spread", 0.0)])?;
    let mut world = World::new(Algorithm::GridSweep);
    let broad = lab.device().experiment(Experiment::default()).expect("there is a device");
    world.set_broad_phase(broad);
    world.set_screen(lab.device().screen());
    let radius = scene.boxes().first().map_or(1.0, |aabb| f64::from(aabb.extent(0)) / 2.0);
    let ball = Arc::new(Hull::icosphere(radius, 1).map_err(Failure::input)?);
    let bodies = scene
        .boxes()
        .iter()
        .map(|aabb| Body::new(Shape::Hull(ball.clone()), pipeline::center(aabb)))
        .collect();
    let ids = world.insert_all(bodies).map_err(Failure::input)?;
    world.step()?;
    let mut samples = Vec::new();
    for _ in 0..lab.pick(2, 6) {
        scene.advance();
        let poses: Vec<_> = scene.boxes().iter().map(pipeline::center).collect();
        world.set_poses(&ids, &poses).map_err(Failure::input)?;
        world.step()?;
        let stats = world.stats();
        if let Some(fault) = &stats.screened.fault {
            return Err(Failure::input(fault));
        }
        let decided = (stats.screened.apart + stats.screened.overlapping) as f64;
        let share = decided / stats.tested.max(1) as f64;
        let [broad, screen, narrow] = [stats.broad, stats.screen, stats.narrow].map(milliseconds);
        samples.push([stats.pairs as f64, broad, screen, narrow, share]);
    }
    let [pairs, broad, screen, narrow, decided] =
        std::array::from_fn(|k| median(samples.iter().map(|sample| sample[k])));
    Ok(Phases { n, pairs, broad, screen, narrow, decided })
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let device = lab.device().name();
    let mut cells = Vec::new();
    for row in rows {
        for (name, way) in WAYS.iter().zip(&row.ways) {
            let count = |name: &str| way.stats.count(name).unwrap_or(0.0);
            let mut line = |stage: &str, ms: f64| {
                let counts = [count("entries"), way.stats.tests as f64, way.pairs as f64];
                let head = [row.n.to_string(), (*name).into(), stage.into(), format!("{ms:.3}")];
                let counts = counts.map(|value| format!("{value:.0}"));
                cells.push([&head[..], &counts[..], std::slice::from_ref(&device)].concat());
            };
            line("whole update", way.ms);
            way.stages.iter().for_each(|&(stage, ms)| line(stage, ms));
        }
    }
    let header = ["n", "cells", "stage", "median_ms", "entries", "tests", "pairs", "device"];
    lab.csv("device", &header, &cells)?;
    let points = |way: usize, value: &dyn Fn(&Way) -> f64| -> Vec<(f64, f64)> {
        rows.iter().map(|row| (row.n as f64, value(&row.ways[way]))).collect()
    };
    let note = note(lab);
    let chart = |title: &str, y: &str, series: Vec<Series>| {
        let (x, y) = (Axis::log("number of boxes"), Axis::log(y));
        Chart::Lines(Lines { title: title.into(), note: note.clone(), x, y, series })
    };
    let whole = (0..WAYS.len()).map(|k| Series::new(WAYS[k], points(k, &|way| way.ms))).collect();
    let last = rows.last().map_or(&[][..], |row| &row.ways[0].stages);
    let stages = last.iter().filter(|stage| stage.0.starts_with("device: ")).map(|&(name, _)| {
        let time = |way: &Way| way.stages.iter().find(|s| s.0 == name).map_or(0.0, |s| s.1);
        Series::new(&name[8..], points(0, &time))
    });
    let counts = vec![
        Series::new("candidates", points(0, &|way| way.stats.tests as f64)),
        Series::new("pairs", points(0, &|way| way.pairs as f64)),
    ];
    lab.plot(
        "device",
        &[
            chart("Broad phase on the device (fig. 10)", "milliseconds per step", whole),
            chart("Its stages", "milliseconds per step", stages.collect()),
            chart("Candidates and pairs (fig. 12)", "count per step", counts),
        ],
    )
}

fn write_phases(lab: &mut Lab, rows: &[Phases]) -> Result<(), Failure> {
    let cells = rows.iter().map(|row| {
        let values = [row.pairs, row.broad, row.screen, row.narrow, row.decided];
        [vec![row.n.to_string()], values.map(|value| format!("{value:.3}")).to_vec()].concat()
    });
    let header =
        ["n", "pairs", "broad_ms", "device_narrow_ms", "processor_narrow_ms", "decided_share"];
    lab.csv("device-phases", &header, &cells.collect::<Vec<_>>())?;
    let line = |name: &str, value: &dyn Fn(&Phases) -> f64| {
        Series::new(name, rows.iter().map(|row| (row.n as f64, value(row))).collect())
    };
    let series = vec![
        line("broad phase", &|row| row.broad),
        line("narrow phase, device", &|row| row.screen),
        line("narrow phase, processor", &|row| row.narrow),
    ];
    let chart = Lines {
        title: "Both phases with the device (fig. 13)".into(),
        note: note(lab),
        x: Axis::log("number of objects"),
        y: Axis::log("milliseconds per step"),
        series,
    };
    lab.plot("device-phases", &[Chart::Lines(chart)])
}

/// Which device it was.
fn note(lab: &Lab) -> String {
    let remark =
        if lab.device().is_software() { ", a software device: no GPU's times" } else { "" };
    format!("on {}{remark}", lab.device().name())
}

fn told(lab: &Lab, rows: &[Row], phases: &[Phases]) -> Vec<Claim> {
    let (Some(last), Some(world)) = (rows.last(), phases.last()) else { return Vec::new() };
    let software = lab.device().is_software();
    let timed = |claim: Claim| match software {
        true => claim.untestable("times of a software device are not judged"),
        false => claim,
    };
    let [following, fixed, by_box, four, eight] = &last.ways[..] else { return Vec::new() };
    let power = |points: Vec<(f64, f64)>| power_law(&points).unwrap_or(f64::NAN);
    let tests =
        power(rows.iter().map(|row| (row.n as f64, row.ways[0].stats.tests as f64)).collect());
    let of = |value: &dyn Fn(&Phases) -> f64| {
        power(phases.iter().map(|row| (row.n as f64, value(row))).collect())
    };
    let (broad, narrow) = (of(&|row| row.broad), of(&|row| row.screen + row.narrow));
    let on = note(lab);
    let entries = |way: &Way| way.stats.count("entries").unwrap_or(0.0) / last.n as f64;
    let at = format!("{} boxes", last.n);
    vec![
        timed(
            interactive()
                .require(
                    format!("milliseconds {on}"),
                    Figure::counted(following.ms),
                    Bound::at_most(1000.0 / 30.0),
                )
                .at(at.clone()),
        ),
        timed(
            Claim::new(
                "On a device too, a cell size that follows beats a fixed one",
                "faster at every size (figure 10)",
            )
            .require(
                "time by that of the fixed cell",
                Figure::counted(following.ms / fixed.ms),
                Bound::at_most(1.0),
            )
            .show(format!("{:.2} and {:.2} entries a box", entries(following), entries(fixed)))
            .show(format!("swept by box, not by candidate {:.2}", by_box.ms / following.ms))
            .show(format!(
                "sorted by digits of 4 and 8 bits, not by buckets {:.2} and {:.2}",
                four.ms / following.ms,
                eight.ms / following.ms
            ))
            .show(on.clone())
            .at(at),
        ),
        Claim::new(
            "On the device, candidates grow with the number of objects",
            "a rising curve (figure 12)",
        )
        .require("power of the tests", Figure::counted(tests), Bound::near(1.15, 0.35))
        .over_sizes()
        .remark("at constant density; a count, the same on every device"),
        timed(
            Claim::new(
                "With the device, the broad phase scales better than the narrow phase",
                "figure 13",
            )
            .require(
                "power of the narrow phase less that of the broad phase",
                Figure::counted(narrow - broad),
                Bound::at_least(0.0),
            )
            .show(format!(
                "{:.1} % of {:.0} pairs decided on the device",
                100.0 * world.decided,
                world.pairs
            ))
            .show(on)
            .over_sizes(),
        ),
    ]
}

fn interactive() -> Claim {
    Claim::new(
        "Tens of thousands of objects at interactive rates on a GPU",
        "milliseconds on a GeForce GTX 470 (figure 10)",
    )
}
