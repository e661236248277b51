//! Both phases on more and more 80-triangle spheres in one room.

use std::sync::Arc;

use glam::DVec3;
use jostle::shape::{Hull, Pose, Shape};
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
    broad: f64,
    narrow: f64,
}

/// In a room of one size the candidate pairs grow faster than the objects, and the narrow phase
/// with them.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![1000, 2000, 4000], vec![4000, 8000, 16_000, 32_000, 64_000]);
    let most = sizes[sizes.len() - 1];
    let mut rows = Vec::new();
    for n in sizes {
        lab.check_stop()?;
        rows.push(measure(n, DENSITY * n as f64 / most as f64, lab.pick(4, 12))?);
    }
    write(lab, &rows)?;
    let power = |value: &dyn Fn(&Row) -> f64| {
        let points: Vec<_> = rows.iter().map(|row| (row.n as f64, value(row))).collect();
        power_law(&points).unwrap_or(f64::NAN)
    };
    let (pairs, broad) = (power(&|row| row.pairs), power(&|row| row.broad));
    let narrow = power(&|row| row.narrow);
    Ok(vec![
        Claim::new(
            "The narrow phase scales worse than the broad phase, as candidate pairs grow",
            "broad phase scales well, ISA-GJK does not (figures 12 and 13)",
        )
        .require("power of the pairs", Figure::counted(pairs), Bound::at_least(1.5))
        .require(
            "power of the narrow phase less that of the broad phase",
            Figure::counted(narrow - broad),
            Bound::at_least(0.0),
        )
        .show(format!("powers of n: broad {broad:.2}, narrow {narrow:.2}"))
        .over_sizes()
        .remark(
            "a room of one size, so density grows with n; one thread; contacts, not only yes or no",
        ),
    ])
}

fn measure(n: usize, density: f64, frames: usize) -> Result<Row, Failure> {
    let mut scene = Scene::new("uniform", n, 3, &[("density", density)])?;
    let mut world = World::new(Algorithm::Auto);
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
    Ok(Row { n, pairs: median(pairs), broad: median(broad), narrow: median(narrow) })
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

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let cells = rows.iter().map(|row| {
        let times = [row.pairs, row.broad, row.narrow].map(|value| format!("{value:.3}"));
        [vec![row.n.to_string()], times.to_vec()].concat()
    });
    let header = ["n", "candidate_pairs", "broad_ms", "narrow_ms"];
    lab.csv("phases", &header, &cells.collect::<Vec<_>>())?;
    let line = |name: &str, value: &dyn Fn(&Row) -> f64| {
        Series::new(name, rows.iter().map(|row| (row.n as f64, value(row))).collect())
    };
    let chart = |title: &str, y: &str, series: Vec<Series>| {
        Chart::Lines(Lines {
            title: title.into(),
            note: "80-triangle spheres in one room, moving; both axes logarithmic".into(),
            x: Axis::log("number of objects"),
            y: Axis::log(y),
            series,
        })
    };
    let times =
        vec![line("broad phase", &|row| row.broad), line("narrow phase", &|row| row.narrow)];
    let pairs = vec![line("candidate pairs", &|row| row.pairs)];
    lab.plot(
        "phases",
        &[
            chart("Time of both phases", "milliseconds per step", times),
            chart("Candidate pairs of the broad phase", "pairs", pairs),
        ],
    )
}
