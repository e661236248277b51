//! Nearest points of points, segments and triangles, in f64.
//!
//! Lines are parted by their cross product rather than by the difference of squared lengths: the
//! usual formula loses half the digits for lines at small angles. Whatever rounding does to a
//! parameter, the points returned lie on the features, so that a distance is never too small.

use glam::DVec3;

/// Two nearest points and the square of their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub square: f64,
    pub on_a: DVec3,
    pub on_b: DVec3,
}

impl Nearest {
    #[inline(always)]
    fn between(on_a: DVec3, on_b: DVec3) -> Nearest {
        Nearest { square: on_a.distance_squared(on_b), on_a, on_b }
    }
}

/// The parameter of the point of a segment nearest to a point, from 0 to 1.
#[inline(always)]
pub(super) fn along(from: DVec3, to: DVec3, point: DVec3) -> f64 {
    let edge = to - from;
    let length = edge.length_squared();
    if length > 0.0 { ((point - from).dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 }
}

/// Nearest points of two segments.
#[inline]
pub(crate) fn segments(p: DVec3, q: DVec3, a: DVec3, b: DVec3) -> Nearest {
    let (one, other, gap) = (q - p, b - a, p - a);
    let cross = one.cross(other);
    let square = cross.length_squared();
    let mut s = 0.0;
    if square > 0.0 {
        // Where the first line passes the second.
        s = (other.cross(gap).dot(cross) / square).clamp(0.0, 1.0);
        if s.is_nan() {
            s = 0.0;
        }
    }
    let t = along(a, b, p + one * s);
    let on_b = a + other * t;
    // Again from the other side: clamping may have moved the point.
    let s = along(p, q, on_b);
    Nearest::between(p + one * s, on_b)
}

/// The point of a triangle's inside nearest to a point, by its weights; none if the nearest is on
/// the border.
#[inline(always)]
fn inside(corners: &[DVec3; 3], point: DVec3) -> Option<[f64; 3]> {
    let [a, b, c] = *corners;
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if square <= 0.0 {
        return None;
    }
    let v = ap.cross(ac).dot(normal);
    let w = ab.cross(ap).dot(normal);
    if v < 0.0 || w < 0.0 || v + w > square {
        return None;
    }
    let (v, w) = (v / square, w / square);
    Some([1.0 - v - w, v, w])
}

/// The weights of the point of a triangle nearest to a point, that point, and the square of the
/// distance. At the border weights are exactly zero.
#[inline]
pub(crate) fn point_triangle(corners: &[DVec3; 3], point: DVec3) -> ([f64; 3], DVec3, f64) {
    let mut best = ([1.0, 0.0, 0.0], corners[0], f64::INFINITY);
    for k in 0..3 {
        let (from, to) = (corners[k], corners[(k + 1) % 3]);
        let t = along(from, to, point);
        let at = from + (to - from) * t;
        let square = at.distance_squared(point);
        if square < best.2 {
            let mut weights = [0.0; 3];
            weights[k] = 1.0 - t;
            weights[(k + 1) % 3] = t;
            best = (weights, at, square);
        }
    }
    if let Some(weights) = inside(corners, point) {
        let at = weigh(corners, weights);
        let square = at.distance_squared(point);
        if square < best.2 {
            best = (weights, at, square);
        }
    }
    best
}

/// The point of a triangle with given weights.
#[inline(always)]
pub(super) fn weigh(corners: &[DVec3; 3], weights: [f64; 3]) -> DVec3 {
    let [a, b, c] = *corners;
    a + (b - a) * weights[1] + (c - a) * weights[2]
}

/// Nearest points of two triangles that do not touch, if they are nearer than a limit.
///
/// Each pair of features is a candidate. The first whose points are also the outermost of both
/// triangles along the line between them is the answer; and if the triangles are parted along that
/// line by more than the limit, there is none.
#[inline]
pub(super) fn triangles(one: &[DVec3; 3], other: &[DVec3; 3], limit: f64) -> Option<Nearest> {
    let mut best: Option<Nearest> = None;
    let mut least = limit;
    for i in 0..3 {
        for j in 0..3 {
            let near = segments(one[i], one[(i + 1) % 3], other[j], other[(j + 1) % 3]);
            let first = i == 0 && j == 0;
            if near.square < least || first {
                let (inner, outer) = parted(&near, one, other);
                if near.square < least {
                    (least, best) = (near.square, Some(near));
                    if inner <= 0.0 && outer >= 0.0 {
                        return best;
                    }
                }
                // What parts them along this line is a lower bound of their distance.
                let apart = near.square + outer - inner;
                if apart > 0.0 && apart * apart > limit * near.square * (1.0 + 1e-9) {
                    return best;
                }
            }
        }
    }
    for corner in 0..3 {
        if let Some(weights) = inside(other, one[corner]) {
            let near = Nearest::between(one[corner], weigh(other, weights));
            if near.square < least {
                (least, best) = (near.square, Some(near));
            }
        }
        if let Some(weights) = inside(one, other[corner]) {
            let near = Nearest::between(weigh(one, weights), other[corner]);
            if near.square < least {
                (least, best) = (near.square, Some(near));
            }
        }
    }
    best
}

/// How far the corners of the first triangle reach beyond its point along the line to the second,
/// and how far those of the second stay behind theirs, both times the length of the line.
#[inline(always)]
fn parted(near: &Nearest, one: &[DVec3; 3], other: &[DVec3; 3]) -> (f64, f64) {
    let line = near.on_b - near.on_a;
    let ahead = |corner: &DVec3| (*corner - near.on_a).dot(line);
    let behind = |corner: &DVec3| (*corner - near.on_b).dot(line);
    let inner = one.iter().map(ahead).fold(f64::NEG_INFINITY, f64::max);
    let outer = other.iter().map(behind).fold(f64::INFINITY, f64::min);
    (inner, outer)
}

/// A lower bound of the distance of two triangles: what parts them along a unit vector.
pub(super) fn parted_by(normal: DVec3, one: &[DVec3; 3], other: &[DVec3; 3]) -> f64 {
    // From a point nearby, so that far coordinates do not round.
    let from = one[0];
    let reach = one.iter().map(|at| (*at - from).dot(normal)).fold(f64::NEG_INFINITY, f64::max);
    let begin = other.iter().map(|at| (*at - from).dot(normal)).fold(f64::INFINITY, f64::min);
    begin - reach
}

#[cfg(test)]
mod tests {
    use super::super::random::Random;
    use super::*;

    #[test]
    fn no_sampled_points_are_nearer_and_the_line_parts_the_triangles() {
        let mut random = Random(3);
        for round in 0..3000 {
            let mut one = [(); 3].map(|()| random.point());
            let mut other = [(); 3].map(|()| random.point() + DVec3::X * 2.5);
            if round % 3 == 0 {
                // Needles, nearly parallel.
                one[2] = one[1] + random.point() * 1e-9;
                other = [other[0], other[0] + (one[1] - one[0]) + random.point() * 1e-8, other[2]];
            }
            let near = triangles(&one, &other, f64::INFINITY).expect("no limit");
            let (distance, line) = (near.square.sqrt(), near.on_b - near.on_a);
            let certain = parted_by(line / distance, &one, &other);
            assert!(distance - certain <= 1e-12, "{distance} {certain} {one:?} {other:?}");
            assert!(triangles(&one, &other, near.square * 0.999).is_none());
            assert!(triangles(&one, &other, near.square * 1.001).is_some());
            let (weights, at, square) = point_triangle(&one, other[0]);
            assert!(at.distance(weigh(&one, weights)) < 1e-14);
            let certain = parted_by((other[0] - at) / square.sqrt(), &one, &[other[0]; 3]);
            assert!(square.sqrt() - certain < 1e-12, "{one:?} {other:?}");
        }
    }

    #[test]
    fn lines_at_a_tiny_angle_are_measured_where_they_cross() {
        for angle in [1e-3, 1e-6, 1e-8, 1e-10, 1e-13] {
            let near = segments(
                DVec3::new(-1.0, -angle, 0.0),
                DVec3::new(1.0, angle, 0.0),
                DVec3::new(-1.0, angle, 1e-12),
                DVec3::new(1.0, -angle, 1e-12),
            );
            assert!((near.square.sqrt() - 1e-12).abs() < 1e-15, "{angle} {near:?}");
        }
    }
}
