//! [`Tree`]: a complete tree with eight children to a node, in arrays, without pointers.
//!
//! Level 0 holds the boxes, eight to a block in the order that [`order`](super::order) gives.
//! Lane `c` of node `i` on level `l + 1` is the bounds of node `8 i + c` on level `l`; the last
//! level is one node. So the depth is the logarithm of the number of boxes to base eight whatever
//! the boxes are, at most [`MOST_LEVELS`], and a walk needs one mask of open children per level.
//!
//! A box is removed by emptying its lane; nothing is inserted. With filters, every node carries
//! the union of the filters below it ([`joined`]), and a walk leaves out what cannot pair.

use std::cmp::Ordering;

use crate::aabb::{Aabb, NO_BOX};
use crate::filter::Filter;
use crate::par::Workers;
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::places::Places;
use crate::simd::prefetch::prefetch_at;
use crate::simd::{self, Kernel, Simd};

use super::order::NONE;

/// Eight to the eleventh is above the number of boxes there can be.
pub(crate) const MOST_LEVELS: usize = 11;

/// Blocks handled by one task at a time.
const BLOCKS_PER_TASK: usize = 1 << 10;

/// Nodes of level 1 whose boxes a task reads.
const NODES_PER_TASK: usize = 32;

/// How far ahead the boxes of a block are fetched, if there are more than [`NEAR_BOXES`].
const BLOCKS_AHEAD: usize = 6;
const NEAR_BOXES: usize = 1 << 14;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The box in each lane of level 0, [`NONE`] in empty ones.
    pub ids: Vec<u32>,
    /// Bounds, from the boxes up to the root. Empty levels at the end are unused.
    pub levels: Vec<Vec<Node8>>,
    /// Joined filters of each node, by level; without filters all are empty.
    pub filters: Vec<Vec<Filter>>,
    pub live: usize,
    /// Places emptied since the tree was built.
    pub taken: usize,
    /// What is still to be done for a still tree.
    pub upkeep: Upkeep,
}

/// Work on a still tree that was put off when it became one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Upkeep {
    /// Number of places, from the first, whose boxes are known to be there.
    pub noted: usize,
    /// True if bounds enclose boxes that were taken.
    pub loose: bool,
}

/// A filter that pairs with nothing: the neutral element of [`joined`].
pub(crate) const NOTHING: Filter = Filter { membership: 0, mask: 0, owner: 0, still: true };

/// A filter that allows whatever one of two allows.
#[inline]
pub(crate) fn joined(one: &Filter, other: &Filter) -> Filter {
    if one.membership | one.mask == 0 {
        return *other;
    }
    if other.membership | other.mask == 0 {
        return *one;
    }
    Filter {
        membership: one.membership | other.membership,
        mask: one.mask | other.mask,
        owner: if one.owner == other.owner { one.owner } else { Filter::NOBODY },
        still: one.still & other.still,
    }
}

impl Tree {
    /// Number of blocks of eight boxes.
    pub(crate) fn blocks(&self) -> usize {
        self.ids.len() / WIDTH
    }

    /// Number of levels, 0 for an empty tree.
    pub(crate) fn depth(&self) -> usize {
        self.levels.iter().take_while(|level| !level.is_empty()).count()
    }

    /// The box in a place.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Aabb {
        self.levels[0][place / WIDTH].get(place % WIDTH)
    }

    /// Empties a place. Bounds stay as they are, which is never wrong.
    pub(crate) fn take(&mut self, place: usize) -> Aabb {
        let aabb = self.get(place);
        self.levels[0][place / WIDTH].set(place % WIDTH, &NO_BOX);
        self.ids[place] = NONE;
        self.live -= 1;
        self.taken += 1;
        aabb
    }

    /// Creates the levels for the ids, which the caller has ordered.
    pub(crate) fn shape(&mut self, live: usize) {
        self.live = live;
        self.ids.resize(self.ids.len().next_multiple_of(WIDTH), NONE);
        let mut nodes = self.blocks();
        let mut level = 0;
        loop {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].resize(nodes, Node8::EMPTY);
            level += 1;
            if nodes <= 1 {
                break;
            }
            nodes = nodes.div_ceil(WIDTH);
        }
        self.levels[level..].iter_mut().for_each(Vec::clear);
    }

    /// Gives unused memory back.
    pub(crate) fn trim(&mut self) {
        self.ids.shrink_to_fit();
        self.levels.iter_mut().for_each(Vec::shrink_to_fit);
        self.filters.iter_mut().for_each(Vec::shrink_to_fit);
    }

    /// Reads every box of the tree.
    pub(crate) fn gather(&mut self, aabbs: &[Aabb], workers: &Workers) {
        let ids = self.ids.as_chunks::<WIDTH>().0;
        let Some(blocks) = self.levels.first_mut() else { return };
        workers.for_each_chunk(blocks, BLOCKS_PER_TASK, |task, blocks| {
            simd::run(ReadBlocks { blocks, ids: &ids[task * BLOCKS_PER_TASK..], aabbs });
        });
    }

    /// Reads every box of the tree and makes the bounds of all levels above, those of a block while
    /// it is in the nearest cache.
    pub(crate) fn read(&mut self, aabbs: &[Aabb], workers: &Workers) {
        if self.depth() < 2 {
            return self.gather(aabbs, workers);
        }
        const RUN: usize = NODES_PER_TASK * WIDTH;
        let ids = self.ids.as_chunks::<WIDTH>().0;
        let (blocks, above) = self.levels.split_at_mut(1);
        let (nodes, last_nodes) = above[0].as_chunks_mut::<NODES_PER_TASK>();
        let whole = (nodes.len() * RUN).min(blocks[0].len());
        let (blocks, last_blocks) = blocks[0].split_at_mut(whole);
        workers.for_each_chunk_with(blocks, RUN, nodes, |task, blocks, nodes| {
            simd::run(ReadBoxes { nodes, blocks, ids: &ids[task * RUN..], aabbs });
        });
        let (nodes, blocks) = (last_nodes, last_blocks);
        simd::run(ReadBoxes { nodes, blocks, ids: &ids[whole..], aabbs });
        self.enclose_from(2, None, workers);
    }

    /// Makes the bounds of all levels above the boxes; `old` are boxes that the bounds are to
    /// enclose as well, block by block.
    pub(crate) fn refit(&mut self, old: Option<&[Node8]>, workers: &Workers) {
        self.enclose_from(1, old, workers);
    }

    fn enclose_from(&mut self, first: usize, old: Option<&[Node8]>, workers: &Workers) {
        for level in first..self.depth() {
            let (below, above) = self.levels.split_at_mut(level);
            let children = &below[level - 1][..];
            let old = old.filter(|_| level == 1);
            workers.for_each_chunk(&mut above[0], BLOCKS_PER_TASK / WIDTH, |task, nodes| {
                let first = task * BLOCKS_PER_TASK;
                simd::run(Enclose {
                    nodes,
                    children: &children[first..],
                    old: old.map(|old| &old[first..]),
                });
            });
        }
    }

    /// Joins the filters of all nodes; `of` gives the filter of a box.
    pub(crate) fn join_filters(&mut self, of: impl Fn(u32) -> Filter) {
        let blocks = self.ids.as_chunks::<WIDTH>().0.iter().map(|ids| {
            let filters = ids.iter().filter(|&&id| id != NONE).map(|&id| of(id));
            filters.fold(NOTHING, |one, other| joined(&one, &other))
        });
        self.filters.resize_with(self.levels.len(), Vec::new);
        // A tree whose boxes were all left behind has no level.
        let Some(lowest) = self.filters.first_mut() else { return };
        lowest.clear();
        lowest.extend(blocks);
        for level in 1..self.levels.len() {
            let (below, above) = self.filters.split_at_mut(level);
            above[0].clear();
            let nodes = below[level - 1]
                .chunks(WIDTH)
                .map(|children| children.iter().fold(NOTHING, |one, other| joined(&one, other)));
            above[0].extend(nodes.take(self.levels[level].len()));
        }
    }

    /// The ids of all boxes.
    pub(crate) fn live_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids.iter().copied().filter(|&id| id != NONE)
    }

    /// Panics if bounds do not enclose what is below them, or filters not what they join.
    pub(crate) fn validate(&self, filters: &[Filter]) {
        let live = self.ids.iter().filter(|id| **id != NONE).count();
        assert_eq!(live, self.live, "number of boxes in a tree");
        assert!(self.depth() <= MOST_LEVELS, "depth {}", self.depth());
        for level in 1..self.depth() {
            let below = &self.levels[level - 1];
            assert_eq!(self.levels[level].len(), below.len().div_ceil(WIDTH), "level {level}");
            for (child, node) in below.iter().enumerate() {
                let bounds = self.levels[level][child / WIDTH].get(child % WIDTH);
                let inside = simd::run(BoundsOf(node));
                let empty = inside.min[0] > inside.max[0];
                assert!(empty || bounds.contains(&inside), "level {level}, child {child}");
            }
        }
        if filters.is_empty() {
            return;
        }
        // Filters that pair with nothing are left out of the join, whatever else they say.
        let has =
            |one: &Filter, of: &Filter| joined(one, of) == *one || of.membership | of.mask == 0;
        for (place, &id) in self.ids.iter().enumerate().filter(|(_, id)| **id != NONE) {
            let node = &self.filters[0][place / WIDTH];
            assert!(has(node, &filters[id as usize]), "joined filter of the block of box {id}");
        }
        for level in 1..self.depth() {
            for (child, filter) in self.filters[level - 1].iter().enumerate() {
                assert!(has(&self.filters[level][child / WIDTH], filter), "filters, level {level}");
            }
        }
    }

    /// The surface area heuristic: the expected number of nodes that a random small query inside
    /// the root opens, by the surfaces of the finite nodes.
    pub(crate) fn cost(&self) -> f64 {
        let depth = self.depth();
        if depth < 2 {
            return self.blocks() as f64;
        }
        let sum: f64 = self.levels[1..depth].iter().flatten().map(surfaces).sum();
        let root = simd::run(BoundsOf(&self.levels[depth - 1][0]));
        let whole = surface(&root);
        if whole > 0.0 { 1.0 + sum / whole } else { 1.0 }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let nodes: usize = self.levels.iter().map(Vec::capacity).sum();
        let filters: usize = self.filters.iter().map(Vec::capacity).sum();
        self.ids.capacity() * 4 + nodes * size_of::<Node8>() + filters * size_of::<Filter>()
    }
}

/// Reads the boxes of blocks after one another; `ids` may name more.
struct ReadBlocks<'a> {
    blocks: &'a mut [Node8],
    ids: &'a [[u32; WIDTH]],
    aabbs: &'a [Aabb],
}

impl Kernel for ReadBlocks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        read_blocks(simd, self.blocks, self.ids, self.aabbs);
    }
}

#[inline(always)]
fn read_blocks<S: Simd>(simd: S, blocks: &mut [Node8], ids: &[[u32; WIDTH]], aabbs: &[Aabb]) {
    // The boxes are in the user's order, so each is a miss if they do not fit a near cache.
    let far = aabbs.len() > NEAR_BOXES;
    for (place, block) in blocks.iter_mut().enumerate() {
        if far && let Some(ahead) = ids.get(place + BLOCKS_AHEAD) {
            ahead.iter().for_each(|&id| prefetch_at(aabbs, id as usize));
        }
        simd.node_of(ids[place].map(|id| aabbs.get(id as usize).unwrap_or(&NO_BOX)), block);
    }
}

/// Reads the boxes of some nodes of level 1, and makes their bounds.
struct ReadBoxes<'a> {
    nodes: &'a mut [Node8],
    blocks: &'a mut [Node8],
    ids: &'a [[u32; WIDTH]],
    aabbs: &'a [Aabb],
}

impl Kernel for ReadBoxes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let blocks = self.blocks.chunks_mut(WIDTH);
        for (number, (node, blocks)) in self.nodes.iter_mut().zip(blocks).enumerate() {
            read_blocks(simd, blocks, &self.ids[number * WIDTH..], self.aabbs);
            for lane in 0..WIDTH {
                node.set(lane, &blocks.get(lane).map_or(NO_BOX, |block| simd.bounds(block)));
            }
        }
    }
}

fn surfaces(node: &Node8) -> f64 {
    (0..WIDTH).map(|lane| surface(&node.get(lane))).filter(|area| area.is_finite()).sum()
}

/// Half the surface; 0 for no box.
fn surface(aabb: &Aabb) -> f64 {
    let side: [f64; 3] = std::array::from_fn(|k| f64::from(aabb.max[k]) - f64::from(aabb.min[k]));
    if side.iter().all(|&side| side >= 0.0) {
        side[0] * side[1] + side[1] * side[2] + side[2] * side[0]
    } else {
        0.0
    }
}

/// Writes the bounds of children into their nodes.
struct Enclose<'a> {
    nodes: &'a mut [Node8],
    children: &'a [Node8],
    old: Option<&'a [Node8]>,
}

impl Kernel for Enclose<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (place, node) in self.nodes.iter_mut().enumerate() {
            for lane in 0..WIDTH {
                let child = place * WIDTH + lane;
                let Some(boxes) = self.children.get(child) else {
                    node.set(lane, &NO_BOX);
                    continue;
                };
                let mut bounds = simd.bounds(boxes);
                if let Some(old) = self.old {
                    bounds = bounds.union(&simd.bounds(&old[child]));
                }
                node.set(lane, &bounds);
            }
        }
    }
}

/// The box around a node.
pub(crate) struct BoundsOf<'a>(pub &'a Node8);

impl Kernel for BoundsOf<'_> {
    type Output = Aabb;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Aabb {
        simd.bounds(self.0)
    }
}

/// A tree as a walk sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub ids: &'a [[u32; WIDTH]],
    levels: [&'a [Node8]; MOST_LEVELS],
    filters: [&'a [Filter]; MOST_LEVELS],
    depth: usize,
}

/// What a walk looks for, and where.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub bounds: Aabb,
    /// Only nodes that may pair with this, if given.
    pub filter: Option<&'a Filter>,
    /// Blocks before this one are left out.
    pub first: usize,
}

/// The nodes that a search has reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reached {
    pub nodes: Vec<u32>,
    below: Vec<u32>,
}

/// What is done with the blocks that a walk finds. A trait and not a closure, because a closure is
/// not surely compiled for the instruction set of the walk.
pub(crate) trait Visit<S: Simd> {
    /// Why a walk is ended early.
    type Stop;

    /// Takes a block and its bounds. Has to be `#[inline(always)]`.
    fn visit(
        &mut self,
        simd: S,
        block: usize,
        bounds: &Aabb,
        tests: &mut u64,
    ) -> Result<(), Self::Stop>;
}

impl<'a> View<'a> {
    pub(crate) fn new(tree: &'a Tree) -> View<'a> {
        let mut view = View {
            ids: tree.ids.as_chunks::<WIDTH>().0,
            levels: [&[]; MOST_LEVELS],
            filters: [&[]; MOST_LEVELS],
            depth: tree.depth(),
        };
        for level in 0..view.depth {
            view.levels[level] = &tree.levels[level];
        }
        for (level, filters) in tree.filters.iter().enumerate().take(view.depth) {
            view.filters[level] = filters;
        }
        view
    }

    /// The boxes.
    #[inline(always)]
    pub(crate) fn blocks(&self) -> &'a [Node8] {
        self.levels[0]
    }

    /// The joined filter of a block.
    #[inline(always)]
    pub(crate) fn filter(&self, block: usize) -> &'a Filter {
        &self.filters[0][block]
    }

    /// Visits each block whose bounds overlap, in ascending order, and adds the nodes tested to
    /// `tests`.
    #[inline(always)]
    pub(crate) fn walk<S: Simd, V: Visit<S>>(
        &self,
        simd: S,
        search: &Search<'_>,
        tests: &mut u64,
        visitor: &mut V,
    ) -> Result<(), V::Stop> {
        if self.depth < 2 {
            let all = &Aabb::EVERYTHING;
            let any = self.depth == 1 && search.first == 0;
            return if any { visitor.visit(simd, 0, all, tests) } else { Ok(()) };
        }
        let mut open = [(0usize, 0u32); MOST_LEVELS];
        let mut level = self.depth - 1;
        open[level] = (0, self.open(simd, level, 0, search, tests));
        loop {
            let (node, mask) = open[level];
            if mask == 0 {
                level += 1;
                if level == self.depth {
                    return Ok(());
                }
                continue;
            }
            open[level].1 = mask & (mask - 1);
            let lane = mask.trailing_zeros() as usize;
            let child = node * WIDTH + lane;
            if level == 1 {
                visitor.visit(simd, child, &self.levels[1][node].get(lane), tests)?;
            } else {
                level -= 1;
                open[level] = (child, self.open(simd, level, child, search, tests));
            }
        }
    }

    /// Lists the nodes of level 1 that a search has to open, level by level: the loops have no
    /// branch that depends on a test, which a walk in depth has at every node.
    #[inline(always)]
    pub(crate) fn reach<S: Simd>(
        &self,
        simd: S,
        search: &Search<'_>,
        tests: &mut u64,
        reached: &mut Reached,
    ) {
        let Reached { nodes, below } = reached;
        nodes.clear();
        nodes.push(0);
        for level in (2..self.depth).rev() {
            let mut open = Places::within(below, nodes.len());
            for &node in nodes.iter() {
                let mask = self.open(simd, level, node as usize, search, tests);
                open.push(simd, mask, node * WIDTH as u32);
            }
            drop(open);
            std::mem::swap(nodes, below);
        }
    }

    /// Lists the blocks below the reached nodes that a search has to open.
    #[inline(always)]
    pub(crate) fn blocks_below<S: Simd>(
        &self,
        simd: S,
        search: &Search<'_>,
        reached: &[u32],
        tests: &mut u64,
        blocks: &mut Vec<u32>,
    ) {
        if self.depth == 1 {
            blocks.clear();
            blocks.push(0);
            return;
        }
        let mut open = Places::within(blocks, reached.len());
        for &node in reached {
            let mask = self.open(simd, 1, node as usize, search, tests);
            open.push(simd, mask, node * WIDTH as u32);
        }
    }

    /// The bounds of a block; a tree of one block has none above it.
    #[inline(always)]
    pub(crate) fn bounds(&self, block: usize) -> Aabb {
        match self.levels[1].get(block / WIDTH) {
            Some(node) => node.get(block % WIDTH),
            None => Aabb::EVERYTHING,
        }
    }

    /// The joined filters of the blocks of a node of level 1.
    #[inline(always)]
    pub(crate) fn block_filters(&self, node: usize) -> &'a [Filter] {
        &self.filters[0][node * WIDTH..]
    }

    /// The bounds of all blocks, eight to a node; none if there is one block.
    #[inline(always)]
    pub(crate) fn nodes(&self) -> &'a [Node8] {
        self.levels[1]
    }

    /// The bounds of the blocks of a node of level 1.
    #[inline(always)]
    pub(crate) fn parent(&self, node: usize) -> &'a Node8 {
        &self.levels[1][node]
    }

    /// The bounds of a node of level 1, as those above hold them; without any above they are not
    /// known.
    #[inline(always)]
    pub(crate) fn family_bounds(&self, node: usize) -> Aabb {
        match self.levels[2].get(node / WIDTH) {
            Some(above) => above.get(node % WIDTH),
            None => Aabb::EVERYTHING,
        }
    }

    /// The bounds of a node of level 1 and its joined filter, if there are filters.
    #[inline(always)]
    pub(crate) fn family<S: Simd>(&self, simd: S, node: usize) -> (Aabb, Option<&'a Filter>) {
        (simd.bounds(&self.levels[1][node]), self.filters[1].get(node))
    }

    /// The joined filter of a node of level 1.
    #[inline(always)]
    pub(crate) fn family_filter(&self, node: usize) -> &'a Filter {
        &self.filters[1][node]
    }

    /// Number of levels.
    #[inline(always)]
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The children of a node that a search has to open.
    #[inline(always)]
    fn open<S: Simd>(
        &self,
        simd: S,
        level: usize,
        node: usize,
        search: &Search<'_>,
        tests: &mut u64,
    ) -> u32 {
        *tests += 1;
        let mut mask = simd.overlapping(&self.levels[level][node], &search.bounds);
        if let Some(filter) = search.filter {
            mask &= self.admitted(level, node, filter, mask);
        }
        // Children on the path to the first block begin with it; nodes before the path are out.
        let first = search.first >> (3 * (level - 1));
        match node.cmp(&(first / WIDTH)) {
            Ordering::Less => 0,
            Ordering::Equal => mask & (u32::MAX << (first % WIDTH)),
            Ordering::Greater => mask,
        }
    }

    /// Those children of a mask whose joined filter allows a pair.
    #[inline(always)]
    pub(crate) fn admitted(&self, level: usize, node: usize, filter: &Filter, mask: u32) -> u32 {
        let mut rest = mask;
        let mut admitted = 0;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let child = &self.filters[level - 1][node * WIDTH + lane];
            admitted |= u32::from(child.allows(filter)) << lane;
        }
        admitted
    }
}
