//! Buffers: on the device, on the way there, and on the way back.

use crate::device::{Gpu, GpuError};

/// A storage buffer of `words` 32-bit words, at least one.
pub(crate) fn storage(gpu: &Gpu, label: &str, words: u64) -> wgpu::Buffer {
    gpu.device().create_buffer(&wgpu::BufferDescriptor {
        label: Some(label),
        size: words.max(4) * 4,
        usage: wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::COPY_SRC,
        mapped_at_creation: false,
    })
}

/// Memory that the processor writes and the device copies from. It is mapped again while the
/// step's one wait goes on, so that no step waits for it and none allocates.
#[derive(Debug)]
pub(crate) struct Upload {
    buffer: wgpu::Buffer,
    mapped: bool,
}

impl Upload {
    /// Room for `bytes`.
    pub(crate) fn new(gpu: &Gpu, bytes: u64) -> Upload {
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("upload"),
            size: bytes.max(256).next_multiple_of(8),
            usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: true,
        });
        Upload { buffer, mapped: true }
    }

    /// The buffer, to copy from.
    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Room in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.buffer.size()
    }

    /// Writes words from an iterator at a byte offset; returns the bytes written.
    pub(crate) fn write(
        &mut self,
        offset: u64,
        words: impl ExactSizeIterator<Item = u32>,
    ) -> Result<u64, GpuError> {
        const BLOCK: usize = 4096;
        let bytes = words.len() as u64 * 4;
        if bytes == 0 {
            return Ok(0);
        }
        let mut view = self
            .buffer
            .get_mapped_range_mut(offset..offset + bytes)
            .map_err(|error| GpuError::Lost(error.to_string()))?;
        let mut block = Vec::with_capacity(BLOCK);
        let mut at = 0;
        let mut words = words;
        loop {
            block.clear();
            block.extend(words.by_ref().take(BLOCK));
            if block.is_empty() {
                return Ok(bytes);
            }
            let part: &[u8] = bytemuck::cast_slice(&block);
            view.slice(at..at + part.len()).copy_from_slice(part);
            at += part.len();
        }
    }

    /// Gives the buffer to the device. Call before submitting.
    pub(crate) fn close(&mut self) {
        self.buffer.unmap();
        self.mapped = false;
    }

    /// Asks for the buffer back; the next wait delivers it. Call after submitting.
    pub(crate) fn reopen(&mut self) {
        self.buffer.map_async(wgpu::MapMode::Write, .., |_| {});
        self.mapped = true;
    }
}

/// Memory that the device copies to and the processor reads.
#[derive(Debug)]
pub(crate) struct Readback {
    buffer: wgpu::Buffer,
}

impl Readback {
    /// Room for `bytes`.
    pub(crate) fn new(gpu: &Gpu, bytes: u64) -> Readback {
        let buffer = gpu.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes.max(256).next_multiple_of(8),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Readback { buffer }
    }

    /// The buffer, to copy to.
    pub(crate) fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Room in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.buffer.size()
    }

    /// Asks for the first bytes; the next wait delivers them. Call after submitting.
    pub(crate) fn open(&self, bytes: u64) {
        self.buffer.map_async(wgpu::MapMode::Read, ..bytes.max(4), |_| {});
    }

    /// Reads words after a wait.
    pub(crate) fn read(&self, words: u64, mut take: impl FnMut(u32)) -> Result<(), GpuError> {
        let view = self
            .buffer
            .get_mapped_range(..words.max(1) * 4)
            .map_err(|error| GpuError::Lost(error.to_string()))?;
        for four in view.chunks_exact(4).take(words as usize) {
            take(u32::from_le_bytes(four.try_into().expect("four bytes")));
        }
        Ok(())
    }

    /// Gives the buffer back to the device.
    pub(crate) fn close(&self) {
        self.buffer.unmap();
    }
}
