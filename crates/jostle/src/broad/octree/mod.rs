//! `octree`: a loose octree (Ulrich, *Loose Octrees*, in *Game Programming Gems*, 2000), the tree
//! that Tracy, Buss and Woods and Loi compare with.
//!
//! Space is halved along each axis again and again. A cell's loose bounds are twice as large as
//! the cell, so a box fits into the cell of its centre at the depth at which cells are as large as
//! the box, wherever the centre lies: the depth follows from the size alone, and a box that moves a
//! little stays in its cell. Each box then asks the tree for what overlaps it; of two boxes, the
//! one with the smaller id reports the pair.
//!
//! ```text
//! insert:  from the root, while there is a child whose loose bounds hold the box: go there
//! search:  into every child whose loose bounds overlap the box, testing the boxes of each node
//! ```
//!
//! Time: a step down per depth to insert, O(1) to move within a node's loose bounds; a search
//! visits about eight nodes at each depth, loose bounds overlapping as they do. Depths end at the
//! precision of the coordinates: about 24 away from the origin, more for a cluster around it.
//! Memory: 12 bytes a box, and 96 bytes a node with at most one node for two boxes. Choose it to
//! see what the papers compared with; `bvh` and `hash-grid` were faster in every scene measured.
//! Boxes that are long in one direction and thin in another stay high in the tree, where
//! everything meets them: thousands of crossing needles take quadratic time.
//!
//! Departures from the textbook: a node is split only when it is crowded, so that sparse regions
//! do not grow chains of nodes; cells are not cut along axes without spread; each group of boxes
//! that filters make (`shared/groups.rs`) has a tree of its own, and trees that cannot pair never
//! meet; the root has no bounds, and the tree is rebuilt when too many boxes are left in it. The
//! bounds of cells that a box is compared with when it is inserted are those of the search, so
//! rounding loses nothing.

mod sketch;
mod tree;

use std::ops::Range;

use crate::boxes::{Boxes, Follower};
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::axes::worthwhile_spread;
use crate::broad::shared::groups::GroupFollower;
use crate::broad::shared::tasks::{TaskState, run_parts};
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};
use tree::{Cube, LooseTree};

/// Tasks per worker: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Octree {
    workers: Workers,
    tree: LooseTree,
    watch: GroupFollower,
    /// For each group the groups it may pair with, one bit each.
    partners: Vec<u32>,
    tasks: Vec<TaskState<()>>,
    follower: Follower,
    /// Boxes in the roots after building.
    built_unbounded: usize,
    tests: u64,
    clock: StageClock,
}

impl Octree {
    /// A new instance that searches with `workers`.
    pub fn new(workers: &Workers) -> Octree {
        Octree { workers: workers.clone(), ..Octree::default() }
    }

    fn rebuild(&mut self, boxes: &Boxes) {
        self.watch.rebuild(boxes);
        let groups = &self.watch.groups;
        let count = groups.count_of_groups();
        self.partners.clear();
        self.partners.extend(groups.partners());
        self.tree.clear(around(boxes), count, boxes);
        for id in boxes.live_slots() {
            self.tree.insert(id.get(), groups.of(id.index()), boxes.aabbs());
        }
        self.built_unbounded = self.tree.unbounded();
    }

    /// Follows the changes. Returns false if the tree has to be rebuilt.
    fn follow(&mut self, boxes: &Boxes) -> bool {
        let Some(refiltered) = self.watch.follow(boxes) else { return false };
        let (changes, aabbs) = (boxes.changes(), boxes.aabbs());
        self.tree.grow(boxes);
        for id in changes.removed() {
            self.tree.remove(id.get());
        }
        for id in changes.moved() {
            let group = self.watch.groups.of(id.index());
            if refiltered || !self.tree.still_holds(id.get(), &aabbs[id.index()]) {
                self.tree.remove(id.get());
                self.tree.insert(id.get(), group, aabbs);
            }
        }
        for id in changes.inserted() {
            self.tree.insert(id.get(), self.watch.groups.of(id.index()), aabbs);
        }
        self.tree.unbounded() <= 2 * self.built_unbounded + 16 + boxes.len() / 64
    }

    fn search(
        &self,
        boxes: &Boxes,
        part: Range<usize>,
        lane: &mut Lane,
        tests: &mut u64,
    ) -> Result<(), LimitReached> {
        let filters = self.watch.filters();
        for slot in part {
            if !self.tree.holds(slot) {
                continue;
            }
            let partners = self.partners[self.watch.groups.of(slot)];
            let mut show = |other: u32| {
                let allowed = filters.is_none_or(|list| list[slot].allows(&list[other as usize]));
                if allowed { lane.push(slot as u32, other) } else { Ok(()) }
            };
            for root in (0..self.partners.len()).filter(|root| partners >> root & 1 == 1) {
                let searched = (slot as u32, &boxes.aabbs()[slot]);
                self.tree.search(root as u32, searched, boxes.aabbs(), tests, &mut show)?;
            }
        }
        Ok(())
    }
}

/// The cube that holds most boxes, and the axes along which it is cut.
fn around(boxes: &Boxes) -> Cube {
    let spread: [(f64, f64); 3] =
        std::array::from_fn(|axis| worthwhile_spread(boxes.aabbs().iter(), axis));
    let half = spread.iter().fold(0.0, |half: f64, spread| half.max(0.5 * spread.1));
    Cube {
        centre: spread.map(|(low, spread)| low + 0.5 * spread),
        // A little more at each side, for lower corners that are no centres.
        half: half * 1.0625,
        axes: spread.map(|(_, spread)| spread > 0.0),
    }
}

impl BroadPhase for Octree {
    fn name(&self) -> &str {
        "octree"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.tests = 0;
        if !self.follower.begin(boxes) {
            self.rebuild(boxes);
        } else if boxes.changes().is_empty() {
            self.follower.done(boxes);
            return Ok(Report::Delta);
        } else if !self.tree.fits(boxes.len()) || !self.follow(boxes) {
            self.rebuild(boxes);
        }
        self.clock.end("move");
        let mut tasks = std::mem::take(&mut self.tasks);
        let search = |part, lane: &mut Lane, (): &mut (), tests: &mut u64| {
            self.search(boxes, part, lane, tests)
        };
        let (slots, workers) = (boxes.slots(), &self.workers);
        let tests = run_parts(slots, TASKS_PER_WORKER, workers, &mut tasks, found, search);
        (self.tests, self.tasks) = (tests?, tasks);
        found.check_limit()?;
        self.clock.end("search");
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let counts =
            vec![("nodes", self.tree.nodes() as f64), ("unbounded", self.tree.unbounded() as f64)];
        let bytes = self.tree.bytes() + self.watch.bytes();
        Stats { tests: self.tests, bytes, counts, stages: self.clock.stages().to_vec(), swaps: 0 }
    }

    fn sketch(&self, _boxes: &Boxes, sketch: &mut Sketch) {
        sketch::draw(&self.tree, sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        self.tree.validate(boxes);
    }
}
