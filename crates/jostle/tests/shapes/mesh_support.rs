//! Random meshes, shared by the tests of meshes.

use glam::DVec3;
use jostle::mesh::{Fill, Mesh};
use jostle::narrow::{Contact, PairCache, Placed, Query};
use jostle::shape::{Pose, Shape};

use crate::random::Random;

/// A closed ball of `n` rings, with bumps.
pub(crate) fn ball(n: u32, bumps: f64, random: &mut Random) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let around = 2 * n;
    let mut points = vec![DVec3::Y, DVec3::NEG_Y];
    for ring in 1..n {
        let (up, out) = (std::f64::consts::PI * f64::from(ring) / f64::from(n)).sin_cos();
        for step in 0..around {
            let turn = std::f64::consts::TAU * f64::from(step) / f64::from(around);
            let far = 1.0 + random.range(-bumps, bumps);
            points.push(DVec3::new(up * turn.cos(), out, up * turn.sin()) * far);
        }
    }
    let at = |ring: u32, step: u32| 2 + (ring - 1) * around + step % around;
    let mut triangles = Vec::new();
    for step in 0..around {
        triangles.push([0, at(1, step + 1), at(1, step)]);
        triangles.push([1, at(n - 1, step), at(n - 1, step + 1)]);
        for ring in 1..n - 1 {
            let (a, b) = (at(ring, step), at(ring, step + 1));
            let (c, d) = (at(ring + 1, step), at(ring + 1, step + 1));
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    (points, triangles)
}

/// A solid cube about the origin.
pub(crate) fn cube(half: f64) -> Mesh {
    cube_at(half, DVec3::ZERO).with_fill(Fill::Solid)
}

/// The surface of a cube.
pub(crate) fn cube_at(half: f64, center: DVec3) -> Mesh {
    let corner = |k: u32| {
        let part = |axis: u32| if k >> axis & 1 == 0 { -half } else { half };
        center + DVec3::new(part(0), part(1), part(2))
    };
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh::new((0..8).map(corner).collect(), triangles).expect("a cube")
}

/// A floor of about `2 n²` triangles over `-half..half` in x and z: vertices moved at random within
/// their cells, diagonals and windings at random, and `height` of each vertex. As a soup no two
/// triangles share a vertex.
pub(crate) fn floor(
    n: u32,
    half: f64,
    soup: bool,
    height: impl Fn(f64, f64) -> f64,
    random: &mut Random,
) -> Mesh {
    let cell = 2.0 * half / f64::from(n);
    let mut points = Vec::new();
    for z in 0..=n {
        for x in 0..=n {
            let border = x == 0 || z == 0 || x == n || z == n;
            let mut jitter = || if border { 0.0 } else { random.range(-0.3, 0.3) };
            let at = [x, z].map(|k| (f64::from(k) + jitter()) * cell - half);
            points.push(DVec3::new(at[0], height(at[0], at[1]), at[1]));
        }
    }
    let mut triangles = Vec::new();
    for z in 0..n {
        for x in 0..n {
            let a = z * (n + 1) + x;
            let (b, c, d) = (a + 1, a + n + 1, a + n + 2);
            let two = if random.range(0.0, 1.0) < 0.5 {
                [[a, c, b], [b, c, d]]
            } else {
                [[a, c, d], [a, d, b]]
            };
            triangles.extend(
                two.map(
                    |[p, q, r]| {
                        if random.range(0.0, 1.0) < 0.5 { [p, q, r] } else { [p, r, q] }
                    },
                ),
            );
        }
    }
    if soup {
        points = triangles.iter().flatten().map(|&vertex| points[vertex as usize]).collect();
        triangles = (0..triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    }
    Mesh::new(points, triangles).expect("a floor")
}

/// The least signed distance over triangles, by the narrow phase for single pairs.
pub(crate) fn brute(
    corners: impl Iterator<Item = [DVec3; 3]>,
    pose: &Pose,
    other: &Placed<'_>,
) -> Contact {
    let mut query = Query::default();
    let contacts = corners.map(|points| {
        let triangle = Shape::triangle(points).expect("a triangle");
        query.contact(&Placed::new(&triangle, *pose), other, &mut PairCache::none())
    });
    contacts
        .min_by(|one, other| one.signed_distance().total_cmp(&other.signed_distance()))
        .expect("a triangle")
}

pub(crate) fn all_corners(mesh: &Mesh) -> impl Iterator<Item = [DVec3; 3]> + '_ {
    (0..mesh.triangles().len() as u32).map(|triangle| mesh.corners(triangle))
}
