//! Both phases on more and more 80-triangle spheres in one room.

use std::sync::Arc;

use glam::DVec3;
use jostle::shape::{Hull, Pose, Shape};
use jostle::world::Detail;
use jostle::{Aabb, Algorithm, Body, World};
use jostle_scenes::{Scene, median};

use super::super::{Bound, Claim, Figure, Lab, power_law};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::milliseconds;

/// The filled share of the room at the largest number of objects.
const DENSITY: f64 = 0.3;

struct Row {
    n: usize,
    pairs: f64,
    broad: Vec<f64>,
    narrow: Vec<f64>,
}

/// The thesis does not say whether its world grows with the objects. Both readings are run: one
/// room for all numbers, and a room that grows so that the filled share stays.
const READINGS: [&str; 2] = ["one room", "room grows"];

/// Figures 12 and 13.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![1000, 2000, 4000], vec![4000, 8000, 16_000, 32_000]);
    let most = sizes[sizes.len() - 1];
    let mut readings = [Vec::new(), Vec::new()];
    for n in sizes {
        lab.check_stop()?;
        let densities = [DENSITY * n as f64 / most as f64, DENSITY];
        for (rows, density) in readings.iter_mut().zip(densities) {
            rows.push(measure(n, density, lab.pick(4, 12), Detail::Boolean)?);
        }
    }
    write(lab, &readings)?;
    let powers = readings.each_ref().map(|rows| Powers::of(rows));
    let [one_room, grows] = [0, 1].map(|reading| of_reading(READINGS[reading], powers[reading]));
    // What the two readings differ in is how full the room is.
    let filled = "in a room that grows the filled share stays, and with it the neighbours of an \
                  object; in one room for all numbers they grow with them";
    let [pairs, phases] = grows;
    let pairs = pairs.because(
        filled,
        "power of the pairs in one room",
        Figure::counted(powers[0].pairs),
        Bound::at_least(1.25),
    );
    let phases = phases.because(
        filled,
        "power of the narrow phase less that of the broad phase in one room",
        Figure::counted(powers[0].narrow - powers[0].broad),
        Bound::at_least(0.25),
    );
    Ok(one_room.into_iter().chain([pairs, phases]).collect())
}

/// The powers of the number of objects by which pairs and times grow.
#[derive(Clone, Copy)]
struct Powers {
    pairs: f64,
    broad: f64,
    narrow: f64,
}

impl Powers {
    fn of(rows: &[Row]) -> Powers {
        let power = |value: &dyn Fn(&Row) -> f64| {
            let points: Vec<_> = rows.iter().map(|row| (row.n as f64, value(row))).collect();
            power_law(&points).unwrap_or(f64::NAN)
        };
        Powers {
            pairs: power(&|row| row.pairs),
            broad: power(&|row| middle(&row.broad)),
            narrow: power(&|row| middle(&row.narrow)),
        }
    }
}

fn of_reading(name: &str, Powers { pairs, broad, narrow }: Powers) -> [Claim; 2] {
    let remark = "the thesis does not tell whether its world grows with the objects; one thread, \
                  yes or no by ISA-GJK";
    [
        Claim::new(
            format!("Candidate pairs grow faster than the objects ({name})"),
            "a rising curve, given as the reason why the narrow phase does not scale (figure 12)",
        )
        .require("power of the pairs", Figure::counted(pairs), Bound::at_least(1.25))
        .over_sizes()
        .remark(remark),
        Claim::new(
            format!("The narrow phase scales worse than the broad phase ({name})"),
            "broad phase scales well, ISA-GJK does not (figure 13)",
        )
        .require(
            "power of the narrow phase less that of the broad phase",
            Figure::counted(narrow - broad),
            Bound::at_least(0.25),
        )
        .show(format!("powers of n: broad {broad:.2}, narrow {narrow:.2}"))
        .over_sizes()
        .remark(remark),
    ]
}

/// ISA-GJK, which says yes or no, against GJK with depth and contact points.
pub(crate) fn detail(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let details = [
        ("yes or no", Detail::Boolean),
        ("contact", Detail::Contact),
        ("manifold", Detail::Manifold),
    ];
    let sizes = lab.pick(vec![1000, 3000], vec![4000, 8000, 16_000, 32_000]);
    let mut rows: Vec<Vec<Row>> = Vec::new();
    for &n in &sizes {
        lab.check_stop()?;
        let all = details.iter().map(|(_, detail)| measure(n, DENSITY, lab.pick(6, 16), *detail));
        rows.push(all.collect::<Result<_, _>>()?);
    }
    let mut cells = Vec::new();
    for row in &rows {
        for ((name, _), row) in details.iter().zip(row) {
            let time = format!("{:.4}", middle(&row.narrow));
            cells.push(vec![row.n.to_string(), (*name).into(), format!("{:.0}", row.pairs), time]);
        }
    }
    lab.csv("detail", &["n", "answer", "candidate_pairs", "narrow_ms"], &cells)?;
    let line = |k: usize| {
        let points = rows.iter().map(|row| (row[k].n as f64, middle(&row[k].narrow))).collect();
        Series::new(details[k].0, points)
    };
    lab.plot(
        "detail",
        &[Chart::Lines(Lines {
            title: "What the narrow phase is asked".into(),
            note: "80-triangle spheres, moving, one thread; both axes logarithmic".into(),
            x: Axis::log("number of objects"),
            y: Axis::log("milliseconds of the narrow phase"),
            series: (0..details.len()).map(line).collect(),
        })],
    )?;
    let Some(last) = rows.last() else { return Ok(Vec::new()) };
    Ok(vec![
        Claim::new(
            "ISA-GJK is faster than GJK with contact points",
            "fewer iterations, because a separating axis ends it; GJK only for responses \
             (section 6.2.1)",
        )
        .require(
            "time for contacts by that for yes or no",
            Figure::ratio(&last[1].narrow, &last[0].narrow),
            Bound::at_least(1.0),
        )
        .show(format!("for manifolds {}", Figure::ratio(&last[2].narrow, &last[0].narrow)))
        .at(format!("{} objects, {:.0} pairs of boxes", last[0].n, last[0].pairs)),
    ])
}

fn middle(times: &[f64]) -> f64 {
    median(times.iter().copied())
}

fn measure(n: usize, density: f64, frames: usize, detail: Detail) -> Result<Row, Failure> {
    let mut scene = Scene::new("uniform", n, 3, &[("density", density)])?;
    let mut world = World::new(Algorithm::Auto);
    world.set_detail(detail);
    let ball = Hull::icosphere(1.0, 1).map_err(Failure::input)?;
    let bodies: Result<Vec<Body>, Failure> =
        scene.boxes().iter().map(|aabb| body(&ball, aabb)).collect();
    let ids = world.insert_all(bodies?).map_err(Failure::input)?;
    world.step()?;
    let (mut pairs, mut broad, mut narrow) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..frames {
        scene.advance();
        let poses: Vec<Pose> = scene.boxes().iter().map(center).collect();
        world.set_poses(&ids, &poses).map_err(Failure::input)?;
        world.step()?;
        pairs.push(world.stats().pairs as f64);
        broad.push(milliseconds(world.stats().broad));
        narrow.push(milliseconds(world.stats().narrow));
    }
    Ok(Row { n, pairs: middle(&pairs), broad, narrow })
}

/// A triangulated ball in a box.
fn body(ball: &Hull, aabb: &Aabb) -> Result<Body, Failure> {
    let radius = (0..3).map(|k| f64::from(aabb.extent(k)) / 2.0).fold(f64::INFINITY, f64::min);
    let points: Vec<DVec3> = ball.vertices().iter().map(|&point| point * radius).collect();
    let hull = Hull::new(&points).map_err(Failure::input)?;
    Ok(Body::new(Shape::Hull(Arc::new(hull)), center(aabb)))
}

/// The middle of a box.
pub(crate) fn center(aabb: &Aabb) -> Pose {
    let middle = std::array::from_fn(|k| (f64::from(aabb.min[k]) + f64::from(aabb.max[k])) / 2.0);
    Pose::from_translation(DVec3::from_array(middle)).expect("scenes are finite")
}

fn write(lab: &mut Lab, readings: &[Vec<Row>; 2]) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for (name, rows) in READINGS.iter().zip(readings) {
        cells.extend(rows.iter().map(|row| {
            let figures = [row.pairs, middle(&row.broad), middle(&row.narrow)];
            let figures = figures.map(|value| format!("{value:.3}"));
            [vec![(*name).to_owned(), row.n.to_string()], figures.to_vec()].concat()
        }));
    }
    lab.csv("phases", &["reading", "n", "candidate_pairs", "broad_ms", "narrow_ms"], &cells)?;
    let line = |what: &str, reading: usize, value: &dyn Fn(&Row) -> f64| {
        let points = readings[reading].iter().map(|row| (row.n as f64, value(row))).collect();
        Series::new(&format!("{what}, {}", READINGS[reading]), points).in_group(what, reading)
    };
    let chart = |title: &str, y: &str, series: Vec<Series>| {
        Chart::Lines(Lines {
            title: title.into(),
            note: "80-triangle spheres, moving; both axes logarithmic".into(),
            x: Axis::log("number of objects"),
            y: Axis::log(y),
            series,
        })
    };
    let both = |what: &str, value: &dyn Fn(&Row) -> f64| [0, 1].map(|k| line(what, k, value));
    let broad = both("broad", &|row| middle(&row.broad));
    let narrow = both("narrow", &|row| middle(&row.narrow));
    let pairs = both("pairs", &|row| row.pairs);
    lab.plot(
        "phases",
        &[
            chart("Candidate pairs of the broad phase (figure 12)", "pairs", pairs.into()),
            chart("Time of both phases (figure 13)", "milliseconds per step", {
                broad.into_iter().chain(narrow).collect()
            }),
        ],
    )
}
