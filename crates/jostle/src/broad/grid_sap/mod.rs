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
//! **Choose it** for large worlds of which a part moves. With a tenth moving and one box in a hundred
//! coming or going, `grid-segmented-sap` is 1.6 times as fast as `grid-sap` with 20 000 boxes and 1.4
//! times with 200 000, where both wait for memory. Not where boxes crowd in few places (the grid is
//! uniform), and not where sizes differ so much that there is no good size of cell.
//!
//! **Departures.**
//! 1. No table of witness counts. A pair that several cells see is reported by the cell of the
//!    lower corner of its intersection ([`grid::CellView`]); this is exact, costs no memory, and
//!    needs no order among the cells.
//! 2. No map from boxes to cells: a box's cells follow from its bounds, before and now.
//! 3. The outermost cells reach to infinity, and the grid is chosen anew when the number of boxes
//!    has doubled or halved, or giants or a crowd have formed.
//! 4. A move of more than an eighth of a cell is made by taking the box out and putting it in.
//! 5. All pairs are found anew where that is cheaper ([`persistent`](crate::broad::persistent)), and
//!    not cell by cell: sorting and sweeping each cell took over four times as long as `grid-sweep`.

pub mod band;
pub mod cell;
pub mod deal;
pub mod giants;
pub mod grid;
pub mod members;
pub mod plan;

use std::sync::Mutex;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::past::{EventSink, Past, Stop};
use crate::broad::persistent::{Kept, Persistent, Step, driven, way};
use crate::broad::sap::Sort;
use crate::broad::sap::lists::Lists;
use crate::broad::segmented_sap::lists::SegmentedLists;
use crate::pair::PairBuffer;
use crate::par::Workers;

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

/// What a box that comes into a cell or leaves it costs beside what its lists do: it gets a number,
/// and memory that nothing else in the step has touched is read.
const MIGRATION_WORK: u64 = 60;

/// What dealing a change to its cells costs, in the unit of a test.
const DEAL_WORK: u64 = 10;

/// See the [module](self).
pub struct GridOf<L: CellLists> {
    driver: Persistent<Cells<L>>,
}

driven!(GridOf<L>, L: CellLists);

impl<L: CellLists> GridOf<L> {
    /// A new instance whose cells run on `workers`.
    pub fn new(workers: &Workers) -> GridOf<L> {
        GridOf::with_options(workers, GridOptions::default())
    }

    /// A new instance that works as told.
    pub fn with_options(workers: &Workers, options: GridOptions) -> GridOf<L> {
        let cells = Cells::new(workers, options);
        GridOf { driver: Persistent::new(workers, cells, options.may_rebuild) }
    }
}

/// The cells, and what is needed to follow changes in them.
struct Cells<L> {
    options: GridOptions,
    workers: Workers,
    plan: Plan,
    bands: Vec<Mutex<Band<L>>>,
    /// One for each worker.
    scratches: Vec<Mutex<Scratch>>,
    /// Boxes in the largest cell when the grid was chosen, and now.
    largest: (usize, usize),
    dealt: Dealt,
    giants: Giants,
    /// Boxes that changed, ascending; only where there are giants.
    changed: Vec<u32>,
    centres: Vec<f32>,
    visited: usize,
}

impl<L: CellLists> Cells<L> {
    fn new(workers: &Workers, options: GridOptions) -> Cells<L> {
        Cells {
            options,
            workers: workers.clone(),
            plan: Plan::default(),
            bands: (0..BANDS).map(|_| Mutex::default()).collect(),
            scratches: (0..workers.count()).map(|_| Mutex::default()).collect(),
            largest: (0, 0),
            dealt: Dealt::default(),
            giants: Giants::default(),
            changed: Vec::new(),
            centres: Vec::new(),
            visited: 0,
        }
    }

    /// Deals all boxes of the past to the cells that they touch, and to the giants.
    fn deal_all(&mut self, past: &[Aabb]) {
        let grid = &self.plan.grid;
        self.dealt.clear();
        self.giants.clear();
        for (slot, aabb) in past.iter().enumerate() {
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

    /// The numbers of the cells of a band.
    fn cells_of(&self, band: usize) -> std::ops::Range<usize> {
        let cells = self.plan.grid.cells();
        let each = cells.div_ceil(BANDS);
        (band * each).min(cells)..((band + 1) * each).min(cells)
    }

    /// Deals the changes to the cells. Returns how many boxes come into or leave a cell.
    fn deal(&mut self, boxes: &Boxes, past: &Past) -> usize {
        let changes = boxes.changes();
        let grid = &self.plan.grid;
        let Dealt { dropped, fresh, .. } = self.dealt.clear();
        for id in changes.removed() {
            let range = grid.range(&past.aabbs()[id.index()]);
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
            let (then, now) = (&past.aabbs()[id.index()], &boxes.aabbs()[id.index()]);
            let again = past.refiltered(boxes, id.get()) || self.plan.leaps(then, now);
            self.dealt.deal_moved(grid, id.get(), then, now, again);
        }
        self.dealt.gather(grid.cells());
        self.migrations()
    }

    fn migrations(&self) -> usize {
        self.dealt.dropped.count() + self.dealt.fresh.count()
    }

    /// Follows the changes in every band.
    fn follow_bands(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let judge = step.past.judge(step.boxes, step.order);
        let (budget, count) = (step.budget, step.boxes.len());
        self.workers.for_each(found.lanes(BANDS), |index, lane| {
            let mut band = self.bands[index].lock().expect("no task panicked");
            let mut scratch = free_scratch(&self.scratches);
            let cells = self.cells_of(index);
            // What its boxes deserve; and where much happens in few places, some of the rest.
            let share = band.boxes(cells.len()) as f64 / count.max(1) as f64 + 0.5 / BANDS as f64;
            let mut task = Task {
                cells,
                grid: &self.plan.grid,
                dealt: &self.dealt,
                judge,
                sort: self.options.sort,
                budget: if budget == u64::MAX { budget } else { (budget as f64 * share) as u64 },
                scratch: &mut scratch,
                lane,
            };
            band.start();
            band.result = band.follow(&mut task);
        });
        self.sum_up(step, found)
    }

    /// Collects what the bands counted and ended. Giving up comes before any error: it leads to
    /// finding everything anew, which says the same for every number of workers.
    fn sum_up(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let mut result = Ok(());
        self.visited = 0;
        for band in &mut self.bands {
            let band = band.get_mut().expect("no task panicked");
            step.work.tests += band.tests;
            step.work.swaps += band.swaps;
            self.visited += band.visited;
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

    fn follow_giants(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let (grid, aabbs) = (&self.plan.grid, step.boxes.aabbs());
        self.giants.follow(step.boxes, |slot| grid.range(&aabbs[slot as usize]).count() > GIANT);
        if self.giants.are_none() {
            return Ok(());
        }
        let changes = step.boxes.changes();
        let changed = [changes.inserted(), changes.moved(), changes.removed()];
        self.changed.clear();
        self.changed.extend(changed.into_iter().flatten().map(|id| id.get()));
        self.changed.sort_unstable();
        if self.giants.tests(&self.changed, step.boxes.slots()) > step.budget {
            return Err(Stop::Budget);
        }
        let mut ended = std::mem::take(found.ended_mut());
        let mut sink = EventSink::new(&mut found.lanes(BANDS)[0], &mut ended);
        let judge = step.past.judge(step.boxes, step.order);
        let result = self.giants.report(&self.changed, &judge, &mut sink);
        step.work.tests += sink.tests;
        *found.ended_mut() = ended;
        step.clock.end("giants");
        result
    }
}

impl<L: CellLists> Kept for Cells<L> {
    /// Each cell has the bounds of its boxes.
    const SCATTERED: bool = false;

    fn rebuild(&mut self, past: &Past, boxes: &Boxes, order: [usize; 3]) {
        self.plan = plan::choose(boxes, self.options.boxes_per_cell, &mut self.centres);
        self.deal_all(past.aabbs());
        let largest = self.dealt.fresh.largest();
        self.largest = (largest, largest);
        let (fresh, chunk) = (&self.dealt.fresh, self.options.chunk);
        self.workers.run(BANDS, |index| {
            let mut band = self.bands[index].lock().expect("no task panicked");
            let mut scratch = free_scratch(&self.scratches);
            band.rebuild(self.cells_of(index), fresh, past.aabbs(), order[0], chunk, &mut scratch);
        });
    }

    /// Whether the grid no longer fits the boxes.
    fn outgrown(&self, boxes: &Boxes) -> bool {
        let (planned, now) = (self.plan.boxes + 100, boxes.len() + 100);
        let crowd = self.largest.1 > 4 * self.largest.0.max(self.options.boxes_per_cell);
        now > 2 * planned
            || planned > 2 * now
            || crowd
            || self.giants.count() > 2 * plan::most_giants(boxes.len())
    }

    fn change_work(&self) -> f64 {
        // A box touches somewhat more than one cell, and is tested against a part of it.
        let cell = self.options.boxes_per_cell as f64;
        let lists = (L::CHANGE_WORK + MIGRATION_WORK) as f64;
        1.3 * (lists + cell / 8.0) + self.giants.count() as f64
    }

    fn move_work(&self, then: &Aabb, now: &Aabb) -> f64 {
        if self.plan.leaps(then, now) {
            return 2.0 * self.change_work();
        }
        // A cell has two ends for each of its boxes on an axis; each swap comes with a test.
        let ends = 2.0 * self.options.boxes_per_cell as f32;
        let swaps = |axis: usize| way(then, now, axis) * ends / self.plan.width(axis);
        let swaps = (0..3).map(swaps).filter(|swaps| swaps.is_finite()).sum::<f32>();
        DEAL_WORK as f64 + 2.0 * f64::from(swaps) + self.giants.count() as f64
    }

    fn follow(&mut self, step: &mut Step<'_>, found: &mut PairBuffer) -> Result<(), Stop> {
        let migrations = self.deal(step.boxes, step.past) as u64;
        let dealt = step.boxes.changes().len() as u64 * DEAL_WORK;
        step.work.beside = migrations * (L::CHANGE_WORK + MIGRATION_WORK) + dealt;
        step.clock.end("deal");
        if step.work.beside > step.budget {
            return Err(Stop::Budget);
        }
        self.follow_bands(step, found)?;
        step.clock.end("cells");
        self.follow_giants(step, found)
    }

    fn bytes(&self) -> usize {
        let locked = |band: &Mutex<Band<L>>| band.lock().expect("no task panicked").bytes();
        let scratch = |one: &Mutex<Scratch>| one.lock().expect("no task panicked").bytes();
        self.dealt.bytes()
            + self.bands.iter().map(locked).sum::<usize>()
            + self.scratches.iter().map(scratch).sum::<usize>()
            + (self.changed.capacity() + self.centres.capacity()) * 4
    }

    fn counts(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("cells", self.plan.grid.cells() as f64),
            ("cells_visited", self.visited as f64),
            ("migrations", self.migrations() as f64),
            ("giants", self.giants.count() as f64),
            ("largest_cell", self.largest.1 as f64),
        ]
    }

    fn validate(&self, boxes: &Boxes) {
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

/// A scratch that no other worker uses; there are as many as workers.
fn free_scratch(scratches: &[Mutex<Scratch>]) -> std::sync::MutexGuard<'_, Scratch> {
    loop {
        if let Some(free) = scratches.iter().find_map(|scratch| scratch.try_lock().ok()) {
            return free;
        }
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests;
