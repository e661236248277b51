//! [`Grid`]: boxes in one array, sorted by sheet, row and slice; built in one go.
//!
//! ```text
//! classify  for each chunk of the boxes: level, slice and row of each; new rows are listed
//! scatter   for each chunk: its boxes in order of their rows
//! collect   for each part of the rows: what the chunks have of a row, sorted by slice; bounds are
//!           copied, and where slices begin is noted
//! ```
//!
//! Chunks and parts are tasks. What the grid holds does not depend on how many there are, but for
//! the order of the boxes of a slice.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::classify::{Chunk, Classify, Members, spot};
use crate::broad::hash_grid::collect::{Collect, Part};
use crate::broad::hash_grid::giants::Giants;
use crate::broad::hash_grid::lattice::{Layout, Sheet, extent};
use crate::broad::hash_grid::row_index::{ROOM, RowIndex, RowView};
use crate::broad::hash_grid::rows::{NONE, RowKey, Rows};
use crate::broad::shared::groups::Groups;
use crate::ds::regions::{Regions, for_each_region};
use crate::par::Workers;
use crate::simd;
use crate::simd::column::{Column, Slots};

/// Boxes of a chunk, or places of a part, at least.
const SMALLEST_TASK: usize = 2048;

/// Tasks per worker, so that one that is held up leaves the rest to the others.
const TASKS_PER_WORKER: usize = 4;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub layout: Layout,
    pub rows: Rows,
    /// Level after level, the groups of a level next to each other.
    pub sheets: Vec<Sheet>,
    /// Sheets with boxes, ascending.
    pub occupied: Vec<u32>,
    /// For each group the groups it may pair with, one bit each.
    pub partners: Vec<u32>,
    /// The boxes of all rows, then the giants.
    pub column: Column,
    /// The first place of each row, and the end.
    pub starts: Vec<u32>,
    /// How each row is indexed, and the indexes' memory, [`ROOM`] words for each box.
    pub indexes: Vec<RowIndex>,
    memory: Vec<u32>,
    pub giants: Giants,
    /// The mean number of boxes in a box's cell.
    pub crowding: f64,
    /// Row and number along it of each box, by its number among the members.
    spots: Vec<u64>,
    /// The boxes of each chunk by row: number along it and slot.
    items: Vec<u64>,
    chunks: Vec<Chunk>,
    /// Boxes of a chunk.
    chunk_length: usize,
    parts: Vec<Part>,
    /// The new number of each row, then the old one of each.
    ranks: Vec<u32>,
}

impl Grid {
    /// Sets other cells; rows known so far are forgotten.
    pub(super) fn set_layout(&mut self, layout: Layout, groups: &Groups) {
        self.layout = layout;
        self.rows.clear();
        self.sheets.clear();
        let count = groups.count_of_groups();
        for level in 0..layout.levels() {
            self.sheets.extend((0..count).map(|group| Sheet::new(&layout, level, group)));
        }
        self.partners.clear();
        self.partners.extend(groups.partners());
    }

    pub(super) fn bytes(&self) -> usize {
        self.column.bytes()
            + self.rows.bytes()
            + self.giants.bytes()
            + (self.starts.capacity() + self.memory.capacity() + self.ranks.capacity()) * 4
            + (self.indexes.capacity() + self.spots.capacity() + self.items.capacity()) * 8
            + self.chunks.iter().map(Chunk::bytes).sum::<usize>()
            + self.parts.iter().map(Part::bytes).sum::<usize>()
            + self.sheets.capacity() * size_of::<Sheet>()
    }

    /// Number of boxes in cells; behind them are the giants.
    pub(super) fn in_cells(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// The boxes of a row by place.
    #[inline(always)]
    pub(super) fn places(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// A row to look into.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> RowView<'_> {
        let places = self.places(row);
        let memory = &self.memory[ROOM * places.start..ROOM * places.end];
        RowView::new(self.indexes[row], memory, places.start as u32)
    }

    /// Number of cells with boxes.
    pub(super) fn count_of_cells(&self) -> usize {
        self.parts.iter().map(|part| part.cells).sum()
    }

    /// Forgets all boxes.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.starts.clear();
        self.occupied.clear();
        self.giants.clear();
        self.column.reset_unmarked(0);
    }

    /// Takes the boxes of the members, in place of those it held.
    pub(super) fn build(&mut self, members: Members<'_>, groups: &Groups, workers: &Workers) {
        self.classify(members, groups, workers);
        self.settle_strays(members, groups);
        self.number_rows();
        self.scatter(members, workers);
        self.collect(members, workers);
        let first = self.in_cells();
        let giants = self.chunks.iter().flat_map(|chunk| chunk.giants.iter().copied());
        self.giants.sort(giants, members, groups, first, &mut self.column);
    }

    /// Number of tasks for some items.
    fn tasks(items: usize, workers: &Workers) -> usize {
        match workers.count() {
            1 => 1,
            count => (items / SMALLEST_TASK).clamp(1, count * TASKS_PER_WORKER),
        }
    }

    fn classify(&mut self, members: Members<'_>, groups: &Groups, workers: &Workers) {
        let count = members.count();
        let length = count.div_ceil(Grid::tasks(count, workers)).max(1);
        self.chunk_length = length;
        let Grid { layout, rows, sheets, spots, chunks, .. } = self;
        spots.resize(count, 0);
        chunks.resize_with(count.div_ceil(length), Chunk::default);
        workers.for_each_chunk_with(spots, length, chunks, |number, spots, chunk| {
            let numbers = number * length..number * length + spots.len();
            simd::run(Classify { layout, rows, sheets, members, groups, numbers, spots, chunk });
        });
    }

    /// Looks up the boxes whose rows are new.
    fn settle_strays(&mut self, members: Members<'_>, groups: &Groups) {
        let known = self.rows.len();
        let length = self.chunk_length;
        let Grid { layout, rows, sheets, spots, chunks, .. } = self;
        for (number, chunk) in chunks.iter_mut().enumerate() {
            for &stray in &chunk.strays {
                let place = number * length + stray as usize;
                let slot = members.slot(place);
                let aabb = members.aabb(slot);
                let level = layout.level(aabb).expect("giants are no strays");
                let sheet = level * groups.count_of_groups() + groups.of(slot as usize);
                let [x, y, z] = layout.cell(aabb, &sheets[sheet].scale);
                let row = rows.find_or_add(RowKey { sheet: sheet as u32, z, y });
                spots[place] = spot(row, x);
                if chunk.rows.len() <= row as usize {
                    chunk.rows.resize(row as usize + 1, 0);
                }
                chunk.rows[row as usize] += 1;
            }
        }
        for chunk in chunks.iter_mut() {
            chunk.rows.resize(rows.len(), 0);
            // After a first build, in which all boxes are strays, there are few.
            if chunk.strays.len() * 2 > length {
                chunk.strays = Vec::new();
            }
        }
        let holds = |row: usize| chunks.iter().any(|chunk| chunk.rows[row] > 0);
        let all_hold = || (0..rows.len()).all(holds);
        if rows.len() > known || !all_hold() {
            rows.put_in_order(known, holds, &mut self.ranks);
        } else {
            self.ranks.clear();
            self.ranks.extend(0..known as u32);
        }
    }

    /// Finds where each row begins, in the whole and in each chunk, and what the sheets hold.
    fn number_rows(&mut self) {
        let Grid { rows, sheets, starts, chunks, ranks, indexes, occupied, .. } = self;
        starts.clear();
        starts.resize(rows.len() + 1, 0);
        for chunk in chunks.iter() {
            for (&count, &rank) in chunk.rows.iter().zip(ranks.iter()) {
                // Rows without boxes have no rank, and count nothing.
                starts[(rank as usize).min(rows.len())] += count;
            }
        }
        let mut sum = 0;
        starts.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
        indexes.clear();
        indexes.resize(rows.len(), RowIndex::default());
        for sheet in sheets.iter_mut() {
            (sheet.count, sheet.reach) = (0, [0.0; 3]);
        }
        for chunk in chunks.iter() {
            for (sheet, (count, extents)) in
                sheets.iter_mut().zip(chunk.counts.iter().zip(&chunk.extents))
            {
                sheet.count += *count as usize;
                for k in 0..3 {
                    // Extents are rounded; the next number above is certainly enough.
                    let reach = extents[k].next_up() * sheet.scale[k];
                    sheet.reach[k] = sheet.reach[k].max(if extents[k] > 0.0 { reach } else { 0.0 });
                }
            }
        }
        occupied.clear();
        let held = |number: &u32| sheets[*number as usize].count > 0;
        occupied.extend((0..sheets.len() as u32).filter(held));
        let mut first = 0;
        for &number in occupied.iter() {
            let rest = &rows.keys[first..];
            let end = first + rest.partition_point(|key| key.sheet <= number);
            sheets[number as usize].rows = [first as u32, end as u32];
            first = end;
        }
    }

    /// Puts the boxes of each chunk in order of their rows.
    fn scatter(&mut self, members: Members<'_>, workers: &Workers) {
        let length = self.chunk_length;
        let Grid { spots, items, chunks, .. } = self;
        items.resize(spots.len(), 0);
        workers.for_each_chunk_with(items, length, chunks, |number, items, chunk| {
            let mut sum = 0;
            chunk.rows.iter_mut().for_each(|count| sum += std::mem::replace(count, sum));
            let first = number * length;
            for (place, &spot) in spots[first..first + items.len()].iter().enumerate() {
                let slot = u64::from(members.slot(first + place));
                // Boxes without a row have no counter.
                if let Some(next) = chunk.rows.get_mut((spot >> 32) as usize) {
                    items[*next as usize] = spot << 32 | slot;
                    *next += 1;
                }
            }
        });
    }

    /// Brings the chunks together, part by part of the rows.
    fn collect(&mut self, members: Members<'_>, workers: &Workers) {
        let length = self.chunk_length;
        let Grid { rows, indexes, memory, column, items, chunks, parts, ranks, .. } = self;
        let starts = &self.starts[..];
        let total = starts[rows.len()] as usize;
        let giants: usize = chunks.iter().map(|chunk| chunk.giants.len()).sum();
        // `ranks` told new numbers from old ones; what is asked now is the opposite.
        let olds = invert(ranks, rows.len());
        let tasks = Grid::tasks(total, workers).min(rows.len().max(1));
        parts.resize_with(tasks, Part::default);
        memory.resize(memory.len().max(ROOM * total), 0);
        let Slots { low, high, id, .. } = column.reset_unmarked(total + giants);
        // The first row with its share of the boxes before it.
        let row_cut = |part: usize| match part == tasks {
            true => rows.len(),
            false => starts.partition_point(|&start| (start as usize) < total * part / tasks),
        };
        let cut = |part: usize| starts[row_cut(part)] as usize;
        let [low_x, low_y, low_z] = low.map(|bounds| Regions::new(&mut bounds[..total], cut));
        let [high_x, high_y, high_z] = high.map(|bounds| Regions::new(&mut bounds[..total], cut));
        let bounds = ((low_x, (low_y, low_z)), (high_x, (high_y, high_z)));
        let memory = Regions::new(&mut memory[..ROOM * total], |part| ROOM * cut(part));
        let index = (memory, Regions::new(indexes, row_cut));
        let ids = Regions::new(&mut id[..total], cut);
        let regions = ((bounds, index), (ids, Regions::new(parts, |part| part)));
        let (items, chunks) = (&items[..], &chunks[..]);
        for_each_region(workers, 0..tasks, regions, &|number, region| {
            let ((bounds, (memory, indexes)), (ids, part)) = region;
            let ((low_x, (low_y, low_z)), (high_x, (high_y, high_z))) = bounds;
            let mut slots = Slots {
                low: [low_x, low_y, low_z],
                high: [high_x, high_y, high_z],
                id: ids,
                marks: &mut [],
            };
            let rows = row_cut(number)..row_cut(number + 1);
            let task = Collect { rows, first: cut(number), starts, olds, items, chunks, length };
            task.run(members, &mut slots, memory, indexes, &mut part[0]);
        });
        let squares: u64 = parts.iter().map(|part| part.squares).sum();
        self.crowding = squares as f64 / total.max(1) as f64;
    }

    /// Panics if the grid does not hold what it should, given a box by its slot.
    pub(super) fn validate(&self, aabb: impl Fn(usize) -> Aabb, groups: &Groups) {
        self.rows.validate();
        for row in 0..self.rows.len() {
            let (key, view) = (self.rows.keys[row], self.row(row));
            let sheet = &self.sheets[key.sheet as usize];
            assert!((sheet.rows[0]..sheet.rows[1]).contains(&(row as u32)), "row {row} is lost");
            let [start, end] = [self.starts[row], self.starts[row + 1]];
            assert_eq!([view.place(i32::MIN), view.place(i32::MAX)], [start, end], "row {row}");
            for place in self.places(row) {
                let (held, slot) = (self.column.get(place), self.column.id(place) as usize);
                if held.min[0].is_nan() {
                    continue;
                }
                assert!(held.same(&aabb(slot)), "box {slot} is out of date");
                assert_eq!(groups.of(slot), sheet.group, "box {slot} has another group");
                assert_eq!(self.layout.level(&held), Some(sheet.level), "level of box {slot}");
                let [slice, y, z] = self.layout.cell(&held, &sheet.scale);
                assert_eq!([y, z], [key.y, key.z], "box {slot} strayed");
                let within = view.place(slice)..view.place_after(slice);
                assert!(within.contains(&(place as u32)), "box {slot} is not in its slice");
                for k in 0..3 {
                    let length = extent(&held, self.layout.order[k]) * sheet.scale[k];
                    let reached = length.is_nan() || length <= sheet.reach[k];
                    assert!(reached, "box {slot} is beyond the reach");
                }
            }
        }
    }
}

/// The number that got each rank, written behind the ranks.
fn invert(ranks: &mut Vec<u32>, count: usize) -> &[u32] {
    let numbers = ranks.len();
    ranks.resize(numbers + count, NONE);
    for number in 0..numbers {
        // Rows without boxes have no rank.
        if ranks[number] != NONE {
            let rank = ranks[number] as usize;
            ranks[numbers + rank] = number as u32;
        }
    }
    &ranks[numbers..]
}
