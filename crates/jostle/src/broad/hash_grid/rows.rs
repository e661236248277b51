//! [`Rows`]: the rows of cells that hold boxes, found by hashing.
//!
//! A row is all cells of a sheet with the same numbers across the rows' axis. Boxes are stored row
//! by row and within a row by cell, so neighbour cells along the axis are neighbours in memory: one
//! look-up finds them all, and there are far fewer rows than cells. Rows are kept in order of
//! sheet, z and y, and from one step to the next: a step looks up every box, but has to sort only
//! the rows that are new.

use crate::broad::hash_grid::lattice::CellHash;

/// Stands for no row.
pub(super) const NONE: u32 = u32::MAX;

/// Which row, in the order in which rows are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    pub sheet: u32,
    pub z: i32,
    pub y: i32,
}

/// A bucket: a row, or none.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    key: RowKey,
    number: u32,
}

const EMPTY: Bucket = Bucket { key: RowKey { sheet: u32::MAX, z: 0, y: 0 }, number: NONE };

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub keys: Vec<RowKey>,
    /// A power of two in number, at most half of them used; rows that collide use later ones.
    buckets: Vec<Bucket>,
    pub hash: CellHash,
    /// Scratch: keys that are being merged, and the numbers of those that are new.
    merged: Vec<RowKey>,
    newer: Vec<u32>,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn bytes(&self) -> usize {
        (self.keys.capacity() + self.merged.capacity()) * size_of::<RowKey>()
            + self.buckets.capacity() * size_of::<Bucket>()
            + self.newer.capacity() * 4
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.buckets.clear();
    }

    #[inline(always)]
    fn bucket(&self, key: RowKey) -> usize {
        let hash = self.hash.of(u64::from(key.sheet) << 8, [0, key.y, key.z]);
        hash as usize & (self.buckets.len() - 1)
    }

    /// The number of a row; [`NONE`] if it holds no box.
    #[inline(always)]
    pub(super) fn find(&self, key: RowKey) -> u32 {
        if self.buckets.is_empty() {
            return NONE;
        }
        let mut at = self.bucket(key);
        loop {
            let bucket = &self.buckets[at & (self.buckets.len() - 1)];
            if bucket.key == key || bucket.number == NONE {
                return bucket.number;
            }
            at += 1;
        }
    }

    /// As [`Rows::find`]; looks at the row numbered `likely` first.
    #[inline(always)]
    pub(super) fn find_from(&self, key: RowKey, likely: u32) -> u32 {
        match self.keys.get(likely as usize) {
            Some(&there) if there == key => likely,
            _ => self.find(key),
        }
    }

    /// The number of a row, which is added behind the others if it is new. Call
    /// [`Rows::put_in_order`] after adding.
    pub(super) fn find_or_add(&mut self, key: RowKey) -> u32 {
        let known = self.find(key);
        if known != NONE {
            return known;
        }
        let number = self.keys.len() as u32;
        self.keys.push(key);
        if self.keys.len() * 2 > self.buckets.len() {
            self.refill();
        } else {
            self.put(key, number);
        }
        number
    }

    fn put(&mut self, key: RowKey, number: u32) {
        let mask = self.buckets.len() - 1;
        let mut at = self.bucket(key);
        while self.buckets[at & mask].number != NONE {
            at += 1;
        }
        self.buckets[at & mask] = Bucket { key, number };
    }

    /// Puts all rows into buckets again, of which there are enough.
    fn refill(&mut self) {
        let wanted = (self.keys.len() * 2).next_power_of_two().max(64);
        let count = wanted.max(self.buckets.len());
        self.buckets.clear();
        self.buckets.resize(count, EMPTY);
        for number in 0..self.keys.len() {
            self.put(self.keys[number], number as u32);
        }
    }

    /// Drops the rows that `holds` no box, and sorts the others; the first `sorted` are in order.
    /// `ranks` becomes the new number of each row.
    pub(super) fn put_in_order(
        &mut self,
        sorted: usize,
        holds: impl Fn(usize) -> bool,
        ranks: &mut Vec<u32>,
    ) {
        let Rows { keys, newer, merged, .. } = self;
        newer.clear();
        newer.extend(sorted as u32..keys.len() as u32);
        newer.sort_unstable_by_key(|&number| keys[number as usize]);
        ranks.clear();
        ranks.resize(keys.len(), NONE);
        merged.clear();
        let mut take = |number: usize, merged: &mut Vec<RowKey>| {
            if holds(number) {
                ranks[number] = merged.len() as u32;
                merged.push(keys[number]);
            }
        };
        let mut older = 0;
        for &new in newer.iter() {
            while older < sorted && keys[older] < keys[new as usize] {
                take(older, merged);
                older += 1;
            }
            take(new as usize, merged);
        }
        (older..sorted).for_each(|number| take(number, merged));
        std::mem::swap(keys, merged);
        self.buckets.fill(EMPTY);
        self.refill();
    }

    /// Panics if a row is not found or they are not in order.
    pub(super) fn validate(&self) {
        assert!(self.keys.is_sorted_by(|one, other| one < other), "rows are not in order");
        for (number, &key) in self.keys.iter().enumerate() {
            assert_eq!(self.find(key), number as u32, "row {key:?} is not found");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_sorted_and_dropped() {
        for hash in [CellHash::Mixed, CellHash::Sum] {
            let mut rows = Rows { hash, ..Rows::default() };
            let key = |k: i32| RowKey { sheet: k as u32 % 3, z: k * 7 % 50 - 25, y: k * 31 % 97 };
            let mut ranks = Vec::new();
            for round in 1..5 {
                let known = rows.len();
                let added: Vec<(RowKey, u32)> =
                    (0..300 * round).map(|k| (key(k), rows.find_or_add(key(k)))).collect();
                rows.put_in_order(known, |number| number % 5 != 0, &mut ranks);
                rows.validate();
                for (key, number) in added {
                    let rank = ranks[number as usize];
                    assert_eq!(rank == NONE, number % 5 == 0);
                    assert_eq!(rows.find(key), rank);
                }
            }
            assert!(rows.len() > 300);
            assert_eq!(rows.find(RowKey { sheet: 9, z: 0, y: 0 }), NONE);
        }
    }
}
