//! The second half of the demonstration: shapes in the boxes, and the narrow phase on their pairs.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use glam::DVec3;
use jostle::narrow;
use jostle::shape::{Pose, Shape};
use jostle::world::Touch;
use jostle::{Aabb, Algorithm, Body, BodyId, Pair, Slot, Workers, World};
use jostle_scenes::{Scene, SceneSpec, median};

use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::progress::Progress;
use crate::support::text::{grouped, milliseconds};

const FRAMES: usize = 20;

/// The world stops after this time, so that the command always ends soon.
const TIME: Duration = Duration::from_secs(4);

/// Runs shapes through the scene, reports, and checks the last step.
pub(crate) fn run(spec: &SceneSpec, workers: &Workers) -> Result<(), Failure> {
    let mut scene = spec.build()?;
    let mut world = World::with_workers(Algorithm::Auto, workers.clone());
    let bodies = scene.boxes().iter().enumerate().map(|(slot, aabb)| body(slot, aabb)).collect();
    let ids = world.insert_all(bodies).map_err(Failure::input)?;
    let (mut times, mut began, mut ended) = (Vec::new(), 0, 0);
    let progress = Progress::new(FRAMES, "shapes in the boxes");
    let start = Instant::now();
    loop {
        let step = world.step()?;
        began += step.began.len();
        ended += step.ended.len();
        times.push(milliseconds(world.stats().narrow));
        progress.step();
        if times.len() == FRAMES || start.elapsed() > TIME || interrupt::requested() {
            break;
        }
        scene.advance();
        follow(&mut world, &ids, &scene)?;
    }
    drop(progress);
    report(&world, times, began, ended)?;
    check(&world)
}

fn follow(world: &mut World, ids: &[BodyId], scene: &Scene) -> Result<(), Failure> {
    let poses: Vec<Pose> = scene.boxes().iter().map(pose).collect();
    world.set_poses(ids, &poses).map_err(Failure::input)
}

fn pose(aabb: &Aabb) -> Pose {
    let center = std::array::from_fn(|k| (f64::from(aabb.min[k]) + f64::from(aabb.max[k])) / 2.0);
    Pose::from_translation(DVec3::from_array(center)).expect("scenes are finite")
}

/// A shape that fills its box: ball, box, capsule or octahedron by turns.
fn body(slot: usize, aabb: &Aabb) -> Body {
    let half = std::array::from_fn(|k| f64::from(aabb.extent(k)) / 2.0);
    let half = DVec3::from_array(half);
    let round = half.min_element();
    let shape = match slot % 4 {
        0 => Shape::sphere(round),
        1 => Shape::cuboid(half),
        2 => Shape::capsule(round, half.y - round),
        _ => Shape::hull(&DVec3::AXES.map(|axis| [axis * half, -axis * half]).concat()),
    };
    Body::new(shape.expect("extents are finite and not negative"), pose(aabb))
}

fn report(world: &World, times: Vec<f64>, began: usize, ended: usize) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let steps = times.len();
    // The first step builds.
    let median = median(times.into_iter().skip(usize::from(steps > 1)));
    let stats = world.stats();
    writeln!(out, "shapes     balls, boxes, capsules and hulls in the boxes, {steps} steps")?;
    let pairs = grouped(stats.pairs as u64);
    let touches = grouped(world.last_step().touches.len() as u64);
    writeln!(out, "narrow     {median:.2} ms median; of {pairs} pairs of boxes {touches} touch")?;
    let (began, ended) = (grouped(began as u64), grouped(ended as u64));
    writeln!(out, "touches    {began} began, {ended} ended")?;
    Ok(())
}

/// Every pair of boxes, asked alone and without memory, must say the same.
fn check(world: &World) -> Result<(), Failure> {
    let body = |slot: Slot| world.id_at(slot).expect("paired bodies exist");
    let hit = |pair: &Pair| {
        let [a, b] = [pair.a(), pair.b()].map(|slot| world.placed(body(slot)));
        narrow::intersects(&a.expect("a body"), &b.expect("a body")).hit
    };
    let slots = |touch: &Touch| Pair::new(touch.pair.a(), touch.pair.b());
    let mut told = world.last_step().touches.iter().map(slots).peekable();
    for pair in world.detector().pairs() {
        let touches = told.next_if_eq(pair).is_some();
        if touches != hit(pair) {
            let said = if touches { "touching" } else { "apart" };
            return Err(Failure::Check(format!("the last step: bodies {pair} are not {said}")));
        }
    }
    writeln!(stdout(), "check      each of these pairs, asked alone, gives the same answer")?;
    Ok(())
}
