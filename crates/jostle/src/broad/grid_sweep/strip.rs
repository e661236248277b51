//! One column: its entries are put in order along the sweep axis and swept.
//!
//! They are not sorted but dealt to buckets half a box long, in one counting pass: box `i` meets
//! the boxes behind it up to the end of the bucket in which it ends, and the full test tells the
//! few that do not overlap on the axis from those that do. Where that gives many tests, because
//! the boxes of the column crowd in a part of it, the column is divided again by a plan of its
//! own; where no plan helps, it is sorted.

use std::ops::Range;

use super::order::{Buckets, Order, Sorted};
use super::plan::{Plan, Survey, cost_of_tests};
use super::share::{Share, Ticket};
use super::{Entry, most_columns};
use crate::broad::groups::Groups;
use crate::error::LimitReached;
use crate::filter::Filter;
use crate::pair::{Lane, Pair};
use crate::simd::column::{Column, Level, PADDING};
use crate::simd::prefetch::prefetch;

/// A column with more tests an entry than this is looked at again.
const MANY_TESTS: u64 = 32;

/// How often a column may be divided again.
const MOST_DIVISIONS: usize = 4;

/// How many pairs may be found between two looks at the limit.
const BLOCK: u64 = (Lane::MAX_ROOM - PADDING) as u64;

/// What every column of an update is swept with.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub plan: &'a Plan,
    pub shares: &'a [Share],
    pub groups: &'a Groups,
    /// The filters by slot, where there are any.
    pub filters: Option<&'a [Filter]>,
    pub level: Level,
}

/// The scratch memory of a worker, and what it counted.
#[derive(Debug, Default)]
pub(super) struct Strip {
    entries: Vec<Entry>,
    buckets: Buckets,
    sorted: Sorted,
    column: Column,
    runs: Runs,
    hits: Vec<Pair>,
    /// How often the column that is being swept has been divided.
    depth: usize,
    within: Option<Box<Division>>,
    pub tests: u64,
    /// Whether the limit of pairs was reached in the last update.
    pub reached: Option<LimitReached>,
}

/// A column divided again.
#[derive(Debug, Default)]
struct Division {
    survey: Survey,
    tickets: Vec<Ticket>,
    share: Share,
    strip: Strip,
}

impl Strip {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let within = self.within.as_ref().map_or(0, |division| {
            division.tickets.capacity() * size_of::<Ticket>()
                + division.share.bytes()
                + division.strip.bytes()
        });
        self.entries.capacity() * size_of::<Entry>()
            + self.runs.bytes()
            + self.hits.capacity() * size_of::<Pair>()
            + self.buckets.bytes()
            + self.column.bytes()
            + within
    }

    /// Finds the pairs of one column.
    pub fn sweep(
        &mut self,
        frame: &Frame<'_>,
        column: usize,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        self.gather(frame.shares, column);
        let count = self.entries.len();
        if count < 2 {
            return Ok(());
        }
        self.buckets.deal(frame.plan, frame.groups, &self.entries, &mut self.column);
        let tests = self.runs.count(&self.buckets, &self.column, frame.groups);
        if tests <= MANY_TESTS * count as u64 {
            return self.sweep_groups(frame, false, lane);
        }
        if let Some(plan) = self.plan_again(frame, tests) {
            return self.sweep_divided(frame, &plan, lane);
        }
        self.sorted.deal(frame.plan.axis, frame.groups, &mut self.entries, &mut self.column);
        self.sweep_groups(frame, true, lane)
    }

    /// Copies the entries of a column from the shares. What follows in each share belongs to the
    /// next column and is asked for already.
    fn gather(&mut self, shares: &[Share], column: usize) {
        self.entries.clear();
        for share in shares {
            let (entries, following) = share.columns(column);
            self.entries.extend_from_slice(entries);
            prefetch(following);
        }
    }

    /// A plan for this column alone, if it promises much.
    fn plan_again(&mut self, frame: &Frame<'_>, tests: u64) -> Option<Plan> {
        if self.depth == MOST_DIVISIONS {
            return None;
        }
        let division = self.within.get_or_insert_default();
        division.strip.depth = self.depth + 1;
        let entries = &self.entries;
        division.survey.look(entries.len(), |place| entries[place].aabb);
        let most = most_columns(entries.len());
        // The marks are tied to the axes, so the same one is swept.
        let plan = division.survey.plan_along(frame.plan.axis, entries.len(), most);
        (plan.cost < 0.5 * cost_of_tests(tests)).then_some(plan)
    }

    /// Divides the column by its own plan and sweeps the parts.
    fn sweep_divided(
        &mut self,
        frame: &Frame<'_>,
        plan: &Plan,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let division = self.within.as_mut().expect("a plan was made for it");
        let (count, get) = (self.entries.len(), |place: usize| Some(self.entries[place]));
        if division.share.deal(plan, count, get, &mut division.tickets).is_err() {
            self.sorted.deal(frame.plan.axis, frame.groups, &mut self.entries, &mut self.column);
            return self.sweep_groups(frame, true, lane);
        }
        let shares = std::slice::from_ref(&division.share);
        let inner = Frame { plan, shares, ..*frame };
        let strip = &mut division.strip;
        strip.tests = 0;
        let swept = (0..plan.columns()).try_for_each(|column| strip.sweep(&inner, column, lane));
        self.tests += strip.tests;
        swept
    }

    fn sweep_groups(
        &mut self,
        frame: &Frame<'_>,
        sorted: bool,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        for group in 0..frame.groups.count_of_groups() {
            // With one group the runs have been found already, unless the order has changed.
            if sorted {
                self.runs.find(&self.sorted, &self.column, frame.groups, group);
            } else if frame.groups.count_of_groups() > 1 {
                self.runs.find(&self.buckets, &self.column, frame.groups, group);
            }
            self.test_runs(frame, lane)?;
        }
        Ok(())
    }

    /// Tests the runs, in blocks so small that a look at the limit between them suffices.
    fn test_runs(&mut self, frame: &Frame<'_>, lane: &mut Lane) -> Result<(), LimitReached> {
        let mut place = 0;
        while place < self.runs.len() {
            let block = self.runs.block(place);
            place = block.end;
            match self.runs.long(&block) {
                None => self.test_block(frame, block, lane)?,
                Some(whole) => {
                    for begin in (whole.start..whole.end).step_by(BLOCK as usize) {
                        let end = whole.end.min(begin + BLOCK as u32);
                        self.runs.set(block.start, begin..end);
                        self.test_block(frame, block.clone(), lane)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn test_block(
        &mut self,
        frame: &Frame<'_>,
        block: Range<usize>,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let Runs { begins, ends } = &self.runs;
        let Some(filters) = frame.filters else {
            let found = lane.room(Lane::MAX_ROOM)?;
            self.tests += self.column.sweep(frame.level, block, begins, ends, found);
            return Ok(());
        };
        self.hits.clear();
        self.tests += self.column.sweep(frame.level, block, begins, ends, &mut self.hits);
        for hit in &self.hits {
            if filters[hit.a().index()].allows(&filters[hit.b().index()]) {
                lane.push(hit.a().get(), hit.b().get())?;
            }
        }
        Ok(())
    }
}

/// For each box of a column the places it meets.
#[derive(Debug, Default)]
struct Runs {
    begins: Vec<u32>,
    ends: Vec<u32>,
}

impl Runs {
    fn len(&self) -> usize {
        self.begins.len()
    }

    fn bytes(&self) -> usize {
        (self.begins.capacity() + self.ends.capacity()) * size_of::<u32>()
    }

    fn set(&mut self, place: usize, run: Range<u32>) {
        self.begins[place] = run.start;
        self.ends[place] = run.end;
    }

    /// The number of tests with all groups. Leaves the runs that meet the last group.
    fn count(&mut self, order: &impl Order, column: &Column, groups: &Groups) -> u64 {
        let each = 0..groups.count_of_groups();
        each.map(|group| self.find(order, column, groups, group)).sum()
    }

    /// The runs of all boxes among those of one group: the boxes behind them within their own
    /// group, in later groups those that begin with them or behind, in earlier groups behind.
    /// Returns the number of tests.
    fn find(&mut self, order: &impl Order, column: &Column, groups: &Groups, with: usize) -> u64 {
        let (low, high) = (column.low(0), column.high(0));
        self.begins.resize(low.len(), 0);
        self.ends.resize(low.len(), 0);
        let mut tests = 0;
        for group in 0..groups.count_of_groups() {
            let members = order.members(group);
            if !groups.may_pair(group, with) {
                self.ends[members.clone()].fill(0);
                self.begins[members].fill(0);
                continue;
            }
            for place in members {
                let begin = match group.cmp(&with) {
                    std::cmp::Ordering::Less => order.first(column, with, low[place]),
                    std::cmp::Ordering::Equal => place as u32 + 1,
                    std::cmp::Ordering::Greater => order.after(column, with, low[place]),
                };
                let end = order.after(column, with, high[place]);
                self.set(place, begin..end);
                tests += u64::from(end.saturating_sub(begin));
            }
        }
        tests
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

    /// The run of a block of one box that is too long for a block.
    fn long(&self, block: &Range<usize>) -> Option<Range<u32>> {
        let (begin, end) = (self.begins[block.start], self.ends[block.start]);
        let long = u64::from(end.saturating_sub(begin)) > BLOCK;
        long.then_some(begin..end)
    }
}
