//! The truth: boxes in a map, pairs by comparing all of them.

use std::collections::{BTreeMap, BTreeSet};

use jostle::{Aabb, BoxId, Filter, Pair};

/// A set of boxes that is too simple to be wrong.
#[derive(Clone, Debug, Default)]
pub struct Model {
    boxes: BTreeMap<BoxId, (Aabb, Filter)>,
    excluded: BTreeSet<[BoxId; 2]>,
}

impl Model {
    /// Puts or replaces a box.
    pub fn put(&mut self, id: BoxId, aabb: Aabb, filter: Filter) {
        self.boxes.insert(id, (aabb, filter));
    }

    /// Takes a box out.
    pub fn remove(&mut self, id: BoxId) {
        self.boxes.remove(&id);
        self.excluded.retain(|two| !two.contains(&id));
    }

    /// Excludes a pair, or includes it again.
    pub fn set_excluded(&mut self, one: BoxId, other: BoxId, excluded: bool) {
        let two = [one.min(other), one.max(other)];
        match excluded {
            true => self.excluded.insert(two),
            false => self.excluded.remove(&two),
        };
    }

    /// The bounds and the filter of a box.
    pub fn get(&self, id: BoxId) -> Option<(Aabb, Filter)> {
        self.boxes.get(&id).copied()
    }

    /// Ids of all boxes, ascending.
    pub fn ids(&self) -> Vec<BoxId> {
        self.boxes.keys().copied().collect()
    }

    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.boxes.len()
    }

    /// Returns true if there is no box.
    pub fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Every overlapping pair that the filters let pass and that is not excluded.
    pub fn pairs(&self) -> BTreeSet<Pair> {
        let mut pairs = self.overlapping();
        for &[one, other] in &self.excluded {
            pairs.remove(&Pair::new(one, other));
        }
        pairs
    }

    /// Every overlapping pair that the filters let pass, excluded ones included.
    pub fn overlapping(&self) -> BTreeSet<Pair> {
        let list: Vec<_> = self.boxes.iter().collect();
        let mut pairs = BTreeSet::new();
        for (place, (a, (a_box, a_filter))) in list.iter().enumerate() {
            for (b, (b_box, b_filter)) in &list[place + 1..] {
                if closed_overlap(a_box, b_box) && may_pair(a_filter, b_filter) {
                    pairs.insert(Pair::new(**a, **b));
                }
            }
        }
        pairs
    }
}

/// Written out again on purpose: the model must not share the library's mistakes.
fn closed_overlap(a: &Aabb, b: &Aabb) -> bool {
    for axis in 0..3 {
        let apart = a.max[axis] < b.min[axis] || b.max[axis] < a.min[axis];
        if apart {
            return false;
        }
    }
    true
}

fn may_pair(a: &Filter, b: &Filter) -> bool {
    if a.still && b.still {
        return false;
    }
    if a.owner != Filter::NOBODY && a.owner == b.owner {
        return false;
    }
    a.membership & b.mask != 0 && b.membership & a.mask != 0
}
