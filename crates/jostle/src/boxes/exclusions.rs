//! [`Exclusions`]: single pairs of boxes that are never reported, such as neighbouring links of
//! a robot. They are applied to the report of a broad phase, in one place for all algorithms.

use std::collections::BTreeSet;

use crate::id::Slot;
use crate::pair::Pair;

/// The excluded pairs, and which of them changed since the last step. Adding, removing and
/// finding a pair take logarithmic time; forgetting a box takes that for each of its pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exclusions {
    /// Every pair in both directions, so that the pairs of one box are neighbours.
    both: BTreeSet<(Slot, Slot)>,
    /// Pairs that were excluded or included again since the last step, in any order.
    changed: Vec<Pair>,
}

impl Exclusions {
    /// Returns true if no pair is excluded and none was in the last step.
    pub(crate) fn is_idle(&self) -> bool {
        self.both.is_empty() && self.changed.is_empty()
    }

    pub(crate) fn contains(&self, pair: Pair) -> bool {
        self.both.contains(&(pair.a(), pair.b()))
    }

    /// The excluded pairs, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Pair> {
        self.both.iter().filter(|(one, other)| one < other).map(|&(a, b)| Pair::new(a, b))
    }

    pub(crate) fn len(&self) -> usize {
        self.both.len() / 2
    }

    /// Pairs that were excluded or included again since the last step; some may be listed twice.
    pub(crate) fn changed(&self) -> &[Pair] {
        &self.changed
    }

    pub(crate) fn exclude(&mut self, pair: Pair) {
        if self.both.insert((pair.a(), pair.b())) {
            self.both.insert((pair.b(), pair.a()));
            self.changed.push(pair);
        }
    }

    pub(crate) fn include(&mut self, pair: Pair) {
        if self.both.remove(&(pair.a(), pair.b())) {
            self.both.remove(&(pair.b(), pair.a()));
            self.changed.push(pair);
        }
    }

    /// Forgets the pairs of a box that is removed.
    pub(crate) fn forget(&mut self, slot: Slot) {
        let range = (slot, Slot::new(0))..=(slot, Slot::new(u32::MAX));
        while let Some(&(_, other)) = self.both.range(range.clone()).next() {
            self.include(Pair::new(slot, other));
        }
    }

    /// Ends the step.
    pub(crate) fn commit(&mut self) {
        self.changed.clear();
    }

    pub(crate) fn bytes(&self) -> usize {
        // A tree's nodes are about three quarters full.
        self.both.len() * size_of::<(Slot, Slot)>() * 4 / 3
            + self.changed.capacity() * size_of::<Pair>()
    }
}
