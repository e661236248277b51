//! Answers about meshes: against each other, against shapes, rays and points.

use glam::DVec3;
use jostle::mesh::{Fill, Mesh, MeshPair};
use jostle::narrow::{self, Placed, Ray};
use jostle::shape::Pose;
use jostle_scenes::pair_hash;
use serde_json::{Map, Value, json};

/// Most pairs of triangles that are listed for one query: a gigabyte of them.
const MOST_PAIRS: usize = 1 << 27;

/// Distance, points and status of two meshes; with `list`, the pairs of triangles that touch.
pub(crate) fn put_pair(
    answer: &mut Map<String, Value>,
    (a, pose_a): (&Mesh, &Pose),
    (b, pose_b): (&Mesh, &Pose),
    list: bool,
) -> Result<(), String> {
    let pair = MeshPair::new(a, pose_a, b, pose_b);
    let closest = pair.closest();
    let apart = closest.distance > 0.0;
    // None if the two points are the same number.
    let normal = (closest.point_b - closest.point_a).try_normalize();
    let unless = |value: Value| if apart { value } else { Value::Null };
    answer.insert("distance".into(), json!(closest.distance));
    answer.insert("normal".into(), unless(json!(normal.map(|normal| normal.to_array()))));
    answer.insert("point_a".into(), unless(json!(closest.point_a.to_array())));
    answer.insert("point_b".into(), unless(json!(closest.point_b.to_array())));
    answer.insert("triangle_a".into(), unless(json!(closest.triangle_a)));
    answer.insert("triangle_b".into(), unless(json!(closest.triangle_b)));
    let status = if apart { "separated" } else { "overlapping" };
    answer.insert("status".into(), json!(status));
    if list {
        let pairs = pair.triangle_pairs(MOST_PAIRS).map_err(|fault| fault.to_string())?;
        answer.insert("triangle_pairs".into(), json!(pairs.len()));
        answer.insert("sha256".into(), json!(pair_hash(pairs)));
    }
    Ok(())
}

/// The contact of a mesh and a shape, and the triangle that it is on.
pub(crate) fn put_contact(answer: &mut Map<String, Value>, a: &Placed<'_>, b: &Placed<'_>) {
    let Some(found) = narrow::detailed_contact(a, b, f64::INFINITY) else {
        // Nothing is beyond an endless reach; the plain question has an answer in any case.
        return super::answer::put_contact(answer, &narrow::contact(a, b));
    };
    super::answer::put_contact(answer, &found.contact);
    for (name, triangle) in ["triangle_a", "triangle_b"].into_iter().zip(found.triangles) {
        if let Some(part) = triangle {
            answer.insert(name.into(), json!(part.triangle));
        }
    }
}

/// Where a ray meets a mesh.
pub(crate) fn put_hit(answer: &mut Map<String, Value>, mesh: &Mesh, pose: &Pose, ray: &Ray) {
    let origin = pose.inverse_apply(ray.origin());
    let direction = pose.inverse_apply_vector(ray.direction());
    let inside = mesh.fill() == Fill::Solid && mesh.contains(origin);
    let at_once = inside && ray.is_solid() && ray.limit() >= 0.0;
    let hit = if at_once { None } else { mesh.cast_ray(origin, direction, ray.limit()) };
    let time = hit.map(|hit| hit.time).or(at_once.then_some(0.0));
    // The side that the ray comes from.
    let normal = hit.map(|hit| if hit.front { hit.normal } else { -hit.normal });
    answer.insert("hit".into(), json!(time.is_some()));
    answer.insert("time".into(), json!(time));
    answer.insert("point".into(), json!(time.map(|time| ray.at(time).to_array())));
    let normal = normal.map(|normal| pose.apply_vector(normal).to_array());
    answer.insert("normal".into(), json!(normal));
    answer.insert("triangle".into(), json!(hit.map(|hit| hit.triangle)));
    answer.insert("inside".into(), json!(time.map(|_| inside)));
}

/// The point of a mesh that is nearest to another; the distance of one inside a solid is negative.
pub(crate) fn put_place(answer: &mut Map<String, Value>, mesh: &Mesh, pose: &Pose, point: DVec3) {
    let local = pose.inverse_apply(point);
    let found = mesh.project(local);
    // Of a point inside it is negative, which turns the normal outward.
    let away = (local - found.point) / found.distance;
    let normal = (found.distance != 0.0).then(|| pose.apply_vector(away));
    answer.insert("distance".into(), json!(found.distance));
    answer.insert("point".into(), json!(pose.apply(found.point).to_array()));
    answer.insert("normal".into(), json!(normal.map(|normal| normal.to_array())));
    answer.insert("triangle".into(), json!(found.triangle));
    answer.insert("inside".into(), json!(found.distance < 0.0));
}
