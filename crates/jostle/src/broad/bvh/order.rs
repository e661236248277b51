//! The order of the leaves, which is all there is to building: a tree is this order cut into
//! eights, and those into eights again.
//!
//! ```text
//! partition the boxes by kind of filter, then by class of size
//! in each part: code the centres along a Morton curve, sort by code
//!     a long run with one code: the same again with the run's own bounds
//! in each chunk of 512: cut at the median of the longest side until eight are left
//! ```
//!
//! The curve is coarse and fast, the cuts are fine where it counts: two in three node tests happen
//! in the two lowest levels. Bits of the code go to the axis that is longest after
//! the bits before, so a flat world spends none on its flat axis. Ties go by id, so the order
//! is a function of the boxes alone.

use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::par::Workers;

/// Stands for no box.
pub(super) const NONE: u32 = u32::MAX;

/// Ranges of this length are ordered by median cuts; it is a whole subtree of three levels.
const CHUNK: usize = 512;

/// Buckets of the first, parallel pass of the sort: 2^11.
const BUCKET_BITS: u32 = 11;

/// The most kinds of filters that are told apart.
const KINDS: usize = 15;

/// The most classes of size.
const CLASSES: usize = 8;

/// The centre of a box, or its code, and its id.
#[derive(Clone, Copy, Debug, Default)]
struct CodedBox {
    centre: [f32; 3],
    id: u32,
}

/// Scratch memory of the ordering, reused from call to call.
#[derive(Clone, Debug, Default)]
pub(super) struct Sorter {
    /// Part of each box in the order given, then counts.
    parts: Vec<u8>,
    keys: Vec<u64>,
    moved: Vec<u64>,
    starts: Vec<u32>,
    ranges: Vec<(u32, u32)>,
    kinds: Vec<Filter>,
}

/// How an id's box is found, and its filter if there are filters.
#[derive(Clone, Copy)]
pub(super) struct Input<B, F> {
    pub aabb: B,
    pub filter: Option<F>,
}

impl Sorter {
    /// Empties the list of ids to be ordered; they are added with [`Sorter::add`].
    pub(super) fn begin(&mut self) -> &mut Sorter {
        self.keys.clear();
        self
    }

    /// Adds ids to be ordered.
    pub(super) fn add(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.keys.extend(ids.into_iter().map(u64::from));
    }

    /// Number of ids to be ordered.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Writes the ids to `order` so that neighbours in space are neighbours there. Boxes of
    /// different kinds begin at a multiple of eight, with [`NONE`] in the gaps.
    pub(super) fn order<B: Fn(u32) -> Aabb + Sync, F: Fn(u32) -> Filter>(
        &mut self,
        input: &Input<B, F>,
        workers: &Workers,
        order: &mut Vec<u32>,
    ) {
        self.partition(input);
        self.code_and_sort(&input.aabb, workers);
        self.cut(&input.aabb, workers, order);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.parts.capacity()
            + (self.keys.capacity() + self.moved.capacity()) * 8
            + self.starts.capacity() * 4
    }

    /// Partitions the keys by kind and class; `ranges` are the parts.
    fn partition<B: Fn(u32) -> Aabb, F: Fn(u32) -> Filter>(&mut self, input: &Input<B, F>) {
        self.ranges.clear();
        let classes = Classes::of(&self.keys, &input.aabb);
        if classes.single && input.filter.is_none() {
            self.ranges.push((0, self.keys.len() as u32));
            return;
        }
        let mut counts = [0u32; (KINDS + 1) * CLASSES];
        self.parts.clear();
        self.kinds.clear();
        for place in 0..self.keys.len() {
            let id = self.keys[place] as u32;
            let kind = input.filter.as_ref().map_or(0, |filter| self.kind(&filter(id)));
            let part = kind * CLASSES + classes.class(&(input.aabb)(id));
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

    fn code_and_sort(&mut self, aabb: &(impl Fn(u32) -> Aabb + Sync), workers: &Workers) {
        self.moved.resize(self.keys.len(), 0);
        for place in 0..self.ranges.len() {
            let (from, to) = self.ranges[place];
            let (from, to) = (from as usize, to as usize);
            let (keys, moved) = (&mut self.keys[from..to], &mut self.moved[from..to]);
            sort_along_curve(keys, moved, &mut self.starts, aabb, workers);
        }
    }

    fn cut(&self, aabb: &(impl Fn(u32) -> Aabb + Sync), workers: &Workers, order: &mut Vec<u32>) {
        order.resize(self.keys.len(), NONE);
        let (keys, ranges) = (&self.keys, &self.ranges);
        workers.for_each_chunk(order, CHUNK, |chunk, order| {
            let begin = chunk * CHUNK;
            let mut entries = [CodedBox::default(); CHUNK];
            let entries = &mut entries[..order.len()];
            for (entry, &key) in entries.iter_mut().zip(&keys[begin..]) {
                let id = key as u32;
                entry.id = id;
                if id != NONE {
                    entry.centre = centre(&aabb(id));
                }
            }
            // The first range that ends after the beginning of this chunk, and those behind it.
            let first = ranges.partition_point(|&(_, to)| to as usize <= begin);
            for &(from, to) in &ranges[first..] {
                let from = (from as usize).max(begin);
                let to = (to as usize).min(begin + entries.len());
                if from >= to {
                    break;
                }
                cut_range(&mut entries[from - begin..to - begin], from);
            }
            order.iter_mut().zip(entries).for_each(|(id, entry)| *id = entry.id);
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

    fn of(keys: &[u64], aabb: &impl Fn(u32) -> Aabb) -> Classes {
        let mut counts = [0u32; 256];
        for &id in keys {
            counts[size_exponent(&aabb(id as u32)) as usize] += 1;
        }
        let (mut seen, mut median) = (0, 0);
        while median < 255 && seen + counts[median] < keys.len() as u32 / 2 {
            seen += counts[median];
            median += 1;
        }
        let first = median as i32 + Classes::STEP - 1;
        let largest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as i32;
        Classes { single: largest <= first, first }
    }

    fn class(&self, aabb: &Aabb) -> usize {
        let above = size_exponent(aabb) - self.first + Classes::STEP - 1;
        (above / Classes::STEP).clamp(0, CLASSES as i32 - 1) as usize
    }
}

/// The biased exponent of the longest side: 0 for a point, 255 for an infinite side.
#[inline]
fn size_exponent(aabb: &Aabb) -> i32 {
    let longest = aabb.extent(0).max(aabb.extent(1)).max(aabb.extent(2));
    (longest.to_bits() >> 23) as i32 & 0xff
}

/// The centre of a box; infinite bounds count as the largest finite ones.
#[inline(always)]
fn centre(aabb: &Aabb) -> [f32; 3] {
    std::array::from_fn(|k| {
        let (min, max) = (aabb.min[k], aabb.max[k]);
        0.5 * min.clamp(f32::MIN, f32::MAX) + 0.5 * max.clamp(f32::MIN, f32::MAX)
    })
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
    /// Returns none if all centres are one point.
    fn around(keys: &[u64], aabb: &impl Fn(u32) -> Aabb) -> Option<Curve> {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        for &key in keys {
            let centre = centre(&aabb(key as u32));
            for k in 0..3 {
                low[k] = low[k].min(centre[k]);
                high[k] = high[k].max(centre[k]);
            }
        }
        let low = low.map(f64::from);
        let extent: [f64; 3] = std::array::from_fn(|k| f64::from(high[k]) - low[k]);
        (extent != [0.0; 3]).then(|| Curve::new(low, extent))
    }

    fn new(low: [f64; 3], extent: [f64; 3]) -> Curve {
        // The bits of the code that each axis has, from its highest, and how many.
        let (mut bits, mut lengths) = ([[0u32; 16]; 3], [0; 3]);
        let mut rest = extent;
        for bit in (0..32).rev() {
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
    fn code(&self, aabb: &Aabb) -> u32 {
        let centre = centre(aabb);
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
/// differs by more than a 2^-10th of the extent, that ends after at most thirty rounds, even
/// if the centres are a geometric series from the smallest to the largest number.
fn sort_along_curve(
    keys: &mut [u64],
    moved: &mut [u64],
    starts: &mut Vec<u32>,
    aabb: &(impl Fn(u32) -> Aabb + Sync),
    workers: &Workers,
) {
    if keys.len() <= CHUNK / 8 {
        return;
    }
    let Some(curve) = Curve::around(keys, aabb) else {
        return keys.sort_unstable();
    };
    workers.for_each_chunk(keys, 1 << 14, |_, keys| {
        for key in keys {
            let id = *key as u32;
            *key = u64::from(curve.code(&aabb(id))) << 32 | u64::from(id);
        }
    });
    sort_keys(keys, moved, starts, workers);
    let mut begin = 0;
    while begin < keys.len() {
        let code = keys[begin] >> 32;
        let run = keys[begin..].iter().take_while(|key| *key >> 32 == code).count();
        if run > CHUNK / 8 {
            let range = begin..begin + run;
            let moved = &mut moved[range.clone()];
            sort_along_curve(&mut keys[range], moved, starts, aabb, workers);
        }
        begin += run;
    }
}

/// Sorts whole keys: one pass moves them to buckets by their highest bits, each task writing
/// a stretch of buckets of its own, and the buckets are sorted one by one.
fn sort_keys(keys: &mut [u64], moved: &mut [u64], starts: &mut Vec<u32>, workers: &Workers) {
    if keys.len() < 1 << 12 {
        return keys.sort_unstable();
    }
    let bucket = |key: u64| (key >> (64 - BUCKET_BITS)) as usize;
    starts.clear();
    starts.resize((1 << BUCKET_BITS) + 1, 0);
    keys.iter().for_each(|&key| starts[bucket(key) + 1] += 1);
    for place in 1..starts.len() {
        starts[place] += starts[place - 1];
    }
    let tasks = workers.count();
    let mut pieces = Vec::with_capacity(tasks);
    let (mut rest, mut first) = (&mut moved[..], 0);
    for task in 0..tasks {
        // The bucket in which this task's share of the keys ends.
        let share = (keys.len() * (task + 1) / tasks) as u32;
        let end = starts.partition_point(|&start| start < share).max(first);
        let (piece, others) = rest.split_at_mut((starts[end] - starts[first]) as usize);
        pieces.push((first, end, piece));
        (rest, first) = (others, end);
    }
    let (all, starts) = (&*keys, &*starts);
    workers.for_each(&mut pieces, |_, (first, end, piece)| {
        deal_and_sort(all, &starts[*first..=*end], *first, bucket, piece);
    });
    keys.copy_from_slice(moved);
}

fn deal_and_sort(
    keys: &[u64],
    starts: &[u32],
    first: usize,
    bucket: impl Fn(u64) -> usize,
    piece: &mut [u64],
) {
    let buckets = starts.len() - 1;
    let mut next: Vec<u32> = starts.iter().map(|start| start - starts[0]).collect();
    for &key in keys {
        let place = bucket(key).wrapping_sub(first);
        if place < buckets {
            piece[next[place] as usize] = key;
            next[place] += 1;
        }
    }
    for place in 0..buckets {
        let (from, to) = (starts[place] - starts[0], starts[place + 1] - starts[0]);
        piece[from as usize..to as usize].sort_unstable();
    }
}

/// Cuts a range that begins at `begin` in the order of leaves until no cut separates two nodes.
/// Cuts are where the nodes of the highest level within the range end.
fn cut_range(entries: &mut [CodedBox], begin: usize) {
    let end = begin + entries.len();
    let Some(cut) = place_of_cut(begin, end) else { return };
    let axis = longest_axis(entries);
    let at = cut - begin;
    entries.select_nth_unstable_by(at, |one, other| {
        let order = one.centre[axis].total_cmp(&other.centre[axis]);
        order.then(one.id.cmp(&other.id))
    });
    let (low, high) = entries.split_at_mut(at);
    cut_range(low, begin);
    cut_range(high, cut);
}

/// The end of a node of the highest possible level strictly within a range, nearest its middle.
fn place_of_cut(begin: usize, end: usize) -> Option<usize> {
    let mut size = CHUNK;
    while size >= 8 {
        let middle = begin.midpoint(end);
        let below = middle / size * size;
        let near = if middle - below < size / 2 { below } else { below + size };
        for cut in [near, below, below + size] {
            if begin < cut && cut < end {
                return Some(cut);
            }
        }
        size /= 8;
    }
    None
}

fn longest_axis(entries: &[CodedBox]) -> usize {
    let (mut low, mut high) = (entries[0].centre, entries[0].centre);
    for entry in entries {
        for k in 0..3 {
            low[k] = low[k].min(entry.centre[k]);
            high[k] = high[k].max(entry.centre[k]);
        }
    }
    // Halves, because the difference of two finite numbers may not be finite.
    let extent = |k: usize| 0.5 * high[k] - 0.5 * low[k];
    (0..3).max_by(|&a, &b| extent(a).total_cmp(&extent(b)).then(b.cmp(&a))).unwrap_or(0)
}
