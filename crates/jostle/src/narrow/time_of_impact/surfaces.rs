//! Moving shapes against meshes and height fields, and these against each other.
//!
//! The motion is cut into spans in which the shape moves by about its own size, as the surface sees
//! it. The triangles near the ball that holds the shape during a span are asked for their own times
//! of impact, one by one, and the first span with a hit ends the search. Each triangle is searched
//! by conservative advancement, so that nothing is stepped over, however fast.
//!
//! Only surfaces are met on the way: a shape inside a solid is there from the start.

use super::super::cache::PairCache;
use super::super::placed::Placed;
use super::super::query::Query;
use super::super::surface::Surface;
use super::{ImpactStatus, Moving};
use crate::shape::Shape;
use glam::DVec3;

/// Most spans of a motion.
const SPANS: f64 = 4096.0;

/// The first impact so far.
struct First {
    status: ImpactStatus,
    time: f64,
    steps: u32,
}

impl Query {
    /// The first time at which a moving surface and a moving shape touch; the surface may be
    /// either.
    pub(super) fn surface_impact(
        &mut self,
        a: &Moving<'_>,
        b: &Moving<'_>,
        duration: f64,
    ) -> (ImpactStatus, f64, u32) {
        // A solid may hold the other without a triangle near it.
        if self.intersects(&a.start, &b.start, &mut PairCache::none()).hit {
            return (ImpactStatus::AtStart, 0.0, 1);
        }
        let mut first = First { status: ImpactStatus::Miss, time: duration, steps: 1 };
        if a.start.shape.is_surface() {
            self.search(a, b, duration, &mut first);
        } else {
            self.search(b, a, duration, &mut first);
        }
        (first.status, first.time, first.steps)
    }

    fn search(
        &mut self,
        surface: &Moving<'_>,
        other: &Moving<'_>,
        duration: f64,
        best: &mut First,
    ) {
        let Some(triangles) = Surface::of(surface.start.shape) else { return };
        let spans = Spans::new(surface, other, duration, self.options().margin);
        for number in 0..spans.count {
            let (from, to) = (spans.time(number), spans.time(number + 1).min(best.time));
            if from >= best.time && number > 0 {
                return;
            }
            let (center, reach) = spans.ball(from, to);
            triangles.near(center, center, reach, |_, corners| {
                let points = Shape::Triangle { points: *corners };
                let at = |moving: &Moving<'_>| moving.at(from).pose;
                let triangle = Moving::new(Placed::new(&points, at(surface)), surface.motion);
                let later = Moving::new(Placed::new(other.start.shape, at(other)), other.motion);
                let left = best.time.min(to) - from;
                if later.start.shape.is_surface() {
                    let mut own = First { status: ImpactStatus::Miss, time: left, steps: 0 };
                    self.search(&later, &triangle, left, &mut own);
                    best.take(own, from, left);
                } else {
                    let none = &mut PairCache::none();
                    let (status, time, steps) = self.advance(&triangle, &later, left, none);
                    best.take(First { status, time, steps }, from, left);
                }
                reach
            });
            if best.status != ImpactStatus::Miss {
                return;
            }
        }
    }
}

impl First {
    /// Takes an impact of a span that begins at `from`, if it comes first.
    fn take(&mut self, found: First, from: f64, left: f64) {
        self.steps = self.steps.saturating_add(found.steps);
        if found.status == ImpactStatus::Miss {
            return;
        }
        let time = from + found.time.min(left);
        if self.status == ImpactStatus::Miss || time < self.time {
            self.time = time;
            self.status = match found.status {
                // Nothing was met until then.
                ImpactStatus::AtStart if from > 0.0 => ImpactStatus::Hit,
                status => status,
            };
        }
    }
}

/// A motion in parts, as a surface sees it.
struct Spans<'a> {
    surface: &'a Moving<'a>,
    other: &'a Moving<'a>,
    duration: f64,
    count: u32,
    radius: f64,
}

impl<'a> Spans<'a> {
    fn new(
        surface: &'a Moving<'a>,
        other: &'a Moving<'a>,
        duration: f64,
        margin: f64,
    ) -> Spans<'a> {
        let radius = other.start.shape.bounding_radius() + margin;
        let mut spans = Spans { surface, other, duration, count: 1, radius };
        let (_, reach) = spans.ball(0.0, duration);
        let many = ((reach - radius) / radius).ceil();
        // One if there is no motion.
        spans.count = if many > 1.0 { many.min(SPANS) as u32 } else { 1 };
        spans
    }

    fn time(&self, number: u32) -> f64 {
        if number == self.count {
            return self.duration;
        }
        self.duration * (f64::from(number) / f64::from(self.count))
    }

    /// A ball in the frame of the surface that holds the shape from one time to another.
    fn ball(&self, from: f64, to: f64) -> (DVec3, f64) {
        let middle = from + 0.5 * (to - from);
        let (at, there) = (self.surface.at(middle), self.other.at(middle));
        let center = at.pose.inverse_apply(there.pose.apply(there.shape.center()));
        let (surface, other) = (&self.surface.motion, &self.other.motion);
        let straight = (other.linear() - surface.linear()).length();
        // A surface that turns moves the other past it, the faster, the further away it is.
        let time = 0.5 * (to - from);
        let far = center.length() + straight * time;
        let turning = other.angular().length() * there.shape.center().length()
            + surface.angular().length() * far;
        let moved = (straight + turning) * time;
        (center, self.radius + moved * (1.0 + 1e-9) + 1e-9 * (self.radius + center.length()))
    }
}
