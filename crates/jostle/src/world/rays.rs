//! Rays against the shapes of a shared world.
//!
//! Boxes are f32 and rays are f64, so a ray is cast at the boxes in stretches: each begins at a
//! point of the true ray, and is as thick as its rounded direction may be wrong at its end. The
//! first stretches are short, hence thin. An endless ray has sixteen, of which those beyond all
//! boxes cost one look at the root of the tree.

use super::id::BodyId;
use super::queries::ShapeQueries;
use crate::aabb::{Aabb, round_up};
use crate::filter::Filter;
use crate::narrow::{Placed, Query, Ray, RayHit};
use crate::queries::Cast;
use crate::shape::LIMIT;

/// A body that a ray meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyHit {
    /// The body.
    pub id: BodyId,
    /// Where; [`RayHit::piece`] is the piece of a compound.
    pub hit: RayHit,
}

/// How far the first stretch goes, along the axis on which the ray is fastest.
const FIRST: f64 = 1e3;
/// How much further each stretch goes than the one before.
const GROWTH: f64 = 1e4;
/// No box is further away than this along an axis.
const FURTHEST: f64 = 4.0 * LIMIT;
/// Twice the error of a direction whose largest component is 1, rounded to f32.
const LEAN: f64 = 1.2e-7;

/// A part of a ray, by lengths along its fastest axis.
struct Stretch {
    cast: Cast,
    from: f64,
    to: f64,
    slack: f64,
}

/// Rays.
impl ShapeQueries<'_> {
    /// The body that a ray meets first, the lower id among equals. In a flat world, too, rays see
    /// the shapes themselves and not their shadows.
    ///
    /// ```
    /// use jostle::narrow::Ray;
    /// use jostle::shape::{Pose, Shape};
    /// use jostle::{Body, Filter, World};
    ///
    /// let mut world = World::default();
    /// let ball = |x: f64| Ok::<_, jostle::Error>(
    ///     Body::new(Shape::sphere(1.0)?, Pose::at([x, 0.0, 0.0])?));
    /// let ids = world.insert_all(vec![ball(9.0)?, ball(5.0)?])?;
    /// world.step()?;
    /// let ray = Ray::new([0.0; 3].into(), [1.0, 0.0, 0.0].into())?;
    /// let first = world.shapes().first_hit(&ray, &Filter::ALL).unwrap();
    /// assert_eq!((first.id, first.hit.time), (ids[1], 4.0));
    /// assert_eq!(world.shapes().hits(&ray, &Filter::ALL).len(), 2);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    #[must_use]
    pub fn first_hit(&self, ray: &Ray, filter: &Filter) -> Option<BodyHit> {
        let mut query = Query::default();
        let mut best: Option<BodyHit> = None;
        let pace = ray.direction().abs().max_element();
        for Stretch { cast, from, to, slack } in self.stretches(ray) {
            for candidate in self.boxes.hits(&cast, filter) {
                let reached = from + candidate.enter - 2.0 * slack;
                if best.is_some_and(|best| reached > best.hit.time * pace) {
                    break;
                }
                let until = best.map_or(ray.limit(), |best| best.hit.time);
                let id = BodyId::new(candidate.id);
                let Some(hit) = query.cast_ray(&self.seen(id), &ray.until(until)) else { continue };
                if best.is_none_or(|best| (hit.time, id) < (best.hit.time, best.id)) {
                    best = Some(BodyHit { id, hit });
                }
            }
            if best.is_some_and(|best| best.hit.time * pace + slack < to) {
                break;
            }
        }
        best
    }

    /// Every body that a ray meets, each where it is met first, in the order of the ray; the lower
    /// id among equals.
    #[must_use]
    pub fn hits(&self, ray: &Ray, filter: &Filter) -> Vec<BodyHit> {
        let found = self.stretches(ray).flat_map(|part| self.boxes.hits(&part.cast, filter));
        let mut candidates: Vec<BodyId> = found.map(|hit| BodyId::new(hit.id)).collect();
        candidates.sort_unstable();
        candidates.dedup();
        let mut query = Query::default();
        let met = |id: BodyId| {
            let hit = query.cast_ray(&self.seen(id), ray)?;
            Some(BodyHit { id, hit })
        };
        let mut hits: Vec<BodyHit> = candidates.into_iter().filter_map(met).collect();
        hits.sort_by(|one, other| one.hit.time.total_cmp(&other.hit.time));
        hits
    }

    /// The body where the last step left it.
    fn seen(&self, id: BodyId) -> Placed<'_> {
        let (bodies, slot) = (&self.world.bodies, id.index());
        Placed::new(&bodies.shapes[slot], bodies.starts[slot])
    }

    /// Casts that touch every box which the ray touches.
    fn stretches(&self, ray: &Ray) -> impl Iterator<Item = Stretch> {
        let frame = *self.world.bodies.frame();
        let pace = ray.direction().abs().max_element();
        let mut direction = if pace > 0.0 { ray.direction() / pace } else { ray.direction() };
        let length = if pace > 0.0 { (ray.limit() * pace).min(FURTHEST) } else { 0.0 };
        let mut origin = ray.origin() - frame.origin;
        if frame.flat {
            (direction.z, origin.z) = (0.0, 0.0);
        }
        // A limit below zero, or NaN, compares false.
        let mut next = (ray.limit() >= 0.0).then_some((0.0, FIRST));
        std::iter::from_fn(move || {
            let (from, to) = next?;
            next = (to < length).then_some((to, to * GROWTH));
            let to = length.min(to);
            let start = origin + direction * from;
            let far = start.abs().max_element() + ray.origin().abs().max_element();
            let slack = LEAN * (to - from) + 1e-13 * far;
            let start = Aabb::from_f64((start - slack).to_array(), (start + slack).to_array());
            let limit = round_up((to - from) + slack);
            let cast = Cast { start, direction: direction.as_vec3().to_array(), limit };
            Some(Stretch { cast, from, to, slack })
        })
    }
}
