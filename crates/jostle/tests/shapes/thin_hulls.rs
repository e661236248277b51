//! Hulls of plates, slivers and needles, where rounding is as large as the shape is thin: nothing
//! panics, no extreme point is lost, no face cuts a point off, and what is flat stays flat.

use glam::{DQuat, DVec3};
use jostle::narrow::{self, Placed};
use jostle::shape::{Hull, Pose, Shape};
use proptest::prelude::*;

/// What `Hull::new` promises, as a share of the largest coordinate.
const TOLERANCE: f64 = 3e-13;

fn turn(axis: [f64; 3]) -> DQuat {
    DQuat::from_scaled_axis(axis.into()).normalize()
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *seed;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ z >> 31) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn vector(seed: &mut u64) -> DVec3 {
    DVec3::new(random(seed), random(seed), random(seed))
}

fn rectangle(width: f64) -> Vec<DVec3> {
    let corner = |x: f64, y: f64| DVec3::new(x, width * y, 0.0);
    vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]
}

fn plate(width: f64, thickness: f64) -> Vec<DVec3> {
    let shift = |z: f64| rectangle(width).into_iter().map(move |p| p + DVec3::Z * thickness * z);
    shift(-1.0).chain(shift(1.0)).collect()
}

/// Directions in which the cloud is likely to lose something: those of its own points, sides and
/// planes, and some at random.
fn directions(points: &[DVec3], seed: &mut u64) -> Vec<DVec3> {
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let mut all: Vec<DVec3> = (0..60).map(|_| vector(seed)).collect();
    all.extend(points.iter().map(|&p| p - middle));
    let sides: Vec<DVec3> =
        points.iter().flat_map(|&p| points.iter().map(move |&q| q - p)).collect();
    all.extend(&sides);
    for (k, side) in sides.iter().enumerate().step_by(3) {
        all.push(side.cross(sides[(7 * k + 5) % sides.len()]));
        all.push(side.cross(vector(seed)));
    }
    all.into_iter().filter_map(DVec3::try_normalize).flat_map(|d| [d, -d]).collect()
}

fn check(points: &[DVec3], seed: u64) -> Hull {
    let hull = Hull::new(points).expect("finite points");
    let largest = points.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
    let tolerance = TOLERANCE * largest;
    let reach =
        |all: &[DVec3], d: DVec3| all.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max);
    for direction in directions(points, &mut seed.clone()) {
        let lost = reach(points, direction) - reach(hull.vertices(), direction);
        assert!(lost <= tolerance, "{lost:e} lost along {direction} of {points:?}: {hull:?}");
    }
    for face in 0..hull.face_count() {
        let (normal, offset) = (hull.face_normal(face), hull.face_offset(face));
        assert!((normal.length() - 1.0).abs() < 1e-12);
        let above = reach(points, normal) - offset;
        assert!(above <= tolerance, "face {face} cuts {above:e} off {points:?}: {hull:?}");
        let below = offset - reach(hull.vertices(), normal);
        assert!(below <= tolerance, "face {face} floats {below:e} over {points:?}: {hull:?}");
        for &vertex in hull.face_vertices(face) {
            let height = offset - normal.dot(hull.vertices()[vertex as usize]);
            assert!(height <= 10.0 * tolerance, "a corner {height:e} under face {face}: {hull:?}");
        }
    }
    for vertex in hull.vertices() {
        assert!(points.contains(vertex), "{vertex} is no input point");
    }
    if hull.dimension() >= 2 {
        let (v, e, f) = (hull.vertices().len(), hull.edges().len(), hull.face_count());
        assert_eq!(v + f, e + 2, "Euler: {v} vertices, {e} edges, {f} faces of {points:?}");
    }
    hull
}

fn turned(points: &[DVec3], axis: [f64; 3], shift: [f64; 3]) -> Vec<DVec3> {
    let turn = turn(axis);
    points.iter().map(|&p| turn * p + DVec3::from(shift)).collect()
}

const ANGLES: std::ops::Range<f64> = -3.0..3.0;

proptest! {
    #[test]
    fn flat_triangles_stay_triangles(
        axis in prop::array::uniform3(ANGLES), shift in prop::array::uniform3(-1.0..1.0f64),
        width in -11.0..0.0f64, at in -1.5..1.5f64, seed: u64,
    ) {
        let width = 10f64.powf(width);
        let corners = [DVec3::NEG_X, DVec3::X, DVec3::new(at, width, 0.0)];
        let hull = check(&turned(&corners, axis, shift), seed);
        prop_assert_eq!((hull.dimension(), hull.vertices().len()), (2, 3));
    }

    #[test]
    fn flat_rectangles_keep_their_corners(
        axis in prop::array::uniform3(ANGLES), shift in prop::array::uniform3(-1.0..1.0f64),
        width in -11.0..0.0f64, seed: u64,
    ) {
        let hull = check(&turned(&rectangle(10f64.powf(width)), axis, shift), seed);
        prop_assert_eq!((hull.dimension(), hull.vertices().len()), (2, 4));
    }

    #[test]
    fn plates_keep_their_corners(
        axis in prop::array::uniform3(ANGLES), shift in prop::array::uniform3(-1.0..1.0f64),
        width in -11.0..0.0f64, thickness in -11.0..0.0f64, seed: u64,
    ) {
        let corners = plate(10f64.powf(width), 10f64.powf(thickness));
        let hull = check(&turned(&corners, axis, shift), seed);
        prop_assert_eq!((hull.dimension(), hull.vertices().len()), (3, 8));
    }

    /// Down to widths below every tolerance, where the dimension is a matter of taste.
    #[test]
    fn thin_clouds_lose_nothing(
        axis in prop::array::uniform3(ANGLES), shift in prop::array::uniform3(-1.0..1.0f64),
        width in -17.0..0.0f64, thickness in -17.0..0.0f64, count in 3..14usize, seed: u64,
    ) {
        let size = DVec3::new(1.0, 10f64.powf(width), 10f64.powf(thickness));
        let mut state = seed;
        let cloud: Vec<DVec3> = (0..count).map(|_| vector(&mut state) * size).collect();
        check(&cloud, seed);
        check(&turned(&cloud, axis, shift), seed);
        let box_of_it = turned(&plate(size.y, size.z), axis, shift);
        check(&box_of_it, seed);
        // The same with the needle along another axis, without any rotation.
        let other: Vec<DVec3> = cloud.iter().map(|p| DVec3::new(p.y, p.z, 667.0 * p.x)).collect();
        check(&other, seed);
    }

    /// A world's box comes from the hull: it must hold every point.
    #[test]
    fn bounds_hold_every_point(
        axis in prop::array::uniform3(ANGLES), width in -15.0..-9.0f64, count in 3..12usize,
        seed: u64,
    ) {
        let width = 10f64.powf(width);
        let mut state = seed;
        let size = DVec3::new(width, 667.0, width);
        let cloud: Vec<DVec3> = (0..count).map(|_| vector(&mut state) * size).collect();
        let cloud = turned(&cloud, axis, [0.0; 3]);
        let hull = Shape::hull(&cloud).expect("a hull");
        let bounds = hull.bounds(&Pose::IDENTITY);
        for point in cloud {
            for k in 0..3 {
                let slack = TOLERANCE * 667.0;
                prop_assert!(f64::from(bounds.min[k]) - slack <= point[k]);
                prop_assert!(point[k] <= f64::from(bounds.max[k]) + slack);
            }
        }
    }

    /// Thin hulls answer like the box they are the corners of.
    #[test]
    fn thin_hulls_answer_like_boxes(
        axis in prop::array::uniform3(ANGLES), at in prop::array::uniform3(-1.0..1.0f64),
        width in -7.0..0.0f64, thickness in -7.0..0.0f64,
    ) {
        let half = DVec3::new(1.0, 10f64.powf(width), 10f64.powf(thickness));
        let hull = Shape::hull(&plate(half.y, half.z)).expect("a hull");
        let cuboid = Shape::cuboid(half).expect("a box");
        let block = Shape::cuboid(DVec3::new(0.7, 0.5, 0.3)).expect("a box");
        let pose = Pose::new(turn(axis), at.into()).expect("a pose");
        let other = Placed::new(&block, pose);
        let [found, expected] = [&hull, &cuboid]
            .map(|shape| narrow::contact(&Placed::new(shape, Pose::IDENTITY), &other));
        let error = (found.signed_distance() - expected.signed_distance()).abs();
        prop_assert!(error < 1e-11, "{error:e}: {found:?} {expected:?}");
    }
}

/// Six legal points, the fewest that made the builder panic.
#[test]
fn a_needle_of_six_points_has_a_hull() {
    for seed in 0..20_000u64 {
        let mut state = seed;
        let size = DVec3::new(1.0, 1e-7, 1e-9);
        let cloud: Vec<DVec3> = (0..6).map(|_| vector(&mut state) * size).collect();
        let axis = (3.0 * vector(&mut state)).to_array();
        Hull::new(&turned(&cloud, axis, [0.0; 3])).expect("finite points");
    }
}
