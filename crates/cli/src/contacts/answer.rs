//! The answer to one query.

use glam::DVec3;
use jostle::narrow::{
    self, CastOptions, Contact, Impact, ImpactStatus, Motion, Moving, Placed, Projection, RayHit,
};
use serde_json::{Map, Value, json};

use super::query::{Other, Query, Side};

/// The answer as it is printed.
pub(crate) fn answer(query: &Query) -> Value {
    let Query { id, a, other } = query;
    let placed = Placed::new(&a.shape, a.pose);
    let mut answer = Map::new();
    answer.insert("id".into(), id.clone());
    match other {
        Other::Shape { b, duration, options } => {
            put_contact(&mut answer, &narrow::contact(&placed, &Placed::new(&b.shape, b.pose)));
            if a.motion.is_some() || b.motion.is_some() {
                put_impact(&mut answer, &impact(a, b, *duration, options));
            }
        }
        Other::Ray(ray) => put_hit(&mut answer, narrow::cast_ray(&placed, ray)),
        // The reader has refused points that are too far away.
        Other::Point(point) => put_place(&mut answer, narrow::project_point(&placed, *point).ok()),
    }
    Value::Object(answer)
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

fn put_contact(answer: &mut Map<String, Value>, contact: &Contact) {
    answer.insert("distance".into(), json!(contact.distance));
    answer.insert("depth".into(), json!(contact.depth));
    answer.insert("normal".into(), vector(contact.normal));
    answer.insert("point_a".into(), vector(contact.point_a));
    answer.insert("point_b".into(), vector(contact.point_b));
    answer.insert("status".into(), json!(contact.status.name()));
}

fn impact(a: &Side, b: &Side, duration: f64, options: &CastOptions) -> Impact {
    let [of_a, of_b] = [a, b].map(|side| side.motion.unwrap_or(Motion::STILL));
    let a = Moving::new(Placed::new(&a.shape, a.pose), of_a);
    let b = Moving::new(Placed::new(&b.shape, b.pose), of_b);
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
