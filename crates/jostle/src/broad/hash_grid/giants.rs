//! Boxes too large for any level: infinite ones, and those larger than the spread of the others.
//!
//! They are kept behind the boxes in cells, sorted by group and along one axis, each with the
//! largest upper bound so far. A box meets those that begin before it ends, from the first whose
//! largest bound reaches it: one run in each group.

use crate::aabb::Aabb;
use crate::broad::hash_grid::classify::Members;
use crate::broad::shared::groups::Groups;
use crate::simd::column::{Column, Run};

#[derive(Clone, Copy, Debug)]
struct Giant {
    group: u32,
    min: f32,
    /// The largest upper bound of this giant and those before it in the group.
    reach: f32,
    slot: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Giants {
    sorted: Vec<Giant>,
    /// The place of the first.
    first: u32,
    axis: usize,
}

impl Giants {
    pub(super) fn clear(&mut self) {
        self.sorted.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The group of the giant at a place, if there is one.
    #[inline]
    pub(super) fn group_at(&self, place: usize) -> Option<usize> {
        let number = place.checked_sub(self.first as usize)?;
        self.sorted.get(number).map(|giant| giant.group as usize)
    }

    pub(super) fn bytes(&self) -> usize {
        self.sorted.capacity() * size_of::<Giant>()
    }

    /// Takes the giants, given by their slots, and writes them to their places.
    pub(super) fn sort(
        &mut self,
        slots: impl Iterator<Item = u32>,
        members: Members<'_>,
        groups: &Groups,
        first: usize,
        column: &mut Column,
    ) {
        self.first = first as u32;
        self.sorted.clear();
        let group = |slot: u32| groups.of(slot as usize) as u32;
        let giant = |slot: u32| Giant { group: group(slot), min: 0.0, reach: 0.0, slot };
        self.sorted.extend(slots.map(giant));
        if self.sorted.is_empty() {
            return;
        }
        self.axis = self.narrowest_axis(members);
        for giant in &mut self.sorted {
            let aabb = members.aabb(giant.slot);
            (giant.min, giant.reach) = (aabb.min[self.axis] + 0.0, aabb.max[self.axis]);
        }
        self.sorted.sort_unstable_by(|one, other| {
            one.group
                .cmp(&other.group)
                .then(one.min.total_cmp(&other.min))
                .then(one.slot.cmp(&other.slot))
        });
        for at in 1..self.sorted.len() {
            let before = self.sorted[at - 1];
            if before.group == self.sorted[at].group {
                self.sorted[at].reach = self.sorted[at].reach.max(before.reach);
            }
        }
        for (place, giant) in self.sorted.iter().enumerate() {
            column.put(first + place, members.aabb(giant.slot), giant.slot);
        }
    }

    /// The axis along which the median giant is smallest.
    fn narrowest_axis(&self, members: Members<'_>) -> usize {
        let step = self.sorted.len().div_ceil(255).max(1);
        let median = |axis: usize| {
            let mut extents = [0.0f32; 256];
            let mut count = 0;
            for giant in self.sorted.iter().step_by(step) {
                extents[count] = members.aabb(giant.slot).extent(axis);
                count += 1;
            }
            extents[..count].sort_unstable_by(f32::total_cmp);
            extents[count / 2]
        };
        let medians = [median(0), median(1), median(2)];
        (0..3).min_by(|&a, &b| medians[a].total_cmp(&medians[b]).then(a.cmp(&b))).unwrap_or(0)
    }

    /// Lists a run for each of the groups in `partners`, a bit each, whose giants may overlap a
    /// box; only places from `from` on.
    pub(super) fn list_runs(
        &self,
        one: u32,
        aabb: &Aabb,
        partners: u32,
        from: u32,
        mut list: impl FnMut(Run),
    ) {
        let mut begin = 0;
        while let Some(first) = self.sorted.get(begin) {
            let rest = &self.sorted[begin..];
            let group = &rest[..rest.partition_point(|giant| giant.group == first.group)];
            if partners >> first.group & 1 == 1 {
                let low = group.partition_point(|giant| giant.reach < aabb.min[self.axis]);
                let high = group.partition_point(|giant| giant.min <= aabb.max[self.axis]);
                let place = |at: usize| self.first + (begin + at) as u32;
                let run = Run { one, begin: place(low).max(from), end: place(high) };
                if run.begin < run.end {
                    list(run);
                }
            }
            begin += group.len();
        }
    }
}
