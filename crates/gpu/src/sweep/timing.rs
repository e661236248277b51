//! [`Timing`]: how long each stage takes on the device, by its own clock.
//!
//! Each stage is then a pass of its own, with a timestamp at either end. Without timing a step is
//! one pass.

use std::time::Duration;

use crate::buffers::Readback;
use crate::device::{Gpu, GpuError};
use crate::kernel::Kernels;
use crate::program::{Program, Stage, Ways};

const COUNT: usize = Stage::ALL.len();

/// Bytes of all timestamps.
const BYTES: u64 = 2 * COUNT as u64 * 8;

/// Timestamps of the stages of a submission.
#[derive(Debug)]
pub(super) struct Timing {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: Readback,
    /// The stages that the last submission had.
    recorded: Vec<Stage>,
    times: Vec<(&'static str, Duration)>,
}

impl Timing {
    /// None if the device has no clock.
    pub(super) fn new(gpu: &Gpu) -> Option<Timing> {
        if !gpu.has_timestamps() {
            return None;
        }
        let queries = gpu.device().create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("stages"),
            ty: wgpu::QueryType::Timestamp,
            count: 2 * COUNT as u32,
        });
        let resolved = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("timestamps"),
            size: BYTES,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let readback = Readback::new(gpu, BYTES);
        Some(Timing { queries, resolved, readback, recorded: Vec::new(), times: Vec::new() })
    }

    /// Records stages with a timestamp before and after each; returns the number of dispatches.
    pub(super) fn record(
        &mut self,
        program: &Program,
        kernels: &Kernels,
        encoder: &mut wgpu::CommandEncoder,
        (first, last): (Stage, Stage),
        ways: Ways,
    ) -> u64 {
        self.recorded.clear();
        let mut dispatches = 0;
        for stage in Stage::ALL.into_iter().filter(|stage| (first..=last).contains(stage)) {
            let at = 2 * stage as u32;
            let writes = wgpu::ComputePassTimestampWrites {
                query_set: &self.queries,
                beginning_of_pass_write_index: Some(at),
                end_of_pass_write_index: Some(at + 1),
            };
            dispatches += program.record(kernels, encoder, (stage, stage), ways, Some(writes));
            encoder.resolve_query_set(&self.queries, at..at + 2, &self.resolved, 0);
            let to = u64::from(at) * 8;
            encoder.copy_buffer_to_buffer(&self.resolved, 0, self.readback.buffer(), to, 16);
            self.recorded.push(stage);
        }
        dispatches
    }

    /// Call after submitting.
    pub(super) fn open(&self) {
        self.readback.open(BYTES);
    }

    /// Reads the times after a wait; one tick is `period` nanoseconds.
    pub(super) fn read(&mut self, period: f32) -> Result<(), GpuError> {
        let mut words = [0u32; BYTES as usize / 4];
        let mut at = 0;
        self.readback.read(BYTES / 4, |word| {
            words[at] = word;
            at += 1;
        })?;
        self.readback.close();
        let tick =
            |place: usize| u64::from(words[2 * place]) | u64::from(words[2 * place + 1]) << 32;
        self.times.clear();
        for &stage in &self.recorded {
            let place = 2 * stage as usize;
            let ticks = tick(place + 1).saturating_sub(tick(place));
            let time = Duration::from_nanos((ticks as f64 * f64::from(period)) as u64);
            self.times.push((stage.name(), time));
        }
        Ok(())
    }

    /// The stages of the last submission.
    pub(super) fn stages(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.times.iter().copied()
    }
}
