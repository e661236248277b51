//! For each box of a column the run of boxes it meets, and the test of all runs.

use std::cmp::Ordering;
use std::ops::Range;

use super::order::{Buckets, Order};
use crate::broad::shared::groups::Groups;
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached, Pair};
use crate::simd::Level;
use crate::simd::column::{Column, PADDING};

/// How many pairs may be found between two checks of the limit.
const BLOCK: u64 = (Lane::MAX_ROOM - PADDING) as u64;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    begins: Vec<u32>,
    ends: Vec<u32>,
    hits: Vec<Pair>,
}

/// Which boxes of another order a box meets.
#[derive(Clone, Copy)]
pub(super) enum Across {
    /// Those that begin in its bucket or behind, or at most this many buckets before.
    FromBefore(u32),
    /// Those that begin behind its bucket.
    Behind,
}

impl Runs {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.begins.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.hits.capacity() * size_of::<Pair>()
    }

    /// The number of tests with all groups. Leaves the runs that meet the last group.
    pub(super) fn count(&mut self, order: &impl Order, column: &Column, groups: &Groups) -> u64 {
        let each = 0..groups.count_of_groups();
        each.map(|group| self.find(order, column, groups, group)).sum()
    }

    /// The runs of all boxes among those of one group: the boxes behind them within their own
    /// group, in later groups those that begin with them or behind, in earlier groups behind.
    /// Returns the number of tests.
    pub(super) fn find(
        &mut self,
        order: &impl Order,
        column: &Column,
        groups: &Groups,
        with: usize,
    ) -> u64 {
        let (low, high) = (column.low(0), column.high(0));
        self.fill(order, groups, with, |group, place| {
            let begin = match group.cmp(&with) {
                Ordering::Less => order.first(column, with, low[place]),
                Ordering::Equal => place as u32 + 1,
                Ordering::Greater => order.after(column, with, low[place]),
            };
            begin..order.after(column, with, high[place])
        })
    }

    /// The runs of the boxes of one column among those of one group in another, which has the
    /// same buckets. Returns the number of tests.
    pub(super) fn find_across(
        &mut self,
        (buckets, column): (&Buckets, &Column),
        (others, other_column): (&Buckets, &Column),
        across: Across,
        groups: &Groups,
        with: usize,
    ) -> u64 {
        let (low, high) = (column.low(0), column.high(0));
        self.fill(buckets, groups, with, |_, place| {
            let begin = match across {
                Across::FromBefore(reach) => others.first_within(with, low[place], reach),
                Across::Behind => others.after(other_column, with, low[place]),
            };
            begin..others.after(other_column, with, high[place])
        })
    }

    #[inline(always)]
    fn fill(
        &mut self,
        order: &impl Order,
        groups: &Groups,
        with: usize,
        run: impl Fn(usize, usize) -> Range<u32>,
    ) -> u64 {
        let len = order.members(groups.count_of_groups() - 1).end;
        self.begins.resize(len, 0);
        self.ends.resize(len, 0);
        let mut tests = 0;
        for group in 0..groups.count_of_groups() {
            let members = order.members(group);
            if !groups.may_pair(group, with) {
                self.ends[members.clone()].fill(0);
                self.begins[members].fill(0);
                continue;
            }
            for place in members {
                let run = run(group, place);
                self.begins[place] = run.start;
                self.ends[place] = run.end;
                tests += u64::from(run.end.saturating_sub(run.start));
            }
        }
        tests
    }

    /// Tests the boxes of a column against their runs in another, which may be the same, in
    /// blocks so small that checking the limit between them suffices. Returns the number of tests.
    pub(super) fn test(
        &mut self,
        column: &Column,
        others: &Column,
        level: Level,
        filters: Option<&[Filter]>,
        lane: &mut Lane,
    ) -> Result<u64, LimitReached> {
        let (mut place, mut tests) = (0, 0);
        while place < self.begins.len() {
            let block = self.block(place);
            place = block.end;
            let (begin, end) = (self.begins[block.start], self.ends[block.start]);
            if u64::from(end.saturating_sub(begin)) <= BLOCK {
                tests += self.test_block(column, others, block, level, filters, lane)?;
                continue;
            }
            for from in (begin..end).step_by(BLOCK as usize) {
                self.begins[block.start] = from;
                self.ends[block.start] = end.min(from + BLOCK as u32);
                tests += self.test_block(column, others, block.clone(), level, filters, lane)?;
            }
        }
        Ok(tests)
    }

    /// As many boxes from `first` on as have no more than [`BLOCK`] tests together; at least one.
    fn block(&self, first: usize) -> Range<usize> {
        let mut tests = 0;
        let lengths = self.begins[first..].iter().zip(&self.ends[first..]);
        let fits = |(begin, end): (&u32, &u32)| {
            tests += u64::from(end.saturating_sub(*begin));
            tests <= BLOCK
        };
        let count = lengths.map(fits).take_while(|&fits| fits).count();
        first..first + count.max(1)
    }

    fn test_block(
        &mut self,
        column: &Column,
        others: &Column,
        block: Range<usize>,
        level: Level,
        filters: Option<&[Filter]>,
        lane: &mut Lane,
    ) -> Result<u64, LimitReached> {
        let Some(filters) = filters else {
            let found = lane.room(Lane::MAX_ROOM)?;
            return Ok(column.sweep(others, level, block, &self.begins, &self.ends, found));
        };
        self.hits.clear();
        let tests = column.sweep(others, level, block, &self.begins, &self.ends, &mut self.hits);
        for hit in &self.hits {
            if filters[hit.a().index()].allows(&filters[hit.b().index()]) {
                lane.push(hit.a().get(), hit.b().get())?;
            }
        }
        Ok(tests)
    }
}
