//! All pairs within one tree.
//!
//! ```text
//! for each node of 64 boxes, P:
//!     reached  = later nodes of 64 that P's bounds meet, found once from the root
//!     for each block of 8 in P:
//!         blocks = later blocks below `reached` that the block's bounds meet
//!         tests  = boxes of the block that meet the bounds of such a block
//!         for each: test the box against the eight boxes there at once, append the pairs
//! ```
//!
//! Every line is a loop over a list that the line before made, without a branch on a single
//! test: lists are filled by storing eight lanes and keeping as many as were hit. A walk in
//! depth with the same tests took twice as long, most of it for mispredicted branches.

use std::ops::Range;

use crate::broad::shared::tasks::{TaskState, run_parts};
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{NodeTests, WIDTH, lanes_of_bit};
use crate::simd::{self, Kernel, Simd};

use super::tree::{Reached, Search, Tree, View};

/// How many tasks each worker gets: enough that a crowded stretch does not keep the others
/// waiting.
const TASKS_PER_WORKER: usize = 8;

/// What a task keeps between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub reached: Reached,
    /// Blocks to be tested against.
    pub blocks: Vec<u32>,
    /// Places: a block times eight plus a lane of the block that searches.
    pub places: Vec<u32>,
    pub ended: Vec<Pair>,
    pub tests: u64,
}

/// Runs a task for each part of the nodes of level 1, each with a lane and a scratch of its own.
/// Returns the number of tests of one box against eight.
pub(crate) fn run(
    families: Range<usize>,
    workers: &Workers,
    tasks: &mut Vec<TaskState<Scratch>>,
    found: &mut PairBuffer,
    task: impl Fn(Range<usize>, &mut Lane, &mut Scratch) -> Result<(), LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    tasks.iter_mut().for_each(|task| task.scratch.ended.clear());
    let first = families.start;
    let search = |part: Range<usize>, lane: &mut Lane, scratch: &mut Scratch, tests: &mut u64| {
        scratch.tests = 0;
        let result = task(first + part.start..first + part.end, lane, scratch);
        *tests = scratch.tests;
        result
    };
    let tests = run_parts(families.len(), TASKS_PER_WORKER, workers, tasks, found, search)?;
    tasks.iter().for_each(|task| found.ended_mut().extend_from_slice(&task.scratch.ended));
    Ok(tests)
}

/// Writes all pairs of a tree.
pub(crate) fn find(
    tree: &Tree,
    filters: Option<&[Filter]>,
    workers: &Workers,
    tasks: &mut Vec<TaskState<Scratch>>,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    find_among(tree, 0..families(tree), filters, workers, tasks, found)
}

/// Number of nodes of 64 boxes.
pub(crate) fn families(tree: &Tree) -> usize {
    tree.blocks().div_ceil(WIDTH)
}

/// Writes the pairs of some nodes of 64 boxes among themselves and with what comes later.
pub(crate) fn find_among(
    tree: &Tree,
    families: Range<usize>,
    filters: Option<&[Filter]>,
    workers: &Workers,
    tasks: &mut Vec<TaskState<Scratch>>,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    let view = View::new(tree);
    run(families, workers, tasks, found, |families, lane, scratch| {
        simd::run(Find { view, filters, families, lane, scratch })
    })
}

struct Find<'a> {
    view: View<'a>,
    filters: Option<&'a [Filter]>,
    /// Nodes of level 1.
    families: Range<usize>,
    lane: &'a mut Lane,
    scratch: &'a mut Scratch,
}

impl Kernel for Find<'_> {
    type Output = Result<(), LimitReached>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<(), LimitReached> {
        if self.view.depth() == 1 {
            return self.within(simd, 0);
        }
        for family in self.families.clone() {
            let (bounds, filter) = self.view.family(simd, family);
            let search = Search { bounds, filter, first: family * WIDTH };
            let Scratch { reached, tests, .. } = &mut *self.scratch;
            self.view.reach(simd, &search, tests, reached);
            let end = self.view.blocks().len().min((family + 1) * WIDTH);
            for block in family * WIDTH..end {
                self.within(simd, block)?;
                self.against_later(simd, block)?;
            }
        }
        Ok(())
    }
}

impl Find<'_> {
    #[inline(always)]
    fn within<S: Simd>(&mut self, simd: S, block: usize) -> Result<(), LimitReached> {
        if self.filters.is_some() && !self.view.filter(block).allows(self.view.filter(block)) {
            return Ok(());
        }
        let ids = &self.view.ids[block];
        let mut hits = simd.within(&self.view.blocks()[block]);
        self.scratch.tests += 4;
        while hits != 0 {
            let (one, other) = lanes_of_bit(hits.trailing_zeros());
            hits &= hits - 1;
            self.write(simd, ids[one], ids, 1 << other)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn against_later<S: Simd>(&mut self, simd: S, block: usize) -> Result<(), LimitReached> {
        let view = self.view;
        let (boxes, ids) = (&view.blocks()[block], &view.ids[block]);
        let filter = self.filters.map(|_| view.filter(block));
        let search = Search { bounds: view.bounds(block), filter, first: block + 1 };
        let Scratch { reached, blocks, places, tests, .. } = &mut *self.scratch;
        view.blocks_below(simd, &search, &reached.nodes, tests, blocks);
        places.clear();
        for &other in blocks.iter() {
            let near = simd.overlapping(boxes, &view.bounds(other as usize));
            simd.spread(near, other * WIDTH as u32, places);
        }
        *tests += (blocks.len() + places.len()) as u64;
        for at in 0..self.scratch.places.len() {
            let place = self.scratch.places[at] as usize;
            let (other, lane) = (place / WIDTH, place % WIDTH);
            let hits = simd.overlapping(&view.blocks()[other], &boxes.get(lane));
            self.write(simd, ids[lane], &view.ids[other], hits)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn write<S: Simd>(
        &mut self,
        simd: S,
        id: u32,
        others: &[u32; WIDTH],
        hits: u32,
    ) -> Result<(), LimitReached> {
        let hits = match self.filters {
            Some(filters) => allowed(id, others, hits, filters),
            None => hits,
        };
        simd.pair_up(id, others, hits, self.lane.room(WIDTH)?);
        Ok(())
    }
}

/// The lanes of a mask whose box may pair with a box.
fn allowed(id: u32, others: &[u32; WIDTH], hits: u32, filters: &[Filter]) -> u32 {
    let mut kept = hits;
    each(hits, |lane| {
        if !filters[id as usize].allows(&filters[others[lane] as usize]) {
            kept &= !(1 << lane);
        }
    });
    kept
}

/// Calls `with` for each bit of a mask of lanes.
#[inline(always)]
pub(crate) fn each(mut mask: u32, mut with: impl FnMut(usize)) {
    while mask != 0 {
        with(mask.trailing_zeros() as usize % WIDTH);
        mask &= mask - 1;
    }
}
