//! `bvh`: bounding volume trees, what today's engines use, and the queries on them.
//!
//! # Idea
//!
//! Boxes are in complete trees with eight children to a node (`tree.rs`): an order of the boxes,
//! cut into eights, and those into eights again. Building is finding the order (`order.rs`): along
//! a Morton curve, then by median cuts in chunks of 512. One box is tested against the eight of
//! a node at once. What moves is in one tree, what rests in a few others (`forest.rs`), so a step
//! costs what moved. If almost everything moves, the tree is refitted and searched as a whole
//! (`self_pairs.rs`), eight blocks at a time (`family.rs`): each keeps the bits of its overlaps,
//! and those that differ from the step before are what began and ended (`rows.rs`). If little
//! moves, the boxes before and after the step are compared side by side and tell the same
//! (`changed_pairs.rs`), without a list of pairs.
//!
//! # Papers
//!
//! Goldsmith and Salmon, *Automatic Creation of Object Hierarchies for Ray Tracing*, 1987 (the
//! cost of a tree); Lauterbach and others, *Fast BVH Construction on GPUs*, 2009 (the curve);
//! Kamel and Faloutsos, *On Packing R-trees*, 1993 (trees from an order); Wald and others,
//! *Getting Rid of Packets*, 2008 (wide nodes); Bentley and Saxe, *Decomposable Searching
//! Problems*, 1980 (still trees of growing size).
//!
//! # Cost
//!
//! Building O(n log n), about the time of five refitted steps; a step O(m log n + k) for m boxes
//! that changed and k pairs whose bounds' blocks meet; O(1) if nothing changed. Memory 28 bytes a
//! box in the trees, 24 more for each mover if little moves, 5 to find it, and about 20 of scratch
//! that building leaves; 18 more with filters; if all move, 20 for the next order and about 20 for
//! the bits of two steps at density 0.35. Depth is at most 11 for any input, because the trees are
//! complete.
//!
//! # When to choose it
//!
//! When some boxes rest and others move; when sizes differ much; when queries are asked; when
//! nothing is known. If all boxes teleport in every step it has to rebuild each time, and a sweep
//! on a grid is faster.
//!
//! # Departures
//!
//! 1. No rotations, no insertion into a tree: motion wears a tree out, and when waiting any longer
//!    would cost more tests a step than a new order does, spread over the steps of its life, the
//!    next one is made over some steps next to the present one (`forest/reorder.rs`), so that no
//!    step takes the time of a rebuild. If boxes go straight on, it is made for where they will be
//!    in the middle of its life (`forest/aim.rs`). In the step that takes the new order, all pairs
//!    are reported. Counting tests rather than time keeps runs equal. Insertion one by one gives
//!    the same trees as one batch.
//! 2. No margins around boxes. They save refitting in engines that query box by box; here a refit
//!    is a pass over arrays and takes a quarter of a step.
//! 3. Filters are joined upwards: a node knows what the boxes below it can pair with, and the order
//!    keeps kinds of filters apart, so crowds that cannot pair are skipped as a whole.
//!
//! # What lost
//!
//! A depth-first walk with the same tests, 2.0 to 2.2 times as slow as lists per level
//! (mispredicted branches); the Morton order without median cuts, 1.6 times the tests, cuts in
//! chunks of 64 only, 1.2 times; separate trees by size in steps of a factor of 8, 1.4 times as
//! slow over three decades of sizes; changes from boxes before and after the step when everything
//! moves, 1.05 to 1.25 times as slow as writing all pairs, and 0.98 to 1.2 with the tracker; an
//! order made over nine steps and begun at three times the wear, during which the tests of crowds
//! in quick motion (uniform, density 0.35) doubled; orders for where the boxes are rather than will
//! be (1.12 times the tests and 1.13 times a whole step there, 1.07 and 1.05 over three decades of
//! sizes); sorting what comes to rest when a tree has just
//! been built of it, or reading it once more: now that tree stays, with gaps where the movers were;
//! lists for each block of eight rather than for a node of 64 (1.15 to 1.5 times a search, for
//! loops that end too soon to be predicted); AVX-512 with masks in registers of their own and
//! broadcasts from memory (1.0 to 1.06 times, perhaps because a test has twelve loads anyway);
//! lists that may grow within the loops that fill them (1.2 times a search: registers go to memory
//! around a call that may happen, see `simd/places.rs`); tests that look their block up in a list
//! and write their hits by its place (1.07 to 1.1 times a search, see `Place` in `family.rs`);
//! AVX-512 tests with three permuted registers in place of six broadcasts, which have half the
//! instructions and take as long; tests kept for some steps, listed for boxes a little larger (of
//! the whole step 2 to 10 % less at 0.02 widths of motion, a quarter less at 0.005, nothing at 0.1,
//! but the step that lists takes 1.4 times as long as another, so worst steps grew); a second,
//! silent search in the step that takes a new order, so that the next one can report changes: as
//! long as the tracker's sort of all pairs, and in the longest step of all; closures around
//! intrinsics, 5 times as slow, because they are not compiled for the instruction set around them.
//!
//! Figures of tests that are kept and of orders are those of a program that only steps, on
//! `uniform` with 100 000 boxes at density 0.35, and on `sizes`.
//!
//! Rows against writing all pairs and comparing the reports, 100 000 boxes that all move, means of
//! 48 frames of the whole step: uniform at density 0.35 5.8 ms where it was 6.1, `sizes`, which has
//! few pairs, 3.0 where it was 2.8; the longest step is half as long or less on all scenes.
//! (`jostle-bench rivals`, one thread.)

use crate::boxes::{Boxes, Follower, Stamp};
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::tasks::TaskState;
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::queries::{BoxQueries, QuerySource};
use crate::stats::{StageClock, Stats};

mod changed_pairs;
mod family;
mod forest;
pub(super) mod order;
mod queries;
mod rows;
pub(super) mod self_pairs;
pub(super) mod tree;

#[cfg(test)]
mod history_tests;
#[cfg(test)]
mod query_tests;
mod sketch;
#[cfg(test)]
mod tests;

/// For how many steps all pairs are reported after one in which more than half of them changed:
/// sorting the events would cost more than sorting the pairs.
const RESTLESS: u32 = 8;

/// After how many steps without use the rows' memory is given back.
const IDLE: u32 = 16;

use forest::Forest;
use self_pairs::Scratch;
use tree::Tree;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Bvh {
    workers: Workers,
    follower: Follower,
    forest: Forest,
    tasks: Vec<TaskState<Scratch>>,
    /// Number of overlapping pairs.
    pairs: usize,
    /// The layout of the movers whose overlaps the tasks hold as rows.
    rows_of: Option<u64>,
    /// For how many steps all pairs are reported, because most of them change.
    restless: u32,
    /// How many steps in a row made no use of the rows.
    idle: u32,
    tests: u64,
    clock: StageClock,
}

impl Bvh {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> Bvh {
        Bvh {
            workers: workers.clone(),
            follower: Follower::default(),
            forest: Forest::new(workers),
            tasks: Vec::new(),
            pairs: 0,
            rows_of: None,
            restless: 0,
            idle: 0,
            tests: 0,
            clock: StageClock::default(),
        }
    }

    /// The slots of all boxes so that neighbours in space are neighbours in the list, with gaps of
    /// [`NONE`](order::NONE) in it; its length is a multiple of eight.
    pub(super) fn list_order(&self, list: &mut Vec<u32>) {
        list.clear();
        self.forest.trees().for_each(|tree| list.extend_from_slice(&tree.ids));
    }

    /// Searches the whole tree of movers, which holds all boxes. Reports what changed if the last
    /// step was searched in the same layout, else all pairs.
    fn find_all(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let filters = boxes.has_filters().then_some(boxes.filters());
        let layout = Some(self.forest.layout);
        let continues = self.rows_of == layout && self.restless == 0;
        let (tree, tasks) = (&self.forest.moving, &mut self.tasks);
        self.rows_of = None;
        self.tests = self_pairs::find(tree, filters, continues, &self.workers, tasks, found)?;
        let ended = found.ended().len();
        self.pairs = if continues { self.pairs + found.len() - ended } else { found.len() };
        if self.pairs > found.limit() {
            return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
        }
        self.rows_of = layout;
        self.idle = 0;
        self.restless = match continues && (found.len() + ended) * 2 > self.pairs {
            true => RESTLESS,
            false => self.restless.saturating_sub(1),
        };
        self.clock.end("pairs");
        self.forest.note_tests(self.tests);
        self.forest.advance_order(boxes);
        self.clock.end("order");
        Ok(if continues { Report::Delta } else { Report::Full })
    }

    fn find_changes(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.idle = self.idle.saturating_add(1);
        if self.idle == IDLE {
            self.tasks.iter_mut().for_each(|task| task.scratch.rows.release());
        }
        self.forest.follow(boxes);
        self.clock.end("fit");
        let movers = self.forest.movers(boxes);
        let (still, workers) = (&self.forest.still, &self.workers);
        self.tests = changed_pairs::find(movers, still, workers, &mut self.tasks, found)?;
        self.clock.end("pairs");
        self.forest.note_tests(self.tests);
        self.forest.finish(boxes);
        self.clock.end("rest");
        self.pairs = self.pairs + found.len() - found.ended().len();
        if self.pairs > found.limit() {
            return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
        }
        Ok(Report::Delta)
    }
}

impl BroadPhase for Bvh {
    fn name(&self) -> &str {
        "bvh"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.tests = 0;
        let report = if !self.follower.begin(boxes) {
            self.forest.read_all(boxes);
            self.clock.end("build");
            self.find_all(boxes, found)?
        } else if boxes.changes().is_empty() {
            Report::Delta
        } else if self.forest.all_move(boxes) {
            self.forest.follow_all(boxes);
            self.clock.end("fit");
            self.find_all(boxes, found)?
        } else {
            self.find_changes(boxes, found)?
        };
        self.follower.done(boxes);
        Ok(report)
    }

    fn tests(&self) -> u64 {
        // Each looks at the eight boxes of a node.
        self.tests * 8
    }

    fn stats(&self) -> Stats {
        let trees = self.forest.trees();
        let nodes: usize = trees.clone().flat_map(|tree| &tree.levels).map(Vec::len).sum();
        let depth = trees.clone().map(Tree::depth).max().unwrap_or(0);
        let rows: usize = self.tasks.iter().map(|task| task.scratch.rows.bytes()).sum();
        let counts = vec![
            ("nodes", nodes as f64),
            ("depth", depth as f64),
            ("cost", trees.clone().map(Tree::cost).sum()),
            ("trees", trees.count() as f64),
            ("builds", self.forest.builds as f64),
            ("orders", self.forest.orders as f64),
            ("orders_ahead", self.forest.orders_ahead as f64),
            ("moved", self.forest.changed_boxes() as f64),
        ];
        Stats {
            tests: self.tests(),
            bytes: self.forest.bytes() + rows,
            counts,
            stages: self.clock.stages().to_vec(),
            ..Stats::default()
        }
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        Some(&self.forest)
    }

    fn sketch(&self, _boxes: &Boxes, sketch: &mut Sketch) {
        sketch::draw(&self.forest, sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        self.forest.validate(boxes);
    }
}

/// The trees alone, without pairs: what [`Detector`](crate::Detector) keeps for queries if its
/// broad phase cannot answer them, or before a step.
#[derive(Clone, Debug)]
pub(crate) struct QueryTree {
    forest: Forest,
    /// The state of the boxes that the trees know, pending changes included.
    at: Option<Stamp>,
}

impl QueryTree {
    pub(crate) fn new(workers: &Workers) -> QueryTree {
        QueryTree { forest: Forest::new(workers), at: None }
    }

    /// Returns true if the trees have seen this step's boxes and may follow the changes since.
    pub(crate) fn is_at(&self, boxes: &Boxes) -> bool {
        self.at == Some(boxes.stamp())
    }

    /// Follows the boxes with their pending changes: only what changed, if the trees were built in
    /// the same step or carried over from the last by [`QueryTree::step`].
    pub(crate) fn update(&mut self, boxes: &Boxes) {
        if !self.is_at(boxes) {
            self.forest.read_all(boxes);
        } else if !boxes.changes().is_empty() || self.forest.has_unsettled() {
            self.forest.follow(boxes);
            self.forest.finish(boxes);
        }
        self.at = Some(boxes.stamp());
    }

    /// Says that a commit led to these boxes from those of the last update.
    pub(crate) fn step(&mut self, boxes: &Boxes) {
        self.at = Some(boxes.stamp());
    }
}

impl QuerySource for QueryTree {
    fn queries(&self) -> &dyn BoxQueries {
        &self.forest
    }
}
