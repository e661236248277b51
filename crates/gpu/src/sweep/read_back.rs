//! What comes back: events if the last step's pairs are on the device, else all pairs.

use jostle::{Error, Pair, PairBuffer, Report};

use super::record::Request;
use super::room::grown;
use super::upload::Copies;
use super::{GpuSweep, Header};
use crate::buffers::Readback;
use crate::device::GpuError;
use crate::memory::Sizes;
use crate::program::Stage;
use crate::work;

impl GpuSweep {
    /// Bytes of events that are read back with a step, before their number is known.
    pub(super) fn readback_size(&self) -> u64 {
        self.readback.size().min(u64::from(self.sizes().events) * 8)
    }

    /// Reads what began and ended.
    pub(super) fn take_delta(
        &mut self,
        request: &Request,
        header: Header,
        already: u64,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        let (began, all) = (header.get(work::BEGAN), header.get(work::EVENTS));
        let mut pairs = std::mem::take(&mut self.taken);
        pairs.clear();
        let bytes = u64::from(all) * 8;
        if bytes <= already {
            read_pairs(&self.readback, all, &mut pairs)?;
            self.readback.close();
        } else {
            self.readback.close();
            let sizes = self.sizes();
            if all > sizes.events {
                let events = grown(all.into());
                if !self.grow(Sizes { events, ..sizes })? {
                    // The events do not fit, the pairs do: these tell as much.
                    return self.take_all(header, found);
                }
                self.submit(request, &Copies::default(), (Stage::DiffWrite, Stage::DiffWrite), 0)?;
            }
            let events = self.memory().events().clone();
            self.read_all(&events, all, &mut pairs)?;
        }
        let (began, ended) = pairs.split_at(began as usize);
        self.counters.events = u64::from(all);
        for pair in began {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        found.ended_mut().extend_from_slice(ended);
        self.taken = pairs;
        self.keep(header);
        Ok(Report::Delta)
    }

    /// Reads every pair.
    pub(super) fn take_all(
        &mut self,
        header: Header,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        let list = self.memory().pairs(self.parity).clone();
        let mut pairs = Vec::new();
        self.read_all(&list, header.get(work::PAIRS), &mut pairs)?;
        for pair in pairs {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        self.keep(header);
        Ok(Report::Full)
    }

    /// The list just made is the last step's.
    fn keep(&mut self, header: Header) {
        self.old_pairs = Some(header.get(work::PAIRS));
        self.parity = 1 - self.parity;
    }

    /// Reads pairs from a buffer, as many at a time as the readback buffer holds.
    pub(super) fn read_all(
        &mut self,
        from: &wgpu::Buffer,
        count: u32,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), GpuError> {
        const MOST: u64 = 32 << 20;
        let bytes = u64::from(count) * 8;
        if self.readback.size() < bytes.min(MOST) {
            self.readback = Readback::new(&self.gpu, (bytes + bytes / 8).min(MOST));
            self.gpu.check()?;
        }
        let mut at = 0;
        while at < bytes {
            let part = (bytes - at).min(self.readback.size());
            let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(from, at, self.readback.buffer(), 0, part);
            self.gpu.queue().submit([encoder.finish()]);
            self.readback.open(part);
            self.counters.submissions += 1;
            self.counters.read += part;
            self.gpu.wait()?;
            read_pairs(&self.readback, (part / 8) as u32, pairs)?;
            self.readback.close();
            at += part;
        }
        Ok(())
    }
}

fn read_pairs(readback: &Readback, count: u32, pairs: &mut Vec<Pair>) -> Result<(), GpuError> {
    let mut first = None;
    readback.read(u64::from(count) * 2, |word| match first.take() {
        None => first = Some(word),
        Some(one) => pairs.push(Pair::from((one, word))),
    })
}
