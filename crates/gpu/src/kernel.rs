//! The compiled kernels: one WGSL file each, with an explicit layout of bindings.

use wgpu::{BindGroupEntry, BindingType};

use crate::work;

/// What a kernel binds, in order of the binding numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bind {
    /// A stretch of the table of parameters.
    Params,
    /// A buffer that is read.
    Read,
    /// A buffer that is read and written.
    Write,
}

use Bind::{Params, Read, Write};

macro_rules! kernels {
    ($($name:ident = $file:literal, [$($before:literal),*], [$($bind:ident),*];)*) => {
        /// The kernels by name, in the order of a step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kernel {
            $(#[doc = concat!("`", $file, "`")] $name,)*
        }

        /// Name, source and bindings of each kernel.
        const SOURCES: &[(&str, &[&str], &[Bind])] = &[$((
            $file,
            &[
                $(include_str!(concat!("kernels/", $before)),)*
                include_str!(concat!("kernels/", $file)),
            ],
            &[$($bind),*],
        ),)*];
    };
}

kernels! {
    Upload = "upload.wgsl", [], [Params, Write, Read, Write, Write];
    Bounds = "bounds.wgsl", ["survey.wgsl"], [Params, Write, Read];
    Moments = "moments.wgsl", ["survey.wgsl"], [Params, Write, Read];
    Plan = "plan.wgsl", ["survey.wgsl"], [Params, Write];
    Levels = "levels.wgsl", ["grid.wgsl"], [Params, Write, Read, Write];
    Choose = "choose.wgsl", [], [Write];
    Count = "count.wgsl", ["grid.wgsl"], [Params, Write, Read, Write];
    ScanReduce = "scan_reduce.wgsl", [], [Params, Write, Write];
    ScanSmall = "scan_small.wgsl", ["group_scan.wgsl"], [Params, Write];
    ScanApply = "scan_apply.wgsl", ["group_scan.wgsl"], [Params, Write, Write];
    Fill = "fill.wgsl", ["grid.wgsl"], [Params, Write, Read, Write, Read, Read, Write, Write];
    SortCount = "sort_count.wgsl", [], [Params, Write, Write];
    SortScatter = "sort_scatter.wgsl", [], [Params, Write, Write, Write, Write, Write];
    Runs = "runs.wgsl", [], [Params, Write, Write];
    Candidates = "candidates.wgsl", ["grid.wgsl", "reach.wgsl"],
        [Params, Write, Read, Write, Write, Write];
    Sweep = "sweep.wgsl", ["grid.wgsl", "reach.wgsl"],
        [Params, Write, Read, Read, Write, Write, Write, Read, Write];
    Diff = "diff.wgsl", [], [Params, Write, Write, Write, Write];
}

/// Bytes between the parameters of two dispatches: every device allows offsets like these.
pub(crate) const PARAMS_STRIDE: u32 = 256;

/// Bytes of parameters that a kernel sees.
const PARAMS_SIZE: u64 = 32;

#[derive(Debug)]
struct Compiled {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// Every kernel, compiled for a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    compiled: Vec<Compiled>,
}

impl Kernels {
    /// Compiles all. What a device refuses is reported by its error handler.
    pub(crate) fn compile(device: &wgpu::Device) -> Kernels {
        let preamble = work::preamble() + include_str!("kernels/common.wgsl");
        let compiled = SOURCES
            .iter()
            .map(|&(name, parts, binds)| compile(device, name, &preamble, parts, binds))
            .collect();
        Kernels { compiled }
    }

    /// The pipeline of a kernel.
    pub(crate) fn pipeline(&self, kernel: Kernel) -> &wgpu::ComputePipeline {
        &self.compiled[kernel as usize].pipeline
    }

    /// Returns true if the kernel takes parameters.
    pub(crate) fn has_params(kernel: Kernel) -> bool {
        SOURCES[kernel as usize].2[0] == Params
    }

    /// Binds buffers to a kernel, parameters first if it has any.
    pub(crate) fn bind(
        &self,
        device: &wgpu::Device,
        kernel: Kernel,
        buffers: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let (name, _, binds) = SOURCES[kernel as usize];
        debug_assert_eq!(buffers.len(), binds.len(), "{name}");
        fn entry<'a>(number: usize, buffer: &'a wgpu::Buffer, bind: Bind) -> BindGroupEntry<'a> {
            let size = (bind == Params).then(|| PARAMS_SIZE.try_into().expect("not zero"));
            let binding = wgpu::BufferBinding { buffer, offset: 0, size };
            BindGroupEntry {
                binding: number as u32,
                resource: wgpu::BindingResource::Buffer(binding),
            }
        }
        let entries: Vec<_> = buffers
            .iter()
            .zip(binds)
            .enumerate()
            .map(|(number, (&buffer, &bind))| entry(number, buffer, bind))
            .collect();
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(name),
            layout: &self.compiled[kernel as usize].layout,
            entries: &entries,
        })
    }
}

fn compile(
    device: &wgpu::Device,
    name: &str,
    preamble: &str,
    parts: &[&str],
    binds: &[Bind],
) -> Compiled {
    let source = format!("{preamble}\n{}", parts.join("\n"));
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(name),
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let entries: Vec<_> = binds.iter().enumerate().map(|(k, &bind)| entry(k, bind)).collect();
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(name),
        entries: &entries,
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(name),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    Compiled { pipeline, layout }
}

fn entry(number: usize, bind: Bind) -> wgpu::BindGroupLayoutEntry {
    let (ty, has_dynamic_offset) = match bind {
        Params => (wgpu::BufferBindingType::Uniform, true),
        Read => (wgpu::BufferBindingType::Storage { read_only: true }, false),
        Write => (wgpu::BufferBindingType::Storage { read_only: false }, false),
    };
    wgpu::BindGroupLayoutEntry {
        binding: number as u32,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    }
}
