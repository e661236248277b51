//! All pairs within one tree.
//!
//! A block of eight boxes searches as one: a single walk finds the later blocks that its bounds
//! touch, then those of its boxes that touch the other block's bounds are tested against the
//! other eight at once. A walk per box would test the upper levels eight times as often; walking
//! two subtrees against each other saves little more, because a complete tree has few upper
//! nodes, and deals less evenly to workers.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::error::LimitReached;
use crate::filter::Filter;
use crate::pair::{Lane, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{Lanes, WIDTH, WithLanes, dispatch};

use super::tree::{Search, Tree, View, Visit};

/// How many tasks each worker gets: enough that a crowded stretch does not keep the others
/// waiting.
pub(super) const TASKS_PER_WORKER: usize = 8;

/// Number of tasks for a number of blocks, and the blocks of one of them.
pub(super) fn tasks(blocks: usize, workers: &Workers) -> usize {
    if workers.count() == 1 { 1 } else { (workers.count() * TASKS_PER_WORKER).min(blocks.max(1)) }
}

pub(super) fn share(blocks: usize, task: usize, tasks: usize) -> Range<usize> {
    blocks * task / tasks..blocks * (task + 1) / tasks
}

/// Writes all pairs of a tree. Returns the number of tests of one box against eight.
pub(super) fn find(
    tree: &Tree,
    filters: Option<&[Filter]>,
    workers: &Workers,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    let view = View::new(tree);
    let blocks = tree.blocks();
    let tasks = tasks(blocks, workers);
    let mut results = [const { Ok(0u64) }; 1];
    if tasks == 1 {
        results[0] = dispatch(Find { view, filters, blocks: 0..blocks, lane: found.lane() });
        return results[0].clone();
    }
    let mut work: Vec<(&mut Lane, Result<u64, LimitReached>)> =
        found.lanes(tasks).iter_mut().map(|lane| (lane, Ok(0))).collect();
    workers.for_each(&mut work, |task, (lane, result)| {
        *result = dispatch(Find { view, filters, blocks: share(blocks, task, tasks), lane });
    });
    work.into_iter().map(|(_, result)| result).sum()
}

struct Find<'a> {
    view: View<'a>,
    filters: Option<&'a [Filter]>,
    blocks: Range<usize>,
    lane: &'a mut Lane,
}

impl WithLanes for Find<'_> {
    type Output = Result<u64, LimitReached>;

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) -> Result<u64, LimitReached> {
        let mut tests = 0;
        for block in self.blocks.clone() {
            self.within(lanes, block, &mut tests)?;
            self.against_later(lanes, block, &mut tests)?;
        }
        Ok(tests)
    }
}

impl Find<'_> {
    #[inline(always)]
    fn within<L: Lanes>(
        &mut self,
        lanes: L,
        block: usize,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        if self.filters.is_some() && !self.view.filter(block).allows(self.view.filter(block)) {
            return Ok(());
        }
        let boxes = &self.view.blocks()[block];
        let ids = &self.view.ids[block];
        for place in 0..WIDTH - 1 {
            let hits = lanes.overlapping(boxes, &boxes.get(place)) & (0xfe << place);
            self.write(ids[place], ids, hits)?;
        }
        *tests += WIDTH as u64 - 1;
        Ok(())
    }

    #[inline(always)]
    fn against_later<L: Lanes>(
        &mut self,
        lanes: L,
        block: usize,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let view = self.view;
        let boxes = &view.blocks()[block];
        let filter = self.filters.map(|_| view.filter(block));
        let search = Search { bounds: lanes.bounds(boxes), filter, first: block + 1 };
        view.walk(lanes, &search, tests, &mut Against { find: self, block })
    }

    #[inline(always)]
    fn write(&mut self, id: u32, others: &[u32; WIDTH], hits: u32) -> Result<(), LimitReached> {
        if hits == 0 {
            return Ok(());
        }
        match self.filters {
            None => write(self.lane, id, others, hits),
            Some(filters) => write_allowed(self.lane, id, others, hits, filters),
        }
    }
}

/// Tests one block against the blocks that its walk finds.
struct Against<'f, 'a> {
    find: &'f mut Find<'a>,
    block: usize,
}

impl<L: Lanes> Visit<L> for Against<'_, '_> {
    type Stop = LimitReached;

    #[inline(always)]
    fn visit(
        &mut self,
        lanes: L,
        other: usize,
        bounds: &Aabb,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let view = self.find.view;
        let boxes = &view.blocks()[self.block];
        let mut near = lanes.overlapping(boxes, bounds);
        *tests += 1 + u64::from(near.count_ones());
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let hits = lanes.overlapping(&view.blocks()[other], &boxes.get(place));
            self.find.write(view.ids[self.block][place], &view.ids[other], hits)?;
        }
        Ok(())
    }
}

#[inline(always)]
pub(super) fn write(
    lane: &mut Lane,
    id: u32,
    others: &[u32; WIDTH],
    hits: u32,
) -> Result<(), LimitReached> {
    let pairs = lane.room(WIDTH)?;
    each(hits, |place| pairs.push(Pair::from((id, others[place]))));
    Ok(())
}

fn write_allowed(
    lane: &mut Lane,
    id: u32,
    others: &[u32; WIDTH],
    hits: u32,
    filters: &[Filter],
) -> Result<(), LimitReached> {
    let pairs = lane.room(WIDTH)?;
    let filter = &filters[id as usize];
    each(hits, |place| {
        if filter.allows(&filters[others[place] as usize]) {
            pairs.push(Pair::from((id, others[place])));
        }
    });
    Ok(())
}

/// Calls `with` for each bit of a mask of lanes.
#[inline(always)]
pub(super) fn each(mut mask: u32, mut with: impl FnMut(usize)) {
    while mask != 0 {
        with(mask.trailing_zeros() as usize % WIDTH);
        mask &= mask - 1;
    }
}
