//! From triangles to faces: merging what is coplanar, planes, edges, adjacency.

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
        near_line(point, from, to, tolerance)
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

/// Returns true if the point is within the tolerance of the segment.
fn near_line(point: DVec3, from: DVec3, to: DVec3, tolerance: f64) -> bool {
    let side = to - from;
    let square = side.length_squared();
    let along = if square > 0.0 { side.dot(point - from) / square } else { 0.0 };
    (point - from - side * along.clamp(0.0, 1.0)).length() <= tolerance
}

fn cross(points: &[DVec3], [a, b, c]: [u32; 3]) -> DVec3 {
    let [a, b, c] = [a, b, c].map(|corner| points[corner as usize]);
    (b - a).cross(c - a)
}

/// Unit normals and offsets of the faces.
pub(super) fn planes(vertices: &[DVec3], shell: &Shell) -> (Vec<DVec3>, Vec<f64>) {
    let count = shell.faces.len() as u32;
    let mut normals: Vec<DVec3> =
        (0..count).map(|f| normal(vertices, shell.faces.get(f))).collect();
    if shell.dimension == 2 {
        // Front and back share one plane: exactly opposite normals.
        normals[1] = -normals[0];
    }
    let offset = |face: u32| {
        let reach = |&vertex: &u32| normals[face as usize].dot(vertices[vertex as usize]);
        shell.faces.get(face).iter().map(reach).fold(f64::NEG_INFINITY, f64::max)
    };
    let offsets = (0..count).map(offset).collect();
    (normals, offsets)
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
