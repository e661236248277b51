//! `hash-grid`: a hierarchy of hashed uniform grids, after *Parallel Techniques for Collision
//! Detection*, a thesis chapter whose author and year its text does not give, and Ericson,
//! *Real-Time Collision Detection*, 2005, section 7.2.
//!
//! Levels have cells of doubling size. A box is in one cell: that of its lower corner, in the level
//! whose cells are larger than it. It is tested against the boxes of its own and all coarser
//! levels, so every pair is met once, from the box in the finer cells. Cells are found by hashing
//! their coordinates, so empty space costs nothing and the world has no bounds.
//!
//! ```text
//! sort the boxes by level, row of cells and slice of a cell; rows are found by hashing (grid.rs)
//! for each row, for its own and each coarser level with boxes:
//!   rows that hold lower corners of boxes that can reach it: three by three
//!   for each of these rows and each box that it reaches: a run of slices, which is one stretch of
//!   memory (its own level: only later rows, and the rest of its own row)
//! test the boxes against their runs, eight at a time (search.rs)
//! ```
//!
//! Cells are thick: a box of one level reaches few rows besides its own. Along a row they are cut
//! into slices, by which its boxes are sorted, so that the runs are short all the same.
//!
//! **Cost.** A step in which few boxes changed costs what changed (`delta.rs`); one in which
//! nothing changed costs nothing; in all others the boxes are sorted again, which is O(n), and
//! searched: O(n · levels) runs plus the tests. Loops over cells are bounded by the cells that hold
//! boxes.
//! Memory: 28 bytes a box, 24 more to sort them, 8 to follow changes and about 60 for each box that
//! changed; with filters 17 more. A row takes about 90, so boxes in rows of their own take most.
//!
//! **Choose it** to study grids, or if boxes come and go all the time. It is not the fastest: `bvh`
//! beats it wherever it was measured. Half of a step of `sizes` is the build and the other half the
//! search, most of which are tests. Milliseconds of `update` with 100 000 boxes on one thread,
//! `bvh` second and in the same run: `sizes` 3.3 and 1.7, `uniform` 3.4 and 2.2, `tenth` 3.7 and
//! 1.5 (`jostle bench --scene sizes,uniform,tenth --n 100000 --algorithm hash-grid,bvh --frames
//! 16`). Cells without slices took 1.4, 1.9 and 3.1 times as long; lists of boxes in hashed cells,
//! tested one by one, 13.8, 21.8 and 12.7 ms on another day.
//!
//! **Lost.** Measured with a program that steps `hash-grid` alone, for `sizes` and `uniform`.
//! Writing pairs only if a vector has hits: as long in `sizes` and a third longer in `uniform` at a
//! density of 0.35, with cells without slices. Eight slices to a cell instead of sixteen: 1.04 and
//! 1.0 times. Cells half as large in `sizes`: 0.3 of the tests and 1.2 times the time, because
//! boxes reach more rows. Sixteen lanes: 1.06 and 1.05 times. Listing the runs of a box within its
//! own row like others, instead of testing box after box up to its end, and without pointers kept
//! out of the loops: with sixteen lanes 1.2 and 1.3 times.
//!
//! **Departures from the chapter.**
//! - Three dimensions. The chapter looks into the four cells that a box touches and one more to the
//!   south-west. In general a partner's corner lies up to its level's largest extent before the
//!   box: all cells of that range are looked into, and borders are decided on cell numbers that
//!   are monotone in the coordinate (`lattice.rs`).
//! - The chapter hashes cells, each a list of boxes. Here rows of cells are hashed (`rows.rs`), and
//!   the boxes of a row lie one after the other, sorted by sixteenths of a cell: a range of these
//!   is one run for a vector test (`row_index.rs`), no list is followed, and a row is looked up
//!   once for all its boxes.
//! - The chapter's bucket is the sum of the cell's coordinates and level. All cells of a diagonal
//!   plane collide (`jostle reproduce grids`). Here coordinates are multiplied and mixed, and
//!   negative ones are like others; the chapter mirrors them onto the positive ones.
//! - The finest cells are as large as the crowd allows, not as small as the smallest box: fewer
//!   levels to look into (`tune.rs`). Axes along which boxes do not differ are not cut.
//! - A box far from the origin is put into cells large enough for their numbers to reach it, which
//!   are still finer than the steps of f32 there: numbers never run out, and no crowd gathers in
//!   the outermost cell.
//! - A large box that moves is searched for among finer cells too. If these are in more rows than
//!   there are, the rows are looked at one by one; if that is much for all changed boxes, all pairs
//!   are searched for instead.
//! - Boxes larger than the spread of the others, infinite ones among them, are kept apart
//!   (`giants.rs`) and sorted along an axis.
//! - Each task writes to a lane of its own, aligned against false sharing as the chapter advises;
//!   idle workers steal tasks instead of getting fixed shares, because cells are not equally
//!   crowded.
//! - Filters: each level is a sheet for each of the groups that filters make (`shared/groups.rs`),
//!   and sheets that cannot pair never meet.

mod classify;
mod collect;
mod delta;
mod giants;
mod grid;
mod lattice;
mod query;
mod row_index;
mod rows;
mod search;
mod sketch;
#[cfg(test)]
mod tests;
pub(super) mod tune;

use std::ops::Range;

use crate::aabb::Aabb;
use crate::boxes::{Boxes, Follower};
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::groups::GroupFollower;
use crate::broad::shared::tasks::{TaskState, run_parts};
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::{Lane, LimitReached, Pair, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};
use classify::Members;
use delta::{ChangedBoxes, Overlay};
use grid::Grid;
pub use lattice::CellHash;
use search::{Lister, Scratch, ToEach, ToLane};
pub use tune::Cells;

/// How the grid works; anything but the defaults is for experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HashGridOptions {
    /// Which cell sizes there are.
    pub cells: Cells,
    /// How cells are hashed to buckets.
    pub hash: CellHash,
}

/// Cells are chosen again if boxes crowd this many times less than they did.
const SPARSE: f64 = 3.0;

/// All boxes of the overlay are searched for if one in this many has changed: row by row, that
/// costs less than box by box.
const MOST: usize = 3;

/// Tasks per worker: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// The scratch of a task, and the ended pairs it found.
#[derive(Clone, Debug, Default)]
struct SearchTask {
    scratch: Scratch,
    ended: Vec<Pair>,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct HashGrid {
    workers: Workers,
    options: HashGridOptions,
    /// All boxes, as they were when it was built; those that have changed since are blanks.
    grid: Grid,
    /// The boxes that have changed.
    overlay: Overlay,
    watch: GroupFollower,
    tasks: Vec<TaskState<SearchTask>>,
    follower: Follower,
    /// The crowding and the number of giants for which the cells were chosen.
    tuned: (f64, usize),
    tests: u64,
    clock: StageClock,
}

impl HashGrid {
    /// A new instance that searches with `workers`.
    pub fn new(workers: &Workers) -> HashGrid {
        HashGrid::with_options(workers, HashGridOptions::default())
    }

    /// A new instance with other cells or another hash.
    pub fn with_options(workers: &Workers, options: HashGridOptions) -> HashGrid {
        let mut grid = HashGrid { workers: workers.clone(), options, ..HashGrid::default() };
        grid.grid.rows.hash = options.hash;
        grid.overlay.grid.rows.hash = options.hash;
        grid
    }

    /// Reads all boxes, with the cells and groups that there are.
    fn build(&mut self, boxes: &Boxes) {
        let members = Members { list: None, aabbs: boxes.aabbs(), before: None };
        self.grid.build(members, &self.watch.groups, &self.workers);
        self.overlay.clear();
    }

    /// Chooses cells for the boxes and reads them all.
    fn tune(&mut self, boxes: &Boxes) {
        let layout = tune::layout(boxes, self.options.cells, &mut Vec::new());
        self.grid.set_layout(layout, &self.watch.groups);
        self.overlay.grid.set_layout(layout, &self.watch.groups);
        self.build(boxes);
        self.tuned = (self.grid.crowding, self.grid.giants.len());
    }

    /// Returns true if the cells still suit the boxes.
    fn is_well_tuned(&self, boxes: &Boxes) -> bool {
        let (crowding, giants) = self.tuned;
        let few = 2 * giants + 16 + boxes.len() / 64;
        let crowded = 2.0 * crowding + 4.0;
        self.grid.giants.len() <= few && self.grid.crowding <= crowded && {
            // A crowd that has spread over cells that are too small now.
            self.grid.crowding * SPARSE >= crowding || boxes.len() < 64
        }
    }

    /// Reads all boxes and searches for all pairs.
    fn search_all(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.build(boxes);
        if !self.is_well_tuned(boxes) {
            self.tune(boxes);
        }
        self.clock.end("build");
        self.search(boxes, found)
    }

    fn search(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let filters = boxes.has_filters().then_some(boxes.filters());
        let HashGrid { grid, tasks, workers, .. } = self;
        let (places, column) = (grid.column.len(), &grid.column);
        let search = |part, lane: &mut Lane, task: &mut SearchTask, tests: &mut u64| {
            let scratch = &mut task.scratch;
            let searched = match filters {
                None => grid.search(part, scratch, ToLane { column, lane }),
                Some(_) => {
                    let show = |pair| push_allowed(filters, pair, lane);
                    grid.search(part, scratch, ToEach { column, others: column, show })
                }
            };
            *tests = scratch.runs.tests;
            searched
        };
        self.tests += run_parts(places, TASKS_PER_WORKER, workers, tasks, found, search)?;
        self.clock.end("search");
        Ok(Report::Full)
    }

    /// Searches for the pairs of the changed boxes, which have been collected.
    fn search_changed(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let done = self.search_marked(boxes, found);
        self.overlay.changed.unmark();
        done?;
        self.clock.end("search");
        if self.overlay.is_worn(boxes) {
            self.build(boxes);
            self.clock.end("build");
        }
        Ok(Report::Delta)
    }

    fn search_marked(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), LimitReached> {
        if self.overlay.take(boxes, &mut self.grid) {
            self.overlay.build_before(boxes, &self.watch.groups, &self.workers);
        }
        let changed = std::mem::take(&mut self.overlay.changed);
        let searched = self.search_both(boxes, &changed, found);
        self.overlay.changed = changed;
        searched
    }

    /// Searches for the changed boxes as they were and as they are.
    fn search_both(
        &mut self,
        boxes: &Boxes,
        changed: &ChangedBoxes,
        found: &mut PairBuffer,
    ) -> Result<(), LimitReached> {
        let aabb = |slot: Slot| &boxes.aabbs()[slot.index()];
        self.search_listed(changed.before(), found, |pair, _, ended| {
            if !aabb(pair.a()).overlaps(aabb(pair.b())) {
                ended.push(pair);
            }
            Ok(())
        })?;
        let ended = found.ended_mut();
        self.tasks.iter_mut().for_each(|task| ended.append(&mut task.scratch.ended));
        self.overlay.build_after(boxes, changed.went, &self.watch.groups, &self.workers);
        self.search_listed(changed.after(), found, |pair, lane, _| {
            match changed.overlapped(boxes, pair) {
                true => Ok(()),
                false => lane.push(pair.a().get(), pair.b().get()),
            }
        })
    }

    /// Shows the allowed pairs of listed boxes, which are in the overlay, with those in the grid,
    /// and all pairs within the overlay.
    fn search_listed(
        &mut self,
        list: &[(u32, Aabb)],
        found: &mut PairBuffer,
        show: impl Fn(Pair, &mut Lane, &mut Vec<Pair>) -> Result<(), LimitReached> + Sync,
    ) -> Result<(), LimitReached> {
        let HashGrid { grid, overlay, watch, tasks, workers, .. } = self;
        let column = &overlay.grid.column;
        let (filters, groups) = (watch.filters(), &watch.groups);
        let allowed = |pair: Pair| {
            let of = |list: &[Filter]| list[pair.a().index()].allows(&list[pair.b().index()]);
            filters.is_none_or(of)
        };
        // Boxes of the overlay that have not changed make no difference to what is shown.
        let all = list.len() * MOST >= column.len();
        let query =
            |part: Range<usize>, lane: &mut Lane, task: &mut SearchTask, tests: &mut u64| {
                let SearchTask { scratch: Scratch { runs, reach }, ended } = task;
                let show = |pair| if allowed(pair) { show(pair, lane, ended) } else { Ok(()) };
                let sink = ToEach { column, others: &grid.column, show };
                let mut lister = Lister::new(runs, sink);
                if all {
                    grid.query_all(&overlay.grid, part, reach, &mut lister)?;
                } else {
                    for &(slot, _) in &list[part] {
                        let one = overlay.place(slot);
                        let partners = grid.partners[groups.of(slot as usize)];
                        grid.query(one, &column.get(one as usize), partners, &mut lister)?;
                    }
                }
                lister.flush()?;
                *tests = runs.tests;
                Ok(())
            };
        let queries = if all { column.len() } else { list.len() };
        self.tests += run_parts(queries, TASKS_PER_WORKER, workers, tasks, found, query)?;
        let search = |part, lane: &mut Lane, task: &mut SearchTask, tests: &mut u64| {
            let SearchTask { scratch, ended } = task;
            let show = |pair| if allowed(pair) { show(pair, lane, ended) } else { Ok(()) };
            overlay.grid.search(part, scratch, ToEach { column, others: column, show })?;
            *tests = scratch.runs.tests;
            Ok(())
        };
        self.tests += run_parts(column.len(), TASKS_PER_WORKER, workers, tasks, found, search)?;
        Ok(())
    }
}

/// Writes a pair to a lane if the filters allow it.
#[inline(always)]
fn push_allowed(
    filters: Option<&[Filter]>,
    pair: Pair,
    lane: &mut Lane,
) -> Result<(), LimitReached> {
    match filters.is_none_or(|list| list[pair.a().index()].allows(&list[pair.b().index()])) {
        true => lane.push(pair.a().get(), pair.b().get()),
        false => Ok(()),
    }
}

impl BroadPhase for HashGrid {
    fn name(&self) -> &str {
        "hash-grid"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.tests = 0;
        let continues = self.follower.begin(boxes);
        if continues && boxes.changes().is_empty() {
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        let followed = if continues { self.watch.follow(boxes) } else { None };
        let report = match followed {
            None => {
                self.watch.rebuild(boxes);
                self.tune(boxes);
                self.clock.end("build");
                self.search(boxes, found)?
            }
            Some(false) if self.overlay.collect(boxes, &self.grid) => {
                self.search_changed(boxes, found)?
            }
            Some(_) => self.search_all(boxes, found)?,
        };
        found.check_limit()?;
        self.follower.done(boxes);
        Ok(report)
    }

    fn stats(&self) -> Stats {
        let counts = vec![
            ("sheets", self.grid.occupied.len() as f64),
            ("rows", self.grid.rows.len() as f64),
            ("cells", self.grid.count_of_cells() as f64),
            ("giants", self.grid.giants.len() as f64),
            ("overlay", self.overlay.len() as f64),
            ("crowding", self.grid.crowding),
            ("finest", 2f64.powi(self.grid.layout.finest)),
        ];
        let task = |task: &TaskState<SearchTask>| {
            task.scratch.scratch.bytes() + task.scratch.ended.capacity() * size_of::<Pair>()
        };
        let tasks: usize = self.tasks.iter().map(task).sum();
        let bytes = self.grid.bytes() + self.overlay.bytes() + self.watch.bytes() + tasks;
        Stats { tests: self.tests, bytes, counts, stages: self.clock.stages().to_vec(), swaps: 0 }
    }

    fn sketch(&self, _boxes: &Boxes, sketch: &mut Sketch) {
        sketch::draw([&self.grid, &self.overlay.grid], sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        self.overlay.validate(boxes, &self.grid, &self.watch.groups);
    }
}
