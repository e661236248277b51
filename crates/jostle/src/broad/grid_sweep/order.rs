//! Two ways to put the entries of a column in order along the sweep axis, group after group.
//!
//! An order tells the places of the boxes of a group that begin at, or after, a coordinate. Both
//! are views of the same thing, one coarse and one fine: a key that never decreases as the
//! coordinate grows.

use std::ops::Range;

use super::ColumnEntry;
use super::plan::{ColumnPlan, Scale};
use crate::aabb::Aabb;
use crate::broad::shared::groups::Groups;
use crate::simd::column::{Column, Slots};

/// Places in a column that is ordered by group, then by a key of the lower sweep bound.
pub(super) trait Order {
    /// The places of a group.
    fn members(&self, group: usize) -> Range<usize>;
    /// The first place of a group whose key is that of the coordinate, or greater.
    fn first(&self, column: &Column, group: usize, coordinate: f32) -> u32;
    /// The first place of a group whose key is greater than that of the coordinate.
    fn after(&self, column: &Column, group: usize, coordinate: f32) -> u32;
}

/// The key is the number of a bucket. Linear time, and exact enough if boxes spread evenly.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    scale: Scale,
    /// Buckets of one group.
    count: usize,
    /// Where each bucket ends, group after group.
    ends: Vec<u32>,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets { scale: Scale::ONE, count: 1, ends: Vec::new() }
    }
}

impl Buckets {
    /// Writes the entries to the column in the order of their buckets. The keys are scratch.
    pub(super) fn fill(
        &mut self,
        plan: &ColumnPlan,
        groups: &Groups,
        entries: &[ColumnEntry],
        keys: &mut Vec<u32>,
        column: &mut Column,
    ) {
        self.scale = plan.along;
        self.count = plan.along.cells() as usize;
        if keys.len() < entries.len() {
            keys.resize(entries.len().next_power_of_two(), 0);
        }
        self.ends.clear();
        self.ends.resize(self.count * groups.count_of_groups(), 0);
        if groups.count_of_groups() == 1 {
            self.count_keys(plan, entries, keys, |_| 0);
        } else {
            let buckets = self.count as u32;
            self.count_keys(plan, entries, keys, |id| groups.of(id as usize) as u32 * buckets);
        }
        let mut sum = 0;
        for end in &mut self.ends {
            sum += std::mem::replace(end, sum);
        }
        let slots = turned(plan.axis, column.reset(entries.len()));
        scatter(slots, entries, keys, &mut self.ends);
    }

    /// Sets the keys and counts them in `ends`; `first` is the first bucket of a box's group.
    #[inline(always)]
    fn count_keys(
        &mut self,
        plan: &ColumnPlan,
        entries: &[ColumnEntry],
        keys: &mut [u32],
        first: impl Fn(u32) -> u32,
    ) {
        let (scale, axis) = (plan.along, plan.axis);
        for (key, entry) in keys.iter_mut().zip(entries) {
            *key = scale.cell(entry.aabb.min[axis]) + first(entry.id);
            self.ends[*key as usize] += 1;
        }
    }

    /// Number of buckets of a group.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The most buckets that a box reaches beyond the one in which it begins.
    pub(super) fn longest(&self, column: &Column) -> u32 {
        let ends = column.low(0).iter().zip(column.high(0));
        let reach = |(&low, &high): (&f32, &f32)| self.scale.cell(high) - self.scale.cell(low);
        ends.map(reach).max().unwrap_or(0)
    }

    /// The first place of a group whose bucket is at most `reach` before the coordinate's.
    #[inline(always)]
    pub(super) fn first_within(&self, group: usize, coordinate: f32, reach: u32) -> u32 {
        let bucket = self.scale.cell(coordinate).saturating_sub(reach) as usize;
        self.begin(group * self.count + bucket)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<u32>()
    }

    #[inline(always)]
    fn bucket(&self, group: usize, coordinate: f32) -> usize {
        group * self.count + self.scale.cell(coordinate) as usize
    }

    #[inline(always)]
    fn begin(&self, bucket: usize) -> u32 {
        if bucket == 0 { 0 } else { self.ends[bucket - 1] }
    }
}

impl Order for Buckets {
    fn members(&self, group: usize) -> Range<usize> {
        let (begin, end) = (group * self.count, (group + 1) * self.count);
        self.begin(begin) as usize..self.begin(end) as usize
    }

    #[inline(always)]
    fn first(&self, _: &Column, group: usize, coordinate: f32) -> u32 {
        self.begin(self.bucket(group, coordinate))
    }

    #[inline(always)]
    fn after(&self, _: &Column, group: usize, coordinate: f32) -> u32 {
        self.ends[self.bucket(group, coordinate)]
    }
}

/// The key is the lower bound itself. For boxes that crowd so much that buckets are too coarse.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorted {
    /// Where each group ends.
    ends: Vec<usize>,
    /// Zeros.
    keys: Vec<u32>,
}

impl Sorted {
    /// Sorts the entries and writes them to the column.
    pub(super) fn fill(
        &mut self,
        axis: usize,
        groups: &Groups,
        entries: &mut [ColumnEntry],
        column: &mut Column,
    ) {
        let key = |entry: &ColumnEntry| {
            (groups.of(entry.id as usize), entry.aabb.min[axis] + 0.0, entry.id)
        };
        entries.sort_unstable_by(|one, other| {
            let (one, other) = (key(one), key(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let slots = turned(axis, column.reset(entries.len()));
        // All in one bucket: they keep their order.
        self.keys.resize(entries.len(), 0);
        scatter(slots, entries, &self.keys, &mut [0]);
        self.ends.clear();
        self.ends.extend(
            (0..groups.count_of_groups()).map(|group| {
                entries.partition_point(|entry| groups.of(entry.id as usize) <= group)
            }),
        );
    }
}

impl Order for Sorted {
    fn members(&self, group: usize) -> Range<usize> {
        let begin = if group == 0 { 0 } else { self.ends[group - 1] };
        begin..self.ends[group]
    }

    fn first(&self, column: &Column, group: usize, coordinate: f32) -> u32 {
        let Range { start, end } = self.members(group);
        (start + column.low(0)[start..end].partition_point(|&low| low < coordinate)) as u32
    }

    fn after(&self, column: &Column, group: usize, coordinate: f32) -> u32 {
        let Range { start, end } = self.members(group);
        (start + column.low(0)[start..end].partition_point(|&low| low <= coordinate)) as u32
    }
}

/// The slots by the axes of the boxes; the column's own first axis is the swept one.
fn turned(axis: usize, mut slots: Slots<'_>) -> Slots<'_> {
    slots.low.rotate_right(axis);
    slots.high.rotate_right(axis);
    slots
}

/// Writes each entry to the next place of its bucket. Afterwards `next` holds where buckets end.
fn scatter(slots: Slots<'_>, entries: &[ColumnEntry], keys: &[u32], next: &mut [u32]) {
    let len = entries.len();
    // Slices of one length, so that one check of the place serves for all.
    let [low0, low1, low2] = slots.low.map(|bounds| &mut bounds[..len]);
    let [high0, high1, high2] = slots.high.map(|bounds| &mut bounds[..len]);
    let (ids, marks) = (&mut slots.id[..len], &mut slots.marks[..len]);
    for (entry, &key) in entries.iter().zip(keys) {
        let next = &mut next[key as usize];
        let place = *next as usize;
        *next += 1;
        assert!(place < len, "no bucket is longer than counted");
        let Aabb { min, max } = &entry.aabb;
        (low0[place], low1[place], low2[place]) = (min[0], min[1], min[2]);
        (high0[place], high1[place], high2[place]) = (max[0], max[1], max[2]);
        (ids[place], marks[place]) = (entry.id, entry.marks);
    }
}
