//! A step of all ranks.
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

use crate::comm::{Communicator, Message, Reduction};
use crate::decomposition::{Decomposition, Region, bisect, lowest_common_corner};
use crate::error::Error;
use crate::id::{GlobalId, GlobalPair};
use crate::local::BoxState;
use crate::options::Ownership;
use crate::owned::{ELSEWHERE, Mark};
use crate::route::{Change, Parcel, Router, take_change, unpack};
use crate::wire::{Put, Take};

use super::exchange::{Outbox, Own, Receiver};
use super::{DistributedDetector, OwnedEvent, StepReport};

impl<C: Communicator> DistributedDetector<C> {
    pub(super) fn try_step(&mut self) -> Result<(), Error> {
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
    pub(super) fn withdraw(&mut self) {
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
            if self.owned.stays_inside(entry, &self.region, region) {
                outbox.mine.push((entry as u32, Own::Changed));
                return;
            }
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
                return; // It did not change, or the first question would have caught it.
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
        match own {
            Own::Changed => {
                let slot = self.owned.slot(entry);
                if let Some(filter) = self.owned.new_filter(entry) {
                    self.local.set_filter(slot, filter)?;
                }
                self.local.set(slot, *self.owned.bounds(entry))
            }
            Own::Entered => {
                let after = self.owned.after(entry).expect("a box that comes exists");
                let restored = self.owned.mark(entry) == Mark::Restored;
                let before = if restored { Some(after) } else { self.owned.before(entry) };
                let id = self.owned.ids()[entry];
                let slot = self.local.enter(id, after, before, self.comm.rank())?;
                self.owned.set_slot(entry, slot);
                Ok(())
            }
            Own::Left => {
                self.local.leave(self.owned.slot(entry), self.owned.after(entry))?;
                self.owned.set_slot(entry, ELSEWHERE);
                Ok(())
            }
        }
    }
}

impl<C: Communicator> DistributedDetector<C> {
    /// Keeps of the local events those that this rank reports; see the head of this file.
    fn find_events(&mut self, new_tree: &Decomposition, new_region: &Region) {
        let local = &self.local;
        let events = local.detector().events();
        let fixed = self.options.ownership == Ownership::Fixed;
        let bounds = local.bounds();
        let me = self.comm.rank() as u32;
        // Most boxes lie here, and the tree need not be asked.
        let owner_by = |corner: [f32; 3], region: &Region, tree: &Decomposition| {
            if region.contains(corner) { me } else { tree.rank_of(corner) as u32 }
        };
        let owner = |slot: usize| {
            if fixed {
                return local.home(slot) as u32;
            }
            if !local.has_left(slot) {
                return owner_by(bounds[slot].min, new_region, new_tree);
            }
            match local.after(slot) {
                Some(after) => new_tree.rank_of(after.aabb.min) as u32,
                None => owner_by(local.bounds_before(slot).min, &self.region, &self.tree),
            }
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
        // Boxes that were here before and still are did not pair before, or the local detector
        // would know the pair; so only those that came or went need the second question.
        let (mut began, mut ended) = (Vec::new(), Vec::new());
        for pair in events.began {
            let slots = [pair.a().index(), pair.b().index()];
            let [a, b] = slots.map(|slot| &bounds[slot]);
            let came = slots.iter().any(|&slot| local.has_entered(slot));
            let paired_before = || paired(slots.map(|slot| local.before(slot)));
            if new_region.contains(lowest_common_corner(a, b)) && !(came && paired_before()) {
                began.push(event(slots));
            }
        }
        for pair in events.ended {
            let slots = [pair.a().index(), pair.b().index()];
            let [a, b] = slots.map(|slot| local.bounds_before(slot));
            let went = slots.iter().any(|&slot| local.has_left(slot));
            let paired_now = || paired(slots.map(|slot| local.after(slot)));
            if self.region.contains(lowest_common_corner(a, b)) && !(went && paired_now()) {
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
