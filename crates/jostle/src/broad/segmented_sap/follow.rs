//! [`SegmentedFollow`]: follows the changes of a step in the lists, and knows what that costs.

use crate::boxes::Boxes;
use crate::broad::persistent::{
    ClassifiedChanges, CostModel, Endpoint, FollowResult, FollowStep, PersistentLists,
    PreviousBounds,
};
use crate::pair::PairBuffer;
use crate::stats::Stats;

use super::SegmentedSapOptions;
use super::list::SegmentedList;
use super::lists::{CHUNK, SegmentedLists};

/// The local sort is chosen if fewer than one box in this many moved. With 3 000 boxes the two are
/// equal at 30 %, with 300 and with 30 000 at 11 %; the local sort is 2.7 times as fast at 5 %, the
/// global one twice as fast at 100 %.
const LOCAL_SHARE: usize = 4;

/// What removing or inserting a box costs in addition to its tests, in swaps.
const CHANGE_WORK: u64 = 60;

/// The lists, and what is needed to follow changes in them.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentedFollow {
    options: SegmentedSapOptions,
    lists: SegmentedLists,
    model: CostModel,
    changes: ClassifiedChanges,
    scratch: Vec<Endpoint>,
    /// The last sort was local.
    local: bool,
}

impl SegmentedFollow {
    pub(super) fn new(options: SegmentedSapOptions) -> SegmentedFollow {
        SegmentedFollow { options, ..SegmentedFollow::default() }
    }
}

impl PersistentLists for SegmentedFollow {
    fn rebuild(&mut self, previous: &PreviousBounds, _boxes: &Boxes, order: [usize; 3]) {
        let (aabbs, slots) = (previous.aabbs(), previous.slots());
        self.lists.rebuild(aabbs, slots, order[0], self.options.chunk, &mut self.scratch);
        self.model = cost_model(&self.lists);
    }

    fn outgrown(&self, _boxes: &Boxes) -> bool {
        self.options.chunk.is_none() && self.lists.wants_larger_chunks()
    }

    fn cost_model(&self) -> CostModel {
        self.model
    }

    fn follow(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        self.model = cost_model(&self.lists);
        let (model, then, now) = (self.model, step.previous.aabbs(), step.boxes.aabbs());
        let leaps = |slot: u32| model.leaps(&then[slot as usize], &now[slot as usize]);
        self.changes.classify(step.boxes, step.previous, leaps);
        step.work.extra = (self.changes.churn() as f64 * model.change) as u64;
        let moved = self.changes.moved.len();
        self.local = self.options.sort.is_local(moved, step.boxes.len(), LOCAL_SHARE);
        let (lists, changes, local) = (&mut self.lists, self.changes.lists(), self.local);
        let result = step.sort(found, |judge, sink| lists.follow(changes, local, judge, sink));
        step.clock.end("sort");
        result
    }

    fn release(&mut self) {
        self.scratch = Vec::new();
    }

    fn stats(&self) -> Stats {
        let scratch = self.scratch.capacity() * size_of::<Endpoint>();
        let counts = vec![
            ("local_sort", f64::from(u8::from(self.local))),
            ("chunks", self.lists.chunks() as f64),
            ("checkpoints", self.lists.open_total() as f64),
        ];
        let bytes = self.lists.bytes() + self.changes.bytes() + scratch;
        Stats { bytes, counts, ..Stats::default() }
    }

    fn validate(&self, boxes: &Boxes) {
        self.lists.validate(boxes.aabbs(), boxes.live_slots().map(|id| id.get()));
    }
}

/// Measures how dense the lists are.
fn cost_model(lists: &SegmentedLists) -> CostModel {
    // Only the axis with checkpoints has open boxes.
    let open = |axis: usize| lists.axis(axis).open_total() / lists.axis(axis).chunks().max(1);
    let open = (0..3).map(open).max().unwrap_or(0);
    // A swap and a candidate cost about the same; removing and inserting meet both twice.
    let far = (4 * open + 2 * CHANGE_WORK as usize + 2 * CHUNK) as f32;
    let spacing: [f32; 3] = std::array::from_fn(|axis| spacing(lists.axis(axis)));
    // A chunk is as long as boxes are open; half of it are lower endpoints, half of those before.
    let candidates = (open + open / 2 + CHUNK / 2).min(lists.boxes());
    CostModel {
        // Candidates are met in memory that nothing else in the step has touched.
        change: CHANGE_WORK as f64 + 2.0 * candidates as f64,
        // Each swap comes with a test.
        passed: 2.0,
        density: spacing.map(f32::recip),
        most_passed: [far; 3],
        leap: spacing.map(|each| far * each),
        ..CostModel::default()
    }
}

/// Length per endpoint in the middle three quarters of a list, so that a few giant or distant
/// boxes do not count. Infinite for a short list, in which every move is short.
fn spacing(list: &SegmentedList) -> f32 {
    let firsts = list.firsts();
    let (low, high) = (firsts.len() / 8, firsts.len() - firsts.len() / 8);
    if high < low + 3 {
        return f32::INFINITY;
    }
    let chunks = (high - 1 - low) as f32;
    let each = list.mean_chunk();
    (firsts[high - 1].value() - firsts[low].value()) / (chunks * each)
}
