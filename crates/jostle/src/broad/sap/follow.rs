//! [`SapFollow`]: follows the changes of a step in the lists, and knows what that costs.

use crate::boxes::Boxes;
use crate::broad::persistent::{
    ClassifiedChanges, CostModel, FollowResult, FollowStep, PersistentLists, PreviousBounds, Sort,
};
use crate::pair::PairBuffer;
use crate::stats::Stats;

use super::batch::Batch;
use super::lists::EndpointLists;

/// The local sort is chosen if fewer than one box in this many moved. With 300 to 30 000 boxes the
/// two are equal at about 7 %.
const LOCAL_SHARE: usize = 14;

/// What a box that is inserted or removed costs in addition to its tests: its endpoints are sorted.
const CHANGE_WORK: f64 = 40.0;

/// The lists, and what is needed to follow changes in them.
#[derive(Clone, Debug, Default)]
pub(super) struct SapFollow {
    sort: Sort,
    lists: EndpointLists,
    batch: Batch,
    changes: ClassifiedChanges,
    /// Boxes that leap, ascending.
    leapers: Vec<u32>,
    model: CostModel,
    /// A box that passes more endpoints than this leaps.
    far: usize,
    /// The last sort was local.
    local: bool,
}

impl SapFollow {
    pub(super) fn new(sort: Sort) -> SapFollow {
        SapFollow { sort, ..SapFollow::default() }
    }

    /// Finds the boxes that leap so far that removing and inserting them costs less.
    fn find_leapers(&mut self, boxes: &Boxes, previous: &PreviousBounds) {
        let SapFollow { lists, model, far, leapers, .. } = self;
        leapers.clear();
        let mut swaps = 0;
        for slot in boxes.changes().moved().iter().map(|id| id.get()) {
            let (then, now) = (&previous.aabbs()[slot as usize], &boxes.aabbs()[slot as usize]);
            if model.passed(then, now) > *far as f32 {
                let passed = lists.passed(slot, then, now);
                if passed > *far {
                    leapers.push(slot);
                    swaps += passed;
                }
            }
        }
        // A pass over the lists costs about two swaps for each endpoint; and if many leap, a
        // rebuild costs less.
        if swaps < 12 * boxes.len() || leapers.len() > boxes.len() / 8 {
            leapers.clear();
        }
        leapers.sort_unstable();
    }

    /// Classifies the changes. Returns true if the batch has something to do.
    fn classify(&mut self, boxes: &Boxes, previous: &mut PreviousBounds) -> bool {
        self.find_leapers(boxes, previous);
        let leapers = &self.leapers;
        let leaps = |slot| !leapers.is_empty() && leapers.binary_search(&slot).is_ok();
        self.changes.classify(boxes, previous, leaps);
        let batch = self.changes.churn() > 0;
        if batch {
            self.batch.prepare(previous.aabbs(), boxes.aabbs(), self.changes.lists());
            previous.hide(&self.changes.reinserted);
        }
        batch
    }
}

impl PersistentLists for SapFollow {
    fn rebuild(&mut self, previous: &PreviousBounds, _boxes: &Boxes, order: [usize; 3]) {
        self.lists.rebuild(previous.aabbs(), previous.slots());
        let (endpoints, depth) = (self.lists.axis(0).len(), self.lists.mean_depth(order[0]));
        // A box that is removed and inserted is tested against those at its place, twice.
        self.far = (endpoints / 16).max(4 * depth) + 64;
        self.model = CostModel {
            change: CHANGE_WORK + depth as f64,
            // Each swap comes with a test.
            passed: 2.0,
            density: std::array::from_fn(|axis| self.lists.density(axis)),
            most_passed: [2.0 * endpoints as f32; 3],
            ..CostModel::default()
        };
    }

    fn cost_model(&self) -> CostModel {
        self.model
    }

    fn follow(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        let batch = self.classify(step.boxes, step.previous);
        let SapFollow { lists, changes, .. } = self;
        let moved = &changes.moved;
        self.local = !batch && self.sort.is_local(moved.len(), step.boxes.len(), LOCAL_SHARE);
        let result = step.sort(found, |judge, sink| match (batch, self.local) {
            (true, _) => lists.sort_batch(&mut self.batch, judge, sink),
            (false, true) => lists.sort_local(moved, judge, sink),
            (false, false) => lists.sort_global(judge, sink),
        });
        step.clock.end("sort");
        result
    }

    fn stats(&self) -> Stats {
        let bytes = self.lists.bytes()
            + self.batch.bytes()
            + self.changes.bytes()
            + self.leapers.capacity() * 4;
        let counts = vec![
            ("local_sort", f64::from(u8::from(self.local))),
            ("replaced", self.changes.reinserted.len() as f64),
        ];
        Stats { bytes, counts, ..Stats::default() }
    }

    fn validate(&self, boxes: &Boxes) {
        self.lists.validate(boxes.aabbs(), boxes.live_slots().map(|id| id.get()));
    }
}
