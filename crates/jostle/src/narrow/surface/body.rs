//! [`Body`]: a convex shape in the frame of a surface, made ready to meet many triangles.

use super::super::answer::{Method, Options, Signed};
use super::super::cache::PairCache;
use super::super::pair::{Core, Cores};
use super::super::placed::Placed;
use super::super::solve::{self, Goal, Memory, Request};
use super::super::witness;
use super::axes::{self, Axes};
use super::{closed, face_normal};
use crate::mesh::{point_triangle, segments};
use crate::shape::mesh::{Inner, Mesh, Probe};
use crate::shape::{LIMIT, Pose, PoseMatrix, Shape};
use glam::DVec3;

/// Distance of cores, relative to the size, under which they count as crossing.
const CROSSING: f64 = 1e-12;

/// Distance of a segment, relative to the size, under which the direction between nearest points is
/// not good enough as a normal.
const CLOSE: f64 = 1e-5;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Point(DVec3),
    Segment([DVec3; 2]),
    Box(DVec3, PoseMatrix),
    Other,
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    placed: Placed<'a>,
    kind: Kind,
    /// What the core is grown by.
    radius: f64,
    low: DVec3,
    high: DVec3,
    size: f64,
    /// Where triangles are placed: at home, unless shadows in the world are asked about.
    frame: Pose,
    flat: bool,
    /// Another center.
    whole: Option<DVec3>,
}

/// The pose of b as a's frame sees it.
fn seen(pose_a: &Pose, pose_b: &Pose) -> Pose {
    if *pose_a == Pose::IDENTITY {
        return *pose_b;
    }
    let inverse = pose_a.rotation().conjugate();
    let offset = place_seen(pose_a, pose_b);
    Pose::new((inverse * pose_b.rotation()).normalize(), offset).unwrap_or(*pose_b)
}

/// The place of b as a's frame sees it.
#[inline]
pub(super) fn place_seen(pose_a: &Pose, pose_b: &Pose) -> DVec3 {
    if *pose_a == Pose::IDENTITY {
        return pose_b.translation();
    }
    let offset = pose_a.rotation().conjugate() * (pose_b.translation() - pose_a.translation());
    // What is further away is as far as it can be.
    offset.clamp(DVec3::splat(-LIMIT), DVec3::splat(LIMIT))
}

impl<'a> Body<'a> {
    pub(crate) fn new(pose: &Pose, other: &Placed<'a>, options: &Options) -> Body<'a> {
        let flat = options.flat;
        let frame = if flat { *pose } else { Pose::IDENTITY };
        let placed = if flat { *other } else { Placed::new(other.shape, seen(pose, &other.pose)) };
        let (low, high) = if flat {
            (DVec3::NEG_INFINITY, DVec3::INFINITY)
        } else {
            placed.shape.core_box(&placed.pose)
        };
        let kind = if flat || options.method != Method::Auto {
            Kind::Other
        } else {
            match Core::of(placed.shape) {
                Core::Point => Kind::Point(placed.pose.translation()),
                Core::Segment(half) => {
                    let along = placed.pose.apply_vector(DVec3::new(0.0, half, 0.0));
                    let middle = placed.pose.translation();
                    Kind::Segment([middle - along, middle + along])
                }
                Core::Box(half) => Kind::Box(half, placed.pose.matrix()),
                _ => Kind::Other,
            }
        };
        // Nothing is rounded for a point, and triangles are sorted by how near they are to it.
        let (low, high) =
            if let Kind::Point(center) = kind { (center, center) } else { (low, high) };
        let radius = placed.shape.margin() + options.margin;
        let size = placed.shape.bounding_radius() + low.abs().max(high.abs()).max_element();
        Body { placed, kind, radius, low, high, size, frame, flat, whole: None }
    }

    /// The box around the core.
    pub(crate) fn bounds(&self) -> (DVec3, DVec3) {
        (self.low, self.high)
    }

    /// Where triangles are looked for that are within a reach.
    pub(crate) fn probe(&self, reach: f64) -> Probe {
        let (center, inner) = match &self.kind {
            Kind::Box(half, pose) => {
                (pose.translation, Inner::Box { axes: pose.rotation, half: *half })
            }
            // Without bounds any point will do.
            _ if self.flat => (DVec3::ZERO, Inner::Nothing),
            _ => ((self.low + self.high) * 0.5, Inner::Nothing),
        };
        Probe { low: self.low, high: self.high, center, limit: self.limit(reach), inner }
    }

    /// How far from that box triangles within a reach can be.
    pub(crate) fn limit(&self, reach: f64) -> f64 {
        reach + self.radius
    }

    /// How far from that box triangles can be that come before an answer, or are equal to it.
    #[inline(always)]
    pub(crate) fn limit_below(&self, signed: f64) -> f64 {
        // What the core of a box or a hull overlaps is not ordered by how far away it is.
        let rounding = match self.kind {
            Kind::Point(_) => 16.0 * f64::EPSILON,
            Kind::Segment(_) => CLOSE,
            Kind::Box(..) | Kind::Other => return self.limit(signed.max(0.0)),
        };
        (signed + self.radius).max(0.0) + rounding * (self.size + self.radius)
    }

    /// The same with another point as its center: that of the whole it is part of.
    pub(crate) fn seen_at(self, center: DVec3) -> Body<'a> {
        Body { whole: Some(center), ..self }
    }

    /// A point of the shape, in the frame of the surface.
    pub(crate) fn center(&self) -> DVec3 {
        if let Some(center) = self.whole {
            return center;
        }
        let center = self.placed.pose.apply(self.placed.shape.center());
        if self.flat { self.frame.inverse_apply(center) } else { center }
    }

    pub(crate) fn is_ball(&self) -> bool {
        matches!(self.kind, Kind::Point(_))
    }

    pub(crate) fn size(&self) -> f64 {
        self.placed.shape.bounding_radius()
    }

    /// An answer as the world sees it.
    pub(crate) fn in_world(&self, pose: &Pose, signed: Signed) -> Signed {
        if self.flat {
            return signed;
        }
        let placed = Signed {
            normal: pose.apply_vector(signed.normal),
            on_a: pose.apply(signed.on_a),
            ..signed
        };
        placed.with_other_point()
    }

    /// The signed distance to a triangle, if it is within the reach and not above `least`. The
    /// point of boxes that overlap is missing: see [`Body::finished`].
    #[inline]
    pub(crate) fn meet(
        &self,
        corners: &[DVec3; 3],
        request: &Request,
        least: f64,
        memory: &mut Memory<'_>,
    ) -> Option<Signed> {
        let most = request.reach.min(least) + self.radius;
        match &self.kind {
            Kind::Point(center) => self.ball(corners, *center, most),
            Kind::Segment(ends) => match segment_triangle(ends, corners) {
                Some((square, _, _)) if most < 0.0 || square > most * most => None,
                Some((square, on_a, on_b)) if square > (CLOSE * self.size).powi(2) => {
                    let distance = square.sqrt();
                    let cores =
                        closed(distance, (on_b - on_a) / distance, on_a, self.size + distance);
                    Some(cores.grown(0.0, self.radius))
                }
                _ => self.general(corners, request, memory),
            },
            Kind::Box(half, pose) => {
                let seen = corners.map(|corner| pose.inverse_apply(corner));
                let reach = request.reach + self.radius;
                match axes::triangle_box(&seen, *half, reach, most) {
                    Axes::Apart | Axes::Beyond => None,
                    Axes::Near => self.general(corners, request, memory),
                    Axes::Overlapping { separation, normal } => {
                        let normal = pose.apply_vector(normal);
                        let cores = closed(separation, normal, corners[0], self.size);
                        Some(cores.grown(0.0, self.radius))
                    }
                }
            }
            Kind::Other => self.general(corners, request, memory),
        }
    }

    #[inline(always)]
    fn ball(&self, corners: &[DVec3; 3], center: DVec3, most: f64) -> Option<Signed> {
        let (_, on_a, square) = point_triangle(corners, center);
        if square > most * most || most < 0.0 {
            return None;
        }
        let distance = square.sqrt();
        let crossing = distance <= CROSSING * self.size;
        let normal = if crossing { face_normal(corners) } else { (center - on_a) / distance };
        Some(closed(distance, normal, on_a, self.size + distance).grown(0.0, self.radius))
    }

    #[inline(never)]
    fn general(
        &self,
        corners: &[DVec3; 3],
        request: &Request,
        memory: &mut Memory<'_>,
    ) -> Option<Signed> {
        let triangle = Shape::Triangle { points: *corners };
        let mut none = PairCache::none();
        let memory = &mut Memory { cache: &mut none, scratch: memory.scratch };
        solve::solve(&Placed::new(&triangle, self.frame), &self.placed, request, memory)
    }

    /// The answer for a triangle with all its points.
    pub(crate) fn finished(
        &self,
        signed: Signed,
        corners: &[DVec3; 3],
        request: &Request,
        memory: &mut Memory<'_>,
    ) -> Signed {
        let Kind::Box(half, pose) = &self.kind else { return signed };
        if signed.signed > -self.radius || request.goal != Goal::Contact {
            return signed;
        }
        let cores = Cores {
            a: Core::Triangle(corners),
            b: Core::Box(*half),
            b_in_a: *pose,
            hints: [0; 2],
            searches: 0,
        };
        let facets = &mut memory.scratch.get_or_insert_default().facets;
        let on_a = witness::deepest(&cores, signed.normal, facets);
        Signed { on_a, ..signed }
    }

    /// The lowest point of the shape along a unit normal, in the frame of the surface, and its
    /// height.
    pub(crate) fn lowest(&self, normal: DVec3) -> (DVec3, f64) {
        let pose = if self.flat { seen(&self.frame, &self.placed.pose) } else { self.placed.pose };
        let local = self.placed.shape.core_support(pose.inverse_apply_vector(-normal));
        let point = pose.apply(local) - normal * self.radius;
        (point, point.dot(normal))
    }

    /// How a shape whose center is inside a solid leaves it.
    pub(crate) fn way_out(&self, mesh: &Mesh) -> (Signed, u32) {
        let center = self.center();
        let near = mesh.project(center);
        let corners = mesh.corners(near.triangle);
        let normal = (near.point - center).try_normalize().unwrap_or_else(|| face_normal(&corners));
        let (lowest, height) = self.lowest(normal);
        let depth = near.point.dot(normal) - height;
        let on_a = lowest + normal * depth;
        let answer = closed(-depth, normal, on_a, self.size + depth);
        if self.flat {
            let placed = Signed {
                normal: self.frame.apply_vector(answer.normal),
                on_a: self.frame.apply(answer.on_a),
                ..answer
            };
            return (placed.leveled().with_other_point(), near.triangle);
        }
        (answer, near.triangle)
    }
}

/// Nearest points of a segment and a triangle with the square of their distance: first that of the
/// triangle. None if they cross.
fn segment_triangle(&[p, q]: &[DVec3; 2], corners: &[DVec3; 3]) -> Option<(f64, DVec3, DVec3)> {
    let [a, b, c] = *corners;
    let normal = (b - a).cross(c - a);
    let (above, below) = (normal.dot(p - a), normal.dot(q - a));
    let crosses = above * below < 0.0 && {
        let at = p + (q - p) * (above / (above - below));
        let side = |from: DVec3, to: DVec3| (to - from).cross(at - from).dot(normal) >= 0.0;
        side(a, b) && side(b, c) && side(c, a)
    };
    if crosses {
        return None;
    }
    let mut best = (f64::INFINITY, a, p);
    for end in [p, q] {
        let (_, at, square) = point_triangle(corners, end);
        if square < best.0 {
            best = (square, at, end);
        }
    }
    for k in 0..3 {
        let near = segments(corners[k], corners[(k + 1) % 3], p, q);
        if near.square < best.0 {
            best = (near.square, near.on_a, near.on_b);
        }
    }
    Some(best)
}
