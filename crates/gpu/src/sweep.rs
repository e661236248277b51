//! [`GpuSweep`]: the broad phase. The host's side of a step: what is uploaded, what is submitted,
//! what is read back, and when buffers grow.

use std::time::Duration;

use jostle::{Aabb, Boxes, BroadPhase, Error, Filter, Follower, PairBuffer, Report, StageClock};
use jostle::{Pair, Stats};

use crate::buffers::{Readback, Upload};
use crate::device::{Gpu, GpuError};
use crate::groups::Groups;
use crate::memory::{CHANGE_WORDS, Memory, Sizes};
use crate::program::Stage;
use crate::work;

mod counters;
mod model;
mod options;
mod stream;
mod timing;

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

/// What the host asks of a submission.
#[derive(Clone, Copy, Debug)]
struct Request([u32; work::INPUTS as usize]);

impl Request {
    fn set(&mut self, word: u32, value: u32) -> &mut Request {
        self.0[word as usize] = value;
        self
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

/// Spare room when something grows.
fn grown(needed: u64) -> u32 {
    u32::try_from(needed + needed / 8 + 64).unwrap_or(u32::MAX)
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

    /// The most bytes that may be held on the device.
    fn budget(&self) -> u64 {
        self.options.budget.unwrap_or(u64::MAX)
    }

    fn fits(&self, sizes: &Sizes) -> bool {
        sizes.bytes() <= self.budget() && sizes.oversized(self.gpu.info().binding).is_none()
    }

    fn sizes(&self) -> Sizes {
        self.memory.as_ref().map_or(Sizes::default(), |memory| memory.sizes)
    }

    fn memory(&self) -> &Memory {
        self.memory.as_ref().expect("memory is made before it is used")
    }

    /// Replaces the buffers; what is lost by it is noted.
    fn resize(&mut self, sizes: Sizes) -> Result<(), GpuError> {
        let old = self.memory.take();
        self.holds_boxes &= old.as_ref().is_some_and(|old| old.keeps_boxes(&sizes));
        if !old.as_ref().is_some_and(|old| old.keeps_pairs(&sizes)) {
            self.old_pairs = None;
        }
        self.counters.grown += 1;
        self.memory = Some(Memory::new(&self.gpu, sizes, old)?);
        Ok(())
    }

    /// Makes room for all boxes, and first guesses for the rest.
    fn make_room(&mut self, boxes: &Boxes) -> Result<(), GpuError> {
        let held = self.sizes();
        let slots = boxes.slots() as u64;
        let enough = slots <= u64::from(held.slots) && (held.filtered || !boxes.has_filters());
        if self.memory.is_some() && enough {
            return Ok(());
        }
        let room = if slots <= u64::from(held.slots) { held.slots } else { grown(slots) };
        let mut sizes = Sizes {
            slots: room,
            changes: room / 8,
            entries: held.entries.max(room.saturating_mul(2)),
            pairs: held.pairs.max(room),
            events: held.events.max(room / 4 + 64),
            filtered: held.filtered || boxes.has_filters(),
            digits: self.options.digits,
        };
        if !self.fits(&sizes) {
            sizes = self.within_budget(sizes)?;
        }
        self.resize(sizes)
    }

    /// The request of a whole step.
    fn request(&self, boxes: &Boxes, changed: usize) -> Request {
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
            .set(work::HITS_AT, work::hits_at())
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

    /// Room for what is uploaded in one step.
    fn open_upload(&mut self, bytes: u64) -> Result<(), GpuError> {
        if self.upload.as_ref().is_none_or(|upload| upload.size() < bytes) {
            self.upload = Some(Upload::new(&self.gpu, bytes + bytes / 8));
            self.gpu.check()?;
        }
        Ok(())
    }

    /// Writes the request and the boxes, all or the changed ones, to the upload buffer; returns
    /// the copies that bring them to the device.
    fn write_boxes(&mut self, boxes: &Boxes, continues: bool) -> Result<Copies, GpuError> {
        const REQUEST: u64 = work::INPUTS as u64 * 4;
        let slots = boxes.slots() as u64;
        let filtered = boxes.has_filters();
        let list = self.changed_slots(boxes);
        let few = continues
            && self.holds_boxes
            && filtered == self.counters.filtered
            && list.len() <= self.sizes().changes as usize;
        let mut copies = Copies::default();
        if few {
            let words = if filtered { CHANGE_WORDS } else { 7 };
            self.open_upload(REQUEST + list.len() as u64 * words * 4)?;
            let upload = self.upload.as_mut().expect("it is open");
            let groups = &self.groups;
            let words = list.iter().flat_map(|&slot| {
                let at = slot as usize;
                let bounds = [slot].into_iter().chain(bounds(&boxes.aabbs()[at]));
                let filter = filter_words(&boxes.filters()[at], groups.of(at));
                bounds.chain(filter.into_iter().take(if filtered { 4 } else { 0 }))
            });
            let words = Sized { words, left: list.len() * if filtered { 11 } else { 7 } };
            copies.changed = list.len();
            copies.list = upload.write(REQUEST, words)?;
        } else {
            self.open_upload(REQUEST + slots * if filtered { 40 } else { 24 })?;
            let upload = self.upload.as_mut().expect("it is open");
            let words = boxes.aabbs().iter().flat_map(bounds);
            copies.boxes = upload.write(REQUEST, Sized { words, left: boxes.slots() * 6 })?;
            if filtered {
                let groups = &self.groups;
                let words = boxes
                    .filters()
                    .iter()
                    .enumerate()
                    .flat_map(|(slot, filter)| filter_words(filter, groups.of(slot)));
                let words = Sized { words, left: boxes.slots() * 4 };
                copies.filters = upload.write(REQUEST + copies.boxes, words)?;
            }
        }
        self.changed = list;
        self.counters.changed = copies.changed as u64;
        self.counters.filtered = filtered;
        Ok(copies)
    }

    /// The slots that changed, new slots without a box, and those whose group is another one now.
    fn changed_slots(&mut self, boxes: &Boxes) -> Vec<u32> {
        let changes = boxes.changes();
        let ids = changes.inserted().iter().chain(changes.moved()).chain(changes.removed());
        let mut slots = std::mem::take(&mut self.changed);
        slots.clear();
        slots.extend(ids.map(|id| id.index() as u32));
        // Boxes that came and went within a step are no change, but their slots are new.
        let new = self.sent_slots.min(boxes.slots())..boxes.slots();
        let empty = new.filter(|&slot| boxes.aabbs()[slot].min[0].is_nan());
        slots.extend(empty.map(|slot| slot as u32));
        self.sent_slots = boxes.slots();
        if boxes.has_filters() {
            self.sent_groups.resize(boxes.slots(), 0);
            for (slot, sent) in self.sent_groups.iter_mut().enumerate() {
                let group = self.groups.of(slot);
                if *sent != group {
                    *sent = group;
                    slots.push(slot as u32);
                }
            }
        }
        slots
    }

    /// Submits some stages and waits. `events` bytes of events are read back with the header.
    fn submit(
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
        self.counters.dispatches += match &mut self.timing {
            None => program.record(kernels, &mut encoder, stages, None),
            Some(timing) => timing.record(program, kernels, &mut encoder, stages),
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

    /// A step whose pairs stay on the device. None: it does not fit the budget.
    fn step_resident(
        &mut self,
        boxes: &Boxes,
        continues: bool,
        found: &mut PairBuffer,
    ) -> Result<Option<Report>, Error> {
        self.make_room(boxes)?;
        let mut copies = self.write_boxes(boxes, continues)?;
        self.clock.end("upload");
        loop {
            if self.sizes().events == 0 {
                self.first_plan(boxes, &copies)?;
                return Ok(None);
            }
            let delta = continues && self.old_pairs.is_some();
            let last = if delta { Stage::DiffWrite } else { Stage::PairSort };
            let first = if copies.changed > 0 { Stage::Upload } else { Stage::Plan };
            let events = if delta { self.readback_size() } else { 0 };
            let request = self.request(boxes, copies.changed);
            self.counters.old_pairs = u64::from(self.old_pairs.filter(|_| delta).unwrap_or(0));
            let header = self.submit(&request, &copies, (first, last), events)?;
            (self.holds_boxes, self.last) = (true, header);
            copies = Copies::default();
            self.clock.end("device");
            let sizes = self.sizes();
            if header.get(work::ENTRIES) > sizes.entries {
                let entries = grown(header.get(work::ENTRIES).into());
                if !self.grow(Sizes { entries, ..sizes })? {
                    return Ok(None);
                }
            } else if header.get(work::CANDIDATES) > work::MOST_CANDIDATES {
                return Ok(None);
            } else if header.get(work::PAIRS) as usize > found.limit() {
                return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
            } else if header.get(work::PAIRS) > sizes.pairs {
                let pairs = grown(header.get(work::PAIRS).into());
                let events = sizes.events.max(pairs / 8);
                if !self.grow(Sizes { pairs, events, ..sizes })? {
                    return Ok(None);
                }
            } else if delta {
                return self.take_delta(&request, header, events, found).map(Some);
            } else {
                return self.take_all(header, found).map(Some);
            }
            if events > 0 {
                self.readback.close();
            }
        }
    }

    /// Grows what the counts say, if that fits. The step is then repeated from the boxes, which
    /// are on the device already.
    fn grow(&mut self, sizes: Sizes) -> Result<bool, Error> {
        let fits = self.fits(&sizes);
        if fits {
            self.resize(sizes)?;
        }
        Ok(fits)
    }

    /// Bytes of events that are read back with a step, before their number is known.
    fn readback_size(&self) -> u64 {
        self.readback.size().min(u64::from(self.sizes().events) * 8)
    }

    /// Reads what began and ended.
    fn take_delta(
        &mut self,
        request: &Request,
        header: Header,
        already: u64,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        let (began, all) = (header.get(work::BEGAN), header.get(work::EVENTS));
        let mut pairs = std::mem::take(&mut self.taken);
        pairs.clear();
        let bytes = u64::from(all) * 8;
        if bytes <= already {
            read_pairs(&self.readback, all, &mut pairs)?;
            self.readback.close();
        } else {
            self.readback.close();
            let sizes = self.sizes();
            if all > sizes.events {
                let events = grown(all.into());
                if !self.grow(Sizes { events, ..sizes })? {
                    // The events do not fit, the pairs do: these tell as much.
                    return self.take_all(header, found);
                }
                self.submit(request, &Copies::default(), (Stage::DiffWrite, Stage::DiffWrite), 0)?;
            }
            let events = self.memory().events().clone();
            self.read_all(&events, all, &mut pairs)?;
        }
        let (began, ended) = pairs.split_at(began as usize);
        self.counters.events = u64::from(all);
        for pair in began {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        found.ended_mut().extend_from_slice(ended);
        self.taken = pairs;
        self.keep(header);
        Ok(Report::Delta)
    }

    /// Reads every pair.
    fn take_all(&mut self, header: Header, found: &mut PairBuffer) -> Result<Report, Error> {
        let list = self.memory().pairs(self.parity).clone();
        let mut pairs = Vec::new();
        self.read_all(&list, header.get(work::PAIRS), &mut pairs)?;
        for pair in pairs {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        self.keep(header);
        Ok(Report::Full)
    }

    /// The list just made is the last step's.
    fn keep(&mut self, header: Header) {
        self.old_pairs = Some(header.get(work::PAIRS));
        self.parity = 1 - self.parity;
    }

    /// Reads pairs from a buffer, as many at a time as the readback buffer holds.
    fn read_all(
        &mut self,
        from: &wgpu::Buffer,
        count: u32,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), GpuError> {
        const MOST: u64 = 32 << 20;
        let bytes = u64::from(count) * 8;
        if self.readback.size() < bytes.min(MOST) {
            self.readback = Readback::new(&self.gpu, (bytes + bytes / 8).min(MOST));
            self.gpu.check()?;
        }
        let mut at = 0;
        while at < bytes {
            let part = (bytes - at).min(self.readback.size());
            let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(from, at, self.readback.buffer(), 0, part);
            self.gpu.queue().submit([encoder.finish()]);
            self.readback.open(part);
            self.counters.submissions += 1;
            self.counters.read += part;
            self.gpu.wait()?;
            read_pairs(&self.readback, (part / 8) as u32, pairs)?;
            self.readback.close();
            at += part;
        }
        Ok(())
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

/// Bytes of the upload buffer that go to the device, from the request on.
#[derive(Clone, Copy, Debug, Default)]
struct Copies {
    /// Boxes in the list of changes.
    changed: usize,
    list: u64,
    boxes: u64,
    filters: u64,
}

impl Copies {
    fn bytes(&self) -> u64 {
        self.list + self.boxes + self.filters
    }
}

/// An iterator with a known length.
struct Sized<I> {
    words: I,
    left: usize,
}

impl<I: Iterator<Item = u32>> Iterator for Sized<I> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.saturating_sub(1);
        self.words.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<I: Iterator<Item = u32>> ExactSizeIterator for Sized<I> {}

fn bounds(aabb: &Aabb) -> impl Iterator<Item = u32> + use<> {
    aabb.min.into_iter().chain(aabb.max).map(f32::to_bits)
}

/// Membership, mask, owner; stillness and the group.
fn filter_words(filter: &Filter, group: u8) -> [u32; 4] {
    let last = u32::from(filter.still) | u32::from(group) << 8;
    [filter.membership, filter.mask, filter.owner, last]
}

fn read_pairs(readback: &Readback, count: u32, pairs: &mut Vec<Pair>) -> Result<(), GpuError> {
    let mut first = None;
    readback.read(u64::from(count) * 2, |word| match first.take() {
        None => first = Some(word),
        Some(one) => pairs.push(Pair::from((one, word))),
    })
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
