//! A submission: what the host asks of the device, the stages it runs, and the counts it answers.

use jostle::Boxes;

use super::upload::Copies;
use super::{GpuSweep, Header};
use crate::device::GpuError;
use crate::program::{Stage, Way};
use crate::work;

/// What the host asks of a submission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request([u32; work::INPUTS as usize]);

impl Request {
    pub(super) fn set(&mut self, word: u32, value: u32) -> &mut Request {
        self.0[word as usize] = value;
        self
    }
}

impl GpuSweep {
    /// The request of a whole step.
    pub(super) fn request(&self, boxes: &Boxes, changed: usize) -> Request {
        let sizes = self.sizes();
        let mut request = Request([0; work::INPUTS as usize]);
        let groups = self.groups.count();
        request
            .set(work::SLOTS, boxes.slots() as u32)
            .set(work::GROUPS, groups as u32)
            .set(work::FILTERED, u32::from(boxes.has_filters()))
            .set(work::OLD_PAIRS, self.old_pairs.unwrap_or(0))
            .set(work::COLUMN_END, work::NONE)
            .set(work::ITEM_END, work::NONE)
            .set(work::CANDIDATE_END, work::NONE)
            .set(work::CHANGED, changed as u32)
            .set(work::LOCAL, u32::from(self.ways.entries == Way::Local))
            .set(work::RUNS_AT, work::runs_at(sizes.groups()))
            .set(work::RUN_BOUND, sizes.run_bound())
            .set(work::LEVEL_WANTED, self.options.level.map_or(work::NONE, u32::from))
            .set(work::BY_ENTRY, u32::from(self.options.sweep_by_entry));
        for one in 0..groups {
            let row = (0..groups).filter(|&other| self.groups.may_pair(one, other));
            request.set(work::MAY_PAIR + one as u32, row.fold(0, |row, other| row | 1 << other));
        }
        request
    }

    /// Submits some stages and waits. `events` bytes of events are read back with the header.
    pub(super) fn submit(
        &mut self,
        request: &Request,
        copies: &Copies,
        stages: (Stage, Stage),
        events: u64,
    ) -> Result<Header, GpuError> {
        const REQUEST: u64 = work::INPUTS as u64 * 4;
        const HEADER: u64 = work::HEADER as u64 * 4;
        self.open_upload(REQUEST)?;
        let upload = self.upload.as_mut().expect("it is open");
        self.counters.uploaded += upload.write(0, request.0.into_iter())? + copies.bytes();
        upload.close();
        let memory = self.memory.as_ref().expect("memory is made before a step");
        let device = self.gpu.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(upload.buffer(), 0, memory.work(), 0, REQUEST);
        if stages.0 <= Stage::Plan {
            encoder.clear_buffer(memory.work(), REQUEST, Some(HEADER - REQUEST));
        }
        for (to, from, bytes) in [
            (memory.changes(), REQUEST, copies.list),
            (memory.boxes(), REQUEST, copies.boxes),
            (memory.filters(), REQUEST + copies.boxes, copies.filters),
        ] {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(upload.buffer(), from, to, 0, bytes);
            }
        }
        let program = memory.program(self.parity);
        let kernels = self.gpu.kernels();
        self.counters.ways = self.ways;
        self.counters.dispatches += match &mut self.timing {
            None => program.record(kernels, &mut encoder, stages, self.ways, None),
            Some(timing) => timing.record(program, kernels, &mut encoder, stages, self.ways),
        };
        encoder.copy_buffer_to_buffer(memory.work(), 0, self.header.buffer(), 0, HEADER);
        if events > 0 {
            let to = self.readback.buffer();
            encoder.copy_buffer_to_buffer(memory.events(), 0, to, 0, events);
        }
        self.gpu.queue().submit([encoder.finish()]);
        self.header.open(HEADER);
        if events > 0 {
            self.readback.open(events);
        }
        upload.reopen();
        self.counters.submissions += 1;
        self.counters.read += HEADER + events;
        if let Some(timing) = &mut self.timing {
            timing.open();
        }
        self.gpu.wait()?;
        if let Some(timing) = &mut self.timing {
            timing.read(self.gpu.queue().get_timestamp_period())?;
        }
        let mut header = Header::default();
        let mut word = 0;
        self.header.read(u64::from(work::HEADER), |value| {
            header.0[word] = value;
            word += 1;
        })?;
        self.header.close();
        Ok(header)
    }
}
