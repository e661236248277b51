//! What a broad phase holds on the device: how large each buffer is, and the step's program over
//! them. Buffers whose size stays keep their contents when others grow.

use crate::buffers::storage;
use crate::device::{Gpu, GpuError};
use crate::kernel::Kernel;
use crate::program::{Builder, Length, Program, SortLists, Stage, Sums, Way, digits};
use crate::sweep::Digits;
use crate::work;

/// Capacities, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Slots of boxes.
    pub slots: u32,
    /// Boxes in a list of changes.
    pub changes: u32,
    /// Entries: a box in a column.
    pub entries: u32,
    /// Pairs in a list.
    pub pairs: u32,
    /// Events that are read back; none if the pairs do not stay on the device.
    pub events: u32,
    /// Says that boxes have filters.
    pub filtered: bool,
    /// Bits that a pass of the sorts takes.
    pub digits: Digits,
}

/// Bits that entries are sorted by: 16 of the run, 32 of the start.
const ENTRY_BITS: u32 = 48;

/// Words of a changed box in the list of changes: slot, bounds, filter.
pub(crate) const CHANGE_WORDS: u64 = 11;

impl Sizes {
    /// Words of each buffer, named.
    fn buffers(&self) -> [(&'static str, u64); 14] {
        let (slots, entries, pairs) =
            (u64::from(self.slots), u64::from(self.entries), u64::from(self.pairs));
        let resident = self.events > 0;
        let others = if resident { pairs } else { 2 };
        [
            ("work", u64::from(work::length(self.groups(), self.run_bound()))),
            ("boxes", slots * 6),
            ("filters", if self.filtered { slots * 4 } else { 4 }),
            ("spans", slots * 2),
            ("counts", u64::from(self.counts())),
            ("changes", u64::from(self.changes) * CHANGE_WORDS),
            ("keys", entries * 2),
            ("other keys", entries * 2),
            ("values", entries),
            ("other values", entries),
            ("firsts", entries),
            ("pairs", pairs * 2),
            ("pairs before", others * 2),
            ("pairs between", others * 2),
        ]
    }

    /// Bytes of all buffers.
    pub(crate) fn bytes(&self) -> u64 {
        let all: u64 = self.buffers().iter().map(|&(_, words)| words.max(4) * 4).sum();
        // The events, and two buffers that stand in for values where there are none.
        all + (u64::from(self.events) * 8).max(16) + 2 * 16
    }

    /// The first buffer that is larger than a binding may be, with its bytes.
    pub(crate) fn oversized(&self, binding: u64) -> Option<(&'static str, u64)> {
        let events = ("events", u64::from(self.events) * 2);
        let all = self.buffers().into_iter().chain([events]);
        all.map(|(name, words)| (name, words * 4)).find(|&(_, bytes)| bytes > binding)
    }

    /// Workgroups of a dispatch: enough to fill a large device, few for few boxes.
    pub(crate) fn groups(&self) -> u32 {
        (self.slots / 2048).next_power_of_two().clamp(1, work::MOST_GROUPS)
    }

    /// The most runs that are planned.
    pub(crate) fn run_bound(&self) -> u32 {
        self.slots.saturating_mul(2).clamp(64, work::MOST_RUNS)
    }

    /// Elements of the table of counts: of buckets, which are no more than the slots or, with one
    /// for each run, the runs and one for giants; and later of the pairs of each slot.
    fn counts(&self) -> u32 {
        self.slots.max(self.run_bound().saturating_add(1))
    }

    /// Bits of a slot that pairs are sorted by: whole digits, and at least twenty, so that the
    /// number of dispatches is the same up to a million boxes.
    fn slot_bits(&self) -> u32 {
        (32 - self.slots.leading_zeros()).max(20).next_multiple_of(self.digits.bits() as u32)
    }

    /// Bytes of counts and tables, which do not grow with the boxes beyond some 200 000.
    pub(crate) fn table_bytes(&self) -> u64 {
        u64::from(work::length(self.groups(), self.run_bound())) * 4
    }

    /// Passes of the sort of entries and of that of pairs.
    pub(crate) fn passes(&self) -> (u32, u32) {
        let bits = self.digits.bits() as u32;
        (ENTRY_BITS / bits, 2 * self.slot_bits() / bits)
    }
}

/// The buffers and programs for some sizes.
#[derive(Debug)]
pub(crate) struct Memory {
    /// What fits.
    pub sizes: Sizes,
    buffers: Vec<wgpu::Buffer>,
    nothing: [wgpu::Buffer; 2],
    events: wgpu::Buffer,
    /// The step with either of the first two pair lists as the new one.
    programs: [Program; 2],
}

const WORK: usize = 0;
const BOXES: usize = 1;
const FILTERS: usize = 2;
const SPANS: usize = 3;
const COUNTS: usize = 4;
const CHANGES: usize = 5;
const KEYS: usize = 6;
const OTHER_KEYS: usize = 7;
const VALUES: usize = 8;
const OTHER_VALUES: usize = 9;
const FIRSTS: usize = 10;
const PAIRS: usize = 11;
const BETWEEN: usize = 13;

impl Memory {
    /// Buffers for these sizes; those of `old` that fit are used again with their contents.
    pub(crate) fn new(gpu: &Gpu, sizes: Sizes, old: Option<Memory>) -> Result<Memory, GpuError> {
        let reuse = |number: usize, words: u64| {
            let held = old.as_ref().map(|old| &old.buffers[number]);
            held.filter(|buffer| buffer.size() == words.max(4) * 4).cloned()
        };
        let buffers: Vec<wgpu::Buffer> = sizes
            .buffers()
            .iter()
            .enumerate()
            .map(|(number, &(name, words))| {
                reuse(number, words).unwrap_or_else(|| storage(gpu, name, words))
            })
            .collect();
        let events = storage(gpu, "events", u64::from(sizes.events) * 2);
        let nothing = [(); 2].map(|()| storage(gpu, "nothing", 4));
        gpu.check()?;
        let programs =
            [0, 1].map(|parity| program(gpu, &sizes, &buffers, &nothing, &events, parity));
        gpu.check()?;
        Ok(Memory { sizes, buffers, nothing, events, programs })
    }

    /// Returns true if buffers of these sizes would keep the boxes of this one.
    pub(crate) fn keeps_boxes(&self, sizes: &Sizes) -> bool {
        self.sizes.slots == sizes.slots && self.sizes.filtered == sizes.filtered
    }

    /// Returns true if buffers of these sizes would keep the pair lists of this one.
    pub(crate) fn keeps_pairs(&self, sizes: &Sizes) -> bool {
        self.sizes.pairs == sizes.pairs && (self.sizes.events > 0) == (sizes.events > 0)
    }

    /// The program that writes to pair list `parity`.
    pub(crate) fn program(&self, parity: usize) -> &Program {
        &self.programs[parity]
    }

    /// Counts and tables.
    pub(crate) fn work(&self) -> &wgpu::Buffer {
        &self.buffers[WORK]
    }

    /// Six words for each slot: the bits of the bounds.
    pub(crate) fn boxes(&self) -> &wgpu::Buffer {
        &self.buffers[BOXES]
    }

    /// Four words for each slot.
    pub(crate) fn filters(&self) -> &wgpu::Buffer {
        &self.buffers[FILTERS]
    }

    /// The list of changed boxes.
    pub(crate) fn changes(&self) -> &wgpu::Buffer {
        &self.buffers[CHANGES]
    }

    /// A list of pairs.
    pub(crate) fn pairs(&self, parity: usize) -> &wgpu::Buffer {
        &self.buffers[PAIRS + parity]
    }

    /// What began, then what ended.
    pub(crate) fn events(&self) -> &wgpu::Buffer {
        &self.events
    }

    /// Bytes on the device.
    pub(crate) fn bytes(&self) -> u64 {
        let buffers = self.buffers.iter().chain(&self.nothing).chain([&self.events]);
        buffers.map(wgpu::Buffer::size).sum()
    }
}

/// The dispatches of a step, in order. This function is the pipeline.
fn program(
    gpu: &Gpu,
    sizes: &Sizes,
    buffers: &[wgpu::Buffer],
    nothing: &[wgpu::Buffer; 2],
    events: &wgpu::Buffer,
    parity: usize,
) -> Program {
    let at = |number: usize| &buffers[number];
    let (now, before) = (at(PAIRS + parity), at(PAIRS + 1 - parity));
    let groups = sizes.groups();
    let entries = Length { count_at: work::ENTRIES, capacity: sizes.entries };
    let pairs = Length { count_at: work::PAIRS, capacity: sizes.pairs };
    let slots = Length { count_at: work::SLOTS, capacity: sizes.slots };
    let threads = groups * work::THREADS;

    let mut builder = Builder::new(gpu, at(WORK), groups);
    builder.stage(Stage::Upload);
    builder.run(Kernel::Upload, &[at(CHANGES), at(BOXES), at(FILTERS)], &[]);

    builder.stage(Stage::Plan);
    builder.run(Kernel::Bounds, &[at(BOXES)], &[]);
    builder.run(Kernel::Moments, &[at(BOXES)], &[]);
    builder.run_one(Kernel::Plan, &[], &[groups]);
    builder.run(Kernel::Levels, &[at(BOXES), at(SPANS)], &[]);
    builder.run_one(Kernel::Choose, &[], &[]);

    // Buckets, giants apart; then the pairs of each slot.
    let buckets = Length { count_at: work::BUCKETS, capacity: sizes.counts() };
    builder.stage(Stage::Count);
    builder.run(Kernel::Clear, &[at(COUNTS)], &[sizes.counts()]);
    builder.run(Kernel::Count, &[at(SPANS), at(FILTERS), at(COUNTS)], &[]);
    let sums = Sums { total_at: work::ENTRIES, longest_at: work::LONGEST, apart: 1 };
    builder.scan(at(COUNTS), buckets, sums);

    builder.stage(Stage::Sort);
    builder.run(
        Kernel::Fill,
        &[at(SPANS), at(FILTERS), at(COUNTS), at(BOXES), at(KEYS), at(VALUES)],
        &[sizes.entries],
    );
    builder.way(Some(Way::Local));
    builder.run(Kernel::Settle, &[at(COUNTS), at(KEYS), at(VALUES)], &[sizes.entries]);
    builder.way(Some(Way::Radix));
    let lists = SortLists {
        keys: at(KEYS),
        other_keys: at(OTHER_KEYS),
        values: at(VALUES),
        other_values: at(OTHER_VALUES),
        with_values: true,
    };
    let kind = sizes.digits;
    let all = digits(kind, 1, 32).chain(digits(kind, 0, ENTRY_BITS - 32));
    builder.sort(lists, entries, kind, all);
    builder.way(None);
    builder.run(Kernel::Runs, &[at(COUNTS)], &[sizes.entries]);

    // The other list of keys is free now: it takes what the sweep looks at first.
    builder.stage(Stage::Candidates);
    let found = [at(BOXES), at(KEYS), at(VALUES), at(FIRSTS), at(SPANS), at(OTHER_KEYS)];
    builder.run(Kernel::Candidates, &found, &[sizes.entries]);
    let sums = Sums { total_at: work::CANDIDATES, longest_at: work::IGNORED, apart: 0 };
    builder.scan(at(FIRSTS), entries, sums);

    let swept = [at(BOXES), at(FILTERS), at(KEYS), at(OTHER_KEYS), at(FIRSTS), at(COUNTS), now];
    builder.stage(Stage::SweepCount);
    builder.run(Kernel::Clear, &[at(COUNTS)], &[sizes.slots]);
    builder.run(Kernel::Sweep, &swept, &[sizes.entries, 0, sizes.pairs]);
    builder.scan_small(work::PARTIALS, groups, work::SEEN, work::NONE);
    let sums = Sums { total_at: work::PAIRS, longest_at: work::LONGEST_LIST, apart: 0 };
    builder.scan(at(COUNTS), slots, sums);
    builder.stage(Stage::SweepWrite);
    builder.run(Kernel::Sweep, &swept, &[sizes.entries, 1, sizes.pairs]);

    if sizes.events > 0 {
        builder.stage(Stage::PairSort);
        builder.way(Some(Way::Local));
        builder.run(Kernel::SettlePairs, &[at(COUNTS), now], &[sizes.pairs]);
        builder.way(Some(Way::Radix));
        let lists = SortLists {
            keys: now,
            other_keys: at(BETWEEN),
            values: &nothing[0],
            other_values: &nothing[1],
            with_values: false,
        };
        let bits = sizes.slot_bits();
        let all = digits(kind, 1, bits).chain(digits(kind, 0, bits));
        builder.sort(lists, pairs, kind, all);
        builder.way(None);
        builder.stage(Stage::DiffCount);
        builder.run(Kernel::Diff, &[now, before, events], &[sizes.pairs, 0, sizes.events]);
        builder.scan_small(work::HITS, 2 * threads, work::EVENTS, work::BEGAN);
        builder.stage(Stage::DiffWrite);
        builder.run(Kernel::Diff, &[now, before, events], &[sizes.pairs, 1, sizes.events]);
    }
    builder.finish()
}
