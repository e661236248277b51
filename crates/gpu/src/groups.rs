//! [`Groups`]: boxes that can never pair are sorted into runs of their own, so that filters cost
//! nothing per pair.
//!
//! Boxes with the same membership, mask and stillness form a group, and so do the boxes of a large
//! owner. The largest groups are told apart; the rest share the last one, in which each pair is
//! looked at.

use jostle::{Boxes, Filter};

/// The most groups: one bit each in a row of the table of groups that may pair.
const MOST: usize = 16;

/// An owner with fewer boxes than this gets no group of its own.
const LARGE_OWNER: usize = 32;

/// A partition of the boxes by filter.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The filter that all boxes of a group share; none for the last group, the mixed one.
    kinds: Vec<Option<Filter>>,
    /// The group of each slot; empty without filters.
    group: Vec<u8>,
    /// Owners with a group of their own, ascending.
    large_owners: Vec<u32>,
    /// Boxes that have come or changed their group since the last rebuild.
    changed: usize,
}

impl Groups {
    /// Takes in the changes if they continue from the last call, and looks at all boxes if not, or
    /// if many have changed. Without filters there is one group and nothing is read.
    pub(crate) fn follow(&mut self, boxes: &Boxes, continues: bool) {
        if !boxes.has_filters() {
            *self = Groups { kinds: vec![Some(Filter::ALL)], ..Groups::default() };
        } else if !continues || self.group.is_empty() || !self.follow_changes(boxes) {
            self.rebuild(boxes);
        }
    }

    /// Returns false if so much has changed that a rebuild is worth its cost.
    fn follow_changes(&mut self, boxes: &Boxes) -> bool {
        self.group.resize(boxes.slots(), self.mixed());
        let changes = boxes.changes();
        self.changed += changes.inserted().len();
        for slot in changes.inserted().iter().chain(changes.moved()) {
            let group = self.find(&boxes.filters()[slot.index()]);
            let known = std::mem::replace(&mut self.group[slot.index()], group);
            self.changed += usize::from(known != group);
        }
        self.changed <= boxes.len() / 8 + LARGE_OWNER
    }

    fn rebuild(&mut self, boxes: &Boxes) {
        let mut filters: Vec<Filter> =
            boxes.live_slots().map(|slot| boxes.filters()[slot.index()]).collect();
        filters.sort_unstable_by_key(|filter| filter.owner);
        let owners = filters.chunk_by(|one, other| one.owner == other.owner);
        let large = owners.filter(|run| run.len() >= LARGE_OWNER).map(|run| run[0].owner);
        self.large_owners = large.collect();
        filters.iter_mut().for_each(|filter| *filter = kind(&self.large_owners, filter));
        filters.sort_unstable();
        let kinds = filters.chunk_by(|one, other| one == other);
        let mut sizes: Vec<(usize, Filter)> = kinds.map(|run| (run.len(), run[0])).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes.truncate(MOST - 1);
        self.kinds = sizes.into_iter().map(|(_, filter)| Some(filter)).chain([None]).collect();
        self.group = boxes.filters().iter().map(|filter| self.find(filter)).collect();
        self.changed = 0;
    }

    fn mixed(&self) -> u8 {
        (self.kinds.len() - 1) as u8
    }

    fn find(&self, filter: &Filter) -> u8 {
        let kind = Some(kind(&self.large_owners, filter));
        let known = self.kinds.iter().position(|&other| other == kind);
        known.map_or(self.mixed(), |group| group as u8)
    }

    /// Number of groups, at least one.
    pub(crate) fn count(&self) -> usize {
        self.kinds.len()
    }

    /// The group of a slot.
    pub(crate) fn of(&self, slot: usize) -> u8 {
        self.group.get(slot).copied().unwrap_or(0)
    }

    /// Returns false if no box of one group can pair with one of the other, which may be the same.
    pub(crate) fn may_pair(&self, one: usize, other: usize) -> bool {
        match (&self.kinds[one], &self.kinds[other]) {
            (Some(a), Some(b)) => a.allows(b),
            _ => true,
        }
    }
}

/// The filter without its owner, unless the owner is large.
fn kind(large_owners: &[u32], filter: &Filter) -> Filter {
    let large = large_owners.binary_search(&filter.owner).is_ok();
    if large { *filter } else { Filter { owner: Filter::NOBODY, ..*filter } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle::Aabb;

    fn filter(k: u32) -> Filter {
        let owner = if k.is_multiple_of(3) { 1 } else { k % 7 };
        let still = k.is_multiple_of(11);
        Filter { membership: 1 << (k % 5), mask: k % 31, owner, still }
    }

    fn check(groups: &Groups, boxes: &Boxes) {
        assert!(groups.count() <= MOST);
        for a in boxes.live_slots() {
            for b in boxes.live_slots() {
                let (one, other) = (&boxes.filters()[a.index()], &boxes.filters()[b.index()]);
                let (of_one, of_other) = (groups.of(a.index()), groups.of(b.index()));
                let may = groups.may_pair(of_one.into(), of_other.into());
                assert!(may || !one.allows(other), "{a} {b}");
            }
        }
    }

    #[test]
    fn groups_never_forbid_what_the_filters_allow_through_changes() {
        let (mut boxes, mut groups) = (Boxes::new(), Groups::default());
        let filters: Vec<Filter> = (0..200).map(filter).collect();
        boxes.insert_each(&[Aabb::default(); 200], &filters).unwrap();
        groups.follow(&boxes, false);
        check(&groups, &boxes);
        boxes.commit();
        for step in 0..40u32 {
            for k in 0..step % 9 {
                let ids: Vec<_> = boxes.ids().collect();
                let id = ids[(step * 31 + k * 17) as usize % ids.len()];
                boxes.set_filter(id, filter(step * 7 + k)).unwrap();
            }
            boxes.insert_all(&[Aabb::default(); 3], filter(step)).unwrap();
            let gone = boxes.ids().nth(step as usize).unwrap();
            boxes.remove(gone).unwrap();
            groups.follow(&boxes, true);
            check(&groups, &boxes);
            boxes.commit();
        }
    }

    #[test]
    fn a_large_owner_and_still_boxes_are_told_apart() {
        let (mut boxes, mut groups) = (Boxes::new(), Groups::default());
        boxes.insert_all(&[Aabb::default(); 100], Filter::ALL.with_owner(9)).unwrap();
        boxes.insert_all(&[Aabb::default(); 50], Filter::STILL).unwrap();
        boxes.insert_all(&[Aabb::default(); 2], Filter::ALL).unwrap();
        groups.follow(&boxes, false);
        let may = |a: usize, b: usize| groups.may_pair(groups.of(a).into(), groups.of(b).into());
        assert!(!may(0, 1) && !may(100, 101));
        assert!(may(0, 100) && may(150, 151) && may(0, 150));
    }
}
