//! What the sorts of all endpoint lists share: [`AxisSort`], the sort of one axis, and
//! [`Passing`], an endpoint that passes others and what follows from it.
//!
//! A sort first looks how far an endpoint goes, then shows all that it passes in one run. How far
//! is unpredictable, so the loop that looks ends with a mispredicted branch; the loop that tests
//! has the same length and is predicted. One loop for both took a fifth more time. Flat lists shift
//! the passed endpoints in the loop that looks ([`AxisSort::sift_left`]), chunked lists in the loop
//! that tests ([`Passing::pass_left`]); for those, shifting while looking took a twentieth more.

use crate::aabb::Aabb;
use crate::simd::probe::Probe;

use super::endpoint::Endpoint;
use super::judge::{EventSink, FollowResult, PairJudge};

/// How endpoint lists are sorted after boxes moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Local if few boxes moved, global if many did.
    #[default]
    Auto,
    /// Always the endpoints of the moved boxes alone.
    Local,
    /// Always a pass over all endpoints.
    Global,
}

impl Sort {
    /// Returns true if the local sort is due, for which `Auto` wants fewer than one moved box in
    /// `share`.
    pub(crate) fn is_local(self, moved: usize, boxes: usize, share: usize) -> bool {
        match self {
            Sort::Local => true,
            Sort::Global => false,
            Sort::Auto => moved * share < boxes,
        }
    }
}

/// The sort of one axis: who judges the pairs it meets, and who takes their events.
pub(crate) struct AxisSort<'p, 'j, 's> {
    /// The place of the axis in the order of precedence.
    pub place: usize,
    pub judge: &'p PairJudge<'j>,
    pub sink: &'p mut EventSink<'s>,
}

impl<'j, 's> AxisSort<'_, 'j, 's> {
    /// The axis.
    #[inline(always)]
    pub(crate) fn axis(&self) -> usize {
        self.judge.axis(self.place)
    }

    /// An endpoint on its way left, past larger ones.
    #[inline(always)]
    pub(crate) fn leftward(&mut self, endpoint: Endpoint) -> Passing<'_, 'j, 's> {
        self.passing(endpoint, endpoint.is_upper())
    }

    /// An endpoint on its way right, past smaller ones.
    #[inline(always)]
    pub(crate) fn rightward(&mut self, endpoint: Endpoint) -> Passing<'_, 'j, 's> {
        self.passing(endpoint, !endpoint.is_upper())
    }

    #[inline(always)]
    fn passing(&mut self, endpoint: Endpoint, separates: bool) -> Passing<'_, 'j, 's> {
        let AxisSort { place, judge, sink } = self;
        let bounds = if separates { judge.then() } else { judge.now() };
        let probe = Probe::new(&bounds[endpoint.slot() as usize]);
        Passing { endpoint, separates, place: *place, probe, bounds, judge, sink }
    }

    /// Moves the endpoint at `at` of a flat list left past every larger one.
    #[inline(always)]
    pub(crate) fn sift_left(
        &mut self,
        list: &mut [Endpoint],
        at: usize,
        endpoint: Endpoint,
    ) -> FollowResult {
        let mut to = at;
        while to > 0 && list[to - 1] > endpoint {
            list[to] = list[to - 1];
            to -= 1;
        }
        list[to] = endpoint;
        self.leftward(endpoint).pass(&list[to + 1..=at])
    }

    /// Gives the endpoint at `at` of a flat list its current value and sifts it left.
    #[inline(always)]
    pub(crate) fn renew(&mut self, list: &mut [Endpoint], at: usize) -> FollowResult {
        let endpoint = list[at].renewed(self.judge.now(), self.axis());
        list[at] = endpoint;
        if at > 0 && list[at - 1] > endpoint {
            self.sift_left(list, at, endpoint)?;
        }
        Ok(())
    }
}

/// An endpoint that passes others on the axis at `place`.
pub(crate) struct Passing<'p, 'j, 's> {
    endpoint: Endpoint,
    /// Lower endpoints come to lie behind upper ones: pairs may end; otherwise they may begin.
    separates: bool,
    place: usize,
    probe: Probe,
    /// The bounds that tell whether a pair may be concerned: the previous ones if it may end.
    bounds: &'j [Aabb],
    judge: &'p PairJudge<'j>,
    sink: &'p mut EventSink<'s>,
}

impl Passing<'_, '_, '_> {
    /// The endpoint that passes.
    #[inline(always)]
    pub(crate) fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// Passes these endpoints. Those of its own kind are tested as well, though they change
    /// nothing: a branch on the kind is taken at random, and mispredicting it costs more than the
    /// test. Few of the boxes that are passed overlap in all dimensions.
    #[inline(always)]
    pub(crate) fn pass(&mut self, others: &[Endpoint]) -> FollowResult {
        self.count(others.len());
        // Copies stay in registers: the rare call below may change `self`.
        let (probe, bounds) = (self.probe, self.bounds);
        for &other in others {
            if probe.overlaps(&bounds[other.slot() as usize]) {
                self.event(other)?;
            }
        }
        self.sink.check_budget()
    }

    /// Passes all but the first of these and moves each to the place before it.
    #[inline(always)]
    pub(crate) fn pass_left(&mut self, run: &mut [Endpoint]) -> FollowResult {
        self.count(run.len() - 1);
        let (probe, bounds) = (self.probe, self.bounds);
        for at in 1..run.len() {
            let other = run[at];
            run[at - 1] = other;
            if probe.overlaps(&bounds[other.slot() as usize]) {
                self.event(other)?;
            }
        }
        self.sink.check_budget()
    }

    /// Passes all but the last of these, from the last to the first, and moves each to the place
    /// behind it.
    #[inline(always)]
    pub(crate) fn pass_right(&mut self, run: &mut [Endpoint]) -> FollowResult {
        self.count(run.len() - 1);
        let (probe, bounds) = (self.probe, self.bounds);
        for at in (1..run.len()).rev() {
            let other = run[at - 1];
            run[at] = other;
            if probe.overlaps(&bounds[other.slot() as usize]) {
                self.event(other)?;
            }
        }
        self.sink.check_budget()
    }

    #[inline(always)]
    fn count(&mut self, passed: usize) {
        self.sink.swaps += passed as u64;
        self.sink.tests += passed as u64;
    }

    #[cold]
    #[inline(never)]
    fn event(&mut self, other: Endpoint) -> FollowResult {
        if !self.endpoint.opposes(other) {
            return Ok(());
        }
        let (one, other) = (self.endpoint.slot(), other.slot());
        let (lower, upper) = if self.endpoint.is_upper() { (other, one) } else { (one, other) };
        if !self.separates {
            if self.judge.gains(self.place, lower, upper) {
                return self.sink.begin(lower, upper);
            }
        } else if self.judge.loses(self.place, lower, upper) {
            self.sink.end(lower, upper);
        }
        Ok(())
    }
}
