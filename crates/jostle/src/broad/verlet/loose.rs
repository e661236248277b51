//! [`Loose`]: the few boxes that are in no list, each searched for in every step.
//!
//! A box is loose from the step in which it was inserted, left its skin or got another filter until
//! the next generation lists it; a box without end always is. What loose boxes overlap is found
//! from scratch in each step and compared with that of the step before.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::bvh::tree::{Search, View, Visit};
use crate::pair::{LimitReached, Pair};
use crate::simd::listed::Corners;
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::{self, Kernel, Simd};

use super::generation::Generation;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Loose {
    /// Their slots, each once.
    pub slots: Vec<u32>,
    /// What overlaps of which one or both are loose, ascending.
    pub pairs: Vec<Pair>,
    before: Vec<Pair>,
    /// The boxes, eight to a block.
    blocks: Vec<Node8>,
    /// What began and ended among `pairs` in the last step, ascending.
    pub began: Vec<Pair>,
    pub ended: Vec<Pair>,
    /// What left the lists in the last step and is among `began` for that reason alone, ascending.
    pub handed_over: Vec<Pair>,
    pub tests: u64,
}

impl Loose {
    /// No box is loose, and none was.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.pairs.clear();
    }

    /// Most that may be loose before lists do not pay.
    pub(super) fn most(boxes: usize) -> usize {
        (boxes / 32).clamp(32, 4096)
    }

    /// Finds what the loose boxes overlap. `corners` are the listed boxes. Stops if that alone is
    /// more than `limit` pairs.
    pub(super) fn find(
        &mut self,
        boxes: &Boxes,
        listed: &Generation,
        corners: &[Corners],
        limit: usize,
    ) -> Result<(), LimitReached> {
        self.tests = 0;
        std::mem::swap(&mut self.pairs, &mut self.before);
        self.pairs.clear();
        if !self.slots.is_empty() {
            self.fill_blocks(boxes);
            let view = View::new(&listed.tree);
            let slots = &listed.slots;
            simd::run(Find { loose: self, boxes, view, slots, corners, limit })?;
            self.pairs.sort_unstable();
        }
        self.compare();
        Ok(())
    }

    fn fill_blocks(&mut self, boxes: &Boxes) {
        self.blocks.clear();
        self.blocks.resize(self.slots.len().div_ceil(WIDTH), Node8::EMPTY);
        for (place, &slot) in self.slots.iter().enumerate() {
            self.blocks[place / WIDTH].set(place % WIDTH, &boxes.aabbs()[slot as usize]);
        }
    }

    fn compare(&mut self) {
        self.began.clear();
        self.ended.clear();
        let (before, now) = (&self.before, &self.pairs);
        self.began.extend(now.iter().filter(|pair| before.binary_search(pair).is_err()));
        self.ended.extend(before.iter().filter(|pair| now.binary_search(pair).is_err()));
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let pairs = self.pairs.capacity() + self.before.capacity();
        let pairs = pairs + self.began.capacity() + self.ended.capacity();
        (pairs + self.handed_over.capacity()) * size_of::<Pair>()
            + self.slots.capacity() * 4
            + self.blocks.capacity() * size_of::<Node8>()
    }
}

struct Find<'a> {
    loose: &'a mut Loose,
    boxes: &'a Boxes,
    view: View<'a>,
    slots: &'a [u32],
    corners: &'a [Corners],
    limit: usize,
}

impl Kernel for Find<'_> {
    type Output = Result<(), LimitReached>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<(), LimitReached> {
        let Loose { slots: loose, pairs, blocks, tests, .. } = self.loose;
        for (place, &slot) in loose.iter().enumerate() {
            let bounds = self.boxes.aabbs()[slot as usize];
            let mut listed = Listed {
                slot,
                corners: Corners::new(&bounds),
                all: self.corners,
                slots: self.slots,
                boxes: self.boxes,
                pairs,
                limit: self.limit,
            };
            let search = Search { bounds, filter: None, first: 0 };
            self.view.walk(simd, &search, tests, &mut listed)?;
            // Loose boxes that come later.
            for (block, boxes) in blocks.iter().enumerate().skip(place / WIDTH) {
                let mut hits = simd.overlapping(boxes, &bounds);
                *tests += 1;
                while hits != 0 {
                    let other = block * WIDTH + hits.trailing_zeros() as usize;
                    hits &= hits - 1;
                    if other > place && may_pair(self.boxes, slot, loose[other]) {
                        pairs.push(Pair::new(slot, loose[other]));
                    }
                }
            }
            check(pairs, self.limit)?;
        }
        Ok(())
    }
}

#[inline]
fn check(pairs: &[Pair], limit: usize) -> Result<(), LimitReached> {
    if pairs.len() > limit { Err(LimitReached { limit }) } else { Ok(()) }
}

/// Tests a loose box against the listed ones of a block.
struct Listed<'a> {
    slot: u32,
    corners: Corners,
    all: &'a [Corners],
    slots: &'a [u32],
    boxes: &'a Boxes,
    pairs: &'a mut Vec<Pair>,
    limit: usize,
}

impl<S: Simd> Visit<S> for Listed<'_> {
    type Stop = LimitReached;

    #[inline(always)]
    fn visit(&mut self, _: S, block: usize, _: &Aabb, tests: &mut u64) -> Result<(), LimitReached> {
        *tests += 1;
        for place in block * WIDTH..(block + 1) * WIDTH {
            if self.corners.overlaps(&self.all[place]) {
                let other = self.slots[place];
                if may_pair(self.boxes, self.slot, other) {
                    self.pairs.push(Pair::new(self.slot, other));
                }
            }
        }
        check(self.pairs, self.limit)
    }
}

#[inline]
fn may_pair(boxes: &Boxes, one: u32, other: u32) -> bool {
    boxes.filters()[one as usize].allows(&boxes.filters()[other as usize])
}
