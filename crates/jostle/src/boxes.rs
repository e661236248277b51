//! [`Boxes`], the one owner of box data and of the list of changes.
//!
//! Algorithms read from here and follow [`Changes`]; none keeps the user's boxes for itself.
//! A slot that holds no box is filled with NaN, so a stray comparison with it is never an
//! overlap. Per box: 24 bytes of bounds, 16 of filter, 1 of state, 4 for its place in the list
//! of changes.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::aabb::{Aabb, NO_BOX};
use crate::error::{BoxError, InvalidBox};
use crate::filter::Filter;
use crate::pair::BoxId;

/// What happened to the boxes since the last step. A box is in at most one of the lists.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    inserted: Vec<BoxId>,
    moved: Vec<BoxId>,
    removed: Vec<BoxId>,
}

impl Changes {
    /// Boxes that are new.
    pub fn inserted(&self) -> &[BoxId] {
        &self.inserted
    }

    /// Boxes whose bounds or filter changed.
    pub fn moved(&self) -> &[BoxId] {
        &self.moved
    }

    /// Boxes that are gone.
    pub fn removed(&self) -> &[BoxId] {
        &self.removed
    }

    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.inserted.is_empty() && self.moved.is_empty() && self.removed.is_empty()
    }

    /// Number of boxes in the three lists.
    pub fn len(&self) -> usize {
        self.inserted.len() + self.moved.len() + self.removed.len()
    }
}

/// Identifies a state of a set of boxes: which set, and how many steps it has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    world: u64,
    step: u64,
}

/// Remembers which changes an algorithm has seen, so that one that keeps state knows whether
/// [`Boxes::changes`] continues from there or everything has to be read again: after an error,
/// after a switch of algorithm, or when it is shown another set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Follower {
    seen: Option<Stamp>,
}

impl Follower {
    /// Call first in an update. Returns true if the changes continue from the last update that
    /// ended with [`Follower::done`]. Until `done` is called again, nothing counts as seen.
    pub fn begin(&mut self, boxes: &Boxes) -> bool {
        let stamp = boxes.stamp();
        let seen = self.seen.take();
        seen.is_some_and(|seen| seen.world == stamp.world && seen.step + 1 == stamp.step)
    }

    /// Call when the update has succeeded.
    pub fn done(&mut self, boxes: &Boxes) {
        self.seen = Some(boxes.stamp());
    }
}

#[cfg(feature = "serde")]
mod snapshot;

const FREE: u8 = 0;
const KEPT: u8 = 1;
const INSERTED: u8 = 2;
const MOVED: u8 = 3;
const REMOVED: u8 = 4;

fn next_world() -> u64 {
    static WORLDS: AtomicU64 = AtomicU64::new(0);
    WORLDS.fetch_add(1, Ordering::Relaxed)
}

/// A set of boxes with filters, and what changed in it since the last step.
///
/// Every change is checked before anything is written: on an error the set is as it was.
#[derive(Debug)]
pub struct Boxes {
    aabbs: Vec<Aabb>,
    filters: Vec<Filter>,
    state: Vec<u8>,
    /// The place of a box in `changes.inserted` or `changes.moved`, if it is in one of them.
    place: Vec<u32>,
    free: Vec<BoxId>,
    live: usize,
    /// Number of boxes whose filter is not [`Filter::ALL`].
    filtered: usize,
    /// Number of boxes whose filter says that they are still.
    still: usize,
    changes: Changes,
    stamp: Stamp,
}

impl Default for Boxes {
    fn default() -> Boxes {
        Boxes::new()
    }
}

impl Clone for Boxes {
    /// The copy counts as another set: algorithms that followed the original read it in full.
    fn clone(&self) -> Boxes {
        Boxes {
            aabbs: self.aabbs.clone(),
            filters: self.filters.clone(),
            state: self.state.clone(),
            place: self.place.clone(),
            free: self.free.clone(),
            live: self.live,
            filtered: self.filtered,
            still: self.still,
            changes: self.changes.clone(),
            stamp: Stamp { world: next_world(), step: self.stamp.step },
        }
    }
}

impl Boxes {
    /// An empty set.
    pub fn new() -> Boxes {
        Boxes {
            aabbs: Vec::new(),
            filters: Vec::new(),
            state: Vec::new(),
            place: Vec::new(),
            free: Vec::new(),
            live: 0,
            filtered: 0,
            still: 0,
            changes: Changes::default(),
            stamp: Stamp { world: next_world(), step: 0 },
        }
    }

    /// Number of boxes.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Returns true if there is no box.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Number of slots: every id is below it.
    pub fn slots(&self) -> usize {
        self.aabbs.len()
    }

    /// Returns true if every slot holds a box.
    pub fn is_dense(&self) -> bool {
        self.live == self.aabbs.len()
    }

    /// The bounds by slot; slots without a box hold NaN.
    pub fn aabbs(&self) -> &[Aabb] {
        &self.aabbs
    }

    /// The filters by slot; slots without a box hold [`Filter::ALL`].
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Returns true if some box has a filter other than [`Filter::ALL`]; if not, filters need
    /// not be looked at.
    pub fn has_filters(&self) -> bool {
        self.filtered > 0
    }

    /// Number of boxes whose filter says that they are still.
    pub fn still(&self) -> usize {
        self.still
    }

    /// Returns true if the id names a box.
    #[inline]
    pub fn contains(&self, id: BoxId) -> bool {
        self.state.get(id.index()).is_some_and(|state| (KEPT..=MOVED).contains(state))
    }

    /// The ids of all boxes, ascending.
    pub fn ids(&self) -> impl Iterator<Item = BoxId> + Clone {
        let live = |(_, state): &(usize, &u8)| (KEPT..=MOVED).contains(*state);
        self.state.iter().enumerate().filter(live).map(|(slot, _)| BoxId::new(slot as u32))
    }

    /// The bounds of a box.
    pub fn get(&self, id: BoxId) -> Option<&Aabb> {
        self.contains(id).then(|| &self.aabbs[id.index()])
    }

    /// The filter of a box.
    pub fn filter(&self, id: BoxId) -> Option<&Filter> {
        self.contains(id).then(|| &self.filters[id.index()])
    }

    /// What happened since the last [`commit`](Boxes::commit).
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Identifies this state of this set.
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.aabbs.capacity() * size_of::<Aabb>()
            + self.filters.capacity() * size_of::<Filter>()
            + self.state.capacity()
            + (self.place.capacity() + self.free.capacity()) * 4
            + (self.changes.inserted.capacity()
                + self.changes.moved.capacity()
                + self.changes.removed.capacity())
                * 4
    }

    /// Adds a box.
    pub fn insert(&mut self, aabb: Aabb, filter: Filter) -> Result<BoxId, BoxError> {
        aabb.check().map_err(|fault| InvalidBox { index: 0, fault })?;
        self.check_room(1)?;
        Ok(self.insert_checked(aabb, filter))
    }

    /// Adds many boxes with one filter; the ids are in the order of the boxes. In a set without
    /// gaps they are consecutive.
    pub fn insert_all(&mut self, aabbs: &[Aabb], filter: Filter) -> Result<Vec<BoxId>, BoxError> {
        check_all(aabbs)?;
        self.check_room(aabbs.len())?;
        Ok(aabbs.iter().map(|&aabb| self.insert_checked(aabb, filter)).collect())
    }

    /// Adds many boxes, each with its own filter.
    pub fn insert_each(
        &mut self,
        aabbs: &[Aabb],
        filters: &[Filter],
    ) -> Result<Vec<BoxId>, BoxError> {
        if aabbs.len() != filters.len() {
            return Err(BoxError::Length { given: filters.len(), expected: aabbs.len() });
        }
        check_all(aabbs)?;
        self.check_room(aabbs.len())?;
        let each = aabbs.iter().zip(filters);
        Ok(each.map(|(&aabb, &filter)| self.insert_checked(aabb, filter)).collect())
    }

    fn check_room(&self, additional: usize) -> Result<(), BoxError> {
        let fresh = additional.saturating_sub(self.free.len());
        let fits = self.aabbs.len() + fresh <= u32::MAX as usize;
        if fits { Ok(()) } else { Err(BoxError::Full) }
    }

    fn insert_checked(&mut self, aabb: Aabb, filter: Filter) -> BoxId {
        let id = self.free.pop().unwrap_or_else(|| {
            self.aabbs.push(NO_BOX);
            self.filters.push(Filter::ALL);
            self.state.push(FREE);
            self.place.push(0);
            BoxId::new(self.aabbs.len() as u32 - 1)
        });
        let slot = id.index();
        self.aabbs[slot] = aabb;
        self.filters[slot] = filter;
        self.state[slot] = INSERTED;
        self.place[slot] = self.changes.inserted.len() as u32;
        self.changes.inserted.push(id);
        self.live += 1;
        self.filtered += usize::from(filter != Filter::ALL);
        self.still += usize::from(filter.still);
        id
    }

    /// Gives a box new bounds. The same bounds are no change.
    pub fn set(&mut self, id: BoxId, aabb: Aabb) -> Result<(), BoxError> {
        if !self.contains(id) {
            return Err(BoxError::Unknown(id));
        }
        aabb.check().map_err(|fault| InvalidBox { index: 0, fault })?;
        if !self.aabbs[id.index()].same(&aabb) {
            self.aabbs[id.index()] = aabb;
            self.note_move(id);
        }
        Ok(())
    }

    /// Gives many boxes new bounds; a box named twice gets the last ones.
    pub fn set_many(&mut self, ids: &[BoxId], aabbs: &[Aabb]) -> Result<(), BoxError> {
        if ids.len() != aabbs.len() {
            return Err(BoxError::Length { given: aabbs.len(), expected: ids.len() });
        }
        if let Some(&id) = ids.iter().find(|&&id| !self.contains(id)) {
            return Err(BoxError::Unknown(id));
        }
        check_all(aabbs)?;
        for (&id, aabb) in ids.iter().zip(aabbs) {
            if !self.aabbs[id.index()].same(aabb) {
                self.aabbs[id.index()] = *aabb;
                self.note_move(id);
            }
        }
        Ok(())
    }

    /// Gives every box new bounds, in ascending order of ids. One pass compares and checks; only
    /// boxes that differ are written.
    pub fn set_all(&mut self, aabbs: &[Aabb]) -> Result<(), BoxError> {
        if aabbs.len() != self.live {
            return Err(BoxError::Length { given: aabbs.len(), expected: self.live });
        }
        if !self.is_dense() {
            let ids: Vec<BoxId> = self.ids().collect();
            return self.set_many(&ids, aabbs);
        }
        let before = self.changes.moved.len();
        if let Err(invalid) = self.note_differing(aabbs) {
            self.changes.moved.truncate(before);
            return Err(invalid.into());
        }
        let mut kept = before;
        for place in before..self.changes.moved.len() {
            let id = self.changes.moved[place];
            self.aabbs[id.index()] = aabbs[id.index()];
            // Boxes that are already in a list of changes keep their place.
            if self.state[id.index()] == KEPT {
                self.state[id.index()] = MOVED;
                self.place[id.index()] = kept as u32;
                self.changes.moved[kept] = id;
                kept += 1;
            }
        }
        self.changes.moved.truncate(kept);
        Ok(())
    }

    /// Appends every box that differs to the moved ones. NaN differs from everything, so a box
    /// that does not differ needs no check. Most worlds are mostly at rest: blocks in which
    /// nothing differs are passed over without a branch per box.
    fn note_differing(&mut self, aabbs: &[Aabb]) -> Result<(), InvalidBox> {
        const BLOCK: usize = 16;
        let blocks = self.aabbs.chunks(BLOCK).zip(aabbs.chunks(BLOCK));
        for (number, (old, new)) in blocks.enumerate() {
            let each = || old.iter().zip(new);
            if each().fold(true, |same, (old, new)| same & old.same(new)) {
                continue;
            }
            for (place, (old, new)) in each().enumerate() {
                if !old.same(new) {
                    let index = number * BLOCK + place;
                    new.check().map_err(|fault| InvalidBox { index, fault })?;
                    self.changes.moved.push(BoxId::new(index as u32));
                }
            }
        }
        Ok(())
    }

    /// Gives a box another filter. This is a change like a move.
    pub fn set_filter(&mut self, id: BoxId, filter: Filter) -> Result<(), BoxError> {
        if !self.contains(id) {
            return Err(BoxError::Unknown(id));
        }
        let old = std::mem::replace(&mut self.filters[id.index()], filter);
        if old != filter {
            self.filtered += usize::from(filter != Filter::ALL);
            self.filtered -= usize::from(old != Filter::ALL);
            self.still += usize::from(filter.still);
            self.still -= usize::from(old.still);
            self.note_move(id);
        }
        Ok(())
    }

    fn note_move(&mut self, id: BoxId) {
        if self.state[id.index()] == KEPT {
            self.state[id.index()] = MOVED;
            self.place[id.index()] = self.changes.moved.len() as u32;
            self.changes.moved.push(id);
        }
    }

    /// Removes a box. Its slot is given out again after the next [`commit`](Boxes::commit).
    pub fn remove(&mut self, id: BoxId) -> Result<(), BoxError> {
        if !self.contains(id) {
            return Err(BoxError::Unknown(id));
        }
        self.remove_checked(id);
        Ok(())
    }

    /// Removes many boxes; each may be named once.
    pub fn remove_all(&mut self, ids: &[BoxId]) -> Result<(), BoxError> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        if let Some(&id) = sorted.iter().find(|&&id| !self.contains(id)) {
            return Err(BoxError::Unknown(id));
        }
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(BoxError::Twice(twice[0]));
        }
        ids.iter().for_each(|&id| self.remove_checked(id));
        Ok(())
    }

    fn remove_checked(&mut self, id: BoxId) {
        let slot = id.index();
        match self.state[slot] {
            // No algorithm has seen the box: it was never there.
            INSERTED => {
                withdraw(&mut self.changes.inserted, &mut self.place, id);
                self.state[slot] = FREE;
                self.free.push(id);
            }
            state => {
                if state == MOVED {
                    withdraw(&mut self.changes.moved, &mut self.place, id);
                }
                self.state[slot] = REMOVED;
                self.changes.removed.push(id);
            }
        }
        self.filtered -= usize::from(self.filters[slot] != Filter::ALL);
        self.still -= usize::from(self.filters[slot].still);
        self.aabbs[slot] = NO_BOX;
        self.filters[slot] = Filter::ALL;
        self.live -= 1;
    }

    /// Ends the step: the changes count as delivered, and the slots of removed boxes are free.
    /// [`Detector::step`](crate::Detector::step) does this; call it when driving a broad phase
    /// by hand.
    pub fn commit(&mut self) {
        for id in self.changes.inserted.drain(..).chain(self.changes.moved.drain(..)) {
            self.state[id.index()] = KEPT;
        }
        for id in self.changes.removed.drain(..) {
            self.state[id.index()] = FREE;
            self.free.push(id);
        }
        self.stamp.step += 1;
    }
}

/// Takes a box out of a list of changes; the last one of the list takes its place.
fn withdraw(list: &mut Vec<BoxId>, place: &mut [u32], id: BoxId) {
    let at = place[id.index()] as usize;
    list.swap_remove(at);
    if let Some(&shifted) = list.get(at) {
        place[shifted.index()] = at as u32;
    }
}

/// The first invalid box of a batch.
pub(crate) fn check_all(aabbs: &[Aabb]) -> Result<(), InvalidBox> {
    let check =
        |(index, aabb): (usize, &Aabb)| aabb.check().map_err(|fault| InvalidBox { index, fault });
    aabbs.iter().enumerate().try_for_each(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(at: f32) -> Aabb {
        Aabb::new([at; 3], [at + 1.0; 3])
    }

    fn three() -> (Boxes, Vec<BoxId>) {
        let mut boxes = Boxes::new();
        let ids = boxes.insert_all(&[unit(0.0), unit(2.0), unit(4.0)], Filter::ALL).unwrap();
        boxes.commit();
        (boxes, ids)
    }

    #[test]
    fn a_set_to_the_same_value_is_no_change() {
        let (mut boxes, ids) = three();
        boxes.set(ids[0], unit(0.0)).unwrap();
        boxes.set(ids[0], Aabb::new([-0.0; 3], [1.0; 3])).unwrap();
        boxes.set_all(&[unit(0.0), unit(2.0), unit(4.0)]).unwrap();
        boxes.set_filter(ids[1], Filter::ALL).unwrap();
        assert!(boxes.changes().is_empty());
        boxes.set_all(&[unit(0.0), unit(3.0), unit(4.0)]).unwrap();
        boxes.set(ids[1], unit(5.0)).unwrap();
        assert_eq!(boxes.changes().moved(), [ids[1]]);
    }

    #[test]
    fn a_box_is_in_one_list_of_changes_at_most() {
        let (mut boxes, ids) = three();
        let fresh = boxes.insert(unit(9.0), Filter::ALL).unwrap();
        boxes.set(fresh, unit(8.0)).unwrap();
        boxes.set(ids[0], unit(1.0)).unwrap();
        boxes.set(ids[1], unit(1.0)).unwrap();
        boxes.set(ids[2], unit(1.0)).unwrap();
        boxes.remove(ids[0]).unwrap();
        assert_eq!(boxes.changes().inserted(), [fresh]);
        assert_eq!(boxes.changes().moved(), [ids[2], ids[1]]);
        assert_eq!(boxes.changes().removed(), [ids[0]]);
        boxes.remove(fresh).unwrap();
        assert!(boxes.changes().inserted().is_empty(), "a box that came and went was never there");
        assert_eq!(boxes.changes().len(), 3);
    }

    #[test]
    fn a_slot_is_reused_only_after_the_step_that_removed_it() {
        let (mut boxes, ids) = three();
        boxes.remove(ids[1]).unwrap();
        assert_eq!(boxes.remove(ids[1]), Err(BoxError::Unknown(ids[1])));
        assert_ne!(boxes.insert(unit(7.0), Filter::ALL).unwrap(), ids[1]);
        boxes.commit();
        assert_eq!(boxes.insert(unit(7.0), Filter::ALL).unwrap(), ids[1]);
        assert_eq!(boxes.len(), 4);
    }

    #[test]
    fn refused_batches_change_nothing() {
        let (mut boxes, ids) = three();
        let bad = Aabb::new([0.0, 5.0, 0.0], [1.0; 3]);
        let before = format!("{boxes:?}");
        let error = boxes.set_all(&[unit(7.0), unit(8.0), bad]).unwrap_err();
        assert!(error.to_string().starts_with("box 2: min y = 5 is above max y = 1"), "{error}");
        assert!(boxes.insert_all(&[unit(1.0), bad], Filter::ALL).is_err());
        assert!(boxes.set_many(&[ids[0], ids[1]], &[unit(9.0), bad]).is_err());
        assert!(boxes.set_many(&[ids[0], BoxId::new(77)], &[unit(9.0), unit(8.0)]).is_err());
        assert!(boxes.remove_all(&[ids[0], ids[1], ids[0]]).is_err());
        assert!(boxes.set_all(&[unit(1.0)]).is_err());
        assert!(boxes.insert_each(&[unit(1.0)], &[]).is_err());
        assert!(boxes.set(ids[0], Aabb::point([f32::NAN; 3])).is_err());
        assert_eq!(format!("{boxes:?}"), before);
    }

    #[test]
    fn set_all_skips_gaps_and_keeps_what_is_listed_already() {
        let (mut boxes, ids) = three();
        boxes.set(ids[2], unit(5.0)).unwrap();
        boxes.set_all(&[unit(1.0), unit(2.0), unit(6.0)]).unwrap();
        assert_eq!(boxes.changes().moved(), [ids[2], ids[0]]);
        boxes.commit();
        boxes.remove(ids[0]).unwrap();
        boxes.commit();
        boxes.set_all(&[unit(2.5), unit(6.5)]).unwrap();
        assert_eq!(boxes.get(ids[1]), Some(&unit(2.5)));
        assert_eq!(boxes.changes().moved(), [ids[1], ids[2]]);
    }

    #[test]
    fn a_follower_knows_when_it_missed_something() {
        let (mut boxes, ids) = three();
        let mut follower = Follower::default();
        assert!(!follower.begin(&boxes), "the first time everything is new");
        follower.done(&boxes);
        assert!(!follower.begin(&boxes), "the same step twice");
        follower.done(&boxes);
        boxes.set(ids[0], unit(3.0)).unwrap();
        boxes.commit();
        assert!(follower.begin(&boxes));
        boxes.commit();
        assert!(!follower.begin(&boxes), "the last update did not succeed");
        follower.done(&boxes);
        let mut copy = boxes.clone();
        copy.commit();
        assert!(!follower.begin(&copy), "another set");
    }

    #[test]
    fn filters_are_counted() {
        let (mut boxes, ids) = three();
        assert!(!boxes.has_filters());
        boxes.set_filter(ids[0], Filter::STILL).unwrap();
        assert_eq!((boxes.has_filters(), boxes.still()), (true, 1));
        boxes.remove(ids[0]).unwrap();
        assert_eq!((boxes.has_filters(), boxes.still()), (false, 0));
    }
}
