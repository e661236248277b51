//! `grid-sweep`: a two-dimensional grid across the sweep axis, and a sweep in each column.

mod order;
mod plan;
mod share;
mod strip;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::groups::Groups;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::{BoxId, Lane, PairBuffer};
use crate::par::Workers;
use crate::simd::column::Level;
use crate::stats::{StageClock, Stats};

use plan::{Plan, Survey};
use share::{Overfull, Share, Ticket};
use strip::{Frame, Strip};

/// Boxes in one share: their entries fit the second cache.
const SHARE: usize = 16 * 1024;

/// Tasks for each worker in the sweep, so that idle ones find something left to do.
const TASKS: usize = 4;

/// A box in a column.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Entry {
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
#[derive(Debug)]
pub struct GridSweep {
    workers: Workers,
    level: Level,
    follower: Follower,
    survey: Survey,
    plan: Plan,
    groups: Groups,
    shares: Vec<Share>,
    /// The tickets of the share that each worker deals.
    tickets: Vec<Vec<Ticket>>,
    strips: Vec<Strip>,
    /// The columns of each task of the sweep.
    cuts: Vec<usize>,
    clock: StageClock,
}

impl GridSweep {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> GridSweep {
        GridSweep {
            workers: workers.clone(),
            level: Level::detect(),
            follower: Follower::default(),
            survey: Survey::default(),
            plan: Plan::single(0),
            groups: Groups::default(),
            shares: Vec::new(),
            tickets: Vec::new(),
            strips: Vec::new(),
            cuts: Vec::new(),
            clock: StageClock::default(),
        }
    }

    /// Deals the boxes to columns; if these turn out too narrow, to wider ones.
    fn deal(&mut self, boxes: &Boxes) {
        let aabbs = boxes.aabbs();
        self.survey.look(aabbs.len(), |slot| aabbs[slot]);
        let mut most = most_columns(boxes.len());
        loop {
            self.plan = self.survey.plan(boxes.len(), most);
            self.clock.end("plan");
            if self.deal_shares(aabbs).is_ok() {
                return;
            }
            most = self.plan.columns() as f64 / 4.0;
        }
    }

    fn deal_shares(&mut self, aabbs: &[Aabb]) -> Result<(), Overfull> {
        let plan = &self.plan;
        let count = aabbs.len().div_ceil(SHARE).max(1);
        self.shares.resize_with(count, Share::default);
        let each = count.div_ceil(self.workers.count());
        self.tickets.resize_with(count.div_ceil(each), Vec::new);
        let full = AtomicBool::new(false);
        let tickets = &mut self.tickets[..];
        self.workers.for_each_run(&mut self.shares, each, tickets, |number, share, tickets| {
            let first = number * SHARE;
            let some = &aabbs[first..aabbs.len().min(first + SHARE)];
            let get = |place: usize| {
                let (aabb, id) = (some[place], (first + place) as u32);
                (aabb.min[0] <= aabb.max[0]).then_some(Entry { aabb, id, marks: 0 })
            };
            if share.deal(plan, some.len(), get, tickets).is_err() {
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
        self.cuts.clear();
        self.cuts.push(0);
        for task in 1..tasks {
            let (mut low, mut high) = (self.cuts[task - 1], columns);
            while low < high {
                let middle = low.midpoint(high);
                if before(middle) < total * task / tasks { low = middle + 1 } else { high = middle }
            }
            self.cuts.push(low);
        }
        self.cuts.push(columns);
        self.strips.resize_with(tasks, Strip::default);
    }

    fn sweep(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), LimitReached> {
        let frame = Frame {
            plan: &self.plan,
            shares: &self.shares,
            groups: &self.groups,
            filters: boxes.has_filters().then(|| boxes.filters()),
            level: self.level,
        };
        let (cuts, tasks) = (&self.cuts, self.strips.len());
        let sweep = |task: usize, strip: &mut Strip, lane: &mut Lane| {
            strip.tests = 0;
            let mut columns = cuts[task]..cuts[task + 1];
            strip.reached = columns.try_for_each(|column| strip.sweep(&frame, column, lane)).err();
        };
        self.workers.for_each_two(&mut self.strips, found.lanes(tasks), sweep);
        match self.strips.iter().find_map(|strip| strip.reached) {
            Some(reached) => Err(reached),
            None => found.check_limit(),
        }
    }
}

impl BroadPhase for GridSweep {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let continues = self.follower.begin(boxes);
        if continues && boxes.changes().is_empty() {
            self.strips.iter_mut().for_each(|strip| strip.tests = 0);
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        self.groups.follow(boxes, continues);
        self.deal(boxes);
        self.clock.end("deal");
        self.cut();
        self.sweep(boxes, found)?;
        self.clock.end("sweep");
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn validate(&self, boxes: &Boxes) {
        let mut homes = vec![0u32; boxes.slots()];
        for share in &self.shares {
            for (column, entry) in share.entries(self.plan.columns()) {
                let span = self.plan.span_of(&entry.aabb);
                homes[entry.id as usize] += u32::from(entry.marks == 0);
                assert!(span.touches(column, self.plan.columns_in_row()), "an entry is astray");
                assert_eq!(entry.marks, span.marks(column, self.plan.columns_in_row()), "marks");
            }
        }
        let once = |(slot, &count): (usize, &u32)| {
            count == u32::from(boxes.contains(BoxId::new(slot as u32)))
        };
        assert!(homes.iter().enumerate().all(once), "every box has one home column");
    }

    fn stats(&self) -> Stats {
        let sum = |of: fn(&Share) -> usize| self.shares.iter().map(of).sum::<usize>();
        let tickets = self.tickets.iter().map(Vec::capacity).sum::<usize>() * size_of::<Ticket>();
        let strips = self.strips.iter().map(Strip::bytes).sum::<usize>();
        Stats {
            tests: self.strips.iter().map(|strip| strip.tests).sum(),
            bytes: sum(Share::bytes) + tickets + strips + self.groups.bytes(),
            counts: vec![
                ("cells", self.plan.columns() as f64),
                ("entries", sum(Share::len) as f64),
                ("giants", sum(Share::wide) as f64),
            ],
            stages: self.clock.stages().to_vec(),
            ..Stats::default()
        }
    }
}
