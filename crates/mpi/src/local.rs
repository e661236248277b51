//! [`Local`]: the boxes present on this rank, in a [`Detector`] of the library, with what they
//! were before the step that is being taken.
//!
//! This is the only file that knows the library's detector. Whatever happens to a box in a step,
//! its state before and after it is known here until the step is committed, even if it came from
//! another rank or went to one; that is all it takes to tell events from pairs that merely
//! changed their rank.

use jostle::{Aabb, BoxId, Boxes, Detector, Error, Filter, Pair};

use crate::id::{GlobalId, IdMap};
use crate::options::Options;

/// The bounds and the filter of a box at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoxState {
    pub(crate) aabb: Aabb,
    pub(crate) filter: Filter,
}

impl BoxState {
    /// Returns true if the boxes overlap and may pair.
    pub(crate) fn pairs_with(&self, other: &BoxState) -> bool {
        self.aabb.overlaps(&other.aabb) && self.filter.allows(&other.filter)
    }
}

/// What a slot went through since the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stay {
    Free,
    /// Here before and now; `previous` holds the old state only if it changed.
    Same,
    Changed,
    /// Here now and not before. It existed on other ranks if `previous` counts.
    Entered {
        existed: bool,
    },
    /// Here before and not now.
    Left,
}

/// The boxes present on a rank.
pub(crate) struct Local {
    detector: Detector,
    options: Options,
    ids: Vec<GlobalId>,
    /// The library's name for the box of each slot.
    handles: Vec<BoxId>,
    /// The rank that inserted the box.
    homes: Vec<u32>,
    stay: Vec<Stay>,
    previous: Vec<BoxState>,
    /// Slots whose stay is neither free nor same.
    touched: Vec<u32>,
    /// The states of boxes that left, in the order they did; `None` for removed ones.
    left: Vec<(u32, Option<BoxState>)>,
    index: IdMap<u32>,
    stepped: bool,
}

const NO_STATE: BoxState = BoxState { aabb: Aabb::EVERYTHING, filter: Filter::ALL };

impl Local {
    pub(crate) fn new(options: &Options) -> Local {
        Local {
            detector: options.detector(Boxes::new(), &[]),
            options: options.clone(),
            ids: Vec::new(),
            handles: Vec::new(),
            homes: Vec::new(),
            stay: Vec::new(),
            previous: Vec::new(),
            touched: Vec::new(),
            left: Vec::new(),
            index: IdMap::default(),
            stepped: false,
        }
    }

    pub(crate) fn detector(&self) -> &Detector {
        &self.detector
    }

    /// Number of boxes present.
    pub(crate) fn len(&self) -> usize {
        self.detector.boxes().len()
    }

    /// The slot of a box that is present.
    pub(crate) fn slot(&self, id: GlobalId) -> Option<u32> {
        self.index.get(&id).copied()
    }

    pub(crate) fn id(&self, slot: usize) -> GlobalId {
        self.ids[slot]
    }

    pub(crate) fn home(&self, slot: usize) -> usize {
        self.homes[slot] as usize
    }

    /// The bounds of all boxes present.
    pub(crate) fn present(&self) -> impl Iterator<Item = &Aabb> {
        let here = |stay: &Stay| matches!(stay, Stay::Same | Stay::Changed | Stay::Entered { .. });
        let slots = self.stay.iter().zip(self.detector.boxes().aabbs());
        slots.filter(move |(stay, _)| here(stay)).map(|(_, aabb)| aabb)
    }

    fn state(&self, slot: usize) -> BoxState {
        let boxes = self.detector.boxes();
        BoxState { aabb: boxes.aabbs()[slot], filter: boxes.filters()[slot] }
    }

    /// Current bounds by slot; those of boxes that left have no meaning.
    pub(crate) fn bounds(&self) -> &[Aabb] {
        self.detector.boxes().aabbs()
    }

    /// The bounds before this step of a box that was here then.
    pub(crate) fn bounds_before(&self, slot: usize) -> &Aabb {
        match self.stay[slot] {
            Stay::Same => &self.bounds()[slot],
            _ => &self.previous[slot].aabb,
        }
    }

    /// Returns true if the box came to this rank in this step.
    pub(crate) fn has_entered(&self, slot: usize) -> bool {
        matches!(self.stay[slot], Stay::Entered { .. })
    }

    /// Returns true if the box was here before this step and is not any more.
    pub(crate) fn has_left(&self, slot: usize) -> bool {
        self.stay[slot] == Stay::Left
    }

    /// The state before this step, if the box existed then, anywhere.
    pub(crate) fn before(&self, slot: usize) -> Option<BoxState> {
        match self.stay[slot] {
            Stay::Same => Some(self.state(slot)),
            Stay::Changed | Stay::Left => Some(self.previous[slot]),
            Stay::Entered { existed } => existed.then(|| self.previous[slot]),
            Stay::Free => None,
        }
    }

    /// The state after this step, if the box exists then, anywhere.
    pub(crate) fn after(&self, slot: usize) -> Option<BoxState> {
        match self.stay[slot] {
            Stay::Same | Stay::Changed | Stay::Entered { .. } => Some(self.state(slot)),
            Stay::Left => {
                let place = self.left.binary_search_by_key(&(slot as u32), |&(slot, _)| slot);
                self.left[place.expect("a box that left is listed")].1
            }
            Stay::Free => None,
        }
    }

    /// A box comes to this rank: a new one, or one that so far was present elsewhere only.
    pub(crate) fn enter(
        &mut self,
        id: GlobalId,
        now: BoxState,
        before: Option<BoxState>,
        home: usize,
    ) -> Result<u32, Error> {
        let handle = self.detector.insert(now.aabb, now.filter)?;
        let slot = handle.index();
        if slot >= self.ids.len() {
            self.ids.resize(slot + 1, GlobalId(0));
            self.handles.resize(slot + 1, handle);
            self.homes.resize(slot + 1, 0);
            self.stay.resize(slot + 1, Stay::Free);
            self.previous.resize(slot + 1, NO_STATE);
        }
        self.ids[slot] = id;
        self.handles[slot] = handle;
        self.homes[slot] = home as u32;
        self.stay[slot] = Stay::Entered { existed: before.is_some() };
        self.previous[slot] = before.unwrap_or(NO_STATE);
        self.touched.push(slot as u32);
        self.index.insert(id, slot as u32);
        Ok(slot as u32)
    }

    fn touch(&mut self, slot: usize) {
        if self.stay[slot] == Stay::Same {
            self.previous[slot] = self.state(slot);
            self.stay[slot] = Stay::Changed;
            self.touched.push(slot as u32);
        }
    }

    /// A box that stays here gets new bounds.
    pub(crate) fn set(&mut self, slot: u32, aabb: Aabb) -> Result<(), Error> {
        self.touch(slot as usize);
        Ok(self.detector.set(self.handles[slot as usize], aabb)?)
    }

    /// A box that stays here gets another filter.
    pub(crate) fn set_filter(&mut self, slot: u32, filter: Filter) -> Result<(), Error> {
        self.touch(slot as usize);
        Ok(self.detector.boxes_mut().set_filter(self.handles[slot as usize], filter)?)
    }

    /// A box leaves this rank, to where it is `now`, or for good.
    pub(crate) fn leave(&mut self, slot: u32, now: Option<BoxState>) -> Result<(), Error> {
        let place = slot as usize;
        self.previous[place] = self.state(place);
        self.detector.remove(self.handles[place])?;
        self.stay[place] = Stay::Left;
        self.touched.push(slot);
        self.left.push((slot, now));
        self.index.remove(&self.ids[place]);
        Ok(())
    }

    /// Runs the local search. On an error, or if another rank had one, [`rollback`] has to follow.
    ///
    /// [`rollback`]: Local::rollback
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        self.left.sort_unstable_by_key(|&(slot, _)| slot);
        self.detector.step()?;
        self.stepped = true;
        Ok(())
    }

    /// Makes the state after the step the one before the next.
    pub(crate) fn commit(&mut self) {
        for &slot in &self.touched {
            let stay = &mut self.stay[slot as usize];
            *stay = if *stay == Stay::Left { Stay::Free } else { Stay::Same };
        }
        self.touched.clear();
        self.left.clear();
        self.stepped = false;
    }

    /// Goes back to the state before the step. A rank may have finished its search before it
    /// learns that another failed, so the detector is set up again from the previous states and
    /// the pairs before: this costs a rebuild, and only on errors.
    pub(crate) fn rollback(&mut self) {
        let pairs = self.pairs_before();
        let mut restored = Local::new(&self.options);
        let mut boxes = Boxes::new();
        let mut renamed = vec![None; self.ids.len()];
        for slot in 0..self.ids.len() {
            if matches!(self.stay[slot], Stay::Free | Stay::Entered { .. }) {
                continue;
            }
            let state = self.before(slot).expect("it was here");
            let handle = boxes.insert(state.aabb, state.filter).expect("it was here before");
            renamed[slot] = Some(handle);
            restored.ids.push(self.ids[slot]);
            restored.handles.push(handle);
            restored.homes.push(self.homes[slot]);
            restored.stay.push(Stay::Same);
            restored.previous.push(NO_STATE);
            restored.index.insert(self.ids[slot], handle.index() as u32);
        }
        let name = |slot: usize| renamed[slot].expect("boxes of pairs were here");
        let pairs: Vec<Pair> =
            pairs.iter().map(|p| Pair::new(name(p.a().index()), name(p.b().index()))).collect();
        restored.detector = self.options.detector(boxes, &pairs);
        *self = restored;
    }

    /// The pairs before the step, whether or not the search got through.
    fn pairs_before(&self) -> Vec<Pair> {
        let now = self.detector.pairs();
        if !self.stepped {
            return now.to_vec();
        }
        let events = self.detector.events();
        let lasting = now.iter().filter(|pair| events.began.binary_search(pair).is_err());
        lasting.chain(events.ended).copied().collect()
    }
}
