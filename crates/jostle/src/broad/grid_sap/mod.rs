//! `grid-sap` and `grid-segmented-sap`: a uniform grid, each of whose cells is a persistent sweep
//! and prune of its own.
//!
//! Source: Tracy, Buss and Woods, *Efficient Large-Scale Sweep and Prune Methods with AABB
//! Insertion and Removal* (2009), §3.1 and 3.3.
//!
//! ```text
//! for each box that changed: the cells it touched and the cells it touches now
//!     in the first alone: it leaves the cell;  in the second alone: it comes into the cell
//!     in both: it moved there
//! for each cell that received something, in parallel: follow the changes
//! ```
//!
//! On an axis, distant boxes are neighbours; in a cell there are none. So the swaps of a moved box
//! no longer grow with the number of boxes, and neither does what a box costs that comes or goes.
//! The cells are the lists of [`sap`](crate::broad::sap) (boxes come and go in a pass over the
//! cell) or of [`segmented-sap`](crate::broad::segmented_sap) (in a few chunks of it).
//!
//! - [`grid`]: cells, and which of them reports a pair. [`plan`]: how large cells are.
//! - [`deal`]: the changes by cell. [`cell`]: the two kinds of cell. [`band`]: cells in parallel.
//! - [`giants`]: boxes that touch more than [`plan::GIANT`] cells are kept apart.
//!
//! **Cost.** O(m + s + e) for m changed boxes, s swaps (about proportional to m) and e events, and
//! a look at each cell; nothing changed costs nothing. Memory: that of the cells for each cell a
//! box touches (1.2 on average in an even world), 24 bytes for the past bounds.
//!
//! **Choose it** for large worlds of which a part moves; `grid-segmented-sap` is the faster of
//! the two by a fifth as long as fewer than two boxes in a hundred come or go in a step. Not where boxes crowd in few places (the grid is uniform), and not where
//! sizes differ so much that there is no good size of cell.
//!
//! **Departures.**
//! 1. No table of witness counts. A pair that several cells see is reported by the cell of the
//!    lower corner of its intersection ([`grid::CellView`]); this is exact, costs no memory, and
//!    needs no order among the cells.
//! 2. No map from boxes to cells: a box's cells follow from its bounds, before and now.
//! 3. The outermost cells reach to infinity, and the grid is chosen anew when the number of boxes
//!    has doubled or halved, or giants or a crowd have formed.
//! 4. A move of more than an eighth of a cell is made by taking the box out and putting it in.
//! 5. All cells find their pairs anew where that is cheaper ([`effort`](crate::broad::effort)).

pub mod band;
pub mod cell;
pub mod deal;
pub mod giants;
pub mod grid;
pub mod members;
pub mod plan;

use std::sync::Mutex;

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::effort::Effort;
use crate::broad::endpoint::Endpoint;
use crate::broad::finder::Finder;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::sap::lists::Lists;
use crate::broad::sap::{Sort, axes_by_spread};
use crate::broad::segmented_sap::lists::SegmentedLists;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use band::{BANDS, Band, Dealt, Task};
use cell::{CellLists, Scratch};
use giants::Giants;
use plan::{GIANT, Plan};

/// A grid whose cells are those of [`sap`](crate::broad::sap).
pub type GridSap = GridOf<Lists>;

/// A grid whose cells are those of [`segmented-sap`](crate::broad::segmented_sap).
pub type GridSegmentedSap = GridOf<SegmentedLists>;

/// How a grid works; the defaults are what measured best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridOptions {
    /// Boxes in a cell on average. Between 75 and 300 nothing differs by more than noise; 20 and
    /// 1200 cost a quarter more. Large cells take less memory.
    pub boxes_per_cell: usize,
    /// Which sort for the boxes that moved within a cell.
    pub sort: Sort,
    /// Endpoints of a chunk in segmented cells; none for the default.
    pub chunk: Option<usize>,
    /// Whether finding all pairs anew may replace a step that is dearer.
    pub may_rebuild: bool,
}

impl Default for GridOptions {
    fn default() -> GridOptions {
        GridOptions { boxes_per_cell: 300, sort: Sort::Auto, chunk: None, may_rebuild: true }
    }
}

/// A cell with more boxes than this, some of them filtered, is left to a sweep that knows
/// groups of filters when all pairs are sought.
const CROWD: usize = 1024;

/// See the [module](self).
pub struct GridOf<L> {
    options: GridOptions,
    workers: Workers,
    follower: Follower,
    past: Past,
    plan: Plan,
    bands: Vec<Mutex<Band<L>>>,
    /// One for each worker.
    scratches: Vec<Mutex<Scratch>>,
    /// Whether the cells are sorted by the past bounds; otherwise they are to be made.
    listed: bool,
    /// Boxes in the largest cell when the grid was chosen, and now.
    largest: (usize, usize),
    dealt: Dealt,
    giants: Giants,
    /// Boxes that changed, ascending; only where there are giants.
    changed: Vec<u32>,
    centres: Vec<f32>,
    /// Finds all pairs where filters forbid many.
    finder: Finder,
    /// The axes by spread, the widest first.
    order: [usize; 3],
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
    abandoned: bool,
    cells_visited: usize,
    migrations: usize,
}

impl<L: CellLists> GridOf<L> {
    /// A new instance whose cells run on `workers`.
    pub fn new(workers: &Workers) -> GridOf<L> {
        GridOf::with_options(workers, GridOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: GridOptions) -> GridOf<L> {
        GridOf {
            options,
            workers: workers.clone(),
            follower: Follower::default(),
            past: Past::default(),
            plan: Plan::default(),
            bands: (0..BANDS).map(|_| Mutex::default()).collect(),
            scratches: (0..workers.count()).map(|_| Mutex::default()).collect(),
            listed: false,
            largest: (0, 0),
            dealt: Dealt::default(),
            giants: Giants::default(),
            changed: Vec::new(),
            centres: Vec::new(),
            finder: Finder::new(workers),
            order: [0, 1, 2],
            pairs: 0,
            effort: Effort::default(),
            counts: Counts::default(),
            clock: StageClock::default(),
        }
    }

    // ---- All pairs --------------------------------------------------------------------------

    /// Chooses the grid and finds all pairs from scratch.
    fn build(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.past.rebuild(boxes);
        self.order = axes_by_spread(boxes);
        self.plan = plan::choose(boxes, self.options.boxes_per_cell, &mut self.centres);
        self.deal_all();
        self.listed = false;
        self.counts.rebuilt = true;
        self.clock.end("plan");
        let largest = self.dealt.fresh.largest();
        self.largest = (largest, largest);
        if boxes.has_filters() && largest > CROWD {
            self.finder.find(boxes, found)?;
            self.counts.tests += self.finder.tests();
        } else {
            self.find_all(boxes, found)?;
        }
        self.effort.built(self.counts.tests, boxes.len());
        self.pairs = found.len();
        self.clock.end("build");
        Ok(Report::Full)
    }

    /// Deals all boxes of the past to the cells that they touch, and to the giants.
    fn deal_all(&mut self) {
        let Plan { grid, .. } = &self.plan;
        self.dealt.clear();
        self.giants.clear();
        for (slot, aabb) in self.past.aabbs().iter().enumerate() {
            if aabb.min[0].is_nan() {
                continue;
            }
            let range = grid.range(aabb);
            if range.count() > GIANT {
                self.giants.push(slot as u32);
            } else {
                range.cells().for_each(|c| self.dealt.fresh.push(grid.number(c), slot as u32));
            }
        }
        self.giants.settle();
        self.dealt.fresh.gather(grid.cells());
    }

    fn find_all(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Error> {
        self.run(boxes, found, |band, task| band.find_all(task)).map_err(not_budget)?;
        let (judge, mut none) = (self.past.judge(boxes, self.order), Vec::new());
        let mut sink = EventSink::new(&mut found.lanes(BANDS)[0], &mut none);
        self.giants.report_all(&judge, &mut sink).map_err(not_budget)?;
        self.counts.tests += sink.tests;
        found.check_limit()?;
        Ok(())
    }

    /// Fills the cells with the boxes of the past, if they are not.
    fn make_cells(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        if !self.listed {
            self.deal_all();
            self.past.grow(boxes);
            self.run(boxes, found, |band, task| band.rebuild(task))?;
            self.listed = true;
            self.clock.end("sort cells");
        }
        Ok(())
    }

    /// Runs a task on every band, and adds up what they counted.
    fn run(
        &mut self,
        boxes: &Boxes,
        found: &mut PairBuffer,
        work: impl Fn(&mut Band<L>, &mut Task<'_>) -> Result<(), Stop> + Sync,
    ) -> Result<(), Stop> {
        let per_band = self.plan.grid.cells().div_ceil(BANDS);
        let judge = self.past.judge(boxes, self.order);
        self.workers.for_each(found.lanes(BANDS), |index, lane| {
            let mut band = self.bands[index].lock().expect("no task panicked");
            let first = (index * per_band).min(self.plan.grid.cells());
            let last = (first + per_band).min(self.plan.grid.cells());
            let mut scratch = free_scratch(&self.scratches);
            let mut task = Task {
                cells: first..last,
                grid: &self.plan.grid,
                dealt: &self.dealt,
                past: self.past.aabbs(),
                judge,
                order: self.order,
                options: &self.options,
                effort: &self.effort,
                scratch: &mut scratch,
                lane,
            };
            band.start();
            band.result = work(&mut band, &mut task);
        });
        self.sum_up(found)
    }

    /// Collects what the bands counted and ended. Giving up comes before any error: it leads to
    /// finding everything anew, which says the same for every number of workers.
    fn sum_up(&mut self, found: &mut PairBuffer) -> Result<(), Stop> {
        let mut result = Ok(());
        for band in &mut self.bands {
            let band = band.get_mut().expect("no task panicked");
            self.counts.tests += band.tests;
            self.counts.swaps += band.swaps;
            self.counts.cells_visited += band.visited;
            self.largest.1 = self.largest.1.max(band.largest);
            found.ended_mut().append(&mut band.ended);
            match std::mem::replace(&mut band.result, Ok(())) {
                Ok(()) => {}
                Err(Stop::Budget) => result = Err(Stop::Budget),
                Err(error) if result.is_ok() => result = Err(error),
                Err(_) => {}
            }
        }
        result
    }

    // ---- Changes ----------------------------------------------------------------------------

    fn follow(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        self.make_cells(boxes, found)?;
        self.past.grow(boxes);
        self.deal(boxes);
        self.clock.end("deal");
        self.run(boxes, found, |band, task| band.follow(task))?;
        self.clock.end("cells");
        self.follow_giants(boxes, found)
    }

    /// Deals the changes to the cells.
    fn deal(&mut self, boxes: &Boxes) {
        let changes = boxes.changes();
        let grid = &self.plan.grid;
        let Dealt { dropped, fresh, .. } = self.dealt.clear();
        for id in changes.removed() {
            let range = grid.range(&self.past.aabbs()[id.index()]);
            if range.count() <= GIANT {
                range.cells().for_each(|cell| dropped.push(grid.number(cell), id.get()));
            }
        }
        for id in changes.inserted() {
            let range = grid.range(&boxes.aabbs()[id.index()]);
            if range.count() <= GIANT {
                range.cells().for_each(|cell| fresh.push(grid.number(cell), id.get()));
            }
        }
        for id in changes.moved() {
            let (then, now) = (&self.past.aabbs()[id.index()], &boxes.aabbs()[id.index()]);
            let again = self.past.refiltered(boxes, id.get()) || leaps(&self.plan.reach, then, now);
            self.dealt.deal_moved(grid, id.get(), then, now, again);
        }
        self.counts.migrations = self.dealt.dropped.count() + self.dealt.fresh.count();
        self.dealt.gather(grid.cells());
    }

    fn follow_giants(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Stop> {
        let (grid, aabbs) = (&self.plan.grid, boxes.aabbs());
        self.giants.follow(boxes, |slot| grid.range(&aabbs[slot as usize]).count() > GIANT);
        if self.giants.are_none() {
            return Ok(());
        }
        let changes = boxes.changes();
        let changed = [changes.inserted(), changes.moved(), changes.removed()];
        self.changed.clear();
        self.changed.extend(changed.into_iter().flatten().map(|id| id.get()));
        self.changed.sort_unstable();
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(&mut found.lanes(BANDS)[0], &mut ended);
        let judge = self.past.judge(boxes, self.order);
        let result = self.giants.report(&self.changed, &judge, &mut sink);
        self.counts.tests += sink.tests;
        *found.ended_mut() = ended;
        self.clock.end("giants");
        result
    }

    /// Whether the grid no longer fits the boxes.
    fn wants_another_plan(&self, boxes: &Boxes) -> bool {
        let (planned, now) = (self.plan.boxes + 100, boxes.len() + 100);
        let crowd = self.largest.1 > 4 * self.largest.0.max(self.options.boxes_per_cell);
        now > 2 * planned
            || planned > 2 * now
            || crowd
            || self.giants.count() > 2 * plan::most_giants(boxes.len())
    }

    fn work(&self) -> u64 {
        let replaced = self.counts.migrations as u64 * L::CHANGE_WORK;
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
            || self.wants_another_plan(boxes)
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

impl<L: CellLists> BroadPhase for GridOf<L> {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.counts = Counts::default();
        let report = if self.follower.begin(boxes) {
            self.continue_with(boxes, found)?
        } else {
            self.build(boxes, found)?;
            if boxes.slots() <= Endpoint::MAX_SLOTS {
                self.make_cells(boxes, found).map_err(not_budget)?;
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
        let locked = |band: &Mutex<Band<L>>| band.lock().expect("no task panicked").bytes();
        let scratch = |one: &Mutex<Scratch>| one.lock().expect("no task panicked").bytes();
        let bytes = self.past.bytes()
            + self.dealt.bytes()
            + self.finder.bytes()
            + self.bands.iter().map(locked).sum::<usize>()
            + self.scratches.iter().map(scratch).sum::<usize>()
            + (self.changed.capacity() + self.centres.capacity()) * 4;
        let flag = |set: bool| f64::from(u8::from(set));
        Stats {
            tests: self.counts.tests,
            swaps: self.counts.swaps,
            bytes,
            counts: vec![
                ("cells", self.plan.grid.cells() as f64),
                ("cells_visited", self.counts.cells_visited as f64),
                ("migrations", self.counts.migrations as f64),
                ("giants", self.giants.count() as f64),
                ("largest_cell", self.largest.1 as f64),
                ("rebuilt", flag(self.counts.rebuilt)),
                ("abandoned", flag(self.counts.abandoned)),
            ],
            stages: self.clock.stages().to_vec(),
        }
    }

    fn validate(&self, boxes: &Boxes) {
        let same = |(then, now): (&Aabb, &Aabb)| then.same(now) || then.min[0].is_nan();
        assert!(self.past.aabbs().iter().zip(boxes.aabbs()).all(same), "past bounds are stale");
        if !self.listed {
            return;
        }
        let grid = &self.plan.grid;
        let mut cells = vec![Vec::new(); grid.cells()];
        for id in boxes.ids() {
            let range = grid.range(&boxes.aabbs()[id.index()]);
            let giant = range.count() > GIANT;
            assert_eq!(self.giants.contains(id.get()), giant, "the giants are miscounted");
            if !giant {
                range.cells().for_each(|cell| cells[grid.number(cell)].push(id.get()));
            }
        }
        let per_band = grid.cells().div_ceil(BANDS);
        for (number, slots) in cells.iter().enumerate() {
            let band = self.bands[number / per_band].lock().expect("no task panicked");
            band.cell(number % per_band).validate(boxes.aabbs(), slots);
        }
    }
}

fn not_budget(stop: Stop) -> Error {
    match stop {
        Stop::Error(error) => error,
        Stop::Budget => unreachable!("no budget was set"),
    }
}

/// A scratch that no other worker uses; there are as many as workers.
fn free_scratch(scratches: &[Mutex<Scratch>]) -> std::sync::MutexGuard<'_, Scratch> {
    loop {
        if let Some(free) = scratches.iter().find_map(|scratch| scratch.try_lock().ok()) {
            return free;
        }
        std::thread::yield_now();
    }
}

/// True for a move that is better made by taking the box out and putting it in.
fn leaps(reach: &[f32; 3], then: &Aabb, now: &Aabb) -> bool {
    (0..3).any(|axis| {
        let paths = [now.min[axis] - then.min[axis], now.max[axis] - then.max[axis]];
        // Differences of infinities are no number, and leap.
        paths.into_iter().any(|path| path.is_nan() || path.abs() > reach[axis])
    })
}

#[cfg(test)]
mod tests;
