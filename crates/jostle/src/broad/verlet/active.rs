//! [`Lists`]: a generation in use, the boxes as they are now, and those that are loose.

use crate::boxes::Boxes;
use crate::broad::bvh::order::NONE;
use crate::broad::shared::tasks::run_tasks;
use crate::error::Error;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::{Pair, PairBuffer};
use crate::par::Workers;
use crate::simd::listed::{Corners, GROUP, follow};

use super::generation::{Builder, Generation, RUN};
use super::list::Reach;
use super::loose::Loose;

/// If more than one box in this many changed, all are read in the order of places instead of the
/// changed ones by slot.
const MANY_CHANGES: usize = 6;

/// What following a run of places found, on cache lines of its own.
#[derive(Clone, Debug, Default)]
#[repr(align(128))]
struct RunScratch {
    left: Vec<u32>,
    furthest: f32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    pub generation: Generation,
    /// The listed boxes now, and some places behind them that hold none.
    corners: Vec<Corners>,
    /// The place of each slot, [`NONE`] if its box is not listed.
    places: Vec<u32>,
    /// The furthest that a listed bound is from its origin.
    pub furthest: f32,
    pub loose: Loose,
    /// True if boxes have left the list in this step.
    muted: bool,
    runs: Vec<RunScratch>,
    /// Tests of the last step.
    pub tests: u64,
}

/// Lists do not pay any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooLoose;

impl Lists {
    /// Takes over a generation that was built from earlier states of these boxes, and hands back
    /// the memory of the one before. The pairs are those of the boxes as they are now.
    pub(super) fn activate(
        &mut self,
        next: &mut Generation,
        boxes: &Boxes,
        workers: &Workers,
        limit: usize,
    ) -> Result<(), TooLoose> {
        std::mem::swap(&mut self.generation, next);
        self.loose.clear();
        self.muted = false;
        self.furthest = 0.0;
        let slots = &self.generation.slots;
        self.corners.clear();
        self.corners.resize(slots.len() + GROUP, Corners::NONE);
        self.places.clear();
        self.places.resize(boxes.slots(), NONE);
        for (place, &slot) in slots.iter().enumerate().filter(|(_, slot)| **slot != NONE) {
            self.places[slot as usize] = place as u32;
        }
        self.read_all(boxes, workers);
        self.find_unlisted(boxes);
        self.check_loose(boxes)?;
        let reach = if self.muted { Reach::All } else { Reach::Within(self.furthest) };
        let Lists { generation, corners, .. } = self;
        let skin = generation.skin;
        workers.for_each(&mut generation.parts[..generation.used], |_, part| {
            part.scratch.test(corners, reach, skin);
        });
        let Lists { generation, corners, loose, .. } = self;
        loose.find(boxes, generation, corners, limit).map_err(|_| TooLoose)
    }

    /// All boxes that are not listed are loose.
    fn find_unlisted(&mut self, boxes: &Boxes) {
        self.loose.slots.clear();
        let listed = self.corners.iter().filter(|corners| !corners.is_none()).count();
        if listed < boxes.len() {
            let places = &self.places;
            let unlisted = boxes.live_slots().filter(|slot| places[slot.index()] == NONE);
            self.loose.slots.extend(unlisted.map(Slot::get));
        }
    }

    fn check_loose(&self, boxes: &Boxes) -> Result<(), TooLoose> {
        if self.loose.slots.len() <= Loose::most(boxes.len()) { Ok(()) } else { Err(TooLoose) }
    }

    /// Follows the changes of a step. The boxes that leave the list become loose.
    pub(super) fn follow(&mut self, boxes: &Boxes, workers: &Workers) -> Result<(), TooLoose> {
        self.muted = false;
        let changes = boxes.changes();
        self.places.resize(boxes.slots(), NONE);
        for slot in changes.removed() {
            self.mute_slot(slot.index());
        }
        if !changes.removed().is_empty() {
            self.loose.slots.retain(|&slot| boxes.is_live(Slot::new(slot)));
        }
        self.loose.slots.extend(changes.inserted().iter().map(|slot| slot.get()));
        self.check_loose(boxes)?;
        if changes.moved().len() * MANY_CHANGES > boxes.len() {
            self.furthest = 0.0;
            self.read_all(boxes, workers);
        } else {
            self.read_moved(boxes);
        }
        self.check_loose(boxes)
    }

    /// Reads all listed boxes.
    fn read_all(&mut self, boxes: &Boxes, workers: &Workers) {
        let Generation { slots, origins, skin, .. } = &self.generation;
        let corners = &mut self.corners[..slots.len()];
        self.runs.resize_with(slots.len().div_ceil(RUN), RunScratch::default);
        workers.for_each_chunk_with(corners, RUN, &mut self.runs, |run, corners, scratch| {
            let places = run * RUN..run * RUN + corners.len();
            let (slots, origins) = (&slots[places.clone()], &origins[places.clone()]);
            scratch.left.clear();
            let first = places.start as u32;
            let left = &mut scratch.left;
            scratch.furthest =
                follow(boxes.aabbs(), slots, origins, *skin, first, corners, left).furthest;
        });
        let runs = std::mem::take(&mut self.runs);
        for run in &runs {
            self.furthest = self.furthest.max(run.furthest);
            run.left.iter().for_each(|&place| self.leave(boxes, place as usize));
        }
        self.runs = runs;
        self.read_filters(boxes);
    }

    /// Boxes with another filter than when they were listed leave the list.
    fn read_filters(&mut self, boxes: &Boxes) {
        if !boxes.has_filters() && self.generation.filters.is_empty() {
            return;
        }
        for place in 0..self.generation.slots.len() {
            let slot = self.generation.slots[place] as usize;
            if !self.corners[place].is_none() && boxes.filters()[slot] != self.filter(place) {
                self.leave(boxes, place);
            }
        }
    }

    /// The filter of the box at a place when it was listed.
    fn filter(&self, place: usize) -> Filter {
        self.generation.filters.get(place).copied().unwrap_or_default()
    }

    fn read_moved(&mut self, boxes: &Boxes) {
        for &slot in boxes.changes().moved() {
            let place = self.places[slot.index()];
            if place == NONE {
                continue;
            }
            let place = place as usize;
            let Generation { origins, skin, .. } = &self.generation;
            let now = Corners::new(&boxes.aabbs()[slot.index()]);
            let way = now.way_from(&origins[place]);
            let inside = way.is_some_and(|way| way <= *skin);
            self.corners[place] = now;
            let same = boxes.filters()[slot.index()] == self.filter(place);
            if inside && same {
                self.furthest = self.furthest.max(way.unwrap_or(0.0));
            } else {
                self.leave(boxes, place);
            }
        }
    }

    /// Takes a place out of the list; its box, if there is one, becomes loose.
    fn leave(&mut self, boxes: &Boxes, place: usize) {
        self.corners[place] = Corners::NONE;
        let slot = self.generation.slots[place];
        // Gaps, and boxes that left before, are met again when all are read.
        if self.generation.origins[place].is_none() || slot == NONE {
            if slot != NONE && self.places[slot as usize] == place as u32 {
                self.places[slot as usize] = NONE;
            }
            return;
        }
        self.mute_slot(slot as usize);
        if boxes.is_live(Slot::new(slot)) {
            self.loose.slots.push(slot);
        }
    }

    fn mute_slot(&mut self, slot: usize) {
        let place = std::mem::replace(&mut self.places[slot], NONE);
        if place != NONE {
            self.corners[place as usize] = Corners::NONE;
            self.generation.origins[place as usize] = Corners::NONE;
            self.muted = true;
        }
    }

    /// Tests the candidates again and writes what began and ended.
    pub(super) fn find(
        &mut self,
        boxes: &Boxes,
        workers: &Workers,
        found: &mut PairBuffer,
    ) -> Result<(), Error> {
        self.loose.find(boxes, &self.generation, &self.corners, found.limit())?;
        let reach = if self.muted { Reach::All } else { Reach::Within(self.furthest) };
        let Lists { generation, corners, loose, .. } = self;
        let Generation { parts, slots, skin, used, .. } = generation;
        let tests = run_tasks(*used, workers, parts, found, |_, lane, part, tests| {
            *tests = part.test(corners, reach, *skin) as u64;
            part.write_flips(slots, &loose.began, lane)
        })?;
        loose.handed_over.clear();
        for part in parts[..*used].iter().map(|part| &part.scratch) {
            found.ended_mut().extend_from_slice(&part.ended);
            loose.handed_over.extend_from_slice(&part.handed_over);
        }
        loose.handed_over.sort_unstable();
        let known = |pair: &&Pair| loose.handed_over.binary_search(pair).is_ok();
        let lane = found.lane();
        for pair in loose.began.iter().filter(|pair| !known(pair)) {
            lane.push(pair.a().get(), pair.b().get())?;
        }
        found.ended_mut().extend_from_slice(&loose.ended);
        found.check_limit()?;
        self.tests = tests + 8 * self.loose.tests;
        Ok(())
    }

    /// Lists the boxes for the next generation: the listed ones in the order they have, then the
    /// loose ones. Begins to build it.
    pub(super) fn begin_next(&self, builder: &mut Builder, skin: f32) {
        let Generation { slots, origins, .. } = &self.generation;
        let kept = slots.iter().zip(origins);
        let mut disordered = self.loose.slots.len();
        let next = &mut builder.next.slots;
        next.clear();
        next.extend(kept.map(|(&slot, origin)| {
            disordered += usize::from(origin.is_none());
            if origin.is_none() { NONE } else { slot }
        }));
        next.extend_from_slice(&self.loose.slots);
        next.resize(next.len().next_multiple_of(8), NONE);
        builder.begin(skin, disordered);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.generation.bytes()
            + self.corners.capacity() * size_of::<Corners>()
            + self.places.capacity() * 4
            + self.loose.bytes()
            + self.runs.iter().map(|run| run.left.capacity() * 4 + 128).sum::<usize>()
    }

    /// Panics and names the invariant if something is broken.
    pub(super) fn validate(&self, boxes: &Boxes) {
        let Generation { slots, origins, skin, .. } = &self.generation;
        let mut listed = 0;
        for (place, &slot) in slots.iter().enumerate() {
            if origins[place].is_none() {
                assert!(self.corners[place].is_none(), "place {place} is empty");
                continue;
            }
            listed += 1;
            assert_eq!(self.places[slot as usize], place as u32, "place of box {slot}");
            let now = &boxes.aabbs()[slot as usize];
            assert!(self.corners[place].aabb().same(now), "box {slot} is stale");
            assert!(origins[place].grown(*skin).contains(now), "box {slot} left its skin");
            assert!(boxes.filters()[slot as usize] == self.filter(place), "filter of {slot}");
        }
        assert_eq!(listed + self.loose.slots.len(), boxes.len(), "listed or loose");
        for &slot in &self.loose.slots {
            assert!(boxes.is_live(Slot::new(slot)), "loose box {slot} exists");
            assert_eq!(self.places[slot as usize], NONE, "loose box {slot} is not listed");
        }
        let parts = &self.generation.parts[..self.generation.used];
        for (pair, state) in parts.iter().flat_map(|part| part.scratch.states()) {
            let [one, other] = [pair.a(), pair.b()].map(|place| &self.corners[place.index()]);
            assert_eq!(one.overlaps(other), state, "places {pair}");
        }
    }
}
