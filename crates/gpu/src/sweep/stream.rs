//! Steps that do not fit the budget or a binding: done in ranges of columns, of entries and of
//! candidates, each as large as fits, none left out. Pairs are read back as they are found, and
//! the tracker on the processor makes the events.
//!
//! ```text
//! for each range of columns whose entries fit
//!     write and sort the entries
//!     for each range of entries whose candidates can be counted
//!         for each range of candidates whose pairs fit: sweep, read back
//! ```
//!
//! A range is found by trying the rest and halving while it is too large. The count of a try is
//! exact, so nothing is ever written that does not fit.

use jostle::{Boxes, Error, PairBuffer, Report};

use super::record::Request;
use super::upload::Copies;
use super::{GpuSweep, Header};
use crate::device::GpuError;
use crate::memory::Sizes;
use crate::program::{Stage, Way};
use crate::work;

/// The fewest entries and pairs with which ranges make sense.
const FEWEST: u32 = 64;

impl GpuSweep {
    /// The sizes to use when the wanted ones do not fit: boxes first, then entries, then pairs.
    pub(super) fn within_budget(&self, wanted: Sizes) -> Result<Sizes, GpuError> {
        let binding = self.gpu().info().binding;
        let mut sizes = Sizes { entries: FEWEST, pairs: FEWEST, events: 0, ..wanted };
        if let Some((what, needed)) = sizes.oversized(binding) {
            let what = format!("one binding for the {what} of {} boxes", sizes.slots);
            return Err(GpuError::Budget { budget: binding, needed, what });
        }
        let Some(left) = self.budget().checked_sub(sizes.bytes()) else {
            let (budget, needed) = (self.budget(), sizes.bytes());
            let what = format!("a step with {} boxes", sizes.slots);
            return Err(GpuError::Budget { budget, needed, what });
        };
        // An entry takes 28 bytes, a pair 8.
        let entries = (left / 4 * 3 / 28).min(binding / 8).min(u64::from(wanted.entries));
        sizes.entries = FEWEST.max(u32::try_from(entries).unwrap_or(u32::MAX));
        let left = self.budget().saturating_sub(sizes.bytes()).min(binding - 8 * u64::from(FEWEST));
        sizes.pairs = FEWEST + u32::try_from((left / 8).min(1 << 24)).unwrap_or(0);
        Ok(sizes)
    }

    /// Uploads the boxes and plans, without looking for pairs.
    pub(super) fn first_plan(&mut self, boxes: &Boxes, copies: &Copies) -> Result<(), Error> {
        let first = if copies.changed > 0 { Stage::Upload } else { Stage::Plan };
        let request = self.request(boxes, copies.changed);
        self.last = self.submit(&request, copies, (first, Stage::Plan), 0)?;
        self.holds_boxes = true;
        Ok(())
    }

    /// A step in ranges. The boxes are on the device.
    pub(super) fn step_in_ranges(
        &mut self,
        boxes: &Boxes,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        let sizes = self.sizes();
        if sizes.events > 0 {
            // The pairs stay on the device no more: all room is for entries and one list.
            let entries = sizes.slots.saturating_mul(33);
            let fitting = self.within_budget(Sizes { entries, ..sizes })?;
            let keeps = self.memory().keeps_boxes(&fitting);
            self.resize(fitting)?;
            debug_assert!(keeps, "the boxes stay");
            self.first_plan(boxes, &Copies::default())?;
        }
        // The counts of one range tell nothing of the next.
        self.ways.entries = Way::Radix;
        let mut total = Header::default();
        let columns = self.last.get(work::COLUMNS);
        let mut request = self.request(boxes, 0);
        let mut first = 0;
        while first < columns {
            let (end, entries) = self.fill_columns(&mut request, first, columns)?;
            self.sweep_entries(&mut request, entries, found)?;
            total.0[work::ENTRIES as usize] += entries;
            first = end;
        }
        self.last.0[work::ENTRIES as usize] = total.get(work::ENTRIES);
        Ok(Report::Full)
    }

    /// Writes and sorts the entries of as many columns as fit, from `first`; returns where the
    /// next range begins, and the number of entries.
    fn fill_columns(
        &mut self,
        request: &mut Request,
        first: u32,
        columns: u32,
    ) -> Result<(u32, u32), Error> {
        let room = self.sizes().entries;
        let mut end = columns;
        loop {
            // The last range takes the giants along.
            let open_end = if end == columns { work::NONE } else { end };
            request.set(work::COLUMN_FIRST, first).set(work::COLUMN_END, open_end);
            let header =
                self.submit(request, &Copies::default(), (Stage::Count, Stage::Count), 0)?;
            let entries = header.get(work::ENTRIES);
            if entries <= room {
                self.submit(request, &Copies::default(), (Stage::Sort, Stage::Sort), 0)?;
                return Ok((end, entries));
            }
            if end - first == 1 {
                let budget = self.budget();
                let needed = self.memory().bytes() + u64::from(entries - room) * 28;
                let what = format!("one column of the grid with {entries} entries");
                return Err(GpuError::Budget { budget, needed, what }.into());
            }
            end = first + (end - first) / 2;
        }
    }

    /// Sweeps the sorted entries, in ranges whose candidates can be counted in 31 bits.
    fn sweep_entries(
        &mut self,
        request: &mut Request,
        entries: u32,
        found: &mut PairBuffer,
    ) -> Result<(), Error> {
        let mut first = 0;
        while first < entries {
            let mut end = entries;
            let candidates = loop {
                request.set(work::ITEM_FIRST, first).set(work::ITEM_END, end);
                let stages = (Stage::Candidates, Stage::Candidates);
                let header = self.submit(request, &Copies::default(), stages, 0)?;
                let candidates = header.get(work::CANDIDATES);
                if candidates <= work::MOST_CANDIDATES {
                    break candidates;
                }
                end = first + (end - first) / 2;
            };
            self.counters.range_tests += u64::from(candidates);
            self.sweep_candidates(request, candidates, found)?;
            first = end;
        }
        Ok(())
    }

    /// Sweeps candidates, in ranges whose pairs fit. No range has more pairs than candidates, so
    /// halving ends.
    fn sweep_candidates(
        &mut self,
        request: &mut Request,
        candidates: u32,
        found: &mut PairBuffer,
    ) -> Result<(), Error> {
        let room = self.sizes().pairs;
        let mut first = 0;
        let mut length = candidates;
        while first < candidates {
            let end = first.saturating_add(length).min(candidates);
            request.set(work::CANDIDATE_FIRST, first).set(work::CANDIDATE_END, end);
            let stages = (Stage::SweepCount, Stage::SweepCount);
            let header = self.submit(request, &Copies::default(), stages, 0)?;
            let pairs = header.get(work::PAIRS);
            if found.len() + pairs as usize > found.limit() {
                return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
            }
            if pairs > room {
                length = ((end - first) / 2).max(1);
                continue;
            }
            if pairs > 0 {
                self.read_range(request, pairs, found)?;
            }
            self.counters.ranges += 1;
            first = end;
            // A range half empty: the next may be longer.
            length = if pairs < room / 2 { length.saturating_mul(2) } else { length };
        }
        Ok(())
    }

    fn read_range(
        &mut self,
        request: &Request,
        count: u32,
        found: &mut PairBuffer,
    ) -> Result<(), Error> {
        let stages = (Stage::SweepWrite, Stage::SweepWrite);
        self.submit(request, &Copies::default(), stages, 0)?;
        let list = self.memory().pairs(self.parity).clone();
        let mut pairs = Vec::new();
        self.read_all(&list, count, &mut pairs)?;
        for pair in pairs {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        Ok(())
    }
}
