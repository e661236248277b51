//! `sap`: persistent sweep and prune. Three sorted lists of endpoints are kept between steps;
//! sorting them again by insertion shows which pairs changed.
//!
//! Sources: Baraff, *Dynamic Simulation of Non-Penetrating Rigid Bodies* (1992); G. Campbell,
//! *Broadphase Collision Detection on the Cell Processor* (2010), §4.1; batch insertion and
//! removal, local and global sort: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune
//! Methods with AABB Insertion and Removal* (2009), §3.2.1.
//!
//! ```text
//! on each axis: give the ends of the boxes that moved their new values and sort by insertion
//!     a lower end passes to before an upper one: the two boxes may begin to overlap
//!     a lower end passes to behind an upper one: they may cease to overlap
//! ```
//!
//! - [`lists`]: the endpoints, **global sort** (a pass over everything) and **local sort** (the
//!   ends of the moved boxes alone).
//! - [`batch`]: boxes that come and go, in the same pass as the global sort.
//!
//! **Cost.** A step costs O(n + s) with the global and O(m log n + s) with the local sort, for m
//! moved boxes and s swaps; nothing moved costs nothing. In a world of constant density s grows
//! as m·n^(2/3): ends that are far apart in space are neighbours on an axis. Memory: 48 bytes a
//! box for the lists, 24 for the past bounds, up to 40 for a batch and for building anew.
//!
//! **Choose it** for up to some thousand boxes of which few move or all move little. Not for large
//! crowded worlds in which much moves: distant boxes pollute the lists; there the grids and trees
//! are better.
//!
//! **Departures.**
//! 1. No set of pairs is kept. Bounds before and now decide whether a pair that is met began or
//!    ended, and on which of its exchanges this is said ([`past`](crate::broad::past)); transient
//!    overlaps within a step never show.
//! 2. Overlap in all dimensions is decided by comparing boxes, not by a flag per axis and pair:
//!    the flags need an entry for every pair that overlaps on any one axis.
//! 3. Endpoints are words that hold value, kind and id ([`endpoint`](crate::broad::endpoint)).
//!    No box keeps references to its endpoints: the local sort finds them by bisection, and a swap
//!    writes 8 bytes to one place.
//! 4. A box whose filter changed, or that leaps across much of the world, is taken out and put in
//!    again by the batch.
//! 5. Where a step promises to be dearer than finding all pairs anew, that is done instead, and
//!    the lists are left unsorted until they are wanted again. A step that turns out dearer than
//!    expected is given up when it has cost as much.

pub mod batch;
pub mod lists;
pub(crate) mod passing;

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::effort::Effort;
use crate::broad::endpoint::Endpoint;
use crate::broad::finder::Finder;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::sort_sweep::widest_axis;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::{BoxId, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use batch::Batch;
use lists::Lists;

/// How the lists are sorted when boxes moved and none came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Local when few boxes moved, global when many did.
    #[default]
    Auto,
    /// Always the moved boxes alone.
    Local,
    /// Always a pass over everything.
    Global,
}

/// How [`Sap`] works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SapOptions {
    /// Which sort.
    pub sort: Sort,
    /// Whether finding all pairs anew may replace a step that is dearer. Without it the swaps
    /// that the papers count are always made.
    pub may_rebuild: bool,
}

impl Default for SapOptions {
    fn default() -> SapOptions {
        SapOptions { sort: Sort::Auto, may_rebuild: true }
    }
}

/// The local sort is taken where less than one box in so many moved. With 300 to 30 000 boxes the
/// two are equal at about 7 %.
const LOCAL_SHARE: usize = 14;

/// See the [module](self).
pub struct Sap {
    options: SapOptions,
    follower: Follower,
    past: Past,
    lists: Lists,
    /// Whether the lists are sorted by the past bounds; otherwise they are to be made.
    listed: bool,
    batch: Batch,
    /// Finds all pairs where that is cheaper.
    finder: Finder,
    /// The axes by spread, the widest first.
    order: [usize; 3],
    /// Boxes taken out and boxes put in, and the moved ones that are neither.
    dropped: Vec<u32>,
    fresh: Vec<u32>,
    moved: Vec<u32>,
    /// Boxes that are taken out and put in again; among them those that leap.
    replaced: Vec<u32>,
    leapers: Vec<u32>,
    /// How many boxes lie over a point of the first axis, in the mean, when the lists were made.
    crowd: usize,
    /// Number of pairs.
    pairs: usize,
    effort: Effort,
    counts: Counts,
    clock: StageClock,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: u64,
    swaps: u64,
    rebuilt: bool,
    local: bool,
    abandoned: bool,
}

impl Sap {
    /// A new instance; it uses one thread.
    pub fn new(workers: &Workers) -> Sap {
        Sap::with_options(workers, SapOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: SapOptions) -> Sap {
        Sap {
            options,
            follower: Follower::default(),
            past: Past::default(),
            lists: Lists::default(),
            listed: false,
            batch: Batch::default(),
            finder: Finder::new(workers),
            order: [0, 1, 2],
            dropped: Vec::new(),
            fresh: Vec::new(),
            moved: Vec::new(),
            replaced: Vec::new(),
            leapers: Vec::new(),
            crowd: 0,
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
        if self.listed {
            return;
        }
        self.order = axes_by_spread(boxes);
        let past = self.past.aabbs();
        let there = |slot: &u32| !past[*slot as usize].min[0].is_nan();
        self.lists.rebuild(past, (0..past.len() as u32).filter(there));
        self.listed = true;
        self.crowd = self.lists.mean_depth(self.order[0]);
        self.clock.end("sort lists");
    }

    /// Follows the changes.
    fn follow(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        self.make_lists(boxes);
        self.past.grow(boxes);
        let batch = self.sort_out(boxes);
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(found.lane(), &mut ended);
        if self.options.may_rebuild {
            sink.budget = self.effort.budget(boxes.len());
        }
        let judge = self.past.judge(boxes, self.order);
        let few = self.moved.len() * LOCAL_SHARE < boxes.len();
        let result = if batch {
            self.lists.sort_batch(&mut self.batch, &judge, &mut sink)
        } else if self.options.sort == Sort::Local || self.options.sort == Sort::Auto && few {
            self.counts.local = true;
            self.lists.sort_local(self.past.aabbs(), &self.moved, &judge, &mut sink)
        } else {
            self.lists.sort_global(&judge, &mut sink)
        };
        (self.counts.tests, self.counts.swaps) = (sink.tests, sink.swaps);
        *found.ended_mut() = ended;
        self.clock.end("sort");
        result
    }

    /// Deals the changes: boxes to drop, boxes to insert, boxes to move. True where the batch
    /// has something to do.
    fn sort_out(&mut self, boxes: &Boxes) -> bool {
        let changes = boxes.changes();
        let slots = |ids: &[BoxId], list: &mut Vec<u32>| {
            list.clear();
            list.extend(ids.iter().map(|id| id.get()));
        };
        slots(changes.removed(), &mut self.dropped);
        slots(changes.inserted(), &mut self.fresh);
        slots(changes.moved(), &mut self.moved);
        self.find_replaced(boxes);
        self.dropped.extend_from_slice(&self.replaced);
        self.fresh.extend_from_slice(&self.replaced);
        self.dropped.sort_unstable();
        self.fresh.sort_unstable();
        let batch = !self.dropped.is_empty() || !self.fresh.is_empty();
        if batch {
            let past = self.past.aabbs();
            self.batch.prepare(past, &self.dropped, boxes.aabbs(), &self.fresh);
            self.past.hide(&self.replaced);
        }
        batch
    }

    /// Takes boxes with another filter, and those that leap far, from the moved ones.
    fn find_replaced(&mut self, boxes: &Boxes) {
        let leaps = Leaps::new(&self.lists, self.crowd);
        let (past, lists, leapers) = (&self.past, &self.lists, &mut self.leapers);
        leapers.clear();
        let mut swaps = 0;
        for &slot in &self.moved {
            let (then, now) = (&past.aabbs()[slot as usize], &boxes.aabbs()[slot as usize]);
            if leaps.suspect(then, now) {
                let way = lists.way(slot, then, now);
                if way > leaps.many {
                    leapers.push(slot);
                    swaps += way;
                }
            }
        }
        // A pass over everything costs about two swaps for each endpoint; and where many leap,
        // all pairs are found anew sooner.
        if swaps < 12 * boxes.len() || leapers.len() > boxes.len() / 8 {
            leapers.clear();
        }
        leapers.sort_unstable();
        self.replaced.clear();
        let replaced = &mut self.replaced;
        self.moved.retain(|&slot| {
            let leaps = !leapers.is_empty() && leapers.binary_search(&slot).is_ok();
            let out = leaps || past.refiltered(boxes, slot);
            if out {
                replaced.push(slot);
            }
            !out
        });
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
        let result = self.follow(boxes, found);
        let work = self.counts.tests + self.counts.swaps;
        match result {
            Ok(()) => {
                self.effort.followed(work, changes);
                self.past.follow(boxes);
                self.pairs = self.pairs + found.len() - found.ended().len();
                Ok(Report::Delta)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Budget) => {
                self.effort.abandoned(work, changes);
                self.counts.abandoned = true;
                found.clear();
                self.build(boxes, found)
            }
        }
    }
}

impl BroadPhase for Sap {
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
        let lists = [&self.dropped, &self.fresh, &self.moved, &self.replaced, &self.leapers];
        let bytes = self.past.bytes()
            + self.lists.bytes()
            + self.batch.bytes()
            + self.finder.bytes()
            + lists.iter().map(|list| list.capacity() * 4).sum::<usize>();
        let flag = |set: bool| f64::from(u8::from(set));
        Stats {
            tests: self.counts.tests,
            swaps: self.counts.swaps,
            bytes,
            counts: vec![
                ("local_sort", flag(self.counts.local)),
                ("rebuilt", flag(self.counts.rebuilt)),
                ("abandoned", flag(self.counts.abandoned)),
                ("replaced", self.replaced.len() as f64),
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

/// The widest axis first.
pub(crate) fn axes_by_spread(boxes: &Boxes) -> [usize; 3] {
    let widest = widest_axis(boxes);
    [widest, (widest + 1) % 3, (widest + 2) % 3]
}

/// Guesses which moves take many swaps.
struct Leaps {
    /// Endpoints per unit of length in the middle of each axis.
    density: [f32; 3],
    /// A box with more swaps than this leaps.
    many: usize,
}

impl Leaps {
    fn new(lists: &Lists, crowd: usize) -> Leaps {
        let density = |axis: usize| {
            let list = lists.axis(axis);
            // The middle three quarters: a few giant or distant boxes do not count.
            let (low, high) = (list.len() / 8, list.len() - list.len() / 8);
            if high < low + 2 {
                return 0.0;
            }
            let width = list[high - 1].value() - list[low].value();
            if width > 0.0 { (high - low) as f32 / width } else { 0.0 }
        };
        // Taking out and putting in again tests the box against a crowd, twice.
        let many = (lists.axis(0).len() / 16).max(4 * crowd) + 64;
        Leaps { density: std::array::from_fn(density), many }
    }

    /// Whether it is worth while to count the swaps.
    fn suspect(&self, then: &Aabb, now: &Aabb) -> bool {
        let swaps = |axis: usize| {
            let way =
                (now.min[axis] - then.min[axis]).abs() + (now.max[axis] - then.max[axis]).abs();
            way * self.density[axis]
        };
        // Differences of infinities are not numbers and do not count.
        (0..3).map(swaps).filter(|swaps| !swaps.is_nan()).sum::<f32>() > self.many as f32
    }
}

#[cfg(test)]
pub(crate) mod tests;
