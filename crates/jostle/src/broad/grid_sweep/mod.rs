//! `grid-sweep`: a two-dimensional grid across the sweep axis, and a sweep in each column
//! (Loi, *Fast GPU-based Collision Detection*, 2010, §6.1; the grid after Le Grand, *Broad-Phase
//! Collision Detection with CUDA*, 2007, the sweep after Liu, Harada, Lee and Kim, *Real-time
//! Collision Culling of a Million Bodies on Graphics Processing Units*, 2010). Every update starts
//! from scratch and does not rely on boxes moving little. Only boxes that are still by their filter
//! stay in order from one update to the next (`rest.rs`).
//!
//! ```text
//! plan        from a sample: the sweep axis, and columns a few boxes wide across it
//! distribute  for each share of the boxes: count the columns each box touches, prefix sum, fill
//! sweep       for each column: order its boxes along the axis, test each against those behind it
//!             that begin before it ends
//! ```
//!
//! A box that straddles a border goes to each column it touches. A pair belongs to the column that
//! holds the larger of the two lower corners, on either axis: in any later column both boxes have
//! begun before, which each entry records as a mark, and boxes with a common mark do not pair. That
//! is decided on cell numbers, and the map from coordinates to cells never decreases, so every pair
//! is found once whatever the rounding.
//!
//! Time O(n + tests) for boxes that spread evenly: about seven tests a box at density 0.05 and
//! seventeen at 0.35; with still boxes, in those that are not still. If nothing changed: constant.
//! Memory 45 to 60 bytes a box, up to 95 with still boxes. Boxes that crowd in few columns or are
//! longer than the world take more, but never more than four entries of 32 bytes a box at each of
//! four divisions: the columns are made wider when the entries run out.
//!
//! Choose it when most boxes move, or when those that do not are known to be still; from a few
//! hundred boxes on, whatever their sizes. Not when a few of many boxes move that may all pair:
//! then an algorithm is better that keeps its structure and reports changes only.
//!
//! # Departures from the paper
//!
//! 1. The axis is the one with the least estimated cost, from the spread and the extents of a
//!    sample (`plan.rs`), instead of the one with the largest variance: the same if all axes are
//!    alike, and right for plates and needles too. The number of columns comes from the same
//!    estimate, not from the number of boxes alone.
//! 2. Columns are not put one behind the other on the axis and sorted together; each is ordered
//!    on its own while it is in the cache, and by one counting pass instead of a sort (`order.rs`).
//! 3. There is no bound on the pairs of a box.
//! 4. Large boxes are entries in every column they touch; there the sweep meets mostly boxes that
//!    they overlap. Columns in which the boxes crowd are divided again (`strip.rs`).
//! 5. Filters: the boxes of a column are ordered by group (`shared/groups.rs`), and only groups
//!    that can pair are swept against each other. Without filters none of this is done.
//!
//! # What was tried
//!
//! Time for a million evenly spread boxes at density 0.05 against the present form, one thread;
//! above 1 is slower. The 1.9, 1.3, 1.12 and 3.1 compare builds in separate runs and are rough.
//!
//! - Counting and filling the up to four columns of a box without branches, but straight into the
//!   counters: 1.9. The four counters coincide at random, and the processor mispredicts which loads
//!   depend on earlier stores. Tickets (`share.rs`) need no such prediction.
//! - Shares of twice the size, which do not fit the second cache: 1.05 to 1.2. With these, turning
//!   the boxes to sweep order while filling and writing to memory that had not been read before:
//!   1.3.
//! - Ordering a column straight from the shares, without copying it together first: 1.12.
//! - Eight lanes instead of sixteen: 1.0, and 1.09 at density 0.35. One lane: 2.1 and 3.9.
//! - Columns with 1.5 times or two thirds of the area, buckets of a whole or a quarter box: 1.0 to
//!   1.03. The optimum is flat.
//! - Ordering still boxes again in each update, a tenth moving: 3.1 for the whole update.

mod order;
mod plan;
mod rest;
mod runs;
mod share;
mod sketch;
mod strip;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::groups::Groups;
use crate::broad::shared::tasks::{TaskState, run_tasks};
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::id::Slot;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;
use crate::simd::Level;
use crate::stats::{StageClock, Stats};

use plan::{ColumnPlan, Survey};
use rest::Rest;
use share::{Overfull, Share, Ticket};
use strip::{Frame, Strip};

/// Boxes in one share: their entries fit the second cache.
const SHARE: usize = 16 * 1024;

/// Tasks for each worker in the sweep, so that idle ones find something to do.
const TASKS: usize = 4;

/// A box in a column.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct ColumnEntry {
    aabb: Aabb,
    id: u32,
    /// Bit 0: the box begins before this row of columns; bit 1: before this column of its row.
    /// Of two boxes that both do, the pair belongs to an earlier column.
    marks: u32,
}

/// The most columns for a number of boxes.
fn most_columns(boxes: usize) -> f64 {
    boxes as f64 / 4.0
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct GridSweep {
    workers: Workers,
    level: Level,
    follower: Follower,
    survey: Survey,
    plan: ColumnPlan,
    groups: Groups,
    rest: Rest,
    /// The slots to distribute, unless these are all.
    listed: Vec<u32>,
    shares: Vec<Share>,
    /// The tickets of the share that each worker distributes.
    tickets: Vec<Vec<Ticket>>,
    strips: Vec<TaskState<Strip>>,
    /// The columns of each task of the sweep.
    cuts: Vec<usize>,
    clock: StageClock,
}

impl GridSweep {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> GridSweep {
        GridSweep {
            workers: workers.clone(),
            level: Level::current(),
            follower: Follower::default(),
            survey: Survey::default(),
            plan: ColumnPlan::single(0),
            groups: Groups::default(),
            rest: Rest::default(),
            listed: Vec::new(),
            shares: Vec::new(),
            tickets: Vec::new(),
            strips: Vec::new(),
            cuts: Vec::new(),
            clock: StageClock::default(),
        }
    }

    /// Makes a plan and distributes all boxes, or those in the list, to its columns; if they turn
    /// out too narrow, to wider ones.
    fn distribute(&mut self, boxes: &Boxes, listed: bool) {
        let aabbs = boxes.aabbs();
        self.survey.look(aabbs.len(), |slot| aabbs[slot]);
        let mut most = most_columns(boxes.len());
        loop {
            self.plan = self.survey.plan(boxes.len(), most);
            if self.distribute_shares(aabbs, listed).is_ok() {
                return;
            }
            most = self.plan.columns() as f64 / 4.0;
        }
    }

    /// Distributes only the boxes that are not still, and before that orders the still ones if they
    /// are not. Returns false if it cannot be done with one plan.
    fn distribute_movers(&mut self, boxes: &Boxes) -> bool {
        if self.rest.columns().is_none() {
            self.rest.list_still(boxes, &mut self.listed);
            self.distribute(boxes, true);
            self.rest.build(&self.workers, &self.plan, &self.groups, &self.shares);
        }
        self.rest.list_movers(boxes, &mut self.listed);
        self.distribute_shares(boxes.aabbs(), true).is_ok()
    }

    fn distribute_shares(&mut self, aabbs: &[Aabb], listed: bool) -> Result<(), Overfull> {
        if !listed {
            return self.distribute_each(aabbs, aabbs.len(), |number| number as u32);
        }
        let list = std::mem::take(&mut self.listed);
        let distributed = self.distribute_each(aabbs, list.len(), |number| list[number]);
        self.listed = list;
        distributed
    }

    /// Distributes `count` boxes, given by their slots, share by share.
    fn distribute_each(
        &mut self,
        aabbs: &[Aabb],
        count: usize,
        slot: impl Fn(usize) -> u32 + Sync,
    ) -> Result<(), Overfull> {
        let plan = &self.plan;
        let shares = count.div_ceil(SHARE).max(1);
        self.shares.resize_with(shares, Share::default);
        // Several runs for each worker, so that one that is held up leaves the rest to the others.
        let runs = if self.workers.count() == 1 { 1 } else { self.workers.count() * TASKS };
        let each = shares.div_ceil(runs);
        self.tickets.resize_with(shares.div_ceil(each), Vec::new);
        let full = AtomicBool::new(false);
        let tickets = &mut self.tickets[..];
        self.workers.for_each_run(&mut self.shares, each, tickets, |number, share, tickets| {
            let first = number * SHARE;
            let get = |place: usize| {
                let id = slot(first + place);
                let aabb = aabbs[id as usize];
                (aabb.min[0] <= aabb.max[0]).then_some(ColumnEntry { aabb, id, marks: 0 })
            };
            if share.distribute(plan, SHARE.min(count - first), get, tickets).is_err() {
                full.store(true, Ordering::Relaxed);
            }
        });
        if full.into_inner() { Err(Overfull) } else { Ok(()) }
    }

    /// Cuts the columns into tasks with about as many entries each.
    fn cut(&mut self) {
        let tasks = if self.workers.count() == 1 { 1 } else { self.workers.count() * TASKS };
        let columns = self.plan.columns();
        let before = |column: usize| -> usize {
            self.shares.iter().map(|share| share.len_before(column)).sum()
        };
        let total = before(columns);
        // The first column with its share of the entries before it. Each look sums over all shares.
        let cut = |task: usize| {
            let (mut low, mut high) = (0, columns);
            while low < high {
                let middle = low.midpoint(high);
                if before(middle) < total * task / tasks { low = middle + 1 } else { high = middle }
            }
            low
        };
        self.cuts.clear();
        self.cuts.resize(tasks + 1, columns);
        self.cuts[0] = 0;
        self.workers.for_each_chunk(&mut self.cuts[1..tasks], TASKS, |run, cuts| {
            cuts.iter_mut().zip(1 + run * TASKS..).for_each(|(place, task)| *place = cut(task));
        });
    }

    fn sweep(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), LimitReached> {
        let frame = Frame {
            plan: &self.plan,
            shares: &self.shares,
            rest: self.rest.columns(),
            groups: &self.groups,
            filters: boxes.has_filters().then(|| boxes.filters()),
            level: self.level,
        };
        let cuts = &self.cuts;
        let sweep = |task: usize, lane: &mut Lane, strip: &mut Strip, tests: &mut u64| {
            strip.tests = 0;
            let mut columns = cuts[task]..cuts[task + 1];
            let result = columns.try_for_each(|column| strip.sweep(&frame, column, lane));
            *tests = strip.tests;
            result
        };
        run_tasks(cuts.len() - 1, &self.workers, &mut self.strips, found, sweep)?;
        found.check_limit()
    }
}

impl BroadPhase for GridSweep {
    fn name(&self) -> &str {
        "grid-sweep"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let continues = self.follower.begin(boxes);
        if continues && boxes.changes().is_empty() {
            self.strips.iter_mut().for_each(|strip| strip.tests = 0);
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        self.groups.follow(boxes, continues);
        if !(self.rest.follow(boxes, continues) && self.distribute_movers(boxes)) {
            self.rest.drop_columns();
            self.distribute(boxes, false);
        }
        self.clock.end("distribute");
        self.cut();
        self.sweep(boxes, found)?;
        self.clock.end("sweep");
        self.rest.note_tests(self.tests(), boxes.len());
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn sketch(&self, boxes: &Boxes, sketch: &mut Sketch) {
        sketch::draw(&self.plan, boxes, sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        let (columns, in_row) = (self.plan.columns(), self.plan.columns_in_row());
        let mut homes = vec![0u32; boxes.slots()];
        let mut check = |column: usize, entry: &ColumnEntry| {
            let span = self.plan.span_of(&entry.aabb);
            assert!(span.touches(column, in_row), "box {} is in a wrong column", entry.id);
            assert_eq!(entry.marks, span.marks(column, in_row), "marks of box {}", entry.id);
            assert!(boxes.aabbs()[entry.id as usize].same(&entry.aabb), "box {}", entry.id);
            homes[entry.id as usize] += u32::from(entry.marks == 0);
        };
        for share in &self.shares {
            share.entries(columns).for_each(|(column, entry)| check(column, entry));
        }
        for (column, rest) in self.rest.columns().into_iter().flatten().enumerate() {
            let mut entries = Vec::new();
            rest.read(self.plan.axis, &mut entries);
            entries.iter().for_each(|entry| check(column, entry));
        }
        let once = |(slot, &count): (usize, &u32)| {
            count == u32::from(boxes.is_live(Slot::new(slot as u32)))
        };
        assert!(homes.iter().enumerate().all(once), "every box has one home column");
    }

    fn tests(&self) -> u64 {
        self.strips.iter().map(|strip| strip.tests).sum()
    }

    fn stats(&self) -> Stats {
        let sum = |of: fn(&Share) -> usize| self.shares.iter().map(of).sum::<usize>();
        let tickets = self.tickets.iter().map(Vec::capacity).sum::<usize>() * size_of::<Ticket>();
        let strips = self.strips.iter().map(|task| task.scratch.bytes()).sum::<usize>();
        Stats {
            tests: self.tests(),
            bytes: sum(Share::bytes)
                + tickets
                + strips
                + self.groups.bytes()
                + self.rest.bytes()
                + self.listed.capacity() * size_of::<u32>(),
            counts: vec![
                ("cells", self.plan.columns() as f64),
                ("entries", sum(Share::len) as f64),
                ("giants", sum(Share::wide) as f64),
                ("still", self.rest.len() as f64),
            ],
            stages: self.clock.stages().to_vec(),
            ..Stats::default()
        }
    }
}
