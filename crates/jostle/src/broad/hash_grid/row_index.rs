//! [`RowIndex`]: where along a row the boxes of a slice begin.
//!
//! A row that was sorted by counting keeps where each of its slices begins: two look-ups give the
//! places of a range of slices. A row that is mostly gaps keeps the number of each box's slice
//! instead, which is searched by halving; so no index is longer than [`ROOM`] words a box, and no
//! loop is longer than the row.

/// Words of memory for each box of a row.
pub(super) const ROOM: usize = 2;

/// How the memory of a row's index is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowIndex {
    /// Its first slice, as in a spot.
    pub least: u32,
    /// Number of slices up to the last; none if slices are listed box by box.
    pub slices: u32,
}

impl RowIndex {
    /// The index of a row that was sorted by counting. Where its slices begin follows in memory,
    /// and where the last ends.
    pub(super) fn counted(least: u32, slices: u32) -> RowIndex {
        RowIndex { least, slices }
    }

    /// The index of a row whose slices are listed in memory, box by box.
    pub(super) fn listed() -> RowIndex {
        RowIndex::default()
    }
}

/// A row to look into.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowView<'a> {
    index: RowIndex,
    /// Where slices begin, or the slices of all boxes.
    memory: &'a [u32],
    start: u32,
}

impl<'a> RowView<'a> {
    /// A row that starts at a place, with its index's memory.
    #[inline(always)]
    pub(super) fn new(index: RowIndex, memory: &'a [u32], start: u32) -> RowView<'a> {
        let used = match index.slices {
            0 => memory.len() / ROOM,
            slices => slices as usize + 1,
        };
        RowView { index, memory: &memory[..used], start }
    }

    /// The place of the first box in a slice or behind it; the row's end if there is none.
    #[inline(always)]
    pub(super) fn place(&self, slice: i32) -> u32 {
        let slice = slice as u32 ^ 1 << 31;
        if self.index.slices == 0 {
            return self.start + self.memory.partition_point(|&number| number < slice) as u32;
        }
        let number = slice.saturating_sub(self.index.least).min(self.index.slices);
        self.memory[number as usize]
    }

    /// The place behind the last box in a slice or before it.
    #[inline(always)]
    pub(super) fn place_after(&self, slice: i32) -> u32 {
        self.place(slice.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_index_give_the_same_places() {
        let slices = [-7, -7, -5, 0, 0, 0, 3];
        let bits = |slice: i32| slice as u32 ^ 1 << 31;
        let mut listed = slices.map(bits).to_vec();
        listed.resize(ROOM * slices.len(), 0);
        let first_at =
            |slice: i32| 40 + slices.iter().filter(|&&other| other < slice).count() as u32;
        let mut counted: Vec<u32> = (-7..=4).map(first_at).collect();
        counted.resize(ROOM * slices.len(), 0);
        let by_count = RowView::new(RowIndex::counted(bits(-7), 11), &counted, 40);
        let by_list = RowView::new(RowIndex::listed(), &listed, 40);
        for slice in (-20..20).chain([i32::MIN, i32::MAX]) {
            assert_eq!(by_count.place(slice), first_at(slice), "slice {slice}");
            assert_eq!(by_list.place(slice), first_at(slice), "slice {slice}");
            let after = first_at(slice.saturating_add(1));
            assert_eq!([by_count.place_after(slice), by_list.place_after(slice)], [after; 2]);
        }
    }
}
