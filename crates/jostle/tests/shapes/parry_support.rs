//! Our things as parry3d-f64 sees them.

use glam::DVec3;
use jostle::mesh::Mesh;
use jostle::shape::Pose;
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::shape::TriMesh;

pub(crate) fn parry_vector(at: DVec3) -> Vector {
    Vector::new(at.x, at.y, at.z)
}

pub(crate) fn parry_pose(pose: &Pose) -> ParryPose {
    let q = pose.rotation();
    let turn = Rotation::from_xyzw(q.x, q.y, q.z, q.w);
    ParryPose::from_parts(parry_vector(pose.translation()), turn)
}

pub(crate) fn parry_mesh(mesh: &Mesh) -> TriMesh {
    let points = mesh.vertices().iter().map(|&at| parry_vector(at)).collect();
    TriMesh::new(points, mesh.triangles().to_vec()).expect("a mesh")
}
