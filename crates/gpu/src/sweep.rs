//! [`GpuSweep`]: the broad phase. The host's side of a step, by operation: `upload` brings boxes to
//! the device, `record` submits, `resident` repeats what did not fit, `stream` does it in ranges,
//! `read_back` takes the events, `room` makes the buffers.

use std::time::Duration;

use jostle::{Boxes, BroadPhase, Error, Follower, PairBuffer, Report, StageClock};
use jostle::{Pair, Stats};

use crate::buffers::{Readback, Upload};
use crate::device::Gpu;
use crate::groups::Groups;
use crate::memory::Memory;
use crate::program::{Way, Ways};
use crate::work;

mod counters;
mod model;
mod options;
mod read_back;
mod record;
mod resident;
mod room;
mod stream;
mod timing;
mod upload;

pub use options::{Digits, GpuOptions};

use counters::Counters;
use timing::Timing;

/// The answer of a submission: the first words of `work`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header([u32; work::HEADER as usize]);

impl Header {
    fn get(&self, word: u32) -> u32 {
        self.0[word as usize]
    }
}

impl Default for Header {
    fn default() -> Header {
        Header([0; work::HEADER as usize])
    }
}

/// The lists of pairs on the device, for users who stay there: see [`GpuSweep::device_pairs`].
#[derive(Clone, Copy, Debug)]
pub struct DevicePairs<'a> {
    /// Two words for each pair, the smaller slot first, sorted ascending.
    pub pairs: &'a wgpu::Buffer,
    /// A buffer that holds their number as one word.
    pub count: &'a wgpu::Buffer,
    /// Where in `count` that word is, in bytes.
    pub count_offset: u64,
    /// The same number, as the host knows it.
    pub len: u32,
}

/// The broad phase on a device; see the [crate page](crate).
#[derive(Debug)]
pub struct GpuSweep {
    gpu: Gpu,
    options: GpuOptions,
    follower: Follower,
    groups: Groups,
    memory: Option<Memory>,
    upload: Option<Upload>,
    header: Readback,
    readback: Readback,
    /// The pair list that the next step writes; the other one holds the last step's.
    parity: usize,
    /// How the next step sorts, by what the last one counted.
    ways: Ways,
    /// Length of the last step's list, if it is on the device.
    old_pairs: Option<u32>,
    /// The device holds the boxes as of the last update.
    holds_boxes: bool,
    /// The filter group of each slot as the device knows it.
    sent_groups: Vec<u8>,
    /// Number of slots that the device knows.
    sent_slots: usize,
    last: Header,
    counters: Counters,
    clock: StageClock,
    timing: Option<Timing>,
    /// Scratch memory.
    taken: Vec<Pair>,
    changed: Vec<u32>,
}
impl GpuSweep {
    /// A new instance on a device.
    pub fn new(gpu: &Gpu) -> GpuSweep {
        GpuSweep::with_options(gpu, GpuOptions::default())
    }

    /// A new instance on a device, with options.
    pub fn with_options(gpu: &Gpu, options: GpuOptions) -> GpuSweep {
        GpuSweep {
            gpu: gpu.clone(),
            options,
            follower: Follower::default(),
            groups: Groups::default(),
            memory: None,
            upload: None,
            header: Readback::new(gpu, u64::from(work::HEADER) * 4),
            readback: Readback::new(gpu, 4096),
            parity: 0,
            ways: match options.sort_by_digits {
                true => Ways { entries: Way::Radix, pairs: Way::Radix },
                false => Ways::default(),
            },
            old_pairs: None,
            holds_boxes: false,
            sent_groups: Vec::new(),
            sent_slots: 0,
            last: Header::default(),
            counters: Counters::default(),
            clock: StageClock::default(),
            timing: options.timestamps.then(|| Timing::new(gpu)).flatten(),
            taken: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// The pairs of the last step where they are: on the device. None before the first step, after
    /// an error, and when the pairs did not fit the budget. The buffers are the broad phase's own:
    /// read them before the next step, and do not write to them.
    pub fn device_pairs(&self) -> Option<DevicePairs<'_>> {
        let (memory, len) = (self.memory.as_ref()?, self.old_pairs?);
        Some(DevicePairs {
            pairs: memory.pairs(1 - self.parity),
            count: memory.work(),
            count_offset: u64::from(work::PAIRS) * 4,
            len,
        })
    }

    fn step(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let continues = self.follower.begin(boxes);
        if continues && boxes.changes().is_empty() {
            self.counters.start();
            return Ok(Report::Delta);
        }
        self.counters.start();
        self.groups.follow(boxes, continues);
        if !continues {
            self.holds_boxes = false;
            self.old_pairs = None;
        }
        match self.step_resident(boxes, continues, found)? {
            Some(report) => Ok(report),
            None => self.step_in_ranges(boxes, found),
        }
    }

    /// Forgets the device's state: after an error nothing there is trusted.
    fn forget(&mut self) {
        self.memory = None;
        self.upload = None;
        self.old_pairs = None;
        self.holds_boxes = false;
        self.header = Readback::new(&self.gpu, u64::from(work::HEADER) * 4);
        self.readback = Readback::new(&self.gpu, 4096);
    }
}

impl Clone for GpuSweep {
    /// A copy on the same device with the same options and no memory there yet: its first step
    /// uploads every box and reports every pair, from which the events follow as before.
    fn clone(&self) -> GpuSweep {
        GpuSweep::with_options(&self.gpu, self.options)
    }
}

impl BroadPhase for GpuSweep {
    fn name(&self) -> &str {
        "gpu-sweep"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        match self.step(boxes, found) {
            Ok(report) => {
                self.clock.end("read back");
                self.follower.done(boxes);
                Ok(report)
            }
            Err(error) => {
                self.forget();
                Err(error)
            }
        }
    }

    fn tests(&self) -> u64 {
        self.counters.tests(&self.last)
    }

    fn stats(&self) -> Stats {
        let device = self.memory.as_ref().map_or(0, Memory::bytes);
        let mut stages: Vec<(&'static str, Duration)> = self.clock.stages().to_vec();
        stages.extend(self.timing.iter().flat_map(Timing::stages));
        self.counters.stats(&self.last, &self.sizes(), device, stages)
    }

    fn validate(&self, boxes: &Boxes) {
        let live = self.last.get(work::LIVE) as usize;
        assert!(!self.holds_boxes || live == boxes.len(), "{live} of {} boxes", boxes.len());
    }
}
