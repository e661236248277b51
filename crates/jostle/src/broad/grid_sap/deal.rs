//! [`Deal`]: boxes dealt to cells, by counting.

/// Lists of slots, one for each cell, in two flat arrays.
#[derive(Debug, Default)]
pub struct Deal {
    /// Cell and slot in the order of dealing.
    entries: Vec<(u32, u32)>,
    /// Where the slots of each cell begin, and one more.
    starts: Vec<u32>,
    slots: Vec<u32>,
}

impl Deal {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Deals a slot to a cell.
    #[inline]
    pub fn push(&mut self, cell: usize, slot: u32) {
        self.entries.push((cell as u32, slot));
    }

    /// Number of entries dealt.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Brings the slots of each cell together, in the order of dealing.
    pub fn gather(&mut self, cells: usize) {
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        for &(cell, _) in &self.entries {
            self.starts[cell as usize + 1] += 1;
        }
        for cell in 0..cells {
            self.starts[cell + 1] += self.starts[cell];
        }
        self.slots.resize(self.entries.len(), 0);
        for &(cell, slot) in &self.entries {
            let next = &mut self.starts[cell as usize];
            self.slots[*next as usize] = slot;
            *next += 1;
        }
        // Every start has become the next one's.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// The slots of a cell.
    #[inline]
    pub fn of(&self, cell: usize) -> &[u32] {
        &self.slots[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Slots of the cell with the most.
    pub fn largest(&self) -> usize {
        self.starts.windows(2).map(|two| (two[1] - two[0]) as usize).max().unwrap_or(0)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * 8 + (self.starts.capacity() + self.slots.capacity()) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cell_gets_its_slots_in_order() {
        let mut deal = Deal::default();
        for (cell, slot) in [(2, 7), (0, 9), (2, 1), (3, 4), (0, 2)] {
            deal.push(cell, slot);
        }
        deal.gather(4);
        let cells: Vec<&[u32]> = (0..4).map(|cell| deal.of(cell)).collect();
        assert_eq!(cells, [&[9, 2][..], &[], &[7, 1], &[4]]);
        deal.clear();
        deal.gather(2);
        assert_eq!((deal.len(), deal.of(1)), (0, &[][..]));
    }
}
