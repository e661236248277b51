//! Do two triangles touch? Exactly, for every triangle there is.
//!
//! Triangles are closed: a common edge or corner counts. A triangle without area is the segment or
//! the point that its corners span, and touches like one.
//!
//! Two triangles in general position are parted by one of their planes or decided by two more
//! determinants (Guigue and Devillers, *Fast and robust triangle-triangle overlap test using
//! orientation predicates*). If a corner lies in the other's plane, each edge is tested against
//! the other triangle instead, which holds in all degenerate cases: closed triangles touch if and
//! only if an edge of one touches the other. What lies in one plane is decided by its shadow on a
//! coordinate plane on which nothing collapses.
//!
//! Signs come from plain f64 if a bound on the rounding allows, else from the adaptive predicates
//! of the `robust` crate. The filter is inlined into every test: with a call for each corner and
//! the filter of the crate for the last determinants, all pairs of two meshes in deep overlap took
//! half as long again (that question of `jostle-bench mesh-rivals` on three meshes of 5 002 to
//! 24 242 triangles, both forms in turns in one program).

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// More than the rounding of a determinant of differences, relative to the product of the largest
/// differences of each kind.
const FILTER: f64 = 32.0 * f64::EPSILON;

/// The sign of `(d - a) · ((b - a) x (c - a))`.
#[inline(always)]
fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    SpannedPlane::new(&[a, b, c]).side(d)
}

/// The same without a look at plain f64.
#[cold]
#[inline(never)]
fn exact_side([a, b, c]: [DVec3; 3], d: DVec3) -> i8 {
    let at = |point: DVec3| Coord3D { x: point.x, y: point.y, z: point.z };
    // The crate's sign is that of points below.
    sign(-orient3d(at(a), at(b), at(c), at(d)))
}

#[inline(always)]
fn sign(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

/// A plane through three points, as plain f64 sees it.
struct SpannedPlane {
    points: [DVec3; 3],
    normal: DVec3,
    /// More than the rounding of a product with the normal, for a vector of a largest part of one.
    error: f64,
}

impl SpannedPlane {
    #[inline(always)]
    fn new(&points: &[DVec3; 3]) -> SpannedPlane {
        let [a, b, c] = points;
        let (ab, ac) = (b - a, c - a);
        let error = FILTER * (largest(ab) * largest(ac));
        SpannedPlane { points, normal: ab.cross(ac), error }
    }

    /// The side that a point is on.
    #[inline(always)]
    fn side(&self, point: DVec3) -> i8 {
        let from = point - self.points[0];
        let det = self.normal.dot(from);
        let error = self.error * largest(from);
        // False for NaN and where everything underflows.
        if det.abs() > error && error > 1e-290 { sign(det) } else { exact_side(self.points, point) }
    }

    /// The sides that the corners of a triangle are on. Not by `map`, which is not inlined.
    #[inline(always)]
    fn sides(&self, &[a, b, c]: &[DVec3; 3]) -> [i8; 3] {
        [self.side(a), self.side(b), self.side(c)]
    }
}

/// The size of the largest part; of another one if that is NaN, which a sum then shows.
#[inline(always)]
fn largest(vector: DVec3) -> f64 {
    let more = |a: f64, b: f64| if a > b { a } else { b };
    more(more(vector.x.abs(), vector.y.abs()), vector.z.abs())
}

/// Returns true if two closed triangles have a point in common.
///
/// ```
/// use jostle::mesh::triangles_touch;
///
/// let flat = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(Into::into);
/// let upright = |z: f64| [[1.0, 1.0, z], [1.0, 1.0, 4.0], [2.0, 1.0, 4.0]].map(Into::into);
/// assert!(triangles_touch(&flat, &upright(0.0)));
/// assert!(!triangles_touch(&flat, &upright(1e-20)));
/// ```
#[must_use]
pub fn triangles_touch(one: &[DVec3; 3], other: &[DVec3; 3]) -> bool {
    let of_other = SpannedPlane::new(one).sides(other);
    if parted(of_other) {
        return false;
    }
    let of_one = SpannedPlane::new(other).sides(one);
    if parted(of_one) {
        return false;
    }
    if of_one.contains(&0) || of_other.contains(&0) {
        return any_edge_touches(one, other) || any_edge_touches(other, one);
    }
    cross(one, of_one, other, of_other)
}

/// Returns true if all corners are strictly on one side.
#[inline(always)]
fn parted(sides: [i8; 3]) -> bool {
    sides[0] != 0 && sides[0] == sides[1] && sides[0] == sides[2]
}

/// Turns a triangle until its first corner is alone on its side of the other's plane.
#[inline(always)]
fn lone_first(corners: &[DVec3; 3], sides: [i8; 3]) -> ([DVec3; 3], i8) {
    let [a, b, c] = *corners;
    if sides[1] == sides[2] {
        ([a, b, c], sides[0])
    } else if sides[2] == sides[0] {
        ([b, c, a], sides[1])
    } else {
        ([c, a, b], sides[2])
    }
}

/// Triangles each of which has corners strictly on both sides of the other's plane: do the
/// stretches in which they meet the common line overlap?
fn cross(one: &[DVec3; 3], of_one: [i8; 3], other: &[DVec3; 3], of_other: [i8; 3]) -> bool {
    let ([p, mut q, mut r], above) = lone_first(one, of_one);
    let ([a, mut b, mut c], over) = lone_first(other, of_other);
    if above < 0 {
        (b, c) = (c, b);
    }
    if over < 0 {
        (q, r) = (r, q);
    }
    side(p, q, a, b) <= 0 && side(p, r, c, a) <= 0
}

fn any_edge_touches(edges: &[DVec3; 3], triangle: &[DVec3; 3]) -> bool {
    (0..3).any(|k| segment_touches_triangle(&[edges[k], edges[(k + 1) % 3]], triangle))
}

/// Returns true if a closed segment and a closed triangle have a point in common.
#[must_use]
pub fn segment_touches_triangle(segment: &[DVec3; 2], triangle: &[DVec3; 3]) -> bool {
    let ([p, q], [a, b, c]) = (*segment, *triangle);
    let Some(plane) = proper_shadow(triangle) else {
        return [[a, b], [b, c], [c, a]].iter().any(|edge| segments_touch(segment, edge));
    };
    let (at_p, at_q) = (side(a, b, c, p), side(a, b, c, q));
    if at_p * at_q > 0 {
        return false;
    }
    if at_p == 0 && at_q == 0 {
        return flat_segment_touches_triangle(segment, triangle, plane);
    }
    let around = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    !(around.contains(&1) && around.contains(&-1))
}

/// The planes that shadows fall on, as two axes each.
const SHADOWS: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

type Plane = (usize, usize);

/// The turn from `a` over `b` to `c`, seen on a coordinate plane.
fn turn((u, v): Plane, a: DVec3, b: DVec3, c: DVec3) -> i8 {
    let at = |point: DVec3| Coord { x: point[u], y: point[v] };
    sign(orient2d(at(a), at(b), at(c)))
}

/// A coordinate plane on which the triangle's shadow has an area; none if the triangle has none.
fn proper_shadow([a, b, c]: &[DVec3; 3]) -> Option<Plane> {
    SHADOWS.into_iter().find(|&plane| turn(plane, *a, *b, *c) != 0)
}

/// Segment and triangle in one plane.
fn flat_segment_touches_triangle(
    segment: &[DVec3; 2],
    &[a, b, c]: &[DVec3; 3],
    plane: Plane,
) -> bool {
    let whole = turn(plane, a, b, c);
    let inside = |p: DVec3| {
        [(a, b), (b, c), (c, a)].iter().all(|&(from, to)| turn(plane, from, to, p) * whole >= 0)
    };
    inside(segment[0])
        || inside(segment[1])
        || [[a, b], [b, c], [c, a]].iter().any(|edge| flat_segments_touch(segment, edge, plane))
}

/// Do two segments in one plane touch?
fn flat_segments_touch([p, q]: &[DVec3; 2], [a, b]: &[DVec3; 2], plane: Plane) -> bool {
    let (of_p, of_q) = (turn(plane, *a, *b, *p), turn(plane, *a, *b, *q));
    let (of_a, of_b) = (turn(plane, *p, *q, *a), turn(plane, *p, *q, *b));
    if of_p * of_q < 0 && of_a * of_b < 0 {
        return true;
    }
    // A point on the line of a segment is on the segment if it is within its bounds.
    let on = |from: &DVec3, to: &DVec3, point: &DVec3| {
        [plane.0, plane.1]
            .iter()
            .all(|&k| from[k].min(to[k]) <= point[k] && point[k] <= from[k].max(to[k]))
    };
    of_p == 0 && on(a, b, p)
        || of_q == 0 && on(a, b, q)
        || of_a == 0 && on(p, q, a)
        || of_b == 0 && on(p, q, b)
}

/// Do two segments, or points, touch?
fn segments_touch(one: &[DVec3; 2], other: &[DVec3; 2]) -> bool {
    let ([p, q], [a, b]) = (*one, *other);
    if side(p, q, a, b) != 0 {
        return false;
    }
    let triples = [[p, q, a], [p, q, b], [p, a, b], [q, a, b]];
    if let Some(plane) = triples.iter().find_map(proper_shadow) {
        return flat_segments_touch(one, other, plane);
    }
    // All on one line, along which the order of the coordinates is that of the points.
    let key = |point: DVec3| (point.x, point.y, point.z);
    let ordered = |one: DVec3, other: DVec3| {
        if key(one) <= key(other) { (key(one), key(other)) } else { (key(other), key(one)) }
    };
    let ((low, high), (from, to)) = (ordered(p, q), ordered(a, b));
    low <= to && from <= high
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(points: [[f64; 3]; 3]) -> [DVec3; 3] {
        points.map(DVec3::from_array)
    }

    /// All six orders of the corners of both, both ways round.
    fn touch(one: [[f64; 3]; 3], other: [[f64; 3]; 3]) -> bool {
        let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
        let expected = triangles_touch(&t(one), &t(other));
        for order in orders {
            for second in orders {
                let (a, b) = (order.map(|k| t(one)[k]), second.map(|k| t(other)[k]));
                assert_eq!(triangles_touch(&a, &b), expected, "{one:?} {other:?}");
                assert_eq!(triangles_touch(&b, &a), expected, "{one:?} {other:?}");
            }
        }
        expected
    }

    const T: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];

    #[test]
    fn the_tiny_cases() {
        let hits = [
            [[1.0, 1.0, 0.0], [5.0, 1.0, 0.0], [1.0, 5.0, 0.0]],
            [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.5, 1.0, 0.0]],
            [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, -4.0, 0.0]],
            [[4.0, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 4.0, 0.0]],
            [[1.0, 1.0, 0.0], [1.0, 1.0, 4.0], [2.0, 1.0, 4.0]],
            [[2.0, 0.0, 0.0], [2.0, -4.0, 1.0], [2.0, -4.0, -1.0]],
            [[0.0, 0.0, 0.0], [-4.0, 0.0, 1.0], [0.0, -4.0, 3.0]],
            [[2.0, 0.0, -1.0], [2.0, 0.0, 1.0], [2.0, -4.0, 0.0]],
            [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 4.0]],
        ];
        assert!(hits.iter().all(|other| touch(T, *other)));
        assert!(!touch(T, [[4.000001, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 4.0, 0.0]]));
        for gap in [1e-6, 1e-9, 1e-20] {
            assert!(!touch(T, [[1.0, 1.0, gap], [1.0, 1.0, 4.0], [2.0, 1.0, 4.0]]));
        }
    }

    #[test]
    fn triangles_without_area_are_what_they_look_like() {
        let point = |x: f64, y: f64, z: f64| [[x, y, z]; 3];
        assert!(touch(T, point(1.0, 1.0, 0.0)));
        assert!(touch(T, point(4.0, 0.0, 0.0)) && touch(T, point(2.0, 2.0, 0.0)));
        assert!(!touch(T, point(2.0, 2.0000001, 0.0)) && !touch(T, point(1.0, 1.0, 1e-20)));
        assert!(touch(T, [[1.0, 1.0, -1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]));
        assert!(!touch(T, [[3.0, 3.0, -1.0], [3.0, 3.0, 0.0], [3.0, 3.0, 1.0]]));
        // Segments against segments: crossing, on one line, apart.
        let along = |from: f64, to: f64| [[from, 0.0, 0.0], [to, 0.0, 0.0], [from, 0.0, 0.0]];
        assert!(touch(along(0.0, 2.0), along(2.0, 3.0)));
        assert!(!touch(along(0.0, 2.0), along(2.5, 3.0)));
        assert!(touch(along(0.0, 2.0), [[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]));
        assert!(!touch(along(0.0, 2.0), [[1.0, -1.0, 1e-30], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]));
        assert!(touch(point(1.0, 2.0, 3.0), point(1.0, 2.0, 3.0)));
        assert!(!touch(point(1.0, 2.0, 3.0), point(1.0, 2.0, 4.0)));
    }

    /// Exact by integers: the Minkowski difference of small integer triangles holds the origin.
    /// Decided by trying every plane through three of its nine corners, all in i64.
    fn touch_in_integers(one: [[i64; 3]; 3], other: [[i64; 3]; 3]) -> bool {
        let points: Vec<[i64; 3]> = one
            .iter()
            .flat_map(|a| other.iter().map(move |b| [a[0] - b[0], a[1] - b[1], a[2] - b[2]]))
            .collect();
        let sub = |a: [i64; 3], b: [i64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let cross = |a: [i64; 3], b: [i64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let dot = |a: [i64; 3], b: [i64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        // A direction that parts the origin from the hull strictly: normals of faces, and for
        // flat hulls directions within, from edges and points.
        let mut directions = Vec::new();
        let edges: Vec<[i64; 3]> =
            points.iter().flat_map(|a| points.iter().map(move |b| sub(*a, *b))).collect();
        for a in &edges {
            for b in &edges {
                let normal = cross(*a, *b);
                directions.push(normal);
                directions.push(cross(normal, *a));
            }
            // Perpendicular to a line, towards the origin.
            for p in &points {
                directions.push(cross(cross(*a, *p), *a));
            }
        }
        directions.extend(&points);
        directions.extend(&edges);
        !directions.iter().any(|d| {
            points.iter().all(|p| dot(*d, *p) > 0) || points.iter().all(|p| dot(*d, *p) < 0)
        })
    }

    #[test]
    fn small_integer_triangles_agree_with_integer_arithmetic() {
        let mut state = 1u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut hits = 0;
        for round in 0..1200 {
            let range = [2, 3, 5, 9][round % 4];
            let mut triangle = || [(); 3].map(|()| [(); 3].map(|()| next(range) as i64));
            let (mut one, other) = (triangle(), triangle());
            if round % 5 == 0 {
                one.iter_mut().for_each(|corner| corner[2] = 1);
            }
            let expected = touch_in_integers(one, other);
            let real = |t: [[i64; 3]; 3]| t.map(|corner| corner.map(|at| at as f64));
            assert_eq!(touch(real(one), real(other)), expected, "{one:?} {other:?}");
            hits += usize::from(expected);
        }
        assert!((300..900).contains(&hits), "{hits}");
    }
}
