//! [`GridFollow`]: routes the changes of a step to the cells, follows them there, and knows what
//! that costs.

use crate::boxes::Boxes;
use crate::broad::persistent::{
    CostModel, FollowError, FollowResult, FollowStep, PairJudge, PersistentLists, PreviousBounds,
};
use crate::broad::shared::scratch_pool::ScratchPool;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::Stats;

use super::GridSapOptions;
use super::band::{BANDS, Band, BandStep, MIGRATION_WORK};
use super::cell::{CellLists, CellScratch};
use super::giants::Giants;
use super::plan::{self, GIANT, GridPlan};
use super::routes::ChangesByCell;

/// What routing a change to its cells costs, in units of one test.
const ROUTE_WORK: u64 = 10;

/// The cells, and what is needed to follow changes in them.
#[derive(Clone, Debug)]
pub(super) struct GridFollow<L> {
    options: GridSapOptions,
    workers: Workers,
    plan: GridPlan,
    bands: Vec<Band<L>>,
    scratch: ScratchPool<CellScratch>,
    /// Boxes in the largest cell when the grid was chosen, and now.
    largest: (usize, usize),
    changes: ChangesByCell,
    giants: Giants,
    /// Boxes that changed, ascending; only filled if there are giants.
    changed: Vec<u32>,
    centres: Vec<f32>,
    visited: usize,
}

impl<L: CellLists> GridFollow<L> {
    pub(super) fn new(workers: &Workers, options: GridSapOptions) -> GridFollow<L> {
        GridFollow {
            options,
            workers: workers.clone(),
            plan: GridPlan::default(),
            bands: (0..BANDS).map(|_| Band::default()).collect(),
            scratch: ScratchPool::default(),
            largest: (0, 0),
            changes: ChangesByCell::default(),
            giants: Giants::default(),
            changed: Vec::new(),
            centres: Vec::new(),
            visited: 0,
        }
    }

    /// Follows the changes in every band.
    fn follow_bands(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        let judge = PairJudge::new(step.previous, step.boxes, step.order);
        let (budget, count) = (step.budget, step.boxes.len());
        let GridFollow { plan, changes, scratch, options, bands, .. } = self;
        self.workers.for_each_two(bands, found.lanes(BANDS), |index, band, lane| {
            let cells = cells_of(plan, index);
            // What its boxes deserve, and part of the rest, for when much happens in few places.
            let share = band.boxes(cells.len()) as f64 / count.max(1) as f64 + 0.5 / BANDS as f64;
            let budget = if budget == u64::MAX { budget } else { (budget as f64 * share) as u64 };
            scratch.with(|scratch| {
                let (grid, sort) = (&plan.grid, options.sort);
                band.follow(BandStep { cells, grid, changes, judge, sort, budget, scratch, lane });
            });
        });
        self.sum_up(step, found)
    }

    /// Collects what the bands counted and ended. Giving up comes before any error: it leads to
    /// finding all pairs, which gives the same error for every number of workers.
    fn sum_up(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        let mut result = Ok(());
        self.visited = 0;
        for band in &mut self.bands {
            step.work.tests += band.tests;
            step.work.swaps += band.swaps;
            self.visited += band.visited;
            self.largest.1 = self.largest.1.max(band.largest);
            found.ended_mut().append(&mut band.ended);
            match band.stopped.take() {
                None => {}
                Some(FollowError::OverBudget) => result = Err(FollowError::OverBudget),
                Some(error) if result.is_ok() => result = Err(error),
                Some(_) => {}
            }
        }
        result
    }

    fn follow_giants(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
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
            return Err(FollowError::OverBudget);
        }
        let (giants, changed) = (&self.giants, &self.changed);
        let result = step.sort(found, |judge, sink| giants.report(changed, judge, sink));
        step.clock.end("giants");
        result
    }
}

impl<L: CellLists> PersistentLists for GridFollow<L> {
    fn rebuild(&mut self, previous: &PreviousBounds, boxes: &Boxes, order: [usize; 3]) {
        self.plan = plan::choose(boxes, self.options.boxes_per_cell, &mut self.centres);
        let GridFollow { plan, changes, giants, scratch, bands, options, .. } = self;
        let aabbs = previous.aabbs();
        giants.clear();
        let all = previous.slots().map(|slot| (slot, &aabbs[slot as usize]));
        changes.route_all(&plan.grid, all, |slot| giants.push(slot));
        giants.settle();
        let slots = &changes.inserted;
        self.largest = (slots.largest(), slots.largest());
        self.workers.for_each(bands, |index, band| {
            let cells = cells_of(plan, index);
            scratch.with(|scratch| {
                band.rebuild(cells, slots, aabbs, order[0], options.chunk, scratch);
            });
        });
    }

    /// Returns true if the grid no longer fits the boxes.
    fn outgrown(&self, boxes: &Boxes) -> bool {
        let (planned, now) = (self.plan.boxes + 100, boxes.len() + 100);
        let crowd = self.largest.1 > 4 * self.largest.0.max(self.options.boxes_per_cell);
        now > 2 * planned
            || planned > 2 * now
            || crowd
            || self.giants.count() > 2 * plan::most_giants(boxes.len())
    }

    fn cost_model(&self) -> CostModel {
        let (cell, giants) = (self.options.boxes_per_cell, self.giants.count() as f64);
        let lists = (L::CHANGE_WORK + MIGRATION_WORK) as f64;
        let width = |axis| self.plan.width(axis);
        CostModel {
            // A box touches somewhat more than one cell, and is tested against a part of it.
            change: 1.3 * (lists + cell as f64 / 8.0) + giants,
            moved: ROUTE_WORK as f64 + giants,
            // Each swap comes with a test.
            passed: 2.0,
            // A cell has two endpoints for each of its boxes on an axis.
            density: std::array::from_fn(|axis| 2.0 * cell as f32 / width(axis)),
            most_passed: std::array::from_fn(|axis| {
                if width(axis) < f32::INFINITY { f32::INFINITY } else { 0.0 }
            }),
            leap: std::array::from_fn(|axis| self.plan.leap(axis)),
            // Each cell has the bounds of its boxes.
            scattered: false,
        }
    }

    fn follow(&mut self, step: &mut FollowStep<'_>, found: &mut PairBuffer) -> FollowResult {
        self.changes.route(&self.plan, step.boxes, step.previous);
        let routing = step.boxes.changes().len() as u64 * ROUTE_WORK;
        let migrations = self.changes.migrations() as u64;
        step.work.extra = migrations * (L::CHANGE_WORK + MIGRATION_WORK) + routing;
        step.clock.end("route");
        if step.work.extra > step.budget {
            return Err(FollowError::OverBudget);
        }
        self.follow_bands(step, found)?;
        step.clock.end("cells");
        self.follow_giants(step, found)
    }

    fn stats(&self) -> Stats {
        let bytes = self.changes.bytes()
            + self.bands.iter().map(Band::bytes).sum::<usize>()
            + self.scratch.bytes(CellScratch::bytes)
            + (self.changed.capacity() + self.centres.capacity()) * 4;
        let counts = vec![
            ("cells", self.plan.grid.cells() as f64),
            ("cells_visited", self.visited as f64),
            ("migrations", self.changes.migrations() as f64),
            ("giants", self.giants.count() as f64),
            ("largest_cell", self.largest.1 as f64),
        ];
        Stats { bytes, counts, ..Stats::default() }
    }

    fn validate(&self, boxes: &Boxes) {
        let grid = &self.plan.grid;
        let mut cells = vec![Vec::new(); grid.cells()];
        for id in boxes.live_slots() {
            let range = grid.range(&boxes.aabbs()[id.index()]);
            let giant = range.count() > GIANT;
            assert_eq!(self.giants.contains(id.get()), giant, "the giants are miscounted");
            if !giant {
                range.cells().for_each(|cell| cells[grid.number(cell)].push(id.get()));
            }
        }
        let per_band = grid.cells().div_ceil(BANDS);
        for (number, slots) in cells.iter().enumerate() {
            let band = &self.bands[number / per_band];
            band.cell(number % per_band).validate(boxes.aabbs(), slots);
        }
    }
}

/// The numbers of the cells of a band.
fn cells_of(plan: &GridPlan, band: usize) -> std::ops::Range<usize> {
    let cells = plan.grid.cells();
    let each = cells.div_ceil(BANDS);
    (band * each).min(cells)..((band + 1) * each).min(cells)
}
