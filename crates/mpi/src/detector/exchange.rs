//! What a rank sends in a step, and what it does with what it receives.

use crate::decomposition::Region;
use crate::id::GlobalId;
use crate::local::{BoxState, Local};
use crate::route::{BoxChange, Change, Parcel, Receive, Sink, put_change};

/// What happens to an owned box on its owner's rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    Entered,
    Left,
    Changed,
}

/// Messages that are being written.
pub(super) struct Outbox {
    me: usize,
    /// By rank; most stay empty.
    pub(super) parcels: Vec<Option<Box<Parcel>>>,
    pub(super) replicated: Vec<u8>,
    pub(super) mine: Vec<(u32, Own)>,
    pub(super) departed: Vec<u32>,
    /// The entry that is being told about.
    pub(super) entry: u32,
}

impl Outbox {
    pub(super) fn new(me: usize, ranks: usize) -> Outbox {
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
pub(super) struct Receiver<'a> {
    pub(super) local: &'a mut Local,
    pub(super) takes: &'a mut Vec<GlobalId>,
}

impl Receiver<'_> {
    fn slot(&self, id: GlobalId) -> u32 {
        self.local.slot(id).expect("owners know where their boxes are present")
    }

    /// A box that everyone hears of: it is here if it reaches this region.
    pub(super) fn giant(
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
