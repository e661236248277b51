//! From a cloud of points to a [`Shell`]: checks, scale, dimension, and the choice of builder.

use super::super::error::{ShapeError, check_point};
use super::faces::merge_faces;
use super::flat::polygon;
use super::quickhull::{Surface, quickhull};
use super::{Lists, Shell};
use glam::DVec3;

/// Points this near to the hull of the others, relative to the largest coordinate, are not
/// vertices: sixty-four units in the last place covers the noise of a rotation or two in the
/// input and the roundings of the distances here.
const EPSILON: f64 = 64.0 * f64::EPSILON;

/// Triangles this near to one plane are one face, and clouds this thin are flat. Larger than
/// [`EPSILON`], so that no vertex is both needed by the surface and lost in a face.
const MERGE: f64 = 4.0 * EPSILON;

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
    for round in 0..ROUNDS {
        let subset: Vec<DVec3> = chosen.iter().map(|&point| scaled[point as usize]).collect();
        let (mut shell, lost) = attempt(&subset, round + 1 < ROUNDS);
        for vertex in &mut shell.vertices {
            *vertex = chosen[*vertex as usize];
        }
        if !lost.contains(&true) {
            return Ok(shell);
        }
        let kept = shell.vertices.iter().zip(&lost).filter(|(_, lost)| !**lost);
        chosen = kept.map(|(&vertex, _)| vertex).collect();
    }
    unreachable!("the last round merges nothing, so it loses nothing")
}

/// The points times a power of two, so that the largest coordinate is in `[0.5, 1]`: exact, and
/// no product of three of them overflows.
fn scale(points: &[DVec3]) -> Vec<DVec3> {
    let largest = points.iter().map(|point| point.abs().max_element()).fold(0.0, f64::max);
    if largest == 0.0 {
        return vec![DVec3::ZERO; points.len()];
    }
    let exponent = largest.log2().ceil().clamp(-1020.0, 1020.0);
    let factor = (-exponent).exp2();
    // Adding zero turns -0.0 into 0.0, which sort as two different numbers.
    points.iter().map(|&point| point * factor + DVec3::ZERO).collect()
}

/// One round: the shell, and which of its vertices turned out to lie inside a face or edge.
fn attempt(points: &[DVec3], merge: bool) -> (Shell, Vec<bool>) {
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
    let normal = along.cross(points[c as usize] - from).normalize();
    let (d, thickness) = furthest(points, |point| normal.dot(point - from).abs());
    if thickness <= MERGE {
        return Simplex::Plane(normal);
    }
    let below = normal.dot(points[d as usize] - from) < 0.0;
    Simplex::Solid(if below { [a, b, c, d] } else { [b, a, c, d] })
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
