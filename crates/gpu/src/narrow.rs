//! [`GpuNarrow`]: the narrow phase on the device, batched ISA-GJK in f32 with three answers.
//!
//! ```text
//!   host                                   device
//!  ──────                                 ───────────────────────────────────────────────
//!  parts that moved ──────64 B each────►   matrix, centre in two f32, number of the shape
//!  pairs ─────────────────8 B each─────►   scale, sphere test
//!                                          up to 32 steps of GJK: search vertices, then
//!                                             the plane is beyond all errors      apart
//!                                             the origin is within the radii, or
//!                                             inside four corners, whatever they err
//!                                                                                 overlapping
//!  two bits each ◄──────────────────────   no progress                            undecided
//! ```
//!
//! The processor answers the undecided ones in f64 and computes the contacts of all that touch, so
//! that a [`World`](jostle::World) with this screen gives the bytes of one without. `gjk.wgsl` has
//! the account of errors: pairs are undecided if their gap or depth is below some 3e-5 of their
//! size, or more if one hull is climbed ([`HullSearch::CubeMap`]). Shapes smaller than 1e-12 or
//! larger than 1e12 are always undecided.
//!
//! A compound is a run of parts: one pair of parts that overlaps decides it, and all of them must
//! be apart. Half-spaces take one search.

use jostle::shape::{Pose, Shape};
use jostle::world::{Decision, Screen};
use jostle::{Error, Pair, Stats};

use crate::buffers::{Readback, Upload, storage};
use crate::device::{Gpu, GpuError};
use crate::kernel::Kernel;
use bodies::{Bodies, PART_WORDS};

mod bodies;
mod table;

/// How the furthest vertex of a hull is found on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HullSearch {
    /// One thread for each pair: small hulls are scanned, large ones climbed from the vertex that
    /// a cube map of directions has (Sathe and Lake).
    #[default]
    CubeMap,
    /// One workgroup for each pair, whose threads look for the maximum together, in workgroup
    /// memory if the vertices of both hulls fit there: 1200.
    Workgroup,
}

/// The most pairs of a submission.
const MOST_PAIRS: usize = 1 << 20;

/// The most workgroups of a dispatch.
const MOST_GROUPS: u32 = 4096;

/// Bytes of the parameters.
const PARAMS: u64 = 32;

/// The narrow phase on a device, as a [`Screen`] for worlds; see [`GpuNarrow::decide`].
///
/// ```no_run
/// use jostle::{Algorithm, World};
/// use jostle_gpu::{Gpu, GpuChoice, GpuNarrow, GpuSweep};
///
/// let gpu = Gpu::open(&GpuChoice::Fastest)?;
/// let mut world = World::new(Algorithm::Auto);
/// world.set_broad_phase(Box::new(GpuSweep::new(&gpu)));
/// world.set_screen(Some(Box::new(GpuNarrow::new(&gpu))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GpuNarrow {
    gpu: Gpu,
    search: HullSearch,
    bodies: Bodies,
    memory: Option<Memory>,
    upload: Option<Upload>,
    readback: Option<Readback>,
    counters: Counters,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    pairs: u64,
    decided: u64,
    dispatches: u64,
    submissions: u64,
    uploaded: u64,
    read: u64,
    grown: u64,
}

/// The buffers and what binds them.
#[derive(Debug)]
struct Memory {
    params: wgpu::Buffer,
    /// Answers, pairs, slots, parts, shapes, vertices: as the kernels bind them.
    buffers: [wgpu::Buffer; 6],
    bind: wgpu::BindGroup,
}

const ANSWERS: usize = 0;
const PAIRS: usize = 1;
const SLOTS: usize = 2;
const PARTS: usize = 3;
const SHAPES: usize = 4;
const DATA: usize = 5;

impl GpuNarrow {
    /// A new instance on a device.
    pub fn new(gpu: &Gpu) -> GpuNarrow {
        GpuNarrow::with_search(gpu, HullSearch::default())
    }

    /// A new instance on a device, with a stated search.
    pub fn with_search(gpu: &Gpu, search: HullSearch) -> GpuNarrow {
        GpuNarrow {
            gpu: gpu.clone(),
            search,
            bodies: Bodies::default(),
            memory: None,
            upload: None,
            readback: None,
            counters: Counters::default(),
        }
    }

    /// Decides each pair of bodies, in order, into the empty list. Shapes and poses are by slot,
    /// and all slots of pairs must exist.
    ///
    /// ```no_run
    /// use jostle::Pair;
    /// use jostle::shape::{Pose, Shape};
    /// use jostle_gpu::{Gpu, GpuChoice, GpuNarrow};
    ///
    /// let gpu = Gpu::open(&GpuChoice::Fastest)?;
    /// let shapes = [Shape::sphere(1.0)?, Shape::cuboid([1.0; 3].into())?];
    /// let poses = [Pose::IDENTITY, Pose::at([1.5, 0.0, 0.0])?];
    /// let mut decisions = Vec::new();
    /// let mut narrow = GpuNarrow::new(&gpu);
    /// narrow.decide(&shapes, &poses, &[Pair::from((0, 1))], &mut decisions)?;
    /// assert_eq!(decisions, [jostle::world::Decision::Overlapping]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide(
        &mut self,
        shapes: &[Shape],
        poses: &[Pose],
        pairs: &[Pair],
        decisions: &mut Vec<Decision>,
    ) -> Result<(), GpuError> {
        self.counters = Counters { pairs: pairs.len() as u64, ..Counters::default() };
        let decided = self.decide_all(shapes, poses, pairs, decisions);
        if decided.is_err() {
            // Nothing on the device is trusted after an error.
            (self.memory, self.upload, self.readback) = (None, None, None);
            self.bodies = Bodies::default();
        }
        decided
    }

    fn decide_all(
        &mut self,
        shapes: &[Shape],
        poses: &[Pose],
        pairs: &[Pair],
        decisions: &mut Vec<Decision>,
    ) -> Result<(), GpuError> {
        self.bodies.follow(shapes, poses);
        self.make_room(pairs.len().min(MOST_PAIRS))?;
        for some in pairs.chunks(MOST_PAIRS) {
            self.submit(some, decisions)?;
            self.bodies.sent();
        }
        let decided = decisions.iter().filter(|&&decision| decision != Decision::Undecided);
        self.counters.decided = decided.count() as u64;
        Ok(())
    }

    /// What the last call did: pairs, how many were decided on the device, bytes up and down.
    pub fn stats(&self) -> Stats {
        let counters = &self.counters;
        let device = self.memory.as_ref().map_or(0, |memory| {
            memory.buffers.iter().map(wgpu::Buffer::size).sum::<u64>() + PARAMS
        });
        Stats {
            tests: counters.pairs,
            bytes: device as usize,
            counts: vec![
                ("decided", counters.decided as f64),
                ("decided_share", counters.decided as f64 / counters.pairs.max(1) as f64),
                ("dispatches", counters.dispatches as f64),
                ("submissions", counters.submissions as f64),
                ("uploaded_bytes", counters.uploaded as f64),
                ("readback_bytes", counters.read as f64),
                ("grown", counters.grown as f64),
                ("shapes", self.bodies.shape_count() as f64),
            ],
            ..Stats::default()
        }
    }

    /// Makes buffers that are too small larger. If one is, all are sent again.
    fn make_room(&mut self, pairs: usize) -> Result<(), GpuError> {
        let bodies = &self.bodies;
        let words = [
            pairs.div_ceil(16),
            2 * pairs,
            bodies.slots().len(),
            bodies.parts().len(),
            bodies.table().shapes.len(),
            bodies.table().data.len(),
        ]
        .map(|words| words as u64);
        let enough = |memory: &Memory| {
            memory.buffers.iter().zip(words).all(|(buffer, words)| buffer.size() >= words * 4)
        };
        if self.memory.as_ref().is_some_and(enough) {
            return Ok(());
        }
        let binding = self.gpu.info().binding;
        if let Some(&most) = words.iter().max().filter(|&&most| most * 4 > binding) {
            let what = format!("the narrow phase with {} bodies", bodies.slots().len() / 2);
            return Err(GpuError::Budget { budget: binding, needed: most * 4, what });
        }
        let names = ["answers", "candidate pairs", "slots", "parts", "shapes", "vertices"];
        let most = binding / 4;
        let buffers: [wgpu::Buffer; 6] = std::array::from_fn(|k| {
            storage(&self.gpu, names[k], (words[k] + words[k] / 4 + 64).min(most))
        });
        let params = self.gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("parameters"),
            size: PARAMS,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.gpu.check()?;
        let all: Vec<&wgpu::Buffer> = [&params].into_iter().chain(&buffers).collect();
        let bind = self.gpu.kernels().bind(self.gpu.device(), self.kernel(), &all);
        self.gpu.check()?;
        self.memory = Some(Memory { params, buffers, bind });
        self.bodies.send_all();
        self.counters.grown += 1;
        Ok(())
    }

    fn kernel(&self) -> Kernel {
        match self.search {
            HullSearch::CubeMap => Kernel::NarrowThread,
            HullSearch::Workgroup => Kernel::NarrowGroup,
        }
    }

    /// Sends what changed and some pairs, and reads their answers.
    fn submit(&mut self, pairs: &[Pair], decisions: &mut Vec<Decision>) -> Result<(), GpuError> {
        let each = match self.search {
            HullSearch::CubeMap => 64,
            HullSearch::Workgroup => 1,
        };
        let groups = (pairs.len() as u32).div_ceil(each).clamp(1, MOST_GROUPS);
        let bytes = (pairs.len() as u64).div_ceil(16) * 4;
        let device = self.gpu.device().clone();
        let mut encoder = device.create_command_encoder(&Default::default());
        let uploaded = self.record_uploads(&mut encoder, groups, pairs)?;
        let memory = self.memory.as_ref().expect("room is made first");
        encoder.clear_buffer(&memory.buffers[ANSWERS], 0, Some(bytes));
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(self.gpu.kernels().pipeline(self.kernel()));
            pass.set_bind_group(0, &memory.bind, &[0]);
            pass.dispatch_workgroups(groups, 1, 1);
        }
        if self.readback.as_ref().is_none_or(|readback| readback.size() < bytes) {
            self.readback = Some(Readback::new(&self.gpu, bytes + bytes / 4));
        }
        let readback = self.readback.as_ref().expect("it was made");
        encoder.copy_buffer_to_buffer(&memory.buffers[ANSWERS], 0, readback.buffer(), 0, bytes);
        self.gpu.queue().submit([encoder.finish()]);
        readback.open(bytes);
        self.upload.as_mut().expect("it was written").reopen();
        self.gpu.wait()?;
        let end = decisions.len() + pairs.len();
        readback.read(bytes / 4, |word| {
            for k in 0..16.min(end - decisions.len()) {
                decisions.push(match (word >> (2 * k)) & 3 {
                    1 => Decision::Apart,
                    2 => Decision::Overlapping,
                    _ => Decision::Undecided,
                });
            }
        })?;
        readback.close();
        self.counters.dispatches += 1;
        self.counters.submissions += 1;
        self.counters.uploaded += uploaded;
        self.counters.read += bytes;
        Ok(())
    }

    /// Writes to the upload buffer and records the copies from there; returns the bytes.
    fn record_uploads(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        groups: u32,
        pairs: &[Pair],
    ) -> Result<u64, GpuError> {
        let memory = self.memory.as_ref().expect("room is made first");
        let bodies = &self.bodies;
        let head = [pairs.len() as u32, groups, 0, 0, 0, 0, 0, 0];
        let all_pairs: Vec<u32> =
            pairs.iter().flat_map(|pair| [pair.a().get(), pair.b().get()]).collect();
        let mut lists: Vec<(&wgpu::Buffer, usize, &[u32])> =
            vec![(&memory.params, 0, &head), (&memory.buffers[PAIRS], 0, &all_pairs)];
        for run in bodies.moved_parts() {
            let words = run.start * PART_WORDS..run.end * PART_WORDS;
            lists.push((&memory.buffers[PARTS], words.start, &bodies.parts()[words.clone()]));
        }
        if bodies.all_new() {
            lists.push((&memory.buffers[SLOTS], 0, bodies.slots()));
            lists.push((&memory.buffers[SHAPES], 0, &bodies.table().shapes));
            lists.push((&memory.buffers[DATA], 0, &bodies.table().data));
        }
        let bytes: u64 = lists.iter().map(|list| list.2.len() as u64 * 4).sum();
        if self.upload.as_ref().is_none_or(|upload| upload.size() < bytes) {
            self.upload = Some(Upload::new(&self.gpu, bytes + bytes / 4));
            self.gpu.check()?;
        }
        let upload = self.upload.as_mut().expect("it was made");
        let mut at = 0;
        let mut places = Vec::with_capacity(lists.len());
        for (_, _, words) in &lists {
            places.push(at);
            at += upload.write(at, words.iter().copied())?;
        }
        upload.close();
        for ((buffer, first, words), from) in lists.into_iter().zip(places) {
            let (to, bytes) = (first as u64 * 4, words.len() as u64 * 4);
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(upload.buffer(), from, buffer, to, bytes);
            }
        }
        Ok(bytes)
    }
}

impl Clone for GpuNarrow {
    /// A copy on the same device that holds nothing there yet.
    fn clone(&self) -> GpuNarrow {
        GpuNarrow::with_search(&self.gpu, self.search)
    }
}

impl Screen for GpuNarrow {
    fn screen(
        &mut self,
        shapes: &[Shape],
        poses: &[Pose],
        pairs: &[Pair],
        decisions: &mut Vec<Decision>,
    ) -> Result<(), Error> {
        Ok(self.decide(shapes, poses, pairs, decisions)?)
    }
}
