//! [`Passing`]: an endpoint that passed others, and what comes of it.
//!
//! Whoever sorts first looks how far the endpoint goes, then shows what it passes here in a row. How
//! far cannot be foretold, so the loop that looks ends with a branch that is missed; the loop that
//! tests has the same length and is foretold. One loop for both took a fifth more time; shifting in
//! the loop that looks instead of in the one that tests, a twentieth more.

use crate::aabb::Aabb;
use crate::broad::endpoint::Endpoint;
use crate::broad::past::{EventSink, Judge, Stop};
use crate::simd::probe::Probe;

/// An endpoint that passes others on the axis at `place`.
pub(crate) struct Passing<'p, 'j, 's> {
    endpoint: Endpoint,
    /// Lower ends come to lie behind upper ones: pairs may end; otherwise they may begin.
    parts: bool,
    place: usize,
    probe: Probe,
    /// The bounds that decide whether a pair may be concerned: of the past where it may end.
    bounds: &'j [Aabb],
    judge: &'p Judge<'j>,
    sink: &'p mut EventSink<'s>,
}

impl<'p, 'j, 's> Passing<'p, 'j, 's> {
    /// On its way left, past larger ones.
    #[inline(always)]
    pub fn leftward(
        endpoint: Endpoint,
        place: usize,
        judge: &'p Judge<'j>,
        sink: &'p mut EventSink<'s>,
    ) -> Self {
        Passing::new(endpoint, endpoint.is_upper(), place, judge, sink)
    }

    /// On its way right, past smaller ones.
    #[inline(always)]
    pub fn rightward(
        endpoint: Endpoint,
        place: usize,
        judge: &'p Judge<'j>,
        sink: &'p mut EventSink<'s>,
    ) -> Self {
        Passing::new(endpoint, !endpoint.is_upper(), place, judge, sink)
    }

    #[inline(always)]
    fn new(
        endpoint: Endpoint,
        parts: bool,
        place: usize,
        judge: &'p Judge<'j>,
        sink: &'p mut EventSink<'s>,
    ) -> Self {
        let bounds = if parts { judge.then() } else { judge.now() };
        let probe = Probe::new(&bounds[endpoint.slot() as usize]);
        Passing { endpoint, parts, place, probe, bounds, judge, sink }
    }

    /// The endpoint that passes.
    #[inline(always)]
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// Passes these. Those of its own kind are tested too, though they change nothing: a branch on
    /// the kind is taken at random, and missing it costs more than the test. Few of those that are
    /// passed overlap in all dimensions.
    #[inline(always)]
    pub fn pass(&mut self, others: &[Endpoint]) -> Result<(), Stop> {
        self.count(others.len());
        // Copies, which stay in registers: the rare call below may change `self`.
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
    pub fn pass_left(&mut self, run: &mut [Endpoint]) -> Result<(), Stop> {
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
    pub fn pass_right(&mut self, run: &mut [Endpoint]) -> Result<(), Stop> {
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
    fn event(&mut self, other: Endpoint) -> Result<(), Stop> {
        if !self.endpoint.opposes(other) {
            return Ok(());
        }
        let (one, other) = (self.endpoint.slot(), other.slot());
        let (lower, upper) = if self.endpoint.is_upper() { (other, one) } else { (one, other) };
        if !self.parts {
            if self.judge.gains(self.place, lower, upper) {
                return self.sink.begin(lower, upper);
            }
        } else if self.judge.loses(self.place, lower, upper) {
            self.sink.end(lower, upper);
        }
        Ok(())
    }
}
