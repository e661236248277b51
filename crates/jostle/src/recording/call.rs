//! [`Call`]: one recorded call, and how it is done again.

use super::decode::Decoder;
use super::error::RecordingError;
use crate::aabb::Aabb;
use crate::boxes::{Boxes, Snapshot};
use crate::error::{BoxError, Error};
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::journal::{StepHash, code};
use crate::pair::Pair;

/// What a recording begins with.
#[derive(Debug)]
#[non_exhaustive]
pub struct Start {
    /// Name of the broad phase.
    pub algorithm: String,
    /// Number of threads.
    pub threads: usize,
    /// How many pairs may overlap.
    pub pair_limit: usize,
    /// The boxes, with changes that were pending.
    pub boxes: Boxes,
    /// The pairs of the step before.
    pub pairs: Vec<Pair>,
}

/// A recorded call. Boxes are named by slot.
#[derive(Debug)]
#[non_exhaustive]
pub enum Call {
    /// The state in which recording began; always the first.
    Begin(Box<Start>),
    /// Boxes were inserted and got these slots.
    Insert {
        /// Where they are.
        slots: Vec<Slot>,
        /// Their bounds.
        aabbs: Vec<Aabb>,
        /// Their filters.
        filters: Vec<Filter>,
    },
    /// Boxes got new bounds.
    Set {
        /// Which.
        slots: Vec<Slot>,
        /// Their bounds.
        aabbs: Vec<Aabb>,
    },
    /// A box got another filter.
    SetFilter(Slot, Filter),
    /// Boxes were removed.
    Remove(Vec<Slot>),
    /// A pair was excluded.
    Exclude(Pair),
    /// An excluded pair was included again.
    Include(Pair),
    /// A box got user data.
    SetUserData(Slot, u64),
    /// The broad phase was replaced by the one of this name.
    Algorithm(String),
    /// The limit on pairs was set.
    PairLimit(usize),
    /// A step was taken and found this.
    Step(StepHash),
    /// A step was refused, with these words; its changes stayed pending.
    RefusedStep(String),
    /// The recording was ended, not cut off.
    End,
}

/// Reads a call; `last` is what the step before found.
pub(super) fn read(from: &mut Decoder<'_>, last: StepHash) -> Result<Call, String> {
    Ok(match from.byte()? {
        code::BEGIN => Call::Begin(Box::new(read_start(from)?)),
        code::INSERT => read_insert(from)?,
        code::SET => {
            let slots = from.runs(24)?;
            Call::Set { aabbs: from.bounds(slots.len())?, slots }
        }
        code::FILTER => Call::SetFilter(from.slot()?, from.filter()?),
        code::REMOVE => Call::Remove(from.slots()?),
        code::EXCLUDE => Call::Exclude(from.pair()?),
        code::INCLUDE => Call::Include(from.pair()?),
        code::USER_DATA => Call::SetUserData(from.slot()?, from.word()?),
        code::ALGORITHM => Call::Algorithm(from.text()?),
        code::PAIR_LIMIT => Call::PairLimit(from.size()?),
        code::STEP => {
            let (pairs, began, ended) = (from.varint()?, from.varint()?, from.varint()?);
            let (pairs_hash, events_hash) = (from.word()?, from.word()?);
            Call::Step(StepHash { pairs, began, ended, pairs_hash, events_hash })
        }
        code::QUIET_STEP => Call::Step(last.next(last.pairs as usize, &[], &[])),
        code::REFUSED_STEP => Call::RefusedStep(from.text()?),
        code::END => Call::End,
        other => return Err(format!("there is no call {other}")),
    })
}

fn read_insert(from: &mut Decoder<'_>) -> Result<Call, String> {
    let slots = from.runs(24)?;
    let filters = match from.byte()? {
        0 => vec![from.filter()?; slots.len()],
        1 => slots.iter().map(|_| from.filter()).collect::<Result<_, _>>()?,
        other => return Err(format!("there is no list of filters of kind {other}")),
    };
    Ok(Call::Insert { aabbs: from.bounds(slots.len())?, slots, filters })
}

fn read_start(from: &mut Decoder<'_>) -> Result<Start, String> {
    let (algorithm, threads, pair_limit) = (from.text()?, from.size()?, from.size()?);
    // The fields are stored in this order.
    let count = from.count(2)?;
    let mut snapshot = Snapshot::default();
    for _ in 0..count {
        snapshot.state.push(from.byte()?);
        let generation = from.varint()?;
        let generation = u32::try_from(generation).map_err(|_| "a generation is too large")?;
        snapshot.generations.push(generation);
    }
    for index in 0..count {
        // Kept, inserted or moved; other slots hold no box.
        let live = (1..=3).contains(&snapshot.state[index]);
        snapshot.bits.push(if live { from.bits()? } else { [0; 6] });
        snapshot.filters.push(if live { from.filter()? } else { Filter::ALL });
    }
    let data = from.count(8)?;
    snapshot.user_data = (0..data).map(|_| from.word()).collect::<Result<_, _>>()?;
    snapshot.free = from.slots()?;
    snapshot.inserted = from.slots()?;
    snapshot.moved = from.slots()?;
    snapshot.removed = from.slots()?;
    snapshot.exclusions = from.pairs()?;
    let pairs = from.pairs()?;
    let boxes = Boxes::from_snapshot(snapshot)?;
    Ok(Start { algorithm, threads, pair_limit, boxes, pairs })
}

impl Call {
    /// Does to the boxes what the call did. Calls that concern a broad phase (an algorithm, a
    /// limit, a step) leave them as they are: a step is the caller's, and so is the
    /// [`commit`](Boxes::commit) after it.
    pub fn apply(&self, boxes: &mut Boxes) -> Result<(), RecordingError> {
        match self {
            Call::Begin(start) => *boxes = start.boxes.clone(),
            Call::Insert { slots, aabbs, filters } => {
                let ids = boxes.insert_each(aabbs, filters)?;
                if let Some((got, told)) =
                    ids.iter().zip(slots).find(|(id, slot)| id.slot() != **slot)
                {
                    return Err(misfit(format!("box {told} was inserted as box {}", got.slot())));
                }
            }
            Call::Set { slots, aabbs } => {
                let ids: Vec<BoxId> = named(boxes, slots)?;
                boxes.set_many(&ids, aabbs)?;
            }
            Call::SetFilter(slot, filter) => boxes.set_filter(id(boxes, *slot)?, *filter)?,
            Call::Remove(slots) => {
                let ids = named(boxes, slots)?;
                boxes.remove_all(&ids)?;
            }
            Call::Exclude(pair) => boxes.exclude(id(boxes, pair.a())?, id(boxes, pair.b())?)?,
            Call::Include(pair) => boxes.include(id(boxes, pair.a())?, id(boxes, pair.b())?)?,
            Call::SetUserData(slot, data) => boxes.set_user_data(id(boxes, *slot)?, *data)?,
            Call::Algorithm(_) | Call::PairLimit(_) => {}
            Call::Step(_) | Call::RefusedStep(_) | Call::End => {}
        }
        Ok(())
    }
}

fn id(boxes: &Boxes, slot: Slot) -> Result<BoxId, RecordingError> {
    boxes.id_at(slot).ok_or_else(|| misfit(format!("there is no box {slot} at this point")))
}

fn named(boxes: &Boxes, slots: &[Slot]) -> Result<Vec<BoxId>, RecordingError> {
    slots.iter().map(|&slot| id(boxes, slot)).collect()
}

fn misfit(what: String) -> RecordingError {
    RecordingError::Misfit(what)
}

impl From<BoxError> for RecordingError {
    fn from(error: BoxError) -> RecordingError {
        misfit(error.to_string())
    }
}

impl From<Error> for RecordingError {
    fn from(error: Error) -> RecordingError {
        misfit(error.to_string())
    }
}
