//! Points against boxes, triangles and hulls.

use super::{Nearest, SurfacePart, unit_or};
use crate::narrow::gjk::{self, End};
use crate::narrow::pair::{Core, Cores};
use crate::narrow::simplex::Simplex;
use crate::narrow::solve::{GJK_STEPS, POLYHEDRAL_GAP};
use crate::shape::{Hull, HullEdge, PoseMatrix};
use glam::{DMat3, DVec3};

/// Width over length under which a triangle has no face.
const THIN: f64 = 1e-14;

/// Up to this many faces, a pass over them all comes first: it costs less than GJK.
const FEW_FACES: usize = 48;

/// Distances up to this share of the size are seen from the planes of the faces rather than from
/// the difference of two points, which rounding turns.
const CLOSE: f64 = 1e-12;

/// A number of a box's vertex; see [`SurfacePart`].
fn box_vertex(point: DVec3) -> u32 {
    (0..3).map(|axis| u32::from(point[axis] < 0.0) << axis).sum()
}

pub(super) fn cuboid(half: DVec3, point: DVec3) -> Nearest {
    let beyond = point.abs() - half;
    let outside = [0, 1, 2].map(|axis| beyond[axis] > 0.0);
    let count = outside.iter().filter(|&&outside| outside).count();
    let face = |axis: usize| SurfacePart::Face(2 * axis as u32 + u32::from(point[axis] < 0.0));
    if count <= 1 {
        // Inside, or over a face: the first axis of the least room.
        let axis = (0..3).fold(0, |best, k| if beyond[k] > beyond[best] { k } else { best });
        let mut normal = DVec3::ZERO;
        normal[axis] = if point[axis] < 0.0 { -1.0 } else { 1.0 };
        let mut on_face = point;
        on_face[axis] = normal[axis] * half[axis];
        return Nearest { point: on_face, normal, signed: beyond[axis], part: face(axis) };
    }
    let nearest = point.max(-half).min(half);
    let (normal, signed) = unit_or(point - nearest, DVec3::X);
    let vertex = box_vertex(point);
    let part = match (0..3).find(|&axis| !outside[axis]) {
        Some(free) => SurfacePart::Edge([vertex & !(1 << free), vertex | 1 << free]),
        None => SurfacePart::Vertex(vertex),
    };
    Nearest { point: nearest, normal, signed, part }
}

/// Triangles have no inside: the distance is never negative, and the normal looks to the point.
pub(super) fn triangle(points: &[DVec3; 3], point: DVec3) -> Nearest {
    let sides = [[0, 1], [1, 2], [2, 0]];
    let longest =
        sides.map(|[i, j]| points[i].distance_squared(points[j])).into_iter().fold(0.0, f64::max);
    let across = (points[1] - points[0]).cross(points[2] - points[0]);
    let (normal, area) = unit_or(across, DVec3::Y);
    let flat = area <= THIN * longest;
    let over =
        |[i, j]: [usize; 2]| normal.dot((points[j] - points[i]).cross(point - points[i])) >= 0.0;
    if !flat && sides.into_iter().all(over) {
        let height = normal.dot(point - points[0]);
        let back = height < 0.0;
        return Nearest {
            point: point - normal * height,
            normal: if back { -normal } else { normal },
            signed: height.abs(),
            part: SurfacePart::Face(u32::from(back)),
        };
    }
    let otherwise = if flat { across_segment(points) } else { normal };
    let nearest = sides.map(|side| edge(points, side, point, otherwise));
    nearest.into_iter().reduce(|a, b| if b.signed < a.signed { b } else { a }).unwrap_or(nearest[0])
}

/// A direction out of a triangle without area.
fn across_segment(points: &[DVec3; 3]) -> DVec3 {
    let longer = |a: DVec3, b: DVec3| if b.length_squared() > a.length_squared() { b } else { a };
    let along = longer(longer(points[1] - points[0], points[2] - points[1]), points[0] - points[2]);
    across(along)
}

/// A unit vector across another.
fn across(along: DVec3) -> DVec3 {
    unit_or(along, DVec3::Y).0.any_orthonormal_vector()
}

fn edge(points: &[DVec3; 3], [i, j]: [usize; 2], point: DVec3, otherwise: DVec3) -> Nearest {
    let along = points[j] - points[i];
    let square = along.length_squared();
    let share = if square > 0.0 { along.dot(point - points[i]) / square } else { 0.0 };
    let (foot, part) = if share <= 0.0 {
        (points[i], SurfacePart::Vertex(i as u32))
    } else if share >= 1.0 {
        (points[j], SurfacePart::Vertex(j as u32))
    } else {
        let ends = [i.min(j) as u32, i.max(j) as u32];
        (points[i] + along * share, SurfacePart::Edge(ends))
    };
    let (normal, signed) = unit_or(point - foot, otherwise);
    Nearest { point: foot, normal, signed, part }
}

/// The face whose plane the point is least far behind or furthest above, and its height over it.
fn highest_face(hull: &Hull, faces: impl Iterator<Item = u32>, point: DVec3) -> (u32, f64) {
    let height =
        |face: u32| hull.face_normal(face as usize).dot(point) - hull.face_offset(face as usize);
    faces
        .map(|face| (face, height(face)))
        .fold((0, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best })
}

fn every_face(hull: &Hull) -> impl Iterator<Item = u32> + use<> {
    0..hull.face_count() as u32
}

fn on_face(hull: &Hull, (face, height): (u32, f64), point: DVec3) -> Nearest {
    let normal = hull.face_normal(face as usize);
    let part = SurfacePart::Face(face);
    Nearest { point: point - normal * height, normal, signed: height, part }
}

pub(super) fn hull(hull: &Hull, point: DVec3) -> Nearest {
    let solid = hull.dimension() == 3;
    if solid && hull.face_count() <= FEW_FACES {
        let highest = highest_face(hull, every_face(hull), point);
        if highest.1 <= 0.0 {
            return on_face(hull, highest, point);
        }
    }
    let size = hull.bounding_radius();
    let mut cores = Cores {
        a: Core::Hull(hull),
        b: Core::Point,
        b_in_a: PoseMatrix { rotation: DMat3::IDENTITY, translation: point },
        hints: [0; 2],
        searches: 0,
    };
    let limits = gjk::Limits {
        gap: POLYHEDRAL_GAP * size,
        touch: CLOSE * size,
        cut_off: f64::INFINITY,
        steps: GJK_STEPS,
    };
    let mut simplex = Simplex::default();
    let found = gjk::run(&mut cores, &mut simplex, hull.center() - point, &limits);
    if found.end == End::Overlap {
        return inside_hull(hull, &simplex, point);
    }
    let normal = -found.nearest / found.upper;
    let nearest = point - normal * found.upper;
    Nearest { point: nearest, normal, signed: found.upper, part: part_of(hull, &simplex, nearest) }
}

/// A point in a hull, or so near to it that only the planes of its faces can tell.
fn inside_hull(hull: &Hull, simplex: &Simplex, point: DVec3) -> Nearest {
    match hull.dimension() {
        3 => on_face(hull, highest_face(hull, every_face(hull), point), point),
        2 => {
            let (face, height) = highest_face(hull, every_face(hull), point);
            let found = on_face(hull, (face, height.max(0.0)), point);
            Nearest { part: part_of(hull, simplex, found.point), ..found }
        }
        _ => {
            let ends = hull.vertices();
            let normal = across(ends[ends.len() - 1] - ends[0]);
            let nearest = simplex.witnesses().0;
            let part = part_of(hull, simplex, nearest);
            Nearest { point: nearest, normal, signed: nearest.distance(point), part }
        }
    }
}

/// The part of a hull that a point of its surface lies on: the corners that it is mixed from name a
/// vertex or an edge, or lie around a face.
fn part_of(hull: &Hull, simplex: &Simplex, nearest: DVec3) -> SurfacePart {
    let mut ids = [0; 4];
    let corners = simplex.corners();
    for (id, corner) in ids.iter_mut().zip(corners) {
        *id = corner.ids[0];
    }
    let ids = &mut ids[..corners.len()];
    ids.sort_unstable();
    match *ids {
        [vertex] => SurfacePart::Vertex(vertex),
        [a, b] if hull.dimension() < 2 || edge_faces(hull, a, b).is_some() => {
            SurfacePart::Edge([a, b])
        }
        [] => SurfacePart::Vertex(0),
        [first, ..] => {
            // An edge within a merged face, or three corners of one.
            let face = highest_face(hull, faces_around(hull, first), nearest).0;
            SurfacePart::Face(face)
        }
    }
}

/// The two faces that meet in the edge of two vertices, if there is one.
fn edge_faces(hull: &Hull, a: u32, b: u32) -> Option<[u32; 2]> {
    let ends = [a.min(b), a.max(b)];
    let edges = hull.edges();
    let place = edges.binary_search_by_key(&ends, |edge| edge.vertices).ok()?;
    Some(edges[place].faces)
}

/// The faces around a vertex, some of them more than once.
pub(crate) fn faces_around(hull: &Hull, vertex: u32) -> impl Iterator<Item = u32> {
    let neighbours = hull.neighbours(vertex).iter();
    let faces = neighbours.filter_map(move |&other| edge_faces(hull, vertex, other)).flatten();
    // A segment and the border of a plate have edges without a face on one side or both.
    faces.filter(|&face| face != HullEdge::NO_FACE)
}
