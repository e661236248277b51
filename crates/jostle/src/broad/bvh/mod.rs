//! `bvh`: bounding volume trees.

use crate::boxes::{Boxes, Follower, Stamp};
use crate::broad::queries::BoxQueries;
use crate::broad::{BroadPhase, Report};
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

mod changed_pairs;
mod forest;
mod order;
mod queries;
mod self_pairs;
mod tree;

#[cfg(test)]
mod query_tests;
#[cfg(test)]
mod tests;

use changed_pairs::Ended;
use forest::Forest;
use tree::Tree;

/// See the [module](self).
#[derive(Debug)]
pub struct Bvh {
    workers: Workers,
    follower: Follower,
    forest: Forest,
    ended: Vec<Ended>,
    /// Number of overlapping pairs.
    pairs: usize,
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
            ended: Vec::new(),
            pairs: 0,
            tests: 0,
            clock: StageClock::default(),
        }
    }

    fn find_all(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.forest.read_all(boxes);
        self.clock.end("build");
        let filters = boxes.has_filters().then_some(boxes.filters());
        self.tests = self_pairs::find(&self.forest.moving, filters, &self.workers, found)?;
        found.check_limit()?;
        self.pairs = found.len();
        self.clock.end("pairs");
        Ok(Report::Full)
    }

    fn find_changes(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.forest.follow(boxes);
        self.clock.end("fit");
        let movers = self.forest.movers(boxes);
        let (still, workers) = (&self.forest.still, &self.workers);
        self.tests = changed_pairs::find(movers, still, workers, &mut self.ended, found)?;
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
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.tests = 0;
        let report = if !self.follower.begin(boxes) {
            self.find_all(boxes, found)?
        } else if boxes.changes().is_empty() {
            Report::Delta
        } else {
            self.find_changes(boxes, found)?
        };
        self.follower.done(boxes);
        Ok(report)
    }

    fn stats(&self) -> Stats {
        let trees = self.forest.trees();
        let nodes: usize = trees.clone().flat_map(|tree| &tree.levels).map(Vec::len).sum();
        let depth = trees.clone().map(Tree::depth).max().unwrap_or(0);
        let counts = vec![
            ("nodes", nodes as f64),
            ("depth", depth as f64),
            ("cost", trees.clone().map(Tree::cost).sum()),
            ("trees", trees.count() as f64),
            ("builds", self.forest.builds as f64),
            ("moved", self.forest.changed_boxes() as f64),
        ];
        Stats {
            tests: self.tests * 8,
            bytes: self.forest.bytes(),
            counts,
            stages: self.clock.stages().to_vec(),
            ..Stats::default()
        }
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        Some(&self.forest)
    }

    fn validate(&self, boxes: &Boxes) {
        self.forest.validate(boxes);
    }
}

/// The trees alone, without pairs: what [`Detector`](crate::Detector) keeps for queries beside a
/// broad phase that has none, or before a step.
#[derive(Debug)]
pub(crate) struct QueryTree {
    forest: Forest,
    /// The state of the boxes that the trees know, pending changes included.
    at: Option<Stamp>,
}

impl QueryTree {
    pub fn new(workers: &Workers) -> QueryTree {
        QueryTree { forest: Forest::new(workers), at: None }
    }

    /// True where the trees have seen this step's boxes and may follow the changes since.
    pub fn is_at(&self, boxes: &Boxes) -> bool {
        self.at == Some(boxes.stamp())
    }

    /// Takes in the boxes with their pending changes: only what changed, if the trees were made
    /// in the same step or carried over from the last by [`QueryTree::step`].
    pub fn update(&mut self, boxes: &Boxes) {
        if !self.is_at(boxes) {
            self.forest.read_all(boxes);
        } else if !boxes.changes().is_empty() || self.forest.has_unsettled() {
            self.forest.follow(boxes);
            self.forest.finish(boxes);
        }
        self.at = Some(boxes.stamp());
    }

    /// Says that a commit led to these boxes from those of the last update.
    pub fn step(&mut self, boxes: &Boxes) {
        self.at = Some(boxes.stamp());
    }

    pub fn queries(&self) -> &dyn BoxQueries {
        &self.forest
    }
}
