//! The search for all pairs of a [`Grid`]: runs of boxes are listed, and tested eight at a time.
//!
//! ```text
//! for each row with boxes, for its own sheet and each later one that may pair with it:
//!   rows of that sheet from which boxes can reach: three by three; in its own only later ones
//!   for each cell of the row: where the three cells along each of these rows begin and end
//!   for each box of the cell, for each of the rows that its bounds reach: list the run
//! test the runs
//! ```
//!
//! Rows are looked up once for all their boxes, and the cells along them are found by cursors that
//! move forward with the cells of the row, so nothing is searched for a box. Whether a box reaches
//! the row before or behind, and the cell, is computed for many boxes at once.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::grid::{CellStart, Grid};
use crate::broad::hash_grid::lattice::Sheet;
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
    /// What [`reaches`] says of each box of a row.
    reaches: Vec<u8>,
}

impl Scratch {
    pub(super) fn bytes(&self) -> usize {
        self.runs.bytes() + self.reaches.capacity()
    }
}

impl Grid {
    /// Shows the pairs of the boxes in a stretch of places with all later ones. A stretch that
    /// begins or ends within a cell begins or ends with it: each box belongs to one stretch.
    pub(super) fn search(
        &self,
        places: Range<usize>,
        scratch: &mut Scratch,
        sink: impl Sink,
    ) -> Result<(), LimitReached> {
        let Scratch { runs, reaches } = scratch;
        let mut lister = Lister::new(runs, sink);
        let rows = &self.starts[..self.rows.len()];
        // The row that holds the first place, and those that begin before the end.
        let first = rows.partition_point(|&start| start as usize <= places.start).max(1) - 1;
        let end = rows.partition_point(|&start| (start as usize) < places.end);
        for row in first..end {
            let cells = self.cells(row);
            let from = cells.partition_point(|cell| (cell.start as usize) < places.start);
            let to = cells.partition_point(|cell| (cell.start as usize) < places.end);
            if from < to {
                self.search_row(row, from..to, reaches, &mut lister)?;
            }
        }
        self.search_giants(places, &mut lister)?;
        lister.flush()
    }

    /// The pairs of the boxes in some cells of a row.
    fn search_row<S: Sink>(
        &self,
        row: usize,
        cells: Range<usize>,
        reaches: &mut Vec<u8>,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let own = self.rows.keys[row].sheet;
        let partners = self.partners[self.sheets[own as usize].group];
        let first = self.occupied.partition_point(|&sheet| sheet < own);
        for &sheet in &self.occupied[first..] {
            if partners >> self.sheets[sheet as usize].group & 1 == 0 {
                continue;
            }
            let mut nearby = self.nearby(row, sheet);
            if nearby.present != 0 {
                self.search_nearby(row, cells.clone(), &mut nearby, reaches, lister)?;
            }
        }
        Ok(())
    }

    /// The rows of a sheet around a row of its own or a finer level.
    fn nearby(&self, row: usize, sheet: u32) -> Nearby<'_> {
        let key = self.rows.keys[row];
        let target = &self.sheets[sheet as usize];
        let shift = (target.level - self.sheets[key.sheet as usize].level).min(31) as u32;
        let mut nearby = Nearby {
            sheet: target,
            shift,
            own: key.sheet == sheet,
            present: 0,
            cells: [&[]; NEIGHBOURS],
            ends: [0; NEIGHBOURS],
        };
        let (y, z) = (key.y >> shift, key.z >> shift);
        for number in 0..NEIGHBOURS {
            if nearby.own && LATER >> number & 1 == 0 {
                continue;
            }
            let near = RowKey { sheet, z: z - 1 + number as i32 / 3, y: y - 1 + number as i32 % 3 };
            let found = if nearby.own && number == OWN { row as u32 } else { self.rows.find(near) };
            if found != NONE {
                nearby.present |= 1 << number;
                nearby.cells[number] = self.cells(found as usize);
                nearby.ends[number] = self.starts[found as usize + 1];
            }
        }
        nearby
    }

    fn search_nearby<S: Sink>(
        &self,
        row: usize,
        cells: Range<usize>,
        nearby: &mut Nearby<'_>,
        reaches: &mut Vec<u8>,
        lister: &mut Lister<'_, S>,
    ) -> Result<(), LimitReached> {
        let row_cells = self.cells(row);
        let end_of = |cell: usize| match row_cells.get(cell + 1) {
            Some(next) => next.start,
            None => self.starts[row + 1],
        };
        let first = row_cells[cells.start].start as usize;
        let order = self.layout.order;
        simd::run(Reaches {
            low: order.map(|axis| &self.column.low(axis)[first..end_of(cells.end - 1) as usize]),
            high: order.map(|axis| &self.column.high(axis)[first..end_of(cells.end - 1) as usize]),
            sheet: nearby.sheet,
            reaches,
        });
        for number in cells {
            let cell = row_cells[number];
            let (begin, end) = (cell.start as usize, end_of(number) as usize);
            let reaches = &reaches[begin - first..end - first];
            let any = reaches.iter().fold(0, |any, &reach| any | reach);
            let bounds = nearby.bounds(cell.x, ROWS[usize::from(any >> 2)] & nearby.present);
            for (one, &reach) in (begin as u32..).zip(reaches) {
                let mut rows = ROWS[usize::from(reach >> 2)] & nearby.present;
                let (low, high) = (usize::from(!reach & 1), usize::from(2 + (reach >> 1 & 1)));
                while rows != 0 {
                    let number = rows.trailing_zeros() as usize;
                    rows &= rows - 1;
                    let bounds = &bounds[number];
                    let own = nearby.own && number == OWN;
                    let begin = if own { one + 1 } else { bounds[low] };
                    let end = bounds[high];
                    if begin < end {
                        lister.list(one, begin, end)?;
                    }
                }
            }
        }
        Ok(())
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

/// The rows of a sheet around a row, and how far their cells have been walked.
struct Nearby<'a> {
    sheet: &'a Sheet,
    /// From cell numbers of the row to those of the sheet.
    shift: u32,
    /// True if the row is of the same sheet.
    own: bool,
    /// One bit for each row that has boxes.
    present: u16,
    /// Cells that are not before those of interest.
    cells: [&'a [CellStart]; NEIGHBOURS],
    /// Where the rows end.
    ends: [u32; NEIGHBOURS],
}

impl Nearby<'_> {
    /// For each of some rows, where the cells begin that are numbered one less than a cell's, the
    /// same, and one and two more. Cells of a row are asked for in ascending order.
    #[inline(always)]
    fn bounds(&mut self, x: i32, mut rows: u16) -> [[u32; 4]; NEIGHBOURS] {
        let x = x >> self.shift;
        let mut bounds = [[0; 4]; NEIGHBOURS];
        while rows != 0 {
            let number = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            let mut cells = self.cells[number];
            while let [first, rest @ ..] = cells
                && first.x < x - 1
            {
                cells = rest;
            }
            self.cells[number] = cells;
            let mut at = 0;
            for (wanted, bound) in (x - 1..).zip(&mut bounds[number]) {
                while at < cells.len() && cells[at].x < wanted {
                    at += 1;
                }
                *bound = if at < cells.len() { cells[at].start } else { self.ends[number] };
            }
        }
        bounds
    }
}

/// The rows that a box reaches, by whether it does on y down and up, on z down and up.
const ROWS: [u16; 16] = rows_reached();

const fn rows_reached() -> [u16; 16] {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let y = 0b010 | (bits & 1) | (bits & 2) << 1;
        let z = bits >> 2;
        let below = if z & 1 == 1 { y } else { 0 };
        table[bits as usize] = (y << 3) | below | ((z >> 1) * (y << 6));
        bits += 1;
    }
    table
}

/// Finds for boxes whether boxes of a sheet reach them from the cell before and the one behind
/// that of their lower corner: two bits for each axis, in the layout's order.
struct Reaches<'a> {
    low: [&'a [f32]; 3],
    high: [&'a [f32]; 3],
    sheet: &'a Sheet,
    reaches: &'a mut Vec<u8>,
}

impl Kernel for Reaches<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Reaches { low, high, sheet, reaches } = self;
        let count = low[0].len();
        reaches.clear();
        reaches.resize(count, 0);
        for k in 0..3 {
            let (scale, reach) = (sheet.scale[k], sheet.reach[k]);
            let (low, high) = (&low[k][..count], &high[k][..count]);
            for ((&low, &high), to) in low.iter().zip(high).zip(reaches.iter_mut()) {
                let place = f64::from(low) * scale;
                let cell = place.floor();
                let before = (place - reach).floor() < cell;
                let behind = (f64::from(high) * scale).floor() > cell;
                *to |= (u8::from(before) | u8::from(behind) << 1) << (2 * k);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_by_what_is_reached() {
        assert_eq!(ROWS[0b0000], 0b000_010_000);
        assert_eq!(ROWS[0b0001], 0b000_011_000);
        assert_eq!(ROWS[0b0010], 0b000_110_000);
        assert_eq!(ROWS[0b0100], 0b000_010_010);
        assert_eq!(ROWS[0b1011], 0b111_111_000);
        assert_eq!(ROWS[0b1111], 0b111_111_111);
    }
}
