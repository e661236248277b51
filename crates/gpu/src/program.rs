//! A step as a list of dispatches, made once for each set of buffers and replayed in every step.

use std::ops::Range;

use crate::device::Gpu;
use crate::kernel::{Kernel, Kernels, PARAMS_STRIDE};
use crate::sweep::Digits;
use crate::work;

/// Parts of a step that can be submitted alone, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Stage {
    /// Changed boxes go to their slots.
    Upload,
    /// Range, variance, sweep axis, grid, level.
    Plan,
    /// Entries are counted.
    Count,
    /// Entries are written, sorted, and cut into runs.
    Sort,
    /// Candidates are counted.
    Candidates,
    /// Hits are counted.
    SweepCount,
    /// Hits are written.
    SweepWrite,
    /// Pairs are sorted.
    PairSort,
    /// Events are counted.
    DiffCount,
    /// Events are written.
    DiffWrite,
}

impl Stage {
    /// All of them, in order.
    pub(crate) const ALL: [Stage; 10] = [
        Stage::Upload,
        Stage::Plan,
        Stage::Count,
        Stage::Sort,
        Stage::Candidates,
        Stage::SweepCount,
        Stage::SweepWrite,
        Stage::PairSort,
        Stage::DiffCount,
        Stage::DiffWrite,
    ];

    /// Its name among the stages of `stats()`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Upload => "device: upload",
            Stage::Plan => "device: plan",
            Stage::Count => "device: count cells",
            Stage::Sort => "device: fill and sort",
            Stage::Candidates => "device: candidates",
            Stage::SweepCount => "device: sweep, count",
            Stage::SweepWrite => "device: sweep, write",
            Stage::PairSort => "device: sort pairs",
            Stage::DiffCount => "device: events, count",
            Stage::DiffWrite => "device: events, write",
        }
    }
}

/// How a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// Elements stand in buckets, in order; a thread sorts each. Only if all are short.
    #[default]
    Local,
    /// By every digit, however many elements have it in common.
    Radix,
}

/// How the entries and the pairs are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ways {
    /// By run and start.
    pub entries: Way,
    /// By both slots.
    pub pairs: Way,
}

impl Ways {
    fn of(self, stage: Stage) -> Way {
        if stage == Stage::PairSort { self.pairs } else { self.entries }
    }
}

#[derive(Debug)]
struct Command {
    stage: Stage,
    /// The way it belongs to; none: to both.
    way: Option<Way>,
    kernel: Kernel,
    bind: wgpu::BindGroup,
    /// Where its parameters are in the table.
    params: u32,
    groups: u32,
}

/// The most dispatches of a program.
const MOST_COMMANDS: u32 = 192;

/// A list of dispatches with their parameters.
#[derive(Debug)]
pub(crate) struct Program {
    commands: Vec<Command>,
}

impl Program {
    /// Records the stages from the first to the last named; returns the number of dispatches.
    pub(crate) fn record(
        &self,
        kernels: &Kernels,
        encoder: &mut wgpu::CommandEncoder,
        stages: (Stage, Stage),
        ways: Ways,
        timestamps: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) -> u64 {
        let descriptor =
            wgpu::ComputePassDescriptor { label: Some("jostle"), timestamp_writes: timestamps };
        let mut pass = encoder.begin_compute_pass(&descriptor);
        let mut count = 0;
        for command in &self.commands[self.range(stages)] {
            if command.way.is_some_and(|way| way != ways.of(command.stage)) {
                continue;
            }
            count += 1;
            pass.set_pipeline(kernels.pipeline(command.kernel));
            if Kernels::has_params(command.kernel) {
                pass.set_bind_group(0, &command.bind, &[command.params]);
            } else {
                pass.set_bind_group(0, &command.bind, &[]);
            }
            pass.dispatch_workgroups(command.groups, 1, 1);
        }
        count
    }

    fn range(&self, (first, last): (Stage, Stage)) -> Range<usize> {
        let begin = self.commands.partition_point(|command| command.stage < first);
        let end = self.commands.partition_point(|command| command.stage <= last);
        begin..end
    }
}

/// Two buffers of keys and two of values, between which a sort goes back and forth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SortLists<'a> {
    /// The list to sort and, after an even number of passes, the sorted one.
    pub keys: &'a wgpu::Buffer,
    /// As large as `keys`.
    pub other_keys: &'a wgpu::Buffer,
    /// What moves with the keys; any small buffer if nothing does.
    pub values: &'a wgpu::Buffer,
    /// As large as `values`.
    pub other_values: &'a wgpu::Buffer,
    /// Says that values move with the keys.
    pub with_values: bool,
}

/// How many elements there are: the word of `work` that says it, and how many fit. If there are
/// more, kernels do nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    /// The word.
    pub count_at: u32,
    /// The capacity.
    pub capacity: u32,
}

/// Where the results of a prefix sum go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums {
    /// The word for the total.
    pub total_at: u32,
    /// The word for the largest element.
    pub longest_at: u32,
    /// The last elements that do not count for it.
    pub apart: u32,
}

/// Makes a [`Program`].
pub(crate) struct Builder<'a> {
    gpu: &'a Gpu,
    work: &'a wgpu::Buffer,
    groups: u32,
    stage: Stage,
    way: Option<Way>,
    params: wgpu::Buffer,
    table: Vec<u32>,
    commands: Vec<Command>,
}

impl<'a> Builder<'a> {
    /// An empty program whose dispatches have `groups` workgroups.
    pub(crate) fn new(gpu: &'a Gpu, work: &'a wgpu::Buffer, groups: u32) -> Builder<'a> {
        let params = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("parameters"),
            size: u64::from(MOST_COMMANDS * PARAMS_STRIDE),
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let (table, commands) = (Vec::new(), Vec::new());
        Builder { gpu, work, groups, stage: Stage::Upload, way: None, params, table, commands }
    }

    /// What follows belongs to this stage; stages come in order.
    pub(crate) fn stage(&mut self, stage: Stage) -> &mut Self {
        debug_assert!(stage >= self.stage, "stages come in order");
        self.stage = stage;
        self
    }

    /// What follows belongs to this way alone; none: to both.
    pub(crate) fn way(&mut self, way: Option<Way>) -> &mut Self {
        self.way = way;
        self
    }

    /// Binds buffers after the parameters and `work`.
    fn bind(&self, kernel: Kernel, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let params: &[&wgpu::Buffer] =
            if Kernels::has_params(kernel) { &[&self.params] } else { &[] };
        let all: Vec<&wgpu::Buffer> =
            params.iter().copied().chain([self.work]).chain(buffers.iter().copied()).collect();
        self.gpu.kernels().bind(self.gpu.device(), kernel, &all)
    }

    fn push(&mut self, kernel: Kernel, bind: wgpu::BindGroup, groups: u32, params: &[u32]) {
        let offset = self.commands.len() as u32 * PARAMS_STRIDE;
        assert!(offset < MOST_COMMANDS * PARAMS_STRIDE, "the table of parameters is too short");
        self.table.resize(offset as usize / 4, 0);
        self.table.extend_from_slice(params);
        let (stage, way) = (self.stage, self.way);
        self.commands.push(Command { stage, way, kernel, bind, params: offset, groups });
    }

    /// A kernel over shares of elements; its first parameter is the number of workgroups.
    pub(crate) fn run(
        &mut self,
        kernel: Kernel,
        buffers: &[&wgpu::Buffer],
        params: &[u32],
    ) -> &mut Self {
        let bind = self.bind(kernel, buffers);
        let all = [&[self.groups], params].concat();
        self.push(kernel, bind, self.groups, &all);
        self
    }

    /// A kernel of one workgroup.
    pub(crate) fn run_one(
        &mut self,
        kernel: Kernel,
        buffers: &[&wgpu::Buffer],
        params: &[u32],
    ) -> &mut Self {
        let bind = self.bind(kernel, buffers);
        self.push(kernel, bind, 1, params);
        self
    }

    /// The exclusive prefix sum of `data`, in place; the total and the largest element go to words
    /// of `work`.
    pub(crate) fn scan(&mut self, data: &wgpu::Buffer, length: Length, to: Sums) -> &mut Self {
        let params = [
            length.count_at,
            length.capacity,
            work::PARTIALS,
            self.groups,
            to.longest_at,
            to.apart,
        ];
        let bind = self.bind(Kernel::ScanReduce, &[data]);
        self.push(Kernel::ScanReduce, bind, self.groups, &params);
        self.scan_small(work::PARTIALS, self.groups, to.total_at, work::NONE);
        let bind = self.bind(Kernel::ScanApply, &[data]);
        self.push(Kernel::ScanApply, bind, self.groups, &params);
        self
    }

    /// The exclusive prefix sum of a stretch of `work`.
    pub(crate) fn scan_small(
        &mut self,
        first: u32,
        length: u32,
        total_at: u32,
        middle_at: u32,
    ) -> &mut Self {
        self.run_one(Kernel::ScanSmall, &[], &[first, length, total_at, middle_at])
    }

    /// A stable sort by some digits of the keys, the least first: word of the key and shift of
    /// each. An even number, so that the result is where the input was.
    pub(crate) fn sort(
        &mut self,
        lists: SortLists<'_>,
        length: Length,
        kind: Digits,
        digits: impl IntoIterator<Item = (u32, u32)>,
    ) -> &mut Self {
        // The larger table has the place of the sweep's hits, which are not there yet or no more.
        let (count_kernel, scatter_kernel, table) = match kind {
            Digits::Four => (Kernel::SortCount, Kernel::SortScatter, work::DIGITS),
            Digits::Eight => (Kernel::SortCount8, Kernel::SortScatter8, work::HITS),
        };
        let forth = (lists.keys, lists.values, lists.other_keys, lists.other_values);
        let back = (lists.other_keys, lists.other_values, lists.keys, lists.values);
        let binds = [forth, back].map(|(keys, values, to_keys, to_values)| {
            let count = self.bind(count_kernel, &[keys]);
            let scatter = self.bind(scatter_kernel, &[keys, values, to_keys, to_values]);
            (count, scatter)
        });
        let mut passes = 0;
        for (word, shift) in digits {
            let (count, scatter) = binds[passes % 2].clone();
            let mut params =
                vec![length.count_at, length.capacity, table, self.groups, word, shift];
            self.push(count_kernel, count, self.groups, &params);
            let counts = self.groups << kind.bits();
            self.scan_small(table, counts, work::IGNORED, work::NONE);
            params.push(u32::from(lists.with_values));
            self.push(scatter_kernel, scatter, self.groups, &params);
            passes += 1;
        }
        assert!(passes % 2 == 0, "the sorted list is where the input was");
        self
    }

    /// The program. Its parameters are uploaded.
    pub(crate) fn finish(self) -> Program {
        let bytes: &[u8] = bytemuck::cast_slice(&self.table);
        self.gpu.queue().write_buffer(&self.params, 0, bytes);
        Program { commands: self.commands }
    }
}

/// The digits of the lower `bits` bits of a word of a key, least first.
pub(crate) fn digits(kind: Digits, word: u32, bits: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..bits).step_by(kind.bits()).map(move |shift| (word, shift))
}
