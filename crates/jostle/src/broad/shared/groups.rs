//! [`Groups`]: boxes that can never pair are kept apart, so that filters cost nothing per pair.
//! [`GroupFollower`] keeps them from step to step.
//!
//! Boxes with the same membership, mask and stillness form a group, and so do the boxes of a
//! large owner. Which groups can pair at all is decided once; a sweep then runs within a group or
//! between two, and never meets the pairs that the filter would reject. There are at most [`MOST`]
//! groups, the largest ones; all other boxes share one group, in which each pair is checked.

use crate::boxes::Boxes;
use crate::filter::Filter;

/// The most groups.
const MOST: usize = 16;

/// An owner with fewer boxes than this gets no group of its own.
const LARGE_OWNER: usize = 32;

/// A partition of the boxes by filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The filter that all boxes of a group share; none in the mixed group.
    kinds: Vec<Option<Filter>>,
    /// The group of each slot.
    group: Vec<u8>,
    /// Owners with a group of their own, ascending.
    large_owners: Vec<u32>,
    /// Scratch: the filters of all boxes, then how often each kind occurs.
    filters: Vec<Filter>,
    sizes: Vec<(usize, Filter)>,
    /// Boxes that were assigned a group since the last rebuild.
    followed: usize,
}

impl Groups {
    /// Reads the filters of all boxes. Without filters there is one group and nothing is read.
    pub(crate) fn rebuild(&mut self, boxes: &Boxes) {
        self.kinds.clear();
        self.group.clear();
        self.followed = 0;
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

    /// As [`Groups::rebuild`], but looks only at what changed if the changes `continue` from the
    /// last call. New kinds share the mixed group; when many boxes have got another group, all are
    /// looked at again.
    pub(crate) fn follow(&mut self, boxes: &Boxes, continues: bool) {
        if !continues || !self.follow_changes(boxes) {
            self.rebuild(boxes);
        }
    }

    /// Assigns groups to new boxes and to those with another filter. Returns false if the groups do
    /// not fit the changed boxes.
    fn follow_changes(&mut self, boxes: &Boxes) -> bool {
        let grouped = !self.group.is_empty();
        if !boxes.has_filters() || !grouped {
            return boxes.has_filters() == grouped;
        }
        self.group.resize(boxes.slots(), 0);
        let mixed = self.kinds.iter().position(Option::is_none);
        let changes = boxes.changes();
        for (ids, new) in [(changes.inserted(), true), (changes.moved(), false)] {
            for id in ids {
                let kind = Some(kind(&self.large_owners, &boxes.filters()[id.index()]));
                if !new && self.kinds[usize::from(self.group[id.index()])] == kind {
                    continue;
                }
                self.followed += usize::from(new);
                let known = self.kinds.iter().position(|&other| other == kind);
                let Some(group) = known.or(mixed) else { return false };
                self.followed += usize::from(usize::from(self.group[id.index()]) != group);
                self.group[id.index()] = group as u8;
            }
        }
        self.followed <= boxes.len() / 8 + LARGE_OWNER
    }

    fn find_large_owners(&mut self, boxes: &Boxes) {
        self.filters.clear();
        self.filters.extend(boxes.live_slots().map(|id| boxes.filters()[id.index()]));
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

    /// Gives back the memory that only a rebuild needs.
    pub(crate) fn release_scratch(&mut self) {
        self.filters = Vec::new();
    }

    /// Number of groups, at least one.
    pub(crate) fn count_of_groups(&self) -> usize {
        self.kinds.len()
    }

    /// The group of a slot.
    #[inline(always)]
    pub(crate) fn of(&self, slot: usize) -> usize {
        self.group.get(slot).map_or(0, |&group| usize::from(group))
    }

    /// Returns false if no box of one group can pair with one of the other, which may be the same.
    pub(crate) fn may_pair(&self, one: usize, other: usize) -> bool {
        match (&self.kinds[one], &self.kinds[other]) {
            (Some(a), Some(b)) => a.allows(b),
            _ => true,
        }
    }

    /// For each group the groups it may pair with, one bit each.
    pub(crate) fn partners(&self) -> impl Iterator<Item = u32> {
        let groups = 0..self.kinds.len();
        let bit = |one: usize, other: usize| u32::from(self.may_pair(one, other)) << other;
        groups.clone().map(move |one| groups.clone().fold(0, |bits, other| bits | bit(one, other)))
    }

    /// Bytes held, without the small tables of distinct filters.
    pub(crate) fn bytes(&self) -> usize {
        self.group.capacity() + self.filters.capacity() * size_of::<Filter>()
    }
}

/// Groups that are kept between steps, and the filters they rest on, for structures that hold boxes
/// by group.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupFollower {
    pub groups: Groups,
    /// The filters as last seen, also of removed boxes; empty while there are none.
    filters: Vec<Filter>,
}

impl GroupFollower {
    /// Reads the filters of all boxes.
    pub(crate) fn rebuild(&mut self, boxes: &Boxes) {
        self.groups.rebuild(boxes);
        self.groups.release_scratch();
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.reserve_exact(boxes.slots());
            self.filters.extend_from_slice(boxes.filters());
        }
    }

    /// Follows the changes. Returns none if the groups are out of date and must be rebuilt,
    /// otherwise true if a box that stays has got another filter.
    pub(crate) fn follow(&mut self, boxes: &Boxes) -> Option<bool> {
        self.groups.follow_changes(boxes).then_some(())?;
        if self.filters.is_empty() {
            return Some(false);
        }
        let changes = boxes.changes();
        let mut refiltered = false;
        self.filters.resize(self.filters.len().max(boxes.slots()), Filter::ALL);
        for id in changes.moved() {
            let now = boxes.filters()[id.index()];
            refiltered |= std::mem::replace(&mut self.filters[id.index()], now) != now;
        }
        for id in changes.inserted() {
            self.filters[id.index()] = boxes.filters()[id.index()];
        }
        Some(refiltered)
    }

    /// The filters as last seen, if there are any.
    pub(crate) fn filters(&self) -> Option<&[Filter]> {
        (!self.filters.is_empty()).then_some(self.filters.as_slice())
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.groups.bytes() + self.filters.capacity() * size_of::<Filter>()
    }
}

/// The filter without its owner, unless the owner is large.
fn kind(large_owners: &[u32], filter: &Filter) -> Filter {
    let large = large_owners.binary_search(&filter.owner).is_ok();
    if large { *filter } else { filter.with_owner(Filter::NOBODY) }
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
    fn following_changes_gives_valid_groups_too() {
        let filter = |k: u32| Filter {
            membership: 1 << (k % 3),
            mask: k % 7,
            owner: k % 5,
            still: k.is_multiple_of(4),
        };
        let (mut boxes, mut groups) = grouped(&(0..200).map(filter).collect::<Vec<_>>());
        boxes.commit();
        let mut ids: Vec<_> = boxes.ids().collect();
        for step in 0..60u32 {
            for k in 0..step % 9 {
                let id = ids[(step * 31 + k * 17) as usize % ids.len()];
                boxes.set_filter(id, filter(step * 7 + k)).unwrap();
            }
            ids.extend(boxes.insert_all(&[Aabb::default(); 3], filter(step)).unwrap());
            boxes.remove(ids.swap_remove(step as usize)).unwrap();
            groups.follow(&boxes, true);
            boxes.commit();
            for a in boxes.live_slots() {
                for b in boxes.live_slots() {
                    let (one, other) = (boxes.filters()[a.index()], boxes.filters()[b.index()]);
                    let may = groups.may_pair(groups.of(a.index()), groups.of(b.index()));
                    assert!(may || !one.allows(&other), "step {step}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn an_owner_that_grows_step_by_step_gets_a_group() {
        let (mut boxes, mut groups) = grouped(&[Filter::ALL.with_owner(1); 10]);
        for _ in 0..100 {
            boxes.commit();
            boxes.insert_all(&[Aabb::default(); 5], Filter::ALL.with_owner(2)).unwrap();
            groups.follow(&boxes, true);
        }
        assert!(!groups.may_pair(groups.of(20), groups.of(30)));
    }

    #[test]
    fn one_large_owner_and_still_boxes_are_told_apart() {
        let mut filters = vec![Filter::ALL.with_owner(9); 100];
        filters.extend([Filter::STILL; 50]);
        filters.extend((100..120).map(|owner| Filter::ALL.with_owner(owner)));
        let (_, groups) = grouped(&filters);
        assert_eq!(groups.count_of_groups(), 3);
        assert!(!groups.may_pair(groups.of(0), groups.of(1)));
        assert!(!groups.may_pair(groups.of(100), groups.of(101)));
        assert!(groups.may_pair(groups.of(150), groups.of(151)));
        assert!(groups.may_pair(groups.of(0), groups.of(100)));
    }
}
