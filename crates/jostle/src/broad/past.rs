//! [`Past`]: the boxes as they were at the last update, and [`Judge`], who compares them with
//! the boxes of now.
//!
//! A persistent algorithm meets pairs whose order changed somewhere; which of them began or ended
//! follows from the bounds before and now. So no set of pairs has to be kept: that saves a hash
//! table look-up per event, and memory where many boxes overlap.
//!
//! A pair must be reported once although its ends may change places on several axes, and on one
//! axis there and back again. These rules choose one exchange for it. Let `a` be the box whose
//! lower end and `b` the box whose upper end change places on an axis.
//!
//! - [`Judge::gains`]: the pair began if it overlaps now, `b` ended before `a` on this axis in the
//!   past, and on all earlier axes they overlapped in the past. Whatever the path, the two ends
//!   have then changed places an odd number of times, and no sort that moves every end at most
//!   once lets them meet more than twice: exactly once.
//! - [`Judge::loses`]: the mirror image; past and now change their parts.
//!
//! 24 bytes a box, and 16 more where filters are in use.

use std::cmp::Ordering;

use crate::aabb::{Aabb, NO_BOX};
use crate::boxes::Boxes;
use crate::broad::grid_sap::grid::CellView;
use crate::error::{Error, LimitReached};
use crate::filter::Filter;
use crate::pair::{BoxId, Lane, Pair};

/// Bounds and filters of the last update by slot.
#[derive(Debug, Default)]
pub struct Past {
    aabbs: Vec<Aabb>,
    /// Empty where every filter was [`Filter::ALL`].
    filters: Vec<Filter>,
    /// Bounds of the boxes that are [hidden](Past::hide).
    hidden: Vec<(u32, Aabb)>,
    /// Where a hidden box stands among them; means nothing for others.
    hidden_places: Vec<u32>,
}

impl Past {
    /// The bounds by slot, NaN where there was no box or it is hidden.
    pub fn aabbs(&self) -> &[Aabb] {
        &self.aabbs
    }

    /// Reads everything anew.
    pub fn rebuild(&mut self, boxes: &Boxes) {
        self.hidden.clear();
        self.aabbs.clear();
        self.aabbs.extend_from_slice(boxes.aabbs());
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.extend_from_slice(boxes.filters());
        }
    }

    /// Makes room for new slots; call before asking about boxes that are new.
    pub fn grow(&mut self, boxes: &Boxes) {
        self.aabbs.resize(boxes.slots(), NO_BOX);
        if boxes.has_filters() || !self.filters.is_empty() {
            self.filters.resize(boxes.slots(), Filter::ALL);
        }
    }

    /// Takes over the changes at the end of an update.
    pub fn follow(&mut self, boxes: &Boxes) {
        self.hidden.clear();
        let changes = boxes.changes();
        let changed = [changes.inserted(), changes.moved(), changes.removed()];
        for id in changed.into_iter().flatten() {
            self.aabbs[id.index()] = boxes.aabbs()[id.index()];
        }
        if !boxes.has_filters() {
            self.filters.clear();
        } else if !self.filters.is_empty() {
            for id in changed.into_iter().flatten() {
                self.filters[id.index()] = boxes.filters()[id.index()];
            }
        }
    }

    /// True where the filter of a box is another one now.
    #[inline]
    pub fn refiltered(&self, boxes: &Boxes, slot: u32) -> bool {
        let before = self.filters.get(slot as usize).unwrap_or(&Filter::ALL);
        *before != boxes.filters()[slot as usize]
    }

    /// Until the next [`follow`](Past::follow), these boxes count as having been nowhere for
    /// [`Judge::gains`] and [`Judge::loses`]; the exact answers still know where they were. For
    /// boxes that are treated as removed and inserted again.
    pub fn hide(&mut self, slots: &[u32]) {
        debug_assert!(self.hidden.is_empty());
        if !slots.is_empty() {
            self.hidden_places.resize(self.aabbs.len(), 0);
        }
        for &slot in slots {
            self.hidden_places[slot as usize] = self.hidden.len() as u32;
            self.hidden.push((slot, self.aabbs[slot as usize]));
            self.aabbs[slot as usize] = NO_BOX;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.aabbs.capacity() * size_of::<Aabb>()
            + self.filters.capacity() * size_of::<Filter>()
            + self.hidden.capacity() * size_of::<(u32, Aabb)>()
            + self.hidden_places.capacity() * 4
    }

    /// Who decides about pairs, given the boxes of now and the axes in order of precedence.
    pub fn judge<'a>(&'a self, boxes: &'a Boxes, order: [usize; 3]) -> Judge<'a> {
        debug_assert!(self.aabbs.len() >= boxes.slots(), "call grow first");
        Judge {
            past: self,
            then: &self.aabbs,
            now: boxes.aabbs(),
            filters: if boxes.has_filters() { boxes.filters() } else { &[] },
            order,
            cell: None,
        }
    }
}

/// Decides which pairs began and which ended. See the [module](self).
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    past: &'a Past,
    then: &'a [Aabb],
    now: &'a [Aabb],
    /// Empty where every filter is [`Filter::ALL`].
    filters: &'a [Filter],
    order: [usize; 3],
    cell: Option<CellView<'a>>,
}

impl<'a> Judge<'a> {
    /// The same judge for one cell of a grid: says only what this cell is to report.
    pub fn within(self, cell: CellView<'a>) -> Judge<'a> {
        Judge { cell: Some(cell), ..self }
    }

    /// The same judge for one cell of a grid that numbers its boxes itself: these are their
    /// bounds, and the cell knows their slots.
    pub fn numbered(self, cell: CellView<'a>, then: &'a [Aabb], now: &'a [Aabb]) -> Judge<'a> {
        Judge { cell: Some(cell), then, now, ..self }
    }

    /// The bounds of now.
    #[inline(always)]
    pub fn now(&self) -> &'a [Aabb] {
        self.now
    }

    /// The bounds of the past, NaN for boxes that count as having been nowhere.
    #[inline(always)]
    pub fn then(&self) -> &'a [Aabb] {
        self.then
    }

    /// The axis with a given place in the order of precedence.
    #[inline(always)]
    pub fn axis(&self, place: usize) -> usize {
        self.order[place]
    }

    /// True where the pair begins with this exchange, after which the lower end of one box lies
    /// before the upper end of the other on the axis at `place`.
    #[inline(always)]
    pub fn gains(&self, place: usize, lower: u32, upper: u32) -> bool {
        self.now[lower as usize].overlaps(&self.now[upper as usize])
            && self.gains_first(place, lower, upper)
    }

    #[inline(never)]
    fn gains_first(&self, place: usize, lower: u32, upper: u32) -> bool {
        let (a, b) = (&self.then[lower as usize], &self.then[upper as usize]);
        let axis = self.order[place];
        if let Some(cell) = &self.cell
            && cell.is_fresh(lower, upper)
        {
            // As if nowhere: the first axis speaks for them.
            return place == 0 && self.began(lower, upper);
        }
        // Not "behind": a box that was nowhere has no place and counts as apart.
        let apart = a.min[axis].partial_cmp(&b.max[axis]).is_none_or(Ordering::is_gt);
        apart
            && self.order[..place].iter().all(|&axis| overlap_on(a, b, axis))
            && self.allowed(lower, upper)
            && !self.was_hidden_pair(lower, upper)
            && self.owns(self.now, lower, upper)
    }

    /// True where the pair ends with this exchange, after which the lower end of one box lies
    /// behind the upper end of the other on the axis at `place`.
    #[inline(always)]
    pub fn loses(&self, place: usize, lower: u32, upper: u32) -> bool {
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
            && self.cell.is_none_or(|cell| !cell.is_fresh(lower, upper))
    }

    /// Whether a pair that overlaps in these bounds is this judge's to report.
    #[inline]
    fn owns(&self, aabbs: &[Aabb], one: u32, other: u32) -> bool {
        let (one, other) = (one as usize, other as usize);
        self.cell.is_none_or(|cell| cell.owns(&aabbs[one], &aabbs[other]))
    }

    /// True where the pair began, however it was met.
    #[inline]
    pub fn began(&self, one: u32, other: u32) -> bool {
        self.overlap_now(one, other)
            && !self.overlapped(one, other)
            && self.owns(self.now, one, other)
    }

    /// True where the pair ended, however it was met.
    #[inline]
    pub fn ended(&self, one: u32, other: u32) -> bool {
        self.overlapped(one, other)
            && !self.overlap_now(one, other)
            && self.owns(self.then, one, other)
    }

    #[inline]
    fn overlap_now(&self, one: u32, other: u32) -> bool {
        self.now[one as usize].overlaps(&self.now[other as usize]) && self.allowed(one, other)
    }

    /// Whether the boxes were a pair at the last update, hidden or not.
    #[inline]
    pub fn overlapped(&self, one: u32, other: u32) -> bool {
        self.bounds_then(one).overlaps(&self.bounds_then(other)) && self.was_allowed(one, other)
    }

    /// The bounds of a box at the last update, hidden or not.
    #[inline]
    pub fn bounds_then(&self, slot: u32) -> Aabb {
        let seen = self.then[slot as usize];
        if seen.min[0].is_nan() { self.hidden_bounds(slot).unwrap_or(seen) } else { seen }
    }

    fn hidden_bounds(&self, slot: u32) -> Option<Aabb> {
        let place = *self.past.hidden_places.get(slot as usize)?;
        let &(hidden, aabb) = self.past.hidden.get(place as usize)?;
        (hidden == slot).then_some(aabb)
    }

    /// Whether the boxes were a pair although one of them counts as having been nowhere.
    fn was_hidden_pair(&self, one: u32, other: u32) -> bool {
        !self.past.hidden.is_empty() && self.overlapped(one, other)
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

    #[inline]
    fn was_allowed(&self, one: u32, other: u32) -> bool {
        let filters = &self.past.filters;
        filters.is_empty() || filters[self.slot(one)].allows(&filters[self.slot(other)])
    }
}

#[inline(always)]
fn overlap_on(a: &Aabb, b: &Aabb, axis: usize) -> bool {
    (a.min[axis] <= b.max[axis]) & (b.min[axis] <= a.max[axis])
}

/// Why a sort did not come to its end.
#[derive(Debug)]
pub enum Stop {
    /// More work than was granted: something else is cheaper.
    Budget,
    /// The update fails.
    Error(Error),
}

impl From<LimitReached> for Stop {
    fn from(reached: LimitReached) -> Stop {
        Stop::Error(reached.into())
    }
}

/// Where the events of a sort go, and what was counted on the way.
pub struct EventSink<'a> {
    began: &'a mut Lane,
    ended: &'a mut Vec<Pair>,
    /// The slots of the boxes, where they have other numbers.
    slots: Option<&'a [u32]>,
    /// Box tests so far.
    pub tests: u64,
    /// Exchanges so far.
    pub swaps: u64,
    /// Most tests and exchanges together.
    pub budget: u64,
}

impl<'a> EventSink<'a> {
    /// A sink that writes to a lane and a list and sets no limit to the work.
    pub fn new(began: &'a mut Lane, ended: &'a mut Vec<Pair>) -> EventSink<'a> {
        EventSink { began, ended, slots: None, tests: 0, swaps: 0, budget: u64::MAX }
    }

    /// The same sink for boxes that have numbers; `slots` says who they are.
    pub fn named(self, slots: &'a [u32]) -> EventSink<'a> {
        EventSink { slots: Some(slots), ..self }
    }

    #[inline]
    fn slot(&self, number: u32) -> u32 {
        self.slots.map_or(number, |slots| slots[number as usize])
    }

    /// Notes a pair that began.
    #[inline]
    pub fn begin(&mut self, one: u32, other: u32) -> Result<(), Stop> {
        Ok(self.began.push(self.slot(one), self.slot(other))?)
    }

    /// Notes a pair that ended.
    #[inline]
    pub fn end(&mut self, one: u32, other: u32) {
        let (one, other) = (self.slot(one), self.slot(other));
        self.ended.push(Pair::new(BoxId::new(one), BoxId::new(other)));
    }

    /// Stops where the budget is spent.
    #[inline(always)]
    pub fn check_budget(&self) -> Result<(), Stop> {
        if self.swaps + self.tests > self.budget { Err(Stop::Budget) } else { Ok(()) }
    }
}
