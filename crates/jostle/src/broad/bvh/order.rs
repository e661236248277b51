//! The order of the leaves, which is all there is to building: a tree is this order cut into
//! eights, and those into eights again.
//!
//! ```text
//! partition the boxes by kind of filter, then by class of size
//! in each part, unless all boxes are one chunk:
//!     code the centres along a Morton curve, sort by code
//!     a long run with one code: the same again with the run's own bounds
//! in each chunk of 512: cut at the median of the longest side until eight are left
//! ```
//!
//! The curve is coarse and fast, the cuts are fine where it counts: two in three node tests happen
//! in the two lowest levels. Bits of the code go to the axis that is longest after
//! the bits before, so a flat world spends none on its flat axis. Codes are sorted by counting, and
//! of equal ones the ids decide, so the order is a function of the boxes alone. Every pass over the
//! boxes is cut into runs for the workers, except the partition, which few worlds need.
//!
//! What lost: sorting a chunk once along each axis and splitting the sorted lists at every cut, so
//! that no median is selected. It gives the same nodes with as many instructions (603 and 615
//! million for two steps of `sizes` with 100 000 boxes, by callgrind) and in the same time. Bounds
//! that are measured once in a chunk and only moved by the cuts: 5 % more tests in a search; moved
//! by each cut and measured again for 64 boxes: 2 % more than measured for each cut.

use crate::aabb::Aabb;
use crate::ds::pair_sort::PairSorter;
use crate::ds::radix_sort::sort_words;
use crate::filter::Filter;
use crate::par::Workers;
use crate::simd;

mod cut;

use cut::{Cutter, Word};

/// Stands for no box.
pub(crate) const NONE: u32 = u32::MAX;

/// Ranges of this length are ordered by median cuts; it is a whole subtree of three levels.
const CHUNK: usize = 512;

/// Runs of at most this length are left to the cuts.
const SHORT: usize = CHUNK / 8;

/// Bits of a code, at least and at most: about four for each box and axis, because the cuts do the
/// fine work.
const CODE_BITS: std::ops::RangeInclusive<u32> = 16..=22;

/// Boxes that a task looks at.
const RUN: usize = 1 << 13;

/// The most kinds of filters that are told apart.
const KINDS: usize = 15;

/// The most classes of size.
const CLASSES: usize = 8;

/// Scratch memory of the ordering, reused from call to call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    /// Part of each box in the order given, then counts.
    parts: Vec<u8>,
    keys: Vec<u64>,
    moved: Vec<u64>,
    radix: Radix,
    ranges: Vec<(u32, u32)>,
    kinds: Vec<Filter>,
}

/// Scratch memory of sorting along a curve.
#[derive(Clone, Debug, Default)]
struct Radix {
    sorter: PairSorter<u64>,
    /// Of one worker.
    spare: Vec<u64>,
    runs: Vec<Survey>,
}

/// What a run of boxes looks like, on cache lines of its own.
#[derive(Clone, Debug)]
#[repr(align(128))]
struct Survey {
    low: [f32; 3],
    high: [f32; 3],
    /// How many have each exponent of the longest side.
    sizes: [u32; 256],
}

impl Survey {
    const NOTHING: Survey =
        Survey { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3], sizes: [0; 256] };

    #[inline(always)]
    fn look(&mut self, spot: &Spot) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(spot.centre[k]);
            self.high[k] = self.high[k].max(spot.centre[k]);
        }
        self.sizes[spot.size_exponent() as usize] += 1;
    }

    /// Returns true if the centres are not one point; boxes that are gone have none.
    fn is_spread(&self) -> bool {
        (0..3).any(|k| self.low[k] < self.high[k])
    }

    fn join(&mut self, other: &Survey) {
        for k in 0..3 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(sum, count)| *sum += count);
    }
}

impl Radix {
    /// Looks at boxes, given by ids in the lower halves of keys.
    fn survey(
        &mut self,
        keys: &mut [u64],
        spot: &(impl Fn(u32) -> Spot + Sync),
        workers: &Workers,
    ) -> Survey {
        self.runs.resize(keys.len().div_ceil(RUN), Survey::NOTHING);
        workers.for_each_chunk_with(keys, RUN, &mut self.runs, |_, keys, survey| {
            *survey = Survey::NOTHING;
            keys.iter().for_each(|&key| survey.look(&spot(key as u32)));
        });
        let mut all = Survey::NOTHING;
        self.runs.iter().for_each(|run| all.join(run));
        all
    }

    /// Sorts keys whose upper halves have `bits` bits.
    fn sort(&mut self, keys: &mut [u64], bits: u32, workers: &Workers) {
        match workers.count() {
            1 => sort_words(keys, &mut self.spare),
            _ => self.sorter.sort_slice(keys, 1 << bits, workers),
        }
    }

    fn bytes(&self) -> usize {
        let spare = self.spare.capacity() * size_of::<u64>();
        self.sorter.bytes() + spare + self.runs.capacity() * size_of::<Survey>()
    }
}

/// What an order depends on: where a box is, and how large.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spot {
    pub centre: [f32; 3],
    /// The longest side.
    pub size: f32,
}

impl Spot {
    #[inline(always)]
    pub(crate) fn of(aabb: &Aabb) -> Spot {
        let centre = std::array::from_fn(|k| Spot::middle(aabb.min[k], aabb.max[k]));
        let side = |k: usize| Spot::side(aabb.min[k], aabb.max[k]);
        Spot { centre, size: side(0).max(side(1)).max(side(2)) }
    }

    /// The centre along an axis; infinite bounds count as the largest finite ones.
    #[inline(always)]
    pub(crate) fn middle(min: f32, max: f32) -> f32 {
        0.5 * min.clamp(f32::MIN, f32::MAX) + 0.5 * max.clamp(f32::MIN, f32::MAX)
    }

    /// The length along an axis, 0 for a box at one infinite point.
    #[inline(always)]
    pub(crate) fn side(min: f32, max: f32) -> f32 {
        if min == max { 0.0 } else { max - min }
    }

    /// The biased exponent of the longest side: 0 for a point, 255 for an infinite side.
    #[inline(always)]
    fn size_exponent(&self) -> i32 {
        (self.size.to_bits() >> 23) as i32 & 0xff
    }
}

/// How an id's spot is found, and its filter if there are filters.
#[derive(Clone, Copy)]
pub(crate) struct Input<P, F> {
    pub spot: P,
    pub filter: Option<F>,
}

impl Sorter {
    /// Empties the list of ids to be ordered; they are added with [`Sorter::add`].
    pub(crate) fn begin(&mut self) -> &mut Sorter {
        self.keys.clear();
        self
    }

    /// As [`Sorter::begin`], with all ids below a number.
    pub(crate) fn begin_with_all(&mut self, count: usize, workers: &Workers) {
        self.keys.resize(count, 0);
        workers.for_each_chunk(&mut self.keys, RUN, |run, keys| {
            let first = (run * RUN) as u64;
            keys.iter_mut().zip(first..).for_each(|(key, id)| *key = id);
        });
    }

    /// Adds ids to be ordered.
    pub(crate) fn add(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.keys.extend(ids.into_iter().map(u64::from));
    }

    /// Number of ids to be ordered.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Writes the ids to `order` so that neighbours in space are neighbours there. Boxes of
    /// different kinds begin at a multiple of eight, with [`NONE`] in the gaps.
    pub(crate) fn order<P: Fn(u32) -> Spot + Sync, F: Fn(u32) -> Filter>(
        &mut self,
        input: &Input<P, F>,
        workers: &Workers,
        order: &mut Vec<u32>,
    ) {
        self.code(input, workers);
        self.sort(&input.spot, workers);
        self.cut_share(&input.spot, workers, order, 0, 1);
    }

    /// The first part of [`Sorter::order`]: partitions the boxes and codes their centres.
    pub(crate) fn code<P: Fn(u32) -> Spot + Sync, F: Fn(u32) -> Filter>(
        &mut self,
        input: &Input<P, F>,
        workers: &Workers,
    ) {
        self.ranges.clear();
        let survey = self.radix.survey(&mut self.keys, &input.spot, workers);
        let classes = Classes::of(&survey, self.keys.len());
        if classes.single && input.filter.is_none() {
            self.ranges.push((0, self.keys.len() as u32));
            if self.is_one_chunk() {
                return;
            }
            return code_within(&mut self.keys, &survey, &input.spot, workers);
        }
        self.partition(input, &classes);
        let one_chunk = self.is_one_chunk();
        for &(from, to) in &self.ranges {
            let keys = &mut self.keys[from as usize..to as usize];
            if keys.len() > SHORT && !one_chunk {
                let survey = self.radix.survey(keys, &input.spot, workers);
                code_within(keys, &survey, &input.spot, workers);
            }
        }
    }

    /// The second part of [`Sorter::order`]: the coarse order. Boxes may have moved since they were
    /// coded.
    pub(crate) fn sort(&mut self, spot: &(impl Fn(u32) -> Spot + Sync), workers: &Workers) {
        if self.is_one_chunk() {
            return;
        }
        for &(from, to) in &self.ranges {
            let keys = &mut self.keys[from as usize..to as usize];
            sort_coded(keys, &mut self.radix, spot, workers);
        }
    }

    /// Returns true if there are so few boxes that the cuts make all of the order.
    fn is_one_chunk(&self) -> bool {
        self.keys.len() <= CHUNK
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.capacity()
            + (self.keys.capacity() + self.moved.capacity()) * 8
            + self.radix.bytes()
    }

    /// Partitions the keys by kind and class; `ranges` are the parts.
    fn partition<P: Fn(u32) -> Spot, F: Fn(u32) -> Filter>(
        &mut self,
        input: &Input<P, F>,
        classes: &Classes,
    ) {
        let mut counts = [0u32; (KINDS + 1) * CLASSES];
        self.parts.clear();
        self.kinds.clear();
        for place in 0..self.keys.len() {
            let id = self.keys[place] as u32;
            let kind = input.filter.as_ref().map_or(0, |filter| self.kind(&filter(id)));
            let part = kind * CLASSES + classes.class(&(input.spot)(id));
            counts[part] += 1;
            self.parts.push(part as u8);
        }
        self.scatter_parts(&counts);
    }

    /// The number of a kind of filter, in the order in which they are met; owners do not count.
    fn kind(&mut self, filter: &Filter) -> usize {
        let kind = filter.with_owner(Filter::NOBODY);
        if let Some(known) = self.kinds.iter().position(|&other| other == kind) {
            return known;
        }
        if self.kinds.len() < KINDS {
            self.kinds.push(kind);
            return self.kinds.len() - 1;
        }
        KINDS
    }

    fn scatter_parts(&mut self, counts: &[u32]) {
        let mut next = [0u32; (KINDS + 1) * CLASSES];
        let mut end = 0u32;
        for (part, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            next[part] = end;
            self.ranges.push((end, end + count));
            end = (end + count).next_multiple_of(8);
        }
        self.moved.clear();
        self.moved.resize(end as usize, u64::from(NONE));
        for (&id, &part) in self.keys.iter().zip(&self.parts) {
            let place = &mut next[usize::from(part)];
            self.moved[*place as usize] = id;
            *place += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.moved);
    }

    /// The last part of [`Sorter::order`], the fine order, for one of several shares of the
    /// boxes. Boxes may have moved since they were sorted.
    pub(crate) fn cut_share(
        &self,
        spot: &(impl Fn(u32) -> Spot + Sync),
        workers: &Workers,
        order: &mut Vec<u32>,
        share: usize,
        shares: usize,
    ) {
        order.resize(self.keys.len(), NONE);
        let (keys, ranges) = (&self.keys, &self.ranges);
        let chunks = order.len().div_ceil(CHUNK);
        let [first, end] = [share, share + 1].map(|share| chunks * share / shares);
        let order = &mut order[first * CHUNK..(end * CHUNK).min(keys.len())];
        workers.for_each_chunk(order, CHUNK, |chunk, order| {
            let begin = (first + chunk) * CHUNK;
            let keys = &keys[begin..][..order.len()];
            let mut centres = [[0.0; CHUNK]; 3];
            let known = keys.iter().map(|&key| key as u32).enumerate();
            for (place, id) in known.filter(|&(_, id)| id != NONE) {
                let at = spot(id).centre;
                centres.iter_mut().zip(at).for_each(|(row, at)| row[place] = at);
            }
            let mut words: [Word; CHUNK] = std::array::from_fn(|place| [0, 0, 0, place as u16]);
            // The first range that ends after the beginning of this chunk, and those behind it.
            let first = ranges.partition_point(|&(_, to)| to as usize <= begin);
            for &(from, to) in &ranges[first..] {
                let from = (from as usize).max(begin);
                let to = (to as usize).min(begin + order.len());
                if from >= to {
                    break;
                }
                let words = &mut words[from - begin..to - begin];
                simd::run(Cutter { centres: &centres, words, begin: from });
            }
            let places = words.iter().map(|word| usize::from(word[3]));
            order.iter_mut().zip(places).for_each(|(id, place)| *id = keys[place] as u32);
        });
    }
}

/// Boxes much larger than most are in nodes of their own, so that they do not inflate the nodes of
/// small ones.
struct Classes {
    single: bool,
    /// Exponent of the largest extent that still belongs to the first class.
    first: i32,
}

impl Classes {
    /// Each class spans a factor of 256 in size. Finer classes lose: boxes over three decades took
    /// 1.4 times as long in classes of a factor of 8, because each class is one more tree to
    /// search.
    const STEP: i32 = 8;

    fn of(survey: &Survey, boxes: usize) -> Classes {
        let counts = &survey.sizes;
        let (mut seen, mut median) = (0, 0);
        while median < 255 && seen + counts[median] < boxes as u32 / 2 {
            seen += counts[median];
            median += 1;
        }
        let first = median as i32 + Classes::STEP - 1;
        let largest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as i32;
        Classes { single: largest <= first, first }
    }

    fn class(&self, spot: &Spot) -> usize {
        let above = spot.size_exponent() - self.first + Classes::STEP - 1;
        (above / Classes::STEP).clamp(0, CLASSES as i32 - 1) as usize
    }
}

/// How centres within some bounds turn into codes: a table per axis and byte.
struct Curve {
    low: [f64; 3],
    scale: [f64; 3],
    /// Largest cell number per axis.
    last: [f64; 3],
    tables: [[[u32; 256]; 2]; 3],
}

impl Curve {
    /// Codes of `code_bits` bits for centres that were surveyed.
    fn within(survey: &Survey, code_bits: u32) -> Curve {
        let low = survey.low.map(f64::from);
        let extent = std::array::from_fn(|k| f64::from(survey.high[k]) - low[k]);
        Curve::new(low, extent, code_bits)
    }

    fn new(low: [f64; 3], extent: [f64; 3], code_bits: u32) -> Curve {
        // The bits of the code that each axis has, from its highest, and how many.
        let (mut bits, mut lengths) = ([[0u32; 16]; 3], [0; 3]);
        let mut rest = extent;
        for bit in (0..code_bits).rev() {
            let open = |k: &usize| lengths[*k] < 16 && extent[*k] > 0.0;
            let longest = (0..3).filter(open).max_by(|&a, &b| rest[a].total_cmp(&rest[b]));
            let Some(axis) = longest else { break };
            bits[axis][lengths[axis]] = bit;
            lengths[axis] += 1;
            rest[axis] *= 0.5;
        }
        let last: [f64; 3] = std::array::from_fn(|k| ((1u64 << lengths[k]) - 1) as f64);
        let scale =
            std::array::from_fn(
                |k| {
                    if extent[k] > 0.0 { (last[k] + 1.0) / extent[k] } else { 0.0 }
                },
            );
        let mut tables = [[[0u32; 256]; 2]; 3];
        for axis in 0..3 {
            // The first bit taken is the most significant one of the cell number.
            for (place, &bit) in bits[axis][..lengths[axis]].iter().rev().enumerate() {
                let table = &mut tables[axis][place / 8];
                let set = (0..256).filter(|value| value >> (place % 8) & 1 == 1);
                set.for_each(|value| table[value] |= 1 << bit);
            }
        }
        Curve { low, scale, last, tables }
    }

    #[inline(always)]
    fn code(&self, centre: [f32; 3]) -> u32 {
        let mut code = 0;
        for k in 0..3 {
            let cell = (f64::from(centre[k]) - self.low[k]) * self.scale[k];
            let cell = cell.min(self.last[k]) as u32;
            code |= self.tables[k][0][(cell & 255) as usize];
            code |= self.tables[k][1][(cell >> 8 & 255) as usize];
        }
        code
    }
}

/// Orders ids (in the lower halves of the keys) along the curve. Runs too long for cutting that
/// share one code are ordered again within their own bounds; since a code tells apart what
/// differs by more than a 2^-5th of the extent, that ends after at most some dozen rounds, even
/// if the centres are a geometric series from the smallest to the largest number.
fn sort_along_curve(
    keys: &mut [u64],
    radix: &mut Radix,
    spot: &(impl Fn(u32) -> Spot + Sync),
    workers: &Workers,
) {
    if keys.len() > SHORT {
        let survey = radix.survey(keys, spot, workers);
        code_within(keys, &survey, spot, workers);
        if survey.is_spread() {
            sort_coded(keys, radix, spot, workers);
        }
    }
}

/// The bits of a code in a run of this many boxes.
fn code_bits(boxes: usize) -> u32 {
    (boxes.ilog2() + 4).clamp(*CODE_BITS.start(), *CODE_BITS.end())
}

/// Puts codes into the upper halves of the keys of boxes that were surveyed. If all centres are one
/// point, the ids are the order.
fn code_within(
    keys: &mut [u64],
    survey: &Survey,
    spot: &(impl Fn(u32) -> Spot + Sync),
    workers: &Workers,
) {
    if keys.len() <= SHORT {
        return;
    }
    if !survey.is_spread() {
        keys.iter_mut().for_each(|key| *key &= u64::from(u32::MAX));
        return keys.sort_unstable();
    }
    let curve = Curve::within(survey, code_bits(keys.len()));
    workers.for_each_chunk(keys, RUN, |_, keys| {
        for key in keys {
            let id = *key as u32;
            *key = u64::from(curve.code(spot(id).centre)) << 32 | u64::from(id);
        }
    });
}

/// Sorts boxes that were coded, and runs of one code that are not short once more.
fn sort_coded(
    keys: &mut [u64],
    radix: &mut Radix,
    spot: &(impl Fn(u32) -> Spot + Sync),
    workers: &Workers,
) {
    if keys.len() <= SHORT {
        return;
    }
    radix.sort(keys, code_bits(keys.len()), workers);
    // A run that is not short holds two of the places that are looked at.
    const STRIDE: usize = SHORT / 2;
    let (mut known, mut place) = (0, 0);
    while place + STRIDE < keys.len() {
        let code = keys[place] >> 32;
        if keys[place + STRIDE] >> 32 != code {
            place += STRIDE;
            continue;
        }
        let begin = known + keys[known..place].partition_point(|key| *key >> 32 < code);
        let end = place + keys[place..].partition_point(|key| *key >> 32 == code);
        if end - begin > SHORT {
            sort_along_curve(&mut keys[begin..end], radix, spot, workers);
        }
        (known, place) = (end, end.next_multiple_of(STRIDE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aabb::NO_BOX;

    const COUNT: u32 = 20_000;

    /// A few hundred boxes share one place, the others are spread over three sizes.
    fn boxed(id: u32) -> Spot {
        let spread = |by: u32| (id.wrapping_mul(by) >> 8) as f32 / 1e6;
        let at = if id % 50 == 0 { [0.5; 3] } else { [40_503, 65_599, 2_654_435].map(spread) };
        Spot::of(&Aabb::new(at, at.map(|low| low + [0.1, 1.0, 900.0][id as usize % 3])))
    }

    /// Boxes may move and vanish between the parts of an order, all that share a place among them:
    /// it ends, lists every id once and is the same for every number of workers.
    #[test]
    fn boxes_that_vanish_while_they_are_ordered_are_listed_once() {
        let gone: [fn(u32) -> bool; 4] =
            [|_| false, |id| id % 50 == 0, |id| id % 50 != 0, |_| true];
        for gone in gone {
            let left = |id: u32| if gone(id) { Spot::of(&NO_BOX) } else { boxed(id) };
            let orders = [1, 3, 8].map(|threads| {
                let (workers, mut sorter) = (Workers::new(threads).unwrap(), Sorter::default());
                sorter.begin_with_all(COUNT as usize, &workers);
                let input = Input { spot: boxed, filter: None::<fn(u32) -> Filter> };
                sorter.code(&input, &workers);
                sorter.sort(&left, &workers);
                let mut order = Vec::new();
                (0..3).for_each(|share| {
                    sorter.cut_share(&left, &workers, &mut order, share, 3);
                });
                order
            });
            assert!(orders[0] == orders[1] && orders[0] == orders[2]);
            let mut ids: Vec<u32> = orders[0].iter().copied().filter(|&id| id != NONE).collect();
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..COUNT));
        }
    }
}
