//! Points against bodies of revolution: a question in the half plane through the axis and the
//! point, with the distance from the axis to the right and y upward.

use super::{Nearest, SurfacePart, unit_or};
use glam::{DVec2, DVec3};

const SIDE: u32 = 0;
const TOP: u32 = 1;
const BOTTOM: u32 = 2;

/// The centre is as far inside a sphere as a point can be; the way out is along x.
pub(super) fn sphere(radius: f64, point: DVec3) -> Nearest {
    let (normal, length) = unit_or(point, DVec3::X);
    let part = SurfacePart::Face(SIDE);
    Nearest { point: normal * radius, normal, signed: length - radius, part }
}

pub(super) fn capsule(radius: f64, half_height: f64, point: DVec3) -> Nearest {
    let along = point.y.max(-half_height).min(half_height);
    let center = DVec3::new(0.0, along, 0.0);
    let mut found = sphere(radius, point - center);
    found.point += center;
    found.part = SurfacePart::Face(if point.y > half_height {
        TOP
    } else if point.y < -half_height {
        BOTTOM
    } else {
        SIDE
    });
    found
}

/// The half plane through a point: which way its right side looks, and the point in it.
struct Profile {
    outward: DVec3,
    at: DVec2,
}

impl Profile {
    /// A point of the axis may be seen in any half plane: the one with x.
    fn of(point: DVec3) -> Profile {
        let (outward, distance) = unit_or(DVec3::new(point.x, 0.0, point.z), DVec3::X);
        Profile { outward, at: DVec2::new(distance, point.y) }
    }

    fn answer(&self, point: DVec2, normal: DVec2, signed: f64, part: SurfacePart) -> Nearest {
        let whole = |v: DVec2| self.outward * v.x + DVec3::new(0.0, v.y, 0.0);
        Nearest { point: whole(point), normal: whole(normal), signed, part }
    }

    /// A corner of the profile, seen from outside.
    fn corner(&self, corner: DVec2, part: SurfacePart, otherwise: DVec2) -> Nearest {
        let offset = (self.at - corner).extend(0.0);
        let (normal, distance) = unit_or(offset, otherwise.extend(0.0));
        self.answer(corner, normal.truncate(), distance, part)
    }
}

pub(super) fn cylinder(radius: f64, half_height: f64, point: DVec3) -> Nearest {
    let profile = Profile::of(point);
    let up = if point.y < 0.0 { -1.0 } else { 1.0 };
    let end = if point.y < 0.0 { BOTTOM } else { TOP };
    let beyond = DVec2::new(profile.at.x - radius, point.y.abs() - half_height);
    if beyond.x > 0.0 && beyond.y > 0.0 {
        let rim = SurfacePart::Edge([SIDE, end]);
        return profile.corner(DVec2::new(radius, up * half_height), rim, DVec2::X);
    }
    if beyond.x > beyond.y {
        let on_side = DVec2::new(radius, point.y);
        return profile.answer(on_side, DVec2::X, beyond.x, SurfacePart::Face(SIDE));
    }
    let on_end = DVec2::new(profile.at.x, up * half_height);
    profile.answer(on_end, DVec2::new(0.0, up), beyond.y, SurfacePart::Face(end))
}

/// A cone without height is a disc; one without radius the segment of its axis.
pub(super) fn cone(radius: f64, half_height: f64, point: DVec3) -> Nearest {
    if half_height == 0.0 {
        return cylinder(radius, 0.0, point);
    }
    let profile = Profile::of(point);
    let (apex, rim) = (DVec2::new(0.0, half_height), DVec2::new(radius, -half_height));
    let slope = unit_or((rim - apex).extend(0.0), DVec3::Y).0.truncate();
    let out = DVec2::new(-slope.y, slope.x);
    let side = (profile.at - apex).dot(out);
    let below = -half_height - profile.at.y;
    let along = (profile.at - apex).dot(slope);
    let length = apex.distance(rim);
    if side <= 0.0 && below <= 0.0 {
        // Inside: the nearer of side and base.
        return if side >= below {
            profile.answer(apex + slope * along, out, side, SurfacePart::Face(SIDE))
        } else {
            on_base(&profile, half_height, below)
        };
    }
    if below > 0.0 && profile.at.x <= radius {
        return on_base(&profile, half_height, below);
    }
    if along <= 0.0 {
        return profile.corner(apex, SurfacePart::Vertex(0), DVec2::Y);
    }
    if along >= length {
        return profile.corner(rim, SurfacePart::Edge([SIDE, BOTTOM]), DVec2::X);
    }
    profile.answer(apex + slope * along, out, side, SurfacePart::Face(SIDE))
}

fn on_base(profile: &Profile, half_height: f64, below: f64) -> Nearest {
    let point = DVec2::new(profile.at.x, -half_height);
    profile.answer(point, DVec2::NEG_Y, below, SurfacePart::Face(BOTTOM))
}
