//! `segmented-sap`: persistent sweep and prune whose lists are cut into chunks, so that boxes can
//! come and go without a pass over everything.
//!
//! Source: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune Methods with AABB
//! Insertion and Removal* (2009), §3.2.2.
//!
//! ```text
//! for each box that goes: take its ends out of their chunks; it ended with the candidates around it
//! sort the ends of the boxes that moved by insertion, across chunks; exchanges drive the events
//! for each box that comes: it meets the candidates around it; put its ends into their chunks
//!     candidates: the boxes open where the chunk of its lower end begins (the checkpoint set),
//!     and those that begin from there to its upper end, on the axis with checkpoints
//! ```
//!
//! - [`list`]: one axis: chunks, directory, checkpoint sets, splitting and merging, sorting.
//! - [`lists`]: three axes and whole boxes.
//!
//! **Cost.** A box that comes or goes costs O(log n), the shifting of six chunks, and a test of
//! each candidate. Boxes that moved cost O(log n) and their swaps, as in
//! [`sap`](crate::broad::sap). Nothing moved costs nothing. Memory: about 65 bytes a box for the
//! chunks, as much as 64 and usually 10 for checkpoint sets, 24 for the past bounds, 50 for
//! building anew.
//!
//! **Choose it** for up to some thousand boxes of which few move and some come and go; and inside
//! the cells of a grid. With one box coming and one going among 3 000 it is 20 times as fast as
//! `sap` where nothing moves, twice where 5 % move, equal at 20 %, and slower from there. Not where most boxes move, and not for large crowded worlds: the swaps
//! are those of `sap`.
//!
//! **Departures.**
//! 1. No set of pairs is kept: [`past`](crate::broad::past) decides from bounds before and now.
//! 2. No box keeps references to its ends or their chunks; they are found by bisection. A swap
//!    writes 8 bytes, and a swap across chunks the checkpoint set besides.
//! 3. The paper's set R, of boxes whose upper end crossed a border before the lower one, is always
//!    empty here, hence left out: of the two ends of a box the one that gives way is sorted first,
//!    and a global sort meets lower ends first. A box is never inside out ([`list`]).
//! 4. Checkpoint sets belong to a chunk's beginning, not its end: a search reads forward only.
//! 5. Chunks on the axis with checkpoints grow with the number of boxes that are open at once.
//!    With chunks of 64 the sets of a million evenly spread boxes would take 460 bytes a box.
//! 6. A box that leaps across much of the world, or whose filter changed, is taken out and put in.
//! 7. Where a step promises to be dearer than finding all pairs anew, that is done instead, and
//!    a step that turns out so is given up when it has cost as much.

pub mod list;
pub mod lists;

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::effort::Effort;
use crate::broad::endpoint::Endpoint;
use crate::broad::finder::Finder;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::sap::{Sort, axes_by_spread};
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::{BoxId, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use list::SegmentedList;
use lists::SegmentedLists;

/// How [`SegmentedSap`] works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentedOptions {
    /// Which sort for the boxes that moved.
    pub sort: Sort,
    /// Endpoints of a chunk; none for the default, which grows with the boxes open at once.
    pub chunk: Option<usize>,
    /// Whether finding all pairs anew may replace a step that is dearer. Without it the swaps
    /// that the paper counts are always made.
    pub may_rebuild: bool,
}

impl Default for SegmentedOptions {
    fn default() -> SegmentedOptions {
        SegmentedOptions { sort: Sort::Auto, chunk: None, may_rebuild: true }
    }
}

/// The local sort is taken where less than one box in so many moved. With 3 000 boxes the two are
/// equal at 30 %, with 300 and with 30 000 at 11 %; the local sort is 2.7 times as fast at 5 %, the
/// global one twice as fast at 100 %.
const LOCAL_SHARE: usize = 4;

/// What taking out or putting in a box costs beside its tests, in swaps.
pub(crate) const CHANGE_WORK: u64 = 60;

/// See the [module](self).
pub struct SegmentedSap {
    options: SegmentedOptions,
    follower: Follower,
    past: Past,
    lists: SegmentedLists,
    /// Whether the lists are sorted by the past bounds; otherwise they are to be made.
    listed: bool,
    /// Finds all pairs where that is cheaper.
    finder: Finder,
    /// The axes by spread, the widest first.
    order: [usize; 3],
    changed: Changed,
    scratch: Vec<Endpoint>,
    /// Number of pairs.
    pairs: usize,
    effort: Effort,
    counts: Counts,
    clock: StageClock,
}

/// The changes of a step, dealt.
#[derive(Debug, Default)]
struct Changed {
    /// Boxes to take out, boxes to put in, and those that moved and are neither.
    dropped: Vec<u32>,
    fresh: Vec<u32>,
    moved: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: u64,
    swaps: u64,
    local: bool,
    rebuilt: bool,
    abandoned: bool,
}

impl SegmentedSap {
    /// A new instance; it uses one thread.
    pub fn new(workers: &Workers) -> SegmentedSap {
        SegmentedSap::with_options(workers, SegmentedOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: SegmentedOptions) -> SegmentedSap {
        SegmentedSap {
            options,
            follower: Follower::default(),
            past: Past::default(),
            lists: SegmentedLists::default(),
            listed: false,
            finder: Finder::new(workers),
            order: [0, 1, 2],
            changed: Changed::default(),
            scratch: Vec::new(),
            pairs: 0,
            effort: Effort::default(),
            counts: Counts::default(),
            clock: StageClock::default(),
        }
    }

    /// Finds all pairs from scratch.
    fn build(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.finder.find(boxes, found)?;
        let tests = self.finder.tests();
        self.counts.tests += tests;
        self.counts.rebuilt = true;
        self.effort.built(tests, boxes.len());
        self.pairs = found.len();
        self.past.rebuild(boxes);
        self.listed = false;
        self.clock.end("build");
        Ok(Report::Full)
    }

    /// Sorts the lists by the past bounds, if they are not.
    fn make_lists(&mut self, boxes: &Boxes) {
        if self.listed && !(self.options.chunk.is_none() && self.lists.wants_larger_chunks()) {
            return;
        }
        self.order = axes_by_spread(boxes);
        let past = self.past.aabbs();
        let there = |slot: &u32| !past[*slot as usize].min[0].is_nan();
        let slots = (0..past.len() as u32).filter(there);
        self.lists.rebuild(past, slots, self.order[0], self.options.chunk, &mut self.scratch);
        self.listed = true;
        self.clock.end("sort lists");
    }

    /// Follows the changes.
    fn follow(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        self.make_lists(boxes);
        self.past.grow(boxes);
        self.deal(boxes);
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(found.lane(), &mut ended);
        if self.options.may_rebuild {
            sink.budget = self.effort.budget(boxes.len());
        }
        let result = self.apply(boxes, &mut sink);
        (self.counts.tests, self.counts.swaps) = (sink.tests, sink.swaps);
        *found.ended_mut() = ended;
        self.clock.end("sort");
        result
    }

    fn apply(&mut self, boxes: &Boxes, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        let (judge, past) = (self.past.judge(boxes, self.order), self.past.aabbs());
        let Changed { dropped, fresh, moved } = &self.changed;
        for &slot in dropped {
            self.lists.remove(slot, &past[slot as usize], &judge, sink)?;
        }
        self.counts.local = match self.options.sort {
            Sort::Local => true,
            Sort::Global => false,
            Sort::Auto => moved.len() * LOCAL_SHARE < boxes.len(),
        };
        if self.counts.local {
            self.lists.sort_local(past, moved, &judge, sink)?;
        } else {
            self.lists.sort_global(&judge, sink)?;
        }
        fresh.iter().try_for_each(|&slot| self.lists.insert(slot, &judge, sink))
    }

    /// Deals the changes: boxes to take out, boxes to put in, boxes to move. Boxes with another
    /// filter and boxes that leap are taken out and put in.
    fn deal(&mut self, boxes: &Boxes) {
        let changes = boxes.changes();
        let slots = |ids: &[BoxId], list: &mut Vec<u32>| {
            list.clear();
            list.extend(ids.iter().map(|id| id.get()));
        };
        let Changed { dropped, fresh, moved } = &mut self.changed;
        slots(changes.removed(), dropped);
        slots(changes.inserted(), fresh);
        let leaps = Leaps::new(&self.lists);
        moved.clear();
        for slot in changes.moved().iter().map(|id| id.get()) {
            let (then, now) = (&self.past.aabbs()[slot as usize], &boxes.aabbs()[slot as usize]);
            if self.past.refiltered(boxes, slot) || leaps.far(then, now) {
                dropped.push(slot);
                fresh.push(slot);
            } else {
                moved.push(slot);
            }
        }
    }

    /// Tests, swaps, and what taking out and putting in costs beside them.
    fn work(&self) -> u64 {
        let Changed { dropped, fresh, .. } = &self.changed;
        let replaced = (dropped.len() + fresh.len()) as u64 * CHANGE_WORK;
        self.counts.tests + self.counts.swaps + replaced
    }

    /// What [`BroadPhase::update`] does once the changes are known to continue.
    fn continue_with(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        if boxes.changes().is_empty() {
            return Ok(Report::Delta);
        }
        let changes = boxes.changes().len();
        if self.options.may_rebuild
            && self.effort.prefers_building(changes, boxes.len(), !self.listed)
        {
            return self.build(boxes, found);
        }
        match self.follow(boxes, found) {
            Ok(()) => {
                self.effort.followed(self.work(), changes);
                self.past.follow(boxes);
                self.pairs = self.pairs + found.len() - found.ended().len();
                Ok(Report::Delta)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Budget) => {
                self.effort.abandoned(self.work(), changes);
                self.counts.abandoned = true;
                found.clear();
                self.build(boxes, found)
            }
        }
    }
}

impl BroadPhase for SegmentedSap {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.counts = Counts::default();
        let report = if self.follower.begin(boxes) {
            self.continue_with(boxes, found)?
        } else {
            self.build(boxes, found)?;
            if boxes.slots() <= Endpoint::MAX_SLOTS {
                self.make_lists(boxes);
            }
            Report::Full
        };
        if self.pairs > found.limit() {
            return Err(LimitReached { limit: found.limit() }.into());
        }
        if boxes.slots() <= Endpoint::MAX_SLOTS {
            self.follower.done(boxes);
        }
        Ok(report)
    }

    fn stats(&self) -> Stats {
        let Changed { dropped, fresh, moved } = &self.changed;
        let bytes = self.past.bytes()
            + self.lists.bytes()
            + self.finder.bytes()
            + self.scratch.capacity() * size_of::<Endpoint>()
            + (dropped.capacity() + fresh.capacity() + moved.capacity()) * 4;
        let flag = |set: bool| f64::from(u8::from(set));
        Stats {
            tests: self.counts.tests,
            swaps: self.counts.swaps,
            bytes,
            counts: vec![
                ("local_sort", flag(self.counts.local)),
                ("rebuilt", flag(self.counts.rebuilt)),
                ("abandoned", flag(self.counts.abandoned)),
                ("chunks", self.lists.chunks() as f64),
                ("checkpoints", self.lists.open_total() as f64),
            ],
            stages: self.clock.stages().to_vec(),
        }
    }

    fn validate(&self, boxes: &Boxes) {
        let same = |(then, now): (&Aabb, &Aabb)| then.same(now) || then.min[0].is_nan();
        assert!(self.past.aabbs().iter().zip(boxes.aabbs()).all(same), "past bounds are stale");
        if self.listed {
            self.lists.validate(boxes.aabbs(), boxes.ids().map(|id| id.get()));
        }
    }
}

/// Guesses which moves take more swaps than taking the box out and putting it in.
pub(crate) struct Leaps {
    /// How far a box may move on each axis.
    reach: [f32; 3],
}

impl Leaps {
    /// Measures how dense the lists are.
    pub(crate) fn new(lists: &SegmentedLists) -> Leaps {
        let open = lists.open_total() / lists.chunks().max(1) * 3;
        // A swap and a candidate cost about the same; taking out and putting in meet both twice.
        let swaps = (4 * open + 2 * CHANGE_WORK as usize + 2 * lists::CHUNK) as f32;
        let reach = |axis: usize| swaps * spacing(lists.axis(axis));
        Leaps { reach: std::array::from_fn(reach) }
    }

    /// True for a move that is better made by taking the box out and putting it in.
    #[inline]
    pub(crate) fn far(&self, then: &Aabb, now: &Aabb) -> bool {
        (0..3).any(|axis| {
            let path =
                (now.min[axis] - then.min[axis]).abs() + (now.max[axis] - then.max[axis]).abs();
            // Differences of infinities are no number, and leap.
            path.is_nan() || path > self.reach[axis]
        })
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

#[cfg(test)]
mod tests;
