//! The narrow phase of a world of moving mixed shapes on one thread and on several, for each
//! schedule, interleaved step by step; ratios are of the same steps.

use std::io::Write;

use clap::Args;
use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::world::Schedule;
use jostle::{Aabb, Algorithm, Body, BodyId, World};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{Scene, Sorted, median};

/// Times a world's narrow phase on one thread and on several, for each schedule
#[derive(Args, Debug)]
pub struct WorldStepsArgs {
    /// Number of bodies
    #[arg(long, value_parser = names::positive, default_value = "100k")]
    n: usize,
    /// Number of steps after the first
    #[arg(long, value_parser = names::positive, default_value = "12")]
    steps: usize,
    /// Threads of all rows but the first; 0 is one for each core
    #[arg(long, value_parser = names::threads, default_value = "2")]
    threads: usize,
}

/// One way to run the world.
struct Variant {
    name: &'static str,
    world: World,
    ids: Vec<BodyId>,
    /// Milliseconds of the narrow phase, merging, the broad phase and the boxes, step by step.
    times: [Vec<f64>; 4],
}

impl Variant {
    fn new(
        name: &'static str,
        threads: usize,
        schedule: Schedule,
        scene: &Scene,
    ) -> Result<Variant, Failure> {
        let mut world = World::with_workers(Algorithm::Auto, names::workers(threads)?);
        world.set_schedule(schedule);
        let ids = world.insert_all(bodies(scene)).map_err(Failure::input)?;
        Ok(Variant { name, world, ids, times: Default::default() })
    }

    fn note_times(&mut self) {
        let stats = self.world.stats();
        let times = [stats.narrow, stats.merge, stats.broad, stats.boxes];
        for (list, time) in self.times.iter_mut().zip(times) {
            list.push(1e3 * time.as_secs_f64());
        }
    }

    fn row(&self, one_thread: &[f64]) -> Vec<String> {
        let [narrow, merge, broad, boxes] = self.times.each_ref();
        let ratios = one_thread.iter().zip(narrow).map(|(one, other)| one / other);
        let (sorted, one) =
            (Sorted::new(narrow.iter().copied()), Sorted::new(one_thread.iter().copied()));
        let pairs: Vec<String> =
            self.world.stats().workers.iter().map(|work| format!("{}", work.pairs)).collect();
        let numbers = [
            sorted.least(),
            sorted.median(),
            one.least() / sorted.least(),
            median(ratios),
            median(merge.iter().copied()),
            median(broad.iter().copied()),
            median(boxes.iter().copied()),
        ];
        let mut row = vec![self.name.to_owned()];
        row.extend(numbers.map(|number| format!("{number:.2}")));
        row.push(pairs.join(" "));
        row
    }
}

/// Runs the subcommand.
pub fn run(args: &WorldStepsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut scene = Scene::new("uniform", args.n, 7, &[("density", 0.35)])?;
    let mut variants = [
        Variant::new("one thread", 1, Schedule::Blocks, &scene)?,
        Variant::new("blocks", args.threads, Schedule::Blocks, &scene)?,
        Variant::new("alternating", args.threads, Schedule::Alternating, &scene)?,
        Variant::new("stealing", args.threads, Schedule::Stealing, &scene)?,
    ];
    for step in 0..=args.steps {
        for variant in &mut variants {
            advance(&mut variant.world, &variant.ids, &scene, step)?;
            // The first step builds.
            if step > 0 {
                variant.note_times();
            }
        }
        scene.advance();
    }
    let world = &variants[0].world;
    let (pairs, touches) = (world.stats().pairs, world.last_step().touches.len());
    writeln!(out, "{} bodies, {pairs} pairs of boxes, {touches} touch", args.n)?;
    let header = [
        "schedule",
        "narrow min ms",
        "median",
        "ratio of mins",
        "of steps",
        "merge",
        "broad",
        "boxes",
        "pairs of each worker",
    ];
    let one_thread = &variants[0].times[0];
    let rows: Vec<Vec<String>> = variants.iter().map(|variant| variant.row(one_thread)).collect();
    write!(out, "{}", table(&header, &rows, &[0, 8]))?;
    Ok(())
}

fn bodies(scene: &Scene) -> Vec<Body> {
    let each = scene.boxes().iter().enumerate();
    each.map(|(k, aabb)| Body::new(shape(k, half(aabb)), pose(k, aabb, 0))).collect()
}

fn advance(world: &mut World, ids: &[BodyId], scene: &Scene, step: usize) -> Result<(), Failure> {
    let boxes = scene.boxes().iter().enumerate();
    let poses: Vec<Pose> = boxes.map(|(k, aabb)| pose(k, aabb, step)).collect();
    world.set_poses(ids, &poses).map_err(Failure::input)?;
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
