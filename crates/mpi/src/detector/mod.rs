//! [`DistributedDetector`]: boxes spread over the ranks of a job, pairs and events as of one
//! process.
//!
//! What a caller sees: the boxes of a rank and changes to them. [`step`] is how a step goes,
//! [`exchange`] what its messages do.

mod exchange;
mod step;

use jostle::{Aabb, Filter};

use crate::balance::Balance;
use crate::comm::Communicator;
use crate::decomposition::{Decomposition, Region};
use crate::directory::Directory;
use crate::error::Error;
use crate::id::{GlobalId, GlobalPair};
use crate::local::{BoxState, Local};
use crate::options::Options;
use crate::owned::{Mark, Owned};

/// What began and what ended in a step among the pairs of this rank, each sorted by pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events<'a> {
    /// Pairs that overlap now and did not before.
    pub began: &'a [GlobalPair],
    /// Pairs that overlapped before and do not now.
    pub ended: &'a [GlobalPair],
}

/// What a step did on this rank. Counts are exact and repeatable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepReport {
    /// Boxes that this rank owns.
    pub owned: u64,
    /// Boxes present on this rank.
    pub present: u64,
    /// Boxes of this rank that were given a change.
    pub changed: u64,
    /// Box tests of the local search.
    pub tests: u64,
    /// Messages sent to other ranks; collective calls are apart.
    pub messages: u64,
    /// Bytes in those messages.
    pub bytes: u64,
    /// Collective calls: reductions, gathers, and the barrier of each exchange.
    pub collectives: u64,
    /// Bytes given to collective calls.
    pub collective_bytes: u64,
    /// Boxes that came to be owned by this rank.
    pub arrived: u64,
    /// Boxes that went to other owners.
    pub departed: u64,
    /// True if space was cut in this step.
    pub cut: bool,
}

/// An event, and the ranks that own its two boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OwnedEvent {
    pub(crate) pair: GlobalPair,
    pub(crate) owners: [u32; 2],
}

/// The part of one rank in a set of boxes that is spread over all ranks of a communicator.
///
/// Changes are local calls and never fail: what is wrong with them is said by the next
/// [`step`](DistributedDetector::step), on all ranks alike. `step` and everything that says so is
/// collective: all ranks call it.
///
/// ```
/// use jostle::{Aabb, Filter};
/// use jostle_mpi::{Communicator, DistributedDetector, GlobalId, Options, run_virtual};
///
/// // Three ranks in one process; over MPI the closure is the program.
/// let began = run_virtual(3, |ranks| {
///     let mut detector = DistributedDetector::new(ranks, Options::default());
///     let x = ranks.rank() as f32;
///     let aabb = Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]);
///     detector.insert(&[GlobalId(ranks.rank() as u64)], &[aabb], &[Filter::ALL]);
///     detector.step().map(|events| events.began.len())
/// });
/// let began: usize = began.into_iter().map(Result::unwrap).sum();
/// assert_eq!(began, 2); // 0 touches 1, 1 touches 2; each pair is reported once.
/// ```
pub struct DistributedDetector<C> {
    pub(crate) comm: C,
    options: Options,
    tree: Decomposition,
    region: Region,
    owned: Owned,
    pub(crate) local: Local,
    directory: Directory,
    balance: Balance,
    /// The work of this rank in the last step.
    cost: u64,
    cut_requested: bool,
    /// The first thing wrong with the changes since the last step.
    fault: Option<Error>,
    issued: u64,
    steps: u64,
    pub(crate) began: Vec<OwnedEvent>,
    pub(crate) ended: Vec<OwnedEvent>,
    began_pairs: Vec<GlobalPair>,
    ended_pairs: Vec<GlobalPair>,
    arrived: Vec<GlobalId>,
    departed: Vec<GlobalId>,
    report: StepReport,
}

impl<C: Communicator> DistributedDetector<C> {
    /// An empty set. All ranks make one, with the same options.
    pub fn new(comm: C, options: Options) -> DistributedDetector<C> {
        let tree = Decomposition::undivided(comm.size());
        DistributedDetector {
            region: tree.region(comm.rank()),
            tree,
            owned: Owned::default(),
            local: Local::new(&options),
            directory: Directory::default(),
            balance: Balance::default(),
            cost: 0,
            cut_requested: false,
            fault: None,
            issued: 0,
            steps: 0,
            began: Vec::new(),
            ended: Vec::new(),
            began_pairs: Vec::new(),
            ended_pairs: Vec::new(),
            arrived: Vec::new(),
            departed: Vec::new(),
            report: StepReport::default(),
            options,
            comm,
        }
    }

    /// The communicator.
    pub fn communicator(&self) -> &C {
        &self.comm
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How space is divided.
    pub fn decomposition(&self) -> &Decomposition {
        &self.tree
    }

    /// The boxes that this rank owns, in the order in which [`set_all`] takes bounds. Boxes
    /// removed since the last step are among them until the next.
    ///
    /// [`set_all`]: DistributedDetector::set_all
    pub fn ids(&self) -> &[GlobalId] {
        self.owned.ids()
    }

    /// The bounds of a box that this rank owns, with the changes since the last step.
    pub fn get(&self, id: GlobalId) -> Option<Aabb> {
        self.owned.find(id).map(|entry| self.owned.state(entry).aabb)
    }

    /// The filter of a box that this rank owns, with the changes since the last step.
    pub fn filter(&self, id: GlobalId) -> Option<Filter> {
        self.owned.find(id).map(|entry| self.owned.state(entry).filter)
    }

    /// Returns true if this rank owns the box.
    pub fn owns(&self, id: GlobalId) -> bool {
        self.owned.find(id).is_some()
    }

    /// Number of boxes that this rank owns.
    pub fn len(&self) -> usize {
        self.owned.len()
    }

    /// Returns true if this rank owns no box.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Boxes that came to this rank with the last step, from other ranks.
    pub fn arrived(&self) -> &[GlobalId] {
        &self.arrived
    }

    /// Boxes that went to other ranks with the last step.
    pub fn departed(&self) -> &[GlobalId] {
        &self.departed
    }

    /// What the last step did on this rank.
    pub fn report(&self) -> StepReport {
        self.report
    }

    /// How long this rank's local search took in the last step.
    pub fn search_time(&self) -> std::time::Duration {
        self.local.detector().step_time().update
    }

    /// Number of boxes present here whose lower corner lies in another rank's region.
    pub fn ghosts(&self) -> u64 {
        self.local.present().filter(|aabb| !self.region.contains(aabb.min)).count() as u64
    }

    /// The events of the last step among the pairs of this rank.
    pub fn events(&self) -> Events<'_> {
        Events { began: &self.began_pairs, ended: &self.ended_pairs }
    }

    /// Makes the next step cut space again, whatever the balance. It is enough if one rank asks.
    pub fn request_cut(&mut self) {
        self.cut_requested = true;
    }

    fn refuse(&mut self, error: Error) {
        self.fault.get_or_insert(error);
    }

    /// Returns true if the lists are as long as they should be, and each box is one.
    fn check(&mut self, expected: usize, given: usize, aabbs: &[Aabb]) -> bool {
        let rank = self.comm.rank();
        if given != expected {
            self.refuse(Error::Length { rank, given, expected });
            return false;
        }
        for (row, aabb) in aabbs.iter().enumerate() {
            if let Err(fault) = aabb.check() {
                self.refuse(Error::Box { rank, row, fault });
                return false;
            }
        }
        true
    }

    /// Adds boxes under ids of the user's, each used once in the whole job. A single filter counts
    /// for all of them.
    pub fn insert(&mut self, ids: &[GlobalId], aabbs: &[Aabb], filters: &[Filter]) {
        let rank = self.comm.rank();
        let filters_given = if filters.len() == 1 { ids.len() } else { filters.len() };
        if !self.check(ids.len(), aabbs.len(), aabbs) || !self.check(ids.len(), filters_given, &[])
        {
            return;
        }
        for (row, (&id, &aabb)) in ids.iter().zip(aabbs).enumerate() {
            if id.is_issued() {
                return self.refuse(Error::Reserved { rank, row, id });
            }
            if self.owned.knows(id) {
                return self.refuse(Error::Taken { rank, id, holder: rank });
            }
            let filter = filters[if filters.len() == 1 { 0 } else { row }];
            self.owned.insert(id, BoxState { aabb, filter }, Mark::New);
        }
    }

    /// Adds boxes under ids that the detector issues, and returns the ids. After an error of the
    /// next step the ids are gone.
    pub fn insert_new(&mut self, aabbs: &[Aabb], filters: &[Filter]) -> Vec<GlobalId> {
        let filters_given = if filters.len() == 1 { aabbs.len() } else { filters.len() };
        if !self.check(aabbs.len(), filters_given, aabbs) {
            return Vec::new();
        }
        let rank = self.comm.rank();
        let insert = |(row, &aabb): (usize, &Aabb)| {
            let id = GlobalId::issued(rank, self.issued);
            self.issued += 1;
            let filter = filters[if filters.len() == 1 { 0 } else { row }];
            self.owned.insert(id, BoxState { aabb, filter }, Mark::New);
            id
        };
        aabbs.iter().enumerate().map(insert).collect()
    }

    /// The entries of owned boxes, if all are.
    fn find_all(&mut self, ids: &[GlobalId]) -> Option<Vec<usize>> {
        let mut entries = Vec::with_capacity(ids.len());
        for (row, &id) in ids.iter().enumerate() {
            let Some(entry) = self.owned.find(id) else {
                self.refuse(Error::NotOwned { rank: self.comm.rank(), row, id });
                return None;
            };
            entries.push(entry);
        }
        Some(entries)
    }

    /// Gives boxes of this rank new bounds. The same bounds are no change.
    pub fn set(&mut self, ids: &[GlobalId], aabbs: &[Aabb]) {
        if !self.check(ids.len(), aabbs.len(), aabbs) {
            return;
        }
        let Some(entries) = self.find_all(ids) else { return };
        entries.into_iter().zip(aabbs).for_each(|(entry, &aabb)| self.owned.set(entry, aabb));
    }

    /// Gives all boxes of this rank new bounds, in the order of [`ids`](Self::ids), without
    /// looking ids up: the quickest way.
    pub fn set_all(&mut self, aabbs: &[Aabb]) {
        if !self.check(self.owned.entries(), aabbs.len(), aabbs) {
            return;
        }
        for (entry, &aabb) in aabbs.iter().enumerate() {
            self.owned.set(entry, aabb);
        }
    }

    /// Gives boxes of this rank other filters.
    pub fn set_filters(&mut self, ids: &[GlobalId], filters: &[Filter]) {
        if !self.check(ids.len(), filters.len(), &[]) {
            return;
        }
        let Some(entries) = self.find_all(ids) else { return };
        for (entry, &filter) in entries.into_iter().zip(filters) {
            self.owned.set_filter(entry, filter);
        }
    }

    /// Removes boxes of this rank. Their ids are free again after the next step.
    pub fn remove(&mut self, ids: &[GlobalId]) {
        let rank = self.comm.rank();
        for (row, &id) in ids.iter().enumerate() {
            match self.owned.find(id) {
                Some(entry) => self.owned.remove(entry),
                None => return self.refuse(Error::NotOwned { rank, row, id }),
            }
        }
    }

    /// Restored boxes come in through here: they exist, but no rank of this job knows them yet.
    pub(crate) fn adopt(&mut self, id: GlobalId, state: BoxState) {
        if self.owned.knows(id) {
            let rank = self.comm.rank();
            return self.refuse(Error::Taken { rank, id, holder: rank });
        }
        self.owned.insert(id, state, Mark::Restored);
    }

    pub(crate) fn set_issued(&mut self, issued: u64) {
        self.issued = issued;
    }

    pub(crate) fn issued(&self) -> u64 {
        self.issued
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn set_steps(&mut self, steps: u64) {
        self.steps = steps;
    }

    /// The boxes of this rank as they were after the last step.
    pub(crate) fn committed(&self) -> impl Iterator<Item = (GlobalId, BoxState)> {
        let entry = |entry: usize| Some((self.owned.ids()[entry], self.owned.before(entry)?));
        (0..self.owned.entries()).filter_map(entry)
    }

    pub(crate) fn region(&self) -> &Region {
        &self.region
    }

    /// Finds what began and what ended since the last step, on all ranks together. Collective.
    /// The events are those of the pairs that belong to this rank; see also
    /// [`events_of_owned_boxes`](Self::events_of_owned_boxes).
    pub fn step(&mut self) -> Result<Events<'_>, Error> {
        match self.try_step() {
            Ok(()) => Ok(self.events()),
            Err(error) => {
                self.withdraw();
                Err(error)
            }
        }
    }
}

impl<C: Communicator> std::fmt::Debug for DistributedDetector<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DistributedDetector")
            .field("rank", &self.comm.rank())
            .field("ranks", &self.comm.size())
            .field("owned", &self.owned.len())
            .field("present", &self.local.len())
            .finish_non_exhaustive()
    }
}
