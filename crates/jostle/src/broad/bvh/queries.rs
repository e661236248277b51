//! Queries on the trees of a [`Forest`].
//!
//! Searches for everything walk depth first; searches for the best walk best first, with a heap
//! of nodes by the least that a box in them can have, and stop at the first node that is worse
//! than what is found. Equal ones are still opened, because a smaller id may lie there.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::Pair;
use crate::queries::{
    BoxQueries, Cast, Hit, Near, NearPair, Prepared, Visit, distance_squared, gap_squared,
};
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};

use super::forest::Forest;
use super::order::NONE;
use super::tree::{Search, Tree, View, Visit as VisitBlock};

/// A number by which boxes and the nodes around them are ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rank(f64);

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Forest {
    /// The trees in which a query with a filter may find something.
    fn open_trees(&self, filter: &Filter) -> impl Iterator<Item = &Tree> {
        // Without filters all boxes have the same one.
        let any = !self.filters.is_empty() || Filter::ALL.allows(filter);
        self.trees().filter(move |_| any)
    }

    fn admits(&self, id: u32, filter: &Filter) -> bool {
        self.filters.get(id as usize).is_none_or(|of| of.allows(filter))
    }

    /// Visits every box with a rank, skipping nodes without one.
    fn visit_ranked(
        &self,
        filter: &Filter,
        rank: &impl Fn(&Aabb) -> Option<f64>,
        visit: &mut dyn FnMut(u32, f64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut open = Vec::new();
        for tree in self.open_trees(filter) {
            open.push((tree.depth() - 1, 0));
            while let Some((level, node)) = open.pop() {
                for lane in 0..WIDTH {
                    let Some(value) = rank(&tree.levels[level][node].get(lane)) else { continue };
                    let child = node * WIDTH + lane;
                    if level == 0 {
                        let id = tree.ids[child];
                        if id != NONE && self.admits(id, filter) {
                            visit(id, value)?;
                        }
                    } else if tree.allows(level - 1, child, filter) {
                        open.push((level - 1, child));
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The `count` boxes of least rank, by rank and then by id.
    fn least_ranked(
        &self,
        count: usize,
        filter: &Filter,
        rank: &impl Fn(&Aabb) -> Option<f64>,
    ) -> Vec<(Rank, u32)> {
        let mut best = Best::new(count);
        let trees: Vec<&Tree> = self.open_trees(filter).collect();
        let roots = trees.iter().enumerate();
        let mut open: BinaryHeap<Reverse<(Rank, usize, usize, usize)>> = roots
            .map(|(place, tree)| Reverse((Rank(f64::NEG_INFINITY), place, tree.depth() - 1, 0)))
            .collect();
        while let Some(Reverse((least, place, level, node))) = open.pop() {
            if !best.may_take(least) {
                break;
            }
            let tree = trees[place];
            for lane in 0..WIDTH {
                let Some(value) = rank(&tree.levels[level][node].get(lane)).map(Rank) else {
                    continue;
                };
                let child = node * WIDTH + lane;
                if level == 0 {
                    if tree.ids[child] != NONE && self.admits(tree.ids[child], filter) {
                        best.take((value, tree.ids[child]));
                    }
                } else if best.may_take(value) && tree.allows(level - 1, child, filter) {
                    open.push(Reverse((value, place, level - 1, child)));
                }
            }
        }
        best.into_sorted()
    }
}

impl Tree {
    fn allows(&self, level: usize, node: usize, filter: &Filter) -> bool {
        let joined = self.filters.get(level).and_then(|level| level.get(node));
        joined.is_none_or(|joined| joined.allows(filter))
    }
}

/// The least few of what it was given.
struct Best<K: Ord> {
    count: usize,
    kept: BinaryHeap<(Rank, K)>,
}

impl<K: Ord> Best<K> {
    fn new(count: usize) -> Best<K> {
        Best { count, kept: BinaryHeap::new() }
    }

    /// Returns false if nothing of this rank or above can be among the least.
    fn may_take(&self, rank: Rank) -> bool {
        self.kept.len() < self.count || self.kept.peek().is_some_and(|worst| rank <= worst.0)
    }

    fn may_take_key(&self, key: &(Rank, K)) -> bool {
        self.kept.len() < self.count || self.kept.peek().is_some_and(|worst| key < worst)
    }

    fn take(&mut self, key: (Rank, K)) {
        if self.may_take_key(&key) {
            self.kept.push(key);
            if self.kept.len() > self.count {
                self.kept.pop();
            }
        }
    }

    fn into_sorted(self) -> Vec<(Rank, K)> {
        self.kept.into_sorted_vec()
    }
}

/// The boxes of one tree that overlap a box.
struct Overlapping<'a, 'v> {
    forest: &'a Forest,
    view: View<'a>,
    aabb: &'a Aabb,
    filter: &'a Filter,
    visit: Visit<'v, Slot>,
}

impl Kernel for Overlapping<'_, '_> {
    type Output = Result<(), ()>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<(), ()> {
        let filter = (!self.forest.filters.is_empty()).then_some(self.filter);
        let (view, search) = (self.view, Search { bounds: *self.aabb, filter, first: 0 });
        view.walk(simd, &search, &mut 0, &mut self)
    }
}

impl<S: Simd> VisitBlock<S> for Overlapping<'_, '_> {
    type Stop = ();

    #[inline(always)]
    fn visit(&mut self, simd: S, block: usize, _: &Aabb, _: &mut u64) -> Result<(), ()> {
        let mut hits = simd.overlapping(&self.view.blocks()[block], self.aabb);
        while hits != 0 {
            let id = self.view.ids[block][hits.trailing_zeros() as usize];
            hits &= hits - 1;
            let admitted = self.forest.admits(id, self.filter);
            if admitted && (self.visit)(Slot::new(id)).is_break() {
                return Err(());
            }
        }
        Ok(())
    }
}

impl BoxQueries for Forest {
    fn visit_overlapping(
        &self,
        aabb: &Aabb,
        filter: &Filter,
        visit: Visit<'_, Slot>,
    ) -> ControlFlow<()> {
        for tree in self.open_trees(filter) {
            let view = View::new(tree);
            if simd::run(Overlapping { forest: self, view, aabb, filter, visit }).is_err() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn visit_within(
        &self,
        point: [f32; 3],
        radius: f32,
        filter: &Filter,
        visit: Visit<'_, Near<Slot>>,
    ) -> ControlFlow<()> {
        let valid = radius >= 0.0 && !point.iter().any(|part| part.is_nan());
        if !valid {
            return ControlFlow::Continue(());
        }
        // The square of an f32 is exact in f64.
        let limit = f64::from(radius) * f64::from(radius);
        let rank = |aabb: &Aabb| Some(distance_squared(&point, aabb)).filter(|&d| d <= limit);
        self.visit_ranked(filter, &rank, &mut |id, distance_squared| {
            visit(Near { id: Slot::new(id), distance_squared })
        })
    }

    fn visit_hits(
        &self,
        cast: &Cast,
        filter: &Filter,
        visit: Visit<'_, Hit<Slot>>,
    ) -> ControlFlow<()> {
        let Some(cast) = Prepared::new(cast) else { return ControlFlow::Continue(()) };
        self.visit_ranked(filter, &|aabb| cast.enters(aabb), &mut |id, enter| {
            visit(Hit { id: Slot::new(id), enter })
        })
    }

    fn first_hit(&self, cast: &Cast, filter: &Filter) -> Option<Hit<Slot>> {
        let cast = Prepared::new(cast)?;
        let first = self.least_ranked(1, filter, &|aabb| cast.enters(aabb));
        first.first().map(|&(Rank(enter), id)| Hit { id: Slot::new(id), enter })
    }

    fn nearest(&self, point: [f32; 3], count: usize, filter: &Filter) -> Vec<Near<Slot>> {
        if count == 0 || point.iter().any(|part| part.is_nan()) {
            return Vec::new();
        }
        let rank = |aabb: &Aabb| Some(distance_squared(&point, aabb)).filter(|d| !d.is_nan());
        let least = self.least_ranked(count, filter, &rank);
        let near = |(Rank(distance_squared), id)| Near { id: Slot::new(id), distance_squared };
        least.into_iter().map(near).collect()
    }

    fn nearest_pairs(&self, count: usize) -> Vec<NearPair> {
        if count == 0 {
            return Vec::new();
        }
        let least = PairSearch::new(self, count).run();
        let near = |(Rank(distance_squared), key)| NearPair {
            pair: Pair::from_key(key),
            distance_squared,
        };
        least.into_iter().map(near).collect()
    }
}

/// A node of one of the trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    tree: usize,
    level: usize,
    node: usize,
}

/// Searches for the nearest pairs: pairs of nodes, best first by distance and then by the least
/// pair of ids that they can hold. Without the ids, a thousand boxes in one point would have all
/// their pairs tried.
struct PairSearch<'a> {
    forest: &'a Forest,
    trees: Vec<&'a Tree>,
    /// The least id below each node, by tree and level.
    least_ids: Vec<Vec<Vec<u32>>>,
    best: Best<u64>,
    open: BinaryHeap<Reverse<(Rank, u64, Place, Place)>>,
}

impl<'a> PairSearch<'a> {
    fn new(forest: &'a Forest, count: usize) -> PairSearch<'a> {
        let trees: Vec<&Tree> = forest.trees().collect();
        let least_ids = trees.iter().map(|tree| least_ids(tree)).collect();
        PairSearch { forest, trees, least_ids, best: Best::new(count), open: BinaryHeap::new() }
    }

    fn run(mut self) -> Vec<(Rank, u64)> {
        let roots = self.trees.iter().enumerate();
        let roots: Vec<Place> =
            roots.map(|(tree, of)| Place { tree, level: of.depth() - 1, node: 0 }).collect();
        for (place, &one) in roots.iter().enumerate() {
            roots[place..].iter().for_each(|&other| self.consider(one, other, Rank(0.0)));
        }
        while let Some(Reverse((rank, key, one, other))) = self.open.pop() {
            if !self.best.may_take_key(&(rank, key)) {
                break;
            }
            if one == other {
                self.within(one);
            } else {
                self.between(one, other);
            }
        }
        self.best.into_sorted()
    }

    fn node(&self, place: Place) -> &'a Node8 {
        &self.trees[place.tree].levels[place.level][place.node]
    }

    /// The children of a node that hold boxes: their places below, with their bounds.
    fn children(&self, place: Place) -> impl Iterator<Item = (usize, Aabb)> + Clone + 'a {
        let (node, ids) = (self.node(place), &self.trees[place.tree].ids);
        let first = place.node * WIDTH;
        let boxes = move |(child, aabb): &(usize, Aabb)| {
            aabb.min[0] <= aabb.max[0] && (place.level > 0 || ids[*child] != NONE)
        };
        (0..WIDTH).map(move |lane| (first + lane, node.get(lane))).filter(boxes)
    }

    /// The pairs among the children of one node.
    fn within(&mut self, place: Place) {
        for (first, (one, a)) in self.children(place).enumerate() {
            if place.level > 0 {
                let child = Place { level: place.level - 1, node: one, ..place };
                self.consider(child, child, Rank(0.0));
            }
            for (other, b) in self.children(place).skip(first + 1) {
                self.meet(place, (one, &a), place, (other, &b));
            }
        }
    }

    /// The pairs between the children of two nodes, or between the lower node and the children
    /// of the higher one.
    fn between(&mut self, one: Place, other: Place) {
        let (high, low) = if one.level >= other.level { (one, other) } else { (other, one) };
        if high.level > low.level {
            let whole = simd::run(super::tree::BoundsOf(self.node(low)));
            for (child, aabb) in self.children(high) {
                let below = Place { level: high.level - 1, node: child, ..high };
                self.consider(below, low, Rank(gap_squared(&aabb, &whole)));
            }
            return;
        }
        for (a, of_a) in self.children(high) {
            for (b, of_b) in self.children(low) {
                self.meet(high, (a, &of_a), low, (b, &of_b));
            }
        }
    }

    /// Two children of nodes on the same level: boxes are taken, nodes put off.
    fn meet(
        &mut self,
        one: Place,
        (a, of_a): (usize, &Aabb),
        other: Place,
        (b, of_b): (usize, &Aabb),
    ) {
        let rank = Rank(gap_squared(of_a, of_b));
        if one.level > 0 {
            let below = |place: Place, node| Place { level: place.level - 1, node, ..place };
            return self.consider(below(one, a), below(other, b), rank);
        }
        let (a, b) = (self.trees[one.tree].ids[a], self.trees[other.tree].ids[b]);
        let filters = &self.forest.filters;
        if filters.is_empty() || filters[a as usize].allows(&filters[b as usize]) {
            self.best.take((rank, Pair::from((a, b)).key()));
        }
    }

    /// Puts off a pair of nodes, unless nothing in it can be among the best.
    fn consider(&mut self, one: Place, other: Place, rank: Rank) {
        let filter = |place: Place| {
            let level = self.trees[place.tree].filters.get(place.level);
            level.and_then(|level| level.get(place.node))
        };
        if let (Some(a), Some(b)) = (filter(one), filter(other))
            && !a.allows(b)
        {
            return;
        }
        let least = |place: Place| self.least_ids[place.tree][place.level][place.node];
        let (a, b) = (least(one), least(other));
        let key = u64::from(a.min(b)) << 32 | u64::from(a.max(b));
        if self.best.may_take_key(&(rank, key)) {
            self.open.push(Reverse((rank, key, one, other)));
        }
    }
}

fn least_ids(tree: &Tree) -> Vec<Vec<u32>> {
    let least = |ids: &[u32]| ids.iter().copied().min().unwrap_or(NONE);
    let mut levels = vec![tree.ids.chunks(WIDTH).map(least).collect::<Vec<u32>>()];
    for _ in 1..tree.depth() {
        levels.push(levels[levels.len() - 1].chunks(WIDTH).map(least).collect());
    }
    levels
}
