//! [`DistributedDetector`]: boxes spread over the ranks of a job, pairs and events as of one
//! process.
//!
//! # A step
//!
//! 1. A reduction tells everyone if some rank was given something wrong, if ids come or go, how
//!    much work the last step was, and if boxes that reach very many ranks changed.
//! 2. Only if ids come or go: the [directory](crate::directory) looks for ids used twice.
//! 3. Only if the [balance](crate::balance) is bad: space is cut again.
//! 4. Every rank tells the ranks concerned of the boxes it owns ([`route`](crate::route)): one
//!    message to each neighbour, none to others.
//! 5. Every rank runs its local search over the boxes present.
//! 6. A reduction tells everyone if some search failed; if so, all ranks go back.
//! 7. Events are the local ones that pass two questions, below. The step is committed.
//!
//! # Events without talking about pairs
//!
//! A pair that began on a rank's detector is an event if it belongs to this rank by the new tree,
//! and the two boxes did not pair before: their states before the step are known here, even of
//! boxes that came from elsewhere. A pair that ended locally is an event if it belonged to this
//! rank by the old tree, and the two boxes do not pair now: their states now are known here, even
//! of boxes that went elsewhere. So a pair that changes its rank is no event on either side, each
//! event is reported by exactly one rank, and no rank ever sends a pair to another.

use jostle::{Aabb, Filter};

use crate::balance::Balance;
use crate::comm::{Communicator, Message, Reduction};
use crate::decomposition::{Decomposition, Region, bisect, lowest_common_corner};
use crate::directory::Directory;
use crate::error::Error;
use crate::id::{GlobalId, GlobalPair};
use crate::local::{BoxState, Local};
use crate::options::{Options, Ownership};
use crate::owned::{ELSEWHERE, Mark, Owned};
use crate::route::{
    BoxChange, Change, Parcel, Receive, Router, Sink, put_change, take_change, unpack,
};
use crate::wire::{Put, Take};

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

    fn try_step(&mut self) -> Result<(), Error> {
        self.report = StepReport::default();
        let (added, removed) = self.id_changes();
        let mut votes = [
            u64::from(self.fault.is_some()),
            (added.len() + removed.len()) as u64,
            self.changed_giants(),
            self.cost,
            self.owned.len() as u64,
            u64::from(self.cut_requested),
        ];
        self.reduce(&mut votes, Reduction::Sum);
        let [faults, id_changes, giants, cost, boxes, cut_requests] = votes;
        if faults > 0 {
            return Err(self.agree(self.fault.clone()));
        }
        if id_changes > 0 {
            self.check_ids(&added, &removed)?;
        }
        let ranks = self.comm.size();
        let (wanted, bad_steps) = self.balance.wants_cut(ranks, cost, boxes, &self.options);
        let cut = ranks > 1 && (wanted || cut_requests > 0);
        let tree = if cut { Some(self.cut()) } else { None };
        let new_tree = tree.as_ref().unwrap_or(&self.tree).clone();
        let new_region = new_tree.region(self.comm.rank());

        let outbox = self.write_messages(&new_tree, &new_region, cut);
        let Outbox { parcels, replicated, mine, departed, .. } = outbox;
        let received = self.deliver(parcels, &replicated, cut || giants > 0);
        let mut takes = Vec::new();
        let searched =
            self.apply(&mine, &received, &new_region, &mut takes).and_then(|()| self.local.step());

        self.report.tests = self.local.detector().stats().tests;
        let cost = self.report.tests + self.local.len() as u64;
        let mut votes = [u64::from(searched.is_err()), cost];
        self.reduce(&mut votes, Reduction::Max);
        if votes[0] > 0 {
            self.local.rollback();
            let rank = self.comm.rank();
            let reason = searched.err().map(|error| error.to_string());
            return Err(self.agree(reason.map(|reason| Error::Search { rank, reason })));
        }
        self.find_events(&new_tree, &new_region);
        self.balance.commit(cut, boxes, bad_steps, votes[1]);
        self.cost = cost;
        self.finish(new_tree, new_region, &departed, &takes, cut);
        Ok(())
    }

    /// After an error: this rank is as after the last step.
    fn withdraw(&mut self) {
        self.owned.withdraw();
        for entry in 0..self.owned.entries() {
            let slot = self.local.slot(self.owned.ids()[entry]);
            self.owned.set_slot(entry, slot.unwrap_or(ELSEWHERE));
        }
        self.directory.withdraw();
        self.fault = None;
        self.cut_requested = false;
    }

    fn reduce(&mut self, values: &mut [u64], how: Reduction) {
        self.report.collectives += 1;
        self.report.collective_bytes += size_of_val(values) as u64;
        self.comm.all_reduce(values, how);
    }

    /// The error of the lowest rank that has one; at least one does.
    fn agree(&self, mine: Option<Error>) -> Error {
        let bytes = mine.map(|error| error.to_bytes()).unwrap_or_default();
        let all = self.comm.all_gather(&bytes);
        let first = all.iter().find(|bytes| !bytes.is_empty()).expect("some rank has an error");
        Error::from_bytes(first).expect("ranks run the same program")
    }

    /// Users' ids that come and go on this rank.
    fn id_changes(&self) -> (Vec<GlobalId>, Vec<GlobalId>) {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for &entry in self.owned.changed() {
            let id = self.owned.ids()[entry as usize];
            match self.owned.mark(entry as usize) {
                Mark::New | Mark::Restored if !id.is_issued() => added.push(id),
                Mark::Removed if !id.is_issued() => removed.push(id),
                _ => {}
            }
        }
        (added, removed)
    }

    fn check_ids(&mut self, added: &[GlobalId], removed: &[GlobalId]) -> Result<(), Error> {
        let found = self.directory.check(&self.comm, added, removed);
        let mut bad = [u64::from(found.is_err())];
        self.report.collectives += 1;
        self.reduce(&mut bad, Reduction::Sum);
        if bad[0] > 0 { Err(self.agree(found.err())) } else { Ok(()) }
    }

    /// Number of changed boxes that reach too many ranks to name them, by the tree there is.
    fn changed_giants(&self) -> u64 {
        let most = self.options.replicate_above;
        if self.comm.size() <= most {
            return 0;
        }
        let mut reached = Vec::new();
        let mut giant = |state: Option<BoxState>| {
            let outside = |state: &BoxState| !self.region.encloses(&state.aabb);
            state
                .filter(outside)
                .is_some_and(|state| !self.tree.ranks_reached(&state.aabb, most, &mut reached))
        };
        let changed = self.owned.changed().iter().map(|&entry| entry as usize);
        let count = changed
            .filter(|&entry| giant(self.owned.before(entry)) || giant(self.owned.after(entry)));
        count.count() as u64
    }

    /// Cuts space by the work that each region was. Collective.
    fn cut(&mut self) -> Decomposition {
        let mut mine = Vec::new();
        mine.put_u64(self.cost);
        mine.put_u64(self.local.len() as u64);
        self.report.collectives += 1;
        self.report.collective_bytes += mine.len() as u64;
        let all = self.comm.all_gather(&mine);
        let number = |take: &mut Take<'_>| take.u64().expect("every rank says two numbers") as f64;
        let per_box = |bytes: &Vec<u8>| {
            let mut take = Take(bytes);
            let (cost, boxes) = (number(&mut take), number(&mut take));
            // Work of 256 a box at most differs by less than half a percent from its share.
            (256.0 * cost / boxes.max(1.0)).clamp(256.0, 1e6) as u32
        };
        let weights: Vec<u32> = all.iter().map(per_box).collect();
        let states: Vec<BoxState> =
            (0..self.owned.entries()).filter_map(|entry| self.owned.after(entry)).collect();
        let points: Vec<[f32; 3]> = states.iter().map(|state| state.aabb.min).collect();
        let weight = |index: usize| weights[self.tree.rank_of(points[index])];
        bisect(&self.comm, self.comm.size(), &points, weight)
    }

    /// Writes what other ranks have to hear of the boxes of this one.
    fn write_messages(&self, new: &Decomposition, region: &Region, cut: bool) -> Outbox {
        let me = self.comm.rank();
        let mut router = Router::new(&self.tree, new, self.options.replicate_above);
        let mut outbox = Outbox::new(me, self.comm.size());
        let migrating = self.options.ownership == Ownership::Migrating;
        let mut tell = |entry: usize| {
            let mark = self.owned.mark(entry);
            if mark == Mark::Void {
                return;
            }
            let (known, after) = (self.owned.before(entry), self.owned.after(entry));
            let before = if mark == Mark::Restored { after } else { known };
            let inside = |state: Option<BoxState>, region: &Region| {
                state.is_some_and(|state| region.encloses(&state.aabb))
            };
            outbox.entry = entry as u32;
            let change = Change { id: self.owned.ids()[entry], known, before, after };
            if inside(known, &self.region) && inside(after, region) {
                if known != after {
                    outbox.mine.push((entry as u32, Own::Changed));
                }
                return;
            }
            router.route(&change, &mut outbox);
            if migrating && router.hand_over(&change, me, &mut outbox) {
                outbox.departed.push(entry as u32);
            }
        };
        if cut {
            (0..self.owned.entries()).for_each(&mut tell);
        } else {
            self.owned.changed().iter().for_each(|&entry| tell(entry as usize));
        }
        outbox
    }

    /// Sends the messages and returns what came, replicated boxes last.
    fn deliver(
        &mut self,
        parcels: Vec<Option<Box<Parcel>>>,
        replicated: &[u8],
        with_giants: bool,
    ) -> (Vec<Message>, Vec<Vec<u8>>) {
        let parcels = parcels.into_iter().enumerate();
        let messages: Vec<Message> =
            parcels.filter_map(|(to, parcel)| Some((to, parcel?.into_bytes()))).collect();
        self.report.messages += messages.len() as u64;
        self.report.bytes += messages.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        self.report.collectives += 1 + u64::from(with_giants);
        let received = self.comm.exchange(messages);
        let mut giants = Vec::new();
        if with_giants {
            self.report.collective_bytes += replicated.len() as u64;
            giants = self.comm.all_gather(replicated);
        }
        (received, giants)
    }

    /// Brings the boxes present up to date.
    fn apply(
        &mut self,
        mine: &[(u32, Own)],
        (received, giants): &(Vec<Message>, Vec<Vec<u8>>),
        new_region: &Region,
        takes: &mut Vec<GlobalId>,
    ) -> Result<(), jostle::Error> {
        for &(entry, own) in mine {
            self.apply_own(entry as usize, own)?;
        }
        let mut receiver = Receiver { local: &mut self.local, takes };
        for (from, bytes) in received {
            unpack(*from, bytes, &mut receiver)?;
        }
        for (from, bytes) in giants.iter().enumerate() {
            let mut take = Take(bytes);
            while !take.is_empty() {
                let change = take_change(&mut take).expect("ranks run the same program");
                receiver.giant(from, &change, &self.region, new_region)?;
                if let Some(entry) = self.owned.find(change.id) {
                    let slot = receiver.local.slot(change.id);
                    self.owned.set_slot(entry, slot.unwrap_or(ELSEWHERE));
                }
            }
        }
        Ok(())
    }

    /// A change of an owned box on this rank itself.
    fn apply_own(&mut self, entry: usize, own: Own) -> Result<(), jostle::Error> {
        let (known, after) = (self.owned.before(entry), self.owned.after(entry));
        match (own, after) {
            (Own::Entered, Some(after)) => {
                let restored = self.owned.mark(entry) == Mark::Restored;
                let before = if restored { Some(after) } else { known };
                let id = self.owned.ids()[entry];
                let slot = self.local.enter(id, after, before, self.comm.rank())?;
                self.owned.set_slot(entry, slot);
            }
            (Own::Left, after) => {
                self.local.leave(self.owned.slot(entry), after)?;
                self.owned.set_slot(entry, ELSEWHERE);
            }
            (Own::Changed, Some(after)) => {
                let slot = self.owned.slot(entry);
                if known.is_none_or(|known| known.filter != after.filter) {
                    self.local.set_filter(slot, after.filter)?;
                }
                self.local.set(slot, after.aabb)?;
            }
            (_, None) => unreachable!("removed boxes leave"),
        }
        Ok(())
    }
}

/// What happens to an owned box on its owner's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    Entered,
    Left,
    Changed,
}

/// Messages that are being written.
struct Outbox {
    me: usize,
    /// By rank; most stay empty.
    parcels: Vec<Option<Box<Parcel>>>,
    replicated: Vec<u8>,
    mine: Vec<(u32, Own)>,
    departed: Vec<u32>,
    /// The entry that is being told about.
    entry: u32,
}

impl Outbox {
    fn new(me: usize, ranks: usize) -> Outbox {
        Outbox {
            me,
            parcels: (0..ranks).map(|_| None).collect(),
            replicated: Vec::new(),
            mine: Vec::new(),
            departed: Vec::new(),
            entry: 0,
        }
    }

    fn parcel(&mut self, to: usize) -> &mut Parcel {
        self.parcels[to].get_or_insert_default()
    }
}

impl Sink for Outbox {
    fn changed(&mut self, to: usize, change: &Change) {
        if to == self.me {
            self.mine.push((self.entry, Own::Changed));
        } else {
            self.parcel(to).changed(change);
        }
    }

    fn entered(&mut self, to: usize, change: &Change) {
        if to == self.me {
            self.mine.push((self.entry, Own::Entered));
        } else {
            self.parcel(to).entered(change);
        }
    }

    fn left(&mut self, to: usize, change: &Change) {
        if to == self.me {
            self.mine.push((self.entry, Own::Left));
        } else {
            self.parcel(to).left(change);
        }
    }

    fn replicated(&mut self, change: &Change) {
        put_change(&mut self.replicated, change);
    }

    fn taken(&mut self, to: usize, id: GlobalId) {
        self.parcel(to).taken(id);
    }
}

/// Brings messages to the boxes present.
struct Receiver<'a> {
    local: &'a mut Local,
    takes: &'a mut Vec<GlobalId>,
}

impl Receiver<'_> {
    fn slot(&self, id: GlobalId) -> u32 {
        self.local.slot(id).expect("owners know where their boxes are present")
    }

    /// A box that everyone hears of: it is here if it reaches this region.
    fn giant(
        &mut self,
        from: usize,
        change: &Change,
        old: &Region,
        new: &Region,
    ) -> Result<(), jostle::Error> {
        let was = change.known.is_some_and(|state| old.meets(&state.aabb));
        let is = change.after.is_some_and(|state| new.meets(&state.aabb));
        match (was, is) {
            (false, true) => self.entered(from, change),
            (true, false) => self.left(change.id, change.after),
            (true, true) => {
                let after = change.after.expect("it is here");
                let filter = Some(after.filter);
                self.changed(change.id, BoxChange { aabb: after.aabb, filter })
            }
            (false, false) => Ok(()),
        }
    }
}

impl Receive for Receiver<'_> {
    type Error = jostle::Error;

    fn changed(&mut self, id: GlobalId, after: BoxChange) -> Result<(), jostle::Error> {
        let slot = self.slot(id);
        if let Some(filter) = after.filter {
            self.local.set_filter(slot, filter)?;
        }
        self.local.set(slot, after.aabb)
    }

    fn entered(&mut self, from: usize, change: &Change) -> Result<(), jostle::Error> {
        let after = change.after.expect("a box that comes exists");
        self.local.enter(change.id, after, change.before, from).map(|_| ())
    }

    fn left(&mut self, id: GlobalId, after: Option<BoxState>) -> Result<(), jostle::Error> {
        let slot = self.slot(id);
        self.local.leave(slot, after)
    }

    fn taken(&mut self, id: GlobalId) -> Result<(), jostle::Error> {
        self.takes.push(id);
        Ok(())
    }
}

impl<C: Communicator> DistributedDetector<C> {
    /// Keeps of the local events those that this rank reports; see the head of this file.
    fn find_events(&mut self, new_tree: &Decomposition, new_region: &Region) {
        let local = &self.local;
        let events = local.detector().events();
        let fixed = self.options.ownership == Ownership::Fixed;
        let owner = |slot: usize| {
            if fixed {
                return local.home(slot) as u32;
            }
            let holder = match (local.after(slot), local.before(slot)) {
                (Some(after), _) => new_tree.rank_of(after.aabb.min),
                (None, Some(before)) => self.tree.rank_of(before.aabb.min),
                (None, None) => unreachable!("boxes of events existed"),
            };
            holder as u32
        };
        let event = |slots: [usize; 2]| {
            let mut two = slots.map(|slot| (local.id(slot), owner(slot)));
            two.sort_unstable();
            let pair = GlobalPair::new(two[0].0, two[1].0);
            OwnedEvent { pair, owners: two.map(|(_, owner)| owner) }
        };
        let paired = |states: [Option<BoxState>; 2]| match states {
            [Some(one), Some(other)] => one.pairs_with(&other),
            _ => false,
        };
        let corner = |states: [Option<BoxState>; 2]| {
            let [one, other] = states.map(|state| state.expect("boxes of this event existed"));
            lowest_common_corner(&one.aabb, &other.aabb)
        };
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        for pair in events.began {
            let slots = [pair.a().index(), pair.b().index()];
            let after = slots.map(|slot| local.after(slot));
            if new_region.contains(corner(after)) && !paired(slots.map(|slot| local.before(slot))) {
                began.push(event(slots));
            }
        }
        for pair in events.ended {
            let slots = [pair.a().index(), pair.b().index()];
            let before = slots.map(|slot| local.before(slot));
            if self.region.contains(corner(before)) && !paired(slots.map(|slot| local.after(slot)))
            {
                ended.push(event(slots));
            }
        }
        began.sort_unstable();
        ended.sort_unstable();
        self.began_pairs = began.iter().map(|event| event.pair).collect();
        self.ended_pairs = ended.iter().map(|event| event.pair).collect();
        (self.began, self.ended) = (began, ended);
    }

    /// Commits the step.
    fn finish(
        &mut self,
        tree: Decomposition,
        region: Region,
        departed: &[u32],
        takes: &[GlobalId],
        cut: bool,
    ) {
        self.report.changed = self.owned.changed().len() as u64;
        self.departed = departed.iter().map(|&entry| self.owned.ids()[entry as usize]).collect();
        self.arrived = takes.to_vec();
        self.local.commit();
        let local = &self.local;
        let arrival = |&id: &GlobalId| {
            let slot = local.slot(id).expect("a box is present where it is owned");
            let state = local.after(slot as usize).expect("it is here");
            (id, state, slot)
        };
        self.owned.commit(departed, takes.iter().map(arrival));
        self.directory.commit();
        (self.tree, self.region) = (tree, region);
        self.cut_requested = false;
        self.steps += 1;
        self.report.owned = self.owned.len() as u64;
        self.report.present = self.local.len() as u64;
        self.report.arrived = takes.len() as u64;
        self.report.departed = departed.len() as u64;
        self.report.cut = cut;
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
