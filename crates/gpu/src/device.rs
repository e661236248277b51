//! [`Gpu`]: an open device, and the list of those there are.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::kernel::Kernels;

/// Which device to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GpuChoice {
    /// The fastest one that is not made of software.
    #[default]
    Fastest,
    /// One that runs on the processor, for tests: Mesa's llvmpipe, SwiftShader, WARP.
    Software,
    /// By its number in [`Gpu::list`].
    Number(usize),
    /// By a part of its name, upper or lower case.
    Name(String),
}

/// A device that could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuInfo {
    /// Place in [`Gpu::list`].
    pub number: usize,
    /// The name the driver gives.
    pub name: String,
    /// `vulkan`, `metal`, `dx12` or `webgpu`.
    pub backend: String,
    /// `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub kind: String,
    /// The driver and its version.
    pub driver: String,
    /// The largest storage binding in bytes.
    pub binding: u64,
}

impl GpuInfo {
    /// Returns true if the device runs on the processor; its times say nothing about GPUs.
    pub fn is_software(&self) -> bool {
        self.kind == "software"
    }
}

impl fmt::Display for GpuInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.name, self.kind, self.backend)
    }
}

/// Why a device could not be opened or went away.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no such device.
    NoDevice {
        /// What was asked for.
        wanted: String,
        /// What there is, one line.
        found: String,
    },
    /// The device offers less than every WebGPU device has to.
    TooSmall {
        /// The device.
        device: String,
        /// What it lacks.
        lacks: String,
    },
    /// The device refused a shader or a call.
    Refused(String),
    /// The device has no memory left.
    OutOfMemory(String),
    /// The device was lost: unplugged, reset, or stopped by its driver.
    Lost(String),
    /// The budget cannot hold what one step needs at least.
    Budget {
        /// The budget in bytes.
        budget: u64,
        /// The least that would do.
        needed: u64,
        /// What needs it.
        what: String,
    },
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::NoDevice { wanted, found } => write!(
                f,
                "no GPU for {wanted}; found: {found}. Install a driver for Vulkan, Metal or DX12, \
                 or for software rendering on Debian: apt-get install mesa-vulkan-drivers \
                 libvulkan1, and ask for the software device"
            ),
            GpuError::TooSmall { device, lacks } => {
                write!(f, "{device} cannot be used: {lacks}; choose another device")
            }
            GpuError::Refused(what) => write!(f, "the device refused: {what}"),
            GpuError::OutOfMemory(what) => {
                write!(f, "the device has no memory left ({what}); set a budget or use fewer boxes")
            }
            GpuError::Lost(why) => write!(
                f,
                "the device was lost ({why}); step again on the processor or on another device"
            ),
            GpuError::Budget { budget, needed, what } => write!(
                f,
                "{what} needs {needed} bytes of device memory, the budget is {budget}; raise it"
            ),
        }
    }
}

impl std::error::Error for GpuError {}

impl From<GpuError> for jostle::Error {
    fn from(error: GpuError) -> jostle::Error {
        jostle::Error::Device(error.to_string())
    }
}

/// The first thing that went wrong on a device.
#[derive(Clone, Debug, Default)]
struct Faults(Arc<Mutex<Option<GpuError>>>);

impl Faults {
    /// A lost device explains whatever else is reported; it replaces other faults.
    fn note(&self, fault: GpuError) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() || matches!(fault, GpuError::Lost(_)) {
            *first = Some(fault);
        }
    }

    fn get(&self) -> Option<GpuError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self) -> Option<GpuError> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*first, Some(GpuError::Lost(_))) { first.clone() } else { first.take() }
    }
}

/// An open device. Cheap to clone; every broad phase on it shares the compiled kernels.
#[derive(Clone, Debug)]
pub struct Gpu {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: GpuInfo,
    faults: Faults,
    kernels: OnceLock<Kernels>,
}

impl Gpu {
    /// Every device there is, the fastest first, software last.
    pub fn list() -> Vec<GpuInfo> {
        let adapters = adapters();
        adapters.iter().enumerate().map(|(number, adapter)| info(number, adapter)).collect()
    }

    /// Opens a device, with the faster kernels that its features allow.
    pub fn open(choice: &GpuChoice) -> Result<Gpu, GpuError> {
        Gpu::open_with(choice, wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::SUBGROUP)
    }

    /// Opens a device and uses nothing but what every WebGPU device has: for comparisons, and for
    /// drivers whose features are broken. The results are the same.
    pub fn open_plain(choice: &GpuChoice) -> Result<Gpu, GpuError> {
        Gpu::open_with(choice, wgpu::Features::empty())
    }

    fn open_with(choice: &GpuChoice, wanted: wgpu::Features) -> Result<Gpu, GpuError> {
        let adapters = adapters();
        let infos: Vec<GpuInfo> =
            adapters.iter().enumerate().map(|(number, adapter)| info(number, adapter)).collect();
        let number = pick(choice, &infos)?;
        Gpu::from_adapter(&adapters[number], infos[number].clone(), wanted)
    }

    fn from_adapter(
        adapter: &wgpu::Adapter,
        info: GpuInfo,
        wanted: wgpu::Features,
    ) -> Result<Gpu, GpuError> {
        let limits = limits(adapter, &info)?;
        let offered = adapter.features();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("jostle"),
            required_features: offered & wanted,
            required_limits: limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::Refused(error.to_string()))?;
        let faults = Faults::default();
        let uncaptured = faults.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            uncaptured.note(fault_of(error));
        }));
        let lost = faults.clone();
        device.set_device_lost_callback(move |reason, message| {
            lost.note(GpuError::Lost(one_line(&format!("{reason:?}: {message}"))));
        });
        let shared = Shared { device, queue, info, faults, kernels: OnceLock::new() };
        let gpu = Gpu { shared: Arc::new(shared) };
        let kernels = Kernels::compile(gpu.device());
        gpu.check()?;
        gpu.shared.kernels.set(kernels).expect("they are set here alone");
        Ok(gpu)
    }

    /// What the device is.
    pub fn info(&self) -> &GpuInfo {
        &self.shared.info
    }

    /// The device of the graphics library, for users who stay on it.
    pub fn device(&self) -> &wgpu::Device {
        &self.shared.device
    }

    /// The queue of the graphics library.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.shared.queue
    }

    /// Returns true if the kernels let threads of a subgroup combine their numbers.
    pub fn has_subgroups(&self) -> bool {
        self.device().features().contains(wgpu::Features::SUBGROUP)
    }

    /// Returns true if the device can tell how long its stages take.
    pub fn has_timestamps(&self) -> bool {
        self.device().features().contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    pub(crate) fn kernels(&self) -> &Kernels {
        self.shared.kernels.get().expect("a device is handed out with its kernels")
    }

    /// Fails with what went wrong since the last call. A lost device stays lost.
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        self.shared.faults.take().map_or(Ok(()), Err)
    }

    /// As if the device had reported this.
    #[cfg(test)]
    pub(crate) fn report(&self, error: wgpu::Error) {
        self.shared.faults.note(fault_of(error));
    }

    /// Returns true if the device was lost.
    pub fn is_lost(&self) -> bool {
        matches!(self.shared.faults.get(), Some(GpuError::Lost(_)))
    }

    /// Waits until everything that was submitted is done.
    pub(crate) fn wait(&self) -> Result<(), GpuError> {
        let polled = self.device().poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        polled.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()))
    }
}

fn fault_of(error: wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { source } => GpuError::OutOfMemory(source.to_string()),
        other => GpuError::Refused(one_line(&other.to_string())),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every adapter of a native backend, the fastest kind first; software ones last.
fn adapters() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    adapters
}

fn rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

fn info(number: usize, adapter: &wgpu::Adapter) -> GpuInfo {
    let info = adapter.get_info();
    let kind = ["discrete", "integrated", "virtual", "other", "software"];
    GpuInfo {
        number,
        name: info.name,
        backend: format!("{:?}", info.backend).to_lowercase(),
        kind: kind[usize::from(rank(info.device_type))].into(),
        driver: one_line(&format!("{} {}", info.driver, info.driver_info)),
        binding: adapter.limits().max_storage_buffer_binding_size,
    }
}

fn pick(choice: &GpuChoice, infos: &[GpuInfo]) -> Result<usize, GpuError> {
    let fits = |info: &&GpuInfo| match choice {
        GpuChoice::Fastest => !info.is_software(),
        GpuChoice::Software => info.is_software(),
        GpuChoice::Number(number) => info.number == *number,
        GpuChoice::Name(name) => info.name.to_lowercase().contains(&name.to_lowercase()),
    };
    infos.iter().find(fits).map(|info| info.number).ok_or_else(|| GpuError::NoDevice {
        wanted: match choice {
            GpuChoice::Fastest => "a hardware device".into(),
            GpuChoice::Software => "a software device".into(),
            GpuChoice::Number(number) => format!("number {number}"),
            GpuChoice::Name(name) => format!("the name {name:?}"),
        },
        found: if infos.is_empty() {
            "none".into()
        } else {
            infos.iter().map(GpuInfo::to_string).collect::<Vec<_>>().join(", ")
        },
    })
}

/// WebGPU's defaults, with bindings as large as the device has them.
fn limits(adapter: &wgpu::Adapter, info: &GpuInfo) -> Result<wgpu::Limits, GpuError> {
    let (least, offered) = (wgpu::Limits::default(), adapter.limits());
    let mut lacks = Vec::new();
    least.check_limits_with_fail_fn(&offered, false, |name, wanted, allowed| {
        lacks.push(format!("{name} is {allowed}, {wanted} needed"));
    });
    if !lacks.is_empty() {
        return Err(GpuError::TooSmall { device: info.name.clone(), lacks: lacks.join(", ") });
    }
    Ok(wgpu::Limits {
        max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
        max_buffer_size: offered.max_buffer_size,
        ..least
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(number: usize, name: &str, kind: &str) -> GpuInfo {
        GpuInfo {
            number,
            name: name.into(),
            backend: "vulkan".into(),
            kind: kind.into(),
            driver: String::new(),
            binding: 1 << 27,
        }
    }

    #[test]
    fn a_software_device_is_picked_only_when_asked_for() {
        let both = [made(0, "GeForce", "discrete"), made(1, "llvmpipe", "software")];
        assert_eq!(pick(&GpuChoice::Fastest, &both), Ok(0));
        assert_eq!(pick(&GpuChoice::Software, &both), Ok(1));
        assert_eq!(pick(&GpuChoice::Name("LLVM".into()), &both), Ok(1));
        assert_eq!(pick(&GpuChoice::Number(1), &both), Ok(1));
        let error = pick(&GpuChoice::Fastest, &both[1..]).unwrap_err().to_string();
        assert!(error.contains("llvmpipe (software, vulkan)"), "{error}");
        let error = pick(&GpuChoice::Number(7), &[]).unwrap_err().to_string();
        assert!(error.contains("number 7; found: none") && error.contains("apt-get"), "{error}");
    }
}
