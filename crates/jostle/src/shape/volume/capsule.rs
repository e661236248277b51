//! [`BoundingCapsule`]: a sphere swept along a line (Larsen, Gottschalk, Lin and Manocha, *Fast
//! Proximity Queries with Swept Sphere Volumes*).

use super::super::{Pose, Shape, ShapeError};
use super::principal::principal_axes;
use super::{check_points, slack};
use glam::DVec3;

/// All points within a radius of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingCapsule {
    /// The ends of the segment; equal for a sphere.
    pub ends: [DVec3; 2],
    /// The radius; infinite around a half-space.
    pub radius: f64,
}

impl BoundingCapsule {
    /// The capsule around a posed shape.
    pub fn of_shape(shape: &Shape, pose: &Pose) -> BoundingCapsule {
        let local = match shape {
            Shape::Sphere { radius } => along_y(0.0, 0.0, *radius),
            Shape::Capsule { radius, half_height } | Shape::Cylinder { radius, half_height } => {
                along_y(-half_height, *half_height, *radius)
            }
            // The ball at the upper end need only reach the apex.
            Shape::Cone { radius, half_height } => {
                along_y(-half_height, (half_height - radius).max(-half_height), *radius)
            }
            Shape::Cuboid { half_extents } => around_box(*half_extents),
            Shape::Ellipsoid { radii } => around_ellipsoid(*radii),
            Shape::Triangle { points } => around(points),
            Shape::Hull(hull) => around(hull.vertices()),
            Shape::Compound(compound) => {
                let pieces = compound.pieces().iter();
                let capsules: Vec<BoundingCapsule> = pieces
                    .map(|piece| BoundingCapsule::of_shape(&piece.shape, &piece.pose))
                    .collect();
                around_capsules(&capsules)
            }
            Shape::Rounded(rounded) => {
                let core = BoundingCapsule::of_shape(rounded.shape(), &Pose::IDENTITY);
                BoundingCapsule { radius: core.radius + rounded.margin(), ..core }
            }
            Shape::Custom(custom) => {
                BoundingCapsule { ends: [custom.center(); 2], radius: custom.bounding_radius() }
            }
            Shape::Mesh(_) | Shape::HeightField(_) => {
                BoundingCapsule { ends: [shape.center(); 2], radius: shape.bounding_radius() }
            }
            Shape::HalfSpace { .. } => along_y(0.0, 0.0, f64::INFINITY),
        };
        local.posed(pose)
    }

    /// A capsule around points, in O(n): along their first principal axis, as thin as that axis
    /// allows and then as short as that radius allows.
    pub fn from_points(points: &[DVec3]) -> Result<BoundingCapsule, ShapeError> {
        check_points(points)?;
        Ok(around(points))
    }

    fn posed(&self, pose: &Pose) -> BoundingCapsule {
        let ends = self.ends.map(|end| pose.apply(end));
        let size = self.radius + self.ends[0].abs().max(self.ends[1].abs()).max_element();
        let place = ends[0].abs().max(ends[1].abs());
        BoundingCapsule { ends, radius: self.radius + slack(size, place) }
    }

    /// Returns true if the closed capsules share a point.
    #[inline]
    pub fn overlaps(&self, other: &BoundingCapsule) -> bool {
        let reach = self.radius + other.radius;
        segments_distance_squared(self.ends, other.ends) <= reach * reach
    }

    /// Returns true if the point lies in the closed capsule.
    pub fn contains(&self, point: DVec3) -> bool {
        point_distance_squared(point, self.ends).sqrt() <= self.radius
    }
}

fn along_y(low: f64, high: f64, radius: f64) -> BoundingCapsule {
    BoundingCapsule { ends: [DVec3::Y * low, DVec3::Y * high], radius }
}

fn longest_axis(sizes: DVec3) -> usize {
    let mut longest = 0;
    for axis in 1..3 {
        if sizes[axis] > sizes[longest] {
            longest = axis;
        }
    }
    longest
}

fn around_box(half_extents: DVec3) -> BoundingCapsule {
    let axis = longest_axis(half_extents);
    let end = DVec3::AXES[axis] * half_extents[axis];
    let radius = half_extents[(axis + 1) % 3].hypot(half_extents[(axis + 2) % 3]);
    BoundingCapsule { ends: [-end, end], radius }
}

/// An ellipsoid is more pointed than the ball of its second radius, so it fits a capsule that
/// touches both its tips.
fn around_ellipsoid(radii: DVec3) -> BoundingCapsule {
    let axis = longest_axis(radii);
    let radius = radii[(axis + 1) % 3].max(radii[(axis + 2) % 3]);
    let end = DVec3::AXES[axis] * (radii[axis] - radius);
    BoundingCapsule { ends: [-end, end], radius }
}

/// The capsule around the endpoints, grown by the largest radius.
fn around_capsules(capsules: &[BoundingCapsule]) -> BoundingCapsule {
    let ends: Vec<DVec3> = capsules.iter().flat_map(|capsule| capsule.ends).collect();
    let thickest = capsules.iter().map(|capsule| capsule.radius).fold(0.0, f64::max);
    let core = around(&ends);
    BoundingCapsule { radius: core.radius + thickest, ..core }
}

fn around(points: &[DVec3]) -> BoundingCapsule {
    let direction = principal_axes(points).x_axis;
    let origin = middle_across(points, direction);
    let split = |point: &DVec3| {
        let offset = *point - origin;
        let along = offset.dot(direction);
        (along, (offset - direction * along).length())
    };
    let radius = points.iter().map(|point| split(point).1).fold(0.0, f64::max);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut reach = 0.0f64;
    for (along, across) in points.iter().map(split) {
        // How far from its foot on the axis the end's ball may be centred and still hold it.
        let play = (radius * radius - across * across).max(0.0).sqrt();
        low = low.min(along + play);
        high = high.max(along - play);
        reach = reach.max(along.abs());
    }
    if low > high {
        // One ball anywhere in between holds all.
        low = 0.5 * low + 0.5 * high;
        high = low;
    }
    let ends = [low, high].map(|along| origin + direction * along);
    // The play's root turns a rounding of the radius into its own root where it is near zero,
    // but then moves the ball across it: the distance changes by the rounding only.
    let rounding = slack(radius + reach, origin.abs().max(ends[0].abs()).max(ends[1].abs()));
    BoundingCapsule { ends, radius: radius + 2.0 * rounding }
}

/// A point on the axis: the middle of the cloud's box across the direction.
fn middle_across(points: &[DVec3], direction: DVec3) -> DVec3 {
    let (u, v) = direction.any_orthonormal_pair();
    let origin = points[0];
    let middle = |axis: DVec3| {
        let heights = || points.iter().map(|&point| (point - origin).dot(axis));
        0.5 * heights().fold(0.0, f64::min) + 0.5 * heights().fold(0.0, f64::max)
    };
    origin + u * middle(u) + v * middle(v)
}

fn point_distance_squared(point: DVec3, [from, to]: [DVec3; 2]) -> f64 {
    let side = to - from;
    let square = side.length_squared();
    let along = if square > 0.0 { (side.dot(point - from) / square).clamp(0.0, 1.0) } else { 0.0 };
    (from + side * along).distance_squared(point)
}

/// The least of the distances of the four ends from the other segment and, where the nearest
/// points of the two lines lie within both segments, of the lines. For parallel segments the
/// ends alone decide, so a vanishing denominator does no harm.
fn segments_distance_squared(one: [DVec3; 2], other: [DVec3; 2]) -> f64 {
    let ends = [
        point_distance_squared(one[0], other),
        point_distance_squared(one[1], other),
        point_distance_squared(other[0], one),
        point_distance_squared(other[1], one),
    ];
    let least = ends.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v, apart) = (one[1] - one[0], other[1] - other[0], one[0] - other[0]);
    let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
    let (ua, va) = (u.dot(apart), v.dot(apart));
    let denominator = uu * vv - uv * uv;
    let (s, t) = ((uv * va - vv * ua) / denominator, (uu * va - uv * ua) / denominator);
    if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return least;
    }
    least.min((apart + u * s - v * t).length_squared())
}
