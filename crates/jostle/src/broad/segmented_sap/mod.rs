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
//! - [`list`]: one axis: chunks, directory, checkpoint sets, splitting and merging. [`sorting`]: its
//!   local and global sort.
//! - [`lists`]: three axes and whole boxes.
//!
//! **Cost.** A box that comes or goes costs O(log n), the shifting of six chunks, and a test of
//! each candidate. Boxes that moved cost O(log n) and their swaps, as in
//! [`sap`](crate::broad::sap). Nothing moved costs nothing. Memory: about 65 bytes a box for the
//! chunks, as much as 64 and usually 10 for checkpoint sets, 24 each for hints and past bounds; 60 for
//! finding all pairs and sorting anew, given back after some steps that were followed.
//!
//! **Choose it** for up to some thousand boxes of which few move and some come and go; and inside
//! the cells of a grid. With one box coming and one going among 3 000 it is 24 times as fast as
//! `sap` where nothing moves, 3.2 times where 5 % move, 1.6 times at 20 % and equal from 50 % on; with
//! ten of each, 2.1 times at 5 %. Not where most boxes move, and not for large crowded worlds: the
//! swaps are those of `sap`.
//!
//! **What made it fast.** A moved end costs one missed branch (how far it goes) and little else: the
//! ends of a block of boxes are dealt by the way they go, found by a hint of where they were put the
//! last time and a count in a window of eight, and those they pass are tested by a pair of vectors
//! without a look at their kind. Before that 5 % moving took 1.7 times as long. Shifting and testing
//! in one loop, and bisecting for every end, lost.
//!
//! **Departures.**
//! 1. No set of pairs is kept: [`past`](crate::broad::past) decides from bounds before and now.
//! 2. No box keeps references to its ends or their chunks that would have to be right: a swap writes
//!    8 bytes, and a swap across chunks the checkpoint set besides. Hints may be wrong; then an end
//!    is found by bisection.
//! 3. The paper's set R, of boxes whose upper end crossed a border before the lower one, is always
//!    empty here, hence left out: of the two ends of a box the one that gives way is sorted first,
//!    and a global sort meets lower ends first. A box is never inside out ([`list`]).
//! 4. Checkpoint sets belong to a chunk's beginning, not its end: a search reads forward only.
//! 5. Chunks on the axis with checkpoints grow with the number of boxes that are open at once.
//!    With chunks of 64 the sets of a million evenly spread boxes would take 460 bytes a box.
//! 6. A box that leaps across much of the world, or whose filter changed, is taken out and put in.
//! 7. Where a step promises to be dearer than finding all pairs anew, that is done instead
//!    ([`persistent`](crate::broad::persistent)).

pub mod list;
pub mod lists;
pub mod sorting;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::persistent::{Changed, Kept, Persistent, Step, driven, way};
use crate::broad::sap::Sort;
use crate::pair::PairBuffer;
use crate::par::Workers;

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
const CHANGE_WORK: u64 = 60;

/// See the [module](self).
pub struct SegmentedSap {
    driver: Persistent<Ends>,
}

driven!(SegmentedSap);

impl SegmentedSap {
    /// A new instance; it uses one thread, except for finding all pairs anew.
    pub fn new(workers: &Workers) -> SegmentedSap {
        SegmentedSap::with_options(workers, SegmentedOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: SegmentedOptions) -> SegmentedSap {
        let ends = Ends { options, ..Ends::default() };
        SegmentedSap { driver: Persistent::new(workers, ends, options.may_rebuild) }
    }
}

/// The lists, and what is needed to follow changes in them.
#[derive(Default)]
struct Ends {
    options: SegmentedOptions,
    lists: SegmentedLists,
    leaps: Leaps,
    changed: Changed,
    scratch: Vec<Endpoint>,
    /// Whether the last sort was local.
    local: bool,
}

impl Ends {
    fn apply(&mut self, step: &Step<'_>, sink: &mut EventSink<'_>) -> Result<(), Stop> {
        let (judge, past) = (step.past.judge(step.boxes, step.order), step.past.aabbs());
        let Changed { dropped, fresh, moved, .. } = &self.changed;
        for &slot in dropped {
            self.lists.remove(slot, &past[slot as usize], &judge, sink)?;
        }
        self.local = match self.options.sort {
            Sort::Local => true,
            Sort::Global => false,
            Sort::Auto => moved.len() * LOCAL_SHARE < step.boxes.len(),
        };
        if self.local {
            self.lists.sort_local(past, moved, &judge, sink)?;
        } else {
            self.lists.sort_global(&judge, sink)?;
        }
        fresh.iter().try_for_each(|&slot| self.lists.insert(slot, &judge, sink))
    }
}

impl Kept for Ends {
    fn rebuild(&mut self, past: &Past, _boxes: &Boxes, order: [usize; 3]) {
        let past = past.aabbs();
        let there = |slot: &u32| !past[*slot as usize].min[0].is_nan();
        let slots = (0..past.len() as u32).filter(there);
        self.lists.rebuild(past, slots, order[0], self.options.chunk, &mut self.scratch);
        self.leaps = Leaps::new(&self.lists);
    }

    fn outgrown(&self, _boxes: &Boxes) -> bool {
        self.options.chunk.is_none() && self.lists.wants_larger_chunks()
    }

    fn change_work(&self) -> f64 {
        // Candidates are met in memory that no other step has warmed.
        CHANGE_WORK as f64 + 2.0 * self.leaps.candidates as f64
    }

    fn move_work(&self, then: &Aabb, now: &Aabb) -> f64 {
        if self.leaps.far(then, now) {
            return 2.0 * self.change_work();
        }
        // Each swap comes with a test.
        2.0 * f64::from(self.leaps.swaps(then, now))
    }

    fn follow(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        self.leaps = Leaps::new(&self.lists);
        let (leaps, then, now) = (self.leaps, step.past.aabbs(), step.boxes.aabbs());
        let far = |slot: u32| leaps.far(&then[slot as usize], &now[slot as usize]);
        self.changed.deal(step.boxes, step.past, far);
        step.work.beside = (self.changed.exchanged() as f64 * self.change_work()) as u64;
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(found.lane(), &mut ended);
        sink.budget = step.budget.saturating_sub(step.work.beside);
        let result = self.apply(step, &mut sink);
        (step.work.tests, step.work.swaps) = (sink.tests, sink.swaps);
        *found.ended_mut() = ended;
        step.clock.end("sort");
        result
    }

    fn release(&mut self) {
        self.scratch = Vec::new();
    }

    fn bytes(&self) -> usize {
        self.lists.bytes() + self.changed.bytes() + self.scratch.capacity() * size_of::<Endpoint>()
    }

    fn counts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("local_sort", f64::from(u8::from(self.local))),
            ("chunks", self.lists.chunks() as f64),
            ("checkpoints", self.lists.open_total() as f64),
        ]
    }

    fn validate(&self, boxes: &Boxes) {
        self.lists.validate(boxes.aabbs(), boxes.ids().map(|id| id.get()));
    }
}

/// Guesses which moves take more swaps than taking the box out and putting it in.
#[derive(Clone, Copy, Debug, Default)]
struct Leaps {
    /// Length per endpoint on each axis.
    spacing: [f32; 3],
    /// A move with more swaps than this on an axis leaps.
    many: f32,
    /// Boxes that are tested when one comes or goes.
    candidates: usize,
}

impl Leaps {
    /// Measures how dense the lists are.
    fn new(lists: &SegmentedLists) -> Leaps {
        // Only the axis with checkpoints has open boxes.
        let open = |axis: usize| lists.axis(axis).open_total() / lists.axis(axis).chunks().max(1);
        let open = (0..3).map(open).max().unwrap_or(0);
        // A swap and a candidate cost about the same; taking out and putting in meet both twice.
        let many = (4 * open + 2 * CHANGE_WORK as usize + 2 * lists::CHUNK) as f32;
        let spacing = std::array::from_fn(|axis| spacing(lists.axis(axis)));
        // A chunk is as long as boxes are open; half of it are lower ends, half of those before.
        let candidates = (open + open / 2 + lists::CHUNK / 2).min(lists.boxes());
        Leaps { spacing, many, candidates }
    }

    /// True for a move that is better made by taking the box out and putting it in.
    #[inline]
    fn far(&self, then: &Aabb, now: &Aabb) -> bool {
        (0..3).any(|axis| way(then, now, axis) > self.many * self.spacing[axis])
    }

    /// How many swaps a move takes, about, if the others stay and it is not far.
    fn swaps(&self, then: &Aabb, now: &Aabb) -> f32 {
        // Where nothing moves nothing is swapped, although an axis without spread has no spacing.
        let ways = (0..3).map(|axis| (way(then, now, axis), self.spacing[axis]));
        ways.filter(|(way, _)| *way > 0.0).map(|(way, each)| (way / each).min(self.many)).sum()
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
