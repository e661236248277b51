//! [`Groups`]: boxes that can never pair are kept apart, so that filters cost nothing per pair.
//!
//! Boxes with the same membership, mask and stillness form a group, and so do the boxes of a
//! large owner. Whether two groups can pair at all is known once; a sweep then runs within a
//! group or between two, and never meets the pairs that the filter would throw away. At most
//! [`MOST`] groups are made, the largest ones; the rest share one group in which each pair is
//! looked at.

use crate::boxes::Boxes;
use crate::filter::Filter;

/// The most groups that are told apart.
pub const MOST: usize = 16;

/// An owner with fewer boxes than this gets no group of its own.
const LARGE_OWNER: usize = 32;

/// A partition of the boxes by filter.
#[derive(Debug, Default)]
pub struct Groups {
    /// The filter that all boxes of a group share; none in the mixed group.
    kinds: Vec<Option<Filter>>,
    /// The group of each slot.
    group: Vec<u8>,
    /// Owners with a group of their own, ascending.
    large_owners: Vec<u32>,
    /// Scratch: the filters of all boxes, then how often each kind occurs.
    filters: Vec<Filter>,
    sizes: Vec<(usize, Filter)>,
}

impl Groups {
    /// Looks at the filters of all boxes. Without filters there is one group and nothing is read.
    pub fn rebuild(&mut self, boxes: &Boxes) {
        self.kinds.clear();
        self.group.clear();
        if !boxes.has_filters() {
            self.kinds.push(Some(Filter::ALL));
            return;
        }
        self.find_large_owners(boxes);
        self.count_kinds();
        self.sizes.sort_unstable_by(|one, other| other.cmp(one));
        let mixed = self.sizes.len() > MOST;
        self.sizes.truncate(if mixed { MOST - 1 } else { MOST });
        self.kinds.extend(self.sizes.iter().map(|&(_, filter)| Some(filter)));
        if mixed {
            self.kinds.push(None);
        }
        self.assign(boxes);
    }

    fn find_large_owners(&mut self, boxes: &Boxes) {
        self.filters.clear();
        self.filters.extend(boxes.ids().map(|id| boxes.filters()[id.index()]));
        self.filters.sort_unstable_by_key(|filter| filter.owner);
        let owners = self.filters.chunk_by(|one, other| one.owner == other.owner);
        let large = owners.filter(|run| run.len() >= LARGE_OWNER).map(|run| run[0].owner);
        self.large_owners.clear();
        self.large_owners.extend(large);
    }

    fn count_kinds(&mut self) {
        for filter in &mut self.filters {
            *filter = kind(&self.large_owners, filter);
        }
        self.filters.sort_unstable();
        let kinds = self.filters.chunk_by(|one, other| one == other);
        self.sizes.clear();
        self.sizes.extend(kinds.map(|run| (run.len(), run[0])));
    }

    fn assign(&mut self, boxes: &Boxes) {
        let mixed = self.kinds.len() - 1;
        let group = |filter: &Filter| {
            let kind = Some(kind(&self.large_owners, filter));
            self.kinds.iter().position(|&other| other == kind).unwrap_or(mixed) as u8
        };
        self.group.extend(boxes.filters().iter().map(group));
    }

    /// Gives a box that is new, or has another filter, a group that there is. False where there
    /// is none for it; then rebuild. An owner that becomes large between two rebuilds gets no
    /// group of its own, so rebuild after many calls.
    pub fn adopt(&mut self, slot: usize, filter: &Filter) -> bool {
        if self.group.is_empty() {
            return *filter == Filter::ALL;
        }
        let kind = Some(kind(&self.large_owners, filter));
        let known = self.kinds.iter().position(|&other| other == kind);
        let mixed = || self.kinds.iter().position(Option::is_none);
        let Some(group) = known.or_else(mixed) else { return false };
        if self.group.len() <= slot {
            self.group.resize(slot + 1, 0);
        }
        self.group[slot] = group as u8;
        true
    }

    /// Number of groups, at least one.
    pub fn count_of_groups(&self) -> usize {
        self.kinds.len()
    }

    /// The group of a slot.
    #[inline(always)]
    pub fn of(&self, slot: usize) -> usize {
        self.group.get(slot).map_or(0, |&group| usize::from(group))
    }

    /// False where no box of one group can pair with one of the other, which may be the same.
    pub fn may_pair(&self, one: usize, other: usize) -> bool {
        match (&self.kinds[one], &self.kinds[other]) {
            (Some(a), Some(b)) => a.allows(b),
            _ => true,
        }
    }

    /// Bytes held, without the small tables of distinct filters.
    pub fn bytes(&self) -> usize {
        self.group.capacity() + self.filters.capacity() * size_of::<Filter>()
    }
}

/// The filter without its owner, unless the owner is large.
fn kind(large_owners: &[u32], filter: &Filter) -> Filter {
    let large = large_owners.binary_search(&filter.owner).is_ok();
    if large { *filter } else { filter.owned_by(Filter::NOBODY) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::Aabb;

    fn grouped(filters: &[Filter]) -> (Boxes, Groups) {
        let mut boxes = Boxes::new();
        boxes.insert_each(&vec![Aabb::default(); filters.len()], filters).unwrap();
        let mut groups = Groups::default();
        groups.rebuild(&boxes);
        (boxes, groups)
    }

    #[test]
    fn groups_never_forbid_what_the_filters_allow() {
        let filters: Vec<Filter> = (0..400u32)
            .map(|k| Filter {
                membership: 1 << (k % 5),
                mask: k % 31,
                owner: if k % 3 == 0 { 1 } else { k % 7 },
                still: k % 11 == 0,
            })
            .collect();
        let (_, groups) = grouped(&filters);
        assert!(groups.count_of_groups() <= MOST);
        for (a, one) in filters.iter().enumerate() {
            for (b, other) in filters.iter().enumerate() {
                let allowed = one.allows(other);
                assert!(!allowed || groups.may_pair(groups.of(a), groups.of(b)));
            }
        }
    }

    #[test]
    fn one_large_owner_and_still_boxes_are_told_apart() {
        let mut filters = vec![Filter::ALL.owned_by(9); 100];
        filters.extend([Filter::STILL; 50]);
        filters.extend((100..120).map(|owner| Filter::ALL.owned_by(owner)));
        let (_, groups) = grouped(&filters);
        assert_eq!(groups.count_of_groups(), 3);
        assert!(!groups.may_pair(groups.of(0), groups.of(1)));
        assert!(!groups.may_pair(groups.of(100), groups.of(101)));
        assert!(groups.may_pair(groups.of(150), groups.of(151)));
        assert!(groups.may_pair(groups.of(0), groups.of(100)));
    }
}
