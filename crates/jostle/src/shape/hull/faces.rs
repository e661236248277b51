//! From triangles to faces: merging what is coplanar, planes, edges, adjacency.

use super::build::{MERGE, across, from_segment, scale};
use super::quickhull::Surface;
use super::{HullEdge, Lists, Shell};
use glam::DVec3;

const NONE: u32 = u32::MAX;

/// Merges neighbouring triangles that lie within `tolerance` of the plane of the largest of
/// them. Returns the faces and, for each vertex, whether it lies inside a face or an edge and
/// is not needed.
pub(super) fn merge_faces(
    points: &[DVec3],
    surface: &Surface,
    tolerance: f64,
) -> (Lists, Vec<bool>) {
    let triangles = &surface.triangles;
    let crosses: Vec<DVec3> = triangles.iter().map(|&triangle| cross(points, triangle)).collect();
    let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
    let area = |triangle: u32| crosses[triangle as usize].length_squared();
    // Large triangles have the most trustworthy planes.
    order.sort_by(|&i, &j| area(j).total_cmp(&area(i)).then(i.cmp(&j)));
    let mut face_of = vec![NONE; triangles.len()];
    let mut faces = Lists::default();
    let mut leaving = vec![NONE; points.len()];
    for seed in order {
        if face_of[seed as usize] != NONE {
            continue;
        }
        let plane = Plane { points, surface, crosses: &crosses, seed, tolerance };
        let region = plane.grow(&mut face_of, faces.len() as u32);
        match outline(surface, &region, &face_of, &mut leaving) {
            Some(ring) => faces.push(&ring),
            None => split(surface, &region, &mut face_of, &mut faces),
        }
    }
    let lost = lost_vertices(points, &faces, &faces_of_vertices(triangles, &face_of), tolerance);
    (faces, lost)
}

struct Plane<'a> {
    points: &'a [DVec3],
    surface: &'a Surface,
    crosses: &'a [DVec3],
    seed: u32,
    tolerance: f64,
}

impl Plane<'_> {
    /// The triangles without a face that can be reached from the seed within its plane.
    fn grow(&self, face_of: &mut [u32], face: u32) -> Vec<u32> {
        let normal = self.crosses[self.seed as usize].normalize_or_zero();
        let origin = self.points[self.surface.triangles[self.seed as usize][0] as usize];
        let near = |triangle: u32| {
            let corners =
                self.surface.triangles[triangle as usize].map(|c| self.points[c as usize]);
            let longest = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3]));
            let longest = longest.fold(0.0, f64::max);
            // Not turned over, as the back of a plate would be. The normal of a triangle that is
            // thinner than the tolerance is noise, so it may point anywhere.
            normal.dot(self.crosses[triangle as usize]) >= -self.tolerance * longest
                && corners.iter().all(|&c| normal.dot(c - origin).abs() <= self.tolerance)
        };
        let mut region = vec![self.seed];
        face_of[self.seed as usize] = face;
        // A triangle too small to have a plane stays alone; its neighbours may take it in.
        let mut done = if normal == DVec3::ZERO { 1 } else { 0 };
        while done < region.len() {
            for &neighbour in &self.surface.neighbours[region[done] as usize] {
                if face_of[neighbour as usize] == NONE && near(neighbour) {
                    face_of[neighbour as usize] = face;
                    region.push(neighbour);
                }
            }
            done += 1;
        }
        region
    }
}

/// The ring of vertices around a region, or nothing if its border is not one ring.
fn outline(
    surface: &Surface,
    region: &[u32],
    face_of: &[u32],
    leaving: &mut [u32],
) -> Option<Vec<u32>> {
    let face = face_of[region[0] as usize];
    let mut border = Vec::new();
    for &triangle in region {
        let corners = surface.triangles[triangle as usize];
        for edge in 0..3 {
            let beyond = surface.neighbours[triangle as usize][edge];
            if face_of[beyond as usize] != face {
                leaving[corners[edge] as usize] = border.len() as u32;
                border.push((corners[edge], corners[(edge + 1) % 3]));
            }
        }
    }
    let first = *border.first()?;
    let mut ring = Vec::with_capacity(border.len());
    let mut edge = first;
    for _ in 0..border.len() {
        ring.push(edge.0);
        edge = *border.get(leaving[edge.1 as usize] as usize)?;
        if edge.0 == first.0 {
            break;
        }
    }
    let chained = ring.len() == border.len() && edge.0 == first.0;
    chained.then_some(ring)
}

/// Gives every triangle of a region a face of its own.
fn split(surface: &Surface, region: &[u32], face_of: &mut [u32], faces: &mut Lists) {
    for &triangle in region {
        face_of[triangle as usize] = faces.len() as u32;
        faces.push(&surface.triangles[triangle as usize]);
    }
}

fn faces_of_vertices(triangles: &[[u32; 3]], face_of: &[u32]) -> Vec<(u32, u32)> {
    let corners = triangles.iter().zip(face_of);
    corners.flat_map(|(corners, &face)| corners.map(|corner| (corner, face))).collect()
}

/// Vertices with one face are inside it. Vertices with two are between them, and needed unless
/// they lie on the line between those that stay: on a thin plate front and back meet without
/// a third face even at the corners.
fn lost_vertices(
    points: &[DVec3],
    faces: &Lists,
    couples: &[(u32, u32)],
    tolerance: f64,
) -> Vec<bool> {
    let around = Lists::from_couples(points.len(), couples.to_vec());
    let mut lost: Vec<bool> =
        (0..points.len() as u32).map(|vertex| around.get(vertex).len() < 2).collect();
    for face in 0..faces.len() as u32 {
        let ring = faces.get(face);
        // Each run of such vertices belongs to two rings; the lower face decides.
        let between =
            |&vertex: &u32| around.get(vertex).len() == 2 && around.get(vertex)[0] == face;
        // In a ring of nothing else the first vertex stays, whatever it is.
        let start = ring.iter().position(|vertex| !between(vertex)).unwrap_or(0);
        let mut chain = vec![ring[start]];
        for step in 1..=ring.len() {
            let vertex = ring[(start + step) % ring.len()];
            chain.push(vertex);
            if step == ring.len() || !between(&vertex) {
                thin(points, &chain, tolerance, &mut lost);
                chain = vec![vertex];
            }
        }
    }
    lost
}

/// How many vertices in a row a bent chain may lose; each is checked against the final line.
const LONGEST_RUN: usize = 64;

/// Loses what lies on the line between the endpoints of a chain; if it is not straight, then on the
/// line from the last vertex that stayed to the next. The whole comes first because rounding can
/// fold the border of two faces: along an edge it may go two steps forward and one back.
fn thin(points: &[DVec3], chain: &[u32], tolerance: f64, lost: &mut [bool]) {
    let near = |vertex: u32, from: u32, to: u32| {
        let [point, from, to] = [vertex, from, to].map(|index| points[index as usize]);
        from_segment(point, from, to) <= tolerance
    };
    let last = chain.len() - 1;
    let mut inner = chain[1..last].iter();
    if inner.all(|&vertex| near(vertex, chain[0], chain[last])) {
        chain[1..last].iter().for_each(|&vertex| lost[vertex as usize] = true);
        return;
    }
    let mut anchor = 0;
    for position in 1..last {
        let run = &chain[anchor + 1..=position];
        let straight = run.iter().all(|&v| near(v, chain[anchor], chain[position + 1]));
        if straight && run.len() <= LONGEST_RUN {
            lost[chain[position] as usize] = true;
        } else {
            anchor = position;
        }
    }
}

fn cross(points: &[DVec3], [a, b, c]: [u32; 3]) -> DVec3 {
    let [a, b, c] = [a, b, c].map(|corner| points[corner as usize]);
    (b - a).cross(c - a)
}

/// Unit normals of the faces, and how far the hull reaches along them. `reach` finds that out for a
/// direction, beginning at a vertex.
pub(super) fn planes(
    vertices: &[DVec3],
    shell: &Shell,
    reach: impl Fn(DVec3, u32) -> f64,
) -> (Vec<DVec3>, Vec<f64>) {
    let largest = vertices.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
    let solid = shell.dimension == 3;
    let count = shell.faces.len();
    let (mut normals, mut offsets) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for ring in (0..count as u32).map(|face| shell.faces.get(face)) {
        // Front and back of a polygon share one plane: exactly opposite normals.
        let opposite = (!solid).then(|| normals.first().map(|&front: &DVec3| -front)).flatten();
        let normal = opposite.unwrap_or_else(|| {
            let normal = normal(vertices, ring);
            let spread = spread(vertices, ring, solid, &reach, normal);
            if spread <= 2.0 * MERGE * largest {
                return normal;
            }
            let better = careful_normals(vertices, ring).into_iter().chain([normal]);
            let spread = |normal: &DVec3| self::spread(vertices, ring, solid, &reach, *normal);
            better.min_by(|a, b| spread(a).total_cmp(&spread(b))).unwrap_or(normal)
        });
        normals.push(normal);
        offsets.push(reach(normal, ring[0]).max(span(vertices, ring, normal).1));
    }
    (normals, offsets)
}

/// The least and the largest height of a ring along a direction.
fn span(vertices: &[DVec3], ring: &[u32], direction: DVec3) -> (f64, f64) {
    let heights = ring.iter().map(|&vertex| direction.dot(vertices[vertex as usize]));
    heights.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), height| {
        (low.min(height), high.max(height))
    })
}

/// How far the corners of a face are from the plane across a normal that touches the hull, or for a
/// polygon from each other along it.
fn spread(
    vertices: &[DVec3],
    ring: &[u32],
    solid: bool,
    reach: impl Fn(DVec3, u32) -> f64,
    normal: DVec3,
) -> f64 {
    let (low, high) = span(vertices, ring, normal);
    if solid { reach(normal, ring[0]).max(high) - low } else { high - low }
}

/// Normals of a ring too thin for [`normal`], whose error counts as many times as the ring is
/// longer than wide: one across the longest line of the ring, and one of every triangle of a fan,
/// its cross product taken with twice the digits.
fn careful_normals(vertices: &[DVec3], ring: &[u32]) -> Vec<DVec3> {
    let points: Vec<DVec3> = ring.iter().map(|&vertex| vertices[vertex as usize]).collect();
    let points = scale(&points);
    let fan = points[1..].windows(2).map(|pair| exact_cross(points[0], pair[0], pair[1]));
    let mut all: Vec<DVec3> = fan.filter_map(DVec3::try_normalize).collect();
    all.extend(across_longest(&points));
    all
}

fn across_longest(points: &[DVec3]) -> Option<DVec3> {
    let furthest = |from: DVec3| {
        let distance = |k: &usize| points[*k].distance_squared(from);
        (0..points.len()).max_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(0)
    };
    let first = furthest(points[0]);
    let last = furthest(points[first]);
    let along = (points[last] - points[first]).try_normalize()?;
    let width = |k: &usize| along.cross(points[*k] - points[first]).length_squared();
    let third = (0..points.len()).max_by(|i, j| width(i).total_cmp(&width(j)))?;
    let normal = across(along, points[third] - points[first])?;
    // The ring runs counter-clockwise, and so do its corners in their order.
    let ahead = |from: usize, to: usize| (to + points.len() - from) % points.len();
    Some(if ahead(first, last) < ahead(first, third) { normal } else { -normal })
}

/// The cross product of two sides of a triangle, as if with twice the digits.
fn exact_cross(a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
    let (first, second) = (difference(b, a), difference(c, a));
    let minor = |i: usize, j: usize| {
        let (one, other) = (product(first[i], second[j]), product(first[j], second[i]));
        let (high, low) = two_sum(one.0, -other.0);
        high + (low + (one.1 - other.1))
    };
    DVec3::new(minor(1, 2), minor(2, 0), minor(0, 1))
}

/// The sum of two numbers, and what rounding left out (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

fn difference(a: DVec3, b: DVec3) -> [(f64, f64); 3] {
    [0, 1, 2].map(|k| two_sum(a[k], -b[k]))
}

fn product(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let high = a.0 * b.0;
    (high, a.0.mul_add(b.0, -high) + (a.0 * b.1 + a.1 * b.0))
}

/// The normal of a polygon: the sum of the cross products of a fan, scaled first so that
/// neither tiny nor huge polygons lose it.
fn normal(vertices: &[DVec3], ring: &[u32]) -> DVec3 {
    let origin = vertices[ring[0] as usize];
    let spokes: Vec<DVec3> = ring[1..].iter().map(|&v| vertices[v as usize] - origin).collect();
    let largest = spokes.iter().map(|spoke| spoke.abs().max_element()).fold(0.0, f64::max);
    let sum: DVec3 =
        spokes.windows(2).map(|pair| (pair[0] / largest).cross(pair[1] / largest)).sum();
    super::super::unit(sum)
}

/// The edges between faces, sorted by their vertices.
pub(super) fn edges(shell: &Shell) -> Vec<HullEdge> {
    if shell.dimension == 1 {
        return vec![HullEdge { vertices: [0, 1], faces: [HullEdge::NO_FACE; 2] }];
    }
    let mut sides = Vec::new();
    for face in 0..shell.faces.len() as u32 {
        let ring = shell.faces.get(face);
        for (position, &from) in ring.iter().enumerate() {
            let to = ring[(position + 1) % ring.len()];
            sides.push((from.min(to), from.max(to), from > to, face));
        }
    }
    sides.sort_unstable();
    // Each edge appears once in either direction, the forward one sorted first.
    let edge = |pair: &[(u32, u32, bool, u32)]| HullEdge {
        vertices: [pair[0].0, pair[0].1],
        faces: [pair[0].3, pair[1].3],
    };
    sides.chunks_exact(2).map(edge).collect()
}

/// Vertex adjacency along the triangulation; along the polygon for flat hulls.
pub(super) fn neighbours(shell: &Shell, edges: &[HullEdge]) -> Lists {
    let mut couples = Vec::new();
    for edge in edges {
        let [a, b] = edge.vertices;
        couples.extend([(a, b), (b, a)]);
    }
    if shell.dimension == 3 {
        for &[a, b, c] in &shell.triangles {
            couples.extend([(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)]);
        }
    }
    Lists::from_couples(shell.vertices.len(), couples)
}
