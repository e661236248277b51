//! [`Forest`]: a tree of what moves and a few trees of what does not.
//!
//! Trees are built as a whole and never repaired: a box that starts to move leaves its still tree
//! and joins the movers; movers that have come to rest go, together with the smaller still trees,
//! into a new still tree (the logarithmic method of Bentley and Saxe, *Decomposable
//! Searching Problems*, 1980). So there are at most about log2 n trees, a box is built into one
//! O(log n) times for each time it stops, and no history of insertions can make a tree bad.

use crate::aabb::{Aabb, NO_BOX};
use crate::boxes::Boxes;
use crate::filter::Filter;
use crate::id::Slot;
use crate::par::Workers;
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};

use super::changed_pairs::{Filters, Movers};
use super::order::{Input, NONE, Sorter, Spot};
use super::tree::{NOTHING, Tree, joined};

mod aim;
mod reorder;
mod rest;

use aim::Forecast;
use reorder::{FEW_BLOCKS, Reorder, Wear};

/// In no tree.
const NO_HOME: u8 = u8::MAX;
/// About to join the movers: its place is one in `incoming`.
const INCOMING: u8 = u8::MAX - 1;
/// In the tree of movers. Smaller homes are still trees.
const MOVING: u8 = u8::MAX - 2;

/// Resting boxes leave the movers when they outnumber those that moved by this factor.
const RESTING_PER_MOVER: usize = 3;

/// Fewer boxes than this are not worth a tree of their own.
const SMALL: usize = 64;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Forest {
    workers: Workers,
    /// Orders whole trees; `reorder` holds it while it makes an order.
    sorter: Sorter,
    /// Orders what joins the movers.
    joining: Sorter,
    reorder: Reorder,
    pub moving: Tree,
    /// The boxes of `moving` before the step.
    old: Vec<Node8>,
    /// The lanes of each block of `moving` that changed in the step.
    changed: Vec<u8>,
    changed_boxes: usize,
    changed_blocks: usize,
    pub still: Vec<Tree>,
    homes: Vec<u8>,
    /// Where each box is in its tree; that of a mover only if `places_known`, that of another only
    /// if its tree has noted it.
    places: Vec<u32>,
    /// False after the movers got other places, until somebody asks for one of them.
    places_known: bool,
    /// The filters by slot after the last step; empty while there are none.
    pub filters: Vec<Filter>,
    /// Boxes that join the movers, and their previous bounds.
    incoming: Vec<(u32, Aabb)>,
    refiltered: Vec<u32>,
    /// Boxes that are gone since the last step.
    gone: Vec<u32>,
    /// Boxes inserted in the last update: they may be withdrawn again without being listed as
    /// removed.
    unsettled: Vec<Slot>,
    order: Vec<u32>,
    joining_order: Vec<u32>,
    wear: Wear,
    forecast: Forecast,
    pub builds: u64,
    /// How often an order was taken that was made over several steps.
    pub orders: u64,
    /// Of these, how many were made for where boxes in straight motion would be.
    pub orders_ahead: u64,
    /// Changes when the movers get other places, or move without all their pairs being sought.
    pub layout: u64,
    /// True if a tree has become a still one in this step.
    retired: bool,
}

impl Forest {
    pub(super) fn new(workers: &Workers) -> Forest {
        Forest { workers: workers.clone(), ..Forest::default() }
    }

    /// Starts over with all boxes as movers that have not moved yet.
    pub(super) fn read_all(&mut self, boxes: &Boxes) {
        self.layout += 1;
        self.reorder.cancel();
        self.still.clear();
        self.incoming.clear();
        self.unsettled.clear();
        self.homes.clear();
        self.homes.resize(boxes.slots(), NO_HOME);
        self.places.resize(boxes.slots(), 0);
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.extend_from_slice(boxes.filters());
        }
        self.sorter.begin().add(boxes.live_slots().map(Slot::get));
        let filters = (!self.filters.is_empty()).then_some(&self.filters[..]);
        build(&mut self.moving, boxes.aabbs(), filters, &mut self.sorter, &self.workers);
        boxes.live_slots().for_each(|slot| self.homes[slot.index()] = MOVING);
        self.moving.taken = 0;
        self.places_known = false;
        self.old.clear();
        self.changed_boxes = boxes.len();
        self.changed_blocks = self.moving.blocks();
        self.settle();
        self.unsettled.extend_from_slice(boxes.changes().inserted());
    }

    /// Returns true if a step should find all pairs rather than what changed: with almost
    /// everything moving that takes half the tests.
    pub(super) fn all_move(&self, boxes: &Boxes) -> bool {
        boxes.changes().len() * 4 >= boxes.len() * 3
    }

    /// Follows a step in which almost everything moved, without keeping the previous bounds. All
    /// boxes become movers.
    pub(super) fn follow_all(&mut self, boxes: &Boxes) {
        self.follow_filters(boxes);
        let filtered = !self.filters.is_empty();
        let (inserted, removed) = (boxes.changes().inserted(), boxes.changes().removed());
        let withdrawn = self.unsettled.iter().any(|id| !boxes.is_live(*id));
        let churned = inserted.len() + removed.len() + usize::from(withdrawn);
        let many = churned * 8 > boxes.len() || (filtered && churned > 0);
        let few = self.moving.blocks() < FEW_BLOCKS;
        let worn_out = self.is_worn_out();
        if many || !self.still.is_empty() || !self.refiltered.is_empty() || (worn_out && !few) {
            return self.read_all(boxes);
        }
        if churned > 0 {
            self.churn(boxes);
        }
        self.reorder.aim.forget();
        let taken = self.take_order();
        if taken {
            self.adopt_order();
        } else {
            self.note_before(worn_out);
        }
        self.moving.read(boxes.aabbs(), &self.workers);
        if worn_out && !taken {
            self.order_at_once(boxes);
            self.moving.read(boxes.aabbs(), &self.workers);
        }
        self.unsettled.clear();
        self.unsettled.extend_from_slice(inserted);
        self.changed_boxes = boxes.changes().len();
        self.changed_blocks = self.moving.blocks();
    }

    /// Gives the movers the places that `order` says.
    fn adopt_order(&mut self) {
        self.layout += 1;
        self.orders += 1;
        let live = self.moving.live;
        std::mem::swap(&mut self.moving.ids, &mut self.order);
        self.reorder.give_back(&mut self.order);
        self.moving.shape(live);
        self.moving.taken = 0;
        self.places_known = false;
        if !self.filters.is_empty() {
            self.moving.join_filters(|id| self.filters[id as usize]);
        }
        self.settle();
    }

    /// Notes the places of the movers, if they are not known. While everything moves and nothing
    /// comes or goes, nobody asks for them, and writing them is a serial pass in no order.
    fn know_places(&mut self) {
        if !std::mem::replace(&mut self.places_known, true) {
            self.moving.taken = 0;
            for (place, &id) in self.moving.ids.iter().enumerate().filter(|(_, id)| **id != NONE) {
                self.places[id as usize] = place as u32;
                self.homes[id as usize] = MOVING;
            }
        }
    }

    /// Removes what is gone and appends what is new to the movers.
    fn churn(&mut self, boxes: &Boxes) {
        self.layout += 1;
        self.know_places();
        self.reorder.disturb();
        self.homes.resize(boxes.slots(), NO_HOME);
        self.places.resize(boxes.slots(), 0);
        let withdrawn = self.unsettled.iter().filter(|id| !boxes.is_live(**id));
        for id in withdrawn.chain(boxes.changes().removed()).map(|id| id.index()) {
            if std::mem::replace(&mut self.homes[id], NO_HOME) == MOVING {
                self.moving.take(self.places[id] as usize);
            }
        }
        let new = boxes.changes().inserted().iter().map(|id| id.get());
        let homes = &self.homes;
        self.joining.begin().add(new.filter(|&id| homes[id as usize] == NO_HOME));
        let spot = |id: u32| Spot::of(&boxes.aabbs()[id as usize]);
        let input = Input { spot, filter: None::<fn(u32) -> Filter> };
        let live = self.moving.live + self.joining.len();
        self.joining.order(&input, &self.workers, &mut self.order);
        self.append(live);
    }

    /// Appends the ids in `order` to the movers.
    fn append(&mut self, live: usize) {
        self.order.resize(self.order.len().next_multiple_of(WIDTH), NONE);
        let first = self.moving.ids.len();
        self.moving.ids.extend_from_slice(&self.order);
        self.moving.shape(live);
        for (place, &id) in self.order.iter().enumerate().filter(|(_, id)| **id != NONE) {
            self.places[id as usize] = (first + place) as u32;
            self.homes[id as usize] = MOVING;
        }
    }

    /// Follows the changes of a step. Afterwards [`Forest::movers`] holds the previous and current
    /// bounds; [`Forest::finish`] has to be called before the next time.
    pub(super) fn follow(&mut self, boxes: &Boxes) {
        self.layout += 1;
        self.homes.resize(boxes.slots(), NO_HOME);
        self.places.resize(boxes.slots(), 0);
        self.incoming.clear();
        let retired = self.retire(boxes);
        self.know_places();
        self.follow_filters(boxes);
        let changes = boxes.changes();
        let withdrawn = std::mem::take(&mut self.unsettled);
        self.gone.clear();
        let withdrawn_now = withdrawn.iter().filter(|id| !boxes.is_live(**id));
        withdrawn_now.chain(changes.removed()).for_each(|id| self.part_with(id.get()));
        // One inserted in the last step and removed in this one is in both lists.
        self.gone.sort_unstable();
        self.gone.dedup();
        self.unsettled = withdrawn;
        self.unsettled.clear();
        self.unsettled.extend_from_slice(changes.inserted());
        changes.moved().iter().chain(changes.inserted()).for_each(|id| self.bring(id.get()));
        if retired {
            self.start_movers(boxes);
        } else if self.take_order() {
            self.orders += 1;
            self.rebuild_movers(boxes, true);
        } else if self.is_worn_out() || self.incoming.len() * 4 > self.moving.live {
            self.rebuild_movers(boxes, false);
        } else {
            self.move_boxes(boxes);
        }
        self.note_changes();
        self.moving.refit(Some(&self.old), &self.workers);
        if !self.filters.is_empty() {
            self.join_filters(boxes);
        }
    }

    /// Makes a box a mover; one that is in no tree has no previous bounds.
    fn bring(&mut self, id: u32) {
        let slot = id as usize;
        let old = match self.homes[slot] {
            MOVING | INCOMING => return,
            NO_HOME => NO_BOX,
            home => {
                self.note_still_places(usize::from(home), usize::MAX);
                self.still[usize::from(home)].take(self.places[slot] as usize)
            }
        };
        self.reorder.disturb();
        self.homes[slot] = INCOMING;
        self.places[slot] = self.incoming.len() as u32;
        self.incoming.push((id, old));
    }

    /// A box that is gone stays one more step as a mover, so that its pairs are seen to end.
    fn part_with(&mut self, id: u32) {
        if self.homes[id as usize] != NO_HOME {
            self.reorder.disturb();
            self.bring(id);
            self.gone.push(id);
        }
    }

    fn follow_filters(&mut self, boxes: &Boxes) {
        self.refiltered.clear();
        if !boxes.has_filters() && self.filters.is_empty() {
            return;
        }
        if self.filters.is_empty() {
            // Until now all boxes had the filter that allows everything.
            let known = |&home: &u8| if home == NO_HOME { NOTHING } else { Filter::ALL };
            self.filters.extend(self.homes.iter().map(known));
            self.still.iter_mut().for_each(|tree| tree.join_filters(|_| Filter::ALL));
        }
        self.filters.resize(boxes.slots(), NOTHING);
        for id in boxes.changes().moved().iter().chain(boxes.changes().inserted()) {
            if self.filters[id.index()] != boxes.filters()[id.index()] {
                self.refiltered.push(id.get());
            }
        }
    }

    /// Tells how many tests the step took, so that a tree that has become bad is noticed.
    pub(super) fn note_tests(&mut self, tests: u64) {
        // A step in which little changes has little to compare.
        let share = self.changed_blocks as u64 * 2 >= self.moving.blocks() as u64;
        if share {
            self.wear.note(tests);
        }
    }

    /// Orders the ids given to a sorter by their bounds, the previous ones if the box is gone.
    fn order_movers(&self, boxes: &Boxes, sorter: &mut Sorter, order: &mut Vec<u32>) {
        let (homes, places) = (&self.homes, &self.places);
        let (moving, incoming) = (&self.moving, &self.incoming);
        let spot = |id: u32| {
            let (now, slot) = (boxes.aabbs()[id as usize], id as usize);
            let gone = now.min[0].is_nan();
            Spot::of(&if gone { old(homes, places, moving, incoming, slot) } else { now })
        };
        let filters = &self.filters;
        let filter = (!filters.is_empty()).then_some(|id: u32| {
            let of = if boxes.is_live(Slot::new(id)) { boxes.filters() } else { filters };
            of[id as usize]
        });
        sorter.order(&Input { spot, filter }, &self.workers, order);
    }

    /// Appends the incoming boxes to `order`, ordered among themselves.
    fn order_incoming(&mut self, boxes: &Boxes) {
        let (mut sorter, mut joining) = <(Sorter, Vec<u32>)>::default();
        std::mem::swap(&mut sorter, &mut self.joining);
        std::mem::swap(&mut joining, &mut self.joining_order);
        sorter.begin().add(self.incoming.iter().map(|&(id, _)| id));
        self.order_movers(boxes, &mut sorter, &mut joining);
        self.order.extend_from_slice(&joining);
        self.order.resize(self.order.len().next_multiple_of(WIDTH), NONE);
        (self.joining, self.joining_order) = (sorter, joining);
    }

    /// Orders the movers and the incoming boxes from scratch.
    fn order_all(&mut self, boxes: &Boxes) {
        self.reorder.cancel();
        let (mut sorter, mut order) = <(Sorter, Vec<u32>)>::default();
        std::mem::swap(&mut sorter, &mut self.sorter);
        std::mem::swap(&mut order, &mut self.order);
        sorter.begin().add(self.moving.live_ids());
        sorter.add(self.incoming.iter().map(|&(id, _)| id));
        self.order_movers(boxes, &mut sorter, &mut order);
        order.resize(order.len().next_multiple_of(WIDTH), NONE);
        (self.sorter, self.order) = (sorter, order);
    }

    /// The previous bounds of the boxes in `order`, block by block.
    fn old_in_order(&self) -> impl Iterator<Item = Node8> + '_ {
        self.order.as_chunks::<WIDTH>().0.iter().map(|ids| {
            let mut block = Node8::EMPTY;
            for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != NONE) {
                let (homes, places) = (&self.homes, &self.places);
                block.set(lane, &old(homes, places, &self.moving, &self.incoming, id as usize));
            }
            block
        })
    }

    /// Gives the movers and the incoming boxes other places. If `ordered`, `order` has those of the
    /// movers.
    fn rebuild_movers(&mut self, boxes: &Boxes, ordered: bool) {
        let live = self.moving.live + self.incoming.len();
        if ordered {
            self.order_incoming(boxes);
        } else {
            self.order_all(boxes);
        }
        let mut old = std::mem::take(&mut self.old);
        old.clear();
        old.extend(self.old_in_order());
        self.old = old;
        std::mem::swap(&mut self.moving.ids, &mut self.order);
        if ordered {
            self.reorder.give_back(&mut self.order);
        }
        self.moving.shape(live);
        self.moving.gather(boxes.aabbs(), &self.workers);
        self.places_known = false;
        self.know_places();
        self.moving.filters.iter_mut().for_each(Vec::clear);
        self.settle();
    }

    /// Reads the movers again in the order they have, and appends the incoming boxes.
    fn move_boxes(&mut self, boxes: &Boxes) {
        let live = self.moving.live + self.incoming.len();
        if !self.incoming.is_empty() {
            self.order.clear();
            self.order_incoming(boxes);
            self.moving.filters.iter_mut().for_each(Vec::clear);
        }
        let Some(blocks) = self.moving.levels.first_mut() else { return };
        std::mem::swap(&mut self.old, blocks);
        if self.incoming.is_empty() {
            blocks.resize(self.old.len(), Node8::EMPTY);
        } else {
            let mut old = std::mem::take(&mut self.old);
            old.extend(self.old_in_order());
            self.old = old;
            self.append(live);
        }
        self.moving.gather(boxes.aabbs(), &self.workers);
    }

    fn note_changes(&mut self) {
        self.changed.resize(self.moving.blocks(), 0);
        let (new, old) = (self.moving.levels.first().map_or(&[][..], |level| level), &self.old);
        self.workers.for_each_chunk(&mut self.changed, 1 << 12, |task, changed| {
            let first = task << 12;
            simd::run(Compare { new: &new[first..], old: &old[first..], changed });
        });
        for &id in &self.refiltered {
            let place = self.places[id as usize] as usize;
            self.changed[place / WIDTH] |= 1 << (place % WIDTH);
        }
        let count = |mask: &u8| mask.count_ones() as usize;
        self.changed_boxes = self.changed.iter().map(count).sum();
        self.changed_blocks = self.changed.iter().filter(|mask| **mask != 0).count();
    }

    fn join_filters(&mut self, boxes: &Boxes) {
        let joined_already = self.moving.filters.first().is_some_and(|level| !level.is_empty());
        if joined_already && self.refiltered.is_empty() {
            return;
        }
        let (before, now) = (&self.filters, boxes.filters());
        self.moving.join_filters(|id| joined(&before[id as usize], &now[id as usize]));
    }

    /// The movers before and after the step.
    pub(super) fn movers<'a>(&'a self, boxes: &'a Boxes) -> Movers<'a> {
        let filters = Filters {
            before: &self.filters,
            now: boxes.filters(),
            changed: !self.refiltered.is_empty(),
        };
        Movers {
            tree: &self.moving,
            old: &self.old,
            changed: &self.changed,
            all: self.changed_blocks == self.changed.len(),
            filters: (!self.filters.is_empty()).then_some(filters),
        }
    }

    /// Number of boxes that changed in the last step.
    pub(super) fn changed_boxes(&self) -> usize {
        self.changed_boxes
    }

    /// Returns true if boxes of the last update may have been withdrawn since.
    pub(super) fn has_unsettled(&self) -> bool {
        !self.unsettled.is_empty()
    }

    /// All trees.
    pub(super) fn trees(&self) -> impl Iterator<Item = &Tree> + Clone {
        self.still.iter().chain([&self.moving]).filter(|tree| tree.live > 0)
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let trees: usize = self.trees().map(Tree::bytes).sum();
        trees
            + self.sorter.bytes()
            + self.joining.bytes()
            + self.reorder.bytes()
            + self.old.capacity() * size_of::<Node8>()
            + self.changed.capacity()
            + self.homes.capacity()
            + self.filters.capacity() * size_of::<Filter>()
            + self.incoming.capacity() * size_of::<(u32, Aabb)>()
            + 4 * (self.places.capacity() + self.order.capacity() + self.joining_order.capacity())
    }

    /// Panics and names the invariant if something is broken.
    pub(super) fn validate(&self, boxes: &Boxes) {
        let mut seen = 0;
        for (home, tree) in self.still.iter().map(Some).chain([None]).enumerate() {
            let home = if tree.is_some() { home as u8 } else { MOVING };
            let tree = tree.unwrap_or(&self.moving);
            tree.validate(&self.filters);
            for (place, &id) in tree.ids.iter().enumerate().filter(|(_, id)| **id != NONE) {
                let known = boxes.id_at(Slot::new(id)).and_then(|id| boxes.get(id));
                assert!(known.is_some(), "box {id} is in tree {home} but does not exist");
                assert!(known.is_some_and(|aabb| aabb.same(&tree.get(place))), "box {id} is stale");
                assert_eq!(self.homes[id as usize], home, "home of box {id}");
                let known =
                    if home == MOVING { self.places_known } else { place < tree.upkeep.noted };
                assert!(!known || self.places[id as usize] == place as u32, "place of box {id}");
                seen += 1;
            }
        }
        assert_eq!(seen, boxes.len(), "every box is in one tree");
        if boxes.has_filters() {
            for id in boxes.live_slots() {
                assert_eq!(self.filters[id.index()], boxes.filters()[id.index()], "filter of {id}");
            }
        }
        assert!(self.still.len() <= 40, "{} still trees", self.still.len());
    }
}

/// The previous bounds of a box that is in the tree of movers or about to join it.
#[inline]
fn old(homes: &[u8], places: &[u32], moving: &Tree, incoming: &[(u32, Aabb)], slot: usize) -> Aabb {
    let place = places[slot] as usize;
    if homes[slot] == MOVING { moving.get(place) } else { incoming[place].1 }
}

/// Builds a tree of the boxes given to the sorter.
fn build(
    tree: &mut Tree,
    aabbs: &[Aabb],
    filters: Option<&[Filter]>,
    sorter: &mut Sorter,
    workers: &Workers,
) {
    let spot = |id: u32| Spot::of(&aabbs[id as usize]);
    let filter = filters.map(|filters| move |id: u32| filters[id as usize]);
    let live = sorter.len();
    sorter.order(&Input { spot, filter }, workers, &mut tree.ids);
    tree.shape(live);
    tree.read(aabbs, workers);
    match filters {
        Some(filters) => tree.join_filters(|id| filters[id as usize]),
        None => tree.filters.iter_mut().for_each(Vec::clear),
    }
}

/// Finds the lanes that differ.
struct Compare<'a> {
    new: &'a [Node8],
    old: &'a [Node8],
    changed: &'a mut [u8],
}

impl Kernel for Compare<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        for (changed, (new, old)) in self.changed.iter_mut().zip(self.new.iter().zip(self.old)) {
            *changed = simd.differing(new, old) as u8;
        }
    }
}
