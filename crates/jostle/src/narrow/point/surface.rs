//! Nearest points of meshes and height fields.

use super::{Nearest, SurfacePart};
use crate::mesh::MeshPoint;
use crate::shape::HeightField;
use crate::shape::mesh::Mesh;
use glam::DVec3;

/// The triangle and the nearest point on it.
pub(super) fn mesh(mesh: &Mesh, point: DVec3) -> (usize, Nearest) {
    let near = mesh.project(point);
    let vertices = mesh.triangles()[near.triangle as usize];
    (near.triangle as usize, nearest(&near, point, &mesh.corners(near.triangle), vertices))
}

/// The same for a height field. One that is all holes is infinitely far away.
pub(super) fn field(field: &HeightField, point: DVec3) -> (usize, Nearest) {
    let Some(near) = field.project(point) else {
        let part = SurfacePart::Face(0);
        return (0, Nearest { point, normal: DVec3::Y, signed: f64::INFINITY, part });
    };
    let vertices = field.vertices_of(near.triangle);
    (near.triangle as usize, nearest(&near, point, &field.corners(near.triangle), vertices))
}

fn nearest(near: &MeshPoint, point: DVec3, corners: &[DVec3; 3], vertices: [u32; 3]) -> Nearest {
    let [a, b, c] = *corners;
    let face = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::X);
    let away = (point - near.point).try_normalize().unwrap_or(face);
    let normal = if near.distance < 0.0 { -away } else { away };
    let on: Vec<u32> = (0..3).filter(|&k| near.weights[k] > 0.0).map(|k| vertices[k]).collect();
    let part = match on[..] {
        [vertex] => SurfacePart::Vertex(vertex),
        [one, other] => SurfacePart::Edge([one.min(other), one.max(other)]),
        _ => SurfacePart::Face(near.triangle),
    };
    Nearest { point: near.point, normal, signed: near.distance, part }
}
