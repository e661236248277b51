//! [`Table`]: boxes in lists by cell, the lists in buckets by hash.
//!
//! A box is a [`GridEntry`] that keeps its place in memory; moving to another cell relinks it in
//! O(1). Entries are laid out along a space-filling curve when the table is built, so neighbours in
//! space start as neighbours in memory. Boxes of different cells that share a bucket share a list
//! and are told apart after they pass the overlap test, which is rare.
//!
//! Most neighbour cells are empty, and looking into a bucket for each of them would dominate.
//! So each block of 4 × 4 × 4 cells has a bit per cell in a hashed word: one read answers for all
//! the cells of a block. Bits of cells that became empty stay set until the next refresh, and
//! blocks may share a word: a set bit proves nothing, a clear one does.

use crate::aabb::Aabb;
use crate::broad::hash_grid::lattice::{Cell, CellHash, Layout, Sheet};
use crate::pair::LimitReached;

/// Stands for no entry.
pub(super) const NONE: u32 = u32::MAX;

/// The sheet of entries that are in no cell: giants, and places without a box.
pub(super) const NO_SHEET: u32 = u32::MAX;

/// A box as the grid knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct GridEntry {
    pub aabb: Aabb,
    /// The slot of the box; [`NONE`] for a free place.
    pub slot: u32,
    pub sheet: u32,
    pub next: u32,
    /// The entry before this one; for a giant, its place in the list of giants.
    pub prev: u32,
}

impl GridEntry {
    pub(super) fn new(slot: u32, aabb: Aabb) -> GridEntry {
        GridEntry { aabb, slot, sheet: NO_SHEET, next: NONE, prev: NONE }
    }
}

/// Called with each entry that is found.
pub(super) trait Show: FnMut(&GridEntry) -> Result<(), LimitReached> {}

impl<F: FnMut(&GridEntry) -> Result<(), LimitReached>> Show for F {}

/// The entries, and the buckets that hold them by cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub entries: Vec<GridEntry>,
    heads: Vec<u32>,
    words: Vec<u64>,
    pub hash: CellHash,
}

impl Table {
    /// Empties the buckets and makes them fit a number of boxes.
    pub(super) fn clear(&mut self, boxes: usize) {
        let buckets = boxes.next_power_of_two().max(64);
        self.heads.clear();
        self.heads.reserve_exact(buckets);
        self.heads.resize(buckets, NONE);
        self.words.clear();
        self.words.reserve_exact(buckets / 2);
        self.words.resize(buckets / 2, 0);
    }

    pub(super) fn buckets(&self) -> usize {
        self.heads.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<GridEntry>()
            + self.heads.capacity() * 4
            + self.words.capacity() * 8
    }

    #[inline(always)]
    fn bucket(&self, sheet: &Sheet, cell: Cell) -> usize {
        self.hash.of(sheet.salt, cell) as usize & (self.heads.len() - 1)
    }

    #[inline(always)]
    fn word(&self, sheet: &Sheet, block: Cell) -> usize {
        self.hash.of(sheet.salt, block) as usize & (self.words.len() - 1)
    }

    /// Puts an entry into the list of its cell.
    pub(super) fn link(&mut self, place: u32, number: u32, sheet: &Sheet) {
        let cell = sheet.cell(&self.entries[place as usize].aabb);
        let bucket = self.bucket(sheet, cell);
        let next = std::mem::replace(&mut self.heads[bucket], place);
        if next != NONE {
            self.entries[next as usize].prev = place;
        }
        let entry = &mut self.entries[place as usize];
        (entry.sheet, entry.next, entry.prev) = (number, next, NONE);
        self.mark(sheet, cell);
    }

    fn mark(&mut self, sheet: &Sheet, cell: Cell) {
        let word = self.word(sheet, cell.map(|c| c >> 2));
        self.words[word] |= 1 << bit_of(cell);
    }

    /// Takes an entry out of the list of its cell.
    pub(super) fn unlink(&mut self, place: u32, sheet: &Sheet) {
        let GridEntry { aabb, next, prev, .. } = self.entries[place as usize];
        if next != NONE {
            self.entries[next as usize].prev = prev;
        }
        if prev != NONE {
            self.entries[prev as usize].next = next;
        } else {
            let bucket = self.bucket(sheet, sheet.cell(&aabb));
            self.heads[bucket] = next;
        }
        self.entries[place as usize].sheet = NO_SHEET;
    }

    /// Clears the bits of cells that have become empty.
    pub(super) fn refresh_words(&mut self, sheets: &[Sheet]) {
        self.words.fill(0);
        for place in 0..self.entries.len() {
            let entry = &self.entries[place];
            if entry.sheet != NO_SHEET {
                let sheet = &sheets[entry.sheet as usize];
                let cell = sheet.cell(&entry.aabb);
                self.mark(sheet, cell);
            }
        }
    }

    /// The mean length of a box's list. Far above one, cells are too large for the crowd.
    pub(super) fn crowding(&self) -> f64 {
        let (mut boxes, mut squares) = (0u64, 0u64);
        for &head in &self.heads {
            let length = self.list(head).count() as u64;
            boxes += length;
            squares += length * length;
        }
        squares as f64 / boxes.max(1) as f64
    }

    fn list(&self, head: u32) -> impl Iterator<Item = &GridEntry> {
        let entry = |place: u32| self.entries.get(place as usize);
        std::iter::successors(entry(head), move |known| entry(known.next))
    }

    /// As [`Table::crowding`], for another layout. Spoils the buckets.
    pub(super) fn crowding_in(&mut self, layout: &Layout) -> f64 {
        self.heads.fill(0);
        for place in 0..self.entries.len() {
            let Some((size, cell)) = layout.size_and_cell(&self.entries[place].aabb) else {
                continue;
            };
            let bucket = self.hash.of(u64::from(size as u32) << 8, cell) as usize;
            let buckets = self.heads.len();
            self.heads[bucket & (buckets - 1)] += 1;
        }
        let square = |&count: &u32| f64::from(count) * f64::from(count);
        self.heads.iter().map(square).sum::<f64>() / self.entries.len().max(1) as f64
    }

    /// Number of blocks that a range of cells touches.
    pub(super) fn blocks_in((low, high): (Cell, Cell)) -> f64 {
        (0..3).map(|k| f64::from((high[k] >> 2) - (low[k] >> 2) + 1)).product()
    }

    /// Shows every entry of a sheet, in a range of cells, that overlaps a box.
    #[inline]
    pub(super) fn visit(
        &self,
        sheet: (u32, &Sheet),
        aabb: &Aabb,
        (low, high): (Cell, Cell),
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        for z in low[2] >> 2..=high[2] >> 2 {
            for y in low[1] >> 2..=high[1] >> 2 {
                for x in low[0] >> 2..=high[0] >> 2 {
                    let bits = self.bits(sheet.1, [x, y, z], low, high);
                    self.visit_cells(sheet, aabb, [x, y, z], bits, tests, show)?;
                }
            }
        }
        Ok(())
    }

    /// As [`Table::visit`], but only cells that come later than `own`: in the order of their
    /// blocks by z, y and x, and within a block by their bits. Of two cells, each other's
    /// neighbours, exactly one finds the other.
    #[inline]
    pub(super) fn visit_later(
        &self,
        sheet: (u32, &Sheet),
        aabb: &Aabb,
        (low, high): (Cell, Cell),
        own: Cell,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        let first = own.map(|c| c >> 2);
        let later_bits = (u64::MAX << bit_of(own)) << 1;
        for z in first[2]..=high[2] >> 2 {
            let y_from = if z == first[2] { first[1] } else { low[1] >> 2 };
            for y in y_from..=high[1] >> 2 {
                let x_from = if [y, z] == [first[1], first[2]] { first[0] } else { low[0] >> 2 };
                for x in x_from..=high[0] >> 2 {
                    let mut bits = self.bits(sheet.1, [x, y, z], low, high);
                    bits &= if [x, y, z] == first { later_bits } else { u64::MAX };
                    self.visit_cells(sheet, aabb, [x, y, z], bits, tests, show)?;
                }
            }
        }
        Ok(())
    }

    /// The cells of a block that lie in a range and may have boxes, one bit each.
    #[inline(always)]
    fn bits(&self, sheet: &Sheet, block: Cell, low: Cell, high: Cell) -> u64 {
        let word = self.words[self.word(sheet, block)];
        let span = |k: usize| span(low[k], high[k], block[k]);
        word & (span(0) as u64 * ROWS_OF_FOUR[span(1)] * ROWS_OF_SIXTEEN[span(2)])
    }

    #[inline(always)]
    fn visit_cells(
        &self,
        sheet: (u32, &Sheet),
        aabb: &Aabb,
        block: Cell,
        mut bits: u64,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        while bits != 0 {
            let bit = bits.trailing_zeros() as i32;
            bits &= bits - 1;
            let within = [bit & 3, bit >> 2 & 3, bit >> 4];
            let cell = std::array::from_fn(|k| 4 * block[k] + within[k]);
            let head = self.heads[self.bucket(sheet.1, cell)];
            self.walk(head, sheet, cell, aabb, tests, show)?;
        }
        Ok(())
    }

    /// Shows every entry of a cell, from a place of its list on, that overlaps a box.
    #[inline(always)]
    pub(super) fn walk(
        &self,
        mut place: u32,
        (number, sheet): (u32, &Sheet),
        cell: Cell,
        aabb: &Aabb,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        while let Some(entry) = self.entries.get(place as usize) {
            *tests += 1;
            // The cell is compared last: boxes of other cells hardly ever overlap.
            if entry.aabb.overlaps(aabb) && entry.sheet == number && sheet.cell(&entry.aabb) == cell
            {
                show(entry)?;
            }
            place = entry.next;
        }
        Ok(())
    }

    /// Panics if a list does not hold what it should.
    pub(super) fn validate(&self, sheets: &[Sheet]) {
        let mut linked = 0;
        for (bucket, &head) in self.heads.iter().enumerate() {
            let mut before = NONE;
            let mut place = head;
            while place != NONE {
                let entry = &self.entries[place as usize];
                assert_eq!(entry.prev, before, "entry {place} does not know the one before it");
                let sheet = &sheets[entry.sheet as usize];
                let cell = sheet.cell(&entry.aabb);
                assert_eq!(self.bucket(sheet, cell), bucket, "box {} strayed", entry.slot);
                assert!(sheet.covers(&entry.aabb), "box {} is beyond the reach", entry.slot);
                let word = self.words[self.word(sheet, cell.map(|c| c >> 2))];
                assert!(word >> bit_of(cell) & 1 == 1, "a cell with boxes has no bit");
                (before, place) = (place, entry.next);
                linked += 1;
            }
        }
        let counted: usize = sheets.iter().map(|sheet| sheet.count).sum();
        assert_eq!(linked, counted, "boxes in lists against boxes counted in sheets");
    }
}

/// The bit of a cell in the word of its block.
#[inline(always)]
fn bit_of(cell: Cell) -> u32 {
    let [x, y, z] = cell.map(|c| c as u32 & 3);
    x + 4 * y + 16 * z
}

/// The bits of a range of cells within a block of four.
#[inline(always)]
fn span(low: i32, high: i32, block: i32) -> usize {
    let first = (low - 4 * block).max(0);
    let last = (high - 4 * block).min(3);
    (2 << last) - (1 << first)
}

/// Four bits, 4 apart.
const ROWS_OF_FOUR: [u64; 16] = spread(4);
/// Four bits, 16 apart.
const ROWS_OF_SIXTEEN: [u64; 16] = spread(16);

const fn spread(apart: usize) -> [u64; 16] {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut k = 0;
        while k < 4 {
            table[bits] |= ((bits as u64 >> k) & 1) << (k * apart);
            k += 1;
        }
        bits += 1;
    }
    table
}
