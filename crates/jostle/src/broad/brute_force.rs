//! `brute-force`: every box against every other, eight at a time.
//!
//! Time O(n²) tests, memory O(n). Choose it for up to two hundred boxes, for which nothing is
//! faster, and for checking; not for anything larger.
//!
//! It settles what is right when another algorithm differs, so there is nothing in it to get wrong
//! but the test of eight boxes at once, which it shares with `bvh`. That is held to its portable
//! form (`simd/node8.rs`), and the whole to two plain loops, in the tests below.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::contract::{BroadPhase, Report};
use crate::error::Error;
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached, PairBuffer};
use crate::par::Workers;
use crate::simd::node8::{Node8, NodeTests, WIDTH, lanes_of_bit};
use crate::simd::{Kernel, Level, Simd};
use crate::stats::Stats;

/// Eight boxes and their slots.
#[derive(Clone, Copy, Debug)]
struct Block {
    boxes: Node8,
    slots: [u32; WIDTH],
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct BruteForce {
    level: Level,
    blocks: Vec<Block>,
    tests: u64,
}

impl Default for BruteForce {
    fn default() -> BruteForce {
        BruteForce { level: Level::current(), blocks: Vec::new(), tests: 0 }
    }
}

impl BruteForce {
    /// A new instance; it uses one thread.
    pub fn new(_workers: &Workers) -> BruteForce {
        BruteForce::default()
    }

    /// Puts the boxes side by side.
    fn pack(&mut self, boxes: &Boxes) {
        self.blocks.clear();
        let empty = Block { boxes: Node8::EMPTY, slots: [0; WIDTH] };
        self.blocks.resize(boxes.len().div_ceil(WIDTH), empty);
        for (place, slot) in boxes.live_slots().enumerate() {
            let block = &mut self.blocks[place / WIDTH];
            block.boxes.set(place % WIDTH, &boxes.aabbs()[slot.index()]);
            block.slots[place % WIDTH] = slot.get();
        }
    }
}

impl BroadPhase for BruteForce {
    fn name(&self) -> &str {
        "brute-force"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.pack(boxes);
        let filters = boxes.has_filters().then_some(boxes.filters());
        let count = boxes.len() as u64;
        self.tests = count * count.saturating_sub(1) / 2;
        self.level.run(Find { blocks: &self.blocks, filters, lane: found.lane() })?;
        found.check_limit()?;
        Ok(Report::Full)
    }

    fn tests(&self) -> u64 {
        self.tests
    }

    fn stats(&self) -> Stats {
        let bytes = self.blocks.capacity() * size_of::<Block>();
        Stats { tests: self.tests, bytes, ..Stats::default() }
    }
}

struct Find<'a> {
    blocks: &'a [Block],
    filters: Option<&'a [Filter]>,
    lane: &'a mut Lane,
}

impl Kernel for Find<'_> {
    type Output = Result<(), LimitReached>;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Result<(), LimitReached> {
        for (place, block) in self.blocks.iter().enumerate() {
            let mut hits = simd.within(&block.boxes);
            while hits != 0 {
                let (one, other) = lanes_of_bit(hits.trailing_zeros());
                hits &= hits - 1;
                self.write(simd, block.slots[one], &block.slots, 1 << other)?;
            }
            let later = &self.blocks[place + 1..];
            for lane in 0..WIDTH {
                self.against(simd, block.slots[lane], &block.boxes.get(lane), later)?;
            }
        }
        Ok(())
    }
}

impl Find<'_> {
    #[inline(always)]
    fn against<S: Simd>(
        &mut self,
        simd: S,
        slot: u32,
        aabb: &Aabb,
        blocks: &[Block],
    ) -> Result<(), LimitReached> {
        for block in blocks {
            let hits = simd.overlapping(&block.boxes, aabb);
            if hits != 0 {
                self.write(simd, slot, &block.slots, hits)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn write<S: Simd>(
        &mut self,
        simd: S,
        slot: u32,
        others: &[u32; WIDTH],
        mut hits: u32,
    ) -> Result<(), LimitReached> {
        if let Some(filters) = self.filters {
            let allowed =
                |lane: usize| filters[slot as usize].allows(&filters[others[lane] as usize]);
            hits =
                (0..WIDTH).filter(|&k| hits >> k & 1 == 1 && allowed(k)).fold(0, |m, k| m | 1 << k);
        }
        simd.pair_up(slot, others, hits, self.lane.room(WIDTH)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Pair;

    /// The oracle: too simple to be wrong.
    fn two_loops(boxes: &Boxes) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for a in boxes.live_slots() {
            for b in boxes.live_slots().filter(|&b| b > a) {
                let (one, other) = (&boxes.aabbs()[a.index()], &boxes.aabbs()[b.index()]);
                let filters = (&boxes.filters()[a.index()], &boxes.filters()[b.index()]);
                if one.overlaps(other) && filters.0.allows(filters.1) {
                    pairs.push(Pair::new(a, b));
                }
            }
        }
        pairs
    }

    /// Every number of boxes around the width of a block, with gaps and filters or without, boxes
    /// that touch, points, and infinite ones, at every level.
    #[test]
    fn every_level_finds_what_two_plain_loops_find() {
        let mut random = 1u32;
        let mut next = |below: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 8) % below
        };
        for round in 0..120usize {
            let count = round % 40;
            let aabbs: Vec<Aabb> = (0..count)
                .map(|k| {
                    let min = [0; 3].map(|_| next(12) as f32);
                    let max = min.map(|min| min + next(5) as f32);
                    if k == 17 {
                        Aabb::new([f32::NEG_INFINITY; 3], max)
                    } else {
                        Aabb::new(min, max)
                    }
                })
                .collect();
            let filters: Vec<Filter> = (0..count)
                .map(|_| match round % 3 {
                    0 => Filter::ALL,
                    _ => Filter::ALL.with_owner(next(4)),
                })
                .collect();
            let mut boxes = Boxes::new();
            let ids = boxes.insert_each(&aabbs, &filters).unwrap();
            if round % 2 == 1 {
                let gone: Vec<_> = ids.into_iter().step_by(3).collect();
                boxes.remove_all(&gone).unwrap();
            }
            let expected = two_loops(&boxes);
            for level in Level::available() {
                let mut found = PairBuffer::new();
                let mut broad = BruteForce { level, ..BruteForce::default() };
                broad.update(&boxes, &mut found).unwrap();
                let mut pairs: Vec<Pair> = found.iter().collect();
                pairs.sort_unstable();
                assert_eq!(pairs, expected, "{level:?}, round {round}");
            }
        }
    }
}
