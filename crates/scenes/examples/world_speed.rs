//! Times the narrow phase of a world of moving mixed shapes on one thread and on several, for each
//! way of dealing, interleaved step by step; prints ratios of the same steps.
//!
//! `cargo run --release -p jostle-scenes --example world_speed [n] [steps] [threads]`

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::world::Dealing;
use jostle::{Aabb, Algorithm, Body, BodyId, Workers, World};
use jostle_scenes::Scene;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let n = arguments.next().unwrap_or(Ok(100_000))?;
    let steps = arguments.next().unwrap_or(Ok(12))?;
    let threads = arguments.next().unwrap_or(Ok(2))?;
    let mut scene = Scene::new("uniform", n, 7, &[("density", 0.35)])?;
    let rows = [
        ("one thread", 1, Dealing::Blocks),
        ("blocks", threads, Dealing::Blocks),
        ("alternating", threads, Dealing::Alternating),
        ("stealing", threads, Dealing::Stealing),
    ];
    let mut worlds = Vec::new();
    for (_, threads, dealing) in rows {
        let mut world = World::with_workers(Algorithm::Auto, Workers::new(threads)?);
        world.set_dealing(dealing);
        let ids = world.insert_all(bodies(&scene))?;
        worlds.push((world, ids));
    }
    let mut times = vec![Vec::new(); rows.len()];
    for step in 0..=steps {
        for ((world, ids), times) in worlds.iter_mut().zip(&mut times) {
            advance(world, ids, &scene, step)?;
            if step > 0 {
                let stats = world.stats();
                times.push([stats.narrow, stats.merge, stats.broad, stats.boxes]);
            }
        }
        scene.advance();
    }
    let stats = worlds[0].0.stats();
    let touches = worlds[0].0.last_step().touches.len();
    println!("{n} bodies, {} pairs of boxes, {touches} touch, {steps} steps", stats.pairs);
    println!(
        "{:12} narrow ms: min, median; ratio: of mins, median of steps; merge, broad, boxes ms; work",
        ""
    );
    let of = |row: usize, part: usize| -> Vec<f64> {
        times[row].iter().map(|step| step[part].as_secs_f64() * 1e3).collect()
    };
    let one = of(0, 0);
    for (row, (name, ..)) in rows.iter().enumerate() {
        let narrow = of(row, 0);
        let ratios = one.iter().zip(&narrow).map(|(one, other)| one / other).collect();
        let work: Vec<_> = worlds[row].0.stats().work.iter().map(|w| (w.pairs, w.stolen)).collect();
        println!(
            "{name:12} {:8.2} {:8.2}  {:5.2} {:5.2}  {:7.2} {:7.2} {:7.2}  {work:?}",
            least(&narrow),
            median(narrow.clone()),
            least(&one) / least(&narrow),
            median(ratios),
            median(of(row, 1)),
            median(of(row, 2)),
            median(of(row, 3)),
        );
    }
    Ok(())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn bodies(scene: &Scene) -> Vec<Body> {
    let each = scene.boxes().iter().enumerate();
    each.map(|(k, aabb)| Body::new(shape(k, half(aabb)), pose(k, aabb, 0))).collect()
}

fn advance(
    world: &mut World,
    ids: &[BodyId],
    scene: &Scene,
    step: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let boxes = scene.boxes().iter().enumerate();
    let poses: Vec<Pose> = boxes.map(|(k, aabb)| pose(k, aabb, step)).collect();
    world.set_poses(ids, &poses)?;
    world.step()?;
    Ok(())
}

fn half(aabb: &Aabb) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|k| f64::from(aabb.max[k] - aabb.min[k]) / 2.0))
}

fn pose(k: usize, aabb: &Aabb, step: usize) -> Pose {
    let center = std::array::from_fn(|k| f64::from(aabb.max[k] + aabb.min[k]) / 2.0);
    let turn = DQuat::from_rotation_x(k as f64) * DQuat::from_rotation_y(0.02 * step as f64);
    Pose::new(turn.normalize(), DVec3::from_array(center)).expect("scenes are finite")
}

fn shape(k: usize, half: DVec3) -> Shape {
    let round = half.min_element();
    match k % 4 {
        0 => Shape::sphere(round),
        1 => Shape::cuboid(half),
        2 => Shape::capsule(round, half.y - round),
        _ => {
            let golden = 0.618;
            let corners: Vec<DVec3> = (0..12u32)
                .map(|k| {
                    let sign = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    let (long, short) = (sign(0), sign(1) * golden);
                    half * match k / 4 {
                        0 => DVec3::new(long, short, 0.0),
                        1 => DVec3::new(0.0, long, short),
                        _ => DVec3::new(short, 0.0, long),
                    }
                })
                .collect();
            Shape::hull(&corners)
        }
    }
    .expect("sizes are positive")
}
