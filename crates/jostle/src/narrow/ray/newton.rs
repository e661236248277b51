//! A line against anything convex whose signed distance to a point is known.
//!
//! Along a line that distance is convex. From outside, the plane across the normal of the nearest
//! point keeps the shape off for `distance / -(normal·direction)` of the way: a step of Newton's
//! method, which for a convex function climbs to the root from the left and never passes it. Where
//! the normal turns along the line before the distance is gone, the line misses (van den Bergen,
//! *Ray Casting against General Convex Objects*, does the same inside of GJK).
//!
//! Polyhedra take as many steps as the line crosses of their planes on the way, two or three;
//! smooth shapes five or six, since the steps converge quadratically, except for lines that graze,
//! whose error falls by half a step.
//!
//! Steps end a little before the surface: there the nearest point of a hull still tells which faces
//! are near, without a look at all of them. The last step is then made with the plane itself.

use super::{Crossing, Line, Meeting, Span, Task};
use crate::narrow::answer::TOUCH;
use crate::narrow::point::{Nearest, SurfacePart, faces_around, nearest};
use crate::shape::{Hull, Shape};

/// Most steps. Lines that graze take fifty.
const STEPS: u32 = 160;

/// What a ray does to the shape.
pub(super) fn meeting(task: &Task<'_>) -> Meeting {
    let first = task.start.max(before(task));
    if first == task.start && measure(task, &task.line, first).signed < 0.0 {
        return Meeting::Inside;
    }
    match forward(task, &task.line, first, task.end) {
        Some(crossing) => Meeting::Hit(crossing),
        None => Meeting::Miss,
    }
}

/// The whole stretch: from both sides.
pub(super) fn span(task: &Task<'_>) -> Option<Span> {
    let first = before(task);
    let enter = forward(task, &task.line, first, f64::INFINITY)?;
    let back = Line { direction: -task.line.direction, ..task.line };
    let leave = forward(task, &back, first, f64::INFINITY)?;
    Some(Span { enter, leave: Crossing { at: -leave.at, ..leave } })
}

/// A place on the line before the shape: its origin is the nearest to the middle.
fn before(task: &Task<'_>) -> f64 {
    -(task.shape.bounding_radius() + task.margin) * (1.0 + 1e-12) - 2.0 * near_enough(task)
}

fn measure(task: &Task<'_>, line: &Line, at: f64) -> Nearest {
    nearest(task.shape, line.at(at)).grown(task.margin)
}

/// How far from the surface the steps end: above what the distance to a point is right to.
fn near_enough(task: &Task<'_>) -> f64 {
    let share = match task.shape {
        Shape::Hull(_) => 4e-12,
        Shape::Cone { .. } | Shape::Cuboid { .. } | Shape::Cylinder { .. } => 1e-14,
        Shape::Triangle { .. } => 1e-14,
        Shape::Ellipsoid { radii } if radii.min_element() > 0.0 => 1e-14,
        _ => 2.0 * TOUCH,
    };
    share * (task.shape.bounding_radius() + task.margin) + task.line.slack
}

/// The first crossing from a place outside on.
fn forward(task: &Task<'_>, line: &Line, mut at: f64, end: f64) -> Option<Crossing> {
    let enough = near_enough(task);
    let mut before: Option<Nearest> = None;
    for _ in 0..STEPS {
        let near = measure(task, line, at);
        if near.signed <= 2.0 * enough {
            return Some(crossing(task, line, at, &near, before.as_ref()));
        }
        let closing = -near.normal.dot(line.direction);
        let next = at + (near.signed - enough) / closing;
        if closing <= 0.0 || next > end {
            return None;
        }
        if next <= at {
            return Some(crossing(task, line, at, &near, before.as_ref()));
        }
        at = next;
        before = Some(near);
    }
    before.map(|near| crossing(task, line, at, &near, None))
}

/// The crossing near a place just before it.
fn crossing(
    task: &Task<'_>,
    line: &Line,
    at: f64,
    near: &Nearest,
    before: Option<&Nearest>,
) -> Crossing {
    if let (Shape::Hull(hull), true) = (task.shape, task.margin == 0.0)
        && let Some(crossing) = hull_crossing(hull, line, at, near, near_enough(task))
    {
        return crossing;
    }
    let smooth = matches!(near.part, SurfacePart::Face(_)) || task.margin > 0.0;
    let mut normal = match before {
        // So near to a rim or an edge the direction to it is mostly rounding.
        Some(before) if !smooth => before.normal,
        _ => near.normal,
    };
    if matches!(task.shape, Shape::Ellipsoid { .. } | Shape::Custom(_)) {
        // Seen from a little outside, where rounding does not turn it.
        let size = task.shape.bounding_radius() + task.margin;
        let out = line.at(at) + normal * (1e-3 * size);
        normal = nearest(task.shape, out).normal;
    }
    let closing = -normal.dot(line.direction);
    let rest = if closing > 1e-6 { near.signed.max(0.0) / closing } else { 0.0 };
    Crossing { at: at + rest, normal, part: near.part }
}

/// Of the faces around the nearest part of a hull, the one that the line meets last is the one it
/// enters by.
fn hull_crossing(
    hull: &Hull,
    line: &Line,
    at: f64,
    near: &Nearest,
    enough: f64,
) -> Option<Crossing> {
    let mut best: Option<Crossing> = None;
    let mut try_face = |face: u32| {
        let normal = hull.face_normal(face as usize);
        let slope = normal.dot(line.direction);
        let height = normal.dot(line.origin) - hull.face_offset(face as usize);
        let place = -height / slope;
        // The faces behind an edge end it, and those nearly along the line may be anywhere, as the
        // two of a plate that is seen from its side.
        let steep = slope < -1e-6 * line.direction.length();
        let here = steep && place >= at - 8.0 * enough && (place - at) * -slope <= 8.0 * enough;
        if here && best.is_none_or(|best| place > best.at) {
            best = Some(Crossing { at: place, normal, part: SurfacePart::Face(face) });
        }
    };
    match near.part {
        SurfacePart::Face(face) => try_face(face),
        SurfacePart::Edge([a, b]) => {
            faces_around(hull, a).chain(faces_around(hull, b)).for_each(try_face);
        }
        SurfacePart::Vertex(vertex) => faces_around(hull, vertex).for_each(try_face),
    }
    best
}
