//! Rays against a loop over all triangles that uses no tree and no filter: the same time, triangle
//! and weights, to the last bit, at every instruction set.

use glam::DVec3;

use super::data::Mesh;
use super::random::Random;
use super::ray::{Cast, MeshRay, MeshRayHit, Shear};
use super::rays::CastMany;
use crate::par::Workers;
use crate::simd::Level;

/// Sheets of `n` by `n` squares above each other, flat or bumpy: what lies in a plane has boxes
/// without height, and rays down the lattice meet corners and edges of several triangles at once.
fn sheets(n: u32, bumps: f64, random: &mut Random) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    for layer in 0..3 {
        let begin = points.len() as u32;
        for k in 0..(n + 1) * (n + 1) {
            let height = f64::from(layer) + bumps * random.number();
            points.push(DVec3::new(f64::from(k / (n + 1)), height, f64::from(k % (n + 1))));
        }
        let squares = (0..n * n).map(|k| begin + (k / n) * (n + 1) + k % n);
        triangles
            .extend(squares.flat_map(|k| [[k, k + n + 1, k + 1], [k + 1, k + n + 1, k + n + 2]]));
    }
    // Needles, points and copies.
    for _ in 0..40 {
        let corner = [(); 3].map(|()| random.below(points.len()) as u32);
        triangles.push([corner[0], corner[0], corner[1]]);
        triangles.push(triangles[random.below(triangles.len())]);
        triangles.push(corner);
    }
    (points, triangles)
}

/// A ray at a corner, an edge or anywhere, from near or far, along an axis or not.
fn ray(mesh: &Mesh, random: &mut Random, round: usize) -> (DVec3, DVec3) {
    let [a, b, c] = mesh.corners(random.below(mesh.triangles().len()) as u32);
    let part = random.number().abs();
    let target = [a, a + (b - a) * part, (a + b + c) / 3.0][round % 3];
    let size = mesh.bounding_radius();
    let far = size * [0.0, 0.3, 2.0, 1e3, 1e7][round % 5];
    let way = match round % 4 {
        0 => [DVec3::X, DVec3::NEG_Y, DVec3::Y, DVec3::NEG_Z][random.below(4)],
        1 => DVec3::new(random.number(), 1e-12 * random.number(), 0.0),
        _ => random.point(),
    };
    let way = way.normalize_or(DVec3::Y);
    (target - way * far, way * [1.0, 1e-3, 1e4][random.below(3)])
}

#[test]
fn trees_answer_rays_like_loops_at_every_level() {
    let mut random = Random(3);
    let (mut hits, mut misses, mut ties) = (0, 0, 0);
    for (bumps, scale, place) in
        [(0.0, 1.0, 0.0), (0.7, 1.0, 0.0), (0.2, 1e-20, 0.0), (0.2, 1e20, 1e21), (0.05, 1.0, 1e6)]
    {
        let (points, triangles) = sheets(14, bumps, &mut random);
        let moved: Vec<DVec3> = points.iter().map(|at| *at * scale + place).collect();
        let mut mesh = Mesh::new(moved.clone(), triangles).unwrap();
        for fitted in [false, true] {
            if fitted {
                let by = DVec3::new(1.4, 0.9, 1.3);
                let moved: Vec<DVec3> = moved.iter().map(|at| (*at - place) * by + place).collect();
                mesh.set_vertices(&moved, &Workers::one()).unwrap();
            }
            for round in 0..240 {
                let (origin, direction) = ray(&mesh, &mut random, round);
                let limit = [f64::INFINITY, mesh.bounding_radius()][round / 7 % 2];
                let shear = Shear::new(&origin, &direction);
                let all = (0..mesh.triangles().len() as u32).filter_map(|triangle| {
                    let (time, weights) = shear.hit(mesh.corner_places(triangle))?;
                    (time <= limit).then_some((time, triangle, weights))
                });
                let all: Vec<(f64, u32, [f64; 3])> = all.collect();
                let best = all.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap());
                for level in Level::available() {
                    let found = level.run(Cast {
                        mesh: &mesh,
                        origin: &origin,
                        direction: &direction,
                        limit,
                    });
                    let found = found.map(|hit| (hit.time, hit.triangle, hit.weights));
                    assert_eq!(found, best, "{level:?} {origin} {direction} {limit}");
                }
                hits += usize::from(best.is_some());
                misses += usize::from(best.is_none());
                let equal = all.iter().filter(|hit| best.is_some_and(|best| hit.0 == best.0));
                ties += usize::from(equal.count() > 1);
            }
        }
    }
    assert!(hits > 800 && misses > 100 && ties > 200, "{hits} hits, {misses} misses, {ties} ties");
}

/// Casts rays together at every level, and checks that each hits what it hits by itself.
fn check_many(mesh: &Mesh, rays: &[MeshRay]) -> Vec<Option<MeshRayHit>> {
    let single = |ray: &MeshRay| mesh.cast_ray(ray.origin, ray.direction, ray.limit);
    let expected: Vec<Option<MeshRayHit>> = rays.iter().map(single).collect();
    for level in Level::available() {
        let mut hits = vec![None; rays.len()];
        level.run(CastMany { mesh, rays, hits: &mut hits });
        for (k, (hit, expected)) in hits.iter().zip(&expected).enumerate() {
            assert_eq!(hit, expected, "{level:?}, {k} of {} rays: {:?}", rays.len(), rays[k]);
        }
    }
    expected
}

/// A bundle of rays from one place that spreads by some angle, as those of a camera do.
fn bundle(mesh: &Mesh, random: &mut Random, spread: f64, far: f64) -> Vec<MeshRay> {
    let eye = mesh.center() + random.point().normalize_or(DVec3::Y) * far * mesh.bounding_radius();
    let target = mesh.center() + random.point() * 0.7 * mesh.bounding_radius();
    let way = (target - eye).normalize_or(DVec3::X);
    let (right, up) = way.any_orthonormal_pair();
    let ray = |k: u32| {
        let (x, y) = (f64::from(k % 16) - 8.0, f64::from(k / 16) - 4.0);
        let direction = way + (right * x + up * y) * spread;
        MeshRay { origin: eye, direction, limit: f64::INFINITY }
    };
    (0..128).map(ray).collect()
}

#[test]
fn many_rays_hit_what_each_hits_by_itself() {
    let mut random = Random(11);
    let (mut hits, mut misses) = (0, 0);
    for (bumps, scale, place) in
        [(0.0, 1.0, 0.0), (0.7, 1.0, 0.0), (0.2, 1e-20, 0.0), (0.2, 1e20, 1e21), (0.05, 1.0, 1e6)]
    {
        let (points, triangles) = sheets(14, bumps, &mut random);
        let moved: Vec<DVec3> = points.iter().map(|at| *at * scale + place).collect();
        let mesh = Mesh::new(moved, triangles).unwrap();
        let mixed = |round: usize, random: &mut Random| {
            let (origin, direction) = ray(&mesh, random, round);
            let limit = [f64::INFINITY, mesh.bounding_radius(), 0.0, -1.0, f64::NAN, 1e-300];
            // So short that its inverse is infinite, though not on the way through a small mesh.
            let direction = if round % 31 == 0 { direction * 1e-311 } else { direction };
            MeshRay { origin, direction, limit: limit[[0, 0, 1, 0, round % 6][round / 7 % 5]] }
        };
        let mut rays: Vec<MeshRay> = (0..400).map(|round| mixed(round, &mut random)).collect();
        for (spread, far) in [(1e-3, 2.0), (0.02, 0.1), (0.02, 3.0), (0.1, 30.0), (1e-5, 1e4)] {
            rays.extend(bundle(&mesh, &mut random, spread, far));
        }
        let found = check_many(&mesh, &rays);
        hits += found.iter().flatten().count();
        misses += found.len() - found.iter().flatten().count();
        // Eight of each: beams as thin as a ray, at corners and edges on the border of all boxes.
        for rays in rays.chunks(40) {
            let eight = |ray: &MeshRay| [*ray; 8];
            check_many(&mesh, &rays.iter().flat_map(eight).collect::<Vec<_>>());
        }
        // Waves that are not full, and other neighbours.
        for count in [0, 1, 8, 12, 13, 15, 16, 17, 63, 64, 65, 100] {
            let begin = random.below(rays.len() - count);
            check_many(&mesh, &rays[begin..begin + count]);
        }
    }
    assert!(hits > 1500 && misses > 1500, "{hits} hits, {misses} misses");
}

#[test]
fn many_rays_without_a_way_hit_nothing_and_spoil_nothing() {
    let (points, triangles) = sheets(6, 0.3, &mut Random(5));
    let mesh = Mesh::new(points, triangles).unwrap();
    let mut random = Random(6);
    let mut rays = bundle(&mesh, &mut random, 0.01, 2.0);
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, 1e-290, 1e290, 1e308];
    for round in 0..400 {
        let k = random.below(rays.len());
        let value = bad[round % bad.len()];
        match round % 4 {
            0 => rays[k].direction[round % 3] = value,
            1 => rays[k].direction = DVec3::splat(value),
            2 => rays[k].origin[round % 3] = value,
            _ => rays[k].limit = value,
        }
        if round % 20 == 19 {
            check_many(&mesh, &rays);
            rays = bundle(&mesh, &mut random, 0.01, 2.0);
        }
    }
}

/// Large triangles that all overlap: rays put more boxes aside than there is room for.
#[test]
fn many_rays_find_room_in_a_pile_of_large_triangles() {
    let mut random = Random(8);
    let points: Vec<DVec3> = (0..6000).map(|_| random.point() * 10.0).collect();
    let triangles = (0..2000).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let mesh = Mesh::new(points, triangles).unwrap();
    let mut rays = bundle(&mesh, &mut random, 0.02, 2.0);
    for _ in 0..200 {
        let (origin, direction) = (random.point() * 20.0, random.point());
        rays.push(MeshRay { origin, direction, limit: f64::INFINITY });
    }
    let found = check_many(&mesh, &rays);
    assert!(found.iter().flatten().count() > 100);
}

#[test]
fn many_rays_hit_the_same_on_every_number_of_workers() {
    let mut random = Random(9);
    let (points, triangles) = sheets(20, 0.4, &mut random);
    let mesh = Mesh::new(points, triangles).unwrap();
    let mut rays = Vec::new();
    while rays.len() < 5 * 1024 {
        rays.extend(bundle(&mesh, &mut random, 0.02, 2.0));
    }
    let expected = mesh.cast_rays(&rays, &Workers::one());
    for threads in [2, 5] {
        let workers = Workers::new(threads).unwrap();
        assert_eq!(mesh.cast_rays(&rays, &workers), expected);
    }
    let single = |ray: &MeshRay| mesh.cast_ray(ray.origin, ray.direction, ray.limit);
    assert_eq!(expected, rays.iter().map(single).collect::<Vec<_>>());
}

#[test]
fn rays_of_any_length_hit_and_those_without_a_way_do_not() {
    let (points, triangles) = sheets(6, 0.3, &mut Random(5));
    let mesh = Mesh::new(points, triangles).unwrap();
    let [a, b, c] = mesh.corners(20);
    let target = (a + b + c) / 3.0;
    let cast = |level: &Level, origin: DVec3, direction: DVec3, limit: f64| {
        level.run(Cast { mesh: &mesh, origin: &origin, direction: &direction, limit })
    };
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for level in &Level::available() {
        for (length, far) in [(1.0, 2.0), (1e-290, 2.0), (1e290, 2.0), (1e-3, 7e3), (4.0, 1e12)] {
            for way in [DVec3::Y, DVec3::NEG_Y, DVec3::new(0.3, -0.9, 0.2)] {
                let origin = target - way * far;
                assert!(
                    cast(level, origin, way * length, f64::INFINITY).is_some(),
                    "{length} {way}"
                );
                assert!(cast(level, origin, -way * length, f64::INFINITY).is_none_or(|hit| {
                    // Only what is behind the target: the mesh has three layers.
                    far < 10.0 && hit.time * length < 10.0
                }));
                assert_eq!(cast(level, origin, way * length, -1.0), None);
                assert_eq!(cast(level, origin, way * length, f64::NAN), None);
            }
        }
        for k in 0..3 {
            for value in bad {
                let (mut origin, mut way) = (target - DVec3::Y, DVec3::Y);
                way[k] = value;
                assert_eq!(cast(level, origin, way, 9.0), None, "{way}");
                origin[k] = value;
                assert_eq!(cast(level, origin, DVec3::Y, 9.0), None, "{origin}");
            }
        }
        for way in [DVec3::ZERO, DVec3::splat(5e-324), DVec3::splat(-0.0)] {
            assert_eq!(cast(level, target - DVec3::Y, way, f64::INFINITY), None, "{way}");
        }
    }
}
