//! [`Generation`]: boxes in an order of space, where they were at one moment, and the candidates
//! whose grown boxes met then. [`Builder`] makes one over several steps.

use crate::boxes::Boxes;
use crate::broad::bvh::order::{Input, NONE, Sorter, Spot};
use crate::broad::bvh::self_pairs::{Scratch, families, find_among};
use crate::broad::bvh::tree::Tree;
use crate::broad::shared::tasks::TaskState;
use crate::filter::Filter;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::simd::listed::Corners;
use crate::simd::node8::{Node8, WIDTH};

use super::list::Part;

/// Over how many steps the search for candidates is spread.
pub(super) const SLICES: u32 = 5;

/// Over how many steps the ordering of all boxes is spread, after the step that sorts them.
const CUTS: u32 = 3;

/// Places that a task handles at a time.
pub(super) const RUN: usize = 1 << 12;

/// More candidates a box than this are not listed.
const MOST_CANDIDATES: usize = 24;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Generation {
    /// How far the bounds of a box may be from its origin.
    pub skin: f32,
    /// The slot at each place, [`NONE`] in gaps; a multiple of eight.
    pub slots: Vec<u32>,
    /// The boxes when the candidates were found. NaN once a box is no longer listed.
    pub origins: Vec<Corners>,
    /// Of the grown boxes; its ids are places.
    pub tree: Tree,
    /// The filters by place; empty if there were none.
    pub filters: Vec<Filter>,
    pub parts: Vec<TaskState<Part>>,
    /// How many of the parts are in use.
    pub used: usize,
    /// Tests that the search took.
    tests: u64,
}

impl Generation {
    /// Number of candidates.
    pub(super) fn candidates(&self) -> usize {
        self.parts[..self.used].iter().map(|part| part.scratch.candidates).sum()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * 4
            + self.origins.capacity() * size_of::<Corners>()
            + self.tree.bytes()
            + self.filters.capacity() * size_of::<Filter>()
            + self.parts.iter().map(|part| part.scratch.bytes()).sum::<usize>()
    }

    /// Notes where the boxes are and makes a tree of the grown ones.
    fn snapshot(&mut self, boxes: &Boxes, skin: f32, workers: &Workers) {
        self.skin = skin;
        self.used = 0;
        self.tests = 0;
        let slots = &self.slots;
        self.origins.clear();
        self.origins.resize(slots.len(), Corners::NONE);
        workers.for_each_chunk(&mut self.origins, RUN, |run, origins| {
            for (origin, &slot) in origins.iter_mut().zip(&slots[run * RUN..]) {
                let now = boxes.aabbs().get(slot as usize).map(Corners::new);
                // Boxes without end cannot be grown; they are not listed.
                *origin = now.filter(Corners::is_finite).unwrap_or(Corners::NONE);
            }
        });
        self.filters.clear();
        if boxes.has_filters() {
            let filter = |&slot: &u32| boxes.filters().get(slot as usize).copied();
            self.filters.extend(slots.iter().map(|slot| filter(slot).unwrap_or_default()));
        }
        self.grow_tree(workers);
    }

    fn grow_tree(&mut self, workers: &Workers) {
        let (origins, skin) = (&self.origins, self.skin);
        let id = |(place, origin): (usize, &Corners)| {
            if origin.is_none() { NONE } else { place as u32 }
        };
        self.tree.ids.clear();
        self.tree.ids.extend(origins.iter().enumerate().map(id));
        let live = self.tree.ids.iter().filter(|&&id| id != NONE).count();
        self.tree.shape(live);
        if let Some(blocks) = self.tree.levels.first_mut() {
            workers.for_each_chunk(blocks, RUN / WIDTH, |run, blocks| {
                let origins = &origins[run * RUN..];
                for (block, origins) in blocks.iter_mut().zip(origins.as_chunks::<WIDTH>().0) {
                    *block = grown(origins, skin);
                }
            });
        }
        self.tree.refit(None, workers);
        match self.filters.is_empty() {
            true => self.tree.filters.iter_mut().for_each(Vec::clear),
            false => self.tree.join_filters(|place| self.filters[place as usize]),
        }
    }
}

fn grown(origins: &[Corners; WIDTH], skin: f32) -> Node8 {
    let mut block = Node8::EMPTY;
    for (lane, origin) in origins.iter().enumerate().filter(|(_, origin)| !origin.is_none()) {
        block.set(lane, &origin.grown(skin));
    }
    block
}

/// What the next step of building does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    /// Sorts the boxes along a curve.
    Sort,
    /// Orders a share of them finely.
    Cut(u32),
    /// Notes where they are.
    Snapshot,
    /// Searches a slice of them for candidates.
    Find(u32),
}

/// What a step of building came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is more to do, or nothing was begun.
    Busy,
    /// The next generation can be used.
    Ready,
    /// There are too many candidates for lists.
    TooMany,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    phase: Phase,
    /// The generation in the making; afterwards the memory of an old one.
    pub next: Generation,
    skin: f32,
    sorter: Sorter,
    found: PairBuffer,
    tasks: Vec<TaskState<Scratch>>,
    /// Tests of the first search after the boxes were ordered.
    fresh_tests: Option<u64>,
    worn: bool,
    /// How often all boxes were ordered.
    pub orders: u64,
}

impl Builder {
    /// Returns true if nothing is being built.
    pub(super) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Forgets what was begun, and the memory.
    pub(super) fn stop(&mut self) {
        *self = Builder::default();
    }

    /// Begins a generation of the boxes in `next.slots`, which the caller has listed. If more than
    /// one place in eight of them is a gap or out of order, all are ordered.
    pub(super) fn begin(&mut self, skin: f32, disordered: usize) {
        let order = self.worn || disordered * 8 > self.next.slots.len();
        self.skin = skin;
        self.phase = if order { Phase::Sort } else { Phase::Snapshot };
    }

    /// Says that the boxes in `next.slots` are in good order.
    pub(super) fn note_fresh_order(&mut self) {
        self.fresh_tests = None;
        self.worn = false;
    }

    /// Does one step's share of building.
    pub(super) fn advance(&mut self, boxes: &Boxes, workers: &Workers) -> Progress {
        let next = |phase: Phase| match phase {
            Phase::Idle => Phase::Idle,
            Phase::Sort => Phase::Cut(0),
            Phase::Cut(share) if share + 1 < CUTS => Phase::Cut(share + 1),
            Phase::Cut(_) => Phase::Snapshot,
            Phase::Snapshot => Phase::Find(0),
            Phase::Find(slice) if slice + 1 < SLICES => Phase::Find(slice + 1),
            Phase::Find(_) => Phase::Idle,
        };
        let phase = self.phase;
        self.phase = next(phase);
        match phase {
            Phase::Idle => {}
            Phase::Sort => self.sort(boxes, workers),
            Phase::Cut(share) => self.cut(boxes, workers, share),
            Phase::Snapshot => self.next.snapshot(boxes, self.skin, workers),
            Phase::Find(slice) => {
                if !self.find(slice, workers) {
                    self.phase = Phase::Idle;
                    return Progress::TooMany;
                }
                if self.phase == Phase::Idle {
                    self.note_tests();
                    return Progress::Ready;
                }
            }
        }
        Progress::Busy
    }

    fn sort(&mut self, boxes: &Boxes, workers: &Workers) {
        self.sorter.begin().add(boxes.live_slots().map(|slot| slot.get()));
        let spot = |id: u32| Spot::of(&boxes.aabbs()[id as usize]);
        let filter = boxes.has_filters().then_some(|id: u32| boxes.filters()[id as usize]);
        self.sorter.code(&Input { spot, filter }, workers);
        self.sorter.sort(&spot, workers);
    }

    fn cut(&mut self, boxes: &Boxes, workers: &Workers, share: u32) {
        // Boxes that were removed since they were sorted are NaN, which orders like a number.
        let spot = |id: u32| Spot::of(&boxes.aabbs()[id as usize]);
        let order = &mut self.next.slots;
        self.sorter.cut_share(&spot, workers, order, share as usize, CUTS as usize);
        if share + 1 == CUTS {
            order.resize(order.len().next_multiple_of(WIDTH), NONE);
            self.note_fresh_order();
            self.orders += 1;
        }
    }

    /// Searches a slice of the boxes for candidates. Returns false if there are too many.
    fn find(&mut self, slice: u32, workers: &Workers) -> bool {
        let Generation { tree, origins, filters, parts, used, skin, tests, .. } = &mut self.next;
        let all = families(tree);
        let part = |slice: u32| all * slice as usize / SLICES as usize;
        let range = part(slice)..part(slice + 1);
        if range.is_empty() {
            return true;
        }
        self.found.set_limit(MOST_CANDIDATES * origins.len());
        self.found.clear();
        let filters = (!filters.is_empty()).then_some(&filters[..]);
        let (tasks, found) = (&mut self.tasks, &mut self.found);
        match find_among(tree, range, filters, workers, tasks, found) {
            Ok(count) if found.check_limit().is_ok() => *tests += count,
            _ => return false,
        }
        let lanes = found.slices().count();
        if parts.len() < *used + lanes {
            parts.resize_with(*used + lanes, TaskState::default);
        }
        let fresh = &mut parts[*used..*used + lanes];
        workers.for_each(fresh, |lane, part| {
            let pairs = found.slices().nth(lane).unwrap_or(&[]);
            part.scratch.fill(pairs, origins, *skin, origins.len() as u32);
        });
        *used += lanes;
        true
    }

    /// Notes how long the search took: boxes that have moved far make it longer.
    fn note_tests(&mut self) {
        let tests = self.next.tests;
        let fresh = *self.fresh_tests.get_or_insert(tests);
        self.worn = tests > fresh + fresh / 2;
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.next.bytes() + self.sorter.bytes() + self.found.bytes()
    }
}
