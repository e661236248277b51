//! What began and what ended, found from the boxes before and after the step.
//!
//! The tree of what moves holds for each box where it was and where it is. A pair began if its
//! boxes overlap now and did not before, so two tests tell, and nothing has to be remembered of
//! the pairs themselves. Blocks in which something changed search; of two such blocks the
//! earlier one does.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::error::LimitReached;
use crate::filter::Filter;
use crate::pair::{Lane, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{Lanes, Node8, WIDTH, WithLanes, dispatch};

use super::self_pairs::{each, share, tasks};
use super::tree::{Search, Tree, View, Visit};

/// Filters before and after the step.
#[derive(Clone, Copy)]
pub(super) struct Filters<'a> {
    pub before: &'a [Filter],
    pub now: &'a [Filter],
    /// False where all boxes have the filter they had.
    pub changed: bool,
}

/// The tree of what moves, in the middle of a step.
#[derive(Clone, Copy)]
pub(super) struct Movers<'a> {
    pub tree: &'a Tree,
    /// The boxes before the step.
    pub old: &'a [Node8],
    /// The lanes of each block that changed.
    pub changed: &'a [u8],
    /// True where something changed in every block.
    pub all: bool,
    pub filters: Option<Filters<'a>>,
}

/// Scratch of one task.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pairs: Vec<Pair>,
    tests: u64,
    failed: Option<LimitReached>,
}

/// Writes what began and ended among the movers and between them and the still trees. Returns
/// the number of tests of one box against eight.
pub(super) fn find(
    movers: Movers<'_>,
    still: &[Tree],
    workers: &Workers,
    scratch: &mut Vec<Ended>,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    let blocks = movers.tree.blocks();
    let tasks = tasks(blocks, workers);
    scratch.resize_with(tasks, Ended::default);
    let run = |task: usize, lane: &mut Lane, ended: &mut Ended| {
        ended.pairs.clear();
        let view = View::new(movers.tree);
        let work = Find { movers, view, still, blocks: share(blocks, task, tasks), lane, ended };
        dispatch(work);
    };
    if tasks == 1 {
        run(0, found.lane(), &mut scratch[0]);
    } else {
        let lanes = found.lanes(tasks).iter_mut();
        let mut work: Vec<(&mut Lane, &mut Ended)> = lanes.zip(scratch.iter_mut()).collect();
        workers.for_each(&mut work, |task, (lane, ended)| run(task, lane, ended));
    }
    let mut tests = 0;
    for ended in scratch.iter_mut() {
        if let Some(failed) = ended.failed.take() {
            return Err(failed);
        }
        found.ended_mut().extend_from_slice(&ended.pairs);
        tests += ended.tests;
    }
    Ok(tests)
}

struct Find<'a> {
    movers: Movers<'a>,
    view: View<'a>,
    still: &'a [Tree],
    blocks: Range<usize>,
    lane: &'a mut Lane,
    ended: &'a mut Ended,
}

impl WithLanes for Find<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let mut tests = 0;
        let result = self.blocks(lanes, &mut tests);
        self.ended.tests = tests;
        self.ended.failed = result.err();
    }
}

impl<'a> Find<'a> {
    #[inline(always)]
    fn search<L: Lanes>(&self, lanes: L, block: usize, first: usize) -> Search<'a> {
        let (new, old) = (&self.view.blocks()[block], &self.movers.old[block]);
        let bounds = lanes.bounds(new).union(&lanes.bounds(old));
        Search { bounds, filter: self.movers.filters.map(|_| self.view.filter(block)), first }
    }

    #[inline(always)]
    fn blocks<L: Lanes>(&mut self, lanes: L, tests: &mut u64) -> Result<(), LimitReached> {
        for block in self.blocks.clone() {
            if self.movers.changed[block] != 0 {
                self.within(lanes, block, tests)?;
                self.among_movers(lanes, block, tests)?;
            }
        }
        // Tree after tree, so that the upper nodes of one stay in the cache.
        for tree in self.still.iter().filter(|tree| tree.live > 0) {
            let view = View::new(tree);
            for block in self.blocks.clone() {
                if self.movers.changed[block] != 0 {
                    self.against_still(lanes, block, &view, tests)?;
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn within<L: Lanes>(
        &mut self,
        lanes: L,
        block: usize,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        if self.movers.filters.is_some() && !self.view.filter(block).allows(self.view.filter(block))
        {
            return Ok(());
        }
        let (new, old) = (&self.view.blocks()[block], &self.movers.old[block]);
        let ids = &self.view.ids[block];
        for place in 0..WIDTH - 1 {
            let later = 0xfe << place;
            let now = lanes.overlapping(new, &new.get(place)) & later;
            let before = lanes.overlapping(old, &old.get(place)) & later;
            self.write(ids[place], ids, before, now)?;
        }
        *tests += 2 * (WIDTH as u64 - 1);
        Ok(())
    }

    #[inline(always)]
    fn among_movers<L: Lanes>(
        &mut self,
        lanes: L,
        block: usize,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let (view, movers) = (self.view, self.movers);
        let first = if movers.all { block + 1 } else { 0 };
        let search = self.search(lanes, block, first);
        view.walk(lanes, &search, tests, &mut Among { find: self, block })
    }

    #[inline(always)]
    fn against_still<L: Lanes>(
        &mut self,
        lanes: L,
        block: usize,
        still: &View<'_>,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let search = self.search(lanes, block, 0);
        still.walk(lanes, &search, tests, &mut Against { find: self, block, still })
    }

    #[inline(always)]
    fn write(
        &mut self,
        id: u32,
        others: &[u32; WIDTH],
        before: u32,
        now: u32,
    ) -> Result<(), LimitReached> {
        let (mut began, mut ended) = (now & !before, before & !now);
        if let Some(filters) = self.movers.filters {
            let both = if filters.changed { before & now } else { 0 };
            (began, ended) = filters.sift(id, others, [began, ended, both]);
        }
        if began != 0 {
            super::self_pairs::write(self.lane, id, others, began)?;
        }
        each(ended, |place| self.ended.pairs.push(Pair::from((id, others[place]))));
        Ok(())
    }
}

/// Tests one block of movers against the others.
struct Among<'f, 'a> {
    find: &'f mut Find<'a>,
    block: usize,
}

impl<L: Lanes> Visit<L> for Among<'_, '_> {
    type Stop = LimitReached;

    #[inline(always)]
    fn visit(
        &mut self,
        lanes: L,
        other: usize,
        bounds: &Aabb,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let (block, view, movers) = (self.block, self.find.view, self.find.movers);
        // Of two blocks that both changed, the earlier one finds the pairs.
        if other <= block && (other == block || movers.changed[other] != 0) {
            return Ok(());
        }
        let (new, old) = (&view.blocks()[block], &movers.old[block]);
        let (other_new, other_old) = (&view.blocks()[other], &movers.old[other]);
        let mut near = lanes.overlapping(new, bounds) | lanes.overlapping(old, bounds);
        *tests += 2 + 2 * u64::from(near.count_ones());
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let now = lanes.overlapping(other_new, &new.get(place));
            let before = lanes.overlapping(other_old, &old.get(place));
            self.find.write(view.ids[block][place], &view.ids[other], before, now)?;
        }
        Ok(())
    }
}

/// Tests one block of movers against a still tree.
struct Against<'f, 'a, 's> {
    find: &'f mut Find<'a>,
    block: usize,
    still: &'s View<'s>,
}

impl<L: Lanes> Visit<L> for Against<'_, '_, '_> {
    type Stop = LimitReached;

    #[inline(always)]
    fn visit(
        &mut self,
        lanes: L,
        other: usize,
        bounds: &Aabb,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let (block, view, movers) = (self.block, self.find.view, self.find.movers);
        let (new, old) = (&view.blocks()[block], &movers.old[block]);
        let near = lanes.overlapping(new, bounds) | lanes.overlapping(old, bounds);
        let mut near = near & u32::from(movers.changed[block]);
        *tests += 2 + 2 * u64::from(near.count_ones());
        let boxes = &self.still.blocks()[other];
        while near != 0 {
            let place = near.trailing_zeros() as usize;
            near &= near - 1;
            let now = lanes.overlapping(boxes, &new.get(place));
            let before = lanes.overlapping(boxes, &old.get(place));
            self.find.write(view.ids[block][place], &self.still.ids[other], before, now)?;
        }
        Ok(())
    }
}

impl Filters<'_> {
    /// The began and ended ones among the lanes that overlap only now, only before, or both
    /// times.
    fn sift(&self, id: u32, others: &[u32; WIDTH], [now, before, both]: [u32; 3]) -> (u32, u32) {
        let (mut began, mut ended) = (0, 0);
        each(now | before | both, |place| {
            let (bit, other) = (1 << place, others[place] as usize);
            let allowed = |filters: &[Filter]| filters[id as usize].allows(&filters[other]);
            let is = (now | both) & bit != 0 && allowed(self.now);
            let was = (before | both) & bit != 0 && allowed(self.before);
            began |= if is && !was { bit } else { 0 };
            ended |= if was && !is { bit } else { 0 };
        });
        (began, ended)
    }
}
