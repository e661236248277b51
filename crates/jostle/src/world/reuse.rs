//! [`Anchor`]: when the last answer of a pair still holds.
//!
//! Bodies at rest are never quite still: a solver moves them by millionths each step. Distance and
//! depth change by no more than the furthest motion of any point of one body as seen from the
//! other. So while that motion, since the answer was found and not since the last step, is at most
//! a given share of the pair's size, the answer is right to within it: the contact and its points
//! are carried along with the body that they were seen from, and nothing is asked. A pair is asked
//! as soon as the motion could turn a touch into a gap, a gap into a touch, or lead out of the
//! reach, so which pairs touch is always exact.
//!
//! What is used again depends on the poses alone, hence not on workers, schedules or broad phases.

use super::bodies::{Active, Bodies};
use super::pairs::{PairMemory, PairState, Told};
use crate::narrow::{Ball, Contact, Placed, TOUCH, relative};
use crate::shape::{Pose, PoseMatrix, Shape};
use glam::DVec3;

/// What an answer was found for.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    /// Where the other body was, in the frame of the one it was seen from.
    relative: PoseMatrix,
    /// Where that one was when the answer was last carried along.
    seen_from: Pose,
    /// How much motion the answer stands.
    slack: f64,
}

/// The body that is seen from, first, and the other: that one must have a size.
fn ordered<'a>(a: Placed<'a>, b: Placed<'a>) -> (Placed<'a>, Placed<'a>) {
    if b.shape.is_bounded() { (a, b) } else { (b, a) }
}

fn ball(shape: &Shape) -> Ball {
    Ball { center: shape.center(), radius: shape.bounding_radius() }
}

impl Anchor {
    /// What may hold for an answer that was just found: at most `share` of the size, and short of
    /// changing what is told.
    pub(crate) fn new(
        a: Placed<'_>,
        b: Placed<'_>,
        contact: &Contact,
        told: Told,
        share: f64,
        reach: f64,
    ) -> Option<Anchor> {
        let radii = [a.shape, b.shape].map(Shape::bounding_radius);
        let bounded = |radius: f64| if radius.is_finite() { radius } else { 0.0 };
        let size = bounded(radii[0]) + bounded(radii[1]);
        let signed = contact.signed_distance();
        let touch = TOUCH * size * 2.0;
        let room = match told {
            Told::Touch => -signed - touch,
            Told::Near => (signed - touch).min(reach - signed),
            Told::Nothing | Told::Overlap => return None,
        };
        // A body on a large surface may move by a share of its own size only.
        let least = radii[0].min(radii[1]);
        let surface = a.shape.is_surface() || b.shape.is_surface();
        let slack = room.min(share * if surface { least } else { size });
        let (first, second) = ordered(a, b);
        // Infinite for two half-spaces.
        (slack > 0.0 && slack.is_finite()).then(|| Anchor {
            relative: relative(&first.pose, &second.pose),
            seen_from: first.pose,
            slack,
        })
    }
}

/// Carries the answer of a pair along, if it still holds, and returns true then.
pub(super) fn still_holds(bodies: &Bodies, state: &mut PairState) -> bool {
    let [a, b] = [state.pair.a(), state.pair.b()].map(|slot| slot.index());
    let changed = bodies.active[a] == Active::Changed || bodies.active[b] == Active::Changed;
    let Some(memory) = state.memory.as_deref_mut() else { return false };
    let warm = memory.warm.as_deref_mut().filter(|_| !changed);
    let Some(anchor) = warm.and_then(|warm| warm.anchor.as_mut()) else { return false };
    let (first, second) = ordered(bodies.placed(a), bodies.placed(b));
    let ball = ball(second.shape);
    // Most of what moves has moved too far in its middle alone, and the rest need not be asked.
    if ball.center == DVec3::ZERO {
        let offset = second.pose.translation() - first.pose.translation();
        let middle = first.pose.inverse_apply_vector(offset);
        if (middle - anchor.relative.translation).length() > anchor.slack {
            return false;
        }
    }
    let now = relative(&first.pose, &second.pose);
    if ball.moved(&anchor.relative, &now) > anchor.slack {
        return false;
    }
    let before = std::mem::replace(&mut anchor.seen_from, first.pose);
    if before != first.pose {
        carry(memory, &before, &first.pose);
    }
    true
}

/// Moves an answer as a body has moved.
fn carry(memory: &mut PairMemory, from: &Pose, to: &Pose) {
    let turn = PoseMatrix {
        rotation: glam::DMat3::from_quat(to.rotation() * from.rotation().conjugate()),
        translation: to.translation(),
    };
    let place = |point: DVec3| turn.apply(point - from.translation());
    let PairMemory { contact, points, .. } = memory;
    contact.normal = turn.apply_vector(contact.normal);
    contact.point_a = place(contact.point_a);
    contact.point_b = place(contact.point_b);
    for point in points.as_mut_slice() {
        point.normal = turn.apply_vector(point.normal);
        point.point_a = place(point.point_a);
        point.point_b = place(point.point_b);
    }
}
