//! [`PairJudge`]: which pairs began and which ended, from the previous and the current bounds.
//! [`EventSink`] takes them.
//!
//! A persistent algorithm meets pairs whose order changed somewhere; which of them began or ended
//! follows from the bounds. So no set of pairs has to be kept: that saves a hash table look-up per
//! event, and memory where many boxes overlap.
//!
//! A pair must be reported once although its endpoints may swap on several axes, and on one axis
//! there and back again. These rules choose one swap for it. Let `a` be the box whose lower
//! endpoint and `b` the box whose upper endpoint swap on an axis.
//!
//! - [`PairJudge::gains`]: the pair began if it overlaps now, `b` ended before `a` began on this
//!   axis in the previous bounds, and on all earlier axes they overlapped in the previous bounds.
//!   Whatever the path, the two endpoints have then swapped an odd number of times, and no sort
//!   that moves every endpoint at most once lets them meet more than twice: exactly once.
//! - [`PairJudge::loses`]: the mirror image, with the previous and the current bounds swapped.

use std::cmp::Ordering;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::error::Error;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::{Lane, LimitReached, Pair};

use super::cell_scope::CellScope;
use super::previous::PreviousBounds;

/// Decides which pairs began and which ended. See the [module](self).
#[derive(Clone, Copy)]
pub(crate) struct PairJudge<'a> {
    previous: &'a PreviousBounds,
    then: &'a [Aabb],
    now: &'a [Aabb],
    /// Empty if every filter is [`Filter::ALL`].
    filters: &'a [Filter],
    order: [usize; 3],
    cell: Option<CellScope<'a>>,
}

impl<'a> PairJudge<'a> {
    /// A judge of all pairs, given the axes in order of precedence. The previous bounds must have
    /// [grown](PreviousBounds::grow) to the current slots.
    pub(crate) fn new(
        previous: &'a PreviousBounds,
        boxes: &'a Boxes,
        order: [usize; 3],
    ) -> PairJudge<'a> {
        debug_assert!(previous.aabbs().len() >= boxes.slots(), "call grow first");
        PairJudge {
            previous,
            then: previous.aabbs(),
            now: boxes.aabbs(),
            filters: if boxes.has_filters() { boxes.filters() } else { &[] },
            order,
            cell: None,
        }
    }

    /// The same judge for one cell of a grid: it reports only what the cell has to report.
    pub(crate) fn within(self, cell: CellScope<'a>) -> PairJudge<'a> {
        PairJudge { cell: Some(cell), ..self }
    }

    /// The same judge for one cell of a grid that numbers its boxes itself: these are their
    /// bounds, and the cell knows their slots.
    pub(crate) fn numbered(
        self,
        cell: CellScope<'a>,
        then: &'a [Aabb],
        now: &'a [Aabb],
    ) -> PairJudge<'a> {
        PairJudge { cell: Some(cell), then, now, ..self }
    }

    /// The current bounds.
    #[inline(always)]
    pub(crate) fn now(&self) -> &'a [Aabb] {
        self.now
    }

    /// The previous bounds, NaN for boxes that had none or whose bounds are hidden.
    #[inline(always)]
    pub(crate) fn then(&self) -> &'a [Aabb] {
        self.then
    }

    /// The axis with a given place in the order of precedence.
    #[inline(always)]
    pub(crate) fn axis(&self, place: usize) -> usize {
        self.order[place]
    }

    /// Returns true if the pair begins with this swap, after which the lower endpoint of one box
    /// lies before the upper endpoint of the other on the axis at `place`.
    #[inline(always)]
    pub(crate) fn gains(&self, place: usize, lower: u32, upper: u32) -> bool {
        self.now[lower as usize].overlaps(&self.now[upper as usize])
            && self.gains_first(place, lower, upper)
    }

    #[inline(never)]
    fn gains_first(&self, place: usize, lower: u32, upper: u32) -> bool {
        let (a, b) = (&self.then[lower as usize], &self.then[upper as usize]);
        let axis = self.order[place];
        if let Some(cell) = &self.cell
            && cell.is_new(lower, upper)
        {
            // As if it had no previous bounds: the first axis reports it.
            return place == 0 && self.began(lower, upper);
        }
        // Not "behind": a box without previous bounds counts as apart.
        let apart = a.min[axis].partial_cmp(&b.max[axis]).is_none_or(Ordering::is_gt);
        apart
            && self.order[..place].iter().all(|&axis| overlap_on(a, b, axis))
            && self.allowed(lower, upper)
            && !self.was_hidden_pair(lower, upper)
            && self.owns(self.now, lower, upper)
    }

    /// Returns true if the pair ends with this swap, after which the lower endpoint of one box
    /// lies behind the upper endpoint of the other on the axis at `place`.
    #[inline(always)]
    pub(crate) fn loses(&self, place: usize, lower: u32, upper: u32) -> bool {
        self.then[lower as usize].overlaps(&self.then[upper as usize])
            && self.loses_first(place, lower, upper)
    }

    #[inline(never)]
    fn loses_first(&self, place: usize, lower: u32, upper: u32) -> bool {
        let (a, b) = (&self.now[lower as usize], &self.now[upper as usize]);
        let axis = self.order[place];
        b.max[axis] < a.min[axis]
            && self.order[..place].iter().all(|&axis| overlap_on(a, b, axis))
            && self.allowed(lower, upper)
            && self.owns(self.then, lower, upper)
            && self.cell.is_none_or(|cell| !cell.is_new(lower, upper))
    }

    /// Returns true if a pair that overlaps in these bounds is this judge's to report.
    #[inline]
    fn owns(&self, aabbs: &[Aabb], one: u32, other: u32) -> bool {
        let (one, other) = (one as usize, other as usize);
        self.cell.is_none_or(|cell| cell.owns(&aabbs[one], &aabbs[other]))
    }

    /// Returns true if the pair began, however it was met.
    #[inline]
    pub(crate) fn began(&self, one: u32, other: u32) -> bool {
        self.overlap_now(one, other)
            && !self.overlapped(one, other)
            && self.owns(self.now, one, other)
    }

    /// Returns true if the pair ended, however it was met.
    #[inline]
    pub(crate) fn ended(&self, one: u32, other: u32) -> bool {
        self.overlapped(one, other)
            && !self.overlap_now(one, other)
            && self.owns(self.then, one, other)
    }

    #[inline]
    fn overlap_now(&self, one: u32, other: u32) -> bool {
        self.now[one as usize].overlaps(&self.now[other as usize]) && self.allowed(one, other)
    }

    /// Returns true if the boxes were a pair at the last update, hidden or not.
    #[inline]
    fn overlapped(&self, one: u32, other: u32) -> bool {
        self.bounds_then(one).overlaps(&self.bounds_then(other))
            && self.previous.allowed(self.slot(one), self.slot(other))
    }

    /// The bounds of a box at the last update, hidden or not.
    #[inline]
    fn bounds_then(&self, slot: u32) -> Aabb {
        let seen = self.then[slot as usize];
        if seen.min[0].is_nan() { self.previous.hidden_bounds(slot).unwrap_or(seen) } else { seen }
    }

    /// Returns true if the boxes were a pair although the previous bounds of one are hidden.
    fn was_hidden_pair(&self, one: u32, other: u32) -> bool {
        self.previous.has_hidden() && self.overlapped(one, other)
    }

    #[inline(always)]
    fn allowed(&self, one: u32, other: u32) -> bool {
        if self.filters.is_empty() {
            return true;
        }
        let (one, other) = (self.slot(one), self.slot(other));
        self.filters[one].allows(&self.filters[other])
    }

    /// The slot of a box; a cell of a grid may have numbers of its own.
    #[inline]
    fn slot(&self, number: u32) -> usize {
        self.cell.map_or(number, |cell| cell.slot(number)) as usize
    }
}

#[inline(always)]
fn overlap_on(a: &Aabb, b: &Aabb, axis: usize) -> bool {
    (a.min[axis] <= b.max[axis]) & (b.min[axis] <= a.max[axis])
}

/// What following changes returns.
pub(crate) type FollowResult = Result<(), FollowError>;

/// Why following the changes did not finish.
#[derive(Clone, Debug)]
pub(crate) enum FollowError {
    /// It takes more work than the budget allows: a rebuild costs less.
    OverBudget,
    /// The update fails.
    Failed(Error),
}

impl From<LimitReached> for FollowError {
    fn from(reached: LimitReached) -> FollowError {
        FollowError::Failed(reached.into())
    }
}

/// Takes the events of a sort, and counts its work.
pub(crate) struct EventSink<'a> {
    began: &'a mut Lane,
    ended: &'a mut Vec<Pair>,
    /// The slots of the boxes, if they are called by other numbers.
    slots: Option<&'a [u32]>,
    /// Overlap tests so far.
    pub tests: u64,
    /// Swaps so far.
    pub swaps: u64,
    /// The most tests and swaps together.
    pub budget: u64,
}

impl<'a> EventSink<'a> {
    /// A sink that writes to a lane and a list and does not limit the work.
    pub(crate) fn new(began: &'a mut Lane, ended: &'a mut Vec<Pair>) -> EventSink<'a> {
        EventSink { began, ended, slots: None, tests: 0, swaps: 0, budget: u64::MAX }
    }

    /// The same sink for boxes that are called by numbers; `slots` are their slots.
    pub(crate) fn numbered(self, slots: &'a [u32]) -> EventSink<'a> {
        EventSink { slots: Some(slots), ..self }
    }

    #[inline]
    fn slot(&self, number: u32) -> u32 {
        self.slots.map_or(number, |slots| slots[number as usize])
    }

    /// Notes a pair that began.
    #[inline]
    pub(crate) fn begin(&mut self, one: u32, other: u32) -> FollowResult {
        Ok(self.began.push(self.slot(one), self.slot(other))?)
    }

    /// Notes a pair that ended.
    #[inline]
    pub(crate) fn end(&mut self, one: u32, other: u32) {
        let (one, other) = (self.slot(one), self.slot(other));
        self.ended.push(Pair::new(Slot::new(one), Slot::new(other)));
    }

    /// Tests a box against others and notes the pairs that began.
    #[inline(always)]
    pub(crate) fn begin_with(
        &mut self,
        slot: u32,
        others: &[u32],
        judge: &PairJudge<'_>,
    ) -> FollowResult {
        self.tests += others.len() as u64;
        let Some(now) = others.first().map(|_| judge.now[slot as usize]) else { return Ok(()) };
        for &other in others {
            if now.overlaps(&judge.now[other as usize]) && judge.began(slot, other) {
                self.begin(slot, other)?;
            }
        }
        Ok(())
    }

    /// Tests a box against others and notes the pairs that ended.
    #[inline(always)]
    pub(crate) fn end_with(&mut self, slot: u32, others: &[u32], judge: &PairJudge<'_>) {
        self.tests += others.len() as u64;
        let Some(then) = others.first().map(|_| judge.bounds_then(slot)) else { return };
        for &other in others {
            if then.overlaps(&judge.bounds_then(other)) && judge.ended(slot, other) {
                self.end(slot, other);
            }
        }
    }

    /// Fails if the budget is spent.
    #[inline(always)]
    pub(crate) fn check_budget(&self) -> FollowResult {
        if self.swaps + self.tests > self.budget { Err(FollowError::OverBudget) } else { Ok(()) }
    }
}
