//! `hash-grid`: a hierarchy of hashed uniform grids, after the multithreaded grid of seed paper
//! 003 section 4.1 and Ericson's *Real-Time Collision Detection*.

mod giants;
mod grid;
mod lattice;
mod table;
mod tune;

use crate::boxes::{Boxes, Follower};
use crate::broad::groups::Groups;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::filter::Filter;
use crate::pair::{Lane, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};
use grid::Grid;
pub use lattice::CellHash;
use table::Entry;
pub use tune::Cells;

/// Tasks per worker in a search: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// What the grid does unless told otherwise; the other choices are for experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Which cell sizes there are.
    pub cells: Cells,
    /// How cells are scattered over buckets.
    pub hash: CellHash,
}

/// See the [module](self).
#[derive(Debug, Default)]
pub struct HashGrid {
    workers: Workers,
    options: Options,
    grid: Grid,
    groups: Groups,
    /// Boxes given a group since the groups were made.
    adopted: usize,
    follower: Follower,
    /// Relinks at the last look at the crowding, and what it was after building.
    checked: usize,
    built_crowding: f64,
    built_giants: usize,
    tests: u64,
    clock: StageClock,
}

impl HashGrid {
    /// A new instance that searches with `workers`.
    pub fn new(workers: &Workers) -> HashGrid {
        HashGrid::with_options(workers, Options::default())
    }

    /// A new instance with other cells or another hash.
    pub fn with_options(workers: &Workers, options: Options) -> HashGrid {
        let mut grid = HashGrid { workers: workers.clone(), options, ..HashGrid::default() };
        grid.grid.table.hash = options.hash;
        grid
    }

    fn rebuild(&mut self, boxes: &Boxes) {
        self.groups.rebuild(boxes);
        self.grid.rebuild(boxes, &self.groups, self.options.cells);
        self.adopted = 0;
        self.checked = 0;
        self.built_crowding = self.grid.table.crowding();
        self.built_giants = self.grid.giants.places.len();
    }

    /// Takes in what changed. False where everything has to be read anew.
    fn follow(&mut self, boxes: &Boxes) -> bool {
        if !self.fits(boxes) || !self.adopt(boxes) {
            return false;
        }
        let (changes, aabbs) = (boxes.changes(), boxes.aabbs());
        for id in changes.removed() {
            self.grid.remove(id.get());
        }
        for id in changes.moved() {
            self.grid.shift(id.get(), aabbs[id.index()], self.groups.of(id.index()));
        }
        for id in changes.inserted() {
            self.grid.insert(id.get(), aabbs[id.index()], self.groups.of(id.index()));
        }
        self.is_well_tuned(boxes)
    }

    /// True where the number of boxes suits the number of buckets.
    fn fits(&self, boxes: &Boxes) -> bool {
        let buckets = self.grid.table.buckets();
        boxes.len() <= buckets && (buckets <= 64 || boxes.len() > buckets / 8)
    }

    /// Gives new boxes, and those with another filter, their groups. False where the groups are
    /// out of date.
    fn adopt(&mut self, boxes: &Boxes) -> bool {
        let changes = boxes.changes();
        if !boxes.has_filters() && self.groups.count_of_groups() == 1 {
            return true;
        }
        for id in changes.inserted().iter().chain(changes.moved()) {
            let before = self.groups.of(id.index());
            if !self.groups.adopt(id.index(), &boxes.filters()[id.index()]) {
                return false;
            }
            self.adopted += usize::from(before != self.groups.of(id.index()));
        }
        self.adopted += changes.inserted().len();
        self.adopted <= 64 + boxes.len() / 4
    }

    /// Looks now and then whether cells still suit the boxes.
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

    fn search(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<(), Error> {
        self.grid.prepare(&self.groups);
        let places = self.grid.table.entries.len();
        let filters = boxes.has_filters().then_some(boxes.filters());
        if self.workers.count() == 1 {
            self.tests = search_places(&self.grid, &self.groups, filters, 0..places, found.lane())?;
            return Ok(());
        }
        let count = TASKS_PER_WORKER * self.workers.count();
        let length = places.div_ceil(count).max(1);
        let task = |lane| Task { lane, result: Ok(0) };
        let mut tasks: Vec<Task<'_>> = found.lanes(count).iter_mut().map(task).collect();
        let (grid, groups) = (&self.grid, &self.groups);
        self.workers.for_each(&mut tasks, |index, task| {
            let range = (index * length).min(places)..((index + 1) * length).min(places);
            task.result = search_places(grid, groups, filters, range, task.lane);
        });
        self.tests = 0;
        for task in tasks {
            self.tests += task.result?;
        }
        Ok(())
    }
}

/// A stretch of entries and the lane for what is found there.
struct Task<'a> {
    lane: &'a mut Lane,
    result: Result<u64, LimitReached>,
}

/// Writes the pairs of a stretch of entries with all later ones. Returns the number of tests.
fn search_places(
    grid: &Grid,
    groups: &Groups,
    filters: Option<&[Filter]>,
    places: std::ops::Range<usize>,
    lane: &mut Lane,
) -> Result<u64, LimitReached> {
    let mut tests = 0;
    for place in places {
        let slot = grid.table.entries[place].slot;
        let allowed = |other: u32| {
            filters.is_none_or(|list| list[slot as usize].allows(&list[other as usize]))
        };
        let mut show = |other: &Entry| match allowed(other.slot) {
            true => lane.push(slot, other.slot),
            false => Ok(()),
        };
        grid.later_neighbours(place as u32, groups, &mut tests, &mut show)?;
    }
    Ok(tests)
}

impl BroadPhase for HashGrid {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.tests = 0;
        let continues = self.follower.begin(boxes);
        if continues && boxes.changes().is_empty() {
            self.follower.done(boxes);
            return Ok(Report::Delta);
        }
        if !continues || !self.follow(boxes) {
            self.rebuild(boxes);
        }
        self.clock.end("move");
        self.search(boxes, found)?;
        found.check_limit()?;
        self.clock.end("search");
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let counts = vec![
            ("sheets", self.grid.occupied.len() as f64),
            ("giants", self.grid.giants.places.len() as f64),
            ("crowding", self.built_crowding),
            ("finest", 2f64.powi(self.grid.layout.finest)),
        ];
        let bytes = self.grid.bytes() + self.groups.bytes();
        Stats { tests: self.tests, bytes, counts, stages: self.clock.stages().to_vec(), swaps: 0 }
    }

    fn validate(&self, boxes: &Boxes) {
        self.grid.validate(boxes);
    }
}
