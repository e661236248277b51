//! Boxes in structure-of-arrays form, and the test of one against a run of others.
//!
//! A [`Column`] holds boxes in some order. [`Column::sweep`] takes for each of a range of boxes
//! a run of others and appends the pairs that overlap, without a branch per pair: the lanes of
//! a vector are compared at once, the ids of the hits are moved together and stored whole, and
//! the length of the output grows by the number of hits. The loop over the boxes lies inside
//! the function that is compiled for an instruction set, so nothing is called per box.
//!
//! A box carries marks; boxes with a common mark do not pair (the grid uses this to report a
//! pair in one of its cells only). A column without marks takes an eighth less memory, and
//! [`Column::sweep_runs`] reads none: `hash-grid` lists several runs for a box instead.
//!
//! Sixteen lanes (AVX-512) take 0.92 of the time of eight (AVX2) in a crowded
//! [`grid_sweep`](crate::broad::grid_sweep), all of whose other work is the same, and as long in
//! a sparse one. Box after box takes 2.1 to 3.9 times as long. The runs of `hash-grid` are short:
//! there eight lanes took 0.95 of the time of sixteen for whole steps of `sizes` and `uniform` with
//! 100 000 boxes, in a program that measured nothing else, and so they have eight at every level.

use std::ops::Range;

use super::vector::{Mask, Vector};
use super::{Level, WideKernel};
use crate::aabb::Aabb;
use crate::pair::Pair;

/// Slots after the last box, as many as the widest vector has lanes: vectors may reach past the
/// end of a run and of the column.
pub(crate) const PADDING: usize = 16;

/// Boxes as structure of arrays. Every array is `len + PADDING` long at least.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    len: usize,
    /// Lower bounds by axis.
    low: [Vec<f32>; 3],
    /// Upper bounds by axis.
    high: [Vec<f32>; 3],
    id: Vec<u32>,
    marks: Vec<u32>,
}

/// A box of a column and a run of others to test it against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub one: u32,
    pub begin: u32,
    pub end: u32,
}

/// The arrays of a [`Column`] to be written, all of the same length; no marks if the column has
/// none.
pub(crate) struct Slots<'a> {
    pub low: [&'a mut [f32]; 3],
    pub high: [&'a mut [f32]; 3],
    pub id: &'a mut [u32],
    pub marks: &'a mut [u32],
}

impl Column {
    /// Makes `len` slots with unspecified boxes, all of which are to be written, and gives them.
    pub(crate) fn reset(&mut self, len: usize) -> Slots<'_> {
        let padded = len + PADDING;
        if self.marks.len() < padded {
            self.marks.resize(with_slack(self.marks.len(), padded), 0);
        }
        self.reset_unmarked(len)
    }

    /// As [`Column::reset`], for a column that never has marks.
    pub(crate) fn reset_unmarked(&mut self, len: usize) -> Slots<'_> {
        self.len = len;
        let padded = len + PADDING;
        for bounds in self.low.iter_mut().chain(&mut self.high) {
            if bounds.len() < padded {
                bounds.resize(with_slack(bounds.len(), padded), f32::NAN);
            }
        }
        if self.id.len() < padded {
            self.id.resize(with_slack(self.id.len(), padded), 0);
        }
        let marked = len.min(self.marks.len());
        Slots {
            low: self.low.each_mut().map(|bounds| &mut bounds[..len]),
            high: self.high.each_mut().map(|bounds| &mut bounds[..len]),
            id: &mut self.id[..len],
            marks: &mut self.marks[..marked],
        }
    }

    /// The box at a place.
    pub(crate) fn get(&self, place: usize) -> Aabb {
        assert!(place < self.len, "place {place} of {}", self.len);
        let bounds = |of: &[Vec<f32>; 3]| [of[0][place], of[1][place], of[2][place]];
        Aabb { min: bounds(&self.low), max: bounds(&self.high) }
    }

    /// Puts a box at a place.
    pub(crate) fn put(&mut self, place: usize, aabb: &Aabb, id: u32) {
        assert!(place < self.len, "place {place} of {}", self.len);
        for axis in 0..3 {
            self.low[axis][place] = aabb.min[axis];
            self.high[axis][place] = aabb.max[axis];
        }
        self.id[place] = id;
    }

    /// Takes a box out: its place stays and overlaps nothing.
    pub(crate) fn blank(&mut self, place: usize) {
        assert!(place < self.len, "place {place} of {}", self.len);
        self.low.iter_mut().chain(&mut self.high).for_each(|bounds| bounds[place] = f32::NAN);
    }

    /// Lower bounds on an axis.
    pub(crate) fn low(&self, axis: usize) -> &[f32] {
        &self.low[axis][..self.len]
    }

    /// Upper bounds on an axis.
    pub(crate) fn high(&self, axis: usize) -> &[f32] {
        &self.high[axis][..self.len]
    }

    /// Number of boxes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The id of a box.
    pub(crate) fn id(&self, place: usize) -> u32 {
        self.id[..self.len][place]
    }

    /// The marks of a box.
    pub(crate) fn marks(&self, place: usize) -> u32 {
        self.marks[..self.len][place]
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.id.capacity() * 7 + self.marks.capacity()) * size_of::<u32>()
    }

    /// Appends to `found` every overlapping pair of one of this column's `boxes` and a box in its
    /// run among the `others`, which may be this column itself: box `i` meets
    /// `begins[i]..ends[i]`. A box must not be in its own run. Returns the number of tests.
    pub(crate) fn sweep(
        &self,
        others: &Column,
        level: Level,
        boxes: Range<usize>,
        begins: &[u32],
        ends: &[u32],
        found: &mut Vec<Pair>,
    ) -> u64 {
        let (begins, ends) = (&begins[..self.len], &ends[..self.len]);
        let mut tests = 0u64;
        let mut last = 0;
        for (&begin, &end) in begins[boxes.clone()].iter().zip(&ends[boxes.clone()]) {
            tests += u64::from(end.saturating_sub(begin));
            last = last.max(end);
        }
        // What the kernels rely on: runs lie in the column, and every test may be a hit.
        assert!(last as usize <= others.len, "a run ends beyond the column");
        found.reserve(usize::try_from(tests).expect("runs fit the memory") + PADDING);
        level.run_wide(SweepRuns { column: self, others, boxes, begins, ends, found });
        tests
    }

    /// Appends to `found` every overlapping pair of a box of this column and the boxes of a run
    /// among the `others`, which may be this column itself. Marks do not count. A box must not be
    /// in its own run. Returns the number of tests.
    pub(crate) fn sweep_runs(
        &self,
        others: &Column,
        level: Level,
        runs: &[Run],
        found: &mut Vec<Pair>,
    ) -> u64 {
        let (mut tests, mut last, mut largest) = (0u64, 0, 0);
        for run in runs {
            tests += u64::from(run.end.saturating_sub(run.begin));
            last = last.max(run.end);
            largest = largest.max(run.one);
        }
        // What the kernel relies on: runs lie in the column, and every test may be a hit.
        assert!(last as usize <= others.len, "a run ends beyond the column");
        assert!(runs.is_empty() || (largest as usize) < self.len, "no box at {largest}");
        found.reserve(usize::try_from(tests).expect("runs fit the memory") + PADDING);
        level.run_eight(SweepListed { column: self, others, runs, found });
        tests
    }

    /// Appends to `found` every overlapping pair of a box and those that follow it up to an end:
    /// box `first + k` meets all from the next one to `ends[k]`. Marks do not count. Returns the
    /// number of tests.
    pub(crate) fn sweep_following(
        &self,
        level: Level,
        first: usize,
        ends: &[u32],
        found: &mut Vec<Pair>,
    ) -> u64 {
        let (mut tests, mut last) = (0u64, 0);
        for (next, &end) in (first as u64 + 1..).zip(ends) {
            tests += u64::from(end).saturating_sub(next);
            last = last.max(end);
        }
        // What the kernel relies on: boxes and runs lie in the column, and every test may be a hit.
        assert!(last as usize <= self.len, "a run ends beyond the column");
        assert!(first <= self.len && ends.len() <= self.len - first, "boxes beyond the column");
        found.reserve(usize::try_from(tests).expect("runs fit the memory") + PADDING);
        level.run_eight(SweepFollowing { column: self, first, ends, found });
        tests
    }

    /// Where the arrays begin.
    #[inline(always)]
    fn arrays(&self) -> Arrays {
        let [low_x, low_y, low_z] = &self.low;
        let [high_x, high_y, high_z] = &self.high;
        Arrays {
            low: [low_x.as_ptr(), low_y.as_ptr(), low_z.as_ptr()],
            high: [high_x.as_ptr(), high_y.as_ptr(), high_z.as_ptr()],
            id: self.id.as_ptr(),
        }
    }
}

/// Where the arrays of a column begin. Read from the column, they would have to be read again after
/// every pair that is written.
#[derive(Clone, Copy)]
struct Arrays {
    low: [*const f32; 3],
    high: [*const f32; 3],
    id: *const u32,
}

/// Pairs that are appended to a vector.
struct Found {
    start: *mut Pair,
    len: usize,
}

impl Found {
    /// Appends the pairs of a box with a run of others, without a branch per pair.
    ///
    /// # Safety
    /// The run lies in the column whose arrays these are, and there is room for as many pairs as
    /// tests were and will be made, and one vector more.
    #[inline(always)]
    unsafe fn take<V: Vector>(
        &mut self,
        proof: V::Proof,
        probe: &Probe<V>,
        others: Arrays,
        mut place: usize,
        end: usize,
    ) {
        while place < end {
            // SAFETY: `place` lies before the end of a run, so a vector from there lies in the
            // padded arrays; no more pairs were written than tests made, so one vector of pairs
            // still fits.
            unsafe {
                let hits = probe.overlapping(proof, others, place).bits();
                let hits = hits & tail::<V>(end - place);
                let ids = V::load(proof, others.id.add(place));
                ids.write_pairs(probe.id, hits, self.start.add(self.len));
                self.len += hits.count_ones() as usize;
            }
            place += V::LANES;
        }
    }
}

/// The sweep of boxes over those that follow them. Made only by [`Column::sweep_following`], which
/// checks what the loop relies on: boxes and the ends of runs lie in the column, and `found` has
/// room for a pair per test and one vector more.
struct SweepFollowing<'a> {
    column: &'a Column,
    first: usize,
    ends: &'a [u32],
    found: &'a mut Vec<Pair>,
}

impl WideKernel for SweepFollowing<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, proof: V::Proof) {
        const { assert!(V::LANES <= PADDING) };
        let SweepFollowing { column, first, ends, found } = self;
        let arrays = column.arrays();
        let mut to = Found { start: found.as_mut_ptr(), len: found.len() };
        for (one, &end) in (first..).zip(ends) {
            // SAFETY: the box and its run lie in the column, and there is room for the pairs.
            unsafe {
                let probe = Probe::<V>::unmarked(proof, arrays, one);
                to.take(proof, &probe, arrays, one + 1, end as usize);
            }
        }
        // SAFETY: the first `len` pairs were written.
        unsafe { found.set_len(to.len) };
    }
}

/// The sweep of listed runs. Made only by [`Column::sweep_runs`], which checks what the loop relies
/// on: boxes lie in the column, runs end inside the other one, and `found` has room for a pair per
/// test and one vector more.
struct SweepListed<'a> {
    column: &'a Column,
    others: &'a Column,
    runs: &'a [Run],
    found: &'a mut Vec<Pair>,
}

impl WideKernel for SweepListed<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, proof: V::Proof) {
        const { assert!(V::LANES <= PADDING) };
        let SweepListed { column, others, runs, found } = self;
        let (arrays, others) = (column.arrays(), others.arrays());
        let mut to = Found { start: found.as_mut_ptr(), len: found.len() };
        for run in runs {
            // SAFETY: the box lies in its column and the run in the other one, and there is room
            // for the pairs.
            unsafe {
                let probe = Probe::<V>::unmarked(proof, arrays, run.one as usize);
                to.take(proof, &probe, others, run.begin as usize, run.end as usize);
            }
        }
        // SAFETY: the first `len` pairs were written.
        unsafe { found.set_len(to.len) };
    }
}

/// The sweep. Made only by [`Column::sweep`], which checks what the loop relies on: runs end inside
/// the other column, and `found` has room for a pair per test and one vector more.
struct SweepRuns<'a> {
    column: &'a Column,
    others: &'a Column,
    boxes: Range<usize>,
    begins: &'a [u32],
    ends: &'a [u32],
    found: &'a mut Vec<Pair>,
}

impl WideKernel for SweepRuns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, proof: V::Proof) {
        const { assert!(V::LANES <= PADDING) };
        let SweepRuns { column, others, boxes, begins, ends, found } = self;
        let mut len = found.len();
        let start = found.as_mut_ptr();
        for one in boxes {
            let (mut place, end) = (begins[one] as usize, ends[one] as usize);
            if place >= end {
                continue;
            }
            // SAFETY: the box lies in the column, as its begin and end do in theirs.
            let probe = unsafe { Probe::<V>::new(proof, column, one) };
            while place < end {
                // SAFETY: `place` lies before the end of a run, so a vector from there lies in
                // the padded arrays; no more pairs were written than tests made, so one vector
                // of pairs still fits.
                unsafe {
                    let hits = probe.compare(proof, others, place) & tail::<V>(end - place);
                    let ids = V::load(proof, others.id.as_ptr().add(place));
                    ids.write_pairs(probe.id, hits, start.add(len));
                    len += hits.count_ones() as usize;
                }
                place += V::LANES;
            }
        }
        // SAFETY: the first `len` pairs were written.
        unsafe { found.set_len(len) };
    }
}

/// The lanes that lie before the end of a run.
#[inline(always)]
fn tail<V: Vector>(left: usize) -> u32 {
    let lanes = if left >= V::LANES { V::LANES } else { left };
    (1 << lanes) - 1
}

/// One box in every lane.
struct Probe<V> {
    low: [V; 3],
    high: [V; 3],
    id: V,
    marks: V,
}

impl<V: Vector> Probe<V> {
    /// # Safety
    /// There is a box at `one`.
    #[inline(always)]
    unsafe fn new(proof: V::Proof, column: &Column, one: usize) -> Probe<V> {
        let marks = V::splat(proof, column.marks[one]);
        // SAFETY: the caller vouches for the box.
        Probe { marks, ..unsafe { Probe::unmarked(proof, column.arrays(), one) } }
    }

    /// # Safety
    /// There is a box at `one`.
    #[inline(always)]
    unsafe fn unmarked(proof: V::Proof, arrays: Arrays, one: usize) -> Probe<V> {
        let Arrays { low: [low_x, low_y, low_z], high: [high_x, high_y, high_z], id } = arrays;
        // SAFETY: the caller vouches for the box.
        unsafe {
            Probe {
                low: [
                    V::splat(proof, (*low_x.add(one)).to_bits()),
                    V::splat(proof, (*low_y.add(one)).to_bits()),
                    V::splat(proof, (*low_z.add(one)).to_bits()),
                ],
                high: [
                    V::splat(proof, (*high_x.add(one)).to_bits()),
                    V::splat(proof, (*high_y.add(one)).to_bits()),
                    V::splat(proof, (*high_z.add(one)).to_bits()),
                ],
                id: V::splat(proof, *id.add(one)),
                marks: V::splat(proof, 0),
            }
        }
    }

    /// The lanes from `place` on that overlap this box and share no mark with it.
    ///
    /// # Safety
    /// As many slots as a vector has lanes lie in the arrays from `place` on.
    #[inline(always)]
    unsafe fn compare(&self, proof: V::Proof, others: &Column, place: usize) -> u32 {
        // SAFETY: the caller vouches for the slots.
        let marks = unsafe { V::load(proof, others.marks.as_ptr().add(place)) };
        let disjoint = marks.disjoint(self.marks);
        // SAFETY: as above.
        disjoint.and(unsafe { self.overlapping(proof, others.arrays(), place) }).bits()
    }

    /// The lanes from `place` on that overlap this box.
    ///
    /// # Safety
    /// As many slots as a vector has lanes lie in the arrays from `place` on.
    #[inline(always)]
    unsafe fn overlapping(&self, proof: V::Proof, others: Arrays, place: usize) -> V::Mask {
        // Loops, not closures: those are not compiled for the instruction set around them.
        let mut hits = None;
        for axis in 0..3 {
            // SAFETY: the caller vouches for the slots.
            let (low, high) = unsafe {
                (
                    V::load(proof, others.low[axis].add(place).cast()),
                    V::load(proof, others.high[axis].add(place).cast()),
                )
            };
            let along = low.le_f32(self.high[axis]).and(self.low[axis].le_f32(high));
            hits = match hits {
                None => Some(along),
                Some(hits) => Some(along.and(hits)),
            };
        }
        hits.expect("there are three axes")
    }
}

/// The length to grow to: exact at first, because a column may be made once only, and then with
/// some room, because it is being used for columns of all lengths.
fn with_slack(len: usize, wanted: usize) -> usize {
    if len == 0 { wanted } else { wanted + wanted / 4 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;

    /// More rows than two registers hold; an interpreter is slow.
    const ROWS: usize = if cfg!(miri) { 36 } else { 80 };

    type Row = ([f32; 6], u32, u32);

    fn bound() -> impl Strategy<Value = f32> {
        prop_oneof![
            8 => (-4i32..5).prop_map(|value| value as f32),
            1 => prop::sample::select(vec![
                0.0, -0.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45,
            ]),
        ]
    }

    fn row() -> impl Strategy<Value = Row> {
        (prop::array::uniform6(bound()), 0u32..4, any::<u32>())
    }

    fn column(rows: &[Row]) -> Column {
        let mut column = Column::default();
        let slots = column.reset(rows.len());
        for (place, (bounds, marks, _)) in rows.iter().enumerate() {
            for axis in 0..3 {
                slots.low[axis][place] = bounds[axis].min(bounds[axis + 3]);
                slots.high[axis][place] = bounds[axis].max(bounds[axis + 3]);
            }
            slots.id[place] = (place as u32).wrapping_mul(0x9E37_79B1);
            slots.marks[place] = *marks;
        }
        column
    }

    /// Box after box; with the pair that stands in the output already.
    fn naive(
        column: &Column,
        boxes: Range<usize>,
        begins: &[u32],
        ends: &[u32],
    ) -> (Vec<Pair>, u64) {
        let (mut pairs, mut tests) = (vec![Pair::from((1, 2))], 0);
        let aabb = |place: usize| column.get(place);
        for one in boxes {
            for other in begins[one] as usize..ends[one] as usize {
                tests += 1;
                let apart = column.marks(one) & column.marks(other) == 0;
                if apart && aabb(one).overlaps(&aabb(other)) {
                    pairs.push(Pair::from((column.id(one), column.id(other))));
                }
            }
        }
        (pairs, tests)
    }

    proptest! {
        #[test]
        fn every_level_finds_the_same_pairs_in_the_same_order(
            rows in prop::collection::vec(row(), 1..ROWS),
            cut in 0usize..40,
        ) {
            let column = column(&rows);
            let len = rows.len() as u32;
            let begins: Vec<u32> = (1..=len).collect();
            let ends: Vec<u32> = rows.iter().enumerate()
                .map(|(k, row)| (k as u32 + row.2 % (len + 1)).min(len)).collect();
            let boxes = cut.min(rows.len())..rows.len();
            let (expected, tests) = naive(&column, boxes.clone(), &begins, &ends);
            for level in Level::available() {
                let mut found = vec![Pair::from((1, 2))];
                let range = boxes.clone();
                let counted = column.sweep(&column, level, range, &begins, &ends, &mut found);
                prop_assert_eq!(counted, tests);
                prop_assert_eq!(&found, &expected, "{:?}", level);
            }
            // The same runs as a list, where marks do not count.
            let unmarked: Vec<Row> = rows.iter().map(|row| (row.0, 0, row.2)).collect();
            let (expected, tests) = naive(&self::column(&unmarked), boxes.clone(), &begins, &ends);
            let run = |k: usize| Run { one: k as u32, begin: begins[k], end: ends[k] };
            let runs: Vec<Run> = boxes.map(run).filter(|run| run.begin < run.end).collect();
            let first = cut.min(rows.len());
            for level in Level::available() {
                let mut found = vec![Pair::from((1, 2))];
                prop_assert_eq!(column.sweep_runs(&column, level, &runs, &mut found), tests);
                prop_assert_eq!(&found, &expected, "{:?}", level);
                // And without a list, because each run begins behind its box.
                found.truncate(1);
                let counted = column.sweep_following(level, first, &ends[first..], &mut found);
                prop_assert_eq!(counted, tests);
                prop_assert_eq!(&found, &expected, "{:?}", level);
            }
        }
    }

    #[test]
    fn a_place_without_its_box_overlaps_nothing() {
        for level in Level::available() {
            let mut column = column(&[([0.0; 6], 0, 0), ([0.0; 6], 0, 0), ([0.0; 6], 0, 0)]);
            column.blank(1);
            let mut found = Vec::new();
            let runs = [Run { one: 0, begin: 1, end: 3 }, Run { one: 1, begin: 2, end: 3 }];
            assert_eq!(column.sweep_runs(&column, level, &runs, &mut found), 3);
            assert_eq!(found, [Pair::from((column.id(0), column.id(2)))], "{level:?}");
        }
    }

    #[test]
    #[should_panic(expected = "no box at 2")]
    fn runs_of_boxes_beyond_the_column_are_refused() {
        let column = column(&[([0.0; 6], 0, 0), ([0.0; 6], 0, 0)]);
        let run = Run { one: 2, begin: 0, end: 1 };
        column.sweep_runs(&column, Level::current(), &[run], &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "boxes beyond the column")]
    fn boxes_beyond_the_column_that_follow_nothing_are_refused() {
        let column = column(&[([0.0; 6], 0, 0), ([0.0; 6], 0, 0)]);
        column.sweep_following(Level::current(), 1, &[2, 2], &mut Vec::new());
    }

    #[test]
    #[should_panic(expected = "a run ends beyond the column")]
    fn boxes_that_are_followed_beyond_the_column_are_refused() {
        let column = column(&[([0.0; 6], 0, 0), ([0.0; 6], 0, 0)]);
        column.sweep_following(Level::current(), 0, &[2, 3], &mut Vec::new());
    }

    #[test]
    #[cfg_attr(miri, ignore = "no unsafe code, and slow to interpret")]
    fn the_random_columns_hold_hits_and_misses() {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let strategy = prop::collection::vec(row(), 60..61);
        let (mut hits, mut tests) = (0, 0);
        for _ in 0..50 {
            let rows = strategy.new_tree(&mut runner).unwrap().current();
            let begins: Vec<u32> = (1..=60).collect();
            let (found, counted) = naive(&column(&rows), 0..60, &begins, &[60; 60]);
            tests += counted;
            hits += found.len() as u64 - 1;
        }
        assert!((tests / 50..tests / 2).contains(&hits), "{hits} of {tests}");
    }

    #[test]
    #[should_panic(expected = "beyond the column")]
    fn runs_beyond_the_column_are_refused() {
        let column = column(&[([0.0; 6], 0, 0), ([0.0; 6], 0, 0)]);
        column.sweep(&column, Level::current(), 0..2, &[1, 2], &[2, 3], &mut Vec::new());
    }
}
