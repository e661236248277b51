//! Forward sweep over sorted columns: each box against those that begin before it ends.
//!
//! The boxes lie in columns (structure of arrays) sorted by their lower bound on the sweep axis.
//! A probe box is compared with 16, 8 or 4 neighbours at once: one comparison finds where the
//! run of candidates ends, four more decide the two other axes. The whole double loop is
//! compiled once per instruction set, so nothing is called per box.
//!
//! Columns carry [`PADDING`] slots of NaN after each list; a comparison with NaN is false, so
//! vectors may reach past the end of a list and never find anything there.

use std::ops::Range;

/// NaN slots after each list, as many as the widest vector has lanes.
pub(crate) const PADDING: usize = 16;

/// Boxes as columns; `begin` ascends within each list. All columns are equally long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    /// Lower bound on the sweep axis.
    pub begin: Vec<f32>,
    /// Upper bound on the sweep axis.
    pub end: Vec<f32>,
    /// Lower and upper bounds on the two other axes.
    pub low: [Vec<f32>; 2],
    /// See `low`.
    pub high: [Vec<f32>; 2],
}

impl Columns {
    /// Empties the columns and makes `len` slots of NaN.
    pub fn reset(&mut self, len: usize) {
        for column in self.each_mut() {
            column.clear();
            column.resize(len, f32::NAN);
        }
    }

    fn each_mut(&mut self) -> [&mut Vec<f32>; 6] {
        let [low0, low1] = &mut self.low;
        let [high0, high1] = &mut self.high;
        [&mut self.begin, &mut self.end, low0, low1, high0, high1]
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let columns =
            [&self.begin, &self.end, &self.low[0], &self.low[1], &self.high[0], &self.high[1]];
        columns.iter().map(|column| column.capacity() * size_of::<f32>()).sum()
    }

    /// Panics unless vectors that start inside `list` end inside every column: what the
    /// unchecked loads rely on.
    fn check(&self, list: &Range<usize>) {
        let need = list.end + PADDING;
        let columns =
            [&self.begin, &self.end, &self.low[0], &self.low[1], &self.high[0], &self.high[1]];
        assert!(list.start <= list.end, "a list runs forward");
        assert!(columns.iter().all(|column| column.len() >= need), "a list needs padding after it");
    }
}

/// A vector of floats of one instruction set; a mask has bit `k` set where lane `k` is true.
trait Lanes: Copy {
    const WIDTH: usize;

    /// # Safety
    /// `from` must be readable for `WIDTH` floats, and the instruction set must be there.
    unsafe fn load(from: *const f32) -> Self;

    /// # Safety
    /// The instruction set must be there.
    unsafe fn splat(value: f32) -> Self;

    /// Mask of the lanes with `self <= other`.
    ///
    /// # Safety
    /// The instruction set must be there.
    unsafe fn at_most(self, other: Self) -> u32;
}

/// Four lanes in plain Rust, which compilers turn into whatever the target has.
#[derive(Clone, Copy)]
struct Plain([f32; 4]);

impl Lanes for Plain {
    const WIDTH: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const f32) -> Plain {
        // SAFETY: the caller vouches for four readable floats; arrays of floats need no more
        // alignment than a float.
        Plain(unsafe { *from.cast::<[f32; 4]>() })
    }

    #[inline(always)]
    unsafe fn splat(value: f32) -> Plain {
        Plain([value; 4])
    }

    #[inline(always)]
    unsafe fn at_most(self, other: Plain) -> u32 {
        (0..4).fold(0, |mask, k| mask | u32::from(self.0[k] <= other.0[k]) << k)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use std::arch::x86_64::*;

    #[derive(Clone, Copy)]
    pub struct Sse2(__m128);

    impl Lanes for Sse2 {
        const WIDTH: usize = 4;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Sse2 {
            // SAFETY: the caller vouches for the memory; every x86-64 has SSE2.
            Sse2(unsafe { _mm_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Sse2 {
            // SAFETY: every x86-64 has SSE2.
            Sse2(unsafe { _mm_set1_ps(value) })
        }

        #[inline(always)]
        unsafe fn at_most(self, other: Sse2) -> u32 {
            // SAFETY: every x86-64 has SSE2.
            unsafe { _mm_movemask_ps(_mm_cmple_ps(self.0, other.0)) as u32 }
        }
    }

    #[derive(Clone, Copy)]
    pub struct Avx2(__m256);

    impl Lanes for Avx2 {
        const WIDTH: usize = 8;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Avx2 {
            // SAFETY: the caller vouches for the memory and for AVX2.
            Avx2(unsafe { _mm256_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Avx2 {
            // SAFETY: the caller vouches for AVX2.
            Avx2(unsafe { _mm256_set1_ps(value) })
        }

        #[inline(always)]
        unsafe fn at_most(self, other: Avx2) -> u32 {
            // SAFETY: the caller vouches for AVX2.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(self.0, other.0)) as u32 }
        }
    }

    #[derive(Clone, Copy)]
    pub struct Avx512(__m512);

    impl Lanes for Avx512 {
        const WIDTH: usize = 16;

        #[inline(always)]
        unsafe fn load(from: *const f32) -> Avx512 {
            // SAFETY: the caller vouches for the memory and for AVX-512.
            Avx512(unsafe { _mm512_loadu_ps(from) })
        }

        #[inline(always)]
        unsafe fn splat(value: f32) -> Avx512 {
            // SAFETY: the caller vouches for AVX-512.
            Avx512(unsafe { _mm512_set1_ps(value) })
        }

        #[inline(always)]
        unsafe fn at_most(self, other: Avx512) -> u32 {
            // SAFETY: the caller vouches for AVX-512.
            u32::from(unsafe { _mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0) })
        }
    }
}

/// The instruction sets this file knows, by what the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Plain Rust.
    Plain,
    /// Four lanes.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// Eight lanes.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Sixteen lanes.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The widest set of this machine.
    pub fn best() -> Level {
        *Level::all().last().expect("plain Rust is always there")
    }

    /// Every set of this machine, the widest last.
    pub fn all() -> Vec<Level> {
        #[allow(unused_mut)]
        let mut levels = vec![Level::Plain];
        #[cfg(target_arch = "x86_64")]
        {
            levels.push(Level::Sse2);
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") {
                levels.push(Level::Avx2);
                if is_x86_feature_detected!("avx512f") {
                    levels.push(Level::Avx512);
                }
            }
        }
        levels
    }
}

/// One or two lists to sweep, by their slots in the columns.
#[derive(Clone, Debug)]
pub(crate) enum Lists {
    /// Every pair within one list.
    Within(Range<usize>),
    /// Every pair of one box from each list.
    Between(Range<usize>, Range<usize>),
}

/// Calls `hit` with the slots of each overlapping pair and stops at its first error. Returns
/// how many pairs overlap on the sweep axis: the tests made.
pub(crate) fn sweep<E>(
    level: Level,
    columns: &Columns,
    lists: Lists,
    hit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    match &lists {
        Lists::Within(list) => columns.check(list),
        Lists::Between(one, other) => {
            columns.check(one);
            columns.check(other);
        }
    }
    // SAFETY: the lists were checked against the columns, and a level is only made where the
    // machine has its instructions.
    unsafe {
        match level {
            Level::Plain => sweep_lists::<Plain, E>(columns, lists, hit),
            #[cfg(target_arch = "x86_64")]
            Level::Sse2 => sweep_lists::<x86::Sse2, E>(columns, lists, hit),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => sweep_avx2(columns, lists, hit),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => sweep_avx512(columns, lists, hit),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn sweep_avx2<E>(
    columns: &Columns,
    lists: Lists,
    hit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    // SAFETY: the caller's.
    unsafe { sweep_lists::<x86::Avx2, E>(columns, lists, hit) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,bmi1,bmi2,popcnt,lzcnt")]
unsafe fn sweep_avx512<E>(
    columns: &Columns,
    lists: Lists,
    hit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    // SAFETY: the caller's.
    unsafe { sweep_lists::<x86::Avx512, E>(columns, lists, hit) }
}

/// # Safety
/// Each list must pass [`Columns::check`], and the instruction set of `V` must be there.
#[inline(always)]
unsafe fn sweep_lists<V: Lanes, E>(
    columns: &Columns,
    lists: Lists,
    mut hit: impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    let mut tests = 0;
    // SAFETY: all probes and runs lie within the checked lists.
    unsafe {
        match lists {
            Lists::Within(list) => {
                for probe in list.clone() {
                    tests += run::<V, E>(columns, probe, probe + 1..list.end, &mut hit)?;
                }
            }
            Lists::Between(mut one, mut other) => {
                // Of two that begin at the same place, the one of the first list is the probe.
                while !one.is_empty() && !other.is_empty() {
                    if columns.begin[one.start] <= columns.begin[other.start] {
                        tests += run::<V, E>(columns, one.start, other.clone(), &mut hit)?;
                        one.start += 1;
                    } else {
                        tests += run::<V, E>(columns, other.start, one.clone(), &mut hit)?;
                        other.start += 1;
                    }
                }
            }
        }
    }
    Ok(tests)
}

/// Tests `probe` against the boxes of `list` that begin before it ends.
///
/// # Safety
/// `probe` and `list` must lie within lists that pass [`Columns::check`], and the instruction
/// set of `V` must be there.
#[inline(always)]
unsafe fn run<V: Lanes, E>(
    columns: &Columns,
    probe: usize,
    list: Range<usize>,
    hit: &mut impl FnMut(usize, usize) -> Result<(), E>,
) -> Result<u64, E> {
    let full = ((1u64 << V::WIDTH) - 1) as u32;
    let (low, high) = (&columns.low, &columns.high);
    // SAFETY: `probe` is a slot, and `at < list.end` with PADDING >= WIDTH slots behind it, so
    // each load stays inside its column.
    unsafe {
        let end = V::splat(*columns.end.get_unchecked(probe));
        let probe_low = [0, 1].map(|k| V::splat(*low[k].get_unchecked(probe)));
        let probe_high = [0, 1].map(|k| V::splat(*high[k].get_unchecked(probe)));
        let mut at = list.start;
        while at < list.end {
            let begun = V::load(columns.begin.as_ptr().add(at)).at_most(end);
            let mut hits = begun
                & V::load(low[0].as_ptr().add(at)).at_most(probe_high[0])
                & probe_low[0].at_most(V::load(high[0].as_ptr().add(at)))
                & V::load(low[1].as_ptr().add(at)).at_most(probe_high[1])
                & probe_low[1].at_most(V::load(high[1].as_ptr().add(at)));
            while hits != 0 {
                hit(probe, at + hits.trailing_zeros() as usize)?;
                hits &= hits - 1;
            }
            if begun != full {
                return Ok((at - list.start) as u64 + u64::from(begun.count_ones()));
            }
            at += V::WIDTH;
        }
        Ok(list.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    fn fill(lists: [&[Box6]; 2]) -> (Columns, [Range<usize>; 2]) {
        let mut columns = Columns::default();
        columns.reset(lists[0].len() + lists[1].len() + 2 * PADDING);
        let mut at = 0;
        let ranges = lists.map(|list| {
            let start = at;
            for b in list {
                columns.begin[at] = b[0];
                columns.end[at] = b[1];
                for k in 0..2 {
                    columns.low[k][at] = b[2 + 2 * k];
                    columns.high[k][at] = b[3 + 2 * k];
                }
                at += 1;
            }
            let range = start..at;
            at += PADDING;
            range
        });
        (columns, ranges)
    }

    fn overlap(a: &Box6, b: &Box6) -> bool {
        (0..3).all(|k| a[2 * k] <= b[2 * k + 1] && b[2 * k] <= a[2 * k + 1])
    }

    fn found(level: Level, columns: &Columns, lists: Lists) -> (u64, Vec<(usize, usize)>) {
        let mut pairs = Vec::new();
        let tests = sweep::<()>(level, columns, lists, |a, b| {
            pairs.push((a.min(b), a.max(b)));
            Ok(())
        });
        pairs.sort_unstable();
        (tests.unwrap(), pairs)
    }

    proptest! {
        #[test]
        fn every_level_finds_what_plain_loops_find(
            mut one in prop::collection::vec(box6(), 0..60),
            mut other in prop::collection::vec(box6(), 0..60),
        ) {
            one.sort_by(|a, b| a[0].partial_cmp(&b[0]).unwrap());
            other.sort_by(|a, b| a[0].partial_cmp(&b[0]).unwrap());
            let (columns, [first, second]) = fill([&one, &other]);
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
            for level in Level::all() {
                let expected = (within_tests, within.clone());
                prop_assert_eq!(found(level, &columns, Lists::Within(first.clone())), expected);
                let lists = Lists::Between(first.clone(), second.clone());
                let expected = (between_tests, between.clone());
                prop_assert_eq!(found(level, &columns, lists), expected);
            }
        }
    }

    #[test]
    fn the_first_error_stops_the_sweep() {
        let list = vec![[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]; 40];
        let (columns, [list, _]) = fill([&list, &[]]);
        for level in Level::all() {
            let mut calls = 0;
            let result = sweep(level, &columns, Lists::Within(list.clone()), |_, _| {
                calls += 1;
                if calls == 5 { Err("enough") } else { Ok(()) }
            });
            assert_eq!((result, calls), (Err("enough"), 5));
        }
    }

    #[test]
    #[should_panic(expected = "padding")]
    fn a_list_without_padding_is_refused() {
        let mut columns = Columns::default();
        columns.reset(20);
        let _ = sweep::<()>(Level::best(), &columns, Lists::Within(0..10), |_, _| Ok(()));
    }
}
