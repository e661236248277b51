//! A share of the boxes, dealt to the columns.
//!
//! Each worker deals its shares on its own, into memory of its own: nothing is shared and
//! nothing depends on how many workers there are. A share is small enough for the second cache,
//! so that the boxes come from memory once and the scattered writes never leave the cache.

use super::Entry;
use super::plan::{Plan, Span};

/// A share may have this many entries a box; beyond that the columns are too narrow.
const MOST_ENTRIES: usize = 4;

/// The columns are too narrow for the boxes: the share ran out of room.
#[derive(Debug)]
pub(super) struct Overfull;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Share {
    /// Where each column ends in `entries`.
    ends: Vec<u32>,
    /// The entries, column after column, and behind them one that is never read.
    entries: Vec<Entry>,
    total: usize,
    /// Boxes that touch more columns than neighbours.
    wide: usize,
}

impl Share {
    /// The entries of a column.
    #[inline]
    pub fn column(&self, column: usize) -> &[Entry] {
        let begin = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.entries[begin as usize..self.ends[column] as usize]
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.total
    }

    /// Number of entries of the first columns.
    pub fn len_before(&self, column: usize) -> usize {
        if column == 0 { 0 } else { self.ends[column - 1] as usize }
    }

    /// Number of boxes that touch more than two columns on an axis.
    pub fn wide(&self) -> usize {
        self.wide
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.entries.capacity() * size_of::<Entry>()
    }

    /// Deals boxes to the columns of a plan. There are as many spans as boxes, or more.
    pub fn deal(
        &mut self,
        plan: &Plan,
        boxes: impl Iterator<Item = Entry> + Clone,
        spans: &mut [Span],
    ) -> Result<(), Overfull> {
        self.count(plan, boxes.clone(), spans)?;
        self.total = 0;
        for end in &mut self.ends {
            let count = std::mem::replace(end, self.total as u32);
            self.total += count as usize;
        }
        if self.entries.len() <= self.total {
            self.entries.resize(self.total + self.total / 8 + 1, Entry::default());
        }
        self.scatter(plan, boxes, spans);
        Ok(())
    }

    /// Counts the entries of each column and keeps the spans.
    fn count(
        &mut self,
        plan: &Plan,
        boxes: impl Iterator<Item = Entry>,
        spans: &mut [Span],
    ) -> Result<(), Overfull> {
        let stride = plan.across[1].cells() as usize;
        self.ends.clear();
        self.ends.resize(plan.columns(), 0);
        self.wide = 0;
        let mut room = spans.len() * MOST_ENTRIES + plan.columns();
        for (span, entry) in spans.iter_mut().zip(boxes) {
            *span = plan.span(&entry);
            let [across, along] = [0, 1].map(|k| usize::from(span.to[k] - span.from[k]));
            let first = usize::from(span.from[0]) * stride + usize::from(span.from[1]);
            if (across | along) <= 1 {
                // Whether a box straddles cannot be predicted, so absent entries count as zero.
                self.ends[first] += 1;
                self.ends[first + along] += along as u32;
                self.ends[first + across * stride] += across as u32;
                self.ends[first + across * stride + along] += (across & along) as u32;
                continue;
            }
            self.wide += 1;
            room = room.checked_sub((across + 1) * (along + 1)).ok_or(Overfull)?;
            for row in 0..=across {
                let from = first + row * stride;
                self.ends[from..=from + along].iter_mut().for_each(|count| *count += 1);
            }
        }
        Ok(())
    }

    /// Writes the entries. `ends` holds where each column begins, and afterwards where it ends.
    fn scatter(&mut self, plan: &Plan, boxes: impl Iterator<Item = Entry>, spans: &[Span]) {
        let stride = plan.across[1].cells() as usize;
        let nowhere = self.total;
        for (span, entry) in spans.iter().zip(boxes) {
            let [across, along] = [0, 1].map(|k| usize::from(span.to[k] - span.from[k]));
            let first = usize::from(span.from[0]) * stride + usize::from(span.from[1]);
            let mut put = |column: usize, present: usize, marks: u32| {
                let next = &mut self.ends[column];
                let place = if present != 0 { *next as usize } else { nowhere };
                *next += present as u32;
                self.entries[place] = Entry { marks: entry.marks | marks, ..entry };
            };
            if (across | along) <= 1 {
                put(first, 1, 0);
                put(first + along, along, 2);
                put(first + across * stride, across, 1);
                put(first + across * stride + along, across & along, 3);
                continue;
            }
            for row in 0..=across {
                for place in 0..=along {
                    let marks = u32::from(row > 0) | u32::from(place > 0) << 1;
                    put(first + row * stride + place, 1, marks);
                }
            }
        }
    }
}
