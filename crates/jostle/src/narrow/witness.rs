//! A point for a known normal: where two overlapping cores push against each other.

use super::clip::Facets;
use super::pair::{Core, Cores};
use crate::shape::PoseMatrix;
use glam::DVec3;

/// Sine of the angle up to which features count as parallel.
const PARALLEL: f64 = 1e-7;

/// The point of a's surface that belongs to the contact along a normal, in a's frame. Where faces
/// or edges lie on each other it is the middle of what they share.
pub(crate) fn deepest(cores: &Cores<'_>, normal: DVec3, facets: &mut Facets) -> DVec3 {
    if let (Core::Box(half_a), Core::Box(half_b)) = (cores.a, cores.b)
        && let Some(point) = of_boxes(half_a, half_b, &cores.b_in_a, normal)
    {
        return point;
    }
    of_features(cores, normal, facets)
}

/// Boxes that meet in a vertex or in two crossing edges, without the general machinery.
fn of_boxes(half_a: DVec3, half_b: DVec3, b_in_a: &PoseMatrix, normal: DVec3) -> Option<DVec3> {
    let (vertex_a, free_a) = box_vertex(half_a, normal);
    if free_a == [false; 3] {
        return Some(vertex_a);
    }
    let (local, free_b) = box_vertex(half_b, b_in_a.inverse_apply_vector(-normal));
    let vertex_b = b_in_a.apply(local);
    if free_b == [false; 3] {
        return Some(lifted(vertex_b, vertex_a, normal));
    }
    let single = |free: [bool; 3]| {
        let axis = free.iter().position(|&free| free)?;
        (free.iter().filter(|&&free| free).count() == 1).then_some(axis)
    };
    let (axis_a, axis_b) = (single(free_a)?, single(free_b)?);
    let along_a = DVec3::AXES[axis_a] * (2.0 * half_a[axis_a]);
    let along_b = b_in_a.rotation.col(axis_b) * (2.0 * half_b[axis_b]);
    crossing(vertex_a, vertex_a - along_a, vertex_b, vertex_b - along_b)
}

/// The furthest vertex, on the positive side if the direction does not tell, and the axes on which
/// it does not.
fn box_vertex(half: DVec3, direction: DVec3) -> (DVec3, [bool; 3]) {
    let free = [0, 1, 2].map(|axis| direction[axis].abs() <= PARALLEL);
    let signed = |axis: usize| {
        if free[axis] { half[axis] } else { half[axis].copysign(direction[axis]) }
    };
    (DVec3::new(signed(0), signed(1), signed(2)), free)
}

#[cold]
fn of_features(cores: &Cores<'_>, normal: DVec3, facets: &mut Facets) -> DVec3 {
    let Facets { on_a, on_b, clip } = facets;
    on_a.find(&cores.a, normal, PARALLEL);
    on_b.find(&cores.b, cores.b_in_a.inverse_apply_vector(-normal), PARALLEL);
    on_b.place(&cores.b_in_a);
    let (a, b) = (on_a.points(), on_b.points());
    if let [point] = *a {
        return point;
    }
    if b.len() == 1 {
        return lifted(b[0], a[0], normal);
    }
    if let ([p, q], [r, s]) = (a, b)
        && let Some(point) = crossing(*p, *q, *r, *s)
    {
        return point;
    }
    let (clipped, sides) = if a.len() == 2 { (&*on_a, &*on_b) } else { (&*on_b, &*on_a) };
    clip.begin(clipped);
    clip.by_sides_of(sides, normal);
    let shared = clip.corners();
    if shared.is_empty() {
        return lifted(b[0], a[0], normal);
    }
    let middle = shared.iter().map(|corner| corner.point).sum::<DVec3>() / shared.len() as f64;
    lifted(middle, a[0], normal)
}

/// The point moved along the normal to the height of another.
fn lifted(point: DVec3, level: DVec3, normal: DVec3) -> DVec3 {
    point + normal * (level - point).dot(normal)
}

/// The point of the first segment nearest to the line of the second; none if they are parallel.
pub(crate) fn crossing(p: DVec3, q: DVec3, r: DVec3, s: DVec3) -> Option<DVec3> {
    let (u, v) = (q - p, s - r);
    let cross = u.cross(v);
    let area = cross.length_squared();
    if area <= PARALLEL * PARALLEL * u.length_squared() * v.length_squared() {
        return None;
    }
    let place = (r - p).cross(v).dot(cross) / area;
    Some(p + u * place.clamp(0.0, 1.0))
}
