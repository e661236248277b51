//! [`SweepSet`]: the boxes over which a sweep along an axis currently stands.
//!
//! A box is opened at its lower endpoint and closed at its upper one, both in O(1): whoever sweeps
//! keeps an array with the place of each open box by slot, which several disjoint sets can share.

/// A set of open boxes, in no particular order.
#[derive(Clone, Debug, Default)]
pub(crate) struct SweepSet {
    slots: Vec<u32>,
}

impl SweepSet {
    /// The open boxes.
    #[inline(always)]
    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Closes all boxes.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Opens a box.
    #[inline(always)]
    pub(crate) fn open(&mut self, slot: u32, places: &mut [u32]) {
        places[slot as usize] = self.slots.len() as u32;
        self.slots.push(slot);
    }

    /// Closes a box, which must be open.
    #[inline(always)]
    pub(crate) fn close(&mut self, slot: u32, places: &mut [u32]) {
        let place = places[slot as usize];
        self.slots.swap_remove(place as usize);
        if let Some(&shifted) = self.slots.get(place as usize) {
            places[shifted as usize] = place;
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_closed_in_any_order() {
        let (mut set, mut places) = (SweepSet::default(), vec![0; 10]);
        [3, 7, 1, 9].into_iter().for_each(|slot| set.open(slot, &mut places));
        set.close(7, &mut places);
        set.open(2, &mut places);
        set.close(9, &mut places);
        let mut open = set.slots().to_vec();
        open.sort_unstable();
        assert_eq!(open, [1, 2, 3]);
        [1, 2, 3].into_iter().for_each(|slot| set.close(slot, &mut places));
        assert!(set.slots().is_empty());
    }
}
