//! What began and what ended, found from the boxes before and after the step.
//!
//! The tree of what moves holds the previous and current bounds of each box. A pair began if its
//! boxes overlap now and did not before, so two tests tell, and nothing has to be remembered of
//! the pairs themselves. Blocks in which something changed search; of two such blocks the
//! earlier one does.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::broad::shared::tasks::TaskState;
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{Node8, NodeTests, WIDTH, lanes_of_bit};
use crate::simd::places::Places;
use crate::simd::prefetch::prefetch_at;
use crate::simd::{self, Kernel, Simd};

use super::family::{Family, Met, NO_NODE, Place, parts};
use super::self_pairs::{Scratch, each, families, run};
use super::tree::{Search, Tree, View};

/// If a still tree has more than this many times as many boxes as move, the movers are so far apart
/// that each searches for itself; a block of them would span too much of it. Of 100 000 boxes, with
/// a fiftieth moving, searching by blocks is 1.4 times as fast, with one in five hundred it takes
/// 2.8 times as long; the two take equally many tests at about this, and equal time at a little
/// more (scene `tenth`, stage 'pairs').
const SPARSE: usize = 64;

/// Filters before and after the step.
#[derive(Clone, Copy)]
pub(super) struct Filters<'a> {
    pub before: &'a [Filter],
    pub now: &'a [Filter],
    /// False if all boxes have the filter they had.
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
    /// True if something changed in every block.
    pub all: bool,
    pub filters: Option<Filters<'a>>,
}

/// Writes what began and ended among the movers and between them and the still trees. Returns
/// the number of tests of one box against eight.
pub(super) fn find(
    movers: Movers<'_>,
    still: &[Tree],
    workers: &Workers,
    tasks: &mut Vec<TaskState<Scratch>>,
    found: &mut PairBuffer,
) -> Result<u64, LimitReached> {
    let view = View::new(movers.tree);
    run(0..families(movers.tree), workers, tasks, found, |families, lane, scratch| {
        simd::run(Find { movers, view, still, families, lane, scratch })
    })
}

struct Find<'a> {
    movers: Movers<'a>,
    view: View<'a>,
    still: &'a [Tree],
    /// Nodes of level 1.
    families: Range<usize>,
    lane: &'a mut Lane,
    scratch: &'a mut Scratch,
}

impl Kernel for Find<'_> {
    type Output = Result<(), LimitReached>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<(), LimitReached> {
        for family in self.families.clone() {
            self.among_movers(simd, family)?;
        }
        // Tree after tree, so that the upper nodes of one stay in the cache.
        for tree in self.still.iter().filter(|tree| tree.live > 0) {
            let still = View::new(tree);
            let sparse = tree.live > SPARSE * self.movers.tree.live;
            for family in self.families.clone() {
                if sparse {
                    self.boxes_against_still(simd, family, &still)?;
                } else {
                    self.against_still(simd, family, &still)?;
                }
            }
        }
        Ok(())
    }
}

impl<'a> Find<'a> {
    /// The blocks of a node of level 1 in which something changed, as a mask.
    #[inline(always)]
    fn changed_blocks(&self, family: usize) -> u32 {
        let blocks = &self.movers.changed[family * WIDTH..];
        let mut mask = 0;
        for (lane, &changed) in blocks.iter().take(WIDTH).enumerate() {
            mask |= u32::from(changed != 0) << lane;
        }
        mask
    }

    /// A search for what a block meets or met.
    #[inline(always)]
    fn search<S: Simd>(&self, simd: S, block: usize, first: usize) -> Search<'a> {
        let (new, old) = (&self.view.blocks()[block], &self.movers.old[block]);
        let bounds = simd.bounds(new).union(&simd.bounds(old));
        Search { bounds, filter: self.movers.filters.map(|_| self.view.filter(block)), first }
    }

    /// A search for what some blocks of a node of level 1 meet or met.
    #[inline(always)]
    fn family_search<S: Simd>(&self, simd: S, family: usize, blocks: u32) -> Search<'a> {
        let mut bounds = Aabb { min: [f32::INFINITY; 3], max: [f32::NEG_INFINITY; 3] };
        let mut rest = blocks;
        while rest != 0 {
            let block = family * WIDTH + rest.trailing_zeros() as usize;
            bounds = bounds.union(&self.search(simd, block, 0).bounds);
            rest &= rest - 1;
        }
        let alone = self.view.depth() == 1;
        let filter = self
            .movers
            .filters
            .map(|_| if alone { self.view.filter(0) } else { self.view.family_filter(family) });
        let first = if self.movers.all { family * WIDTH } else { 0 };
        Search { bounds, filter, first }
    }

    #[inline(always)]
    fn among_movers<S: Simd>(&mut self, simd: S, family: usize) -> Result<(), LimitReached> {
        let mut rest = self.changed_blocks(family);
        if rest == 0 {
            return Ok(());
        }
        let alone = self.view.depth() == 1;
        if !alone {
            let search = self.family_search(simd, family, rest);
            let Scratch { reached, tests, .. } = &mut *self.scratch;
            self.view.reach(simd, &search, tests, reached);
        }
        while rest != 0 {
            let block = family * WIDTH + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            self.within(simd, block)?;
            if !alone {
                self.against_movers(simd, block)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn within<S: Simd>(&mut self, simd: S, block: usize) -> Result<(), LimitReached> {
        if self.movers.filters.is_some() && !self.view.filter(block).allows(self.view.filter(block))
        {
            return Ok(());
        }
        let ids = &self.view.ids[block];
        let now = simd.within(&self.view.blocks()[block]);
        let before = simd.within(&self.movers.old[block]);
        self.scratch.tests += 8;
        let filters_changed = self.movers.filters.is_some_and(|filters| filters.changed);
        let mut rest = if filters_changed { now | before } else { now ^ before };
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            let (one, other) = lanes_of_bit(bit);
            let (before, now) = (before >> bit & 1, now >> bit & 1);
            self.write(simd, ids[one], ids, before << other, now << other)?;
        }
        Ok(())
    }

    /// Lists the places at which boxes of a block meet or met the bounds of another.
    #[inline(always)]
    fn list_places<S: Simd>(&mut self, simd: S, block: usize, among: &View<'_>) {
        let (new, old) = (&self.view.blocks()[block], &self.movers.old[block]);
        let Scratch { blocks, places, tests, .. } = &mut *self.scratch;
        let mut near = Places::within(places, blocks.len());
        for &other in blocks.iter() {
            let bounds = among.bounds(other as usize);
            let mask = simd.overlapping(new, &bounds) | simd.overlapping(old, &bounds);
            near.push(simd, mask, other * WIDTH as u32);
        }
        drop(near);
        *tests += 2 * (blocks.len() + places.len()) as u64;
    }

    /// Tests the boxes of a block at the listed places of other blocks, of which `before` are the
    /// previous bounds.
    #[inline(always)]
    fn test_places<S: Simd>(
        &mut self,
        simd: S,
        block: usize,
        among: &View<'_>,
        before: &[Node8],
    ) -> Result<(), LimitReached> {
        let (new, old) = (&self.view.blocks()[block], &self.movers.old[block]);
        for at in 0..self.scratch.places.len() {
            let place = self.scratch.places[at] as usize;
            let (other, lane) = (place / WIDTH, place % WIDTH);
            let now = simd.overlapping(&among.blocks()[other], &new.get(lane));
            let then = simd.overlapping(&before[other], &old.get(lane));
            self.write(simd, self.view.ids[block][lane], &among.ids[other], then, now)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn against_movers<S: Simd>(&mut self, simd: S, block: usize) -> Result<(), LimitReached> {
        let (view, movers) = (self.view, self.movers);
        let search = self.search(simd, block, if movers.all { block + 1 } else { 0 });
        let Scratch { reached, blocks, tests, .. } = &mut *self.scratch;
        view.blocks_below(simd, &search, &reached.nodes, tests, blocks);
        if !movers.all {
            // Of two blocks that both changed, the earlier one finds the pairs.
            blocks.retain(|&other| {
                let other = other as usize;
                other > block || (other < block && movers.changed[other] == 0)
            });
        }
        self.list_places(simd, block, &view);
        self.test_places(simd, block, &view, movers.old)
    }

    /// The changed blocks of a node of level 1 against a still tree. A box that touches nothing on
    /// the whole of its way neither begins nor ends anything, and that is one test in place of two.
    #[inline(always)]
    fn against_still<S: Simd>(
        &mut self,
        simd: S,
        family: usize,
        still: &View<'_>,
    ) -> Result<(), LimitReached> {
        let changed = self.changed_blocks(family);
        if changed == 0 {
            return Ok(());
        }
        let search = Search { first: 0, ..self.family_search(simd, family, changed) };
        let blocks = self.family_of(family, changed, &search);
        let Scratch { reached, tests, .. } = &mut *self.scratch;
        still.reach(simd, &search, tests, reached);
        let nodes = std::mem::take(&mut self.scratch.reached.nodes);
        for nodes in parts(&nodes) {
            let Scratch { opened, blocks: listed, tests, .. } = &mut *self.scratch;
            listed.clear();
            blocks.list(simd, still, nodes, opened, listed);
            *tests += (nodes.len() + opened.len()) as u64;
            self.list_touched(simd, family, still, nodes[0]);
            self.test_touched(simd, family, still, nodes[0])?;
        }
        self.scratch.reached.nodes = nodes;
        Ok(())
    }

    /// Tests boxes of a node of level 1 where they touch something on their way, below the nodes of
    /// a still tree from `first` on.
    #[inline(always)]
    fn test_touched<S: Simd>(
        &mut self,
        simd: S,
        family: usize,
        still: &View<'_>,
        first: u32,
    ) -> Result<(), LimitReached> {
        for at in 0..self.scratch.touched.len() {
            let Place { block, own, lane } = Place::of(self.scratch.touched[at]);
            let (other, block) = (first as usize * WIDTH + block, family * WIDTH + own);
            let boxes = &still.blocks()[other];
            let now = simd.overlapping(boxes, &self.view.blocks()[block].get(lane));
            let then = simd.overlapping(boxes, &self.movers.old[block].get(lane));
            self.write(simd, self.view.ids[block][lane], &still.ids[other], then, now)?;
        }
        Ok(())
    }

    /// The blocks of a node of level 1 of which some search; `all` is the search for all of these.
    #[inline(always)]
    fn family_of(&self, family: usize, searching: u32, all: &Search<'_>) -> Family<'a> {
        let alone = self.view.depth() == 1;
        let mut blocks = Node8::EMPTY;
        if alone {
            blocks.set(0, &all.bounds);
        } else {
            blocks = *self.view.parent(family);
        }
        let filters = self.movers.filters.map(|_| self.view.block_filters(family));
        Family { blocks, searching, filters, own: NO_NODE }
    }

    /// Lists the places at which a changed box of a node of level 1 touches something on its way.
    #[inline(always)]
    fn list_touched<S: Simd>(&mut self, simd: S, family: usize, still: &View<'_>, first: u32) {
        let begin = family * WIDTH;
        let count = (self.view.blocks().len() - begin).min(WIDTH);
        let mut ways = [Node8::EMPTY; WIDTH];
        for (lane, way) in ways.iter_mut().enumerate().take(count) {
            *way = self.view.blocks()[begin + lane].union(&self.movers.old[begin + lane]);
        }
        let changed = &self.movers.changed[begin..begin + count];
        let Scratch { blocks: listed, places, touched, tests, .. } = &mut *self.scratch;
        let mut near = Places::within(places, listed.len());
        for &key in listed.iter() {
            let met = Met::of(key);
            prefetch_at(still.blocks(), met.block());
            let mask = simd.overlapping(&ways[met.own], &still.bounds(met.block()));
            near.push(simd, mask & u32::from(changed[met.own]), Place::base(&met, first));
        }
        drop(near);
        touched.resize(places.len(), 0);
        let mut kept = 0;
        let later = &still.blocks()[first as usize * WIDTH..];
        for &place in places.iter() {
            let Place { block, own, lane } = Place::of(place);
            let hits = simd.meeting(&later[block], &ways[own], lane);
            touched[kept] = place;
            kept += usize::from(hits != 0);
        }
        touched.truncate(kept);
        *tests += (listed.len() + places.len() + 2 * kept) as u64;
    }

    /// Each changed box of a node of level 1 searches for itself.
    #[inline(always)]
    fn boxes_against_still<S: Simd>(
        &mut self,
        simd: S,
        family: usize,
        still: &View<'_>,
    ) -> Result<(), LimitReached> {
        let end = self.view.blocks().len().min((family + 1) * WIDTH);
        for block in family * WIDTH..end {
            let mut rest = u32::from(self.movers.changed[block]);
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                self.box_against_still(simd, block, lane, still)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn box_against_still<S: Simd>(
        &mut self,
        simd: S,
        block: usize,
        lane: usize,
        still: &View<'_>,
    ) -> Result<(), LimitReached> {
        let (view, movers) = (self.view, self.movers);
        let (new, old) = (view.blocks()[block].get(lane), movers.old[block].get(lane));
        // If the box was inserted or removed, one of the two is NaN, which the union leaves out.
        let bounds = new.union(&old);
        let filter = movers.filters.map(|_| view.filter(block));
        let search = Search { bounds, filter, first: 0 };
        let Scratch { reached, blocks, tests, .. } = &mut *self.scratch;
        still.reach(simd, &search, tests, reached);
        still.blocks_below(simd, &search, &reached.nodes, tests, blocks);
        *tests += blocks.len() as u64;
        for at in 0..self.scratch.blocks.len() {
            let other = self.scratch.blocks[at] as usize;
            if simd.overlapping(&still.blocks()[other], &bounds) == 0 {
                continue;
            }
            self.scratch.tests += 2;
            let now = simd.overlapping(&still.blocks()[other], &new);
            let before = simd.overlapping(&still.blocks()[other], &old);
            self.write(simd, view.ids[block][lane], &still.ids[other], before, now)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn write<S: Simd>(
        &mut self,
        simd: S,
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
        // Little changes in most steps.
        if began | ended != 0 {
            simd.pair_up(id, others, began, self.lane.room(WIDTH)?);
            simd.pair_up(id, others, ended, &mut self.scratch.ended);
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
