//! Forward sweep over sorted boxes: each box against those that begin before it ends.
//!
//! The boxes lie in [`Block`]s of sixteen, one cache line per bound, sorted by their lower bound
//! on the sweep axis. A probe box is compared with a whole block at once: one comparison finds
//! where the run of candidates ends, four more decide the two other axes. The whole double loop
//! is compiled once per instruction set, so nothing is called per box.
//!
//! A list begins with a block of its own and ends with at least one lane of NaN; a comparison
//! with NaN is false, so the run always ends there.
//!
//! Tried and lost: separate columns with unaligned vectors that start right after the probe.
//! They need half a block less per run, but nearly every load straddles two cache lines, and
//! five base pointers and the probe's vectors do not fit the registers: 1.3 times the time of a
//! whole frame.

use std::marker::PhantomData;
use std::ops::Range;

use super::vector::{Mask, Vector};
use super::{Level, WideKernel};
use crate::aabb::Aabb;

/// Boxes in a block.
pub(crate) const LANES: usize = 16;
const FULL: u32 = (1 << LANES) - 1;

/// Sixteen boxes, bound by bound.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Block {
    /// Lower bounds on the sweep axis.
    begin: [f32; LANES],
    /// Lower and upper bounds on the two other axes.
    low: [[f32; LANES]; 2],
    high: [[f32; LANES]; 2],
    /// Upper bounds on the sweep axis.
    end: [f32; LANES],
}

impl Block {
    const EMPTY: Block = {
        let none = [f32::NAN; LANES];
        Block { begin: none, low: [none; 2], high: [none; 2], end: none }
    };
}

/// Sorted lists of boxes in blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blocks {
    blocks: Vec<Block>,
}

impl Blocks {
    /// Makes room for slots below `slots`; what they hold means nothing.
    pub(crate) fn resize(&mut self, slots: usize) {
        self.blocks.resize(slots.div_ceil(LANES), Block::EMPTY);
    }

    /// The first slot at which a list may begin after one of `len` boxes that begins at `start`.
    pub(crate) fn next_list(start: usize, len: usize) -> usize {
        start + (len / LANES + 1) * LANES
    }

    /// Writes a box into a slot.
    #[inline(always)]
    pub(crate) fn put(&mut self, slot: usize, aabb: &Aabb, sweep: usize, others: [usize; 2]) {
        let (block, lane) = (&mut self.blocks[slot / LANES], slot % LANES);
        block.begin[lane] = aabb.min[sweep];
        block.end[lane] = aabb.max[sweep];
        for k in 0..2 {
            block.low[k][lane] = aabb.min[others[k]];
            block.high[k][lane] = aabb.max[others[k]];
        }
    }

    /// Ends a list before slot `end`: the rest of its last block holds no box.
    pub(crate) fn finish(&mut self, end: usize) {
        self.blocks[end / LANES].begin[end % LANES..].fill(f32::NAN);
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>()
    }

    #[inline(always)]
    fn begin(&self, slot: usize) -> f32 {
        self.blocks[slot / LANES].begin[slot % LANES]
    }

    #[inline(always)]
    fn probe(&self, slot: usize) -> Probe {
        let (block, lane) = (&self.blocks[slot / LANES], slot % LANES);
        Probe {
            end: block.end[lane],
            low: [block.low[0][lane], block.low[1][lane]],
            high: [block.high[0][lane], block.high[1][lane]],
        }
    }
}

/// The box that is compared with all others of a run.
#[derive(Clone, Copy)]
struct Probe {
    end: f32,
    low: [f32; 2],
    high: [f32; 2],
}

/// The lanes of a block that begin before the probe ends, and those of them that overlap it.
#[inline(always)]
fn compare<V: Vector>(proof: V::Proof, block: &Block, probe: &Probe) -> (u32, u32) {
    const { assert!(LANES % V::LANES == 0) };
    let (mut begun, mut hits) = (0, 0);
    // A plain range: loops that step by a constant are not unrolled.
    for part in 0..LANES / V::LANES {
        let at = part * V::LANES;
        let begins = load::<V>(proof, &block.begin, at).le_f32(splat(proof, probe.end));
        let mut all = begins;
        for k in 0..2 {
            let low = load::<V>(proof, &block.low[k], at);
            all = all.and(low.le_f32(splat(proof, probe.high[k])));
            let high = load::<V>(proof, &block.high[k], at);
            all = all.and(splat::<V>(proof, probe.low[k]).le_f32(high));
        }
        begun |= begins.bits() << at;
        hits |= all.bits() << at;
    }
    (begun, hits)
}

#[inline(always)]
fn load<V: Vector>(proof: V::Proof, bounds: &[f32; LANES], at: usize) -> V {
    assert!(at + V::LANES <= LANES);
    // SAFETY: as many bounds as a vector has lanes lie in the array from `at` on.
    unsafe { V::load(proof, bounds.as_ptr().add(at).cast()) }
}

#[inline(always)]
fn splat<V: Vector>(proof: V::Proof, bound: f32) -> V {
    V::splat(proof, bound.to_bits())
}

/// A sweep: `probes` against those boxes of `list` that begin with or after them. Both name
/// slots; a list must not reach into another one's blocks.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    pub probes: Range<usize>,
    pub list: Range<usize>,
    /// True if boxes that begin where the probe does are met. Of two opposite sweeps between two
    /// lists exactly one must meet them. Ignored if the probes are part of the list: then each
    /// meets those that follow it.
    pub ties: bool,
}

impl Sweep {
    /// Part `part` of `parts` equal parts of this sweep.
    pub(crate) fn part(&self, part: usize, parts: usize) -> Sweep {
        let (start, length) = (self.probes.start, self.probes.len());
        let probes = start + length * part / parts..start + length * (part + 1) / parts;
        Sweep { probes, ..self.clone() }
    }

    /// Returns true if the probes are part of the list.
    fn within(&self) -> bool {
        self.list.contains(&self.probes.start)
    }
}

/// Calls `hit` with the slots of each overlapping pair and stops at its first error. Returns
/// how many pairs overlap on the sweep axis: the tests made.
pub(crate) fn sweep<E>(
    level: Level,
    blocks: &Blocks,
    job: &Sweep,
    hit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    level.run_wide(SweepLists { blocks, job, hit, error: PhantomData })
}

struct SweepLists<'a, F, E> {
    blocks: &'a Blocks,
    job: &'a Sweep,
    hit: F,
    error: PhantomData<E>,
}

impl<E, F: FnMut(usize, usize) -> Result<(), E>> WideKernel for SweepLists<'_, F, E> {
    type Output = Result<u64, E>;

    #[inline(always)]
    fn run<V: Vector>(self, proof: V::Proof) -> Result<u64, E> {
        let SweepLists { blocks, job, mut hit, .. } = self;
        let Sweep { probes, list, ties } = job.clone();
        let within = job.within();
        let mut start =
            if within { probes.start } else { first_after(blocks, &list, probes.start) };
        let mut tests = 0;
        for probe in probes {
            if within {
                start = probe + 1;
            } else {
                let begin = blocks.begin(probe);
                while start < list.end
                    && (blocks.begin(start) < begin || (!ties && blocks.begin(start) == begin))
                {
                    start += 1;
                }
            }
            if start < list.end {
                tests += follow::<V, E>(proof, blocks, probe, start..list.end, &mut hit)?;
            }
        }
        Ok(tests)
    }
}

/// The first slot of a list that begins where the probe does, or later.
fn first_after(blocks: &Blocks, list: &Range<usize>, probe: usize) -> usize {
    let (mut low, mut high) = (list.start, list.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if blocks.begin(middle) < blocks.begin(probe) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Tests `probe` against the boxes of `list` that begin before it ends. Those of the list's
/// first block that come before it begin earlier still, so they count as begun.
#[inline(always)]
fn follow<V: Vector, E>(
    proof: V::Proof,
    blocks: &Blocks,
    probe: usize,
    list: Range<usize>,
    hit: &mut impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    let first = list.start / LANES;
    let mut rest = blocks.blocks[first..list.end / LANES + 1].iter().enumerate();
    let mut wanted = FULL << (list.start % LANES) & FULL;
    loop {
        // The vectors of the probe are made again after each hit: if they lived across the call
        // they would be spilled, and then read from memory for every block.
        let values = blocks.probe(probe);
        let (index, begun, mut hits) = loop {
            let Some((index, block)) = rest.next() else {
                return Ok(list.len() as u64);
            };
            let (begun, hits) = compare::<V>(proof, block, &values);
            let hits = hits & std::mem::replace(&mut wanted, FULL);
            if hits != 0 || begun != FULL {
                break (index, begun, hits);
            }
        };
        let at = (first + index) * LANES;
        while hits != 0 {
            hit(probe, at + hits.trailing_zeros() as usize)?;
            hits &= hits - 1;
        }
        if begun != FULL {
            return Ok((at + begun.count_ones() as usize).saturating_sub(list.start) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// More boxes than a block holds; an interpreter is slow.
    const BOXES: usize = if cfg!(miri) { 20 } else { 60 };

    type Box6 = [f32; 6];

    fn bound() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => (-8i32..8).prop_map(|v| v as f32),
            1 => prop::sample::select(vec![0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX]),
        ]
    }

    fn box6() -> impl Strategy<Value = Box6> {
        (prop::array::uniform3(bound()), prop::array::uniform3(bound())).prop_map(|(a, b)| {
            let pick = |k: usize| (a[k].min(b[k]), a[k].max(b[k]));
            let (x, y, z) = (pick(0), pick(1), pick(2));
            [x.0, x.1, y.0, y.1, z.0, z.1]
        })
    }

    fn fill(lists: [&[Box6]; 2]) -> (Blocks, [Range<usize>; 2]) {
        let mut blocks = Blocks::default();
        let second = Blocks::next_list(0, lists[0].len());
        blocks.resize(Blocks::next_list(second, lists[1].len()));
        let mut start = 0;
        let ranges = lists.map(|list| {
            for (at, b) in (start..).zip(list) {
                let aabb = Aabb::new([b[0], b[2], b[4]], [b[1], b[3], b[5]]);
                blocks.put(at, &aabb, 0, [1, 2]);
            }
            let range = start..start + list.len();
            blocks.finish(range.end);
            start = Blocks::next_list(start, list.len());
            range
        });
        (blocks, ranges)
    }

    fn overlap(a: &Box6, b: &Box6) -> bool {
        (0..3).all(|k| a[2 * k] <= b[2 * k + 1] && b[2 * k] <= a[2 * k + 1])
    }

    fn found(level: Level, blocks: &Blocks, sweeps: &[Sweep]) -> (u64, Vec<(usize, usize)>) {
        let (mut tests, mut pairs) = (0, Vec::new());
        for job in sweeps {
            // Cut into parts, as strips with many boxes are.
            for part in 0..3 {
                let result = sweep::<()>(level, blocks, &job.part(part, 3), |a, b| {
                    pairs.push((a.min(b), a.max(b)));
                    Ok(())
                });
                tests += result.unwrap();
            }
        }
        pairs.sort_unstable();
        (tests, pairs)
    }

    proptest! {
        #[test]
        fn every_level_finds_what_plain_loops_find(
            mut one in prop::collection::vec(box6(), 0..BOXES),
            mut other in prop::collection::vec(box6(), 0..BOXES),
        ) {
            one.sort_by(|a, b| a[0].partial_cmp(&b[0]).unwrap());
            other.sort_by(|a, b| a[0].partial_cmp(&b[0]).unwrap());
            let (blocks, [first, second]) = fill([&one, &other]);
            let mut within = Vec::new();
            let mut between = Vec::new();
            let (mut within_tests, mut between_tests) = (0, 0);
            for (i, a) in one.iter().enumerate() {
                for (j, b) in one.iter().enumerate().skip(i + 1) {
                    within_tests += u64::from(b[0] <= a[1]);
                    if overlap(a, b) { within.push((i, j)); }
                }
                for (j, b) in other.iter().enumerate() {
                    between_tests += u64::from(a[0] <= b[1] && b[0] <= a[1]);
                    if overlap(a, b) { between.push((i, second.start + j)); }
                }
            }
            for level in Level::available() {
                let whole = |probes: &Range<usize>, list: &Range<usize>, ties: bool| {
                    Sweep { probes: probes.clone(), list: list.clone(), ties }
                };
                let expected = (within_tests, within.clone());
                prop_assert_eq!(found(level, &blocks, &[whole(&first, &first, true)]), expected);
                let sweeps = [whole(&first, &second, true), whole(&second, &first, false)];
                let expected = (between_tests, between.clone());
                prop_assert_eq!(found(level, &blocks, &sweeps), expected);
            }
        }
    }

    #[test]
    fn the_first_error_stops_the_sweep() {
        let list = vec![[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]; 40];
        let (blocks, [list, _]) = fill([&list, &[]]);
        for level in Level::available() {
            let mut calls = 0;
            let job = Sweep { probes: list.clone(), list: list.clone(), ties: true };
            let result = sweep(level, &blocks, &job, |_, _| {
                calls += 1;
                if calls == 5 { Err("enough") } else { Ok(()) }
            });
            assert_eq!((result, calls), (Err("enough"), 5));
        }
    }
}
