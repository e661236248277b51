//! The faster division: strips along the primary axis, each with only the boxes that touch it.
//!
//! ```text
//! cut the primary axis into strips with equal numbers of low endpoints (bounds from a sample)
//! a box is at home in the strip of its low endpoint, and visits the further strips it reaches
//! for each strip, in parallel: sort homes and visitors by low endpoint on the secondary axis
//!   sweep homes against homes, and homes against visitors; never visitors against visitors
//! ```
//!
//! Of two boxes that overlap on the primary axis, the one that begins later is at home where the
//! pair is found and the other is at home there too or visits: every pair is found once, in the
//! strip of the later low endpoint. This is the paper's partition of the ranks the other way round:
//! instead of every partition sweeping all endpoints and checking which concern it, each box goes
//! to the partitions that its candidate range reaches. A strip's boxes fit the second-level cache
//! and are swept in columns with vector instructions.

use std::ops::Range;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::shared::groups::Groups;
use crate::broad::shared::scratch_pool::ScratchPool;
use crate::ds::radix_sort::{item, sort_items};
use crate::ds::regions::{Regions, for_each_region};
use crate::pair::{LimitReached, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

use super::axes::{Axes, Crowding, sample_slots};
use super::bounds::Bounds;
use super::strip_sweep::{StripWork, SweepScratch};

/// Slots of one task when boxes are distributed to strips.
pub(super) const CHUNK: usize = 1 << 14;
/// The most strips; their numbers must fit 16 bits.
const MOST_STRIPS: usize = 1 << 12;
/// Fewer boxes than this are not worth a strip.
const FEWEST: usize = 64;
/// A strip is this many times as wide as a box reaches, counted in boxes that begin. Narrow
/// strips test less in vain, but boxes visit more of them and each visit is sorted and copied.
const WIDTH: f64 = 2.0;
/// Low endpoints in the sample, per strip.
const SAMPLE: usize = 32;
/// Visits and homes together, in halves per box; beyond it strips are joined two by two. This
/// bounds memory if large boxes reach over many strips.
const MOST_HALF_ENTRIES: usize = 5;
/// Entries beyond which a strip is swept by all threads together.
const HEAVY: usize = 1 << 17;
/// The most groups of neighbouring strips, each a task with a lane of its own; fixed, so that the
/// pairs come in the same order for every number of threads.
const MOST_TASKS: usize = 256;
/// Parts of a strip that is swept by all threads together; fixed for the same reason.
const LANES: usize = 64;
/// The span of a slot without a box: first beyond last, even after joining strips.
pub(super) const NO_SPAN: [u16; 2] = [u16::MAX, 0];

/// What lasts from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Strips {
    bounds: Bounds,
    sample: Vec<u64>,
    spare: Vec<u64>,
    /// First and last strip of each slot, before joining.
    spans: Vec<[u16; 2]>,
    /// Entries of each chunk.
    entries: Vec<usize>,
    pub(super) runs: StripRuns,
    groups: Groups,
    scratch: ScratchPool<SweepScratch>,
    work: Vec<StripWork>,
}

/// The boxes by strip: for each chunk of slots a run for the homes and one for the visitors of each
/// strip.
#[derive(Clone, Debug, Default)]
pub(super) struct StripRuns {
    pub strips: usize,
    pub entries: Vec<StripEntry>,
    /// Where the runs of each chunk begin in `entries`, and the end.
    starts: Vec<usize>,
    /// Where run `r` ends within chunk `c`, at `c * 2 * strips + r`; homes of strip `s` are run
    /// `2 s`, visitors the next.
    ends: Vec<u32>,
}

/// A box in a run. The bounds are copied while the boxes are read in order anyway: fetching
/// them strip by strip costs a cache miss and a page table miss for each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StripEntry {
    pub aabb: Aabb,
    pub slot: u32,
}

impl StripRuns {
    /// Number of entries of a strip.
    fn size(&self, strip: usize) -> usize {
        [false, true]
            .map(|visitors| self.runs(strip, visitors).map(|run| run.len()).sum::<usize>())
            .iter()
            .sum()
    }

    /// The entries at home in a strip, or visiting it, as places in `entries`: a run from each
    /// chunk, ascending by slot.
    pub(super) fn runs(&self, strip: usize, visitors: bool) -> impl Iterator<Item = Range<usize>> {
        let run = 2 * strip + usize::from(visitors);
        let chunks = self.starts.iter().zip(self.ends.chunks(2 * self.strips));
        chunks.map(move |(start, ends)| {
            let begin = if run == 0 { 0 } else { ends[run - 1] as usize };
            start + begin..start + ends[run] as usize
        })
    }
}

impl Strips {
    /// Keeps the boxes apart that can never pair; `continues` if the last update saw the boxes
    /// before these changes.
    pub(super) fn follow_filters(&mut self, boxes: &Boxes, continues: bool) {
        self.groups.follow(boxes, continues);
    }

    /// Finds all pairs, after the filters were followed.
    #[expect(clippy::too_many_arguments, reason = "one caller, and each is a different thing")]
    pub(super) fn update(
        &mut self,
        boxes: &Boxes,
        axes: Axes,
        crowding: &Crowding,
        partitions: usize,
        workers: &Workers,
        found: &mut PairBuffer,
        clock: &mut StageClock,
    ) -> Result<(), LimitReached> {
        self.set_bounds(
            boxes,
            axes.primary,
            strip_count(boxes.len(), partitions, crowding[axes.primary]),
        );
        self.find_spans(boxes.aabbs(), axes.primary, workers);
        let shift = self.join_strips(boxes.len(), workers);
        self.distribute(boxes.aabbs(), shift, workers);
        clock.end("sort");
        self.pair(boxes, axes, workers, found)?;
        clock.end("pairing");
        Ok(())
    }

    /// Bounds at equal numbers of sampled low endpoints.
    fn set_bounds(&mut self, boxes: &Boxes, axis: usize, strips: usize) {
        let aabbs = boxes.aabbs();
        let lows = sample_slots(aabbs.len(), if strips > 1 { SAMPLE * strips } else { 0 })
            .map(|slot| aabbs[slot].min[axis])
            .filter(|low| !low.is_nan());
        self.sample.clear();
        self.sample.extend(lows.map(|low| item(low, 0)));
        self.spare.resize(self.sample.len(), 0);
        sort_items(&mut self.sample, &mut self.spare);
        self.bounds.set(&self.sample, strips);
    }

    /// Finds the first and last strip of each box and the entries of each chunk.
    fn find_spans(&mut self, aabbs: &[Aabb], axis: usize, workers: &Workers) {
        let (slots, bounds) = (aabbs.len(), &self.bounds);
        let chunks = slots.div_ceil(CHUNK);
        self.spans.resize(slots, NO_SPAN);
        self.entries.resize(chunks, 0);
        let spans = Regions::new(&mut self.spans, |chunk| slots.min(chunk * CHUNK));
        let entries = Regions::new(&mut self.entries, |chunk| chunk);
        for_each_region(workers, 0..chunks, (spans, entries), &|chunk, (spans, entries)| {
            for (span, aabb) in spans.iter_mut().zip(&aabbs[chunk * CHUNK..]) {
                *span = bounds.span(aabb.min[axis], aabb.max[axis]);
            }
            entries[0] = count_entries(spans, 0);
        });
    }

    /// How many times neighbouring strips must be joined two by two to bound the entries.
    fn join_strips(&mut self, boxes: usize, workers: &Workers) -> u32 {
        let mut shift = 0;
        while self.entries.iter().sum::<usize>() > MOST_HALF_ENTRIES * boxes / 2
            && self.bounds.last() >> shift > 0
        {
            shift += 1;
            let spans = &self.spans;
            workers.for_each(&mut self.entries, |chunk, entries| {
                let end = spans.len().min((chunk + 1) * CHUNK);
                *entries = count_entries(&spans[chunk * CHUNK..end], shift);
            });
        }
        shift
    }

    /// Writes the slots of each chunk run by run.
    fn distribute(&mut self, aabbs: &[Aabb], shift: u32, workers: &Workers) {
        let StripRuns { strips, entries, starts, ends } = &mut self.runs;
        *strips = (self.bounds.last() >> shift) + 1;
        starts.clear();
        starts.push(0);
        for count in &self.entries {
            starts.push(starts[starts.len() - 1] + count);
        }
        let (chunks, runs, starts, spans) =
            (self.entries.len(), 2 * *strips, &*starts, &self.spans);
        // A little headroom instead of twice the room: entries are most of the memory.
        let missing = starts[chunks].saturating_sub(entries.capacity());
        if missing > 0 {
            entries.reserve_exact(starts[chunks] + starts[chunks] / 16 - entries.len());
        }
        entries.resize(starts[chunks], StripEntry::default());
        ends.resize(chunks * runs, 0);
        let entries = Regions::new(entries, |chunk| starts[chunk]);
        let ends = Regions::new(ends, |chunk| chunk * runs);
        for_each_region(workers, 0..chunks, (entries, ends), &|chunk, (entries, ends)| {
            let spans = &spans[chunk * CHUNK..spans.len().min((chunk + 1) * CHUNK)];
            distribute_chunk(aabbs, chunk * CHUNK, spans, shift, entries, ends);
        });
    }

    fn pair(
        &mut self,
        boxes: &Boxes,
        axes: Axes,
        workers: &Workers,
        found: &mut PairBuffer,
    ) -> Result<(), LimitReached> {
        let strips = self.runs.strips;
        let tasks = strips.min(MOST_TASKS);
        let first = |task: usize| task * strips / tasks;
        self.work.clear();
        self.work.resize_with(strips, StripWork::default);
        let lanes = Regions::new(found.lanes(tasks), |task| task);
        let work = Regions::new(&mut self.work, first);
        let (runs, groups, scratch) = (&self.runs, &self.groups, &self.scratch);
        for_each_region(workers, 0..tasks, (work, lanes), &|task, (work, lane)| {
            scratch.with(|scratch| {
                for (strip, work) in (first(task)..).zip(work) {
                    if runs.size(strip) <= HEAVY {
                        scratch.collect(runs, strip, axes, groups);
                        *work = scratch.sweep(boxes, groups, &mut lane[0], 0, 1);
                    }
                    if work.stopped.is_some() {
                        break;
                    }
                }
            });
        });
        self.pair_heavy(boxes, axes, workers, found);
        self.work.iter().find_map(|work| work.stopped).map_or(Ok(()), Err)
    }

    /// Strips that would keep one thread busy while the others have nothing left: collected one
    /// after the other, and swept by all.
    fn pair_heavy(&mut self, boxes: &Boxes, axes: Axes, workers: &Workers, found: &mut PairBuffer) {
        for strip in (0..self.runs.strips).filter(|&strip| self.runs.size(strip) > HEAVY) {
            let first = self.work.len();
            self.work.resize_with(first + LANES, StripWork::default);
            let (work, groups) = (&mut self.work[first..], &self.groups);
            self.scratch.with(|scratch| {
                scratch.collect(&self.runs, strip, axes, groups);
                workers.for_each_two(work, found.lanes(LANES), |part, work, lane| {
                    *work = scratch.sweep(boxes, groups, lane, part, LANES);
                });
            });
        }
    }

    /// By how much the strips' numbers of homes miss their mean, as a share of it.
    fn dispersion(&self) -> f64 {
        let homes = self.work.iter().map(|work| work.homes as f64);
        let total: f64 = homes.clone().sum();
        let mean = total / self.work.len().max(1) as f64;
        if total == 0.0 {
            0.0
        } else {
            homes.map(|homes| (homes - mean).abs()).sum::<f64>() / total
        }
    }

    /// Adds what the last update counted.
    pub(super) fn count(&self, stats: &mut Stats) {
        stats.tests = self.work.iter().map(|work| work.tests).sum();
        stats.counts.push(("entries", self.runs.entries.len() as f64));
        stats.counts.push(("dispersion primary", self.dispersion()));
        super::count_shares(stats, self.work.iter().map(|work| (work.tests, work.pairs)));
    }

    pub(super) fn bytes(&self) -> usize {
        self.bounds.bytes()
            + (self.sample.capacity() + self.spare.capacity()) * 8
            + self.spans.capacity() * 4
            + (self.entries.capacity() + self.runs.starts.capacity()) * 8
            + self.runs.entries.capacity() * size_of::<StripEntry>()
            + self.runs.ends.capacity() * 4
            + self.groups.bytes()
            + self.work.capacity() * size_of::<StripWork>()
            + self.scratch.bytes(SweepScratch::bytes)
    }
}

/// The number asked for, or one that makes a strip as wide as a mean box. With crowding `f` a box
/// is followed by `f n / 2` others that begin within it.
fn strip_count(boxes: usize, asked: usize, crowding: f64) -> usize {
    if asked > 0 {
        return asked.min(MOST_STRIPS);
    }
    let most = (boxes / FEWEST).clamp(1, MOST_STRIPS);
    ((2.0 / (WIDTH * crowding)) as usize).clamp(1, most)
}

fn count_entries(spans: &[[u16; 2]], shift: u32) -> usize {
    let entries = |&[first, last]: &[u16; 2]| {
        let (first, last) = (first >> shift, last >> shift);
        if first <= last { usize::from(last - first) + 1 } else { 0 }
    };
    spans.iter().map(entries).sum()
}

fn distribute_chunk(
    aabbs: &[Aabb],
    first_slot: usize,
    spans: &[[u16; 2]],
    shift: u32,
    entries: &mut [StripEntry],
    ends: &mut [u32],
) {
    ends.fill(0);
    for &[first, last] in spans {
        let (first, last) = (usize::from(first >> shift), usize::from(last >> shift));
        if first <= last {
            ends[2 * first] += 1;
            (first + 1..=last).for_each(|strip| ends[2 * strip + 1] += 1);
        }
    }
    let mut begin = 0;
    for end in ends.iter_mut() {
        begin += std::mem::replace(end, begin);
    }
    // `ends` holds where runs begin; each entry advances that of its run, which ends at the end.
    let mut put = |run: usize, entry: StripEntry| {
        entries[ends[run] as usize] = entry;
        ends[run] += 1;
    };
    for (slot, (&[first, last], &aabb)) in
        (first_slot..).zip(spans.iter().zip(&aabbs[first_slot..]))
    {
        let (first, last) = (usize::from(first >> shift), usize::from(last >> shift));
        if first <= last {
            let entry = StripEntry { aabb, slot: slot as u32 };
            put(2 * first, entry);
            (first + 1..=last).for_each(|strip| put(2 * strip + 1, entry));
        }
    }
}
