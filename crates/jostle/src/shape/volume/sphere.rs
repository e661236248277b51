//! [`BoundingSphere`].

use super::super::{Pose, Shape, ShapeError};
use super::{check_points, slack};
use glam::DVec3;

/// All points within a radius of a centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingSphere {
    /// The centre.
    pub center: DVec3,
    /// The radius; infinite around a half-space.
    pub radius: f64,
}

impl BoundingSphere {
    /// The sphere around a posed shape, about the shape's centre.
    pub fn of_shape(shape: &Shape, pose: &Pose) -> BoundingSphere {
        let (middle, radius) = (shape.center(), shape.bounding_radius());
        let center = pose.apply(middle);
        let size = radius + middle.abs().max_element();
        BoundingSphere { center, radius: radius + slack(size, center) }
    }

    /// A sphere around points, in O(n): the smaller of Ritter's (*An Efficient Bounding
    /// Sphere*), which is seldom more than a twentieth too large, and the one about the middle
    /// of their box.
    pub fn from_points(points: &[DVec3]) -> Result<BoundingSphere, ShapeError> {
        check_points(points)?;
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let about = |center: DVec3| {
            let radius = points.iter().map(|point| point.distance(center)).fold(0.0, f64::max);
            BoundingSphere { center, radius: radius + slack(radius, center) }
        };
        let (boxed, grown) = (about(low * 0.5 + high * 0.5), about(ritter(points)));
        Ok(if grown.radius < boxed.radius { grown } else { boxed })
    }

    /// Returns true if the closed spheres share a point.
    #[inline]
    pub fn overlaps(&self, other: &BoundingSphere) -> bool {
        let reach = self.radius + other.radius;
        self.center.distance_squared(other.center) <= reach * reach
    }

    /// Returns true if the point lies in the closed sphere.
    pub fn contains(&self, point: DVec3) -> bool {
        self.center.distance(point) <= self.radius
    }
}

/// The centre of a sphere that began between two far points and grew where it had to.
fn ritter(points: &[DVec3]) -> DVec3 {
    let furthest = |from: DVec3| {
        let further = |best: DVec3, point: &DVec3| {
            if point.distance_squared(from) > best.distance_squared(from) { *point } else { best }
        };
        points.iter().fold(points[0], further)
    };
    let one = furthest(points[0]);
    let other = furthest(one);
    let mut center = one * 0.5 + other * 0.5;
    let mut radius = 0.5 * one.distance(other);
    for &point in points {
        let distance = point.distance(center);
        if distance > radius {
            let grown = 0.5 * (radius + distance);
            center += (point - center) * ((grown - radius) / distance);
            radius = grown;
        }
    }
    center
}
