//! Rays and segments against a shape: when they first meet it, where, and the normal there.
//!
//! Every shape is seen along the line of the ray, which is inside a convex one for one stretch.
//! Spheres, boxes, capsules, cylinders, ellipsoids, half-spaces and triangles give that stretch in
//! closed form; a hull of few faces does by the planes of its faces. For all others the signed
//! distance along the line is a convex function, and Newton's method from outside climbs to its
//! root without ever passing it (`newton.rs`): a large hull takes some dozens of support searches.
//! All of it happens in the frame of the shape, beginning at the point of the line nearest to its
//! middle, so that a ray from far away loses no more than the rounding of that one point.
//!
//! **What is promised.** With the tolerance of [`TOUCH`](super::TOUCH) times the shape's radius
//! plus 1e-14 of the distance of the ray's origin: a hit lies within the tolerance of the surface,
//! a ray that comes deeper into the shape than the tolerance hits it, one that passes further away
//! misses it, and between them either may be said. Shapes without thickness (points, segments,
//! discs seen edge on) are hit if the ray passes within the tolerance.
//!
//! | file | holds |
//! |---|---|
//! | `closed.rs` | the shapes with closed forms |
//! | `planes.rs` | hulls, clipped by the planes of their faces |
//! | `newton.rs` | everything else convex |
//! | `surface.rs` | meshes and height fields |

mod closed;
mod newton;
mod planes;
mod surface;

use super::pieces;
use super::placed::Placed;
use super::point::{SurfacePart, unit_or};
use super::query::Query;
use crate::shape::{Compound, Shape, ShapeError, check_point};
use glam::DVec3;

/// A ray or a segment: at time `t` it is at `origin + t * direction`, for `t` from 0 to a limit.
///
/// ```
/// use jostle::narrow::{Placed, Ray, cast_ray};
/// use jostle::shape::{Pose, Shape};
///
/// let ball = Shape::sphere(1.0)?;
/// let ball = Placed::new(&ball, Pose::at([10.0, 0.0, 0.0])?);
/// let ray = Ray::new([0.0, 0.0, 0.0].into(), [2.0, 0.0, 0.0].into())?;
/// let hit = cast_ray(&ball, &ray).expect("it is in the way");
/// assert_eq!((hit.time, hit.point.x, hit.normal.x), (4.5, 9.0, -1.0));
/// assert!(cast_ray(&ball, &ray.until(4.0)).is_none());
///
/// // From inside: at once, or where it leaves.
/// let ray = Ray::segment([10.0, 0.0, 0.0].into(), [14.0, 0.0, 0.0].into())?;
/// assert_eq!(cast_ray(&ball, &ray).map(|hit| hit.time), Some(0.0));
/// assert_eq!(cast_ray(&ball, &ray.with_solid(false)).map(|hit| hit.time), Some(0.25));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    origin: DVec3,
    direction: DVec3,
    limit: f64,
    solid: bool,
}

impl Ray {
    /// An endless ray. The direction may have any length, which is the unit of time; a ray of
    /// direction zero stays where it is.
    pub fn new(origin: DVec3, direction: DVec3) -> Result<Ray, ShapeError> {
        check_point("origin", 0, origin)?;
        check_point("direction", 0, direction)?;
        Ok(Ray { origin, direction, limit: f64::INFINITY, solid: true })
    }

    /// The segment between two points, from time 0 to time 1.
    pub fn segment(from: DVec3, to: DVec3) -> Result<Ray, ShapeError> {
        check_point("from", 0, from)?;
        check_point("to", 0, to)?;
        Ok(Ray { origin: from, direction: to - from, limit: 1.0, solid: true })
    }

    /// This ray up to a time. With a limit below zero, or NaN, it meets nothing.
    #[must_use]
    pub const fn until(self, limit: f64) -> Ray {
        Ray { limit, ..self }
    }

    /// This ray with another answer for a start inside a shape: at once if shapes are solid, which
    /// is how rays are made; else where it leaves through the surface.
    #[must_use]
    pub const fn with_solid(self, solid: bool) -> Ray {
        Ray { solid, ..self }
    }

    /// Where it begins.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// How far it goes in one unit of time.
    pub fn direction(&self) -> DVec3 {
        self.direction
    }

    /// When it ends; may be infinite.
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Returns true if a start inside a shape is a hit at time zero.
    pub fn is_solid(&self) -> bool {
        self.solid
    }

    /// Where it is at a time.
    pub fn at(&self, time: f64) -> DVec3 {
        self.origin + self.direction * time
    }
}

/// Where a [`Ray`] meets a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// When, in units of the ray's direction.
    pub time: f64,
    /// Where.
    pub point: DVec3,
    /// Unit vector out of the shape there, also where the ray leaves it; against the ray for a
    /// start inside a solid one.
    pub normal: DVec3,
    /// The ray starts inside.
    pub inside: bool,
    /// The part of the surface that is hit; of no meaning for a start inside a solid shape.
    pub part: SurfacePart,
    /// The piece of a compound, or the triangle of a mesh or height field, that is hit; zero for
    /// other shapes.
    pub piece: usize,
}

/// The line of a ray in the frame of a shape, by the length along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The point of the line nearest to the middle of the shape.
    pub origin: DVec3,
    /// Of unit length.
    pub direction: DVec3,
    /// How near counts as touching: what the change of the frame may have lost.
    pub slack: f64,
    /// Where the ray starts, and how far before the line's origin that is.
    pub start: DVec3,
    pub shift: f64,
}

impl Line {
    pub(super) fn at(&self, place: f64) -> DVec3 {
        self.origin + self.direction * place
    }
}

/// A crossing of a line and a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// Length along the line.
    pub at: f64,
    /// Out of the shape.
    pub normal: DVec3,
    pub part: SurfacePart,
}

/// The stretch of a line inside a convex shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub enter: Crossing,
    pub leave: Crossing,
}

/// Rounding of a few operations on a length.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A convex shape and the part of the line that a ray covers.
struct Task<'a> {
    shape: &'a Shape,
    margin: f64,
    line: Line,
    /// Where on the line the ray starts and ends.
    start: f64,
    end: f64,
}

/// What a ray does to one convex shape.
enum Meeting {
    Miss,
    /// It starts inside.
    Inside,
    Hit(Crossing),
}

impl<'a> Task<'a> {
    /// The task in the frame of a shape; none if the line passes the shape's bounding sphere. The
    /// direction must be of unit length, `reach` is how far the ray goes.
    fn new(
        shape: &'a Shape,
        margin: f64,
        origin: DVec3,
        direction: DVec3,
        reach: f64,
    ) -> Option<Task<'a>> {
        if let Shape::Rounded(rounded) = shape {
            let margin = margin + rounded.margin();
            return Task::new(rounded.shape(), margin, origin, direction, reach);
        }
        let (center, radius) = (shape.center(), shape.bounding_radius() + margin);
        let ahead = (center - origin).dot(direction);
        let (slack, shift) = if shape.is_bounded() {
            (ROUNDING * (center.distance(origin) + center.length() + radius), ahead)
        } else {
            (ROUNDING * origin.length(), 0.0)
        };
        let nearest = origin + direction * shift;
        // An infinite radius compares false, as it should.
        if nearest.distance(center) > radius * (1.0 + 1e-12) + slack
            || ahead + radius + slack < 0.0
            || ahead - radius - slack > reach
        {
            return None;
        }
        let line = Line { origin: nearest, direction, slack, start: origin, shift };
        Some(Task { shape, margin, line, start: -shift, end: reach - shift })
    }

    /// The stretch inside the shape, if a form for it is known.
    fn closed(&self) -> Option<Option<Span>> {
        closed::span(self.shape, self.margin, &self.line)
    }

    fn meeting(&self) -> Meeting {
        match self.closed() {
            Some(Some(span)) => self.of_span(&span),
            Some(None) => Meeting::Miss,
            None => newton::meeting(self),
        }
    }

    fn of_span(&self, span: &Span) -> Meeting {
        let Span { enter, leave } = span;
        if leave.at < self.start || enter.at > self.end {
            Meeting::Miss
        } else if enter.at < self.start {
            Meeting::Inside
        } else {
            Meeting::Hit(*enter)
        }
    }

    /// The whole stretch.
    fn span(&self) -> Option<Span> {
        self.closed().unwrap_or_else(|| newton::span(self))
    }
}

/// A ray with its direction at unit length.
#[derive(Clone, Copy)]
struct Straight {
    origin: DVec3,
    direction: DVec3,
    /// How far it goes.
    reach: f64,
    /// The length of a unit of time.
    pace: f64,
    solid: bool,
    margin: f64,
}

/// A hit by its length along the ray.
struct Found {
    crossing: Crossing,
    inside: bool,
    piece: usize,
}

impl Straight {
    fn of(ray: &Ray, target: &Placed<'_>, margin: f64) -> Option<Straight> {
        let local = target.pose.inverse_apply_vector(ray.direction);
        let (direction, pace) = unit_or(local, DVec3::X);
        let (direction, _) = unit_or(direction, DVec3::X);
        // Zero times infinity is no number: a ray that stays is at its origin for ever.
        let reach = if pace == 0.0 { 0.0 } else { pace * ray.limit };
        // A limit of NaN or below zero compares false.
        (ray.limit >= 0.0).then(|| Straight {
            origin: target.pose.inverse_apply(ray.origin),
            direction,
            reach,
            pace,
            solid: ray.solid,
            margin,
        })
    }

    fn task<'a>(&self, shape: &'a Shape) -> Option<Task<'a>> {
        Task::new(shape, self.margin, self.origin, self.direction, self.reach)
    }

    fn start_inside(&self, piece: usize) -> Found {
        let crossing = Crossing { at: 0.0, normal: -self.direction, part: SurfacePart::Face(0) };
        Found { crossing, inside: true, piece }
    }

    fn convex(&self, shape: &Shape) -> Option<Found> {
        let task = self.task(shape)?;
        match task.meeting() {
            Meeting::Miss => None,
            Meeting::Inside if self.solid => Some(self.start_inside(0)),
            Meeting::Inside => {
                let leave = task.span()?.leave;
                let crossing = Crossing { at: leave.at - task.start, ..leave };
                (leave.at <= task.end).then_some(Found { crossing, inside: true, piece: 0 })
            }
            Meeting::Hit(enter) => {
                let crossing = Crossing { at: (enter.at - task.start).max(0.0), ..enter };
                Some(Found { crossing, inside: false, piece: 0 })
            }
        }
    }

    /// The same ray in the frame of a piece.
    fn in_piece(&self, piece: &crate::shape::Piece) -> Straight {
        let matrix = piece.matrix();
        Straight {
            origin: matrix.inverse_apply(self.origin),
            direction: matrix.inverse_apply_vector(self.direction),
            ..*self
        }
    }

    /// The first piece on the way, the lowest number among equals.
    fn compound(&self, compound: &Compound) -> Option<Found> {
        let mut best: Option<Found> = None;
        let mut inside: Option<usize> = None;
        let mut ray = *self;
        let mut visit = |index: usize| {
            let piece = &compound.pieces()[index];
            let local = Straight { solid: true, ..ray.in_piece(piece) };
            let Some(found) = local.convex(&piece.shape) else { return ray.reach };
            if found.inside {
                inside = Some(inside.map_or(index, |other| other.min(index)));
                return ray.reach;
            }
            let at = found.crossing.at;
            let before = |best: &Found| {
                at < best.crossing.at || at == best.crossing.at && index < best.piece
            };
            if best.as_ref().is_none_or(before) {
                let normal = piece.matrix().apply_vector(found.crossing.normal);
                ray.reach = at;
                let crossing = Crossing { normal, ..found.crossing };
                best = Some(Found { crossing, inside: false, piece: index });
            }
            ray.reach
        };
        let bound = pieces::along_ray(compound, self.origin, self.direction, self.margin);
        compound.near(&bound, self.reach, &mut |number| visit(number as usize));
        match inside {
            Some(index) if self.solid => Some(self.start_inside(index)),
            Some(_) => self.way_out(compound),
            None => best,
        }
    }

    /// Where a ray that starts inside leaves all pieces: from one into the next as long as one
    /// holds it.
    fn way_out(&self, compound: &Compound) -> Option<Found> {
        let mut spans = Vec::new();
        let mut numbers = Vec::new();
        let bound = pieces::along_ray(compound, self.origin, self.direction, self.margin);
        compound.near(&bound, f64::MAX, &mut |number| {
            numbers.push(number as usize);
            f64::MAX
        });
        numbers.sort_unstable();
        for index in numbers {
            let piece = &compound.pieces()[index];
            let local = self.in_piece(piece);
            let endless = Straight { reach: f64::INFINITY, ..local };
            let Some(task) = endless.task(&piece.shape) else { continue };
            if let Some(span) = task.span() {
                let leave = Crossing {
                    at: span.leave.at - task.start,
                    normal: piece.matrix().apply_vector(span.leave.normal),
                    ..span.leave
                };
                spans.push((span.enter.at - task.start, task.line.slack, leave, index));
            }
        }
        let mut out: Option<Found> = None;
        let mut at = 0.0;
        while let Some((_, _, leave, piece)) =
            spans.iter().find(|(enter, slack, leave, _)| enter - slack <= at && leave.at > at)
        {
            at = leave.at;
            out = Some(Found { crossing: *leave, inside: true, piece: *piece });
        }
        out.filter(|found| found.crossing.at <= self.reach)
    }
}

impl Query {
    /// Where a ray first meets a shape, which [`Options::margin`](super::Options::margin) grows. It
    /// ignores [`Options::flat`](super::Options::flat).
    pub fn cast_ray(&mut self, target: &Placed<'_>, ray: &Ray) -> Option<RayHit> {
        if target.shape.is_surface() {
            return self.surface_ray(target, ray);
        }
        let straight = Straight::of(ray, target, self.options().margin.max(0.0))?;
        let found = match target.shape {
            Shape::Compound(compound) => straight.compound(compound),
            shape => straight.convex(shape),
        }?;
        let Crossing { at, normal, part } = found.crossing;
        let time = if at == 0.0 { 0.0 } else { at / straight.pace };
        // The division of the limit's length by the pace may round beyond the limit.
        let time = if ray.limit.is_finite() { time.min(ray.limit) } else { time };
        time.is_finite().then(|| RayHit {
            time,
            point: ray.at(time),
            normal: target.pose.apply_vector(normal),
            inside: found.inside,
            part,
            piece: found.piece,
        })
    }
}

/// Where a ray first meets a shape; see [`Query::cast_ray`].
#[must_use]
pub fn cast_ray(target: &Placed<'_>, ray: &Ray) -> Option<RayHit> {
    Query::default().cast_ray(target, ray)
}
