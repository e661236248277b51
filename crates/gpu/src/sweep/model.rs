//! What a step is expected to cost, so that `auto` can choose between device and processor.

use jostle::broad::auto::Rival;

use super::{GpuOptions, GpuSweep};
use crate::device::Gpu;

/// What a kind of device is expected to take: the bytes that memory moves in a nanosecond, and
/// those that reach it from the host. Nominal figures of devices of the kind; those of software are
/// fitted to llvmpipe on one core.
fn speed(kind: &str) -> (f64, f64) {
    match kind {
        "discrete" => (500.0, 12.0),
        "software" => (0.35, 2.0),
        _ => (50.0, 10.0),
    }
}

/// Nanoseconds of a step without boxes: some thirty dispatches and a wait.
const FIXED: f64 = 200_000.0;

/// Bytes that a step moves on the device for each box of an even scene.
const BYTES_PER_BOX: f64 = 600.0;

impl GpuSweep {
    /// This broad phase as a candidate of [`Auto`](jostle::broad::auto::Auto), with a model of its
    /// cost by the kind of device: bytes over bandwidth, and a fixed part.
    pub fn rival(gpu: &Gpu, options: GpuOptions) -> Rival {
        let (memory, host) = speed(&gpu.info().kind);
        Rival {
            broad: Box::new(GpuSweep::with_options(gpu, options)),
            name: format!("grid-sweep on {}", gpu.info().name),
            fixed: FIXED,
            per_box: BYTES_PER_BOX / memory,
            per_change: 24.0 / host,
        }
    }
}
