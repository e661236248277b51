//! Boxes too large for any level: infinite ones, and those larger than the spread of the others.
//!
//! They are kept apart, sorted along one axis, each with the largest upper bound so far: a box
//! meets those that begin before it ends, from the last backwards, and stops when none of the
//! remaining ones can reach it.

use crate::aabb::Aabb;
use crate::broad::hash_grid::table::{GridEntry, Show, Table};
use crate::broad::shared::groups::Groups;
use crate::pair::LimitReached;

#[derive(Clone, Copy, Debug)]
struct Giant {
    group: u32,
    min: f32,
    /// The largest upper bound of this giant and those before it in the group.
    reach: f32,
    place: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Giants {
    /// Their places among the entries; each entry knows its place here.
    pub places: Vec<u32>,
    sorted: Vec<Giant>,
    axis: usize,
}

impl Giants {
    pub(super) fn add(&mut self, place: u32, entries: &mut [GridEntry]) {
        entries[place as usize].prev = self.places.len() as u32;
        self.places.push(place);
    }

    pub(super) fn remove(&mut self, place: u32, entries: &mut [GridEntry]) {
        let at = entries[place as usize].prev as usize;
        self.places.swap_remove(at);
        if let Some(&shifted) = self.places.get(at) {
            entries[shifted as usize].prev = at as u32;
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.capacity() * 4 + self.sorted.capacity() * size_of::<Giant>()
    }

    /// Sorts them for a search.
    pub(super) fn prepare(&mut self, table: &Table, groups: &Groups) {
        self.axis = self.narrowest_axis(table);
        self.sorted.clear();
        for &place in &self.places {
            let entry = &table.entries[place as usize];
            let group = groups.of(entry.slot as usize) as u32;
            let (min, reach) = (entry.aabb.min[self.axis] + 0.0, entry.aabb.max[self.axis]);
            self.sorted.push(Giant { group, min, reach, place });
        }
        self.sorted.sort_unstable_by(|one, other| {
            one.group
                .cmp(&other.group)
                .then(one.min.total_cmp(&other.min))
                .then(one.place.cmp(&other.place))
        });
        for at in 1..self.sorted.len() {
            let before = self.sorted[at - 1];
            if before.group == self.sorted[at].group {
                self.sorted[at].reach = self.sorted[at].reach.max(before.reach);
            }
        }
    }

    /// The axis along which the median giant is smallest.
    fn narrowest_axis(&self, table: &Table) -> usize {
        let step = self.places.len().div_ceil(255).max(1);
        let median = |axis: usize| {
            let mut extents = [0.0f32; 256];
            let mut count = 0;
            for &place in self.places.iter().step_by(step) {
                extents[count] = table.entries[place as usize].aabb.extent(axis);
                count += 1;
            }
            extents[..count].sort_unstable_by(f32::total_cmp);
            extents[count / 2]
        };
        let medians = [median(0), median(1), median(2)];
        (0..3).min_by(|&a, &b| medians[a].total_cmp(&medians[b]).then(a.cmp(&b))).unwrap_or(0)
    }

    /// Shows every giant of the groups in `partners`, a bit each, that overlaps a box.
    pub(super) fn visit(
        &self,
        table: &Table,
        aabb: &Aabb,
        partners: u32,
        tests: &mut u64,
        show: &mut impl Show,
    ) -> Result<(), LimitReached> {
        let mut rest = self.sorted.as_slice();
        while let Some(first) = rest.first() {
            let (run, later) =
                rest.split_at(rest.partition_point(|giant| giant.group == first.group));
            rest = later;
            if partners >> first.group & 1 == 0 {
                continue;
            }
            let reached = run.partition_point(|giant| giant.min <= aabb.max[self.axis]);
            for giant in run[..reached].iter().rev() {
                if giant.reach < aabb.min[self.axis] {
                    break;
                }
                *tests += 1;
                let entry = &table.entries[giant.place as usize];
                if entry.aabb.overlaps(aabb) {
                    show(entry)?;
                }
            }
        }
        Ok(())
    }
}
