//! The stretch of a line inside shapes that have a closed form for it.
//!
//! Discriminants are products of sums and differences with the distance of the line from the middle
//! or the axis, which the line's origin gives: nothing cancels for lines that graze. A line nearly
//! along an axis gets crossings far away, with errors that are as far along the line but not across
//! it.

use super::{Crossing, Line, Span, planes};
use crate::narrow::point::{SurfacePart, unit_or};
use crate::shape::Shape;
use glam::{DVec2, DVec3};

/// Sines below this are none: the line is along the axis.
const ALONG: f64 = 1e-150;
/// A line nearer to the plane of a triangle than this sine is in it.
const EDGE_ON: f64 = 1e-9;

const SIDE: SurfacePart = SurfacePart::Face(0);

/// The stretch inside a shape grown by a margin; the outer `None` if there is no form for it.
pub(super) fn span(shape: &Shape, margin: f64, line: &Line) -> Option<Option<Span>> {
    match shape {
        Shape::Sphere { radius } => Some(sphere(*radius + margin, line)),
        Shape::Capsule { radius, half_height } => {
            Some(capsule(*radius + margin, *half_height, line))
        }
        Shape::HalfSpace { normal, offset } => Some(half_space(*normal, *offset + margin, line)),
        _ if margin > 0.0 => None,
        Shape::Cuboid { half_extents } => Some(cuboid(*half_extents, line)),
        Shape::Cylinder { radius, half_height } => Some(cylinder(*radius, *half_height, line)),
        Shape::Ellipsoid { radii } if radii.min_element() > 0.0 => Some(ellipsoid(*radii, line)),
        Shape::Triangle { points } => triangle(points, line),
        Shape::Hull(hull) => planes::span(hull, line),
        _ => None,
    }
}

/// A stretch whose normals are found from its ends.
fn with_normals(
    line: &Line,
    [enter, leave]: [f64; 2],
    normal: impl Fn(DVec3) -> (DVec3, SurfacePart),
) -> Span {
    let crossing = |at: f64| {
        let (normal, part) = normal(line.at(at));
        Crossing { at, normal, part }
    };
    Span { enter: crossing(enter), leave: crossing(leave) }
}

fn sphere(radius: f64, line: &Line) -> Option<Span> {
    let half = half_chord(radius, line.origin.length(), line.slack)?;
    let middle = -line.origin.dot(line.direction);
    let ends = [middle - half, middle + half];
    Some(with_normals(line, ends, |point| (unit_or(point, -line.direction).0, SIDE)))
}

/// Half the chord at a distance from the middle of a circle; none beyond the radius.
fn half_chord(radius: f64, distance: f64, slack: f64) -> Option<f64> {
    let square = (radius - distance) * (radius + distance);
    (distance <= radius + slack).then(|| square.max(0.0).sqrt())
}

/// The stretch of an axis on which a line is within `-half..=half`.
fn slab(half: f64, origin: f64, direction: f64, slack: f64) -> Option<[f64; 2]> {
    if direction.abs() < ALONG {
        let within = origin.abs() <= half + slack;
        return within.then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (first, last) = ((-half - origin) / direction, (half - origin) / direction);
    Some(if direction > 0.0 { [first, last] } else { [last, first] })
}

/// What several stretches share, and which of them begins and ends it.
fn shared<const N: usize>(stretches: [Option<[f64; 2]>; N]) -> Option<([f64; 2], [usize; 2])> {
    let mut best = ([f64::NEG_INFINITY, f64::INFINITY], [0; 2]);
    for (index, stretch) in stretches.into_iter().enumerate() {
        let [enter, leave] = stretch?;
        if enter > best.0[0] {
            (best.0[0], best.1[0]) = (enter, index);
        }
        if leave < best.0[1] {
            (best.0[1], best.1[1]) = (leave, index);
        }
    }
    (best.0[0] <= best.0[1]).then_some(best)
}

/// Tries a shape as it is, and then grown by the slack: lines that graze it by rounding alone.
fn tried(line: &Line, find: impl Fn(f64) -> Option<Span>) -> Option<Span> {
    find(0.0).or_else(|| find(line.slack))
}

fn cuboid(half: DVec3, line: &Line) -> Option<Span> {
    let (origin, direction) = (line.origin, line.direction);
    tried(line, |grown| {
        let stretch = |k: usize| slab(half[k] + grown, origin[k], direction[k], line.slack);
        let ([enter, leave], [first, last]) = shared([0, 1, 2].map(stretch))?;
        let crossing = |at: f64, axis: usize, positive: bool| {
            let mut normal = DVec3::ZERO;
            normal[axis] = if positive { 1.0 } else { -1.0 };
            let part = SurfacePart::Face(2 * axis as u32 + u32::from(!positive));
            Crossing { at, normal, part }
        };
        Some(Span {
            enter: crossing(enter, first, direction[first] < 0.0),
            leave: crossing(leave, last, direction[last] > 0.0),
        })
    })
}

/// The stretch within a radius of the y axis.
fn around_axis(radius: f64, line: &Line) -> Option<[f64; 2]> {
    let (x, z) = (line.direction.x, line.direction.z);
    let across = x.hypot(z);
    if across < ALONG {
        let within = line.origin.x.hypot(line.origin.z) <= radius + line.slack;
        return within.then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (x, z) = (x / across, z / across);
    let half = half_chord(radius, (line.origin.x * z - line.origin.z * x).abs(), line.slack)?;
    let middle = -(line.origin.x * x + line.origin.z * z);
    Some([(middle - half) / across, (middle + half) / across])
}

fn cylinder(radius: f64, half_height: f64, line: &Line) -> Option<Span> {
    tried(line, |grown| {
        let upright = slab(half_height + grown, line.origin.y, line.direction.y, line.slack);
        let stretches = [around_axis(radius + grown, line), upright];
        let ([enter, leave], ends) = shared(stretches)?;
        let crossing = |at: f64, end: usize, up: bool| {
            if end == 1 {
                let normal = DVec3::new(0.0, if up { 1.0 } else { -1.0 }, 0.0);
                return Crossing { at, normal, part: SurfacePart::Face(if up { 1 } else { 2 }) };
            }
            let point = line.at(at);
            let across = DVec3::new(point.x, 0.0, point.z);
            let normal = unit_or(across, -line.direction).0;
            Crossing { at, normal, part: SIDE }
        };
        Some(Span {
            enter: crossing(enter, ends[0], line.direction.y < 0.0),
            leave: crossing(leave, ends[1], line.direction.y > 0.0),
        })
    })
}

/// A capsule is the union of a cylinder and two balls, and convex: its stretch goes from the first
/// of theirs to the last.
fn capsule(radius: f64, half_height: f64, line: &Line) -> Option<Span> {
    let ball = |y: f64| {
        let origin = line.origin - DVec3::new(0.0, y, 0.0);
        let middle = -origin.dot(line.direction);
        let half = half_chord(radius, (origin + line.direction * middle).length(), line.slack)?;
        Some([middle - half, middle + half])
    };
    let side = shared([
        around_axis(radius, line),
        slab(half_height, line.origin.y, line.direction.y, line.slack),
    ]);
    let stretches = [side.map(|side| side.0), ball(half_height), ball(-half_height)];
    let whole = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let ends = stretches.into_iter().flatten().reduce(whole)?;
    Some(with_normals(line, ends, |point| {
        let on_axis = DVec3::new(0.0, point.y.max(-half_height).min(half_height), 0.0);
        let part = if on_axis.y == point.y {
            SIDE
        } else {
            SurfacePart::Face(if point.y > 0.0 { 1 } else { 2 })
        };
        (unit_or(point - on_axis, -line.direction).0, part)
    }))
}

/// Stretched to the unit ball.
fn ellipsoid(radii: DVec3, line: &Line) -> Option<Span> {
    let origin = line.origin / radii;
    let (direction, pace) = unit_or(line.direction / radii, DVec3::X);
    let middle = -origin.dot(direction);
    let nearest = origin + direction * middle;
    let half = half_chord(1.0, nearest.length(), f64::EPSILON)?;
    let crossing = |along: f64| {
        let point = nearest + direction * along;
        let normal = unit_or(point / radii, -line.direction).0;
        Crossing { at: (middle + along) / pace, normal, part: SIDE }
    };
    Some(Span { enter: crossing(-half), leave: crossing(half) })
}

fn half_space(normal: DVec3, offset: f64, line: &Line) -> Option<Span> {
    let (height, slope) = (normal.dot(line.origin) - offset, normal.dot(line.direction));
    let crossing = |at: f64| Crossing { at, normal, part: SIDE };
    let (enter, leave) = if slope == 0.0 {
        if height > line.slack {
            return None;
        }
        (f64::NEG_INFINITY, f64::INFINITY)
    } else if slope < 0.0 {
        (-height / slope, f64::INFINITY)
    } else {
        (f64::NEG_INFINITY, -height / slope)
    };
    Some(Span { enter: crossing(enter), leave: crossing(leave) })
}

/// Seen along the line, the areas that its point spans with each side have one sign if it passes
/// inside. The area of a side shared by two triangles of one frame is the same number with the
/// other sign, so that no ray passes between them; for that it is seen from where the ray starts.
/// Lines in the plane of the triangle are left to the general way.
fn triangle(points: &[DVec3; 3], line: &Line) -> Option<Option<Span>> {
    let [p, q, r] = points.map(|point| point - line.start);
    let (right, up) = line.direction.any_orthonormal_pair();
    let seen = [p, q, r].map(|point| DVec2::new(right.dot(point), up.dot(point)));
    let area = |i: usize, j: usize| seen[i].perp_dot(seen[j]);
    let weights = [area(1, 2), area(2, 0), area(0, 1)];
    let (normal, area) = unit_or((q - p).cross(r - p), DVec3::Y);
    let slope = normal.dot(line.direction);
    let whole = weights[0] + weights[1] + weights[2];
    let size = p.distance_squared(q).max(q.distance_squared(r)).max(r.distance_squared(p));
    if slope.abs() < EDGE_ON || whole == 0.0 || area <= 1e-10 * size {
        return None;
    }
    if weights.iter().any(|&w| w < 0.0) && weights.iter().any(|&w| w > 0.0) {
        return Some(None);
    }
    let heights = [p, q, r].map(|corner| corner.dot(line.direction));
    let at = (0..3).map(|k| weights[k] / whole * heights[k]).sum::<f64>() - line.shift;
    let front = slope < 0.0;
    let toward = if front { normal } else { -normal };
    let face = |back: bool| SurfacePart::Face(u32::from(back));
    Some(Some(Span {
        enter: Crossing { at, normal: toward, part: face(!front) },
        leave: Crossing { at, normal: -toward, part: face(front) },
    }))
}
