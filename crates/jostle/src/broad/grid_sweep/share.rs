//! A share of the boxes, distributed to the columns.
//!
//! Each worker distributes its shares on its own, into memory of its own: nothing is shared and
//! nothing depends on how many workers there are. A share is small enough for the second cache,
//! so that the boxes come from memory once and the scattered writes never leave the cache.
//!
//! It is unpredictable which boxes straddle a border between columns, so nothing branches on it:
//! four tickets are written for every box, one for each column it may touch, and those that are
//! void are overwritten by the next. What follows reads tickets only.

use super::ColumnEntry;
use super::plan::{ColumnPlan, Span};

/// A share may have this many entries a box; beyond that the columns are too narrow.
const MOST_ENTRIES: usize = 4;

/// Bits for marks below the number of a box in a ticket.
const MARK_BITS: u32 = 2;

/// The columns are too narrow for the boxes: the share ran out of room.
#[derive(Clone, Debug)]
pub(super) struct Overfull;

/// Sends a box to a column.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ticket {
    column: u32,
    /// The number of the box in the share, above its marks in that column.
    item: u32,
}

/// See the [module](self). Workers fill neighbouring shares, so each has cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct Share {
    /// Where each column ends in `entries`.
    ends: Vec<u32>,
    /// The entries, column after column.
    entries: Vec<ColumnEntry>,
    total: usize,
    /// Boxes that touch more columns than neighbours.
    wide: usize,
}

impl Share {
    /// The entries of a column, and those of the next one.
    #[inline]
    pub(super) fn columns(&self, column: usize) -> (&[ColumnEntry], &[ColumnEntry]) {
        let (begin, end) = (self.len_before(column), self.ends[column] as usize);
        let next = self.ends.get(column + 1).map_or(end, |&next| next as usize);
        (&self.entries[begin..end], &self.entries[end..next])
    }

    /// Every entry with its column.
    pub(super) fn entries(&self, columns: usize) -> impl Iterator<Item = (usize, &ColumnEntry)> {
        let each = move |column| self.columns(column).0.iter().map(move |entry| (column, entry));
        (0..columns).flat_map(each)
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// Number of entries in the columns before one.
    #[inline]
    pub(super) fn len_before(&self, column: usize) -> usize {
        if column == 0 { 0 } else { self.ends[column - 1] as usize }
    }

    /// Number of boxes that touch more than two columns on an axis.
    pub(super) fn wide(&self) -> usize {
        self.wide
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>() + self.entries.capacity() * size_of::<ColumnEntry>()
    }

    /// Distributes `count` boxes, of which some may be missing, to the columns of a plan.
    pub(super) fn distribute(
        &mut self,
        plan: &ColumnPlan,
        count: usize,
        get: impl Fn(usize) -> Option<ColumnEntry>,
        tickets: &mut Vec<Ticket>,
    ) -> Result<(), Overfull> {
        let most = count * MOST_ENTRIES + plan.columns() + MOST_ENTRIES;
        if count >= 1 << (u32::BITS - MARK_BITS) || most > u32::MAX as usize {
            return Err(Overfull);
        }
        if tickets.len() < most {
            tickets.resize(most, Ticket::default());
        }
        let free = &mut tickets[..most];
        let issued = match plan.axis {
            0 => self.issue::<0>(plan, count, &get, free)?,
            1 => self.issue::<1>(plan, count, &get, free)?,
            _ => self.issue::<2>(plan, count, &get, free)?,
        };
        self.count(plan, &tickets[..issued]);
        if self.entries.len() < issued {
            self.entries.resize(issued + issued / 16, ColumnEntry::default());
        }
        self.total = issued;
        touch(&self.entries[..issued]);
        self.scatter(&get, &tickets[..issued]);
        Ok(())
    }

    /// Writes the tickets of all boxes and returns their number.
    fn issue<const AXIS: usize>(
        &mut self,
        plan: &ColumnPlan,
        count: usize,
        get: &impl Fn(usize) -> Option<ColumnEntry>,
        tickets: &mut [Ticket],
    ) -> Result<usize, Overfull> {
        let stride = plan.across[1].cells();
        self.wide = 0;
        let mut issued = 0;
        for number in 0..count {
            let Some(entry) = get(number) else { continue };
            let span = plan.span::<AXIS>(&entry.aabb);
            let [down, along] = [0, 1].map(|k| span.to[k] - span.from[k]);
            if (down | along) > 1 {
                self.wide += 1;
                issued += issue_wide(&span, stride, number, &mut tickets[issued..])?;
                continue;
            }
            let first = span.from[0] * stride + span.from[1];
            let item = (number as u32) << MARK_BITS;
            let four: &mut [Ticket; 4] = tickets[issued..].first_chunk_mut().ok_or(Overfull)?;
            // Written in such an order that a void one is always overwritten.
            four[0] = Ticket { column: first, item };
            four[1] = Ticket { column: first + 1, item: item | 2 };
            four[1 + along as usize] = Ticket { column: first + stride, item: item | 1 };
            let three = (1 + along + down) as usize;
            four[three.min(3)] = Ticket { column: first + stride + 1, item: item | 3 };
            issued += (1 + along + down + (along & down)) as usize;
        }
        Ok(issued)
    }

    /// Sets `ends` to where each column begins.
    fn count(&mut self, plan: &ColumnPlan, tickets: &[Ticket]) {
        self.ends.clear();
        self.ends.resize(plan.columns(), 0);
        for ticket in tickets {
            self.ends[ticket.column as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
    }

    /// Writes the entries. `ends` holds where each column begins, and afterwards where it ends.
    fn scatter(&mut self, get: &impl Fn(usize) -> Option<ColumnEntry>, tickets: &[Ticket]) {
        for ticket in tickets {
            let Some(entry) = get((ticket.item >> MARK_BITS) as usize) else { continue };
            let next = &mut self.ends[ticket.column as usize];
            let marks = entry.marks | ticket.item & ((1 << MARK_BITS) - 1);
            self.entries[*next as usize] = ColumnEntry { marks, ..entry };
            *next += 1;
        }
    }
}

/// Reads through memory that will be written in random order: sequential reads are prefetched.
fn touch(entries: &[ColumnEntry]) {
    let ids = entries.iter().step_by(2).map(|entry| entry.id);
    std::hint::black_box(ids.fold(0, |one, other| one ^ other));
}

/// Writes the tickets of a box that touches many columns and returns their number.
#[cold]
fn issue_wide(
    span: &Span,
    stride: u32,
    number: usize,
    tickets: &mut [Ticket],
) -> Result<usize, Overfull> {
    let mut issued = 0;
    for row in span.from[0]..=span.to[0] {
        for place in span.from[1]..=span.to[1] {
            let marks = u32::from(row > span.from[0]) | u32::from(place > span.from[1]) << 1;
            let item = (number as u32) << MARK_BITS | marks;
            *tickets.get_mut(issued).ok_or(Overfull)? =
                Ticket { column: row * stride + place, item };
            issued += 1;
        }
    }
    Ok(issued)
}
