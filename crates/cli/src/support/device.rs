//! [`Device`]: where pairs are looked for, the processor or a GPU.
//!
//! The only file that looks at the feature `gpu`.

use jostle::{Algorithm, BroadPhase, Workers};

use crate::support::failure::Failure;

/// What `--device` means, for help texts.
pub const ABOUT: &str = "\
--device gpu takes the fastest GPU, and a software device only if there is no other; or give a
part of its name, or its number as `jostle devices` lists them. On a device the algorithm is
grid-sweep.";

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

    /// The algorithm that runs there for the one that was asked for.
    pub fn algorithm(&self, wanted: Algorithm) -> Result<Algorithm, Failure> {
        match wanted {
            _ if self.is_cpu() => Ok(wanted),
            Algorithm::Auto | Algorithm::GridSweep => Ok(Algorithm::GridSweep),
            other => Err(Failure::input(format!(
                "{other} runs on the processor only; on a device give grid-sweep, or no algorithm"
            ))),
        }
    }

    /// A broad phase that runs there.
    pub fn build(&self, algorithm: Algorithm, workers: &Workers) -> Box<dyn BroadPhase> {
        #[cfg(feature = "gpu")]
        if let Some(gpu) = &self.gpu {
            return Box::new(jostle_gpu::GpuSweep::new(gpu));
        }
        algorithm.build(workers)
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
