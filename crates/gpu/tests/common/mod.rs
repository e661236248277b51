//! The device that the tests share.

use std::sync::OnceLock;

use jostle::{BroadPhase, Workers};
use jostle_gpu::{Gpu, GpuChoice, GpuOptions, GpuSweep};

/// Mesa's software device; a test without it fails and says what to install.
pub(crate) fn gpu() -> &'static Gpu {
    static GPU: OnceLock<Gpu> = OnceLock::new();
    GPU.get_or_init(|| Gpu::open(&GpuChoice::Software).unwrap_or_else(|error| panic!("{error}")))
}

/// The device as one more broad phase.
#[allow(dead_code)]
pub(crate) fn on_device(_: &Workers) -> Box<dyn BroadPhase> {
    Box::new(GpuSweep::new(gpu()))
}

/// As [`on_device`], with a budget in bytes.
#[allow(dead_code)]
pub(crate) fn with_budget(bytes: u64) -> impl Fn(&Workers) -> Box<dyn BroadPhase> {
    let options = GpuOptions { budget: Some(bytes), ..GpuOptions::default() };
    move |_| Box::new(GpuSweep::with_options(gpu(), options))
}
