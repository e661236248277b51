//! One column: its entries are put in order along the sweep axis and swept.
//!
//! They are not sorted but put into buckets half a box long, in one counting pass: box `i` meets
//! the boxes behind it up to the end of the bucket in which it ends, and the full test rejects the
//! few that do not overlap on the axis. If that gives many tests, because the boxes of the column
//! crowd in a part of it, the column is divided again by a plan of its own; if no plan helps, it is
//! sorted.

use super::order::{Buckets, Sorted};
use super::plan::{ColumnPlan, Survey, cost_of_tests};
use super::rest::RestColumn;
use super::runs::{Across, Runs};
use super::share::{Share, Ticket};
use super::{ColumnEntry, most_columns};
use crate::broad::shared::groups::Groups;
use crate::filter::Filter;
use crate::pair::{Lane, LimitReached};
use crate::simd::Level;
use crate::simd::column::Column;
use crate::simd::prefetch::prefetch;

/// A column with more tests per entry than this is reconsidered.
const MANY_TESTS: u64 = 32;

/// How often a column may be divided again.
const MOST_DIVISIONS: usize = 4;

/// What every column of an update is swept with.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub plan: &'a ColumnPlan,
    pub shares: &'a [Share],
    /// The still boxes of each column, if they are kept apart.
    pub rest: Option<&'a [RestColumn]>,
    pub groups: &'a Groups,
    /// The filters by slot, if there are any.
    pub filters: Option<&'a [Filter]>,
    pub level: Level,
}

/// The scratch memory of a worker, and what it counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Strip {
    entries: Vec<ColumnEntry>,
    keys: Vec<u32>,
    buckets: Buckets,
    sorted: Sorted,
    column: Column,
    runs: Runs,
    /// How often the column that is being swept has been divided.
    depth: usize,
    within: Option<Box<Division>>,
    pub tests: u64,
}

/// A column divided again.
#[derive(Clone, Debug, Default)]
struct Division {
    survey: Survey,
    tickets: Vec<Ticket>,
    share: Share,
    strip: Strip,
}

impl Strip {
    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let within = self.within.as_ref().map_or(0, |division| {
            division.tickets.capacity() * size_of::<Ticket>()
                + division.share.bytes()
                + division.strip.bytes()
        });
        self.entries.capacity() * size_of::<ColumnEntry>()
            + self.runs.bytes()
            + self.keys.capacity() * size_of::<u32>()
            + self.buckets.bytes()
            + self.column.bytes()
            + within
    }

    /// Finds the pairs of one column.
    pub(super) fn sweep(
        &mut self,
        frame: &Frame<'_>,
        column: usize,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        self.gather(frame.shares, column);
        if let Some(columns) = frame.rest
            && (self.entries.is_empty() || self.sweep_across(frame, &columns[column], lane)?)
        {
            return Ok(());
        }
        self.sweep_gathered(frame, lane)
    }

    /// Finds the pairs among the gathered entries.
    fn sweep_gathered(&mut self, frame: &Frame<'_>, lane: &mut Lane) -> Result<(), LimitReached> {
        let count = self.entries.len();
        if count < 2 {
            return Ok(());
        }
        let (entries, keys) = (&self.entries, &mut self.keys);
        self.buckets.fill(frame.plan, frame.groups, entries, keys, &mut self.column);
        let tests = self.runs.count(&self.buckets, &self.column, frame.groups);
        if tests <= MANY_TESTS * count as u64 {
            return self.sweep_groups(frame, false, lane);
        }
        if let Some(plan) = self.plan_again(frame, tests) {
            return self.sweep_divided(frame, &plan, lane);
        }
        self.sorted.fill(frame.plan.axis, frame.groups, &mut self.entries, &mut self.column);
        self.sweep_groups(frame, true, lane)
    }

    /// Copies the entries of a column from the shares. What follows in each share belongs to the
    /// next column and is prefetched.
    fn gather(&mut self, shares: &[Share], column: usize) {
        self.entries.clear();
        self.entries.reserve(shares.iter().map(|share| share.columns(column).0.len()).sum());
        for share in shares {
            let (entries, following) = share.columns(column);
            self.entries.extend_from_slice(entries);
            prefetch(following);
        }
    }

    /// A plan for this column alone, if it promises much.
    fn plan_again(&mut self, frame: &Frame<'_>, tests: u64) -> Option<ColumnPlan> {
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
        plan: &ColumnPlan,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let division = self.within.as_mut().expect("a plan was made for it");
        let (count, get) = (self.entries.len(), |place: usize| Some(self.entries[place]));
        if division.share.distribute(plan, count, get, &mut division.tickets).is_err() {
            self.sorted.fill(frame.plan.axis, frame.groups, &mut self.entries, &mut self.column);
            return self.sweep_groups(frame, true, lane);
        }
        let shares = std::slice::from_ref(&division.share);
        let inner = Frame { plan, shares, rest: None, ..*frame };
        let strip = &mut division.strip;
        strip.tests = 0;
        let swept = (0..plan.columns()).try_for_each(|column| strip.sweep(&inner, column, lane));
        self.tests += strip.tests;
        swept
    }

    /// Sweeps the column in the order it is in.
    fn sweep_groups(
        &mut self,
        frame: &Frame<'_>,
        sorted: bool,
        lane: &mut Lane,
    ) -> Result<(), LimitReached> {
        let (groups, column) = (frame.groups, &self.column);
        for group in 0..groups.count_of_groups() {
            // With one group the runs have been found already, unless the order has changed.
            if sorted {
                self.runs.find(&self.sorted, column, groups, group);
            } else if groups.count_of_groups() > 1 {
                self.runs.find(&self.buckets, column, groups, group);
            }
            self.tests += self.runs.test(column, column, frame.level, frame.filters, lane)?;
        }
        Ok(())
    }

    /// Finds the pairs of movers with still boxes, and of movers, unless that takes so many tests
    /// that the column is better treated as a whole: then the still boxes join the entries, and
    /// this returns false.
    fn sweep_across(
        &mut self,
        frame: &Frame<'_>,
        rest: &RestColumn,
        lane: &mut Lane,
    ) -> Result<bool, LimitReached> {
        let groups = frame.groups;
        self.buckets.fill(frame.plan, groups, &self.entries, &mut self.keys, &mut self.column);
        let movers = (&self.buckets, &self.column);
        let still = (&rest.buckets, &rest.column);
        // Movers look so far back that no still box is missed; if a long one makes that
        // expensive, both sides look ahead.
        let back = self.entries.len() * rest.reach as usize <= 3 * rest.buckets.count();
        let before = Across::FromBefore(if back { rest.reach } else { 0 });
        let ways = [(movers, still, before), (still, movers, Across::Behind)];
        let ways = if back { &ways[..1] } else { &ways[..] };
        let each = |group| ways.iter().map(move |way| (group, way));
        let mut tests = 0;
        for (group, &(ones, others, across)) in (0..groups.count_of_groups()).flat_map(each) {
            tests += self.runs.find_across(ones, others, across, groups, group);
        }
        let count = self.entries.len() + rest.column.len();
        if tests > MANY_TESTS * count as u64 {
            rest.read(frame.plan.axis, &mut self.entries);
            return Ok(false);
        }
        for (group, &(ones, others, across)) in (0..groups.count_of_groups()).flat_map(each) {
            self.runs.find_across(ones, others, across, groups, group);
            self.tests += self.runs.test(ones.1, others.1, frame.level, frame.filters, lane)?;
        }
        self.sweep_gathered(frame, lane)?;
        Ok(true)
    }
}
