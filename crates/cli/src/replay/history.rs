//! [`History`]: a recording as single acts on boxes with names of their own, of which any part can
//! be left out.

use std::collections::BTreeMap;

use jostle::recording::Call;
use jostle::{Aabb, Filter, Slot};

/// One act. Boxes are numbered in the order in which they came, and a number is never used again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Act {
    Insert(u32, Aabb, Filter),
    Set(u32, Aabb),
    SetFilter(u32, Filter),
    Remove(u32),
    Exclude(u32, u32),
    Include(u32, u32),
    Step,
}

impl Act {
    /// The boxes it concerns.
    pub(super) fn boxes(&self) -> impl Iterator<Item = u32> {
        let (one, other) = match *self {
            Act::Insert(one, ..) | Act::Set(one, _) => (Some(one), None),
            Act::SetFilter(one, _) | Act::Remove(one) => (Some(one), None),
            Act::Exclude(one, other) | Act::Include(one, other) => (Some(one), Some(other)),
            Act::Step => (None, None),
        };
        [one, other].into_iter().flatten()
    }
}

/// Acts in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) acts: Vec<Act>,
    /// The number of the box in each slot.
    numbers: BTreeMap<Slot, u32>,
    count: u32,
}

impl History {
    /// Number of boxes that ever were.
    pub(super) fn boxes(&self) -> u32 {
        self.count
    }

    /// The box in a slot after the last call.
    pub(super) fn number(&self, slot: Slot) -> Option<u32> {
        self.numbers.get(&slot).copied()
    }

    fn insert(&mut self, slot: Slot, aabb: Aabb, filter: Filter) {
        self.acts.push(Act::Insert(self.count, aabb, filter));
        self.numbers.insert(slot, self.count);
        self.count += 1;
    }

    /// Adds a call. A state to begin with becomes insertions and a step.
    pub(super) fn add(&mut self, call: &Call) {
        // A call that was applied names boxes that are there.
        let number = |slot: &Slot| self.numbers.get(slot).copied().unwrap_or(u32::MAX);
        match call {
            Call::Begin(start) => {
                let boxes = &start.boxes;
                for slot in boxes.live_slots() {
                    self.insert(slot, boxes.aabbs()[slot.index()], boxes.filters()[slot.index()]);
                }
                for pair in boxes.excluded() {
                    let pair = [pair.a(), pair.b()].map(|slot| self.numbers[&slot]);
                    self.acts.push(Act::Exclude(pair[0], pair[1]));
                }
                if !boxes.is_empty() {
                    self.acts.push(Act::Step);
                }
            }
            Call::Insert { slots, aabbs, filters } => {
                for ((&slot, &aabb), &filter) in slots.iter().zip(aabbs).zip(filters) {
                    self.insert(slot, aabb, filter);
                }
            }
            Call::Set { slots, aabbs } => {
                let acts =
                    slots.iter().zip(aabbs).map(|(slot, &aabb)| Act::Set(number(slot), aabb));
                self.acts.extend(acts);
            }
            Call::SetFilter(slot, filter) => self.acts.push(Act::SetFilter(number(slot), *filter)),
            Call::Remove(slots) => self.acts.extend(slots.iter().map(|s| Act::Remove(number(s)))),
            Call::Exclude(pair) => {
                self.acts.push(Act::Exclude(number(&pair.a()), number(&pair.b())))
            }
            Call::Include(pair) => {
                self.acts.push(Act::Include(number(&pair.a()), number(&pair.b())))
            }
            Call::Step(_) => self.acts.push(Act::Step),
            _ => {}
        }
    }
}

#[cfg(test)]
impl History {
    pub(super) fn of(acts: Vec<Act>, count: u32) -> History {
        History { acts, numbers: BTreeMap::new(), count }
    }
}
