//! The search for all pairs of a [`Grid`]: runs of boxes are listed, and tested eight at a time.
//!
//! ```text
//! for each row with boxes, for its own sheet and each later one that may pair with it:
//!   for each box of the row: the slices of boxes that can reach it, and whether boxes of the rows
//!   before and behind can
//!   rows of that sheet from which boxes can reach: three by three; in its own only later ones
//!   for each of these rows, for each box that it reaches: list the run of these slices
//! test the runs
//! ```
//!
//! Rows are looked up once for all their boxes, and their indexes say where slices begin, so
//! nothing is searched for a box. Which rows and slices reach a box is computed for many boxes at
//! once: the edges of a row are the same for all its boxes.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::grid::Grid;
use crate::broad::hash_grid::lattice::Sheet;
use crate::broad::hash_grid::row_index::RowView;
use crate::broad::hash_grid::rows::{NONE, RowKey};
use crate::pair::{Lane, LimitReached, Pair};
use crate::simd::column::{Column, Run};
use crate::simd::{self, Kernel, Level, Simd};

/// Runs are tested when this many tests are listed; no more pairs than that are found at once.
const BATCH: u32 = Lane::MAX_ROOM as u32;

/// Three by three rows, numbered from the one with the smallest y and z.
const NEIGHBOURS: usize = 9;
const OWN: usize = 4;

/// The rows that are later than the own one, and the own one.
const LATER: u16 = 0b1_1111_0000;

/// Listed runs, and what was found in them.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    list: Vec<Run>,
    /// Number of tests listed.
    listed: u32,
    level: Level,
    hits: Vec<Pair>,
    pub tests: u64,
}

impl Default for Runs {
    fn default() -> Runs {
        Runs { list: Vec::new(), listed: 0, level: Level::current(), hits: Vec::new(), tests: 0 }
    }
}

impl Runs {
    pub(super) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Run>() + self.hits.capacity() * size_of::<Pair>()
    }
}

/// Where pairs go that were found.
pub(super) trait Sink {
    /// Tests runs and takes the pairs found; `hits` is scratch. Returns the number of tests.
    fn take(
        &mut self,
        runs: &[Run],
        hits: &mut Vec<Pair>,
        level: Level,
    ) -> Result<u64, LimitReached>;

    /// As [`Sink::take`], for boxes and all that follow each up to its end.
    fn take_following(
        &mut self,
        first: u32,
        ends: &[u32],
        hits: &mut Vec<Pair>,
        level: Level,
    ) -> Result<u64, LimitReached>;
}

/// All pairs of a column go to a lane.
pub(super) struct ToLane<'a> {
    pub column: &'a Column,
    pub lane: &'a mut Lane,
}

impl Sink for ToLane<'_> {
    fn take(&mut self, runs: &[Run], _: &mut Vec<Pair>, level: Level) -> Result<u64, LimitReached> {
        let found = self.lane.room(Lane::MAX_ROOM)?;
        Ok(self.column.sweep_runs(self.column, level, runs, found))
    }

    fn take_following(
        &mut self,
        first: u32,
        ends: &[u32],
        _: &mut Vec<Pair>,
        level: Level,
    ) -> Result<u64, LimitReached> {
        let found = self.lane.room(Lane::MAX_ROOM)?;
        Ok(self.column.sweep_following(level, first as usize, ends, found))
    }
}

/// Each pair of a column and another, which may be the same, is shown.
pub(super) struct ToEach<'a, F> {
    pub column: &'a Column,
    pub others: &'a Column,
    pub show: F,
}

impl<F: FnMut(Pair) -> Result<(), LimitReached>> Sink for ToEach<'_, F> {
    fn take(
        &mut self,
        runs: &[Run],
        hits: &mut Vec<Pair>,
        level: Level,
    ) -> Result<u64, LimitReached> {
        hits.clear();
        let tests = self.column.sweep_runs(self.others, level, runs, hits);
        hits.iter().try_for_each(|&pair| (self.show)(pair))?;
        Ok(tests)
    }

    fn take_following(
        &mut self,
        first: u32,
        ends: &[u32],
        hits: &mut Vec<Pair>,
        level: Level,
    ) -> Result<u64, LimitReached> {
        hits.clear();
        let tests = self.column.sweep_following(level, first as usize, ends, hits);
        hits.iter().try_for_each(|&pair| (self.show)(pair))?;
        Ok(tests)
    }
}

/// Runs that are being listed for a sink.
pub(super) struct Lister<'a, S> {
    runs: &'a mut Runs,
    sink: S,
}

impl<'a, S: Sink> Lister<'a, S> {
    pub(super) fn new(runs: &'a mut Runs, sink: S) -> Lister<'a, S> {
        (runs.listed, runs.tests) = (0, 0);
        runs.list.clear();
        Lister { runs, sink }
    }

    /// Lists the run of a box, and tests what is listed if it is enough.
    #[inline(always)]
    pub(super) fn list(&mut self, one: u32, begin: u32, end: u32) -> Result<(), LimitReached> {
        let length = end - begin;
        if self.runs.listed + length > BATCH {
            self.flush()?;
            if length > BATCH {
                return self.list_long(one, begin, end);
            }
        }
        self.runs.listed += length;
        self.runs.list.push(Run { one, begin, end });
        Ok(())
    }

    /// Tests a long run piece by piece.
    #[cold]
    fn list_long(&mut self, one: u32, begin: u32, end: u32) -> Result<(), LimitReached> {
        for begin in (begin..end).step_by(BATCH as usize) {
            self.runs.list.push(Run { one, begin, end: end.min(begin.saturating_add(BATCH)) });
            self.flush()?;
        }
        Ok(())
    }

    /// Tests boxes against those that follow them: `ends` are the ends of the runs, the first that
    /// of the box at `first`. At most [`BATCH`] tests, unless they are of one box.
    #[inline(always)]
    fn test_following(&mut self, first: u32, ends: &[u32]) -> Result<(), LimitReached> {
        if let [end] = *ends {
            return if first + 1 < end { self.list(first, first + 1, end) } else { Ok(()) };
        }
        let Runs { hits, level, tests, .. } = &mut *self.runs;
        *tests += self.sink.take_following(first, ends, hits, *level)?;
        Ok(())
    }

    /// Tests what is listed.
    pub(super) fn flush(&mut self) -> Result<(), LimitReached> {
        let Runs { list, hits, level, .. } = &mut *self.runs;
        let taken = self.sink.take(list, hits, *level);
        list.clear();
        self.runs.listed = 0;
        self.runs.tests += taken?;
        Ok(())
    }
}

/// The scratch memory of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub runs: Runs,
    pub reach: Reach,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        self.runs.bytes() + self.reach.bytes()
    }
}

/// For each box of a row, from where in a sheet boxes reach it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reach {
    /// Whether they do from the row before and the row behind: on y, then on z.
    sides: Vec<u8>,
    /// The first and the last slice.
    first: Vec<i32>,
    last: Vec<i32>,
    /// Where runs end.
    ends: Vec<u32>,
}

impl Reach {
    fn bytes(&self) -> usize {
        self.sides.capacity()
            + (self.first.capacity() + self.last.capacity() + self.ends.capacity()) * 4
    }
}

impl Grid {
    /// Shows the pairs of the boxes in a stretch of places with all later ones.
    pub(super) fn search(
        &self,
        places: Range<usize>,
        scratch: &mut Scratch,
        sink: impl Sink,
    ) -> Result<(), LimitReached> {
        let Scratch { runs, reach } = scratch;
        let mut lister = Lister::new(runs, sink);
        for (row, part) in self.rows_of(places.clone()) {
            self.search_row(row, part, reach, &mut lister)?;
        }
        self.search_giants(places, &mut lister)?;
        lister.flush()
    }

    /// The rows that a stretch of places is in, and which of their places.
    pub(super) fn rows_of(
        &self,
        places: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        let rows = &self.starts[..self.rows.len()];
        // The row that holds the first place, and those that begin before the end.
        let first = rows.partition_point(|&start| start as usize <= places.start).max(1) - 1;
        let end = rows.partition_point(|&start| (start as usize) < places.end);
        let part = move |row: usize| {
            let of_row = self.places(row);
            (row, of_row.start.max(places.start)..of_row.end.min(places.end))
        };
        (first..end).map(part).filter(|(_, part)| !part.is_empty())
    }

    /// The pairs of some boxes of a row.
    fn search_row<S: Sink>(
        &self,
        row: usize,
        places: Range<usize>,
        reach: &mut Reach,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let own = self.rows.keys[row].sheet;
        let partners = self.partners[self.sheets[own as usize].group];
        let first = self.occupied.partition_point(|&sheet| sheet < own);
        for &sheet in &self.occupied[first..] {
            if partners >> self.sheets[sheet as usize].group & 1 == 1 {
                let from = RowPart { grid: self, row, places: places.clone() };
                self.search_sheet(sheet, from, sheet == own, reach, lister)?;
            }
        }
        Ok(())
    }

    /// Lists the runs of boxes of a sheet that may overlap boxes of a row of its own or a finer
    /// level. If that row is one `within` the sheet, only those of later rows and the rest of it.
    pub(super) fn search_sheet<S: Sink>(
        &self,
        sheet: u32,
        from: RowPart<'_>,
        within: bool,
        reach: &mut Reach,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let RowPart { grid, row, places } = from;
        let nearby = self.nearby(grid.rows.keys[row], sheet, within);
        if nearby.present == 0 {
            return Ok(());
        }
        simd::run(FindReach {
            low: self.layout.order.map(|axis| &grid.column.low(axis)[places.clone()]),
            high: self.layout.order.map(|axis| &grid.column.high(axis)[places.clone()]),
            sheet: &self.sheets[sheet as usize],
            cell: nearby.cell,
            reach,
        });
        let first = places.start as u32;
        let mut rows = nearby.present;
        while rows != 0 {
            let number = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let row = self.row(nearby.rows[number] as usize);
            if within && number == OWN {
                reach.test_own(first, row, lister)?;
            } else {
                reach.list(first, row, SIDES[number], lister)?;
            }
        }
        Ok(())
    }

    /// The rows of a sheet around a row of its own or a finer level; only later ones `within` it.
    fn nearby(&self, key: RowKey, sheet: u32, within: bool) -> Nearby {
        let level = |number: u32| self.sheets[number as usize].level;
        let shift = (level(sheet) - level(key.sheet)).min(31) as u32;
        let (y, z) = (key.y >> shift, key.z >> shift);
        let mut nearby = Nearby { cell: [y, z], present: 0, rows: [0; NEIGHBOURS] };
        for number in 0..NEIGHBOURS {
            if within && LATER >> number & 1 == 0 {
                continue;
            }
            let near = RowKey { sheet, z: z - 1 + number as i32 / 3, y: y - 1 + number as i32 % 3 };
            let found = self.rows.find(near);
            if found != NONE {
                nearby.present |= 1 << number;
                nearby.rows[number] = found;
            }
        }
        nearby
    }

    /// The pairs of some boxes with giants.
    fn search_giants<S: Sink>(
        &self,
        places: Range<usize>,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        if self.giants.len() == 0 {
            return Ok(());
        }
        let in_cells = self.in_cells();
        for place in places {
            let aabb = self.column.get(place);
            let group = self.giants.group_at(place).unwrap_or_else(|| self.group_of(place));
            let from = if place < in_cells { 0 } else { place as u32 + 1 };
            self.list_giants(place as u32, &aabb, self.partners[group], from, lister)?;
        }
        Ok(())
    }

    /// The group of a box in a cell.
    fn group_of(&self, place: usize) -> usize {
        let row = self.starts.partition_point(|&start| start as usize <= place) - 1;
        self.sheets[self.rows.keys[row].sheet as usize].group
    }

    /// Lists the giants that may overlap a box.
    pub(super) fn list_giants<S: Sink>(
        &self,
        one: u32,
        aabb: &Aabb,
        partners: u32,
        from: u32,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let mut result = Ok(());
        self.giants.list_runs(one, aabb, partners, from, |run| {
            if result.is_ok() {
                result = lister.list(run.one, run.begin, run.end);
            }
        });
        result
    }
}

/// Some boxes of a row of a grid.
pub(super) struct RowPart<'a> {
    pub grid: &'a Grid,
    pub row: usize,
    pub places: Range<usize>,
}

/// The rows of a sheet around a row.
struct Nearby {
    /// The numbers of the row across the rows, in cells of the sheet.
    cell: [i32; 2],
    /// One bit for each row that has boxes.
    present: u16,
    rows: [u32; NEIGHBOURS],
}

impl Reach {
    /// Tests each box against those behind it in its row. `first` is the place of the first box.
    #[inline(always)]
    fn test_own<S: Sink>(
        &mut self,
        mut first: u32,
        row: RowView<'_>,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let Reach { last, ends, .. } = self;
        ends.clear();
        let mut tests = 0;
        for (one, &last) in (first..).zip(last.iter()) {
            let end = row.place_after(last);
            let length = end.saturating_sub(one + 1);
            if tests + length > BATCH {
                lister.test_following(first, ends)?;
                ends.clear();
                (first, tests) = (one, 0);
            }
            tests += length;
            ends.push(end);
        }
        lister.test_following(first, ends)
    }

    /// Lists for each box that reaches all of some sides the boxes of a row there.
    #[inline(always)]
    fn list<S: Sink>(
        &self,
        first: u32,
        row: RowView<'_>,
        sides: u8,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let mut eighth = 0;
        for eight in self.sides.as_chunks::<8>().0 {
            let mut reached = which_have(*eight, sides);
            while reached != 0 {
                let number = eighth + (reached.trailing_zeros() / 8) as usize;
                reached &= reached - 1;
                let begin = row.place(self.first[number]);
                let end = row.place_after(self.last[number]);
                if begin < end {
                    lister.list(first + number as u32, begin, end)?;
                }
            }
            eighth += 8;
        }
        Ok(())
    }
}

/// The highest bit of each byte that has all of some bits, the first byte lowest. The highest bit
/// is not among them.
#[inline(always)]
fn which_have(bytes: [u8; 8], bits: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    let missing = !u64::from_le_bytes(bytes) & (ONES * u64::from(bits));
    // No byte borrows from the next, because what is missing is less than the highest bit.
    ((ONES << 7) - missing) & (ONES << 7)
}

/// Set for each box, whatever reaches it.
const HERE: u8 = 0b1_0000;

/// The sides from which the boxes of a row reach a box, one bit each: y before and behind, z before
/// and behind; and [`HERE`].
const SIDES: [u8; NEIGHBOURS] = sides_of_rows();

const fn sides_of_rows() -> [u8; NEIGHBOURS] {
    let of_three = [0b01, 0b00, 0b10];
    let mut table = [0; NEIGHBOURS];
    let mut number = 0;
    while number < NEIGHBOURS {
        table[number] = HERE | of_three[number % 3] | of_three[number / 3] << 2;
        number += 1;
    }
    table
}

/// Finds for the boxes of a row from where in a sheet boxes reach them.
struct FindReach<'a> {
    /// In the layout's order.
    low: [&'a [f32]; 3],
    high: [&'a [f32]; 3],
    sheet: &'a Sheet,
    /// The row's numbers in the sheet.
    cell: [i32; 2],
    reach: &'a mut Reach,
}

impl Kernel for FindReach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let FindReach { low, high, sheet, cell, reach } = self;
        let count = low[0].len();
        let Reach { sides, first, last, .. } = reach;
        sides.clear();
        sides.resize(count, HERE);
        // They are looked at in eights.
        sides.resize(count.next_multiple_of(8), 0);
        for k in [1, 2] {
            let [before, behind] = edges(sheet, k, cell[k - 1]);
            let (low, high) = (&low[k][..count], &high[k][..count]);
            for ((&low, &high), to) in low.iter().zip(high).zip(sides.iter_mut()) {
                *to |= (u8::from(low < before) | u8::from(high >= behind) << 1) << (2 * k - 2);
            }
        }
        first.resize(count, 0);
        last.resize(count, 0);
        // Loops, not closures: those are not compiled for the instruction set around them.
        let (scale, reach) = (sheet.scale[0], sheet.reach[0]);
        for (&low, first) in low[0].iter().zip(first.iter_mut()) {
            *first = (f64::from(low) * scale - reach).floor() as i32;
        }
        for (&high, last) in high[0].iter().zip(last.iter_mut()) {
            *last = (f64::from(high) * scale).floor() as i32;
        }
    }
}

/// Boxes in the cells before reach a box of this cell only if it begins before the first of these
/// two, and it reaches boxes in those behind only if it does not end before the second.
fn edges(sheet: &Sheet, k: usize, cell: i32) -> [f32; 2] {
    let cell = f64::from(cell);
    [(cell + sheet.reach[k]).next_up(), cell + 1.0].map(|place| not_below(sheet.edge(k, place)))
}

/// The smallest f32 that is at least a number.
fn not_below(number: f64) -> f32 {
    let nearest = number as f32;
    if f64::from(nearest) < number { nearest.next_up() } else { nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_by_the_sides_they_reach() {
        let sides = [0b0101, 0b0100, 0b0110, 0b0001, 0, 0b0010, 0b1001, 0b1000, 0b1010];
        assert_eq!(SIDES, sides.map(|sides| HERE | sides));
    }

    #[test]
    fn bytes_with_all_bits_are_named() {
        let bytes = [0b1_0000, 0b1_0101, 0, 0b1_0111, 0b1_1111, 0b0_0101, 0b1_0100, 0b1_0101];
        let named = |bits: u8| {
            (0..8).filter(|k| bytes[*k] & bits == bits).fold(0, |sum, k| sum | 128 << (8 * k))
        };
        for bits in SIDES.into_iter().chain([0]) {
            assert_eq!(which_have(bytes, bits), named(bits), "{bits:b}");
        }
    }

    #[test]
    fn numbers_are_rounded_up() {
        for number in [0.0f64, 0.5, -0.1, 0.1, 1e-60, -1e-60, 1e30, -1e30, 1e60, f64::INFINITY] {
            let up = not_below(number);
            assert!(f64::from(up) >= number && f64::from(up.next_down()) < number, "{number}");
        }
    }
}
