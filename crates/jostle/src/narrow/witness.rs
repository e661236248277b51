//! A point for a known normal: where two overlapping cores push against each other.

use super::clip::Clip;
use super::feature::Feature;
use super::pair::Cores;
use glam::DVec3;

/// Sine of the angle up to which features count as parallel.
const PARALLEL: f64 = 1e-7;

/// The point of a's surface that belongs to the contact along a normal, in a's frame. Where faces
/// or edges lie on each other it is the middle of what they share.
pub(crate) fn deepest(cores: &mut Cores<'_>, normal: DVec3) -> DVec3 {
    let on_a = Feature::of(&cores.a, normal, PARALLEL);
    let local = cores.b_in_a.inverse_apply_vector(-normal);
    let on_b = Feature::of(&cores.b, local, PARALLEL).placed(&cores.b_in_a);
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
    let clip = if a.len() == 2 {
        Clip::new(&on_a).by_sides_of(&on_b, normal, 0.0)
    } else {
        Clip::new(&on_b).by_sides_of(&on_a, normal, 0.0)
    };
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
