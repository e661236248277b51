//! Detection and response of 10 000 objects on one worker and on all, by each schedule.

use glam::DVec3;
use jostle::shape::{Pose, Shape};
use jostle::world::Schedule;
use jostle::{Algorithm, Body, BodyId, Workers, World, available_threads};
use jostle_scenes::median;

use super::super::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::text::milliseconds;

const OBJECTS: usize = 10_000;

/// The paper's number of cores.
const CORES: usize = 4;

/// The paper's speed-up.
const SPEED_UP: f64 = 4968.0 / 1391.0;

const SCHEDULES: [(&str, Schedule); 3] = [
    ("blocks", Schedule::Blocks),
    ("alternating", Schedule::Alternating),
    ("stealing", Schedule::Stealing),
];

/// The schedule is even, and several workers share the time.
pub(crate) fn claims(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let threads = available_threads().max(2);
    let mut worlds = vec![("one worker", crowd(Workers::one(), Schedule::Blocks)?)];
    for (name, schedule) in SCHEDULES {
        worlds.push((name, crowd(Workers::new(threads)?, schedule)?));
    }
    let mut times = vec![Vec::new(); worlds.len()];
    for frame in 0..lab.pick(5, 40) {
        lab.check_stop()?;
        for ((_, (world, ids)), times) in worlds.iter_mut().zip(&mut times) {
            times.push(step(world, ids, frame)?);
        }
    }
    let medians: Vec<f64> = times.iter().map(|list| median(list.iter().copied())).collect();
    let evenness = evenness()?;
    write(lab, &worlds, &medians, threads)?;
    let best = if medians[2] < medians[3] { &times[2] } else { &times[3] };
    Ok(vec![
        Claim::new(
            "The alternating schedule gives all workers the same work",
            "12 481 257 of 49 925 028 tests for each of four cores (figure 4.13)",
        )
        .require("busiest of four workers by the mean", Figure::counted(evenness), {
            Bound::at_most(1.02)
        })
        .at("1 000 objects that all meet")
        .remark("counted"),
        Claim::new(
            "Detection and response of 10 000 objects share out well",
            "4968 ms on one core, 1391 ms on four: 3.57 times (figure 4.13)",
        )
        .require(
            "times as fast with four workers",
            Figure::ratio(&times[0], best),
            Bound::at_least(0.9 * SPEED_UP).better_from(1.05 * SPEED_UP),
        )
        .show(format!("measured with {threads} workers, {:.2} ms on one", medians[0]))
        .needs_cores(CORES, available_threads())
        .remark("narrow phase of pairs that a broad phase leaves, and the merge of what it finds"),
    ])
}

/// Objects in a crowd: boxes, balls and capsules, each in reach of a dozen others.
fn crowd(workers: Workers, schedule: Schedule) -> Result<(World, Vec<BodyId>), Failure> {
    let mut world = World::with_workers(Algorithm::Auto, workers);
    world.set_schedule(schedule);
    let shape = |k: usize| match k % 3 {
        0 => Shape::sphere(0.9),
        1 => Shape::cuboid(DVec3::splat(0.7)),
        _ => Shape::capsule(0.5, 0.6),
    };
    let body = |k: usize| -> Result<Body, Failure> {
        Ok(Body::new(shape(k).map_err(Failure::input)?, pose(k, 0)))
    };
    let bodies = (0..OBJECTS).map(body).collect::<Result<Vec<_>, Failure>>()?;
    let ids = world.insert_all(bodies).map_err(Failure::input)?;
    world.step()?;
    Ok((world, ids))
}

/// On a lattice, each swaying on its own circle.
fn pose(k: usize, frame: usize) -> Pose {
    let place = [k % 22, k / 22 % 22, k / 484].map(|cell| cell as f64 * 1.1);
    let turn = (frame + 7 * k) as f64 * 0.3;
    let sway = DVec3::new(turn.cos(), turn.sin(), 0.0) * 0.3;
    Pose::from_translation(DVec3::from_array(place) + sway).expect("a legal pose")
}

fn step(world: &mut World, ids: &[BodyId], frame: usize) -> Result<f64, Failure> {
    let poses: Vec<Pose> = (0..ids.len()).map(|k| pose(k, frame)).collect();
    world.set_poses(ids, &poses).map_err(Failure::input)?;
    world.step()?;
    Ok(milliseconds(world.stats().narrow + world.stats().merge))
}

/// The busiest worker's pairs by the mean, for objects that all meet.
fn evenness() -> Result<f64, Failure> {
    let mut world = World::with_workers(Algorithm::Auto, Workers::new(CORES)?);
    world.set_schedule(Schedule::Alternating);
    let ball = Shape::sphere(1.0).map_err(Failure::input)?;
    let at = |k: usize| Pose::from_translation(DVec3::X * 1e-4 * k as f64).expect("a legal pose");
    let bodies = (0..1000).map(|k| Body::new(ball.clone(), at(k))).collect();
    world.insert_all(bodies).map_err(Failure::input)?;
    world.step()?;
    let work = world.stats().workers.iter().map(|work| work.pairs as f64);
    let mean = work.clone().sum::<f64>() / world.stats().workers.len() as f64;
    Ok(work.fold(0.0, f64::max) / mean)
}

fn write(
    lab: &mut Lab,
    worlds: &[(&str, (World, Vec<BodyId>))],
    medians: &[f64],
    threads: usize,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for ((name, (world, _)), time) in worlds.iter().zip(medians) {
        let workers = if *name == "one worker" { 1 } else { threads };
        let most = world.stats().workers.iter().map(|work| work.pairs).max().unwrap_or(0);
        let cells = [workers, world.stats().tested, most].map(|count| count.to_string());
        let speed_up = format!("{:.2}", medians[0] / time);
        rows.push(
            [vec![(*name).into()], cells.to_vec(), vec![format!("{time:.3}"), speed_up]].concat(),
        );
    }
    let header = ["schedule", "workers", "pairs", "pairs_of_busiest", "median_ms", "speed_up"];
    lab.csv("world", &header, &rows)
}
