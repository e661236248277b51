//! Rays and points against every shape: an independent membership test decides where lines are
//! inside, and supporting planes prove normals and distances.

use crate::random::{KINDS, Random};
use glam::{DQuat, DVec3};
use jostle::narrow::{Options, Placed, Query, Ray, SurfacePart, cast_ray, project_point};
use jostle::shape::{Hull, Pose, Shape, ShapeError};

/// How far a local point is outside of a shape, in a measure of its own that is negative inside;
/// none for shapes without an inside.
fn outside(shape: &Shape, p: DVec3) -> Option<f64> {
    let flat = p.x.hypot(p.z);
    Some(match shape {
        Shape::Sphere { radius } => p.length() - radius,
        Shape::Cuboid { half_extents } => (p.abs() - *half_extents).max_element(),
        Shape::Capsule { radius, half_height } => {
            let y = p.y.clamp(-half_height, *half_height);
            (p - DVec3::new(0.0, y, 0.0)).length() - radius
        }
        Shape::Cylinder { radius, half_height } => (flat - radius).max(p.y.abs() - half_height),
        Shape::Cone { radius, half_height } => {
            let at = radius * (half_height - p.y) / (2.0 * half_height);
            (flat - at).max(p.y.abs() - half_height)
        }
        Shape::Ellipsoid { radii } => ((p / *radii).length() - 1.0) * radii.min_element(),
        Shape::Hull(hull) => hull_outside(hull, p),
        Shape::HalfSpace { normal, offset } => normal.dot(p) - offset,
        _ => return None,
    })
}

/// By the triangles, not by the merged faces.
fn hull_outside(hull: &Hull, p: DVec3) -> f64 {
    let corner = |v: u32| hull.vertices()[v as usize];
    let height = |t: &[u32; 3]| {
        let [a, b, c] = t.map(corner);
        (b - a).cross(c - a).normalize_or_zero().dot(p - a)
    };
    hull.triangles().iter().map(height).fold(f64::NEG_INFINITY, f64::max)
}

/// How far the shape reaches beyond a plane through a point.
fn beyond(shape: &Shape, pose: &Pose, point: DVec3, normal: DVec3) -> f64 {
    let furthest = pose.apply(shape.support(pose.inverse_apply_vector(normal)));
    (furthest - point).dot(normal)
}

fn aimed(random: &mut Random, middle: DVec3) -> Ray {
    // Beyond the corner of the largest cuboid, rounded.
    let from = middle + random.unit() * random.range(2.5, 6.0);
    let to = middle + random.vector(1.0);
    let speed = random.range(0.1, 3.0);
    Ray::new(from, (to - from).normalize() * speed).expect("a ray")
}

#[test]
fn rays_hit_where_a_line_enters() {
    const TRIALS: usize = 2_700;
    let mut random = Random(1);
    let mut hits = [0; KINDS];
    for trial in 0..TRIALS {
        let kind = trial % KINDS;
        let (shape, pose) = (random.shape(kind), random.pose(3.0));
        let placed = Placed::new(&shape, pose);
        let ray = aimed(&mut random, pose.apply(shape.center()));
        let hit = cast_ray(&placed, &ray);
        hits[kind] += usize::from(hit.is_some());
        let end = hit.map_or(12.0 / ray.direction().length(), |hit| hit.time);
        let measure = |time: f64| outside(&shape, pose.inverse_apply(ray.at(time)));
        if let Some(hit) = hit {
            assert!(!hit.inside && hit.piece == 0);
            assert!((hit.normal.length() - 1.0).abs() < 1e-12, "{shape:?} {hit:?}");
            assert!(hit.normal.dot(ray.direction()) <= 1e-9, "{shape:?} {hit:?}");
            let off = measure(hit.time).unwrap_or(0.0).abs();
            assert!(off < 1e-9, "{shape:?} {hit:?} is {off:e} off the surface");
            let reach = beyond(&shape, &pose, hit.point, hit.normal);
            assert!(reach.abs() < 1e-8, "{shape:?} {hit:?} has no plane: {reach:e}");
        }
        // Nothing before it is inside.
        for step in 0..60 {
            let time = (end - 1e-6) * f64::from(step) / 60.0;
            let depth = measure(time).unwrap_or(1.0);
            assert!(depth > -1e-9, "{shape:?} {ray:?} {hit:?} is inside at {time}: {depth:e}");
        }
    }
    for (kind, hits) in hits.into_iter().enumerate() {
        let share = hits as f64 * KINDS as f64 / TRIALS as f64;
        let least = if kind == 6 { 0.02 } else { 0.2 };
        assert!((least..0.95).contains(&share), "kind {kind} is hit at {share}");
    }
}

#[test]
fn rays_from_inside_hit_at_once_or_leave() {
    let mut random = Random(2);
    for trial in 0..2_000 {
        let (shape, pose) = (random.shape(trial), random.pose(3.0));
        let from = pose.apply(shape.center() + random.vector(0.1));
        if outside(&shape, pose.inverse_apply(from)).is_none_or(|depth| depth > -1e-6) {
            continue;
        }
        let placed = Placed::new(&shape, pose);
        let ray = Ray::new(from, random.vector(1.0)).expect("a ray");
        let hit = cast_ray(&placed, &ray).expect("it starts inside");
        assert!(hit.inside && hit.time == 0.0 && hit.point == from, "{shape:?} {hit:?}");
        let leave = cast_ray(&placed, &ray.with_solid(false)).expect("it comes out");
        assert!(leave.inside && leave.time > 0.0);
        assert!(leave.normal.dot(ray.direction()) >= -1e-9, "{shape:?} {leave:?}");
        let reach = beyond(&shape, &pose, leave.point, leave.normal);
        assert!(reach.abs() < 1e-8, "{shape:?} {leave:?} {reach:e}");
        let short = ray.until(0.99 * leave.time).with_solid(false);
        assert_eq!(cast_ray(&placed, &short), None);
        // The way back from beyond enters where the way out left.
        let back = Ray::segment(ray.at(2.0 * leave.time), from).expect("a segment");
        let enter = cast_ray(&placed, &back).expect("it goes in again");
        assert!(enter.point.distance(leave.point) < 1e-7, "{shape:?} {enter:?} {leave:?}");
    }
}

#[test]
fn projections_are_proved_by_planes() {
    const TRIALS: usize = 2_700;
    let mut random = Random(3);
    let mut inside = 0;
    for trial in 0..TRIALS {
        let (shape, pose) = (random.shape(trial), random.pose(3.0));
        let point = pose.apply(shape.center() + random.vector(0.8));
        let found = project_point(&Placed::new(&shape, pose), point).expect("a point");
        let context = || format!("{shape:?} {:?} {found:?}", pose.inverse_apply(point));
        inside += usize::from(found.is_inside());
        assert!((found.normal.length() - 1.0).abs() < 1e-9, "{}", context());
        let away = (point - found.point).dot(found.normal);
        assert!((away - found.distance).abs() < 1e-9, "{away} {}", context());
        assert!((point.distance(found.point) - found.distance.abs()).abs() < 1e-9, "{}", context());
        // No part of the shape is beyond the plane, and the nearest point is on it: a proof for
        // points outside, and a bound for those inside.
        let reach = beyond(&shape, &pose, found.point, found.normal);
        assert!(reach.abs() < 2e-9, "{reach:e} {}", context());
        let measured = outside(&shape, pose.inverse_apply(point));
        if let Some(measured) = measured.filter(|m| m.abs() > 1e-9) {
            assert_eq!(measured < 0.0, found.is_inside(), "{measured} {}", context());
        }
        if found.is_inside() {
            for _ in 0..40 {
                let normal = (found.normal + random.vector(0.7)).normalize();
                let way = beyond(&shape, &pose, point, normal);
                assert!(way > -found.distance - 1e-9, "{way} {}", context());
            }
        }
    }
    let share = inside as f64 / TRIALS as f64;
    assert!((0.2..0.6).contains(&share), "{share} inside");
}

/// A compound is the union of its pieces, for rays and for points outside of it.
#[test]
fn compounds_are_unions() {
    let mut random = Random(4);
    let (mut hits, mut ways_out) = (0, 0);
    for trial in 0..1_500 {
        let pieces: Vec<(Shape, Pose)> = (0..4)
            .map(|piece| (random.shape([0, 1, 3, 4, 5, 7][(trial + piece) % 6]), random.pose(0.8)))
            .collect();
        let shape = Shape::compound(pieces.clone()).expect("a compound");
        let pose = random.pose(3.0);
        let placed = Placed::new(&shape, pose);
        let each = || pieces.iter().map(|(piece, place)| (piece, pose.compose(place)));
        let ray = aimed(&mut random, pose.translation());
        let hit = cast_ray(&placed, &ray);
        let first = each().filter_map(|(piece, at)| cast_ray(&Placed::new(piece, at), &ray));
        let first = first.map(|hit| hit.time).fold(f64::INFINITY, f64::min);
        hits += usize::from(hit.is_some());
        assert!((hit.map_or(1e9, |hit| hit.time) - first.min(1e9)).abs() < 1e-9, "{trial}");
        let point = pose.translation() + random.vector(2.0);
        let found = project_point(&placed, point).expect("a point");
        let least = each().map(|(piece, at)| {
            project_point(&Placed::new(piece, at), point).expect("a point").distance
        });
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((found.distance - least).abs() < 1e-9, "{trial}");
        // From inside: every point up to the way out is in some piece, and none just beyond.
        let Some(leave) = cast_ray(
            &placed,
            &Ray::new(pose.translation(), random.unit()).expect("a ray").with_solid(false),
        )
        .filter(|hit| hit.inside) else {
            continue;
        };
        ways_out += 1;
        let direction = (leave.point - pose.translation()).normalize_or(DVec3::X);
        let depth = |along: f64| {
            let at = pose.translation() + direction * along;
            let depths =
                each().filter_map(|(piece, place)| outside(piece, place.inverse_apply(at)));
            depths.fold(f64::INFINITY, f64::min)
        };
        let length = leave.point.distance(pose.translation());
        (0..50).for_each(|k| assert!(depth(length * f64::from(k) / 50.0) < 1e-9, "{trial}"));
        assert!(depth(length + 1e-7) > 0.0, "{trial} {leave:?}");
    }
    assert!((500..1_400).contains(&hits) && ways_out > 300, "{hits} {ways_out}");
}

#[test]
fn margins_grow_shapes_for_rays_and_points() {
    let mut random = Random(5);
    let mut query = Query::new(Options::default().with_margin(0.3));
    let mut hits = 0;
    for trial in 0..900 {
        let (shape, pose) = (random.shape(trial), random.pose(3.0));
        let placed = Placed::new(&shape, pose);
        let ray = aimed(&mut random, pose.apply(shape.center()));
        let point = ray.at(random.range(0.0, 2.0));
        let plain = project_point(&placed, point).expect("a point");
        let grown = query.project_point(&placed, point).expect("a point");
        assert!((plain.distance - 0.3 - grown.distance).abs() < 1e-12);
        let hit = query.cast_ray(&placed, &ray);
        hits += usize::from(hit.is_some());
        let Some(hit) = hit else {
            for step in 0..60 {
                let near = project_point(&placed, ray.at(f64::from(step) * 0.05)).expect("a point");
                assert!(near.distance > 0.3 - 1e-9, "{shape:?} {ray:?}");
            }
            continue;
        };
        let near = project_point(&placed, hit.point).expect("a point");
        assert!(hit.inside || (near.distance - 0.3).abs() < 1e-8, "{shape:?} {hit:?} {near:?}");
        assert!(hit.inside || near.normal.dot(hit.normal) > 1.0 - 1e-9, "{shape:?} {hit:?}");
    }
    assert!((360..890).contains(&hits), "{hits}");
}

#[test]
fn shapes_without_thickness_are_hit() {
    let hull = |points: &[[f64; 3]]| {
        Shape::hull(&points.iter().map(|p| DVec3::from(*p)).collect::<Vec<_>>()).expect("a hull")
    };
    let flat = [
        Shape::sphere(0.0),
        Shape::cuboid(DVec3::ZERO),
        Shape::cuboid(DVec3::new(1.0, 0.0, 1.0)),
        Shape::cuboid(DVec3::new(0.0, 1.0, 0.0)),
        Shape::capsule(0.0, 1.0),
        Shape::capsule(0.0, 0.0),
        Shape::cylinder(0.0, 1.0),
        Shape::cylinder(1.0, 0.0),
        Shape::cone(0.0, 1.0),
        Shape::cone(1.0, 0.0),
        Shape::ellipsoid(DVec3::new(1.0, 0.0, 1.0)),
        Shape::ellipsoid(DVec3::new(0.0, 1.0, 0.0)),
        Shape::ellipsoid(DVec3::ZERO),
        Shape::triangle([DVec3::ZERO, DVec3::ZERO, DVec3::ZERO]),
        Shape::triangle([DVec3::NEG_Y, DVec3::ZERO, DVec3::Y]),
        Shape::triangle([[1.0, 0.0, -0.5], [-1.0, 0.0, -0.5], [0.0, 0.0, 1.0]].map(DVec3::from)),
        Ok(hull(&[[0.0, 0.0, 0.0]])),
        Ok(hull(&[[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])),
        Ok(hull(&[[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])),
    ];
    let mut random = Random(6);
    for shape in flat {
        let shape = shape.expect("a legal shape");
        for trial in 0..40 {
            let pose = random.pose(if trial == 0 { 0.0 } else { 3.0 });
            let placed = Placed::new(&shape, pose);
            // All of them hold their origin, seen across, along and in between.
            let axes = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, 1.0, 0.0), random.unit()];
            for axis in axes {
                let way = pose.apply_vector(axis) * 5.0;
                let (from, to) = (pose.translation() - way, pose.translation() + way);
                let hit = cast_ray(&placed, &Ray::segment(from, to).expect("a segment"));
                let hit = hit.unwrap_or_else(|| panic!("{shape:?} is missed along {axis}"));
                assert!(hit.time > 0.0 && hit.time <= 0.6 + 1e-6, "{shape:?} {axis} {hit:?}");
                assert!((hit.normal.length() - 1.0).abs() < 1e-9, "{shape:?} {axis} {hit:?}");
                let beside = pose.apply_vector(DVec3::new(0.0, 0.0, 1.1));
                let past = Ray::segment(from + beside, to + beside).expect("a segment");
                if axis.z == 0.0 {
                    assert!(cast_ray(&placed, &past).is_none(), "{shape:?} {axis}");
                }
            }
            let point = pose.translation() + random.vector(2.0);
            let found = project_point(&placed, point).expect("a point");
            assert!(found.distance >= 0.0, "{shape:?} {found:?}");
            let reach = beyond(&shape, &pose, found.point, found.normal);
            assert!(reach.abs() < 2e-9, "{shape:?} {found:?} {reach:e}");
        }
    }
}

#[test]
fn needles_and_plates_are_hit_where_they_are() {
    let mut random = Random(7);
    for trial in 0..600 {
        let thin = 10f64.powf(random.range(-12.0, -2.0));
        let stretch =
            if trial % 2 == 0 { DVec3::new(1.0, thin, thin) } else { DVec3::new(1.0, 1.0, thin) };
        let turn = DQuat::from_scaled_axis(random.vector(3.0));
        let points: Vec<DVec3> = (0..12).map(|_| turn * (random.unit() * stretch)).collect();
        let shape = Shape::hull(&points).expect("a hull");
        let pose = random.pose(2.0);
        let placed = Placed::new(&shape, pose);
        let target = pose.apply(shape.center());
        let from = target + random.unit() * 4.0;
        let ray = Ray::segment(from, target + (target - from)).expect("a segment");
        let hit = cast_ray(&placed, &ray).unwrap_or_else(|| panic!("{trial}: {thin:e} missed"));
        let near = project_point(&placed, hit.point).expect("a point");
        assert!(near.distance.abs() < 1e-9, "{trial} {thin:e} {hit:?} {near:?}");
        let reach = beyond(&shape, &pose, hit.point, hit.normal);
        assert!(reach.abs() < 1e-8, "{trial} {thin:e} {hit:?} {reach:e}");
    }
}

#[test]
fn bad_rays_and_points_are_refused_by_name() {
    let fault = Ray::new(DVec3::new(0.0, f64::NAN, 0.0), DVec3::X).unwrap_err().to_string();
    assert!(fault.contains("origin") && fault.contains(" y "), "{fault}");
    let fault = Ray::new(DVec3::ZERO, DVec3::new(0.0, 0.0, f64::INFINITY)).unwrap_err().to_string();
    assert!(fault.contains("direction") && fault.contains(" z "), "{fault}");
    assert!(Ray::segment(DVec3::ZERO, DVec3::splat(1e300)).is_err());
    let ball = Shape::sphere(1.0).expect("a ball");
    let placed = Placed::new(&ball, Pose::IDENTITY);
    let fault = project_point(&placed, DVec3::new(1e300, 0.0, 0.0));
    assert!(matches!(fault, Err(ShapeError::Coordinate { field: "point", .. })));
    let ray = Ray::new(DVec3::NEG_X * 3.0, DVec3::X).expect("a ray");
    for limit in [f64::NAN, -1.0, 1.999] {
        assert_eq!(cast_ray(&placed, &ray.until(limit)), None);
    }
    assert_eq!(cast_ray(&placed, &ray.until(2.0)).map(|hit| hit.time), Some(2.0));
}

#[test]
fn hostile_sizes_and_speeds_give_finite_answers() {
    let mut random = Random(8);
    let scales = [1e-300, 1e-150, 1e-60, 1e-12, 1.0, 1e12, 1e59];
    for trial in 0..1_500 {
        let scale = scales[trial % scales.len()];
        let shape = match random.shape(trial / scales.len()) {
            Shape::Sphere { radius } => Shape::sphere(radius * scale),
            Shape::Cuboid { half_extents } => Shape::cuboid(half_extents * scale),
            Shape::Cylinder { radius, half_height } => Shape::cylinder(radius * scale, half_height),
            Shape::Cone { radius, half_height } => Shape::cone(radius, half_height * scale),
            Shape::Ellipsoid { radii } => Shape::ellipsoid(radii * DVec3::new(scale, 1.0, 1.0)),
            Shape::Triangle { points } => Shape::triangle(points.map(|point| point * scale)),
            Shape::Hull(hull) => {
                let scaled = hull.vertices().iter().map(|&v| v * scale);
                Shape::hull(&scaled.collect::<Vec<_>>())
            }
            other => Ok(other),
        }
        .expect("a legal shape");
        let far = scales[trial / 3 % scales.len()];
        let pose = Pose::at(random.vector(far)).expect("a pose");
        let placed = Placed::new(&shape, pose);
        let speed = [1e-300, 1.0, 1e59][trial % 3];
        let way = pose.apply(shape.center()) - random.vector(far);
        let from = pose.apply(shape.center()) - way;
        let ray = Ray::new(from, way.normalize_or(DVec3::Y) * speed).expect("a ray");
        for solid in [true, false] {
            if let Some(hit) = cast_ray(&placed, &ray.with_solid(solid)) {
                assert!(hit.time.is_finite() && hit.point.is_finite(), "{shape:?} {hit:?}");
                assert!((hit.normal.length() - 1.0).abs() < 1e-6, "{shape:?} {ray:?} {hit:?}");
            }
        }
        let found = project_point(&placed, from).expect("a point");
        assert!(found.distance.is_finite() && found.point.is_finite(), "{shape:?} {found:?}");
        assert!((found.normal.length() - 1.0).abs() < 1e-6, "{shape:?} {from} {found:?}");
    }
}

#[test]
fn parts_have_the_names_of_the_shape() {
    let cube = Shape::cuboid(DVec3::ONE).expect("a box");
    let points: Vec<DVec3> = (0..8)
        .map(|k| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0)
        .collect();
    let hull = Shape::hull(&points).expect("a hull");
    let part = |shape: &Shape, p: [f64; 3]| {
        project_point(&Placed::new(shape, Pose::IDENTITY), p.into()).expect("a point").part
    };
    assert_eq!(part(&cube, [2.0, 0.1, 0.2]), SurfacePart::Face(0));
    assert_eq!(part(&cube, [0.0, 0.1, -0.9]), SurfacePart::Face(5));
    assert_eq!(part(&cube, [2.0, -2.0, 0.2]), SurfacePart::Edge([2, 6]));
    assert_eq!(part(&cube, [2.0, -2.0, -2.0]), SurfacePart::Vertex(6));
    assert_eq!(part(&hull, [2.0, -2.0, -2.0]), SurfacePart::Vertex(1));
    assert_eq!(part(&hull, [2.0, -2.0, 0.2]), SurfacePart::Edge([1, 5]));
    for p in [[2.0, 0.1, 0.2], [0.0, 0.1, -0.9], [-0.3, 7.0, 0.3]] {
        let SurfacePart::Face(face) = part(&hull, p) else { panic!("{p:?} is over a face") };
        let Shape::Hull(hull) = &hull else { unreachable!() };
        let axis = DVec3::from(p).abs().max_position();
        assert_eq!(hull.face_normal(face as usize)[axis], DVec3::from(p)[axis].signum());
    }
    let cylinder = Shape::cylinder(1.0, 1.0).expect("a cylinder");
    assert_eq!(part(&cylinder, [2.0, 2.0, 0.0]), SurfacePart::Edge([0, 1]));
    assert_eq!(part(&cylinder, [0.2, -2.0, 0.0]), SurfacePart::Face(2));
    let cone = Shape::cone(1.0, 1.0).expect("a cone");
    assert_eq!(part(&cone, [0.1, 2.0, 0.0]), SurfacePart::Vertex(0));
    assert_eq!(part(&cone, [1.0, 0.5, 0.0]), SurfacePart::Face(0));
}

/// Two triangles of a mesh leave no gap between them.
#[test]
fn rays_do_not_pass_between_triangles() {
    let mut random = Random(9);
    for _ in 0..4_000 {
        let [a, b, c, d] = [0; 4].map(|_| random.vector(1.0));
        let (one, other) = (Shape::triangle([a, b, c]), Shape::triangle([b, a, d]));
        let (one, other) = (one.expect("a triangle"), other.expect("a triangle"));
        let target = a.lerp(b, random.range(0.01, 0.99));
        let from = target + random.unit() * 3.0;
        let ray = Ray::segment(from, target + (target - from)).expect("a segment");
        let hits = [&one, &other].map(|shape| cast_ray(&Placed::new(shape, Pose::IDENTITY), &ray));
        // Where both are seen from one side of the edge, the ray may pass beside it.
        let facing = |p: DVec3| (b - a).cross(p - a).dot(ray.direction());
        if facing(c) * facing(d) < 0.0 {
            assert!(hits.iter().any(Option::is_some), "{a} {b} {c} {d} {ray:?}");
        }
    }
}
