//! [`PairTest`]: the narrow phase on one pair.

use super::bodies::Bodies;
use super::pairs::{NONE, PairState};
use super::results::WorkerResults;
use super::sweep::SPAN;
use super::touch::Touch;
use crate::narrow::{Contact, IMPACT_GAP, Impact, ImpactStatus, Options, PairCache, size_of};
use crate::shape::Shape;

/// What is found out about pairs that touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Detail {
    /// Depth, normal and a point on either body.
    #[default]
    Contact,
    /// A contact manifold of up to four points as well.
    Manifold,
}

/// Shapes whose time of impact is not found within the step limit touch if they are this near at
/// the end of the search, relative to their size.
const NEARLY: f64 = 1e-6;

/// What all pairs of a step share.
pub(super) struct PairTest<'a> {
    pub bodies: &'a Bodies,
    pub detail: Detail,
    pub continuous: bool,
    pub options: Options,
}

/// Returns true if a pair has to be tested again.
#[inline]
pub(super) fn is_due(bodies: &Bodies, state: &PairState) -> bool {
    let (a, b) = (state.pair.a().index(), state.pair.b().index());
    state.fresh | bodies.active[a] | bodies.active[b]
}

impl PairTest<'_> {
    pub(crate) fn is_due(&self, state: &PairState) -> bool {
        is_due(self.bodies, state)
    }

    pub(crate) fn shapes(&self, state: &PairState) -> (&Shape, &Shape) {
        let shapes = &self.bodies.shapes;
        (&shapes[state.pair.a().index()], &shapes[state.pair.b().index()])
    }

    /// Tests one pair and writes its touch, if there is one, into the worker's results.
    pub(crate) fn answer(&self, state: &mut PairState, own: &mut WorkerResults) {
        own.stats.pairs += 1;
        own.touched += usize::from(state.touch != NONE);
        let was_apart = !state.rests;
        let first = own.points.len();
        let now = self.contact_now(state, own);
        state.rests = now.is_some();
        let meets = self.continuous && was_apart;
        let on_the_way = if meets { self.meeting(state, &now, own, first) } else { None };
        let (time, contact) = match (on_the_way, now) {
            (Some((time, contact)), _) => (time, contact),
            (None, Some(contact)) => (1.0, contact),
            (None, None) => return,
        };
        let (first, points) = (first as u32, (own.points.len() - first) as u32);
        let pair = self.bodies.pair(state.pair);
        let touch = Touch { pair, time, contact, first, points };
        own.found.push((state.index, touch));
    }

    /// The contact where the bodies are now.
    fn contact_now(&self, state: &mut PairState, own: &mut WorkerResults) -> Option<Contact> {
        let [a, b] = [state.pair.a(), state.pair.b()].map(|id| self.bodies.placed(id.index()));
        let mut none = PairCache::none();
        let cache = state.cache.as_deref_mut().unwrap_or(&mut none);
        match self.detail {
            Detail::Contact => own.query.contact_within(&a, &b, 0.0, cache),
            Detail::Manifold => {
                let manifold = own.query.manifold(&a, &b, 0.0, cache)?;
                own.points.extend_from_slice(manifold.points());
                Some(manifold.contact)
            }
        }
    }

    /// When and how bodies that were apart met on their way, as a share of the step. The points
    /// from `first` on, of where the bodies are now, give way to those of that time.
    fn meeting(
        &self,
        state: &PairState,
        now: &Option<Contact>,
        own: &mut WorkerResults,
        first: usize,
    ) -> Option<(f64, Contact)> {
        let [a, b] = [state.pair.a(), state.pair.b()].map(|id| self.bodies.sweep(id.index()));
        if a.motion() == b.motion() && !a.turns() {
            return None;
        }
        let (shape_a, shape_b) = self.shapes(state);
        own.impact.clear();
        let (moving_a, moving_b) = (a.moving(shape_a), b.moving(shape_b));
        let Impact { time, status, contact, .. } =
            own.query.time_of_impact(&moving_a, &moving_b, SPAN, &mut own.impact);
        let turns = a.turns() || b.turns();
        let closes = turns || (a.linear - b.linear).dot(contact.normal) > 0.0;
        let size = size_of(shape_a, shape_b);
        let meets = match status {
            ImpactStatus::Hit => true,
            // A step turns bodies by half a turn at most, and thousands of measurements with gaps
            // beyond this lead through it: what is left passes nearer, and touches as far as can
            // be told.
            ImpactStatus::StepLimit => contact.distance <= NEARLY * size,
            // So near at the start that the search cannot tell it from a touch: what closes in,
            // meets.
            ImpactStatus::AtStart => now.is_none() && closes,
            ImpactStatus::Miss => false,
        };
        if !meets {
            return None;
        }
        own.points.truncate(first);
        if self.detail == Detail::Manifold {
            let reach = contact.distance + IMPACT_GAP * contact.distance;
            let (at_a, at_b) = (moving_a.at(time), moving_b.at(time));
            let none = &mut PairCache::none();
            if let Some(manifold) = own.query.manifold(&at_a, &at_b, reach, none) {
                own.points.extend_from_slice(manifold.points());
            }
        }
        Some(((time / SPAN).min(1.0), contact))
    }
}
