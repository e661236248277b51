//! What rests leaves the movers: all of them at the beginning of a step in which few of them move,
//! or some at its end.
//!
//! The first case is the first step with motion after a build. Whatever it does at once makes it
//! longer than the steps after it, so it does as little as it can: the movers are taken from the
//! tree in one pass over it, which needs no places, and stay in its order, which needs no sorting.
//! The rest is put off: bounds without what was taken in the next step, the places of what rests
//! and a better order of the movers in those after it.

use std::ops::Range;

use crate::boxes::Boxes;
use crate::simd::node8::{Node8, WIDTH};
use crate::simd::prefetch::prefetch;

use super::super::order::NONE;
use super::super::tree::{NOTHING, Tree, Upkeep};
use super::{Forest, MOVING, NO_HOME, RESTING_PER_MOVER, SMALL, build};

/// Places of a tree that are looked through at once for boxes that changed.
const PLACES_AT_ONCE: usize = 1 << 9;

/// Places of a still tree that are noted in a step.
const PLACES_PER_STEP: usize = 1 << 14;

impl Forest {
    /// Ends the step: boxes that are gone are dropped, and those at rest leave the movers.
    pub(in super::super) fn finish(&mut self, boxes: &Boxes) {
        for &id in &self.gone {
            self.moving.take(self.places[id as usize] as usize);
            self.homes[id as usize] = NO_HOME;
        }
        self.finish_filters(boxes);
        let resting = self.moving.live.saturating_sub(self.changed_boxes);
        if resting > SMALL && resting > RESTING_PER_MOVER * self.changed_boxes {
            self.lay_to_rest(boxes, resting);
        }
        self.fill_hollow(boxes);
        // Neither belongs into a step that has begun with a new tree of movers.
        if !std::mem::take(&mut self.retired) && !self.refit_loose() {
            self.note_some_places();
            self.reorder.aim.forget();
            self.note_previous();
            self.advance_order(boxes);
        }
        self.trim();
    }

    /// Gives back memory after most movers have come to rest.
    fn trim(&mut self) {
        let boxes = self.moving.ids.len().max(SMALL * WIDTH);
        if self.old.capacity() > boxes / WIDTH * 4 {
            self.moving.trim();
            self.old.shrink_to(boxes / WIDTH);
            self.changed.shrink_to(boxes / WIDTH);
            self.order.truncate(boxes);
            self.order.shrink_to(boxes);
            self.reorder.trim(boxes);
        }
        if self.incoming.capacity() > boxes && self.incoming.len() < boxes / 4 {
            self.incoming.shrink_to(boxes / 4);
        }
    }

    fn finish_filters(&mut self, boxes: &Boxes) {
        if self.filters.is_empty() {
            return;
        }
        if boxes.has_filters() {
            self.gone.iter().for_each(|&id| self.filters[id as usize] = NOTHING);
            for &id in &self.refiltered {
                self.filters[id as usize] = boxes.filters()[id as usize];
            }
        } else {
            self.filters.clear();
            let trees = self.still.iter_mut().chain([&mut self.moving]);
            trees.for_each(|tree| tree.filters.iter_mut().for_each(Vec::clear));
        }
    }

    /// Before a step is followed: if few move, the tree of movers becomes a still tree, from which
    /// those that move are taken. Nothing that rests is read or sorted for it. That is what the
    /// first step after a build costs in a world in which most boxes rest. Returns true if it was
    /// done; [`Forest::start_movers`] has to follow.
    pub(super) fn retire(&mut self, boxes: &Boxes) -> bool {
        let (movers, changes) = (self.moving.live, boxes.changes().len());
        let resting = movers.saturating_sub(changes);
        let few = resting > SMALL && resting > RESTING_PER_MOVER * changes;
        if !few || !self.may_retire(resting) {
            return false;
        }
        self.reorder.cancel();
        let home = self.still.len() as u8;
        let retired = |of: u8| if of == MOVING { home } else { of };
        self.homes.iter_mut().for_each(|of| *of = retired(*of));
        let mut tree = std::mem::take(&mut self.moving);
        let noted = if self.places_known { tree.ids.len() } else { 0 };
        tree.upkeep = Upkeep { noted, loose: true };
        self.wake(boxes, &mut tree);
        self.still.push(tree);
        self.retired = true;
        true
    }

    /// Gives those boxes of a tree that have changed places among the movers, of which there are
    /// none, and takes their previous bounds along.
    fn wake(&mut self, boxes: &Boxes, tree: &mut Tree) {
        self.order.clear();
        self.old.clear();
        let mut changed = [0; PLACES_AT_ONCE];
        for first in (0..tree.ids.len()).step_by(PLACES_AT_ONCE) {
            let mut count = 0;
            // Whether a box has changed cannot be predicted.
            for (place, &id) in (first..).zip(&tree.ids[first..]).take(PLACES_AT_ONCE) {
                changed[count % PLACES_AT_ONCE] = place as u32;
                count += usize::from(id != NONE && boxes.is_changed(id));
            }
            // The tree has left the near caches since it was built.
            let blocks = tree.levels.first().map_or(&[][..], |level| level);
            let ahead = changed[..count].iter().map(|&place| place as usize / WIDTH);
            ahead.for_each(|block| prefetch(&blocks[block..=block]));
            let known = self.order.len();
            let within = first..first + PLACES_AT_ONCE;
            list_apart(&changed[..count], within, &tree.ids, &mut self.order);
            self.old.resize(self.order.len().div_ceil(WIDTH), Node8::EMPTY);
            let listed = (known..).zip(&self.order[known..]).filter(|(_, id)| **id != NONE);
            for ((place, &id), &taken) in listed.zip(&changed[..count]) {
                self.old[place / WIDTH].set(place % WIDTH, &tree.take(taken as usize));
                self.homes[id as usize] = MOVING;
                self.places[id as usize] = place as u32;
                self.moving.live += 1;
            }
        }
    }

    /// Makes the tree of movers of those that were just woken, in the order of the tree that they
    /// were taken from, and of the incoming boxes. That order is good enough for some steps; a
    /// better one is begun after this step.
    pub(super) fn start_movers(&mut self, boxes: &Boxes) {
        let woken = self.moving.live;
        std::mem::swap(&mut self.moving.ids, &mut self.order);
        self.moving.shape(woken);
        self.places_known = true;
        if !self.incoming.is_empty() {
            self.order.clear();
            self.order_incoming(boxes);
            let mut old = std::mem::take(&mut self.old);
            old.extend(self.old_in_order());
            self.old = old;
            self.append(woken + self.incoming.len());
        }
        self.moving.gather(boxes.aabbs(), &self.workers);
        self.settle();
        self.wear.urgent = true;
    }

    /// Makes the bounds of a tree enclose no more what was taken from it when it became a still
    /// one. Returns false if there is none.
    fn refit_loose(&mut self) -> bool {
        let loose = self.still.iter_mut().find(|tree| tree.upkeep.loose);
        loose.is_some_and(|tree| {
            tree.upkeep.loose = false;
            tree.refit(None, &self.workers);
            true
        })
    }

    /// Notes the places of some boxes of a tree that became a still one before they were known.
    fn note_some_places(&mut self) {
        let unknown = |tree: &Tree| tree.upkeep.noted < tree.ids.len();
        if let Some(home) = self.still.iter().position(unknown) {
            self.note_still_places(home, PLACES_PER_STEP);
        }
    }

    /// Notes the places of up to `count` boxes of a still tree, if they are not known.
    pub(super) fn note_still_places(&mut self, home: usize, count: usize) {
        let Tree { ids, upkeep: Upkeep { noted, .. }, .. } = &mut self.still[home];
        let end = ids.len().min(noted.saturating_add(count));
        for place in *noted..end {
            if ids[place] != NONE {
                self.places[ids[place] as usize] = place as u32;
            }
        }
        *noted = end;
    }

    /// Returns true if the tree of movers may become a still tree as it is: no still tree is so
    /// small that the two should be one, and few of its places are empty.
    fn may_retire(&self, resting: usize) -> bool {
        let merges = self.still.last().is_some_and(|last| last.live < 2 * resting);
        !merges && resting * 2 > self.moving.ids.len()
    }

    /// Puts the movers that did not move, and all smaller still trees, into a new still tree;
    /// unless all of them can be left to rest when the next step begins.
    fn lay_to_rest(&mut self, boxes: &Boxes, resting: usize) {
        if self.may_retire(resting) {
            return;
        }
        self.reorder.cancel();
        self.sorter.begin();
        for place in 0..self.moving.ids.len() {
            let id = self.moving.ids[place];
            if id != NONE && self.changed[place / WIDTH] >> (place % WIDTH) & 1 == 0 {
                self.moving.take(place);
                self.sorter.add([id]);
            }
        }
        let mut tree = Tree::default();
        while let Some(last) = self.still.pop_if(|last| last.live < 2 * self.sorter.len()) {
            self.sorter.add(last.live_ids());
            tree = last;
        }
        self.still.push(tree);
        self.rebuild_still(self.still.len() - 1, boxes);
    }

    /// Rebuilds still trees that have lost most of their boxes.
    fn fill_hollow(&mut self, boxes: &Boxes) {
        for place in 0..self.still.len() {
            let tree = &self.still[place];
            if tree.taken * 2 > tree.ids.len() {
                self.reorder.cancel();
                self.sorter.begin().add(tree.live_ids());
                self.rebuild_still(place, boxes);
            }
        }
        while self.still.pop_if(|last| last.live == 0).is_some() {}
    }

    fn rebuild_still(&mut self, place: usize, boxes: &Boxes) {
        let filters = (!self.filters.is_empty()).then_some(&self.filters[..]);
        let tree = &mut self.still[place];
        build(tree, boxes.aabbs(), filters, &mut self.sorter, &self.workers);
        tree.taken = 0;
        tree.upkeep = Upkeep::default();
        tree.live_ids().for_each(|id| self.homes[id as usize] = place as u8);
        self.note_still_places(place, usize::MAX);
        self.builds += 1;
    }
}

/// Appends the boxes at some places of a tree to an order, so that those of one block are from one
/// subtree: halves of a subtree are taken apart until its boxes fit into a block, and a block that
/// has no room for all of them is left with gaps.
///
/// With a tenth of 100 000 boxes moving (scene `tenth` without filters, as in `jostle-bench rivals
/// --scene tenth --n 100000`), the step takes 1.55 times the tests of an order made for the movers.
/// What lost: halves taken apart until 16, 32 or 64 boxes are left, 1.55, 1.6 and 1.85 times; the
/// movers one after the other without gaps, 2.4 times, because most blocks span two subtrees;
/// sorting them at once, which takes longer than all the tests.
fn list_apart(places: &[u32], within: Range<usize>, ids: &[u32], order: &mut Vec<u32>) {
    if places.len() > WIDTH {
        let middle = within.start.midpoint(within.end);
        let (left, right) = places.split_at(places.partition_point(|&at| (at as usize) < middle));
        list_apart(left, within.start..middle, ids, order);
        return list_apart(right, middle..within.end, ids, order);
    }
    if order.len() % WIDTH + places.len() > WIDTH {
        order.resize(order.len().next_multiple_of(WIDTH), NONE);
    }
    order.extend(places.iter().map(|&place| ids[place as usize]));
}
