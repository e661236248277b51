//! [`Device`]: where pairs are looked for, the processor or a GPU.
//!
//! The only file that looks at the feature `gpu`.

use jostle::world::Screen;
use jostle::{Algorithm, BroadPhase, Workers};

use crate::support::failure::Failure;

/// What `--device` means, for help texts.
pub const ABOUT: &str = "\
--device gpu takes the fastest GPU, and a software device only if there is no other; or give a
part of its name, or its number as `jostle devices` lists them. On a device the algorithm is
grid-sweep; auto chooses between it and the processor's, by what each is expected to cost.";

/// How a sweep on a device is done: see `jostle_gpu::GpuOptions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Experiment {
    /// Measures the stages there.
    pub timestamps: bool,
    /// A fixed size of cells.
    pub level: Option<u8>,
    /// Shares the sweep out by entries.
    pub sweep_by_entry: bool,
    /// Sorts by every digit, of this many bits (four or eight), and not bucket by bucket.
    pub digit_bits: Option<u8>,
}

/// The processor, or an open device.
#[derive(Clone, Debug, Default)]
pub struct Device {
    #[cfg(feature = "gpu")]
    gpu: Option<jostle_gpu::Gpu>,
}

impl Device {
    /// Opens what was named: `cpu`, `gpu`, a number, or a part of a name.
    pub fn open(name: &str) -> Result<Device, Failure> {
        if name == "cpu" { Ok(Device::default()) } else { open(name) }
    }

    /// What reports call it: `cpu`, or the name of the device.
    pub fn name(&self) -> String {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            return gpu.info().name.clone();
        }
        "cpu".into()
    }

    /// Returns true if this is the processor.
    pub fn is_cpu(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.is_none();
        #[cfg(not(feature = "gpu"))]
        true
    }

    /// Returns true if this is a device that runs on the processor: its times say nothing.
    pub fn is_software(&self) -> bool {
        #[cfg(feature = "gpu")]
        return self.gpu.as_ref().is_some_and(|gpu| gpu.info().is_software());
        #[cfg(not(feature = "gpu"))]
        false
    }

    /// The algorithm that runs there for the one that was asked for, if any was.
    pub fn algorithm(&self, wanted: Option<Algorithm>) -> Result<Algorithm, Failure> {
        match wanted {
            _ if self.is_cpu() => Ok(wanted.unwrap_or(Algorithm::Auto)),
            None | Some(Algorithm::GridSweep) => Ok(Algorithm::GridSweep),
            Some(Algorithm::Auto) => Ok(Algorithm::Auto),
            Some(other) => Err(Failure::input(format!(
                "{other} runs on the processor only; on a device give grid-sweep, auto, or no \
                 algorithm"
            ))),
        }
    }

    /// A broad phase that runs there, or chooses to.
    pub fn build(&self, algorithm: Algorithm, workers: &Workers) -> Box<dyn BroadPhase> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            use jostle_gpu::{GpuOptions, GpuSweep};
            if algorithm == Algorithm::Auto {
                let rival = GpuSweep::rival(gpu, GpuOptions::default());
                return Box::new(jostle::broad::auto::Auto::with_rival(workers, rival));
            }
            return Box::new(GpuSweep::new(gpu));
        }
        algorithm.build(workers)
    }

    /// The sweep on the device, done in a stated way; none on the processor.
    pub fn experiment(&self, experiment: Experiment) -> Option<Box<dyn BroadPhase>> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            let Experiment { timestamps, level, sweep_by_entry, digit_bits } = experiment;
            let digits = match digit_bits {
                Some(8) => jostle_gpu::Digits::Eight,
                _ => jostle_gpu::Digits::Four,
            };
            let options = jostle_gpu::GpuOptions {
                timestamps,
                level,
                sweep_by_entry,
                sort_by_digits: digit_bits.is_some(),
                digits,
                ..jostle_gpu::GpuOptions::default()
            };
            return Some(Box::new(jostle_gpu::GpuSweep::with_options(gpu, options)));
        }
        let _ = experiment;
        None
    }

    /// The narrow phase on the device; none on the processor.
    pub fn screen(&self) -> Option<Box<dyn Screen>> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            return Some(Box::new(jostle_gpu::GpuNarrow::new(gpu)));
        }
        None
    }
}

#[cfg(not(feature = "gpu"))]
fn open(name: &str) -> Result<Device, Failure> {
    Err(Failure::input(format!("--device {name}: this jostle was built without the feature gpu")))
}

#[cfg(feature = "gpu")]
fn open(name: &str) -> Result<Device, Failure> {
    use jostle_gpu::{Gpu, GpuChoice};
    let opened = match (name, name.parse()) {
        ("gpu", _) => Gpu::open(&GpuChoice::Fastest).or_else(|none| {
            Gpu::open(&GpuChoice::Software).map_err(|_| none).inspect(|gpu| {
                eprintln!("no hardware GPU; on {}, whose times say nothing", gpu.info());
            })
        }),
        (_, Ok(number)) => Gpu::open(&GpuChoice::Number(number)),
        _ => Gpu::open(&GpuChoice::Name(name.into())),
    };
    match opened {
        Ok(gpu) => Ok(Device { gpu: Some(gpu) }),
        Err(error) => Err(Failure::input(format!("--device {name}: {error}"))),
    }
}

/// One line for each device.
pub fn listed() -> Vec<String> {
    #[cfg_attr(not(feature = "gpu"), expect(unused_mut))]
    let mut lines = vec!["cpu  the processor".into()];
    #[cfg(feature = "gpu")]
    for info in jostle_gpu::Gpu::list() {
        let binding = info.binding >> 20;
        let driver = &info.driver;
        lines.push(format!("{}    {info}, {driver}, bindings of {binding} MiB", info.number));
    }
    lines
}
