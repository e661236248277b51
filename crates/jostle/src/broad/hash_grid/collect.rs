//! The last pass of a build: the boxes of each row in order of their cells.
//!
//! A row usually has about as many boxes as cells between its first and its last, or more. Then
//! counting says where each cell begins, and boxes go straight to their places. A row that is
//! mostly gaps is sorted instead.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::classify::{Chunk, Members};
use crate::broad::hash_grid::grid::CellStart;
use crate::ds::radix_sort::sort_items;
use crate::simd::column::Slots;

/// Rows with at most this many cells for each box are sorted by counting.
const WIDEST: u64 = 4;

/// What a task of this pass needs.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct Part {
    /// The boxes of a row: number along it and slot.
    items: Vec<u64>,
    spare: Vec<u64>,
    /// Boxes of each cell of a row.
    counters: Vec<u32>,
    /// Sum of the squared numbers of boxes in its cells.
    pub squares: u64,
    pub cells: usize,
}

impl Part {
    pub(super) fn bytes(&self) -> usize {
        (self.items.capacity() + self.spare.capacity()) * 8 + self.counters.capacity() * 4
    }
}

/// Brings some rows together.
pub(super) struct Collect<'a> {
    pub rows: Range<usize>,
    /// The first place of the rows.
    pub first: usize,
    pub starts: &'a [u32],
    /// The number that each row has in the chunks.
    pub olds: &'a [u32],
    /// The boxes of each chunk by row.
    pub items: &'a [u64],
    pub chunks: &'a [Chunk],
    /// Items of a chunk.
    pub length: usize,
}

impl Collect<'_> {
    pub(super) fn run(
        self,
        members: Members<'_>,
        slots: &mut Slots<'_>,
        cells: &mut [CellStart],
        cell_counts: &mut [u32],
        part: &mut Part,
    ) {
        (part.squares, part.cells) = (0, 0);
        for (row, cell_count) in self.rows.clone().zip(cell_counts) {
            let start = self.starts[row];
            let places = start as usize - self.first..self.starts[row + 1] as usize - self.first;
            let (ids, cells) = (&mut slots.id[places.clone()], &mut cells[places]);
            let count = match self.chunks {
                [_] => part.order(self.run_of(0, row), start, ids, cells),
                _ => {
                    let mut items = std::mem::take(&mut part.items);
                    items.clear();
                    let runs = (0..self.chunks.len()).map(|chunk| self.run_of(chunk, row));
                    runs.for_each(|run| items.extend_from_slice(run));
                    let count = part.order(&items, start, ids, cells);
                    part.items = items;
                    count
                }
            };
            *cell_count = count as u32;
            part.cells += count;
        }
        copy_bounds(members, slots);
    }

    /// What a chunk has of a row.
    fn run_of(&self, number: usize, row: usize) -> &[u64] {
        let old = self.olds[row] as usize;
        let (rows, first) = (&self.chunks[number].rows, number * self.length);
        // Each counter has moved to the end of its row, which is where the next one begins.
        let begin = if old == 0 { 0 } else { rows[old - 1] as usize };
        &self.items[first + begin..first + rows[old] as usize]
    }
}

impl Part {
    /// Writes the slots of a row's boxes by cell, stably, and its cells, given the place where it
    /// starts. Returns the number of cells.
    fn order(
        &mut self,
        items: &[u64],
        start: u32,
        ids: &mut [u32],
        cells: &mut [CellStart],
    ) -> usize {
        let (mut least, mut most) = (u32::MAX, 0);
        for &item in items {
            let x = (item >> 32) as u32;
            (least, most) = (least.min(x), most.max(x));
        }
        if items.is_empty() {
            0
        } else if u64::from(most - least) < WIDEST * items.len() as u64 {
            self.count(items, least, most, start, ids, cells)
        } else {
            self.sort(items, start, ids, cells)
        }
    }

    fn count(
        &mut self,
        items: &[u64],
        least: u32,
        most: u32,
        start: u32,
        ids: &mut [u32],
        cells: &mut [CellStart],
    ) -> usize {
        self.counters.clear();
        self.counters.resize((most - least) as usize + 1, 0);
        let counters = &mut self.counters[..];
        for &item in items {
            counters[((item >> 32) as u32 - least) as usize] += 1;
        }
        let (mut count, mut sum) = (0, 0);
        for (x, counter) in (least..).zip(counters.iter_mut()) {
            let boxes = std::mem::replace(counter, sum);
            if boxes > 0 {
                cells[count] = cell_start(x, start + sum);
                count += 1;
                sum += boxes;
                self.squares += u64::from(boxes) * u64::from(boxes);
            }
        }
        for &item in items {
            let next = &mut counters[((item >> 32) as u32 - least) as usize];
            ids[*next as usize] = item as u32;
            *next += 1;
        }
        count
    }

    fn sort(
        &mut self,
        items: &[u64],
        start: u32,
        ids: &mut [u32],
        cells: &mut [CellStart],
    ) -> usize {
        let length = items.len();
        self.spare.resize(self.spare.len().max(2 * length), 0);
        let (sorted, spare) = self.spare[..2 * length].split_at_mut(length);
        sorted.copy_from_slice(items);
        sort_items(sorted, spare);
        for (id, &item) in ids.iter_mut().zip(sorted.iter()) {
            *id = item as u32;
        }
        let (mut count, mut begin) = (0, 0);
        for run in sorted.chunk_by(|one, other| one >> 32 == other >> 32) {
            cells[count] = cell_start((run[0] >> 32) as u32, start + begin);
            count += 1;
            begin += run.len() as u32;
            self.squares += (run.len() * run.len()) as u64;
        }
        count
    }
}

fn cell_start(x: u32, start: u32) -> CellStart {
    CellStart { x: (x ^ 1 << 31) as i32, start }
}

/// Copies the bounds of the boxes whose slots are in their places.
fn copy_bounds(members: Members<'_>, slots: &mut Slots<'_>) {
    let [low_x, low_y, low_z] = &mut slots.low;
    let [high_x, high_y, high_z] = &mut slots.high;
    let lows = low_x.iter_mut().zip(low_y.iter_mut()).zip(low_z.iter_mut());
    let highs = high_x.iter_mut().zip(high_y.iter_mut()).zip(high_z.iter_mut());
    for ((((low_x, low_y), low_z), ((high_x, high_y), high_z)), &id) in
        lows.zip(highs).zip(slots.id.iter())
    {
        let Aabb { min, max } = *members.aabb(id);
        (*low_x, *low_y, *low_z) = (min[0], min[1], min[2]);
        (*high_x, *high_y, *high_z) = (max[0], max[1], max[2]);
    }
}
