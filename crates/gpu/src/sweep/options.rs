//! [`GpuOptions`]: how a broad phase uses its device.

/// How many bits each pass of a sort on the device takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digits {
    /// Four: twice as many passes, each of them simple.
    #[default]
    Four,
    /// Eight.
    Eight,
}

impl Digits {
    pub(crate) fn bits(self) -> usize {
        match self {
            Digits::Four => 4,
            Digits::Eight => 8,
        }
    }
}

/// How a [`GpuSweep`](crate::GpuSweep) uses its device. The pairs do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// The most bytes held on the device. What does not fit is done in ranges, more slowly, and
    /// never left out. None: as much as the device's bindings allow.
    pub budget: Option<u64>,
    /// Measures the stages on the device, if it has a clock. They are then in
    /// [`Stats::stages`](jostle::Stats::stages), each named `device: …`.
    pub timestamps: bool,
    /// A fixed size of cells: 2^level times the mean box. None: the size that costs least follows
    /// the boxes.
    pub level: Option<u8>,
    /// Shares the sweep out by entries and not by candidates: an experiment, which one long box
    /// can stall.
    pub sweep_by_entry: bool,
    /// Sorts entries and pairs by every digit, as is done if many are crowded together, and never
    /// bucket by bucket: an experiment.
    pub sort_by_digits: bool,
    /// Bits that a pass of a sort by digits takes.
    pub digits: Digits,
}
