//! [`Grid`]: boxes in one array, sorted by sheet, row and cell; built in one go.
//!
//! ```text
//! classify  for each chunk of the boxes: level, cell and row of each; new rows are listed
//! scatter   for each chunk: its boxes in order of their rows
//! collect   for each part of the rows: what the chunks have of a row, sorted by cell; bounds are
//!           copied, and cells noted
//! ```
//!
//! Chunks and parts are tasks. What the grid holds does not depend on how many there are, but for
//! the order of the boxes of a cell.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::hash_grid::delta::ChangedBoxes;
use crate::broad::hash_grid::giants::Giants;
use crate::broad::hash_grid::lattice::{Layout, Sheet, extent};
use crate::broad::hash_grid::rows::{NONE, RowKey, Rows};
use crate::broad::shared::groups::Groups;
use crate::ds::radix_sort::sort_items;
use crate::ds::regions::{Regions, for_each_region};
use crate::par::Workers;
use crate::simd::column::{Column, Slots};
use crate::simd::{self, Kernel, Simd};

/// Boxes of a chunk, or places of a part, at least.
const SMALLEST_TASK: usize = 2048;

/// Tasks per worker, so that one that is held up leaves the rest to the others.
const TASKS_PER_WORKER: usize = 4;

/// The row of a giant, and that of a slot without a box; a new row is [`NONE`] at first.
const GIANT: u32 = NONE - 1;
const ABSENT: u32 = NONE - 2;

/// A cell with boxes: its number along its row, and the place of its first box. It ends where the
/// next one begins, or its row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellStart {
    pub x: i32,
    pub start: u32,
}

/// The boxes that a grid is built of.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    /// Their slots; all there are if there is no list, and those without a box hold NaN.
    pub list: Option<&'a [u32]>,
    pub aabbs: &'a [Aabb],
    /// Where the boxes are taken from as they were, if that is wanted.
    pub before: Option<&'a ChangedBoxes>,
}

impl Members<'_> {
    fn count(&self) -> usize {
        self.list.map_or(self.aabbs.len(), <[u32]>::len)
    }

    #[inline(always)]
    fn slot(&self, number: usize) -> u32 {
        self.list.map_or(number as u32, |list| list[number])
    }

    #[inline(always)]
    pub(super) fn aabb(&self, slot: u32) -> &Aabb {
        let now = || &self.aabbs[slot as usize];
        self.before.and_then(|changed| changed.old(slot)).unwrap_or_else(now)
    }
}

/// What a task of the first two passes has found in its chunk.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct Chunk {
    /// Boxes of each row; then where those of each row begin, and the end.
    rows: Vec<u32>,
    /// The largest extents in each sheet, in the layout's order.
    extents: Vec<[f64; 3]>,
    /// Boxes of each sheet.
    counts: Vec<u32>,
    /// Boxes whose row is not known, by their place in the chunk.
    strays: Vec<u32>,
    giants: Vec<u32>,
}

/// What a task of the last pass needs.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct Part {
    spare: Vec<u64>,
    /// Sum of the squared numbers of boxes in its cells.
    squares: u64,
    cells: usize,
}

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
    /// Cells of each row, and where they are: those of a row begin at its first place.
    cell_counts: Vec<u32>,
    cells: Vec<CellStart>,
    pub giants: Giants,
    /// The mean number of boxes in a box's cell.
    pub crowding: f64,
    /// Row and number along it of each box; later the boxes of all rows, sorted.
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
        let chunk = |chunk: &Chunk| {
            (chunk.rows.capacity() + chunk.strays.capacity() + chunk.giants.capacity()) * 4
        };
        self.column.bytes()
            + self.rows.bytes()
            + self.giants.bytes()
            + (self.starts.capacity() + self.cell_counts.capacity() + self.ranks.capacity()) * 4
            + (self.cells.capacity() + self.spots.capacity() + self.items.capacity()) * 8
            + self.chunks.iter().map(chunk).sum::<usize>()
            + self.parts.iter().map(|part| part.spare.capacity() * 8).sum::<usize>()
            + self.sheets.capacity() * size_of::<Sheet>()
    }

    /// Number of boxes in cells; behind them are the giants.
    pub(super) fn in_cells(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// The cells of a row.
    #[inline(always)]
    pub(super) fn cells(&self, row: usize) -> &[CellStart] {
        let first = self.starts[row] as usize;
        &self.cells[first..first + self.cell_counts[row] as usize]
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
        let Grid { rows, sheets, starts, chunks, ranks, cell_counts, occupied, .. } = self;
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
        cell_counts.clear();
        cell_counts.resize(rows.len(), 0);
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
        let Grid { rows, cell_counts, cells, column, spots, items, chunks, parts, ranks, .. } =
            self;
        let starts = &self.starts[..];
        let total = starts[rows.len()] as usize;
        let giants: usize = chunks.iter().map(|chunk| chunk.giants.len()).sum();
        // `ranks` told new numbers from old ones; what is asked now is the opposite.
        let olds = invert(ranks, rows.len());
        let tasks = Grid::tasks(total, workers).min(rows.len().max(1));
        parts.resize_with(tasks, Part::default);
        cells.resize(cells.len().max(total), CellStart::default());
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
        let cells = (Regions::new(&mut cells[..total], cut), Regions::new(cell_counts, row_cut));
        let sorted = (Regions::new(&mut spots[..total], cut), Regions::new(&mut id[..total], cut));
        let regions = ((bounds, cells), (sorted, Regions::new(parts, |part| part)));
        let (items, chunks) = (&items[..], &chunks[..]);
        for_each_region(workers, 0..tasks, regions, &|number, region| {
            let ((bounds, (cells, counts)), ((sorted, ids), part)) = region;
            let ((low_x, (low_y, low_z)), (high_x, (high_y, high_z))) = bounds;
            let slots = Slots {
                low: [low_x, low_y, low_z],
                high: [high_x, high_y, high_z],
                id: ids,
                marks: &mut [],
            };
            let rows = row_cut(number)..row_cut(number + 1);
            let task = Collect { rows, first: cut(number), starts, olds, items, chunks, length };
            task.run(members, slots, cells, counts, sorted, &mut part[0]);
        });
        let squares: u64 = parts.iter().map(|part| part.squares).sum();
        self.crowding = squares as f64 / total.max(1) as f64;
    }

    /// Panics if the grid does not hold what it should, given a box by its slot.
    pub(super) fn validate(&self, aabb: impl Fn(usize) -> Aabb, groups: &Groups) {
        self.rows.validate();
        for row in 0..self.rows.len() {
            let (key, cells) = (self.rows.keys[row], self.cells(row));
            let sheet = &self.sheets[key.sheet as usize];
            assert!((sheet.rows[0]..sheet.rows[1]).contains(&(row as u32)), "row {row} is lost");
            assert_eq!(cells[0].start, self.starts[row], "the first cell begins with its row");
            assert!(cells.is_sorted_by(|a, b| a.x < b.x && a.start < b.start), "row {row}");
            for place in self.starts[row]..self.starts[row + 1] {
                let place = place as usize;
                let (held, slot) = (self.column.get(place), self.column.id(place) as usize);
                if held.min[0].is_nan() {
                    continue;
                }
                assert!(held.same(&aabb(slot)), "box {slot} is out of date");
                assert_eq!(groups.of(slot), sheet.group, "box {slot} has another group");
                assert_eq!(self.layout.level(&held), Some(sheet.level), "level of box {slot}");
                let cell = cells[cells.partition_point(|cell| cell.start <= place as u32) - 1];
                let expected = self.layout.cell(&held, &sheet.scale);
                assert_eq!([cell.x, key.y, key.z], expected, "box {slot} strayed");
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

#[inline(always)]
fn spot(row: u32, x: i32) -> u64 {
    // Turning the sign makes numbers order as bits do.
    u64::from(row) << 32 | u64::from(x as u32 ^ 1 << 31)
}

/// Finds level, cell and row of the boxes of a chunk.
struct Classify<'a> {
    layout: &'a Layout,
    rows: &'a Rows,
    sheets: &'a [Sheet],
    members: Members<'a>,
    groups: &'a Groups,
    numbers: Range<usize>,
    spots: &'a mut [u64],
    chunk: &'a mut Chunk,
}

impl Kernel for Classify<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Classify { layout, rows, sheets, members, groups, numbers, spots, chunk } = self;
        chunk.rows.clear();
        chunk.rows.resize(rows.len(), 0);
        chunk.extents.clear();
        chunk.extents.resize(sheets.len(), [0.0; 3]);
        chunk.counts.clear();
        chunk.counts.resize(sheets.len(), 0);
        chunk.strays.clear();
        chunk.giants.clear();
        let count_of_groups = groups.count_of_groups();
        for (place, spot_of) in spots.iter_mut().enumerate() {
            let slot = members.slot(numbers.start + place);
            let aabb = members.aabb(slot);
            if aabb.min[0].is_nan() {
                *spot_of = spot(ABSENT, 0);
                continue;
            }
            let Some(level) = layout.level(aabb) else {
                chunk.giants.push(slot);
                *spot_of = spot(GIANT, 0);
                continue;
            };
            let sheet = level * count_of_groups + groups.of(slot as usize);
            let [x, y, z] = layout.cell(aabb, &sheets[sheet].scale);
            chunk.counts[sheet] += 1;
            let largest = &mut chunk.extents[sheet];
            for k in 0..3 {
                let extent = extent(aabb, layout.order[k]);
                largest[k] = if extent > largest[k] { extent } else { largest[k] };
            }
            let row = rows.find(RowKey { sheet: sheet as u32, z, y });
            *spot_of = spot(row, x);
            match chunk.rows.get_mut(row as usize) {
                Some(count) => *count += 1,
                None => chunk.strays.push(place as u32),
            }
        }
    }
}

/// Brings some rows together.
struct Collect<'a> {
    rows: Range<usize>,
    /// The first place of the rows.
    first: usize,
    starts: &'a [u32],
    /// The number that each row has in the chunks.
    olds: &'a [u32],
    items: &'a [u64],
    chunks: &'a [Chunk],
    /// Items of a chunk.
    length: usize,
}

impl Collect<'_> {
    fn run(
        self,
        members: Members<'_>,
        mut slots: Slots<'_>,
        cells: &mut [CellStart],
        cell_counts: &mut [u32],
        sorted: &mut [u64],
        part: &mut Part,
    ) {
        (part.squares, part.cells) = (0, 0);
        for (row, cell_count) in self.rows.clone().zip(cell_counts) {
            let place = |row: usize| self.starts[row] as usize - self.first;
            let places = place(row)..place(row + 1);
            let sorted = &mut sorted[places.clone()];
            self.gather(row, sorted);
            if part.spare.len() < sorted.len() {
                part.spare.resize(sorted.len(), 0);
            }
            sort_items(sorted, &mut part.spare[..sorted.len()]);
            copy_bounds(sorted, members, &mut slots, places.start);
            let start = self.starts[row];
            *cell_count = note_cells(sorted, start, &mut cells[places], &mut part.squares);
            part.cells += *cell_count as usize;
        }
    }

    /// Copies what the chunks have of a row.
    fn gather(&self, row: usize, to: &mut [u64]) {
        let old = self.olds[row] as usize;
        let mut filled = 0;
        for (number, chunk) in self.chunks.iter().enumerate() {
            // Each counter has moved to the end of its row, which is where the next one begins.
            let begin = if old == 0 { 0 } else { chunk.rows[old - 1] };
            let run = number * self.length + begin as usize;
            let run = &self.items[run..number * self.length + chunk.rows[old] as usize];
            to[filled..filled + run.len()].copy_from_slice(run);
            filled += run.len();
        }
    }
}

/// Copies the bounds of sorted boxes to places from `first` on.
fn copy_bounds(sorted: &[u64], members: Members<'_>, slots: &mut Slots<'_>, first: usize) {
    let places = first..first + sorted.len();
    let [low_x, low_y, low_z] = slots.low.each_mut().map(|bounds| &mut bounds[places.clone()]);
    let [high_x, high_y, high_z] = slots.high.each_mut().map(|bounds| &mut bounds[places.clone()]);
    let ids = &mut slots.id[places];
    for (place, &item) in sorted.iter().enumerate() {
        let Aabb { min, max } = *members.aabb(item as u32);
        (low_x[place], low_y[place], low_z[place]) = (min[0], min[1], min[2]);
        (high_x[place], high_y[place], high_z[place]) = (max[0], max[1], max[2]);
        ids[place] = item as u32;
    }
}

/// Notes the cells of a row of sorted boxes, the first of which is at a place. Returns their
/// number.
fn note_cells(sorted: &[u64], first: u32, cells: &mut [CellStart], squares: &mut u64) -> u32 {
    let mut count = 0;
    let mut begin = 0;
    for run in sorted.chunk_by(|one, other| one >> 32 == other >> 32) {
        let x = (run[0] >> 32) as u32 ^ 1 << 31;
        cells[count] = CellStart { x: x as i32, start: first + begin };
        count += 1;
        begin += run.len() as u32;
        *squares += (run.len() * run.len()) as u64;
    }
    count as u32
}
