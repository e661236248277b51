//! The vertex, edge or face of a shape that lies furthest in a direction, up to some slack.
//!
//! Corners carry numbers that depend on the shape alone, so that they stay the same from frame to
//! frame. Discs are seen as octagons with fixed corners. Hull faces with more than
//! [`Feature::CAPACITY`] corners are thinned out evenly: a manifold keeps four points in the end.

use super::pair::Core;
use crate::shape::{Hull, PoseMatrix, Shape};
use glam::DVec3;

/// Corners in order round the feature: one for a vertex, two for an edge, more for a face. At 680
/// bytes it is kept and filled again rather than made and moved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    points: [DVec3; Feature::CAPACITY],
    ids: [u32; Feature::CAPACITY],
    len: usize,
}

/// Width over length under which a triangle is an edge.
const THIN: f64 = 1e-10;

impl Feature {
    pub(crate) const CAPACITY: usize = 24;

    /// Adds a corner. One in the place of the last, as discs without height and triangles without
    /// area have, adds nothing: a feature has no sides without length.
    fn push(&mut self, point: DVec3, id: u32) {
        let doubled =
            self.len > 0 && (self.points[self.len - 1] == point || self.points[0] == point);
        if self.len < Self::CAPACITY && !doubled {
            self.points[self.len] = point;
            self.ids[self.len] = id;
            self.len += 1;
        }
    }

    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points[..self.len]
    }

    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids[..self.len]
    }

    /// Places the feature by a pose.
    pub(crate) fn place(&mut self, pose: &PoseMatrix) {
        self.points[..self.len].iter_mut().for_each(|point| *point = pose.apply(*point));
    }

    /// Sees the feature along a unit axis: the point or the edge between its extreme corners in a
    /// direction across the axis.
    pub(crate) fn flatten(&mut self, axis: DVec3, along: DVec3) {
        let height = |place: &usize| self.points[*place].dot(along);
        let (mut low, mut high) = (0, 0);
        for place in 1..self.len {
            low = if height(&place) < height(&low) { place } else { low };
            high = if height(&place) > height(&high) { place } else { high };
        }
        let level = |place: usize| self.points[place] - axis * self.points[place].dot(axis);
        let size = self.points[low].length() + self.points[high].length();
        let wide = height(&high) - height(&low) > 1e-9 * size;
        let (first, last) = ((level(low), self.ids[low]), (level(high), self.ids[high]));
        self.len = 0;
        self.push(first.0, first.1);
        if wide {
            self.push(last.0, last.1);
        }
    }

    /// Becomes the feature of a core furthest along a unit direction. `slack` is the sine of the
    /// angle by which edges and faces may lean.
    pub(crate) fn find(&mut self, core: &Core<'_>, direction: DVec3, slack: f64) {
        self.len = 0;
        match core {
            Core::Point => self.push(DVec3::ZERO, 0),
            Core::Segment(half) => self.segment(*half, direction, slack),
            Core::Box(half) => self.cuboid(*half, direction, slack),
            Core::Triangle(points) => self.triangle(points, direction, slack),
            Core::Hull(hull) => self.hull(hull, direction, slack),
            Core::Curved(Shape::Cylinder { radius, half_height }) => {
                self.cylinder(*radius, *half_height, direction, slack);
            }
            Core::Curved(Shape::Cone { radius, half_height }) => {
                self.cone(*radius, *half_height, direction, slack);
            }
            Core::Curved(shape) => self.push(shape.core_support(direction), 0),
        }
        // Only a hand-made shape that is no number gets here with nothing.
        if self.len == 0 {
            self.push(DVec3::ZERO, 0);
        }
    }

    fn segment(&mut self, half: f64, direction: DVec3, slack: f64) {
        if direction.y > -slack {
            self.push(DVec3::new(0.0, half, 0.0), 0);
        }
        if direction.y < slack {
            self.push(DVec3::new(0.0, -half, 0.0), 1);
        }
    }

    fn cuboid(&mut self, half: DVec3, direction: DVec3, slack: f64) {
        let (mut base, mut free, mut count) = (0, [0; 3], 0);
        for axis in 0..3 {
            // An axis without extent would only double the corners.
            if direction[axis].abs() <= slack && half[axis] > 0.0 {
                free[count] = 1 << axis;
                count += 1;
            } else if direction[axis] < 0.0 {
                base |= 1 << axis;
            }
        }
        let [one, two, _] = free;
        let ring: &[u32] = match count {
            1 => &[0, one],
            2 => &[0, one, one | two, two],
            _ => &[0],
        };
        for (place, bits) in ring.iter().enumerate() {
            self.ids[place] = base | bits;
            self.points[place] = Core::Box(half).vertex(base | bits).unwrap_or_default();
        }
        self.len = ring.len();
    }

    fn triangle(&mut self, points: &[DVec3; 3], direction: DVec3, slack: f64) {
        let dots = points.map(|point| point.dot(direction));
        let top = dots[0].max(dots[1]).max(dots[2]);
        let best = dots.iter().position(|&dot| dot == top).unwrap_or(0);
        let level = [0, 1, 2]
            .map(|id| id == best || top - dots[id] <= slack * points[id].distance(points[best]));
        let face = (points[1] - points[0]).cross(points[2] - points[0]);
        let square = |side: [usize; 2]| points[side[0]].distance_squared(points[side[1]]);
        let longer = |a, b| if square(b) > square(a) { b } else { a };
        let side = [[0, 2], [1, 2]].into_iter().fold([0, 1], longer);
        // A triangle without area faces nothing.
        let facing = face.length() > THIN * square(side)
            && face.cross(direction).length() <= slack * face.length();
        if level == [true; 3] && !facing {
            // Seen edge on, and a face has a plane across the direction: its longest side stands
            // for it.
            side.into_iter().for_each(|id| self.push(points[id], id as u32));
            return;
        }
        for (id, point) in points.iter().enumerate().filter(|(id, _)| level[*id]) {
            self.push(*point, id as u32);
        }
    }

    fn hull(&mut self, hull: &Hull, direction: DVec3, slack: f64) {
        let best = hull.support_index(direction);
        let top = hull.vertices()[best as usize];
        let level = |vertex: u32| {
            let offset = top - hull.vertices()[vertex as usize];
            offset.dot(direction) <= slack * offset.length()
        };
        let level_neighbours =
            || hull.neighbours(best).iter().copied().filter(|&vertex| level(vertex));
        if level_neighbours().nth(1).is_some() && self.hull_face(hull, direction, slack) {
            return;
        }
        self.push(top, best);
        let height = |vertex: u32| hull.vertices()[vertex as usize].dot(direction);
        if let Some(other) = level_neighbours().max_by(|&a, &b| height(a).total_cmp(&height(b))) {
            self.push(hull.vertices()[other as usize], other);
        }
    }

    /// Pushes the face that looks most along the direction, if it leans by no more than the slack.
    fn hull_face(&mut self, hull: &Hull, direction: DVec3, slack: f64) -> bool {
        let facing = |face: &usize| hull.face_normal(*face).dot(direction);
        let best = (0..hull.face_count()).max_by(|a, b| facing(a).total_cmp(&facing(b)));
        let Some(face) = best.filter(|face| {
            facing(face) > 0.0 && hull.face_normal(*face).cross(direction).length() <= slack
        }) else {
            return false;
        };
        let corners = hull.face_vertices(face);
        let every = corners.len().div_ceil(Self::CAPACITY).max(1);
        for &vertex in corners.iter().step_by(every) {
            self.push(hull.vertices()[vertex as usize], vertex);
        }
        true
    }

    fn disc(&mut self, radius: f64, height: f64, first_id: u32) {
        let diagonal = radius * std::f64::consts::FRAC_1_SQRT_2;
        let steps = [
            (radius, 0.0),
            (diagonal, diagonal),
            (0.0, radius),
            (-diagonal, diagonal),
            (-radius, 0.0),
            (-diagonal, -diagonal),
            (0.0, -radius),
            (diagonal, -diagonal),
        ];
        for (id, (x, z)) in (first_id..).zip(steps) {
            self.push(DVec3::new(x, height, z), id);
        }
    }

    fn cylinder(&mut self, radius: f64, half: f64, direction: DVec3, slack: f64) {
        let across = direction.x.hypot(direction.z);
        let end = if direction.y < 0.0 { -half } else { half };
        if across <= slack {
            self.disc(radius, end, if direction.y < 0.0 { 16 } else { 8 });
            return;
        }
        let rim = DVec3::new(direction.x, 0.0, direction.z) * (radius / across);
        if direction.y > -slack {
            self.push(rim + DVec3::new(0.0, half, 0.0), 0);
        }
        if direction.y < slack {
            self.push(rim - DVec3::new(0.0, half, 0.0), 1);
        }
    }

    fn cone(&mut self, radius: f64, half: f64, direction: DVec3, slack: f64) {
        let across = direction.x.hypot(direction.z);
        if across <= slack && direction.y < 0.0 {
            self.disc(radius, -half, 16);
            return;
        }
        let apex = DVec3::new(0.0, half, 0.0);
        let outward = if across > 0.0 { radius / across } else { 0.0 };
        let rim = DVec3::new(direction.x * outward, -half, direction.z * outward);
        let lean = (apex - rim).dot(direction) / (apex - rim).length().max(f64::MIN_POSITIVE);
        if lean > -slack {
            self.push(apex, 0);
        }
        if lean < slack {
            self.push(rim, 1);
        }
    }
}
