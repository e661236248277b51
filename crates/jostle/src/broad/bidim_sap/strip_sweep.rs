//! One strip: its boxes collected into blocks, sorted along the secondary axis, and swept.

use std::ops::Range;

use crate::boxes::Boxes;
use crate::broad::shared::groups::Groups;
use crate::ds::radix_sort::{item, sort_items};
use crate::pair::{Lane, LimitReached};
use crate::simd::Level;
use crate::simd::forward::{Blocks, Sweep, sweep};

use super::axes::Axes;
use super::strips::{StripEntry, StripRuns};

/// What sweeping a strip took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StripWork {
    pub homes: usize,
    pub tests: u64,
    pub pairs: u64,
    pub stopped: Option<LimitReached>,
}

/// Memory to sweep a strip in: small enough to stay in the cache, used for one strip after the
/// other.
#[derive(Clone, Debug)]
pub(super) struct SweepScratch {
    level: Level,
    items: Vec<u64>,
    spare: Vec<u64>,
    blocks: Blocks,
    slots: Vec<u32>,
    /// The homes of each group, then the visitors of each group, by their place in the blocks.
    lists: Vec<Range<usize>>,
    homes: usize,
}

impl Default for SweepScratch {
    fn default() -> SweepScratch {
        SweepScratch {
            level: Level::current(),
            items: Vec::new(),
            spare: Vec::new(),
            blocks: Blocks::default(),
            slots: Vec::new(),
            lists: Vec::new(),
            homes: 0,
        }
    }
}

impl SweepScratch {
    /// Brings in the boxes of a strip and sorts them.
    pub(super) fn collect(&mut self, runs: &StripRuns, strip: usize, axes: Axes, groups: &Groups) {
        self.items.clear();
        for visitors in [false, true] {
            for run in runs.runs(strip, visitors) {
                let entries = run.clone().zip(&runs.entries[run]);
                let key = |(place, entry): (usize, &StripEntry)| {
                    item(entry.aabb.min[axes.secondary], place as u32)
                };
                self.items.extend(entries.map(key));
            }
            if !visitors {
                self.homes = self.items.len();
            }
        }
        self.spare.resize(self.items.len(), 0);
        let (homes, visitors) = self.items.split_at_mut(self.homes);
        let (homes_spare, visitors_spare) = self.spare.split_at_mut(self.homes);
        sort_items(homes, homes_spare);
        sort_items(visitors, visitors_spare);
        self.make_lists(runs, groups);
        self.fill_blocks(runs, axes, groups);
    }

    /// Makes room for each list in the blocks.
    fn make_lists(&mut self, runs: &StripRuns, groups: &Groups) {
        let count = groups.count_of_groups();
        self.lists.clear();
        self.lists.resize(2 * count, 0..0);
        if count == 1 {
            self.lists[0].end = self.homes;
            self.lists[1].end = self.items.len() - self.homes;
        } else {
            for (place, &item) in self.items.iter().enumerate() {
                let kind = if place < self.homes { 0 } else { count };
                let slot = runs.entries[item as u32 as usize].slot;
                self.lists[kind + groups.of(slot as usize)].end += 1;
            }
        }
        let mut at = 0;
        for list in &mut self.lists {
            let length = list.end;
            // The end advances as boxes are added.
            *list = at..at;
            at = Blocks::next_list(at, length);
        }
        self.blocks.resize(at);
        self.slots.resize(at, 0);
    }

    fn fill_blocks(&mut self, runs: &StripRuns, axes: Axes, groups: &Groups) {
        let count = groups.count_of_groups();
        for (place, &item) in self.items.iter().enumerate() {
            let StripEntry { aabb, slot } = runs.entries[item as u32 as usize];
            let kind = if place < self.homes { 0 } else { count };
            let list = &mut self.lists[kind + groups.of(slot as usize)];
            self.blocks.put(list.end, &aabb, axes.secondary, [axes.primary, axes.unused()]);
            self.slots[list.end] = slot;
            list.end += 1;
        }
        for list in &self.lists {
            self.blocks.finish(list.end);
        }
    }

    /// Finds part `part` of `parts` of the pairs of the strip.
    pub(super) fn sweep(
        &self,
        boxes: &Boxes,
        groups: &Groups,
        lane: &mut Lane,
        part: usize,
        parts: usize,
    ) -> StripWork {
        let before = lane.pairs().len();
        let mut work = StripWork { homes: self.homes / parts, ..StripWork::default() };
        work.stopped = self
            .sweeps(groups)
            .map(|job| self.run(boxes, &job.part(part, parts), lane))
            .try_for_each(|tests| tests.map(|tests| work.tests += tests))
            .err();
        work.pairs = (lane.pairs().len() - before) as u64;
        work
    }

    /// Homes against homes of the same or a later group, and homes against visitors, if the
    /// groups can pair.
    fn sweeps(&self, groups: &Groups) -> impl Iterator<Item = Sweep> {
        let count = groups.count_of_groups();
        let both = (0..count).flat_map(move |one| (one..2 * count).map(move |other| (one, other)));
        let can = move |&(one, other): &(usize, usize)| groups.may_pair(one, other % count);
        both.filter(can).flat_map(|(one, other)| {
            let (a, b) = (&self.lists[one], &self.lists[other]);
            let ahead = Sweep { probes: a.clone(), list: b.clone(), ties: true };
            let back = Sweep { probes: b.clone(), list: a.clone(), ties: false };
            [Some(ahead), (one != other).then_some(back)].into_iter().flatten()
        })
    }

    fn run(&self, boxes: &Boxes, job: &Sweep, lane: &mut Lane) -> Result<u64, LimitReached> {
        let slots = &self.slots;
        if !boxes.has_filters() {
            return sweep(self.level, &self.blocks, job, |a, b| lane.push(slots[a], slots[b]));
        }
        let filters = boxes.filters();
        sweep(self.level, &self.blocks, job, |a, b| {
            let allowed = filters[slots[a] as usize].allows(&filters[slots[b] as usize]);
            if allowed { lane.push(slots[a], slots[b]) } else { Ok(()) }
        })
    }

    pub(super) fn bytes(&self) -> usize {
        (self.items.capacity() + self.spare.capacity()) * 8
            + self.blocks.bytes()
            + self.slots.capacity() * 4
    }
}
