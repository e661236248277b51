//! The narrow phase on one pair.

use super::bodies::Bodies;
use super::deal::Lane;
use super::pairs::PairState;
use super::sweep::SPAN;
use super::touch::Touch;
use crate::narrow::{
    self, Contact, Impact, ImpactStatus, ManifoldPoint, Moving, Options, PairCache,
};
use crate::shape::Shape;

/// What is found out about pairs that touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Depth, normal and a point on either body.
    #[default]
    Contact,
    /// A contact manifold of up to four points as well.
    Manifold,
}

/// What all pairs of a step share.
pub(super) struct Task<'a> {
    pub bodies: &'a Bodies,
    pub detail: Detail,
    pub continuous: bool,
}

/// Whether a pair has to be asked anew.
#[inline]
pub(super) fn is_due(bodies: &Bodies, state: &PairState) -> bool {
    let (a, b) = (state.pair.a().index(), state.pair.b().index());
    state.fresh | bodies.active[a] | bodies.active[b]
}

impl Task<'_> {
    pub fn is_due(&self, state: &PairState) -> bool {
        is_due(self.bodies, state)
    }

    pub fn shapes(&self, state: &PairState) -> (&Shape, &Shape) {
        let shapes = &self.bodies.shapes;
        (&shapes[state.pair.a().index()], &shapes[state.pair.b().index()])
    }

    /// Asks about one pair and writes what it touches into the lane.
    pub fn answer(&self, state: &mut PairState, lane: &mut Lane) {
        lane.work.pairs += 1;
        let was_apart = !state.rests;
        let first = lane.points.len();
        let now = self.contact_now(state, &mut lane.points);
        state.rests = now.is_some();
        let on_way = if self.continuous && was_apart { self.meeting(state, &now) } else { None };
        let (time, contact) = match (on_way, now) {
            (Some((time, contact)), _) => (time, contact),
            (None, Some(contact)) => (1.0, contact),
            (None, None) => return,
        };
        let (first, points) = (first as u32, (lane.points.len() - first) as u32);
        let touch = Touch { pair: state.pair, time, contact, first, points };
        lane.found.push((state.index, touch));
    }

    /// The contact where the bodies are now.
    fn contact_now(&self, state: &mut PairState, out: &mut Vec<ManifoldPoint>) -> Option<Contact> {
        let (a, b) = (state.pair.a().index(), state.pair.b().index());
        let Bodies { shapes, poses, .. } = self.bodies;
        let (options, mut unused) = (Options::default(), PairCache::unused());
        let cache = state.cache.as_deref_mut().unwrap_or(&mut unused);
        let (a, at_a, b, at_b) = (&shapes[a], &poses[a], &shapes[b], &poses[b]);
        match self.detail {
            Detail::Contact => {
                narrow::contact_within_cached(a, at_a, b, at_b, 0.0, &options, cache)
            }
            Detail::Manifold => {
                let manifold = narrow::manifold_cached(a, at_a, b, at_b, 0.0, &options, cache)?;
                out.extend_from_slice(manifold.points());
                Some(manifold.contact)
            }
        }
    }

    /// When and how bodies that were apart met on their way, as a share of the step.
    fn meeting(&self, state: &PairState, now: &Option<Contact>) -> Option<(f64, Contact)> {
        let (a, b) = (state.pair.a().index(), state.pair.b().index());
        let (way_a, way_b) = (self.bodies.way(a), self.bodies.way(b));
        let (of_a, of_b) = (way_a.motion(), way_b.motion());
        if of_a == of_b && !way_a.turns() {
            return None;
        }
        let shapes = &self.bodies.shapes;
        let one = Moving { shape: &shapes[a], pose: way_a.start(), motion: &of_a };
        let other = Moving { shape: &shapes[b], pose: way_b.start(), motion: &of_b };
        let Impact { time, status, contact, .. } = narrow::time_of_impact(&one, &other, SPAN);
        let turns = way_a.turns() || way_b.turns();
        let closes = turns || (way_a.linear - way_b.linear).dot(contact.normal) > 0.0;
        match status {
            ImpactStatus::Hit => Some(((time / SPAN).min(1.0), contact)),
            // Nothing is known after that time: calling it a touch is the safe side.
            ImpactStatus::StepLimit => Some(((time / SPAN).min(1.0), contact)),
            // So near at the start that the search cannot tell it from a touch: what closes in, meets.
            ImpactStatus::AtStart if now.is_none() && closes => Some((0.0, contact)),
            ImpactStatus::AtStart | ImpactStatus::Miss => None,
        }
    }
}
