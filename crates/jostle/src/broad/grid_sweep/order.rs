//! Two ways to put the entries of a column in order along the sweep axis, group after group.
//!
//! An order answers where the boxes of a group stand that begin at, or after, a coordinate. Both
//! are coarse or fine views of the same thing: a key that never descends with the coordinate.

use std::ops::Range;

use super::Entry;
use super::plan::{Plan, Scale};
use crate::broad::groups::Groups;
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

/// The key is the number of a bucket. Linear time, and exact enough where boxes spread evenly.
#[derive(Debug)]
pub(super) struct Buckets {
    scale: Scale,
    /// Buckets of one group.
    count: usize,
    keys: Vec<u32>,
    /// Where each bucket ends, group after group.
    ends: Vec<u32>,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets { scale: Scale::ONE, count: 1, keys: Vec::new(), ends: Vec::new() }
    }
}

impl Buckets {
    /// Writes the entries to the column in the order of their buckets.
    pub fn deal<'a>(
        &mut self,
        plan: &Plan,
        groups: &Groups,
        len: usize,
        entries: impl Iterator<Item = &'a Entry> + Clone,
        column: &mut Column,
    ) {
        let (axis, scale) = (plan.axis, plan.along);
        self.scale = scale;
        self.count = scale.cells() as usize;
        let groups_count = groups.count_of_groups();
        self.ends.clear();
        self.ends.resize(self.count * groups_count, 0);
        if self.keys.len() < len {
            self.keys.resize(len.next_power_of_two(), 0);
        }
        let keys = &mut self.keys[..len];
        let (ends, buckets) = (&mut self.ends[..], self.count as u32);
        let single = groups_count == 1;
        let mut place = 0;
        entries.clone().for_each(|entry| {
            let group = if single { 0 } else { groups.of(entry.id as usize) as u32 };
            let key = scale.cell(entry.aabb.min[axis]) + group * buckets;
            keys[place] = key;
            place += 1;
            ends[key as usize] += 1;
        });
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += std::mem::replace(end, sum);
        }
        let mut slots = turned(axis, column.reset(len));
        let mut place = 0;
        entries.for_each(|entry| {
            let next = &mut ends[keys[place] as usize];
            place += 1;
            write(&mut slots, *next as usize, entry);
            *next += 1;
        });
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.keys.capacity() + self.ends.capacity()) * size_of::<u32>()
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

/// The key is the lower bound itself. For boxes that crowd where buckets are too coarse.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    /// Where each group ends.
    ends: Vec<usize>,
}

impl Sorted {
    /// Sorts the entries and writes them to the column.
    pub fn deal(
        &mut self,
        axis: usize,
        groups: &Groups,
        entries: &mut [Entry],
        column: &mut Column,
    ) {
        let key = |entry: &Entry| (groups.of(entry.id as usize), entry.aabb.min[axis] + 0.0, entry.id);
        entries.sort_unstable_by(|one, other| {
            let (one, other) = (key(one), key(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
        });
        let mut slots = turned(axis, column.reset(entries.len()));
        entries.iter().enumerate().for_each(|(place, entry)| write(&mut slots, place, entry));
        self.ends.clear();
        self.ends.extend((0..groups.count_of_groups()).map(|group| {
            entries.partition_point(|entry| groups.of(entry.id as usize) <= group)
        }));
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

#[inline(always)]
fn write(slots: &mut Slots<'_>, place: usize, entry: &Entry) {
    for axis in 0..3 {
        slots.low[axis][place] = entry.aabb.min[axis];
        slots.high[axis][place] = entry.aabb.max[axis];
    }
    slots.id[place] = entry.id;
    slots.marks[place] = entry.marks;
}
