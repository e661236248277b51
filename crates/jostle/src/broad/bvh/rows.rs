//! [`Rows`]: which boxes overlapped in the last step, block by block, and what has changed since.
//!
//! While a tree keeps its order, a search visits nearly the same pairs of blocks in every step. So
//! the hits of a family of eight blocks are kept as a row: which of them hits which later block, as
//! ascending keys ([`Met`](super::family::Met)), and for each of these 64 bits, one for each pair
//! of their boxes. Two rows of the same family are merged by key, and the bits that differ are the
//! events. Pairs that overlap before and after the step are neither written nor sorted, and a step
//! without a row before reports all its bits: all pairs.
//!
//! Only blocks with a hit are in a row, so two rows have different keys only where an event is.

use crate::simd::Simd;
use crate::simd::node8::WIDTH;
use crate::simd::vector::Eight;

/// Ends a row. Only trees of 2^32 boxes, which no slots are left for, would have it as a key.
const END: u32 = u32::MAX;

/// The hits of some blocks in one step.
#[derive(Clone, Debug, Default)]
struct Table {
    /// The hits within each block.
    within: Vec<u32>,
    /// The rows, one after the other, each with [`END`] at its end.
    keys: Vec<u32>,
    /// Byte `i` holds the hits of the row's box `i`.
    masks: Vec<u64>,
}

impl Table {
    fn clear(&mut self) {
        self.within.clear();
        self.keys.clear();
        self.masks.clear();
    }

    fn bytes(&self) -> usize {
        (self.within.capacity() + self.keys.capacity()) * 4 + self.masks.capacity() * 8
    }
}

/// Bits of two blocks that differ from those of the step before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub key: u32,
    pub now: u64,
    pub differing: u64,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    now: Table,
    before: Table,
    /// Where the next row of `before` begins.
    next: usize,
    /// The keys of the present row's blocks that may hit, and their hits.
    pub(super) listed: Vec<u32>,
    masks: Vec<u64>,
    /// For the keys that were listed last, which boxes of the block that searches are tested.
    lanes: Vec<u8>,
    /// The hits of each of these tests, in their order, and [`WIDTH`] bytes more.
    hits: Vec<u8>,
    differences: Vec<Difference>,
}

impl Rows {
    /// Begins a step. Unless it continues from the last one, that is forgotten.
    pub(super) fn begin(&mut self, continues: bool) {
        std::mem::swap(&mut self.now, &mut self.before);
        self.now.clear();
        self.next = 0;
        if !continues {
            self.before.clear();
        }
    }

    /// Takes the hits within the next block. Returns those of the step before.
    #[inline(always)]
    pub(super) fn within(&mut self, hits: u32) -> u32 {
        let before = self.before.within.get(self.now.within.len()).copied();
        self.now.within.push(hits);
        before.unwrap_or(0)
    }

    /// Begins a row, to which keys may be appended in `listed`.
    #[inline(always)]
    pub(super) fn begin_row(&mut self) {
        self.listed.clear();
        self.masks.clear();
    }

    /// The keys that were listed after `known` others, and for each of them room for the lanes of
    /// the boxes to be tested.
    #[inline(always)]
    pub(super) fn listed_after(&mut self, known: usize) -> (&[u32], &mut [u8]) {
        self.lanes.resize(self.listed.len() - known, 0);
        (&self.listed[known..], &mut self.lanes)
    }

    /// Room for the hits of a number of tests, one for each lane of the keys that were listed last.
    #[inline(always)]
    pub(super) fn hits(&mut self, tests: usize) -> &mut [u8] {
        if self.hits.len() < tests + WIDTH {
            self.hits.resize(tests + WIDTH, 0);
        }
        &mut self.hits[..tests]
    }

    /// Takes the hits of the keys after `known` others, and leaves out the keys without one.
    #[inline(always)]
    pub(super) fn pack<S: Simd>(&mut self, simd: S, known: usize) {
        self.masks.resize(self.listed.len(), 0);
        let (listed, masks) = (&mut self.listed[..], &mut self.masks[..]);
        let (mut kept, mut rest) = (known, &self.hits[..]);
        for (place, &lanes) in (known..listed.len()).zip(&self.lanes) {
            let (Some(hits), key) = (rest.first_chunk(), listed[place]) else { break };
            let mask = S::Eight::spread_bytes(simd, u64::from_le_bytes(*hits), u32::from(lanes));
            rest = &rest[lanes.count_ones() as usize..];
            listed[kept] = key;
            masks[kept] = mask;
            kept += usize::from(mask != 0);
        }
        self.listed.truncate(kept);
        self.masks.truncate(kept);
    }

    /// Ends a family's row. Returns what differs from the one before.
    #[inline(always)]
    pub(super) fn end_row(&mut self) -> &[Difference] {
        self.listed.push(END);
        self.masks.push(0);
        let count = self.merge();
        grow(&mut self.now.keys, self.listed.len());
        self.now.keys.extend_from_slice(&self.listed);
        grow(&mut self.now.masks, self.masks.len());
        self.now.masks.extend_from_slice(&self.masks);
        &self.differences[..count]
    }

    /// Finds what differs between the present row and the one before, without a branch on a single
    /// block: one in three differs where boxes are crowded. Returns how many do.
    #[inline(always)]
    fn merge(&mut self) -> usize {
        // Blocks that are new have no row before.
        let known = self.next < self.before.keys.len();
        let (keys, masks, first) = match known {
            true => (&self.before.keys[..], &self.before.masks[..], self.next),
            false => (&[END][..], &[0][..], 0),
        };
        let (mut at, mut old, mut found) = (0, first, 0);
        loop {
            let (one, other) = (self.listed[at], keys[old]);
            let key = one.min(other);
            if key == END {
                break;
            }
            let (is, was) = (one == key, other == key);
            let now = self.masks[at] & u64::from(is).wrapping_neg();
            let before = masks[old] & u64::from(was).wrapping_neg();
            let differing = now ^ before;
            if found == self.differences.len() {
                self.differences.resize(found + 64, Difference::default());
            }
            self.differences[found] = Difference { key, now, differing };
            found += usize::from(differing != 0);
            at += usize::from(is);
            old += usize::from(was);
        }
        if known {
            self.next = old + 1;
        }
        found
    }

    /// Forgets everything, and its memory.
    pub(super) fn release(&mut self) {
        *self = Rows::default();
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.now.bytes()
            + self.before.bytes()
            + self.listed.capacity() * 4
            + self.masks.capacity() * size_of::<u64>()
            + self.lanes.capacity()
            + self.hits.capacity()
            + self.differences.capacity() * size_of::<Difference>()
    }
}

/// Makes room in a list by a quarter of its length: of two tables for all boxes, doubled, a third
/// would stay empty.
#[inline(always)]
fn grow<T>(list: &mut Vec<T>, additional: usize) {
    if list.capacity() - list.len() < additional {
        list.reserve_exact(additional.max(list.len() / 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernel, run};
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Row = BTreeMap<u32, u64>;

    struct Pack<'a>(&'a mut Rows, usize);

    impl Kernel for Pack<'_> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            self.0.pack(simd, self.1);
        }
    }

    /// Masks are often the same from step to step, and sometimes empty.
    fn row() -> impl Strategy<Value = Row> {
        btree_map(0u32..12, prop_oneof![Just(0), Just(6), Just(1 << 63), any::<u64>()], 0..9)
    }

    fn differences(rows: &mut Rows, row: &Row) -> Vec<Difference> {
        rows.begin_row();
        // In two parts, as those that are searched for one after the other.
        for upper in [false, true] {
            let known = rows.listed.len();
            let part = || row.iter().filter(|(key, _)| (**key >= 6) == upper);
            rows.listed.extend(part().map(|(key, _)| key));
            let (_, lanes) = rows.listed_after(known);
            // The boxes with a hit are tested, and some others.
            let tested = |mask: u64, lane: usize| mask >> (8 * lane) & 0xff != 0 || lane % 3 == 0;
            for (lanes, (_, &mask)) in lanes.iter_mut().zip(part()) {
                *lanes =
                    (0..WIDTH).fold(0, |bits, lane| bits | u8::from(tested(mask, lane)) << lane);
            }
            let hits: Vec<u8> = part()
                .flat_map(|(_, &mask)| {
                    let lanes = (0..WIDTH).filter(move |&lane| tested(mask, lane));
                    lanes.map(move |lane| mask.to_le_bytes()[lane])
                })
                .collect();
            rows.hits(hits.len()).copy_from_slice(&hits);
            run(Pack(rows, known));
        }
        rows.end_row().to_vec()
    }

    fn plainly(now: &Row, before: &Row) -> Vec<Difference> {
        let mask = |row: &Row, block: u32| row.get(&block).copied().unwrap_or(0);
        (0..12)
            .map(|key| {
                let (now, before) = (mask(now, key), mask(before, key));
                Difference { key, now, differing: now ^ before }
            })
            .filter(|difference| difference.differing != 0)
            .collect()
    }

    proptest! {
        /// Steps of some rows each, of which some continue from the step before; a step may have
        /// more rows than the one before.
        #[test]
        fn rows_differ_as_sets_do(
            steps in vec((vec((row(), any::<u32>()), 0..6), any::<bool>()), 1..6),
        ) {
            let mut rows = Rows::default();
            let mut before: Vec<(Row, u32)> = Vec::new();
            for (step, continues) in steps {
                rows.begin(continues);
                if !continues {
                    before.clear();
                }
                before.truncate(step.len());
                for (place, (row, within)) in step.iter().enumerate() {
                    let known = before.get(place).cloned().unwrap_or_default();
                    prop_assert_eq!(rows.within(*within), known.1);
                    prop_assert_eq!(differences(&mut rows, row), plainly(row, &known.0));
                }
                before = step;
            }
        }
    }
}
