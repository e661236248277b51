//! The first pass of a build: level, cell and row of each box of a chunk.
//!
//! Boxes are taken in blocks. What is arithmetic is done for a whole block, axis by axis, in loops
//! that compilers turn into vector code; then rows are looked up box by box. A box is usually in
//! the row it was in when the grid was built last, so that one is tried before its key is hashed.

use std::ops::Range;

use crate::aabb::{Aabb, NO_BOX};
use crate::broad::hash_grid::delta::ChangedBoxes;
use crate::broad::hash_grid::lattice::{
    FARTHEST, Layout, SLICES, Sheet, fitting_exponent, power_of_two,
};
use crate::broad::hash_grid::rows::{NONE, RowKey, Rows};
use crate::broad::shared::groups::Groups;
use crate::simd::{Kernel, Simd};

/// The row of a giant, and that of a slot without a box; a new row is [`NONE`] at first.
const GIANT: u32 = NONE - 1;
const ABSENT: u32 = NONE - 2;

/// Boxes that are classified at once: their bounds and cells take little of the nearest cache.
const BLOCK: usize = 64;

/// Lanes in which the largest extents of a block are found.
const LANES: usize = 8;

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
    pub(super) fn count(&self) -> usize {
        self.list.map_or(self.aabbs.len(), <[u32]>::len)
    }

    #[inline(always)]
    pub(super) fn slot(&self, number: usize) -> u32 {
        self.list.map_or(number as u32, |list| list[number])
    }

    #[inline(always)]
    pub(super) fn aabb(&self, slot: u32) -> &Aabb {
        let now = || &self.aabbs[slot as usize];
        self.before.and_then(|changed| changed.old(slot)).unwrap_or_else(now)
    }

    /// Some boxes by their numbers, copied to `room` if they do not lie together.
    #[inline(always)]
    fn block<'b>(&'b self, numbers: Range<usize>, room: &'b mut [Aabb; BLOCK]) -> &'b [Aabb] {
        let Some(list) = self.list else {
            return &self.aabbs[numbers];
        };
        let count = numbers.len();
        for (aabb, &slot) in room.iter_mut().zip(&list[numbers]) {
            *aabb = *self.aabb(slot);
        }
        &room[..count]
    }
}

/// What a task of the first two passes has found in its chunk.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
pub(super) struct Chunk {
    /// Boxes of each row; then where those of each row begin, and the end.
    pub rows: Vec<u32>,
    /// The largest extents in each sheet, in the layout's order.
    pub extents: Vec<[f64; 3]>,
    /// Boxes of each sheet.
    pub counts: Vec<u32>,
    /// Boxes whose row is not known, by their place in the chunk.
    pub strays: Vec<u32>,
    pub giants: Vec<u32>,
}

impl Chunk {
    pub(super) fn bytes(&self) -> usize {
        (self.rows.capacity() + self.strays.capacity() + self.giants.capacity()) * 4
    }

    fn reset(&mut self, rows: usize, sheets: usize) {
        self.rows.clear();
        self.rows.resize(rows, 0);
        self.extents.clear();
        self.extents.resize(sheets, [0.0; 3]);
        self.counts.clear();
        self.counts.resize(sheets, 0);
        self.strays.clear();
        self.giants.clear();
    }

    /// Takes the extents of some boxes of a sheet.
    #[inline(always)]
    fn take(&mut self, sheet: usize, extents: [f64; 3], count: u32) {
        self.counts[sheet] += count;
        let largest = &mut self.extents[sheet];
        for k in 0..3 {
            largest[k] = if extents[k] > largest[k] { extents[k] } else { largest[k] };
        }
    }
}

/// Where a box is: its row, and its number along it.
#[inline(always)]
pub(super) fn spot(row: u32, x: i32) -> u64 {
    // Turning the sign makes numbers order as bits do.
    u64::from(row) << 32 | u64::from(x as u32 ^ 1 << 31)
}

/// Finds level, cell and row of the boxes of a chunk.
pub(super) struct Classify<'a> {
    pub layout: &'a Layout,
    pub rows: &'a Rows,
    pub sheets: &'a [Sheet],
    pub members: Members<'a>,
    pub groups: &'a Groups,
    pub numbers: Range<usize>,
    /// What was written here last is where rows are looked for first.
    pub spots: &'a mut [u64],
    pub chunk: &'a mut Chunk,
}

impl Kernel for Classify<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Classify { layout, rows, sheets, members, groups, numbers, spots, chunk } = self;
        chunk.reset(rows.len(), sheets.len());
        let count_of_groups = groups.count_of_groups();
        let mut room = [NO_BOX; BLOCK];
        let mut block = Block::new();
        for (first, spots) in (numbers.start..).step_by(BLOCK).zip(spots.chunks_mut(BLOCK)) {
            block.read(members.block(first..first + spots.len(), &mut room), layout);
            // Nearly all blocks have boxes of one sheet, which are counted together.
            let same = block.common_level(layout).filter(|_| count_of_groups == 1);
            if let Some(sheet) = same {
                chunk.take(sheet, block.largest_extents(), block.present());
            }
            for (at, spot_of) in spots.iter_mut().enumerate() {
                let number = first + at;
                if block.low[0][at].is_nan() {
                    *spot_of = spot(ABSENT, 0);
                    continue;
                }
                if block.exponent[at] > layout.coarsest {
                    chunk.giants.push(members.slot(number));
                    *spot_of = spot(GIANT, 0);
                    continue;
                }
                let level = (block.exponent[at] - layout.finest) as usize;
                let mut sheet = level * count_of_groups;
                if same.is_none() {
                    sheet += groups.of(members.slot(number) as usize);
                    chunk.take(sheet, block.extents(at), 1);
                }
                let key =
                    RowKey { sheet: sheet as u32, z: block.cell[2][at], y: block.cell[1][at] };
                let row = rows.find_from(key, (*spot_of >> 32) as u32);
                *spot_of = spot(row, block.cell[0][at]);
                match chunk.rows.get_mut(row as usize) {
                    Some(count) => *count += 1,
                    None => chunk.strays.push((number - numbers.start) as u32),
                }
            }
        }
    }
}

/// A cell number, by arithmetic that vectors have too: a whole number below 2^31 that is added to
/// this one is found in the lower half of the bits.
#[inline(always)]
fn whole(coordinate: f32, scale: f64) -> i32 {
    const TO_WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    ((f64::from(coordinate) * scale).floor() + TO_WHOLE).to_bits() as i32
}

/// Boxes of a block and their cells, axis by axis in the layout's order. What [`Layout::level`] and
/// [`Layout::cell`] find for one box is found for all; a test compares them.
struct Block {
    low: [[f32; BLOCK]; 3],
    high: [[f32; BLOCK]; 3],
    /// The size of the cells that boxes may be in, as a power of two.
    exponent: [i32; BLOCK],
    cell: [[i32; BLOCK]; 3],
}

impl Block {
    fn new() -> Block {
        Block {
            low: [[f32::NAN; BLOCK]; 3],
            high: [[f32::NAN; BLOCK]; 3],
            exponent: [0; BLOCK],
            cell: [[0; BLOCK]; 3],
        }
    }

    #[inline(always)]
    fn read(&mut self, aabbs: &[Aabb], layout: &Layout) {
        let [x, y, z] = layout.order;
        for (at, aabb) in aabbs.iter().enumerate().take(BLOCK) {
            (self.low[0][at], self.high[0][at]) = (aabb.min[x], aabb.max[x]);
            (self.low[1][at], self.high[1][at]) = (aabb.min[y], aabb.max[y]);
            (self.low[2][at], self.high[2][at]) = (aabb.min[z], aabb.max[z]);
        }
        for at in aabbs.len()..BLOCK {
            (self.low[0][at], self.low[1][at], self.low[2][at]) = (f32::NAN, f32::NAN, f32::NAN);
        }
        for k in 0..3 {
            if !layout.axes[layout.order[k]] {
                self.flatten(k);
            }
        }
        self.find_cells(layout);
    }

    /// Forgets where boxes are along an axis that is not cut.
    fn flatten(&mut self, k: usize) {
        for at in 0..BLOCK {
            let nowhere = if self.low[k][at].is_nan() { f32::NAN } else { 0.0 };
            (self.low[k][at], self.high[k][at]) = (nowhere, nowhere);
        }
    }

    /// Giants and absent boxes get some cell.
    #[inline(always)]
    fn find_cells(&mut self, layout: &Layout) {
        let [low_x, low_y, low_z] = &self.low;
        let [high_x, high_y, high_z] = &self.high;
        let [x, y, z] = &mut self.cell;
        for at in 0..BLOCK {
            let low = [low_x[at], low_y[at], low_z[at]];
            let high = [high_x[at], high_y[at], high_z[at]];
            let (mut extent, mut distance) = (0.0f64, 0.0f32);
            for k in 0..3 {
                let along = f64::from(high[k]) - f64::from(low[k]);
                extent = if along > extent { along } else { extent };
                let far = if -low[k] > high[k] { -low[k] } else { high[k] };
                distance = if far > distance { far } else { distance };
            }
            let for_distance = fitting_exponent(f64::from(distance)) - FARTHEST;
            let exponent = fitting_exponent(extent).max(for_distance).max(layout.finest);
            self.exponent[at] = exponent;
            let scale = power_of_two(-exponent.min(layout.coarsest));
            (x[at], y[at], z[at]) =
                (whole(low[0], scale * SLICES), whole(low[1], scale), whole(low[2], scale));
        }
    }

    /// The level of all boxes, if it is the same and they are no giants.
    #[inline(always)]
    fn common_level(&self, layout: &Layout) -> Option<usize> {
        let mut different = 0;
        for at in 0..BLOCK {
            // What is absent is of any level.
            let absent = self.low[0][at].is_nan();
            different |= if absent { 0 } else { self.exponent[at] ^ self.exponent[0] };
        }
        let common = different == 0 && self.exponent[0] <= layout.coarsest;
        common.then_some((self.exponent[0] - layout.finest) as usize)
    }

    #[inline(always)]
    fn present(&self) -> u32 {
        let mut present = 0;
        for at in 0..BLOCK {
            present += u32::from(!self.low[0][at].is_nan());
        }
        present
    }

    #[inline(always)]
    fn extents(&self, at: usize) -> [f64; 3] {
        let mut extents = [0.0; 3];
        for k in 0..3 {
            extents[k] = f64::from(self.high[k][at]) - f64::from(self.low[k][at]);
        }
        extents
    }

    #[inline(always)]
    fn largest_extents(&self) -> [f64; 3] {
        let mut largest = [0.0; 3];
        for k in 0..3 {
            let mut lanes = [0.0f64; LANES];
            let (low, high) =
                (self.low[k].as_chunks::<LANES>().0, self.high[k].as_chunks::<LANES>().0);
            for (low, high) in low.iter().zip(high) {
                for lane in 0..LANES {
                    let extent = f64::from(high[lane]) - f64::from(low[lane]);
                    lanes[lane] = if extent > lanes[lane] { extent } else { lanes[lane] };
                }
            }
            for lane in lanes {
                largest[k] = if lane > largest[k] { lane } else { largest[k] };
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of all sizes, at all distances on both sides of the origin; points, infinite ones and
    /// places without a box among them.
    fn boxes() -> Vec<Aabb> {
        let at = [-1e30f32, -7e6, -1.0, -1e-20, -1e-45, -0.0, 0.0, 1e-45, 0.3, 99.0, 3e30];
        let sides = [0.0f32, 1e-45, 1e-9, 0.125, 1.0, 1023.0, 1e9, 1e37, f32::INFINITY];
        let mut boxes = vec![NO_BOX, Aabb::point([f32::INFINITY; 3])];
        for (k, &x) in at.iter().enumerate() {
            for (j, &side) in sides.iter().enumerate() {
                let min = [x, at[(k + j) % at.len()], at[(k * j) % at.len()]];
                boxes.push(Aabb::new(min, [min[0] + side, min[1] + 0.5 * side, min[2] + side]));
                boxes.push(Aabb::new([x, min[1], f32::NEG_INFINITY], [x, min[1], f32::INFINITY]));
            }
        }
        boxes
    }

    #[test]
    fn a_block_finds_what_is_found_for_each_box() {
        let layouts = [
            Layout { axes: [true; 3], order: [2, 0, 1], finest: -149, coarsest: 127 },
            Layout { axes: [true, true, false], order: [1, 0, 2], finest: -3, coarsest: 10 },
            Layout { axes: [false, false, true], order: [2, 1, 0], finest: 0, coarsest: 100 },
            Layout::default(),
        ];
        let (mut in_cells, mut giants) = (0, 0);
        let mut block = Block::new();
        for layout in layouts {
            // Blocks that are not full follow upon full ones.
            for aabbs in boxes().chunks(BLOCK).flat_map(|chunk| [chunk, &chunk[..chunk.len() / 3]])
            {
                block.read(aabbs, &layout);
                let present = aabbs.iter().filter(|aabb| !aabb.min[0].is_nan()).count();
                assert_eq!(block.present() as usize, present);
                for (at, aabb) in aabbs.iter().enumerate() {
                    if aabb.min[0].is_nan() {
                        assert!(block.low[0][at].is_nan());
                        continue;
                    }
                    let Some(level) = layout.level(aabb) else {
                        assert!(block.exponent[at] > layout.coarsest, "{aabb:?} is a giant");
                        giants += 1;
                        continue;
                    };
                    assert_eq!(block.exponent[at] - layout.finest, level as i32, "{aabb:?}");
                    let cell = [block.cell[0][at], block.cell[1][at], block.cell[2][at]];
                    assert_eq!(cell, layout.cell(aabb, &layout.scale(level)), "{aabb:?}");
                    in_cells += 1;
                }
            }
        }
        assert!(in_cells > 300 && giants > 100, "{in_cells} in cells, {giants} giants");
    }

    #[test]
    fn blocks_of_one_level_have_its_largest_extents() {
        let layout = Layout { axes: [true; 3], order: [2, 0, 1], finest: 0, coarsest: 10 };
        let cube = |side: f32| Aabb::new([1.0; 3], [1.0 + side, 1.0 + side / 2.0, 1.5]);
        let mut boxes: Vec<Aabb> =
            (0..BLOCK).map(|k| cube(4.0 + (k * 37 % 61) as f32 / 61.0)).collect();
        boxes[5] = NO_BOX;
        let mut block = Block::new();
        block.read(&boxes, &layout);
        assert_eq!(block.common_level(&layout), Some(3));
        let largest = f64::from(5.0f32 + 60.0 / 61.0) - 1.0;
        let found = block.largest_extents();
        assert_eq!(found[0], 0.5);
        assert!((found[1] - largest).abs() < 1e-6 && (found[2] - largest / 2.0).abs() < 1e-6);
        for other in [cube(3.0), cube(9.0), cube(f32::INFINITY)] {
            boxes[60] = other;
            block.read(&boxes, &layout);
            assert_eq!(block.common_level(&layout), None, "{other:?}");
        }
    }
}
