//! What a mesh is checked for when it is made, with its bounds: passes over all vertices and all
//! triangles, shared by threads.

use glam::DVec3;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::tree;
use crate::par::Workers;
use crate::shape::{LIMIT, MeshError, bad_axis, round_radius};

/// Vertices or triangles that one task looks at.
const PER_TASK: usize = 1 << 11;

/// Answers for stretches of a list, in order.
fn in_stretches<R: Clone + Send>(
    count: usize,
    blank: R,
    workers: &Workers,
    ask: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let mut answers = vec![blank; count.div_ceil(PER_TASK)];
    workers.for_each_from_ends(&mut answers, |task, answer| {
        *answer = ask(task * PER_TASK..count.min((task + 1) * PER_TASK));
    });
    answers
}

/// The corners of a box.
pub(super) type Bounds = (DVec3, DVec3);

const NOTHING: Bounds = (DVec3::INFINITY, DVec3::NEG_INFINITY);

/// Grows bounds by a point. Without a number in it the bounds are of no use, but then the vertices
/// are refused.
#[inline(always)]
fn add((min, max): &mut Bounds, vertex: &DVec3) {
    *min = DVec3::select(vertex.cmplt(*min), *vertex, *min);
    *max = DVec3::select(vertex.cmpgt(*max), *vertex, *max);
}

/// Bounds of all vertices, if every coordinate is a number within the limits.
pub(super) fn check_vertices(vertices: &[DVec3], workers: &Workers) -> Result<Bounds, MeshError> {
    // Without a branch for each; who is to blame is looked for only if somebody is.
    let sound = |at: &DVec3| (at.x.abs() <= LIMIT) & (at.y.abs() <= LIMIT) & (at.z.abs() <= LIMIT);
    let stretches = in_stretches(vertices.len(), (true, NOTHING), workers, |range| {
        let (mut all, mut bounds) = (true, NOTHING);
        for vertex in &vertices[range] {
            all &= sound(vertex);
            add(&mut bounds, vertex);
        }
        (all, bounds)
    });
    if stretches.iter().all(|(sound, _)| *sound) {
        return Ok(union(stretches.into_iter().map(|(_, bounds)| bounds)));
    }
    for (vertex, point) in vertices.iter().enumerate() {
        if let Some(axis) = bad_axis(*point) {
            return Err(MeshError::Coordinate { vertex, axis, value: point[axis.index()] });
        }
    }
    Ok(NOTHING)
}

fn union(all: impl Iterator<Item = Bounds>) -> Bounds {
    all.fold(NOTHING, |whole, part| (whole.0.min(part.0), whole.1.max(part.1)))
}

/// Returns true if a vertex belongs to no triangle, if every triangle names vertices that exist.
pub(super) fn check_triangles(
    triangles: &[[u32; 3]],
    vertices: usize,
    workers: &Workers,
) -> Result<bool, MeshError> {
    if triangles.is_empty() {
        return Err(MeshError::Empty);
    }
    if triangles.len() > tree::MOST_TRIANGLES {
        return Err(MeshError::TooMany { triangles: triangles.len() });
    }
    let mut used = Vec::new();
    used.resize_with(vertices, || AtomicBool::new(false));
    let stretches = in_stretches(triangles.len(), true, workers, |range| {
        let mut sound = true;
        for index in triangles[range].as_flattened() {
            match used.get(*index as usize) {
                Some(used) => used.store(true, Ordering::Relaxed),
                None => sound = false,
            }
        }
        sound
    });
    if stretches.into_iter().all(|sound| sound) {
        return Ok(used.into_iter().any(|used| !used.into_inner()));
    }
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&index| index as usize >= vertices) {
            return Err(MeshError::Index { triangle, index, vertices });
        }
    }
    Ok(false)
}

/// Bounds of the vertices that triangles use.
pub(super) fn used_bounds(vertices: &[DVec3], triangles: &[[u32; 3]], workers: &Workers) -> Bounds {
    union(
        in_stretches(triangles.len(), NOTHING, workers, |range| {
            let mut bounds = NOTHING;
            let used = triangles[range].as_flattened();
            used.iter().for_each(|&vertex| add(&mut bounds, &vertices[vertex as usize]));
            bounds
        })
        .into_iter(),
    )
}

/// A radius about a center that holds all vertices, or those that triangles use.
pub(super) fn radius(
    vertices: &[DVec3],
    triangles: Option<&[[u32; 3]]>,
    center: DVec3,
    workers: &Workers,
) -> f64 {
    let square = |vertex: &DVec3| vertex.distance_squared(center);
    let squares = match triangles {
        Some(triangles) => in_stretches(triangles.len(), 0.0, workers, |range| {
            let used = triangles[range].as_flattened();
            largest(used.iter().map(|&vertex| square(&vertices[vertex as usize])))
        }),
        None => in_stretches(vertices.len(), 0.0, workers, |range| {
            largest(vertices[range].iter().map(square))
        }),
    };
    round_radius(largest(squares.into_iter()).sqrt())
}

/// The largest of numbers that are not below zero; four at a time: none waits for the one before.
fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut most = [0.0f64; 4];
    for (slot, number) in numbers.enumerate() {
        let most = &mut most[slot % 4];
        *most = if number > *most { number } else { *most };
    }
    most.into_iter().fold(0.0, f64::max)
}
