//! Shapes and poses in snapshots: the same bits come back, and hostile data is refused.

use glam::{DQuat, DVec3};
use jostle::shape::{Hull, Pose, Shape, SupportSearch};
use std::sync::Arc;

fn bits(shape: &Shape) -> String {
    // Everything but the identities, which differ by design.
    let text = format!("{shape:?}");
    text.split("identity: ").map(|part| part.trim_start_matches(char::is_numeric)).collect()
}

#[test]
fn every_shape_comes_back_with_the_same_bits() {
    let points: Vec<DVec3> = (0..60)
        .map(f64::from)
        .map(|k| DVec3::new((k * 0.7).sin(), (k * 1.3).cos(), (k * 0.21).sin() * 0.1))
        .chain((0..27).map(|k| DVec3::new((k % 3).into(), (k / 3 % 3).into(), (k / 9).into())))
        .collect();
    let third = Pose::new(DQuat::from_rotation_y(0.3), DVec3::new(0.1, 1e-300, -7e20)).unwrap();
    let ball = Shape::sphere(0.1).unwrap();
    let shapes = [
        ball.clone(),
        Shape::cuboid(DVec3::new(0.1, 0.0, 3.0)).unwrap(),
        Shape::capsule(0.3, 0.7).unwrap(),
        Shape::cylinder(0.3, 0.7).unwrap(),
        Shape::cone(0.3, 0.7).unwrap(),
        Shape::ellipsoid(DVec3::new(0.1, 0.2, 0.3)).unwrap(),
        Shape::triangle([points[0], points[1], points[2]]).unwrap(),
        Shape::hull(&points).unwrap(),
        Shape::half_space(DVec3::new(0.1, 0.2, 0.3), 0.7).unwrap(),
        Shape::compound(vec![(ball, third)]).unwrap(),
        Shape::Hull(Arc::new(Hull::with_search(&points, SupportSearch::Hierarchy).unwrap())),
    ];
    for shape in &shapes {
        // Not through text: without `float_roundtrip`, serde_json reads some numbers one bit off.
        let text = serde_json::to_value(shape).unwrap();
        let back: Shape = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(bits(&back), bits(shape), "{text}");
    }
    let value = serde_json::to_value(third).unwrap();
    assert_eq!(serde_json::from_value::<Pose>(value).unwrap(), third);
}

#[test]
fn hostile_shapes_and_poses_are_refused_with_a_reason() {
    let cases = [
        (r#"{"sphere": {"radius": -1}}"#, "radius = -1"),
        (r#"{"sphere": {"radius": 1, "color": 2}}"#, "unknown field"),
        (r#"{"ball": {"radius": 1}}"#, "unknown variant"),
        (r#"{"hull": {"points": []}}"#, "no points"),
        (r#"{"half_space": {"normal": [0, 0, 0], "offset": 0}}"#, "normal is zero"),
        (r#"{"half_space": {"normal": [0, 2, 0], "offset": 0}}"#, "length of normal = 2"),
        (r#"{"compound": {"pieces": []}}"#, "no pieces"),
    ];
    for (text, reason) in cases {
        let error = serde_json::from_str::<Shape>(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let long = r#"{"rotation": [0, 0, 0, 2], "translation": [0, 0, 0]}"#;
    let error = serde_json::from_str::<Pose>(long).unwrap_err().to_string();
    assert!(error.contains("rotation has length 2"), "{error}");
}
