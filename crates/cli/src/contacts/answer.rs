//! The answer to one query.

use glam::DVec3;
use jostle::narrow::{self, Contact, Impact, ImpactStatus, Motion, Moving, Placed};
use serde_json::{Map, Value, json};

use super::query::{Query, Side};

/// The answer as it is printed.
pub(crate) fn answer(query: &Query) -> Value {
    let Query { id, a, b, duration } = query;
    let contact = narrow::contact(&Placed::new(&a.shape, a.pose), &Placed::new(&b.shape, b.pose));
    let mut answer = Map::new();
    answer.insert("id".into(), id.clone());
    put_contact(&mut answer, &contact);
    if a.motion.is_some() || b.motion.is_some() {
        put_impact(&mut answer, &impact(a, b, *duration));
    }
    Value::Object(answer)
}

fn put_contact(answer: &mut Map<String, Value>, contact: &Contact) {
    answer.insert("distance".into(), json!(contact.distance));
    answer.insert("depth".into(), json!(contact.depth));
    answer.insert("normal".into(), vector(contact.normal));
    answer.insert("point_a".into(), vector(contact.point_a));
    answer.insert("point_b".into(), vector(contact.point_b));
    answer.insert("status".into(), json!(contact.status.name()));
}

fn impact(a: &Side, b: &Side, duration: f64) -> Impact {
    let [of_a, of_b] = [a, b].map(|side| side.motion.unwrap_or(Motion::STILL));
    let a = Moving::new(Placed::new(&a.shape, a.pose), of_a);
    let b = Moving::new(Placed::new(&b.shape, b.pose), of_b);
    narrow::time_of_impact(&a, &b, duration)
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
