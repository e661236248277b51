//! The compiled kernels: one WGSL file each, with an explicit layout of bindings.

use std::sync::OnceLock;

use wgpu::{BindGroupEntry, BindingType};

use crate::work;

/// What a kernel binds, in order of the binding numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bind {
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
    Levels = "levels.wgsl", ["grid.wgsl", "cells.wgsl"], [Params, Write, Read, Write];
    Choose = "choose.wgsl", [], [Write];
    Clear = "clear.wgsl", [], [Params, Write, Write];
    Count = "count.wgsl", ["grid.wgsl", "buckets.wgsl"], [Params, Write, Read, Read, Write];
    ScanReduce = "scan_reduce.wgsl", [], [Params, Write, Write];
    ScanSmall = "scan_small.wgsl", ["group_scan.wgsl"], [Params, Write];
    ScanApply = "scan_apply.wgsl", ["group_scan.wgsl"], [Params, Write, Write];
    Fill = "fill.wgsl", ["grid.wgsl", "buckets.wgsl"],
        [Params, Write, Read, Read, Write, Read, Write, Write];
    Settle = "settle.wgsl", [], [Params, Write, Write, Write, Write];
    SortCount = "sort_count.wgsl", [], [Params, Write, Write];
    SortScatter = "sort_scatter.wgsl", ["sort_tile.wgsl"],
        [Params, Write, Write, Write, Write, Write];
    SortCount8 = "sort_count8.wgsl", [], [Params, Write, Write];
    SortScatter8 = "sort_scatter8.wgsl", ["sort_tile.wgsl"],
        [Params, Write, Write, Write, Write, Write];
    Runs = "runs.wgsl", [], [Params, Write, Write];
    Candidates = "candidates.wgsl", ["grid.wgsl", "reach.wgsl"],
        [Params, Write, Read, Write, Write, Write, Read, Write];
    Sweep = "sweep.wgsl", ["grid.wgsl", "cells.wgsl", "reach.wgsl"],
        [Params, Write, Read, Read, Write, Write, Write, Write, Write];
    SettlePairs = "settle_pairs.wgsl", [], [Params, Write, Write, Write];
    Diff = "diff.wgsl", [], [Params, Write, Write, Write, Write];
    NarrowThread = "narrow_thread.wgsl", ["gjk.wgsl"],
        [Params, Write, Read, Read, Read, Read, Read];
    NarrowGroup = "narrow_group.wgsl", ["gjk.wgsl"],
        [Params, Write, Read, Read, Read, Read, Read];
}

/// Kernels from this one on are compiled when they are first used.
const LATER: usize = Kernel::NarrowThread as usize;

/// Bytes between the parameters of two dispatches: every device allows offsets like these.
pub(crate) const PARAMS_STRIDE: u32 = 256;

/// Bytes of parameters that a kernel sees.
const PARAMS_SIZE: u64 = 32;

#[derive(Debug)]
pub(crate) struct Compiled {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

/// Every kernel, compiled for a device.
#[derive(Debug)]
pub(crate) struct Kernels {
    device: wgpu::Device,
    preamble: String,
    compiled: Vec<OnceLock<Compiled>>,
}

impl Kernels {
    /// Compiles those of a step. What a device refuses is reported by its error handler.
    pub(crate) fn compile(device: &wgpu::Device) -> Kernels {
        let lanes = match device.features().contains(wgpu::Features::SUBGROUP) {
            true => include_str!("kernels/lanes_subgroup.wgsl"),
            false => include_str!("kernels/lanes_alone.wgsl"),
        };
        let preamble = work::preamble() + include_str!("kernels/common.wgsl") + lanes;
        let compiled = SOURCES.iter().map(|_| OnceLock::new()).collect();
        let kernels = Kernels { device: device.clone(), preamble, compiled };
        (0..LATER).for_each(|number| {
            kernels.get(number);
        });
        kernels
    }

    fn get(&self, number: usize) -> &Compiled {
        self.compiled[number].get_or_init(|| {
            let (name, parts, binds) = SOURCES[number];
            compile(&self.device, name, &self.preamble, parts, binds)
        })
    }

    /// The pipeline of a kernel.
    pub(crate) fn pipeline(&self, kernel: Kernel) -> &wgpu::ComputePipeline {
        &self.get(kernel as usize).pipeline
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
            layout: &self.get(kernel as usize).layout,
            entries: &entries,
        })
    }
}

pub(crate) fn compile(
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
