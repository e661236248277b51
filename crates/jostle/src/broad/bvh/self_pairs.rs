//! All pairs within one tree.
//!
//! ```text
//! for each node of 64 boxes, P:
//!     reached = later nodes of 64 that P's bounds meet, found from the root
//!     opened  = blocks of 8 in P that meet the bounds of a reached node
//!     listed  = later blocks below that node that such a block's bounds meet
//!     places  = boxes of the block that meet the bounds of a listed one
//!     for each: test the box against the eight boxes there at once, write the eight bits
//!     put the bits into words of 64, one for each two blocks
//!     compare the bits with those of the step before, append the pairs that differ
//! ```
//!
//! Every line is a loop over a list that the line before made, without a branch on a single
//! test: lists are filled by storing eight lanes and keeping as many as were hit. A walk in
//! depth with the same tests took twice as long, most of it for mispredicted branches. Lists are
//! made for 64 boxes at a time: for each block of eight they are so short that leaving the loops
//! was mispredicted several times a block.
//!
//! The last line is in `rows.rs`. If the order of the tree is that of the step before, it appends
//! what began and what ended; else there are no bits before, and it appends all pairs.

use std::ops::Range;

use crate::broad::shared::tasks::{TaskState, run_parts};
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::{Lane, LimitReached, Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{NodeTests, WIDTH, lanes_of_bit};
use crate::simd::places::Places;
use crate::simd::prefetch::prefetch_at;
use crate::simd::{self, Kernel, Simd};

use super::family::{Family, Met, Place, parts};
use super::rows::Rows;
use super::tree::{Reached, Search, Tree, View};

/// How many tasks each worker gets: enough that a crowded stretch does not keep the others
/// waiting.
const TASKS_PER_WORKER: usize = 16;

/// What a task keeps between steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub reached: Reached,
    /// Reached nodes times eight plus the lane of a block that searches below them.
    pub opened: Vec<u32>,
    /// Blocks to be tested against.
    pub blocks: Vec<u32>,
    /// What is tested, as [`Place`] reads it or, if one block searches, a block times eight plus a
    /// lane of the one that searches.
    pub places: Vec<u32>,
    /// Of these, the places at which something touches.
    pub touched: Vec<u32>,
    pub rows: Rows,
    pub ended: Vec<Pair>,
    /// How many pairs the tasks before this one saw end.
    ended_before: usize,
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
    join_ended(tasks, workers, found.ended_mut());
    Ok(tests)
}

/// Puts the ended pairs of all tasks into one list.
fn join_ended(tasks: &mut [TaskState<Scratch>], workers: &Workers, ended: &mut Vec<Pair>) {
    let mut count = 0;
    for task in &mut *tasks {
        task.scratch.ended_before = count;
        count += task.scratch.ended.len();
    }
    ended.resize(count, Pair::from_key(1));
    let scratch = |task: usize| tasks.get(task).map(|task| &task.scratch);
    let begin = |task: usize| scratch(task).map_or(count, |scratch| scratch.ended_before);
    workers.for_each_part(ended, tasks.len(), begin, |task, own| {
        own.copy_from_slice(&tasks[task].scratch.ended);
    });
}

/// Writes all pairs of a tree or, if the step `continues` from the last call with the same tree,
/// order and filters, the pairs that began and ended since.
pub(crate) fn find(
    tree: &Tree,
    filters: Option<&[Filter]>,
    continues: bool,
    workers: &Workers,
    tasks: &mut Vec<TaskState<Scratch>>,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    let view = View::new(tree);
    run(0..families(tree), workers, tasks, found, |families, lane, scratch| {
        simd::run(Find { view, filters, continues, families, lane, scratch })
    })
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
        simd::run(Find { view, filters, continues: false, families, lane, scratch })
    })
}

struct Find<'a> {
    view: View<'a>,
    filters: Option<&'a [Filter]>,
    continues: bool,
    /// Nodes of level 1.
    families: Range<usize>,
    lane: &'a mut Lane,
    scratch: &'a mut Scratch,
}

impl Kernel for Find<'_> {
    type Output = Result<(), LimitReached>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<(), LimitReached> {
        self.scratch.rows.begin(self.continues);
        if self.view.depth() == 1 {
            return self.within(simd, 0);
        }
        for family in self.families.clone() {
            self.search(simd, family);
            let end = self.view.blocks().len().min((family + 1) * WIDTH);
            for block in family * WIDTH..end {
                self.within(simd, block)?;
            }
            self.write_differences(family)?;
        }
        Ok(())
    }
}

impl Find<'_> {
    #[inline(always)]
    fn within<S: Simd>(&mut self, simd: S, block: usize) -> Result<(), LimitReached> {
        let filter = self.filters.map(|_| self.view.filter(block));
        let may_pair = filter.is_none_or(|filter| filter.allows(filter));
        let now = if may_pair { simd.within(&self.view.blocks()[block]) } else { 0 };
        self.scratch.tests += 4;
        let mut rest = now ^ self.scratch.rows.within(now);
        let ids = &self.view.ids[block];
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let (one, other) = lanes_of_bit(bit);
            let pair = Pair::sorted(Slot::new(ids[one]), Slot::new(ids[other]));
            if !self.filters.is_none_or(|filters| allowed(pair, filters)) {
                continue;
            }
            if now >> bit & 1 == 1 {
                self.lane.push(ids[one], ids[other])?;
            } else {
                self.scratch.ended.push(pair);
            }
        }
        Ok(())
    }

    /// Finds the hits between the blocks of a family and what comes later.
    #[inline(always)]
    fn search<S: Simd>(&mut self, simd: S, number: usize) {
        let view = self.view;
        let (bounds, filter) = view.family(simd, number);
        let search = Search { bounds, filter, first: number * WIDTH };
        let family = Family {
            blocks: *view.parent(number),
            searching: 0xff,
            filters: self.filters.map(|_| view.block_filters(number)),
            own: number,
        };
        let Scratch { reached, rows, tests, .. } = &mut *self.scratch;
        view.reach(simd, &search, tests, reached);
        rows.begin_row();
        let nodes = std::mem::take(&mut reached.nodes);
        for nodes in parts(&nodes) {
            let Scratch { opened, rows, tests, .. } = &mut *self.scratch;
            let known = rows.listed.len();
            family.list(simd, &view, nodes, opened, &mut rows.listed);
            *tests += (nodes.len() + opened.len()) as u64;
            self.test_blocks(simd, number, known, nodes[0]);
            self.scratch.rows.pack(simd, known);
        }
        self.scratch.reached.nodes = nodes;
    }

    /// Finds the hits between the blocks of a family and those listed after `known` others, which
    /// are below the nodes from `first` on.
    #[inline(always)]
    fn test_blocks<S: Simd>(&mut self, simd: S, family: usize, known: usize, first: u32) {
        let (blocks, nodes) = (self.view.blocks(), self.view.nodes());
        let (own, later) = (&blocks[family * WIDTH..], &blocks[first as usize * WIDTH..]);
        let Scratch { places, rows, tests, .. } = &mut *self.scratch;
        let (listed, lanes) = rows.listed_after(known);
        let mut near = Places::within(places, listed.len());
        for (&key, lanes) in listed.iter().zip(lanes) {
            let met = Met::of(key);
            prefetch_at(blocks, met.block());
            let mask = simd.meeting(&own[met.own], &nodes[met.node], met.lane);
            *lanes = mask as u8;
            near.push(simd, mask, Place::base(&met, first));
        }
        drop(near);
        *tests += (listed.len() + places.len()) as u64;
        for (hits, &place) in rows.hits(places.len()).iter_mut().zip(places.iter()) {
            let place = Place::of(place);
            *hits = simd.meeting(&later[place.block], &own[place.own], place.lane) as u8;
        }
    }

    /// Writes what the hits of a family differ in from those of the step before.
    #[inline(always)]
    fn write_differences(&mut self, family: usize) -> Result<(), LimitReached> {
        let view = self.view;
        let own = &view.ids[family * WIDTH..];
        let Scratch { rows, ended, .. } = &mut *self.scratch;
        for difference in rows.end_row() {
            let met = Met::of(difference.key);
            let sides = [&own[met.own], &view.ids[met.block()]];
            let (now, differing) = (difference.now, difference.differing);
            let began = self.lane.room(WIDTH * WIDTH)?;
            append(now & differing, sides, self.filters, began);
            append(differing & !now, sides, self.filters, ended);
        }
        Ok(())
    }
}

/// Appends the pairs that the bits of a mask stand for: eight of the second block for each box of
/// the first.
#[inline(always)]
fn append(
    mut mask: u64,
    [ids, others]: [&[u32; WIDTH]; 2],
    filters: Option<&[Filter]>,
    pairs: &mut Vec<Pair>,
) {
    while mask != 0 {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        let (one, other) = (ids[bit / WIDTH % WIDTH], others[bit % WIDTH]);
        let pair = Pair::sorted(Slot::new(one), Slot::new(other));
        if filters.is_none_or(|filters| allowed(pair, filters)) {
            pairs.push(pair);
        }
    }
}

fn allowed(pair: Pair, filters: &[Filter]) -> bool {
    filters[pair.a().index()].allows(&filters[pair.b().index()])
}

/// Calls `with` for each bit of a mask of lanes.
#[inline(always)]
pub(crate) fn each(mut mask: u32, mut with: impl FnMut(usize)) {
    while mask != 0 {
        with(mask.trailing_zeros() as usize % WIDTH);
        mask &= mask - 1;
    }
}
