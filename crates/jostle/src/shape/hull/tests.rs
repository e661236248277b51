//! Hulls against what every hull must satisfy, on clouds that break careless builders.

use super::*;
use crate::aabb::Axis;
use glam::{DQuat, DVec3};
use proptest::prelude::*;
use std::f64::consts::TAU;

/// A small deterministic generator, so that clouds need no strategy of their own.
pub(in super::super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// In `[-1, 1)`.
    pub(in super::super) fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(in super::super) fn vector(&mut self) -> DVec3 {
        DVec3::new(self.signed(), self.signed(), self.signed())
    }
}

/// Clouds by name, each with at least four points that are not flat.
pub(in super::super) fn clouds(seed: u64) -> Vec<(&'static str, Vec<DVec3>)> {
    let mut random = Random(seed);
    let turn = DQuat::from_scaled_axis(random.vector() * 3.0);
    let count = 4 + (random.next() % 200) as usize;
    let mut many = |make: &mut dyn FnMut(&mut Random) -> DVec3| -> Vec<DVec3> {
        (0..count).map(|_| make(&mut random)).collect()
    };
    let cube = many(&mut |r| r.vector());
    let sphere = many(&mut |r| (r.vector() + DVec3::splat(1e-3)).normalize());
    let needle = many(&mut |r| r.vector() * DVec3::new(1.0, 1e-7, 1e-7));
    let sliver = many(&mut |r| r.vector() * DVec3::new(1.0, 1.0, 1e-9));
    let doubled = cube.iter().chain(&cube).copied().collect();
    let grid: Vec<DVec3> = (0..125)
        .map(|i| DVec3::new((i % 5) as f64, (i / 5 % 5) as f64, (i / 25) as f64) - 2.0)
        .collect();
    let turned: Vec<DVec3> = grid.iter().map(|&point| turn * point).collect();
    let far = turned.iter().map(|&point| point + DVec3::new(1e6, -2e6, 5e5)).collect();
    let circle = |i: usize, n: usize| DVec3::new(turns(i, n).cos(), 0.0, turns(i, n).sin());
    let rim: Vec<DVec3> = (0..count).map(|i| circle(i, count)).collect();
    let prism: Vec<DVec3> = rim.iter().flat_map(|&p| [p + DVec3::Y, p - DVec3::Y]).collect();
    let turned_prism = prism.iter().map(|&point| turn * point).collect();
    let fan = rim.iter().copied().chain([DVec3::Y * 2.0, DVec3::ZERO]).collect();
    let plate = |thickness: f64| -> Vec<DVec3> {
        rim.iter().flat_map(|&p| [p + DVec3::Y * thickness, p - DVec3::Y * thickness]).collect()
    };
    let (thin, thinner) = (plate(1e-12), plate(1e-13));
    let tiny = sphere.iter().map(|&point| point * 1e-40).collect();
    let huge = sphere.iter().map(|&point| point * 1e55).collect();
    vec![
        ("cube", cube),
        ("sphere", sphere),
        ("needle", needle),
        ("sliver", sliver),
        ("doubled", doubled),
        ("grid", grid),
        ("turned grid", turned),
        ("far grid", far),
        ("prism", prism),
        ("turned prism", turned_prism),
        ("fan", fan),
        ("thin plate", thin),
        ("thinner plate", thinner),
        ("tiny", tiny),
        ("huge", huge),
    ]
}

fn turns(index: usize, count: usize) -> f64 {
    TAU * index as f64 / count as f64
}

/// Panics naming what is wrong with a solid hull of the points.
fn check_solid(name: &str, hull: &Hull, points: &[DVec3]) {
    assert_eq!(hull.dimension(), 3, "{name}");
    let (v, e, f) = (hull.vertices().len(), hull.edges().len(), hull.face_count());
    assert_eq!(v + f, e + 2, "{name}: Euler, {v} vertices {e} edges {f} faces");
    assert_eq!(hull.triangles().len(), 2 * v - 4, "{name}: triangles");
    let tolerance = 1e-12 * hull.largest_coordinate();
    for face in 0..f {
        let (normal, offset) = (hull.face_normal(face), hull.face_offset(face));
        assert!((normal.length() - 1.0).abs() < 1e-12, "{name}: normal");
        for &point in points {
            let height = normal.dot(point) - offset;
            assert!(height <= tolerance, "{name}: a point {height} above face {face}");
        }
        check_convex(name, hull, face, tolerance);
    }
    check_reach(name, hull, points, tolerance);
    for vertex in hull.vertices() {
        assert!(points.contains(vertex), "{name}: {vertex} is no input point");
    }
    for edge in hull.edges() {
        assert!(edge.vertices[0] < edge.vertices[1] && edge.faces[0] != edge.faces[1]);
        check_edge(name, hull, edge);
    }
}

/// In no direction does the cloud reach further than its hull. Unlike the distance from planes
/// this also notices a lost corner beyond a sharp edge.
fn check_reach(name: &str, hull: &Hull, points: &[DVec3], tolerance: f64) {
    for &point in points {
        let outward = point - hull.center();
        let direction = super::super::unit(outward);
        let flat = super::super::unit(outward * DVec3::new(1.0, 0.0, 1.0));
        for direction in [direction, flat] {
            let excess = (point - hull.support(direction)).dot(direction);
            assert!(excess <= tolerance, "{name}: {point} sticks out by {excess}");
        }
    }
}

/// Every corner of a face turns left as seen from outside.
fn check_convex(name: &str, hull: &Hull, face: usize, tolerance: f64) {
    let ring = hull.face_vertices(face);
    let at = |position: usize| hull.vertices()[ring[position % ring.len()] as usize];
    for position in 0..ring.len() {
        let (side, next) = (at(position + 1) - at(position), at(position + 2) - at(position));
        // Height of the corner after next over the side, inward positive.
        let height = hull.face_normal(face).dot(side.cross(next)) / side.length();
        assert!(height >= -tolerance, "{name}: face {face} turns right by {height}");
    }
}

/// The first face runs along the edge upward, the second downward.
fn check_edge(name: &str, hull: &Hull, edge: &HullEdge) {
    let runs = |face: u32, from: u32, to: u32| {
        let ring = hull.face_vertices(face as usize);
        (0..ring.len()).any(|k| ring[k] == from && ring[(k + 1) % ring.len()] == to)
    };
    let [a, b] = edge.vertices;
    assert!(runs(edge.faces[0], a, b) && runs(edge.faces[1], b, a), "{name}: edge {edge:?}");
    assert!(hull.neighbours(a).contains(&b) && hull.neighbours(b).contains(&a), "{name}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn solid_hulls_are_closed_convex_and_hold_all_points(seed: u64) {
        for (name, points) in clouds(seed) {
            let hull = Hull::new(&points).unwrap();
            // Four or five points of a circle, prism or slab may truly be flat or thin.
            if hull.dimension() == 3 {
                check_solid(name, &hull, &points);
            } else {
                prop_assert!(name == "needle" || points.len() < 8, "{name} is flat");
            }
        }
    }

    #[test]
    fn grids_keep_their_eight_corners_whatever_the_rotation(
        turn in prop::array::uniform3(-3.0..3.0f64),
        scale in -20.0..20.0f64,
    ) {
        let turn = DQuat::from_scaled_axis(turn.into());
        let at = |i: i32| DVec3::new((i % 7) as f64, (i / 7 % 7) as f64, (i / 49) as f64);
        let points: Vec<DVec3> = (0..343).map(|i| turn * at(i) * scale.exp2()).collect();
        let hull = Hull::new(&points).unwrap();
        prop_assert_eq!(hull.vertices().len(), 8);
        prop_assert_eq!(hull.face_count(), 6);
        prop_assert_eq!(hull.edges().len(), 12);
    }

    #[test]
    fn flat_clouds_give_polygons(seed: u64, turn in prop::array::uniform3(-3.0..3.0f64)) {
        let mut random = Random(seed);
        let turn = DQuat::from_scaled_axis(turn.into());
        let points: Vec<DVec3> = (0..50)
            .map(|_| turn * DVec3::new(random.signed(), random.signed(), 0.5))
            .collect();
        let hull = Hull::new(&points).unwrap();
        prop_assert_eq!(hull.dimension(), 2);
        prop_assert_eq!(hull.face_count(), 2);
        prop_assert_eq!(hull.face_normal(0), -hull.face_normal(1));
        prop_assert_eq!(hull.edges().len(), hull.vertices().len());
        prop_assert_eq!(hull.triangles().len(), 2 * (hull.vertices().len() - 2));
        for face in 0..2 {
            check_convex("flat", &hull, face, 1e-14);
            for &point in &points {
                let height = hull.face_normal(face).dot(point) - hull.face_offset(face);
                prop_assert!(height < 1e-13);
            }
        }
        inside_polygon(&hull, &points);
    }

    #[test]
    fn lines_give_segments(seed: u64, along in prop::array::uniform3(0.1..1.0f64)) {
        let mut random = Random(seed);
        let points: Vec<DVec3> =
            (0..20).map(|_| DVec3::ONE + DVec3::from(along) * random.signed()).collect();
        let hull = Hull::new(&points).unwrap();
        prop_assert_eq!((hull.dimension(), hull.vertices().len()), (1, 2));
        prop_assert_eq!(hull.edges(), [HullEdge { vertices: [0, 1], faces: [u32::MAX; 2] }]);
        prop_assert_eq!((hull.neighbours(0), hull.neighbours(1)), (&[1][..], &[0][..]));
        let longest = points.iter().flat_map(|a| points.iter().map(|b| a.distance(*b)));
        let longest = longest.fold(0.0, f64::max);
        let length = hull.vertices()[0].distance(hull.vertices()[1]);
        prop_assert!((length - longest).abs() < 1e-14);
    }
}

/// Rotations that once left points on an edge as vertices.
#[test]
fn noise_along_an_edge_does_not_stay() {
    let folded = ([-1.1275589758167417, 2.165544818124794, -2.245827631974541], -5.475484821087799);
    let slivers =
        ([-1.6603527508309934, 2.5465852571710634, -0.41821361919438177], 1.76017925624966);
    for (turn, scale) in [folded, slivers] {
        let turn = DQuat::from_scaled_axis(turn.into());
        let at = |i: i32| DVec3::new((i % 7) as f64, (i / 7 % 7) as f64, (i / 49) as f64);
        let points: Vec<DVec3> = (0..343).map(|i| turn * at(i) * f64::exp2(scale)).collect();
        let hull = Hull::new(&points).unwrap();
        assert_eq!((hull.vertices().len(), hull.face_count()), (8, 6));
    }
}

/// No point lies outside an edge of a flat hull.
fn inside_polygon(hull: &Hull, points: &[DVec3]) {
    let ring = hull.face_vertices(0);
    for k in 0..ring.len() {
        let from = hull.vertices()[ring[k] as usize];
        let to = hull.vertices()[ring[(k + 1) % ring.len()] as usize];
        let outward = (to - from).cross(hull.face_normal(0)).normalize();
        for &point in points {
            assert!(outward.dot(point - from) < 1e-13);
        }
    }
}

#[test]
fn points_and_copies_of_points_are_points() {
    for count in [1, 2, 5, 1000] {
        let hull = Hull::new(&vec![DVec3::new(3.0, -0.0, 1e-9); count]).unwrap();
        assert_eq!((hull.dimension(), hull.vertices().len()), (0, 1));
        assert_eq!((hull.face_count(), hull.edges().len()), (0, 0));
        assert!(hull.neighbours(0).is_empty());
        assert_eq!(hull.support_index(DVec3::X), 0);
    }
    assert_eq!(Hull::new(&[DVec3::ZERO, -DVec3::ZERO]).unwrap().dimension(), 0);
}

#[test]
fn small_clouds_have_the_dimension_they_span() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    for count in 1..=4 {
        let hull = Hull::new(&corners[..count]).unwrap();
        assert_eq!(usize::from(hull.dimension()), count - 1);
        assert_eq!(hull.vertices().len(), count);
    }
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::X + DVec3::Y, DVec3::new(0.5, 0.0, 0.0)];
    let hull = Hull::new(&square).unwrap();
    assert_eq!((hull.dimension(), hull.vertices().len()), (2, 4));
}

#[test]
fn bad_points_are_named() {
    assert_eq!(Hull::new(&[]).unwrap_err(), ShapeError::EmptyHull);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e61] {
        let fault = Hull::new(&[DVec3::ZERO, DVec3::new(0.0, value, 0.0)]).unwrap_err();
        let ShapeError::Coordinate { field: "points", index: 1, axis: Axis::Y, .. } = fault else {
            panic!("{fault:?}");
        };
        assert!(fault.to_string().starts_with("points[1] y = "));
    }
}

#[test]
fn icospheres_have_the_stated_sizes() {
    for subdivisions in 0..=4 {
        let hull = Hull::icosphere(2.5, subdivisions).unwrap();
        let quads = 4usize.pow(subdivisions);
        assert_eq!(hull.vertices().len(), 10 * quads + 2);
        assert_eq!(hull.triangles().len(), 20 * quads);
        assert_eq!(hull.face_count(), 20 * quads);
        check_solid("icosphere", &hull, hull.vertices());
    }
    assert_eq!(Hull::icosphere(0.0, 3).unwrap().dimension(), 0);
    assert!(Hull::icosphere(-1.0, 0).is_err());
}

#[test]
fn a_million_points_are_no_trouble() {
    let mut random = Random(7);
    let count = if cfg!(debug_assertions) { 300_000 } else { 1_000_000 };
    let ball: Vec<DVec3> = (0..count)
        .map(|_| random.vector())
        .map(|point| if point.length() > 1.0 { point / point.length() } else { point })
        .collect();
    let hull = Hull::new(&ball).unwrap();
    assert_eq!(hull.vertices().len() + hull.face_count(), hull.edges().len() + 2);
    // Nearly half of the cube's volume lies outside the ball and was moved onto it.
    assert!(hull.vertices().len() > count / 3);
}
