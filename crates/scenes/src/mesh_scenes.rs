//! Meshes made by rule, and questions to ask of any mesh: poses of a second one, rays, points.
//! The command's benchmark and the rivals ask the same ones.

use crate::Rng;
use crate::shape_pairs::random::{between, direction, rotation, vector};
use glam::DVec3;
use jostle::mesh::{Mesh, MeshPair};
use jostle::shape::Pose;

/// How two meshes lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPlacing {
    /// Apart by half their size.
    Far,
    /// Apart by a hundredth of their size.
    NearMiss,
    /// Pushed a hundredth of their size into each other.
    NearHit,
    /// One well inside the bounds of the other.
    Deep,
}

impl MeshPlacing {
    /// All of them.
    pub const ALL: [MeshPlacing; 4] =
        [MeshPlacing::Far, MeshPlacing::NearMiss, MeshPlacing::NearHit, MeshPlacing::Deep];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            MeshPlacing::Far => "far",
            MeshPlacing::NearMiss => "near miss",
            MeshPlacing::NearHit => "near hit",
            MeshPlacing::Deep => "deep",
        }
    }
}

/// A closed, lumpy ball of about the given number of triangles: an octahedron, its faces divided,
/// with three sizes of bumps. Faces outward.
pub fn lumpy_ball(triangles: usize) -> Mesh {
    let sides = ((triangles as f64 / 8.0).sqrt().round() as u32).clamp(1, 8000);
    let (points, corners) = octahedron(sides);
    let lumpy = points.into_iter().map(|point| {
        let at = point.normalize();
        // Polynomials: the same bits on every machine.
        let large = at.x * at.y + 0.5 * at.z * at.z * at.x;
        let middle = (8.0 * at.x).fract() * (at.y * 3.0 + at.z * 2.0).fract();
        let wave = |value: f64| {
            let saw = value - value.floor();
            4.0 * saw * (1.0 - saw)
        };
        let small = wave(5.0 * at.x) * wave(5.0 * at.y) * wave(5.0 * at.z);
        at * (1.0 + 0.35 * large + 0.02 * middle + 0.12 * small)
    });
    Mesh::new(lumpy.collect(), corners).expect("a ball is a mesh")
}

/// Points and triangles of an octahedron whose faces are divided `sides` times along each edge.
fn octahedron(sides: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let n = i64::from(sides);
    let mut points = Vec::new();
    // Row by row along z; a row is the square |x| + |y| = n - |z|.
    let mut starts = Vec::new();
    for z in -n..=n {
        starts.push(points.len() as u32);
        let reach = n - z.abs();
        let ring = (4 * reach).max(1);
        for step in 0..ring {
            let (side, along) = if reach == 0 { (0, 0) } else { (step / reach, step % reach) };
            let (x, y) = match side {
                0 => (reach - along, along),
                1 => (-along, reach - along),
                2 => (along - reach, -along),
                _ => (along, along - reach),
            };
            points.push(DVec3::new(x as f64, y as f64, z as f64) / n as f64);
        }
    }
    let at = |z: i64, step: i64| {
        let ring = (4 * (n - z.abs())).max(1);
        starts[(z + n) as usize] + step.rem_euclid(ring) as u32
    };
    let mut triangles = Vec::new();
    for z in -n..n {
        // From the shorter ring to the longer one, a side at a time.
        let (below, above) = (n - z.abs(), n - (z + 1).abs());
        let (short, long, short_z, long_z) =
            if below < above { (below, above, z, z + 1) } else { (above, below, z + 1, z) };
        let up = below > above;
        let mut push = |a: u32, b: u32, c: u32| {
            triangles.push(if up { [a, b, c] } else { [a, c, b] });
        };
        for side in 0..4 {
            for along in 0..long {
                let (from, inner) = (side * long + along, side * short + along);
                push(at(long_z, from), at(long_z, from + 1), at(short_z, inner));
                if along < short {
                    push(at(long_z, from + 1), at(short_z, inner + 1), at(short_z, inner));
                }
            }
        }
    }
    (points, triangles)
}

/// Poses of the second mesh, the first being where it was made.
pub fn mesh_poses(a: &Mesh, b: &Mesh, placing: MeshPlacing, count: usize, seed: u64) -> Vec<Pose> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| pose(a, b, placing, &mut rng)).collect()
}

fn pose(a: &Mesh, b: &Mesh, placing: MeshPlacing, rng: &mut Rng) -> Pose {
    let (turn, way) = (rotation(rng), direction(rng));
    let size = a.bounding_radius() + b.bounding_radius();
    let centers = a.center() - turn * b.center();
    let at =
        |reach: f64| Pose::new(turn, centers + way * reach).expect("meshes lie within the limits");
    if placing == MeshPlacing::Deep {
        return at(between(rng, 0.1, 0.3) * size);
    }
    // Apart at first; then nearer by what the distance allows for, until it is what is wanted.
    let wanted = if placing == MeshPlacing::Far { 0.5 * size } else { 0.01 * size };
    let mut reach = size + wanted;
    for _ in 0..64 {
        let distance = MeshPair::new(a, &Pose::IDENTITY, b, &at(reach)).distance();
        if distance <= 1.05 * wanted {
            break;
        }
        reach -= distance - wanted;
    }
    while placing == MeshPlacing::NearHit && reach > 0.0 {
        reach -= 0.01 * size;
        if MeshPair::new(a, &Pose::IDENTITY, b, &at(reach)).intersects() {
            break;
        }
    }
    at(reach)
}

/// Rays toward a mesh, as origins and directions: from all around to points in its bounds, or the
/// rows of a picture that is taken from one place.
pub fn mesh_rays(mesh: &Mesh, coherent: bool, count: usize, seed: u64) -> Vec<(DVec3, DVec3)> {
    let mut rng = Rng::new(seed);
    let half = (mesh.max() - mesh.min()) * 0.5;
    let reach = mesh.bounding_radius();
    if !coherent {
        let ray = |_| {
            let origin = mesh.center() + direction(&mut rng) * (3.0 * reach);
            let target = mesh.center() + vector(&mut rng, 1.0) * half;
            (origin, (target - origin).normalize())
        };
        return (0..count).map(ray).collect();
    }
    let way = direction(&mut rng);
    let eye = mesh.center() + way * (3.0 * reach);
    let right = way.any_orthonormal_vector();
    let up = way.cross(right);
    let side = (count as f64).sqrt().ceil().max(1.0) as usize;
    let ray = |k: usize| {
        let place = |k: usize| 2.0 * (k as f64 + 0.5) / side as f64 - 1.0;
        let target = mesh.center() + (right * place(k % side) + up * place(k / side)) * reach;
        (eye, (target - eye).normalize())
    };
    (0..count).map(ray).collect()
}

/// Points near the surface (within a hundredth of the size), or far from it.
pub fn mesh_points(mesh: &Mesh, near: bool, count: usize, seed: u64) -> Vec<DVec3> {
    let mut rng = Rng::new(seed);
    let reach = mesh.bounding_radius();
    let point = |_| {
        if !near {
            return mesh.center() + direction(&mut rng) * (between(&mut rng, 1.5, 3.0) * reach);
        }
        let triangle = rng.below(mesh.triangles().len()) as u32;
        let [a, b, c] = mesh.corners(triangle);
        let (u, v) = (rng.unit_f64(), rng.unit_f64());
        let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
        a + (b - a) * u + (c - a) * v + vector(&mut rng, 0.01 * reach)
    };
    (0..count).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lumpy_balls_are_closed_and_face_outward() {
        for size in [8, 32, 72, 5000] {
            let ball = lumpy_ball(size);
            let report = ball.report();
            assert_eq!(report.triangles, size, "8 n² of them");
            assert!(report.is_closed() && report.is_oriented() && report.parts == 1, "{report:?}");
            assert!(report.volume > 0.5 && report.degenerate_triangles == 0, "{report:?}");
        }
    }

    #[test]
    fn placings_are_what_they_are_called() {
        let (a, b) = (lumpy_ball(800), lumpy_ball(648));
        let size = a.bounding_radius() + b.bounding_radius();
        for placing in MeshPlacing::ALL {
            for pose in mesh_poses(&a, &b, placing, 10, 3) {
                let distance = MeshPair::new(&a, &Pose::IDENTITY, &b, &pose).distance();
                let right = match placing {
                    MeshPlacing::Far => distance > 0.4 * size,
                    MeshPlacing::NearMiss => distance > 0.0 && distance < 0.02 * size,
                    MeshPlacing::NearHit | MeshPlacing::Deep => distance == 0.0,
                };
                assert!(right, "{}: {distance}", placing.name());
            }
        }
    }

    #[test]
    fn many_rays_hit_and_near_points_are_near() {
        let ball = lumpy_ball(800);
        for coherent in [false, true] {
            let rays = mesh_rays(&ball, coherent, 400, 5);
            let hit = |ray: &&(DVec3, DVec3)| ball.cast_ray(ray.0, ray.1, f64::INFINITY).is_some();
            let hits = rays.iter().filter(hit).count();
            assert!((120..400).contains(&hits), "{hits} of 400");
        }
        let reach = ball.bounding_radius();
        for point in mesh_points(&ball, true, 50, 1) {
            assert!(ball.project(point).distance < 0.02 * reach);
        }
        for point in mesh_points(&ball, false, 50, 1) {
            assert!(ball.project(point).distance > 0.4 * reach);
        }
    }
}
