//! The four searches agree to the last bit, on directions made to confuse a climb.

use super::super::hull::Hull;
use super::super::hull::tests::{Random, clouds};
use super::SupportSearch;
use glam::DVec3;
use proptest::prelude::*;

/// Too simple to be wrong.
fn furthest(hull: &Hull, direction: DVec3) -> u32 {
    let mut best = (f64::NEG_INFINITY, 0);
    for (index, vertex) in hull.vertices().iter().enumerate() {
        if vertex.dot(direction) > best.0 {
            best = (vertex.dot(direction), index);
        }
    }
    best.1 as u32
}

/// Random ones, axes, and the worst: face normals, edges, and both with a last-bit error.
fn directions(hull: &Hull, random: &mut Random) -> Vec<DVec3> {
    let mut directions: Vec<DVec3> = (0..40).map(|_| random.vector()).collect();
    directions.extend(DVec3::AXES.iter().flat_map(|&axis| [axis, -axis]));
    for &normal in hull.face_normals().iter().take(40) {
        let nudge = random.vector() * 1e-16;
        directions.extend([normal, -normal, normal + nudge, normal * 1e-30]);
    }
    for edge in hull.edges().iter().take(40) {
        let [a, b] = edge.vertices.map(|vertex| hull.vertices()[vertex as usize]);
        directions.extend([a - b, (a - b).cross(random.vector()), (a - b).any_orthogonal_vector()]);
    }
    let odd = [0.0, -0.0, 1e-320, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
    directions.extend(odd.map(DVec3::splat));
    directions
}

fn agree(name: &str, points: &[DVec3], random: &mut Random) {
    for search in SupportSearch::ALL {
        let hull = Hull::with_search(points, search).unwrap();
        let count = hull.vertices().len() as u32;
        let mut hint = u32::MAX;
        for direction in directions(&hull, random) {
            let expected = furthest(&hull, direction);
            for start in [hint, 0, count / 2, count - 1, u32::MAX] {
                hint = start;
                let found = hull.support_index_from(direction, &mut hint);
                let forced = hull.support_index_with(search, direction, &mut start.clone());
                assert_eq!(found, expected, "{name}, {search:?} from {start} along {direction}");
                assert_eq!((found, found), (forced, hint));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn all_searches_give_the_lowest_furthest_vertex(seed: u64) {
        let mut random = Random(seed);
        for (name, points) in clouds(seed) {
            agree(name, &points, &mut random);
        }
    }

    #[test]
    fn flat_hulls_agree_too(seed: u64, count in 3usize..400) {
        let mut random = Random(seed);
        let (u, v) = (random.vector(), random.vector());
        let points: Vec<DVec3> = (0..count)
            .map(|i| i as f64 / count as f64 * std::f64::consts::TAU)
            .map(|turn| DVec3::ONE + u * turn.cos() + v * turn.sin())
            .collect();
        agree("polygon", &points, &mut random);
    }
}

#[test]
fn large_hulls_agree() {
    let mut random = Random(3);
    for subdivisions in [2, 4] {
        let sphere = Hull::icosphere(1.0, subdivisions).unwrap();
        agree("icosphere", sphere.vertices(), &mut random);
    }
    let fan: Vec<DVec3> = (0..3000)
        .map(|i| f64::from(i) / 3000.0 * std::f64::consts::TAU)
        .map(|turn| DVec3::new(turn.cos(), 0.0, turn.sin()))
        .chain([DVec3::Y])
        .collect();
    agree("large fan", &fan, &mut random);
}
