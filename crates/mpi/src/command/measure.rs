//! One job over frames that are all there, measured: what `bench` times and `simulate` counts.

use std::time::Instant;

use jostle::{Aabb, Detector, Filter, Workers};
use jostle_mpi::{Communicator, DistributedDetector, GlobalId, Options, Reduction, UniformWorld};
use jostle_scenes::SceneSpec;

use super::Failure;

/// Frames of a scene whose boxes neither come nor go. Ids are places.
pub(crate) struct Frames {
    pub(crate) name: String,
    pub(crate) boxes: Vec<Vec<Aabb>>,
    filters: Vec<Filter>,
}

/// Steps before the first that counts: the boxes come, the first cuts are made.
pub(crate) const WARM_UP: usize = 12;

impl Frames {
    pub(crate) fn new(
        scene: &str,
        n: usize,
        seed: u64,
        params: &[String],
        frames: usize,
    ) -> Result<Frames, Failure> {
        let mut spec = SceneSpec::new(scene, n, seed);
        for param in params {
            spec = spec.parse_param(param).map_err(Failure::input)?;
        }
        let mut scene = spec.build().map_err(Failure::input)?;
        if scene.alive().is_some() {
            let message = format!("boxes of {} come and go; choose another scene", spec.name);
            return Err(Failure::Input(message));
        }
        let filter = |slot: usize| match scene.still() {
            Some(still) if still[slot] => Filter::STILL,
            _ => Filter::ALL,
        };
        let filters = (0..n).map(filter).collect();
        let mut boxes = Vec::new();
        for _ in 0..WARM_UP + frames {
            boxes.push(scene.boxes().to_vec());
            scene.advance();
        }
        Ok(Frames { name: spec.name, boxes, filters })
    }

    /// The uniform world with as many boxes, of the mean width and the mean motion, for the cost
    /// model.
    pub(crate) fn as_uniform(&self) -> UniformWorld {
        let (before, after) = (&self.boxes[WARM_UP - 1], &self.boxes[WARM_UP]);
        let n = after.len().max(1) as f64;
        let (mut width, mut motion, mut volume) = (0.0, 0.0, 1.0);
        for axis in 0..3 {
            let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
            for (old, new) in before.iter().zip(after) {
                width += f64::from(new.extent(axis)) / n / 3.0;
                motion += f64::from((new.min[axis] - old.min[axis]).abs()) / n / 3.0;
                (low, high) = (low.min(new.min[axis]), high.max(new.max[axis]));
            }
            volume *= f64::from(high - low);
        }
        // Up to twice the mean along an axis is as much motion as the mean.
        UniformWorld {
            boxes: after.len() as u64,
            density: n * width.powi(3) / volume,
            speed: 2.0 * motion / width,
        }
    }
}

/// What a job did, over the frames that count. The same on all ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) ranks: usize,
    pub(crate) frames: usize,
    pub(crate) pairs: u64,
    /// Of each step: the slowest rank's time, and that of one process.
    pub(crate) step_ms: Vec<f64>,
    pub(crate) single_ms: Vec<f64>,
    pub(crate) tests: u64,
    pub(crate) single_tests: u64,
    pub(crate) moving: u64,
    pub(crate) ghosts: u64,
    pub(crate) boxes: u64,
    pub(crate) bytes: u64,
    pub(crate) messages: u64,
    /// The most that one rank sent in one step.
    pub(crate) most_messages: u64,
    pub(crate) collectives: u64,
    pub(crate) collective_bytes: u64,
    pub(crate) migrated: u64,
    pub(crate) cuts: u64,
    /// Busiest over mean by tests, of each step.
    pub(crate) imbalance: Vec<f64>,
}

impl Measured {
    pub(crate) fn ghost_share(&self) -> f64 {
        self.ghosts as f64 / (self.boxes as f64 * self.frames as f64).max(1.0)
    }

    pub(crate) fn bytes_per_moving_box(&self) -> f64 {
        self.bytes as f64 / (self.moving as f64).max(1.0)
    }

    pub(crate) fn messages_per_rank(&self) -> f64 {
        self.messages as f64 / (self.ranks * self.frames) as f64
    }

    pub(crate) fn tests_ratio(&self) -> Option<f64> {
        (self.single_tests > 0).then(|| self.tests as f64 / self.single_tests as f64)
    }
}

/// One process with some threads, to compare with.
struct Single {
    detector: Detector,
}

/// Runs the job. With `against` threads rank 0 also runs one process over the same frames, one
/// frame of each in turn, while the other ranks sleep.
pub(crate) fn measure<C: Communicator>(
    comm: &C,
    frames: &Frames,
    options: Options,
    against: usize,
) -> Result<Measured, Failure> {
    let mut single = match (comm.rank(), against) {
        (0, 1..) => {
            let workers = Workers::new(against).map_err(Failure::input)?;
            let mut detector = Detector::with_workers(options.algorithm, workers);
            let boxes = detector.boxes_mut();
            boxes.insert_each(&frames.boxes[0], &frames.filters).map_err(Failure::input)?;
            Some(Single { detector })
        }
        _ => None,
    };
    let n = frames.boxes[0].len();
    let mine = n * comm.rank() / comm.size()..n * (comm.rank() + 1) / comm.size();
    let ids: Vec<GlobalId> = mine.clone().map(|slot| GlobalId(slot as u64)).collect();
    let mut detector = DistributedDetector::new(comm, options);
    detector.insert(&ids, &frames.boxes[0][mine.clone()], &frames.filters[mine]);
    let mut sum = Measured { ranks: comm.size(), boxes: n as u64, ..Measured::default() };
    for (frame, boxes) in frames.boxes.iter().enumerate() {
        let bounds: Vec<Aabb> = detector.ids().iter().map(|id| boxes[id.0 as usize]).collect();
        comm.quiet_barrier();
        let start = Instant::now();
        if frame > 0 {
            detector.set_all(&bounds);
        }
        detector.step()?;
        let step_ms = start.elapsed().as_secs_f64() * 1e3;
        comm.quiet_barrier();
        let mut single_ms = 0.0;
        if let Some(single) = &mut single {
            let start = Instant::now();
            if frame > 0 {
                single.detector.boxes_mut().set_all(boxes).map_err(Failure::input)?;
            }
            single.detector.step().map_err(Failure::input)?;
            single_ms = start.elapsed().as_secs_f64() * 1e3;
        }
        comm.quiet_barrier();
        if frame >= WARM_UP {
            count_frame(comm, &detector, &mut sum, step_ms);
            sum.single_ms.push(single_ms);
            if let Some(single) = &single {
                sum.single_tests += single.detector.stats().tests;
            }
        }
    }
    sum.pairs = detector.pair_count();
    Ok(sum)
}

/// Adds what all ranks did in a step.
fn count_frame<C: Communicator>(
    comm: &C,
    detector: &DistributedDetector<&C>,
    sum: &mut Measured,
    step_ms: f64,
) {
    let report = detector.report();
    let mut sums = [
        report.tests,
        report.changed,
        detector.ghosts(),
        report.bytes,
        report.messages,
        report.arrived,
    ];
    comm.all_reduce(&mut sums, Reduction::Sum);
    let mut most = [report.tests, report.messages, (step_ms * 1e3) as u64];
    comm.all_reduce(&mut most, Reduction::Max);
    sum.frames += 1;
    sum.tests += sums[0];
    sum.moving += sums[1];
    sum.ghosts += sums[2];
    sum.bytes += sums[3];
    sum.messages += sums[4];
    sum.migrated += sums[5];
    sum.collectives += report.collectives;
    sum.collective_bytes += report.collective_bytes;
    sum.cuts += u64::from(report.cut);
    sum.imbalance.push(most[0] as f64 * comm.size() as f64 / (sums[0] as f64).max(1.0));
    sum.most_messages = sum.most_messages.max(most[1]);
    sum.step_ms.push(most[2] as f64 / 1e3);
}

/// The middle of some values.
pub(crate) fn median(values: &[f64]) -> f64 {
    jostle_scenes::median(values.iter().copied())
}

/// The smallest of some values.
pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
