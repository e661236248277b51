//! [`ShapeQueries`]: questions about the shapes of a shared world.
//!
//! The tree over the boxes finds candidates, the narrow phase decides. Answers are those of a loop
//! over all bodies, to the last bit, and ties go to the lower id.

use std::ops::ControlFlow;

use super::World;
use super::bounds::grown;
use super::id::BodyId;
use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::narrow::{
    Contact, Impact, ImpactStatus, Motion, Moving, Options, PairCache, Placed, Query,
};
use crate::queries::Queries;

/// A body near a shape, or in touch with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearBody {
    /// The body.
    pub id: BodyId,
    /// Distance or depth; the normal is from the shape asked about to the body.
    pub contact: Contact,
}

/// A body that a moving shape meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyImpact {
    /// The body.
    pub id: BodyId,
    /// When and how.
    pub impact: Impact,
}

/// Questions about the shapes of a world, from any number of threads. Made by [`World::shapes`].
///
/// Bodies are seen where the last step left them, those inserted since where they are. One that
/// was teleported or got another shape since may be missed until the next step. A query has a
/// filter as a body has, and finds the bodies that such a body could touch. In a flat world shapes
/// are seen as their shadows, as in its steps.
///
/// ```
/// use jostle::narrow::{Motion, Moving, Placed};
/// use jostle::shape::{Pose, Shape};
/// use jostle::{Body, Filter, World};
///
/// let mut world = World::default();
/// let ball = Shape::sphere(1.0)?;
/// let near = world.insert(Body::new(ball.clone(), Pose::at([3.0, 0.0, 0.0])?))?;
/// let far = world.insert(Body::new(ball.clone(), Pose::at([9.0, 1.0, 0.0])?))?;
/// world.step()?;
///
/// let probe = Placed::new(&ball, Pose::IDENTITY);
/// let shapes = world.shapes();
/// assert!(shapes.overlapping(&probe, &Filter::ALL).is_empty());
/// let closest = shapes.closest(&probe, f64::INFINITY, &Filter::ALL).unwrap();
/// assert_eq!((closest.id, closest.contact.distance), (near, 1.0));
/// let up = Moving::new(Placed::new(&ball, Pose::at([9.0, -9.0, 0.0])?),
///     Motion::new([0.0, 1.0, 0.0].into(), [0.0; 3].into())?);
/// let met = shapes.first_impact(&up, 20.0, &Filter::ALL).unwrap();
/// assert!(met.id == far && (met.impact.time - 8.0).abs() < 1e-6);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ShapeQueries<'a> {
    pub(super) world: &'a World,
    pub(super) boxes: Queries<'a>,
}

impl World {
    /// Questions about the shapes of bodies: see [`ShapeQueries`]. For questions about their boxes,
    /// which are cheaper, see [`World::queries`].
    pub fn shapes(&self) -> ShapeQueries<'_> {
        ShapeQueries { world: self, boxes: self.queries() }
    }
}

impl ShapeQueries<'_> {
    /// Bodies that touch a shape, ascending.
    #[must_use]
    pub fn overlapping(&self, shape: &Placed<'_>, filter: &Filter) -> Vec<BodyId> {
        let mut query = self.query();
        let mut found = Vec::new();
        self.visit(&self.bounds(shape, 0.0), filter, |id, body| {
            if query.intersects(shape, &body, &mut PairCache::none()).hit {
                found.push(id);
            }
        });
        found.sort_unstable();
        found
    }

    /// Bodies no farther from a shape than a distance, nearest first; those that touch come first,
    /// the deepest of them in front.
    #[must_use]
    pub fn within(&self, shape: &Placed<'_>, distance: f64, filter: &Filter) -> Vec<NearBody> {
        let mut query = self.query();
        let mut found = Vec::new();
        self.visit(&self.bounds(shape, distance), filter, |id, body| {
            let contact = query.contact_within(shape, &body, distance, &mut PairCache::none());
            found.extend(contact.map(|contact| NearBody { id, contact }));
        });
        found.sort_unstable_by(|one: &NearBody, other| {
            let [near, far] = [one, other].map(|body| body.contact.signed_distance());
            near.total_cmp(&far).then(one.id.cmp(&other.id))
        });
        found
    }

    /// The body nearest to a shape, or deepest in it, if there is one no farther than a distance.
    #[must_use]
    pub fn closest(&self, shape: &Placed<'_>, distance: f64, filter: &Filter) -> Option<NearBody> {
        // Wider and wider: most are found near, and the search for the whole world is the last.
        let radius = if shape.shape.is_bounded() { shape.shape.bounding_radius() } else { 0.0 };
        let mut reach = radius.max(1e-3).min(distance);
        loop {
            let found = self.within(shape, reach, filter).into_iter().next();
            if found.is_some() || reach >= distance {
                return found;
            }
            reach = if reach > 1e30 { distance } else { (8.0 * reach).min(distance) };
        }
    }

    /// The body that a moving shape meets first within a time, which must be finite. One that it
    /// touches at the start has the time 0.
    #[must_use]
    pub fn first_impact(
        &self,
        moving: &Moving<'_>,
        duration: f64,
        filter: &Filter,
    ) -> Option<BodyImpact> {
        let mut query = self.query();
        let mut best: Option<BodyImpact> = None;
        self.visit(&self.swept_bounds(moving, duration), filter, |id, body| {
            let until = best.map_or(duration, |best| best.impact.time);
            let still = Moving::new(body, Motion::STILL);
            let impact = query.time_of_impact(moving, &still, until, &mut PairCache::none());
            let meets = impact.status != ImpactStatus::Miss;
            let sooner = |best: BodyImpact| (impact.time, id) < (best.impact.time, best.id);
            if meets && best.is_none_or(sooner) {
                best = Some(BodyImpact { id, impact });
            }
        });
        best
    }

    fn query(&self) -> Query {
        Query::new(Options::default().with_flat(self.world.bodies.frame().flat))
    }

    /// Calls `visit` with each body whose box overlaps another.
    fn visit(&self, aabb: &Aabb, filter: &Filter, mut visit: impl FnMut(BodyId, Placed<'_>)) {
        let bodies = &self.world.bodies;
        let _ = self.boxes.visit_overlapping(aabb, filter, |id| {
            let slot = id.index();
            visit(BodyId::new(id), Placed::new(&bodies.shapes[slot], bodies.starts[slot]));
            ControlFlow::Continue(())
        });
    }

    fn bounds(&self, shape: &Placed<'_>, distance: f64) -> Aabb {
        let frame = self.world.bodies.frame();
        // Boxes of bodies have their share of the tolerance; this has its own.
        let margin = frame.margin(shape.shape) + distance.max(0.0);
        if !margin.is_finite() {
            return Aabb::EVERYTHING;
        }
        frame.bounds(shape.shape, &shape.pose, margin)
    }

    /// A box around a motion: the ball around a shape that turns goes straight.
    fn swept_bounds(&self, moving: &Moving<'_>, duration: f64) -> Aabb {
        let (start, end) = (&moving.start, moving.at(duration));
        let both = self.bounds(start, 0.0).union(&self.bounds(&end, 0.0));
        if moving.motion.angular() == glam::DVec3::ZERO || !start.shape.is_bounded() {
            return both;
        }
        let reach = 2.0 * (start.shape.center().length() + start.shape.bounding_radius());
        grown(&both, reach)
    }
}
