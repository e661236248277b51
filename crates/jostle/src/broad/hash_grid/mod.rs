//! `hash-grid`: a hierarchy of hashed uniform grids, after the multithreaded grid of seed paper
//! 003 section 4.1 and Ericson's *Real-Time Collision Detection*.

mod delta;
mod giants;
mod grid;
mod lattice;
mod table;
mod tune;

use std::ops::Range;

use crate::boxes::{Boxes, Follower};
use crate::broad::groups::Groups;
use crate::broad::{BroadPhase, Report};
use crate::error::{Error, LimitReached};
use crate::filter::Filter;
use crate::pair::{Lane, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};
use delta::{Changed, Search};
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
    /// The filters as last seen; empty while there are none.
    filters: Vec<Filter>,
    changed: Changed,
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

    fn start_anew(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.rebuild(boxes);
        self.clock.end("build");
        self.search(boxes, found)
    }

    fn rebuild(&mut self, boxes: &Boxes) {
        self.groups.rebuild(boxes);
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.extend_from_slice(boxes.filters());
        }
        self.grid.rebuild(boxes, &self.groups, self.options.cells);
        self.adopted = 0;
        self.checked = 0;
        self.built_crowding = self.grid.table.crowding();
        self.built_giants = self.grid.giants.places.len();
    }

    /// Takes in what changed.
    fn follow(&mut self, boxes: &Boxes) {
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
        if !self.is_well_tuned(boxes) {
            self.rebuild(boxes);
        }
    }

    /// True where the number of boxes suits the number of buckets.
    fn fits(&self, boxes: &Boxes) -> bool {
        let buckets = self.grid.table.buckets();
        boxes.len() <= buckets && (buckets <= 64 || boxes.len() > buckets / 8)
    }

    /// Gives new boxes, and those with another filter, their groups. None where the groups are
    /// out of date, otherwise whether a box that stays has got another filter.
    fn adopt(&mut self, boxes: &Boxes) -> Option<bool> {
        let changes = boxes.changes();
        if !boxes.has_filters() && self.filters.is_empty() {
            return Some(false);
        }
        let mut refiltered = false;
        self.filters.resize(self.filters.len().max(boxes.slots()), Filter::ALL);
        for id in changes.moved() {
            let filter = boxes.filters()[id.index()];
            if self.filters[id.index()] != filter {
                refiltered = true;
                self.adopted += 1;
                self.filters[id.index()] = filter;
                self.groups.adopt(id.index(), &filter).then_some(())?;
            }
        }
        for id in changes.inserted() {
            self.filters[id.index()] = boxes.filters()[id.index()];
            self.groups.adopt(id.index(), &self.filters[id.index()]).then_some(())?;
        }
        self.adopted += changes.inserted().len();
        (self.adopted <= 64 + boxes.len() / 4).then_some(refiltered)
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

    /// Searches for all pairs.
    fn search(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.grid.prepare(&self.groups);
        let filters = boxes.has_filters().then_some(boxes.filters());
        let (grid, groups) = (&self.grid, &self.groups);
        let places = grid.table.entries.len();
        self.tests = in_tasks(&self.workers, places, found, |part, lane| {
            search_places(grid, groups, filters, part, lane)
        })?;
        self.clock.end("search");
        Ok(Report::Full)
    }

    /// Follows the changes, which have been collected, and searches for what they changed.
    fn search_changed(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.changed.mark(boxes.slots());
        let done = self.search_marked(boxes, found);
        self.changed.unmark();
        done
    }

    fn search_marked(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let HashGrid { grid, groups, changed, .. } = &*self;
        let filters = (!self.filters.is_empty()).then_some(self.filters.as_slice());
        let search = Search { grid, groups, changed, filters };
        let tests = in_tasks(&self.workers, changed.before(), found, |part, lane| {
            search.ended(boxes, part, lane)
        })?;
        self.changed.ended.clear();
        self.changed.ended.extend(found.iter());
        found.clear();
        found.ended_mut().extend_from_slice(&self.changed.ended);
        self.clock.end("search old");
        self.follow(boxes);
        self.grid.prepare(&self.groups);
        self.clock.end("move");
        let HashGrid { grid, groups, changed, .. } = &*self;
        let filters = boxes.has_filters().then_some(boxes.filters());
        let search = Search { grid, groups, changed, filters };
        self.tests = tests
            + in_tasks(&self.workers, changed.after(), found, |part, lane| {
                search.began(part, lane)
            })?;
        self.clock.end("search");
        Ok(Report::Delta)
    }
}

/// Deals a number of items to tasks, each with a lane of its own, and adds up their tests.
fn in_tasks(
    workers: &Workers,
    items: usize,
    found: &mut PairBuffer,
    work: impl Fn(Range<usize>, &mut Lane) -> Result<u64, LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    if workers.count() == 1 {
        return work(0..items, found.lane());
    }
    let count = TASKS_PER_WORKER * workers.count();
    let task = |lane| Task { lane, result: Ok(0) };
    let mut tasks: Vec<Task<'_>> = found.lanes(count).iter_mut().map(task).collect();
    workers.for_each(&mut tasks, |index, task| {
        let part = items * index / count..items * (index + 1) / count;
        task.result = work(part, task.lane);
    });
    tasks.into_iter().map(|task| task.result).sum()
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
    places: Range<usize>,
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
        let report = if !continues || !self.fits(boxes) {
            self.start_anew(boxes, found)?
        } else {
            match self.adopt(boxes) {
                None => self.start_anew(boxes, found)?,
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
        let bytes = self.grid.bytes()
            + self.groups.bytes()
            + self.changed.bytes()
            + self.filters.capacity() * size_of::<Filter>();
        Stats { tests: self.tests, bytes, counts, stages: self.clock.stages().to_vec(), swaps: 0 }
    }

    fn validate(&self, boxes: &Boxes) {
        self.grid.validate(boxes);
    }
}
