//! Who has to hear of a change of a box, and what.
//!
//! A box is present where its bounds say ([`Decomposition`]), before a step by the old tree and
//! after it by the new one. Ranks in both lists hear of the new bounds, ranks only in the second
//! get the box with its state before, ranks only in the first hear where it went. The detector
//! writes messages from this, the planner only counts them: both go through [`Router::route`].

use crate::decomposition::Decomposition;
use crate::id::GlobalId;
use crate::local::BoxState;
use crate::wire::{Put, Take};

/// What happens to a box in a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) id: GlobalId,
    /// The state before, by which ranks know the box; `None` if none does.
    pub(crate) known: Option<BoxState>,
    /// The state before, if the box existed at all: a restored box did, but no rank knows it.
    pub(crate) before: Option<BoxState>,
    /// The state after; `None` for a removed box.
    pub(crate) after: Option<BoxState>,
}

/// Takes what a rank has to be told.
pub(crate) trait Sink {
    /// The box stays present and has another state.
    fn changed(&mut self, to: usize, change: &Change);
    /// The box comes.
    fn entered(&mut self, to: usize, change: &Change);
    /// The box goes.
    fn left(&mut self, to: usize, change: &Change);
    /// The box reaches too many ranks to name them: all hear of it and decide for themselves.
    fn replicated(&mut self, change: &Change);
    /// The rank owns the box from now on.
    fn taken(&mut self, to: usize, id: GlobalId);
}

/// The rules for one step.
pub(crate) struct Router<'a> {
    pub(crate) old: &'a Decomposition,
    pub(crate) new: &'a Decomposition,
    pub(crate) replicate_above: usize,
    /// The lists of ranks, kept for their memory.
    pub(crate) lists: [Vec<u32>; 2],
}

impl<'a> Router<'a> {
    pub(crate) fn new(
        old: &'a Decomposition,
        new: &'a Decomposition,
        replicate_above: usize,
    ) -> Router<'a> {
        Router { old, new, replicate_above, lists: Default::default() }
    }

    /// Tells everyone concerned of a change.
    pub(crate) fn route(&mut self, change: &Change, sink: &mut impl Sink) {
        let [old, new] = &mut self.lists;
        let most = self.replicate_above;
        let list = |tree: &Decomposition, state: Option<BoxState>, out: &mut Vec<u32>| {
            out.clear();
            state.is_none_or(|state| tree.ranks_reached(&state.aabb, most, out))
        };
        let few = list(self.old, change.known, old) & list(self.new, change.after, new);
        if !few {
            return sink.replicated(change);
        }
        let differs = change.known != change.after;
        let (mut i, mut j) = (0, 0);
        while i < old.len() || j < new.len() {
            let (was, is) = (old.get(i).copied(), new.get(j).copied());
            let rank = was.unwrap_or(u32::MAX).min(is.unwrap_or(u32::MAX));
            let (was, is) = (was == Some(rank), is == Some(rank));
            match (was, is) {
                (true, true) if differs => sink.changed(rank as usize, change),
                (true, true) => {}
                (false, _) => sink.entered(rank as usize, change),
                (true, false) => sink.left(rank as usize, change),
            }
            i += usize::from(was);
            j += usize::from(is);
        }
    }

    /// Tells the rank that owns a box from now on, if that is not `owner`.
    pub(crate) fn hand_over(&self, change: &Change, owner: usize, sink: &mut impl Sink) -> bool {
        let Some(after) = change.after else { return false };
        let heir = self.new.rank_of(after.aabb.min);
        if heir != owner {
            sink.taken(heir, change.id);
        }
        heir != owner
    }
}

/// Five counts begin a message.
const HEADER: usize = 20;

const EXISTED: u8 = 1;
const EXISTS: u8 = 2;
const KNOWN: u8 = 4;

/// The message for one rank, in parts of one kind each.
#[derive(Default)]
pub(crate) struct Parcel {
    moved: Vec<u8>,
    refiltered: Vec<u8>,
    entered: Vec<u8>,
    left: Vec<u8>,
    taken: Vec<u8>,
    counts: [u32; 5],
}

impl Parcel {
    pub(crate) fn changed(&mut self, change: &Change) {
        let after = change.after.expect("a box that stays exists");
        let refiltered = change.known.is_none_or(|known| known.filter != after.filter);
        let part = if refiltered { &mut self.refiltered } else { &mut self.moved };
        part.put_id(change.id);
        part.put_aabb(&after.aabb);
        if refiltered {
            part.put_filter(&after.filter);
        }
        self.counts[usize::from(refiltered)] += 1;
    }

    pub(crate) fn entered(&mut self, change: &Change) {
        put_change(&mut self.entered, change);
        self.counts[2] += 1;
    }

    pub(crate) fn left(&mut self, change: &Change) {
        self.left.put_id(change.id);
        self.left.put_u8(u8::from(change.after.is_some()));
        if let Some(after) = change.after {
            self.left.put_aabb(&after.aabb);
            self.left.put_filter(&after.filter);
        }
        self.counts[3] += 1;
    }

    pub(crate) fn taken(&mut self, id: GlobalId) {
        self.taken.put_id(id);
        self.counts[4] += 1;
    }

    /// Bytes written since the last call, apart from the header; forgets them.
    pub(crate) fn take_length(&mut self) -> usize {
        let parts = [
            &mut self.moved,
            &mut self.refiltered,
            &mut self.entered,
            &mut self.left,
            &mut self.taken,
        ];
        let mut length = 0;
        for part in parts {
            length += part.len();
            part.clear();
        }
        self.counts = [0; 5];
        length
    }

    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        let parts = [&self.moved, &self.refiltered, &self.entered, &self.left, &self.taken];
        let length = parts.iter().map(|part| part.len()).sum::<usize>() + HEADER;
        let mut bytes = Vec::with_capacity(length + 1);
        self.counts.iter().for_each(|&count| bytes.put_u32(count));
        for part in [
            &mut self.moved,
            &mut self.refiltered,
            &mut self.entered,
            &mut self.left,
            &mut self.taken,
        ] {
            bytes.append(part);
        }
        bytes
    }
}

/// A record that says everything of a change.
pub(crate) fn put_change(bytes: &mut Vec<u8>, change: &Change) {
    bytes.put_id(change.id);
    let flag = |flag: u8, state: Option<BoxState>| if state.is_some() { flag } else { 0 };
    bytes.put_u8(
        flag(EXISTED, change.before) | flag(EXISTS, change.after) | flag(KNOWN, change.known),
    );
    for state in [change.after, change.before].into_iter().flatten() {
        bytes.put_aabb(&state.aabb);
        bytes.put_filter(&state.filter);
    }
}

/// Reads what [`put_change`] wrote.
pub(crate) fn take_change(take: &mut Take<'_>) -> Option<Change> {
    let (id, flags) = (take.id()?, take.u8()?);
    let mut state = |flag: u8| {
        if flags & flag == 0 {
            return Some(None);
        }
        Some(Some(BoxState { aabb: take.aabb()?, filter: take.filter()? }))
    };
    let (after, before) = (state(EXISTS)?, state(EXISTED)?);
    let known = before.filter(|_| flags & KNOWN != 0);
    Some(Change { id, known, before, after })
}

/// Takes what a message tells.
pub(crate) trait Receive {
    type Error;
    fn changed(&mut self, id: GlobalId, after: BoxChange) -> Result<(), Self::Error>;
    fn entered(&mut self, from: usize, change: &Change) -> Result<(), Self::Error>;
    fn left(&mut self, id: GlobalId, after: Option<BoxState>) -> Result<(), Self::Error>;
    fn taken(&mut self, id: GlobalId) -> Result<(), Self::Error>;
}

/// New bounds, and the new filter if that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxChange {
    pub(crate) aabb: jostle::Aabb,
    pub(crate) filter: Option<jostle::Filter>,
}

/// Reads a message; panics if it is not one, because only this crate writes them.
pub(crate) fn unpack<R: Receive>(
    from: usize,
    bytes: &[u8],
    receiver: &mut R,
) -> Result<(), R::Error> {
    const WHOLE: &str = "messages between ranks are whole";
    let mut take = Take(bytes);
    let counts: [u32; 5] = std::array::from_fn(|_| take.u32().expect(WHOLE));
    for _ in 0..counts[0] {
        let id = take.id().expect(WHOLE);
        receiver.changed(id, BoxChange { aabb: take.aabb().expect(WHOLE), filter: None })?;
    }
    for _ in 0..counts[1] {
        let (id, aabb) = (take.id().expect(WHOLE), take.aabb().expect(WHOLE));
        let filter = Some(take.filter().expect(WHOLE));
        receiver.changed(id, BoxChange { aabb, filter })?;
    }
    for _ in 0..counts[2] {
        receiver.entered(from, &take_change(&mut take).expect(WHOLE))?;
    }
    for _ in 0..counts[3] {
        let id = take.id().expect(WHOLE);
        let exists = take.u8().expect(WHOLE) == 1;
        let after = exists.then(|| BoxState {
            aabb: take.aabb().expect(WHOLE),
            filter: take.filter().expect(WHOLE),
        });
        receiver.left(id, after)?;
    }
    for _ in 0..counts[4] {
        receiver.taken(take.id().expect(WHOLE))?;
    }
    assert!(take.is_empty(), "{WHOLE}");
    Ok(())
}
