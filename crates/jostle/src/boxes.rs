//! [`Boxes`], the one owner of box data and of the list of changes.
//!
//! Algorithms read from here and follow [`Changes`]; none keeps the user's boxes for itself.
//! A slot that holds no box is filled with NaN, so a stray comparison with it is never an
//! overlap. Per box: 24 bytes of bounds, 16 of filter, 1 of state, 4 of generation, 4 if all are
//! listed as changed; 4 for its place in that list once changed boxes are removed, 8 of user data
//! once any is set.

use crate::aabb::{Aabb, NO_BOX};
use crate::error::{BoxError, InvalidBox};
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::journal::{Recorder, code};
use crate::pair::Pair;
use crate::par::Workers;

mod batch;
mod changes;
mod exclusions;
mod recorded;
mod set_all;
mod snapshot;

use changes::Places;
pub use changes::{Changes, Follower, Stamp};
pub(crate) use exclusions::Exclusions;
pub(crate) use recorded::Beginning;
pub(crate) use snapshot::Snapshot;

const FREE: u8 = 0;
const KEPT: u8 = 1;
const INSERTED: u8 = 2;
const MOVED: u8 = 3;
const REMOVED: u8 = 4;

/// If more than one box in this many changed, all states are settled instead of the listed ones.
const MANY_CHANGES: usize = 16;

/// Bytes that one task settles at the end of a step: about a microsecond, so that other threads
/// join in for many boxes only.
const STATES_PER_TASK: usize = if cfg!(test) { 1 << 12 } else { 1 << 15 };

/// A set of boxes with filters, and what changed in it since the last step.
///
/// Every change is checked before anything is written: on an error the set is as it was. A
/// [`Detector`](crate::Detector) owns such a set; on their own, boxes are for steppers that share
/// them. Batches are the native form.
///
/// ```
/// use jostle::{Aabb, Boxes, Filter};
///
/// let mut boxes = Boxes::new();
/// let ids = boxes.insert_all(&[Aabb::point([0.0; 3]), Aabb::point([5.0; 3])], Filter::ALL)?;
/// boxes.set_user_data(ids[1], 77)?;
/// boxes.set_many(&ids, &[Aabb::point([1.0; 3]), Aabb::point([6.0; 3])])?;
/// let bad = Aabb::new([2.0; 3], [1.0; 3]);
/// let error = boxes.set(ids[0], bad).unwrap_err();
/// assert_eq!(error.to_string(), "box 0: min x = 2 is above max x = 1; swap them");
/// assert_eq!(boxes.get(ids[0]), Some(&Aabb::point([1.0; 3])));
/// # Ok::<(), jostle::BoxError>(())
/// ```
#[derive(Debug)]
pub struct Boxes {
    aabbs: Vec<Aabb>,
    filters: Vec<Filter>,
    state: Vec<u8>,
    /// Places in `changes.inserted` and `changes.moved`.
    place: Places,
    /// How many boxes each slot has held before the current or next one.
    generations: Vec<u32>,
    /// By slot; empty until the first is set.
    user_data: Vec<u64>,
    exclusions: Exclusions,
    workers: Workers,
    /// Scratch of [`Boxes::set_all`].
    runs: set_all::Runs,
    free: Vec<Slot>,
    live: usize,
    /// Number of boxes whose filter is not [`Filter::ALL`].
    filtered: usize,
    /// Number of boxes whose filter says that they are still.
    still: usize,
    changes: Changes,
    stamp: Stamp,
    /// The stamp before the last commit.
    previous: Stamp,
    /// Is told every call that changes something.
    recorder: Option<Box<Recorder>>,
}

impl Default for Boxes {
    fn default() -> Boxes {
        Boxes::new()
    }
}

impl Clone for Boxes {
    /// The copy continues from the same step: an algorithm that is copied along with it need not
    /// read it in full. From here on the two are different sets; a recorder stays with the first.
    fn clone(&self) -> Boxes {
        Boxes {
            aabbs: self.aabbs.clone(),
            filters: self.filters.clone(),
            state: self.state.clone(),
            place: self.place.clone(),
            generations: self.generations.clone(),
            user_data: self.user_data.clone(),
            exclusions: self.exclusions.clone(),
            workers: self.workers.clone(),
            runs: set_all::Runs::default(),
            free: self.free.clone(),
            live: self.live,
            filtered: self.filtered,
            still: self.still,
            changes: self.changes.clone(),
            stamp: Stamp::fresh(),
            previous: self.previous,
            recorder: None,
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
            place: Places::default(),
            generations: Vec::new(),
            user_data: Vec::new(),
            exclusions: Exclusions::default(),
            workers: Workers::one(),
            runs: set_all::Runs::default(),
            free: Vec::new(),
            live: 0,
            filtered: 0,
            still: 0,
            changes: Changes::default(),
            stamp: Stamp::fresh(),
            previous: Stamp::fresh(),
            recorder: None,
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

    /// Number of slots: every box is in a slot below it.
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
    pub fn still_count(&self) -> usize {
        self.still
    }

    /// Returns true if the id names a box that is still there.
    #[inline]
    pub fn contains(&self, id: BoxId) -> bool {
        self.generations.get(id.index()) == Some(&id.generation()) && self.is_live(id.slot())
    }

    /// Returns true if there is a box in the slot.
    #[inline]
    pub fn is_live(&self, slot: Slot) -> bool {
        self.state.get(slot.index()).is_some_and(|state| (KEPT..=MOVED).contains(state))
    }

    /// The slots that hold a box, ascending.
    pub fn live_slots(&self) -> impl Iterator<Item = Slot> + Clone {
        let live = |(_, state): &(usize, &u8)| (KEPT..=MOVED).contains(*state);
        self.state.iter().enumerate().filter(live).map(|(slot, _)| Slot::new(slot as u32))
    }

    /// The ids of all boxes, ascending by slot.
    pub fn ids(&self) -> impl Iterator<Item = BoxId> + Clone {
        self.live_slots().map(|slot| BoxId::new(slot, self.generations[slot.index()]))
    }

    /// The id of the box in a slot: what to call a box that a [`Pair`] names.
    ///
    /// ```
    /// # use jostle::{Aabb, Algorithm, Detector, Filter};
    /// # let mut detector = Detector::new(Algorithm::Auto);
    /// let ids = detector.boxes_mut().insert_all(&[Aabb::default(); 2], Filter::ALL)?;
    /// let pair = detector.step()?.began[0];
    /// assert_eq!(detector.boxes().id_at(pair.a()), Some(ids[0]));
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn id_at(&self, slot: Slot) -> Option<BoxId> {
        self.is_live(slot).then(|| BoxId::new(slot, self.generations[slot.index()]))
    }

    /// The bounds of a box.
    pub fn get(&self, id: BoxId) -> Option<&Aabb> {
        self.contains(id).then(|| &self.aabbs[id.index()])
    }

    /// The filter of a box.
    pub fn filter(&self, id: BoxId) -> Option<&Filter> {
        self.contains(id).then(|| &self.filters[id.index()])
    }

    /// The 64 bits that the caller stored with a box, 0 if none were. A pair's slot will do, and
    /// the data of a removed box can be read until its slot is used again: while its ended events
    /// are delivered it is still there.
    pub fn user_data(&self, slot: impl Into<Slot>) -> u64 {
        self.user_data.get(slot.into().index()).copied().unwrap_or(0)
    }

    /// Number of boxes so small for their distance from the origin that rounding to f32 shapes
    /// them: on some axis their size is not zero but at most eight times the gap between
    /// neighbouring numbers there. Many such boxes mean many false pairs; move the origin closer,
    /// or scale the world. Boxes of no size on an axis do not count for it. One pass over all
    /// boxes.
    pub fn coarse_count(&self) -> usize {
        self.aabbs.iter().filter(|aabb| aabb.is_coarse()).count()
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
            + (self.generations.capacity() + self.free.capacity()) * 4
            + self.place.bytes()
            + self.user_data.capacity() * 8
            + self.exclusions.bytes()
            + self.runs.bytes()
            + (self.changes.inserted.capacity()
                + self.changes.moved.capacity()
                + self.changes.removed.capacity())
                * 4
    }

    /// Adds a box.
    pub fn insert(&mut self, aabb: Aabb, filter: Filter) -> Result<BoxId, BoxError> {
        aabb.check().map_err(|fault| InvalidBox { index: 0, fault })?;
        self.check_room(1)?;
        let id = self.insert_checked(aabb, filter);
        self.note_inserted(&[id], &[aabb], &[filter]);
        Ok(id)
    }

    /// Adds many boxes with one filter; the ids are in the order of the boxes. In a set without
    /// gaps they are consecutive.
    pub fn insert_all(&mut self, aabbs: &[Aabb], filter: Filter) -> Result<Vec<BoxId>, BoxError> {
        self.check_batch(aabbs)?;
        self.check_room(aabbs.len())?;
        // Into free slots one by one, then behind all others at once.
        let (reused, rest) = aabbs.split_at(self.free.len().min(aabbs.len()));
        let mut ids: Vec<BoxId> = Vec::with_capacity(aabbs.len());
        ids.extend(reused.iter().map(|&aabb| self.insert_checked(aabb, filter)));
        let first = self.slots();
        self.append(rest, filter);
        ids.extend((first..self.slots()).map(|slot| BoxId::new(Slot::new(slot as u32), 0)));
        self.note_inserted(&ids, aabbs, &[filter]);
        Ok(ids)
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
        self.check_batch(aabbs)?;
        self.check_room(aabbs.len())?;
        let each = aabbs.iter().zip(filters);
        let ids: Vec<BoxId> =
            each.map(|(&aabb, &filter)| self.insert_checked(aabb, filter)).collect();
        self.note_inserted(&ids, aabbs, filters);
        Ok(ids)
    }

    fn check_room(&self, additional: usize) -> Result<(), BoxError> {
        let fresh = additional.saturating_sub(self.free.len());
        let fits = self.aabbs.len() + fresh <= u32::MAX as usize;
        if fits { Ok(()) } else { Err(BoxError::Full) }
    }

    fn insert_checked(&mut self, aabb: Aabb, filter: Filter) -> BoxId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.aabbs.push(NO_BOX);
            self.filters.push(Filter::ALL);
            self.state.push(FREE);
            self.generations.push(0);
            Slot::new(self.aabbs.len() as u32 - 1)
        });
        let index = slot.index();
        self.aabbs[index] = aabb;
        self.filters[index] = filter;
        self.state[index] = INSERTED;
        if let Some(data) = self.user_data.get_mut(index) {
            *data = 0;
        }
        self.changes.inserted.push(slot);
        self.place.note(&self.changes.inserted, self.changes.inserted.len() - 1);
        self.live += 1;
        self.filtered += usize::from(filter != Filter::ALL);
        self.still += usize::from(filter.still);
        BoxId::new(slot, self.generations[index])
    }

    /// Fails if the id names no box; the error tells a removed box from an id of another set.
    #[inline]
    pub fn check(&self, id: BoxId) -> Result<(), BoxError> {
        if self.contains(id) { Ok(()) } else { Err(self.refusal(id)) }
    }

    #[cold]
    fn refusal(&self, id: BoxId) -> BoxError {
        match self.generations.get(id.index()) {
            Some(&generation) if id.generation() < generation => BoxError::Stale(id),
            _ => BoxError::Unknown(id),
        }
    }

    /// Gives a box new bounds. The same bounds are no change.
    pub fn set(&mut self, id: BoxId, aabb: Aabb) -> Result<(), BoxError> {
        self.check(id)?;
        aabb.check().map_err(|fault| InvalidBox { index: 0, fault })?;
        if !self.aabbs[id.index()].same(&aabb) {
            self.aabbs[id.index()] = aabb;
            self.note_move(id.slot());
            if let Some(recorder) = &mut self.recorder {
                recorder.set(&[id.slot()], &self.aabbs);
            }
        }
        Ok(())
    }

    /// Gives many boxes new bounds; a box named twice gets the last ones.
    pub fn set_many(&mut self, ids: &[BoxId], aabbs: &[Aabb]) -> Result<(), BoxError> {
        if ids.len() != aabbs.len() {
            return Err(BoxError::Length { given: aabbs.len(), expected: ids.len() });
        }
        ids.iter().try_for_each(|&id| self.check(id))?;
        self.check_batch(aabbs)?;
        self.write_bounds(ids.iter().map(|id| id.slot()), aabbs);
        Ok(())
    }

    fn write_bounds(&mut self, slots: impl Iterator<Item = Slot>, aabbs: &[Aabb]) {
        let mut differing = Vec::new();
        for (slot, aabb) in slots.zip(aabbs) {
            if !self.aabbs[slot.index()].same(aabb) {
                self.aabbs[slot.index()] = *aabb;
                self.note_move(slot);
                if self.recorder.is_some() {
                    differing.push(slot);
                }
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.set(&differing, &self.aabbs);
        }
    }

    /// Runs [`Boxes::set_all`] on these workers; the boxes of a detector have the detector's. What
    /// changes does not depend on them.
    pub(crate) fn set_workers(&mut self, workers: &Workers) {
        self.workers = workers.clone();
    }

    /// Gives every box new bounds, in ascending order of slots. One pass compares and checks by
    /// vectors; only boxes that differ are written.
    pub fn set_all(&mut self, aabbs: &[Aabb]) -> Result<(), BoxError> {
        if aabbs.len() != self.live {
            return Err(BoxError::Length { given: aabbs.len(), expected: self.live });
        }
        if !self.is_dense() {
            self.check_batch(aabbs)?;
            let slots: Vec<Slot> = self.live_slots().collect();
            self.write_bounds(slots.into_iter(), aabbs);
            return Ok(());
        }
        Ok(self.set_runs(aabbs)?)
    }

    /// Gives a box another filter. This is a change like a move.
    pub fn set_filter(&mut self, id: BoxId, filter: Filter) -> Result<(), BoxError> {
        self.check(id)?;
        let old = std::mem::replace(&mut self.filters[id.index()], filter);
        if old != filter {
            self.filtered += usize::from(filter != Filter::ALL);
            self.filtered -= usize::from(old != Filter::ALL);
            self.still += usize::from(filter.still);
            self.still -= usize::from(old.still);
            self.note_move(id.slot());
            self.note_call(code::FILTER, |frame| {
                frame.varint(id.index() as u64);
                frame.filter(&filter);
            });
        }
        Ok(())
    }

    /// Stores 64 bits of the caller's with a box, for instance a pointer or an index. They change
    /// no pair and cost nothing in a step. A new box has 0.
    pub fn set_user_data(&mut self, id: BoxId, data: u64) -> Result<(), BoxError> {
        self.check(id)?;
        if self.user_data.len() <= id.index() {
            self.user_data.resize(self.aabbs.len(), 0);
        }
        self.user_data[id.index()] = data;
        self.note_call(code::USER_DATA, |frame| {
            frame.varint(id.index() as u64);
            frame.word(data);
        });
        Ok(())
    }

    /// Never reports this pair of boxes again, until [`include`](Boxes::include) or until one of
    /// them is removed. If they overlap, their pair ends with the next step. For a few pairs, such
    /// as neighbouring links of a robot; for kinds of boxes use [`Filter`], which also saves the
    /// overlap tests. Costs nothing while no pair is excluded.
    pub fn exclude(&mut self, one: BoxId, other: BoxId) -> Result<(), BoxError> {
        let pair = self.checked_pair(one, other)?;
        self.exclusions.exclude(pair);
        self.note_pair(code::EXCLUDE, pair);
        Ok(())
    }

    /// Reports an excluded pair again. If the boxes overlap, their pair begins with the next step.
    pub fn include(&mut self, one: BoxId, other: BoxId) -> Result<(), BoxError> {
        let pair = self.checked_pair(one, other)?;
        self.exclusions.include(pair);
        self.note_pair(code::INCLUDE, pair);
        Ok(())
    }

    /// The excluded pairs, ascending.
    pub fn excluded(&self) -> impl Iterator<Item = Pair> {
        self.exclusions.iter()
    }

    pub(crate) fn exclusions(&self) -> &Exclusions {
        &self.exclusions
    }

    fn checked_pair(&self, one: BoxId, other: BoxId) -> Result<Pair, BoxError> {
        self.check(one)?;
        self.check(other)?;
        if one == other { Err(BoxError::Twice(one)) } else { Ok(Pair::new(one, other)) }
    }

    /// Returns true if there are boxes in both slots, they overlap, and their filters let them
    /// pair. Exclusions do not matter.
    pub(crate) fn may_report(&self, pair: Pair) -> bool {
        let (a, b) = (pair.a().index(), pair.b().index());
        // A slot without a box holds NaN, which overlaps nothing.
        b < self.slots()
            && self.aabbs[a].overlaps(&self.aabbs[b])
            && self.filters[a].allows(&self.filters[b])
    }

    /// Returns true if the slot holds a box, or the last step may have reported pairs of a box
    /// that was removed from it since.
    pub(crate) fn may_have_pairs(&self, slot: Slot) -> bool {
        self.state.get(slot.index()).is_some_and(|&state| state != FREE)
    }

    /// The id of the box in a slot, or of the last one that was.
    #[cfg(feature = "serde")]
    pub(crate) fn last_id(&self, slot: Slot) -> BoxId {
        let next = self.generations[slot.index()];
        BoxId::new(slot, if self.is_live(slot) { next } else { next.wrapping_sub(1) })
    }

    fn note_move(&mut self, slot: Slot) {
        if self.state[slot.index()] == KEPT {
            self.state[slot.index()] = MOVED;
            self.changes.moved.push(slot);
            self.place.note(&self.changes.moved, self.changes.moved.len() - 1);
        }
    }

    /// Removes a box. Its slot is used again only after the next [`commit`](Boxes::commit).
    pub fn remove(&mut self, id: BoxId) -> Result<(), BoxError> {
        self.check(id)?;
        self.remove_checked(id.slot());
        self.note_removed(&[id]);
        Ok(())
    }

    /// Removes many boxes; each may be named once.
    pub fn remove_all(&mut self, ids: &[BoxId]) -> Result<(), BoxError> {
        ids.iter().try_for_each(|&id| self.check(id))?;
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(BoxError::Twice(twice[0]));
        }
        ids.iter().for_each(|id| self.remove_checked(id.slot()));
        self.note_removed(ids);
        Ok(())
    }

    fn remove_checked(&mut self, slot: Slot) {
        let index = slot.index();
        match self.state[index] {
            // No algorithm has seen the box: it was never there.
            INSERTED => {
                self.place.find(&self.changes);
                self.place.withdraw(&mut self.changes.inserted, slot);
                self.state[index] = FREE;
                self.free.push(slot);
            }
            state => {
                if state == MOVED {
                    self.place.find(&self.changes);
                    self.place.withdraw(&mut self.changes.moved, slot);
                }
                self.state[index] = REMOVED;
                self.changes.removed.push(slot);
            }
        }
        self.filtered -= usize::from(self.filters[index] != Filter::ALL);
        self.still -= usize::from(self.filters[index].still);
        self.aabbs[index] = NO_BOX;
        self.filters[index] = Filter::ALL;
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.live -= 1;
        if !self.exclusions.is_idle() {
            self.exclusions.forget(slot);
        }
    }

    /// Ends the step: the changes count as delivered, and the slots of removed boxes are free.
    /// [`Detector::step`](crate::Detector::step) does this; call it when driving a broad phase
    /// by hand.
    pub fn commit(&mut self) {
        let listed = self.changes.inserted.len() + self.changes.moved.len();
        if listed > self.state.len() / MANY_CHANGES {
            // One pass over a byte for each box, by vectors, instead of a walk through the lists.
            let settle = |state: u8| if state == INSERTED || state == MOVED { KEPT } else { state };
            let settle_all =
                |_, run: &mut [u8]| run.iter_mut().for_each(|state| *state = settle(*state));
            self.workers.for_each_chunk(&mut self.state, STATES_PER_TASK, settle_all);
            self.changes.inserted.clear();
            self.runs.end(&mut self.changes.moved);
        }
        for slot in self.changes.inserted.drain(..).chain(self.changes.moved.drain(..)) {
            self.state[slot.index()] = KEPT;
        }
        for slot in self.changes.removed.drain(..) {
            self.state[slot.index()] = FREE;
            self.free.push(slot);
        }
        self.place.forget();
        self.exclusions.commit();
        self.previous = std::mem::replace(&mut self.stamp, Stamp::fresh());
    }
}

#[cfg(test)]
mod tests;
