//! The answer to one query.

use glam::DVec3;
use jostle::narrow::{
    self, CastOptions, Contact, Impact, ImpactStatus, Motion, Moving, Placed, Projection, RayHit,
};
use jostle::shape::Shape;
use serde_json::{Map, Value, json};
use std::sync::Arc;

use super::mesh_answer;
use super::query::{Geometry, Other, Query, Side};

/// The answer as it is printed, or why there is none. With `list`, pairs of triangles are counted.
pub(crate) fn answer(query: &Query, list: bool) -> Result<Value, String> {
    let Query { id, a, other } = query;
    let mut answer = Map::new();
    answer.insert("id".into(), id.clone());
    match (&a.shape, other) {
        (Geometry::Mesh(mesh), Other::Ray(ray)) => {
            mesh_answer::put_hit(&mut answer, mesh, &a.pose, ray);
        }
        (Geometry::Mesh(mesh), Other::Point(point)) => {
            mesh_answer::put_place(&mut answer, mesh, &a.pose, *point);
        }
        (Geometry::Shape(shape), Other::Ray(ray)) => {
            put_hit(&mut answer, narrow::cast_ray(&Placed::new(shape, a.pose), ray));
        }
        (Geometry::Shape(shape), Other::Point(point)) => {
            // The reader has refused points that are too far away.
            let found = narrow::project_point(&Placed::new(shape, a.pose), *point).ok();
            put_place(&mut answer, found);
        }
        (_, Other::Shape { b, duration, options }) => {
            answer_pair(&mut answer, [a, b], *duration, options, list)?;
        }
    }
    Ok(Value::Object(answer))
}

fn answer_pair(
    answer: &mut Map<String, Value>,
    [a, b]: [&Side; 2],
    duration: f64,
    options: &CastOptions,
    list: bool,
) -> Result<(), String> {
    if let (Geometry::Mesh(one), Geometry::Mesh(other)) = (&a.shape, &b.shape) {
        return mesh_answer::put_pair(answer, (one, &a.pose), (other, &b.pose), list);
    }
    let shapes = [&a.shape, &b.shape].map(|geometry| match geometry {
        Geometry::Shape(shape) => (**shape).clone(),
        Geometry::Mesh(mesh) => Shape::Mesh(Arc::clone(mesh)),
    });
    let [one, other] = [Placed::new(&shapes[0], a.pose), Placed::new(&shapes[1], b.pose)];
    if shapes.iter().any(Shape::is_surface) {
        mesh_answer::put_contact(answer, &one, &other);
    } else {
        put_contact(answer, &narrow::contact(&one, &other));
    }
    if a.motion.is_some() || b.motion.is_some() {
        put_impact(answer, &impact([(one, a.motion), (other, b.motion)], duration, options));
    }
    Ok(())
}

fn put_hit(answer: &mut Map<String, Value>, hit: Option<RayHit>) {
    answer.insert("hit".into(), json!(hit.is_some()));
    answer.insert("time".into(), json!(hit.map(|hit| hit.time)));
    answer.insert("point".into(), json!(hit.map(|hit| hit.point.to_array())));
    answer.insert("normal".into(), json!(hit.map(|hit| hit.normal.to_array())));
    answer.insert("inside".into(), json!(hit.map(|hit| hit.inside)));
}

fn put_place(answer: &mut Map<String, Value>, found: Option<Projection>) {
    answer.insert("distance".into(), json!(found.map(|found| found.distance)));
    answer.insert("point".into(), json!(found.map(|found| found.point.to_array())));
    answer.insert("normal".into(), json!(found.map(|found| found.normal.to_array())));
    answer.insert("inside".into(), json!(found.map(|found| found.is_inside())));
}

pub(super) fn put_contact(answer: &mut Map<String, Value>, contact: &Contact) {
    answer.insert("distance".into(), json!(contact.distance));
    answer.insert("depth".into(), json!(contact.depth));
    answer.insert("normal".into(), vector(contact.normal));
    answer.insert("point_a".into(), vector(contact.point_a));
    answer.insert("point_b".into(), vector(contact.point_b));
    answer.insert("status".into(), json!(contact.status.name()));
}

fn impact(
    sides: [(Placed<'_>, Option<Motion>); 2],
    duration: f64,
    options: &CastOptions,
) -> Impact {
    let [a, b] = sides.map(|(placed, motion)| Moving::new(placed, motion.unwrap_or(Motion::STILL)));
    narrow::cast_shape(&a, &b, duration, options)
}

fn put_impact(answer: &mut Map<String, Value>, impact: &Impact) {
    let status = match impact.status {
        ImpactStatus::AtStart => "at_start",
        ImpactStatus::Hit => "hit",
        ImpactStatus::Miss => "miss",
        ImpactStatus::StepLimit => "step_limit",
    };
    let missed = impact.status == ImpactStatus::Miss;
    let unless_missed = |value: Value| if missed { Value::Null } else { value };
    let contact = &impact.contact;
    answer.insert("impact".into(), json!(status));
    answer.insert("time_of_impact".into(), unless_missed(json!(impact.time)));
    answer.insert("impact_normal".into(), unless_missed(vector(contact.normal)));
    answer.insert("impact_point_a".into(), unless_missed(vector(contact.point_a)));
    answer.insert("impact_point_b".into(), unless_missed(vector(contact.point_b)));
}

/// JSON has no infinity: it becomes null.
fn vector(vector: DVec3) -> Value {
    json!(vector.to_array())
}
