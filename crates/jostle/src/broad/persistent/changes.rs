//! [`ClassifiedChanges`]: the changes of a step as lists of boxes to remove, insert and move.

use crate::boxes::Boxes;
use crate::id::Slot;

use super::previous::PreviousBounds;

/// The changes of a step, classified by what the lists have to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassifiedChanges {
    /// Boxes to remove from the lists, ascending.
    pub removed: Vec<u32>,
    /// Boxes to insert, ascending.
    pub inserted: Vec<u32>,
    /// Boxes that moved and are neither.
    pub moved: Vec<u32>,
    /// Boxes that are among both the removed and the inserted.
    pub reinserted: Vec<u32>,
}

/// The changes for a set of lists, by slot or by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListChanges<'a> {
    /// Boxes to remove.
    pub removed: &'a [u32],
    /// Boxes to insert.
    pub inserted: &'a [u32],
    /// Boxes that moved and are neither.
    pub moved: &'a [u32],
}

impl ListChanges<'_> {
    /// Returns true if nothing changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.inserted.is_empty() && self.moved.is_empty()
    }
}

impl ClassifiedChanges {
    /// Classifies the pending changes. Boxes with another filter, and those for which `again`
    /// holds, are removed and inserted again.
    pub(crate) fn classify(
        &mut self,
        boxes: &Boxes,
        previous: &PreviousBounds,
        mut again: impl FnMut(u32) -> bool,
    ) {
        let changes = boxes.changes();
        let ClassifiedChanges { removed, inserted, moved, reinserted } = self;
        let copy = |ids: &[Slot], list: &mut Vec<u32>| {
            list.clear();
            list.extend(ids.iter().map(|id| id.get()));
        };
        copy(changes.removed(), removed);
        copy(changes.inserted(), inserted);
        moved.clear();
        reinserted.clear();
        for slot in changes.moved().iter().map(|id| id.get()) {
            let list = if previous.refiltered(boxes, slot) || again(slot) {
                &mut *reinserted
            } else {
                &mut *moved
            };
            list.push(slot);
        }
        removed.extend_from_slice(reinserted);
        inserted.extend_from_slice(reinserted);
        removed.sort_unstable();
        inserted.sort_unstable();
    }

    /// Number of removals and insertions; a box that is reinserted counts twice.
    pub(crate) fn churn(&self) -> usize {
        self.removed.len() + self.inserted.len()
    }

    /// The lists.
    pub(crate) fn lists(&self) -> ListChanges<'_> {
        ListChanges { removed: &self.removed, inserted: &self.inserted, moved: &self.moved }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        let lists = [&self.removed, &self.inserted, &self.moved, &self.reinserted];
        lists.iter().map(|list| list.capacity() * 4).sum()
    }
}
