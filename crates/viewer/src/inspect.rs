//! Answers about single boxes: who a box is, whom it meets and why, what a ray or a point finds.

use jostle::{Aabb, Boxes, Cast, Filter, Pair, Slot};
use serde_json::{Value, json};

use crate::error::ViewError;
use crate::stage::Stage;

/// Most partners, hits and neighbours that are listed.
const LISTED: usize = 50;

/// How many boxes that do not pair are explained.
const EXPLAINED: usize = 5;

/// Who a box is, and why it does or does not pair.
pub(crate) fn inspect(stage: &Stage, slot: Slot) -> Result<Value, ViewError> {
    let detector = stage.detector();
    let boxes = detector.boxes();
    let Some(id) = boxes.id_at(slot) else {
        return Err(ViewError::new(format!("there is no box {slot}")));
    };
    let (aabb, filter) = (boxes.aabbs()[slot.index()], boxes.filters()[slot.index()]);
    let mut partners: Vec<Slot> =
        detector.pairs().iter().filter_map(|pair| pair.other(slot)).collect();
    partners.sort_unstable();
    let listed: Vec<Value> = partners
        .iter()
        .take(LISTED)
        .map(|&other| {
            let overlap = overlap(&aabb, &boxes.aabbs()[other.index()]);
            json!({"slot": other.get(), "overlap": overlap})
        })
        .collect();
    let centre = std::array::from_fn(|k| aabb.min[k] / 2.0 + aabb.max[k] / 2.0);
    let near = match centre.iter().all(|part: &f32| part.is_finite()) {
        true => detector.queries().nearest(
            centre,
            EXPLAINED + 1 + partners.len().min(LISTED),
            &Filter::ALL,
        ),
        false => Vec::new(),
    };
    let others = near.iter().map(|near| near.id.slot());
    let others = others.filter(|other| *other != slot && partners.binary_search(other).is_err());
    let apart: Vec<Value> = others
        .take(EXPLAINED)
        .map(|other| json!({"slot": other.get(), "why": why_not(boxes, slot, other)}))
        .collect();
    let shape = stage.world().and_then(|world| world.shape(world.id_at(slot)?));
    Ok(json!({
        "slot": slot.get(), "id": id.to_string(), "min": aabb.min, "max": aabb.max,
        "filter": {"membership": filter.membership, "mask": filter.mask, "owner": filter.owner,
                   "still": filter.still},
        "shape": shape.map(|shape| shape.kind()), "partner_count": partners.len(),
        "partners": listed, "apart": apart,
    }))
}

/// How far two boxes reach into each other on each axis; none below the smallest float.
fn overlap(one: &Aabb, other: &Aabb) -> [f64; 3] {
    std::array::from_fn(|k| {
        f64::from(one.max[k].min(other.max[k])) - f64::from(one.min[k].max(other.min[k]))
    })
}

/// Why two boxes are no pair, in words.
fn why_not(boxes: &Boxes, one: Slot, other: Slot) -> String {
    let (a, b) = (&boxes.filters()[one.index()], &boxes.filters()[other.index()]);
    let (low, high) = (boxes.aabbs()[one.index()], boxes.aabbs()[other.index()]);
    let gaps = overlap(&low, &high).map(|shared| -shared);
    let widest = (0..3).max_by(|&k, &m| gaps[k].total_cmp(&gaps[m])).unwrap_or(0);
    if gaps[widest] > 0.0 {
        return format!("apart on {} by {:.4}", ["x", "y", "z"][widest], gaps[widest]);
    }
    if a.still && b.still {
        "both are still".into()
    } else if a.owner == b.owner && a.owner != Filter::NOBODY {
        format!("both belong to owner {}", a.owner)
    } else if !a.allows(b) {
        "their groups do not meet".into()
    } else if boxes.excluded().any(|pair| pair == Pair::new(one, other)) {
        "the pair is excluded".into()
    } else {
        "they overlap since the last step".into()
    }
}

/// What a ray meets, nearest first.
pub(crate) fn ray(
    stage: &Stage,
    origin: [f32; 3],
    direction: [f32; 3],
) -> Result<Value, ViewError> {
    finite(&origin)?;
    finite(&direction)?;
    let cast = Cast::ray(origin, direction);
    let mut hits = stage.detector().queries().hits(&cast, &Filter::ALL);
    hits.sort_by(|one, other| one.enter.total_cmp(&other.enter).then(one.id.cmp(&other.id)));
    let listed: Vec<Value> = hits
        .iter()
        .take(LISTED)
        .map(|hit| json!({"slot": hit.id.slot().get(), "enter": hit.enter}))
        .collect();
    Ok(json!({"count": hits.len(), "hits": listed}))
}

/// The boxes nearest to a point.
pub(crate) fn nearest(stage: &Stage, point: [f32; 3], count: usize) -> Result<Value, ViewError> {
    finite(&point)?;
    let near = stage.detector().queries().nearest(point, count.min(LISTED), &Filter::ALL);
    let listed: Vec<Value> = near
        .iter()
        .map(|near| json!({"slot": near.id.slot().get(), "distance": near.distance_squared.sqrt()}))
        .collect();
    Ok(json!({"nearest": listed}))
}

fn finite(numbers: &[f32]) -> Result<(), ViewError> {
    match numbers.iter().all(|number| number.is_finite()) {
        true => Ok(()),
        false => Err(ViewError::new("give finite numbers")),
    }
}
