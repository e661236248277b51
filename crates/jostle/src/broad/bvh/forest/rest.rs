//! What rests leaves the movers: all of them at the beginning of a step in which few of them move,
//! or some at its end.

use crate::boxes::Boxes;
use crate::simd::node8::WIDTH;

use super::super::order::NONE;
use super::super::tree::{NOTHING, Tree};
use super::{Forest, MOVING, NO_HOME, RESTING_PER_MOVER, SMALL, build};

impl Forest {
    /// Ends the step: boxes that are gone are dropped, and those at rest leave the movers.
    pub(in super::super) fn finish(&mut self, boxes: &Boxes) {
        for &id in &self.gone {
            self.moving.take(self.places[id as usize] as usize);
            self.homes[id as usize] = NO_HOME;
        }
        self.finish_filters(boxes);
        if std::mem::take(&mut self.retired)
            && let Some(tree) = self.still.last_mut()
        {
            // Its bounds enclose where those that moved were.
            tree.refit(None, &self.workers);
        }
        let resting = self.moving.live.saturating_sub(self.changed_boxes);
        if resting > SMALL && resting > RESTING_PER_MOVER * self.changed_boxes {
            self.lay_to_rest(boxes, resting);
        }
        self.fill_hollow(boxes);
        self.advance_order(boxes);
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
    /// those that move are taken one by one. Nothing that rests is read or sorted for it. That is
    /// what the first step after a build costs in a world in which most boxes rest.
    pub(super) fn retire(&mut self, boxes: &Boxes) {
        let (movers, changes) = (self.moving.live, boxes.changes().len());
        let resting = movers.saturating_sub(changes);
        let few = resting > SMALL && resting > RESTING_PER_MOVER * changes;
        if !few || !self.may_retire(resting) {
            return;
        }
        self.reorder.cancel();
        let home = self.still.len() as u8;
        let homes = self.homes.iter_mut().filter(|home| **home == MOVING);
        homes.for_each(|moving| *moving = home);
        self.still.push(std::mem::take(&mut self.moving));
        self.retired = true;
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
        tree.note_places(&mut self.places, &mut self.homes, place as u8);
        self.builds += 1;
    }
}
