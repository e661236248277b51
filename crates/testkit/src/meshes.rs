//! Tiny meshes out of bytes, and every answer about them against loops over their triangles.
//!
//! Coordinates are small whole numbers, so that corners, edges and planes coincide often; the loops
//! use nothing but the test of two triangles, which has tests of its own.

use jostle::decompose::{DecomposeOptions, decompose};
use jostle::glam::DVec3;
use jostle::mesh::{Mesh, MeshPair, triangles_touch};
use jostle::narrow::{Placed, project_point};
use jostle::shape::Pose;

use crate::bytes::Bytes;

impl Bytes<'_> {
    fn point(&mut self) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| f64::from(self.below(6))))
    }

    fn mesh(&mut self) -> Option<Mesh> {
        let count = 3 + self.below(20);
        let vertices: Vec<DVec3> = (0..count).map(|_| self.point()).collect();
        let triangles = 1 + self.below(40);
        let corners = (0..triangles).map(|_| [(); 3].map(|()| u32::from(self.below(count))));
        Mesh::new(vertices, corners.collect()).ok()
    }
}

/// Checks pairs of triangles, booleans, distances, rays and nearest points of two meshes.
pub fn check_meshes(bytes: &[u8]) -> Result<(), String> {
    let mut bytes = Bytes(bytes);
    let (Some(a), Some(b)) = (bytes.mesh(), bytes.mesh()) else {
        return Err("a mesh of whole numbers was refused".into());
    };
    let shift = bytes.point() - 3.0;
    let pose = Pose::at(shift).map_err(|error| error.to_string())?;
    let pair = MeshPair::new(&a, &Pose::IDENTITY, &b, &pose);
    let all = |mesh: &Mesh| 0..mesh.triangles().len() as u32;
    let moved = |triangle: u32| b.corners(triangle).map(|corner| corner + shift);
    let both = all(&a).flat_map(|one| all(&b).map(move |other| (one, other)));
    let wanted: Vec<(u32, u32)> =
        both.filter(|&(one, other)| triangles_touch(&a.corners(one), &moved(other))).collect();
    let found = pair.triangle_pairs(usize::MAX).map_err(|error| error.to_string())?;
    if found != wanted {
        return Err(format!("pairs {found:?}, not {wanted:?}"));
    }
    if pair.intersects() == wanted.is_empty() {
        return Err(format!("intersects is {}", pair.intersects()));
    }
    let (distance, turned) =
        (pair.distance(), MeshPair::new(&b, &pose, &a, &Pose::IDENTITY).distance());
    if (distance == 0.0) == wanted.is_empty() || (distance - turned).abs() > 1e-12 {
        return Err(format!("distance {distance}, and {turned} the other way round"));
    }
    let (point, way) = (bytes.point() - 0.5, bytes.point() - 2.5);
    check_point(&a, point)?;
    check_ray(&a, point, way)?;
    // One in eight: a decomposition takes longer than all the rest.
    match bytes.below(16) {
        0 => check_pieces(&a, usize::MAX),
        1 => check_pieces(&a, 8),
        _ => Ok(()),
    }
}

/// Each triangle as a mesh of its own.
fn alone(mesh: &Mesh) -> impl Iterator<Item = Mesh> + '_ {
    let one = |&corners: &[u32; 3]| Mesh::new(mesh.vertices().to_vec(), vec![corners]);
    mesh.triangles().iter().filter_map(move |corners| one(corners).ok())
}

/// Convex pieces hold every corner of the mesh, however few vertices they may have.
fn check_pieces(mesh: &Mesh, most: usize) -> Result<(), String> {
    let options = DecomposeOptions::default().with_max_pieces(4).with_planes(3);
    let found = decompose(mesh, &options.with_max_vertices(most));
    let found = found.map_err(|error| error.to_string())?;
    let vertices = found.pieces.iter().map(|piece| piece.hull.vertices().len()).max();
    let count = found.pieces.len();
    if count > 4 || vertices > Some(most) {
        return Err(format!("{count} pieces of up to {vertices:?} vertices, not {most}"));
    }
    let (shape, used) = (found.to_shape(), mesh.triangles().iter().flatten());
    for &vertex in used {
        let at = mesh.vertices()[vertex as usize];
        let far = project_point(&Placed::new(&shape, Pose::IDENTITY), at);
        let far = far.map_err(|error| error.to_string())?.distance;
        if far > 1e-9 {
            return Err(format!("vertex {vertex} is {far} outside {count} pieces"));
        }
    }
    Ok(())
}

fn check_point(mesh: &Mesh, point: DVec3) -> Result<(), String> {
    let found = mesh.project(point).distance;
    let wanted = alone(mesh).map(|one| one.project(point).distance).fold(f64::INFINITY, f64::min);
    if found != wanted {
        return Err(format!("{found} from {point}, not {wanted}"));
    }
    Ok(())
}

fn check_ray(mesh: &Mesh, origin: DVec3, way: DVec3) -> Result<(), String> {
    let time = |mesh: &Mesh| mesh.cast_ray(origin, way, 10.0).map(|hit| hit.time);
    let wanted = alone(mesh).filter_map(|one| time(&one)).reduce(f64::min);
    if time(mesh) != wanted {
        return Err(format!("{:?} along {way} from {origin}, not {wanted:?}", time(mesh)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_scenes::Rng;

    #[test]
    fn random_meshes_agree_with_loops() {
        let mut rng = Rng::new(15);
        for round in 0..600 {
            let bytes: Vec<u8> = (0..40 + rng.below(300)).map(|_| rng.next_u64() as u8).collect();
            if let Err(fault) = check_meshes(&bytes) {
                panic!("round {round}: {fault}\n{bytes:?}");
            }
        }
    }
}
