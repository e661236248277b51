//! From a cloud of points to a [`Shell`]: checks, scale, dimension, and the choice of builder.

use super::super::error::{ShapeError, check_point};
use super::faces::merge_faces;
use super::flat::polygon;
use super::quickhull::{Surface, quickhull};
use super::{Lists, Shell};
use glam::DVec3;
use robust::{Coord3D, orient3d};

/// Points this near to the hull of the others, relative to the largest coordinate, are not
/// vertices: sixty-four units in the last place covers the noise of a rotation or two in the
/// input and the roundings of the distances here.
const EPSILON: f64 = 64.0 * f64::EPSILON;

/// Triangles this near to one plane are one face, and clouds this thin are flat. Larger than
/// [`EPSILON`], so that no vertex is both needed by the surface and lost in a face.
pub(super) const MERGE: f64 = 4.0 * EPSILON;

/// Coordinates this small, relative to the largest, count as zero: products of three differences
/// then stay in the range in which the predicates are exact.
const VANISHING: f64 = 1e-60;

/// Vertices inside a merged face or edge are dropped and the rest is built again; two rounds are
/// usual, the bound only makes the end certain.
const ROUNDS: usize = 8;

/// Indices are 32 bits wide and quickhull's marks need two of them.
const MOST_POINTS: usize = 1 << 30;

/// The hull of the points, up to the tolerance stated at [`Hull::new`](super::Hull::new).
pub(in super::super) fn shell(points: &[DVec3]) -> Result<Shell, ShapeError> {
    if points.is_empty() {
        return Err(ShapeError::EmptyHull);
    }
    if points.len() > MOST_POINTS {
        return Err(ShapeError::TooManyPoints { count: points.len() });
    }
    for (index, &point) in points.iter().enumerate() {
        check_point("points", index, point)?;
    }
    let scaled = scale(points);
    let mut chosen: Vec<u32> = (0..points.len() as u32).collect();
    // The vertices of the first round: those that a later one lacks must lie on what is left.
    let mut needed = Vec::new();
    for round in 0..ROUNDS {
        let subset: Vec<DVec3> = chosen.iter().map(|&point| scaled[point as usize]).collect();
        let (mut shell, lost) = attempt(&subset, round + 1 < ROUNDS);
        for vertex in &mut shell.vertices {
            *vertex = chosen[*vertex as usize];
        }
        if round == 0 {
            needed.clone_from(&shell.vertices);
        }
        if !lost.contains(&true) {
            if needed.iter().all(|&point| lies_on(&shell, &scaled, point)) {
                return Ok(shell);
            }
            // Faces as thin as the tolerance can swallow an end of a needle when they merge.
            return Ok(attempt(&scaled, false).0);
        }
        let kept = shell.vertices.iter().zip(&lost).filter(|(_, lost)| !**lost);
        chosen = kept.map(|(&vertex, _)| vertex).collect();
    }
    unreachable!("the last round merges nothing, so it loses nothing")
}

/// Returns true if the point is within [`MERGE`], and the roundings of measuring that, of the
/// shell.
fn lies_on(shell: &Shell, points: &[DVec3], point: u32) -> bool {
    if shell.vertices.binary_search(&point).is_ok() {
        return true;
    }
    let at = points[point as usize];
    let corner = |vertex: u32| points[shell.vertices[vertex as usize] as usize];
    let near = |distance: f64| distance <= 1.5 * MERGE;
    match shell.dimension {
        0 => near(at.distance(corner(0))),
        1 => near(from_segment(at, corner(0), corner(1))),
        _ => shell.triangles.iter().any(|triangle| near(from_triangle(at, triangle.map(corner)))),
    }
}

/// Distance of a point from a segment.
pub(super) fn from_segment(point: DVec3, from: DVec3, to: DVec3) -> f64 {
    let side = to - from;
    let square = side.length_squared();
    let along = if square > 0.0 { side.dot(point - from) / square } else { 0.0 };
    (point - from - side * along.clamp(0.0, 1.0)).length()
}

/// Distance of a point from a triangle, however thin: the plane counts only over the inside, as
/// seen from along and across the longest side.
fn from_triangle(point: DVec3, corners: [DVec3; 3]) -> f64 {
    let sides = [0, 1, 2].map(|k| from_segment(point, corners[k], corners[(k + 1) % 3]));
    let sides = sides.into_iter().fold(f64::INFINITY, f64::min);
    let square = |k: usize| corners[k].distance_squared(corners[(k + 1) % 3]);
    let longest = (1..3).fold(0, |best, k| if square(k) > square(best) { k } else { best });
    let (from, to, apex) =
        (corners[longest], corners[(longest + 1) % 3], corners[(longest + 2) % 3]);
    let Some(along) = (to - from).try_normalize() else { return sides };
    let Some(normal) = across(along, apex - from) else { return sides };
    let up = normal.cross(along);
    let flat = |point: DVec3| (along.dot(point - from), up.dot(point - from));
    let ((x, y), (end, _), (tip, height)) = (flat(point), flat(to), flat(apex));
    let over =
        0.0 <= y && y <= height && x * height >= tip * y && (end - x) * height >= (end - tip) * y;
    if over { normal.dot(point - from).abs().min(sides) } else { sides }
}

/// The unit normal of the plane of a unit vector and a point, across the vector to the last bit: an
/// error along it would count as many times as the plane is longer than wide.
pub(super) fn across(along: DVec3, to: DVec3) -> Option<DVec3> {
    let side = to - along * along.dot(to);
    let side = side - along * along.dot(side);
    along.cross(side).try_normalize()
}

/// The points times a power of two, so that the largest coordinate is in `[0.5, 1]`: exact but for
/// what vanishes, and no product of three of them overflows.
pub(super) fn scale(points: &[DVec3]) -> Vec<DVec3> {
    let largest = points.iter().map(|point| point.abs().max_element()).fold(0.0, f64::max);
    if largest == 0.0 {
        return vec![DVec3::ZERO; points.len()];
    }
    let exponent = largest.log2().ceil().clamp(-1020.0, 1020.0);
    let factor = (-exponent).exp2();
    // Zero for -0.0 as well, which sorts as another number.
    let shrunk = |value: f64| if (value * factor).abs() < VANISHING { 0.0 } else { value * factor };
    points.iter().map(|point| point.map(shrunk)).collect()
}

/// One round: the shell, and which of its vertices turned out to lie inside a face or edge.
pub(super) fn attempt(points: &[DVec3], merge: bool) -> (Shell, Vec<bool>) {
    match simplex(points) {
        Simplex::Point(a) => (flat_shell(0, vec![a]), vec![false]),
        Simplex::Segment(a, b) => (flat_shell(1, vec![a.min(b), a.max(b)]), vec![false; 2]),
        Simplex::Plane(normal) => {
            let shell = polygon(points, normal, EPSILON);
            let count = shell.vertices.len();
            (shell, vec![false; count])
        }
        Simplex::Solid(tetrahedron) => solid(points, tetrahedron, merge),
    }
}

fn flat_shell(dimension: u8, vertices: Vec<u32>) -> Shell {
    Shell { dimension, vertices, ..Shell::default() }
}

fn solid(points: &[DVec3], tetrahedron: [u32; 4], merge: bool) -> (Shell, Vec<bool>) {
    let mut surface = quickhull(points, tetrahedron, EPSILON);
    let vertices = renumber(&mut surface, points.len());
    let corners: Vec<DVec3> = vertices.iter().map(|&vertex| points[vertex as usize]).collect();
    let (faces, lost) = if merge {
        merge_faces(&corners, &surface, MERGE)
    } else {
        let mut faces = Lists::default();
        surface.triangles.iter().for_each(|triangle| faces.push(triangle));
        (faces, vec![false; vertices.len()])
    };
    (Shell { dimension: 3, vertices, triangles: surface.triangles, faces }, lost)
}

/// Numbers the vertices in use from zero, in ascending order, and returns their old numbers.
fn renumber(surface: &mut Surface, count: usize) -> Vec<u32> {
    let mut number = vec![u32::MAX; count];
    for &vertex in surface.triangles.as_flattened() {
        number[vertex as usize] = 0;
    }
    let vertices: Vec<u32> = (0..count as u32).filter(|&v| number[v as usize] == 0).collect();
    for (position, &vertex) in vertices.iter().enumerate() {
        number[vertex as usize] = position as u32;
    }
    for vertex in surface.triangles.as_flattened_mut() {
        *vertex = number[*vertex as usize];
    }
    vertices
}

enum Simplex {
    Point(u32),
    Segment(u32, u32),
    /// The normal of the plane.
    Plane(DVec3),
    Solid([u32; 4]),
}

/// The largest simplex found greedily: two far points, the furthest from their line, the
/// furthest from that plane. Less than [`MERGE`] at any step means that the cloud is flatter.
fn simplex(points: &[DVec3]) -> Simplex {
    let (a, b) = far_pair(points);
    let (from, along) = (points[a as usize], points[b as usize] - points[a as usize]);
    let length = along.length();
    if length <= MERGE {
        return Simplex::Point(a);
    }
    let along = along / length;
    let (c, width) = furthest(points, |point| (point - from).cross(along).length());
    if width <= MERGE {
        return Simplex::Segment(a, b);
    }
    let Some(normal) = across(along, points[c as usize] - from) else {
        return Simplex::Segment(a, b);
    };
    let (d, thickness) = furthest(points, |point| normal.dot(point - from).abs());
    if thickness <= MERGE {
        return Simplex::Plane(normal);
    }
    let [p, q, r, s] = [a, b, c, d].map(|index| {
        let DVec3 { x, y, z } = points[index as usize];
        Coord3D { x, y, z }
    });
    // The first orientation is exact like all that follow: the surface stands on it. Positive is
    // below the plane.
    match orient3d(p, q, r, s) {
        below if below > 0.0 => Simplex::Solid([a, b, c, d]),
        above if above < 0.0 => Simplex::Solid([b, a, c, d]),
        _ => Simplex::Plane(normal),
    }
}

/// The extreme points along the axis on which the cloud is longest.
fn far_pair(points: &[DVec3]) -> (u32, u32) {
    let mut pair = [(0, 0); 3];
    for (index, point) in points.iter().enumerate() {
        for axis in 0..3 {
            let (low, high) = &mut pair[axis];
            if point[axis] < points[*low][axis] {
                *low = index;
            }
            if point[axis] > points[*high][axis] {
                *high = index;
            }
        }
    }
    let extent = |axis: usize| points[pair[axis].1][axis] - points[pair[axis].0][axis];
    let mut longest = 0;
    for axis in 1..3 {
        if extent(axis) > extent(longest) {
            longest = axis;
        }
    }
    (pair[longest].0 as u32, pair[longest].1 as u32)
}

/// The first point of the largest measure, and the measure.
fn furthest(points: &[DVec3], measure: impl Fn(DVec3) -> f64) -> (u32, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, &point) in points.iter().enumerate() {
        let value = measure(point);
        if value > best.1 {
            best = (index as u32, value);
        }
    }
    best
}
