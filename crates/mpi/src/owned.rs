//! [`Owned`]: the boxes that this rank may change, and the changes since the last step.
//!
//! Changes are written in place and listed, so that they can be taken back: a step that some rank
//! refuses leaves no trace on any.

use jostle::{Aabb, Filter};

use crate::decomposition::Region;
use crate::id::{GlobalId, IdMap};
use crate::local::BoxState;

/// The slot of a box that is not present on its owner's rank.
pub(crate) const ELSEWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Unchanged,
    /// Bounds or filter differ from the previous ones.
    Changed,
    New,
    /// From a snapshot: it existed before, but on ranks that are gone.
    Restored,
    Removed,
    /// Inserted and removed between two steps: nobody ever sees it.
    Void,
}

#[derive(Default)]
pub(crate) struct Owned {
    ids: Vec<GlobalId>,
    now: Vec<Aabb>,
    filters: Vec<Filter>,
    /// The state after the last step, for boxes that are marked as changed.
    previous: Vec<BoxState>,
    marks: Vec<Mark>,
    /// The slot of the rank's own copy, or [`ELSEWHERE`].
    slots: Vec<u32>,
    index: IdMap<u32>,
    /// Boxes with a mark.
    changed: Vec<u32>,
    /// Boxes from here on are new.
    first_new: usize,
    removed: usize,
}

impl Owned {
    /// Number of entries; some may be removed.
    pub(crate) fn entries(&self) -> usize {
        self.ids.len()
    }

    /// Number of boxes, pending changes included.
    pub(crate) fn len(&self) -> usize {
        self.ids.len() - self.removed
    }

    /// The ids of all entries.
    pub(crate) fn ids(&self) -> &[GlobalId] {
        &self.ids
    }

    pub(crate) fn changed(&self) -> &[u32] {
        &self.changed
    }

    pub(crate) fn mark(&self, entry: usize) -> Mark {
        self.marks[entry]
    }

    pub(crate) fn slot(&self, entry: usize) -> u32 {
        self.slots[entry]
    }

    pub(crate) fn set_slot(&mut self, entry: usize, slot: u32) {
        self.slots[entry] = slot;
    }

    /// The entry of a box that may be changed.
    pub(crate) fn find(&self, id: GlobalId) -> Option<usize> {
        let entry = *self.index.get(&id)? as usize;
        (self.marks[entry] != Mark::Removed).then_some(entry)
    }

    /// Returns true if the id is in use here, or was until the last step.
    pub(crate) fn knows(&self, id: GlobalId) -> bool {
        self.index.contains_key(&id)
    }

    /// Bounds and filter with the changes since the last step.
    pub(crate) fn state(&self, entry: usize) -> BoxState {
        BoxState { aabb: self.now[entry], filter: self.filters[entry] }
    }

    /// Returns true if the box is known to this job, goes on to exist, and lay in the first region
    /// before this step and lies in the second now. Nobody else has to hear of such a box.
    #[inline]
    pub(crate) fn stays_inside(&self, entry: usize, before: &Region, after: &Region) -> bool {
        self.marks[entry] == Mark::Changed
            && before.encloses(&self.previous[entry].aabb)
            && after.encloses(&self.now[entry])
    }

    /// Bounds with the changes since the last step.
    pub(crate) fn bounds(&self, entry: usize) -> &Aabb {
        &self.now[entry]
    }

    /// The filter, if it differs from the one after the last step.
    pub(crate) fn new_filter(&self, entry: usize) -> Option<Filter> {
        (self.previous[entry].filter != self.filters[entry]).then_some(self.filters[entry])
    }

    /// The state after this step; `None` for removed boxes.
    pub(crate) fn after(&self, entry: usize) -> Option<BoxState> {
        let gone = matches!(self.marks[entry], Mark::Removed | Mark::Void);
        (!gone).then(|| self.state(entry))
    }

    /// The state before this step; `None` for new boxes.
    pub(crate) fn before(&self, entry: usize) -> Option<BoxState> {
        match self.marks[entry] {
            Mark::Unchanged => Some(self.state(entry)),
            Mark::Changed | Mark::Removed => Some(self.previous[entry]),
            Mark::New | Mark::Restored | Mark::Void => None,
        }
    }

    fn push(&mut self, id: GlobalId, state: BoxState, mark: Mark, slot: u32) -> usize {
        let entry = self.ids.len();
        assert!(entry < ELSEWHERE as usize, "a rank owns at most 2^32 - 2 boxes");
        self.ids.push(id);
        self.now.push(state.aabb);
        self.filters.push(state.filter);
        self.previous.push(state);
        self.marks.push(mark);
        self.slots.push(slot);
        self.index.insert(id, entry as u32);
        entry
    }

    pub(crate) fn insert(&mut self, id: GlobalId, state: BoxState, mark: Mark) {
        let entry = self.push(id, state, mark, ELSEWHERE);
        self.changed.push(entry as u32);
    }

    fn note(&mut self, entry: usize) {
        if self.marks[entry] == Mark::Unchanged {
            self.previous[entry] = self.state(entry);
            self.marks[entry] = Mark::Changed;
            self.changed.push(entry as u32);
        }
    }

    pub(crate) fn set(&mut self, entry: usize, aabb: Aabb) {
        if !self.now[entry].same(&aabb) {
            self.note(entry);
            self.now[entry] = aabb;
        }
    }

    pub(crate) fn set_filter(&mut self, entry: usize, filter: Filter) {
        if self.filters[entry] != filter {
            self.note(entry);
            self.filters[entry] = filter;
        }
    }

    pub(crate) fn remove(&mut self, entry: usize) {
        self.note(entry);
        self.removed += 1;
        self.marks[entry] = match self.marks[entry] {
            Mark::Changed => Mark::Removed,
            _ => {
                self.index.remove(&self.ids[entry]);
                Mark::Void
            }
        };
    }

    /// Takes back everything since the last step.
    pub(crate) fn withdraw(&mut self) {
        for entry in std::mem::take(&mut self.changed) {
            let entry = entry as usize;
            match self.marks[entry] {
                Mark::Changed | Mark::Removed => {
                    let before = self.previous[entry];
                    (self.now[entry], self.filters[entry]) = (before.aabb, before.filter);
                    self.marks[entry] = Mark::Unchanged;
                }
                Mark::New | Mark::Restored => {
                    self.index.remove(&self.ids[entry]);
                }
                Mark::Void | Mark::Unchanged => {}
            }
        }
        self.truncate(self.first_new);
        self.removed = 0;
    }

    fn truncate(&mut self, entries: usize) {
        self.ids.truncate(entries);
        self.now.truncate(entries);
        self.filters.truncate(entries);
        self.previous.truncate(entries);
        self.marks.truncate(entries);
        self.slots.truncate(entries);
    }

    /// Ends the step: forgets removed boxes and those that `departed` to other ranks (entries,
    /// in any order), and takes those that `arrived`, with their slots.
    pub(crate) fn commit(
        &mut self,
        departed: &[u32],
        arrived: impl Iterator<Item = (GlobalId, BoxState, u32)>,
    ) {
        let mut gone = departed.to_vec();
        for &entry in &self.changed {
            match self.marks[entry as usize] {
                Mark::Removed | Mark::Void => gone.push(entry),
                _ => self.marks[entry as usize] = Mark::Unchanged,
            }
        }
        self.changed.clear();
        // From the back, so that the entry that fills a gap is never one that goes too.
        gone.sort_unstable_by(|one, other| other.cmp(one));
        for entry in gone {
            self.swap_remove(entry as usize);
        }
        for (id, state, slot) in arrived {
            self.push(id, state, Mark::Unchanged, slot);
        }
        self.first_new = self.ids.len();
        self.removed = 0;
    }

    fn swap_remove(&mut self, entry: usize) {
        if self.marks[entry] != Mark::Void {
            self.index.remove(&self.ids[entry]);
        }
        self.ids.swap_remove(entry);
        self.now.swap_remove(entry);
        self.filters.swap_remove(entry);
        self.previous.swap_remove(entry);
        self.marks.swap_remove(entry);
        self.slots.swap_remove(entry);
        if let Some(moved) = self.ids.get(entry) {
            self.index.insert(*moved, entry as u32);
        }
    }
}
