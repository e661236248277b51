//! Shadows: pairs as seen along z, for two-dimensional worlds.
//!
//! The shadow of a Minkowski difference on a plane is the difference of the shadows, so GJK finds
//! their distance from support points that are projected onto the plane. The depth is found by EPA
//! in two dimensions: a polygon inside the shadow grows at its nearest edge until the support line
//! along the normal of that edge is no further out.
//!
//! ```text
//! polygon = right, top, left, bottom
//! repeat: edge = nearest of the polygon to the origin
//!         w = support(normal of the edge)
//!         stop if w is no further out than the edge; else put w between its corners
//! ```
//!
//! The origin may lie outside the first polygon: distances of edges are signed. Polygons without
//! area (two points, or two collinear segments) have edges with opposite normals, and are no
//! special case. Exact for polygons; curved shadows take some dozen corners. Pair memories are
//! neither used nor changed.

use super::answer::Signed;
use super::epa;
use super::gjk::{self, Difference, End};
use super::pair::Cores;
use super::simplex::{Corner, Simplex};
use super::solve::{Goal, Ready, Request};
use glam::{DVec2, DVec3};

/// Most corners of the polygon.
const CORNERS: usize = 192;

/// A difference seen along a unit axis.
struct Shadow<'c, 's> {
    cores: &'c mut Cores<'s>,
    axis: DVec3,
}

impl Shadow<'_, '_> {
    fn level(&self, vector: DVec3) -> DVec3 {
        vector - self.axis * vector.dot(self.axis)
    }
}

impl Difference for Shadow<'_, '_> {
    fn support(&mut self, direction: DVec3) -> Corner {
        let Corner { point, on_a, ids } = self.cores.support(self.level(direction));
        Corner { point: self.level(point), on_a: self.level(on_a), ids }
    }
}

/// A corner of the polygon, and its place on a.
#[derive(Clone, Copy)]
struct Vertex {
    point: DVec2,
    on_a: DVec3,
}

/// The polygon's plane: two unit vectors across the axis, counter-clockwise around it.
struct Plane {
    right: DVec3,
    up: DVec3,
}

impl Plane {
    fn direction(&self, direction: DVec2) -> DVec3 {
        self.right * direction.x + self.up * direction.y
    }

    fn support(&self, shadow: &mut Shadow<'_, '_>, direction: DVec2) -> Vertex {
        let corner = shadow.support(self.direction(direction));
        let point = DVec2::new(corner.point.dot(self.right), corner.point.dot(self.up));
        Vertex { point, on_a: corner.on_a }
    }
}

impl Ready<'_> {
    /// The answer for the shadows of two cores along a unit axis in the frame of the first.
    pub(crate) fn flat(&mut self, axis: DVec3, request: &Request) -> Option<Signed> {
        let limits = self.gjk_limits(request.reach + self.radii[0] + self.radii[1]);
        let (between, epa_limits) = (self.between, self.epa_limits());
        let mut shadow = Shadow { cores: &mut self.cores, axis };
        let mut simplex = Simplex::default();
        let start = shadow.level(between);
        let found = gjk::run(&mut shadow, &mut simplex, start, &limits);
        let cores = match found.end {
            End::CutOff => return None,
            End::Overlap if request.goal == Goal::Contact => {
                let depth = depth(&mut shadow, &epa_limits);
                Signed {
                    signed: -depth.upper,
                    normal: depth.normal,
                    on_a: depth.on_a,
                    on_b: depth.on_a,
                    bound: depth.upper - depth.lower.min(depth.upper) + self.rounding(),
                    ending: self.ending_of(depth.end, depth.upper - depth.lower),
                }
            }
            End::Overlap => return Some(self.overlapping(DVec3::ZERO)),
            _ => self.apart(&found, &simplex),
        };
        let answer = cores.grown(self.radii[0], self.radii[1]);
        (answer.signed <= request.reach).then_some(answer)
    }
}

/// How deep the origin lies in a shadow.
fn depth(shadow: &mut Shadow<'_, '_>, limits: &epa::Limits) -> epa::Outcome {
    let right = shadow.axis.any_orthonormal_vector();
    let plane = Plane { right, up: shadow.axis.cross(right) };
    let first = plane.support(shadow, DVec2::X);
    let mut polygon = vec![first];
    for direction in [DVec2::Y, DVec2::NEG_X, DVec2::NEG_Y] {
        let vertex = plane.support(shadow, direction);
        let known = |other: &Vertex| other.point.distance(vertex.point) <= limits.flat;
        if !polygon.iter().any(known) {
            polygon.push(vertex);
        }
    }
    let mut best = epa::Outcome {
        normal: right,
        upper: first.point.x,
        lower: first.point.x.min(0.0),
        on_a: first.on_a,
        end: End::Converged,
        nearest: 0,
    };
    if polygon.len() > 1 {
        (best.upper, best.end) = (f64::INFINITY, End::StepLimit);
        grow(&plane, shadow, &mut polygon, &mut best, limits);
    }
    best
}

fn grow(
    plane: &Plane,
    shadow: &mut Shadow<'_, '_>,
    polygon: &mut Vec<Vertex>,
    best: &mut epa::Outcome,
    limits: &epa::Limits,
) {
    while polygon.len() < CORNERS {
        let (place, normal, distance) = nearest(polygon);
        let next = polygon[(place + 1) % polygon.len()];
        let vertex = plane.support(shadow, normal);
        let height = vertex.point.dot(normal);
        if height < best.upper {
            best.upper = height;
            best.normal = plane.direction(normal);
            best.on_a = foot(&polygon[place], &next);
        }
        best.lower = distance.min(best.upper);
        let known = |other: &Vertex| other.point.distance(vertex.point) <= limits.coplanar;
        if best.upper - distance <= limits.gap || known(&polygon[place]) || known(&next) {
            best.end = End::Converged;
            return;
        }
        polygon.insert(place + 1, vertex);
    }
}

/// The edge nearest to the origin: its place, its outward normal and its signed distance.
fn nearest(polygon: &[Vertex]) -> (usize, DVec2, f64) {
    let mut best = (0, DVec2::X, f64::INFINITY);
    for (place, from) in polygon.iter().enumerate() {
        let along = polygon[(place + 1) % polygon.len()].point - from.point;
        let Some(normal) = DVec2::new(along.y, -along.x).try_normalize() else { continue };
        let distance = normal.dot(from.point);
        if distance < best.2 {
            best = (place, normal, distance);
        }
    }
    best
}

/// The point of a that belongs to the point of an edge nearest to the origin.
fn foot(from: &Vertex, to: &Vertex) -> DVec3 {
    let along = to.point - from.point;
    let place = (-from.point.dot(along) / along.length_squared()).clamp(0.0, 1.0);
    from.on_a.lerp(to.on_a, place)
}
