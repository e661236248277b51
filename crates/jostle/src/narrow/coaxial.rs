//! Depth of two bodies of revolution on one axis: EPA in a half plane.
//!
//! Cylinders, cones, capsules, spheres and round ellipsoids on a common axis have a Minkowski
//! difference that is a body of revolution too, and often a whole circle of shortest ways out. EPA
//! spends its corners along that circle: with the 192 it may have, its lower bound stays 1e-5 to
//! 5e-4 of the size too low, though the depth itself is right. But the nearest point of the surface
//! can be turned into any half plane through the axis, and there the difference is an area: a chain
//! of corners from its top to its bottom bounds it from inside, the support line along the normal
//! of the nearest link from outside, and both meet after a few dozen corners.
//!
//! ```text
//! chain = top, side, bottom
//! repeat: link = nearest of the chain to the origin
//!         w = support(normal of the link)
//!         stop if the height of w is that of the link; else put w between its ends
//! ```
//!
//! Cost: one support search for each corner and a pass over the chain. Only pairs whose axes agree
//! to a billionth take this way, and the bounds allow for the difference. Bodies round from all
//! sides in each other's middle still end at the limit.

use super::epa::{Limits, Outcome};
use super::gjk::{Difference, End};
use super::pair::{Core, Cores};
use crate::shape::Shape;
use glam::{DVec2, DVec3};

/// How far from one axis the bodies may be, as a share of their size.
const COAXIAL: f64 = 1e-9;
/// How far from one axis they may be for a look around it: others have slope enough to descend.
const NEARLY_COAXIAL: f64 = 0.1;
/// Most corners of the chain.
const CORNERS: usize = 192;

/// A corner of the chain: its distance from the axis and height along it, and its origin on a.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    point: DVec2,
    on_a: DVec3,
}

/// The half plane, in the frame of a.
struct Plane {
    axis: DVec3,
    side: DVec3,
    /// How far the bodies are from having one axis.
    off: f64,
}

/// The depth of cores on one axis; nothing for all others. `chain` is memory to be used again.
pub(crate) fn run(
    cores: &mut Cores<'_>,
    size: f64,
    limits: &Limits,
    chain: &mut Vec<Link>,
) -> Option<Outcome> {
    let plane = Plane::of(cores, size)?;
    chain.clear();
    chain.extend([DVec2::Y, DVec2::X, DVec2::NEG_Y].map(|d| plane.support(cores, d)));
    // The axis belongs to the area, at all heights between.
    (chain[0].point.x, chain[2].point.x) = (0.0, 0.0);
    let thin =
        chain[1].point.x <= limits.flat || chain[0].point.y - chain[2].point.y <= limits.flat;
    if thin {
        return None;
    }
    plane.grow(cores, chain, limits)
}

impl Plane {
    fn of(cores: &Cores<'_>, size: f64) -> Option<Plane> {
        let (of_a, of_b) = (axis_of(&cores.a)?, axis_of(&cores.b)?);
        let pose = &cores.b_in_a;
        let of_b = pose.apply_vector(of_b);
        let axis = if of_a == DVec3::ZERO { of_b } else { of_a };
        let axis = axis.try_normalize().or_else(|| pose.translation.try_normalize());
        let axis = axis.unwrap_or(DVec3::Y);
        let off = axis.cross(of_b).length() * size + pose.translation.cross(axis).length();
        (off <= COAXIAL * size).then(|| Plane { axis, side: axis.any_orthonormal_vector(), off })
    }

    fn direction(&self, direction: DVec2) -> DVec3 {
        self.side * direction.x + self.axis * direction.y
    }

    fn support(&self, cores: &mut Cores<'_>, direction: DVec2) -> Link {
        let corner = cores.support(self.direction(direction));
        let point = DVec2::new(corner.point.dot(self.side), corner.point.dot(self.axis));
        Link { point, on_a: corner.on_a }
    }

    fn grow(
        &self,
        cores: &mut Cores<'_>,
        chain: &mut Vec<Link>,
        limits: &Limits,
    ) -> Option<Outcome> {
        let mut best = Outcome {
            normal: DVec3::X,
            upper: f64::INFINITY,
            lower: f64::NEG_INFINITY,
            on_a: DVec3::ZERO,
            end: End::StepLimit,
            nearest: 0,
        };
        while chain.len() < CORNERS {
            let (place, normal, distance) = nearest(chain, limits.flat)?;
            let new = self.support(cores, normal);
            let height = new.point.dot(normal);
            if height < best.upper {
                best.upper = height;
                best.normal = self.direction(normal);
                best.on_a = foot(&chain[place], &chain[place + 1]);
            }
            best.lower = distance.min(best.upper) - self.off;
            let undecided = best.lower <= limits.touch && limits.touch < best.upper;
            let gap = if undecided { limits.gap.min(0.5 * limits.touch) } else { limits.gap };
            if best.upper - distance <= gap {
                best.end = End::Converged;
                break;
            }
            let known = |link: &Link| link.point.distance(new.point) <= limits.coplanar;
            if known(&chain[place]) || known(&chain[place + 1]) {
                best.end = End::Stalled;
                break;
            }
            chain.insert(place + 1, new);
        }
        Some(best)
    }
}

/// Turns a normal about the axis to where the depth is least, for bodies of revolution that nearly
/// have one axis. There the depth is a sine of the angle about it, whose wave is as small as the
/// bodies are off: four looks around tell where its trough is, while a descent has next to no
/// slope.
pub(crate) fn turned(cores: &mut Cores<'_>, size: f64, normal: DVec3, depth: f64) -> (DVec3, f64) {
    let (Some(of_a), Some(of_b)) = (axis_of(&cores.a), axis_of(&cores.b)) else {
        return (normal, depth);
    };
    let of_b = cores.b_in_a.apply_vector(of_b);
    let axis = if of_a == DVec3::ZERO { of_b } else { of_a };
    let off = axis.cross(of_b).length() * size + cores.b_in_a.translation.cross(axis).length();
    if off > NEARLY_COAXIAL * size {
        return (normal, depth);
    }
    let along = axis * normal.dot(axis);
    let (first, second) = (normal - along, axis.cross(normal));
    let mut depth_along = |normal: DVec3| cores.support(normal).point.dot(normal);
    let cosine = depth_along(along + first) - depth_along(along - first);
    let sine = depth_along(along + second) - depth_along(along - second);
    let Some(trough) = (-first * cosine - second * sine).try_normalize() else {
        return (normal, depth);
    };
    let turned = along + trough * first.length();
    let found = depth_along(turned);
    if found < depth { (turned.normalize(), found) } else { (normal, depth) }
}

/// The axis that a core turns about, zero if it is round from all sides; nothing for other cores.
fn axis_of(core: &Core<'_>) -> Option<DVec3> {
    match core {
        Core::Point => Some(DVec3::ZERO),
        Core::Segment(_) => Some(DVec3::Y),
        Core::Curved(Shape::Ellipsoid { radii }) => {
            let same = [radii.y == radii.z, radii.z == radii.x, radii.x == radii.y];
            match same {
                [true, true, _] => Some(DVec3::ZERO),
                _ => same.iter().position(|&same| same).map(|axis| DVec3::AXES[axis]),
            }
        }
        Core::Curved(Shape::Cylinder { .. } | Shape::Cone { .. }) => Some(DVec3::Y),
        _ => None,
    }
}

/// The link nearest to the origin: its place, its outward normal and its distance.
fn nearest(chain: &[Link], flat: f64) -> Option<(usize, DVec2, f64)> {
    let mut best: Option<(usize, DVec2, f64)> = None;
    for (place, ends) in chain.windows(2).enumerate() {
        let along = ends[1].point - ends[0].point;
        let length = along.length();
        if length <= flat {
            continue;
        }
        let normal = DVec2::new(-along.y, along.x) / length;
        let distance = normal.dot(ends[0].point);
        if best.is_none_or(|best| distance < best.2) {
            best = Some((place, normal, distance));
        }
    }
    best
}

/// The point of a that belongs to the point of a link nearest to the origin.
fn foot(from: &Link, to: &Link) -> DVec3 {
    let along = to.point - from.point;
    let place = (-from.point.dot(along) / along.length_squared()).clamp(0.0, 1.0);
    from.on_a.lerp(to.on_a, place)
}
