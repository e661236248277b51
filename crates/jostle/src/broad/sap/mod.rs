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
//! box for the lists, 24 for the past bounds, up to 40 for a batch; and 45 for finding all pairs
//! anew, given back after some steps that were followed.
//!
//! **Choose it** for up to some thousand boxes of which few move or all move little. Not for large
//! crowded worlds in which much moves: distant boxes pollute the lists; there the grids and trees
//! are better.
//!
//! **Departures.**
//! 1. No set of pairs is kept. Bounds before and now decide whether a pair that is met began or
//!    ended, and on which of its exchanges this is said ([`past`](crate::broad::past)); transient
//!    overlaps within a step never show.
//! 2. Overlap in all dimensions is decided by comparing boxes, not by a flag per axis and pair. The
//!    flags need an entry for every pair that overlaps on any one axis, 216 a box among 3 000; and
//!    to find and turn one took 27 to 41 nanoseconds where comparing took three.
//! 3. Endpoints are words that hold value, kind and id ([`endpoint`](crate::broad::endpoint)).
//!    No box keeps references to its endpoints: the local sort finds them by bisection, and a swap
//!    writes 8 bytes to one place.
//! 4. A box whose filter changed, or that leaps across much of the world, is taken out and put in
//!    again by the batch.
//! 5. Where a step promises to be dearer than finding all pairs anew, that is done instead
//!    ([`persistent`](crate::broad::persistent)).

pub mod batch;
pub mod lists;
pub(crate) mod passing;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::persistent::{Changed, Kept, Persistent, Step, driven, way};
use crate::pair::PairBuffer;
use crate::par::Workers;

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

/// What a box that comes or goes costs beside the boxes it is tested against: its ends are sorted.
const CHANGE_WORK: f64 = 40.0;

/// See the [module](self).
pub struct Sap {
    driver: Persistent<Ends>,
}

driven!(Sap);

impl Sap {
    /// A new instance; it uses one thread, except for finding all pairs anew.
    pub fn new(workers: &Workers) -> Sap {
        Sap::with_options(workers, SapOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: SapOptions) -> Sap {
        let ends = Ends { sort: options.sort, ..Ends::default() };
        Sap { driver: Persistent::new(workers, ends, options.may_rebuild) }
    }
}

/// The lists, and what is needed to follow changes in them.
#[derive(Default)]
struct Ends {
    sort: Sort,
    lists: Lists,
    batch: Batch,
    changed: Changed,
    /// Boxes that leap, ascending.
    leapers: Vec<u32>,
    leaps: Leaps,
    /// Whether the last sort was local.
    local: bool,
}

impl Ends {
    /// Finds the boxes that leap so far that taking them out and putting them in is cheaper.
    fn find_leapers(&mut self, boxes: &Boxes, past: &Past) {
        let Ends { lists, leaps, leapers, .. } = self;
        leapers.clear();
        let mut swaps = 0;
        for slot in boxes.changes().moved().iter().map(|id| id.get()) {
            let (then, now) = (&past.aabbs()[slot as usize], &boxes.aabbs()[slot as usize]);
            if leaps.swaps(then, now) > leaps.many as f32 {
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
    }

    /// Deals the changes; true where the batch has something to do.
    fn deal(&mut self, boxes: &Boxes, past: &mut Past) -> bool {
        self.find_leapers(boxes, past);
        let leapers = &self.leapers;
        let leaps = |slot| !leapers.is_empty() && leapers.binary_search(&slot).is_ok();
        self.changed.deal(boxes, past, leaps);
        let Changed { dropped, fresh, replaced, .. } = &self.changed;
        let batch = self.changed.exchanged() > 0;
        if batch {
            self.batch.prepare(past.aabbs(), dropped, boxes.aabbs(), fresh);
            past.hide(replaced);
        }
        batch
    }
}

impl Kept for Ends {
    fn rebuild(&mut self, past: &Past, _boxes: &Boxes, order: [usize; 3]) {
        let past = past.aabbs();
        let there = |slot: &u32| !past[*slot as usize].min[0].is_nan();
        self.lists.rebuild(past, (0..past.len() as u32).filter(there));
        self.leaps = Leaps::new(&self.lists, order[0]);
    }

    fn change_work(&self) -> f64 {
        CHANGE_WORK + self.leaps.crowd as f64
    }

    fn move_work(&self, then: &Aabb, now: &Aabb) -> f64 {
        // Each swap comes with a test.
        2.0 * f64::from(self.leaps.swaps(then, now))
    }

    fn follow(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let batch = self.deal(step.boxes, step.past);
        let moved = &self.changed.moved;
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(found.lane(), &mut ended);
        sink.budget = step.budget;
        let judge = step.past.judge(step.boxes, step.order);
        let few = moved.len() * LOCAL_SHARE < step.boxes.len();
        self.local = !batch && (self.sort == Sort::Local || self.sort == Sort::Auto && few);
        let result = if batch {
            self.lists.sort_batch(&mut self.batch, &judge, &mut sink)
        } else if self.local {
            self.lists.sort_local(step.past.aabbs(), moved, &judge, &mut sink)
        } else {
            self.lists.sort_global(&judge, &mut sink)
        };
        (step.work.tests, step.work.swaps) = (sink.tests, sink.swaps);
        *found.ended_mut() = ended;
        step.clock.end("sort");
        result
    }

    fn bytes(&self) -> usize {
        self.lists.bytes() + self.batch.bytes() + self.changed.bytes() + self.leapers.capacity() * 4
    }

    fn counts(&self) -> Vec<(&'static str, f64)> {
        let local = f64::from(u8::from(self.local));
        vec![("local_sort", local), ("replaced", self.changed.replaced.len() as f64)]
    }

    fn validate(&self, boxes: &Boxes) {
        self.lists.validate(boxes.aabbs(), boxes.ids().map(|id| id.get()));
    }
}

/// Guesses which moves take many swaps.
#[derive(Clone, Copy, Debug, Default)]
struct Leaps {
    /// Endpoints per unit of length in the middle of each axis.
    density: [f32; 3],
    /// Endpoints of a list.
    ends: usize,
    /// How many boxes lie over a point of the first axis, in the mean.
    crowd: usize,
    /// A box with more swaps than this leaps.
    many: usize,
}

impl Leaps {
    /// Looks at lists that were just made.
    fn new(lists: &Lists, first: usize) -> Leaps {
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
        let (ends, crowd) = (lists.axis(0).len(), lists.mean_depth(first));
        // Taking out and putting in again tests the box against a crowd, twice.
        let many = (ends / 16).max(4 * crowd) + 64;
        Leaps { density: std::array::from_fn(density), ends, crowd, many }
    }

    /// How many swaps a move takes, about, if the others stay.
    #[inline]
    fn swaps(&self, then: &Aabb, now: &Aabb) -> f32 {
        let most = 2.0 * self.ends as f32;
        // An infinite way of no density is no number; the minimum is then the other one.
        (0..3).map(|axis| (way(then, now, axis) * self.density[axis]).min(most)).sum()
    }
}

#[cfg(test)]
pub(crate) mod tests;
