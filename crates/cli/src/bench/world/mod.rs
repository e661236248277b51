//! `jostle bench --world`: a whole step, from poses to contact manifolds, on moving worlds.
//!
//! A scene moves by its own small simulation, which is not timed. All numbers of threads see a
//! frame before the next one comes, and must say the same to the last bit.

use std::time::{Duration, Instant};

use jostle::world::Detail;
use jostle::{Algorithm, BodyId, World};
use jostle_scenes::{Sorted, WorldKind, WorldScene};

use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;

pub mod command;
mod report;

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The kind of scene.
    pub kind: &'static WorldKind,
    /// Number of bodies that are asked for.
    pub bodies: usize,
    /// Frames that are timed.
    pub frames: usize,
    /// The scene's seed.
    pub seed: u64,
    /// What the world is asked.
    pub detail: Detail,
}

/// The parts of a step, in their order.
pub const STAGES: [&str; 4] = ["boxes", "broad", "narrow", "merge"];

/// One number of threads on one course.
#[derive(Clone, Debug)]
pub struct Row {
    /// The course.
    pub course: Course,
    /// Number of threads.
    pub threads: usize,
    /// Bodies, the floor and walls among them.
    pub bodies: usize,
    /// Milliseconds of whole steps.
    pub steps: Sorted,
    /// Milliseconds of the parts of a step.
    pub stages: [Sorted; 4],
    /// Milliseconds of each step in turn, for ratios of the same steps.
    pub in_turn: Vec<f64>,
    /// Pairs of boxes, pairs tested, answers used again, and touches: means of all frames.
    pub counts: [f64; 4],
}

struct Runner {
    world: World,
    ids: Vec<BodyId>,
    threads: usize,
    steps: Vec<f64>,
    stages: [Vec<f64>; 4],
    counts: [usize; 4],
}

impl Runner {
    fn new(scene: &WorldScene, threads: usize, detail: Detail) -> Result<Runner, Failure> {
        let mut world = World::with_workers(Algorithm::Auto, names::workers(threads)?);
        world.set_detail(detail);
        let ids = world.insert_all(scene.bodies().to_vec()).map_err(Failure::input)?;
        for [one, other] in scene.excluded() {
            world.exclude(ids[*one], ids[*other]).map_err(Failure::input)?;
        }
        let (steps, stages, counts) = (Vec::new(), Default::default(), [0; 4]);
        Ok(Runner { world, ids, threads, steps, stages, counts })
    }

    /// Runs one frame; the first ones build and are not timed.
    fn frame(&mut self, scene: &WorldScene, timed: bool) -> Result<(), Failure> {
        self.world.set_poses(&self.ids, scene.poses()).map_err(Failure::input)?;
        let start = Instant::now();
        self.world.step()?;
        let step = start.elapsed();
        if !timed {
            return Ok(());
        }
        let stats = self.world.stats();
        let ms = |time: Duration| 1e3 * time.as_secs_f64();
        self.steps.push(ms(step));
        let times = [stats.boxes, stats.broad, stats.narrow, stats.merge];
        self.stages.iter_mut().zip(times).for_each(|(list, time)| list.push(ms(time)));
        let touches = self.world.last_step().touches.len() + self.world.last_step().overlaps.len();
        let counts = [stats.pairs, stats.tested, stats.reused, touches];
        self.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        Ok(())
    }

    fn row(self, course: Course) -> Row {
        let frames = self.steps.len().max(1) as f64;
        Row {
            course,
            threads: self.threads,
            bodies: self.ids.len(),
            steps: Sorted::new(self.steps.iter().copied()),
            stages: self.stages.map(Sorted::new),
            in_turn: self.steps,
            counts: self.counts.map(|sum| sum as f64 / frames),
        }
    }
}

/// Frames that every world sees before it is timed.
const WARM: usize = 2;

/// Runs a course for each number of threads.
pub fn measure(course: &Course, threads: &[usize]) -> Result<Vec<Row>, Failure> {
    let mut scene = WorldScene::new(course.kind, course.bodies, course.seed);
    let total = course.kind.settle + WARM + course.frames;
    let progress = Progress::new(total, course.kind.name);
    for _ in 0..course.kind.settle {
        scene.advance();
        progress.step();
    }
    let mut runners: Vec<Runner> = threads
        .iter()
        .map(|&threads| Runner::new(&scene, threads, course.detail))
        .collect::<Result<_, _>>()?;
    for frame in 0..WARM + course.frames {
        scene.advance();
        let count = runners.len();
        // Whoever comes first finds the poses out of the cache: each in turn.
        for place in 0..count {
            runners[(place + frame) % count].frame(&scene, frame >= WARM)?;
        }
        agree(course, frame, &runners)?;
        progress.step();
        if interrupt::requested() {
            break;
        }
    }
    Ok(runners.into_iter().map(|runner| runner.row(*course)).collect())
}

/// Fails if two worlds do not say the same.
fn agree(course: &Course, frame: usize, runners: &[Runner]) -> Result<(), Failure> {
    let Some((first, others)) = runners.split_first() else { return Ok(()) };
    let told = first.world.last_step();
    match others.iter().find(|other| other.world.last_step() != told) {
        None => Ok(()),
        Some(other) => Err(Failure::Check(format!(
            "{}, frame {frame}: {} and {} threads found different touches",
            course.kind.name, first.threads, other.threads
        ))),
    }
}
