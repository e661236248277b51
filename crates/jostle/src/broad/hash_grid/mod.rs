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
//! for each box, for its own and each coarser level with boxes:
//!   cells that hold lower corners of boxes that can reach it: low .. high on each axis
//!   (its own level: only cells later in the order of z, y, x, and the rest of its own list)
//!   test against the boxes in each of these cells that is not empty
//! ```
//!
//! **Cost.** A step in which little changed costs what changed (`delta.rs`); one in which nothing
//! changed costs nothing; otherwise O(n · levels) look-ups plus the tests, about ten a box in an
//! even crowd. Insertion, removal and moving are O(1). Memory: 40 bytes a box for the entry, 8 for
//! its place and the list of changes, 8 to 16 for buckets and bits; with filters 33 more.
//!
//! **Choose it** to study grids, if memory is scarce, or if boxes come and go all the time. It is
//! not the fastest: with one thread and 100 000 boxes it takes 5 times as long as `bvh` on `sizes`,
//! 6 times on `uniform` and on `tenth`, 17 times on `city`, and `grid-sweep` beats it likewise
//! (`jostle bench`). Both test eight boxes at once while this one follows a list, and tests are not
//! what takes the time: about three a box, the rest is finding cells. Long thin boxes that cross
//! each other crowd in large cells and are tested pair by pair.
//!
//! **Tried.** Comparing each neighbour cell with the own one, to visit it from one side only, and
//! rounding cell numbers down: together about 1.3 times as slow as skipping whole blocks and
//! rounding to the nearest (separate runs). Finest cells for a mean list of 8 or 16 boxes instead
//! of 4: the same within noise on `sizes` and `uniform`, 1.1 times as slow on `tenth`; for 32, 1.2
//! to 1.4 times.
//!
//! **Departures from the chapter.**
//! - Three dimensions. The chapter looks into the four cells that a box touches and one more to the
//!   south-west. In general a partner's corner lies up to its level's largest extent before the
//!   box: all cells of that range are looked into, and borders are decided on cell numbers that
//!   are monotone in the coordinate (`lattice.rs`).
//! - The chapter's bucket is the sum of the cell's coordinates and level. All cells of a diagonal
//!   plane collide: in an even crowd of 100 000 a bucket holds 725 cells, with mixing 1.6; that
//!   takes 1356 times the tests and 200 times the time (`jostle reproduce grids`). Here coordinates
//!   are multiplied and mixed, and cell numbers count from far below zero, so that negative
//!   coordinates are like others; the chapter mirrors them onto the positive ones.
//! - Most neighbour cells are empty. A bit for each cell of a block of 4 × 4 × 4, in a hashed word,
//!   shows that for a whole neighbourhood in one or two reads (`table.rs`).
//! - The finest cells are as large as the crowd allows, not as small as the smallest box: fewer
//!   levels to look into (`tune.rs`). Axes along which boxes do not differ are not cut.
//! - A box far from the origin is put into cells large enough for their numbers to reach it, which
//!   are still finer than the steps of f32 there: numbers never run out, and no crowd gathers in
//!   the outermost cell.
//! - A large box that moves is searched for among finer cells too. If these are more than there are
//!   boxes, all boxes are looked at instead.
//! - Boxes larger than the spread of the others, infinite ones among them, are kept apart
//!   (`giants.rs`) and sorted along an axis.
//! - Each task writes to a lane of its own, aligned against false sharing as the chapter advises;
//!   idle workers steal tasks instead of getting fixed shares, because cells are not equally
//!   crowded.
//! - Filters: each level is a sheet for each of the groups that filters make (`shared/groups.rs`),
//!   and sheets that cannot pair never meet.

mod delta;
mod giants;
mod grid;
mod lattice;
mod table;
pub(super) mod tune;

use std::ops::Range;

use crate::boxes::{Boxes, Follower};
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::groups::GroupFollower;
use crate::broad::shared::groups::Groups;
use crate::broad::shared::tasks::{TaskState, run_parts};
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached, Pair, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};
use delta::{ChangedBoxes, ChangedSearch};
use grid::Grid;
pub use lattice::CellHash;
use table::GridEntry;
pub use tune::Cells;

/// How the grid works; anything but the defaults is for experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HashGridOptions {
    /// Which cell sizes there are.
    pub cells: Cells,
    /// How cells are hashed to buckets.
    pub hash: CellHash,
}

/// Tasks per worker: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct HashGrid {
    workers: Workers,
    options: HashGridOptions,
    grid: Grid,
    watch: GroupFollower,
    changed: ChangedBoxes,
    /// The scratch of a task holds the ended pairs it found.
    tasks: Vec<TaskState<Vec<Pair>>>,
    follower: Follower,
    /// Relinks at the last check of the crowding, and what it was after building.
    checked: usize,
    built_crowding: f64,
    built_giants: usize,
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
        grid.grid.table.hash = options.hash;
        grid
    }

    fn start_over(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.watch.rebuild(boxes);
        self.rebuild(boxes);
        self.clock.end("build");
        self.search(boxes, found)
    }

    /// Chooses cells for the boxes, with the current groups.
    fn rebuild(&mut self, boxes: &Boxes) {
        self.grid.rebuild(boxes, &self.watch.groups, self.options.cells);
        self.checked = 0;
        self.built_crowding = self.grid.table.crowding();
        self.built_giants = self.grid.giants.places.len();
    }

    /// Follows the changes.
    fn follow(&mut self, boxes: &Boxes) {
        let (changes, aabbs) = (boxes.changes(), boxes.aabbs());
        for id in changes.removed() {
            self.grid.remove(id.get());
        }
        for id in changes.moved() {
            self.grid.shift(id.get(), aabbs[id.index()], self.watch.groups.of(id.index()));
        }
        for id in changes.inserted() {
            self.grid.insert(id.get(), aabbs[id.index()], self.watch.groups.of(id.index()));
        }
        if !self.is_well_tuned(boxes) {
            self.rebuild(boxes);
        }
    }

    /// Returns true if the number of boxes suits the number of buckets.
    fn fits(&self, boxes: &Boxes) -> bool {
        let buckets = self.grid.table.buckets();
        boxes.len() <= buckets && (buckets <= 64 || boxes.len() > buckets / 8)
    }

    /// Checks now and then that the cells still suit the boxes.
    fn is_well_tuned(&mut self, boxes: &Boxes) -> bool {
        if self.grid.giants.places.len() > 2 * self.built_giants + 16 + boxes.len() / 64 {
            return false;
        }
        if self.grid.relinked - self.checked > boxes.len() / 4 {
            self.checked = self.grid.relinked;
            self.grid.table.refresh_words(&self.grid.sheets);
            let crowding = self.grid.table.crowding();
            return crowding <= 2.0 * self.built_crowding + 4.0
                && self.grid.relinked <= 8 * boxes.len();
        }
        true
    }

    /// Searches for all pairs.
    fn search(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.grid.prepare(&self.watch.groups);
        let filters = boxes.has_filters().then_some(boxes.filters());
        let HashGrid { grid, watch, tasks, workers, .. } = self;
        let places = grid.table.entries.len();
        let search = |part, lane: &mut Lane, _: &mut Vec<Pair>, tests: &mut u64| {
            search_places(grid, &watch.groups, filters, part, lane, tests)
        };
        self.tests += run_parts(places, TASKS_PER_WORKER, workers, tasks, found, search)?;
        self.clock.end("search");
        Ok(Report::Full)
    }

    /// Follows the changes, which have been collected, and searches for the pairs they changed.
    fn search_changed(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.changed.mark(boxes.slots());
        let done = self.search_marked(boxes, found);
        self.changed.unmark();
        done
    }

    fn search_marked(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let before = self.changed.before();
        self.tests = self.search_list(before, found, |search, part, _, ended, tests| {
            search.ended(boxes, part, ended, tests)
        })?;
        let ended = found.ended_mut();
        self.tasks.iter_mut().for_each(|task| ended.append(&mut task.scratch));
        self.clock.end("search old");
        self.follow(boxes);
        self.grid.prepare(&self.watch.groups);
        self.clock.end("move");
        if !self.changed.is_cheap(boxes, &self.grid) {
            found.ended_mut().clear();
            return self.search(boxes, found);
        }
        let after = self.changed.after();
        self.tests += self.search_list(after, found, |search, part, lane, _, tests| {
            search.began(part, lane, tests)
        })?;
        self.clock.end("search");
        Ok(Report::Delta)
    }

    /// Searches for pairs of `count` changed boxes. Returns the number of tests.
    fn search_list(
        &mut self,
        count: usize,
        found: &mut PairBuffer,
        search: impl Fn(
            &ChangedSearch<'_>,
            Range<usize>,
            &mut Lane,
            &mut Vec<Pair>,
            &mut u64,
        ) -> Result<(), LimitReached>
        + Sync,
    ) -> Result<u64, LimitReached> {
        let HashGrid { grid, changed, watch, tasks, workers, .. } = self;
        let list = ChangedSearch { grid, groups: &watch.groups, changed, filters: watch.filters() };
        run_parts(count, TASKS_PER_WORKER, workers, tasks, found, |part, lane, ended, tests| {
            search(&list, part, lane, ended, tests)
        })
    }
}

/// Writes the pairs of a stretch of entries with all later ones, and counts the tests.
fn search_places(
    grid: &Grid,
    groups: &Groups,
    filters: Option<&[Filter]>,
    places: Range<usize>,
    lane: &mut Lane,
    tests: &mut u64,
) -> Result<(), LimitReached> {
    for place in places {
        let slot = grid.table.entries[place].slot;
        let allowed = |other: u32| {
            filters.is_none_or(|list| list[slot as usize].allows(&list[other as usize]))
        };
        let mut show = |other: &GridEntry| match allowed(other.slot) {
            true => lane.push(slot, other.slot),
            false => Ok(()),
        };
        grid.later_neighbours(place as u32, groups, tests, &mut show)?;
    }
    Ok(())
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
        let report = if !continues || !self.fits(boxes) {
            self.start_over(boxes, found)?
        } else {
            match self.watch.follow(boxes) {
                None => self.start_over(boxes, found)?,
                Some(false) if self.changed.collect(boxes, &self.grid) => {
                    self.search_changed(boxes, found)?
                }
                Some(_) => {
                    self.follow(boxes);
                    self.clock.end("move");
                    self.search(boxes, found)?
                }
            }
        };
        found.check_limit()?;
        self.follower.done(boxes);
        Ok(report)
    }

    fn stats(&self) -> Stats {
        let counts = vec![
            ("sheets", self.grid.occupied.len() as f64),
            ("giants", self.grid.giants.places.len() as f64),
            ("crowding", self.built_crowding),
            ("finest", 2f64.powi(self.grid.layout.finest)),
        ];
        let ended = self.tasks.iter().map(|task| task.scratch.capacity() * size_of::<Pair>());
        let ended: usize = ended.sum();
        let bytes = self.grid.bytes() + self.watch.bytes() + self.changed.bytes() + ended;
        Stats { tests: self.tests, bytes, counts, stages: self.clock.stages().to_vec(), swaps: 0 }
    }

    fn sketch(&self, _boxes: &Boxes, sketch: &mut Sketch) {
        sketch::draw(&self.grid, sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        self.grid.validate(boxes);
    }
}

mod sketch;
#[cfg(test)]
mod tests;
