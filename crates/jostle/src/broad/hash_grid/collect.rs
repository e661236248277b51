//! The last pass of a build: the boxes of each row in order of their slices.
//!
//! A row usually has about as many boxes as slices between its first and its last, or more. Then
//! counting says where each slice begins, and boxes go straight to their places. A row that is
//! mostly gaps is sorted instead.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::classify::{Chunk, Members};
use crate::broad::hash_grid::lattice::SLICE_BITS;
use crate::broad::hash_grid::row_index::{ROOM, RowIndex};
use crate::ds::radix_sort::sort_items;
use crate::simd::column::Slots;

/// What a task of this pass needs.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct Part {
    /// The boxes of a row: number along it and slot.
    items: Vec<u64>,
    spare: Vec<u64>,
    /// Sum of the squared numbers of boxes in its cells.
    pub squares: u64,
    pub cells: usize,
}

impl Part {
    pub(super) fn bytes(&self) -> usize {
        (self.items.capacity() + self.spare.capacity()) * 8
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

/// What is written for a row.
struct RowOut<'a> {
    /// The place where it starts.
    start: u32,
    /// Its boxes by slot, and its index's memory.
    ids: &'a mut [u32],
    memory: &'a mut [u32],
}

impl Collect<'_> {
    pub(super) fn run(
        self,
        members: Members<'_>,
        slots: &mut Slots<'_>,
        memory: &mut [u32],
        indexes: &mut [RowIndex],
        part: &mut Part,
    ) {
        (part.squares, part.cells) = (0, 0);
        for (row, index) in self.rows.clone().zip(indexes) {
            let start = self.starts[row];
            let places = start as usize - self.first..self.starts[row + 1] as usize - self.first;
            let out = RowOut {
                start,
                ids: &mut slots.id[places.clone()],
                memory: &mut memory[ROOM * places.start..ROOM * places.end],
            };
            *index = match self.chunks {
                [_] => part.order(self.run_of(0, row), out),
                _ => {
                    let mut items = std::mem::take(&mut part.items);
                    items.clear();
                    let runs = (0..self.chunks.len()).map(|chunk| self.run_of(chunk, row));
                    runs.for_each(|run| items.extend_from_slice(run));
                    let index = part.order(&items, out);
                    part.items = items;
                    index
                }
            };
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
    /// Writes the slots of a row's boxes by slice, stably, and its index.
    fn order(&mut self, items: &[u64], out: RowOut<'_>) -> RowIndex {
        let (mut least, mut most) = (u32::MAX, 0);
        for &item in items {
            let x = (item >> 32) as u32;
            (least, most) = (least.min(x), most.max(x));
        }
        // Rows that hold no box have been dropped, so the least is not larger than the most.
        let slices = u64::from(most.saturating_sub(least)) + 1;
        if slices < out.memory.len() as u64 {
            self.count(items, RowIndex::counted(least, slices as u32), out)
        } else {
            self.sort(items, out)
        }
    }

    fn count(&mut self, items: &[u64], index: RowIndex, out: RowOut<'_>) -> RowIndex {
        let RowOut { start, ids, memory } = out;
        let (least, slices) = (index.least, index.slices as usize);
        // A slice's counter is where the next one's begin will be: filling moves it there.
        let begins = &mut memory[..slices + 1];
        begins.fill(0);
        for &item in items {
            begins[((item >> 32) as u32 - least) as usize + 1] += 1;
        }
        begins[0] = start;
        let mut next = start;
        let mut cell = Cells::default();
        for (slice, begin) in (least..).zip(&mut begins[1..]) {
            let boxes = std::mem::replace(begin, next);
            cell.take(slice, boxes);
            next += boxes;
        }
        for &item in items {
            let next = &mut begins[((item >> 32) as u32 - least) as usize + 1];
            ids[(*next - start) as usize] = item as u32;
            *next += 1;
        }
        self.note(cell);
        index
    }

    fn sort(&mut self, items: &[u64], out: RowOut<'_>) -> RowIndex {
        let length = items.len();
        self.spare.resize(self.spare.len().max(2 * length), 0);
        let (sorted, spare) = self.spare[..2 * length].split_at_mut(length);
        sorted.copy_from_slice(items);
        sort_items(sorted, spare);
        let mut cell = Cells::default();
        for ((id, number), &item) in out.ids.iter_mut().zip(&mut *out.memory).zip(sorted.iter()) {
            (*id, *number) = (item as u32, (item >> 32) as u32);
            cell.take(*number, 1);
        }
        self.note(cell);
        RowIndex::listed()
    }

    fn note(&mut self, cells: Cells) {
        let (squares, count) = cells.finish();
        self.squares += squares;
        self.cells += count;
    }
}

/// Counts the cells of a row, given its slices in order.
#[derive(Default)]
struct Cells {
    /// The present cell and its boxes.
    number: u32,
    boxes: u64,
    squares: u64,
    count: usize,
}

impl Cells {
    #[inline(always)]
    fn take(&mut self, slice: u32, boxes: u32) {
        if slice >> SLICE_BITS != self.number {
            self.end();
            self.number = slice >> SLICE_BITS;
        }
        self.boxes += u64::from(boxes);
    }

    fn end(&mut self) {
        self.squares += self.boxes * self.boxes;
        self.count += usize::from(self.boxes > 0);
        self.boxes = 0;
    }

    /// The sum of the squared numbers of boxes, and the number of cells.
    fn finish(mut self) -> (u64, usize) {
        self.end();
        (self.squares, self.count)
    }
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
